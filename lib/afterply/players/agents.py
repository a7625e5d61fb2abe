"""Agents that need no search while they play, the players of [jamieson2022], and contests of two.

They are greedy or softmax in a table of action values, take Min-Max moves from a table (searched
when a position comes up first, and kept), or move at random. Kernels play whole games of them.
"""

from collections import namedtuple
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..checks import fraction, number, one_of, whole
from ..games import calls
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.functions import exp
from ..kernel.random import new_rng, random_float, random_int
from ..networks.table import NONE, QTable, find, full, insert, read_values
from ..processes import PerThread
from ..search import max_n
from ..search.max_n import TIES, MinMaxSearch
from ..search.puct import check_base
from .basic import Seated

# kinds of agents: of FIRST and UNIFORM, the best moves are in the table; GREEDY_FIRST draws no ties
GREEDY, RANDOM, FIRST, UNIFORM, SOFTMAX, GREEDY_FIRST = range(6)
DONE, MISSING, TABLE_FULL, TRACE_FULL = range(4)  # why a kernel stops
RUNNING, PLIES, GAMES = range(3)  # in Work.progress
FULL_DEPTH = 0


class Policy(NamedTuple):
    """How an agent chooses its actions, beside its table: what kernels read."""

    kind: int
    owner: int
    epsilon: float
    temperature: float  # of SOFTMAX


WORK = {  # the game that is being played, and working memory
    "state": ("int32", "size"),
    "moves": ("int32", "max_legal"),
    "values": ("float64", "actions"),
    "key": ("uint64", 2),
    "score": ("float64", 2),
    "progress": ("int64", 3),  # RUNNING, PLIES, GAMES
}
Work = namedtuple("Work", ["rng", *WORK])


def check_two_players(game):
    """Return a game of two players, or raise ValueError."""
    if check_game(game, "an agent").players != 2:
        raise ValueError(f"tabular agents play games of two players, not {game.name}")
    return game


def q_table(value) -> QTable:
    """Return `value` if it is a table of action values, or raise TypeError."""
    if not isinstance(value, QTable):
        raise TypeError(f"a table of action values (a QTable) is needed, not {value!r}")
    return value


def new_work(game, seed: int) -> Work:
    """Make the working memory for games of two players."""
    return Work(new_rng(seed), **calls.allocate(WORK, check_two_players(game)))


@kernel
def choose(rules, policy, table, work, n):
    """Return an action, -MISSING if its best is unknown. Source: [jamieson2022] Eq. (1); D5, D8."""
    searched = policy.kind == FIRST or policy.kind == UNIFORM
    if searched:  # the key leaves clocks out, which count here
        calls.mix_words(work.state, rules.core, work.key)
    state = find(table, policy.owner, work.key) if policy.kind != RANDOM else np.int64(NONE)
    if searched and state == NONE:
        return np.int64(-MISSING)
    if policy.kind == RANDOM or policy.epsilon > 0.0 and random_float(work.rng) < policy.epsilon:
        return calls.random_action(rules, work.moves, n, work.rng)
    if policy.kind == SOFTMAX:
        return softmax(policy, table, work, state, n)
    if searched:
        return best_move(policy, table, work, state)
    return greedy(table, work, state, n, policy.kind == GREEDY_FIRST)


@kernel
def greedy(table, work, state, n, first):
    """Return the action with the greatest Q.  Source: [jamieson2022] Eq. (1). Deviations: D8."""
    read_values(table, state, work.moves, n, work.values)
    top, ties = work.values[work.moves[0]], 1
    for i in range(1, n):
        value = work.values[work.moves[i]]
        if value > top:
            top, ties = value, 1
        elif value == top:
            ties += 1
    skip = random_int(work.rng, ties) if ties > 1 and not first else 0
    i = 0
    while work.values[work.moves[i]] != top or skip > 0:
        if work.values[work.moves[i]] == top:
            skip -= 1
        i += 1
    return np.int64(work.moves[i])


@kernel
def weigh(policy, table, work, state, n):
    """Write exp((Q - max Q) / temperature), or 1 for the greatest Q, else 0; return the sum."""
    read_values(table, state, work.moves, n, work.values)
    top, total = work.values[work.moves[0]], 0.0
    for i in range(1, n):
        top = max(top, work.values[work.moves[i]])
    for i in range(n):
        above = work.values[work.moves[i]] - top
        if policy.kind == SOFTMAX:
            weight = exp(above / policy.temperature)
        else:
            weight = 1.0 if above == 0.0 else 0.0
        work.values[work.moves[i]] = weight
        total += weight
    return total


@kernel
def softmax(policy, table, work, state, n):
    """Return an action with probability proportional to exp(Q / temperature)."""
    left = random_float(work.rng) * weigh(policy, table, work, state, n)
    for i in range(n - 1):
        left -= work.values[work.moves[i]]
        if left < 0.0:
            return np.int64(work.moves[i])
    return np.int64(work.moves[n - 1])


