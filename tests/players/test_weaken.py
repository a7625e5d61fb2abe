"""Weaker players, the pool that rates them, and the published ladders."""

import numpy as np
import pandas as pd
import pytest

from afterstate import arena, games, players
from afterstate.arena import exact, rating_pool, ratings
from afterstate.arena.contest import contest
from afterstate.evaluators.ladder import Ladder, smoothness, trained
from afterstate.files import Archive, write_npz
from afterstate.learners import tabular
from afterstate.players import agents, ladder, weaken

GAME, DIALS = games.load("tictactoe"), (0.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def session():
    made = tabular.Session(GAME, {"snapshots": weaken.milestones(2000, DIALS)}, seed=1)
    made.train(2000)
    return made


@pytest.fixture(scope="module")
def pool():
    return rating_pool.pool(GAME)


@pytest.mark.slow
def test_softmax_has_the_shares_of_its_formula(session):
    s = GAME.parse("x o x . o . . . .")
    values, t = session.net.action_values(s), 0.2
    expected = np.exp(values / t) / np.exp(values / t).sum()
    agent = agents.learned(session.net, temperature=t)
    assert agent.policy(s) == pytest.approx(expected, abs=1e-12)
    # the kernel that plays, against the policy
    sampled = contest(GAME, agent, agents.chance(GAME), 20_000, seed=2)
    assert np.array([sampled.wins, sampled.draws, sampled.losses]) / 20_000 == pytest.approx(
        np.array(exact.outcome(GAME, agent, agents.chance(GAME))), abs=0.012
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epsilon": 0.3},
        {"temperature": 0.1},
        {"temperature": np.inf},
        {"epsilon": 0.2, "temperature": 1.0},
    ],
)
def test_policies_by_the_kernel_are_those_of_the_agent(session, settings):
    agent = agents.learned(session.net, **settings)
    found = exact.graph(GAME)
    by_agent = np.concatenate(
        [agent.policy(s) for s, mover in zip(found.states, found.mover) if mover >= 0]
    )
    assert exact.policy(GAME, agent) == pytest.approx(by_agent, abs=1e-12)


@pytest.mark.slow
def test_the_ends_of_every_dial(session):
    full, random = (
        exact.policy(GAME, agents.learned(session.net)),
        exact.policy(GAME, agents.chance(GAME)),
    )
    for method in weaken.METHODS:
        assert np.array_equal(
            exact.policy(GAME, weaken.weakened(session.net, method, 1.0, seed=3)), full
        ), method
        zero = exact.policy(GAME, weaken.weakened(session.net, method, 0.0, seed=3))
        # only noise still has opinions
        assert (np.abs(zero - random).max() < 1e-12) == (method != "noise"), method


@pytest.mark.slow
def test_snapshots_count_training_games(session):
    assert weaken.milestones(2000, DIALS) == [45, 1000, 2000]
    for method, games_ in (("snapshots", 1000), ("log snapshots", 45)):
        early = tabular.Session(GAME, {}, seed=1)
        early.train(games_)
        same = weaken.weakened(session.net, method, 0.5)
        assert np.array_equal(
            exact.policy(GAME, same), exact.policy(GAME, agents.learned(early.net))
        ), method


def test_changed_tables_follow_their_seed_and_leave_the_original_alone(session):
    before, n = session.net.checksum(), session.net.entries
    q = session.net.table.q[:n]
    some = q != 0
    kept = weaken.forgetful(session.net, 0.5, seed=4).table.q == q
    assert abs(kept[some].mean() - 0.5) < 0.03
    less = weaken.forgetful(session.net, 0.2, seed=4).table.q == q
    # what is forgotten stays forgotten
    assert abs(less[some].mean() - 0.2) < 0.03 and not (less & ~kept).any()
    noise = weaken.noisy(session.net, 0.5, seed=4).table.q - q
    assert noise.std() == pytest.approx(weaken.spread(session.net), rel=0.1)
    assert np.array_equal(
        weaken.noisy(session.net, 0.5, seed=4).table.q, q + noise
    ) and not np.array_equal(weaken.noisy(session.net, 0.5, seed=5).table.q, q + noise)
    assert session.net.checksum() == before


def test_bad_dials_and_methods_are_named(session):
    with pytest.raises(
        ValueError, match="the way to weaken must be one of .*careless.*not 'sleepy'"
    ):
        weaken.weakened(session.net, "sleepy", 0.5)
    with pytest.raises(ValueError, match="the dial.* not 1.5"):
        weaken.weakened(session.net, "careless", 1.5)
    with pytest.raises(LookupError, match="no snapshot was kept after 1400"):
        weaken.weakened(session.net, "snapshots", 0.7)


