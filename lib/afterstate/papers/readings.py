"""Readings: other honest ways to read a paper, each with the arms that were trained so.

An entry of ``readings`` in ``data/papers/<key>.yaml`` says which arms of which study follow it, and
for which claims they speak. A reading of kind *software* sets all points at once in which the
authors' program differs from their text. Readings never change a verdict: that of the text stands.
"""

from dataclasses import dataclass, field, replace

from .fields import NO_READING_FIELDS, READING_FIELDS, check_fields, name_of


@dataclass(frozen=True)
class Reading:
    """One way to read a paper.

    Parameters
    ----------
    id : str
    says : str
        The reading in words that follow "when".
    of : str
        The study of the claims for which it speaks.
    arms : dict
        Arm of the claim -> arm that follows the reading; empty while there is none.
    study : str
        That has those arms (default: `of`).
    tables : list of str
        Only the claims of these tables, or sections (default: all).
    label : str
        Stands before the metrics of its arms.
    metrics : dict
        Metric of the claim -> metric of its arm, where they differ.
    software : bool
        Whether it is the reading "as the original software".
    sets : dict
        Deviation -> what is set there, in words.
    settings : dict
        Parameters of the learner that differ from the text's reading.
    parameters : dict
        What else a notebook needs for its arms, such as a number of episodes.
    one_training : list of str
        Arms of the claims whose trainings have no chance in them here: however many runs there are,
        they are one training.
    not_run : str
        Why it has no arm, or why its arms are not planned.
    """

    id: str
    says: str
    of: str
    arms: dict
    study: str = ""
    tables: list = field(default_factory=list)
    label: str = ""
    metrics: dict = field(default_factory=dict)
    software: bool = False
    sets: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)
    one_training: list = field(default_factory=list)
    not_run: str = ""

    def speaks_of(self, claim) -> bool:
        """Whether one of its arms answers a claim."""
        return (
            claim.study == self.of
            and claim.arm in self.arms
            and (
                not self.tables
                or claim.place.get("table") in self.tables
                or claim.place.get("section") in self.tables
            )
        )

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


def read_reading(entry, file: str) -> Reading:
    """Return the reading of an entry; raises ValueError that names what is wrong."""
    where = f"{file}: reading {name_of(entry, 'id')}"
    check_fields(entry, READING_FIELDS, {"id", "says", "of", "arms"}, where)
    if not entry["arms"] and not entry.get("not_run"):
        raise ValueError(f"{where}: it has no arm; say why in not_run")
    for arm in entry.get("one_training", []):
        if arm not in entry["arms"]:
            raise ValueError(f"{where}: one_training names {arm!r}, which is none of its arms")
    return Reading(**{name: content for name, content in entry.items() if content is not None})


def readings_of(claim, readings) -> tuple:
    """Return what answers a claim in each reading that speaks of it; none if it is no target."""
    if not claim.target:
        return ()
    return tuple(reading.answer(claim) for reading in readings if reading.speaks_of(claim))


def with_reasons(claims, entries, file: str) -> list:
    """Return the claims, each with the reason why no reading that was tried gives it.

    Parameters
    ----------
    claims : iterable of Claim
    entries : list of dict
        ``no_reading`` of a paper: claims (their ids), or table with rows and columns (default: all
        of them); why. The first that names a claim speaks of it.
    file : str
        For messages.
    """
    for number, entry in enumerate(entries):
        where = f"{file}: no_reading, entry {number + 1}"
        required = {"why"} if "claims" in entry else {"table", "why"}
        check_fields(entry, NO_READING_FIELDS, required, where)
        if unknown := set(entry.get("claims", [])) - {claim.id for claim in claims}:
            raise ValueError(f"{where}: there is no claim {sorted(unknown)[0]!r}")
        if not any(_names(entry, claim) for claim in claims):
            raise ValueError(f"{where}: there is no such place in table {entry['table']}")
    return [
        replace(claim, why=next((e["why"] for e in entries if _names(e, claim)), None))
        for claim in claims
    ]


def _names(entry, claim) -> bool:
    if "claims" in entry:
        return claim.id in entry["claims"]
    place = claim.place
    return (
        entry["table"] == place.get("table")
        and place["row"] in entry.get("rows", [place["row"]])
        and place["column"] in entry.get("columns", [place["column"]])
    )
