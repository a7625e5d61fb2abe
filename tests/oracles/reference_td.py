"""TD(lambda)-FARL for N players written slowly, in plain Python and float64.

There is one dictionary of weights per player and n-tuple.

It follows the text of [konen2021] (Algorithms 1, 2, 6 and 7, Sec. 2.4 - 2.7, App. A.3 - A.5) and
nothing else of the library: the learner in ``td.py`` must give the same weights. Only the rules are
asked from the game.
"""

import math
from dataclasses import dataclass

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


@dataclass
class Settings:
    """All switches of the learner.

    The defaults are the paper's text, or the nearest reading of it that works.
    """

    episodes: int = 100
    alpha: tuple = (0.5, 0.5)
    alpha_geometric: bool = False
    epsilon: tuple = (0.1, 0.1)
    gamma: float = 1.0
    lambda_: float = 0.0
    horizon_cut: float = 0.1
    sigmoid: bool = True
    multiplicity: bool = False  # S(s'): all symmetric boards, equal ones several times
    newest_num_boards: bool = False  # N_S of the newest trace element for all of them
    farl_others: bool = True
    farl_terminal: bool = True
    literal_target: bool = False  # Alg. 2 line 19 for terminal states too: r + gamma V(s')
    literal_greedy: bool = False  # Sec. 2.6: the highest V(s') alone
    learn_random: bool = True
    # Alg. 7 line 2 literal: the state to be changed was made by a random move
    random_source: bool = False
    trace_reset: bool = False
    trace_kept: bool = False  # not cleared at the start of an episode
    learn_start: bool = False
    tc: str | None = None  # None, "id", "exp"
    tc_beta: float = 2.7
    tc_init: float = 1e-4
    tc_delta: bool = False  # counters add delta instead of the recommended change
    tc_every: bool = False  # counters change at every occurrence of an index
    step_reward: float = 0.0
    max_plies: int = 10**9
    random_start: bool = False  # the game's start scheme
    # Sec. 3.5: the afterstate of the move before, of the other player, is adapted
    one_move_back: bool = False


