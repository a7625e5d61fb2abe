"""TD(lambda) with search: updates equal plain Python, runs are resumed bit for bit, switches."""

import numpy as np
import pytest

from afterply import games
from afterply.learners import check_learner
from afterply.studies.papers.mandziuk2004 import linear_search, td_search
from oracles import reference_checkers as reference

game = games.load("giveaway")
START = "b" * 12 + "." * 8 + "w" * 12
SCHEDULE = [[3, 1e-3, 0.9], [6, 2e-4, 0.5]]


def session_for(params, seed=0, run=0):
    return td_search.Session(game, {"depth": 1} | params, seed, run)


def plain_game(weights, opponent, seat, params):
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
        used = list(weights if side == owner else opponent)

        def evaluate(b, used=used, side=side):
            return reference.activation(used, reference.features(b, side, params["features"]))

        how = evaluate, params["depth"], None, params["quiescence"]
        value, actions, leaf = reference.minimax(board, side, side, *how)
        if side == owner:
            values.append(reference.value_of(value))
            boards.append(board)
            leaves.append((leaf, abs(value) >= reference.WON))
        after = dict(reference.turns(board, side))[actions]
        king = board[actions[0] // 4].isupper()
        quiet = quiet + 1 if king and after.count(".") == board.count(".") else 0
        plies, board, side = plies + 1, after, "b" if side == "w" else "w"
        seen[board, side] = seen.get((board, side), 0) + 1


def plain_gradient(weights, board, owner, params):
    phi = reference.features(board, owner, params["features"])
    v = reference.value_of(reference.activation(weights, phi)) / 99
    true = params["gradient"] == "true"
    return [p * (99 * 0.027 * (1 - v * v) if true else 1) for p in phi]


def plain_training(session, num_games):
    """Weights after every game, and results, of a learner that begins as the session does."""
    params, seat, method = session.params, session.net.seat, session.params["method"]
    weights, opponents = session.net.weights.tolist(), session.opponents.tolist()
    opponent, in_a_row, history, results = 1 % len(opponents), 0, [], []
    for number in range(1, num_games + 1):
        row = next((r for r in params["schedule"] if number <= r[0]), params["schedule"][-1])
        values, boards, leaves, outcome = plain_game(weights, opponents[opponent], seat, params)
        at = [(b, False) for b in boards] if params["features_at"] == "root" else leaves
        gradients = [
            [0.0] * 22 if over else plain_gradient(weights, b, "wb"[seat], params) for b, over in at
        ]
        if method == "LB" or outcome <= 0:
            how = outcome, row[1], row[2], params["gamma"]
            change = reference.td_change(values, gradients, *how)
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
    params = {"depth": 2, "num_opponents": 4, "schedule": SCHEDULE, **params}
    params["depth"] -= params.get("quiescence", False)
    session = session_for(params, run=run)
    history, results = plain_training(session, 5)
    for weights in history:
        session.train(1)
        np.testing.assert_allclose(session.net.weights, weights, rtol=1e-9, atol=1e-12)
    assert session.net.results.tolist() == results and len(set(results)) > 1
    learned = 5 if params["method"] == "LB" else sum(r < 2 for r in results)
    assert session.statistics()["updates"] == learned


def test_learners_have_colours_and_zeros_as_in_the_paper_and_arms_share_opponents():
    first, second = ([session_for({"method": m}, run=k) for k in range(12)] for m in ("LL", "LB"))
    assert [s.net.seat for s in first] == [0] * 5 + [1] * 5 + [0] * 2
    assert [k for k, s in enumerate(first) if not s.net.weights.any()] == [0, 5, 10]
    everything = np.concatenate([s.opponents for s in first])
    assert everything.shape == (300, 22) and len(np.unique(everything)) == everything.size
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.opponents, b.opponents)
        assert np.array_equal(a.net.weights, b.net.weights)
    assert abs(everything).max() < 10
    assert abs(everything.mean()) < 0.3 and abs(everything.std() - 20 / 12**0.5) < 0.2


def test_resumed_bit_for_bit():
    params = {"method": "3L", "ties": "random", "snapshots": [5, 20], "num_opponents": 7}
    assert "conforms" in check_learner.check(td_search, game, params | {"depth": 1})
    whole = session_for(params, run=5)
    whole.train(30)
    with pytest.raises(ValueError, match="does not fit this run: other results or snapshots"):
        session_for(params | {"snapshots": []}, run=5).load_state_dict(whole.state_dict())


@pytest.mark.parametrize("params", [{"method": "LB"}, {"features_at": "leaf", "gradient": "true"}])
def test_without_a_feature_its_weight_stays_zero_and_nothing_else_changes(params):
    params = {"depth": 2, "num_opponents": 4, "schedule": SCHEDULE, **params}
    session, plain = session_for(params | {"without": [3, 7]}, run=1), session_for(params, run=1)
    plain.net.weights[[2, 6]] = 0.0
    for _ in range(8):
        session.train(1)
        plain.train(1)
        plain.net.weights[[2, 6]] = 0.0
        assert np.array_equal(session.net.weights, plain.net.weights)
    assert np.count_nonzero(session.net.weights) == 20


def test_strong_phase(tmp_path, monkeypatch):
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path))
    vectors = {m: linear_search.random_weights(20, "trained", m) for m in ("LL", "LB", "3L")}
    td_search.write_learners(tmp_path / "learners.npz", session_for({}), vectors)
    params = {"opponents": "strong", "start": "continued", "learners": "learners.npz"}
    session = session_for(params | {"method": "LB"}, run=13)
    assert np.array_equal(session.net.weights, vectors["LB"][13])
    trained = np.concatenate([vectors["LL"][10:], vectors["LB"][10:]])
    assert len(session.opponents) == 25 and np.array_equal(session.opponents[:20], trained)
    other = session_for(params | {"method": "3L", "start": "new"}, run=18)
    assert np.array_equal(other.opponents, session.opponents)
    assert not np.array_equal(other.net.weights, vectors["3L"][18])
    session.train(5)
    for other in ({"depth": 2}, {"pool": 3}, {"gradient": "true"}):
        with pytest.raises(ValueError, match="with parameters=.*train the random phase again"):
            session_for(params | other)
    with pytest.raises(ValueError, match="among them run 20"):
        session_for(params, run=20)


@pytest.mark.parametrize(
    "params, wrong",
    [
        ({"schedule": [[10, 0.1, 0.5], [10, 0.1, 0.5]]}, "the games growing"),
        ({"opponents": "weak"}, "must be 'random' or 'strong'"),
        ({"opponents": "strong"}, "needs the vectors of the random phase"),
        ({"without": [0]}, "must be a list of whole numbers, each between 1 and 22"),
    ],
)
def test_errors(params, wrong):
    with pytest.raises(ValueError, match=wrong):
        session_for(params)


def test_divergence_is_an_error():
    session = session_for({"method": "LB", "schedule": [[1, 1e305, 0.9]]}, run=1)
    with pytest.raises(FloatingPointError, match="the weights have diverged before game"):
        session.train(20)
