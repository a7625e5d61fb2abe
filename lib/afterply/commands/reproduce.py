"""The commands behind the Makefile: ``python -m afterply.commands.reproduce <command>``.

``reproduce`` runs those cells of the notebooks that are tagged as declaring arms, makes a sample of
the recorded runs again, executes all notebooks, which take everything from the records, and builds
the report; with BUDGET it makes missing runs before. It alone changes what is published: records,
executed notebooks and pages. ``quick`` executes notebooks with their own small parameters, from
nothing.
"""

import contextlib
import functools
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..files import data_directory, reports_directory
from ..learners import learners
from ..studies import golden
from ..studies.notebooks import PAPER, collect, find, profile_parameters, write_declared
from ..studies.papers import claims
from ..studies.profiles import QUICK
from ..studies.question import NEW, afresh, differences, last_values, made_again, recorded_cost
from ..studies.records import made_by, read, sources_behind
from ..studies.reports import collect as report
from ..studies.reports.pages import write_html
from ..studies.results import in_words
from ..studies.sources import duration
from . import pairs, run_command
from .again import again

REPEATS, REPEAT_SECONDS = 13, 20.0  # recorded runs that are made again, and what one may cost
MOST_LINES = 10  # of files that change
LOG = "log.txt"  # beside the executed notebooks
NOT_KEPT = ("*.html", "style.css", LOG)  # written beside the pages and ignored by git
QUIETLY = {"capture_output": True, "text": True}


def runs_of(studies) -> list[tuple]:
    """Return (study, run) of all arms."""
    return [(study, run) for study in studies for runs in study.arms.values() for run in runs]


def plan_lines(studies) -> list[str]:
    """Return the plan as text: a line for each study, the sum, and what cannot be made here."""
    rows, recorded, lacking, needs = [], 0.0, 0.0, Counter()
    for study in (study for study in studies if study.arms):
        runs = [run for _, run in runs_of([study])]
        due = [run for run in runs if run.due]
        have = sum(map(recorded_cost, runs))
        need = float(np.nansum([study.missing_cost(run) for run in due]))
        recorded, lacking = recorded + have, lacking + need
        done = len(runs) - len(due)
        rows.append((study.name, len(runs), done, duration(have), len(due), duration(need)))
        for job, key in ((run.job, key) for run in runs for key in run.unmeasured):
            needs[f"{study.name}, {job.what(key)[1]}", job.lacking[key]] += 1
    columns = ["study", "runs", "recorded", "CPU time", "missing", "CPU time"]
    return [
        pd.DataFrame(rows, columns=columns).to_string(index=False),
        f"In all {duration(recorded)} of CPU time is recorded, {duration(lacking)} is missing.",
        *(f"Not measured here: {name} ({n} run(s)): {why}" for (name, why), n in needs.items()),
    ]


def budget() -> float:
    """Return BUDGET in CPU seconds; "all" is infinite."""
    text = os.environ.get("BUDGET") or "0"
    if not re.fullmatch(r"all|\d+(\.\d*)?", text):
        raise ValueError(f"BUDGET={text!r} must be CPU minutes, such as 15, or all")
    return math.inf if text == "all" else 60 * float(text)


def make_missing(studies, seconds: float) -> int:
    """Make missing runs, the cheapest first, as far as the CPU time goes; return how many."""
    made, chosen = 0, {}
    due = [(study, run) for study, run in runs_of(studies) if run.due]
    costs = {run: study.missing_cost(run) for study, run in due}
    costs = {run: math.inf if math.isnan(cost) else cost for run, cost in costs.items()}
    for study, run in sorted(due, key=lambda pair: (costs[pair[1]], pair[1].job.key)):
        if costs[run] <= seconds:
            chosen.setdefault(study, []).append(run)
            seconds -= costs[run] if seconds < math.inf else 0.0
    files = ", ".join(study.records.path.name for study in chosen)
    if chosen:
        what = f"{sum(map(len, chosen.values()))} missing run(s) are trained now"
        print(f"{what} and added to data/records: {files}", flush=True)
    for study, runs in chosen.items():
        if study.check_sources(runs):
            study.make(runs)
            study.records.tidy()
            made += len(runs)
    return made


