"""PUCT searches: a tree that grows, is searched in pieces, and follows the moves that are played.

The iterations are in ``puct.py``, what they ask of a network in ``puct_leaves.py``; a player is in
``wrapped.py``.

Memory: a node takes 40 bytes, 4 more for each number of a state and 8 for each player; a slot
takes 44. A tree that is kept along the moves grows by the iterations of a move, less what the move
cuts off. Ten thousand iterations of Othello take 4.4 MB, six moves with the tree kept 18 MB; the
arrays double when they are full.
"""

import sys
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ..games.game import check_game
from ..kernel.random import new_rng
from ..networks.ntuple import Network
from .puct import iterate
from .puct_leaves import make_eye, no_net
from .puct_tree import (
    ANSWERED,
    BEST_ACTION,
    DONE,
    LENGTH,
    LINEAR,
    MISSING,
    NODE_ARRAYS,
    NONE,
    PASS,
    READY,
    ROLLOUT,
    ROOT,
    SLOT_ARRAYS,
    SOFTMAX,
    STATE,
    UNIFORM,
    WANTED,
    Par,
    Tree,
    Work,
    find_child,
    plant,
    reroot,
)

MAX_ITERATIONS = 10_000_000
UNLIMITED = 2**31 - 1
CHUNK = 1000  # iterations between two looks at the keyboard
PRIORS = {"softmax": SOFTMAX, "linear": LINEAR, "uniform": UNIFORM}
LEAF_VALUES = {"best action": BEST_ACTION, "state": STATE, "rollout": ROLLOUT}
CHANCES = ("drawn", "enumerated")
NUM_PROGRESS = 7
ANY_GAME = SimpleNamespace(
    name="any game", players=1, deterministic=True, rules=SimpleNamespace(outcome=1)
)


class Found(NamedTuple):
    """What a search has found; one row for each legal action, as ``game.legal`` orders them."""

    # fmt: off
    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray  # int64 [num_legal]
    values: (
        np.ndarray
    )  # float64 [num_legal]: mean value for the player to move, NaN for an action never visited
    priors: np.ndarray  # float64 [num_legal]
    # fmt: on


class Step(NamedTuple):
    """One action of a principal variation."""

    action: int
    visits: int
    value: float  # for the player who chooses it


def parameters(
    game,
    *,
    c_puct=1.0,
    epsilon=1e-8,
    gamma=1.0,
    scale=1.0,
    temperature=1.0,
    step_reward=0.0,
    max_depth=None,
    prior="softmax",
    leaf_value="best action",
    path_rewards=None,
    pass_nodes=False,
    chance="drawn",
    unvisited=0.0,
    external=False,
) -> Par:
    """Return the parameters of a search as its kernels take them; ``Wrapped`` says what they mean.

    Raises
    ------
    ValueError
        If a value is out of its range, or the game can not be searched like this.
    """
    if game.players > 2:
        raise ValueError(
            f"a wrapped agent plays games of one or two players, {game.name} has {game.players}: "
            "its values are those of the player to move only"
        )
    for name, number, low, high in (
        ("c_puct", c_puct, 0.0, sys.float_info.max),
        ("epsilon", epsilon, 0.0, 1.0),
        ("gamma", gamma, 0.0, 1.0),
        ("scale", scale, sys.float_info.min, sys.float_info.max),
        ("temperature", temperature, sys.float_info.min, sys.float_info.max),
        ("step_reward", step_reward, -sys.float_info.max, sys.float_info.max),
        ("unvisited", unvisited, -sys.float_info.max, sys.float_info.max),
    ):
        _check_number(name, number, low, high)
    for name, word, words in (
        ("prior", prior, PRIORS),
        ("leaf_value", leaf_value, LEAF_VALUES),
        ("chance", chance, CHANCES),
    ):
        if word not in words:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, not {word!r}")
    if chance == "enumerated" and game.rules.outcome == 0:
        raise ValueError(
            f"chance='enumerated' needs the rules outcomes and outcome, which {game.name} lacks: "
            "take chance='drawn'"
        )
    return Par(
        *map(float, (c_puct, epsilon, gamma, scale, temperature, step_reward)),
        _depth(max_depth),
        PRIORS[prior],
        LEAF_VALUES[leaf_value],
        external,
        bool(not game.deterministic if path_rewards is None else path_rewards),
        bool(pass_nodes and game.players == 2),
        chance == "enumerated",
        float(unvisited),
    )


