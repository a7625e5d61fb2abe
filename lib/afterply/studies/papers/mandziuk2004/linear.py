"""A linear value function of checkers positions, V(s) = a tanh(b w.phi(s)), on bitboards.

A weight vector has an *owner*, the player whose value it gives, fixed for the whole game. Every
feature is counted for one player as if it played upwards, for the other one on the turned board.

::

    F22  the 22 differences ``F22_NAMES``, own count less the opponent's
    V1   the first 8 counts of the owner, those of the opponent, then the differences 17 to 22
    V2   the counts 1 to 9, 11 and 12 of the owner, then of the opponent

    safe: on the border of the board       moveable: with an empty square in front (kings: beside)
    defenders: in the two lowest rows      attackers: men in the three topmost rows
    loners: no piece beside                holes: empty squares with 3 own pieces beside
    triangle 27, 31, 32   oreo 26, 30, 31   bridge 30, 32   dog: a man on 32, an enemy man on 28

The paper does not list its features; these are 22 of the 25 that the same group used in 2007.

Source: [mandziuk2004] Eq. (1). Deviations: D1, D14.
"""

import hashlib

import numpy as np

from ....checks import boolean, one_of, whole
from ....checks import numbers as checked_numbers
from ....games.calls import Arrays, call_legal, call_over, call_play, call_score, copy_into
from ....games.game import check_game
from ....games.rules import count
from ....games.rules.giveaway import (
    ALL,
    bits_of,
    down,
    down_left,
    down_right,
    up,
    up_left,
    up_right,
)
from ....kernel.compile import kernel
from ....kernel.functions import tanh

FEATURE_SETS = ("F22", "V1", "V2")
F22, V1, V2 = range(3)
F22_NAMES = (
    *("men", "kings", "safe men", "safe kings", "moveable men", "moveable kings"),
    *("promotion distance", "free promotion squares", "defenders", "attackers"),
    *("centre men", "centre kings", "main-diagonal men", "main-diagonal kings"),
    *("double-diagonal men", "double-diagonal kings", "loners", "holes"),
    *("triangle", "oreo", "bridge", "dog"),
)
NUM_FEATURES = len(F22_NAMES)
A, B = 99.0, 0.027
WON_VALUE = 100.0  # V of a won position; 0 of a draw, -100 of a lost one
WON = 1e300  # its activation: beyond every w.phi
MAX_DEPTH = 64
# V1: the first BASIC counts of each player, and the counts from PATTERNS on as differences
BASIC = 8
PATTERNS = 16
RAW = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11])  # V2
WORK = {
    "counts": ("int64", 2, NUM_FEATURES),
    "phi": ("float64", NUM_FEATURES),
    "score": ("float64", 2),
}


def _bits(*squares):
    """Return the bitboard of squares, numbered from 1."""
    return sum(1 << (square - 1) for square in squares)


def _both(*squares):
    """Return a set of squares as White sees it, and as Black."""
    turned = [33 - square for square in squares]
    return np.array([_bits(*squares), _bits(*turned)], np.int64)


EDGE = _bits(1, 2, 3, 4, 5, 12, 13, 20, 21, 28, 29, 30, 31, 32)
CENTRE = _bits(10, 11, 14, 15, 18, 19, 22, 23)
MAIN = _bits(4, 8, 11, 15, 18, 22, 25, 29)
DOUBLE = _bits(1, 6, 10, 15, 19, 24, 28, 5, 9, 14, 18, 23, 27, 32)
# squares whose row number, from above, has bit 0, 1, 2
ROW_BITS = (0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000)
PROMOTION = _both(*range(1, 5))
HOME = _both(*range(25, 33))
FRONT = _both(*range(1, 13))
TRIANGLE = _both(27, 31, 32)
OREO = _both(26, 30, 31)
BRIDGE = _both(30, 32)
DOG = _both(32)
DOG_ENEMY = _both(28)


@kernel
def _has(pieces, squares):
    """Return 1 if there is a piece on each of the squares, else 0."""
    return np.int64(pieces & squares == squares)


