"""Give-away checkers and checkers: plain Python, endgames, draws."""

import numpy as np
import pytest

from afterply import games
from afterply.games.calls import call_over, call_play
from oracles import reference_checkers as reference

game = games.load("giveaway")
SIDES = "wb"


def marks(s):
    """The board of a state as the reference writes it."""
    return "".join(".wWbB"[code] for code in game.board(s)[:32])


def state_of(board_text, side):
    """The state of a board of the reference."""
    return game.from_codes(np.array([*map(".wWbB".index, board_text)]), SIDES.index(side))


def paths(s):
    """All turns of a state: (actions, board after them), sorted."""
    found, open_paths = [], [((), s)]
    while open_paths:
        actions, at = open_paths.pop()
        for action in game.legal(at):
            following, path = game.play(at, action), (*actions, int(action))
            if following[3] >> 1 & 63:
                open_paths.append((path, following))
            else:
                found.append((path, marks(following)))
    return sorted(found)


@pytest.mark.slow
def test_rules_equal_plain_python_on_all_positions_with_two_pieces():
    number = 0
    for position in reference.endgames((1, 1)):
        s, choices = state_of(*position), sorted(reference.turns(*position))
        assert game.over(s) == (not choices) and (game.over(s) or paths(s) == choices)
        number += 1
    # both kings, one man (28 squares), two men
    assert number == 2 * (32 * 31 + 2 * 28 * 31 + 28 * 28 - 24)


@pytest.mark.slow
def test_published_endgames_with_three_kings():
    # White has two kings in both
    value = reference.solve(reference.endgames((1, 1), (2, 1), men=False))
    for text, winner in (("W:WK5,K1:BK32", 0), ("B:WK21,K1:BK18", 1)):
        s = game.parse(text)
        outcome, _ = value[marks(s), SIDES[game.player(s)]]
        assert (game.player(s) if outcome > 0 else 1 - game.player(s)) == winner


def shuffle(rules, s, num):
    """Move two kings to and fro, one turn after the other, until the end."""
    for k in range(num):
        if rules.over(s):
            return s, k
        s = rules.play(s, ["1-6", "32-27", "6-1", "27-32"][k % 4])
    return s, num


@pytest.mark.parametrize(
    "params, plies",
    [
        ({}, 8),  # the third occurrence is a draw
        ({"repetition": 5}, 16),
        ({"repetition": 0, "quiet_plies": 10}, 10),
        ({"repetition": 0, "quiet_plies": 0, "max_plies": 7}, 7),
    ],
)
def test_draws(params, plies):
    rules = games.load("giveaway", **params)
    s, played = shuffle(rules, rules.parse("W:WK1:BK32"), 100)
    assert played == plies and rules.over(s) and rules.score(s).tolist() == [0, 0]


def test_a_capture_or_a_mans_move_forgets_the_history_and_a_search_sees_none():
    s, _ = shuffle(game, game.parse("W:WK1,28:BK32"), 7)
    third = game.action(s, "27-32")
    assert game.render(s).endswith("7 plies quiet, 7 played") and game.over(game.play(s, third))
    core = s[: game.core].copy()
    call_play(game.rules, core, third)
    assert not call_over(game.rules, core)
    s, _ = shuffle(game, game.parse("W:WK1,28:BK32"), 4)
    s = game.play(s, "28-24")
    assert s[4] == 0 and not game.over(s) and game.player(s) == 1
