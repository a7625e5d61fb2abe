"""Othello: a stone flips the opponent's stones between it and other own stones, in all directions.

Most stones win.

::

    specification   othello
    players         2
    actions         64, at most 46 legal: the cell
    cells           64 of 4 codes: 0 = Black's, 1 = White's, 2 = empty, 3 = empty and legal
    symmetries      8, with those of the actions
    chance          none
    reward          -1 to 1: loss, draw, win, at the end
    start           the default with probability 0.3, else 4 random plies
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

Known: 4, 12, 56, 244, 1,396, 8,200, 55,092, 390,216 games of 1 to 8 plies. Other sizes,
``games.load("othello", side=6)``, are in ``_othello_sizes.py``.
Source: [konen2021] Table 1, App. A.6.5. Deviations: D39.
"""

import numpy as np

from ...kernel.compile import kernel
from ..boards import grid_svg
from ..game import Game
from ._othello_sizes import COLOURS, around, sized, symmetries_of

SIDE, CELLS = 8, 64
BLACK_START, WHITE_START = 1 << 28 | 1 << 35, 1 << 27 | 1 << 36
# columns b to g: only stones there can lie between two others in a line that is not a column
INNER = np.uint64(0x7E7E7E7E7E7E7E7E)
NONE = np.uint64(0)
CENTRE = BLACK_START | WHITE_START
MARKS = "xo.."  # by cell code

# Most legal moves of any position. A move needs an opponent's stone beside it with an own stone
# behind, in some line. An opponent's stone plays this part for at most one move in each of 4 lines,
# an own one for at most one in each of 8 directions. So M moves need M/4 and M/8 stones:
# M <= 64 - 3M/8, which is M <= 46.
MAX_LEGAL = 46


@kernel
def bitboard(s, k):
    """Return the 64 bits that ``s[k]`` and ``s[k + 1]`` hold."""
    return np.uint64(np.uint32(s[k])) | np.uint64(np.uint32(s[k + 1])) << np.uint64(32)


@kernel
def put_bitboard(s, k, bits):
    """Write 64 bits to ``s[k]`` and ``s[k + 1]``."""
    s[k] = np.int32(np.uint32(bits))
    s[k + 1] = np.int32(bits >> np.uint64(32))


@kernel
def runs(stones, through, step):
    """Return the cells of `through` that unbroken runs reach from `stones`, up and down one line.

    Runs have at most six cells; each statement below doubles the length or adds one.
    """
    twice = step + step
    up, down = through & stones << step, through & stones >> step
    up, down = up | through & up << step, down | through & down >> step
    pairs_up = through & through << step
    pairs_down = pairs_up >> step
    up, down = up | pairs_up & up << twice, down | pairs_down & down >> twice
    return up | pairs_up & up << twice, down | pairs_down & down >> twice


@kernel
def moves_in_line(mine, through, step):
    """Return the cells next to the runs of `through` that begin at one of my stones, in a line."""
    up, down = runs(mine, through, step)
    return up << step | down >> step


@kernel
def flips_in_line(stone, mine, through, step):
    """Return the runs of `through` between `stone` and one of mine, in one line of the board."""
    up, down = runs(stone, through, step)
    return (up if mine & up << step else NONE) | (down if mine & down >> step else NONE)


@kernel
def legal_mask(mine, theirs):
    """Return the cells where the owner of `mine` can move, as a uint64."""
    inner = theirs & INNER
    return (
        moves_in_line(mine, inner, np.uint64(1))
        | moves_in_line(mine, theirs, np.uint64(8))
        | moves_in_line(mine, inner, np.uint64(7))
        | moves_in_line(mine, inner, np.uint64(9))
    ) & ~(mine | theirs)


@kernel
def flipped(stone, mine, theirs):
    """Return the opponent's stones that a new stone flips, as a uint64."""
    inner = theirs & INNER
    return (
        flips_in_line(stone, mine, inner, np.uint64(1))
        | flips_in_line(stone, mine, theirs, np.uint64(8))
        | flips_in_line(stone, mine, inner, np.uint64(7))
        | flips_in_line(stone, mine, inner, np.uint64(9))
    )


