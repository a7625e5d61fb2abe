"""Algorithm 1 of [jamieson2022] in plain Python: slow, short, and apart from the kernels."""

from afterstate.kernel.random import new_rng
from afterstate.search import max_n
from oracles.reference_td import Splitmix64


class Reference:
    """Q-learning of one agent, or of two with separate tables, by games with a backward update."""

    def __init__(
        self,
        game,
        seed,
        alpha=0.4,
        gamma=0.9,
        epsilon=0.3,
        teacher="twin",
        twin="shared",
        learner_seat="alternate",
        rewards=(1.0, 0.0, -1.0),
        initial_q=0.0,
        last_move="blend",
        ties="random",
    ):
        self.game, self.rng, self.q = game, Splitmix64(new_rng(seed)[0]), {}
        self.alpha, self.gamma, self.epsilon, self.rewards = alpha, gamma, epsilon, rewards
        self.teacher, self.twin, self.learner_seat = teacher, twin, learner_seat
        self.initial_q, self.last_move, self.ties = initial_q, last_move, ties
        self.games, self.outcomes = 0, [[0, 0, 0], [0, 0, 0]]

    def value(self, owner, s, a):
        return self.q.get((owner, self.game.key(s), a), self.initial_q)

    def learner(self, owner, s):
        legal = [int(a) for a in self.game.legal(s)]
        if self.epsilon > 0.0 and self.rng.float() < self.epsilon:
            return legal[self.rng.int(len(legal))]
        values = [self.value(owner, s, a) for a in legal]
        best = [a for a, v in zip(legal, values) if v == max(values)]
        several = len(best) > 1 and self.ties == "random"
        return best[self.rng.int(len(best))] if several else best[0]

    def taught(self, s):
        legal = [int(a) for a in self.game.legal(s)]
        if self.teacher == "random":
            return legal[self.rng.int(len(legal))]
        values = max_n.values(self.game, s, 20)[:, self.game.player(s)]
        best = [a for a, v in zip(legal, values) if v == values.max()]
        if self.teacher == "deterministic" or len(best) == 1:
            return best[0]
        return best[self.rng.int(len(best))]

    def play(self):
        seat = {"alternate": self.games % 2, "first": 0, "second": 1}[self.learner_seat]
        s, decisions = self.game.start(), {0: [], 1: []}
        while not self.game.over(s):
            p = self.game.player(s)
            if self.teacher == "twin" or p == seat:
                owner = 1 if self.twin == "separate" and self.teacher == "twin" and p != seat else 0
                a = self.learner(owner, s)
                decisions[p].append((owner, s, a))
            else:
                a = self.taught(s)
            s = self.game.play(s, a)
        score = self.game.score(s)
        for p, made in decisions.items():
            target = (
                self.rewards[0]
                if score[p] > score[1 - p]
                else self.rewards[2]
                if score[p] < score[1 - p]
                else self.rewards[1]
            )
            for k, (owner, s, a) in enumerate(reversed(made)):
                new = (1.0 - self.alpha) * self.value(owner, s, a) + self.alpha * target
                new = target if k == 0 and self.last_move == "set" else new
                self.q[owner, self.game.key(s), a] = new
                target = self.gamma * max(self.value(owner, s, int(b)) for b in self.game.legal(s))
        difference = score[seat] - score[1 - seat]
        self.outcomes[seat][0 if difference > 0 else 1 if difference == 0 else 2] += 1
        self.games += 1
