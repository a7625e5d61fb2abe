"""Evaluators of single games: Hex from won positions; points, tiles and values of 2048."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.evaluators.game2048 import Scores2048, best_move, play_alone
from afterstate.evaluators.hex import HEX_STARTS, HEX_WON_STARTS, WonStarts
from afterstate.games import calls
from afterstate.games.rules import game2048
from afterstate.kernel.random import new_rng, seed_from
from afterstate.learners import td
from afterstate.networks import ntuple

hex3, game = games.load("hex", size=3), games.load("game2048")


def small_net(game, seed=0):
    """A network with random weights."""
    net = ntuple.Network(game, [[0, 1, 4], [5, 6, 9]], sigmoid=False)
    net.arrays.weights[:] = (
        np.random.default_rng(seed).normal(size=len(net.arrays.weights)).astype(np.float32) * 0.001
    )
    return net


# ---------------------------------------------------------------------------------------------- Hex


def test_half_of_the_board_stands_for_all_first_plies():
    starts = arena.starts_after(games.load("hex"), HEX_STARTS)
    assert (
        len(starts) == 22
        and starts[0].actions == []
        and [s.actions[0] for s in starts[1:8]] == [0, 1, 2, 3, 4, 5, 6]
    )
    first = {s.actions[0] for s in starts[1:]}
    assert first | {35 - cell for cell in first} == set(range(36))
    assert {actions for actions, _ in HEX_WON_STARTS} <= set(HEX_STARTS)


def test_won_starts_take_the_given_side():
    class Recorder(players.Random):
        """A random player that notes where it sits."""

        seats = []

        def new_match(self, game, actions_from_start, seat, seed):
            Recorder.seats.append((tuple(actions_from_start), seat))
            super().new_match(game, actions_from_start, seat, seed)

    won = WonStarts("Max-N-9", lambda: players.MaxN(9), (((), 0), ((4,), 0), ((0,), 1)), episodes=2)
    found = won(hex3, Recorder(), seed=1)
    assert Recorder.seats == [((), 0)] * 2 + [((4,), 0)] * 2 + [((0,), 1)] * 2
    assert set(found) == {"win_rate_won:Max-N-9", "score_won:Max-N-9"} and found[
        "win_rate_won:Max-N-9"
    ] == pytest.approx(50 * (1 + found["score_won:Max-N-9"]))
    assert won(hex3, players.MaxN(9), seed=1)["win_rate_won:Max-N-9"] == 100.0
    assert won.settings["starts"] == [[[], 0], [[4], 0], [[0], 1]]


def test_a_failing_opponent_is_an_error():
    with pytest.raises(
        RuntimeError,
        match="2 of 2 matches against broken from \\[\\] failed; the first: IllegalAction",
    ):
        WonStarts("broken", lambda: players.wrap(lambda state: 99), (((), 0),), episodes=2)(
            hex3, players.Random()
        )


# --------------------------------------------------------------------------------------------- 2048


def test_learned_values_play_better_than_random_ones():
    session = td.Session(
        game,
        dict(
            tuples=[[0, 1, 2, 3], [4, 5, 6, 7]],
            alpha=1.0,
            epsilon=0.0,
            tc="id",
            sigmoid=False,
            episodes=100,
        ),
        seed_from("test"),
    )
    before = Scores2048(games=50)(game, session, seed=3)
    session.train(100)
    after = Scores2048(games=50)(game, session, seed=3)
    assert after["score"] > 1.5 * before["score"] and after["moves"] > before["moves"]
    assert (
        before["mean_value"]
        == before["end_value"]
        == 0.0
        < after["end_value"]
        < after["mean_value"]
    )


@pytest.mark.parametrize("raw", [False, True])
def test_one_game_step_by_step(raw):
    ours = games.load("game2048", raw_score=raw)
    net, s, moves, values, found = (
        small_net(ours),
        np.zeros(3, np.int32),
        np.zeros(4, np.int32),
        np.zeros(4),
        np.zeros(3),
    )
    net.arrays.weights[:] *= 1e6 if raw else 1.0
    play_alone(ours.rules, net.arrays, 1.0, s, moves, values, new_rng(5), net._work, found)
    t, rng, seen = np.zeros(3, np.int32), new_rng(5), []
    calls.call_start(ours.rules, t, rng)
    while not ours.over(t):
        merits = net.action_values(t)
        place = best_move(merits, len(merits), rng)
        assert merits[place] == merits.max()
        t = ours.play(t, int(ours.legal(t)[place]))
        seen.append(net.value(t, 0))
        t = ours.chance(t, rng)
    assert np.array_equal(s, t) and found.tolist() == pytest.approx(
        [len(seen), sum(seen), seen[-1]]
    )


def test_metrics_and_units():
    plain, raw = (games.load("game2048", raw_score=raw) for raw in (False, True))
    a = Scores2048(games=20)(plain, small_net(plain), seed=1)
    assert (
        a
        == Scores2048(games=20)(plain, small_net(plain), seed=1)
        != Scores2048(games=20)(plain, small_net(plain), seed=2)
    )
    assert {"score", "score_best", "moves", "mean_value", "end_value", "tile:2048"} <= set(a) and a[
        "score_best"
    ] >= a["score"] > 100
    for ours in (plain, raw):
        net = ntuple.Network(ours, [[0]], sigmoid=False, distinct_symmetries=False)
        net.arrays.weights[:] = ours.score_range[1] / 4 / 8  # one corner cell on eight boards
        found = Scores2048(games=10)(ours, net, seed=1)
        assert (
            found["end_value"]
            == pytest.approx(game2048.MAX_SCORE / 4, rel=1e-5)
            == pytest.approx(found["mean_value"], rel=1e-5)
        )


def test_bad_input_is_named():
    for bad in (0, True, 2.5):
        with pytest.raises(ValueError, match="games must be a whole number of at least 1"):
            Scores2048(games=bad)
    with pytest.raises(ValueError, match="gamma must be above 0 and at most 1, not 0.0"):
        Scores2048(gamma=0.0)
    with pytest.raises(ValueError, match="plays game2048 only"):
        Scores2048()(hex3, players.Random())
