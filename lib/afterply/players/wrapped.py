"""A trained agent wrapped by a PUCT search while it plays, and only then."""

import numpy as np

from ..checks import boolean, seed_number, whole
from ..games.game import check_game
from ..kernel.random import seed_from
from ..processes import PerThread
from ..search.puct import MAX_ITERATIONS, Search, parameters
from .basic import Player


class _Last(PerThread):
    """The last search of a thread, and what was known when it began."""

    def __init__(self):
        self.search = None
        self.state = None  # from which it searched; None unless it was finished
        self.moves = None  # the list of the moves of the match ...
        self.num_moves = 0  # ... and how many they were
        self.trainings = 0  # how often the base agent had been trained

    def forget_unless(self, moves, trainings):
        """Forget the state if this is another match, or if the base agent has learned since."""
        if self.moves is moves and self.trainings == trainings:
            return
        self.state = None
        self.moves = moves
        self.num_moves = 0
        self.trainings = trainings


class Wrapped(Player):
    """Choose the action that a PUCT search around a base agent visits most, the first of equals.

    The settings of the search. One that is not given has the value that the game states
    (``Game(search_settings={...})``)::

        prior          "softmax", "linear" or "uniform", of the base agent's values  D3
        leaf_value     "best action": the leaf's greatest r + gamma V(afterstate);
                       "state": its V; "rollout": the end of a random game  D2
        max_depth      most actions from the root of the present search, also in a kept tree;
                       None: no limit. A deeper state, even a terminal one, is worth -1
                       for the player who chose it. In cubes 50  D7
        pass_nodes     whether a pass has a node where a player moves twice in a row  D9
        path_rewards   whether the rewards along the path are a part of a leaf's value;
                       not so in cubes  D10
        chance         next states are "drawn" as in the game, or "enumerated": first their
                       expectation, then each in turn by its probability  D24
        step_reward    what is added to the reward of every move: 0, in cubes -0.04  D16
        gamma          discount, in [0, 1], of the afterstate's value and along the path
        scale          factor of values in Eq. (1) and priors; by default the greatest
                       reward of the game's `score_range` becomes 1, in 2048 100
        epsilon        the constant of Eq. (2)  D5
        unvisited      the mean value of an action without visits in Eq. (1): 0, and with more
                       than two players a fair share of the rewards  D26
        others         with more than two players, what a leaf is worth for the others. "next":
                       what each of them expects of their next afterstate, if all move
                       greedily until then; "share": equal shares of the rewards that the
                       player to move leaves

    Source: [scheiermann2022] Alg. 1, Eqs. (1), (2), Sec. II-B.
    Deviations: D2 to D10, D16, D24, D26.

    Parameters
    ----------
    base : network, session, object with ``action_values(state)``, or function ``state -> values``
        Gives r + gamma V(afterstate) of every legal action for the mover, float64[num_legal]. A
        function discounts by itself. ``reward_unit`` of an agent is what it calls a reward of 1.
    iterations : int, in [1, 10,000,000]
        Of every move, besides what is in the tree already.
    c_puct : float, >= 0
        Weight of the priors in Eq. (2), by default 1.  D6
    tree_reuse : bool
        Keep the part of the tree below the moves that are played.  D8
    game : Game, optional
        For a function that does not know its game, to ask for values outside a match.
    **settings
        As above.

    Raises
    ------
    ValueError
        If a parameter is out of range; if the game is not that of the base agent, or has two
        players whose rewards are not opposite; if ``others="next"`` is given and the base is no
        network.
    """

    def __init__(
        self,
        base,
        iterations: int = 1000,
        c_puct: float | None = None,
        *,
        tree_reuse: bool = True,
        game=None,
        **settings,
    ):
        self.base = _source_of_values(base)
        self.iterations = whole("iterations", iterations, 1, MAX_ITERATIONS)
        self.tree_reuse = boolean("tree_reuse", tree_reuse)
        self.settings = settings
        if c_puct is not None:
            self.settings = {"c_puct": c_puct, **settings}
        self.game = game
        if game is None:
            self.game = getattr(self.base, "game", None)
        if self.game is not None:
            check_game(self.game, "a wrapped agent")
            parameters(self.game, self.base, self.settings)  # ValueError if one does not fit
        self.name = f"Wrapped-{self.iterations}"
        self.seed = 0
        self._steps = []  # (action, state after it) of the present match
        self._last = _Last()

    def __getstate__(self):  # a copy, for another seat or process, has a tree of its own
        return self.__dict__ | {"_steps": [], "_last": _Last()}

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match with a new tree."""
        check_game(game, "a wrapped agent")
        if game is not self.game:
            parameters(game, self.base, self.settings)  # ValueError if one does not fit
        self.game = game
        self.seed = seed_number(seed)
        self._steps = []

    def observe(self, action, state):
        """Remember a move, along which the tree is kept."""
        self._steps.append((int(action), np.array(state, np.int32)))

    def search(self, state) -> Search:
        """Return the search from a state, in the tree of the last one if moves lead to the state.

        The tree is new if the base agent has been trained in between. After any other change of
        the base agent, call `new_match`.
        """
        if self.game is None:
            raise ValueError("this agent does not say what it plays: give Wrapped(..., game=...)")
        state = self.game._state(state)
        moves = self._steps
        num_moves = len(moves)
        last = self._last
        last.forget_unless(moves, getattr(self.base, "trainings", 0))
        moves_since = moves[last.num_moves : num_moves]
        if last.state is not None and not moves_since and np.array_equal(last.state, state):
            return last.search
        if last.search is None or last.search.game is not self.game:
            last.search = Search(self.game, self.base, self.iterations, **self.settings)
        if not self._keeps_tree(last, moves_since, state):
            key = np.ascontiguousarray(state, np.int32).tobytes().hex()
            last.search.plant(state, seed_from(self.seed, "search", key))
        last.state = None  # until the search is finished: it may be interrupted
        last.num_moves = num_moves
        last.search.run(self.iterations)
        last.state = state.copy()
        return last.search

    def _keeps_tree(self, last, moves_since, state) -> bool:
        """Make `state` the root of the tree if the moves since the last search lead to it.

        Return False if they do not, or if the tree does not hold it.
        """
        if not self.tree_reuse or last.state is None or not moves_since:
            return False
        _, reached = moves_since[-1]
        return np.array_equal(reached, state) and last.search.follow(moves_since)

    def choose(self, state) -> int:
        """Return the most visited action. Source: [scheiermann2022] Sec. II-B; D4."""
        result = self.search(state).found()
        # A search of one iteration visits no action: then the greatest prior decides.
        preferences = result.visits if result.visits.any() else result.priors
        return int(result.actions[np.argmax(preferences)])

    def values(self, state) -> np.ndarray:
        """Return the mean value of every legal action for the mover, NaN where never visited."""
        return self.search(state).found().values

    def visits(self, state) -> np.ndarray:
        """Return the visits of every legal action, int64[num_legal]."""
        return self.search(state).found().visits

    def principal_variation(self, state) -> list:
        """Return the expected line of play, a list of (action, visits, value)."""
        return self.search(state).principal_variation()


def _source_of_values(base):
    """Return what gives the values of actions: `base`, or the network that it carries."""
    for agent in (base, getattr(base, "net", None)):
        if callable(getattr(agent, "action_values", None)):
            return agent
    is_function = callable(base) and not isinstance(base, (type, Player))
    if not is_function:
        raise ValueError(f"a wrapped agent has action_values or is a function, not {base!r}")
    return base
