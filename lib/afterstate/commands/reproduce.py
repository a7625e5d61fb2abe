"""The commands behind the Makefile: ``python -m afterstate.commands.reproduce quick | reproduce | plan | verify-records | golden | notebook``.

``reproduce`` prints the plan, chooses what BUDGET is spent on (one recorded run per paper is
trained again, then missing runs, the cheapest first), runs all notebooks, which take everything
else from the records, and builds the report.
"""

import argparse
import contextlib
import json
import math
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import yaml

from ..files import data_directory, reports_directory
from ..learners import catalogue
from ..reports import collect as report
from ..studies import golden, plan
from ..studies.identity import lacks
from ..studies.run_states import compare, stored_evaluations
from ..studies.progress import clock
from ..studies.runs import evaluate, train
from . import notebooks

PAPER_PROFILE = "paper"
DEFAULT_BUDGET = "15"  # CPU minutes


def budget_seconds(text: str) -> float:
    """Return a budget in CPU seconds: "15" is in minutes, "all" is infinite.

    Raises ValueError for anything else.
    """
    if text == "all":
        return math.inf
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not minutes >= 0:
        raise ValueError(f"BUDGET={text!r} must be CPU minutes, such as 15, or all")
    return 60 * minutes


def collect(paths, profile) -> list:
    """Return the runs of all studies in some notebooks, with the notes of those that could not be followed to the end."""
    outcomes = []
    for number, path in enumerate(paths, 1):
        print(f"planning: {number} of {len(paths)}, {path.stem}", flush=True)
        found, note = notebooks.collect(path, profile)
        outcomes += found
        if note:
            print(f"the plan may lack runs: {note}")
    return outcomes


def quick(names=()) -> int:
    """Make everything from nothing at reduced scale; return the exit status."""
    began = time.monotonic()
    print(
        "Quick profile: everything from nothing at reduced scale, at most 10 minutes on 2 cores.",
        flush=True,
    )
    failed = notebooks.run_all(notebooks.find(names), "quick")
    return _finish("quick", failed, began)


def reproduce(names=()) -> int:
    """Make the report at the papers' full parameters; return the exit status."""
    began, paths = time.monotonic(), notebooks.find(names)
    budget = budget_seconds(os.environ.get("BUDGET") or DEFAULT_BUDGET)
    outcomes = collect(paths, PAPER_PROFILE)
    print("\n".join(plan.lines(outcomes)))
    if (os.environ.get("RECORDS") or "use") == "ignore":
        print(
            "RECORDS=ignore: every run is trained here, whatever the budget, and compared with its"
            " record.",
            flush=True,
        )
        failed = notebooks.run_all(paths, PAPER_PROFILE)
    else:
        seed = int(time.time())
        chosen = plan.select(outcomes, budget, seed)
        limit = "without limit" if budget == math.inf else f"of {budget / 60:.3g} CPU minutes"
        print(
            f"Budget {limit}: {len(chosen['again'])} recorded run(s) are made again and compared"
            f" (drawn with seed {seed}), {len(chosen['missing'])} missing run(s) are made; expected"
            f" {clock(chosen['seconds'])} of CPU time. The rest is taken from records or left out.",
            flush=True,
        )
        with _selection(chosen):
            failed = notebooks.run_all(paths, PAPER_PROFILE)
    return _finish(PAPER_PROFILE, failed, began)


def show_plan(names=(), profile=PAPER_PROFILE) -> int:
    """Print what is recorded, what is missing, and the CPU minutes of both."""
    print("\n".join(plan.lines(collect(notebooks.find(names), profile))))
    return 0


def verify_records(num: int, seed: int | None = None) -> int:
    """Make `num` randomly drawn recorded runs again and compare.

    Return 1 if one differs, else 0.
    """
    if num < 1:
        raise ValueError(f"--n {num}: the number of runs to make again must be at least 1")
    seed = int(time.time()) if seed is None else seed
    complete = sorted(
        (o for o in collect(notebooks.find(), PAPER_PROFILE) if o.complete and not o.job.lacks),
        key=lambda o: o.job.key,
    )
    drawn = random.Random(seed).sample(complete, min(num, len(complete)))
    print(
        f"{len(complete)} runs are recorded; {len(drawn)} of them, drawn with seed {seed}, are made"
        f" again (about {clock(sum(map(plan.recorded_cost, drawn)))}).",
        flush=True,
    )
    differs = 0
    for outcome in drawn:
        label = repeat(outcome, complete)
        differs += label == "differs"
        print(
            f"{outcome.job.study} / {outcome.job.arm} / run {outcome.job.run}: {label}", flush=True
        )
    return 1 if differs else 0