@kernel
def count_side(own, enemy, kings, side, counts):
    """Write the 22 counts of one player (0: White plays up, 1: Black) into ``counts[side]``."""
    f = counts[side]  # in the order of F22_NAMES
    men = own & ~kings
    own_kings = own & kings
    occupied = own | enemy
    empty = ALL & ~occupied
    above = up(empty)
    below = down(empty)
    f[0] = count(men)
    f[1] = count(own_kings)
    f[2] = count(men & EDGE)
    f[3] = count(own_kings & EDGE)
    f[4] = count(men & (above if side else below))
    f[5] = count(own_kings & (above | below))
    rows = count(men & ROW_BITS[0]) + 2 * count(men & ROW_BITS[1]) + 4 * count(men & ROW_BITS[2])
    f[6] = 7 * f[0] - rows if side else rows
    f[7] = count(empty & PROMOTION[side])
    f[8] = count(own & HOME[side])
    f[9] = count(men & FRONT[side])
    f[10] = count(men & CENTRE)
    f[11] = count(own_kings & CENTRE)
    f[12] = count(men & MAIN)
    f[13] = count(own_kings & MAIN)
    f[14] = count(men & DOUBLE)
    f[15] = count(own_kings & DOUBLE)
    f[16] = count(own & ~(up(occupied) | down(occupied)))
    # a hole: at least three of the four squares beside it are own
    a = up_left(own)
    b = up_right(own)
    c = down_left(own)
    d = down_right(own)
    f[17] = count(empty & (a & b & (c | d) | c & d & (a | b)))
    f[18] = _has(men, TRIANGLE[side])
    f[19] = _has(men, OREO[side])
    f[20] = _has(men, BRIDGE[side])
    f[21] = _has(men, DOG[side]) & _has(enemy & ~kings, DOG_ENEMY[side])


@kernel
def features(kind, white, black, kings, owner, counts, phi):
    """Write the features of a position, as the owner sees them, into `phi` (float64[22])."""
    count_side(white, black, kings, 0, counts)
    count_side(black, white, kings, 1, counts)
    own = counts[owner]
    other = counts[1 - owner]
    if kind == F22:
        for k in range(NUM_FEATURES):
            phi[k] = own[k] - other[k]
    elif kind == V1:
        for k in range(BASIC):
            phi[k] = own[k]
            phi[BASIC + k] = other[k]
        for k in range(PATTERNS, NUM_FEATURES):
            phi[k] = own[k] - other[k]
    else:
        for k in range(RAW.shape[0]):
            phi[k] = own[RAW[k]]
            phi[RAW.shape[0] + k] = other[RAW[k]]


@kernel
def product(weights, phi):
    """Return w.phi as four sums in a fixed order."""
    a = b = c = d = 0.0
    for k in range(0, 20, 4):
        a += weights[k] * phi[k]
        b += weights[k + 1] * phi[k + 1]
        c += weights[k + 2] * phi[k + 2]
        d += weights[k + 3] * phi[k + 3]
    a += weights[20] * phi[20]
    b += weights[21] * phi[21]
    return (a + b) + (c + d)


@kernel
def value_of(activation):
    """Return V of an activation w.phi, or of +-WON. Source: [mandziuk2004] Eq. (1), Sec. 2."""
    if activation >= WON or activation <= -WON:
        return WON_VALUE if activation > 0.0 else -WON_VALUE
    return A * tanh(B * activation)


@kernel
def _value_at(rules, kind, weights, owner, s, counts, phi, score):
    """Return V of a state for the owner of the weights; at the end it follows from the result."""
    if call_over(rules, s):
        call_score(rules, s, score)
        return WON_VALUE * score[owner]
    features(kind, bits_of(s[0]), bits_of(s[1]), bits_of(s[2]), owner, counts, phi)
    return value_of(product(weights, phi))


@kernel
def _action_values(rules, kind, weights, s, after, moves, out, counts, phi, score):
    """Write V of every afterstate for the player to move into `out`; return how many there are."""
    n = call_legal(rules, s, moves)
    owner = np.int64(s[3] & 1)
    for i in range(n):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[i])
        out[i] = _value_at(rules, kind, weights, owner, after, counts, phi, score)
    return n


