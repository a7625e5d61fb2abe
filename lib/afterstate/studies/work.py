"""The runs of a study side by side: in this process, in worker processes, or on a Dask cluster."""

import contextlib
import os
import signal
import threading
import time
import warnings

import joblib

from .identity import sources_behind
from .live import while_training
from .progress import Progress
from .runs import evaluate, train

DASK_TIMEOUT = "20s"
HEAVY_BYTES = 2 * 2**30  # memory that a worker needs for an evaluator that says it is heavy


def work(jobs, keep, *, known=None, workers=1, dask=None, fresh=False) -> None:
    """Train and evaluate runs, and hand each new record over as soon as it is there.

    Parameters
    ----------
    jobs : list of Job
        Of one arm, or of several.
    keep : callable
        ``keep(job, records)``.
    known : callable, optional
        ``known(job) -> {key: record}`` of what need not be made again.
    workers : int
        Processes; 1 = in this process. The numbers do not depend on it.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``; its workers must see the same
        cache directory, or they train again what they are to evaluate.
    fresh : bool
        Whether everything is made, finished trainings in the cache included.
    """
    known = known or (lambda job: {})
    due = {job: [k for k in job.keys if k not in known(job) | job.lacking] for job in jobs}
    jobs = [job for job in jobs if due[job]]
    if not jobs:
        return
    heavy = [e for job in jobs for _, _, e in job.evaluations if getattr(e, "heavy", False)]
    if heavy:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        workers = max(1, min(workers, memory // HEAVY_BYTES))
    trainings, evaluations = [], []
    checksums = {job: known(job)[job.key]["checksum"] for job in jobs if job.key in known(job)}
    for job in jobs:
        final = [k for k, kind, _ in job.evaluations if kind == "final" and k in due[job]]
        lost = job not in checksums or not job.checkpoint.exists()
        if set(due[job]) - set(final) or final and lost:
            trainings.append((train, job, due[job], fresh))
        evaluations += [(evaluate, job, key) for key in final]

    def keep_trained(job, records):
        checksums.setdefault(job, records[0]["checksum"])
        if records[0]["checksum"] != checksums[job]:
            raise RuntimeError(
                f"{job.arm} run {job.run}: trained again, its weights are not those of its record"
                f" {job.key}: undo the edit, or delete that record"
            )
        keep(job, records)

    with while_training(jobs):
        _spread("training", trainings, keep_trained, workers, dask)
    _spread("evaluating", [(*t, checksums[t[1]]) for t in evaluations], keep, workers, dask)


def _spread(verb, tasks, keep, workers, dask):
    if not tasks:
        return
    arms = dict.fromkeys(f"{job.study} / {job.arm}" for _, job, *_ in tasks)
    label = next(iter(arms)) if len(arms) == 1 else f"{len(arms)} arms"
    alone = not dask and (workers == 1 or len(tasks) == 1)
    in_steps = alone and verb == "training"
    total = sum(task[1].episodes for task in tasks) if in_steps else len(tasks)
    with Progress(total, f"{verb} {label}", "episodes" if in_steps else "runs") as progress:
        report = progress.advance if in_steps else None
        for index, records in _made(tasks, workers, dask, alone, report):
            keep(tasks[index][1], records)
            if not in_steps:
                progress.advance(1)


def _made(tasks, workers, dask, alone, report):
    """Yield (index of the task, its records) as soon as a task is done, in any order."""
    if alone:
        for index, (function, job, *rest) in enumerate(tasks):
            yield index, function(job, *rest, **({"report": report} if report else {}))
        return
    with _backend(dask):
        pool = joblib.Parallel(
            n_jobs=-1 if dask else min(workers, len(tasks)),
            batch_size=1,
            return_as="generator_unordered",
        )
        sources = [sources_behind(job.game, job.learner) for _, job, *_ in tasks]
        numbered = enumerate(zip(sources, tasks, strict=True))
        yield from pool(joblib.delayed(_in_worker)(k, *task) for k, task in numbered)


def _in_worker(index, sources, task):
    function, job, *rest = task
    own = sources_behind(job.game, job.learner)
    if own != sources:
        raise RuntimeError(
            f"this worker has other sources of afterstate ({own}) than the study ({sources}): start"
            " the study again if they were edited meanwhile, and install the same version on all"
            " machines"
        )
    # Ctrl-C is for the study, which ends its workers; Dask works in other threads
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    return index, function(job, *rest)


def _end_with_parent(parent):
    """End this worker when the study was killed; its next start goes on from the checkpoint."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


@contextlib.contextmanager
def _backend(dask):
    """Choose joblib's backend: processes of this machine, or the workers of a Dask scheduler."""
    if not dask:
        with joblib.parallel_config(backend="loky"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            f"dask={dask!r} needs the package distributed: install it with pip install"
            " 'afterstate[cluster]', or leave DASK empty"
        ) from error
    try:
        client = Client(dask, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {dask!r}: start one with 'dask scheduler' and workers"
            f" with 'dask worker {dask}', or leave DASK empty"
        ) from error
    with client, client.as_current(), joblib.parallel_config(backend="dask", client=client):
        yield
