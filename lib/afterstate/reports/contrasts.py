"""Figures of contrasts: histories of single learners, and differences with their intervals.

As in :mod:`afterstate.reports.figures` every function returns ``(figure, data)``.
"""

import matplotlib

from .labels import DARK
from .picture import SETTINGS, SIZE, Picture

ALL, BEST = "#5c5c5c", "#cc3311"
CLEAR, OPEN = "#0077bb", "#8a8a8a"  # of an interval without, and with 0


def histories(data, label, title=""):
    """Draw one panel for each history: mean and range of all learners, and the best one.

    Parameters
    ----------
    data : DataFrame
        panel, episode, learners, mean, low, high, best, number (of the best learner, from 0).
    label : str
        Of the y axis.
    title : str

    Returns
    -------
    (Picture, DataFrame)
        The data as they are.
    """
    panels = list(dict.fromkeys(data["panel"]))
    rows = max(1, -(-len(panels) // 2))
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=(SIZE[0] * 1.25, 0.8 + 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels):
            _draw_history(axes, data[data["panel"] == panel], panel)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel("training games")
        figure.supylabel(label, fontsize=11)
        figure.suptitle(title, fontsize=12)
        if panels:
            handles, names = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    return figure, data


def _draw_history(axes, rows, panel):
    learners, best = int(rows["learners"].max()), int(rows["number"].iloc[0])
    axes.fill_between(
        rows["episode"],
        rows["low"],
        rows["high"],
        color=ALL,
        alpha=0.25,
        linewidth=0,
        label="8 of 10 learners",
    )
    axes.plot(rows["episode"], rows["best"], color=BEST, linewidth=0.7, label="best learner")
    axes.plot(rows["episode"], rows["mean"], color=DARK, label="mean of all learners")
    axes.set_title(f"{panel}: {learners} learners, best: no. {best + 1}", fontsize=10.5)


def differences(data, label, title=""):
    """Draw differences as dots with their intervals, one row each, beside a line at 0.

    Intervals that do not hold 0 are blue, the others grey.

    Parameters
    ----------
    data : DataFrame
        comparison, values (how many), mean, low, high; drawn from top to bottom.
    label : str
        Of the x axis.
    title : str

    Returns
    -------
    (Picture, DataFrame)
        The data as they are.
    """
    with matplotlib.rc_context(SETTINGS):
        figure = Picture(figsize=(SIZE[0], 1.2 + 0.32 * len(data)), layout="constrained")
        axes = figure.add_subplot()
        axes.axvline(0.0, color=DARK, linewidth=1.0)
        for y, row in enumerate(data.to_dict("records")):
            known = row["low"] <= row["high"]  # no interval of a single value
            clear = known and (row["low"] > 0.0 or row["high"] < 0.0)
            half = [[row["mean"] - row["low"]], [row["high"] - row["mean"]]] if known else None
            colour = CLEAR if clear else OPEN
            axes.errorbar(row["mean"], y, xerr=half, fmt="o", color=colour, capsize=3)
        rows = zip(data["comparison"], data["values"], strict=True)
        axes.set_yticks(range(len(data)), [f"{name} ({number})" for name, number in rows])
        axes.set(xlabel=label, title=title, ylim=(len(data) - 0.4, -0.6))
        axes.grid(axis="y", visible=False)
    return figure, data
