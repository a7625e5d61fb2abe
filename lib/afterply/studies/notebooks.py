"""The studies that notebooks declare, their cells and their parameters.

A cell with the tag ``parameters`` declares parameters; those with the tag ``arms`` import, set up
and declare (``Study(...)``, arms, derivations). They ask for no result. So the studies of a
notebook, with their records, are known without running it::

    studies_of("20_othello_wrapper")["othello-wrapper"].table()
"""

import contextlib
import io
import os
import traceback
import warnings
from pathlib import Path

from ..files import contents_read_once, data_directory, read_json, read_yaml, write_text
from .profiles import PAPER, REMEDY, check_values, declared_in, notebook
from .study import Study

DECLARED = "# digests of what its studies declare; make golden writes them"
PARAMETERS = "parameters"  # the tags of the cells that a plan runs
ARMS = "arms"
UNTAGGED = (
    'no cell has the tag "arms": tag all cells that import, set up and declare (Study(...), arms,'
    " derivations); runs that no tagged cell declares are not made"
)
# our notebooks that have no study that keeps records
WITHOUT_RECORDS = (
    "00_start_here",
    "01_your_own_game",
    "02_your_own_learner",
    "03_compete",
    "04_your_own_paper",
    "05_strong_on_a_laptop",
)


def folder() -> Path:
    """Return the directory of the notebooks."""
    return data_directory().parent / "notebooks"


def find(names=()) -> list[Path]:
    """Return the notebooks in reading order: all of ours, or those that begin with `names`.

    A notebook that somebody saved beside ours is found if `names` name it and none of ours.
    """
    starts = tuple(Path(name).stem for name in names) or ("",)
    notebooks = sorted(folder().glob("[!.]*.ipynb"))
    found = [path for path in notebooks if path.stem.startswith(starts)]
    profiles = data_directory() / "profiles" / PAPER
    names_of_ours = {*WITHOUT_RECORDS, *(file.stem for file in profiles.glob("*.yaml"))}
    ours = [path for path in found if path.stem in names_of_ours]
    if names and not ours:
        ours = found
    if not ours:
        raise ValueError(f"there is no notebook {' or '.join(names)} in {folder()}")
    return ours


def code_cells(path: Path) -> list[tuple[str, list]]:
    """Return source and tags of the code cells of a notebook."""
    cells = []
    for cell in read_json(path)["cells"]:
        if cell["cell_type"] == "code":
            cells.append(("".join(cell["source"]), cell["metadata"].get("tags", [])))
    return cells


def profile_parameters(path: Path, profile: str, given: dict | None = None) -> dict:
    """Return the parameters of a profile for a notebook, and over them those that are `given`."""
    given = given or {}
    tagged = [source for source, tags in code_cells(path) if PARAMETERS in tags]
    known = declared_in("\n".join(tagged))
    stated = {"profile": profile} if "profile" in known else {}
    if profile == PAPER:
        if given:
            names = ", ".join(given)
            raise ValueError(f"{path.name}: the profile paper has no {names}; {REMEDY}")
        values_in_cell = set(known) - {"profile", "mine"}
        if values_in_cell:  # those are the quick ones
            file = data_directory() / "profiles" / profile / f"{path.stem}.yaml"
            stated = check_values(known, read_yaml(file) | stated, str(file), everything=True)
    return stated | check_values(known, given, path.name)


def planned(path: Path, parameters: dict, check=True) -> tuple[list[Study], str]:
    """Return a notebook's studies of its profile, and a note if a cell failed; train nothing.

    A study of the profile paper that does not declare what its file states is a note, and not
    returned, unless without `check`.
    """
    namespace, note = _declare(path, parameters)
    studies = []
    for study in _studies_in(namespace):
        if study.profile == parameters.get("profile"):
            studies.append(study)
    for study in studies:
        study.computes = False
        try:
            study.check_declared()
        except ValueError as error:
            if check:
                return [], note or f"{path.name}: {error}"
    return studies, note


def _declare(path, parameters):
    """Run the declaring cells of a notebook; return their namespace, and a note if one failed."""
    cells = code_cells(path)
    note = ""
    is_tagged = any(ARMS in tags for _, tags in cells)
    if not is_tagged and path.stem not in WITHOUT_RECORDS:
        note = f"{path.name}: {UNTAGGED}"
    namespace = {"__name__": "__main__", "display": lambda *shown: None}
    before = notebook()
    os.environ["AFTERPLY_BATCH"] = path.stem
    for source, tags in cells:
        if PARAMETERS not in tags and ARMS not in tags:
            continue
        try:
            _run_silently(source, path.name, namespace)
        except Exception as error:
            what = traceback.format_exception_only(error)[-1].strip()
            note = note or f"{path.name}: {what}"  # later ones follow from the first
        if PARAMETERS in tags:
            namespace.update(parameters)
    os.environ["AFTERPLY_BATCH"] = before
    return namespace, note


def _run_silently(source, name, namespace):
    """Run a cell without its magics, and show nothing of what it prints."""
    lines = []
    for line in source.split("\n"):
        is_magic = line.startswith(("%", "!"))
        lines.append("pass" if is_magic else line)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile("\n".join(lines), name, "exec")
        exec(code, namespace)


def _studies_in(namespace):
    """Return the different studies that have a name, or stand in a dictionary that has one."""
    studies = []
    for named in namespace.values():
        values = named.values() if isinstance(named, dict) else [named]
        for value in values:
            if isinstance(value, Study) and value not in studies:
                studies.append(value)
    return studies


def collect(paths, profile=PAPER) -> tuple[list[Study], list[str]]:
    """Return the studies of some notebooks, and notes on what failed."""
    studies = []
    notes = []
    with contents_read_once():
        for path in paths:
            of_notebook, note = planned(path, profile_parameters(path, profile))
            studies += of_notebook
            if note:
                notes.append(note)
    for note in notes:
        print(f"the plan may lack runs: {note}", flush=True)
    return studies, notes


def studies_of(name: str, profile: str = PAPER) -> dict[str, Study]:
    """Return the studies of a notebook by name, with their records; nothing is trained for them."""
    studies, _ = collect(find([name]), profile)
    return {study.name: study for study in studies}


def write_declared(paths) -> None:
    """Write into the files of the profile paper what the studies of some notebooks declare."""
    for path in paths:
        studies, note = planned(path, profile_parameters(path, PAPER), check=False)
        # The values of some notebooks stand in their own cells.
        has_file = all(study.setup.keys is not None for study in studies)
        if studies and has_file and not note:
            file = data_directory() / "profiles" / PAPER / f"{path.stem}.yaml"
            text = file.read_text(encoding="utf-8")
            values, _, _ = text.partition(f"\n{DECLARED}")
            digests = [f"  {study.name}: {study.declared()}" for study in studies]
            lines = [values.rstrip(), DECLARED, "keys:", *digests]
            write_text(file, "\n".join(lines) + "\n")
