"""[jamieson2022]: convergence, tournaments, exact results, ladders: hand-made and enumerated."""

import dataclasses
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from afterply import games
from afterply.arena import exact
from afterply.kernel.random import seed_from
from afterply.learners import tabular
from afterply.networks import table
from afterply.opponents import weaken
from afterply.players import agents
from afterply.players.agents import contest
from afterply.studies import papers
from afterply.studies.papers.jamieson2022 import snapshot_tables, snapshots
from afterply.studies.papers.jamieson2022.snapshots import TrainingGames, learning_contest
from afterply.studies.papers.jamieson2022.weaker_ladder import Ladder, smoothness

GAME = games.load("tictactoe")
OUTCOMES = ("wins", "draws", "losses")
LOOP = {"initial_q": 0.6, "last_move": "set", "epsilon": 0.0, "learner_seat": "second"}


def session_of(episodes, **settings):
    session = tabular.Session(GAME, settings, seed=1)
    session.train(episodes)
    return session


def trained(episodes=400, **settings):
    return session_of(episodes, **LOOP | {"snapshots": [episodes // 2]} | settings)


def values(rows):
    """Return the values of rows by measure and columns, without their names, in any order."""
    return {frozenset(v for c, v in row.items() if c != "value"): row["value"] for row in rows}


def of(found, *columns):
    return found[frozenset(columns)]


def long(rows, columns):
    return pd.DataFrame(rows, columns=columns.split())


# Convergence and stability


def test_convergence_needs_every_later_checkpoint_up_to_the_extra_games():
    episodes, losses = np.arange(100, 10_001, 100), np.ones(100)
    losses[40:95] = 0  # 4,100 to 9,500
    assert snapshot_tables.converged_at(episodes, losses) == 4100
    losses[60] = 1  # 6,100: lucky before
    assert snapshot_tables.converged_at(episodes, losses) is None
    # not followed for 5,000 games
    assert snapshot_tables.converged_at(episodes[:50], np.zeros(50)) is None


def rows_over(episodes, measured, **columns):
    """Return rows of one run: measure -> its values at the episodes, all with these columns."""
    parts = [
        pd.DataFrame({"episode": episodes, "measure": measure, **columns, "value": values})
        for measure, values in measured.items()
    ]
    return pd.concat(parts, ignore_index=True).astype({"value": float})


def test_what_a_curve_says_of_convergence_in_one_seat_in_both_and_to_others():
    episodes, own = np.arange(100, 10_001, 100), {"opponent": "own teacher"}
    each = {"wins": 1.0, "losses": 1.0}
    first = rows_over(episodes, each, seat="first", **own)
    second = rows_over(episodes, each, seat="second", **own)

    def said(rows, cap, **more):
        return values(snapshot_tables.convergence(rows, cap, **more))

    def result(games, converged):
        return {frozenset(["convergence_games"]): games, frozenset(["converged"]): converged}

    both = pd.concat([first, second])
    assert said(both, 5000) == result(5000, 0.0)
    first.loc[(first.measure == "losses") & (first.episode >= 2000), "value"] = 0.0
    both = pd.concat([first, second])
    assert said(both, 5000) == result(2000, 100.0)
    assert said(both, 1000) == result(1000, 0.0)
    assert said(both, 5000, seats=snapshots.SEATS) == result(5000, 0.0)
    # the second seat was not played, so nothing is known of both
    assert said(first, 5000, seats=snapshots.SEATS) == {}
    where = {"opponent": "own teacher", "seat": "first", "after": 200}
    counts = {"wins": 1, "draws": 98, "losses": 1}
    expected = [{"measure": what, **where, "value": n} for what, n in counts.items()]
    assert snapshot_tables.point(both, 200) == expected and snapshot_tables.point(both, 250) == []
    mine = rows_over([100, 200], {"losses": [0.0, 0.0]}, **own)
    perfect = rows_over([100, 200], {"losses": [1.0, 0.0]}, opponent="Nd-Min-Max")
    found = said(pd.concat([mine, perfect]), 1000, extra=100)
    assert found == result(100, 100.0) | {
        frozenset(["convergence_games", "Nd-Min-Max"]): 1000,
        frozenset(["converged", "Nd-Min-Max"]): 0.0,
    }


def test_convergence_in_training_counts_blocks_of_games():
    losses, episodes = np.cumsum([9, 4, 0, 1, 0, 0, 0, 0]), 100 * np.arange(1, 9)
    games = {"variant": "training"}
    parts = [
        rows_over(episodes, {"losses": lost, "wins": 7}, seat=seat, **games)
        for seat, lost in (("first", 0), ("second", losses))
    ]
    # losses of something else
    other = rows_over(episodes, {"losses": 50}, opponent="own teacher", seat="second")
    rows = pd.concat([*parts, other]).fillna("")

    def said(**more):
        return values(snapshot_tables.in_training(rows, extra=300, **more))

    found = {frozenset(["convergence_games"]): 500, frozenset(["converged"]): 100.0}
    assert said(cap=700) == found
    assert of(said(cap=700, allowed=1), "convergence_games") == 300
    assert of(said(cap=400), "converged") == 0.0
    forgiving = said(cap=700, allowed=1, variant="one loss")
    assert of(forgiving, "convergence_games", "one loss") == 300
    assert snapshot_tables.in_training(other, cap=700) == []


def test_stability_is_the_first_game_after_which_the_running_share_stays():
    assert snapshots.stable_at([True] * 30) == 1 and snapshots.stable_at([False] * 30) == 1
    # nobody knows about the 20 games after the first one
    assert snapshots.stable_at([True] * 20) is None
    # 1/2 after an even number n, and 1 / 2(n + 1) more after the next: at most 1 percent from 50 on
    assert snapshots.stable_at([k % 2 == 0 for k in range(400)]) == 50
    late = [k not in (0, 49) for k in range(200)]  # a second loss holds the percentage back
    assert snapshots.stable_at(late) == 33 == min(filter(snapshots.can_be_stable, range(2, 50)))
    rng = np.random.default_rng(0)
    for share in 50 * (0.02, 0.3, 0.5, 0.97):
        found = snapshots.stable_at(rng.random(200) < share)
        assert found is None or snapshots.can_be_stable(found)


SOME = [300, 200, 100, 400, 500, 600, 700, 800, 900, 5000]


@pytest.mark.parametrize(
    "values, cap, shown",
    [
        (SOME, 1000, ("550", "200 to 900", "9 of 10")),
        ([300, 4000, 5000], 1000, ("> 1,000", "300 to > 1,000", "1 of 3")),
        ([1, 2, 101, 101], 100, ("at least 51", "1 to > 100", "2 of 4")),
    ],
)
def test_a_row_of_convergence_names_censored_runs_and_teachers(values, cap, shown):
    rows = [("", k, "convergence_games", min(at, cap)) for k, at in enumerate(values)]
    rows += [("", k, "converged", 100.0 * (at <= cap)) for k, at in enumerate(values)]
    rows += [("teacher", k, "converged", 100.0 * (k > 0)) for k in range(2)]
    found = long(rows, "player run measure value").assign(arm="arm, draw 1", episode=1)
    row = snapshot_tables.by_teacher(found, ["arm, draw 1"], {"arm": cap}, {"arm": 0}, 100).iloc[0]
    assert tuple(row)[:6] == ("arm", "draw 1", "-", *shown)
    assert row["teachers converged"] == "1 of 2"


# Players and tournaments


@pytest.mark.slow
def test_exact_results_of_perfect_and_random_players():
    random, first = agents.chance(GAME), agents.min_max(GAME)
    uniform, found = agents.min_max(GAME, "random"), exact.graph(GAME)
    assert (len(found.states), len(found.target)) == (5478, 16167)
    assert int((found.mover < 0).sum()) == 958
    for a, b, known in (
        (random, random, ("737/1260", "8/63", "121/420")),
        (first, random, ("191/192", "1/192", "0")),
        (random, first, ("0", "61/315", "254/315")),
        (uniform, random, ("75257/77760", "2503/77760", "0")),
        (random, uniform, ("0", "757/3402", "2645/3402")),
        (first, uniform, ("0", "1", "0")),
    ):
        expected = [float(Fraction(x)) for x in known]
        assert exact.outcome(GAME, a, b) == pytest.approx(expected, abs=1e-12)
    assert exact.greatest(GAME, random, "win") == pytest.approx(191 / 192)
    assert exact.greatest(GAME, first, "win") == 0.0 and exact.greatest(GAME, first) == 1.0
    me = agents.learned(session_of(1000).net)
    sampled = contest(GAME, me, random, 20_000, seed=2)
    shares = np.array([sampled.wins, sampled.draws, sampled.losses]) / 20_000
    assert shares == pytest.approx(np.array(exact.outcome(GAME, me, random)), abs=0.012)


def test_tournament_counts_points_as_the_paper_does():
    net, names = session_of(400, snapshots=snapshots.milestones(400)).net, snapshots.PLAYERS
    rows = snapshots.Tournament(n=400, games=30, label="own N: ")(GAME, net, seed=5)
    assert {row["variant"] for row in rows} == {"own N"}
    unnamed = snapshots.Tournament(n=400, games=30)(GAME, net, seed=5)
    assert [{**row, "variant": "own N"} for row in unnamed] == rows
    first = {
        (row["measure"], row["player"], row.get("opponent")): row["value"]
        for row in rows
        if row.get("seat") == "first"
    }
    both = {row["player"]: row["value"] for row in rows if "seat" not in row}
    for a in names:
        cells = [[first[what, a, b] for what in OUTCOMES] for b in names]
        assert all(sum(cell) == 30 for cell in cells)
        assert first["points", a, None] == sum(3 * w + d for w, d, _ in cells)
        second = [(first["losses", b, a], first["draws", b, a]) for b in names]
        assert both[a] == first["points", a, None] + sum(3 * w + d for w, d in second)
    assert first["distinct", "M_det", "M_det"] == 1 and first["distinct", "R", "R"] > 20


def test_a_tournament_is_shown_with_means_over_runs_of_its_last_results():
    episodes, tables = (100, 400), []
    for run, episode in product(range(2), episodes):
        rows = [
            (a, b, "first", "", what, len(a) + 10 * len(b) + run)
            for a, b, what in product(snapshots.PLAYERS, snapshots.PLAYERS, (*OUTCOMES, "distinct"))
        ]
        for variant, k in product(("", "own N"), range(2)):
            points = 100 * (run + 1) + 1000 * k + (7 if variant else 0)
            seat = "" if k else "first"
            rows += [(a, "", seat, variant, "points", points) for a in snapshots.PLAYERS]
        table = long(rows, "player opponent seat variant measure value")
        tables.append(table.assign(arm="twin", run=run, episode=episode))
        tables[-1]["value"] += 500 * (episode == 100)  # not the last one
    table = pd.concat(tables, ignore_index=True)
    shown = snapshot_tables.crosstable(table, "twin")
    assert (
        shown.loc["R", "M_Ndet"] == "62 : 62 : 62" and shown.loc["M_det", "Q-50"] == "46 : 46 : 46"
    )
    assert list(shown.index) == list(snapshots.PLAYERS) == list(shown.columns)[:5]
    assert set(shown["Points"]) == {"150"} and set(shown["both seats"]) == {"1,150"}
    other = snapshot_tables.crosstable(table, "twin", variant="own N")
    assert set(other["R"]) == {"-"} and set(other["Points"]) == {"157"}
    assert (snapshot_tables.crosstable(table, "nobody") == "-").all(axis=None)
    distinct = snapshot_tables.distinct_games(table, "twin").data
    assert distinct.loc["R", "M_Ndet"] == 61.5


def test_how_near_a_reading_comes_to_print():
    games_played = {"twin": [50, 100, 200], "taught": [1000, 2000, 2000]}  # medians 100 and 2,000
    rows = [
        (f"{arm}, falls", run, "", "", "", measure, value)
        for arm, series in games_played.items()
        for run, at in enumerate(series)
        for measure, value in (("convergence_games", at), ("converged", 100.0 * (at < 2000)))
    ]
    # the least and the most of the runs are 10 and 30 wins of 50, which are 20 and 60 of 100
    pairs = list(product(snapshots.PLAYERS, repeat=2))
    for (a, b), run in product(pairs, range(3)):
        counts = dict(zip(OUTCOMES, (10 + 10 * run, 5, 35 - 10 * run))) | {"distinct": 1}
        rows += [("twin, falls", run, a, b, "first", what, n) for what, n in counts.items()]
    table = long(rows, "arm run player opponent seat measure value").assign(variant="", episode=1)
    paper = papers.load("jamieson2022")
    printed = {claim.id: claim for claim in paper.claims if claim.place.get("table") == "7"}
    cell = printed["jamieson2022/table7/q-50/r"]
    values = [(20, 10, 70), (60, 10, 30), (19, 10, 71), (40, 11, 49)]  # the first two lie inside
    cells = [dataclasses.replace(cell, value=dict(zip(OUTCOMES, three))) for three in values]
    others = [printed[f"jamieson2022/table7/{name}"] for name in ("r/r", "mdet/r", "q-50/points")]
    row = snapshot_tables.beside_print(
        table,
        {"twin": 400, "taught": 2000},
        dict.fromkeys(games_played, 2000),
        cells + others,
        ", falls",
    )
    # off by a factor of 4 and of 1: the geometric mean is 2, and one median is at the cap
    assert row == {
        "twin": "100",
        "taught": "> 2,000",
        "mean factor": "at least 2.0",
        "cells inside": "2 of 4",
    }
    nobody = snapshot_tables.beside_print(table, {"nobody": 1}, {"nobody": 1}, cells)
    assert set(nobody.values()) == {"-"}


def test_players_have_the_names_of_the_paper_and_need_no_snapshots_of_their_own():
    net = session_of(10, teacher="deterministic", snapshots=[1600]).net
    own = snapshots.GamesAgainst(games=20)(GAME, net, 3)
    named = snapshots.GamesAgainst("D-Min-Max", games=20)(GAME, net, 3)
    assert [{**row, "opponent": "own teacher"} for row in named] == own
    first = snapshots.GamesAsFirst(games=20)(GAME, net, 3)
    assert first == own[:2] == [row for row in own if row["seat"] == "first"]
    both = snapshots.GamesAgainst(games=20, losses_only=True)(GAME, net, 3)
    losses = sum(row["value"] for row in own if row["measure"] == "losses")
    assert both == [{"measure": "losses", "opponent": "own teacher", "value": losses}]
    with pytest.raises(ValueError, match="there is no player 'X'"):
        snapshots.opponent(GAME, net, "X")
    for twin, owner in (("separate", 1), ("shared", 0)):  # the teacher is the other table
        assert (
            snapshots.opponent(GAME, session_of(50, twin=twin).net, "own teacher").net.owner
            == owner
        )


def test_baseline_is_table_5():
    rows = snapshots.Baseline(games=4000)(GAME, table.QTable(GAME), seed=1)
    best, chance = "Min-Max agent", "Random agent"
    found = {(row["measure"], row["player"], row["opponent"]): row["value"] for row in rows}
    assert found["drawn", best, best] == 100
    assert found["won", best, chance] == pytest.approx(100 * 191 / 192, abs=0.5)
    losses = found["lost", chance, best]
    assert losses == pytest.approx(100 * 254 / 315, abs=2.5)


@pytest.mark.parametrize("draw, extra, found", [(1.0, 1000, True), (0.0, 3000, False)])
def test_a_converged_teacher_is_the_twin_when_its_series_without_a_loss_began(draw, extra, found):
    asked = {"teacher": "converged", "teacher_every": 100, "teacher_games": 2000}
    session = tabular.Session(GAME, asked | {"draw_reward": draw, "teacher_extra": extra}, seed=3)
    taught = session.teacher.net
    said = values(snapshots.ConvergedTeacher(extra)(GAME, session.net))
    assert of(said, "teacher", "converged") == 100.0 * found
    assert of(said, "teacher", "games") == taught.episode
    twin = tabular.Session(GAME, {"draw_reward": draw}, seed_from(3, "teacher"))
    episodes, losses = np.arange(100, 2001 + extra, 100), []
    while twin.episode < episodes[-1]:
        twin.train(100)
        if twin.episode == taught.episode:
            assert twin.net.checksum() == taught.copy().checksum()
        losses.append(twin.self_losses())
    at = snapshot_tables.converged_at(episodes, losses, extra)
    assert at == taught.episode if found else at is None
    series = "".join("x" if lost else "." for lost in losses).split("x")
    assert found or 100 * (max(map(len, series)) - 1) == taught.unbeaten < extra


# Games in which agents learn


@pytest.mark.slow
def test_training_games_are_counted_by_seat_and_survive_a_checkpoint():
    session = trained(teacher="random", snapshots=[])
    found = TrainingGames()(GAME, session)
    assert sum(row["value"] for row in found) == 400
    assert of(values(found), "training", "second", "losses") > 20
    assert not any(row["value"] for row in found if row["seat"] == "first")
    with pytest.raises(ValueError, match="nobody counted"):
        TrainingGames()(GAME, table.QTable(GAME))


@pytest.mark.slow
def test_learners_who_learn_nothing_play_as_without_learning_and_leave_their_table_alone():
    net = trained(teacher="non-deterministic").net
    me, perfect, chance = agents.learned(net), agents.min_max(GAME, "random"), agents.chance(GAME)
    for pair in ((me, me), (me, perfect), (chance, me), (perfect, chance)):
        fixed = contest(GAME, *pair, games=40, seed=5)
        # a step size of 0 changes nothing but the number of entries
        same = learning_contest(GAME, *pair, {"alpha": 0.0}, games=40, seed=5)
        assert all((a == b).all() for a, b in zip(fixed, same))
    net = trained(ties="first", teacher="deterministic").net
    before, me = net.checksum(), agents.learned(net)
    assert contest(GAME, me, me, 30).distinct == 1
    rule = {name: value for name, value in LOOP.items() if name != "learner_seat"}
    assert learning_contest(GAME, me, me, rule, 30).distinct > 1
    assert net.checksum() == before


# Ladders of weaker agents


@pytest.mark.slow
def test_the_evaluator_rates_every_rung_and_counts_cycles():
    dials = (0.0, 0.5, 1.0)
    session = tabular.Session(GAME, {"snapshots": weaken.milestones(2000, dials)}, seed=1)
    session.train(2000)
    found = values(Ladder(n=2000, dials=dials)(GAME, session.net, seed=5))
    every = product(weaken.METHODS, dials, ("rating", "score"))
    assert set(map(frozenset, every)) < set(found)
    careless = [of(found, "careless", "rating", dial) for dial in dials]
    assert careless[0] == pytest.approx(0, abs=1)
    assert careless[1] < careless[2] == of(found, "noise", "rating", 1)
    agent, random = weaken.weakened(session.net, "careless", 0.5), agents.chance(GAME)
    first, second = exact.outcome(GAME, agent, random), exact.outcome(GAME, random, agent)
    points = 50 * (first.win + second.loss + (first.draw + second.draw) / 2)
    assert of(found, "careless", "score", 0.5) == pytest.approx(points)
    lost = of(found, "careless", "lost", 0.5)
    assert lost == pytest.approx(50 * (first.loss + second.win))
    assert 0 <= of(found, "cycles") <= of(found, "triples") and 0 < of(found, "misfit") < 30


def test_smoothness_of_ladders_made_by_hand():
    made = {"jump": [0, 10, 20, 390, 400], "back": [0, 200, 100, 300, 400]}
    made["even"] = [0, 100, 200, 300, 400]
    rows = [
        (name, k / 4, run, value + run)
        for name, values in made.items()
        for run in (0, 1)
        for k, value in enumerate(values)
    ]
    found = smoothness(long(rows, "method dial run value")).set_index("method")
    assert found.largest_step.to_dict() == {"even": 25, "back": 50, "jump": 92.5}
    assert list(found.index) == ["even", "back", "jump"]
    assert found.wrong_steps.to_dict() == {"even": 0, "back": 25, "jump": 0}
    assert (found.least == 25).all() and (found["range"] == 400).all()
