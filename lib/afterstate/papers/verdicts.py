"""The verdict on a published value.

The unit of replication is the run: one independent training with its own seed. A verdict compares
the mean of our runs with a published value by two one-sided tests (TOST) at 5% and a 95% interval,
both of which include the published standard error:

    difference = mean(ours) - published
    se^2       = sd(ours)^2 / n + published_sem^2      degrees of freedom: Welch-Satterthwaite

    -margin                 0                 +margin
       |---------[====90%====]-----------------|             reproduced: the 90% interval is inside
       |                                       |  [==95%==]  better (if marked so), not reproduced
       |                              [======95%=|=====]     inconclusive: the number of runs that
       |                                       |             would decide is given

Where the printed uncertainty alone spans the margin no number of runs decides. Then the verdict is
*consistent* if the 95% interval of the difference holds 0 and our standard error is not above the
printed one. A printed count of games has its binomial error, at the printed share or at ours,
whichever is larger; it is far from normal near 0 and near all games, so a count is *consistent* if
an exact binomial test does not refuse it (`count_p`).

If all runs are equal the spread is taken as zero: a failure in one run of twenty stays unseen.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtr, ndtr

from ..stats import finite_runs, plain, t_quantile, together

REPRODUCED, NOT_REPRODUCED, BETTER = "reproduced", "not reproduced", "better"
CONSISTENT, INCONCLUSIVE = "consistent", "inconclusive"
NOT_RUN, NOT_A_TARGET = "not run", "not a target"
LABELS = (REPRODUCED, CONSISTENT, BETTER, NOT_REPRODUCED, INCONCLUSIVE, NOT_RUN, NOT_A_TARGET)

MIN_RUNS = 3  # two runs that happen to be equal would pass for certainty
TEST_LEVEL = 0.05  # of each of the two one-sided tests
EXCLUSION_LEVEL = 0.95  # of the interval that must leave the margin
POWER = 0.8  # with which `runs_needed` runs decide
MAX_RUNS = 100_000  # more runs than this count as "no number of runs"
# 0.30 - 0.33 is not -0.03 in binary: a value printed on the margin counts as inside
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What the runs say about one published value."""

    label: str  # one of `LABELS`
    difference: float  # ours - published
    low: float  # of its 95% interval; NaN for a single run
    high: float
    runs_needed: float | None  # None if decided, infinity if no number decides
    explanation: str


