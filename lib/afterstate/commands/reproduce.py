"""The commands behind the Makefile: ``python -m afterstate.commands.reproduce <command>``.

Commands are quick, reproduce, plan, verify-records, golden, confirm and notebook. ``reproduce``
prints the plan, chooses what BUDGET is spent on (one recorded run per paper is trained again, then
missing runs, the cheapest first), runs all notebooks, which take everything else from the records,
and builds the report.
"""

import argparse
import math
import random
import sys
import time
from pathlib import Path

import yaml

from ..files import data_directory, reports_directory
from ..learners import catalogue
from ..reports import collect as report
from ..studies import confirmations, golden, plan, records, settings
from ..studies.identity import lacks
from ..studies.profiles import check_values
from ..studies.progress import clock
from ..studies.run_states import Notices, Policy, compare, look_up, stored_evaluations
from ..studies.runs import evaluate, train
from . import at_once, notebooks, planning

PAPER_PROFILE = "paper"
# after Ctrl-C: what is there already, and how to go on
KEPT = {
    "quick": "the pages of finished notebooks stay in reports/quick, begun trainings go on from"
    " their checkpoints; say make quick again",
    "reproduce": "finished runs are recorded in data/records, begun ones go on from their"
    " checkpoints; give the same command again",
    "plan": "a plan keeps nothing; give the same command again",
}
NOTEBOOK_SECONDS = 25.0  # to execute one whose runs are all recorded, and its share of the report


def collect(paths, profile) -> tuple[list, list]:
    """Return the runs of all studies in some notebooks.

    Returns
    -------
    (list of RunState, list of str)
        The runs, and notes on what failed, so that runs may be lacking.
    """
    states, notes = [], []
    for number, path in enumerate(paths, 1):
        print(f"planning: {number} of {len(paths)}, {path.stem}", flush=True)
        parameters = notebooks.profile_parameters(path, profile)
        studies, note = planning.collect(path, parameters)
        states += plan.states_of(studies)
        if note:
            notes.append(note)
            print(f"the plan may lack runs: {note}", flush=True)
    return states, notes


def quick(names=()) -> int:
    """Make everything from nothing at reduced scale; return the exit status."""
    began = time.monotonic()
    print(
        "Quick profile: everything from nothing at reduced scale, at most 10 minutes on 2 cores.",
        flush=True,
    )
    failed = at_once.run_all(notebooks.find(names), "quick")
    return _finish("quick", failed, began)


def reproduce(names=()) -> int:
    """Make the report at the papers' full parameters; return the exit status."""
    began, paths = time.monotonic(), notebooks.find(names)
    budget = settings.budget()
    states, _ = collect(paths, PAPER_PROFILE)
    print("\n".join(plan.lines(states)))
    if settings.records() == "ignore":
        chosen, seconds = None, sum(map(plan.recorded_cost, states))
        seconds += sum(map(plan.missing_cost, states))
        print(
            "RECORDS=ignore: every run is trained here, whatever the budget, and compared with its"
            " record."
        )
    else:
        seed = int(time.time())
        chosen, seconds = plan.select(states, budget, seed)
        limit = "without limit" if budget == math.inf else f"of {budget / 60:.3g} CPU minutes"
        print(
            f"Budget {limit}: {len(chosen.again)} recorded run(s) are made again and compared"
            f" (drawn with seed {seed}), {len(chosen.missing)} missing run(s) are made; expected"
            f" {clock(seconds)} of CPU time. The rest is taken from records or left out."
        )
    print(_expectation(len(paths), seconds, settings.workers()), flush=True)
    failed = at_once.run_all(paths, PAPER_PROFILE, chosen)
    return _finish(PAPER_PROFILE, failed, began)


def _expectation(num_notebooks, cpu_seconds, num_workers) -> str:
    """Return a sentence on how long the notebooks take, trainings included."""
    alone = NOTEBOOK_SECONDS * num_notebooks / at_once.at_once()
    return (
        f"This will take about {clock(alone + cpu_seconds / num_workers)}: {clock(alone)} for"
        f" {num_notebooks} notebook(s) and the report, {clock(cpu_seconds)} of CPU time on"
        f" {num_workers} processor(s) for trainings; longer where kernels are not compiled yet."
    )


def show_plan(names=(), profile=PAPER_PROFILE) -> int:
    """Print what is recorded, what is missing, and the CPU minutes of both.

    Return 1 if runs may be lacking there, else 0.
    """
    states, notes = collect(notebooks.find(names), profile)
    print("\n".join(plan.lines(states)))
    return 1 if notes else 0


def verify_records(num: int, seed: int | None = None) -> int:
    """Name damaged and edited records; make `num` randomly drawn recorded runs again and compare.

    Return 1 if a record is damaged or a run differs, else 0.
    """
    if num < 1:
        raise ValueError(f"--n {num}: the number of runs to make again must be at least 1")
    if _tell_damaged():
        return 1
    seed = int(time.time()) if seed is None else seed
    states, _ = collect(notebooks.find(), PAPER_PROFILE)
    complete = sorted(
        (s for s in states if s.complete and not s.job.lacks), key=lambda s: s.job.key
    )
    drawn = random.Random(seed).sample(complete, min(num, len(complete)))
    print(
        f"{len(complete)} runs are recorded; {len(drawn)} of them, drawn with seed {seed}, are made"
        f" again (about {clock(sum(map(plan.recorded_cost, drawn)))}).",
        flush=True,
    )
    differs = 0
    for state in drawn:
        label = repeat(state, complete)
        differs += label == "differs"
        print(f"{state.job.study} / {state.job.arm} / run {state.job.run}: {label}", flush=True)
    return 1 if differs else 0


