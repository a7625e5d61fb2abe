"""Games and their variants: whether they conform, other board sizes, and where a1 is."""

import pickle
import re

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.games import catalogue, conformance
from afterstate.games.counts import perft
from afterstate.learners import td
from afterstate.players.perfect import Perfect
from afterstate.screen import notation
from afterstate.screen.touch import clicks
from afterstate.search import max_n

CLOCKS = ["some states with equal keys differ: right only for clocks and history"]
MOVED = ["4 symmetries change the start position and were not checked"]
LUDII = {"flying_captures": False, "blocked": "pass", "repetition": 0, "quiet_plies": 0}
VARIANTS = [  # name, parameters, random games, what the report notes
    ("tictactoe", {"rows": 15, "columns": 15, "k": 5}, 8, []),  # Gomoku
    ("tictactoe", {"rows": 4, "columns": 6, "k": 4}, 8, []),
    ("connect4", {}, 60, []),
    ("connect4", {"rows": 4, "columns": 5, "k": 3}, 8, []),
    ("connect4", {"rows": 7, "columns": 8}, 8, []),
    ("connect4", {"rows": 1, "columns": 15, "k": 2}, 8, []),
    ("othello", {}, 40, MOVED),
    ("othello", {"side": 4}, 8, MOVED),
    ("othello", {"side": 6}, 8, MOVED),
    ("hex", {}, 20, []),
    ("hex", {"size": 4, "swap": True}, 20, []),
    ("hex", {"size": 2}, 20, []),
    ("hex", {"size": 15}, 4, []),
    ("kalah", {"margin": True}, 40, CLOCKS),  # keys leave out the seeds won
    ("kalah", {"houses": 3, "seeds": 9, "empty_capture": True}, 40, []),
    ("giveaway", {}, 30, CLOCKS),
    ("checkers", {}, 30, CLOCKS),
    ("morris", {"men": 6}, 5, CLOCKS),
    ("morris", {"men": 3}, 5, CLOCKS),
    ("morris", {"men": 3, "lines": 6, "blocked": "pass"}, 5, CLOCKS),
    ("morris", {**LUDII, "max_plies": 2500}, 5, []),
    ("game2048", {}, 6, []),
]


@pytest.mark.slow
@pytest.mark.parametrize("name, params, num, notes", VARIANTS, ids=str)
def test_games_and_their_variants_conform(name, params, num, notes):
    game = games.load(name, **params)
    report = conformance.check(game, games=num, seed=2, max_plies=3000)
    assert (report.notes, report.warnings) == (notes, [])
    assert report.checks["terminal states"] >= num
    if len(game.symmetries) > 1:
        assert report.checks["symmetric images"] > 20
    if not game.deterministic:
        assert report.checks["chance outcomes"] >= 200


@pytest.mark.slow
def test_small_boards_have_their_known_values():
    value, positions, _ = max_n.solve(games.load("connect4", rows=4, columns=4))
    assert (value.tolist(), positions) == ([0, 0], 161_029)  # Tromp's number of positions; a draw
    # on 4 x 4 the second player wins; on 6 x 6 the first plies are those of 8 x 8
    assert max_n.solve(games.load("othello", side=4))[0].tolist() == [-1, 1]
    assert [perft(games.load("othello", side=6), depth) for depth in (1, 2, 3)] == [4, 12, 56]
    assert max_n.solve(games.load("tictactoe", rows=3, columns=4))[0].tolist() == [1, -1]


def test_a_size_is_part_of_the_identity_unless_it_is_the_usual_one():
    for name, given in (("connect4", {"rows": 6, "columns": 7, "k": 4}), ("othello", {"side": 8})):
        usual = {"name": name, "params": {}, "version": 1}
        assert games.load(name).identity == games.load(name, **given).identity == usual
    small = games.load("connect4", columns=5)
    assert small.identity["params"] == {"columns": 5}
    again = pickle.loads(pickle.dumps(small))
    assert again.identity == small.identity and again.actions == 5
    assert games.load_spec(small.identity | {}).cells == small.cells == 30


@pytest.mark.slow
def test_a_large_board_is_trained_on_shown_and_written_down():
    gomoku = games.load("tictactoe", rows=15, columns=15, k=5)
    tuples = {"random_walk": 12, "length": 5}
    session = td.Session(gomoku, {"tuples": tuples, "episodes": 4, "tc": "id"}, seed=1)
    session.train(4)
    values = session.net.action_values(gomoku.start())
    assert values.shape == (225,) and np.ptp(values) > 0
    one, other = (session.net.action_values(gomoku.after([cell])) for cell in (16, 224 - 16))
    assert np.allclose(one[::-1], other)  # turned by half
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
        ("connect4", {"rows": 8, "columns": 8}, r"\(rows \+ 1\) \* columns is at most 64"),
        ("othello", {"side": 7}, "side must be 4, 6 or 8 .*, not 7"),
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
        Perfect("AB").new_match(small, [], 0, 1)
    with pytest.raises(ValueError, match="Othello on 8 x 8"):
        notation.write_moves(games.load("othello", side=6), [])


# ------------------------------------------------------------------------------------- coordinates


def corners(game, state):
    """The drawn cells at the left corners of a picture, by the places of its cells."""
    places = {}
    for cell, inside in re.findall(r'<g data-cell="(\d+)">(.*?)</g>', str(game.view(state))):
        found = re.search(r'(?:c?x)="([-\d.]+)"[^>]*?(?:c?y)="([-\d.]+)"', inside)
        found = found or re.search(r'points="([-\d.]+),([-\d.]+)', inside)
        places[int(cell)] = float(found[1]), float(found[2])
    left = min(x for x, _ in places.values())
    column = sorted((y, cell) for cell, (x, y) in places.items() if x == left)
    return {"above": column[0][1], "below": column[-1][1]}


UNNAMED = {"kalah", "nim", "nim3p", "checkers", "giveaway", "game2048", "cube2", "cube3"}


@pytest.mark.parametrize("name", games.names())
def test_a1_is_where_the_specification_says(name):
    told = re.match(r"a1 is (above|below) on the left", catalogue.tables()[name]["coordinates"])
    assert (told is None) == (name in UNNAMED)
    if told is None:
        return
    game = games.load(name)
    state = game.start()
    if name == "othello":  # nobody can move to a1 at the start
        at_a1 = next(a for a in range(64) if game.action_name(state, a) == "a1")
    else:
        action = next(a for a in game.legal(state).tolist() if game.action_name(state, a) == "a1")
        choices = clicks(game, state)[action][0]
        # any cell of a column of ConnectFour may be clicked; the stone lands below
        at_a1 = max(choices) if name == "connect4" else choices[-1]
    assert corners(game, state)[told[1]] == at_a1
