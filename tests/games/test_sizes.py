"""Games and their variants: whether they conform, other board sizes, pictures, where a1 is."""

import pickle
import re

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.games import catalogue, conformance
from afterstate.games.counts import perft
from afterstate.games.svg import MARKED, view
from afterstate.learners import td
from afterstate.players.perfect import Perfect
from afterstate.screen import notation
from afterstate.screen.touch import clicks
from afterstate.search import max_n

CLOCKS = ["equal keys of different states: right for clocks and history"]
MOVED = ["4 symmetries change the start: they were not checked"]
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
    for again in (pickle.loads(pickle.dumps(small)), games.load_spec(small.identity)):
        assert again.identity == small.identity and (again.actions, again.cells) == (5, 30)


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
        *[("hex", {"size": n}, "size must be a whole number from 2 to 15") for n in (1, 16)],
        *[("hex", {"size": n}, "size .*must be int") for n in (6.0, True)],
        ("kalah", {"seeds": 0}, "seeds must be a whole number of at least 1, not 0"),
        ("kalah", {"houses": 9}, "do not fit into a key"),
        ("giveaway", {"max_plies": -1}, "max_plies .* must be a whole number from 0"),
        ("checkers", {"quiet_plies": 0}, "a repetition needs at least 2 times"),
        ("morris", {"men": 7}, "no board for men=7, lines=8"),
        ("morris", {"blocked": "win"}, "one of 'loss', 'pass', not 'win'"),
        ("morris", {"quiet_plies": -1}, "quiet_plies .*must be a whole number"),
        ("morris", {"quiet_plies": 0}, "history bounded by quiet_plies"),
        ("cube3", {"max_twists": 0}, "max_twists must be a whole number from 1 to 10,000, not 0"),
        ("cube3", {"min_twists": 9, "max_twists": 5}, "max_twists=5 must be at least min_twists=9"),
        ("cube3", {"corner_stickers": "some"}, "one of 'complete', 'original', not 'some'"),
    ],
)
def test_parameters_that_can_not_be_are_named(name, given, words):
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


PICTURES = [  # name, parameters, actions or text, values, last move, how often texts occur
    ("connect4", {}, [3, 3], {c: c / 10 for c in range(7)}, 3, {"+0.30": 1}),
    ("othello", {}, [], {19: 0.3, 26: -0.1}, 28, {"+0.30": 1, "-0.10": 1}),
    ("kalah", {}, [0], {a: a / 10 for a in range(6)}, None, {"+0.30": 1}),
    # the stone, and the mark of the last move
    ("hex", {"swap": True}, [14], {0: 0.25, 36: -0.5}, 14,
     {"<polygon": 36, "+0.25": 1, "swap: -0.50": 1, "<circle": 2}),
    ("hex", {"swap": True}, [14, 36], None, 36, {MARKED: 1}),
    ("giveaway", {}, [], None, 80, {"<circle": 24, "#f6d55c": 1}),
    ("giveaway", {}, "W:WK1:BK32", None, None, {"<circle": 4, ">K<": 2}),
    # tiles, edges to click, ground
    ("game2048", {}, "2 4 2048 32768" + " ." * 12 + " score 20000", {0: 0.25, 3: -3.0}, 1,
     {"<rect": 21, ">2048<": 1, "+0.25": 1, "-3.00": 1, "\u25b2": 1}),
    ("cube2", {}, "after U L F", None, None, {"<rect": 25}),
    ("cube3", {}, "after U L F", None, None, {"<rect": 55}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, at, values, last, found", PICTURES, ids=str)
def test_pictures(name, given, at, values, last, found):
    game = games.load(name, **given)
    state = game.parse(at) if isinstance(at, str) else game.after(at)
    drawing = str(view(game, state, values=values, last=last))
    assert {text: drawing.count(text) for text in found} == found


def test_pictures_of_moves_to_one_place():
    """A point of Morris and a square of checkers show the best value; a cube its twists."""
    morris, checkers, cube = games.load("morris"), games.load("checkers"), games.load("cube2")
    place = {to: 25 * to for to in (0, 8, 1, 9)}
    s = morris.after(list(place.values()))
    values = {int(a): 0.5 if a % 25 == 9 else 0.1 for a in morris.legal(s)}
    drawing = str(view(morris, s, values=values, last=place[9]))
    counts = [drawing.count(text) for text in ("+0.50", "+0.10", MARKED, "<line")]
    assert counts == [1, 19, 1, 32]
    start = checkers.start()
    drawing = str(view(checkers, start, values=dict.fromkeys(checkers.legal(start).tolist(), 0.25)))
    assert drawing.count("+0.25") == 4
    turned = cube.play(cube.parse("after U L F"), 0)
    drawing = str(view(cube, turned, values={1: 0.5, 3: -0.25}, last=0))
    assert all(text in drawing for text in ("last twist U<", "+0.50", "-0.25", ">L<"))
    assert f'{MARKED}" stroke-width="3"' in drawing


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
    places = {}  # the left upper corners of the drawn cells
    for cell, inside in re.findall(r'<g data-cell="(\d+)">(.*?)</g>', str(game.view(state))):
        found = re.search(r'(?:c?x)="([-\d.]+)"[^>]*?(?:c?y)="([-\d.]+)"', inside)
        found = found or re.search(r'points="([-\d.]+),([-\d.]+)', inside)
        places[int(cell)] = float(found[1]), float(found[2])
    upper = min(places, key=places.get)
    lower = min(places, key=lambda cell: (places[cell][0], -places[cell][1]))
    assert at_a1 == {"above": upper, "below": lower}[told[1]]
