"""Ratings of players from their results: the Bradley-Terry model with draws and a first-seat bonus.

With strengths a and b, advantage c of the first seat and drawishness v (natural logarithms)::

    P(first wins) : P(draw) : P(second wins)  =  exp(a + c) : exp(v + (a + b + c) / 2) : exp(b)

Ratings are on the Elo scale (400 points = odds of 10 : 1), with mean 0. The prior is half a game
for each pair that met, in either seat, half won and half lost: it keeps everything finite and pulls
nobody who did not play. A table without a draw is fitted without draws.

Source: Davidson (1970), J. Amer. Stat. Assoc. 65; Davidson & Beaver (1977) for the order effect.
"""

import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, linprog, root
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from ..checks import number
from ..stats import t_quantile

COLUMNS = ["first", "second", "wins", "draws", "losses"]
COUNTS = COLUMNS[2:]
ELO = 400.0 / math.log(10.0)
PRIOR = 0.5
UPPER = 0.975  # the upper end of a 95% interval
# by outcome (win, draw, loss): how often its weight has the strengths of first and second player,
# the first seat's advantage and the drawishness
SHARES = np.array([[1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 1.0], [0.0, 1.0, 0.0, 0.0]])


class Model(NamedTuple):
    """A fitted model."""

    players: list
    strength: np.ndarray  # float64 [players], natural logarithm, mean 0
    first: float  # advantage of the first seat, natural logarithm
    draw: float  # drawishness, natural logarithm; -inf without draws

    def probabilities(self, a: str, b: str) -> np.ndarray:
        """Return how probably `a`, moving first, wins, draws and loses against `b`: float64[3]."""
        ahead = self.strength[self.place_of(a)] - self.strength[self.place_of(b)]
        return _chances(ahead + self.first, self.draw)

    def place_of(self, name) -> int:
        """Return the place of a player in the model, or raise ValueError."""
        if name not in self.players:
            raise ValueError(f"there is no player {name!r} among {self.players}")
        return self.players.index(name)


def _chances(ahead, draw) -> np.ndarray:
    """Return P(win, draw, loss), float64[..., 3], of who is `ahead`, in natural logarithms."""
    half = np.asarray(ahead, float) / 2
    return softmax(np.stack([half, np.full_like(half, draw), -half], axis=-1), axis=-1)


def _in_order(names) -> list:
    """Return different names, which may be of several types, in an order of their own."""
    return sorted({*names}, key=lambda name: (str(name), type(name).__name__))


