"""The check of a learner names every fault with its remedy, and passes what keeps the contract."""

import types

import numpy as np
import pytest

from afterstate import games
from afterstate.kernel.random import new_rng, random_int
from afterstate.learners import conformance, parameters
from afterstate.learners.session import check_episodes
from afterstate.networks.table import QTable

GAME = games.load("nim", heaps=2, stones=2)
TABLE = {"alpha": parameters.fraction(0.5, "step size")}
ELSEWHERE = np.random.default_rng(0)  # what no checkpoint holds


class Session:
    """A random walk whose actions move towards the result."""

    def __init__(self, game, params, seed=0):
        self.game, self.params = game, parameters.check_parameters(TABLE, params)
        self.net, self.rng, self.counts = QTable(game), new_rng(seed), np.zeros(2, np.int64)

    episode = property(lambda self: int(self.counts[0]))
    moves = property(lambda self: int(self.counts[1]))

    def draw(self, n):
        return random_int(self.rng, n)

    def train(self, num_episodes):
        for _ in range(check_episodes(num_episodes)):
            state = self.game.start()
            while not self.game.over(state):
                place = self.draw(len(self.game.legal(state)))
                action = int(self.game.legal(state)[place])
                old = self.net.action_values(state)[place]
                after = self.game.next(state, action)
                reward = self.game.score(after)[self.game.player(state)]
                self.net.put(state, action, old + self.params["alpha"] * (reward + 0.1 - old))
                state = after
                self.counts[1] += 1
            self.counts[0] += 1

    def statistics(self):
        return {"episodes": self.episode, "moves": self.moves}

    def state_dict(self):
        return {"rng": self.rng, "counts": self.counts, **self.net.arrays()}

    def load_state_dict(self, arrays):
        self.net.load_arrays({name: arrays[name] for name in self.net.arrays()})
        self.rng[:], self.counts[:] = arrays["rng"], arrays["counts"]


def learner(session=Session, **changed):
    named = {"NAME": "walk", "VERSION": 1, "PARAMETERS": TABLE}
    named |= {"DEFAULTS": parameters.defaults(TABLE), "Session": session} | changed
    return types.SimpleNamespace(**{k: v for k, v in named.items() if v is not None})


def with_(**members):
    """A learner whose session has other members; None takes one away."""
    given = {k: v for k, v in vars(Session).items() if not k.startswith("__") or k == "__init__"}
    return learner(type("Session", (), {k: v for k, v in (given | members).items() if v}))


def test_a_learner_that_keeps_the_contract_passes():
    report = conformance.check(learner(), GAME)
    assert str(report).startswith("learner 'walk' on nim: conforms\n")
    assert report.checks["trainings"] == 5


def test_everything_that_is_missing_is_named_at_once():
    with pytest.raises(conformance.NotConforming) as caught:
        conformance.check(types.SimpleNamespace(NAME="empty"), GAME)
    said = str(caught.value)
    assert all(f"has no {name!r}: give it" in said for name in list(conformance.MEMBERS)[1:])
    with pytest.raises(conformance.NotConforming, match="its session has no 'statistics'"):
        conformance.check(with_(statistics=None), GAME)


def taken(self, game, params, seed=0):
    Session.__init__(self, game, {}, seed)


def unseeded(self, game, params, seed=0):
    Session.__init__(self, game, params, 1)


def forgetful(self, arrays):
    Session.load_state_dict(self, arrays | {"rng": self.rng})


def lenient(self, arrays):
    Session.load_state_dict(self, self.state_dict() | arrays)


def half(self):
    return {k: v for k, v in Session.state_dict(self).items() if k != "counts"}


def half_loaded(self, arrays):
    Session.load_state_dict(self, arrays | {"counts": self.counts})


@pytest.mark.parametrize(
    "made, said",
    [
        (lambda: learner(VERSION="1"), "VERSION must be a whole number"),
        (lambda: learner(PARAMETERS={"alpha": 0.5}), "PARAMETERS must be a dictionary"),
        (lambda: learner(DEFAULTS={"alpha": 0.4}), "nothing is stated twice"),
        (lambda: learner(session=lambda game: None), "Session must take"),
        (lambda: with_(__init__=taken), "without a word"),
        (lambda: with_(__init__=unseeded), "another seed gives the same weights"),
        (lambda: with_(train=lambda self, n: None), "count every finished episode"),
        (lambda: with_(train=lambda self, n: Session.train(self, abs(int(n or 0)))), "is taken"),
        (lambda: with_(draw=lambda self, n: int(ELSEWHERE.integers(n))), "the second time"),
        (lambda: with_(load_state_dict=forgetful), "the random generator and the counts"),
        (lambda: with_(state_dict=half, load_state_dict=half_loaded), "everything that changes"),
        (lambda: with_(load_state_dict=lenient), "is missing"),
        (lambda: with_(statistics=lambda self: {"episodes": 1}), "lacks moves"),
        (
            lambda: with_(statistics=lambda self: {"episodes": 1, "moves": float("nan")}),
            "finite numbers",
        ),
    ],
)
def test_each_fault_is_told_with_its_remedy(made, said):
    with pytest.raises(conformance.NotConforming, match=said):
        conformance.check(made(), GAME)
