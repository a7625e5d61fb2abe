"""Rubik's cubes: algebra of the twists, legal ones, scrambles, cells, training, magiccube."""

import itertools
import math

import magiccube
import numpy as np
import pytest

from afterstate import games
from afterstate.games import conformance
from afterstate.games.rules import _cube_tables
from afterstate.games.rules.cube import twist
from afterstate.kernel.random import new_rng
from afterstate.learners import td
from afterstate.networks import ntuple
from afterstate.search import cube_distance
from oracles.cube_play import after, inverse, random_twists, starts

PAPER = {
    "cube2": dict(
        alpha=0.25,
        epsilon=0.0,
        tc="id",
        sigmoid=False,
        step_reward=-0.04,
        max_plies=16,
        tuples={"random_walk": 60, "length": 7},
    ),
    "cube3": dict(
        alpha=0.25,
        epsilon=0.0,
        tc="id",
        sigmoid=False,
        step_reward=-0.04,
        max_plies=13,
        tuples={"random_walk": 120, "length": 7},
    ),
}
cube2, cube3 = games.load("cube2"), games.load("cube3")


@pytest.fixture(params=["cube2", "cube3"])
def game(request):
    return games.load(request.param)


def order(game, twists):
    """How often a sequence of twists must be made until the cube is solved again."""
    names = [game.action_name(game.start(), a) for a in range(game.actions)]
    s = after(game, "")
    for n in itertools.count(1):
        for name in twists.split():
            twist(s, game.size - 1, names.index(name))
        if game.over(s):
            return n


# ---------------------------------------------------------------------------------------- algebra


def test_conforms(game):
    report = conformance.check(game, games=4, max_plies=100)
    assert report.checks["actions"] > 300 and report.notes == [
        "a random game was left after 100 plies"
    ]
    assert game.players == 1 and game.score_range == (0.0, 1.0)
    assert game.actions == game.max_legal == {"cube2": 9, "cube3": 18}[game.name]


def test_every_twist_has_its_order(game):
    for action in range(game.actions):
        name = game.action_name(game.start(), action)
        assert order(game, name) == (2 if name.endswith("2") else 4)
        assert game.over(after(game, f"{name} {inverse(name)}"))
        assert np.array_equal(after(game, f"{name[0]} {name[0]}"), after(game, f"{name[0]}2"))


@pytest.mark.parametrize(
    "twists, n",
    [
        ("R U R' U'", 6),
        ("R U", 105),
        ("R U'", 63),
        ("R2 U2", 6),
        ("U D", 4),
        ("R U2 D' B D'", 1260),
        ("R U R' U' R' F R2 U' R' U' R U R' F'", 2),
        ("F R U R' U' F'", 6),
        ("R2 L2 U2 D2 F2 B2", 2),
    ],
)
def test_known_orders_of_the_3x3x3(twists, n):
    assert order(cube3, twists) == n


@pytest.mark.parametrize(
    "twists, n", [("L U L' U'", 6), ("L' U'", 15), ("U L", 15), ("L2 U2", 3), ("L F L' F'", 6)]
)
def test_known_orders_of_the_2x2x2(twists, n):
    assert order(cube2, twists) == n


def test_opposite_faces_commute_and_neighbouring_ones_do_not():
    for a, b in itertools.combinations("ULFDRB", 2):
        opposite = {a, b} in ({"U", "D"}, {"L", "R"}, {"F", "B"})
        assert np.array_equal(after(cube3, f"{a} {b}"), after(cube3, f"{b} {a}")) == opposite


def test_twists_keep_what_no_twist_can_change():
    random = np.random.default_rng(3)
    for _ in range(50):
        cells = cube3.board(after(cube3, random_twists(cube3, 40, random)))
        assert sorted(cells[:8]) == list(range(8)) and sorted(cells[16:28]) == list(range(12))
        assert cells[8:16].sum() % 3 == 0 and cells[28:].sum() % 2 == 0
        assert round(np.linalg.det(np.eye(8)[cells[:8]])) == round(
            np.linalg.det(np.eye(12)[cells[16:28]])
        )  # the same parity


def test_the_2x2x2_is_the_corners_of_the_3x3x3():
    random = np.random.default_rng(4)
    for _ in range(50):
        twists = random_twists(cube2, 20, random)
        small, large = cube2.board(after(cube2, twists)), cube3.board(after(cube3, twists))
        assert np.array_equal(small, np.concatenate([large[:7], large[8:15]])) and (
            large[7],
            large[15],
        ) == (7, 0)


