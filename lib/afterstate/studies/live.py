"""A learning curve that grows while a study trains, for whoever watches in a notebook.

The runs may train in other processes, so each of them leaves the points that it has measured in a
file of its own, as long as there is a directory for them; a thread of the study reads the files
every few seconds and draws them anew in one place of the page. Nothing of it stays.
"""

import contextlib
import contextvars
import json
import shutil
import threading

import pandas as pd

from ..files import write_text
from ..reports import figures
from .progress import in_notebook

REDRAW = 4.0  # seconds between two drawings, and before the first one
FIRST_CHOICE = ("win_rate", "score")  # metrics that are drawn if an evaluator has several


def folder(job):
    """Return the directory in which the runs of a job's study leave their points."""
    return job.cache / job.study / ".live"


def leave(job, curves: list[dict]) -> None:
    """Leave the points that a run has measured so far, if anybody watches."""
    place, points = folder(job), next(filter(None, curves), None)
    if points and place.is_dir():
        metrics = [name for name in points if name != "episode"]
        chosen = [m for first in FIRST_CHOICE for m in metrics if m.startswith(first)] + metrics
        left = {"arm": job.arm, "run": job.run, "episode": points["episode"]}
        left |= {"metric": chosen[0], "value": points[chosen[0]]}
        with contextlib.suppress(OSError):  # nobody watches any more
            write_text(place / f"{job.key}.json", json.dumps(left))


@contextlib.contextmanager
def while_training(jobs, show=None, redraw=REDRAW):
    """Redraw the learning curve of the runs that are being trained, if a person watches.

    Parameters
    ----------
    jobs : list of Job
    show : callable, optional
        ``show(picture) -> handle`` with ``handle.update(picture)`` (default: in the present cell).
    redraw : float
        Seconds between two drawings.
    """
    if not jobs or show is None and not in_notebook():
        yield
        return
    place, over = folder(jobs[0]), threading.Event()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    # in the context of the cell, whose output it is
    watch = (_watch, place, over, show or _show_in_cell, redraw)
    thread = threading.Thread(target=contextvars.copy_context().run, args=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        shutil.rmtree(place, ignore_errors=True)


def _watch(place, over, show, redraw):
    handle, drawn = None, 0
    with contextlib.suppress(Exception):  # a picture is not worth a training
        while not over.wait(redraw):
            left = [json.loads(file.read_text()) for file in sorted(place.glob("*.json"))]
            table = pd.concat([pd.DataFrame(), *map(pd.DataFrame, left)], ignore_index=True)
            if len(table) == drawn or table.groupby("run").size().max() < 2:  # a point is no curve
                continue
            metric, arm = table.metric.iloc[0], table.arm.iloc[0]
            options = {"score_axis": False, "possible": None, "label": metric}
            picture, _ = figures.learning_curves(table, metric, [arm], title=arm, **options)
            drawn = len(table)
            if handle is None:
                handle = show(picture)
            else:
                handle.update(picture)
    if handle is not None:
        handle.update(_Blank())


def _show_in_cell(picture):
    from IPython.display import display

    return display(picture, display_id=True)


class _Blank:
    """What replaces the curve when the training is over."""

    def _repr_html_(self):
        return ""

    __repr__ = _repr_html_
