"""Errors of printed counts of games: no paper prints them, but they follow from what it prints."""

import math

import numpy as np
from scipy.special import bdtr

from ..stats import t_quantile


def counting_error(value: float, games: int, whole: float, times: int = 1) -> float:
    """Return the standard error of a count of games, in the unit in which all games are `whole`.

    Binomial, with one success and one failure added (Laplace). The value is the mean of `times`
    such counts.

    >>> round(counting_error(50, 100, 100), 2), round(counting_error(0, 100, 100), 2)
    (5.0, 0.99)
    """
    share = (value / whole * games * times + 1) / (games * times + 2)
    return whole * math.sqrt(share * (1 - share) / games)


def points_error(cells) -> float:
    """Return the standard error of 3 points a win and 1 a draw, over cells (counts, games)."""
    variance = 0.0
    for counts, games in cells:
        shares = {name: (n + 1) / (games + 3) for name, n in counts.items()}
        wins, draws = shares.get("wins", 0.0), shares.get("draws", 0.0)
        variance += games * (9 * wins + draws - (3 * wins + draws) ** 2)
    return math.sqrt(variance)


def count_p(values, count: float, games: int, whole: float) -> float:
    """Return the p value of a printed count, if the share of success is what our runs have.

    It is that of an exact two-sided binomial test at the share in the 95% interval of our mean that
    suits the count best; our spread is at least that of as many games. `values` [runs] are ours, in
    the unit in which all games are `whole`, `count` is printed for a number of `games`.

    >>> round(count_p([97.0] * 10, 94, 100, 100), 2), count_p([100.0] * 10, 94, 100, 100) < 1e-6
    (0.5, True)
    """
    shares = np.asarray(values, dtype=float) / whole
    runs, mean = len(shares), float(shares.mean())
    spread = max(float(shares.std(ddof=1)), counting_error(mean, games, 1, runs))
    half = t_quantile(0.975, runs - 1) * spread / math.sqrt(runs)
    share = min(max(count / whole, mean - half, 0.0), mean + half, 1.0)
    successes = round(count / whole * games)
    above = 1.0 - bdtr(successes - 1, games, share) if successes > 0 else 1.0
    return float(min(1.0, 2 * min(bdtr(successes, games, share), above)))
