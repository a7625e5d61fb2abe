"""Positions as text and as SVG, names of moves, and what is said of input that does not fit."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from afterply import games
from afterply.games import catalogue
from afterply.games.boards import MARKED, grid_svg, state_svg
from sample_games import race

TEXTS = [  # name, parameters, actions or text, lines of the text, names of the first legal actions
    ("tictactoe", {}, [4, 0], "o . .\n. x .\n. . .", "b3 c3 a2"),
    ("connect4", {}, [3, 3, 3, 2, 4, 4], ". . . o o . .\n. . o x x . .", "a1 b1 c2 d4 e3 f1 g1"),
    ("hex", {}, [14, 15, 20], "  . . x o . .\n   . . x . . .\n", "a1 b1 c1 d1 e1 f1 a2"),
    ("kalah", {}, [2, 5], "    4  4  5  5  5  5\n 0                    2  second to move\n"
     "    4  4  0  5  5  0", "a b c d e f"),
    ("othello", {}, [19, 18], "x to move", "b3 c4 f5 e6"),
    ("morris", {}, [0, 25], "x     o     .\n", "g7 g4 g1"),
    ("morris", {}, [0, 25], "\nfirst to move, 8 and 8 in hand, 2 plies quiet, 2 played", "g7"),
    ("giveaway", {}, "B:WK21,K1:BK18", ". W . . . . . .\n", "18-14 18-15 18-22 18-23"),
    ("giveaway", {}, "W:W21-32:B1-12", "\n. w . w . w . w\n", "21-17 22-17 22-18 23-18"),
    ("giveaway", {}, "W:W:BK1", "White has won", ""),
    ("game2048", {}, "2 4 . .  . . . .  . . 2048 .  . . . 32768  score 20480", "score 20480",
     "left up right down"),
    ("nim", {}, "3 0 5 : 1", "3 0 5 : 1", "1 from heap 1"),
    ("cube2", {}, "after U L", "last twist: none\nstate: ", "U U2 U' L L2 L' F F2 F'"),
]  # fmt: skip


@pytest.mark.parametrize("name, params, at, text, names", TEXTS, ids=lambda x: str(x)[:30])
def test_a_position_is_written_and_read(name, params, at, text, names):
    game = games.load(name, **params)
    s = game.parse(at) if isinstance(at, str) else game.after(at)
    assert text in game.render(s)
    if game.functions["parse"]:
        assert game.parse(game.render(s))[: game.core].tolist() == s[: game.core].tolist()
    else:
        assert game.parse(" ".join(map(str, s))).tolist() == s.tolist()
    assert " ".join(game.action_name(s, a) for a in game.legal(s)).startswith(names)


NO_TEXTS = [
    ("tictactoe", {}, "x x . . . . . . .", "x moves first"),
    ("othello", {}, "x o", "64 marks"),
    ("othello", {}, ". " * 64 + "x", "'x to move' or 'o to move' or 'over'"),
    ("othello", {}, ". " * 64 + "x to move", "d4, e4, d5, e5 always hold stones"),
    ("othello", {"side": 4}, "x " * 16 + "x to move", "by its stones it is 'over'"),
    ("morris", {}, "x o x", "24 marks"),
    ("giveaway", {}, "white to move", "a position is a line such as"),
    ("giveaway", {}, "W:W33:B1", "'33' is no square from 1 to 32"),
    ("giveaway", {}, "W:W21,K21:B1", "a square has two pieces"),
    ("game2048", {}, "3" + " ." * 15 + " score 0", "16 tiles"),
    ("nim", {}, "3 0 5", "3 heaps of at most 5 stones, a colon"),
    ("cube2", {}, "after U R", "'R' is no twist; they are U, U2"),
    ("cube2", {}, "state: 1 2", "'state:' and 3 numbers"),
    ("cube2", {}, "state: 99999999999 1 1", "must fit int32"),
]


@pytest.mark.parametrize("name, params, text, words", NO_TEXTS, ids=lambda x: str(x)[:30])
def test_a_wrong_text_is_explained(name, params, text, words):
    with pytest.raises(ValueError, match=words):
        games.load(name, **params).parse(text)


def test_cells_have_their_places():
    game = games.load("morris")
    s = game.after([0, 25])
    named = [game.action_name(s, ((o + 1) * 24 + 7) * 25 + r) for o, r in ((-1, 0), (0, 0), (0, 2))]
    assert named == ["a4", "a7-a4", "a7-a4xd7"]


GAME = games.load("tictactoe")
STATES = [GAME.after([4, 0, 8][:ply]) for ply in range(4)]


def texts(svg):
    return [part.text for part in ElementTree.fromstring(svg).iter() if part.tag.endswith("text")]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: grid_svg(["X"] * 8, 3), "8 cells do not fill rows of 3"),
        (lambda: grid_svg([""] * 9, 3, values={9: 0.1}), "cell 9"),
        (lambda: GAME.view(STATES[0], {99: 0.5}), "action 99"),
        (lambda: GAME.view(STATES[0], [0.1]), "1 values for 9 legal actions"),
        (lambda: games.replay(GAME, []), "0 states"),
        (lambda: games.replay(GAME, STATES[:1], actions=[1]), "1 actions for 1 states"),
        (lambda: games.replay(GAME, STATES, captions=[]), "0 captions for 4 states"),
        (lambda: games.replay(GAME, STATES, per_row=0), "rows of 0"),
        (lambda: games.replay(race(svg=lambda *s, **more: "<svg/>"), [[0, 0]]), "width and height"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_values_follow_the_order_of_legal_actions():
    values = [0.1, 0.2, 0.3, 0.4, 0.5, -0.6]
    svg = state_svg(GAME, STATES[3], values)
    cells = [text for text in texts(svg) if re.fullmatch(r"[+-]\d\.\d\d", text)]
    assert cells == ["+0.10", "+0.20", "+0.30", "+0.40", "+0.50", "-0.60"]
    legal = GAME.legal(STATES[3]).tolist()
    assert state_svg(GAME, STATES[3], dict(zip(legal, values))) == svg


def test_a_game_without_drawing_is_shown_as_text():
    told = race(render=lambda s: f"  {s[0]} <&>", action_name=lambda s, action: f"add {action + 1}")
    assert texts(state_svg(told, told.start(), {1: 0.5})) == ["  0 <&>", "add 2: +0.50"]
    plain = race()
    assert texts(state_svg(plain, plain.start(), {1: 0.5})) == ["0 0", "1: +0.50"]
    assert plain.places(plain.start(), 0) == []


def test_view_shows_itself_and_calls_the_hook_with_state_values_and_last():
    seen = []

    def svg(state, values, last):
        seen.append((state.tolist(), values, last))
        return grid_svg([str(state[0])], 1, values=values)

    game = race(svg=svg)
    shown = game.view(game.start(), values={0: 0.5}, last=1)
    assert shown._repr_svg_() == str(shown) == grid_svg(["0"], 1, values={0: 0.5})
    assert seen == [([0, 0], {0: 0.5}, 1)]


def test_replay_is_one_drawing_with_a_board_and_a_caption_per_state():
    svg = games.replay(GAME, STATES[:3], actions=[4, 0], per_row=2).svg
    boards = [part for part in ElementTree.fromstring(svg) if part.tag.endswith("svg")]
    (x, y), right, below = ((board.get("x"), board.get("y")) for board in boards)
    assert (x, y) == ("0", "20") and right[1] == y != below[1] and below[0] == x != right[0]
    assert {"start", "1. b2", "2. a3"} <= set(texts(svg)) and svg.count(MARKED) == 2
    assert "id=" not in svg, "drawings have no identifiers to clash on a page"


@pytest.mark.parametrize("name", games.names())
def test_the_picture_of_every_game_shows_values_and_the_last_move(name):
    game = games.load(name)
    s, plain = game.start(1), str(game.view(game.start(1)))
    action = int(game.legal(s)[0])
    valued = str(game.view(s, {action: 0.25}))
    assert valued.count("+0.25") - plain.count("+0.25") == 1 and texts(valued) != texts(plain)
    after = game.play(s, action)
    assert str(game.view(after, last=action)) != str(game.view(after))


UNNAMED = {"kalah", "nim", "nim3p", "checkers", "giveaway", "game2048", "cube2", "cube3"}
UNNAMED |= {"dots", "race"}


@pytest.mark.parametrize("name", games.names())
def test_a1_is_where_the_specification_says(name):
    game = games.load(name)
    where = catalogue.specification(game)["coordinates"]
    told = re.match(r"a1 is (above|below) on the left", where)
    assert (told is None) == (name in UNNAMED)
    if told is None:
        return
    state = game.start()
    action = next(a for a in range(game.actions) if game.action_name(state, a) == "a1")
    places = {}  # the left upper corners of the drawn cells
    for cell, inside in re.findall(r'<g data-cell="(\d+)">(.*?)</g>', str(game.view(state))):
        found = re.search(r'(?:c?x)="([-\d.]+)"[^>]*?(?:c?y)="([-\d.]+)"', inside)
        found = found or re.search(r'points="([-\d.]+),([-\d.]+)', inside)
        places[int(cell)] = float(found[1]), float(found[2])
    upper = min(places, key=places.get)
    lower = min(places, key=lambda cell: (places[cell][0], -places[cell][1]))
    assert game.places(state, action) == [{"above": upper, "below": lower}[told[1]]]
