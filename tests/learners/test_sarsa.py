"""SARSA and Q-learning against the slow reference, against fixed points, and against themselves."""

import itertools
import json

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.evaluators import TICTACTOE
from afterstate.learners import sarsa, sarsa_parameters
from afterstate.studies.identity import learner_identity, learner_parameters, numeric_sources
from afterstate.studies.study import Study
from many import one_in
from oracles.reference_sarsa import SarsaReference, SarsaSettings
from oracles.reference_td import Splitmix64
from sample_games import chain, track
from small_studies import Weights, make_place

RACE, CHAIN = track(), chain(5)
TRACE = {"lambda_": 0.5, "horizon_cut": 0.1}
LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]
Q = {"method": "q"}
KEPT = {"sarsa_action": "kept"}
LATE = {"inhibition": "executed action"}
BASE = {
    "tictactoe": {"alpha": [1.0, 0.5], "epsilon": [0.3, 0.1]},
    # several tuples: symmetric actions tie only up to rounding, so every move is explored
    "lines": {"alpha": 0.4, "epsilon": 1.0, "tuples": LINES},
    "race": {
        "alpha": 0.3,
        "epsilon": 0.2,
        "tuples": [[0, 1, 2], [0, 2], [1, 2]],
        "lambda_": 0.5,
        "sigmoid": False,
    },
    "nim": {"alpha": 0.5, "epsilon": 0.2, "lambda_": 0.5, "tc": "id"},
    "exact": {"alpha": 0.5, "epsilon": 0.2, "sigmoid": False},
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
    "kalah": {"alpha": 0.4, "epsilon": 0.5, "tuples": [[0, 1], [2, 3], [6, 7]]},
    "connect4": {
        "alpha": 2.0,
        "epsilon": 1.0,
        "tuples": [[0, 6, 12, 18], [18, 19, 20], [24, 30, 36]],
        "tc": "exp",
    },
    "hex": {"alpha": 1.0, "epsilon": 1.0, "tuples": [[0, 1, 2, 3], [5, 6, 7], [14, 15, 20, 21]]},
    "othello": {"alpha": 1.0, "epsilon": 1.0, "tuples": [[0, 1, 2, 3], [27, 28, 35]], **TRACE},
    "game2048": {
        "alpha": 1.0,
        "epsilon": 1.0,
        "sigmoid": False,
        "tuples": [[0, 1, 2], [5, 6]],
        "tc": "id",
    },
}
EPISODES = {"othello": 6, "game2048": 6, "connect4": 30, "hex": 30}
CASES = [(game, method) for game in BASE for method in ({}, Q)] + [
    ("exact", KEPT),
    ("exact", {"lambda_": 0.5, "horizon_cut": 0.1}),
    ("exact", {**Q, **KEPT, "q_maximum": "random numbers"}),
    ("exact", {"farl": "off", "choose_start": True}),
    ("tictactoe", KEPT),
    ("tictactoe", {**Q, **KEPT}),
    ("tictactoe", {**Q, **KEPT, "q_maximum": "random numbers"}),
    ("tictactoe", {"farl": "off"}),
    ("tictactoe", {**Q, "tc": "exp", **TRACE, "choose_start": True}),
    ("tictactoe", {"max_plies": 6}),
    ("tictactoe", {"step_reward": -0.04, "gamma": 0.9, "epsilon": 1.0}),
    ("nim", {"step_reward": -0.04, "gamma": 0.9}),
    ("tictactoe", {"distinct_symmetries": False}),
    ("lines", {"distinct_symmetries": False, "inhibit_counters": False, "tc": "id", **TRACE}),
    ("lines", {"newest_ns": True, **TRACE}),
    ("lines", {**LATE, **TRACE, "tc": "id"}),
    ("lines", {**LATE, **Q, "tc": "exp", "inhibit_counters": False, "distinct_symmetries": False}),
    ("lines", {"tc": "id", "tc_accumulate": "delta", "alpha_schedule": "geometric"}),
    ("connect4", {**LATE, "distinct_symmetries": False}),
    ("nim", {"learn_from_random": False}),
    ("nim", {"learn_from_random": False, **KEPT, "trace": "RESET"}),
    ("nim", {"learn_from_random": False, "random_move_rule": "source", **Q}),
    ("nim", {"trace_across_episodes": True}),
    ("nim3p", {"farl": "off", **Q}),
    ("nim3p", {"learn_from_random": True, "trace": "ET"}),
    ("race", {"max_plies": 5, "sigmoid": True, "tc": "exp"}),
]


