"""Errors of published values that no paper prints, but that follow from what it prints."""

import math
from dataclasses import replace


def counting_error(value: float, games: int, whole: float) -> float:
    """Return the standard error of a count of games, in the unit in which all games are `whole`.

    Binomial, with one success and one failure added (Laplace): 0 of 100 games is no certainty.

    >>> round(counting_error(50, 100, 100), 2), round(counting_error(0, 100, 100), 2)
    (5.0, 0.99)
    """
    share = (value / whole * games + 1) / (games + 2)
    return whole * math.sqrt(share * (1 - share) / games)


def with_errors(claim, claims, shared_runs):
    """Return a claim with the errors that follow from other cells, or from what the paper states.

    Points of a row are 3 a win and 1 a draw over its cells, each a count of games.
    """
    if claim.unit == "points" and claim.uncertainty is None:
        row = [cell for cell in claims if cell.place.get("row") == claim.place.get("row")]
        row = [c for c in row if c.counting_errors and c.place["table"] == claim.place.get("table")]
        variance = 0.0
        for cell in row:
            shares = {name: (n + 1) / (cell.of + 3) for name, n in cell.value.items()}
            wins, draws = shares.get("wins", 0.0), shares.get("draws", 0.0)
            variance += cell.of * (9 * wins + draws - (3 * wins + draws) ** 2)
        return replace(claim, row_error=math.sqrt(variance))
    if shared_runs and claim.target and claim.uncertainty is None and claim.relation == "=":
        return replace(claim, shared_runs=shared_runs)
    return claim
