"""What becomes of the runs of an arm: found in the records, made here, compared, or missing.

The order for each arm: :func:`look_up` (which stored records may be used), :func:`choose` (which
runs are worked on), :func:`work_on` (training, then evaluations; every record is written as soon as
it is there), :func:`settle` (what counts). They know no study: it hands them its records, its
:class:`Policy` and where to say something.
"""

import functools
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

from scipy.special import stdtrit

from ..reports.sources import AGAIN, DIFFERS, HERE, RECORDED
from . import golden
from .confirmations import said
from .costs import Costs
from .identity import evaluator_identity, lacks
from .jobs import Job
from .live import while_training
from .parallel import parallel
from .progress import Progress, in_notebook
from .records import Records, machine
from .settings import Selection

AGREEMENT = 0.99  # coverage of the prediction interval for a run on another kind of CPU


@dataclass(frozen=True)
class Policy:
    """What a study does with records, and how it makes what it has not.

    Parameters
    ----------
    keeps_records : bool
        Whether stored records are read and new ones are written.
    fresh : bool
        Whether every run is made here, and compared with its record if it has one.
    selection : Selection or None
        The runs to work on; None = everything that has no record.
    workers : int
        Processes that train side by side.
    dask : str or None
        Address of a Dask scheduler whose workers train instead.
    computes : bool
        Whether anything is computed; else what would have to be checked is trusted (a plan).
    """

    keeps_records: bool = True
    fresh: bool = False
    selection: Selection | None = None
    workers: int = 1
    dask: str | None = None
    computes: bool = True


class Notices:
    """Say each sentence once, on the error output."""

    def __init__(self):
        self._said = set()

    def __call__(self, sentence: str) -> None:
        """Say a sentence unless it was said before."""
        if sentence not in self._said:
            print(sentence, file=sys.stderr, flush=True)
            self._said.add(sentence)


@dataclass(eq=False)
class RunState:
    """What is known of one run.

    Its job, the paper it is made for, what like runs cost, the stored records by key, the records
    that count, and where they come from. `doubted` are keys of stored records that other sources of
    the package made; `refused` are those of them that can not be trusted any more and are not
    replaced either.
    """

    job: Job
    paper: str | None = None
    costs: Costs | None = None
    stored: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    provenance: dict = field(default_factory=dict)
    doubted: set = field(default_factory=set)
    refused: set = field(default_factory=set)

    @functools.cached_property
    def keys(self) -> list:
        """All keys of the run with their kind and evaluator name, the training first."""
        return [(self.job.key, "train", "")] + [
            (key, "eval", evaluator_identity(e)["name"]) for _, e, key in self.job.evaluations
        ]

    @property
    def lacking(self) -> dict:
        """What its evaluations without a record need and do not find on this machine, by key."""
        without = {
            key: lacks(e)
            for _, e, key in self.job.evaluations
            if key not in self.stored and key not in self.records
        }
        return {key: reason for key, reason in without.items() if reason}

    @property
    def due(self) -> list:
        """Keys of what has no stored record and can be made here."""
        lacking = self.lacking
        return [key for key, _, _ in self.keys if key not in self.stored and key not in lacking]

    @property
    def complete(self) -> bool:
        """Whether a record is stored for everything of the run that can be made here."""
        return not self.due

    @property
    def finished(self) -> bool:
        """Whether everything of the run that can be made here has a record that counts."""
        lacking = self.lacking
        return all(key in self.records or key in lacking for key, _, _ in self.keys)

    def take(self, record, provenance):
        """Let a record count."""
        self.records[record["key"]] = record
        self.provenance[record["key"]] = provenance


# ----------------------------------------------------------------------------------- stored records


def look_up(
    states: list[RunState], records: Records, policy: Policy, data: Path, tell: Notices
) -> bool:
    """Find the stored records of the runs that may be used; return whether new ones may be written.

    A record that other sources of the package made is used only if the learner's golden runs and
    the game's playthroughs still come out as stated, and its evaluator still says the same of a
    given network.
    """
    if not policy.keeps_records:
        return False
    for state in states:
        found = [records.find(kind, key, state.job.parameters) for key, kind, _ in state.keys]
        state.stored = {record["key"]: record for record in found if record is not None}
        state.doubted = {
            k for k, r in state.stored.items() if r["sources"] != state.job.sources_behind(k)
        }
    job = states[0].job
    outcomes = [
        golden.check(job.learner, data, policy.computes),
        golden.check_game(job.game, data, policy.computes),
    ]
    for found, message in outcomes:
        if found in (golden.CHANGED, golden.ABSENT):
            tell(message)
    verdicts = {found for found, _ in outcomes}
    if policy.computes or verdicts & {golden.CHANGED, golden.ABSENT}:
        for state in states:
            _drop_untrusted(state, verdicts == {golden.PASSED}, data, tell)
    return golden.CHANGED not in verdicts


