"""Boards as plain SVG text: single positions, heat maps of action values, and games as rows of boards.

A game shows its own board if it was made with `Game(..., svg=hook)`, a plain function `hook(state, values=None, last=None) -> str`:

    values   {action: value of the afterstate that the action leads to} or None
    last     the action that led to this position or None

The hook returns one `<svg ...>` element, usually from `grid_svg` or `heaps_svg`. A game without a hook is shown as the
text of `game.render(state)`. No drawing contains an `id`, so any number of them can stand on one page.
"""

import math
import re
from collections.abc import Mapping
from html import escape

CELL = 56  # side of a cell in pixels
PAD = 8
FONT = "font-family=\"'DejaVu Sans Mono', Consolas, monospace\""
INK, LINE, PAPER, SOFT, MARKED = "#1a1a1a", "#8a8a8a", "#ffffff", "#5c5c5c", "#f6d55c"
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)  # orange - white - purple: safe for colour-blind readers
MARK_COLOURS = {"X": "#1a1a1a", "O": "#0077bb"}


def value_colour(value, limit=1.0):
    """Fill colour of a value on the diverging scale from -limit (orange) through 0 (white) to +limit (purple).

    Parameters: value (float), limit (float > 0; values beyond it get the end colour).
    Raises ValueError for a limit that is not positive.
    Example: value_colour(0.0) == "#f7f7f7"
    """
    if not limit > 0:
        raise ValueError(f"limit of the colour scale is {limit!r}; give a number above 0")
    share = max(-1.0, min(1.0, value / limit))
    end = POSITIVE if share >= 0 else NEGATIVE
    return "#" + "".join(f"{round(low + (high - low) * abs(share)):02x}" for low, high in zip(NEUTRAL, end, strict=True))


def number(value):
    """A value as it stands in a cell: two decimals with sign; from 10 on three digits, thousands as k, millions as M."""
    if abs(value) >= 999_500:
        return f"{value / 1e6:+.3g}M"
    if abs(value) >= 999.5:
        return f"{value / 1e3:+.3g}k"
    if abs(value) >= 10:
        return f"{value:+.3g}"
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00")


