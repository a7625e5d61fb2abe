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


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name == SLOW else name


@pytest.mark.parametrize("name", [marked(name) for name in MODULES])
def test_examples_of(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0, "what was expected and what came out is printed above"


def test_there_are_examples_in_many_modules_and_none_is_overlooked():
    finder = doctest.DocTestFinder()
    shown = set()
    for name in MODULES:
        module = importlib.import_module(name)
        found = sum(len(test.examples) for test in finder.find(module))
        written = Path(module.__file__).read_text(encoding="utf-8").count(">>> ")
        assert found == written, f"{name} has {written} examples, of which {found} are tried"
        shown |= {name} if found else set()
    assert (
        len(shown) >= 20
        and {
            "afterstate.learners.td",
            "afterstate.arena.matches",
            "afterstate.evaluators.snapshots",
            "afterstate.evaluators.convergence",
        }
        <= shown
    )
