"""PUCT searches: a tree that grows, is searched in pieces, and follows the moves that are played.

The iterations are in ``puct.py``, their parameters in ``puct_parameters.py``, what they ask of a
network in ``puct_leaves.py``; a player is in ``wrapped.py``.

Memory: a node takes 40 bytes, 4 more for each number of a state and 8 for each player; a slot
takes 44. A tree that is kept along the moves grows by the iterations of a move, less what the move
cuts off. Ten thousand iterations of Othello take 4.4 MB, six moves with the tree kept 18 MB; the
arrays double when they are full.
"""

import os
from typing import NamedTuple

import numpy as np

from ..games.game import check_game
from ..kernel.random import new_rng
from ..networks.ntuple import Network
from .mcts import running_state
from .puct import iterate
from .puct_leaves import make_eye, no_net
from .puct_parameters import check_base, parameters, suited, whole_iterations
from .puct_tree import (
    ANSWERED,
    DONE,
    LENGTH,
    MISSING,
    NODE_ARRAYS,
    NONE,
    PASS,
    READY,
    ROOT,
    SLOT_ARRAYS,
    STATE,
    WANTED,
    Tree,
    Work,
    find_child,
    plant,
    reroot,
)

CHUNK = 1000  # iterations between two looks at the keyboard
NUM_PROGRESS = 7


class Found(NamedTuple):
    """What a search has found; one row for each legal action, as ``game.legal`` orders them."""

    # fmt: off
    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray  # int64 [num_legal]
    values: np.ndarray  # float64 [num_legal]: the mover's mean value, NaN if never visited
    priors: np.ndarray  # float64 [num_legal]
    # fmt: on


class Step(NamedTuple):
    """One action of a principal variation."""

    action: int
    visits: int
    value: float  # for the player who chooses it


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
        Of one player, or of two whose rewards are opposite.
    base : Network, object with ``action_values(state)``, or function ``state -> values``
        Gives r + gamma V of every legal action for the player to move, float64[num_legal]. An
        ``ntuple.Network`` is read by the kernels themselves; anything else is called from Python,
        once for every leaf; a function without the discount, which is its own matter. Values
        are divided by its ``reward_unit``, if it has one: what it calls a reward of 1.
    iterations : int
        Usual number of a search: the first size of the tree.
    settings
        As in :func:`~afterstate.search.puct_parameters.parameters`; by default what the game says
        (`search_settings`).

    Raises
    ------
    ValueError
        If a parameter is out of its range, the agent belongs to another game, or the game has
        more than two players or two whose rewards are not opposite.
    """

    def __init__(self, game, base, iterations=1000, **settings):
        self.game, self.base = check_game(game, "a search"), base
        compiled = isinstance(base, Network) and not base.per_action  # kernels look up V only
        settings = suited(game, settings)
        check_base(base, settings, game)
        self.par = parameters(game, **settings)._replace(external=not compiled)
        self._unit = getattr(base, "reward_unit", 1.0)
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
        self._check_planted()
        return self._tree.state[ROOT].copy()

    def plant(self, state, seed: int = 0) -> None:
        """Begin a new tree at a state.

        Chance outcomes and random games derive from `seed`.

        Raises ValueError if it is no state of the game, or the game is over there.
        """
        state, rng = running_state(self.game, state), new_rng(seed)
        plant(self.game.rules, self._tree, self._work, self.par, state)
        self._rng, self.planted = rng, True

    def _check_planted(self):
        """Raise ValueError if there is no tree yet, whose arrays would hold anything."""
        if not self.planted:
            raise ValueError(
                f"this search of {self.game.name} has no tree yet: call plant(state) before"
            )

    def follow(self, steps) -> bool:
        """Make the node after some (action, next state) the root, keeping what is below it.

        Return False if it is not in the tree, or not opened yet. Raises ValueError for what is no
        state of the game.
        """
        node = ROOT
        for action, state in steps if self.planted else ():
            node = self._child(node, action, self.game._state(state))
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

        Pieces of 1000 let Ctrl-C through and change no number. Raises ValueError without
        :meth:`plant`, or if the base agent gives what is no number, and MemoryError if the tree
        outgrows this machine.
        """
        self._check_planted()
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
        found = self.found()
        # what is no number comes back along the path, whatever leaf has it
        if np.isnan(found.priors).any() or np.isnan(found.values[found.visits > 0]).any():
            raise ValueError(
                f"{self.base!r} has given values that are no numbers, or too large for the scale"
                f" {self.par.scale:g}: look for NaN in its weights"
            )
        return found

    def _answer(self):
        """Ask the base agent for the values of a leaf."""
        state, game = self._work.state.copy(), self.game
        ask, discount = getattr(self.base, "action_values", None), (self.par.gamma,)
        if ask is None or self.par.gamma == 1.0:
            ask, discount = ask or self.base, ()
        values = np.asarray(ask(state, *discount), np.float64)
        n = len(game.legal(state))
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(
                f"the wrapped agent must give {n} finite values, one for each legal action of "
                f"{game.render(state)!r}, not {values!r}"
            )
        self._work.table[:n] = values / self._unit
        if self.par.leaf_value == STATE:
            self._work.own[0] = self.base.value(state, self._made_by(state)) / self._unit
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
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        # old arrays and new ones, of which each is at least twice as large
        if slots >= 2**31 or 2 * self.nbytes > there - self.nbytes:
            raise MemoryError(
                f"{len(self._tree.player):,} nodes of {self.game.name} fill this search tree of"
                f" {self.nbytes / 2**30:.1f} GiB, and one twice as large has no room: ask for fewer"
                " iterations, or plant a new tree"
            )
        self._tree = _new_tree(self.game, nodes, slots, self._tree)
        if nodes + 2 > len(self._work.path_node):
            self._work = self._work._replace(**_paths(nodes))

    def found(self) -> Found:
        """Return what the tree says about the actions at the root."""
        self._check_planted()
        tree = self._tree
        block = slice(tree.first[ROOT], tree.first[ROOT] + tree.num_slots[ROOT])
        visits = tree.visits[block].astype(np.int64)
        values = np.where(visits > 0, tree.mean[block], np.nan) / self.par.scale
        return Found(tree.action[block].copy(), visits, values, tree.prior[block].copy())

    def principal_variation(self) -> list[Step]:
        """Return the most visited actions from the root on, the first of equals.

        In a game of chance they go through the most visited next states.
        """
        self._check_planted()
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
