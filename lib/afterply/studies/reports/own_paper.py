"""Your own paper: its claims beside a table of your runs, in any field, with verdicts and a page.

    claims.yaml    what is claimed: a file as those in data/papers, most of which may be left out
    runs.csv       what came out: arm, run, measure (or metric), value; perhaps episode, study, and
                   further columns that tell results apart

Nothing of it needs a game, or a learner of this library.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ...files import write_text
from ..papers import claims
from ..papers.compare import NEEDED
from ..results import PLACE, by_columns, filling, in_words, joined
from ..sources import RUN_COLUMNS
from .collect import part_of
from .pages import render, write_html
from .sentences import numbers_in

OWN = ["arm", "run", "measure", "value"]  # needed of a table
MOST = 10  # faulty lines of a table that are told
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
            lines += [f"{row.verdict}: {row.id}, {row.claimed!r}", f"    {row.ours}{why}"]
        return "\n".join([*lines, f"The runs: {self.there}"])

    def _repr_html_(self):
        return self.table.style.hide(axis="index").to_html()


def judge(path, *tables, out=None) -> Judged:
    """Judge the claims in a file by the runs in some tables; without tables only check the file.

    path: a claims file, as `afterply.studies.papers.claims.load_own` reads it. tables: DataFrames
    or CSV files of the columns arm, run (its number), measure (or metric), value; with a column
    episode the last one counts, without a column study it is the claims file's name; other columns
    tell results apart, and are selected by claims. out: a folder for the page.

    ValueError names all faults: file, entry and remedy, or the column and line of a table that is
    not as said.
    """
    paper, *read = _all_read(path, tables)
    runs = joined(read or [pd.DataFrame(columns=NEEDED)])
    part = part_of(paper, by_columns(runs), pd.DataFrame(columns=RUN_COLUMNS), [], [])
    rows = [
        (one.statement.id, one.statement.says, one.number, one.verdict, one.open)
        for one in part.statements
    ]
    rows += [
        (one.claim.id, one.claim.printed, one.ours, one.verdict, one.explanation)
        for one in part.rows
    ]
    there = "; ".join(
        f"{rows.run.nunique()} of {arm}, {in_words(columns)}"
        for (_, arm, columns), rows in by_columns(runs).items()
    )
    judged = Judged(pd.DataFrame(rows, columns=COLUMNS), there or "none yet")
    if out is not None:
        page = render("own_paper.md", part=part, paper=paper, there=judged.there)
        write_text(Path(out) / "index.md", page)
        write_html(Path(out))
    return judged


def _all_read(path, tables) -> list:
    """Return the paper and the tables; ValueError has the faults of all of them."""
    found, faults = [], []
    readers = [(claims.load_own, path)]
    readers += [(partial(read_runs, study=Path(path).stem), table) for table in tables]
    for read, one in readers:
        try:
            found.append(read(one))
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    return found


def read_runs(table, study: str) -> pd.DataFrame:
    """Return a table of runs, or of a CSV file, as results of a study."""
    where = "the table of runs" if isinstance(table, pd.DataFrame) else Path(table).name
    try:
        rows = table if isinstance(table, pd.DataFrame) else pd.read_csv(table)
    except ValueError as error:
        raise ValueError(f"{where} is no table of comma-separated values: {error}") from error
    if "measure" not in rows.columns:
        rows = rows.rename(columns={"metric": "measure"})
    if missing := [name for name in OWN if name not in rows.columns]:
        there = ", ".join(map(str, rows.columns))
        raise ValueError(
            f"{where} lacks the column {', '.join(missing)}; it has {there}, and needs"
            f" {', '.join(OWN)} (perhaps episode, study, and columns of your own)"
        )
    rows = pd.DataFrame({"study": study, "episode": 0} | dict(rows.items()))
    numbers = pd.to_numeric(rows["value"], errors="coerce")
    bad = rows[~numbers.abs().lt(float("inf")) | rows[["arm", "run", "measure"]].isna().any(axis=1)]
    if len(bad):
        told = [
            f"{where}, line {line + 2}: " + ", ".join(f"{name} {row[name]}" for name in OWN)
            for line, (_, row) in zip(rows.index.get_indexer(bad.index), bad.iterrows())
        ]
        more = f"; and {len(bad) - MOST} more" if len(bad) > MOST else ""
        needed = "a line needs all four, and value a finite number: leave out runs without a result"
        raise ValueError("\n".join(told[:MOST]) + f"{more}; {needed}")
    rows = rows.assign(arm=rows["arm"].astype(str), study=rows["study"].astype(str))
    return rows.assign(value=numbers)[[*PLACE, *filling(rows), "value"]]