@pytest.mark.slow
def test_the_pool_is_a_ladder_from_zero(pool):
    found = pool.model.strength[[pool.model.players.index(name) for name in pool.sides]]
    assert found[0] == 0 and (np.diff(found) > 0).all()
    assert rating_pool.rate(GAME, agents.chance(GAME), pool)["rating"] == pytest.approx(0, abs=1)
    perfect = rating_pool.rate(GAME, agents.min_max(GAME), pool)
    assert perfect["loss"] == 0 and perfect["score"] == pytest.approx(
        100 * (191.5 / 192 + (254 + 61 / 2) / 315) / 2
    )


def test_placing_a_player_finds_the_strength_that_made_the_results():
    model = ratings.Model(["a", "b", "me"], np.array([0.0, 1.2, 0.7]), 0.4, -0.3)
    rows = [(o, *1000 * model.probabilities("me", o), True) for o in "ab"] + [
        (o, *1000 * model.probabilities(o, "me")[::-1], False) for o in "ab"
    ]
    rows = pd.DataFrame(rows, columns=["opponent", "wins", "draws", "losses", "first"])
    assert ratings.place(model, rows, prior=0) == pytest.approx(0.7, abs=1e-6)
    with pytest.raises(ValueError, match="against a, b"):
        ratings.place(
            model._replace(players=["a", "b"], strength=model.strength[:2]), rows.replace("a", "z")
        )


@pytest.mark.slow
def test_the_evaluator_rates_every_rung_and_counts_cycles(session):
    found = Ladder(n=2000, dials=DIALS)(GAME, session.net, seed=5)
    assert found == Ladder(n=2000, dials=DIALS)(GAME, session.net, seed=5)
    assert {
        f"{m} {d:g}:{what}"
        for m in weaken.METHODS
        for d in DIALS
        for what in ("rating", "score", "loss")
    } < set(found)
    assert (
        found["careless 0:rating"] == pytest.approx(0, abs=1)
        and found["careless 0.5:rating"] < found["careless 1:rating"] == found["noise 1:rating"]
    )
    agent, random = weaken.weakened(session.net, "careless", 0.5), agents.chance(GAME)
    first, second = exact.outcome(GAME, agent, random), exact.outcome(GAME, random, agent)
    assert found["careless 0.5:score"] == pytest.approx(
        50 * (first.win + second.loss + (first.draw + second.draw) / 2)
    )
    assert found["careless 0.5:loss"] == pytest.approx(50 * (first.loss + second.win))
    assert 0 <= found["cycles"] <= found["triples"] and 0 < found["misfit"] < 30


@pytest.mark.slow
def test_ratings_from_games_agree_with_exact_ones(session, pool):
    agent = weaken.weakened(session.net, "careless", 0.6)
    sampled, known = (
        rating_pool.rate(GAME, agent, rating_pool.Pool(pool.sides, pool.model, 1000), seed=1),
        rating_pool.rate(GAME, agent, pool),
    )
    assert sampled["rating"] == pytest.approx(known["rating"], abs=25) and sampled[
        "score"
    ] == pytest.approx(known["score"], abs=4)
    assert 0 < sampled["distinct"] <= 100
    frozen = rating_pool.Pool(
        {"first legal": rating_pool.prepare(GAME, agents.min_max(GAME), 1)}, pool.model, 1000
    )
    one = rating_pool.meet(
        GAME, frozen.sides["first legal"], frozen.sides["first legal"], 100, seed=1
    )
    assert one[1] == 1  # two players without chance have one game, however often they are asked


def test_cycles():
    rock = np.array([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
    assert rating_pool.cyclic(rock, np.zeros((3, 3))) == (1, 1)
    assert rating_pool.cyclic(rock, np.full((3, 3), 0.3)) == (0, 0)  # not sure
    assert rating_pool.cyclic(
        np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]]), np.zeros((3, 3))
    ) == (0, 1)


def test_players_that_are_the_same_are_rated_once():
    ladder = Ladder(methods=("noise", "careless", "softmax"), dials=(0.0, 0.5, 1.0))
    assert ladder._same(GAME) == {
        "careless 1": "noise 1",
        "softmax 1": "noise 1",
        "softmax 0": "careless 0",
    }
    # a random move is drawn in two steps
    assert ladder._same(games.load("morris")) == {"careless 1": "noise 1", "softmax 1": "noise 1"}


