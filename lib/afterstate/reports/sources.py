"""What the studies left behind, read for the report: whatever cannot be read becomes a gap.

`gaps` is a list of sentences that every function adds to.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..papers.compare import RESULT_COLUMNS
from . import notebook_page
from .page import is_svg

RUN_COLUMNS = [
    "study",
    "arm",
    "run",
    "key",
    "kind",
    "provenance",
    "machine",
    "commit",
    "date",
    "cpu_seconds",
    "moves",
    "moves_per_second",
]
OPTIONAL_COLUMNS = ["estimated_cpu_seconds", "notebook"]
# where a number comes from, as `studies` writes it; AGAIN is followed by how it compares
RECORDED, HERE, AGAIN, MISSING = "recorded", "trained here", "re-run here: ", "missing"
REPEATED = (AGAIN + "identical", AGAIN + "agrees")  # and found as the record says
DIFFERS = AGAIN + "differs"
OF_RECORDS = (RECORDED, *REPEATED)
PROVENANCES = (RECORDED, HERE, *REPEATED, DIFFERS, MISSING)


def without_record(runs):
    """Return those rows of a table of runs that are missing."""
    return runs[runs["provenance"] == MISSING]


@dataclass(frozen=True)
class Figure:
    """A figure of a study: SVG text, file names relative to the page, and how to read it."""

    study: str
    name: str
    svg: str
    caption: str
    numbers: str


def studies(directory):
    """Return the names of the studies that left results or runs."""
    return {
        path.name.split(".")[0]
        for kind in ("results", "runs")
        for path in (directory / "data").glob(f"*.{kind}.csv")
    }


def _read(path, columns, gaps):
    try:
        table = pd.read_csv(path)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        gaps.append(f"{path.name} cannot be read ({type(error).__name__}); run its notebook again")
        return None
    lacking = [column for column in columns if column not in table.columns]
    if lacking:
        gaps.append(f"{path.name} lacks the column {lacking[0]!r}; run its notebook again")
        return None
    return table


def _numeric(table, columns, path, gaps):
    for column in columns:
        numbers = pd.to_numeric(table[column], errors="coerce")
        spoilt = table.loc[numbers.isna() & table[column].notna(), column]
        if len(spoilt):
            gaps.append(
                f"{path.name}: {column} is {spoilt.iloc[0]!r}, not a number; run its notebook again"
            )
        table[column] = numbers
    return table


def no_runs():
    """Return an empty table of runs."""
    return pd.DataFrame(
        {column: pd.Series(dtype=object) for column in [*RUN_COLUMNS, *OPTIONAL_COLUMNS]}
    )


def runs(directory, study, gaps):
    """Return the runs of a study, with where each comes from and what it cost."""
    path = directory / "data" / f"{study}.runs.csv"
    if not path.exists():
        if path.with_name(f"{study}.results.csv").exists():
            gaps.append(
                f"{path.name} is missing, so nothing is known about where the results of {study}"
                " come from"
            )
        return no_runs()
    table = _read(path, RUN_COLUMNS, gaps)
    if table is None:
        return no_runs()
    if "estimated_cpu_seconds" not in table.columns:
        table["estimated_cpu_seconds"] = np.nan
    if "notebook" not in table.columns:  # finished by hand
        table["notebook"] = ""
    for name in sorted(set(table["provenance"].astype(str)) - set(PROVENANCES)):
        gaps.append(f"{path.name}: provenance {name!r} is none of {', '.join(PROVENANCES)}")
    table["provenance"] = table["provenance"].astype(str)
    return _numeric(
        table, ["cpu_seconds", "moves", "moves_per_second", "estimated_cpu_seconds"], path, gaps
    )


def results(directory, study, gaps):
    """Return the finite results of a study; None if it left none."""
    path = directory / "data" / f"{study}.results.csv"
    if not path.exists():
        return None
    table = _read(path, RESULT_COLUMNS, gaps)
    if table is None:
        return None
    table = _numeric(table, ["episode", "value"], path, gaps)
    infinite = table["value"].isna() | np.isinf(table["value"])
    if infinite.any():
        gaps.append(
            f"{path.name}: {int(infinite.sum())} values are missing or not finite and are left out"
        )
    return table[~infinite]


def study_of(figure, studies):
    """Return the study that a figure belongs to, "" if none: its name begins with the study's.

    >>> study_of("connect4-wrapper-play", {"connect4", "connect4-wrapper"})
    'connect4-wrapper'
    """
    return max((name for name in studies if figure.startswith(name + "-")), key=len, default="")


def figures(directory, studies, gaps):
    """Return the figures that are well-formed drawings."""
    found = []
    for path in sorted((directory / "figures").glob("*.svg")):
        study = study_of(path.stem, studies)
        svg = _text(path, gaps)
        if not is_svg(svg):
            gaps.append(
                f"the figure {path.name} is not a well-formed drawing; run its notebook again"
            )
            continue
        for suffix, what in ((".txt", "caption"), (".csv", "file with its numbers")):
            if not path.with_suffix(suffix).exists():
                gaps.append(f"the figure {path.name} has no {what}")
        caption = _text(path.with_suffix(".txt"), gaps) if path.with_suffix(".txt").exists() else ""
        numbers = f"figures/{path.stem}.csv" if path.with_suffix(".csv").exists() else ""
        found.append(
            Figure(study, path.stem, svg[svg.index("<svg") :], " ".join(caption.split()), numbers)
        )
    return found


def _text(path, gaps):
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        gaps.append(f"{path.name} cannot be read ({type(error).__name__})")
        return ""


def notebooks(directory, captions, gaps):
    """Return the executed notebooks of a directory that can be read, in reading order."""
    found = []
    for path in sorted(directory.glob("*.ipynb")):
        try:
            notebook = notebook_page.read(path, captions)
            if notebook.failed:
                gaps.append(f"the notebook {path.stem} failed: {notebook.failure}")
            found.append(notebook)
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            gaps.append(f"the notebook {path.name} cannot be read; run it again")
    return found


def provenance(rows, every_kind=False):
    """Return where the trainings of an arm come from: "24 recorded, 1 re-run here: identical".

    Of all its runs and evaluations if it has no training, or with `every_kind`.
    """
    counts = Counter(
        rows.loc[rows["kind"] == "train", "provenance"]
        if (rows["kind"] == "train").any() and not every_kind
        else rows["provenance"]
    )
    known = [name for name in PROVENANCES if counts[name]]
    return ", ".join(
        f"{counts[name]} {name}" for name in [*known, *sorted(set(counts) - set(PROVENANCES))]
    )


def duration(seconds):
    """Return CPU seconds to two digits, in seconds, minutes or hours.

    >>> duration(204.0)
    '3.4 min'
    """
    for size, unit in ((3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size or unit == "s":
            amount = seconds / size
            return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
    raise ValueError(f"{seconds!r} is not a duration in seconds")
