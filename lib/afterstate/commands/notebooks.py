"""Running notebooks: their parameters checked, through papermill, into ``reports/<profile>``.

A notebook declares its parameters in a cell tagged ``parameters``, with the values of the quick
profile. The papers' full values are in ``data/profiles/paper/<notebook>.yaml``.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

from ..files import data_directory, reports_directory, write_text
from ..kernel.source import PACKAGE
from ..reports import notebook_page, sources
from ..reports.templating import write_assets
from ..studies.profiles import NEVER_FROM_RECORDS, declared_in, read_profile
from ..studies.progress import clock, is_progress
from ..studies.settings import Selection, for_notebook
from .planning import collect

KERNEL = "python3"
STYLED = re.compile(r"(?<!\w)T_[0-9a-f]{5}(?![0-9A-Za-z])")  # random names of styled tables


def folder() -> Path:
    """Return the directory of the notebooks."""
    return data_directory().parent / "notebooks"


def find(names=()) -> list[Path]:
    """Return the notebooks in reading order: all, or those whose names begin with one of `names`.

    Raises
    ------
    ValueError
        If there is no such notebook.
    """
    everything = sorted(p for p in folder().glob("*.ipynb") if not p.name.startswith("."))
    for name in names:
        if not any(p.stem.startswith(Path(name).stem) for p in everything):
            raise ValueError(
                f"there is no notebook {name!r} in {folder()}; it has"
                f" {', '.join(p.stem for p in everything) or 'none'}"
            )
    return [
        p
        for p in everything
        if not names or any(p.stem.startswith(Path(name).stem) for name in names)
    ]


def declared(path: Path) -> dict:
    """Return the parameters that a notebook declares.

    Returns
    -------
    dict
        name -> default, or its source text if it is no plain value.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return declared_in(
        "\n".join(
            "".join(cell["source"])
            for cell in cells
            if "parameters" in cell["metadata"].get("tags", ())
        )
    )


def profile_parameters(path: Path, profile: str) -> dict:
    """Return the parameters of a profile for a notebook, checked against those that it declares.

    Raises
    ------
    ValueError
        If there is no such profile, or its file for this notebook is missing or does not state
        exactly the declared parameters; the message names file and line.
    """
    profiles = sorted(p.name for p in (data_directory() / "profiles").glob("*/"))
    if profile != NEVER_FROM_RECORDS and profile not in profiles:
        raise ValueError(
            f"there is no profile {profile!r}: take {NEVER_FROM_RECORDS!r} or one in data/profiles,"
            f" which has {', '.join(profiles)}"
        )
    file, known = data_directory() / "profiles" / profile / f"{path.stem}.yaml", declared(path)
    if file.exists():
        return read_profile(file, path.name, known)
    if profile == NEVER_FROM_RECORDS:
        return {"profile": profile} if "profile" in known else {}
    if known:
        raise ValueError(
            f"{file} does not exist: {path.name} would run its quick parameters as those of the"
            f" profile {profile!r}; state {', '.join(known)} there"
        )
    return {}


def execute(path: Path, profile: str, parameters: dict, selection: Selection | None = None) -> Path:
    """Run a notebook and return its executed copy in ``reports/<profile>``.

    It appears there only when it is complete.

    Parameters
    ----------
    path : Path
    profile : str
    parameters : dict
        Values for those that the notebook declares.
    selection : Selection, optional
        The runs that its studies work on (default: everything that has no record).

    Raises
    ------
    papermill.PapermillExecutionError
        If a cell fails.
    """
    import papermill

    target = reports_directory() / profile / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{path.stem}.{os.getpid()}.tmp.ipynb")
    try:
        with for_notebook(path.stem, selection):
            papermill.execute_notebook(
                str(path),
                str(temporary),
                parameters=parameters,
                kernel_name=KERNEL,
                cwd=str(folder().parent),
                progress_bar=False,
                stdout_file=sys.stdout,
                stderr_file=sys.stderr,
                request_save_on_cell_execute=False,
                # errors of cells come another way; its own is only that it was told to end
                extra_arguments=["--log-level=50"],
            )
        notebook = _without_traces(json.loads(temporary.read_text(encoding="utf-8")))
    finally:
        temporary.unlink(missing_ok=True)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    write_text(target, text)
    write_assets(target.parent)
    notebook_page.write(notebook_page.read(target))  # the report makes it anew, with its links
    return target


