"""What changes while a learner of TD(lambda) with search plays: arrays that Python allocates."""

from typing import NamedTuple

import numpy as np

from ..kernel.random import new_rng
from ..networks.linear import NUM_FEATURES
from ..search.linear_search import Tree, make_tree

EPISODES, MOVES, POSITIONS, UPDATES, OPPONENT, IN_A_ROW, PLIES = range(7)


class Memory(NamedTuple):
    """What changes while a learner plays."""

    # fmt: off
    tree: Tree
    state: np.ndarray  # int32 [size]
    score: np.ndarray  # float64 [2]
    rng: np.ndarray  # uint64 [1]
    phi: np.ndarray  # float64 [22]: gradient of the value of the present position
    trace: np.ndarray  # float64 [22]: eligibility e_t
    change: np.ndarray  # float64 [22]: sum of delta_t e_t over the game
    last: np.ndarray  # float64 [1]: value of the learner's last position
    counters: np.ndarray  # int64 [7]
    # fmt: on


def make_memory(game, depth: int, seed: int) -> Memory:
    """Return the memory of a learner that has not played yet."""
    vectors = [np.zeros(NUM_FEATURES) for _ in range(3)]
    state = (np.zeros(game.size, np.int32), np.zeros(2), new_rng(seed))
    return Memory(make_tree(depth), *state, *vectors, np.zeros(1), np.zeros(7, np.int64))
