"""Algorithm 1 of [scheiermann2022] once more, in plain Python and recursive as it is printed: slow,
and with nothing of the package but a game's methods.

A value is a list, one number for each player, so that no sign is needed (kappa of the paper); that
of a node is what is still to come from it, or without path rewards a whole score.
"""

from types import SimpleNamespace

from afterply.kernel.functions import exp


def shares(weights):
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def linear(table):
    low, high = min(table), max(table)
    return [(value - low) / (high - low) if high > low else 1.0 for value in table]


WEIGHTS = {
    "softmax": lambda table: [exp(value - max(table)) for value in table],
    "linear": linear,
    "uniform": lambda table: [1.0 for value in table],
}


class Puct:
    """A tree below one state; the settings are those of a search, by the same names.

    `base` is a network. With `rng` the next states of a game of chance are drawn.
    """

    settings = dict(c_puct=1.0, gamma=1.0, scale=1.0, step_reward=0.0, max_depth=None)
    settings |= dict(prior="softmax", leaf_value="best action", path_rewards=True)
    settings |= dict(pass_nodes=False, unvisited=0.0, others="next", total=0.0)

    def __init__(self, game, base, state, rng=None, **settings):
        assert set(settings) <= set(self.settings)
        vars(self).update(self.settings | settings)
        self.game, self.base, self.rng = game, base, rng
        self.root = self.node(state, None)

    def node(self, state, parent):
        mover = None if self.game.over(state) else self.game.player(state)
        again = mover is not None and parent is not None and mover == parent.player
        passing = self.pass_nodes and again
        score, player = self.game.score(state).tolist(), 1 - mover if passing else mover
        made = SimpleNamespace(state=state, score=score, player=player, passing=passing)
        made.N, made.children = None, {}
        return made

    def iteration(self, node, parent=None, depth=0):
        if node.player is None:  # lines 3-4
            return [0.0 if self.path_rewards else self.scale * score for score in node.score]
        if node.N is None:  # lines 5-9
            return self.expand(node, parent)
        width = self.c_puct * (1e-8 + sum(node.N)) ** 0.5  # lines 10-11, Eqs. (1) and (2)
        score = [
            (w / n if n else self.unvisited) + width * (p / (1.0 + n))
            for w, n, p in zip(node.W, node.N, node.P)
        ]
        k = score.index(max(score))
        if depth == self.max_depth:  # line 12; from the root of this search, not of the kept tree
            value = self.for_all(node.player, -1.0)
        else:
            below = self.child(node, k)
            value = self.iteration(below, node, depth + 1)
            if self.path_rewards:
                value = self.with_rewards(node, below, value)
        node.W[k] += value[node.player]  # lines 14-15
        node.N[k] += 1
        return value  # line 17

    def expand(self, node, parent):
        mover = self.game.player(node.state)
        table = self.table(node.state)
        node.actions = ["pass"] if node.passing else self.game.legal(node.state).tolist()
        node.P = [1.0] if node.passing else shares(WEIGHTS[self.prior](table))
        node.N, node.W = [0] * len(node.P), [0.0] * len(node.P)
        if self.leaf_value == "best action":
            owner, value = mover, max(table)
        else:
            owner = (mover - 1) % self.game.players if parent is None else parent.player
            value = self.scale * self.base.value(node.state, owner)
        if self.game.players > 2:
            return self.shared(node, owner, value)
        return self.for_all(owner, value)

    def table(self, state):
        values = self.base.action_values(state, self.gamma)
        return [self.scale * (float(v) + self.step_reward) for v in values]

    def for_all(self, player, value):
        return [value if q == player else -value for q in range(self.game.players)]

    def shared(self, node, owner, value):
        """What the owner of a leaf knows, and for the others what the moves that follow tell."""
        found, earned = {owner: value}, [0.0] * self.game.players
        state, discount, ended = node.state, 1.0, False
        while self.others == "next" and len(found) < self.game.players and not ended:
            mover, table = self.game.player(state), self.table(state)
            found.setdefault(mover, earned[mover] + discount * max(table))
            before, move = self.game.score(state), self.game.legal(state)[table.index(max(table))]
            state = self.game.play(state, move)
            state = state if self.rng is None else self.game.chance(state, self.rng)
            for q, after in enumerate(self.game.score(state)):
                earned[q] += discount * self.scale * (after - before[q])
            discount, ended = discount * self.gamma, self.game.over(state)
        rest = [q for q in range(self.game.players) if q not in found]
        if ended:
            return [found.get(q, earned[q]) for q in range(self.game.players)]
        left = self.total - self.scale * sum(node.score) - sum(found.values())
        return [found[q] if q in found else left / len(rest) for q in range(self.game.players)]

    def with_rewards(self, node, below, value):
        total = []
        for q, v in enumerate(value):
            reward = below.score[q] - node.score[q]
            reward += self.step_reward if q == node.player else 0.0
            total.append(self.scale * reward + self.gamma * v)
        return total

    def child(self, node, k):
        if node.passing:
            after = node.state
        else:
            after = self.game.play(node.state, node.actions[k])
            after = after if self.rng is None else self.game.chance(after, self.rng)
        key = k, after.tobytes()
        if key not in node.children:
            node.children[key] = self.node(after, node)
        return node.children[key]

    def follow(self, action):
        """Keep what is below an action of the root, or begin anew at its state."""
        k, state = self.root.actions.index(action), self.game.play(self.root.state, action)
        kept = self.root.children.get((k, state.tobytes()))
        self.root = self.node(state, None) if kept is None else kept
        return state

    def run(self, iterations):
        for _ in range(iterations):
            self.iteration(self.root)
        return self.root
