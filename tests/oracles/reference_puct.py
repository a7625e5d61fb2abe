"""Algorithm 1 of [scheiermann2022] once more, in plain Python and recursive as it is printed: slow,
and with nothing of the package but a game's methods.

A value is returned in the view of the player who chose the way here; the sign changes where the
players differ (kappa of the paper, if there is no pass).
"""

from types import SimpleNamespace

from afterstate.kernel.functions import exp


def softmax(table):
    weights = [exp(value - max(table)) for value in table]
    return [w / sum_in_order(weights) for w in weights]


def linear(table):
    low, high = min(table), max(table)
    shares = [(value - low) / (high - low) if high > low else 1.0 for value in table]
    return [share / sum_in_order(shares) for share in shares]


def sum_in_order(numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total


class Puct:
    """A tree below one state. `base` is a function state -> list of r + gamma V, one for each legal
    action.
    """

    def __init__(
        self,
        game,
        base,
        state,
        c_puct=1.0,
        prior=softmax,
        max_depth=None,
        pass_nodes=False,
        unvisited=0.0,
        rng=None,
    ):
        self.game, self.base, self.c_puct, self.prior, self.max_depth = (
            game,
            base,
            c_puct,
            prior,
            max_depth,
        )
        self.pass_nodes, self.unvisited, self.rng = pass_nodes, unvisited, rng
        self.root = self.node(state, None)

    def node(self, state, parent):
        mover = None if self.game.over(state) else self.game.player(state)
        passing = (
            self.pass_nodes and parent is not None and mover is not None and mover == parent.player
        )
        return SimpleNamespace(
            state=state,
            player=1 - mover if passing else mover,
            passing=passing,
            N=None,
            children={},
        )

    def iteration(self, node=None, chooser=None, depth=0):
        node = node or self.root
        if node.player is None:  # lines 3-4
            return float(self.game.score(node.state)[chooser])
        if node.N is None:  # lines 5-9
            table = [float(value) for value in self.base(node.state)]
            node.actions = ["pass"] if node.passing else self.game.legal(node.state).tolist()
            node.P = [1.0] if node.passing else self.prior(table)
            node.N, node.W = [0] * len(node.P), [0.0] * len(node.P)
            return max(table) if (self.game.player(node.state) == chooser) else -max(table)
        width = self.c_puct * (1e-8 + sum(node.N)) ** 0.5  # lines 10-11, Eqs. (1) and (2)
        score = [
            (w / n if n else self.unvisited) + width * (p / (1.0 + n))
            for w, n, p in zip(node.W, node.N, node.P)
        ]
        k = score.index(max(score))
        too_deep = depth == self.max_depth  # line 12
        value = -1.0 if too_deep else self.iteration(self.child(node, k), node.player, depth + 1)
        node.W[k] += value  # lines 14-15
        node.N[k] += 1
        return value if node.player == chooser else -value  # line 17

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

    def run(self, iterations):
        for _ in range(iterations):
            self.iteration()
        return self.root
