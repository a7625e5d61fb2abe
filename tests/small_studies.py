"""A small study of Tic-Tac-Toe, with cheap evaluators, for the tests of the studies."""

import json
import shutil

import numpy as np

from afterstate import games
from afterstate.files import data_directory
from afterstate.learners import td
from afterstate.studies import golden, settings
from afterstate.studies.plan import planning, states_of
from afterstate.studies.records import content_hash
from afterstate.studies.study import Study

TUPLES = [[0, 1, 2], [4]]
SMALL = {"runs": 3, "episodes": 400, "eval_every": 150, "tuples": TUPLES}
_sums = {}


class Weights:
    """A cheap evaluator: facts of the weights, so a wrong bit shows."""

    name, version = "weights", 1

    def __init__(self, factor=1.0):
        self.settings = {"factor": factor}

    def __call__(self, game, net, seed):
        return {
            "mass": self.settings["factor"] * float(np.abs(net.weights.astype(np.float64)).sum()),
            "seed": float(seed % 997),
        }


class Needy(Weights):
    """An evaluator that needs a program, which is there or not."""

    name, there = "needy", False

    def lacks(self):
        return "" if self.there else "the program X: install it"

    def __call__(self, game, net, seed):
        assert self.there
        return {"win_rate:X": 50.0}


class HeavyWeights(Weights):
    """The same in the evaluation process of the workers' machine."""

    heavy = True


def make_place(directory, monkeypatch):
    """Make an empty data and report directory, with golden run and playthroughs of today."""
    shutil.copytree(data_directory() / "papers", directory / "data" / "papers")
    shutil.copy(data_directory() / "ntuples.yaml", directory / "data")
    for name in settings.VARIABLES:
        if name != "AFTERSTATE_CACHE":
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AFTERSTATE_DATA", str(directory / "data"))
    monkeypatch.setenv("AFTERSTATE_REPORTS", str(directory / "reports"))
    (directory / "data" / "golden.json").write_text(
        json.dumps({"td": {"version": td.VERSION, "runs": [golden_run()]}})
    )
    golden.write_games([games.load("tictactoe").identity], directory / "data")
    return directory


def golden_run():
    """Return a short golden run with its checksum."""
    run = {
        "game": {"name": "tictactoe", "params": {}},
        "parameters": {"tuples": TUPLES},
        "episodes": 50,
        "seed": 1,
    }
    if not _sums:
        _sums["checksum"] = golden.repeat(td, run)
    return run | _sums


def make(
    profile="paper",
    arms=("FARL",),
    workers=1,
    curve=(Weights(),),
    final=(Weights(),),
    name="tiny",
    params=SMALL,
    **options,
):
    """Run the small study."""
    made = Study(name, profile=profile, params=params, workers=workers, **options)
    for arm in arms:
        made.run(
            arm,
            td,
            game=games.load("tictactoe"),
            curve=curve,
            final=final,
            farl="on" if arm == "FARL" else "off",
        )
    return made


def planned(**options):
    """Return the run states of the small study in a plan."""
    with planning() as studies:
        make(**options)
    return states_of(studies)


def record_files(place):
    return sorted(p.name for p in (place / "data" / "records").rglob("*.json"))


def provenances(made):
    return set(made.runs()["provenance"])


def edit_record(path, **changes):
    """Change a record as one who can state the hash of its content again."""
    record = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(record | {"content": content_hash(record)}))