def repeat(studies, num, seed, limit=REPEAT_SECONDS, confirm=False) -> tuple[int, list[str]]:
    """Make recorded runs again, some of each paper; return how many, and those that differ.

    With `confirm` they are the cheapest of those that the present sources are not known to give,
    and each record whose numbers come out says so.
    """
    complete = [
        (study, run)
        for study, run in runs_of(studies)
        if not run.due and not run.job.lacking and recorded_cost(run) <= limit
    ]
    if confirm:
        complete = [pair for pair in complete if not _is_confirmed(pair[1])]
        chosen = sorted(complete, key=lambda pair: recorded_cost(pair[1]))[:num]
    else:
        random.Random(seed).shuffle(complete)
        firsts = list({study.paper: (study, run) for study, run in reversed(complete)}.values())
        chosen = (firsts + [pair for pair in complete if pair not in firsts])[:num]
    wrong = []
    for run, records in made_again([run for _, run in chosen]).items():
        if differences(run, records)[1]:
            wrong.append(f"{run.job.study} / {run.job.arm} / run {run.job.run}")
            continue
        for new in records.values() if confirm else ():
            old = run.records[new["key"]]
            if new["digest"] not in made_by(old):
                old["confirmed"] = {"digest": new["digest"], "date": new["date"]}
    for study in dict.fromkeys(study for study, _ in chosen) if confirm else ():
        study.records.tidy()
    return len(chosen), sorted(wrong)


def _is_confirmed(run) -> bool:
    present = sources_behind(run.job.game, run.job.learner)
    return all(present in made_by(record) for record in run.records.values())


def _again(studies, num, seed, limit, confirm=False) -> list[str]:
    """Make recorded runs again; return the summary as text, and a line for each that differs."""
    again, wrong = repeat(studies, num, seed, limit, confirm)
    how = "the cheapest unconfirmed" if confirm else f"drawn with seed {seed}"
    counts = f"{again - len(wrong)} identical, {len(wrong)} different."
    summary = f"{again} recorded runs were made again ({how}): {counts}"
    return [summary, *(f"DIFFERS: {name}" for name in wrong)]


def _quick(*names) -> int:
    """Make everything from nothing at reduced scale: all notebooks, or the named ones.

    It takes about five minutes on two cores. Pages and executed notebooks go to reports/quick.

    names: notebooks by how their names begin, such as 12_connect4, or 1 for 10 to 19; default: all
    """
    from .execute import Log, run_all

    began, paths, target = time.monotonic(), find(names), reports_directory() / QUICK
    for study in collect(paths, QUICK)[0]:
        study.records.path.unlink(missing_ok=True)
    log = Log(target / LOG)
    log.say(f"{len(paths)} notebooks at reduced scale, from nothing. All they print: {log.path}")
    failed, _ = run_all(paths, QUICK, target, log)
    summary = report.build(QUICK, collect(find(), QUICK)[0])
    return _end(log, target, began, failed, report.told(summary).split("\n"))


def _reproduce(*names, repeats=REPEATS) -> int:
    """Make the report at the papers' full parameters; repeat some of the recorded runs.

    Pages and executed notebooks are made in a folder of their own. Of reports/paper only what came
    out otherwise is replaced, at the end, and this is said before. The environment variable BUDGET,
    CPU minutes or "all" (default: 0), lets it train what is missing and add it to the records; with
    RECORDS=ignore every recorded run is made again.

    names: notebooks by how their names begin, such as 12_connect4, or 1 for 10 to 19; default: all
    repeats: how many recorded runs are made again and compared bit for bit, each of at most 20 CPU
        seconds
    Ctrl-C: Finished runs are kept, and no page has changed. The same command goes on.
    """
    from .execute import Log, run_all

    began, paths, limit = time.monotonic(), find(names), budget()
    ignore = os.environ.get("RECORDS") or "use"
    if ignore not in ("use", "ignore"):
        raise ValueError(f"RECORDS={ignore!r} must be 'use' or 'ignore'")
    for file in sorted((data_directory() / "records").glob("*.jsonl")):
        read(file)  # a damaged one is named before anything runs
    studies, _ = collect(find())
    asked = {path.stem for path in paths}
    of_names = [study for study in studies if study.notebook in asked]
    target, plan = reports_directory() / PAPER, plan_lines(of_names)
    log = Log(target / LOG)
    log.write("\n".join(plan))
    log.say(f"{len(paths)} notebooks. {plan[1]} All they print: {log.path}")
    made = last = make_missing(of_names, limit)
    while limit == math.inf and last:  # arms may wait for the results of others
        last = make_missing(collect(paths)[0], limit)
        made += last
    if made:  # they are recorded now
        studies, _ = collect(find())
    seed = int(time.time())
    chosen = (repeats, seed, REPEAT_SECONDS)
    everything = (sys.maxsize, seed, math.inf)
    of_names = [study for study in studies if study.notebook in asked]
    again = _again(of_names, *(everything if ignore == "ignore" else chosen))
    log.say("\n".join(again))
    with staging() as staged:
        gather = functools.partial(report.gather, studies, staged, claims.all())
        failed, results = run_all(paths, PAPER, staged, log, meanwhile=gather)
        lines = [f"{made} missing run(s) were made."] if made else []
        if failed:
            lines += [f"{target} stays as it was."]
        else:
            told = report.told(report.build(PAPER, studies, staged.parent, None, results))
            lines += [*told.split("\n"), *publish(staged, target, log.say)]
    # two minutes, most of them for the reference and modules of pages: not without being asked
    lines += ["To play the agents of the report in a browser: make site"]
    return max(_end(log, target, began, failed, lines), len(again) > 1)


