"""Published agents: their cards and ladders are what ``data/models/make.py`` makes."""

import json
import runpy
from types import SimpleNamespace

import pytest

from afterstate.files import data_directory

MODELS = data_directory() / "models"
make = SimpleNamespace(**runpy.run_path(str(MODELS / "make.py")))


@pytest.mark.parametrize("name", make.RECIPES)
def test_agents_were_trained_by_their_recipes(name):
    recipe, card = make.RECIPES[name], json.loads((MODELS / f"card-{name}.json").read_text())
    assert (card["seed"], card["episodes"]) == (recipe.seed, recipe.episodes)
    assert recipe.parameters.items() <= card["parameters"].items()
    assert card["words"] == make.words(card)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nim", "hex"])
def test_cards_of_recorded_runs_are_those_of_the_records(name):
    assert make.make_card(name) == json.loads((MODELS / f"card-{name}.json").read_text())


@pytest.mark.slow
def test_a_ladder_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setitem(make.make_ladder.__globals__, "FOLDER", tmp_path)
    made = json.loads(json.dumps(make.make_ladder("tictactoe")))
    assert made == json.loads((MODELS / "ladder-tictactoe.json").read_text())
