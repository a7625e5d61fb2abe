"""The settings that come from outside: every environment variable of the package, and its meaning.

Some are read below the studies, where they are needed: the directories in ``files.py``, the cache
of compiled kernels in ``kernel/compile.py``, Edax in ``players/gtp.py``, what is hidden in
``players/optional.py``. All others are read here and nowhere else.
"""

import contextlib
import json
import math
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import joblib

from ..kernel.source import PACKAGE

VARIABLES = {
    "BUDGET": "CPU minutes that make reproduce spends on training, or all",
    "RECORDS": "use (the default) or ignore: whether recorded runs are taken from their records",
    "WORKERS": "processes that train side by side (default: all CPUs)",
    "DASK": "address of a Dask scheduler whose workers train instead, such as tcp://host:8786",
    "EDAX": "the Othello program Edax, with its weights data/eval.dat beside it",
    "AFTERSTATE_DATA": "the data directory (default: data of the checkout)",
    "AFTERSTATE_REPORTS": "the directory of the reports (default: reports beside data)",
    "AFTERSTATE_CACHE": "the directory of compiled kernels (default: ~/.cache/afterstate)",
    "AFTERSTATE_HIDE": "optional engines and packages that are treated as missing, or all",
    "AFTERSTATE_BATCH": "set by the commands: the notebook that runs while nobody watches",
    "AFTERSTATE_SELECTION": "set by the commands for their notebooks: the file of chosen runs",
}
DEFAULT_BUDGET = "2"  # CPU minutes


@dataclass(frozen=True)
class Selection:
    """The runs that a budget is spent on, by the keys of their trainings.

    `again` are recorded runs to repeat, `missing` are runs to make.
    """

    again: frozenset = frozenset()
    missing: frozenset = frozenset()


def budget() -> float:
    """Return BUDGET in CPU seconds; "all" is infinite.

    Raises
    ------
    ValueError
        If it is neither a number of minutes nor "all".
    """
    text = os.environ.get("BUDGET") or DEFAULT_BUDGET
    if text == "all":
        return math.inf
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not minutes >= 0:
        raise ValueError(f"BUDGET={text!r} must be CPU minutes, such as 15, or all")
    return 60 * minutes


def records(given: str | None = None) -> str:
    """Return whether records are read: `given`, else RECORDS, else "use"."""
    chosen = given or os.environ.get("RECORDS") or "use"
    if chosen not in ("use", "ignore"):
        raise ValueError(f"RECORDS={chosen!r} must be 'use' or 'ignore'")
    return chosen


def workers() -> int:
    """Return WORKERS, else the number of CPUs that this process may use."""
    given = os.environ.get("WORKERS")
    if given and not (given.isdigit() and int(given) > 0):
        raise ValueError(f"WORKERS={given!r} must be a whole number of at least 1")
    return int(given) if given else joblib.cpu_count()


def dask(given: str | None = None) -> str | None:
    """Return the address of a Dask scheduler: `given`, else DASK, else None."""
    return given or os.environ.get("DASK") or None


def batch() -> bool:
    """Return whether nobody watches the output while it is written."""
    return bool(notebook())


def notebook() -> str:
    """Return the name of the notebook that a command runs here, empty if none does."""
    return os.environ.get("AFTERSTATE_BATCH", "")


def selection() -> Selection | None:
    """Return the runs that the command chose for this notebook, or None if it chose none."""
    file = os.environ.get("AFTERSTATE_SELECTION")
    if not file:
        return None
    try:
        chosen = json.loads(Path(file).read_text(encoding="utf-8"))
        return Selection(frozenset(chosen["again"]), frozenset(chosen["missing"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"AFTERSTATE_SELECTION={file!r} names no file of chosen runs ({error!r}): unset it;"
            " the commands set it themselves"
        ) from error


@contextlib.contextmanager
def for_notebook(name: str, chosen: Selection | None):
    """Within this context, processes that are started find this package and the chosen runs.

    A notebook runs in a process of its own, which inherits nothing else of this one.
    """
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="afterstate-") as directory:
        os.environ["AFTERSTATE_BATCH"] = name
        os.environ["PYTHONPATH"] = _python_path([str(PACKAGE.parent), before.get("PYTHONPATH", "")])
        if before.get("EDAX"):  # named from where the command is given
            os.environ["EDAX"] = str(Path(before["EDAX"]).expanduser().absolute())
        if chosen is not None:
            file = Path(directory) / "selection.json"
            lists = {"again": sorted(chosen.again), "missing": sorted(chosen.missing)}
            file.write_text(json.dumps(lists), encoding="utf-8")
            os.environ["AFTERSTATE_SELECTION"] = str(file)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def for_child() -> dict:
    """Return the environment of a Python process that imports what this one can import."""
    return os.environ | {"PYTHONPATH": _python_path(path or os.getcwd() for path in sys.path)}


def _python_path(parts) -> str:
    places = [place for part in parts for place in part.split(os.pathsep) if place]
    return os.pathsep.join(dict.fromkeys(places))
