"""The differences that do not matter, one rule a unit: data/papers/margins.yaml."""

from collections.abc import Mapping
from pathlib import Path

from ..files import published_file, read_yaml
from .fields import FORMER_FIELDS, MARGIN_FIELDS, NUMBER, check_fields


def papers_folder() -> Path:
    """Return the folder of the papers' files; raises FileNotFoundError without one."""
    folder = published_file("papers")
    if not folder.is_dir():
        raise FileNotFoundError(
            f"no folder {folder}; run from a clone of the repository, or set AFTERSTATE_DATA to its"
            " data folder"
        )
    return folder


def load_margins(path: Path | None = None) -> dict[str, dict]:
    """Load the rule of each unit: {absolute | relative [+ at_least] | share, why}.

    Only `why` if the unit has no margin; `changed` and `former` if the rule was another one.
    """
    path = path or papers_folder() / "margins.yaml"
    rules = read_yaml(path)
    for unit, rule in rules.items():
        check_fields(rule, MARGIN_FIELDS, {"why"}, f"{path.name}: unit {unit}")
        if sum(kind in rule for kind in ("absolute", "relative", "share")) > 1:
            raise ValueError(f"{path.name}: unit {unit}: give one of absolute, relative, share")
        if ("former" in rule) != ("changed" in rule):
            raise ValueError(f"{path.name}: unit {unit}: changed and former belong together")
        check_fields(rule.get("former", {}), FORMER_FIELDS, set(), f"{path.name}: {unit}, former")
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
