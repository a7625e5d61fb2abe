"""When is a training finished, and when is a result stable? Both as [jamieson2022] defines them.

Convergence-FS ("fully solved"): the first checkpoint of a training without a loss in 100 games of
the learner as player 1, and none at any later checkpoint up to 5,000 games on. Convergence-ST
("stable"): the running percentage of games not lost changes by at most 1 over the next 20 games.

Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D12, D22.
"""

import numpy as np
import pandas as pd

from ...reports.summaries import finals
from ...stats import median_interval

EXTRA = 5_000  # training games after Convergence-FS without a loss
WINDOW, FLUCTUATION = 20, 1.0
SEATS = ("first", "second")
OWN, PERFECT = OPPONENTS = "own teacher", "Nd-Min-Max"  # of the games that must not be lost


def converged_at(episodes, losses, extra: int = EXTRA, allowed: int = 0) -> int | None:
    """Return the episode of Convergence-FS; None if it was not reached or not followed.

    >>> converged_at([100, 200, 300, 400], [3, 0, 0, 0], extra=200)
    200
    """
    episodes, lost = np.asarray(episodes), np.asarray(losses, float) > allowed
    for k in np.flatnonzero(~lost):
        if episodes[k] + extra > episodes[-1]:
            return None
        if not lost[(episodes >= episodes[k]) & (episodes <= episodes[k] + extra)].any():
            return int(episodes[k])
    return None


def stable_at(not_lost) -> int | None:
    """Return after how many games the running percentage of games not lost is stable, or None."""
    running = 100.0 * np.cumsum(np.asarray(not_lost, float)) / np.arange(1, len(not_lost) + 1)
    for n in range(len(running) - WINDOW):
        if np.abs(running[n + 1 : n + 1 + WINDOW] - running[n]).max() <= FLUCTUATION + 1e-9:
            return n + 1
    return None


def can_be_stable(n: int) -> bool:
    """Return whether any series of games is stable after `n` of them: after 1, and from 33 on."""
    for lost in range(1, n):
        possible = {lost}  # losses after k games
        for k in range(n + 1, n + 1 + WINDOW):
            following = {now for before in possible for now in (before, before + 1)}
            near = FLUCTUATION + 1e-9
            possible = {now for now in following if abs(100.0 * now / k - 100.0 * lost / n) <= near}
        if possible:
            return True
    return n == 1  # if all games ended alike, whatever follows was stable before as well


def convergence(curve: pd.DataFrame, cap: int, extra: int = EXTRA, seats=("first",)) -> dict:
    """Return convergence_games (at most `cap`) and converged (100 or 0), for ``Study.derive``."""
    # of games against the own teacher in these seats, and " (Nd-Min-Max)" against that, if played
    found = {}
    for opponent in OPPONENTS:
        columns = [f"{opponent}:{seat}:losses" for seat in seats]
        if f"{opponent}:losses" in curve:
            columns = [f"{opponent}:losses"]
        if set(columns) <= set(curve):
            points = curve[columns].dropna()
            at = converged_at(points.index, points.sum(axis=1), extra)
            found |= _result(at, cap, _end(opponent))
    return found


def _end(opponent):
    return "" if opponent == OWN else f" ({opponent})"


def _result(found, cap, end=""):
    converged = found is not None and found <= cap
    return {
        f"convergence_games{end}": found if converged else cap,
        f"converged{end}": 100.0 * converged,
    }


def in_training(curve: pd.DataFrame, cap: int, extra: int = EXTRA, allowed: int = 0) -> dict:
    """Return what training games say: a block of them may have at most `allowed` losses."""
    columns = [f"training:{seat}:losses" for seat in SEATS]
    if not set(columns) <= set(curve):
        return {}
    lost = curve[columns].dropna().sum(axis=1)
    return _result(converged_at(lost.index, lost.diff().fillna(lost), extra, allowed), cap)


def lost(table: pd.DataFrame, arm: str, games: int) -> float:
    """Return the percent lost to the own teacher at the last checkpoint, of `games` a seat."""
    metrics = [f"{OWN}:{seat}:losses" for seat in SEATS]
    rows = finals(table[(table.arm == arm) & table.metric.isin(metrics)])
    return 100.0 * rows.value.mean() / games


def summary(table: pd.DataFrame, arm: str, cap: int, opponent: str = OWN) -> dict:
    """Return "converged" ("k of n"), "median" and "interval" (95%) of an arm's training games."""
    # "> cap" at the cap, "at least" of a median half way from a run that has converged to the cap
    rows, end = table[table.arm == arm], _end(opponent)
    reached = rows[rows.metric == f"converged{end}"].value
    at = rows[rows.metric == f"convergence_games{end}"].value
    if at.empty:
        return dict.fromkeys(("converged", "median", "interval"), "-")
    capped = (reached < 100).any()
    median, low, high = (
        f"> {cap:,}" if value >= cap and capped else f"{value:,.0f}"
        for value in median_interval(at)
    )
    if np.sort(at)[len(at) // 2] >= cap > np.median(at) and capped:
        median = f"at least {median}"
    return {
        "converged": f"{int((reached > 0).sum())} of {len(reached)}",
        "median": median,
        "interval": f"{low} to {high}" if low != high else low,
    }
