"""Statements of a paper, each as a test on our runs and one of its contrary, and the verdict on it.

Of the m parts of a statement k must hold: all, more than half if the paper says "in most", or any.
If that is false at least m - k + 1 parts are false, one of them among the k smallest p values: so
the k-th smallest times m - k + 1 is a p value, whatever the parts have in common. The contrary,
that at least m - k + 1 parts fail, has the (m - k + 1)-th smallest of its p values, times k.

One correction by Holm's method covers both directions of all statements of a paper, those without
runs included. Every interval is shown at the levels at which it decides: its lower end at that of
the statement, its upper end at that of the contrary, so that it and the verdict say the same.

Source: Holm (1979); Berger (1982), intersection-union tests; Benjamini and Heller (2008), partial
conjunctions.
"""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict

import numpy as np

from ..stats import plain, together
from .reader import DERIVED, read
from .statement_tests import CAPPED, ENDS, LEAST_TREND, PARTS, Runs, grouped, series, tried
from .verdicts import MIN_RUNS

LEVEL = 0.05
HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "undecided"
STATEMENT_NOT_RUN = "not run"
TOO_FEW, HOPELESS = "too few runs", "no number of runs"  # kinds of undecided
PERCENT = "percent"  # the unit that is written beside each number
COMBINE = {None: np.mean, "largest": max, "smallest": min}
KINDS = {"table": "Table", "figure": "Fig.", "section": "Sec."}
ONE_PLACE = "a place needs one of table, figure, section"
# where something is printed: one of table, figure and section
Place = TypedDict("Place", dict.fromkeys([*KINDS, "row", "column"], str), total=False)


def titled(place) -> str:
    """Return a place without row and column in words, "Table 1"; "" if it is not one place."""
    found = [f"{name} {place[kind]}" for kind, name in KINDS.items() if kind in place]
    return found[0] if len(found) == 1 else ""


