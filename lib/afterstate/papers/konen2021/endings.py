"""How the games of an agent against itself end, and what the agent knows of the end beforehand."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ...checks import fraction
from ...evaluators import Evaluator
from ...kernel.random import new_rng, random_bits, random_float, random_int
from ...networks.ntuple import Network

SAME = 1e-9  # rewards that differ by less are equal


@dataclass(frozen=True)
class Endings(Evaluator):
    """Games of a network against itself: who moves last, with what reward, and who expects it.

    Metrics, over all games:

    - ``last mover wins``, ``last mover loses``, ``last mover draws``: percent of the games in which
      the reward of the player who moves last is above, below, or at the mean of all players';
    - ``first player moves last``: percent of the games;
    - ``plies``, and ``passes``: moves of the player who has made the move before, both per game;
    - ``distance``: plies between the last move of the game and the last move of the player who has
      not moved for the longest time;
    - ``wins heard``, ``losses heard``: of all players who win (lose) a game, the percentage to whom
      a move of their own brought the reward: without final adaptation others learn nothing from it;
    - ``value:won``, ``value:lost``: mean value of the last afterstate that a winner (loser) leaves
      behind, the terminal one not counted.

    `epsilon` is the rate of random moves. Raises ValueError if the game has one player or chance.

    Source: [konen2021] Sec. 4 (open question b).
    """

    games: int = 200
    epsilon: float = 0.1
    name, measures = "endings", Network

    def __post_init__(self):
        super().__post_init__()
        fraction("epsilon", self.epsilon)

    def _measure(self, game, net, seed):
        if game.players < 2 or not game.deterministic:
            raise ValueError(
                f"endings are counted in games of several players without chance, not in {game!r}"
            )
        rng, found = new_rng(seed), defaultdict(list)
        for _ in range(self.games):
            for metric, value in ending(game, *play_alone(game, net, self.epsilon, rng)):
                found[metric].append(value)
        return {metric: float(np.mean(values)) for metric, values in sorted(found.items())}


def play_alone(game, net, epsilon: float, rng) -> tuple[list, np.ndarray]:
    """Play one game of a network against itself.

    Returns (player, value of the afterstate or action, its reward afterwards) of every move, and
    the final rewards, float64 [players].
    """
    s, moves = game.start(int(random_bits(rng))), []
    while not game.over(s):
        legal, player = game.legal(s), game.player(s)
        merits = net.action_values(s)
        best = np.flatnonzero(merits == merits.max())
        explored = random_float(rng) < epsilon
        k = random_int(rng, len(legal)) if explored else best[random_int(rng, len(best))]
        s = game.play(s, legal[k])
        value = float(merits[k]) if net.per_action else net.value(s, player)
        moves.append((player, value, float(game.score(s)[player])))
    return moves, game.score(s)


def ending(game, moves, scores) -> list[tuple[str, float]]:
    """Return (metric, value) of one game, some of them several times."""
    movers, mean = [player for player, _, _ in moves], float(scores.mean())
    last = movers[-1]
    rows = [
        ("last mover wins", 100.0 * (scores[last] > mean + SAME)),
        ("last mover loses", 100.0 * (scores[last] < mean - SAME)),
        ("last mover draws", 100.0 * (abs(scores[last] - mean) <= SAME)),
        ("first player moves last", 100.0 * (last == 0)),
        ("plies", float(len(moves))),
        ("passes", float(np.sum(np.diff(movers) == 0))),
    ]
    places = {p: [k for k, mover in enumerate(movers) if mover == p] for p in set(movers)}
    distances = [len(moves) - 1 - made[-1] for p, made in places.items() if p != last]
    rows += [("distance", float(max(distances)))] if distances else []
    for p, made in places.items():
        if abs(scores[p] - mean) <= SAME:
            continue
        won, paid = scores[p] > mean, moves[made[-1]][2]
        heard = p == last or (paid == scores[p] and paid != 0.0)
        rows.append(("wins heard" if won else "losses heard", 100.0 * heard))
        left = made[:-1] if p == last else made
        if left:
            rows.append(("value:won" if won else "value:lost", moves[left[-1]][1]))
    return rows
