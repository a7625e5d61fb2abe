"""Wrong arguments of public calls: each is an error that names the value, none crashes.

A row of the table is a call with a place for the wrong value ``_`` and the values that go there.
All of them are tried in one process of its own, because the worst of them could end it.
"""

import json
import re
from collections import Counter
from functools import cache

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterply import games
from afterply.kernel.random import seed_from
from afterply.learners import td
from oldest import said_by

# kinds of wrong values
WHOLE = ["0", "-1", "1.5", "True", "'3'", "None", "nan"]  # for a whole number of at least 1
COUNT = WHOLE[1:]  # ... of at least 0
SHARE = ["nan", "-0.5", "1.5", "'1'", "None", "[0.5]"]  # for a number between 0 and 1
GAME = ["None", "3", "'tictactoe'"]
WORD = ["None", "3", "'nothing'", "['first']"]
SEED = ["1.5", "None", "'1'", "[1]", "True"]
FLAG = ["1", "'no'", "[]", "None"]
PATH = ["3", "None", "[]", "'a\\0b'"]
TIMES = ["2**31", "10**30"]  # for how often something is done

PLAYERS = [
    ("players.MaxN(_)", WHOLE),
    ("players.MinMax(_)", WHOLE),
    ("players.MinMax(3, ties=_)", WORD),
    ("players.MCTS(_)", [*WHOLE, "10**8"]),
    ("players.MCTS(5, k=_)", ["-1", "nan", "inf", "'1'", "None", "True"]),
    ("players.MCTS(5, reward_range=_)", ["(1, 0)", "(0, 0)", "5", "'ab'", "(nan, 1)", "(0,)"]),
    ("players.Wrapped(_)", ["None", "3", "'connect4'", "[]", "one"]),
    ("players.Wrapped(net, _)", [*WHOLE, "10**8"]),
    ("players.Wrapped(net, prior=_)", WORD),
    ("players.Wrapped(net, max_depth=_)", ["0", "1.5", "'x'", "True"]),
    ("players.Wrapped(net, tree_reuse=_)", ["'no'", "1", "None"]),
    ("players.Wrapped(net, **{_: 1})", ["'external'", "'foo'"]),
    ("players.Random().playing(_)", GAME),
    ("players.Random().playing(game, _).name", SEED),
    ("players.Greedy(_)", ["None", "3", "'net'", "[]", "game"]),
    ("players.Greedy(net, _)", SHARE),
    ("positional.Positional(_)", ["None", "'abc'", "[nan]", "[[1, 2]]", "[]", "3"]),
    ("players.Careless(players.Random(), _)", SHARE),
    ("players.Function(_)", ["None", "3", "'f'"]),
    ("players.wrap(_)", ["None", "3", "'Random'", "[]", "players.Random", "Carrier()"]),
    ("opponents.at_strength(game, _)", ["nan", "-500", "1e6", "'300'", "None", "True"]),
    ("opponents.at_strength(_, 300)", [*GAME, "nim3p"]),
    ("players.Random().new_match(_, [], 0, 1)", GAME),
    ("players.MinMax(3).new_match(_, [], 0, 1)", [*GAME, "nim3p", "g2048"]),
    *(
        (f"{made}.new_match(game, [], 0, _)", SEED)
        for made in (
            "players.Random()",
            "players.MCTS(5)",
            "players.MinMax(3)",
            "players.Wrapped(net)",
            "agent",
        )
    ),
    ("contest(game, agent, agent, _)", WHOLE),
    ("contest(game, agent, agent, 3, seed=_)", SEED),
    ("agents.learned(_)", ["None", "net", "3", "agent"]),
    ("agents.learned(q, epsilon=_)", [*SHARE, "5", "-1"]),
    ("agents.learned(q, temperature=_)", ["nan", "-1", "'1'", "None"]),
    ("agents.min_max(_)", [*GAME, "nim3p", "g2048"]),
    ("agents.min_max(game, depth=_)", COUNT),
    ("weaken.weakened(_, 'noise', 0.5)", ["None", "net", "agent"]),
    ("weaken.weakened(q, _, 0.5)", WORD),
    ("weaken.weakened(q, 'noise', _)", SHARE),
    ("weaken.weakened(q, 'noise', 0.5, seed=_)", SEED),
    ("positional.Bench(_)", WORD),
    ("perfect.Perfect(_)", WORD),
    ("gtp.Rhino(_)", [*WHOLE, "11"]),
    ("gtp.Edax(_)", [*COUNT, "61"]),
    ("gtp.Player(_, 'x')", ["'program'", "[]", "None", "3"]),
    ("gtp.Player(['program'], 'x', timeout=_)", ["0", "-1", "nan", "'5'", "None"]),
]
ARENA = [
    ("arena.match(_, [one, one])", GAME),
    ("arena.match(game, _)", ["[]", "[one]", "[one] * 3", "None", "3", "'ab'", "{'a': one}"]),
    ("arena.match(game, [one, one], _)", ["3", "'x'", "[]", "(state,)", "(state, 5)"]),
    ("arena.match(game, [one, one], (_, []))", ["[1, 2]", "'x'", "None", "full.tolist()"]),
    ("arena.match(game, [one, one], seed=_)", SEED),
    ("arena.match(game, [one, one], max_plies=_)", WHOLE),
    ("arena.match(game, [one, lambda s: _])", ["99", "-1", "None", "0.0", "'a1'"]),
    ("arena.matches(_, {'a': one, 'b': one})", GAME),
    ("arena.matches(game, _)", ["[]", "None", "{}", "3", "[one, one]"]),
    ("arena.matches(game, {'a': _, 'b': one})", ["None", "3", "'Random'", "players.Random"]),
    ("arena.matches(game, both, [_])", ["3", "'x'", "(state,)", "([1, 2], [])"]),
    ("arena.matches(game, both, episodes=_)", WHOLE),
    ("arena.matches(game, both, seats=_)", ["'both'", "3", "None", "[('a',)]", "[('a', 'z')]"]),
    ("arena.starts_all(game, _)", COUNT),
    ("arena.starts_upto(game, _)", COUNT),
    ("arena.starts_after(game, [[_]])", ["99", "-1", "'a'", "None", "1.5"]),
    ("arena.starts_random(game, _)", WHOLE),
    ("arena.starts_random(_, 1)", GAME),
    ("arena.starts_random(game, 2, seed=_)", SEED),
    ("arena.matches(game, both, seed=_)", SEED),
    ("arena.matches(game, both, workers=_)", WHOLE),
    ("arena.tournament(nim, both, seed=_).results", SEED),
    ("arena.tournament(nim, both, _).results", WHOLE),
    ("evaluators.Matches('b', players.Random, episodes=_).settings", WHOLE),
    ("evaluators.NIM(nim, one, _)", SEED),
    ("Table(game, [one], seed=_).state", SEED),
    ("arena.win_rate(_)", ["[]", "[nan]", "[None]", "[1.0, nan]"]),
    ("arena.win_rate([1.0], _)", ["(1, 0)", "(0, 0)", "(nan, 1)"]),
    ("ratings.fit(_)", ["None", "3", "games[:0]", "games.drop(columns='wins')"]),
    ("ratings.fit(games.assign(wins=_))", ["-1.0", "nan", "inf", "'many'"]),
    ("ratings.ratings(games, prior=_)", ["-1", "nan", "inf", "'1'", "None"]),
]
LEARNERS = [
    ("td.Session(_, {})", GAME),
    ("td.Session(_)", GAME),
    ("td.Session(game, _)", ["3", "[]", "{'alpah': 1.0}", "{3: 1.0}", "{'tc': 'id'}"]),
    ("td.Session(game, seed=_)", SEED),
    ("td.Session(game, alpha=_)", ["-1", "[1]", "[1, 2, 3]", "nan", "'1'", "True", "None"]),
    ("td.Session(game, epsilon=_)", ["2", "-1", "[0.1, -0.1]", "nan", "'1'"]),
    ("td.Session(game, lambda_=_)", [*SHARE, "1.0"]),
    ("td.Session(game, episodes=_)", WHOLE),
    ("td.Session(game, max_plies=_)", COUNT),
    ("td.Session(game, tc=_)", WORD),
    ("td.Session(game, tc='id', tc_init=_)", ["0.0", "-1", "nan", "'1'"]),
    ("td.Session(game, weight_init=_)", ["1.0", "-2", "inf", "'1'"]),
    ("td.Session(game, sigmoid=_)", ["1", "None", "'yes'"]),
    ("td.Session(game, farl=_)", WORD),
    ("td.Session(game, step_reward=_)", ["nan", "inf", "'1'", "None"]),
    ("td.Session(game, tuples=_)", ["[]", "[[0, 0]]", "[[9]]", "[[-1]]", "'nothing'", "3"]),
    ("tabular.Session(_, {})", [*GAME, "nim3p"]),
    ("tabular.Session(game, _)", ["3", "[]", "{'alpah': 1.0}"]),
    ("tabular.Session(game, {}, _)", SEED),
    ("tabular.Session(game, {'alpha': _})", SHARE),
    ("tabular.Session(game, {'minimax_depth': _})", COUNT),
    ("tabular.Session(game, {'snapshots': _})", ["[0]", "3", "['a']", "[1.5]", "None", "[True]"]),
    ("session.train(_)", COUNT),
]
GROUND = [  # games and networks
    ("load(_)", ["None", "3", "'hexx'", "''"]),
    ("load('hex', size=_)", ["0", "-1", "1.5", "'6'", "99"]),
    ("load('nim', colour=_)", ["3"]),
    ("load('hex', size=3).start(_)", SEED),
    ("new_rng(_)", SEED),
    ("conformance.check(nim, _).checks", WHOLE),
    ("conformance.check(nim, 2, max_plies=_).checks", WHOLE),
    ("mcts.search(game, state, _)", WHOLE),
    ("mcts.search(game, state, 5, seed=_)", SEED),
    ("puct.Search(game, net).plant(state, _)", SEED),
    ("game.play(state, _)", ["9", "-1", "99", "'d4'"]),
    ("game.action(state, _)", ["'d4'", "3", "None"]),
    ("game.from_array(_)", ["[1, 2]", "'xo'", "None"]),
    ("game.from_array([[0] * 3] * 3, _)", ["2", "-1", "'x'"]),
    ("game.legal(_)", ["[1, 2]", "[[0] * 10]"]),
    ("game.after([_])", ["9", "-1", "99"]),
    ("ntuple.Network(game, _)", ["[]", "[[0, 0]]", "[[9]]", "[[-1]]", "[['a']]", "[[0.5]]"]),
    ("ntuple.Network(game, [[0]], precision=_)", WORD),
    ("linear.Linear(_)", ["game", "nim3p"]),
    ("linear.Linear(checkers, _)", WORD),
    ("linear.Linear(checkers, depth=_).depth", [*WHOLE, "65"]),
    ("linear.Linear(checkers, weights=_)", ["[1.0]", "[nan]", "3", "'abc'"]),
    ("td.Session(game, tuples={'random_walk': _, 'length': 3})", WHOLE),
    ("td.Session(game, tuples={'random_walk': 3, 'length': _})", [*WHOLE, "10"]),
    ("net.value(state, _)", ["2", "-1"]),
    ("net.value(_, 0)", ["[1, 2]"]),
    ("net.action_values(state, _)", SHARE),
    ("q.action_values(state, _)", SHARE),
]
ADAPTERS = [
    ("pettingzoo.env(_)", ["None", "3", "'hexx'"]),
    ("pettingzoo.env(game, **{_: 4})", ["'size'"]),
    ("pettingzoo.env(game, render_mode=_)", ["3", "'human'", "['ansi']"]),
    ("pettingzoo.env(game, observation=_)", WORD),
    ("vector(game, _).num_envs", WHOLE),
    ("vector(game, 2, _)", ["'random'", "3", "[]"]),
    ("vector(game, 2, seat=_)", [*COUNT, "2"]),
    ("vector(game, 2, max_steps=_).max_steps", COUNT),
    ("vector(game, 2).step(_)", ["[1]", "[0.5, 0.5]", "'ab'"]),
    ("vector(nim, 2, lambda states: [_] * len(states), seat=1).reset()", ["99", "-1"]),
    ("open_spiel.Bot(_)", ["None", "3", "'mcts'"]),
    ("open_spiel.mcts(_).name", WHOLE),
    ("open_spiel.to_bot(_, 'tic_tac_toe')", ["None", "3", "'mcts'"]),
    ("open_spiel.to_bot(one, _)", ["'chess'", "'ludo'", "'kalah'"]),
    ("open_spiel.to_bot(one, 'tic_tac_toe', _).mover.rng", SEED),
    ("policies.to_policy(one, _)", ["None", "3", "game"]),
    ("policies.Policy(_)", ["None", "3", "'left'"]),
    ("policies.Policy(max, _)", WORD),
]
BORDER = [
    ("agent(state, seed=_)", SEED),
    ("one.playing(game, _)", SEED),
    ("arena.matches(nim, both, strict=_)", FLAG),
    ("arena.matches(nim, both, forfeit=_)", FLAG),
    ("arena.matches(nim, both, path=_)", ["3", "[]", "'a\\0b'"]),
    ("arena.matches(game, both, episodes=_)", TIMES),
    ("contest(game, agent, agent, _)", TIMES),
    ("session.train(_)", TIMES),
    ("ntuple.Network(game, [[0]], sigmoid=_)", FLAG),
    ("ntuple.Network(game, [[0]], shared_tables=_)", FLAG),
    ("net.save(_)", PATH),
    ("net.save('net.npz', _)", FLAG),
    ("players.load(_)", PATH),
    ("session.load_state_dict(_)", ["None", "3", "'rng'", "object()"]),
    ("session.load_state_dict(session.state_dict() | {'q': _})", ["None", "3", "[1.0]"]),
    ("game.action_name(state, _)", ["None", "'a1'", "-1", "9", "1.5", "circle"]),
    ("game.parse(_)", ["None", "3", "[1]"]),
    ("game.view(state, last=_)", ["'a1'", "9", "circle"]),
    ("game.view(state, values=_)", ["3", "'ab'", "{0: 'a'}", "{9: 1.0}", "circle"]),
    ("game.random_start(_)", ["None", "3", "1.5"]),
    ("td.Session(game, alpha=_)", ["circle"]),
    ("players.MaxN(9, positions=_)", ["0", "1.5", "'3'", "True"]),
]
TABLE = PLAYERS + ARENA + LEARNERS + GROUND + ADAPTERS + BORDER

