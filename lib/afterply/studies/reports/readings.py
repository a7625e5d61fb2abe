"""Readings: exploratory arms that read a silent point of a paper in another honest way.

They never change a verdict. The reading "as the original software" has a column of its own.
"""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd

from ..papers.claims import load
from ..papers.compare import row_of
from ..papers.verdicts import BETTER, CONSISTENT, INCONCLUSIVE, NOT_RUN, REPRODUCED
from ..results import by_columns, joined

MIN_RUNS = 10  # fresh runs, before a reading is said to give a value
GIVES, BEYOND, UNDECIDED, FAILS = "gives it", "is beyond it", "undecided", "does not"
FEW, ONE, OPEN = "too few runs", "one training", "not tried"
TRIED = (GIVES, BEYOND, UNDECIDED, FAILS)
OUTCOMES = {
    REPRODUCED: GIVES,
    CONSISTENT: GIVES,
    BETTER: BEYOND,  # farther away in the good direction, which is not what was printed
    INCONCLUSIVE: UNDECIDED,
    NOT_RUN: OPEN,
}
WORDS = {
    GIVES: "Comes out when",
    BEYOND: "Is exceeded when",
    UNDECIDED: "Cannot be excluded when",
    FAILS: "Not when",
    FEW: "Too few runs yet: when",
    ONE: "Of a single training, since nothing is random in it: when",
    OPEN: "Not tried yet: when",
}


def bare(ours):
    """Return a value of ours without its interval and its number of runs: "50.2%"."""
    return ours.split(" [")[0].split(" (")[0]


def answers(claim, results):
    """Return what each reading says of a claim, its outcome, `short`; results: of `by_columns`."""
    said = []
    for reading in claim.readings:
        where = {name: reading[name] for name in ("study", "arm", "select")}
        found = row_of(replace(claim, needs=None, **where), results)
        runs, outcome = found["runs"], OUTCOMES.get(found["verdict"], FAILS)
        if outcome != OPEN:
            outcome = FEW if runs < MIN_RUNS else ONE if reading["one_training"] else outcome
        few = f"{runs} of {MIN_RUNS} runs" if 0 < runs < MIN_RUNS else ""
        inside = ", ".join(filter(None, (bare(found["ours"]), few)))
        short = reading["says"] + (f" ({inside})" if inside else "")
        said.append(SimpleNamespace(**found | reading, outcome=outcome, short=short))
    return said


def sentences(found):
    """Say how many readings give a value, "" if none was tried; then of each whether it does."""
    said = {outcome: [a.short for a in found if a.outcome == outcome] for outcome in WORDS}
    tried, gives = sum(len(said[outcome]) for outcome in TRIED), len(said[GIVES])
    first = f"Other readings that give it: {gives} of {tried}."
    texts = [f"{WORDS[outcome]} {'; when '.join(such)}." for outcome, such in said.items() if such]
    return [first if tried else "", *texts]


def software(found):
    """Return the answer of the reading "as the original software", or None."""
    return next((answer for answer in found if answer.software), None)


def tally(paper, found):
    """Return a line for each reading of a paper: how many of its values come out so."""
    # found: the answers of each claim; a line has the numbers of TRIED and of those still open
    lines = []
    for reading in paper.readings:
        said = [answer for of_claim in found for answer in of_claim if answer.reading == reading.id]
        numbers, runs = Counter(answer.outcome for answer in said), {a.runs for a in said if a.runs}
        words = " to ".join(map(str, sorted({min(runs), max(runs)}))) if runs else "none"
        words += f" of {MIN_RUNS}" if runs and max(runs) < MIN_RUNS else ""
        if numbers[ONE]:
            words += ", all one" if numbers[ONE] == len(said) else ", in part one"
        line = {"reading": reading, "runs": words, "why": "" if runs else reading.not_run}
        tried = {outcome: numbers[outcome] for outcome in TRIED}
        lines.append(line | {"values": len(said), "open": len(said) - sum(tried.values())} | tried)
    return lines


def unexplained(rows):
    """Return (why, or ""; rows) of the tried or bounded values that no reading gives."""
    groups = {}
    for row in rows:
        outcomes = [answer.outcome for answer in row.answers]
        given = row.verdict in (REPRODUCED, CONSISTENT, NOT_RUN) or GIVES in outcomes
        tried = row.claim.bound or any(outcome in TRIED for outcome in outcomes)
        if row.claim.target and tried and not given:
            groups.setdefault(row.claim.bound or row.claim.why or "", []).append(row)
    return list(groups.items())


def beside_studies(*studies):
    """Return a table of targets of studies of one paper: printed, as the text, as the software."""
    paper, names = load(studies[0].paper), {study.name for study in studies}
    runs, lines = by_columns(joined([study.table() for study in studies])), []
    for claim in paper.claims:
        other = software(answers(claim, runs)) if claim.study in names else None
        if other:
            row = row_of(claim, runs)
            mine = row["ours"] or "-", row["verdict"]
            lines.append((claim.where, row["printed"], *mine, other.ours or "-", other.verdict))
    columns = ["place", "printed", "as the text", "verdict", "as the original software", "verdict "]
    return pd.DataFrame(lines, columns=columns)
