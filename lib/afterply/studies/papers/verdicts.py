"""The verdict on a published value.

The unit of replication is the run: one independent training with its own seed. A verdict compares
the mean of our n runs with a published value that is itself a mean of m trainings, often of one:

    difference = mean(ours) - published
    se^2       = sd(ours)^2 / n + published_sem^2      degrees of freedom: Welch-Satterthwaite
    se^2       = sd(ours)^2 (1 / n + 1 / m)            n - 1, where the paper prints no error

    -margin                 0                 +margin
       |---------[====90%====]-----------------|             reproduced: the 90% interval is inside
       |                                       |  [==95%==]  better (if marked so), not reproduced
       |                              [======95%=|=====]     inconclusive: the number of runs that
       |                                       |             would decide is given
    [==|=====================95%===============|======]      consistent: the published value is too
                                                             uncertain to say more

In the second line the spread of our runs stands for the one that is not printed: the interval is
that of the difference between a mean of ours and a mean of m new trainings, for m = 1 a prediction
interval. The spread is at least the binomial error of a published count of games, at the share that
both together have. *Consistent* needs 0 in the interval and that our mean is the surer one: then m
trainings of ours could well have given the published value. That says too little if half of the
interval exceeds ten margins (20 points of a win rate): the verdict stays *inconclusive*.

If all runs are equal the spread is taken as zero: a failure in one run of twenty stays unseen.

A measure may have a floor or a cap, such as the first checkpoint at which a training can be seen to
have converged. Runs that stand there may lie beyond: the verdict says so, and is no agreement
unless the printed value differs by less than the margin.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from ...stats import MAX_DF, finite_runs, plain, t_quantile, together

REPRODUCED, NOT_REPRODUCED, BETTER = "reproduced", "not reproduced", "better"
CONSISTENT, INCONCLUSIVE = "consistent", "inconclusive"
NOT_RUN, NOT_A_TARGET = "not run", "not a target"
LABELS = (REPRODUCED, CONSISTENT, BETTER, NOT_REPRODUCED, INCONCLUSIVE, NOT_RUN, NOT_A_TARGET)

MIN_RUNS = 3  # two runs that happen to be equal would pass for certainty
TEST_LEVEL = 0.05  # of each of the two one-sided tests, and of what is outside an interval
TOO_WIDE = 10  # margins: a wider half of an interval says too little for *consistent*
POWER = 0.8  # with which the number of runs that is given decides
MAX_RUNS = 1_000  # nobody trains more: they count as "no number of runs"
# 0.30 - 0.33 is not -0.03 in binary: a value printed on the margin is neither inside nor beyond
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
    surprise: float = math.nan  # of a consistent one: the chance of a value so far from ours


@dataclass(frozen=True)
class Published:
    """A published number, and all that is known of it."""

    value: float
    margin: float | None  # differences up to it, > 0, do not matter; a bound has none
    sem: float = 0.0  # the printed standard error of the mean, and the runs behind it
    runs: int | None = None
    trainings: int | None = None  # behind a value without an error: our spread is taken for theirs
    counted: tuple | None = None  # of a count: its number of games, and what all are in its unit
    better: str | None = None  # "higher" or "lower": where leaving the margin is good
    relation: str = "="  # or ">", "<": a bound, which the one-sided 95% bound must confirm
    components: int = 1  # of the cell in which it stands
    floor: float = -math.inf  # the least and the most that a run can be seen to have
    cap: float = math.inf
    each: str = "run"  # what is one unit of ours: a run, or a group of runs

    def __post_init__(self):
        positive = self.margin is not None and 0 < self.margin < math.inf
        for good, name, needed in (
            (math.isfinite(self.value), "value", "finite"),
            (self.relation in ("=", ">", "<"), "relation", "'=', '>' or '<'"),
            (positive or self.relation != "=", "margin", "positive and finite"),
            (0 <= self.sem < math.inf, "sem", "0 (none printed) or positive"),
            (self.runs is None or self.runs >= 2, "runs", "at least 2 runs, or None"),
            (self.trainings is None or self.trainings >= 1, "trainings", "at least 1, or None"),
            (self.better in (None, "higher", "lower"), "better", "higher or lower"),
        ):
            if not good:
                raise ValueError(
                    f"published {name} is {getattr(self, name)!r}; it must be {needed}"
                )

    @property
    def outside(self):
        """The probability on either side of the interval that must leave the margin."""
        return TEST_LEVEL / 2 / self.components

    def error(self, mean, spread, runs):
        """Return the standard error: the printed one, or what our spread or a count tells."""
        if self.sem or self.relation != "=":
            return self.sem
        error = spread / math.sqrt(self.trainings) if self.trainings else 0.0
        if self.counted:
            share = (self.value + runs * mean) / (1 + runs)
            error = max(error, counting_error(share, *self.counted, times=1 + runs))
        return error

    def freedom(self, spread, runs, error):
        """Return the degrees of freedom of the difference (Welch-Satterthwaite)."""
        total = spread**2 / runs + error**2
        if total == 0.0 or (self.trainings and not self.sem):
            return runs - 1
        # relative weights, so that tiny spreads do not underflow
        ours, theirs = spread**2 / runs / total, error**2 / total
        share = ours**2 / (runs - 1) + (theirs**2 / (self.runs - 1) if self.runs else 0.0)
        return 1 / share if share else math.inf

    def label(self, difference, test, half, surer):
        """Return the label of a difference; `surer`: whether our mean is, than the published."""
        if self.relation != "=":
            signed = difference if self.relation == ">" else -difference
            # strict: equality to the bound in every run does not confirm it
            if signed > test:
                return REPRODUCED
            return NOT_REPRODUCED if signed < -half else INCONCLUSIVE
        away, margin = abs(difference), self.margin * (1 + ROUNDING)
        if away + test < self.margin * (1 - ROUNDING):
            return REPRODUCED
        if away - half > margin:
            good = self.better == ("higher" if difference > 0 else "lower")
            return BETTER if good else NOT_REPRODUCED
        agrees = surer and away <= half <= TOO_WIDE * margin
        return CONSISTENT if agrees else INCONCLUSIVE

    def near(self, difference):
        """Return whether a difference is less than the margin."""
        return self.relation != "=" or abs(difference) < self.margin * (1 - ROUNDING)

    def stuck(self, values):
        """Say how many runs stand at the floor or at the cap, "" if none does."""
        for end, name, beyond in (
            (self.floor, "floor", values <= self.floor),
            (self.cap, "cap", values >= self.cap),
        ):
            if number := int(np.count_nonzero(beyond)):
                less = "lower" if name == "floor" else "higher"
                where = f"at the {name} of {plain(end)}"
                return f"{number} of {len(values)} runs stand {where} and may lie {less}"
        return ""

    def runs_needed(self, difference, spread, error=0.0):
        """Return about how many runs of ours decide, were difference and spread the true ones."""
        ahead = self.margin - abs(difference) if self.relation == "=" else abs(difference)
        inside = ahead > 0 and (self.relation == "=" or (difference > 0) == (self.relation == ">"))
        level = TEST_LEVEL if inside else self.outside
        df = self.runs - 1 if self.runs else math.inf
        return runs_for(abs(ahead), level, spread, t_quantile(1 - level, df) * error)

    def explain(self, label, difference, test, half):
        """Return the difference in words, with the interval that decides."""
        if self.relation != "=":
            bound = difference - test if self.relation == ">" else difference + test
            found, bound = together((difference, bound), "+")
            return f"difference {found} from the bound, one-sided 95% bound {bound}"
        level, half = (90, test) if label == REPRODUCED else (100 - 200 * self.outside, half)
        found, low, high = together((difference, difference - half, difference + half), "+")
        where = {REPRODUCED: "inside", INCONCLUSIVE: "straddles", CONSISTENT: "holds 0 and exceeds"}
        text = f"difference {found}, {level:.3g}% interval [{low}, {high}]"
        return f"{text} {where.get(label, 'beyond')} ±{plain(self.margin)}"

    def remedy(self, needed, half, error):
        """Return what would decide."""
        if math.isfinite(needed):
            each, _, of = self.each.partition(" ")
            return f"about {needed:,} {each}s {of} would decide".replace("  ", " ")
        if self.relation != "=" or half <= self.margin:
            return "no number of runs decides at this difference"
        printed = f"the published value alone has a standard error of {plain(error)}"
        if many := self.trainings:
            one = "training" if self.each == "run" else self.each.partition(" ")[0]
            who = f"single {one}s" if many == 1 else f"means of {many} {one}s"
            printed = f"{who} scatter by ±{plain(half)}"
        return f"no number of runs decides: {printed}, the margin is ±{plain(self.margin)}"


def verdict(
    ours, published, margin: float | None, published_sem=0.0, published_runs=None, **more
) -> Verdict:
    """Compare the mean over our runs with a published value or bound.

    A published cell of several numbers (win : draw : loss) is compared jointly: it is reproduced if
    every component is (an intersection-union test), not reproduced if any is at level
    5% / components (Bonferroni), consistent if every component is one of the two. The numbers are
    those of the component farthest away, or of an undecided cell those of the component that would
    decide it.

    `ours` are float[runs], of a cell component -> float[runs]; `more`: fields of `Published`.
    Source: Schuirmann (1987), two one-sided tests; the thresholds are this study's own.

    >>> verdict([50.1, 49.9, 50.0, 50.0], published=50.0, margin=2.0).label
    'reproduced'
    >>> verdict([50, 42, 46, 55], published=50.0, margin=2.0, trainings=1).label
    'consistent'
    """
    if isinstance(published, Mapping):
        return _joint(ours, published, margin, more)
    theirs = Published(published, margin, published_sem, published_runs, **more)
    values = finite_runs(ours)
    runs, mean = len(values), float(values.mean())
    difference = mean - published
    spread = float(values.std(ddof=1)) if runs > 1 else math.nan
    error = theirs.error(mean, spread, runs)
    se = math.sqrt(spread**2 / runs + error**2)
    df = theirs.freedom(spread, runs, error) if runs > 1 else 1
    test, half = (t_quantile(1 - level, df) * se for level in (TEST_LEVEL, theirs.outside))
    ends = difference - half, difference + half
    if runs < MIN_RUNS:
        few = f"{difference:+.4g}, but {runs} run(s) say too little of the spread"
        text = f"{few}; run at least {MIN_RUNS}, better 10"
        return Verdict(INCONCLUSIVE, difference, *ends, MIN_RUNS, text)
    surer = spread / math.sqrt(runs) <= error * (1 + ROUNDING)
    label, needed, surprise = theirs.label(difference, test, half, surer), None, math.nan
    stuck = theirs.stuck(values)
    if stuck and label in (REPRODUCED, CONSISTENT) and not theirs.near(difference):
        label = INCONCLUSIVE
    text = theirs.explain(label, difference, test, half)
    if label == CONSISTENT:
        surprise = 2 * float(stdtr(min(df, MAX_DF), -abs(difference) / se)) if se else 1.0
        text += f"; so far away by chance: p = {surprise:.2f}"
    if stuck:
        text += f"; {stuck}"
    if spread == 0.0:
        text += f"; all {runs} runs are equal, a rare failure would go unseen"
    if label == INCONCLUSIVE:
        needed = max(theirs.runs_needed(difference, spread, error), runs + 1)
        text += "; " + theirs.remedy(needed, half, error)
    return Verdict(label, difference, *ends, needed, text, surprise)


def _joint(ours, published, margin, more):
    if set(ours) != set(published) or not published:
        there = f"components {sorted(ours)} of our results"
        raise ValueError(f"{there} are not the published ones {sorted(published)}")
    more = more | {"components": len(published)}
    parts = {name: verdict(ours[name], value, margin, **more) for name, value in published.items()}
    order = NOT_REPRODUCED, INCONCLUSIVE, CONSISTENT, REPRODUCED
    label = min((part.label for part in parts.values()), key=order.index)
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


def runs_for(distance: float, level: float, spread: float, hidden: float = 0.0) -> float:
    """Return about how many runs show a distance at a one-sided level, with power 80%."""
    # hidden: what an error that does not shrink hides; infinity if that is too much
    runs = np.arange(2, MAX_RUNS + 1)
    ours = spread / np.sqrt(runs)
    needed = np.hypot(stdtrit(runs - 1, 1 - level) * ours, hidden) + ndtri(POWER) * ours
    shown = needed <= distance
    return int(runs[shown.argmax()]) if shown.any() and distance > 0 else math.inf


def counting_error(value: float, games: int, whole: float, times: int = 1) -> float:
    """Return the binomial standard error of a count of games (Laplace); `whole`: all of them."""
    # the value is the mean of `times` such counts
    share = (value / whole * games * times + 1) / (games * times + 2)
    return whole * math.sqrt(share * (1 - share) / games)
