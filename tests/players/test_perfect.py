"""Perfect ConnectFour: BitBully against our solver, the players, the memory, the evaluation."""

import builtins
import pickle
import sys

import numpy as np
import pytest

from afterstate import arena, games
from afterstate.evaluators.connect4 import PerfectPlay, judge
from afterstate.games.game import Game
from afterstate.players import connect4_oracle
from afterstate.players.basic import Random
from afterstate.players.perfect import AB, ABDL, Perfect
from afterstate.search import max_n
from oracles.solver import Solver

game = games.load("connect4")


@pytest.fixture(autouse=True)
def memory_file(tmp_path, monkeypatch):
    """Keep the tests' answers out of the repository's cache."""
    monkeypatch.setattr(connect4_oracle, "memory_file", lambda: tmp_path / "kept" / "answers.npz")
    return connect4_oracle.memory_file()


needs_engine = pytest.mark.skipif(
    not connect4_oracle.available(), reason="the optional engine is not installed: make engines"
)


def wins_at_once(s):
    return any(game.over(game.play(s, a)) for a in game.legal(s))


def any_position(random, stones):
    """A running position by random play."""
    while True:
        s = game.start()
        for _ in range(stones):
            if game.over(s):
                break
            s = game.play(s, random.choice(game.legal(s)))
        if not game.over(s):
            return s


def quiet_position(random, stones):
    """The same, without a win at once for the player to move: there is more to solve."""
    while True:
        s = any_position(random, stones)
        if not wins_at_once(s):
            return s


# ----------------------------------------------------------------------------------- our own solver


@pytest.mark.parametrize(
    "name, params, plies",
    [
        ("tictactoe", {}, 0),
        ("tictactoe", {}, 2),
        ("nim", {}, 1),
        ("nim", {"misere": True}, 1),
        ("tictactoe", {"rows": 3, "columns": 4}, 1),
    ],
)
def test_alphabeta_equals_minimax(name, params, plies):
    other = games.load(name, **params)
    solver = Solver(other, table_bits=10)  # small: entries replace each other
    for s, _ in arena.starts_all(other, plies):
        player = other.player(s)
        assert solver.values(s).tolist() == max_n.values(other, s, 99)[:, player].tolist()
        assert solver.value(s) == solver.values(s).max()


def test_alphabeta_handles_rewards_on_the_way_and_extra_turns():
    def start(s, rng):
        s[0] = s[1] = s[2] = 0

    def legal(s, moves):
        moves[0], moves[1], moves[2] = 0, 1, 2
        return 3

    def play(s, a):  # take 1 to 3 steps; multiples of 3 pay the mover and let him move again
        s[0] += a + 1
        if s[0] % 3 == 0:
            s[2] += (s[0] % 4 + 1) * (1 - 2 * s[1])
        else:
            s[1] = 1 - s[1]

    def player(s):
        return s[1]

    def over(s):
        return s[0] >= 17

    def score(s, r):
        r[0] = s[2]
        r[1] = -s[2]

    def board(s, cells):
        cells[0] = min(s[0], 19)

    race = Game(
        "race",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        players=2,
        actions=3,
        max_legal=3,
        size=3,
        num_codes=[20],
        score_range=(-30.0, 30.0),
    )
    for s, _ in arena.starts_all(race, 2):
        assert (
            Solver(race, table_bits=8).values(s).tolist()
            == max_n.values(race, s, 99)[:, race.player(s)].tolist()
        )


def test_alphabeta_refuses_what_it_can_not_solve():
    with pytest.raises(ValueError, match="two players without chance"):
        Solver(games.load("nim3p"))
    with pytest.raises(ValueError, match="table_bits must be a whole number from 4 to 28, not 40"):
        Solver(game, table_bits=40)
    with pytest.raises(ValueError, match="1,000 positions were not enough"):
        Solver(game, table_bits=10).value(game.start(), limit=1000)
    with pytest.raises(ValueError, match="the game is over"):
        Solver(game, table_bits=10).value(game.after([0, 1, 0, 1, 0, 1, 0]))


@pytest.mark.engine
@needs_engine
def test_both_solvers_agree_late_in_the_game():
    random, solver = np.random.default_rng(7), Solver(game)
    results = []
    for number in range(320):
        s = (quiet_position if number % 2 else any_position)(random, 24 + number % 9)
        ours, theirs = solver.values(s), connect4_oracle.oracle().scores(s)
        assert ours.tolist() == np.sign(theirs).tolist(), game.render(s)
        results += ours.tolist()
    assert min(results.count(v) for v in (-1, 0, 1)) > 30


# ------------------------------------------------------------------------------------ what they say


