"""Wrapped agents against exact values, sums that must come out; exact distances of cubes."""

import itertools
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from afterply import games, players
from afterply.networks.ntuple import Network
from afterply.studies.evaluators import Matches
from afterply.studies.papers.scheiermann2022 import connect4_tournament as tournament
from afterply.studies.papers.scheiermann2022 import figures, wrapper_tables, wrapping
from afterply.studies.papers.scheiermann2022.cube_solving import (
    FAR,
    Solved,
    distances,
    near,
    ratio,
    scramble,
)
from afterply.studies.results import joined, select
from oracles.cube_play import after, inverse, random_twists

KNOWN_2 = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
COSTS = (("alone", 0.01), ("MCTS-10", 0.25), ("Wrapped-5", 0.5))  # player, seconds of ten moves
KNOWN_3 = [1, 18, 243, 3240, 43239, 574908]
NIM, CUBE2, CUBE3, TICTACTOE = map(games.load, ("nim", "cube2", "cube3", "tictactoe"))


def agent(game, values):
    """An agent made of a function (game, state) -> values."""
    return SimpleNamespace(game=game, action_values=lambda state, gamma=1.0: values(game, state))


def nearness(game, state):
    following = np.array([game.play(state, action) for action in game.legal(state)])
    return 1.0 - 0.04 * distances(game, following)


def results(rows, **place):
    """A table of the rows of an evaluator, at one place."""
    place = {"study": "", "arm": "TCL-base", "run": 0, "episode": 9} | place
    return joined([pd.DataFrame([place | row for row in rows])])


def numbers(found, **columns):
    """The values of the rows of an evaluator whose columns are as given, in their order."""
    return select(results(found), **columns)["value"].tolist()


def maximum(game, state):
    player = players.MaxN(15)
    player.new_match(game, [], 0, 0)
    return player.values(state)


# Cubes


@pytest.mark.slow
@pytest.mark.parametrize("name, most", [("cube2", 11), ("cube3", 7)])
def test_scrambles_are_no_farther_than_their_twists(name, most):
    game = games.load(name)
    for twists in (1, 2, most):
        states = np.array([scramble(game, twists, seed) for seed in range(20)])
        away = distances(game, states)
        assert (away >= 1).all() and (away <= twists).all() and (states[:, -1] == 0).all()
    assert len({tuple(scramble(game, 1, seed)) for seed in range(200)}) == game.actions
    twos = [scramble(game, 2, seed) for seed in range(60)]  # never the same face twice
    assert (distances(game, twos) == 2).all()


def test_an_agent_that_knows_the_distances_solves_every_cube():
    found = Solved((8, 9), (2,), cubes=6, max_steps=11)(CUBE2, agent(CUBE2, nearness), 3)
    assert {row["value"] for row in found if row["measure"] == "solved_rate"} == {100.0}
    assert numbers(found, measure="solved_rate") == [100.0]
    assert numbers(found, measure="solved_rate", twists=...) == [100.0] * 3  # 2, 8 and 9
    assert sum(numbers(found, measure="cubes", distance=...)) == 18
    away = agent(CUBE2, lambda game, state: -nearness(game, state))
    assert numbers(Solved((9,), cubes=6)(CUBE2, away, 3), measure="solved_rate") == [0.0]


def test_a_search_finds_what_the_agent_alone_does_not():
    ignorant = Network(CUBE2, [[0]], sigmoid=False)
    alone = Solved((3,), cubes=10, by_distance=False)(CUBE2, ignorant, 5)
    searching = Solved((3,), cubes=10, iterations=3000, by_distance=False)
    assert numbers(alone, measure="solved_rate")[0] < 50.0
    found = searching(CUBE2, ignorant, 5)
    assert numbers(found, measure="solved_rate", iterations=3000) == [100.0]


def test_a_search_that_is_not_the_usual_one_has_rows_and_a_name_of_its_own():
    agent_of = agent(CUBE2, nearness)
    ways = ({}, {"c_puct": 10.0}, {"path_rewards": True}, {"unvisited": 1.0, "path_rewards": True})
    evaluators = [Solved((1,), (), 1, 5, by_distance=False, **how) for how in ways]
    rows = [evaluator(CUBE2, agent_of, 3)[0] for evaluator in evaluators]
    assert [(row.get("c_puct"), row.get("variant")) for row in rows] == [
        (None, None),
        (10.0, None),
        (None, "path-rewards"),
        (None, "unvisited-1, path-rewards"),
    ]
    named = [evaluator.name.removeprefix("solved cubes, iterations 5") for evaluator in evaluators]
    assert named == ["", ", c_puct 10", ", path rewards", ", unvisited 1, path rewards"]


