"""What is measured in give-away checkers: points in training, and against new opponents.

A won game gives 1 point, a draw 1/2; all numbers are percentages of the points that could be won.
Weights are tested `after` numbers of training games, as far as they were kept, else the last ones.

Source: [mandziuk2004] Sec. 4, Table 1, Fig. 1.
"""

from dataclasses import dataclass

import numpy as np

from ...arena.matches import match, starts_all
from ...evaluators import Evaluator
from ...files import data_directory
from ...kernel.random import seed_from
from ...players.wrapped import Wrapped
from .linear import NUM_FEATURES, Linear
from .linear_search import DRAW, WIN, Player, matches, random_weights
from .td_search import GROUP, read_learners

OPENING = 2  # plies played before an agent meets a linear one: 49 ways


def points(results) -> float:
    """Return the points of some games (0 loss, 1 draw, 2 win) in percent."""
    return 50.0 * float(np.mean(results))


def strangers(net, number: int, pool: int = 0) -> np.ndarray:
    """Return the weights of the random opponents that a learner's group meets in the test."""
    return random_weights(number, pool, net.run // GROUP, "test")


def kept_weights(net, after) -> dict:
    """Return those of some numbers of games whose weights were kept, else the last one."""
    played = len(net.results)
    known = {**net.snapshots, played: net.weights}
    return {n: known[n] for n in after if n in known} or {played: net.weights}


@dataclass(frozen=True)
class RecentPoints(Evaluator):
    """Points of the last training games, one round: ``points``.

    Source: [mandziuk2004] Fig. 1.
    """

    games: int = 25
    name, measures = "giveaway recent points", Linear

    def _measure(self, game, net, seed):
        return {"points": points(net.results[-self.games :])}


@dataclass(frozen=True)
class TrainingPoints(Evaluator):
    """Points of the training games, by blocks: ``training_points:1-2500`` ...

    `block` is the number of games between two changes of alpha and lambda.

    Source: [mandziuk2004] Table 1 (a), (b).
    """

    block: int = 2500
    name, measures = "giveaway training", Linear

    def _measure(self, game, net, seed):
        played, found = len(net.results), {}
        for a in range(0, played, self.block):
            b = min(a + self.block, played)
            found[f"training_points:{a + 1}-{b}"] = points(net.results[a:b])
        return found


@dataclass(frozen=True)
class TestPoints(Evaluator):
    """Points against random opponents that no learner has met; a group meets the same.

    Metrics: ``test_points:after-7500``, ``test_won:...``, ``test_drawn:...``.

    Source: [mandziuk2004] Sec. 4 (testing phase), Table 1 (c), (d). Deviations: D6, D10.
    """

    opponents: int = 1000
    after: tuple[int, ...] = (7500, 10000)
    pool: int = 0
    name, measures, may_be_0 = "giveaway test", Linear, ("pool",)
    __test__ = False  # no test of pytest's

    def _measure(self, game, net, seed):
        opponents, found = strangers(net, self.opponents, self.pool), {}
        for episode, weights in kept_weights(net, self.after).items():
            results = matches(net.with_weights(weights), opponents)
            found[f"test_points:after-{episode}"] = points(results)
            found[f"test_won:after-{episode}"] = 100.0 * float((results == WIN).mean())
            found[f"test_drawn:after-{episode}"] = 100.0 * float((results == DRAW).mean())
        return found


@dataclass(frozen=True)
class PointsAtDepth(Evaluator):
    """Points against the first opponents of :class:`TestPoints`, both sides at a given depth.

    Metrics: ``points_at_4:after-10000`` ..., however deep the training searched.
    """

    depth: int = 4
    opponents: int = 400
    after: tuple[int, ...] = (2500, 10000)
    name, measures = "giveaway points at depth", Linear

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        return {
            f"points_at_{self.depth}:after-{episode}": points(
                matches(net.with_weights(weights, self.depth), opponents)
            )
            for episode, weights in kept_weights(net, self.after).items()
        }


@dataclass(frozen=True)
class PointsWithout(Evaluator):
    """Points of :class:`PointsAtDepth` with all weights, and with each of the weights set to 0.

    Metrics: ``played_with_all``, ``played_without:1`` ... Nothing is trained again.
    """

    opponents: int = 400
    name, measures = "giveaway points without a feature", Linear

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        found = {"played_with_all": points(matches(net, opponents))}
        for k in range(NUM_FEATURES):
            less = net.with_weights(net.weights)
            less.weights[k] = 0.0
            found[f"played_without:{k + 1}"] = points(matches(less, opponents))
        return found


@dataclass(frozen=True)
class AgainstLinear(Evaluator):
    """Points of an agent of any kind against ten trained linear ones: ``points:greedy v depth 1``.

    Games begin after each way to play two plies, against a linear agent in either seat, which is
    that of its training.
    """

    learners: str  # file of ``write_learners``, relative to the data directory
    method: str = "LL"  # whose first ten vectors play
    depth: int = 1  # look-ahead of the linear agents, in turns
    linear_iterations: int = 0  # if not 0, of a PUCT search of theirs instead
    iterations: int = 0  # of a PUCT search of the agent; 0: it is greedy
    stride: int = 1  # only every n-th opening
    name, version, measures = "giveaway against linear", 2, object
    may_be_0 = ("linear_iterations", "iterations")

    def _measure(self, game, net, seed):
        rivals, scores = self.rivals(game), []
        mine = Wrapped(net, self.iterations) if self.iterations else net
        half = GROUP // 2
        for k, opening in enumerate(starts_all(game, OPENING)[:: self.stride]):
            for seat in (0, 1):  # of the linear agent
                rival = rivals[half * seat + k % half]
                pair = (rival, mine) if seat == 0 else (mine, rival)
                chance = seed_from(seed, "linear", k, seat)
                scores.append(match(game, pair, opening, chance).scores[1 - seat])
        return {f"points:{self.label}": 50.0 * float(np.mean(scores) + 1.0)}

    @property
    def label(self) -> str:
        """Who meets whom: part of the metric."""
        mine = f"PUCT-{self.iterations}" if self.iterations else "greedy"
        theirs = f"PUCT-{self.linear_iterations}" if self.linear_iterations else ""
        return f"{mine} v {theirs or f'depth {self.depth}'}"

    def rivals(self, game) -> list:
        """Return the linear agents, the first five of them for the first seat."""
        meta, vectors = read_learners(data_directory() / self.learners)
        features, searching = meta["parameters"]["features"], self.linear_iterations
        nets = [
            Linear(game, features, int(k >= GROUP // 2), self.depth, weights=weights)
            for k, weights in enumerate(vectors[self.method][:GROUP])
        ]
        return [Wrapped(net, searching) if searching else Player(net) for net in nets]
