"""Boards of other sizes, and where a1 is: Tic-Tac-Toe to 15 x 15, ConnectFour, Othello."""

import pickle
import re

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.files import data_directory
from afterstate.games import catalogue, conformance
from afterstate.games.counts import perft
from afterstate.games.rules import _connect4_sizes, _othello_sizes
from afterstate.learners import td
from afterstate.screen import notation
from afterstate.screen.touch import clicks
from afterstate.search import max_n
from afterstate.studies import golden

SIZED = {
    "Gomoku": ("tictactoe", {"rows": 15, "columns": 15, "k": 5}),
    "4 x 6, 4 in a line": ("tictactoe", {"rows": 4, "columns": 6, "k": 4}),
    "4 x 5, 3 in a row": ("connect4", {"rows": 4, "columns": 5, "k": 3}),
    "7 x 9": ("connect4", {"rows": 7, "columns": 9}),
    "3 x 4, k 3": ("connect4", {"rows": 3, "columns": 4, "k": 3}),
    "Othello 4 x 4": ("othello", {"side": 4}),
    "Othello 6 x 6": ("othello", {"side": 6}),
    "Othello 10 x 10": ("othello", {"side": 10}),
}


def made(name):
    return games.load(SIZED[name][0], **SIZED[name][1])


def same_games(one, other, number):
    """Play the same random games by two sets of rules and compare all they say."""
    random, plies = np.random.default_rng(5), 0
    for _ in range(number):
        s, t = one.start(), other.start()
        while not one.over(s):
            legal = one.legal(s).tolist()
            assert legal == other.legal(t).tolist() and one.player(s) == other.player(t)
            assert one.board(s).tolist() == other.board(t).tolist()
            assert one.render(s) == other.render(t) and one.score(s).tolist() == [0, 0]
            action = int(random.choice(legal))
            assert one.action_name(s, action) == other.action_name(t, action)
            s, t, plies = one.play(s, action), other.play(t, action), plies + 1
        assert other.over(t) and one.score(s).tolist() == other.score(t).tolist()
        assert np.array_equal(other.parse(one.render(s)), t)
    return plies


@pytest.mark.slow
def test_rules_for_all_sizes_play_the_usual_boards_as_bitboards_do():
    assert same_games(games.load("connect4"), _connect4_sizes.sized(6, 7, 4), 40) > 500
    assert same_games(games.load("othello"), _othello_sizes.sized(8), 12) > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZED)
def test_other_sizes_conform(name):
    report = conformance.check(made(name), games=8)
    assert report.checks["terminal states"] >= 8 and report.warnings == []


@pytest.mark.slow
def test_small_boards_have_their_known_values():
    value, positions, _ = max_n.solve(games.load("connect4", rows=4, columns=4))
    assert (value.tolist(), positions) == ([0, 0], 161_029)  # Tromp's number of positions; a draw
    # on 4 x 4 the second player wins; on 6 x 6 the first plies are those of 8 x 8
    assert max_n.solve(games.load("othello", side=4))[0].tolist() == [-1, 1]
    assert [perft(games.load("othello", side=6), depth) for depth in (1, 2, 3)] == [4, 12, 56]
    assert max_n.solve(games.load("tictactoe", rows=3, columns=4))[0].tolist() == [1, -1]


def test_the_usual_boards_are_who_they_were():
    for name, given in (
        ("connect4", {"rows": 6, "columns": 7, "k": 4}),
        ("othello", {"side": 8}),
        ("tictactoe", {"rows": 3, "columns": 3, "k": 3}),
    ):
        usual, told = games.load(name), games.load(name, **given)
        assert (
            usual.identity == told.identity
            and usual.rule("play") is told.rule("play")
            or (name == "tictactoe")
        )
        assert golden.check_game(usual, data_directory())[0] == golden.PASSED
    assert games.load("connect4").identity == {"name": "connect4", "params": {}, "version": 1}
    small = games.load("connect4", columns=5)
    assert small.identity["params"] == {"columns": 5}
    again = pickle.loads(pickle.dumps(small))
    assert again.identity == small.identity and again.actions == 5
    assert games.load_spec(small.identity | {}).cells == small.cells == 30