def test_states_of_each_distance_are_as_many_as_is_known():
    assert near(2)[1] == KNOWN_2[:6] and near(5)[1] == KNOWN_3
    # a corner in the wrong orientation is one of three; sums of orientations are 0
    rng, states = np.random.default_rng(1), np.zeros((2000, 3), np.int32)
    for s in states:
        turns = rng.integers(3, size=7)
        turns[6] -= turns.sum()
        codes = [*(4 * rng.permutation(7) + turns % 3), 28]
        s[:2] = [sum(int(code) << 8 * k for k, code in enumerate(codes[w : w + 4])) for w in (0, 4)]
    share = np.array(KNOWN_2) / 3_674_160
    found = np.bincount(distances(CUBE2, states), minlength=12)
    assert (abs(found - 2000 * share) <= 1 + 5 * np.sqrt(2000 * share)).all()


def test_a_search_is_the_distance_to_the_solved_state_and_as_far_for_the_inverse():
    for twists, n in (("R L U2 F' D B2 R", 7), ("U D U D", 2), ("R2 L2 U2 D2 F2 B2", 6)):
        assert distances(CUBE3, [after(CUBE3, twists)]) == [n]
    random = np.random.default_rng(6)
    for length in (6, 7, 8) * 5:
        twists = random_twists(CUBE3, length, random)
        there, back = distances(CUBE3, [after(CUBE3, t) for t in (twists, inverse(twists))])
        assert there == back <= length  # an element of a group is as far from 1 as its inverse
        if there > 1:
            ways = distances(CUBE3, [CUBE3.play(after(CUBE3, twists), a) for a in range(18)])
            assert ways.min() == there - 1 and ways.max() <= there + 1


def test_a_limit_and_what_is_no_cube_are_named():
    far = after(CUBE3, "R L U2 F' D B2 R")
    assert distances(CUBE3, [far, after(CUBE3, "U")], limit=6).tolist() == [FAR, 1]
    for game, limit, message in ((CUBE3, 3, "from 5 to 20, not 3"), (NIM, 6, "not 'nim'")):
        with pytest.raises(ValueError, match=message):
            distances(game, [far], limit)


# Wrapped agents


@pytest.mark.slow
def test_a_perfect_agent_gains_nothing_by_a_search():
    found = wrapping.AgainstItself((50,), starts=10)(NIM, agent(NIM, maximum), 1)
    row = {"iterations": 50, "opponent": "agent"}
    assert found == [
        {"measure": "win_rate", **row, "value": 50.0},
        {"measure": "elo", **row, "value": 0.0},
    ]
    better = wrapping.AgainstItself((300,), starts=10)(NIM, Network(NIM, [[0]]), 1)
    rate, elo = (row["value"] for row in better)
    assert rate > 70.0
    share = (rate / 100 * 20 + 0.5) / 21
    assert elo == pytest.approx(400 * np.log10(share / (1 - share)))


def test_who_moves_is_told_by_columns():
    ways = {
        wrapping.Moves(games=1): {},
        wrapping.Moves(3, games=1): {"iterations": 3},
        wrapping.Moves(other=partial(players.MCTS, 5), games=1): {
            "player": "MCTS",
            "iterations": 5,
        },
        wrapping.Moves(other=partial(players.MinMax, 2), games=1): {
            "player": "Min-Max",
            "depth": 2,
        },
        wrapping.Moves(other=partial(players.MinMax, 2, "random"), games=1): {
            "player": "Min-Max-random",
            "depth": 2,
        },
        wrapping.Moves(other=players.Random, games=1): {"player": players.Random().name},
    }
    net = Network(TICTACTOE, [[0, 1, 2]])
    for moves, columns in ways.items():
        (row,) = moves(TICTACTOE, net, 1)
        assert 1 <= row.pop("value") <= 9 and row == {"measure": "moves", **columns}


def test_a_search_adds_its_columns_to_those_of_the_matches():
    inner = Matches("Random, empty board", players.Random, columns={"opponent": "Random"})
    usual, other = wrapping.Wrapping(inner, 5), wrapping.Wrapping(inner, 5, 2.0, "uniform")
    net, of = Network(TICTACTOE, [[0, 1, 2]]), {"opponent": "Random", "iterations": 5}
    for one, columns in ((usual, of), (other, of | {"c_puct": 2.0, "variant": "uniform"})):
        rows = one(TICTACTOE, net, 1)
        assert [row.pop("measure") for row in rows] == ["win_rate", "score"]
        assert all({k: v for k, v in row.items() if k != "value"} == columns for row in rows)


