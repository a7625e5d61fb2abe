"""Hex: two players put stones on a rhombus of hexagons; one of them joins its own two sides.

::

    specification   hex
    actions         the cell, with swap one more
    cells           0 = empty, 1 = first player's stone, 2 = second player's
    reward          loss, win, at the end
    checked         against OpenSpiel, plain flood fill, small boards solved
    coordinates     a1 is above on the left, the columns are letters; swap

    cell = size * row + column
    the first player (x) joins the first column with the last, the second (o) the first row

        o   o   o   o                   neighbours of (row, column):
      x  0   1   2   3  x                        (-1, 0) (-1, +1)
        x  4   5   6   7  x                   (0, -1)  .  (0, +1)
          x  8   9  10  11  x                    (+1, -1) (+1, 0)
            x 12  13  14  15  x
                o   o   o   o           action = cell; size * size = swap

    state (int32), rows of bits: bit `column` for the first player, 16 + column for the second
     s[row]            stones of a row
     s[size + row]     those of them that are joined with the first side of their player
     s[2 * size]       bit 0: player to move
                       bits 1-2: 0 = running, 1 = first has won, 2 = second has won

With ``swap`` the second player may, as a first move, take the first stone over: it changes hands
and is mirrored at the long diagonal, which turns the first player's sides into the second's.

Known: without swap the first player wins (a second player who could win would have the strategy
stolen). Source: [konen2021] Sec. 3.3, App. A.6.4.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from ...kernel.random import random_bits
from .. import drawing as draw
from .. import rules
from ..drawing import MARK_COLOURS, PAD, SOFT, Drawing, Look, Place
from ..game import Game
from . import HEXAGON, LETTERS, fault_in_turns, irreversible, lines_of, named, neighbours, situation

MAX_SIZE = 15
RADIUS, WIDTH = 27, 46.8  # of a drawn hexagon: centre to corner, side to side
# in (WIDTH, RADIUS), clockwise from the top
CORNERS = [(0.0, -1.0), (0.5, -0.5), (0.5, 0.5), (0.0, 1.0), (-0.5, 0.5), (-0.5, -0.5)]


@kernel
def row_of(s, k, who):
    """Return the bits of a player in the word ``s[k]``."""
    return np.uint32(s[k]) >> np.uint32(16 * who) & np.uint32(0xFFFF)


@kernel
def add_bits(s, k, who, bits):
    """Add bits of a player to the word ``s[k]``."""
    s[k] |= np.int32(bits << np.uint32(16 * who))


@kernel
def around(s, size, row, who, first):
    """Return the cells of `row` with a neighbour among a player's bits, from word `first` on."""
    same = row_of(s, first + row, who)
    near = same << np.uint32(1) | same >> np.uint32(1)
    if row > 0:
        above = row_of(s, first + row - 1, who)
        near |= above | above >> np.uint32(1)
    if row < size - 1:
        below = row_of(s, first + row + 1, who)
        near |= below | below << np.uint32(1)
    return near


@kernel
def put_stone(s, size, row, column, who):
    """Put a stone on the board; return whether it joins the two sides of its player."""
    bit = np.uint32(1) << np.uint32(column)
    add_bits(s, row, who, bit)
    at_side = row == 0 if who else column == 0
    if not at_side and around(s, size, row, who, size) & bit == 0:
        return False
    add_bits(s, size + row, who, bit)
    spread(s, size, row, who)
    if who:
        return row_of(s, 2 * size - 1, 1) != 0
    for r in range(size):
        if row_of(s, size + r, 0) >> np.uint32(size - 1):
            return True
    return False


@kernel
def spread(s, size, row, who):
    """Join with the first side every stone that now has a joined neighbour, near `row` first."""
    low = max(row - 1, 0)  # the rows to look at
    high = min(row + 1, size - 1)
    while low <= high:
        next_low = size
        next_high = -1
        for r in range(low, high + 1):
            new = around(s, size, r, who, size) & row_of(s, r, who) & ~row_of(s, size + r, who)
            if new:
                add_bits(s, size + r, who, new)
                next_low = min(next_low, r - 1)
                next_high = r + 1
        low = max(next_low, 0)
        high = min(next_high, size - 1)


@kernel
def stones_of(s, size, who):
    """Return a player's stones, a row in each byte."""
    stones = np.uint64(0)
    for row in range(size):
        stones |= np.uint64(row_of(s, row, who)) << np.uint64(8 * row)
    return stones


