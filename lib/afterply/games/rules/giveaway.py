"""Give-away checkers, and checkers: men step and jump diagonally forward, kings also backward.

::

    specification   giveaway  checkers
    actions         the square and one of four directions
    cells           the squares, and whether the jump must go on
    reward          loss, draw, win, at the end
    checked         against OpenSpiel, known counts and solved endgames
    coordinates     squares 1 to 32 as draughts are written: from-to, with x for a jump

    squares 1-12 Black's men, 21-32 White's   state (int32), size 6 or more; bit = square - 1
         .  1  .  2  .  3  .  4               s[0]  White's pieces
         5  .  6  .  7  .  8  .               s[1]  Black's pieces
         .  9  . 10  . 11  . 12               s[2]  the kings among them
        13  . 14  . 15  . 16  .               s[3]  bit 0: to move, 0 = White; bits 1-6: square from
         . 17  . 18  . 19  . 20                     which the jump must go on, 0 = none; bits 7-8:
        21  . 22  . 23  . 24  .                     0 = running, 1 = White, 2 = Black has won,
         . 25  . 26  . 27  . 28                     3 = draw
        29  . 30  . 31  . 32  .               s[4]  plies since a capture or a man's move
                                              s[5]  plies since the start
                                              s[6 ..] history (rules.repeated), if repetition counts
    a step up from an even row is 4 bits to the left or 3 to the right, from an odd row 5 or 4

    action = 4 * bit + direction;  0 = up left, 1 = up right, 2 = down left, 3 = down right
    cell codes = squares (0 = empty, 1 / 2 = White's man / king, 3 / 4 = Black's), then one cell:
    1 if the jump must go on

Rules: White (below) moves first. A piece that can jump an enemy piece must do so, or another piece
that can; a piece goes on jumping while it can, each jump being an action of its own, and all of
them one ply. A man that reaches the last row becomes a king, and its turn ends. In `giveaway` the
player to move who has no legal action (no pieces, or all of them blocked) wins, in `checkers` it
loses. Draws: a position with the same player to move for the third time, 200 plies in a row without
a capture or a man's move, or 400 plies; each rule can be changed or left out.

Reward: +1 / -1 / 0, at the end. Turned by 180 degrees with the colours swapped a position is the
same game; this is no symmetry of the cells alone, so the n-tuples have none.
Known: 7, 49, 302, 1,469, 7,361, 36,768, 179,740, 845,931 sequences of 1 to 8 plies.
Source: [mandziuk2004] Sec. 1. Deviations: D11.
"""

import re

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from .. import drawing as draw
from .. import rules
from ..drawing import CELL, INK, PAD, PAPER, SOFT, Drawing, Look, Place
from ..game import Game
from . import bits_where, lowest, named, repeated, situation

RUNNING, DRAW = 0, 3
CORE = 6  # numbers of a state without its history
MEN = 12
MOST_PLIES = 1 << 30
DARK_SQUARE = "#d9d4cb"
MAX_LEGAL = 4 * MEN
WHITE_START, BLACK_START = 0xFFF00000, 0x00000FFF
GIVEAWAY_AIM = "The player who can no longer move, because all pieces are gone or blocked, wins."
CHECKERS_AIM = "The player who can no longer move, because all pieces are gone or blocked, loses."
MOVES = (
    "Men step diagonally forward and take pieces by jumping over them, which is compulsory; click"
    " from and to."
)
ENDS = ("", ", White has won", ", Black has won", ", drawn")
FEN = re.compile(r"([WB]):W([^:]*):B([^:]*)")
PIECES = re.compile(r"(K?)(\d{1,2})(?:-(\d{1,2}))?")
CLOCKS = re.compile(
    r"(\d+) plies quiet, (\d+) played(?:, jumps on from (\d+))?(?:|(, drawn)|, \w+ has won)"
)

# bitboards are int64 between 0 and 2**32 - 1 here; turned by 180 degrees bit b becomes 31 - b and
# direction d becomes 3 - d
SQUARES, DIRECTIONS = 32, 4
ALL = 0xFFFFFFFF
EVEN_ROWS, ODD_ROWS = 0x0F0F0F0F, 0xF0F0F0F0
# without the squares at the right, at the left border
EVEN_INNER, ODD_INNER = 0x07070707, 0xE0E0E0E0
NONE = -1
# [row, column] the bit of a square, NONE of a light one
LAYOUT = np.full((8, 8), NONE)
LAYOUT[np.indices((8, 8)).sum(axis=0) % 2 == 1] = np.arange(SQUARES)
PLACES = np.argwhere(LAYOUT != NONE)  # [square] its row and column
_WITH_BORDER = np.pad(LAYOUT, 1, constant_values=NONE)
# [square][direction] the bit of the square beside it, NONE beyond the border
BESIDE = [_WITH_BORDER[r : r + 3 : 2, c : c + 3 : 2].ravel().tolist() for r, c in PLACES]
# [square, direction] the squares one and two steps away, NONE beyond the border
NEAR = np.array(BESIDE)
FAR = np.array([[BESIDE[n][d] if n != NONE else NONE for d, n in enumerate(row)] for row in BESIDE])
LAST_ROW = np.array([0x0000000F, 0xF0000000], np.int64)  # where White's, Black's men are crowned


