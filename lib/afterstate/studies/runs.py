"""One run: its keys, its training in small steps, its checkpoints, its evaluations.

A run is killed at any time without harm: its checkpoint (weights, random generator, counters,
partial curve) is a file that is replaced as a whole every half minute, and training continues from
it as if nothing had happened, because ``session.train(a); session.train(b)`` equals
``session.train(a + b)``. The last checkpoint holds the final weights.
"""

import functools
import math
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from ..files import Archive, write_npz
from ..kernel.compile import CacheError
from ..kernel.random import seed_from
from ..learners.session import next_chunk
from ..players import optional
from . import live
from .identity import (
    canonical,
    evaluator_identity,
    evaluator_name,
    key_of,
    learner_identity,
    sources_behind,
)
from .records import provenance

CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and this multiple of the time it takes to write one
CHUNK_SECONDS = 0.25  # Ctrl-C and progress come between two chunks

_compiled = set()  # learners and games whose kernels this process has


def lacks(evaluator) -> str:
    """Return what an evaluator needs and does not find here, with the remedy, or an empty text."""
    if hasattr(evaluator, "lacks"):  # until all evaluators name what they need
        return evaluator.lacks()
    needs = getattr(evaluator, "needs", "")
    return optional.lacks(needs) if needs else ""


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines one run and its evaluations.

    `parameters` are all parameters of the learner, `every` is the distance of the curve's points in
    episodes, `curve` and `final` are evaluators ``(game, net, seed) -> {metric: value}``, `cache`
    is the directory for checkpoints. `seeded_as` is the name of the arm in the seed path.
    """

    study: str
    arm: str
    seeded_as: str
    run: int
    game: object
    learner: object
    parameters: dict
    episodes: int
    every: int
    curve: tuple
    final: tuple
    cache: Path

    @property
    def seed_path(self) -> list:
        """Names from which all random numbers of the run derive."""
        return [self.study, self.seeded_as, self.run]

    @functools.cached_property
    def key(self) -> str:
        """Key of the training; parameters at their default are not part of it."""
        defaults = {name: canonical(value) for name, value in self.learner.DEFAULTS.items()}
        stated = canonical(self.parameters).items()
        content = {
            "learner": learner_identity(self.learner),
            "game": self.game.identity,
            "episodes": self.episodes,
            "parameters": {n: v for n, v in stated if n not in defaults or defaults[n] != v},
            "seed": self.seed_path,
        }
        return key_of(content)

    @functools.cached_property
    def evaluations(self) -> list:
        """All (key, kind, evaluator) of the run; kind is "curve" or "final"."""
        pairs = [("curve", e) for e in self.curve] + [("final", e) for e in self.final]
        return [(self._evaluation_key(kind, e), kind, e) for kind, e in pairs]

    def _evaluation_key(self, kind, evaluator):
        content = {"train": self.key, "evaluator": evaluator_identity(evaluator), "kind": kind}
        return key_of(content | ({"every": self.every} if kind == "curve" else {}))

    @functools.cached_property
    def measured(self) -> dict:
        """Kind and evaluator's name of everything that the run leaves, by key, the training first.

        The kind is "train", with an empty name, "curve" or "final".
        """
        found = {key: (kind, evaluator_name(e)) for key, kind, e in self.evaluations}
        return {self.key: ("train", "")} | found

    @property
    def keys(self) -> list:
        """Keys of everything that the run leaves, the training first."""
        return list(self.measured)

    @functools.cached_property
    def lacking(self) -> dict:
        """What its evaluations need and do not find here, by key."""
        found = {key: lacks(evaluator) for key, _, evaluator in self.evaluations}
        return {key: reason for key, reason in found.items() if reason}

    @property
    def checkpoint(self) -> Path:
        """File of the checkpoint, in the end of the final weights."""
        return self.cache / self.study / f"{self.key}.npz"

    def sources(self) -> str:
        """Return the hash of the package's sources behind the training's numbers."""
        return sources_behind(self.game, self.learner)

    def session(self):
        """Return a new session of the learner for this run."""
        numbered = {"run": self.run} if getattr(self.learner, "NUMBERED_RUNS", False) else {}
        seed = seed_from(*self.seed_path)
        return self.learner.Session(self.game, dict(self.parameters), seed, **numbered)

    def record(self, key, kind, net, seconds, **content) -> dict:
        """Return a record of this run."""
        names = {"key": key, "kind": kind, "arm": self.arm, "run": self.run}
        made = {"checksum": net.checksum(), "cost": {"cpu_seconds": round(seconds, 3)}}
        return canonical(names | made | content | provenance())


def cpu_time() -> float:
    """Return the CPU seconds of this process and of its ended children, such as engines."""
    return sum(os.times()[:4])


# ------------------------------------------------------------ training


def train(job: Job, curve=None, fresh=False, report=None) -> list[dict]:
    """Train a run to its end, from its checkpoint if there is one; return its records.

    Parameters
    ----------
    job : Job
    curve : collection of str, optional
        Keys of the learning curves to measure on the way (default: all that can be measured here).
    fresh : bool
        Whether a finished run in the cache is trained again.
    report : callable, optional
        Called with the number of episodes of every chunk.
    """
    session, done, wanted = _trained(job, curve, fresh, report)
    moves, seconds = getattr(session, "moves", None), done["cpu_seconds"]
    trained = job.record(
        job.key,
        "train",
        session.net,
        seconds,
        learner=learner_identity(job.learner),
        game=job.game.identity,
        episodes=job.episodes,
        parameters=job.parameters,
        seed=seed_from(*job.seed_path),
        statistics=session.statistics() if hasattr(session, "statistics") else {},
    )
    rate = round(moves / seconds) if moves and seconds > 0 else None
    trained["cost"] |= {"moves": moves, "moves_per_second": rate}
    return [trained] + [
        _evaluation(job, key, "curve", evaluator, session.net, **done["curves"][key])
        for key, evaluator in wanted.items()
    ]


def _trained(job, curve=None, fresh=False, report=None):
    """Train as :func:`train`; return the session, what was measured, and key -> evaluator."""
    wanted = {
        key: evaluator
        for key, kind, evaluator in job.evaluations
        if kind == "curve" and (key not in job.lacking if curve is None else key in curve)
    }
    _compile(job)
    session, done = _resume(job, wanted, fresh)
    report = report or (lambda episodes: None)
    report(session.episode)
    written, chunk, pause = time.monotonic(), 1, CHECKPOINT_SECONDS
    while session.episode < job.episodes:
        point = (session.episode // job.every + 1) * job.every if wanted else job.episodes
        stop = min(point, job.episodes)
        chunk = min(chunk, stop - session.episode)
        began, cpu = time.monotonic(), time.process_time()
        session.train(chunk)
        done["cpu_seconds"] += time.process_time() - cpu
        report(chunk)
        chunk = next_chunk(chunk, time.monotonic() - began, CHUNK_SECONDS)
        if session.episode == stop:
            for key, evaluator in wanted.items():
                _add_point(job, evaluator, session, done["curves"][key])
            live.leave(job, [done["curves"][key]["points"] for key in wanted])
        if time.monotonic() - written >= pause or session.episode >= job.episodes:
            began = time.monotonic()
            _write_checkpoint(job, session, done)
            written = time.monotonic()
            pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - began))
    return session, done, wanted


def _compile(job):
    """Compile before the clock starts, so that the recorded cost is the cost of the run."""
    what = (learner_identity(job.learner)["name"], key_of(job.game.identity))
    if what not in _compiled:
        job.learner.Session(job.game, dict(job.parameters), 0).train(1)
        _compiled.add(what)


def _add_point(job, evaluator, session, curve):
    values, cpu_seconds = measure(job, evaluator, session.net, session.episode)
    curve["cpu_seconds"] += cpu_seconds
    for name, value in {"episode": session.episode, **values}.items():
        curve["points"].setdefault(name, []).append(value)


def _resume(job, wanted, fresh, any_sources=False):
    """Return a session and what was measured so far, from the checkpoint if it fits."""
    curves = {key: {"cpu_seconds": 0.0, "points": {}} for key in wanted}
    nothing, session = {"cpu_seconds": 0.0, "curves": curves}, job.session()
    try:
        arrays = Archive(job.checkpoint)
        meta = arrays.meta
        if meta.get("key") != job.key:
            raise ValueError(f"{job.checkpoint} is not the checkpoint of this run")
        other_sources = meta["sources"] != job.sources() and not any_sources
        finished = meta["episode"] >= job.episodes
        if other_sources or not set(wanted) <= set(meta["curves"]) or fresh and finished:
            return session, nothing
        session.load_state_dict(arrays)
        return session, {"cpu_seconds": meta["cpu_seconds"], "curves": meta["curves"]}
    except FileNotFoundError:
        return session, nothing
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        warnings.warn(f"{error}; {job.arm} run {job.run} starts from nothing", stacklevel=2)
    del session  # perhaps half filled; the new one need not fit beside it
    return job.session(), nothing


def _write_checkpoint(job, session, done):
    meta = {"key": job.key, "sources": job.sources(), "episode": session.episode, **done}
    try:
        write_npz(job.checkpoint, canonical(meta), session.state_dict())
    except OSError as error:
        raise CacheError(
            f"the checkpoint {job.checkpoint} cannot be written ({error.strerror}): make room"
            " there, or set AFTERSTATE_DATA to a copy of the data directory that you can write to"
        ) from error


# ------------------------------------------------------------ evaluation


def measure(job: Job, evaluator, net, episode: int) -> tuple[dict, float]:
    """Return an evaluator's {metric: value} and the CPU seconds it took.

    Its seed derives from study, arm, run, evaluator and episode.
    """
    name, began = evaluator_name(evaluator), cpu_time()
    values = evaluator(job.game, net, seed_from(*job.seed_path, "evaluate", name, episode))
    wrong = not isinstance(values, dict) or any(
        isinstance(v, bool) or not hasattr(v, "__float__") or not math.isfinite(v)
        for v in values.values()
    )
    if wrong or not values or "episode" in values:
        raise ValueError(
            f"the evaluator {name!r} must return {{metric: finite number}}, not {values!r}"
        )
    return {metric: float(value) for metric, value in values.items()}, cpu_time() - began


def evaluate(job: Job, key: str, checksum: str | None = None) -> list[dict]:
    """Return the record of a final evaluation of a run.

    It is made of the cached weights if these have the checksum of the train record (None: any), or
    else of a new training.
    """
    evaluator = next(e for k, _, e in job.evaluations if k == key)
    net = final_net(job, checksum)
    net = trained_net(job) if net is None else net
    values, seconds = measure(job, evaluator, net, job.episodes)
    points = {"episode": [job.episodes]} | {metric: [value] for metric, value in values.items()}
    return [_evaluation(job, key, "final", evaluator, net, seconds, points)]


def _evaluation(job, key, kind, evaluator, net, cpu_seconds, points):
    content = {"train": job.key, "evaluator": evaluator_identity(evaluator), "points": points}
    every = {"every": job.every} if kind == "curve" else {}
    return job.record(key, kind, net, cpu_seconds, **content, **every)


def final_net(job: Job, checksum: str | None):
    """Return the final network of a run from the cache, or None if it has another checksum."""
    if not job.checkpoint.exists():
        return None
    session, _ = _resume(job, {}, fresh=False, any_sources=checksum is not None)
    finished = session.episode == job.episodes
    return session.net if finished and checksum in (None, session.net.checksum()) else None


def trained_net(job: Job):
    """Train a run again and return its network."""
    return _trained(job, curve=(), fresh=True)[0].net
