"""Pictures and texts of positions: views, heat maps of values, games as rows of boards.

:mod:`afterply.games.drawing` says what a game declares for it. `values` are shown by colours from
orange (-1 and below) through white to purple (1 and above).
"""

import io
import math
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..checks import needs
from . import calls
from .drawing import PAD, SOFT, document, number, text_at
from .rules import LETTERS

FONT_FILE = Path(__file__).with_name("board.ttf")
FINER = 2  # pixels of a PNG for each pixel of the drawing, along either side


class View:
    """A picture of a position or a game.

    A notebook shows it as a drawing, a terminal as text. ``str(view)`` is SVG, ``repr(view)`` text,
    ``view.png()`` bytes.
    """

    def __init__(self, svg, text):
        self.svg = svg
        self.text = text

    def __str__(self):
        return self.svg

    def __repr__(self):
        return self.text

    def png(self, finer=FINER) -> bytes:
        """Return the drawing as a PNG file; ImportError without the package resvg_py."""
        return png(self.svg, finer)

    _repr_svg_ = __str__

    def _repr_png_(self):
        """Return a PNG for PDF and LaTeX, which cannot show SVG; None without resvg_py."""
        try:
            return self.png()
        except ImportError:
            return None


def png(svg: str, finer: int = 1) -> bytes:
    """Return a drawing as a PNG file, magnified `finer` times."""
    resvg = needs("resvg_py", "gymnasium")
    width, _ = _size_of(svg)
    made = resvg.svg_to_bytes(
        svg_string=svg,
        width=round(finer * width),
        font_files=[str(FONT_FILE)],
        skip_system_fonts=True,
        font_family="DejaVu Sans Mono",
        monospace_family="DejaVu Sans Mono",
    )
    return bytes(made)


def pixels(svg: str) -> np.ndarray:
    """Return a drawing as uint8 [height, width, 3]; it needs resvg_py and Pillow."""
    image = needs("PIL.Image", "gymnasium")
    return np.asarray(image.open(io.BytesIO(png(svg))).convert("RGB"))


def state_svg(game, state, values=None, last=None, before=None) -> str:
    """Draw a state as ``Game.view``: a value where its action goes, or in a note below."""
    drawing = game.drawing
    value_of = {}  # by place
    notes = []
    for action, value in _by_action(game, state, values).items():
        target = goal(game, state, action)
        if target is not None:
            value_of[target] = max(value, value_of.get(target, value))
        else:
            notes.append(f"{game.action_name(state, action)}: {number(value)}")
    place = None
    if last is not None:
        if before is None and game.functions["touch"]:
            raise ValueError(
                f"the places of a move of {game.name} depend on the position: give before=, the"
                " state in which it was made"
            )
        place = goal(game, state if before is None else before, last)
    parts = drawing.parts(game.shown_numbers(state), value_of, place)
    return document(
        parts, drawing.width, drawing.height, has_scale=bool(value_of), notes=notes, title=game.name
    )


def goal(game, state, action) -> int | None:
    """Return the place where an action goes, which shows its value; None if it has no place.

    Of several places, such as from, to and taken, it is the one that is occupied afterwards.
    """
    places = game.places(state, action)
    if len(places) > 1:
        after = game.shown_numbers(game.play(state, action))
        shown = {place: game.drawing.places[place].shows for place in places}
        places = [place for place in places if shown[place] is None or after[shown[place]] != 0]
    return places[0] if places else None


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
    boards = [state_svg(game, states[0])]
    for before, action, state in zip(states, actions, states[1:]):
        boards.append(state_svg(game, state, last=action, before=before))
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
    svg = document(
        parts, width * min(len(boards), per_row), height * num_rows, title=f"{game.name}: a game"
    )
    texts = [f"{caption}\n{text_board(game, s)}" for caption, s in zip(captions, states)]
    return View(svg, "\n\n".join(texts))


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


# ---------------------------------------------------------------------------------- boards as texts
def text_board(game, state) -> str:
    """Return a state as text, with coordinates where its places are named by them."""
    lines = game.render(state).split("\n")
    if game.name == "kalah":
        return "\n".join(_with_houses(game, lines))
    if game.layout.ndim != 2:
        return "\n".join(lines)
    rows, columns = game.layout.shape
    letters = "   " + " ".join(LETTERS[:columns])
    if _named_by(game, range(1, rows + 1)):
        numbered = [f"{n:2} {line}" for n, line in zip(range(1, rows + 1), lines)]
        lines = [letters, *numbered, *lines[rows:]]
    elif _named_by(game, range(rows, 0, -1)):
        numbered = [f"{n:2} {line}" for n, line in zip(range(rows, 0, -1), lines)]
        lines = [*numbered, letters, *lines[rows:]]
    elif all(name.isdigit() for name in _names(game).values()):
        lines[:rows] = _with_squares(game, lines)
    return "\n".join(lines)


def _names(game) -> dict:
    """Return cell -> name of its place, of the cells that have a place."""
    named = {}
    for cell in game.layout[game.layout >= 0].tolist():
        if cell < len(game.drawing.places):
            named[cell] = str(game.drawing.places[cell].name)
    return named


def _named_by(game, numbers) -> bool:
    """Return whether places are named by the letters of columns and these numbers of rows."""
    expected = {}
    for number_of_row, row in zip(numbers, game.layout.tolist()):
        for letter, cell in zip(LETTERS, row):
            expected[cell] = f"{letter}{number_of_row}"
    return _names(game).items() <= expected.items()


def _with_houses(game, lines):
    """Return the rows of Kalah between the letters of its houses: the upper from the right."""
    letters = "    " + "  ".join(LETTERS[: game.actions])
    from_right = letters[:3:-1]
    return [letters[:4] + from_right, *lines, letters.upper()]


def _square(cell):
    """Return the number of a cell, from 1, or a dot where there is no cell."""
    return f"{cell + 1:2}" if cell >= 0 else " ."


def _with_squares(game, lines):
    """Return the rows of a board with the numbers of their squares beside them."""
    rows = []
    for line, cells in zip(lines, game.layout):
        squares = " ".join(map(_square, cells))
        rows.append(f"{line:20}{squares}")
    return rows
