"""Published values (claims) and the points where a paper leaves a choice (deviations).

Ours against theirs.

    data/papers/<key>.yaml      one file a paper: claims, parameters, deviations
    data/papers/margins.yaml    one rule per unit: the difference that does not matter

    results (study, arm, run, episode, metric, value)  --compare-->  one row a claim, with its verdict

A claim names the place where the value is printed, and the study, arm and metric that answer it.
The metric of a claim with several numbers (win : draw : loss) is followed by the component: metric
`cell` is answered by `cell:wins`, `cell:draws`, ...
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from ..files import data_directory

# the same language, ten times faster where libyaml is present
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

TEXT, NUMBER = str, (int, float)
CLAIM_FIELDS = {
    "id": TEXT,
    "place": dict,
    "printed": TEXT,
    "value": (*NUMBER, str, list, dict),
    "unit": TEXT,
    "of": int,
    "uncertainty": dict,
    "relation": TEXT,
    "better": TEXT,
    "target": bool,
    "reason": TEXT,
    "note": TEXT,
    "study": TEXT,
    "arm": TEXT,
    "metric": TEXT,
    "needs": TEXT,
}
DEVIATION_FIELDS = {
    "id": TEXT,
    "title": TEXT,
    "paper": TEXT,
    "original": TEXT,
    "default": TEXT,
    "switch": TEXT,
    "values": dict,
    "why": TEXT,
    "status": TEXT,
}
PARAMETER_FIELDS = {"name": TEXT, "value": (*NUMBER, bool, str, list, dict), "place": dict}
PAPER_FIELDS = {
    "key": TEXT,
    "title": TEXT,
    "authors": list,
    "year": int,
    "url": TEXT,
    "claims": list,
    "parameters": list,
    "deviations": list,
}
PLACE_FIELDS = {"table": TEXT, "figure": TEXT, "section": TEXT, "row": TEXT, "column": TEXT}
UNCERTAINTY_FIELDS = {"value": NUMBER, "kind": TEXT, "runs": int}
MARGIN_FIELDS = {
    "absolute": NUMBER,
    "relative": NUMBER,
    "share": NUMBER,
    "at_least": NUMBER,
    "why": TEXT,
}
CHOICES = {
    "relation": ("=", ">", "<"),
    "better": ("higher", "lower"),
    "kind": ("sem", "sd"),
    "status": ("built", "planned"),
}


@dataclass(frozen=True)
class Claim:
    """One published value.

    place: table, figure or section, with row and column. value: a number, component -> number, or
    (not a target) anything. uncertainty: {value, kind: sem | sd, runs} as printed. margin: from the
    rule of its unit. of: games behind a win : draw : loss cell. relation: ">" or "<" if a bound is
    printed. better: direction in which leaving the margin is good. reason: why it is not a target.
    needs: what must exist before it can be run. note: a remark for the reader.
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
        """The printed standard error of the mean.

        0 if none is printed, or a deviation without its number of runs.
        """
        printed = self.uncertainty or {"value": 0.0, "kind": "sem"}
        if printed["kind"] == "sem":
            return float(printed["value"])
        return printed["value"] / math.sqrt(printed["runs"]) if printed.get("runs") else 0.0


@dataclass(frozen=True)
class Deviation:
    """A point where the paper is silent, cannot work literally, or differs from its own software.

    paper: what it says, with the place. original: what its software does. default: what is done
    here. switch: the parameter that selects it, or None; values: setting -> meaning. status:
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
    """A paper: its claims, the parameters it prints, and the deviations from it."""

    key: str
    title: str
    authors: list
    year: int
    url: str
    claims: list
    deviations: list
    parameters: list


def _folder() -> Path:
    folder = data_directory() / "papers"
    if not folder.is_dir():
        raise FileNotFoundError(
            f"no folder {folder}; run from a clone of the repository, or set AFTERSTATE_DATA to its"
            " data folder"
        )
    return folder


def keys() -> list[str]:
    """Return the keys of all papers, in the order of their names."""
    return sorted(path.stem for path in (_folder()).glob("*.yaml") if path.stem != "margins")


def load(key: str) -> Paper:
    """Load and check the file of one paper.

    Raises ValueError naming the file and the claim for an unknown field, a wrong type, a missing
    place or a duplicate id.

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


def load_margins(path: Path | None = None) -> dict[str, dict]:
    """Load the rule of each unit: {absolute | relative [+ at_least] | share, why}.

    Only `why` if the unit has no margin.
    """
    path = path or _folder() / "margins.yaml"
    rules = _parse(path)
    for unit, rule in rules.items():
        _check_fields(rule, MARGIN_FIELDS, {"why"}, f"{path.name}: unit {unit}")
        if sum(kind in rule for kind in ("absolute", "relative", "share")) > 1:
            raise ValueError(f"{path.name}: unit {unit}: give one of absolute, relative, share")
    return rules


