"""ConnectFour: two players drop stones into seven columns of six.

Four in a row, in any direction, win.

::

    specification   connect4
    players         2
    actions         7, at most 7 legal: the column
    cells           42 of 4 codes: 0 = empty, 1 = first's, 2 = second's, 3 = next free of a column
    symmetries      2, with those of the actions
    chance          none
    reward          -1 to 1: loss, draw, win, at the end
    start           the default with probability 0.5, else 1 random ply
    checked         against OpenSpiel, BitBully and known counts
    coordinates     a1 is below on the left; a move is named after the cell where the stone lands

    cells = 6 * column + row        bits of a bitboard = 7 * column + row
                                     6 13 20 27 34 41 48    <- always 0: stops lines at the top
     5 11 17 23 29 35 41             5 12 19 26 33 40 47
     4 10 16 22 28 34 40             4 11 18 25 32 39 46
     3  9 15 21 27 33 39             3 10 17 24 31 38 45    a step right is 7 bits, up 1,
     2  8 14 20 26 32 38             2  9 16 23 30 37 44    up-right 8, down-right 6
     1  7 13 19 25 31 37             1  8 15 22 29 36 43
     0  6 12 18 24 30 36             0  7 14 21 28 35 42

    state (int32)                   action = column, 0 .. 6 from the left
     s[0], s[1]   first player's stones, low and high half of the bitboard
     s[2], s[3]   second player's stones
     s[4]         bit 0: player to move
                  bits 1-2: 0 = running, 1 = first has won, 2 = second has won, 3 = draw

Known: 1, 7, 49, 238, 1,120, 4,263 positions after 0 to 5 plies; 4,531,985,219,092 positions in all;
the first player wins, by the centre column only. Other sizes, ``games.load("connect4", rows=4,
columns=5, k=3)``, are in ``_connect4_sizes.py``. Source: [konen2021] Sec. 3.2, App. A.6.3.
"""

import numpy as np

from ...kernel.compile import kernel
from ..boards import grid_svg
from ..game import Game
from ._connect4_sizes import COLOURS, sized

ROWS, COLUMNS = 6, 7
CELLS = ROWS * COLUMNS
BOTTOM = np.uint64(sum(1 << 7 * c for c in range(COLUMNS)))  # the lowest cell of every column
FULL = np.uint64(int(BOTTOM) * (2**ROWS - 1))  # all 42 cells
MARKS = ".xo."


@kernel
def bitboard(s, player):
    """Return the stones of a player as a uint64."""
    return np.uint64(np.uint32(s[2 * player])) | np.uint64(
        np.uint32(s[2 * player + 1])
    ) << np.uint64(32)


@kernel
def has_four(stones):
    """Return whether a bitboard holds four in a row."""
    for step in (np.uint64(1), np.uint64(7), np.uint64(6), np.uint64(8)):
        pairs = stones & stones >> step
        if pairs & pairs >> step + step:
            return True
    return False


def _start(s, rng):
    s[0] = s[1] = s[2] = s[3] = s[4] = 0


def _legal(s, moves):
    free = ~(bitboard(s, 0) | bitboard(s, 1)) >> np.uint64(ROWS - 1)
    n = 0
    for column in range(COLUMNS):
        moves[n] = column  # without a branch: overwritten by the next one if this column is full
        n += np.int64(free & np.uint64(1))
        free >>= np.uint64(7)
    return n


def _play(s, action):
    who = s[4] & 1
    mine, theirs = bitboard(s, who), bitboard(s, 1 - who)
    taken, shift = mine | theirs, np.uint64(7 * action)
    # adding 1 at the foot of a column carries to its first free cell
    mine |= taken + (np.uint64(1) << shift) & np.uint64(2**ROWS - 1) << shift & ~taken
    s[2 * who] = np.int32(np.uint32(mine))
    s[2 * who + 1] = np.int32(mine >> np.uint64(32))
    status = 1 + who if has_four(mine) else 3 if mine | theirs == FULL else 0
    s[4] = status << 1 | 1 - who


def _player(s):
    return s[4] & 1


def _over(s):
    return s[4] > 1


def _score(s, r):
    status = s[4] >> 1
    r[0] = np.float64(status == 1) - np.float64(status == 2)
    r[1] = 0.0 - r[0]


def _board(s, codes):
    first, second = bitboard(s, 0), bitboard(s, 1)
    reachable = (first | second) + BOTTOM & FULL
    one, two = first | reachable, second | reachable  # low and high bit of the codes
    for column in range(COLUMNS):
        for row in range(ROWS):
            bit = np.uint64(7 * column + row)
            codes[ROWS * column + row] = (
                np.int32(one >> bit & np.uint64(1)) | np.int32(two >> bit & np.uint64(1)) << 1
            )


