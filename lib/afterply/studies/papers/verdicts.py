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
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from ...stats import MAX_DF, finite_runs, plain, t_quantile, together

REPRODUCED = "reproduced"
CONSISTENT = "consistent"
BETTER = "better"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
NOT_RUN = "not run"
NOT_A_TARGET = "not a target"
LABELS = (REPRODUCED, CONSISTENT, BETTER, NOT_REPRODUCED, INCONCLUSIVE, NOT_RUN, NOT_A_TARGET)
# a cell of several numbers has the first of these labels that one of its components has
ORDER_IN_CELLS = (NOT_REPRODUCED, INCONCLUSIVE, CONSISTENT, REPRODUCED)

MIN_RUNS = 3  # two runs that happen to be equal would pass for certainty
TEST_LEVEL = 0.05  # of each of the two one-sided tests, and of what is outside an interval
TOO_WIDE = 10  # margins: a wider half of an interval says too little for *consistent*
POWER = 0.8  # with which the number of runs that is given decides
# Nobody trains more than a thousand: they count as "no number of runs".
NUMBERS_OF_RUNS = np.arange(2, 1_001)
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
        has_margin = self.margin is not None and 0 < self.margin < math.inf
        self._require("value", math.isfinite(self.value), "finite")
        self._require("relation", self.relation in ("=", ">", "<"), "'=', '>' or '<'")
        self._require("margin", has_margin or self.is_bound, "positive and finite")
        self._require("sem", 0 <= self.sem < math.inf, "0 (none printed) or positive")
        self._require("runs", self.runs is None or self.runs >= 2, "at least 2 runs, or None")
        has_trainings = self.trainings is None or self.trainings >= 1
        self._require("trainings", has_trainings, "at least 1, or None")
        self._require("better", self.better in (None, "higher", "lower"), "higher or lower")

    def _require(self, name, is_good, needed):
        """Raise ValueError with the name of a field unless its value is good."""
        if not is_good:
            raise ValueError(f"published {name} is {getattr(self, name)!r}; it must be {needed}")

    @property
    def is_bound(self):
        """Whether it is a bound, "more than 80", rather than a value."""
        return self.relation != "="

    @property
    def outside(self):
        """The probability on either side of the interval that must leave the margin."""
        return TEST_LEVEL / 2 / self.components

    def error(self, mean, spread, runs):
        """Return the standard error: the printed one, or what our spread or a count tells.

        `mean` and `spread` (the standard deviation) are those of our runs, `runs` is their number.
        """
        if self.sem or self.is_bound:
            return self.sem
        error = 0.0
        if self.trainings:
            error = spread / math.sqrt(self.trainings)
        if self.counted:
            mean_of_all = (self.value + runs * mean) / (1 + runs)
            error_of_count = counting_error(mean_of_all, *self.counted, times=1 + runs)
            error = max(error, error_of_count)
        return error

    def freedom(self, spread, runs, error):
        """Return the degrees of freedom of the difference (Welch-Satterthwaite)."""
        total = spread**2 / runs + error**2
        takes_our_spread = self.trainings and not self.sem
        if total == 0.0 or takes_our_spread:
            return runs - 1
        # relative weights, so that tiny spreads do not underflow
        our_share = spread**2 / runs / total
        their_share = error**2 / total
        reciprocal = our_share**2 / (runs - 1)
        if self.runs:
            reciprocal += their_share**2 / (self.runs - 1)
        return 1 / reciprocal if reciprocal else math.inf

    def label(self, difference, test, half, surer):
        """Return the label of a difference.

        Parameters
        ----------
        difference : float
            Ours less the published value.
        test : float
            Half the width of the interval of the two one-sided tests (90%).
        half : float
            Half the width of the interval that must leave the margin (95%, of cells more).
        surer : bool
            Whether our mean is surer than the published value.
        """
        if self.is_bound:
            return self._label_of_bound(difference, test, half)
        distance = abs(difference)
        if distance + test < self.margin * (1 - ROUNDING):
            return REPRODUCED
        margin = self.margin * (1 + ROUNDING)
        if distance - half > margin:
            direction = "higher" if difference > 0 else "lower"
            return BETTER if self.better == direction else NOT_REPRODUCED
        if surer and distance <= half <= TOO_WIDE * margin:
            return CONSISTENT
        return INCONCLUSIVE

    def _label_of_bound(self, difference, test, half):
        """Return the label of a difference from a bound."""
        beyond = difference if self.relation == ">" else -difference
        # strict: equality to the bound in every run does not confirm it
        if beyond > test:
            return REPRODUCED
        return NOT_REPRODUCED if beyond < -half else INCONCLUSIVE

    def near(self, difference):
        """Return whether a difference is less than the margin."""
        return self.is_bound or abs(difference) < self.margin * (1 - ROUNDING)

    def stuck(self, values):
        """Say how many runs stand at the floor or at the cap, "" if none does."""
        at_floor = int(np.count_nonzero(values <= self.floor))
        if at_floor:
            where = f"at the floor of {plain(self.floor)}"
            return f"{at_floor} of {len(values)} runs stand {where} and may lie lower"
        at_cap = int(np.count_nonzero(values >= self.cap))
        if at_cap:
            where = f"at the cap of {plain(self.cap)}"
            return f"{at_cap} of {len(values)} runs stand {where} and may lie higher"
        return ""

    def runs_needed(self, difference, spread, error=0.0):
        """Return about how many runs of ours decide, were difference and spread the true ones."""
        if self.is_bound:
            distance = difference
            is_confirmed = difference != 0 and (difference > 0) == (self.relation == ">")
        else:
            distance = self.margin - abs(difference)
            is_confirmed = distance > 0
        level = TEST_LEVEL if is_confirmed else self.outside
        df = self.runs - 1 if self.runs else math.inf
        hidden = t_quantile(1 - level, df) * error
        return runs_for(abs(distance), level, spread, hidden)

    def explain(self, label, difference, test, half):
        """Return the difference in words, with the interval that decides; see `label`."""
        if self.is_bound:
            end = difference - test if self.relation == ">" else difference + test
            shown, bound = together((difference, end), "+")
            return f"difference {shown} from the bound, one-sided 95% bound {bound}"
        if label == REPRODUCED:
            percent = 90
            half = test
        else:
            percent = 100 - 200 * self.outside
        shown, low, high = together((difference, difference - half, difference + half), "+")
        relations = {
            REPRODUCED: "inside",
            INCONCLUSIVE: "straddles",
            CONSISTENT: "holds 0 and exceeds",
        }
        relation = relations.get(label, "beyond")
        interval = f"{percent:.3g}% interval [{low}, {high}]"
        return f"difference {shown}, {interval} {relation} ±{plain(self.margin)}"

    def remedy(self, needed, half, error):
        """Return what would decide, in words; `needed`: runs, or infinity."""
        if math.isfinite(needed):
            unit, blank, rest = self.each.partition(" ")
            return f"about {needed:,} {unit}s{blank}{rest} would decide"
        if self.is_bound or half <= self.margin:
            return "no number of runs decides at this difference"
        reason = f"the published value alone has a standard error of {plain(error)}"
        if self.trainings:
            reason = f"{self._published_trainings()} scatter by ±{plain(half)}"
        return f"no number of runs decides: {reason}, the margin is ±{plain(self.margin)}"

    def _published_trainings(self):
        """Return in words what the published value is: "single trainings", "means of 10 groups"."""
        unit = "training"
        if self.each != "run":
            unit = self.each.partition(" ")[0]
        if self.trainings == 1:
            return f"single {unit}s"
        return f"means of {self.trainings} {unit}s"


