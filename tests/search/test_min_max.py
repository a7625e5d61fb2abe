"""Depth-limited Min-Max: values and best moves equal a plain full-width recursion in Python."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng, random_int
from afterstate.search import max_n, min_max
from many import one_in
from sample_games import take_game

MORRIS = {"repetition": 0, "quiet_plies": 0}
CASES = {
    "kalah": (games.load("kalah"), 3, 30),
    "margin": (games.load("kalah", houses=4, seeds=3, margin=True), 4, 12),
    "nine men": (games.load("morris", **MORRIS), 2, 40),
    "six men": (games.load("morris", men=6, **MORRIS), 3, 50),
    "three men": (games.load("morris", men=3, lines=6, **MORRIS), 4, 12),
    "tictactoe": (games.load("tictactoe"), 9, 4),
}


def plain(game, s, depth, unit="action", heuristic=True, path=()):
    """First player's value by the book: no cut-offs.

    A position that repeats one on the path is a draw.
    """
    if game.over(s):
        return game.score(s)[0]
    if game.key(s) in path:
        return 0.0
    if depth == 0:
        return game.heuristic(s) if heuristic and game.rules.heuristic else game.score(s)[0]
    found = []
    for a in game.legal(s):
        following = game.play(s, a)
        step = 0 if unit == "turn" and game.player(following) == game.player(s) else 1
        found.append(plain(game, following, depth - step, unit, heuristic, (*path, game.key(s))))
    return max(found) if game.player(s) == 0 else min(found)


def plain_values(game, s, depth, unit="action", heuristic=True):
    sign, found = 1 - 2 * game.player(s), []
    for a in game.legal(s):
        following = game.play(s, a)
        step = 0 if unit == "turn" and game.player(following) == game.player(s) else 1
        found.append(sign * plain(game, following, depth - step, unit, heuristic, (game.key(s),)))
    return np.array(found)


def random_states(game, n, plies, seed=0):
    rng, found = new_rng(seed), []
    while len(found) < n:
        s = game.start()
        for _ in range(random_int(rng, plies)):
            if not game.over(s):
                legal = game.legal(s)
                s = game.play(s, legal[random_int(rng, len(legal))])
        if not game.over(s):
            found.append(s)
    return found


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_equals_full_width(name):
    game, most, plies = CASES[name]
    ties = 0
    for s in random_states(game, 6, plies):
        for depth in {1, 2, most}:
            if name == "tictactoe" and depth > 4 and len(game.legal(s)) > 7:
                continue
            expected = plain_values(game, s, depth)
            search = min_max.Searcher(game, depth)
            assert np.array_equal(search.values(s), expected), (name, depth)
            best = expected == expected.max()
            bounds = search.values(s, min_max.TIES)
            assert np.array_equal(bounds == bounds.max(), best) and (bounds >= expected).all()
            assert np.argmax(search.values(s, min_max.FIRST)) == np.argmax(expected)
            ties += best.sum() > 1
    assert ties or name == "margin"


def test_extra_turns_in_both_units():
    game = games.load("kalah", houses=3, seeds=2)
    for s in random_states(game, 5, 6, seed=3):
        for depth in (1, 2, 3):
            for heuristic in (True, False):
                for unit in ("action", "turn"):
                    found = min_max.Searcher(game, depth, unit, heuristic).values(s)
                    assert np.array_equal(found, plain_values(game, s, depth, unit, heuristic)), (
                        unit,
                        depth,
                    )
    s = game.after([1])
    # an extra turn: one turn of depth sees through to the opponent's move
    assert game.player(s) == 0
    assert not np.array_equal(
        min_max.Searcher(game, 1, "turn").values(game.start()),
        min_max.Searcher(game, 1).values(game.start()),
    )


def test_without_heuristic_equals_maxn():
    for name, depth in (("kalah", 5), ("tictactoe", 5)):
        game = games.load(name)
        for s in random_states(game, 3, 12, seed=5):
            expected = max_n.values(game, s, depth)[:, game.player(s)]
            assert np.array_equal(
                min_max.Searcher(game, depth, heuristic=False).values(s), expected
            )


def few_men(game, random, first, second):
    """A position of Nine Men's Morris with so many men, none in the hands, the first to move."""
    marks = np.full(24, ".")
    points = random.permutation(24)
    marks[points[:first]], marks[points[first : first + second]] = "x", "o"
    return game.parse(
        " ".join(marks) + "\nfirst to move, 0 and 0 in hand, 5 plies quiet, 50 played"
    )


