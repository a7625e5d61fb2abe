"""Doing the runs of a study side by side: in this process, in worker processes, or on a Dask cluster; and telling how it goes."""
import contextlib
import os
import sys
import time
import warnings

import joblib

from .runs import perform

PATIENCE = 2.0       # seconds before the first line of progress
DASK_TIMEOUT = "20s"


def parallel(tasks: list, workers: int, dask: str | None = None, report=None):
    """Yield ``(index of the task, its records)`` as soon as a task is done, in any order.

    Parameters
    ----------
    tasks : list of tasks of :func:`afterstate.runs.perform`
    workers : int
        Processes; 1 = in this process.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``; its workers must see the same cache directory, or they
        train again what they are to evaluate.
    report : callable, optional
        Called with every chunk of episodes; only for one worker.
    """
    if not dask and (workers == 1 or len(tasks) <= 1):
        for index, task in enumerate(tasks):
            yield index, perform(task, report)
        return
    with _backend(dask):
        pool = joblib.Parallel(n_jobs=-1 if dask else min(workers, len(tasks)), batch_size=1, return_as="generator_unordered")
        yield from pool(joblib.delayed(_numbered)(index, task) for index, task in enumerate(tasks))


def _numbered(index, task):
    parent = os.getppid()

    def stop_if_orphaned(_):
        if os.getppid() != parent:  # the study was killed: nobody waits for the outcome any more, and its next start goes on from the checkpoint
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
        raise ImportError(f"dask={dask!r} needs the package distributed: install it with pip install 'afterstate[cluster]', or leave DASK empty") from error
    try:
        client = Client(dask, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {dask!r}: start one with 'dask scheduler' and workers with 'dask worker {dask}', "
                              "or leave DASK empty") from error
    with client, client.as_current(), joblib.parallel_config(backend="dask", client=client):
        yield


def default_workers() -> int:
    """Return the number of CPUs that this process may use, or the environment variable WORKERS."""
    given = os.environ.get("WORKERS")
    if given and not (given.isdigit() and int(given) > 0):
        raise ValueError(f"WORKERS={given!r} must be a whole number of at least 1")
    return int(given) if given else joblib.cpu_count()


class Progress:
    """Tell how far a long computation is: in place where somebody watches, else a line per tenth with rate and time left.

    What is done within two seconds is not worth a line.

    Parameters
    ----------
    total : int
        Steps in all.
    label, unit : str

    Examples
    --------
    >>> from afterstate.workers import Progress
    >>> with Progress(3, "runs of FARL", unit="runs") as progress:
    ...     progress.advance(3)
    """

    def __init__(self, total: int, label: str, unit: str = "episodes"):
        self.total, self.label, self.unit, self.done = total, label, unit, 0
        self.began = self.shown = time.monotonic()
        self.tenths, self.in_place, self.width = 0, _watched(), 0

    def advance(self, steps: int) -> None:
        """Count `steps` more as done and show it if it is time to."""
        self.done = min(self.done + steps, self.total)
        now = time.monotonic()
        tenths = 10 * self.done // self.total
        if now - self.shown > 0.5 if self.in_place else tenths > self.tenths and now - self.began > PATIENCE:
            self._show(now)
            self.shown, self.tenths = now, tenths

    def _show(self, now):
        seconds = max(now - self.began, 1e-9)
        rate = self.done / seconds
        rest = "just begun" if not self.done else f"{clock((self.total - self.done) / rate)} left" if self.done < self.total else f"done in {clock(seconds)}"
        speed = f"{rate:,.0f} {self.unit}/s" if rate >= 1 else f"{60 * rate:.1f} {self.unit}/min"
        text = f"{self.label}: {100 * self.done // self.total}%  {speed}, {rest}"
        print(f"\r{text:<{self.width}}" if self.in_place else text, end="" if self.in_place else "\n", flush=True)
        self.width = len(text)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.in_place and self.width:
            self._show(time.monotonic())
            print(flush=True)


def clock(seconds: float) -> str:
    """Return a duration in words, such as ``8 s``, ``3 min`` or ``1.5 h``."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _watched() -> bool:
    """Return whether a person sees the output while it is written: a terminal or a live notebook."""
    if os.environ.get("AFTERSTATE_BATCH"):
        return False
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell" or sys.stdout.isatty()
