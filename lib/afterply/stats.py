"""Means and medians over runs with their intervals, and how numbers are written in texts."""

import math
import re
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, stdtrit

# three numbers, such as 99/0/1 or 99 : 0 : 1
CELL = re.compile(r"(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?)")
# a blank between thousands, such as in 1 243, also one that does not break or is narrow
BLANKS = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
# whole numbers that need commas
WHOLE = re.compile(r"(?<![\w.,])\d{4,}(?!\w)")
# degrees of freedom that stand for infinity: `stdtrit` gives NaN there
MAX_DF = 1e10


class Interval(NamedTuple):
    """Mean or median over runs with its confidence interval, which is NaN for the mean of one."""

    mean: float
    low: float
    high: float


def mean_interval(values) -> Interval:
    """Return the mean over runs, float [runs], and its 95% t interval."""
    values = finite_runs(values)
    num_runs = len(values)
    mean = float(values.mean())
    if num_runs == 1:
        return Interval(mean, math.nan, math.nan)
    deviation = float(values.std(ddof=1))
    half_width = t_quantile(0.975, num_runs - 1) * deviation / math.sqrt(num_runs)
    return Interval(mean, mean - half_width, mean + half_width)


def median_interval(values) -> Interval:
    """Return the median over runs and its 95% interval, whose ends are values of two runs.

    It is the narrowest interval that leaves out equally many of the least and the greatest values.
    With fewer than six runs not even the extremes have 95%, and they are returned.
    """
    values = np.sort(finite_runs(values))
    num_runs = len(values)
    # The median lies outside the interval if at most `left_out` values, a binomial number, lie on
    # one side of it. One more value is left out on each side while that stays improbable.
    left_out = 0
    while 2 * bdtr(left_out + 1, num_runs, 0.5) <= 0.05:
        left_out += 1
    low = float(values[left_out])
    high = float(values[-1 - left_out])
    return Interval(float(np.median(values)), low, high)


def t_quantile(probability, df):
    """Return a quantile of Student's t distribution; of the normal one for infinite `df`."""
    return float(stdtrit(min(df, MAX_DF), probability))


def finite_runs(values):
    """Return the values as float64 [runs]; ValueError if there is none or one is not finite."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"values have shape {values.shape}; give one value a run, at least one")
    if not np.isfinite(values).all():
        first = values[~np.isfinite(values)][0]
        raise ValueError(f"values contain {first}; leave out runs without a result")
    return values


def thousands(text) -> str:
    """Return a number, or a text with numbers, with commas between thousands."""

    def with_commas(match):
        return f"{int(match[0]):,}"

    return WHOLE.sub(with_commas, BLANKS.sub(",", str(text)))


def printed(text) -> str:
    """Return a value of a paper as ours are written: "1,243", or "99 : 0 : 1" for 99/0/1."""
    cell = CELL.fullmatch(text)
    if cell:
        return " : ".join(cell.groups())
    return thousands(text)


def plain(number, sign="") -> str:
    """Return a number to three digits (0.0247), or from 100 on as a whole one with commas.

    With the `sign` "+" positive numbers have theirs, too.
    """
    if abs(number) >= 100:
        return f"{number:{sign},.0f}"
    return f"{number:{sign}.3g}"


def fixed(number, decimals, sign="") -> str:
    """Return a number with `decimals` decimals, with commas, and no minus before a zero."""
    rounded = round(number, decimals) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{rounded:{sign},.{decimals}f}"


def together(numbers, sign="", decimals=None) -> list:
    """Return numbers that belong together, such as a mean and its interval, with equal decimals.

    By default half of their span has two digits, and numbers from 1 on have at most three.
    """
    if decimals is None:
        half_span = (max(numbers) - min(numbers)) / 2
        greatest = max(abs(number) for number in numbers)
        if not half_span > 1e-9 * greatest:  # also if it is NaN
            return [plain(number, sign) for number in numbers]
        decimals = _decimals(half_span, greatest)
    return [fixed(number, decimals, sign) for number in numbers]


def _decimals(half_span, greatest) -> int:
    """Return the decimals of numbers that belong together; see :func:`together`."""
    decimals = 1 - math.floor(math.log10(half_span))
    if greatest >= 1:
        decimals = min(decimals, 2 - math.floor(math.log10(greatest)))
    return max(0, decimals)


def with_interval(mean, low, high, unit="", decimals=None) -> str:
    """Return a mean and its interval, each with its unit: 37.0% [29.1%, 44.9%]."""
    texts = together((mean, low, high), decimals=decimals)
    mean_text, low_text, high_text = [text + unit for text in texts]
    return f"{mean_text} [{low_text}, {high_text}]"