def _landings(distance):
    """Return [square, direction] the square so many steps away as a bitboard; 0 = off the board."""
    landings = np.zeros((SQUARES, DIRECTIONS), np.int64)
    for square in range(SQUARES):
        for direction in range(DIRECTIONS):
            target = square
            for _ in range(distance):
                if target != NONE:
                    target = BESIDE[target][direction]
            if target != NONE:
                landings[square, direction] = 1 << target
    return landings


STEP = _landings(1)
JUMP = _landings(2)


@kernel
def up_left(bits):
    """Return the squares up left of these; those beyond the border vanish."""
    return (bits & EVEN_ROWS) >> 4 | (bits & ODD_INNER) >> 5


@kernel
def up_right(bits):
    """Return the squares up right of these."""
    return (bits & EVEN_INNER) >> 3 | (bits & ODD_ROWS) >> 4


@kernel
def down_left(bits):
    """Return the squares down left of these."""
    return ((bits & EVEN_ROWS) << 4 | (bits & ODD_INNER) << 3) & ALL


@kernel
def down_right(bits):
    """Return the squares down right of these."""
    return ((bits & EVEN_INNER) << 5 | (bits & ODD_ROWS) << 4) & ALL


@kernel
def up(bits):
    """Return the squares above these, left and right."""
    return up_left(bits) | up_right(bits)


@kernel
def down(bits):
    """Return the squares below these, left and right."""
    return down_left(bits) | down_right(bits)


@kernel
def heading(own, kings, side):
    """Return the pieces that may go up and those that may go down; `side` 0 = White moves up."""
    return (own, own & kings) if side == 0 else (own & kings, own)


@kernel
def steppers(own, enemy, kings, side):
    """Return the pieces of `own` that can step."""
    empty = ALL & ~(own | enemy)
    upwards, downwards = heading(own, kings, side)
    return upwards & down(empty) | downwards & up(empty)


@kernel
def jumpers(own, enemy, kings, side):
    """Return the pieces of `own` that can jump."""
    empty = ALL & ~(own | enemy)
    upwards, downwards = heading(own, kings, side)
    up_jumpers = down_right(enemy & down_right(empty)) | down_left(enemy & down_left(empty))
    down_jumpers = up_left(enemy & up_left(empty)) | up_right(enemy & up_right(empty))
    return upwards & up_jumpers | downwards & down_jumpers


@kernel
def directions(own, enemy, kings, side, square, jumping):
    """Return in which directions a piece can jump, or step: bit d for direction d."""
    possible = 0
    empty = ALL & ~(own | enemy)
    king = kings >> square & 1
    first, last = (0, 4) if king else (2 * side, 2 * side + 2)
    for d in range(first, last):
        near = STEP[square, d]
        if jumping:
            if near & enemy and JUMP[square, d] & empty:
                possible |= 1 << d
        elif near & empty:
            possible |= 1 << d
    return possible


@kernel
def moved(own, enemy, kings, side, action):
    """Return own, enemy, kings after a legal action, and from where the jump goes on, or NONE."""
    square = action >> 2
    d = action & 3
    origin = np.int64(1) << square
    target = STEP[square, d]
    king = kings & origin
    captured = target & enemy
    if captured:
        target = JUMP[square, d]
    own = own ^ origin | target
    enemy &= ~captured
    kings &= ~(origin | captured)
    jumper = np.int64(NONE)
    if king:
        kings |= target
    elif target & LAST_ROW[side]:
        return own, enemy, kings | target, jumper
    if captured and jumpers(own, enemy, kings, side) & target:
        jumper = lowest(target)
    return own, enemy, kings, jumper


@kernel
def bits_of(word):
    """Return an int32 of a state as a bitboard."""
    return np.int64(np.uint32(word))


@kernel
def word_of(bits):
    """Return a bitboard as an int32 of a state."""
    return np.int32(np.uint32(bits))


@kernel
def jumps_on_from(s):
    """Return the bit of the square from which the jump must go on, or NONE."""
    return (s[3] >> 1 & 63) - 1


