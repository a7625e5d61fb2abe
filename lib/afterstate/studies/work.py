"""The runs of a study side by side: in this process, in worker processes, or on a Dask cluster.

A person who watches in a notebook sees a learning curve that grows. Runs may train in other
processes, so they leave their points in files, as long as there is a directory for them; a thread
draws them anew every few seconds in one place of the page. Nothing of it stays.
"""

import contextlib
import contextvars
import itertools
import json
import os
import shutil
import sys
import threading
import warnings

import joblib
import pandas as pd
from tqdm import tqdm

from ..checks import needs
from ..processes import work_for
from ..reports import figures
from .profiles import in_notebook, notebook
from .records import sources_behind
from .runs import evaluate, train

DASK_TIMEOUT, WORKERS_SECONDS = "20s", 60  # to wait for a scheduler, and for its first worker
HEAVY_BYTES = 2 * 2**30  # memory that a worker needs for an evaluator that says it is heavy
REDRAW = 4.0  # seconds between two drawings of the curve, and before the first one


def work(runs, keep, workers: int = 1, dask: str | None = None) -> None:
    """Train and evaluate what is due of some runs; call ``keep(run, records)`` for new records."""
    # the workers of a Dask scheduler must see the same cache, or train again
    runs = [run for run in runs if run.due]
    if any(getattr(e, "heavy", False) for run in runs for _, e in run.job.evaluations.values()):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        workers = max(1, min(workers, memory // HEAVY_BYTES))
    final = {run: [k for k in run.due if run.job.what(k)[0] == "final"] for run in runs}
    here = [run for run in runs if run.job.key in run.records and run.job.checkpoint.exists()]
    untrained = [run for run in runs if run not in here or len(final[run]) < len(run.due)]

    def kept(run, records):
        known = run.records.get(records[0]["key"], records[0])
        if known["checksum"] != records[0]["checksum"]:
            raise RuntimeError(
                f"{run.job.arm} run {run.job.run}: trained again, its weights are not those of its"
                f" record {run.job.key}: undo the edit, or delete that record"
            )
        new = {record["key"]: record for record in records if record["key"] not in run.records}
        run.records |= new
        run.made |= new.keys()
        keep(run, list(new.values()))

    with _live_curve(untrained):
        _spread("training", train, [(run, run.due) for run in untrained], kept, workers, dask)
    weights = {run: run.records[run.job.key]["checksum"] for run in runs}
    tasks = [(run, key, weights[run]) for run in runs for key in final[run]]
    _spread("evaluating", evaluate, tasks, kept, workers, dask)


def _spread(verb, function, tasks, keep, workers, dask):
    if not tasks:
        return
    arms = list({f"{run.job.study} / {run.job.arm}": None for run, *_ in tasks})
    label = f"{verb} {arms[0] if len(arms) == 1 else f'{len(arms)} arms'}"
    alone = not dask and (workers == 1 or len(tasks) == 1)
    if alone and function is train:
        with _bar(sum(run.job.episodes for run, _ in tasks), label, "episodes") as bar:
            for run, curve in tasks:
                keep(run, train(run.job, curve, bar.update))
        return
    calls = [(function, run.job, *rest) for run, *rest in tasks]
    with _bar(len(tasks), label, "runs") as bar:
        made = enumerate(f(*given) for f, *given in calls) if alone else _made(calls, workers, dask)
        for index, records in made:
            keep(tasks[index][0], records)
            bar.update()


def _made(calls, workers, dask):
    with _backend(dask):
        num = -1 if dask else min(workers, len(calls))
        pool = joblib.Parallel(n_jobs=num, batch_size=1, return_as="generator_unordered")
        sources = [sources_behind(job.game, job.learner) for _, job, *_ in calls]
        numbered = zip(itertools.repeat(os.getpid()), range(len(calls)), sources, calls)
        yield from pool(joblib.delayed(_in_worker)(*call) for call in numbered)


def _in_worker(parent, index, sources, call):
    function, job, *rest = call
    own = sources_behind(job.game, job.learner)
    if own != sources:
        raise RuntimeError(
            f"this worker has other sources of afterstate ({own}) than the study ({sources}): start"
            " it again if they were edited, and install the same version on all machines"
        )
    work_for(parent)  # its next start goes on from the checkpoint
    return index, function(job, *rest)


@contextlib.contextmanager
def _backend(dask):
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


class _Bar(tqdm):
    # without helpers of its own, a process and a thread, that a killed study would leave behind
    monitor_interval, _lock = 0, threading.RLock()


def _bar(total, label, unit):
    """Return a bar, in a log once a minute, for nothing that is done within two seconds."""
    pause = 0.5 if in_notebook() or sys.stdout.isatty() else 60.0
    shown = {"desc": label, "unit": f" {unit}", "unit_scale": unit == "episodes"}
    when = {"delay": 2.0, "mininterval": pause, "disable": bool(notebook())}
    return _Bar(total=total, file=sys.stdout, **shown, **when)


@contextlib.contextmanager
def _live_curve(runs):
    if not runs or not in_notebook():
        yield
        return
    place, over = runs[0].job.live, threading.Event()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    # in the context of the cell, whose output it is
    call = (contextvars.copy_context().run, _draw_again, place, over)
    thread = threading.Thread(target=call[0], args=call[1:], daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        shutil.rmtree(place, ignore_errors=True)


def _draw_again(place, over):
    from IPython.display import HTML, display

    shown, drawn = display(HTML(""), display_id=True), None
    with contextlib.suppress(Exception):  # a picture is not worth a training
        while not over.wait(REDRAW):
            left = [json.loads(file.read_text()) for file in sorted(place.glob("*.json"))]
            a_curve = any(len(points["episode"]) > 1 for points in left)
            if a_curve and left != drawn:
                table, metric, arm = map(pd.DataFrame, left), left[0]["metric"], left[0]["arm"]
                options = {"score_axis": False, "possible": None, "label": metric, "title": arm}
                picture, _ = figures.learning_curves(pd.concat(table), metric, [arm], **options)
                shown.update(picture)
                drawn = left
    shown.update(HTML(""))
