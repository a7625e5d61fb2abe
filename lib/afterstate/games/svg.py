"""Boards as plain SVG text: single positions, heat maps of values, games as rows of boards.

A game shows its own board if it was made with `Game(..., svg=hook)`, a plain function `hook(state,
values=None, last=None) -> str`:

    values   {action: value of the afterstate that the action leads to} or None
    last     the action that led to this position or None

The hook returns one `<svg ...>` element, usually from `grid_svg` or `heaps_svg`. A game without a
hook is shown as the text of `game.render(state)`. No drawing contains an `id`, so any number of
them can stand on one page.
"""

import math
import re
from collections.abc import Mapping
from html import escape

CELL = 56  # side of a cell in pixels
PAD = 8
FONT = "font-family=\"'DejaVu Sans Mono', Consolas, monospace\""
INK, LINE, PAPER, SOFT, MARKED = "#1a1a1a", "#8a8a8a", "#ffffff", "#5c5c5c", "#f6d55c"
# orange - white - purple: safe for colour-blind readers
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)
CODE_COLOURS = ("#1a1a1a", "#f4f4f4", "#0077bb", "#d1495b")  # of stones without a drawing
MARK_COLOURS = {"X": "#1a1a1a", "O": "#0077bb"}


def value_colour(value, limit=1.0):
    """Return the colour of a value on the scale from orange through white to purple.

    Parameters
    ----------
    value : float
    limit : float
        Above 0; -limit and all below is orange, +limit and all above purple.

    Examples
    --------
    >>> from afterstate.games.svg import value_colour
    >>> value_colour(0.0)
    '#f7f7f7'
    """
    if not limit > 0:
        raise ValueError(f"limit of the colour scale is {limit!r}; give a number above 0")
    share = max(-1.0, min(1.0, value / limit))
    end = POSITIVE if share >= 0 else NEGATIVE
    return "#" + "".join(
        f"{round(low + (high - low) * abs(share)):02x}"
        for low, high in zip(NEUTRAL, end, strict=True)
    )


def number(value):
    """Return a value as it stands in a cell: two decimals with sign.

    From 10 on three digits, thousands as k, millions as M.
    """
    if abs(value) >= 999_500:
        return f"{value / 1e6:+.3g}M"
    if abs(value) >= 999.5:
        return f"{value / 1e3:+.3g}k"
    if abs(value) >= 10:
        return f"{value:+.3g}"
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00")


def text_svg(text, values=None, title=""):
    """Draw a text board in a fixed-width font, with a list of action values below it.

    Parameters
    ----------
    text : str
    values : dict, optional
        Name of an action -> value.
    title : str
    """
    lines = text.rstrip("\n").split("\n")
    values = finite_values(values)
    lines += [f"{name}: {number(value)}" for name, value in values.items()]
    top = PAD + (22 if title else 0)
    parts = [heading(title)]
    for row, line in enumerate(lines):
        parts.append(
            f'<text x="{PAD}" y="{top + 16 + 18 * row}" {FONT} font-size="15" fill="{INK}"'
            f' xml:space="preserve">{escape(line)}</text>'
        )
    width = 2 * PAD + 9.2 * max(len(line) for line in lines)
    return document(max(round(width), 60, heading_width(title)), top + 18 * len(lines) + PAD, parts)


def state_svg(game, state, values=None, last=None):
    """Draw a state: by the game's own `svg`, else the text of ``game.render(state)``.

    A game that has neither is drawn as a grid of its cell codes.

    Parameters
    ----------
    game : Game
    state : int32 [size]
    values : sequence of float or dict, optional
        In the order of ``game.legal(state)``, or action -> value.
    last : int, optional
        The action that led here.

    Raises
    ------
    ValueError
        If there are not as many values as legal actions.
    """
    named = None if values is None else by_action(game, state, values)
    hook = getattr(game, "draw", None)
    if callable(hook):
        return hook(state, values=named, last=last)
    if not getattr(game, "render_state", True):
        return codes_svg(game, state, named, last)
    if named is not None:
        named = {game.action_name(state, action): value for action, value in named.items()}
    return text_svg(game.render(state), values=named)


def columns_of(cells: int) -> int:
    """Return the number of columns of the grid as which so many cells are drawn."""
    wide = [w for w in range(1, cells + 1) if cells % w == 0 and w * w >= cells]
    return wide[0] if wide[0] ** 2 <= 4 * cells else cells


