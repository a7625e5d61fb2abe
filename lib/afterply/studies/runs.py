"""Runs: their keys, training in small steps, checkpoints and evaluations; alone or side by side.

A run is killed at any time without harm: its checkpoint (weights, random generator, counters,
partial curve) is replaced as a whole every half minute, and training goes on from it as if nothing
had happened. The last checkpoint holds the final weights.

Runs train in this process, in worker processes, or on a Dask cluster. A person who watches in a
notebook sees a learning curve that grows: a thread draws anew what is in the checkpoints.
"""

import contextlib
import contextvars
import functools
import math
import os
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import joblib
from tqdm import tqdm

from ..checks import needs, whole
from ..files import Archive, write_npz
from ..identity import identity
from ..kernel.random import seed_from
from ..learners.session import next_chunk
from ..opponents import optional
from ..processes import memory, work_for
from .profiles import in_notebook, notebook
from .records import (
    canonical,
    contents_in_key,
    contents_of_files,
    contents_of_parameters,
    key_of,
    parameters_in_key,
    provenance,
    sources_behind,
)
from .results import Collected, as_rows, in_percent, in_words, select
from .sources import HERE, MISSING, RECORDED

CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and this multiple of the time it takes to write one
CHUNK_SECONDS = 0.25  # Ctrl-C and progress come between two chunks
DASK_TIMEOUT, WORKERS_SECONDS = "20s", 60  # to wait for a scheduler, and for its first worker
NETWORKS_KEPT = 25  # in the cache, of the first runs of an arm; of others once nothing is due
TOGETHER = 50  # runs that are trained before they are evaluated
HEAVY_BYTES = 2 * 2**30  # memory that a worker needs for an evaluator that says it is heavy
REDRAW = 4.0  # seconds between two looks for more points of the curve

