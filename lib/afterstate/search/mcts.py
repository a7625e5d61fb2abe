"""Monte Carlo tree search for any number of players, with or without chance.

Every iteration goes down a tree by upper confidence bounds (UCT), adds one node, and plays on at
random; the kernels are in ``uct.py``. Rewards are scaled to [0, 1], and mean rewards are kept for
every player.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ..checks import whole
from ..games.game import check_game
from ..games.validation import stuck
from ..kernel.random import new_rng
from .uct import ROOT, Limits, Tree, Work, fill_roots, iterate, plant

MAX_ITERATIONS = 10_000_000
MAX_SLOTS = 2**31 - 1
UNLIMITED = 2**31 - 1
LOG_ENTRIES = 1 << 16  # visit counts whose logarithm is looked up; beyond, it is computed
CHUNK = 1000  # iterations between two looks at the keyboard
FIRST_SLOTS = 1 << 10
FINALS = ("mean", "visits")
ANY_GAME = SimpleNamespace(score_range=(0.0, 1.0))


class SearchResult(NamedTuple):
    """What :func:`search` returns; one row for each legal action, as ``game.legal`` orders them."""

    # fmt: off
    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray   # int64 [num_legal]
    values: np.ndarray   # float64 [num_legal, players]: mean final reward, NaN where never tried
    tree: Tree           # valid until the next search with the same memory
    # fmt: on


def _new_tree(game, slots, old=None) -> Tree:
    """Make room for so many slots, with what is in use of an older tree."""
    outcomes = 1 if game.deterministic else slots

    def column(kind, *width):
        return np.empty((slots, *width), kind)

    tree = Tree(
        *(column(np.int32) for _ in range(7)),
        column(float, game.players),
        column(float),
        column(float),
        np.empty(outcomes, np.int32),
        np.empty((outcomes, 2), np.uint64),
        np.zeros(1, np.int64),
    )
    for new, filled in zip(tree, old or ()):
        n = min(int(old.used[0]), len(filled))
        new[:n] = filled[:n]
    return tree


class TreeSearch:
    """A tree and its working memory, used by one search after another.

    The tree grows when a search needs more slots.

    Parameters
    ----------
    game : Game
    iterations : int
        The most that will be asked for.
    limits : Limits
        Of all its searches.
    """

    def __init__(self, game, iterations, limits):
        self.game, self.limits = check_game(game, "a search"), limits
        deepest = min(limits.tree_depth, iterations)  # an iteration adds one level at most
        self.work = Work(
            np.zeros(game.size, np.int32),
            np.zeros(game.size, np.int32),
            np.zeros(game.max_legal, np.int32),
            np.zeros(2 * deepest + 2, np.int32),
            np.zeros(game.players),
            np.zeros(2, np.uint64),
            np.zeros(min(iterations, LOG_ENTRIES) + 1),
        )
        fill_roots(self.work.roots)
        # a block and an outcome in every iteration
        self.most_slots = min(1 + iterations * (game.max_legal + 1), MAX_SLOTS)
        self.tree = _new_tree(
            game, min(self.most_slots, max(FIRST_SLOTS, 4 * iterations) + game.max_legal)
        )

    def run(self, state, iterations, seed, chunk=CHUNK) -> SearchResult:
        """Search from a state that is not terminal.

        Pieces of `chunk` iterations let Ctrl-C through; they change no number.
        """
        self.work.root[:] = state
        plant(self.game.rules, self.tree, self.work)
        done, rng = 0, new_rng(seed)
        while done < iterations:
            wanted = min(chunk, iterations - done)
            made = iterate(self.game.rules, self.tree, self.work, self.limits, wanted, rng)
            done += made
            if made < wanted:
                self._grow()
        return self._result()

    def _grow(self):
        slots = len(self.tree.action)
        if slots >= self.most_slots:
            raise MemoryError(
                f"{slots:,} slots are not enough for this search tree of {self.game.name}: ask for"
                " fewer iterations"
            )
        self.tree = _new_tree(self.game, min(2 * slots, self.most_slots), self.tree)

    def _result(self) -> SearchResult:
        """Return what the tree says about the root's actions."""
        tree = self.tree
        block = slice(tree.first[ROOT], tree.first[ROOT] + tree.num_children[ROOT])
        tried = np.arange(tree.num_children[ROOT]) < tree.num_tried[ROOT]
        # slots never tried hold whatever was in memory
        visits = np.where(tried, tree.visits[block], 0).astype(np.int64)
        values = np.full((len(tried), self.game.players), np.nan)
        values[tried] = (
            self.limits.low + tree.sums[block][tried] / visits[tried, None] / self.limits.scale
        )
        # expansion has shuffled the block
        place = {action: i for i, action in enumerate(tree.action[block].tolist())}
        order = [place[action] for action in self.game.legal(self.work.root).tolist()]
        return SearchResult(tree.action[block][order], visits[order], values[order], tree)


