"""SARSA-FARL and Q-learning for N players written slowly, with dictionaries of weights.

It follows the text of [konen2021] (Algorithms 3, 4, 5 and 7, Sec. 2.6, 2.7, App. A.2 - A.5): the
learner in ``sarsa.py`` must give the same weights. Only the rules are asked from the game. The
look-up tables, Algorithm 7's rates and App. A.5 are those of ``reference_td.py``; a weight's name
here is (index, action).
"""

import math
from dataclasses import dataclass

import numpy as np

from afterstate.games.calls import call_start
from oracles.reference_td import TIE, Reference, Settings


@dataclass
class SarsaSettings(Settings):
    """All switches; the defaults are the paper's text."""

    q_learning: bool = False
    farl: bool = True
    kept: bool = False  # the action chosen before the update is played
    random_maximum: bool = False  # after exploration: the maximum of the random numbers
    late_clearing: bool = False  # lists of visited indices are emptied for the executed action only


class SarsaReference(Reference):
    """One training run; `tuples` lists the cells of each n-tuple, `stream` is a Splitmix64."""

    def __init__(self, game, tuples, settings, stream):
        super().__init__(game, tuples, settings, stream)
        self.visited = {}  # (player, action, tuple) -> set of indices

    # ---- Q, Eq. (2) with pairs
    def pairs(self, state, action):
        """S(s, a): symmetric boards with the symmetric actions, each pair once."""
        cells = [int(c) for c in self.game.board(state)]
        turned = self.game.action_symmetries
        every = [
            (tuple(cells[c] for c in row), int(turned[k][action]) if turned is not None else action)
            for k, row in enumerate(self.game.symmetries.tolist())
        ]
        return every if self.set.multiplicity else list(dict.fromkeys(every))

    def names(self, i, pairs):
        return [(self.index(i, board), action) for board, action in pairs]

    def q(self, state, action, p):
        pairs = self.pairs(state, action)
        terms = [
            self.weights[p][i].get(name, 0.0)
            for i in range(len(self.tuples))
            for name in self.names(i, pairs)
        ]
        activation = math.fsum(terms)
        return math.tanh(activation) if self.set.sigmoid else activation

    # ---- Algorithm 7
    def update_pair(self, p, state, action, delta):
        slope = 1.0 - self.q(state, action, p) ** 2 if self.set.sigmoid else 1.0
        self.trace[p].insert(0, (self.pairs(state, action), slope, action))
        del self.trace[p][self.num_kept :]
        newest = len(self.trace[p][0][0])
        for k, (pairs, slope, executed) in enumerate(self.trace[p]):
            num_boards = newest if self.set.newest_num_boards else len(pairs)
            rate = self.alpha / (len(self.tuples) * num_boards)
            recommended = delta * slope * self.set.lambda_**k
            for i in range(len(self.tuples)):
                names = self.names(i, pairs)
                if self.set.late_clearing:
                    self.change_with_old_lists(p, i, names, rate, recommended, delta, executed)
                else:
                    self.change_table(p, i, names, rate, recommended, delta)

    def change_with_old_lists(self, p, i, names, rate, recommended, delta, executed):
        self.visited[p, executed, i] = set()
        table, sums, absolutes = self.weights[p][i], self.sums[p][i], self.absolutes[p][i]
        x = delta if self.set.tc_delta else recommended
        for index, action in names:
            visited = self.visited.setdefault((p, action, i), set())
            first, name = index not in visited, (index, action)
            visited.add(index)
            n = sums.get(name, self.set.tc_init)
            a = absolutes.get(name, self.set.tc_init)
            if first:
                table[name] = table.get(name, 0.0) + rate * self.factor(n, a) * recommended
            if self.set.tc is not None and (first or self.set.tc_every):
                sums[name], absolutes[name] = n + x, a + abs(x)

    # ---- policy derived from Q
    def select(self, state, p, epsilon):
        """Return the action, whether it was explored, and the table of values it was chosen by."""
        legal = self.game.legal(state).tolist()
        explored = self.stream.float() < epsilon
        if explored and not self.set.random_maximum:
            return legal[self.stream.int(len(legal))], True, None
        table = {a: self.stream.float() if explored else self.q(state, a, p) for a in legal}
        best, ties = legal[0], 1
        for action in legal[1:]:
            if abs(table[action] - table[best]) < TIE:
                ties += 1
                best = action if self.stream.int(ties) == 0 else best
            elif table[action] > table[best]:
                best, ties = action, 1
        return best, explored, table

    def start(self):
        if self.game.deterministic:
            return super().start()
        generator = np.array([self.stream.state], np.uint64)  # first tiles and the like
        state = np.zeros(self.game.size, np.int32)
        call_start(self.game.rules, state, generator)
        self.stream.state = int(generator[0])
        return state

    # ---- Algorithm 5 (and 3, as the target of AdaptAgentQ)
    def run_episode(self):
        game, players = self.game, self.game.players
        self.alpha = self.schedule(self.set.alpha, self.set.alpha_geometric)
        epsilon = self.schedule(self.set.epsilon)
        if not self.set.trace_kept:
            self.trace = [[] for _ in range(players)]
        state = self.start()
        p = game.player(state)
        action, explored, _ = self.select(state, p, epsilon)  # line 3
        self.last = [None] * players  # lines 4, 5: (state, action, made at random, R)
        self.last[p] = (state, action, explored, [float(r) for r in game.score(state)])
        over, plies = False, 0
        while not over and plies < self.set.max_plies:
            if explored and self.set.trace_reset and not self.set.learn_random:
                self.trace = [[] for _ in range(players)]
            state = self.next_state(game.play(state, action))  # line 7
            self.total = [float(r) for r in game.score(state)]
            over, plies = game.over(state), plies + 1
            p = (p + 1) % players if over else game.player(state)  # line 9
            action, explored = self.adapt_agent_q(p, state, over, epsilon)  # line 10
            if not over:
                if not self.set.kept:
                    action, explored, _ = self.select(state, p, epsilon)  # line 11
                self.last[p] = (state, action, explored, self.total)  # lines 14, 15
        if over and self.set.farl:  # lines 17, 33 - 37
            for q in range(players):
                if q != p:
                    self.adapt(q, 0.0, False)
        self.episode += 1
        self.moves += plies

    def adapt_agent_q(self, p, state, over, epsilon):  # lines 20 - 30
        action, explored, follow = None, False, 0.0
        if not over and self.set.q_learning:
            table = None
            if self.set.kept:
                action, explored, table = self.select(state, p, epsilon)
            if table is None:
                table = {a: self.q(state, a, p) for a in self.game.legal(state).tolist()}
            follow = max(table.values())
        elif not over:
            action, explored, _ = self.select(state, p, epsilon)
            follow = self.q(state, action, p)
        self.adapt(p, follow, explored and not self.set.q_learning)
        return action, explored

    def adapt(self, p, follow, explored):
        if self.last[p] is None:
            return
        state, action, made_by_random, before = self.last[p]
        if not self.set.learn_random and (made_by_random if self.set.random_source else explored):
            return
        target = self.total[p] - before[p] + self.set.step_reward + self.set.gamma * follow
        self.update_pair(p, state, action, target - self.q(state, action, p))