_compiled = set()  # learners and games whose kernels this process has


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines one run and its evaluations."""

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
    alike: dict = field(default_factory=dict)  # parts of keys that all runs of an arm share

    def _once(self, name, make):
        if name not in self.alike:
            self.alike[name] = make()
        return self.alike[name]

    @property
    def seed_path(self) -> list:
        """Names from which all random numbers of the run derive."""
        return [self.study, self.seeded_as, self.run]

    @functools.cached_property
    def key(self) -> str:
        """Key of the training; parameters as in the first records are not part of it."""
        return key_of(self._once("training", self._training) | {"seed": self.seed_path})

    def _training(self) -> dict:
        named = contents_of_parameters(self.learner, self.parameters)
        return {
            "learner": identity(self.learner),
            "game": self.game.identity,
            "episodes": self.episodes,
            "parameters": parameters_in_key(self.learner, self.parameters),
            **contents_in_key(named),
        }

    @functools.cached_property
    def evaluations(self) -> dict:
        """Kind, "curve" or "final", and evaluator of all evaluations of the run, by key."""
        both = [("curve", one) for one in self.curve] + [("final", one) for one in self.final]
        said = self._once("evaluators", lambda: [self._told(one) for _, one in both])
        return {key_of(self._stated(one[0], about)): one for one, about in zip(both, said)}

    def _told(self, evaluator) -> dict:
        # what tells an evaluator from others, with the files that it reads
        files = evaluator.reads(self.game) if hasattr(evaluator, "reads") else ()
        return {"evaluator": identity(evaluator), **contents_in_key(contents_of_files(files))}

    def _stated(self, kind, about) -> dict:
        # what the key of an evaluation is made of, and its record states
        stated = {"kind": kind, "train": self.key, **about}
        return stated | ({"every": self.every} if kind == "curve" else {})

    @property
    def keys(self) -> list:
        """Keys of everything that the run leaves, the training first."""
        return [self.key, *self.evaluations]

    def what(self, key) -> tuple[str, str]:
        """Return what has this key: its kind, and the name of the evaluator or the learner."""
        if key == self.key:
            return "train", self.learner.NAME
        kind, evaluator = self.evaluations[key]
        return kind, evaluator.name

    @functools.cached_property
    def lacking(self) -> dict:
        """What its evaluations need and do not find here, with the remedy, by key."""
        needs = {key: getattr(e, "needs", "") for key, (_, e) in self.evaluations.items()}
        found = {key: optional.lacks(name) for key, name in needs.items() if name}
        return {key: reason for key, reason in found.items() if reason}

    @property
    def checkpoint(self) -> Path:
        """File of the checkpoint, in the end of the final weights."""
        return self.cache / self.study / f"{self.key}.npz"

    def session(self):
        """Return a new session of the learner for this run."""
        numbered = {"run": self.run} if getattr(self.learner, "NUMBERED_RUNS", False) else {}
        seed = seed_from(*self.seed_path)
        return self.learner.Session(self.game, dict(self.parameters), seed, **numbered)

    def record(self, key, net, seconds, **content) -> dict:
        """Return a record of the training or of an evaluation, with its CPU seconds."""
        kind, evaluator = self.evaluations.get(key, ("train", None))
        content |= self._stated(kind, self._told(evaluator)) if evaluator else {"kind": kind}
        made = {"key": key, "arm": self.arm, "run": self.run}
        made |= {"checksum": "" if net is None else net.checksum()}
        made |= {"cost": {"cpu_seconds": round(seconds, 3)}}
        made |= {"digest": sources_behind(self.game, self.learner)}
        return canonical(made | content | provenance())


@dataclass(eq=False)
class Run:
    """A job, the records of it that count, by key, and which of them were made here."""

    job: Job
    records: dict
    made: set = field(default_factory=set)

    @property
    def diverged(self) -> str:
        """What a training says that ended without finite weights; "" of others."""
        return self.records.get(self.job.key, {}).get("diverged", "")

    @property
    def due(self) -> list:
        """Keys of what has no record and can be made here: nothing if a curve lacks an engine."""
        lacking = self.job.lacking
        if self.diverged or any(self.job.what(key)[0] == "curve" for key in lacking):
            return []
        return [k for k in self.job.keys if k not in self.records and k not in lacking]

    @property
    def unmeasured(self) -> list:
        """Keys of what has no record and needs something that is not here."""
        return [key for key in self.job.lacking if key not in self.records]

    def origin(self, key) -> str:
        """Return where what has a key comes from."""
        return MISSING if key not in self.records else HERE if key in self.made else RECORDED


class Limit(NamedTuple):
    """How many seconds a run may train: until it is at an episode, and from there on."""

    seconds: float = math.inf
    first: int = 0
    until_first: float = 0.0

    def is_over(self, seconds: float, episode: int) -> bool:
        """Return whether a run must stop that is at an episode after some seconds."""
        allowed = max(self.until_first, self.seconds) if episode < self.first else self.seconds
        return seconds >= allowed


def train(job: Job, curve, limit: Limit = Limit(), report=None) -> list[dict]:
    """Train a run to its end, from its checkpoint if there is one; return its records.

    If its time is over before, it is left at its checkpoint, and there are no records yet.
    """
    # curve: keys of the curves to measure; report(episodes) follows each chunk
    what = {"learner": identity(job.learner), "game": job.game.identity}
    what |= {"episodes": job.episodes, "parameters": job.parameters}
    what |= {"seed": seed_from(*job.seed_path)}
    began = time.process_time()
    try:
        session, done = _trained(job, curve, report, limit)
    except FloatingPointError as error:  # a result, too: no other run has to stop for it
        seconds = time.process_time() - began
        return [job.record(job.key, None, seconds, **what, diverged=str(error))]
    if session.episode < job.episodes:
        return []
    moves, seconds = session.moves, done["cpu_seconds"]
    trained = job.record(job.key, session.net, seconds, **what, statistics=session.statistics())
    rate = round(moves / seconds) if moves and seconds > 0 else None
    trained["cost"] |= {"moves": moves, "moves_per_second": rate}
    curves = done["curves"].items()
    measured = [job.record(k, session.net, c["cpu_seconds"], **c["points"]) for k, c in curves]
    return [trained, *measured]


def _trained(job, curve=(), report=None, limit=Limit()):
    curves = {key: one for key, (kind, one) in job.evaluations.items() if kind == "curve"}
    wanted = {key: one for key, one in curves.items() if key in curve}
    _compile(job)
    session, done = _resume(job, wanted)
    report = report or (lambda episodes: None)
    report(session.episode)
    written, chunk, pause = time.monotonic(), 1, CHECKPOINT_SECONDS
    start, last = written, session.episode >= job.episodes
    while not last:
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
                rows, values, cpu_seconds = measure(job, evaluator, session.net, session.episode)
                done["curves"][key]["cpu_seconds"] += cpu_seconds
                _add_point(done["curves"][key]["points"], rows, session.episode, values)
        last = session.episode >= job.episodes
        last |= limit.is_over(time.monotonic() - start, session.episode)
        if last or time.monotonic() - written >= pause:
            began = time.monotonic()
            meta = {"sources": sources_behind(job.game, job.learner), "episode": session.episode}
            # the last one stays on the disk, so it is compressed: most weights of a table are 0
            write_npz(job.checkpoint, canonical(meta | done), session.state_dict(), last)
            written = time.monotonic()
            pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - began))
    return session, done


def _add_point(points, rows, episode, values):
    """Add what a curve's evaluator returned at an episode; `points` are those of a record."""
    if not points:
        points |= {"rows": rows, "episode": [], "values": [[] for _ in rows]}
    if points["rows"] != rows:
        raise ValueError(
            f"an evaluator must return the same rows at every point of a curve, not {rows} at"
            f" episode {episode} after {points['rows']}"
        )
    points["episode"].append(episode)
    for series, value in zip(points["values"], values, strict=True):
        series.append(value)


