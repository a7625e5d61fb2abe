"""PUCT searches: a tree that grows, is searched in pieces, and follows the moves that are played.

Memory: a node takes 40 bytes, 4 more for each number of a state and 8 for each player; a slot
takes 44. Ten thousand iterations of Othello take 4.4 MB, six moves with the tree kept 18 MB.
"""

import os
import sys
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ..checks import boolean, number, one_of, whole
from ..games.calls import allocate
from ..games.conformance import not_opposite
from ..games.game import Game, check_game
from ..kernel.random import new_rng
from ..networks.ntuple import Network
from . import puct
from .mcts import CHUNK, MAX_ITERATIONS, UNLIMITED, depth_limit, running_state
from .puct import NONE, PASS, ROOT, Eye, Par, Tree, Work

PRIORS = {"softmax": puct.SOFTMAX, "linear": puct.LINEAR, "uniform": puct.UNIFORM}
LEAF_VALUES = {"best action": puct.BEST_ACTION, "state": puct.STATE, "rollout": puct.ROLLOUT}
MOST, LEAST = sys.float_info.max, sys.float_info.min
# for settings that are checked before the game is known
ANY_GAME = SimpleNamespace(
    players=1, rules=SimpleNamespace(outcome=1), score_range=(-1.0, 1.0), search_settings={}
)


def parameters(
    game,
    *,
    c_puct=1.0,
    epsilon=1e-8,
    gamma=1.0,
    scale=None,
    temperature=1.0,
    step_reward=0.0,
    max_depth=None,
    rollout_depth=10_000,
    prior="softmax",
    leaf_value="best action",
    path_rewards=True,
    pass_nodes=False,
    chance="drawn",
    unvisited=0.0,
) -> Par:
    """Return the parameters of a search as its kernels take them; ``Wrapped`` explains them.

    Raises ValueError if one is out of its range, or the game can not be searched like this.
    """
    check_players(game)
    scale = 1.0 / max(map(abs, game.score_range)) if scale is None else scale
    enumerated = one_of("chance", chance, ("drawn", "enumerated")) == "enumerated"
    if enumerated and game.rules.outcome == 0:
        raise ValueError(
            f"chance='enumerated' needs the rules outcomes and outcome, which {game.name} lacks: "
            "take chance='drawn'"
        )
    return Par(
        c_puct=number("c_puct", c_puct, 0.0, MOST),
        epsilon=number("epsilon", epsilon, 0.0, 1.0),
        gamma=number("gamma", gamma, 0.0, 1.0),
        scale=number("scale", scale, LEAST, MOST),
        temperature=number("temperature", temperature, LEAST, MOST),
        step_reward=number("step_reward", step_reward, -MOST, MOST),
        max_depth=depth_limit("max_depth", max_depth),
        rollout_depth=whole("rollout_depth", rollout_depth, 1, UNLIMITED),
        prior=PRIORS[one_of("prior", prior, PRIORS)],
        leaf_value=LEAF_VALUES[one_of("leaf_value", leaf_value, LEAF_VALUES)],
        external=False,
        path_rewards=boolean("path_rewards", path_rewards),
        pass_nodes=boolean("pass_nodes", pass_nodes) and game.players == 2,
        enumerated=enumerated,
        unvisited=number("unvisited", unvisited, -MOST, MOST),
    )


def suited(game, given: dict) -> dict:
    """Return the settings of a search: those given, and for the others what the game says.

    Raises ValueError for a name that no setting has.
    """
    known = parameters.__kwdefaults__
    for name in (*given, *game.search_settings):
        if name not in known:
            raise ValueError(f"a search has no setting {name!r}; there are {', '.join(known)}")
    return {**game.search_settings, **given}


def whole_iterations(given) -> int:
    """Return a number of iterations; raises ValueError unless it is from 1 to 10,000,000."""
    return whole("iterations", given, 1, MAX_ITERATIONS)


