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

Your own claims file has the same format, but may leave out most of it: see :func:`load_own`.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, Required, TypedDict, Union, get_args, get_origin, get_type_hints

from ...checks import is_whole
from ...files import once, published_file, read_yaml
from .statements import CAPPED, ENDS, LEAST_TREND, PARTS, PERCENT, series
from .verdicts import counting_error

DERIVED = {"derived": True}  # metadata of fields that no file holds
KINDS = {"table": "Table", "figure": "Fig.", "section": "Sec."}
# fields whose contents are texts as they are written, also 007 and true
TEXTS = {*KINDS, "row", "column", "id", "arm", "study", "tables", "rows", "columns"}
TEXTS |= {"metric", "measure"}
ONE_PLACE = "a place needs one of table, figure, section"
OTHER_FILES = {"margins", "former", "answers", "meanings"}  # beside those of the papers


class Place(TypedDict, total=False):
    """Where something is printed: one of table, figure and section."""

    table: str
    figure: str
    section: str
    row: str
    column: str


class Uncertainty(TypedDict, total=False):
    """The printed error of a mean."""

    value: Required[float]
    kind: Required[Literal["sem", "sd"]]  # the standard error, or the standard deviation of runs
    runs: int


class Rule(TypedDict, total=False):
    """A margin: absolute, or relative to the value with a least one, or a share of the games."""

    absolute: float
    relative: float
    share: float
    at_least: float
    why: Required[str]


class NoReading(TypedDict, total=False):
    """Why no reading gives some claims: their ids, or a table, perhaps only some of its cells."""

    claims: list
    rows: list
    columns: list
    table: str
    why: Required[str]


class Other(TypedDict, total=False):
    """For claims with columns as in `where` (default: all) a reading has other ones."""

    where: dict
    by: Required[dict]  # column -> value; "" takes the column away


def titled(place) -> str:
    """Return a place without row and column in words, "Table 1"; "" if it is not one place."""
    titles = [f"{name} {place[kind]}" for kind, name in KINDS.items() if kind in place]
    return titles[0] if len(titles) == 1 else ""


@dataclass(frozen=True)
class Claim:
    """One published value, and what answers it."""

    id: str  # <paper>/<place>/<what>
    place: Place
    printed: str | None  # as the paper prints it; default: the value
    value: float | str | list | dict | None  # a target has a number, or component -> number
    unit: str  # a key of margins.yaml
    of: int | None = None  # number of games behind a win : draw : loss cell
    uncertainty: Uncertainty | None = None
    margin: float | None = field(default=None, metadata=DERIVED)
    relation: Literal["=", ">", "<"] = "="  # a value, or a bound
    # the direction in which a difference beyond the margin is an improvement
    better: Literal["higher", "lower"] | None = None
    target: bool = True  # whether it can be reproduced; else `reason` says why not
    reason: str | None = None
    note: str | None = None  # a remark for the reader
    study: str | None = None
    arm: str | None = None
    select: dict | None = None  # the columns of the results that answer it
    needs: str | None = None  # what must exist before it can be run
    bound: str | None = None  # why no program can give the printed value, or how far it can come
    why: str | None = field(default=None, metadata=DERIVED)  # why no reading gives it
    timed: dict | None = None  # what a printed time measures
    readings: tuple = field(default=(), metadata=DERIVED)  # arms that read a silent point otherwise
    # how many stand behind a value without a printed error (default: the paper's)
    trainings: int | None = None
    # how many runs in a row share their opponents: only such groups are independent of each other
    # (default: the paper's)
    shared: int = 0
    floor: float | None = None  # the least value that can be observed of a run
    cap: float | None = None  # the largest one
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
        measure = self.select.get("measure")
        selections = {}
        for component in self.value:
            measure_of_component = f"{measure}:{component}" if measure else component
            selections[component] = self.select | {"measure": measure_of_component}
        return selections

    @property
    def printed_error(self) -> tuple:
        """The printed standard error of the mean, 0 if there is none, and the runs behind it."""
        if not self.uncertainty:
            return 0.0, None
        error = float(self.uncertainty["value"])
        runs = self.uncertainty.get("runs")
        if self.uncertainty["kind"] == "sd":
            error = error / math.sqrt(runs) if runs else 0.0
        return error, runs

    @property
    def published_sem(self) -> float:
        """The printed standard error, or that of a count of games; 0 if neither is known."""
        if self.counted and not isinstance(self.value, Mapping):
            return counting_error(self.value, *self.counted)
        error, _ = self.printed_error
        return error

    @property
    def counted(self) -> tuple | None:
        """Games behind a printed count, and all of them in its unit; None if it is no count."""
        if not self.of or self.uncertainty is not None:
            return None
        if self.unit == "games" and isinstance(self.value, Mapping):
            return self.of, self.of
        if self.unit == "percent" and isinstance(self.value, (int, float)):
            return self.of, 100
        return None


