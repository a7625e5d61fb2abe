"""Published values (claims), and the points where a paper leaves a choice (deviations).

    data/papers/<key>.yaml      one file a paper: claims, parameters, deviations, statements
    data/papers/margins.yaml    one rule per unit: the difference that does not matter
    data/papers/former.yaml     verdicts before a rule or a test was changed
    data/papers/meanings.yaml   what words mean that have no number, in all papers

A claim names where the value is printed, and the study, the arm and the columns of results that
answer it: ``select: {measure: win_rate, opponent: AB}``, for `afterply.studies.results.select`.
``metric: score`` is short for ``select: {measure: score}``. The components of a claim with several
numbers, ``{won: 97, drawn: 2, lost: 1}``, are its measures; beside a measure `cell` they are
`cell:won`, ...

A claims file of anybody's has the same format, and may leave out most of it: see :func:`load_own`.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, Required, TypedDict, Union, get_args, get_origin, get_type_hints

from ...files import published_file, read_yaml
from .statements import CAPPED, ENDS, LEAST_TREND, PARTS, series
from .verdicts import counting_error

DERIVED = {"derived": True}  # metadata of fields that no file holds
KINDS = {"table": "Table", "figure": "Fig.", "section": "Sec."}
# what are texts, and may be written as numbers in a file of anybody's
NUMBERED = {*KINDS, "row", "column", "id", "arm", "study", "tables", "rows", "columns"}
ONE_PLACE = "a place needs one of table, figure, section"
# where something is printed: one of table, figure and section
Place = TypedDict("Place", dict.fromkeys([*KINDS, "row", "column"], str), total=False)


# the printed error of a mean: the standard error, or the standard deviation of its runs
_ERROR = {"value": Required[float], "kind": Required[Literal["sem", "sd"]], "runs": int}
Uncertainty = TypedDict("Uncertainty", _ERROR, total=False)
# a margin: absolute, or relative to the value with a least one, or a share of the games
_MARGIN = dict.fromkeys(("absolute", "relative", "share", "at_least"), float)
Rule = TypedDict("Rule", _MARGIN | {"why": Required[str]}, total=False)
# why no reading gives some claims: their ids, or a table with rows and columns (or all of it)
_LISTS = dict.fromkeys(("claims", "rows", "columns"), list)
NoReading = TypedDict("NoReading", _LISTS | {"table": str, "why": Required[str]}, total=False)
# for claims with columns as in `where` (default: all) a reading has other ones; "" takes one away
Other = TypedDict("Other", {"where": dict, "by": Required[dict]}, total=False)


def titled(place) -> str:
    """Return a place without row and column in words, "Table 1"; "" if it is not one place."""
    found = [f"{name} {place[kind]}" for kind, name in KINDS.items() if kind in place]
    return found[0] if len(found) == 1 else ""


@dataclass(frozen=True)
class Claim:
    """One published value, and what answers it."""

    id: str  # <paper>/<place>/<what>
    place: Place
    printed: str | None  # the text in the paper; default: the value
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
    select: dict | None = None  # the columns of the results that answer it
    needs: str | None = None  # what must exist before it can be run
    bound: str | None = None  # why no program can give the printed value, or how far it can come
    why: str | None = field(default=None, metadata=DERIVED)  # why no reading gives it
    timed: dict | None = None  # what a printed time is of
    readings: tuple = field(default=(), metadata=DERIVED)  # arms that read a silent point otherwise
    trainings: int | None = None  # behind a value without a printed error (default: the paper's)
    shared: int = (
        0  # runs in a row that share their opponents: groups are independent (the paper's)
    )
    floor: float | None = None  # the least that a run can be seen to have
    cap: float | None = None  # and the most
    former: tuple = field(default=(), metadata=DERIVED)  # verdicts before a change, and why

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
    def selections(self) -> dict:
        """Return component -> columns of the results that answer it; None is that of one number."""
        if not isinstance(self.value, Mapping):
            return {None: self.select}
        whole = self.select.get("measure")
        return {
            part: self.select | {"measure": f"{whole}:{part}" if whole else part}
            for part in self.value
        }

    @property
    def printed_error(self) -> tuple:
        """The printed standard error of the mean, 0 if there is none, and the runs behind it."""
        printed = self.uncertainty or {"kind": "sem", "value": 0.0}
        error, runs = float(printed["value"]), printed.get("runs")
        if printed["kind"] == "sd":
            error = error / math.sqrt(runs) if runs else 0.0
        return error, runs

    @property
    def published_sem(self) -> float:
        """The printed standard error, or that of a count of games; 0 if neither is known."""
        alone = self.counted and not isinstance(self.value, Mapping)
        return counting_error(self.value, *self.counted) if alone else self.printed_error[0]

    @property
    def counted(self) -> tuple | None:
        """Games behind a printed count, and all of them in its unit; None if it is no count."""
        if not self.of or self.uncertainty is not None:
            return None
        if self.unit == "games" and isinstance(self.value, Mapping):
            return self.of, self.of
        counted = self.unit == "percent" and isinstance(self.value, (int, float))
        return (self.of, 100) if counted else None


@dataclass(frozen=True)
class Statement:
    """A sentence that a paper presents as a result, with the test that stands for it."""

    id: str
    says: str  # the paper's words, uncut
    place: Place
    tested: str | None  # what is tested, in our words; default: the paper's
    test: Literal["ordering", "range", "trend", "bound"]
    parts: list  # as `statements.PARTS`
    printed: str = ""  # what the test says of the paper's own numbers
    unit: str = ""  # of the numbers shown; a part may have its own
    figure: str = ""  # name of the figure that shows it
    holds_if: Literal["all", "most", "any"] = "all"  # of its parts hold
    shared: int = 0  # runs in a row that share their opponents: such groups are independent
    looks: list = field(default_factory=list)  # numbers of runs at which it was or will be tested
    former: tuple = field(default=(), metadata=DERIVED)  # verdicts before a change, and why

    @property
    def needed(self):
        """Number of parts that must hold."""
        number = len(self.parts)
        return {"all": number, "most": number // 2 + 1, "any": 1}[self.holds_if]

    @property
    def where(self):
        """The place in words; a section with a name is called by it."""
        name = self.place.get("section", "")
        named = name[:1].isalpha() and name[:1] not in "IVX"
        return name if named else titled(self.place)


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


@dataclass(frozen=True)
class Reading:
    """One way to read a paper."""

    id: str
    says: str  # the reading in words that follow "when"
    of: str  # the study of the claims for which it speaks
    arms: dict  # arm of the claim -> arm that follows the reading; empty while there is none
    study: str = ""  # that has those arms (default: `of`)
    tables: list = field(default_factory=list)  # or sections, whose claims alone it speaks of
    select: list[Other] = field(default_factory=list)  # where its columns differ from the claim's
    software: bool = False  # the reading "as the original software"
    sets: dict = field(default_factory=dict)  # deviation -> what is set there, in words
    settings: dict = field(default_factory=dict)  # of the learner, unlike the text's reading
    parameters: dict = field(default_factory=dict)  # of the notebook, such as numbers of episodes
    # arms of the claims whose trainings have no chance in them here: all runs are one training
    one_training: list = field(default_factory=list)
    not_run: str = ""  # why it has no arm, or why its arms are not planned

    def speaks_of(self, claim) -> bool:
        """Whether one of its arms, or other columns, answer a claim that is a target."""
        places = {claim.place.get("table"), claim.place.get("section")}
        here = not self.tables or bool(places & set(self.tables))
        if not (claim.target and claim.study == self.of and claim.arm in self.arms and here):
            return False
        asked = {"study": claim.study, "arm": claim.arm, "select": claim.select}
        return not asked.items() <= self.answer(claim).items()

    def answer(self, claim) -> dict:
        """Return which arm and columns answer a claim in this reading."""
        return {
            "reading": self.id,
            "says": self.says,
            "software": self.software,
            "one_training": claim.arm in self.one_training,
            "study": self.study or self.of,
            "arm": self.arms[claim.arm],
            "select": self.columns(claim.select),
        }

    def columns(self, select) -> dict:
        """Return the columns of this reading for those of the text's."""
        columns = dict(select)
        for other in self.select:
            if other.get("where", {}).items() <= select.items():
                columns |= other["by"]
        return columns


