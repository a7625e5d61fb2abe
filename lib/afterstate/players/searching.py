"""Players that look ahead: Max-N, Min-Max and Monte Carlo tree search."""

import copy

import numpy as np

from ..checks import boolean, one_of, whole
from ..games.game import check_game
from ..kernel.random import new_rng, pick_best, seed_from
from ..search import max_n, min_max
from ..search.mcts import (
    ANY_GAME,
    FINALS,
    MAX_ITERATIONS,
    SearchResult,
    TreeSearch,
    limits_of,
    running_state,
)


class MCTS:
    """Choose by a UCT search with random rollouts; every move has a new tree.

    Parameters
    ----------
    iterations : int, in [1, 10,000,000]
    tree_depth, rollout_depth : int, >= 1, or None
        Actions from the root; None: no limit.
    k : float, >= 0
        Weight of exploration.
    final : {"mean", "visits"}
        Play the action with the best mean or with the most visits; exact ties at random.
    reward_range : (float, float), optional
        Rewards that count as 0 and as 1; default: the game's ``score_range``.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Source: [kocsis2006]; [konen2021] Table 1 (opponents MCTS5000, MCTS10000). Deviations: D37, D44.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> both = {"mcts": players.MCTS(500), "random": players.Random()}
    >>> table = arena.matches(games.load("nim"), both, episodes=10, seed=1)
    >>> bool(table[table.player == "mcts"].score.mean() > 0.8)
    True
    """

    version = 1  # raised when the moves change

    def __init__(
        self,
        iterations: int = 1000,
        tree_depth: int | None = 10,
        rollout_depth: int | None = 200,
        k: float = 2**0.5,
        final: str = "mean",
        reward_range: tuple[float, float] | None = None,
    ):
        self.iterations = whole("iterations", iterations, 1, MAX_ITERATIONS)
        self.final = one_of("final", final, FINALS)
        self.parameters = dict(
            k=k, tree_depth=tree_depth, rollout_depth=rollout_depth, reward_range=reward_range
        )
        limits_of(ANY_GAME, **self.parameters)  # raises now rather than in the first match
        self.name, self.memory, self.found = f"MCTS-{self.iterations}", None, None

    def copy(self):
        """Return the same player with a tree of its own, for another seat."""
        other = copy.copy(self)
        other.memory = other.found = None
        return other

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; the memory of the last one is used again if the game is the same."""
        if self.memory is None or self.memory.game is not game:
            self.memory = TreeSearch(game, self.iterations, limits_of(game, **self.parameters))
        self.game, self.seed, self.found = game, seed, None

    def search(self, state) -> SearchResult:
        """Return the search from a state.

        Its chance depends on nothing but the match and the state.
        """
        key = np.ascontiguousarray(state, np.int32).tobytes().hex()
        if self.found is None or self.found[0] != key:
            self.found = (
                key,
                self.memory.run(
                    running_state(self.game, state),
                    self.iterations,
                    seed_from(self.seed, "search", key),
                ),
            )
        return self.found[1]

    def choose(self, state) -> int:
        """Return the action with the best mean or the most visits."""
        found = self.search(state)
        worth = (
            found.visits.astype(float)
            if self.final == "visits"
            else np.where(found.visits > 0, self.values(state), -np.inf)
        )
        return int(
            found.actions[pick_best(worth, new_rng(seed_from(self.seed, "ties", self.found[0])))]
        )

    def values(self, state) -> np.ndarray:
        """Return the mover's mean final reward of every legal action, float64[num_legal].

        NaN for an action never tried.
        """
        return np.ascontiguousarray(self.search(state).values[:, self.game.player(state)])


class MaxN:
    """Look ahead with Max-N, every player maximising its own reward.

    Exact ties at the root at random.

    Parameters
    ----------
    depth : int
        Plies to look ahead, at least 1; at the limit a position is worth its present reward.
    unit : {"action", "turn"}
        What the depth counts.

    Source: [korf1991]; [konen2021] Table 1 (Max-N, depth 10 for Tic-Tac-Toe, 15 for Nim).
    """

    version = 1  # raised when the moves change

    def __init__(self, depth: int = 10, unit: str = "action"):
        max_n.check_depth(depth, unit)
        self.depth, self.unit = int(depth), unit
        self.name = f"Max-N-{self.depth}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = check_game(game, self.name), new_rng(seed)

    def choose(self, state) -> int:
        """Return the best action."""
        return int(self.game.legal(state)[pick_best(self.values(state), self.rng)])

    def values(self, state) -> np.ndarray:
        """Return the mover's Max-N value of every legal action, float64[num_legal]."""
        return np.ascontiguousarray(
            max_n.values(self.game, state, self.depth, self.unit)[:, self.game.player(state)]
        )


class MinMax:
    """Look ahead to a depth with Min-Max.

    At the limit the game's heuristic counts (for two players with opposite rewards).

    Parameters
    ----------
    depth : int
        Look-ahead, at least 1.
    heuristic : bool, optional
        Whether the game's rule `heuristic` gives the value at the limit, or the reward so far;
        default: if there is one.
    ties : {"first", "random"}
        Among exactly equal best actions: the first in the order of ``game.legal``, always, or one
        at random.
    unit : {"action", "turn"}
        What the depth counts: every action (Kalah: every sowing), or actions of one player in a row
        as one.

    Source: [knuth1975]; [jamieson2022] "Min-Max Algorithm in the Context of Games" (deterministic:
    "first", non-deterministic: "random").
    """

    version = 1  # raised when the moves change

    def __init__(
        self, depth: int, heuristic: bool | None = None, ties: str = "first", unit: str = "action"
    ):
        max_n.check_depth(depth, unit)
        one_of("ties", ties, ("first", "random"))
        if heuristic is not None:
            boolean("heuristic", heuristic)
        self.depth, self.heuristic, self.ties, self.unit = int(depth), heuristic, ties, unit
        self.name = f"Min-Max-{self.depth}-{ties}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the game is not of the right kind."""
        self.rng, self.game = new_rng(seed), check_game(game, self.name)
        self.searcher = min_max.Searcher(game, self.depth, self.unit, self.heuristic)

    def choose(self, state) -> int:
        """Return a best action."""
        if self.ties == "first":
            best = int(np.argmax(self.searcher.values(state, min_max.FIRST)))
        else:
            best = pick_best(self.searcher.values(state, min_max.TIES), self.rng)
        return int(self.game.legal(state)[best])

    def values(self, state) -> np.ndarray:
        """Return the mover's Min-Max value of every legal action, float64[num_legal]."""
        return self.searcher.values(state)
