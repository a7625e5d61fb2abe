"""The parameters of a notebook: what it declares, what a profile states, and what it may be given.

A notebook declares them in a cell tagged ``parameters``, with the values of the quick profile.
``data/profiles/<profile>/<notebook>.yaml`` states all of them for another one: what is left out
there would silently be the quick value.
"""

import ast
import difflib
import os
import sys

import yaml

NEVER_FROM_RECORDS = "quick"  # this profile makes everything from nothing
INJECTED = "# Parameters"  # the first line of the cell that papermill adds


def notebook() -> str:
    """Return the name of the notebook that a command runs or plans here, empty if none does."""
    return os.environ.get("AFTERPLY_BATCH", "")


def _shell():
    interactive = sys.modules.get("IPython")
    return interactive and interactive.get_ipython()


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook that a person works in."""
    return not notebook() and type(_shell()).__name__ == "ZMQInteractiveShell"


def declared_in(source: str) -> dict:
    """Return the assignments of a cell: name -> value, or its source text."""
    values = {}
    # papermill's own list lacks parameters whose comment holds an equals sign
    for line in ast.parse(source).body:
        if isinstance(line, ast.Assign):
            name = ast.unparse(line.targets[0])
            try:
                values[name] = ast.literal_eval(line.value)
            except ValueError:
                values[name] = ast.unparse(line.value)
    return values


def _kinds(value) -> list:
    """Return the types of a value, or of all that lists and mappings hold; numbers are float."""
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(inside, str) or not hasattr(inside, "__iter__"):
        return [float if type(value) is int else type(value)]
    return [kind for part in inside for kind in _kinds(part)]


def check_values(known: dict, given: dict, place: str, everything=False) -> dict:
    """Return `given` if its names and types are `known`, and `everything` is there if asked.

    Where None is declared any value may stand.
    """
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(f"{k}={v!r}" for k, v in known.items()) or "no parameters"
            raise ValueError(f"{place}: {name}={value!r}: {hint}The notebook declares {listed}")
        types, kinds, free = (type(value), type(known[name])), _kinds(value), known[name] is None
        alike = free or types[0] is types[1] or types == (int, float)
        own = [] if free else _kinds(known[name])
        if not alike or not set(kinds) <= set(own or kinds[:1]):
            told = f"{place}: {name}={value!r} is of another type than the notebook's"
            raise ValueError(f"{told} {name}={known[name]!r}, or of several: is a letter wrong?")
    missing = [name for name in known if name not in given]
    if everything and missing:
        raise ValueError(
            f"{place}: without {', '.join(missing)} it would run their quick values under its name"
        )
    return given


def given(**values) -> dict:
    """Return those of some `values` that somebody gave: not None, and texts read as YAML.

    >>> given(alpha=0.5, epsilon="[0.1, 0.0]", tuples=None)
    {'alpha': 0.5, 'epsilon': [0.1, 0.0]}
    """
    return {
        name: yaml.safe_load(value) if isinstance(value, str) else value
        for name, value in values.items()
        if value is not None
    }


def check_parameters() -> None:
    """Refuse parameters of ``papermill -p`` that the notebook lacks, or a profile without all."""
    shell = _shell()
    cells = shell.user_ns.get("In", []) if shell else []
    for before, cell in zip(cells, cells[1:]):  # papermill's cell stands behind the declaring one
        if cell.split("\n", 1)[0].strip() == INJECTED:
            found = declared_in(cell)
            profile = found.get("profile", NEVER_FROM_RECORDS)
            place = f"papermill, profile {profile}"
            check_values(declared_in(before), found, place, profile != NEVER_FROM_RECORDS)
