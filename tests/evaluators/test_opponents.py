"""Matches against one opponent: perfect play and failures."""

import numpy as np
import pytest

from afterstate import games, players
from afterstate.evaluators import NIM, NIM3P, TICTACTOE

KNOWN = {"tictactoe": TICTACTOE, "nim": NIM, "nim3p": NIM3P}
game = games.load("tictactoe")


@pytest.mark.parametrize(
    "name, metric, value, num_matches",
    [
        ("tictactoe", "win_rate:Max-N-10", 50.0, 20),
        ("nim", "win_rate:Max-N-15", 50.0, 20),
        ("nim3p", "score:Max-N-15", 0.4, 300),
    ],
)
def test_perfect_play_gives_the_known_values(name, metric, value, num_matches):
    found = KNOWN[name](games.load(name), players.MaxN(15), seed=4)
    assert found[metric] == pytest.approx(value)
    table = KNOWN[name].matches(games.load(name), players.Random(), 1)
    mine = table[table.player == "agent"]
    assert len(mine) == table.match.nunique() == num_matches
    assert mine.seat.value_counts().nunique() == 1


def test_failures_are_counted():
    def broken(state):
        raise RuntimeError("no idea")

    def only_as_x(state):
        return game.legal(state)[0] if game.player(state) == 0 else broken(state)

    with pytest.raises(RuntimeError, match="all 20 matches .* failed; the first: .* no idea"):
        TICTACTOE(game, broken)
    found = TICTACTOE(game, only_as_x)
    assert found["errors:Max-N-10"] == 10.0 and np.isfinite(found["win_rate:Max-N-10"])