@dataclass(frozen=True)
class Statement:
    """A sentence that a paper presents as a result, with the test that stands for it."""

    id: str
    says: str  # the paper's words
    place: Place
    tested: str | None  # what is tested, in our words; default: the paper's
    test: Literal["ordering", "range", "trend", "bound"]
    parts: list  # as `statement_tests.PARTS`
    unit: str = ""  # of the numbers shown; a part may have its own
    figure: str = ""  # name of the figure that shows it
    holds_if: Literal["all", "most", "any"] = "all"  # of its parts hold
    shared: int = 0  # runs in a row that share their opponents: such groups are independent
    former: tuple = field(default=(), metadata=DERIVED)  # verdicts before a change, and why

    @property
    def needed(self):
        """Number of parts that must hold."""
        number = len(self.parts)
        return {"all": number, "most": number // 2 + 1, "any": 1}[self.holds_if]

    @property
    def where(self):
        """The place in words; a section with a name is called by it."""
        name = self.place.get("section", "")
        named = name[:1].isalpha() and name[:1] not in "IVX"
        return name if named else titled(self.place)


@dataclass(frozen=True)
class Outcome:
    """The verdict on a statement."""

    verdict: str
    number: str
    sentence: str
    p_for: float = math.nan
    p_against: float = math.nan
    parts: tuple = field(default=())
    level: float = math.nan  # of the interval in `number`, 0..1
    kind: str = ""  # of an undecided one: TOO_FEW or HOPELESS
    runs_needed: float = math.nan  # that would decide an undecided one


def check_statement(statement, where: str) -> None:
    """Raise ValueError if its parts are not those of its test."""
    if not titled(statement.place):
        raise ValueError(f"{where}: {ONE_PLACE}, not {statement.place}")
    if not statement.parts:
        raise ValueError(f"{where}: parts is empty; a statement has at least one")
    for part in statement.parts:
        read(PARTS[statement.test], part, f"{where}, a part")
        if statement.test not in CAPPED and any("converged" in one for one in series(part)):
            raise ValueError(f"{where}: converged is for {' and '.join(CAPPED)} only")
        if statement.test == "trend" and len(part["rising"]) < LEAST_TREND:
            raise ValueError(f"{where}: rising needs at least {LEAST_TREND} arms or metrics")
        if (names := ENDS.get(statement.test)) and not set(names) & set(part):
            raise ValueError(f"{where}: a part needs {' or '.join(names)}, a number")


def judge(statements, values):
    """Return the Outcome of each statement; values: (study, arm, metric, which) -> {run: value}."""
    outcomes = [_try(statement, values) for statement in statements]
    # one that has no runs yet counts as well: no verdict may change when they come
    p_values = [(o.p_for, o.p_against) if o.parts else (1.0, 1.0) for o in outcomes]
    levels = holm_levels([p for both in p_values for p in both])
    tests = zip(statements, outcomes, levels[::2], levels[1::2], strict=True)
    return [_decided(*test) if test[1].parts else test[1] for test in tests]


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
                text += " of {metric}, arm {arm}, study {study}.".format(**one)
                return Outcome(STATEMENT_NOT_RUN, "", text)
        parts.append(tried(part, found))
    needed = statement.needed
    fail = len(parts) - needed + 1  # parts that fail if the statement is false
    p_for = fail * sorted(part.p_for for part in parts)[needed - 1]
    p_against = needed * sorted(part.p_against for part in parts)[fail - 1]
    return Outcome(UNDECIDED, "", "", min(1.0, p_for), min(1.0, p_against), tuple(parts))


def _runs(one, values, shared):
    def named(series):
        return values(series["study"], series["arm"], series["metric"], one.get("history", "last"))

    found = Runs(named(one))
    if less := one.get("less"):
        less = named(less)
        found = Runs({run: v - less[run] for run, v in found.values.items() if run in less})
    if "converged" in one:
        reached = named(one | {"metric": one["converged"]})
        found = replace(found, open=frozenset(run for run in found.values if not reached.get(run)))
    return grouped(found, shared, COMBINE[one.get("group")]) if shared else found


def _decided(statement, outcome, level_for, level_against):
    parts, needed = outcome.parts, statement.needed
    fail, unit = len(parts) - needed + 1, statement.unit
    holds, fails = outcome.p_for <= level_for, outcome.p_against <= level_against
    p = min(outcome.p_for * LEVEL / level_for, outcome.p_against * LEVEL / level_against)
    level_for, level_against = level_for / fail, level_against / needed  # of a part
    verdict = HOLDS if holds else DOES_NOT_HOLD if fails else UNDECIDED
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
    kind, runs, last = "", math.nan, ""
    if verdict == UNDECIDED:
        kind, runs, last = _open(statement, parts, level_for, level_against, groups)
    found = number + p, sentence + last, outcome.p_for, outcome.p_against, parts
    return Outcome(verdict, *found, certainty, kind, runs)


def _sides(ends, level_for, level_against, holds):
    # what the two ends of an interval leave out, so that they agree with the verdict
    if None not in ends:
        both = level_for if holds else min(level_for, level_against / 2)
        return both, both
    return (level_against, level_for) if ends[0] is None else (level_for, level_against)


def _open(statement, parts, level_for, level_against, groups):
    # the kind of an undecided statement, the runs that would decide it, and both in words
    needed = statement.needed
    last = sorted(parts, key=lambda part: part.runs_needed(level_for))[needed - 1]
    against = sorted(
        part.runs_needed(level_against / (1 if None in part.ends else 2), contrary=True)
        for part in parts
    )[len(parts) - needed]
    runs = min(last.runs_needed(level_for), against)
    if math.isfinite(runs):
        runs = max(runs, 1 + max(max(part.seen.sizes) for part in parts))
        return TOO_FEW, runs, f" Too few runs: about {runs:,} {groups} of each would decide."
    near = "all runs are equal" if last.seen.equal else "what was found is too near the bound"
    why = last.never[last.ahead < 0] or near
    return HOPELESS, math.inf, f" No number of runs decides: {why}."


def _effect(part, given, sides, statement):
    if part.shown:
        return part.shown
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.seen.effect)}"
    unit = given.get("unit", statement.unit)
    difference = len(series(given)) > 1
    effect, (low, high) = part.seen.effect, part.interval(sides)
    multiple = {"times", "by"} & set(given) or any("less" in one for one in series(given))
    most = math.inf if multiple else _largest(unit)
    least = -most if difference else 0.0
    if math.isfinite(most) and least <= effect <= most:
        low, high = max(low, least), min(high, most)
    sign, percent = "+" if difference else "", "%" if unit == PERCENT else ""
    numbers = (effect, low, high) if low < high else (effect,)
    # one decimal of a percentage, or more if an end would stand on the bound
    decimals = 2 if {round(low, 1), round(high, 1)} & set(part.ends) else 1
    mean, *ends = [n + percent for n in together(numbers, sign, decimals if percent else None)]
    behind = f" {unit}" if unit not in ("", PERCENT, statement.unit) else ""
    return f"{mean} [{', '.join(ends)}]{behind}" if ends else mean + behind


def _largest(unit):  # 100 of a share, 200 of "losses of 200"
    found = re.search(r" of (\d+)$", unit)
    share = unit in (PERCENT, "points of percent")
    return 100 if share else int(found[1]) if found else math.inf


def _p(p):
    # on its side of the level: 0.0501 as 0.051
    if p < 0.001:
        return "< 0.001"
    if p != LEVEL and round(p, 3) == LEVEL:
        return f"= {LEVEL + (0.001 if p > LEVEL else -0.001):.3f}"
    return f"= {p:.3f}"
