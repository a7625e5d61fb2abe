"""Errors of published values that no paper prints, but that follow from what it prints."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import bdtr

from ..stats import t_quantile


def counting_error(value: float, games: int, whole: float, times: int = 1) -> float:
    """Return the standard error of a count of games, in the unit in which all games are `whole`.

    Binomial, with one success and one failure added (Laplace): 0 of 100 games is no certainty. The
    value is the mean of so many `times` as many games.

    >>> round(counting_error(50, 100, 100), 2), round(counting_error(0, 100, 100), 2)
    (5.0, 0.99)
    """
    share = (value / whole * games * times + 1) / (games * times + 2)
    return whole * math.sqrt(share * (1 - share) / games)


def count_p(values, count: float, games: int, whole: float) -> float:
    """Return the p value of a printed count, if the share of success is what our runs have.

    It is that of an exact two-sided binomial test at the share in the 95% interval of our mean that
    suits the count best. The spread of our runs counts at least as much as that of so many games.

    Parameters
    ----------
    values : float[runs]
        Ours, in the unit in which all games are `whole`.
    count : float
        As printed, in the same unit.
    games : int
        Behind the printed count.
    whole : float

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


def with_errors(claim, claims, shared_runs):
    """Return a claim with the errors that follow from other cells, or from what the paper states.

    Points of a row are 3 a win and 1 a draw over its cells, each a count of games.
    """
    if claim.unit == "points" and claim.uncertainty is None:
        row = [cell for cell in claims if cell.place.get("row") == claim.place.get("row")]
        row = [c for c in row if c.counted and c.place["table"] == claim.place.get("table")]
        row = [c for c in row if isinstance(c.value, Mapping)]
        variance = 0.0
        for cell in row:
            shares = {name: (n + 1) / (cell.of + 3) for name, n in cell.value.items()}
            wins, draws = shares.get("wins", 0.0), shares.get("draws", 0.0)
            variance += cell.of * (9 * wins + draws - (3 * wins + draws) ** 2)
        return replace(claim, row_error=math.sqrt(variance))
    if shared_runs and claim.target and claim.uncertainty is None and claim.relation == "=":
        return replace(claim, shared_runs=shared_runs)
    return claim
