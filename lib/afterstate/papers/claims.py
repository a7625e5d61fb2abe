"""Published values (claims) and the points where a paper leaves a choice (deviations).

    data/papers/<key>.yaml      one file a paper: claims, parameters, deviations
    data/papers/margins.yaml    one rule per unit: the difference that does not matter

    results (study, arm, run, episode, metric, value) --compare--> a row a claim, with its verdict

A claim names the place where the value is printed, and the study, arm and metric that answer it.
The metric of a claim with several numbers (win : draw : loss) is followed by the component: metric
`cell` is answered by `cell:wins`, `cell:draws`, ...
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..files import read_yaml
from .errors import counting_error, with_errors
from .fields import (
    CLAIM_FIELDS,
    DEVIATION_FIELDS,
    FIGURE_FIELDS,
    NUMBER,
    PAPER_FIELDS,
    PARAMETER_FIELDS,
    UNCERTAINTY_FIELDS,
    check_fields,
    check_place,
    check_timed,
    check_unique,
    name_of,
)
from .margins import load_margins as load_margins
from .margins import margin, papers_folder
from .readings import Reading, read_reading, readings_of, with_reasons
from .statements import read_statement
from .tables import read_tables


@dataclass(frozen=True)
class Claim:
    """One published value.

    Parameters
    ----------
    id : str
        ``<paper>/<place>/<what>``.
    place : dict
        table, figure or section, with row and column.
    printed : str
        The text in the paper.
    value : number or dict
        A number, component -> number, or (not a target) anything.
    unit : str
        A key of margins.yaml.
    of : int, optional
        Games behind a win : draw : loss cell.
    uncertainty : dict, optional
        {value, kind: sem or sd, runs} as printed.
    margin : float, optional
        From the rule of its unit; `former_margin` before the rule was changed, `changed` says why.
    relation : "=", ">" or "<"
        A value, or a bound.
    better : "higher" or "lower", optional
        The direction in which leaving the margin is good.
    target : bool
        Whether it can be reproduced; else `reason` says why not.
    note : str, optional
        A remark for the reader.
    study, arm, metric : str, optional
        What answers it.
    needs : str, optional
        What must exist before it can be run.
    bound : str, optional
        Why no program can give the printed value, or how far it can come.
    why : str, optional
        Why no reading that was tried gives it.
    timed : dict, optional
        Of a printed time, {what, player, than, agents}: :mod:`reports.timed` says ours.
    readings : tuple of dict
        Exploratory arms that read a silent point otherwise: see :mod:`papers.readings`.
    row_error : float
        Standard error of a total that follows from the counts of games in its row.
    shared_runs : int, optional
        Runs behind a printed mean without a spread: ours is taken for it.
    """

    id: str
    place: dict
    printed: str
    value: object
    unit: str
    of: int | None = None
    uncertainty: dict | None = None
    margin: float | None = None
    relation: str = "="
    better: str | None = None
    target: bool = True
    reason: str | None = None
    note: str | None = None
    study: str | None = None
    arm: str | None = None
    metric: str | None = None
    needs: str | None = None
    bound: str | None = None
    why: str | None = None
    timed: dict | None = None
    readings: tuple = ()
    former_margin: float | None = None
    changed: str | None = None
    row_error: float = 0.0
    shared_runs: int | None = None

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split("/")[0]

    @property
    def where(self) -> str:
        """The place in words: `Table 1, TicTacToe vs Max-N10, FARL`."""
        kind = next(kind for kind in ("table", "figure", "section") if kind in self.place)
        name = {"table": "Table", "figure": "Fig.", "section": "Sec."}[kind]
        return ", ".join(
            [f"{name} {self.place[kind]}"]
            + [self.place[k] for k in ("row", "column") if k in self.place]
        )

    @property
    def published_sem(self) -> float:
        """The printed standard error of the mean, or that of a count of games.

        0 if there is neither, or a deviation without its number of runs.
        """
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
        counted = self.unit == "percent" and isinstance(self.value, NUMBER)
        return (self.of, 100) if counted else None

    def formerly(self) -> "Claim":
        """Return the claim by the rules before they were changed: without derived errors."""
        of = None if self.unit in ("games", "percent") else self.of
        margin = self.former_margin or self.margin
        return replace(self, margin=margin, of=of, row_error=0.0, shared_runs=None)


@dataclass(frozen=True)
class Deviation:
    """A point where the paper is silent, cannot work literally, or differs from its own software.

    Parameters
    ----------
    id, title : str
    paper : str
        What it says, with the place.
    original, default : str
        What its software does, and what is done here.
    why : str
    switch : str, optional
        The parameter that selects it, with `values`: setting -> meaning.
    status : str
        "built", or "planned" while its code does not exist.
    """

    id: str
    title: str
    paper: str
    original: str
    default: str
    why: str
    switch: str | None = None
    values: dict | None = None
    status: str = "built"


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, the parameters it prints, and the deviations from it.

    Parameters
    ----------
    key, title, authors, year, url
    claims : list of Claim
    deviations : list of Deviation
    parameters : list of dict
    order : int
        Of the papers in the report.
    tables : dict
        Name -> what its file says of the table: see `printed_tables`.
    figures : list of dict
        In the paper's order: {figure: "Fig. 3", shows: name of our figure}.
    main_table : str, optional
        The table that the first page shows as a figure.
    statements : list of Statement
    statements_written : str
        When, relative to the runs, their tests were written down.
    readings : list of Reading
        Other ways to read it.
    verdicts_changed : str, optional
        Which verdicts a rule that was changed after the runs took and gave.
    """

    key: str
    title: str
    authors: list
    year: int
    url: str
    claims: list
    deviations: list
    parameters: list
    order: int = 0
    tables: dict = field(default_factory=dict)
    figures: list = field(default_factory=list)
    main_table: str | None = None
    statements: list = field(default_factory=list)
    readings: list = field(default_factory=list)
    statements_written: str = "after the runs"
    verdicts_changed: str | None = None

    @property
    def studies(self) -> list:
        """Studies that answer its claims, those of other readings last."""
        named = [claim.study for claim in self.claims]
        named += [reading.study or reading.of for reading in self.readings]
        return list(dict.fromkeys(filter(None, named)))

    @property
    def printed_tables(self) -> dict:
        """Name -> tables.Table, each that claims stand in."""
        return read_tables(self.tables, self.claims, self.key)

    def reading(self, name: str) -> Reading:
        """Return a reading by its id; raises KeyError if there is none."""
        return {reading.id: reading for reading in self.readings}[name]


