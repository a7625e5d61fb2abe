"""Boards as arrays of the shape that people draw, and moves by name."""

import numpy as np
import pytest

from afterply import games
from afterply.adapters import one_hot, planes
from afterply.games.conformance import random_game
from afterply.games.rules import cube
from afterply.kernel.random import new_rng
from sample_games import race

OTHER_SIZES = [
    ("connect4", {"rows": 4, "columns": 5, "k": 3}),
    ("connect4", {"players": 3, "columns": 9}),
    ("dots", {"players": 4, "rows": 2}),
    ("race", {"players": 3}),
    ("hex", {"size": 3, "swap": True}),
    ("kalah", {"margin": True}),
    ("morris", {"men": 3}),
    ("morris", {"men": 6}),
    ("othello", {"side": 4}),
]
MORE = {  # what the board does not tell
    "morris": lambda s: {"hands": [s[2] >> 1 & 15, s[2] >> 5 & 15], "quiet": s[3], "plies": s[4]},
    "checkers": lambda s: {"jumps_from": s[3] >> 1 & 63, "quiet": s[4], "plies": s[5]},
    "kalah": lambda s: {"stores": (s[6], s[13])},
    "game2048": lambda s: {"score": s[2]},
    "cube2": lambda s: {"last": cube.TWIST_NAMES[s[-1] - 1] if s[-1] else None},
}
MORE |= {"giveaway": MORE["checkers"], "cube3": MORE["cube2"]}


@pytest.mark.parametrize(
    "name, params", [*((name, {}) for name in games.names()), *OTHER_SIZES], ids=str
)
def test_every_state_of_random_games_is_read_back_from_its_array(name, params):
    game, met = games.load(name, **params), 0
    for seed in range(3):
        for s in random_game(game, game.start(seed), new_rng(seed), 40):
            board = game.to_array(s)
            told = name in MORE and (name != "kalah" or game.cells == 12)
            more = MORE[name](s) if told else {}
            again = game.from_array(board, game.player(s), **more)
            assert again[: game.core].tolist() == s[: game.core].tolist()
            seen, drawn = planes(game, s), game.layout >= 0
            assert (seen.argmax(axis=-1)[drawn] == game.codes(s)[game.layout[drawn]]).all()
            met += 1
    assert met > 10


DRAWN = [  # state, the array as a person sees the board
    ("tictactoe", "b2 a3", [[2, 0, 0], [0, 1, 0], [0, 0, 0]]),
    ("connect4", "d1 d2 a1", [[0] * 7] * 4 + [[0, 0, 0, 2, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0]]),
    ("othello", "d3", [[0] * 8] * 2 + [[0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0]]
     + [[0, 0, 0, 1, 2, 0, 0, 0]] + [[0] * 8] * 3),
    ("kalah", "C F", [[0, 4, 4, 5, 5, 5, 5], [4, 4, 0, 5, 5, 0, 2]]),
    ("checkers", "21-17", [[0, 3] * 4, [3, 0] * 4, [0, 3] * 4, [0] * 8, [0, 1] + [0] * 6]
     + [[0, 0, 1, 0, 1, 0, 1, 0], [0, 1] * 4, [1, 0] * 4]),
]  # fmt: skip


@pytest.mark.parametrize("name, moves, board", DRAWN, ids=lambda x: str(x)[:20])
def test_arrays_look_like_the_board(name, moves, board):
    game = games.load(name)
    assert game.to_array(game.after(moves.split())).tolist() == board


def test_a_solved_cube_shows_a_number_a_face_and_a_twist_turns_what_it_should():
    game = games.load("cube3")
    turned = game.to_array(game.parse("after U"))  # a clockwise turn: F's upper row goes to L
    assert (turned[:, 1:] == np.arange(6)[:, None, None])[1:].all() and (turned[0] == 0).all()
    assert turned[1:5, 0, 0].tolist() == [2, 3, 4, 1]
    twice, mirrored = turned.copy(), turned[[1, 0, 2, 3, 4, 5]]
    twice[1, 0, 1] = twice[2, 0, 1]
    for wrong, words in ((twice, "UR left for UL|RU left"), (mirrored, "no cubie with")):
        with pytest.raises(ValueError, match=words):
            game.from_array(wrong)


ROW, OTHELLO = [0] * 7, games.load("othello")
LINE = [[1, 1, 0, 0, 0, 0, 0], [2, 2, 2, 2, 1, 1, 1]]
WRONG = [
    ("connect4", [ROW] * 5, {}, r"shape \(6, 7\), not \(5, 7\)"),
    ("connect4", [ROW] * 5 + [[5, 0, 0, 0, 0, 0, 0]], {}, r"5 cannot stand at \(5, 0\)"),
    ("connect4", [ROW] * 5 + [[1, 1, 1, 1, 2, 2, 2]], {"player": 0}, "as many x as o"),
    ("connect4", [ROW] * 4 + LINE, {"player": 1}, "who has won is not to move"),
    ("othello", OTHELLO.to_array(OTHELLO.start()), {}, "give the player"),
    ("kalah", [[0] * 7, [4] * 7], {}, "hold 28 seeds instead of 48"),
    ("morris", [[1, *ROW[1:]], *[ROW] * 6], {}, "does not tell the men in the hands"),
    ("morris", [[1, *ROW[1:]], *[ROW] * 6], {"hands": (8, 8), "player": 1}, "not player 1"),
    ("nim", [3, 0, 5], {}, "give the player"),
    ("nim", [3, 0, 6], {"player": 0}, r"6 cannot stand at \(2,\)"),
    ("nim", [3, 0, 5], {"player": 2}, "the player to move must be a whole number from 0 to 1"),
    ("game2048", [[3, 0, 0, 0]] * 4, {}, "3 cannot stand"),
    ("cube2", np.zeros((6, 2, 2), int), {}, "no cubie with the colours UUU"),
]


@pytest.mark.parametrize("name, board, given, words", WRONG, ids=lambda x: str(x)[:20])
def test_what_is_no_board_is_explained(name, board, given, words):
    with pytest.raises(ValueError, match=words):
        games.load(name).from_array(board, **given)


def test_moves_have_names_and_a_game_of_ones_own_has_arrays():
    game = games.load("connect4")
    s = game.play(game.start(), "d1")
    assert s.tolist() == game.play(game.start(), 3).tolist() and game.action(s, "d2") == 3
    with pytest.raises(ValueError, match="'d1' is no move of connect4 here; there are a1, b1"):
        game.play(s, "d1")
    own = race()
    assert own.to_array(own.start()).tolist() == own.board(own.start()).tolist()
    assert planes(own, own.start()).ravel().sum() == one_hot(own, own.start()).sum()
    with pytest.raises(ValueError, match="reads no arrays: give the game from_codes"):
        own.from_array([0, 0])
    with pytest.raises(ValueError, match="each cell stands at one place of the layout"):
        race(layout=[0, 0])