SAID = {  # other words for a value
    "3": "not int",
    "circle": "holds itself",
    "[]": "at least one",
    "{}": "not 0,",
    "([1, 2], [])": "shape (2,)",
    "[1, 2]": "shape (2,)",
    "[[0] * 10]": "shape (1, 10)",
    "full.tolist()": "is terminal",
    "games[:0]": "0 rows",
}
NAMES = """
import math

import pandas as pd

from afterply import arena, games, opponents, players
from afterply.studies import evaluators
from afterply.adapters import open_spiel, pettingzoo, policies
from afterply.adapters.gymnasium import vector
from afterply.arena import ratings
from afterply.games import conformance
from afterply.kernel import new_rng
from afterply.learners import tabular, td
from afterply.networks import ntuple
from afterply.networks.table import QTable
from afterply.studies.papers.mandziuk2004 import linear
from afterply.players import agents, positional
from afterply.opponents import gtp, perfect, weaken
from afterply.players.agents import contest
from afterply.screen.game_table import Table
from afterply.search import mcts, puct

class Carrier:
    net = None  # it carries a network, but is neither player nor session

circle = [1]
circle.append(circle)
load, nan, inf = games.load, math.nan, math.inf
game, nim, nim3p, g2048, checkers = map(load, "tictactoe nim nim3p game2048 checkers".split())
state, full, one = game.start(), game.parse("x o x x o o o x x"), players.Random()
both, net, q = {"a": one, "b": one}, ntuple.Network(game, [range(9)]), QTable(game)
agent, session = agents.chance(game), tabular.Session(game, {}, 1)
columns = ["first", "second", "wins", "draws", "losses"]
games = pd.DataFrame([("a", "b", 5, 1, 4), ("b", "a", 5, 1, 4)], columns=columns)
"""


