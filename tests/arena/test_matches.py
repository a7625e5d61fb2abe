"""Matches: seats, starts, seeds, failures; evaluations against perfect play."""

import logging
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from afterstate import arena, games, players
from afterstate.evaluators.matches import NIM, NIM3P, TICTACTOE, Matches
from afterstate.networks import ntuple
from afterstate.players.basic import Random
from afterstate.players.searching import MaxN
from afterstate.studies.identity import evaluator_identity


@pytest.fixture(scope="module")
def game():
    return games.load("tictactoe")


class Recorder:
    """Plays the first legal action, keeps what it is told, and spoils the states it is given."""

    def new_match(self, game, actions_from_start, seat, seed):
        self.game, self.told = game, [("new", actions_from_start, seat)]

    def choose(self, state):
        action = self.game.legal(state)[0]
        state[:] = 0
        return action

    def observe(self, action, state):
        self.told.append((action, state.tolist()))

    def close(self):
        self.told.append("closed")


def first(game):
    """A player that takes the first legal action."""
    return lambda state: game.legal(state)[0]


# ---------------------------------------------------------------------------------------- one match


def test_match_is_decided_by_its_seed(game):
    results = [arena.match(game, [Random(), Random()], seed=k) for k in range(30)]
    again = [arena.match(game, [Random(), Random()], seed=k) for k in reversed(range(30))][::-1]
    assert [r.moves for r in results] == [r.moves for r in again] and len(
        {tuple(r.moves) for r in results}
    ) == 30
    for result in results:
        s = game.after(result.moves)
        assert game.over(s) and np.array_equal(game.score(s), result.scores)


def test_players_are_told_everything(game):
    recorder, start = Recorder(), arena.Start(game.after([8]), [8])
    result = arena.match(game, [first(game), recorder], start)
    assert game.over(game.after([8, *result.moves]))
    assert recorder.told[0] == ("new", [8], 1) and recorder.told[-1] == "closed"
    assert [action for action, _ in recorder.told[1:-1]] == result.moves
    assert recorder.told[-2][1] == game.after([8, *result.moves]).tolist()


def test_one_object_may_take_several_seats():
    game = games.load("nim3p")
    random = Random()
    one = arena.match(game, [random, random, random], seed=3)
    assert one.moves == arena.match(game, [Random(), Random(), Random()], seed=3).moves


def test_match_errors(game):
    with pytest.raises(ValueError, match="tictactoe has 2 seats, 3 players"):
        arena.match(game, [Random()] * 3)
    with pytest.raises(ValueError, match="terminal"):
        arena.match(game, [Random()] * 2, (game.after([0, 3, 1, 4, 2]), [0, 3, 1, 4, 2]))
    with pytest.raises(RuntimeError, match="within 3 plies"):
        arena.match(game, [Random()] * 2, max_plies=3)

    def broken(state):
        raise KeyError("lost the book")

    with pytest.raises(KeyError) as caught:
        arena.match(game, [Random(), broken])
    assert caught.value.__notes__ == ["raised by broken in seat 1 of tictactoe"]


# ------------------------------------------------------------------------------------- many matches


def test_long_table(game):
    starts = arena.starts_upto(game, 1)
    table = arena.matches(
        game, {"random": Random(), "first": first(game)}, starts, episodes=2, seed=9
    )
    assert list(table) == [
        "match",
        "start",
        "episode",
        "seat",
        "player",
        "score",
        "plies",
        "error",
        "moves",
    ]
    assert len(table) == 10 * 2 * 2 * 2 and table.match.nunique() == 40
    assert (table.groupby("match").score.sum() == 0).all() and (
        table.groupby("match").player.nunique() == 2
    ).all()
    assert (
        table.groupby(["start", "episode", "player"]).seat.apply(sorted).apply(list)
        == [[0, 1]] * 40
    ).all()
    assert table.plies.between(4, 9).all() and (table.error == "").all()


def test_rows_do_not_depend_on_other_players_starts_or_episodes(game):
    starts = arena.starts_all(game, 1)
    field = {"a": Random(), "b": MaxN(2), "c": first(game)}
    large = arena.matches(game, field, starts, episodes=2, seed=1)
    small = arena.matches(game, {"b": MaxN(2), "a": Random()}, starts[:3], seed=1)
    for match, rows in small.groupby("match"):
        names, same = (
            rows.player.tolist(),
            large[(large.start == rows.start.iloc[0]) & (large.episode == 0)],
        )
        twin = next(g for _, g in same.groupby("match") if g.player.tolist() == names)
        assert (
            twin.score.tolist() == rows.score.tolist()
            and twin.plies.tolist() == rows.plies.tolist()
        )


