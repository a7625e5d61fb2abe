"""Perfect ConnectFour: the opponents AB and AB-DL, and the engine that answers them.

The engine BitBully (AGPL-3) is an optional extra, imported when the first question is asked. There
is one per process (about 240 MB), and threads ask it one after the other.

The score of a move is the number of stones that the winner will have left, plus one. It is negative
if the player who makes the move loses, and 0 in a draw.
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
HEIGHT = ROWS + 1  # bits from one column to the next in a bitboard of ours
ENGINE_HEIGHT = 9  # and in one of the engine
COLUMN = 2**HEIGHT - 1  # the bits of the first column
_asking = threading.Lock()  # held while the engine answers a question


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
        self.name = name
        self.blind_stones = BLIND_STONES[name]

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match of ConnectFour on its usual board."""
        super().new_match(game, actions_from_start, seat, seed)
        if not knows(game):
            raise ValueError(f"{self.name} plays connect4 on 6 x 7 only, not {game!r}")

    def choose(self, state) -> int:
        """Return one of the best moves."""
        self.game.choices(state)
        moves = best_moves(state, exact=not self._is_blind(state))
        if len(moves) == 1:
            return moves[0]
        return moves[random_int(self.rng, len(moves))]

    def values(self, state) -> np.ndarray:
        """Return the scores of the legal moves, or only their signs where it sees no distances."""
        exact_scores = scores(state)
        return np.sign(exact_scores) if self._is_blind(state) else exact_scores

    def _is_blind(self, state):
        """Return whether it sees results only, and no distances."""
        num_stones = (bitboard(state, 0) | bitboard(state, 2)).bit_count()
        return num_stones < self.blind_stones


def best_moves(state, exact: bool) -> tuple[int, ...]:
    """Return the columns that reach the best score, or if not `exact` the best result."""
    position, mirrored = _position(state)
    _, columns = _best(*position, exact)
    if mirrored:
        return tuple(COLUMNS - 1 - column for column in columns)
    return columns


def value(state, exact: bool = True) -> int:
    """Return the mover's score of a running position, or if not `exact` 1, 0 or -1."""
    position, _ = _position(state)
    best_value, _ = _best(*position, exact)
    return best_value


def scores(state) -> np.ndarray:
    """Return the mover's score of every legal move, float64 [num_legal]."""
    position, mirrored = _position(state)
    score_of_column = np.array(_scores(*position), float)
    if mirrored:
        score_of_column = score_of_column[::-1]
    return score_of_column[score_of_column != FULL_COLUMN]


def _position(state):
    """Return (stones of both, stones of the mover, number of free cells), and whether mirrored.

    A position and its mirror image are the same to the engine, which is asked for one of them only.
    """
    if state[4] > 1:
        raise ValueError(f"the game is over, there is nothing to search: {state.tolist()}")
    stones = [int(bitboard(state, 0)), int(bitboard(state, 2))]
    both = stones[0] | stones[1]
    mover = state[4] & 1
    mirrored = _as_number(stones[0], both, True) < _as_number(stones[0], both, False)
    engine_both = _placed(both, mirrored, ENGINE_HEIGHT)
    engine_mover = _placed(stones[mover], mirrored, ENGINE_HEIGHT)
    return (engine_both, engine_mover, CELLS - both.bit_count()), mirrored


def _as_number(first: int, both: int, mirrored: bool) -> int:
    """Return a number that tells a position from all others, or that of its mirror image."""
    return _placed(first, mirrored, HEIGHT) + _placed(both, mirrored, HEIGHT)


def _placed(stones: int, mirrored: bool, height: int) -> int:
    """Return a bitboard of ours, or its mirror image, with columns `height` bits apart."""
    columns = [stones >> HEIGHT * column & COLUMN for column in range(COLUMNS)]
    if mirrored:
        columns.reverse()
    placed = 0
    for place, column_stones in enumerate(columns):
        placed |= column_stones << height * place
    return placed


@lru_cache(REMEMBERED)
def _scores(taken, mine, free) -> list:
    """Return the score of every column, FULL_COLUMN if it is full."""
    with _asking:
        core, board = _engine()
        board.setRawState(taken, mine, free)
        return [max(FULL_COLUMN, score) for score in core.scoreMoves(board)]


@lru_cache(REMEMBERED)
def _best(taken, mine, free, exact) -> tuple[int, tuple]:
    """Return the mover's score, or its sign if not `exact`, and the columns that reach it."""
    with _asking:
        core, board = _engine()
        board.setRawState(taken, mine, free)
        if exact:
            best_value = core.mtdf(board, 0)
        else:
            best_value = int(np.sign(core.nullWindow(board)))
        columns = [column for column in range(COLUMNS) if board.isLegalMove(column)]
        every_move_loses = best_value < 0 and not exact
        if not every_move_loses:
            columns = [c for c in columns if _reaches(core, board, c, best_value)]
        return best_value, tuple(columns)


def _reaches(core, board, column, wanted) -> bool:
    """Return whether a move has at least the score `wanted`."""
    if board.canWin(column):
        return True
    after = board.playMoveOnCopy(column)
    if after.movesLeft() == 0:
        return 0 >= wanted
    return core.negamax(after, -wanted, 1 - wanted, 0) <= -wanted


@cache
def _engine():
    """Return the engine and a board of it, on which every question is put."""
    try:
        if optional.hidden("bitbully"):
            raise ImportError("hidden by AFTERPLY_HIDE")
        from bitbully import BitBully
        from bitbully.bitbully_core import BoardCore

        return BitBully(opening_book=BOOK)._core, BoardCore()
    except ImportError as error:
        how = "`make engines`, or `python -m pip install bitbully==0.0.79`"
        raise ImportError(f"perfect ConnectFour needs the engine BitBully: {how}") from error
