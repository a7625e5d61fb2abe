"""Parameters of notebooks: a profile states all of them, and nothing unknown passes in silence."""

import os
import re
import subprocess
import sys

import pytest

from afterstate.commands import reproduce
from afterstate.files import data_directory
from afterstate.kernel.source import PACKAGE
from afterstate.studies.profiles import declared_in
from small_studies import write_notebook

DECLARED = 'profile = "quick"\nruns = 2\nalpha = 1.0\nlabel = "a"\nfast = True\nlayers = [1, 2]'
STATED = "profile: paper\nruns: 3\nalpha: 2\nlabel: b\nfast: false\nlayers: []\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The profile of a notebook that declares six parameters."""
    write_notebook(tmp_path / "notebooks" / "10_some.ipynb", DECLARED)
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
    source = "runs = 1  # 0 = none\nkept = sorted([2])"
    assert declared_in(source) == {"runs": 1, "kept": "sorted([2])"}


@pytest.mark.parametrize(
    "old, new, message",
    [
        (STATED, "", "some.yaml: .*a mapping of fields"),
        ("layers: []\n", "", "some.yaml: without layers it would run their quick values"),
        ("runs: 3", "rums: 3", "some.yaml: rums=3: did you mean 'runs'.*declares .*runs=2"),
        ("runs: 3", "runs: many", "some.yaml: runs='many' is of type str.*runs=2, of type int"),
        ("runs: 3", "runs: true", "runs=True .*of type bool"),
        ("layers: []", "layers: 3", "layers=3 .*of type int.*of type list"),
        ("runs: 3", "runs: [3", "some.yaml: not valid YAML: .*line 3"),
    ],
)
def test_a_wrong_profile_is_an_error_that_names_it(file, old, new, message):
    file.write_text(STATED.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read(file)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="some.yaml"):  # and is not the quick one
        read(file)


@pytest.mark.parametrize("path", sorted(data_directory().glob("profiles/*/*.yaml")), ids=str)
def test_every_profile_fits_its_notebook(path):
    notebook = reproduce.folder() / f"{path.stem}.ipynb"
    assert reproduce.profile_parameters(notebook, path.parent.name)["profile"] == path.parent.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "given, message",
    [
        (["epsiode", "500"], "epsiode=500: .*The notebook declares profile='quick'"),
        (["profile", "paper"], "without runs, alpha.*would run their quick values under its name"),
        (["runs", "3"], ""),
    ],
)
def test_papermill_refuses_what_the_notebook_does_not_declare(tmp_path, given, message):
    source = "from afterstate.studies.profiles import check_parameters\ncheck_parameters()"
    path = write_notebook(tmp_path / "10_some.ipynb", DECLARED, source, "print('went on')")
    done = subprocess.run(
        [sys.executable, "-m", "papermill", str(path), str(tmp_path / "out.ipynb"), "-p", *given],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        timeout=300,
    )
    assert (done.returncode == 0) == (message == "")
    assert re.search(message, done.stderr)