@kernel
def joins(stones, size, who):
    """Return whether some stones join the two sides of their player."""
    one = np.uint64(1)
    row = np.uint64(8)
    if who:
        side = (one << np.uint64(size)) - one  # the first row
        last = np.uint64(size - 1) * row  # how far the other side is
    else:
        side = np.uint64(rules.EACH_BYTE)  # the first column
        last = np.uint64(size - 1)
    before = np.uint64(0)
    joined = stones & side
    while joined != before and joined >> last & side == 0:
        before = joined
        right = joined | joined << one
        left = joined | joined >> one
        joined = (right | left | right >> row | left << row) & stones
    return joined >> last & side != 0


# as in [konen2021] App. A.6.4: much exploration, as one lost line decides the game
SETTINGS = {
    "alpha": [1.0, 0.5],
    "epsilon": 0.2,
    "tc": "id",
    "choose_start": True,
    "tuples": {"random_walk": 25, "length": 6},
    "episodes": 300_000,
}


def _drawing(size) -> Drawing:
    """Return the drawing of the board: rows of hexagons, each half a hexagon further right."""
    margin = PAD + 24
    places = []
    coordinates = []
    for cell in range(size * size):
        row, column = divmod(cell, size)
        x = margin + WIDTH * (column + row / 2 + 0.5)
        y = margin + RADIUS * (1.5 * row + 1)
        name = f"{LETTERS[column]}{row + 1}"
        places.append(Place((x, y), draw.hexagon(RADIUS), cell, name))
        if column == 0:
            coordinates.append(draw.text_at(x - WIDTH / 2 - 12, y + 2, row + 1, 12, SOFT))
        if row == 0:
            coordinates.append(draw.text_at(x, y - RADIUS - 8, LETTERS[column], 12, SOFT))
    return Drawing(
        places=places,
        looks={
            1 + who: Look(draw.stone(MARK_COLOURS[mark], RADIUS * 0.62))
            for who, mark in enumerate("xo")
        },
        behind=coordinates,
        above=_sides(places, size),
        width=margin + WIDTH * (1.5 * size - 0.5) + PAD + 4,
        height=margin + RADIUS * (1.5 * size + 0.5) + PAD,
        sides=("black (left to right)", "blue (top to bottom)"),
        typed_sides=("x (left to right)", "o (top to bottom)"),
    )


def _sides(places, size) -> list[str]:
    """Return the four sides of the board as lines in the colours of their players."""
    cells = size * size
    sides = (  # whose, its cells, and their corners at the edge of the board
        ("x", range(0, cells, size), (5, 4, 3)),
        ("x", range(size - 1, cells, size), (0, 1, 2)),
        ("o", range(size), (5, 0, 1)),
        ("o", range(cells - size, cells), (4, 3, 2)),
    )
    lines = []
    for owner, border, outside in sides:
        points = []
        for cell in border:
            x, y = places[cell].at
            corners = [CORNERS[k] for k in outside]
            points += [f"{x + WIDTH * a:.1f},{y + RADIUS * b:.1f}" for a, b in corners]
        edge = {"stroke": MARK_COLOURS[owner], "stroke_width": 4, "stroke_linecap": "round"}
        lines.append(draw.element("polyline", points=" ".join(points), fill="none", **edge))
    return lines