def grid_svg(marks, columns, values=None, last=None, limit=1.0, title=""):
    """SVG of a rectangular board: marks, and optionally the value of moving into each empty cell.

    Parameters: marks (sequence of str [cells], "" or " " = empty, row by row), columns (int >= 1), values ({cell: float} or
    None), last (cell of the last move or None), limit (float > 0, end of the colour scale), title (str, heading).
    Raises ValueError if the cells do not fill whole rows or a value belongs to no cell.
    Example: grid_svg(["X", "", "", "", "O", "", "", "", ""], 3, values={1: 0.2, 2: -0.4})
    """
    marks = list(marks)
    if columns < 1 or len(marks) % columns:
        raise ValueError(f"{len(marks)} cells do not fill rows of {columns}; give columns that divide the number of cells")
    values = _finite(values)
    strays = [cell for cell in values if not 0 <= cell < len(marks)]
    if strays:
        raise ValueError(f"value for cell {strays[0]}, but the board has cells 0 to {len(marks) - 1}")
    top = PAD + (22 if title else 0)
    parts = [_heading(title)]
    for cell, mark in enumerate(marks):
        x, y = PAD + CELL * (cell % columns), top + CELL * (cell // columns)
        parts.append(_cell(x, y, mark.strip(), values.get(cell), cell == last, limit))
    width, height = 2 * PAD + CELL * columns, top + CELL * (len(marks) // columns) + PAD
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(_legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return _svg(max(width, _heading_width(title)), height, parts)


def heaps_svg(heaps, values=None, last=None, limit=1.0, title="", take=None, size=None):
    """SVG of Nim heaps: one row per heap, one circle per stone; a move takes a circle and all to its right.

    Parameters: heaps (sequence of int >= 0), values ({action: float} or None), last (action or None: its stones are drawn as dashed
    circles), limit (float > 0), title (str), take (int, most stones of a move: action = heap * take + stones taken - 1; default the
    largest heap), size (int, stones that fit in a row; default what is needed).
    Raises ValueError for a negative heap or a value of an impossible move.
    Example: heaps_svg([3, 5, 5], values={6: 0.9}, last=1, take=5)
    """
    heaps = [int(heap) for heap in heaps]
    if any(heap < 0 for heap in heaps):
        raise ValueError(f"heap of {min(heaps)} stones; heaps are counts from 0 on")
    take = take or max([1, *heaps])
    values = {(action // take, action % take + 1): value for action, value in _finite(values).items()}
    strays = [(heap, count) for heap, count in values if not (0 <= heap < len(heaps) and count <= heaps[heap])]
    if strays:
        raise ValueError(f"value for taking {strays[0][1]} from heap {strays[0][0] + 1}, which the heaps {heaps} do not allow")
    taken = {} if last is None else {last // take: last % take + 1}
    rows = [heap + taken.get(row, 0) for row, heap in enumerate(heaps)]
    top, left = PAD + (22 if title else 0), PAD + 22
    parts = [_heading(title)]
    for row, heap in enumerate(heaps):
        y = top + CELL * (row + 0.5)
        parts.append(_text(PAD + 8, y + 5, str(heap), 14, SOFT))
        for stone in range(rows[row]):
            parts.append(_stone(left + CELL * (stone + 0.5), y, values.get((row, heap - stone)), stone >= heap, limit))
    width, height = left + CELL * max([size or 1, *rows]) + PAD, top + CELL * len(heaps) + PAD
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(_legend(PAD, height, width - 2 * PAD, limit, "a circle = taking it and all to its right"))
        height += LEGEND_HEIGHT + 16
    return _svg(max(width, _heading_width(title)), height, parts)


def points_svg(places, steps, marks, values=None, last=None, limit=1.0, title=""):
    """SVG of a board whose men stand on points that are joined by lines.

    Parameters: places (sequence of (x, y) [points], grid units from 0 on), steps (pairs of joined points), marks (sequence of "x",
    "o" or "." [points]), values ({point: float} or None), last (point of the last move or None), limit (float > 0), title (str).
    Raises ValueError if marks and points differ in number or a value belongs to no point.
    Example: points_svg([(0, 0), (1, 0)], [(0, 1)], "x.", values={1: 0.5})
    """
    values = _finite(values)
    if len(marks) != len(places) or any(not 0 <= point < len(places) for point in values):
        raise ValueError(f"{len(places)} points, {len(marks)} marks and values for {sorted(values)} do not fit together")
    top = PAD + (22 if title else 0)
    centres = [(PAD + CELL * (x + 0.5), top + CELL * (y + 0.5)) for x, y in places]
    parts = [_heading(title)]
    for (ax, ay), (bx, by) in ((centres[a], centres[b]) for a, b in steps):
        parts.append(f'<line x1="{ax:g}" y1="{ay:g}" x2="{bx:g}" y2="{by:g}" stroke="{LINE}" stroke-width="2"/>')
    for point, (x, y) in enumerate(centres):
        value, mark = values.get(point), marks[point]
        fill = {"x": INK, "o": PAPER}.get(mark, LINE if value is None else value_colour(value, limit))
        stroke, thick = (MARKED, 5) if point == last else (INK if mark == "o" else LINE, 2)
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{4 if mark == "." and value is None else 20}" fill="{fill}" stroke="{stroke}" stroke-width="{thick}"/>')
        if value is not None:
            parts.append(_text(x, y + 5, number(value), 12, _ink_on(fill)))
    width, height = (2 * PAD + CELL * (max(axis) + 1) for axis in zip(*places))
    height += top - PAD
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(_legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return _svg(max(width, _heading_width(title)), height, parts)


def text_svg(text, values=None, title=""):
    """SVG of a text board in a fixed-width font, with a list of action values below it.

    Parameters: text (str, lines), values ({name of action: float} or None), title (str).
    Example: text_svg("3 5 5")
    """
    lines = text.rstrip("\n").split("\n")
    values = _finite(values)
    lines += [f"{name}: {number(value)}" for name, value in values.items()]
    top = PAD + (22 if title else 0)
    parts = [_heading(title)]
    for row, line in enumerate(lines):
        parts.append(f'<text x="{PAD}" y="{top + 16 + 18 * row}" {FONT} font-size="15" fill="{INK}" xml:space="preserve">{escape(line)}</text>')
    width = 2 * PAD + 9.2 * max(len(line) for line in lines)
    return _svg(max(round(width), 60, _heading_width(title)), top + 18 * len(lines) + PAD, parts)


def state_svg(game, state, values=None, last=None):
    """SVG of a state: by the game's own `svg` hook, else the text of `game.render(state)`.

    Parameters: game (Game), state (int32 [size]), values (float [legal actions] in the order of `game.legal(state)`, or
    {action: float}, or None), last (the action that led here, or None).
    Raises ValueError if there are not as many values as legal actions.
    """
    by_action = None if values is None else _by_action(game, state, values)
    hook = getattr(game, "draw", None)
    if callable(hook):
        return hook(state, values=by_action, last=last)
    named = None if by_action is None else {game.action_name(state, action): value for action, value in by_action.items()}
    return text_svg(game.render(state), values=named)


def values_svg(game, state, values):
    """SVG heat map of the action values of a state (the mover's view, as `player.values(state)` returns them)."""
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
    """A state as an object that shows itself in a notebook; parameters as in `state_svg`."""
    return View(state_svg(game, state, values=values, last=last))


def replay_svg(game, states, actions=None, per_row=5, captions=None):
    """SVG of a game as small boards in reading order, each with its number and the move that led to it.

    Parameters: game (Game), states (sequence of int32 [size], at least one), actions (sequence of int, one fewer than states,
    or None), per_row (int >= 1), captions (sequence of str, one per state; replaces number and move).
    Raises ValueError for no states, or a number of actions or captions that does not fit.
    """
    states = list(states)
    if not states:
        raise ValueError("no states to show; give at least the start state")
    if actions is not None and len(actions) != len(states) - 1:
        raise ValueError(f"{len(actions)} actions for {len(states)} states; give one action between each two states")
    if captions is not None and len(captions) != len(states):
        raise ValueError(f"{len(captions)} captions for {len(states)} states; give one per state")
    lasts = [None] + list(actions) if actions is not None else [None] * len(states)
    boards = [state_svg(game, state, last=last) for state, last in zip(states, lasts, strict=True)]
    if captions is None:
        captions = ["start"] + [str(ply) for ply in range(1, len(states))]
        if actions is not None:
            captions[1:] = [f"{ply + 1}. {game.action_name(states[ply], action)}" for ply, action in enumerate(actions)]
    return _tiles(boards, captions, per_row)


def replay(game, states, actions=None, per_row=5, captions=None):
    """A game as an object that shows itself in a notebook; parameters as in `replay_svg`."""
    return View(replay_svg(game, states, actions=actions, per_row=per_row, captions=captions))


LEGEND_WIDTH, LEGEND_HEIGHT = 240, 58
SHRINK = 'style="max-width:100%;height:auto"'  # where a page is narrower than a row of boards


def _svg(width, height, parts):
    frame = f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'  # own background: readable on a dark page too
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {SHRINK}>{frame}{"".join(parts)}</svg>'


def _text(x, y, text, size, fill=INK, anchor="middle", weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" {FONT} font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
            f'fill="{fill}">{escape(str(text))}</text>')


def _heading(title):
    return _text(PAD, PAD + 12, title, 13, anchor="start") if title else ""


def _heading_width(title):
    return 2 * PAD + 8 * len(title)


def _ink_on(colour):
    red, green, blue = (int(colour[place:place + 2], 16) for place in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else PAPER


def _cell(x, y, mark, value, is_last, limit):
    fill = MARKED if is_last else PAPER if value is None else value_colour(value, limit)
    parts = [f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LINE}"/>']
    if mark:
        parts.append(_text(x + CELL / 2, y + CELL / 2 + 10, mark, 30, MARK_COLOURS.get(mark.upper(), INK), weight="bold"))
    elif value is not None:
        parts.append(_text(x + CELL / 2, y + CELL / 2 + 5, number(value), 14, _ink_on(fill)))
    return "".join(parts)


def _stone(x, y, value, is_taken, limit):
    if is_taken:
        return f'<circle cx="{x:g}" cy="{y:g}" r="22" fill="none" stroke="{LINE}" stroke-dasharray="3 3"/>'
    fill = "#d9d9d9" if value is None else value_colour(value, limit)
    label = "" if value is None else _text(x, y + 5, number(value), 12, _ink_on(fill))
    return f'<circle cx="{x:g}" cy="{y:g}" r="24" fill="{fill}" stroke="{LINE}"/>{label}'


def _legend(x, y, width, limit, note=""):
    steps = 41
    parts = [_text(x, y + 12, "value of the resulting afterstate", 11, SOFT, "start")]
    for step in range(steps):
        colour = value_colour((2 * step / (steps - 1) - 1) * limit, limit)
        parts.append(f'<rect x="{x + width * step / steps:.1f}" y="{y + 18}" width="{width / steps + 0.5:.1f}" height="12" fill="{colour}"/>')
    parts.append(f'<rect x="{x}" y="{y + 18}" width="{width}" height="12" fill="none" stroke="{LINE}"/>')
    for place, text, anchor in ((0, f"{number(-limit)} bad", "start"), (0.5, "0", "middle"), (1, f"good {number(limit)}", "end")):
        parts.append(_text(x + width * place, y + 46, text, 12, SOFT, anchor))
    if note:
        parts.append(_text(x, y + 64, note, 9, SOFT, "start"))
    return "".join(parts)


def _finite(values):
    return {} if values is None else {key: float(value) for key, value in values.items() if math.isfinite(value)}


def _by_action(game, state, values):
    if isinstance(values, Mapping):
        return {int(action): float(value) for action, value in values.items()}
    legal = [int(action) for action in game.legal(state)]
    if len(values) != len(legal):
        raise ValueError(f"{len(values)} values for {len(legal)} legal actions; give one value per legal action, in the order of game.legal(state)")
    return {action: float(value) for action, value in zip(legal, values, strict=True)}


def _tiles(boards, captions, per_row):
    if per_row < 1:
        raise ValueError(f"per_row is {per_row!r}; give at least 1 board per row")
    sizes = [_size(board) for board in boards]
    width, height = max(size[0] for size in sizes) + 12, max(size[1] for size in sizes) + 26
    width = max(width, 8 * max(len(str(caption)) for caption in captions) + 12)
    parts = []
    for place, (board, caption) in enumerate(zip(boards, captions, strict=True)):
        x, y = width * (place % per_row), height * (place // per_row)
        parts.append(board.replace("<svg ", f'<svg x="{x:g}" y="{y + 20:g}" ', 1))
        parts.append(_text(x + PAD, y + 16, caption, 12, SOFT, "start"))
    rows = -(-len(boards) // per_row)
    return _svg(f"{width * min(len(boards), per_row):g}", f"{height * rows:g}", parts)


def _size(svg):
    head = svg[:svg.find(">")]
    found = [re.search(rf'\s{side}="([\d.]+)"', head) for side in ("width", "height")]
    if not all(found):
        raise ValueError(f"a board drawing begins with {head[:60]!r}; it must be an <svg> element with width and height as plain numbers")
    return tuple(float(match.group(1)) for match in found)
