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
SKEWED = 1.0  # a skewness from which on a series is highly skewed
COCHRAN = 25  # times the squared skewness: as many runs bear it
BOUNDED = 20  # runs from which on a test that knows only the ends of values can decide
ANYTHING = (-math.inf, math.inf)
EQUAL = "equal runs"  # names of tests
RESAMPLED_T = "resampled t"
BY_ENDS = "the ends of values"  # of a skewed series whose values have an end
NAMED = "resampled t, skewed"  # of one without, which the pages name
WIDENED = 30  # steps of the search for two numbers between which an end of an interval lies
HALVED = 8  # steps in which this range is halved
TINY = 1e-300  # keeps a division by a variance of 0 finite


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
        """Return the interval whose ends leave out these probabilities, below it and above it.

        An end is infinite if the test cannot reject at its level.
        """
        if self.equal:
            return self.effect, self.effect
        below, above = sides
        return self._end(below, 1), self._end(above, -1)

    def _end(self, level, side):
        """Return the value nearest to the effect that the test rejects, below it if `side` is 1."""

        def is_rejected(distance):
            return self.p_value(self.effect - side * distance, side) <= level

        # The search starts where the t test has its end, and goes outwards or inwards from there.
        probability = 1 - min(level / self.looks, 0.4)
        distance = self.se * t_quantile(probability, min(self.sizes) - 1)
        starts_rejected = is_rejected(distance)
        factor = 0.8 if starts_rejected else 1.25
        for _ in range(WIDENED):
            previous = distance
            distance = distance * factor
            if is_rejected(distance) != starts_rejected:
                break
        else:
            return self.effect if starts_rejected else -side * math.inf
        near = min(previous, distance)  # the test does not reject it
        far = max(previous, distance)  # the test rejects it
        for _ in range(HALVED):
            middle = (near + far) / 2
            if is_rejected(middle):
                far = middle
            else:
                near = middle
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
        """Return the interval whose ends leave out these probabilities, below it and above it."""
        below, above = sides
        low = self.effect - t_quantile(1 - below, self.df) * self.se
        high = self.effect + t_quantile(1 - above, self.df) * self.se
        return low, high


def welch(first, second) -> Difference:
    """Return Welch's t test of the difference of the means of two arms, float [runs] each.

    Source: Welch (1947), the degrees of freedom after Satterthwaite.
    """
    first = finite_runs(first)
    second = finite_runs(second)
    effect = float(first.mean() - second.mean())
    squared_error_1 = float(first.var(ddof=1)) / len(first)
    squared_error_2 = float(second.var(ddof=1)) / len(second)
    squared_error = squared_error_1 + squared_error_2
    weighted = squared_error_1**2 / (len(first) - 1) + squared_error_2**2 / (len(second) - 1)
    df = squared_error**2 / weighted if weighted > 0 else math.inf
    return Difference(effect, math.sqrt(squared_error), df, (len(first), len(second)))


def student(values) -> Difference:
    """Return the t test of the mean of one series, float [runs]."""
    values = finite_runs(values)
    num_runs = len(values)
    se = float(values.std(ddof=1)) / math.sqrt(num_runs)
    return Difference(float(values.mean()), se, num_runs - 1, (num_runs,))


def least_p(*sizes):
    """Return the least p value of a permutation test of one or two series, of so many runs each."""
    if len(sizes) == 1:
        return 0.5 ** sizes[0]
    return 1 / math.comb(sum(sizes), sizes[0])


def skewness(values):
    """Return the skewness of some values, 0 if they are equal."""
    deviations = np.asarray(values, float) - np.mean(values)
    spread = math.sqrt(float(np.mean(deviations**2)))
    largest = float(np.abs(values).max())
    if spread <= 1e-12 * max(1.0, largest):
        return 0.0
    return float(np.mean(deviations**3)) / spread**3


# One series


class Mean(Test):
    """The test of the mean of one series, float [runs]; within: the ends of what values can be."""

    def __init__(self, values, within=ANYTHING):
        self.values = finite_runs(values)
        self.within = within
        self.t = student(self.values)
        self.effect = self.t.effect
        self.se = self.t.se
        self.sizes = self.t.sizes
        self.skewness = skewness(self.values)

    def kind(self, side):
        """Return the name of the test of being above (side 1) or below (-1) an end."""
        if self.equal:
            return EQUAL
        num_runs = len(self.values)
        # positive if the long tail lies where few runs do not show it
        hidden_skewness = -side * self.skewness
        if hidden_skewness < SKEWED or num_runs >= COCHRAN * hidden_skewness**2:
            return "t" if num_runs >= MANY else RESAMPLED_T
        if math.isfinite(self._end_of_tail(side)) and num_runs >= BOUNDED:
            return BY_ENDS
        return NAMED

    def _end_of_tail(self, side):
        """Return the least value that there can be (side 1), or the largest (-1)."""
        least, most = self.within
        return least if side > 0 else most

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        kind = self.kind(side)
        if kind == BY_ENDS:
            return gaffke(side * self.values, side * end, side * self._end_of_tail(side))
        p_of_t = self.t.p_value(end, side)
        if kind in (EQUAL, "t"):
            return p_of_t
        t = (self.effect - end) / self.se
        p_of_resampling = _share_as_large(_resampled(tuple(self.values)), side, t)
        return max(p_of_t, p_of_resampling)