def hex(size: int = 6, swap: bool = False) -> Game:
    """Make the game on `size` x `size`; with `swap` the second player may take the first stone."""
    whole("size", size, 2, MAX_SIZE)
    cells = size * size
    status = 2 * size
    small = size <= 7  # the stones of a player fit into a word, a row in each byte
    all_columns = np.uint32((1 << size) - 1)
    full = sum(int(all_columns) << 8 * row for row in range(size))
    take_over = cells  # the action

    # The rules

    def legal(s, moves):
        n = 0
        for row in range(size):
            stones = np.uint32(s[row])
            free = ~(stones | stones >> np.uint32(16)) & all_columns
            for column in range(size):
                # without a branch: overwritten by the next one if the cell is taken
                moves[n] = size * row + column
                n += np.int64(free >> np.uint32(column) & np.uint32(1))
        if swap and s[status] == 1 and n == cells - 1:
            moves[n] = take_over
            n += 1
        return n

    def play(s, action):
        who = s[status] & 1
        cell = action
        if swap and action == take_over:
            for c in range(cells):
                if row_of(s, c // size, 0) >> np.uint32(c % size) & np.uint32(1):
                    cell = size * (c % size) + c // size  # the only stone, mirrored
            for k in range(2 * size):
                s[k] = 0
        won = put_stone(s, size, cell // size, cell % size, who)
        winner = 1 + who if won else 0
        s[status] = winner << 1 | 1 - who

    def finish(s, moves, plies, rng):
        """Fill the board, then take back what the winner put after there was a chain."""
        if s[status] >> 1:
            return
        who = np.int64(s[status])
        one = np.uint64(1)
        mine = stones_of(s, size, who)
        theirs = stones_of(s, size, 1 - who)
        free = np.uint64(full) & ~(mine | theirs)
        counts = rules.running_counts(free)
        n = rules.count(free)
        plies = min(plies, n)
        began = rng[0]
        # Fill the board, whoever has joined the sides meanwhile.
        for ply in range(plies):
            cell, counts = rules.draw_one(free, counts, n - ply, rng)
            free ^= one << cell
            moves[ply] = cell
            mine |= one << cell
            mine, theirs = theirs, mine
        # Find whose chain there is; `last` is the last move of its owner.
        who ^= plies & 1  # to move, with stones `mine`
        last = plies - 2
        if not joins(mine, size, who):
            if plies < n and not joins(theirs, size, 1 - who):
                return
            last = plies - 1
            mine = theirs
            who = 1 - who
        # Take back the owner's moves until the chain is gone: the game ended with the last of them.
        mine ^= one << np.uint64(moves[last])
        while joins(mine, size, who):
            last -= 2
            mine ^= one << np.uint64(moves[last])
        # The generator is where it would be if the game had ended there.
        rng[0] = began
        for _ in range(last + 1):
            random_bits(rng)
        s[status] = (1 + who) << 1

    # What networks and searches see

    def board(s, codes):
        for row in range(size):
            stones = np.uint32(s[row])
            for column in range(size):
                bits = stones >> np.uint32(column)
                codes[size * row + column] = np.int32(
                    bits & np.uint32(1) | bits >> np.uint32(15) & np.uint32(2)
                )

    def key(s, words):
        """Write both players' stones, and the mover in the highest bit: exact up to 7 x 7."""
        words[0] = np.uint64(0)
        words[1] = np.uint64(0)
        for row in range(size):
            words[0] |= np.uint64(row_of(s, row, 0)) << np.uint64(size * row)
            words[1] |= np.uint64(row_of(s, row, 1)) << np.uint64(size * row)
        words[0] |= np.uint64(s[status] & 1) << np.uint64(63)

    # Texts, arrays and states from outside

    def from_codes(codes, player):
        s = np.zeros(2 * size + 1, np.int32)
        winner = 0
        for cell in np.flatnonzero(codes).tolist():
            row, column = divmod(cell, size)
            stone = int(codes[cell])
            if put_stone(s, size, row, column, stone - 1):
                winner = stone
        s[status] = winner << 1 | player
        return s

    def codes_of(s):
        """Return the codes of the cells; 3 where both players have a stone."""
        words = s[:size, None].view(np.uint32) >> np.arange(size, dtype=np.uint32)
        return (words & 1 | words >> 15 & 2).ravel()

    def marks_of(s):
        return [".xo"[code] for code in codes_of(s)]

    def render(s):
        lines = [" " * row + line for row, line in enumerate(lines_of(marks_of(s), size))]
        return "\n".join([*lines, f"{'xo'[s[status] & 1]} to move"])

    def fault(s):
        codes = codes_of(s)
        rows = s[:size].view(np.uint32)
        mover = s[status] & 1
        columns = (rows | rows >> 16) & 0xFFFF  # of stones, in each row
        if 3 in codes or (columns >> size).any():
            return "a cell holds two stones, or there is one off the board"
        if (from_codes(codes, mover) != s).any():
            return "what is joined, and the end, do not follow from its stones"
        counts = [np.count_nonzero(codes == 1), np.count_nonzero(codes == 2)]
        lags = (0, 1) if swap and counts[1] else (0,)
        return fault_in_turns(mover, counts, s[status] >> 1, lags)

    cells_turned = [list(range(cells)), list(reversed(range(cells)))]
    others = [take_over] if swap else []  # actions that stay as they are
    return Game(
        "hex",
        title="Hex",
        aim=(
            "Black joins the left side to the right one by a chain of stones, Blue the top to "
            "the bottom; exactly one of them succeeds. A move puts a stone on any empty cell."
        ),
        **named(legal, play, board, irreversible, from_codes),
        **situation(status, 1),
        **named(render, fault),
        drawing=_drawing(size),
        names={take_over: "swap"} if swap else None,
        start=rules.empty,
        key=key if small else None,
        finish=finish if small and not swap else None,
        players=2,
        actions=cells + len(others),
        max_legal=cells,
        size=2 * size + 1,
        num_codes=[3] * cells,
        layout=np.arange(cells).reshape(size, size),
        symmetries=cells_turned,
        action_symmetries=[row + others for row in cells_turned],
        start_scheme=(0.5, 1),
        neighbours=neighbours(size, size, HEXAGON),
        settings=SETTINGS if size > 2 else None,
        version=1,
    )
