"""A trained agent wrapped by a PUCT search while it plays, and only then."""

import numpy as np

from ..checks import boolean, seed_number, whole
from ..games.game import check_game
from ..kernel.random import seed_from
from ..processes import PerThread
from ..search.puct import MAX_ITERATIONS, Search, parameters
from .basic import Player


class _Last(PerThread):
    """The last search of a thread, what it was asked, and how far the match had come then."""

    def __init__(self):
        self.search = self.asked = self.match = None
        self.steps = self.trainings = 0  # steps: of the match


class Wrapped(Player):
    """Choose the action that a PUCT search around a base agent visits most, the first of equals.

    Settings; one that is not given is what the game says (``Game(search_settings={...})``)::

        prior          "softmax", "linear" or "uniform", of the base agent's values  D3
        leaf_value     "best action": the leaf's greatest r + gamma V(afterstate);
                       "state": its V; "rollout": the end of a random game  D2
        max_depth      actions from the root of the present search, also in a kept tree,
                       None: no limit; what lies deeper counts -1 for who chose it,
                       the end of a game, too; cubes have 50  D7
        pass_nodes     a node for a pass, where a player moves twice in a row  D9
        path_rewards   rewards along the path count in a leaf's value; not in cubes  D10
        chance         next states are "drawn" as in the game, or "enumerated": first their
                       expectation, then each in turn by its probability  D24
        step_reward    added to the reward of every move: 0, in cubes -0.04  D16
        gamma          discount, in [0, 1], of the afterstate's value and along the path
        scale          factor of values in Eq. (1) and priors; by default the greatest
                       reward of the game's `score_range` becomes 1, in 2048 100
        epsilon        the constant of Eq. (2)  D5
        unvisited      the mean value of an action without visits in Eq. (1): 0, and with more
                       than two players a fair share of the rewards  D26
        others         with more than two players, what a leaf is worth for the others: "next", what
                       each expects of his next afterstate if all move greedily until then, or
                       "share", equal shares of what the player to move leaves

    ValueError if a parameter is out of range, or the game is another one than the base agent's, or
    of two players whose rewards are not opposite; or if ``others="next"`` is asked of a base that
    is no network.

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
        for agent in (base, getattr(base, "net", None)):
            if has_values := callable(getattr(agent, "action_values", None)):
                base = agent
                break
        function = callable(base) and not isinstance(base, (type, Player))
        if not has_values and not function:
            raise ValueError(f"a wrapped agent has action_values or is a function, not {base!r}")
        self.base, self.iterations = base, whole("iterations", iterations, 1, MAX_ITERATIONS)
        self.tree_reuse = boolean("tree_reuse", tree_reuse)
        self.settings = settings if c_puct is None else {"c_puct": c_puct, **settings}
        self.game = getattr(base, "game", None) if game is None else game
        if self.game is not None:
            parameters(check_game(self.game, "a wrapped agent"), base, self.settings)
        self.name, self.seed = f"Wrapped-{self.iterations}", 0
        self._steps, self._last = [], _Last()

    def __getstate__(self):  # a copy, for another seat or process, has a tree of its own
        return self.__dict__ | {"_steps": [], "_last": _Last()}

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match with a new tree."""
        if self.game is not check_game(game, "a wrapped agent"):
            parameters(game, self.base, self.settings)
        self.game, self.seed, self._steps = game, seed_number(seed), []

    def observe(self, action, state):
        """Remember a move, along which the tree is kept."""
        self._steps.append((int(action), np.array(state, np.int32)))

    def search(self, state) -> Search:
        """Return the search from a state, in the tree kept along the moves since, or in a new one.

        It is new if the base agent was trained in between; after other changes, call `new_match`.
        """
        if self.game is None:
            raise ValueError("this agent does not say what it plays: give Wrapped(..., game=...)")
        state, trainings = self.game._state(state), getattr(self.base, "trainings", 0)
        last, match = self._last, self._steps
        if last.match is not match or last.trainings != trainings:
            last.asked, last.steps, last.match, last.trainings = None, 0, match, trainings
        now = len(match)
        steps = match[last.steps : now]  # since the last search
        if last.asked is not None and not steps and np.array_equal(last.asked, state):
            return last.search
        if last.search is None or last.search.game is not self.game:
            last.search = Search(self.game, self.base, self.iterations, **self.settings)
        steps = [(None, last.asked), *steps] if last.asked is not None else []
        follows = self.tree_reuse and steps and np.array_equal(steps[-1][1], state)
        if not (follows and last.search.follow(steps[1:])):
            key = np.ascontiguousarray(state, np.int32).tobytes().hex()
            last.search.plant(state, seed_from(self.seed, "search", key))
        # an interrupted search is not taken for a finished one
        last.asked, last.steps = None, now
        last.search.run(self.iterations)
        last.asked = state.copy()
        return last.search

    def choose(self, state) -> int:
        """Return the most visited action. Source: [scheiermann2022] Sec. II-B; D4."""
        found = self.search(state).found()
        best = found.visits if found.visits.any() else found.priors  # one iteration visits nothing
        return int(found.actions[np.argmax(best)])

    def values(self, state) -> np.ndarray:
        """Return the mean value of every legal action for the mover, NaN where never visited."""
        return self.search(state).found().values

    def visits(self, state) -> np.ndarray:
        """Return the visits of every legal action, int64[num_legal]."""
        return self.search(state).found().visits

    def principal_variation(self, state) -> list:
        """Return the expected line of play: (action, visits, value for the player) a step."""
        return self.search(state).principal_variation()
