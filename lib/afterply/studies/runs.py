"""Runs: their keys, training in small steps, checkpoints and evaluations; alone or side by side.

A run can be killed at any time without harm. Its checkpoint (weights, random generator, counters,
partial curve) is replaced as a whole every half minute, and training goes on from it as if nothing
had happened. The last checkpoint holds the final weights.

Runs train in this process, in worker processes, or on a Dask cluster. A person who watches in a
notebook sees a learning curve grow: a thread draws again and again what the checkpoints hold.
"""

import contextlib
import contextvars
import functools
import itertools
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

from ..checks import needs, whole
from ..files import Archive, write_npz
from ..identity import identity
from ..kernel.random import seed_from
from ..learners.session import next_chunk
from ..opponents import optional
from ..processes import memory, work_for
from . import cluster
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
from .results import Collected, as_rows, in_percent, in_words, one_point, select
from .sources import HERE, MISSING, RECORDED

CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and this multiple of the time it takes to write one
CHUNK_SECONDS = 0.25  # Ctrl-C and progress come between two chunks
NETWORKS_KEPT = 25  # of the first runs of an arm; others leave the cache once nothing is due
TOGETHER = 50  # runs that are trained before they are evaluated
HEAVY_BYTES = 2 * 2**30  # memory that a worker needs for a heavy evaluator
REDRAW = 4.0  # seconds between two looks for more points of the curve

