"""TD-learning: analytic fixed points, the older scheme, what is refused."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import adaptation, td
from afterstate.networks import lookup
from afterstate.networks.lookup import features
from oracles.reference_td import Reference, Splitmix64
from sample_games import chain, track

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]
RACE, CHAIN, TICTACTOE = track(), chain(5), games.load("tictactoe")
MOVE = {"step_back": "move", "farl": "off"}
STEP = 1.0 / 16  # sums of such numbers are exact
LINEAR = {"sigmoid": False, "alpha": 1.0, "epsilon": 0.0, "precision": "float64"}


def trained(episodes, game=CHAIN, **params):
    made = td.Session(game, params, 0)
    made.train(episodes)
    return made


def chain_values(made):
    """V of the afterstates 1 .. length of the chain."""
    return [made.net.value([k], 0) for k in range(1, 6)]


@pytest.mark.parametrize("tuples", [[[0]], [[0], [0]]], ids=["one tuple", "two tuples"])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_chain_reaches_its_values_exactly_with_alpha_one(tuples, gamma):
    made = trained(5, **LINEAR, tuples=tuples, gamma=gamma, step_reward=-STEP)
    expected = [0.0, 1.0 - STEP]  # the terminal afterstate, and the one before it
    while len(expected) < 5:
        expected.append(-STEP + gamma * expected[-1])
    assert chain_values(made) == expected[::-1]


@pytest.mark.parametrize("cut, reached", [(0.5, 2), (0.25, 3), (0.2, 3), (0.0625, 4)])
def test_eligibility_reaches_back_as_far_as_the_horizon(cut, reached):
    made = trained(1, **LINEAR, lambda_=0.5, horizon_cut=cut)
    # one error of 1 at the end, 4 afterstates before it
    expected = [0.5**age if age < reached else 0.0 for age in (3, 2, 1, 0)]
    assert chain_values(made) == expected + [0.0]


def test_one_move_back_moves_the_afterstate_before_to_what_its_successor_costs():
    """One game of Nim with a single heap of three: values by hand, alpha = 1."""
    # the players take one each: the first one wins
    game = games.load("nim", heaps=1, stones=3, take=1)
    values = trained(3, game, **LINEAR, **MOVE, gamma=0.5).net.weights
    assert values[1, 1] == -1.0  # one stone left by the second player: the first takes it and wins
    assert values[0, 2] == 0.5  # two stones left by the first player: - gamma V(one stone left)


@pytest.mark.parametrize("tuples", ["all", LINES], ids=["one 9-tuple", "five lines"])
@pytest.mark.parametrize("distinct", [True, False], ids=["distinct boards", "all boards"])
def test_alpha_one_moves_a_linear_value_to_its_target(tuples, distinct):
    """[konen2021] footnote 13, for afterstates with repeated indices and repeated boards too."""
    params = LINEAR | {"epsilon": 1.0, "tuples": tuples, "farl": "first"}
    for seed in range(20):
        made = td.Session(TICTACTOE, params | {"distinct_symmetries": distinct}, seed)
        stream = Splitmix64(made.mem.rng[0])
        reference = Reference(TICTACTOE, made.net.tuples, made.params, stream)
        made.train(1)
        reference.train(1)
        mover = next(p for p in (0, 1) if TICTACTOE.over(reference.last[p]))
        expected = TICTACTOE.score(reference.last[mover])[1 - mover]
        value = made.net.value(reference.last[1 - mover], 1 - mover)
        assert value == pytest.approx(expected, abs=1e-12)


def test_candidates_computed_from_one_another_have_the_indices_and_weights_of_their_boards():
    """In Othello a move changes the marks of legal cells: most candidates follow the one before."""
    params = {"alpha": 0.0, "epsilon": 0.0, "max_plies": 20}
    params["tuples"] = {"random_walk": 20, "length": 6}
    made = td.Session(games.load("othello"), params, seed=1)
    made.net.weights[:] = np.random.default_rng(1).normal(0.0, 0.01, made.net.weights.shape)
    made.train(1)  # alpha = 0: what its choices looked up has not changed since
    mem, index = made.mem, np.zeros_like(made.mem.index[0])
    rows = np.flatnonzero(mem.ns)
    assert mem.near[1] == lookup.NOW and (mem.near[rows] > 0).sum() > 5
    # with all look-ups, and with some spared
    assert {True, False} == set((mem.num_changed[rows[1:]] < 0).tolist())
    for row in rows:
        features(made.net.arrays, mem.cells[row], index)
        assert np.array_equal(index, mem.index[row]), row
        assert any(np.array_equal(w[index], mem.weight[row]) for w in made.net.weights), row


@pytest.mark.parametrize(
    "game, params, message",
    [
        ("nim3p", MOVE, "is for two players with opposite rewards, not"),
        ("race", MOVE, "is for two players with opposite rewards, not"),
        ("nim", {"step_back": "move"}, "farl='off'"),
        ("nim", {**MOVE, "lambda_": 0.5}, "lambda_=0.0"),
        ("nim", {**MOVE, "step_reward": 0.1}, "step_reward=0.0"),
        ("nim", {"espilon": 0.1}, "'espilon': did you mean 'epsilon'"),
        ("nim", {"epsilon": [0.1, 1.2]}, "epsilon.* between 0 and 1"),
        ("nim", {"alpha": [1.0, 0.5, 0.1]}, "alpha=.*first, last"),
        ("nim", {"alpha": [1, 0], "alpha_schedule": "geometric"}, "alpha=.* geometrically"),
        ("nim", {"lambda_": 1.0}, "lambda_=1.0 .*endless trace"),
        ("nim", {"lambda_": 0.5, "horizon_cut": 0.0}, "horizon_cut=0.0 .*endless trace"),
        ("nim", {"tc": "id", "tc_init": 0.0}, "tc_init=0.0 must be above 0"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(game, params, message):
    with pytest.raises(ValueError, match=message):
        td.Session(RACE if game == "race" else games.load(game), params, 0)


def test_an_episode_without_end_is_an_error_with_its_remedy(monkeypatch):
    monkeypatch.setattr(adaptation, "LONGEST", 4)  # Tic-Tac-Toe takes at least five moves
    with pytest.raises(RuntimeError, match="did not end within 4 moves: give the learner max_pl"):
        trained(1, TICTACTOE)
    trained(1, TICTACTOE, max_plies=3)