@dataclass(frozen=True)
class Statement:
    """A sentence that a paper presents as a result, with the test that stands for it."""

    id: str
    says: str  # the paper's words, uncut
    place: Place
    tested: str | None  # what is tested, in our words; default: in those of the paper
    test: Literal["ordering", "range", "trend", "bound"]
    parts: list  # as `statements.PARTS`
    printed: str = ""  # what the test says of the paper's own numbers
    unit: str = ""  # of the numbers shown; a part may have its own
    figure: str = ""  # name of the figure that shows it
    holds_if: Literal["all", "most", "any"] = "all"  # of its parts hold
    # how many runs in a row share their opponents: only such groups are independent of each other
    shared: int = 0
    looks: list = field(default_factory=list)  # numbers of runs at which it was or will be tested
    former: tuple = field(default=(), metadata=DERIVED)  # verdicts before a change, and why

    @property
    def needed(self):
        """Number of parts that must hold."""
        if self.holds_if == "any":
            return 1
        if self.holds_if == "most":
            return len(self.parts) // 2 + 1
        return len(self.parts)

    @property
    def where(self):
        """The place in words; a section with a name is called by it."""
        section = self.place.get("section", "")
        first = section[:1]
        has_name = first.isalpha() and first not in "IVX"  # "IV. Results" has a number
        return section if has_name else titled(self.place)


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
    study: str = ""  # the study that has those arms (default: `of`)
    # tables or sections: it speaks of their claims only (default: of all)
    tables: list = field(default_factory=list)
    select: list[Other] = field(default_factory=list)  # where its columns differ from the claim's
    software: bool = False  # the reading "as the original software"
    sets: dict = field(default_factory=dict)  # deviation -> what is set there, in words
    # parameters of the learner that differ from the text's reading
    settings: dict = field(default_factory=dict)
    # parameters of the notebook, such as numbers of episodes
    parameters: dict = field(default_factory=dict)
    # arms of the claims whose trainings are deterministic here: all runs are one training
    one_training: list = field(default_factory=list)
    not_run: str = ""  # why it has no arm, or why its arms are not planned

    def speaks_of(self, claim) -> bool:
        """Whether one of its arms, or other columns, answer a claim that is a target."""
        if not claim.target or claim.study != self.of or claim.arm not in self.arms:
            return False
        places = {claim.place.get("table"), claim.place.get("section")}
        if self.tables and not places & set(self.tables):
            return False
        answer = self.answer(claim)
        as_the_text = (claim.study, claim.arm, claim.select)
        return (answer["study"], answer["arm"], answer["select"]) != as_the_text

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
    heads: list = field(default_factory=lambda: [""])  # headers of the columns before the values
    # names of the rows in order, perhaps each with what is printed before its values
    rows: list | dict | None = None
    columns: list | None = None  # names of the columns of values, in order

    def completed(self, places) -> "Table":
        """Return the table with all its rows and columns, from the places of its claims."""
        rows = self.rows
        if rows is None:
            rows = _in_order(place["row"] for place in places)
        if not isinstance(rows, dict):
            rows = {row: [row] for row in rows}
        columns = self.columns
        if columns is None:
            columns = _in_order(place["column"] for place in places)
        return replace(self, heads=tuple(self.heads), rows=rows, columns=tuple(columns))