@lru_cache(maxsize=128)
def _resampled(values):
    """Return the t statistics of series drawn from these runs, of their true mean, in order."""
    num_series = RESAMPLED // len(values)
    means, squared_errors = _drawn(values, num_series, 0)
    return np.sort(means / np.sqrt(squared_errors))


@lru_cache(maxsize=128)
def _resampled_arms(first, second):
    """Return Welch's statistics of pairs of arms that are drawn in the same way, in order."""
    num_pairs = RESAMPLED // max(len(first), len(second))
    means_1, squared_errors_1 = _drawn(first, num_pairs, 1)
    means_2, squared_errors_2 = _drawn(second, num_pairs, 2)
    squared_errors = np.maximum(squared_errors_1 + squared_errors_2, TINY)
    return np.sort((means_1 - means_2) / np.sqrt(squared_errors))


def _drawn(values, number, seed):
    """Return the means of drawn series and their squared standard errors: float [number] each."""
    rng = np.random.default_rng((len(values), seed))
    values = np.array(values)
    deviations = values - values.mean()
    shape = number, len(values)
    drawn = deviations[rng.integers(len(values), size=shape)]
    drawn += NOISE * values.std() * rng.standard_normal(shape)
    return drawn.mean(axis=1), drawn.var(axis=1, ddof=1) / len(values)


def _share_as_large(statistics, side, t):
    """Return the share of statistics, in order, that lie at `t` or beyond it on a side.

    Ours counts as one of them, so that the share is never 0.
    """
    if side > 0:
        number = len(statistics) - np.searchsorted(statistics, t, "left")
    else:
        number = np.searchsorted(statistics, t, "right")
    return (1 + int(number)) / (1 + len(statistics))


def gaffke(values, end, hidden) -> float:
    """Return the p value of a mean above an end, of values that are never below `hidden`.

    It is the chance that a mean of the values and of `hidden`, with uniformly random weights, is
    not above the end: P(sum of E_i a_i <= 0), E_i independent exponential, a_i how far each is from
    the end, by an integral along the line through the saddle point.

    Source: Gaffke (2005); Learned-Miller and Thomas (2020).

    >>> round(gaffke([1] * 20 + [0] * 5, 0.5, 0), 6)  # as Clopper and Pearson's, of 20 wins of 25
    0.002039
    """
    distances = np.append(np.asarray(values, float), hidden) - end
    largest = float(np.abs(distances).max())
    if largest:
        distances = distances / largest
    if distances.max() <= 0:
        return 1.0
    if distances.min() >= 0:  # the mean cannot be as low as the end
        return 0.0
    # The integral is the chance itself, with a minus, or the chance of the contrary.
    is_small = distances.sum() > 0
    saddle = _saddle_point(distances, is_small)
    integral = _integral_through(saddle, distances)
    p = -integral if is_small else 1 - integral
    return min(1.0, max(0.0, p))


def _saddle_point(distances, is_small):
    """Return where the integrand of Gaffke's test has its saddle point, by bisection."""
    if is_small:
        low = 1 / distances.min()
        high = 0.0
    else:
        low = 0.0
        high = 1 / distances.max()
    for _ in range(60):
        middle = (low + high) / 2
        slope = float((distances / (1 - middle * distances)).sum()) - 1 / middle
        if slope < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _integral_through(saddle, distances):
    """Return the integral of Gaffke's test along the vertical line through its saddle point."""
    curvature = float(((distances / (1 - saddle * distances)) ** 2).sum()) + 1 / saddle**2
    width = 1 / math.sqrt(curvature)
    grid = np.linspace(0, 14, 1_500)
    line = saddle + 1j * width * np.sinh(grid)
    log_integrand = -np.log(1 - line[:, None] * distances).sum(axis=1) - np.log(line)
    integrand = np.exp(log_integrand).real * width * np.cosh(grid)
    return float(np.trapezoid(integrand, grid)) / math.pi


# Two arms


