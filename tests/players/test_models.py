"""The published weights are what the records say, small enough, and play."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.evaluators.cube import Solved
from afterstate.files import data_directory, read_npz
from afterstate.games.rules.game2048 import MAX_SCORE
from afterstate.networks import ntuple, table

FILES = sorted((data_directory() / "models").glob("*.npz"))
MODELS = [path for path in FILES if read_npz(path)[0]["kind"] != "learners"]

make_agents = SimpleNamespace(**runpy.run_path(str(data_directory() / "models" / "make.py")))
CARDS = players.zoo()
ALONE = {"game2048": 2_000.0}  # mean points of a random player, rather above what it makes


def test_there_are_published_models():
    assert {"connect4", "hex", "othello"} <= {path.stem for path in MODELS}
    assert sum(path.stat().st_size for path in FILES) < 25e6


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_published_weights_belong_to_a_recorded_run_or_a_recipe(path: Path):
    assert path.stat().st_size < 7e6
    meta, _ = read_npz(path)
    game = games.load(meta["game"]["name"], **meta["game"]["params"])
    net = (table if meta["kind"] == "action values" else ntuple).load(path, game)
    if path.stem in make_agents.RECIPES:
        recipe, card = make_agents.RECIPES[path.stem], CARDS[path.stem]
        assert (card["checksum"], card["episodes"]) == (net.checksum(), recipe.episodes)
        assert card["seed"] == recipe.seed and recipe.parameters.items() <= (
            card["parameters"].items()
        )
        assert card["words"] == make_agents.words(card)
        return
    records = [
        json.loads(file.read_text())
        for file in (data_directory() / "records").glob("*/train-*.json")
    ]
    assert net.checksum() in {
        record["checksum"] for record in records if record["game"] == game.identity
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", games.names())
def test_every_game_has_an_agent_that_beats_random_and_a_card_that_fits_it(name):
    game, card = games.load(name), CARDS[name]
    player = players.zoo(game)
    assert (
        card["game"]
        == json.loads(json.dumps(game.identity))
        == json.loads(json.dumps(player.net.game.identity))
    )
    assert (
        card["checksum"]
        == player.net.checksum()
        == read_npz(folder() / card["file"])[0]["checksum"]
    )
    assert card["cost"]["cpu_seconds"] > 0 and card["strength"] and card["parameters"]
    assert len(card["words"]) > 30 and card["episodes"] > 0
    if name.startswith("cube"):
        solved = Solved((3,), (), 10, by_distance=False)(game, player.net, seed=5)
        chance = Solved((3,), (), 10, by_distance=False)(game, ntuple.Network(game, [[0]]), seed=5)
        assert solved["solved_rate"] >= 80 > 2 * chance["solved_rate"]
    elif game.players == 1:
        score = np.mean([arena.match(game, [player], seed=k).scores[0] for k in range(3)])
        assert score * MAX_SCORE > 5 * ALONE[name]
    else:
        others = [players.Random()] * (game.players - 1)
        scores = [
            arena.match(game, others[:seat] + [player] + others[seat:], seed=k).scores[seat]
            for k in range(4)
            for seat in range(game.players)
        ]
        low, high = game.score_range
        assert np.mean(scores) > low + 0.6 * (high - low)


def folder() -> Path:
    return data_directory() / "models"


def test_intervals_of_shares():
    low, high = make_agents.wilson(50.0, 100)
    assert (round(low, 1), round(high, 1)) == (40.4, 59.6)
    assert make_agents.wilson(0.0, 10)[0] == pytest.approx(0.0, abs=1e-9)
    assert make_agents.wilson(100.0, 10)[1] == pytest.approx(100.0)


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
