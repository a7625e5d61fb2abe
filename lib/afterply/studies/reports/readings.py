"""Readings: exploratory arms that read a silent point of a paper in another honest way.

They never change a verdict. The reading "as the original software" has a column of its own.
"""

from collections import Counter
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import pandas as pd

from ..papers.claims import load
from ..papers.compare import row_of
from ..papers.verdicts import BETTER, CONSISTENT, INCONCLUSIVE, NOT_RUN, REPRODUCED
from ..results import by_columns, joined

MIN_RUNS = 10  # fresh runs, before a reading is said to give a value
GIVES = "gives it"
BEYOND = "is beyond it"
UNDECIDED = "undecided"
FAILS = "does not"
FEW = "too few runs"
ONE = "one training"
OPEN = "not tried"
TRIED = (GIVES, BEYOND, UNDECIDED, FAILS)
OUTCOMES = {
    REPRODUCED: GIVES,
    CONSISTENT: GIVES,
    BETTER: BEYOND,  # farther away in the good direction, which is not what was printed
    INCONCLUSIVE: UNDECIDED,
    NOT_RUN: OPEN,
}
# What a table says of an outcome; the rows stand in this order.
WORDS = {
    GIVES: "comes out",
    BEYOND: "is exceeded",
    UNDECIDED: "cannot be excluded",
    FAILS: "does not come out",
    FEW: "too few runs yet",
    ONE: "one training: nothing is random in it",
    OPEN: "not tried yet",
}


def bare(ours):
    """Return a value of ours without its interval and its number of runs: "50.2%"."""
    return ours.split(" [")[0].split(" (")[0]


def answers(claim, results):
    """Return what each reading says of a claim, and its outcome; results: of `by_columns`."""
    answers_of_claim = []
    for reading in claim.readings:
        place = {name: reading[name] for name in ("study", "arm", "select")}
        compared = row_of(replace(claim, needs=None, **place), results)
        outcome = _outcome(compared, reading["one_training"])
        answers_of_claim.append(SimpleNamespace(**compared | reading, outcome=outcome))
    return answers_of_claim


def _outcome(compared, one_training):
    """Return whether a reading gives a value, by its row of `compare`."""
    outcome = OUTCOMES.get(compared["verdict"], FAILS)
    if outcome == OPEN:
        return OPEN
    if compared["runs"] < MIN_RUNS:
        return FEW
    return ONE if one_training else outcome


def in_a_sentence(answers_of_claim):
    """Return how many of the readings that were tried give a value, "" if none was tried."""
    tried = [answer.outcome for answer in answers_of_claim if answer.outcome in TRIED]
    if not tried:
        return ""
    return f"Other readings that give it: {tried.count(GIVES)} of {len(tried)}."


def table(answers_of_claim):
    """Return what each reading says of a value as a table of HTML in one line, "" without any."""
    if not answers_of_claim:
        return ""
    order = list(WORDS)
    rows = ["<tr><th>When</th><th>Ours</th><th>Runs</th><th>The printed value</th></tr>"]
    for answer in sorted(answers_of_claim, key=lambda answer: order.index(answer.outcome)):
        ours = bare(answer.ours) or "-"
        cells = [answer.says, ours, answer.runs or "-", WORDS[answer.outcome]]
        row = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        rows.append(f"<tr>{row}</tr>")
    return f"<table>{''.join(rows)}</table>"


def software(answers_of_claim):
    """Return the answer of the reading "as the original software", or None."""
    for answer in answers_of_claim:
        if answer.software:
            return answer
    return None


def tally(paper, found):
    """Return a line for each reading of a paper: how many of its values come out so.

    found: the answers of each claim, a list of lists. A line has the numbers of `TRIED`, and of
    the values that are still open.
    """
    lines = []
    for reading in paper.readings:
        of_reading = []
        for answers_of_claim in found:
            of_reading += [answer for answer in answers_of_claim if answer.reading == reading.id]
        counts = Counter(answer.outcome for answer in of_reading)
        num_of_outcome = {outcome: counts[outcome] for outcome in TRIED}
        has_runs = any(answer.runs for answer in of_reading)
        reason = "" if has_runs else reading.not_run
        line = {
            "reading": reading,
            "runs": _runs_in_words(of_reading, num_one_training=counts[ONE]),
            "why": reason,
            "values": len(of_reading),
            "open": len(of_reading) - sum(num_of_outcome.values()),
        }
        lines.append(line | num_of_outcome)
    return lines


def _runs_in_words(of_reading, num_one_training):
    """Return how many runs the answers of a reading have: "3 to 7 of 10, in part one"."""
    run_counts = {answer.runs for answer in of_reading if answer.runs}
    if not run_counts:
        words = "none"
    elif len(run_counts) == 1:
        words = f"{min(run_counts)}"
    else:
        words = f"{min(run_counts)} to {max(run_counts)}"
    if run_counts and max(run_counts) < MIN_RUNS:
        words += f" of {MIN_RUNS}"
    if num_one_training == 0:
        return words
    if num_one_training == len(of_reading):
        return f"{words}, all one"
    return f"{words}, in part one"


def unexplained(rows):
    """Return (why, or ""; rows) of the tried or bounded values that no reading gives."""
    rows_of_reason = {}
    for row in rows:
        outcomes = [answer.outcome for answer in row.answers]
        is_given = row.verdict in (REPRODUCED, CONSISTENT, NOT_RUN) or GIVES in outcomes
        is_tried = row.claim.bound or any(outcome in TRIED for outcome in outcomes)
        if row.claim.target and is_tried and not is_given:
            reason = row.claim.bound or row.claim.why or ""
            rows_of_reason.setdefault(reason, []).append(row)
    return list(rows_of_reason.items())


def beside_studies(*studies):
    """Return a table of targets of studies of one paper: printed, as the text, as the software."""
    names = {study.name for study in studies}
    results = by_columns(joined([study.table() for study in studies]))
    lines = []
    for claim in load(studies[0].paper).claims:
        program = software(answers(claim, results)) if claim.study in names else None
        if program is None:
            continue
        row = row_of(claim, results)
        lines.append(
            {
                "place": claim.where,
                "printed": row["printed"],
                "as the text": row["ours"] or "-",
                "verdict": row["verdict"],
                "as the original software": program.ours or "-",
                "verdict ": program.verdict,  # a column of the same name needs another key
            }
        )
    columns = ["place", "printed", "as the text", "verdict", "as the original software", "verdict "]
    return pd.DataFrame(lines, columns=columns)
