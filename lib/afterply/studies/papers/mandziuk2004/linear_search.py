"""Alpha-beta to a fixed depth on checkers bitboards, with a linear value function at the leaves.

Depth counts turns: all jumps of a piece in a row are one. Among equal values the first in the order
of the legal actions wins: value, action and leaf are those of a plain minimax search. Values are
*activations* w.phi of the owner of the weights, or +-WON: V grows with them, but tanh makes large
ones equal. The search knows neither clocks nor repetitions, so it does not foresee draws.

Source: [mandziuk2004] Sec. 2 (d-ply minimax); [knuth1975]. Deviations: D5, D12, D15.
"""

from collections import namedtuple

import numpy as np

from ....games.calls import (
    Arrays,
    allocate,
    call_over,
    call_play,
    call_player,
    call_score,
    call_start,
)
from ....games.rules.giveaway import NONE, bits_of, directions, jumpers, lowest, moved, steppers
from ....kernel.compile import kernel
from ....kernel.random import new_rng, random_float, random_int, seed_from
from ....players.basic import Seated
from .linear import NUM_FEATURES, WON, features, product, value_of

SPARE = 26  # captures in one line, at most 24, each need a level of their own, and the root
RANGE = 10.0  # random weights lie between -RANGE and RANGE
LOSS, DRAW, WIN = range(3)
# at the root: the first best action, a random best one, all values exact
FIRST, RANDOM, EVERY = range(3)

# columns of Tree.node: a position, what is left to try there, and the leaf of its best line
WHITE, BLACK, KINGS, SIDE, TURNS, LEFT, JUMPING, SQUARE, DIRS, ACTION = range(10)
LEAF_WHITE, LEAF_BLACK, LEAF_KINGS = range(10, 13)
ALPHA, BETA, BEST = range(3)  # columns of Tree.window
NODES, CHOSEN, TRIED, TIES = range(4)  # places in Tree.found; NODES counts positions

TREE = {  # working memory, one row per level of the line under search
    "node": ("int64", "levels", 13),
    "window": ("float64", "levels", 3),
    "counts": ("int64", 2, NUM_FEATURES),
    "phi": ("float64", NUM_FEATURES),
    "values": ("float64", 128),  # of the root's actions in their order; exact with EVERY
    "found": ("int64", 4),
}
Tree = namedtuple("Tree", TREE)
# feature set, turns; whether captures go on; who has no legal action wins; FIRST, RANDOM or EVERY
Way = namedtuple("Way", "kind depth quiescence misere root")


def searching(net, root: int = FIRST) -> tuple[Tree, Way]:
    """Return the memory of a linear value function's searches, and how it searches."""
    tree = Tree(**allocate(TREE, levels=net.depth + SPARE))
    misere = net.game.spec["name"] == "giveaway"
    return tree, Way(net.kind, net.depth, net.quiescence, misere, root)


@kernel
def search(tree, way, weights, owner, s, rng):
    """Return the owner's activation of a running state; action and leaf are left in the tree."""
    node, window, found = tree.node, tree.window, tree.found
    white, black, kings, side = bits_of(s[0]), bits_of(s[1]), bits_of(s[2]), np.int64(s[3] & 1)
    pieces, jumping = movers(white, black, kings, side)
    jumper = np.int64(s[3] >> 1 & 63) - 1  # a jump under way goes on from here
    pieces = np.int64(1) << jumper if jumper >= 0 else pieces
    put(node, 0, white, black, kings, side, way.depth, pieces, jumping)
    found[NODES] = 0
    found[CHOSEN] = NONE
    found[TRIED] = 0
    found[TIES] = 1
    window[0, ALPHA] = -np.inf
    window[0, BETA] = np.inf
    window[0, BEST] = -np.inf if side == owner else np.inf
    level = 0
    while True:
        action = next_action(node, level)
        if action != NONE:
            node[level, ACTION] = action
            if expand(tree, way, weights, owner, level, action):
                level += 1
                continue
        elif level == 0:
            return window[0, BEST]
        else:
            level -= 1
        absorb(tree, way, owner, level, rng)


