"""Statements of a paper, each as a test on our runs and one of its contrary, and the verdict on it.

    ordering   high > times * low (+ by), of two arms (Welch), or of the same runs (paired)
    range      low end <= first - second <= high end (either end, and second, may be missing)
    bound      a mean is above or below a number
    trend      rising along an ordered list of series (Page's test, runs as blocks)

Of the m parts of a statement k must hold: all, more than half if the paper says "in most", or any.
If that is false at least m - k + 1 parts are false, one of them among the k smallest p values: so
the k-th smallest times m - k + 1 is a p value, whatever the parts have in common. The contrary,
that at least m - k + 1 parts fail, has the (m - k + 1)-th smallest of its p values, times k.

One correction by Holm's method covers both directions of all statements of a paper, those without
runs included. Every interval is shown at the levels at which it decides: its lower end at that of
the statement, its upper end at that of the contrary, so that it and the verdict say the same.
Where all runs are equal the p value is the least that a permutation test of as many runs can have.

**Runs that did not converge** (a series may select what says so, `converged`) stand at their cap, a
lower bound: they may support "larger", never "smaller". Where a low value would help, such a run
counts as the largest value of either arm, and if no run of the arm converged the p value is 1. In a
trend it counts as what speaks least for it from its cap up.

Source: Holm (1979); Berger (1982), intersection-union tests; Benjamini and Heller (2008), partial
conjunctions; Page (1963), ordered hypotheses; Welch (1947), the t test with two variances.
"""

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Literal, Required, TypedDict

import numpy as np
import pandas as pd
import scipy

from ...stats import plain, together
from ..results import in_percent, in_words
from .errors import Asked
from .tests_of_means import ANYTHING, Arms, Difference, Joined, Mean, Test, joined_p, least_p
from .verdicts import MIN_RUNS, NOT_RUN, runs_for

LEVEL = 0.05
HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "undecided"
# kinds of undecided
TOO_FEW, HOPELESS, UNSAFE = "too few runs", "no number of runs", "the test errs too often"
TOLERATED = 1.1  # times its level a test may err
PERCENT = "percent"  # the unit that is written beside each number
COMBINE = {None: "mean", "largest": "max", "smallest": "min"}
CAPPED = ("ordering", "trend")  # kinds of test whose series may name `converged`
ENDS = {"range": ("from", "to"), "bound": ("above", "below")}  # of which a part needs one
LEAST_TREND = 3  # series: with two a trend is an ordering
LEAST_STAGE = 2  # runs of an arm, before added runs are a stage

# `select` as `afterply.studies.results.select` takes it
_NAMES = {"study": Required[str], "arm": Required[str], "select": Required[dict]}
_EXTREME = Literal["largest", "smallest"]
_SERIES = _NAMES | {
    "converged": dict,  # the columns of what says whether a run did
    "less": TypedDict("Less", _NAMES),  # is subtracted, run by run
    "over": float,  # a run counts 100 if its value is above, else 0: the percentage of such runs
    "history": _EXTREME,  # of a run's values, in the place of the last one
    "group": _EXTREME,  # of the runs that share opponents, in the place of their mean
    "within": list,  # the ends of what values can be; default: of a measure in percent 0 and 100
    "program": TypedDict("Program", _NAMES),  # what answers in the reading as the authors' program
}
Series = TypedDict("Series", _SERIES, total=False)
_OWN = {
    "ordering": {"high": Required[Series], "low": Required[Series], "times": float, "by": float},
    "range": {"first": Required[Series], "second": Series, "from": float, "to": float},
    "bound": {"value": Required[Series], "above": float, "below": float},
    "trend": {"rising": Required[list[Series]]},
}
_OF_ALL = {"of": str, "unit": str, "paired": bool, "looks": list}
_OF_ALL |= {"ideal": float | list}  # from which the margin is counted: `margins`
PARTS = {  # kind of test -> what a part of a statement holds
    kind: TypedDict("Part", _OF_ALL | own, total=False) for kind, own in _OWN.items()
}


