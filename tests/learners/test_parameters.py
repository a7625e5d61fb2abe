"""One parameter of a session changed keeps the others; a dictionary cannot be mistaken for it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterply import games
from afterply.learners import learners, td
from afterply.learners.parameters import check_parameters, usual
from sample_games import race

LEARNERS = learners()
TWO = [*map(games.load, ("tictactoe", "hex", "nim", "connect4")), race()]
ALONE = [*map(games.load, ("nim3p", "cube2", "game2048"))]  # not for two players
FOR = {"td": TWO + ALONE, "sarsa": TWO[:1], "td_wrapped": TWO, "tabular": TWO[:1]}
FOR |= {"td_search": [games.load("giveaway")]}
PAIRS = [(learner, game) for name, learner in LEARNERS.items() for game in FOR[name]]
named = pytest.mark.parametrize(
    "learner, game", PAIRS, ids=lambda one: getattr(one, "NAME", None) or one.name
)


def another(parameter):
    """Return a value of a declared parameter that is not its default."""
    if parameter.kind in ("other", "list"):
        return [[0]] if parameter.kind == "other" else [7]
    values = [*parameter.choices, True, False, 0.5, 3.0, 3, 1, 0]
    possible = (v for v in values if v != parameter.default and parameter.problem(v) is None)
    return next(possible)


@named
def test_one_parameter_changed_keeps_the_others(learner, game):
    before = learner.Session(game, seed=3)
    for name in ("gamma", *(["alpha"] if "alpha" in learner.PARAMETERS else [])):
        value = 0.7 * learner.DEFAULTS[name]
        session = learner.Session(game, seed=3, **{name: value})
        assert session.params == before.params | {name: value} != before.params
        assert session.seed == 3
    own = learner.DEFAULTS | {k: v for k, v in before.params.items() if k == "tuples"}
    for full in (before.params, own):  # it stays what it is
        assert learner.Session(game, full).params == full
        assert learner.Session(game, full, gamma=0.5).params == full | {"gamma": 0.5}


@named
def test_every_parameter_can_be_changed_alone(learner, game):
    declared, before = learner.PARAMETERS, check_parameters(learner.PARAMETERS, None, game)
    assert before == learner.DEFAULTS | usual(declared, game)
    for name, parameter in declared.items():
        value = another(parameter)
        assert check_parameters(declared, None, game, {name: value}) == before | {name: value}
    for wrong in ("no_such_thing", name + "x"):
        words = rf"no parameter '{wrong}': (did you mean '{name}'|known are)"
        with pytest.raises(ValueError, match=words):
            learner.Session(game, **{wrong: 1})
    with pytest.raises(ValueError, match=name):
        learner.Session(game, **{name: float("nan") if declared[name].kind != "other" else "?"})


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_a_dictionary_that_might_mean_two_things_is_refused(data):
    learner, game = data.draw(st.sampled_from(PAIRS))
    declared, stated = learner.PARAMETERS, usual(learner.PARAMETERS, game)
    names = data.draw(st.sets(st.sampled_from([*declared])))
    names |= data.draw(st.sampled_from([set(), set(stated)]))
    dictionary = {name: another(declared[name]) for name in names}
    over_defaults = learner.DEFAULTS | dictionary
    over_usual = learner.DEFAULTS | stated | dictionary
    if over_defaults == over_usual:
        assert check_parameters(declared, dictionary, game) == over_usual
    else:
        with pytest.raises(ValueError, match="leaves out"):
            check_parameters(declared, dictionary, game)


def test_the_remedy_for_a_dictionary_that_leaves_out_parameters():
    connect4 = games.load("connect4")
    with pytest.raises(ValueError, match="leaves out .*tuples.* connect4 has its own") as refused:
        td.Session(connect4, {"alpha": 2.0})
    remedy = re.search(r"Session\(.*?\)", str(refused.value))[0]
    session = eval(remedy, {"Session": td.Session, "game": connect4})
    assert session.params == td.Session(connect4).params | {"alpha": 2.0}
    assert len(session.net.tuples) == 70 and session.params["epsilon"] == [0.1, 0.0]