def test_seatings(game):
    three = games.load("nim3p")
    assert arena.seatings(game, ["A", "B"]) == [("A", "B"), ("B", "A")]
    assert len(arena.seatings(game, list("ABCD"))) == 12
    assert (
        len(arena.seatings(three, list("ABC"))) == 6
        and len(arena.seatings(three, list("ABCD"))) == 24
    )
    assert arena.seatings(three, ["A", "B"], "first") == [
        ("A", "B", "B"),
        ("B", "A", "B"),
        ("B", "B", "A"),
    ]
    assert arena.seatings(three, ["A", "B", "C"], "first") == [
        ("A", "B", "C"),
        ("B", "A", "C"),
        ("B", "C", "A"),
    ]
    assert len(set(arena.seatings(three, ["A", "B"]))) == 6
    assert arena.seatings(three, ["A"]) == [("A", "A", "A")]
    assert arena.seatings(game, ["A", "B"], [("A", "A")]) == [("A", "A")]
    for wrong in ("some", [("A",)], [("A", "Z")]):
        with pytest.raises(ValueError, match="seat"):
            arena.seatings(game, ["A", "B"], wrong)


def test_a_failing_player_costs_its_match_only(game, caplog):
    def sometimes(state):
        if state[4] != 1:  # the centre is taken
            raise RuntimeError("no idea")
        return 4 if game.player(state) == 1 else game.legal(state)[0]

    with caplog.at_level(logging.WARNING, logger="afterstate.arena.matches"):
        table = arena.matches(
            game, {"sometimes": sometimes, "first": first(game)}, arena.starts_all(game, 1), seed=2
        )
    failed = table[table.error != ""]
    assert (
        0 < failed.match.nunique()
        and len(failed) == 2 * failed.match.nunique()
        and failed.score.isna().all()
    )
    assert failed.error.str.contains("RuntimeError: no idea; raised by sometimes in seat").all()
    assert len(caplog.records) == failed.match.nunique()
    summary = arena.summary(table)
    assert (summary["matches"] + summary["errors"] == 18).all() and (
        summary["errors"] == failed.match.nunique()
    ).all()


def test_matches_errors(game):
    for arguments in ({"players": {}}, {"starts": []}, {"episodes": 0}, {"episodes": 2.5}):
        with pytest.raises(ValueError, match="matches need players, starts and episodes"):
            arena.matches(**({"game": game, "players": {"a": Random()}} | arguments))
    with pytest.raises(TypeError, match="function state -> action"):
        arena.matches(game, {"a": 7})


def test_win_rate():
    assert arena.win_rate([1, 0, -1, 1]) == 0.625 and arena.win_rate([1, np.nan]) == 1.0
    assert arena.win_rate([0.4], (0, 1)) == 0.4


# ------------------------------------------------------------------------------------------- starts


@pytest.mark.slow
def test_starts(game):
    assert [len(arena.starts_all(game, k)) for k in (0, 1, 2, 3)] == [1, 9, 72, 504]
    assert len(arena.starts_upto(game, 1)) == 10
    assert len(arena.starts_all(game, 5)) == 15120 - 1440  # without the games that X has won
    for state, actions in arena.starts_all(game, 2) + arena.starts_random(
        games.load("tictactoe"), 20, 3
    ):
        assert np.array_equal(game.after(actions), state)
    drawn = arena.starts_random(game, 400, 3)
    assert [s.actions for s in drawn] == [s.actions for s in arena.starts_random(game, 400, 3)]
    assert 160 < sum(s.actions == [] for s in drawn) < 240 and {len(s.actions) for s in drawn} == {
        0,
        1,
    }
    for call in (lambda: arena.starts_all(game, -1), lambda: arena.starts_random(game, 0)):
        with pytest.raises(ValueError, match="at least"):
            call()


# --------------------------------------------------------------------------------------- evaluators


def test_perfect_play_gives_the_known_values():
    for name, evaluator, metric, value in (
        ("tictactoe", TICTACTOE, "win_rate:Max-N-10", 50.0),
        ("nim", NIM, "win_rate:Max-N-15", 50.0),
        ("nim3p", NIM3P, "score:Max-N-15", 0.4),
    ):
        result = evaluator(games.load(name), MaxN(15), seed=4)
        assert result[metric] == pytest.approx(value), (name, result)


