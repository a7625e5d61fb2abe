"""Max-N equals a plain recursion in Python, and says clearly what it can not search."""

import numpy as np
import pytest

from afterstate import games
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng, random_int
from afterstate.search import max_n
from sample_games import take_game


def plain(game, s, depth, unit="action"):
    """Max-N by the book, without a table: the values of the actions, [num_legal, players]."""

    def value(s, depth):
        if game.over(s) or depth == 0:
            return game.score(s)
        rows = plain(game, s, depth, unit)
        return rows[np.argmax(rows[:, game.player(s)])]

    rows = []
    for a in game.legal(s):
        row = 0.0
        for following, probability in game.outcomes(game.play(s, a)):
            same = unit == "turn" and game.player(following) == game.player(s)
            row = row + probability * value(following, depth - (not same))
        rows.append(row)
    return np.array(rows)


def random_states(game, n, plies, seed, least=0):
    """Non-terminal states some random plies after the start."""
    rng, found = new_rng(seed), []
    while len(found) < n:
        s = game.start()
        for _ in range(least + random_int(rng, plies)):
            if not game.over(s):
                legal = game.legal(s)
                s = game.next(s, legal[random_int(rng, len(legal))], rng)
        if not game.over(s):
            found.append(s)
    return found


CASES = {
    "tictactoe": (games.load("tictactoe"), 3),
    "3x4": (games.load("tictactoe", columns=4), 7),
    "nim3p": (games.load("nim3p", stones=3), 0),
    "nim": (games.load("nim", take=2), 3),
    "dice": (take_game(dice=True), 0),
    "extra turns": (take_game(extra_turn=True), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_equals_plain_recursion_with_any_table(name):
    game, least = CASES[name]
    for s in random_states(game, 3, 4, 11, least):
        for depth in (4, 1, 5, 2, 3):  # down and up: entries of other depths are in the table
            for unit in ("action", "turn"):
                expected = plain(game, s, depth, unit)
                assert max_n.values(game, s, depth, unit) == pytest.approx(expected, abs=1e-12)


def test_full_table_grows_or_stops_storing(monkeypatch):
    game = games.load("tictactoe")
    monkeypatch.setattr(max_n, "FIRST_CAPACITY", 8)
    monkeypatch.setattr(max_n, "FIRST_PLIES", 2)
    assert max_n.solve(game)[1:] == (5478, 958)
    expected = max_n.values(games.load("tictactoe"), game.start(), 6)
    monkeypatch.setattr(max_n, "MAX_CAPACITY", 64)
    assert np.array_equal(max_n.values(game, game.start(), 6), expected)


def test_depth_limit_returns_the_present_reward():
    game = take_game()
    assert max_n.values(game, game.start(), 1).tolist() == [[0.125, 0.0], [0.25, 0.0]]
    s = games.load("tictactoe").parse("x x . o o . . . .")
    assert max_n.values(games.load("tictactoe"), s, 1)[:, 0].tolist() == [1, 0, 0, 0, 0]
    assert max_n.values(games.load("tictactoe"), s, 2)[1:, 0].min() == -1
    game = games.load("nim")
    assert max_n.values(game, game.parse("0 0 0 : 1"), 3).shape == (0, 2)


@pytest.mark.slow
def test_unclear_searches_are_errors():
    with pytest.raises(ValueError, match="'take' does not list its chance outcomes"):
        max_n.values(take_game(dice=True, listed=False), np.array([3, 0, 0, 0]), 3)

    def walk(s, action):
        s[0] -= action  # and action 0 changes nothing, so a line need not end
        s[3] = 1 - s[3]

    endless = Game(**(take_game()._arguments | {"play": walk, "version": None}))
    assert max_n.values(endless, endless.start(), 5).shape == (2, 2)
    with pytest.raises(ValueError, match="more than 2048 plies: give a smaller depth"):
        max_n.solve(endless)
