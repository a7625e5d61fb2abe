"""Figures of the studies, each with the numbers it draws: learning curves and ladders.

Every function returns ``(figure, data)``: `data` holds every number drawn and becomes the CSV
beside the picture (:func:`afterstate.reports.picture.save`).
"""

import matplotlib
import pandas as pd

from ..digits import plain
from ..stats import mean_interval
from .labels import DARK
from .picture import SETTINGS, SIZE, Picture

STYLES = (  # by position in the figure
    {"color": "#cc3311", "marker": "o", "linestyle": "-"},
    {"color": "#0077bb", "marker": "s", "linestyle": "--"},
    {"color": "#009988", "marker": "^", "linestyle": "-."},
    {"color": "#ee7733", "marker": "D", "linestyle": "-"},
    {"color": "#33bbee", "marker": "v", "linestyle": "--"},
    {"color": "#ee3377", "marker": "P", "linestyle": "-."},
    {"color": "#5c5c5c", "marker": "X", "linestyle": ":"},
    {"color": "#0077bb", "marker": "s", "linestyle": "-"},
    {"color": "#009988", "marker": "^", "linestyle": "--"},
)


def arm_style(arm, arms=(), styles=None):
    """Return colour, marker and line of an arm: from `styles`, else by its position in `arms`."""
    if styles and arm in styles:
        return styles[arm]
    others = [name for name in arms if not styles or name not in styles]
    return STYLES[others.index(arm) % len(STYLES) if arm in others else 0]


def curve_data(table, metric, arms, interval=0.95):
    """Return mean and interval over runs of a metric at every evaluated episode.

    Parameters
    ----------
    table : DataFrame
        arm, run, episode, metric, value.
    metric : str
    arms : list of str
    interval : float, 0..1
        Coverage of the t interval of the mean over runs.

    Returns
    -------
    DataFrame
        arm, episode, runs, mean, low, high (no bounds for one run).

    Raises
    ------
    ValueError
        If columns are missing, a run has two values at one episode, or there are results but none
        of this metric.
    """
    missing = [
        column
        for column in ("arm", "run", "episode", "metric", "value")
        if column not in table.columns
    ]
    if missing:
        raise ValueError(
            f"the results lack the column {missing[0]!r}; they have {list(table.columns)}"
        )
    rows = table[(table["metric"] == metric) & table["arm"].isin(list(arms))]
    # no results at all is an unfinished study; results of other things are a mistake
    if rows.empty and len(table):
        found = sorted(set(table["metric"])), sorted(set(table["arm"]))
        if metric not in found[0]:
            raise ValueError(
                f"no values of {metric!r} for {list(arms)}; the results have the metrics {found[0]}"
                f" and the arms {found[1]}"
            )
    double = rows[rows.duplicated(["arm", "run", "episode"])]
    if not double.empty:
        first = double.iloc[0]
        raise ValueError(
            f"arm {first['arm']!r} run {first['run']} has two values of {metric!r} at episode"
            f" {first['episode']}; pass the rows of one study only"
        )
    records = []
    for (arm, episode), group in rows.groupby(["arm", "episode"]):
        records.append((arm, episode, len(group), *mean_interval(group["value"], interval)))
    data = pd.DataFrame(records, columns=["arm", "episode", "runs", "mean", "low", "high"])
    order = {arm: place for place, arm in enumerate(arms)}
    return data.sort_values(
        ["arm", "episode"],
        key=lambda column: column.map(order) if column.name == "arm" else column,
        ignore_index=True,
    )