def _end(log, target, began, failed, lines) -> int:
    """Say how a command ended; return its exit status."""
    log.say("\n".join([*lines, *(f"FAILED: {name}: {why}" for name, why in failed.items())]))
    log.say(f"{target / 'index.html'} after {duration(time.monotonic() - began)}")
    return 1 if failed else 0


@contextlib.contextmanager
def staging():
    """Yield a copy of the published report to change; on Ctrl-C the report stays as it was."""
    target = reports_directory() / PAPER
    staged = reports_directory() / "staging" / PAPER
    shutil.rmtree(staged.parent, ignore_errors=True)
    staged.mkdir(parents=True)
    if target.exists():
        not_kept = shutil.ignore_patterns(*NOT_KEPT)
        shutil.copytree(target, staged, ignore=not_kept, dirs_exist_ok=True)
    try:
        yield staged
        shutil.rmtree(staged.parent)
    except KeyboardInterrupt:
        print("\nNothing that is published has changed.", file=sys.stderr)
        raise


def publish(staged, target, say) -> list[str]:
    """Replace what differs from the files of a folder; say so before, and return what came out."""
    made = [path.relative_to(staged) for path in sorted(staged.rglob("*")) if path.is_file()]
    new = [name for name in made if not _same(staged / name, target / name)]
    kept = [name for name in new if not any(name.match(pattern) for pattern in NOT_KEPT)]
    if kept:
        say(f"{len(kept)} published file(s) come out otherwise, and are replaced now:")
        say("\n".join(_some([f"  {target / name}" for name in kept])))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # all or none, within a moment
    try:
        for name in new:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged / name, target / name)
    finally:
        signal.signal(signal.SIGINT, before)
    changed = unlike_commit()
    if changed:
        number = f"{len(changed)} published file(s) are not as they are committed:"
        return [number, *_some([f"  {line}" for line in changed])]
    if kept and changed is None:
        return [f"{len(kept)} published file(s) came out otherwise than they were."]
    how = "as it was" if changed is None else "as committed"
    return [f"Every page, figure and number came out {how}."]


def _same(one, other) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def _some(lines):
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"  and {more} more"]


def unlike_commit() -> list[str] | None:
    """Return those published files that are not as git has them; None if it does not have them."""
    root = data_directory().parent
    places = [root / "data" / "records", root / "data" / "profiles"]
    places += [reports_directory() / PAPER]
    command = ["git", "-C", root, "status", "--porcelain", "--", *places]
    try:
        tracked = subprocess.run(["git", "-C", root, "ls-files", "--", *places], **QUIETLY)
        done = subprocess.run(command, **QUIETLY)
    except OSError:
        return None
    known = done.returncode == 0 and tracked.stdout.strip()
    return done.stdout.splitlines() if known else None


def _report() -> int:
    """Build the pages from the records without running a notebook; replace those that differ."""
    studies, _ = collect(find())
    with staging() as staged:
        told = report.told(report.build(PAPER, studies, staged.parent))
        said = publish(staged, reports_directory() / PAPER, print)
    print("\n".join([told, *said]))
    return 0


def _plan(*names) -> int:
    """Print what is recorded and what is missing, with CPU times.

    It trains nothing, and is done in seconds.

    names: notebooks by how their names begin, such as 12_connect4, or 1 for 10 to 19; default: all
    """
    studies, notes = collect(find(names))
    print("\n".join(plan_lines(studies)))
    return 1 if notes else 0


