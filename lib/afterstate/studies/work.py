"""The runs of a study side by side: in this process, in worker processes, or on a Dask cluster."""

import contextlib
import os
import signal
import threading
import time
import warnings

import joblib

from ..checks import needs
from .identity import sources_behind
from .live import while_training
from .progress import Progress
from .runs import evaluate, train

DASK_TIMEOUT, WORKERS_SECONDS = "20s", 60  # to wait for a scheduler, and for its first worker
HEAVY_BYTES = 2 * 2**30  # memory that a worker needs for an evaluator that says it is heavy


def work(jobs, keep, *, known=None, workers=1, dask=None, fresh=False) -> None:
    """Train and evaluate runs, and hand each new record over as soon as it is there.

    Parameters
    ----------
    jobs : list of Job
        Of one arm, or of several.
    keep : callable
        ``keep(job, records)``.
    known : dict, optional
        Job -> {key: record} of what need not be made again.
    workers : int
        Processes; 1 = in this process. The numbers do not depend on it.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``; its workers must see the same
        cache directory, or they train again what they are to evaluate.
    fresh : bool
        Whether everything is made, finished trainings in the cache included.
    """
    known = {job: (known or {}).get(job, {}) for job in jobs}
    due = {job: [k for k in job.keys if k not in known[job] | job.lacking] for job in jobs}
    jobs = [job for job in jobs if due[job]]
    if any(getattr(e, "heavy", False) for job in jobs for _, e in job.evaluations.values()):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        workers = max(1, min(workers, memory // HEAVY_BYTES))
    trainings, evaluations = [], []
    checksums = {job: known[job][job.key]["checksum"] for job in jobs if job.key in known[job]}
    for job in jobs:
        final = [k for k in due[job] if job.what(k)[0] == "final"]
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
    """Call the functions of tasks (function, job, ...), and keep their records."""
    if not tasks:
        return
    arms = dict.fromkeys(f"{job.study} / {job.arm}" for _, job, *_ in tasks)
    label = f"{verb} {next(iter(arms)) if len(arms) == 1 else f'{len(arms)} arms'}"
    alone = not dask and (workers == 1 or len(tasks) == 1)
    if alone and verb == "training":
        with Progress(sum(job.episodes for _, job, *_ in tasks), label) as progress:
            for function, job, *rest in tasks:
                keep(job, function(job, *rest, progress.advance))
        return
    with Progress(len(tasks), label, "runs") as progress:
        made = enumerate(f(*rest) for f, *rest in tasks) if alone else _made(tasks, workers, dask)
        for index, records in made:
            keep(tasks[index][1], records)
            progress.advance(1)


def _made(tasks, workers, dask):
    """Yield (index of the task, its records) as soon as a task is done, in any order."""
    with _backend(dask):
        num = -1 if dask else min(workers, len(tasks))
        pool = joblib.Parallel(n_jobs=num, batch_size=1, return_as="generator_unordered")
        numbered = ((k, sources_behind(t[1].game, t[1].learner), t) for k, t in enumerate(tasks))
        yield from pool(joblib.delayed(_in_worker)(*task) for task in numbered)


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
    distributed = needs("distributed", "cluster")
    try:
        client = distributed.Client(dask, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {dask!r}: start one with 'dask scheduler' and workers"
            f" with 'dask worker {dask}', or leave DASK empty"
        ) from error
    options = {"client": client, "wait_for_workers_timeout": WORKERS_SECONDS}
    with client, client.as_current(), joblib.parallel_config(backend="dask", **options):
        yield