def _check_number(name, number, low, high):
    real = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
    if not real or not low <= number <= high:
        raise ValueError(f"{name} must be a number from {low} to {high}, not {number!r}")


def _depth(given) -> int:
    if given is None:
        return UNLIMITED
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, np.integer))
        or not 1 <= given <= UNLIMITED
    ):
        raise ValueError(
            f"max_depth must be a whole number of at least 1, or None for no limit, not {given!r}"
        )
    return int(given)


def whole_iterations(number) -> int:
    """Return a number of iterations; raises ValueError unless it is from 1 to 10,000,000."""
    if (
        isinstance(number, bool)
        or not isinstance(number, (int, np.integer))
        or not 1 <= number <= MAX_ITERATIONS
    ):
        raise ValueError(
            f"iterations must be a whole number from 1 to {MAX_ITERATIONS:,}, not {number!r}"
        )
    return int(number)


def _new_tree(game, nodes, slots, old=None) -> Tree:
    """Make room for so many nodes and slots, with what is in use of an older tree."""
    real, players = np.float64, game.players
    tree = Tree(
        np.empty(slots, np.int32),
        np.empty(slots, real),
        np.empty(slots, np.int32),
        *(np.empty(slots, real) for _ in range(3)),
        np.empty(slots, np.int32),
        np.empty((nodes, game.size), np.int32),
        *(np.empty(nodes, np.int32) for _ in range(4)),
        np.empty((nodes, players), real),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, real),
        np.zeros(2, np.int64),
    )
    if old is not None:
        for part, n in ((SLOT_ARRAYS, old.used[0]), (NODE_ARRAYS, old.used[1])):
            for new, filled in zip(tree[part], old[part]):
                new[:n] = filled[:n]
        tree.used[:] = old.used
    return tree


def _paths(nodes) -> dict:
    return {"path_node": np.zeros(nodes + 2, np.int32), "path_slot": np.zeros(nodes + 2, np.int32)}


