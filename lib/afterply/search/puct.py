"""PUCT, the search that wraps a trained agent at test time, on a tree of arrays.

Algorithm 1 and Eqs. (1), (2) of [scheiermann2022], with or without chance, and for any number of
players. A network says what a leaf is worth for the player who made the afterstate. With more than
two players, the next moves say what it is worth for the others, or they share the rest.

The tree is a struct of arrays. A *node* is a state that the search has reached. It owns a block of
neighbouring *slots*, one for each legal action, with W, N and P. A slot leads to a node. In a game
of chance it stands for the afterstate and leads to a linked list of nodes, one for each next state
that has occurred::

    deterministic    node --block--> slot slot slot ...      slot --> node
    with chance      node --block--> slot slot slot ...      slot --> node -> node -> ...

Nodes and blocks stand in the order in which they were made, so re-rooting closes the gaps in place.
A leaf returns one number for each player, and each slot on the path adds up that of the player who
chooses there. So passes and extra turns need no special case. The values of a leaf are bit for bit
those of ``Network.action_values``.

`max_depth` counts actions from the root of the present search. So a kept tree grows by as many
levels as moves were played, and slots beyond the former limit keep their visits with the value -1.
Beyond the limit no state is looked at, not even whether it ends the game (D7).
"""

import sys
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..checks import boolean, number, one_of, whole
from ..games import calls
from ..games.conformance import LESS, TOLERANCE, mean_total, not_opposite
from ..games.game import Game, check_game
from ..kernel.compile import kernel
from ..kernel.functions import exp
from ..kernel.link import Linked
from ..kernel.random import new_rng
from ..networks import lookup
from ..networks.ntuple import Network
from ..processes import PerThread, memory
from .mcts import CHUNK, MAX_ITERATIONS, NONE, ROOT, TERMINAL, depth_limit, running_state

__all__ = ["Found", "Search", "Step"]

NOW = lookup.NOW  # row of a board near to a leaf's children
NEXT_NOW = -1  # row of the board that becomes the one in NOW
ROLLOUT_DEPTH = 10_000  # actions from the root after which a random game is cut
ROUND_DEPTH = 100  # actions from a leaf after which a round is cut
PASS = -2  # action of the only slot of a pass node
READY, MISSING, FULL = range(3)  # why `iterate` stops
DONE, LENGTH, NEXT, END, SHARED, ANSWERED, WANTED = range(7)  # places in Work.progress
# The words of settings, and below them their numbers for kernels.
PRIORS = "softmax", "linear", "uniform"
LEAF_VALUES = "best action", "state", "rollout"
CHANCE = "drawn", "enumerated"
OTHERS = "next", "share"
SOFTMAX, LINEAR, UNIFORM = range(3)
BEST_ACTION, STATE, ROLLOUT = range(3)
DRAWN, ENUMERATED = range(2)
BY_ROUND, SHARED_OUT = range(2)
MOST = sys.float_info.max
LEAST = sys.float_info.min
SETTINGS = {  # default, check and its further arguments; ``players.Wrapped`` explains them
    "c_puct": (1.0, number, 0.0, MOST),
    "epsilon": (1e-8, number, 0.0, 1.0),
    "gamma": (1.0, number, 0.0, 1.0),
    "scale": (None, number, LEAST, MOST),
    "step_reward": (0.0, number, -MOST, MOST),
    "max_depth": (None, depth_limit),
    "prior": ("softmax", one_of, PRIORS),
    "leaf_value": ("best action", one_of, LEAF_VALUES),
    "path_rewards": (True, boolean),
    "pass_nodes": (False, boolean),
    "chance": ("drawn", one_of, CHANCE),
    "unvisited": (0.0, number, -MOST, MOST),
    "others": ("next", one_of, OTHERS),
}

