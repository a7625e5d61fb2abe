"""Published values (claims), and the points where a paper leaves a choice (deviations).

    data/papers/<key>.yaml      one file a paper: claims, parameters, deviations, statements
    data/papers/margins.yaml    one rule per unit: the difference that does not matter

A claim names where the value is printed, and the study, arm and metric that answer it; metric
`cell` of a claim with several numbers (win : draw : loss) is answered by `cell:wins`, ...
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Required, TypedDict

from ..files import published_file, read_yaml
from .other_readings import NoReading, Reading, readings_of, with_reasons
from .reader import DERIVED
from .reader import read as read_entry
from .statements import ONE_PLACE, Place, Statement, check_statement, titled
from .verdicts import counting_error, points_error

# the printed error of a mean: the standard error, or the standard deviation of its runs
_ERROR = {"value": Required[float], "kind": Required[Literal["sem", "sd"]], "runs": int}
Uncertainty = TypedDict("Uncertainty", _ERROR, total=False)
# what a printed time is of
_TIMES = Literal["move", "training", "factor", "searched training"]
_TIMED = {"what": Required[_TIMES], "player": str, "than": str, "agents": int}
Timed = TypedDict("Timed", _TIMED, total=False)
# a parameter that a paper prints; a figure of a paper, and the name of ours
_VALUE = float | bool | str | list | dict
Parameter = TypedDict("Parameter", {"name": str, "value": _VALUE, "place": Place})
Figure = TypedDict("Figure", {"figure": str, "shows": str})
# a margin: absolute, or relative to the value with a least one, or a share of the games
_MARGIN = dict.fromkeys(("absolute", "relative", "share", "at_least"), float)
Margin = TypedDict("Margin", _MARGIN, total=False)
_RULE = {"why": Required[str], "changed": str, "former": Margin}
Rule = TypedDict("Rule", _MARGIN | _RULE, total=False)


@dataclass(frozen=True)
class Claim:
    """One published value, and what answers it."""

    id: str  # <paper>/<place>/<what>
    place: Place
    printed: str  # the text in the paper
    value: float | str | list | dict | None  # of a target a number, or component -> number
    unit: str  # a key of margins.yaml
    of: int | None = None  # games behind a win : draw : loss cell
    uncertainty: Uncertainty | None = None
    margin: float | None = field(default=None, metadata=DERIVED)
    relation: Literal["=", ">", "<"] = "="  # a value, or a bound
    better: Literal["higher", "lower"] | None = None  # where leaving the margin is good
    target: bool = True  # whether it can be reproduced; else `reason` says why not
    reason: str | None = None
    note: str | None = None  # a remark for the reader
    study: str | None = None
    arm: str | None = None
    metric: str | None = None
    needs: str | None = None  # what must exist before it can be run
    bound: str | None = None  # why no program can give the printed value, or how far it can come
    why: str | None = field(default=None, metadata=DERIVED)  # why no reading gives it
    timed: Timed | None = None
    readings: tuple = field(default=(), metadata=DERIVED)  # arms that read a silent point otherwise
    former_margin: float | None = field(default=None, metadata=DERIVED)
    changed: str | None = field(default=None, metadata=DERIVED)  # why the margin was
    row_error: float = field(default=0.0, metadata=DERIVED)  # of a total of counts of games
    # runs behind a printed mean without a spread: ours is taken for it
    shared_runs: int | None = field(default=None, metadata=DERIVED)

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.partition("/")[0]

    @property
    def where(self) -> str:
        """The place in words: `Table 1, TicTacToe vs Max-N10, FARL`."""
        inside = [self.place[name] for name in ("row", "column") if name in self.place]
        return ", ".join([titled(self.place), *inside])

    @property
    def published_sem(self) -> float:
        """The printed standard error of the mean, or that of a count of games; 0 if unknown."""
        if self.uncertainty is None:
            return counting_error(self.value, *self.counted) if self.counted else self.row_error
        printed = self.uncertainty
        if printed["kind"] == "sem":
            return float(printed["value"])
        return printed["value"] / math.sqrt(printed["runs"]) if printed.get("runs") else 0.0

    @property
    def counted(self) -> tuple | None:
        """Games behind a printed count, and all of them in its unit; None if it is no count."""
        if not self.of or self.uncertainty is not None:
            return None
        if self.unit == "games" and isinstance(self.value, Mapping):
            return self.of, self.of
        counted = self.unit == "percent" and isinstance(self.value, (int, float))
        return (self.of, 100) if counted else None

    def formerly(self) -> "Claim":
        """Return the claim by the rules before they were changed: without derived errors."""
        of = None if self.unit in ("games", "percent") else self.of
        margin = self.former_margin or self.margin
        return replace(self, margin=margin, of=of, row_error=0.0, shared_runs=None)


@dataclass(frozen=True)
class Deviation:
    """A point where the paper is silent, cannot work literally, or differs from its software."""

    id: str
    title: str
    paper: str  # what it says
    original: str  # what its software does
    default: str  # what is done here
    why: str
    switch: str | None = None  # the parameter that selects it
    values: dict | None = None  # setting -> meaning
    status: Literal["built", "planned"] = "built"


@dataclass(frozen=True)
class Table:
    """A printed table whose columns and rows do not follow from the order of the claims."""

    caption: str = ""
    heads: list = field(default_factory=lambda: [""])  # of the columns before the values
    rows: list | dict | None = None  # in order, perhaps with what is printed before the values
    columns: list | None = None  # of the values


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, the parameters it prints, and the deviations from it."""

    key: str
    title: str
    authors: list
    year: int
    url: str
    claims: list[Claim]
    deviations: list[Deviation]
    parameters: list[Parameter] = field(default_factory=list)
    order: int = 0  # of the papers in the report
    tables: dict[str, Table] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)  # in the paper's order
    main_table: str | None = None  # that the first page shows as a figure
    statements: list[Statement] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    statements_written: str = "after the runs"  # when the tests of the statements were
    verdicts_changed: str | None = None  # which ones a rule took or gave that came after the runs
    shared_spread: int | None = None  # runs behind printed means without a spread
    no_reading: list[NoReading] = field(default_factory=list)

    @property
    def studies(self) -> list:
        """Studies that answer its claims, those of other readings last."""
        named = [claim.study for claim in self.claims]
        named += [reading.study or reading.of for reading in self.readings]
        return list(dict.fromkeys(filter(None, named)))

    @property
    def printed_tables(self) -> dict:
        """Name -> Table with all its rows and columns, of each that claims stand in."""
        places = {}
        for claim in self.claims:
            if "table" in claim.place:
                places.setdefault(claim.place["table"], []).append(claim.place)
        _check_same(f"{self.key}.yaml: tables", self.tables, places, complete=False)
        return {
            name: _completed(self.tables.get(name, Table()), inside, f"{self.key}.yaml: {name}")
            for name, inside in places.items()
        }

    def reading(self, name: str) -> Reading:
        """Return a reading by its id; raises KeyError if there is none."""
        return {reading.id: reading for reading in self.readings}[name]