@dataclass(frozen=True)
class Outcome:
    """The verdict on a statement."""

    verdict: str
    number: str
    sentence: str
    p_for: float = math.nan
    p_against: float = math.nan
    parts: tuple = ()
    level: float = math.nan  # of the interval in `number`, 0..1
    kind: str = ""  # of an undecided one: TOO_FEW, HOPELESS or UNSAFE
    error: float = math.nan  # of its tests with runs of this shape, in levels, where it is known
    asked: str = ""  # of what `number` says, in words


def judge(statements, values, known=None):
    """Return the Outcome of each; values: (study, arm, columns, which) -> {run: value}.

    known: what was simulated of the errors of tests, of `afterply.studies.papers.errors.known`.
    """
    outcomes = [_try(statement, values) for statement in statements]
    # one that has no runs yet counts as well: no verdict may change when they come
    p_values = [(o.p_for, o.p_against) if o.parts else (1.0, 1.0) for o in outcomes]
    levels = holm_levels([p for both in p_values for p in both])
    tests = zip(statements, outcomes, levels[::2], levels[1::2], strict=True)
    return [
        _decided(*test, len(statements), known or {}) if test[1].parts else test[1]
        for test in tests
    ]


def in_both(paper, values, known=None) -> list:
    """Return for each statement of a paper its Outcome as the text is read, and in the program.

    The second is None where not all of its runs have counterparts "as the original software". Each
    reading is corrected by itself.
    """
    others = [paper.in_program(statement) for statement in paper.statements]
    found = iter(judge([one for one in others if one], values, known))
    texts = judge(paper.statements, values, known)
    return [
        (text, next(found) if other else None) for text, other in zip(texts, others, strict=True)
    ]


def holm_levels(p_values) -> list:
    """Return the level up to which Holm's step-down method rejects each p value, at 5% for all.

    >>> holm_levels([0.04, 0.01, 0.03])  # the last two steps do not reject
    [0.025, 0.016666666666666666, 0.025]
    """
    levels, left = [0.0] * len(p_values), len(p_values)
    for index in np.argsort(p_values, kind="stable"):
        levels[index] = LEVEL / left
        left -= p_values[index] <= LEVEL / left
    return levels


