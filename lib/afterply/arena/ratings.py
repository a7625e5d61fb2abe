"""Ratings of players from their results: the Bradley-Terry model with draws and a first-seat bonus.

With strengths a and b, advantage c of the first seat and draw parameter v (natural logarithms)::

    P(first wins) : P(draw) : P(second wins)  =  exp(a + c) : exp(v + (a + b + c) / 2) : exp(b)

The parameters are those of greatest likelihood. Only differences of strengths matter, so their mean
is set to 0. A rating is a strength on the Elo scale, where 400 points are odds of 10 : 1. A table
without a draw is fitted without draws.

A prior of half a game, half won and half lost, is added to every pair that met, in either seat.
With it no rating is infinite, and players who never met do not pull at each other.

Source: Davidson (1970), J. Amer. Stat. Assoc. 65; Davidson & Beaver (1977) for the order effect.
"""

import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # its parts are read on first use: most processes fit no ratings

from ..checks import number
from ..stats import t_quantile

COLUMNS = ["first", "second", "wins", "draws", "losses"]
COUNTS = COLUMNS[2:]
ELO = 400.0 / math.log(10.0)  # points of a natural logarithm
PRIOR = 0.5  # games
UPPER = 0.975  # the upper end of a 95% interval

# The logarithm of an outcome's weight in the formula above, as shares of the four parameters.
SHARES = np.array(
    [  # strength of first and of second, first-seat advantage, draw parameter
        [1.0, 0.0, 1.0, 0.0],  # the first wins
        [0.5, 0.5, 0.5, 1.0],  # draw
        [0.0, 1.0, 0.0, 0.0],  # the second wins
    ]
)
ALL_OUTCOMES = [0, 1, 2]  # rows of SHARES
WITHOUT_DRAWS = [0, 2]
POINTS = np.array([1.0, 0.5, 0.0])  # of who wins, draws, loses
PRIOR_GAME = np.array([0.5, 0.0, 0.5])  # wins, draws and losses of a game of the prior
MAX_STRENGTH = 100.0  # natural logarithm; a player this far ahead wins every game
ROUNDING = 1e-12  # a sum of fractions that should be one half may be above it by less than this


class Model(NamedTuple):
    """A fitted model."""

    players: list
    strength: np.ndarray  # float64 [players], natural logarithm, mean 0
    first: float  # advantage of the first seat, natural logarithm
    draw: float  # draw parameter, natural logarithm; -inf without draws

    def probabilities(self, a: str, b: str) -> np.ndarray:
        """Return how probably `a`, moving first, wins, draws and loses against `b`: float64 [3]."""
        difference = self.strength[self.place_of(a)] - self.strength[self.place_of(b)]
        return _outcome_probabilities(difference + self.first, self.draw)

    def place_of(self, name) -> int:
        """Return the place of a player in the model, or raise ValueError."""
        if name not in self.players:
            raise ValueError(f"there is no player {name!r} among {self.players}")
        return self.players.index(name)


def _outcome_probabilities(difference, draw):
    """Return P(win, draw, loss), float64 [..., 3], of a player stronger by `difference` [...]."""
    # The formula of the module, with all three weights divided by exp((a + b + c) / 2).
    half = np.asarray(difference, float) / 2
    log_weights = np.stack([half, np.full_like(half, draw), -half], axis=-1)
    return scipy.special.softmax(log_weights, axis=-1)


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
    observations = _observe(_finished(results), prior)
    return _model_of(observations, _maximum_likelihood(observations, prior))


def place(model: Model, results: pd.DataFrame, prior: float = PRIOR) -> float:
    """Return the strength of one more player, from games against players of a fitted model.

    The columns of `results` are opponent, wins, draws, losses (of the new player) and first
    (whether it moved first); the `prior`, in games half won and half lost, is added to every row.
    """
    number("prior", prior, 0.0, 1e9)
    played = _outcome_counts(results, ["opponent", "first"])
    _require_games(played)
    counts = played + prior * PRIOR_GAME
    num_games = counts.sum(axis=1)
    opponents = [model.place_of(name) for name in results["opponent"]]
    opponent_strength = model.strength[opponents]
    seat_advantage = np.where(results["first"].to_numpy(bool), model.first, -model.first)

    def surplus(strength):
        """Return how many points more than expected a player of this strength has made."""
        difference = strength - opponent_strength + seat_advantage
        expected = num_games * (_outcome_probabilities(difference, model.draw) @ POINTS)
        return float((counts @ POINTS - expected).sum())

    # The likelihood is greatest where the surplus is 0. The surplus falls as the strength grows, so
    # without a change of sign it is 0 nowhere.
    if surplus(-MAX_STRENGTH) * surplus(MAX_STRENGTH) >= 0.0:
        raise ValueError(f"all points or none have no rating: give a prior above 0, not {prior}")
    return float(scipy.optimize.brentq(surplus, -MAX_STRENGTH, MAX_STRENGTH, xtol=1e-10))


