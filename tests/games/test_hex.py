"""Hex: plain flood fill as another implementation, small boards solved, swap."""

import numpy as np
import pytest

from afterstate import games
from afterstate.search import max_n

game, pie = games.load("hex"), games.load("hex", swap=True)
STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0), (1, -1), (-1, 1))


def joined(codes, size, who):
    """Whether a player's stones join its two sides: flood fill over a list of cell codes."""
    own = {(c // size, c % size) for c, code in enumerate(codes) if code == 1 + who}
    reached = {cell for cell in own if cell[who ^ 1] == 0}
    border = list(reached)
    while border:
        r, c = border.pop()
        new = ({(r + down, c + right) for down, right in STEPS} & own) - reached
        reached |= new
        border += new
    return any(cell[who ^ 1] == size - 1 for cell in reached)


@pytest.mark.parametrize("size", [5, 9, 13])
def test_long_chains(size):
    """A winding chain that fills every second row: the longest way of the search."""
    ours, random, chain = games.load("hex", size=size), np.random.default_rng(0), []
    for row in range(0, size, 2):
        chain += range(size * row, size * row + size)
        chain += [size * (row + 1) + (size - 1 if row % 4 else 0)] if row + 2 < size else []
    for _ in range(20):
        s, codes = ours.start(), np.zeros(size * size, int)
        for cell in random.permutation(chain).tolist():
            if ours.over(s):
                break
            s[-1] = 0  # the first player moves again
            s, codes[cell] = ours.play(s, cell), 1
            assert ours.over(s) == joined(codes, size, 0)


def test_small_boards_solved():
    three = games.load("hex", size=3)
    values = [max_n.solve(three, three.after([cell])).value[0] for cell in range(9)]
    assert values == [-1, 1, 1, -1, 1, -1, 1, 1, -1]  # by brute force over lists of codes
    assert max_n.solve(three).value.tolist() == [1, -1]
    # the first player wins, by strategy stealing; with the swap rule the second
    assert max_n.solve(games.load("hex", size=2)).value.tolist() == [1, -1]
    assert max_n.solve(games.load("hex", size=3, swap=True)).value.tolist() == [-1, 1]


def test_swap_takes_the_stone_over():
    """A game after a swap has the same winner as the mirrored one with exchanged players."""
    assert pie.legal(pie.start()).tolist() == list(range(36))
    for cell in range(36):
        first = pie.play(pie.start(), cell)
        assert pie.legal(first).tolist() == [c for c in range(36) if c != cell] + [36]
        assert pie.action_name(first, 36) == "swap"
        taken, mirrored = pie.play(first, 36), 6 * (cell % 6) + cell // 6
        assert pie.board(taken).tolist() == [2 * (c == mirrored) for c in range(36)]
        assert pie.legal(taken).tolist() == [c for c in range(36) if c != mirrored]
        assert pie.player(taken) == 0
    random = np.random.default_rng(2)
    for opening in range(36):
        s, plain = pie.after([opening, 36]), game.after([opening])
        while not game.over(plain):
            action = int(random.choice(game.legal(plain)))
            plain, s = game.play(plain, action), pie.play(s, 6 * (action % 6) + action // 6)
            assert pie.over(s) == game.over(plain)
            assert pie.score(s).tolist() == game.score(plain).tolist()[::-1]
    for actions in ([0, 1], [0, 36, 5], [0, 1, 2]):
        assert 36 not in pie.legal(pie.after(actions))
    with pytest.raises(ValueError, match="action 36 is not legal"):
        game.play(game.play(game.start(), 0), 36)