def _compile(job):
    what = job.learner.NAME, key_of(job.game.identity)
    if what not in _compiled:
        # before the clock starts: the recorded cost is the cost of the run
        job.learner.Session(job.game, dict(job.parameters), 0).train(1)
        _compiled.add(what)


def _resume(job, wanted, any_sources=False):
    """Return a session and what was measured so far, from the checkpoint if it fits."""
    curves = {key: {"cpu_seconds": 0.0, "points": {}} for key in wanted}
    nothing, session = {"cpu_seconds": 0.0, "curves": curves}, job.session()
    if not job.checkpoint.exists():
        return session, nothing
    try:
        arrays = Archive(job.checkpoint)
        meta = arrays.meta
        own_sources = any_sources or meta["sources"] == sources_behind(job.game, job.learner)
        if not own_sources or not set(wanted) <= set(meta["curves"]):
            return session, nothing
        kept = {key: meta["curves"][key] for key in wanted}
        if any(curve["points"] and "rows" not in curve["points"] for curve in kept.values()):
            raise ValueError(
                f"{job.checkpoint}: its curve has no rows, it is of an earlier version"
            )
        session.load_state_dict(arrays)
        return session, {"cpu_seconds": meta["cpu_seconds"], "curves": kept}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        warnings.warn(f"{error}; {job.arm} run {job.run} starts from nothing", stacklevel=2)
    del session  # perhaps half filled; the new one need not fit beside it
    return job.session(), nothing


def measure(job: Job, evaluator, net, episode: int) -> tuple[list, list, float]:
    """Return an evaluator's rows, their values, and the CPU seconds of it and its engines."""
    name, began = evaluator.name, sum(os.times()[:4])
    found = evaluator(job.game, net, seed_from(*job.seed_path, "evaluate", name, episode))
    rows, values = as_rows(found, name)
    return rows, values, sum(os.times()[:4]) - began


def evaluate(job: Job, key: str, checksum: str) -> list[dict]:
    """Return the record of a final evaluation of a run, by the cache or a new training."""
    net = final_net(job, checksum)
    net = trained_net(job) if net is None else net
    rows, values, seconds = measure(job, job.evaluations[key][1], net, job.episodes)
    points = {"rows": rows, "episode": [job.episodes], "values": [[value] for value in values]}
    return [job.record(key, net, seconds, **points)]


def final_net(job: Job, checksum: str | None):
    """Return the final network of a run from the cache, or None if it has another checksum."""
    if not job.checkpoint.exists():
        return None
    session, _ = _resume(job, {}, any_sources=checksum is not None)
    finished = session.episode == job.episodes
    return session.net if finished and checksum in (None, session.net.checksum()) else None


def trained_net(job: Job):
    """Train a run again, from nothing, and return its network."""
    job.checkpoint.unlink(missing_ok=True)
    return _trained(job)[0].net


def where_to_work(workers=None, dask=None) -> tuple[int, str | None]:
    """Return the number of processes and the Dask address: as given, else of WORKERS and DASK."""
    given = os.environ.get("WORKERS") or joblib.cpu_count() if workers is None else workers
    workers = whole("workers", int(given) if str(given).isdigit() else given)
    return workers, dask or os.environ.get("DASK") or None


def work(runs, keep, workers: int = 1, dask: str | None = None) -> None:
    """Train and evaluate what is due of some runs; call ``keep(run, records)`` for new records."""
    # the workers of a Dask scheduler must see the same cache, or train again
    runs = [run for run in runs if run.due]
    for k in range(0, len(runs), TOGETHER):
        _work(runs[k : k + TOGETHER], keep, workers, dask)