def repeat(outcome, others) -> str:
    """Make a recorded run again from nothing and return "identical", "agrees" or "differs"."""
    job = outcome.job
    again = train(job, job.curve, fresh=True)
    again += [
        evaluate(job, evaluator, again[0]["checksum"])
        for evaluator in job.final
        if not lacks(evaluator)
    ]
    siblings = stored_evaluations(
        [o for o in others if (o.job.study, o.job.arm) == (job.study, job.arm)]
    )
    return compare(list(outcome.stored.values()), again, siblings)


def show_golden(write: bool) -> int:
    """Check the golden runs of all learners, or write their checksums.

    Return 1 if one changed, else 0.
    """
    bad = 0
    for name, learner in catalogue.learners().items():
        if write:
            entry = golden.write(learner, data_directory())
            print(
                f"{name} version {entry['version']}:"
                f" {', '.join(run['game']['name'] + ' ' + run['checksum'] for run in entry['runs'])}"
            )
        else:
            state, message = golden.check(learner, data_directory())
            bad += state != golden.PASSED
            print(message)
    return 1 if bad else 0


def one_notebook(name: str, profile: str, given: list[str]) -> int:
    """Run one notebook with parameters ``name=value`` on top of its profile.

    Return the exit status.
    """
    found = [Path(name)] if Path(name).exists() else notebooks.find([name])
    if len(found) > 1:
        raise ValueError(
            f"{name!r} is the beginning of {', '.join(p.stem for p in found)}: name one of them"
        )
    path = found[0]
    for text in given:
        if "=" not in text:
            raise ValueError(f"{text!r} must be written name=value")
    values = {text.partition("=")[0]: yaml.safe_load(text.partition("=")[2]) for text in given}
    if "profile" in values:
        raise ValueError(
            f"profile={values['profile']!r}: say --profile {values['profile']} instead, so that"
            " parameters and report fit it"
        )
    parameters = notebooks.profile_parameters(path, profile) | notebooks.check(
        path, notebooks.declared(path), values
    )
    print(f"{notebooks.execute(path, profile, parameters)}")
    return 0


@contextlib.contextmanager
def _selection(chosen):
    """Tell the notebooks' studies which runs to make."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "selection.json"
        file.write_text(json.dumps(chosen), encoding="utf-8")
        os.environ["AFTERSTATE_SELECTION"] = str(file)
        try:
            yield
        finally:
            del os.environ["AFTERSTATE_SELECTION"]


def _finish(profile, failed, began) -> int:
    """Build the report and return the exit status: 1 if a notebook failed or a record differs."""
    status = report.main([profile])
    for name in failed:
        print(f"FAILED: {name}: its results are missing in the report")
    print(
        f"{(reports_directory() / profile / 'index.html')} after {clock(time.monotonic() - began)}",
        flush=True,
    )
    return 1 if failed or status else 0


def main(arguments=None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m afterstate.commands.reproduce", description=__doc__.split("\n\n")[1]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("quick", "everything from nothing, reduced scale"),
        ("reproduce", "the papers' parameters"),
        ("plan", "recorded, missing, CPU minutes"),
    ):
        commands.add_parser(name, help=text).add_argument(
            "names", nargs="*", help="beginnings of notebook names (default: all)"
        )
    verify = commands.add_parser("verify-records", help="make recorded runs again and compare")
    verify.add_argument("--n", type=int, default=3, help="number of runs")
    verify.add_argument("--seed", type=int, help="of the draw (default: the time)")
    commands.add_parser("golden", help="check the golden runs").add_argument(
        "--write", action="store_true", help="write their checksums"
    )
    single = commands.add_parser("notebook", help="run one notebook")
    single.add_argument("name")
    single.add_argument("--profile", default="quick")
    single.add_argument("parameters", nargs="*", help="name=value")
    given = parser.parse_args(arguments)
    if os.environ.get("EDAX"):  # notebooks run in a directory of their own
        os.environ["EDAX"] = str(Path(os.environ["EDAX"]).expanduser().absolute())
    try:
        if given.command == "verify-records":
            return verify_records(given.n, given.seed)
        if given.command == "golden":
            return show_golden(given.write)
        if given.command == "notebook":
            return one_notebook(given.name, given.profile, given.parameters)
        return {"quick": quick, "reproduce": reproduce, "plan": show_plan}[given.command](
            given.names
        )
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "\nInterrupted. Finished runs are recorded, the others continue from their checkpoints"
            " next time.",
            file=sys.stderr,
        )
        return 130


if __name__ == "__main__":
    sys.exit(main())
