"""Algorithm 1 of [jamieson2022] in plain Python: slow, short, and apart from the kernels."""

import math
from types import SimpleNamespace

from afterply.kernel.random import new_rng
from afterply.learners import tabular
from afterply.search import max_n
from oracles.reference_td import Splitmix64


class Reference:
    """Q-learning of one agent, or of two with separate tables, by games with a backward update."""

    def __init__(self, game, seed, **params):
        self.game, self.rng, self.q = game, Splitmix64(new_rng(seed)[0]), {}
        self.set = SimpleNamespace(**tabular.DEFAULTS | params)
        self.games, self.outcomes = 0, [[0, 0, 0], [0, 0, 0]]

    def value(self, owner, s, a):
        return self.q.get((owner, self.game.key(s), a), self.set.initial_q)

    def one_of(self, best, ties):
        several = len(best) > 1 and ties == "random"
        return best[self.rng.int(len(best))] if several else best[0]

    def epsilon(self):
        if not isinstance(self.set.epsilon, list):
            return self.set.epsilon
        first, last = self.set.epsilon
        x = min(self.games / self.set.epsilon_games, 1.0)
        if self.set.epsilon_schedule == "geometric":
            return first * math.exp(x * math.log(last / first))
        return first + (last - first) * x

    def learner(self, owner, s):
        legal = self.game.legal(s).tolist()
        epsilon = self.epsilon()
        if epsilon > 0.0 and self.rng.float() < epsilon:
            return legal[self.rng.int(len(legal))]
        values = [self.value(owner, s, a) for a in legal]
        best = [a for a, v in zip(legal, values) if v == max(values)]
        return self.one_of(best, self.set.ties)

    def taught(self, s):
        legal = self.game.legal(s).tolist()
        if self.set.teacher == "random":
            return legal[self.rng.int(len(legal))]
        values = max_n.values(self.game, s, 20)[:, self.game.player(s)]
        best = [a for a, v in zip(legal, values) if v == values.max()]
        return self.one_of(best, "first" if self.set.teacher == "deterministic" else "random")

    def play(self):
        twin, alpha = self.set.teacher == "twin", self.set.alpha
        seat = {"alternate": self.games % 2, "first": 0, "second": 1}[self.set.learner_seat]
        s, decisions = self.game.start(), {0: [], 1: []}
        while not self.game.over(s):
            p = self.game.player(s)
            if twin or p == seat:
                owner = int(self.set.twin == "separate" and twin and p != seat)
                a = self.learner(owner, s)
                decisions[p].append((owner, s, a))
            else:
                a = self.taught(s)
            s = self.game.play(s, a)
        score = self.game.score(s)
        for p, made in decisions.items():
            lost = self.set.loss_reward if score[p] < score[1 - p] else self.set.draw_reward
            target = self.set.win_reward if score[p] > score[1 - p] else lost
            for k, (owner, s, a) in enumerate(reversed(made)):
                new = (1.0 - alpha) * self.value(owner, s, a) + alpha * target
                new = target if k == 0 and self.set.last_move == "set" else new
                self.q[owner, self.game.key(s), a] = new
                best = max(self.value(owner, s, b) for b in self.game.legal(s).tolist())
                target = self.set.gamma * best
        difference = score[seat] - score[1 - seat]
        self.outcomes[seat][0 if difference > 0 else 1 if difference == 0 else 2] += 1
        self.games += 1
