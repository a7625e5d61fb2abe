"""How verdicts look, and figures as files: equal bytes, without pyplot or global settings."""

import io
import re
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter, StrMethodFormatter

from ...files import write_text
from ..papers import statements, verdicts

# The package's name until November 2026. It stays where the names inside figures derive from it, so
# that no figure changes.
FORMER_NAME = "afterstate"
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
    "svg.hashsalt": FORMER_NAME,
}
SIZE = (7.6, 5.0)  # inches
NO_TRACES = dict.fromkeys(("Date", "Creator", "Format", "Type"))
# Verdana has nearly the widths that the layout was computed with
FONT_STACK = "'DejaVu Sans', Verdana, sans-serif"
DARK = "#1a1a1a"
GREY = "#8a8a8a"
GREEN = "#00785c"
RED = "#cc3311"
YELLOW = "#b07800"


class Look(NamedTuple):
    """How a verdict looks; `marker` is of Matplotlib, `ink` the colour of text on `colour`."""

    symbol: str
    colour: str
    marker: str
    ink: str = "#ffffff"


VERDICTS = {
    verdicts.REPRODUCED: Look("✓", GREEN, "o"),
    verdicts.CONSISTENT: Look("≈", "#2f6f8f", "D"),
    verdicts.BETTER: Look("▲", "#0077bb", "^"),
    verdicts.NOT_REPRODUCED: Look("✗", RED, "X"),
    verdicts.INCONCLUSIVE: Look("?", YELLOW, "s"),
    verdicts.NOT_RUN: Look("–", GREY, "o"),
    verdicts.NOT_A_TARGET: Look("○", "#d4d4d4", "o", DARK),
}
STATEMENTS = {
    statements.HOLDS: VERDICTS[verdicts.REPRODUCED],
    statements.DOES_NOT_HOLD: VERDICTS[verdicts.NOT_REPRODUCED],
    statements.UNDECIDED: VERDICTS[verdicts.INCONCLUSIVE],
    verdicts.NOT_RUN: VERDICTS[verdicts.NOT_RUN],
}


class Picture(Figure):
    """A figure that shows itself as SVG in a notebook: the same text for the same numbers."""

    def svg(self):
        """Return the figure as SVG text without date, version or random identifiers."""
        for axes in self.axes:
            _use_plain_numbers(axes.xaxis)
            _use_plain_numbers(axes.yaxis)
        target = io.StringIO()
        with matplotlib.rc_context(SETTINGS):
            self.savefig(target, format="svg", bbox_inches="tight", metadata=NO_TRACES)
        svg = target.getvalue()
        svg = svg[svg.index("<svg") :].replace("'DejaVu Sans'", FONT_STACK)
        svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
        # Coordinates of paths are rounded to a hundredth of a point.
        numbers = re.compile(r"-?\d+\.\d{3,}")
        return re.sub(r'\b(?:d|x|y)="[^"]*"', lambda path: numbers.sub(_rounded, path[0]), svg)

    _repr_svg_ = svg


def _use_plain_numbers(axis):
    """Write the numbers of an axis in full, unless it has a formatter of its own."""
    if type(axis.get_major_formatter()) is ScalarFormatter:
        axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def _rounded(number):
    """Return a matched number rounded to two decimals."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def save(figure, directory, name, data, caption):
    """Write a Picture (or figure) as <name>.svg, its numbers as .csv, how to read it as .txt."""
    if Path(name).name != name or not caption.strip() or data is None or len(data) == 0:
        needs = "a plain file name, a caption that says how to read it, and the DataFrame drawn"
        raise ValueError(f"figure {name!r} needs {needs}")
    path = Path(directory) / f"{name}.svg"
    numbers = data.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    write_text(path.with_suffix(".csv"), numbers)
    write_text(path.with_suffix(".txt"), caption.strip() + "\n")
    write_text(path, Picture.svg(figure))
