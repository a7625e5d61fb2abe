"""The compiled Q-learner against plain Python, the paper's worked example, and itself."""

import copy

import numpy as np
import pytest

from afterply import games, players
from afterply.learners import tabular
from afterply.networks import table, table_games
from afterply.networks.table import NONE
from afterply.players import agents
from afterply.players.agents import contest
from oracles.reference_tabular import Reference
from sample_games import take_game

TICTACTOE, NIM = games.load("tictactoe"), games.load("nim")
START, LINE = TICTACTOE.start(), [4, 0, 2, 1, 6]  # the first player wins
GEOMETRIC = {"epsilon_schedule": "geometric"}
LOOP = {"initial_q": 0.6, "last_move": "set", "epsilon": 0.0, "learner_seat": "second"}


def trained(episodes, seed=5, game=TICTACTOE, **params):
    session = tabular.Session(game, params, seed)
    session.train(episodes)
    return session


def entries(net):
    """The table as a dictionary (owner, key, action) -> Q."""
    found = {}
    for state in range(net.states):
        entry = net.table.newest[state]
        key = tuple(int(k) for k in net.table.keys[state])
        while entry != NONE:
            name = int(net.table.owner[state]), key, int(net.table.action[entry])
            found[name] = net.table.q[entry]
            entry = net.table.older[entry]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "game, settings",
    [
        (TICTACTOE, {}),
        (TICTACTOE, {"teacher": "deterministic", "epsilon": 0.1}),
        (TICTACTOE, {"teacher": "non-deterministic", "draw_reward": 0.5}),
        (TICTACTOE, {"teacher": "random", "learner_seat": "second", "epsilon": 0.0}),
        (NIM, {"twin": "separate", "alpha": 1.0, "gamma": 0.5}),
        (NIM, {"teacher": "non-deterministic", "learner_seat": "first"}),
        (take_game(extra_turn=True), {"epsilon": 0.5}),
        # it falls in 100 of the 150 games, to 0
        (TICTACTOE, {"epsilon": [1.0, 0.0], "epsilon_games": 100, "learner_seat": "first"}),
        (TICTACTOE, {"epsilon": [1.0, 0.01], "epsilon_games": 100} | GEOMETRIC),
        (TICTACTOE, LOOP | {"teacher": "non-deterministic"}),
        (TICTACTOE, LOOP | {"ties": "first", "draw_reward": 0.5}),
    ],
    ids=lambda x: getattr(x, "name", None) or "-".join(map(str, x.values())) or "default",
)
def test_equals_a_dictionary_bit_for_bit(game, settings):
    session = trained(150, 7, game, **settings)
    reference = Reference(game, 7, **settings)
    for _ in range(150):
        reference.play()
    assert int(session.work.rng[0]) == reference.rng.state
    assert entries(session.net) == reference.q and len(reference.q) > 5
    assert session.net.outcomes.tolist() == reference.outcomes


def test_a_ramp_with_equal_ends_is_the_constant_bit_for_bit():
    constant = trained(300, epsilon=0.3)
    level = trained(300, epsilon=[0.3, 0.3], epsilon_games=70)
    falling = trained(300, epsilon=[0.3, 0.0], epsilon_games=70)
    assert level.net.checksum() == constant.net.checksum() != falling.net.checksum()
    assert level.work.rng[0] == constant.work.rng[0]


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"epsilon": [1.0]}, r"one number or \[first, last\]"),
        ({"epsilon": [1.0, 0.5, 0.0]}, r"one number or \[first, last\]"),
        ({"epsilon": [1.5, 0.0]}, "between 0 and 1"),
        ({"epsilon": [1.0, -0.1]}, "between 0 and 1"),
        ({"epsilon": [1.0, float("nan")]}, "finite"),
        ({"epsilon": [1.0, "0"]}, "must be a number"),
        ({"epsilon": [1.0, 0.0], "epsilon_games": 0}, "at least 1"),
        ({"epsilon": [1.0, 0.0]} | GEOMETRIC, r"both ends must be above 0, such as \[1.0, 0.01\]"),
    ],
)
def test_a_ramp_that_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        tabular.Session(TICTACTOE, wrong)


