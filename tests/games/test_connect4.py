"""ConnectFour: known counts, OpenSpiel as another implementation, texts."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.games.counts import perft
from oracles.spiel_games import compare

game = games.load("connect4")


@pytest.mark.slow
def test_positions_by_ply():
    level, counts = {game.key(game.start()): game.start()}, []
    for _ in range(6):
        counts.append(len(level))
        following = (game.play(s, a) for s in level.values() for a in game.legal(s))
        level = {game.key(s): s for s in following}
    assert counts == [1, 7, 49, 238, 1120, 4263]
    # games won early and full columns end lines
    assert [perft(game, depth) for depth in (6, 7, 8)] == [117649, 823536, 5673234]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows, columns, k, num",
    [(6, 7, 4, 10_000), (4, 5, 3, 500), (7, 8, 5, 300), (3, 12, 4, 300), (15, 4, 7, 200)],
)
def test_random_games_equal_openspiel(rows, columns, k, num):
    ours = games.load("connect4", rows=rows, columns=columns, k=k)
    oracle = pyspiel.load_game(f"connect_four(rows={rows},columns={columns},x_in_row={k})")

    def same_picture(s, theirs):
        assert ours.render(s).replace(" ", "") == str(theirs).strip()

    ends, _ = compare(ours, oracle, num, lambda action, player: action, at_end=same_picture)
    assert min(ends[1], ends[-1]) > 10 or k == 7


def test_cell_codes_from_the_picture():
    s = game.after([3, 3, 3, 2, 4, 4])
    assert game.render(s).split("\n")[3:] == [". . . x . . .", ". . . o o . .", ". . o x x . ."]
    columns = ["300000", "300000", "230000", "121300", "123000", "300000", "300000"]
    assert game.board(s).tolist() == [int(code) for code in "".join(columns)]
    full = game.after([0, 0, 0, 0, 0, 0])
    assert game.board(full)[:6].tolist() == [1, 2, 1, 2, 1, 2]
    assert game.legal(full).tolist() == [1, 2, 3, 4, 5, 6]


def test_text_forms_and_errors():
    s = game.after([3, 3, 2])
    text = game.render(s)
    assert np.array_equal(game.parse(text), s) and game.player(s) == 1
    assert [game.action_name(s, a) for a in game.legal(s)] == "a1 b1 c2 d3 e1 f1 g1".split()
    won = game.render(game.after([0, 1, 0, 1, 0, 1, 0]))
    for wrong, words in (
        ("x o", "42 marks"),
        (text.replace("x x", "x ."), "column 4 has nothing below it"),
        (text[:-1] + "x", "not 3 and 1"),
        (won[:-1] + "o", "x, to move, has 4 in a row already"),
    ):
        with pytest.raises(ValueError, match=words):
            game.parse(wrong)
    with pytest.raises(ValueError, match="action 7 is not legal"):
        game.play(s, 7)