_bar_lock = threading.RLock()  # of all bars
_compiled = set()  # learners and games whose kernels this process has


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines one run and its evaluations."""

    study: str
    arm: str
    seeded_as: str  # the name from which the random numbers of the arm derive
    run: int  # its number in the arm, from 0
    game: object
    learner: object  # a module, or what has the same names
    parameters: dict  # all of the learner's
    episodes: int
    every: int  # episodes between two points of the curves
    curve: tuple  # evaluators during training ...
    final: tuple  # ... and at its end
    cache: Path  # the folder of checkpoints
    alike: dict = field(default_factory=dict)  # parts of keys that all runs of an arm share

    def _once(self, name, make):
        """Return a part of keys that all runs of an arm share; the first of them makes it."""
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
        """Return what the key of the training is made of, but for the seed."""
        contents = contents_of_parameters(self.learner, self.parameters)
        return {
            "learner": identity(self.learner),
            "game": self.game.identity,
            "episodes": self.episodes,
            "parameters": parameters_in_key(self.learner, self.parameters),
            **contents_in_key(contents),
        }

    @functools.cached_property
    def evaluations(self) -> dict:
        """Kind, "curve" or "final", and evaluator of all evaluations of the run, by key."""
        evaluations = [("curve", evaluator) for evaluator in self.curve]
        evaluations += [("final", evaluator) for evaluator in self.final]

        def descriptions():
            return [self._description(evaluator) for _, evaluator in evaluations]

        by_key = {}
        described = zip(evaluations, self._once("evaluators", descriptions))
        for (kind, evaluator), description in described:
            by_key[key_of(self._evaluation(kind, description))] = (kind, evaluator)
        return by_key

    def _description(self, evaluator) -> dict:
        """Return what tells an evaluator from others, with the files that it reads."""
        files = evaluator.reads(self.game) if hasattr(evaluator, "reads") else ()
        return {"evaluator": identity(evaluator), **contents_in_key(contents_of_files(files))}

    def _evaluation(self, kind, description) -> dict:
        """Return what the key of an evaluation is made of; its record states it, too."""
        evaluation = {"kind": kind, "train": self.key, **description}
        if kind == "curve":
            evaluation["every"] = self.every
        return evaluation

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
        """What evaluations need and do not find here, with the remedy, by their keys."""
        remedies = {}
        for key, (_, evaluator) in self.evaluations.items():
            remedy = lacking_program(evaluator)
            if remedy:
                remedies[key] = remedy
        return remedies

    @property
    def checkpoint(self) -> Path:
        """File of the checkpoint, which holds the final weights in the end."""
        return self.cache / self.study / f"{self.key}.npz"

    def session(self):
        """Return a new session of the learner for this run."""
        options = {}
        if getattr(self.learner, "NUMBERED_RUNS", False):
            options["run"] = self.run
        seed = seed_from(*self.seed_path)
        return self.learner.Session(self.game, dict(self.parameters), seed, **options)

    def record(self, key, net, seconds, **content) -> dict:
        """Return a record of the training or of an evaluation, with its CPU seconds."""
        kind, evaluator = self.evaluations.get(key, ("train", None))
        if evaluator is None:
            content["kind"] = kind
        else:
            content |= self._evaluation(kind, self._description(evaluator))
        checksum = "" if net is None else net.checksum()
        head = {
            "key": key,
            "arm": self.arm,
            "run": self.run,
            "checksum": checksum,
            "cost": {"cpu_seconds": round(seconds, 3)},
            "digest": sources_behind(self.game, self.learner),
        }
        return canonical(head | content | provenance())


def lacking_program(evaluator) -> str:
    """Return what an evaluator needs and does not find here, with the remedy; "" if nothing."""
    name = getattr(evaluator, "needs", "")
    return optional.lacks(name) if name else ""


@dataclass(eq=False)
class Run:
    """A job, its records by key, and the keys of those that were made here."""

    job: Job
    records: dict
    made: set = field(default_factory=set)

    @property
    def diverged(self) -> str:
        """Why the training ended without finite weights; "" if it did not."""
        return self.records.get(self.job.key, {}).get("diverged", "")

    @property
    def expected_keys(self) -> list:
        """Keys of what the run has once it is complete: of one that diverged only the training."""
        return [self.job.key] if self.diverged else self.job.keys

    @property
    def due(self) -> list:
        """Keys of what has no record and can be made here: nothing if a curve lacks an engine."""
        lacking = self.job.lacking
        lacks_curve = any(self.job.what(key)[0] == "curve" for key in lacking)
        if self.diverged or lacks_curve:
            return []
        return [key for key in self.job.keys if key not in self.records and key not in lacking]

    @property
    def unmeasured(self) -> list:
        """Keys of what has no record and needs something that is not here."""
        return [key for key in self.job.lacking if key not in self.records]

    def origin(self, key) -> str:
        """Return where what has a key comes from."""
        if key not in self.records:
            return MISSING
        return HERE if key in self.made else RECORDED


class Limit(NamedTuple):
    """How many seconds a run may train. It has more time until it reaches its first point."""

    seconds: float = math.inf
    first: int = 0  # the episode of the first point
    until_first: float = 0.0  # seconds; less than `seconds` changes nothing

    def is_over(self, seconds: float, episode: int) -> bool:
        """Return whether a run must stop that has reached an episode after some seconds."""
        allowed = self.seconds
        if episode < self.first:
            allowed = max(self.until_first, allowed)
        return seconds >= allowed


def train(job: Job, curve, limit: Limit = Limit(), report=None) -> list[dict]:
    """Train a run to its end, from its checkpoint if there is one; return its records.

    If its time is over before its end, it stays at its checkpoint, and there are no records yet.
    `curve` holds the keys of the curves to measure; ``report(episodes)`` is called after each chunk
    with the episodes that it trained.
    """
    training = {
        "learner": identity(job.learner),
        "game": job.game.identity,
        "episodes": job.episodes,
        "parameters": job.parameters,
        "seed": seed_from(*job.seed_path),
    }
    start = time.process_time()
    try:
        session, progress = _trained(job, curve, report, limit)
    except FloatingPointError as error:  # a result, too: no other run has to stop for it
        elapsed = time.process_time() - start
        return [job.record(job.key, None, elapsed, **training, diverged=str(error))]
    if session.episode < job.episodes:
        return []
    moves = session.moves
    seconds = progress["cpu_seconds"]
    statistics = session.statistics()
    record = job.record(job.key, session.net, seconds, **training, statistics=statistics)
    record["cost"]["moves"] = moves
    record["cost"]["moves_per_second"] = round(moves / seconds) if moves and seconds > 0 else None
    records = [record]
    for key, measured in progress["curves"].items():
        records.append(job.record(key, session.net, measured["cpu_seconds"], **measured["points"]))
    return records


def _trained(job, curve=(), report=None, limit=Limit()):
    """Train a run to its end, or until its time is over; return its session and progress.

    Progress is what a checkpoint holds beside the session: ``cpu_seconds`` of training, and by key
    the ``curves``, each with ``cpu_seconds`` and ``points``.
    """
    evaluators = {}
    for key, (kind, evaluator) in job.evaluations.items():
        if kind == "curve" and key in curve:
            evaluators[key] = evaluator
    _compile(job)
    session, progress = _resume(job, evaluators)
    if report is None:
        report = _report_nothing
    report(session.episode)
    start = time.monotonic()
    written = start
    pause = CHECKPOINT_SECONDS
    chunk = 1
    ends = session.episode >= job.episodes
    while not ends:
        stop = _next_stop(job, session.episode) if evaluators else job.episodes
        chunk = min(chunk, stop - session.episode)
        chunk_start = time.monotonic()
        cpu_start = time.process_time()
        session.train(chunk)
        progress["cpu_seconds"] += time.process_time() - cpu_start
        report(chunk)
        chunk = next_chunk(chunk, time.monotonic() - chunk_start, CHUNK_SECONDS)
        if session.episode == stop:
            _measure_curves(job, evaluators, session, progress["curves"])
        seconds = time.monotonic() - start
        ends = session.episode >= job.episodes or limit.is_over(seconds, session.episode)
        if ends or time.monotonic() - written >= pause:
            write_start = time.monotonic()
            _write_checkpoint(job, session, progress, ends)
            written = time.monotonic()
            pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - write_start))
    return session, progress


def _report_nothing(episodes):
    """Stand for the report of a training that nobody watches."""


def _next_stop(job, episode):
    """Return where a training stops next: at the next point of its curves, or at its end."""
    point = (episode // job.every + 1) * job.every
    return min(point, job.episodes)


def _measure_curves(job, evaluators, session, curves):
    """Add a point to each curve, and its cost."""
    for key, evaluator in evaluators.items():
        rows, values, seconds = measure(job, evaluator, session.net, session.episode)
        curves[key]["cpu_seconds"] += seconds
        _add_point(curves[key]["points"], rows, session.episode, values)


def _write_checkpoint(job, session, progress, is_last):
    """Write the state of a run; the last one stays on the disk, so it is compressed."""
    sources = sources_behind(job.game, job.learner)
    meta = {"sources": sources, "episode": session.episode, **progress}
    write_npz(job.checkpoint, canonical(meta), session.state_dict(), is_last)


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
    """Compile the kernels before the clock starts: the recorded cost is the cost of the run."""
    what = (job.learner.NAME, key_of(job.game.identity))
    if what not in _compiled:
        job.learner.Session(job.game, dict(job.parameters), 0).train(1)
        _compiled.add(what)


def _resume(job, wanted, any_sources=False):
    """Return a session and its progress, from the checkpoint if it fits.

    It fits if it has the `wanted` curves, and is of the present sources or of `any_sources`.
    """
    no_points = {key: {"cpu_seconds": 0.0, "points": {}} for key in wanted}
    no_progress = {"cpu_seconds": 0.0, "curves": no_points}
    session = job.session()
    if not job.checkpoint.exists():
        return session, no_progress
    try:
        checkpoint = Archive(job.checkpoint)
        meta = checkpoint.meta
        if not any_sources and meta["sources"] != sources_behind(job.game, job.learner):
            return session, no_progress
        if not set(wanted) <= set(meta["curves"]):
            return session, no_progress
        curves = {key: meta["curves"][key] for key in wanted}
        for curve in curves.values():
            if curve["points"] and "rows" not in curve["points"]:
                raise ValueError(
                    f"{job.checkpoint}: its curve has no rows, it is of an earlier version"
                )
        session.load_state_dict(checkpoint)
        return session, {"cpu_seconds": meta["cpu_seconds"], "curves": curves}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        warnings.warn(f"{error}; {job.arm} run {job.run} starts from nothing", stacklevel=2)
    del session  # perhaps half filled; the new one need not fit beside it
    return job.session(), no_progress


def measure(job: Job, evaluator, net, episode: int) -> tuple[list, list, float]:
    """Return an evaluator's rows, their values, and the CPU seconds of it and its engines."""
    start = _cpu_seconds()
    seed = seed_from(*job.seed_path, "evaluate", evaluator.name, episode)
    results = evaluator(job.game, net, seed)
    rows, values = as_rows(results, evaluator.name)
    return rows, values, _cpu_seconds() - start


