"""Players that look ahead: Max-N, Min-Max and Monte Carlo tree search."""

import numpy as np

from ..checks import one_of, seed_number, whole
from ..kernel.random import new_rng, pick_best, seed_from
from ..search import max_n, mcts
from .basic import BestValue, Player, wrap


class MCTS(Player):
    """Choose by a UCT search with random rollouts, which begins a new tree for every move.

    It plays the action with the greatest mean reward, and breaks exact ties at random.

    Source: [kocsis2006]; [konen2021] Table 1 (opponents MCTS5000, MCTS10000). Deviations: D37, D44.

    Parameters
    ----------
    iterations : int, in [1, 10,000,000]
    tree_depth, rollout_depth : int, >= 1, or None (no limit)
        Actions from the root.
    k : float, >= 0
        Weight of exploration.
    reward_range : (float, float), optional
        Rewards that count as 0 and as 1; default: the game's ``score_range``.
    """

    memory = None  # a TreeSearch
    found = None  # the last state as a text, and the search from it

    def __init__(
        self,
        iterations: int = 1000,
        tree_depth: int | None = 10,
        rollout_depth: int | None = 200,
        k: float = 2**0.5,
        reward_range: tuple[float, float] | None = None,
    ):
        self.iterations = whole("iterations", iterations, 1, mcts.MAX_ITERATIONS)
        self.name = f"MCTS-{self.iterations}"
        self.parameters = dict(
            k=k, tree_depth=tree_depth, rollout_depth=rollout_depth, reward_range=reward_range
        )
        mcts.limits_of((0.0, 1.0), **self.parameters)  # raises now, not in the first match

    def __getstate__(self):  # a copy, for another seat or process, has a tree of its own
        return self.__dict__ | {"memory": None, "found": None}

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match, in the memory of the last one if the game is the same."""
        if self.memory is None or self.memory.game is not game:
            self.memory = mcts.TreeSearch(game, self.iterations, **self.parameters)
        self.game = game
        self.seed = seed_number(seed)
        self.found = None

    def search(self, state) -> mcts.SearchResult:
        """Return the search from a state, whose chance depends on the match and the state only."""
        _, result = self._search(state)
        return result

    def _search(self, state) -> tuple:
        """Return a text that stands for the state, and the search from it: the last one or new."""
        key = np.ascontiguousarray(state, np.int32).tobytes().hex()
        key_and_result = self.found
        if key_and_result is None or key_and_result[0] != key:
            root = mcts.running_state(self.game, state)
            seed = seed_from(self.seed, "search", key)
            result = self.memory.run(root, self.iterations, seed)
            key_and_result = (key, result)
            self.found = key_and_result
        return key_and_result

    def choose(self, state) -> int:
        """Return the action with the best mean."""
        key, result = self._search(state)
        values_of_tried = np.where(result.visits > 0, self.values(state), -np.inf)
        rng = new_rng(seed_from(self.seed, "ties", key))
        return int(result.actions[pick_best(values_of_tried, rng)])

    def values(self, state) -> np.ndarray:
        """Return the mover's mean reward of every legal action, NaN where never tried."""
        return np.ascontiguousarray(self.search(state).values[:, self.game.player(state)])


class MaxN(BestValue):
    """Look ahead with Max-N, in which every player maximises its own reward.

    After `depth` actions, at least 1, a position is worth its present reward. Exact ties are broken
    at random. The search keeps what it has seen in a table; `positions` limits it: see
    :func:`afterply.search.max_n.values`.

    With an agent `leaf`, in games for one player or for two with opposite rewards, the last of the
    actions is worth its reward and what the agent's network says of the afterstate. So depth 1 is
    the agent alone, and in 2048 depth 3 is what is called expectimax of 3 plies.

    Source: [korf1991]; [konen2021] Table 1 (Max-N, depth 10 for Tic-Tac-Toe, 15 for Nim).

    Examples
    --------
    >>> from afterply import games, players
    >>> game, agent = games.load("game2048"), players.zoo("game2048")
    >>> MaxN(2, leaf=agent).playing(game).values(game.start(seed=1)).shape
    (4,)
    """

    # of the class, so that a player without them is told as it always was
    positions = None
    leaf = None

    def __init__(self, depth: int = 10, positions: int | None = None, leaf=None):
        self.depth = max_n.check_depth(depth)
        if positions is not None:
            self.positions = max_n.check_positions(positions)
        self.name = f"Max-N-{self.depth}"
        if leaf is not None:
            agent = wrap(leaf)
            self.leaf = max_n.check_leaf(getattr(agent, "net", leaf))
            self.name += f" around {agent.name}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the agent at the leaves does not go with the game."""
        super().new_match(game, actions_from_start, seat, seed)
        if self.leaf is not None:
            max_n.check_leaf(self.leaf, game)

    def values(self, state) -> np.ndarray:
        """Return the mover's value of every legal action."""
        by_player = max_n.values(self.game, state, self.depth, self.positions, self.leaf)
        return np.ascontiguousarray(by_player[:, self.game.player(state)])


class MinMax(BestValue):
    """Look ahead with Min-Max, in a game for two players with opposite rewards.

    After `depth` actions, at least 1, a position is worth what the game's rule `heuristic` says; in
    a game without one, its present reward. Of equally good actions the player takes the first in
    the order of ``game.legal`` (`ties` "first"), or any at random ("random").

    Source: [knuth1975]; [jamieson2022] "Min-Max Algorithm in the Context of Games" (deterministic:
    "first", non-deterministic: "random").
    """

    def __init__(self, depth: int, ties: str = "first"):
        self.depth = max_n.check_depth(depth)
        self.ties = one_of("ties", ties, ("first", "random"))
        self.name = f"Min-Max-{self.depth}-{ties}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        super().new_match(game, actions_from_start, seat, seed)
        self.searcher = max_n.MinMaxSearch(game, self.depth)

    def choose(self, state) -> int:
        """Return a best action."""
        legal = self.game.choices(state)
        if self.ties == "first":
            best = int(np.argmax(self.searcher.values(state, max_n.FIRST)))
        else:
            best = pick_best(self.searcher.values(state, max_n.TIES), self.rng)
        return int(legal[best])

    def values(self, state) -> np.ndarray:
        """Return the mover's value of every legal action."""
        return self.searcher.values(state)
