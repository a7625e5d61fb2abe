"""What a notebook runs with: three profiles, each for one purpose.

::

    setup = opened("10_tictactoe", profile, mine)      # setup.runs, setup.episodes, ...
    study = Study("tictactoe", setup, paper="konen2021")

recorded  shows the paper's arms from the records; trains only arms of one's own, `mine`, and draws
          them beside the recorded ones
quick     trains everything from nothing at a reduced scale
paper     has exactly the values of ``data/profiles/paper``, for the commands that publish

``data/profiles/<quick or paper>/<notebook>.yaml`` states all values. The file of the profile paper
also states, under `keys`, a digest of what each study declares (:meth:`Study.declared`).
"""

import ast
import difflib
import html
import os
import sys
import textwrap
from types import SimpleNamespace

from ..files import data_directory, parse_yaml, read_yaml

RECORDED = "recorded"
QUICK = "quick"
PAPER = "paper"
PROFILES = (RECORDED, QUICK, PAPER)
INJECTED = "# Parameters"  # the first line of the cell that papermill adds
WIDTH_OF_TEXT = 110  # characters, where there is no page
REMEDY = 'set profile = "recorded" and say what you change, as in mine = {"alpha": 0.5}'


class Setup(SimpleNamespace):
    """What a notebook runs with: a `profile`, arms of one's own, `mine`, and the profile's values.

    `keys` are the digests of what its studies must declare (None if no file states them), and
    `studies` are those declared so far.
    """

    def __init__(self, profile, mine=(), keys=None, **values):
        super().__init__(profile=profile, mine=mine, keys=keys, studies=[], **values)


def opened(name: str, profile: str = RECORDED, mine=None) -> Setup:
    """Return what a notebook runs with.

    Parameters
    ----------
    name : str
        Of the notebook, and of its files in ``data/profiles``.
    profile : str
        One of `PROFILES`. The environment variable AFTERPLY_PROFILE may turn "recorded" into
        "quick", as the tests of the notebooks do.
    mine : dict, or a list of dicts and names
        Changes of a recorded arm; see `afterply.studies.explore`.

    Raises
    ------
    ValueError
        If the profile is unknown, does not go with `mine`, or nobody but a command may run it.
    """
    _check_injected()
    changes = changes_of(mine)
    if profile == RECORDED and not changes:
        profile = os.environ.get("AFTERPLY_PROFILE") or RECORDED
        if profile not in (RECORDED, QUICK):
            raise ValueError(f"AFTERPLY_PROFILE={profile!r} must be {QUICK!r}, or not be set")
    if profile not in PROFILES:
        raise ValueError(f"profile={profile!r} must be one of {', '.join(PROFILES)}")
    if changes and profile != RECORDED:
        raise ValueError(f"mine={mine!r} does not go with profile={profile!r}: {REMEDY}")
    if profile == PAPER and not notebook():
        raise ValueError(f"only 'make reproduce' runs the profile 'paper': {REMEDY}")
    folder = QUICK if profile == QUICK else PAPER
    values = values_of(name, folder)
    return Setup(profile, changes, values.pop("keys", {}), **values)


def _check_injected() -> None:
    """Refuse parameters of ``papermill -p`` that the notebook does not declare."""
    shell = _shell()
    cells = shell.user_ns.get("In", []) if shell else []
    for declaring, injected in zip(cells, cells[1:]):  # papermill puts its cell behind that one
        first_line = injected.split("\n", 1)[0]
        if first_line.strip() == INJECTED:
            check_values(declared_in(declaring), declared_in(injected), "papermill")


def values_of(name: str, folder: str) -> dict:
    """Return the values that a file of ``data/profiles`` states, with `keys` if it has some."""
    files = {}
    stated = {}
    for kind in (QUICK, PAPER):
        files[kind] = data_directory() / "profiles" / kind / f"{name}.yaml"
        if not files[kind].is_file():
            raise ValueError(f"no file {files[kind]}: a notebook states its values there")
        stated[kind] = read_yaml(files[kind])
    in_one_only = (set(stated[QUICK]) ^ set(stated[PAPER])) - {"keys"}
    if in_one_only:
        names = ", ".join(sorted(in_one_only))
        raise ValueError(f"{files[QUICK]} and {files[PAPER]} must state the same: {names}")
    return dict(stated[folder])


