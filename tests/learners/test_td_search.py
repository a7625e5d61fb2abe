"""TD(lambda) with search: updates equal plain Python, runs are resumed bit for bit, switches."""

import numpy as np
import pytest

from afterstate import games
from afterstate.evaluators import giveaway
from afterstate.files import read_npz, write_npz
from afterstate.learners import (
    td_search,
    td_search_learners,
    td_search_memory,
    td_search_parameters,
)
from afterstate.players import linear_matches
from afterstate.studies import jobs
from oracles import reference_checkers as reference

game = games.load("giveaway")
START = "b" * 12 + "." * 8 + "w" * 12
SCHEDULE = [[3, 1e-3, 0.9], [6, 2e-4, 0.5]]


# ------------------------------------------------------------------------------------- plain Python


def plain_game(weights, opponent, seat, depth, kind="F22", quiescence=False):
    """Play a game in plain Python.

    Return what the learner saw (values, boards, leaves) and the outcome.
    """
    board, side, values, boards, leaves = START, "w", [], [], []
    seen, quiet, plies, owner = {(START, "w"): 1}, 0, 0, "wb"[seat]
    while True:
        if not reference.turns(board, side):
            return values, boards, leaves, 1 if side == owner else -1
        if quiet >= 200 or plies >= 400 or seen[board, side] >= 3:
            return values, boards, leaves, 0
        mine = side == owner
        used = list(weights if mine else opponent)

        def evaluate(b, used=used, side=side):
            return reference.activation(used, reference.features(b, side, kind))

        value, actions, leaf = reference.minimax(
            board, side, side, evaluate, depth, None, quiescence
        )
        if mine:
            values.append(reference.value_of(value))
            boards.append(board)
            leaves.append((leaf, abs(value) >= reference.WON))
        after = dict(reference.turns(board, side))[actions]
        king = board[actions[0] // 4].isupper()
        quiet = quiet + 1 if king and after.count(".") == board.count(".") else 0
        plies, board, side = plies + 1, after, "b" if side == "w" else "w"
        seen[board, side] = seen.get((board, side), 0) + 1


def plain_gradient(weights, board, owner, kind, true_gradient):
    phi = reference.features(board, owner, kind)
    v = reference.value_of(reference.activation(weights, phi)) / 99
    return [p * (99 * 0.027 * (1 - v * v) if true_gradient else 1) for p in phi]


def plain_training(session, num_games):
    """Weights after every game, and results, of a learner that begins as the session does."""
    params, weights, opponents = (
        session.params,
        session.net.weights.tolist(),
        session.opponents.tolist(),
    )
    seat, kind, method = session.net.seat, params["features"], params["method"]
    opponent, in_a_row, history, results = 1 % len(opponents), 0, [], []
    for number in range(1, num_games + 1):
        row = next((r for r in params["schedule"] if number <= r[0]), params["schedule"][-1])
        how = (seat, params["depth"], kind, params["quiescence"])
        values, boards, leaves, outcome = plain_game(weights, opponents[opponent], *how)
        at = boards if params["features_at"] == "root" else [leaf for leaf, _ in leaves]
        gradients = [
            plain_gradient(weights, b, "wb"[seat], kind, params["gradient"] == "true") for b in at
        ]
        if params["features_at"] == "leaf":
            gradients = [
                [0.0] * 22 if over else g for g, (_, over) in zip(gradients, leaves, strict=True)
            ]
        if method == "LB" or outcome <= 0:
            change = reference.td_change(
                values, gradients, outcome, row[1], row[2], params["gamma"]
            )
            weights = [w + c for w, c in zip(weights, change, strict=True)]
        in_a_row += 1
        if method != "3L" or outcome >= 0 or in_a_row == 3:
            opponent, in_a_row = (opponent + 1) % len(opponents), 0
        history.append(weights)
        results.append(outcome + 1)
    return history, results


@pytest.mark.slow
@pytest.mark.parametrize(
    "run, params",
    [
        (1, {"method": "LL"}),
        (7, {"method": "LB", "gamma": 0.95}),
        (0, {"method": "3L"}),
        (2, {"method": "LB", "gradient": "true", "features": "V1"}),
        (8, {"method": "LB", "features_at": "leaf", "features": "V2"}),
        (3, {"method": "LB", "features_at": "leaf", "gradient": "true", "quiescence": True}),
    ],
)
def test_training_equals_plain_python(run, params):
    params = {
        "depth": 2 - params.get("quiescence", False),
        "num_opponents": 4,
        "schedule": SCHEDULE,
        **params,
    }
    session = td_search.Session(game, params, run=run)
    history, results = plain_training(session, 9)
    for weights in history:
        session.train(1)
        np.testing.assert_allclose(session.net.weights, weights, rtol=1e-9, atol=1e-12)
    assert session.net.results.tolist() == results and len(set(results)) > 1
    assert session.statistics()["updates"] == (
        9 if params["method"] == "LB" else sum(r < 2 for r in results)
    )


def test_three_games_in_a_row_only_against_who_wins():
    session = td_search.Session(
        game, {"depth": 1, "method": "3L", "num_opponents": 3, "schedule": [[1, 0.0, 0.5]]}, run=6
    )
    met, results = [], []
    for _ in range(30):
        met.append(int(session.mem.counters[td_search_memory.OPPONENT]))
        session.train(1)
        results.append(int(session.net.results[-1]))
    assert met[0] == 1
    expected, in_a_row = [1], 1
    for result in results[:-1]:
        again = result == 0 and in_a_row < 3
        in_a_row = in_a_row + 1 if again else 1
        expected.append(expected[-1] if again else (expected[-1] + 1) % 3)
    assert met == expected and 0 in results and any(a == b for a, b in zip(met, met[1:]))


# ----------------------------------------------------------------------------------- runs, resuming


def test_learners_have_colours_and_zeros_as_in_the_paper_and_arms_share_opponents():
    sessions = [
        td_search.Session(game, {"method": method}, seed=run, run=run)
        for method in ("LL", "LB")
        for run in range(12)
    ]
    first, second = sessions[:12], sessions[12:]
    assert [s.net.seat for s in first] == [0] * 5 + [1] * 5 + [0] * 2
    assert [not s.net.weights.any() for s in first] == [True] + [False] * 4 + [True] + [
        False
    ] * 4 + [True, False]
    everything = np.concatenate([s.opponents for s in first])
    assert (
        everything.shape == (300, 22)
        and len(np.unique(everything)) == everything.size
        and abs(everything).max() < 10
    )
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.opponents, b.opponents) and np.array_equal(
            a.net.weights, b.net.weights
        )
    assert abs(everything.mean()) < 0.3 and abs(everything.std() - 20 / 12**0.5) < 0.2


