"""Max-N and alpha-beta equal a plain recursion in Python, and say what they cannot search."""

import threading

import numpy as np
import pytest

from afterply import games, players
from afterply.games.game import Game
from afterply.kernel.random import new_rng, random_int
from afterply.learners import td, td_wrapped
from afterply.networks.ntuple import Network
from afterply.players import agents
from afterply.search import max_n
from many import one_in
from sample_games import race, take_game

TICTACTOE, MORRIS = games.load("tictactoe"), {"repetition": 0, "quiet_plies": 0}


def random_states(game, n, plies, seed, least=0):
    """Non-terminal states some random plies after the start."""
    rng, found = new_rng(seed), []
    while len(found) < n:
        s = game.start()
        for _ in range(least + random_int(rng, plies)):
            if not game.over(s):
                legal = game.legal(s)
                s = game.next(s, legal[random_int(rng, len(legal))], rng)
        if not game.over(s):
            found.append(s)
    return found


def plain(game, s, depth):
    """Max-N by the book, without a table: the values of the actions, [num_legal, players]."""

    def value(s, depth):
        if game.over(s) or depth == 0:
            return game.score(s)
        rows = plain(game, s, depth)
        return rows[np.argmax(rows[:, game.player(s)])]

    return np.array(
        [
            sum(p * value(following, depth - 1) for following, p in game.outcomes(game.play(s, a)))
            for a in game.legal(s)
        ]
    )


MAX_N = {
    "tictactoe": (TICTACTOE, 3),
    "3x4": (games.load("tictactoe", columns=4), 7),
    "nim3p": (games.load("nim3p", stones=3), 0),
    "nim": (games.load("nim", take=2), 3),
    "dice": (take_game(dice=True), 0),
    "extra turns": (take_game(extra_turn=True), 0),
}


def expectimax(game, net, s, depth):
    """The mover's rewards to come of the actions, by the book; the last one is worth r + V."""
    mover = game.player(s)

    def from_here(state):
        return game.score(state)[mover] - game.score(s)[mover]

    def after_that(state):
        if game.over(state):
            return 0.0
        best = max(expectimax(game, net, state, depth - 1))
        return best if game.player(state) == mover else -best

    def promised(after):
        if depth > 1:
            following = game.outcomes(after)
            return sum(p * (from_here(state) + after_that(state)) for state, p in following)
        is_end = game.deterministic and game.over(after)
        return from_here(after) + (0.0 if is_end else net.value(after, mover))

    return [promised(game.play(s, action)) for action in game.legal(s)]