@kernel
def movers(white, black, kings, side):
    """Return the pieces of a player that can be moved, and whether they must jump."""
    own, enemy = (white, black) if side == 0 else (black, white)
    pieces = jumpers(own, enemy, kings, side)
    if pieces != 0:
        return pieces, np.int64(1)
    return steppers(own, enemy, kings, side), np.int64(0)


@kernel
def put(node, level, white, black, kings, side, turns, pieces, jumping):
    """Write a position and what is to be tried there."""
    node[level, WHITE] = white
    node[level, BLACK] = black
    node[level, KINGS] = kings
    node[level, SIDE] = side
    node[level, TURNS] = turns
    node[level, LEFT] = pieces
    node[level, JUMPING] = jumping
    node[level, DIRS] = 0


@kernel
def next_action(node, level):
    """Take the next untried action, or return NONE."""
    if node[level, DIRS] == 0:
        left = node[level, LEFT]
        if left == 0:
            return np.int64(NONE)
        square, side, kings = lowest(left), node[level, SIDE], node[level, KINGS]
        white, black = node[level, WHITE], node[level, BLACK]
        own, enemy = (white, black) if side == 0 else (black, white)
        node[level, LEFT] = left & (left - 1)
        node[level, SQUARE] = square
        node[level, DIRS] = directions(own, enemy, kings, side, square, node[level, JUMPING])
    d = lowest(node[level, DIRS])
    node[level, DIRS] &= node[level, DIRS] - 1
    return 4 * node[level, SQUARE] + d


@kernel
def expand(tree, way, weights, owner, level, action):
    """Make the child of an action in the next row; return whether it must be searched."""
    node, window, child = tree.node, tree.window, level + 1
    side, turns, kings = node[level, SIDE], node[level, TURNS], node[level, KINGS]
    white, black = node[level, WHITE], node[level, BLACK]
    own, enemy = (white, black) if side == 0 else (black, white)
    own, enemy, kings, jumper = moved(own, enemy, kings, side, action)
    white, black = (own, enemy) if side == 0 else (enemy, own)
    if jumper >= 0:
        put(node, child, white, black, kings, side, turns, np.int64(1) << jumper, 1)
    else:
        tree.found[NODES] += 1
        side, turns = 1 - side, turns - 1
        pieces, jumping = movers(white, black, kings, side)
        if pieces == 0 or turns <= 0 and not (way.quiescence and jumping):
            node[child, LEAF_WHITE] = white
            node[child, LEAF_BLACK] = black
            node[child, LEAF_KINGS] = kings
            if pieces == 0:
                winner = side if way.misere else 1 - side
                window[child, BEST] = WON if winner == owner else -WON
            else:
                features(way.kind, white, black, kings, owner, tree.counts, tree.phi)
                window[child, BEST] = product(weights, tree.phi)
            return False
        put(node, child, white, black, kings, side, turns, pieces, jumping)
    window[child, ALPHA] = window[level, ALPHA]
    window[child, BETA] = window[level, BETA]
    window[child, BEST] = -np.inf if side == owner else np.inf
    return True


@kernel
def absorb(tree, way, owner, level, rng):
    """Take over the value of the child in the next row; drop actions that cannot matter."""
    node, window, found, child = tree.node, tree.window, tree.found, level + 1
    value, best = window[child, BEST], window[level, BEST]
    maximising = node[level, SIDE] == owner
    better = value > best if maximising else value < best
    if level == 0:
        tree.values[found[TRIED]] = value
        found[TRIED] += 1
        if way.root == RANDOM and value == best:
            found[TIES] += 1
            better = random_int(rng, found[TIES]) == 0
        elif better:
            found[TIES] = 1
        if better:
            found[CHOSEN] = node[0, ACTION]
    if not better:
        return
    window[level, BEST] = value
    for k in range(LEAF_WHITE, LEAF_KINGS + 1):
        node[level, k] = node[child, k]
    edge = value
    if level == 0 and way.root != FIRST:
        if way.root == EVERY:
            return
        edge = np.nextafter(value, -np.inf if maximising else np.inf)
    if maximising:
        window[level, ALPHA] = max(window[level, ALPHA], edge)
    else:
        window[level, BETA] = min(window[level, BETA], edge)
    if window[level, ALPHA] >= window[level, BETA]:
        node[level, LEFT] = node[level, DIRS] = 0


