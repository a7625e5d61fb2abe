"""Tests of a mean, or of the difference of two, for few runs that need not be normal.

Each test has the estimate, the numbers of runs, the p value of being above or below an end, and the
interval that leaves out what the test rejects, so that interval and verdict cannot disagree.

    two arms         a permutation test with Welch's statistic: all arrangements of the runs where
                     there are few (184,756 of ten and ten), else a fixed number of seeded ones;
                     Welch's t test where both arms have fifty runs
    one series       the t test
    below fifty      no p value is smaller than resampling gives: as many runs are drawn from ours,
                     moved so that their mean is the end, and the share of these samples with as
                     large a t counts. (Arms may differ in spread, which no arrangement knows.)
    a skewed series  where its long tail lies on the side that few runs do not show (skewness of one
                     or more, and n < 25 skewness^2): if values have an end there, from twenty runs
                     on Gaffke's test, which needs nothing but that end (of runs that are 0 or 100
                     it is Clopper and Pearson's); else resampling, and the series is named
    equal runs       the least p value that a permutation test of as many runs can have

**Looks.** Runs that were added after a look are a stage of their own. The p values of K stages are
joined by the inverse normal combination in which each stage counts alike, whatever its size: then
the size of a stage may depend on all before it. A test that is looked at K times pays for it: its
p value counts K times (Bonferroni). Where one of two arms was not extended there are no two stages:
all runs are tested as one and the p value counts K times, as if the number had been set before the
first look. Such a test says that it is approximate.

Source: Welch (1947); Janssen (1997), studentized permutation tests; Hall (1992), the resampled t;
Cochran (1977), the rule 25 skewness^2, and Bulmer (1979), what is highly skewed; Gaffke (2005) and
Learned-Miller and Thomas (2020), means of bounded values; Lehmacher and Wassmer (1999), the inverse
normal combination. How often each errs, and why these: tests/papers/test_error_rates.py.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from ...stats import finite_runs, t_quantile

MANY = 50  # runs from which on a t test holds its level, however skewed our series are
EXACT = 200_000  # arrangements up to which all are taken
DRAWN = 20_000  # of more
RESAMPLED = 2_000_000  # runs, in as many series as that gives: 200,000 of ten
NOISE = 0.2  # standard deviations, added to what is resampled: equal draws are no certainty
COCHRAN, SKEWED = 25, 1.0  # a skewness of 1 is high, and n runs bear one up to root of n / 25
BOUNDED = 20  # runs from which on a test that knows only the ends of values can decide
ANYTHING = (-math.inf, math.inf)
BY_ENDS, NAMED = "the ends of values", "resampled t, skewed"  # tests of skewed series
WIDENED, HALVED = 30, 8  # steps of the search for an end of an interval


class Test:
    """What all tests share: an interval that leaves out what they reject."""

    __test__ = False  # pytest takes it for one of its own
    looks = 1
    approximate = False
    within = ANYTHING

    @property
    def equal(self):
        """Whether all runs are equal."""
        return self.se <= 1e-12 * max(1.0, abs(self.effect))

    def kind(self, side):
        """Return the name of the test of being above (side 1) or below (-1) an end."""
        return "t"

    def interval(self, sides):
        """Return the interval whose ends leave out these probabilities; perhaps without an end."""
        if self.equal:
            return self.effect, self.effect
        return self._end(sides[0], 1), self._end(sides[1], -1)

    def _end(self, level, side):
        # the outermost end that is rejected, searched from where the t test has it
        def rejected(far):
            return self.p_value(self.effect - side * far, side) <= level

        far = self.se * t_quantile(1 - min(level / self.looks, 0.4), min(self.sizes) - 1)
        kept = not rejected(far)
        for _ in range(WIDENED):
            before, far = far, far * (1.25 if kept else 0.8)
            if rejected(far) == kept:
                break
        else:
            return -side * math.inf if kept else self.effect
        near, far = sorted((before, far))
        for _ in range(HALVED):
            middle = (near + far) / 2
            near, far = (near, middle) if rejected(middle) else (middle, far)
        return self.effect - side * far


@dataclass(frozen=True)
class Difference(Test):
    """The t test of a difference, or a mean, of which no more is known than its standard error."""

    effect: float
    se: float
    df: float
    sizes: tuple  # numbers of runs

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        effect = side * (self.effect - end)
        if self.equal:
            return least_p(*self.sizes) if effect > 0 else 1.0
        return float(stdtr(self.df, -effect / self.se))

    def interval(self, sides):
        """Return the interval whose ends leave out these probabilities."""
        low, high = (t_quantile(1 - side, self.df) * self.se for side in sides)
        return self.effect - low, self.effect + high


def welch(first, second) -> Difference:
    """Return Welch's t test of the difference of the means of two arms."""
    a, b = finite_runs(first), finite_runs(second)
    va, vb = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    shares = va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)
    df = (va + vb) ** 2 / shares if shares > 0 else math.inf
    return Difference(float(a.mean() - b.mean()), math.sqrt(va + vb), df, (len(a), len(b)))


