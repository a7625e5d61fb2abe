"""All arrays of a TD training: what it remembers of the game so far, and working memory."""

from typing import NamedTuple

import numpy as np

EPISODES, MOVES, UPDATES, TRUNCATED = range(4)


class Memory(NamedTuple):
    """All arrays that a training uses; the traces and counters are part of a checkpoint."""

    # fmt: off
    rng: np.ndarray           # uint64 [1]
    counters: np.ndarray      # int64 [4]: EPISODES, MOVES, UPDATES, TRUNCATED
    abs_delta: np.ndarray     # float64 [1]: sum of |delta| over all updates
    # one ring of trace_size + 1 entries per player; the entry at `head` is s_last, not yet in the
    # trace; of an entry, the distinct indices come first, then the repeated ones
    entry: np.ndarray         # uint32 [players, trace_size + 1, features]
    num_distinct: np.ndarray  # int64 [players, trace_size + 1]
    num_boards: np.ndarray    # int64 [players, trace_size + 1]: N_S
    # sigma' when the entry was updated first
    slope: np.ndarray         # float64 [players, trace_size + 1]
    head: np.ndarray          # int64 [players]
    length: np.ndarray        # int64 [players]: entries in the trace
    has_last: np.ndarray      # bool [players]: s_last is not null
    last_random: np.ndarray   # bool [players]: s_last was made by a random move
    r_last: np.ndarray        # float64 [players]: cumulative reward after the player's last move
    # working memory, one row for the present state and one for every candidate
    state: np.ndarray         # int32 [1 + max_legal, size]
    cells: np.ndarray         # int32 [1 + max_legal, cells]
    index: np.ndarray         # uint32 [1 + max_legal, features]
    # the mover's weights at `index`, float32 or float64
    weight: np.ndarray        # [1 + max_legal, features]
    boards: np.ndarray        # int32 [1 + max_legal, num_sym]
    ns: np.ndarray            # int64 [1 + max_legal]: N_S
    value: np.ndarray         # float64 [1 + max_legal]: V
    # the row that a candidate's indices and weights are computed from
    near: np.ndarray          # int64 [1 + max_legal]
    # the cells in which it differs from that one
    changed: np.ndarray       # uint32 [1 + max_legal, cells]
    num_changed: np.ndarray   # int64 [1 + max_legal]: how many; -1 = too many to spare look-ups
    difference: np.ndarray    # uint32 [cells]: how much their codes differ
    work: np.ndarray          # uint32 [2, features]: working memory of `distinct_indices`
    moves: np.ndarray         # int32 [max_legal]
    path: np.ndarray          # int32 [start_plies]: actions to the start position
    reward: np.ndarray        # float64 [players]
    entry_weight: np.ndarray  # float32 or float64 [features]: weights of one trace element
    net_change: np.ndarray    # of the same type [features]: their counters N ...
    abs_change: np.ndarray    # ... and A
    # step size factors of the weights of one trace element
    factor: np.ndarray        # float64 [features]
    # fmt: on


CHECKPOINT = (
    "rng",
    "counters",
    "abs_delta",
    "entry",
    "num_distinct",
    "num_boards",
    "slope",
    "head",
    "length",
)


def make_memory(game, net, trace_size: int, rng) -> Memory:
    """Allocate the memory of a run; `rng` becomes part of it."""
    n, size, num_features, num_sym = (
        game.players,
        trace_size + 1,
        len(net.arrays.offset),
        len(game.symmetries),
    )
    rows, precision = 1 + game.max_legal, net.arrays.weights.dtype
    return Memory(
        rng=rng,
        counters=np.zeros(4, np.int64),
        abs_delta=np.zeros(1),
        entry=np.zeros((n, size, num_features), np.uint32),
        num_distinct=np.zeros((n, size), np.int64),
        num_boards=np.zeros((n, size), np.int64),
        slope=np.zeros((n, size)),
        head=np.zeros(n, np.int64),
        length=np.zeros(n, np.int64),
        has_last=np.zeros(n, bool),
        last_random=np.zeros(n, bool),
        r_last=np.zeros(n),
        state=np.zeros((rows, game.size), np.int32),
        cells=np.zeros((rows, game.cells), np.int32),
        index=np.zeros((rows, num_features), np.uint32),
        weight=np.zeros((rows, num_features), precision),
        boards=np.zeros((rows, num_sym), np.int32),
        ns=np.zeros(rows, np.int64),
        entry_weight=np.zeros(num_features, precision),
        net_change=np.zeros(num_features, precision),
        abs_change=np.zeros(num_features, precision),
        value=np.zeros(rows),
        near=np.zeros(rows, np.int64),
        changed=np.zeros((rows, game.cells), np.uint32),
        num_changed=np.zeros(rows, np.int64),
        difference=np.zeros(game.cells, np.uint32),
        work=np.zeros((2, num_features), np.uint32),
        moves=np.zeros(game.max_legal, np.int32),
        path=np.zeros(max(1, game.rules.start_plies), np.int32),
        reward=np.zeros(n),
        factor=np.zeros(num_features),
    )