def keys() -> list[str]:
    """Return the keys of all papers, in the order of their names."""
    return sorted(path.stem for path in papers_folder().glob("*.yaml") if path.stem != "margins")


def load(key: str) -> Paper:
    """Load and check the file of one paper.

    Raises ValueError naming the file and the claim for an unknown field, a wrong type, a missing
    place or a duplicate id.

    >>> load("konen2021").claims[0].unit
    'score'
    """
    path = papers_folder() / f"{key}.yaml"
    if not path.is_file():
        raise ValueError(f"no paper {key!r}; there are {', '.join(keys())}")
    return read(path, load_margins())


def all() -> dict[str, Paper]:
    """Load all papers: key -> Paper."""
    return {key: load(key) for key in keys()}


def read(path: Path, rules: Mapping[str, dict]) -> Paper:
    """Read and check one paper's file; `rules` are the margins by unit."""
    content = read_yaml(path)
    check_fields(
        content,
        PAPER_FIELDS,
        {"key", "title", "authors", "year", "url", "order", "claims", "deviations"},
        path.name,
    )
    if content["key"] != path.stem:
        raise ValueError(
            f"{path.name}: key is {content['key']!r}; it must be the file's name, {path.stem!r}"
        )
    claims = [_claim(entry, content["key"], rules, path.name) for entry in content["claims"]]
    claims = [with_errors(claim, claims, content.get("shared_spread")) for claim in claims]
    deviations = [_deviation(entry, path.name) for entry in content["deviations"]]
    readings = [read_reading(entry, path.name) for entry in content.get("readings", [])]
    claims = [replace(claim, readings=readings_of(claim, readings)) for claim in claims]
    claims = with_reasons(claims, content.get("no_reading", []), path.name)
    for entry in content.get("parameters", []):
        where = f"{path.name}: parameter {name_of(entry, 'name')}"
        check_fields(entry, PARAMETER_FIELDS, {"name", "value", "place"}, where)
        check_place(entry["place"], where)
    for entry in content.get("figures", []):
        check_fields(entry, FIGURE_FIELDS, set(FIGURE_FIELDS), f"{path.name}: a figure")
    statements = [read_statement(entry, path.name) for entry in content.get("statements", [])]
    for items in (claims, deviations, statements, readings):
        check_unique([item.id for item in items], path.name)
    read_tables(content.get("tables", {}), claims, path.name)
    return Paper(
        content["key"],
        content["title"],
        content["authors"],
        content["year"],
        content["url"],
        claims,
        deviations,
        content.get("parameters", []),
        content["order"],
        content.get("tables", {}),
        content.get("figures", []),
        content.get("main_table"),
        statements,
        readings,
        content.get("statements_written", Paper.statements_written),
        content.get("verdicts_changed"),
    )


