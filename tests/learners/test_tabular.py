"""The compiled Q-learner against plain Python, the paper's worked example, and itself."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.arena.contest import contest
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng, random_int
from afterstate.learners import tabular, tabular_parameters
from afterstate.networks import table
from afterstate.networks.table import NONE
from afterstate.players import agents
from oracles.reference_tabular import Reference

TICTACTOE, NIM = games.load("tictactoe"), games.load("nim")
LOOP = {"initial_q": 0.6, "last_move": "set", "epsilon": 0.0, "learner_seat": "second"}


def corridor():
    """One player walks `right` or `left` on places 0 to 3 against one who only passes.

    The right end wins, 9 turns lose. Two turns in a row on place 2.
    """

    def start(s, rng):  # place, mover, turns
        s[:] = 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2 if s[1] == 0 else 1

    def play(s, action):
        if s[1] == 0:
            s[0] = max(s[0] + 2 * action - 1, 0)
        s[2] += 1
        s[1] = 0 if s[1] == 1 or s[0] == 2 else 1

    def player(s):
        return s[1]

    def over(s):
        return s[0] == 3 or s[2] >= 9

    def score(s, r):
        r[0] = 0.0 if s[0] < 3 and s[2] < 9 else 1.0 if s[0] == 3 else -1.0
        r[1] = -r[0]

    def board(s, codes):
        codes[0] = s[0]

    return Game(
        "corridor",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        players=2,
        actions=2,
        max_legal=2,
        size=3,
        num_codes=[4],
    )


def entries(net):
    """The table as a dictionary (owner, key, action) -> Q."""
    found = {}
    for state in range(net.states):
        entry = net.table.newest[state]
        while entry != NONE:
            key = tuple(int(k) for k in net.table.keys[state])
            found[int(net.table.owner[state]), key, int(net.table.action[entry])] = net.table.q[
                entry
            ]
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
        (corridor(), {"epsilon": 0.5}),
        (TICTACTOE, LOOP | {"teacher": "non-deterministic"}),
        (TICTACTOE, LOOP | {"ties": "first", "draw_reward": 0.5}),
        (NIM, {"initial_q": -0.25, "last_move": "set", "ties": "first"}),
    ],
    ids=lambda x: getattr(x, "name", None) or "-".join(map(str, x.values())) or "default",
)
def test_equals_a_dictionary_bit_for_bit(game, settings):
    session = tabular.Session(game, settings, seed=7)
    session.train(400)
    renamed = {k: v for k, v in settings.items() if k != "draw_reward"}
    reference = Reference(game, 7, **renamed, rewards=(1.0, settings.get("draw_reward", 0.0), -1.0))
    for _ in range(400):
        reference.play()
    assert int(session.work.rng[0]) == reference.rng.state
    assert entries(session.net) == reference.q and len(reference.q) > 5
    assert session.net.outcomes.tolist() == reference.outcomes


def test_worked_example_of_figure_1():
    """The learner wins with its third move.

    0.4, then 0.4 * 0.9 * 0.4 = 0.144, and 0.4 * 0.9 * 0.144 = 0.05184.
    """
    net, line = table.QTable(TICTACTOE), [4, 0, 2, 1, 6]
    tabular.learn_from_game(net, line, player=0)
    found = [max(net.action_values(TICTACTOE.after(line[:k]))) for k in (4, 2, 0)]
    assert found == pytest.approx([0.4, 0.144, 0.05184], abs=1e-15)
    # the other player's states are not learned
    assert net.entries == 3 and not net.action_values(TICTACTOE.after(line[:1])).any()
    tabular.learn_from_game(net, line, player=1)
    # max over untried: 0
    assert (
        min(net.action_values(TICTACTOE.after(line[:3]))) == -0.4
        and not net.action_values(TICTACTOE.after(line[:1])).any()
    )
    with pytest.raises(ValueError, match="not over"):
        tabular.learn_from_game(net, line[:3], player=0)


def test_the_last_move_may_be_set_and_values_may_begin_elsewhere():
    """0.6 at first: 1, then 0.4 * 0.9 * 1 + 0.6 * 0.6 = 0.72, and 0.4 * 0.9 * 0.72 + 0.36."""
    net, line = table.QTable(TICTACTOE, initial=0.6), [4, 0, 2, 1, 6]
    tabular.learn_from_game(net, line, player=0, last_move="set")
    found = [net.action_values(TICTACTOE.after(line[:k])) for k in (4, 2, 0)]
    assert [max(values) for values in found] == pytest.approx([1.0, 0.72, 0.6192], abs=1e-15)
    assert all(np.isclose(values, 0.6).sum() == len(values) - 1 for values in found)
    # the first opponent's moves were not learned from
    assert (net.action_values(TICTACTOE.after(line[:1])) == 0.6).all()


def test_the_first_of_equal_values_is_played_without_chance(tmp_path):
    net = table.QTable(TICTACTOE, initial=0.6, ties="first")
    agent = agents.learned(net)
    assert agent.policy(TICTACTOE.start()).tolist() == [1.0] + [0.0] * 8
    net.put(TICTACTOE.start(), 5, 0.7)
    net.put(TICTACTOE.start(), 7, 0.7)
    assert agent.policy(TICTACTOE.start()).argmax() == 5
    assert contest(TICTACTOE, agent, agent, 5, 1).distinct == 1
    net.save(tmp_path / "q.npz")
    again = table.load(tmp_path / "q.npz", TICTACTOE)
    assert (again.ties, again.table.initial, again.checksum()) == ("first", 0.6, net.checksum())
    usual = table.QTable(TICTACTOE)
    for action in (5, 7):
        usual.put(TICTACTOE.start(), action, 0.7)
    assert usual.checksum() != net.checksum() and "ties" not in usual.settings


@pytest.mark.parametrize("teacher", tabular_parameters.TEACHERS)
def test_training_in_pieces_and_across_a_checkpoint_gives_the_same_bits(teacher):
    settings = {"teacher": teacher, "teacher_games": 100, "snapshots": [50, 130]}
    whole, pieces = (
        tabular.Session(TICTACTOE, settings, seed=3),
        tabular.Session(TICTACTOE, settings, seed=3),
    )
    whole.train(300)
    pieces.train(60)
    saved = {name: array.copy() for name, array in pieces.state_dict().items()}
    pieces.train(1)  # what happens after the checkpoint must not matter
    resumed = tabular.Session(TICTACTOE, settings, seed=3)
    resumed.load_state_dict(saved)
    assert resumed.episode == 60
    for n in (1, 100, 139):
        resumed.train(n)
    assert (
        resumed.net.checksum() == whole.net.checksum()
        and resumed.statistics() == whole.statistics()
    )
    assert (
        (resumed.work.rng == whole.work.rng).all()
        and resumed.net.teacher is not None
        or teacher == "twin"
    )


def test_snapshots_are_the_table_of_that_time():
    session, early = (
        tabular.Session(TICTACTOE, {"snapshots": [40, 500]}, seed=5),
        tabular.Session(TICTACTOE, {}, seed=5),
    )
    session.train(2000)
    early.train(40)
    old = session.net.snapshot(40)
    assert entries(old.copy()) == entries(early.net) and len(entries(early.net)) < len(
        entries(session.net)
    )
    for s in (TICTACTOE.start(), TICTACTOE.after([4]), TICTACTOE.after([4, 0, 8])):
        assert old.action_values(s).tolist() == early.net.action_values(s).tolist()
    a = contest(TICTACTOE, agents.learned(old), agents.chance(TICTACTOE), 200, 9)
    b = contest(TICTACTOE, agents.learned(early.net), agents.chance(TICTACTOE), 200, 9)
    assert (a.paths == b.paths).all()
    assert session.net.snapshot(2000) is session.net
    with pytest.raises(LookupError, match=r"after 41 games, only after \[40, 500\]"):
        session.net.snapshot(41)


def test_growing_changes_nothing(monkeypatch):
    large = tabular.Session(TICTACTOE, {}, seed=2)
    large.train(500)
    monkeypatch.setattr(table, "FIRST_CAPACITY", 2)
    monkeypatch.setattr(tabular, "FIRST_TRACE", 2)
    small = tabular.Session(TICTACTOE, {}, seed=2)
    small.train(500)
    assert small.net.checksum() == large.net.checksum() and len(small.trace.player) >= 9


def test_files_keep_the_values_and_say_what_is_wrong(tmp_path):
    session = tabular.Session(TICTACTOE, {"snapshots": [10]}, seed=1)
    session.train(100)
    session.net.save(tmp_path / "q.npz")
    net = table.load(tmp_path / "q.npz", TICTACTOE)
    assert entries(net) == entries(session.net) and net.episode == 100
    with pytest.raises(ValueError, match="holds action values of"):
        table.load(tmp_path / "q.npz", NIM)
    content = bytearray((tmp_path / "q.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "q.npz").write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        table.load(tmp_path / "q.npz", TICTACTOE)


def test_a_checkpoint_of_something_else_is_refused():
    session = tabular.Session(TICTACTOE, {"snapshots": [5]}, seed=1)
    session.train(10)
    good = {name: array.copy() for name, array in session.state_dict().items()}
    fresh = tabular.Session(TICTACTOE, {}, seed=1)
    with pytest.raises(ValueError, match="snapshots"):
        fresh.load_state_dict(good)
    for bad in (
        {k: v for k, v in good.items() if k != "q"},
        good | {"q": good["q"][:-1]},
        good | {"counters": np.zeros(2, np.int64)},
        good | {"older": good["older"] + 10_000},
    ):
        with pytest.raises(ValueError, match="fit"):
            tabular.Session(TICTACTOE, {"snapshots": [5]}, seed=1).load_state_dict(bad)


def test_parameters_and_games_are_checked():
    for given, message in (
        ({"alpha": 2}, "between 0 and 1"),
        ({"teacher": "min-max"}, "must be one of"),
        ({"epsilom": 0.1}, "did you mean 'epsilon'"),
        ({"snapshots": [0]}, "list of whole numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            tabular.Session(TICTACTOE, given)
    with pytest.raises(ValueError, match="two players"):
        tabular.Session(games.load("nim3p"), {})
    with pytest.raises(ValueError, match="not negative"):
        tabular.Session(TICTACTOE, {}).train(-1)


def test_learns_nim_from_its_twin_and_plays_in_the_arena():
    session = tabular.Session(NIM, {"gamma": 1.0, "epsilon": 0.5}, seed=4)
    session.train(40_000)
    result = arena.matches(NIM, {"q": session, "best": players.MaxN(15)}, episodes=10, seed=1)
    assert result[(result.player == "q") & (result.seat == 0)].score.mean() > 0.5


# ----------------------------------------------------------------------------------------- teachers


def test_min_max_moves_are_the_best_ones():
    found = agents.best_moves(TICTACTOE)
    assert found.of(TICTACTOE.start()) == list(range(9)) and found.of(TICTACTOE.after([0])) == [4]
    assert found.of(TICTACTOE.parse("x x . o o . . . .")) == [2]
    assert agents.min_max(TICTACTOE).policy(TICTACTOE.start()).tolist() == [1] + [0] * 8


def test_games_between_agents_follow_their_policies():
    game = TICTACTOE
    uniform, first, random = (
        agents.min_max(game, "random"),
        agents.min_max(game),
        agents.chance(game),
    )
    opening = contest(game, uniform, first, 3000, seed=1)
    assert opening.draws == 3000 and 9 <= opening.distinct < 3000
    assert contest(game, first, first, 50, seed=1).distinct == 1
    assert contest(game, first, random, 4000, seed=2).wins / 4000 == pytest.approx(
        191 / 192, abs=0.005
    )
    again = contest(game, first, random, 4000, seed=2)
    assert again.paths.tolist() == contest(game, first, random, 4000, seed=2).paths.tolist()


def test_greedy_breaks_ties_evenly():
    net = table.QTable(NIM)
    rng, counts = new_rng(3), {}
    for _ in range(3000):
        at = agents.new_work(NIM, random_int(rng, 2**31))
        at.state[:] = NIM.start()
        _, n = agents.look_at(NIM.rules, at)
        action = agents.choose(NIM.rules, agents.learned(net).kernel_policy, net.table, at, n)
        counts[action] = counts.get(action, 0) + 1
    assert set(counts) == set(NIM.legal(NIM.start()).tolist()) and max(
        counts.values()
    ) < 1.35 * 3000 / len(counts)


def test_errors_of_tables_and_agents():
    net = table.QTable(TICTACTOE)
    with pytest.raises(ValueError, match="not legal"):
        net.put(TICTACTOE.after([0]), 0, 1.0)
    with pytest.raises(ValueError, match="'first', 'random', not 'last'"):
        agents.min_max(TICTACTOE, ties="last")


def test_min_max_to_a_depth_uses_the_heuristic_and_keeps_its_moves():
    kalah = games.load("kalah")
    found = agents.best_moves(kalah, 2)
    best = players.MinMax(2)
    best.new_match(kalah, [], 0, 0)
    assert (
        found.of(kalah.start())
        == [int(kalah.legal(kalah.start())[np.argmax(best.values(kalah.start()))])]
        == [2]
    )
    first = contest(kalah, agents.min_max(kalah, depth=2), agents.chance(kalah), 40, seed=1)
    kept = found.net.states
    again = contest(kalah, agents.min_max(kalah, depth=2), agents.chance(kalah), 40, seed=1)
    assert (
        first.wins > 30
        and kept > 100
        and found.net.states == kept
        and (first.paths == again.paths).all()
    )


def test_kept_moves_tell_positions_with_other_clocks_apart():
    morris = games.load("morris", men=3)
    agent, at = agents.min_max(morris, depth=2), agents.new_work(morris, 0)
    s = morris.start()
    late = s.copy()
    late[3] = late[4] = 150  # plies without a capture, and in all, which the rule `key` leaves out
    assert morris.key(s) == morris.key(late)
    for state, known in ((s, 0), (late, 1)):
        at.state[:] = state
        _, n = agents.look_at(morris.rules, at)
        assert (
            agent.search.net.states == known
            and agents.choose(morris.rules, agent.kernel_policy, agent.net.table, at, n) < 0
        )
        agent.search.add(state)
