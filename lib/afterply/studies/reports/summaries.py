"""Tables of means over runs, and rows for the figures of studies with several opponents or logs."""

from html import escape

import pandas as pd

from ...files import data_directory, read_yaml
from ...stats import mean_interval
from ..papers.tests_of_means import welch
from ..papers.verdicts import MIN_RUNS
from ..results import LIKE, filled, in_words, select
from .figures import CEILING, INTERVAL, interval_of

PANEL = ["row", "series", *INTERVAL]  # of `figures.panels`
MOST_ROWS = 15  # of a table of values that stands unfolded


def finals(table):
    """Return the rows of the last episode of each arm.

    An own arm that has not come as far as the recorded arm that it changes has none. What two
    minutes of training reach must not stand beside what a whole training has reached.
    """
    last_episode = table.groupby("arm")["episode"].max()
    is_last = table["episode"] == table["arm"].map(last_episode)
    if LIKE in table:
        is_recorded = table[LIKE] == ""
        is_as_far = table["arm"].map(last_episode) >= table[LIKE].map(last_episode)
        is_last &= is_recorded | is_as_far
    return table[is_last]


def last_values(table, arm, **columns):
    """Return the last values of the runs of an arm, by number: float64 [runs].

    columns: as for :func:`afterply.studies.results.select`.
    """
    rows = finals(select(table[table["arm"] == arm], **columns))
    return rows.sort_values("run")["value"].to_numpy()


def by_run(table, arm):
    """Return the values at the end of an arm's trainings: a row a run, a column for each result.

    The columns are the words of :func:`afterply.studies.results.in_words`.
    """
    rows = finals(table[table["arm"] == arm])
    names = filled(rows)
    words = [in_words(zip(names, columns)) for columns in rows[names].itertuples(index=False)]
    return rows.assign(result=words).pivot(index="run", columns="result", values="value")


def intervals(groups, columns):
    """Return (labels, number, mean, 95% interval) of each (label, ..., values) that has values."""
    rows = []
    for *labels, values in groups:
        if len(values):
            rows.append((*labels, len(values), *mean_interval(values)))
    return pd.DataFrame(rows, columns=columns)


def effects(table, pairs, margin, unbounded=()):
    """Return what a part of a method changes: the difference with and without it, in words, too.

    pairs: (row, column) -> arm with it, arm without, what is measured as columns, and the value
    that counts as 100: the best that can be had, but for rows that are `unbounded`. All intervals
    hold together with probability 95% (Welch, Bonferroni over all pairs). The first of these that
    is so is the word:

    *both at the ceiling*: the best lies within the margin of both means, so that there is no room
    for a larger difference; *helps* and *harms*: the interval lies on one side of 0, however near;
    *no difference*: it lies within the margin on either side of 0; *open*: it is wider.
    """
    tail = 0.05 / 2 / max(1, len(pairs))  # the probability beyond each end of an interval
    rows = []
    for (row, column), (arm_with, arm_without, columns, best) in pairs.items():
        values_with = 100 / best * last_values(table, arm_with, **columns)
        values_without = 100 / best * last_values(table, arm_without, **columns)
        if len(values_with) < MIN_RUNS or len(values_without) < MIN_RUNS:
            continue
        test = welch(values_with, values_without)
        low, high = test.interval((tail, tail))
        word = _word_of_effect(low, high, margin)
        if row not in unbounded:
            distances = 100 - values_with.mean(), 100 - values_without.mean()
            if all(abs(distance) < margin for distance in distances):
                word = CEILING
        num_runs = len(values_with), len(values_without)
        rows.append((row, column, *num_runs, test.effect, low, high, word))
    names = ["row", "column", "runs with", "runs without", "effect", "low", "high", "verdict"]
    return pd.DataFrame(rows, columns=names)


def _word_of_effect(low, high, margin):
    """Return what an interval of a difference says."""
    if low > 0:
        return "helps"
    if high < 0:
        return "harms"
    if -margin < low and high < margin:
        return "no difference"
    return "open"


def cells_of(effects) -> dict:
    """Return what sentences may rest on: "row, column" -> verdict, effect, low, high."""
    return {
        f"{cell.row}, {cell.column}": (cell.verdict, cell.effect, cell.low, cell.high)
        for cell in effects.itertuples()
    }


