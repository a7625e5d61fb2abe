"""The rules of the games that come with the package, one file each, and what several share.

That is rewards, grids of cells, bitboards, draws by repetition. `catalogue` finds the games.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from ...kernel.random import random_int

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = "xo+*"  # of players in texts
SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))  # steps (down, right) to the cells that share a side
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
HEXAGON = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
MAX_HISTORY = 10_000
EACH_BYTE = np.uint64(0x0101010101010101)
# [byte, n] the place of the byte's n-th one
PLACES = np.uint8([([k for k in range(8) if b >> k & 1] + [0] * 8)[:8] for b in range(256)])


def named(*functions) -> dict:
    """Return functions by their names, as ``Game`` takes them."""
    return {function.__name__: function for function in functions}


def empty(s, rng):
    """Write zeros: the start of games in which nothing stands anywhere."""
    s[:] = 0


def irreversible(s):
    """Say that no earlier state can return: the rule of games in which every move is for good."""
    return True


@kernel
def pay(r, status):
    """Write the rewards; `status` is 0, the number of the winner from 1 on, or of a draw."""
    players = r.shape[0]
    if players == 2:
        r[0] = np.float64(status == 1) - np.float64(status == 2)
        r[1] = 0.0 - r[0]
        return
    for p in range(players):
        r[p] = np.float64(status == p + 1) + np.float64(status > players) / players


@kernel
def sum_of(s, first, n):
    """Return the sum of `n` numbers of a state."""
    total = 0
    for i in range(first, first + n):
        total += s[i]
    return total


def line_steps(length, number, k) -> tuple:
    """Return the steps of lines of `k` on a bitboard of `number` rows with a gap behind each."""
    across = min(length, number)
    steps = ((1, length), (length + 1, number), (length, across), (length + 2, across))
    return tuple(np.uint64(step) for step, room in steps if k <= room)


@kernel
def has_line(stones, steps, k):
    """Return whether a bitboard holds `k` in a row, in the direction of one of the steps."""
    for step in steps:
        line, length = np.uint64(stones), 1  # bits where a line of this length begins
        while length < k:
            more = min(length, k - length)
            line &= line >> step * np.uint64(more)
            length += more
        if line:
            return True
    return False


@kernel
def pay_best(r, players):
    """Turn points into rewards: all for the best player, in equal parts if there are several."""
    best, number = 0.0, 0
    for p in range(players):
        best = max(best, r[p])
    for p in range(players):
        number += r[p] == best
    for p in range(players):
        r[p] = np.float64(r[p] == best) / number
        r[p] = 2.0 * r[p] - 1.0 if players == 2 else r[p]


def situation(word, shift, players=2) -> dict:
    """Return player, over and score by ``s[word]``: the mover, from bit `shift` on the status.

    The status is 0 while the game goes on, then the number of the winner, from 1 on, or of a draw.
    """
    mover = 1 if players == 2 else 3
    return {
        "player": lambda s: s[word] & mover,
        "over": lambda s: s[word] >> shift != 0,
        "score": lambda s, r: pay(r, s[word] >> shift),
    }


def fault_in_turns(mover, counts, status, lags=(0,)) -> str | None:
    """Say what is wrong where players put stones in turn, `counts` of them by player so far."""
    # `lags`: how many stones more others would have, had the first player not given some to them
    players = len(counts)
    more = {count - counts[0] + (0 < mover <= p) for p, count in enumerate(counts)}
    if mover not in range(players) or not more <= {*lags}:
        if players == 2:
            return "x moves first, so there are as many x as o, or one more if o is to move"
        return f"players put stones in turn, not {counts} before the move of player {mover}"
    next_wins = not 0 < status <= players or status % players == mover
    return None if next_wins else "who has won is not to move"


def fault_of_end(status, winner, drawn, repetition) -> str | None:
    """Say whether a status is not what follows; repetitions, which it may not know, can be."""
    ends = [winner] if winner else [3] if drawn else [0, 3] if repetition else [0]
    return None if status in ends else f"its pieces and plies do not give the end {status}"


# ------------------------------------------------------------------------------ grids of cells
def neighbours(rows, columns, steps=SIDES) -> list:
    """Return for each cell, row by row, the cells that are one of the steps away."""

    def beside(row, column):
        cells = [(row + down, column + right) for down, right in steps]
        return [columns * r + c for r, c in cells if 0 <= r < rows and 0 <= c < columns]

    return [beside(row, column) for row in range(rows) for column in range(columns)]


def symmetries(rows, columns) -> list:
    """Return rotations and reflections of the grid (four that keep its shape if not square)."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    turns = (0, 1, 2, 3) if rows == columns else (0, 2)
    boards = [np.rot90(b, t).ravel().tolist() for b in (grid, grid[:, ::-1]) for t in turns]
    return [b for k, b in enumerate(boards) if b not in boards[:k]]


