"""Statements with their margins halved or doubled: which verdicts hang on what a word means.

A margin is the distance of a bound from its ideal: 45 of 50 percent is five points from perfect,
``by: 5`` five points from no difference. A part may name its ideal; that of a difference is 0, that
of a factor 1. A bound without an ideal, "more than half", is no margin and stays.
"""

from dataclasses import replace

from ...files import published_file, read_json

FACTORS = (0.5, 2.0)
DIFFERENCES = ("by", "from", "to")


def scaled(statement, factor):
    """Return a statement whose margins are a multiple of what they are."""
    return replace(statement, parts=[_part(part, factor) for part in statement.parts])


def _part(part, factor):
    changed, ideal = dict(part), part.get("ideal")
    low, high = ideal if isinstance(ideal, list) else (ideal, ideal)
    ideals = {"above": low, "from": low, "by": low, "below": high, "to": high}
    for name, neutral in ideals.items():
        neutral = 0.0 if neutral is None and name in DIFFERENCES else neutral
        if name in part and neutral is not None:
            changed[name] = neutral + factor * (part[name] - neutral)
    if "times" in part:
        neutral = 1.0 if ideal is None else ideal
        changed["times"] = neutral * (part["times"] / neutral) ** factor
    return changed


def sensitive(statements, judge):
    """Return id -> the verdicts with margins halved and doubled, where one is another.

    judge: as `statements.judge`, of statements alone.
    """
    verdicts = [outcome.verdict for outcome in judge(statements)]
    others = [
        [outcome.verdict for outcome in judge([scaled(one, factor) for one in statements])]
        for factor in FACTORS
    ]
    return {
        one.id: (halved, doubled)
        for one, verdict, halved, doubled in zip(statements, verdicts, *others, strict=True)
        if {halved, doubled} != {verdict}
    }


def known() -> dict:
    """Return what `sensitive` found of all papers: "paper/id" -> verdicts; {} without the file."""
    path = published_file("papers/margins_moved.json")
    return read_json(path) if path.is_file() else {}
