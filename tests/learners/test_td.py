"""The compiled learner against a slow reference, analytic fixed points, and itself."""

import math

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import network_session, td, td_parameters
from afterstate.networks import lookup
from afterstate.networks.lookup import features
from many import one_in
from oracles.reference_td import Reference, Settings, Splitmix64
from sample_games import chain, track

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]


RACE, CHAIN = track(), chain(5)
BASE = {
    "tictactoe": {"alpha": [1.0, 0.5], "epsilon": [0.3, 0.1]},
    # Sums of different weights for symmetric moves tie only up to rounding, so with several tuples
    # every move is explored.
    "lines": {"alpha": 0.4, "epsilon": 1.0, "tuples": LINES},
    "race": {
        "alpha": 0.3,
        "epsilon": 0.2,
        "tuples": [[0, 1, 2], [0, 2], [1, 2]],
        "lambda_": 0.5,
        "sigmoid": False,
    },
    "nim": {"alpha": 0.5, "epsilon": 0.2, "lambda_": 0.5, "tc": "id"},
    # extra turns: the same player moves again
    "kalah": {"alpha": 0.4, "epsilon": 1.0, "tuples": [[0, 1], [2, 3], [6, 7]]},
    "nim3p": {
        "alpha": 0.2,
        "epsilon": 0.15,
        "lambda_": 0.5,
        "horizon_cut": 0.01,
        "trace": "RESET",
        "tc": "id",
        "tuples": [[0, 1, 2], [0, 1, 2]],
        "choose_start": True,
        "learn_from_random": False,
    },
}
TRACE = {"lambda_": 0.5, "horizon_cut": 0.1}
MOVE = {"step_back": "move", "farl": "off"}
CASES = [(game, {}) for game in BASE] + [
    ("tictactoe", {"tc": "id"}),
    ("tictactoe", {"tc": "exp", **TRACE}),
    ("tictactoe", TRACE),
    ("tictactoe", {"choose_start": True}),
    ("tictactoe", {"farl": "off"}),
    ("tictactoe", {"greedy": "value"}),
    ("lines", {"farl": "first"}),
    ("lines", {"farl": "second"}),
    ("lines", {"terminal_target": "literal"}),
    ("nim3p", {"horizon_cut": 0.2}),
    ("tictactoe", {"distinct_symmetries": False}),
    ("tictactoe", {"distinct_symmetries": False, "tc": "id", "inhibit_counters": False}),
    ("tictactoe", {"learn_start_state": True, **TRACE}),
    ("tictactoe", {"learn_from_random": False, **TRACE}),
    ("tictactoe", {"learn_from_random": False, "random_move_rule": "source", **TRACE}),
    (
        "tictactoe",
        {"learn_from_random": False, "random_move_rule": "source", "trace": "RESET", **TRACE},
    ),
    ("tictactoe", {"newest_ns": True, **TRACE}),
    ("tictactoe", {"max_plies": 6}),
    ("tictactoe", {"step_reward": -0.04, "gamma": 0.9}),
    ("lines", {"tc": "exp"}),
    ("lines", {"tc": "id", "inhibit_counters": False}),
    ("lines", {"tc": "id", "tc_accumulate": "delta", **TRACE}),
    ("lines", {"distinct_symmetries": False, "inhibit_counters": False, "tc": "exp", **TRACE}),
    ("lines", {"sigmoid": False}),
    ("nim", {"tc": "none"}),
    ("nim", {"tc": "exp", "alpha": [0.9, 0.2], "alpha_schedule": "geometric"}),
    ("nim", {"lambda_": 0.0}),
    ("nim", {"tc": "exp", "tc_accumulate": "delta", "beta": 1.3, "tc_init": 0.1}),
    ("nim", {"trace_across_episodes": True}),
    ("nim", {"learn_from_random": False, "trace": "RESET", "trace_across_episodes": True}),
    ("nim", {"learn_start_state": True, "learn_from_random": False, "random_move_rule": "source"}),
    ("nim3p", {"trace": "ET"}),
    ("nim3p", {"learn_from_random": True, "tc": "exp"}),
    ("nim3p", {"farl": "off"}),
    ("race", {"tc": "id", "gamma": 0.9}),
    ("race", {"greedy": "value", "learn_start_state": True}),
    ("race", {"terminal_target": "literal", "learn_from_random": False}),
    ("race", {"max_plies": 5, "sigmoid": True, "tc": "exp"}),
    ("tictactoe", MOVE),
    ("tictactoe", {**MOVE, "farl": "second", "tc": "exp", "learn_start_state": True}),
    ("lines", {**MOVE, "gamma": 0.9}),
    ("nim", {**MOVE, "lambda_": 0.0}),
    ("nim", {**MOVE, "lambda_": 0.0, "learn_from_random": False, "terminal_target": "literal"}),
    ("kalah", MOVE),
    ("nim3p", {"random_move_rule": "source", "lambda_": 0.8, "sigmoid": False}),
    ("nim3p", {"max_plies": 7, "step_reward": 0.1}),
]


