"""The claims of a paper as its pages show them: tables as printed, groups of values, figures."""

from collections import Counter
from dataclasses import dataclass

from ..papers.verdicts import NOT_RUN
from .labels import VERDICTS
from .templating import anchor


@dataclass(frozen=True)
class Line:
    """A line of a printed table: its label and a row of the report, or None, for each column."""

    label: str
    cells: tuple


@dataclass(frozen=True)
class PrintedTable:
    """A table laid out as in the paper."""

    name: str
    caption: str
    columns: tuple
    lines: tuple
    rows: tuple


@dataclass(frozen=True)
class Group:
    """Values that are shown together, with their number by verdict."""

    title: str
    rows: tuple

    @property
    def verdicts(self):
        """Number of values by verdict, in the order of the labels."""
        return count(row.verdict for row in self.rows)


def count(verdicts, labels=VERDICTS):
    """Return the number of each verdict, in the fixed order of the labels."""
    numbers = Counter(verdicts)
    return {label: numbers[label] for label in labels}


def value_anchor(claim):
    """Return the anchor of the row of a claim on the page of its paper."""
    return "v-" + anchor(claim.id.split("/", 1)[1])


def short(row):
    """Return our value without its interval, for a cell of a table; the verdict if there is none.

    >>> short(type("Row", (), {"ours": "50.2% [49, 51] (5 runs)", "verdict": "reproduced"}))
    '50.2%'
    """
    return row.ours.split(" [")[0].split(" (")[0] or (
        "not run" if row.verdict == NOT_RUN else row.verdict
    )


def tables(part):
    """Return the tables of a paper with their rows and columns in the printed order."""
    names = dict.fromkeys(row.claim.place["table"] for row in part.rows if _in_table(row))
    return [_table(name, part) for name in names]


def _in_table(row):
    return "table" in row.claim.place


def _table(name, part):
    rows = [row for row in part.rows if row.claim.place.get("table") == name]
    columns = tuple(dict.fromkeys(row.claim.place["column"] for row in rows))
    cells = {(row.claim.place["row"], row.claim.place["column"]): row for row in rows}
    lines = tuple(
        Line(label, tuple(cells.get((label, column)) for column in columns))
        for label in dict.fromkeys(row.claim.place["row"] for row in rows)
    )
    return PrintedTable(name, part.paper.tables.get(name, ""), columns, lines, tuple(rows))


def groups(part):
    """Return all values of a paper in groups: one a table, then figures and text."""
    found = [
        Group(f"Table {table.name}" + (f": {table.caption}" if table.caption else ""), table.rows)
        for table in tables(part)
    ]
    for kind, title in (("figure", "Values stated with figures"), ("section", "Values in text")):
        rows = tuple(row for row in part.rows if kind in row.claim.place)
        if rows:
            found.append(Group(title, rows))
    return found


def figures(part):
    """Return [(figure of the paper, saved figure)] in the paper's order, and the other figures."""
    by_name = {figure.name: figure for figure in part.figures}
    ordered = [
        (entry["figure"], by_name[entry["shows"]])
        for entry in part.paper.figures
        if entry["shows"] in by_name
    ]
    taken = {figure.name for _, figure in ordered}
    return ordered, [figure for figure in part.figures if figure.name not in taken]