def student(values) -> Difference:
    """Return the t test of the mean of one series."""
    values = finite_runs(values)
    se = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Difference(float(values.mean()), se, len(values) - 1, (len(values),))


def least_p(*sizes):
    """Return the least p value of a permutation test of one or two series."""
    return 0.5 ** sizes[0] if len(sizes) == 1 else 1 / math.comb(sum(sizes), sizes[0])


def skewness(values):
    """Return the skewness of some values, 0 if they are equal."""
    away = np.asarray(values, float) - np.mean(values)
    spread = math.sqrt(float(np.mean(away**2)))
    equal = spread <= 1e-12 * max(1.0, float(np.abs(values).max()))
    return 0.0 if equal else float(np.mean(away**3)) / spread**3


# One series


class Mean(Test):
    """The test of the mean of one series; within: the ends of what its values can be."""

    def __init__(self, values, within=ANYTHING):
        self.values, self.within = finite_runs(values), within
        self.t = student(self.values)
        self.effect, self.se, self.sizes = self.t.effect, self.t.se, self.t.sizes
        self.skewness = skewness(self.values)

    def kind(self, side):
        """Return the name of the test of being above (side 1) or below (-1) an end."""
        if self.equal:
            return "equal runs"
        runs, hidden = len(self.values), -side * self.skewness
        if hidden < SKEWED or runs >= COCHRAN * hidden**2:
            return "t" if runs >= MANY else "resampled t"
        ended = math.isfinite(self.within[0 if side > 0 else 1])
        return BY_ENDS if ended and runs >= BOUNDED else NAMED

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        kind = self.kind(side)
        if kind == BY_ENDS:
            hidden = side * self.within[0 if side > 0 else 1]
            return gaffke(side * self.values, side * end, hidden)
        p = self.t.p_value(end, side)
        if kind in ("equal runs", "t"):
            return p
        ours = (self.effect - end) / self.se
        return max(p, _as_large(_resampled(tuple(self.values)), side, ours))


