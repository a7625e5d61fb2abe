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
from typing import Literal, NamedTuple, Required, TypedDict

import numpy as np
import pandas as pd
import scipy

from ...stats import plain, together
from ..results import in_percent, in_words
from .errors import Asked
from .tests_of_means import ANYTHING, Arms, Difference, Joined, Mean, Test, joined_p, least_p
from .verdicts import MIN_RUNS, NOT_RUN, runs_for

LEVEL = 0.05
HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "undecided"
TOO_FEW = "too few runs"  # kinds of undecided
HOPELESS = "no number of runs"
UNSAFE = "the test errs too often"
TOLERATED = 1.1  # times its level a test may err
PERCENT = "percent"  # the unit that is written beside each number
COMBINE = {None: "mean", "largest": "max", "smallest": "min"}
CAPPED = ("ordering", "trend")  # kinds of test whose series may name `converged`
ENDS = {"range": ("from", "to"), "bound": ("above", "below")}  # of which a part needs one
LEAST_TREND = 3  # series: with two a trend is an ordering
LEAST_STAGE = 2  # runs of an arm, before added runs are a stage


class Selection(TypedDict):
    """An arm of a study, and columns of its results, as `studies.results.select` takes them."""

    study: str
    arm: str
    select: dict


class Series(Selection, total=False):
    """A series of runs, each with one value."""

    converged: dict  # the columns of what says whether a run did
    less: Selection  # is subtracted, run by run
    over: float  # a run counts 100 if its value is above, else 0: the percentage of such runs
    history: Literal["largest", "smallest"]  # of a run's values, in the place of the last one
    group: Literal["largest", "smallest"]  # of runs that share opponents, in the place of the mean
    within: list  # the ends of what values can be; default: of a measure in percent 0 and 100
    program: Selection  # what answers in the reading as the authors' program


