"""Notebooks as their studies are made from them: which there are, their cells and parameters.

A cell with the tag ``parameters`` declares parameters, those with the tag ``arms`` import, set up
and declare (``Study(...)``, arms, derivations). They ask for no result, so that one knows the
studies of a notebook, with their records, without running it::

    studies_of("20_othello_wrapper")["othello-wrapper"].table()
"""

import contextlib
import io
import os
import traceback
import warnings
from pathlib import Path

from ..files import data_directory, read_json, read_yaml, write_text
from .profiles import PAPER, REMEDY, check_values, declared_in, notebook
from .study import Study

DECLARED = "# digests of what its studies declare; make golden writes them"
DECLARING = {"parameters", "arms"}  # tags of the cells that a plan runs
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
)


def folder() -> Path:
    """Return the directory of the notebooks."""
    return data_directory().parent / "notebooks"


def find(names=()) -> list[Path]:
    """Return the notebooks in reading order: all of ours, or those that begin with `names`.

    One that somebody saved beside them, as a copy of ours, must be named, and unlike ours.
    """
    starts = tuple(Path(name).stem for name in names) or ("",)
    found = sorted(p for p in folder().glob("[!.]*.ipynb") if p.stem.startswith(starts))
    profiles = data_directory() / "profiles" / PAPER
    own = {*WITHOUT_RECORDS, *(file.stem for file in profiles.glob("*.yaml"))}
    found = [path for path in found if path.stem in own] or (found if names else [])
    if not found:
        raise ValueError(f"there is no notebook {' or '.join(names)} in {folder()}")
    return found


def code_cells(path: Path) -> list[tuple[str, list]]:
    """Return source and tags of the code cells of a notebook."""
    code = [cell for cell in read_json(path)["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), cell["metadata"].get("tags", [])) for cell in code]


def profile_parameters(path: Path, profile: str, given: dict | None = None) -> dict:
    """Return the parameters of a profile for a notebook, and over them those that are `given`."""
    tagged = [source for source, tags in code_cells(path) if "parameters" in tags]
    known = declared_in("\n".join(tagged))
    stated = {"profile": profile} if "profile" in known else {}
    if profile == PAPER and (given := given or {}):
        raise ValueError(f"{path.name}: the profile paper has no {', '.join(given)}; {REMEDY}")
    if profile == PAPER and set(known) - {"profile", "mine"}:  # values stand in the cell itself
        file = data_directory() / "profiles" / profile / f"{path.stem}.yaml"
        stated = check_values(known, read_yaml(file) | stated, str(file), True)
    return stated | check_values(known, given or {}, path.name)


def planned(path: Path, parameters: dict, check=True) -> tuple[list[Study], str]:
    """Return a notebook's studies of its profile, and a note if a cell failed; train nothing.

    A study of the profile paper that does not declare what its file states is a note, and not
    returned, unless without `check`.
    """
    cells, names = code_cells(path), {"__name__": "__main__", "display": lambda *shown: None}
    tagged = any("arms" in tags for _, tags in cells) or path.stem in WITHOUT_RECORDS
    before, note = notebook(), "" if tagged else f"{path.name}: {UNTAGGED}"
    os.environ["AFTERPLY_BATCH"] = path.stem
    for source, tags in cells:
        if not DECLARING.intersection(tags):
            continue
        lines = ["pass" if line.startswith(("%", "!")) else line for line in source.split("\n")]
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile("\n".join(lines), path.name, "exec"), names)
        except Exception as error:
            what = traceback.format_exception_only(error)[-1].strip()
            note = note or f"{path.name}: {what}"  # later ones follow from the first
        if "parameters" in tags:
            names.update(parameters)
    os.environ["AFTERPLY_BATCH"] = before
    values = [v for n in names.values() for v in (n.values() if isinstance(n, dict) else [n])]
    studies = dict.fromkeys(value for value in values if isinstance(value, Study))
    asked = [study for study in studies if study.profile == parameters.get("profile")]
    for study in asked:
        study.computes = False
        try:
            study.check_declared()
        except ValueError as error:
            if check:
                return [], note or f"{path.name}: {error}"
    return asked, note


def collect(paths, profile=PAPER) -> tuple[list[Study], list[str]]:
    """Return the studies of some notebooks, and notes on what failed."""
    found = [planned(path, profile_parameters(path, profile)) for path in paths]
    notes = [note for _, note in found if note]
    for note in notes:
        print(f"the plan may lack runs: {note}", flush=True)
    return [study for studies, _ in found for study in studies], notes


def studies_of(name: str, profile: str = PAPER) -> dict[str, Study]:
    """Return the studies of a notebook by name, with their records; nothing is trained for them."""
    return {study.name: study for study in collect(find([name]), profile)[0]}


def write_declared(paths) -> None:
    """Write into the files of the profile paper what the studies of some notebooks declare."""
    for path in paths:
        studies, note = planned(path, profile_parameters(path, PAPER), check=False)
        file = data_directory() / "profiles" / PAPER / f"{path.stem}.yaml"
        # the values of some notebooks stand in their own cells
        if studies and not note and all(study.setup.keys is not None for study in studies):
            text = file.read_text(encoding="utf-8").partition(f"\n{DECLARED}")[0].rstrip()
            lines = [f"  {study.name}: {study.declared()}" for study in studies]
            write_text(file, "\n".join([text, DECLARED, "keys:", *lines]) + "\n")
