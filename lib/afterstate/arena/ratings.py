"""Ratings of players from their results: the Bradley-Terry model with draws and a first-seat bonus.

With strengths a and b, advantage c of the first seat and drawishness v (all logarithms of
Davidson's parameters)::

    P(first wins) : P(draw) : P(second wins)  =  exp(a + c) : exp(v + (a + b + c) / 2) : exp(b)

Ratings are on the Elo scale (400 points = odds of 10 : 1), with mean 0. A weak prior (half a draw
between each pair of players in either seat) keeps players that won or lost everything finite. The
kernels are plain loops because numpy's exp and linear algebra differ between processors in the last
bits; in them a model is one array ``x``: all strengths, first-seat advantage, drawishness.

Source: Davidson (1970), J. Amer. Stat. Assoc. 65; Davidson & Beaver (1977) for the order effect.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from ..checks import number, whole
from ..kernel.compile import kernel
from ..kernel.functions import exp, log

COLUMNS = ["first", "second", "wins", "draws", "losses"]
COUNTS = COLUMNS[2:]
ELO = 400.0 / math.log(10.0)
PRIOR = 0.5
BOOTSTRAPS = 200
QUANTILES = [(1 - 0.95) / 2, (1 + 0.95) / 2]  # of the intervals
RIDGE = 1e-6  # fixes the zero of the scale, and draws that never happened
MAX_STEPS, TOLERANCE = 100, 1e-9
LEAST_CHANCE = 1e-300  # so that its logarithm is finite
# by outcome (win, draw, loss): how often its weight has the strengths of first and second player,
# the first seat's advantage and the drawishness
SHARES = np.array([[1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 1.0], [0.0, 1.0, 0.0, 0.0]])


def are_matches(table) -> bool:
    """Return whether a table is the long one of :func:`afterstate.arena.matches`."""
    return isinstance(table, pd.DataFrame) and {"match", "seat", "player", "score"} <= set(table)


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return match, first, second, points (1, 0.5, 0) of every two seats of finished matches."""
    rows = []
    for match, seats in table[table.score.notna()].sort_values("seat").groupby("match"):
        for (a, mine), (b, theirs) in itertools.combinations(zip(seats.player, seats.score), 2):
            rows.append((match, a, b, 0.5 * ((mine > theirs) - (mine < theirs) + 1)))
    return pd.DataFrame(rows, columns=["match", "first", "second", "points"])


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return results (first, second, wins, draws, losses) of a table of matches; others as it is.

    With three players or more every two seats are compared; such comparisons are not independent,
    so intervals made of them are too narrow.
    """
    if not are_matches(table):
        return table
    met = pairs(table)
    for name, worth in zip(COUNTS, (1.0, 0.5, 0.0)):
        met[name] = (met.points == worth).astype(int)
    return met.groupby(["first", "second"], sort=False)[COUNTS].sum().reset_index()[COLUMNS]


@kernel
def write_chances(win, draw, loss, p):
    """Write the probabilities of outcomes with these logarithms of weights into `p`."""
    top = max(win, draw, loss)
    p[0], p[1], p[2] = exp(win - top), exp(draw - top), exp(loss - top)
    total = p[0] + p[1] + p[2]
    for k in range(3):
        p[k] /= total


@kernel
def chances(x, first, second, p):
    """Write how probably player `first` wins, draws and loses against `second` into `p`."""
    n = x.shape[0] - 2
    drawn = 0.5 * (x[first] + x[second] + x[n]) + x[n + 1]
    write_chances(x[first] + x[n], drawn, x[second], p)


@kernel
def likelihood(x, first, second, counts, ridge, p):
    """Return the logarithm of the likelihood of counts[games, 3], less the penalty of the ridge."""
    total = 0.0
    for value in x:
        total -= 0.5 * ridge * (value * value)
    for r in range(counts.shape[0]):
        chances(x, first[r], second[r], p)
        for k in range(3):
            total += counts[r, k] * log(max(p[k], LEAST_CHANCE))
    return total


@kernel
def newton_step(x, first, second, counts, ridge, p, mean, curvature, step):
    """Write the step to the likelihood's maximum into `step`, as if it were a parabola."""
    size = x.shape[0]
    for i in range(size):
        step[i] = -ridge * x[i]
        for j in range(size):
            curvature[i, j] = ridge if i == j else 0.0
    for r in range(counts.shape[0]):
        add_games(x, first[r], second[r], counts[r], p, mean, curvature, step)
    solve(curvature, step)


