"""Boards as plain SVG text: grids, tiles, hexagons, heaps, joined points, houses, nets of cubes.

Each ``..._svg`` function returns one ``<svg ...>`` element without an `id`, so any number of them
can stand on one page. Its `values` are {place of the board: value}: a finite one is drawn on its
colour, from orange (-1 and below) through white to purple (1 and above), and one of no place raises
ValueError. `last` is the place of the last move, which is marked. A place is a group with its
number (``data-cell``), which says what a click on it means.
"""

import math
from html import escape

CELL = 56  # side of a cell in pixels
PAD = 8
INK, LINE, PAPER, SOFT, MARKED = "#1a1a1a", "#8a8a8a", "#ffffff", "#5c5c5c", "#f6d55c"
DARK_SQUARE, HEAP_STONE, EMPTY_TILE = "#d9d4cb", "#d9d9d9", "#eeeae4"
MARK_COLOURS = {"x": "#1a1a1a", "o": "#0077bb"}
# orange - white - purple: safe for colour-blind readers
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)
TILE_LIGHT, TILE_DARK = (253, 231, 178), (122, 31, 92)  # from pale yellow to dark purple
LARGEST_SHADE = 13  # from this exponent on all tiles have the darkest colour
RADIUS = 27  # of a hexagon, centre to corner
HEX_WIDTH = round(math.sqrt(3) * RADIUS, 1)
# in (HEX_WIDTH, RADIUS), clockwise from the top
CORNERS = [(0.0, -1.0), (0.5, -0.5), (0.5, 0.5), (0.0, 1.0), (-0.5, 0.5), (-0.5, -0.5)]
FACE, GAP = 84, 4  # of a cube: side of a face, and between faces
TWIST_WIDTH, TWIST_HEIGHT = 74, 26
NET = {  # face: colour (white up, orange in front), column and row in the net
    "U": ("#ffffff", 1, 0),
    "L": ("#1f5fbf", 0, 1),
    "F": ("#f28c28", 1, 1),
    "R": ("#2e9e4f", 2, 1),
    "B": ("#c8252c", 3, 1),
    "D": ("#f7d22e", 1, 2),
}


# -------------------------------------------------------------------------------- parts of drawings
def element(kind, content=None, **attributes) -> str:
    """Return an SVG element; an attribute's underscores become hyphens."""
    written = "".join(
        f' {name.replace("_", "-")}="{value if isinstance(value, str) else format(value, "g")}"'
        for name, value in attributes.items()
    )
    return f"<{kind}{written}/>" if content is None else f"<{kind}{written}>{content}</{kind}>"


def rect(x, y, width, height, fill, **more) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, **more)


def circle(x, y, r, fill, stroke=LINE, **more) -> str:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, **more)


def text_at(x, y, text, size, fill=INK, anchor="middle", weight="normal", **more) -> str:
    """Return a line of text at a place."""
    return element(
        "text",
        escape(str(text)),
        x=x,
        y=y,
        font_family="'DejaVu Sans Mono', Consolas, monospace",
        font_size=size,
        font_weight=weight,
        text_anchor=anchor,
        fill=fill,
        **more,
    )


def place(number, *parts) -> str:
    """Return parts of a drawing as a group that says the number of its place."""
    return element("g", "".join(parts), data_cell=number)


def number(value) -> str:
    """Return a value as it stands in a cell: two decimals with sign, from 10 on three digits."""
    for least, unit, letter in ((999_500, 1e6, "M"), (999.5, 1e3, "k"), (10, 1, "")):
        if abs(value) >= least:
            return f"{value / unit:+.3g}{letter}"
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00")


def finite_values(values, places=None, what="cell") -> dict:
    """Return the finite ones of some values as floats; raise ValueError for one of no place."""
    found = {key: float(value) for key, value in (values or {}).items() if math.isfinite(value)}
    for key in found if places is not None else ():
        if not 0 <= key < places:
            raise ValueError(f"value for {what} {key}, but there are {what}s 0 to {places - 1}")
    return found


def blend(light, dark, share) -> str:
    """Return a colour between two."""
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(light, dark))


def value_colour(value, empty=PAPER) -> str:
    """Return the colour of a value from -1 to 1, or that of no value."""
    if value is None:
        return empty
    return blend(NEUTRAL, POSITIVE if value >= 0 else NEGATIVE, min(1.0, abs(value)))


