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
an exact binomial test does not refuse it (`counted_games.count_p`).

If all runs are equal the spread is taken as zero: a failure in one run of twenty stays unseen.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from scipy.special import ndtr

from ..stats import finite_runs, plain, t_quantile, together
from .counted_games import count_p, counting_error

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
    """How a difference is judged: all but our runs."""

    margin: float | None
    sem: float = 0.0
    runs: int | None = None
    better: str | None = None
    relation: str = "="
    level: float = EXCLUSION_LEVEL
    shared: bool = False

    def __post_init__(self):
        runs, single = self.runs, self.relation == "="
        positive = self.margin is not None and 0 < self.margin < math.inf
        for good, name, value, needed in (
            (self.relation in ("=", ">", "<"), "relation", self.relation, "'=', '>' or '<'"),
            (positive or not single, "margin", self.margin, "positive and finite"),
            (0 <= self.sem < math.inf, "published_sem", self.sem, "0 (none printed) or positive"),
            (0 < self.level < 1, "exclusion_level", self.level, "between 0 and 1, as 0.95"),
            (runs is None or runs >= 2, "published_runs", runs, "at least 2 runs, or None"),
            (self.better in (None, "higher", "lower"), "better", self.better, "higher or lower"),
        ):
            if not good:
                raise ValueError(f"{name} is {value!r}; it must be {needed}")

    def error(self, spread, runs):
        """Return the standard error of the difference, and its degrees of freedom by Welch."""
        ours, theirs = spread**2 / runs, self.sem**2
        if ours + theirs == 0.0:
            return 0.0, math.inf
        if self.shared:  # known from our runs only
            return math.sqrt(ours + theirs), runs - 1
        # Relative weights, so that tiny spreads do not underflow.
        ours, theirs, total = ours / (ours + theirs), theirs / (ours + theirs), ours + theirs
        share = ours**2 / (runs - 1) + (theirs**2 / (self.runs - 1) if self.runs else 0.0)
        return math.sqrt(total), 1 / share if share else math.inf

    def alone(self):
        """Return what the printed error alone spans."""
        df = self.runs - 1 if self.runs else math.inf
        return t_quantile(1 - TEST_LEVEL, df) * self.sem

    def thresholds(self, se, df):
        """Return where "reproduced" ends (a bound: begins), and where "not reproduced" begins."""
        test = t_quantile(1 - TEST_LEVEL, df) * se
        exclusion = t_quantile((1 + self.level) / 2, df) * se
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
        level = 0.9 if label == REPRODUCED else self.level
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
        if self.relation == "=" and self.alone() >= self.margin:
            return (
                "no number of runs decides: the published standard error alone spans"
                f" ±{plain(self.alone())}, the margin is ±{plain(self.margin)}"
            )
        return "no number of runs decides at this difference"


def verdict(
    ours,
    published: float,
    margin: float,
    published_sem: float = 0.0,
    published_runs: int | None = None,
    better: str | None = None,
    relation: str = "=",
    exclusion_level: float = EXCLUSION_LEVEL,
    shared_spread: bool = False,
    counted: tuple | None = None,
    consistent: bool = True,
) -> Verdict:
    """Compare the mean over our runs with a published value or bound.

    Parameters
    ----------
    ours : float[runs]
        In the unit of the published value.
    published, margin : float
        Differences up to the margin, > 0, do not matter.
    published_sem, published_runs : float and int, optional
        The printed standard error of the mean, and the runs behind it (default: known exactly).
    better : "higher", "lower" or None
        The direction in which leaving the margin is good.
    relation : "=", ">" or "<"
        A value, or a bound, whose margin is not used: it is reproduced if the one-sided 95% bound
        of the difference confirms it, not reproduced if the 95% interval contradicts it.
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
    values = finite_runs(ours)
    if not math.isfinite(published):
        raise ValueError(f"published is {published}; a value to compare with must be finite")
    how = (better, relation, exclusion_level, shared_spread)
    rule = Rule(margin, published_sem, published_runs, *how)
    runs, difference = len(values), float(values.mean()) - published
    if runs == 1:
        return _few(difference, math.nan, math.nan, "one run has no spread")
    spread = float(values.std(ddof=1))
    if shared_spread:
        rule = replace(rule, sem=spread / math.sqrt(published_runs), runs=None)
    if counted:
        at_ours = counting_error(float(values.mean()), *counted, times=runs)
        rule = replace(rule, sem=max(counting_error(published, *counted), at_ours), runs=None)
    se, df = rule.error(spread, runs)
    half = t_quantile((1 + exclusion_level) / 2, df) * se
    low, high = difference - half, difference + half
    label = rule.label(difference, se, df)
    if runs < MIN_RUNS:
        return _few(difference, low, high, f"{runs} runs say too little of the spread")
    printed_too_wide = relation == "=" and rule.alone() >= margin
    # ours must not be the wider one: two imprecise numbers do not agree by that
    precise = spread / math.sqrt(runs) <= rule.sem * (1 + ROUNDING)
    needed = p = None
    if consistent and label == INCONCLUSIVE and printed_too_wide and precise:
        p = count_p(values, published, *counted) if counted else None
        if low <= 0 <= high if p is None else p >= 1 - exclusion_level:
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


def verdict_joint(
    ours: Mapping[str, object],
    published: Mapping[str, float],
    margin: float,
    counted: tuple | None = None,
    consistent: bool = True,
) -> Verdict:
    """Compare a published cell of several numbers (win : draw : loss) with ours, jointly.

    It is reproduced if every component is (an intersection-union test), not reproduced if any is at
    level 5% / components (Bonferroni), consistent if every component is one of reproduced and
    consistent. The numbers are those of the component farthest away, or of an undecided cell those
    of the component that would decide it. `ours` are component -> float[runs], `published` the same
    components -> number; for the rest see :func:`verdict`.

    >>> ours, published = {"wins": [9, 9, 9], "losses": [1, 1, 1]}, {"wins": 9, "losses": 1}
    >>> verdict_joint(ours, published, margin=2).label
    'reproduced'
    """
    if set(ours) != set(published) or not published:
        raise ValueError(
            f"components {sorted(ours)} of our results are not the published ones"
            f" {sorted(published)}"
        )
    level = 1 - (1 - EXCLUSION_LEVEL) / len(published)
    how = {"exclusion_level": level, "counted": counted, "consistent": consistent}
    parts = {name: verdict(ours[name], published[name], margin, **how) for name in published}
    labels = {part.label for part in parts.values()}
    label = INCONCLUSIVE
    if NOT_REPRODUCED in labels:
        label = NOT_REPRODUCED
    elif labels <= {CONSISTENT, REPRODUCED}:
        label = CONSISTENT if CONSISTENT in labels else REPRODUCED
    if label == INCONCLUSIVE:
        worst = _deciding({name: part for name, part in parts.items() if part.runs_needed}, margin)
    else:
        such = [name for name, part in parts.items() if part.label == label]
        worst = max(such, key=lambda name: abs(parts[name].difference))
    part = parts[worst]
    return replace(part, label=label, explanation=f"{worst}: {part.explanation}")


def _deciding(open_parts, margin):
    # One component beyond the margin is enough for *not reproduced*: the first to be excluded
    # decides. Within the margin all must be reproduced, and the last one decides.
    needed = {name: part.runs_needed for name, part in open_parts.items()}
    beyond = [name for name, part in open_parts.items() if abs(part.difference) > margin]
    return min(beyond, key=needed.get) if beyond else max(needed, key=needed.get)
