"""Means and medians over runs, with their intervals."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, stdtrit

MAX_DF = 1e10  # degrees of freedom of a normal distribution; the t quantile has none at infinity


class Interval(NamedTuple):
    """Mean (or median) of the runs with its confidence interval.

    `low` and `high` of a mean are NaN for a single run.
    """

    mean: float
    low: float
    high: float


def mean_interval(values, level: float = 0.95) -> Interval:
    """Return the mean over runs and its t interval.

    Parameters
    ----------
    values : float [runs]
        One value a run, at least one, all finite, else ValueError.
    level : float
        Coverage, between 0 and 1.

    Examples
    --------
    >>> mean_interval([48.0, 50.0, 52.0]).mean
    50.0
    """
    values = finite_runs(values)
    _check_level(level)
    mean, runs = float(values.mean()), len(values)
    if runs == 1:
        return Interval(mean, math.nan, math.nan)
    half = t_quantile((1 + level) / 2, runs - 1) * float(values.std(ddof=1)) / math.sqrt(runs)
    return Interval(mean, mean - half, mean + half)


def median_interval(values, level: float = 0.95) -> Interval:
    """Return the median over runs and the interval of two ordered values that covers it.

    Parameters as of :func:`mean_interval`. The interval is the narrowest symmetric one with this
    coverage; with fewer than six runs not even the extremes have 95%, and they are returned.
    Censored values may stand for "at least this much".

    Examples
    --------
    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 100])  # the second and the ninth: 97.9%
    Interval(mean=5.5, low=2.0, high=9.0)
    """
    values = np.sort(finite_runs(values))
    _check_level(level)
    cut = 0
    # a value outside on either side has this probability
    while 2 * bdtr(cut + 1, len(values), 0.5) <= 1 - level:
        cut += 1
    return Interval(float(np.median(values)), float(values[cut]), float(values[-1 - cut]))


def t_quantile(probability, df):
    """Return a quantile of Student's t distribution; of the normal one for infinite `df`."""
    return float(stdtrit(min(df, MAX_DF), probability))


def finite_runs(values):
    """Return the values as float64 [runs]; ValueError if there is none or one is not finite."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"values have shape {values.shape}; give one value a run, at least one")
    if not np.isfinite(values).all():
        raise ValueError(
            f"values contain {values[~np.isfinite(values)][0]}; leave out runs without a result"
        )
    return values


def _check_level(level):
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, for example 0.95")