def _in_order(names) -> list:
    """Return each name once, in the order in which they come first."""
    return list(dict.fromkeys(names))


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
    parameters: list = field(default_factory=list)  # those that the paper prints
    order: int = 0  # its place among the papers in the report
    tables: dict[str, Table] = field(default_factory=dict)
    figures: list = field(default_factory=list)  # those of the paper, each with the name of ours
    main_table: str | None = None  # the table that the first page shows as a figure
    statements: list[Statement] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    statements_written: str = "after the runs"  # when the tests of the statements were written
    trainings: int | None = None  # how many stand behind a value without a printed error
    shared: int = 0  # how many runs in a row share their opponents, in its claims
    no_reading: list[NoReading] = field(default_factory=list)
    margins: dict[str, Rule] = field(default_factory=dict)  # for units that margins.yaml lacks

    @property
    def studies(self) -> list:
        """Studies that answer its claims, those of other readings last."""
        names = [claim.study for claim in self.claims]
        names += [reading.study or reading.of for reading in self.readings]
        return _in_order(name for name in names if name)

    @property
    def printed_tables(self) -> dict:
        """Name -> Table with all its rows and columns, of each that claims stand in."""
        places_in_tables = {}
        for claim in self.claims:
            if "table" in claim.place:
                places_in_tables.setdefault(claim.place["table"], []).append(claim.place)
        tables = {}
        for name, places in places_in_tables.items():
            tables[name] = self.tables.get(name, Table()).completed(places)
        return tables

    def in_program(self, statement: Statement) -> Statement | None:
        """Return a statement about the runs "as the original software"; None if some have no such.

        A series may say which runs these are (`program`); else a reading says it, as for claims.
        """
        parts = [self._part_in_program(part) for part in statement.parts]
        if None in parts:
            return None
        return replace(statement, parts=parts, looks=[])

    def _part_in_program(self, part):
        """Return a part about the runs of the original software, or None; see `in_program`."""
        changed = {name: content for name, content in part.items() if name != "looks"}
        for name, content in changed.items():
            if name == "rising":
                changed[name] = [self._series_in_program(one) for one in content]
                if None in changed[name]:
                    return None
            elif isinstance(content, dict):
                changed[name] = self._series_in_program(content)
                if changed[name] is None:
                    return None
        return changed

    def _series_in_program(self, one):
        """Return a series of the runs of the original software, or None; see `in_program`."""
        if "program" in one:
            others = {name: content for name, content in one.items() if name != "program"}
            return others | one["program"]
        reading = self._software_reading(one["study"], one["arm"])
        if reading is None:
            return None
        changed = one | {
            "study": reading.study or reading.of,
            "arm": reading.arms[one["arm"]],
            "select": reading.columns(one["select"]),
        }
        if "converged" in one:
            changed["converged"] = reading.columns(one["converged"])
        if "less" in one:
            changed["less"] = self._series_in_program(one["less"])
            if changed["less"] is None:
                return None
        return changed

    def _software_reading(self, study, arm):
        """Return the first reading as the original software that has this arm; None without one."""
        for reading in self.readings:
            if reading.software and reading.of == study and arm in reading.arms:
                return reading
        return None

    def reading(self, name: str) -> Reading:
        """Return a reading by its id; raises KeyError if there is none."""
        for reading in self.readings:
            if reading.id == name:
                return reading
        raise KeyError(name)


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
    names = {path.stem for path in _folder().glob("*.yaml")}
    return sorted(names - OTHER_FILES)