def test_evaluator_plays_what_the_papers_play():
    for name, evaluator, num_matches in (
        ("tictactoe", TICTACTOE, 20),
        ("nim", NIM, 20),
        ("nim3p", NIM3P, 300),
    ):
        table = evaluator.matches(games.load(name), Random(), 1)
        assert table.match.nunique() == num_matches
        mine = table[table.player == "agent"]
        assert len(mine) == num_matches and mine.seat.value_counts().nunique() == 1


def test_evaluator_takes_networks_sessions_and_players():
    game = games.load("nim")
    net = ntuple.Network(game, [range(3)])

    class Session:
        def train(self, num_episodes):
            """Learn; a session is told from other owners of a network by that."""

    session = Session()
    session.net = net
    expected = NIM(game, players.Greedy(net), 5)
    assert NIM(game, net, 5) == expected == NIM(game, session, 5)
    assert set(expected) == {"win_rate:Max-N-15", "score:Max-N-15"}
    assert expected["win_rate:Max-N-15"] == pytest.approx(50 * (1 + expected["score:Max-N-15"]))


def test_evaluator_counts_failures(game):
    def broken(state):
        raise RuntimeError("no idea")

    with pytest.raises(
        RuntimeError,
        match="all 20 matches against Max-N-10 failed; the first: RuntimeError: no idea",
    ):
        TICTACTOE(game, broken)

    def first_unless_second(state):
        if game.player(state) == 1:
            raise RuntimeError("only as X")
        return game.legal(state)[0]

    result = TICTACTOE(game, first_unless_second)
    assert result["errors:Max-N-10"] == 10.0 and np.isfinite(result["win_rate:Max-N-10"])


SCRIPT = """
import pickle, sys
from afterstate import games, players
from afterstate.evaluators.matches import NIM, NIM3P, TICTACTOE
for name in sys.argv[1].split(","):
    known = {"tictactoe": TICTACTOE, "nim": NIM, "nim3p": NIM3P}
    evaluator = pickle.loads(pickle.dumps(known[name]))
    print(name, sorted(evaluator(games.load(name), players.Random(), 11).items()))
"""


@pytest.mark.slow
def test_same_numbers_in_other_processes_and_orders():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, order], capture_output=True, text=True, check=True
        ).stdout.split("\n")
        for order in ("tictactoe,nim,nim3p", "nim3p,nim,tictactoe")
    ]
    assert sorted(outputs[0]) == sorted(outputs[1])
    here = str(sorted(NIM3P(games.load("nim3p"), Random(), 11).items()))
    assert f"nim3p {here}" in outputs[0]


def test_settings_are_plain_data():
    assert (
        pickle.loads(pickle.dumps(NIM)).settings
        == NIM.settings
        == {
            "opponent": {"player": "MaxN", "version": 1, "arguments": [15, {}]},
            "starts": ["random", 10],
            "episodes": 1,
            "metrics": ["win_rate", "score"],
        }
    )


# ---------------------------------------------- probabilities that are known exactly, by many games


def outcome_shares(game, first_player, second_player, n):
    table = arena.matches(
        game, {"x": first_player, "o": second_player}, episodes=n, seed=6, seats=[("x", "o")]
    )
    scores = table[table.seat == 0].score
    return pd.Series(
        {"win": (scores == 1).mean(), "draw": (scores == 0).mean(), "loss": (scores == -1).mean()}
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "x, o, win, loss",
    [
        (Random(), Random(), 737 / 1260, 121 / 420),
        (MaxN(10), Random(), 75257 / 77760, 0.0),
        (Random(), MaxN(10), 0.0, 2645 / 3402),
    ],
    ids=["random-random", "perfect-random", "random-perfect"],
)
def test_exact_probabilities_of_tictactoe(game, x, o, win, loss):
    n = 2000
    shares = outcome_shares(game, x, o, n)
    for got, p in ((shares.win, win), (shares.loss, loss)):
        assert abs(got - p) <= 4.0 * np.sqrt(p * (1 - p) / n), (shares, p)


def test_the_short_version_plays_fewer_starts_and_is_no_other_evaluator_to_the_records():
    full = Matches("Random", Random, starts=("all", 2), probe_starts=("all", 0))
    assert full.short().starts == ("all", 0)
    assert evaluator_identity(full) == evaluator_identity(
        Matches("Random", Random, starts=("all", 2))
    )
    assert "probe_starts" not in str(evaluator_identity(full))
    assert Matches("Random", Random, starts=("all", 2)).short().starts == ("all", 2)
    game = games.load("tictactoe")
    assert len(full.short().matches(game, Random())) == 2 * 2 < len(full.matches(game, Random()))
