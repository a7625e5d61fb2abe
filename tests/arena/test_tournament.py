"""Tournaments: the matches of arena.matches, standings that follow from them, and resuming."""

import numpy as np
import pandas as pd
import pytest

from afterstate import arena, games, players
from afterstate.arena import ratings
from afterstate.arena.tournament import Standings
from afterstate.learners import td

game, tictactoe = games.load("nim"), games.load("tictactoe")


@pytest.fixture
def pool():
    return {"Max-N": players.MaxN(15), "Random": players.Random(), "MCTS": players.MCTS(20)}


def standings(rows):
    """Those of matches in Tic-Tac-Toe: (player in seat 0, in seat 1, score of seat 0)."""
    columns = ["match", "start", "episode", "seat", "player", "score", "plies", "error", "moves"]
    found = []
    for k, (a, b, score) in enumerate(rows):
        found += [(k, 0, 0, 0, a, score, 1, "", str(k)), (k, 0, 0, 1, b, -score, 1, "", str(k))]
    return Standings(tictactoe, pd.DataFrame(found, columns=columns))


@pytest.mark.slow
def test_the_matches_are_those_of_arena_matches_whatever_the_workers(pool):
    table = arena.tournament(game, pool, episodes=3, seed=5)
    alone = arena.matches(game, pool, episodes=3, seed=5)
    pd.testing.assert_frame_equal(table.table, alone)
    assert len(set(alone.moves)) > 5 and alone.score.notna().all()
    two = arena.tournament(game, pool, episodes=3, seed=5, workers=2)
    pd.testing.assert_frame_equal(two.table, alone)


def test_a_stopped_tournament_goes_on_where_it_was(pool, tmp_path):
    path, asked = tmp_path / "nim.jsonl", []

    def counting(state):
        asked.append(1)
        return game.legal(state)[0]

    pool["first"] = counting
    whole = arena.tournament(game, pool, episodes=2, path=path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 24 and len(asked) > 20
    # the process ended in the middle of the eleventh match's line
    path.write_text("\n".join(lines[:11]) + "\n" + lines[11][:7])
    before, asked[:] = len(asked), []
    resumed = arena.tournament(game, pool, episodes=2, path=path)
    pd.testing.assert_frame_equal(resumed.table, whole.table)
    assert 0 < len(asked) < before and len(path.read_text().splitlines()) == 25


def test_a_file_of_other_matches_is_refused(pool, tmp_path):
    path = tmp_path / "nim.jsonl"
    pool["net"] = session = td.Session(game, {"tuples": "nim-1x3"}, seed=1)
    arena.matches(game, pool, path=path)

    def refused(others, seed=0):
        with pytest.raises(ValueError, match="nim.jsonl is no file of these matches"):
            arena.matches(game, others, seed=seed, path=path)

    refused(pool, seed=1)
    refused(pool | {"MCTS": players.MCTS(30)})
    session.train(50)  # weights tell players of the same name apart
    refused(pool)
    path.write_text("something else")
    refused(pool)
    assert path.read_text() == "something else"


@pytest.mark.slow
def test_cross_table_draws_ratings_and_cycles_follow_from_the_scores():
    rows = [("a", "b", 1.0)] * 3 + [("b", "a", 0.0)] * 2 + [("a", "c", -1.0)] + [("c", "b", 1.0)]
    table = standings(rows)
    assert table.cross.loc["a", "b"] == pytest.approx(100 * 4 / 5)
    assert table.cross.loc["b", "a"] == pytest.approx(100 * 1 / 5)
    assert np.isnan(table.cross.loc["a", "a"])
    assert table.ratings.set_index("player").draws["a"] == pytest.approx(100 * 2 / 6)
    found = table.results.set_index(["first", "second"])
    expected = {("a", "b"): [3, 0, 0], ("b", "a"): [0, 2, 0], ("a", "c"): [0, 0, 1]}
    assert {pair: found.loc[pair].tolist() for pair in expected} == expected
    by_hand = ratings.ratings(table.results)
    pd.testing.assert_frame_equal(table.ratings[by_hand.columns], by_hand)
    pd.testing.assert_frame_equal(ratings.ratings(table.table), by_hand)
    assert list(table.ratings.player)[0] == "c" and list(table.cross) == list(table.ratings.player)
    table = standings([(*pair, 1.0) for pair in ("ab", "bc", "ca")] * 20)
    assert table.cycles == [("a", "b", "c")] and "no single scale" in table.remarks[0]


@pytest.mark.slow
def test_players_without_chance_repeat_one_game_and_it_is_said():
    pool = {"first": players.MinMax(9), "second": players.MinMax(2), "Random": players.Random()}
    table = arena.tournament(tictactoe, pool, episodes=5)
    assert table.different.loc["first", "second"] == pytest.approx(20)  # one for each seating
    assert table.different.loc["first", "Random"] > 50
    assert "first - second (20%)" in repr(table) and "first - second" in table._repr_html_()
    ax = table.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(table.ratings.player)
    shown = {text.get_text() for text in ax.texts}
    assert shown == {f"{rating:+.0f}" for rating in table.ratings.rating}


@pytest.mark.slow
def test_three_seats_are_compared_two_by_two():
    pool = {"Max-N": players.MaxN(15), "a": players.Random(), "b": players.Random()}
    table = arena.tournament(games.load("nim3p"), pool, episodes=4)
    assert table.table.match.nunique() == 24 and len(table.results) == 6
    assert table.results[["wins", "draws", "losses"]].to_numpy().sum() == 3 * 24
    assert table.ratings.player[0] == "Max-N" and "not independent" in table.remarks[-1]


def test_failed_matches_do_not_count_and_what_is_no_tournament_is_refused(pool):
    def broken(state):
        raise RuntimeError("out of order")

    table = arena.tournament(game, pool | {"broken": broken}, episodes=1)
    assert set(table.ratings.player) == set(pool)
    assert "6 matches failed" in table.remarks[0]
    for name, given, words in (
        ("nim", {"broken": broken, "Random": players.Random()}, "out of order"),
        ("nim", {"Random": players.Random()}, "at least two"),
        ("game2048", pool, "one seat"),
    ):
        with pytest.raises(ValueError, match=words):
            arena.tournament(games.load(name), given, episodes=1)
