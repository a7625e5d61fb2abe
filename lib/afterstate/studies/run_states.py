"""What becomes of the runs of an arm: found in the records, made here, repeated and compared, or missing.

The order for each arm: :func:`look_up` (which stored records may be used), :func:`choose` (which
runs are worked on), :func:`work_on` (training, then evaluations; every record is written as soon as
it is there), :func:`settle` (what counts).
"""

import json
import math
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from scipy.special import stdtrit

from . import golden
from .identity import evaluator_identity, lacks
from .jobs import Job
from .parallel import parallel
from .progress import Progress
from .records import machine
from .runs import probe

RECORDED, HERE, AGAIN, MISSING = "recorded", "trained here", "re-run here: ", "missing"
AGREEMENT = 0.99  # coverage of the prediction interval for a run on another kind of CPU


@dataclass(eq=False)
class RunState:
    """What is known of one run: its job, the stored records by key, the records that count, and where they come from.

    `refused` are keys whose stored record can not be trusted any more and is not replaced either.
    """

    job: Job
    study: object
    stored: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    provenance: dict = field(default_factory=dict)
    refused: set = field(default_factory=set)

    @property
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


def look_up(study, outcomes: list[RunState]) -> bool:
    """Find the stored records of the runs that may be used; return whether new ones may be written.

    A record that other sources of the package made is used only if the learner's golden runs still
    come out as stated and its evaluator still says the same of a given network.
    """
    if not study.keeps_records:
        return False
    for outcome in outcomes:
        found = [
            study.records.find(kind, key, outcome.job.parameters) for key, kind, _ in outcome.keys
        ]
        outcome.stored = {record["key"]: record for record in found if record is not None}
    state, message = golden.check(outcomes[0].job.learner, study.data)
    if state != golden.PASSED:
        _tell(study, message)
    for outcome in outcomes:
        doubtful = {
            k: r for k, r in outcome.stored.items() if r["sources"] != outcome.job.sources_behind(k)
        }
        if state == golden.PASSED:
            doubtful = {
                k: r for k, r in doubtful.items() if _evaluator_changed(study, outcome.job, r)
            }
            outcome.refused = set(doubtful)
        outcome.stored = {k: r for k, r in outcome.stored.items() if k not in doubtful}
    return state != golden.CHANGED


def _evaluator_changed(study, job, record) -> bool:
    evaluator = next((e for _, e, key in job.evaluations if key == record["key"]), None)
    if evaluator is not None and lacks(evaluator):
        _tell(
            study,
            f"{study.name}: results of {evaluator_identity(evaluator)['name']} are taken from their"
            f" records unchecked: {lacks(evaluator)}",
        )
    elif evaluator is not None and record["probe"] != probe(job, evaluator):
        return _refuse(study, record)
    return False


def _refuse(study, record) -> bool:
    known = record["evaluator"]
    _tell(
        study,
        f"the evaluator {known['name']} says something else of the same network than when its"
        f" records of version {known['version']} were made: they are refused, and no new ones are"
        " written. Undo the edit, or raise its version",
    )
    return True


def _tell(study, message):
    if message not in study.told:
        print(message, file=sys.stderr, flush=True)
        study.told.add(message)


# --------------------------------------------------------------------------------------------- work


def choose(study, outcomes: list[RunState]) -> tuple[list, list]:
    """Return the runs to work on, and those of them that are repeated although they are recorded.

    Everything that has no record; or, if the variable AFTERSTATE_SELECTION names a file (see
    ``plan.select``), what it lists. Runs whose learning curve can not be measured here are left
    out.
    """
    selection = os.environ.get("AFTERSTATE_SELECTION")
    for reason in sorted({o.job.lacks for o in outcomes} - {""}):
        _tell(study, f"{study.name}: nothing can be trained here: {reason}")
    for what, reason in unmeasured(outcomes):
        _tell(study, f"{study.name}: not measured here: {what}: needs {reason}")
    outcomes = [o for o in outcomes if not o.job.lacks]
    if study.fresh or not selection:
        chosen = [o for o in outcomes if study.fresh or not o.complete]
        return chosen, [o for o in chosen if study.fresh]
    selected = json.loads(Path(selection).read_text(encoding="utf-8"))
    again = [o for o in outcomes if o.job.key in selected["again"]]
    return (
        again
        + [
            o
            for o in outcomes
            if o.job.key in selected["missing"] and not o.complete and o not in again
        ],
        again,
    )