def settings_of(params):
    """The reference's settings for the learner's parameters."""
    p = td_parameters.DEFAULTS | params

    def pair(value):
        return tuple(value) if isinstance(value, list) else (value, value)

    return Settings(
        episodes=p["episodes"],
        alpha=pair(p["alpha"]),
        alpha_geometric=p["alpha_schedule"] == "geometric",
        epsilon=pair(p["epsilon"]),
        gamma=p["gamma"],
        lambda_=p["lambda_"],
        horizon_cut=p["horizon_cut"],
        sigmoid=p["sigmoid"],
        multiplicity=not p["distinct_symmetries"],
        newest_num_boards=p["newest_ns"],
        farl_others=p["farl"] in ("on", "first"),
        farl_terminal=p["farl"] in ("on", "second"),
        literal_target=p["terminal_target"] == "literal",
        literal_greedy=p["greedy"] == "value",
        learn_random=p["learn_from_random"],
        random_source=p["random_move_rule"] == "source",
        trace_reset=p["trace"] == "RESET",
        trace_kept=p["trace_across_episodes"],
        learn_start=p["learn_start_state"],
        tc=None if p["tc"] == "none" else p["tc"],
        tc_beta=p["beta"],
        tc_init=p["tc_init"],
        tc_delta=p["tc_accumulate"] == "delta",
        tc_every=not p["inhibit_counters"],
        step_reward=p["step_reward"],
        max_plies=p["max_plies"] or 10**9,
        random_start=p["choose_start"],
        one_move_back=p["step_back"] == "move",
    )


def reference_tables(session, reference):
    """The reference's dictionaries as an array like ours: [players, entries, (w, N, A)]."""
    players, size = session.net.weights.shape
    tables = np.zeros((players, size, 3))
    tables[:, :, 1:] = reference.set.tc_init
    for p in range(players):
        offset = 0
        for i, cells in enumerate(session.net.tuples):
            for column, part in enumerate((reference.weights, reference.sums, reference.absolutes)):
                for j, x in part[p][i].items():
                    tables[p, offset + j, column] = x
            offset += int(np.prod(session.game.num_codes[cells], dtype=np.int64))
    return tables