def verdict(
    ours, published, margin: float | None, published_sem=0.0, published_runs=None, **more
) -> Verdict:
    """Compare the mean over our runs with a published value or bound.

    A published cell of several numbers (win : draw : loss) is compared jointly: it is reproduced if
    every component is (an intersection-union test), not reproduced if any is at level
    5% / components (Bonferroni), consistent if every component is one of the two. The numbers are
    those of the component farthest away, or of an undecided cell those of the component that would
    decide it.

    Parameters
    ----------
    ours : array or dict
        float [runs]; of a cell component -> float [runs].
    published : float or dict
        The published value or bound; of a cell component -> value.
    margin, published_sem, published_runs, **more
        Fields of :class:`Published`; of a cell `published_sem` and `published_runs` are not used.

    Raises
    ------
    ValueError
        If a number is not finite or out of its range, or components differ.

    Source: Schuirmann (1987), two one-sided tests; the thresholds are this study's own.

    >>> verdict([50.1, 49.9, 50.0, 50.0], published=50.0, margin=2.0).label
    'reproduced'
    >>> verdict([50, 42, 46, 55], published=50.0, margin=2.0, trainings=1).label
    'consistent'
    """
    if isinstance(published, Mapping):
        return _joint_verdict(ours, published, margin, more)
    theirs = Published(published, margin, published_sem, published_runs, **more)
    values = finite_runs(ours)
    num_runs = len(values)
    mean = float(values.mean())
    difference = mean - published
    spread = float(values.std(ddof=1)) if num_runs > 1 else math.nan
    error = theirs.error(mean, spread, num_runs)
    se = math.sqrt(spread**2 / num_runs + error**2)
    df = theirs.freedom(spread, num_runs, error) if num_runs > 1 else 1
    test = t_quantile(1 - TEST_LEVEL, df) * se
    half = t_quantile(1 - theirs.outside, df) * se
    low = difference - half
    high = difference + half
    if num_runs < MIN_RUNS:
        text = f"{difference:+.4g}, but {num_runs} run(s) say too little of the spread"
        text += f"; run at least {MIN_RUNS}, better 10"
        return Verdict(INCONCLUSIVE, difference, low, high, MIN_RUNS, text)
    is_surer = spread / math.sqrt(num_runs) <= error * (1 + ROUNDING)
    label = theirs.label(difference, test, half, is_surer)
    stuck = theirs.stuck(values)
    if stuck and label in (REPRODUCED, CONSISTENT) and not theirs.near(difference):
        label = INCONCLUSIVE
    text = theirs.explain(label, difference, test, half)
    surprise = math.nan
    if label == CONSISTENT:
        surprise = _chance_of_such_a_difference(difference, se, df)
        text += f"; so far away by chance: p = {surprise:.2f}"
    if stuck:
        text += f"; {stuck}"
    if spread == 0.0:
        text += f"; all {num_runs} runs are equal, a rare failure would go unseen"
    needed = None
    if label == INCONCLUSIVE:
        needed = max(theirs.runs_needed(difference, spread, error), num_runs + 1)
        text += f"; {theirs.remedy(needed, half, error)}"
    return Verdict(label, difference, low, high, needed, text, surprise)