def game_of(name):
    """The game of a case."""
    if name == "race":
        return RACE
    if name == "hex":
        return games.load("hex", size=6)
    return games.load({"lines": "tictactoe", "exact": "nim"}.get(name, name))


def settings_of(params):
    """The reference's settings for the learner's parameters."""
    p = sarsa_parameters.DEFAULTS | params
    ends = {k: tuple(v) if isinstance(v, list) else (v, v) for k, v in p.items() if k != "tuples"}
    return SarsaSettings(
        episodes=p["episodes"],
        alpha=ends["alpha"],
        alpha_geometric=p["alpha_schedule"] == "geometric",
        epsilon=ends["epsilon"],
        gamma=p["gamma"],
        lambda_=p["lambda_"],
        horizon_cut=p["horizon_cut"],
        sigmoid=p["sigmoid"],
        multiplicity=not p["distinct_symmetries"],
        newest_num_boards=p["newest_ns"],
        learn_random=p["learn_from_random"],
        random_source=p["random_move_rule"] == "source",
        trace_reset=p["trace"] == "RESET",
        trace_kept=p["trace_across_episodes"],
        tc=None if p["tc"] == "none" else p["tc"],
        tc_beta=p["beta"],
        tc_init=p["tc_init"],
        tc_delta=p["tc_accumulate"] == "delta",
        tc_every=not p["inhibit_counters"],
        step_reward=p["step_reward"],
        max_plies=p["max_plies"] or 10**9,
        random_start=p["choose_start"],
        q_learning=p["method"] == "q",
        farl=p["farl"] == "on",
        kept=p["sarsa_action"] == "kept",
        random_maximum=p["q_maximum"] == "random numbers",
        late_clearing=p["inhibition"] == "executed action",
    )


def tables_of(session):
    """The learner's tables, [players, actions, entries, (w, N, A)]."""
    game, weights = session.game, session.net.action_weights
    counters = session.net.arrays.counters
    if not counters.size:
        counters = np.full(2 * weights.size, session.params["tc_init"])
    counters = counters.reshape(game.players, -1, game.actions, 2).transpose(0, 2, 1, 3)
    return np.concatenate([weights[..., None], counters], axis=3)


def reference_tables(session, reference):
    """The reference's dictionaries in the same form."""
    tables = np.zeros((*session.net.action_weights.shape, 3))
    tables[..., 1:] = reference.set.tc_init
    for p in range(session.game.players):
        offset = 0
        for i, cells in enumerate(session.net.tuples):
            for column, part in enumerate((reference.weights, reference.sums, reference.absolutes)):
                for (j, action), x in part[p][i].items():
                    tables[p, action, offset + j, column] = x
            offset += int(np.prod(session.game.num_codes[cells], dtype=np.int64))
    return tables


def text_of(case):
    return case if isinstance(case, str) else "-".join(f"{k}={v}" for k, v in case.items())