def test_a_learner_that_changes_nothing_repeats_its_round():
    session = td_search.Session(game, {"depth": 1, "schedule": [[1, 0.0, 0.9]]}, run=4)
    session.train(100)
    assert np.array_equal(
        session.net.results.reshape(4, 25), np.tile(session.net.results[:25], (4, 1))
    )


def test_resumed_bit_for_bit(tmp_path):
    params = {
        "depth": 1,
        "method": "3L",
        "ties": "random",
        "snapshots": [20, 60],
        "num_opponents": 7,
    }
    whole = td_search.Session(game, params, seed=3, run=5)
    whole.train(80)
    part = td_search.Session(game, params, seed=3, run=5)
    part.train(33)
    write_npz(tmp_path / "part.npz", {}, part.state_dict())
    again = td_search.Session(game, params, seed=9, run=5)
    again.train(50)
    again.load_state_dict(read_npz(tmp_path / "part.npz")[1])
    assert again.episode == 33 and sorted(again.net.snapshots) == [20]
    again.train(47)
    assert again.net.checksum() == whole.net.checksum() and again.statistics() == whole.statistics()
    assert np.array_equal(again.net.results, whole.net.results) and sorted(again.net.snapshots) == [
        20,
        60,
    ]
    with pytest.raises(
        ValueError, match="does not fit this run: its snapshots|does not fit this run: its results"
    ):
        td_search.Session(game, {**params, "snapshots": []}, run=5).load_state_dict(
            whole.state_dict()
        )
    with pytest.raises(ValueError, match="its array 'weights'"):
        td_search.Session(game, params, run=5).load_state_dict({"weights": np.zeros(3)})


