"""Statements of a paper, each as a test on our runs, and the verdict on it.

Of the m parts of a statement k must hold: all, or more than half if the paper says "in most". If
that is false at least m - k + 1 parts are false, one of them among the k smallest p values: so the
k-th smallest times m - k + 1 is a p value, whatever the parts have in common. The contrary, that at
least m - k + 1 parts fail, has the (m - k + 1)-th smallest of its p values, times k. Both are
corrected by Holm's method over all statements of the paper, those without runs included; *holds*
and *does not hold* are decided at 5%.

Source: Holm (1979); Berger (1982), intersection-union tests; Benjamini and Heller (2008), partial
conjunctions.
"""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict

import numpy as np

from ..stats import plain, together
from .reader import read
from .statement_tests import CAPPED, LEVEL, MIN_RUNS, PARTS, Runs, grouped, series, tried

HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "undecided"
STATEMENT_NOT_RUN = "not run"
PERCENT = "percent"  # the unit that is written beside each number
KINDS = {"table": "Table", "figure": "Fig.", "section": "Sec."}
ONE_PLACE = "a place needs one of table, figure, section"
# where something is printed: one of table, figure and section
Place = TypedDict("Place", dict.fromkeys([*KINDS, "row", "column"], str), total=False)
# the verdict before a test was changed, and why it was
Former = TypedDict("Former", {"verdict": Literal[HOLDS, DOES_NOT_HOLD, UNDECIDED], "why": str})


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
    tested: str  # what is tested, in our words
    test: Literal["ordering", "range", "trend", "bound"]
    parts: list  # as `statement_tests.PARTS`
    unit: str = ""  # of the numbers shown; a part may have its own
    figure: str = ""  # name of the figure that shows it
    most: bool = False  # whether it holds already if more than half of its parts do
    shared: int = 0  # runs in a row that share their opponents: such groups are independent
    former: Former = field(default_factory=dict)

    @property
    def needed(self):
        """Number of parts that must hold."""
        return len(self.parts) // 2 + 1 if self.most else len(self.parts)

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


def check_statement(statement, where: str) -> None:
    """Raise ValueError if its parts are not those of its test."""
    if not titled(statement.place):
        raise ValueError(f"{where}: {ONE_PLACE}, not {statement.place}")
    for part in statement.parts:
        read(PARTS[statement.test], part, f"{where}, a part")
        if statement.test not in CAPPED and any("converged" in one for one in series(part)):
            raise ValueError(f"{where}: converged is for {' and '.join(CAPPED)} only")


def judge(statements, values):
    """Return the Outcome of each statement; `values` is (study, arm, metric) -> {run: value}."""
    tried = [_try(statement, values) for statement in statements]
    # one that has no runs yet counts as well: no verdict may change when they come
    holds = holm([outcome.p_for if outcome.parts else 1.0 for outcome in tried])
    against = holm([outcome.p_against if outcome.parts else 1.0 for outcome in tried])
    return [
        _decided(statement, outcome, *p_values) if outcome.parts else outcome
        for statement, outcome, *p_values in zip(statements, tried, holds, against, strict=True)
    ]


def holm(p_values):
    """Return p values corrected by Holm's step-down method.

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [0.0] * len(order), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _try(statement, values):
    parts = []
    for part in statement.parts:
        found = [_runs(one, values, statement.shared) for one in series(part)]
        for one, runs in zip(series(part), found, strict=True):
            if (number := len(runs.values)) < MIN_RUNS:
                text = f"{number} of at least {MIN_RUNS} runs" if number else "no runs"
                what = f"{text} of {one['metric']}, arm {one['arm']}, study {one['study']}"
                return Outcome(STATEMENT_NOT_RUN, "", f"{what}.")
        parts.append(tried(part, found))
    needed = statement.needed
    fail = len(parts) - needed + 1  # parts that fail if the statement is false
    p_for = fail * sorted(part.p_for for part in parts)[needed - 1]
    p_against = needed * sorted(part.p_against for part in parts)[fail - 1]
    return Outcome(UNDECIDED, "", "", min(1.0, p_for), min(1.0, p_against), tuple(parts))


def _runs(one, values, shared):
    found = Runs(values(one["study"], one["arm"], one["metric"]))
    if "converged" in one:
        reached = values(one["study"], one["arm"], one["converged"])
        found = replace(found, open=frozenset(run for run in found.values if not reached.get(run)))
    return grouped(found, shared) if shared else found


def _decided(statement, outcome, p_for, p_against):
    holds, fails = p_for <= LEVEL, p_against <= LEVEL
    verdict = HOLDS if holds else DOES_NOT_HOLD if fails else UNDECIDED
    parts, unit = outcome.parts, statement.unit
    shown = [
        _effect(part, *of, statement) for part, *of in zip(parts, statement.parts, strict=True)
    ]
    # the part that decides: the weakest, or the one that speaks most against the statement
    sides = [-part.p_against if fails else part.p_for for part in parts]
    pick = sides.index(max(sides))
    equal = any(part.effect == part.half == 0 for part in parts)
    hopeless = verdict == UNDECIDED and statement.test == "ordering" and equal
    last = " All runs of a part are equal: no number of runs decides." if hopeless else ""
    unit = f" {unit}" if unit not in ("", PERCENT) else ""
    p = f" (p* {_p(p_against if fails else p_for)})"
    number = shown[pick] + unit
    if len(parts) == 1:
        counted = f"groups of {statement.shared} runs" if statement.shared else "runs"
        sentence = f"{number}{p}, {parts[0].runs} {counted}.{last}"
    else:
        number = f"{parts[pick].of}: {number}"
        listed = "; ".join(f"{part.of} {text}" for part, text in zip(parts, shown, strict=True))
        sentence = f"{listed}{unit}{p}.{last}"
    if statement.most:
        passed = sum(part.p_for <= LEVEL for part in parts)
        number = f"{passed} of {len(parts)} parts pass, each at 5%"
    return Outcome(verdict, number + p, sentence, p_for, p_against, parts)


def _effect(part, given, statement):
    if part.shown:
        return part.shown
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.effect)}"
    unit = given.get("unit", statement.unit)
    difference = len(series(given)) > 1
    low, high = part.effect - part.half, part.effect + part.half
    most = math.inf if {"times", "by"} & set(given) else _largest(unit)
    least = -most if difference else 0.0
    if math.isfinite(most) and least <= part.effect <= most:
        low, high = max(low, least), min(high, most)
    sign, percent = "+" if difference else "", "%" if unit == PERCENT else ""
    numbers = (part.effect, low, high) if low < high else (part.effect,)
    mean, *ends = [n + percent for n in together(numbers, sign, 1 if percent else None)]
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
