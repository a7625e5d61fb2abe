"""Tables of means over runs, and rows for the figures of studies with several opponents or logs."""

import pandas as pd

from ..files import data_directory, read_yaml
from ..papers.statements import Runs, tried
from ..papers.verdicts import MIN_RUNS
from ..stats import mean_interval
from .figures import INTERVAL, interval_of

PANEL = ["row", "series", *INTERVAL]  # of `figures.panels`


def finals(table):
    """Return the rows of the last episode of each arm."""
    return table[table["episode"] == table.groupby("arm")["episode"].transform("max")]


def last_values(table, arm, metric):
    """Return the last values of a metric in the runs of an arm, by number: float64 [runs]."""
    mine = finals(table[(table["arm"] == arm) & (table["metric"] == metric)])
    return mine.sort_values("run")["value"].to_numpy()


def by_run(table, arm):
    """Return the values at the end of an arm's trainings: one row a run, one column a metric."""
    rows = finals(table[table["arm"] == arm])
    return rows.pivot(index="run", columns="metric", values="value")


def intervals(groups, columns):
    """Return (labels, number, mean, 95% interval) of each (label, ..., values) that has values."""
    rows = [(*of, len(values), *mean_interval(values)) for *of, values in groups if len(values)]
    return pd.DataFrame(rows, columns=columns)


def effects(table, pairs, margin):
    """Return what a part of a method changes: the difference with and without it, in words, too.

    pairs: (row, column) -> arm with it, arm without, metric, its value that counts as 100. All
    intervals hold together with probability 95% (Welch, Bonferroni over all pairs). *No difference*
    is an interval within the margin on either side of 0; else *helps* and *harms* are intervals on
    one side of 0, and what is left is *open*.
    """
    found, beyond = [], 0.05 / 2 / max(1, len(pairs))  # an end of an interval leaves out so much
    for where, (*arms, metric, best) in pairs.items():
        values = [100 / best * last_values(table, arm, metric) for arm in arms]
        if min(map(len, values)) < MIN_RUNS:
            continue
        part = tried({"high": {}, "low": {}}, [Runs(pd.Series(own)) for own in values])
        low, high = part.interval((beyond, beyond))
        if -margin < low and high < margin:
            word = "no difference"
        else:
            word = "helps" if low > 0 else "harms" if high < 0 else "open"
        found.append((*where, *map(len, values), part.seen.effect, low, high, word))
    names = ["row", "column", "runs with", "runs without", "effect", "low", "high", "verdict"]
    return pd.DataFrame(found, columns=names)


def means(rows, by=("arm", "metric"), names=None, unit="runs", mean="mean"):
    """Return the mean over runs of each group of rows, with its 95% interval."""
    # names: metric -> its name in the table, or a list of metrics; others are left out
    rows = rows[rows["metric"].isin(list(names))] if names else rows
    found = [
        (*where, len(group), *interval_of(group["metric"].iloc[0], group["value"]))
        for where, group in rows.groupby(list(by), sort=False)
    ]
    table = pd.DataFrame(found, columns=[*by, unit, mean, "95% low", "95% high"])
    return table.replace({"metric": dict(names)}) if isinstance(names, dict) else table


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


def by_opponent(rows):
    """Return the rows of `rate:opponent` metrics as lines "arm vs opponent" of one figure."""
    opponents = rows["metric"].str.split(":", n=1).str[1]
    return rows.assign(arm=rows["arm"] + " vs " + opponents, metric="win rate")


def by_number(rows, metric):
    """Return rows with the number at the end of their metric, such as a level, as episode."""
    number = rows["metric"].str.extract(r"(\d+)$", expand=False)
    return rows.assign(episode=number.astype(int), metric=metric)


def with_logs(rows, logs, metric):
    """Add curves that are printed or logged, {arm: {episode: value}}, to the rows of a figure."""
    points = [(arm, 0, metric, *point) for arm, curve in logs.items() for point in curve.items()]
    logged = pd.DataFrame(points, columns=["arm", "run", "metric", "episode", "value"])
    return pd.concat([part for part in (rows, logged) if len(part)] or [rows], ignore_index=True)
