"""The commands behind the Makefile: ``python -m afterstate.commands.reproduce <command>``.

``reproduce`` asks the notebooks for their arms, makes missing runs within BUDGET and a sample of
the recorded ones again, executes all notebooks, which take everything from the records, and builds
the report. ``quick`` executes them with their own small parameters, from nothing.
"""

import argparse
import contextlib
import io
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import pandas as pd
import yaml

from ..files import data_directory, reports_directory, write_text
from ..kernel.source import PACKAGE
from ..learners import all_learners
from ..reports import collect as report
from ..studies import golden
from ..studies.profiles import check_values, declared_in, read_profile
from ..studies.progress import clock, is_progress, notebook
from ..studies.records import read
from ..studies.study import NEVER_FROM_RECORDS, PLAN, Study
from ..studies.work import work

PAPER_PROFILE = "paper"
DEFAULT_BUDGET = "2"  # CPU minutes
REPEATS, REPEAT_SECONDS = 13, 20.0  # recorded runs that are made again, and what one may cost
AT_ONCE = 2  # notebooks; while they train, each of them uses all processors anyway
INTERRUPTED = 130
KEPT = (
    "finished runs are kept, begun ones go on from their checkpoints; give the same command again"
)
STYLED = re.compile(r"(?<!\w)T_[0-9a-f]{5}(?![0-9A-Za-z])")  # random names of styled tables


# ------------------------------------------------------------ notebooks


def folder() -> Path:
    """Return the directory of the notebooks."""
    return data_directory().parent / "notebooks"


def find(names=()) -> list[Path]:
    """Return the notebooks in reading order: all, or those whose names begin with one of `names`.

    Raises ValueError if there is no such notebook.
    """
    paths = sorted(p for p in folder().glob("*.ipynb") if not p.name.startswith("."))
    starts = [Path(name).stem for name in names]
    for start in starts:
        if not any(p.stem.startswith(start) for p in paths):
            known = ", ".join(p.stem for p in paths) or "none"
            raise ValueError(f"there is no notebook {start!r} in {folder()}; it has {known}")
    return [p for p in paths if not starts or p.stem.startswith(tuple(starts))]


