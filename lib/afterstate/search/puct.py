"""PUCT: the iterations of the search that wraps a trained agent at test time, on a tree of arrays.

Algorithm 1 and Eqs. (1), (2) of [scheiermann2022], for one or two players, with or without chance.
``puct_search.py`` makes searches of it and ``wrapped.py`` a player.

The tree is told in ``puct_tree.py``.

Values belong to players: what comes back from a leaf is one number for each player, and a slot adds
up that of the player who chooses there. So a sign changes exactly where the player does, and
nothing has to be told of passes and extra turns.

Where a Python function gives the values, :func:`iterate` returns MISSING at every leaf and is
called again with them.
"""

import numpy as np

from ..games.calls import (
    call_chance,
    call_legal,
    call_outcome,
    call_outcomes,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from ..kernel.compile import kernel
from ..kernel.functions import exp
from .puct_leaves import score_children, value_of_state
from .puct_tree import (
    ANSWERED,
    DONE,
    END,
    FULL,
    LENGTH,
    LINEAR,
    MISSING,
    NEXT,
    NONE,
    PASS,
    READY,
    ROLLOUT,
    ROOT,
    SHARED,
    SOFTMAX,
    STATE,
    TERMINAL,
    new_node,
    open_block,
    room_for,
    same_state,
)
from .uct import rollout

# ------------------------------------------------------------ going down


@kernel
def select_child(tree, par, node):
    """Return the slot with the greatest W/N + U, the first one of equals.

    Source: [scheiermann2022] Eqs. (1), (2). Deviations: D4, D5, D26.
    """
    width = par.c_puct * np.sqrt(par.epsilon + tree.total[node])
    first = np.int64(tree.first[node])
    best, top = first, tree.mean[first] + width * tree.pull[first]
    for slot in range(first + 1, first + tree.num_slots[node]):
        bound = tree.mean[slot] + width * tree.pull[slot]
        if bound > top:
            best, top = slot, bound
    return best


@kernel
def write_afterstate(rules, tree, node, slot, row):
    """Write the afterstate of a slot of `node` into a row of the states."""
    copy_into(tree.state[row], tree.state[node], rules.size)
    if tree.action[slot] != PASS:
        call_play(rules, tree.state[row], tree.action[slot])


@kernel
def drawn_outcome(rules, tree, par, node, slot, rng):
    """Draw a next state of an afterstate; return its node and whether it is new."""
    row = tree.used[1]
    write_afterstate(rules, tree, node, slot, row)
    call_chance(rules, tree.state[row], rng)
    child = np.int64(tree.node[slot])
    while child != NONE:
        if same_state(rules, tree, child, row):
            return child, False
        child = np.int64(tree.sibling[child])
    child = new_node(rules, tree, par, NONE)
    tree.sibling[child] = tree.node[slot]
    tree.node[slot] = child
    return child, True


@kernel
def enumerate_outcomes(rules, tree, par, node, slot, num_outcomes):
    """Make nodes of all next states of an afterstate, with their probabilities."""
    for k in range(num_outcomes):
        row = tree.used[1]
        write_afterstate(rules, tree, node, slot, row)
        probability = call_outcome(rules, tree.state[row], k)
        child = new_node(rules, tree, par, NONE)
        tree.chance[child], tree.sibling[child] = probability, tree.node[slot]
        tree.node[slot] = child


@kernel
def due_outcome(tree, slot):
    """Return the next state that has come up least for its probability, and count it.

    Of equals it is the first one.
    """
    visits = np.float64(tree.visits[slot])  # the first visit was to all of them
    child = due = np.int64(tree.node[slot])
    lack = tree.chance[due] * visits - tree.drawn[due]
    while tree.sibling[child] != NONE:
        child = np.int64(tree.sibling[child])
        own = tree.chance[child] * visits - tree.drawn[child]
        if own >= lack:  # the list is in reverse order
            due, lack = child, own
    tree.drawn[due] += 1
    return due


@kernel
def descend(rules, tree, work, par, rng):
    """Go down to what gives this iteration its value.

    That is new nodes, the end of a game, or the depth limit.

    The path is in `work`; the nodes whose value counts are ``progress[NEXT]`` to ``progress[END] -
    1``. Returns whether there was room.

    Source: [scheiermann2022] Alg. 1, lines 3-13. Deviations: D7.
    """
    progress = work.progress
    node, length, is_new = np.int64(ROOT), 0, tree.first[ROOT] == NONE
    last = node + 1
    if not room_for(rules, tree, work, 1):
        return False
    while not is_new and tree.player[node] != TERMINAL:
        slot = select_child(tree, par, node)
        work.path_node[length], work.path_slot[length] = node, slot
        length += 1
        if length > par.max_depth:
            last = node = np.int64(0)
            break
        if rules.chance == 0:
            child = np.int64(tree.node[slot])
            is_new = child == NONE
            if is_new:
                write_afterstate(rules, tree, node, slot, tree.used[1])
                child = new_node(rules, tree, par, node)
                tree.node[slot] = child
        elif not par.enumerated:
            child, is_new = drawn_outcome(rules, tree, par, node, slot, rng)
        elif tree.node[slot] != NONE:
            child = due_outcome(tree, slot)
        else:
            child, is_new = tree.used[1], True
            write_afterstate(rules, tree, node, slot, child)
            num_outcomes = call_outcomes(rules, tree.state[child])
            if not room_for(rules, tree, work, num_outcomes):
                for i in range(1, length):  # the same way comes again: do not count it twice
                    tree.drawn[work.path_node[i]] -= 1
                return False
            enumerate_outcomes(rules, tree, par, node, slot, num_outcomes)
        node = child
        last = tree.used[1] if is_new else node + 1
    progress[LENGTH], progress[NEXT], progress[END] = length, node, last
    progress[SHARED] = last - node > 1
    return True


# ------------------------------------------------------------ at the leaf


@kernel
def write_priors(par, table, n, first, prior):
    """Turn the values of `n` actions into prior probabilities.

    Source: [scheiermann2022] Sec. II-B and II-C. Deviations: D3.
    """
    low = top = table[0]
    for k in range(1, n):
        low, top = min(low, table[k]), max(top, table[k])
    total = 0.0
    for k in range(n):
        if par.prior == SOFTMAX:
            prior[first + k] = exp((table[k] - top) / par.temperature)
        elif par.prior == LINEAR and top > low:
            prior[first + k] = (table[k] - low) / (top - low)
        else:
            prior[first + k] = 1.0
        total += prior[first + k]
    for k in range(n):
        prior[first + k] /= total


@kernel
def expand(rules, net, eye, tree, work, par, node, rng):
    """Give a node its slots and priors, and write its value for every player into ``work.leaf``.

    Source: [scheiermann2022] Alg. 1, lines 5-9. Deviations: D2, D3, D9.
    """
    s, p = tree.state[node], call_player(rules, tree.state[node])
    n = call_legal(rules, s, work.moves)
    if not par.external:
        score_children(rules, net, eye, s, work.moves, n, par.gamma, work.table)
    best = -np.inf
    for k in range(n):
        work.table[k] = par.scale * (work.table[k] + par.step_reward)
        best = max(best, work.table[k])
    if tree.player[node] != p:  # a pass node
        work.moves[0], work.table[0], n = PASS, best, 1
    open_block(tree, par, node, work.moves, n)
    write_priors(par, work.table, n, tree.first[node], tree.prior)
    copy_into(tree.pull[tree.first[node] :], tree.prior[tree.first[node] :], n)
    if par.leaf_value == ROLLOUT:
        return play_out(rules, tree, work, par, node, rng)
    owner = p
    if par.leaf_value == STATE:
        owner = made_by(tree, work, p)
        if not par.external:
            work.own[0] = value_of_state(rules, net, eye, s, owner)
        best = par.scale * work.own[0]
    for q in range(rules.players):
        work.leaf[q] = best if q == owner else -best


@kernel
def made_by(tree, work, p):
    """Return the player who made the present leaf, where `p` is to move.

    At the root it is the other one.
    """
    length = work.progress[LENGTH]
    if length > 0:
        return np.int64(tree.player[work.path_node[length - 1]])
    return np.int64(1 - p) if work.leaf.shape[0] == 2 else np.int64(0)


@kernel
def play_out(rules, tree, work, par, node, rng):
    """Write the outcome of a random game from a node into ``work.leaf``.

    A game that is cut counts its score so far, as in ``uct.py``.
    """
    copy_into(work.state, tree.state[node], rules.size)
    plies = par.rollout_depth - work.progress[LENGTH]
    rollout(rules, work.state, work.moves, plies, rng)
    call_score(rules, work.state, work.leaf)
    for q in range(rules.players):
        before = tree.score[node, q] if par.path_rewards else 0.0
        work.leaf[q] = par.scale * (work.leaf[q] - before)


@kernel
def add_rewards(tree, par, value, parent, child):
    """Add what every player gets between two nodes to his discounted value.  Deviations: D10."""
    for q in range(value.shape[0]):
        reward = tree.score[child, q] - tree.score[parent, q]
        if q == tree.player[parent]:
            reward += par.step_reward
        value[q] = par.scale * reward + par.gamma * value[q]


@kernel
def add_leaf(rules, tree, work, par, node):
    """Add the value of a leaf to that of the iteration: its share of an expectation, or all of it.

    Source: [scheiermann2022] Alg. 1, lines 3-4.
    """
    progress, leaf = work.progress, work.leaf
    if tree.player[node] == TERMINAL:
        for q in range(rules.players):
            leaf[q] = 0.0 if par.path_rewards else par.scale * tree.score[node, q]
    if par.path_rewards and progress[LENGTH] > 0:
        add_rewards(tree, par, leaf, work.path_node[progress[LENGTH] - 1], node)
    share = tree.chance[node] if progress[SHARED] else 1.0
    for q in range(rules.players):
        work.value[q] += share * leaf[q]


# ------------------------------------------------------------ going up


@kernel
def backup(tree, work, par):
    """Add the value of the iteration to every slot of the path.

    Each slot gets the value for the player who chose it.

    Source: [scheiermann2022] Alg. 1, lines 2, 14-17. Deviations: D9.
    """
    value = work.value
    for i in range(work.progress[LENGTH] - 1, -1, -1):
        node, slot = work.path_node[i], work.path_slot[i]
        tree.total[node] += 1
        tree.visits[slot] += 1
        tree.sums[slot] += value[tree.player[node]]
        n = np.float64(tree.visits[slot])
        tree.mean[slot] = tree.sums[slot] / n
        tree.pull[slot] = tree.prior[slot] / (1.0 + n)
        if par.path_rewards and i > 0:
            add_rewards(tree, par, value, work.path_node[i - 1], node)


@kernel
def iterate(rules, net, eye, tree, work, par, iterations, rng):
    """Go on until so many iterations are done; return READY, or why it must be called again.

    MISSING: the values of ``work.state`` are wanted in ``work.table``, then ``progress[ANSWERED] =
    1``. FULL: the tree needs more room.

    Source: [scheiermann2022] Alg. 1.
    """
    progress = work.progress
    while progress[DONE] < iterations:
        if progress[NEXT] == NONE:
            if not descend(rules, tree, work, par, rng):
                return FULL
            for q in range(rules.players):  # at the depth limit it stays so
                beyond = progress[NEXT] == progress[END]
                chose = beyond and q == tree.player[work.path_node[progress[LENGTH] - 1]]
                work.value[q] = 0.0 if not beyond else -1.0 if chose else 1.0
        while progress[NEXT] < progress[END]:
            node = progress[NEXT]
            if tree.player[node] != TERMINAL:
                if par.external and progress[ANSWERED] == 0:
                    copy_into(work.state, tree.state[node], rules.size)
                    return MISSING
                expand(rules, net, eye, tree, work, par, node, rng)
                progress[ANSWERED] = 0
            add_leaf(rules, tree, work, par, node)
            progress[NEXT] += 1
        backup(tree, work, par)
        progress[NEXT] = NONE
        progress[DONE] += 1
    return READY
