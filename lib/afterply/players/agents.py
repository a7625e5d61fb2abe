"""Agents that need no search while they play, the players of [jamieson2022], and contests of two.

They are greedy or softmax in a table of action values, take Min-Max moves from a table (searched
when a position comes up first, and kept), or move at random. Kernels play whole games of them: see
``networks.table_games``.
"""

import numpy as np

from ..checks import count, fraction, number, one_of, whole
from ..games.game import check_game
from ..kernel.functions import exp
from ..kernel.random import random_float
from ..networks.table import QTable
from ..networks.table_games import (
    FIRST,
    GREEDY,
    GREEDY_FIRST,
    RANDOM,
    SOFTMAX,
    ContestResult,
    Policy,
    Side,
    check_two_players,
    play_contest,
    q_table,
)
from ..search.best_moves import FULL_DEPTH, BestMoves, min_max_side
from ..search.puct import check_base
from .basic import Seated


class Agent(Seated):
    """A player that needs no search: a side of a contest, which may sit at any board."""

    name = "Agent"

    def __init__(self, side: Side):
        self.game = check_two_players(side.net.game)
        self.side = side
        self.kind = side.policy.kind
        self.epsilon = side.policy.epsilon
        self.temperature = side.policy.temperature
        self.search = side.net if isinstance(side.net, BestMoves) else None

    @property
    def net(self):
        """The table; that of a search fills while it plays, in each thread its own."""
        if self.search is not None:
            return self.search.net
        return self.side.net

    @property
    def identity(self) -> dict:
        """What tells it from others."""
        if self.search is not None:
            source = self.search.depth
        else:
            source = [self.net.checksum(), self.net.settings]
        return {**self.side.policy._asdict(), "name": self.name, "source": source}

    def choose(self, state) -> int:
        """Return an action, drawn from the policy."""
        cumulated = np.cumsum(self.policy(state))
        drawn = random_float(self.rng) * cumulated[-1]
        place = np.searchsorted(cumulated, drawn, side="right")
        return int(self.game.legal(state)[min(place, len(cumulated) - 1)])

    def policy(self, state) -> np.ndarray:
        """Return the probability of every legal action, float64[num_legal].  Deviations: D20."""
        legal = self.game.choices(state)
        random = _probabilities_at_random(legal, self.game.rules.compound)
        if self.kind == RANDOM:
            return random
        weights = self._weights(state, legal)
        return self.epsilon * random + (1.0 - self.epsilon) * weights / weights.sum()

    def _weights(self, state, legal):
        """Return how often each legal action is taken, up to a factor, if no move is random."""
        if self.kind == SOFTMAX:
            values = self.net.action_values(state)
            exponents = (values - values.max()) / self.temperature
            return np.array([exp(x) for x in exponents])  # numpy's differs between processors
        if self.kind in (GREEDY, GREEDY_FIRST):
            values = self.net.action_values(state)
            is_best = values == values.max()
        else:
            best = self.search.of(state)
            is_best = np.array([action in best for action in legal.tolist()])
        if self.kind in (FIRST, GREEDY_FIRST):
            return np.arange(len(legal)) == np.flatnonzero(is_best)[0]
        return is_best


def _probabilities_at_random(legal, compound):
    """Return the probability of each legal action, float64 [num_legal], if chosen at random.

    Of a compound action the first part is drawn, then the second.
    """
    if compound == 1:
        return np.full(len(legal), 1.0 / len(legal))
    first_parts = legal // compound
    _, place, num_actions = np.unique(first_parts, return_inverse=True, return_counts=True)
    return 1.0 / (len(num_actions) * num_actions[place])


def learned(net: QTable, epsilon: float = 0.0, temperature: float = 0.0) -> Agent:
    """Return the agent greedy in a table, or softmax (`temperature` > 0); random at `epsilon`."""
    kind = GREEDY_FIRST if q_table(net).ties == "first" else GREEDY
    if number("temperature", temperature, 0.0) > 0.0:
        kind = SOFTMAX
    check_two_players(net.game)
    policy = Policy(kind, net.owner, fraction("epsilon", epsilon), float(temperature))
    return Agent(Side(policy, net))


def chance(game) -> Agent:
    """Return the agent that moves at random; of a compound action one part after the other."""
    return Agent(Side(Policy(RANDOM, 0, 0.0, 0.0), QTable(game)))


def min_max(game, ties: str = "first", depth: int = FULL_DEPTH, epsilon: float = 0.0) -> Agent:
    """Return the Min-Max agent: deterministic (`ties` "first") or not ("random").

    Source: [jamieson2022] (M_det, M_Ndet). Deviations: D8, D14.
    """
    one_of("ties", ties, ("first", "random"))
    whole("depth", depth, FULL_DEPTH)
    return Agent(min_max_side(game, ties, depth, fraction("epsilon", epsilon)))


def contest(game, first: Agent, second: Agent, games: int = 100, seed: int = 0) -> ContestResult:
    """Play games of two agents; other players: TypeError.

    Source: [jamieson2022] Tables 5 to 9.

    >>> from afterply import games
    >>> game = games.load("tictactoe")
    >>> result = contest(game, min_max(game), min_max(game), games=10)
    >>> result.draws, result.distinct
    (10, 1)
    """
    check_agent(game, first)
    check_agent(game, second)
    return play_contest(game, first.side, second.side, count("the number of games", games), seed)


def check_agent(game, agent) -> Agent:
    """Return an agent of this game; TypeError or ValueError if it is none."""
    if not isinstance(agent, Agent):
        raise TypeError(f"{agent!r} is no agent of players.agents: others play in arena.matches")
    check_base(agent, check_game(game, "a contest"))
    return agent