@kernel
def best_move(policy, table, work, state):
    """Return the first of the best moves of a state, or any of them.  Deviations: D8."""
    entry, ties = table.newest[state], 0
    while entry != NONE:
        ties += 1
        entry = table.older[entry]
    entry = table.newest[state]  # the best moves were put in from the last to the first
    for _ in range(random_int(work.rng, ties) if policy.kind == UNIFORM and ties > 1 else 0):
        entry = table.older[entry]
    return np.int64(table.action[entry])


@kernel
def look_at(rules, work):
    """Write legal actions and key of the present state; return (player, number of actions)."""
    calls.call_key(rules, work.state, work.key)
    return calls.call_player(rules, work.state), calls.call_legal(rules, work.state, work.moves)


@kernel
def keep_best(rules, search, table, state):
    """Put the best moves of a search into a table, from the last; return whether there was room."""
    key = search.keys[0]
    calls.mix_words(state, rules.core, key)
    sign = 1.0 if calls.call_player(rules, state) == 0 else -1.0
    n, moves, best = calls.call_legal(rules, state, search.moves[0]), search.moves[0], -np.inf
    for i in range(n):
        best = max(best, sign * search.values[i])
    for i in range(n - 1, -1, -1):
        if sign * search.values[i] == best:
            if full(table):
                return False
            _, entry = insert(table, 0, key, moves[i])
            table.q[entry] = 1.0
    return True


class BestMoves(PerThread):
    """The best moves of every position met, by Min-Max. Source: [jamieson2022]; D14."""

    def __init__(self, game, depth: int = FULL_DEPTH):
        self.game, self.net, self.depth = game, QTable(game), depth
        self.searcher = None if depth == FULL_DEPTH else MinMaxSearch(game, depth)

    def of(self, state) -> list[int]:
        """Return the best actions, in the order of the rules."""
        if self.searcher is None:
            values = max_n.values(self.game, state, max_n.UNLIMITED)[:, self.game.player(state)]
        else:
            values = self.searcher.values(state, TIES)
        return self.game.legal(state)[values == values.max()].tolist()

    def add(self, state) -> None:
        """Search a position and keep its best moves."""
        if self.searcher is None:
            key = np.zeros(2, np.uint64)
            calls.mix_words(state, self.game.rules.core, key)
            for action in reversed(self.of(state)):
                self.net.put_under(key, action, 1.0)
            return
        self.searcher.run(state, TIES)
        while not keep_best(self.game.rules, self.searcher.line, self.net.table, state):
            self.net.grow()


_searched = lru_cache(8)(BestMoves)  # which all agents of a game share


class Agent(Seated):
    """A player that needs no search: a kind of choice, and the table that it reads."""

    def __init__(self, kind: int, given: QTable | BestMoves, epsilon=0.0, temperature=0.0):
        self.game, self.kind, self._given = check_two_players(given.game), kind, given
        self.search = given if isinstance(given, BestMoves) else None
        self.epsilon = fraction("epsilon", epsilon)
        self.temperature, self.name = float(temperature), "Agent"

    @property
    def net(self) -> QTable:
        """The table; that of a search fills while it plays, in each thread its own."""
        return self._given if isinstance(self._given, QTable) else self._given.net

    @property
    def identity(self) -> dict:
        """What tells it from others."""
        net, search = self.net, self.search
        source = search.depth if search else [net.checksum(), net.settings]
        return {**self.kernel_policy._asdict(), "name": self.name, "source": source}

    def choose(self, state) -> int:
        """Return an action, drawn from the policy."""
        below = np.cumsum(self.policy(state))
        drawn = np.searchsorted(below, random_float(self.rng) * below[-1], side="right")
        return int(self.game.legal(state)[min(drawn, len(below) - 1)])

    @property
    def kernel_policy(self) -> Policy:
        """What kernels read."""
        return Policy(self.kind, self.net.owner, self.epsilon, self.temperature)

    def policy(self, state) -> np.ndarray:
        """Return the probability of every legal action, float64[num_legal].  Deviations: D20."""
        legal = self.game.choices(state)
        parts = legal // self.game.rules.compound
        _, first, of_first = np.unique(parts, return_inverse=True, return_counts=True)
        even = 1.0 / (len(of_first) * of_first[first])
        if self.kind == RANDOM:
            return even
        if self.kind == SOFTMAX:
            values = self.net.action_values(state)
            above = (values - values.max()) / self.temperature
            best = np.array([exp(x) for x in above])  # numpy's differs between processors
        elif self.kind in (GREEDY, GREEDY_FIRST):
            values = self.net.action_values(state)
            best = values == values.max()
        else:
            best = np.isin(legal, self.search.of(state))
        if self.kind in (FIRST, GREEDY_FIRST):
            best = np.arange(len(legal)) == np.flatnonzero(best)[0]
        return self.epsilon * even + (1.0 - self.epsilon) * best / best.sum()


