"""A small study of Tic-Tac-Toe with cheap evaluators, and notebooks, for the tests of studies."""

import json
import shutil

import nbformat
import numpy as np
from nbformat.v4 import new_code_cell, new_notebook

from afterply import games
from afterply.files import data_directory
from afterply.learners import td
from afterply.studies import golden, records
from afterply.studies.study import Study

TUPLES = [[0, 1, 2], [4]]
SMALL = {"runs": 3, "episodes": 400, "eval_every": 150, "tuples": TUPLES}
VARIABLES = ("BUDGET", "SHARE", "RECORDS", "WORKERS", "DASK", "AFTERPLY_BATCH")
TICTACTOE = {"name": "tictactoe", "params": {}}
GOLDEN_RUN = {"game": TICTACTOE, "parameters": {"tuples": TUPLES}, "episodes": 50, "seed": 1}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


class Weights:
    """A cheap evaluator: facts of the weights, so a wrong bit shows."""

    name, version = "weights", 1

    def __init__(self, factor=1.0):
        self.settings = {"factor": factor}

    def __call__(self, game, net, seed):
        mass = self.settings["factor"] * float(np.abs(net.weights.astype(np.float64)).sum())
        return {"mass": mass, "seed": float(seed % 997)}


class Needy(Weights):
    """An evaluator that needs a program that is not there."""

    name, needs = "needy", "edax"


def make_place(directory, monkeypatch):
    """Make an empty data and report directory, with golden run and playthroughs of today."""
    data = directory / "data"
    shutil.copytree(data_directory() / "papers", data / "papers")
    for name in ("ntuples.yaml", "playthroughs.json", "correspondence.yaml"):
        shutil.copy(data_directory() / name, data)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AFTERPLY_DATA", str(data))
    monkeypatch.setenv("AFTERPLY_REPORTS", str(directory / "reports"))
    monkeypatch.setenv("AFTERPLY_HIDE", "all")
    run = GOLDEN_RUN | {"checkpoints": [*golden.repeat(td, GOLDEN_RUN)]}
    write_json(data / "golden.json", {"td": {"version": td.VERSION, "runs": [run]}})
    return directory


def write_json(path, content):
    path.write_text(json.dumps(content))


def write_notebook(path, parameters, *cells, arms=0):
    """Write a notebook of parameters and cells, of which the first ones have the tag "arms"."""
    made = new_notebook(metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})
    declared = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    made.cells = [declared, *map(new_code_cell, cells)]
    for cell in made.cells[1 : 1 + arms]:
        cell.metadata["tags"] = ["arms"]
    path.parent.mkdir(exist_ok=True)
    nbformat.write(made, path)
    return path


def declare(
    profile="paper", arms=("FARL",), workers=1, curve=(Weights(),), final=(Weights(),), **options
):
    """Declare the small study."""
    made = Study("tiny", profile, options.pop("params", SMALL), workers=workers, **options)
    shared = {"game": games.load("tictactoe"), "curve": curve, "final": final}
    for arm in arms:
        made.arm(arm, td, farl="on" if arm == "FARL" else "off", **shared)
    return made


def make(*words, **options):
    """Run the small study."""
    made = declare(*words, **options)
    made.run()
    return made


def record_file(place):
    return place / "data" / "records" / "tiny.jsonl"


def record_lines(place):
    return record_file(place).read_text().splitlines() if record_file(place).exists() else []


def with_other_weights(path):
    """Write a file of records anew, as if their weights had been others."""
    kept = records.Records(path)
    kept.by_key = {key: one | {"checksum": "0" * 16} for key, one in kept.by_key.items()}
    kept.tidy()


def provenances(made):
    return set(made.runs()["provenance"])


def sorted_table(study):
    return study.table().sort_values(["arm", "run", "measure", "episode"], ignore_index=True)
