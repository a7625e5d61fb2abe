"""The commands behind the Makefile: ``python -m afterply.commands.reproduce <command>``.

``reproduce`` runs those cells of the notebooks that are tagged as declaring arms, makes missing
runs within BUDGET and a sample of the recorded ones again, executes all notebooks, which take
everything from the records, and builds the report. ``quick`` executes them with their own small
parameters, from nothing.
"""

import contextlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..files import data_directory, reports_directory, write_text
from ..kernel.source import PACKAGE
from ..learners import learners
from ..processes import end_with
from ..reports import collect as report
from ..reports.sources import duration
from ..results import in_words
from ..studies import golden
from ..studies.notebooks import PAPER, collect, find, folder, planned, profile_parameters
from ..studies.profiles import QUICK
from ..studies.question import NEW, afresh, differences, last_values, made_again, recorded_cost
from ..studies.records import canonical, made_by, read, sources_behind
from ..studies.runs import where_to_work
from . import INTERRUPTED, pairs, run_command
from .again import again

REPEATS, REPEAT_SECONDS = 13, 20.0  # recorded runs that are made again, and what one may cost
AT_ONCE = 2  # notebooks; while they train, each of them uses all processors anyway
STYLED = re.compile(r"(?<!\w)T_[0-9a-f]{5}(?![0-9A-Za-z])")  # random names of styled tables


def _without_traces(made, before: Path | None = None) -> str:
    """Return a notebook's text without clock times, random names and places of the machine.

    A cell with the tag "clock" measures time: while its source is the same, what it showed in the
    copy `before` stays, or every run of the notebook would change the copy.
    """
    import nbformat
    from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor

    CoalesceStreamsPreprocessor().preprocess(made, {})  # what was printed in pieces, as time had it
    for cell in made.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.id = "injected-parameters"
    for part in [made, *made.cells]:
        for name in ("papermill", "execution"):
            part.metadata.pop(name, None)
    made.metadata.get("language_info", {}).pop("version", None)
    _keep_measured(made, before)
    text = nbformat.writes(made)
    for place in {str(folder().parent), str(PACKAGE.parents[1])}:
        text = text.replace(json.dumps(place + "/")[1:-1], "")
    text = re.sub(r" at 0x[0-9a-f]+(?=>)", "", text)  # where an object stood in memory
    for number, name in enumerate(dict.fromkeys(STYLED.findall(text))):
        text = text.replace(name, f"T_table{number}")
    return text


def _keep_measured(made, before) -> None:
    import nbformat

    clocks = [cell for cell in made.cells if "clock" in cell.metadata.get("tags", ())]
    known = nbformat.read(before, 4).cells if clocks and before and before.exists() else []
    shown = {(cell.get("id"), cell.source): cell.get("outputs") for cell in known}
    for cell in clocks:
        cell.outputs = shown.get((cell.id, cell.source)) or cell.outputs


def _run_here(path, profile, given=None):
    import papermill

    os.environ["AFTERPLY_BATCH"] = path.stem  # nobody watches; see studies.profiles
    began = time.monotonic()
    try:
        made = papermill.execute_notebook(
            re.sub("([{}])", r"\1\1", str(path)),  # a format, for papermill
            None,
            parameters=profile_parameters(path, profile, given),
            kernel_name="python3",
            cwd=str(folder().parent),
            progress_bar=False,
            stdout_file=sys.stdout,
            stderr_file=sys.stderr,
            # errors of cells come another way; its own is only that it was told to end
            extra_arguments=["--log-level=50"],
        )
        copy = reports_directory() / profile / path.name
        write_text(copy, _without_traces(made, copy) + "\n")
        print(f"done in {duration(time.monotonic() - began)}", flush=True)
        return 0
    except (papermill.PapermillExecutionError, ValueError, OSError, RuntimeError) as error:
        if getattr(error, "ename", "") == "KeyboardInterrupt":  # Ctrl-C reached the notebook
            return INTERRUPTED
        cause = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else str(error)
        _mark_failed(path, profile, cause.strip().replace(f"{folder().parent}/", ""))
        print(f"FAILED: {cause.strip()}", flush=True)
        return 1


def _mark_failed(path, profile, cause):
    """Put what went wrong in the place of a notebook; what is recorded stays on the pages."""
    note = f"**This notebook failed.**\n\n```\n{cause}\n```\n"
    cell = {"cell_type": "markdown", "id": "failed", "metadata": {}, "source": note}
    content = {"cells": [cell], "metadata": {"failed": True}, "nbformat": 4, "nbformat_minor": 5}
    write_text(reports_directory() / profile / path.name, json.dumps(content, indent=1) + "\n")


def run_all(paths: list[Path], profile: str) -> list[str]:
    """Run notebooks, two at a time, each in a process of its own; return those that failed."""
    # those with the metadata ``afterply: {"reads": "other notebooks"}`` come last
    last = [path for path in paths if '"reads": "other notebooks"' in path.read_text("utf-8")]
    first = [path for path in paths if path not in last]
    failed, running = [], set()
    places = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # if nothing is installed

    def run(path):
        command = [sys.executable, "-m", __spec__.name, "notebook", str(path), "--profile", profile]
        command += ["--parent", str(os.getpid())]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, errors="replace", env=os.environ | places, **pipes)
        running.add(process)
        for line in process.stdout:
            print(f"{path.stem.partition('_')[0]}  {line}", end="", flush=True)
        running.discard(process)
        status = process.wait()
        if status not in (0, 1, INTERRUPTED):  # killed, for example for its memory
            _mark_failed(path, profile, f"its process ended with status {status}")
        failed.extend([path.stem] * (status != 0))

    try:
        for part in (first, last):
            with ThreadPoolExecutor(min(AT_ONCE, where_to_work()[0])) as pool:
                list(pool.map(run, part))
    except KeyboardInterrupt:
        for process in list(running):  # a terminal hands Ctrl-C to them, too
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGINT)
        raise
    return failed


