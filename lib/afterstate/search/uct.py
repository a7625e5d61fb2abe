"""One iteration of UCT with random rollouts, on a tree of arrays.

``mcts.py`` makes searches of it.

The tree is a struct of arrays. A node owns a block of neighbouring slots, one per legal action,
made when the search passes through it for the second time; the slots that were tried come first.
Rewards are kept for every player, so extra turns and three players need no sign flips. In a game
with chance a slot stands for the afterstate, and the next states that have been drawn from it hang
on it as a linked list, found again by their key::

    deterministic    node --block--> node node node ...                slot = action = next node
    with chance      node --block--> slot slot slot ...                slot = action = afterstate
                                       |
                                       +--list--> node -> node ...     a node per next state drawn

States are not stored: every iteration plays down from a copy of the root, its history tail
included, so repetitions count inside the search as they do in the game.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import (
    call_chance,
    call_key,
    call_legal,
    call_over,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from ..kernel.compile import kernel
from ..kernel.functions import log
from ..kernel.random import random_int

ROOT, NONE = 0, -1  # NONE: no child, no further outcome
TERMINAL = -1  # `player` of a node where the game is over
TINY = 1e-6  # added to a visit count under the fraction bar, as the original does


class Tree(NamedTuple):
    """The nodes; all arrays have one entry per slot.

    `first` is the first child or NONE, and for an afterstate in a game with chance the latest
    outcome. `sibling` and `keys` have one entry only if the game has no chance.
    """

    # fmt: off
    action: np.ndarray        # int32    that leads here
    mover: np.ndarray         # int32    player who made it
    player: np.ndarray        # int32    player to move here, or TERMINAL
    first: np.ndarray         # int32    first child or latest outcome
    num_children: np.ndarray  # int32    legal actions
    num_tried: np.ndarray     # int32    of these, visited; they stand first in the block
    visits: np.ndarray        # int32
    sums: np.ndarray          # float64 [slots, players]   scaled rewards of all visits
    mean: np.ndarray          # float64  of the mover: sums / visits
    spread: np.ndarray        # float64  1 / sqrt(visits + TINY)
    sibling: np.ndarray       # int32    next outcome of the same afterstate, or NONE
    keys: np.ndarray          # uint64 [slots, 2]          of an outcome
    used: np.ndarray          # int64 [1]                  slots in use
    # fmt: on


class Work(NamedTuple):
    """Working memory of a search."""

    # fmt: off
    root: np.ndarray    # int32 [size]
    state: np.ndarray   # int32 [size]
    moves: np.ndarray   # int32 [max_legal]
    path: np.ndarray    # int32 [2 * depth + 2]  slots from the root to the newest node
    reward: np.ndarray  # float64 [players]
    key: np.ndarray     # uint64 [2]
    roots: np.ndarray   # float64 [entries]      sqrt(ln(n + 1))
    # fmt: on


class Limits(NamedTuple):
    """Parameters of a search."""

    k: float
    tree_depth: int
    rollout_depth: int
    low: float  # reward that counts as 0
    scale: float  # 1 / (reward that counts as 1 - low)


@kernel
def clear(tree, slot, mover):
    """Make a slot an unvisited node without children."""
    tree.mover[slot] = mover
    tree.first[slot] = NONE
    tree.num_children[slot] = tree.num_tried[slot] = tree.visits[slot] = 0
    for p in range(tree.sums.shape[1]):
        tree.sums[slot, p] = 0.0


@kernel
def enter(rules, tree, node, s):
    """Note who is to move at a new node with state `s`."""
    tree.player[node] = TERMINAL if call_over(rules, s) else call_player(rules, s)


@kernel
def open_block(rules, tree, work, node):
    """Give a node its block of children; only their actions are written."""
    n = call_legal(rules, work.state, work.moves)
    if n == 0:  # rules that leave nobody a move: no slots, and nothing to go on with
        tree.player[node] = TERMINAL
        return
    first = tree.used[0]
    copy_into(tree.action[first:], work.moves, n)
    tree.first[node] = first
    tree.num_children[node] = n
    tree.used[0] = first + n


@kernel
def untried_child(tree, node, rng):
    """Return a random one of the children not tried yet, moved behind those that were."""
    child = tree.first[node] + tree.num_tried[node]
    other = child + random_int(rng, tree.num_children[node] - tree.num_tried[node])
    tree.action[child], tree.action[other] = tree.action[other], tree.action[child]
    tree.num_tried[node] += 1
    clear(tree, child, tree.player[node])
    return child


@kernel
def best_child(tree, work, node, k, rng):
    """Return the child with the greatest upper bound for the player to move; exact ties at random.

    The bound is mean + k sqrt(ln(n + 1) / (n_c + 1e-6)), n and n_c being the visits of node and
    child. Source: [kocsis2006] Sec. 2.3 (UCB1 at every node, k = 2 C_p; the 1 and the 1e-6 are the
    original software's).
    """
    n = tree.visits[node]
    width = k * (work.roots[n] if n < work.roots.shape[0] else np.sqrt(log(n + 1.0)))
    first = np.int64(tree.first[node])
    best, top, ties = first, tree.mean[first] + width * tree.spread[first], 1
    for child in range(first + 1, first + tree.num_children[node]):
        bound = tree.mean[child] + width * tree.spread[child]
        if bound > top:
            best, top, ties = child, bound, 1
        elif bound == top:
            ties += 1
            if random_int(rng, ties) == 0:
                best = child
    return best


@kernel
def drawn_outcome(rules, tree, work, after, rng):
    """Draw a next state of the afterstate `after`; return its node and whether it is new."""
    call_chance(rules, work.state, rng)
    call_key(rules, work.state, work.key)
    node = np.int64(tree.first[after])
    while node != NONE:
        if tree.keys[node, 0] == work.key[0] and tree.keys[node, 1] == work.key[1]:
            return node, False
        node = np.int64(tree.sibling[node])
    node = tree.used[0]
    tree.used[0] = node + 1
    clear(tree, node, tree.mover[after])
    copy_into(tree.keys[node], work.key, 2)
    tree.action[node] = tree.action[after]
    tree.sibling[node] = tree.first[after]
    tree.first[after] = node
    return node, True


@kernel
def descend(rules, tree, work, limits, rng):
    """Go down to a new node, the end of a game or the depth limit.

    Return (length of the path, depth).

    Source: [kocsis2006] Fig. 1; [konen2021] Table 1 (opponent MCTS).
    """
    s, path = work.state, work.path
    copy_into(s, work.root, rules.size)
    node, depth, length, is_new = np.int64(ROOT), 0, 1, False
    path[0] = ROOT
    while not is_new and depth < limits.tree_depth and tree.player[node] != TERMINAL:
        if tree.first[node] == NONE:
            open_block(rules, tree, work, node)
            if tree.player[node] == TERMINAL:
                break
        is_new = tree.num_tried[node] < tree.num_children[node]
        node = (
            untried_child(tree, node, rng)
            if is_new
            else best_child(tree, work, node, limits.k, rng)
        )
        call_play(rules, s, tree.action[node])
        depth += 1
        if rules.chance != 0:
            path[length] = node
            length += 1
            node, is_new = drawn_outcome(rules, tree, work, node, rng)
        if is_new:
            enter(rules, tree, node, s)
        path[length] = node
        length += 1
    return length, depth


@kernel
def rollout(rules, s, moves, plies, rng):
    """Play at random to the end of the game, at most so many plies."""
    for _ in range(plies):
        if call_over(rules, s):
            break
        n = call_legal(rules, s, moves)
        if n == 0:
            break
        call_play(rules, s, moves[random_int(rng, n)])
        call_chance(rules, s, rng)


@kernel
def backup(tree, path, length, reward):
    """Add the scaled rewards of all players to every slot of the path."""
    for i in range(length):
        slot = path[i]
        tree.visits[slot] += 1
        for p in range(reward.shape[0]):
            tree.sums[slot, p] += reward[p]
        n = np.float64(tree.visits[slot])
        tree.mean[slot] = tree.sums[slot, tree.mover[slot]] / n
        tree.spread[slot] = 1.0 / np.sqrt(n + TINY)


@kernel
def iterate(rules, tree, work, limits, iterations, rng):
    """Run up to so many iterations.

    Return how many, fewer if the next one might not find room in the tree.
    """
    reward = work.reward
    for done in range(iterations):
        if tree.used[0] + rules.max_legal + 1 > tree.action.shape[0]:
            return done
        length, depth = descend(rules, tree, work, limits, rng)
        rollout(rules, work.state, work.moves, limits.rollout_depth - depth, rng)
        call_score(rules, work.state, reward)
        for p in range(rules.players):
            reward[p] = (reward[p] - limits.low) * limits.scale
        backup(tree, work.path, length, reward)
    return iterations


@kernel
def plant(rules, tree, work):
    """Make a tree of the root alone."""
    tree.used[0] = 1
    clear(tree, ROOT, 0)
    tree.action[ROOT] = NONE
    copy_into(work.state, work.root, rules.size)
    enter(rules, tree, ROOT, work.state)


@kernel
def fill_roots(roots):
    """Tabulate sqrt(ln(n + 1)) for n = 0, 1, 2 ..."""
    for n in range(roots.shape[0]):
        roots[n] = np.sqrt(log(n + 1.0))