def _chance_of_such_a_difference(difference, se, df):
    """Return the two-sided p value of a difference."""
    if se == 0.0:
        return 1.0
    return 2 * float(stdtr(min(df, MAX_DF), -abs(difference) / se))


def _joint_verdict(ours, published, margin, more):
    """Return the verdict on a cell of several numbers; see `verdict`."""
    if set(ours) != set(published) or not published:
        components = f"components {sorted(ours)} of our results"
        raise ValueError(f"{components} are not the published ones {sorted(published)}")
    verdicts = {}
    for name, value in published.items():
        verdicts[name] = verdict(ours[name], value, margin, **more | {"components": len(published)})
    labels = [one.label for one in verdicts.values()]
    label = min(labels, key=ORDER_IN_CELLS.index)
    with_label = {name: one for name, one in verdicts.items() if one.label == label}
    if label == INCONCLUSIVE:
        name = _deciding_component(with_label, margin)
    else:
        name = max(with_label, key=lambda name: abs(with_label[name].difference))
    explanation = f"{name}: {verdicts[name].explanation}"
    return replace(verdicts[name], label=label, explanation=explanation)


def _deciding_component(verdicts, margin):
    """Return the name of the component that will decide an inconclusive cell."""
    # One component beyond the margin is enough for *not reproduced*: the first to be excluded
    # decides. Within the margin all must be reproduced, and the last one decides.
    runs_needed = {name: one.runs_needed for name, one in verdicts.items()}
    beyond = [name for name, one in verdicts.items() if abs(one.difference) > margin]
    if beyond:
        return min(beyond, key=runs_needed.get)
    return max(runs_needed, key=runs_needed.get)


def runs_for(distance: float, level: float, spread: float, hidden: float = 0.0) -> float:
    """Return about how many runs show a distance at a one-sided level, with power 80%.

    `spread` is the standard deviation of the runs; `hidden` is the distance that an error hides
    which does not shrink with more runs. Infinity means that no number of runs is enough.
    """
    if distance <= 0:
        return math.inf
    error = spread / np.sqrt(NUMBERS_OF_RUNS)
    shown_from = np.hypot(_quantiles(level) * error, hidden) + ndtri(POWER) * error
    is_enough = shown_from <= distance
    if not is_enough.any():
        return math.inf
    return int(NUMBERS_OF_RUNS[is_enough.argmax()])


@lru_cache
def _quantiles(level):
    """Return the quantiles of Student's t at a one-sided level, of each number of runs."""
    return stdtrit(NUMBERS_OF_RUNS - 1, 1 - level)


def counting_error(value: float, games: int, whole: float, times: int = 1) -> float:
    """Return the binomial standard error of a count of games (Laplace).

    `value` is the mean of `times` such counts, each of `games` games; `whole` is what all games are
    in its unit: 100 of a percentage.
    """
    share = (value / whole * games * times + 1) / (games * times + 2)
    return whole * math.sqrt(share * (1 - share) / games)
