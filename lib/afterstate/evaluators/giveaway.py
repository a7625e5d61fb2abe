"""What is measured in give-away checkers: points in training, and against new random opponents.

A won game gives 1 point, a draw 1/2; all numbers are percentages of the points that could be won.

Source: [mandziuk2004] Sec. 4, Table 1, Fig. 1.
"""

from dataclasses import dataclass

import numpy as np

from ..players.linear_matches import DRAW, WIN, matches, random_weights

GROUP = 10  # learners of one study: they meet the same opponents in the test


def points(results) -> float:
    """Return the points of some games (0 loss, 1 draw, 2 win) in percent.

    Source: [mandziuk2004] Sec. 4.
    """
    return 50.0 * float(np.mean(results))


def opponents_of_test(net, number: int, pool: int = 0) -> np.ndarray:
    """Return the weights of the random opponents that a learner's group meets in the test."""
    return random_weights(number, pool, net.run // GROUP, "test")


def tested_episodes(net, after) -> list[int]:
    """Return those of some numbers of games whose weights were kept, else the last one."""
    known = [e for e in after if e in net.snapshots or e == len(net.results)]
    return known or [len(net.results)]


@dataclass(frozen=True)
class RecentPoints:
    """Points of the last training games.

    Parameters
    ----------
    games : int
        One round: as many as there are opponents.

    Source: [mandziuk2004] Fig. 1.
    """

    games: int = 25
    name: str = "giveaway recent points"
    version: int = 1

    def __call__(self, game, net, seed):
        """Return {"points": ...}."""
        return {"points": points(net.results[-self.games :])}


@dataclass(frozen=True)
class TrainingPoints:
    """Points of the training games, by blocks.

    Parameters
    ----------
    block : int
        Games between two changes of alpha and lambda.

    Source: [mandziuk2004] Table 1 (a), (b).
    """

    block: int = 2500
    name: str = "giveaway training"
    version: int = 1

    def __call__(self, game, net, seed):
        """Return {"training_points:1-2500": ..., ...}."""
        first = range(0, len(net.results), self.block)
        ends = [min(start + self.block, len(net.results)) for start in first]
        return {
            f"training_points:{a + 1}-{b}": points(net.results[a:b]) for a, b in zip(first, ends)
        }


@dataclass(frozen=True)
class TestPoints:
    """Points against random opponents that no learner has met.

    All learners of a group meet the same.

    Parameters
    ----------
    opponents : int
    after : tuple of int
        Training games after which the weights are tested; they must have been kept.
    pool : int
        Number of the pool that the opponents come from.

    Source: [mandziuk2004] Sec. 4 (testing phase), Table 1 (c), (d). Deviations: D6, D10.
    """

    opponents: int = 1000
    after: tuple = (7500, 10000)
    pool: int = 0
    name: str = "giveaway test"
    version: int = 1
    __test__ = False  # no test of pytest's

    def short(self):
        """Return a version with few opponents."""
        return TestPoints(20, self.after, self.pool)

    def __call__(self, game, net, seed):
        """Return {"test_points:after-7500": ..., ...}.

        A shorter training is measured as it is.
        """
        opponents, found = opponents_of_test(net, self.opponents, self.pool), {}
        for episode in tested_episodes(net, self.after):
            results, *_ = matches(net.snapshot(episode), opponents, seed=seed)
            found[f"test_points:after-{episode}"] = points(results)
            found[f"test_won:after-{episode}"] = 100.0 * float((results == WIN).mean())
            found[f"test_drawn:after-{episode}"] = 100.0 * float((results == DRAW).mean())
        return found