def lines_of(marks, columns) -> list:
    """Return the lines of a board's text, from its marks row by row."""
    return [" ".join(marks[k : k + columns]) for k in range(0, len(marks), columns)]


def read_marks(text, cells, endings=("",), stones="xo") -> tuple:
    """Return the marks of a position, row by row, and which of the endings follows them."""
    words = text.split()
    marks, ending = words[:cells], " ".join(words[cells:])
    if len(marks) != cells or not set(marks) <= {*stones, "."} or ending not in endings:
        then = f", then {' or '.join(map(repr, endings))}" if any(endings) else ""
        named = ", ".join(stones)
        raise ValueError(f"a position is {cells} marks {named} or . and blanks{then}, not {text!r}")
    return marks, ending


# ----------------------------------------------------------------------------------- bitboards
def bits_where(places) -> int:
    """Return the number whose bits are set where `places`, bool [n], holds."""
    return sum(1 << place for place in np.flatnonzero(places).tolist())


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
def running_counts(bits):
    """Return in each byte the number of ones in it and in all lower bytes."""
    n = np.uint64(bits)
    n -= n >> np.uint64(1) & np.uint64(0x5555555555555555)
    n = (n & np.uint64(0x3333333333333333)) + (n >> np.uint64(2) & np.uint64(0x3333333333333333))
    n = n + (n >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return n * EACH_BYTE


@kernel
def count(bits):
    """Return the number of ones, at most 64 (the form that compilers turn into one instruction)."""
    return np.int64(running_counts(bits) >> np.uint64(56))


@kernel
def draw_one(bits, counts, n, rng):
    """Return the place of a random one of `n`, and the :func:`running_counts` without it."""
    n = np.uint64(random_int(rng, n))
    lower = (n * EACH_BYTE | EACH_BYTE << np.uint64(7)) - counts & EACH_BYTE << np.uint64(7)
    shift = np.uint64(count(lower)) << np.uint64(3)  # past the bytes whose counts are at most n
    before = counts << np.uint64(8) >> shift & np.uint64(255)
    place = np.uint64(PLACES[bits >> shift & np.uint64(255), n - before])
    return shift + place, counts - (EACH_BYTE << shift)


@kernel
def lowest(bits):
    """Return the number of the lowest bit that is set, in a signed word that is not 0."""
    return count(~bits & (bits - 1))


@kernel
def repeated(s, core, k, who, times):
    """Append the position to the history; return whether it has occurred `times` times.

    ``s[core + j]`` are bitboards since the last ply for good: the pieces of the player to move
    then, of the other one, and from there on of who moved. Two neighbours make a position. `k` is
    the place of the newest entry, ``s[who]``; 1 says that no earlier position can return.
    """
    if k == 1:
        s[core], s[core + 1] = s[1 - who], s[who]
        return False
    s[core + k], j = s[who], k - 2
    while j >= 1:
        if s[core + j] == s[core + k] and s[core + j - 1] == s[core + k - 1]:
            times -= 1
        j -= 2
    return times <= 1


def length_of_history(repetition, quiet_plies, max_plies) -> int:
    """Check the limits after which a game is drawn; return how long its history can become."""
    limits = {"repetition": repetition, "quiet_plies": quiet_plies, "max_plies": max_plies}
    for name, value in limits.items():
        whole(f"{name} (0: no such rule)", value, 0, MAX_HISTORY)
    if repetition == 1 or repetition and not quiet_plies:
        raise ValueError(
            f"repetition={repetition}, quiet_plies={quiet_plies}: a repetition needs at least 2"
            " times and a history bounded by quiet_plies"
        )
    return quiet_plies + 2 if repetition else 0
