"""Small games and helpers for the tests of the PUCT search."""

import numpy as np

from afterply import games
from afterply.kernel.random import new_rng, random_int
from afterply.networks import ntuple
from afterply.search.puct import NONE, ROOT, Search
from sample_games import dice

tictactoe, connect4, othello = (games.load(name) for name in ("tictactoe", "connect4", "othello"))
dice1, dice2 = dice(1, 4), dice(2, 2)


def network(game, seed=1, num_cells=5, weight=0.3):
    """A network whose weights are any numbers: nothing in it says who stands well."""
    cells = range(min(num_cells, game.cells))
    net = ntuple.Network(game, [list(cells), [game.cells - 1 - c for c in cells]])
    factor, size = np.uint64(2654435761 + 97 * seed), net.arrays.weights.size
    numbers = np.arange(size, dtype=np.uint64) * factor % np.uint64(2**32)
    net.arrays.weights[:] = weight * (numbers / 2.0**31 - 1.0)
    return net


def late(game, plies, seed):
    """A state after some random plies that do not end the game."""
    rng, s = new_rng(seed), game.start()
    for _ in range(plies):
        legal = game.legal(s)
        s = game.play(s, legal[random_int(rng, len(legal))])
    assert not game.over(s)
    return s


def searched(game, base, state, iterations, seed=0, **settings):
    search = Search(game, base, 10, **settings)  # it has to grow
    search.plant(state, seed)
    search.run(iterations)
    return search


def dump(search, node=ROOT):
    """Everything of a tree, in an order that says nothing of how it is stored."""
    t = search.tree
    first, n = t.first[node], t.num_slots[node]
    below = []
    for slot in range(first, first + n):
        child = t.node[slot]
        while child != NONE:
            below.append((slot - first, *dump(search, child)))
            child = t.sibling[child]
    block = slice(first, first + n) if first != NONE else slice(0, 0)
    rows = [array[block].tolist() for array in (t.action, t.visits, t.sums, t.prior)]
    return t.state[node].tobytes(), int(t.player[node]), int(t.total[node]), rows, sorted(below)
