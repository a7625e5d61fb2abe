"""Games for two to four players, each against a second program that knows only the rules."""

import random

import numpy as np
import pytest

from afterstate import games
from afterstate.games import calls
from oracles.reference_many import Connect4, Dots, Race

GAMES = 300
CASES = [
    *(("connect4", {"players": n, "rows": 6, "columns": 9}, (6, 9, 4)) for n in (3, 4)),
    ("connect4", {"players": 3, "rows": 4, "columns": 5, "k": 3}, (4, 5, 3)),
    *(("dots", {"players": n}, (3, 3)) for n in (2, 3, 4)),
    ("dots", {"players": 3, "rows": 2, "columns": 4}, (2, 4)),
    *(("race", {"players": n}, ()) for n in (2, 3, 4)),
]
ORACLES = {"connect4": Connect4, "dots": Dots, "race": Race}


def differences(name, params, sizes, number) -> list:
    """Play random games of both programs; return the states after which they differ."""
    game, rng, found, won = games.load(name, **params), random.Random(1), [], set()
    rules, moves, score = game.rules, np.zeros(game.max_legal, np.int32), np.zeros(game.players)
    for k in range(number):
        s, theirs = game.start(k), ORACLES[name](params["players"], *sizes)
        while True:
            if name == "race" and not theirs.over:
                theirs.throw(int(s[-1]))
            calls.call_score(rules, s, score)
            over = calls.call_over(rules, s)
            legal = [] if over else moves[: calls.call_legal(rules, s, moves)].tolist()
            same = over == theirs.over and np.allclose(score, theirs.scores(), atol=1e-12)
            if not over:
                same &= calls.call_player(rules, s) == theirs.mover and legal == theirs.legal()
            if not same:
                found.append(s.copy())
            if over or not same:
                won.add(int(score.argmax()) if score.max() > 0.5 else None)
                break
            action = rng.choice(legal)
            calls.call_play(rules, s, action)
            theirs.play(action)
            if name == "race" and not theirs.over:
                number_thrown = rng.randrange(calls.call_outcomes(rules, s))
                assert calls.call_outcome(rules, s, number_thrown) == 1 / 6
    assert number < 100 or won >= {*range(game.players)}, "everybody wins, now and then"
    return found


@pytest.mark.parametrize("name, params, sizes", CASES, ids=str)
def test_random_games_equal_plain_python(name, params, sizes):
    assert differences(name, params, sizes, GAMES) == []