def load(key: str) -> Paper:
    """Load and check the file of one paper, by its `key`; ValueError names file and entry.

    >>> load("konen2021").claims[0].unit
    'score'
    """
    path = _folder() / f"{key}.yaml"
    if not path.is_file():
        raise ValueError(f"no paper {key!r}; there are {', '.join(keys())}")
    return once(("paper", path), lambda: _read(path))


def _read(path):
    """Read and check the file of a paper."""
    former = _folder() / "former.yaml"
    changes = read_yaml(former)["changes"] if former.is_file() else []
    return _checked(read_yaml(path, TEXTS), path, changes)


def load_own(path) -> Paper:
    """Load a claims file of your own; ValueError names the file, the entry and what it lacks.

    It is a file as that of a paper, but its key is its name, and may be left out; so may the study
    of what answers a claim, and the key in the ids of claims. A unit that margins.yaml lacks has
    its rule in `margins`. All faults are named at once.
    """
    path = Path(path)
    content = read_yaml(path, TEXTS)
    content = {"key": path.stem} | _with_study(content, path.stem)
    return _checked(_with_prefix(content, f"{content['key']}/"), path)


def _with_prefix(content, prefix):
    """Write a prefix before the ids of claims that lack it: the paper's key begins each of them."""
    for claim in _mappings_in(content.get("claims")):
        if "id" in claim:
            claim["id"] = _prefixed(claim["id"], prefix)
    for entry in _mappings_in(content.get("no_reading")):
        if isinstance(entry.get("claims"), list):
            entry["claims"] = [_prefixed(name, prefix) for name in entry["claims"]]
    return content


def _mappings_in(entries):
    """Return the entries of a list that are mappings; what else there is is refused later."""
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


def _prefixed(name, prefix):
    """Return an id with its prefix."""
    if isinstance(name, str) and not name.startswith(prefix):
        return prefix + name
    return name


def _with_study(content, study):
    """Return what a file holds with a study wherever an arm is named, or results are selected."""
    if isinstance(content, list):
        return [_with_study(entry, study) for entry in content]
    if not isinstance(content, dict):
        return content
    changed = {}
    if {"arm", "metric", "select"} & set(content):
        changed["study"] = study
    for name, entry in content.items():
        changed[name] = _with_study(entry, study)
    return changed


def _written_out(content):
    """Return what a file holds with ``metric: score`` written as ``select: {measure: score}``."""
    if isinstance(content, list):
        return [_written_out(entry) for entry in content]
    if not isinstance(content, dict):
        return content
    changed = {name: _written_out(entry) for name, entry in content.items()}
    measure = changed.pop("metric", None)
    if measure is not None:
        changed["select"] = {"measure": measure}
    return changed


def _checked(content, path, changes=()) -> Paper:
    """Return what a file holds as a paper; ValueError names all that is wrong in it.

    `changes` are those of former.yaml.
    """
    faults = []
    paper = _read_entry(Paper, _written_out(content), path.name, faults)
    if paper is not None:  # entries with a fault are left out of it
        rules = read_yaml(published_file("papers/margins.yaml")) | paper.margins
        for fault in _faults_of_paper(paper, path.stem, rules):
            faults.append(f"{path.name}: {fault}")
    if faults:
        raise ValueError("\n".join(faults))
    claims = [_derived(claim, paper, rules[claim.unit], changes) for claim in paper.claims]
    statements = []
    for statement in paper.statements:
        former = _former(f"{paper.key}/{statement.id}", changes)
        tested = statement.tested or statement.says
        statements.append(replace(statement, tested=tested, former=former))
    return replace(paper, claims=claims, statements=statements)


def all() -> dict[str, Paper]:
    """Load all papers: key -> Paper."""
    return {key: load(key) for key in keys()}


# What can be wrong in a file whose entries have the right fields