@pytest.mark.engine
@needs_engine
def test_known_values():
    oracle = connect4_oracle.oracle()
    assert oracle.scores(game.start()).tolist() == [-2, -1, 0, 1, 0, -1, -2]
    assert oracle.moves(game.start(), "sign") == oracle.moves(game.start(), "best") == (3,)
    s = game.after([0, 6, 0, 6, 0])  # the second player must block ...
    assert oracle.moves(s, "best") == (0,)
    # ... and has not: the first wins now, by column 0
    s = game.play(s, 6)
    assert oracle.moves(s, "best") == (0,) and oracle.value(s) == (42 - 6) // 2
    with pytest.raises(ValueError, match="the game is not over"):
        oracle.moves(game.play(s, 0), "sign")


@pytest.mark.engine
@needs_engine
def test_cheap_questions_agree_with_all_scores():
    random, oracle = np.random.default_rng(5), connect4_oracle.Oracle()
    for number in range(210):
        # just beyond the book the scores take longest
        stones = number % 35 if number % 35 not in (12, 13) else 11
        s = any_position(random, stones)
        scores, legal = oracle.scores(s), game.legal(s)
        assert oracle.moves(s, "best") in (
            tuple(legal[scores == scores.max()]),
            tuple(legal[scores == scores.max()][::-1]),
        )
        best = np.sign(scores) == np.sign(scores.max())
        assert sorted(oracle.moves(s, "sign")) == legal[best].tolist()
        assert oracle.value(s) == scores.max() and oracle.value(s, "sign") == np.sign(scores.max())


@pytest.mark.engine
@needs_engine
def test_mirrored_positions_share_answers():
    oracle = connect4_oracle.Oracle()
    path = [3, 2, 2, 0, 5, 5, 1]
    scores = oracle.scores(game.after(path))
    mirrored = oracle.scores(game.after([6 - a for a in path]))
    assert (
        oracle.searched == 1
        and mirrored.tolist() == scores[::-1].tolist()
        and len(set(scores.tolist())) > 1
    )


@pytest.mark.engine
@needs_engine
def test_memory_is_kept_in_a_file(tmp_path):
    path, states = (
        tmp_path / "answers.npz",
        [game.after(p) for p in ([], [3], [3, 3, 1], [0, 1, 2, 3])],
    )
    first, second = connect4_oracle.Oracle(), connect4_oracle.Oracle()
    answers = [
        (first.moves(s, "sign"), first.moves(s, "best"), first.scores(s).tolist()) for s in states
    ]
    first.save(path)
    second.moves(game.after([6, 5, 5]), "best")
    second.save(path)
    third = connect4_oracle.Oracle()
    third.load(path)
    assert [
        (third.moves(s, "sign"), third.moves(s, "best"), third.scores(s).tolist()) for s in states
    ] == answers
    third.moves(game.after([6, 5, 5]), "best")
    # nothing had to be searched, so no engine was loaded
    assert third.searched == 0 and third._core is None
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="answers.npz is damaged"):
        third.load(path)


