"""The commands behind the Makefile: ``python -m afterply.commands.reproduce <command>``.

``reproduce`` runs those cells of the notebooks that are tagged as declaring arms, makes a sample of
the recorded runs again, executes all notebooks, which take everything from the records, and builds
the report; with BUDGET it makes missing runs before. It alone changes what is published: records,
executed notebooks and pages (see `publishing`). ``quick`` executes notebooks with their own small
parameters, from nothing.
"""

import functools
import math
import os
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from ..files import data_directory, parse_yaml, reports_directory
from ..learners import learners
from ..studies import golden as golden_runs
from ..studies.notebooks import PAPER, collect, find, profile_parameters, write_declared
from ..studies.papers import claims
from ..studies.profiles import QUICK
from ..studies.question import NEW, differences, last_values, made_again, recorded_cost
from ..studies.question import afresh as train_afresh
from ..studies.records import join as join_records
from ..studies.records import made_by, read, sources_behind
from ..studies.reports import collect as report_builder
from ..studies.reports.pages import write_html
from ..studies.results import in_words
from ..studies.sources import duration
from . import add_command, new_program, pairs, run_program
from .again import add_again
from .publishing import publish, staging

PROGRAM = "python -m afterply.commands.reproduce"
REPEATS = 13  # recorded runs that are made again
REPEAT_SECONDS = 20.0  # the most CPU seconds that one of them took when it was recorded
LOG = "log.txt"  # beside the executed notebooks
NAMES_HELP = (
    "notebooks by how their names begin, such as 12_connect4, or 1 for 10 to 19; default: all"
)


def main(words=None) -> int:
    """Run the command line; return the exit status."""
    program, commands = new_program(PROGRAM)
    for add in (
        *(add_quick, add_reproduce, add_join, add_report, add_plan, add_again, add_repeat),
        *(add_afresh, add_evaluate, add_golden, add_notebook),
    ):
        add(commands)
    return run_program(program, words)


def add_names(parser):
    """Declare the argument that names notebooks."""
    parser.add_argument("names", nargs="*", help=NAMES_HELP)


def runs_of(studies) -> list[tuple]:
    """Return (study, run) of all arms."""
    return [(study, run) for study in studies for runs in study.arms.values() for run in runs]


# plan


def add_plan(commands):
    """Declare the command ``plan``."""
    add_names(add_command(commands, plan, "Nothing has changed.", word_list="names"))


def plan(names) -> int:
    """Print what is recorded and what is missing, with CPU times.

    It trains nothing, and is done in seconds.
    """
    studies, faults = collect(find(names))
    print("\n".join(plan_lines(studies)))
    return 1 if faults else 0


def plan_lines(studies) -> list[str]:
    """Return the plan as text: a line for each study, the sum, and what cannot be made here."""
    rows, unmeasured = [], Counter()
    recorded_seconds, missing_seconds = 0.0, 0.0
    for study in studies:
        if not study.arms:
            continue
        runs = [run for _, run in runs_of([study])]
        due = [run for run in runs if run.due]
        recorded = sum(map(recorded_cost, runs))
        missing = float(np.nansum([study.missing_cost(run) for run in due]))
        num_done = len(runs) - len(due)
        rows.append(
            (study.name, len(runs), num_done, duration(recorded), len(due), duration(missing))
        )
        recorded_seconds += recorded
        missing_seconds += missing
        for run in runs:
            for key in run.unmeasured:
                evaluator = run.job.what(key)[1]
                unmeasured[f"{study.name}, {evaluator}", run.job.lacking[key]] += 1
    columns = ["study", "runs", "recorded", "CPU time", "missing", "CPU time"]
    lines = [
        pd.DataFrame(rows, columns=columns).to_string(index=False),
        f"In all {duration(recorded_seconds)} of CPU time is recorded,"
        f" {duration(missing_seconds)} is missing.",
    ]
    for (name, reason), number in unmeasured.items():
        lines.append(f"Not measured here: {name} ({number} run(s)): {reason}")
    return lines


# Missing runs


