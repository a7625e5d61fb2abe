"""Matches against one opponent: perfect play, failures, what records say of them."""

import pickle

import numpy as np
import pytest

from afterstate import games, players
from afterstate.evaluators import EDAX_1, NIM, NIM3P, RHINO_M4, RHINOS, TICTACTOE
from afterstate.studies.identity import evaluator_identity

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


@pytest.mark.parametrize(
    "evaluator, player, argument, starts",
    [
        (NIM, "MaxN", 15, ["random", 10]),
        (RHINO_M4, "Rhino", 4, ["all", 4]),
        (EDAX_1, "Edax", 1, ["all", 4]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_records_say(evaluator, player, argument, starts):
    opponent = {"player": player, "version": 1, "arguments": [argument, {}]}
    settings = {"opponent": opponent, "starts": starts, "episodes": 1}
    expected = settings | {"metrics": ["win_rate", "score"]}
    assert evaluator_identity(pickle.loads(pickle.dumps(evaluator)))["settings"] == expected
    assert [e.name for e in RHINOS] == ["Rhino-m1", "Rhino-m2", "Rhino-m4", "Rhino-m6"]
