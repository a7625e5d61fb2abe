"""Perfect ConnectFour: BitBully against our solver, and the players."""

import pickle

import numpy as np
import pytest

from afterply import arena, games
from afterply.opponents import optional
from afterply.opponents.perfect import Perfect, best_moves, scores, value
from afterply.players.basic import Random
from afterply.search.max_n import MinMaxSearch
from afterply.studies.papers.konen2021.game_measures import PerfectPlay, judge

game = games.load("connect4")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(optional.lacks("bitbully")), reason="not installed: make engines"),
]


def any_position(random, stones, quiet=False):
    """A running position by random play; a quiet one has no win at once: there is more to solve."""
    while True:
        s = game.start()
        for _ in range(stones):
            s = s if game.over(s) else game.play(s, random.choice(game.legal(s)))
        won = game.over(s) or quiet and any(game.over(game.play(s, a)) for a in game.legal(s))
        if not won:
            return s


def test_both_solvers_agree_late_in_the_game():
    random, solver, results = np.random.default_rng(7), MinMaxSearch(game, 18), []
    for number in range(80):
        s = any_position(random, 24 + number % 9, quiet=number % 2)
        ours, theirs = solver.values(s), scores(s)
        assert ours.tolist() == np.sign(theirs).tolist(), game.render(s)
        results += ours.tolist()
    assert min(results.count(v) for v in (-1, 0, 1)) > 7


def test_known_values_and_mirrored_positions():
    path = [3, 2, 2, 0, 5, 5, 1]
    found, mirrored = scores(game.after(path)), scores(game.after([6 - a for a in path]))
    assert mirrored.tolist() == found[::-1].tolist() and len(set(found.tolist())) > 1
    assert scores(game.start()).tolist() == [-2, -1, 0, 1, 0, -1, -2]
    assert best_moves(game.start(), False) == best_moves(game.start(), True) == (3,)
    s = game.after([0, 6, 0, 6, 0])  # the second player must block ...
    assert best_moves(s, True) == (0,)
    # ... and has not: the first wins now, by column 0
    s = game.play(s, 6)
    assert best_moves(s, True) == (0,) and value(s) == (42 - 6) // 2
    with pytest.raises(ValueError, match="the game is over"):
        best_moves(game.play(s, 0), False)


def test_cheap_questions_agree_with_all_scores():
    random = np.random.default_rng(5)
    for number in range(105):
        stones = number % 35  # just beyond the book the scores take longest
        s = any_position(random, stones if stones not in (12, 13) else 11)
        found, legal = scores(s), game.legal(s)
        assert sorted(best_moves(s, True)) == legal[found == found.max()].tolist()
        best = np.sign(found) == np.sign(found.max())
        assert sorted(best_moves(s, False)) == legal[best].tolist()
        assert value(s) == found.max() and value(s, exact=False) == np.sign(found.max())


@pytest.mark.parametrize("mine", ["AB", "AB-DL"])
def test_never_loses_a_won_game(mine):
    opponents = {"random": (Random(), 40)} | {k: (Perfect(k), 8) for k in ("AB", "AB-DL")}
    first, seats = pickle.loads(pickle.dumps(Perfect(mine))), [("perfect", "other")]
    for name, (other, episodes) in opponents.items():
        both = {"perfect": first, "other": other}
        table = arena.matches(game, both, None, episodes, 2, seats, strict=True)
        rows = table[table.player == "perfect"]
        assert (rows.score == 1).all() and len(rows) == episodes
        if mine == name == "AB-DL":  # the longest resistance against the fastest win: 41 plies
            assert set(rows.plies) == {41}


def test_ab_wins_and_loses_at_random_and_abdl_does_not():
    ab, ab_dl = Perfect("AB"), Perfect("AB-DL")
    for player in (ab, ab_dl):
        player.new_match(game, [], 0, 1)
    lost = game.after([3, 0, 2])  # the second player to move: every move loses, one of them latest
    assert value(lost) < 0
    chosen = {ab.choose(lost) for _ in range(200)}
    assert chosen == set(game.legal(lost).tolist())
    assert {ab_dl.choose(lost) for _ in range(50)} == set(best_moves(lost, True)) < chosen
    won = game.after([0, 6, 0, 6, 0, 6])  # wins at once by column 0
    found = scores(won)
    assert {ab_dl.choose(won) for _ in range(20)} == {0}
    assert {ab.choose(won) for _ in range(200)} == set(game.legal(won)[found > 0].tolist())
    assert ab.values(won).tolist() == np.sign(found).tolist()
    assert ab_dl.values(won).tolist() == found.tolist()


@pytest.mark.parametrize(
    "moves, exact", [([3, 0, 2, 5, 5, 3, 4], False), ([3, 0, 2, 5, 5, 3, 4, 1, 3], True)]
)
def test_abdl8_plays_the_opening_of_a_lost_game_like_ab_and_the_rest_like_abdl(moves, exact):
    """The second player to move, and lost; the stone to come is the 8th and 10th."""
    player, s = Perfect("AB-DL-8"), game.after(moves)
    player.new_match(game, [], 0, 1)
    found = scores(s)
    assert found.max() < 0 and len(set(found.tolist())) > 1
    assert {player.choose(s) for _ in range(100)} == set(best_moves(s, exact))
    assert player.values(s).tolist() == (found if exact else np.sign(found)).tolist()


def test_evaluations_by_perfect_play():
    def row(measure, opponent, value, **seat):
        return {"measure": measure, "opponent": opponent, **seat, "value": value}

    first, second = {"seat": "first"}, {"seat": "second"}
    found = PerfectPlay(episodes=3)(game, Perfect("AB-DL"), seed=1)
    assert found == [
        one
        for name in ("AB", "AB-DL")
        for one in (
            row("score", name, 1, **first),
            row("win_rate", name, 50, **first),
            row("score", name, -1, **second),
            row("win_rate", name, 50),
        )
    ]
    found = PerfectPlay(("AB",), "first", 5)(game, Random(), seed=1)
    assert found == [row("score", "AB", -1, **first), row("win_rate", "AB", 0, **first)]
    assert judge(game, [3, 3, 3, 3, 3, 3, 2])[:2] == [(0, 1, 1), (1, -1, -1)]
    assert judge(game, [0])[0] == (0, 1, -1)
    last = judge(game, [0, 6, 0, 6, 0, 6, 0])
    assert last[-1] == (6, 1, 1) and last[5][1:] == (-1, -1)
