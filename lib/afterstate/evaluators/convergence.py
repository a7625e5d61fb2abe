"""When is a training finished, and when is a result stable? Both as [jamieson2022] defines them.

Convergence-FS ("fully solved"): the first checkpoint of a training without a loss in 100 + 100
games (both seats) and none at any later checkpoint up to 5,000 games on. Convergence-ST ("stable"):
the running percentage of games not lost changes by at most 1 over the next 20 games.
"""

import numpy as np
import pandas as pd

from ..checks import number, whole
from ..stats import median_interval

EXTRA = 5_000  # training games after Convergence-FS without a loss
WINDOW, FLUCTUATION = 20, 1.0


def converged_at(episodes, losses, extra: int = EXTRA, allowed: int = 0) -> int | None:
    """Return the episode of Convergence-FS.

    None if it was not reached, or not followed for `extra` episodes.

    Parameters
    ----------
    episodes, losses : sequences [checkpoints]
        Training games before each checkpoint, and games lost there.
    extra : int
        Training games that must follow.
    allowed : int
        Games that may be lost at a checkpoint.

    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10.

    Examples
    --------
    >>> converged_at([100, 200, 300, 400], [3, 0, 0, 0], extra=200)
    200
    """
    episodes, lost = np.asarray(episodes), np.asarray(losses, float) > whole("allowed", allowed, 0)
    if episodes.shape != lost.shape or np.isnan(np.asarray(losses, float)).any():
        raise ValueError(f"every checkpoint needs its number of losses, not {losses!r}")
    whole("extra", extra, 0)
    if len(episodes) == 0:
        return None
    for k in np.flatnonzero(~lost):
        if episodes[k] + extra > episodes[-1]:
            return None
        if not lost[(episodes >= episodes[k]) & (episodes <= episodes[k] + extra)].any():
            return int(episodes[k])
    return None


def stable_at(not_lost, window: int = WINDOW, fluctuation: float = FLUCTUATION) -> int | None:
    """Return after how many games the running percentage of games not lost is stable, or None.

    Parameters
    ----------
    not_lost : sequence of bool or shares in [0, 1], [games]

    Source: [jamieson2022] Sec. "Stopping Criteria For Training" (Convergence-ST), Table 6.
    Deviations: D12.

    Examples
    --------
    >>> stable_at([False] + [True] * 200)
    36
    """
    whole("window", window), number("fluctuation", fluctuation, 0.0)
    if np.isnan(np.asarray(not_lost, float)).any():
        raise ValueError(f"whether a game was not lost must be known of each, not {not_lost!r}")
    running = 100.0 * np.cumsum(np.asarray(not_lost, float)) / np.arange(1, len(not_lost) + 1)
    for n in range(len(running) - window):
        if np.abs(running[n + 1 : n + 1 + window] - running[n]).max() <= fluctuation + 1e-9:
            return n + 1
    return None


def can_be_stable(n: int, window: int = WINDOW, fluctuation: float = FLUCTUATION) -> bool:
    """Return whether any series of games is stable after `n` of them.

    Examples
    --------
    >>> [n for n in range(1, 36) if can_be_stable(n)]
    [1, 33, 34, 35]
    """

    def lasts(lost):
        share, possible = 100.0 * lost / n, {lost}
        for k in range(n + 1, n + 1 + window):
            possible = {
                now
                for before in possible
                for now in (before, before + 1)
                if abs(100.0 * now / k - share) <= fluctuation + 1e-9
            }
        return bool(possible)

    # if all games ended alike, whatever follows was stable before as well
    return n == 1 or any(lasts(lost) for lost in range(1, n))