def changes_of(mine) -> list:
    """Return what each own arm changes, or the name under which the change was kept.

    ``papermill -p`` gives a text, which is read as YAML.
    """
    changes = mine
    if isinstance(mine, str) and mine.lstrip()[:1] in ("", "{", "["):
        changes = parse_yaml(mine)
    if not changes:
        return []
    if not isinstance(changes, list):
        changes = [changes]
    for change in changes:
        if not isinstance(change, (dict, str)) or not change:
            raise ValueError(f'mine={mine!r} must be like {{"alpha": 0.5}}, or a list of such')
    return changes


def notebook() -> str:
    """Return the name of the notebook that a command runs or plans here, empty if none does."""
    return os.environ.get("AFTERPLY_BATCH", "")


def _shell():
    """Return the shell of IPython, or None outside."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook that a person works in."""
    return not notebook() and type(_shell()).__name__ == "ZMQInteractiveShell"


class Text(str):
    """A text that is a paragraph of the page in a notebook."""

    def _repr_html_(self):
        return f"<p>{html.escape(self, quote=False)}</p>"

    def __repr__(self):
        return textwrap.fill(self, WIDTH_OF_TEXT)


def show_text(text: str) -> None:
    """Show a text as a paragraph of the page that a notebook is; elsewhere print it."""
    if _shell() is None:
        print(textwrap.fill(text, WIDTH_OF_TEXT))
    else:
        sys.modules["IPython"].display.display(Text(text))


def cell() -> int:
    """Return the number of the cell that runs, 0 outside notebooks."""
    shell = _shell()
    return shell.execution_count if shell else 0


def declared_in(source: str) -> dict:
    """Return the assignments of a cell: name -> value, or its source text.

    Papermill's own list lacks parameters whose comment holds an equals sign.
    """
    values = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            name = ast.unparse(statement.targets[0])
            try:
                values[name] = ast.literal_eval(statement.value)
            except ValueError:
                values[name] = ast.unparse(statement.value)
    return values


def _kinds(value) -> set:
    """Return the types of a value, or of all that lists and mappings hold; int counts as float."""
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(parts, str) or not hasattr(parts, "__iter__"):
        kind = float if type(value) is int else type(value)
        return {kind}
    return set().union(*map(_kinds, parts))


def _fits(value, declared) -> bool:
    """Return whether a value is of the type of a declared one, and so is all that it holds.

    Where None or {} is declared any value fits, and where another empty value is declared one that
    holds a single type.
    """
    if declared is None or declared == {}:
        return True
    is_whole_float = type(value) is int and type(declared) is float
    if type(value) is not type(declared) and not is_whole_float:
        return False
    kinds = _kinds(value)
    declared_kinds = _kinds(declared)
    return kinds <= declared_kinds if declared_kinds else len(kinds) <= 1


def check_values(known: dict, given: dict, place: str, everything=False) -> dict:
    """Return the `given` values if names and types are those of the `known` ones; else ValueError.

    With `everything` no known value may be missing. `place` is where the values stand, for errors.
    """
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            names = ", ".join(f"{known_name}={known[known_name]!r}" for known_name in known)
            declared = names or "no parameters"
            raise ValueError(f"{place}: {name}={value!r}: {hint}The notebook declares {declared}")
        if not _fits(value, known[name]):
            raise ValueError(
                f"{place}: {name}={value!r} is of another type than the notebook's"
                f" {name}={known[name]!r}, or of several: is a letter wrong?"
            )
    missing = [name for name in known if name not in given]
    if everything and missing:
        raise ValueError(
            f"{place}: without {', '.join(missing)} it would run their quick values under its name"
        )
    return given