def ratings(results: pd.DataFrame, prior: float = PRIOR) -> pd.DataFrame:
    """Return the rating of every player with its 95% interval, the strongest first.

    `results` and `prior` are those of :func:`fit`. Standard errors come from the Fisher
    information. Where a column ``run`` tells independent trainings apart, and ratings differ more
    between them than these errors say, the errors come from the differences.

    Returns
    -------
    DataFrame
        Columns player, rating, low, high (Elo points, mean 0), games.
    """
    results = _finished(results)
    observations = _observe(results, prior)
    theta = _maximum_likelihood(observations, prior)
    model = _model_of(observations, theta)
    half_width = _half_widths(observations, theta)
    table = pd.DataFrame(
        {
            "player": model.players,
            "rating": model.strength * ELO,
            "low": (model.strength - half_width) * ELO,
            "high": (model.strength + half_width) * ELO,
            "games": [_games_of(player, results) for player in model.players],
        }
    )
    return table.sort_values("rating", ascending=False, ignore_index=True)


def cycles(results: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return all triples in which each player beats the next, which no single scale can express.

    A player beats another whose mean score over both seats is below one half by more than a 95%
    interval.
    """
    scores = both_seats(_finished(results))
    mean = scores.points / scores.games
    variance = np.maximum(scores.squares / scores.games - mean**2, 0.0)
    error = np.sqrt(variance / scores.games)
    is_sure = mean - 0.5 > t_quantile(UPPER, math.inf) * error + ROUNDING
    beats = set(scores.index[is_sure])
    players = _sorted_names(scores.index.get_level_values("player"))
    triples = []
    for a, *others in itertools.combinations(players, 3):
        # Three players have two possible cycles, one in each direction.
        for b, c in itertools.permutations(others):
            if {(a, b), (b, c), (c, a)} <= beats:
                triples.append((a, b, c))
    return triples


# The likelihood: a multinomial logit model of the outcomes


class _Observations(NamedTuple):
    """Results as a logit model: the log-weights of the outcomes of a row are ``design @ theta``.

    The parameters `theta` are the strengths of all players, then the advantage of the first seat,
    then the draw parameter. The rows are those of the results with games, then those of the prior.
    """

    players: list
    runs: np.ndarray  # [rows of the results with games]: the training that a row belongs to
    counts: np.ndarray  # float64 [rows, outcomes]: games
    design: np.ndarray  # float64 [rows, outcomes, parameters]

    @property
    def num_games(self):
        """Return the games of each row: float64 [rows, 1]."""
        return self.counts.sum(axis=1, keepdims=True)

    def probabilities(self, theta):
        """Return how probable the outcomes of each row are: float64 [rows, outcomes]."""
        return scipy.special.softmax(self.design @ theta, axis=1)

    def gradients(self, theta):
        """Return each row's part of the log-likelihood's gradient: float64 [rows, parameters]."""
        expected = self.num_games * self.probabilities(theta)
        return np.einsum("rk,rki->ri", self.counts - expected, self.design)

    def information(self, theta):
        """Return the Fisher information, float64 [parameters, parameters]: minus the Hessian."""
        probabilities = self.probabilities(theta)
        mean = np.einsum("rk,rki->ri", probabilities, self.design)
        expected = self.num_games * probabilities
        # A row concerns two players of perhaps hundreds: nearly all of it is zero.
        deviation = self.design - mean[:, None]
        deviation = scipy.sparse.csr_array(deviation.reshape(expected.size, len(theta)))
        weighted = deviation.multiply(expected.reshape(expected.size, 1))
        return (weighted.T @ deviation).toarray()


def _observe(results, prior):
    """Return the games of a table, and those of the prior, as a logit model."""
    number("prior", prior, 0.0, 1e9)
    all_counts = _outcome_counts(results, ["first", "second"])
    _require_games(all_counts)
    # A player whose rows are all without games is still a player: one who never met the others.
    players = _sorted_names([*results["first"], *results["second"]])
    has_games = all_counts.any(axis=1)
    played = results[has_games]
    counts = all_counts[has_games]
    seats = played[["first", "second"]].map(players.index).to_numpy()
    _require_connected(seats, players)
    runs = played["run"].to_numpy() if "run" in played else np.zeros(len(played))
    if prior:
        pairings = np.unique(np.concatenate([seats, seats[:, ::-1]]), axis=0)
        seats = np.concatenate([seats, pairings])
        counts = np.concatenate([counts, np.tile(prior * PRIOR_GAME, (len(pairings), 1))])
    outcomes = ALL_OUTCOMES if counts[:, 1].any() else WITHOUT_DRAWS
    design = _design(seats, len(players), outcomes)
    return _Observations(players, runs, counts[:, outcomes], design)


def _design(seats, num_players, outcomes):
    """Return the design of a logit model, float64 [rows, outcomes, num_players + 2].

    `seats`, int [rows, 2], are the players in the first and the second seat.
    """
    of_first, of_second, of_advantage, of_draw = SHARES[outcomes].T
    design = np.zeros((len(seats), len(outcomes), num_players + 2))
    for row, (first, second) in enumerate(seats):
        # Added, because both seats may be those of one player.
        design[row, :, first] += of_first
        design[row, :, second] += of_second
    design[:, :, num_players] = of_advantage
    design[:, :, num_players + 1] = of_draw
    return design


def _maximum_likelihood(observations, prior):
    """Return the parameters of greatest likelihood, float64 [parameters]."""
    if not prior:
        _require_finite_maximum(observations)
    # The log-likelihood is concave: it is greatest where its gradient is zero. The gradient of one
    # game, on average, does not grow with the table.
    total = observations.counts.sum()

    def gradient(theta):
        return observations.gradients(theta).sum(axis=0) / total

    def hessian(theta):
        return -observations.information(theta) / total

    start = np.zeros(observations.design.shape[2])
    # The Hessian is singular, since a number added to all strengths changes nothing;
    # Levenberg-Marquardt ("lm") does not mind.
    tolerance = {"xtol": 1e-14, "ftol": 1e-14}
    return scipy.optimize.root(gradient, start, jac=hessian, method="lm", options=tolerance).x


def _model_of(observations, theta):
    """Return parameters as a model."""
    strength = theta[:-2]
    has_draws = observations.counts.shape[1] == len(ALL_OUTCOMES)
    draw = float(theta[-1]) if has_draws else -math.inf
    return Model(observations.players, strength - strength.mean(), float(theta[-2]), draw)


def _half_widths(observations, theta):
    """Return half the width of the 95% interval of every strength, float64 [players]."""
    # Strengths are known up to a common number only. The pseudo-inverse gives their covariance
    # around the mean.
    covariance = np.linalg.pinv(observations.information(theta), hermitian=True)
    model_error = np.sqrt(np.diag(covariance)[: len(observations.players)])
    half_widths = t_quantile(UPPER, math.inf) * model_error
    num_runs = len(np.unique(observations.runs))
    if num_runs == 1:
        return half_widths
    between_runs = _error_between_runs(observations, theta, covariance)
    return np.maximum(half_widths, t_quantile(UPPER, num_runs - 1) * between_runs)


def _error_between_runs(observations, theta, covariance):
    """Return the cluster-robust standard error of every strength, float64 [players].

    The games of one training are not independent of each other, so each training counts as one
    observation: how far its games pull the parameters away from those of greatest likelihood.
    """
    # The rows of the prior, which stand last, belong to no training.
    gradients = observations.gradients(theta)[: len(observations.runs)]
    runs = np.unique(observations.runs)
    gradient_of_run = [gradients[observations.runs == run].sum(axis=0) for run in runs]
    pulls = np.array(gradient_of_run) @ covariance
    # The error of an estimate is the sum of the pulls. The variance of a sum of independent terms
    # is their number times the variance of one.
    variance = len(runs) * pulls.var(axis=0, ddof=1)
    return np.sqrt(variance[: len(observations.players)])


def _require_connected(seats, players):
    """Raise ValueError unless a chain of games leads from every player to every other."""
    have_met = np.zeros((len(players), len(players)), bool)
    have_met[seats[:, 0], seats[:, 1]] = True
    num_groups, groups = scipy.sparse.csgraph.connected_components(have_met, directed=False)
    if num_groups > 1:
        apart = [player for player, group in zip(players, groups) if group != groups[0]]
        raise ValueError(f"{apart} never met {players[0]!r} or who played it: let them meet")


def _require_finite_maximum(observations):
    """Raise ValueError if the likelihood has no maximum ("separation" of the outcomes).

    Source: Albert & Anderson (1984), Biometrika 71.
    """
    # Is there a direction in which the parameters can move so that no outcome that occurred becomes
    # less likely, and some become more likely? Then the likelihood grows along it for ever. Each
    # outcome that occurred is compared with all that were possible.
    rows, outcomes = np.nonzero(observations.counts)
    design_of_outcome = observations.design[rows, outcomes][:, None]
    gain = (design_of_outcome - observations.design[rows]).reshape(-1, observations.design.shape[2])
    best = scipy.optimize.linprog(
        -gain.sum(axis=0), A_ub=-gain, b_ub=np.zeros(len(gain)), bounds=(-1, 1)
    )
    if best.fun < -1e-9:
        raise ValueError(
            f"{observations.players}: some never lost or never won a point, so their ratings have"
            " no end: give a prior above 0"
        )


# Tables of results


def both_seats(results: pd.DataFrame) -> pd.DataFrame:
    """Return points, their squares, draws and games by (player, other), over both seats."""
    wins, draws, losses = _outcome_counts(results, ["first", "second"]).T
    games = wins + draws + losses
    as_first = _one_seat(results["first"], results["second"], wins, draws, games)
    as_second = _one_seat(results["second"], results["first"], losses, draws, games)
    # Names may be of types that have no order among each other: they are not sorted.
    return pd.concat([as_first, as_second]).groupby(["player", "other"], sort=False).sum()


def _one_seat(players, others, wins, draws, games):
    """Return the rows of :func:`both_seats` for the players in one seat."""
    return pd.DataFrame(
        {
            "player": players,
            "other": others,
            "points": wins + draws / 2,
            "squares": wins + draws / 4,
            "draws": draws,
            "games": games,
        }
    )


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return match, first, second, points (1, 0.5, 0) of every two seats of finished matches.

    Two who have both lost to a third did not draw with each other: they are left out.
    """
    seats = table[table.score.notna()].sort_values(["match", "seat"])
    all_pairs = seats.merge(seats, on="match", suffixes=("_first", "_second"))
    all_pairs = all_pairs.query("seat_first < seat_second")
    best_score = all_pairs["match"].map(seats.groupby("match").score.max())
    is_decided = all_pairs.score_first != all_pairs.score_second
    games = all_pairs[is_decided | (all_pairs.score_first == best_score)]
    columns = {
        "match": games["match"],
        "first": games.player_first,
        "second": games.player_second,
        "points": 0.5 * (np.sign(games.score_first - games.score_second) + 1),
    }
    return pd.DataFrame(columns).reset_index(drop=True)


def failures(table) -> int:
    """Return how many matches of a table failed, so that nobody has a score; 0 without matches."""
    if not _is_of_matches(table):
        return 0
    return table.match[table.score.isna()].nunique()


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return results (first, second, wins, draws, losses) of matches; other tables as they are.

    Of three players or more every two are compared. These pairs are not independent, so that
    intervals are too narrow.
    """
    if not _is_of_matches(table):
        return table
    games = pairs(table)
    for outcome, points in zip(COUNTS, POINTS):
        games[outcome] = (games.points == points).astype(int)
    return games.groupby(["first", "second"], sort=False)[COUNTS].sum().reset_index()


def _is_of_matches(table):
    """Return whether this is a table of :func:`afterply.arena.matches`."""
    return isinstance(table, pd.DataFrame) and {"match", "seat", "score"} <= set(table)


def _finished(results):
    """Return results as :func:`counted` does; a warning says how many matches failed."""
    num_failed = failures(results)
    if num_failed:
        num_matches = results.match.nunique()
        # The warning names the line that called the public function.
        message = f"{num_failed} of {num_matches} matches failed and do not count"
        warnings.warn(message, stacklevel=3)
    return counted(results)


def _games_of(player, results):
    """Return how many games of a table a player took part in."""
    takes_part = (results["first"] == player) | (results["second"] == player)
    return float(results[COUNTS].sum(axis=1)[takes_part].sum())


def _sorted_names(names):
    """Return different names, which may be of several types, in an order of their own."""
    return sorted(set(names), key=lambda name: (str(name), type(name).__name__))


def _outcome_counts(results, name_columns):
    """Return wins, draws and losses, float64 [rows, 3], or raise if the table lacks them."""
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results must be a table (pandas DataFrame), not {results!r}")
    missing = {*name_columns, *COUNTS} - set(results.columns)
    if missing:
        raise ValueError(f"results lack the columns {', '.join(sorted(missing))}")
    counts = results[COUNTS].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    has_names = results[name_columns].notna().all(axis=None)
    is_count = np.isfinite(counts) & (counts >= 0)
    if not has_names or not is_count.all():
        raise ValueError(f"results need names, and counts of at least 0, not\n{results}")
    return counts


def _require_games(counts):
    """Raise ValueError if there is no game at all."""
    if not counts.any():
        raise ValueError(f"ratings need games, and there are none in {len(counts)} rows")
