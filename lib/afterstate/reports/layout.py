"""The claims of a paper as its pages show them: tables as printed, groups of values, figures."""

from collections import Counter
from dataclasses import dataclass

from ..papers.verdicts import NOT_RUN
from .labels import VERDICTS
from .templating import anchor, bare


@dataclass(frozen=True)
class Line:
    """A line of a printed table: its labels and a row of the report, or None, for each column."""

    labels: tuple
    cells: tuple


@dataclass(frozen=True)
class PrintedTable:
    """A table laid out as in the paper."""

    name: str
    caption: str
    heads: tuple
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
    return bare(row.ours) or ("not run" if row.verdict == NOT_RUN else row.verdict)


def tables(part):
    """Return the tables of a paper with their rows and columns in the printed order."""
    printed = part.paper.printed_tables
    return [_table(name, table, part.rows) for name, table in printed.items()]


def _table(name, printed, rows):
    rows = [row for row in rows if row.claim.place.get("table") == name]
    cells = {(row.claim.place["row"], row.claim.place["column"]): row for row in rows}
    lines = tuple(
        Line(tuple(labels), tuple(cells.get((row, column)) for column in printed.columns))
        for row, labels in printed.rows.items()
    )
    rows = tuple(row for line in lines for row in line.cells if row)
    return PrintedTable(name, printed.caption, printed.heads, printed.columns, lines, rows)


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
