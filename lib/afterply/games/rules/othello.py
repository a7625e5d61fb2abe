"""Othello: a stone flips the opponent's stones between it and other own ones; most stones win.

::

    specification   othello
    actions         the cell
    cells           0 = Black's, 1 = White's, 2 = empty, 3 = empty and legal
    reward          loss, draw, win, at the end
    checked         against OpenSpiel, rust-reversi and known counts
    coordinates     a1 is above on the left, as in the game's own books

    cells = 8 * row + column = actions = bits          start: Black (x) moves first
         a  b  c  d  e  f  g  h                          a b c d e f g h
     1   0  1  2  3  4  5  6  7                        3 . . . * . . . .
     2   8  9 10 11 12 13 14 15                        4 . . * o x . . .      * = legal for Black
     3  16 17 18 19 20 21 22 23                        5 . . . x o * . .
     4  24 25 26 27 28 29 30 31   a step right is      6 . . . . * . . .
     5  32 33 34 35 36 37 38 39   1 bit, down 8,
     6  40 41 42 43 44 45 46 47   down-right 9,
     7  48 49 50 51 52 53 54 55   down-left 7
     8  56 57 58 59 60 61 62 63

    state (int32)
     s[0], s[1]   Black's stones, low and high half of the bitboard
     s[2], s[3]   White's stones
     s[4]         player to move: 0 = Black, 1 = White; 0 at the end
     s[5], s[6]   the legal moves of the player to move; none = the game is over

Passing: `play` gives the move to the opponent if there is a move; else the mover goes on, and where
neither can move the game is over. So there is no pass action, and one player may make several moves
in a row.

Smaller boards, ``games.load("othello", side=6)``, number their cells likewise.

Known: 4, 12, 56, 244, 1,396, 8,200, 55,092, 390,216 games of 1 to 8 plies; on 4 x 4 the second
player wins.
Source: [konen2021] Table 1, App. A.6.5. Deviations: D39.
"""

import numpy as np

from ...kernel.compile import kernel
from .. import drawing as draw
from .. import rules
from ..drawing import INK, PAPER, Look, stone
from ..game import Game
from . import LETTERS, MARKS, bitboard, count, irreversible, lines_of, named, put_bitboard

SIDE, SIDES = 8, (4, 6, 8)
NONE, ONE = np.uint64(0), np.uint64(1)


@kernel
def runs(stones, through, step):
    """Return the cells of `through` that runs of up to six reach from `stones`, up and down."""
    twice = step + step
    pairs_up = through & through << step
    pairs_down = pairs_up >> step
    up = through & stones << step
    up |= through & up << step
    up |= pairs_up & up << twice
    up |= pairs_up & up << twice
    down = through & stones >> step
    down |= through & down >> step
    down |= pairs_down & down >> twice
    down |= pairs_down & down >> twice
    return up, down


@kernel
def moves_in_line(mine, through, step):
    """Return the cells next to the runs of `through` that begin at one of my stones, in a line."""
    up, down = runs(mine, through, step)
    return up << step | down >> step


@kernel
def flips_in_line(stone, mine, through, step):
    """Return the runs of `through` between `stone` and one of mine, in one line of the board."""
    up, down = runs(stone, through, step)
    flips_up = up if mine & up << step else NONE
    flips_down = down if mine & down >> step else NONE
    return flips_up | flips_down


@kernel
def legal_mask(mine, theirs, sizes):
    """Return the cells where the owner of `mine` can move; `sizes` are those of ``othello``."""
    side, inner_columns, everything = sizes
    inner = theirs & inner_columns
    return (
        moves_in_line(mine, inner, ONE)
        | moves_in_line(mine, theirs, side)
        | moves_in_line(mine, inner, side - ONE)
        | moves_in_line(mine, inner, side + ONE)
    ) & (everything & ~(mine | theirs))


@kernel
def flipped(stone, mine, theirs, sizes):
    """Return the opponent's stones that a new stone flips."""
    side, inner_columns, _ = sizes
    inner = theirs & inner_columns
    return (
        flips_in_line(stone, mine, inner, ONE)
        | flips_in_line(stone, mine, theirs, side)
        | flips_in_line(stone, mine, inner, side - ONE)
        | flips_in_line(stone, mine, inner, side + ONE)
    )


@kernel
def set_position(s, black, white, mover, sizes):
    """Write a position; `mover` is to move, or has to pass."""
    mine, theirs = (white, black) if mover else (black, white)
    mask = legal_mask(mine, theirs, sizes)
    if mask == NONE:
        mask = legal_mask(theirs, mine, sizes)
        mover = 0 if mask == NONE else 1 - mover
    put_bitboard(s, 0, black)
    put_bitboard(s, 2, white)
    s[4] = mover
    put_bitboard(s, 5, mask)


# as in [konen2021] App. A.6.5: random starts and traces, since the outcome is known late
SETTINGS = {
    "alpha": 0.2,
    "epsilon": 0.2,
    "lambda_": 0.5,
    "horizon_cut": 0.01,
    "tc": "exp",
    "choose_start": True,
    "learn_from_random": False,
    "episodes": 250_000,
}


