"""Other readings of [jamieson2022]: training games decide, and agents learn in tournaments."""

from dataclasses import dataclass

import numpy as np

from ...arena.contest import ContestResult, check_agent, path_with, result_of
from ...checks import whole
from ...evaluators import Evaluator
from ...games.calls import call_chance, call_over, call_play, call_player, call_score, call_start
from ...kernel.compile import kernel
from ...learners.parameters import check_parameters
from ...learners.tabular import FIRST_TRACE, PARAMETERS, compile_parameters, learn, new_trace
from ...networks.table import QTable, full, insert
from ...players.agents import (
    DONE,
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
from .convergence import SEATS
from .snapshots import POINTS, Tournament


@dataclass(frozen=True)
class TrainingGames(Evaluator):
    """Results of all training games so far, in which the learner explores: no game is played.

    Metrics: ``training:first:wins``, ``:draws``, ``:losses`` and the same of the second seat.

    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
    """

    name, measures = "training games", QTable

    def _measure(self, game, net, seed):
        if net.outcomes is None:
            raise ValueError("this table was not made by a training: nobody counted its games")
        names = [f"training:{seat}:{what}" for seat in SEATS for what in POINTS]
        return dict(zip(names, net.outcomes.ravel().tolist()))


@kernel
def _take_turn(rules, policy, table, learns, work, trace):
    # chooses an action and notes it if the agent learns; returns it, or -(why it cannot)
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
    """Play games as :func:`arena.contest.contest`; greedy agents learn in copies of their tables.

    `params` are parameters of tabular Q-learning, ValueError for another one.
    """
    par = compile_parameters(check_parameters(PARAMETERS, params))
    agents = [check_agent(game, agent) for agent in (first, second)]
    learns = tuple(agent.kind in (GREEDY, GREEDY_FIRST) for agent in agents)
    nets = [agent.net.copy() if new else agent.net for agent, new in zip(agents, learns)]
    traces, work = [new_trace(FIRST_TRACE), new_trace(FIRST_TRACE)], new_work(game, seed)
    size, status = whole("the number of games", games), None
    out = ContestResult(*(np.zeros(size, kind) for kind in (np.int8, np.int64, np.uint64)))
    policies = tuple(agent.kernel_policy for agent in agents)
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
class LearningTournament(Tournament):
    """A tournament whose greedy agents go on learning, each pair from the trained tables.

    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19, D24.
    """

    params: tuple = ()  # (str, value) of the learning: those of the training
    name = "tournament of learners"

    def _play(self, game, first, second, seed):
        return learning_contest(game, first, second, dict(self.params), self.games, seed)
