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
from scipy.special import ndtri

from ..checks import number, whole
from ..kernel.compile import kernel
from ..kernel.functions import exp, log

COUNTS = ["wins", "draws", "losses"]
COLUMNS = ["first", "second", *COUNTS]
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
def likelihood(x, first, second, counts, p):
    """Return the logarithm of the likelihood of counts[rows, 3], less the penalty of the ridge."""
    total = 0.0
    for value in x:
        total -= 0.5 * RIDGE * (value * value)
    for r in range(counts.shape[0]):
        chances(x, first[r], second[r], p)
        for k in range(3):
            total += counts[r, k] * log(max(p[k], LEAST_CHANCE))
    return total


@kernel
def newton_step(x, first, second, counts, p, mean, curvature, step):
    """Write the step to the likelihood's maximum into `step`, as if it were a parabola."""
    size = x.shape[0]
    for i in range(size):
        step[i] = -RIDGE * x[i]
        for j in range(size):
            curvature[i, j] = RIDGE if i == j else 0.0
    for r in range(counts.shape[0]):
        at = (first[r], second[r], np.int64(size - 2), np.int64(size - 1))
        games = counts[r, 0] + counts[r, 1] + counts[r, 2]
        chances(x, first[r], second[r], p)
        for a in range(4):
            mean[a] = p[0] * SHARES[0, a] + p[1] * SHARES[1, a] + p[2] * SHARES[2, a]
            for k in range(3):
                step[at[a]] += (counts[r, k] - games * p[k]) * SHARES[k, a]
        for a in range(4):
            for b in range(4):
                for k in range(3):
                    spread = (SHARES[k, a] - mean[a]) * (SHARES[k, b] - mean[b])
                    curvature[at[a], at[b]] += games * p[k] * spread
    solve(curvature, step)


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

    The `results` have the ``COLUMNS``: names, and numbers of games that the first won, drew, lost;
    or they are the table of :func:`afterstate.arena.matches`. The `prior` is the number of draws
    added to every ordered pair of players; 0 says nothing of groups that never met.

    Examples
    --------
    >>> games = pd.DataFrame([("a", "b", 10, 0, 1), ("b", "a", 1, 0, 10)], columns=COLUMNS)
    >>> round(float(fit(games, prior=0).strength[0] * 2), 3)  # log(10)
    2.303
    """
    results = counted(results)
    counts = _counts(results, ("first", "second"), prior)
    if not counts.sum():
        raise ValueError(f"ratings need games, and there are none in {len(results)} rows")
    names = sorted({*results["first"], *results.second})
    n, number_of = len(names), {name: k for k, name in enumerate(names)}
    seats = [results[seat].map(number_of).to_numpy(np.int64) for seat in ("first", "second")]
    if prior:  # further rows
        everybody = np.array(list(itertools.permutations(range(n), 2)), np.int64).reshape(-1, 2)
        seats = [np.concatenate([seat, more]) for seat, more in zip(seats, everybody.T)]
        counts = np.concatenate([counts, np.tile([0.0, prior, 0.0], (len(everybody), 1))])
    x = _maximum(n + 2, *seats, counts)
    return Model(names, x[:n] - x[:n].mean(), float(x[n]), float(x[n + 1]))


def _maximum(size, *games) -> np.ndarray:
    """Return where the likelihood is greatest; its logarithm is concave."""
    p, work = np.zeros(3), (np.zeros(4), np.zeros((size, size)))
    x, step = np.zeros(size), np.zeros(size)
    worth = likelihood(x, *games, p)
    for _ in range(MAX_STEPS):
        newton_step(x, *games, p, *work, step)
        while (new := likelihood(x + step, *games, p)) < worth:
            if np.abs(step).max() <= TOLERANCE:
                break
            step /= 2
        x, worth = x + step, new
        if np.abs(step).max() < TOLERANCE:
            break
    return x


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
    """Return player, rating, low, high (Elo points, mean 0) and games, the strongest first.

    `results` are those of :func:`fit`. For the 95% bootstrap interval games are drawn again within
    each pairing; where a column ``run`` tells independent trainings apart, whole runs.
    """
    results = counted(results)
    model = fit(results)
    low, high = intervals(results, bootstraps, seed)
    total = results.wins + results.draws + results.losses
    played = [(results["first"] == name) | (results.second == name) for name in model.players]
    columns = {"player": model.players, "rating": model.strength * ELO, "low": low, "high": high}
    table = pd.DataFrame(columns | {"games": [float(total[where].sum()) for where in played]})
    return table.sort_values("rating", ascending=False, ignore_index=True)


def intervals(results: pd.DataFrame, bootstraps: int, seed: int) -> tuple:
    """Return the bounds of the players' ratings, each float64[players], NaN without bootstraps."""
    whole("bootstraps", bootstraps, 0), whole("seed", seed, 0)
    rng = np.random.default_rng(seed)
    again = [fit(_draw_again(results, rng)).strength for _ in range(bootstraps)]
    return tuple(np.quantile(np.array(again) * ELO, QUANTILES, axis=0)) if again else (np.nan,) * 2


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
    met = both_seats(counted(results))
    mean = met.points / met.games
    error = np.sqrt(np.maximum(met.squares / met.games - mean**2, 0.0) / met.games)
    beats = {pair for pair in met.index[mean - 0.5 > ndtri(QUANTILES[1]) * error + 1e-12]}
    return [
        (a, b, c)
        for a, b, c in itertools.permutations(sorted({*met.index.get_level_values(0)}), 3)
        if a < min(b, c) and {(a, b), (b, c), (c, a)} <= beats
    ]


