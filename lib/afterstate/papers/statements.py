"""Statements of a paper, each as a test on our runs, and the verdict on it.

A statement has one or several parts, each with a p value for the statement and one for its contrary
(:mod:`afterstate.papers.statement_tests`). Every part must hold, or, if the paper says "in most",
more than half of them. That k of m parts hold is false if at least m - k + 1 of them are false.
Take any so many false parts: only k - 1 parts are left, so one of the false is among the k smallest
p values. Hence the k-th smallest times m - k + 1 is a p value (Bonferroni over those false parts),
whatever the parts have in common; with k = m it is the largest. The contrary says that at least
m - k + 1 parts fail: its p value is the (m - k + 1)-th smallest of the contraries', times k; with
k = m the smallest, times m.

Both are corrected by Holm's method over all statements of the paper, those without runs included.
*holds* and *does not hold* are decided at 5%.

Source: Holm (1979); Berger (1982), intersection-union tests; Benjamini and Heller (2008), partial
conjunctions.
"""

import math
import re
from dataclasses import dataclass, field, replace

import numpy as np

from ..digits import plain, together
from .fields import check_fields, check_place, name_of
from .statement_tests import CAPPED, LEVEL, MIN_RUNS, SERIES_FIELDS, TESTS, Runs, grouped, series

HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "undecided"
STATEMENT_NOT_RUN = "not run"
PERCENT = "percent"  # the unit that is written beside each number
VERDICTS = (HOLDS, DOES_NOT_HOLD, UNDECIDED)
STATEMENT_FIELDS = {
    "id": str,
    "says": str,
    "place": dict,
    "tested": str,
    "test": str,
    "unit": str,
    "parts": list,
    "figure": str,
    "most": bool,
    "shared": int,
    "former": dict,
}
FORMER_FIELDS = {"verdict": str, "why": str}
PART_FIELDS = {
    "ordering": {"of", "unit", "high", "low", "paired", "times", "by"},
    "range": {"of", "unit", "first", "second", "paired", "from", "to"},
    "trend": {"of", "unit", "rising"},
    "bound": {"of", "unit", "value", "above", "below"},
}


@dataclass(frozen=True)
class Statement:
    """A sentence that a paper presents as a result, with the test that stands for it.

    Parameters
    ----------
    id : str
    says : str
        The paper's words.
    place : dict
        table, figure or section.
    tested : str
        What is tested, in our words.
    test : "ordering", "range", "trend" or "bound"
    parts : list of dict
        See `statement_tests`; series of runs are {study, arm, metric}, and `converged` with games
        until convergence.
    unit : str
        Of the numbers shown; a part may have its own.
    figure : str, optional
        Name of the figure that shows it.
    most : bool
        Whether it holds already if more than half of its parts do.
    shared : int, optional
        Number of runs in a row that share their opponents: only such groups are independent.
    former : dict, optional
        The verdict before its test was changed, and why it was.
    """

    id: str
    says: str
    place: dict
    tested: str
    test: str
    parts: list
    unit: str = ""
    figure: str = ""
    most: bool = False
    shared: int = 0
    former: dict = field(default_factory=dict)

    @property
    def needed(self):
        """Number of parts that must hold."""
        return len(self.parts) // 2 + 1 if self.most else len(self.parts)

    @property
    def where(self):
        """The place in words."""
        kind = next(kind for kind in ("table", "figure", "section") if kind in self.place)
        name = {"table": "Table", "figure": "Fig.", "section": "Sec."}[kind]
        place = self.place[kind]
        titled = kind == "section" and place[0].isalpha() and place[:1] not in "IVX"
        return place if titled else f"{name} {place}"


@dataclass(frozen=True)
class Outcome:
    """The verdict on a statement, with its number and a sentence."""

    verdict: str
    number: str
    sentence: str
    p_for: float = math.nan
    p_against: float = math.nan
    parts: tuple = field(default=())


def read_statement(entry, file):
    """Check an entry of a paper's file and return the Statement; ValueError names what is wrong."""
    where = f"{file}: statement {name_of(entry, 'id')}"
    required = {"id", "says", "place", "tested", "test", "parts"}
    check_fields(entry, STATEMENT_FIELDS, required, where)
    place = entry["place"]
    check_place(place | ({"row": "", "column": ""} if "table" in place else {}), where)
    if entry["test"] not in TESTS:
        raise ValueError(
            f"{where}: test is {entry['test']!r}; it must be one of {', '.join(TESTS)}"
        )
    if entry.get("former"):
        check_fields(entry["former"], FORMER_FIELDS, set(FORMER_FIELDS), f"{where}, former")
        if entry["former"]["verdict"] not in VERDICTS:
            raise ValueError(f"{where}: the former verdict is none of {', '.join(VERDICTS)}")
    for part in entry["parts"]:
        unknown = set(part) - PART_FIELDS[entry["test"]]
        if unknown:
            raise ValueError(f"{where}: unknown field {sorted(unknown)[0]!r} in a part")
        for one in series(part):
            check_fields(one, SERIES_FIELDS, {"study", "arm", "metric"}, f"{where}, a part")
            if "converged" in one and entry["test"] not in CAPPED:
                raise ValueError(f"{where}: converged is for {' and '.join(CAPPED)} only")
        if not series(part):
            raise ValueError(f"{where}: a part names no runs")
    return Statement(**entry)


