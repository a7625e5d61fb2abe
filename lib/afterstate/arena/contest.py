"""Many games between two agents, played whole inside a kernel."""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_chance, call_over, call_play, call_score, call_start
from ..kernel.compile import kernel
from ..players.agents import DONE, GAMES, MISSING, PLIES, RUNNING, Agent, choose, desk, look_at


@kernel
def _contest(rules, first, first_table, second, second_table, at, results, plies, paths):
    """Play games until `results` is full, or a Min-Max side needs a position searched."""
    while at.progress[GAMES] < results.shape[0]:
        game = at.progress[GAMES]
        if at.progress[RUNNING] == 0:
            call_start(rules, at.state, at.rng)
            at.progress[RUNNING], at.progress[PLIES], paths[game] = 1, 0, 0
        while not call_over(rules, at.state):
            p, n = look_at(rules, at)
            action = (
                choose(rules, first, first_table, at, n)
                if p == 0
                else choose(rules, second, second_table, at, n)
            )
            if action < 0:
                return MISSING
            call_play(rules, at.state, action)
            call_chance(rules, at.state, at.rng)
            paths[game] = (paths[game] ^ np.uint64(action + 1)) * np.uint64(0xFF51AFD7ED558CCD)
            paths[game] ^= paths[game] >> np.uint64(29)
            at.progress[PLIES] += 1
        call_score(rules, at.state, at.score)
        results[game] = 1 if at.score[0] > at.score[1] else -1 if at.score[0] < at.score[1] else 0
        plies[game] = at.progress[PLIES]
        at.progress[RUNNING] = 0
        at.progress[GAMES] += 1
    return DONE


class Outcomes(NamedTuple):
    """What :func:`contest` returns, one value a game."""

    results: np.ndarray  # int8 [games]: 1 the first player won, 0 draw, -1 the second won
    plies: np.ndarray  # int64 [games]
    paths: np.ndarray  # uint64 [games]: hash of the sequence of actions

    @property
    def wins(self) -> int:
        """Games that the first player won."""
        return int((self.results > 0).sum())

    @property
    def draws(self) -> int:
        """Games without a winner."""
        return int((self.results == 0).sum())

    @property
    def losses(self) -> int:
        """Games that the second player won."""
        return int((self.results < 0).sum())

    @property
    def distinct(self) -> int:
        """Different games among them: two deterministic agents play one game, however often they are asked."""
        return len(np.unique(self.paths))


def contest(game, first: Agent, second: Agent, games: int = 100, seed: int = 0) -> Outcomes:
    """Play games with `first` in the first seat.

    Parameters
    ----------
    game : Game
    first, second : Agent
    games : int
    seed : int
        The only source of chance.

    Source: [jamieson2022] Tables 5 to 9.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.players import agents
    >>> from afterstate.arena.contest import contest
    >>> game = games.load("tictactoe")
    >>> found = contest(game, agents.min_max(game), agents.min_max(game), games=10)
    >>> found.draws, found.distinct
    (10, 1)
    """
    at = desk(game, seed)
    out = Outcomes(np.zeros(games, np.int8), np.zeros(games, np.int64), np.zeros(games, np.uint64))
    while (
        _contest(game.rules, first.side, first.net.table, second.side, second.net.table, at, *out)
        == MISSING
    ):
        mover = first if game.player(at.state) == 0 else second
        mover.search.add(at.state)
    return out
