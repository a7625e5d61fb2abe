"""Boards that are no plain grid, as SVG text: the tiles of 2048. The rest is in ``board.py``."""
from .board import CELL, INK, LINE, PAD, SOFT, _finite, _ink_on, _svg, _text, number

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
