"""TD(lambda)-FARL for N players written slowly, in plain Python and float64.

It follows the text of [konen2021] (Algorithms 1, 2, 6 and 7, Sec. 2.4 - 2.7, App. A.3 - A.5), with
one dictionary of weights per player and n-tuple, and nothing else of the library: the learner in
``td.py`` must give the same weights. It takes the learner's parameters; only the rules are asked
from the game.
"""

import math
from types import SimpleNamespace

import numpy as np

MASK = 2**64 - 1
TIE = 1e-14  # values closer than this are the same number added up in another order


class Splitmix64:
    """The library's random stream in Python integers."""

    def __init__(self, state):
        self.state = int(state)

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def float(self):
        return (self.bits() >> 11) / 2**53

    def int(self, n):
        return ((self.bits() >> 32) * n) >> 32


class Reference:
    """One training run.

    `tuples` lists the cells of each n-tuple, `params` holds all parameters of the learner, and
    `stream` is a :class:`Splitmix64`.
    """

    def __init__(self, game, tuples, params, stream):
        self.game, self.tuples = game, [list(t) for t in tuples]
        self.set, self.stream = SimpleNamespace(**params), stream
        self.weights, self.sums, self.absolutes = (
            [[{} for _ in tuples] for _ in range(game.players)] for _ in range(3)
        )
        total = self.set.weight_init
        total = math.atanh(total) if self.set.sigmoid else total
        self.first = total / (len(self.tuples) * len(game.symmetries))  # every weight
        self.trace = [[] for _ in range(game.players)]  # newest first: (boards, slope)
        self.num_kept = 1
        if self.set.lambda_ > 0:
            while self.set.lambda_**self.num_kept >= self.set.horizon_cut * (1 - 1e-12):
                self.num_kept += 1
        self.episode = self.moves = 0

    # ---- value function, Eq. (2)
    def boards(self, state):
        """S(s')."""
        cells = [int(c) for c in self.game.board(state)]
        every = [tuple(cells[c] for c in row) for row in self.game.symmetries.tolist()]
        return list(dict.fromkeys(every)) if self.set.distinct_symmetries else every

    def index(self, i, board):
        """Ind_i(q): the cells' codes as a number in mixed radix, first cell least significant."""
        total, unit = 0, 1
        for cell in self.tuples[i]:
            total += unit * board[cell]
            unit *= int(self.game.num_codes[cell])
        return total

    def output(self, terms):
        activation = math.fsum(terms)
        return math.tanh(activation) if self.set.sigmoid else activation

    def value(self, state, p):
        pairs = [(i, q) for q in self.boards(state) for i in range(len(self.tuples))]
        return self.output(self.weights[p][i].get(self.index(i, q), self.first) for i, q in pairs)

    # ---- Algorithm 7 with App. A.5
    def update(self, p, state, delta, made_by_random):
        if (
            self.set.random_move_rule == "source"
            and not self.set.learn_from_random
            and made_by_random
        ):
            return
        self.update_trace(p, delta, self.value(state, p), self.boards(state))

    def update_trace(self, p, delta, value, boards, *more):
        slope = 1.0 - value**2 if self.set.sigmoid else 1.0
        self.trace[p].insert(0, (boards, slope, *more))
        del self.trace[p][self.num_kept :]
        newest = len(self.trace[p][0][0])
        for k, (boards, slope, *more) in enumerate(self.trace[p]):
            num_boards = newest if self.set.newest_ns else len(boards)
            rate = self.alpha / (len(self.tuples) * num_boards)
            recommended = delta * slope * self.set.lambda_**k
            for i in range(len(self.tuples)):
                self.change_table(p, i, boards, rate, recommended, delta, *more)

    def change_table(self, p, i, boards, rate, recommended, delta):
        visited = set()
        for q in boards:
            name = self.index(i, q)
            self.change_weight(p, i, name, name not in visited, rate, recommended, delta)
            visited.add(name)

    def change_weight(self, p, i, name, first, rate, recommended, delta):
        table, sums, absolutes = self.weights[p][i], self.sums[p][i], self.absolutes[p][i]
        x = delta if self.set.tc_accumulate == "delta" else recommended
        n, a = sums.get(name, self.set.tc_init), absolutes.get(name, self.set.tc_init)
        if first:
            table[name] = table.get(name, self.first) + rate * self.factor(n, a) * recommended
        if self.set.tc != "none" and (first or not self.set.inhibit_counters):
            sums[name], absolutes[name] = n + x, a + abs(x)

    def factor(self, n, a):
        if self.set.tc == "none":
            return 1.0
        ratio = abs(n) / a
        return ratio if self.set.tc == "id" else math.exp(self.set.beta * (ratio - 1.0))

    # ---- policy
    def action_value(self, state, action, p):
        after = self.game.play(state, action)
        if self.set.greedy == "value":
            return self.value(after, p)
        reward = float(self.game.score(after)[p]) - self.last_reward[p] + self.set.step_reward
        ended = self.game.deterministic and self.game.over(after)
        return reward + (0.0 if ended else self.set.gamma * self.value(after, p))

    def greedy(self, legal, values):
        """The greatest value; the n-th of equal ones replaces the one held with probability 1/n."""
        best, best_value, ties = legal[0], values[0], 1
        for action, value in zip(legal[1:], values[1:]):
            if abs(value - best_value) < TIE:
                ties += 1
                best = action if self.stream.int(ties) == 0 else best
            elif value > best_value:
                best, best_value, ties = action, value, 1
        return best

    def choose(self, state, p, epsilon):
        """Return the action and whether it was explored."""
        legal = self.game.legal(state).tolist()
        if self.stream.float() < epsilon:
            return legal[self.stream.int(len(legal))], True
        return self.greedy(legal, [self.action_value(state, a, p) for a in legal]), False

    # ---- Algorithm 6, random part
    def next_state(self, after):
        generator = np.array([self.stream.state], np.uint64)
        state = self.game.chance(after, generator)
        self.stream.state = int(generator[0])
        return state

    # ---- Algorithm 2
    def start(self):
        state = self.game.start()
        probability, plies = self.game.start_scheme
        if self.set.choose_start and plies > 0 and not self.stream.float() < probability:
            for _ in range(plies):
                legal = self.game.legal(state).tolist()
                state = self.next_state(self.game.play(state, legal[self.stream.int(len(legal))]))
        return state

    def schedule(self, ends, geometric=False):
        first, last = ends if isinstance(ends, list) else (ends, ends)
        t = self.episode / self.set.episodes
        return first * (last / first) ** t if geometric else first + (last - first) * t

    def begin(self):
        """Return the start state and epsilon."""
        self.alpha = self.schedule(self.set.alpha, self.set.alpha_schedule == "geometric")
        if not self.set.trace_across_episodes:
            self.trace = [[] for _ in range(self.game.players)]
        return self.start(), self.schedule(self.set.epsilon)

    def reset_trace(self, explored):
        if explored and self.set.trace == "RESET" and not self.set.learn_from_random:
            self.trace = [[] for _ in range(self.game.players)]

    def run_episode(self):
        game, players = self.game, self.game.players
        state, epsilon = self.begin()
        last, last_random = [None] * players, [False] * players
        self.last_reward = [float(r) for r in game.score(state)]
        before = (game.player(state) - 1) % players
        if self.set.learn_start_state and game.deterministic:
            last[before] = state
        for _ in range(self.set.max_plies or 10**9):
            p = game.player(state)
            action, explored = self.choose(state, p, epsilon)
            self.moves += 1
            self.reset_trace(explored)
            after = game.play(state, action)
            state = self.next_state(after)
            over, total = game.over(state), [float(r) for r in game.score(state)]
            reward = [total[q] - self.last_reward[q] + self.set.step_reward for q in range(players)]
            towards = self.set.random_move_rule == "target"
            skip = explored and not self.set.learn_from_random and towards
            q = before if self.set.step_back == "move" else p
            if last[q] is not None and not skip:
                target = reward[q]
                # what p expects is what the other one loses
                if not over or self.set.terminal_target == "literal":
                    follow = self.set.gamma * self.value(after, p)
                    target += follow if q == p else -follow
                self.update(q, last[q], target - self.value(last[q], q), last_random[q])
            before = p
            last[p], last_random[p], self.last_reward[p] = after, explored, total[p]
            if over:
                self.final_adapt(p, reward, last, last_random)
                break
        self.episode += 1
        self.last = last

    def final_adapt(self, mover, reward, last, last_random):
        for q in range(self.game.players):
            if q != mover and last[q] is not None and self.set.farl in ("on", "first"):
                self.update(q, last[q], reward[q] - self.value(last[q], q), last_random[q])
        if self.set.farl in ("on", "second"):
            delta = 0.0 - self.value(last[mover], mover)
            self.update(mover, last[mover], delta, last_random[mover])

    def train(self, num_episodes):
        for _ in range(num_episodes):
            self.run_episode()
