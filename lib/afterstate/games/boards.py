"""Boards as SVG text: grids, heaps, joined points, the tiles of 2048, the hexagons of Hex."""

import math

from .svg import (
    CELL,
    INK,
    LEGEND_HEIGHT,
    LEGEND_WIDTH,
    LINE,
    MARK_COLOURS,
    PAD,
    PAPER,
    SOFT,
    cell_group,
    document,
    finite_values,
    heading,
    heading_width,
    ink_on,
    legend,
    number,
    square,
    stone,
    text_at,
    value_colour,
)

# from pale yellow to dark purple
EMPTY_TILE, TILE_LIGHT, TILE_DARK = "#eeeae4", (253, 231, 178), (122, 31, 92)
LARGEST_SHADE = 13  # from this exponent on all tiles have the darkest colour


def tile_colour(exponent):
    """Return the fill colour of a tile of 2**exponent, 0 = empty."""
    if exponent == 0:
        return EMPTY_TILE
    share = min(exponent - 1, LARGEST_SHADE - 1) / (LARGEST_SHADE - 1)
    return "#" + "".join(
        f"{round(light + (dark - light) * share):02x}" for light, dark in zip(TILE_LIGHT, TILE_DARK)
    )


def tiles_svg(exponents, score=None, values=None, last=None):
    """Draw a 2048 board; values stand at the side towards which the tiles slide.

    Parameters
    ----------
    exponents : sequence of int [16]
        0 = empty, row by row.
    score : int, optional
    values : dict, optional
        Action (0 left, 1 up, 2 right, 3 down) -> value; the greatest is marked.
    last : int, optional
        The last action: an arrow at its side.
    """
    if len(exponents) != 16:
        raise ValueError(f"a board of 2048 has 16 cells, not {len(exponents)}")
    values = finite_values(values)
    side, top = 62 if values else 24, 24 + (22 if score is not None else 0)
    width, height = 2 * side + 4 * CELL, top + 4 * CELL + 24 + PAD
    parts = [] if score is None else [heading(f"score {score:,}")]
    for cell, exponent in enumerate(exponents):
        x, y, fill = side + CELL * (cell % 4), top + CELL * (cell // 4), tile_colour(exponent)
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="4"'
            f' fill="{fill}" stroke="{LINE}"/>'
        )
        if exponent:
            text = str(2**exponent)
            parts.append(
                text_at(
                    x + CELL / 2,
                    y + CELL / 2 + 6,
                    text,
                    20 if len(text) < 4 else 15,
                    ink_on(fill),
                    weight="bold",
                )
            )
    middle, best = top + 2 * CELL, max(values, key=values.get) if values else None
    places = {
        0: (side / 2, middle),
        1: (width / 2, top - 8),
        2: (width - side / 2, middle),
        3: (width / 2, top + 4 * CELL + 18),
    }
    for action, (x, y) in places.items():
        arrow, is_best = "\u25c0\u25b2\u25b6\u25bc"[action], action == best
        shown = text_at(x, y, arrow, 14, INK if action == last else LINE)
        if action in values:
            ink, weight = (INK, "bold") if is_best else (SOFT, "normal")
            shown = text_at(x, y, number(values[action]), 12, ink, weight=weight)
        parts.append(cell_group(action, shown + _border(action, side, top, width)))
    return document(width, height, parts)


def _border(action, side, top, width):
    """Return the strip beside the tiles, on one side of them, that stands for sliding there."""
    across, least = 4 * CELL, min(side, 24)
    x, y, wide, high = (
        (0, top, side, across),
        (side, top - 24, across, 24),
        (width - side, top, max(side, least), across),
        (side, top + across, across, 24),
    )[action]
    place = f'x="{x}" y="{y}" width="{wide}" height="{high}"'
    return f'<rect {place} fill="{INK}" fill-opacity="0.03" stroke="none"/>'


RADIUS = 27  # of a hexagon, centre to corner
HEX_WIDTH = round(math.sqrt(3) * RADIUS, 1)
# in (HEX_WIDTH, RADIUS), clockwise from the top
CORNERS = [(0.0, -1.0), (0.5, -0.5), (0.5, 0.5), (0.0, 1.0), (-0.5, 0.5), (-0.5, -0.5)]