def budget() -> float:
    """Return BUDGET in CPU seconds; "all", which a SHARE has by default, is infinite."""
    text = os.environ.get("BUDGET") or ("all" if os.environ.get("SHARE") else "0")
    if not re.fullmatch(r"all|\d+(\.\d*)?", text):
        raise ValueError(f"BUDGET={text!r} must be CPU minutes, such as 15, or all")
    return math.inf if text == "all" else 60 * float(text)


def share() -> tuple[int, int]:
    """Return SHARE, such as 3/100, as (3, 100); without it everything is one share."""
    text = os.environ.get("SHARE") or "1/1"
    numbers = re.fullmatch(r"(\d+)/(\d+)", text)
    if not numbers or not 1 <= int(numbers[1]) <= int(numbers[2]):
        raise ValueError(f"SHARE={text!r} must be one of some equal shares, such as 3/100")
    return int(numbers[1]), int(numbers[2])


def is_in(run, part) -> bool:
    """Return whether a run is in a share; its key decides, not its place in what may change."""
    place, number = part
    return int(run.job.key, 16) % number == place - 1


def make_missing(studies, seconds: float, part=(1, 1)) -> int:
    """Make missing runs, the cheapest first, as far as the CPU time goes; return how many.

    part: of :func:`share`
    """
    costs = {}
    for study, run in runs_of(studies):
        if run.due and is_in(run, part):
            cost = study.missing_cost(run)
            costs[study, run] = math.inf if math.isnan(cost) else cost
    chosen = {}
    for study, run in sorted(costs, key=lambda pair: (costs[pair], pair[1].job.key)):
        cost = costs[study, run]
        if cost <= seconds:
            chosen.setdefault(study, []).append(run)
            if seconds < math.inf:
                seconds -= cost
    if chosen:
        number = sum(map(len, chosen.values()))
        files = ", ".join(study.records.path.name for study in chosen)
        what = f"{number} missing run(s) are trained now"
        print(f"{what} and added to data/records: {files}", flush=True)
    num_made = 0
    for study, runs in chosen.items():
        if study.check_sources(runs):
            study.make(runs)
            study.records.tidy()
            num_made += len(runs)
    return num_made


def make_all_missing(studies, paths, seconds: float, part=(1, 1)) -> int:
    """Make missing runs; without a limit also those that wait for the results of others."""
    num_made = num_last = make_missing(studies, seconds, part)
    while seconds == math.inf and num_last:
        num_last = make_missing(collect(paths)[0], seconds, part)
        num_made += num_last
    return num_made


# join


def add_join(commands):
    """Declare the command ``join``."""
    parser = add_command(commands, join, "Files that were not joined are as before.")
    parser.add_argument(
        "places", nargs="+", help="files NAME.jsonl of records of other machines, or their folders"
    )


def join(places) -> int:
    """Add the records that other machines have made to data/records.

    Of a run that two machines have made the results must be the same. Git cannot do this: the first
    line of a file states what its records have in common.
    """
    files = {}
    for place in map(Path, places):
        found = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
        if not found or not all(file.is_file() for file in found):
            raise ValueError(f"{place} is no file of records and no folder of such files")
        for file in found:
            files.setdefault(file.name, []).append(file)
    for name, others in files.items():
        number = join_records(data_directory() / "records" / name, others)
        print(f"{name}: {number} new record(s) of {len(others)} file(s)")
    return 0


# repeat


def add_repeat(commands):
    """Declare the command ``repeat``."""
    parser = add_command(commands, repeat, "No record has changed.", word_list="names")
    add_names(parser)
    parser.add_argument("--runs", type=int, default=REPEATS, help="how many (default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=REPEAT_SECONDS,
        help="the most CPU seconds that one of them took when it was recorded (default:"
        " %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="a whole number that says which are drawn (default: 0, which is the clock)",
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="take the cheapest of those that the present sources are not known to give, and write"
        " into each record whose numbers come out that they did",
    )


def repeat(names, runs, seconds, seed, confirm) -> int:
    """Make recorded runs of notebooks again, and compare bit for bit.

    They are drawn at random, some of each paper. The exit status is 1 if one differs.
    """
    studies, _ = collect(find(names))
    lines = repeat_lines(studies, runs, seed or int(time.time()), seconds, confirm)
    print("\n".join(lines))
    return 1 if len(lines) > 1 else 0


