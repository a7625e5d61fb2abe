"""What is measured of agents of give-away checkers beyond [mandziuk2004].

Linear weights at any depth and without one of their features, and agents of another kind against
linear ones. A won game gives 1 point, a draw 1/2; all numbers are percentages of the points.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..arena.matches import match
from ..arena.starts import starts_all
from ..files import data_directory, read_npz
from ..kernel.random import seed_from
from ..networks.linear import NUM_FEATURES, Linear
from ..players.linear_matches import Player, matches
from ..players.wrapped import Wrapped
from .base import Evaluator, network_of
from .giveaway import GROUP, opponents_of_test, points, tested_episodes

F22_NAMES = (
    "men",
    "kings",
    "safe men",
    "safe kings",
    "moveable men",
    "moveable kings",
    "promotion distance",
    "free promotion squares",
    "defenders",
    "attackers",
    "centre men",
    "centre kings",
    "main-diagonal men",
    "main-diagonal kings",
    "double-diagonal men",
    "double-diagonal kings",
    "loners",
    "holes",
    "triangle",
    "oreo",
    "bridge",
    "dog",
)  # of the features F22, in their order
OPENING = 2  # plies played before an agent meets a linear one: 49 ways


def weights_of(agent) -> Linear:
    """Return the linear value function of an agent; raises ValueError if it has none."""
    net = network_of(agent)
    if not isinstance(net, Linear):
        raise ValueError(f"this evaluator measures linear value functions, not {net!r}")
    return net


def with_weights(net: Linear, weights, depth: int) -> Linear:
    """Return a value function with the features, game and seat of another one."""
    return Linear(net.game, net.features, net.seat, depth, net.quiescence, weights)


@dataclass(frozen=True)
class PointsAtDepth(Evaluator):
    """Points against random opponents when both sides search to a given depth.

    However deep the training searched. The opponents are those of
    :class:`~afterstate.evaluators.giveaway.TestPoints`, the first of them.

    Parameters
    ----------
    depth : int
    opponents : int
    after : tuple of int
        Training games after which the weights are tested, as far as they were kept.

    Source: as the testing phase of [mandziuk2004] Sec. 4.
    """

    depth: int = 4
    opponents: int = 400
    after: tuple = (2500, 10000)
    name: str = "giveaway points at depth"

    def __call__(self, game, agent, seed=0):
        """Return {"points_at_4:after-10000": ..., ...}."""
        net = weights_of(agent)
        opponents, found = opponents_of_test(net, self.opponents), {}
        for episode in tested_episodes(net, self.after):
            tested = with_weights(net, net.snapshot(episode).weights, self.depth)
            results, *_ = matches(tested, opponents, seed=seed)
            found[f"points_at_{self.depth}:after-{episode}"] = points(results)
        return found

    def short(self):
        """Return a version with few opponents."""
        return replace(self, opponents=20)

    def extent(self, game):
        """Return the number of opponents."""
        return self.opponents


@dataclass(frozen=True)
class PointsWithout(Evaluator):
    """Points against random opponents with all weights, and with each of the weights set to 0.

    Nothing is trained again: this tells what the trained weights rely on.

    Parameters
    ----------
    opponents : int
        The first of those of :class:`~afterstate.evaluators.giveaway.TestPoints`.
    """

    opponents: int = 400
    name: str = "giveaway points without a feature"

    def __call__(self, game, agent, seed=0):
        """Return {"played_with_all": ..., "played_without:1": ..., ...}."""
        net, found = weights_of(agent), {}
        opponents = opponents_of_test(net, self.opponents)
        for k in range(NUM_FEATURES + 1):
            weights = net.weights.copy()
            if k > 0:
                weights[k - 1] = 0.0
            results, *_ = matches(with_weights(net, weights, net.depth), opponents, seed=seed)
            found[f"played_without:{k}" if k else "played_with_all"] = points(results)
        return found

    def short(self):
        """Return a version with few opponents."""
        return replace(self, opponents=5)

    def extent(self, game):
        """Return the number of opponents."""
        return self.opponents


@dataclass(frozen=True)
class AgainstLinear(Evaluator):
    """Points of an agent of any kind against ten trained linear ones.

    Games begin after each way to play two plies (49), once against a linear agent in the first seat
    and once against one in the second; every linear agent plays in the seat of its training.

    Parameters
    ----------
    learners : str
        File of :func:`~afterstate.learners.td_search.write_learners`, relative to the data
        directory.
    method : str
        Whose vectors; the first ten.
    depth : int
        Look-ahead of the linear agents, in turns.
    linear_iterations : int
        If not 0, they use a PUCT search with so many iterations instead.
    iterations : int
        The agent uses a PUCT search with so many iterations; 0: it is greedy.
    stride : int
        Only every so-many-th opening.
    """

    learners: str
    method: str = "LL"
    depth: int = 1
    linear_iterations: int = 0
    iterations: int = 0
    stride: int = 1
    name: str = "giveaway against linear"
    version: int = 2

    def __call__(self, game, agent, seed=0):
        """Return {"points:greedy v depth 1": ..., ...}; PUCT-100 is a search of 100 iterations."""
        net = network_of(agent)
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
        """What both sides do, in words."""
        mine = f"PUCT-{self.iterations}" if self.iterations else "greedy"
        theirs = f"PUCT-{self.linear_iterations}" if self.linear_iterations else ""
        return f"{mine} v {theirs or f'depth {self.depth}'}"

    def _rivals(self, game) -> list:
        """Return the linear agents, the first five of them for the first seat."""
        meta, arrays = read_npz(data_directory() / self.learners)
        if meta.get("kind") != "learners":
            raise ValueError(f"{self.learners} holds {meta.get('kind')!r}, not learners")
        features = meta["parameters"]["features"]
        nets = [
            Linear(game, features, int(k >= GROUP // 2), self.depth, weights=weights)
            for k, weights in enumerate(arrays[self.method][:GROUP])
        ]
        if self.linear_iterations:
            return [Wrapped(net, self.linear_iterations) for net in nets]
        return [Player(net) for net in nets]

    def lacks(self):
        """Return that the linear agents have not been trained, or an empty text."""
        if (data_directory() / self.learners).exists():
            return ""
        return f"data/{self.learners}: train the linear agents first (write_learners)"

    def short(self):
        """Return a version with two openings."""
        return replace(self, stride=25)

    def extent(self, game):
        """Return the number of openings."""
        return len(range(0, len(starts_all(game, OPENING)), self.stride))