def check_base(base, settings: dict, game) -> None:
    """Raise ValueError if an agent can not give what a search of the game asks it for."""
    own = getattr(base, "game", None)
    if isinstance(own, Game) and own is not game and own.identity != game.identity:
        raise ValueError(
            f"this agent was made for {own!r}, the game is {game!r}: make one for this game, or"
            " load the right weights"
        )
    can = callable(getattr(base, "value", None)) and not getattr(base, "per_action", False)
    if settings.get("leaf_value") == "state" and not can:
        raise ValueError(
            f"leaf_value='state' asks for value(state, player), which {base!r} does not give: take"
            " leaf_value='best action'"
        )


def check_players(game) -> None:
    """Raise ValueError unless a game has one player, or two whose rewards are opposite."""
    if game.players > 2:
        raise ValueError(
            f"a wrapped agent plays games of one or two players, {game.name} has {game.players}"
        )
    if game.players == 2 and game.spec is None and not game.found_opposite:  # a home-made game
        if fault := not_opposite(check_game(game, "a search")):
            raise ValueError(
                "a wrapped agent takes the other player's value for the opposite of its own, but"
                f" {fault}: let 'score' give each player his share less the other's, such as 1 and"
                " -1 instead of 1 and 0"
            )
        game.found_opposite = True


def _new_tree(game, nodes, slots, old=None) -> Tree:
    """Make room for this number of nodes and slots, with what is in use of an older tree."""
    tree = Tree(**allocate(puct.TREE, game, nodes=nodes, slots=slots))
    if old is not None:
        for part, n in ((puct.SLOT_ARRAYS, old.used[0]), (puct.NODE_ARRAYS, old.used[1])):
            for new, filled in zip(tree[part], old[part]):
                new[:n] = filled[:n]
        tree.used[:] = old.used
    return tree


class Found(NamedTuple):
    """What a search has found; one row for each legal action, as ``game.legal`` orders them."""

    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray  # int64 [num_legal]
    values: np.ndarray  # float64 [num_legal]: the mover's mean value, NaN if never visited
    priors: np.ndarray  # float64 [num_legal]


class Step(NamedTuple):
    """One action of a principal variation."""

    action: int
    visits: int
    value: float  # for the player who chooses it


