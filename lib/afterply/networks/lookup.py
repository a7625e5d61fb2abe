"""Kernels of n-tuple networks: tables addressed by the codes of a few cells, over all symmetries.

A network of V has one weight set per player. Its value for the player who made afterstate s' is

    V(s') = sigma( sum over tuples i, over boards q in S(s'), of w_i[Ind_i(q)] )

which is Eq. (2) of [konen2021]. A *feature* is one tuple on one symmetric board, and has the number
f = symmetry * num_tuples + tuple. Its table index is linear in the cell codes, so one changed cell
shifts all indices::

    index[f] = offset[f] + sum over cells c of code[c] * stride[c, f]

A network of Q has one weight set per player and action. It reads the state s before the move, and
sums over the set S(s, a) of symmetric boards q with their symmetric actions b. The action is the
least significant digit of every index: the weight of action b stands at ``index[f] + b``.

*Candidates* are the afterstates of a position. They stand in the rows 1, 2 ... of a memory,
``CANDIDATES``. Its row 0 is the position itself, or in a search what the candidates have in common.
The indices of a candidate are computed from those of the board that it differs least from; where
moves change much of a small board, they are computed *anew*, from no other board.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_board, call_over, call_play, call_player, call_score, copy_into
from ..kernel.compile import kernel
from ..kernel.functions import (
    FOUR,
    LANES,
    add_multiples,
    add_rows_of_four,
    four_sums,
    prefetch,
    tanh,
)

# places of N and A in a weight's pair of temporal coherence counters
NET_CHANGE = np.uint64(0)
ABS_CHANGE = np.uint64(1)
TABLES = np.uint64(8)  # in which all rows are looked up before the next ones
NOW = 0  # row of the position in a memory of candidates
# fmt: off
CANDIDATES = {
    "cells":       ("int32", "rows", "cells"),
    "index":       ("uint32", "rows", "features"),
    "weight":      ("weights", "rows", "features"),  # the mover's weights at `index`
    "boards":      ("int32", "rows", "symmetries"),
    "ns":          ("int64", "rows"),                # N_S
    "value":       ("float64", "rows"),              # V
    "near":        ("int64", "rows"),                # the row that this one is computed from ...
    "changed":     ("uint32", "rows", "cells"),      # ... the cells in which they differ ...
    "num_changed": ("int64", "rows"),                # ... and their number; -1 = too many
    "difference":  ("uint32", "cells"),              # by how much changed cells differ
}
# fmt: on


class Net(NamedTuple):
    """What kernels know of a network: tables of all players, one after the other."""

    weights: np.ndarray  # float32 or float64 [players * set_size]
    counters: np.ndarray  # the same type [2 * players * set_size], N, A of each weight; or empty
    stride: np.ndarray  # uint32 [cells, features]
    offset: np.ndarray  # uint32 [features]
    readers: np.ndarray  # uint32 [*]: the features that read cell 0, then cell 1 ...
    readers_of: np.ndarray  # uint64 [cells + 1]: where in `readers` a cell's features begin
    # int32 [cells]: number of codes of each cell; that of the stage is 1 until it is told apart
    num_codes: np.ndarray
    symmetries: np.ndarray  # int32 [num_sym, cells]
    far: bool  # the tables are larger than the caches: prefetch weights
    few: int  # changed cells up to which `look_up_changed` saves look-ups; 0 = never
    anew: bool  # computing all indices of a board costs no more than shifting those of another
    whole: bool  # the first n-tuple reads every cell, so boards with one index are equal
    num_tuples: int
    set_size: int  # table entries of one player, of all actions together for Q
    player_step: int  # from one player's tables to those of the next; 0 = all have the same
    sigmoid: bool  # sigma = tanh, else the identity
    distinct: bool  # S(s') holds each symmetric board once (D3), else as often as it occurs
    num_actions: int  # weight sets per player of a network of Q; 0 = a network of V
    action_symmetries: np.ndarray  # int32 [num_sym, num_actions]: what an action becomes


@kernel
def clamped(net, cells, c):
    """Return the code of a cell, clamped to its range so that no index can leave its table."""
    return np.uint32(max(0, min(cells[c], net.num_codes[c] - 1)))


@kernel
def features(net, cells, index):
    """Write the table indices of all features for a board into ``index`` (uint32[features])."""
    copy_into(index, net.offset, index.shape[0])
    for c in range(cells.shape[0]):
        code = clamped(net, cells, c)
        if code != 0:
            for f in range(index.shape[0]):
                index[f] += code * net.stride[c, f]


@kernel
def changed_cells(net, cells_from, cells, changed, difference):
    """Write where two boards differ and by how much, modulo 2**32; return the number of cells."""
    n = np.uint64(0)
    for c in range(cells.shape[0]):
        changed[n] = c  # without a branch: overwritten by the next one if this one is the same
        n += np.uint64(cells[c] != cells_from[c])
    for k in range(n):
        difference[k] = clamped(net, cells, changed[k]) - clamped(net, cells_from, changed[k])
    return np.int64(n)


@kernel
def shift_features(net, index_from, changed, difference, n, index):
    """Write :func:`features` from those of a board with `n` :func:`changed_cells`."""
    if index.shape[0] >= LANES:
        add_multiples(index, index_from, net.stride, changed, difference, n)
        return
    for f in range(index.shape[0]):
        total = index_from[f]
        for k in range(n):
            total += difference[k] * net.stride[changed[k], f]
        index[f] = total


@kernel
def shift_board(net, mem, near, row):
    """Write a row's indices from those of row `near`, or anew; return how many cells differ."""
    changed, cells = mem.changed[row], mem.cells[row]
    if net.anew:  # from an empty board
        n = cells.shape[0]
        for c in range(n):
            changed[c], mem.difference[c] = c, clamped(net, cells, c)
        shift_features(net, net.offset, changed, mem.difference, n, mem.index[row])
        return n
    n = changed_cells(net, mem.cells[near], cells, changed, mem.difference)
    shift_features(net, mem.index[near], changed, mem.difference, n, mem.index[row])
    return n