# ----------------------------------------------------------------------------- legal, over, score


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
    s = after(game, "U L")
    s = game.play(s, 5)
    assert not game.over(s) and game.score(s).tolist() == [0.0]
    s = game.play(s, 2)
    assert game.over(s) and game.score(s).tolist() == [1.0] and not len(game.legal(s))
    assert game.key(s) != game.key(after(game, ""))  # the last twist is part of a state


# -------------------------------------------------------------------------------------- scrambles


def test_scrambles_of_one_twist_are_all_alike(game):
    n = 20_000
    states = starts(games.load(game.name, max_twists=1), n)
    _, found = np.unique(states, axis=0, return_counts=True)
    share = 1 / game.actions
    assert (
        len(found) == game.actions
        and (abs(found - n * share) < 5 * math.sqrt(n * share * (1 - share))).all()
    )


def test_the_number_of_twists_is_uniform_and_no_face_comes_twice(game):
    n = 20_000
    found = cube_distance.distances(game, starts(games.load(game.name, max_twists=2), n))
    assert set(found) == {1, 2} and abs((found == 1).sum() - n / 2) < 5 * math.sqrt(n / 4)
    exactly = cube_distance.distances(
        game, starts(games.load(game.name, min_twists=2, max_twists=2), n)
    )
    assert (exactly == 2).all()


def test_scrambles_of_three_twists_have_the_distances_of_all_such_sequences(game):
    n, names = 20_000, [game.action_name(game.start(), a) for a in range(game.actions)]
    sequences = [p for p in itertools.product(names, repeat=3) if p[0][0] != p[1][0] != p[2][0]]
    states = np.array([after(game, " ".join(p)) for p in sequences])
    states, weight = np.unique(states, axis=0, return_counts=True)
    expected = np.bincount(
        cube_distance.distances(game, states), weights=weight / len(sequences), minlength=4
    )
    found = np.bincount(
        cube_distance.distances(game, starts(games.load(game.name, min_twists=3, max_twists=3), n)),
        minlength=4,
    )
    assert expected.sum() == pytest.approx(1) and (expected[2] > 0) == (
        game.name == "cube3"
    )  # U D U is U2 D
    assert (abs(found - n * expected) <= 1e-6 + 5 * np.sqrt(n * expected * abs(1 - expected))).all()


def test_a_scramble_is_never_solved_and_has_no_last_twist():
    states = starts(
        games.load("cube2", min_twists=6, max_twists=6), 200_000
    )  # (U2 L2) three times solves it: 6 of 69,984
    assert (cube_distance.distances(cube2, states) > 0).all() and not states[:, -1].any()


GOLDEN = {
    "cube2": [[285742086, 470685952, 0], [402984961, 470619657, 0], [437064712, 469766661, 0]],
    "cube3": [
        [201855493, 471335445, 100925963, 235672321, 370411792, 0],
        [151781637, 404559121, 268895252, 318901270, 252250881, 0],
        [1841156, 201856016, 398850, 202246664, 68424208, 0],
    ],
}


def test_golden_start_states(game):
    assert [game.start(seed).tolist() for seed in (3, 4, 5)] == GOLDEN[game.name]


# ------------------------------------------------------------------------- another implementation


def test_random_scrambles_equal_magiccube(game):
    size, random = int(game.name[-1]), np.random.default_rng(8)
    colour = dict(
        zip(magiccube.Cube(size).get()[:: size**2], "ULFRBD")
    )  # its faces in the order of its text
    assert len(colour) == 6
    for length in (1, 2, 3, 5, 10, 20, 40) * 8:
        twists = random_twists(game, length, random)
        theirs = magiccube.Cube(size)
        theirs.rotate(twists)
        shown = [colour[letter] for letter in theirs.get()]
        assert "".join(shown) == by_face(game, after(game, twists), size), twists


def by_face(game, s, size):
    """The stickers face by face, in the order U L F R B D, from the net as text."""
    lines = [line.split() for line in game.render(s).splitlines()[: 3 * size]]
    faces = (
        [lines[:size]]
        + [[row[k * size : (k + 1) * size] for row in lines[size : 2 * size]] for k in range(4)]
        + [lines[2 * size :]]
    )
    return "".join(letter for face in faces for row in face for letter in row)


