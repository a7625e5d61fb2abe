"""Tables and figures of [mandziuk2004] and comparisons of methods, made from a study's results.

Learners of the same number have the same initial weights, seat and opponents, those of one
repetition the same opponents in the strong phase and in the test: independent are repetitions.
"""

import math

import pandas as pd

from ...files import data_directory, read_npz
from ...reports.figures import in_our_style, interval_bar, legend, name_rows
from ...reports.picture import DARK, GREY, RED, SIZE, Picture
from ...stats import Interval, mean_interval
from .linear import F22_NAMES
from .td_search import GROUP, write_learners

UNITS = ("learners", "repetitions")  # what an interval is over; a repetition is a mean of GROUP
CLEAR = "#0077bb"  # of an interval without 0


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

    Only whole groups that are complete in all arms; what the file holds stays, if the study keeps
    records. Return how many learners of each arm it has. session: a training of their kind.
    """
    vectors = {
        name: [counts and counts["weights"] for counts in statistics(study, arm)]
        for name, arm in arms.items()
    }
    ends = [[*rows, None].index(None) for rows in vectors.values()]
    finished, path = min(ends) // GROUP * GROUP, data_directory() / file
    there = read_npz(path)[1] if study.keeps_records and path.exists() else {}
    known = min(len(there.get(name, ())) for name in vectors)
    if finished > known:
        rows = {m: [*there.get(m, ())[:known], *w[known:finished]] for m, w in vectors.items()}
        write_learners(path, session, rows)
    return max(finished, known)


def mean_weights(study) -> pd.DataFrame:
    """Return the mean weights after each phase: LL with its 95% interval over learners, and LB."""
    columns, unknown = {}, [(math.nan,) * 3] * len(F22_NAMES)
    for phase in ("random", "strong"):
        for method, names in (("LL", ("LL", "low", "high")), ("LB", ("LB",))):
            vectors = weights_of(study, f"{method}, {phase} opponents")
            ends = zip(*([mean_interval(one) for one in zip(*vectors)] or unknown))
            columns |= {(phase, name): list(values) for name, values in zip(names, ends)}
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
        for metric, values in last_values(table, arm).filter(like=f"{kind}:").items():
            measured = values.dropna()  # a run may have been trained and not yet tested
            found = {"paper": printed.get((arm, metric), "-")}
            found |= mean_interval(measured)._asdict()
            found |= {"sd": measured.std(), "learners": len(measured)}
            row = rows.setdefault(metric.partition(":")[2], {})
            row |= {(method, name): value for name, value in found.items()}
    order = sorted(rows, key=lambda name: int(name.removeprefix("after-").partition("-")[0]))
    made = pd.DataFrame.from_dict({name: rows[name] for name in order}, orient="index")
    made.columns = pd.MultiIndex.from_tuples(made.columns, names=["", ""]) if rows else made.columns
    return made


def paired(table: pd.DataFrame, arm: str, other: str, metrics, unit: str = "learners") -> pd.Series:
    """Return arm minus other by number of the `unit`; of several metrics their mean counts."""
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    mine, others = (
        last_values(table, name).reindex(columns=metrics).mean(axis=1, skipna=False)
        for name in (arm, other)
    )
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
    for name, pair in pairs.items():
        for unit in units:
            values = paired(table, *pair, unit)
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
    look = pd.DataFrame(found).style.format(precision=1, na_rep="-")
    return look.format("{:.0f}", subset=[(metric, "count") for metric in metrics])


def played_without(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return what an arm's learners lose when one of their weights is set to 0, as `comparison`."""
    wide, rows = last_values(table, arm), []
    for k, name in enumerate(F22_NAMES, 1):
        if f"played_without:{k}" in wide:
            lost = (wide[f"played_without:{k}"] - wide["played_with_all"]).dropna()
            rows.append((f"without {name}", "learners", len(lost), *mean_interval(lost)))
    return pd.DataFrame(rows, columns=["comparison", "unit", "values", *Interval._fields])


@in_our_style
def draw_differences(data, label, title=""):
    """Draw differences of `comparison` with their intervals; those without 0 are blue."""
    figure = Picture(figsize=(SIZE[0], 1.2 + 0.32 * len(data)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(0.0, color=DARK, linewidth=1.0)
    for y, row in enumerate(data.itertuples()):
        colour = CLEAR if row.low > 0.0 or row.high < 0.0 else GREY
        interval_bar(axes, row.mean, row.low, row.high, y, fmt="o", color=colour, capsize=3)
    names = zip(data["comparison"], data["values"], strict=True)
    name_rows(axes, [f"{name} ({number})" for name, number in names])
    axes.set(xlabel=label, title=title)
    return figure, data


@in_our_style
def draw_histories(data, label, title=""):
    """Draw one panel for each of the `histories`: mean and range of all learners, the best one.

    Source: [mandziuk2004] Fig. 1.
    """
    names = list(dict.fromkeys(data["panel"]))
    rows = max(1, -(-len(names) // 2))
    figure = Picture(figsize=(SIZE[0] * 1.25, 0.8 + 2.9 * rows), layout="constrained")
    grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    for axes, name in zip(grid.flat, names):
        own = data[data["panel"] == name]
        learners, best = int(own["learners"].max()), int(own["number"].iloc[0])
        span = axes.fill_between(own["episode"], own["low"], own["high"], color=GREY, alpha=0.35)
        span.set(linewidth=0, label="8 of 10 learners")
        axes.plot(own["episode"], own["best"], color=RED, linewidth=0.7, label="best learner")
        axes.plot(own["episode"], own["mean"], color=DARK, label="mean of all learners")
        axes.set_title(f"{name}: {learners} learners, best: no. {best + 1}", fontsize=10.5)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("training games")
    figure.supylabel(label, fontsize=11)
    figure.suptitle(title, fontsize=12)
    if names:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        legend(figure, 3, handles=handles, labels=labels)
    return figure, data
