"""What a run costs, from the records of like ones, or from a short sample where there are none.

Samples are kept, ``data/costs.json`` holds those that are published with the repository, so that a
plan takes them once only. They are estimates and no part of any result.
"""

import json
import math
import time

from ..files import data_directory, published_file, read_json, write_text
from ..learners.catalogue import learners
from .identity import canonical, evaluator_identity, key_of, lacks, learner_identity
from .records import Records
from .runs import measure, probe, short_version

SAMPLE_SECONDS = 0.2
PUBLISHED, KEPT = "costs.json", "cache/costs.json"  # {what: CPU seconds an episode or evaluation}


class Costs:
    """The mean costs in a study's records, which are read once, when a cost is asked for.

    Parameters
    ----------
    records : Records
    """

    def __init__(self, records: Records):
        self._records = records
        self._means = None  # {what: CPU seconds per episode of training, or per evaluation}

    def estimate(self, job, key: str) -> float:
        """Return the CPU seconds that the record with this key of a job would cost."""
        if key == job.key:
            like = _training(learner_identity(job.learner), job.game.identity, job.parameters)
            each = self._mean(like + (job.arm,), like)
            return job.episodes * (_sample(job, None) if each is None else each)
        kind, evaluator = next((kind, e) for kind, e, k in job.evaluations if k == key)
        points = -(-job.episodes // job.every) if kind == "curve" else 1
        each = self._mean((key_of(evaluator_identity(evaluator)),))
        if each is None:
            each = self._like(job, evaluator)
        return points * (_sample(job, evaluator) if each is None else each)

    def _like(self, job, evaluator):
        """Return the cost of an evaluation by that of another one that differs in numbers only.

        Among those of the job that have records the one of the nearest extent is scaled to this
        one's. What a trained agent takes is not told by a sample of an untrained one: its games may
        be much longer.
        """
        if not hasattr(evaluator, "extent"):
            return None
        words, found = _words(evaluator), []
        for _, other, _ in job.evaluations:
            cost = self._mean((key_of(evaluator_identity(other)),))
            if cost is not None and _words(other) == words:
                scale = evaluator.extent(job.game) / other.extent(job.game)
                found.append((abs(math.log(scale)), scale * cost))
        return min(found)[1] if found else None

    def _mean(self, *kinds):
        """Return the mean cost of the first of some kinds that has records, or None."""
        if self._means is None:
            self._means = self._read()
        return next((self._means[kind] for kind in kinds if kind in self._means), None)

    def _read(self):
        found = {}
        for r in self._records.all("train"):
            each = r["cost"]["cpu_seconds"] / r["episodes"]
            like = _training(r["learner"], r["game"], r["parameters"])
            found.setdefault(like, []).append(each)
            found.setdefault(like + (r["arm"],), []).append(each)
        for r in self._records.all("eval"):
            each = r["cost"]["cpu_seconds"] / len(r["points"]["episode"])
            found.setdefault((key_of(r["evaluator"]),), []).append(each)
        return {kind: sum(costs) / len(costs) for kind, costs in found.items()}


def _training(learner: dict, game: dict, parameters: dict) -> tuple:
    """Return what like trainings share: all but the numbers and switches of their parameters.

    A teacher that searches to the end costs twenty times what learning alone does. Words at their
    default count as not said: older records do not have them all.
    """
    known = learners().get(learner["name"])
    usual = known.DEFAULTS if known else {}
    words = {
        name: value
        for name, value in canonical(parameters).items()
        if isinstance(value, (str, dict, list)) and not _numbers(value)
        if name not in usual or value != canonical(usual[name])
    }
    return (key_of({"learner": learner, "game": game, "words": words}),)


def _words(evaluator) -> tuple:
    """Return the kind of an evaluator, and those of its settings that are no numbers."""
    settings = getattr(evaluator, "__dict__", {})
    words = {n: v for n, v in settings.items() if not isinstance(v, (int, float)) and v is not None}
    return type(evaluator), str(sorted(words.items()))


def _numbers(value) -> bool:
    return isinstance(value, list) and all(isinstance(each, (int, float)) for each in value)


def _sample(job, evaluator):
    """Return CPU seconds per episode of training, or per evaluation of an untrained network."""
    what = (
        f"{evaluator_identity(evaluator)['name']} {key_of(evaluator_identity(evaluator))}"
        if evaluator
        else job.arm
    )
    what = f"{job.study} / {what}"
    if evaluator and lacks(evaluator):
        return 0.0  # unknown here
    kept = data_directory() / KEPT
    known = _read(published_file(PUBLISHED)) | (own := _read(kept))
    if what not in known:
        session = job.session()
        session.train(1)  # compiles, as the probe does
        seconds = (
            _sample_evaluation(job, evaluator, session.net)
            if evaluator
            else _sample_training(job, session)
        )
        known[what] = own[what] = float(f"{seconds:.3g}")
        write_text(kept, json.dumps(own, indent=1, sort_keys=True) + "\n")
    return known[what]


def _read(file) -> dict:
    """Return the kept samples; a damaged file is as good as none."""
    try:
        found = read_json(file)
    except (OSError, ValueError):
        return {}
    return {what: each for what, each in found.items() if isinstance(each, float)}


def _sample_evaluation(job, evaluator, net):
    probe(job, evaluator)
    short = short_version(evaluator)
    _, seconds = measure(job, short, net, 1)
    if not hasattr(evaluator, "extent"):
        return seconds
    return seconds * evaluator.extent(job.game) / short.extent(job.game)


def _sample_training(job, session):
    began, chunk = time.process_time(), 1
    while time.process_time() - began < SAMPLE_SECONDS and session.episode < job.episodes:
        session.train(chunk)
        chunk *= 2
    return (time.process_time() - began) / max(session.episode - 1, 1)
