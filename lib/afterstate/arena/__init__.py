"""Matches between players, their start positions, and what follows from results."""

from .matches import IllegalAction, Result, match, matches, seatings, summary, win_rate
from .starts import Start, starts_after, starts_all, starts_random, starts_upto
from .tournament import tournament

__all__ = [
    "IllegalAction",
    "Result",
    "Start",
    "match",
    "matches",
    "seatings",
    "starts_after",
    "starts_all",
    "starts_random",
    "starts_upto",
    "summary",
    "tournament",
    "win_rate",
]
