"""Boards as SVG text: parts of drawings, grids, heat maps of values, games as rows of boards.

A drawing is one ``<svg ...>`` element without an `id`, so any number of them can stand on one page.
It has numbered *places* (``data-cell``): first the cells, then what else can be clicked for an
action. A game is drawn by its ``svg(state, values, last) -> str``, or as the text of ``render`` if
it has none. `values`, {place: value}, are shown by colours from orange (-1 and below) through white
to purple (1 and above); `last` is the action that led here, or None.
"""

import math
import re
from collections.abc import Mapping
from html import escape

import numpy as np

from . import calls

CELL = 56  # side of a cell, in pixels
PAD = 8  # margin, in pixels
INK = "#1a1a1a"
LINE = "#8a8a8a"
PAPER = "#ffffff"
SOFT = "#5c5c5c"
MARKED = "#f6d55c"
MARK_COLOURS = {"x": "#1a1a1a", "o": "#0077bb", "+": "#cc3311", "*": "#009988"}
# of players, in turn
COLOURS = {"yellow": "#f2c230", "red": "#c8252c", "blue": "#2b62c4", "green": "#1f7a4d"}
# orange - white - purple: safe for colour-blind readers
NEGATIVE, NEUTRAL, POSITIVE = (179, 88, 6), (247, 247, 247), (84, 39, 136)


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
        font_family="'DejaVu Sans Mono', Consolas, monospace",
        font_size=size,
        text_anchor=anchor,
        fill=fill,
        **others,
    )


def place(number, *parts) -> str:
    """Return parts of a drawing as the place with a number."""
    return element("g", "".join(parts), data_cell=number)


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


def value_colour(value, empty=PAPER) -> str:
    """Return the colour of a value from -1 to 1, or that of no value."""
    if value is None:
        return empty
    extreme = POSITIVE if value >= 0 else NEGATIVE
    return blend(NEUTRAL, extreme, min(1.0, abs(value)))


def label(x, y, value, size, fill, **others) -> str:
    """Return a value in an ink that can be read on a colour, or nothing if there is none."""
    if value is None:
        return ""
    red, green, blue = (int(fill[k : k + 2], 16) for k in (1, 3, 5))
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    ink = INK if is_light else PAPER
    text = value if isinstance(value, int) else number(value)
    return text_at(x, y, text, size, ink, **others)


def stone(x, y, radius, colour, is_last=False) -> str:
    """Return a stone; the last one has a spot."""
    disc = circle(x, y, radius, colour, INK, stroke_width=1.5)
    if not is_last:
        return disc
    return disc + circle(x, y, radius * 0.35, MARKED, INK)


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
            row, column = divmod(k, per_row)
            x = PAD + step * column
            y = height + 10 + 20 * row
            parts.append(text_at(x, y, note, 13, anchor="start"))
        height += 20 * math.ceil(len(notes) / per_row)
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


def grid_svg(marks, columns, values=None, last=None, labels=None, stones=None, numbers=None) -> str:
    """Draw a rectangular board.

    Parameters
    ----------
    marks : sequence of str [cells]
        What stands in the cells, row by row; "" or blanks for nothing.
    columns : int
        Cells of a row.
    values : dict, optional
        Place -> value of moving into this empty cell.
    last : int, optional
        The place to mark.
    labels : (sequence, sequence), optional
        Coordinates: those below the columns, and those beside the rows from top to bottom.
    stones : dict, optional
        Mark -> colour of the disc in its place.
    numbers : sequence of int [cells], optional
        The places, row by row, of a board that counts its cells in another way.

    Raises
    ------
    ValueError
        If the cells do not fill the rows, or a value is for a cell that is not there.
    """
    if columns < 1 or len(marks) % columns:
        raise ValueError(
            f"{len(marks)} cells do not fill rows of {columns}; give columns that divide the number"
            " of cells"
        )
    if values is None:
        values = {}
    if stones is None:
        stones = {}
    if numbers is None:
        numbers = range(len(marks))
    no_places = set(values) - set(range(len(marks)))
    if no_places:
        raise ValueError(f"value for cell {min(no_places)}; the cells are 0 to {len(marks) - 1}")
    rows = len(marks) // columns
    left = PAD + 18 if labels else PAD
    top = PAD
    parts = []
    for k, (cell, mark) in enumerate(zip(numbers, marks)):
        row, column = divmod(k, columns)
        x = left + CELL * column
        y = top + CELL * row
        parts.append(place(cell, _cell(x, y, mark.strip(), values.get(cell), cell == last, stones)))
    width = left + CELL * columns + PAD
    height = top + CELL * rows + PAD
    if labels:
        below, beside = labels
        for column, text in enumerate(below):
            parts.append(text_at(left + CELL * (column + 0.5), height + 6, text, 12, SOFT))
        for row, text in enumerate(beside):
            parts.append(text_at(left - 11, top + CELL * (row + 0.5) + 4, text, 12, SOFT))
        height += 16
    return document(parts, width, height, values)


def _cell(x, y, mark, value, is_last, stones) -> str:
    """Return a cell with its upper left corner at (x, y), and its mark, stone or value."""
    is_stone = bool(mark and stones)
    fill = MARKED if is_last and not is_stone else value_colour(value)
    square = rect(x, y, CELL, CELL, fill)
    middle_x = x + CELL / 2
    middle_y = y + CELL / 2
    if is_stone:
        return square + stone(middle_x, middle_y, 0.4 * CELL, stones[mark], is_last)
    if mark:
        ink = MARK_COLOURS.get(mark.lower(), INK)
        return square + text_at(middle_x, middle_y + 10, mark, 30, ink, font_weight="bold")
    return square + label(middle_x, middle_y + 5, value, 14, fill)


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
    value_of = {}  # by place
    notes = []
    for action, value in _by_action(game, state, values).items():
        places = game.places(state, action)
        if len(places) > 1:  # such as from, to, taken: where it goes is occupied afterwards
            after = game.board(game.play(state, action))
            places = [place for place in places if after[place] != 0]
        if places:
            target = places[0]
            value_of[target] = max(value, value_of.get(target, value))
        else:
            notes.append(f"{game.action_name(state, action)}: {number(value)}")
    if game.svg:
        drawing = game.svg(state, values=value_of, last=last)
    else:
        drawing = _text_svg(game.render(state))
    if not notes:
        return drawing
    return document([drawing], *_size_of(drawing), notes=notes)