@lru_cache(maxsize=128)
def _resampled(values):
    # the t statistics of as many runs, drawn from these, whose mean is the tested one; in order
    mean, square = _drawn(values, RESAMPLED // len(values), 0)
    return np.sort(mean / np.sqrt(square))


@lru_cache(maxsize=128)
def _resampled_arms(first, second):
    # Welch's statistics of two arms drawn in this way; in order
    number = RESAMPLED // max(len(first), len(second))
    one, two = _drawn(first, number, 1), _drawn(second, number, 2)
    return np.sort((one[0] - two[0]) / np.sqrt(np.maximum(one[1] + two[1], 1e-300)))


def _drawn(values, number, seed):
    # the mean of each drawn series, and its squared standard error
    rng, values = np.random.default_rng((len(values), seed)), np.array(values)
    shape = number, len(values)
    drawn = (values - values.mean())[rng.integers(len(values), size=shape)]
    drawn += NOISE * values.std() * rng.standard_normal(shape)
    return drawn.mean(axis=1), drawn.var(axis=1, ddof=1) / len(values)


def _as_large(drawn, side, t):
    # the share of the statistics that lie as far on a side
    if side > 0:
        number = len(drawn) - np.searchsorted(drawn, t, "left")
    else:
        number = np.searchsorted(drawn, t, "right")
    return (1 + int(number)) / (1 + len(drawn))


def gaffke(values, end, hidden) -> float:
    """Return the p value of a mean above an end, of values that are never below `hidden`.

    It is the chance that a mean of the values and of `hidden`, with uniformly random weights, is
    not above the end: P(sum of E_i a_i <= 0), E_i independent exponential, a_i how far each is from
    the end, by an integral along the line through the saddle point.

    >>> round(gaffke([1] * 20 + [0] * 5, 0.5, 0), 6)  # as Clopper and Pearson's, of 20 wins of 25
    0.002039
    """
    away = np.append(np.asarray(values, float), hidden) - end
    away = away / (float(np.abs(away).max()) or 1.0)
    if away.max() <= 0:
        return 1.0
    if away.min() >= 0:  # the mean cannot be as low as the end
        return 0.0
    small = away.sum() > 0
    low, high = (1 / away.min(), 0.0) if small else (0.0, 1 / away.max())
    for _ in range(60):
        middle = (low + high) / 2
        slope = float((away / (1 - middle * away)).sum()) - 1 / middle
        low, high = (middle, high) if slope < 0 else (low, middle)
    middle = (low + high) / 2
    width = 1 / math.sqrt(float(((away / (1 - middle * away)) ** 2).sum()) + 1 / middle**2)
    grid = np.linspace(0, 14, 1_500)
    line = middle + 1j * width * np.sinh(grid)
    log = -np.log(1 - line[:, None] * away).sum(axis=1) - np.log(line)
    found = float(np.trapezoid(np.exp(log).real * width * np.cosh(grid), grid)) / math.pi
    return min(1.0, max(0.0, -found if small else 1 - found))


# Two arms


class Arms(Test):
    """The test of the difference of the means of two arms."""

    def __init__(self, first, second):
        self.first, self.second = finite_runs(first), finite_runs(second)
        self.t = welch(self.first, self.second)
        self.effect, self.se, self.sizes = self.t.effect, self.t.se, self.t.sizes

    def kind(self, side):
        """Return the name of the test."""
        return "equal runs" if self.equal else "t" if min(self.sizes) >= MANY else "permutation"

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        if self.kind(side) != "permutation":
            return self.t.p_value(end, side)
        found, ours = self._arranged(end), (self.effect - end) / self.se
        found = found if side > 0 else -found
        number = int(np.count_nonzero(found >= side * ours - 1e-9 * max(1.0, abs(ours))))
        exact = math.comb(sum(self.sizes), self.sizes[0]) <= EXACT
        p = number / len(found) if exact else (1 + number) / (1 + len(found))
        drawn = _resampled_arms(tuple(self.first), tuple(self.second))
        return max(p, _as_large(drawn, side, ours))

    @cached_property
    def _powers(self):
        # of each arrangement the difference of the means, and its squared standard error, as
        # polynomials in what is taken off the runs of the first arm, beyond the effect
        mine = np.repeat([1.0, 0.0], self.sizes)
        runs = np.concatenate([self.first - self.first.mean(), self.second - self.second.mean()])
        columns = np.stack([runs, runs**2, mine, mine * runs], axis=1)
        found, whole = _arrangements(*self.sizes) @ columns, columns.sum(axis=0)
        means, squares = [], []
        for (one, two, own, both), number in zip(
            (found.T, (whole - found).T), self.sizes, strict=True
        ):
            means.append((one / number, -own / number))
            powers = two - one**2 / number, 2 * (one * own / number - both), own - own**2 / number
            squares.append([power / (number * (number - 1)) for power in powers])
        difference = [one - two for one, two in zip(*means, strict=True)]
        return difference, [one + two for one, two in zip(*squares, strict=True)]

    def _arranged(self, end):
        # the statistic of each arrangement once the end is taken off the runs of the first arm
        (d0, d1), (v0, v1, v2) = self._powers
        off = end - self.effect
        squares = np.maximum(v0 + off * (v1 + off * v2), (1e-9 * max(self.se, abs(off))) ** 2)
        return (d0 + off * d1) / np.sqrt(squares)


@lru_cache(maxsize=8)
def _arrangements(first, second):
    # which runs stand in the place of the first arm: 1.0 or 0.0 [arrangements, runs]
    runs = first + second
    number = math.comb(runs, first)
    if number <= EXACT:
        chosen = np.array(list(combinations(range(runs), first)))
    else:
        rng = np.random.default_rng((first, second))
        chosen = np.argsort(rng.random((DRAWN, runs), dtype=np.float32), axis=1)[:, :first]
    table = np.zeros((len(chosen), runs))
    np.put_along_axis(table, chosen, 1.0, axis=1)
    return table


# Looks


@dataclass(frozen=True)
class Joined(Test):
    """The tests of the stages of added runs as one; effect and sizes are those of all runs."""

    whole: Test  # of all runs
    stages: tuple  # a test of each stage
    looks: int  # at which it is or will be tested
    approximate: bool = False  # an arm was not extended: all runs are one stage

    @property
    def effect(self):
        """The estimate of all runs."""
        return self.whole.effect

    @property
    def se(self):
        """The standard error of the mean of all runs."""
        return self.whole.se

    @property
    def sizes(self):
        """Numbers of runs."""
        return self.whole.sizes

    @property
    def within(self):
        """The ends of what values can be."""
        return self.whole.within

    @property
    def skewness(self):
        """That of all runs of one series."""
        return self.whole.skewness

    def kind(self, side):
        """Return the names of the tests of its stages."""
        return ", ".join(dict.fromkeys(stage.kind(side) for stage in self.stages))

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        return joined_p([stage.p_value(end, side) for stage in self.stages], self.looks)


def joined_p(p_values, looks) -> float:
    """Return the p value of stages that count alike, of a test that is looked at so often.

    >>> round(joined_p([0.01, 0.2], 2), 4), joined_p([0.01], 1)
    (0.0251, 0.01)
    """
    if len(p_values) == 1:
        return min(1.0, looks * p_values[0])
    total = -sum(ndtri(np.array(p_values)).tolist()) / math.sqrt(len(p_values))
    return 1.0 if math.isnan(total) else min(1.0, looks * float(ndtr(-total)))
