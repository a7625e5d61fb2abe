"""One run: train in small steps, measure the curve, checkpoint, resume, evaluate at the end.

A run is killed at any time without harm: its checkpoint (weights, random generator, counters,
partial curve) is a file that is replaced as a whole every half minute, and training continues from
it as if nothing had happened, because ``session.train(a); session.train(b)`` equals
``session.train(a + b)``. The last checkpoint holds the final weights.

An evaluator with a true attribute ``heavy`` is called in the evaluation process
(:mod:`afterstate.studies.evaluation_process`), so that no training carries a large engine along.
The training waits for the numbers: they are in every checkpoint from there on.
"""

import math
import time
import warnings

from ..files import Archive, write_npz
from ..kernel.compile import CacheError
from ..kernel.random import seed_from
from ..learners.session import next_chunk
from . import evaluation_process, live
from .identity import canonical, evaluator_identity, key_of, learner_identity, numeric_sources
from .jobs import Job
from .records import provenance

CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and so many times what it takes to write one
CHUNK_SECONDS = 0.25  # Ctrl-C and progress come between two chunks
PROBE_EPISODES = 10

_compiled, _probes = set(), {}  # what this process has compiled, and measured of its evaluators


def cpu_time(evaluator) -> float:
    """Return the CPU seconds of this process and of the engines that an evaluator has started."""
    return time.process_time() + (
        evaluator.cpu_seconds() if hasattr(evaluator, "cpu_seconds") else 0.0
    )


# ----------------------------------------------------------------------------------------- training


def train(job: Job, curve=(), fresh=False, report=None) -> list[dict]:
    """Train a run to its end, from its checkpoint if there is a usable one.

    Parameters
    ----------
    job : Job
    curve : sequence of evaluators
        Their learning curves are measured on the way.
    fresh : bool
        Whether a finished run in the cache is trained again (an unfinished one is continued in any
        case).
    report : callable, optional
        Called with the number of episodes of every chunk; first with those that the checkpoint
        holds.

    Returns
    -------
    list of dict
        The record of the training, then those of the curves.
    """
    session, done, keys = _trained(job, curve, fresh, report)
    return [_train_record(job, session, done)] + [
        _eval_record(job, e, "curve", done["curves"][k], session.net) for k, e in keys.items()
    ]


def _trained(job, curve=(), fresh=False, report=None):
    """Train as :func:`train`; return the session, what was measured, and key -> evaluator."""
    keys = {job.eval_key(e, "curve"): e for e in curve}
    _warm_up(job, keys.values())  # makes a network of its own, so before the session has one
    session, done = _resume(job, keys, fresh)
    report = report or (lambda episodes: None)
    report(session.episode)
    written, chunk, pause = time.monotonic(), 1, CHECKPOINT_SECONDS
    while session.episode < job.episodes:
        stop = (
            min((session.episode // job.every + 1) * job.every, job.episodes)
            if keys
            else job.episodes
        )
        chunk = min(chunk, stop - session.episode)
        began, cpu = time.monotonic(), time.process_time()
        session.train(chunk)
        done["cpu_seconds"] += time.process_time() - cpu
        report(chunk)
        seconds = time.monotonic() - began
        chunk = next_chunk(chunk, seconds, CHUNK_SECONDS)
        if session.episode == stop:
            _add_points(job, session, keys, done)
        if time.monotonic() - written >= pause or session.episode >= job.episodes:
            began = time.monotonic()
            _write_checkpoint(job, session, done)
            written = time.monotonic()
            pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - began))
    return session, done, keys


def _add_points(job, session, keys, done):
    """Measure one point of every curve."""
    for key, evaluator in keys.items():
        curve = done["curves"][key]
        values, cpu_seconds = measure(job, evaluator, session.net, session.episode)
        curve["cpu_seconds"] += cpu_seconds
        for name, value in {"episode": session.episode, **values}.items():
            curve["points"].setdefault(name, []).append(value)
    live.tell(job, [done["curves"][key]["points"] for key in keys])


