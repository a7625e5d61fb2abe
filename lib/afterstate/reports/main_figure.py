"""The figure of the first page: the values of a paper's main table, published and ours."""

import math

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .labels import DARK, DECIDED, VERDICTS
from .picture import SETTINGS, Picture

BAND = "#d9d9d9"  # of the margin


def drawable(rows):
    """Return the rows that have a number of ours beside a published number."""
    return [row for row in rows if row.verdict in DECIDED and math.isfinite(row.mean)]


def main_figure(rows, narrow=False):
    """Draw one line a value: published with margin and printed error, ours with its interval.

    On a narrow screen the words stand above each line, not beside it.

    Parameters
    ----------
    rows : list
        Of the report, as :func:`drawable` gives them; units get panels of their own.
    narrow : bool

    Returns
    -------
    Picture
    """
    units = sorted({row.claim.unit for row in rows}, key=lambda unit: -_number(rows, unit))
    with matplotlib.rc_context(SETTINGS | {"font.size": 9.5}):
        width, line, rest = (4.0, 0.4, 1.4) if narrow else (9.6, 0.2, 0.75)
        figure = Picture(figsize=(width, rest + line * len(rows) + 0.45 * len(units)))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(
            len(units),
            1,
            squeeze=False,
            height_ratios=[_number(rows, unit) + 0.4 for unit in units],
        )[:, 0]
        for axes, unit in zip(panels, units, strict=True):
            _panel(axes, [row for row in rows if row.claim.unit == unit], unit, narrow)
        columns = 2 if narrow else 6
        figure.legend(
            handles=_legend(rows), loc="outside lower center", ncols=columns, frameon=False
        )
    return figure


def _number(rows, unit):
    return sum(row.claim.unit == unit for row in rows)


def _panel(axes, rows, unit, narrow):
    # height of the margin, and how far the marks stand from the middle: words need room between
    band, apart = (0.5, 0.12) if narrow else (0.8, 0.17)
    for y, row in enumerate(rows):
        claim, look = row.claim, VERDICTS[row.verdict]
        if claim.margin:
            left = claim.value - claim.margin
            axes.barh(y, 2 * claim.margin, left=left, height=band, color=BAND)
        axes.errorbar(
            claim.value,
            y - apart,
            xerr=claim.published_sem or None,
            fmt="D",
            color=DARK,
            markerfacecolor="white",
            markersize=4.5,
            capsize=2.5,
            linewidth=1.2,
        )
        half = [[row.mean - row.low], [row.high - row.mean]] if math.isfinite(row.low) else None
        axes.errorbar(
            row.mean,
            y + apart,
            xerr=half,
            fmt=look.marker,
            color=look.colour,
            markersize=5.5,
            capsize=2.5,
            linewidth=1.2,
        )
    _words(axes, rows, narrow)
    axes.margins(x=0.03)
    axes.tick_params(axis="x", labelsize=8.5, pad=1)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(unit, fontsize=8.5, labelpad=0)


def _words(axes, rows, narrow):
    """Write what each line is to its left and its verdict to its right, or both above it."""
    names = [f"{row.claim.place['row']}, {row.claim.place['column']}" for row in rows]
    axes.set_yticks(range(len(rows)), [""] * len(rows) if narrow else names)
    axes.set_ylim(len(rows) - 0.5, -0.75 if narrow else -0.5)
    if narrow:
        axes.tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=5)
    for y, (name, row) in enumerate(zip(names, rows, strict=True)):
        look = VERDICTS[row.verdict]
        at = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
        verdict = f"{look.symbol} {row.verdict}"
        if narrow:
            axes.annotate(name, (0, y - 0.27), va="bottom", **at)
            axes.annotate(verdict, (1, y - 0.27), va="bottom", ha="right", color=look.colour, **at)
        else:
            axes.annotate(verdict, (1.01, y), va="center", color=look.colour, **at)


def _legend(rows):
    ours = [
        Line2D(
            [], [], marker=look.marker, color=look.colour, linestyle="", label=f"ours: {verdict}"
        )
        for verdict, look in VERDICTS.items()
        if any(row.verdict == verdict for row in rows)
    ]
    published = Line2D(
        [], [], marker="D", color=DARK, markerfacecolor="white", label="published ± error"
    )
    return [published, Patch(color=BAND, label="margin"), *ours]