def label(x, y, value, size, fill, **more) -> str:
    """Return a value in an ink that can be read on a colour, or nothing if there is none."""
    if value is None:
        return ""
    red, green, blue = (int(fill[k : k + 2], 16) for k in (1, 3, 5))
    light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    text = value if isinstance(value, (int, str)) else number(value)
    return text_at(x, y, text, size, INK if light else PAPER, **more)


def stone(x, y, radius, colour, is_last=False) -> str:
    """Return a stone; the last one has a spot."""
    drawn = circle(x, y, radius, colour, INK, stroke_width=1.5)
    return drawn + circle(x, y, radius * 0.35, MARKED, INK) if is_last else drawn


def document(parts, width, height, values=None, title="", notes=None, legend_note="") -> str:
    """Return a drawing as SVG text with a background of its own, readable on a dark page.

    Below it stand the `notes` {name: value} and, if it shows values, their colour scale.
    """
    parts = [*parts]
    if title:
        parts.append(text_at(PAD, PAD + 12, title, 13, anchor="start"))
        width = max(width, 2 * PAD + 8 * len(title))
    for name, value in finite_values(notes).items():
        parts.append(text_at(PAD, height + 10, f"{name}: {number(value)}", 13, anchor="start"))
        width, height = max(width, 160), height + 20
    if values:
        width = max(width, 240)
        parts += _legend(height, width - 2 * PAD, legend_note)
        height += 58 + 16 * bool(legend_note)
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    return element(
        "svg",
        element("rect", **size, fill=PAPER) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        **size,
        viewBox=f"0 0 {width:g} {height:g}",
        style="max-width:100%;height:auto",  # where a page is narrower than the drawing
    )


def _legend(y, width, note) -> list:
    """Return the colour scale of values with its ends."""
    parts, steps = [], 41
    parts.append(text_at(PAD, y + 12, "value of the resulting afterstate", 11, SOFT, "start"))
    for step in range(steps):
        x, colour = PAD + width * step / steps, value_colour(2 * step / (steps - 1) - 1)
        parts.append(rect(x, y + 18, width / steps + 0.5, 12, colour))
    parts.append(rect(PAD, y + 18, width, 12, "none", stroke=LINE))
    ends = ((0, "-1.00 bad", "start"), (0.5, "0", "middle"), (1, "good +1.00", "end"))
    parts += [text_at(PAD + width * x, y + 46, text, 12, SOFT, side) for x, text, side in ends]
    return parts + [text_at(PAD, y + 64, note, 9, SOFT, "start")] * bool(note)


# ------------------------------------------------------------------------------------------- boards
def grid_svg(
    marks, columns, values=None, last=None, title="", labels=None, stones=None, notes=None
) -> str:
    """Draw a rectangular board: marks, row by row, and the values of moving into empty cells.

    `labels` are the coordinates below the columns, and those beside the rows from top to bottom;
    `stones` {mark: colour of the disc in its place}; `notes` {name: value} are written below.
    Raises ValueError if the cells do not fill whole rows.
    """
    marks = [mark.strip() for mark in marks]
    if columns < 1 or len(marks) % columns:
        raise ValueError(
            f"{len(marks)} cells do not fill rows of {columns}; give columns that divide the number"
            " of cells"
        )
    values, rows, parts = finite_values(values, len(marks)), len(marks) // columns, []
    left, top = PAD + 18 * bool(labels), PAD + 22 * bool(title)
    for cell, mark in enumerate(marks):
        row, column = divmod(cell, columns)
        value, is_last = values.get(cell), cell == last
        x, y = left + CELL * column, top + CELL * row
        middle = x + CELL / 2, y + CELL / 2
        fill = MARKED if is_last and not (stones and mark) else value_colour(value)
        drawn = rect(x, y, CELL, CELL, fill, stroke=LINE)
        if mark and stones:
            drawn += stone(*middle, 0.4 * CELL, stones[mark], is_last)
        elif mark:
            ink = MARK_COLOURS.get(mark.lower(), INK)
            drawn += text_at(middle[0], middle[1] + 10, mark, 30, ink, weight="bold")
        else:
            drawn += label(middle[0], middle[1] + 5, value, 14, fill)
        parts.append(place(cell, drawn))
    width, height = left + CELL * columns + PAD, top + CELL * rows + PAD
    if labels:
        for k, text in enumerate(labels[0]):
            parts.append(text_at(left + CELL * (k + 0.5), height + 6, text, 12, SOFT))
        for k, text in enumerate(labels[1]):
            parts.append(text_at(left - 11, top + CELL * (k + 0.5) + 4, text, 12, SOFT))
        height += 16
    return document(parts, width, height, values, title, notes)


