"""What is measured in give-away checkers: points in training, and against new opponents.

A won game gives 1 point, a draw 1/2; all numbers are percentages of the points that could be won.

Source: [mandziuk2004] Sec. 4, Table 1, Fig. 1.
"""

from dataclasses import dataclass

import numpy as np

from ...arena.matches import match
from ...arena.starts import starts_all
from ...evaluators import Evaluator
from ...files import data_directory, read_npz
from ...kernel.random import seed_from
from ...players.wrapped import Wrapped
from .linear import NUM_FEATURES, Linear
from .linear_matches import DRAW, WIN, Player, matches, random_weights

GROUP = 10  # learners of one study: they meet the same opponents in the test
OPENING = 2  # plies played before an agent meets a linear one: 49 ways
F22_NAMES = (  # of the features F22, in their order
    *("men", "kings", "safe men", "safe kings", "moveable men", "moveable kings"),
    *("promotion distance", "free promotion squares", "defenders", "attackers"),
    *("centre men", "centre kings", "main-diagonal men", "main-diagonal kings"),
    *("double-diagonal men", "double-diagonal kings", "loners", "holes"),
    *("triangle", "oreo", "bridge", "dog"),
)


def points(results) -> float:
    """Return the points of some games (0 loss, 1 draw, 2 win) in percent."""
    return 50.0 * float(np.mean(results))


def _with_weights(net: Linear, weights, depth: int) -> Linear:
    return Linear(net.game, net.features, net.seat, depth, net.quiescence, weights)


def _opponents(net, number: int, pool: int = 0) -> np.ndarray:
    """Return the weights of the random opponents of a learner's group."""
    return random_weights(number, pool, net.run // GROUP, "test")


def _tested(net, after) -> list[int]:
    """Return those of some numbers of games whose weights were kept, else the last one."""
    known = [e for e in after if e in net.snapshots or e == len(net.results)]
    return known or [len(net.results)]


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
        results, found = net.results, {}
        for a in range(0, len(results), self.block):
            b = min(a + self.block, len(results))
            found[f"training_points:{a + 1}-{b}"] = points(results[a:b])
        return found


@dataclass(frozen=True)
class TestPoints(Evaluator):
    """Points against random opponents that no learner has met; a group meets the same.

    Metrics: ``test_points:after-7500``, ``test_won:...``, ``test_drawn:...``, of the weights
    `after` numbers of training games, as far as they were kept, else of the last ones.

    Source: [mandziuk2004] Sec. 4 (testing phase), Table 1 (c), (d). Deviations: D6, D10.
    """

    opponents: int = 1000
    after: tuple[int, ...] = (7500, 10000)
    pool: int = 0
    name, measures, may_be_0 = "giveaway test", Linear, ("pool",)
    __test__ = False  # no test of pytest's

    def _measure(self, game, net, seed):
        opponents, found = _opponents(net, self.opponents, self.pool), {}
        for episode in _tested(net, self.after):
            results, *_ = matches(net.snapshot(episode), opponents)
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
        opponents, found = _opponents(net, self.opponents), {}
        for episode in _tested(net, self.after):
            tested = _with_weights(net, net.snapshot(episode).weights, self.depth)
            results, *_ = matches(tested, opponents)
            found[f"points_at_{self.depth}:after-{episode}"] = points(results)
        return found


@dataclass(frozen=True)
class PointsWithout(Evaluator):
    """Points of :class:`PointsAtDepth` with all weights, and with each of the weights set to 0.

    Metrics: ``played_with_all``, ``played_without:1`` ... Nothing is trained again.
    """

    opponents: int = 400
    name, measures = "giveaway points without a feature", Linear

    def _measure(self, game, net, seed):
        opponents, found = _opponents(net, self.opponents), {}
        for k in range(NUM_FEATURES + 1):
            weights = net.weights.copy()
            if k > 0:
                weights[k - 1] = 0.0
            results, *_ = matches(_with_weights(net, weights, net.depth), opponents)
            found[f"played_without:{k}" if k else "played_with_all"] = points(results)
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
        rivals, openings = self._rivals(game), starts_all(game, OPENING)[:: self.stride]
        mine = Wrapped(net, self.iterations) if self.iterations else net
        half, scores = GROUP // 2, []
        for k, opening in enumerate(openings):
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

    def _rivals(self, game) -> list:
        """Return the linear agents, the first five of them for the first seat."""
        file = data_directory() / self.learners
        if not file.exists():
            raise FileNotFoundError(f"no {file}: train the linear agents first (write_learners)")
        meta, arrays = read_npz(file)
        if meta.get("kind") != "learners":
            raise ValueError(f"{self.learners} holds {meta.get('kind')!r}, not learners")
        features = meta["parameters"]["features"]
        nets = [
            Linear(game, features, int(k >= GROUP // 2), self.depth, weights=weights)
            for k, weights in enumerate(arrays[self.method][:GROUP])
        ]
        searching = self.linear_iterations
        return [Wrapped(net, searching) if searching else Player(net) for net in nets]
