"""Depth-limited Min-Max: values and best moves equal a plain full-width recursion in Python."""

import numpy as np
import pytest

from afterstate import games, players
from afterstate.games.game import Game
from afterstate.search import max_n, min_max
from many import one_in
from sample_games import rules_in
from search.test_max_n import random_states

MORRIS = {"repetition": 0, "quiet_plies": 0}
CASES = {
    "kalah": (games.load("kalah"), 3, 30),
    "margin": (games.load("kalah", houses=4, seeds=3, margin=True), 4, 12),
    "nine men": (games.load("morris", **MORRIS), 2, 40),
    "six men": (games.load("morris", men=6, **MORRIS), 3, 50),
    "three men": (games.load("morris", men=3, lines=6, **MORRIS), 4, 12),
    "tictactoe": (games.load("tictactoe"), 9, 4),
}


def plain(game, s, depth, unit="action", heuristic=True, path=()):
    """First player's value by the book; a position that repeats one on the path is a draw."""
    if game.over(s):
        return game.score(s)[0]
    if game.key(s) in path:
        return 0.0
    if depth == 0:
        return game.heuristic(s) if heuristic and game.rules.heuristic else game.score(s)[0]
    found = plain_actions(game, s, depth, unit, heuristic, path)
    return max(found) if game.player(s) == 0 else min(found)


def plain_actions(game, s, depth, unit, heuristic, path):
    found = []
    for a in game.legal(s):
        following = game.play(s, a)
        step = 0 if unit == "turn" and game.player(following) == game.player(s) else 1
        found.append(plain(game, following, depth - step, unit, heuristic, (*path, game.key(s))))
    return found


def plain_values(game, s, depth, unit="action", heuristic=True):
    sign = 1 - 2 * game.player(s)
    return sign * np.array(plain_actions(game, s, depth, unit, heuristic, ()))


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_equals_full_width(name):
    game, most, plies = CASES[name]
    ties = 0
    for s in random_states(game, 6, plies, 0):
        for depth in {1, 2, most}:
            if name == "tictactoe" and depth > 4 and len(game.legal(s)) > 7:
                continue
            expected = plain_values(game, s, depth)
            search = min_max.Searcher(game, depth)
            assert np.array_equal(search.values(s), expected), (name, depth)
            best = expected == expected.max()
            bounds = search.values(s, min_max.TIES)
            assert np.array_equal(bounds == bounds.max(), best) and (bounds >= expected).all()
            assert np.argmax(search.values(s, min_max.FIRST)) == np.argmax(expected)
            ties += best.sum() > 1
    assert ties or name == "margin"


def test_extra_turns_in_both_units():
    game = games.load("kalah", houses=3, seeds=2)
    for s in random_states(game, 5, 6, 3):
        for depth in (1, 2, 3):
            for how in (("action", True), ("action", False), ("turn", True), ("turn", False)):
                found = min_max.Searcher(game, depth, *how).values(s)
                assert np.array_equal(found, plain_values(game, s, depth, *how)), (how, depth)
    # an extra turn: one turn of depth sees through to the opponent's move
    assert game.player(game.after([1])) == 0
    one_turn = min_max.Searcher(game, 1, "turn").values(game.start())
    assert not np.array_equal(one_turn, min_max.Searcher(game, 1).values(game.start()))


@pytest.mark.parametrize("name", ["kalah", "tictactoe"])
def test_without_heuristic_equals_maxn(name):
    game = games.load(name)
    for s in random_states(game, 3, 12, 5):
        expected = max_n.values(game, s, 5)[:, game.player(s)]
        assert np.array_equal(min_max.Searcher(game, 5, heuristic=False).values(s), expected)


def endless(step_back):
    """Walk on five fields without end; the heuristic is the field, and a step back may repeat."""

    def start(s, rng):
        s[0], s[1] = 2, 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2

    def play(s, action):
        s[0] = min(4, max(0, s[0] + 2 * action - 1))
        s[1] = 1 - s[1]

    def player(s):
        return s[1]

    def over(s):
        return False

    def score(s, r):
        r[0] = r[1] = 0.0

    def board(s, cells):
        cells[0] = s[0]

    def heuristic(s):
        return s[0] / 10.0 + 0.1

    def irreversible(s):
        return not step_back

    sizes = dict(players=2, actions=2, max_legal=2, size=2, num_codes=[5])
    return Game("walk", **rules_in(locals()), **sizes)


@pytest.mark.slow
@pytest.mark.parametrize("step_back, values", [(False, [0.1, 0.3]), (True, [0.0, 0.0])])
def test_repetition_rule_depends_on_irreversible(step_back, values):
    """Where steps back repeat a position, the other one walks back to where it began."""
    game = endless(step_back)
    assert min_max.Searcher(game, 2).values(game.start()).tolist() == pytest.approx(values)


def test_players_choose_the_first_or_any_best():
    game = games.load("tictactoe")
    s = game.parse("x . . o . . . . .")
    rows = max_n.values(game, s, 9)[:, 0]
    best = game.legal(s)[rows == rows.max()].tolist()

    def choices(player):
        found = []
        for seed in range(100):
            player.new_match(game, [], 0, seed)
            found.append(player.choose(s))
        return found

    first = players.MinMax(9)
    assert len(best) > 1 and choices(first) == [best[0]] * 100
    assert sorted(set(choices(players.MinMax(9, ties="random")))) == best
    assert np.array_equal(first.values(s), rows) and first.name == "Min-Max-9-first"


def test_a_game_without_heuristic_is_named():
    with pytest.raises(ValueError, match="'tictactoe' has no heuristic"):
        min_max.Searcher(games.load("tictactoe"), 3, heuristic=True)