class Linear:
    """A weight vector of ``giveaway`` or ``checkers``, and how it is used.

    Parameters
    ----------
    game : Game
        ``giveaway`` or ``checkers``; others raise ValueError.
    features : str
        One of ``FEATURE_SETS``.
    seat : int
        The seat in which it learns, 0 or 1. It can play in either.
    depth : int
        Look-ahead in turns, 1 to ``MAX_DEPTH``.
    quiescence : bool
        Whether its searches go on while there are captures.
    weights : array_like [22], optional
        Finite numbers; by default zeros.

    Source: [mandziuk2004] Eq. (1). Deviations: D1, D14.
    """

    reward_unit = WON_VALUE  # what the values call a reward of 1; a search divides by it

    def __init__(self, game, features="F22", seat=0, depth=4, quiescence=False, weights=None):
        check_game(game, "a linear function")
        if not game.spec or game.spec["name"] not in ("giveaway", "checkers"):
            raise ValueError(f"these features belong to giveaway and checkers, not to {game!r}")
        self.game = game
        self.features = one_of("features", features, FEATURE_SETS)
        self.kind = FEATURE_SETS.index(features)
        self.seat = whole("seat", seat, 0, 1)
        self.depth = whole("depth", depth, 1, MAX_DEPTH)
        self.quiescence = boolean("quiescence", quiescence)
        if weights is None:
            weights = np.zeros(NUM_FEATURES)
        self.weights = as_weights(weights)
        self.snapshots = {}  # episode -> weights float64[22]
        self.trainings = 0  # pieces of training that the weights may come from
        self.results = np.zeros(0, np.int8)  # of its training games: 2 = won, 1 = drawn, 0 = lost
        self.run = 0  # number of its training: opponents for a test belong to its group of ten
        self._memory = Arrays(WORK)

    def _owner(self, state, owner):
        """Return the owner of a value: by default the player to move."""
        if owner is None:
            return self.game.player(state)
        return owner

    def phi(self, state, owner: int | None = None) -> np.ndarray:
        """Return the features of a state, float64 [22]; `owner`: by default the player to move."""
        state = self.game._state(state)
        owner = self._owner(state, owner)
        white, black, kings = map(bits_of, state[:3])
        counts, phi, _ = self._memory.arrays
        features(self.kind, white, black, kings, owner, counts, phi)
        return phi.copy()

    def value(self, state, owner: int | None = None) -> float:
        """Return V of a state for its owner (default: the player to move), without any search."""
        state = self.game._state(state)
        owner = self._owner(state, owner)
        counts, phi, score = self._memory.arrays
        rules = self.game.rules
        return _value_at(rules, self.kind, self.weights, owner, state, counts, phi, score)

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return V of every afterstate for the player to move, float64 [num_legal].

        `gamma` does not matter: there are no rewards before the end.
        """
        game = self.game
        state = game._state(state)
        if game.over(state):
            return np.zeros(0)
        after = state.copy()
        moves = np.zeros(game.max_legal, np.int32)
        values = np.zeros(game.max_legal)
        work = self._memory.arrays
        num_legal = _action_values(
            game.rules, self.kind, self.weights, state, after, moves, values, *work
        )
        return values[:num_legal]

    def with_weights(self, weights, depth: int | None = None) -> "Linear":
        """Return another vector that is used in the same way, or with another look-ahead."""
        if depth is None:
            depth = self.depth
        return Linear(self.game, self.features, self.seat, depth, self.quiescence, weights)

    def keep_snapshot(self) -> None:
        """Keep the weights as they are now."""
        self.snapshots[len(self.results)] = self.weights.copy()

    def checksum(self) -> str:
        """Return 16 hex digits that identify weights, snapshots and results bit for bit."""
        digest = hashlib.sha256(self.weights)
        for episode, weights in sorted(self.snapshots.items()):
            digest.update(np.int64(episode).tobytes() + weights.tobytes())
        digest.update(np.ascontiguousarray(self.results))
        return digest.hexdigest()[:16]


def as_weights(numbers) -> np.ndarray:
    """Return 22 finite numbers as a new float64 array, or raise ValueError."""
    weights = checked_numbers("a weight vector", numbers).astype(np.float64)
    if weights.shape != (NUM_FEATURES,) or not np.isfinite(weights).all():
        raise ValueError(f"a weight vector is {NUM_FEATURES} finite numbers, not {numbers!r}")
    return weights
