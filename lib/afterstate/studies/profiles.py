"""The parameters of a notebook: what it declares, what a profile states, and what it may be given.

A notebook declares its parameters in a cell tagged ``parameters``, with the values of the quick
profile. ``data/profiles/<profile>/<notebook>.yaml`` states all of them for another profile: what
is left out there would silently be the quick value under the name of that profile.
"""

import ast
import difflib
import sys
from pathlib import Path

import yaml

from .study import NEVER_FROM_RECORDS

INJECTED = "# Parameters"  # the first line of the cell that papermill adds


def declared_in(source: str) -> dict:
    """Return the assignments of a cell: name -> value (its source text if it is no plain value).

    >>> declared_in("runs = 3  # 0 = none")
    {'runs': 3}
    """
    values = {}
    # papermill's own list lacks parameters whose comment holds an equals sign
    for line in ast.parse(source).body:
        if isinstance(line, ast.AnnAssign) and line.value or isinstance(line, ast.Assign):
            name = ast.unparse(line.target if isinstance(line, ast.AnnAssign) else line.targets[0])
            try:
                values[name] = ast.literal_eval(line.value)
            except ValueError:
                values[name] = ast.unparse(line.value)
    return values


def check_values(notebook: str, known: dict, given: dict, places: dict | None = None) -> dict:
    """Return `given` if the notebook declares every name, with a value of the same type.

    `places` say where each value comes from (default: the command line).

    Raises
    ------
    ValueError
        Naming the value, where it comes from, what is declared, and the closest name.
    """
    for name, value in given.items():
        said = f"{name}={value!r} (from {(places or {}).get(name, 'the command line')})"
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(f"{k}={v!r}" for k, v in known.items())
            raise ValueError(
                f"{said}: {notebook} has no such parameter. {hint}It declares"
                f" {listed or 'none; tag their cell parameters'}"
            )
        kind, wanted = type(value), type(known[name])
        if known[name] is not None and kind is not wanted and (kind, wanted) != (int, float):
            raise ValueError(
                f"{said} is of type {kind.__name__}, but {notebook} declares"
                f" {name}={known[name]!r}, of type {wanted.__name__}"
            )
    return given


def read_profile(file: Path, notebook: str, known: dict) -> dict:
    """Read the parameters that a profile states for a notebook: all of the `known` ones, no other.

    Raises
    ------
    ValueError
        Naming file and line: for text that is not YAML, an unknown, double or missing name, a
        value of another type, or a `profile` that is not the file's folder.
    """
    try:
        text = file.read_text(encoding="utf-8")
        node, given = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        said = " ".join(str(error).split())
        raise ValueError(
            f"{file}:{mark.line + 1 if mark else 1}: not valid YAML: {said}"
        ) from error
    if not isinstance(given, dict):
        raise ValueError(
            f"{file}:1: it must hold lines 'name: value' for {', '.join(known)}, not {given!r}"
        )
    places = {}
    for key, _ in node.value:
        place = f"{file}:{key.start_mark.line + 1}"
        if key.value in places:
            raise ValueError(f"{place}: {key.value!r} is stated twice; leave one of them")
        places[key.value] = place
    check_values(notebook, known, given, places)
    if missing := [name for name in known if name not in given]:
        raise ValueError(
            f"{file}:{len(text.splitlines())}: the file ends without {', '.join(missing)}; a"
            f" profile states every parameter that {notebook} declares"
        )
    profile = file.parent.name
    if given.get("profile", profile) != profile:
        raise ValueError(
            f"{places['profile']}: profile is {given['profile']!r}; in this folder it is"
            f" {profile!r}"
        )
    return given


def given(**values) -> dict:
    """Return the parameters that somebody gave: those that are not None, texts read as YAML.

    ``papermill -p epsilon "[0.1, 0.0]"`` gives a text.

    Examples
    --------
    >>> from afterstate.studies import given
    >>> given(alpha=0.5, epsilon="[0.1, 0.0]", tuples=None)
    {'alpha': 0.5, 'epsilon': [0.1, 0.0]}
    """
    return {
        name: yaml.safe_load(value) if isinstance(value, str) else value
        for name, value in values.items()
        if value is not None
    }


def check_parameters() -> None:
    """Refuse parameters of ``papermill -p name value`` that the notebook does not declare.

    For the first cell after the parameters. The cell that papermill adds stands behind the one
    that declares them; outside a notebook, or without such a cell, nothing is checked.

    Raises
    ------
    ValueError
        For an unknown name or another type; also if a profile of records is asked for without all
        parameters, which would run the quick ones under its name.
    """
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    cells = shell.user_ns.get("In", []) if shell else []
    for before, cell in zip(cells, cells[1:]):
        if cell.split("\n", 1)[0].strip() != INJECTED:
            continue
        known, given = declared_in(before), declared_in(cell)
        check_values("the notebook", known, given)
        profile = given.get("profile", NEVER_FROM_RECORDS)
        missing = [name for name in known if name not in given]
        if profile != NEVER_FROM_RECORDS and missing:
            raise ValueError(
                f"profile={profile!r} without {', '.join(missing)} would run the quick values under"
                " its name: use python -m afterstate.commands.reproduce notebook NAME"
                f" --profile {profile}"
            )
