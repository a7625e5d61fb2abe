"""The published weights are what the records say, small enough, and play."""

import json
from pathlib import Path

import pytest

from afterstate import games
from afterstate.files import data_directory, read_npz
from afterstate.networks import ntuple, table

FILES = sorted((data_directory() / "models").glob("*.npz"))
MODELS = [path for path in FILES if read_npz(path)[0]["kind"] != "learners"]


def test_there_are_published_models():
    assert {"connect4", "hex", "othello"} <= {path.stem for path in MODELS}


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_published_weights_belong_to_a_recorded_run(path: Path):
    assert path.stat().st_size < 5e6
    meta, _ = read_npz(path)
    game = games.load(meta["game"]["name"], **meta["game"]["params"])
    net = (table if meta["kind"] == "action values" else ntuple).load(path, game)
    records = [
        json.loads(file.read_text())
        for file in (data_directory() / "records").glob("*/train-*.json")
    ]
    assert net.checksum() in {
        record["checksum"] for record in records if record["game"] == game.identity
    }


def test_kept_linear_learners_are_those_of_the_records():
    """They are opponents and beginnings of later trainings, whose records know them by number."""
    path = data_directory() / "models" / "giveaway-learners.npz"
    recorded = {}
    for file in (data_directory() / "records" / "giveaway").glob("train-*.json"):
        record = json.loads(file.read_text())
        recorded[record["arm"], record["run"]] = record["statistics"]["weights"]
    for method, rows in read_npz(path)[1].items():
        assert len(rows) % 10 == 0
        for run, weights in enumerate(rows):
            assert weights.tolist() == recorded[f"{method}, random opponents", run]


def test_the_connect4_network_opens_in_the_centre_and_stops_an_open_three():
    game = games.load("connect4")
    net = ntuple.load(data_directory() / "models" / "connect4.npz", game)
    assert net.action_values(game.start()).argmax() == 3
    threatened = game.after([3, 0, 2])
    assert game.legal(threatened)[net.action_values(threatened).argmax()] in (1, 4)
