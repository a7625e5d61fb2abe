"""Readings: other honest ways to read a paper, each with the arms that were trained so.

An entry of ``readings`` in ``data/papers/<key>.yaml`` says which arms of which study follow it, and
for which claims they speak. A reading of kind *software* sets all points at once in which the
authors' program differs from their text. Readings never change a verdict: that of the text stands.
"""

from dataclasses import dataclass, field, replace
from typing import Required, TypedDict


@dataclass(frozen=True)
class Reading:
    """One way to read a paper."""

    id: str
    says: str  # the reading in words that follow "when"
    of: str  # the study of the claims for which it speaks
    arms: dict  # arm of the claim -> arm that follows the reading; empty while there is none
    study: str = ""  # that has those arms (default: `of`)
    tables: list = field(default_factory=list)  # or sections, whose claims alone it speaks of
    label: str = ""  # stands before the metrics of its arms
    metrics: dict = field(default_factory=dict)  # of the claim -> of its arm, where they differ
    software: bool = False  # the reading "as the original software"
    sets: dict = field(default_factory=dict)  # deviation -> what is set there, in words
    settings: dict = field(default_factory=dict)  # of the learner, unlike the text's reading
    parameters: dict = field(default_factory=dict)  # of the notebook, such as numbers of episodes
    # arms of the claims whose trainings have no chance in them here: all runs are one training
    one_training: list = field(default_factory=list)
    not_run: str = ""  # why it has no arm, or why its arms are not planned

    def speaks_of(self, claim) -> bool:
        """Whether one of its arms answers a claim."""
        places = {claim.place.get("table"), claim.place.get("section")}
        here = not self.tables or places & set(self.tables)
        return claim.study == self.of and claim.arm in self.arms and bool(here)

    def answer(self, claim) -> dict:
        """Return which arm and metric answer a claim in this reading."""
        return {
            "reading": self.id,
            "says": self.says,
            "software": self.software,
            "one_training": claim.arm in self.one_training,
            "study": self.study or self.of,
            "arm": self.arms[claim.arm],
            "metric": self.label + self.metrics.get(claim.metric, claim.metric),
        }


# why no reading gives some claims: their ids, or a table with rows and columns (or all of it)
_LISTS = dict.fromkeys(("claims", "rows", "columns"), list)
NoReading = TypedDict("NoReading", _LISTS | {"table": str, "why": Required[str]}, total=False)


def readings_of(claim, readings) -> tuple:
    """Return what answers a target in each reading that speaks of it."""
    return tuple(r.answer(claim) for r in readings if claim.target and r.speaks_of(claim))


def with_reasons(claims, entries, file: str) -> list:
    """Return the claims, each with the reason of the first of the `entries` that names it."""
    for number, entry in enumerate(entries, 1):
        named = {claim.id for claim in claims if _names(entry, claim)}
        missing = sorted(set(entry.get("claims", [])) - named)
        if missing or not named:
            where = f"{file}: no_reading, entry {number}"
            raise ValueError(f"{where}: no claim is {missing or entry}")
    return [
        replace(claim, why=next((e["why"] for e in entries if _names(e, claim)), None))
        for claim in claims
    ]


def _names(entry, claim) -> bool:
    place = claim.place
    return claim.id in entry.get("claims", []) or (
        "table" in entry
        and entry["table"] == place.get("table")
        and place["row"] in entry.get("rows", [place["row"]])
        and place["column"] in entry.get("columns", [place["column"]])
    )