@pytest.mark.slow
def test_repetitions_on_the_line_in_morris():
    """With unequal men and nothing near, a line that comes back is worth 0."""
    game, random, found = games.load("morris", flying=False, **MORRIS), np.random.default_rng(6), []
    for _ in range(6):
        s = few_men(game, random, 3, 4)
        if not game.over(s):
            found.append(plain_values(game, s, 4))
            assert np.array_equal(min_max.Searcher(game, 4).values(s), found[-1])
    assert len(found) > 3 and len(set(np.concatenate(found).tolist())) > 2


def endless(step_back):
    """Walk on five fields without an end.

    The heuristic is the field, and walking back may count as a repetition or not.
    """

    def start(s, rng):
        s[0], s[1] = 2, 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2

    def play(s, action):
        s[0] = min(4, max(0, s[0] + 2 * action - 1))
        s[1] = 1 - s[1]

    def player(s):
        return s[1]

    def over(s):
        return False

    def score(s, r):
        r[0] = r[1] = 0.0

    def board(s, cells):
        cells[0] = s[0]

    def heuristic(s):
        return s[0] / 10.0 + 0.1

    def irreversible(s):
        return not step_back

    return Game(
        "walk",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        heuristic=heuristic,
        irreversible=irreversible,
        players=2,
        actions=2,
        max_legal=2,
        size=2,
        num_codes=[5],
    )


@pytest.mark.slow
def test_repetition_rule_depends_on_irreversible():
    assert min_max.Searcher(endless(False), 2).values(
        endless(False).start()
    ).tolist() == pytest.approx([0.1, 0.3])
    # the other one walks back to where it began
    assert min_max.Searcher(endless(True), 2).values(endless(True).start()).tolist() == [0.0, 0.0]


def test_positions_count_the_root_and_the_limit():
    game = games.load("morris")
    search = min_max.Searcher(game, 1)
    search.values(game.start())
    assert search.positions == 1 + 24
    search = min_max.Searcher(game, 2)
    search.values(game.start())
    # all are equal at depth 2, so with the whole window nothing is left out
    assert search.positions == 1 + 24 + 24 * 23
    full = search.positions
    search.values(game.start(), min_max.FIRST)
    assert search.positions < full


def test_players_choose_the_first_or_any_best():
    game = games.load("tictactoe")
    s = game.parse("x . . o . . . . .")
    rows = max_n.values(game, s, 9)[:, 0]
    best = game.legal(s)[rows == rows.max()].tolist()

    def choices(player):
        found = []
        for seed in range(100):
            player.new_match(game, [], 0, seed)
            found.append(player.choose(s))
        return found

    assert len(best) > 1 and choices(players.MinMax(9)) == [best[0]] * 100
    assert sorted(set(choices(players.MinMax(9, ties="random")))) == best
    player = players.MinMax(9)
    player.new_match(game, [], 0, 0)
    assert np.array_equal(player.values(s), rows) and player.name == "Min-Max-9-first"


@pytest.mark.slow
def test_perfect_play_against_random_by_ties():
    """Exact shares of the deterministic, first-legal player; 191/192 wins as first player."""
    game = games.load("tictactoe")
    table = arena.matches(
        game, {"perfect": players.MinMax(9), "random": players.Random()}, episodes=300, seed=1
    )
    mine = table[table.player == "perfect"]
    by_seat = mine.groupby("seat").score
    assert (
        mine.score.min() >= 0
        and by_seat.mean()[0] > 0.97
        and by_seat.mean()[1] == pytest.approx(254 / 315, abs=0.08)
    )


@pytest.mark.slow
def test_stronger_with_depth():
    game = games.load("kalah")
    table = arena.matches(
        game,
        {"four": players.MinMax(4, ties="random"), "one": players.MinMax(1, ties="random")},
        episodes=30,
        seed=2,
    )
    assert table[table.player == "four"].score.mean() > 0.5
    nine = games.load("morris")
    table = arena.matches(
        nine,
        {"three": players.MinMax(3, ties="random"), "random": players.Random()},
        episodes=10,
        seed=2,
    )
    assert table[table.player == "three"].score.mean() > 0.8 and not table.error.any()


@pytest.mark.slow
def test_unclear_searches_are_errors():
    game = games.load("tictactoe")
    for depth in (0, 2.5, True):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            players.MinMax(depth)
    with pytest.raises(ValueError, match="one of 'first', 'random', not 'last'"):
        players.MinMax(3, ties="last")
    with pytest.raises(ValueError, match="'tictactoe' has no heuristic"):
        min_max.Searcher(game, 3, heuristic=True)
    for other in (games.load("nim3p"), take_game(dice=True)):
        with pytest.raises(
            ValueError, match="two players with opposite rewards and without chance"
        ):
            min_max.Searcher(other, 3)
    with pytest.raises(ValueError, match="below 512, not 512"):
        min_max.Searcher(game, 512)
