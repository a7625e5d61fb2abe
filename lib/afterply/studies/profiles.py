"""What a notebook runs with: three profiles, told by what they are for.

::

    setup = opened("10_tictactoe", profile, mine)      # setup.runs, setup.episodes, ...
    study = Study("tictactoe", setup, paper="konen2021")

recorded  the paper's arms from the records, nothing of them is trained; arms of one's own, `mine`,
          are trained now and drawn over them
quick     everything from nothing at reduced scale
paper     exactly the values of ``data/profiles/paper``, for the commands that publish

``data/profiles/<quick or paper>/<notebook>.yaml`` states all values. That of the paper states as
well, under `keys`, a digest of what each study declares (:meth:`Study.declared`).
"""

import ast
import difflib
import os
import sys
from types import SimpleNamespace

import yaml

from ..files import data_directory, read_yaml

PROFILES = RECORDED, QUICK, PAPER = ("recorded", "quick", "paper")
INJECTED = "# Parameters"  # the first line of the cell that papermill adds
REMEDY = 'set profile = "recorded" and say what you change, as in mine = {"alpha": 0.5}'


class Setup(SimpleNamespace):
    """The profile of a notebook, `profile`; arms of one's own, `mine`; the profile's values.

    `keys` are the digests of what its studies must declare (None: a study of no such notebook), and
    `studies` those declared so far.
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
        One of `PROFILES`. For "recorded" the environment variable AFTERPLY_PROFILE may say quick,
        as the tests of the notebooks do.
    mine : dict, or a list of dicts and names
        Changes of a recorded arm, see `afterply.studies.explore`.

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
    values = values_of(name, QUICK if profile == QUICK else PAPER)
    return Setup(profile, changes, values.pop("keys", {}), **values)


def _check_injected() -> None:
    """Refuse parameters of ``papermill -p`` that the notebook does not declare."""
    shell = _shell()
    cells = shell.user_ns.get("In", []) if shell else []
    for before, cell in zip(cells, cells[1:]):  # papermill's cell stands behind the declaring one
        if cell.split("\n", 1)[0].strip() == INJECTED:
            check_values(declared_in(before), declared_in(cell), "papermill")


def values_of(name: str, folder: str) -> dict:
    """Return the values that a file of ``data/profiles`` states, with `keys` if it has some."""
    files = {kind: data_directory() / "profiles" / kind / f"{name}.yaml" for kind in (QUICK, PAPER)}
    stated = {kind: read_yaml(file) for kind, file in files.items() if file.is_file()}
    if missing := [file for kind, file in files.items() if kind not in stated]:
        raise ValueError(f"no file {missing[0]}: a notebook states its values there")
    names = [set(values) - {"keys"} for values in stated.values()]
    if names[0] != names[1]:
        wrong = ", ".join(sorted(names[0] ^ names[1]))
        raise ValueError(f"{files[QUICK]} and {files[PAPER]} must state the same: {wrong}")
    return dict(stated[folder])


def changes_of(mine) -> list:
    """Return what each own arm changes, a dictionary, or the name under which it was kept.

    A text is read as YAML, as ``papermill -p`` gives it.
    """
    given = yaml.safe_load(mine) if isinstance(mine, str) and mine.lstrip()[:1] in "{[" else mine
    arms = given if isinstance(given, list) else [given] if given else []
    for arm in arms:
        if not isinstance(arm, (dict, str)) or not arm:
            raise ValueError(f'mine={mine!r} must be like {{"alpha": 0.5}}, or a list of such')
    return arms


def notebook() -> str:
    """Return the name of the notebook that a command runs or plans here, empty if none does."""
    return os.environ.get("AFTERPLY_BATCH", "")


def _shell():
    interactive = sys.modules.get("IPython")
    return interactive and interactive.get_ipython()


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook that a person works in."""
    return not notebook() and type(_shell()).__name__ == "ZMQInteractiveShell"


def cell() -> int:
    """Return the number of the cell that runs, 0 outside notebooks."""
    shell = _shell()
    return shell.execution_count if shell else 0


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

    Where something empty is declared any value may stand.
    """
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(f"{k}={v!r}" for k, v in known.items()) or "no parameters"
            raise ValueError(f"{place}: {name}={value!r}: {hint}The notebook declares {listed}")
        free = known[name] is None or known[name] == {}
        types, kinds = (type(value), type(known[name])), _kinds(value)
        alike = free or types[0] is types[1] or types == (int, float)
        own = [] if free else _kinds(known[name])
        if not alike or not (free or set(kinds) <= set(own or kinds[:1])):
            told = f"{place}: {name}={value!r} is of another type than the notebook's"
            raise ValueError(f"{told} {name}={known[name]!r}, or of several: is a letter wrong?")
    missing = [name for name in known if name not in given]
    if everything and missing:
        raise ValueError(
            f"{place}: without {', '.join(missing)} it would run their quick values under its name"
        )
    return given
