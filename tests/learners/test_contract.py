"""The contract of learners, tried on every learner of the package (see `afterstate.learners`)."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import catalogue, conformance
from afterstate.learners.parameters import Parameter, check_parameters, defaults

GAMES = {"td_search": games.load("giveaway")}  # a learner that plays nothing else
# a learner that by default leaves nothing to chance
GIVEN = {"td_wrapped": {"training_exploration": "visits", "iterations": 10}}
TICTACTOE = games.load("tictactoe")
every_learner = pytest.mark.parametrize(
    "learner", catalogue.learners().values(), ids=lambda m: m.NAME
)


def game_of(learner):
    return GAMES.get(learner.NAME, TICTACTOE)


def made(learner, seed=1, run=0, **params):
    # where the number of a run decides, as in a group of learners, a session takes it, too
    numbered = {"run": run} if getattr(learner, "NUMBERED_RUNS", False) else {}
    given = GIVEN.get(learner.NAME, {}) | params
    return learner.Session(game_of(learner), given, seed, **numbered)


@every_learner
def test_one_table_says_all_of_its_parameters(learner):
    assert isinstance(learner.NAME, str) and isinstance(learner.VERSION, int)
    assert learner.DEFAULTS == defaults(learner.PARAMETERS)
    for name, parameter in learner.PARAMETERS.items():
        assert isinstance(parameter, Parameter) and len(parameter.meaning) > 5, name
        assert parameter.problem(parameter.default) is None, name
    assert check_parameters(learner.PARAMETERS, {}) == learner.DEFAULTS
    name = next(iter(learner.PARAMETERS))
    for wrong in ({"no_such_thing": 1}, {name: float("nan")}, {name: None}, {name: "much"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            made(learner, **wrong)


@pytest.mark.slow
@every_learner
def test_it_conforms(learner):
    report = conformance.check(learner, game_of(learner), GIVEN.get(learner.NAME))
    assert report.checks["trainings"] == 5 and report.checks["refusals"] >= 6
    assert str(report).endswith("trainings") and "conforms" in str(report)


@every_learner
def test_a_checkpoint_that_does_not_fit_is_refused(learner):
    session = made(learner)
    for name in session.state_dict():
        for wrong in (None, np.zeros((2, 2, 2), np.int8)):
            arrays = dict(session.state_dict())
            arrays.pop(name) if wrong is None else arrays.update({name: wrong})
            with pytest.raises(ValueError, match="fit"):
                made(learner).load_state_dict(arrays)