@pytest.mark.parametrize(
    "initial, params, expected",
    [
        # 0.4, then 0.4 * 0.9 * 0.4 = 0.144, and 0.4 * 0.9 * 0.144 = 0.05184
        (0.0, {}, [0.4, 0.144, 0.05184]),
        # 1, then 0.4 * 0.9 * 1 + 0.6 * 0.6 = 0.72, and 0.4 * 0.9 * 0.72 + 0.36
        (0.6, {"last_move": "set"}, [1.0, 0.72, 0.6192]),
    ],
)
def test_worked_example_of_figure_1(initial, params, expected):
    net = table.QTable(TICTACTOE, initial=initial)
    tabular.learn_from_game(net, LINE, player=0, **params)
    found = [max(net.action_values(TICTACTOE.after(LINE[:k]))) for k in (4, 2, 0)]
    assert found == pytest.approx(expected, abs=1e-15)
    # the other player's states are not learned
    assert net.entries == 3 and (net.action_values(TICTACTOE.after(LINE[:1])) == initial).all()
    with pytest.raises(ValueError, match="not over"):
        tabular.learn_from_game(net, LINE[:3], player=0)


def test_the_first_of_equal_values_is_played_without_chance(tmp_path):
    net = table.QTable(TICTACTOE, initial=0.6, ties="first")
    agent = agents.learned(net)
    assert agent.policy(START).tolist() == [1.0] + [0.0] * 8
    for action in (5, 7):
        net.put(START, action, 0.7)
    assert agent.policy(START).argmax() == 5
    assert contest(TICTACTOE, agent, agent, 5, 1).distinct == 1
    net.save(tmp_path / "q.npz")
    again = table.load(tmp_path / "q.npz", TICTACTOE)
    assert (again.ties, again.table.initial, again.checksum()) == ("first", 0.6, net.checksum())


@pytest.mark.parametrize("teacher", tabular.TEACHERS)
def test_training_goes_on_across_a_checkpoint_with_the_same_bits(teacher):
    settings = {"teacher": teacher, "teacher_games": 100, "snapshots": [50, 130]}
    settings |= {"epsilon": [0.5, 0.0], "epsilon_games": 200}
    whole, part = trained(300, 3, **settings), trained(60, 3, **settings)
    resumed = tabular.Session(TICTACTOE, settings, seed=3)
    resumed.load_state_dict(part.state_dict())
    assert resumed.episode == 60 and (resumed.net.teacher is None) == (teacher == "twin")
    resumed.train(240)
    assert resumed.net.checksum() == whole.net.checksum()
    assert resumed.statistics() == whole.statistics()
    with pytest.raises(ValueError, match="fit"):  # other snapshots
        tabular.Session(TICTACTOE, {}).load_state_dict(part.state_dict())


def test_snapshots_are_the_table_of_that_time():
    session, early = trained(2000, snapshots=[40, 500]), trained(40)
    old = session.net.snapshot(40)
    assert entries(old.copy()) == entries(early.net)
    assert len(entries(early.net)) < len(entries(session.net))
    for s in (START, TICTACTOE.after([4]), TICTACTOE.after([4, 0, 8])):
        assert old.action_values(s).tolist() == early.net.action_values(s).tolist()
    assert session.net.snapshot(2000) is session.net
    with pytest.raises(LookupError, match=r"after 41 games, only after \[40, 500\]"):
        session.net.snapshot(41)


def test_growing_changes_nothing(monkeypatch):
    large = trained(500)
    monkeypatch.setattr(table, "FIRST_CAPACITY", 2)
    monkeypatch.setattr(tabular, "FIRST_TRACE", 2)
    small = trained(500)
    assert small.net.checksum() == large.net.checksum() and len(small.trace.player) >= 9


def test_min_max_to_a_depth_plays_the_moves_of_the_player():
    kalah, best = games.load("kalah"), players.MinMax(2)
    best.new_match(kalah, [], 0, 0)
    move = kalah.legal(kalah.start())[np.argmax(best.values(kalah.start()))]
    assert agents.min_max(kalah, depth=2).search.of(kalah.start()) == [move] == [2]


def test_kept_moves_tell_positions_with_other_clocks_apart():
    morris = copy.copy(games.load("morris", men=3))
    morris.fault = None  # a history of 150 plies is no matter here
    agent, at = agents.min_max(morris, depth=2), table_games.new_work(morris, 0)
    s, late = morris.start(), morris.start()
    late[3] = late[4] = 150  # plies without a capture, and in all, which the rule `key` leaves out
    assert morris.key(s) == morris.key(late)
    for known, state in enumerate((s, late)):
        at.state[:] = state
        _, n = table_games.look_at(morris.rules, at)
        assert agent.search.net.states == known
        assert table_games.choose(morris.rules, agent.side.policy, agent.net.table, at, n) < 0
        agent.search.add(state)
