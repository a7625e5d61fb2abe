"""Boards as SVG: well-formed, showing every mark and value, refusing what does not fit."""

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from afterstate.games.boards import grid_svg
from afterstate.games.pieces import heaps_svg
from afterstate.games.svg import (
    MARKED,
    number,
    replay,
    replay_svg,
    state_svg,
    value_colour,
    values_svg,
    view,
)

CODES = "O X"


def stub(svg=None):
    """A 3x3 game without rules: the state is the list of cell codes (0 = O, 1 = empty, 2 = X)."""
    return SimpleNamespace(
        draw=svg,
        legal=lambda state: [cell for cell, code in enumerate(state) if code == 1],
        board=lambda state: state,
        render=lambda state: (
            "\n".join("".join(CODES[code] for code in state[row : row + 3]) for row in (0, 3, 6))
            + " <&>"
        ),
        action_name=lambda state, action: "abc"[action % 3] + str(3 - action // 3),
    )


def drawn(state, values=None, last=None):
    return grid_svg([CODES[code] for code in state], 3, values=values, last=last)


def texts(svg):
    return [
        element.text
        for element in ElementTree.fromstring(svg).iter()
        if element.tag.endswith("text")
    ]


STATE = [0, 1, 1, 1, 2, 1, 1, 1, 2]


def test_grid_shows_marks_values_legend_and_last_move():
    svg = grid_svg(["X", "", "O", " "], 2, values={1: 0.25, 3: -0.5}, last=0, title="a < b")
    shown = texts(svg)
    assert {"X", "O", "+0.25", "-0.50", "a < b"} <= set(shown)
    assert any("afterstate" in text for text in shown if text)
    assert svg.count(MARKED) == 1
    assert value_colour(0.25) in svg and value_colour(-0.5) in svg


def test_grid_without_values_has_no_legend():
    assert texts(grid_svg(["X", "", "", ""], 2)) == ["X"]


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0.00"),
        (-0.0001, "0.00"),
        (0.5, "+0.50"),
        (-12.34, "-12.3"),
        (142000, "+142k"),
        (2.5e6, "+2.5M"),
    ],
)
def test_numbers_fit_a_cell(value, text):
    assert number(value) == text


def test_colours_are_centred_at_zero_and_clamped():
    assert value_colour(0.0) == "#f7f7f7"
    assert value_colour(5.0) == value_colour(1.0) != value_colour(-1.0) == value_colour(-9.0)
    red_of = [int(value_colour(value)[1:3], 16) for value in (0.2, 0.5, 1.0)]
    assert red_of == sorted(red_of, reverse=True)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: grid_svg(["X"] * 8, 3), "8 cells do not fill rows of 3"),
        (lambda: grid_svg([""] * 9, 3, values={9: 0.1}), "cell 9"),
        (lambda: heaps_svg([3, -1]), "-1 stones"),
        (lambda: heaps_svg([1, 2], values={1: 0.5}, take=2), "taking 2 from heap 1"),
        (lambda: value_colour(1, 0), "limit"),
        (lambda: values_svg(stub(drawn), STATE, [0.1]), "1 values for 6 legal actions"),
        (lambda: replay_svg(stub(drawn), []), "no states"),
        (lambda: replay_svg(stub(drawn), [STATE], actions=[1]), "1 actions for 1 states"),
        (lambda: replay_svg(stub(drawn), [STATE], captions=[]), "0 captions"),
        (lambda: replay_svg(stub(drawn), [STATE], per_row=0), "per_row"),
        (
            lambda: replay_svg(stub(lambda state, values=None, last=None: "<svg/>"), [STATE]),
            "width and height",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_heaps_draw_every_stone_and_the_stones_just_taken():
    svg = heaps_svg([3, 1], values={0: 0.5, 2: -0.25}, last=3 + 1, take=3)
    circles = [
        element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("circle")
    ]
    assert (
        len(circles) == 4 + 2
        and sum("stroke-dasharray" in circle.attrib for circle in circles) == 2
    )
    # taking one stone of three is the rightmost circle, taking all three the leftmost
    places = {
        element.text: float(element.get("x"))
        for element in ElementTree.fromstring(svg).iter()
        if element.tag.endswith("text")
    }
    assert places["-0.25"] < places["+0.50"]


def test_values_follow_the_order_of_legal_actions():
    svg = values_svg(stub(drawn), STATE, [0.1, 0.2, 0.3, 0.4, 0.5, -0.6])
    cells = [text for text in texts(svg) if re.fullmatch(r"[+-]\d\.\d\d", text or "")]
    assert cells == ["+0.10", "+0.20", "+0.30", "+0.40", "+0.50", "-0.60"]
    assert values_svg(stub(drawn), STATE, {1: 0.1, 2: 0.2, 3: 0.3, 5: 0.4, 6: 0.5, 7: -0.6}) == svg


def test_a_game_without_drawing_is_shown_as_text():
    svg = state_svg(stub(), STATE, values={1: 0.5})
    assert (
        "O  " in texts(svg)
        and "b3: +0.50" in texts(svg)
        and any("<&>" in text for text in texts(svg))
    )


def test_view_shows_itself_and_calls_the_hook_with_state_values_and_last():
    seen = []
    game = stub(
        lambda state, values=None, last=None: (
            seen.append((state, values, last)) or drawn(state, values, last)
        )
    )
    shown = view(game, STATE, values={1: 0.5}, last=4)
    assert shown._repr_svg_() == str(shown) == drawn(STATE, {1: 0.5}, 4)
    assert seen == [(STATE, {1: 0.5}, 4)]


def test_replay_is_one_drawing_with_a_board_and_a_caption_per_state():
    states = [[1] * 9, [1, 1, 1, 1, 2, 1, 1, 1, 1], [0, 1, 1, 1, 2, 1, 1, 1, 1]]
    svg = replay_svg(stub(drawn), states, actions=[4, 0], per_row=2)
    root = ElementTree.fromstring(svg)
    inner = [element for element in root if element.tag.endswith("svg")]
    assert [(element.get("x"), element.get("y")) for element in inner] == [
        ("0", "20"),
        (inner[1].get("x"), "20"),
        ("0", inner[2].get("y")),
    ]
    assert {"start", "1. b2", "2. a3"} <= set(texts(svg)) and svg.count(MARKED) == 2
    assert replay(stub(drawn), states, actions=[4, 0], per_row=2).svg == svg


def test_drawings_have_no_identifiers_to_clash_on_a_page():
    assert "id=" not in replay_svg(stub(drawn), [STATE, STATE])