@kernel
def count(bits):
    """Return the number of ones, at most 64 (the form that compilers turn into one instruction)."""
    n = bits - (bits >> np.uint64(1) & np.uint64(0x5555555555555555))
    n = (n & np.uint64(0x3333333333333333)) + (n >> np.uint64(2) & np.uint64(0x3333333333333333))
    n = n + (n >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(n * np.uint64(0x0101010101010101) >> np.uint64(56))


@kernel
def set_position(s, black, white, mover):
    """Write a position; `mover` is to move, or has to pass."""
    mine, theirs = (white, black) if mover else (black, white)
    mask = legal_mask(mine, theirs)
    if mask == NONE:
        mask = legal_mask(theirs, mine)
        mover = 0 if mask == NONE else 1 - mover
    put_bitboard(s, 0, black)
    put_bitboard(s, 2, white)
    s[4] = mover
    put_bitboard(s, 5, mask)


def _start(s, rng):
    set_position(s, np.uint64(BLACK_START), np.uint64(WHITE_START), 0)


def _legal(s, moves):
    mask, n = bitboard(s, 5), 0
    while mask != NONE:
        lower = mask - np.uint64(1)
        moves[n] = count(~mask & lower)  # zeros below the lowest one
        mask &= lower
        n += 1
    return n


def _play(s, action):
    who, stone = np.int64(s[4]), np.uint64(1) << np.uint64(action)
    black, white = bitboard(s, 0), bitboard(s, 2)
    turned = flipped(stone, white, black) if who else flipped(stone, black, white)
    black, white = black ^ turned, white ^ turned
    if who:
        white |= stone
    else:
        black |= stone
    set_position(s, black, white, 1 - who)


def _player(s):
    return s[4]


def _over(s):
    return s[5] | s[6] == 0


def _score(s, r):
    r[0] = 0.0
    if s[5] | s[6] == 0:
        lead = count(bitboard(s, 0)) - count(bitboard(s, 2))
        r[0] = np.float64(lead > 0) - np.float64(lead < 0)
    r[1] = 0.0 - r[0]


def _board(s, codes):
    black, white, mask = bitboard(s, 0), bitboard(s, 2), bitboard(s, 5)
    low, high = white | mask, ~(black | white)  # low and high bit of the codes
    for c in range(CELLS):
        codes[c] = (
            np.int32(low >> np.uint64(c) & np.uint64(1))
            | np.int32(high >> np.uint64(c) & np.uint64(1)) << 1
        )


def _key(s, words):
    """Write all stones, and Black's.

    Cell d4 is never empty, so its bit of the first word can say who is to move.
    """
    black = bitboard(s, 0)
    words[0] = (black | bitboard(s, 2)) ^ np.uint64(s[4]) << np.uint64(27)
    words[1] = black


def _irreversible(s):
    return True


def _fault(s):
    """Say what is wrong with a vector whose legal moves are not those of its stones."""
    black, white, right = np.uint64(bitboard(s, 0)), np.uint64(bitboard(s, 2)), s.copy()
    if black & white:
        return "a cell holds two stones"
    set_position(right, black, white, int(s[4] & 1))
    return None if (right == s).all() else "its last three numbers do not follow from its stones"


def _codes(s) -> list:
    """Return the cell codes 0, 1 and 2, by plain Python."""
    black, white = int(bitboard(s, 0)), int(bitboard(s, 2))
    return [0 if black >> c & 1 else 1 if white >> c & 1 else 2 for c in range(CELLS)]


def _render(s):
    marks = [MARKS[code] for code in _codes(s)]
    turn = f"{'xo'[s[4]]} to move" if s[5] | s[6] else "over"
    return "\n".join([" ".join(marks[SIDE * r : SIDE * (r + 1)]) for r in range(SIDE)] + [turn])


def _parse(text):
    words = text.split()
    marks, turn = words[:CELLS], " ".join(words[CELLS:])
    if (
        len(marks) != CELLS
        or any(m not in ("x", "o", ".") for m in marks)
        or turn not in ("x to move", "o to move", "over")
    ):
        raise ValueError(
            f"a position is {CELLS} marks x, o or . separated by blanks, row 1 first, then 'x to"
            f" move', 'o to move' or 'over', not {text!r}"
        )
    black, white = (sum(1 << c for c, m in enumerate(marks) if m == mark) for mark in "xo")
    if (black | white) & CENTRE != CENTRE:
        raise ValueError(
            f"the cells d4, e4, d5 and e5 hold stones from the start on, but not in {text!r}"
        )
    s = np.zeros(7, np.int32)
    set_position(s, np.uint64(black), np.uint64(white), int(turn[0] == "o" and turn != "over"))
    have = _render(s).rsplit("\n", 1)[1]
    if have != turn:
        raise ValueError(
            f"the position says {turn!r}, but by its stones it is {have!r} (a player who has no"
            " move is skipped)"
        )
    return s


def _action_name(s, action):
    return "abcdefgh"[action % SIDE] + str(action // SIDE + 1)


def _svg(s, values=None, last=None):
    return grid_svg(
        ["xo "[code] for code in _codes(s)],
        SIDE,
        values=values,
        last=last,
        labels=("abcdefgh", "12345678"),
        stones=COLOURS,
    )


def othello(*, side: int = SIDE):
    """Make the game, on its usual board of 8 x 8 or on another square."""
    if side != SIDE:
        return sized(side)
    symmetries = symmetries_of(SIDE)
    return Game(
        "othello",
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
        actions=CELLS,
        max_legal=MAX_LEGAL,
        size=7,
        num_codes=[4] * CELLS,
        symmetries=symmetries,
        action_symmetries=np.argsort(symmetries, axis=1).tolist(),
        score_range=(-1.0, 1.0),
        start_scheme=(0.3, 4),
        neighbours=around(SIDE),
        render=_render,
        parse=_parse,
        action_name=_action_name,
        svg=_svg,
        fault=_fault,
        version=1,
    )


GAMES = {"othello": othello}
