"""Matches: seats, starts, seeds, failures; probabilities that are known exactly."""

import numpy as np
import pytest

from afterstate import arena, games
from afterstate.arena.contest import contest
from afterstate.arena.matches import play_on
from afterstate.kernel.random import new_rng
from afterstate.players import agents
from afterstate.players.basic import Random
from afterstate.players.searching import MaxN
from sample_games import race

game = games.load("tictactoe")


class Recorder:
    """Plays the first legal action, keeps what it hears, and spoils states."""

    def new_match(self, game, actions_from_start, seat, seed):
        self.game, self.heard = game, [("new", actions_from_start, seat)]

    def choose(self, state):
        action = self.game.legal(state)[0]
        state[:] = 0
        return action

    def observe(self, action, state):
        self.heard.append((action, state.tolist()))

    def close(self):
        self.heard.append("closed")


def first(state):
    """A player that takes the first legal action."""
    return game.legal(state)[0]


def test_match_is_decided_by_its_seed():
    results = [arena.match(game, [Random(), Random()], seed=k) for k in range(30)]
    assert results[3].moves == arena.match(game, [Random(), Random()], seed=3).moves
    assert len({tuple(r.moves) for r in results}) == 30
    for result in results:
        s = game.after(result.moves)
        assert game.over(s) and np.array_equal(game.score(s), result.scores)


def test_players_hear_of_everything():
    recorder, start = Recorder(), arena.Start(game.after([8]), [8])
    result = arena.match(game, [first, recorder], start)
    end = game.after([8, *result.moves])
    assert game.over(end) and np.array_equal(result.states[-1], end)
    assert recorder.heard[0] == ("new", [8], 1) and recorder.heard[-1] == "closed"
    assert [action for action, _ in recorder.heard[1:-1]] == result.moves
    assert [s for _, s in recorder.heard[1:-1]] == [s.tolist() for s in result.states[1:]]


def test_play_can_be_broken_off_and_go_on():
    two, steps = games.load("game2048"), []
    player, begin, rng = Random(), two.start(3), new_rng(5)
    with pytest.raises(RuntimeError, match="within 3 plies"):
        arena.match(two, [player], max_plies=3)
    player.new_match(two, [], 0, 1)
    state, made = play_on(two, [player], begin, rng, 4, steps)
    assert made == len(steps) == 4 and np.array_equal(steps[-1][1], state)
    state, more = play_on(two, [player], state, rng, steps=steps)
    assert two.over(state) and len(steps) == 4 + more
    player.new_match(two, [], 0, 1)
    end, num = play_on(two, [player], begin, new_rng(5))
    assert np.array_equal(end, state) and num == len(steps)


def test_long_table():
    both, starts = {"random": Random(), "first": first}, arena.starts_upto(game, 1)
    table = arena.matches(game, both, starts, episodes=2, seed=9)
    assert table.plies.between(4, 9).all() and (table.error == "").all()
    assert len(table) == 10 * 2 * 2 * 2 and (table.groupby("match").score.sum() == 0).all()
    seats = table.groupby(["start", "episode", "player"]).seat.apply(sorted)
    assert len(seats) == 40 and all(pair == [0, 1] for pair in seats)


def test_rows_do_not_depend_on_other_players_starts_or_episodes():
    starts, field = arena.starts_all(game, 1), {"a": Random(), "b": MaxN(2), "c": first}
    large = arena.matches(game, field, starts, episodes=2, seed=1)
    small = arena.matches(game, {"b": MaxN(2), "a": Random()}, starts[:3], seed=1)
    for _, rows in small.groupby("match"):
        same = large[(large.start == rows.start.iloc[0]) & (large.episode == 0)]
        names = rows.player.tolist()
        twin = next(g for _, g in same.groupby("match") if g.player.tolist() == names)
        assert twin.score.tolist() == rows.score.tolist()
        assert twin.moves.tolist() == rows.moves.tolist()


def test_seatings():
    three = games.load("nim3p")
    assert arena.seatings(game, ["A", "B"]) == [("A", "B"), ("B", "A")]
    assert arena.seatings(game, ["A", "B"], [("A", "A")]) == [("A", "A")]
    assert arena.seatings(three, ["A"]) == [("A", "A", "A")]
    found = [(game, "ABCD"), (three, "AB"), (three, "ABC"), (three, "ABCD")]
    assert [len(set(arena.seatings(g, list(names)))) for g, names in found] == [12, 6, 6, 24]
    seats = arena.seatings(three, ["A", "B", "C"], "first")
    assert seats == [("A", "B", "C"), ("B", "A", "C"), ("B", "C", "A")]


def test_a_failing_player_costs_its_match_only(caplog):
    def sometimes(state):
        if 8 not in game.legal(state):
            raise RuntimeError("no idea")
        return first(state)

    both, starts = {"sometimes": sometimes, "first": first}, arena.starts_all(game, 1)
    table = arena.matches(game, both, starts, seed=2)
    failed = table[table.error != ""]
    num = failed.match.nunique()
    assert 0 < num < 18 and len(failed) == 2 * num and failed.score.isna().all()
    assert failed.error.str.contains("RuntimeError: no idea; raised by sometimes in seat").all()
    assert len(caplog.records) == num
    summary = arena.summary(table)
    assert (summary["matches"] == 18 - num).all() and (summary["errors"] == num).all()
    with pytest.raises(RuntimeError, match=f"{num} of 18 matches failed; the first: .*no idea"):
        arena.matches(game, both, starts, seed=2, strict=True)


def test_a_home_made_game_that_leaves_its_arrays_is_an_error_and_no_crash():
    def wide(s, moves):
        for i in range(9):
            moves[i] = i % 2
        return 9

    for play in (
        lambda game: arena.match(game, [Random(), Random()]),
        lambda game: contest(game, agents.chance(race()), agents.chance(race())),
    ):
        with pytest.raises(ValueError, match="'legal' writes more than 2 values"):
            play(race(legal=wide))


def test_win_rate():
    assert arena.win_rate([1, 0, -1, 1]) == 0.625 and arena.win_rate([1, np.nan]) == 1.0
    assert arena.win_rate([0.4], (0, 1)) == 0.4


@pytest.mark.slow
def test_starts():
    assert [len(arena.starts_all(game, k)) for k in (0, 1, 2, 3)] == [1, 9, 72, 504]
    assert len(arena.starts_upto(game, 1)) == 10
    assert len(arena.starts_all(game, 5)) == 15120 - 1440  # without the games that X has won
    drawn = arena.starts_random(game, 400, 3)
    for state, actions in arena.starts_all(game, 2) + drawn[:20]:
        assert np.array_equal(game.after(actions), state)
    assert [s.actions for s in drawn] == [s.actions for s in arena.starts_random(game, 400, 3)]
    assert 160 < sum(s.actions == [] for s in drawn) < 240
    assert {len(s.actions) for s in drawn} == {0, 1}


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
def test_exact_probabilities_of_tictactoe(x, o, win, loss):
    n = 2000
    table = arena.matches(game, {"x": x, "o": o}, episodes=n, seed=6, seats=[("x", "o")])
    scores = table[table.seat == 0].score
    for got, p in (((scores == 1).mean(), win), ((scores == -1).mean(), loss)):
        assert abs(got - p) <= 4.0 * np.sqrt(p * (1 - p) / n)
