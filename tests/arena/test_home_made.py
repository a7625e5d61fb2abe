"""A home-made game whose rules leave their arrays is an error of the match, not a crash."""

import os
import subprocess
import sys

import pytest

from afterstate.kernel.source import PACKAGE

CODE = """
import sys
from afterstate import arena, players
from afterstate.arena.contest import contest
from afterstate.players import agents
from sample_games import take_game
from afterstate.games.game import Game

good = take_game()
arguments = dict(good._arguments)
name = arguments.pop("name")
for key in ("version", "spec"):
    arguments.pop(key)

def wide(s, action):
    for i in range(5):
        s[4 + i] = 7
    s[0] = 0

def legal(s, moves):
    for i in range(9):
        moves[i] = i % 2
    return 9

arguments |= {"play": wide} if sys.argv[1] == "play" else {"legal": legal}
game = Game(name, **arguments)
one = players.Random()
for call in (
    lambda: arena.match(game, [one, one]),
    lambda: arena.matches(game, {"a": one, "b": one}),
    lambda: contest(game, agents.chance(good), agents.chance(good)),
):
    try:
        call()
        print("silent")
    except ValueError as error:
        print("the rule" in str(error))
"""


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["play", "legal"])
def test_a_rule_that_writes_too_far_is_named(rule):
    paths = os.pathsep.join([str(PACKAGE.parent), os.path.dirname(os.path.dirname(__file__))])
    done = subprocess.run(
        [sys.executable, "-c", CODE, rule],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 3
