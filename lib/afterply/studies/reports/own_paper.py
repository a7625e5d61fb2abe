"""Your own paper: its claims beside a table of your runs, in any field, with verdicts and a page.

    claims.yaml    what is claimed: a file as those in data/papers, most of which may be left out
    runs.csv       what came out: arm, run, measure (or metric), value; perhaps episode, study, and
                   further columns that tell results apart

Nothing of it needs a game, or a learner of this library.
"""

import csv
import io
import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...checks import path as checked_path
from ...files import own_folder, require_end, write_text
from ..papers import claims
from ..papers.compare import NEEDED
from ..results import PLACE, by_columns, filling, in_percent, in_words, joined
from ..sources import RUN_COLUMNS
from .collect import part_of
from .pages import render, write_html
from .sentences import numbers_in

NEEDED_OF_TABLE = ["arm", "run", "measure", "value"]
# columns whose contents are texts as they are written: an arm may be called 007 or None
TEXTS = {"arm": str, "measure": str, "metric": str, "study": str, "value": str}
PAGES = ("index.md", "index.html", "style.css")
MOST_FAULTS = 10  # faulty lines of a table that an error names
MOST_NAMED = 200  # results whose runs are counted one by one; more are counted together
COLUMNS = ["id", "claimed", "ours", "verdict", "why"]


class Judged(NamedTuple):
    """What the runs say of the claims."""

    table: pd.DataFrame  # a row for each statement and value: id, claimed, ours, verdict, why
    there: str  # the arms and results of the runs

    @property
    def cells(self) -> dict:
        """What sentences may rest on: id -> verdict, and what the runs say in numbers."""
        return {row.id: (row.verdict, *numbers_in(row.ours)) for row in self.table.itertuples()}

    def __repr__(self):
        lines = []
        for row in self.table.itertuples():
            why = f" ({row.why})" if row.why else ""
            lines.append(f"{row.verdict}: {row.id}, {row.claimed!r}")
            lines.append(f"    {row.ours}{why}")
        lines.append(f"The runs: {self.there}")
        return "\n".join(lines)

    def _repr_html_(self):
        return self.table.style.format(escape="html").hide(axis="index").to_html()


def judge(path, *tables, out=None) -> Judged:
    """Judge the claims in a file by the runs in some tables; without tables only check the file.

    path: a claims file, as `afterply.studies.papers.claims.load_own` reads it. tables: DataFrames
    or CSV files of the columns arm, run (its number), measure (or metric), value; with a column
    episode the last one counts, without a column study it is the claims file's name; other columns
    tell results apart, and are selected by claims. A CSV file that was cut within a line is
    refused; one that was cut between two lines looks like a shorter one, so compare the numbers of
    runs that are printed with yours. out: a folder for the page.

    ValueError names all faults: file, entry and remedy, or the column and line of a table that is
    not as said.
    """
    paper, run_tables = _read_all(path, tables)
    results = by_columns(joined(run_tables or [pd.DataFrame(columns=NEEDED)]))
    no_runs_of_studies = pd.DataFrame(columns=RUN_COLUMNS)
    part = part_of(paper, results, no_runs_of_studies, figures=[], notebooks=[])
    judged = Judged(_verdicts(part), _runs_in_words(results))
    if out is not None:
        own_folder(out, PAGES)
        page = render("own_paper.md", part=part, paper=paper, there=judged.there)
        write_text(Path(out) / "index.md", page)
        write_html(Path(out), ["index.md"])
    return judged


def _verdicts(part):
    """Return the table of :class:`Judged`: first the statements, then the values."""
    rows = []
    for row in part.statements:
        rows.append((row.statement.id, row.statement.says, row.number, row.verdict, row.open))
    for row in part.rows:
        rows.append((row.claim.id, row.claim.printed, row.ours, row.verdict, row.explanation))
    return pd.DataFrame(rows, columns=COLUMNS)


def _runs_in_words(results):
    """Return how many runs there are of each arm and result; results: of `by_columns`."""
    texts = []
    for (_, arm, columns), rows in itertools.islice(results.items(), MOST_NAMED):
        texts.append(f"{rows.run.nunique()} of {arm}, {in_words(columns)}")
    if len(results) > MOST_NAMED:
        texts.append(f"and {len(results) - MOST_NAMED:,} more results")
    return "; ".join(texts) or "none yet"


