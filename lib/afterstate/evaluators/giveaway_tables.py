"""Tables of [mandziuk2004] and comparisons of methods, made from the results of its study."""

import pandas as pd

from ..stats import mean_interval
from .giveaway import GROUP

UNITS = {"learners": 1, "repetitions": GROUP}  # how many learners make one value


def arm_of(method: str, phase: str) -> str:
    """Return the name of the arm of a method in a phase, "random" or "strong"."""
    return f"{method}, {phase} opponents"


def last_values(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return the values at the end of an arm's trainings: one row a run, one column a metric."""
    rows = table[table.arm == arm]
    rows = rows[rows.episode == rows.episode.max()]
    return rows.pivot(index="run", columns="metric", values="value")


def phase_table(table: pd.DataFrame, phase: str, kind: str, methods, printed: dict) -> pd.DataFrame:
    """Return one part of Table 1: the paper's value, our mean with its interval, and the spread.

    Parameters
    ----------
    table : DataFrame of a study
    phase : {"random", "strong"}
    kind : {"training_points", "test_points"}
    methods : sequence of str
    printed : dict (arm, metric) -> str
        What the paper prints.

    Returns
    -------
    DataFrame
        One row a metric. For each method: "paper", "mean", "low" and "high" (95% t interval over
        learners), "sd" (standard deviation between learners) and "learners".

    Source: [mandziuk2004] Table 1.
    """
    found, rows = {method: last_values(table, arm_of(method, phase)) for method in methods}, {}
    for method, values in found.items():
        for metric in [name for name in values if name.startswith(f"{kind}:")]:
            measured = values[metric].dropna()  # a run may have been trained and not yet tested
            mean, low, high = mean_interval(measured)
            cells = {
                "paper": printed.get((arm_of(method, phase), metric), "-"),
                "mean": mean,
                "low": low,
                "high": high,
                "sd": measured.std(),
                "learners": len(measured),
            }
            line = rows.setdefault(metric.partition(":")[2], {})
            line |= {(method, name): cell for name, cell in cells.items()}
    order = sorted(rows, key=lambda name: int(name.removeprefix("after-").partition("-")[0]))
    made = pd.DataFrame.from_dict({name: rows[name] for name in order}, orient="index")
    made.columns = pd.MultiIndex.from_tuples(made.columns, names=["", ""]) if rows else made.columns
    return made


def paired(table: pd.DataFrame, arm: str, other: str, metrics, unit: str = "learners"):
    """Return arm minus other, learner by learner or repetition by repetition.

    Learners of the same number have the same initial weights, seat and opponents. Those of one
    repetition share more: in the strong phase all their opponents, and those of the test. So the
    repetitions are what is independent; a repetition that is not complete in both arms is left out.

    Parameters
    ----------
    table : DataFrame of a study
    arm, other : str
    metrics : str or list of str
        With several, their mean counts.
    unit : {"learners", "repetitions"}

    Returns
    -------
    Series
        By number of the learner or of the repetition; empty without results.
    """
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    found = [last_values(table, name).reindex(columns=metrics) for name in (arm, other)]
    sides = [values.mean(axis=1, skipna=False) for values in found]
    difference = (sides[0] - sides[1]).dropna()
    if unit == "learners":
        return difference
    groups = difference.groupby(difference.index // GROUP)
    return groups.mean()[groups.count() == GROUP]


def comparison(table: pd.DataFrame, pairs: dict, units=tuple(UNITS)) -> pd.DataFrame:
    """Return differences with 95% t intervals.

    Parameters
    ----------
    table : DataFrame of a study
    pairs : dict name -> (arm, other, metrics)
        As :func:`paired` takes them.
    units : sequence of str
        What the intervals are over.

    Returns
    -------
    DataFrame
        comparison, unit, values, mean, low, high; a comparison without results has no row, one
        value no interval.
    """
    rows = []
    for name, (arm, other, metrics) in pairs.items():
        for unit in units:
            values = paired(table, arm, other, metrics, unit)
            if len(values):
                rows.append((name, unit, len(values), *mean_interval(values)))
    return pd.DataFrame(rows, columns=["comparison", "unit", "values", "mean", "low", "high"])


def judgement(row) -> str:
    """Say in words whether a difference is above 0: "holds", "does not hold" or "undecided"."""
    if not row["low"] <= row["high"]:
        return "undecided (one value)"
    if row["low"] > 0.0:
        return "holds"
    return "does not hold" if row["high"] < 0.0 else "undecided"


def histories(table: pd.DataFrame, panels: dict, metric: str = "points") -> pd.DataFrame:
    """Return the data of Fig. 1: histories of the best learner and of all.

    The best learner is the one with the most points over all of its training games.

    Parameters
    ----------
    table : DataFrame of a study
    panels : dict title -> arm
    metric : str

    Returns
    -------
    DataFrame
        panel, arm, episode, learners, mean, low, high (tenth and ninetieth percentile of the
        learners), best (value of the best learner), number (its number).

    Source: [mandziuk2004] Fig. 1.
    """
    made = []
    for title, arm in panels.items():
        rows = table[(table.arm == arm) & (table.metric == metric)]
        if rows.empty:
            continue
        wide = rows.pivot(index="episode", columns="run", values="value")
        best = wide.mean().idxmax()
        told = {
            "learners": wide.count(axis=1),
            "mean": wide.mean(axis=1),
            "low": wide.quantile(0.1, axis=1),
            "high": wide.quantile(0.9, axis=1),
            "best": wide[best],
        }
        made.append(pd.DataFrame(told).reset_index().assign(panel=title, arm=arm, number=best))
    columns = "panel arm episode learners mean low high best number".split()
    return pd.concat(made)[columns] if made else pd.DataFrame(columns=columns)