# fmt: off
TREE = {
    "action":      ("int32", "slots"),
    "prior":       ("float64", "slots"),              # P
    "visits":      ("int32", "slots"),                # N
    "sums":        ("float64", "slots"),              # W, in the view of the player who chooses
    "mean":        ("float64", "slots"),              # W / N; at first Par.unvisited
    "pull":        ("float64", "slots"),              # P / (1 + N)
    "node":        ("int32", "slots"),                # where it leads, the latest one, or NONE
    "state":       ("int32", "nodes", "size"),
    "player":      ("int32", "nodes"),                # to move, or TERMINAL
    "first":       ("int32", "nodes"),                # first slot, or NONE
    "num_slots":   ("int32", "nodes"),
    "total":       ("int32", "nodes"),                # sum of N over the slots
    "score":       ("float64", "nodes", "players"),   # cumulative reward
    "sibling":     ("int32", "nodes"),                # next state of the same afterstate, or NONE
    "drawn":       ("int32", "nodes"),                # visits after the first, if enumerated
    "chance":      ("float64", "nodes"),              # its probability
    "used":        ("int64", 2),                      # slots and nodes in use
}
WORK = {
    "moves":       ("int32", "max_legal"),
    "table":       ("float64", "max_legal"),          # r + gamma V of the actions of a leaf
    "state":       ("int32", "size"),                 # a leaf that waits; the end of a random game
    "own":         ("float64", 1),                    # V of that leaf itself
    "value":       ("float64", "players"),            # what goes back along the path
    "leaf":        ("float64", "players"),            # value of one leaf
    "known":       ("bool", "players"),               # whether a player's value is there
    "path_node":   ("int32", "path"),
    "path_slot":   ("int32", "path"),
    "progress":    ("int64", 7),
}
EYE = {  # for the values at a leaf: rows NOW and NEXT_NOW, and one for each candidate
    **lookup.CANDIDATES,
    "state":       ("int32", "size"),                 # a candidate
    "which":       ("int64", "rows"),                 # the number of the row's action
    "reward":      ("float64", "players"),
}
# fmt: on
Tree = namedtuple("Tree", TREE)
Work = namedtuple("Work", WORK)
Eye = namedtuple("Eye", EYE)
# The settings, with words as their numbers. `external`: bool, a Python function gives the values;
# `total`: float, the sum of all rewards in a game for three or more players, times the scale.
Par = namedtuple("Par", [*SETTINGS, "external", "total"])


@kernel
def room_for(rules, tree, work, nodes):
    """Return whether this number of nodes with all their slots fits, and note the number."""
    work.progress[WANTED] = nodes
    slots = tree.used[0] + nodes * rules.max_legal
    return tree.used[1] + nodes <= tree.player.shape[0] and slots <= tree.action.shape[0]


@kernel
def new_node(rules, tree, par, parent):
    """Make a node of the state in the first free row; return its number."""
    node = tree.used[1]
    tree.used[1] = node + 1
    s = tree.state[node]
    tree.first[node] = tree.sibling[node] = NONE
    tree.num_slots[node] = tree.total[node] = tree.drawn[node] = 0
    tree.chance[node] = 1.0
    calls.call_score(rules, s, tree.score[node])
    if calls.call_over(rules, s):
        tree.player[node] = TERMINAL
        return node
    tree.player[node] = calls.call_player(rules, s)
    if par.pass_nodes and parent != NONE and tree.player[node] == tree.player[parent]:
        tree.player[node] = 1 - tree.player[node]  # a pass node; who really moves comes next
    return node


@kernel
def same_state(rules, tree, node, state):
    """Return whether a node holds this state."""
    for i in range(rules.size):
        if tree.state[node, i] != state[i]:
            return False
    return True


@kernel
def plant(rules, tree, work, par, state):
    """Make a tree of the root alone."""
    tree.used[0] = tree.used[1] = 0
    calls.copy_into(tree.state[0], state, rules.size)
    new_node(rules, tree, par, NONE)
    work.progress[NEXT] = NONE
    work.progress[ANSWERED] = 0


@kernel
def find_child(rules, tree, node, action, state):
    """Return the node that `action` has led to, if it holds this state, else NONE."""
    for slot in range(tree.first[node], tree.first[node] + tree.num_slots[node]):
        if tree.action[slot] == action or tree.action[slot] == PASS:
            child = np.int64(tree.node[slot])
            while child != NONE:
                if same_state(rules, tree, child, state):
                    return child
                child = np.int64(tree.sibling[child])
    return np.int64(NONE)


@kernel
def reroot(rules, tree, root, place):
    """Keep what is below a node, in order. Source: [scheiermann2022] Sec. II-B. Deviations: D8."""
    num_nodes = tree.used[1]
    for node in range(num_nodes):
        place[node] = NONE
    place[root], tree.sibling[root] = 0, NONE
    nodes = slots = np.int64(0)
    for node in range(root, num_nodes):
        if place[node] == NONE:
            continue
        place[node] = nodes
        slots = move_node(rules, tree, node, nodes, slots, place)
        nodes += 1
    for slot in range(slots):
        if tree.node[slot] != NONE:
            tree.node[slot] = place[tree.node[slot]]
    for node in range(nodes):
        if tree.sibling[node] != NONE:
            tree.sibling[node] = place[tree.sibling[node]]
    tree.used[0], tree.used[1] = slots, nodes