@pytest.mark.parametrize(
    "name, changes",
    one_in(20, CASES),
    ids=lambda x: x if isinstance(x, str) else "-".join(f"{k}={v}" for k, v in x.items()) or "base",
)
def test_learner_gives_the_weights_of_the_reference(name, changes):
    game = RACE if name == "race" else games.load("tictactoe" if name == "lines" else name)
    params = {"episodes": 150, "precision": "float64", **BASE[name], **changes}
    session = td.Session(game, params, seed=3)
    reference = Reference(
        game, session.net.tuples, settings_of(params), Splitmix64(session.mem.rng[0])
    )
    for _ in range(3):
        session.train(50)
        reference.train(50)
        assert (session.moves, int(session.mem.rng[0])) == (reference.moves, reference.stream.state)
    weights, counters = (
        session.net.weights,
        session.net.arrays.counters.reshape(game.players, -1, 2),
    )
    # without temporal coherence there are none: the reference's must be at their start
    if not counters.size:
        counters = np.full((*weights.shape, 2), session.params["tc_init"])
    tables = np.concatenate([weights[:, :, None], counters], axis=2)
    assert np.abs(tables - reference_tables(session, reference)).max() < 1e-12
    # there the player who moves last gets 0
    nothing_to_learn = name == "nim3p" and changes.get("farl") == "off"
    assert nothing_to_learn or np.count_nonzero(tables[:, :, 0]) > 20


# ------------------------------------------------------------------------------------- fixed points

STEP = 1.0 / 16  # sums of such numbers are exact
LINEAR = {"sigmoid": False, "alpha": 1.0, "epsilon": 0.0, "precision": "float64"}


def chain_values(session):
    """V of the afterstates 1 .. length of the chain."""
    return [session.net.value([k], 0) for k in range(1, 6)]


@pytest.mark.parametrize("tuples", [[[0]], [[0], [0]]], ids=["one tuple", "two tuples"])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_chain_reaches_its_values_exactly_with_alpha_one(tuples, gamma):
    session = td.Session(
        CHAIN, {**LINEAR, "tuples": tuples, "gamma": gamma, "step_reward": -STEP}, 0
    )
    session.train(5)
    expected = [0.0, 1.0 - STEP]  # the terminal afterstate, and the one before it
    while len(expected) < 5:
        expected.append(-STEP + gamma * expected[-1])
    assert chain_values(session) == expected[::-1]


def test_chain_converges_with_small_steps_and_tanh():
    session = td.Session(CHAIN, {"alpha": 0.3, "step_reward": -STEP, "precision": "float64"}, 0)
    session.train(20_000)
    assert chain_values(session) == pytest.approx(
        [1 - k * STEP for k in (4, 3, 2, 1)] + [0.0], abs=1e-9
    )


def test_truncated_episode_says_nothing_about_its_last_state():
    session = td.Session(CHAIN, {**LINEAR, "step_reward": -STEP, "max_plies": 3}, 0)
    session.train(10)
    assert chain_values(session) == [-2 * STEP, -STEP, 0.0, 0.0, 0.0]
    assert session.statistics()["truncated"] == 10
    assert session.moves == 30


def test_start_state_is_learned_on_demand():
    for learn, expected in ((False, 0.0), (True, 1.0)):
        session = td.Session(CHAIN, {**LINEAR, "learn_start_state": learn}, 0)
        session.train(6)
        assert session.net.value([0], 0) == expected


@pytest.mark.parametrize("cut, reached", [(0.5, 2), (0.25, 3), (0.2, 3), (0.0625, 4)])
def test_eligibility_reaches_back_as_far_as_the_horizon(cut, reached):
    session = td.Session(CHAIN, {**LINEAR, "lambda_": 0.5, "horizon_cut": cut}, 0)
    session.train(1)  # one error of 1 at the end, 4 afterstates before it
    assert chain_values(session) == [0.5**age if age < reached else 0.0 for age in (3, 2, 1, 0)] + [
        0.0
    ]


def test_no_final_adaptation_leaves_the_loser_ignorant():
    session = td.Session(games.load("tictactoe"), {"farl": "off", "epsilon": 1.0, "alpha": 0.5}, 0)
    session.train(300)
    values = session.net.weights
    assert values.max() > 0.1 and values.min() >= 0.0


def test_one_move_back_teaches_the_loser_without_final_adaptation():
    session = td.Session(games.load("tictactoe"), {**MOVE, "epsilon": 1.0, "alpha": 0.5}, 0)
    session.train(300)
    assert session.net.weights.min() < -0.1


