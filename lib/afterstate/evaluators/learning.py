"""Other readings of [jamieson2022]: results of training games, and tournaments of learners.

The paper does not say whether the games that decide about convergence are those of the training or
games of their own, nor whether its agents go on learning while a tournament is played.
"""

from dataclasses import dataclass

import numpy as np

from ..arena.contest import ContestResult, check_agent, path_with, result_of
from ..checks import whole
from ..games.calls import call_chance, call_over, call_play, call_player, call_score, call_start
from ..kernel.compile import kernel
from ..kernel.random import seed_from
from ..learners.parameters import check_parameters
from ..learners.tabular import FIRST_TRACE, PARAMETERS, compile_parameters, learn, new_trace
from ..networks.table import full, insert
from ..players.agents import (
    DONE,
    FULL_DEPTH,
    GAMES,
    GREEDY,
    GREEDY_FIRST,
    MISSING,
    PLIES,
    RUNNING,
    TABLE_FULL,
    TRACE_FULL,
    Agent,
    choose,
    look_at,
    new_work,
)
from .base import Evaluator, table_of
from .snapshots import PLAYERS, Contests, cells_and_points, opponent

SEATS = ("first", "second")
OUTCOMES = ("wins", "draws", "losses")


@dataclass(frozen=True)
class TrainingGames(Evaluator):
    """Results of all training games so far, of the learning agent: no game is played for it.

    Metrics: ``training:first:wins``, ``:draws``, ``:losses`` and the same of the second seat.
    Differences between two checkpoints are the results of a block of training games; the learner
    explores and learns in them.

    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
    """

    version: int = 1
    name: str = "training games"

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        outcomes = table_of(game, agent).outcomes
        if outcomes is None:
            raise ValueError("this table was not made by a training: nobody counted its games")
        return {
            f"training:{seat}:{what}": int(outcomes[s, k])
            for s, seat in enumerate(SEATS)
            for k, what in enumerate(OUTCOMES)
        }


@kernel
def _take_turn(rules, policy, table, learns, work, trace):
    """Choose an action, and note it if the agent learns; return it, or why it can not be chosen."""
    player, n = look_at(rules, work)
    if not learns:
        return choose(rules, policy, table, work, n)
    t = trace.length[0]
    if full(table):
        return np.int64(-TABLE_FULL)
    if t >= trace.player.shape[0]:
        return np.int64(-TRACE_FULL)
    action = choose(rules, policy, table, work, n)
    trace.state[t], trace.entry[t] = insert(table, policy.owner, work.key, action)
    trace.player[t], trace.legal[t] = player, n
    trace.length[0] += 1
    return action


@kernel
def _play_on(rules, policies, tables, learns, par, work, traces, results, plies, paths):
    """Play and learn until `results` is full; return DONE, or why it must be called again."""
    while work.progress[GAMES] < results.shape[0]:
        game = work.progress[GAMES]
        if work.progress[RUNNING] == 0:
            call_start(rules, work.state, work.rng)
            work.progress[RUNNING], work.progress[PLIES], paths[game] = 1, 0, 0
            traces[0].length[0] = traces[1].length[0] = 0
        while not call_over(rules, work.state):
            action = (
                _take_turn(rules, policies[0], tables[0], learns[0], work, traces[0])
                if call_player(rules, work.state) == 0
                else _take_turn(rules, policies[1], tables[1], learns[1], work, traces[1])
            )
            if action < 0:
                return -action
            call_play(rules, work.state, action)
            call_chance(rules, work.state, work.rng)
            paths[game] = path_with(paths[game], action)
            work.progress[PLIES] += 1
        call_score(rules, work.state, work.score)
        if learns[0]:
            learn(tables[0], par, work.score, traces[0])
        if learns[1]:
            learn(tables[1], par, work.score, traces[1])
        results[game] = result_of(work.score)
        plies[game] = work.progress[PLIES]
        work.progress[RUNNING] = 0
        work.progress[GAMES] += 1
    return np.int64(DONE)


def learning_contest(game, first: Agent, second: Agent, params, games=100, seed=0) -> ContestResult:
    """Play games as :func:`arena.contest.contest` does; greedy agents learn from every game.

    Each learns in a copy of its table, also if both have the same one.

    Parameters
    ----------
    game : Game
    first, second : Agent
    params : dict
        Any of the parameters of tabular Q-learning that an update reads.
    games, seed : int

    Raises
    ------
    ValueError, TypeError
        As for a contest, or for an unknown parameter.
    """
    par = compile_parameters(check_parameters(PARAMETERS, params))
    agents = [check_agent(game, agent) for agent in (first, second)]
    learns = tuple(agent.kind in (GREEDY, GREEDY_FIRST) for agent in agents)
    nets = [agent.net.copy() if new else agent.net for agent, new in zip(agents, learns)]
    traces, work = [new_trace(FIRST_TRACE), new_trace(FIRST_TRACE)], new_work(game, seed)
    out = ContestResult(
        np.zeros(whole("the number of games", games), np.int8),
        np.zeros(games, np.int64),
        np.zeros(games, np.uint64),
    )
    policies = tuple(agent.kernel_policy for agent in agents)
    status = None
    while status != DONE:
        tables = nets[0].table, nets[1].table  # a table that grows has new arrays
        status = _play_on(game.rules, policies, tables, learns, par, work, tuple(traces), *out)
        seat = 0 if game.over(work.state) or game.player(work.state) == 0 else 1
        if status == MISSING:
            agents[seat].search.add(work.state)
        elif status == TABLE_FULL:
            nets[seat].grow()
        elif status == TRACE_FULL:
            traces[seat] = new_trace(2 * len(traces[seat].player), traces[seat])
    return out


@dataclass(frozen=True)
class LearningTournament(Contests):
    """Matches: the tournament of :class:`snapshots.Tournament`, with learning left on.

    In every pairing the agents Q-p begin with their snapshot and learn from each of its games.

    Metrics: those of :class:`snapshots.Tournament`.

    Parameters
    ----------
    n, games, players, label
        As there.
    params : tuple of (str, value)
        Of the learning: those of the training.

    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19, D24.
    """

    n: int = 8_000
    games: int = 100
    depth: int = FULL_DEPTH
    players: tuple = PLAYERS
    params: tuple = ()
    label: str = ""
    version: int = 1
    name: str = "tournament of learners"

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        net = table_of(game, agent)
        agents = {name: opponent(game, net, name, self.depth, self.n) for name in self.players}

        def play(a, b):
            seed_ = seed_from(seed, a, b)
            pair = agents[a], agents[b]
            return learning_contest(game, *pair, dict(self.params), self.games, seed_)

        return cells_and_points(agents, play, self.label)