@kernel
def move_node(rules, tree, node, to, slots, place):
    """Move a node and its block, mark the nodes below, and return the number of slots in use."""
    calls.copy_into(tree.state[to], tree.state[node], rules.size)
    calls.copy_into(tree.score[to], tree.score[node], rules.players)
    tree.player[to], tree.total[to] = tree.player[node], tree.total[node]
    tree.sibling[to], tree.drawn[to] = tree.sibling[node], tree.drawn[node]
    tree.chance[to] = tree.chance[node]
    first, n = np.int64(tree.first[node]), np.int64(tree.num_slots[node])
    tree.num_slots[to], tree.first[to] = n, slots if first != NONE else NONE
    for k in range(n):
        a, b = slots + k, first + k
        tree.action[a], tree.visits[a], tree.node[a] = tree.action[b], tree.visits[b], tree.node[b]
        tree.prior[a], tree.pull[a] = tree.prior[b], tree.pull[b]
        tree.sums[a], tree.mean[a] = tree.sums[b], tree.mean[b]
        child = np.int64(tree.node[a])
        while child != NONE:
            place[child] = 0
            child = np.int64(tree.sibling[child])
    return slots + n


@kernel
def select_child(tree, par, node):
    """Return the best slot. Source: [scheiermann2022] Eqs. (1), (2). Deviations: D4, D5, D26."""
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
    calls.copy_into(tree.state[row], tree.state[node], rules.size)
    if tree.action[slot] != PASS:
        calls.call_play(rules, tree.state[row], tree.action[slot])


@kernel
def drawn_outcome(rules, tree, par, node, slot, rng):
    """Draw a next state of an afterstate; return its node and whether it is new."""
    row = tree.used[1]
    write_afterstate(rules, tree, node, slot, row)
    calls.call_chance(rules, tree.state[row], rng)
    child = np.int64(tree.node[slot])
    while child != NONE:
        if same_state(rules, tree, child, tree.state[row]):
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
        probability = calls.call_outcome(rules, tree.state[row], k)
        child = new_node(rules, tree, par, NONE)
        tree.chance[child], tree.sibling[child] = probability, tree.node[slot]
        tree.node[slot] = child


@kernel
def due_outcome(tree, slot):
    """Return the next state that lacks most visits for its probability, and count one more."""
    visits = np.float64(tree.visits[slot])  # the first visit was to all of them
    child = due = np.int64(tree.node[slot])
    lack = tree.chance[due] * visits - tree.drawn[due]
    while tree.sibling[child] != NONE:
        child = np.int64(tree.sibling[child])
        own = tree.chance[child] * visits - tree.drawn[child]
        if own >= lack:  # the list is in reverse order: the first of equals
            due, lack = child, own
    tree.drawn[due] += 1
    return due


@kernel
def descend(rules, tree, work, par, rng):
    """Go down; return whether there was room. Source: [scheiermann2022] Alg. 1, lines 3-13; D7."""
    # the nodes whose value counts are progress[NEXT] .. progress[END] - 1: new ones, the end of a
    # game, or beyond the depth limit none
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
        elif par.chance == DRAWN:
            child, is_new = drawn_outcome(rules, tree, par, node, slot, rng)
        elif tree.node[slot] != NONE:
            child = due_outcome(tree, slot)
        else:
            child, is_new = tree.used[1], True
            write_afterstate(rules, tree, node, slot, child)
            num_outcomes = calls.call_outcomes(rules, tree.state[child])
            if not room_for(rules, tree, work, num_outcomes):
                for i in range(1, length):  # the same path is taken again: do not count it twice
                    tree.drawn[work.path_node[i]] -= 1
                return False
            enumerate_outcomes(rules, tree, par, node, slot, num_outcomes)
        node = child
        last = tree.used[1] if is_new else node + 1
    progress[LENGTH], progress[NEXT], progress[END] = length, node, last
    progress[SHARED] = last - node > 1
    return True


