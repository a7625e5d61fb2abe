"""Rubik's cubes: magiccube as another implementation, scrambles, cells, training."""

import math

import magiccube
import numpy as np
import pytest

from afterply import games
from afterply.games.rules import cube
from afterply.kernel.random import new_rng
from afterply.networks import ntuple
from afterply.studies.papers.scheiermann2022.cube_solving import distances
from oracles.cube_play import after, inverse, random_twists, starts

cube2, cube3 = games.load("cube2"), games.load("cube3")


@pytest.fixture(params=["cube2", "cube3"])
def game(request):
    return games.load(request.param)


def test_only_the_last_twist_can_not_be_undone(game):
    s = after(game, "U L F")
    assert game.legal(s).tolist() == list(range(game.actions))
    for action in range(game.actions):
        t = game.play(s, action)
        undone = [a for a in range(game.actions) if a not in game.legal(t)]
        names = [game.action_name(t, a) for a in (action, *undone)]
        assert names[1:] == [inverse(names[0])]
        for a in game.legal(t):
            assert game.play(t, a)[:-1].tolist() != s[:-1].tolist()


def test_the_goal_is_worth_one_and_a_twist_nothing(game):
    s = game.play(after(game, "U L"), 5)
    assert not game.over(s) and game.score(s).tolist() == [0.0]
    s = game.play(s, 2)
    assert game.over(s) and game.score(s).tolist() == [1.0] and not len(game.legal(s))
    assert game.key(s) != game.key(after(game, ""))  # the last twist is part of a state


@pytest.mark.slow
def test_the_number_of_twists_is_uniform_and_no_face_comes_twice(game):
    n, share = 20_000, 1 / game.actions
    one = starts(games.load(game.name, max_twists=1), n)
    _, found = np.unique(one, axis=0, return_counts=True)
    assert len(found) == game.actions
    assert (abs(found - n * share) < 5 * math.sqrt(n * share * (1 - share))).all()
    found = distances(game, starts(games.load(game.name, max_twists=2), n))
    assert set(found) == {1, 2} and abs((found == 1).sum() - n / 2) < 5 * math.sqrt(n / 4)
    two = starts(games.load(game.name, min_twists=2, max_twists=2), n)
    assert (distances(game, two) == 2).all()
    if game.name == "cube2":  # (U2 L2) three times solves it: 6 of 69,984
        six = starts(games.load("cube2", min_twists=6, max_twists=6), 70_000)
        assert (distances(cube2, six) > 0).all() and not six[:, -1].any()


def test_random_scrambles_equal_magiccube(game):
    size, random = int(game.name[-1]), np.random.default_rng(8)
    # its faces in the order of its text
    colour = dict(zip(magiccube.Cube(size).get()[:: size**2], "ULFRBD"))
    assert len(colour) == 6
    for length in (1, 2, 3, 5, 10, 20, 40) * 8:
        twists = random_twists(game, length, random)
        theirs = magiccube.Cube(size)
        theirs.rotate(twists)
        shown = [colour[letter] for letter in theirs.get()]
        stickers = zip(cube.facelets(size), cube.stickers_of(after(game, twists)))
        by_face = sorted(stickers, key=lambda sticker: "ULFRBD".index(sticker[0][0]))
        assert shown == [letter for _, letter in by_face], twists


def test_the_weights_are_as_many_as_the_paper_says():
    """Table I prints 3,720,780 and 46,563,392: one draw of random tuples each."""
    for game, num, printed in ((cube2, 60, 3_720_780), (cube3, 120, 46_563_392)):
        draws = [
            sum(math.prod(int(game.num_codes[c]) for c in cells) for cells in walks)
            for walks in (ntuple.random_walk(game, num, 7, new_rng(seed)) for seed in range(40))
        ]
        assert min(draws) < printed < max(draws)


def test_the_originals_stickers_code_one_corner_twice_and_lose_the_flip_of_four_edges():
    original = games.load("cube3", corner_stickers="original", edge_stickers="original")
    random, flips = np.random.default_rng(9), set()
    for _ in range(100):
        s = after(cube3, random_twists(cube3, 15, random))
        ours, theirs = cube3.board(s), original.board(s)
        assert theirs[3] == ours[0] and theirs[11] == (ours[8] + 2) % 3
        kept = [c for c in range(28) if c not in (3, 11)]
        assert np.array_equal(theirs[kept], ours[kept])
        for e in range(12):
            lost = cube.EDGES[ours[16 + e]] in ("UF", "UB", "DF", "DB")
            assert theirs[28 + e] == (0 if lost else ours[28 + e])
            flips.add((lost, int(ours[28 + e])))
    assert flips == {(True, 0), (True, 1), (False, 0), (False, 1)}
    assert original.version == cube3.version and original.identity != cube3.identity
