"""Parameters of TD(lambda) with search: meaning, defaults, and the form that kernels read."""

from typing import NamedTuple

import numpy as np

from ..networks.linear import FEATURE_SETS, NUM_FEATURES, as_weights
from .parameters import choice, defaults, fraction, switch, whole

PARAMETERS = {
    "features": choice(
        "F22", FEATURE_SETS, "the 22 features: differences, or two sets with counts of both sides"
    ),
    "without": choice([], None, "numbers, from 1, of features whose weights stay 0"),
    "depth": whole(4, 1, "look-ahead of all players, in turns"),
    "method": choice(
        "LL",
        ("LL", "LB", "3L"),
        "learn on loss or draw; on every game; LL with up to three games in a row against who won",
    ),
    "schedule": choice(
        [[2500, 1e-4, 0.95], [5000, 2e-5, 0.7], [7500, 1e-5, 0.5], [10000, 5e-6, 0.2]],
        None,
        "rows [last game, alpha, lambda]; the last row holds for all later games",
    ),
    "gamma": fraction(1.0, "discount factor"),
    "num_opponents": whole(25, 1, "fixed opponents of a learner, when they are random"),
    "opponents": choice(
        "random",
        None,
        "'random', 'strong' (the vectors of a group after the random phase and random ones), "
        "or a list of weight vectors",
    ),
    "learners": choice(
        "",
        None,
        "file with the vectors of all learners after the random phase, for opponents='strong'; "
        "relative to the data directory",
    ),
    "extra_opponents": whole(5, 0, "random vectors among strong opponents"),
    "pool": whole(0, 0, "number of the pool that random vectors come from"),
    "snapshots": choice([], None, "list of games after which the weights are kept"),
    # deviations: the points where the text is silent, see data/papers/mandziuk2004.yaml
    "start": choice(
        "new",
        ("new", "continued"),
        "initial weights: zeros or random, or those after the random phase",
    ),
    "gradient": choice(
        "printed", ("printed", "true"), "phi, as Eq. (4) prints it, or the derivative of Eq. (1)"
    ),
    "features_at": choice(
        "root",
        ("root", "leaf"),
        "position whose features learn: the one on the board, or the leaf of the search (TDLeaf)",
    ),
    "quiescence": switch(False, "whether searches go on while there are captures"),
    "ties": choice("first", ("first", "random"), "which of equally good actions is played"),
}
DEFAULTS = defaults(PARAMETERS)


class Par(NamedTuple):
    """The parameters as kernels read them."""

    # fmt: off
    until: np.ndarray  # int64 [rows]: last game of a row of the schedule
    alpha: np.ndarray  # float64 [rows]
    lambda_: np.ndarray  # float64 [rows]
    gamma: float
    seat: int  # of the learner
    always: bool  # learn from won games too
    insist: bool  # 3L
    true_gradient: bool
    at_leaf: bool
    kept: np.ndarray  # float64 [22]: 1.0, or 0.0 for a feature that is left out
    # fmt: on


def weight_vectors(given):
    """Return weight vectors as float64[n, features]; raises ValueError for what are none."""
    if not isinstance(given, (list, tuple)) or not given:
        raise ValueError(
            f"opponents={given!r} must be 'random', 'strong', or a list of weight vectors"
        )
    return np.array([as_weights(vector) for vector in given])


def numbers_of_games(given) -> tuple:
    """Return numbers of games, ascending; raises ValueError unless all are whole and positive."""
    whole_numbers = isinstance(given, (list, tuple)) and all(
        isinstance(e, (int, np.integer)) and not isinstance(e, bool) and e > 0 for e in given
    )
    if not whole_numbers:
        raise ValueError(
            f"snapshots={given!r} must be a list of whole numbers of at least 1, "
            "the games after which the weights are kept"
        )
    return tuple(sorted({int(e) for e in given}))


def kept_features(without) -> np.ndarray:
    """Return float64[22]: 0.0 for the features left out, else 1.0; raises ValueError for others."""
    features = range(1, NUM_FEATURES + 1)
    if not isinstance(without, (list, tuple)) or any(k not in features for k in without):
        raise ValueError(
            f"without={without!r} must be a list of numbers of features, from 1 to {NUM_FEATURES}"
        )
    return np.array([0.0 if k in without else 1.0 for k in features])


def compile_parameters(params, seat) -> Par:
    """Return the parameters as kernels read them; raises ValueError for a bad schedule."""
    try:
        rows = [
            (int(last), float(alpha), float(lambda_)) for last, alpha, lambda_ in params["schedule"]
        ]
    except (TypeError, ValueError):
        rows = []
    last = [row[0] for row in rows]
    sensible = all(alpha >= 0.0 and 0.0 <= lambda_ <= 1.0 for _, alpha, lambda_ in rows)
    if not rows or sorted(set(last)) != last or not sensible:
        raise ValueError(
            f"schedule={params['schedule']!r} must be rows [last game, alpha >= 0, "
            "lambda from 0 to 1], the games growing"
        )
    until, alphas, lambdas = (
        np.array(column, kind)
        for column, kind in zip(zip(*rows), (np.int64, np.float64, np.float64))
    )
    method = params["method"]
    switches = (
        method == "LB",
        method == "3L",
        params["gradient"] == "true",
        params["features_at"] == "leaf",
    )
    kept = kept_features(params["without"])
    return Par(until, alphas, lambdas, float(params["gamma"]), seat, *switches, kept)
