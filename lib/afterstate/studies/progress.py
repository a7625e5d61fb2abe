"""Telling how far a long computation is, for a person who watches or for a log."""

import re
import sys
import time

from .settings import batch

PATIENCE = 2.0  # seconds before the first line of progress
LINE = re.compile(r".+: \d+%  [\d.,]+ [^ ]+/(s|min), .+\n?")


class Progress:
    """Tell how far a long computation is, with rate and time left.

    In place where a person watches, else a line for every tenth. What is done within two seconds is
    not worth a line.

    Parameters
    ----------
    total : int
        Steps in all.
    label, unit : str

    Examples
    --------
    >>> from afterstate.studies.progress import Progress
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
        if (
            now - self.shown > 0.5
            if self.in_place
            else tenths > self.tenths and now - self.began > PATIENCE
        ):
            self._show(now)
            self.shown, self.tenths = now, tenths

    def _show(self, now):
        seconds = max(now - self.began, 1e-9)
        rate = self.done / seconds
        rest = (
            "just begun"
            if not self.done
            else (
                f"{clock((self.total - self.done) / rate)} left"
                if self.done < self.total
                else f"done in {clock(seconds)}"
            )
        )
        speed = f"{rate:,.0f} {self.unit}/s" if rate >= 1 else f"{60 * rate:.1f} {self.unit}/min"
        text = f"{self.label}: {100 * self.done // self.total}%  {speed}, {rest}"
        print(
            f"\r{text:<{self.width}}" if self.in_place else text,
            end="" if self.in_place else "\n",
            flush=True,
        )
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
            return (
                f"{seconds / size:.1f} {unit}"
                if seconds < 10 * size
                else f"{seconds / size:.0f} {unit}"
            )
    return f"{seconds:.0f} s"


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook that no command executes as a page."""
    if batch():
        return False
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _watched() -> bool:
    """Return whether a person sees the output as it is written: a terminal or a live notebook."""
    return in_notebook() or not batch() and sys.stdout.isatty()
