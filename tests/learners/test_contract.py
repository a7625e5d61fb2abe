"""The contract of learners, tried on every learner of the package (see `afterstate.learners`)."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import catalogue
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


@every_learner
def test_training_in_parts_and_over_a_checkpoint_gives_the_same_bits(learner):
    whole, parts = made(learner), made(learner)
    whole.train(30)
    parts.train(10)
    kept = {name: np.array(array) for name, array in parts.state_dict().items()}
    parts.train(20)
    resumed = made(learner, seed=99)
    resumed.load_state_dict(kept)
    assert resumed.episode == 10
    resumed.train(20)
    other = made(learner, seed=2, run=1)
    other.train(30)
    sums = [session.net.checksum() for session in (whole, parts, resumed, other)]
    assert sums[0] == sums[1] == sums[2] != sums[3]
    assert whole.episode == 30 and whole.moves == resumed.moves >= 5 * 30


@every_learner
def test_what_a_record_keeps_is_plain_numbers(learner):
    session, game = made(learner), game_of(learner)
    session.train(5)
    found = session.statistics()
    assert {"episodes", "moves"} <= set(found) and np.isfinite(
        np.hstack(list(found.values()))
    ).all()
    assert isinstance(session.net.checksum(), str) and session.net.game is game
    assert len(session.net.action_values(game.start())) == len(
        game.legal(game.start())
    ) and callable(session.net.save)


@every_learner
def test_a_checkpoint_that_does_not_fit_is_refused(learner):
    session = made(learner)
    for name in session.state_dict():
        for wrong in (None, np.zeros((2, 2, 2), np.int8)):
            arrays = dict(session.state_dict())
            arrays.pop(name) if wrong is None else arrays.update({name: wrong})
            with pytest.raises(ValueError, match="fit"):
                made(learner).load_state_dict(arrays)


@every_learner
@pytest.mark.parametrize("number", [-1, 1.5, True, None, "5"])
def test_episodes_are_whole_numbers(learner, number):
    with pytest.raises(ValueError, match="number of episodes"):
        made(learner).train(number)
