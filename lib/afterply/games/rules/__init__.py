"""The rules of the games that come with the package, one file each, and what several share.

That is rewards, grids of cells, bitboards, draws by repetition. `catalogue` finds the games.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from ...kernel.random import random_int

LETTERS = (*"abcdefghijklmnopqrstuvwxyz",)  # of columns; then come aa, ab, ...
LETTERS += tuple(first + second for first in LETTERS for second in LETTERS)
MARKS = "xo+*"  # of players in texts
SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))  # steps (down, right) to the cells that share a side
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
HEXAGON = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
MAX_HISTORY = 10_000
EACH_BYTE = np.uint64(0x0101010101010101)


def _places_of_ones() -> np.ndarray:
    """Return the place of the n-th one of every byte, uint8 [byte, n]; 0 where there is none."""
    places = np.zeros((256, 8), np.uint8)
    for byte in range(256):
        ones = [k for k in range(8) if byte >> k & 1]
        places[byte, : len(ones)] = ones
    return places


PLACES = _places_of_ones()


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
    shorter = min(length, number)
    # of each direction: bits from a cell to the next one, and cells of the longest line
    directions = ((1, length), (length + 1, number), (length, shorter), (length + 2, shorter))
    return tuple(np.uint64(step) for step, longest in directions if k <= longest)


@kernel
def has_line(stones, steps, k):
    """Return whether a bitboard holds `k` in a row, in the direction of one of the steps."""
    for step in steps:
        starts = np.uint64(stones)  # bits where a line of this length begins
        length = 1
        while length < k:
            added = min(length, k - length)
            starts &= starts >> step * np.uint64(added)
            length += added
        if starts:
            return True
    return False


@kernel
def pay_best(r, players):
    """Turn points into rewards: all for the best player, in equal parts if there are several."""
    best = 0.0
    for p in range(players):
        best = max(best, r[p])
    num_best = 0
    for p in range(players):
        num_best += r[p] == best
    for p in range(players):
        r[p] = np.float64(r[p] == best) / num_best
        if players == 2:
            r[p] = 2.0 * r[p] - 1.0


def situation(word, shift, players=2) -> dict:
    """Return the rules player, over and score of a game that keeps mover and status in one word.

    ``s[word]`` holds the mover in its lowest bits and the status from bit `shift` on. The status is
    0 while the game goes on, then the number of the winner, from 1 on, or of a draw.
    """
    mover_bits = 1 if players == 2 else 3

    def player(s):
        return s[word] & mover_bits

    def over(s):
        return s[word] >> shift != 0

    def score(s, r):
        pay(r, s[word] >> shift)

    return named(player, over, score)


def fault_in_turns(mover, counts, status, lags=(0,)) -> str | None:
    """Say what is wrong where players put one stone each in turn; None if nothing is.

    Parameters
    ----------
    mover, status
        The player to move and the status of the game, as in :func:`situation`.
    counts : list of int
        Stones of each player.
    lags : tuple of int
        By how many stones others may be ahead of the first player once all have moved equally
        often: more than 0 only where stones change hands.
    """
    players = len(counts)
    ahead = set()
    for player, count in enumerate(counts):
        has_still_to_move = 0 < mover <= player  # in a round that the first player has begun
        ahead.add(count + has_still_to_move - counts[0])
    if mover not in range(players) or not ahead <= {*lags}:
        if players == 2:
            return "x moves first, so there are as many x as o, or one more if o is to move"
        return f"players put stones in turn, not {counts} before the move of player {mover}"
    # after the winner's last stone it is the turn of the next player
    if 0 < status <= players and status % players != mover:
        return "who has won is not to move"
    return None


def fault_of_end(status, winner, drawn, repetition) -> str | None:
    """Say if the status of a game of two is not that of its pieces and plies; else return None.

    Whether a position was repeated they do not tell: where that counts, a draw can be.
    """
    if winner:
        possible = [winner]
    elif drawn:
        possible = [3]
    elif repetition:
        possible = [0, 3]
    else:
        possible = [0]
    if status not in possible:
        return f"its pieces and plies do not give the end {status}"
    return None


# ------------------------------------------------------------------------------ grids of cells
def neighbours(rows, columns, steps=SIDES) -> list:
    """Return for each cell, row by row, the cells that are one of the steps away."""
    beside = []
    for cell in range(rows * columns):
        row, column = divmod(cell, columns)
        targets = [(row + down, column + right) for down, right in steps]
        beside.append([columns * r + c for r, c in targets if 0 <= r < rows and 0 <= c < columns])
    return beside


def symmetries(rows, columns) -> list:
    """Return rotations and reflections of the grid (four that keep its shape if not square)."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    quarter_turns = (0, 1, 2, 3) if rows == columns else (0, 2)
    boards = []
    for reflected in (grid, grid[:, ::-1]):
        for turns in quarter_turns:
            board = np.rot90(reflected, turns).ravel().tolist()
            if board not in boards:  # as they are where there is a single row or column
                boards.append(board)
    return boards


def lines_of(marks, columns) -> list:
    """Return the lines of a board's text, from its marks row by row."""
    return [" ".join(marks[k : k + columns]) for k in range(0, len(marks), columns)]


def read_marks(text, cells, endings=("",), stones="xo") -> tuple:
    """Return the marks of a position, row by row, and which of the endings follows them."""
    words = text.split()
    marks = words[:cells]
    ending = " ".join(words[cells:])
    if len(marks) != cells or not set(marks) <= {*stones, "."} or ending not in endings:
        form = f"{cells} marks {', '.join(stones)} or . and blanks"
        if any(endings):
            form += f", then {' or '.join(map(repr, endings))}"
        raise ValueError(f"a position is {form}, not {text!r}")
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
        s[core] = s[1 - who]
        s[core + 1] = s[who]
        return False
    s[core + k] = s[who]
    occurrences = 1
    j = k - 2
    while j >= 1:
        if s[core + j] == s[core + k] and s[core + j - 1] == s[core + k - 1]:
            occurrences += 1
        j -= 2
    return occurrences >= times


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