def _faults_of_paper(paper, stem, rules):
    """Return what is wrong in a paper; `stem` is the name of its file, `rules`: unit -> margin."""
    faults = []
    if paper.key != stem:
        faults.append(f"key is {paper.key!r}; it must be the file's name, {stem!r}")
    for entries in (paper.claims, paper.deviations, paper.statements, paper.readings):
        for name, times in Counter(entry.id for entry in entries).items():
            if times > 1:
                faults.append(f"id {name} occurs twice; ids must be unique")
    for claim in paper.claims:
        for fault in _faults_of_claim(claim, paper.key, rules):
            faults.append(f"claim {claim.id}: {fault}")
    for deviation in paper.deviations:
        if bool(deviation.switch) != bool(deviation.values):
            faults.append(f"deviation {deviation.id}: switch and values belong together")
    for reading in paper.readings:
        if not reading.arms and not reading.not_run:
            faults.append(f"reading {reading.id}: it has no arm; say why in not_run")
    for statement in paper.statements:
        faults += _faults_of_statement(statement)
    return faults


def _faults_of_claim(claim, key, rules):
    """Return what is wrong in a claim of a paper with this key."""
    place = claim.place
    faults = []
    if not titled(place):
        faults.append(f"{ONE_PLACE}, not {place}")
    if "table" in place and not {"row", "column"} <= set(place):
        faults.append(f"place is {place}; a place in a table needs row and column")
    if not claim.id.startswith(f"{key}/"):
        faults.append(f"the id must start with '{key}/'")
    if claim.unit not in rules:
        known = f"margins.yaml knows {', '.join(rules)}"
        faults.append(f"unit is {claim.unit!r}; {known}; another one needs a rule in margins")
    elif claim.target:
        faults += _faults_of_target(claim, rules[claim.unit])
    elif not claim.reason:
        faults.append("target is false; say why in reason")
    return faults


def _faults_of_target(claim, rule):
    """Return what is wrong in a claim that can be reproduced; `rule` is the margin of its unit."""
    value = claim.value
    has_components = isinstance(value, dict)
    numbers = list(value.values()) if has_components else [value]
    types = {type(number) for number in numbers}
    faults = []
    if not numbers or not types <= {int, float}:
        faults.append(f"value is {value!r}; a target needs numbers, else target: false")
    else:
        faults += filter(None, map(partial(_fault_of_number, claim.unit), numbers))
    if claim.relation == "=" and not margin(rule, value, claim.of):
        unit = f"unit {claim.unit!r} (of: {claim.of})"
        faults.append(f"no margin for {unit}; add a rule to margins.yaml")
    if has_components and (claim.uncertainty or claim.better or claim.relation != "="):
        faults.append("uncertainty, better and relation are for single numbers")
    is_answered = claim.study and claim.arm and claim.select is not None
    if not is_answered and not claim.needs:
        faults.append("name the study, arm and select that answer it, or needs")
    if claim.uncertainty and claim.uncertainty["kind"] == "sd":
        if claim.uncertainty.get("runs", 0) < 2:
            faults.append(
                "a standard deviation needs its number of runs to become a standard error"
            )
    return faults


def _fault_of_number(unit, number) -> str:
    """Return why no value of a unit can be this number, or ""."""
    if not math.isfinite(number):
        return f"value is {number}; it must be a finite number"
    if unit == PERCENT and not 0 <= number <= 100:
        return f"value is {number}; a percentage lies between 0 and 100, else it has another unit"
    return ""


def _faults_of_statement(statement):
    """Return what is wrong in a statement, and in its parts."""
    where = f"statement {statement.id}"
    faults = []
    if not titled(statement.place):
        faults.append(f"{where}: {ONE_PLACE}, not {statement.place}")
    if not statement.parts:
        faults.append(f"{where}: parts is empty; a statement has at least one")
    faults += _faults_of_looks(statement.looks, statement.shared or 1, where)
    for part in statement.parts:
        faults += _faults_of_part(part, statement, where)
    return faults