def _claim(entry, key, rules, file):
    where = f"{file}: claim {name_of(entry, 'id')}"
    check_fields(entry, CLAIM_FIELDS, {"id", "place", "printed", "unit"}, where)
    check_place(entry["place"], where)
    if not entry["id"].startswith(key + "/"):
        raise ValueError(f"{where}: the id must start with {key + '/'!r}")
    if entry["unit"] not in rules:
        raise ValueError(
            f"{where}: unit is {entry['unit']!r}; margins.yaml knows {', '.join(rules)}"
        )
    if entry.get("uncertainty") is not None:
        check_fields(
            entry["uncertainty"], UNCERTAINTY_FIELDS, {"value", "kind"}, f"{where}, uncertainty"
        )
    check_timed(entry, where)
    value, of = entry.get("value"), entry.get("of")
    given = {name: content for name, content in entry.items() if content is not None}
    rule = rules[entry["unit"]]
    claim = Claim(
        **{"value": None, **given},
        margin=margin(rule, value, of),
        former_margin=margin(rule.get("former", {}), value, of),
        changed=rule.get("changed"),
    )
    if claim.target:
        _check_target(claim, where)
    elif not claim.reason:
        raise ValueError(f"{where}: target is false; say why in reason")
    return claim


def _check_target(claim, where):
    numbers = list(claim.value.values()) if isinstance(claim.value, dict) else [claim.value]
    if not numbers or not _are_numbers(numbers):
        raise ValueError(
            f"{where}: value is {claim.value!r}; a target needs a number or component: number, else"
            " target: false"
        )
    if claim.relation == "=" and not (claim.margin and claim.margin > 0):
        raise ValueError(
            f"{where}: no margin for unit {claim.unit!r} (of: {claim.of}); add a rule to"
            " margins.yaml"
        )
    if claim.reason:
        raise ValueError(f"{where}: reason is for claims that are not a target; use note")
    if isinstance(claim.value, dict) and (
        claim.uncertainty or claim.better or claim.relation != "="
    ):
        raise ValueError(f"{where}: uncertainty, better and relation are for single numbers")
    if not (claim.study and claim.arm and claim.metric) and not claim.needs:
        raise ValueError(
            f"{where}: name the study, arm and metric that answer it, or what it needs"
        )
    spread = claim.uncertainty or {"kind": "sem"}
    if spread["kind"] == "sd" and (spread.get("runs") or 0) < 2:
        raise ValueError(
            f"{where}: a standard deviation needs its number of runs to become a standard error"
        )


def _are_numbers(values):
    return not [
        value for value in values if isinstance(value, bool) or not isinstance(value, NUMBER)
    ]


def _deviation(entry, file):
    where = f"{file}: deviation {name_of(entry, 'id')}"
    check_fields(
        entry, DEVIATION_FIELDS, {"id", "title", "paper", "original", "default", "why"}, where
    )
    if bool(entry.get("switch")) != bool(entry.get("values")):
        raise ValueError(f"{where}: switch and values belong together")
    return Deviation(**{name: content for name, content in entry.items() if content is not None})
