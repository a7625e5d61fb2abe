"""The tables at the heads of the games' files say what the games are, and the README shows them."""

from pathlib import Path

import pytest

from afterstate import games
from afterstate.commands import games_table
from afterstate.games import specification

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.slow
def test_every_game_is_what_its_table_says():
    tables = specification.tables()
    assert sorted(tables) == games.names()
    for name, table in tables.items():
        assert specification.differences(games.load(name), table) == []


@pytest.mark.parametrize(
    "row, text",
    [
        ("players", "3"),
        ("actions", "9, at most 8 legal: the cell"),
        ("cells", "9 of 4 codes: 0, 1, 2, 3"),
        ("symmetries", "8"),
        ("chance", "a die"),
        ("reward", "0 to 1: win"),
        ("start", "the default with probability 0.5, else 2 random plies"),
        ("checked", ""),
    ],
)
def test_a_wrong_row_is_named(row, text):
    game, table = games.load("tictactoe"), specification.tables()["tictactoe"]
    wrong = specification.differences(game, table | {row: text})
    assert len(wrong) == 1 and wrong[0].startswith(row)


def test_a_file_without_a_table_is_named():
    with pytest.raises(ValueError, match=r"head of chess\.py must hold a table"):
        specification.read_table("Chess.\n\n    board 8 x 8\n", "chess")
    head = "Go.\n\n::\n\n    specification   go\n    players         2\n\n"
    with pytest.raises(ValueError, match="rows players, actions, cells"):
        specification.read_table(head, "go")


def test_the_readme_holds_the_table_of_all_games():
    text = README.read_text(encoding="utf-8")
    assert text.count(games_table.BEGIN) == text.count(games_table.END) == 1
    begin, end = text.index(games_table.BEGIN), text.index(games_table.END)
    assert text[begin : end + len(games_table.END)] == games_table.markdown(), (
        "python -m afterstate.commands.games_table prints what belongs here"
    )