def test_a_job_tells_the_session_its_number(tmp_path):
    full = td_search_parameters.DEFAULTS | {"depth": 1}
    for run in (0, 17):
        job = jobs.Job("s", "a", run, game, td_search, full, 10, 10, (), (), tmp_path)
        session = job.session()
        assert session.run == session.net.run == run and session.net.seat == int(run % 10 > 4)


def test_switches_change_the_numbers_and_seeds_only_random_ties():
    base = {"depth": 2, "method": "LB"}

    def checksum(seed=0, **params):
        session = td_search.Session(game, base | params, seed=seed)
        session.train(12)
        return session.net.checksum()

    variants = [
        {"gradient": "true"},
        {"features_at": "leaf"},
        {"quiescence": True},
        {"features": "V1"},
        {"features": "V2"},
    ]
    variants += [{"pool": 1}, {"ties": "random"}, {"depth": 1}]
    found = [checksum(), *(checksum(**v) for v in variants)]
    assert len(set(found)) == len(found) and checksum(seed=5) == found[0]
    assert checksum(seed=5, ties="random") != checksum(seed=6, ties="random")


def test_without_a_feature_its_weight_stays_zero_and_nothing_else_changes():
    for params in ({"method": "LB"}, {"features_at": "leaf", "gradient": "true"}):
        params = {"depth": 2, "num_opponents": 4, "schedule": SCHEDULE, **params}
        session = td_search.Session(game, params | {"without": [3, 7]}, run=1)
        plain = td_search.Session(game, params, run=1)
        plain.net.weights[[2, 6]] = 0.0
        for _ in range(8):
            session.train(1)
            plain.train(1)
            plain.net.weights[[2, 6]] = 0.0
            assert np.array_equal(session.net.weights, plain.net.weights)
        assert np.count_nonzero(session.net.weights) == 20
    for wrong in ([0], [23], 3, ["men"]):
        with pytest.raises(ValueError, match="numbers of features, from 1 to 22"):
            td_search.Session(game, {"without": wrong})


# --------------------------------------------------------------------------------- the strong phase


def test_finished_learners_are_kept_and_more_are_added(tmp_path):
    path, session = tmp_path / "learners.npz", td_search.Session(game, {"depth": 1})
    drawn = {m: list(linear_matches.random_weights(30, "kept", m)) for m in ("LL", "LB")}
    keep = td_search_learners.keep_learners
    assert keep(path, session, {"LL": drawn["LL"][:9], "LB": drawn["LB"]}) == 0
    assert not path.exists()
    gap = {"LL": drawn["LL"], "LB": [*drawn["LB"][:15], None, *drawn["LB"][16:]]}
    assert keep(path, session, gap) == 10
    other = {m: [-w for w in rows] for m, rows in drawn.items()}
    assert keep(path, session, {m: rows[:10] for m, rows in other.items()}) == 10  # as they were
    assert keep(path, session, {m: rows[:20] for m, rows in other.items()}) == 20
    for method, rows in read_npz(path)[1].items():
        assert np.array_equal(rows, np.array([*drawn[method][:10], *other[method][10:20]]))
    assert keep(path, session, {m: rows[:10] for m, rows in other.items()}, anew=True) == 10
    assert np.array_equal(read_npz(path)[1]["LL"], np.array(other["LL"][:10]))


