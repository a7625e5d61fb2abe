"""Exact distances of Rubik's cubes: known counts, plain search, inverses, the limit."""

import numpy as np
import pytest

from afterstate import games
from afterstate.search import cube_distance
from oracles.cube_play import after, inverse, random_twists, starts

KNOWN_2 = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
KNOWN_3 = [1, 18, 243, 3240, 43239, 574908]
cube2, cube3 = games.load("cube2"), games.load("cube3")


@pytest.fixture(params=["cube2", "cube3"])
def game(request):
    return games.load(request.param)


def test_counts_per_distance():
    assert cube_distance.counts(cube2) == KNOWN_2 and sum(KNOWN_2) == 3_674_160
    assert cube_distance.counts(cube3) == KNOWN_3


def test_neighbours_on_the_2x2x2_are_at_most_one_twist_nearer_or_farther():
    states = starts(games.load("cube2", max_twists=13), 3000)
    near = cube_distance.distances(cube2, states)
    assert near.max() >= 9
    for action in range(9):
        beside = np.array([cube2.parse(cube2.render(s)) for s in states[:200]])
        beside = np.array([cube2.play(s, action) for s in beside])
        assert (abs(cube_distance.distances(cube2, beside) - near[:200]) <= 1).all()
    for s, d in zip(states[:200], near[:200]):
        assert min(cube_distance.distance(cube2, cube2.play(s, a)) for a in cube2.legal(s)) == d - 1


def plain_distances(game, depth):
    """Distance of every state within `depth` twists, by plain breadth-first search."""
    found, level = {tuple(after(game, "")[:-1]): 0}, [after(game, "")]
    for d in range(1, depth + 1):
        level = [
            s
            for s in (after_one(game, s, a) for s in level for a in range(game.actions))
            if found.setdefault(tuple(s[:-1]), d) == d
        ]
    return found


def after_one(game, s, action):
    s = s.copy()
    s[-1] = 0
    if game.over(s):
        return after(game, game.action_name(s, action))
    return game.play(s, action)


def test_distances_equal_plain_search(game):
    plain = plain_distances(game, 3)
    states = np.array([[*s, 0] for s in plain], np.int32)
    assert cube_distance.distances(game, states).tolist() == list(plain.values())
    assert (
        np.bincount(list(plain.values())).tolist()
        == (KNOWN_2 if game.name == "cube2" else KNOWN_3)[:4]
    )


@pytest.mark.parametrize(
    "twists, n",
    [("R L U2 F' D B2 R", 7), ("U D U D", 2), ("R2 L2 U2 D2 F2 B2", 6), ("F2 B2 U2 D2 R2 L2", 6)],
)
def test_distances_beyond_the_table_of_the_3x3x3(twists, n):
    assert cube_distance.distance(cube3, after(cube3, twists)) == n


def test_a_search_is_the_distance_to_the_solved_state_and_as_far_for_the_inverse():
    random = np.random.default_rng(6)
    for length in (6, 7, 8):
        for _ in range(5):
            twists = random_twists(cube3, length, random)
            there, back = (
                cube_distance.distance(cube3, after(cube3, t)) for t in (twists, inverse(twists))
            )
            assert there == back <= length  # an element of a group is as far from 1 as its inverse
            ways = (
                [
                    cube_distance.distance(cube3, cube3.play(after(cube3, twists), a))
                    for a in range(18)
                ]
                if there > 1
                else [there - 1]
            )
            assert min(ways) == there - 1 and max(ways) <= there + 1


def test_a_limit_is_told():
    far = after(cube3, "R L U2 F' D B2 R")
    assert cube_distance.distances(cube3, [far, after(cube3, "U")], limit=6).tolist() == [
        cube_distance.FAR,
        1,
    ]
    with pytest.raises(ValueError, match="more than limit=6 twists"):
        cube_distance.distance(cube3, far, limit=6)
    with pytest.raises(ValueError, match="from 5 to 20, not 3"):
        cube_distance.distance(cube3, far, limit=3)
    with pytest.raises(ValueError, match="not of tictactoe"):
        cube_distance.counts(games.load("tictactoe"))
    with pytest.raises(ValueError, match="not of tictactoe"):
        cube_distance.distance(games.load("tictactoe"), far)
    with pytest.raises(ValueError, match=r"array \[n, 3\], not of shape \(1, 6\)"):
        cube_distance.distance(cube2, far)


def test_a_state_that_is_no_cube_is_named():
    twice = after(cube2, "")
    twice[0] += 4  # the first two corners at one location
    with pytest.raises(ValueError, match="state 1 of 2, .* is no cube: take states from"):
        cube_distance.distances(cube2, [after(cube2, "U"), twice])
    turned = after(cube3, "")
    turned[0] |= 3  # no orientation
    with pytest.raises(ValueError, match="is no cube"):
        cube_distance.distance(cube3, turned)
    edges = after(cube3, "")
    edges[2] = 0
    with pytest.raises(ValueError, match="is no cube"):
        cube_distance.distance(cube3, edges)
