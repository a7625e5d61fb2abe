"""State-action pairs that lead to one afterstate, counted by enumeration."""

import itertools

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
    """A full board but for one decisive cell: any of the mover's stones may be the last one."""
    game, rng = games.load("hex", size=9), np.random.default_rng(0)
    for _ in range(500):
        cells = rng.permutation(81)
        first, second = cells[:40], cells[40:80]
        s = game.start()
        for a, b in zip(first, second, strict=True):
            if game.over(s):
                break
            s = game.play(s, int(a))
            if not game.over(s):
                s = game.play(s, int(b))
        if not game.over(s):
            break
    assert not game.over(s) and game.legal(s).tolist() == [cells[80]]
    leading = 0
    for last in second:
        before = game.start()
        others = [c for c in second if c != last]
        for a, b in itertools.zip_longest(first, others):
            before = game.play(before, int(a))
            before = before if b is None else game.play(before, int(b))
        leading += game.key(game.play(before, int(last))) == game.key(s)
    assert leading == 40
    # and never more: before move 81 nobody has more than 40 stones, and move 81 ends the game
