"""The runs of a study side by side: in this process, in worker processes, or on a Dask cluster."""

import contextlib
import os
import signal
import threading
import warnings

import joblib

from .runs import perform

DASK_TIMEOUT = "20s"


def parallel(tasks: list, workers: int, dask: str | None = None, report=None):
    """Yield ``(index of the task, its records)`` as soon as a task is done, in any order.

    Parameters
    ----------
    tasks : list of tuple
        Tasks of :func:`afterstate.studies.runs.perform`.
    workers : int
        Processes; 1 = in this process.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``; its workers must see the same
        cache directory, or they train again what they are to evaluate.
    report : callable, optional
        Called with every chunk of episodes; only for one worker.
    """
    if not dask and (workers == 1 or len(tasks) <= 1):
        for index, task in enumerate(tasks):
            yield index, perform(task, report)
        return
    with _backend(dask):
        pool = joblib.Parallel(
            n_jobs=-1 if dask else min(workers, len(tasks)),
            batch_size=1,
            return_as="generator_unordered",
        )
        yield from pool(joblib.delayed(_numbered)(index, task) for index, task in enumerate(tasks))


def _numbered(index, task):
    parent = os.getppid()
    # Ctrl-C is for the study, which ends its workers; they need not tell where they were
    if threading.current_thread() is threading.main_thread():  # Dask works in other threads
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def stop_if_orphaned(_):
        # the study was killed: nobody waits for the outcome any more, and its next start goes on
        # from the checkpoint
        if os.getppid() != parent:
            os._exit(1)

    return index, perform(task, stop_if_orphaned)


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