def winning_places(game, state) -> list[int]:
    """Return the places that have won: a least set of the winner's stones that wins by itself.

    In games of lines and chains it is the line, or a chain without a stone too many. Empty if the
    game goes on or is drawn, or if stones do not win by where they stand.
    """
    marks = game.marks.tolist()
    marks_are_players = game.players > 1 and {*marks} <= {*range(game.players + 1)}
    if game.from_codes is None or not marks_are_players:
        return []
    codes = game.codes(state)
    reward = game.score(state) * game.over(state)
    winner = int(reward.argmax())

    def wins(cells):
        """Return whether these stones, alone on the board, win."""
        alone = np.full(len(codes), marks.index(0))
        alone[cells] = marks.index(winner + 1)
        try:
            s = game.from_codes(alone, game.player(state))
        except ValueError:  # such a board tells too little
            return False
        scores = np.zeros(game.players)
        calls.call_score(game.rules, s, scores)
        is_over = calls.call_over(game.rules, s)
        return is_over and scores[winner] > np.delete(scores, winner).max()

    on_board = game.layout[game.layout >= 0].tolist()
    line = [cell for cell in on_board if marks[codes[cell]] == winner + 1]
    if (reward == reward[winner]).sum() > 1 or not wins(line):
        return []
    for cell in tuple(line):
        rest = [other for other in line if other != cell]
        if wins(rest):
            line = rest
    return line if len(line) > 1 else []  # one alone has merely left the other side without any


def _by_action(game, state, values) -> dict:
    """Return {action: value} of those values that are finite numbers."""
    if values is None:
        values = {}
    if not isinstance(values, Mapping):
        legal = game.legal(state).tolist()
        if len(values) != len(legal):
            raise ValueError(
                f"{len(values)} values for {len(legal)} legal actions; give one value per legal"
                " action, in the order of game.legal(state)"
            )
        values = dict(zip(legal, values))
    for action in values:
        if not 0 <= action < game.actions:
            raise ValueError(f"value for action {action}: actions are 0 to {game.actions - 1}")
    numbers = {int(action): float(value) for action, value in values.items()}
    return {action: value for action, value in numbers.items() if math.isfinite(value)}


def _text_svg(text) -> str:
    """Draw a text, line by line."""
    lines = text.rstrip("\n").split("\n")
    keep_blanks = {"xml:space": "preserve"}
    parts = []
    for row, line in enumerate(lines):
        parts.append(text_at(PAD, PAD + 16 + 18 * row, line, 15, INK, "start", **keep_blanks))
    width = max(60, round(2 * PAD + 9.2 * max(map(len, lines))))
    return document(parts, width, 2 * PAD + 18 * len(lines))


def replay(game, states, actions=None, per_row=5, captions=None) -> View:
    """Return `states` as small boards, `per_row` in a row, each with its number and move.

    `actions` lead from each state to the next; `captions`, one per state, replace number and move.
    """
    states = list(states)
    actions = [None] * (len(states) - 1) if actions is None else list(actions)
    if not states or per_row < 1:
        raise ValueError(f"{len(states)} states in rows of {per_row}; give at least one of each")
    if len(actions) != len(states) - 1:
        raise ValueError(f"{len(actions)} actions for {len(states)} states; give one for each step")
    if captions is None:
        captions = _captions(game, states, actions)
    if len(captions) != len(states):
        raise ValueError(f"{len(captions)} captions for {len(states)} states; give one per state")
    boards = [state_svg(game, state, last=last) for state, last in zip(states, [None, *actions])]
    widths, heights = zip(*map(_size_of, boards))
    longest = max(len(str(caption)) for caption in captions)
    width = max(max(widths) + 12, 8 * longest + 12)
    height = max(heights) + 26
    parts = []
    for k, (board, caption) in enumerate(zip(boards, captions)):
        row, column = divmod(k, per_row)
        x = width * column
        y = height * row
        parts.append(board.replace("<svg ", f'<svg x="{x:g}" y="{y + 20:g}" ', 1))
        parts.append(text_at(x + PAD, y + 16, caption, 12, SOFT, "start"))
    num_rows = math.ceil(len(boards) / per_row)
    return View(document(parts, width * min(len(boards), per_row), height * num_rows))


def _captions(game, states, actions) -> list[str]:
    """Return the captions of a replay: numbers of plies, with the moves that are known."""
    captions = ["start"]
    for ply, (state, action) in enumerate(zip(states, actions), 1):
        if action is None:
            captions.append(f"{ply}")
        else:
            captions.append(f"{ply}. {game.action_name(state, action)}")
    return captions


def _size_of(svg) -> tuple[float, float]:
    """Return the width and height of a drawing."""
    head = svg.partition(">")[0]
    width = re.search(r'\swidth="([\d.]+)"', head)
    height = re.search(r'\sheight="([\d.]+)"', head)
    if not width or not height:
        raise ValueError(f"an <svg> element needs width and height as plain numbers: {head[:60]!r}")
    return float(width[1]), float(height[1])