def may_write(chosen: list[RunState], data: Path, tell: Notices) -> bool:
    """Return whether new records may be written: golden runs come out as stated here."""
    if all(state.complete for state in chosen):
        return True
    found, message = golden.check(chosen[0].job.learner, data, here=True)
    if found == golden.CHANGED:
        tell(f"On this processor ({machine()['target']}) no new records are written: {message}")
    return found != golden.CHANGED


def _drop_untrusted(state, passed, data, tell):
    """Use no doubted record of changed learners and games, and none of a changed evaluator."""
    dropped = set(state.doubted)
    if passed:
        dropped = {k for k in dropped if _evaluator_changed(state.job, state.stored[k], data, tell)}
        state.refused = dropped
    state.stored = {k: r for k, r in state.stored.items() if k not in dropped}


def _evaluator_changed(job, record, data, tell) -> bool:
    evaluator = next((e for _, e, key in job.evaluations if key == record["key"]), None)
    if evaluator is None:
        return False
    name, version = evaluator_identity(evaluator)["name"], record["evaluator"]["version"]
    if lacks(evaluator):
        tell(
            f"{job.study}: results of {name} are taken from their records unchecked:"
            f" {lacks(evaluator)}"
        )
        return False
    if record["probe"] == said(job, evaluator, record["key"], data):
        return False
    tell(
        f"the evaluator {name} says something else of the same network than when its records of"
        f" version {version} were made: they are refused, and no new ones are written. Undo the"
        " edit, or raise its version"
    )
    return True


# --------------------------------------------------------------------------------------------- work


def choose(states: list[RunState], policy: Policy, tell: Notices) -> tuple[list, list]:
    """Return the runs to work on, and those of them that are repeated although they are recorded.

    Everything that has no record, or what the policy's selection lists. Runs whose learning curve
    can not be measured here are left out.
    """
    if not policy.computes:
        return [], []
    study = states[0].job.study
    for reason in sorted({s.job.lacks for s in states} - {""}):
        tell(f"{study}: nothing can be trained here: {reason}")
    for what, reason in unmeasured(states):
        tell(f"{study}: not measured here: {what}: needs {reason}")
    states = [s for s in states if not s.job.lacks]
    if policy.fresh:
        return states, states
    selected = policy.selection
    if selected is None:
        return [s for s in states if not s.complete], []
    again = [s for s in states if s.job.key in selected.again]
    missing = [s for s in states if s.job.key in selected.missing and not s.complete]
    return again + [s for s in missing if s not in again], again


def unmeasured(states: list[RunState]) -> list[tuple[str, str]]:
    """Return what can not be measured here and has no record.

    One pair for each evaluator, such as ("Edax-1 (10 runs)", what it needs).
    """
    counts = {}
    for state in states:
        names = {key: name for key, _, name in state.keys}
        # each once, in the order of the evaluations: a set's order differs from process to process
        for what in dict.fromkeys((names[key], why) for key, why in state.lacking.items()):
            counts[what] = counts.get(what, 0) + 1
    return [(f"{name} ({n} run{'s' * (n > 1)})", reason) for (name, reason), n in counts.items()]


def work_on(
    chosen: list[RunState], again: list[RunState], records: Records | None, policy: Policy
) -> None:
    """Train and evaluate the chosen runs; write each new record at once, unless `records` is None.

    `again` are those of them that are repeated although they are recorded.
    """
    trainings, evaluations = [], []
    for state in chosen:
        job, repeat = state.job, state in again
        curve = tuple(_wanted(state, "curve", repeat))
        if curve or repeat or job.key not in state.stored:
            trainings.append((state, ("train", job, curve, repeat, job.sources)))
    with while_training([task for _, task in trainings], in_notebook()):
        _spread("training", trainings, records, policy, "episodes")
    for state in chosen:
        job = state.job
        trained = state.records.get(job.key) or state.stored[job.key]
        final = [e for e in _wanted(state, "final", state in again) if not lacks(e)]
        # where the weights are gone, one process trains them again for all evaluators of a run
        groups = [final] if final and not job.checkpoint.exists() else [[one] for one in final]
        evaluations += [
            (state, ("evaluate", job, group, trained["checksum"], job.sources)) for group in groups
        ]
    _spread("evaluating", evaluations, records, policy, "evaluations")


