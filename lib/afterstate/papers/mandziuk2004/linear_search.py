"""Alpha-beta to a fixed depth on checkers bitboards, with a linear value function at the leaves.

Depth counts turns: all jumps of a piece in a row are one. Among equal values the first in the order
of the legal actions wins: value, action and leaf are those of a plain minimax search. Values are
*activations* w.phi of the owner of the weights, or +-WON: V grows with them, but tanh makes large
ones equal. The search knows neither clocks nor repetitions, so it does not foresee draws.

Source: [mandziuk2004] Sec. 2 (d-ply minimax); [knuth1975]. Deviations: D5, D12, D15.
"""

from typing import NamedTuple

import numpy as np

from ...games.rules.giveaway import ALL, NONE, bits_of, directions, jumpers, lowest, moved, steppers
from ...kernel.compile import kernel
from ...kernel.random import new_rng, random_int
from .linear import NUM_FEATURES, WON, features, product, value_of

SPARE = 26  # captures in one line, at most 24, each need a level of their own, and the root
MAX_DEPTH = 64
# at the root: the first best action, a random best one, all values exact
FIRST, RANDOM, EVERY = range(3)

WHITE, BLACK, KINGS, SIDE, TURNS, LEFT, JUMPING, SQUARE, DIRS, ACTION = range(10)
LEAF_WHITE, LEAF_BLACK, LEAF_KINGS = range(10, 13)
ALPHA, BETA, BEST = range(3)
NODES, CHOSEN, TRIED, TIES = range(4)


class Way(NamedTuple):
    """How to search, as kernels read it."""

    kind: int  # feature set
    depth: int  # turns
    quiescence: bool  # go on while there are captures
    misere: bool  # who has no legal action wins
    root: int  # FIRST, RANDOM or EVERY


class Tree(NamedTuple):
    """Working memory, one row per level of the line under search."""

    node: np.ndarray  # int64 [levels, 13]: position, what is left to try, leaf of the best line
    window: np.ndarray  # float64 [levels, 3]: alpha, beta, best value
    counts: np.ndarray  # int64 [2, 22]
    phi: np.ndarray  # float64 [22]
    values: np.ndarray  # float64 [128]: of the root's actions in their order; exact with EVERY
    found: np.ndarray  # int64 [4]: positions visited, chosen action, actions tried, ties


def make_tree(depth: int) -> Tree:
    """Return the working memory of a search."""
    levels = depth + SPARE
    return Tree(
        np.zeros((levels, 13), np.int64),
        np.zeros((levels, 3)),
        np.zeros((2, NUM_FEATURES), np.int64),
        np.zeros(NUM_FEATURES),
        np.zeros(128),
        np.zeros(4, np.int64),
    )


@kernel
def search(tree, way, weights, owner, white, black, kings, side, jumper, rng):
    """Return the owner's activation of a running position; action and leaf are left in the tree.

    `jumper` is the square from which a jump under way goes on, or NONE.

    Source: [mandziuk2004] Sec. 2. Deviations: D5, D12, D15.
    """
    own, enemy = (white, black) if side == 0 else (black, white)
    pieces = np.int64(1) << jumper if jumper >= 0 else jumpers(own, enemy, kings, side)
    jumping = np.int64(pieces != 0)
    if not jumping:
        pieces = steppers(own, enemy, kings, side)
    put(tree.node, 0, white, black, kings, side, way.depth, pieces, jumping)
    tree.found[CHOSEN], tree.found[TRIED], tree.found[TIES] = NONE, 0, 1
    tree.window[0, ALPHA], tree.window[0, BETA] = -np.inf, np.inf
    tree.window[0, BEST] = -np.inf if side == owner else np.inf
    level = 0
    while True:
        action = next_action(tree.node, level)
        if action != NONE:
            tree.node[level, ACTION] = action
            if expand(tree, way, weights, owner, level, action):
                level += 1
                continue
        elif level == 0:
            return tree.window[0, BEST]
        else:
            level -= 1
        absorb(tree, way, owner, level, rng)


@kernel
def put(node, level, white, black, kings, side, turns, pieces, jumping):
    """Write a position and what is to be tried there."""
    node[level, WHITE], node[level, BLACK], node[level, KINGS] = white, black, kings
    node[level, SIDE], node[level, TURNS] = side, turns
    node[level, LEFT], node[level, JUMPING], node[level, DIRS] = pieces, jumping, 0