LEAVES = {
    "2048": (games.load("game2048", raw_score=True, all_tiles=True), [[0, 1, 4], [5, 6]], 3),
    "tictactoe": (TICTACTOE, [[0, 1, 2], [4]], 4),
    "extra turns": (games.load("kalah", houses=3, seeds=2), [[0, 1, 2], [3, 4]], 4),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_network_at_the_leaves_gives_what_plain_expectimax_gives(name):
    game, tuples, most = LEAVES[name]
    net = Network(game, tuples, sigmoid=False)
    random = np.random.default_rng(3)
    for s in random_states(game, 2, 3, 5):
        if game.name == "game2048":  # few empty cells, so that the plain search takes no minute
            s = game.parse("2 4 8 16  32 2 4 8  2 64 2 4  8 2 . 2 score 200")
        for depth in (most, 1, 2):
            net.weights[:] = random.normal(size=net.weights.shape)  # it may learn in between
            player = players.MaxN(depth, leaf=net).playing(game)
            expected = expectimax(game, net, s, depth) + game.score(s)[game.player(s)]
            assert player.values(s) == pytest.approx(expected, abs=1e-9)


def test_what_can_not_be_at_the_leaves_is_refused():
    nim = games.load("nim3p")
    for leaf, words in (
        (players.Random(), "n-tuple network of V"),
        (lambda state: 0, "n-tuple network of V"),
        (Network(TICTACTOE, [[0]], per_action=True), "n-tuple network of V"),
        (Network(nim, [[0]]), "two with opposite rewards"),
    ):
        with pytest.raises(ValueError, match=words):
            players.MaxN(2, leaf=leaf)
    with pytest.raises(ValueError, match="was made for"):
        players.MaxN(2, leaf=Network(TICTACTOE, [[0]])).playing(LEAVES["2048"][0])


def test_a_table_of_few_positions_changes_no_value():
    game = games.load("tictactoe")
    with_limit = max_n.values(game, game.start(), 9, positions=3072)
    memory = max_n._searches.by_game[game]
    assert len(memory.table.low) == 4096
    assert np.array_equal(with_limit, max_n.values(game, game.start(), 9))
    assert len(memory.table.low) > 4096


@pytest.mark.slow
@pytest.mark.parametrize("name", MAX_N)
def test_equals_plain_recursion_with_any_table(name):
    game, least = MAX_N[name]
    for s in random_states(game, 3, 4, 11, least):
        for depth in (4, 1, 5, 2, 3):  # down and up: entries of other depths are in the table
            expected = plain(game, s, depth)
            assert max_n.values(game, s, depth) == pytest.approx(expected, abs=1e-12)


def test_full_table_grows_or_stops_storing(monkeypatch):
    monkeypatch.setattr(max_n, "FIRST_CAPACITY", 8)
    assert max_n.solve(TICTACTOE)[1:] == (5478, 958)
    expected = max_n.values(games.load("tictactoe"), TICTACTOE.start(), 6)
    monkeypatch.setattr(max_n, "MAX_CAPACITY", 64)
    assert np.array_equal(max_n.values(TICTACTOE, TICTACTOE.start(), 6), expected)
    # What the table drops, `solve` could not count.
    with pytest.raises(MemoryError, match="tictactoe has more than 48 positions"):
        max_n.solve(TICTACTOE)
    monkeypatch.setattr(max_n, "MAX_CAPACITY", 8192)  # 6144 entries
    assert max_n.solve(TICTACTOE)[1:] == (5478, 958)


@pytest.mark.slow
def test_unclear_searches_are_errors():
    with pytest.raises(ValueError, match="'take' does not list its chance outcomes"):
        max_n.values(take_game(dice=True, listed=False), np.array([3, 0, 0, 0]), 3)

    def walk(s, action):
        s[0] -= action  # and action 0 changes nothing, so a line need not end
        s[3] = 1 - s[3]

    endless = Game(**(take_game()._arguments | {"play": walk, "version": None}))
    assert max_n.values(endless, endless.start(), 5).shape == (2, 2)
    with pytest.raises(ValueError, match="more than 2048 plies: give a smaller depth"):
        max_n.solve(endless)


@pytest.mark.filterwarnings("ignore:.*is .over. ever True")
def test_a_long_line_fits_the_stack_of_any_thread():
    def walk(s, action):
        s[0] += 1
        s[1] = 1 - s[1]

    game = race(play=walk, over=lambda s: s[0] >= 2_000, num_codes=[2_001])
    found, usual = [], threading.stack_size(512 * 1024)
    try:
        search = threading.Thread(
            target=lambda: found.append(max_n.values(game, game.start(), 2_000))
        )
        search.start()
        search.join()
    finally:
        threading.stack_size(usual)
    assert found[0].tolist() == [[-1.0, 1.0]] * 2


def full_width(game, s, depth, path=()):
    """Min-Max: the first player's values of the actions; what repeats one on the path is a draw."""

    def value(s, depth, path):
        if game.over(s):
            return game.score(s)[0]
        if game.key(s) in path:
            return 0.0
        if depth == 0:
            return game.heuristic(s) if game.rules.heuristic else game.score(s)[0]
        found = full_width(game, s, depth, path)
        return max(found) if game.player(s) == 0 else min(found)

    path = (*path, game.key(s))
    return [value(game.play(s, a), depth - 1, path) for a in game.legal(s)]


MIN_MAX = {  # game, greatest depth, plies before
    "kalah": (games.load("kalah"), 3, 30),
    "extra turns": (games.load("kalah", houses=3, seeds=2), 3, 9),
    "margin": (games.load("kalah", houses=4, seeds=3, margin=True), 4, 12),
    "nine men": (games.load("morris", **MORRIS), 2, 40),
    "six men": (games.load("morris", men=6, **MORRIS), 3, 50),
    "three men": (games.load("morris", men=3, lines=6, **MORRIS), 4, 12),
    "tictactoe": (TICTACTOE, 9, 4),
}


@pytest.mark.parametrize("name", one_in(3, MIN_MAX))
def test_alpha_beta_equals_full_width(name):
    game, most, plies = MIN_MAX[name]
    ties = 0
    for s in random_states(game, 6, plies, 0):
        for depth in {1, 2, most}:
            if name == "tictactoe" and depth > 4 and len(game.legal(s)) > 7:
                continue
            expected = (1 - 2 * game.player(s)) * np.array(full_width(game, s, depth))
            search = max_n.MinMaxSearch(game, depth)
            assert np.array_equal(search.values(s), expected), (name, depth)
            best = expected == expected.max()
            bounds = search.values(s, max_n.TIES)
            assert np.array_equal(bounds == bounds.max(), best) and (bounds >= expected).all()
            assert np.argmax(search.values(s, max_n.FIRST)) == np.argmax(expected)
            ties += best.sum() > 1
    assert ties or name == "margin"


def endless(step_back):
    """Walk on five fields without end; the heuristic is the field, and a step back may repeat."""

    def start(s, rng):
        s[0], s[1] = 2, 0

    def play(s, action):
        s[0] = min(4, max(0, s[0] + 2 * action - 1))
        s[1] = 1 - s[1]

    walk = {"heuristic": lambda s: s[0] / 10.0 + 0.1, "irreversible": lambda s: not step_back}
    return race(start=start, play=play, over=lambda s: False, **walk)


@pytest.mark.slow
@pytest.mark.parametrize("step_back, values", [(False, [0.1, 0.3]), (True, [0.0, 0.0])])
def test_repetition_rule_depends_on_irreversible(step_back, values):
    """Where steps back repeat a position, the other one walks back to where it began."""
    game = endless(step_back)
    assert max_n.MinMaxSearch(game, 2).values(game.start()).tolist() == pytest.approx(values)


def together(s, r):
    """Both win if the first player reaches the end: the start, where nobody has won, is 0:0."""
    r[0] = r[1] = 1.0 if s[0] >= 5 and s[1] == 1 else 0.0


def shares(s, r):
    """The winner gets 1, the other nothing."""
    r[0] = 1.0 if s[0] >= 5 and s[1] == 1 else 0.0
    r[1] = 1.0 if s[0] >= 5 and s[1] == 0 else 0.0


def secret():
    """Who adds up to an odd number wins, but both win where nobody adds: one of 16,384 games."""

    def play(s, action):
        s[0] += action
        s[1] += 1

    def score(s, r):
        r[0] = r[1] = 0.0
        if s[1] == 14:
            r[0] = 1.0 if s[0] % 2 == 0 else -1.0
            r[1] = 1.0 if s[0] == 0 else -r[0]

    rules = dict(play=play, score=score, over=lambda s: s[1] >= 14, player=lambda s: s[1] % 2)
    return race(**rules, num_codes=[15])


@pytest.mark.parametrize("score", [together, shares])
def test_what_takes_rewards_for_opposite_refuses_other_games(score):
    game = race(score=score)
    ways = [
        lambda: max_n.MinMaxSearch(game, 3),
        lambda: players.MinMax(3).playing(game),
        lambda: agents.min_max(game, depth=3),
        lambda: players.Wrapped(lambda s: [0.0, 0.0], 10, game=game),
        lambda: td.Session(game, step_back="move", farl="off"),
        lambda: td_wrapped.Session(game, iterations=10),
    ]
    for way in ways:
        with pytest.raises(ValueError, match="opposite"):
            way()
    assert max_n.solve(game).value.tolist() == ([1.0, 1.0] if score is together else [1.0, 0.0])
    assert agents.min_max(game).policy(game.start()).sum() == 1.0  # to the end: by Max-N


def test_rewards_that_random_games_do_not_show_are_found_by_the_search():
    game = secret()
    with pytest.raises(ValueError, match="gives others within 14 actions from .*: use MaxN"):
        max_n.MinMaxSearch(game, 14).values(game.start())
    with pytest.raises(ValueError, match=r"opposite .* gives \[1.0, 1.0\] at "):
        players.Wrapped(lambda s: [1.0, 0.0], 500, game=game, c_puct=0.01).values(game.start())
    assert np.isfinite(max_n.MinMaxSearch(game, 13).values(game.start())).all()


@pytest.mark.parametrize("ties", ["first", "random", "Max-N"])
def test_players_choose_the_first_or_any_best(ties):
    s, found = TICTACTOE.parse("x . . o . . . . ."), set()
    rows = max_n.values(TICTACTOE, s, 9)[:, 0]
    best = TICTACTOE.legal(s)[rows == rows.max()].tolist()
    player = players.MaxN(9) if ties == "Max-N" else players.MinMax(9, ties=ties)
    for seed in range(100):
        player.new_match(TICTACTOE, [], 0, seed)
        found.add(player.choose(s))
    assert len(best) > 1 and sorted(found) == (best[:1] if ties == "first" else best)
    assert np.array_equal(player.values(s), rows)
