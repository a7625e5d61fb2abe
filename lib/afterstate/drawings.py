"""Boards that are no plain grid, as SVG text: the tiles of 2048 and the hexagons of Hex. The rest is in ``board.py``."""
import math

from .board import (CELL, INK, LEGEND_HEIGHT, LEGEND_WIDTH, LINE, MARK_COLOURS, MARKED, PAD, PAPER, SOFT, _finite, _ink_on, _legend, _svg, _text,
                    number, value_colour)

EMPTY_TILE, TILE_LIGHT, TILE_DARK = "#eeeae4", (253, 231, 178), (122, 31, 92)  # from pale yellow to dark purple
LARGEST_SHADE = 13  # from this exponent on all tiles have the darkest colour


def tile_colour(exponent):
    """Fill colour of a tile of 2**exponent, 0 = empty."""
    if exponent == 0:
        return EMPTY_TILE
    share = min(exponent - 1, LARGEST_SHADE - 1) / (LARGEST_SHADE - 1)
    return "#" + "".join(f"{round(light + (dark - light) * share):02x}" for light, dark in zip(TILE_LIGHT, TILE_DARK))


def tiles_svg(exponents, score=None, values=None, last=None):
    """SVG of a 2048 board; action values stand at the side towards which the tiles slide.

    Parameters: exponents (sequence of int [16], 0 = empty, row by row), score (int or None), values ({action 0 left, 1 up,
    2 right, 3 down: float} or None; the greatest is marked), last (action of the last move or None: an arrow at its side).
    Raises ValueError for another number of cells.
    Example: tiles_svg([0] * 14 + [1, 2], score=0, values={0: 12.5, 1: 13.0})
    """
    if len(exponents) != 16:
        raise ValueError(f"a board of 2048 has 16 cells, not {len(exponents)}")
    values = _finite(values)
    side, top = 62 if values else 24, 24 + (22 if score is not None else 0)
    width, height = 2 * side + 4 * CELL, top + 4 * CELL + 24 + PAD
    parts = [] if score is None else [_text(PAD, PAD + 12, f"score {score:,}", 13, anchor="start")]
    for cell, exponent in enumerate(exponents):
        x, y, fill = side + CELL * (cell % 4), top + CELL * (cell // 4), tile_colour(exponent)
        parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="4" fill="{fill}" stroke="{LINE}"/>')
        if exponent:
            text = str(2**exponent)
            parts.append(_text(x + CELL / 2, y + CELL / 2 + 6, text, 20 if len(text) < 4 else 15, _ink_on(fill), weight="bold"))
    middle, best = top + 2 * CELL, max(values, key=values.get) if values else None
    places = {0: (side / 2, middle), 1: (width / 2, top - 8), 2: (width - side / 2, middle), 3: (width / 2, top + 4 * CELL + 18)}
    for action, (x, y) in places.items():
        if action in values:
            parts.append(_text(x, y, number(values[action]), 12, INK if action == best else SOFT, weight="bold" if action == best else "normal"))
        elif action == last:
            parts.append(_text(x, y, "\u25c0\u25b2\u25b6\u25bc"[action], 14, SOFT))
    return _svg(width, height, parts)


RADIUS = 27                              # of a hexagon, centre to corner
HEX_WIDTH = round(math.sqrt(3) * RADIUS, 1)
CORNERS = [(0.0, -1.0), (0.5, -0.5), (0.5, 0.5), (0.0, 1.0), (-0.5, 0.5), (-0.5, -0.5)]  # in (HEX_WIDTH, RADIUS), clockwise from the top


def hexagons_svg(marks, size, values=None, last=None, limit=1.0, notes=None):
    """SVG of a Hex board: a rhombus whose left and right sides are x's and whose upper and lower sides are o's.

    Parameters: marks (sequence of str [size * size], "x", "o" or "", row by row), size (int >= 1), values ({cell: float} or
    None), last (cell of the last move or None), limit (float > 0, end of the colour scale), notes ({name of another action:
    value} or None, written below the board).
    Raises ValueError if the cells do not fill the board or a value belongs to no cell.
    Example: hexagons_svg(["x", "", "", "o"], 2, values={1: 0.5})
    """
    marks, values = list(marks), _finite(values)
    if len(marks) != size * size:
        raise ValueError(f"a board of size {size} has {size * size} cells, not {len(marks)}")
    strays = [cell for cell in values if not 0 <= cell < len(marks)]
    if strays:
        raise ValueError(f"value for cell {strays[0]}, but the board has cells 0 to {len(marks) - 1}")
    left, top, cells, sides = PAD + 24, PAD + 24, [], []
    for cell, mark in enumerate(marks):
        row, column = divmod(cell, size)
        x, y = left + HEX_WIDTH * (column + row / 2 + 0.5), top + RADIUS * (1.5 * row + 1)
        cells.append(_hexagon(x, y, mark.strip(), values.get(cell), cell == last, limit))
        sides += _sides(x, y, row, column, size)
        if column == 0:
            cells.append(_text(x - HEX_WIDTH / 2 - 12, y + 2, row + 1, 12, SOFT))
        if row == 0:
            cells.append(_text(x, y - RADIUS - 8, "abcdefghijklmnopqrstuvwxyz"[column], 12, SOFT))
    width, height = left + HEX_WIDTH * (1.5 * size - 0.5) + PAD + 4, top + RADIUS * (1.5 * size + 0.5) + PAD
    parts = cells + sides
    for name, value in _finite(notes).items():
        parts.append(_text(PAD, height + 10, f"{name}: {number(value)}", 13, anchor="start"))
        height += 20
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(_legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return _svg(f"{width:g}", f"{height:g}", parts)


def _corner(x, y, k):
    across, down = CORNERS[k % 6]
    return f"{x + HEX_WIDTH * across:.1f},{y + RADIUS * down:.1f}"


def _hexagon(x, y, mark, value, is_last, limit):
    fill = MARKED if is_last else PAPER if value is None else value_colour(value, limit)
    parts = [f'<polygon points="{" ".join(_corner(x, y, k) for k in range(6))}" fill="{fill}" stroke="{LINE}"/>']
    if mark:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS * 0.62:.1f}" fill="{MARK_COLOURS[mark.upper()]}"/>')
        parts.append(_text(x, y + 6, mark, 18, PAPER, weight="bold"))
    elif value is not None:
        parts.append(_text(x, y + 5, number(value), 13, _ink_on(fill)))
    return "".join(parts)


def _sides(x, y, row, column, size):
    """Thick lines where a cell is at a player's side; at two of the corners a cell's edge goes to the upper or lower side."""
    edges = []
    if row == 0:
        edges += [("O", 5), ("O", 0)]
    if row == size - 1:
        edges += [("O", 2), ("O", 3)]
    if column == 0:
        edges += [("X", 4)] + [("X", 3)] * (row < size - 1)
    if column == size - 1:
        edges += [("X", 1)] + [("X", 0)] * (row > 0)
    return [f'<polyline points="{_corner(x, y, k)} {_corner(x, y, k + 1)}" stroke="{MARK_COLOURS[who]}" stroke-width="4" stroke-linecap="round" fill="none"/>'
            for who, k in edges]