def _try(statement, values):
    parts = []
    for part in statement.parts:
        found = [_runs(one, values, statement.shared) for one in series(part)]
        for one, runs in zip(series(part), found, strict=True):
            if (number := len(runs.values)) < MIN_RUNS:
                text = f"{number} of at least {MIN_RUNS} runs" if number else "no runs"
                where = f"arm {one['arm']}, study {one['study']}"
                text += f" of {in_words(one['select'])}, {where}."
                return Outcome(NOT_RUN, "", text)
        # in groups, if these are the units
        looks = [number // (statement.shared or 1) for number in part.get("looks", statement.looks)]
        parts.append(tried(part, found, looks, max(1, len(statement.looks))))
    needed = statement.needed
    fail = len(parts) - needed + 1  # parts that fail if the statement is false
    p_for = fail * sorted(part.p_for for part in parts)[needed - 1]
    p_against = needed * sorted(part.p_against for part in parts)[fail - 1]
    return Outcome(UNDECIDED, "", "", min(1.0, p_for), min(1.0, p_against), tuple(parts))


def _runs(one, values, shared):
    def named(series):
        where = series["study"], series["arm"], series["select"]
        return pd.Series(values(*where, one.get("history", "last")), dtype=float)

    found = named(one)
    if "less" in one:
        found = (found - named(one["less"])).dropna()
    if "over" in one:
        found = 100.0 * (found > one["over"])
    if shared:  # groups of runs that share their opponents count as one run each
        groups = found.groupby(found.index // shared)
        found = groups.agg(COMBINE[one.get("group")])[groups.size() == shared]
    within = tuple(map(float, one.get("within", ()))) or _possible(one)
    if "converged" not in one:
        return Runs(found, within=within)
    reached = named(one | {"select": one["converged"]}).reindex(found.index).fillna(0)
    return Runs(found, frozenset(found.index[reached == 0]), within)


def _possible(one):
    # the ends of what the values of a series can be
    if "over" in one:
        return 0.0, 100.0
    low, high = (0.0, 100.0) if in_percent(one["select"]["measure"]) else ANYTHING
    if "less" not in one:
        return low, high
    less = _possible(one["less"])
    return low - less[1], high - less[0]


def _decided(statement, outcome, level_for, level_against, number_of, known):
    parts, needed = outcome.parts, statement.needed
    fail, unit = len(parts) - needed + 1, statement.unit
    holds, fails = outcome.p_for <= level_for, outcome.p_against <= level_against
    p = min(outcome.p_for * LEVEL / level_for, outcome.p_against * LEVEL / level_against)
    level_for, level_against = level_for / fail, level_against / needed  # of a part
    verdict = HOLDS if holds else DOES_NOT_HOLD if fails else UNDECIDED
    error, safe = math.nan, True
    if verdict != UNDECIDED:
        level = level_for if holds else level_against
        judged = replace(outcome, verdict=verdict)
        error, safe = _error(statement, judged, number_of, level, known)
    verdict = verdict if safe else UNDECIDED
    # the part that decides
    by = "p_against" if fails else "p_for"
    order = sorted(parts, key=lambda part: getattr(part, by))
    pick = parts.index(order[(fail if fails else needed) - 1])
    sides = [_sides(part.ends, level_for, level_against, holds) for part in parts]
    shown = [
        _effect(part, of, two, statement)
        for part, of, two in zip(parts, statement.parts, sides, strict=True)
    ]
    certainty = 1 - sum(sides[pick]) if "[" in shown[pick] else math.nan
    p = f"p* {_p(min(1.0, p))}"
    p = f" ({p})" if math.isnan(certainty) else f" ({100 * certainty:.3g}% interval, {p})"
    behind = f" {unit}" if unit not in ("", PERCENT) else ""
    number = shown[pick] + behind
    groups = f"groups of {statement.shared} runs" if statement.shared else "runs"
    if len(parts) == 1:
        sizes = " + ".join(map(str, parts[0].seen.sizes))
        sentence = f"{number}{p}, {sizes} {groups}."
    else:
        number = f"{parts[pick].of}: {number}"
        listed = "; ".join(f"{part.of} {text}" for part, text in zip(parts, shown, strict=True))
        sentence = f"{listed}{behind}{p}."
    if statement.holds_if == "most":
        passed = sum(part.p_for <= level_for for part in parts)
        number = f"{passed} of {len(parts)} parts pass"
    kind, last = "", ""
    if not safe:
        kind, last = UNSAFE, f" Open: with runs of this shape the test errs {_times(error)}."
    elif verdict == UNDECIDED:
        kind, last = _open(statement, parts, level_for, level_against, groups)
    elif error > TOLERATED:
        last = f" With runs of this shape the test errs {_times(error)}."
    last = _notes(statement, parts) + last
    found = number + p, sentence + last, outcome.p_for, outcome.p_against, parts
    return Outcome(verdict, *found, certainty, kind, error, asked_of(statement.parts[pick]))


def decided(statement, outcome, statements):
    """Yield (part, what is asked of its test, or None) of the parts that support a verdict.

    None: no simulation can answer it. statements: how many the paper has; the level of the question
    is that of the first step of the correction.
    """
    holds, needed = outcome.verdict == HOLDS, statement.needed
    fail = len(outcome.parts) - needed + 1
    level = LEVEL / (2 * statements) / (fail if holds else needed)
    for part in outcome.parts if outcome.verdict in (HOLDS, DOES_NOT_HOLD) else ():
        if (part.p_for if holds else part.p_against) <= LEVEL / (fail if holds else needed):
            ends = 1 if holds else sum(map(math.isfinite, part.ends))
            one = Asked(part, holds, level / ends)
            yield part.of, one if one.known else None


def _error(statement, outcome, statements, level, known):
    # the largest error that was found of as many parts as the verdict needs, in levels; and whether
    # each p value stays below the level if it counts as often as such a one came by chance
    needed, nothing = statement.needed, {"error": math.nan, "chance": 0.0}
    if outcome.verdict != HOLDS:
        needed = len(outcome.parts) - needed + 1
    found = [
        known.get(one.digest, nothing) if one else nothing
        for _, one in decided(statement, outcome, statements)
    ]
    found = sorted(
        found,
        key=lambda one: (
            one["chance"] > TOLERATED * level,
            -1.0 if math.isnan(one["error"]) else one["error"],
        ),
    )
    found = [one for one in found[:needed] if not math.isnan(one["error"])]
    safe = not any(one["chance"] > TOLERATED * level for one in found)
    return max((one["error"] for one in found), default=math.nan), safe


def _times(error):
    return f"{error:.2g} times as often as its level says"


def _notes(statement, parts):
    # what a reader must know of looks, and of runs that are all equal
    found = ""
    if statement.looks:
        found = f" Tested at {' and '.join(f'{number:,}' for number in statement.looks)} runs"
        found += ", each time for its share of the level"
        found += (
            "; an arm was not extended: as if the number had been set before."
            if any(p.approximate for p in parts)
            else "."
        )
    equal = [part for part in parts if isinstance(part.seen, Test) and part.seen.equal]
    if equal:
        fewest = min(min(part.seen.sizes) for part in equal)
        rare = 100 * (1 - LEVEL ** (1 / fewest))
        found += f" All runs are equal: failures in up to {rare:.2g}% of trainings could go unseen."
    return found


def _sides(ends, level_for, level_against, holds):
    # what the two ends of an interval leave out, so that they agree with the verdict
    low, high = map(math.isfinite, ends)
    if low and high:
        both = level_for if holds else min(level_for, level_against / 2)
        return both, both
    return (level_for, level_against) if low else (level_against, level_for)


def _open(statement, parts, level_for, level_against, groups):
    # the kind of an undecided statement, and in words the runs that would decide it
    needed = statement.needed
    last = sorted(parts, key=lambda part: part.runs_needed(level_for))[needed - 1]
    against = sorted(
        part.runs_needed(level_against / sum(map(math.isfinite, part.ends)), contrary=True)
        for part in parts
    )[len(parts) - needed]
    runs = min(last.runs_needed(level_for), against)
    if math.isfinite(runs):
        return TOO_FEW, f" Too few runs: about {runs:,} {groups} of each would decide."
    near = "all runs are equal" if last.seen.equal else "what was found is too near the bound"
    why = last.never[last.ahead < 0] or near
    return HOPELESS, f" No number of runs decides: {why}."


def _effect(part, given, sides, statement):
    if part.shown:
        return part.shown
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.seen.effect)}"
    unit = given.get("unit", statement.unit)
    difference = len(series(given)) > 1
    # the difference itself: what is asked of it is said beside it
    by = 0.0 if "times" in given else given.get("by", 0.0)
    effect, low, high = (number + by for number in (part.seen.effect, *part.interval(sides)))
    multiple = "times" in given or any("less" in one for one in series(given))
    most = math.inf if multiple else _largest(unit)
    least = -most if difference else 0.0
    if not math.isfinite(most):
        least, most = part.seen.within
    if least <= effect <= most:
        low, high = max(low, least), min(high, most)
    sign, percent = "+" if difference else "", "%" if unit == PERCENT else ""
    shown = low < high and math.isfinite(low) and math.isfinite(high)
    numbers = (effect, low, high) if shown else (effect,)
    # one decimal of a percentage, or more if an end would stand on the bound
    ends = {end + by for end in part.ends}
    decimals = 2 if {round(low, 1), round(high, 1)} & ends else 1
    mean, *ends = [n + percent for n in together(numbers, sign, decimals if percent else None)]
    behind = f" {unit}" if unit not in ("", PERCENT, statement.unit) else ""
    return f"{mean} [{', '.join(ends)}]{behind}" if ends else mean + behind