@kernel
def score_children(rules, net, eye, s, moves, n, gamma, table):
    """Write r + gamma V of `n` moves; 0 at the end. Source: [scheiermann2022] Sec. II-C."""
    p = calls.call_player(rules, s)
    calls.call_score(rules, s, eye.reward)
    before, rows = eye.reward[p], np.int64(0)
    for k in range(n):
        calls.copy_into(eye.state, s, rules.size)
        calls.call_play(rules, eye.state, moves[k])
        calls.call_score(rules, eye.state, eye.reward)
        table[k] = eye.reward[p] - before
        if rules.chance == 0 and calls.call_over(rules, eye.state):
            continue
        rows += 1
        eye.which[rows] = k
        calls.call_board(rules, eye.state, eye.cells[rows])
    if rows > 0:
        find_common(eye, rows)
        lookup.go_on(net, eye, NEXT_NOW)
    for row in range(1, rows + 1):
        lookup.add_candidate(net, eye, row)
    lookup.value_candidates(net, eye, p, rows)
    for row in range(1, rows + 1):
        table[eye.which[row]] += gamma * eye.value[row]


@kernel
def find_common(eye, rows):
    """Write what the boards of most children have in common: of three, what two agree on."""
    one, other, third = eye.cells[1], eye.cells[1 + rows // 2], eye.cells[rows]
    for c in range(one.shape[0]):
        eye.cells[NEXT_NOW, c] = other[c] if other[c] == third[c] else one[c]


@kernel
def write_priors(par, table, n, first, prior):
    """Turn values into prior probabilities. Source: [scheiermann2022] Sec. II-B, II-C; D3."""
    low = top = table[0]
    for k in range(1, n):
        low, top = min(low, table[k]), max(top, table[k])
    total = 0.0
    for k in range(n):
        if par.prior == SOFTMAX:
            prior[first + k] = exp(table[k] - top)
        elif par.prior == LINEAR and top > low:
            prior[first + k] = (table[k] - low) / (top - low)
        else:
            prior[first + k] = 1.0
        total += prior[first + k]
    for k in range(n):
        prior[first + k] /= total


@kernel
def expand(rules, net, eye, tree, work, par, node, rng):
    """Open a node. Source: [scheiermann2022] Alg. 1, lines 5-9. Deviations: D2, D3, D9."""
    s, p = tree.state[node], calls.call_player(rules, tree.state[node])
    n = calls.call_legal(rules, s, work.moves)
    if not par.external:
        score_children(rules, net, eye, s, work.moves, n, par.gamma, work.table)
    best = -np.inf
    for k in range(n):
        work.table[k] = par.scale * (work.table[k] + par.step_reward)
        best = max(best, work.table[k])
    if tree.player[node] != p:  # a pass node
        work.moves[0], work.table[0], n = PASS, best, 1
    first = tree.used[0]
    tree.used[0] = first + n
    tree.first[node], tree.num_slots[node] = first, n
    for k in range(n):
        tree.action[first + k], tree.node[first + k] = work.moves[k], NONE
        tree.visits[first + k] = 0
        tree.sums[first + k], tree.mean[first + k] = 0.0, par.unvisited
    write_priors(par, work.table, n, first, tree.prior)
    calls.copy_into(tree.pull[first:], tree.prior[first:], n)
    if par.leaf_value == ROLLOUT:
        calls.copy_into(work.state, s, rules.size)
        plies = ROLLOUT_DEPTH - work.progress[LENGTH]
        # `call_finish` makes all searches slower here, by some percent
        calls.play_at_random(rules, work.state, work.moves, plies, rng)
        calls.call_score(rules, work.state, work.leaf)
        for q in range(rules.players):
            before = tree.score[node, q] if par.path_rewards else 0.0
            work.leaf[q] = par.scale * (work.leaf[q] - before)
        return
    owner = p
    value = best
    if par.leaf_value == STATE:
        owner = made_by(tree, work, p)
        if not par.external:
            calls.call_board(rules, s, eye.cells[NEXT_NOW])
            lookup.go_on(net, eye, NEXT_NOW)
            boards, index = eye.boards[NOW], eye.index[NOW]
            ns = lookup.symmetric_boards(net, eye.cells[NOW], index, boards)
            work.own[0] = lookup.sigma(net, lookup.activation_at(net, owner, index, boards, ns))
        value = par.scale * work.own[0]
    if rules.players > 2:
        share_out(rules, net, eye, tree, work, par, node, owner, value, n, rng)
        return
    for q in range(rules.players):
        work.leaf[q] = value if q == owner else -value


@kernel
def share_out(rules, net, eye, tree, work, par, node, owner, value, n, rng):
    """Write what a leaf is worth for each of three or more players, `value` for its owner."""
    leaf, known, rest, missing = work.leaf, work.known, par.total, 0
    for q in range(rules.players):
        leaf[q], known[q] = 0.0, q == owner
        rest -= par.scale * tree.score[node, q]
    leaf[owner] = value
    if par.others == BY_ROUND:
        calls.copy_into(work.state, tree.state[node], rules.size)
        play_round(rules, net, eye, work, par, n, rng)
    for q in range(rules.players):
        rest -= leaf[q]
        missing += not known[q]
    for q in range(rules.players):
        if not known[q]:
            leaf[q] += rest / missing


@kernel
def play_round(rules, net, eye, work, par, n, rng):
    """Play greedily from a leaf until all players have chosen an afterstate, whose value counts."""
    s, leaf, known, discount = work.state, work.leaf, work.known, 1.0
    for _ in range(ROUND_DEPTH):
        best, p = 0, calls.call_player(rules, s)
        for k in range(1, n):
            if work.table[k] > work.table[best]:
                best = k
        if not known[p]:
            known[p] = True
            leaf[p] += discount * work.table[best]
        add_scores(rules, eye, s, leaf, known, -par.scale * discount)
        calls.call_play(rules, s, work.moves[best])
        if rules.chance != 0:
            calls.call_chance(rules, s, rng)
        add_scores(rules, eye, s, leaf, known, par.scale * discount)
        if calls.call_over(rules, s):
            known[:] = True
        if known.all():
            return
        n = calls.call_legal(rules, s, work.moves)
        score_children(rules, net, eye, s, work.moves, n, par.gamma, work.table)
        for k in range(n):
            work.table[k] = par.scale * (work.table[k] + par.step_reward)
        discount *= par.gamma


@kernel
def add_scores(rules, eye, s, leaf, known, factor):
    """Add a multiple of the scores of those whose value is not known yet."""
    calls.call_score(rules, s, eye.reward)
    for q in range(rules.players):
        if not known[q]:
            leaf[q] += factor * eye.reward[q]


@kernel
def made_by(tree, work, p):
    """Return the player who made the present leaf, where `p` moves: at the root the one before."""
    length = work.progress[LENGTH]
    if length > 0:
        return np.int64(tree.player[work.path_node[length - 1]])
    players = work.leaf.shape[0]
    return np.int64((p - 1 + players) % players)


@kernel
def add_rewards(tree, par, value, parent, child):
    """Add what each player gets between two nodes to the discounted value.  Deviations: D10."""
    for q in range(value.shape[0]):
        reward = tree.score[child, q] - tree.score[parent, q]
        if q == tree.player[parent]:
            reward += par.step_reward
        value[q] = par.scale * reward + par.gamma * value[q]


@kernel
def add_leaf(rules, tree, work, par, node):
    """Add a leaf's share of the value. Source: [scheiermann2022] Alg. 1, lines 3-4."""
    progress, leaf = work.progress, work.leaf
    if tree.player[node] == TERMINAL:
        for q in range(rules.players):
            leaf[q] = 0.0 if par.path_rewards else par.scale * tree.score[node, q]
    if par.path_rewards and progress[LENGTH] > 0:
        add_rewards(tree, par, leaf, work.path_node[progress[LENGTH] - 1], node)
    share = tree.chance[node] if progress[SHARED] else 1.0
    for q in range(rules.players):
        work.value[q] += share * leaf[q]


@kernel
def backup(tree, work, par):
    """Add the value to the path. Source: [scheiermann2022] Alg. 1, lines 2, 14-17; D9."""
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
def iterate(rules, net, eye, tree, work, par, rng, iterations):
    """Iterate; return READY, or why to call again. Source: [scheiermann2022] Alg. 1."""
    # MISSING: the values of work.state are wanted in work.table, and 1 in progress[ANSWERED]
    # FULL: the tree needs more room
    progress = work.progress
    while progress[DONE] < iterations:
        if progress[NEXT] == NONE:
            if not descend(rules, tree, work, par, rng):
                return FULL
            for q in range(rules.players):  # final at the depth limit, else to be added to
                beyond = progress[NEXT] == progress[END]
                chose = beyond and q == tree.player[work.path_node[progress[LENGTH] - 1]]
                work.value[q] = 0.0 if not beyond else -1.0 if chose else 1.0
        while progress[NEXT] < progress[END]:
            node = progress[NEXT]
            if tree.player[node] != TERMINAL:
                if par.external and progress[ANSWERED] == 0:
                    calls.copy_into(work.state, tree.state[node], rules.size)
                    return MISSING
                expand(rules, net, eye, tree, work, par, node, rng)
                progress[ANSWERED] = 0
            add_leaf(rules, tree, work, par, node)
            progress[NEXT] += 1
        backup(tree, work, par)
        progress[NEXT] = NONE
        progress[DONE] += 1
    return READY


def check_base(base, game) -> None:
    """Raise ValueError if an agent was made for another game."""
    trained_for = getattr(base, "game", None)
    if not isinstance(trained_for, Game) or trained_for is game:
        return
    if trained_for.identity != game.identity:
        raise ValueError(
            f"this agent was made for {trained_for!r}, the game is {game!r}: make one for this"
            " game, or load the right weights"
        )


def parameters(game, base, changed: dict) -> Par:
    """Return the settings of a search for kernels; ValueError if one does not go with the game."""
    check_base(base, game)
    if game.players == 2:
        fault = not_opposite(game)
        if fault:
            raise _not_for_a_base(fault)
    is_external = not isinstance(base, Network) or base.per_action  # kernels look up V only
    settings = {**game.search_settings, **changed}
    for name in settings:
        if name not in SETTINGS:
            raise ValueError(f"a search has no setting {name!r}; there are {', '.join(SETTINGS)}")
    if settings.get("scale") is None:
        low, high = game.score_range
        settings["scale"] = 1.0 / max(abs(low), abs(high))
    total = 0.0
    if game.players > 2:
        total = number("scale", settings["scale"], LEAST, MOST) * mean_total(game)
        settings.setdefault("unvisited", total / game.players)  # 0 may be the score of a loss
        if is_external:
            _need_others_shared(game, base, settings)
    values = _checked(settings)
    if values["leaf_value"] == STATE:
        _need_state_values(base)
    if values["chance"] == ENUMERATED and game.rules.outcome == 0:
        raise ValueError(
            f"chance='enumerated' needs the rules outcomes and outcome, which {game.name} lacks: "
            "take chance='drawn'"
        )
    if game.players != 2:
        values["pass_nodes"] = False
    return Par(**values, external=is_external, total=total)


def _checked(settings) -> dict:
    """Return all settings with their defaults, words as their numbers; ValueError for bad ones."""
    values = {}
    for name, (default, check, *arguments) in SETTINGS.items():
        value = check(name, settings.get(name, default), *arguments)
        if check is one_of:
            (words,) = arguments
            value = words.index(value)
        values[name] = value
    return values


def _need_others_shared(game, base, settings) -> None:
    """Raise ValueError unless three or more players share the rest, where no network is asked."""
    if settings.get("others") != "share":
        raise ValueError(
            f"others='next' asks a network what the next moves are worth for {game.players}"
            f" players, and {base!r} is none: take others='share'"
        )


def _need_state_values(base) -> None:
    """Raise ValueError if an agent does not say what an afterstate is worth."""
    has_value = callable(getattr(base, "value", None))
    if not has_value or getattr(base, "per_action", False):
        raise ValueError(
            f"leaf_value='state' asks for value(state, player), which {base!r} does not give: take"
            " leaf_value='best action'"
        )


def _not_for_a_base(fault) -> ValueError:
    assumption = "a wrapped agent takes the other player's value for the opposite of its own"
    return ValueError(f"{assumption}, but {fault}: {LESS}")


class Found(NamedTuple):
    """The result of a search: a row for each legal action, in the order of ``game.legal``."""

    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray  # int64 [num_legal]
    values: np.ndarray  # float64 [num_legal]: the mover's mean value, NaN if never visited
    priors: np.ndarray  # float64 [num_legal]


class Step(NamedTuple):
    """One action of a principal variation."""

    action: int
    visits: int
    value: float  # mean value for the player who chooses the action


class Search(PerThread):
    """A tree around one base agent: plant it, run it, follow the moves. Each thread has its own.

    Parameters
    ----------
    game : Game
        With two players, their rewards must be opposite.
    base : Network, object with ``action_values(state)``, or function ``state -> values``
        It gives r + gamma V of every legal action for the player to move, float64 [num_legal], in
        units of its ``reward_unit`` if it has one. Kernels look up a network of V by themselves;
        anything else is called from Python once for every leaf.
    iterations : int
        The first size of the tree, which grows.
    settings
        Those of ``SETTINGS``; ValueError if one does not go with the game or the agent.
    """

    def __init__(self, game, base, iterations=1000, **settings):
        self.game = check_game(game, "a search")
        self.base = base
        self.par = parameters(game, base, settings)
        self._unit = getattr(base, "reward_unit", 1.0)
        # Kernels take the arrays of some network even if a Python function gives the values.
        self._net = Network(game, [[0]]).arrays if self.par.external else base.arrays
        self._eye = self._new_eye()
        self._look_at_empty_board()
        nodes = whole("iterations", iterations, 1, MAX_ITERATIONS) + 2
        slots = 8 * nodes + game.max_legal
        self.tree = Tree(**calls.allocate(TREE, game, nodes=nodes, slots=slots))
        self._work = Work(**calls.allocate(WORK, game, path=nodes + 2))
        self._iterate = Linked(iterate, game, slp=False)
        self._rng = new_rng(0)

    def _new_eye(self) -> Eye:
        sizes = {
            "features": len(self._net.offset),
            "weights": self._net.weights.dtype,
            "rows": 2 + self.game.max_legal,
            "symmetries": len(self.game.symmetries),
        }
        return Eye(**calls.allocate(EYE, self.game, **sizes))

    def _look_at_empty_board(self):
        """Let the indices of the next board be computed from those of an empty one."""
        self._eye.cells[NOW] = 0
        self._eye.index[NOW] = self._net.offset

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its working memory, without the network."""
        arrays = [*self.tree, *self._work, *self._eye]
        return sum(array.nbytes for array in arrays)

    def plant(self, state, seed: int = 0) -> None:
        """Begin a new tree at a state; chance outcomes and random games derive from `seed`."""
        state = running_state(self.game, state)
        self._rng[:] = new_rng(seed)
        plant(self.game.rules, self.tree, self._work, self.par, state)

    def follow(self, steps) -> bool:
        """Keep what is below the moves that were played, each an action with the next state.

        Return False if the tree has nothing there.
        """
        rules = self.game.rules
        tree = self.tree
        if not self._is_planted():
            return False
        node = ROOT
        for action, state in steps:
            node = find_child(rules, tree, node, action, self.game._state(state))
            node = self._behind_passes(node)
            if node == NONE:
                return False
        if tree.first[node] == NONE:
            return False
        reroot(rules, tree, node, self._work.path_node)
        return True

    def _is_planted(self) -> bool:
        num_nodes = self.tree.used[1]
        return num_nodes > 0

    def _behind_passes(self, node) -> int:
        """Return the first node from `node` on that is no pass node, or NONE."""
        tree = self.tree
        while node != NONE and tree.num_slots[node] > 0:
            slot = tree.first[node]
            if tree.action[slot] != PASS:
                break
            node = tree.node[slot]
        return node

    def run(self, iterations: int) -> Found:
        """Add iterations to the tree; after each 1,000 Ctrl-C can interrupt.

        ValueError if no tree was planted, if rewards turn out not to be opposite, or if the agent
        gives values that are no numbers.
        """
        if not self._is_planted():
            raise ValueError(f"this search of {self.game.name} has no tree: call plant(state)")
        iterations = whole("iterations", iterations, 1, MAX_ITERATIONS)
        progress = self._work.progress
        progress[DONE] = 0
        status = READY
        self._look_at_empty_board()  # a network that was promoted has other indices of the last one
        while progress[DONE] < iterations or status != READY:
            goal = min(iterations, int(progress[DONE]) + CHUNK)
            status = self._iterate(
                self._net, self._eye, self.tree, self._work, self.par, self._rng, goal
            )
            if status == MISSING:
                self._answer()
            elif status == FULL:
                self._grow()
        if self.game.players == 2 and self.game.spec is None:  # games of the package are tested
            self._check_opposite()
        result = self.found()
        self._check_numbers(result)
        return result

    def _check_opposite(self):
        """Raise ValueError if the scores of two players in some node are not opposite."""
        scores = self.tree.score[: self.tree.used[1]]
        nodes = np.flatnonzero(abs(scores.sum(axis=1)) > TOLERANCE)
        if len(nodes):
            rewards = scores[nodes[0]].tolist()
            state = self.tree.state[nodes[0]].tolist()
            raise _not_for_a_base(f"{self.game!r} gives {rewards} at {state}")

    def _check_numbers(self, result):
        """Raise ValueError if the agent gave NaN for some leaf."""
        # NaN at any leaf goes back along the path to the root.
        if np.isnan(result.priors).any() or np.isnan(result.values[result.visits > 0]).any():
            raise ValueError(
                f"{self.base!r} has given values that are no numbers, or too large for the scale"
                f" {self.par.scale:g}: look for NaN in its weights"
            )

    def _answer(self):
        """Ask the base agent for the values of the leaf that waits."""
        game = self.game
        state = self._work.state.copy()
        values = np.asarray(self._base_values(state), np.float64)
        num_legal = len(game.legal(state))
        if values.shape != (num_legal,) or not np.isfinite(values).all():
            raise ValueError(
                f"the wrapped agent must give {num_legal} finite values, one for each legal action"
                f" of {game.render(state)!r}, not {values!r}"
            )
        self._work.table[:num_legal] = values / self._unit
        if self.par.leaf_value == STATE:
            owner = int(made_by(self.tree, self._work, game.player(state)))
            self._work.own[0] = self.base.value(state, owner) / self._unit
        self._work.progress[ANSWERED] = 1

    def _base_values(self, state):
        """Return r + gamma V of every legal action, as the base agent gives it."""
        action_values = getattr(self.base, "action_values", None)
        if action_values is None:
            return self.base(state)
        if self.par.gamma == 1.0:  # the method need not take gamma
            return action_values(state)
        return action_values(state, self.par.gamma)

    def _grow(self):
        """Make room in the tree, and on the path, for the nodes that the kernel asks for."""
        used_slots, used_nodes = self.tree.used
        new_nodes = int(self._work.progress[WANTED])
        nodes = len(self.tree.player)
        slots = len(self.tree.action)
        while nodes < used_nodes + new_nodes:
            nodes *= 2
        while slots < used_slots + new_nodes * self.game.max_legal:
            slots *= 2
        # The old arrays and the new ones, which are at least twice as large, exist together.
        if slots >= 2**31 or 3 * self.nbytes > memory():
            raise MemoryError(
                f"{len(self.tree.player):,} nodes of {self.game.name} fill this search tree of"
                f" {self.nbytes / 2**30:.1f} GiB, and one twice as large has no room: ask for fewer"
                " iterations, or plant a new tree"
            )
        larger = Tree(**calls.allocate(TREE, self.game, nodes=nodes, slots=slots))
        for array, smaller in zip(larger, self.tree):
            array[: len(smaller)] = smaller
        self.tree = larger
        length = nodes + 2
        if length > len(self._work.path_node):
            self._work = self._work._replace(
                path_node=np.zeros(length, np.int32), path_slot=np.zeros(length, np.int32)
            )

    def found(self) -> Found:
        """Return what the tree says about the actions at the root."""
        tree = self.tree
        first = tree.first[ROOT]
        block = slice(first, first + tree.num_slots[ROOT])
        visits = tree.visits[block].astype(np.int64)
        values = np.where(visits > 0, tree.mean[block], np.nan) / self.par.scale
        return Found(tree.action[block].copy(), visits, values, tree.prior[block].copy())

    def principal_variation(self) -> list[Step]:
        """Return the most visited actions, and next states, from the root on."""
        tree = self.tree
        steps = []
        node = ROOT
        while node != NONE and tree.total[node] > 0:
            first = tree.first[node]
            visits = tree.visits[first : first + tree.num_slots[node]]
            slot = first + int(np.argmax(visits))
            if tree.action[slot] != PASS:
                value = float(tree.mean[slot] / self.par.scale)
                steps.append(Step(int(tree.action[slot]), int(tree.visits[slot]), value))
            node = self._most_visited_state(slot)
        return steps

    def _most_visited_state(self, slot) -> int:
        """Return the node of a slot with most visits, of several the oldest, or NONE."""
        tree = self.tree
        child = tree.node[slot]
        best = child
        while child != NONE:
            # the list begins with the newest node
            if tree.total[child] >= tree.total[best]:
                best = child
            child = tree.sibling[child]
        return best