def test_without_the_engine(monkeypatch):
    def refuse(name, *args, **kwargs):
        if name.startswith("bitbully"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    real = builtins.__import__
    for name in [m for m in sys.modules if m.startswith("bitbully")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(connect4_oracle.EngineMissing, match="make engines.*bitbully==0.0.79"):
        connect4_oracle.Oracle().scores(game.start())


# -------------------------------------------------------------------------------------- the players


@pytest.mark.engine
@needs_engine
@pytest.mark.parametrize("make", [AB, ABDL], ids=["AB", "AB-DL"])
def test_never_loses_a_won_game(make):
    opponents = {"random": Random(), "AB": AB(), "AB-DL": ABDL()}
    perfect = pickle.loads(pickle.dumps(make()))
    for name, episodes in (("random", 160), ("AB", 20), ("AB-DL", 20)):
        table = arena.matches(
            game,
            {"perfect": perfect, "other": opponents[name]},
            None,
            episodes,
            seed=2,
            seats=[("perfect", "other")],
        )
        mine = table[table.player == "perfect"]
        assert (mine.error == "").all() and (mine.score == 1).all() and len(mine) == episodes
        if make is ABDL and name == "AB-DL":
            # the longest resistance against the fastest win: 41 plies
            assert set(mine.plies) == {41}


@pytest.mark.engine
@needs_engine
def test_ab_wins_and_loses_at_random_and_abdl_does_not():
    ab, ab_dl = AB(), ABDL()
    for player in (ab, ab_dl):
        player.new_match(game, [], 0, 1)
    lost = game.after([3, 0, 2])  # the second player to move: every move loses, one of them latest
    assert connect4_oracle.oracle().value(lost) < 0
    chosen = {ab.choose(lost) for _ in range(200)}
    assert chosen == set(game.legal(lost).tolist())
    assert (
        {ab_dl.choose(lost) for _ in range(50)}
        == set(connect4_oracle.oracle().moves(lost, "best"))
        < chosen
    )
    won = game.after([0, 6, 0, 6, 0, 6])  # wins at once by column 0
    assert {ab_dl.choose(won) for _ in range(20)} == {0}
    scores = connect4_oracle.oracle().scores(won)
    assert {ab.choose(won) for _ in range(200)} == set(game.legal(won)[scores > 0].tolist())
    assert (
        ab.values(won).tolist() == np.sign(scores).tolist()
        and ab_dl.values(won).tolist() == scores.tolist()
    )
    with pytest.raises(ValueError, match="connect4 on 6 x 7 only"):
        ab.new_match(games.load("nim"), [], 0, 1)
    with pytest.raises(ValueError, match="'AB', 'AB-DL', 'AB-DL-8', not 'XY'"):
        Perfect("XY")


@pytest.mark.engine
@needs_engine
def test_abdl8_plays_the_opening_of_a_lost_game_like_ab_and_the_rest_like_abdl():
    player, ask = Perfect("AB-DL-8"), connect4_oracle.oracle()
    player.new_match(game, [], 0, 1)
    for moves, question in (
        ([3, 0, 2], "sign"),
        ([3, 0, 2, 5, 5, 3, 4], "sign"),
        ([3, 0, 2, 5, 5, 3, 4, 1, 3], "best"),
    ):
        # the second player to move, and lost; the stone to come is the 4th, 8th and 10th
        s = game.after(moves)
        scores = ask.scores(s)
        assert scores.max() < 0 and len(set(scores.tolist())) > 1
        assert {player.choose(s) for _ in range(100)} == set(ask.moves(s, question))
        assert (
            player.values(s).tolist()
            == (np.sign(scores) if question == "sign" else scores).tolist()
        )
    assert PerfectPlay(("AB-DL-8",), "first").name == "perfect play, first, AB-DL-8"


@pytest.mark.engine
@needs_engine
def test_evaluation(memory_file, monkeypatch, caplog):
    monkeypatch.setattr(connect4_oracle, "SAVE_EVERY", 10)
    monkeypatch.setattr(connect4_oracle, "_shared", [])
    evaluate = PerfectPlay(episodes=3)
    found = evaluate(game, ABDL(), seed=1)
    searched = connect4_oracle.oracle().searched
    assert searched > 0 and memory_file.exists()
    # as a new process: it finds the answers, and the same result
    monkeypatch.setattr(connect4_oracle, "_shared", [])
    assert evaluate(game, ABDL(), seed=1) == found and connect4_oracle.oracle().searched < searched
    memory_file.write_bytes(b"damaged")
    monkeypatch.setattr(connect4_oracle, "_shared", [])
    assert (
        connect4_oracle.oracle().memory["sign"] == {}
        and "is damaged" in caplog.text
        and not memory_file.exists()
    )
    assert found == {
        "score_first:AB": 1,
        "win_rate_first_only:AB": 50,
        "score_second:AB": -1,
        "win_rate:AB": 50,
        "score_first:AB-DL": 1,
        "win_rate_first_only:AB-DL": 50,
        "score_second:AB-DL": -1,
        "win_rate:AB-DL": 50,
    }
    found = PerfectPlay(("AB",), "first", 5)(game, Random(), seed=1)
    assert (
        found == {"score_first:AB": -1, "win_rate_first_only:AB": 0}
        and PerfectPlay(roles="first").name == "perfect play, first"
    )
    with pytest.raises(ValueError, match="roles must be"):
        PerfectPlay(roles="second")
    with pytest.raises(RuntimeError, match="2 of the 2 matches against AB failed.*column 9"):
        PerfectPlay(("AB",), "first", 2)(
            game, lambda state: int("9") if state[4] else _fail(), seed=1
        )


def _fail():
    raise RuntimeError("column 9")


@pytest.mark.engine
@needs_engine
def test_judge_finds_mistakes():
    assert judge(game, [3, 3, 3, 3, 3, 3, 2])[:2] == [(0, 1, 1), (1, -1, -1)]
    assert judge(game, [0])[0] == (0, 1, -1)
    last = judge(game, [0, 6, 0, 6, 0, 6, 0])
    assert (
        last[-1] == (6, 1, 1)
        and last[5][1:] == (-1, -1)
        and any(after < before for _, before, after in last)
    )