def _folder() -> Path:
    folder = published_file("papers")
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; set AFTERSTATE_DATA to that of a clone")
    return folder


def load_margins() -> dict[str, Rule]:
    """Load the rule of each unit; a unit without a margin has only `why`."""
    path = _folder() / "margins.yaml"
    entries = read_yaml(path).items()
    return {unit: read_entry(Rule, entry, f"{path.name}: {unit}") for unit, entry in entries}


def margin(rule: Mapping, value, of: int | None = None) -> float | None:
    """Return the margin of a published value by the rule of its unit; None if the unit has none.

    >>> margin({"relative": 0.03, "why": ""}, 142000)
    4260.0
    """
    if "absolute" in rule:
        return float(rule["absolute"])
    if "share" in rule and of is not None:
        return rule["share"] * of
    if "relative" in rule and isinstance(value, (int, float)):
        return max(rule["relative"] * abs(value), float(rule.get("at_least", 0)))
    return None


def keys() -> list[str]:
    """Return the keys of all papers, in order."""
    return sorted(path.stem for path in _folder().glob("*.yaml") if path.stem != "margins")


def load(key: str) -> Paper:
    """Load the file of one paper; raises ValueError naming the file and the entry.

    >>> load("konen2021").claims[0].unit
    'score'
    """
    path = _folder() / f"{key}.yaml"
    if not path.is_file():
        raise ValueError(f"no paper {key!r}; there are {', '.join(keys())}")
    return read(path, load_margins())


def all() -> dict[str, Paper]:
    """Load all papers: key -> Paper."""
    return {key: load(key) for key in keys()}


def read(path: Path, rules: Mapping[str, Rule]) -> Paper:
    """Read and check one paper's file; `rules` are the margins by unit."""
    paper = read_entry(Paper, read_yaml(path), path.name)
    for wrong, message in _faults(paper, path.stem, rules):
        if wrong:
            raise ValueError(f"{path.name}: {message}")
    claims = [_derived(claim, paper, rules[claim.unit]) for claim in paper.claims]
    paper = replace(paper, claims=with_reasons(claims, paper.no_reading, path.name))
    paper.printed_tables  # raises ValueError for rows and columns that are not the claims'
    return paper