def asked_of(given):
    """Return in words what is asked of the number that is shown of a part."""
    if "rising" in given or "times" in given:  # of these what lies beyond is shown
        return "more than 0"
    if "high" in given:
        return f"more than {plain(given.get('by', 0))}"
    least, most = given.get("from"), given.get("to")
    if least is not None and most is not None:
        return f"{plain(least)} to {plain(most)}"
    words = {"above": "more than", "below": "less than", "from": "at least", "to": "at most"}
    return next(f"{said} {plain(given[name])}" for name, said in words.items() if name in given)


def _largest(unit):  # 100 of a share, 200 of "losses of 200"
    found = re.search(r" of (\d+)$", unit)
    share = unit in (PERCENT, "percentage points")
    return 100 if share else int(found[1]) if found else math.inf


def _p(p):
    # on its side of the level: 0.0501 as 0.051
    if p < 0.001:
        return "< 0.001"
    if p != LEVEL and round(p, 3) == LEVEL:
        return f"= {LEVEL + (0.001 if p > LEVEL else -0.001):.3f}"
    return f"= {p:.3f}"


# The test of one part


@dataclass(frozen=True)
class Part:
    """The outcome of one part: the difference, its p values, and how far from decided it is."""

    of: str
    seen: Test
    ends: tuple  # low and high end between which the difference must lie, or infinity
    p_for: float
    p_against: float
    shown: str = ""  # stands for the effect where runs did not converge
    never: tuple = ("", "")  # why no number of runs can support the part, or its contrary

    def interval(self, sides):
        """Return the interval of the difference whose ends leave out these probabilities."""
        return self.seen.interval(sides)

    @property
    def approximate(self):
        """Whether an arm was not extended, so that all runs are one stage."""
        return self.seen.approximate

    @property
    def ahead(self):
        """How far the effect lies inside the ends; negative: outside."""
        return min(self.seen.effect - self.ends[0], self.ends[1] - self.seen.effect)

    def runs_needed(self, level, contrary=False):
        """Return about how many runs of each arm would decide at a level, with power 80%."""
        ahead = -self.ahead if contrary else self.ahead
        if self.never[contrary] or ahead <= 0:
            return math.inf
        runs, level = max(self.seen.sizes), level / self.seen.looks
        if not self.seen.equal:
            needed = runs_for(ahead, level, self.seen.se * math.sqrt(runs))
            return max(needed, runs + 1)
        while least_p(*[runs] * len(self.seen.sizes)) > level:
            runs += 1
        return max(runs, 1 + max(self.seen.sizes))