@dataclass(frozen=True)
class Rule:
    """How a difference is judged: all but our runs; see :func:`verdict`."""

    margin: float | None
    published_sem: float = 0.0
    published_runs: int | None = None
    better: str | None = None
    relation: str = "="
    exclusion_level: float = EXCLUSION_LEVEL
    shared_spread: bool = False
    counted: tuple | None = None
    consistent: bool = True

    def __post_init__(self):
        runs, single = self.published_runs, self.relation == "="
        positive = self.margin is not None and 0 < self.margin < math.inf
        for good, name, needed in (
            (self.relation in ("=", ">", "<"), "relation", "'=', '>' or '<'"),
            (positive or not single, "margin", "positive and finite"),
            (0 <= self.published_sem < math.inf, "published_sem", "0 (none printed) or positive"),
            (0 < self.exclusion_level < 1, "exclusion_level", "between 0 and 1, as 0.95"),
            (runs is None or runs >= 2, "published_runs", "at least 2 runs, or None"),
            (self.better in (None, "higher", "lower"), "better", "higher or lower"),
        ):
            if not good:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be {needed}")

    def beside(self, mean, spread, runs, published):
        """Return the rule with the published error that our runs, or a count of games, tell."""
        if self.shared_spread:
            error = spread / math.sqrt(self.published_runs)
        elif self.counted:
            theirs, ours = (
                counting_error(value, *self.counted, times=times)
                for value, times in ((published, 1), (mean, runs))
            )
            error = max(theirs, ours)
        else:
            return self
        return replace(self, published_sem=error, published_runs=None)

    def error(self, spread, runs):
        """Return the standard error of the difference, and its degrees of freedom by Welch."""
        ours, theirs = spread**2 / runs, self.published_sem**2
        if ours + theirs == 0.0:
            return 0.0, math.inf
        if self.shared_spread:  # known from our runs only
            return math.sqrt(ours + theirs), runs - 1
        # Relative weights, so that tiny spreads do not underflow.
        ours, theirs, total = ours / (ours + theirs), theirs / (ours + theirs), ours + theirs
        share = ours**2 / (runs - 1) + (
            theirs**2 / (self.published_runs - 1) if self.published_runs else 0.0
        )
        return math.sqrt(total), 1 / share if share else math.inf

    @property
    def alone(self):
        """What the printed error alone spans."""
        df = self.published_runs - 1 if self.published_runs else math.inf
        return t_quantile(1 - TEST_LEVEL, df) * self.published_sem

    @property
    def printed_too_wide(self):
        """Whether the printed error alone spans the margin."""
        return self.relation == "=" and self.alone >= self.margin

    def thresholds(self, se, df):
        """Return where "reproduced" ends (a bound: begins), and where "not reproduced" begins."""
        test = t_quantile(1 - TEST_LEVEL, df) * se
        exclusion = t_quantile((1 + self.exclusion_level) / 2, df) * se
        if self.relation == "=":
            margin = self.margin * (1 + ROUNDING)
            return margin - test, margin + exclusion
        return test, -exclusion

    def label(self, difference, se, df):
        """Return the label of a difference."""
        inner, outer = self.thresholds(se, df)
        if self.relation == "=":
            if abs(difference) <= inner:
                return REPRODUCED
            if abs(difference) <= outer:
                return INCONCLUSIVE
            good = self.better == ("higher" if difference > 0 else "lower")
            return BETTER if good else NOT_REPRODUCED
        signed = difference if self.relation == ">" else -difference
        # A strict inequality: equality to the bound in every run does not confirm it.
        return REPRODUCED if signed > inner else NOT_REPRODUCED if signed < outer else INCONCLUSIVE

    def power(self, difference, spread, runs):
        """Return the probability of a decision, were difference and spread the true ones."""
        # The observed mean varies with our runs only: the published number will not be drawn again.
        inner, outer = self.thresholds(*self.error(spread, runs))
        scale = max(spread / math.sqrt(runs), 1e-300)
        if self.relation == "=":
            inside = 0.0
            if inner > 0:
                inside = ndtr((inner - difference) / scale) - ndtr((-inner - difference) / scale)
            return inside + ndtr((difference - outer) / scale) + ndtr((-outer - difference) / scale)
        difference = difference if self.relation == ">" else -difference
        return ndtr((difference - inner) / scale) + ndtr((outer - difference) / scale)

    def runs_needed(self, difference: float, spread: float) -> float:
        """Return the number of runs that decide with power 80%, were both numbers the true ones.

        Infinity if the published standard error, which does not shrink, keeps it open.

        >>> Rule(margin=2.0).runs_needed(difference=0.0, spread=2.0)
        10
        """
        many = 2
        while self.power(difference, spread, many) < POWER:
            if many > MAX_RUNS:
                return math.inf
            many *= 2
        few = many // 2
        while many - few > 1:
            middle = (few + many) // 2
            decides = self.power(difference, spread, middle) >= POWER
            few, many = (few, middle) if decides else (middle, many)
        return many

    def explain(self, label, difference, low, high, se, df):
        """Return the difference in words, with the interval that decides."""
        half = t_quantile(1 - TEST_LEVEL, df) * se
        if self.relation != "=":
            bound = difference - half if self.relation == ">" else difference + half
            found, bound = together((difference, bound), "+")
            return f"difference {found} from the bound, one-sided 95% bound {bound}"
        level = 0.9 if label == REPRODUCED else self.exclusion_level
        ends = (difference - half, difference + half) if label == REPRODUCED else (low, high)
        found, low, high = together((difference, *ends), "+")
        text = f"difference {found}, {100 * level:.3g}% interval [{low}, {high}]"
        margin = f"±{plain(self.margin)}"
        if label == CONSISTENT:
            return f"{text}; the printed error alone spans the margin {margin}"
        where = {REPRODUCED: "inside", INCONCLUSIVE: "straddles"}.get(label, "beyond")
        return f"{text} {where} {margin}"

    def remedy(self, needed):
        """Return what would decide."""
        if math.isfinite(needed):
            return f"about {needed:,} runs would decide"
        if self.printed_too_wide:
            return (
                "no number of runs decides: the published standard error alone spans"
                f" ±{plain(self.alone)}, the margin is ±{plain(self.margin)}"
            )
        return "no number of runs decides at this difference"