def depth_limit(name, number) -> int:
    """Return a whole number of at least 1, or UNLIMITED for None; raise ValueError for others."""
    return UNLIMITED if number is None else whole(f"{name}, or None,", number, 1, UNLIMITED)


def limits_of(game, k=2**0.5, tree_depth=10, rollout_depth=200, reward_range=None) -> Limits:
    """Return the parameters of :func:`search` as its kernels take them.

    Raises ValueError if one is out of its range.
    """
    if isinstance(k, bool) or not isinstance(k, (int, float, np.number)) or not 0.0 <= k < np.inf:
        raise ValueError(f"k, the weight of exploration, must be a number of at least 0, not {k!r}")
    try:
        low, high = map(float, game.score_range if reward_range is None else reward_range)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise ValueError(
            "reward_range must be two numbers, the smaller first, or None for the game's own, not"
            f" {reward_range!r}"
        )
    return Limits(
        float(k),
        depth_limit("tree_depth", tree_depth),
        depth_limit("rollout_depth", rollout_depth),
        low,
        1.0 / (high - low),
    )


def running_state(game, state) -> np.ndarray:
    """Return the state, or raise ValueError if there is nothing to search."""
    state = game._state(state, to_move=True)
    if game.over(state):
        raise ValueError(
            f"the game is over in this state of {game.name}, there is nothing to search:"
            f" {game.render(state)!r}"
        )
    if not len(game.legal(state)):
        raise ValueError(stuck(game, state))
    return state


def search(
    game,
    state,
    iterations: int,
    *,
    k: float = 2**0.5,
    tree_depth: int | None = 10,
    rollout_depth: int | None = 200,
    reward_range: tuple[float, float] | None = None,
    seed: int = 0,
) -> SearchResult:
    """Search from a state by UCT and return what it found out about every legal action.

    Parameters
    ----------
    game : Game
    state : int32 [size]
        Not terminal.
    iterations : int, in [1, 10,000,000]
    k : float, >= 0
        Weight of exploration, for rewards scaled to [0, 1].
    tree_depth : int, >= 1, or None
        Actions from the root beyond which the tree does not grow; None: no limit.
    rollout_depth : int, >= 1, or None
        Actions from the root after which a random game is cut and its present score counts; None:
        no limit, for games that always end.
    reward_range : (float, float), optional
        Rewards that count as 0 and as 1; default: the game's ``score_range``.
    seed : int
        The only source of chance.

    Returns
    -------
    SearchResult

    Raises
    ------
    ValueError
        If the state is terminal or a parameter is out of its range.

    Source: [kocsis2006]; [konen2021] Table 1 (opponent MCTS). Deviations: D37, D44.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.search import mcts
    >>> game = games.load("tictactoe")
    >>> found = mcts.search(game, game.parse("x x . o o . . . ."), 2000, seed=1)
    >>> int(found.actions[found.visits.argmax()]), int(found.visits.sum())
    (2, 2000)
    """
    iterations = whole("iterations", iterations, 1, MAX_ITERATIONS)
    limits = limits_of(game, k, tree_depth, rollout_depth, reward_range)
    return TreeSearch(game, iterations, limits).run(running_state(game, state), iterations, seed)
