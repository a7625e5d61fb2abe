"""Drawings as tables: where the places of a board are, and what stands there for each number.

A game declares a :class:`Drawing`. Views, boards in notebooks, web pages and pixels are all made of
it, so that a game is drawn once. A drawing does not know the rules: it is given the *shown numbers*
of a position, by default the codes of its cells, and each place says which of them it shows::

    Drawing(
        places=[Place((40, 40), square(56), shows=0), Place((96, 40), square(56), shows=1)],
        looks={1: mark("x"), 2: Look(stone("#c8252c"))},
        width=136,
        height=80,
    )

Lengths are pixels; (0, 0) is the upper left corner. Parts of a drawing are SVG texts; those of a
shape or a look lie around the point (0, 0), which is put where the place is. No part has an `id`,
so any number of drawings can stand on one page. Places carry ``data-cell="number"``.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

import numpy as np

CELL = 56  # side of a cell, in pixels
PAD = 8  # margin, in pixels
INK = "#1a1a1a"
LINE = "#8a8a8a"
PAPER = "#ffffff"
SOFT = "#5c5c5c"
MARKED = "#e0a800"  # round the place of the last move
MARK_COLOURS = {"x": "#1a1a1a", "o": "#0077bb", "+": "#cc3311", "*": "#009988"}
# of players, in turn
COLOURS = {"yellow": "#f2c230", "red": "#c8252c", "blue": "#2b62c4", "green": "#1f7a4d"}
# orange - white - purple: safe for colour-blind readers
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)
FONT = "'DejaVu Sans Mono', Consolas, monospace"
CURRENT = "currentColor"  # an ink that can be read where it stands
ANY = None  # the key of what stands for all numbers that a table does not name


# -------------------------------------------------------------------------------- parts of drawings
def element(kind, content=None, **attributes) -> str:
    """Return an SVG element; an attribute's underscores become hyphens."""
    head = kind
    for name, value in attributes.items():
        text = value if isinstance(value, str) else format(value, "g")
        head += f' {name.replace("_", "-")}="{text}"'
    return f"<{head}/>" if content is None else f"<{head}>{content}</{kind}>"


def rect(x, y, width, height, fill, stroke=LINE, **others) -> str:
    """Return a rectangle; `others` are further attributes of the element."""
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **others)


def circle(x, y, r, fill, stroke=LINE, **others) -> str:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, **others)


def text_at(x, y, text, size, fill=INK, anchor="middle", **others) -> str:
    """Return a line of text at a place."""
    return element(
        "text",
        escape(str(text)),
        x=x,
        y=y,
        font_family=FONT,
        font_size=size,
        text_anchor=anchor,
        fill=fill,
        **others,
    )


def stone(colour, radius=0.4 * CELL) -> str:
    """Return a stone around the middle of a place."""
    return circle(0, 0, radius, colour, INK, stroke_width=1.5)


def number(value) -> str:
    """Return a value as it stands in a cell: two decimals with sign, from 10 on three digits."""
    if abs(value) >= 999_500:
        return f"{value / 1e6:+.3g}M"
    if abs(value) >= 999.5:
        return f"{value / 1e3:+.3g}k"
    if abs(value) >= 10:
        return f"{value:+.3g}"
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00")


def blend(light, dark, share) -> str:
    """Return a colour between two, each (red, green, blue); `share`, 0 to 1, of the dark one."""
    channels = [round(a + (b - a) * share) for a, b in zip(light, dark)]
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def value_colour(value) -> str:
    """Return the colour of a value: orange at -1 and below, white, purple at 1 and above."""
    extreme = POSITIVE if value >= 0 else NEGATIVE
    return blend(NEUTRAL, extreme, min(1.0, abs(value)))


def ink_on(fill) -> str:
    """Return a colour for text that can be read on a colour."""
    red, green, blue = (int(fill[k : k + 2], 16) for k in (1, 3, 5))
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    return INK if is_light else PAPER


