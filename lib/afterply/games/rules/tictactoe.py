"""Tic-Tac-Toe, and any m,n,k game: players put stones on a grid, `k` in a line win.

::

    specification   tictactoe
    players         to 4
    actions         the cell
    cells           0 = O (second player), 1 = empty, 2 = X (first player), 3 and 4: others
    reward          loss, draw, win, at the end
    checked         against OpenSpiel, sets of cells, and all games counted
    coordinates     a1 is below on the left

    cells, row-major    state (int32)
     0 | 1 | 2          s[0 .. cells-1]   the cell codes
    ---+---+---         s[cells]          player to move: 0 = X, 1 = O
     3 | 4 | 5          s[cells + 1]      0 = running, 1 = X has won, 2 = O has won, 3 = draw
    ---+---+---
     6 | 7 | 8          action = cell

``games.load("tictactoe", rows=15, columns=15, k=5)`` is Gomoku, for which n-tuples by random walk
(``{"random_walk": 60, "length": 6}``) take the place of one tuple over all cells. So it is for
three or four players, ``games.load("tictactoe", rows=6, columns=6, k=4, players=3)``: the winner
gets 1, the others 0, and a draw is shared.

Known: 5,478 reachable states, 255,168 games, value: draw.
Source: [konen2021] Sec. 3.1.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from .. import rules
from ..calls import copy_into
from ..drawing import grid, mark
from ..game import Game
from . import LETTERS, MARKS, fault_in_turns, has_line, irreversible, lines_of, named, situation

LONGEST = 15  # rows or columns
# cells by players; keeps the position code below 2**63, larger boards have a hash
MAX_CODED = {2: 36, 3: 30, 4: 26}
CODES = 2, 0, 3, 4  # of the players' stones
BOTH = -1


@kernel
def line_through(s, cell, rows, columns, k):
    """Return whether a line of at least `k` equal stones runs through the stone on `cell`."""
    row = cell // columns
    column = cell % columns
    stone = s[cell]
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            r = row + sign * down
            c = column + sign * right
            while 0 <= r < rows and 0 <= c < columns and s[r * columns + c] == stone:
                length += 1
                r += sign * down
                c += sign * right
        if length >= k:
            return True
    return False


@kernel
def bits_of(s, code, rows, columns):
    """Return the cells with a code as bits, with a gap after every row."""
    bits = np.uint64(0)
    for cell in range(rows * columns):
        bits |= np.uint64(s[cell] == code) << np.uint64(cell + cell // columns)
    return bits


@kernel
def standing(s, rows, columns, k, players):
    """Return the status that follows from the stones, BOTH if several players have a line."""
    status = 0
    is_full = True
    for cell in range(rows * columns):
        if s[cell] == 1:
            is_full = False
        elif line_through(s, cell, rows, columns, k):
            winner = s[cell] if s[cell] > 2 else 2 - s[cell] // 2  # by the code of the stone
            status = winner if status in (0, winner) else BOTH
    if status == 0 and is_full:
        return players + 1
    return status


# as in [konen2021] App. A.6.2, one n-tuple of all cells: plays perfectly after a second
SETTINGS = {"alpha": [1.0, 0.5], "epsilon": [0.1, 0.0], "episodes": 30_000}
SETTINGS_FOR_MORE = {
    "alpha": 3.7,
    "epsilon": [0.1, 0.0],
    "tc": "exp",
    "episodes": 200_000,
    "tuples": {"random_walk": 40, "length": 6},
}


def tictactoe(rows: int = 3, columns: int = 3, k: int = 3, *, players: int = 2) -> Game:
    """Make the game on a grid of `rows` x `columns`, `k` in a line to win."""
    whole("players", players, 2, len(MARKS))
    cells = rows * columns
    if min(rows, columns, k) < 1 or max(rows, columns) > LONGEST or k > max(rows, columns):
        raise ValueError(
            f"an m,n,k game has 1 to {LONGEST} rows and columns and k within the longer side, not"
            f" rows={rows}, columns={columns}, k={k}"
        )
    mover = cells
    status = cells + 1
    small = rows * (columns + 1) <= 64  # the stones of a player fit into a word
    steps = rules.line_steps(columns, rows, k)
    codes = CODES[:players]
    num_codes = np.uint64(players + 1)
    marks = "o.x" + MARKS[2:players]  # by cell code

    # The rules

    def start(s, rng):
        s[:] = 1
        s[mover] = 0
        s[status] = 0

    def legal(s, moves):
        n = 0
        for c in range(cells):
            if s[c] == 1:
                moves[n] = c
                n += 1
        return n

    def play(s, action):
        who = s[mover]
        s[action] = codes[who]
        s[mover] = 0 if who == players - 1 else who + 1
        if small:
            won = has_line(bits_of(s, s[action], rows, columns), steps, k)
        else:
            won = line_through(s, action, rows, columns, k)
        if won:
            s[status] = 1 + who
            return
        for c in range(cells):
            if s[c] == 1:
                return
        s[status] = players + 1

    def player(s):
        return s[mover]

    def finish(s, moves, plies, rng):
        if s[status] != 0:
            return
        who = np.int64(s[mover])
        mine = bits_of(s, 2 - 2 * who, rows, columns)
        theirs = bits_of(s, 2 * who, rows, columns)
        free = bits_of(s, 1, rows, columns)
        counts = rules.running_counts(free)
        n = rules.count(free)
        for ply in range(min(plies, n)):
            cell, counts = rules.draw_one(free, counts, n - ply, rng)
            free ^= np.uint64(1) << cell
            mine |= np.uint64(1) << cell
            if has_line(mine, steps, k):
                s[status] = 1 + who
                return
            mine, theirs = theirs, mine
            who = 1 - who
        if free == 0:
            s[status] = 3

    # What networks and searches see

    def board(s, codes):
        copy_into(codes, s, cells)

    def key(s, words):
        code = np.uint64(s[mover])
        for c in range(cells):
            code = code * num_codes + np.uint64(s[c])
        words[0] = code
        words[1] = np.uint64(0)

    # Texts, arrays and states from outside

    def parse(text):
        marks_read, _ = rules.read_marks(text, cells, stones=MARKS[:players])
        who = (cells - marks_read.count(".")) % players
        s = np.array([*map(marks.index, marks_read), who, 0], np.int32)
        s[status] = standing(s, rows, columns, k, players)
        return s

    def fault(s):
        end = standing(s, rows, columns, k, players)
        if end == BOTH or s[status] != end:
            return f"its stones do not give the end {s[status]}"
        stones = s[:cells].tolist()
        return fault_in_turns(s[mover], [stones.count(code) for code in codes], end)

    def render(s):
        return "\n".join(lines_of([marks[code] for code in s[:cells]], columns))

    def from_codes(board_codes, player):
        return parse(" ".join(marks[code] for code in board_codes))

    turned = rules.symmetries(rows, columns)
    return Game(
        "tictactoe",
        title="Tic-Tac-Toe",
        aim=(
            f"The first player with {k} in a row, across, down or diagonally, wins. A move is a "
            "click on an empty cell."
        ),
        **situation(status, 0) | named(player),
        **named(start, legal, play, board, irreversible),
        **named(parse, render, fault, from_codes),
        drawing=grid(
            rows,
            columns,
            looks={code: mark(marks[code]) for code in range(players + 1) if marks[code] != "."},
            labels=(LETTERS[:columns], range(rows, 0, -1)),
            sides=tuple(MARKS[:players]),
        ),
        key=key if cells <= MAX_CODED[players] else None,
        finish=finish if small and players == 2 else None,
        players=players,
        actions=cells,
        size=cells + 2,
        num_codes=[players + 1] * cells,
        layout=np.arange(cells).reshape(rows, columns),
        marks=[2, 0, 1, 3, 4][: players + 1],
        symmetries=turned,
        action_symmetries=np.argsort(turned, axis=1).tolist(),  # where each cell goes
        start_scheme=(0.5, 1),
        neighbours=rules.neighbours(rows, columns),
        settings=SETTINGS if players == 2 else SETTINGS_FOR_MORE,
        version=1,
    )
