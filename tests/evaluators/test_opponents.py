"""Matches against one opponent: perfect play, failures, processes, what records say of them."""

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from afterstate import games, players
from afterstate.evaluators import EDAX_1, NIM, NIM3P, RHINO_M4, RHINOS, TICTACTOE, Matches
from afterstate.players import gtp
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


SCRIPT = """
import sys
from afterstate import games, players
from afterstate.evaluators import NIM, NIM3P, TICTACTOE
known = {"tictactoe": TICTACTOE, "nim": NIM, "nim3p": NIM3P}
for name in sys.argv[1].split(","):
    print(name, sorted(known[name](games.load(name), players.Random(), 11).items()))
"""


@pytest.mark.slow
def test_same_numbers_in_other_processes_and_orders():
    command = [sys.executable, "-c", SCRIPT]
    outputs = [
        subprocess.run([*command, order], capture_output=True, text=True, check=True).stdout
        for order in ("tictactoe,nim,nim3p", "nim3p,nim,tictactoe")
    ]
    here = sorted(NIM3P(games.load("nim3p"), players.Random(), 11).items())
    assert sorted(outputs[0].split("\n")) == sorted(outputs[1].split("\n"))
    assert f"nim3p {here}" in outputs[0]


@pytest.mark.parametrize(
    "evaluator, opponent, starts",
    [
        (NIM, {"player": "MaxN", "version": 1, "arguments": [15, {}]}, ["random", 10]),
        (RHINO_M4, {"player": "Rhino", "version": 1, "arguments": [4, {}]}, ["all", 4]),
        (EDAX_1, {"player": "Edax", "version": 1, "arguments": [1, {}]}, ["all", 4]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_records_say(evaluator, opponent, starts):
    settings = {"opponent": opponent, "starts": starts, "episodes": 1}
    expected = settings | {"metrics": ["win_rate", "score"]}
    assert evaluator_identity(pickle.loads(pickle.dumps(evaluator)))["settings"] == expected
    assert [e.name for e in RHINOS] == ["Rhino-m1", "Rhino-m2", "Rhino-m4", "Rhino-m6"]


def test_an_engine_that_fails_is_counted(tmp_path):
    """A program that answers nothing loses every match; one that plays half of them counts."""
    silent = Matches("silent", partial(gtp.Player, ["/bin/true"], "silent"), starts=("upto", 1))
    with pytest.raises(RuntimeError, match="all 10 matches against silent failed.*true` ended"):
        silent(games.load("othello"), players.Random(), seed=1)