def filled(call, value) -> str:
    return re.sub(r"(?<!\w)_(?!\w)", lambda _: value, call)


def words(value, meant):
    """What an error may call a wrong value: itself, its name, kind, length or contents."""
    yield from (value, SAID.get(value, value), repr(meant)[:30], str(meant)[:30])
    yield from re.findall(r"'(\w+)'", value)
    yield getattr(getattr(meant, "game", meant), "name", value)
    if not isinstance(meant, (int, float, str)):
        yield type(meant).__name__
    if isinstance(meant, (list, tuple, dict)):
        yield from map(repr, meant)
        yield f"{len(meant)} players"


def try_all():
    """Print what became of every call: call, value, kind of error, text, whether it is named."""
    known = {}
    exec(NAMES, known)
    for call, values in TABLE:
        for value in values:
            print(json.dumps(["now", filled(call, value)]), flush=True)
            error, text = "", ""
            try:
                eval(filled(call, value), known)
            except Exception as raised:
                kinds = [t.__name__ for t in (ValueError, TypeError) if isinstance(raised, t)]
                error, text = [*kinds, type(raised).__name__][0], str(raised)
            named = any(word.lower() in text.lower() for word in words(value, eval(value, known)))
            print(json.dumps([call, value, error, text[:300], named]))