class Reference:
    """One training run.

    `tuples` lists the cells of each n-tuple, `stream` is a :class:`Splitmix64`.
    """

    def __init__(self, game, tuples, settings, stream):
        self.game, self.tuples, self.set, self.stream = (
            game,
            [list(t) for t in tuples],
            settings,
            stream,
        )

        def new():
            return [[{} for _ in tuples] for _ in range(game.players)]

        self.weights, self.sums, self.absolutes = new(), new(), new()
        self.trace = [[] for _ in range(game.players)]  # newest first: (boards, slope)
        self.num_kept = 1
        if settings.lambda_ > 0:
            while settings.lambda_**self.num_kept >= settings.horizon_cut * (1 - 1e-12):
                self.num_kept += 1
        self.episode = self.moves = 0

    # ---- value function, Eq. (2)
    def boards(self, state):
        """S(s')."""
        cells = [int(c) for c in self.game.board(state)]
        every = [tuple(cells[c] for c in row) for row in self.game.symmetries.tolist()]
        return every if self.set.multiplicity else list(dict.fromkeys(every))

    def index(self, i, board):
        """Ind_i(q): the cells' codes as a number in mixed radix, first cell least significant."""
        total, unit = 0, 1
        for cell in self.tuples[i]:
            total += unit * board[cell]
            unit *= int(self.game.num_codes[cell])
        return total

    def value(self, state, p):
        terms = [
            self.weights[p][i].get(self.index(i, q), 0.0)
            for q in self.boards(state)
            for i in range(len(self.tuples))
        ]
        activation = math.fsum(terms)
        return math.tanh(activation) if self.set.sigmoid else activation

    # ---- Algorithm 7 with App. A.5
    def update(self, p, state, delta, made_by_random):
        if self.set.random_source and not self.set.learn_random and made_by_random:
            return
        slope = 1.0 - self.value(state, p) ** 2 if self.set.sigmoid else 1.0
        self.trace[p].insert(0, (self.boards(state), slope))
        del self.trace[p][self.num_kept :]
        newest = len(self.trace[p][0][0])
        for k, (boards, slope) in enumerate(self.trace[p]):
            num_boards = newest if self.set.newest_num_boards else len(boards)
            rate = self.alpha / (len(self.tuples) * num_boards)
            recommended = delta * slope * self.set.lambda_**k
            for i in range(len(self.tuples)):
                self.change_table(
                    p, i, [self.index(i, q) for q in boards], rate, recommended, delta
                )

    def change_table(self, p, i, indices, rate, recommended, delta):
        table, sums, absolutes = self.weights[p][i], self.sums[p][i], self.absolutes[p][i]
        x = delta if self.set.tc_delta else recommended
        visited = set()
        for j in indices:
            first = j not in visited
            visited.add(j)
            n, a = sums.get(j, self.set.tc_init), absolutes.get(j, self.set.tc_init)
            if first:
                table[j] = table.get(j, 0.0) + rate * self.factor(n, a) * recommended
            if self.set.tc is not None and (first or self.set.tc_every):
                sums[j], absolutes[j] = n + x, a + abs(x)

    def factor(self, n, a):
        if self.set.tc is None:
            return 1.0
        ratio = abs(n) / a
        return ratio if self.set.tc == "id" else math.exp(self.set.tc_beta * (ratio - 1.0))

    # ---- policy
    def action_value(self, state, action, p):
        after = self.game.play(state, action)
        if self.set.literal_greedy:
            return self.value(after, p)
        reward = float(self.game.score(after)[p]) - self.last_reward[p] + self.set.step_reward
        ended = self.game.deterministic and self.game.over(after)
        return reward + (0.0 if ended else self.set.gamma * self.value(after, p))

    def choose(self, state, p, epsilon):
        """Return the action and whether it was explored."""
        legal = self.game.legal(state).tolist()
        if self.stream.float() < epsilon:
            return legal[self.stream.int(len(legal))], True
        best, best_value, ties = None, -math.inf, 1
        for action in legal:
            value = self.action_value(state, action, p)
            # the n-th of equal actions replaces the one held with probability 1 / n
            if abs(value - best_value) < TIE:
                ties += 1
                if self.stream.int(ties) == 0:
                    best = action
            elif value > best_value:
                best, best_value, ties = action, value, 1
        return best, False

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
        if self.set.random_start and plies > 0 and not self.stream.float() < probability:
            for _ in range(plies):
                legal = self.game.legal(state).tolist()
                state = self.next_state(self.game.play(state, legal[self.stream.int(len(legal))]))
        return state

    def schedule(self, ends, geometric=False):
        t = self.episode / self.set.episodes
        return (
            ends[0] * (ends[1] / ends[0]) ** t if geometric else ends[0] + (ends[1] - ends[0]) * t
        )

    def run_episode(self):
        game, players = self.game, self.game.players
        self.alpha, epsilon = (
            self.schedule(self.set.alpha, self.set.alpha_geometric),
            self.schedule(self.set.epsilon),
        )
        if not self.set.trace_kept:
            self.trace = [[] for _ in range(players)]
        state = self.start()
        last, last_random, self.last_reward = (
            [None] * players,
            [False] * players,
            [float(r) for r in game.score(state)],
        )
        if self.set.learn_start and game.deterministic:
            last[(game.player(state) - 1) % players] = state
        before = (game.player(state) - 1) % players
        for _ in range(self.set.max_plies):
            p = game.player(state)
            action, explored = self.choose(state, p, epsilon)
            self.moves += 1
            if explored and self.set.trace_reset and not self.set.learn_random:
                self.trace = [[] for _ in range(players)]
            after = game.play(state, action)
            state = self.next_state(after)
            over, total = game.over(state), [float(r) for r in game.score(state)]
            reward = [total[q] - self.last_reward[q] + self.set.step_reward for q in range(players)]
            skip = explored and not self.set.learn_random and not self.set.random_source
            q = before if self.set.one_move_back else p
            if last[q] is not None and not skip:
                target = reward[q]
                # what p expects is what the other one loses
                if not over or self.set.literal_target:
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
            if q != mover and last[q] is not None and self.set.farl_others:
                self.update(q, last[q], reward[q] - self.value(last[q], q), last_random[q])
        if self.set.farl_terminal:
            self.update(
                mover, last[mover], 0.0 - self.value(last[mover], mover), last_random[mover]
            )

    def train(self, num_episodes):
        for _ in range(num_episodes):
            self.run_episode()
