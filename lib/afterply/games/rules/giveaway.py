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
from .. import boards as draw
from .. import rules
from ..boards import CELL, INK, MARKED, PAD, PAPER, SOFT
from ..game import Game
from . import bits_where, lowest, named, repeated, situation

RUNNING, DRAW = 0, 3
CORE = 6  # numbers of a state without its history
MEN, MOST_PLIES, DARK_SQUARE = 12, 1 << 30, "#d9d4cb"
MAX_LEGAL = 4 * MEN
WHITE_START, BLACK_START = 0xFFF00000, 0x00000FFF
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
LAYOUT = np.array([[4 * r + c // 2 if (r + c) % 2 else NONE for c in range(8)] for r in range(8)])
PLACES, _EDGED = np.argwhere(LAYOUT != NONE), np.pad(LAYOUT, 1, constant_values=NONE)
# [square][direction] the bit of the square beside it, NONE beyond the border
BESIDE = [_EDGED[r : r + 3 : 2, c : c + 3 : 2].ravel().tolist() for r, c in PLACES]
# [square, direction] the bit of the square to which a step, a jump leads; 0 = off the board
STEP = np.array([[1 << q if q >= 0 else 0 for q in near] for near in BESIDE], np.int64)
JUMP = np.array(
    [[STEP[q, d] if q >= 0 else 0 for d, q in enumerate(near)] for near in BESIDE], np.int64
)
LAST_ROW = np.array([0x0000000F, 0xF0000000], np.int64)  # where White's, Black's men are crowned


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
    found = upwards & (down_right(enemy & down_right(empty)) | down_left(enemy & down_left(empty)))
    return found | downwards & (up_left(enemy & up_left(empty)) | up_right(enemy & up_right(empty)))


@kernel
def directions(own, enemy, kings, side, square, jumping):
    """Return in which directions a piece can jump, or step: bit d for direction d."""
    found, empty = 0, ALL & ~(own | enemy)
    king = kings >> square & 1
    first, last = (0, 4) if king else (2 * side, 2 * side + 2)
    for d in range(first, last):
        near = STEP[square, d]
        if jumping:
            if near & enemy and JUMP[square, d] & empty:
                found |= 1 << d
        elif near & empty:
            found |= 1 << d
    return found


@kernel
def moved(own, enemy, kings, side, action):
    """Return own, enemy, kings after a legal action, and from where the jump goes on, or NONE."""
    square, d = action >> 2, action & 3
    origin, target = np.int64(1) << square, STEP[square, d]
    king, captured = kings & origin, target & enemy
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
def has_move(own, enemy, kings, side):
    """Return whether a player has a legal action."""
    return (steppers(own, enemy, kings, side) | jumpers(own, enemy, kings, side)) != 0


# those of the zoo's agents (notebook 41): give-away with traces as in Othello, checkers without
SETTINGS = {"tuples": {"random_walk": 50, "length": 6}, "alpha": 0.2, "lambda_": 0.5, "tc": "exp"}
SETTINGS |= {"horizon_cut": 0.01, "choose_start": True, "learn_from_random": False}
SETTINGS |= {"episodes": 30_000}
SETTINGS_CHECKERS = {"tuples": {"random_walk": 60, "length": 6}, "epsilon": [0.2, 0.05]}
SETTINGS_CHECKERS |= {"tc": "exp", "max_plies": 300, "episodes": 60_000}


def _make(name, misere, repetition, quiet_plies, max_plies):
    """Make either game, which differ only in who wins when a player has no legal action."""
    history = rules.length_of_history(repetition, quiet_plies, max_plies)

    def start(s, rng):
        s[0], s[1] = np.int32(np.uint32(WHITE_START)), BLACK_START
        s[2] = s[3] = s[4] = s[5] = 0
        if s.shape[0] > CORE:
            s[CORE], s[CORE + 1] = s[0], s[1]

    def legal(s, moves):
        side, jumper, n = s[3] & 1, (s[3] >> 1 & 63) - 1, 0
        own, enemy, kings = bits_of(s[side]), bits_of(s[1 - side]), bits_of(s[2])
        pieces = np.int64(1) << jumper if jumper >= 0 else jumpers(own, enemy, kings, side)
        jumping = pieces != 0
        if not jumping:
            pieces = steppers(own, enemy, kings, side)
        while pieces:
            square = lowest(pieces)
            pieces &= pieces - 1
            found = directions(own, enemy, kings, side, square, jumping)
            for d in range(4):
                if found >> d & 1:
                    moves[n] = 4 * square + d
                    n += 1
        return n

    def play(s, action):
        side = np.int64(s[3] & 1)
        own, enemy, kings = bits_of(s[side]), bits_of(s[1 - side]), bits_of(s[2])
        of_king = kings >> (action >> 2) & 1
        own, left, kings, jumper = moved(own, enemy, kings, side, action)
        s[side], s[1 - side] = np.int32(np.uint32(own)), np.int32(np.uint32(left))
        s[2] = np.int32(np.uint32(kings))
        s[4] = s[4] + 1 if of_king and left == enemy else 0
        if jumper >= 0:
            s[3] = side | jumper + 1 << 1
            return
        s[5] += 1
        status = RUNNING
        if not has_move(left, own, kings, 1 - side):
            status = 2 - side if misere else 1 + side
        elif quiet_plies and s[4] >= quiet_plies or max_plies and s[5] >= max_plies:
            status = DRAW
        elif repetition and s.shape[0] > CORE and repeated(s, CORE, 1 + s[4], side, repetition):
            status = DRAW
        s[3] = 1 - side | status << 7

    def board(s, cells):
        for q in range(SQUARES):
            white, black, king = s[0] >> q & 1, s[1] >> q & 1, s[2] >> q & 1
            cells[q] = white * (1 + king) + black * (3 + king)
        cells[SQUARES] = np.int32(s[3] >> 1 & 63 != 0)

    def key(s, words):
        words[0] = np.uint64(np.uint32(s[0])) | np.uint64(np.uint32(s[1])) << np.uint64(32)
        words[1] = np.uint64(np.uint32(s[2])) | np.uint64(s[3]) << np.uint64(32)

    def marks_of(s):
        """Return the pieces by square: w, W = White's man, king; b, B = Black's; "." = none."""
        white, black, kings = (int(word) & ALL for word in s[:3])
        marks = ["w" if white >> q & 1 else "b" if black >> q & 1 else "." for q in range(SQUARES)]
        return [mark.upper() if kings >> q & 1 else mark for q, mark in enumerate(marks)]

    def render(s):
        marks, listed = marks_of(s), {"w": [], "b": []}
        for q, mark in enumerate(marks):
            listed.get(mark.lower(), []).append("K" * mark.isupper() + str(q + 1))
        squares = [*marks, "."]  # the last one, index NONE, is a light one
        rows = rules.lines_of([squares[k] for k in LAYOUT.flat], 8)
        fen = f"{'WB'[s[3] & 1]}:W{','.join(listed['w'])}:B{','.join(listed['b'])}"
        jumper, status = s[3] >> 1 & 63, s[3] >> 7
        clocks = f"{s[4]} plies quiet, {s[5]} played"
        clocks += f", jumps on from {jumper}" if jumper else ENDS[status]
        return "\n".join([*rows, fen, clocks])

    def winner_of(own, enemy, kings, side):
        """Return who has won, from 1 on, where a player is to move; 0 if the game goes on."""
        return 0 if has_move(own, enemy, kings, side) else 1 + side if misere else 2 - side

    def parse(text):
        lines, codes = text.strip().split("\n"), np.zeros(SQUARES, int)
        clocks = CLOCKS.fullmatch(lines[-1])
        found = FEN.fullmatch(lines[-2 if clocks and len(lines) > 1 else -1].strip().rstrip("."))
        if not found:
            raise ValueError(f"a position is a line such as W:W21,K1:BK32, not {text!r}")
        listed = [
            (word, man) for k, man in ((2, 1), (3, 3)) for word in found[k].split(",") if word
        ]
        for word, man in listed:
            piece = PIECES.fullmatch(word.strip())
            first, last = (int(piece[2]), int(piece[3] or piece[2])) if piece else (0, 0)
            if not 1 <= first <= last <= SQUARES:
                raise ValueError(
                    f"{word!r} is no square from 1 to {SQUARES} (K: a king) in {text!r}"
                )
            if codes[first - 1 : last].any():
                raise ValueError(f"a square has two pieces in {text!r}")
            codes[first - 1 : last] = man + bool(piece[1])
        quiet, plies, jumper = map(int, clocks.groups("0")[:3]) if clocks else (0, 0, 0)
        s = from_codes(codes, "WB".index(found[1]), jumper, quiet, plies)
        if clocks and clocks[4] and s[3] >> 7 == RUNNING:
            s[3] |= DRAW << 7
        return s

    def from_codes(codes, player, jumps_from=0, quiet=0, plies=0):
        plies = whole("plies", plies, 0, MOST_PLIES)
        quiet, jumper = whole("quiet", quiet, 0, plies), whole("jumps_from", jumps_from, 0, SQUARES)
        white, black, kings = (bits_where(np.isin(codes, of)) for of in ((1, 2), (3, 4), (2, 4)))
        own, enemy = (black, white) if player else (white, black)
        status = winner_of(own, enemy, kings, player)
        s = np.zeros(CORE + history, np.int32)
        s[:3] = np.array([white, black, kings], np.uint32).view(np.int32)
        s[3:CORE] = player | jumper << 1 | status << 7, quiet, plies
        # the position itself; what was before is not known, and no bitboard is 0
        if history > quiet + 1:
            s[CORE + quiet], s[CORE + quiet + 1] = s[player], s[1 - player]
        return s

    def touch(s, action):
        bit, d = divmod(action, DIRECTIONS)
        near = BESIDE[bit][d]
        return [bit, near if marks_of(s)[near] == "." else BESIDE[near][d]]

    def action_name(s, action):
        origin, target = touch(s, action)
        return f"{origin + 1}{'-' if target in BESIDE[origin] else 'x'}{target + 1}"

    def svg(s, values, last):
        parts, side = [], 8 * CELL
        for square, (mark, (row, column)) in enumerate(zip(marks_of(s), PLACES)):
            x, y = PAD + CELL * column, PAD + CELL * row
            value, middle, height = values.get(square), x + CELL / 2, y + CELL / 2
            is_last = last is not None and square == last // DIRECTIONS
            fill = MARKED if is_last else draw.value_colour(value, DARK_SQUARE)
            drawn = draw.rect(x, y, CELL, CELL, fill)
            drawn += draw.text_at(x + 9, y + 12, square + 1, 9, SOFT)
            if mark == ".":
                drawn += draw.label(middle, height + 6, value, 14, fill)
            else:
                colour, line = (PAPER, INK) if mark in "wW" else (INK, PAPER)
                drawn += draw.circle(middle, height, 20, colour, INK, stroke_width=2)
                if mark.isupper():
                    drawn += draw.circle(middle, height, 12, "none", line, stroke_width=2)
                    drawn += draw.text_at(middle, height + 5, "K", 14, line, font_weight="bold")
            parts.append(draw.place(square, drawn))
        parts.append(draw.rect(PAD, PAD, side, side, "none"))
        return draw.document(parts, side + 2 * PAD, side + 2 * PAD, values)

    def fault(s):
        white, black, kings, rest, quiet, plies = s[:CORE].tolist()
        white, black, kings = white & ALL, black & ALL, kings & ALL
        side, jumper, status = rest & 1, rest >> 1 & 63, rest >> 7
        own, enemy = (black, white) if side else (white, black)
        if white & black or kings & ~(white | black):
            return "a square has two pieces, or a king none"
        if (white & int(LAST_ROW[0]) | black & int(LAST_ROW[1])) & ~kings:
            return "a man on its last row would be a king (K)"
        if max(white.bit_count(), black.bit_count()) > MEN:
            return f"a player has at most {MEN} pieces"
        if not 0 <= quiet <= min(plies, quiet_plies or plies) or plies > (max_plies or MOST_PLIES):
            return f"there can not be {plies} plies, {quiet} of them quiet"
        if jumper and (quiet or status or not jumpers(own, enemy, kings, side) >> jumper - 1 & 1):
            return f"no piece of the player to move can jump on from {jumper}"
        newest, now = s[CORE + quiet : CORE + quiet + 2], [s[side], s[1 - side]]
        if history and not jumper and status == RUNNING and newest.tolist() != now:
            return f"its history does not end with the position after {quiet} quiet plies"
        winner = winner_of(own, enemy, kings, side)
        drawn = not jumper and (0 < quiet == quiet_plies or 0 < plies == max_plies)
        return rules.fault_of_end(status, winner, drawn, repetition)

    beside = [sorted(q for q in near if q >= 0) for near in BESIDE]
    return Game(
        name,
        **named(start, legal, play, board, key),
        **situation(3, 7),
        **named(render, parse, touch, action_name, svg, fault, from_codes),
        irreversible=lambda s: s[4] == 0,
        players=2,
        actions=4 * SQUARES,
        max_legal=MAX_LEGAL,
        size=CORE + history,
        core=CORE,
        num_codes=[5] * SQUARES + [2],
        layout=LAYOUT,
        neighbours=beside + [list(range(SQUARES))],
        settings=SETTINGS if misere else SETTINGS_CHECKERS,
        version=1,
    )


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