def verdict(
    ours, published, margin: float | None, published_sem=0.0, published_runs=None, **rule
) -> Verdict:
    """Compare the mean over our runs with a published value or bound.

    A published cell of several numbers (win : draw : loss) is compared jointly: it is reproduced if
    every component is (an intersection-union test), not reproduced if any is at level
    5% / components (Bonferroni), consistent if every component is one of the two. The numbers are
    those of the component farthest away, or of an undecided cell those of the component that would
    decide it.

    Parameters
    ----------
    ours : float[runs]
        In the unit of the published value; of a cell component -> float[runs].
    published : float
        Of a cell component -> float.
    margin : float
        Differences up to the margin, > 0, do not matter; a bound has none.
    published_sem, published_runs : float and int, optional
        The printed standard error of the mean, and the runs behind it (default: known exactly).
    better : "higher", "lower" or None
        The direction in which leaving the margin is good.
    relation : "=", ">" or "<"
        A value, or a bound, which is reproduced if the one-sided 95% bound of the difference
        confirms it, not reproduced if the 95% interval contradicts it.
    exclusion_level : float, 0..1
        Of the interval that must leave the margin.
    shared_spread : bool
        The published mean of `published_runs` runs has no printed spread: ours is taken for it.
    counted : (int, float), optional
        The published value is a count: its number of games, and what all of them are in its unit.
    consistent : bool
        Whether that verdict is given; else *inconclusive* in its place.

    Raises ValueError for arguments that no published value can have.

    Source: Schuirmann (1987), two one-sided tests; the thresholds are this study's own.

    >>> verdict([50.1, 49.9, 50.0, 50.0], published=50.0, margin=2.0).label
    'reproduced'
    """
    if isinstance(published, Mapping):
        return _joint(ours, published, margin, rule)
    values, rule = finite_runs(ours), Rule(margin, published_sem, published_runs, **rule)
    if not math.isfinite(published):
        raise ValueError(f"published is {published}; a value to compare with must be finite")
    runs, mean = len(values), float(values.mean())
    difference = mean - published
    if runs == 1:
        return _few(difference, math.nan, math.nan, "one run has no spread")
    spread = float(values.std(ddof=1))
    rule = rule.beside(mean, spread, runs, published)
    se, df = rule.error(spread, runs)
    half = t_quantile((1 + rule.exclusion_level) / 2, df) * se
    low, high = difference - half, difference + half
    if runs < MIN_RUNS:
        return _few(difference, low, high, f"{runs} runs say too little of the spread")
    label, needed, p = rule.label(difference, se, df), None, None
    # ours must not be the wider one: two imprecise numbers do not agree by that
    precise = spread / math.sqrt(runs) <= rule.published_sem * (1 + ROUNDING)
    if rule.consistent and label == INCONCLUSIVE and rule.printed_too_wide and precise:
        p = count_p(values, published, *rule.counted) if rule.counted else None
        if low <= 0 <= high if p is None else p >= 1 - rule.exclusion_level:
            label = CONSISTENT
    text = rule.explain(label, difference, low, high, se, df)
    if p is not None:
        text += f"; exact test of the count against our share: p = {p:.1g}"
    if spread == 0.0:
        text += f"; all {runs} runs are equal, a rare failure would go unseen"
    if label == INCONCLUSIVE:
        needed = max(rule.runs_needed(difference, spread), runs + 1)
        text += "; " + rule.remedy(needed)
    return Verdict(label, difference, low, high, needed, text)


