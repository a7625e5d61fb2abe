"""The contract of learners: every learner of the package keeps it, and the check names faults."""

import itertools
import types

import numpy as np
import pytest

from afterply import games, learners
from afterply.learners import check_learner, tabular
from afterply.learners.parameters import Parameter, check_parameters

GAMES = {"td_search": games.load("giveaway")}  # it plays nothing else
# by default it leaves nothing to chance
GIVEN = {"td_wrapped": {"training_exploration": "visits", "iterations": 10}}
TICTACTOE = games.load("tictactoe")
LEARNERS = learners.learners().values()
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda m: m.NAME)


def made(learner, **params):
    given = GIVEN.get(learner.NAME, {}) | params
    return learner.Session(GAMES.get(learner.NAME, TICTACTOE), learner.DEFAULTS | given, 1)


@every_learner
def test_one_table_says_all_of_its_parameters(learner):
    for name, parameter in learner.PARAMETERS.items():
        assert isinstance(parameter, Parameter) and len(parameter.meaning) > 5, name
    assert check_parameters(learner.PARAMETERS, {}) == learner.DEFAULTS
    name = next(iter(learner.PARAMETERS))
    for wrong in ({"no_such_thing": 1}, {name: float("nan")}, {name: None}, {name: "much"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            made(learner, **wrong)


@pytest.mark.slow
@every_learner
def test_it_conforms(learner):
    game = GAMES.get(learner.NAME, TICTACTOE)
    assert "conforms" in check_learner.check(learner, game, GIVEN.get(learner.NAME))


@every_learner
def test_what_can_not_be_trained_or_resumed_is_refused(learner):
    session = made(learner)
    assert (session.episode, session.moves) == (0, 0)
    for number in (-1, 1.5, True, None):
        with pytest.raises(ValueError, match="number of episodes"):
            session.train(number)
    for name in session.state_dict():
        for wrong in (None, np.zeros((2, 2, 2), np.int8)):
            arrays = dict(session.state_dict())
            arrays.pop(name) if wrong is None else arrays.update({name: wrong})
            with pytest.raises(ValueError, match="fit"):
                made(learner).load_state_dict(arrays)


IMPOSSIBLE = (np.nan, np.inf, -1, 10**8, 2**62)
ADDRESSES = {"entry", "num_distinct", "num_different", "num_boards", "head", "length", "counters"}
ADDRESSES |= {"weights", "newest", "older", "owner", "q", "snapshot_counts", "snapshot_q"}


@pytest.mark.filterwarnings("ignore:invalid value")
@every_learner
def test_a_damaged_checkpoint_is_refused_or_does_no_harm(learner):
    """An index that leaves its array would end this process."""
    snapshots = {"snapshots": [2]} if "snapshots" in learner.DEFAULTS else {}
    session, refused = made(learner, **snapshots), set()
    session.train(2)
    good = {name: array.copy() for name, array in session.state_dict().items() if array.size}
    for name, value, place in itertools.product(good, IMPOSSIBLE, (0, -1)):
        arrays, again = session.state_dict() | good, made(learner, **snapshots)
        arrays[name] = good[name].copy()
        arrays[name].flat[place] = np.array(value).astype(good[name].dtype)
        try:
            again.load_state_dict(arrays)
            again.train(1)
        except ValueError:
            refused.add(name)
        except FloatingPointError:
            pass
    assert refused >= ADDRESSES & good.keys()


NIM = games.load("nim", heaps=2, stones=2)
ELSEWHERE = np.random.default_rng(0)  # what no checkpoint holds
Session = tabular.Session


def check(changed=None, **members):
    """Check the tabular learner with other members of the module, or of its session."""
    members = {"Session": type("Session", (Session,), members)} | (changed or {})
    return check_learner.check(types.SimpleNamespace(**vars(tabular) | members), NIM)


def draw_elsewhere(self, num_episodes):
    Session.train(self, num_episodes)
    self.net.table.q[0] += ELSEWHERE.random()


def test_a_learner_that_keeps_the_contract_passes_and_an_empty_one_does_not():
    assert check() == "learner 'tabular' on nim: conforms"
    with pytest.raises(check_learner.NotConforming, match="no VERSION, PARAMETERS, DEFAULTS, Sess"):
        check_learner.check(types.SimpleNamespace(NAME="empty"), NIM)


@pytest.mark.parametrize(
    "name, member, said",
    [
        ("DEFAULTS", {"alpha": 0.4}, "nothing is stated twice"),
        (
            "__init__",
            lambda self, g, p, s=0, **c: Session.__init__(self, g, {}, s),
            "without a word",
        ),
        (
            "__init__",
            lambda self, g, p, s=0: Session.__init__(self, g, p, s),
            "no_such_parameter=1",
        ),
        (
            "__init__",
            lambda self, g, p=None, s=0, **c: Session.__init__(self, g, p, s),
            "changed is",
        ),
        (
            "__init__",
            lambda self, g, p=None, s=0, **c: Session.__init__(self, g, p, 1, **c),
            "another seed",
        ),
        ("train", lambda self, n: None, "count every finished episode"),
        ("train", lambda self, n: Session.train(self, abs(n)), "is taken"),
        ("train", draw_elsewhere, "the second time"),
        (
            "load_state_dict",
            lambda self, arrays: Session.load_state_dict(self, arrays | {"rng": self.work.rng}),
            "must keep, and state_dict.. hold",
        ),
        ("statistics", lambda self: {"episodes": 1}, "lacks episodes or moves"),
    ],
)
def test_each_fault_is_named_with_its_remedy(name, member, said):
    with pytest.raises(check_learner.NotConforming, match=said):
        check({name: member}) if name.isupper() else check(**{name: member})