def repeat_lines(studies, number, seed, limit, confirm=False) -> list[str]:
    """Make recorded runs again; return the summary as text, and a line for each that differs.

    number: how many runs; limit: CPU seconds of each when it was recorded. With `confirm` they are
    the cheapest of those that the present sources are not known to give, and each record whose
    numbers come out says so.
    """
    complete = [
        (study, run)
        for study, run in runs_of(studies)
        if not run.due and not run.job.lacking and recorded_cost(run) <= limit
    ]
    if confirm:
        unconfirmed = [pair for pair in complete if not _is_confirmed(pair[1])]
        chosen = sorted(unconfirmed, key=lambda pair: recorded_cost(pair[1]))[:number]
        how = "the cheapest unconfirmed"
    else:
        chosen = _drawn(complete, number, seed)
        how = f"drawn with seed {seed}"
    wrong = []
    for run, records in made_again([run for _, run in chosen]).items():
        if differences(run, records)[1]:
            wrong.append(f"{run.job.study} / {run.job.arm} / run {run.job.run}")
        elif confirm:
            _note_confirmed(run, records)
    if confirm:
        for study in dict.fromkeys(study for study, _ in chosen):
            study.records.tidy()
    counts = f"{len(chosen) - len(wrong)} identical, {len(wrong)} different."
    summary = f"{len(chosen)} recorded runs were made again ({how}): {counts}"
    return [summary, *(f"DIFFERS: {name}" for name in sorted(wrong))]


def _drawn(pairs_of_runs, number, seed) -> list:
    """Return some pairs of study and run, drawn at random; the first ones are of each paper."""
    shuffled = list(pairs_of_runs)
    random.Random(seed).shuffle(shuffled)
    one_of_each_paper, others, papers = [], [], set()
    for study, run in shuffled:
        if study.paper in papers:
            others.append((study, run))
        else:
            papers.add(study.paper)
            one_of_each_paper.append((study, run))
    return (one_of_each_paper + others)[:number]


def _is_confirmed(run) -> bool:
    present = sources_behind(run.job.game, run.job.learner)
    return all(present in made_by(record) for record in run.records.values())


def _note_confirmed(run, records):
    for new in records.values():
        old = run.records[new["key"]]
        if new["digest"] not in made_by(old):
            old["confirmed"] = {"digest": new["digest"], "date": new["date"]}


# quick


def add_quick(commands):
    """Declare the command ``quick``."""
    add_names(add_command(commands, quick, word_list="names"))


def quick(names) -> int:
    """Make everything from nothing at reduced scale: all notebooks, or the named ones.

    It takes about five minutes on two cores. Pages and executed notebooks go to reports/quick.
    """
    from .execute import Log, run_all

    start = time.monotonic()
    paths = find(names)
    target = reports_directory() / QUICK
    for study in collect(paths, QUICK)[0]:
        study.records.path.unlink(missing_ok=True)
    log = Log(target / LOG)
    log.say(f"{len(paths)} notebooks at reduced scale, from nothing. All they print: {log.path}")
    failed, _ = run_all(paths, QUICK, target, log)
    summary = report_builder.build(QUICK, collect(find(), QUICK)[0])
    return _end(log, target, start, failed, report_builder.told(summary).split("\n"))


def _end(log, target, start, failed, lines) -> int:
    """Say how a command ended; return its exit status."""
    failures = [f"FAILED: {name}: {cause}" for name, cause in failed.items()]
    log.say("\n".join([*lines, *failures]))
    log.say(f"{target / 'index.html'} after {duration(time.monotonic() - start)}")
    return 1 if failed else 0


# reproduce


def add_reproduce(commands):
    """Declare the command ``reproduce``."""
    kept = "Finished runs are kept, and no page has changed. The same command goes on."
    parser = add_command(commands, reproduce, kept, word_list="names")
    add_names(parser)
    parser.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        help="how many recorded runs are made again and compared bit for bit, each of at most 20"
        " CPU seconds (default: %(default)s)",
    )