class Arms(Test):
    """The test of the difference of the means of two arms, float [runs] each."""

    def __init__(self, first, second):
        self.first = finite_runs(first)
        self.second = finite_runs(second)
        self.t = welch(self.first, self.second)
        self.effect = self.t.effect
        self.se = self.t.se
        self.sizes = self.t.sizes

    def kind(self, side):
        """Return the name of the test."""
        if self.equal:
            return EQUAL
        return "t" if min(self.sizes) >= MANY else "permutation"

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        if self.kind(side) != "permutation":
            return self.t.p_value(end, side)
        t = (self.effect - end) / self.se
        p_of_arrangements = self._p_of_arrangements(end, side, t)
        statistics = _resampled_arms(tuple(self.first), tuple(self.second))
        return max(p_of_arrangements, _share_as_large(statistics, side, t))

    def _p_of_arrangements(self, end, side, t):
        """Return the share of all arrangements, or of drawn ones, with a statistic as large."""
        statistics = side * self._arranged(end)
        tolerance = 1e-9 * max(1.0, abs(t))
        number = int(np.count_nonzero(statistics >= side * t - tolerance))
        if math.comb(sum(self.sizes), self.sizes[0]) <= EXACT:
            return number / len(statistics)
        return (1 + number) / (1 + len(statistics))  # ours is one of the drawn ones

    @cached_property
    def _polynomials(self):
        """Return the difference of the means of each arrangement, and its squared standard error.

        Both are polynomials in what is taken off the runs of the first arm, beyond the effect:
        lists of their coefficients, each float [arrangements], the constant first.
        """
        is_first = np.repeat([1.0, 0.0], self.sizes)
        runs = np.concatenate([self.first - self.first.mean(), self.second - self.second.mean()])
        columns = np.stack([runs, runs**2, is_first, is_first * runs], axis=1)
        sums_1 = _arrangements(*self.sizes) @ columns
        sums_2 = columns.sum(axis=0) - sums_1
        mean_1, squares_1 = _polynomials_of_arm(sums_1, self.sizes[0])
        mean_2, squares_2 = _polynomials_of_arm(sums_2, self.sizes[1])
        difference = [one - two for one, two in zip(mean_1, mean_2, strict=True)]
        squares = [one + two for one, two in zip(squares_1, squares_2, strict=True)]
        return difference, squares

    def _arranged(self, end):
        """Return the statistic of each arrangement once the end is taken off the first arm."""
        (d0, d1), (v0, v1, v2) = self._polynomials
        taken_off = end - self.effect
        least_error = 1e-9 * max(self.se, abs(taken_off))
        squared_errors = np.maximum(v0 + taken_off * (v1 + taken_off * v2), least_error**2)
        return (d0 + taken_off * d1) / np.sqrt(squared_errors)


def _polynomials_of_arm(sums, num_runs):
    """Return the coefficients of an arm's mean, and of its squared standard error.

    `sums`, float [arrangements, 4], are over the runs that stand in this arm: the runs, their
    squares, how many come from the first arm, and the runs of these.
    """
    total, total_of_squares, num_first, total_of_first = sums.T
    mean = [total / num_runs, -num_first / num_runs]
    squared_deviations = [
        total_of_squares - total**2 / num_runs,
        2 * (total * num_first / num_runs - total_of_first),
        num_first - num_first**2 / num_runs,
    ]
    squared_error = [part / (num_runs * (num_runs - 1)) for part in squared_deviations]
    return mean, squared_error


@lru_cache(maxsize=8)
def _arrangements(first, second):
    """Return which runs stand in the place of the first arm: 1.0 or 0.0 [arrangements, runs]."""
    num_runs = first + second
    if math.comb(num_runs, first) <= EXACT:
        chosen = np.array(list(combinations(range(num_runs), first)))
    else:
        rng = np.random.default_rng((first, second))
        chosen = np.argsort(rng.random((DRAWN, num_runs), dtype=np.float32), axis=1)[:, :first]
    table = np.zeros((len(chosen), num_runs))
    np.put_along_axis(table, chosen, 1.0, axis=1)
    return table


# Looks


class Joined(Test):
    """The tests of the stages of added runs as one; effect and sizes are those of all runs.

    Parameters
    ----------
    whole : Test
        Of all runs.
    stages : tuple
        A test of each stage.
    looks : int
        How often it is or will be tested.
    approximate : bool
        Whether an arm was not extended, so that all runs are one stage.
    """

    def __init__(self, whole, stages, looks, approximate=False):
        self.whole = whole
        self.stages = stages
        self.looks = looks
        self.approximate = approximate
        self.effect = whole.effect
        self.se = whole.se
        self.sizes = whole.sizes
        self.within = whole.within

    @property
    def skewness(self):
        """That of all runs of one series."""
        return self.whole.skewness

    def kind(self, side):
        """Return the names of the tests of its stages."""
        names = dict.fromkeys(stage.kind(side) for stage in self.stages)
        return ", ".join(names)

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        p_values = [stage.p_value(end, side) for stage in self.stages]
        return joined_p(p_values, self.looks)


def joined_p(p_values, looks) -> float:
    """Return the p value of stages that count alike, of a test that is looked at so often.

    Source: Lehmacher and Wassmer (1999), the inverse normal combination.

    >>> round(joined_p([0.01, 0.2], 2), 4), joined_p([0.01], 1)
    (0.0251, 0.01)
    """
    if len(p_values) == 1:
        return min(1.0, looks * p_values[0])
    total = -sum(ndtri(np.array(p_values)).tolist()) / math.sqrt(len(p_values))
    if math.isnan(total):  # one stage has p 0, another one p 1
        return 1.0
    return min(1.0, looks * float(ndtr(-total)))
