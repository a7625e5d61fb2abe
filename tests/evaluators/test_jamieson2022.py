"""[jamieson2022]: convergence, tournaments, exact results, ladders: hand-made and enumerated."""

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
from afterply.papers.jamieson2022 import snapshot_tables, snapshots
from afterply.papers.jamieson2022.snapshots import TrainingGames, learning_contest
from afterply.papers.jamieson2022.weaker_ladder import Ladder, smoothness
from afterply.players import agents, weaken
from afterply.players.agents import contest

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


def long(rows, columns="arm run episode metric value"):
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


def test_what_a_curve_says_of_convergence_in_one_seat_in_both_and_to_others():
    columns = [f"own teacher:{s}:{w}" for s in ("first", "second") for w in ("wins", "losses")]
    curve = pd.DataFrame(1.0, index=np.arange(100, 10_001, 100), columns=columns)
    never = {"convergence_games": 5000, "converged": 0.0}
    assert snapshot_tables.convergence(curve, cap=5000) == never
    curve.loc[2000:, "own teacher:first:losses"] = 0.0
    found = {"convergence_games": 2000, "converged": 100.0}
    assert snapshot_tables.convergence(curve, cap=5000) == found
    assert snapshot_tables.convergence(curve, cap=1000)["converged"] == 0.0
    assert snapshot_tables.convergence(curve, cap=5000, seats=snapshots.SEATS) == never
    point = {"evaluation_200:wins": 1, "evaluation_200:draws": 98, "evaluation_200:losses": 1}
    assert snapshot_tables.point(curve, 200) == point and snapshot_tables.point(curve, 250) == {}
    own = {"own teacher:losses": [0.0, 0.0], "Nd-Min-Max:losses": [1.0, 0.0]}
    found = snapshot_tables.convergence(pd.DataFrame(own, index=[100, 200]), 1000, extra=100)
    expected = {"convergence_games (Nd-Min-Max)": 1000, "converged (Nd-Min-Max)": 0.0}
    assert found == {"convergence_games": 100, "converged": 100.0} | expected


def test_convergence_in_training_counts_blocks_of_games():
    losses = np.cumsum([9, 4, 0, 1, 0, 0, 0, 0])
    wide = {"training:first:losses": 0, "training:second:losses": losses}
    curve = pd.DataFrame(wide, index=100 * np.arange(1, 9))
    found = snapshot_tables.in_training(curve, cap=700, extra=300)
    assert found == {"convergence_games": 500, "converged": 100.0}
    found = snapshot_tables.in_training(curve, cap=700, extra=300, allowed=1)
    assert found["convergence_games"] == 300
    assert snapshot_tables.in_training(curve, cap=400, extra=300)["converged"] == 0.0


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
        (SOME, 1000, ("9 of 10", "550", "200 to 900")),
        ([300, 4000, 5000], 1000, ("1 of 3", "> 1,000", "300 to > 1,000")),
        ([1, 2, 101, 101], 100, ("2 of 4", "at least 51", "1 to > 100")),
    ],
)
def test_a_row_of_convergence_names_censored_runs_and_teachers(values, cap, shown):
    rows = [("arm", k, "convergence_games", min(at, cap)) for k, at in enumerate(values)]
    rows += [("arm", k, "converged", 100.0 * (at <= cap)) for k, at in enumerate(values)]
    rows += [("arm", k, "teacher:converged", 100.0 * (k > 0)) for k in range(2)]
    found = long([(*row[:2], 1, *row[2:]) for row in rows])
    row = snapshot_tables.by_teacher(found, ["arm"], {"arm": cap}, {"arm": 0}, 100).iloc[0]
    assert tuple(row)[:6] == ("arm", "1 of 2", "-", *shown)


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
