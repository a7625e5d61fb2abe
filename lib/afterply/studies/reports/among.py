"""Some runs among the others of their arm, each with a line or a dot of its own."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from .figures import in_our_style, legend
from .picture import DARK, SIZE, Picture

OTHERS = "#b5b5b5"
OWN = "#cc3311"
LOOKS = {
    "recorded": {"color": OTHERS, "linewidth": 1.0, "zorder": 2},
    "made again": {"color": OWN, "linewidth": 2.2, "zorder": 3},
    "as recorded": {"color": DARK, "linewidth": 1.4, "linestyle": "--", "zorder": 4},
}
# Of runs of one point: a cross over the dot where it should be.
MARKS = {
    "recorded": {"marker": "o", "markersize": 9},
    "made again": {"marker": "X", "markersize": 7},
    "as recorded": {"marker": "o", "markersize": 9, "markerfacecolor": "none"},
}
MANY_RUNS = 30  # are drawn thinner


@in_our_style
def among(recorded, made, wrong, label, title=""):
    """Draw runs that were made again over the recorded ones of their arm.

    recorded, made: results of one measure. wrong: the runs that differ, whose recorded lines are
    drawn over the others. Runs of one point stand side by side.
    """
    rows_of_kind = {
        "recorded": recorded,
        "made again": made,
        "as recorded": recorded[recorded["run"].isin(wrong)],
    }
    tables = [rows.assign(kind=kind) for kind, rows in rows_of_kind.items() if len(rows)]
    data = pd.concat(tables)[["kind", "run", "episode", "value"]].reset_index(drop=True)
    has_curves = data["episode"].nunique() > 1
    figure = Picture(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    for kind, rows in data.groupby("kind", sort=False):
        if has_curves:
            _draw_curves(axes, kind, rows)
        else:
            look = _look(kind, rows) | MARKS[kind] | {"linestyle": ""}
            axes.plot(rows["run"], rows["value"], label=_name(kind, rows), **look)
    if has_curves:
        axes.set_xlabel("training episodes")
    else:
        axes.set_xlabel("run")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(ylabel=label, title=title)
    legend(figure, 3)
    return figure, data


def _draw_curves(axes, kind, rows):
    """Draw one line a run; the first of them carries the name of the kind."""
    name = _name(kind, rows)
    for _, run in rows.groupby("run"):
        axes.plot(run["episode"], run["value"], label=name, **_look(kind, rows))
        name = ""


def _look(kind, rows):
    """Return how the line or dots of a kind look."""
    look = dict(LOOKS[kind])
    if kind == "recorded" and rows["run"].nunique() > MANY_RUNS:
        look |= {"linewidth": 0.5, "alpha": 0.5}
    return look


def _name(kind, rows):
    """Return a kind with its number of runs, for the legend."""
    number = rows["run"].nunique()
    unit = "run" if number == 1 else "runs"
    return f"{kind} ({number} {unit})"