def unmeasured(outcomes: list[RunState]) -> list[tuple[str, str]]:
    """Return what can not be measured here and has no record: ("Edax-1 (10 runs)", what it needs), one pair an evaluator."""
    counts = {}
    for outcome in outcomes:
        names = {key: name for key, _, name in outcome.keys}
        for what in {(names[key], reason) for key, reason in outcome.lacking.items()}:
            counts[what] = counts.get(what, 0) + 1
    return [(f"{name} ({n} run{'s' * (n > 1)})", reason) for (name, reason), n in counts.items()]


def work_on(study, chosen: list[RunState], again: list[RunState], writes: bool) -> None:
    """Train and evaluate the chosen runs; write each new record at once."""
    trainings, evaluations = [], []
    for outcome in chosen:
        job, repeat = outcome.job, outcome in again
        curve = tuple(
            e
            for kind, e, key in job.evaluations
            if kind == "curve" and (repeat or key not in outcome.stored)
        )
        if curve or repeat or job.key not in outcome.stored:
            trainings.append((outcome, ("train", job, curve, repeat, job.sources)))
    _spread(study, "training", trainings, writes, "episodes")
    for outcome in chosen:
        job = outcome.job
        trained = outcome.records.get(job.key) or outcome.stored[job.key]
        evaluations += [
            (outcome, ("evaluate", job, evaluator, trained["checksum"], job.sources))
            for kind, evaluator, key in job.evaluations
            if kind == "final"
            and (outcome in again or key not in outcome.stored)
            and not lacks(evaluator)
        ]
    _spread(study, "evaluating", evaluations, writes, "evaluations")


def _spread(study, verb, work, writes, unit):
    """Do tasks side by side, with progress."""
    if not work:
        return
    sizes = [outcome.job.episodes if unit == "episodes" else 1 for outcome, _ in work]
    in_steps = unit == "episodes" and not study.dask and (study.workers == 1 or len(work) == 1)
    with Progress(sum(sizes), f"{verb} {study.name} / {work[0][0].job.arm}", unit) as progress:
        for index, records in parallel(
            [task for _, task in work],
            study.workers,
            study.dask,
            progress.advance if in_steps else None,
        ):
            for record in records:
                _accept(study, work[index][0], record, writes)
            if not in_steps:
                progress.advance(sizes[index])


def _accept(study, outcome, record, writes):
    """Take a new record.

    Write it unless one is stored, or it does not belong to the stored training.
    """
    job, stored = outcome.job, outcome.stored
    belongs = job.key not in stored or record["checksum"] == stored[job.key]["checksum"]
    if not belongs and record["kind"] == "train":
        print(
            f"{job.arm} run {job.run}: the repeated training ended with other weights than"
            f" {study.records.path('train', job.key)} says",
            file=sys.stderr,
        )
    outcome.take(record, HERE if belongs else AGAIN + "differs")
    if writes and belongs and record["key"] not in stored and record["key"] not in outcome.refused:
        study.records.write(record)


def settle(outcome: RunState, repeated: bool, siblings: list[dict]) -> None:
    """Fill in the stored records of a run; if it was repeated, say how it came out.

    What differs counts with its new numbers.

    An evaluation that could not be repeated, because it lacks something here, counts as recorded.
    """
    stored = outcome.stored
    label = (
        AGAIN + compare(list(stored.values()), list(outcome.records.values()), siblings)
        if repeated and stored
        else RECORDED
    )
    for key, record in stored.items():
        if repeated and key not in outcome.records:
            outcome.take(record, RECORDED)
        elif label == AGAIN + "differs" and key in outcome.records:
            outcome.provenance[key] = label
        elif repeated or outcome.provenance.get(key, HERE) == HERE:
            outcome.take(record, label)


# --------------------------------------------------------------------------------------- comparison


def compare(recorded: list[dict], again: list[dict], siblings: list[dict]) -> str:
    """Say how a repeated run came out: "identical", "agrees" or "differs".

    Parameters
    ----------
    recorded, again : records of the run, as stored and as repeated (train, curves, finals)
    siblings : stored evaluation records of the runs of the same arm, for the prediction interval

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


def stored_evaluations(outcomes: list[RunState]) -> list[dict]:
    """Return all stored evaluation records of some runs."""
    return [r for o in outcomes for r in o.stored.values() if r["kind"] != "train"]
