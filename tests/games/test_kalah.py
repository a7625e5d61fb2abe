"""Kalah: known counts and values, OpenSpiel as another implementation, laps, captures, texts."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.games import counts
from afterstate.search import max_n
from oracles.kalah_solver import margin
from oracles.spiel_games import compare

GAMES = 10_000
game = games.load("kalah")

# First player's result in Kalah(houses, seeds) with empty capture, one row per number of houses,
# seeds from 1 on:
# G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000 (the part that is
# solved in seconds here).
PUBLISHED = {1: "DLWLWD", 2: "WLLLWW", 3: "DWWWW", 4: "WWW", 5: "DD", 6: "WW"}


def test_counts_of_sowings():
    assert [counts.perft(game, depth) for depth in range(1, 7)] == [6, 35, 185, 942, 4690, 23233]
    assert counts.perft(game, 1, unit="turn") > 6  # an extra turn belongs to the turn before


@pytest.mark.slow
def test_random_games_equal_openspiel():
    def same_board(s, theirs):
        seen = theirs.observation_tensor(0)[:14]
        assert s[:14].tolist() == [*seen[1:], seen[0]]

    oracle = pyspiel.load_game("mancala")
    ends, _ = compare(game, oracle, GAMES, lambda a, player: 1 + 7 * player + a, at_end=same_board)
    share = [ends[result] / GAMES for result in (1, 0, -1)]
    assert share == pytest.approx([0.482, 0.064, 0.454], abs=0.02)  # four standard deviations


@pytest.mark.slow
def test_published_results_of_small_boards():
    for houses, results in PUBLISHED.items():
        for seeds, result in enumerate(results, 1):
            found = margin(houses, seeds, empty_capture=True)
            assert "DWL"[np.sign(found)] == result, (houses, seeds)


@pytest.mark.slow
@pytest.mark.parametrize("empty_capture", [False, True])
def test_margins_of_small_boards_by_two_searches(empty_capture):
    different = 0
    for houses, seeds in ((1, 2), (1, 6), (2, 3), (2, 4), (3, 2), (3, 3), (4, 1)):
        same = {"houses": houses, "seeds": seeds, "empty_capture": empty_capture}
        value = max_n.solve(games.load("kalah", margin=True, **same)).value[0]
        assert value == margin(houses, seeds, empty_capture)
        assert np.sign(value) == max_n.solve(games.load("kalah", **same)).value[0]
        different += value != 0
    assert different >= 5


def position(first, second, stores=(0, 0), mover=0, **params):
    """A game with as many houses and seeds as given, and a state of it."""
    total = sum(first) + sum(second) + sum(stores)
    assert total % (2 * len(first)) == 0
    made = games.load("kalah", houses=len(first), seeds=total // (2 * len(first)), **params)
    return made, np.array([*first, stores[0], *second, stores[1], mover], np.int32)


@pytest.mark.parametrize(
    "first, second, given, action, after",
    [
        # a capture needs a seed opposite: the seed and the five there; unless empty_capture
        ([1, 0, 3], [2, 5, 1], {}, 0, [0, 0, 3, 6, 2, 0, 1, 0, 1]),
        ([1, 0, 3], [2, 0, 6], {}, 0, [0, 1, 3, 0, 2, 0, 6, 0, 1]),
        ([1, 0, 3], [2, 0, 6], {"empty_capture": True}, 0, [0, 0, 3, 1, 2, 0, 6, 0, 1]),
        # a lap into the emptied house captures 1 + the four opposite by then, and one sown
        ([7, 0, 1], [1, 0, 3], {}, 0, [0, 1, 2, 6, 2, 1, 0, 0, 1]),
        # sowing passes the opponent's store
        ([1, 0, 5], [6, 0, 0], {}, 2, [2, 0, 0, 1, 7, 1, 1, 0, 1]),
    ],
)
def test_sowing_by_hand(first, second, given, action, after):
    made, s = position(first, second, **given)
    assert made.play(s, action).tolist() == after


def test_extra_turn_and_its_end():
    s = game.play(game.start(), 2)
    assert game.player(s) == 0 and s[6] == 1
    made, s = position([0, 0, 1], [2, 0, 3])
    # the last seed in the store would be an extra turn, but the houses are empty
    over = made.play(s, 2)
    assert made.over(over) and made.score(over).tolist() == [-1, 1] and not len(made.legal(over))
    margin, s = position([0, 0, 1], [2, 0, 3], margin=True)
    assert margin.score(s).tolist() == [0, 0]
    assert margin.score(margin.play(s, 2)).tolist() == [-4, 4]


def test_heuristic_is_the_difference_of_the_stores():
    made, s = position([1, 2, 3], [1, 2, 3], stores=(5, 1))
    assert made.heuristic(s) == 4 / 19 and made.score(s).tolist() == [0, 0]
    with pytest.raises(ValueError, match="has no heuristic"):
        games.load("kalah", margin=True).heuristic(game.start())


def test_text_forms_and_errors():
    s = game.after([2, 5])
    assert game.render(s).split("\n") == [
        "    4  4  5  5  5  5",
        " 0                    2  second to move",
        "    4  4  0  5  5  0",
    ]
    assert np.array_equal(game.parse(game.render(s)), s)
    assert [game.action_name(s, a) for a in (0, 5)] == ["a", "f"]
    assert game.action_name(game.start(), 0) == "A"
    with pytest.raises(ValueError, match="48 seeds are on the board, not 47"):
        game.parse(game.render(s).replace("2  second", "1  second"))
    with pytest.raises(ValueError, match="6 houses, the two stores"):
        game.parse("4 4 4")
