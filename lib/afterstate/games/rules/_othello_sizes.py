"""Othello on square boards of other sizes, with plain arrays; 8 x 8 has bitboards of its own.

::

    cells = side * row + column = actions       state (int32)
                                                 s[0 .. cells-1]  0 = Black's stone, 1 = White's,
          a b c d                                                 2 = empty
        1 . . . .       start on 4 x 4,          s[cells]         player to move: 0 = Black, 1 =
        2 . o x .       Black (x) moves first                     White; 0 at the end
        3 . x o .                                s[cells + 1]     number of legal moves; 0 = over
        4 . . . .

Passing, cell codes and names of moves are those of ``othello.py``. Known: on 4 x 4 the second
player wins.
"""

import numpy as np

from ...kernel.compile import kernel
from ..boards import grid_svg
from ..game import Game

EMPTY = 2
MARKS = "xo."
LETTERS = "abcdefghij"
SIDES = (4, 6, 8, 10)
COLOURS = {"x": "#1a1a1a", "o": "#ffffff"}  # of the discs in pictures: black begins


@kernel
def turn_over(s, cell, who, side, really):
    """Return how many stones a stone of `who` on an empty cell flips, and flip them if `really`."""
    row, column, turned = cell // side, cell % side, 0
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            length, r, c = 0, row + down, column + right
            while 0 <= r < side and 0 <= c < side and s[r * side + c] == 1 - who:
                length += 1
                r += down
                c += right
            if length > 0 and 0 <= r < side and 0 <= c < side and s[r * side + c] == who:
                turned += length
                for step in range(1, length + 1 if really else 1):
                    s[(row + step * down) * side + column + step * right] = who
    return turned


@kernel
def num_moves(s, who, side):
    """Return in how many cells `who` can move."""
    n = 0
    for cell in range(side * side):
        if s[cell] == EMPTY and turn_over(s, cell, who, side, False) > 0:
            n += 1
    return n


@kernel
def set_mover(s, who, side):
    """Write who is to move, `who` unless that player has to pass, and the number of moves."""
    cells, n = side * side, num_moves(s, who, side)
    if n == 0:
        n = num_moves(s, 1 - who, side)
        who = 0 if n == 0 else 1 - who
    s[cells] = who
    s[cells + 1] = n


def sized(side: int) -> Game:
    """Make the game on `side` x `side`; raises ValueError unless that is 4, 6, 8 or 10."""
    if side not in SIDES:
        raise ValueError(f"Othello: side must be one of {', '.join(map(str, SIDES))}, not {side!r}")
    cells, symmetries = side * side, symmetries_of(side)
    return Game(
        "othello",
        **_rules(side),
        **_texts(side),
        players=2,
        actions=cells,
        max_legal=8 * cells // 11,  # as in othello.py: M moves need 3M/8 stones
        size=cells + 2,
        num_codes=[4] * cells,
        symmetries=symmetries,
        action_symmetries=np.argsort(symmetries, axis=1).tolist(),
        score_range=(-1.0, 1.0),
        start_scheme=(0.3, 4),
        neighbours=around(side),
        version=1,
    )


def symmetries_of(side) -> list:
    """Return the rotations and reflections of the square, the identity first."""
    grid = np.arange(side * side).reshape(side, side)
    return [np.rot90(g, k).ravel().tolist() for g in (grid, grid.T) for k in range(4)]


def around(side) -> list:
    """Return the cells that share a side or a corner with each cell."""

    def beside(r, c):
        return [
            side * a + b
            for a in (r - 1, r, r + 1)
            for b in (c - 1, c, c + 1)
            if (a, b) != (r, c) and 0 <= a < side and 0 <= b < side
        ]

    return [beside(r, c) for r in range(side) for c in range(side)]


def _rules(side) -> dict:
    cells, low = side * side, side // 2 - 1
    mover, moves_left = cells, cells + 1

    def start(s, rng):
        for c in range(cells):
            s[c] = EMPTY
        s[low * side + low] = s[(low + 1) * side + low + 1] = 1
        s[low * side + low + 1] = s[(low + 1) * side + low] = 0
        set_mover(s, 0, side)

    def legal(s, moves):
        n = 0
        for cell in range(cells):
            if s[cell] == EMPTY and turn_over(s, cell, s[mover], side, False) > 0:
                moves[n] = cell
                n += 1
        return n

    def play(s, action):
        who = s[mover]
        turn_over(s, action, who, side, True)
        s[action] = who
        set_mover(s, 1 - who, side)

    def player(s):
        return s[mover]

    def over(s):
        return s[moves_left] == 0

    def score(s, r):
        r[0] = 0.0
        if s[moves_left] == 0:
            lead = 0
            for cell in range(cells):
                lead += np.int64(s[cell] == 0) - np.int64(s[cell] == 1)
            r[0] = np.float64(lead > 0) - np.float64(lead < 0)
        r[1] = 0.0 - r[0]

    def board(s, codes):
        for cell in range(cells):
            codes[cell] = s[cell]
            if s[cell] == EMPTY and turn_over(s, cell, s[mover], side, False) > 0:
                codes[cell] = 3

    def irreversible(s):
        return True

    return {
        "start": start,
        "legal": legal,
        "play": play,
        "player": player,
        "over": over,
        "score": score,
        "board": board,
        "irreversible": irreversible,
    }


def _texts(side) -> dict:
    """Return text form, names of moves, picture, and the check of states from outside."""
    cells = side * side

    def render(s):
        marks = [MARKS[code] for code in s[:cells]]
        turn = f"{'xo'[s[cells]]} to move" if s[cells + 1] else "over"
        return "\n".join([" ".join(marks[side * r : side * (r + 1)]) for r in range(side)] + [turn])

    def parse(text):
        words = text.split()
        marks, turn = words[:cells], " ".join(words[cells:])
        if (
            len(marks) != cells
            or any(m not in ("x", "o", ".") for m in marks)
            or turn not in ("x to move", "o to move", "over")
        ):
            raise ValueError(
                f"a position is {cells} marks x, o or . separated by blanks, row 1 first, then 'x"
                f" to move', 'o to move' or 'over', not {text!r}"
            )
        s = np.array([MARKS.index(mark) for mark in marks] + [0, 0], np.int32)
        set_mover(s, int(turn[0] == "o" and turn != "over"), side)
        have = render(s).rsplit("\n", 1)[1]
        if have != turn:
            raise ValueError(
                f"the position says {turn!r}, but by its stones it is {have!r} (a player who has no"
                " move is skipped)"
            )
        return s

    def action_name(s, action):
        return LETTERS[action % side] + str(action // side + 1)

    def svg(s, values=None, last=None):
        return grid_svg(
            [MARKS[code].replace(".", " ") for code in s[:cells]],
            side,
            values=values,
            last=last,
            labels=(LETTERS[:side], range(1, side + 1)),
            stones=COLOURS,
        )

    def fault(s):
        if not ((s[:cells] >= 0) & (s[:cells] <= EMPTY)).all() or s[cells] not in (0, 1):
            return "a cell holds 0, 1 or 2, and the player to move is 0 or 1"
        right = s.copy()
        set_mover(right, int(s[cells]), side)
        same = (right == s).all()
        return None if same else "its last two numbers do not follow from its stones"

    return {
        "render": render,
        "parse": parse,
        "action_name": action_name,
        "svg": svg,
        "fault": fault,
    }