@kernel
def next_action(node, level):
    """Take the next untried action, or return NONE."""
    if node[level, DIRS] == 0:
        left = node[level, LEFT]
        if left == 0:
            return np.int64(NONE)
        square, side = lowest(left), node[level, SIDE]
        white, black = node[level, WHITE], node[level, BLACK]
        own, enemy = (white, black) if side == 0 else (black, white)
        node[level, LEFT], node[level, SQUARE] = left & (left - 1), square
        node[level, DIRS] = directions(
            own, enemy, node[level, KINGS], side, square, node[level, JUMPING]
        )
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
        pieces = jumpers(enemy, own, kings, side)
        jumping = np.int64(pieces != 0)
        if not jumping:
            pieces = steppers(enemy, own, kings, side)
        leaf = turns <= 0 and not (way.quiescence and jumping)
        if pieces == 0 or leaf:
            node[child, LEAF_WHITE], node[child, LEAF_BLACK] = white, black
            node[child, LEAF_KINGS] = kings
            if pieces == 0:
                winner = side if way.misere else 1 - side
                window[child, BEST] = WON if winner == owner else -WON
            else:
                features(way.kind, white, black, kings, owner, tree.counts, tree.phi)
                window[child, BEST] = product(weights, tree.phi)
            return False
        put(node, child, white, black, kings, side, turns, pieces, jumping)
    window[child, ALPHA], window[child, BETA] = window[level, ALPHA], window[level, BETA]
    window[child, BEST] = -np.inf if side == owner else np.inf
    return True


@kernel
def absorb(tree, way, owner, level, rng):
    """Take over the value of the child in the next row; drop actions that cannot matter."""
    node, window, child = tree.node, tree.window, level + 1
    value, best = window[child, BEST], window[level, BEST]
    maximising = node[level, SIDE] == owner
    better = value > best if maximising else value < best
    if level == 0:
        tree.values[tree.found[TRIED]] = value
        tree.found[TRIED] += 1
        if way.root == RANDOM and value == best:
            tree.found[TIES] += 1
            better = random_int(rng, tree.found[TIES]) == 0
        elif better:
            tree.found[TIES] = 1
        if better:
            tree.found[CHOSEN] = node[0, ACTION]
    if not better:
        return
    window[level, BEST] = value
    node[level, LEAF_WHITE] = node[child, LEAF_WHITE]
    node[level, LEAF_BLACK] = node[child, LEAF_BLACK]
    node[level, LEAF_KINGS] = node[child, LEAF_KINGS]
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
def search_state(tree, way, weights, owner, s, rng):
    """Search a state of the game, as :func:`search`."""
    white, black, kings = bits_of(s[0]), bits_of(s[1]), bits_of(s[2])
    side, jumper = np.int64(s[3] & 1), np.int64(s[3] >> 1 & 63) - 1
    return search(tree, way, weights, owner, white, black, kings, side, jumper, rng)


def way_of(net, root: int = FIRST) -> Way:
    """Return how a linear value function searches."""
    misere = net.game.spec["name"] == "giveaway"
    return Way(net.kind, net.depth, net.quiescence, misere, root)


class Searcher:
    """Searches positions with one weight vector.

    Source: [mandziuk2004] Sec. 2. Deviations: D5, D12, D15.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.papers.mandziuk2004.linear import Linear
    >>> game = games.load("giveaway")
    >>> net = Linear(game, depth=2, weights=[-1.0] + [0.0] * 21)
    >>> value, action = Searcher(net).best(game.start())
    >>> round(value, 6), game.action_name(game.start(), action)
    (0.0, '21-17')
    """

    def __init__(self, net):
        if net.depth > MAX_DEPTH:
            raise ValueError(f"the depth must be at most {MAX_DEPTH}, not {net.depth}")
        self.net, self.tree, self._rng = net, make_tree(net.depth), new_rng(0)

    @property
    def positions(self) -> int:
        """Positions that the last search visited."""
        return int(self.tree.found[NODES])

    def best(self, state, owner: int | None = None) -> tuple[float, int]:
        """Return V for the owner (default: the player to move), and the chosen action."""
        activation = self._search(state, FIRST, owner)
        return float(value_of(activation)), int(self.tree.found[CHOSEN])

    def leaf(self) -> tuple[int, int, int]:
        """Return White's pieces, Black's and the kings at the end of the principal variation."""
        return tuple(int(word) & ALL for word in self.tree.node[0, LEAF_WHITE : LEAF_KINGS + 1])

    def values(self, state) -> np.ndarray:
        """Return the mover's V of every legal action, float64[num_legal]."""
        if self.net.game.over(state):
            return np.zeros(0)
        self._search(state, EVERY, None)
        return np.array([value_of(v) for v in self.tree.values[: self.tree.found[TRIED]]])

    def _search(self, state, root, owner):
        game = self.net.game
        if game.over(state):
            raise ValueError(f"the game is over, nothing to search:\n{game.render(state)}")
        self.tree.found[NODES] = 0
        owner = game.player(state) if owner is None else owner
        how = self.tree, way_of(self.net, root), self.net.weights
        return search_state(*how, owner, game._state(state), self._rng)
