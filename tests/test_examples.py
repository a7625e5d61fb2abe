"""The examples in the docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import afterstate

MODULES = sorted(found.name for found in pkgutil.walk_packages(afterstate.__path__, "afterstate."))

SLOW = "afterstate.arena.exact"  # solves Tic-Tac-Toe


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name == SLOW else name


@pytest.mark.parametrize("name", [marked(name) for name in MODULES])
def test_examples_of(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0, "what was expected and what came out is printed above"


def test_there_are_examples_in_many_modules():
    finder = doctest.DocTestFinder()
    shown = {
        name
        for name in MODULES
        if any(test.examples for test in finder.find(importlib.import_module(name)))
    }
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
