"""Other readings: convergence in training games, tournaments of learners, first moves, bounds."""

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.arena import exact
from afterstate.arena.contest import contest
from afterstate.evaluators import convergence, learning, openings, snapshot_tables
from afterstate.evaluators.learning import LearningTournament, TrainingGames, learning_contest
from afterstate.evaluators.snapshots import Tournament
from afterstate.learners import tabular
from afterstate.networks import table
from afterstate.players import agents

GAME = games.load("tictactoe")
LOOP = {"initial_q": 0.6, "last_move": "set", "epsilon": 0.0, "learner_seat": "second"}


def trained(episodes=400, **settings):
    session = tabular.Session(GAME, LOOP | {"snapshots": [episodes // 2]} | settings, seed=3)
    session.train(episodes)
    return session


def curve(losses):
    wide = {"training:first:losses": 0, "training:second:losses": np.cumsum(losses)}
    return pd.DataFrame(wide, index=100 * np.arange(1, len(losses) + 1))


def test_convergence_in_training_counts_blocks_of_games():
    losses = [9, 4, 0, 1, 0, 0, 0, 0]
    found = convergence.in_training(curve(losses), cap=700, extra=300)
    assert found == {"convergence_games": 500, "converged": 100.0}
    found = convergence.in_training(curve(losses), cap=700, extra=300, allowed=1)
    assert found["convergence_games"] == 300
    assert convergence.in_training(curve(losses), cap=400, extra=300)["converged"] == 0.0
    assert convergence.in_training(pd.DataFrame(index=[100]), 100) == {}


def test_one_seat_can_be_judged_alone():
    lost = {"own teacher:first:losses": [3, 0, 0], "own teacher:second:losses": [5, 5, 5]}
    points = pd.DataFrame(lost, index=[100, 200, 300])
    assert convergence.convergence(points, 300, extra=100)["converged"] == 0.0
    first = convergence.convergence(points, 300, extra=100, seats=("first",))
    assert first == {"convergence_games": 200, "converged": 100.0}


@pytest.mark.slow
def test_training_games_are_counted_by_seat_and_survive_a_checkpoint():
    session = trained(teacher="random", snapshots=[])
    found = TrainingGames()(GAME, session)
    assert sum(found.values()) == 400 and found["training:second:losses"] > 20
    assert not any(value for name, value in found.items() if ":first:" in name)
    other = tabular.Session(GAME, dict(session.params), seed=3)
    other.train(150)
    half = {name: array.copy() for name, array in other.state_dict().items()}
    again = tabular.Session(GAME, dict(session.params), seed=3)
    again.load_state_dict(half)
    again.train(250)
    assert TrainingGames()(GAME, again) == found
    with pytest.raises(ValueError, match="nobody counted"):
        TrainingGames()(GAME, table.QTable(GAME))


@pytest.mark.slow
def test_learners_who_learn_nothing_play_as_without_learning():
    net = trained(teacher="non-deterministic").net
    me, perfect, chance = agents.learned(net), agents.min_max(GAME, "random"), agents.chance(GAME)
    for pair in ((me, me), (me, perfect), (chance, me), (perfect, chance)):
        fixed = contest(GAME, *pair, games=40, seed=5)
        # a step size of 0 changes nothing but the number of entries
        same = learning_contest(GAME, *pair, {"alpha": 0.0}, games=40, seed=5)
        assert all((a == b).all() for a, b in zip(fixed, same))


@pytest.mark.slow
def test_learners_leave_a_lost_line_and_their_own_table_alone():
    net = trained(ties="first", teacher="deterministic").net
    before, me = net.checksum(), agents.learned(net)
    assert contest(GAME, me, me, 30).distinct == 1
    rule = {name: value for name, value in LOOP.items() if name != "learner_seat"}
    assert learning_contest(GAME, me, me, rule, 30).distinct > 1
    assert net.checksum() == before


@pytest.mark.slow
def test_a_tournament_of_learners_has_the_cells_of_a_tournament():
    session, settings = trained(), {"n": 400, "games": 5, "players": ("Q-100", "Q-50", "R")}
    plain = Tournament(**settings)(GAME, session, 1)
    learners = LearningTournament(**settings, params=(("alpha", 0.9),), label="l: ")
    found = learners(GAME, session, 1)
    assert {f"l: {name}" for name in plain} == set(found)
    cell = [found[f"l: Q-100 vs R:{what}"] for what in learning.OUTCOMES]
    assert sum(cell) == 5


@pytest.mark.slow
def test_training_curves_are_shares_of_each_block():
    rows = [
        ("loop", 0, episode, f"training:second:{what}", value)
        for episode, values in ((100, (10, 20, 70)), (200, (60, 70, 70)))
        for what, value in zip(learning.OUTCOMES, values)
    ]
    long = pd.DataFrame(rows, columns=["arm", "run", "episode", "metric", "value"])
    found = snapshot_tables.training_curves(long, "loop", 200)
    shares = found.pivot(index="episode", columns="arm", values="value")
    assert shares.loc[200].to_dict() == {
        "draws": 50.0, "learning agent wins": 50.0, "teaching agent wins": 0.0
    }  # fmt: skip
    assert snapshot_tables.training_curves(long, "none", 200).empty


def test_no_series_is_stable_after_2_to_32_games():
    rng = np.random.default_rng(0)
    for share in (0.02, 0.3, 0.5, 0.97):
        for _ in range(50):
            found = convergence.stable_at(rng.random(200) < share)
            assert found is None or convergence.can_be_stable(found)
    late = [k not in (0, 49) for k in range(200)]  # a second loss holds the percentage back
    assert convergence.stable_at(late) == 33 == min(filter(convergence.can_be_stable, range(2, 50)))


@pytest.mark.slow
def test_the_greatest_share_of_a_result():
    chance = agents.chance(GAME)
    assert exact.greatest(GAME, chance, "win") == pytest.approx(191 / 192)
    perfect = agents.min_max(GAME)
    assert exact.greatest(GAME, perfect, "win") == 0.0 and exact.greatest(GAME, perfect) == 1.0
    assert exact.greatest(GAME, exact.policy(GAME, chance), "draw") == pytest.approx(0.5)
    with pytest.raises(ValueError, match="wanted"):
        exact.greatest(GAME, chance, "points")


def test_first_moves_share_equal_values():
    net = table.QTable(GAME)
    net.put(GAME.start(), 4, 0.5)
    net.put(GAME.start(), 0, 0.5)
    found = openings.FirstMoves()(GAME, net)
    names = [GAME.action_name(GAME.start(), action) for action in (4, 0, 1)]
    assert [found[f"first_move:{name}"] for name in names] == [50.0, 50.0, 0.0]
    assert found["first_move_lead"] == 0.0
