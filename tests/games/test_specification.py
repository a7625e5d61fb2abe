"""The tables at the heads of the games' files say what the games are."""

import pytest

from afterstate import games
from afterstate.games.catalogue import specification, tables
from sample_games import race

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
    own = ["2", "2, at most 2 legal", "1 of 6 codes", "1", "none", "-1 to 1", "the default"]
    assert specification(race()) == dict(zip(ROWS.split(), own))
