"""Every game conforms, and the check finds what is wrong in a new one."""

import pickle

import numpy as np
import pytest

from afterply import games
from afterply.games import conformance
from afterply.games.catalogue import specification, tables
from afterply.games.game import Game, check_game
from afterply.kernel.random import new_rng, random_int
from afterply.learners import td
from sample_games import race

CLOCKS = ["equal keys of different states: right for clocks and history"]
MOVED = ["4 symmetries change the start: they were not checked"]
LEFT = ["a random game was left after 100 plies"]
LUDII = {"flying_captures": False, "blocked": "pass", "repetition": 0, "quiet_plies": 0}
GOMOKU = {"rows": 15, "columns": 15, "k": 5}
CASES = [  # name, parameters, random games, what the report notes
    ("tictactoe", {}, 10, []),
    ("tictactoe", {"rows": 4, "columns": 6, "k": 4}, 8, []),
    ("connect4", {}, 20, []),
    ("connect4", {"rows": 4, "columns": 5, "k": 3}, 8, []),
    ("connect4", {"rows": 1, "columns": 15, "k": 2}, 8, []),
    ("connect4", {"players": 3, "columns": 9}, 8, []),
    ("dots", {"players": 3, "rows": 2}, 8, CLOCKS),  # whose boxes are which is no part of keys
    ("race", {"players": 3}, 8, []),
    ("hex", {}, 8, []),
    ("hex", {"size": 4, "swap": True}, 20, []),
    ("kalah", {}, 10, []),
    ("kalah", {"margin": True}, 20, CLOCKS),  # keys leave out the seeds won
    ("kalah", {"houses": 3, "seeds": 9, "empty_capture": True}, 20, []),
    ("nim", {"misere": True}, 10, []),
    ("nim", {"heaps": 4, "stones": 3, "take": 2}, 10, []),
    ("nim3p", {}, 10, []),
    ("nim3p", {"extra_rule": False, "take": 2}, 10, []),
]
LONG_CASES = [
    ("tictactoe", GOMOKU, 3, []),
    ("connect4", {"rows": 7, "columns": 8}, 8, []),
    ("connect4", {"players": 4, "rows": 5, "columns": 9}, 8, []),
    ("dots", {}, 8, CLOCKS),
    ("dots", {"rows": 1, "columns": 2, "players": 4}, 20, CLOCKS),
    ("race", {}, 8, []),
    ("race", {"players": 4}, 8, []),
    ("othello", {}, 8, MOVED),
    ("othello", {"side": 4}, 8, MOVED),
    ("othello", {"side": 6}, 8, MOVED),
    ("hex", {"size": 2}, 20, []),
    ("hex", {"size": 15}, 2, []),
    ("giveaway", {}, 10, CLOCKS),
    ("checkers", {}, 10, CLOCKS),
    ("morris", {}, 2, CLOCKS),
    ("morris", {"men": 6}, 2, CLOCKS),
    ("morris", {"men": 3}, 5, CLOCKS),
    ("morris", {"men": 3, "lines": 6, "blocked": "pass"}, 5, CLOCKS),
    ("morris", {**LUDII, "max_plies": 2500}, 2, []),
    ("game2048", {}, 3, []),
    ("game2048", {"stages": [16, 64]}, 3, []),
    ("cube2", {}, 4, LEFT),
    ("cube3", {}, 4, LEFT),
    ("cube3", {"corner_stickers": "original", "edge_stickers": "original"}, 4, LEFT),
]


@pytest.mark.parametrize(
    "name, params, num, notes",
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG_CASES)],
    ids=str,
)
def test_every_game_conforms(name, params, num, notes):
    game = games.load(name, **params)
    report = games.check(game, games=num, seed=2, max_plies=100 if notes == LEFT else 3000)
    assert report.notes == notes and "conforms" in str(report)
    assert not report.warnings or notes == LEFT  # turned at random, a cube is never solved
    assert report.checks["actions"] > num
    assert report.checks["terminal states"] >= num or notes == LEFT
    if len(game.symmetries) > 1:
        assert report.checks["symmetric images"] > 20
    if game.players == 2:  # what searches take for granted of the package's games
        assert conformance.not_opposite(Game(**game._arguments)) == ""
    if not game.deterministic:
        assert report.checks["chance outcomes"] >= 200


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four_v3", "2048", "mancala", "hex"])
def test_names_of_other_libraries_do_as_well(name):
    assert games.load(name).name in games.names()


def test_a_specification_holds_the_numbers_of_the_parameters():
    assert sorted(tables()) == games.names() and all(map(all, map(dict.values, tables().values())))
    found = specification(games.load("hex", size=4))
    assert found["actions"] == "16, at most 16 legal: the cell, with swap one more"
    assert specification(race())["actions"] == "2, at most 2 legal"


def test_a_size_is_part_of_the_identity_unless_it_is_the_usual_one():
    for name, usual in (("connect4", {"rows": 6, "columns": 7, "k": 4}), ("othello", {"side": 8})):
        identity = {"name": name, "params": {}, "version": 1}
        assert games.load(name).identity == games.load(name, **usual).identity == identity
    small = games.load("connect4", columns=5)
    assert small.identity["params"] == {"columns": 5}
    for again in (pickle.loads(pickle.dumps(small)), games.load_spec(small.identity)):
        assert again.identity == small.identity and (again.actions, again.cells) == (5, 30)