def test_cells_of_the_tournament_are_a_hundred_matches_and_rates_need_every_pair():
    net, names = Network(TICTACTOE, [[0, 1, 2]]), ("TCL-wrap", "TCL-base", "MCTS")
    found = tournament.Pairings(4, 30, 60)(TICTACTOE, net, 2)
    cells = {(row["player"], row["opponent"], row["measure"]): row["value"] for row in found}
    for pair in itertools.permutations(names, 2):
        assert sum(cells[*pair, outcome] for outcome in tournament.OUTCOMES) == 100.0
    rates = tournament.won_games_rates(cells, names)
    assert sum(rates.values()) == pytest.approx(150.0) and rates["TCL-base"] == min(rates.values())
    shares = dict(zip(tournament.OUTCOMES, (60.0, 20.0, 20.0), strict=True))
    rows = [
        {"measure": outcome, "player": a, "opponent": b, "seat": "first", "value": v}
        for a, b in tournament.PAIRS
        for outcome, v in shares.items()
    ]
    won = tournament.rates(results(rows))
    assert [row["player"] for row in won] == list(tournament.NAMES)
    assert {row["value"] for row in won} == {50.0} and {len(row) for row in won} == {3}
    assert tournament.rates(results(rows[:-1])) == []


def test_start_positions_differ():
    found = wrapping.positions(TICTACTOE, 20, seed=1)
    assert {len(start.actions) for start in found} == {2}  # 9 after one ply, 72 after two
    assert len({tuple(start.actions) for start in found}) == 20


def test_halves_of_the_search_are_mean_differences():
    points = (100.0, 30.0, 80.0, 20.0)  # both, priors only, values only, neither
    parts = wrapper_tables.parts_of(20)
    rows = [
        {"measure": "elo", "opponent": "agent", **columns, "value": value}
        for columns, value in zip(parts.values(), points, strict=True)
    ]
    last = joined([results(rows, arm="nim", run=run) for run in range(2)])
    found = wrapper_tables.halves(last, 20).set_index("of the agent")["rating difference"]
    assert found.to_dict() == {"priors": 15.0, "values": 65.0}
    gained = wrapper_tables.gains(last, parts).set_index("series")["mean"]
    assert tuple(gained[list(parts)]) == points


def test_a_ratio_needs_both_rates_of_the_last_episode():
    alone = {"measure": "solved_rate", "value": 20.0}
    wrapped = alone | {"iterations": 5, "value": 50.0}
    early = results([alone | {"value": 10.0}], episode=1)
    both = joined([early, results([alone, wrapped])])
    assert ratio(both, 5) == {"solved_rate_ratio": 2.5}
    assert ratio(both, 6) == ratio(early, 5) == {}
    assert ratio(results([alone | {"value": 0.0}, wrapped]), 5) == {}


# What the search costs


def test_costs_of_moves_and_of_searched_trainings():
    rows = [(run, f"moves of {player}", cost, 10.0) for run in (0, 1) for player, cost in COSTS]
    runs = pd.DataFrame(rows, columns=["run", "evaluator", "cpu_seconds", "moves"])
    training = {"kind": "train", "run": 0, "evaluator": "", "cpu_seconds": 9.0, "moves": 90.0}
    runs = pd.concat([runs.assign(kind="eval"), pd.DataFrame([training])]).assign(arm="TCL-base")
    shown = wrapper_tables.move_times(runs, {"alone": 0.4, "Wrapped-5": 10.0})
    times = shown.data.set_index("player")
    assert times["ours, ms"].to_dict() == {"Wrapped-5": 50.0, "alone": 1.0, "MCTS-10": 25.0}
    row = times.loc["Wrapped-5"]
    assert row["times MCTS, ours"] == 2.0 and np.isnan(row["times MCTS, paper"])
    assert row["times the agent alone, ours"] == 50.0 and row["times the agent alone, paper"] == 25
    assert wrapper_tables.training_time(runs) == (9.0, 100.0)
    factors = wrapper_tables.training_factors(runs, {"Wrapped-5": 30})
    assert factors.data.values.tolist() == [["Wrapped-5", 1.5, 30.0]]  # by the agent with both


# Figures


class Recorded:
    """A study as its figures read it."""

    def __init__(self, rows=(), arms=("TCL-base",), episodes=12_000):
        job = SimpleNamespace(episodes=episodes)
        self.arms = {arm: [SimpleNamespace(job=job)] for arm in arms}
        places = [{"arm": arm, "run": run} for arm in arms for run in range(2)]
        self.rows = [results(rows, **place) for place in places if rows]

    def table(self):
        columns = ["study", "arm", "run", "episode", "measure", "value"]
        return joined(self.rows or [pd.DataFrame(columns=columns)])

    def unfinished(self, arms=None):
        return "Unfinished."


