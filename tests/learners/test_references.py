"""The compiled learners against slow references, in parts, and across checkpoints."""

import numpy as np
import pytest

from afterply import games
from afterply.learners import check_learner, sarsa, td
from many import one_in
from oracles.reference_sarsa import SarsaReference
from oracles.reference_td import Reference, Splitmix64
from sample_games import track

RACE = track()
LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]
BASE = {
    "tictactoe": {"alpha": [1.0, 0.5], "epsilon": [0.3, 0.1]},
    # Sums of different weights for symmetric moves tie only up to rounding, so with several tuples
    # every move is explored.
    "lines": {"alpha": 0.4, "epsilon": 1.0, "tuples": LINES},
    "race": {"alpha": 0.3, "epsilon": 0.2, "tuples": [[0, 1, 2], [0, 2], [1, 2]], "lambda_": 0.5}
    | {"sigmoid": False},
    "nim": {"alpha": 0.5, "epsilon": 0.2, "lambda_": 0.5, "tc": "id"},
    "exact": {"alpha": 0.5, "epsilon": 0.2, "sigmoid": False},  # Nim: a weight is a value
    # extra turns: the same player moves again
    "kalah": {"alpha": 0.4, "epsilon": 1.0, "tuples": [[0, 1], [2, 3], [6, 7]]},
    "nim3p": {"alpha": 0.2, "epsilon": 0.15, "lambda_": 0.5, "horizon_cut": 0.01, "tc": "id"}
    | {"tuples": [[0, 1, 2], [0, 1, 2]], "trace": "RESET", "choose_start": True}
    | {"learn_from_random": False},
    "connect4": {"alpha": 2.0, "epsilon": 1.0, "tc": "exp"}
    | {"tuples": [[0, 6, 12, 18], [18, 19, 20], [24, 30, 36]]},
    "hex": {"alpha": 1.0, "epsilon": 1.0, "tuples": [[0, 1, 2, 3], [5, 6, 7], [14, 15, 20, 21]]},
    "othello": {"alpha": 1.0, "epsilon": 1.0, "tuples": [[0, 1, 2, 3], [27, 28, 35]]}
    | {"lambda_": 0.5},
    "game2048": {"alpha": 1.0, "epsilon": 1.0, "tuples": [[0, 1, 2], [5, 6]], "tc": "id"}
    | {"sigmoid": False},
}
# In 30 episodes, or as many as here, each setting of each case that can show does show.
EPISODES = {"othello": 3, "game2048": 3, "connect4": 12, "hex": 12}
TRACE = {"lambda_": 0.5, "horizon_cut": 0.1}
MOVE = {"step_back": "move", "farl": "off"}
Q, KEPT, LATE = {"method": "q"}, {"sarsa_action": "kept"}, {"inhibition": "executed action"}
DRAWN = {**Q, **KEPT, "q_maximum": "random numbers"}
UNTAUGHT = {"learn_from_random": False}
SOURCE = {**UNTAUGHT, "random_move_rule": "source"}
FROM_START = {"learn_start_state": True, "weight_init": 0.5}
EVERY = {"distinct_symmetries": False, "inhibit_counters": False}
TD_CASES = [(name, {}) for name in ("tictactoe", "lines", "race", "nim", "kalah", "nim3p")] + [
    ("tictactoe", {"tc": "exp", **TRACE}),
    ("tictactoe", {"choose_start": True}),
    ("tictactoe", {"greedy": "value"}),
    ("tictactoe", {"distinct_symmetries": False}),
    ("tictactoe", {"tc": "id", **EVERY}),
    ("tictactoe", {"learn_start_state": True, **TRACE}),
    ("tictactoe", {**SOURCE, **TRACE}),
    ("tictactoe", {**SOURCE, "trace": "RESET", **TRACE}),
    ("tictactoe", {"newest_ns": True, **TRACE}),
    ("tictactoe", {"max_plies": 6}),
    ("tictactoe", {"weight_init": 0.5}),
    ("tictactoe", {"step_reward": -0.04, "gamma": 0.9}),
    ("tictactoe", MOVE),
    ("tictactoe", {**MOVE, "farl": "second", "tc": "exp", **FROM_START}),
    ("lines", {"farl": "first"}),
    ("lines", {"terminal_target": "literal"}),
    ("lines", {"tc": "id", "inhibit_counters": False}),
    ("lines", {"tc": "id", "tc_accumulate": "delta", **TRACE}),
    ("lines", {"tc": "exp", **EVERY, **TRACE}),
    ("lines", {**MOVE, "gamma": 0.9}),
    ("nim", {"tc": "exp", "alpha": [0.9, 0.2], "alpha_schedule": "geometric"}),
    ("nim", {"tc": "exp", "tc_accumulate": "delta", "beta": 1.3, "tc_init": 0.1}),
    ("nim", {"trace_across_episodes": True}),
    ("nim", {**UNTAUGHT, "trace": "RESET", "trace_across_episodes": True}),
    ("nim", {"learn_start_state": True, **SOURCE}),
    ("nim", {**MOVE, "lambda_": 0.0, **UNTAUGHT, "terminal_target": "literal"}),
    ("kalah", MOVE),
    ("nim3p", {"trace": "ET"}),
    ("nim3p", {"learn_from_random": True, "tc": "exp"}),
    ("nim3p", {"farl": "off"}),
    ("nim3p", {"random_move_rule": "source", "lambda_": 0.8, "sigmoid": False}),
    ("nim3p", {"max_plies": 7, "step_reward": 0.1, "weight_init": 0.7}),
    ("race", {"greedy": "value", "learn_start_state": True}),
    ("race", {"terminal_target": "literal", **UNTAUGHT}),
    ("race", {"max_plies": 5, "sigmoid": True, "tc": "exp"}),
]
SARSA_CASES = [(name, method) for name in BASE for method in ({}, Q)] + [
    ("exact", KEPT),
    ("exact", DRAWN),
    ("exact", {"farl": "off", "choose_start": True}),
    ("tictactoe", {**Q, **KEPT, "epsilon": 1.0}),
    ("tictactoe", DRAWN),
    ("tictactoe", {**Q, "tc": "exp", **TRACE, "choose_start": True}),
    ("tictactoe", {"max_plies": 6}),
    ("tictactoe", {"step_reward": -0.04, "gamma": 0.9, "epsilon": 1.0}),
    ("tictactoe", {"distinct_symmetries": False}),
    ("lines", {"tc": "id", **EVERY, **TRACE}),
    ("lines", {"newest_ns": True, **TRACE}),
    ("lines", {**LATE, **TRACE, "tc": "id", "weight_init": -0.5}),
    ("lines", {**LATE, **Q, "tc": "exp", **EVERY}),
    ("lines", {"tc": "id", "tc_accumulate": "delta", "alpha_schedule": "geometric"}),
    ("kalah", {"epsilon": 0.5}),
    ("connect4", {**LATE, "distinct_symmetries": False}),
    ("nim", {"step_reward": -0.04, "gamma": 0.9}),
    ("nim", {**UNTAUGHT, **KEPT, "trace": "RESET"}),
    ("nim", {**SOURCE, **Q}),
    ("nim", {"trace_across_episodes": True}),
    ("nim3p", {"learn_from_random": True, "trace": "ET"}),
    ("race", {"max_plies": 5, "sigmoid": True, "tc": "exp"}),
]
CASES = [(td, *case) for case in TD_CASES] + [(sarsa, *case) for case in SARSA_CASES]
RUNS = [
    (td, "tictactoe", {"tc": "exp", **TRACE}),
    (td, "nim3p", {}),
    (td, "race", {"trace_across_episodes": True}),
    (sarsa, "tictactoe", {"tc": "exp", **TRACE}),
    (sarsa, "nim3p", Q),
    (sarsa, "race", {"trace_across_episodes": True, **KEPT}),
    (sarsa, "lines", {**LATE, **TRACE, "trace_across_episodes": True}),
]