def reproduce(names, repeats) -> int:
    """Make the report at the papers' full parameters; repeat some of the recorded runs.

    Pages and executed notebooks are made in a folder of their own. Of reports/paper only what came
    out otherwise is replaced, at the end, and this is said before. The environment variable BUDGET,
    CPU minutes or "all" (default: 0), lets it train what is missing and add it to the records; with
    RECORDS=ignore every recorded run is made again. With SHARE=3/100 it only makes the third of 100
    shares of what is missing, for as many machines; no page changes, and `join` joins the records.
    """
    from .execute import Log, run_all

    start = time.monotonic()
    paths = find(names)
    limit = budget()
    repeats_all = _repeats_all()
    for file in sorted((data_directory() / "records").glob("*.jsonl")):
        read(file)  # a damaged one is named before anything runs
    studies, _ = collect(find())
    chosen = _studies_of(studies, paths)
    target = reports_directory() / PAPER
    lines_of_plan = plan_lines(chosen)
    log = Log(target / LOG)
    log.write("\n".join(lines_of_plan))
    log.say(f"{len(paths)} notebooks. {lines_of_plan[1]} All they print: {log.path}")
    part = share()
    num_made = make_all_missing(chosen, paths, limit, part)
    if os.environ.get("SHARE"):
        log.say(f"Share {part[0]} of {part[1]}: {num_made} missing run(s) were made.")
        return 0
    if num_made:  # they are recorded now
        studies, _ = collect(find())
        chosen = _studies_of(studies, paths)
    seed = int(time.time())
    if repeats_all:
        repeated = repeat_lines(chosen, sys.maxsize, seed, math.inf)
    else:
        repeated = repeat_lines(chosen, repeats, seed, REPEAT_SECONDS)
    log.say("\n".join(repeated))
    lines = []
    if num_made:
        lines.append(f"{num_made} missing run(s) were made.")
    with staging() as staged:
        gather = functools.partial(report_builder.gather, studies, staged, claims.all())
        failed, results = run_all(paths, PAPER, staged, log, meanwhile=gather)
        if failed:
            lines.append(f"{target} stays as it was.")
        else:
            summary = report_builder.build(PAPER, studies, staged.parent, None, results)
            lines += report_builder.told(summary).split("\n")
            lines += publish(staged, target, log.say)
    # two minutes, most of them for the reference and modules of pages: not without being asked
    lines.append("To play the agents of the report in a browser: make site")
    status = _end(log, target, start, failed, lines)
    some_differ = len(repeated) > 1
    return 1 if some_differ else status


def _repeats_all() -> bool:
    """Return whether RECORDS asks that every recorded run is made again."""
    text = os.environ.get("RECORDS") or "use"
    if text not in ("use", "ignore"):
        raise ValueError(f"RECORDS={text!r} must be 'use' or 'ignore'")
    return text == "ignore"


def _studies_of(studies, paths) -> list:
    stems = {path.stem for path in paths}
    return [study for study in studies if study.notebook in stems]


# report


def add_report(commands):
    """Declare the command ``report``."""
    add_command(commands, report, "Nothing that is published has changed.")


def report() -> int:
    """Build the pages from the records without running a notebook; replace those that differ."""
    studies, _ = collect(find())
    with staging() as staged:
        summary = report_builder.build(PAPER, studies, staged.parent)
        lines = [report_builder.told(summary)]
        lines += publish(staged, reports_directory() / PAPER, print)
    print("\n".join(lines))
    return 0


# afresh


def add_afresh(commands):
    """Declare the command ``afresh``."""
    parser = add_command(commands, afresh, "Nothing of it is kept.", word_list="arms")
    parser.add_argument("name", help="the notebook, such as 10_tictactoe")
    parser.add_argument("study", help="one that it declares, such as tictactoe")
    parser.add_argument("arms", nargs="*", help="of that study, such as FARL no-FARL")
    parser.add_argument(
        "--result",
        action="append",
        default=[],
        help="print only this result, in the words in which it is printed; may be repeated"
        " (default: all)",
    )
    parser.add_argument(
        "--evaluator",
        action="append",
        default=[],
        help="measure the new runs by this evaluator only; may be repeated (default: all)",
    )
    parser.add_argument(
        "--runs", type=int, default=10, help="how many trainings of each arm (default: %(default)s)"
    )


