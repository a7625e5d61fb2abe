"""Figures of the studies, each with the numbers it draws: learning curves, and the paper's values beside ours.

Every function returns `(figure, data)`: `data` holds every number drawn and becomes the CSV beside
the picture (`save`). Figures are made without pyplot and inside `rc_context`: they change no global
setting and need no display.
"""

import io
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from ..files import write_text
from ..stats import mean_interval
from .page import VERDICTS

ARM_STYLE = {
    "FARL": {"color": "#cc3311", "marker": "o", "linestyle": "-"},
    "no-FARL": {"color": "#0077bb", "marker": "s", "linestyle": "--"},
    "first part only": {"color": "#009988", "marker": "^", "linestyle": "-."},
    # as in Fig. 4: colour = opponent, line = arm
    "FARL vs AB": {"color": "#cc3311", "marker": "o", "linestyle": "-"},
    "FARL vs AB-DL": {"color": "#0077bb", "marker": "s", "linestyle": "-"},
    "no-FARL vs AB": {"color": "#cc3311", "marker": "o", "linestyle": "--"},
    "no-FARL vs AB-DL": {"color": "#0077bb", "marker": "s", "linestyle": "--"},
}
SPARE_STYLES = (
    {"color": "#ee7733", "marker": "D", "linestyle": "-"},
    {"color": "#33bbee", "marker": "v", "linestyle": "--"},
    {"color": "#ee3377", "marker": "P", "linestyle": "-."},
    {"color": "#5c5c5c", "marker": "X", "linestyle": ":"},
    {"color": "#0077bb", "marker": "s", "linestyle": "-"},
    {"color": "#009988", "marker": "^", "linestyle": "--"},
)
VERDICT_MARKERS = {"reproduced": "o", "better": "^", "not reproduced": "X", "inconclusive": "s"}
SETTINGS = {
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "legend.fontsize": 10,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "axes.edgecolor": "#5c5c5c",
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "afterstate",
}
# Verdana has nearly the widths that the layout was computed with
FONT_STACK = "'DejaVu Sans', Verdana, sans-serif"


class Picture(Figure):
    """A matplotlib figure that shows itself as SVG in a notebook, and always as the same text for the same numbers."""

    def svg(self):
        """The figure as SVG text without date, version or random identifiers."""
        target = io.StringIO()
        with matplotlib.rc_context(SETTINGS):
            self.savefig(
                target,
                format="svg",
                bbox_inches="tight",
                metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
            )
        return _tidy(target.getvalue())

    def _repr_svg_(self):
        return self.svg()


def arm_style(arm, arms=()):
    """Colour, marker and line of an arm: the same in all figures for the arms of ARM_STYLE, by position in `arms` for others."""
    if arm in ARM_STYLE:
        return ARM_STYLE[arm]
    others = [name for name in arms if name not in ARM_STYLE]
    return SPARE_STYLES[others.index(arm) % len(SPARE_STYLES) if arm in others else 0]