# ------------------------------------------------------ the check finds what is wrong in a new game
def bad_legal(s, moves):
    moves[0], moves[1] = 1, 1
    return 2


def scattered_legal(s, moves):
    moves[0], moves[1], moves[2] = 0, 2, 1
    return 3


def bad_key(s, k):
    k[0] = k[1] = np.uint64(s[0] // 2)


def touching_over(s):
    s[0] += 1
    return s[0] >= 5


def step(s, rng):
    s[0] = min(5, s[0] + 1 - (rng[0] & np.uint64(1)))
    rng[0] = rng[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


def lopsided(s, k):
    s[0] = min(5, s[0] + k)
    return 0.4


def unlike(s, k):
    s[0] = min(5, s[0] + k)
    return 0.9 - 0.8 * k


def winner_only(s, r):
    if s[0] >= 5:
        r[1 - s[1]] = 1.0
        r[s[1]] = -1.0


def uncounted_legal(s, moves):
    moves[0] = 1
    return 2


def half_key(s, k):
    k[0] = np.uint64(2 * s[0] + s[1])


@pytest.mark.parametrize(
    "changed",
    [{"score": winner_only}, {"legal": uncounted_legal}, {"key": half_key}],
    ids=lambda changed: next(iter(changed.values())).__name__,
)
def test_an_output_left_as_it_was_is_found_before_it_is_trained_with(changed):
    message = f"the rule '{next(iter(changed))}' leaves a part of its output as it was"
    with pytest.raises(conformance.NotConforming, match=message):
        games.check(race(**changed), games=1)
    with pytest.raises(ValueError, match=message):
        td.Session(race(**changed), tuples=[[0]], seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed, message",
    [
        ({"legal": bad_legal}, "distinct"),
        ({"legal": scattered_legal, "actions": 4, "max_legal": 3, "compound": 2}, "side by side"),
        ({"key": bad_key}, "stands for two positions"),
        ({"over": touching_over}, "changes the state"),
        ({"parse": lambda text: [0, 0]}, "parse"),
        ({"chance": step, "outcomes": lambda s: 2, "outcome": lopsided}, "add up to 0.8"),
        ({"chance": step, "outcomes": lambda s: 2, "outcome": unlike}, r"of 2000 has p = 0\.[19]"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_the_check_finds(changed, message):
    with pytest.raises(conformance.NotConforming, match=message):
        games.check(race(**changed), games=10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, sizes",
    [
        ("hex", {"size": 2}),
        ("hex", {"size": 5}),
        ("hex", {"size": 6}),
        ("hex", {"size": 7}),
        ("tictactoe", {}),
        ("tictactoe", {"rows": 7, "columns": 8, "k": 4}),
        ("tictactoe", {"rows": 4, "columns": 15, "k": 2}),
    ],
)
def test_a_random_game_at_once_is_the_same_game(name, sizes):
    game, rng = games.load(name, **sizes), new_rng(1)
    for seed in range(200):
        most = 1 + random_int(rng, game.cells)
        *_, s = conformance.random_game(game, game.start(), rng, most)
        conformance.check_finish(game, s, seed)


def finish_like(turned=0, draws=0, wide=0, many=0):
    """The end of a race at once, with a slip or without."""

    def finish(s, moves, plies, rng):
        while s[0] < 5 and plies > 0:
            step = 1 + random_int(rng, 2)
            s[0], s[1] = min(5, s[0] + step), 1 - s[1]
            plies -= 1
        s[1] ^= turned
        rng[0] += np.uint64(draws)
        if wide:
            s[wide] = 1
        if many:
            moves[many] = 1

    return finish


@pytest.mark.slow
@pytest.mark.parametrize(
    "finish, message",
    [
        (finish_like(turned=1), r"max_legal: \(\[.*, False\) instead of"),
        (finish_like(draws=1), "'finish' gives another score or generator"),
        (finish_like(many=2), r"writes beyond max_legal: .* True\) instead"),
        (finish_like(wide=2), "'finish' writes more than 2 values"),
    ],
)
def test_a_wrong_end_of_a_random_game_is_found(finish, message):
    with pytest.raises(ValueError, match=message):
        check_game(race(finish=finish))
    right = race(finish=finish_like())
    games.check(right, games=2)
    assert right.version == race().version  # the same game


def altered(change):
    """Tic-Tac-Toe with other action symmetries."""
    arguments = dict(games.load("tictactoe")._arguments)
    arguments["action_symmetries"] = change([list(row) for row in arguments["action_symmetries"]])
    return Game(**arguments)


def test_the_check_finds_a_wrong_symmetry():
    """Actions turned like the cells, but with two exchanged: a group, yet another one."""
    exchanged = [1, 0, *range(2, 9)]
    wrong = altered(lambda rows: [[exchanged[row[exchanged[a]]] for a in range(9)] for row in rows])
    with pytest.raises(conformance.NotConforming, match="commute with symmetry"):
        games.check(wrong, games=2)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda rows: [rows[k] for k in (0, 2, 1, 3, 4, 5, 6, 7)], "symmetry 1 and then 1 is"),
        (lambda rows: [np.argsort(row) for row in rows], "symmetry 1 and then 4 is symmetry"),
        (lambda rows: "none", "table of whole numbers"),
    ],
    ids=["rows exchanged", "inverse", "a word"],
)
def test_action_symmetries_follow_one_another_like_the_symmetries(change, message):
    with pytest.raises(ValueError, match=message):
        altered(change)