def _key(s, words):
    """Write the first player's stones under a 1 on the next free cell of every column.

    One word says everything.
    """
    first = bitboard(s, 0)
    words[0] = first + (first | bitboard(s, 1)) + BOTTOM
    words[1] = np.uint64(0)


def _irreversible(s):
    return True


def _codes(s) -> list:
    """Return the cell codes, by plain Python."""
    first, second = int(bitboard(s, 0)), int(bitboard(s, 1))
    return [
        (first >> bit & 1) + 2 * (second >> bit & 1)
        for bit in (7 * c + r for c in range(COLUMNS) for r in range(ROWS))
    ]


def _height(s, column) -> int:
    """Return the number of stones in a column."""
    return sum(code > 0 for code in _codes(s)[ROWS * column : ROWS * (column + 1)])


def _render(s):
    codes = _codes(s)
    return "\n".join(
        " ".join(MARKS[codes[ROWS * c + r]] for c in range(COLUMNS)) for r in reversed(range(ROWS))
    )


def _parse(text):
    marks = text.split()
    if len(marks) != CELLS or any(m not in ("x", "o", ".") for m in marks):
        raise ValueError(
            f"a position is {CELLS} marks x, o or . separated by blanks, the top row first, not"
            f" {text!r}"
        )
    num_x, num_o = marks.count("x"), marks.count("o")
    if num_x - num_o not in (0, 1):
        raise ValueError(
            f"x moves first, so there are as many x as o or one more, not {num_x} and {num_o}"
        )
    stones = [0, 0]
    for column in range(COLUMNS):
        upwards = marks[column::COLUMNS][::-1]
        if "." in upwards and any(m != "." for m in upwards[upwards.index(".") :]):
            raise ValueError(f"a stone in column {column + 1} has nothing below it in {text!r}")
        for row, mark in enumerate(upwards):
            if mark != ".":
                stones["xo".index(mark)] |= 1 << 7 * column + row
    won = [bool(has_four(np.uint64(b))) for b in stones]
    if won[num_x - num_o]:  # the player to move: the other one has made the last move
        raise ValueError(
            f"{'xo'[num_x - num_o]} has four in a row already, so it can not be the player to move,"
            f" in {text!r}"
        )
    status = 1 + won.index(True) if any(won) else 0 if "." in marks else 3
    halves = [half for b in stones for half in (b & 0xFFFFFFFF, b >> 32)]
    return np.array([*halves, status << 1 | num_x - num_o], np.uint32).view(np.int32)


def _action_name(s, action):
    return "abcdefg"[action] + str(_height(s, action) + 1)


def _svg(s, values=None, last=None):
    """Draw the board; values of the columns stand where the stones would land.

    `last` marks the top stone of its column.
    """

    def place(column, row):
        return (ROWS - 1 - row) * COLUMNS + column

    codes = _codes(s)
    marks = [" xo"[codes[ROWS * c + r]] for r in reversed(range(ROWS)) for c in range(COLUMNS)]
    landing = {
        place(c, _height(s, c)): value
        for c, value in (values or {}).items()
        if _height(s, c) < ROWS
    }
    return grid_svg(
        marks,
        COLUMNS,
        values=landing,
        last=None if last is None else place(last, max(0, _height(s, last) - 1)),
        labels=("abcdefg", "654321"),
        stones=COLOURS,
    )


def connect4(*, rows: int = ROWS, columns: int = COLUMNS, k: int = 4):
    """Make the game, on its usual board of 6 rows x 7 columns or another, `k` in a row to win."""
    if (rows, columns, k) != (ROWS, COLUMNS, 4):
        return sized(rows, columns, k)
    mirror = [
        [ROWS * c + r for c in order for r in range(ROWS)]
        for order in (range(COLUMNS), reversed(range(COLUMNS)))
    ]
    return Game(
        "connect4",
        start=_start,
        legal=_legal,
        play=_play,
        player=_player,
        over=_over,
        score=_score,
        board=_board,
        key=_key,
        irreversible=_irreversible,
        players=2,
        actions=COLUMNS,
        max_legal=COLUMNS,
        size=5,
        num_codes=[4] * CELLS,
        symmetries=mirror,
        action_symmetries=[list(range(COLUMNS)), list(range(COLUMNS))[::-1]],
        score_range=(-1.0, 1.0),
        start_scheme=(0.5, 1),
        neighbours=_neighbours(),
        render=_render,
        parse=_parse,
        action_name=_action_name,
        svg=_svg,
        version=1,
    )


def _neighbours():
    """Return the cells that share a side with each cell."""

    def beside(c, r):
        return [
            ROWS * a + b
            for a, b in ((c - 1, r), (c, r - 1), (c, r + 1), (c + 1, r))
            if 0 <= a < COLUMNS and 0 <= b < ROWS
        ]

    return [beside(c, r) for c in range(COLUMNS) for r in range(ROWS)]


GAMES = {"connect4": connect4}
