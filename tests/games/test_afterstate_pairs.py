"""State-action pairs that lead to one afterstate, counted by enumeration."""

import numpy as np
import pytest

from afterstate import games
from afterstate.games import counts


@pytest.mark.slow
def test_pairs_for_each_afterstate_of_tictactoe_are_up_to_four():
    """[konen2021] footnote 5 counts the afterstates in which the game goes on."""
    found = counts.pairs_per_afterstate(games.load("tictactoe"))
    assert max(found["running"]) == 4 and max(found["terminal"]) == 5
    assert sum(n * times for n, times in found["running"].items()) == found["pairs running"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_pairs_for_each_afterstate_of_small_hex(size):
    found = counts.pairs_per_afterstate(games.load("hex", size=size))
    assert max(found["running"]) == (size**2) // 2


def test_pairs_for_an_afterstate_of_hex_9x9_are_up_to_forty():
    """A full board but for one decisive cell: any of the mover's stones may be the last one.

    And never more: before move 81 nobody has more than 40 stones, and move 81 ends the game.
    """
    game, rng = games.load("hex", size=9), np.random.default_rng(0)

    def after(first, second):
        s = game.start()
        for cell in (int(c) for pair in zip(first, second, strict=True) for c in pair):
            s = s if game.over(s) else game.play(s, cell)
        return s

    over = True
    while over:
        cells = rng.permutation(81)
        first, second = cells[:40], cells[40:80]
        s = after(first, second)
        over = game.over(s)
    assert game.legal(s).tolist() == [cells[80]]
    orders = [[*(c for c in second if c != last), last] for last in second]
    assert [game.key(after(first, order)) for order in orders] == [game.key(s)] * 40
