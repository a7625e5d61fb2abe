"""Perfect ConnectFour: BitBully against alpha-beta, the players, the memory."""

import pickle

import numpy as np
import pytest

from afterstate import arena, games
from afterstate.papers.konen2021.connect4_play import PerfectPlay, judge
from afterstate.players import optional, perfect
from afterstate.players.basic import Random
from afterstate.players.perfect import Perfect, oracle
from afterstate.search.max_n import MinMaxSearch

game = games.load("connect4")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(optional.lacks("bitbully")), reason="not installed: make engines"),
]


@pytest.fixture(autouse=True)
def memory_file(tmp_path, monkeypatch):
    """Keep the tests' answers out of the repository's cache."""
    monkeypatch.setattr(perfect, "memory_file", lambda: tmp_path / "kept" / "answers.npz")
    oracle.cache_clear()
    yield perfect.memory_file()
    oracle.cache_clear()


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
    for number in range(320):
        s = any_position(random, 24 + number % 9, quiet=number % 2)
        ours, theirs = solver.values(s), oracle().scores(s)
        assert ours.tolist() == np.sign(theirs).tolist(), game.render(s)
        results += ours.tolist()
    assert min(results.count(v) for v in (-1, 0, 1)) > 30


def test_known_values_and_mirrored_positions_share_answers():
    ask, path = perfect.Oracle(), [3, 2, 2, 0, 5, 5, 1]
    scores = ask.scores(game.after(path))
    mirrored = ask.scores(game.after([6 - a for a in path]))
    assert mirrored.tolist() == scores[::-1].tolist() and len(set(scores.tolist())) > 1
    assert ask.searched == 1
    assert ask.scores(game.start()).tolist() == [-2, -1, 0, 1, 0, -1, -2]
    assert ask.moves(game.start(), "sign") == ask.moves(game.start(), "best") == (3,)
    s = game.after([0, 6, 0, 6, 0])  # the second player must block ...
    assert ask.moves(s, "best") == (0,)
    # ... and has not: the first wins now, by column 0
    s = game.play(s, 6)
    assert ask.moves(s, "best") == (0,) and ask.value(s) == (42 - 6) // 2
    with pytest.raises(ValueError, match="the game is not over"):
        ask.moves(game.play(s, 0), "sign")


def test_cheap_questions_agree_with_all_scores():
    random, ask = np.random.default_rng(5), perfect.Oracle()
    for number in range(210):
        stones = number % 35  # just beyond the book the scores take longest
        s = any_position(random, stones if stones not in (12, 13) else 11)
        scores, legal = ask.scores(s), game.legal(s)
        assert sorted(ask.moves(s, "best")) == legal[scores == scores.max()].tolist()
        best = np.sign(scores) == np.sign(scores.max())
        assert sorted(ask.moves(s, "sign")) == legal[best].tolist()
        assert ask.value(s) == scores.max() and ask.value(s, "sign") == np.sign(scores.max())


def test_memory_is_kept_in_a_file(tmp_path):
    path, states = tmp_path / "a.npz", [game.after(p) for p in ([], [3], [3, 3, 1], [0, 1, 2, 3])]
    first, second, third = perfect.Oracle(), perfect.Oracle(), perfect.Oracle()

    def answers(ask):
        return [(ask.moves(s, "sign"), ask.moves(s, "best"), *ask.scores(s)) for s in states]

    known = answers(first)
    first.save(path)
    second.moves(game.after([6, 5, 5]), "best")
    second.save(path)
    third.load(path)
    assert answers(third) == known
    third.moves(game.after([6, 5, 5]), "best")
    # nothing had to be searched, so no engine was loaded
    assert third.searched == 0 and third._core is None
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="a.npz is damaged"):
        third.load(path)


