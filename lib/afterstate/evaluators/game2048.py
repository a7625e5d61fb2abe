"""Evaluation of 2048: greedy games, how far they get, and what the network says of the end."""

from dataclasses import dataclass

import numpy as np

from ..checks import fraction, whole
from ..games.calls import call_chance, call_legal, call_over, call_play, call_score, call_start
from ..games.rules.game2048 import MAX_SCORE, exponents
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_int, seed_from
from ..networks.lookup import read_action_values
from ..networks.ntuple import Network
from .base import Evaluator, network_of

TILES = (1024, 2048, 4096, 8192, 16384)


@kernel
def best_move(values, n, rng):
    """Return the place of the greatest of `n` values; exact ties at random."""
    best, ties = 0, 1
    for k in range(1, n):
        if values[k] > values[best]:
            best, ties = k, 1
        elif values[k] == values[best]:
            ties += 1
            if random_int(rng, ties) == 0:
                best = k
    return best


@kernel
def play_alone(rules, net, gamma, s, moves, values, rng, work, found):
    """Play one greedy game of a single player; afterwards `s` is the last state.

    Into `found` go the number of moves, the sum of V over all afterstates, and V of the last one.

    Source: [konen2021] Sec. 2.6.
    """
    reward = work[1]
    call_start(rules, s, rng)
    found[0] = found[1] = found[2] = 0.0
    while not call_over(rules, s):
        n = call_legal(rules, s, moves)
        read_action_values(rules, net, s, moves, n, gamma, work, values)
        call_score(rules, s, reward)
        before, best = reward[0], best_move(values, n, rng)
        call_play(rules, s, moves[best])
        call_score(rules, s, reward)
        found[2] = (values[best] - (reward[0] - before)) / gamma
        found[0] += 1.0
        found[1] += found[2]
        call_chance(rules, s, rng)


@dataclass(frozen=True)
class Scores2048(Evaluator):
    """Greedy games of 2048: how many points, how far, and what the network says of the end.

    Calling it with ``(game, agent, seed)``, where the agent is a network or a training session,
    gives these metrics:

    - ``score``: mean points of a game;  ``score_best``: of the best one;  ``moves``: mean number of
      moves;
    - ``tile:2048`` and others: percent of the games that reach this tile;
    - ``mean_value``: mean V over all afterstates, in points;  ``end_value``: mean V of the last
      afterstate of a game, after which nothing more can be won, in points.

    Parameters
    ----------
    games : int
        At least 1.
    gamma : float, in (0, 1]
        Discount in the greedy choice.

    Raises
    ------
    ValueError
        If the game is another one, or a parameter is out of range.

    Source: [konen2021] Table 1. Deviations: D18, D41.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.networks import ntuple
    >>> from afterstate.evaluators.game2048 import Scores2048
    >>> game = games.load("game2048")
    >>> 700 < Scores2048(games=50)(game, ntuple.Network(game, [range(4)]), seed=1)["score"] < 6000
    True
    """

    games: int = 50
    gamma: float = 1.0
    version: int = 1

    def __post_init__(self):
        whole("games", self.games)
        if not fraction("gamma", self.gamma) > 0.0:
            raise ValueError(f"gamma must be above 0 and at most 1, not {self.gamma!r}")

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"{self.games} games of 2048"

    @property
    def settings(self) -> dict:
        """What a record says besides name and version."""
        return {"games": self.games, "gamma": self.gamma}

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        if game.name != "game2048":
            raise ValueError(f"this evaluator plays game2048 only, not {game!r}")
        net = network_of(agent)
        if not isinstance(net, Network) or net.game.identity != game.identity:
            raise ValueError(f"this evaluator measures n-tuple networks of {game!r}, not {net!r}")
        states, found, point = (
            np.zeros((self.games, game.size), np.int32),
            np.zeros((self.games, 3)),
            MAX_SCORE / game.score_range[1],
        )
        moves, values = np.zeros(game.max_legal, np.int32), np.zeros(game.max_legal)
        for k in range(self.games):
            play_alone(
                game.rules,
                net.arrays,
                self.gamma,
                states[k],
                moves,
                values,
                new_rng(seed_from(seed, k)),
                net._work,
                found[k],
            )
        largest = np.array([2 ** max(exponents(s)) for s in states])
        scores = states[:, 2].astype(float)
        return {
            "score": float(scores.mean()),
            "score_best": float(scores.max()),
            "moves": float(found[:, 0].mean()),
            "mean_value": float(point * found[:, 1].sum() / found[:, 0].sum()),
            "end_value": float(point * found[:, 2].mean()),
        } | {f"tile:{tile}": 100.0 * float((largest >= tile).mean()) for tile in TILES}
