"""Figures of runs and of claims: every run as a dot; published values beside ours with intervals.

As in :mod:`afterstate.reports.figures` every function returns ``(figure, data)``.
"""

import re

import matplotlib
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..papers.verdicts import REPRODUCED
from ..stats import Interval, mean_interval
from .labels import DARK, VERDICTS
from .picture import SETTINGS, SIZE, Picture

BAND = "#d9d9d9"  # of the margin
# metrics in percent, with a player before them or an opponent behind, and games of a hundred
RATES = re.compile(
    r"(^| )\w+_rate(_(second|first_only|won))?(:| |$)|^early win rate$"
    r"|^(active|touched)_weights$|:(wins|ties|losses)$"
)


def interval_of(metric, values) -> Interval:
    """Return the mean of a metric over runs and its 95% interval, within what is possible.

    The t interval of a few rates can leave 0 to 100%, where no rate lies: it ends there, as in the
    tables of verdicts. Other metrics have the interval of :func:`afterstate.stats.mean_interval`.

    Examples
    --------
    >>> interval_of("Wrapped-100 win_rate:Bench", [90.0, 100.0, 100.0]).high
    100.0
    >>> round(interval_of("score:Bench", [90.0, 100.0, 100.0]).high, 1)
    111.0
    """
    mean, low, high = mean_interval(values)
    if RATES.search(metric) and 0.0 <= mean <= 100.0:
        low, high = max(low, 0.0), min(high, 100.0)
    return Interval(mean, low, high)


def strip(groups, label, best=None, title=""):
    """Draw every run as a dot, and the mean of each group with its 95% interval.

    Parameters
    ----------
    groups : dict
        Name -> sequence of float, one a run.
    label : str
        Of the x axis.
    best : float, optional
        The best achievable value, drawn as a line.
    title : str

    Returns
    -------
    (Picture, DataFrame)
        group, run, value, mean, low, high.

    Raises
    ------
    ValueError
        If there is no value at all.
    """
    import seaborn  # here, because it loads pyplot

    rows = [
        (name, run, float(value), *mean_interval(list(values)))
        for name, values in groups.items()
        for run, value in enumerate(values)
    ]
    if not rows:
        raise ValueError(f"the groups {list(groups)} hold no values; run the study first")
    data = pd.DataFrame(rows, columns=["group", "run", "value", "mean", "low", "high"])
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=(SIZE[0], 0.9 + 0.8 * len(groups)), layout="constrained")
        axes = figure.add_subplot()
        seaborn.swarmplot(
            data,
            x="value",
            y="group",
            hue="group",
            palette=["#5c5c5c", "#cc3311", "#0077bb", "#009988", "#aa3377"][: len(groups)],
            size=7,
            warn_thresh=1,  # equal runs cover each other; their mean says where they are
            ax=axes,
        )
        for y, row in enumerate(data.drop_duplicates("group").to_dict("records")):
            half = (
                [[0], [0]]
                if pd.isna(row["low"])
                else [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
            )
            axes.errorbar(
                row["mean"], y + 0.28, xerr=half, fmt="|", color=DARK, markersize=14, capsize=4
            )
        if best is not None:
            axes.axvline(best, color=DARK, linewidth=1.2, linestyle=":")
        axes.set(xlabel=label, ylabel="", title=title, ylim=(len(groups) - 0.5, -0.5))
    return figure, data


def interval_plot(comparison, claims, title="Published value and ours"):
    """Draw one row a claim: the paper's value with its margin and error, ours with its interval.

    Claims of different units stand in panels of their own; rows without a number of ours are left
    out.

    Parameters
    ----------
    comparison : DataFrame
        Of `papers.compare`: id, place, mean, low, high, runs, verdict.
    claims : list of papers.Claim
        Those compared.
    title : str

    Returns
    -------
    (Picture, DataFrame)
        id, place, unit, published, published_low, published_high, margin, mean, low, high, runs,
        verdict.

    Raises
    ------
    ValueError
        If no row has a value of ours.
    """
    data = _paired(comparison, claims)
    units = list(dict.fromkeys(data["unit"]))
    with matplotlib.rc_context(SETTINGS):
        counts = [int((data["unit"] == unit).sum()) for unit in units]
        figure = Picture(
            figsize=(8.4, 1.3 + 0.62 * sum(counts) + 0.6 * len(units)), layout="constrained"
        )
        panels = figure.subplots(
            len(units), 1, squeeze=False, height_ratios=[count + 0.6 for count in counts]
        )[:, 0]
        for axes, unit in zip(panels, units, strict=True):
            _draw_intervals(axes, data[data["unit"] == unit])
            axes.set_xlabel(unit)
        figure.suptitle(title, fontsize=12)
        figure.legend(
            handles=_interval_legend(), loc="outside lower center", ncols=3, frameon=False
        )
    return figure, data


def _paired(comparison, claims):
    by_id = {claim.id: claim for claim in claims}
    rows = []
    for row in comparison.to_dict("records"):
        claim = by_id.get(row["id"])
        if claim is None or pd.isna(row["mean"]) or not isinstance(claim.value, (int, float)):
            continue
        error = claim.published_sem or float("nan")
        rows.append(
            {
                "id": claim.id,
                "place": claim.where,
                "unit": claim.unit,
                "published": claim.value,
                "published_low": claim.value - error,
                "published_high": claim.value + error,
                "margin": claim.margin,
            }
            | {name: row[name] for name in ("mean", "low", "high", "runs", "verdict")}
        )
    if not rows:
        raise ValueError(
            "no claim has both a published number and a value of ours; run the study first"
        )
    return pd.DataFrame(rows)


def _draw_intervals(axes, rows):
    for y, row in enumerate(rows.to_dict("records")):
        look = VERDICTS[row["verdict"]]
        if not pd.isna(row["margin"]):
            axes.barh(
                y, 2 * row["margin"], left=row["published"] - row["margin"], height=0.8, color=BAND
            )
        error = 0 if pd.isna(row["published_low"]) else row["published"] - row["published_low"]
        axes.errorbar(
            row["published"],
            y - 0.16,
            xerr=error,
            fmt="D",
            color=DARK,
            markerfacecolor="white",
            markersize=8,
            capsize=4,
        )
        half = (
            [[0], [0]]
            if pd.isna(row["low"])
            else [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
        )
        axes.errorbar(
            row["mean"],
            y + 0.16,
            xerr=half,
            fmt=look.marker,
            color=look.colour,
            markersize=8,
            capsize=4,
        )
        axes.use_sticky_edges = False  # room beside the margin band
        axes.annotate(
            row["verdict"],
            (1.01, y),
            xycoords=("axes fraction", "data"),
            va="center",
            color=look.colour,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(rows)), rows["place"])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)


def _interval_legend():
    return [
        Line2D(
            [], [], marker="D", color=DARK, markerfacecolor="white", label="paper ± printed s.e."
        ),
        Line2D(
            [],
            [],
            marker="o",
            color=VERDICTS[REPRODUCED].colour,
            label="ours, 95% interval (colour: verdict)",
        ),
        Patch(color=BAND, label="margin"),
    ]