def studies_with(**rows):
    """The studies of the paper, with some results."""
    trained = ("W0", "W5", "W5 by visits", "W8", "W8 after 12,000 games", "W0, long", "no search")
    return {
        "othello-wrapper": Recorded(rows.get("othello", ())),
        "connect4-wrapper": Recorded(rows.get("connect4", ())),
        "cube2": Recorded(rows.get("cubes", ())),
        "cube3": Recorded(rows.get("cubes", ())),
        "mcts-in-training": Recorded(rows.get("trained", ()), trained),
    }


@pytest.mark.parametrize("name", figures.FIGURES)
def test_a_figure_of_studies_without_results_has_no_numbers_of_ours(name):
    _, data, caption, *_ = figures.FIGURES[name](studies_with())
    of = data.get("kind", data.get("series"))
    assert "ours" not in set(of) and caption.endswith((".", ":"))


def rate(value, **columns):
    return {"measure": "win_rate", "value": value, **columns}


def test_the_three_players_of_figure_4_are_told_apart():
    of = {"opponent": "Rhino", "level": 1}
    rows = [rate(10.0, **of), rate(90.0, **of, iterations=100), rate(1.0, opponent="Bench")]
    rows.append(rate(20.0, **of, iterations=70, player="MCTS"))
    _, data, _ = figures.othello(studies_with(othello=rows), "Rhino")
    found = {line.arm: (line.level, line.runs, line.mean) for line in data.itertuples()}
    assert found == {"TCL-wrap": (1, 2, 90), "TCL-base": (1, 2, 10), "MCTS-10k": (1, 2, 20)}


@pytest.mark.parametrize(
    "number, arms, title",
    [
        (8, ["W5", "W8"], "about the same time"),
        (9, ["W0", "W5", "W5 by visits", "W8 after 12,000 games"], ": 12,000 games of training"),
    ],
)
def test_agents_of_another_study_stand_beside_searched_trainings(number, arms, title):
    of = {"opponent": "Rhino", "iterations": 100}
    levels = [rate(50.0, **of, level=1), rate(7.0, **of, level=9), rate(1.0, opponent="Bench")]
    studies = studies_with(othello=levels, trained=levels[:1])
    picture, data, _, shown = figures.searched(studies, "Rhino", number)
    assert shown == arms and title in picture.get_suptitle()
    beside = "TCL-wrap after 250,000 games"
    assert data["arm"].tolist() == [*arms, beside] and set(data["level"]) == {1}  # 9 is too slow
    del studies["othello-wrapper"]
    assert beside not in set(figures.searched(studies, "Rhino", number)[1]["arm"])


def test_a_perfect_player_has_the_same_rate_at_all_iterations_of_figure_6():
    second = {"opponent": "MCTS", "seat": "second"}
    rows = [rate(40.0, **second, iterations=0), rate(80.0, **second, iterations=50)]
    pair = {"player": "MCTS", "opponent": "AB-DL", "seat": "first"}
    cells = zip(tournament.OUTCOMES, (10.0, 20.0, 70.0), strict=True)
    rows += [{"measure": outcome, **pair, "value": value} for outcome, value in cells]
    _, data, _ = figures.connect4_second(studies_with(connect4=rows))
    found = [(line.arm, line.iterations, line.mean) for line in data.itertuples()]
    perfect = [("AB-DL", 0, 80), ("AB-DL", 50, 80)]
    assert found == [("TCL-wrap", 0, 40), ("TCL-wrap", 50, 80), *perfect]


def test_lines_of_figure_7_are_told_apart_by_search_and_constant():
    at = {"measure": "solved_rate"}
    rows = [at | {"value": 10.0}, at | {"iterations": 5, "value": 20.0}]
    rows += [at | {"iterations": 5, "c_puct": 10, "value": 30.0}]
    rows += [row | {"twists": 3, "value": row["value"] + 1} for row in rows]
    rows += [at | {"iterations": 5, "variant": "path-rewards", "value": 99.0}]
    studies = studies_with(cubes=rows)
    _, data, _ = figures.cube_iterations(studies)
    usual, ten = ((0, 10.0), (5, 20.0)), ((0, 10.0), (5, 30.0))
    for name in ("2x2x2", "3x3x3"):
        for c_puct, expected in ((1, usual), (10, ten)):
            own = data[data["arm"] == f"{name}, c_puct {c_puct}"]
            assert tuple(zip(own["iterations"], own["mean"], strict=True)) == expected
    picture, data, _ = figures.cube_twists(studies)
    own = data[data["kind"] == "ours"].set_index("arm")["mean"].to_dict()
    expected = {"TCL-base": 11, "5 iterations": 21, "5 iterations, c_puct 10": 31}
    assert [axes.get_title() for axes in picture.axes] == ["2x2x2", "3x3x3"]
    for name in ("2x2x2", "3x3x3"):
        assert {line: own[f"{name}, {line}"] for line in expected} == expected
