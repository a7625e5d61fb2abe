"""Tables of means over runs, and rows for the figures of studies with several opponents or logs."""

import pandas as pd

from ...files import data_directory, read_yaml
from ...stats import mean_interval
from ..papers.tests_of_means import welch
from ..papers.verdicts import MIN_RUNS
from ..results import LIKE, filled, in_words, select
from .figures import INTERVAL, interval_of

PANEL = ["row", "series", *INTERVAL]  # of `figures.panels`


def finals(table):
    """Return the rows of the last episode of each arm; none of an own arm that is not as far yet.

    What two minutes of training reach must not stand beside what a whole training has reached.
    """
    ends = table.groupby("arm")["episode"].max()
    at_end = table["episode"] == table["arm"].map(ends)
    if LIKE in table:
        at_end &= (table[LIKE] == "") | (table["arm"].map(ends) >= table[LIKE].map(ends))
    return table[at_end]


def last_values(table, arm, **columns):
    """Return the last values of the runs of an arm, by number: float64 [runs].

    columns: as for :func:`afterply.studies.results.select`.
    """
    mine = finals(select(table[table["arm"] == arm], **columns))
    return mine.sort_values("run")["value"].to_numpy()


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
    rows = [(*of, len(values), *mean_interval(values)) for *of, values in groups if len(values)]
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
    found, beyond = [], 0.05 / 2 / max(1, len(pairs))  # an end of an interval leaves out so much
    for where, (*arms, columns, best) in pairs.items():
        values = [100 / best * last_values(table, arm, **columns) for arm in arms]
        if min(map(len, values)) < MIN_RUNS:
            continue
        test = welch(*values)
        low, high = test.interval((beyond, beyond))
        if where[0] not in unbounded and all(abs(100 - own.mean()) < margin for own in values):
            word = "both at the ceiling"
        elif low > 0 or high < 0:
            word = "helps" if low > 0 else "harms"
        else:
            word = "no difference" if -margin < low and high < margin else "open"
        found.append((*where, *map(len, values), test.effect, low, high, word))
    names = ["row", "column", "runs with", "runs without", "effect", "low", "high", "verdict"]
    return pd.DataFrame(found, columns=names)


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
    groups = [*by, *filled(rows)] if names is None else [*by, "result"]
    if names is not None:
        chosen = [select(rows, **columns).assign(result=label) for label, columns in names.items()]
        rows = pd.concat(chosen or [rows[:0].assign(result="")])
    found = [
        (*where, len(group), *interval_of(group["measure"].iloc[0], group["value"]))
        for where, group in rows.groupby(groups, sort=False, dropna=False)
    ]
    return pd.DataFrame(found, columns=[*groups, unit, mean, "95% low", "95% high"])


def shown(table, precision=1, thousands=None, na_rep="–"):
    """Return a table as a page shows it: without numbers of rows."""
    look = {"precision": precision, "thousands": thousands, "na_rep": na_rep}
    return table.style.hide(axis="index").format(**look)


def verdict_table(verdicts, *more):
    """Return published values beside ours as a page shows them, without times; more: columns."""
    columns = [*more, "place", "printed", "ours", "verdict", "explanation"]
    return verdicts.loc[verdicts["unit"] != "time", columns].style.hide(axis="index")


def logged(paper):
    """Return what the result files of a paper's original software say, by game."""
    return read_yaml(data_directory() / "logs" / f"{paper}.yaml")


def with_logs(rows, logs, x="episode"):
    """Add curves that are printed or logged, {arm: {x: value}}, to the rows of a figure."""
    points = [(arm, 0, *point) for arm, curve in logs.items() for point in curve.items()]
    logged = pd.DataFrame(points, columns=["arm", "run", x, "value"])
    return pd.concat([part for part in (rows, logged) if len(part)] or [rows], ignore_index=True)