def _cpu_seconds():
    """Return the CPU seconds of this process and of the programs that it started, so far."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def evaluate(job: Job, key: str, checksum: str) -> list[dict]:
    """Return the record of a final evaluation; a network that is not cached is trained again."""
    net = final_net(job, checksum)
    if net is None:
        net = trained_net(job)
    _, evaluator = job.evaluations[key]
    rows, values, seconds = measure(job, evaluator, net, job.episodes)
    points = one_point(rows, job.episodes, values)
    return [job.record(key, net, seconds, **points)]


def final_net(job: Job, checksum: str | None):
    """Return the final network of a run from the cache, or None if it has another checksum.

    Without a checksum it counts if the present sources made it.
    """
    if not job.checkpoint.exists():
        return None
    session, _ = _resume(job, {}, any_sources=checksum is not None)
    if session.episode != job.episodes:
        return None
    return session.net if checksum in (None, session.net.checksum()) else None


def trained_net(job: Job):
    """Train a run again, from nothing, and return its network."""
    job.checkpoint.unlink(missing_ok=True)
    session, _ = _trained(job)
    return session.net


def where_to_work(workers=None, dask=None) -> tuple[int, str | None]:
    """Return the number of processes and the Dask address: as given, else of WORKERS and DASK."""
    if workers is None:
        workers = os.environ.get("WORKERS") or joblib.cpu_count()
    if str(workers).isdigit():
        workers = int(workers)
    return whole("workers", workers), dask or os.environ.get("DASK") or None


def work(runs, keep, workers: int = 1, dask: str | None = None) -> None:
    """Train and evaluate what is due of some runs; call ``keep(run, records)`` for new records.

    The workers of a Dask scheduler must see the same cache, or they train again.
    """
    runs = [run for run in runs if run.due]
    for start in range(0, len(runs), TOGETHER):
        _work(runs[start : start + TOGETHER], keep, workers, dask)


def _work(runs, keep, workers, dask):
    """Train some runs, then evaluate them, then remove networks that nothing needs any more."""
    if any(map(_needs_much_memory, runs)):
        workers = max(1, min(workers, memory() // HEAVY_BYTES))

    def accept(run, records):
        keep(run, _new_records(run, records))

    trainings = [(run, run.due) for run in runs if _needs_training(run)]
    with live_curve([run.job for run, _ in trainings]):
        spread("training", train, trainings, accept, workers, dask)
    evaluations = []
    for run in runs:
        for key in run.due:  # only final evaluations are left
            evaluations.append((run, key, run.records[run.job.key]["checksum"]))
    spread("evaluating", evaluate, evaluations, accept, workers, dask)
    for run in runs:  # hundreds of networks of one arm would fill a disk
        if run.job.run >= NETWORKS_KEPT and not run.due:
            run.job.checkpoint.unlink(missing_ok=True)


def _needs_much_memory(run):
    return any(getattr(evaluator, "heavy", False) for _, evaluator in run.job.evaluations.values())


def _needs_training(run):
    """Return whether more is due than final evaluations, or these have no network."""
    kinds = {run.job.what(key)[0] for key in run.due}
    return kinds != {"final"} or not run.job.checkpoint.exists()


def _new_records(run, records):
    """Add to a run those records that it lacks, and return them.

    RuntimeError if the training came out otherwise than its record says.
    """
    first = records[0]
    known = run.records.get(first["key"], first)
    if known["checksum"] != first["checksum"]:
        raise RuntimeError(
            f"{run.job.arm} run {run.job.run}: trained again, its weights are not those of its"
            f" record {run.job.key}: undo the edit, or delete that record"
        )
    new = {record["key"]: record for record in records if record["key"] not in run.records}
    run.records |= new
    run.made |= new.keys()
    if run.diverged:
        print(f"{run.job.arm} run {run.job.run}: {run.diverged}", file=sys.stderr)
    return list(new.values())


def spread(verb, function, tasks, keep, workers, dask=None) -> None:
    """Do some tasks, here or in worker processes, and keep what they make.

    A task is a run with further arguments, for which ``function(run.job, *arguments)`` returns
    records; ``keep(run, records)`` takes them as soon as they are there, in any order.
    """
    if not tasks:
        return
    label = f"{verb} {_arms_in_words([run for run, *_ in tasks])}"
    is_alone = workers == 1 or len(tasks) == 1
    if function is train and not dask and is_alone:
        _train_here(tasks, keep, label)
        return
    calls = []
    for index, (run, *arguments) in enumerate(tasks):
        sources = sources_behind(run.job.game, run.job.learner)
        calls.append((os.getpid(), sources, index, function, run.job, *arguments))
    elsewhere = _on_cluster(calls, dask) if dask else _in_processes(calls, workers)
    with _bar(len(tasks), label, "runs") as bar, elsewhere as finished:
        for index, records in finished:
            run = tasks[index][0]
            keep(run, records)
            bar.update()


def _train_here(tasks, keep, label):
    """Train some runs in this process, where the bar can count episodes."""
    num_episodes = sum(run.job.episodes for run, *_ in tasks)
    with _bar(num_episodes, label, "episodes") as bar:
        for run, *arguments in tasks:
            keep(run, train(run.job, *arguments, report=bar.update))


def _arms_in_words(runs):
    arms = {f"{run.job.study} / {run.job.arm}" for run in runs}
    return arms.pop() if len(arms) == 1 else f"{len(arms)} arms"


def _in_worker(parent, sources, index, function, job, *arguments):
    """Do a task in a worker of the process `parent`; return its index and what it made."""
    present = sources_behind(job.game, job.learner)
    if present != sources:
        raise cluster.OtherSources(
            f"this worker has other sources of afterply ({present}) than the study ({sources}):"
            " start it again if they were edited, and install the same version on all machines"
        )
    work_for(parent)  # its next start goes on from the checkpoint
    return index, function(job, *arguments)


@contextlib.contextmanager
def _in_processes(calls, workers):
    """Give an iterator over the results of calls in processes of this machine."""
    with joblib.parallel_config(backend="loky"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        num_processes = min(workers, len(calls))
        pool = joblib.Parallel(num_processes, batch_size=1, return_as="generator_unordered")
        yield pool(joblib.delayed(_in_worker)(*call) for call in calls)


@contextlib.contextmanager
def _on_cluster(calls, address):
    """Give an iterator over the results of calls on a Dask cluster."""
    with cluster.connected(address) as client, client.as_current():
        yield cluster.results(client, _in_worker, calls)


def _bar(total, label, unit):
    """Return a progress bar; in a log it shows once a minute, and nothing before two seconds."""

    class Bar(needs("tqdm", "plot").tqdm):
        """A bar without a process and a thread, that a killed study would leave behind."""

        monitor_interval = 0
        _lock = _bar_lock

    is_watched = in_notebook() or sys.stdout.isatty()
    seconds = 0.5 if is_watched else 60.0  # between two states of the bar
    return Bar(
        total=total,
        desc=label,
        unit=f" {unit}",
        unit_scale=unit == "episodes",
        file=sys.stdout,
        delay=2.0,
        mininterval=seconds,
        disable=bool(notebook()),
    )


@contextlib.contextmanager
def live_curve(jobs):
    """Show the curve of the first of some arms while it trains, to a person in a notebook."""
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
    """Redraw the curve of the first arm whenever it has grown, until training is `over`."""
    from IPython.display import HTML, display

    arm = jobs[0].arm
    jobs_of_arm = [job for job in jobs if job.arm == arm]
    shown = display(HTML(""), display_id=True)
    drawn = None
    with contextlib.suppress(Exception):  # a picture is not worth a training
        while not over.wait(REDRAW):
            curves = _curves_so_far(jobs_of_arm)
            has_line = any(len(points["episode"]) > 1 for points in curves)
            if has_line and curves != drawn:
                shown.update(_picture(arm, curves))
                drawn = curves
    shown.update(HTML(""))


def _curves_so_far(jobs):
    """Return the points in each checkpoint of some jobs, of the first curve."""
    curves = []
    for job in jobs:
        if not job.checkpoint.exists():
            continue
        for curve in itertools.islice(Archive(job.checkpoint).meta["curves"].values(), 1):
            if curve["points"]:
                curves.append(curve["points"])
    return curves


def _picture(arm, curves):
    """Return a figure of one row of some curves."""
    from .reports.figures import learning_curves  # needs an extra

    collected = Collected()
    for number, points in enumerate(curves):
        collected.add(number, points)
    # The first row, or a rate if there is one.
    columns = max(collected.rows, key=lambda row: in_percent(row["measure"]))
    table = select(collected.table().assign(arm=arm), **columns)
    options = {"score_axis": False, "possible": None, "title": arm}
    picture, _ = learning_curves(table, [arm], label=in_words(columns), **options)
    return picture