def _faults_of_part(part, statement, where):
    """Return what is wrong in a part of a statement."""
    faults = []
    _read_entry(PARTS[statement.test], part, f"{where}, a part", faults)
    if faults:
        return faults
    faults += _faults_of_looks(part.get("looks", []), statement.shared or 1, where)
    names_converged = any("converged" in one for one in series(part))
    if names_converged and statement.test not in CAPPED:
        faults.append(f"{where}: converged is for {' and '.join(CAPPED)} only")
    if statement.test == "trend" and len(part["rising"]) < LEAST_TREND:
        faults.append(f"{where}: rising needs at least {LEAST_TREND} series")
    ends = ENDS.get(statement.test, ())
    if statement.test == "bound":
        unit = part.get("unit", statement.unit)
        bounds = [part[end] for end in ends if end in part]
        for fault in filter(None, map(partial(_fault_of_number, unit), bounds)):
            faults.append(f"{where}: {fault}")
    if ends and not set(ends) & set(part):
        faults.append(f"{where}: a part needs {' or '.join(ends)}, a number")
    return faults


def _faults_of_looks(looks, shared, where):
    """Return what is wrong in numbers of runs at which a statement is tested."""
    is_wrong = any(not is_whole(number) or number < 1 for number in looks)
    is_wrong = is_wrong or any(number % shared for number in looks)
    if is_wrong or any(low >= high for low, high in pairwise(looks)):
        whole_groups = f", each a multiple of shared ({shared})" if shared > 1 else ""
        return [f"{where}: looks are {looks}; they are growing numbers of runs{whole_groups}"]
    return []


# What follows from the rest of a file, the rule of the unit, and what was changed


def _derived(claim, paper, rule, changes):
    """Return a claim with the fields that its entry in the file does not hold."""
    readings = [reading.answer(claim) for reading in paper.readings if reading.speaks_of(claim)]
    return replace(
        claim,
        printed=claim.printed or str(claim.value),
        margin=margin(rule, claim.value, claim.of),
        trainings=claim.trainings or paper.trainings,
        shared=claim.shared or paper.shared,
        readings=tuple(readings),
        why=_why_no_reading(claim, paper),
        former=_former(claim.id, changes),
    )


def _former(name, changes):
    """Return the verdicts that a claim or a statement had before changes, each with the reason."""
    verdicts = []
    for change in changes:
        for verdict, names in change["verdicts"].items():
            if name in names:
                verdicts.append((verdict, change["why"]))
    return tuple(verdicts)


def _why_no_reading(claim, paper):
    """Return why no reading gives a claim; None if the paper's file does not say it."""
    for entry in paper.no_reading:
        if claim.id in entry.get("claims", []) or _stands_in(claim.place, entry):
            return entry["why"]
    return None


def _stands_in(place, entry) -> bool:
    """Return whether a place is in the table of an entry, and in its rows and columns."""
    if "table" not in entry or entry["table"] != place.get("table"):
        return False
    is_in_rows = "rows" not in entry or place["row"] in entry["rows"]
    is_in_columns = "columns" not in entry or place["column"] in entry["columns"]
    return is_in_rows and is_in_columns


# Entries of YAML files as dataclasses or TypedDicts, whose annotations say what they may hold.
#
# The first argument of each function is such an annotation. What is wrong joins `faults`, the last
# one; `where` says in words where an entry stands. An entry with a fault of its own is None, and
# left out of the list or mapping that holds it. A paper is read as far as it can be, so that all
# faults of a file are told at once.


