"""Twists, sequences of them and scrambles of Rubik's cubes, for the tests."""

import numpy as np

from afterply.games.calls import call_start
from afterply.kernel.compile import kernel
from afterply.kernel.random import new_rng


def after(game, twists):
    return game.parse(f"after {twists}")


def random_twists(game, n, random):
    return " ".join(
        game.action_name(game.start(), a) for a in random.integers(game.actions, size=n)
    )


def inverse(twists):
    turned = {"": "'", "'": "", "2": "2"}
    return " ".join(name[0] + turned[name[1:]] for name in reversed(twists.split()))


@kernel
def scrambles(rules, rng, states):
    """Fill `states` with start states."""
    for i in range(states.shape[0]):
        call_start(rules, states[i], rng)


def starts(game, n, seed=1):
    states = np.zeros((n, game.size), np.int32)
    scrambles(game.rules, new_rng(seed), states)
    return states
