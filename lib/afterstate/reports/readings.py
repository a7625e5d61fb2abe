"""Readings: exploratory arms that read a silent point of a paper in another honest way.

They never change a verdict; beside a value the report says whether one of them gives it.
"""

from dataclasses import replace

from ..papers.compare import compare
from ..papers.verdicts import BETTER, CONSISTENT, REPRODUCED

MIN_RUNS = 10  # fresh runs, before a reading is said to give a value


def readings(claim, results):
    """Say which readings of a claim give its value, which do not, and which are not tried yet.

    Parameters
    ----------
    claim : papers.Claim
        Its `readings` are {arm, says}: the exploratory arm, and the reading in words.
    results : DataFrame or None
        Of the claim's study.

    Returns
    -------
    str
        Empty for a claim without readings.
    """
    gives, fails, open_ = [], [], []
    for reading in claim.readings:
        (row,) = compare([replace(claim, arm=reading["arm"])], results).to_dict("records")
        if row["runs"] < MIN_RUNS:
            open_.append(reading["says"])
            continue
        text = f"{reading['says']} ({row['ours'].split(' [')[0].split(' (')[0]})"
        good = row["verdict"] in (REPRODUCED, CONSISTENT, BETTER)
        (gives if good else fails).append(text)
    sentences = [
        f"{words} {', or when '.join(found)}."
        for words, found in (("Comes out when", gives), ("Not when", fails))
        if found
    ]
    if open_:
        sentences.append(f"Not tried yet: {', '.join(open_)}.")
    return " ".join(sentences)