def othello(*, side: int = SIDE) -> Game:
    """Make the game on a square board of 4, 6 or 8 rows."""
    if side not in SIDES:
        raise ValueError(f"Othello: side must be 4, 6 or 8 (cells are 64 bits), not {side!r}")
    cells = side * side
    centre = (side // 2 - 1) * (side + 1)  # d4, the upper left one of the four
    black_start = np.uint64(1 << centre + 1 | 1 << centre + side)
    white_start = np.uint64(1 << centre | 1 << centre + side + 1)
    always = black_start | white_start
    # only stones in the inner columns can lie between two others in a line that is not a column
    grid = np.arange(cells).reshape(side, side)
    inner_columns = sum(1 << cell for cell in grid[:, 1:-1].ravel().tolist())
    everything = np.uint64(2**cells - 1)
    sizes = (np.uint64(side), np.uint64(inner_columns), everything)

    # The rules

    def start(s, rng):
        set_position(s, black_start, white_start, 0, sizes)

    def legal(s, moves):
        mask = bitboard(s, 5)
        n = 0
        while mask != NONE:
            lower = mask - ONE
            moves[n] = count(~mask & lower)  # zeros below the lowest one
            mask &= lower
            n += 1
        return n

    def play(s, action):
        who = np.int64(s[4])
        stone = ONE << np.uint64(action)
        black = bitboard(s, 0)
        white = bitboard(s, 2)
        if who:
            turned = flipped(stone, white, black, sizes)
            white |= stone
        else:
            turned = flipped(stone, black, white, sizes)
            black |= stone
        set_position(s, black ^ turned, white ^ turned, 1 - who, sizes)

    def player(s):
        return s[4]

    def over(s):
        return s[5] | s[6] == 0

    def score(s, r):
        r[0] = 0.0
        if s[5] | s[6] == 0:
            lead = count(bitboard(s, 0)) - count(bitboard(s, 2))
            r[0] = np.float64(lead > 0) - np.float64(lead < 0)
        r[1] = 0.0 - r[0]

    # What networks and searches see

    def board(s, codes):
        white = bitboard(s, 2)
        low = white | bitboard(s, 5)  # low and high bit of the codes
        high = ~(bitboard(s, 0) | white)
        for c in range(cells):
            codes[c] = (
                np.int32(low >> np.uint64(c) & ONE) | np.int32(high >> np.uint64(c) & ONE) << 1
            )

    def key(s, words):
        black = bitboard(s, 0)  # in all stones d4 (never empty) says who is to move
        words[0] = (black | bitboard(s, 2)) ^ np.uint64(s[4]) << np.uint64(centre)
        words[1] = black

    # Texts, arrays and states from outside

    def marks_of(s):
        marks = ["."] * cells
        for mark, word in (("x", 0), ("o", 2)):
            stones = int(bitboard(s, word))
            for c in range(cells):
                if stones >> c & 1:
                    marks[c] = mark
        return marks

    def render(s):
        turn = f"{'xo'[s[4]]} to move" if s[5] | s[6] else "over"
        return "\n".join([*lines_of(marks_of(s), side), turn])

    def from_codes(codes, player):
        s = np.zeros(7, np.int32)
        black = np.uint64(rules.bits_where(codes == 0))
        white = np.uint64(rules.bits_where(codes == 1))
        set_position(s, black, white, player, sizes)
        return s

    def parse(text):
        marks, turn = rules.read_marks(text, cells, ("x to move", "o to move", "over"))
        s = from_codes(np.array([*map("xo.".index, marks)]), int(turn == "o to move"))
        wrong = fault(s)
        if wrong:
            raise ValueError(f"{wrong}, unlike in {text!r}")
        right_turn = render(s).rsplit("\n", 1)[1]
        if turn != right_turn:
            raise ValueError(f"the position says {turn!r}, but by its stones it is {right_turn!r}")
        return s

    def fault(s):
        black = np.uint64(bitboard(s, 0))
        white = np.uint64(bitboard(s, 2))
        if black & white or (black | white) & ~everything:
            return "a cell holds two stones, or there is one off the board"
        if always & ~(black | white):
            names = ", ".join(drawing.places[c].name for c in range(cells) if int(always) >> c & 1)
            return f"the cells {names} always hold stones"
        by_its_stones = s.copy()
        set_position(by_its_stones, black, white, int(s[4] & 1), sizes)
        if (by_its_stones != s).any():
            return "its last three numbers do not follow from its stones"
        return None

    drawing = draw.grid(
        side,
        side,
        looks={0: Look(stone(INK)), 1: Look(stone(PAPER))},
        labels=(LETTERS[:side], range(1, side + 1)),
        sides=("black", "white"),
        typed_sides=tuple(MARKS[:2]),
    )
    symmetries = []
    for board_image in (grid, grid.T):
        symmetries += [np.rot90(board_image, k).ravel().tolist() for k in range(4)]
    settings = SETTINGS
    if side == SIDE:
        settings = SETTINGS | {"tuples": "othello-50x6"}
    return Game(
        "othello",
        title="Othello",
        aim=(
            "The player with more stones at the end wins. A move puts a stone so that it "
            "encloses a row of the other colour, which changes to yours."
        ),
        **named(start, legal, play, player, over, score, board, key, irreversible),
        **named(render, parse, fault, from_codes),
        drawing=drawing,
        players=2,
        actions=cells,
        # A move needs an opponent's stone beside it with an own stone behind, in some line. An
        # opponent's stone plays this part for at most one move in each of 4 lines, an own one for
        # at most one in each of 8 directions: M moves need M/4 + M/8 stones, M <= cells - 3M/8.
        max_legal=8 * cells // 11,
        size=7,
        num_codes=[4] * cells,
        layout=grid,
        marks=[1, 2, 0, 0],
        symmetries=symmetries,
        action_symmetries=np.argsort(symmetries, axis=1).tolist(),
        start_scheme=(0.3, 4),
        neighbours=rules.neighbours(side, side, rules.AROUND),
        settings=settings,
        version=1,
    )