def _warm_up(job, evaluators):
    """Compile before the clock starts, so that the recorded cost is the cost of the run.

    Evaluators of runs that are never recorded are not probed; theirs has the compilation in it.
    """
    what = (learner_identity(job.learner)["name"], key_of(job.game.identity))
    if what not in _compiled:
        job.learner.Session(job.game, dict(job.parameters), 0).train(1)
        _compiled.add(what)
    for evaluator in evaluators if job.probed else ():
        probe(job, evaluator)


def _train_record(job, session, done):
    moves = getattr(session, "moves", None)
    seconds = done["cpu_seconds"]
    statistics = session.statistics() if hasattr(session, "statistics") else {}
    cost = {
        "cpu_seconds": round(seconds, 3),
        "moves": moves,
        "moves_per_second": round(moves / seconds) if moves and seconds > 0 else None,
    }
    return {
        "kind": "train",
        "key": job.key,
        **job.names(),
        "learner": learner_identity(job.learner),
        "game": job.game.identity,
        "episodes": job.episodes,
        "parameters": canonical(job.parameters),
        "seed": seed_from(job.study, job.arm, job.run),
        "statistics": canonical(statistics),
        "cost": cost,
        "checksum": session.net.checksum(),
        **provenance(job.sources),
    }


# --------------------------------------------------------------------------------------- evaluation


def measure(job: Job, evaluator, net, episode: int) -> tuple[dict, float]:
    """Return an evaluator's {metric: value} and the CPU seconds it took.

    Its seed derives from study, arm, run, evaluator and episode.
    """
    name = evaluator_identity(evaluator)["name"]
    return _call(
        job, evaluator, net, seed_from(job.study, job.arm, job.run, "evaluate", name, episode)
    )


def _call(job, evaluator, net, seed):
    """Call an evaluator, here or in the evaluation process.

    Return its values, checked, and the CPU seconds of both processes.
    """
    cpu, there = cpu_time(evaluator), 0.0
    if getattr(evaluator, "heavy", False):
        values, there = evaluation_process.ask(
            evaluator, job.game, net, seed, job.checkpoint.parent
        )
    else:
        values = evaluator(job.game, net, seed)
    return _checked(evaluator, values), cpu_time(evaluator) - cpu + there


def _checked(evaluator, values):
    name = evaluator_identity(evaluator)["name"]
    wrong = not isinstance(values, dict) or any(
        isinstance(v, bool) or not hasattr(v, "__float__") or not math.isfinite(v)
        for v in values.values()
    )
    if wrong or not values or "episode" in values:
        raise ValueError(
            f"the evaluator {name!r} must return {{metric: finite number}}, not {values!r}"
        )
    return {metric: float(value) for metric, value in values.items()}


def evaluate(job: Job, evaluators, checksum: str | None = None, report=None) -> list[dict]:
    """Return the records of final evaluations of one run.

    They are made from the cached weights or, if they are gone, from a new training.

    Parameters
    ----------
    job : Job
    evaluators : sequence of callables ``(game, net, seed) -> {metric: value}``
    checksum : str, optional
        Of the weights to evaluate, from the train record; cached weights with another one are not
        used.
    report : callable, optional
        Called with the number of episodes of every chunk of a new training.
    """
    if not evaluators:
        return []  # nobody asks for the weights
    _warm_up(job, evaluators)
    net = final_net(job, checksum)
    if net is None:
        net = trained_net(job, report)
    return [_final_record(job, evaluator, net) for evaluator in evaluators]


def _final_record(job, evaluator, net):
    values, cpu_seconds = measure(job, evaluator, net, job.episodes)
    points = {"episode": [job.episodes]} | {metric: [value] for metric, value in values.items()}
    return _eval_record(
        job, evaluator, "final", {"points": points, "cpu_seconds": cpu_seconds}, net
    )


def final_net(job: Job, checksum: str | None):
    """Return the final network of a run from the cache, or None.

    It must have this checksum (None: any).
    """
    session, _ = _resume(job, {}, fresh=False, any_sources=checksum is not None)
    finished = session.episode == job.episodes
    return session.net if finished and checksum in (None, session.net.checksum()) else None


