"""Golden runs of all learners: the same bits on every kind of processor."""

import json

import pytest

from afterstate.files import data_directory
from afterstate.learners import all_learners, td
from afterstate.studies import golden
from oldest import said_by_the_oldest

STORED = json.loads((data_directory() / "golden.json").read_text())
RUNS = [
    pytest.param(name, run, id=f"{name}-{run['game']['name']}-{k}")
    for name, entry in STORED.items()
    for k, run in enumerate(entry["runs"])
]

REPEAT = """
import json
from afterstate.learners import all_learners
from afterstate.studies import golden
from afterstate.files import data_directory
for name, entry in json.loads((data_directory() / "golden.json").read_text()).items():
    learner = all_learners.learners()[name]
    for run in entry["runs"][:1]:
        print(golden.repeat(learner, run))
"""


@pytest.mark.parametrize("name, run", RUNS)
def test_golden_run_comes_out_as_stated(name, run):
    learner = all_learners.learners()[name]
    assert STORED[name]["version"] == learner.VERSION, f"{name} has another version: make golden"
    assert golden.repeat(learner, run) == run["checksum"], (
        f"the numbers of {name} changed: raise its VERSION and run make golden, or undo the edit"
    )


@pytest.mark.slow
def test_golden_runs_have_the_same_bits_without_vector_instructions():
    """A processor without any beyond the oldest; its machine code has a place of its own.

    The first run of each learner: everything is compiled for it.
    """
    assert said_by_the_oldest(REPEAT, timeout=900).split() == [
        run["checksum"] for entry in STORED.values() for run in entry["runs"][:1]
    ]


def test_runs_use_every_kind_of_learning():
    used = [td.DEFAULTS | run["parameters"] for run in STORED["td"]["runs"]]
    for name, values in (
        ("tc", {"none", "id", "exp"}),
        ("farl", {"on", "off"}),
        ("trace", {"ET", "RESET"}),
        ("learn_from_random", {True, False}),
    ):
        assert {params[name] for params in used} >= values, name
    assert {run["game"]["name"] for run in STORED["td"]["runs"]} >= {"tictactoe", "nim", "nim3p"}
