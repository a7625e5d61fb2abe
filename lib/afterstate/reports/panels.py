"""A figure of several panels that share their rows: means as dots, with their intervals.

As in :mod:`afterstate.reports.figures` the function returns ``(figure, data)``.
"""

import matplotlib
import pandas as pd

from ..papers.verdicts import MIN_RUNS
from .figures import STYLES, with_runs
from .labels import DARK
from .picture import SETTINGS, Picture

COLUMNS = ["panel", "row", "series", "runs", "mean", "low", "high"]


def panels(rows, tables, title="", lines=None):
    """Draw one row for each thing, and beside each other the panels of what is known of it.

    Parameters
    ----------
    rows : list of str
        Names of the rows, from top to bottom.
    tables : dict
        Label of a panel -> DataFrame [row, series, runs, mean, low, high]. The legend says over how
        many runs a series goes; a printed value has 0 of them. With fewer than three runs no
        interval is drawn: that of two would cover the whole axis, or pass for certainty.
    title : str
    lines : dict, optional
        Label of a panel -> where a vertical line stands in it.

    Returns
    -------
    (Picture, DataFrame)
        panel, row, series, runs, mean, low, high.

    Raises
    ------
    ValueError
        If there is nothing to draw, or a row is not among `rows`.
    """
    lines = lines or {}
    filled = [table.assign(panel=label) for label, table in tables.items() if len(table)]
    if not filled:
        raise ValueError(f"there is nothing to draw in the panels {list(tables)}")
    data = pd.concat(filled, ignore_index=True)[COLUMNS]
    unknown = set(data["row"]) - set(rows)
    if unknown:
        raise ValueError(f"the rows {sorted(unknown)} are not among {list(rows)}")
    with matplotlib.rc_context(SETTINGS):
        names = max(1.9, 0.6 + 0.075 * max(map(len, rows)))  # inches, beside the panels
        size = (names + 3.3 * len(tables), 1.9 + 0.42 * len(rows))
        figure = Picture(figsize=size, layout="constrained")
        all_axes = figure.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for axes, label in zip(all_axes, tables, strict=True):
            own = data[data["panel"] == label]
            _draw_dots(axes, own, list(rows))
            if label in lines:
                axes.axvline(lines[label], color=DARK, linewidth=1.2, linestyle=":")
            axes.set_xlabel(label)
            if len(own):
                axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
        all_axes[0].set_yticks(range(len(rows)), rows)
        all_axes[0].set_ylim(len(rows) - 0.5, -0.5)
        figure.suptitle(title, fontsize=12)
    return figure, data


def _draw_dots(axes, data, rows):
    """Draw the series of every row below each other, with intervals of several runs."""
    names = list(dict.fromkeys(data["series"]))
    for k, series in enumerate(names):
        own, style = data[data["series"] == series], STYLES[k % len(STYLES)]
        shift = 0.0 if len(names) == 1 else -0.2 + 0.4 * k / (len(names) - 1)
        known = own["runs"] >= MIN_RUNS
        axes.errorbar(
            own["mean"],
            [rows.index(row) + shift for row in own["row"]],
            xerr=[(own["mean"] - own[end]).abs().where(known).fillna(0) for end in ("low", "high")],
            fmt=style["marker"],
            color=style["color"],
            capsize=3,
            linewidth=1.4,
            label=with_runs(series, own["runs"], " to ") if own["runs"].any() else series,
        )