def convergence(
    curve: pd.DataFrame,
    cap: int,
    opponent: str = "own teacher",
    extra: int = EXTRA,
    seats: tuple = ("first", "second"),
) -> dict:
    """Return what a learning curve says of Convergence: a function for ``Study.derive``.

    Parameters
    ----------
    curve : DataFrame [episodes, metrics] of one run
    cap : int
        A run that has not converged by then counts as `cap` (it is censored: the true value is
        greater).
    opponent : str
        Of the games that must not be lost.
    extra : int
        Training games without a loss that must follow.
    seats : tuple of "first" and "second"
        In which no game may be lost.

    Returns
    -------
    dict
        convergence_games and converged (100 or 0), each followed by the opponent unless it is the
        own teacher; nothing if the games were not played.
    """
    columns = (
        [f"{opponent}:losses"]
        if f"{opponent}:losses" in curve
        else [f"{opponent}:{seat}:losses" for seat in seats]
    )
    if not set(columns) <= set(curve):
        return {}
    points = curve[columns].dropna()
    found = converged_at(points.index, points.sum(axis=1), extra)
    end = "" if opponent == "own teacher" else f" ({opponent})"
    converged = found is not None and found <= cap
    return {
        f"convergence_games{end}": found if converged else cap,
        f"converged{end}": 100.0 * converged,
    }


def in_training(curve: pd.DataFrame, cap: int, extra: int = EXTRA, allowed: int = 0) -> dict:
    """Return what the training games themselves say of Convergence: for ``Study.derive``.

    The first block of training games, from one checkpoint to the next, without a loss of the
    learning agent, and none in any later block of `extra` games.

    Parameters
    ----------
    curve : DataFrame [episodes, metrics] of one run, with those of ``learning.TrainingGames``
    cap, extra
        As for :func:`convergence`.
    allowed : int
        Games that may be lost in a block.

    Returns
    -------
    dict
        convergence_games and converged (100 or 0); nothing without those metrics.

    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
    """
    columns = [f"training:{seat}:losses" for seat in ("first", "second")]
    if not set(columns) <= set(curve):
        return {}
    lost = curve[columns].dropna().sum(axis=1)
    found = converged_at(lost.index, lost.diff().fillna(lost), extra, allowed)
    converged = found is not None and found <= cap
    return {"convergence_games": found if converged else cap, "converged": 100.0 * converged}


def against_both(curve: pd.DataFrame, cap: int, extra: int = EXTRA) -> dict:
    """Return :func:`convergence` against the own teacher and the non-deterministic Min-Max.

    The latter only where those games were played.
    """
    return convergence(curve, cap, extra=extra) | convergence(curve, cap, "Nd-Min-Max", extra)


def lost(table: pd.DataFrame, arm: str, games: int) -> float:
    """Return the percent of games that an arm loses to its own teacher at the last checkpoint.

    Mean over runs of `games` games in each seat; nan without any.
    """
    rows = table[
        (table.arm == arm)
        & table.metric.isin([f"own teacher:{seat}:losses" for seat in ("first", "second")])
    ]
    return 100.0 * rows[rows.episode == rows.episode.max()].value.mean() / games


def summary(table: pd.DataFrame, arm: str, cap: int, opponent: str = "own teacher") -> dict:
    """Return one row of a table of convergence, in words.

    It says how many runs converged, and the median number of training games with its interval.

    Parameters
    ----------
    table : DataFrame of a study with the results of :func:`convergence`
    arm : str
    cap : int
        Of this arm. A median, or an end of its interval, at the cap is shown as "> cap"; a median
        between a run that has converged and one that has not as "at least" half way to the cap.
    opponent : str
        As for :func:`convergence`.

    Returns
    -------
    dict
        "converged" ("k of n"), "median" and "interval" (95%, or as much as so few runs allow), "-"
        where nothing was measured.
    """
    end = "" if opponent == "own teacher" else f" ({opponent})"
    of = table[table.arm == arm].groupby("metric").value
    reached, at = (
        of.get_group(metric) if metric in of.groups else pd.Series(dtype=float)
        for metric in (f"converged{end}", f"convergence_games{end}")
    )
    if at.empty:
        return {"converged": "-", "median": "-", "interval": "-"}
    median, low, high = (
        f"> {cap:,}" if value >= cap and (reached < 100).any() else f"{value:,.0f}"
        for value in median_interval(at)
    )
    if np.sort(at)[len(at) // 2] >= cap > np.median(at) and (reached < 100).any():
        median = f"at least {median}"
    return {
        "converged": f"{int((reached > 0).sum())} of {len(reached)}",
        "median": median,
        "interval": f"{low} to {high}" if low != high else low,
    }
