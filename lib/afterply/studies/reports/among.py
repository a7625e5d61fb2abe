"""Some runs among the others of their arm, each with a line or a dot of its own."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from .figures import in_our_style, legend
from .picture import DARK, SIZE, Picture

OTHERS, OWN = "#b5b5b5", "#cc3311"
LOOKS = {
    "recorded": {"color": OTHERS, "linewidth": 1.0, "zorder": 2},
    "made again": {"color": OWN, "linewidth": 2.2, "zorder": 3},
    "as recorded": {"color": DARK, "linewidth": 1.4, "linestyle": "--", "zorder": 4},
}


@in_our_style
def among(recorded, made, wrong, label, title=""):
    """Draw runs that were made again over the recorded ones of their arm.

    recorded, made: results of one measure. wrong: the runs that differ, whose recorded lines are
    drawn over the others. Runs of one point stand side by side.
    """
    differ = recorded[recorded["run"].isin(wrong)]
    kinds = zip(LOOKS, (recorded, made, differ), strict=True)
    data = pd.concat([rows.assign(kind=kind) for kind, rows in kinds if len(rows)])
    data = data[["kind", "run", "episode", "value"]].reset_index(drop=True)
    x = "episode" if data["episode"].nunique() > 1 else "run"
    figure = Picture(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    for kind, rows in data.groupby("kind", sort=False):
        look, number = dict(LOOKS[kind]), rows["run"].nunique()
        name = f"{kind} ({number} run{'s' * (number > 1)})"
        if kind == "recorded" and number > 30:
            look |= {"linewidth": 0.5, "alpha": 0.5}
        if x == "run":  # a cross over the dot that it should be
            marks = {"recorded": ("o", 9), "made again": ("X", 7), "as recorded": ("o", 9)}[kind]
            look |= {"linestyle": "", "marker": marks[0], "markersize": marks[1]}
            look |= {"markerfacecolor": "none"} if kind == "as recorded" else {}
            axes.plot(rows["run"], rows["value"], label=name, **look)
            continue
        for k, (_, run) in enumerate(rows.groupby("run")):
            axes.plot(run["episode"], run["value"], label=name if k == 0 else "", **look)
    if x == "run":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel={"episode": "training episodes"}.get(x, x), ylabel=label, title=title)
    legend(figure, 3)
    return figure, data
