"""The examples in the docstrings do what they say."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import afterstate

FOUND = pkgutil.walk_packages(afterstate.__path__, "afterstate.")
MODULES = ["afterstate", *sorted(found.name for found in FOUND)]
SLOW = "afterstate.arena.exact"  # solves Tic-Tac-Toe


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == SLOW else n for n in MODULES]
)
def test_examples_of(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0, "what was expected and what came out is printed above"


def test_there_are_examples_in_many_modules_and_none_is_overlooked():
    finder, shown = doctest.DocTestFinder(), set()
    for name in MODULES:
        module = importlib.import_module(name)
        found = sum(len(test.examples) for test in finder.find(module))
        written = Path(module.__file__).read_text(encoding="utf-8").count(">>> ")
        assert found == written, f"{name} has {written} examples, of which {found} are tried"
        shown |= {name} if found else set()
    assert len(shown) >= 20
    assert {"afterstate.learners.td", "afterstate.arena.matches"} <= shown
