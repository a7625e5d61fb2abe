"""ConnectFour on a board of any size, with plain arrays; the usual board has bitboards of its own.

::

    cells = rows * column + row, the lowest row first     state (int32)
                                                           s[0 .. cells-1]  0 = empty, 1 = first's
     2  5  8 11                                                             stone, 2 = second's
     1  4  7 10      rows = 3, columns = 4                 s[cells]         player to move
     0  3  6  9                                            s[cells + 1]     0 = running, 1 / 2 =
                                                                            first / second has won,
    action = column                                                         3 = draw

Cell codes and names of moves are those of ``connect4.py``.
"""

import numpy as np

from ...checks import whole
from ..boards import grid_svg
from ..game import Game
from .tictactoe import LETTERS, LONGEST, line_through, neighbours_of

MARKS = ".xo."
COLOURS = {"x": "#f2c230", "o": "#c8252c"}  # of the discs in pictures: yellow begins


def sized(rows: int, columns: int, k: int) -> Game:
    """Make the game on `rows` x `columns`, `k` in a row to win.

    Raises
    ------
    ValueError
        If a size is out of its range.
    """
    for name, value in (("rows", rows), ("columns", columns)):
        whole(f"ConnectFour: {name}", value, 1, LONGEST)
    whole("ConnectFour: k", k, 1, max(rows, columns))
    cells = rows * columns
    mirrored = [rows * c + r for c in reversed(range(columns)) for r in range(rows)]
    return Game(
        "connect4",
        **_rules(rows, columns, k),
        **_texts(rows, columns, k),
        players=2,
        actions=columns,
        max_legal=columns,
        size=cells + 2,
        num_codes=[4] * cells,
        symmetries=[list(range(cells)), mirrored][: 1 + (columns > 1)],
        action_symmetries=[list(range(columns)), list(range(columns))[::-1]][: 1 + (columns > 1)],
        score_range=(-1.0, 1.0),
        start_scheme=(0.5, 1),
        neighbours=neighbours_of(columns, rows),
        version=1,
    )


def _rules(rows, columns, k) -> dict:
    """Return the rules; a column is a row of the grid that ``line_through`` looks at."""
    cells = rows * columns
    mover, status = cells, cells + 1

    def start(s, rng):
        for c in range(cells + 2):
            s[c] = 0

    def legal(s, moves):
        n = 0
        for column in range(columns):
            if s[rows * column + rows - 1] == 0:
                moves[n] = column
                n += 1
        return n

    def play(s, action):
        who, cell = s[mover], rows * action
        while s[cell] != 0:
            cell += 1
        s[cell] = 1 + who
        s[mover] = 1 - who
        if line_through(s, cell, columns, rows, k):
            s[status] = 1 + who
            return
        for column in range(columns):
            if s[rows * column + rows - 1] == 0:
                return
        s[status] = 3

    return {"start": start, "legal": legal, "play": play} | _facts(rows, columns)


def _facts(rows, columns) -> dict:
    """Return the rules that say what a state is."""
    cells = rows * columns
    mover, status = cells, cells + 1

    def player(s):
        return s[mover]

    def over(s):
        return s[status] != 0

    def score(s, r):
        r[0] = np.float64(s[status] == 1) - np.float64(s[status] == 2)
        r[1] = 0.0 - r[0]

    def board(s, codes):
        for column in range(columns):
            free = 3  # until the first empty cell of the column is met
            for c in range(rows * column, rows * (column + 1)):
                codes[c] = s[c]
                if s[c] == 0:
                    codes[c] = free
                    free = 0

    def irreversible(s):
        return True

    return {
        "player": player,
        "over": over,
        "score": score,
        "board": board,
        "irreversible": irreversible,
    }


def _texts(rows, columns, k) -> dict:
    """Return text form, names of moves and picture."""
    cells = rows * columns

    def height(s, column):
        return int(np.count_nonzero(s[rows * column : rows * (column + 1)]))

    def marks_of(s):
        """Return the marks as they stand in the picture, the top row first."""
        return [MARKS[s[rows * c + r]] for r in reversed(range(rows)) for c in range(columns)]

    def render(s):
        marks = marks_of(s)
        lines = (marks[columns * r : columns * (r + 1)] for r in range(rows))
        return "\n".join(" ".join(line) for line in lines)

    def parse(text):
        return parsed(text, rows, columns, k)

    def action_name(s, action):
        return LETTERS[action] + str(height(s, action) + 1)

    def place(column, row):
        return (rows - 1 - row) * columns + column

    def svg(s, values=None, last=None):
        landing = {
            place(c, height(s, c)): value
            for c, value in (values or {}).items()
            if height(s, c) < rows
        }
        return grid_svg(
            [mark.replace(".", " ") for mark in marks_of(s)],
            columns,
            values=landing,
            last=None if last is None else place(last, max(0, height(s, last) - 1)),
            labels=(LETTERS[:columns], range(rows, 0, -1)),
            stones=COLOURS,
        )

    def fault(s):
        stones = s[:cells].reshape(columns, rows)
        if not ((stones == 0) | (stones == 1) | (stones == 2)).all() or s[cells] not in (0, 1):
            return "a cell holds 0, 1 or 2, and the player to move is 0 or 1"
        return None

    return {
        "render": render,
        "parse": parse,
        "action_name": action_name,
        "svg": svg,
        "fault": fault,
    }


def parsed(text, rows, columns, k) -> np.ndarray:
    """Return the state that a text shows.

    Raises ValueError if nobody can have come there.
    """
    cells, marks = rows * columns, text.split()
    if len(marks) != cells or any(m not in ("x", "o", ".") for m in marks):
        raise ValueError(
            f"a position is {cells} marks x, o or . separated by blanks, the top row first, not"
            f" {text!r}"
        )
    num_x, num_o = marks.count("x"), marks.count("o")
    if num_x - num_o not in (0, 1):
        raise ValueError(
            f"x moves first, so there are as many x as o or one more, not {num_x} and {num_o}"
        )
    s = np.zeros(cells + 2, np.int32)
    for column in range(columns):
        upwards = marks[column::columns][::-1]
        if "." in upwards and any(m != "." for m in upwards[upwards.index(".") :]):
            raise ValueError(f"a stone in column {column + 1} has nothing below it in {text!r}")
        s[rows * column : rows * (column + 1)] = [".xo".index(mark) for mark in upwards]
    s[cells] = num_x - num_o
    won = [
        any(s[c] == who and line_through(s, c, columns, rows, k) for c in range(cells))
        for who in (1, 2)
    ]
    if won[num_x - num_o]:  # the player to move: the other one has made the last move
        raise ValueError(
            f"{'xo'[num_x - num_o]} has {k} in a row already, so it can not be the player to move,"
            f" in {text!r}"
        )
    s[cells + 1] = 1 + won.index(True) if any(won) else 0 if "." in marks else 3
    return s