class _Games:
    """The games of a table as a logit model: shares [rows, outcomes, parameters], and counts."""

    # parameters: all strengths, first-seat advantage, drawishness

    def __init__(self, results, prior):
        counts = _some_counts(results, ("first", "second"), prior)
        counts, played = counts[counts.any(axis=1)], results[counts.any(axis=1)]
        self.names = _in_order([*results["first"], *results.second])
        seats = played[["first", "second"]].map(self.names.index).to_numpy()
        n = len(self.names)
        met = coo_array((np.ones(len(seats)), seats.T), shape=(n, n))
        groups, group = connected_components(met, directed=False)
        if groups > 1:
            apart = [name for name, its in zip(self.names, group) if its != group[0]]
            raise ValueError(f"{apart} never met {self.names[0]!r} or who played it: let them meet")
        self.runs = played["run"].to_numpy() if "run" in played else np.zeros(len(played))
        if prior:
            both = np.unique(np.concatenate([seats, seats[:, ::-1]]), axis=0)
            half = np.tile([prior / 2, 0.0, prior / 2], (len(both), 1))
            seats, counts = np.concatenate([seats, both]), np.concatenate([counts, half])
        outcomes = [0, 1, 2] if counts[:, 1].any() else [0, 2]
        self.counts, self.shares = counts[:, outcomes], np.zeros((len(seats), len(outcomes), n + 2))
        for k, place in enumerate((*seats.T, n, n + 1)):
            self.shares[np.arange(len(seats)), :, place] += SHARES[outcomes, k]
        self.played = self.counts.sum(axis=1, keepdims=True)

    def slopes(self, x):
        """Return what each row says of the slope of the log-likelihood."""
        surplus = self.counts - self.played * softmax(self.shares @ x, axis=1)
        return np.einsum("rk,rki->ri", surplus, self.shares)

    def curvature(self, x):
        """Return the curvature of the log-likelihood, with the sign that makes it positive."""
        chances = softmax(self.shares @ x, axis=1)
        apart = self.shares - np.einsum("rk,rki->ri", chances, self.shares)[:, None]
        return np.einsum("rk,rki,rkj->ij", self.played * chances, apart, apart)

    def maximum(self, prior):
        """Return the parameters where the log-likelihood, which is concave, has no slope."""
        if not prior:
            self._check_finite()
        scale, size = self.counts.sum(), self.shares.shape[2]
        return root(
            lambda x: self.slopes(x).sum(axis=0) / scale,
            np.zeros(size),
            jac=lambda x: -self.curvature(x) / scale,
            method="lm",
            options={"xtol": 1e-14, "ftol": 1e-14},
        ).x

    def model(self, x):
        """Return parameters as a model; without draws they have no drawishness."""
        drawn, strength = self.shares.shape[1] == 3, x[:-2]
        return Model(
            self.names, strength - strength.mean(), float(x[-2]), float(x[-1]) if drawn else -np.inf
        )

    def _check_finite(self):
        # is there a direction that only makes the outcomes that were seen more likely?
        rows, outcomes = np.nonzero(self.counts)
        better = self.shares[rows, outcomes][:, None] - self.shares[rows]
        better = better.reshape(-1, self.shares.shape[2])
        found = linprog(-better.sum(axis=0), better * -1.0, np.zeros(len(better)), bounds=(-1, 1))
        if found.fun < -1e-9:
            raise ValueError(
                f"{self.names}: some never lost or never won a point, so their ratings have no"
                " end: give a prior above 0"
            )


def fit(results: pd.DataFrame, prior: float = PRIOR) -> Model:
    """Fit strengths by (penalised) maximum likelihood.

    Parameters
    ----------
    results : DataFrame
        ``COLUMNS``: names, and numbers of games that the first won, drew, lost; or the table of
        :func:`afterply.arena.matches`, of which a warning says how many failed and do not count.
        Groups that never met raise ValueError.
    prior : float
        Games added to every pair that met, in either seat, half won and half lost. With 0, ratings
        without end (somebody won everything) raise ValueError.

    Examples
    --------
    >>> games = pd.DataFrame([("a", "b", 10, 0, 1), ("b", "a", 1, 0, 10)], columns=COLUMNS)
    >>> round(float(fit(games, prior=0).strength[0] * 2), 3)  # log(10)
    2.303
    """
    games = _Games(_finished(results), prior)
    return games.model(games.maximum(prior))


def place(model: Model, results: pd.DataFrame, prior: float = PRIOR) -> float:
    """Return the strength of one more player, from games against players of a fitted model.

    The columns of `results` are opponent, wins, draws, losses (of the new player) and first
    (whether it moved first); the `prior`, in games half won and half lost, is added to every row.
    """
    counts = _some_counts(results, ("opponent", "first"), prior) + [prior / 2, 0.0, prior / 2]
    theirs = model.strength[[*map(model.place_of, results.opponent)]]
    seat = np.where(results["first"].to_numpy(bool), model.first, -model.first)
    worth = np.array([1.0, 0.5, 0.0])

    def surplus(x):
        expected = counts.sum(axis=1) * (_chances(x - theirs + seat, model.draw) @ worth)
        return float((counts @ worth - expected).sum())

    if surplus(-100.0) * surplus(100.0) >= 0.0:
        raise ValueError(f"all points or none have no rating: give a prior above 0, not {prior}")
    return float(brentq(surplus, -100.0, 100.0, xtol=1e-10))


