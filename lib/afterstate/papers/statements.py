"""Statements of a paper, each as a test on our runs, and the verdict on it.

A statement has one or several parts, and every part must hold. A part compares means over runs:

    ordering   high > times * low (+ by), of two arms (Welch), or of the same runs (paired)
    range      low end <= first - second <= high end (either end, and second, may be missing)
    trend      rising along an ordered list of arms or metrics (Page's test, runs as blocks)
    bound      a mean is above or below a number

Each part has a p value for the statement and one for its contrary. For a statement count the
largest p value of its parts (all must hold) and, for the contrary, the smallest times their number;
both are corrected by Holm's method over the statements of the paper. *holds* and *does not hold*
are decided at 5%.

Where all runs are equal there is no spread to test with; then the p value is the smallest one that
a permutation test of that many runs could give. Simulated, a statement on the edge of being true
passes in at most 5% of cases with ten runs, in up to 7% with five.

Source: Page (1963), ordered hypotheses for multiple treatments; Holm (1979); Berger (1982),
intersection-union tests.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import stdtr

from ..stats import finite_runs, plain, t_quantile
from .fields import check_fields, check_place, name_of

HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "undecided"
STATEMENT_NOT_RUN = "not run"
LEVEL = 0.05
MIN_RUNS = 3
KINDS = ("ordering", "range", "trend", "bound")
STATEMENT_FIELDS = {
    "id": str,
    "says": str,
    "place": dict,
    "tested": str,
    "test": str,
    "unit": str,
    "parts": list,
    "figure": str,
}
SERIES_FIELDS = {"study": str, "arm": str, "metric": str}
PART_FIELDS = {
    "ordering": {"of", "high", "low", "paired", "times", "by"},
    "range": {"of", "first", "second", "paired", "from", "to"},
    "trend": {"of", "rising"},
    "bound": {"of", "value", "above", "below"},
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
        See the module; series of runs are {study, arm, metric}.
    unit : str
        Of the numbers shown.
    figure : str, optional
        Name of the figure that shows it.
    """

    id: str
    says: str
    place: dict
    tested: str
    test: str
    parts: list
    unit: str = ""
    figure: str = ""

    @property
    def where(self):
        """The place in words."""
        kind = next(kind for kind in ("table", "figure", "section") if kind in self.place)
        name = {"table": "Table", "figure": "Fig.", "section": "Sec."}[kind]
        place = self.place[kind]
        titled = kind == "section" and place[0].isalpha() and place[:1] not in "IVX"
        return place if titled else f"{name} {place}"


@dataclass(frozen=True)
class Part:
    """The outcome of one part: its effect with 95% interval, and the two p values."""

    of: str
    effect: float
    low: float
    high: float
    p_for: float
    p_against: float
    runs: int


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
    if entry["test"] not in KINDS:
        raise ValueError(
            f"{where}: test is {entry['test']!r}; it must be one of {', '.join(KINDS)}"
        )
    for part in entry["parts"]:
        unknown = set(part) - PART_FIELDS[entry["test"]]
        if unknown:
            raise ValueError(f"{where}: unknown field {sorted(unknown)[0]!r} in a part")
        for one in series(part):
            check_fields(one, SERIES_FIELDS, set(SERIES_FIELDS), f"{where}, a part")
        if not series(part):
            raise ValueError(f"{where}: a part names no runs")
    return Statement(**entry)


