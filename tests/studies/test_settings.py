"""Environment variables: read in one place, listed in the README, right or an error."""

import ast
import os

import pytest

from afterstate.files import data_directory
from afterstate.kernel.source import PACKAGE
from afterstate.studies import settings
from afterstate.studies.settings import Selection, for_notebook

BELOW = {
    "players/optional.py": {"AFTERSTATE_HIDE"},
    "files.py": {"AFTERSTATE_DATA", "AFTERSTATE_REPORTS"},
    "kernel/compile.py": {"AFTERSTATE_CACHE", "XDG_CACHE_HOME"},
    "players/gtp.py": {"EDAX"},
}


@pytest.mark.slow
def test_variables_are_read_in_one_place_and_listed():
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name == "studies/settings.py" or name.startswith("commands/bench"):
            continue
        read = {
            node.args[0].value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.environ.get"
        }
        assert read == BELOW.get(name, set()), name
    readme = (data_directory().parent / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in settings.VARIABLES)


def test_budget(monkeypatch):
    for text, seconds in (("", 120), ("15", 900), ("all", float("inf")), ("0", 0)):
        monkeypatch.setenv("BUDGET", text)
        assert settings.budget() == seconds
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv("BUDGET", wrong)
        with pytest.raises(ValueError, match=f"BUDGET='{wrong}' must be CPU minutes"):
            settings.budget()


@pytest.mark.parametrize("wrong", ["0", "two", "-1", "1.5"])
def test_workers(monkeypatch, wrong):
    monkeypatch.setenv("WORKERS", "3")
    assert settings.workers() == 3
    monkeypatch.setenv("WORKERS", wrong)
    with pytest.raises(ValueError, match=f"WORKERS='{wrong}' must be a whole number"):
        settings.workers()


def test_a_selection_reaches_the_processes_of_notebooks_and_goes(monkeypatch, tmp_path):
    monkeypatch.setenv("EDAX", "programs/edax")
    before, chosen = dict(os.environ), Selection(frozenset({"a"}), frozenset({"b", "c"}))
    with for_notebook("11_nim", chosen):
        assert settings.selection() == chosen and settings.batch()
        assert os.environ["EDAX"] == os.path.abspath("programs/edax")
        assert str(PACKAGE.parent) in os.environ["PYTHONPATH"].split(os.pathsep)
    assert dict(os.environ) == before and settings.selection() is None
    with for_notebook("11_nim", None):
        assert settings.selection() is None
    (tmp_path / "wrong.json").write_text("[]")
    monkeypatch.setenv("AFTERSTATE_SELECTION", str(tmp_path / "wrong.json"))
    with pytest.raises(ValueError, match="wrong.json.* names no file of chosen runs"):
        settings.selection()