def afresh(name, study, arms, result, evaluator, runs) -> int:
    """Train arms of a study in a notebook with seeds that no record has; print means of results.

    Nothing is recorded. Beside each mean is that of the recorded runs.
    """
    for arm in arms:  # each in a study of its own
        studies = {one.name: one for one in collect(find([name]))[0]}
        if study not in studies:
            raise ValueError(f"{name} has no study {study!r} but {', '.join(studies)}")
        values = last_values(train_afresh(studies[study], arm, runs, evaluator))
        for _, trained_as, columns in values:
            words = in_words(columns)
            if trained_as != NEW or (result and words not in result):
                continue
            new, recorded = values[study, NEW, columns], values[study, arm, columns]
            print(f"{arm}, {words}: {_mean(new)}; recorded: {_mean(recorded)}")
    return 0


def _mean(values) -> str:
    return f"{values.mean():.6g} ({len(values)} runs)"


# evaluate


def add_evaluate(commands):
    """Declare the command ``evaluate``."""
    parser = add_command(commands, evaluate, word_list="rows")
    parser.add_argument("rows", nargs="*", help="the id of each, such as rules (default: all)")


def evaluate(rows) -> int:
    """Execute the table of data/evaluate.yaml, or some rows of it, and say what came out.

    That is the artifact appendix: claims, commands, what must come out. All rows take a quarter of
    an hour on two cores. The page is reports/evaluate/evaluation.md.
    """
    from .evaluate import evaluate as execute_rows

    return execute_rows(rows)


# golden


def add_golden(commands):
    """Declare the command ``golden``."""
    parser = add_command(commands, golden)
    parser.add_argument(
        "--write",
        action="store_true",
        help="write both as they come out now, the sources that the record files name, and what the"
        " studies declare in data/profiles/paper; raise the version of what changed first",
    )


def golden(write) -> int:
    """Check golden runs and playthroughs, or write them, and what follows from the declarations.

    Golden runs are short trainings, and playthroughs single games, whose numbers are kept in
    data/golden.json and data/playthroughs.json: they fail when a number moves.
    """
    if write:  # first, since studies that declare something else are not collected
        write_declared(find())
    studies, _ = collect(find())
    if write:
        golden_runs.write(learners(), [run.job.game for _, run in runs_of(studies)])
    are_right = [study.check_sources(arm) for study in studies for arm in study.arms.values()]
    if write:
        for study in studies:
            study.records.tidy()
    print(f"{sum(are_right)} of {len(are_right)} arms have the numbers of their versions")
    return 0 if all(are_right) else 1


# notebook


def add_notebook(commands):
    """Declare the command ``notebook``."""
    parser = add_command(
        commands, notebook, "Nothing that is published has changed.", word_list="parameters"
    )
    parser.add_argument(
        "name", help="how the notebook's name begins, such as 10_tictactoe, or a file of yours"
    )
    parser.add_argument(
        "parameters",
        nargs="*",
        help="each NAME=VALUE, such as mine='{lambda_: 0.5}', an arm of your own (with --profile"
        " recorded)",
    )
    parser.add_argument(
        "--profile",
        default=QUICK,
        help="quick (everything from nothing at reduced scale), recorded (from the records, with"
        " arms of your own) or paper (as published) (default: %(default)s)",
    )


def notebook(name, parameters, profile) -> int:
    """Run one notebook, with parameters on top of those of its first cell.

    Its executed copy is reports/quick/NAME.ipynb, of any other profile reports/mine/NAME.ipynb. No
    page and no record changes: what has no record is missing in it.
    """
    from .execute import Log, run_all

    path = Path(name) if Path(name).is_file() else find([name])[0]
    values = pairs(parameters, parse_yaml)
    profile_parameters(path, profile, values)  # errors in them stop it before anything runs
    folder = QUICK if profile == QUICK else "mine"
    target = reports_directory() / folder
    log = Log(target / LOG)
    failed, _ = run_all([path], profile, target, log, values)
    write_html(target, [path.name])
    log.say(f"{target / path.with_suffix('.html').name}; all that it prints: {log.path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