def margin(rule: Mapping, value, of: int | None = None) -> float | None:
    """Return the margin of a published value by the rule of its unit; None if the unit has none.

    >>> margin({"relative": 0.03, "why": ""}, 142000)
    4260.0
    """
    if "absolute" in rule:
        return float(rule["absolute"])
    if "share" in rule and of is not None:
        return rule["share"] * of
    if "relative" in rule and isinstance(value, NUMBER):
        return max(rule["relative"] * abs(value), float(rule.get("at_least", 0)))
    return None


def read(path: Path, rules: Mapping[str, dict]) -> Paper:
    """Read and check one paper's file; `rules` are the margins by unit."""
    content = _parse(path)
    _check_fields(
        content,
        PAPER_FIELDS,
        {"key", "title", "authors", "year", "url", "claims", "deviations"},
        path.name,
    )
    if content["key"] != path.stem:
        raise ValueError(
            f"{path.name}: key is {content['key']!r}; it must be the file's name, {path.stem!r}"
        )
    claims = [_claim(entry, content["key"], rules, path.name) for entry in content["claims"]]
    deviations = [_deviation(entry, path.name) for entry in content["deviations"]]
    for entry in content.get("parameters", []):
        where = f"{path.name}: parameter {_name(entry, 'name')}"
        _check_fields(entry, PARAMETER_FIELDS, {"name", "value", "place"}, where)
        _check_place(entry["place"], where)
    for items in (claims, deviations):
        _check_unique([item.id for item in items], path.name)
    return Paper(
        content["key"],
        content["title"],
        content["authors"],
        content["year"],
        content["url"],
        claims,
        deviations,
        content.get("parameters", []),
    )


def _claim(entry, key, rules, file):
    where = f"{file}: claim {_name(entry, 'id')}"
    _check_fields(entry, CLAIM_FIELDS, {"id", "place", "printed", "unit"}, where)
    _check_place(entry["place"], where)
    if not entry["id"].startswith(key + "/"):
        raise ValueError(f"{where}: the id must start with {key + '/'!r}")
    if entry["unit"] not in rules:
        raise ValueError(
            f"{where}: unit is {entry['unit']!r}; margins.yaml knows {', '.join(rules)}"
        )
    if entry.get("uncertainty") is not None:
        _check_fields(
            entry["uncertainty"], UNCERTAINTY_FIELDS, {"value", "kind"}, f"{where}, uncertainty"
        )
    value, of = entry.get("value"), entry.get("of")
    given = {name: content for name, content in entry.items() if content is not None}
    claim = Claim(**{"value": None, **given}, margin=margin(rules[entry["unit"]], value, of))
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
    where = f"{file}: deviation {_name(entry, 'id')}"
    _check_fields(
        entry, DEVIATION_FIELDS, {"id", "title", "paper", "original", "default", "why"}, where
    )
    if bool(entry.get("switch")) != bool(entry.get("values")):
        raise ValueError(f"{where}: switch and values belong together")
    return Deviation(**{name: content for name, content in entry.items() if content is not None})


def _check_fields(entry, fields, required, where):
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: {entry!r} is not a mapping of fields")
    for name, content in entry.items():
        if name not in fields:
            raise ValueError(f"{where}: unknown field {name!r}; the fields are {', '.join(fields)}")
        kinds = fields[name] if isinstance(fields[name], tuple) else (fields[name],)
        wrong = not isinstance(content, kinds) or (isinstance(content, bool) and bool not in kinds)
        if content is not None and wrong:
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(
                f"{where}: {name} is {content!r}, a {type(content).__name__}; it must be {expected}"
            )
        if content is not None and name in CHOICES and content not in CHOICES[name]:
            raise ValueError(
                f"{where}: {name} is {content!r}; it must be one of {', '.join(CHOICES[name])}"
            )
    for name in fields:
        if name in required and entry.get(name) is None:
            raise ValueError(f"{where}: {name} is missing")


def _check_place(place, where):
    _check_fields(place, PLACE_FIELDS, set(), f"{where}, place")
    if sum(kind in place for kind in ("table", "figure", "section")) != 1:
        raise ValueError(f"{where}: place is {place}; it needs one of table, figure, section")
    if "table" in place and not {"row", "column"} <= set(place):
        raise ValueError(f"{where}: place is {place}; a place in a table needs row and column")


def _check_unique(ids, file):
    seen = set()
    for name in ids:
        if name in seen:
            raise ValueError(f"{file}: id {name} occurs twice; ids must be unique")
        seen.add(name)


def _name(entry, field):
    return entry.get(field, "without id") if isinstance(entry, dict) else repr(entry)


def _parse(path):
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name}: not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(
            f"{path.name}: the file must be a mapping of fields, not {type(content).__name__}"
        )
    return content
