"""Boards as SVG text: parts of drawings, grids, heat maps of values, games as rows of boards.

A drawing is one ``<svg ...>`` element without an `id`, so any number of them can stand on one page.
It has numbered *places* (``data-cell``): the cells, and behind them what else can be clicked for an
action. A game is drawn by its ``svg(state, values, last) -> str``, else as the text of ``render``:
`values` {place: value} have colours from orange (-1 and below) through white to purple (1 and
above); `last` is the action that led here, or None.
"""

import math
import re
from collections.abc import Mapping
from html import escape

import numpy as np

from . import calls

CELL, PAD = 56, 8  # side of a cell, margin, in pixels
INK, LINE, PAPER, SOFT, MARKED = "#1a1a1a", "#8a8a8a", "#ffffff", "#5c5c5c", "#f6d55c"
MARK_COLOURS = {"x": "#1a1a1a", "o": "#0077bb", "+": "#cc3311", "*": "#009988"}
# of players, in turn
COLOURS = {"yellow": "#f2c230", "red": "#c8252c", "blue": "#2b62c4", "green": "#1f7a4d"}
# orange - white - purple: safe for colour-blind readers
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)


# -------------------------------------------------------------------------------- parts of drawings
def element(kind, content=None, **attributes) -> str:
    """Return an SVG element; an attribute's underscores become hyphens."""
    written = "".join(
        f' {name.replace("_", "-")}="{value if isinstance(value, str) else format(value, "g")}"'
        for name, value in attributes.items()
    )
    return f"<{kind}{written}/>" if content is None else f"<{kind}{written}>{content}</{kind}>"


def rect(x, y, width, height, fill, stroke=LINE, **more) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)


def circle(x, y, r, fill, stroke=LINE, **more) -> str:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, **more)


def text_at(x, y, text, size, fill=INK, anchor="middle", **more) -> str:
    """Return a line of text at a place."""
    font = {"font_family": "'DejaVu Sans Mono', Consolas, monospace", "font_size": size}
    text = escape(str(text))
    return element("text", text, x=x, y=y, **font, text_anchor=anchor, fill=fill, **more)


def place(number, *parts) -> str:
    """Return parts of a drawing as the place with a number."""
    return element("g", "".join(parts), data_cell=number)


def number(value) -> str:
    """Return a value as it stands in a cell: two decimals with sign, from 10 on three digits."""
    for least, unit, letter in ((999_500, 1e6, "M"), (999.5, 1e3, "k"), (10, 1, "")):
        if abs(value) >= least:
            return f"{value / unit:+.3g}{letter}"
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00")


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
    text = value if isinstance(value, int) else number(value)
    return text_at(x, y, text, size, INK if light else PAPER, **more)


def stone(x, y, radius, colour, is_last=False) -> str:
    """Return a stone; the last one has a spot."""
    drawn = circle(x, y, radius, colour, INK, stroke_width=1.5)
    return drawn + circle(x, y, radius * 0.35, MARKED, INK) if is_last else drawn