def learning_curves(
    table,
    metric,
    arms,
    published=(),
    best=None,
    title="",
    interval=0.95,
    score_axis=True,
    label="win rate in percent",
    possible=(0.0, 100.0),
    logs=(),
    styles=None,
):
    """Draw learning curves: mean over runs with its interval at every evaluated episode.

    Parameters
    ----------
    table, metric, arms, interval
        As in :func:`curve_data`.
    published : list of papers.Claim
        Final values, drawn at the right end.
    best : float, optional
        The best achievable value, drawn as a line.
    title : str
    score_axis : bool
        A second axis, score = 2 win rate - 1, for a metric in percent.
    label : str
        Of the y axis.
    possible : (float, float) or None
        Least and greatest value that can be: wide intervals of few runs are cut off there.
    logs : list of str
        Arms that are printed or logged by the authors, named without a number of runs.
    styles : dict, optional
        Arm -> colour, marker and linestyle (default: by position).

    Returns
    -------
    (Picture, DataFrame)
        arm, kind ("ours", "original", "published" or "best achievable"), episode, runs, mean, low,
        high.

    Source: [konen2021] Fig. 3
    """
    data = curve_data(table, metric, arms, interval)
    data["kind"] = ["original" if arm in logs else "ours" for arm in data["arm"]]
    if possible:  # wide intervals of few runs
        data["low"] = data["low"].clip(lower=possible[0])
        data["high"] = data["high"].clip(upper=possible[1])
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        for arm in arms:
            style = arm_style(arm, arms, styles)
            _draw_curve(axes, data[data["arm"] == arm], arm, style, arm not in logs)
        last = data["episode"].max() if len(data) else 1
        extra = [
            _draw_published(axes, claim, last, place, arm_style(claim.arm, arms, styles))
            for place, claim in enumerate(published)
        ]
        if best is not None:
            name = f"best achievable ({plain(best)})"
            axes.axhline(best, color=DARK, linewidth=1.2, linestyle=":", label=name)
            extra.append({"arm": "", "kind": "best achievable", "episode": last, "mean": best})
        axes.set(xlabel="training episodes", ylabel=label, title=title)
        if possible:
            (low, high), room = axes.get_ylim(), 0.03 * (possible[1] - possible[0])
            axes.set_ylim(max(low, possible[0] - room), min(high, possible[1] + room))
        if score_axis:
            second = axes.secondary_yaxis(
                "right", functions=(lambda rate: rate / 50 - 1, lambda score: 50 * (score + 1))
            )
            second.set_ylabel("score (−1 lost … +1 won)")
        figure.legend(
            loc="outside lower center",
            ncols=2,
            frameon=False,
            title=f"mean and {interval:.0%} interval over runs",
        )
    data = (
        pd.concat([data, pd.DataFrame(extra, columns=data.columns)], ignore_index=True)
        if extra
        else data
    )
    return figure, data[["arm", "kind", "episode", "runs", "mean", "low", "high"]]


def ladders(rungs, label="rating (Elo points above the random player)", title=""):
    """Draw ladders of opponents: a value at every position of a dial, one line a method.

    Parameters
    ----------
    rungs : DataFrame
        method, dial, run, value.
    label : str
        Of the y axis.
    title : str

    Returns
    -------
    (Picture, DataFrame)
        method, dial, runs, mean over runs, low, high.
    """
    methods = list(dict.fromkeys(rungs["method"]))
    table = rungs.rename(columns={"method": "arm", "dial": "episode"}).assign(metric=label)
    data = curve_data(table, label, methods)
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        for method in methods:
            _draw_curve(axes, data[data["arm"] == method], method, arm_style(method, methods))
        axes.set(
            xlabel="dial (0 = knows nothing, 1 = as it was trained)", ylabel=label, title=title
        )
        figure.legend(
            loc="outside lower center",
            ncols=2,
            frameon=False,
            title="mean and 95% interval over runs",
        )
    return figure, data.rename(columns={"arm": "method", "episode": "dial"})


def with_runs(name, runs, between):
    """Return a name with its number of runs, or the least and the greatest with a word between."""
    many = between.join(str(number) for number in sorted({runs.min(), runs.max()}))
    return f"{name} ({many} run{'' if many == '1' else 's'})"


def _draw_curve(axes, rows, arm, style, counted=True):
    if rows.empty:
        axes.plot([], [], label=f"{arm}: not run", **style)
        return
    axes.plot(
        rows["episode"],
        rows["mean"],
        label=with_runs(arm, rows["runs"], "–") if counted else arm,
        markersize=4.5,
        markevery=max(1, len(rows) // 20),
        **style,
    )
    if rows["low"].notna().any():
        axes.fill_between(
            rows["episode"],
            rows["low"],
            rows["high"],
            color=style["color"],
            alpha=0.16,
            linewidth=0,
        )
        some = rows.iloc[:: max(1, len(rows) // 20)]
        axes.errorbar(
            some["episode"],
            some["mean"],
            [some["mean"] - some["low"], some["high"] - some["mean"]],
            fmt="none",
            ecolor=style["color"],
            elinewidth=1,
            capsize=2.5,
        )


def _draw_published(axes, claim, last, place, style):
    error = claim.published_sem or float("nan")
    label = f"{claim.arm}, published" + (" (± printed s.e.)" if error > 0 else "")
    axes.errorbar(
        [last * (1.03 + 0.015 * place)],
        [claim.value],
        [[error if error > 0 else 0]],
        fmt=style["marker"],
        color=style["color"],
        # beside the curves' end: hides nothing
        markerfacecolor="white",
        markersize=9,
        markeredgewidth=1.8,
        capsize=5,
        zorder=5,
        label=label,
    )
    return {
        "arm": claim.arm,
        "kind": "published",
        "episode": last,
        "runs": (claim.uncertainty or {}).get("runs"),
        "mean": claim.value,
        "low": claim.value - error,
        "high": claim.value + error,
    }
