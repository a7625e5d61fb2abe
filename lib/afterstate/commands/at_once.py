"""Several notebooks at once, each in a process of its own.

A notebook that takes its runs from records keeps one processor busy, two of them keep two. A
notebook that collects the results of others says so in its metadata (``afterstate: {"reads":
"other notebooks"}``) and comes after them.
"""

import contextlib
import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from ..studies import settings
from . import notebooks

MOST = 2  # notebooks at once; while they train, each of them uses all processors anyway
FAILED, INTERRUPTED = 1, 130  # how the process of a notebook ends, beside 0
SECONDS_TO_STOP = 5.0  # a terminal hands Ctrl-C to all processes; others are told after this time


def at_once() -> int:
    """Return how many notebooks run at once: two, but one if there is one worker only."""
    return min(MOST, settings.workers())


def collects(path: Path) -> bool:
    """Return whether a notebook reads what other notebooks have written."""
    found = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("afterstate", {})
    return found.get("reads") == "other notebooks"


def run_all(
    paths: list[Path], profile: str, selection: settings.Selection | None = None
) -> list[str]:
    """Run notebooks and return the names of those that failed, as ``notebooks.run_all`` does.

    Every line that a notebook writes begins with its number. Ctrl-C stops all of them.

    Parameters
    ----------
    paths : list of Path
    profile : str
    selection : Selection, optional
        The runs that their studies work on (default: everything that has no record).
    """
    last = [path for path in paths if collects(path)]
    first = [path for path in paths if path not in last]
    if at_once() == 1 or len(first) < 2:
        return notebooks.run_all(first + last, profile, selection)
    children = _Children(profile)
    with (
        settings.for_notebook("", selection),
        ThreadPoolExecutor(at_once()) as pool,
        children.stopped_on_interrupt(),
    ):
        failed = [path.stem for path, fine in zip(first, pool.map(children.run, first)) if not fine]
    return failed + notebooks.run_all(last, profile, selection)


class _Children:
    """The processes that run notebooks now."""

    def __init__(self, profile):
        self.profile, self.stopping = profile, False
        self.running, self.lock = set(), Lock()

    def run(self, path) -> bool:
        """Run a notebook to its end; return whether it did not fail."""
        began = time.time()
        with self.lock:
            if self.stopping:
                return False
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(path), self.profile],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=settings.for_child(),
            )
            self.running.add(process)
        for line in process.stdout:
            if not self.stopping:
                print(f"{path.stem.partition('_')[0]}  {line}", end="", flush=True)
        code = process.wait()
        self.running.discard(process)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code not in (0, FAILED) and not self.stopping:  # killed, for example for its memory
            error = RuntimeError(f"its process ended with status {code}")
            notebooks.mark_failed(path, self.profile, error, began)
        return code == 0

    @contextlib.contextmanager
    def stopped_on_interrupt(self):
        """Wait for all processes when this one is interrupted, and begin no others."""
        try:
            yield
        except KeyboardInterrupt:
            with self.lock:
                self.stopping, running = True, list(self.running)
            deadline = time.monotonic() + SECONDS_TO_STOP
            while time.monotonic() < deadline and any(p.poll() is None for p in running):
                time.sleep(0.05)
            for process in running:
                with contextlib.suppress(OSError):
                    process.send_signal(signal.SIGINT)
            raise


def main(arguments) -> int:
    """Run one notebook in this process; return 0, ``FAILED`` or ``INTERRUPTED``."""
    path, profile = arguments
    try:
        return FAILED if notebooks.run_all([Path(path)], profile, settings.selection()) else 0
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