@pytest.fixture(scope="module")
def outcomes():
    said = said_by("import test_bad_calls; test_bad_calls.try_all()")
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("[")]
    found = [line for line in lines if line[0] != "now"]
    assert len(found) == sum(len(values) for _, values in TABLE) > 400
    return found


@pytest.mark.parametrize("call", dict.fromkeys(call for call, _ in TABLE))
def test_a_wrong_value_is_an_error_that_names_it(outcomes, call):
    for tried, value, error, text, named in outcomes:
        if tried == call:
            wrong = filled(call, value)
            assert error, f"{wrong} passes in silence"
            assert error in ("ValueError", "TypeError"), f"{wrong} raises {error}: {text}"
            assert named, f"{wrong} does not name the value: {text}"


@pytest.mark.slow
def test_nearly_every_value_in_every_place_is_a_clear_error_and_none_ends_the_process():
    import every_value

    ends = Counter(end for _, _, end, _ in every_value.tried(step=131))
    assert not ends["crash"] and not ends["hang"] and ends.total() > 100
    assert ends["unclear"] <= 0.1 * ends["clear"]


# ------------------------------------------------------- whole numbers of numpy are whole numbers
NUMBERS = [
    (call, k)
    for call, values in TABLE
    for k in (1, 2) + (-7,) * (values is SEED)
    if values in (WHOLE, COUNT, SEED) or values[: len(WHOLE)] == WHOLE
    if not (k > 1 and "workers" in call)
]


