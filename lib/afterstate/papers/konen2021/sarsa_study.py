"""What SARSA and Q-learning cost beside TD-learning: weights, pairs, and differences of arms."""

import numpy as np
import pandas as pd

from ...games.counts import pairs_per_afterstate
from ...learners import sarsa
from ...networks.ntuple import make_tuples
from ...reports.summaries import last_values
from ...stats import mean_interval

UNKNOWN = (np.nan,) * 3


def difference(table, arm, other, metric):
    """Return mean and 95% interval of `arm` less `other` over pairs of runs; NaN without any."""
    mine, theirs = last_values(table, arm, metric), last_values(table, other, metric)
    pairs = min(len(mine), len(theirs))
    return mean_interval(mine[:pairs] - theirs[:pairs]) if pairs else UNKNOWN


def num_weights(setting, per_action):
    """Return how many entries the tables of a setting have, with or without a set an action."""
    game, cells = setting["game"], make_tuples(setting["game"], setting["tuples"], None)
    entries = sum(int(np.prod(game.num_codes[list(c)], dtype=np.int64)) for c in cells)
    return game.players * entries * (game.actions if per_action else 1)


def memory_and_strength(table, settings, algorithms, metrics):
    """Return weights and final strength of each game and algorithm, and the difference to TD.

    settings: game -> arguments of its arms; algorithms: name -> (learner, ...); metrics: game ->
    metric of its strength.
    """
    rows = []
    for title, setting in settings.items():
        for name, (learner, _) in algorithms.items():
            arm, metric = f"{title}: {name}", metrics[title]
            found, used = (last_values(table, arm, what) for what in (metric, "active_weights"))
            if len(found):
                behind = difference(table, arm, f"{title}: TD", metric) if name != "TD" else UNKNOWN
                weights = f"{num_weights(setting, learner is sarsa):,}", f"{used.mean():.3g}"
                numbers = (len(found), *mean_interval(found), *behind)
                rows.append((title, name, metric, *weights, *numbers))
    columns = ["game", "algorithm", "metric", "weights", "in use %", "runs", "final"]
    columns += ["95% low", "95% high", "minus TD", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def pairs_table(boards):
    """Count the pairs of state and action that lead to afterstates (footnote 5); name -> Game."""
    rows = []
    for title, board in boards.items():
        found = pairs_per_afterstate(board)
        for kind in ("running", "terminal"):
            number, pairs = found[kind].total(), found[f"pairs {kind}"]
            rows.append((title, kind, number, pairs, pairs / number, max(found[kind])))
    columns = ["number", "pairs that lead to them", "pairs per afterstate", "most"]
    return pd.DataFrame(rows, columns=["game", "afterstates", *columns])


def filled(game, first, second):
    """Return the state after two players have put their stones in turn; None if one has won."""
    s, stones = game.start(), np.zeros(len(first) + len(second), np.int64)
    stones[::2], stones[1::2] = first, second
    for stone in stones.tolist():
        if game.over(s):
            return None
        s = game.play(s, stone)
    return None if game.over(s) else s


def one_full_afterstate(game, seed=1):
    """Fill all cells but one of a board game at random until nobody has won.

    Returns the afterstate, and how many pairs of state and action of the second player lead to it:
    each of its stones is tried as the one that was put last.
    """
    rng, after, many = np.random.default_rng(seed), None, game.cells // 2
    while after is None:
        first, second = np.split(rng.permutation(game.cells)[: 2 * many], 2)
        after = filled(game, first, second)
    before = ((filled(game, first, np.delete(second, k)), int(second[k])) for k in range(many))
    key = game.key(after)
    return after, sum(s is not None and game.key(game.play(s, last)) == key for s, last in before)