def _without_traces(notebook: dict) -> dict:
    """Drop clock times, progress, random names, and paths of the machine.

    The same results give the same file.
    """
    for cell in notebook["cells"]:
        if "injected-parameters" in cell["metadata"].get("tags", ()):
            cell["id"] = "injected-parameters"
        if "outputs" in cell:
            cell["outputs"] = _printed_at_once(cell["outputs"])
    for part in [notebook, *notebook["cells"]]:
        part["metadata"] = {
            k: v for k, v in part["metadata"].items() if k not in ("papermill", "execution")
        }
    notebook["metadata"].get("language_info", {}).pop("version", None)
    text = json.dumps(notebook)
    for place in {str(folder().parent), str(PACKAGE.parents[1])}:
        text = text.replace(json.dumps(place + "/")[1:-1], "")
    text = re.sub(r" at 0x[0-9a-f]+(?=>)", "", text)  # where an object stood in memory
    for number, name in enumerate(dict.fromkeys(STYLED.findall(text))):
        text = text.replace(name, f"T_table{number}")
    return json.loads(text)


def _printed_at_once(outputs) -> list:
    """Return outputs without progress; what a cell printed in pieces, as time had it, is one."""
    kept = []
    for output in outputs:
        if output["output_type"] == "stream":
            lines = "".join(output["text"]).splitlines(keepends=True)
            output["text"] = [line for line in lines if not is_progress(line)]
            if not output["text"]:
                continue
            if kept and kept[-1].get("name") == output["name"]:
                kept[-1]["text"] += output["text"]
                continue
        kept.append(output)
    return kept


def run_all(paths: list[Path], profile: str, selection: Selection | None = None) -> list[str]:
    """Run notebooks one after the other and return the names of those that failed.

    A failed notebook does not stop the others; its page in the report says what went wrong, and its
    old results are removed. `selection` is that of :func:`execute`.
    """
    from papermill import PapermillExecutionError

    failed = []
    for path in paths:
        began, started = time.monotonic(), time.time()
        print(f"--- {path.stem} ({profile})", flush=True)
        try:
            execute(path, profile, profile_parameters(path, profile), selection)
            print(f"--- {path.stem}: done in {clock(time.monotonic() - began)}", flush=True)
        except (PapermillExecutionError, ValueError, OSError, RuntimeError) as error:
            if getattr(error, "ename", "") == "KeyboardInterrupt":  # Ctrl-C reached the notebook
                raise KeyboardInterrupt from None
            failed.append(path.stem)
            mark_failed(path, profile, error, started)
            print(f"--- {path.stem}: FAILED: {_last_line(error)}", flush=True)
    return failed


def mark_failed(path, profile, error, started) -> None:
    """Replace the outcome of a notebook by what went wrong, and remove its old results."""
    target = reports_directory() / profile / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.with_suffix(".html").unlink(missing_ok=True)
    mine = {study.name for study in collect(path, {"profile": profile})[0]}
    known = mine | sources.studies(target.parent)  # a longer name may begin with that of another
    old = [file for name in mine for file in (target.parent / "data").glob(f"{name}.*.csv")]
    figures = (target.parent / "figures").glob("*")
    old += [file for file in figures if sources.study_of(file.stem, known) in mine]
    for file in old:
        if file.stat().st_mtime < started:
            file.unlink()
    note = f"**This notebook failed, its results are missing.**\n\n```\n{_last_line(error)}\n```\n"
    cell = {"cell_type": "markdown", "id": "failed", "metadata": {}, "source": note}
    write_text(
        target,
        json.dumps(
            {"cells": [cell], "metadata": {"failed": True}, "nbformat": 4, "nbformat_minor": 5},
            indent=1,
        )
        + "\n",
    )


def _last_line(error) -> str:
    cause = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else str(error)
    return cause.strip().replace(str(folder().parent) + "/", "") or type(error).__name__