# ---------------------------------------------------------------------------------- cells, tuples


def test_cells_and_neighbours():
    assert (
        cube2.num_codes.tolist() == [7] * 7 + [3] * 7
        and cube3.num_codes.tolist() == [8] * 8 + [3] * 8 + [12] * 12 + [2] * 12
    )
    assert all(sorted([c, *beside]) == list(range(14)) for c, beside in enumerate(cube2.neighbours))
    assert all(
        sorted([c, *beside]) == (list(range(16)) if c < 16 else list(range(16, 40)))
        for c, beside in enumerate(cube3.neighbours)
    )
    assert cube2.board(after(cube2, "")).tolist() == list(range(7)) + [0] * 7
    assert cube3.board(after(cube3, "")).tolist() == [*range(8), *[0] * 8, *range(12), *[0] * 12]
    rng = new_rng(1)
    walks = ntuple.random_walk(cube3, 120, 7, rng)
    assert {max(w) < 16 or min(w) >= 16 for w in walks} == {True} and {
        max(w) < 16 for w in walks
    } == {True, False}


def test_the_weights_are_as_many_as_the_paper_says():
    """Table I prints 3,720,780 and 46,563,392: one draw of random tuples each."""
    for game, num, printed in ((cube2, 60, 3_720_780), (cube3, 120, 46_563_392)):
        draws = [
            sum(
                math.prod(int(game.num_codes[c]) for c in cells)
                for cells in ntuple.random_walk(game, num, 7, new_rng(seed))
            )
            for seed in range(40)
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
            lost = _cube_tables.EDGES[ours[16 + e]] in ("UF", "UB", "DF", "DB")
            assert theirs[28 + e] == (0 if lost else ours[28 + e])
            flips.add((lost, int(ours[28 + e])))
    assert flips == {(True, 0), (True, 1), (False, 0), (False, 1)}
    conformance.check(original, games=2, max_plies=60)
    assert original.version == cube3.version and original.identity != cube3.identity


def test_an_orientation_tells_where_the_first_sticker_shows():
    """Straight from the stickers: the first one of a cubie shows on the face that its code says."""
    random = np.random.default_rng(10)
    for _ in range(20):
        s = after(cube3, random_twists(cube3, 15, random))
        cells, shown = cube3.board(s), dict(zip(_cube_tables.facelets(3), game_stickers(s)))
        for c, name in enumerate(_cube_tables.CORNERS):
            location = _cube_tables.CORNERS[cells[c]]
            assert shown[location[cells[8 + c]], "corner", cells[c], cells[8 + c]] == name[0]
        for e, name in enumerate(_cube_tables.EDGES):
            location = _cube_tables.EDGES[cells[16 + e]]
            assert shown[location[cells[28 + e]], "edge", cells[16 + e], cells[28 + e]] == name[0]


def game_stickers(s):
    return "".join("".join(line.split()) for line in cube3.render(s).splitlines()[:-1])


# --------------------------------------------------------------------------------------- training


def test_a_training_learns_the_distance_of_near_states():
    """V of an afterstate d twists from solved becomes 1 - 0.04 d: nothing is counted twice."""
    game = games.load("cube2", max_twists=3)
    session = td.Session(game, {"episodes": 20_000, **PAPER["cube2"]}, seed=1)
    session.train(20_000)
    states = np.unique(starts(game, 5000), axis=0)
    d = cube_distance.distances(game, states)
    values = np.array([session.net.value(s, 0) for s in states])
    for near in (1, 2):
        assert values[d == near].mean() == pytest.approx(1 - 0.04 * near, abs=0.02)
    first = [
        cube_distance.distance(
            game, game.play(s, int(game.legal(s)[np.argmax(session.net.action_values(s))]))
        )
        for s in states[:300]
    ]
    assert np.mean(np.array(first) == d[:300] - 1) > 0.95


def test_training_is_reproducible(game):
    checksums = []
    for chunks in ((60,), (25, 35)):
        session = td.Session(
            game,
            {"episodes": 60, **PAPER[game.name], "tuples": {"random_walk": 20, "length": 4}},
            seed=2,
        )
        for n in chunks:
            session.train(n)
        checksums.append(session.net.checksum())
    assert checksums[0] == checksums[1]