class Search:
    """A tree around one base agent: plant it, run it, follow the moves.

    The game is for one player, or for two with opposite rewards. `base`, a Network, an object with
    ``action_values(state)``, or a function ``state -> values``, gives r + gamma V of every legal
    action for the player to move, float64[num_legal], in units of its ``reward_unit``, if it has
    one. Kernels read a network of V themselves; anything else is called from Python, once for every
    leaf. `iterations` is the first size of `tree`, which grows; `settings` are those of
    :func:`parameters`, by default what the game says. Raises ValueError if one of them is bad.
    """

    def __init__(self, game, base, iterations=1000, **settings):
        self.game, self.base = check_game(game, "a search"), base
        compiled = isinstance(base, Network) and not base.per_action  # kernels look up V only
        settings = suited(game, settings)
        check_base(base, settings, game)
        self.par = parameters(game, **settings)._replace(external=not compiled)
        self._unit = getattr(base, "reward_unit", 1.0)
        # kernels take the arrays of some network even if they ask a Python function instead
        self._net = base.arrays if compiled else Network(game, [[0]]).arrays
        sizes = {"features": len(self._net.offset), "weights": self._net.weights.dtype}
        sizes |= {"rows": 1 + game.max_legal, "symmetries": len(game.symmetries)}
        self._eye = Eye(**allocate(puct.EYE, game, **sizes))
        nodes = whole_iterations(iterations) + 2
        self.tree = _new_tree(game, nodes, 8 * nodes + game.max_legal)
        self._work = Work(**allocate(puct.WORK, game, path=nodes + 2))
        self._rng, self.planted = new_rng(0), False

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its working memory, without the network."""
        return sum(array.nbytes for part in (self.tree, self._work, self._eye) for array in part)

    @property
    def state(self) -> np.ndarray:
        """The state at the root, int32[size] (a copy)."""
        self._check_planted()
        return self.tree.state[ROOT].copy()

    def plant(self, state, seed: int = 0) -> None:
        """Begin a new tree at a state; chance outcomes and random games derive from `seed`."""
        state, rng = running_state(self.game, state), new_rng(seed)
        puct.plant(self.game.rules, self.tree, self._work, self.par, state)
        self._rng, self.planted = rng, True

    def _check_planted(self):
        if not self.planted:
            raise ValueError(
                f"this search of {self.game.name} has no tree yet: call plant(state) before"
            )

    def follow(self, steps) -> bool:
        """Keep what is below some (action, next state); return False if there is nothing."""
        if not self.planted:
            return False
        rules, tree, node = self.game.rules, self.tree, ROOT
        for action, state in steps:
            node = puct.find_child(rules, tree, node, action, self.game._state(state))
            # a pass node is left by its only slot
            while (
                node != NONE and tree.num_slots[node] == 1 and tree.action[tree.first[node]] == PASS
            ):
                node = tree.node[tree.first[node]]
            if node == NONE:
                return False
        if tree.first[node] == NONE:
            return False
        if node != ROOT:
            puct.reroot(rules, tree, node, self._work.path_node)
        return True

    def run(self, iterations: int) -> Found:
        """Add iterations to the tree; pieces of 1000 let Ctrl-C through and change no number.

        Raises ValueError without :meth:`plant`, or if the base agent gives what is no number, and
        MemoryError if the tree outgrows this machine.
        """
        self._check_planted()
        wanted, progress = whole_iterations(iterations), self._work.progress
        given, status = (self.game.rules, self._net, self._eye), puct.READY
        progress[puct.DONE] = 0
        while progress[puct.DONE] < wanted or status != puct.READY:
            goal = min(wanted, int(progress[puct.DONE]) + CHUNK)
            status = puct.iterate(*given, self.tree, self._work, self.par, goal, self._rng)
            if status == puct.MISSING:
                self._answer()
            elif status != puct.READY:
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
        if self.par.leaf_value == puct.STATE:
            owner = int(puct.made_by(self.tree, self._work, game.player(state)))
            self._work.own[0] = self.base.value(state, owner) / self._unit
        self._work.progress[puct.ANSWERED] = 1

    def _grow(self):
        nodes, slots, used = len(self.tree.player), len(self.tree.action), self.tree.used
        wanted = int(self._work.progress[puct.WANTED])
        while nodes < used[1] + wanted:
            nodes *= 2
        while slots < used[0] + wanted * self.game.max_legal:
            slots *= 2
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        # old arrays and new ones, of which each is at least twice as large
        if slots >= 2**31 or 2 * self.nbytes > there - self.nbytes:
            raise MemoryError(
                f"{len(self.tree.player):,} nodes of {self.game.name} fill this search tree of"
                f" {self.nbytes / 2**30:.1f} GiB, and one twice as large has no room: ask for fewer"
                " iterations, or plant a new tree"
            )
        self.tree = _new_tree(self.game, nodes, slots, self.tree)
        if nodes + 2 > len(self._work.path_node):
            path, slots = np.zeros(nodes + 2, np.int32), np.zeros(nodes + 2, np.int32)
            self._work = self._work._replace(path_node=path, path_slot=slots)

    def found(self) -> Found:
        """Return what the tree says about the actions at the root."""
        self._check_planted()
        tree = self.tree
        block = slice(tree.first[ROOT], tree.first[ROOT] + tree.num_slots[ROOT])
        visits = tree.visits[block].astype(np.int64)
        values = np.where(visits > 0, tree.mean[block], np.nan) / self.par.scale
        return Found(tree.action[block].copy(), visits, values, tree.prior[block].copy())

    def principal_variation(self) -> list[Step]:
        """Return the most visited actions, and next states, from the root on."""
        self._check_planted()
        tree, node, steps = self.tree, ROOT, []
        while node != NONE and tree.total[node] > 0:
            first, n = tree.first[node], tree.num_slots[node]
            slot = first + int(np.argmax(tree.visits[first : first + n]))
            if tree.action[slot] != PASS:
                value = float(tree.mean[slot] / self.par.scale)
                steps.append(Step(int(tree.action[slot]), int(tree.visits[slot]), value))
            following, child = [], tree.node[slot]
            while child != NONE:
                following.append(child)
                child = tree.sibling[child]
            node = max(following, key=lambda c: (tree.total[c], -c), default=NONE)
        return steps