@dataclass(frozen=True)
class Table:
    """A printed table: what does not follow from the order of the claims."""

    caption: str = ""
    heads: list = field(default_factory=lambda: [""])  # of the columns before the values
    rows: list | dict | None = None  # in order, perhaps with what is printed before the values
    columns: list | None = None  # of the values

    def completed(self, places) -> "Table":
        """Return the table with all its rows and columns, from the places of its claims."""
        rows, columns = (
            list(dict.fromkeys(place[name] for place in places)) if listed is None else listed
            for name, listed in (("row", self.rows), ("column", self.columns))
        )
        rows = rows if isinstance(rows, dict) else {row: [row] for row in rows}
        return replace(self, heads=tuple(self.heads), rows=rows, columns=tuple(columns))


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, the parameters it prints, and the deviations from it."""

    key: str
    title: str | None
    authors: list | None
    year: int | None
    url: str | None
    claims: list[Claim] = field(default_factory=list)
    deviations: list[Deviation] = field(default_factory=list)
    parameters: list = field(default_factory=list)  # that the paper prints
    order: int = 0  # of the papers in the report
    tables: dict[str, Table] = field(default_factory=dict)
    figures: list = field(default_factory=list)  # of the paper, each with the name of ours
    main_table: str | None = None  # that the first page shows as a figure
    statements: list[Statement] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    statements_written: str = "after the runs"  # when the tests of the statements were
    trainings: int | None = None  # behind a value without a printed error
    shared: int = 0  # of its claims: runs in a row that share their opponents
    no_reading: list[NoReading] = field(default_factory=list)
    margins: dict[str, Rule] = field(default_factory=dict)  # of units that margins.yaml lacks

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
        return {name: self.tables.get(name, Table()).completed(p) for name, p in places.items()}

    def in_program(self, statement: Statement) -> Statement | None:
        """Return a statement about the runs "as the original software"; None if some have no such.

        A series may say which runs these are (`program`); else a reading says it, as for claims.
        """
        parts = [self._part_in_program(part) for part in statement.parts]
        return None if None in parts else replace(statement, parts=parts, looks=[])

    def _part_in_program(self, part):
        found = {name: one for name, one in part.items() if name != "looks"}
        for name, one in part.items():
            if name == "rising":
                found[name] = [*map(self._series_in_program, one)]
                if None in found[name]:
                    return None
            elif isinstance(one, dict):
                found[name] = self._series_in_program(one)
                if found[name] is None:
                    return None
        return found

    def _series_in_program(self, one):
        if "program" in one:
            return {name: of for name, of in one.items() if name != "program"} | one["program"]
        there = [r for r in self.readings if r.software and r.of == one["study"]]
        there = [r for r in there if one["arm"] in r.arms]
        less = self._series_in_program(one["less"]) if "less" in one else {}
        if not there or less is None:
            return None
        (reading, *_) = there
        where = {"study": reading.study or reading.of, "arm": reading.arms[one["arm"]]}
        found = one | where | {"select": reading.columns(one["select"])}
        if "converged" in one:
            found["converged"] = reading.columns(one["converged"])
        return found | ({"less": less} if less else {})

    def reading(self, name: str) -> Reading:
        """Return a reading by its id; raises KeyError if there is none."""
        return {reading.id: reading for reading in self.readings}[name]


def _folder() -> Path:
    folder = published_file("papers")
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; set AFTERPLY_DATA to that of a clone")
    return folder


def margin(rule: Mapping, value, of: int | None = None) -> float | None:
    """Return the margin of a published value by the rule of its unit; None if the unit has none."""
    if "absolute" in rule:
        return float(rule["absolute"])
    if "share" in rule and of is not None:
        return rule["share"] * of
    if "relative" in rule and isinstance(value, (int, float)):
        return max(rule["relative"] * abs(value), float(rule.get("at_least", 0)))
    return None


def keys() -> list[str]:
    """Return the keys of all papers, in order."""
    others = {"margins", "former", "answers", "meanings"}
    return sorted({path.stem for path in _folder().glob("*.yaml")} - others)


def load(key: str) -> Paper:
    """Load and check the file of one paper, by its `key`; ValueError names file and entry.

    >>> load("konen2021").claims[0].unit
    'score'
    """
    path, former = _folder() / f"{key}.yaml", _folder() / "former.yaml"
    if not path.is_file():
        raise ValueError(f"no paper {key!r}; there are {', '.join(keys())}")
    changes = read_yaml(former)["changes"] if former.is_file() else []
    return _checked(read_yaml(path), path, changes)


def load_own(path) -> Paper:
    """Load a claims file of your own; ValueError names the file, the entry and what it lacks.

    It is a file as that of a paper, but its key is its name, and may be left out; so may the study
    of what answers a claim, and the key in the ids of claims. A unit that margins.yaml lacks has
    its rule in `margins`. All faults are named at once.
    """
    path = Path(path)
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path.name}: {content!r} is not a mapping, with claims and statements")
    content = {"key": path.stem} | _with_study(content, path.stem)
    return _checked(_with_prefix(content, f"{content['key']}/"), path)


def _with_prefix(content, prefix):
    # ids of claims begin with the paper's key, which nobody has to write into a file of that name
    def prefixed(name):
        given = isinstance(name, str) and not name.startswith(prefix)
        return f"{prefix}{name}" if given else name

    def listed(part):
        found = content.get(part)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    for claim in listed("claims"):
        claim |= {"id": prefixed(claim["id"])} if "id" in claim else {}
    for entry in listed("no_reading"):
        if isinstance(entry.get("claims"), list):
            entry["claims"] = [*map(prefixed, entry["claims"])]
    return content


def _with_study(content, study):
    # whatever names an arm or selects results belongs to a study
    if isinstance(content, list):
        return [_with_study(one, study) for one in content]
    if not isinstance(content, dict):
        return content
    named = {"study": study} if {"arm", "metric", "select"} & set(content) else {}
    told = {name: _as_text(one) if name in NUMBERED else one for name, one in content.items()}
    return named | {name: _with_study(one, study) for name, one in told.items()}


def _as_text(content):
    # numbers as their digits, also in a list, or as the names in a mapping
    if isinstance(content, list):
        return [*map(_as_text, content)]
    if isinstance(content, dict):
        return {_as_text(name): one for name, one in content.items()}
    return str(content) if type(content) in (int, float) else content


def _written_out(content):
    # the short form, wherever columns are selected
    if isinstance(content, list):
        return [_written_out(one) for one in content]
    if not isinstance(content, dict):
        return content
    content = {name: _written_out(one) for name, one in content.items()}
    measure = content.pop("metric", None)
    return content | ({"select": {"measure": measure}} if measure is not None else {})


def _checked(entry, path, changes=()) -> Paper:
    faults = []
    paper = _read_entry(Paper, _written_out(entry), path.name, faults)
    if paper is not None:  # entries with a fault are left out of it
        rules = read_yaml(published_file("papers/margins.yaml")) | paper.margins
        found = _faults(paper, path.stem, rules)
        faults += [f"{path.name}: {message}" for wrong, message in found if wrong]
    if faults:
        raise ValueError("\n".join(faults))
    claims = [_derived(claim, paper, rules[claim.unit], changes) for claim in paper.claims]
    statements = [
        replace(
            one, tested=one.tested or one.says, former=_former(f"{paper.key}/{one.id}", changes)
        )
        for one in paper.statements
    ]
    return replace(paper, claims=claims, statements=statements)


def all() -> dict[str, Paper]:
    """Load all papers: key -> Paper."""
    return {key: load(key) for key in keys()}


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
        try:
            _check_statement(statement, f"statement {statement.id}")
        except ValueError as error:
            yield True, str(error)


def _faults_of_claim(claim, key, rules):
    place, value = claim.place, claim.value
    numbers = list(value.values()) if isinstance(value, dict) else [value]
    yield not titled(place), f"{ONE_PLACE}, not {place}"
    inside = "table" not in place or {"row", "column"} <= set(place)
    yield not inside, f"place is {place}; a place in a table needs row and column"
    yield not claim.id.startswith(f"{key}/"), f"the id must start with '{key}/'"
    known = f"margins.yaml knows {', '.join(rules)}; another one needs a rule in margins"
    yield claim.unit not in rules, f"unit is {claim.unit!r}; {known}"
    if claim.unit not in rules:
        return
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
    answered = claim.study and claim.arm and claim.select is not None
    yield not (answered or claim.needs), "name the study, arm and select that answer it, or needs"
    spread = claim.uncertainty or {"kind": "sem"}
    short = spread["kind"] == "sd" and spread.get("runs", 0) < 2
    yield short, "a standard deviation needs its number of runs to become a standard error"


def _check_statement(statement, where: str) -> None:
    """Raise ValueError if its parts are not those of its test."""
    if not titled(statement.place):
        raise ValueError(f"{where}: {ONE_PLACE}, not {statement.place}")
    if not statement.parts:
        raise ValueError(f"{where}: parts is empty; a statement has at least one")
    for looks in (statement.looks, *(part.get("looks", []) for part in statement.parts)):
        _check_looks(looks, statement.shared or 1, where)
    for part in statement.parts:
        read_entry(PARTS[statement.test], part, f"{where}, a part")
        if statement.test not in CAPPED and any("converged" in one for one in series(part)):
            raise ValueError(f"{where}: converged is for {' and '.join(CAPPED)} only")
        if statement.test == "trend" and len(part["rising"]) < LEAST_TREND:
            raise ValueError(f"{where}: rising needs at least {LEAST_TREND} series")
        if (names := ENDS.get(statement.test)) and not set(names) & set(part):
            raise ValueError(f"{where}: a part needs {' or '.join(names)}, a number")


def _check_looks(looks, shared, where):
    wrong = any(not isinstance(number, int) or number < 1 or number % shared for number in looks)
    if wrong or any(low >= high for low, high in pairwise(looks)):
        whole = f", each a multiple of shared ({shared})" if shared > 1 else ""
        raise ValueError(f"{where}: looks are {looks}; they are growing numbers of runs{whole}")


def _derived(claim, paper, rule, changes):
    # the fields that follow from the rest of the file, the rule of the unit, and what was changed
    return replace(
        claim,
        printed=claim.printed or str(claim.value),
        margin=margin(rule, claim.value, claim.of),
        trainings=claim.trainings or paper.trainings,
        shared=claim.shared or paper.shared,
        readings=tuple(r.answer(claim) for r in paper.readings if r.speaks_of(claim)),
        why=next((entry["why"] for entry in paper.no_reading if _names(entry, claim)), None),
        former=_former(claim.id, changes),
    )


def _former(name, changes):
    return tuple(
        (verdict, change["why"])
        for change in changes
        for verdict, ids in change["verdicts"].items()
        if name in ids
    )


def _names(entry, claim) -> bool:
    place = claim.place
    return claim.id in entry.get("claims", []) or (
        "table" in entry
        and entry["table"] == place.get("table")
        and place["row"] in entry.get("rows", [place["row"]])
        and place["column"] in entry.get("columns", [place["column"]])
    )


# Entries of YAML files as dataclasses or TypedDicts, whose annotations say what they may hold


def read_entry(kind, entry, where: str):
    """Return an entry of YAML as an instance of a class; ValueError names all that is wrong."""
    faults = []
    found = _read_entry(kind, entry, where, faults)
    if faults:
        raise ValueError("\n".join(faults))
    return found


def _read_entry(kind, entry, where, faults):
    # what is wrong joins `faults`; an entry with a fault of its own is None, and left out of lists,
    # but the whole file is read as far as it can be
    if not isinstance(entry, dict):
        faults.append(f"{where}: {entry!r} is not a mapping of fields")
        return None
    hints, needed = get_type_hints(kind), getattr(kind, "__required_keys__", ())
    if is_dataclass(kind):
        own = [field for field in fields(kind) if not field.metadata.get("derived")]
        hints = {field.name: hints[field.name] for field in own}
        needed = [field.name for field in own if field.default is field.default_factory is MISSING]
    found = {name: None for name in needed if NoneType in get_args(hints[name])}
    proper = True
    for name, content in entry.items():
        if name not in hints:
            faults.append(f"{where}: unknown field {name!r}; the fields are {', '.join(hints)}")
            proper = kind is Paper
        elif content is not None:
            value = _convert(hints[name], content, name, where, faults)
            if value is not None:
                found[name] = value
            else:
                proper = kind is Paper
    for name in hints:
        if name in needed and name not in found:
            proper = False
            if entry.get(name) is None:  # else it was told that it does not fit
                faults.append(f"{where}: {name} is missing")
    return kind(**found) if proper else None


def _convert(hint, content, name, where, faults):
    # None if it does not fit; a number where a text is asked for stands for its digits
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    fitting = [option for option in options if type(content) in _plain(option)]
    if not fitting:
        expected = " or ".join(kind.__name__ for option in options for kind in _plain(option))
        found = f"{name} is {content!r}, a {type(content).__name__}"
        faults.append(f"{where}: {found}; it must be {expected}")
        return None
    kind, inner = fitting[0], get_args(fitting[0])
    if get_origin(kind) is Literal and content not in inner:
        faults.append(f"{where}: {name} is {content!r}; it must be one of {', '.join(inner)}")
        return None
    if _has_fields(kind):
        return _read_entry(kind, content, f"{where}, {name}", faults)
    if get_origin(kind) not in (list, dict) or not _has_fields(inner[-1]):
        return content
    word = f"{where}: {inner[-1].__name__.lower()}"
    if isinstance(content, dict):
        read = {
            key: _read_entry(inner[-1], one, f"{word} {key}", faults)
            for key, one in content.items()
        }
        return {key: one for key, one in read.items() if one is not None}
    read = [
        _read_entry(inner[-1], one, f"{word} {_named(one) or f'of {name}, entry {number}'}", faults)
        for number, one in enumerate(content, 1)
    ]
    return [one for one in read if one is not None]


def _plain(hint) -> tuple:  # the types that YAML has for an annotation
    if get_origin(hint) is Literal:
        return (str,)
    if _has_fields(hint):
        return (dict,)
    return (int, float) if hint is float else (get_origin(hint) or hint,)


def _has_fields(hint):
    return is_dataclass(hint) or hasattr(hint, "__required_keys__")


def _named(entry):
    return entry.get("id", entry.get("name")) if isinstance(entry, dict) else None