def hexagons_svg(marks, size, values=None, last=None, limit=1.0, notes=None):
    """Draw a Hex board: left and right are the sides of x, above and below those of o.

    Parameters
    ----------
    marks : sequence of str [size * size]
        "x", "o" or "", row by row.
    size : int
        At least 1.
    values : dict, optional
        Cell -> value.
    last : int, optional
        Cell of the last move.
    limit : float
        End of the colour scale, above 0.
    notes : dict, optional
        Name of another action -> value, written below the board.

    Raises
    ------
    ValueError
        If the cells do not fill the board or a value belongs to no cell.
    """
    marks, values = list(marks), finite_values(values)
    if len(marks) != size * size:
        raise ValueError(f"a board of size {size} has {size * size} cells, not {len(marks)}")
    strays = [cell for cell in values if not 0 <= cell < len(marks)]
    if strays:
        raise ValueError(
            f"value for cell {strays[0]}, but the board has cells 0 to {len(marks) - 1}"
        )
    left, top, cells, sides = PAD + 24, PAD + 24, [], []
    for cell, mark in enumerate(marks):
        row, column = divmod(cell, size)
        x, y = left + HEX_WIDTH * (column + row / 2 + 0.5), top + RADIUS * (1.5 * row + 1)
        drawn = _hexagon(x, y, mark.strip(), values.get(cell), cell == last, limit)
        cells.append(cell_group(cell, drawn))
        sides += _sides(x, y, row, column, size)
        if column == 0:
            cells.append(text_at(x - HEX_WIDTH / 2 - 12, y + 2, row + 1, 12, SOFT))
        if row == 0:
            cells.append(text_at(x, y - RADIUS - 8, "abcdefghijklmnopqrstuvwxyz"[column], 12, SOFT))
    width, height = (
        left + HEX_WIDTH * (1.5 * size - 0.5) + PAD + 4,
        top + RADIUS * (1.5 * size + 0.5) + PAD,
    )
    parts = cells + sides
    for name, value in finite_values(notes).items():
        parts.append(text_at(PAD, height + 10, f"{name}: {number(value)}", 13, anchor="start"))
        height += 20
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(f"{width:g}", f"{height:g}", parts)


def _corner(x, y, k):
    across, down = CORNERS[k % 6]
    return f"{x + HEX_WIDTH * across:.1f},{y + RADIUS * down:.1f}"


def _hexagon(x, y, mark, value, is_last, limit):
    fill = PAPER if value is None else value_colour(value, limit)
    parts = [
        f'<polygon points="{" ".join(_corner(x, y, k) for k in range(6))}" fill="{fill}"'
        f' stroke="{LINE}"/>'
    ]
    if mark:
        parts.append(stone(x, y, RADIUS * 0.62, MARK_COLOURS[mark.upper()], is_last))
    elif value is not None:
        parts.append(text_at(x, y + 5, number(value), 13, ink_on(fill)))
    return "".join(parts)


def _sides(x, y, row, column, size):
    """Return thick lines where a cell is at a player's side.

    At two of the corners a cell's edge goes to the upper or lower side.
    """
    edges = []
    if row == 0:
        edges += [("O", 5), ("O", 0)]
    if row == size - 1:
        edges += [("O", 2), ("O", 3)]
    if column == 0:
        edges += [("X", 4)] + [("X", 3)] * (row < size - 1)
    if column == size - 1:
        edges += [("X", 1)] + [("X", 0)] * (row > 0)
    return [
        f'<polyline points="{_corner(x, y, k)} {_corner(x, y, k + 1)}" stroke="{MARK_COLOURS[who]}"'
        ' stroke-width="4" stroke-linecap="round" fill="none"/>'
        for who, k in edges
    ]


def grid_svg(marks, columns, values=None, last=None, limit=1.0, title="", labels=None, stones=None):
    """Draw a rectangular board: marks, and the values of moving into empty cells.

    Parameters
    ----------
    marks : sequence of str [cells]
        "" or " " = empty, row by row.
    columns : int
        At least 1.
    values : dict, optional
        Cell -> value.
    last : int, optional
        Cell of the last move.
    limit : float
        End of the colour scale, above 0.
    title : str
    labels : (sequence of str, sequence of str), optional
        Coordinates: below the columns, and beside the rows from top to bottom.
    stones : dict, optional
        Mark -> colour of the disc that is drawn in its place.

    Raises
    ------
    ValueError
        If the cells do not fill whole rows or a value belongs to no cell.
    """
    marks = list(marks)
    if columns < 1 or len(marks) % columns:
        raise ValueError(
            f"{len(marks)} cells do not fill rows of {columns}; give columns that divide the number"
            " of cells"
        )
    values = finite_values(values)
    strays = [cell for cell in values if not 0 <= cell < len(marks)]
    if strays:
        raise ValueError(
            f"value for cell {strays[0]}, but the board has cells 0 to {len(marks) - 1}"
        )
    top, left = PAD + (22 if title else 0), PAD + (18 if labels else 0)
    rows, parts = len(marks) // columns, [heading(title)]
    for cell, mark in enumerate(marks):
        x, y = left + CELL * (cell % columns), top + CELL * (cell // columns)
        drawn = square(x, y, mark.strip(), values.get(cell), cell == last, limit, stones)
        parts.append(cell_group(cell, drawn))
    width, height = left + CELL * columns + PAD, top + CELL * rows + PAD
    if labels:
        for k, text in enumerate(labels[0]):
            parts.append(text_at(left + CELL * (k + 0.5), height + 6, text, 12, SOFT))
        for k, text in enumerate(labels[1]):
            parts.append(text_at(left - 11, top + CELL * (k + 0.5) + 4, text, 12, SOFT))
        height += 16
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(max(width, heading_width(title)), height, parts)