@cache
def known() -> dict:
    names = {}
    exec(NAMES, names)
    return names


def outcome(call, k):
    try:
        return joblib.hash(eval(filled(call, "k"), known() | {"k": k}))  # types count, too
    except RuntimeError as error:  # a match of one ply
        return str(error)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(NUMBERS), st.sampled_from("bhilqBHILQ"))
def test_a_whole_number_of_numpy_is_a_whole_number(row, kind):
    call, k = row
    typed = np.dtype(kind).type(k if k > 0 or kind.islower() else -k)
    assert outcome(call, int(typed)) == outcome(call, typed)


def test_seeds_from_names_do_not_know_the_types_of_numpy():
    plain = seed_from(4, "a", True, 0.5, (1, 2))
    assert plain == seed_from(
        np.int8(4), np.str_("a"), np.bool_(True), np.float64(0.5), (1, np.uint(2))
    )
    assert seed_from(4) == 3160754778751018753 != seed_from("4")


def test_diverging_values_are_reported():
    params = {"sigmoid": False, "alpha": 50.0, "lambda_": 0.9, "tuples": [[0, 1], [2, 3]]}
    with pytest.raises(FloatingPointError, match="alpha"):
        td.Session(games.load("tictactoe"), **params, seed=1).train(3000)


def test_a_random_start_position_that_is_already_over():
    game = games.load("nim", heaps=1, stones=1)
    session = td.Session(game, choose_start=True, max_plies=9)
    session.train(100)
    assert session.episode == 100 and session.moves <= 100