@pytest.mark.slow
def test_a_large_board_is_trained_on_shown_and_written_down():
    gomoku = made("Gomoku")
    tuples = {"random_walk": 12, "length": 5}
    session = td.Session(gomoku, {"tuples": tuples, "episodes": 4, "tc": "id"}, seed=1)
    session.train(4)
    values = session.net.action_values(gomoku.start())
    assert values.shape == (225,) and np.ptp(values) > 0
    one, other = session.net.action_values(gomoku.after([16])), gomoku.after([224 - 16])
    assert np.allclose(one[::-1], session.net.action_values(other))  # turned by half
    played = arena.match(gomoku, [session, players.Random()], seed=1)
    text = notation.write(gomoku, played.states, played.moves)
    assert notation.read(text).actions == list(played.moves)
    drawing = str(gomoku.view(gomoku.after(played.moves)))
    assert all(f">{label}</text>" in drawing for label in ("a", "o", "1", "15"))
    names = [gomoku.action_name(gomoku.start(), cell) for cell in (0, 14, 210, 224)]
    assert names == ["a15", "o15", "a1", "o1"]


@pytest.mark.parametrize(
    "name, given, words",
    [
        ("tictactoe", {"rows": 16}, "1 to 15 rows and columns"),
        ("tictactoe", {"k": 4}, "k within the longer side"),
        ("connect4", {"rows": 16}, "rows must be"),
        ("connect4", {"columns": 0}, "columns must be"),
        ("connect4", {"rows": 3, "columns": 3}, "k must be"),
        ("othello", {"side": 7}, "side must be one of 4, 6, 8, 10, not 7"),
    ],
)
def test_sizes_that_can_not_be_are_named(name, given, words):
    with pytest.raises(ValueError, match=words):
        games.load(name, **given)


@pytest.mark.slow
def test_players_of_the_usual_board_refuse_others():
    small = games.load("connect4", columns=5)
    with pytest.raises(ValueError, match="made for|holds weights of|holds"):
        players.zoo(small)
    with pytest.raises(ValueError, match="6 x 7 only"):
        from afterstate.players.perfect import Perfect

        Perfect("AB").new_match(small, [], 0, 1)
    with pytest.raises(ValueError, match="Othello on 8 x 8"):
        notation.write_moves(games.load("othello", side=6), [])


# ------------------------------------------------------------------------------------- coordinates
def corners(game, state):
    """The drawn cell at each corner of a picture, by the places of its cells."""
    places = {}
    for cell, inside in re.findall(r'<g data-cell="(\d+)">(.*?)</g>', str(game.view(state))):
        found = re.search(r'(?:c?x)="([-\d.]+)"[^>]*?(?:c?y)="([-\d.]+)"', inside)
        found = found or re.search(r'points="([-\d.]+),([-\d.]+)', inside)
        places[int(cell)] = float(found[1]), float(found[2])
    left = min(x for x, _ in places.values())
    column = [cell for cell, (x, _) in places.items() if x == left]
    return {
        "above": min(column, key=lambda cell: places[cell][1]),
        "below": max(column, key=lambda cell: places[cell][1]),
    }


@pytest.mark.parametrize("name", games.names())
def test_a1_is_where_the_specification_says(name):
    told = re.match(r"a1 is (above|below) on the left", catalogue.tables()[name]["coordinates"])
    if not told:
        assert name in (
            "kalah",
            "nim",
            "nim3p",
            "checkers",
            "giveaway",
            "game2048",
            "cube2",
            "cube3",
        )
        return
    game = games.load(name)
    state = game.start()
    if name == "othello":  # nobody can move to a1 at the start
        at_a1 = next(a for a in range(64) if game.action_name(state, a) == "a1")
    else:
        action = next(a for a in game.legal(state).tolist() if game.action_name(state, a) == "a1")
        at_a1 = clicks(game, state)[action][0][-1]
        if name == "connect4":  # any cell of the column may be clicked; the stone lands below
            at_a1 = max(clicks(game, state)[action][0])
    assert corners(game, state)[told[1]] == at_a1