def code_cells(path: Path) -> list[tuple[str, list]]:
    """Return source and tags of the code cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), cell["metadata"].get("tags", [])) for cell in code]


def declared(path: Path) -> dict:
    """Return the parameters that a notebook declares: name -> default."""
    tagged = [source for source, tags in code_cells(path) if "parameters" in tags]
    return declared_in("\n".join(tagged))


def profile_parameters(path: Path, profile: str) -> dict:
    """Return the parameters of a profile for a notebook.

    Raises ValueError if there is no such profile, or its file does not state exactly the parameters
    that the notebook declares.
    """
    known = declared(path)
    if profile == NEVER_FROM_RECORDS:
        return {"profile": profile} if "profile" in known else {}
    place = data_directory() / "profiles"
    if not (place / profile).is_dir():
        there = ", ".join(sorted(p.name for p in place.glob("*/")))
        raise ValueError(f"there is no profile {profile!r}: {NEVER_FROM_RECORDS}, {there}")
    file = place / profile / f"{path.stem}.yaml"
    if known and not file.exists():
        raise ValueError(
            f"{file} does not exist: {path.name} would run its quick parameters as those of the"
            f" profile {profile!r}; state {', '.join(known)} there"
        )
    return read_profile(file, path.name, known) if known else {}


def execute(path: Path, profile: str, parameters: dict) -> Path:
    """Run a notebook and return its executed copy in ``reports/<profile>``.

    It appears there only when it is complete; PapermillExecutionError if a cell fails.
    """
    import papermill

    target = reports_directory() / profile / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{path.stem}.{os.getpid()}.tmp.ipynb")
    try:
        papermill.execute_notebook(
            str(path),
            str(temporary),
            parameters=parameters,
            kernel_name="python3",
            cwd=str(folder().parent),
            progress_bar=False,
            stdout_file=sys.stdout,
            stderr_file=sys.stderr,
            request_save_on_cell_execute=False,
            # errors of cells come another way; its own is only that it was told to end
            extra_arguments=["--log-level=50"],
        )
        content = _without_traces(json.loads(temporary.read_text(encoding="utf-8")))
    finally:
        temporary.unlink(missing_ok=True)
    write_text(target, json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return target


def _without_traces(content: dict) -> dict:
    """Drop clock times, progress, random names, and paths of the machine.

    The same results give the same file.
    """
    for cell in content["cells"]:
        if "injected-parameters" in cell["metadata"].get("tags", ()):
            cell["id"] = "injected-parameters"
        if "outputs" in cell:
            cell["outputs"] = _printed_at_once(cell["outputs"])
    for part in [content, *content["cells"]]:
        kept = part["metadata"].items()
        part["metadata"] = {k: v for k, v in kept if k not in ("papermill", "execution")}
    content["metadata"].get("language_info", {}).pop("version", None)
    text = json.dumps(content)
    for place in {str(folder().parent), str(PACKAGE.parents[1])}:
        text = text.replace(json.dumps(place + "/")[1:-1], "")
    text = re.sub(r" at 0x[0-9a-f]+(?=>)", "", text)  # where an object stood in memory
    for number, name in enumerate(dict.fromkeys(STYLED.findall(text))):
        text = text.replace(name, f"T_table{number}")
    return json.loads(text)


def _printed_at_once(outputs) -> list:
    """Return outputs without progress; what a cell printed in pieces, as time had it, is one."""
    kept = []
    for output in outputs:
        if output["output_type"] == "stream":
            lines = "".join(output["text"]).splitlines(keepends=True)
            output["text"] = [line for line in lines if not is_progress(line)]
            if not output["text"]:
                continue
            if kept and kept[-1].get("name") == output["name"]:
                kept[-1]["text"] += output["text"]
                continue
        kept.append(output)
    return kept


def run_one(path: Path, profile: str, parameters: dict | None = None) -> int:
    """Run a notebook in this process; return the exit status.

    A notebook that fails has a page that says what went wrong, and its old results are removed.
    """
    from papermill import PapermillExecutionError

    os.environ["AFTERSTATE_BATCH"] = path.stem  # nobody watches; see studies.progress
    began = time.monotonic()
    try:
        given = profile_parameters(path, profile) if parameters is None else parameters
        execute(path, profile, given)
        print(f"done in {clock(time.monotonic() - began)}", flush=True)
        return 0
    except (PapermillExecutionError, ValueError, OSError, RuntimeError) as error:
        if getattr(error, "ename", "") == "KeyboardInterrupt":  # Ctrl-C reached the notebook
            return INTERRUPTED
        cause = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else str(error)
        _mark_failed(path, profile, cause.strip().replace(f"{folder().parent}/", ""))
        print(f"FAILED: {cause.strip()}", flush=True)
        return 1


def _mark_failed(path, profile, cause):
    """Put what went wrong in the place of a notebook, and remove the old results of its studies."""
    place = reports_directory() / profile
    made_by = {}  # study -> notebook
    for file in (place / "data").glob("*.runs.csv"):
        made_by[file.name.split(".")[0]] = pd.read_csv(file).get("notebook", [""]).iloc[0]
    for file in [*(place / "data").glob("*.csv"), *(place / "figures").glob("*")]:
        # the figures of "connect4-wrapper" begin with the name of the study "connect4", too
        belongs = [study for study in made_by if re.match(rf"{re.escape(study)}[.-]", file.name)]
        if made_by.get(max(belongs, key=len, default="")) == path.stem:
            file.unlink()
    note = f"**This notebook failed, its results are missing.**\n\n```\n{cause}\n```\n"
    cell = {"cell_type": "markdown", "id": "failed", "metadata": {}, "source": note}
    content = {"cells": [cell], "metadata": {"failed": True}, "nbformat": 4, "nbformat_minor": 5}
    write_text(place / path.name, json.dumps(content, indent=1) + "\n")


def run_all(paths: list[Path], profile: str) -> list[str]:
    """Run notebooks, two at a time, each in a process of its own; return those that failed.

    Every line that a notebook writes begins with its number. Those that collect the results of
    others (metadata ``afterstate: {"reads": "other notebooks"}``) come last.
    """
    last = [path for path in paths if _reads_others(path)]
    first = [path for path in paths if path not in last]
    failed, running = [], set()

    def run(path):
        command = [sys.executable, "-m", __spec__.name, "page", str(path), "--profile", profile]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, errors="replace", env=_for_child(), **pipes)
        running.add(process)
        for line in process.stdout:
            print(f"{path.stem.partition('_')[0]}  {line}", end="", flush=True)
        running.discard(process)
        status = process.wait()
        if status not in (0, 1, INTERRUPTED):  # killed, for example for its memory
            _mark_failed(path, profile, f"its process ended with status {status}")
        failed.extend([path.stem] * (status != 0))

    num = min(AT_ONCE, int(os.environ.get("WORKERS") or joblib.cpu_count()))
    try:
        for part in (first, last):
            with ThreadPoolExecutor(num) as pool:
                list(pool.map(run, part))
    except KeyboardInterrupt:
        for process in list(running):  # a terminal hands Ctrl-C to them, too
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGINT)
        raise
    return failed


def _reads_others(path) -> bool:
    metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    return metadata.get("afterstate", {}).get("reads") == "other notebooks"


def _for_child() -> dict:
    """Return the environment of a Python process that imports what this one can import."""
    places = [str(PACKAGE.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    given = {"PYTHONPATH": os.pathsep.join(filter(None, places))}
    if os.environ.get("EDAX"):  # named from where the command is given
        given["EDAX"] = str(Path(os.environ["EDAX"]).expanduser().absolute())
    return os.environ | given


# ------------------------------------------------------------ plan


def declares(source: str) -> bool:
    """Whether a cell declares arms of a study that keeps records: by itself, or by a function."""
    own = f'profile="{NEVER_FROM_RECORDS}"' in source
    return bool(re.search(r"\.arm\(|\bdeclare\w*\(", source)) and not own


def planned(path: Path, parameters: dict) -> tuple[list[Study], str]:
    """Execute the cells of a notebook up to the last that declares an arm; train nothing.

    Return its studies that keep records, and a note if a cell failed, so that arms may be missing.
    """
    cells, names = code_cells(path), {"__name__": "__main__", "display": lambda *shown: None}
    declaring = [k for k, (source, _) in enumerate(cells) if declares(source)]
    before, note = notebook(), ""
    os.environ["AFTERSTATE_BATCH"] = PLAN
    for source, tags in cells[: max(declaring, default=-1) + 1]:
        lines = ["pass" if line.startswith(("%", "!")) else line for line in source.split("\n")]
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile("\n".join(lines), path.name, "exec"), names)
        except Exception as error:  # it may need results that are not there yet
            if declares(source) or "Study(" in source:
                note = f"{path.name}: {traceback.format_exception_only(error)[-1].strip()}"
        if "parameters" in tags:
            names.update(parameters)
    os.environ["AFTERSTATE_BATCH"] = before
    values = [v for n in names.values() for v in (n.values() if isinstance(n, dict) else [n])]
    studies = dict.fromkeys(value for value in values if isinstance(value, Study))
    return [study for study in studies if study.keeps_records], note


def collect(paths, profile=PAPER_PROFILE) -> tuple[list[Study], list[str]]:
    """Return the studies of some notebooks, and notes on what failed."""
    found = [planned(path, profile_parameters(path, profile)) for path in paths]
    notes = [note for _, note in found if note]
    for note in notes:
        print(f"the plan may lack runs: {note}", flush=True)
    return [study for studies, _ in found for study in studies], notes


def runs_of(studies) -> list[tuple]:
    """Return (study, run) of all arms."""
    return [(study, run) for study in studies for runs in study.arms.values() for run in runs]


def _recorded_cost(run) -> float:
    return sum(record["cost"]["cpu_seconds"] for record in run.records.values())


def plan_lines(studies) -> list[str]:
    """Return the plan as text, a line for each study, and what cannot be made here."""
    text = ["study                   runs  recorded  CPU time  missing  CPU time"]
    recorded, lacking, needs = 0.0, 0.0, Counter()
    for study in studies:
        runs = [run for _, run in runs_of([study])]
        due = [run for run in runs if run.due and not run.blocked]
        have, need = sum(map(_recorded_cost, runs)), sum(map(study.missing_cost, due))
        cost = "unknown" if math.isnan(need) else clock(need)
        done = f"{len(runs) - len(due):>10}{clock(have):>10}"
        text.append(f"{study.name:<22}{len(runs):>6}{done}{len(due):>9}{cost:>10}")
        recorded, lacking = recorded + have, lacking + need
        for job, key in ((run.job, key) for run in runs for key in run.unmeasured):
            needs[f"{study.name}, {job.what(key)[1]}", job.lacking[key]] += 1
    missing = "an unknown time" if math.isnan(lacking) else clock(lacking)
    text.append(f"In all {clock(recorded)} of CPU time are recorded, {missing} is missing.")
    return text + [
        f"Not measured here: {name} ({number} run(s)): needs {reason}"
        for (name, reason), number in needs.items()
    ]


def budget() -> float:
    """Return BUDGET in CPU seconds; "all" is infinite."""
    text = os.environ.get("BUDGET") or DEFAULT_BUDGET
    try:
        minutes = math.inf if text == "all" else float(text)
    except ValueError:
        minutes = math.nan
    if not minutes >= 0:
        raise ValueError(f"BUDGET={text!r} must be CPU minutes, such as 15, or all")
    return 60 * minutes


# ------------------------------------------------------------ commands


def make_missing(studies, seconds: float) -> int:
    """Make missing runs, the cheapest first, as far as the CPU time goes; return how many."""
    made, work_left = 0, []
    for study, run in runs_of(studies):
        if run.due and not run.blocked:
            cost = study.missing_cost(run)
            work_left.append((math.inf if math.isnan(cost) else cost, run.job.key, study, run))
    by_study = {}
    for cost, _, study, run in sorted(work_left, key=lambda entry: entry[:2]):
        if cost <= seconds or seconds == math.inf:
            by_study.setdefault(study, []).append(run)
            seconds -= cost if math.isfinite(cost) else 0.0
    for study, runs in by_study.items():
        if study.check_sources(runs):
            study.make(runs)
            study.records.tidy(study.records.sources)
            made += len(runs)
    return made


def repeat(studies, num: int, seed: int, limit=REPEAT_SECONDS) -> tuple[int, list[str]]:
    """Make recorded runs again, one of each paper at least, and compare them bit for bit.

    Return how many were made again, and those that differ.
    """
    draw = random.Random(seed)
    complete = [
        (study, run)
        for study, run in runs_of(studies)
        if run.job.key in run.records and not run.due and not run.job.lacking
        if _recorded_cost(run) <= limit
    ]
    draw.shuffle(complete)
    papers = dict.fromkeys(study.paper for study, _ in complete)
    firsts = [next(pair for pair in complete if pair[0].paper == paper) for paper in papers]
    chosen = (firsts + [pair for pair in complete if pair not in firsts])[:num]
    stored, wrong = {run.job: run.records for _, run in chosen}, set()

    def compare(job, records):
        for new in records:
            old = stored[job][new["key"]]
            if (old["checksum"], old.get("points")) != (new["checksum"], new.get("points")):
                wrong.add(f"{job.study} / {job.arm} / run {job.run}")

    workers = int(os.environ.get("WORKERS") or joblib.cpu_count())
    work(list(stored), compare, workers=workers, dask=os.environ.get("DASK") or None, fresh=True)
    return len(chosen), sorted(wrong)


def quick(names=()) -> int:
    """Make everything from nothing at reduced scale; return the exit status."""
    began, paths = time.monotonic(), find(names)
    print(f"{len(paths)} notebooks at reduced scale, from nothing.", flush=True)
    return _finish(NEVER_FROM_RECORDS, run_all(paths, NEVER_FROM_RECORDS), began, [])


def reproduce(names=(), num: int = REPEATS) -> int:
    """Make the report at the papers' full parameters; return the exit status."""
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
    chosen = (sys.maxsize, seed, math.inf) if ignore == "ignore" else (num, seed)
    again, wrong = repeat(studies, *chosen)
    summary = [
        f"{made} missing run(s) were made.",
        f"{again} recorded runs were made again (drawn with seed {seed}):"
        f" {again - len(wrong)} identical, {len(wrong)} different.",
    ]
    print("\n".join(summary), flush=True)
    summary += [f"DIFFERS: {name}" for name in wrong]
    failed = run_all(paths, PAPER_PROFILE)
    return max(_finish(PAPER_PROFILE, failed, began, summary), bool(wrong))


