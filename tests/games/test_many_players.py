"""Games for two to four players, each against a second program that knows only the rules."""

import random

import numpy as np
import pytest

from afterply import arena, games, players
from afterply.arena import ratings
from afterply.games import calls
from afterply.games.boards import winning_places
from afterply.games.drawing import COLOURS
from afterply.screen.game_table import Table
from afterply.search import max_n
from oracles.reference_many import Connect4, Dots, Grid, Race

GAMES = 300
CASES = [
    *(("connect4", {"players": n, "rows": 6, "columns": 9}, (6, 9, 4)) for n in (3, 4)),
    ("connect4", {"players": 3, "rows": 4, "columns": 5, "k": 3}, (4, 5, 3)),
    ("tictactoe", {"players": 3, "rows": 6, "columns": 6, "k": 4}, (6, 6, 4)),
    ("tictactoe", {"players": 4, "rows": 3, "columns": 5, "k": 3}, (3, 5, 3)),
    *(("dots", {"players": n}, (3, 3)) for n in (2, 3, 4)),
    ("dots", {"players": 3, "rows": 2, "columns": 4}, (2, 4)),
    *(("race", {"players": n}, ()) for n in (2, 3, 4)),
]
ORACLES = {"connect4": Connect4, "tictactoe": Grid, "dots": Dots, "race": Race}


@pytest.mark.slow
@pytest.mark.parametrize("name, params, sizes", CASES, ids=str)
def test_random_games_equal_plain_python(name, params, sizes):
    game, rng, won = games.load(name, **params), random.Random(1), set()
    rules, moves, score = game.rules, np.zeros(game.max_legal, np.int32), np.zeros(game.players)
    for k in range(GAMES):
        s, theirs = game.start(k), ORACLES[name](params["players"], *sizes)
        while True:
            if name == "race" and not theirs.over:
                theirs.throw(int(s[-1]))
            calls.call_score(rules, s, score)
            assert calls.call_over(rules, s) == theirs.over, s
            assert np.allclose(score, theirs.scores(), atol=1e-12), s
            if theirs.over:
                break
            legal = moves[: calls.call_legal(rules, s, moves)].tolist()
            assert calls.call_player(rules, s) == theirs.mover and legal == theirs.legal(), s
            action = rng.choice(legal)
            calls.call_play(rules, s, action)
            theirs.play(action)
            if name == "race":
                assert calls.call_outcome(rules, s, rng.randrange(6)) == 1 / 6
        won.add(int(score.argmax()) if score.max() > 0.5 else None)
    assert won >= {*range(game.players)}, "everybody wins, now and then"


def test_three_in_connect4_are_shown_and_who_has_won():
    game = games.load("connect4", players=3, columns=9)
    table = Table(game, [players.Random(), players.Random()], seat=2)
    for move in "a1 b1 c1 a2 b2 c2 a3 b3 c3 a4".split():
        table.make(game.action(table.state, move))
    assert table.status() == "Yellow wins. You lose."
    assert "1 x o + ." in repr(table) and repr(table).endswith("X wins. You lose.")
    assert game.score(table.state).tolist() == [1, 0, 0]
    assert sorted(winning_places(game, table.state)) == [0, 1, 2, 3]
    assert all(
        f'fill="{colour}"' in str(game.view(table.state)) for colour in [*COLOURS.values()][:3]
    )


@pytest.mark.parametrize(
    "boxes, value, positions",
    [((1, 1), [-1, 1], 16), ((1, 2), [0, 0], 142), ((1, 3), [-1, 1], 1238)],
)
def test_small_boards_of_dots_have_the_values_in_their_table(boxes, value, positions):
    found = max_n.solve(games.load("dots", rows=boxes[0], columns=boxes[1]))
    assert (found.value.tolist(), found.positions) == (value, positions)


def test_who_lost_to_a_third_did_not_draw_with_each_other():
    game = games.load("connect4", players=3, rows=3, columns=3, k=3)
    seats = {"best": players.MaxN(4), "a": players.Random(), "b": players.Random()}
    table = arena.tournament(game, seats, episodes=2)
    assert set(ratings.pairs(table.table).points) <= {0, 0.5, 1}
    lost = table.table.groupby("match").score.apply(lambda score: sorted(score)[1] == 0)
    assert lost.any() and len(ratings.pairs(table.table)) == 3 * len(lost) - lost.sum()
    assert table.ratings.player[0] == "best"
