"""Matches between players, their start positions, and what follows from results."""

from .matches import (
    IllegalAction,
    Result,
    Start,
    match,
    matches,
    seatings,
    starts_after,
    starts_all,
    starts_random,
    starts_upto,
    summary,
    win_rate,
)
from .tournament import tournament

__all__ = ["IllegalAction", "Result", "Start", "match", "matches", "seatings", "starts_after"]
__all__ += ["starts_all", "starts_random", "starts_upto", "summary", "tournament", "win_rate"]