def means(rows, names=None, by=("arm",), unit="runs", mean="mean"):
    """Return the mean over runs of each group of rows, with its 95% interval.

    Groups are told by the columns `by`, and by all columns that are filled; or by the labels of
    `names`, label -> columns as for `afterply.studies.results.select`, which leave out others.
    """
    if names is None:
        keys = [*by, *filled(rows)]
    else:
        keys = [*by, "result"]
        rows = _labelled(rows, names)
    lines = []
    for place, group in rows.groupby(keys, sort=False, dropna=False):
        interval = interval_of(group["measure"].iloc[0], group["value"])
        lines.append((*place, len(group), *interval))
    return pd.DataFrame(lines, columns=[*keys, unit, mean, "95% low", "95% high"])


def _labelled(rows, names):
    """Return the rows that each label selects, with the label in the column ``result``."""
    if not names:
        return rows[:0].assign(result="")
    selections = [select(rows, **columns).assign(result=label) for label, columns in names.items()]
    return pd.concat(selections)


def shown(table, precision=1, thousands=None, na_rep="–"):
    """Return a table as a page shows it: without numbers of rows."""
    plain_table = table.style.hide(axis="index")
    return plain_table.format(precision=precision, thousands=thousands, na_rep=na_rep)


class Folded:
    """Tables behind a line that says what is in them, in a notebook and on its page.

    title: the line. tables: DataFrames, as they are or styled.
    """

    def __init__(self, title, *tables):
        self.title = title
        self.tables = tables

    def __repr__(self):
        return f"<{self.title}>"

    def _repr_html_(self):
        shown_tables = "".join(table._repr_html_() for table in self.tables)
        return f"<details><summary>{escape(self.title)}</summary>{shown_tables}</details>"


def side_by_side(found, precision=1):
    """Return a table of :func:`means` as a page shows it, a row a result and a column an arm.

    A cell has the mean and its interval, unless all runs are equal or there is but one.
    """
    unit = found.columns[2]
    cells = {}
    for (arm, result), row in found.set_index(["arm", "result"]).iterrows():
        mean, low, high = (f"{number:,.{precision}f}" for number in row.iloc[1:])
        is_exact = row.isna().any() or low == high
        cells.setdefault(arm, {})[result] = mean if is_exact else f"{mean} [{low}, {high}]"
    table = pd.DataFrame(cells).reindex(list(dict.fromkeys(found["result"])))
    numbers = found.groupby("arm")[unit].agg(["min", "max"])
    heads = {}
    for arm, (least, most) in zip(numbers.index, numbers.itertuples(index=False)):
        number = f"{least}" if least == most else f"{least} to {most}"
        heads[arm] = f"{arm} ({number} {unit})"
    return table.rename(columns=heads).style.format(na_rep="–")


def verdict_table(verdicts, *more):
    """Return published values beside ours as a page shows them, without times; more: columns.

    A long table is folded behind the number of its values and of each verdict.
    """
    columns = [*more, "place", "printed", "ours", "verdict", "explanation"]
    judged = verdicts[verdicts["unit"] != "time"]
    table = judged[columns].style.hide(axis="index")
    if len(judged) <= MOST_ROWS:
        return table
    counts = [f"{number} {verdict}" for verdict, number in judged["verdict"].value_counts().items()]
    return Folded(f"All {len(judged)} values: {', '.join(counts)}", table)


def logged(paper):
    """Return what the result files of a paper's original software say, by game."""
    return read_yaml(data_directory() / "logs" / f"{paper}.yaml")


def with_logs(rows, logs, x="episode"):
    """Add curves that are printed or logged, {arm: {x: value}}, to the rows of a figure."""
    points = []
    for arm, curve in logs.items():
        points += [(arm, 0, place, value) for place, value in curve.items()]
    logged_rows = pd.DataFrame(points, columns=["arm", "run", x, "value"])
    # An empty table would change the types of the columns of the other.
    tables = [table for table in (rows, logged_rows) if len(table)]
    return pd.concat(tables or [rows], ignore_index=True)