def _read_entry(kind, entry, where, faults):
    """Return an entry as an instance of a class."""
    if not isinstance(entry, dict):
        faults.append(f"{where}: {entry!r} is not a mapping of fields")
        return None
    hints, required = _fields_of(kind)
    values = {name: None for name in required if NoneType in get_args(hints[name])}
    is_sound = True
    for name, content in entry.items():
        if name not in hints:
            faults.append(f"{where}: unknown field {name!r}; the fields are {', '.join(hints)}")
            is_sound = False
        elif content is not None:
            value = _convert(hints[name], content, name, where, faults)
            if value is None:
                is_sound = False
            else:
                values[name] = value
    missing = [name for name in required if name not in values]
    for name in missing:
        if entry.get(name) is None:  # else a fault says that it does not fit
            faults.append(f"{where}: {name} is missing")
    if missing or not (is_sound or kind is Paper):
        return None
    return kind(**values)


def _fields_of(kind):
    """Return name -> annotation of the fields in a file, and the names of those it must hold."""
    hints = get_type_hints(kind)
    if not is_dataclass(kind):
        return hints, [name for name in hints if name in kind.__required_keys__]
    in_file = {}
    required = []
    for one in fields(kind):
        if one.metadata.get("derived"):
            continue
        in_file[one.name] = hints[one.name]
        if one.default is MISSING and one.default_factory is MISSING:
            required.append(one.name)
    return in_file, required


def _convert(hint, content, name, where, faults):
    """Return the content of a field, its entries as instances of their classes."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    fitting = [option for option in options if type(content) in _types_in_yaml(option)]
    if not fitting:
        expected = " or ".join(_names_of_types(options))
        kind_of_content = type(content).__name__
        faults.append(f"{where}: {name} is {content!r} ({kind_of_content}); it must be {expected}")
        return None
    kind = fitting[0]
    inner = get_args(kind)
    if isinstance(content, float) and not math.isfinite(content):
        faults.append(f"{where}: {name} is {content}; it must be a finite number")
        return None
    if get_origin(kind) is Literal and content not in inner:
        faults.append(f"{where}: {name} is {content!r}; it must be one of {', '.join(inner)}")
        return None
    if _has_fields(kind):
        return _read_entry(kind, content, f"{where}, {name}", faults)
    if get_origin(kind) is dict and _has_fields(inner[1]):
        return _read_mapping(inner[1], content, where, faults)
    if get_origin(kind) is list and _has_fields(inner[0]):
        return _read_list(inner[0], content, name, where, faults)
    return content


def _read_mapping(kind, content, where, faults):
    """Return the entries of a mapping as instances of a class."""
    entries = {}
    for name, content_of_entry in content.items():
        where_in_mapping = f"{where}: {kind.__name__.lower()} {name}"
        entry = _read_entry(kind, content_of_entry, where_in_mapping, faults)
        if entry is not None:
            entries[name] = entry
    return entries


def _read_list(kind, content, name, where, faults):
    """Return the entries of the list `name` as instances of a class."""
    entries = []
    for number, content_of_entry in enumerate(content, 1):
        title = _title_of(content_of_entry) or f"of {name}, entry {number}"
        where_in_list = f"{where}: {kind.__name__.lower()} {title}"
        entry = _read_entry(kind, content_of_entry, where_in_list, faults)
        if entry is not None:
            entries.append(entry)
    return entries


def _title_of(entry):
    """Return by what an entry of a list is called; None if it has neither id nor name."""
    if not isinstance(entry, dict):
        return None
    return entry.get("id", entry.get("name"))


def _types_in_yaml(hint) -> tuple:
    """Return the types that YAML has for an annotation without alternatives."""
    if get_origin(hint) is Literal:
        return (str,)
    if _has_fields(hint):
        return (dict,)
    if hint is float:
        return (int, float)
    return (get_origin(hint) or hint,)


def _names_of_types(options) -> list:
    """Return the names of the types that YAML has for alternatives."""
    names = []
    for option in options:
        if option is not NoneType:
            names += [kind.__name__ for kind in _types_in_yaml(option)]
    return names


def _has_fields(hint):
    """Return whether an annotation is a dataclass or a TypedDict."""
    return is_dataclass(hint) or hasattr(hint, "__required_keys__")
