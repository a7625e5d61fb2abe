"""Intervals over runs, and the verdict on a published value.

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

A printed uncertainty that alone spans the margin leaves nothing to decide at that margin, however
many runs there are. Then the verdict is *consistent* if the 95% interval of the difference holds 0
and our own standard error is not above the printed one: they agree as far as the printed precision
can tell. Where a paper prints no spread of its means, ours may stand for it (`shared_spread`).

A printed count of games has its binomial error, at the printed share or at ours, whichever is
larger. Near 0 and near all games it is far from normal, so a count is *consistent* not by that
interval, but if an exact binomial test does not refuse it (`errors.count_p`).

What the rule cannot see: if every run gives the same value the spread is taken as zero, so a
failure that happens in one run out of twenty stays unseen in three runs. The explanation of such a
verdict says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import ndtr

from ..digits import plain, together
from ..stats import finite_runs, t_quantile
from .arguments import check_arguments
from .errors import count_p, counting_error

REPRODUCED = "reproduced"
BETTER = "better"
NOT_REPRODUCED = "not reproduced"
CONSISTENT = "consistent"
INCONCLUSIVE = "inconclusive"
NOT_RUN = "not run"
NOT_A_TARGET = "not a target"
MIN_RUNS = 3  # two runs that happen to be equal would pass for certainty
LABELS = (REPRODUCED, CONSISTENT, BETTER, NOT_REPRODUCED, INCONCLUSIVE, NOT_RUN, NOT_A_TARGET)

TEST_LEVEL = 0.05  # of each of the two one-sided tests
EXCLUSION_LEVEL = 0.95  # of the interval that must leave the margin
POWER = 0.8  # with which `runs_needed` runs decide
MAX_RUNS = 100_000  # more runs than this count as "no number of runs"
# 0.30 - 0.33 is not -0.03 in binary: a value printed on the margin counts as inside
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What the runs say about one published value.

    label: one of `LABELS`. difference: ours - published. low, high: its 95% interval (NaN for a
    single run). runs_needed: None if decided, else the number of runs that would decide, `math.inf`
    if no number does.
    """

    label: str
    difference: float
    low: float
    high: float
    runs_needed: float | None
    explanation: str


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
    published : float
    margin : float, > 0
        Differences up to it do not matter.
    published_sem : float
        The printed standard error of the mean, 0 if none is printed.
    published_runs : int, >= 2, optional
        Behind that error; None treats it as known exactly.
    better : "higher", "lower" or None
        The direction in which leaving the margin is good.
    relation : "=", ">" or "<"
        A value, or a bound. The margin of a bound is not used: it is reproduced if the one-sided
        95% bound of the difference confirms it, not reproduced if the 95% interval contradicts it.
    exclusion_level : float, 0..1
        Of the interval that must leave the margin.
    shared_spread : bool
        The published mean of `published_runs` runs has no printed spread: ours is taken for it.
    counted : (int, float), optional
        The published value is a count of so many games, all of which are so much in its unit.
    consistent : bool
        Whether that verdict is given; else *inconclusive* in its place.

    Raises
    ------
    ValueError
        For arguments that can not be meant.

    Source: Schuirmann (1987), two one-sided tests; the thresholds are this study's own.

    >>> verdict([50.1, 49.9, 50.0, 50.0], published=50.0, margin=2.0).label
    'reproduced'
    """
    values = finite_runs(ours)
    if not math.isfinite(published):
        raise ValueError(f"published is {published}; a value to compare with must be finite")
    check_arguments(margin, published_sem, published_runs, better, relation, exclusion_level)
    runs, difference = len(values), float(values.mean()) - published
    if runs == 1:
        return _few(difference, math.nan, math.nan, "one run has no spread")
    spread = float(values.std(ddof=1))
    if shared_spread:
        published_sem, published_runs = spread / math.sqrt(published_runs), None
    if counted:
        at_ours = counting_error(float(values.mean()), *counted, times=runs)
        published_sem, published_runs = max(counting_error(published, *counted), at_ours), None
    se, df = _standard_error(spread, runs, published_sem, published_runs, shared_spread)
    half = t_quantile((1 + exclusion_level) / 2, df) * se
    low, high = difference - half, difference + half
    label = _label(difference, se, df, margin, better, relation, exclusion_level)
    if runs < MIN_RUNS:
        return _few(difference, low, high, f"{runs} runs say too little of the spread")
    needed = None
    printed_too_wide = relation == "=" and _alone(published_sem, published_runs) >= margin
    # ours must not be the wider one: two imprecise numbers do not agree by that
    precise = spread / math.sqrt(runs) <= published_sem * (1 + ROUNDING)
    p = None
    if consistent and label == INCONCLUSIVE and printed_too_wide and precise:
        p = count_p(values, published, *counted) if counted else None
        if low <= 0 <= high if p is None else p >= 1 - exclusion_level:
            label = CONSISTENT
    if label == INCONCLUSIVE:
        rule = (margin, published_sem, published_runs, relation, exclusion_level)
        needed = runs_needed(difference, spread, *rule, shared_spread)
        needed = max(needed, runs + 1)
    text = _explain(label, difference, low, high, se, df, margin, relation, exclusion_level)
    if p is not None:
        text += f"; exact test of the count against our share: p = {p:.1g}"
    if spread == 0.0:
        text += f"; all {runs} runs are equal, a rare failure would go unseen"
    if label == INCONCLUSIVE:
        text += "; " + _remedy(needed, margin, published_sem, published_runs, relation)
    return Verdict(label, difference, low, high, needed, text)


def _few(difference, low, high, why):
    """Return the verdict on fewer than `MIN_RUNS` runs."""
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

    The cell is reproduced if every component is (an intersection-union test: no correction needed),
    and not reproduced if any component is at level 5% / components (Bonferroni). The difference,
    low and high of the result belong to the component farthest away, those of an undecided cell to
    the component that would decide it.

    Parameters
    ----------
    ours : dict
        Component -> float[runs].
    published : dict
        The same components -> number.
    margin : float, > 0
    counted : (int, float), optional
        As in :func:`verdict`, of each component.
    consistent : bool
        As in :func:`verdict`: given if every component is reproduced or consistent.

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
    parts = {
        name: verdict(
            ours[name],
            published[name],
            margin,
            exclusion_level=level,
            counted=counted,
            consistent=consistent,
        )
        for name in published
    }
    labels = {part.label for part in parts.values()}
    worst = max(parts, key=lambda name: abs(parts[name].difference))
    needed = None
    if labels == {REPRODUCED}:
        label = REPRODUCED
    elif NOT_REPRODUCED in labels:
        label = NOT_REPRODUCED
        worst = max(
            (name for name in parts if parts[name].label == label),
            key=lambda name: abs(parts[name].difference),
        )
    elif labels == {CONSISTENT, REPRODUCED} or labels == {CONSISTENT}:
        label = CONSISTENT
        worst = max(
            (name for name in parts if parts[name].label == label),
            key=lambda name: abs(parts[name].difference),
        )
    else:
        label = INCONCLUSIVE
        worst = _deciding({name: part for name, part in parts.items() if part.runs_needed}, margin)
        needed = parts[worst].runs_needed
    part = parts[worst]
    return Verdict(
        label, part.difference, part.low, part.high, needed, f"{worst}: {part.explanation}"
    )


def _deciding(open_parts, margin):
    """Return the name of the component of a cell that more runs would decide the cell by.

    One component beyond the margin is enough for *not reproduced*, so the first to be excluded
    decides; within the margin all must be reproduced, and the last one decides.
    """
    needed = {name: part.runs_needed for name, part in open_parts.items()}
    beyond = [name for name, part in open_parts.items() if abs(part.difference) > margin]
    return min(beyond, key=needed.get) if beyond else max(needed, key=needed.get)


def runs_needed(
    difference: float,
    spread: float,
    margin: float,
    published_sem: float = 0.0,
    published_runs: int | None = None,
    relation: str = "=",
    exclusion_level: float = EXCLUSION_LEVEL,
    shared_spread: bool = False,
) -> float:
    """Return the number of runs that decide with power 80%.

    That is, were the observed difference and the `spread` (standard deviation over runs) the true
    ones. The published value stays what it is, so its standard error does not shrink: the answer is
    `math.inf` if it alone keeps the interval across the margin, or if more than `MAX_RUNS` would be
    needed.

    >>> runs_needed(difference=0.0, spread=2.0, margin=2.0)
    10
    """
    if not (math.isfinite(difference) and math.isfinite(spread) and spread >= 0):
        raise ValueError(
            f"difference is {difference} and spread {spread}; both must be finite, the spread not"
            " negative"
        )
    check_arguments(margin, published_sem, published_runs, None, relation, exclusion_level)

    def decides(runs):
        se, df = _standard_error(spread, runs, published_sem, published_runs, shared_spread)
        return (
            _power(difference, spread / math.sqrt(runs), se, df, margin, relation, exclusion_level)
            >= POWER
        )

    many = 2
    while not decides(many):
        if many > MAX_RUNS:
            return math.inf
        many *= 2
    few = many // 2
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if decides(middle) else (middle, many)
    return many


def _power(difference, se_ours, se, df, margin, relation, exclusion_level):
    # The observed mean varies with our runs only: the published number will not be drawn again.
    inner, outer = _thresholds(se, df, margin, relation, exclusion_level)
    scale = max(se_ours, 1e-300)
    if relation == "=":
        inside = (
            ndtr((inner - difference) / scale) - ndtr((-inner - difference) / scale)
            if inner > 0
            else 0.0
        )
        return inside + ndtr((difference - outer) / scale) + ndtr((-outer - difference) / scale)
    difference = difference if relation == ">" else -difference
    return ndtr((difference - inner) / scale) + ndtr((outer - difference) / scale)


def _thresholds(se, df, margin, relation, exclusion_level):
    """Return up to which difference a value is reproduced, and beyond which it is not.

    For a bound: reproduced from the first up, not reproduced below the second.
    """
    test = t_quantile(1 - TEST_LEVEL, df) * se
    exclusion = t_quantile((1 + exclusion_level) / 2, df) * se
    if relation == "=":
        margin *= 1 + ROUNDING
        return margin - test, margin + exclusion
    return test, -exclusion


def _label(difference, se, df, margin, better, relation, exclusion_level):
    inner, outer = _thresholds(se, df, margin, relation, exclusion_level)
    if relation == "=":
        if abs(difference) <= inner:
            return REPRODUCED
        if abs(difference) <= outer:
            return INCONCLUSIVE
        return BETTER if better == ("higher" if difference > 0 else "lower") else NOT_REPRODUCED
    signed = difference if relation == ">" else -difference
    # A strict inequality: equality to the bound in every run does not confirm it.
    return REPRODUCED if signed > inner else NOT_REPRODUCED if signed < outer else INCONCLUSIVE


def _explain(label, difference, low, high, se, df, margin, relation, exclusion_level):
    half = t_quantile(1 - TEST_LEVEL, df) * se
    if relation != "=":
        bound = difference - half if relation == ">" else difference + half
        found, bound = together((difference, bound), "+")
        return f"difference {found} from the bound, one-sided 95% bound {bound}"
    level = 0.9 if label == REPRODUCED else exclusion_level
    ends = (difference - half, difference + half) if label == REPRODUCED else (low, high)
    found, low, high = together((difference, *ends), "+")
    found, interval = f"difference {found}", f"{100 * level:.3g}% interval [{low}, {high}]"
    if label == REPRODUCED:
        return f"{found}, {interval} inside ±{plain(margin)}"
    if label == CONSISTENT:
        return f"{found}, {interval}; the printed error alone spans the margin ±{plain(margin)}"
    where = "straddles" if label == INCONCLUSIVE else "beyond"
    return f"{found}, {interval} {where} ±{plain(margin)}"


def _remedy(needed, margin, published_sem, published_runs, relation):
    if math.isfinite(needed):
        return f"about {needed:,} runs would decide"
    alone = _alone(published_sem, published_runs)
    if relation == "=" and alone >= margin:
        return (
            f"no number of runs decides: the published standard error alone spans ±{plain(alone)},"
            f" the margin is ±{plain(margin)}"
        )
    return "no number of runs decides at this difference"


def _alone(published_sem, published_runs):
    """Return what the printed error alone spans in the two one-sided tests."""
    df = published_runs - 1 if published_runs else math.inf
    return t_quantile(1 - TEST_LEVEL, df) * published_sem


def _standard_error(spread, runs, published_sem, published_runs, shared_spread=False):
    """Return the standard error of the difference, and its degrees of freedom by Welch.

    A shared spread is known from our runs only.
    """
    ours, theirs = spread**2 / runs, published_sem**2
    if ours + theirs == 0.0:
        return 0.0, math.inf
    if shared_spread:
        return math.sqrt(ours + theirs), runs - 1
    # Relative weights, so that tiny spreads do not underflow.
    ours, theirs, total = ours / (ours + theirs), theirs / (ours + theirs), ours + theirs
    share = ours**2 / (runs - 1) + (theirs**2 / (published_runs - 1) if published_runs else 0.0)
    return math.sqrt(total), 1 / share if share else math.inf
