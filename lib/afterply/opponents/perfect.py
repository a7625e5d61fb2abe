"""Perfect ConnectFour: the opponents AB and AB-DL, and the engine that answers them.

The engine BitBully (AGPL-3) is an optional extra, imported when the first question is asked; there
is one per process (about 240 MB), which threads ask one after the other. The score of a move is the
number of stones that the winner will have left, plus one; negative if the player who makes it
loses, 0 in a draw.
"""

import threading
from functools import cache, lru_cache

import numpy as np

from ..checks import one_of
from ..games.rules.connect4 import CELLS, COLUMNS, ROWS, bitboard
from ..kernel.random import random_int
from ..players.basic import Seated
from . import optional

# player: the number of stones up to which it sees no distances
BLIND_STONES = {"AB": 42, "AB-DL": 0, "AB-DL-8": 8}
BOOK = "12-ply-dist"  # the other books have no distances, so AB-DL would be wrong in the opening
REMEMBERED = 1 << 20  # answers, at most
FULL_COLUMN = -128  # score of a full column
COLUMN = 2 ** (ROWS + 1) - 1
_asking = threading.Lock()  # whoever asks the engine holds it from the first word to the answer


def knows(game) -> bool:
    """Return whether a game is ConnectFour on its usual board, which alone the engine knows."""
    return game.name == "connect4" and not game.identity["params"]


class Perfect(Seated):
    """Play ConnectFour perfectly; among equally good moves, choose at random.

    "AB" looks at results only. "AB-DL" wins as fast and loses as late as it can. "AB-DL-8" does so
    from the ninth stone on. Without BitBully, they raise ImportError when they have to choose.

    Source: [konen2021] Sec. 3.2. Deviations: D45.
    """

    def __init__(self, name: str):
        one_of("the name of a perfect player", name, tuple(BLIND_STONES))
        self.name, self.blind_stones = name, BLIND_STONES[name]

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match of ConnectFour on its usual board."""
        super().new_match(game, actions_from_start, seat, seed)
        if not knows(game):
            raise ValueError(f"{self.name} plays connect4 on 6 x 7 only, not {game!r}")

    def choose(self, state) -> int:
        """Return one of the best moves."""
        self.game.choices(state)
        moves = best_moves(state, exact=not self._is_blind(state))
        return moves[random_int(self.rng, len(moves))] if len(moves) > 1 else moves[0]

    def values(self, state) -> np.ndarray:
        """Return the moves' scores, or their signs where it sees no more."""
        found = scores(state)
        return np.sign(found) if self._is_blind(state) else found

    def _is_blind(self, state):
        return (bitboard(state, 0) | bitboard(state, 2)).bit_count() < self.blind_stones


def best_moves(state, exact: bool) -> tuple[int, ...]:
    """Return the columns that reach the best score, or if not `exact` the best result."""
    position, mirrored = _position(state)
    columns = _best(*position, exact)[1]
    return tuple(COLUMNS - 1 - c for c in columns) if mirrored else columns


def value(state, exact: bool = True) -> int:
    """Return the mover's score of a running position, or if not `exact` 1, 0 or -1."""
    return _best(*_position(state)[0], exact)[0]


def scores(state) -> np.ndarray:
    """Return the mover's score of every legal move, float64[num_legal]."""
    position, mirrored = _position(state)
    found = np.array(_scores(*position), float)[:: -1 if mirrored else 1]
    return found[found != FULL_COLUMN]


def _position(state):
    """Return stones, the mover's, free cells, whether mirrored: one stands for both images."""
    if state[4] > 1:
        raise ValueError(f"the game is over, there is nothing to search: {state.tolist()}")
    stones = [int(bitboard(state, k)) for k in (0, 2)]
    both = stones[0] | stones[1]
    plain, image = (_placed(stones[0], m) + _placed(both, m) for m in (False, True))
    mirrored = image < plain
    taken, mine = (_placed(s, mirrored, 9) for s in (both, stones[state[4] & 1]))
    return (taken, mine, CELLS - both.bit_count()), mirrored


def _placed(stones: int, mirrored: bool, height: int = ROWS + 1) -> int:
    """Return a bitboard with columns `height` bits apart (ours 7, the engine 9), or its mirror."""
    columns = [stones >> (ROWS + 1) * c & COLUMN for c in range(COLUMNS)]
    order = reversed(columns) if mirrored else columns
    return sum(column << height * c for c, column in enumerate(order))


@lru_cache(REMEMBERED)
def _scores(taken, mine, free) -> list:
    with _asking:
        core, board = _engine()
        board.setRawState(taken, mine, free)
        return [max(FULL_COLUMN, score) for score in core.scoreMoves(board)]


@lru_cache(REMEMBERED)
def _best(taken, mine, free, exact) -> tuple[int, tuple]:
    with _asking:
        core, board = _engine()
        board.setRawState(taken, mine, free)
        found = core.mtdf(board, 0) if exact else int(np.sign(core.nullWindow(board)))
        lost = not exact and found < 0  # then every move reaches it
        legal = [c for c in range(COLUMNS) if board.isLegalMove(c)]
        return found, tuple(c for c in legal if lost or _reaches(core, board, c, found))


def _reaches(core, board, column, wanted) -> bool:
    if board.canWin(column):
        return True
    after = board.playMoveOnCopy(column)
    if after.movesLeft() == 0:
        return 0 >= wanted
    return core.negamax(after, -wanted, 1 - wanted, 0) <= -wanted


@cache
def _engine():
    try:
        if optional.hidden("bitbully"):
            raise ImportError("hidden by AFTERPLY_HIDE")
        from bitbully import BitBully
        from bitbully.bitbully_core import BoardCore

        return BitBully(opening_book=BOOK)._core, BoardCore()
    except ImportError as error:
        how = "`make engines`, or `python -m pip install bitbully==0.0.79`"
        raise ImportError(f"perfect ConnectFour needs the engine BitBully: {how}") from error