@pytest.mark.parametrize("name, changes", one_in(20, CASES), ids=text_of)
def test_learner_gives_the_weights_of_the_reference(name, changes):
    params = {"episodes": 150, "precision": "float64", **BASE[name], **changes}
    session = sarsa.Session(game_of(name), params, seed=3)
    stream = Splitmix64(session.mem.rng[0])
    reference = SarsaReference(session.game, session.net.tuples, settings_of(params), stream)
    for _ in range(3):
        session.train(EPISODES.get(name, 150) // 3)
        reference.train(EPISODES.get(name, 150) // 3)
        assert session.moves == reference.moves
        assert int(session.mem.rng[0]) == reference.stream.state
    found, wanted = tables_of(session), reference_tables(session, reference)
    if name == "exact":  # one weight a value, no tanh: the same operations on the same numbers
        assert np.array_equal(found, wanted)
    assert np.abs(found - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())
    assert np.count_nonzero(found[..., 0]) > 15


# ------------------------------------------------------------------------------------- fixed points

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


def test_truncated_episode_says_nothing_about_its_last_state():
    params = {**LINEAR, "step_reward": -STEP, "max_plies": 3}
    session = sarsa.Session(CHAIN, params, 0)
    session.train(10)
    values = [session.net.action_values([k])[0] for k in range(5)]
    assert values == [-3 * STEP, -2 * STEP, -STEP, 0.0, 0.0]
    assert session.statistics()["truncated"] == 10 and session.moves == 30


def nim_by_dynamic_programming(game):
    """Q*(s, a) of every state for the player to move, both players playing perfectly."""
    heaps, stones = game.cells, int(game.num_codes[0]) - 1
    values = {}
    for heights in sorted(itertools.product(range(stones + 1), repeat=heaps), key=sum):
        for p in range(2):
            s = np.array([*heights, p], np.int32)
            if game.over(s):
                continue
            q = {}
            for a in game.legal(s).tolist():
                after = game.play(s, a)
                if game.over(after):
                    q[a] = float(game.score(after)[p])
                else:
                    q[a] = -max(values[tuple(after.tolist())].values())
            values[tuple(s.tolist())] = q
    return values


def write_values(net, game, values):
    """Write Q of every state into a network whose only tuple is the whole board."""
    weights = net.action_weights
    for s, q in values.items():
        index = sum(c * 4**h for h, c in enumerate(s[:-1]))
        for a, value in q.items():
            weights[s[-1], a, index] = value


@pytest.mark.parametrize("changes", [{}, Q, KEPT, {**Q, "farl": "off"}], ids=text_of)
def test_perfect_values_of_nim_are_a_fixed_point(changes):
    game = games.load("nim", heaps=2, stones=3)
    session = sarsa.Session(game, {**LINEAR, "alpha": 0.7, "choose_start": True, **changes}, 4)
    values = nim_by_dynamic_programming(game)
    write_values(session.net, game, values)
    for s, q in values.items():
        assert dict(zip(game.legal(s).tolist(), session.net.action_values(s), strict=True)) == q
    before = session.net.checksum()
    session.train(500)
    assert session.net.checksum() == before and session.statistics()["mean_abs_delta"] == 0.0
    session.net.weights[:] *= -1.0  # the worst moves for the best: no fixed point
    wrong = session.net.checksum()
    session.train(5)
    assert session.net.checksum() != wrong


@pytest.mark.parametrize("method", ["sarsa", "q"])
def test_nim_is_learned_perfectly(method):
    game = games.load("nim", heaps=2, stones=3)
    params = {"method": method, "alpha": [0.5, 0.05], "epsilon": [0.5, 0.05], "episodes": 20_000}
    session = sarsa.Session(game, params | {"choose_start": True}, 1)
    session.train(20_000)
    compared = 0
    for s, q in nim_by_dynamic_programming(game).items():
        if s in reachable(game) and max(q.values()) == 1.0:  # a lost position has no right move
            learned = session.net.action_values(s)
            assert q[int(game.legal(s)[np.argmax(learned)])] == 1.0, s
            compared += 1
    assert compared > 20


def reachable(game):
    """All states that play can lead to, as tuples."""
    seen, border = set(), [game.start()]
    while border:
        s = border.pop()
        if tuple(s.tolist()) not in seen:
            seen.add(tuple(s.tolist()))
            border += [game.play(s, a) for a in game.legal(s)]
    return seen


def test_no_final_adaptation_leaves_the_winner_ignorant():
    """Who is to move next learns that the game is lost; who made the last move hears nothing."""
    params = {"farl": "off", "epsilon": 1.0, "alpha": 0.5}
    session = sarsa.Session(games.load("tictactoe"), params, 0)
    session.train(300)
    assert session.net.weights.min() < -0.1 and session.net.weights.max() <= 0.0


# ----------------------------------------------------------------------------------------- sessions

RUNS = [
    ("tictactoe", {"tc": "exp", **TRACE}),
    ("nim3p", Q),
    ("race", {"trace_across_episodes": True, **KEPT}),
    ("lines", {**LATE, **TRACE, "trace_across_episodes": True}),
]


def session_for(name, changes, seed=5):
    params = {"episodes": 100, **BASE[name], **changes, "precision": "float64"}
    return sarsa.Session(game_of(name), params, seed)


@pytest.mark.parametrize("name, changes", RUNS, ids=text_of)
def test_training_in_parts_gives_the_same_bits(name, changes):
    whole, parts, resumed = (session_for(name, changes) for _ in range(3))
    whole.train(90)
    for n in (1, 0, 12, 30):
        parts.train(n)
    resumed.train(3)  # what a checkpoint replaces must not matter
    resumed.load_state_dict({k: v.copy() for k, v in parts.state_dict().items()})
    assert resumed.net.checksum() == parts.net.checksum()
    for session in (parts, resumed):
        session.train(47)
        assert session.statistics() == whole.statistics()
        for k, array in whole.state_dict().items():
            assert np.array_equal(array, session.state_dict()[k]), k


def test_trained_session_plays_in_the_arena_and_shows_its_values():
    game = games.load("tictactoe")
    session = sarsa.Session(game, {**BASE["tictactoe"], "episodes": 8000}, 1)
    session.train(8000)
    table = arena.matches(game, {"sarsa": session, "Max-N": players.MaxN(10)}, episodes=5)
    scores = [row["score"] for row in rows_of(table) if row["player"] == "sarsa"]
    assert len(scores) == 10 and min(scores) == 0.0
    s = game.play(game.start(), 0)
    values = dict(zip(game.legal(s).tolist(), session.net.action_values(s), strict=True))
    assert max(values, key=values.get) == 4  # the only reply that does not lose
    drawn = str(game.view(s, values=values))
    assert "<svg" in drawn and drawn != str(game.view(s))


def rows_of(table):
    """Rows of a result table as dictionaries."""
    return table.to_dict("records") if hasattr(table, "to_dict") else list(table)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sarsa", "q"])
def test_trained_session_is_wrapped_by_a_search(method):
    """PUCT takes Q(s, a) as it takes r + gamma V(s'), and finds what the network overlooks."""
    game = games.load("tictactoe")
    session = sarsa.Session(game, {**BASE["tictactoe"], "method": method, "episodes": 300}, 1)
    session.train(300)
    s = game.parse("x x .  o o .  . . .")  # the third of the top row wins
    wrapped = players.Wrapped(session, iterations=200)
    wrapped.new_match(game, [], 0, 1)
    assert wrapped.choose(s) == 2 and wrapped.values(s).shape == (len(game.legal(s)),)
    few = sarsa.Session(game, {**BASE["tictactoe"], "method": method}, 1)
    bare, searched = (
        sum(arena.match(game, [agent, players.MaxN(10)], seed=k).scores[0] for k in range(10))
        for agent in (few, players.Wrapped(few, iterations=500))
    )
    assert searched > bare


def test_study_trains_records_and_takes_from_the_records(tmp_path, monkeypatch):
    """A study makes the same of SARSA as of TD-learning, and finds its records again."""
    make_place(tmp_path, monkeypatch)
    game, found = games.load("tictactoe"), []
    for _ in range(2):
        params = {"runs": 2, "episodes": 300, "eval_every": 150}
        study = Study("small", profile="paper", params=params, workers=1)
        found.append(study.run("SARSA", sarsa, game=game, curve=[Weights()], final=[TICTACTOE]))
        sources = {state.provenance[state.job.key] for state in study.states}
        study.finish()
    assert found[0].equals(found[1]) and sources == {"recorded"}
    assert {"mass", "win_rate:Max-N-10", "active_weights"} <= set(found[0].metric)
    records = [json.loads(p.read_text()) for p in study.records.directory.glob("train-*.json")]
    assert {r["learner"]["name"] for r in records} == {"sarsa"} and len(records) == 2
    assert study.net("SARSA", 1).checksum() in {r["checksum"] for r in records}


def test_learner_can_be_recorded():
    full = learner_parameters(sarsa, {"method": "q", "alpha": 1}, 500)
    assert full["episodes"] == 500 and full["alpha"] == 1.0 and full["sarsa_action"] == "anew"
    assert learner_identity(sarsa) == {"name": "sarsa", "version": sarsa.VERSION}
    assert numeric_sources(games.load("nim"), sarsa)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"metod": "q"}, "did you mean 'method'"),
        ({"method": "td"}, "'sarsa', 'q'"),
        ({"farl": "first"}, "'on', 'off'"),
        ({"q_maximum": "random numbers"}, "sarsa_action='kept'"),
        ({"q_maximum": "random numbers", "method": "q"}, "sarsa_action='kept'"),
        ({"greedy": "value"}, "no parameter 'greedy'"),
        ({"lambda_": 1.0}, "endless trace"),
        ({"tuples": [[99]]}, "off the board"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        sarsa.Session(games.load("nim"), params, 0)


def test_game_must_say_what_symmetries_make_of_its_actions():
    good = games.load("tictactoe")
    arguments = dict(good._arguments)
    arguments["action_symmetries"] = None
    game = type(good)(arguments.pop("name"), **arguments)
    with pytest.raises(ValueError, match="action_symmetries"):
        sarsa.Session(game, {}, 0)


def test_too_many_actions_are_refused():
    with pytest.raises(ValueError, match="do not fit 32-bit indices"):
        sarsa.Session(games.load("othello"), {"tuples": [list(range(14))]}, 0)