def _repeat(*names, runs=REPEATS, seconds=REPEAT_SECONDS, seed=0, confirm=False) -> int:
    """Make recorded runs of notebooks again, and compare bit for bit.

    They are drawn at random, some of each paper. The exit status is 1 if one differs.

    names: notebooks by how their names begin, such as 12_connect4, or 1 for 10 to 19; default: all
    runs: how many
    seconds: the most CPU seconds that one of them took when it was recorded
    seed: a whole number that says which are drawn (default: 0, which is the clock)
    confirm: take the cheapest of those that the present sources are not known to give, and write
        into each record whose numbers come out that they did
    Ctrl-C: No record has changed.
    """
    studies, _ = collect(find(names))
    said = _again(studies, runs, seed or int(time.time()), seconds, confirm)
    print("\n".join(said))
    return 1 if len(said) > 1 else 0


def _afresh(name, study, *arms, result=(), evaluator=(), runs=10) -> int:
    """Train arms of a study in a notebook with seeds that no record has; print means of results.

    Nothing is recorded. Beside each mean is that of the recorded runs.

    name: the notebook, such as 10_tictactoe
    study: one that it declares, such as tictactoe
    arms: of that study, such as FARL no-FARL
    result: print only this result, in the words in which it is printed; may be repeated (default:
        all)
    evaluator: measure the new runs by this evaluator only; may be repeated (default: all)
    runs: how many trainings of each arm
    Ctrl-C: Nothing of it is kept.
    """
    for arm in arms:  # each in a study of its own
        found = {one.name: one for one in collect(find([name]))[0]}
        if study not in found:
            raise ValueError(f"{name} has no study {study!r} but {', '.join(found)}")
        table = afresh(found[study], arm, runs, evaluator)
        values = last_values(table)
        for columns in (columns for _, of, columns in values if of == NEW):
            words = in_words(columns)
            if result and words not in result:
                continue
            both = [values[study, name, columns] for name in (NEW, arm)]
            means = [f"{value.mean():.6g} ({len(value)} runs)" for value in both]
            print(f"{arm}, {words}: {means[0]}; recorded: {means[1]}")
    return 0


def _evaluate(*rows) -> int:
    """Execute the table of data/evaluate.yaml, or some rows of it, and say what came out.

    That is the artifact appendix: claims, commands, what must come out. All rows take a quarter of
    an hour on two cores. The page is reports/evaluate/evaluation.md.

    rows: the id of each, such as rules (default: all)
    """
    from .evaluate import evaluate

    return evaluate(rows)


def _golden(write=False) -> int:
    """Check golden runs and playthroughs, or write them, and what follows from the declarations.

    Golden runs are short trainings, and playthroughs single games, whose numbers are kept in
    data/golden.json and data/playthroughs.json: they fail when a number moves.

    write: write both as they come out now, the sources that the record files name, and what the
        studies declare in data/profiles/paper; raise the version of what changed first
    """
    if write:  # first, since studies that declare something else are not collected
        write_declared(find())
    studies, _ = collect(find())
    if write:
        golden.write(learners(), [run.job.game for _, run in runs_of(studies)])
    right = [study.check_sources(arm) for study in studies for arm in study.arms.values()]
    if write:
        for study in studies:
            study.records.tidy()
    print(f"{sum(right)} of {len(right)} arms have the numbers of their versions")
    return 0 if all(right) else 1


def _notebook(name, *parameters, profile=QUICK) -> int:
    """Run one notebook, with parameters on top of those of its first cell.

    Its executed copy is reports/quick/NAME.ipynb, of any other profile reports/mine/NAME.ipynb. No
    page and no record changes: what has no record is missing in it.

    name: how the notebook's name begins, such as 10_tictactoe, or a file of yours
    parameters: each NAME=VALUE, such as mine='{lambda_: 0.5}', an arm of your own (with --profile
        recorded)
    profile: quick (everything from nothing at reduced scale), recorded (from the records, with
        arms of your own) or paper (as published) (default: quick)
    Ctrl-C: Nothing that is published has changed.
    """
    from .execute import Log, run_all

    path = Path(name) if Path(name).is_file() else find([name])[0]
    given = pairs(parameters, yaml.safe_load)
    profile_parameters(path, profile, given)  # errors in them stop it before anything runs
    target = reports_directory() / (profile if profile == QUICK else "mine")
    log = Log(target / LOG)
    failed, _ = run_all([path], profile, target, log, given)
    write_html(target, [path.name])
    log.say(f"{target / path.with_suffix('.html').name}; all that it prints: {log.path}")
    return 1 if failed else 0


def main(words=None) -> int:
    """Run the command line; return the exit status."""
    functions = (
        *(_quick, _reproduce, _report, _plan, again, _repeat, _afresh),
        *(_evaluate, _golden, _notebook),
    )
    return run_command("python -m afterply.commands.reproduce", functions, words)


if __name__ == "__main__":
    sys.exit(main())
