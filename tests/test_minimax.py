"""Max-N equals a plain recursion in Python, whatever the table holds, and says clearly what it can not search."""

import numpy as np
import pytest
from afterstate import games
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng, random_int
from afterstate.search import max_n


def plain(game, s, depth, unit="action"):
    """Max-N by the book: no table, Python only.

    Returns the values of the actions, [num_legal, players].
    """

    def value(s, depth):
        if game.over(s) or depth == 0:
            return game.score(s)
        rows = plain(game, s, depth, unit)
        return rows[np.argmax(rows[:, game.player(s)])]

    rows = []
    for a in game.legal(s):
        row = 0.0
        for following, probability in game.outcomes(game.play(s, a)):
            same = unit == "turn" and game.player(following) == game.player(s)
            row = row + probability * value(following, depth - (not same))
        rows.append(row)
    return np.array(rows)


def random_states(game, n, seed, least=0):
    """Non-terminal states some random plies after the start."""
    rng, found = new_rng(seed), []
    while len(found) < n:
        s = game.start()
        for _ in range(least + random_int(rng, 4)):
            if not game.over(s):
                legal = game.legal(s)
                s = game.next(s, legal[random_int(rng, len(legal))], rng)
        if not game.over(s):
            found.append(s)
    return found


def take_game(dice=False, extra_turn=False, listed=True):
    """Players take 1 or 2 coins of 12 and keep them; a die may take one more away.

    Coins left 6 or 3: an extra turn.
    """

    def start(s, rng):
        s[0], s[1], s[2], s[3] = 12, 0, 0, 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return min(2, s[0])

    def play(s, action):
        s[0] -= action + 1
        s[1 + s[3]] += action + 1
        if not (extra_turn and s[0] % 3 == 0):
            s[3] = 1 - s[3]

    def player(s):
        return s[3]

    def over(s):
        return s[0] <= 0

    def score(s, r):
        r[0], r[1] = s[1] / 8.0, s[2] / 8.0 + (0.0625 if s[0] == 0 and s[3] == 0 else 0.0)

    def board(s, cells):
        cells[0] = s[0]

    def chance(s, rng):
        s[0] = max(0, s[0] - random_int(rng, 4) // 3)

    def outcomes(s):
        return 2

    def outcome(s, k):
        s[0] = max(0, s[0] - k)
        return 0.25 if k else 0.75

    def key(s, k):  # without the coins won: rewards so far are not part of a position
        k[0], k[1] = np.uint64(s[0]), np.uint64(s[3])

    more = (
        {"chance": chance} | ({"outcomes": outcomes, "outcome": outcome} if listed else {})
        if dice
        else {}
    )
    return Game(
        "take",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        key=key,
        players=2,
        actions=2,
        max_legal=2,
        size=4,
        values=[13],
        score_range=(0.0, 2.0),
        **more,
    )


CASES = {
    "tictactoe": (games.load("tictactoe"), 3),
    "3x4": (games.load("tictactoe", columns=4), 7),
    "nim3p": (games.load("nim3p", stones=3), 0),
    "nim": (games.load("nim", take=2), 3),
    "dice": (take_game(dice=True), 0),
    "extra turns": (take_game(extra_turn=True), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_plain_recursion_with_any_table(name):
    game, least = CASES[name]
    states = random_states(game, 3, 11, least)
    depths = (4, 1, 5, 2, 3)  # down and up: entries of other depths are in the table
    for s in states:
        for depth in depths:
            for unit in ("action", "turn"):
                expected = plain(game, s, depth, unit)
                assert max_n.values(game, s, depth, unit) == pytest.approx(expected, abs=1e-12), (
                    name,
                    s,
                    depth,
                    unit,
                )


def test_values_do_not_depend_on_what_was_searched_before():
    used, states = (
        games.load("tictactoe", columns=4),
        random_states(games.load("tictactoe", columns=4), 6, 2, 4),
    )
    for s in states:
        for depth in (6, 3):
            max_n.values(used, s, depth)
    for s in states[::-1]:
        for depth in (2, 4, 7):
            fresh = max_n.values(games.load("tictactoe", columns=4), s, depth)
            assert np.array_equal(max_n.values(used, s, depth), fresh)


def test_full_table_grows_or_stops_storing(monkeypatch):
    game = games.load("tictactoe")
    monkeypatch.setattr(max_n, "FIRST_CAPACITY", 8)
    monkeypatch.setattr(max_n, "FIRST_PLIES", 2)
    assert max_n.solve(game)[1:] == (5478, 958)
    expected = max_n.values(games.load("tictactoe"), game.start(), 6)
    monkeypatch.setattr(max_n, "MAX_CAPACITY", 64)
    assert np.array_equal(max_n.values(game, game.start(), 6), expected)


def test_depth_limit_returns_the_present_reward():
    game = take_game()
    assert max_n.values(game, game.start(), 1).tolist() == [[0.125, 0.0], [0.25, 0.0]]
    s = games.load("tictactoe").parse("x x . o o . . . .")
    assert max_n.values(games.load("tictactoe"), s, 1)[:, 0].tolist() == [1, 0, 0, 0, 0]
    assert max_n.values(games.load("tictactoe"), s, 2)[1:, 0].min() == -1


def test_terminal_state_has_no_values():
    game = games.load("nim")
    assert max_n.values(game, game.parse("0 0 0 : 1"), 3).shape == (0, 2)


def test_unclear_searches_are_errors():
    game = games.load("tictactoe")
    for depth in (0, -1, 2.5, True, "10"):
        with pytest.raises(ValueError, match="whole number of at least 1, not"):
            max_n.values(game, game.start(), depth)
    with pytest.raises(ValueError, match="'action' or 'turn', not 'plies'"):
        max_n.values(game, game.start(), 3, "plies")
    with pytest.raises(ValueError, match="'take' does not list its chance outcomes"):
        max_n.values(take_game(dice=True, listed=False), np.array([3, 0, 0, 0]), 3)

    def walk(s, action):
        s[0] += action  # and action 0 changes nothing, so a line need not end
        s[3] = 1 - s[3]

    endless = Game(**(take_game()._arguments | {"play": walk, "version": None}))
    assert max_n.values(endless, endless.start(), 5).shape == (2, 2)
    with pytest.raises(ValueError, match="more than 2048 plies: give a smaller depth"):
        max_n.solve(endless)
