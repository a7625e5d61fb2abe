"""Examples in docstrings do what they say; files are written as a whole; numbers, one way."""

import doctest
import importlib
import os
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import afterply
from afterply import files
from afterply.stats import fixed, printed, thousands, together, with_interval

FOUND = pkgutil.walk_packages(afterply.__path__, "afterply.")
MODULES = ["afterply", *sorted(found.name for found in FOUND)]
SLOW = "afterply.arena.exact"  # solves Tic-Tac-Toe


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == SLOW else n for n in MODULES]
)
def test_examples_of(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert failed == 0, "what was expected and what came out is printed above"
    written = Path(module.__file__).read_text(encoding="utf-8").count(">>> ")
    assert tried == written, f"{name} has {written} examples, of which {tried} are tried"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_what_can_not_be_written_leaves_nothing_behind(tmp_path, monkeypatch, moment, error):
    def fail(*_):
        raise error

    (tmp_path / "old.json").write_text("old")
    monkeypatch.setattr(os, moment, fail)
    with pytest.raises(type(error)):
        files.write_text(tmp_path / "old.json", "new")
    with pytest.raises(type(error)):
        files.write_npz(tmp_path / "new.npz", {}, {"x": np.zeros(3)})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"
    files.write_text(tmp_path / "old.json", "new")
    assert (tmp_path / "old.json").read_text() == "new"


PRINTED = {
    "142 000 ± 1 000": "142,000 ± 1,000",
    "46,563,392": "46,563,392",
    "8000": "8,000",
    "0.4, 0.144, 0.05184": "0.4, 0.144, 0.05184",
    "99/0/1": "99 : 0 : 1",
    "94:6:0": "94 : 6 : 0",
    "49.5% ± 0.5%": "49.5% ± 0.5%",
    "N_trialsM = 1150": "N_trialsM = 1,150",
    "against MCTS10000": "against MCTS10000",
    "draws 10, teaching agent wins 40": "draws 10, teaching agent wins 40",
}


def test_numbers_are_written_one_way():
    assert {given: printed(given) for given in PRINTED} == PRINTED


def test_numbers_that_belong_together_have_the_same_decimals():
    assert together([0.5, -0.0001, 1.0], "+") == ["+0.50", "+0.00", "+1.00"]
    assert together([0.02473, 0.0244, 0.0251]) == ["0.02473", "0.02440", "0.02510"]
    assert together([123456.7, 120000, 126000]) == ["123,457", "120,000", "126,000"]
    assert together([-45.7, -156, 64.9]) == ["-46", "-156", "65"]
    assert together([-1.04, -1.8, -0.273]) == ["-1.04", "-1.80", "-0.27"]
    assert together([3.0, 3.0, 3.0]) == together([3.0]) * 3 == ["3"] * 3
    assert together([0, 0, 0]) == ["0"] * 3 and together([1], decimals=3) == ["1.000"]
    assert with_interval(37, 29.1, 44.9, "%") == "37.0% [29.1%, 44.9%]"
    assert fixed(-0.001, 2, "+") == "+0.00" and fixed(1243, 0) == "1,243"  # no minus before a zero
    assert thousands(1234567) == "1,234,567" and thousands(999) == "999"