def _faults(paper, stem, rules):
    # pairs: whether something is wrong, and what
    yield paper.key != stem, f"key is {paper.key!r}; it must be the file's name, {stem!r}"
    for items in (paper.claims, paper.deviations, paper.statements, paper.readings):
        for name, times in Counter(item.id for item in items).items():
            yield times > 1, f"id {name} occurs twice; ids must be unique"
    for claim in paper.claims:
        for wrong, message in _faults_of_claim(claim, paper.key, rules):
            yield wrong, f"claim {claim.id}: {message}"
    for point in paper.deviations:
        half = bool(point.switch) != bool(point.values)
        yield half, f"deviation {point.id}: switch and values belong together"
    for reading in paper.readings:
        lacks = not (reading.arms or reading.not_run)
        yield lacks, f"reading {reading.id}: it has no arm; say why in not_run"
    for statement in paper.statements:
        check_statement(statement, f"{stem}.yaml: statement {statement.id}")


def _faults_of_claim(claim, key, rules):
    place, value = claim.place, claim.value
    numbers = list(value.values()) if isinstance(value, dict) else [value]
    yield not titled(place), f"{ONE_PLACE}, not {place}"
    inside = "table" not in place or {"row", "column"} <= set(place)
    yield not inside, f"place is {place}; a place in a table needs row and column"
    yield not claim.id.startswith(f"{key}/"), f"the id must start with '{key}/'"
    yield claim.unit not in rules, f"unit is {claim.unit!r}; margins.yaml knows {', '.join(rules)}"
    if not claim.target:
        yield not claim.reason, "target is false; say why in reason"
        return
    good = numbers and {type(number) for number in numbers} <= {int, float}
    yield not good, f"value is {value!r}; a target needs numbers, else target: false"
    without = claim.relation == "=" and not margin(rules[claim.unit], value, claim.of)
    yield without, f"no margin for unit {claim.unit!r} (of: {claim.of}); add a rule to margins.yaml"
    single = claim.uncertainty or claim.better or claim.relation != "="
    alone = "uncertainty, better and relation are for single numbers"
    yield isinstance(value, dict) and single, alone
    answered = claim.study and claim.arm and claim.metric
    yield not (answered or claim.needs), "name the study, arm and metric that answer it, or needs"
    spread = claim.uncertainty or {"kind": "sem"}
    short = spread["kind"] == "sd" and spread.get("runs", 0) < 2
    yield short, "a standard deviation needs its number of runs to become a standard error"


def _derived(claim, paper, rule):
    # the fields that follow from the rest of the file and the rule of the unit
    bare = claim.uncertainty is None
    line = [claim.place.get(name) for name in ("table", "row")]
    row_error, shared_runs = 0.0, None
    if claim.unit == "points" and bare:
        row = [c for c in paper.claims if c.counted and isinstance(c.value, dict)]
        row = [c for c in row if [c.place.get(name) for name in ("table", "row")] == line]
        row_error = points_error((c.value, c.of) for c in row)
    elif claim.target and bare and claim.relation == "=":
        shared_runs = paper.shared_spread
    return replace(
        claim,
        margin=margin(rule, claim.value, claim.of),
        former_margin=margin(rule.get("former", {}), claim.value, claim.of),
        changed=rule.get("changed"),
        row_error=row_error,
        shared_runs=shared_runs,
        readings=readings_of(claim, paper.readings),
    )


def _completed(table, places, where):
    rows, columns = (
        list(dict.fromkeys(p[name] for p in places)) if listed is None else listed
        for name, listed in (("row", table.rows), ("column", table.columns))
    )
    _check_same(f"{where}: rows", rows, {place["row"] for place in places})
    _check_same(f"{where}: columns", columns, {place["column"] for place in places})
    rows = rows if isinstance(rows, dict) else {row: [row] for row in rows}
    for row, before in rows.items():
        if not isinstance(before, list) or len(before) != len(table.heads):
            needed = f"it needs a list with one text for each of the heads {table.heads}"
            raise ValueError(f"{where}: row {row!r} has {before!r} before its values; {needed}")
    return replace(table, heads=tuple(table.heads), rows=rows, columns=tuple(columns))


def _check_same(where, listed, known, complete=True):
    if unknown := [name for name in listed if name not in known]:
        raise ValueError(f"{where}: no claim stands in {unknown[0]!r}")
    if complete and (missing := set(known) - set(listed)):
        raise ValueError(f"{where} lack {sorted(missing)[0]!r}, in which a claim stands")
