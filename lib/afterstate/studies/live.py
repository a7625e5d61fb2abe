"""A learning curve that grows while a study trains, for whoever watches in a notebook.

The runs may train in other processes, so each of them leaves the points that it has measured in a
file of its own, as long as there is a directory for them; a thread of the study reads the files
every few seconds and draws them anew in one place of the page::

    training 1 --\
    training 2 ----- cache/<study>/.live/<key>.json ----- LiveCurve ----- the cell's output

Nothing of it stays in the page, and without a front end nothing is written or drawn.
"""

import contextlib
import contextvars
import json
import shutil
import threading
from pathlib import Path

import pandas as pd

from ..files import write_text
from ..reports import figures

REDRAW = 4.0  # seconds between two drawings, and before the first one
LEAST_POINTS = 2  # that some run must have: one point is no curve
FIRST_CHOICE = ("win_rate", "score")  # metrics that are drawn if an evaluator has several


class Blank:
    """What replaces the curve when the training is over."""

    def _repr_html_(self):
        return ""

    def __repr__(self):
        return ""


def folder(job) -> Path:
    """Return the directory in which the runs of a job's study leave their points."""
    return job.cache / job.study / ".live"


def tell(job, curves: list[dict]) -> None:
    """Leave the points that a run has measured so far, if anybody watches."""
    place = folder(job)
    if place.is_dir():
        points = next((points for points in curves if points), {})
        told = {"arm": job.arm, "run": job.run, "points": points}
        with contextlib.suppress(OSError):  # nobody watches any more
            write_text(place / f"{job.key}.json", json.dumps(told))


def show_in_cell(picture):
    """Show a picture in the present cell; return its handle, which can update it."""
    from IPython.display import display

    return display(picture, display_id=True)


class LiveCurve:
    """The learning curve of the runs that are being trained; a context in which it is redrawn.

    Parameters
    ----------
    job : Job
        One of them.
    show : callable
        ``show(picture) -> handle`` with ``handle.update(picture)``.
    redraw : float
        Seconds between two drawings.
    """

    def __init__(self, job, show=show_in_cell, redraw: float = REDRAW):
        self.title, self.place = f"{job.study} / {job.arm}, so far", folder(job)
        self.show, self.redraw, self.handle, self.drawn = show, redraw, None, None
        self._over = threading.Event()
        # in the context of the cell, whose output it is
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._watch,), daemon=True)

    def __enter__(self):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()
        shutil.rmtree(self.place, ignore_errors=True)
        if self.handle is not None:
            self.handle.update(Blank())

    def _watch(self):
        with contextlib.suppress(Exception):  # a picture is not worth a training
            while not self._over.wait(self.redraw):
                self.draw()

    def draw(self) -> bool:
        """Draw what the runs have told so far, if that is new; return whether it was."""
        table = self.points()
        if len(table) == self.drawn or not len(table):
            return False
        if table.groupby("run").size().max() < LEAST_POINTS:
            return False
        metric, arm = table.metric.iloc[0], table.arm.iloc[0]
        picture, _ = figures.learning_curves(
            table, metric, [arm], score_axis=False, possible=None, label=metric, title=self.title
        )
        if self.handle is None:
            self.handle = self.show(picture)
        else:
            self.handle.update(picture)
        self.drawn = len(table)
        return True

    def points(self) -> pd.DataFrame:
        """Return what the runs have told: arm, run, episode, metric, value of one metric."""
        rows = []
        for file in sorted(self.place.glob("*.json")):
            told = json.loads(file.read_text(encoding="utf-8"))
            metric = chosen_metric(told["points"])
            if metric:
                pairs = zip(told["points"]["episode"], told["points"][metric], strict=True)
                rows += [(told["arm"], told["run"], episode, metric, v) for episode, v in pairs]
        return pd.DataFrame(rows, columns=["arm", "run", "episode", "metric", "value"])


def chosen_metric(points: dict) -> str | None:
    """Return the metric of an evaluator that is drawn, or None if there is none.

    >>> chosen_metric({"episode": [10], "score:Random": [0.5], "win_rate:Random": [75.0]})
    'win_rate:Random'
    """
    metrics = [metric for metric in points if metric != "episode"]
    wanted = [m for first in FIRST_CHOICE for m in metrics if m.startswith(first)]
    return next(iter(wanted + metrics), None)


def while_training(tasks: list, watched: bool):
    """Return the context in which runs train: a live curve if somebody watches, else nothing.

    `tasks` are those of ``runs.perform``: ("train", job, evaluators of the curve, ...).
    """
    drawn = [job for _, job, curve, *_ in tasks if curve]
    return LiveCurve(drawn[0]) if watched and drawn else contextlib.nullcontext()