def _tell_damaged() -> list[str]:
    """Name the records that are damaged or were edited."""
    damaged = records.damaged(data_directory() / "records")
    for sentence in damaged:
        print(f"DAMAGED: {sentence}", flush=True)
    return damaged


def repeat(state, others) -> str:
    """Make a recorded run again from nothing and return "identical", "agrees" or "differs"."""
    job = state.job
    again = train(job, job.curve, fresh=True)
    possible = [evaluator for evaluator in job.final if not lacks(evaluator)]
    again += evaluate(job, possible, again[0]["checksum"])
    siblings = stored_evaluations(
        [s for s in others if (s.job.study, s.job.arm) == (job.study, job.arm)]
    )
    return compare(list(state.stored.values()), again, siblings)


def show_golden(write: bool) -> int:
    """Check the golden runs of all learners and the playthroughs of all games, or write them.

    Return 1 if one changed, else 0.
    """
    data, recorded = data_directory(), records.games(data_directory() / "records")
    if write:
        for name, learner in catalogue.learners().items():
            entry = golden.write(learner, data)
            sums = [f"{run['game']['name']} {run['checksum']}" for run in entry["runs"]]
            print(f"{name} version {entry['version']}: {', '.join(sums)}")
        written = golden.write_games(recorded, data)
        print(f"playthroughs of {len(written)} games")
        return 0
    outcomes = [golden.check(learner, data, here=True) for learner in catalogue.learners().values()]
    outcomes += [golden.check_game(game, data) for game in golden.current(recorded)]
    print("\n".join(message for _, message in outcomes))
    return 1 if any(state != golden.PASSED for state, _ in outcomes) else 0


def confirm() -> int:
    """Check all records that other sources of the package made, and publish what was found.

    A copy of the repository need not find it again then, as long as its sources are these. Nothing
    is published if a record is refused, or could not be checked here; the status is 1 then.
    """
    data = data_directory()
    states, notes = collect(notebooks.find(), PAPER_PROFILE)
    arms, tell, refused = plan.by_arm(states), Notices(), 0
    with confirmations.collecting() as answers:
        for number, ((study, arm), members) in enumerate(arms.items(), 1):
            print(f"checking: {number} of {len(arms)}, {study} / {arm}", flush=True)
            kept = records.Records(data / "records" / study)
            look_up(members, kept, Policy(), data, tell)
            refused += sum(len(state.doubted - set(state.stored)) for state in members)
    unchecked = {lacks(e) for s in states for _, e, key in s.job.evaluations if key in s.doubted}
    wanted = sorted(unchecked - {""})
    print(f"{len(answers)} answers, {refused} records refused, {len(notes)} notebooks failed")
    if refused or notes or wanted:
        print("Nothing is published.", *(f"Not checked here: needs {what}" for what in wanted))
        return 1
    confirmations.publish(data, answers)
    print(data / confirmations.PUBLISHED)
    return 0


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
    parameters = notebooks.profile_parameters(path, profile) | check_values(
        path.name, notebooks.declared(path), values
    )
    other = "" if profile == PAPER_PROFILE else f"; the papers' scale: --profile {PAPER_PROFILE}"
    print(f"{path.stem} with the parameters of the profile {profile}{other}", flush=True)
    print(notebooks.execute(path, profile, parameters))
    return 0


def _finish(profile, failed, began) -> int:
    """Build the report and return the exit status: 1 if a notebook failed or a record differs."""
    status = report.main([profile])
    if profile != notebooks.NEVER_FROM_RECORDS and _tell_damaged():
        status = 1
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
    commands.add_parser(
        "confirm", help="check the records that other sources made; publish what was found"
    )
    single = commands.add_parser("notebook", help="run one notebook")
    single.add_argument("name", help="beginning of its name, or a path")
    single.add_argument(
        "--profile", default="quick", help=f"quick (the default) or {PAPER_PROFILE}: the scale"
    )
    single.add_argument("parameters", nargs="*", help="name=value, on top of the profile")
    given, more = parser.parse_known_args(arguments)
    # argparse takes what follows an option for no parameter: NAME --profile paper runs=3
    if given.command == "notebook" and not any(text.startswith("-") for text in more):
        given.parameters += more
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    try:
        if given.command == "verify-records":
            return verify_records(given.n, given.seed)
        if given.command == "golden":
            return show_golden(given.write)
        if given.command == "confirm":
            return confirm()
        if given.command == "notebook":
            return one_notebook(given.name, given.profile, given.parameters)
        return {"quick": quick, "reproduce": reproduce, "plan": show_plan}[given.command](
            given.names
        )
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nInterrupted: {KEPT.get(given.command, KEPT['reproduce'])}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
