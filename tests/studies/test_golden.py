"""Golden runs of all learners: the same bits on every kind of processor."""

import pytest

from afterstate import learners
from afterstate.files import data_directory, read_json
from afterstate.learners import td
from afterstate.studies import golden
from oldest import said_by_the_oldest

STORED = read_json(data_directory() / "golden.json")
RUNS = [
    pytest.param(name, run, id=f"{name}-{run['game']['name']}-{k}")
    for name, entry in STORED.items()
    for k, run in enumerate(entry["runs"])
]
REPEAT = """
from afterstate import learners
from afterstate.studies import golden
from studies.test_golden import STORED
for name, entry in STORED.items():
    print(golden.repeat(learners.learners()[name], entry["runs"][0]))
"""


@pytest.mark.parametrize("name, run", RUNS)
def test_golden_run_comes_out_as_stated(name, run):
    learner = learners.learners()[name]
    assert STORED[name]["version"] == learner.VERSION, f"{name} has another version: make golden"
    assert golden.repeat(learner, run) == run["checksum"], (
        f"the numbers of {name} changed: raise its VERSION and run make golden, or undo the edit"
    )


@pytest.mark.slow
def test_golden_runs_have_the_same_bits_without_vector_instructions():
    """The first run of each learner: everything is compiled for it."""
    stated = [entry["runs"][0]["checksum"] for entry in STORED.values()]
    assert said_by_the_oldest(REPEAT, timeout=900).split() == stated


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
