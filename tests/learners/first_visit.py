"""A learner in one file: every state-action value moves towards the result of a random game."""

import numpy as np

from afterstate.kernel.random import new_rng, random_int
from afterstate.learners.parameters import check_parameters, defaults, fraction
from afterstate.learners.session import check_episodes
from afterstate.networks.table import QTable

NAME, VERSION = "first-visit", 1
PARAMETERS = {"alpha": fraction(0.5, "step size")}
DEFAULTS = defaults(PARAMETERS)


class Session:
    """One training run."""

    def __init__(self, game, params, seed=0):
        self.game, self.params = game, check_parameters(PARAMETERS, params)
        self.net, self.rng, self.counters = QTable(game), new_rng(seed), np.zeros(2, np.int64)

    episode = property(lambda self: int(self.counters[0]))
    moves = property(lambda self: int(self.counters[1]))

    def draw(self, n):
        return random_int(self.rng, n)

    def train(self, num_episodes):
        for _ in range(check_episodes(num_episodes)):
            s, made = self.game.start(), []
            while not self.game.over(s):
                place = self.draw(len(self.game.legal(s)))
                made.append((s, place))
                s = self.game.next(s, int(self.game.legal(s)[place]))
            for t, place in made:
                old = self.net.action_values(t)[place]
                reward = self.game.score(s)[self.game.player(t)]
                new = old + self.params["alpha"] * (reward - old)
                self.net.put(t, int(self.game.legal(t)[place]), new)
            self.counters += 1, len(made)
        self.net.episode = self.episode

    def statistics(self):
        return {"episodes": self.episode, "moves": self.moves}

    def state_dict(self):
        return {"rng": self.rng, "counters": self.counters, **self.net.arrays()}

    def load_state_dict(self, arrays):
        self.net.load_arrays({name: arrays[name] for name in self.net.arrays()})
        self.rng[:], self.counters[:] = arrays["rng"], arrays["counters"]
