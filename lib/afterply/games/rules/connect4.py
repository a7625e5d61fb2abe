"""ConnectFour: stones are dropped into seven columns of six; four in a row, anywhere, win.

::

    specification   connect4
    players         to 4
    actions         the column
    cells           0 = empty, 1 = first's, 2 = second's, 3 = next free of a column
    reward          loss, draw, win, at the end
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

For three or four players, ``games.load("connect4", players=3, columns=9)``, each has a bitboard;
then come two bits for the player to move, and the end: 1 to `players` = who has won, more = draw.
The winner gets 1, the others 0; a draw is shared. Other boards, ``games.load("connect4", rows=4,
columns=5, k=3)``, have rows + 1 bits for each column and may have 64 bits in all.

Known: 1, 7, 49, 238, 1,120, 4,263 positions after 0 to 5 plies; 4,531,985,219,092 positions in all;
the first player wins, by the centre column only. Source: [konen2021] Sec. 3.2, App. A.6.3.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from .. import rules
from ..drawing import COLOURS, Look, grid, stone
from ..game import Game
from . import LETTERS, MARKS, bitboard, has_line, irreversible, lines_of, named, put_bitboard

ROWS, COLUMNS, LONGEST = 6, 7, 15
CELLS = ROWS * COLUMNS


@kernel
def stones_of_all(s, players):
    """Return the bitboard of all stones."""
    taken = bitboard(s, 0)
    for p in range(1, players):
        taken |= bitboard(s, 2 * p)
    return taken


# as in [konen2021] App. A.6.3, with a fifth of its games; epsilon ends at 0 for a clean endgame
SETTINGS = {"alpha": 3.7, "epsilon": [0.1, 0.0], "tc": "exp", "episodes": 1_000_000}


def connect4(*, rows: int = ROWS, columns: int = COLUMNS, k: int = 4, players: int = 2) -> Game:
    """Make the game on `rows` x `columns` cells, (rows + 1) * columns <= 64; `k` in a row win."""
    whole("ConnectFour: players", players, 2, len(MARKS))
    for name, value in (("rows", rows), ("columns", columns)):
        whole(f"ConnectFour: {name}", value, 1, LONGEST)
    whole("ConnectFour: k", k, 1, max(rows, columns))
    if (rows + 1) * columns > 64:
        raise ValueError(
            f"ConnectFour: {rows} rows and {columns} columns do not fit into 64 bits; take fewer,"
            " so that (rows + 1) * columns is at most 64"
        )
    cells = rows * columns
    bottom_row = sum(1 << (rows + 1) * column for column in range(columns))
    bottom = np.uint64(bottom_row)
    column_bits = np.uint64(2**rows - 1)
    full = np.uint64(bottom_row * (2**rows - 1))
    height = np.uint64(rows + 1)  # bits of a column
    steps = rules.line_steps(rows, columns, k)
    turn = 2 * players  # place in the state: the mover and, from bit `shift` on, the end
    shift = 1 if players == 2 else 2
    movers = 2**shift - 1
    draw = players + 1  # a status
    next_free = players + 1  # a code
    seats = range(players)

    # The rules

    def legal(s, moves):
        free = ~stones_of_all(s, players) >> np.uint64(rows - 1)
        n = 0
        for column in range(columns):
            moves[n] = column  # without a branch: overwritten by the next one if this one is full
            n += np.int64(free & np.uint64(1))
            free >>= height
        return n

    def play(s, action):
        who = s[turn] & movers
        taken = stones_of_all(s, players)
        foot = height * np.uint64(action)
        # adding 1 at the foot of a column carries to its first free cell
        new = taken + (np.uint64(1) << foot) & column_bits << foot & ~taken
        mine = bitboard(s, 2 * who) | new
        put_bitboard(s, 2 * who, mine)
        status = 0
        if has_line(mine, steps, k):
            status = 1 + who
        elif taken | new == full:
            status = draw
        next_mover = 0 if who == players - 1 else who + 1
        s[turn] = status << shift | next_mover

    # What networks and searches see

    def board(s, codes):
        reachable = stones_of_all(s, players) + bottom & full
        one = two = four = np.uint64(0)  # the bits of the codes
        for code in range(1, next_free + 1):
            having_code = reachable if code == next_free else bitboard(s, 2 * code - 2)
            if code & 1:
                one |= having_code
            if code & 2:
                two |= having_code
            if code & 4:
                four |= having_code
        for column in range(columns):
            for row in range(rows):
                bit = np.uint64((rows + 1) * column + row)
                codes[rows * column + row] = (
                    np.int32(one >> bit & np.uint64(1))
                    | np.int32(two >> bit & np.uint64(1)) << 1
                    | np.int32(four >> bit & np.uint64(1)) << 2
                )

    def key(s, words):
        # the first player's stones under a 1 on the next free cell of every column
        words[0] = bitboard(s, 0) + stones_of_all(s, players) + bottom
        words[1] = bitboard(s, 2) if players > 2 else np.uint64(0)

    # Texts, arrays and states from outside

    def from_codes(codes, player):
        s = np.zeros(turn + 1, np.int32)
        stones = codes.reshape(columns, rows)
        for who in seats:
            mine = np.pad(stones == 1 + who, ((0, 0), (0, 1)))  # each column has one bit more
            put_bitboard(s, 2 * who, np.uint64(rules.bits_where(mine)))
        s[turn] = end_of(s) << shift | player
        return s

    def end_of(s):
        """Return the status by the stones, more than a draw if there are two winners."""
        winners = [1 + who for who in seats if has_line(bitboard(s, 2 * who), steps, k)]
        if len(winners) > 1:
            return draw + 1
        if winners:
            return winners[0]
        return draw if stones_of_all(s, players) == full else 0

    layout = np.arange(cells).reshape(columns, rows).T[::-1]
    bits = (layout + layout // rows).ravel().tolist()  # of the layout's places, row by row

    def marks_of(s):
        marks = ["."] * cells
        for who in seats:
            mine = int(bitboard(s, 2 * who))
            for place, bit in enumerate(bits):
                if mine >> bit & 1:
                    marks[place] = MARKS[who]
        return marks

    def fault(s):
        counts = [int(bitboard(s, 2 * who)).bit_count() for who in seats]
        taken = int(stones_of_all(s, players))
        end = s[turn] >> shift
        off_board = taken & ~int(full)
        above_empty = taken + int(bottom) & taken
        if sum(counts) > taken.bit_count() or off_board or above_empty:
            return "two stones are on one cell, or one is off the board or above an empty cell"
        if end > draw or end != end_of(s):
            return f"its stones do not give the end {end}"
        return rules.fault_in_turns(int(s[turn]) & movers, counts, end)

    def touch(codes, column, places):
        for cell in range(rows * column, rows * column + rows):
            if codes[cell] == next_free:
                places[0] = cell
                return 1
        return 0

    colours = list(COLOURS.values())[:players]
    drawing = grid(
        rows,
        columns,
        looks={1 + who: Look(stone(colour)) for who, colour in enumerate(colours)},
        labels=(LETTERS[:columns], range(rows, 0, -1)),
        order=layout.ravel(),
        sides=tuple(COLOURS)[:players],
        typed_sides=tuple(MARKS[:players]),
    )
    symmetries = [list(range(cells))]
    action_symmetries = [list(range(columns))]
    if columns > 1:  # left and right exchanged
        symmetries.append(layout[::-1, ::-1].T.ravel().tolist())
        action_symmetries.append(list(reversed(range(columns))))
    settings = SETTINGS
    if (rows, columns, players) == (ROWS, COLUMNS, 2):
        settings = SETTINGS | {"tuples": "connect4-70x8"}
    lowest = -1.0 if players == 2 else 0.0  # reward
    return Game(
        "connect4",
        title="ConnectFour",
        aim=(
            f"The first player with {k} stones in a row, across, down or diagonally, wins. A "
            "move drops a stone into a column, where it lands on the stones below."
        ),
        **named(legal, play, board, irreversible, from_codes),
        **rules.situation(turn, shift, players),
        **named(touch, fault),
        drawing=drawing,
        render=lambda s: "\n".join(lines_of(marks_of(s), columns)),
        start=rules.empty,
        key=key if players < 4 else None,
        players=players,
        actions=columns,
        size=turn + 1,
        num_codes=[players + 2] * cells,
        layout=layout,
        marks=[*range(players + 1), 0],
        score_range=(lowest, 1.0),
        symmetries=symmetries,
        action_symmetries=action_symmetries,
        start_scheme=(0.5, 1),
        neighbours=rules.neighbours(columns, rows),
        settings=settings,
        version=1,
    )
