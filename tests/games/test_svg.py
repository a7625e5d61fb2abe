"""Boards as SVG: well-formed, showing every mark and value, refusing what does not fit."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from afterstate import games
from afterstate.games.boards import grid_svg, heaps_svg, number, value_colour
from afterstate.games.svg import MARKED, state_svg, view
from sample_games import race

GAME = games.load("tictactoe")
STATES = [GAME.after([4, 0, 8][:ply]) for ply in range(4)]


def found(svg, tag):
    return [part for part in ElementTree.fromstring(svg).iter() if part.tag.endswith(tag)]


def texts(svg):
    return [part.text for part in found(svg, "text")]


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
    red_of = [int(value_colour(value)[1:3], 16) for value in (0.2, 0.5, 1.0)]
    assert red_of == sorted(red_of, reverse=True)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: grid_svg(["X"] * 8, 3), "8 cells do not fill rows of 3"),
        (lambda: grid_svg([""] * 9, 3, values={9: 0.1}), "cell 9"),
        (lambda: GAME.view(STATES[0], {99: 0.5}), "cell 99"),
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


def test_heaps_draw_every_stone_and_the_stones_just_taken():
    svg = heaps_svg([3, 1], 3, 3, values={0: 0.5, 2: -0.25}, last=3 + 1)
    circles = found(svg, "circle")
    assert len(circles) == 4 + 2
    assert sum("stroke-dasharray" in circle.attrib for circle in circles) == 2
    # taking one stone of three is the rightmost circle, taking all three the leftmost
    places = {text.text: float(text.get("x")) for text in found(svg, "text")}
    assert places["-0.25"] < places["+0.50"]


def test_values_follow_the_order_of_legal_actions():
    svg = state_svg(GAME, STATES[3], [0.1, 0.2, 0.3, 0.4, 0.5, -0.6])
    cells = [text for text in texts(svg) if re.fullmatch(r"[+-]\d\.\d\d", text)]
    assert cells == ["+0.10", "+0.20", "+0.30", "+0.40", "+0.50", "-0.60"]
    legal = GAME.legal(STATES[3]).tolist()
    assert state_svg(GAME, STATES[3], dict(zip(legal, [0.1, 0.2, 0.3, 0.4, 0.5, -0.6]))) == svg


def test_a_game_without_drawing_is_shown_as_text_or_as_its_codes():
    told = race(render=lambda s: f"  {s[0]} <&>", action_name=lambda s, action: f"add {action + 1}")
    assert texts(state_svg(told, told.start(), {1: 0.5})) == ["  0 <&>", "add 2: +0.50"]
    plain = race()
    assert texts(state_svg(plain, plain.start(), {1: 0.5})) == ["0", "1: +0.50"]


def test_view_shows_itself_and_calls_the_hook_with_state_values_and_last():
    seen = []

    def svg(state, values=None, last=None):
        seen.append((state.tolist(), values, last))
        return grid_svg([str(state[0])], 1, values=values)

    game = race(svg=svg)
    shown = view(game, game.start(), values={0: 0.5}, last=1)
    assert shown._repr_svg_() == str(shown) == grid_svg(["0"], 1, values={0: 0.5})
    assert seen == [([0, 0], {0: 0.5}, 1)]


def test_replay_is_one_drawing_with_a_board_and_a_caption_per_state():
    svg = games.replay(GAME, STATES[:3], actions=[4, 0], per_row=2).svg
    boards = [part for part in ElementTree.fromstring(svg) if part.tag.endswith("svg")]
    (x, y), right, below = ((board.get("x"), board.get("y")) for board in boards)
    assert (x, y) == ("0", "20") and right[1] == y != below[1] and below[0] == x != right[0]
    assert {"start", "1. b2", "2. a3"} <= set(texts(svg)) and svg.count(MARKED) == 2
    assert "id=" not in svg, "drawings have no identifiers to clash on a page"
