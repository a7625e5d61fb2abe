"""Ratings of players from their results: the Bradley-Terry model with draws and a first-seat bonus.

With strengths a and b, advantage c of the first seat and drawishness v (all logarithms of
Davidson's parameters)::

    P(first wins) : P(draw) : P(second wins)  =  exp(a + c) : exp(v + (a + b + c) / 2) : exp(b)

Ratings are given on the Elo scale (400 points = odds of 10 : 1), with mean 0. A weak prior (half a
draw between each pair of players in either seat) keeps players that won or lost everything finite;
it is a parameter.

Source: Davidson (1970), J. Amer. Stat. Assoc. 65; Davidson & Beaver (1977) for the order effect.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from ..checks import fraction, number, whole
from . import davidson
from .results import counted

ELO = 400.0 / math.log(10.0)
PRIOR = 0.5
BOOTSTRAPS = 200
# fixes what the results do not: the zero of the scale, and draws that never happened
RIDGE = 1e-6
MAX_STEPS, TOLERANCE = 100, 1e-9


class Model(NamedTuple):
    """A fitted model."""

    players: list
    strength: np.ndarray  # float64 [players], natural logarithm, mean 0
    first: float  # advantage of the first seat, natural logarithm
    draw: float  # drawishness, natural logarithm

    def probabilities(self, a: str, b: str) -> np.ndarray:
        """Return how probably `a`, moving first, wins, draws and loses against `b`: float64[3]."""
        for name in (a, b):
            if name not in self.players:
                raise ValueError(f"no player {name!r} was rated, only {', '.join(self.players)}")
        x, found = np.array([*self.strength, self.first, self.draw]), np.zeros(3)
        davidson.chances(x, self.players.index(a), self.players.index(b), found)
        return found


def fit(results: pd.DataFrame, prior: float = PRIOR) -> Model:
    """Fit strengths by (penalised) maximum likelihood.

    Parameters
    ----------
    results : DataFrame
        Columns first, second (names), wins, draws, losses (numbers of games, of the first player);
        or the table of :func:`afterstate.arena.matches`, whose games are counted.
    prior : float
        Draws added to every ordered pair of players; 0 = plain maximum likelihood, which may not
        exist.

    Raises
    ------
    ValueError
        If a column is missing, there are no games, a number is negative or not finite, or (with
        prior 0) the players fall into groups that never met.

    Examples
    --------
    >>> import pandas as pd
    >>> from afterstate.arena import ratings
    >>> columns = ["first", "second", "wins", "draws", "losses"]
    >>> games = pd.DataFrame([("a", "b", 10, 0, 1), ("b", "a", 1, 0, 10)], columns=columns)
    >>> round(float(ratings.fit(games, prior=0).strength[0] * 2), 3)  # log(10)
    2.303
    """
    names, games = _arrays(counted(results), prior)
    n, p = len(names), np.zeros(3)
    x, step, work = np.zeros(n + 2), np.zeros(n + 2), (np.zeros(4), np.zeros((n + 2, n + 2)))
    worth = davidson.likelihood(x, *games, RIDGE, p)
    for _ in range(MAX_STEPS):  # the logarithm of the likelihood is concave
        davidson.newton_step(x, *games, RIDGE, p, *work, step)
        while (new := davidson.likelihood(x + step, *games, RIDGE, p)) < worth and np.abs(
            step
        ).max() > TOLERANCE:
            step /= 2
        x, worth = x + step, new
        if np.abs(step).max() < TOLERANCE:
            break
    return Model(names, x[:n] - x[:n].mean(), float(x[n]), float(x[n + 1]))


def place(model: Model, results: pd.DataFrame, prior: float = PRIOR) -> float:
    """Return the strength of one more player, from games against players of a fitted model.

    These keep theirs, so the result does not depend on who else is rated.

    Parameters
    ----------
    model : Model
    results : DataFrame
        Columns opponent, wins, draws, losses (of the new player) and first (whether the new player
        moved first).
    prior : float
        Draws added to every row.

    Returns
    -------
    float
        On the scale of ``model.strength``.

    Raises
    ------
    ValueError
        If there are no games, or an opponent is not in the model.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from afterstate.arena import ratings
    >>> model = ratings.Model(["a"], np.array([0.5]), 0.0, 0.0)
    >>> columns = ["opponent", "wins", "draws", "losses", "first"]
    >>> games = pd.DataFrame([("a", 10, 5, 10, True)], columns=columns)
    >>> round(ratings.place(model, games), 3)
    0.5
    """
    if not isinstance(model, Model):
        raise TypeError(f"a player is placed in a fitted Model, not in {model!r}")
    counts = _counts(results, ("opponent", "first"), prior) + [0.0, prior, 0.0]
    unknown = set(results.opponent) - set(model.players)
    if unknown or not counts.sum():
        raise ValueError(
            f"a player is placed by games against {', '.join(model.players)}, not by {len(results)}"
            f" rows against {sorted(unknown) or 'them'}"
        )
    theirs = model.strength[[model.players.index(name) for name in results.opponent]]
    seat = np.where(results["first"].to_numpy(bool), model.first, -model.first)
    p = np.zeros(3)

    def slope(x):
        return davidson.surplus(x, theirs, seat, model.draw, counts, p) - RIDGE * x

    return float(brentq(slope, -100.0, 100.0, xtol=1e-10))


def ratings(
    results: pd.DataFrame,
    prior: float = PRIOR,
    bootstraps: int = BOOTSTRAPS,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the rating of every player with a bootstrap interval, the strongest first.

    `results` may be a table of matches, as in :func:`fit`.

    Games are drawn again within each pairing. Rows of `results` with another value in the column
    ``run`` (if there is one) are independent runs, and then whole runs are drawn again: games of
    one trained agent say nothing about the next training.

    Returns
    -------
    DataFrame
        Columns player, rating, low, high (Elo points, mean 0), games.

    Examples
    --------
    >>> import pandas as pd
    >>> from afterstate.arena import ratings
    >>> columns = ["first", "second", "wins", "draws", "losses"]
    >>> games = pd.DataFrame([("a", "b", 8, 1, 1), ("b", "a", 2, 1, 7)], columns=columns)
    >>> ratings.ratings(games, bootstraps=20).player.tolist()
    ['a', 'b']
    """
    whole("bootstraps", bootstraps, 0), whole("seed", seed, 0), fraction("level", level)
    results = counted(results)
    model, rng = fit(results, prior), np.random.default_rng(seed)
    drawn = (
        np.array([fit(_draw_again(results, rng), prior).strength for _ in range(bootstraps)]) * ELO
    )
    low, high = (
        np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        if bootstraps
        else np.full((2, len(model.players)), np.nan)
    )
    total = results.wins + results.draws + results.losses
    games = [
        float(total[(results["first"] == name) | (results.second == name)].sum())
        for name in model.players
    ]
    table = pd.DataFrame(
        {
            "player": model.players,
            "rating": model.strength * ELO,
            "low": low,
            "high": high,
            "games": games,
        }
    )
    return table.sort_values("rating", ascending=False, ignore_index=True)