def _wanted(state, kind, repeat):
    """Return the evaluators of a kind that have no record, or all."""
    of_kind = [(e, key) for k, e, key in state.job.evaluations if k == kind]
    return [e for e, key in of_kind if repeat or key not in state.stored]


def _spread(verb, work, records, policy, unit):
    """Do tasks side by side, with progress."""
    if not work:
        return
    sizes = [
        state.job.episodes if unit == "episodes" else len(evaluators)
        for state, (_, _, evaluators, *_) in work
    ]
    in_steps = unit == "episodes" and not policy.dask and (policy.workers == 1 or len(work) == 1)
    job = work[0][0].job
    with Progress(sum(sizes), f"{verb} {job.study} / {job.arm}", unit) as progress:
        for index, made in parallel(
            [task for _, task in work],
            policy.workers,
            policy.dask,
            progress.advance if in_steps else None,
        ):
            for record in made:
                _accept(work[index][0], record, records)
            if not in_steps:
                progress.advance(sizes[index])


def _accept(state, record, records):
    """Take a new record.

    Write it unless one is stored, or it does not belong to the stored training.
    """
    job, stored = state.job, state.stored
    belongs = job.key not in stored or record["checksum"] == stored[job.key]["checksum"]
    if not belongs and record["kind"] == "train":
        print(
            f"{job.arm} run {job.run}: the repeated training ended with other weights than its"
            f" record train-{job.key}.json says",
            file=sys.stderr,
        )
    state.take(record, HERE if belongs else DIFFERS)
    is_new = record["key"] not in stored and record["key"] not in state.refused
    if records is not None and belongs and is_new:
        records.write(record)


def settle(state: RunState, repeated: bool, siblings: list[dict]) -> None:
    """Fill in the stored records of a run; if it was repeated, say how it came out.

    What differs counts with its new numbers. An evaluation that could not be repeated, because it
    lacks something here, counts as recorded.
    """
    stored = state.stored
    label = (
        AGAIN + compare(list(stored.values()), list(state.records.values()), siblings)
        if repeated and stored
        else RECORDED
    )
    for key, record in stored.items():
        if repeated and key not in state.records:
            state.take(record, RECORDED)
        elif label == DIFFERS and key in state.records:
            state.provenance[key] = label
        elif repeated or state.provenance.get(key, HERE) == HERE:
            state.take(record, label)


# --------------------------------------------------------------------------------------- comparison


def compare(recorded: list[dict], again: list[dict], siblings: list[dict]) -> str:
    """Say how a repeated run came out: "identical", "agrees" or "differs".

    Parameters
    ----------
    recorded, again : list of dict
        Records of the run, as stored and as repeated (training, curves, final values).
    siblings : list of dict
        Stored evaluation records of the runs of the same arm, for the prediction interval.

    Returns
    -------
    str
        "agrees" is possible only on another CPU target: every last value lies in the 99% prediction
        interval (all metrics together) of at least three recorded runs.
    """
    new = {r["key"]: r for r in again}
    pairs = [(r, new[r["key"]]) for r in recorded if r["key"] in new]
    if all(a["checksum"] == b["checksum"] and a.get("points") == b.get("points") for a, b in pairs):
        return "identical"
    if recorded[0]["machine"]["target"] == machine()["target"]:
        return "differs"
    metrics = [
        (b, metric)
        for _, b in pairs
        if b["kind"] != "train"
        for metric in b["points"]
        if metric != "episode"
    ]
    return (
        "agrees"
        if metrics and all(_expected(b, metric, siblings, len(metrics)) for b, metric in metrics)
        else "differs"
    )


def _expected(record, metric, siblings, num_metrics) -> bool:
    values = [
        r["points"][metric][-1]
        for r in siblings
        if r["evaluator"] == record["evaluator"] and r["kind"] == record["kind"]
    ]
    n = len(values)
    if n < 3:
        return False
    mean = sum(values) / n
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    width = stdtrit(n - 1, 1 - (1 - AGREEMENT) / (2 * num_metrics)) * spread * math.sqrt(1 + 1 / n)
    return abs(record["points"][metric][-1] - mean) <= width + 1e-9


def stored_evaluations(states: list[RunState]) -> list[dict]:
    """Return all stored evaluation records of some runs."""
    return [r for s in states for r in s.stored.values() if r["kind"] != "train"]
