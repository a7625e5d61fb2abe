"""Positional players for Othello: one ply ahead, the afterstate with the greatest sum of weights.

**Bench** is a table that co-evolution has found, **Heur** one made by hand: opponents of
[konen2021], with the tables of its software.
"""

import numpy as np

from ..checks import one_of
from ..games.calls import (
    Arrays,
    call_board,
    call_legal,
    call_over,
    call_play,
    call_player,
    copy_into,
)
from ..kernel.compile import kernel
from .basic import BestValue

# fmt: off
BENCH = (  # one row of the board a line
     80, -26,  24,  -1,  -5,  28, -18,  76,
    -23, -39, -18,  -9,  -6,  -8, -39,  -1,
     46, -16,   4,   1,  -3,   6, -20,  52,
    -13,  -5,   2,  -1,   4,   3, -12,  -2,
     -5,  -6,   1,  -2,  -3,   0,  -9,  -5,
     48, -13,  12,   5,   0,   5, -24,  41,
    -27, -53, -11,  -1, -11, -16, -58, -15,
     87, -25,  27,  -1,   5,  36,  -3, 100,
)
# fmt: on

QUARTER = ((100, -25, 10, 5), (-25, -25, 2, 2), (10, 2, 5, 1), (5, 2, 1, 2))


def _mirrored(quarter) -> tuple:
    """Return the weights of the whole board, whose other three quarters are mirror images."""
    weights = ()
    for row in quarter + quarter[::-1]:
        weights += row + row[::-1]
    return weights


HEUR = _mirrored(QUARTER)

WORK = {
    "moves": ("int32", "max_legal"),
    "after": ("int32", "size"),
    "cells": ("int32", "cells"),
    "out": ("float64", "max_legal"),
}


@kernel
def weigh_moves(rules, s, weights, original, moves, after, cells, out):
    """Write the weight sum of each afterstate, return their number.  Deviations: D38."""
    mover, n = call_player(rules, s), call_legal(rules, s, moves)
    for k in range(n):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[k])
        call_board(rules, after, cells)
        total = 0.0
        for c in range(weights.shape[0]):
            total += weights[c] * (
                np.float64(cells[c] == mover) - np.float64(cells[c] == 1 - mover)
            )
        wrong = original and (call_over(rules, after) or call_player(rules, after) == mover)
        out[k] = -total if wrong else total
    return n


class Positional(BestValue):
    """Choose the afterstate with the greatest sum of weights, own stones minus the opponent's.

    Source: [konen2021] Sec. 3.4, Table 1 (Bench). Deviations: D38.

    Parameters
    ----------
    weights : float [cells]
    name : str
        The name of the player in tables.
    bench_perspective : "original" or "mover"
        Whose stones count as own ones in an afterstate. "mover": those of the player who moved.
        "original", as in the authors' software: those of the opponent of the next to move. These
        differ if the next player must pass or the game is over: then the least sum is chosen.

    Raises
    ------
    ValueError
        If `weights` are not finite numbers; in a match, if the game does not have as many cells.
    """

    def __init__(self, weights, name: str = "Positional", bench_perspective: str = "original"):
        one_of("bench_perspective", bench_perspective, ("original", "mover"))
        self.name = name
        self.original = bench_perspective == "original"
        self.weights = _finite_numbers(weights)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match of a game whose codes 0 and 1 are the two players' stones."""
        super().new_match(game, actions_from_start, seat, seed)
        if game.players != 2 or game.cells != len(self.weights):
            cells = f"{len(self.weights)} cells of two players"
            raise ValueError(f"{self.name} weighs {cells}: {game!r}")
        self._memory = Arrays(WORK, game)

    def values(self, state) -> np.ndarray:
        """Return the weight sum of every legal action, float64 [num_legal]."""
        state = self.game._state(state, to_move=True)
        moves, after, cells, sums = self._memory.arrays
        num_legal = weigh_moves(
            self.game.rules, state, self.weights, self.original, moves, after, cells, sums
        )
        return sums[:num_legal].copy()


def _finite_numbers(weights) -> np.ndarray:
    """Return weights as float64 [cells], or raise ValueError."""
    try:
        array = np.array(weights, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"weights must be a finite number for every cell, not {weights!r}")
    return array


def Bench(bench_perspective: str = "original") -> Positional:
    """Return the player Bench.  Source: [konen2021] Sec. 3.4, Table 1. Deviations: D38."""
    return Positional(BENCH, "Bench", bench_perspective)


def Heur(bench_perspective: str = "original") -> Positional:
    """Return the player Heur.  Deviations: D38."""
    return Positional(HEUR, "Heur", bench_perspective)


Bench.version = Positional.version
Heur.version = Positional.version
