"""The wrapper's searches per CPU second, beside OpenSpiel's search with random games."""

import importlib.util
import itertools

import numpy as np

from ..games.catalogue import load
from ..learners import td
from ..search.puct_search import Search
from .bench_rivals import GAMES, beside, fastest, openspiel_search

ITERATIONS = 1_000
NETWORKS = {  # name of the rivals' table: (what the row says, n-tuples of the wrapped network)
    "ConnectFour": ("ConnectFour, 70 8-tuples", "connect4-70x8"),
    "Othello": ("Othello, 100 7-tuples", {"random_walk": 100, "length": 7}),
}


def ours(game, tuples) -> float:
    """Return the iterations per CPU second of searches from the start, each in a new tree.

    The network has random weights: what it says decides the shape of the tree only.
    """
    net = td.Session(game, {"episodes": 1, "tuples": tuples, "distinct_symmetries": False}, 1).net
    net.weights[:] = np.random.default_rng(1).normal(0.0, 0.05, net.weights.shape)
    search, seeds = Search(game, net, ITERATIONS), itertools.count()

    def step():
        search.plant(game.start(), next(seeds))
        search.run(ITERATIONS)
        return ITERATIONS

    return fastest(step)


def lines() -> list[str]:
    """Measure; return the lines of the table."""
    rows, installed = [], importlib.util.find_spec("pyspiel") is not None
    for name, (what, tuples) in NETWORKS.items():
        game, parameters, theirs, options = GAMES[name]
        speed = ours(load(game, **parameters), tuples)
        rival = openspiel_search(theirs, options) if installed else None
        rows.append(f"| {what} | {speed:,.0f} | {beside(speed, rival, 2)} |")
        print(rows[-1], flush=True)
    return [
        "",
        f"| PUCT around a network, {ITERATIONS:,} iterations a move, per CPU second | ours |"
        " OpenSpiel's MCTSBot (C++), one random game an iteration | ratio |",
        "|---|--:|--:|--:|",
        *rows,
    ]