def document(parts, width, height, values=None, title="", notes=()) -> str:
    """Return a drawing as SVG text on a background of its own; `notes` and colours stand below."""
    parts = [*parts]
    if title:
        parts.append(text_at(PAD, PAD + 12, title, 13, anchor="start"))
        width = max(width, 2 * PAD + 8 * len(title))
    if notes:
        step = 8 * max(map(len, notes)) + PAD
        width = max(width, 2 * PAD + step)
        per_row = int((width - 2 * PAD) // step)
        for k, note in enumerate(notes):
            x, y = PAD + step * (k % per_row), height + 10 + 20 * (k // per_row)
            parts.append(text_at(x, y, note, 13, anchor="start"))
        height += 20 * -(-len(notes) // per_row)
    if values:
        width = max(width, 240)
        parts += _legend(height, width - 2 * PAD)
        height += 58
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    return element(
        "svg",
        element("rect", **size, fill=PAPER) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        **size,
        viewBox=f"0 0 {width:g} {height:g}",
        style="max-width:100%;height:auto",  # where a page is narrower than the drawing
    )


def _legend(y, width) -> list:
    parts = [text_at(PAD, y + 12, "value of the resulting afterstate", 11, SOFT, "start")]
    steps = 41
    for step in range(steps):
        x, colour = PAD + width * step / steps, value_colour(2 * step / (steps - 1) - 1)
        parts.append(rect(x, y + 18, width / steps + 0.5, 12, colour, "none"))
    parts.append(rect(PAD, y + 18, width, 12, "none"))
    ends = (0, "-1.00 bad", "start"), (0.5, "0", "middle"), (1, "good +1.00", "end")
    for x, text, side in ends:
        parts.append(text_at(PAD + width * x, y + 46, text, 12, SOFT, side))
    return parts


def grid_svg(marks, columns, values=None, last=None, labels=None, stones=None, numbers=None) -> str:
    """Draw a rectangular board: marks, row by row, and {place: value} of moving into empty cells.

    `last` is the place to mark; `labels` are the coordinates below the columns, and those beside
    the rows from top to bottom; `stones` {mark: colour of the disc in its place}; `numbers` are the
    places, row by row, of a board that counts its cells in another way.
    """
    if columns < 1 or len(marks) % columns:
        raise ValueError(
            f"{len(marks)} cells do not fill rows of {columns}; give columns that divide the number"
            " of cells"
        )
    wrong = set(values or ()) - set(range(len(marks)))
    if wrong:
        raise ValueError(f"value for cell {min(wrong)}; the cells are 0 to {len(marks) - 1}")
    parts, rows = [], len(marks) // columns
    left, top = PAD + 18 * bool(labels), PAD
    for k, (cell, mark) in enumerate(zip(numbers or range(len(marks)), map(str.strip, marks))):
        x, y = left + CELL * (k % columns), top + CELL * (k // columns)
        middle, value, is_last = x + CELL / 2, (values or {}).get(cell), cell == last
        fill = MARKED if is_last and not (stones and mark) else value_colour(value)
        drawn = rect(x, y, CELL, CELL, fill)
        if mark and stones:
            drawn += stone(middle, y + CELL / 2, 0.4 * CELL, stones[mark], is_last)
        elif mark:
            ink = MARK_COLOURS.get(mark.lower(), INK)
            drawn += text_at(middle, y + CELL / 2 + 10, mark, 30, ink, font_weight="bold")
        else:
            drawn += label(middle, y + CELL / 2 + 5, value, 14, fill)
        parts.append(place(cell, drawn))
    width, height = left + CELL * columns + PAD, top + CELL * rows + PAD
    if labels:
        for k, text in enumerate(labels[0]):
            parts.append(text_at(left + CELL * (k + 0.5), height + 6, text, 12, SOFT))
        for k, text in enumerate(labels[1]):
            parts.append(text_at(left - 11, top + CELL * (k + 0.5) + 4, text, 12, SOFT))
        height += 16
    return document(parts, width, height, values)


# ------------------------------------------------------------------------------------ states, games
class View:
    """An SVG drawing that shows itself in a notebook; `str(view)` is the SVG text."""

    def __init__(self, svg):
        self.svg = svg

    def __str__(self):
        return self.svg

    _repr_svg_ = __str__


def state_svg(game, state, values=None, last=None) -> str:
    """Draw a state as ``Game.view``: a value where its action goes, or in a note below."""
    by_place, notes = {}, []
    for action, value in _by_action(game, state, values).items():
        places = game.places(state, action)
        if len(places) > 1:  # such as from, to, taken: where it goes is occupied afterwards
            after = game.board(game.play(state, action))
            places = [place for place in places if after[place] != 0]
        if places:
            by_place[places[0]] = max(value, by_place.get(places[0], value))
        else:
            notes.append(f"{game.action_name(state, action)}: {number(value)}")
    if game.svg:
        drawn = game.svg(state, values=by_place, last=last)
    else:
        drawn = _text_svg(game.render(state))
    return document([drawn], *_drawn_size(drawn), notes=notes) if notes else drawn


def winning_places(game, state) -> list[int]:
    """Return the places that have won: a least set of the winner's stones that wins by itself.

    In games of lines and chains it is the line, or a chain without a stone too many. Empty if the
    game goes on or is drawn, or if stones do not win by where they stand.
    """
    alike = game.players > 1 and {*range(game.players + 1)} >= {*game.marks.tolist()}
    if game.from_codes is None or not alike:
        return []
    codes, marks = game.codes(state), game.marks.tolist()
    reward = game.score(state) * game.over(state)
    winner = int(reward.argmax())

    def wins(cells):
        alone, found = np.full(len(codes), marks.index(0)), np.zeros(game.players)
        alone[cells] = marks.index(winner + 1)
        try:
            s = game.from_codes(alone, game.player(state))
        except ValueError:  # such a board tells too little
            return False
        calls.call_score(game.rules, s, found)
        return calls.call_over(game.rules, s) and found[winner] > np.delete(found, winner).max()

    on_board = game.layout[game.layout >= 0].tolist()
    line = [cell for cell in on_board if marks[codes[cell]] == winner + 1]
    if (reward == reward[winner]).sum() > 1 or not wins(line):
        return []
    for cell in tuple(line):
        rest = [other for other in line if other != cell]
        line = rest if wins(rest) else line
    return line if len(line) > 1 else []  # one alone has merely left the other side without any


def _by_action(game, state, values) -> dict:
    if not isinstance(values, (Mapping, type(None))):
        legal = game.legal(state).tolist()
        if len(values) != len(legal):
            raise ValueError(
                f"{len(values)} values for {len(legal)} legal actions; give one value per legal"
                " action, in the order of game.legal(state)"
            )
        values = dict(zip(legal, values))
    for action in values or ():
        if not 0 <= action < game.actions:
            raise ValueError(f"value for action {action}: actions are 0 to {game.actions - 1}")
    pairs = ((int(action), float(value)) for action, value in (values or {}).items())
    return {action: value for action, value in pairs if math.isfinite(value)}


def _text_svg(text) -> str:
    lines, more = text.rstrip("\n").split("\n"), {"xml:space": "preserve"}
    width = max(60, round(2 * PAD + 9.2 * max(map(len, lines))))
    places = ((PAD, PAD + 16 + 18 * row) for row in range(len(lines)))
    parts = [text_at(*at, line, 15, INK, "start", **more) for at, line in zip(places, lines)]
    return document(parts, width, 2 * PAD + 18 * len(lines))


def replay(game, states, actions=None, per_row=5, captions=None) -> View:
    """Return `states` as small boards, `per_row` in a row, each with its number and move.

    `actions` lead from each state to the next; `captions`, one per state, replace number and move.
    """
    states = list(states)
    moves = [None] * (len(states) - 1) if actions is None else list(actions)
    if not states or per_row < 1:
        raise ValueError(f"{len(states)} states in rows of {per_row}; give at least one of each")
    if len(moves) != len(states) - 1:
        raise ValueError(f"{len(moves)} actions for {len(states)} states; give one for each step")
    if captions is None:
        names = ("" if a is None else f". {game.action_name(s, a)}" for s, a in zip(states, moves))
        captions = ["start", *(f"{ply}{name}" for ply, name in enumerate(names, 1))]
    if len(captions) != len(states):
        raise ValueError(f"{len(captions)} captions for {len(states)} states; give one per state")
    boards = [state_svg(game, state, last=last) for state, last in zip(states, [None, *moves])]
    sizes = [_drawn_size(board) for board in boards]
    width, height = max(w for w, _ in sizes) + 12, max(h for _, h in sizes) + 26
    width = max(width, 8 * max(len(str(caption)) for caption in captions) + 12)
    parts = []
    for k, (board, caption) in enumerate(zip(boards, captions)):
        x, y = width * (k % per_row), height * (k // per_row)
        parts.append(board.replace("<svg ", f'<svg x="{x:g}" y="{y + 20:g}" ', 1))
        parts.append(text_at(x + PAD, y + 16, caption, 12, SOFT, "start"))
    rows = -(-len(boards) // per_row)
    return View(document(parts, width * min(len(boards), per_row), height * rows))


def _drawn_size(svg) -> tuple[float, float]:
    head = svg.partition(">")[0]
    found = [re.search(rf'\s{side}="([\d.]+)"', head) for side in ("width", "height")]
    if not all(found):
        raise ValueError(f"an <svg> element needs width and height as plain numbers: {head[:60]!r}")
    return float(found[0][1]), float(found[1][1])
