"""SARSA and Q-learning: fixed points, what they learn, and where they are used."""

import itertools

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import sarsa
from sample_games import chain

CHAIN = chain(5)
Q, KEPT = {"method": "q"}, {"sarsa_action": "kept"}
STEP = 1.0 / 16  # sums of such numbers are exact
LINEAR = {"sigmoid": False, "alpha": 1.0, "epsilon": 0.0, "precision": "float64"}


@pytest.mark.parametrize("method", ["sarsa", "q"])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_chain_reaches_its_values_exactly_with_alpha_one(method, gamma):
    params = {**LINEAR, "method": method, "gamma": gamma, "step_reward": -STEP}
    session = sarsa.Session(CHAIN, params, 0)
    session.train(5)
    expected = [1.0 - STEP]  # of the last step, then of those before it
    while len(expected) < 5:
        expected.append(-STEP + gamma * expected[-1])
    assert [session.net.action_values([k])[0] for k in range(5)] == expected[::-1]


def perfect_values(game):
    """Q*(s, a) of every state of Nim for the player to move, both players playing perfectly."""
    heaps, stones, values = game.cells, int(game.num_codes[0]) - 1, {}
    for heights in sorted(itertools.product(range(stones + 1), repeat=heaps), key=sum):
        for p in range(2 if sum(heights) else 0):
            s = np.array([*heights, p], np.int32)
            q = values[tuple(s.tolist())] = {}
            for a in game.legal(s).tolist():
                after = game.play(s, a)
                won = float(game.score(after)[p])
                q[a] = won if game.over(after) else -max(values[tuple(after.tolist())].values())
    return values


@pytest.mark.parametrize("changes", [{}, Q, KEPT, {**Q, "farl": "off"}], ids=str)
def test_perfect_values_of_nim_are_a_fixed_point(changes):
    game = games.load("nim", heaps=2, stones=3)
    session = sarsa.Session(game, {**LINEAR, "alpha": 0.7, "choose_start": True, **changes}, 4)
    values, weights = perfect_values(game), session.net.weights.reshape(2, -1, game.actions)
    for s, q in values.items():
        for a, value in q.items():  # the only tuple is the whole board
            weights[s[-1], sum(c * 4**h for h, c in enumerate(s[:-1])), a] = value
        assert dict(zip(game.legal(s).tolist(), session.net.action_values(s), strict=True)) == q
    before = session.net.checksum()
    session.train(500)
    assert session.net.checksum() == before and session.statistics()["mean_abs_delta"] == 0.0
    session.net.weights[:] *= -1.0  # the worst moves for the best: no fixed point
    wrong = session.net.checksum()
    session.train(5)
    assert session.net.checksum() != wrong


@pytest.mark.parametrize(
    "game, params, message",
    [
        ("nim", {"q_maximum": "random numbers", "method": "q"}, "sarsa_action='kept'"),
        ("nim", {"greedy": "value"}, "no parameter 'greedy'"),
        ("othello", {"tuples": [list(range(14))]}, "do not fit 32-bit indices"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(game, params, message):
    with pytest.raises(ValueError, match=message):
        sarsa.Session(games.load(game), params, 0)
