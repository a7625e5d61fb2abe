"""The tree of a PUCT search: nodes and slots in arrays, planted at a state, re-rooted by moves.

The tree is a struct of arrays. A *node* is a state that the search has come to; it owns a block of
neighbouring *slots*, one for each legal action, with W, N and P. A slot leads to a node, or in a
game with chance, where it stands for the afterstate, to a linked list of nodes, one for each next
state that has come up::

    deterministic    node --block--> slot slot slot ...      slot --> node
    with chance      node --block--> slot slot slot ...      slot --> node -> node -> ...

A node is made in the iteration that first comes to it and gets its block in the same iteration, so
nodes, and their blocks, stand in the order of their making and a child behind its parent:
re-rooting closes the gaps in place.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_over, call_player, call_score, copy_into
from ..kernel.compile import kernel

ROOT, NONE = 0, -1
TERMINAL = -1  # `player` of a node where the game is over
PASS = -2  # action of the only slot of a pass node
READY, MISSING, FULL = range(3)  # why `iterate` stops
DONE, LENGTH, NEXT, END, SHARED, ANSWERED, WANTED = range(7)  # in Work.progress
SOFTMAX, LINEAR, UNIFORM = range(3)  # priors
BEST_ACTION, STATE, ROLLOUT = range(3)  # values of a leaf


class Tree(NamedTuple):
    """The slots and nodes."""

    # fmt: off
    action: np.ndarray  # int32 [slots]
    prior: np.ndarray  # float64 [slots]: P
    visits: np.ndarray  # int32 [slots]: N
    sums: np.ndarray  # float64 [slots]: W, in the view of the player who chooses
    mean: np.ndarray  # float64 [slots]: W / N; before the first visit Par.unvisited
    pull: np.ndarray  # float64 [slots]: P / (1 + N)
    node: np.ndarray  # int32 [slots]: where it leads, or NONE; with chance: the latest next state
    state: np.ndarray  # int32 [nodes, size]
    player: np.ndarray  # int32 [nodes]: to move, or TERMINAL
    first: np.ndarray  # int32 [nodes]: first slot, or NONE
    num_slots: np.ndarray  # int32 [nodes]
    total: np.ndarray  # int32 [nodes]: sum of N over the slots
    score: np.ndarray  # float64 [nodes, players]: cumulative reward
    sibling: np.ndarray  # int32 [nodes]: another next state of the same afterstate, or NONE
    drawn: np.ndarray  # int32 [nodes]: visits after the first of an enumerated next state
    chance: np.ndarray  # float64 [nodes]: its probability
    used: np.ndarray  # int64 [2]: slots and nodes in use
    # fmt: on


SLOT_ARRAYS, NODE_ARRAYS = slice(0, 7), slice(7, 16)


class Work(NamedTuple):
    """Working memory of a search."""

    # fmt: off
    moves: np.ndarray  # int32 [max_legal]
    table: np.ndarray  # float64 [max_legal]: r + gamma V of the actions of a leaf
    state: np.ndarray  # int32 [size]: the leaf that waits for its values; the end of a random game
    own: np.ndarray  # float64 [1]: V of that leaf itself
    value: np.ndarray  # float64 [players]: what goes back along the path
    leaf: np.ndarray  # float64 [players]: value of one leaf
    path_node: np.ndarray  # int32 [nodes + 1]
    path_slot: np.ndarray  # int32 [nodes + 1]
    progress: np.ndarray  # int64 [7]
    # fmt: on


class Par(NamedTuple):
    """Parameters of a search."""

    c_puct: float
    epsilon: float
    gamma: float
    scale: float  # what rewards and values are multiplied by
    temperature: float
    step_reward: float
    max_depth: int
    rollout_depth: int  # actions from the root after which a random game is cut
    prior: int
    leaf_value: int
    external: bool  # a Python function gives the values
    path_rewards: bool
    pass_nodes: bool
    enumerated: bool  # chance outcomes are enumerated, else drawn
    unvisited: float  # what Eq. (1) takes for W / N of an action never visited


@kernel
def room_for(rules, tree, work, nodes):
    """Return whether so many nodes with all their slots fit; if not, say how many were wanted."""
    work.progress[WANTED] = nodes
    slots = tree.used[0] + nodes * rules.max_legal
    return tree.used[1] + nodes <= tree.player.shape[0] and slots <= tree.action.shape[0]


@kernel
def new_node(rules, tree, par, parent):
    """Make a node of the state that stands in the first free row; return its number."""
    node = tree.used[1]
    tree.used[1] = node + 1
    s = tree.state[node]
    tree.first[node] = tree.sibling[node] = NONE
    tree.num_slots[node] = tree.total[node] = tree.drawn[node] = 0
    tree.chance[node] = 1.0
    call_score(rules, s, tree.score[node])
    if call_over(rules, s):
        tree.player[node] = TERMINAL
        return node
    tree.player[node] = call_player(rules, s)
    if par.pass_nodes and parent != NONE and tree.player[node] == tree.player[parent]:
        tree.player[node] = 1 - tree.player[node]  # by turns; the one who really moves comes next
    return node


@kernel
def open_block(tree, par, node, moves, n):
    """Give a node its block of unvisited slots, all but their priors."""
    first = tree.used[0]
    tree.used[0] = first + n
    tree.first[node], tree.num_slots[node] = first, n
    for k in range(n):
        tree.action[first + k], tree.node[first + k] = moves[k], NONE
        tree.visits[first + k] = 0
        tree.sums[first + k], tree.mean[first + k] = 0.0, par.unvisited


@kernel
def same_state(rules, tree, a, b):
    """Return whether two rows hold the same state."""
    for i in range(rules.size):
        if tree.state[a, i] != tree.state[b, i]:
            return False
    return True


@kernel
def plant(rules, tree, work, par, state):
    """Make a tree of the root alone."""
    tree.used[0] = tree.used[1] = 0
    copy_into(tree.state[0], state, rules.size)
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
                same = True
                for i in range(rules.size):
                    same = same and tree.state[child, i] == state[i]
                if same:
                    return child
                child = np.int64(tree.sibling[child])
    return np.int64(NONE)


@kernel
def reroot(rules, tree, root, place):
    """Keep the part of the tree below the node `root`, which becomes the root, in place.

    `place` (int32[nodes]) is working memory. Every node and block moves towards the beginning, in
    the old order, so nothing is overwritten that is still needed.

    Source: [scheiermann2022] Sec. II-B (tree reuse). Deviations: D8.
    """
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
    """Move a node and its block, and mark the nodes that the block leads to.

    Return the number of slots in use.
    """
    copy_into(tree.state[to], tree.state[node], rules.size)
    copy_into(tree.score[to], tree.score[node], rules.players)
    tree.player[to], tree.total[to] = tree.player[node], tree.total[node]
    tree.sibling[to], tree.drawn[to], tree.chance[to] = (
        tree.sibling[node],
        tree.drawn[node],
        tree.chance[node],
    )
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