def test_strong_phase(tmp_path, monkeypatch):
    monkeypatch.setattr(td_search, "data_directory", lambda: tmp_path)
    vectors = {m: linear_matches.random_weights(20, "trained", m) for m in ("LL", "LB", "3L")}
    td_search_learners.write_learners(
        tmp_path / "learners.npz", td_search.Session(game, {"depth": 1}), vectors
    )
    params = {"depth": 1, "opponents": "strong", "start": "continued", "learners": "learners.npz"}
    session = td_search.Session(game, params | {"method": "LB"}, run=13)
    assert np.array_equal(session.net.weights, vectors["LB"][13])
    assert session.opponents.shape == (25, 22)
    assert np.array_equal(
        session.opponents[:20], np.concatenate([vectors["LL"][10:], vectors["LB"][10:]])
    )
    other = td_search.Session(game, params | {"method": "3L", "start": "new"}, run=18)
    assert np.array_equal(other.opponents, session.opponents) and not np.array_equal(
        other.net.weights, vectors["3L"][18]
    )
    session.train(5)
    for other in ({"depth": 2}, {"pool": 3}, {"gradient": "true"}):
        with pytest.raises(ValueError, match="with parameters=.*train the random phase again"):
            td_search.Session(game, params | other)
    with pytest.raises(ValueError, match="among them run 20"):
        td_search.Session(game, params, run=20)
    with pytest.raises(ValueError, match="need the vectors of the random phase"):
        td_search.Session(game, {"opponents": "strong"})


# --------------------------------------------------------------------------------------- evaluators


def test_evaluators():
    session = td_search.Session(game, {"depth": 1, "snapshots": [30], "method": "LB"}, run=11)
    session.train(60)
    net, won = session.net, session.net.results
    table = giveaway.TrainingPoints(25)(game, net, 0)
    assert list(table) == ["training_points:1-25", "training_points:26-50", "training_points:51-60"]
    assert table["training_points:26-50"] == pytest.approx(
        100 * ((won[25:50] == 2).sum() + 0.5 * (won[25:50] == 1).sum()) / 25
    )
    assert giveaway.RecentPoints(10)(game, net, 0) == {"points": table["training_points:51-60"]}
    test = giveaway.TestPoints(40, (30, 60))
    found = test(game, net, 0)
    assert set(found) == {
        f"test_{kind}:after-{e}" for kind in ("points", "won", "drawn") for e in (30, 60)
    }
    assert found["test_points:after-60"] == pytest.approx(
        found["test_won:after-60"] + found["test_drawn:after-60"] / 2
    )
    opponents = linear_matches.random_weights(40, 0, 1, "test")
    results, *_ = linear_matches.matches(net.snapshot(30), opponents)
    assert found["test_points:after-30"] == giveaway.points(results)
    assert (
        list(test.short()(game, td_search.Session(game, {"depth": 1}).net, 0))[0]
        == "test_points:after-0"
    )


@pytest.mark.parametrize(
    "params, wrong",
    [
        ({"method": "LX"}, "must be one of 'LL', 'LB', '3L'"),
        ({"schedule": [[10, 0.1]]}, "must be rows"),
        ({"schedule": [[10, 0.1, 0.5], [10, 0.1, 0.5]]}, "the games growing"),
        ({"opponents": "weak"}, "must be 'random', 'strong', or a list of weight vectors"),
        ({"opponents": [[1.0]]}, "a weight vector is 22 finite numbers"),
        ({"snapshots": [0]}, "must be a list of whole numbers of at least 1"),
        ({"deep": 3}, "there is no parameter 'deep': did you mean 'depth'"),
    ],
)
def test_errors(params, wrong):
    with pytest.raises(ValueError, match=wrong):
        td_search.Session(game, params)


def test_divergence_is_told():
    session = td_search.Session(
        game, {"depth": 1, "method": "LB", "schedule": [[1, 1e305, 0.9]]}, run=1
    )
    with pytest.raises(FloatingPointError, match="the weights have diverged before game"):
        session.train(20)


def test_given_opponents_and_checkers():
    vectors = linear_matches.random_weights(2, "given").tolist()
    session = td_search.Session(games.load("checkers"), {"depth": 2, "opponents": vectors}, run=2)
    session.train(10)
    assert session.opponents.tolist() == vectors and session.statistics()["episodes"] == 10