def _finish(profile, failed, began, summary) -> int:
    status = report.main([profile])
    print("\n".join(summary + [f"FAILED: {name}: no results in the report" for name in failed]))
    index = reports_directory() / profile / "index.html"
    print(f"{index} after {clock(time.monotonic() - began)}", flush=True)
    return 1 if failed or status else 0


def show_plan(names=()) -> int:
    """Print what is recorded and what is missing; return 1 if runs may be lacking there."""
    studies, notes = collect(find(names))
    print("\n".join(plan_lines(studies)))
    return 1 if notes else 0


def show_golden(write: bool) -> int:
    """Check the golden runs of all learners and the playthroughs of all games, or write them.

    Writing states in the record files that their numbers are those of the present sources.
    """
    studies, _ = collect(find())
    jobs = {
        (run.job.learner.NAME, str(run.job.game.identity)): run.job for _, run in runs_of(studies)
    }
    if write:
        records = [record for study in studies for record in study.records.by_key.values()]
        identities = [record["game"] for record in records if record["kind"] == "train"]
        made = golden.write(all_learners.learners(), identities)
        print(*made, "golden runs are written", sep="\n")
    changed = [golden.changed(job.learner, job.game) for job in jobs.values()]
    for study in studies if write and not any(changed) else ():
        for arm in study.arms.values():
            study.check_sources(arm)
        study.records.tidy(study.records.sources)
    print("\n".join(filter(None, changed)) or f"{len(jobs)} learners with games came out as stated")
    return 1 if any(changed) else 0


