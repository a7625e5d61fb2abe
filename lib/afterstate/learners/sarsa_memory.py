"""All arrays of a SARSA or Q training: what it remembers of the game so far, and working memory.

The arrays with the names of ``td_memory.Memory`` mean the same; an element of a trace is a pair of
state and action here.
"""

from typing import NamedTuple

import numpy as np

from . import td_memory

NOW, BEFORE, PAIR = range(3)  # rows: the present state, the one before, the pair to be remembered


class Memory(NamedTuple):
    """All arrays that a training uses; the traces, counters and marks are part of a checkpoint."""

    # fmt: off
    rng: np.ndarray  # uint64 [1]
    counters: np.ndarray  # int64 [4]: EPISODES, MOVES, UPDATES, TRUNCATED
    abs_delta: np.ndarray  # float64 [1]: sum of |delta| over all updates
    # a ring of trace_size + 1 pairs per player; (s_last, a_last) at `head` is not yet in the trace
    entry: np.ndarray  # uint32 [players, trace_size + 1, features]: distinct, then repeated
    num_distinct: np.ndarray  # int64 [players, trace_size + 1]: those that learn
    num_different: np.ndarray  # int64 [players, trace_size + 1]: distinct ones, inhibited or not
    num_boards: np.ndarray  # int64 [players, trace_size + 1]: N_S
    action: np.ndarray  # int64 [players, trace_size + 1]
    slope: np.ndarray  # float64 [players, trace_size + 1]: sigma' when the pair was updated first
    head: np.ndarray  # int64 [players]
    length: np.ndarray  # int64 [players]: pairs in the trace
    has_last: np.ndarray  # bool [players]: s_last is not null
    last_random: np.ndarray  # bool [players]: a_last was chosen at random
    r_last: np.ndarray  # float64 [players]: cumulative reward in s_last
    # D49 only: a weight with the mark of its set's present list is inhibited
    mark: np.ndarray  # uint32 [players * set_size]
    list_number: np.ndarray  # uint32 [players, actions]
    # working memory
    state: np.ndarray  # int32 [size]
    cells: np.ndarray  # int32 [2, cells]: of NOW and BEFORE
    index: np.ndarray  # uint32 [3, features]: of action 0 (NOW, BEFORE) or the action (PAIR)
    boards: np.ndarray  # int32 [3, num_sym]
    ns: np.ndarray  # int64 [3]: N_S of PAIR
    changed: np.ndarray  # uint32 [cells]: cells in which NOW differs from BEFORE
    difference: np.ndarray  # uint32 [cells]: how much their codes do
    work: np.ndarray  # uint32 [2, features]
    moves: np.ndarray  # int32 [max_legal]: legal actions of NOW
    value: np.ndarray  # float64 [max_legal]: their Q
    path: np.ndarray  # int32 [start_plies]
    reward: np.ndarray  # float64 [players]
    entry_weight: np.ndarray  # float32 or float64 [features]: weights of one pair
    net_change: np.ndarray  # of the same type [features]: their counters N ...
    abs_change: np.ndarray  # ... and A
    factor: np.ndarray  # float64 [features]
    # fmt: on


CHECKPOINT = (*td_memory.CHECKPOINT, "num_different", "action", "mark", "list_number")


def make_memory(game, net, par, rng) -> Memory:
    """Allocate the memory of a run; `rng` becomes part of it."""
    n, size = game.players, par.trace_size + 1
    num_features, num_sym = len(net.arrays.offset), len(game.symmetries)
    precision = net.arrays.weights.dtype
    ring = {name: np.zeros((n, size), np.int64) for name in _RING}
    like_weights = {name: np.zeros(num_features, precision) for name in _LIKE_WEIGHTS}
    return Memory(
        rng=rng,
        counters=np.zeros(4, np.int64),
        abs_delta=np.zeros(1),
        entry=np.zeros((n, size, num_features), np.uint32),
        slope=np.zeros((n, size)),
        **ring,
        head=np.zeros(n, np.int64),
        length=np.zeros(n, np.int64),
        has_last=np.zeros(n, bool),
        last_random=np.zeros(n, bool),
        r_last=np.zeros(n),
        mark=np.zeros(len(net.arrays.weights) if par.late_clearing else 0, np.uint32),
        list_number=np.ones((n, game.actions), np.uint32),
        state=np.zeros(game.size, np.int32),
        cells=np.zeros((2, game.cells), np.int32),
        index=np.zeros((3, num_features), np.uint32),
        boards=np.zeros((3, num_sym), np.int32),
        ns=np.zeros(3, np.int64),
        changed=np.zeros(game.cells, np.uint32),
        difference=np.zeros(game.cells, np.uint32),
        work=np.zeros((2, num_features), np.uint32),
        moves=np.zeros(game.max_legal, np.int32),
        value=np.zeros(game.max_legal),
        path=np.zeros(max(1, game.rules.start_plies), np.int32),
        reward=np.zeros(n),
        **like_weights,
        factor=np.zeros(num_features),
    )


_RING = ("num_distinct", "num_different", "num_boards", "action")
_LIKE_WEIGHTS = ("entry_weight", "net_change", "abs_change")