def test_one_move_back_equals_one_round_back_for_a_single_player():
    found = []
    for step_back in ("round", "move"):
        session = td.Session(
            CHAIN, {**LINEAR, "alpha": 0.3, "farl": "second", "step_back": step_back}, 0
        )
        session.train(20)
        found.append(chain_values(session))
    assert found[0] == found[1] and found[0][0] > 0


def test_one_move_back_moves_the_afterstate_before_to_what_its_successor_costs():
    """One game of Nim with a single heap of three: values by hand, alpha = 1."""
    # the players take one each: the first one wins
    game = games.load("nim", heaps=1, stones=3, take=1)
    session = td.Session(game, {**LINEAR, **MOVE, "gamma": 0.5}, 0)
    session.train(3)
    values = session.net.weights
    assert values[1, 1] == -1.0  # one stone left by the second player: the first takes it and wins
    assert values[0, 2] == 0.5  # two stones left by the first player: - gamma V(one stone left)


@pytest.mark.parametrize(
    "game, params, message",
    [
        ("nim3p", MOVE, "is for two players, but .* has 3"),
        ("race", MOVE, "opposite rewards"),
        ("nim", {"step_back": "move"}, "farl='off'"),
        ("nim", {**MOVE, "lambda_": 0.5}, "lambda_=0"),
        ("nim", {**MOVE, "step_reward": 0.1}, "step_reward=0"),
    ],
    ids=str,
)
def test_one_move_back_says_where_it_has_no_meaning(game, params, message):
    with pytest.raises(ValueError, match=message):
        td.Session(RACE if game == "race" else games.load(game), params, 0)


@pytest.mark.parametrize("tuples", ["all", LINES], ids=["one 9-tuple", "five lines"])
@pytest.mark.parametrize("distinct", [True, False], ids=["distinct boards", "all boards"])
def test_alpha_one_moves_a_linear_value_to_its_target(tuples, distinct):
    """[konen2021] footnote 13, for afterstates with repeated indices and repeated boards too."""
    game = games.load("tictactoe")
    for seed in range(20):
        params = {
            **LINEAR,
            "epsilon": 1.0,
            "tuples": tuples,
            "distinct_symmetries": distinct,
            "farl": "first",
        }
        session = td.Session(game, params, seed)
        reference = Reference(
            game, session.net.tuples, settings_of(params), Splitmix64(session.mem.rng[0])
        )
        session.train(1)
        reference.train(1)
        mover = next(p for p in (0, 1) if game.over(reference.last[p]))
        loser = 1 - mover
        expected = game.score(reference.last[mover])[loser]
        assert session.net.value(reference.last[loser], loser) == pytest.approx(expected, abs=1e-12)


# ----------------------------------------------------------------------------------------- sessions

RUNS = [
    ("tictactoe", {"tc": "exp", **TRACE}),
    ("nim3p", {}),
    ("race", {"trace_across_episodes": True}),
]


def session_for(name, changes, seed=5):
    game = RACE if name == "race" else games.load(name)
    return td.Session(
        game, {"episodes": 100, **BASE[name], **changes, "precision": "float64"}, seed
    )


@pytest.mark.parametrize("name, changes", RUNS, ids=[name for name, _ in RUNS])
def test_training_in_parts_gives_the_same_bits(name, changes):
    whole, parts, resumed = (session_for(name, changes) for _ in range(3))
    whole.train(90)
    for n in (1, 0, 12, 30):
        parts.train(n)
    resumed.train(3)  # what a checkpoint replaces must not matter
    resumed.load_state_dict({k: v.copy() for k, v in parts.state_dict().items()})
    assert (resumed.episode, resumed.moves, resumed.net.checksum()) == (
        43,
        parts.moves,
        parts.net.checksum(),
    )
    for session in (parts, resumed):
        session.train(47)
        assert session.statistics() == whole.statistics()
        for k, array in whole.state_dict().items():
            assert np.array_equal(array, session.state_dict()[k]), k


