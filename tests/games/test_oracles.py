"""OpenSpiel as another implementation of the rules: 10,000 random games without a difference."""

import numpy as np
import pyspiel
import pytest

from afterstate import games

GAMES = 10_000


def other_action(name, game, action):
    """OpenSpiel's number for our action: in Nim it counts (take - 1) * heaps + heap."""
    return (action % 5) * 3 + action // 5 if name.startswith("nim") else action


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, params, other",
    [
        ("tictactoe", {}, "tic_tac_toe"),
        ("nim", {}, "nim(pile_sizes=5;5;5,is_misere=False)"),
        ("nim", {"misere": True}, "nim(pile_sizes=5;5;5,is_misere=True)"),
    ],
    ids=["tictactoe", "nim", "nim misere"],
)
def test_random_games_without_a_difference(name, params, other):
    game, oracle = games.load(name, **params), pyspiel.load_game(other)
    translate = [other_action(name, game, a) for a in range(game.actions)]
    random = np.random.default_rng(1)
    positions = {}  # what our rules say, by position: they are asked once, OpenSpiel's every time
    for _ in range(GAMES):
        s, theirs = game.start(), oracle.new_initial_state()
        while True:
            key = game.key(s)
            if key not in positions:
                player = None if game.over(s) else game.player(s)
                following = {translate[a]: game.play(s, a) for a in game.legal(s)}
                positions[key] = player, game.score(s).tolist(), following
            player, score, following = positions[key]
            over, legal = player is None, sorted(following)
            assert over == theirs.is_terminal() and score == theirs.returns()
            if over:
                break
            assert player == theirs.current_player() and legal == theirs.legal_actions()
            action = legal[random.integers(len(legal))]
            s = following[action]
            theirs.apply_action(action)
