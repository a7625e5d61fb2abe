"""The board of checkers as SVG text: dark squares with numbers, discs for men, rings for kings."""

from .svg import (
    CELL,
    INK,
    LEGEND_HEIGHT,
    LINE,
    MARKED,
    PAD,
    PAPER,
    SOFT,
    cell_group,
    document,
    finite_values,
    ink_on,
    legend,
    number,
    text_at,
    value_colour,
)

SIDE, SQUARES = 8, 32
DARK = "#d9d4cb"


def checkers_svg(marks, values=None, last=None, limit=1.0):
    """SVG of a checkers board; values stand on the squares where a move ends.

    Parameters: marks (sequence of str [32], "w" or "W" = White's man or king, "b" or "B" =
    Black's, "" = none, square 1 first), values ({square - 1: float} or None), last (square - 1 to
    be marked, or None), limit (float > 0).
    Raises ValueError for another number of squares, an unknown mark, or a value of no square.
    Example: checkers_svg(["b"] * 12 + [""] * 8 + ["w"] * 12, values={17: 0.4})
    """
    values = finite_values(values)
    if len(marks) != SQUARES or not set(marks) <= {"w", "W", "b", "B", ""}:
        raise ValueError(f"a board has {SQUARES} marks w, W, b, B or '', not {list(marks)}")
    if any(not 0 <= square < SQUARES for square in values):
        raise ValueError(f"values for {sorted(values)} do not belong to squares 0 to {SQUARES - 1}")
    width, parts = 2 * PAD + SIDE * CELL, []
    height = width
    for square, mark in enumerate(marks):
        row, place = divmod(square, 4)
        x, y = PAD + CELL * (2 * place + 1 - row % 2), PAD + CELL * row
        value = values.get(square)
        fill = MARKED if square == last else DARK if value is None else value_colour(value, limit)
        drawn = f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}"/>'
        drawn += text_at(x + 9, y + 12, square + 1, 9, SOFT)
        if mark:
            drawn += _piece(x + CELL / 2, y + CELL / 2, mark)
        elif value is not None:
            drawn += text_at(x + CELL / 2, y + CELL / 2 + 6, number(value), 14, ink_on(fill))
        parts.append(cell_group(square, drawn))
    parts.append(
        f'<rect x="{PAD}" y="{PAD}" width="{SIDE * CELL}" height="{SIDE * CELL}" '
        f'fill="none" stroke="{LINE}"/>'
    )
    if values:
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(width, height, parts)


def _piece(x, y, mark):
    fill, line = (PAPER, INK) if mark in "wW" else (INK, PAPER)
    parts = [
        f'<circle cx="{x:g}" cy="{y:g}" r="20" fill="{fill}" stroke="{INK}" stroke-width="2"/>'
    ]
    if mark in "WB":
        parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="12" fill="none" stroke="{line}" stroke-width="2"/>'
        )
        parts.append(text_at(x, y + 5, "K", 14, line, weight="bold"))
    return "".join(parts)