@kernel
def _play_matches(rules, tree, way, weights, seat, opponents, s, score, rng, results):
    """Play a game against each of the opponents; write the results of the weights in a seat."""
    for k in range(opponents.shape[0]):
        call_start(rules, s, rng)
        while not call_over(rules, s):
            player = np.int64(call_player(rules, s))
            search(tree, way, weights if player == seat else opponents[k], player, s, rng)
            call_play(rules, s, tree.found[CHOSEN])
        call_score(rules, s, score)
        results[k] = result_of(score[seat])


@kernel
def result_of(reward):
    """Return LOSS, DRAW or WIN."""
    return DRAW if reward == 0.0 else WIN if reward > 0.0 else LOSS


def matches(net, opponents) -> np.ndarray:
    """Play a game against each of some weight vectors.

    Parameters
    ----------
    net : Linear
        Who plays, in the seat in which it learns.
    opponents : ndarray of float64 [n, 22]
        The weights of its opponents, which search as it does.

    Returns
    -------
    ndarray of int8 [n]
        ``LOSS``, ``DRAW`` or ``WIN`` of `net`: 0, 1 or 2.

    Source: [mandziuk2004] Sec. 4. Deviations: D6, D10.
    """
    game = net.game
    tree, way = searching(net)
    state = np.zeros(game.size, np.int32)
    score = np.zeros(2)
    rng = new_rng(0)
    results = np.zeros(len(opponents), np.int8)
    _play_matches(
        game.rules, tree, way, net.weights, net.seat, opponents, state, score, rng, results
    )
    return results


def random_weights(num: int, *names) -> np.ndarray:
    """Return random weights, float64 [num, 22], uniform in (-10, 10).

    They follow from the names, which are numbers and texts: the same names give the same weights.
    """
    rng = new_rng(seed_from("linear weights", *names))
    fractions = np.array([random_float(rng) for _ in range(num * NUM_FEATURES)])
    return RANGE * (2.0 * fractions.reshape(num, NUM_FEATURES) - 1.0)


class Player(Seated):
    """A player who takes the first best action of its search. Deviations: D5, D12, D15."""

    name = "Linear"

    def __init__(self, net):
        self.net = net
        self.rng = new_rng(0)
        self._memory = Arrays(TREE, levels=net.depth + SPARE)
        _, self._way = searching(net)

    @property
    def tree(self) -> Tree:
        """The memory of this thread, as its last search has left it."""
        return Tree(*self._memory.arrays)

    def choose(self, state) -> int:
        """Return the first of the best actions."""
        _, action = self.best(state)
        return action

    def values(self, state) -> np.ndarray:
        """Return the mover's V of every legal action, float64 [num_legal]."""
        if self.net.game.over(state):
            return np.zeros(0)
        self._search(state, None, EVERY)
        tree = self.tree
        activations = tree.values[: tree.found[TRIED]]
        return np.array([value_of(activation) for activation in activations])

    def best(self, state, owner: int | None = None) -> tuple[float, int]:
        """Return V for the owner (default: the player to move), and the chosen action."""
        activation = self._search(state, owner, FIRST)
        action = self.tree.found[CHOSEN]
        return float(value_of(activation)), int(action)

    def _search(self, state, owner, root):
        """Search a running state; return the owner's activation."""
        game = self.net.game
        game.choices(state)  # raises ValueError if there are none
        if owner is None:
            owner = game.player(state)
        way = self._way._replace(root=root)
        return search(self.tree, way, self.net.weights, owner, game._state(state), self.rng)