def _few(difference, low, high, why):
    text = f"{difference:+.4g}, but {why}; run at least {MIN_RUNS}, better 10"
    return Verdict(INCONCLUSIVE, difference, low, high, MIN_RUNS, text)


def _joint(ours, published, margin, rule):
    if set(ours) != set(published) or not published:
        there = f"components {sorted(ours)} of our results"
        raise ValueError(f"{there} are not the published ones {sorted(published)}")
    rule = rule | {"exclusion_level": 1 - (1 - EXCLUSION_LEVEL) / len(published)}
    parts = {name: verdict(ours[name], value, margin, **rule) for name, value in published.items()}
    labels = {part.label for part in parts.values()}
    label = INCONCLUSIVE
    if NOT_REPRODUCED in labels:
        label = NOT_REPRODUCED
    elif labels <= {CONSISTENT, REPRODUCED}:
        label = CONSISTENT if CONSISTENT in labels else REPRODUCED
    such = {name: part for name, part in parts.items() if part.label == label}
    if label == INCONCLUSIVE:
        # One component beyond the margin is enough for *not reproduced*: the first to be excluded
        # decides. Within the margin all must be reproduced, and the last one decides.
        needed = {name: part.runs_needed for name, part in such.items()}
        beyond = [name for name, part in such.items() if abs(part.difference) > margin]
        worst = min(beyond, key=needed.get) if beyond else max(needed, key=needed.get)
    else:
        worst = max(such, key=lambda name: abs(such[name].difference))
    return replace(parts[worst], label=label, explanation=f"{worst}: {parts[worst].explanation}")


def counting_error(value: float, games: int, whole: float, times: int = 1) -> float:
    """Return the standard error of a count of games, in the unit in which all games are `whole`.

    Binomial, with one success and one failure added (Laplace). The value is the mean of `times`
    such counts.

    >>> round(counting_error(50, 100, 100), 2), round(counting_error(0, 100, 100), 2)
    (5.0, 0.99)
    """
    share = (value / whole * games * times + 1) / (games * times + 2)
    return whole * math.sqrt(share * (1 - share) / games)


def points_error(cells) -> float:
    """Return the standard error of 3 points a win and 1 a draw, over cells (counts, games)."""
    variance = 0.0
    for counts, games in cells:
        shares = {name: (n + 1) / (games + 3) for name, n in counts.items()}
        wins, draws = shares.get("wins", 0.0), shares.get("draws", 0.0)
        variance += games * (9 * wins + draws - (3 * wins + draws) ** 2)
    return math.sqrt(variance)


def count_p(values, count: float, games: int, whole: float) -> float:
    """Return the p value of a printed count, if the share of success is what our runs have.

    It is that of an exact two-sided binomial test at the share in the 95% interval of our mean that
    suits the count best; our spread is at least that of as many games. `values` [runs] are ours, in
    the unit in which all games are `whole`, `count` is printed for a number of `games`.

    >>> round(count_p([97.0] * 10, 94, 100, 100), 2), count_p([100.0] * 10, 94, 100, 100) < 1e-6
    (0.5, True)
    """
    shares = np.asarray(values, dtype=float) / whole
    runs, mean = len(shares), float(shares.mean())
    spread = max(float(shares.std(ddof=1)), counting_error(mean, games, 1, runs))
    half = t_quantile(0.975, runs - 1) * spread / math.sqrt(runs)
    share = min(max(count / whole, mean - half, 0.0), mean + half, 1.0)
    successes = round(count / whole * games)
    above = 1.0 - bdtr(successes - 1, games, share) if successes > 0 else 1.0
    return float(min(1.0, 2 * min(bdtr(successes, games, share), above)))