def both_seats(results: pd.DataFrame) -> pd.DataFrame:
    """Return points, their squares, draws and games by (player, other), over both seats."""
    wins, draws, losses = _counts(results, ("first", "second"), 0.0).T
    sides = [("first", "second", wins), ("second", "first", losses)]
    both = pd.concat(
        results[[player, other]]
        .set_axis(["player", "other"], axis=1)
        .assign(points=won + draws / 2, squares=won + draws / 4, draws=draws)
        .assign(games=wins + draws + losses)
        for player, other, won in sides
    )
    return both.groupby(["player", "other"]).sum()


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return match, first, second, points (1, 0.5, 0) of every two seats of finished matches."""
    seats = table[table.score.notna()].sort_values(["match", "seat"])
    met = seats.merge(seats, on="match").query("seat_x < seat_y")
    points = 0.5 * (np.sign(met.score_x - met.score_y) + 1)
    found = {"match": met.match, "first": met.player_x, "second": met.player_y, "points": points}
    return pd.DataFrame(found).reset_index(drop=True)


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return results (first, second, wins, draws, losses) of a table of matches; others as it is.

    With three players or more every two seats are compared; such comparisons are not independent,
    so intervals made of them are too narrow.
    """
    if not isinstance(table, pd.DataFrame) or not {"match", "seat", "score"} <= set(table):
        return table
    met = pairs(table)
    for name, worth in zip(COUNTS, (1.0, 0.5, 0.0)):
        met[name] = (met.points == worth).astype(int)
    return met.groupby(["first", "second"], sort=False)[COUNTS].sum().reset_index()


def _counts(results, names, prior) -> np.ndarray:
    """Return wins, draws and losses, float64[rows, 3], or raise if the table lacks them."""
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results must be a table (pandas DataFrame), not {results!r}")
    number("prior", prior, 0.0, 1e9)
    if missing := {*names, *COUNTS} - set(results.columns):
        raise ValueError(f"results lack the columns {', '.join(sorted(missing))}")
    counts = results[COUNTS].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    named = not results[list(names)].isna().any(axis=None)
    if not named or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError(f"results need names, and counts of at least 0, not\n{results}")
    return counts
