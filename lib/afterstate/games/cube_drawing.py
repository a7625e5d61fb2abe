"""The unfolded net of a Rubik's cube as SVG, and the values of the twists in a table below it."""

from .svg import (
    INK,
    LEGEND_HEIGHT,
    LEGEND_WIDTH,
    LINE,
    MARKED,
    PAD,
    PAPER,
    SOFT,
    document,
    finite_values,
    ink_on,
    legend,
    number,
    text_at,
    value_colour,
)

SIDE = 84  # of a face in pixels
GAP = 4  # between faces
COLOURS = {
    "U": "#ffffff",
    "L": "#1f5fbf",
    "F": "#f28c28",
    "D": "#f7d22e",
    "R": "#2e9e4f",
    "B": "#c8252c",
}  # white up, orange in front
ROWS = (
    ("U", 1, 0),
    ("L", 0, 1),
    ("F", 1, 1),
    ("R", 2, 1),
    ("B", 3, 1),
    ("D", 1, 2),
)  # face, column and row in the net
BOX_WIDTH, BOX_HEIGHT = 74, 26


def net_svg(stickers, size, names, values=None, last=None, limit=1.0):
    """SVG of an unfolded cube.

    Parameters
    ----------
    stickers : str, [6 * size * size]
        Letters of the faces that the stickers belong to, row by row of the net: U, then L F R B
        together, then D.
    size : int
    names : sequence of str
        All twists, three of each face.
    values : mapping action -> float, optional
        Shown in a table below the net; the greatest is marked.
    last : int, optional
        The action that led here.
    limit : float
        Above 0; end of the colour scale.

    Raises
    ------
    ValueError
        If the stickers do not fill the net or a value belongs to no twist.

    Examples
    --------
    >>> from afterstate.games.cube_drawing import net_svg
    >>> net_svg("UUUU" + "LLFFRRBB" * 2 + "DDDD", 2, ["U", "U2", "U'"]).count("<rect")
    25
    """
    if len(stickers) != 6 * size * size or not set(stickers) <= set(COLOURS):
        raise ValueError(
            f"a cube of size {size} has {6 * size * size} stickers from {''.join(COLOURS)}, "
            f"not {stickers!r}"
        )
    values = finite_values(values)
    strays = [action for action in values if not 0 <= action < len(names)]
    if strays:
        raise ValueError(f"value for twist {strays[0]}, but they are 0 to {len(names) - 1}")
    parts = [_face(stickers, size, face, column, row) for face, column, row in ROWS]
    if last is not None:
        parts.append(
            text_at(
                PAD + 2 * (SIDE + GAP), PAD + 16, f"last twist {names[last]}", 13, anchor="start"
            )
        )
    width, height = 2 * PAD + 4 * SIDE + 3 * GAP, 2 * PAD + 3 * SIDE + 2 * GAP
    if values:
        parts += [
            _box(values.get(action), name, action, values, height, limit)
            for action, name in enumerate(names)
        ]
        height += BOX_HEIGHT * 3 + PAD
        width = max(width, LEGEND_WIDTH, 2 * PAD + BOX_WIDTH * (len(names) // 3))
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(width, height, parts)


def _face(stickers, size, face, column, row):
    """Return the squares of one face."""
    area = size * size
    band = (stickers[:area], stickers[area : 5 * area], stickers[5 * area :])[row]
    per_row, before = (4 * size, column * size) if row == 1 else (size, 0)
    side, parts = SIDE / size, []
    square = f'width="{side - 2:g}" height="{side - 2:g}" rx="3" stroke="{INK}"'
    for k in range(size * size):
        colour = COLOURS[band[per_row * (k // size) + before + k % size]]
        x = PAD + column * (SIDE + GAP) + side * (k % size) + 1
        y = PAD + row * (SIDE + GAP) + side * (k // size) + 1
        parts.append(f'<rect x="{x:g}" y="{y:g}" {square} fill="{colour}"/>')
    return "".join(parts)


def _box(value, name, action, values, top, limit):
    """One twist of the table: a column for each face, its three twists below each other."""
    x, y = PAD + BOX_WIDTH * (action // 3), top + BOX_HEIGHT * (action % 3)
    fill = PAPER if value is None else value_colour(value, limit)
    best = value is not None and action == max(values, key=values.get)
    ink = SOFT if value is None else ink_on(fill)
    frame = f'stroke="{MARKED if best else LINE}" stroke-width="{3 if best else 1}"'
    size = f'width="{BOX_WIDTH - 4}" height="{BOX_HEIGHT - 4}"'
    box = f'<rect x="{x + 2}" y="{y + 2}" {size} fill="{fill}" {frame}/>'
    box += text_at(x + 8, y + 17, name, 12, ink, anchor="start", weight="bold")
    if value is None:
        return box
    return box + text_at(x + BOX_WIDTH - 6, y + 17, number(value), 11, ink, anchor="end")