@kernel
def go_on(net, mem, row):
    """Make the board in a row that of NOW, and compute its :func:`features` from the old ones."""
    shift_board(net, mem, NOW, row)
    copy_into(mem.cells[NOW], mem.cells[row], mem.cells.shape[1])
    copy_into(mem.index[NOW], mem.index[row], mem.index.shape[1])


@kernel
def _same_board(net, cells, index, j, k):
    # If boards differ, their first table indices nearly always do.
    if index[j * net.num_tuples] != index[k * net.num_tuples]:
        return False
    if net.whole:
        return True
    for c in range(cells.shape[0]):
        if cells[net.symmetries[j, c]] != cells[net.symmetries[k, c]]:
            return False
    return True


@kernel
def symmetric_boards(net, cells, index, boards):
    """Write the symmetries in S(s'), return N_S. Source: [konen2021] Eq. (2). Deviations: D3."""
    num = net.symmetries.shape[0]
    unmoved = 0
    for k in range(num):
        boards[k] = k
        if k > 0 and net.distinct and _same_board(net, cells, index, 0, k):
            unmoved += 1
    if unmoved == 0:
        return num
    n = 0
    for k in range(num):
        for j in range(n):
            if _same_board(net, cells, index, boards[j], k):
                break
        else:
            boards[n] = k
            n += 1
    return n


@kernel
def sigma(net, activation):
    """Return the network's output for a sum of weights.  Source: [konen2021] Eq. (2)."""
    return tanh(activation) if net.sigmoid else activation


@kernel
def sigma_slope(net, value):
    """Return the slope of sigma where its output is `value`.  Source: [konen2021] Eq. (3)."""
    return 1.0 - value * value if net.sigmoid else 1.0


@kernel
def look_up(net, player, index, n, weight):
    """Copy the player's weights at ``index[:n]`` into `weight`."""
    base = np.uint64(player) * np.uint64(net.player_step)
    for f in range(n):
        weight[f] = net.weights[base + index[f]]


