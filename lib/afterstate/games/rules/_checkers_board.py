"""The board of checkers as 32 bits: steps, jumps, and what one action does to a position.

::

    number of a square = bit + 1, Black above, White below; the rows are 0 to 7 from above

         .  1  .  2  .  3  .  4        a step up from an even row is 4 bits to the left
         5  .  6  .  7  .  8  .        or 3 to the right, from an odd row 5 or 4; down likewise
         .  9  . 10  . 11  . 12
        13  . 14  . 15  . 16  .        direction  0 = up left      1 = up right
         . 17  . 18  . 19  . 20                   2 = down left    3 = down right
        21  . 22  . 23  . 24  .
         . 25  . 26  . 27  . 28        action = 4 * bit + direction, of a step as of a jump
        29  . 30  . 31  . 32  .

Bitboards are int64 between 0 and 2**32 - 1 here. Turned by 180 degrees bit b becomes 31 - b and
direction d becomes 3 - d.
"""

import numpy as np

from ...kernel.compile import kernel

SQUARES, DIRECTIONS = 32, 4
ALL = 0xFFFFFFFF
EVEN_ROWS, ODD_ROWS = 0x0F0F0F0F, 0xF0F0F0F0
EVEN_INNER, ODD_INNER = (
    0x07070707,
    0xE0E0E0E0,
)  # without the squares at the right, at the left border
NONE = -1


def _beyond(square, direction):
    """Return the square beside another one, or NONE at the border; plain geometry."""
    row, place = divmod(square, 4)
    column = 2 * place + 1 - row % 2
    row, column = row + (1 if direction > 1 else -1), column + (1 if direction % 2 else -1)
    return 4 * row + column // 2 if 0 <= row < 8 and 0 <= column < 8 else NONE


BESIDE = [[_beyond(square, d) for d in range(DIRECTIONS)] for square in range(SQUARES)]
STEP, JUMP = np.zeros((2, SQUARES, DIRECTIONS), np.int64)  # the target's bit, 0 = off the board
for _square in range(SQUARES):
    for _d in range(DIRECTIONS):
        _near = BESIDE[_square][_d]
        if _near != NONE:
            STEP[_square, _d] = 1 << _near
            if BESIDE[_near][_d] != NONE:
                JUMP[_square, _d] = 1 << BESIDE[_near][_d]
LAST_ROW = np.array([0x0000000F, 0xF0000000], np.int64)  # where White's, Black's men are crowned


@kernel
def count(bits):
    """Return the number of ones (the form that compilers turn into one instruction)."""
    n = np.uint64(bits)
    n -= n >> np.uint64(1) & np.uint64(0x5555555555555555)
    n = (n & np.uint64(0x3333333333333333)) + (n >> np.uint64(2) & np.uint64(0x3333333333333333))
    n = n + (n >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(n * np.uint64(0x0101010101010101) >> np.uint64(56))


@kernel
def lowest(bits):
    """Return the number of the lowest bit that is set."""
    return count(~bits & (bits - 1))


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
def steppers(own, enemy, kings, side):
    """Return the pieces of `own` that can step; `side` 0 = White moves up, 1 = Black moves down."""
    empty = ALL & ~(own | enemy)
    upwards, downwards = own & kings, own & kings
    if side == 0:
        upwards = own
    else:
        downwards = own
    return upwards & down(empty) | downwards & up(empty)


@kernel
def jumpers(own, enemy, kings, side):
    """Return the pieces of `own` that can jump."""
    empty = ALL & ~(own | enemy)
    upwards, downwards = own & kings, own & kings
    if side == 0:
        upwards = own
    else:
        downwards = own
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
    """Return own, enemy, kings after a legal action, and from where the jump goes on, or NONE.

    A man that reaches the last row is crowned, and its turn ends.
    """
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
