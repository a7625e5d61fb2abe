"""Readings: exploratory arms that read a silent point of a paper in another honest way.

They never change a verdict; beside a value the report says whether one of them gives it. The
reading "as the original software" has a column of its own.
"""

from collections import Counter
from dataclasses import dataclass, replace

import pandas as pd

from ..papers.compare import compare
from ..papers.verdicts import BETTER, CONSISTENT, INCONCLUSIVE, NOT_RUN, REPRODUCED

MIN_RUNS = 10  # fresh runs, before a reading is said to give a value
GIVES, UNDECIDED, FAILS, OPEN = "gives it", "undecided", "does not", "not tried"


@dataclass(frozen=True)
class Answer:
    """What one reading says of one value."""

    reading: str
    says: str
    software: bool
    outcome: str  # GIVES, UNDECIDED, FAILS or OPEN
    ours: str
    verdict: str
    explanation: str

    @property
    def short(self):
        """The reading in words, with its value."""
        value = self.ours.split(" [")[0].split(" (")[0]
        return f"{self.says} ({value})" if value else self.says


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
    rows = results.get((where["study"], where["arm"]))
    least = 1 if reading["software"] else MIN_RUNS
    if rows is None or rows["run"].nunique() < least:
        return Answer(*who, OPEN, "", NOT_RUN, "")
    row = _compared(replace(claim, needs=None, **where), results)
    if row["verdict"] == NOT_RUN or row["runs"] < least:
        outcome = OPEN
    elif row["verdict"] in (REPRODUCED, CONSISTENT, BETTER):
        outcome = GIVES
    else:
        outcome = UNDECIDED if row["verdict"] == INCONCLUSIVE else FAILS
    return Answer(*who, outcome, row["ours"], row["verdict"], row["explanation"] or "")


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
    gives = [answer for answer in found if answer.outcome == GIVES]
    if gives:
        more = f", and in {len(gives) - 1} more readings" if len(gives) > 1 else ""
        return f"Comes out when {min(gives, key=lambda answer: len(answer.says)).short}{more}."
    if not any(answer.outcome != OPEN for answer in found):
        return ""
    tried = [answer for answer in found if answer.outcome in (UNDECIDED, FAILS)]
    doubt = sum(answer.outcome == UNDECIDED for answer in tried)
    return (
        f"None of {len(tried)} other readings gives it"
        + (f", {doubt} of them cannot be excluded" if doubt else "")
        + "."
    )


def details(found):
    """Say of every reading whether it gives the value, with its number."""
    gives = _with(found, GIVES)
    return [
        f"{words} {'; when '.join(said)}."
        for words, said in (
            ("Comes out when", gives if len(gives) > 1 else []),
            ("Cannot be excluded when", _with(found, UNDECIDED)),
            ("Not when", _with(found, FAILS)),
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
        reading, sets (deviations with what is set), values, gives, undecided, fails, open.
    """
    numbers = {reading.id: Counter() for reading in paper.readings}
    for of_claim in found:
        for answer in of_claim:
            numbers[answer.reading][answer.outcome] += 1
    return [
        {
            "reading": reading,
            "values": sum(numbers[reading.id].values()),
            "gives": numbers[reading.id][GIVES],
            "undecided": numbers[reading.id][UNDECIDED],
            "fails": numbers[reading.id][FAILS],
            "open": numbers[reading.id][OPEN],
        }
        for reading in paper.readings
    ]


def unexplained(rows):
    """Return the rows of a report whose value neither the text's reading nor another one gives.

    Only those that at least one other reading was tried for, or that have a bound.
    """
    done = (REPRODUCED, CONSISTENT, BETTER, NOT_RUN)
    return [
        row
        for row in rows
        if row.claim.target
        and row.verdict not in done
        and not any(answer.outcome == GIVES for answer in row.answers)
        and (row.claim.bound or any(answer.outcome != OPEN for answer in row.answers))
    ]


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
            lines.append((claim.where, claim.printed, *mine, other.ours or "-", other.verdict))
    columns = ["place", "printed", "as the text", "verdict", "as the original software", "verdict "]
    return pd.DataFrame(lines, columns=columns)