def _draw_again(results, rng) -> pd.DataFrame:
    if "run" in results and results.run.nunique() > 1:
        by_run = {run: group for run, group in results.groupby("run")}
        return pd.concat(
            [by_run[run] for run in rng.choice(sorted(by_run), len(by_run))], ignore_index=True
        )
    counts = results[["wins", "draws", "losses"]].to_numpy(float)
    total = counts.sum(axis=1)
    drawn = [rng.multinomial(int(n), row / n) if n else row for n, row in zip(total, counts)]
    return results.assign(**dict(zip(("wins", "draws", "losses"), np.array(drawn).T)))


def cycles(results: pd.DataFrame, level: float = 0.95) -> list[tuple[str, str, str]]:
    """Return all triples in which each player beats the next, which no single scale can express.

    "Beats" means a mean score above one half, over both seats, by more than a `level` interval for
    so many games.
    """
    results = counted(results)
    fraction("level", level), _counts(results, ("first", "second"), 0.0)
    names, score, total, squares = sorted({*results["first"], *results.second}), {}, {}, {}
    for row in results.itertuples():
        n = row.wins + row.draws + row.losses
        for a, b, points, win in (
            (row.first, row.second, row.wins + row.draws / 2, row.wins),
            (row.second, row.first, row.losses + row.draws / 2, row.losses),
        ):
            score[a, b] = score.get((a, b), 0.0) + points
            squares[a, b] = squares.get((a, b), 0.0) + win + row.draws / 4
            total[a, b] = total.get((a, b), 0.0) + n

    def beats(a, b):
        n = total.get((a, b), 0)
        if a == b or not n:
            return False
        mean = score[a, b] / n
        return (
            mean - 0.5
            > ndtri((1 + level) / 2) * np.sqrt(max(squares[a, b] / n - mean**2, 0.0) / n) + 1e-12
        )

    return [
        (a, b, c)
        for a in names
        for b in names
        if beats(a, b)
        for c in names
        if a < min(b, c) and beats(b, c) and beats(c, a)
    ]


def _counts(results, names, prior) -> np.ndarray:
    """Return wins, draws and losses, float64[rows, 3], or raise if the table does not hold them."""
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results must be a table (pandas DataFrame), not {results!r}")
    number("prior", prior, 0.0, 1e9)
    missing = {*names, "wins", "draws", "losses"} - set(results.columns)
    if missing:
        raise ValueError(f"results lack the columns {', '.join(sorted(missing))}")
    try:
        counts = results[["wins", "draws", "losses"]].to_numpy(float)
    except (TypeError, ValueError):
        counts = np.full((1, 3), np.nan)
    if not (np.isfinite(counts) & (counts >= 0)).all() or results[list(names)].isna().any(
        axis=None
    ):
        raise ValueError(
            "results need names, and numbers of wins, draws and losses of at least 0, not\n"
            f"{results}"
        )
    return counts


def _arrays(results, prior):
    """Return names, and for each row first, second and counts[3]; the prior is further rows."""
    counts = _counts(results, ("first", "second"), prior)
    if not counts.sum():
        raise ValueError(f"ratings need games, and there are none in {len(results)} rows")
    names = sorted({*results["first"], *results.second})
    place = {name: k for k, name in enumerate(names)}
    i, j = results["first"].map(place).to_numpy(), results.second.map(place).to_numpy()
    # a player against itself says something of the first seat and of draws only, which is kept
    different = i != j
    if prior == 0 and not _connected(len(names), i[different], j[different]):
        raise ValueError(
            "these players fall into groups that never met: let them play each other, or give a"
            " prior above 0"
        )
    if prior:
        pairs = np.array(
            [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
        ).reshape(-1, 2)
        i, j = np.concatenate([i, pairs[:, 0]]), np.concatenate([j, pairs[:, 1]])
        counts = np.concatenate([counts, np.tile([0.0, prior, 0.0], (len(pairs), 1))])
    return names, (i.astype(np.int64), j.astype(np.int64), counts)


def _connected(n, i, j) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {int(b) for a, b in zip(i, j) if a in reached} | {
            int(a) for a, b in zip(i, j) if b in reached
        }
    return len(reached) == n