class Search:
    """A tree around one base agent: plant it, run it, follow the moves.

    Parameters
    ----------
    game : Game
        Of one or two players.
    base : Network, object with ``action_values(state)``, or function ``state -> values``
        Gives r + gamma V of every legal action for the player to move, float64[num_legal]. An
        ``ntuple.Network`` is read by the kernels themselves; anything else is called from Python,
        once for every leaf.
    iterations : int
        Usual number of a search: the first size of the tree.
    settings
        As in :func:`parameters`.
    """

    def __init__(self, game, base, iterations=1000, **settings):
        self.game, self.base = check_game(game, "a search"), base
        compiled = isinstance(base, Network) and not base.per_action  # kernels look up V only
        self.par = parameters(game, external=not compiled, **settings)
        self._net = base.arrays if compiled else no_net(game)
        self._eye = make_eye(game, self._net)
        nodes = whole_iterations(iterations) + 2
        self._tree = _new_tree(game, nodes, 8 * nodes + game.max_legal)
        self._work = Work(
            np.zeros(game.max_legal, np.int32),
            np.zeros(game.max_legal),
            np.zeros(game.size, np.int32),
            np.zeros(1),
            np.zeros(game.players),
            np.zeros(game.players),
            **_paths(nodes),
            progress=np.zeros(NUM_PROGRESS, np.int64),
        )
        self._rng, self.planted = new_rng(0), False

    @property
    def tree(self) -> Tree:
        """The tree; valid until the next call of a method."""
        return self._tree

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its working memory, without the network."""
        return sum(array.nbytes for part in (self._tree, self._work, self._eye) for array in part)

    @property
    def state(self) -> np.ndarray:
        """The state at the root, int32[size] (a copy)."""
        return self._tree.state[ROOT].copy()

    def plant(self, state, seed: int = 0) -> None:
        """Begin a new tree at a state that is not terminal.

        Chance outcomes and random games derive from `seed`.
        """
        plant(
            self.game.rules, self._tree, self._work, self.par, np.ascontiguousarray(state, np.int32)
        )
        self._rng, self.planted = new_rng(seed), True

    def follow(self, steps) -> bool:
        """Make the node after some (action, next state) the root, keeping what is below it.

        Return False if it is not in the tree, or not opened yet.
        """
        node = ROOT
        for action, state in steps if self.planted else ():
            node = self._child(node, action, np.ascontiguousarray(state, np.int32))
            if node == NONE:
                return False
        if not self.planted or self._tree.first[node] == NONE:
            return False
        if node != ROOT:
            reroot(self.game.rules, self._tree, node, self._work.path_node)
        return True

    def _child(self, node, action, state):
        """Return the node after an action; a pass node is left by its only slot."""
        child = find_child(self.game.rules, self._tree, node, action, state)
        while (
            child != NONE
            and self._tree.num_slots[child] == 1
            and self._tree.action[self._tree.first[child]] == PASS
        ):
            child = self._tree.node[self._tree.first[child]]
        return child

    def run(self, iterations: int) -> Found:
        """Add so many iterations to the tree.

        Pieces of 1000 let Ctrl-C through and change no number.
        """
        wanted, progress = whole_iterations(iterations), self._work.progress
        progress[DONE], status = 0, READY
        while progress[DONE] < wanted or status != READY:
            goal = min(wanted, int(progress[DONE]) + CHUNK)
            status = iterate(
                self.game.rules,
                self._net,
                self._eye,
                self._tree,
                self._work,
                self.par,
                goal,
                self._rng,
            )
            if status == MISSING:
                self._answer()
            elif status != READY:
                self._grow()
        return self.found()

    def _answer(self):
        """Ask the base agent for the values of a leaf."""
        state, game = self._work.state.copy(), self.game
        ask = getattr(self.base, "action_values", self.base)
        values = np.asarray(
            ask(state) if self.par.gamma == 1.0 else ask(state, self.par.gamma), np.float64
        )
        n = len(game.legal(state))
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(
                f"the wrapped agent must give {n} finite values, one for each legal action of "
                f"{game.render(state)!r}, not {values!r}"
            )
        self._work.table[:n] = values
        if self.par.leaf_value == STATE:
            self._work.own[0] = self.base.value(state, self._made_by(state))
        self._work.progress[ANSWERED] = 1

    def _made_by(self, state) -> int:
        """Return the player who has made the leaf that waits; at the root, the other one."""
        length = self._work.progress[LENGTH]
        if length > 0:
            return int(self._tree.player[self._work.path_node[length - 1]])
        return 1 - self.game.player(state) if self.game.players == 2 else 0

    def _grow(self):
        nodes, slots, used = len(self._tree.player), len(self._tree.action), self._tree.used
        wanted = int(self._work.progress[WANTED])
        while nodes < used[1] + wanted:
            nodes *= 2
        while slots < used[0] + wanted * self.game.max_legal:
            slots *= 2
        self._tree = _new_tree(self.game, nodes, slots, self._tree)
        if nodes + 2 > len(self._work.path_node):
            self._work = self._work._replace(**_paths(nodes))

    def found(self) -> Found:
        """Return what the tree says about the actions at the root."""
        tree = self._tree
        block = slice(tree.first[ROOT], tree.first[ROOT] + tree.num_slots[ROOT])
        visits = tree.visits[block].astype(np.int64)
        values = np.where(visits > 0, tree.mean[block], np.nan) / self.par.scale
        return Found(tree.action[block].copy(), visits, values, tree.prior[block].copy())

    def principal_variation(self) -> list[Step]:
        """Return the most visited actions from the root on, the first of equals.

        In a game of chance they go through the most visited next states.
        """
        tree, node, steps = self._tree, ROOT, []
        while node != NONE and tree.total[node] > 0:
            first, n = tree.first[node], tree.num_slots[node]
            slot = first + int(np.argmax(tree.visits[first : first + n]))
            if tree.action[slot] != PASS:
                steps.append(
                    Step(
                        int(tree.action[slot]),
                        int(tree.visits[slot]),
                        float(tree.mean[slot] / self.par.scale),
                    )
                )
            following, child = [], tree.node[slot]
            while child != NONE:
                following.append(child)
                child = tree.sibling[child]
            node = max(following, key=lambda c: (tree.total[c], -c), default=NONE)
        return steps
