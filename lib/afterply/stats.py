"""Means and medians over runs with their intervals, and how numbers are written in texts."""

import math
import re
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, stdtrit

CELL = re.compile(r"(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?)")
BLANKS = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
WHOLE = re.compile(r"(?<![\w.,])\d{4,}(?!\w)")
MAX_DF = 1e10  # degrees of freedom of a normal distribution; the t quantile has none at infinity


class Interval(NamedTuple):
    """Mean or median of the runs with its confidence interval, NaN for the mean of one run."""

    mean: float
    low: float
    high: float


def mean_interval(values) -> Interval:
    """Return the mean over runs, float [runs], and its 95% t interval."""
    values = finite_runs(values)
    mean, runs = float(values.mean()), len(values)
    if runs == 1:
        return Interval(mean, math.nan, math.nan)
    half = t_quantile(0.975, runs - 1) * float(values.std(ddof=1)) / math.sqrt(runs)
    return Interval(mean, mean - half, mean + half)


def median_interval(values) -> Interval:
    """Return the median over runs and the narrowest symmetric 95% interval of ordered values.

    With fewer than six runs not even the extremes have 95%, and they are returned.
    """
    values, cut = np.sort(finite_runs(values)), 0
    # a value outside on either side has this probability
    while 2 * bdtr(cut + 1, len(values), 0.5) <= 0.05:
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


def thousands(text) -> str:
    """Return a number, or a text with numbers, with commas between thousands."""
    return WHOLE.sub(lambda found: f"{int(found[0]):,}", BLANKS.sub(",", str(text)))


def printed(text) -> str:
    """Return a printed value as ours are written: "1,243", or "99 : 0 : 1" for 99/0/1."""
    found = CELL.fullmatch(text)
    return " : ".join(found.groups()) if found else thousands(text)


def plain(number, sign="") -> str:
    """Return a number to three digits (0.0247), whole and with commas from a hundred on."""
    return f"{number:{sign},.0f}" if abs(number) >= 100 else f"{number:{sign}.3g}"


def fixed(number, decimals, sign="") -> str:
    """Return a number with `decimals` decimals, with commas, and no minus before a zero."""
    return f"{round(number, decimals) + 0.0:{sign},.{decimals}f}"


def together(numbers, sign="", decimals=None) -> list:
    """Return numbers that belong together, such as a mean and its interval, with equal decimals."""
    # by default half of the span has two digits, and numbers from one on at most three
    if decimals is None:
        half, most = (max(numbers) - min(numbers)) / 2, max(map(abs, numbers))
        if not half > 1e-9 * most:
            return [plain(number, sign) for number in numbers]
        decimals = 1 - math.floor(math.log10(half))
        if most >= 1:
            decimals = min(decimals, 2 - math.floor(math.log10(most)))
        decimals = max(0, decimals)
    return [fixed(number, decimals, sign) for number in numbers]


def with_interval(mean, low, high, unit="", decimals=None) -> str:
    """Return a mean and its interval, each with its unit: 37.0% [29.1%, 44.9%]."""
    mean, low, high = (text + unit for text in together((mean, low, high), decimals=decimals))
    return f"{mean} [{low}, {high}]"
