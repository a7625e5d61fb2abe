"""Convergence, stability, tournaments and exact results: hand-made and enumerated cases."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.arena import exact
from afterstate.arena.contest import contest
from afterstate.evaluators import convergence, snapshot_tables, snapshots
from afterstate.learners import tabular
from afterstate.networks import table
from afterstate.players import agents

GAME = games.load("tictactoe")


def test_convergence_needs_every_later_checkpoint_up_to_the_extra_games():
    episodes = np.arange(100, 10_001, 100)
    losses = np.ones(100)
    losses[40:95] = 0  # 4,100 to 9,500
    assert convergence.converged_at(episodes, losses) == 4100
    losses[60] = 1  # 6,100: lucky before
    assert convergence.converged_at(episodes, losses) is None
    assert convergence.converged_at(episodes, np.zeros(100)) == 100
    # not followed for 5,000 games
    assert convergence.converged_at(episodes[:50], np.zeros(50)) is None
    assert convergence.converged_at([], []) is None


def test_a_run_without_those_games_has_no_result():
    other = pd.DataFrame({"Nd-Min-Max:losses": [1.0, 0.0]}, index=[100, 200])
    assert convergence.convergence(other, 100) == {} and snapshot_tables.point(other, 100) == {}
    assert convergence.convergence(other, 100, "Nd-Min-Max") == {
        "convergence_games (Nd-Min-Max)": 100,
        "converged (Nd-Min-Max)": 0.0,
    }


def test_stability_is_the_first_game_after_which_the_running_share_stays():
    assert convergence.stable_at([True] * 30) == 1 and convergence.stable_at([False] * 30) == 1
    # nobody knows about the 20 games after the first one
    assert convergence.stable_at([True] * 20) is None
    series = [False] + [True] * 200
    n = convergence.stable_at(series)
    share = [100 * (k - 1) / k for k in range(1, 202)]
    assert share[n + 19] - share[n - 1] <= 1 < share[n + 18] - share[n - 2]
    # 1/2 after an even number n, and 1 / 2(n + 1) more after the next: at most 1 percent from n =
    # 50 on
    even_odd = [k % 2 == 0 for k in range(400)]
    assert convergence.stable_at(even_odd) == 50


@pytest.mark.slow
def test_exact_results_of_perfect_and_random_players():
    random, first, uniform = (
        agents.chance(GAME),
        agents.min_max(GAME),
        agents.min_max(GAME, "random"),
    )
    found = exact.graph(GAME)
    assert (len(found.states), len(found.target), int((found.mover < 0).sum())) == (
        5478,
        16167,
        958,
    )
    for a, b, known in (
        (random, random, ("737/1260", "8/63", "121/420")),
        (first, random, ("191/192", "1/192", "0")),
        (random, first, ("0", "61/315", "254/315")),
        (uniform, random, ("75257/77760", "2503/77760", "0")),
        (random, uniform, ("0", "757/3402", "2645/3402")),
        (first, uniform, ("0", "1", "0")),
    ):
        assert exact.outcome(GAME, a, b) == pytest.approx(
            [float(Fraction(x)) for x in known], abs=1e-12
        )


@pytest.mark.slow
def test_exact_results_agree_with_games():
    session = tabular.Session(GAME, {}, seed=1)
    session.train(1000)
    me, random = agents.learned(session.net), agents.chance(GAME)
    sampled = contest(GAME, me, random, 20_000, seed=2)
    assert np.array([sampled.wins, sampled.draws, sampled.losses]) / 20_000 == pytest.approx(
        np.array(exact.outcome(GAME, me, random)), abs=0.012
    )
    careless = exact.outcome(GAME, agents.learned(session.net, epsilon=1.0), random)
    assert careless == pytest.approx(exact.outcome(GAME, random, random), abs=1e-12)


def test_exact_results_are_refused_where_they_can_not_be_had():
    with pytest.raises(ValueError, match="two players"):
        exact.graph(games.load("nim3p"))
    with pytest.raises(ValueError, match="more than"):
        exact.MAX_POSITIONS, before = 1000, exact.MAX_POSITIONS
        try:
            exact.graph(games.load("connect4"))
        finally:
            exact.MAX_POSITIONS = before


def test_tournament_counts_points_as_the_paper_does():
    session = tabular.Session(GAME, {"snapshots": snapshots.milestones(400)}, seed=1)
    session.train(400)
    found = snapshots.Tournament(n=400, games=30)(GAME, session.net, seed=5)
    for a in snapshots.PLAYERS:
        cells = [
            [found[f"{a} vs {b}:{what}"] for what in ("wins", "draws", "losses")]
            for b in snapshots.PLAYERS
        ]
        assert all(sum(cell) == 30 for cell in cells)
        assert found[f"{a}:points"] == sum(3 * w + d for w, d, _ in cells)
        second = [
            (found[f"{b} vs {a}:losses"], found[f"{b} vs {a}:draws"]) for b in snapshots.PLAYERS
        ]
        assert found[f"{a}:points of both seats"] == found[f"{a}:points"] + sum(
            3 * w + d for w, d in second
        )
    assert (
        found["M_det vs M_det:distinct"] == 1
        and found["R vs R:distinct"] > 20
        and found["M_det vs M_Ndet:draws"] == 30
    )
    table = snapshot_tables.crosstable(found)
    assert (
        table.loc["M_det", "M_Ndet"] == "0 : 30 : 0"
        and table.loc["R", "Points"] == f"{found['R:points']:.0f}"
    )
    assert (
        found
        == snapshots.Tournament(n=400, games=30)(GAME, session.net, seed=5)
        != snapshots.Tournament(n=400, games=30)(GAME, session.net, seed=6)
    )


def test_evaluators_name_what_they_measure_and_work_before_there_are_snapshots():
    session = tabular.Session(GAME, {"teacher": "deterministic", "snapshots": [1600]}, seed=1)
    session.train(10)
    own = snapshots.GamesAgainst(games=20)(GAME, session.net, 3)
    named = snapshots.GamesAgainst("D-Min-Max", games=20)(GAME, session.net, 3)
    assert [v for v in own.values()] == [v for v in named.values()] and list(own)[
        0
    ] == "own teacher:first:wins"
    found = snapshots.Stability(percents=(20,), opponents=("D-Min-Max",), games=100, repeats=3)(
        GAME, session.net, 1
    )
    assert 1 <= found["Q-20 vs D-Min-Max:stable_episodes"] <= 100
    with pytest.raises(ValueError, match="there is no player 'X'"):
        snapshots.opponent(GAME, session.net, "X")


def test_baseline_is_table_5():
    found = snapshots.Baseline(games=4000)(GAME, table.QTable(GAME), seed=1)
    assert found["Min-Max agent vs Min-Max agent:draws"] == 100
    assert found["Min-Max agent vs Random agent:player_1_wins"] == pytest.approx(
        100 * 191 / 192, abs=0.5
    )
    assert found["Random agent vs Min-Max agent:player_2_wins"] == pytest.approx(
        100 * 254 / 315, abs=2.5
    )


def test_results_that_follow_from_a_curve():
    columns = {
        f"own teacher:{seat}:{what}": [1.0] * 100
        for seat in ("first", "second")
        for what in ("wins", "losses")
    }
    curve = pd.DataFrame(columns, index=np.arange(100, 10_001, 100))
    assert convergence.convergence(curve, cap=5000) == {"convergence_games": 5000, "converged": 0.0}
    curve.loc[2000:, ["own teacher:first:losses", "own teacher:second:losses"]] = 0.0
    assert convergence.convergence(curve, cap=5000) == {
        "convergence_games": 2000,
        "converged": 100.0,
    }
    assert convergence.convergence(curve, cap=1000)["converged"] == 0.0
    assert snapshot_tables.point(curve, 200) == {
        "evaluation_200:wins": 1,
        "evaluation_200:draws": 98,
        "evaluation_200:losses": 1,
    }
    assert snapshot_tables.point(curve, 250) == {}


def test_a_row_of_convergence_names_censored_runs():
    def rows(values, cap):
        return pd.DataFrame(
            [
                ("arm", run, metric, value)
                for run, at in enumerate(values)
                for metric, value in (
                    ("convergence_games", min(at, cap)),
                    ("converged", 100.0 * (at <= cap)),
                )
            ],
            columns=["arm", "run", "metric", "value"],
        )

    some = [300, 200, 100, 400, 500, 600, 700, 800, 900, 5000]
    assert convergence.summary(rows(some, 1000), "arm", 1000) == {
        "converged": "9 of 10",
        "median": "550",
        "interval": "200 to 900",
    }
    assert convergence.summary(rows([300, 4000, 5000], 1000), "arm", 1000) == {
        "converged": "1 of 3",
        "median": "> 1,000",
        "interval": "300 to > 1,000",
    }
    # at the cap, but converged
    assert convergence.summary(rows([1000] * 3, 1000), "arm", 1000)["median"] == "1,000"
    assert set(convergence.summary(rows(some, 1000), "other", 1000).values()) == {"-"}


def test_evaluators_that_search_have_a_short_version_of_the_same_kind():
    session = tabular.Session(games.load("tictactoe"), {"snapshots": [100, 50]}, seed=1)
    session.train(100)
    for long in (
        snapshots.GamesAgainst(games=30, depth=2),
        snapshots.Tournament(n=100, games=30, depth=2),
        snapshots.Stability(n=100, percents=(50,), games=60, repeats=4, depth=2),
    ):
        short = long.short()
        assert (
            short.name == long.name
            and short.extent(GAME) < long.extent(GAME)
            and short.short() == short
        )
        assert set(short(GAME, session.net, 1)) == set(long(GAME, session.net, 1))
        # to the end of the game: its moves are in a table
        assert type(long)(games=30).short() == type(long)(games=30)


def test_lost_games_are_counted_at_the_last_checkpoint_and_missing_ones_are_not_zero():
    table = pd.DataFrame(
        [
            ("arm", run, episode, f"own teacher:{seat}:losses", value)
            for run in (0, 1)
            for episode, value in ((100, 50.0), (200, 10.0 + run))
            for seat in ("first", "second")
        ],
        columns=["arm", "run", "episode", "metric", "value"],
    )
    assert convergence.lost(table, "arm", 100) == 10.5 and np.isnan(
        convergence.lost(table, "other", 100)
    )


def test_both_opponents_of_a_curve_or_the_one_that_was_met():
    both = pd.DataFrame(
        {"own teacher:losses": [0.0, 0.0], "Nd-Min-Max:losses": [1.0, 0.0]}, index=[100, 200]
    )
    assert convergence.against_both(both, 1000, extra=100) == {
        "convergence_games": 100,
        "converged": 100.0,
        "convergence_games (Nd-Min-Max)": 1000,
        "converged (Nd-Min-Max)": 0.0,
    }
    assert set(convergence.against_both(both[["own teacher:losses"]], 1000)) == {
        "convergence_games",
        "converged",
    }


def test_a_median_between_converged_and_censored_runs_is_a_lower_bound():
    table = pd.DataFrame(
        [
            ("arm", run, 200, metric, value)
            for run, games in enumerate((1, 2, 100, 100))
            for metric, value in (
                ("convergence_games", games),
                ("converged", 100.0 * (games < 100)),
            )
        ],
        columns=["arm", "run", "episode", "metric", "value"],
    )
    assert convergence.summary(table, "arm", 100) == {
        "converged": "2 of 4",
        "median": "at least 51",
        "interval": "1 to > 100",
    }
    assert convergence.summary(table[table.run < 3], "arm", 100)["median"] == "2"


def test_the_teacher_of_one_of_two_tables_is_the_other_one():
    session = tabular.Session(GAME, {"twin": "separate"}, seed=1)
    session.train(50)
    teacher = snapshots.opponent(GAME, session.net, "own teacher")
    assert (
        session.net.learners == 2
        and teacher.net.owner == 1
        and teacher.net.table is session.net.table
    )
    shared = tabular.Session(GAME, {}, seed=1)
    shared.train(50)
    assert (
        shared.net.learners == 1
        and snapshots.opponent(GAME, shared.net, "own teacher").net.owner == 0
    )