def codes_svg(game, state, values=None, last=None) -> str:
    """Draw the cell codes of a state as a grid: stones if they are few, else numbers.

    Values stand in the empty cells if actions are cells, else in a list below the board.
    """
    codes, columns = game.board(state).tolist(), columns_of(game.cells)
    of_cells, values = game.actions == game.cells, values or {}
    few = int(max(game.num_codes)) <= len(CODE_COLOURS) + 1
    empty = min(game.board(game.start()).tolist())
    others = [code for code in range(int(max(game.num_codes))) if code != empty]
    stones = dict(zip(map(str, others), CODE_COLOURS)) if few else None
    parts = []
    for cell, code in enumerate(codes):
        x, y = PAD + CELL * (cell % columns), PAD + CELL * (cell // columns)
        mark, value = "" if few and code == empty else str(code), values.get(cell)
        is_last = of_cells and cell == last
        drawn = square(x, y, mark, value if of_cells else None, is_last, 1.0, stones)
        parts.append(cell_group(cell, drawn))
    height = 2 * PAD + CELL * (len(codes) // columns)
    for action, value in () if of_cells else values.items():
        told = f"{game.action_name(state, action)}: {number(value)}"
        parts.append(text_at(PAD, height + 12, told, 13, anchor="start"))
        height += 18
    return document(max(2 * PAD + CELL * columns, 160 if values else 0), height, parts)


def values_svg(game, state, values):
    """Draw a state with action values, as ``player.values(state)`` gives them."""
    return state_svg(game, state, values=values)


class View:
    """An SVG drawing that shows itself in a notebook; `str(view)` is the SVG text."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg


def view(game, state, values=None, last=None):
    """Return a state as an object that a notebook shows; parameters as in :func:`state_svg`."""
    return View(state_svg(game, state, values=values, last=last))


def replay_svg(game, states, actions=None, per_row=5, captions=None):
    """Draw a game as small boards in reading order, each with its number and move.

    Parameters
    ----------
    game : Game
    states : sequence of int32 [size]
        At least one.
    actions : sequence of int, optional
        One fewer than states.
    per_row : int
        At least 1.
    captions : sequence of str, optional
        One per state; replaces number and move.

    Raises
    ------
    ValueError
        If there are no states, or a number of actions or captions does not fit.
    """
    states = list(states)
    if not states:
        raise ValueError("no states to show; give at least the start state")
    if actions is not None and len(actions) != len(states) - 1:
        raise ValueError(
            f"{len(actions)} actions for {len(states)} states; give one action between each two"
            " states"
        )
    if captions is not None and len(captions) != len(states):
        raise ValueError(f"{len(captions)} captions for {len(states)} states; give one per state")
    lasts = [None] + list(actions) if actions is not None else [None] * len(states)
    boards = [state_svg(game, state, last=last) for state, last in zip(states, lasts, strict=True)]
    if captions is None:
        captions = ["start"] + [str(ply) for ply in range(1, len(states))]
        if actions is not None:
            captions[1:] = [
                f"{ply + 1}. {game.action_name(states[ply], action)}"
                for ply, action in enumerate(actions)
            ]
    return side_by_side(boards, captions, per_row)


def replay(game, states, actions=None, per_row=5, captions=None):
    """Return a game as an object that a notebook shows; parameters as in :func:`replay_svg`."""
    return View(replay_svg(game, states, actions=actions, per_row=per_row, captions=captions))


LEGEND_WIDTH, LEGEND_HEIGHT = 240, 58
SHRINK = 'style="max-width:100%;height:auto"'  # where a page is narrower than a row of boards


def document(width, height, parts):
    """Return the SVG text of a drawing with a background of its own, readable on a dark page."""
    frame = f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0'
        f' {width} {height}" {SHRINK}>{frame}{"".join(parts)}</svg>'
    )


def text_at(x, y, text, size, fill=INK, anchor="middle", weight="normal"):
    """Return a line of text at a place."""
    return (
        f'<text x="{x:g}" y="{y:g}" {FONT} font-size="{size}" font-weight="{weight}"'
        f' text-anchor="{anchor}" fill="{fill}">{escape(str(text))}</text>'
    )


def heading(title):
    """Return a title as text, or nothing if there is none."""
    return text_at(PAD, PAD + 12, title, 13, anchor="start") if title else ""


def heading_width(title):
    """Return the width that a title needs."""
    return 2 * PAD + 8 * len(title)


def ink_on(colour):
    """Return the ink that can be read on a background colour."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else PAPER


def cell_group(cell, parts):
    """Return the parts of a cell as a group that says its number: what a click on it means."""
    return f'<g data-cell="{cell}">{parts}</g>'


def square(x, y, mark, value, is_last, limit, stones=None):
    """Draw a square cell with a mark, or a value on its colour.

    `stones` gives the colours of the discs that stand for marks; without it they are letters.
    """
    lit = is_last and not (stones and mark)
    fill = MARKED if lit else PAPER if value is None else value_colour(value, limit)
    parts = [
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LINE}"/>'
    ]
    if mark and stones:
        parts.append(stone(x + CELL / 2, y + CELL / 2, 0.4 * CELL, stones[mark], is_last))
    elif mark:
        ink = MARK_COLOURS.get(mark.upper(), INK)
        parts.append(text_at(x + CELL / 2, y + CELL / 2 + 10, mark, 30, ink, weight="bold"))
    elif value is not None:
        parts.append(text_at(x + CELL / 2, y + CELL / 2 + 5, number(value), 14, ink_on(fill)))
    return "".join(parts)


def stone(x, y, radius, colour, is_last=False):
    """Draw a stone; the last one has a spot."""
    drawn = (
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" stroke="{INK}"'
        ' stroke-width="1.5"/>'
    )
    if is_last:
        spot = f'r="{radius * 0.35:g}" fill="{MARKED}" stroke="{INK}"'
        drawn += f'<circle cx="{x:g}" cy="{y:g}" {spot}/>'
    return drawn


def disc(x, y, value, is_taken, limit):
    """Draw a stone, dashed if it has been taken."""
    if is_taken:
        return (
            f'<circle cx="{x:g}" cy="{y:g}" r="22" fill="none" stroke="{LINE}" stroke-dasharray="3'
            ' 3"/>'
        )
    fill = "#d9d9d9" if value is None else value_colour(value, limit)
    label = "" if value is None else text_at(x, y + 5, number(value), 12, ink_on(fill))
    return f'<circle cx="{x:g}" cy="{y:g}" r="24" fill="{fill}" stroke="{LINE}"/>{label}'


def legend(x, y, width, limit, note=""):
    """Draw the colour scale of values with its ends."""
    steps = 41
    parts = [text_at(x, y + 12, "value of the resulting afterstate", 11, SOFT, "start")]
    for step in range(steps):
        colour = value_colour((2 * step / (steps - 1) - 1) * limit, limit)
        parts.append(
            f'<rect x="{x + width * step / steps:.1f}" y="{y + 18}"'
            f' width="{width / steps + 0.5:.1f}" height="12" fill="{colour}"/>'
        )
    parts.append(
        f'<rect x="{x}" y="{y + 18}" width="{width}" height="12" fill="none" stroke="{LINE}"/>'
    )
    for place, text, anchor in (
        (0, f"{number(-limit)} bad", "start"),
        (0.5, "0", "middle"),
        (1, f"good {number(limit)}", "end"),
    ):
        parts.append(text_at(x + width * place, y + 46, text, 12, SOFT, anchor))
    if note:
        parts.append(text_at(x, y + 64, note, 9, SOFT, "start"))
    return "".join(parts)


def finite_values(values):
    """Return the finite ones of some values as floats, by their keys."""
    return (
        {}
        if values is None
        else {key: float(value) for key, value in values.items() if math.isfinite(value)}
    )


def by_action(game, state, values) -> dict:
    """Return values by action; they may be in the order of the legal actions."""
    if isinstance(values, Mapping):
        return {int(action): float(value) for action, value in values.items()}
    legal = [int(action) for action in game.legal(state)]
    if len(values) != len(legal):
        raise ValueError(
            f"{len(values)} values for {len(legal)} legal actions; give one value per legal action,"
            " in the order of game.legal(state)"
        )
    return {action: float(value) for action, value in zip(legal, values, strict=True)}


def side_by_side(boards, captions, per_row):
    """Draw boards with captions in rows."""
    if per_row < 1:
        raise ValueError(f"per_row is {per_row!r}; give at least 1 board per row")
    sizes = [drawn_size(board) for board in boards]
    width, height = max(size[0] for size in sizes) + 12, max(size[1] for size in sizes) + 26
    width = max(width, 8 * max(len(str(caption)) for caption in captions) + 12)
    parts = []
    for place, (board, caption) in enumerate(zip(boards, captions, strict=True)):
        x, y = width * (place % per_row), height * (place // per_row)
        parts.append(board.replace("<svg ", f'<svg x="{x:g}" y="{y + 20:g}" ', 1))
        parts.append(text_at(x + PAD, y + 16, caption, 12, SOFT, "start"))
    rows = -(-len(boards) // per_row)
    return document(f"{width * min(len(boards), per_row):g}", f"{height * rows:g}", parts)


def drawn_size(svg):
    """Return width and height that a drawing states; raise ValueError if it does not."""
    head = svg[: svg.find(">")]
    found = [re.search(rf'\s{side}="([\d.]+)"', head) for side in ("width", "height")]
    if not all(found):
        raise ValueError(
            f"a board drawing begins with {head[:60]!r}; it must be an <svg> element with width and"
            " height as plain numbers"
        )
    return tuple(float(match.group(1)) for match in found)
