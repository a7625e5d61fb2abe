"""Statements with their margins halved or doubled: which verdicts depend on what a word means.

A margin is the distance of a bound from its ideal: 45 of 50 percent is five points from perfect,
``by: 5`` five points from no difference. A part may name its ideal; that of a difference is 0, that
of a factor 1. A bound without an ideal, "more than half", is no margin and stays.
"""

from dataclasses import replace

from ...files import published_file, read_json

HALF = 0.5
DOUBLE = 2.0
DIFFERENCES = ("by", "from", "to")


def scaled(statement, factor):
    """Return a statement whose margins are a multiple of what they are."""
    parts = [_scaled_part(part, factor) for part in statement.parts]
    return replace(statement, parts=parts)


def _scaled_part(part, factor):
    """Return a part of a statement with its margins multiplied by a factor."""
    changed = dict(part)
    for name, ideal in _ideals_of_bounds(part.get("ideal")).items():
        if name in part and ideal is not None:
            changed[name] = ideal + factor * (part[name] - ideal)
    if "times" in part:
        ideal_ratio = part.get("ideal")
        if ideal_ratio is None:
            ideal_ratio = 1.0
        changed["times"] = ideal_ratio * (part["times"] / ideal_ratio) ** factor
    return changed


def _ideals_of_bounds(ideal):
    """Return bound -> its ideal, or None; `ideal` is one number, a low and a high one, or None."""
    if isinstance(ideal, list):
        low, high = ideal
    else:
        low = high = ideal
    ideals = {"above": low, "from": low, "by": low, "below": high, "to": high}
    for name in DIFFERENCES:
        if ideals[name] is None:
            ideals[name] = 0.0
    return ideals


def sensitive(statements, judge):
    """Return id -> the verdicts with margins halved and doubled, where one of them is another.

    judge: as `statements.judge`, of statements alone.
    """
    verdicts_as_written = _verdicts(statements, judge)
    verdicts_if_halved = _verdicts([scaled(one, HALF) for one in statements], judge)
    verdicts_if_doubled = _verdicts([scaled(one, DOUBLE) for one in statements], judge)
    changes = {}
    for place, statement in enumerate(statements):
        as_written = verdicts_as_written[place]
        if_halved = verdicts_if_halved[place]
        if_doubled = verdicts_if_doubled[place]
        if if_halved != as_written or if_doubled != as_written:
            changes[statement.id] = (if_halved, if_doubled)
    return changes


def _verdicts(statements, judge):
    """Return the verdict on each statement."""
    return [outcome.verdict for outcome in judge(statements)]


def known() -> dict:
    """Return what `sensitive` found of all papers: "paper/id" -> verdicts; {} without the file."""
    return published_results("margins_moved.json")


def published_results(name: str) -> dict:
    """Return a file of ``data/papers`` whose numbers took minutes to compute; {} without it."""
    path = published_file(f"papers/{name}")
    if not path.is_file():
        return {}
    return read_json(path)