def one_notebook(name: str, profile: str, given: list[str]) -> int:
    """Run one notebook, with parameters ``name=value`` on top of the profile's."""
    path = Path(name) if Path(name).is_file() else find([name])[0]
    parameters = profile_parameters(path, profile)
    for text in given:
        if "=" not in text:
            raise ValueError(f"{text!r} must be written name=value, such as runs=3")
    stated = {text.partition("=")[0]: yaml.safe_load(text.partition("=")[2]) for text in given}
    parameters |= check_values(path.name, declared(path), stated)
    if profile != NEVER_FROM_RECORDS:
        make_missing(planned(path, parameters)[0], math.inf)
    return run_one(path, profile, parameters) or report.main([profile])


def main(arguments=None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m afterstate.commands.reproduce")
    commands = parser.add_subparsers(dest="command", required=True)
    help_of = {
        "quick": "everything from nothing, reduced scale",
        "reproduce": "the papers' parameters",
        "plan": "recorded, missing, CPU time",
        "golden": "check the golden runs",
        "notebook": "run one notebook",
        "page": "run one notebook from records only",
    }
    made = {name: commands.add_parser(name, help=text) for name, text in help_of.items()}
    for name in ("quick", "reproduce", "plan"):
        words = "beginnings of notebook names (default: all)"
        made[name].add_argument("names", nargs="*", help=words)
    words = "recorded runs that are made again"
    made["reproduce"].add_argument("--repeats", type=int, default=REPEATS, help=words)
    made["golden"].add_argument("--write", action="store_true", help="write their checksums")
    for name in ("notebook", "page"):
        made[name].add_argument("name", help="beginning of its name, or a path")
        words = f"quick or {PAPER_PROFILE}: the scale"
        made[name].add_argument("--profile", default=NEVER_FROM_RECORDS, help=words)
    made["notebook"].add_argument("parameters", nargs="*", help="name=value, over the profile's")
    given, more = parser.parse_known_args(arguments)
    # argparse takes what follows an option for no parameter: NAME --profile paper runs=3
    if given.command == "notebook" and not any(text.startswith("-") for text in more):
        given.parameters += more
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    try:
        if given.command == "golden":
            return show_golden(given.write)
        if given.command == "page":
            return run_one(Path(given.name), given.profile)
        if given.command == "notebook":
            return one_notebook(given.name, given.profile, given.parameters)
        if given.command == "reproduce":
            return reproduce(given.names, given.repeats)
        return {"quick": quick, "plan": show_plan}[given.command](given.names)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nInterrupted: {KEPT}", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
