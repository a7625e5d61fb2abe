"""Parameters of notebooks: a profile states all of them, and nothing unknown passes in silence."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from afterstate import files
from afterstate.commands import reproduce
from afterstate.kernel.source import PACKAGE
from afterstate.studies.profiles import declared_in

DECLARED = 'profile = "quick"\nruns = 2\nalpha = 1.0\nlabel = "a"\nfast = True\nlayers = [1, 2]'
STATED = "profile: paper\nruns: 3\nalpha: 2\nlabel: b\nfast: false\nlayers: []\n"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(path, *cells, parameters=DECLARED):
    made = new_notebook(metadata={"kernelspec": KERNEL})
    made.cells = [*map(new_code_cell, cells)]
    if parameters is not None:
        made.cells.insert(0, new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    path.parent.mkdir(exist_ok=True)
    nbformat.write(made, path)
    return path


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The profile of a notebook that declares six parameters."""
    notebook(tmp_path / "notebooks" / "10_some.ipynb")
    path = tmp_path / "data" / "profiles" / "paper" / "10_some.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(STATED)
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path / "data"))
    return path


def read(file, profile="paper"):
    path = file.parents[3] / "notebooks" / f"{file.stem}.ipynb"
    return reproduce.profile_parameters(path, profile)


def test_a_right_profile(file):
    stated = {"profile": "paper", "runs": 3, "alpha": 2, "label": "b", "fast": False, "layers": []}
    assert read(file) == stated and read(file, "quick") == {"profile": "quick"}


@pytest.mark.parametrize(
    "old, new, message",
    [
        (STATED, "", r"some.yaml:1: it must hold lines 'name: value' for profile, runs"),
        (STATED, "runs: 3\n", r"some.yaml:1: the file ends without profile, alpha, label"),
        ("layers: []\n", "", r"some.yaml:5: the file ends without layers; a profile states every"),
        ("runs: 3", "rums: 3", r"rums=3 \(from .*some.yaml:2\).*did you mean 'runs'.*runs=2"),
        ("runs: 3", "runs: many", r"runs='many' .*some.yaml:2.*type str.*runs=2, of type int"),
        ("runs: 3", "runs: true", "runs=True .*of type bool"),
        ("runs: 3", "runs: 3\nruns: 4", r"some.yaml:3: 'runs' is stated twice"),
        ("layers: []", "layers: 3", "layers=3 .*of type int.*of type list"),
        ("runs: 3", "runs: [3", r"some.yaml:3: not valid YAML"),
        ("profile: paper", "profile: quick", r"some.yaml:1: profile is 'quick'; in this folder"),
    ],
)
def test_a_wrong_profile_is_an_error_with_file_and_line(file, old, new, message):
    file.write_text(STATED.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read(file)


def test_a_missing_profile_is_not_the_quick_one(file):
    file.unlink()
    with pytest.raises(ValueError, match="does not exist: 10_some.ipynb would run its quick"):
        read(file)
    with pytest.raises(ValueError, match="there is no profile 'full'"):
        read(file, "full")
    source = "runs = 1  # 0 = none\nrate: float = 0.5\nkept = sorted([2])"
    assert declared_in(source) == {"runs": 1, "rate": 0.5, "kept": "sorted([2])"}


@pytest.mark.parametrize("path", sorted(files.data_directory().glob("profiles/*/*.yaml")), ids=str)
def test_every_profile_fits_its_notebook(path):
    folder = files.data_directory().parent / "notebooks"
    found = reproduce.profile_parameters(folder / f"{path.stem}.ipynb", path.parent.name)
    assert found["profile"] == path.parent.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "given, message",
    [
        (["epsiode", "500"], "epsiode=500.*the notebook has no such parameter"),
        (["profile", "paper"], "without runs, alpha.*would run the quick values under its name"),
        (["runs", "3"], ""),
    ],
)
def test_papermill_refuses_what_the_notebook_does_not_declare(tmp_path, given, message):
    source = "from afterstate.studies.profiles import check_parameters\ncheck_parameters()"
    path = notebook(tmp_path / "notebooks" / "10_some.ipynb", source, "print('went on')")
    done = subprocess.run(
        [sys.executable, "-m", "papermill", str(path), str(tmp_path / "out.ipynb"), "-p", *given],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        timeout=300,
    )
    assert (done.returncode == 0) == (message == "")
    assert re.search(message, done.stderr)