def test_candidates_computed_from_one_another_have_the_indices_and_weights_of_their_boards():
    """In Othello a move changes the marks of legal cells: most candidates follow the one before."""
    game = games.load("othello")
    session = td.Session(
        game,
        {"alpha": 0.0, "epsilon": 0.0, "max_plies": 20, "tuples": {"random_walk": 20, "length": 6}},
        seed=1,
    )
    session.net.weights[:] = np.random.default_rng(1).normal(0.0, 0.01, session.net.weights.shape)
    session.train(1)  # alpha = 0: what its choices looked up has not changed since
    mem, index = session.mem, np.zeros_like(session.mem.index[0])
    rows = np.flatnonzero(mem.ns)
    assert mem.near[1] == lookup.NOW and (mem.near[rows] > 0).sum() > 5
    # with all look-ups, and with some spared
    assert {True, False} == set((mem.num_changed[rows[1:]] < 0).tolist())
    for row in rows:
        features(session.net.arrays, mem.cells[row], index)
        assert np.array_equal(index, mem.index[row]), row
        assert any(
            np.array_equal(weights[index], mem.weight[row]) for weights in session.net.weights
        ), row


def test_seed_decides_the_run():
    sums = [session_for("nim", {}, seed) for seed in (1, 1, 2)]
    for session in sums:
        session.train(50)
    a, b, c = (session.net.checksum() for session in sums)
    assert a == b != c


def test_checkpoint_of_another_shape_is_refused():
    session, other = session_for("nim", {}), session_for("nim", {"horizon_cut": 0.01})
    before = session.net.checksum()
    with pytest.raises(ValueError, match="does not fit"):
        session.load_state_dict(other.state_dict())
    with pytest.raises(ValueError, match="'weights'"):
        session.load_state_dict(session_for("nim3p", {}).state_dict())
    with pytest.raises(ValueError, match="'head'"):
        session.load_state_dict({k: v for k, v in session.state_dict().items() if k != "head"})
    assert session.net.checksum() == before


def test_negative_number_of_episodes_is_refused():
    with pytest.raises(ValueError, match="-1"):
        session_for("nim", {}).train(-1)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"espilon": 0.1}, "did you mean 'epsilon'"),
        ({"episodes": 0}, "at least 1"),
        ({"episodes": 10.0}, "whole number"),
        ({"episodes": True}, "whole number"),
        ({"epsilon": -0.1}, "between 0 and 1"),
        ({"epsilon": [0.1, 1.2]}, "between 0 and 1"),
        ({"alpha": [1.0, 0.5, 0.1]}, "first, last"),
        ({"alpha": "1.0"}, "must be a number"),
        ({"alpha": math.nan}, "finite|at least"),
        ({"alpha": -1.0}, "at least 0"),
        ({"tc": "TC-id"}, "'id'"),
        ({"tc": None}, "'none'"),
        ({"sigmoid": 1}, "True or False"),
        ({"max_plies": -1}, "at least 0"),
        ({"lambda_": 1.0}, "endless trace"),
        ({"lambda_": 0.5, "horizon_cut": 0.0}, "endless trace"),
        ({"gamma": 1.5}, "between 0 and 1"),
        ({"tc": "id", "tc_init": 0.0}, "above 0"),
        ({"farl": True}, "'on'"),
        ({"precision": "float16"}, "'float32'"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message) as caught:
        td.Session(games.load("nim"), params, 0)
    assert next(iter(params)) in str(caught.value)


def test_an_episode_without_end_is_an_error_with_its_remedy(monkeypatch):
    monkeypatch.setattr(network_session, "LONGEST", 4)  # Tic-Tac-Toe takes at least five moves
    with pytest.raises(RuntimeError, match="did not end within 4 moves: give the learner max_pl"):
        td.Session(games.load("tictactoe"), {}, 1).train(1)
    td.Session(games.load("tictactoe"), {"max_plies": 3}, 1).train(1)