def _read_all(path, tables) -> tuple:
    """Return the paper and a list of its tables; ValueError has the faults of all of them."""
    path = checked_path(path)
    paper = None
    run_tables = []
    faults = []
    try:
        paper = claims.load_own(path)
    except ValueError as error:
        faults.append(str(error))
    for table in tables:
        try:
            run_tables.append(read_runs(table, study=path.stem))
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    return paper, run_tables


def read_runs(table, study: str) -> pd.DataFrame:
    """Return a table of runs, or of a CSV file, as results of a study."""
    if isinstance(table, pd.DataFrame):
        where = "the table of runs"
        rows = table
    else:
        where = checked_path(table).name
        try:
            rows = _read_csv(table)
        except ValueError as error:
            raise ValueError(f"{where} is no table of comma-separated values: {error}") from error
    names = list(map(str, rows.columns))
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{where} has the column {twice[0]} twice: keep one of them")
    if "measure" not in rows.columns:
        rows = rows.rename(columns={"metric": "measure"})
    _require_columns(rows, where)
    defaults = {"study": study, "episode": 0}
    rows = pd.DataFrame(defaults | dict(rows.items()))
    numbers = rows["value"].map(_number_of).astype(float)
    _require_values(rows, numbers, where)
    texts = {name: rows[name].astype(str) for name in ("arm", "study", "measure")}
    rows = rows.assign(**texts, value=numbers)
    return rows[[*PLACE, *filling(rows), "value"]]


def _read_csv(path) -> pd.DataFrame:
    """Return the table in a file as it is written; ValueError if it was cut off, or is none."""
    text = require_end(Path(path).read_text(encoding="utf-8-sig"))
    head = next(csv.reader(io.StringIO(text)), [])
    # pandas would call the second of two columns "value" "value.1"
    rows = pd.read_csv(
        io.StringIO(text),
        header=None,
        skiprows=1,
        names=range(len(head)),
        dtype={place: TEXTS[name] for place, name in enumerate(head) if name in TEXTS},
        keep_default_na=False,
        na_values=[""],
        index_col=False,
    )
    return rows.set_axis(head, axis="columns")


def _number_of(value) -> float:
    """Return the number that a value or its text is, or nan."""
    if not isinstance(value, (int, float, np.number, str)) or isinstance(value, bool):
        return np.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return np.nan


def _is_name(value) -> bool:
    """Return whether a value is a text or a number."""
    return isinstance(value, (str, int, float, np.number)) and value == value


def _require_columns(rows, where):
    """Raise ValueError if a table lacks a column that is needed."""
    missing = [name for name in NEEDED_OF_TABLE if name not in rows.columns]
    if missing:
        present = ", ".join(map(str, rows.columns))
        raise ValueError(
            f"{where} lacks the column {', '.join(missing)}; it has {present}, and needs"
            f" {', '.join(NEEDED_OF_TABLE)} (perhaps episode, study, and columns of your own)"
        )


def _require_values(rows, numbers, where):
    """Raise ValueError for lines that lack a name, or whose value is no finite number."""
    is_finite = numbers.abs().lt(float("inf"))
    lacks_name = ~rows[["arm", "run", "measure"]].map(_is_name).all(axis=1)
    is_beyond = rows["measure"].map(lambda name: in_percent(str(name))) & ~numbers.between(0, 100)
    is_faulty = ~is_finite | lacks_name | is_beyond
    if not is_faulty.any():
        return
    messages = []
    for position in np.flatnonzero(is_faulty)[:MOST_FAULTS]:
        line = position + 2  # of the file: the first has the names of the columns
        row = rows.iloc[position]
        values = ", ".join(f"{name} {row[name]}" for name in NEEDED_OF_TABLE)
        messages.append(f"{where}, line {line}: {values}")
    message = "\n".join(messages)
    if is_faulty.sum() > MOST_FAULTS:
        message += f"; and {is_faulty.sum() - MOST_FAULTS} more"
    raise ValueError(
        f"{message}; a line needs all four, and value a finite number, from 0 to 100 if the measure"
        " is one in percent, as all that end with _rate: leave out runs without a result"
    )