def series(part):
    """Return the series of runs that a part speaks of."""
    found = [part[name] for name in ("high", "low", "first", "second", "value") if part.get(name)]
    return found + list(part.get("rising", ()))


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
    run = [outcome for outcome in tried if outcome.parts]
    holds = holm([outcome.p_for for outcome in run])
    against = holm([outcome.p_against for outcome in run])
    adjusted = dict(zip(map(id, run), zip(holds, against, strict=True), strict=True))
    return [
        _decided(statement, outcome, *adjusted[id(outcome)]) if outcome.parts else outcome
        for statement, outcome in zip(statements, tried, strict=True)
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
        found = [(one, values(one["study"], one["arm"], one["metric"])) for one in series(part)]
        for one, runs in found:
            if len(runs) < MIN_RUNS:
                text = f"{len(runs)} of at least {MIN_RUNS} runs" if runs else "no runs"
                what = f"{text} of {one['metric']}, arm {one['arm']}, study {one['study']}"
                return Outcome(STATEMENT_NOT_RUN, "", f"{what}.")
        named = {id(one): runs for one, runs in found}
        parts.append(TESTS[statement.test](part, lambda one, named=named: named[id(one)]))
    p_for = max(part.p_for for part in parts)
    p_against = min(1.0, len(parts) * min(part.p_against for part in parts))
    return Outcome(UNDECIDED, "", "", p_for, p_against, tuple(parts))


def _decided(statement, outcome, p_for, p_against):
    holds, fails = p_for <= LEVEL, p_against <= LEVEL
    verdict = HOLDS if holds else DOES_NOT_HOLD if fails else UNDECIDED
    # the part that decides: the weakest, or the one that speaks most against the statement
    pick = min(outcome.parts, key=lambda part: part.p_against) if fails else None
    pick = pick or max(outcome.parts, key=lambda part: part.p_for)
    p = p_against if fails else p_for
    several = f"{pick.of}: " if len(outcome.parts) > 1 else ""
    unit = f" {statement.unit}" if statement.unit else ""
    number = f"{several}{_effect(pick, statement)}{unit} (p {_p(p)})"
    if len(outcome.parts) == 1:
        sentence = f"{number}, {pick.runs} runs."
    else:
        shown = "; ".join(f"{part.of} {_effect(part, statement)}" for part in outcome.parts)
        sentence = f"{shown}{unit} (p {_p(p)})."
    return Outcome(verdict, number, sentence, p_for, p_against, outcome.parts)


def _effect(part, statement):
    if statement.test == "trend":
        return f"mean rank correlation {plain(part.effect)}"
    sign = "" if statement.test == "bound" else "+"
    interval = f" [{plain(part.low)}, {plain(part.high)}]" if part.low < part.high else ""
    return f"{plain(part.effect, sign)}{interval}"


def _p(p):
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _ordering(part, runs):
    times, by = part.get("times", 1), part.get("by", 0)
    high, low = runs(part["high"]), runs(part["low"])
    low = {run: times * value + by for run, value in low.items()}
    effect, se, df, floor, number = _difference(high, low, part.get("paired", False))
    return _outcome(part, effect, se, df, number, *_two_sides(effect, se, df, floor))


def _range(part, runs):
    first = runs(part["first"])
    second = runs(part["second"]) if part.get("second") else None
    effect, se, df, floor, number = _difference(first, second, part.get("paired", False))
    for_, against = 0.0, 1.0
    for end, direction in (("from", 1), ("to", -1)):
        if part.get(end) is not None:
            inside, outside = _two_sides(direction * (effect - part[end]), se, df, floor)
            for_, against = max(for_, inside), min(against, outside)
    ends = sum(part.get(end) is not None for end in ("from", "to"))
    return _outcome(part, effect, se, df, number, for_, min(1.0, ends * against))


def _bound(part, runs):
    effect, se, df, floor, number = _difference(runs(part["value"]), None, False)
    above = part.get("above") is not None
    margin = effect - part["above"] if above else part["below"] - effect
    return _outcome(part, effect, se, df, number, *_two_sides(margin, se, df, floor))


def _trend(part, runs):
    # its import takes a second, which every process would pay; few statements are trends
    from scipy.stats import page_trend_test, rankdata

    columns = [runs(one) for one in part["rising"]]
    blocks = sorted(set.intersection(*map(set, columns)))
    if len(blocks) < MIN_RUNS:  # arms whose runs have no number in common
        blocks = range(min(map(len, columns)))
        columns = [dict(enumerate(column.values())) for column in columns]
    table = np.array([[column[block] for column in columns] for block in blocks], dtype=float)
    for_ = page_trend_test(table).pvalue
    against = page_trend_test(table[:, ::-1]).pvalue
    ranks = rankdata(table, axis=1)
    steps = np.arange(table.shape[1])
    moved = [np.corrcoef(steps, row)[0, 1] if np.ptp(row) else 0.0 for row in ranks]
    effect = float(np.mean(moved))
    return Part(part.get("of", ""), effect, effect, effect, for_, against, len(table))


TESTS = {"ordering": _ordering, "range": _range, "trend": _trend, "bound": _bound}


def _outcome(part, effect, se, df, number, p_for, p_against):
    half = t_quantile(0.975, df) * se if se > 0 else 0.0
    return Part(part.get("of", ""), effect, effect - half, effect + half, p_for, p_against, number)


def _difference(first, second, paired):
    """Return mean difference, standard error, degrees of freedom, least p value, number of runs."""
    if second is not None and paired:
        common = sorted(set(first) & set(second))
        first, second = {run: first[run] - second[run] for run in common}, None
    a = finite_runs(list(first.values()))
    if second is None:
        spread = float(a.std(ddof=1)) if len(a) > 1 else 0.0
        return float(a.mean()), spread / math.sqrt(len(a)), len(a) - 1, 0.5 ** len(a), len(a)
    b = finite_runs(list(second.values()))
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    floor = 1 / math.comb(len(a) + len(b), len(a))
    total = float(va + vb)
    shares = va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)
    df = float(total**2 / shares) if shares > 0 else math.inf
    return float(a.mean() - b.mean()), math.sqrt(total), df, floor, len(a) + len(b)


def _two_sides(effect, se, df, floor):
    """Return the p values of "above 0" and "below 0"."""
    if se <= 1e-12 * max(1.0, abs(effect)):
        return (floor, 1.0) if effect > 0 else (1.0, floor) if effect < 0 else (1.0, 1.0)
    above = float(stdtr(df, -effect / se))  # for an infinite df that of the normal distribution
    return above, 1.0 - above