@kernel
def add_games(x, first, second, count, p, mean, curvature, slope):
    """Add what the games of a pair say of the slope and of the curvature."""
    at = (first, second, np.int64(x.shape[0] - 2), np.int64(x.shape[0] - 1))
    games = count[0] + count[1] + count[2]
    chances(x, first, second, p)
    for a in range(4):
        mean[a] = p[0] * SHARES[0, a] + p[1] * SHARES[1, a] + p[2] * SHARES[2, a]
        for k in range(3):
            slope[at[a]] += (count[k] - games * p[k]) * SHARES[k, a]
    for a in range(4):
        for b in range(4):
            for k in range(3):
                spread = (SHARES[k, a] - mean[a]) * (SHARES[k, b] - mean[b])
                curvature[at[a], at[b]] += games * p[k] * spread


@kernel
def solve(matrix, vector):
    """Solve a positive definite system in place: Cholesky's factor, then both substitutions."""
    n = vector.shape[0]
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] /= matrix[j, j]
            else:
                matrix[j, j] = np.sqrt(matrix[j, j])
    for i in range(n):
        for k in range(i):
            vector[i] -= matrix[i, k] * vector[k]
        vector[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            vector[i] -= matrix[k, i] * vector[k]
        vector[i] /= matrix[i, i]


@kernel
def surplus(strength, theirs, seat, draw, counts, p):
    """Return the points that a player of this strength made beyond what was expected of it."""
    total = 0.0
    for r in range(counts.shape[0]):
        half = (strength - theirs[r] + seat[r]) / 2
        write_chances(half, draw, -half, p)
        games = counts[r, 0] + counts[r, 1] + counts[r, 2]
        total += counts[r, 0] + counts[r, 1] / 2 - games * (p[0] + p[1] / 2)
    return total


class Model(NamedTuple):
    """A fitted model."""

    players: list
    strength: np.ndarray  # float64 [players], natural logarithm, mean 0
    first: float  # advantage of the first seat, natural logarithm
    draw: float  # drawishness, natural logarithm

    def probabilities(self, a: str, b: str) -> np.ndarray:
        """Return how probably `a`, moving first, wins, draws and loses against `b`: float64[3]."""
        x, found = np.array([*self.strength, self.first, self.draw]), np.zeros(3)
        chances(x, self.players.index(a), self.players.index(b), found)
        return found


def fit(results: pd.DataFrame, prior: float = PRIOR) -> Model:
    """Fit strengths by (penalised) maximum likelihood.

    Parameters
    ----------
    results : DataFrame
        ``COLUMNS``: names, and numbers of games that the first won, drew, lost; or the table of
        :func:`afterstate.arena.matches`.
    prior : float
        Draws added to every ordered pair of players; with 0, groups that never met are a
        ValueError.

    Examples
    --------
    >>> games = pd.DataFrame([("a", "b", 10, 0, 1), ("b", "a", 1, 0, 10)], columns=COLUMNS)
    >>> round(float(fit(games, prior=0).strength[0] * 2), 3)  # log(10)
    2.303
    """
    names, games = _arrays(counted(results), prior)
    n, p = len(names), np.zeros(3)
    x, step, work = np.zeros(n + 2), np.zeros(n + 2), (np.zeros(4), np.zeros((n + 2, n + 2)))
    worth = likelihood(x, *games, RIDGE, p)
    for _ in range(MAX_STEPS):  # the logarithm of the likelihood is concave
        newton_step(x, *games, RIDGE, p, *work, step)
        while (new := likelihood(x + step, *games, RIDGE, p)) < worth:
            if np.abs(step).max() <= TOLERANCE:
                break
            step /= 2
        x, worth = x + step, new
        if np.abs(step).max() < TOLERANCE:
            break
    return Model(names, x[:n] - x[:n].mean(), float(x[n]), float(x[n + 1]))


def place(model: Model, results: pd.DataFrame, prior: float = PRIOR) -> float:
    """Return the strength of one more player, from games against players of a fitted model.

    The columns of `results` are opponent, wins, draws, losses (of the new player) and first
    (whether it moved first); the `prior`, in draws, is added to every row.
    """
    counts = _counts(results, ("opponent", "first"), prior) + [0.0, prior, 0.0]
    theirs = model.strength[[model.players.index(name) for name in results.opponent]]
    seat = np.where(results["first"].to_numpy(bool), model.first, -model.first)
    p = np.zeros(3)

    def slope(x):
        return surplus(x, theirs, seat, model.draw, counts, p) - RIDGE * x

    return float(brentq(slope, -100.0, 100.0, xtol=1e-10))


def ratings(results: pd.DataFrame, bootstraps: int = BOOTSTRAPS, seed: int = 0) -> pd.DataFrame:
    """Return the rating of every player with a 95% bootstrap interval, the strongest first.

    `results` are those of :func:`fit`. Games are drawn again within each pairing; where a column
    ``run`` tells independent trainings apart, whole runs.

    Returns
    -------
    DataFrame
        Columns player, rating, low, high (Elo points, mean 0), games.
    """
    whole("bootstraps", bootstraps, 0), whole("seed", seed, 0)
    results = counted(results)
    model, rng = fit(results), np.random.default_rng(seed)
    low = high = np.nan
    if bootstraps:
        again = [fit(_draw_again(results, rng)).strength for _ in range(bootstraps)]
        low, high = np.quantile(np.array(again) * ELO, QUANTILES, axis=0)
    total = results.wins + results.draws + results.losses
    played = [(results["first"] == name) | (results.second == name) for name in model.players]
    columns = {"player": model.players, "rating": model.strength * ELO, "low": low, "high": high}
    table = pd.DataFrame(columns | {"games": [float(total[where].sum()) for where in played]})
    return table.sort_values("rating", ascending=False, ignore_index=True)


def _draw_again(results, rng) -> pd.DataFrame:
    if "run" in results and results.run.nunique() > 1:
        by_run = {run: group for run, group in results.groupby("run")}
        drawn = rng.choice(sorted(by_run), len(by_run))
        return pd.concat([by_run[run] for run in drawn], ignore_index=True)
    counts = results[COUNTS].to_numpy(float)
    total = counts.sum(axis=1)
    drawn = [rng.multinomial(int(n), row / n) if n else row for n, row in zip(total, counts)]
    return results.assign(**dict(zip(COUNTS, np.array(drawn).T)))


def cycles(results: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return all triples in which each player beats the next, which no single scale can express.

    "Beats" means a mean score over both seats above one half by more than a 95% interval.
    """
    results = counted(results)
    _counts(results, ("first", "second"), 0.0)
    names, sums = sorted({*results["first"], *results.second}), {}
    for row in results.itertuples():
        n, half = row.wins + row.draws + row.losses, row.draws / 2
        sides = (row.first, row.second, row.wins), (row.second, row.first, row.losses)
        for a, b, won in sides:
            points, squares, games = sums.get((a, b), (0.0, 0.0, 0))
            sums[a, b] = points + won + half, squares + won + half / 2, games + n

    def beats(a, b):
        points, squares, n = sums.get((a, b), (0.0, 0.0, 0))
        if a == b or not n:
            return False
        mean = points / n
        error = np.sqrt(max(squares / n - mean**2, 0.0) / n)
        return mean - 0.5 > ndtri(QUANTILES[1]) * error + 1e-12

    return [
        (a, b, c)
        for a, b, c in itertools.permutations(names, 3)
        if a < min(b, c) and beats(a, b) and beats(b, c) and beats(c, a)
    ]


def _counts(results, names, prior) -> np.ndarray:
    """Return wins, draws and losses, float64[rows, 3], or raise if the table lacks them."""
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results must be a table (pandas DataFrame), not {results!r}")
    number("prior", prior, 0.0, 1e9)
    if missing := {*names, *COUNTS} - set(results.columns):
        raise ValueError(f"results lack the columns {', '.join(sorted(missing))}")
    try:
        counts = results[COUNTS].to_numpy(float)
    except (TypeError, ValueError):
        counts = np.full((1, 3), np.nan)
    named = not results[list(names)].isna().any(axis=None)
    if not named or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError(f"results need names, and counts of at least 0, not\n{results}")
    return counts


def _arrays(results, prior):
    """Return names, and for each row first, second and counts[3]; the prior is further rows."""
    counts = _counts(results, ("first", "second"), prior)
    if not counts.sum():
        raise ValueError(f"ratings need games, and there are none in {len(results)} rows")
    names = sorted({*results["first"], *results.second})
    place = {name: k for k, name in enumerate(names)}
    i, j = results["first"].map(place).to_numpy(), results.second.map(place).to_numpy()
    met = coo_array((np.ones(len(i)), (i, j)), shape=(len(names), len(names)))
    if prior == 0 and connected_components(met)[0] > 1:
        raise ValueError("groups of players never met: let them, or give a prior above 0")
    if prior:
        everybody = list(itertools.permutations(range(len(names)), 2))
        ordered = np.array(everybody, np.int64).reshape(-1, 2)
        i, j = np.concatenate([i, ordered[:, 0]]), np.concatenate([j, ordered[:, 1]])
        counts = np.concatenate([counts, np.tile([0.0, prior, 0.0], (len(ordered), 1))])
    return names, (i.astype(np.int64), j.astype(np.int64), counts)
