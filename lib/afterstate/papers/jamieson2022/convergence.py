"""When is a training finished, and when is a result stable? Both as [jamieson2022] defines them.

Convergence-FS ("fully solved"): the first checkpoint of a training without a loss in 100 games of
the learner as player 1, and none at any later checkpoint up to 5,000 games on. Convergence-ST
("stable"): the running percentage of games not lost changes by at most 1 over the next 20 games.

Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D12, D22.
"""

import numpy as np
import pandas as pd

from ...checks import whole
from ...stats import median_interval

EXTRA = 5_000  # training games after Convergence-FS without a loss
WINDOW, FLUCTUATION = 20, 1.0
SEATS = ("first", "second")
OWN, PERFECT = OPPONENTS = "own teacher", "Nd-Min-Max"  # of the games that must not be lost


def converged_at(episodes, losses, extra: int = EXTRA, allowed: int = 0) -> int | None:
    """Return the episode of Convergence-FS; None if it was not reached or not followed.

    `episodes` and `losses` [checkpoints] are training games and games lost, of which some may be
    `allowed`; `extra` training games must follow.

    >>> converged_at([100, 200, 300, 400], [3, 0, 0, 0], extra=200)
    200
    """
    episodes, losses = np.asarray(episodes), np.asarray(losses, float)
    lost = losses > whole("allowed", allowed, 0)
    if episodes.shape != lost.shape or np.isnan(losses).any():
        raise ValueError(f"every checkpoint needs its number of losses, not {losses!r}")
    whole("extra", extra, 0)
    for k in np.flatnonzero(~lost):
        if episodes[k] + extra > episodes[-1]:
            return None
        if not lost[(episodes >= episodes[k]) & (episodes <= episodes[k] + extra)].any():
            return int(episodes[k])
    return None


def stable_at(not_lost) -> int | None:
    """Return after how many games the running percentage of games not lost is stable, or None.

    >>> stable_at([False] + [True] * 200)
    36
    """
    not_lost = np.asarray(not_lost, float)
    if np.isnan(not_lost).any():
        raise ValueError(f"whether a game was not lost must be known of each, not {not_lost!r}")
    running = 100.0 * np.cumsum(not_lost) / np.arange(1, len(not_lost) + 1)
    for n in range(len(running) - WINDOW):
        if np.abs(running[n + 1 : n + 1 + WINDOW] - running[n]).max() <= FLUCTUATION + 1e-9:
            return n + 1
    return None


def can_be_stable(n: int) -> bool:
    """Return whether any series of games is stable after `n` of them.

    >>> [n for n in range(1, 36) if can_be_stable(n)]
    [1, 33, 34, 35]
    """

    def lasts(lost):
        share, possible = 100.0 * lost / n, {lost}
        for k in range(n + 1, n + 1 + WINDOW):
            following = {now for before in possible for now in (before, before + 1)}
            possible = {
                now for now in following if abs(100.0 * now / k - share) <= FLUCTUATION + 1e-9
            }
        return bool(possible)

    # if all games ended alike, whatever follows was stable before as well
    return n == 1 or any(lasts(lost) for lost in range(1, n))


def convergence(curve: pd.DataFrame, cap: int, extra: int = EXTRA, seats=("first",)) -> dict:
    """Return what the curve of a run [episodes, metrics] says of Convergence, for ``Study.derive``.

    Returns convergence_games, and converged (100 or 0), for games against the own teacher in these
    seats; with " (Nd-Min-Max)" for those against it. Games that were not played give nothing. A run
    that has not converged by then counts as `cap`.
    """
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
    """Return what the training games themselves say of Convergence: for ``Study.derive``.

    A block of games, from one checkpoint to the next, may have at most `allowed` losses. Nothing if
    `curve` has no metrics of :class:`learning_games.TrainingGames`.
    """
    columns = [f"training:{seat}:losses" for seat in SEATS]
    if not set(columns) <= set(curve):
        return {}
    lost = curve[columns].dropna().sum(axis=1)
    return _result(converged_at(lost.index, lost.diff().fillna(lost), extra, allowed), cap)


def lost(table: pd.DataFrame, arm: str, games: int) -> float:
    """Return the percent lost to the own teacher at the last checkpoint, of `games` a seat."""
    metrics = [f"{OWN}:{seat}:losses" for seat in SEATS]
    rows = table[(table.arm == arm) & table.metric.isin(metrics)]
    return 100.0 * rows[rows.episode == rows.episode.max()].value.mean() / games


def summary(table: pd.DataFrame, arm: str, cap: int, opponent: str = OWN) -> dict:
    """Return one row of a table of convergence, in words, from the results of a study.

    It has "converged" ("k of n"), "median" and "interval" (95%, or as much as few runs allow) of
    the training games. What lies at the `cap` is shown as "> cap", a median half way from a run
    that has converged to the cap as "at least".
    """
    rows = table[table.arm == arm]
    reached = rows[rows.metric == f"converged{_end(opponent)}"].value
    at = rows[rows.metric == f"convergence_games{_end(opponent)}"].value
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
