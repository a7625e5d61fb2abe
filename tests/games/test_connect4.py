"""ConnectFour: known counts, OpenSpiel as another implementation, texts, symmetric positions."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.arena.matches import advance
from afterstate.games import conformance
from afterstate.games.counts import perft
from afterstate.games.svg import view
from afterstate.kernel.random import new_rng

GAMES = 10_000
game = games.load("connect4")


def random_position(random, stones):
    """A running position with this many stones, by random play."""
    while True:
        s = game.start()
        for _ in range(stones):
            if game.over(s):
                break
            s = game.play(s, random.choice(game.legal(s)))
        if not game.over(s):
            return s


@pytest.mark.slow
def test_conforms():
    report = conformance.check(game, games=60)
    assert report.notes == [] and report.checks["terminal states"] >= 60


@pytest.mark.slow
def test_positions_by_ply():
    level, counts = {game.key(game.start()): game.start()}, []
    for _ in range(6):
        counts.append(len(level))
        following = (game.play(s, a) for s in level.values() for a in game.legal(s))
        level = {game.key(s): s for s in following}
    assert counts == [1, 7, 49, 238, 1120, 4263]
    # games won early and full columns end lines
    assert [perft(game, depth) for depth in (6, 7, 8)] == [117649, 823536, 5673234]


@pytest.mark.slow
def test_random_games_equal_openspiel():
    oracle, random = pyspiel.load_game("connect_four"), np.random.default_rng(1)
    rng, moves, score = new_rng(0), np.zeros(7, np.int32), np.zeros(2)
    ends = {1: 0, -1: 0, 0: 0}
    for _ in range(GAMES):
        s, theirs = game.start(), oracle.new_initial_state()
        player, n = advance(game.rules, s, -1, rng, moves, score)
        for number in random.integers(1 << 30, size=42).tolist():
            legal = moves[:n].tolist()
            assert player == theirs.current_player() and legal == theirs.legal_actions()
            action = legal[number % n]
            player, n = advance(game.rules, s, action, rng, moves, score)
            theirs.apply_action(action)
            if player < 0 or theirs.is_terminal():
                break
        assert player < 0 and theirs.is_terminal() and score.tolist() == theirs.returns()
        assert game.render(s).replace(" ", "") == str(theirs).strip()
        ends[int(score[0])] += 1
    assert min(ends.values()) > 10


def test_cell_codes_from_the_picture():
    s = game.after([3, 3, 3, 2, 4, 4])
    assert game.render(s).split("\n")[2:] == [
        ". . . . . . .",
        ". . . x . . .",
        ". . . o o . .",
        ". . o x x . .",
    ]
    codes = game.board(s).reshape(7, 6)
    assert codes.tolist() == [
        [3, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0],
        [2, 3, 0, 0, 0, 0],
        [1, 2, 1, 3, 0, 0],
        [1, 2, 3, 0, 0, 0],
        [3, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0],
    ]
    full = game.after([0, 0, 0, 0, 0, 0])
    assert game.board(full)[:6].tolist() == [1, 2, 1, 2, 1, 2] and game.legal(full).tolist() == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]


RISING = [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3]


@pytest.mark.parametrize(
    "line, winner",
    [
        ([0, 1, 0, 1, 0, 1, 0], 0),
        ([0, 0, 1, 1, 2, 2, 3], 0),
        (RISING, 0),
        ([6 - column for column in RISING], 0),
        ([6, *RISING], 1),
        ([3, 0, 1, 0, 1, 0, 1, 0], 1),
    ],
    ids=["up", "right", "rising", "falling", "rising, second", "up, second"],
)
def test_lines(line, winner):
    s = game.after(line[:-1])
    assert not game.over(s) and game.score(s).tolist() == [0, 0]
    s = game.play(s, line[-1])
    assert (
        game.over(s)
        and game.score(s)[winner] == 1 == -game.score(s)[1 - winner]
        and game.legal(s).tolist() == []
    )


def test_text_forms_and_errors():
    s = game.after([3, 3, 2])
    text = game.render(s)
    assert np.array_equal(game.parse(text), s) and game.player(s) == 1
    assert [game.action_name(s, a) for a in game.legal(s)] == [
        "a1",
        "b1",
        "c2",
        "d3",
        "e1",
        "f1",
        "g1",
    ]
    with pytest.raises(ValueError, match="42 marks"):
        game.parse("x o")
    with pytest.raises(ValueError, match="column 4 has nothing below it"):
        game.parse(text.replace("x x", "x ."))
    with pytest.raises(ValueError, match="not 3 and 1"):
        game.parse(text[:-1] + "x")
    won = game.after([0, 1, 0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match="x has four in a row already"):
        game.parse(game.render(won)[:-1] + "o")
    with pytest.raises(ValueError, match="action 7 is not legal"):
        game.play(s, 7)


def test_mirrored_games_have_mirrored_boards():
    random = np.random.default_rng(4)
    for _ in range(50):
        a, b = game.start(), game.start()
        while not game.over(a):
            assert np.array_equal(game.board(a)[game.symmetries[1]], game.board(b))
            action = int(random.choice(game.legal(a)))
            a, b = game.play(a, action), game.play(b, 6 - action)
        assert game.over(b) and game.score(a).tolist() == game.score(b).tolist()


def test_picture_shows_values_where_stones_land():
    s = game.after([3, 3])
    drawing = view(
        game, s, values={column: column / 10 for column in range(7)}, last=3
    )._repr_svg_()
    assert drawing.count("+0.30") == 1 and drawing.startswith("<svg")
