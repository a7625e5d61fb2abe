"""The decisions of tabular learning agents in one game."""

from typing import NamedTuple

import numpy as np


class Trace(NamedTuple):
    """The decisions of the learning agents in the present game."""

    # fmt: off
    player: np.ndarray  # int32 [size]
    state: np.ndarray   # int32 [size]: state number in the table
    entry: np.ndarray   # int32 [size]
    legal: np.ndarray   # int32 [size]: number of legal actions there
    length: np.ndarray  # int64 [1]
    follow: np.ndarray  # int64 [2]: of each player, the decision after the one that is updated
    # fmt: on


def new_trace(size, old: Trace | None = None) -> Trace:
    """Allocate the trace of a game, with the decisions of a smaller one."""
    new = Trace(
        *(np.zeros(size, np.int32) for _ in range(4)), np.zeros(1, np.int64), np.zeros(2, np.int64)
    )
    for array, before in zip(new[:4], old[:4] if old else ()):
        array[: len(before)] = before
    if old:
        new.length[:] = old.length
    return new
