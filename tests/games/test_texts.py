"""Positions as text and as SVG, names of moves, and what is said of input that does not fit."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from afterply import games
from afterply.games import catalogue
from afterply.games.boards import pixels, state_svg
from afterply.games.drawing import MARKED, Drawing, Look, Place, disc, grid, hexagon
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
        (lambda: grid(3, 3).parts([0] * 9, {9: 0.1}), "place 9; the places are 0 to 8"),
        (lambda: race(drawing="a board"), "drawing must be a games.drawing.Drawing, not 'a board'"),
        (lambda: games.load("kalah").view(games.load("kalah").start(), last=1), "give before="),
        (lambda: GAME.view(STATES[0], {99: 0.5}), "an action of tictactoe .* not 99"),
        (lambda: GAME.view(STATES[0], [0.1]), "1 values for 9 legal actions"),
        (lambda: games.replay(GAME, []), "0 states"),
        (lambda: games.replay(GAME, STATES[:1], actions=[1]), "1 actions for 1 states"),
        (lambda: games.replay(GAME, STATES, captions=[]), "0 captions for 4 states"),
        (lambda: games.replay(GAME, STATES, per_row=0), "rows of 0"),
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


def test_a_game_without_drawing_is_a_grid_of_numbers_with_buttons():
    plain = race(action_name=lambda s, action: f"add {action + 1} <&>")
    s = plain.play(plain.start(), 1)
    assert texts(state_svg(plain, s, {1: 0.5})) == ["2", "add 2 <&>: +0.50"]
    assert plain.places(s, 0) == []


def hexagons():
    """A drawing of two hexagons; a third place is a disc with a number, on one of two points."""
    places = [Place((40, 40), hexagon(30), 0, "a1"), Place((92, 40), hexagon(30), 0, "b1")]
    number = {None: Look("<text>{}</text>")}
    places.append(Place({0: (40, 90), 2: (92, 90)}, disc(9), 0, {0: "off", 2: "on"}, number))
    return Drawing(places=places, looks={2: Look(fill="#c98b4b")}, width=140, height=110)


def test_a_drawing_in_a_cell_says_what_stands_where():
    game = race(drawing=hexagons(), touch=lambda numbers, action, places: touch_all(places))
    svg = str(game.view(game.play(game.start(), 1)))
    assert svg.count("#c98b4b") == 2 and ">2<" in svg and "translate(92 90)" in svg
    start = str(game.view(game.start()))
    assert "#c98b4b" not in start and "translate(40 90)" in start
    assert game.action_name(game.start(), 0) == "a1-b1xoff"
    assert game.places(game.start(), 0) == [0, 1, 2]
    shown = game.view(game.start(), [0.5, -0.5])
    assert shown._repr_svg_() == str(shown) and repr(shown) == "0 0"
    assert shown.png().startswith(b"\x89PNG") and shown._repr_png_() == shown.png()
    image = pixels(svg)  # as an environment with "rgb_array" gives them
    assert image.shape == (110, 140, 3) and image[40, 40].tolist() == [0xC9, 0x8B, 0x4B]
    assert "<title>race</title>" in str(shown)


def touch_all(places):
    places[0], places[1], places[2] = 0, 1, ~2
    return 3


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
    shown = str(game.view(after, last=action, before=s))
    assert (MARKED in shown) == bool(game.places(s, action))
    assert repr(game.view(s)).split() != [] and "<title>" in plain


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
    places = {cell: place.at for cell, place in enumerate(game.drawing.places)}
    upper = min(places, key=places.get)
    lower = min(places, key=lambda cell: (places[cell][0], -places[cell][1]))
    assert game.places(state, action) == [{"above": upper, "below": lower}[told[1]]]