def tiles_svg(exponents, score, values=None, last=None) -> str:
    """Draw a 2048 board (0 = empty); values stand at the side towards which the tiles slide."""
    values = finite_values(values, 4)
    best, board = max(values, key=values.get, default=None), 4 * CELL
    side, top, parts = 62 if values else 24, 46, []
    for cell, exponent in enumerate(exponents):
        x, y = side + CELL * (cell % 4), top + CELL * (cell // 4)
        shade = min(1.0, (exponent - 1) / (LARGEST_SHADE - 1))
        fill = blend(TILE_LIGHT, TILE_DARK, shade) if exponent else EMPTY_TILE
        parts.append(rect(x + 1, y + 1, CELL - 2, CELL - 2, fill, rx=4, stroke=LINE))
        if exponent:
            middle, size = (x + CELL / 2, y + CELL / 2 + 6), 20 if exponent < 10 else 15
            parts.append(label(*middle, 2**exponent, size, fill, weight="bold"))
    sides = (  # left, up, right, down: an arrow, a strip for clicks, the height of the text
        ("\u25c0", (0, top, side, board), top + board / 2),
        ("\u25b2", (side, top - 24, board, 24), top - 8),
        ("\u25b6", (side + board, top, side, board), top + board / 2),
        ("\u25bc", (side, top + board, board, 24), top + board + 18),
    )
    for action, (arrow, strip, y) in enumerate(sides):
        x, shown = strip[0] + strip[2] / 2, [arrow, 14, INK if action == last else LINE]
        if action in values:
            shown = [number(values[action]), 12, INK if action == best else SOFT]
        weight, lit = "bold" if action == best else "normal", {"fill_opacity": 0.03}
        shown = text_at(x, y, *shown, weight=weight)
        parts.append(place(action, shown, rect(*strip, INK, **lit, stroke="none")))
    width, height = 2 * side + board, top + board + 24 + PAD
    return document(parts, width, height, title=f"score {score:,}")


def hexagons_svg(marks, size, values=None, last=None, notes=None) -> str:
    """Draw a Hex board: left and right are the sides of x, above and below those of o.

    `marks` are "x", "o" or "", row by row; `notes` are {name of another action: value}.
    """
    values, parts, sides = finite_values(values, size * size), [], []
    left = top = PAD + 24
    for cell, mark in enumerate(marks):
        row, column = divmod(cell, size)
        x, y = left + HEX_WIDTH * (column + row / 2 + 0.5), top + RADIUS * (1.5 * row + 1)
        corners = [f"{x + HEX_WIDTH * a:.1f},{y + RADIUS * b:.1f}" for a, b in CORNERS]
        value, fill = values.get(cell), value_colour(values.get(cell))
        drawn = element("polygon", points=" ".join(corners), fill=fill, stroke=LINE)
        if mark:
            drawn += stone(x, y, RADIUS * 0.62, MARK_COLOURS[mark], cell == last)
        else:
            drawn += label(x, y + 5, value, 13, fill)
        parts.append(place(cell, drawn))
        for who, k in _edges(row, column, size):
            ends, ink = f"{corners[k]} {corners[(k + 1) % 6]}", MARK_COLOURS[who]
            thick = {"stroke": ink, "stroke_width": 4, "stroke_linecap": "round"}
            sides.append(element("polyline", points=ends, **thick, fill="none"))
        if column == 0:
            sides.append(text_at(x - HEX_WIDTH / 2 - 12, y + 2, row + 1, 12, SOFT))
        if row == 0:
            sides.append(text_at(x, y - RADIUS - 8, chr(ord("a") + column), 12, SOFT))
    width = left + HEX_WIDTH * (1.5 * size - 0.5) + PAD + 4
    height = top + RADIUS * (1.5 * size + 0.5) + PAD
    return document(parts + sides, width, height, values, notes=notes)


def _edges(row, column, size) -> list:
    """Return which edges of a cell are at a player's side; at two corners one is shared out."""
    edges = [("o", 5), ("o", 0)] * (row == 0) + [("o", 2), ("o", 3)] * (row == size - 1)
    if column == 0:
        edges += [("x", 4)] + [("x", 3)] * (row < size - 1)
    if column == size - 1:
        edges += [("x", 1)] + [("x", 0)] * (row > 0)
    return edges


def checkers_svg(marks, values=None, last=None) -> str:
    """Draw a checkers board; values stand on the squares where a move ends.

    `marks` [32], square 1 first, are "w" or "W" for White's man or king, "b" or "B", or "".
    """
    values, side, parts = finite_values(values, len(marks)), 8 * CELL, []
    for square, mark in enumerate(marks):
        row, column = divmod(square, 4)
        x, y = PAD + CELL * (2 * column + 1 - row % 2), PAD + CELL * row
        value, middle = values.get(square), (x + CELL / 2, y + CELL / 2)
        fill = MARKED if square == last else value_colour(value, DARK_SQUARE)
        drawn = rect(x, y, CELL, CELL, fill) + text_at(x + 9, y + 12, square + 1, 9, SOFT)
        if mark:
            colour, line = (PAPER, INK) if mark in "wW" else (INK, PAPER)
            drawn += circle(*middle, 20, colour, INK, stroke_width=2)
        else:
            drawn += label(middle[0], middle[1] + 6, value, 14, fill)
        if mark.isupper():
            drawn += circle(*middle, 12, "none", line, stroke_width=2)
            drawn += text_at(middle[0], middle[1] + 5, "K", 14, line, weight="bold")
        parts.append(place(square, drawn))
    parts.append(rect(PAD, PAD, side, side, "none", stroke=LINE))
    return document(parts, side + 2 * PAD, side + 2 * PAD, values)


def heaps_svg(heaps, take, size, values=None, last=None) -> str:
    """Draw Nim heaps as rows of stones; a move takes a circle and all to its right.

    Places are actions: heap * `take` + stones taken - 1. A row has room for `size` stones; those
    that were taken last are dashed circles.
    """
    values, parts, left = finite_values(values, len(heaps) * take), [], PAD + 22
    taken = {} if last is None else {last // take: last % take + 1}
    longest = max(size, *(heap + taken.get(row, 0) for row, heap in enumerate(heaps)))
    for row, heap in enumerate(heaps):
        y = PAD + CELL * (row + 0.5)
        parts.append(text_at(PAD + 8, y + 5, heap, 14, SOFT))
        for count in range(heap, -taken.get(row, 0), -1):
            x, action = left + CELL * (heap - count + 0.5), row * take + count - 1
            if count < 1:
                parts.append(circle(x, y, 22, "none", stroke_dasharray="3 3"))
                continue
            value = values.get(action) if count <= take else None
            fill = value_colour(value, HEAP_STONE)
            drawn = circle(x, y, 24, fill) + label(x, y + 5, value, 12, fill)
            parts.append(place(action, drawn) if count <= take else drawn)
    note = "a circle = taking it and all to its right"
    width, height = left + CELL * longest + PAD, 2 * PAD + CELL * len(heaps)
    return document(parts, width, height, values, legend_note=note)


def points_svg(places, steps, marks, values=None, last=None, title="", names=None) -> str:
    """Draw a board whose men stand on points that are joined by lines.

    `places` are (x, y) of the points in grid units, `steps` pairs of points that a line joins, and
    `marks` "x", "o" or "."; `names` are written beside the points.
    """
    values, top, parts = finite_values(values, len(places)), PAD + 22 * bool(title), []
    centres = [(PAD + CELL * (x + 0.5), top + CELL * (y + 0.5)) for x, y in places]
    for (ax, ay), (bx, by) in ((centres[a], centres[b]) for a, b in steps):
        parts.append(element("line", x1=ax, y1=ay, x2=bx, y2=by, stroke=LINE, stroke_width=2))
    for point, (x, y) in enumerate(centres):
        mark, value = marks[point], values.get(point)
        fill = {"x": INK, "o": PAPER}.get(mark, value_colour(value, LINE))
        radius, edge = 4 if mark == "." and value is None else 20, INK if mark == "o" else LINE
        drawn = circle(x, y, radius, fill, edge, stroke_width=2)
        drawn += element("circle", cx=x, cy=y, r=22, fill=PAPER, fill_opacity=0)  # takes clicks
        parts.append(place(point, drawn, label(x, y + 5, value, 12, fill)))
        if point == last:
            parts.append(circle(x, y, 20, "none", MARKED, stroke_width=5))
        if names:
            parts.append(text_at(x + 25, y + 24, names[point], 10, SOFT))
    width, height = (2 * PAD + CELL * (max(axis) + 1) for axis in zip(*places))
    return document(parts, width, height + top - PAD, values, title)


def houses_svg(rows, stores, names, values=None, last=None) -> str:
    """Draw a board of Kalah: two rows of houses with their seeds, a store at each end.

    `rows` and `names` are those of the upper and of the lower row from left to right, `stores` the
    seeds in the left and in the right one. Places are the houses of both rows, one after the other.
    """
    values, length, top = finite_values(values, 2 * len(rows[0])), len(rows[0]), PAD + 18
    parts = []
    for house, seeds in enumerate([*rows[0], *rows[1]]):
        row, column = divmod(house, length)
        x, y = PAD + CELL * (column + 1.5), top + CELL * (1.25 * row + 0.5)
        edge, thick = (MARKED, 5) if house == last else (LINE, 2)
        value, fill = values.get(house), value_colour(values.get(house))
        drawn = circle(x, y, 24, fill, edge, stroke_width=thick)
        drawn += label(x, y + 7 * (value is None), seeds, 20, fill)
        parts.append(place(house, drawn, label(x, y + 16, value, 11, fill)))
        parts.append(text_at(x, y + (41 if row else -30), names[row][column], 12, SOFT))
    for column, seeds in zip((0, length + 1), stores):
        x = PAD + CELL * column + 4
        parts.append(rect(x, top + 7, CELL - 8, 2 * CELL, PAPER, rx=18, stroke=LINE))
        parts.append(text_at(x + CELL / 2 - 4, top + 1.25 * CELL, seeds, 22, weight="bold"))
    width, height = 2 * PAD + CELL * (length + 2), top + 2.25 * CELL + PAD + 18
    return document(parts, width, height, values)


def net_svg(stickers, size, names, values=None, last=None) -> str:
    """Draw an unfolded cube, and the values of its twists in a table below; the best is marked.

    `stickers` are letters of the faces that they belong to, row by row of the net: U, then L F R B
    together, then D. `names` are those of all twists, three of each face.
    """
    values, parts = finite_values(values, len(names), "twist"), []
    area, side = size * size, FACE / size
    bands = stickers[:area], stickers[area : 5 * area], stickers[5 * area :]
    for _, column, row in NET.values():
        per_row, before = (4 * size, column * size) if row == 1 else (size, 0)
        for k in range(area):
            down, across = divmod(k, size)
            x = PAD + column * (FACE + GAP) + side * across + 1
            y = PAD + row * (FACE + GAP) + side * down + 1
            colour = NET[bands[row][per_row * down + before + across]][0]
            parts.append(rect(x, y, side - 2, side - 2, colour, rx=3, stroke=INK))
    if last is not None:
        x, told = PAD + 2 * (FACE + GAP), f"last twist {names[last]}"
        parts.append(text_at(x, PAD + 16, told, 13, anchor="start"))
    width, height = 2 * PAD + 4 * FACE + 3 * GAP, 2 * PAD + 3 * FACE + 2 * GAP
    if values:
        best = max(values, key=values.get)
        for action, name in enumerate(names):
            x, y = PAD + TWIST_WIDTH * (action // 3), height + TWIST_HEIGHT * (action % 3)
            value, wide, high = values.get(action), TWIST_WIDTH - 4, TWIST_HEIGHT - 4
            fill, (line, thick) = value_colour(value), (MARKED, 3) if action == best else (LINE, 1)
            parts.append(rect(x + 2, y + 2, wide, high, fill, stroke=line, stroke_width=thick))
            parts.append(label(x + 8, y + 17, name, 12, fill, anchor="start", weight="bold"))
            parts.append(label(x + TWIST_WIDTH - 6, y + 17, value, 11, fill, anchor="end"))
        width = max(width, 2 * PAD + TWIST_WIDTH * (len(names) // 3))
        height += TWIST_HEIGHT * 3 + PAD
    return document(parts, width, height, values)