def document(parts, width, height, *, has_scale=False, notes=(), title="") -> str:
    """Return a drawing as SVG text on a background of its own.

    `notes` and a scale of the colours of values stand below; the `title` is for screen readers.
    """
    parts = [*parts]
    if notes:
        step = 8 * max(map(len, notes)) + PAD
        width = max(width, 2 * PAD + step)
        per_row = int((width - 2 * PAD) // step)
        for k, note in enumerate(notes):
            row, column = divmod(k, per_row)
            x = PAD + step * column
            y = height + 10 + 20 * row
            parts.append(text_at(x, y, note, 13, anchor="start"))
        height += 20 * math.ceil(len(notes) / per_row)
    if has_scale:
        width = max(width, 240)
        parts += _scale(height, width - 2 * PAD)
        height += 58
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    head = element("title", escape(title)) if title else ""
    return element(
        "svg",
        head + element("rect", **size, fill=PAPER) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        **size,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        color=INK,
        style="max-width:100%;height:auto",  # where a page is narrower than the drawing
    )


def _scale(y, width) -> list:
    """Return the parts of a scale of colours, from there on down."""
    parts = [text_at(PAD, y + 12, "value of the resulting afterstate", 11, SOFT, "start")]
    steps = 41
    for step in range(steps):
        x = PAD + width * step / steps
        colour = value_colour(2 * step / (steps - 1) - 1)
        parts.append(rect(x, y + 18, width / steps + 0.5, 12, colour, "none"))
    parts.append(rect(PAD, y + 18, width, 12, "none"))
    for share, text, anchor in (
        (0, "-1.00 bad", "start"),
        (0.5, "0", "middle"),
        (1, "good +1.00", "end"),
    ):
        parts.append(text_at(PAD + width * share, y + 46, text, 12, SOFT, anchor))
    return parts


# ------------------------------------------------------------------------------------------- tables
class Shape(NamedTuple):
    """What takes the clicks of a place, and the colours of values: an SVG element around (0, 0)."""

    kind: str
    attributes: dict
    fill: str = PAPER
    stroke: str = LINE

    def svg(self, fill=None) -> str:
        """Return the shape, with another fill if one is given."""
        return element(self.kind, **self.attributes, fill=fill or self.fill, stroke=self.stroke)

    def ring(self) -> str:
        """Return the outline that marks the place of the last move."""
        style = {"fill": "none", "stroke": MARKED, "stroke_width": 4, "pointer_events": "none"}
        return element(self.kind, **self.attributes | style)


def box(width, height, fill=PAPER, stroke=LINE, **attributes) -> Shape:
    """Return a rectangle; `attributes` are further ones of its element, such as ``rx=3``."""
    corner = {"x": -width / 2, "y": -height / 2}
    return Shape("rect", {**corner, "width": width, "height": height, **attributes}, fill, stroke)


def square(side=CELL, fill=PAPER, stroke=LINE, **attributes) -> Shape:
    """Return a square."""
    return box(side, side, fill, stroke, **attributes)


def disc(radius=0.4 * CELL, fill=PAPER, stroke=LINE, **attributes) -> Shape:
    """Return a circle."""
    return Shape("circle", {"cx": 0, "cy": 0, "r": radius, **attributes}, fill, stroke)


def hexagon(radius, fill=PAPER, stroke=LINE) -> Shape:
    """Return a hexagon with a corner at the top; `radius` is the distance of its corners."""
    corners = []
    for k in range(6):
        angle = math.pi * k / 3
        corners.append(f"{radius * math.sin(angle):.2f},{-radius * math.cos(angle):.2f}")
    return Shape("polygon", {"points": " ".join(corners)}, fill, stroke)


class Look(NamedTuple):
    """What a place looks like for a number; ``{}`` in `parts` stands for the number itself."""

    parts: str = ""  # SVG on top of the shape
    fill: str = ""  # colour of the shape; "": its own


NOTHING = Look()


def mark(text, size=30, fill="") -> Look:
    """Return a letter or a number in the middle of a place, in the colour of its player.

    ``{}`` stands for the shown number. Other texts than the players' marks can be read on any
    colour: of `fill`, or of a value.
    """
    ink = MARK_COLOURS.get(text.lower(), CURRENT)
    if fill:
        ink = ink_on(fill)
    return Look(text_at(0, size / 3, text, size, ink, font_weight="bold"), fill)


class Place(NamedTuple):
    """A place of a board: its middle, its shape, and the shown number that says what stands there.

    Without a shape it is a part of the picture that changes but takes no clicks.
    """

    # (x, y), or a dict number -> (x, y): then it is only there for the numbers that the dict has
    at: tuple | dict
    shape: Shape | None = None
    shows: int | None = None  # which of the shown numbers; None: always the look of ANY
    name: str | dict = ""  # in the names of moves; or number -> name
    looks: dict | None = None  # number -> Look; None: those of the drawing
    value_at: tuple = (0, 5, 13)  # where a value stands, from the middle, and its size

    def middle(self, shown) -> tuple | None:
        """Return the middle for a shown number, None where the place is not there."""
        return self.at.get(shown) if isinstance(self.at, Mapping) else self.at

    def name_for(self, shown) -> str:
        """Return the name for a shown number."""
        return self.name.get(shown, "") if isinstance(self.name, Mapping) else self.name


@dataclass(kw_only=True)
class Drawing:
    """A board as a table.

    Attributes
    ----------
    places : list of Place
        Their numbers are their indices; ``touch`` of a game names them, and without it place and
        action have the same number.
    width, height : float
    looks : dict
        Shown number -> :class:`Look`, for all places without a table of their own. ``ANY`` stands
        for all other numbers; without it they look like nothing.
    behind, above : list of str
        SVG that never changes, such as lines and coordinates, behind or above the places.
    others : list of Place
        What changes and takes no clicks, behind the places.
    keys : dict
        Key -> action, as browsers name keys: ``{"ArrowLeft": 0}``.
    sides : tuple of str
        What the players are called in pictures, such as ("yellow", "red"); empty: their numbers.
    typed_sides : tuple of str
        The same where a board is typed, if it differs.
    """

    places: list
    width: float
    height: float
    looks: dict = field(default_factory=dict)
    behind: list = field(default_factory=list)
    above: list = field(default_factory=list)
    others: list = field(default_factory=list)
    keys: dict = field(default_factory=dict)
    sides: tuple = ()
    typed_sides: tuple = ()

    def look(self, place, numbers) -> Look:
        """Return the look of a place in a position with these shown numbers."""
        table = self.looks if place.looks is None else place.looks
        default = table.get(ANY, NOTHING)
        if place.shows is None:
            return default
        shown = numbers[place.shows]
        look = table.get(shown, default)
        return look._replace(parts=look.parts.replace("{}", f"{shown:,}"))

    def number_at(self, place, numbers) -> int | None:
        """Return the shown number of a place, None if it shows none."""
        return None if place.shows is None else numbers[place.shows]

    def parts(self, numbers, values=None, last=None) -> list[str]:
        """Return the parts of the picture of a position.

        Parameters
        ----------
        numbers : sequence of int
            The shown numbers of the position.
        values : dict, optional
            Place -> value of what is done there, shown as number and colour.
        last : int, optional
            The place of the last move, which gets a ring.

        Raises
        ------
        ValueError
            If a value is for a place that is not there.
        """
        if values is None:
            values = {}
        missing = set(values) - set(range(len(self.places)))
        if missing:
            raise ValueError(
                f"value for place {min(missing)}; the places are 0 to {len(self.places) - 1}"
            )
        drawn = []
        for k, place in enumerate(self.places):
            svg = self._placed(place, numbers, values.get(k), k == last, data_cell=str(k))
            drawn.append((k == last, svg))
        drawn.sort(key=lambda pair: pair[0])  # a ring lies above the neighbours
        others = [self._placed(place, numbers) for place in self.others]
        places = [svg for _, svg in drawn]
        return [*self.behind, *others, *places, self._above()]

    def _above(self) -> str:
        """Return what lies above the places, through which clicks go."""
        return element("g", "".join(self.above), pointer_events="none") if self.above else ""

    def _placed(self, place, numbers, value=None, is_last=False, **attributes) -> str:
        """Return the picture of one place, "" if it is not there."""
        middle = place.middle(self.number_at(place, numbers))
        if middle is None:
            return ""
        look = self.look(place, numbers)
        parts = look.parts
        fill = look.fill
        if value is not None:
            fill = value_colour(value)
            x, y, size = place.value_at
            attributes["color"] = ink_on(fill)
            ink = CURRENT if x == 0 else INK  # beside the shape it stands on paper
            label = text_at(x, y, number(value), size, ink)
            # What never changes, such as an arrow, makes room.
            parts = label if place.shows is None else parts + label
        if place.shape:
            parts = place.shape.svg(fill) + parts
            if is_last:
                parts += place.shape.ring()
        x, y = middle
        return element("g", parts, **attributes, transform=f"translate({x:g} {y:g})")

    def table(self) -> dict:
        """Return all that a page needs to draw any position: texts, numbers and lists."""
        tables = []  # of looks
        index = {}  # of a table, by its identity

        def row(place):
            looks = self.looks if place.looks is None else place.looks
            if id(looks) not in index:
                index[id(looks)] = len(tables)
                tables.append({_key(shown): [*look] for shown, look in looks.items()})
            at = place.at
            if isinstance(at, Mapping):
                at = {_key(shown): _as_written(middle) for shown, middle in at.items()}
            else:
                at = _as_written(at)
            name = place.name
            if isinstance(name, Mapping):
                name = {_key(shown): text for shown, text in name.items()}
            return {
                "at": at,
                "shape": place.shape.svg() if place.shape else "",
                "ring": place.shape.ring() if place.shape else "",
                "shows": place.shows,
                "look": index[id(looks)],
                "valueAt": place.value_at,
                "name": name,
            }

        return {
            "places": [row(place) for place in self.places],
            "others": [row(place) for place in self.others],
            "looks": tables,
            "behind": "".join(self.behind),
            "above": self._above(),
            "size": _as_written((self.width, self.height)),
        }


def _as_written(lengths) -> list[float]:
    """Return lengths with the digits that they have in SVG texts."""
    return [float(format(length, "g")) for length in lengths]


def _key(shown) -> str:
    """Return a shown number as a key of JSON; that of ANY is empty."""
    return "" if shown is ANY else str(shown)


def grid(rows, columns, *, looks=None, labels=None, names=None, order=None, shape=None, **drawing):
    """Return the drawing of a rectangular board.

    Parameters
    ----------
    rows, columns : int
    looks : dict
        Code of a cell -> Look.
    labels : (sequence, sequence), optional
        Coordinates: those below the columns, and those beside the rows from top to bottom. The name
        of a place is its column and row.
    names : sequence of str, optional
        The names of the places, row by row, if they are others.
    order : sequence of int, optional
        The cells of the places, row by row from the upper left, if they are numbered in another
        way; -1: there is none.
    shape : Shape, optional
        Default: ``square()``.
    **drawing
        Further arguments of :class:`Drawing`.
    """
    left = PAD + 18 if labels else PAD
    order = range(rows * columns) if order is None else np.ravel(order).tolist()
    below, beside = labels or ([""] * columns, [""] * rows)
    by_cell = {}
    for k, cell in enumerate(order):
        row, column = divmod(k, columns)
        middle = (left + CELL * (column + 0.5), PAD + CELL * (row + 0.5))
        name = names[k] if names else f"{below[column]}{beside[row]}"
        if cell >= 0:
            by_cell[cell] = Place(middle, shape or square(), cell, name)
    height = 2 * PAD + CELL * rows
    texts = []
    if labels:
        for column, text in enumerate(below):
            texts.append(text_at(left + CELL * (column + 0.5), height + 6, text, 12, SOFT))
        for row, text in enumerate(beside):
            texts.append(text_at(left - 11, PAD + CELL * (row + 0.5) + 4, text, 12, SOFT))
        height += 16
    return Drawing(
        places=[by_cell[cell] for cell in sorted(by_cell)],
        looks=looks or {},
        width=left + CELL * columns + PAD,
        height=height,
        behind=[*drawing.pop("behind", []), *texts],
        **drawing,
    )


def plain(layout, marks) -> Drawing:
    """Return the drawing of a game that declares none: its layout, with the numbers of the cells.

    A 0 is not shown. Nothing is clicked in it: each action has a button.
    """
    rows = np.atleast_2d(layout)
    looks = {code: mark(str(shown), 20) for code, shown in enumerate(marks.tolist()) if shown}
    looks[0] = looks.get(0, Look())
    looks[ANY] = mark("{}", 20)
    num_columns = rows.shape[-1]
    flat = rows.reshape(-1, num_columns)
    drawing = grid(*flat.shape, order=flat.ravel().tolist(), looks=looks)
    # the layout need not name all cells, and a place shows its own
    cells = sorted(cell for cell in flat.ravel().tolist() if cell >= 0)
    drawing.places = [place._replace(shows=cell) for place, cell in zip(drawing.places, cells)]
    return drawing