def _work(runs, keep, workers, dask):
    if any(getattr(e, "heavy", False) for run in runs for _, e in run.job.evaluations.values()):
        workers = max(1, min(workers, memory() // HEAVY_BYTES))
    kinds = {run: {run.job.what(key)[0] for key in run.due} for run in runs}
    untrained = [r for r in runs if kinds[r] != {"final"} or not r.job.checkpoint.exists()]

    def kept(run, records):
        known = run.records.get(records[0]["key"], records[0])
        if known["checksum"] != records[0]["checksum"]:
            raise RuntimeError(
                f"{run.job.arm} run {run.job.run}: trained again, its weights are not those of its"
                f" record {run.job.key}: undo the edit, or delete that record"
            )
        new = {record["key"]: record for record in records if record["key"] not in run.records}
        run.records |= new
        run.made |= new.keys()
        if run.diverged:
            print(f"{run.job.arm} run {run.job.run}: {run.diverged}", file=sys.stderr)
        keep(run, list(new.values()))

    with live_curve([run.job for run in untrained]):
        spread("training", train, [(run, run.due) for run in untrained], kept, workers, dask)
    # what is due now are the final evaluations
    tasks = [(run, key, run.records[run.job.key]["checksum"]) for run in runs for key in run.due]
    spread("evaluating", evaluate, tasks, kept, workers, dask)
    for run in runs:  # hundreds of networks of one arm would fill a disk
        if run.job.run >= NETWORKS_KEPT and not run.due:
            run.job.checkpoint.unlink(missing_ok=True)


def spread(verb, function, tasks, keep, workers, dask=None) -> None:
    """Call ``function(run.job, *rest)`` for each task; give ``keep(run, records)`` what it made."""
    # tasks: lists of a run and the rest
    if not tasks:
        return
    arms = list({f"{run.job.study} / {run.job.arm}": None for run, *_ in tasks})
    label = f"{verb} {arms[0] if len(arms) == 1 else f'{len(arms)} arms'}"
    if function is train and not dask and (workers == 1 or len(tasks) == 1):
        with _bar(sum(run.job.episodes for run, *_ in tasks), label, "episodes") as bar:
            for run, *rest in tasks:
                keep(run, train(run.job, *rest, report=bar.update))
        return
    calls = (
        (os.getpid(), sources_behind(run.job.game, run.job.learner), k, function, run.job, *rest)
        for k, (run, *rest) in enumerate(tasks)
    )
    with _bar(len(tasks), label, "runs") as bar, _backend(dask):
        num = -1 if dask else min(workers, len(tasks))
        pool = joblib.Parallel(n_jobs=num, batch_size=1, return_as="generator_unordered")
        for index, records in pool(joblib.delayed(_in_worker)(*call) for call in calls):
            keep(tasks[index][0], records)
            bar.update()


def _in_worker(parent, sources, index, function, job, *rest):
    own = sources_behind(job.game, job.learner)
    if own != sources:
        raise RuntimeError(
            f"this worker has other sources of afterply ({own}) than the study ({sources}): start"
            " it again if they were edited, and install the same version on all machines"
        )
    work_for(parent)  # its next start goes on from the checkpoint
    return index, function(job, *rest)


@contextlib.contextmanager
def _backend(dask):
    if not dask:
        with joblib.parallel_config(backend="loky"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            yield
        return
    distributed = needs("distributed", "cluster")
    try:
        client = distributed.Client(dask, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {dask!r}: start one with 'dask scheduler' and workers"
            f" with 'dask worker --nthreads 1 {dask}', or leave DASK empty"
        ) from error
    options = {"client": client, "wait_for_workers_timeout": WORKERS_SECONDS}
    with client, client.as_current(), joblib.parallel_config(backend="dask", **options):
        yield


class _Bar(tqdm):
    # without helpers of its own, a process and a thread, that a killed study would leave behind
    monitor_interval, _lock = 0, threading.RLock()


def _bar(total, label, unit):
    """Return a bar, in a log once a minute, for nothing that is done within two seconds."""
    pause = 0.5 if in_notebook() or sys.stdout.isatty() else 60.0
    shown = {"desc": label, "unit": f" {unit}", "unit_scale": unit == "episodes"}
    when = {"delay": 2.0, "mininterval": pause, "disable": bool(notebook())}
    return _Bar(total=total, file=sys.stdout, **shown, **when)


@contextlib.contextmanager
def live_curve(jobs):
    """Show the curve of the first arm of some jobs while they train, to a person in a notebook."""
    if not jobs or not in_notebook():
        yield
        return
    over = threading.Event()
    in_cell = contextvars.copy_context().run  # whose output the picture is
    thread = threading.Thread(target=in_cell, args=(_draw_again, jobs, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _draw_again(jobs, over):
    from IPython.display import HTML, display

    from .reports.figures import learning_curves

    shown, drawn, arm = display(HTML(""), display_id=True), None, jobs[0].arm
    with contextlib.suppress(Exception):  # a picture is not worth a training
        while not over.wait(REDRAW):
            begun = [job for job in jobs if job.arm == arm and job.checkpoint.exists()]
            curves = [Archive(job.checkpoint).meta["curves"] for job in begun]
            points = [next(iter(curve.values()))["points"] for curve in curves]
            if any(len(p.get("episode", ())) > 1 for p in points) and curves != drawn:
                found = Collected()
                for number, point in enumerate(filter(None, points)):
                    found.add(number, point)
                # the first row, or a win rate if there is one
                columns = max(found.rows, key=lambda row: in_percent(row["measure"]))
                table = select(found.table().assign(arm=arm), **columns)
                options = {"score_axis": False, "possible": None, "title": arm}
                picture, _ = learning_curves(table, [arm], label=in_words(columns), **options)
                shown.update(picture)
                drawn = curves
    shown.update(HTML(""))