@kernel
def look_up_many(net, player, mem, n):
    """Look up all features of those rows, 1 to `n`, in which too many cells differ."""
    base, m = np.uint64(player) * np.uint64(net.player_step), np.uint64(net.num_tuples)
    for first in range(np.uint64(0), m, TABLES):  # an entry that several rows read is still near
        last = min(first + TABLES, m)
        for row in range(1, n + 1):
            if mem.num_changed[row] >= 0:
                continue
            index, weight = mem.index[row], mem.weight[row]
            for b in range(np.uint64(0), index.shape[0], m):
                for f in range(b + first, b + last):
                    weight[f] = net.weights[base + index[f]]


@kernel
def look_up_changed(net, player, weight_from, changed, n, index, weight):
    """Look up only the features that read one of the `n` cells `changed`, and copy the others."""
    base = np.uint64(player) * np.uint64(net.player_step)
    copy_into(weight, weight_from, index.shape[0])
    for i in range(n):
        for k in range(net.readers_of[changed[i]], net.readers_of[changed[i] + np.uint64(1)]):
            f = net.readers[k]
            weight[f] = net.weights[base + index[f]]


@kernel
def fetch(net, player, changed, n, index):
    """Prefetch the weights of the features that read one of the `n` cells, or of all (n < 0)."""
    base = np.uint64(player) * np.uint64(net.player_step)
    if n < 0:
        for f in range(index.shape[0]):
            prefetch(net.weights, base + index[f])
    for i in range(n):
        for k in range(net.readers_of[changed[i]], net.readers_of[changed[i] + np.uint64(1)]):
            prefetch(net.weights, base + index[net.readers[k]])