def runs_of(studies) -> list[tuple]:
    """Return (study, run) of all arms."""
    return [(study, run) for study in studies for runs in study.arms.values() for run in runs]


def plan_lines(studies) -> list[str]:
    """Return the plan as text, a line for each study, and what cannot be made here."""
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
    text = os.environ.get("BUDGET") or "2"
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
    """Make everything from nothing at reduced scale: all notebooks, or the named ones."""
    began, paths = time.monotonic(), find(names)
    for study in collect(paths, QUICK)[0]:
        study.records.path.unlink(missing_ok=True)
    print(f"{len(paths)} notebooks at reduced scale, from nothing.", flush=True)
    return _finish(QUICK, run_all(paths, QUICK), began, [])


def _reproduce(*names, repeats=REPEATS) -> int:
    """Make the report at the papers' full parameters; repeat some of the recorded runs."""
    began, paths, limit = time.monotonic(), find(names), budget()
    ignore = os.environ.get("RECORDS") or "use"
    if ignore not in ("use", "ignore"):
        raise ValueError(f"RECORDS={ignore!r} must be 'use' or 'ignore'")
    for file in sorted((data_directory() / "records").glob("*.jsonl")):
        read(file)  # a damaged one is named before anything runs
    studies, _ = collect(paths)
    print("\n".join(plan_lines(studies)), flush=True)
    made = last = make_missing(studies, limit)
    while limit == math.inf and last:  # arms may wait for the results of others
        studies, _ = collect(paths)
        last = make_missing(studies, limit)
        made += last
    seed = int(time.time())
    chosen = (repeats, seed, REPEAT_SECONDS)
    again = _again(studies, *((sys.maxsize, seed, math.inf) if ignore == "ignore" else chosen))
    summary = [f"{made} missing run(s) were made.", *again]
    # two minutes, most of them for the reference and modules of pages: not without being asked
    summary += ["To play the agents of the report in a browser: make site"]
    failed = run_all(paths, PAPER)
    return max(_finish(PAPER, failed, began, summary), len(again) > 1)


def _finish(profile, failed, began, summary) -> int:
    _report(profile)
    print("\n".join(summary + [f"FAILED: {name}" for name in failed]))
    index = reports_directory() / profile / "index.html"
    print(f"{index} after {duration(time.monotonic() - began)}", flush=True)
    return 1 if failed else 0


def _report(profile=PAPER) -> int:
    """Make the pages of a profile anew from the records; no notebook is run."""
    print(report.told(report.build(profile, collect(find(), profile)[0])))
    return 0


def _plan(*names) -> int:
    """Print what is recorded and what is missing, with CPU times."""
    studies, notes = collect(find(names))
    print("\n".join(plan_lines(studies)))
    return 1 if notes else 0


def _repeat(*names, runs=REPEATS, seconds=REPEAT_SECONDS, seed=0, confirm=False) -> int:
    """Make recorded runs of notebooks again, and compare bit for bit.

    They are drawn among those that took at most --seconds of CPU time, by --seed (0: the clock).
    With --confirm they are the cheapest of those that the present sources are not known to give,
    and each record whose numbers come out says so.
    """
    studies, _ = collect(find(names))
    said = _again(studies, runs, seed or int(time.time()), seconds, confirm)
    print("\n".join(said))
    return 1 if len(said) > 1 else 0


def _afresh(name, study, *arms, result=(), evaluator=(), runs=10) -> int:
    """Train arms of a study in a notebook with seeds that no record has; print means of results.

    Nothing is recorded. Beside each mean is that of the recorded runs. With --evaluator only these
    evaluators measure the new runs; without --result, a text as it is printed, all are printed.
    --result and --evaluator may be repeated.
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
    """Execute the table of data/evaluate.yaml, or some rows of it, and say what came out."""
    from .evaluate import evaluate

    return evaluate(rows)


def _golden(write=False) -> int:
    """Check golden runs and playthroughs, or write them and the sources in the record files."""
    studies, _ = collect(find())
    if write:
        identities = [canonical(run.job.game.identity) for _, run in runs_of(studies)]
        golden.write(learners(), identities)
    right = [study.check_sources(arm) for study in studies for arm in study.arms.values()]
    for study in studies if write else ():
        study.records.tidy()
    print(f"{sum(right)} of {len(right)} arms have the numbers of their versions")
    return 0 if all(right) else 1


def _notebook(name, *parameters, profile=QUICK, parent=0) -> int:
    """Run one notebook, with parameters ``name=value`` on top of the profile's.

    The commands for all of them give the number of their process as parent: it ends with that, and
    leaves missing runs and the report to it.
    """
    path = Path(name) if Path(name).is_file() else find([name])[0]
    if parent:
        end_with(parent)  # and the kernel with this process
        return _run_here(path, profile)
    given = pairs(parameters, yaml.safe_load)
    stated = profile_parameters(path, profile, given)
    if profile != QUICK:
        make_missing(planned(path, stated)[0], math.inf)
    return _run_here(path, profile, given) or _report(profile)


def main(words=None) -> int:
    """Run the command line; return the exit status."""
    functions = (
        *(_quick, _reproduce, _report, _plan, again, _repeat, _afresh),
        *(_evaluate, _golden, _notebook),
    )
    return run_command("python -m afterply.commands.reproduce", functions, words)


if __name__ == "__main__":
    sys.exit(main())
