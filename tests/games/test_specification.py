"""The tables at the heads of the games' files say what the games are, and the README shows them."""

from pathlib import Path

import pytest

from afterstate import games
from afterstate.commands import cli
from afterstate.games.catalogue import specification, tables
from sample_games import race

README = Path(__file__).resolve().parents[2] / "README.md"
ROWS = "players actions cells symmetries chance reward start checked coordinates"


@pytest.mark.slow
def test_every_game_is_what_its_table_says():
    heads = tables()
    assert sorted(heads) == games.names()
    for name, head in heads.items():
        game = games.load(name)
        assert " ".join(head) == ROWS and all(head.values())
        assert specification(game) == head
        assert (head["chance"] == "none") == game.deterministic
        assert ("random" in head["start"]) == (game.start_scheme[0] < 1.0 or name == "game2048")


def test_a_table_is_that_of_the_parameters():
    told = specification(games.load("hex", size=4))
    assert told["actions"] == "16, at most 16 legal: the cell, with swap one more"
    assert told["cells"].startswith("16 of 3 codes: 0 = empty")
    assert specification(race()) == {
        "players": "2",
        "actions": "2, at most 2 legal",
        "cells": "1 of 6 codes",
        "symmetries": "1",
        "chance": "none",
        "reward": "-1 to 1",
        "start": "the default",
    }


def test_the_readme_holds_the_table_of_all_games():
    text = README.read_text(encoding="utf-8")
    assert text.count(cli.BEGIN) == text.count(cli.END) == 1
    begin, end = text.index(cli.BEGIN), text.index(cli.END)
    assert text[begin : end + len(cli.END)] == cli.markdown(), (
        "`afterstate games --markdown` prints what belongs here"
    )
