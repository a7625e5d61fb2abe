"""SARSA-FARL and Q-learning for N players written slowly, with dictionaries of weights.

It follows the text of [konen2021] (Algorithms 3, 4, 5 and 7, Sec. 2.6, 2.7, App. A.2 - A.5): the
learner in ``sarsa.py`` must give the same weights. Only the rules are asked from the game. The
look-up tables, Algorithm 7's rates and App. A.5 are those of ``reference_td.py``; a weight's name
here is (index, action).
"""

import numpy as np

from afterply.games.calls import call_start
from oracles.reference_td import Reference


class SarsaReference(Reference):
    """One training run of either method, with the learner's parameters."""

    def __init__(self, game, tuples, params, stream):
        super().__init__(game, tuples, params, stream)
        self.visited = {}  # (player, action, tuple) -> set of indices
        self.q_learning, self.kept = params["method"] == "q", params["sarsa_action"] == "kept"

    # ---- Q, Eq. (2) with pairs
    def pairs(self, state, action):
        """S(s, a): symmetric boards with the symmetric actions, each pair once."""
        cells = [int(c) for c in self.game.board(state)]
        turned = self.game.action_symmetries
        every = [
            (tuple(cells[c] for c in row), int(turned[k][action]) if turned is not None else action)
            for k, row in enumerate(self.game.symmetries.tolist())
        ]
        return list(dict.fromkeys(every)) if self.set.distinct_symmetries else every

    def q(self, state, action, p):
        pairs = self.pairs(state, action)
        return self.output(
            self.weights[p][i].get((self.index(i, board), turned), self.first)
            for i in range(len(self.tuples))
            for board, turned in pairs
        )

    # ---- Algorithm 7
    def change_table(self, p, i, pairs, rate, recommended, delta, executed):
        late, visited = self.set.inhibition == "executed action", set()
        if late:  # lists of visited indices are emptied for the executed action only
            self.visited[p, executed, i] = set()
        for board, action in pairs:
            index = self.index(i, board)
            if late:
                visited = self.visited.setdefault((p, action, i), set())
            name = (index, action)
            self.change_weight(p, i, name, name not in visited, rate, recommended, delta)
            visited.add(name)

    # ---- policy derived from Q
    def select(self, state, p, epsilon):
        """Return the action, whether it was explored, and the values that it was chosen by."""
        legal = self.game.legal(state).tolist()
        explored, drawn = self.stream.float() < epsilon, self.set.q_maximum == "random numbers"
        if explored and not drawn:
            return legal[self.stream.int(len(legal))], True, None
        values = [self.stream.float() if explored else self.q(state, a, p) for a in legal]
        return self.greedy(legal, values), explored, values

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
        state, epsilon = self.begin()
        p = game.player(state)
        action, explored, _ = self.select(state, p, epsilon)  # line 3
        self.last = [None] * players  # lines 4, 5: (state, action, made at random, R)
        self.last[p] = (state, action, explored, [float(r) for r in game.score(state)])
        over, plies = False, 0
        while not over and plies < (self.set.max_plies or 10**9):
            self.reset_trace(explored)
            state = self.next_state(game.play(state, action))  # line 7
            self.total = [float(r) for r in game.score(state)]
            over, plies = game.over(state), plies + 1
            p = (p + 1) % players if over else game.player(state)  # line 9
            action, explored = self.adapt_agent_q(p, state, over, epsilon)  # line 10
            if not over:
                if not self.kept:
                    action, explored, _ = self.select(state, p, epsilon)  # line 11
                self.last[p] = (state, action, explored, self.total)  # lines 14, 15
        if over and self.set.farl == "on":  # lines 17, 33 - 37
            for q in range(players):
                if q != p:
                    self.adapt(q, 0.0, False)
        self.episode += 1
        self.moves += plies

    def adapt_agent_q(self, p, state, over, epsilon):  # lines 20 - 30
        action, explored, follow, values = None, False, 0.0, None
        if not over and (self.kept or not self.q_learning):
            action, explored, values = self.select(state, p, epsilon)
        if not over and self.q_learning:
            legal = self.game.legal(state).tolist()
            follow = max(values or [self.q(state, a, p) for a in legal])
        elif not over:
            follow = self.q(state, action, p)
        self.adapt(p, follow, explored and not self.q_learning)
        return action, explored

    def adapt(self, p, follow, explored):
        if self.last[p] is None:
            return
        state, action, made_by_random, before = self.last[p]
        source = self.set.random_move_rule == "source"
        if not self.set.learn_from_random and (made_by_random if source else explored):
            return
        target = self.total[p] - before[p] + self.set.step_reward + self.set.gamma * follow
        value = self.q(state, action, p)
        self.update_trace(p, target - value, value, self.pairs(state, action), action)
