"""The figures of give-away checkers: histories of learners, and differences between methods.

Each returns ``(figure, data)``; the data are those of `giveaway_tables`, as they are.
"""

from ...reports.figures import in_our_style, interval_bar, legend, name_rows
from ...reports.picture import DARK, GREY, RED, SIZE, Picture

CLEAR = "#0077bb"  # of an interval without 0


@in_our_style
def differences(data, label, title=""):
    """Draw differences with their intervals, one row each; those that do not hold 0 are blue.

    data: comparison, values (how many), mean, low, high.
    """
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
def histories(data, label, title=""):
    """Draw one panel for each history: mean and range of all learners, and the best one.

    data: of `giveaway_tables.histories`. Source: [mandziuk2004] Fig. 1.
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