_FIELDS_OF_ALL_PARTS = {
    "of": str,
    "unit": str,
    "paired": bool,
    "looks": list,
    "ideal": float | list,  # from which the margin is counted: `margins`
}
_FIELDS_OF_TEST = {
    "ordering": {"high": Required[Series], "low": Required[Series], "times": float, "by": float},
    "range": {"first": Required[Series], "second": Series, "from": float, "to": float},
    "bound": {"value": Required[Series], "above": float, "below": float},
    "trend": {"rising": Required[list[Series]]},
}
PARTS = {  # kind of test -> what a part of a statement holds
    kind: TypedDict("Part", _FIELDS_OF_ALL_PARTS | of_test, total=False)
    for kind, of_test in _FIELDS_OF_TEST.items()
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
    """Return the Outcome of each statement of a paper.

    Parameters
    ----------
    statements : list
    values : callable
        (study, arm, columns, which) -> {run: value}; `which` is "last", "largest" or "smallest".
    known : dict, optional
        What was simulated of the errors of tests: `afterply.studies.papers.errors.known`.
    """
    tested = [_tested(statement, values) for statement in statements]
    p_values = []
    for outcome in tested:
        if outcome.parts:
            p_values += [outcome.p_for, outcome.p_against]
        else:  # counts without runs as well: no verdict may change when they come
            p_values += [1.0, 1.0]
    levels = holm_levels(p_values)
    outcomes = []
    for place, statement in enumerate(statements):
        outcome = tested[place]
        if outcome.parts:
            level_for = levels[2 * place]
            level_against = levels[2 * place + 1]
            outcome = _decided(
                statement, outcome, level_for, level_against, len(statements), known or {}
            )
        outcomes.append(outcome)
    return outcomes


def in_both(paper, values, known=None) -> list:
    """Return for each statement of a paper its Outcome as the text is read, and in the program.

    The second is None where not all of its runs have counterparts "as the original software". Each
    reading is corrected by itself. `values` and `known` are those of :func:`judge`.
    """
    outcomes = judge(paper.statements, values, known)
    of_program = [paper.in_program(statement) for statement in paper.statements]
    answered = [statement for statement in of_program if statement is not None]
    outcomes_of_program = {}
    for statement, outcome in zip(answered, judge(answered, values, known), strict=True):
        outcomes_of_program[statement.id] = outcome
    return [
        (outcome, outcomes_of_program.get(statement.id))
        for statement, outcome in zip(paper.statements, outcomes, strict=True)
    ]


def holm_levels(p_values) -> list:
    """Return the level up to which Holm's step-down method rejects each p value, at 5% for all.

    Source: Holm (1979).

    >>> holm_levels([0.04, 0.01, 0.03])  # the last two steps do not reject
    [0.025, 0.016666666666666666, 0.025]
    """
    levels = [0.0] * len(p_values)
    num_left = len(p_values)
    for index in np.argsort(p_values, kind="stable"):
        level = LEVEL / num_left
        levels[index] = level
        if p_values[index] <= level:
            num_left -= 1
    return levels


# From the runs of a statement to its tests


def _tested(statement, values):
    """Return the outcome of the tests of a statement, still undecided; NOT_RUN if runs lack."""
    parts = []
    num_looks = max(1, len(statement.looks))
    for part in statement.parts:
        runs = [_runs_of(one, values, statement.shared) for one in series(part)]
        for one, of_series in zip(series(part), runs, strict=True):
            num_runs = len(of_series.values)
            if num_runs < MIN_RUNS:
                return Outcome(NOT_RUN, "", _what_lacks(one, num_runs))
        looks = part.get("looks", statement.looks)
        if statement.shared:  # groups are the units
            looks = [number // statement.shared for number in looks]
        parts.append(tried(part, runs, looks, num_looks))
    needed = statement.needed
    failing = _num_failing(statement)
    p_for = failing * sorted(part.p_for for part in parts)[needed - 1]
    p_against = needed * sorted(part.p_against for part in parts)[failing - 1]
    return Outcome(UNDECIDED, "", "", min(1.0, p_for), min(1.0, p_against), tuple(parts))


def _num_failing(statement):
    """Return how many parts fail at least if the statement is false."""
    return len(statement.parts) - statement.needed + 1


def _what_lacks(one, num_runs):
    """Return in words which runs of a series are missing."""
    number = f"{num_runs} of at least {MIN_RUNS} runs" if num_runs else "no runs"
    return f"{number} of {in_words(one['select'])}, arm {one['arm']}, study {one['study']}."


def _runs_of(one, values, shared):
    """Return the runs of a series, or the groups of `shared` runs that count as one run each."""
    which = one.get("history", "last")

    def values_of(study, arm, select):
        return pd.Series(values(study, arm, select, which), dtype=float)

    runs = values_of(one["study"], one["arm"], one["select"])
    if "less" in one:
        less = one["less"]
        runs = (runs - values_of(less["study"], less["arm"], less["select"])).dropna()
    if "over" in one:
        runs = 100.0 * (runs > one["over"])
    if shared:
        groups = runs.groupby(runs.index // shared)
        combined = groups.agg(COMBINE[one.get("group")])
        runs = combined[groups.size() == shared]
    if one.get("within"):
        within = tuple(float(end) for end in one["within"])
    else:
        within = _possible(one)
    if "converged" not in one:
        return Runs(runs, within=within)
    converged = values_of(one["study"], one["arm"], one["converged"])
    converged = converged.reindex(runs.index).fillna(0)
    return Runs(runs, frozenset(runs.index[converged == 0]), within)


def _possible(one):
    """Return the ends of what the values of a series can be."""
    if "over" in one:
        return 0.0, 100.0
    low, high = ANYTHING
    if in_percent(one["select"]["measure"]):
        low = 0.0
        high = 100.0
    if "less" not in one:
        return low, high
    low_of_less, high_of_less = _possible(one["less"])
    return low - high_of_less, high - low_of_less


# The verdict on a statement


def _decided(statement, outcome, level_for, level_against, num_statements, known):
    """Return the outcome of a statement with its verdict, and both in words.

    `level_for` and `level_against` are those of the statement and of its contrary.
    """
    holds = outcome.p_for <= level_for
    fails = outcome.p_against <= level_against
    part_level_for = level_for / _num_failing(statement)
    part_level_against = level_against / statement.needed
    error = math.nan
    is_safe = True
    if holds or fails:
        verdict = HOLDS if holds else DOES_NOT_HOLD
        outcome = replace(outcome, verdict=verdict)
        part_level = part_level_for if holds else part_level_against
        error, is_safe = _error(statement, outcome, num_statements, part_level, known)
    if not is_safe:
        outcome = replace(outcome, verdict=UNDECIDED)
    p = _corrected_p(outcome, level_for, level_against)
    sides = [_sides(part.ends, part_level_for, part_level_against, holds) for part in outcome.parts]
    place = _place_of_deciding_part(statement, outcome.parts, fails)
    number, sentence, level = _numbers_in_words(
        statement, outcome.parts, place, sides, p, part_level_for
    )
    kind = ""
    if not is_safe:
        kind = UNSAFE
        sentence += f" Open: with runs of this shape the test errs {_times(error)}."
    elif outcome.verdict == UNDECIDED:
        kind, remedy = _open(statement, outcome.parts, part_level_for, part_level_against)
        sentence += remedy
    elif error > TOLERATED:
        sentence += f" With runs of this shape the test errs {_times(error)}."
    return replace(
        outcome,
        number=number,
        sentence=sentence,
        level=level,
        kind=kind,
        error=error,
        asked=asked_of(statement.parts[place]),
    )


def _corrected_p(outcome, level_for, level_against):
    """Return the smaller p value of both directions, to be compared with 5%."""
    p_for = outcome.p_for * LEVEL / level_for
    p_against = outcome.p_against * LEVEL / level_against
    return min(1.0, p_for, p_against)


def _numbers_in_words(statement, parts, place, sides, p, part_level_for):
    """Return the number of the part that decides, a sentence, and the level of the interval.

    `place` is that of the part that decides, `sides` are what the ends of each interval leave out.
    """
    numbers = [
        _effect_in_words(part, fields, sides_of_part, statement)
        for part, fields, sides_of_part in zip(parts, statement.parts, sides, strict=True)
    ]
    has_interval = "[" in numbers[place]
    if has_interval:
        level = 1 - sum(sides[place])
        certainty = f" ({100 * level:.3g}% interval, p* {_p(p)})"
    else:
        level = math.nan
        certainty = f" (p* {_p(p)})"
    number = _number(statement, parts, numbers, place, part_level_for) + certainty
    sentence = _all_numbers(statement, parts, numbers, certainty) + _notes(statement, parts)
    return number, sentence, level


def _place_of_deciding_part(statement, parts, fails):
    """Return the place of the part whose p value decides the statement, or its contrary."""
    places = range(len(parts))
    if fails:
        by_p_against = sorted(places, key=lambda place: parts[place].p_against)
        return by_p_against[_num_failing(statement) - 1]
    by_p_for = sorted(places, key=lambda place: parts[place].p_for)
    return by_p_for[statement.needed - 1]


def _unit_behind(statement):
    """Return the unit of a statement as it stands behind numbers; a percent sign stands in them."""
    if statement.unit in ("", PERCENT):
        return ""
    return f" {statement.unit}"


def _units_of_runs(statement):
    """Return in words what counts as one run."""
    if statement.shared:
        return f"groups of {statement.shared} runs"
    return "runs"


def _number(statement, parts, numbers, place, part_level_for):
    """Return the number that stands for the statement: that of the part that decides."""
    if statement.holds_if == "most":
        num_passed = sum(part.p_for <= part_level_for for part in parts)
        return f"{num_passed} of {len(parts)} parts pass"
    number = numbers[place] + _unit_behind(statement)
    if len(parts) == 1:
        return number
    return f"{parts[place].of}: {number}"


def _all_numbers(statement, parts, numbers, certainty):
    """Return a sentence with the numbers of all parts."""
    unit = _unit_behind(statement)
    if len(parts) == 1:
        sizes = " + ".join(str(size) for size in parts[0].seen.sizes)
        return f"{numbers[0]}{unit}{certainty}, {sizes} {_units_of_runs(statement)}."
    named = [f"{part.of} {number}" for part, number in zip(parts, numbers, strict=True)]
    return f"{'; '.join(named)}{unit}{certainty}."


def decided(statement, outcome, num_statements):
    """Yield the name of each part that supports a verdict, and the question that its test answers.

    A question is how often the test errs at its level, or None if no simulation can say that. The
    level is that of the first step of Holm's correction over the paper's statements, each in both
    directions.
    """
    if outcome.verdict not in (HOLDS, DOES_NOT_HOLD):
        return
    holds = outcome.verdict == HOLDS
    # A statement holds by mistake if so many parts are wrong that too few others are left. It fails
    # by mistake if as many are wrong as it needs. The level is shared by them (Bonferroni).
    num_sharing = _num_failing(statement) if holds else statement.needed
    level_of_question = LEVEL / (2 * num_statements) / num_sharing
    for part in outcome.parts:
        if holds:
            p, num_ends = part.p_for, 1
        else:
            p, num_ends = part.p_against, part.num_ends
        supports = p <= LEVEL / num_sharing
        if supports:
            question = Asked(part, holds, level_of_question / num_ends)
            yield part.of, question if question.known else None


def _error(statement, outcome, num_statements, level, known):
    """Return how often the tests err that support a verdict, and whether the verdict is safe.

    The error is in multiples of the level, the largest of as many parts as the verdict needs, and
    NaN if none is known. The verdict is safe if the p value of each of them stays below the level
    when it counts as often as such a one came by chance.
    """
    num_parts = statement.needed if outcome.verdict == HOLDS else _num_failing(statement)
    most_by_chance = TOLERATED * level
    unknown = {"error": math.nan, "chance": 0.0}
    answers = []
    for _, question in decided(statement, outcome, num_statements):
        if question is None:
            answers.append(unknown)
        else:
            answers.append(known.get(question.digest, unknown))

    def how_bad(answer):
        error = -1.0 if math.isnan(answer["error"]) else answer["error"]
        return answer["chance"] > most_by_chance, error

    answers = sorted(answers, key=how_bad)[:num_parts]
    answers = [answer for answer in answers if not math.isnan(answer["error"])]
    is_safe = all(answer["chance"] <= most_by_chance for answer in answers)
    largest = max((answer["error"] for answer in answers), default=math.nan)
    return largest, is_safe


def _times(error):
    """Return in words how often a test errs; `error` is in multiples of its level."""
    return f"{error:.2g} times as often as its level says"


def _notes(statement, parts):
    """Return what a reader must know of looks, and of runs that are all equal."""
    notes = ""
    if statement.looks:
        numbers = " and ".join(f"{number:,}" for number in statement.looks)
        notes += f" Tested at {numbers} runs, each time for its share of the level"
        if any(part.approximate for part in parts):
            notes += "; an arm was not extended: as if the number had been set before."
        else:
            notes += "."
    sizes_of_equal = []
    for part in parts:
        if part.seen.equal:
            sizes_of_equal += part.seen.sizes
    if sizes_of_equal:
        unseen = 100 * (1 - LEVEL ** (1 / min(sizes_of_equal)))
        notes += " All runs are equal: failures in up to"
        notes += f" {unseen:.2g}% of trainings could go unseen."
    return notes


def _sides(ends, level_for, level_against, holds):
    """Return what the two ends of an interval leave out, so that they agree with the verdict."""
    low, high = ends
    if math.isfinite(low) and math.isfinite(high):
        both = level_for if holds else min(level_for, level_against / 2)
        return both, both
    if math.isfinite(low):
        return level_for, level_against
    return level_against, level_for


def _open(statement, parts, level_for, level_against):
    """Return the kind of an undecided statement, and in words the runs that would decide it."""
    needed = statement.needed
    by_runs_for = sorted(parts, key=lambda part: part.runs_needed(level_for))
    last = by_runs_for[needed - 1]
    runs_against = []
    for part in parts:
        runs_against.append(part.runs_needed(level_against / part.num_ends, contrary=True))
    runs_against.sort()
    num_runs = min(last.runs_needed(level_for), runs_against[len(parts) - needed])
    if math.isfinite(num_runs):
        units = _units_of_runs(statement)
        return TOO_FEW, f" Too few runs: about {num_runs:,} {units} of each would decide."
    never_holds, never_fails = last.never
    reason = never_fails if last.ahead < 0 else never_holds
    if not reason:
        reason = "what was found is too near the bound"
        if last.seen.equal:
            reason = "all runs are equal"
    return HOPELESS, f" No number of runs decides: {reason}."


def _effect_in_words(part, fields, sides, statement):
    """Return the effect of a part with its interval: "+1.0% [+0.9%, +1.2%]".

    `fields` are those of the part in the file of the paper.
    """
    if part.shown:
        return part.shown
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.seen.effect)}"
    unit = fields.get("unit", statement.unit)
    is_difference = len(series(fields)) > 1
    sign = "+" if is_difference else ""
    effect, low, high = _effect_and_interval(part, fields, sides, unit)
    decimals = None
    suffix = "" if unit in ("", PERCENT, statement.unit) else f" {unit}"
    percent = ""
    if unit == PERCENT:
        percent = "%"
        bounds = {end + _shift(fields) for end in part.ends}
        # one decimal of a percentage, or more if an end would stand on the bound
        stands_on_bound = round(low, 1) in bounds or round(high, 1) in bounds
        decimals = 2 if stands_on_bound else 1
    numbers = (effect,)
    if low < high and math.isfinite(low) and math.isfinite(high):
        numbers = (effect, low, high)
    mean, *ends = [text + percent for text in together(numbers, sign, decimals)]
    if not ends:
        return mean + suffix
    return f"{mean} [{', '.join(ends)}]{suffix}"


def _shift(fields) -> float:
    """Return what is added to a tested difference to show the difference itself."""
    return 0.0 if "times" in fields else fields.get("by", 0.0)


def _effect_and_interval(part, fields, sides, unit):
    """Return a part's effect and the ends of its interval, no farther than values can be."""
    shift = _shift(fields)
    effect = part.seen.effect + shift
    low, high = part.interval(sides)
    ends = low + shift, high + shift
    return effect, *_as_far_as_values_can_be(effect, *ends, part, fields, unit)


def _as_far_as_values_can_be(effect, low, high, part, fields, unit):
    """Return the ends of an interval, no farther than what is shown of a part can be."""
    is_multiple = "times" in fields or any("less" in one for one in series(fields))
    largest = math.inf if is_multiple else _largest(unit)
    if math.isfinite(largest):
        is_difference = len(series(fields)) > 1
        least = -largest if is_difference else 0.0
        most = largest
    else:
        least, most = part.seen.within
    if not least <= effect <= most:
        return low, high
    return max(low, least), min(high, most)


def asked_of(fields):
    """Return in words what is asked of the number that is shown of a part.

    `fields` are those of the part in the file of the paper.
    """
    if "rising" in fields or "times" in fields:  # of these what lies beyond is shown
        return "more than 0"
    if "high" in fields:
        return f"more than {plain(fields.get('by', 0))}"
    least = fields.get("from")
    most = fields.get("to")
    if least is not None and most is not None:
        return f"{plain(least)} to {plain(most)}"
    words = {"above": "more than", "below": "less than", "from": "at least", "to": "at most"}
    bounds = [f"{word} {plain(fields[name])}" for name, word in words.items() if name in fields]
    return bounds[0]


def _largest(unit):
    """Return the largest value in a unit: 100 of a share, 200 of "losses of 200"."""
    if unit in (PERCENT, "percentage points"):
        return 100
    number = re.search(r" of (\d+)$", unit)
    return int(number[1]) if number else math.inf


def _p(p):
    """Return a p value in words, on its side of the level: 0.0501 as 0.051."""
    if p < 0.001:
        return "< 0.001"
    if round(p, 3) == LEVEL:
        if p > LEVEL:
            return f"= {LEVEL + 0.001:.3f}"
        if p < LEVEL:
            return f"= {LEVEL - 0.001:.3f}"
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
    def num_ends(self):
        """How many of its ends are finite."""
        return sum(math.isfinite(end) for end in self.ends)

    @property
    def ahead(self):
        """How far the effect lies inside the ends; negative: outside."""
        low, high = self.ends
        return min(self.seen.effect - low, high - self.seen.effect)

    def runs_needed(self, level, contrary=False):
        """Return about how many runs of each arm would decide at a level, with power 80%."""
        why_never_for, why_never_against = self.never
        why_never = why_never_against if contrary else why_never_for
        ahead = -self.ahead if contrary else self.ahead
        if why_never or ahead <= 0:
            return math.inf
        level = level / self.seen.looks
        num_arms = len(self.seen.sizes)
        num_runs = max(self.seen.sizes)
        if not self.seen.equal:
            needed = runs_for(ahead, level, self.seen.se * math.sqrt(num_runs))
            return max(needed, num_runs + 1)
        needed = num_runs
        while least_p(*[needed] * num_arms) > level:
            needed += 1
        return max(needed, num_runs + 1)


@dataclass(frozen=True)
class Runs:
    """A series of runs: run -> value, and the runs that stand at their cap (empty: none)."""

    values: pd.Series
    open: frozenset = frozenset()
    within: tuple = ANYTHING  # the ends of what its values can be

    @property
    def never(self):
        """Why nothing can be below it, if no run converged."""
        if self.open and len(self.open) == len(self.values):
            return "no run of an arm converged before its cap"
        return ""

    def raised(self, limit):
        """Return the values, those at their cap at least as the limit."""
        is_open = self.values.index.isin(self.open)
        return self.values.mask(is_open, self.values.clip(lower=limit))

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
        num_converged = len(self.values) - len(self.open)
        return f"> {mean} ({num_converged} of {len(self.values)} converged)"


class _Tests(NamedTuple):
    """The tests of one part: as runs were seen, and where a run at its cap may count otherwise."""

    seen: Test
    least: Test  # of the least difference that there can be
    most: Test  # and of the largest


def series(part):
    """Return the series that a part speaks of."""
    names = ("high", "low", "first", "second", "value")
    single = [part[name] for name in names if part.get(name)]
    return single + part.get("rising", [])


def tried(part, runs, looks=(), times=1) -> Part:
    """Return the outcome of a part; `runs` are those of its series, in their order.

    looks: numbers of runs at which it was tested, with those of one stage between two of them;
    times: how often its statement was, or will be.
    """
    if part.get("paired"):
        runs = _in_all_series(runs)
    stages, is_approximate = _stages(runs, looks)
    if "rising" in part:
        return _tried_trend(part, runs, stages, times)
    tests = _joined_tests(part, runs, stages, looks, times, is_approximate)
    low, high = _ends(part)
    # Where no run converged nothing can be below: it is not known how long they would take.
    never_for = runs[1].never if len(runs) > 1 else ""
    never_against = runs[0].never
    p_above_low = 1.0 if never_for else _p_value(tests.least, low, 1)
    p_below_high = _p_value(tests.most, high, -1)
    p_below_low = 1.0 if never_against else _p_value(tests.most, low, -1)
    p_above_high = _p_value(tests.least, high, 1)
    num_ends = sum(math.isfinite(end) for end in (low, high))
    shown = ""
    if any(one.open for one in runs):
        shown = " against ".join(str(one) for one in runs)
    return Part(
        part.get("of", ""),
        tests.seen,
        (low, high),
        p_for=max(p_above_low, p_below_high),
        p_against=min(1.0, num_ends * min(p_below_low, p_above_high)),
        shown=shown,
        never=(never_for, never_against),
    )


def _in_all_series(runs):
    """Return of each series the runs that all of them have."""
    common = runs[0].values.index
    for one in runs[1:]:
        common = common.intersection(one.values.index)
    return [one.only(one.values.loc[common]) for one in runs]


def _ends(part):
    """Return the low and the high end between which the difference of a part must lie."""
    if "high" in part:
        return 0, math.inf
    low = part.get("from", part.get("above", -math.inf))
    high = part.get("to", part.get("below", math.inf))
    return low, high


def _joined_tests(part, runs, stages, looks, times, is_approximate):
    """Return the tests of a part, in which those of its stages are joined."""
    runs_of_all_stages = _up_to(runs, looks[-1]) if looks else runs
    tests = _tests(part, runs_of_all_stages)
    if len(stages) == 1 and times == 1:
        return tests
    tests_of_stages = [_tests(part, stage) for stage in stages]
    seen, least, most = zip(*tests_of_stages, strict=True)
    return _Tests(
        Joined(tests.seen, seen, times, is_approximate),
        Joined(tests.least, least, times, is_approximate),
        Joined(tests.most, most, times, is_approximate),
    )


def _p_value(test, end, side):
    """Return the p value of being above (side 1) or below (-1) an end, which may be infinite."""
    if math.isfinite(end):
        return test.p_value(end, side)
    return 0.0 if side * end < 0 else 1.0


def _up_to(runs, number):
    """Return the first runs of each series."""
    return [one.of_stage(0, number) for one in runs]


def _stages(runs, looks):
    """Return the runs of each stage, and whether all are one since an arm was not extended."""
    if not looks:
        return [runs], False
    stages = [_up_to(runs, looks[0])]
    for low, high in pairwise(looks):
        added = [one.of_stage(low, high) for one in runs]
        num_extended = sum(len(one.values) >= LEAST_STAGE for one in added)
        if num_extended == 0:
            break
        if num_extended < len(added):
            return [_up_to(runs, looks[-1])], True
        stages.append(added)
    return stages, False


def _tests(part, runs) -> _Tests:
    """Return the tests of a part; all three are one where no run stands at its cap."""
    if len(runs) == 1:
        test = Mean(runs[0].values, runs[0].within)
        return _Tests(test, test, test)
    first, second = runs
    times = part.get("times", 1)
    by = part.get("by", 0)
    is_paired = part.get("paired", False)
    low, high = (times * end + by for end in second.within)
    within = first.within[0] - high, first.within[1] - low
    second = replace(second, values=times * second.values + by)
    seen = _difference(first.values, second.values, is_paired, within)
    if not (first.open or second.open):
        return _Tests(seen, seen, seen)
    limit = max(first.values.max(), second.values.max())
    least = _difference(first.values, second.raised(limit), is_paired, within)
    most = _difference(first.raised(limit), second.values, is_paired, within)
    return _Tests(seen, least, most)


def _difference(first, second, is_paired, within):
    """Return the test of a difference, of pairs of runs or of two arms."""
    if is_paired:
        return Mean((first - second).dropna(), within)
    return Arms(first, second)


# Trends


def _tried_trend(part, columns, stages, times):
    """Return the outcome of a trend along series of runs, `columns`."""
    never_for = _first_reason(columns[:-1])
    never_against = _first_reason(columns[1:])
    blocks = [_blocks(stage) for stage in stages]
    p_for = 1.0
    if not never_for:
        p_for = joined_p([_page(table, stays) for table, stays in blocks], times)
    p_against = 1.0
    if not never_against:
        p_values = [_page(table[:, ::-1], stays[:, ::-1]) for table, stays in blocks]
        p_against = joined_p(p_values, times)
    is_capped = any(stays.any() for _, stays in blocks)
    shown = ", ".join(str(column) for column in columns) if is_capped else ""
    table = np.concatenate([table for table, _ in blocks])
    return Part(
        part.get("of", ""),
        _mean_rank_correlation(table),
        (0, math.inf),
        p_for,
        p_against,
        shown,
        (never_for, never_against),
    )


def _first_reason(columns):
    """Return why nothing can be below one of some series, "" if there is no reason."""
    for column in columns:
        if column.never:
            return column.never
    return ""


def _mean_rank_correlation(table):
    """Return the rank correlation of runs with the order of the series, [runs, series]."""
    num_runs, num_series = table.shape
    places = np.arange(num_series)
    correlations = []
    for row in table:
        # `scipy.stats` takes a second, which every process would pay: it is read on first use
        ranks = scipy.stats.rankdata(row)
        correlation = np.corrcoef(places, ranks)[0, 1] if np.ptp(ranks) else 0.0
        correlations.append(correlation)
    # under chance a rank correlation has this spread
    spread = max(float(np.std(correlations, ddof=1)), 1 / math.sqrt(num_series - 1))
    se = spread / math.sqrt(num_runs)
    return Difference(float(np.mean(correlations)), se, math.inf, (num_runs,))


def _blocks(columns):
    """Return the runs that all series have, and which stand at their cap: [runs, series] each."""
    table = pd.concat([column.values for column in columns], axis=1, join="inner")
    stays = np.array([table.index.isin(column.open) for column in columns]).T
    return table.to_numpy(), stays


def _page(table, stays):
    """Return the p value of Page's test that values rise along the series."""
    rows = [_least(row, caps) for row, caps in zip(table, stays, strict=True)]
    return float(scipy.stats.page_trend_test(np.array(rows)).pvalue)


def _least(row, caps):
    """Return the values of a run, those at their cap raised so that they rise least."""
    choices = []
    for place, (value, is_capped) in enumerate(zip(row, caps, strict=True)):
        options = [value]
        if is_capped:
            # just above another value; of two such values the earlier one is the larger
            step = (1 - place / len(row)) / 2
            options += [other + step for other in row if other >= value]
        choices.append(options)
    places = np.arange(len(row))
    return min(product(*choices), key=lambda values: places @ scipy.stats.rankdata(values))
