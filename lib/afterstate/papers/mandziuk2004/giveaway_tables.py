"""Tables of [mandziuk2004] and comparisons of methods, made from the results of its study.

Learners of the same number have the same initial weights, seat and opponents, those of one
repetition the same opponents in the strong phase and in the test: independent are repetitions.
"""

import math

import pandas as pd

from ...files import data_directory
from ...stats import Interval, mean_interval
from . import td_search
from .giveaway_points import F22_NAMES, GROUP

UNITS = ("learners", "repetitions")  # what an interval is over; a repetition is a mean of GROUP


def last_values(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return the values at the end of an arm's trainings: one row a run, one column a metric."""
    rows = table[table.arm == arm]
    rows = rows[rows.episode == rows.episode.max()]
    return rows.pivot(index="run", columns="metric", values="value")


def statistics(study, arm: str) -> list:
    """Return weights and counts at the end of each training of an arm; None if it is missing."""
    found = (run.records.get(run.job.key) for run in study.arms.get(arm, ()))
    return [record and record["statistics"] for record in found]


def weights_of(study, arm: str) -> list:
    """Return the weights that the finished trainings of an arm have learned."""
    return [counts["weights"] for counts in statistics(study, arm) if counts]


def keep_weights(study, file: str, session, arms: dict) -> int:
    """Keep the weights of the learners of arms, name -> arm, for trainings that begin with them.

    Return how many learners are complete in all arms. session: a training of the learners' kind.
    """
    vectors = {
        name: [counts and counts["weights"] for counts in statistics(study, arm)]
        for name, arm in arms.items()
    }
    place, anew = data_directory() / file, not study.keeps_records
    return td_search.keep_learners(place, session, vectors, anew=anew)


def mean_weights(study, phases=("random", "strong")) -> pd.DataFrame:
    """Return the mean weights after each phase: LL with its 95% interval over learners, and LB."""
    columns, unknown = {}, [Interval(math.nan, math.nan, math.nan)] * len(F22_NAMES)
    for phase in phases:
        losses, both = (
            [mean_interval(one) for one in zip(*weights_of(study, f"{method}, {phase} opponents"))]
            for method in ("LL", "LB")
        )
        for name, end in (("LL", "mean"), ("low", "low"), ("high", "high")):
            columns[phase, name] = [getattr(interval, end) for interval in losses or unknown]
        columns[phase, "LB"] = [interval.mean for interval in both or unknown]
    return pd.DataFrame(columns, index=F22_NAMES)


def phase_table(table: pd.DataFrame, phase: str, kind: str, methods, printed: dict) -> pd.DataFrame:
    """Return one part of Table 1 from a study's table, one row a metric.

    `kind` is "training_points" or "test_points", `printed` is (arm, metric) -> what the paper
    prints. Each method has the columns paper, mean, low and high (95% t interval over learners), sd
    (between learners) and learners.

    Source: [mandziuk2004] Table 1.
    """
    rows = {}
    for method in methods:
        arm = f"{method}, {phase} opponents"
        values = last_values(table, arm)
        for metric in [name for name in values if name.startswith(f"{kind}:")]:
            measured = values[metric].dropna()  # a run may have been trained and not yet tested
            line = rows.setdefault(metric.partition(":")[2], {})
            line[method, "paper"] = printed.get((arm, metric), "-")
            for name, value in zip(("mean", "low", "high"), mean_interval(measured)):
                line[method, name] = value
            line[method, "sd"], line[method, "learners"] = measured.std(), len(measured)
    order = sorted(rows, key=lambda name: int(name.removeprefix("after-").partition("-")[0]))
    made = pd.DataFrame.from_dict({name: rows[name] for name in order}, orient="index")
    made.columns = pd.MultiIndex.from_tuples(made.columns, names=["", ""]) if rows else made.columns
    return made


def paired(table: pd.DataFrame, arm: str, other: str, metrics, unit: str = "learners") -> pd.Series:
    """Return arm minus other by number of the `unit`; of several metrics their mean counts."""
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    found = [last_values(table, name).reindex(columns=metrics) for name in (arm, other)]
    mine, others = (values.mean(axis=1, skipna=False) for values in found)
    difference = (mine - others).dropna()
    if unit == "learners":
        return difference
    groups = difference.groupby(difference.index // GROUP)
    return groups.mean()[groups.count() == GROUP]


def comparison(table: pd.DataFrame, pairs: dict, units=UNITS) -> pd.DataFrame:
    """Return differences with 95% t intervals: comparison, unit, values, mean, low, high.

    `pairs` are name -> (arm, other, metrics); a comparison without results has no row.
    """
    rows = []
    for name, (arm, other, metrics) in pairs.items():
        for unit in units:
            values = paired(table, arm, other, metrics, unit)
            if len(values):
                rows.append((name, unit, len(values), *mean_interval(values)))
    return pd.DataFrame(rows, columns=["comparison", "unit", "values", "mean", "low", "high"])


def judgement(row) -> str:
    """Say in words whether a difference is above 0."""
    if not row["low"] <= row["high"]:
        return "undecided (one value)"
    if row["low"] > 0.0:
        return "holds"
    return "does not hold" if row["high"] < 0.0 else "undecided"


def histories(table: pd.DataFrame, panels: dict) -> pd.DataFrame:
    """Return histories of all learners and of the one with the most points in its training.

    `panels` are title -> arm. Low and high are the tenth and ninetieth percentile of the learners,
    best is the value of the best learner and number its number.

    Source: [mandziuk2004] Fig. 1.
    """
    columns, made = "panel arm episode learners mean low high best number".split(), []
    for title, arm in panels.items():
        rows = table[(table.arm == arm) & (table.metric == "points")]
        if rows.empty:
            continue
        wide = rows.pivot(index="episode", columns="run", values="value")
        best, found = wide.mean().idxmax(), {"learners": wide.count(axis=1)}
        found |= {"mean": wide.mean(axis=1), "low": wide.quantile(0.1, axis=1)}
        found |= {"high": wide.quantile(0.9, axis=1), "best": wide[best]}
        made.append(pd.DataFrame(found).reset_index().assign(panel=title, arm=arm, number=best))
    return pd.concat(made)[columns] if made else pd.DataFrame(columns=columns)


def summary(table: pd.DataFrame, arms, metrics):
    """Return mean, spread and number of learners of some metrics, as a page shows them."""
    rows = {arm: last_values(table, arm).reindex(columns=metrics) for arm in arms}
    found = {
        (metric, what): {arm: getattr(values[metric], what)() for arm, values in rows.items()}
        for metric in metrics
        for what in ("mean", "std", "count")
    }
    counts = [column for column in found if column[1] == "count"]
    look = pd.DataFrame(found).style.format(precision=1, na_rep="-")
    return look.format("{:.0f}", subset=counts)


def played_without(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return what an arm's learners lose when one of their weights is set to 0, as `comparison`."""
    wide, without = last_values(table, arm), {f"without {name}": name for name in F22_NAMES}
    metrics = {"all": "played_with_all"}
    metrics |= {name: f"played_without:{k}" for k, name in enumerate(without, 1)}
    parts = [
        wide[metric].rename("value").reset_index().assign(arm=name, metric="points", episode=0)
        for name, metric in metrics.items()
        if metric in wide
    ]
    if not parts:
        return pd.DataFrame()
    pairs = {name: (name, "all", "points") for name in without}
    return comparison(pd.concat(parts), pairs, ("learners",))