@kernel
def sum_weights(weight, first, n):
    """Return the sum of ``weight[first : first + n]``: four partial sums in a fixed order."""
    s0, s1, s2, s3 = four_sums(weight, first, n)
    for i in range(first + (n & ~3), first + n):
        s0 += weight[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def activation_of(net, weight, boards, num_boards):
    """Return the sum in V(s') = sigma(sum), over `boards`.  Source: [konen2021] Eq. (2)."""
    m, total = net.num_tuples, 0.0
    for b in range(num_boards):
        total += sum_weights(weight, np.int64(boards[b]) * m, m)
    return total


@kernel
def distinct_indices(net, index, boards, num_boards, work, entry):
    """Write the indices of s': each once, then repeats. Source: [konen2021] Alg. 7, lines 5-9."""
    # unsigned: LLVM makes vector code only of accesses that cannot count from the end
    m, num, one = np.uint64(net.num_tuples), np.uint64(num_boards), np.uint64(1)
    total = num * m
    if num == one:  # one board activates each table once
        first = np.uint64(boards[0]) * m
        for i in range(m):
            entry[i] = index[first + i]
        return np.int64(m)
    if num == np.uint64(2):  # a comparison for each pair
        first, other = np.uint64(boards[0]) * m, np.uint64(boards[1]) * m
        n, last = np.uint64(0), total - one
        for i in range(m):
            x, y = index[first + i], index[other + i]
            entry[last] = y
            entry[n], entry[n + one] = x, y
            n += one + np.uint64(x != y)
            last -= np.uint64(x == y)
        return np.int64(n)
    every = np.uint64(net.symmetries.shape[0])
    if num == every:  # as a rule; in linked code a constant, so that loops have fixed lengths
        return distinct_of_many(m, index, boards, every, work, entry)
    return distinct_of_many(m, index, boards, num, work, entry)


@kernel
def distinct_of_many(m, index, boards, num, work, entry):
    """Write :func:`distinct_indices` of `num` boards with `m` indices each."""
    own, again, total, one = work[0], work[1], num * m, np.uint64(1)
    for b in range(num):
        first, at = np.uint64(boards[b]) * m, b * m
        for i in range(m):
            own[at + i] = index[first + i]
    for f in range(total):
        again[f] = 0
    for shift in range(m, total, m):  # all pairs of boards so far apart, at once
        for f in range(total - shift):
            again[f + shift] |= np.uint32(own[f + shift] == own[f])
    repeats = np.uint32(0)
    for f in range(total):
        repeats |= again[f]
    if repeats == 0:  # as a rule
        for i in range(m):
            for b in range(num):
                entry[i * num + b] = own[b * m + i]
        return np.int64(total)
    n, last = np.uint64(0), total - one
    for i in range(m):
        # without a branch: of the two places one is overwritten by the next index
        for f in range(i, total, m):
            entry[n] = entry[last] = own[f]
            n += one - np.uint64(again[f])
            last -= np.uint64(again[f])
    return np.int64(n)


@kernel
def repeated_pair(net, cells, index, action, k):
    """Return whether an earlier symmetry maps (s, a) to the same pair as symmetry `k`."""
    for j in range(k):
        same = net.action_symmetries[j, action] == net.action_symmetries[k, action]
        if same and _same_board(net, cells, index, j, k):
            return True
    return False


@kernel
def symmetric_pairs(net, cells, index, action, boards):
    """Write the symmetries that give S(s, a) into `boards`, return N_S. Deviations: D3, D46."""
    n = 0
    for k in range(net.symmetries.shape[0]):
        if not net.distinct or not repeated_pair(net, cells, index, action, k):
            boards[n] = k
            n += 1
    return n


@kernel
def sum_of_action(net, base, index, first, n, action):
    """Return the sum of the weights of `action` in some features, as :func:`sum_weights` does."""
    weights, action, first = net.weights, np.uint64(action), np.uint64(first)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    base += action
    whole = first + np.uint64(n & ~3)
    for f in range(first, whole, np.uint64(4)):
        s0 += weights[base + index[f]]
        s1 += weights[base + index[f + np.uint64(1)]]
        s2 += weights[base + index[f + np.uint64(2)]]
        s3 += weights[base + index[f + np.uint64(3)]]
    for f in range(whole, first + np.uint64(n)):
        s0 += weights[base + index[f]]
    return (s0 + s1) + (s2 + s3)


@kernel
def sum_one_by_one(net, base, cells, index, different, moves, n, out):
    """Write the sums of `n` actions over their symmetric pairs, all of them `different` or not."""
    m, num = net.num_tuples, net.symmetries.shape[0]
    for j in range(n):
        total = 0.0
        for k in range(num):
            if different or not repeated_pair(net, cells, index, moves[j], k):
                b = net.action_symmetries[k, moves[j]]
                total += sum_of_action(net, base, index, k * m, m, b)
        out[j] = total


@kernel
def sum_in_fours(net, base, cells, index, different, moves, n, sums, out):
    """Write what :func:`sum_one_by_one` does, from `sums` of FOUR neighbouring actions at once."""
    m, num = net.num_tuples, net.symmetries.shape[0]
    for j in range(n):
        out[j] = 0.0
    for k in range(num):
        begin = np.int64(-FOUR)  # no action is among those whose sums are known
        for j in range(n):
            if different or not repeated_pair(net, cells, index, moves[j], k):
                b = np.int64(net.action_symmetries[k, moves[j]])
                if not begin <= b < begin + FOUR:
                    begin = min(b // FOUR * FOUR, net.num_actions - FOUR)
                    first = base + np.uint64(begin)
                    add_rows_of_four(net.weights, first, index, k * m, m, sums)
                out[j] += sums[b - begin]


@kernel
def look_up_actions(net, player, cells, index, moves, n, boards, sums, out):
    """Write Q(s, a) of `n` actions. Source: [konen2021] Eq. (2), Sec. 2.6. Deviations: D3, D46."""
    base = np.uint64(player) * np.uint64(net.player_step)
    different = symmetric_boards(net, cells, index, boards) == net.symmetries.shape[0]
    if net.num_actions < FOUR or net.num_tuples < FOUR:
        sum_one_by_one(net, base, cells, index, different, moves, n, out)
    else:
        sum_in_fours(net, base, cells, index, different, moves, n, sums, out)
    for j in range(n):
        out[j] = sigma(net, out[j])


@kernel
def fetch_actions(net, player, index, moves, n):
    """Prefetch the weights of the first and the last action, and with them those between."""
    base = np.uint64(player) * np.uint64(net.player_step)
    for k in range(net.symmetries.shape[0]):
        one, other = net.action_symmetries[k, moves[0]], net.action_symmetries[k, moves[n - 1]]
        for f in range(k * net.num_tuples, (k + 1) * net.num_tuples):
            prefetch(net.weights, base + index[f] + np.uint64(one))
            prefetch(net.weights, base + index[f] + np.uint64(other))


@kernel
def activation_at(net, player, index, boards, num_boards):
    """Return :func:`activation_of` a board, and look up its weights on the way."""
    base, m, total = np.uint64(player) * np.uint64(net.player_step), net.num_tuples, 0.0
    for b in range(num_boards):
        total += sum_of_action(net, base, index, np.int64(boards[b]) * m, m, 0)
    return total


@kernel
def value_of(net, player, cells, index, boards):
    """Return V(s') for the player who made s', and its features.  Source: [konen2021] Eq. (2)."""
    features(net, cells, index)
    num_boards = symmetric_boards(net, cells, index, boards)
    return sigma(net, activation_at(net, player, index, boards, num_boards))


@kernel
def read_action_values(rules, net, s, moves, n, gamma, work, out):
    """Write Q(s, a) or r + gamma V(afterstate) of the `n` moves into `out`; V = 0 at the end."""
    after, r, cells, index, boards, sums = work
    player = call_player(rules, s)
    if net.num_actions > 0:
        call_board(rules, s, cells)
        features(net, cells, index)
        look_up_actions(net, player, cells, index, moves, n, boards, sums, out)
        return
    call_score(rules, s, r)
    before = r[player]
    for k in range(n):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[k])
        call_score(rules, after, r)
        out[k] = r[player] - before
        if rules.chance == 0 and call_over(rules, after):
            continue
        call_board(rules, after, cells)
        out[k] += gamma * value_of(net, player, cells, index, boards)


@kernel
def nearest_board(net, mem, row):
    """Return the row that a candidate is computed from: the position, or the candidate before."""
    # Where a move changes much of the board, as in Othello, two candidates may have more in common.
    if row == 1 or mem.num_changed[1] >= 0 or net.few == 0:
        return NOW
    cells, before, now = mem.cells[row], mem.cells[row - 1], mem.cells[NOW]
    more = np.int32(0)  # as wide as the codes: vector arithmetic
    for c in range(cells.shape[0]):
        more += np.int32(cells[c] != before[c]) - np.int32(cells[c] != now[c])
    return row - 1 if more < 0 else NOW


@kernel
def add_candidate(net, mem, row):
    """Compute the indices and the symmetric boards of the candidate whose board is in a row."""
    near = mem.near[row] = nearest_board(net, mem, row)
    n = shift_board(net, mem, near, row)
    mem.num_changed[row] = n if n <= net.few else -1
    mem.ns[row] = symmetric_boards(net, mem.cells[row], mem.index[row], mem.boards[row])


@kernel
def value_candidates(net, mem, p, n):
    """Write V of rows 1 to `n`; a row that differs little from another copies its weights."""
    known = many = False
    for row in range(1, n + 1):
        many |= mem.num_changed[row] < 0
    if many and net.few > 0:
        look_up_many(net, p, mem, n)
    for row in range(1, n + 1):
        index, weight = mem.index[row], mem.weight[row]
        near, few = mem.near[row], mem.num_changed[row]
        if net.few == 0:
            mem.value[row] = activation_at(net, p, index, mem.boards[row], mem.ns[row])
            continue
        if few >= 0:
            if near == NOW and not known:
                look_up(net, p, mem.index[NOW], index.shape[0], mem.weight[NOW])
                known = True
            look_up_changed(net, p, mem.weight[near], mem.changed[row], few, index, weight)
        mem.value[row] = activation_of(net, weight, mem.boards[row], mem.ns[row])
    for row in range(1, n + 1):  # a loop of its own is vector arithmetic
        mem.value[row] = sigma(net, mem.value[row])