def trained_net(job: Job, report=None):
    """Train a run again and return its network.

    Not that of the cache, which another process that trains the same run may write over.
    """
    session, _, _ = _trained(job, fresh=True, report=report)
    return session.net


def _eval_record(job, evaluator, kind, curve, net):
    return {
        "kind": kind,
        "key": job.eval_key(evaluator, kind),
        "train": job.key,
        **job.names(),
        "evaluator": evaluator_identity(evaluator),
        "every": job.every if kind == "curve" else None,
        "points": curve["points"],
        "cost": {"cpu_seconds": round(curve["cpu_seconds"], 3)},
        "checksum": net.checksum(),
        "probe": probe(job, evaluator) if job.probed else None,
        **provenance(numeric_sources(job.game, job.learner, evaluator)),
    }


def short_version(evaluator):
    """Return the shorter version that an evaluator gives of itself, or the evaluator.

    It has a method ``short`` then, and the shorter version plays the same kind of matches.
    """
    return evaluator.short() if hasattr(evaluator, "short") else evaluator


def probed(job: Job, evaluator) -> dict:
    """Return what decides what :func:`probe` returns, the sources aside, as JSON data."""
    return canonical(
        {
            "learner": learner_identity(job.learner),
            "game": job.game.identity,
            "parameters": job.parameters,
            "by": evaluator_identity(evaluator),
        }
    )


def probe(job: Job, evaluator) -> dict:
    """Return what an evaluator says of a hardly trained network, the same for all runs of an arm.

    It is stored with each evaluation. A record that other sources made is used only if its
    evaluator still says the same.
    """
    what = key_of(probed(job, evaluator))
    if what not in _probes:
        session = job.learner.Session(job.game, dict(job.parameters), 0)
        session.train(PROBE_EPISODES)
        _probes[what], _ = _call(job, short_version(evaluator), session.net, 0)
    return _probes[what]


# -------------------------------------------------------------------------------------- checkpoints


def _resume(job, keys, fresh, any_sources=False):
    """Return a session and what was measured so far, from the checkpoint if it fits."""
    nothing = {
        "cpu_seconds": 0.0,
        "curves": {key: {"cpu_seconds": 0.0, "points": {}} for key in keys},
    }
    session = job.session()
    try:
        arrays = Archive(job.checkpoint)
        meta = arrays.meta
        if (meta.get("kind"), meta.get("key")) != ("checkpoint", job.key):
            raise ValueError(
                f"{job.checkpoint} is not the checkpoint of this run, but holds"
                f" {meta.get('kind')!r} {meta.get('key')!r}"
            )
        other_sources = meta["sources"] != job.sources and not any_sources
        lacks_points = not set(keys) <= set(meta["curves"])
        if other_sources or lacks_points or fresh and meta["episode"] >= job.episodes:
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
    meta = {
        "kind": "checkpoint",
        "key": job.key,
        "sources": job.sources,
        "episode": session.episode,
        **done,
    }
    try:
        write_npz(job.checkpoint, canonical(meta), session.state_dict())
    except OSError as error:
        raise CacheError(
            f"the checkpoint {job.checkpoint} can not be written ({error.strerror}): make room"
            " there, or set AFTERSTATE_DATA to a copy of the data directory that you can write to"
        ) from error


# ------------------------------------------------------------------------------------------ workers


def perform(task, report=None) -> list[dict]:
    """Do one task of the parallel map and return its records.

    ``("train", job, curve evaluators, fresh)`` or ``("evaluate", job, evaluators, checksum)``; the
    last item is the hash of the sources that the parent process has.
    """
    kind, job, *rest, sources = task
    own = numeric_sources(job.game, job.learner)  # not job.sources: that came along with the job
    if own != sources:
        raise RuntimeError(
            f"this worker has other sources of afterstate ({own}) than the study ({sources}): start"
            " the study again if they were edited meanwhile, and install the same version on all"
            " machines"
        )
    if kind == "train":
        return train(job, *rest, report=report)
    return evaluate(job, *rest, report=report)