@pytest.mark.parametrize("mine", ["AB", "AB-DL"])
def test_never_loses_a_won_game(mine):
    opponents = {"random": (Random(), 160)} | {k: (Perfect(k), 20) for k in ("AB", "AB-DL")}
    first, seats = pickle.loads(pickle.dumps(Perfect(mine))), [("perfect", "other")]
    for name, (other, episodes) in opponents.items():
        both = {"perfect": first, "other": other}
        table = arena.matches(game, both, None, episodes, 2, seats, strict=True)
        rows = table[table.player == "perfect"]
        assert (rows.score == 1).all() and len(rows) == episodes
        if mine == name == "AB-DL":  # the longest resistance against the fastest win: 41 plies
            assert set(rows.plies) == {41}


def test_ab_wins_and_loses_at_random_and_abdl_does_not():
    ab, ab_dl, ask = Perfect("AB"), Perfect("AB-DL"), oracle()
    for player in (ab, ab_dl):
        player.new_match(game, [], 0, 1)
    lost = game.after([3, 0, 2])  # the second player to move: every move loses, one of them latest
    assert ask.value(lost) < 0
    chosen = {ab.choose(lost) for _ in range(200)}
    assert chosen == set(game.legal(lost).tolist())
    assert {ab_dl.choose(lost) for _ in range(50)} == set(ask.moves(lost, "best")) < chosen
    won = game.after([0, 6, 0, 6, 0, 6])  # wins at once by column 0
    scores = ask.scores(won)
    assert {ab_dl.choose(won) for _ in range(20)} == {0}
    assert {ab.choose(won) for _ in range(200)} == set(game.legal(won)[scores > 0].tolist())
    assert ab.values(won).tolist() == np.sign(scores).tolist()
    assert ab_dl.values(won).tolist() == scores.tolist()


@pytest.mark.parametrize(
    "moves, question",
    [([3, 0, 2], "sign"), ([3, 0, 2, 5, 5, 3, 4], "sign"), ([3, 0, 2, 5, 5, 3, 4, 1, 3], "best")],
)
def test_abdl8_plays_the_opening_of_a_lost_game_like_ab_and_the_rest_like_abdl(moves, question):
    """The second player to move, and lost; the stone to come is the 4th, 8th and 10th."""
    player, s = Perfect("AB-DL-8"), game.after(moves)
    player.new_match(game, [], 0, 1)
    scores = oracle().scores(s)
    assert scores.max() < 0 and len(set(scores.tolist())) > 1
    assert {player.choose(s) for _ in range(100)} == set(oracle().moves(s, question))
    expected = np.sign(scores) if question == "sign" else scores
    assert player.values(s).tolist() == expected.tolist()


def test_evaluation_keeps_its_answers(memory_file, monkeypatch, caplog):
    monkeypatch.setattr(perfect, "SAVE_EVERY", 10)
    evaluate = PerfectPlay(episodes=3)
    found = evaluate(game, Perfect("AB-DL"), seed=1)
    searched = oracle().searched
    assert searched > 0 and memory_file.exists()
    # as a new process: it finds the answers, and the same result
    oracle.cache_clear()
    assert evaluate(game, Perfect("AB-DL"), seed=1) == found and oracle().searched < searched
    memory_file.write_bytes(b"damaged")
    oracle.cache_clear()
    assert oracle().memory["sign"] == {} and not memory_file.exists()
    assert "is damaged" in caplog.text
    half = {"score_first": 1, "win_rate_first_only": 50, "score_second": -1, "win_rate": 50}
    assert found == {f"{k}:{name}": v for name in ("AB", "AB-DL") for k, v in half.items()}
    found = PerfectPlay(("AB",), "first", 5)(game, Random(), seed=1)
    assert found == {"score_first:AB": -1, "win_rate_first_only:AB": 0}


def test_judge_finds_mistakes():
    assert judge(game, [3, 3, 3, 3, 3, 3, 2])[:2] == [(0, 1, 1), (1, -1, -1)]
    assert judge(game, [0])[0] == (0, 1, -1)
    last = judge(game, [0, 6, 0, 6, 0, 6, 0])
    assert last[-1] == (6, 1, 1) and last[5][1:] == (-1, -1)
    assert any(after < before for _, before, after in last)