@kernel
def has_move(own, enemy, kings, side):
    """Return whether a player has a legal action."""
    return (steppers(own, enemy, kings, side) | jumpers(own, enemy, kings, side)) != 0


@kernel
def winner(own, enemy, kings, side, misere):
    """Return who has won, from 1 on, where `side` is to move; RUNNING if it has a legal action."""
    if has_move(own, enemy, kings, side):
        return RUNNING
    return 1 + side if misere else 2 - side


@kernel
def is_drawn(s, side, limits):
    """Return whether the ply that `side` has just made draws the game; note its position."""
    repetition, quiet_plies, max_plies = limits
    if quiet_plies and s[4] >= quiet_plies:
        return True
    if max_plies and s[5] >= max_plies:
        return True
    if repetition and s.shape[0] > CORE:
        return repeated(s, CORE, 1 + s[4], side, repetition)
    return False


# those of the zoo's agents (notebook 41): give-away with traces as in Othello, checkers without
SETTINGS = {
    "tuples": {"random_walk": 50, "length": 6},
    "alpha": 0.2,
    "lambda_": 0.5,
    "tc": "exp",
    "horizon_cut": 0.01,
    "choose_start": True,
    "learn_from_random": False,
    "episodes": 30_000,
}
SETTINGS_CHECKERS = {
    "tuples": {"random_walk": 60, "length": 6},
    "epsilon": [0.2, 0.05],
    "tc": "exp",
    "max_plies": 300,
    "episodes": 60_000,
}


def giveaway(repetition: int = 3, quiet_plies: int = 200, max_plies: int = 400) -> Game:
    """Make give-away checkers: a player who is to move and has no legal action wins.

    The game is drawn when a position occurs for the `repetition`-th time, after `quiet_plies`
    without a capture or a man's move, and after `max_plies`; 0: no such rule.
    Source: [mandziuk2004] Sec. 1. Deviations: D11.
    """
    return _make("giveaway", True, repetition, quiet_plies, max_plies)


def checkers(repetition: int = 3, quiet_plies: int = 200, max_plies: int = 400) -> Game:
    """Make checkers (English draughts): a player who is to move and has no legal action loses."""
    return _make("checkers", False, repetition, quiet_plies, max_plies)


def _make(name, misere, repetition, quiet_plies, max_plies):
    """Make either game, which differ only in who wins when a player has no legal action."""
    history = rules.length_of_history(repetition, quiet_plies, max_plies)
    limits = (repetition, quiet_plies, max_plies)
    neighbours = [sorted(q for q in near if q != NONE) for near in BESIDE]
    return Game(
        name,
        title="Give-away checkers" if misere else "Checkers",
        aim=f"{GIVEAWAY_AIM if misere else CHECKERS_AIM} {MOVES}",
        **_rules(misere, limits),
        **situation(3, 7),
        **_texts(misere, limits, history),
        **named(render, touch),
        drawing=DRAWING,
        players=2,
        actions=DIRECTIONS * SQUARES,
        max_legal=MAX_LEGAL,
        size=CORE + history,
        core=CORE,
        num_codes=[5] * SQUARES + [2],
        layout=LAYOUT,
        neighbours=neighbours + [list(range(SQUARES))],
        settings=SETTINGS if misere else SETTINGS_CHECKERS,
        version=1,
    )


