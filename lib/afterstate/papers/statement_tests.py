"""The tests behind statements: p values for a part of a statement, and for its contrary.

    ordering   high > times * low (+ by), of two arms (Welch), or of the same runs (paired)
    range      low end <= first - second <= high end (either end, and second, may be missing)
    bound      a mean is above or below a number
    trend      rising along an ordered list of arms or metrics (Page's test, runs as blocks)

**Strictness.** A t test of few runs errs where their shape is skewed. So its p values count 50
times for one series of runs (bounds, pairs, ranges of one series), for two arms with different
numbers of runs, and where the runs of one arm hardly differ. No p value is below 5% where that of a
permutation test could not be, and where all runs are equal it is the least of that test. In
simulations of 3 to 25 normal, flat, exponential and lognormal (sigma 1) runs a false part passes in
at most 5% of cases; two arms of different shapes reach up to 18%.

**Runs that did not converge** (a series may name the metric `converged`) stand at their cap. Where
a low value would help, such a run counts as the largest value of either arm, and if no run of the
arm converged the p value is 1. In a trend it counts as what speaks least for it from its cap up.

Source: Page (1963), ordered hypotheses for multiple treatments; Welch (1947), the t test with two
variances.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Required, TypedDict

import numpy as np
from scipy.special import stdtr

from ..stats import finite_runs, t_quantile

LEVEL = 0.05
MIN_RUNS = 3
STRICT = 50  # 5% become 0.1%
EVEN = 1 / 3  # least spread of an arm, as a share of the other's, for a test of two arms
CAPPED = ("ordering", "trend")  # kinds of test whose series may name `converged`


_NAMES = dict.fromkeys(("study", "arm", "metric"), Required[str])
Series = TypedDict("Series", _NAMES | {"converged": str}, total=False)
_ORDERING = {"high": Required[Series], "low": Required[Series], "times": float, "by": float}
_RANGE = {"first": Required[Series], "second": Series, "from": float, "to": float}
_BOUND = {"value": Required[Series], "above": float, "below": float}
PARTS = {  # kind of test -> what a part of a statement holds
    kind: TypedDict("Part", {"of": str, "unit": str, "paired": bool} | own, total=False)
    for kind, own in {
        "ordering": _ORDERING,
        "range": _RANGE,
        "bound": _BOUND,
        "trend": {"rising": Required[list[Series]]},
    }.items()
}


@dataclass(frozen=True)
class Difference:
    """The difference of the means of two series, or a mean: all that its t test needs."""

    effect: float
    se: float
    df: float
    least: float  # p value of a permutation test
    runs: str
    strict: int  # what p values are multiplied by

    def above(self, end):
        """Return the p value of being above an end."""
        effect = self.effect - end
        if self.se <= 1e-12 * max(1.0, abs(effect)):
            return self.least if effect > 0 else 1.0
        floor = self.least if self.least > LEVEL else 0.0
        return min(1.0, max(self.strict * float(stdtr(self.df, -effect / self.se)), floor))

    def below(self, end):
        """Return the p value of being below an end."""
        return Difference(-self.effect, *list(vars(self).values())[1:]).above(-end)


@dataclass(frozen=True)
class Part:
    """The outcome of one part: its effect, and the two p values."""

    of: str
    effect: float
    half: float  # of the 95% interval
    p_for: float
    p_against: float
    runs: str
    shown: str = ""  # stands for the effect where runs did not converge


@dataclass(frozen=True)
class Runs:
    """A series of runs: run -> value, and the runs that stand at their cap (empty: none)."""

    values: dict
    open: frozenset = frozenset()

    @property
    def never(self):
        """Whether no run converged."""
        return bool(self.open) and len(self.open) == len(self.values)

    def raised(self, limit):
        """Return the values, those at their cap at least as the limit."""
        return {r: max(v, limit) if r in self.open else v for r, v in self.values.items()}

    def __str__(self):
        mean = f"{np.mean(list(self.values.values())):,.0f}"
        if not self.open:
            return mean
        return f"> {mean} ({len(self.values) - len(self.open)} of {len(self.values)} converged)"


def series(part):
    """Return the series that a part speaks of."""
    found = [part[name] for name in ("high", "low", "first", "second", "value") if part.get(name)]
    return found + part.get("rising", [])


def grouped(runs, size):
    """Return the means of groups of runs that share their opponents.

    >>> grouped(Runs({0: 1.0, 1: 2.0, 2: 5.0, 3: 7.0}), 2).values
    {0: 1.5, 1: 6.0}
    """
    groups = {}
    for run, value in runs.values.items():
        groups.setdefault(run // size, []).append(value)
    return Runs({g: float(np.mean(v)) for g, v in groups.items() if len(v) == size})


def tried(part, runs) -> Part:
    """Return the outcome of a part; `runs` are those of its series, in their order."""
    return _trend(part, runs) if "rising" in part else _means(part, *runs)


def _means(part, first, second=None):
    if second is None:
        second, seen = Runs({}), _mean(first.values)
        least = most = seen
    else:
        times, by, paired = part.get("times", 1), part.get("by", 0), part.get("paired", False)
        values = {run: times * value + by for run, value in second.values.items()}
        second = Runs(values, second.open)
        limit = max(*first.values.values(), *values.values())
        seen = _difference(first.values, values, paired)
        least = _difference(first.values, second.raised(limit), paired)
        most = _difference(first.raised(limit), values, paired)
    low, high = part.get("from", part.get("above")), part.get("to", part.get("below"))
    low = 0 if "high" in part else low
    for_, against = [], []
    if low is not None:
        for_.append(1.0 if second.never else least.above(low))
        against.append(1.0 if first.never else most.below(low))
    if high is not None:
        for_.append(most.below(high))
        against.append(least.above(high))
    shown = f"{first} against {second}" if first.open or second.open else ""
    p_values = max(for_), min(1.0, len(against) * min(against))
    half = t_quantile(0.975, seen.df) * seen.se if seen.se > 0 else 0.0
    return Part(part.get("of", ""), seen.effect, half, *p_values, seen.runs, shown)


def _mean(values):
    values = finite_runs(list(values.values()))
    runs = len(values)
    se = float(values.std(ddof=1)) / math.sqrt(runs)
    return Difference(float(values.mean()), se, runs - 1, 0.5**runs, str(runs), STRICT)


def _difference(first, second, paired):
    if paired:
        return _mean({run: first[run] - second[run] for run in first if run in second})
    a, b = (finite_runs(list(values.values())) for values in (first, second))
    va, vb = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    shares = va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)
    df = (va + vb) ** 2 / shares if shares > 0 else math.inf
    even = len(a) == len(b) and min(va, vb) >= EVEN**2 * max(va, vb)
    effect, se = float(a.mean() - b.mean()), math.sqrt(va + vb)
    least = 1 / math.comb(len(a) + len(b), len(a))
    return Difference(effect, se, df, least, f"{len(a)} + {len(b)}", 1 if even else STRICT)


def _trend(part, columns):
    blocks = sorted(set.intersection(*(set(column.values) for column in columns)))
    if len(blocks) < MIN_RUNS:  # arms whose runs have no number in common
        blocks = range(min(len(column.values) for column in columns))
        columns = [_renumbered(column) for column in columns]
    table = np.array([[c.values[block] for c in columns] for block in blocks], dtype=float)
    stays = np.array([[block in c.open for c in columns] for block in blocks])
    for_, against = _page(table, stays), _page(table[:, ::-1], stays[:, ::-1])
    for_ = 1.0 if any(column.never for column in columns[:-1]) else for_
    against = 1.0 if any(column.never for column in columns[1:]) else against
    effect = float(np.mean([_rank_correlation(row) for row in table]))
    shown = ", ".join(map(str, columns)) if stays.any() else ""
    return Part(part.get("of", ""), effect, 0.0, for_, against, str(len(table)), shown)


def _renumbered(column):
    places = {run: place for place, run in enumerate(column.values)}
    values = dict(enumerate(column.values.values()))
    return Runs(values, frozenset(places[run] for run in column.open))


def _page(table, stays):
    # its import takes a second, which every process would pay; few statements are trends
    from scipy.stats import page_trend_test

    rows = [_least(row, caps) for row, caps in zip(table, stays, strict=True)]
    return float(page_trend_test(np.array(rows)).pvalue)


def _least(row, caps):
    choices = []
    for place, (value, cap) in enumerate(zip(row, caps, strict=True)):
        # just above another value; of two such values the earlier one is the larger
        above = [v + (1 - place / len(row)) / 2 for v in row if v >= value] if cap else []
        choices.append([value, *above])
    steps = np.arange(len(row))
    return min((np.array(c) for c in product(*choices)), key=lambda c: steps @ _ranks(c))


def _ranks(row):
    # twice the ranks; equal values have the mean of theirs
    return np.array([np.sum(row < value) + np.sum(row <= value) for value in row])


def _rank_correlation(row):
    ranks = _ranks(row)
    return float(np.corrcoef(np.arange(len(row)), ranks)[0, 1]) if np.ptp(ranks) else 0.0
