"""How games end: by hand, in games whose ends are known, and refused where there is none."""

import numpy as np
import pytest

from afterstate import games
from afterstate.evaluators.endings import Endings, ending, play_alone
from afterstate.kernel.random import new_rng
from afterstate.learners import sarsa, td
from afterstate.networks.ntuple import Network


def untrained(game):
    return Network(game, [[0]])


def of(name, **kwargs):
    game = games.load(name, **kwargs)
    return Endings(games=60, epsilon=1.0)(game, untrained(game), seed=2)


@pytest.mark.slow
def test_who_wins_by_the_last_move_hears_no_loss():
    for name in ("nim", "connect4", "hex"):
        found = of(name)
        assert found["last mover wins"] + found["last mover draws"] == 100.0
        assert found["wins heard"] == 100.0 and found["losses heard"] == 0.0
        assert found["passes"] == 0.0 and found["distance"] == 1.0


def test_who_takes_the_last_stone_loses():
    found = of("nim", misere=True)
    assert found["last mover loses"] == found["losses heard"] == 100.0
    assert found["wins heard"] == 0.0


def test_three_players_share_a_reward_that_the_last_mover_does_not_get():
    found = of("nim3p")
    assert found["last mover loses"] == 100.0 and found["wins heard"] == 0.0
    assert found["losses heard"] == 50.0  # of the two losers, the one who moves last


@pytest.mark.slow
def test_in_othello_last_movers_win_and_lose():
    found = of("othello")
    assert min(found["last mover wins"], found["last mover loses"]) > 10
    assert min(found["wins heard"], found["losses heard"]) > 10
    assert found["distance"] >= 1.0 and found["passes"] > 0.0


def test_one_game_by_hand():
    """Player 0 moves twice in a row at the end, and loses; player 1 has waited for three plies."""
    moves = [(0, 0.1, 0.0), (1, 0.4, 0.0), (0, 0.2, 0.0), (0, 0.3, 0.0), (0, 0.9, -1.0)]
    found = dict(ending(games.load("othello"), moves, np.array([-1.0, 1.0])))
    assert found == {
        "last mover wins": 0.0,
        "last mover loses": 100.0,
        "last mover draws": 0.0,
        "first player moves last": 100.0,
        "plies": 5.0,
        "passes": 2.0,
        "distance": 3.0,
        "losses heard": 100.0,
        "value:lost": 0.3,  # not of the terminal afterstate
        "wins heard": 0.0,
        "value:won": 0.4,
    }


def test_a_reward_paid_before_the_end_is_heard():
    moves = [(0, 0.0, 0.0), (1, 0.0, 0.0), (0, 0.5, 1.0), (1, -0.5, -1.0)]
    found = dict(ending(games.load("nim"), moves, np.array([1.0, -1.0])))
    assert found["wins heard"] == found["losses heard"] == 100.0
    assert found["value:won"] == 0.5  # it is no terminal one
    draw = dict(ending(games.load("tictactoe"), [(0, 0.0, 0.0), (1, 0.0, 0.0)], np.zeros(2)))
    assert draw["last mover draws"] == 100.0 and "wins heard" not in draw


@pytest.mark.parametrize("learner", [td, sarsa])
def test_values_are_those_of_the_network_when_it_moved(learner):
    game = games.load("tictactoe")
    session = learner.Session(game, {"episodes": 200}, seed=1)
    session.train(200)
    moves, scores = play_alone(game, session.net, 0.0, new_rng(3))
    assert [player for player, _, _ in moves] == [k % 2 for k in range(len(moves))]
    assert moves[-1][2] == scores[moves[-1][0]]
    best = session.net.action_values(game.start()).max()
    assert moves[0][1] == pytest.approx(best, abs=1e-6)


def test_without_final_adaptation_nothing_is_learned_of_nim3p():
    """The last mover always gets 0, and nobody else hears anything."""
    for farl, learned in (("off", False), ("on", True)):
        session = td.Session(games.load("nim3p"), {"farl": farl, "epsilon": 0.5}, seed=1)
        session.train(500)
        assert (session.net.active() > 0) == learned


def test_games_without_an_opponent_or_with_chance_are_refused():
    for name in ("game2048", "cube2"):
        game = games.load(name)
        with pytest.raises(ValueError, match="several players without chance"):
            Endings(games=1)(game, Network(game, [[0]]))
    with pytest.raises(TypeError, match="n-tuple network for nim"):
        Endings(games=1)(games.load("nim"), untrained(games.load("nim3p")))
    for wrong in ({"games": 0}, {"epsilon": 1.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Endings(**wrong)
