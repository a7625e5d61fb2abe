"""A small study of Tic-Tac-Toe, with cheap evaluators, for the tests of the studies."""

import json
import shutil

import numpy as np

from afterstate import games
from afterstate.files import data_directory
from afterstate.learners import td
from afterstate.studies import golden
from afterstate.studies.study import Study

TUPLES = [[0, 1, 2], [4]]
SMALL = {"runs": 3, "episodes": 400, "eval_every": 150, "tuples": TUPLES}
VARIABLES = ("BUDGET", "RECORDS", "WORKERS", "DASK", "AFTERSTATE_BATCH")
GOLDEN_RUN = {
    "game": {"name": "tictactoe", "params": {}},
    "parameters": {"tuples": TUPLES},
    "episodes": 50,
    "seed": 1,
}


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
    """An evaluator that needs a program that is not there."""

    name, needs = "needy", "edax"


def make_place(directory, monkeypatch):
    """Make an empty data and report directory, with golden run and playthroughs of today."""
    data = directory / "data"
    shutil.copytree(data_directory() / "papers", data / "papers")
    shutil.copy(data_directory() / "ntuples.yaml", data)
    shutil.copy(data_directory() / "playthroughs.json", data)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AFTERSTATE_DATA", str(data))
    monkeypatch.setenv("AFTERSTATE_REPORTS", str(directory / "reports"))
    monkeypatch.setenv("AFTERSTATE_HIDE", "all")
    run = GOLDEN_RUN | {"checksum": golden.repeat(td, GOLDEN_RUN)}
    write_json(data / "golden.json", {"td": {"version": td.VERSION, "runs": [run]}})
    return directory


def write_json(path, content):
    path.write_text(json.dumps(content))


def make(
    profile="paper",
    arms=("FARL",),
    workers=1,
    curve=(Weights(),),
    final=(Weights(),),
    params=SMALL,
    **options,
):
    """Run the small study."""
    made = Study("tiny", profile=profile, params=params, workers=workers, **options)
    shared = {"game": games.load("tictactoe"), "curve": curve, "final": final}
    for arm in arms:
        made.arm(arm, td, farl="on" if arm == "FARL" else "off", **shared)
    made.run()
    return made


def record_file(place):
    return place / "data" / "records" / "tiny.jsonl"


def record_lines(place):
    return record_file(place).read_text().splitlines() if record_file(place).exists() else []


def provenances(made):
    return set(made.runs()["provenance"])


def sorted_table(study):
    return study.table().sort_values(["arm", "run", "metric", "episode"], ignore_index=True)