@dataclass(frozen=True)
class Runs:
    """A series of runs: run -> value, and the runs that stand at their cap (empty: none)."""

    values: pd.Series
    open: frozenset = frozenset()
    within: tuple = ANYTHING  # the ends of what its values can be

    @property
    def never(self):
        """Why nothing can be below it, if no run converged."""
        none = self.open and len(self.open) == len(self.values)
        return "no run of an arm converged before its cap" if none else ""

    def raised(self, limit):
        """Return the values, those at their cap at least as the limit."""
        return self.values.mask(self.values.index.isin(self.open), self.values.clip(lower=limit))

    def of_stage(self, low, high):
        """Return its runs from one number of runs to another, in the order of their numbers."""
        return self.only(self.values.sort_index().iloc[low:high])

    def only(self, values):
        """Return some of its runs."""
        return replace(self, values=values, open=self.open & {*values.index})

    def __str__(self):
        mean = f"{self.values.mean():,.0f}"
        if not self.open:
            return mean
        return f"> {mean} ({len(self.values) - len(self.open)} of {len(self.values)} converged)"


def series(part):
    """Return the series that a part speaks of."""
    found = [part[name] for name in ("high", "low", "first", "second", "value") if part.get(name)]
    return found + part.get("rising", [])


def tried(part, runs, looks=(), times=1) -> Part:
    """Return the outcome of a part; `runs` are those of its series, in their order.

    looks: numbers of runs at which it was tested, with those of one stage between two of them;
    times: how often its statement was, or will be.
    """
    if part.get("paired"):
        both = runs[0].values.index.intersection(runs[1].values.index)
        runs = [one.only(one.values.loc[both]) for one in runs]
    stages, again = _stages(runs, looks)
    if "rising" in part:
        return _trend(part, runs, stages, times)
    tests = [_tests(part, stage) for stage in stages]
    whole = _tests(part, runs if not looks else _up_to(runs, looks[-1]))
    seen, least, most = (
        Joined(all_, such, times, again) if len(such) > 1 or times > 1 else all_
        for all_, such in zip(whole, zip(*tests, strict=True), strict=True)
    )
    first, second = runs[0], runs[1] if len(runs) > 1 else Runs(runs[0].values[:0])
    low = 0 if "high" in part else part.get("from", part.get("above", -math.inf))
    ends = low, part.get("to", part.get("below", math.inf))
    inside = 1.0 if second.never else _p_value(least, low, 1), _p_value(most, ends[1], -1)
    beyond = 1.0 if first.never else _p_value(most, low, -1), _p_value(least, ends[1], 1)
    p_values = max(inside), min(1.0, sum(map(math.isfinite, ends)) * min(beyond))
    shown = f"{first} against {second}" if first.open or second.open else ""
    return Part(part.get("of", ""), seen, ends, *p_values, shown, (second.never, first.never))