def ratings(results: pd.DataFrame, prior: float = PRIOR) -> pd.DataFrame:
    """Return the rating of every player with its 95% interval, the strongest first.

    `results` and `prior` are those of :func:`fit`. Errors come from the curvature of the
    likelihood; where a column ``run`` tells independent trainings apart and these differ by more,
    from the differences between them.

    Returns
    -------
    DataFrame
        Columns player, rating, low, high (Elo points, mean 0), games.
    """
    results = _finished(results)
    games = _Games(results, prior)
    x = games.maximum(prior)
    model, n = games.model(x), len(games.names)
    covariance = np.linalg.pinv(games.curvature(x), hermitian=True)
    half = t_quantile(UPPER, math.inf) * np.sqrt(np.diag(covariance)[:n])
    runs = np.unique(games.runs)
    if len(runs) > 1:
        own = games.slopes(x)[: len(games.runs)]
        by_run = np.array([own[games.runs == run].sum(axis=0) for run in runs]) @ covariance
        spread = len(runs) * by_run.var(axis=0, ddof=1)[:n]
        half = np.maximum(half, t_quantile(UPPER, len(runs) - 1) * np.sqrt(spread))
    total = results[COUNTS].sum(axis=1)
    played = [(results["first"] == name) | (results.second == name) for name in model.players]
    columns = {"player": model.players, "rating": model.strength * ELO}
    columns |= {"low": (model.strength - half) * ELO, "high": (model.strength + half) * ELO}
    table = pd.DataFrame(columns | {"games": [float(total[where].sum()) for where in played]})
    return table.sort_values("rating", ascending=False, ignore_index=True)


def cycles(results: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return all triples in which each player beats the next, which no single scale can express."""
    # by a mean score over both seats above one half by more than a 95% interval
    met = both_seats(_finished(results))
    mean = met.points / met.games
    error = np.sqrt(np.maximum(met.squares / met.games - mean**2, 0.0) / met.games)
    beats = {*met.index[mean - 0.5 > t_quantile(UPPER, math.inf) * error + 1e-12]}
    names = _in_order(met.index.get_level_values(0))
    return [
        (a, b, c)
        for a, *others in itertools.combinations(names, 3)
        for b, c in itertools.permutations(others)
        if {(a, b), (b, c), (c, a)} <= beats
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
    return both.groupby(["player", "other"], sort=False).sum()  # types that have no order, too


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return match, first, second, points (1, 0.5, 0) of every two seats of finished matches.

    Two who have both lost to a third did not draw with each other: they are left out.
    """
    seats = table[table.score.notna()].sort_values(["match", "seat"])
    met = seats.merge(seats, on="match").query("seat_x < seat_y")
    best = met.match.map(seats.groupby("match").score.max())
    met = met[(met.score_x != met.score_y) | (met.score_x == best)]
    points = 0.5 * (np.sign(met.score_x - met.score_y) + 1)
    found = {"match": met.match, "first": met.player_x, "second": met.player_y, "points": points}
    return pd.DataFrame(found).reset_index(drop=True)


def _is_of_matches(table) -> bool:
    return isinstance(table, pd.DataFrame) and {"match", "seat", "score"} <= set(table)


def failures(table) -> int:
    """Return how many matches of a table failed, so that nobody has a score."""
    return table.match[table.score.isna()].nunique() if _is_of_matches(table) else 0


def _finished(results) -> pd.DataFrame:
    """Return results as :func:`counted` does; a warning says how many matches failed."""
    if failed := failures(results):
        total = results.match.nunique()
        warnings.warn(f"{failed} of {total} matches failed and do not count", stacklevel=3)
    return counted(results)


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return results (first, second, wins, draws, losses) of matches; other tables as they are."""
    # of three players or more every two are compared: not independent, so intervals are too narrow
    if not _is_of_matches(table):
        return table
    met = pairs(table)
    for name, worth in zip(COUNTS, (1.0, 0.5, 0.0)):
        met[name] = (met.points == worth).astype(int)
    return met.groupby(["first", "second"], sort=False)[COUNTS].sum().reset_index()


def _some_counts(results, names, prior) -> np.ndarray:
    """Return what `_counts` does, or raise ValueError if there is no game at all."""
    counts = _counts(results, names, prior)
    if not counts.any():
        raise ValueError(f"ratings need games, and there are none in {len(results)} rows")
    return counts


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