def test_smoothness_of_ladders_made_by_hand():
    even, jump, back = [0, 100, 200, 300, 400], [0, 10, 20, 390, 400], [0, 200, 100, 300, 400]
    rows = [
        (name, k / 4, run, value + run)
        for name, values in (("jump", jump), ("back", back), ("even", even))
        for run in (0, 1)
        for k, value in enumerate(values)
    ]
    found = smoothness(pd.DataFrame(rows, columns=["method", "dial", "run", "value"])).set_index(
        "method"
    )
    assert found.largest_step.to_dict() == {"even": 25, "back": 50, "jump": 92.5} and list(
        found.index
    ) == ["even", "back", "jump"]
    assert (
        found.wrong_steps.to_dict() == {"even": 0, "back": 25, "jump": 0}
        and (found.least == 25).all()
        and (found["range"] == 400).all()
    )


def test_trainings_make_a_ladder():
    rows = [
        (arm, run, f"{name}:rating", value)
        for arm, name, value in (("weak", "table 1", 100.0), ("full", "snapshots 1", 300.0))
        for run in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["arm", "run", "metric", "value"])
    found = trained(table, {"way": ["weak", "full"]})
    assert found[found.run == 0].sort_values("dial")[["dial", "value"]].to_numpy().tolist() == [
        [0, 0],
        [0.5, 100],
        [1, 300],
    ]
    assert len(trained(table[:0], {"way": ["weak"]})) == 0


def test_a_training_is_continued_from_its_checkpoint_file(session, tmp_path):
    write_npz(tmp_path / "c.npz", {}, session.state_dict())
    again = tabular.Session(GAME, session.params, seed=1)
    again.load_state_dict(Archive(tmp_path / "c.npz"))
    assert again.episode == 2000 and again.net.checksum() == session.net.checksum()


@pytest.mark.parametrize("rate, losses", [(0.0, 0), (1.0, None)])
def test_a_careless_teacher(rate, losses):
    made = tabular.Session(GAME, {"teacher": "non-deterministic", "teacher_epsilon": rate}, seed=2)
    made.train(20)
    found = contest(GAME, made.teacher, agents.chance(GAME), 300, seed=3)
    assert found.losses == losses if losses is not None else found.losses > 30


# ---------------------------------------------------------------------------- opponents by strength


def test_published_ladders_rise_from_zero():
    assert ladder.published() == ["kalah", "morris", "tictactoe"]
    for name in ladder.published():
        made = ladder.load(games.load(name))
        assert (
            made["ratings"][0] == 0
            and (np.diff(made["ratings"]) >= 0).all()
            and made["ratings"][-1] > 300
        )
        assert (
            len(made["dials"]) == len(made["ratings"])
            and made["dials"][0] == 0
            and made["dials"][-1] == 1
        )


@pytest.mark.slow
@pytest.mark.parametrize("rating", [0, 120, 333.3])
def test_opponents_of_tictactoe_have_the_strength_asked_for(rating, pool):
    found = rating_pool.rate(GAME, players.at_strength(GAME, rating), pool)
    assert found["rating"] == pytest.approx(rating, abs=5)  # between two rungs by interpolation


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "kalah", "morris"])
def test_opponents_play(name):
    game = games.load(name)
    pair = {"strong": players.at_strength(game, 300), "weak": players.at_strength(game, 0)}
    table = arena.matches(game, pair, episodes=30, seed=1)
    assert (table.error == "").all() and table[table.player == "strong"].score.mean() > table[
        table.player == "weak"
    ].score.mean()
    again = arena.matches(game, pair, episodes=30, seed=1)
    assert table.score.tolist() == again.score.tolist()


def test_what_no_ladder_has():
    with pytest.raises(
        ValueError,
        match=r"rating=5000.0 is outside the ladder of tictactoe, which goes from 0 .* to \d+",
    ):
        players.at_strength(GAME, 5000)
    for wrong in (-10, float("nan")):
        with pytest.raises(ValueError, match="outside the ladder|rating must be a number"):
            players.at_strength(GAME, wrong)
    with pytest.raises(
        ValueError, match="no ladder of opponents for connect4, only for kalah, morris, tictactoe"
    ):
        players.at_strength(games.load("connect4"), 100)
    with pytest.raises(ValueError, match="was made for"):
        players.at_strength(games.load("kalah", houses=4), 100)
    with pytest.raises(ValueError, match="this agent was made for"):
        arena.match(games.load("kalah"), [players.at_strength(GAME, 100), players.Random()])