def curve_data(table, metric, arms, interval=0.95):
    """Mean and interval over runs of a metric at every evaluated episode.

    Parameters: table (DataFrame: arm, run, episode, metric, value), metric (str), arms (list of
    str), interval (0 < float < 1). Returns a DataFrame arm, episode, runs, mean, low, high: the t
    interval of the mean over runs (no bounds for one run). Raises ValueError if columns are
    missing, a run has two values at one episode, or there are results but none of this metric.
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
):
    """Learning curves: mean over runs with interval, published final values at the right end, best achievable value as a line.

    Parameters: table, metric, arms, interval as in `curve_data`; published (list of
    `papers.Claim`), best (float in the unit of the metric, or None), title (str), score_axis (bool:
    second axis score = 2 win rate - 1, for a metric in percent), label (str, the y axis), possible
    (least and greatest value that can be: wide intervals of few runs are cut off there; None:
    nowhere), logs (list of str: arms that are somebody else's means, named without a number of
    runs). Returns (Picture, DataFrame: arm, kind "ours"|"published"|"best achievable", episode,
    runs, mean, low, high). Source: [konen2021] Fig. 3
    """
    data = curve_data(table, metric, arms, interval).assign(kind="ours")
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=(7.6, 5.0), layout="constrained")
        axes = figure.add_subplot()
        for arm in arms:
            _draw_curve(axes, data[data["arm"] == arm], arm, arm_style(arm, arms), arm not in logs)
        last = data["episode"].max() if len(data) else 1
        extra = [
            _draw_published(axes, claim, last, place, arms) for place, claim in enumerate(published)
        ]
        if best is not None:
            axes.axhline(
                best,
                color="#1a1a1a",
                linewidth=1.2,
                linestyle=":",
                label=f"best achievable ({best:g})",
            )
            extra.append({"arm": "", "kind": "best achievable", "episode": last, "mean": best})
        axes.set(xlabel="training episodes", ylabel=label, title=title)
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " "))
        )
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
    """Ladders of opponents: a value at every position of a dial, mean over runs with interval, one line a method.

    Parameters: rungs (DataFrame: method, dial, run, value), label (str, the y axis), title (str).
    Returns (Picture, DataFrame: method, dial, runs, mean, low, high).
    """
    methods = list(dict.fromkeys(rungs["method"]))
    table = rungs.rename(columns={"method": "arm", "dial": "episode"}).assign(metric=label)
    data = curve_data(table, label, methods)
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=(7.6, 5.0), layout="constrained")
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


def strip(groups, label, best=None, title=""):
    """Every run as a dot, and the mean of each group with its 95% interval.

    Parameters: groups ({name: sequence of float, one per run}), label (str, the x axis), best
    (float or None), title (str). Returns (Picture, DataFrame: group, run, value, mean, low, high).
    Raises ValueError if there is no value at all.
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
        figure = Picture(figsize=(7.6, 0.9 + 0.8 * len(groups)), layout="constrained")
        axes = figure.add_subplot()
        seaborn.swarmplot(
            data,
            x="value",
            y="group",
            hue="group",
            palette=["#5c5c5c", "#cc3311", "#0077bb", "#009988"][: len(groups)],
            size=7,
            ax=axes,
        )
        for y, row in enumerate(data.drop_duplicates("group").to_dict("records")):
            half = (
                [[0], [0]]
                if pd.isna(row["low"])
                else [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
            )
            axes.errorbar(
                row["mean"], y + 0.28, xerr=half, fmt="|", color="#1a1a1a", markersize=14, capsize=4
            )
        if best is not None:
            axes.axvline(best, color="#1a1a1a", linewidth=1.2, linestyle=":")
        axes.set(xlabel=label, ylabel="", title=title, ylim=(len(groups) - 0.5, -0.5))
    return figure, data


def interval_plot(comparison, claims, title="Published value and ours"):
    """Dot-and-interval plot: one row a claim, the paper's value with its margin and printed uncertainty, ours with its interval.

    Parameters: comparison (DataFrame of `papers.compare`: id, place, mean, low, high, runs,
    verdict), claims (list of the `papers.Claim` compared), title (str). Claims of different units
    stand in panels of their own; rows without a number of ours are left out. Returns (Picture,
    DataFrame: id, place, unit, published, published_low, published_high, margin, mean, low, high,
    runs, verdict). Raises ValueError if no row has a value of ours.
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


def save(figure, directory, name, data, caption):
    """Write a figure as <name>.svg, every number in it as <name>.csv, and how to read it as <name>.txt; the same input gives the same bytes.

    Parameters: figure (Picture, or any matplotlib Figure), directory (path, made if missing), name
    (str without a suffix), data (DataFrame), caption (str). Returns the path of the SVG. Raises
    ValueError for a name with a path in it, an empty caption or no data.
    """
    if not name or Path(name).name != name:
        raise ValueError(f"figure name {name!r} must be a plain file name without folder")
    if not caption.strip():
        raise ValueError(f"figure {name!r} has no caption; say in a sentence or two how to read it")
    if data is None or len(data) == 0:
        raise ValueError(
            f"figure {name!r} comes without numbers; pass the DataFrame of what is drawn"
        )
    directory, svg = Path(directory), Picture.svg(figure)
    contents = {
        ".csv": data.to_csv(index=False, float_format="%.10g", lineterminator="\n"),
        ".txt": caption.strip() + "\n",
        ".svg": svg,
    }
    for suffix, text in contents.items():
        write_text(directory / f"{name}{suffix}", text)
    return directory / f"{name}.svg"


def _tidy(svg):
    """Drop the prolog, which an HTML page cannot hold, and trailing blanks.

    Name the fonts that stand in for the measured one.
    """
    svg = svg[svg.index("<svg") :].replace("'DejaVu Sans'", FONT_STACK)
    return "\n".join(line.rstrip() for line in svg.split("\n"))


def _draw_curve(axes, rows, arm, style, counted=True):
    if rows.empty:
        axes.plot([], [], label=f"{arm}: not run", **style)
        return
    runs = (
        f"{rows['runs'].min()}–{rows['runs'].max()}"
        if rows["runs"].nunique() > 1
        else f"{rows['runs'].iloc[0]}"
    )
    plural = "" if runs == "1" else "s"
    axes.plot(
        rows["episode"],
        rows["mean"],
        label=f"{arm} ({runs} run{plural})" if counted else arm,
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


def _draw_published(axes, claim, last, place, arms):
    style, error = arm_style(claim.arm, arms), claim.published_sem or float("nan")
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
        colour, marker = VERDICTS[row["verdict"]][1], VERDICT_MARKERS.get(row["verdict"], "o")
        if not pd.isna(row["margin"]):
            axes.barh(
                y,
                2 * row["margin"],
                left=row["published"] - row["margin"],
                height=0.8,
                color="#d9d9d9",
            )
        error = 0 if pd.isna(row["published_low"]) else row["published"] - row["published_low"]
        axes.errorbar(
            row["published"],
            y - 0.16,
            xerr=error,
            fmt="D",
            color="#1a1a1a",
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
            row["mean"], y + 0.16, xerr=half, fmt=marker, color=colour, markersize=8, capsize=4
        )
        axes.use_sticky_edges = False  # room beside the margin band
        axes.annotate(
            row["verdict"],
            (1.01, y),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(rows)), rows["place"])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)


def _interval_legend():
    return [
        Line2D(
            [],
            [],
            marker="D",
            color="#1a1a1a",
            markerfacecolor="white",
            label="paper ± printed s.e.",
        ),
        Line2D(
            [],
            [],
            marker="o",
            color=VERDICTS["reproduced"][1],
            label="ours, 95% interval (colour: verdict)",
        ),
        Patch(color="#d9d9d9", label="margin"),
    ]
