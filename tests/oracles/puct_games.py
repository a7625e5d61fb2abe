"""Small games and helpers for the tests of the PUCT search."""

import numpy as np

from afterstate import games
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng, random_int
from afterstate.networks import ntuple
from afterstate.search.puct import NONE, ROOT
from afterstate.search.puct_search import Search
from sample_games import dice, rules_in

tictactoe, connect4, othello = (games.load(name) for name in ("tictactoe", "connect4", "othello"))


def walk(length):
    """One player on the cells 0 .. length; steps -1, +1, +2; the end of the line gives 1."""

    def start(s, rng):
        s[0], s[1] = length // 2, 0

    def legal(s, moves):
        moves[0], moves[1], moves[2] = 0, 1, 2
        return 3

    def play(s, action):
        s[0] = min(length, max(0, s[0] + (-1 if action == 0 else action)))
        s[1] += 1

    def player(s):
        return 0

    def over(s):
        return s[0] == length or s[1] == 40

    def score(s, r):
        r[0] = np.float64(s[0] == length)

    def board(s, codes):
        codes[0] = s[0]

    return Game(
        "walk",
        **rules_in(locals()),
        players=1,
        actions=3,
        max_legal=3,
        size=2,
        num_codes=[length + 1],
        score_range=(0.0, 1.0),
    )


line, dice1, dice2 = walk(12), dice(1, 4), dice(2, 2)


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
