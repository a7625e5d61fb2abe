"""TD-learning whose training moves are those of a PUCT search around the agent that learns.

Only line 6 of Alg. 2, the choice of a move, differs from :mod:`afterply.learners.td`. One tree
serves both players; it begins with the episode, though the weights change meanwhile.
"""

import math

import numpy as np

from ..games.calls import call_player
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.random import random_bits, random_float, random_int
from ..networks.lookup import NOW, value_candidates
from ..search.puct import Search
from . import td
from .adaptation import schedules
from .parameters import check_parameters, choice, defaults, fraction, number, switch, whole
from .session import EPISODES, MOVES, TRUNCATED
from .td import begin, final_adapt_agents, make_afterstate, make_move

__all__ = ["Session"]

NAME = "td_wrapped"
VERSION = 1  # raise it when the numbers of a training change

PARAMETERS = {k: v for k, v in td.PARAMETERS.items() if k not in ("step_back", "greedy")} | {
    "iterations": whole(100, "of the search before every move of the training", 1),
    "c_puct": number(1.0, "weight of the priors in the search", 0.0),
    "training_exploration": choice(
        ("none", "visits", "epsilon"), "the most visited move, one by visits, or a random one"
    ),
    "pass_nodes": switch(False, "whether the search has nodes for passes"),
    "search_from": fraction(0.0, "of all episodes; those before it have no search"),
}
DEFAULTS = defaults(PARAMETERS)


@kernel
def learn_move(rules, net, par, mem, action, explored):
    """Make a move and learn from it as in td; return whether the episode is over."""
    alpha, _ = schedules(par, mem.counters[EPISODES])
    p = np.int64(call_player(rules, mem.state[NOW]))
    make_afterstate(rules, net, mem, p, action, 1)
    value_candidates(net, mem, p, 1)
    over = make_move(rules, net, par, mem, p, p, 1, mem.value[1], explored, alpha)
    mem.counters[MOVES] += 1
    if over:
        final_adapt_agents(rules, net, par, mem, p, alpha)
    return over


class Session(td.Session):
    """One training run; two players must have opposite rewards: see :class:`NetworkSession`.

    Source: [scheiermann2022] Sec. IV-E. Deviations: D9, D21, D32.
    """

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        checked = check_parameters(PARAMETERS, params, check_game(game), changed)
        params_of_td = {name: value for name, value in checked.items() if name in td.PARAMETERS}
        super().__init__(game, td.DEFAULTS | params_of_td, seed)
        self.params = checked
        self._run_without_search = self._run
        self._run = self._play
        self.search = Search(
            game,
            self.net,
            checked["iterations"],
            c_puct=checked["c_puct"],
            gamma=checked["gamma"],
            step_reward=checked["step_reward"],
            pass_nodes=checked["pass_nodes"],
        )

    def _play(self, net, par, mem, num_episodes):
        """Play and learn, with a search before every move. Deviations: D21."""
        rules = self.game.rules
        first_with_search = math.ceil(self.params["search_from"] * self.par.episodes)
        num_without_search = max(0, min(first_with_search - self.episode, num_episodes))
        if num_without_search:
            self._run_without_search(net, par, mem, num_without_search)
        for _ in range(num_episodes - num_without_search):
            begin(rules, net, par, mem)
            self._plant()
            plies = 0
            over = False
            while not over and plies < par.max_plies:
                action, explored, keep_tree = self._choose()
                over = learn_move(rules, net, par, mem, action, explored)
                plies += 1
                if over:
                    continue
                followed = keep_tree and self.search.follow([(action, self._state())])
                if not followed:
                    self._plant()
            mem.counters[TRUNCATED] += not over
            mem.counters[EPISODES] += 1

    def _state(self) -> np.ndarray:
        return self.mem.state[NOW].copy()

    def _plant(self) -> None:
        self.search.plant(self._state(), int(random_bits(self.mem.rng)))

    def _choose(self) -> tuple[int, bool, bool]:
        """Return action, explored, tree kept. Source: [scheiermann2022] Sec. IV-E; D4, D8, D21."""
        rng = self.mem.rng
        exploration = self.params["training_exploration"]
        if exploration == "epsilon":
            _, epsilon = schedules(self.par, self.episode)
            if random_float(rng) < epsilon:
                legal = self.game.legal(self._state())
                return int(legal[random_int(rng, len(legal))]), True, False
        result = self.search.run(self.params["iterations"])
        num_visits = int(result.visits.sum())
        if exploration == "visits" and num_visits:
            drawn = random_int(rng, num_visits)
            place = np.searchsorted(np.cumsum(result.visits), drawn, side="right")
            return int(result.actions[place]), True, True
        merit = result.visits if num_visits else result.priors  # one iteration visits nothing
        return int(result.actions[np.argmax(merit)]), False, True
