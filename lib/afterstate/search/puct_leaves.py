"""What a PUCT search asks of an n-tuple network at a leaf: the values of all its actions.

They are computed in one pass with shared features.

The candidate boards differ little from the leaf's board and from each other, so indices and weights
are computed from the nearest board that is there already (``ntuple.shift_features``,
``ntuple.look_up_changed``). The numbers are bit for bit those of ``Network.action_values``.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_board, call_over, call_play, call_player, call_score, copy_into
from ..kernel.compile import kernel
from ..networks.candidates import NOW, look_up_candidates, nearest_board
from ..networks.lookup import (
    Net,
    activation_of,
    changed_cells,
    clamped,
    look_up,
    shift_features,
    sigma,
    symmetric_boards,
    value_of,
)


class Eye(NamedTuple):
    """Working memory: a row for the board of the leaf, and one for each candidate.

    Terminal candidates need none.
    """

    # fmt: off
    state: np.ndarray  # int32 [size]: a candidate
    cells: np.ndarray  # int32 [1 + max_legal, cells]
    index: np.ndarray  # uint32 [1 + max_legal, features]
    weight: np.ndarray  # float32 or float64 [1 + max_legal, features]: the mover's, at `index`
    boards: np.ndarray  # int32 [1 + max_legal, num_sym]: the symmetries that count
    ns: np.ndarray  # int64 [1 + max_legal]: how many
    near: np.ndarray  # int64 [1 + max_legal]: the row that a candidate is computed from
    changed: np.ndarray  # uint32 [1 + max_legal, cells]: where it differs from that one
    num_changed: np.ndarray  # int64 [1 + max_legal]: how many; -1 = too many to spare look-ups
    difference: np.ndarray  # uint32 [cells]: how much their codes differ
    which: np.ndarray  # int64 [1 + max_legal]: the number of the row's action
    value: np.ndarray  # float64 [1 + max_legal]: V
    reward: np.ndarray  # float64 [players]
    # fmt: on


def make_eye(game, net) -> Eye:
    """Allocate the working memory for a network's arrays (``Network.arrays``)."""
    rows, num_features = 1 + game.max_legal, len(net.offset)
    return Eye(
        state=np.zeros(game.size, np.int32),
        cells=np.zeros((rows, game.cells), np.int32),
        index=np.zeros((rows, num_features), np.uint32),
        weight=np.zeros((rows, num_features), net.weights.dtype),
        boards=np.zeros((rows, len(net.symmetries)), np.int32),
        ns=np.zeros(rows, np.int64),
        near=np.zeros(rows, np.int64),
        changed=np.zeros((rows, game.cells), np.uint32),
        num_changed=np.zeros(rows, np.int64),
        difference=np.zeros(game.cells, np.uint32),
        which=np.zeros(rows, np.int64),
        value=np.zeros(rows),
        reward=np.zeros(game.players),
    )


def no_net(game) -> Net:
    """Return the arrays of a network that nobody asks.

    Kernels take them where a Python function gives the values.
    """
    one, no_feature = np.zeros(1, np.float32), np.zeros(0, np.uint32)
    return Net(
        weights=one,
        counters=one[:0],
        stride=np.zeros((game.cells, 1), np.uint32),
        offset=np.zeros(1, np.uint32),
        readers=no_feature,
        readers_of=np.zeros(game.cells + 1, np.uint64),
        num_codes=game.num_codes,
        symmetries=game.symmetries,
        far=False,
        few=0,
        num_tuples=1,
        set_size=1,
        sigmoid=True,
        distinct=True,
        num_actions=0,
        action_symmetries=np.zeros((len(game.symmetries), 0), np.int32),
    )


@kernel
def score_children(rules, net, eye, s, moves, n, gamma, table):
    """Write r + gamma V(afterstate) of the `n` moves of `s` into `table`.

    A terminal afterstate has V = 0.

    Source: [scheiermann2022] Sec. II-C; [konen2021] Sec. 2.6.
    """
    p = call_player(rules, s)
    call_score(rules, s, eye.reward)
    before = eye.reward[p]
    look_at(rules, net, eye, s)
    rows = np.int64(0)
    for k in range(n):
        copy_into(eye.state, s, rules.size)
        call_play(rules, eye.state, moves[k])
        call_score(rules, eye.state, eye.reward)
        table[k] = eye.reward[p] - before
        if rules.chance == 0 and call_over(rules, eye.state):
            continue
        rows += 1
        eye.which[rows] = k
        add_candidate(rules, net, eye, rows)
    look_up_candidates(net, eye, p, rows)
    for row in range(1, rows + 1):
        eye.value[row] = activation_of(net, eye.weight[row], eye.boards[row], eye.ns[row])
    for row in range(1, rows + 1):  # a loop of its own is vector arithmetic
        eye.value[row] = sigma(net, eye.value[row])
    for row in range(1, rows + 1):
        table[eye.which[row]] += gamma * eye.value[row]


@kernel
def look_at(rules, net, eye, s):
    """Make the board and the indices of the leaf.

    They are those of ``lookup.features``, with sums that stay in registers.
    """
    cells = eye.cells[NOW]
    call_board(rules, s, cells)
    n = np.uint64(0)
    for c in range(cells.shape[0]):
        code = clamped(net, cells, c)
        # without a branch: overwritten by the next one if the code is 0
        eye.changed[NOW, n], eye.difference[n] = c, code
        n += np.uint64(code != 0)
    shift_features(net, net.offset, eye.changed[NOW], eye.difference, np.int64(n), eye.index[NOW])


@kernel
def add_candidate(rules, net, eye, row):
    """Make the board, the indices and the symmetric boards of the candidate in ``eye.state``."""
    call_board(rules, eye.state, eye.cells[row])
    near = eye.near[row] = nearest_board(eye, row)
    n = changed_cells(net, eye.cells[near], eye.cells[row], eye.changed[row], eye.difference)
    shift_features(net, eye.index[near], eye.changed[row], eye.difference, n, eye.index[row])
    eye.num_changed[row] = n if n < net.few else -1
    eye.ns[row] = symmetric_boards(net, eye.cells[row], eye.index[row], eye.boards[row])


@kernel
def value_of_state(rules, net, eye, s, p):
    """Return V of the state itself for player `p`, who has made it."""
    look_at(rules, net, eye, s)
    look_up(net, p, eye.index[NOW], eye.index.shape[1], eye.weight[NOW])
    ns = symmetric_boards(net, eye.cells[NOW], eye.index[NOW], eye.boards[NOW])
    return value_of(net, eye.weight[NOW], eye.boards[NOW], ns)
