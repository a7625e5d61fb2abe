"""Readings: exploratory arms that read a silent point of a paper in another honest way.

They never change a verdict; beside a value the report says whether one of them gives it. The
reading "as the original software" has a column of its own.
"""

from collections import Counter
from dataclasses import dataclass, replace

import pandas as pd

from ..papers.compare import compare
from ..papers.verdicts import BETTER, CONSISTENT, INCONCLUSIVE, NOT_RUN, REPRODUCED
from .templating import bare

MIN_RUNS = 10  # fresh runs, before a reading is said to give a value
GIVES, BEYOND, UNDECIDED, FAILS = "gives it", "is beyond it", "undecided", "does not"
FEW, ONE, OPEN = "too few runs", "one training", "not tried"
TRIED = (GIVES, BEYOND, UNDECIDED, FAILS)
OUTCOMES = {
    REPRODUCED: GIVES,
    CONSISTENT: GIVES,
    # farther away in the good direction, which is not what was printed
    BETTER: BEYOND,
    INCONCLUSIVE: UNDECIDED,
    NOT_RUN: OPEN,
}


@dataclass(frozen=True)
class Answer:
    """What one reading says of one value."""

    reading: str
    says: str
    software: bool
    outcome: str  # GIVES, BEYOND, UNDECIDED, FAILS, FEW, ONE or OPEN
    ours: str = ""
    verdict: str = NOT_RUN
    explanation: str = ""
    runs: int = 0

    @property
    def short(self):
        """The reading in words, with its value, and its number of runs if they are few."""
        value = bare(self.ours)
        few = f"{self.runs} of {MIN_RUNS} runs" if 0 < self.runs < MIN_RUNS else ""
        inside = ", ".join(filter(None, (value, few)))
        return f"{self.says} ({inside})" if inside else self.says


def by_arm(results):
    """Return (study, arm) -> its rows, of {study: DataFrame or None}: as `answers` reads them."""
    return {
        (study, arm): rows
        for study, table in results.items()
        if table is not None and len(table)
        for arm, rows in table.groupby("arm", sort=False)
    }


def answers(claim, results):
    """Return what each reading says of a claim.

    Parameters
    ----------
    claim : papers.Claim
    results : dict
        From `by_arm`.

    Returns
    -------
    tuple of Answer
        In the order of the paper's file; empty for a claim without readings.
    """
    return tuple(_answer(claim, reading, results) for reading in claim.readings)


def _answer(claim, reading, results):
    where = {name: reading[name] for name in ("study", "arm", "metric")}
    who = reading["reading"], reading["says"], reading["software"]
    if (where["study"], where["arm"]) not in results:
        return Answer(*who, OPEN)
    row = _compared(replace(claim, needs=None, **where), results)
    outcome = OUTCOMES.get(row["verdict"], FAILS)
    if outcome != OPEN and row["runs"] < MIN_RUNS:
        outcome = FEW
    elif outcome != OPEN and reading["one_training"]:
        outcome = ONE
    said = row["ours"], row["verdict"], row["explanation"] or "", row["runs"]
    return Answer(*who, outcome, *said)


def _compared(claim, results):
    """Return a claim's row of comparison, from the rows that can answer it."""
    rows = results.get((claim.study, claim.arm))
    if rows is not None:
        # a cell has several metrics: name:wins ...
        rows = rows[rows["metric"].str.startswith(claim.metric or "")]
    (row,) = compare([claim], rows).to_dict("records")
    return row


def sentence(found):
    """Say which readings give a value.

    >>> sentence([])
    ''
    """
    for outcome, words in ((GIVES, "Comes out when"), (BEYOND, "Is exceeded when")):
        such = [answer for answer in found if answer.outcome == outcome]
        if such:
            others = len(such) - 1
            more = f", and in {others} more reading{'s' * (others > 1)}" if others else ""
            return f"{words} {min(such, key=lambda answer: len(answer.says)).short}{more}."
    tried = [answer for answer in found if answer.outcome in TRIED]
    if not tried:
        return ""
    doubt = sum(answer.outcome == UNDECIDED for answer in tried)
    if len(tried) == 1:
        return "The other reading cannot be excluded." if doubt else "Not in the other reading."
    return (
        f"None of {len(tried)} other readings gives it"
        + (f", {doubt} of them cannot be excluded" if doubt else "")
        + "."
    )


