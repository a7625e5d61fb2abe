"""Kalah: published values, a solver of its own rules, laps and captures by hand."""

import numpy as np
import pytest

from afterstate import games
from afterstate.search import max_n
from oracles.kalah_solver import margin

game = games.load("kalah")

# First player's result in Kalah(houses, seeds) with empty capture, one row per number of houses,
# seeds from 1 on:
# G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000 (the part that is
# solved in seconds here).
PUBLISHED = {1: "DLWLWD", 2: "WLLLWW", 3: "DWWWW", 4: "WWW", 5: "DD", 6: "WW"}


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