def _rules(misere, limits) -> dict:
    """Return the rules by name."""

    def start(s, rng):
        s[0] = word_of(WHITE_START)
        s[1] = BLACK_START
        for k in range(2, CORE):
            s[k] = 0
        if s.shape[0] > CORE:
            s[CORE] = s[0]
            s[CORE + 1] = s[1]

    def legal(s, moves):
        side = s[3] & 1
        own = bits_of(s[side])
        enemy = bits_of(s[1 - side])
        kings = bits_of(s[2])
        jumper = jumps_on_from(s)
        if jumper != NONE:
            pieces = np.int64(1) << jumper
        else:
            pieces = jumpers(own, enemy, kings, side)
        must_jump = pieces != 0
        if not must_jump:
            pieces = steppers(own, enemy, kings, side)
        n = 0
        while pieces:
            square = lowest(pieces)
            pieces &= pieces - 1
            possible = directions(own, enemy, kings, side, square, must_jump)
            for d in range(DIRECTIONS):
                if possible >> d & 1:
                    moves[n] = DIRECTIONS * square + d
                    n += 1
        return n

    def play(s, action):
        side = np.int64(s[3] & 1)
        enemy_before = bits_of(s[1 - side])
        kings_before = bits_of(s[2])
        own, enemy, kings, jumper = moved(
            bits_of(s[side]), enemy_before, kings_before, side, action
        )
        s[side] = word_of(own)
        s[1 - side] = word_of(enemy)
        s[2] = word_of(kings)
        of_king = kings_before >> (action >> 2) & 1
        s[4] = s[4] + 1 if of_king and enemy == enemy_before else 0
        if jumper != NONE:  # the ply is not over
            s[3] = side | jumper + 1 << 1
            return
        s[5] += 1
        status = winner(enemy, own, kings, 1 - side, misere)
        if status == RUNNING and is_drawn(s, side, limits):
            status = DRAW
        s[3] = 1 - side | status << 7

    def irreversible(s):
        return s[4] == 0

    # What networks and searches see

    def board(s, cells):
        for q in range(SQUARES):
            white = s[0] >> q & 1
            black = s[1] >> q & 1
            king = s[2] >> q & 1
            cells[q] = white * (1 + king) + black * (3 + king)
        cells[SQUARES] = np.int32(jumps_on_from(s) != NONE)

    def key(s, words):
        words[0] = np.uint64(np.uint32(s[0])) | np.uint64(np.uint32(s[1])) << np.uint64(32)
        words[1] = np.uint64(np.uint32(s[2])) | np.uint64(s[3]) << np.uint64(32)

    return named(start, legal, play, irreversible, board, key)


def _texts(misere, limits, history) -> dict:
    """Return what reads, draws and checks states, by name."""
    repetition, quiet_plies, max_plies = limits

    def parse(text):
        lines = text.strip().split("\n")
        clocks = CLOCKS.fullmatch(lines[-1])
        position = lines[-2] if clocks and len(lines) > 1 else lines[-1]
        fen = FEN.fullmatch(position.strip().rstrip("."))
        if not fen:
            raise ValueError(f"a position is a line such as W:W21,K1:BK32, not {text!r}")
        codes = _codes_of_fen(fen, text)
        quiet, plies, jumps_from = map(int, clocks.groups("0")[:3]) if clocks else (0, 0, 0)
        s = from_codes(codes, "WB".index(fen[1]), jumps_from, quiet, plies)
        if clocks and clocks[4] and s[3] >> 7 == RUNNING:
            s[3] |= DRAW << 7
        return s

    def from_codes(codes, player, jumps_from=0, quiet=0, plies=0):
        plies = whole("plies", plies, 0, MOST_PLIES)
        quiet = whole("quiet", quiet, 0, plies)
        jumps_from = whole("jumps_from", jumps_from, 0, SQUARES)
        white = bits_where(np.isin(codes, (1, 2)))
        black = bits_where(np.isin(codes, (3, 4)))
        kings = bits_where(np.isin(codes, (2, 4)))
        own, enemy = (black, white) if player else (white, black)
        status = winner(own, enemy, kings, player, misere)
        s = np.zeros(CORE + history, np.int32)
        s[:3] = np.array([white, black, kings], np.uint32).view(np.int32)
        s[3] = player | jumps_from << 1 | status << 7
        s[4] = quiet
        s[5] = plies
        # The history is this position alone. What was before is not known: its bitboards stay 0, as
        # none of a real position is.
        if history > quiet + 1:
            s[CORE + quiet] = s[player]
            s[CORE + quiet + 1] = s[1 - player]
        return s

    def fault(s):
        white, black, kings = (int(word) & ALL for word in s[:3])
        turn, quiet, plies = s[3:CORE].tolist()
        side = turn & 1
        jumps_from = turn >> 1 & 63
        status = turn >> 7
        own, enemy = (black, white) if side else (white, black)
        if white & black or kings & ~(white | black):
            return "a square has two pieces, or a king none"
        on_last_row = white & int(LAST_ROW[0]) | black & int(LAST_ROW[1])
        if on_last_row & ~kings:
            return "a man on its last row would be a king (K)"
        if max(white.bit_count(), black.bit_count()) > MEN:
            return f"a player has at most {MEN} pieces"
        if not 0 <= quiet <= min(plies, quiet_plies or plies) or plies > (max_plies or MOST_PLIES):
            return f"there cannot be {plies} plies, {quiet} of them quiet"
        if jumps_from:
            can_jump = jumpers(own, enemy, kings, side) >> jumps_from - 1 & 1
            if quiet or status or not can_jump:
                return f"no piece of the player to move can jump on from {jumps_from}"
        if history and not jumps_from and status == RUNNING:
            newest = s[CORE + quiet : CORE + quiet + 2]
            if newest.tolist() != [s[side], s[1 - side]]:
                return f"its history does not end with the position after {quiet} quiet plies"
        drawn = not jumps_from and (0 < quiet == quiet_plies or 0 < plies == max_plies)
        return rules.fault_of_end(
            status, winner(own, enemy, kings, side, misere), drawn, repetition
        )

    return named(parse, from_codes, fault)


