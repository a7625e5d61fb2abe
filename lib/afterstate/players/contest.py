"""Many games between two agents, played whole inside a kernel."""

from typing import NamedTuple

import numpy as np

from ..checks import whole
from ..games.calls import call_chance, call_over, call_play, call_player, call_score, call_start
from ..games.game import check_game
from ..kernel.compile import kernel
from ..search.puct import check_base
from .agents import DONE, GAMES, MISSING, PLIES, RUNNING, Agent, choose, look_at, new_work


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
            call_start(rules, work.state, work.rng)
            work.progress[RUNNING], work.progress[PLIES], paths[game] = 1, 0, 0
        while not call_over(rules, work.state):
            p, n = look_at(rules, work)
            action = choose(rules, policies[p], tables[p], work, n)
            if action < 0:
                return MISSING
            call_play(rules, work.state, action)
            call_chance(rules, work.state, work.rng)
            paths[game] = path_with(paths[game], action)
            work.progress[PLIES] += 1
        call_score(rules, work.state, work.score)
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
    """Play games of two agents of :mod:`afterstate.players.agents`; other players: TypeError.

    Source: [jamieson2022] Tables 5 to 9.

    >>> from afterstate import games
    >>> from afterstate.players import agents
    >>> game = games.load("tictactoe")
    >>> found = contest(game, agents.min_max(game), agents.min_max(game), games=10)
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
        sides[call_player(game.rules, work.state)].search.add(work.state)


def check_agent(game, agent) -> Agent:
    """Return an agent of this game; TypeError or ValueError if it is none."""
    if not isinstance(agent, Agent):
        raise TypeError(f"{agent!r} is no agent of players.agents: others play in arena.matches")
    check_base(agent, {}, check_game(game, "a contest"))
    return agent
