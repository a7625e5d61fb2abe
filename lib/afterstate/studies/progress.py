"""Showing how far a long computation is, for a person who watches or for a log."""

import os
import re
import sys
import time

PATIENCE = 2.0  # seconds before the first line of progress
LINE = re.compile(r".+: \d+%  [\d.,]+ [^ ]+/(s|min), .+\n?")


def notebook() -> str:
    """Return the name of the notebook that a command runs here, empty if none does."""
    return os.environ.get("AFTERSTATE_BATCH", "")


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook that a person works in."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return not notebook() and type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Show how far a long computation of `total` steps is, with rate and time left.

    In place where a person watches, else a line for every tenth. What is done within two seconds is
    not worth a line.

    Examples
    --------
    >>> from afterstate.studies.progress import Progress
    >>> with Progress(3, "runs of FARL", unit="runs") as progress:
    ...     progress.advance(3)
    """

    def __init__(self, total: int, label: str, unit: str = "episodes"):
        self.total, self.label, self.unit, self.done = total, label, unit, 0
        self.began = self.shown = time.monotonic()
        self.tenths, self.width = 0, 0
        self.in_place = in_notebook() or not notebook() and sys.stdout.isatty()

    def advance(self, steps: int) -> None:
        """Count `steps` more as done and show it if it is time to."""
        self.done = min(self.done + steps, self.total)
        now, tenths = time.monotonic(), 10 * self.done // self.total
        late = tenths > self.tenths and now - self.began > PATIENCE
        if now - self.shown > 0.5 if self.in_place else late:
            self._show(now)
            self.shown, self.tenths = now, tenths

    def _show(self, now):
        seconds = max(now - self.began, 1e-9)
        rate, rest = self.done / seconds, "just begun"
        if self.done:
            left = (self.total - self.done) / rate
            rest = f"{clock(left)} left" if left else f"done in {clock(seconds)}"
        speed = f"{rate:,.0f} {self.unit}/s" if rate >= 1 else f"{60 * rate:.1f} {self.unit}/min"
        text = f"{self.label}: {100 * self.done // self.total}%  {speed}, {rest}"
        if self.in_place:
            print(f"\r{text:<{self.width}}", end="", flush=True)
        else:
            print(text, flush=True)
        self.width = len(text)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.in_place and self.width:
            self._show(time.monotonic())
            print(flush=True)


def is_progress(line: str) -> bool:
    """Return whether a line of output is one of :class:`Progress`: of no use afterwards."""
    return LINE.fullmatch(line) is not None


def clock(seconds: float) -> str:
    """Return a duration in words, such as ``8 s``, ``3 min`` or ``1.5 h``."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.{int(seconds < 10 * size)}f} {unit}"
    return f"{seconds:.0f} s"