# Texts of both games


def marks_of(s) -> list[str]:
    """Return the pieces by square: w, W = White's man, king; b, B = Black's; "." = none."""
    white, black, kings = (int(word) & ALL for word in s[:3])
    marks = []
    for q in range(SQUARES):
        if white >> q & 1:
            mark = "w"
        elif black >> q & 1:
            mark = "b"
        else:
            mark = "."
        is_king = kings >> q & 1
        marks.append(mark.upper() if is_king else mark)
    return marks


def render(s) -> str:
    """Return the board, its pieces in the notation of draughts (FEN), and the clocks."""
    marks = marks_of(s)
    squares = [*marks, "."]  # the last one, index NONE, is a light one
    rows = rules.lines_of([squares[k] for k in LAYOUT.flat], 8)
    fen = f"{'WB'[s[3] & 1]}:W{_listed(marks, 'w')}:B{_listed(marks, 'b')}"
    clocks = f"{s[4]} plies quiet, {s[5]} played"
    jumper = jumps_on_from(s)
    if jumper != NONE:
        clocks += f", jumps on from {jumper + 1}"
    else:
        clocks += ENDS[s[3] >> 7]
    return "\n".join([*rows, fen, clocks])


def _listed(marks, man) -> str:
    """Return the squares of one player's pieces, such as "K1,21"."""
    words = []
    for q, mark in enumerate(marks):
        if mark == man:
            words.append(f"{q + 1}")
        elif mark == man.upper():
            words.append(f"K{q + 1}")
    return ",".join(words)


def _codes_of_fen(fen, text) -> np.ndarray:
    """Return the codes of the squares, int [SQUARES], from the match of FEN in a text."""
    codes = np.zeros(SQUARES, int)
    for squares, man in ((fen[2], 1), (fen[3], 3)):
        for word in filter(None, squares.split(",")):
            piece = PIECES.fullmatch(word.strip())
            first, last = (int(piece[2]), int(piece[3] or piece[2])) if piece else (0, 0)
            if not 1 <= first <= last <= SQUARES:
                raise ValueError(
                    f"{word!r} is no square from 1 to {SQUARES} (K: a king) in {text!r}"
                )
            if codes[first - 1 : last].any():
                raise ValueError(f"a square has two pieces in {text!r}")
            is_king = bool(piece[1])
            codes[first - 1 : last] = man + is_king
    return codes


# The drawing


@kernel
def touch(codes, action, places):
    """Write the squares from and to which an action goes; with an x before the second in a jump."""
    square = action // DIRECTIONS
    direction = action % DIRECTIONS
    near = NEAR[square, direction]
    places[0] = square
    if near != NONE and codes[near] == 0:
        places[1] = near
    else:
        places[1] = ~FAR[square, direction]
    return 2


def _piece(colour, line, is_king) -> Look:
    """Return a man, or a king with a ring and a letter."""
    parts = draw.circle(0, 0, 20, colour, INK, stroke_width=2)
    if is_king:
        parts += draw.circle(0, 0, 12, "none", line, stroke_width=2)
        parts += draw.text_at(0, 5, "K", 14, line, font_weight="bold")
    return Look(parts)


def _drawing() -> Drawing:
    """Return the drawing of the board: its dark squares, with their numbers."""
    places = []
    numbers = []
    for square, (row, column) in enumerate(PLACES.tolist()):
        x = PAD + CELL * (column + 0.5)
        y = PAD + CELL * (row + 0.5)
        shape = draw.square(fill=DARK_SQUARE)
        places.append(Place((x, y), shape, square, str(square + 1), value_at=(0, 6, 14)))
        numbers.append(draw.text_at(x + 9 - CELL / 2, y + 12 - CELL / 2, square + 1, 9, SOFT))
    side = 8 * CELL
    return Drawing(
        places=places,
        looks={
            1: _piece(PAPER, INK, is_king=False),
            2: _piece(PAPER, INK, is_king=True),
            3: _piece(INK, PAPER, is_king=False),
            4: _piece(INK, PAPER, is_king=True),
        },
        above=[*numbers, draw.rect(PAD, PAD, side, side, "none")],
        width=side + 2 * PAD,
        height=side + 2 * PAD,
        sides=("white", "black"),
        typed_sides=("w", "b"),
    )


DRAWING = _drawing()