def details(found):
    """Say of every reading whether it gives the value, with its number."""
    gives, beyond = _with(found, GIVES), _with(found, BEYOND)
    return [
        f"{words} {'; when '.join(said)}."
        for words, said in (
            ("Comes out when", gives if len(gives) > 1 else []),
            ("Is exceeded when", beyond if gives or len(beyond) > 1 else []),
            ("Cannot be excluded when", _with(found, UNDECIDED)),
            ("Not when", _with(found, FAILS)),
            ("Too few runs yet: when", _with(found, FEW)),
            ("Of a single training, since nothing is random in it: when", _with(found, ONE)),
            ("Not tried yet: when", _with(found, OPEN)),
        )
        if said
    ]


def _with(found, outcome):
    return [answer.short for answer in found if answer.outcome == outcome]


def software(found):
    """Return the answer of the reading "as the original software", or None."""
    return next((answer for answer in found if answer.software), None)


def tally(paper, found):
    """Return one line for each reading of a paper: how many of its values come out so.

    Parameters
    ----------
    paper : papers.Paper
    found : iterable of tuple of Answer
        Of all its claims.

    Returns
    -------
    list of dict
        reading; runs, in words; values, gives, beyond, undecided, fails; open, of which some have
        runs, but fewer than it takes, or one training in all of them; why, if there is no run and
        the paper's file says why.
    """
    of_reading = {reading.id: [] for reading in paper.readings}
    for of_claim in found:
        for answer in of_claim:
            of_reading[answer.reading].append(answer)
    return [_line(reading, of_reading[reading.id]) for reading in paper.readings]


def _line(reading, said):
    numbers = Counter(answer.outcome for answer in said)
    runs = {answer.runs for answer in said if answer.runs}
    return {
        "reading": reading,
        "runs": _runs_in_words(runs) + _same_in_words(numbers[ONE], len(said)),
        "values": len(said),
        "gives": numbers[GIVES],
        "beyond": numbers[BEYOND],
        "undecided": numbers[UNDECIDED],
        "fails": numbers[FAILS],
        "open": numbers[OPEN] + numbers[FEW] + numbers[ONE],
        "why": "" if runs else reading.not_run,
    }


def _runs_in_words(runs):
    """Return a set of numbers of runs in words.

    >>> _runs_in_words({3}), _runs_in_words({10, 25}), _runs_in_words(set())
    ('3 of 10', '10 to 25', 'none')
    """
    if not runs:
        return "none"
    text = " to ".join(str(number) for number in sorted({min(runs), max(runs)}))
    return f"{text} of {MIN_RUNS}" if max(runs) < MIN_RUNS else text


def _same_in_words(same, all_):
    return "" if not same else ", all one" if same == all_ else ", in part one"


def unexplained(rows):
    """Return the rows of a report whose value neither the text's reading nor another one gives.

    Only those that at least one other reading was tried for, or that have a bound.

    Returns
    -------
    list of (str, list of Row)
        Why, as the paper's file says it ("" if it does not), and the rows of which it says so.
    """
    done = (REPRODUCED, CONSISTENT, NOT_RUN)
    groups = {}
    for row in rows:
        given = row.verdict in done or any(answer.outcome == GIVES for answer in row.answers)
        tried = row.claim.bound or any(answer.outcome in TRIED for answer in row.answers)
        if row.claim.target and tried and not given:
            groups.setdefault(row.claim.bound or row.claim.why or "", []).append(row)
    return list(groups.items())


def beside(claims, results):
    """Return a table of a study's values: printed, ours as the text is read, and as the software.

    Parameters
    ----------
    claims : iterable of papers.Claim
    results : dict
        Study -> DataFrame or None.

    Returns
    -------
    DataFrame
        One line for each target with a reading "as the original software".
    """
    results, lines = by_arm(results), []
    for claim in claims:
        other = software(answers(claim, results))
        if other:
            row = _compared(claim, results)
            mine = row["ours"] or "-", row["verdict"]
            lines.append((claim.where, row["printed"], *mine, other.ours or "-", other.verdict))
    columns = ["place", "printed", "as the text", "verdict", "as the original software", "verdict "]
    return pd.DataFrame(lines, columns=columns)
