"""Give-away checkers and checkers: OpenSpiel, plain Python, endgames, draws."""

from collections import Counter

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.games.calls import call_legal, call_over, call_play, call_player
from oracles import reference_checkers as reference

game = games.load("giveaway")
FREE = {"repetition": 0, "quiet_plies": 0, "max_plies": 0}  # no draws
QUIET_ACTIONS = 40  # OpenSpiel draws after this many actions without a capture
SIDES = "wb"


def marks(s):
    """The board of a state as the reference writes it."""
    white, black, kings = (int(word) & 0xFFFFFFFF for word in s[:3])
    found = ["w" if white >> q & 1 else "b" if black >> q & 1 else "." for q in range(32)]
    return "".join(mark.upper() if kings >> q & 1 else mark for q, mark in enumerate(found))


def state_of(board_text, side):
    """The state of a board of the reference."""
    listed = {"w": [], "b": []}
    for q, mark in enumerate(board_text):
        if mark != ".":
            listed[mark.lower()].append("K" * mark.isupper() + str(q + 1))
    return game.parse(f"{side.upper()}:W{','.join(listed['w'])}:B{','.join(listed['b'])}")


def their_action(action, jumps):
    """OpenSpiel's number of an action; its directions go round the clock."""
    square, d = divmod(action, 4)
    row, column = square // 4, 2 * (square % 4) + 1 - square // 4 % 2
    return ((8 * row + column) * 4 + (0, 1, 3, 2)[d]) * 2 + jumps


def pieces(s):
    return (int(s[0] | s[1]) & 0xFFFFFFFF).bit_count()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, oracle, num",
    [("giveaway", "misere(game=checkers())", 3_000), ("checkers", "checkers", 60)],
)
def test_random_games_equal_openspiel(name, oracle, num):
    """Our rules are called without the checks of the border, which take most of the time."""
    ours, oracle, ends, longer = games.load(name, **FREE), pyspiel.load_game(oracle), Counter(), 0
    rules, legal, random = ours.rules, np.zeros(ours.max_legal, np.int32), np.random.default_rng(2)
    for _ in range(num):
        s, theirs, quiet = ours.start(), oracle.new_initial_state(), 0
        while not call_over(rules, s) and quiet < QUIET_ACTIONS:
            mover, moves = call_player(rules, s), legal[: call_legal(rules, s, legal)].tolist()
            had = pieces(s)
            action = moves[random.integers(len(moves))]
            call_play(rules, s, action)
            jumps = pieces(s) < had
            assert not theirs.is_terminal() and mover == theirs.current_player()
            assert sorted(their_action(action, jumps) for action in moves) == theirs.legal_actions()
            theirs.apply_action(their_action(action, jumps))
            quiet = 0 if jumps else quiet + 1
            longer += jumps and not call_over(rules, s) and call_player(rules, s) == mover
        assert theirs.is_terminal()
        assert theirs.returns() == (ours.score(s).tolist() if ours.over(s) else [0.0, 0.0])
        ends[theirs.returns()[0]] += 1
    assert min(ends[1], ends[-1]) > num / 5 and sum(ends.values()) == num and longer > num / 3
    assert ends[0] > 5 or name == "checkers"


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


def named(rules, s, name):
    return next(a for a in rules.legal(s) if rules.action_name(s, a) == name)


def shuffle(rules, s, num):
    """Move two kings to and fro, one turn after the other, until the end."""
    for k in range(num):
        if rules.over(s):
            return s, k
        s = rules.play(s, named(rules, s, ["1-6", "32-27", "6-1", "27-32"][k % 4]))
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
    third = named(game, s, "27-32")
    assert game.render(s).endswith("7 plies quiet, 7 played") and game.over(game.play(s, third))
    core = s[: game.core].copy()
    call_play(game.rules, core, third)
    assert not call_over(game.rules, core)
    s, _ = shuffle(game, game.parse("W:WK1,28:BK32"), 4)
    s = game.play(s, named(game, s, "28-24"))
    assert s[4] == 0 and not game.over(s) and game.player(s) == 1
