"""Rubik's cubes: text forms, what they refuse, and pictures."""

from xml.etree import ElementTree

import numpy as np
import pytest

from afterstate import games
from afterstate.games.rules import _cube_tables
from afterstate.games.svg import MARKED, view
from oracles.cube_play import after, random_twists

cube2, cube3 = games.load("cube2"), games.load("cube3")


@pytest.fixture(params=["cube2", "cube3"])
def game(request):
    return games.load(request.param)


def test_text_forms(game):
    random = np.random.default_rng(11)
    for _ in range(20):
        s = game.play(
            after(game, random_twists(game, 12, random)), int(random.integers(game.actions))
        )
        assert np.array_equal(game.parse(game.render(s)), s)
    assert game.over(game.parse(game.render(after(game, "")))) and game.render(
        after(game, "")
    ).endswith("last twist: none")
    assert [game.action_name(s, a) for a in range(9)] == [
        "U",
        "U2",
        "U'",
        "L",
        "L2",
        "L'",
        "F",
        "F2",
        "F'",
    ]
    net = game.render(after(game, "")).partition("last")[0]
    assert np.array_equal(game.parse(net), after(game, ""))


def test_the_net_of_one_twist_by_hand():
    assert cube2.render(after(cube2, "U")).splitlines() == [
        "    U U",
        "    U U",
        "F F R R B B L L",
        "L L F F R R B B",
        "    D D",
        "    D D",
        "last twist: none",
    ]
    s = cube3.play(after(cube3, "B"), 6)
    assert cube3.render(s).splitlines()[-1] == "last twist: F"
    assert cube2.render(after(cube2, "F")).splitlines()[:6] == [
        "    U U",
        "    L L",
        "L D F F U R B B",
        "L D F F U R B B",
        "    R R",
        "    D D",
    ]


def exchanged(text, a, b):
    """The text with two of its letters exchanged, counted without blanks."""
    places = [k for k, letter in enumerate(text) if not letter.isspace()]
    letters = list(text)
    letters[places[a]], letters[places[b]] = letters[places[b]], letters[places[a]]
    return "".join(letters)


def test_bad_cubes_are_named():
    net2, net3 = (game.render(after(game, "")).partition("last")[0] for game in (cube2, cube3))
    with pytest.raises(ValueError, match="net of 24 letters"):
        cube2.parse(net3)
    with pytest.raises(ValueError, match="net of 54 letters"):
        cube3.parse(net3.replace("U", "x"))
    with pytest.raises(ValueError, match="'R' is no twist; they are a face, U, L, F"):
        cube2.parse("after U R")
    with pytest.raises(ValueError, match="'U3' is no twist"):
        cube3.parse(net3 + "last twist: U3")
    with pytest.raises(ValueError, match="belong to no cubie"):
        cube2.parse(exchanged(net2, 0, 12))
    with pytest.raises(ValueError, match="centre of face U shows 'D'"):
        cube3.parse(exchanged(net3, 4, 49))
    with pytest.raises(ValueError, match="one edge is flipped"):
        cube3.parse(exchanged(net3, 7, 13))  # the stickers of UF
    with pytest.raises(ValueError, match="two cubies are exchanged"):
        cube3.parse(exchanged(exchanged(net3, 7, 1), 13, 19))
    with pytest.raises(ValueError, match="corner DRB is not in its place"):
        cube2.parse("U U U U  L L F F R R B B  F F R R B B L L  D D D D")


def test_a_twisted_corner_is_named():
    letters = list(_cube_tables.colours([4 * c for c in range(8)], 2))
    at = [
        _cube_tables.facelets(2).index(f)
        for f in (("U", "corner", 0, 0), ("F", "corner", 0, 1), ("L", "corner", 0, 2))
    ]
    for k, letter in zip(at, "LUF"):
        letters[k] = letter
    with pytest.raises(ValueError, match="one corner is twisted"):
        cube2.parse("".join(letters))


def test_bad_parameters_are_named():
    with pytest.raises(
        ValueError, match="max_twists must be a whole number from 1 to 10000, not 0"
    ):
        games.load("cube2", max_twists=0)
    with pytest.raises(ValueError, match="min_twists=9 is greater than max_twists=5"):
        games.load("cube3", min_twists=9, max_twists=5)
    with pytest.raises(
        ValueError, match="corner_stickers must be 'complete' or 'original', not 'some'"
    ):
        games.load("cube3", corner_stickers="some")


def test_picture(game):
    s = after(game, "U L F")
    size = int(game.name[-1])
    plain = ElementTree.fromstring(str(view(game, s)))
    squares = [e for e in plain.iter() if e.tag.endswith("rect")][1:]
    assert len(squares) == 6 * size**2 and len({e.get("fill") for e in squares}) == 6
    drawing = str(view(game, game.play(s, 0), values={1: 0.5, 3: -0.25}, last=0))
    assert (
        "last twist U<" in drawing
        and "+0.50" in drawing
        and "-0.25" in drawing
        and ">L<" in drawing
    )
    assert f'{MARKED}" stroke-width="3"' in drawing
    with pytest.raises(ValueError, match="value for twist 18"):
        view(game, s, values={18: 1.0})