def _p_value(test, end, side):
    if math.isfinite(end):
        return test.p_value(end, side)
    return 0.0 if side * end < 0 else 1.0


def _up_to(runs, number):
    return [one.of_stage(0, number) for one in runs]


def _stages(runs, looks):
    # the runs of each stage; all are one if an arm was not extended, which is then said
    stages = [runs if not looks else _up_to(runs, looks[0])]
    for low, high in pairwise(looks):
        added = [one.of_stage(low, high) for one in runs]
        there = [len(one.values) >= LEAST_STAGE for one in added]
        if any(there) and not all(there):
            return [_up_to(runs, looks[-1])], True
        if not any(there):
            break
        stages.append(added)
    return stages, False


def _tests(part, runs):
    # of what is seen, and of the least and the most that it can be where runs stand at their cap
    first, *others = runs
    if not others:
        return (Mean(first.values, first.within),) * 3
    times, by = part.get("times", 1), part.get("by", 0)
    second = replace(others[0], values=times * others[0].values + by)
    paired = part.get("paired", False)
    ends = [times * end + by for end in others[0].within]
    within = first.within[0] - ends[1], first.within[1] - ends[0]
    seen = _difference(first.values, second.values, paired, within)
    if not (first.open or second.open):
        return (seen,) * 3
    limit = max(first.values.max(), second.values.max())
    least = _difference(first.values, second.raised(limit), paired, within)
    return seen, least, _difference(first.raised(limit), second.values, paired, within)


def _difference(first, second, paired, within):
    return Mean((first - second).dropna(), within) if paired else Arms(first, second)


def _trend(part, columns, stages, times):
    never = tuple(
        next(filter(None, (column.never for column in some)), "")
        for some in (columns[:-1], columns[1:])
    )
    blocks = [_blocks(stage) for stage in stages]
    for_, against = (
        1.0
        if why
        else joined_p([_page(table[:, ::step], stays[:, ::step]) for table, stays in blocks], times)
        for why, step in zip(never, (1, -1), strict=True)
    )
    places, table = np.arange(len(columns)), np.concatenate([table for table, _ in blocks])
    # `scipy.stats` takes a second, which every process would pay: it is read on first use
    ranks = [scipy.stats.rankdata(row) for row in table]
    moved = [np.corrcoef(places, row)[0, 1] if np.ptp(row) else 0.0 for row in ranks]
    # under chance a rank correlation has this spread
    spread = max(float(np.std(moved, ddof=1)), 1 / math.sqrt(len(columns) - 1))
    sizes = (len(table),)
    seen = Difference(float(np.mean(moved)), spread / math.sqrt(len(table)), math.inf, sizes)
    capped = any(stays.any() for _, stays in blocks)
    shown = ", ".join(map(str, columns)) if capped else ""
    return Part(part.get("of", ""), seen, (0, math.inf), for_, against, shown, never)


def _blocks(columns):
    # runs x series, and which of them stand at their cap
    table = pd.concat([column.values for column in columns], axis=1, join="inner")
    return table.to_numpy(), np.array([table.index.isin(column.open) for column in columns]).T


def _page(table, stays):
    rows = [_least(row, caps) for row, caps in zip(table, stays, strict=True)]
    return float(scipy.stats.page_trend_test(np.array(rows)).pvalue)


def _least(row, caps):
    choices = []
    for place, (value, cap) in enumerate(zip(row, caps, strict=True)):
        # just above another value; of two such values the earlier one is the larger
        above = [v + (1 - place / len(row)) / 2 for v in row if v >= value] if cap else []
        choices.append([value, *above])
    steps = np.arange(len(row))
    return min(product(*choices), key=lambda c: steps @ scipy.stats.rankdata(c))
