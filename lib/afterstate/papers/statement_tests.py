"""The tests behind statements: p values for a part of a statement, and for its contrary.

    ordering   high > times * low (+ by), of two arms (Welch), or of the same runs (paired)
    range      low end <= first - second <= high end (either end, and second, may be missing)
    bound      a mean is above or below a number
    trend      rising along an ordered list of arms or metrics (Page's test, runs as blocks)

Where all runs are equal the p value is the least that a permutation test of as many runs can have.

**Runs that did not converge** (a series may name the metric `converged`) stand at their cap, a
lower bound: they may support "larger", never "smaller". Where a low value would help, such a run
counts as the largest value of either arm, and if no run of the arm converged the p value is 1. In a
trend it counts as what speaks least for it from its cap up.

Source: Page (1963), ordered hypotheses for multiple treatments; Welch (1947), the t test with two
variances.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Literal, Required, TypedDict

import numpy as np
from scipy.special import stdtr

from ..stats import finite_runs, t_quantile
from .verdicts import runs_for

CAPPED = ("ordering", "trend")  # kinds of test whose series may name `converged`
ENDS = {"range": ("from", "to"), "bound": ("above", "below")}  # of which a part needs one
LEAST_TREND = 3  # arms or metrics: with two a trend is an ordering

_NAMES = dict.fromkeys(("study", "arm", "metric"), Required[str])
_EXTREME = Literal["largest", "smallest"]
_SERIES = _NAMES | {
    "converged": str,  # the metric that says whether a run did
    "less": TypedDict("Less", _NAMES),  # is subtracted, run by run
    "history": _EXTREME,  # of a run's values, in the place of the last one
    "group": _EXTREME,  # of the runs that share opponents, in the place of their mean
}
Series = TypedDict("Series", _SERIES, total=False)
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
    sizes: tuple  # numbers of runs

    @property
    def equal(self):
        """Whether all runs are equal."""
        return self.se <= 1e-12 * max(1.0, abs(self.effect))

    def p_value(self, end, side):
        """Return the p value of being above (side 1) or below (-1) an end."""
        effect = side * (self.effect - end)
        if self.equal:
            return least_p(*self.sizes) if effect > 0 else 1.0
        return float(stdtr(self.df, -effect / self.se))


@dataclass(frozen=True)
class Part:
    """The outcome of one part: the difference, its p values, and how far from decided it is."""

    of: str
    seen: Difference
    ends: tuple  # low and high end between which the difference must lie; None: there is none
    p_for: float
    p_against: float
    shown: str = ""  # stands for the effect where runs did not converge
    never: tuple = ("", "")  # why no number of runs can support the part, or its contrary

    def interval(self, sides):
        """Return the interval of the difference whose ends leave out these probabilities."""
        if self.seen.equal:
            return self.seen.effect, self.seen.effect
        low, high = (t_quantile(1 - side, self.seen.df) * self.seen.se for side in sides)
        return self.seen.effect - low, self.seen.effect + high

    @property
    def ahead(self):
        """How far the effect lies inside the ends; negative: outside."""
        low, high = self.ends
        inside = [self.seen.effect - low] if low is not None else []
        return min(inside + ([high - self.seen.effect] if high is not None else []))

    def runs_needed(self, level, contrary=False):
        """Return about how many runs of each arm would decide at a level, with power 80%."""
        ahead = -self.ahead if contrary else self.ahead
        if self.never[contrary] or ahead <= 0:
            return math.inf
        runs = max(self.seen.sizes)
        if not self.seen.equal:
            return runs_for(ahead, level, self.seen.se * math.sqrt(runs))
        while least_p(*[runs] * len(self.seen.sizes)) > level:
            runs += 1
        return runs


@dataclass(frozen=True)
class Runs:
    """A series of runs: run -> value, and the runs that stand at their cap (empty: none)."""

    values: dict
    open: frozenset = frozenset()

    @property
    def never(self):
        """Why nothing can be below it, if no run converged."""
        none = self.open and len(self.open) == len(self.values)
        return "no run of an arm converged before its cap" if none else ""

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


def grouped(runs, size, combine=np.mean):
    """Return the means (or extremes) of groups of runs that share their opponents."""
    groups = {}
    for run, value in runs.values.items():
        groups.setdefault(run // size, []).append(value)
    return Runs({g: float(combine(v)) for g, v in groups.items() if len(v) == size})


def least_p(*sizes):
    """Return the least p value of a permutation test of one or two series."""
    return 0.5 ** sizes[0] if len(sizes) == 1 else 1 / math.comb(sum(sizes), sizes[0])


def tried(part, runs) -> Part:
    """Return the outcome of a part; `runs` are those of its series, in their order."""
    if "rising" in part:
        return _trend(part, runs)
    first, second = runs[0], runs[1] if len(runs) > 1 else None
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
        for_.append(1.0 if second.never else least.p_value(low, 1))
        against.append(1.0 if first.never else most.p_value(low, -1))
    if high is not None:
        for_.append(most.p_value(high, -1))
        against.append(least.p_value(high, 1))
    p_values = max(for_), min(1.0, len(against) * min(against))
    shown = f"{first} against {second}" if first.open or second.open else ""
    never = second.never, first.never
    return Part(part.get("of", ""), seen, (low, high), *p_values, shown, never)


def _mean(values):
    values = finite_runs(list(values.values()))
    runs = len(values)
    se = float(values.std(ddof=1)) / math.sqrt(runs)
    return Difference(float(values.mean()), se, runs - 1, (runs,))


def _difference(first, second, paired):
    if paired:
        return _mean({run: first[run] - second[run] for run in first if run in second})
    a, b = (finite_runs(list(values.values())) for values in (first, second))
    va, vb = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    shares = va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)
    df = (va + vb) ** 2 / shares if shares > 0 else math.inf
    return Difference(float(a.mean() - b.mean()), math.sqrt(va + vb), df, (len(a), len(b)))


def _trend(part, columns):
    blocks = sorted(set.intersection(*(set(column.values) for column in columns)))
    table = np.array([[c.values[block] for c in columns] for block in blocks], dtype=float)
    stays = np.array([[block in c.open for c in columns] for block in blocks])
    never = tuple(
        next(filter(None, (column.never for column in some)), "")
        for some in (columns[:-1], columns[1:])
    )
    for_, against = (
        1.0 if why else _page(table[:, ::step], stays[:, ::step])
        for why, step in zip(never, (1, -1), strict=True)
    )
    moved = np.array([_rank_correlation(row) for row in table])
    # under chance a rank correlation has this spread
    spread = max(float(moved.std(ddof=1)), 1 / math.sqrt(len(columns) - 1))
    sizes = (len(table),)
    seen = Difference(float(moved.mean()), spread / math.sqrt(len(table)), math.inf, sizes)
    shown = ", ".join(map(str, columns)) if stays.any() else ""
    return Part(part.get("of", ""), seen, (0, None), for_, against, shown, never)


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
