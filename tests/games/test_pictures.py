"""Boards as SVG: well-formed, showing every mark and value, refusing what does not fit."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from afterstate import games
from afterstate.games import catalogue
from afterstate.games.boards import MARKED, grid_svg, number, state_svg, value_colour
from sample_games import race

GAME = games.load("tictactoe")
STATES = [GAME.after([4, 0, 8][:ply]) for ply in range(4)]


def texts(svg):
    return [part.text for part in ElementTree.fromstring(svg).iter() if part.tag.endswith("text")]


def test_grid_shows_marks_values_legend_and_last_move():
    svg = grid_svg(["X", "", "O", " "], 2, values={1: 0.25, 3: -0.5}, last=0, title="a < b")
    assert {"X", "O", "+0.25", "-0.50", "a < b"} <= set(texts(svg))
    assert any("afterstate" in text for text in texts(svg)) and svg.count(MARKED) == 1
    assert value_colour(0.25) in svg and value_colour(-0.5) in svg
    assert texts(grid_svg(["X", "", "", ""], 2)) == ["X"]  # without values no legend


def test_numbers_fit_a_cell_and_colours_are_centred_at_zero_and_clamped():
    values = (0.0, -0.0001, 0.5, -12.34, 142000, 2.5e6)
    assert [*map(number, values)] == ["0.00", "0.00", "+0.50", "-12.3", "+142k", "+2.5M"]
    assert value_colour(0.0) == "#f7f7f7"
    assert value_colour(5.0) == value_colour(1.0) != value_colour(-1.0) == value_colour(-9.0)


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


MORRIS = [25 * point for point in (0, 8, 1, 9)]
PICTURES = [  # name, parameters, actions or text, values, last move, how often texts occur
    ("connect4", {}, [3, 3], {c: c / 10 for c in range(7)}, 3, {"+0.30": 1}),
    ("othello", {}, [], {19: 0.3, 26: -0.1}, 28, {"+0.30": 1, "-0.10": 1}),
    ("kalah", {}, [0], {a: a / 10 for a in range(6)}, None, {"+0.30": 1}),
    ("nim", {}, [1], {2: 0.5, 0: -0.25}, 1, {"<circle": 15, "stroke-dasharray": 2, "+0.50": 1}),
    # the stone, and the mark of the last move
    ("hex", {"swap": True}, [14], {0: 0.25, 36: -0.5}, 14,
     {"<polygon": 36, "+0.25": 1, "swap: -0.50": 1, "<circle": 2}),
    ("hex", {"swap": True}, [14, 36], None, 36, {MARKED: 1}),
    ("giveaway", {}, [], None, 80, {"<circle": 24, MARKED: 1}),
    ("giveaway", {}, "W:WK1:BK32", None, None, {"<circle": 4, ">K<": 2}),
    # a point, a square shows the best value of the moves that end there
    ("checkers", {}, [], [0.25] * 7, None, {"+0.25": 4}),
    ("morris", {}, MORRIS, {50 + 9: 0.1, 50 + 10: 0.5, 75: 0.25}, MORRIS[3],
     {"+0.50": 1, "+0.10": 0, "+0.25": 1, MARKED: 1, "<line": 32}),
    # tiles, edges to click, ground
    ("game2048", {}, "2 4 2048 32768" + " ." * 12 + " score 20000", {0: 0.25, 3: -3.0}, 1,
     {"<rect": 21, ">2048<": 1, "+0.25": 1, "-3.00": 1, "\u25b2": 1}),
    ("cube2", {}, "after U L F", {1: 0.5, 3: -0.25}, 0,
     {"<rect": 26, "last twist U<": 1, "U2: +0.50": 1, "L: -0.25": 1}),
    ("cube3", {}, "after U L F", None, None, {"<rect": 55}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, at, values, last, found", PICTURES, ids=str)
def test_pictures(name, given, at, values, last, found):
    game = games.load(name, **given)
    state = game.parse(at) if isinstance(at, str) else game.after(at)
    drawing = str(game.view(state, values=values, last=last))
    assert {text: drawing.count(text) for text in found} == found


UNNAMED = {"kalah", "nim", "nim3p", "checkers", "giveaway", "game2048", "cube2", "cube3"}


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
