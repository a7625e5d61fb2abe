"""Golden runs of all learners: the same bits on every kind of processor."""

import json
from types import SimpleNamespace

import pytest

from afterstate.files import data_directory
from afterstate.learners import catalogue, td, td_parameters
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
from afterstate.learners import catalogue
from afterstate.studies import golden
from afterstate.files import data_directory
for name, entry in json.loads((data_directory() / "golden.json").read_text()).items():
    learner = catalogue.learners()[name]
    for run in entry["runs"][:1]:
        print(golden.repeat(learner, run))
"""


@pytest.mark.parametrize("name, run", RUNS)
def test_golden_run_comes_out_as_stated(name, run):
    learner = catalogue.learners()[name]
    assert STORED[name]["version"] == learner.VERSION, (
        f"{name} has another version: python -m afterstate.commands.reproduce golden --write"
    )
    assert golden.repeat(learner, run) == run["checksum"], (
        f"the numbers of {name} changed: raise its VERSION and run python -m"
        " afterstate.commands.reproduce golden --write, or undo the edit"
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
    used = [td_parameters.DEFAULTS | run["parameters"] for run in STORED["td"]["runs"]]
    for name, values in (
        ("tc", {"none", "id", "exp"}),
        ("farl", {"on", "off"}),
        ("trace", {"ET", "RESET"}),
        ("learn_from_random", {True, False}),
    ):
        assert {params[name] for params in used} >= values, name
    assert {run["game"]["name"] for run in STORED["td"]["runs"]} >= {"tictactoe", "nim", "nim3p"}


def test_changed_behaviour_without_a_new_version_is_noticed(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    entry = {"version": td.VERSION, "runs": STORED["td"]["runs"][:1]}
    (data / "golden.json").write_text(json.dumps({"td": entry}))
    assert golden.check(td, data)[0] == golden.PASSED
    # as if a file of the package had been saved again
    monkeypatch.setattr(golden, "_closure_with", lambda learner, games: "edited")
    monkeypatch.setattr(golden, "repeat", lambda learner, run: "0" * 16)
    outcome, sentence = golden.check(td, data)
    assert (
        outcome == golden.CHANGED
        and "version did not" in sentence
        and STORED["td"]["runs"][0]["checksum"] in sentence
    )
    raised = SimpleNamespace(
        NAME="td", VERSION=td.VERSION + 1, Session=td.Session, DEFAULTS=td_parameters.DEFAULTS
    )
    monkeypatch.setattr(
        golden,
        "learner_identity",
        lambda learner: {"name": learner.NAME, "version": learner.VERSION},
    )
    assert golden.check(raised, data)[0] == golden.ABSENT