def judge(statements, values):
    """Return the Outcome of each statement of a paper.

    Parameters
    ----------
    statements : list of Statement
    values : function ``(study, arm, metric)`` -> {run: value} of finished runs

    Returns
    -------
    list of Outcome
    """
    tried = [_try(statement, values) for statement in statements]
    # one that has no runs yet counts as well: no verdict may change when they come
    holds = holm([outcome.p_for if outcome.parts else 1.0 for outcome in tried])
    against = holm([outcome.p_against if outcome.parts else 1.0 for outcome in tried])
    return [
        _decided(statement, outcome, *p_values) if outcome.parts else outcome
        for statement, outcome, *p_values in zip(statements, tried, holds, against, strict=True)
    ]


def holm(p_values):
    """Return p values corrected for their number by Holm's step-down method.

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
        found = {id(one): _runs(one, values, statement.shared) for one in series(part)}
        for one in series(part):
            number = len(found[id(one)].values)
            if number < MIN_RUNS:
                text = f"{number} of at least {MIN_RUNS} runs" if number else "no runs"
                what = f"{text} of {one['metric']}, arm {one['arm']}, study {one['study']}"
                return Outcome(STATEMENT_NOT_RUN, "", f"{what}.")
        parts.append(TESTS[statement.test](part, lambda one, found=found: found[id(one)]))
    needed = statement.needed
    fail = len(parts) - needed + 1  # parts that fail if the statement is false
    p_for = fail * sorted(part.p_for for part in parts)[needed - 1]
    p_against = needed * sorted(part.p_against for part in parts)[fail - 1]
    return Outcome(UNDECIDED, "", "", min(1.0, p_for), min(1.0, p_against), tuple(parts))


def _runs(one, values, shared):
    """Return the Runs of a series."""
    found = Runs(values(one["study"], one["arm"], one["metric"]))
    if "converged" in one:
        reached = values(one["study"], one["arm"], one["converged"])
        found = replace(found, open=frozenset(run for run in found.values if not reached.get(run)))
    return grouped(found, shared) if shared else found


def _decided(statement, outcome, p_for, p_against):
    holds, fails = p_for <= LEVEL, p_against <= LEVEL
    verdict = HOLDS if holds else DOES_NOT_HOLD if fails else UNDECIDED
    # the part that decides: the weakest, or the one that speaks most against the statement
    pick = min(outcome.parts, key=lambda part: part.p_against) if fails else None
    pick = pick or max(outcome.parts, key=lambda part: part.p_for)
    equal = any(part.effect == part.low == part.high == 0 for part in outcome.parts)
    hopeless = verdict == UNDECIDED and statement.test == "ordering" and equal
    last = " All runs of a part are equal: no number of runs decides." if hopeless else ""
    shown = {
        id(part): _effect(part, given, statement)
        for part, given in zip(outcome.parts, statement.parts, strict=True)
    }
    unit = f" {statement.unit}" if statement.unit not in ("", PERCENT) else ""
    p = f" (p* {_p(p_against if fails else p_for)})"
    several = len(outcome.parts) > 1
    number = f"{pick.of}: {shown[id(pick)]}" if several else shown[id(pick)]
    if statement.most:
        passed = sum(part.p_for <= LEVEL for part in outcome.parts)
        number = f"{passed} of {len(outcome.parts)} parts pass, each at 5%"
    else:
        number += unit
    if several:
        listed = "; ".join(f"{part.of} {shown[id(part)]}" for part in outcome.parts)
        sentence = f"{listed}{unit}{p}.{last}"
    else:
        counted = f"groups of {statement.shared} runs" if statement.shared else "runs"
        sentence = f"{number}{p}, {pick.runs} {counted}.{last}"
    return Outcome(verdict, number + p, sentence, p_for, p_against, outcome.parts)


def _effect(part, given, statement):
    """Write the effect of a part with its interval, as far as such numbers can be."""
    if part.shown:
        return part.shown
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.effect)}"
    unit = given.get("unit", statement.unit)
    difference = statement.test == "ordering" or "second" in given
    low, high = part.low, part.high
    most = _largest(unit) if not {"times", "by"} & set(given) else math.inf
    least = -most if difference else 0.0
    if math.isfinite(most) and least <= part.effect <= most:
        low, high = max(low, least), min(high, most)
    sign = "+" if difference else ""
    numbers = (part.effect, low, high) if low < high else (part.effect,)
    percent = "%" if unit == PERCENT else ""
    mean, *ends = together(numbers, sign, 1 if percent else None)
    behind = f" {unit}" if unit not in ("", PERCENT, statement.unit) else ""
    inside = f" [{', '.join(end + percent for end in ends)}]" if ends else ""
    return f"{mean}{percent}{inside}{behind}"


def _largest(unit):
    """Return the largest value of a unit: 100 of a share, 200 of "losses of 200".

    >>> _largest("percent"), _largest("losses of 200"), _largest("points")
    (100, 200, inf)
    """
    if unit in (PERCENT, "points of percent"):
        return 100
    found = re.search(r" of (\d+)$", unit)
    return int(found[1]) if found else math.inf


def _p(p):
    """Write a p value so that it stands on its side of the level.

    >>> _p(0.0501), _p(0.0499), _p(0.05), _p(0.0123)
    ('= 0.051', '= 0.049', '= 0.050', '= 0.012')
    """
    if p < 0.001:
        return "< 0.001"
    if p != LEVEL and round(p, 3) == LEVEL:
        return f"= {LEVEL + (0.001 if p > LEVEL else -0.001):.3f}"
    return f"= {p:.3f}"