def learned(net: QTable, epsilon: float = 0.0, temperature: float = 0.0) -> Agent:
    """Return the agent greedy in a table, or softmax (`temperature` > 0); random at `epsilon`."""
    kind = GREEDY_FIRST if q_table(net).ties == "first" else GREEDY
    kind = SOFTMAX if number("temperature", temperature, 0.0) > 0.0 else kind
    return Agent(kind, net, epsilon=epsilon, temperature=temperature)


def chance(game) -> Agent:
    """Return the agent that moves at random; of a compound action one part after the other."""
    return Agent(RANDOM, QTable(game))


def min_max(game, ties: str = "first", depth: int = FULL_DEPTH, epsilon: float = 0.0) -> Agent:
    """Return the Min-Max agent: deterministic (`ties` "first") or not ("random").

    Source: [jamieson2022] (M_det, M_Ndet). Deviations: D8, D14.
    """
    one_of("ties", ties, ("first", "random")), whole("depth", depth, FULL_DEPTH)
    search = _searched(check_two_players(game), depth)
    return Agent(FIRST if ties == "first" else UNIFORM, search, epsilon)


@kernel
def path_with(path, action):
    """Return the hash of a sequence of actions and one more."""
    path = (path ^ np.uint64(action + 1)) * np.uint64(0xFF51AFD7ED558CCD)
    return path ^ (path >> np.uint64(29))


@kernel
def result_of(score):
    """Return 1 if the first player won, 0 for a draw, -1 if the second won."""
    return 1 if score[0] > score[1] else -1 if score[0] < score[1] else 0


@kernel
def _contest(rules, policies, tables, work, results, plies, paths):
    """Play until `results` is full, or a Min-Max agent needs a position searched."""
    while work.progress[GAMES] < results.shape[0]:
        game = work.progress[GAMES]
        if work.progress[RUNNING] == 0:
            calls.call_start(rules, work.state, work.rng)
            work.progress[RUNNING], work.progress[PLIES], paths[game] = 1, 0, 0
        while not calls.call_over(rules, work.state):
            p, n = look_at(rules, work)
            action = choose(rules, policies[p], tables[p], work, n)
            if action < 0:
                return MISSING
            calls.call_play(rules, work.state, action)
            calls.call_chance(rules, work.state, work.rng)
            paths[game] = path_with(paths[game], action)
            work.progress[PLIES] += 1
        calls.call_score(rules, work.state, work.score)
        results[game] = result_of(work.score)
        plies[game] = work.progress[PLIES]
        work.progress[RUNNING] = 0
        work.progress[GAMES] += 1
    return DONE


class ContestResult(NamedTuple):
    """What :func:`contest` returns, one value a game; how many were won, drawn, lost, distinct."""

    results: np.ndarray  # int8 [games]: 1 the first player won, 0 draw, -1 the second won
    plies: np.ndarray  # int64 [games]
    paths: np.ndarray  # uint64 [games]: hash of the sequence of actions

    wins = property(lambda self: int((self.results > 0).sum()))
    draws = property(lambda self: int((self.results == 0).sum()))
    losses = property(lambda self: int((self.results < 0).sum()))
    distinct = property(lambda self: len(np.unique(self.paths)))


def contest(game, first: Agent, second: Agent, games: int = 100, seed: int = 0) -> ContestResult:
    """Play games of two agents; other players: TypeError.

    Source: [jamieson2022] Tables 5 to 9.

    >>> from afterply import games
    >>> game = games.load("tictactoe")
    >>> found = contest(game, min_max(game), min_max(game), games=10)
    >>> found.draws, found.distinct
    (10, 1)
    """
    sides = [check_agent(game, agent) for agent in (first, second)]
    work, size = new_work(game, seed), whole("the number of games", games)
    out = ContestResult(*(np.zeros(size, kind) for kind in (np.int8, np.int64, np.uint64)))
    policies = sides[0].kernel_policy, sides[1].kernel_policy
    while True:
        tables = sides[0].net.table, sides[1].net.table  # a table that grows has new arrays
        if _contest(game.rules, policies, tables, work, *out) == DONE:
            return out
        sides[calls.call_player(game.rules, work.state)].search.add(work.state)


def check_agent(game, agent) -> Agent:
    """Return an agent of this game; TypeError or ValueError if it is none."""
    if not isinstance(agent, Agent):
        raise TypeError(f"{agent!r} is no agent of players.agents: others play in arena.matches")
    check_base(agent, check_game(game, "a contest"))
    return agent
