"""Kalah: known counts and values, OpenSpiel as another implementation, laps, captures, texts."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.arena.matches import advance
from afterstate.games import conformance, counts
from afterstate.games.svg import view
from afterstate.kernel.random import new_rng
from afterstate.search import max_n
from many import one_in
from oracles.kalah_solver import margin
from oracles.solver import Solver

GAMES = 10_000
game = games.load("kalah")

# First player's result in Kalah(houses, seeds) with empty capture, one row per number of houses,
# seeds from 1 on:
# G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000 (the part that is
# solved in seconds here).
PUBLISHED = {1: "DLWLWD", 2: "WLLLWW", 3: "DWWWW", 4: "WWW", 5: "DD", 6: "WW"}


@pytest.mark.parametrize(
    "params",
    one_in(
        4, [{}, {"margin": True}, {"houses": 3, "seeds": 9, "empty_capture": True}, {"houses": 1}]
    ),
    ids=str,
)
def test_conforms(params):
    report = conformance.check(games.load("kalah", **params), games=40)
    # with margin, keys leave out the seeds won
    assert (
        len(report.notes) == bool(params.get("margin")) and report.checks["terminal states"] >= 40
    )


def test_counts_of_sowings():
    assert [counts.perft(game, depth) for depth in range(1, 7)] == [6, 35, 185, 942, 4690, 23233]
    assert counts.perft(game, 1, unit="turn") > 6  # an extra turn belongs to the turn before


@pytest.mark.slow
def test_random_games_equal_openspiel():
    oracle, random = pyspiel.load_game("mancala"), np.random.default_rng(1)
    rng, moves, score = new_rng(0), np.zeros(6, np.int32), np.zeros(2)
    ends = {1: 0, -1: 0, 0: 0}
    for _ in range(GAMES):
        s, theirs = game.start(), oracle.new_initial_state()
        player, n = advance(game.rules, s, -1, rng, moves, score)
        for number in random.integers(1 << 30, size=300).tolist():
            legal = moves[:n].tolist()
            assert (
                player == theirs.current_player()
                and [1 + 7 * player + a for a in legal] == theirs.legal_actions()
            )
            action = legal[number % n]
            theirs.apply_action(1 + 7 * player + action)
            player, n = advance(game.rules, s, action, rng, moves, score)
            if player < 0 or theirs.is_terminal():
                break
        assert player < 0 and theirs.is_terminal() and score.tolist() == theirs.returns()
        seen = theirs.observation_tensor(0)[:14]
        assert s[:14].tolist() == [*seen[1:], seen[0]]
        ends[int(score[0])] += 1
    share = [ends[result] / GAMES for result in (1, 0, -1)]
    assert share == pytest.approx([0.482, 0.064, 0.454], abs=0.02)  # four standard deviations


@pytest.mark.slow
def test_published_results_of_small_boards():
    for houses, results in PUBLISHED.items():
        for seeds, result in enumerate(results, 1):
            assert "DWL"[np.sign(margin(houses, seeds, empty_capture=True))] == result, (
                houses,
                seeds,
            )


@pytest.mark.slow
@pytest.mark.parametrize("empty_capture", [False, True])
def test_margins_of_small_boards_by_three_searches(empty_capture):
    different = 0
    for houses, seeds in ((1, 2), (1, 6), (2, 3), (2, 4), (3, 2), (3, 3), (4, 1)):
        small = games.load(
            "kalah", houses=houses, seeds=seeds, empty_capture=empty_capture, margin=True
        )
        outcome = games.load("kalah", houses=houses, seeds=seeds, empty_capture=empty_capture)
        value = max_n.solve(small).value[0]
        assert (
            value == margin(houses, seeds, empty_capture) == Solver(small, 16).value(small.start())
        )
        assert np.sign(value) == max_n.solve(outcome).value[0]
        different += value != 0
    assert different >= 5


def position(first, second, stores=(0, 0), mover=0, **params):
    """A state of a game with as many houses as given.

    The stores take what the seeds do not fill.
    """
    total = sum(first) + sum(second) + sum(stores)
    assert total % (2 * len(first)) == 0
    made = games.load("kalah", houses=len(first), seeds=total // (2 * len(first)), **params)
    return made, np.array([*first, stores[0], *second, stores[1], mover], np.int32)


def test_capture_needs_a_seed_opposite_unless_empty_capture():
    made, s = position([1, 0, 3], [2, 5, 1])
    assert made.play(s, 0).tolist() == [0, 0, 3, 6, 2, 0, 1, 0, 1]  # the seed and the five opposite
    made, s = position([1, 0, 3], [2, 0, 6])
    assert made.play(s, 0).tolist() == [0, 1, 3, 0, 2, 0, 6, 0, 1]
    made, s = position([1, 0, 3], [2, 0, 6], empty_capture=True)
    assert made.play(s, 0).tolist() == [0, 0, 3, 1, 2, 0, 6, 0, 1]
    made, s = position([2, 5, 1], [0, 1, 3], mover=1)
    assert made.play(s, 1).tolist() == [2, 5, 1, 0, 0, 0, 4, 0, 0]  # c: behind it nothing was empty


def test_lap_into_the_emptied_house_captures():
    made, s = position([7, 0, 1], [1, 0, 3])  # seven seeds go round six houses and one store
    # 1 + the four that lay opposite by then, and one sown
    assert made.play(s, 0).tolist() == [0, 1, 2, 6, 2, 1, 0, 0, 1]


def test_extra_turn_and_its_end():
    s = game.play(game.start(), 2)
    assert game.player(s) == 0 and s[6] == 1
    made, s = position([0, 0, 1], [2, 0, 3])
    # the last seed in the store would be an extra turn, but the houses are empty
    over = made.play(s, 2)
    assert (
        made.over(over) and made.score(over).tolist() == [-1, 1] and made.legal(over).tolist() == []
    )
    margin, s = position([0, 0, 1], [2, 0, 3], margin=True)
    assert margin.score(s).tolist() == [0, 0] and margin.score(margin.play(s, 2)).tolist() == [
        -4,
        4,
    ]


def test_sowing_passes_the_opponents_store():
    made, s = position([1, 0, 5], [6, 0, 0])
    assert made.play(s, 2).tolist() == [2, 0, 0, 1, 7, 1, 1, 0, 1]


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
    assert [game.action_name(s, a) for a in (0, 5)] == ["a", "f"] and game.action_name(
        game.start(), 0
    ) == "A"
    with pytest.raises(ValueError, match="48 seeds are on the board, not 47"):
        game.parse(game.render(s).replace("2  second", "1  second"))
    with pytest.raises(ValueError, match="6 houses, the two stores"):
        game.parse("4 4 4")
    with pytest.raises(ValueError, match="seeds must be a whole number of at least 1, not 0"):
        games.load("kalah", seeds=0)
    with pytest.raises(ValueError, match="do not fit into a key"):
        games.load("kalah", houses=9)


def test_picture_shows_values_in_the_movers_houses():
    drawing = view(
        game, game.play(game.start(), 0), values={a: a / 10 for a in range(6)}
    )._repr_svg_()
    assert drawing.count("+0.30") == 1 and drawing.startswith("<svg")