def text_of(part):
    if isinstance(part, dict):
        return "-".join(f"{k}={v}" for k, v in part.items()) or "base"
    return getattr(part, "NAME", part)


def session_for(learner, name, changes, seed=3, episodes=150):
    params = {"episodes": episodes, "precision": "float64", **BASE[name], **changes}
    same = {"lines": "tictactoe", "exact": "nim"}.get(name, name)
    made_with = {"size": 6} if name == "hex" else {}
    game = RACE if name == "race" else games.load(same, **made_with)
    return learner.Session(game, learner.DEFAULTS, seed, **params)


def tables_of(session):
    """A learner's tables: [players, actions (one for V), entries, (w, N, A)]."""
    net, game = session.net, session.game
    shape = (game.players, -1, game.actions if net.per_action else 1)
    counters = net.arrays.counters
    if not counters.size:  # without temporal coherence the reference's stay at their start
        counters = np.full(2 * net.weights.size, session.params["tc_init"])
    parts = [net.arrays.weights, *counters.reshape(-1, 2).T]
    return np.stack([part.reshape(shape).transpose(0, 2, 1) for part in parts], axis=3)


def reference_tables(session, reference):
    """The reference's dictionaries in the same form."""
    tables = np.zeros_like(tables_of(session), np.float64)
    tables[..., 0] = reference.first
    tables[..., 1:] = session.params["tc_init"]
    for p in range(session.game.players):
        offset = 0
        for i, cells in enumerate(session.net.tuples):
            for column, part in enumerate((reference.weights, reference.sums, reference.absolutes)):
                for name, x in part[p][i].items():
                    index, action = name if session.net.per_action else (name, 0)
                    tables[p, action, offset + index, column] = x
            offset += int(np.prod(session.game.num_codes[cells], dtype=np.int64))
    return tables


@pytest.mark.parametrize("learner, name, changes", one_in(20, CASES), ids=text_of)
def test_learner_gives_the_weights_of_the_reference(learner, name, changes):
    session = session_for(learner, name, changes)
    stream = Splitmix64(session.mem.rng[0])
    make = Reference if learner is td else SarsaReference
    reference = make(session.game, session.net.tuples, session.params, stream)
    for _ in range(3):
        session.train(EPISODES.get(name, 30) // 3)
        reference.train(EPISODES.get(name, 30) // 3)
        assert (session.moves, int(session.mem.rng[0])) == (reference.moves, stream.state)
    found, wanted = tables_of(session), reference_tables(session, reference)
    if name == "exact":  # no sums, no tanh: the same operations on the same numbers
        assert np.array_equal(found, wanted)
    assert np.abs(found - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())
    # with three players and no final adaptation, the player who moves last gets 0
    nothing_to_learn = learner is td and name == "nim3p" and changes.get("farl") == "off"
    assert nothing_to_learn or np.count_nonzero(found[..., 0]) > 15


@pytest.mark.parametrize("learner, name, changes", RUNS, ids=text_of)
def test_training_in_parts_and_across_a_checkpoint_gives_the_same_bits(learner, name, changes):
    made = session_for(learner, name, changes)
    assert "conforms" in check_learner.check(learner, made.game, made.params)
