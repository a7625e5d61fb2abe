"""Evaluations of wrapped agents: against exact values, sums that must come out, times by record."""

import numpy as np
import pandas as pd
import pytest

from afterstate import games, players
from afterstate.evaluators import costs, cube, othello, tournament, wrapped
from afterstate.evaluators.game2048 import Scores2048
from afterstate.networks.ntuple import Network
from afterstate.reports.times import milliseconds
from afterstate.search import cube_distance

NIM, CUBE2, TICTACTOE = (games.load(name) for name in ("nim", "cube2", "tictactoe"))


class Agent:
    """An agent made of a function (game, state) -> values."""

    def __init__(self, game, function):
        self.game, self.function = game, function

    def action_values(self, state, gamma=1.0):
        return self.function(self.game, state)


def nearness(game, state):
    after = np.array([game.play(state, action) for action in game.legal(state)])
    return 1.0 - 0.04 * cube_distance.distances(game, after)


def maximum(game, state):
    player = players.MaxN(15)
    player.new_match(game, [], 0, 0)
    return player.values(state)


@pytest.mark.slow
@pytest.mark.parametrize("name, most", [("cube2", 11), ("cube3", 7)])
def test_scrambles_are_no_farther_than_their_twists(name, most):
    game = games.load(name)
    for twists in (1, 2, most):
        states = np.array([cube.scramble(game, twists, seed) for seed in range(20)])
        away = cube_distance.distances(game, states)
        assert (away >= 1).all() and (away <= twists).all() and (states[:, -1] == 0).all()
    assert (cube_distance.distances(game, states[:1]) >= 1).all()
    ones = {tuple(cube.scramble(game, 1, seed)) for seed in range(200)}
    assert len(ones) == game.actions
    twos = [cube.scramble(game, 2, seed) for seed in range(60)]  # never the same face twice
    assert (cube_distance.distances(game, np.array(twos)) == 2).all()


def test_an_agent_that_knows_the_distances_solves_every_cube():
    evaluator = cube.Solved((8, 9), (2,), cubes=6, max_steps=11)
    found = evaluator(CUBE2, Agent(CUBE2, nearness), 3)
    rates = [value for name, value in found.items() if name.startswith("solved_rate")]
    assert set(rates) == {100.0}
    assert {"solved_rate", "solved_rate:twists-2", "solved_rate:twists-9"} <= set(found)
    counted = [value for name, value in found.items() if name.startswith("cubes:")]
    assert sum(counted) == 18
    few = cube.Solved((9,), cubes=6, max_steps=1)(CUBE2, Agent(CUBE2, nearness), 3)
    assert few["solved_rate"] < 50.0
    away = Agent(CUBE2, lambda game, state: -nearness(game, state))
    assert cube.Solved((9,), cubes=6)(CUBE2, away, 3)["solved_rate"] == 0.0


def test_a_search_finds_what_the_agent_alone_does_not():
    ignorant = Network(CUBE2, [[0]], sigmoid=False)
    alone = cube.Solved((3,), cubes=10, by_distance=False)(CUBE2, ignorant, 5)
    searching = cube.Solved((3,), cubes=10, iterations=3000, by_distance=False)
    assert alone["solved_rate"] < 50.0
    assert searching(CUBE2, ignorant, 5)["solved_rate:iterations-3000"] == 100.0


@pytest.mark.slow
def test_a_perfect_agent_gains_nothing_by_a_search():
    found = wrapped.AgainstItself((50,), starts=10)(NIM, Agent(NIM, maximum), 1)
    assert found == {"win_rate:Wrapped-50": 50.0, "elo:Wrapped-50": 0.0}
    better = wrapped.AgainstItself((300,), starts=10)(NIM, Network(NIM, [[0]]), 1)
    rate = better["win_rate:Wrapped-300"]
    assert rate > 70.0
    share = (rate / 100 * 20 + 0.5) / 21
    assert better["elo:Wrapped-300"] == pytest.approx(400 * np.log10(share / (1 - share)))


def test_positions_differ_and_are_as_many_as_there_can_be():
    found = wrapped.positions(TICTACTOE, 20, seed=1)
    assert len({tuple(start.actions) for start in found}) == 20
    assert {len(start.actions) for start in found} == {2}  # 9 after one ply, 72 after two
    others = wrapped.positions(TICTACTOE, 20, seed=2)
    assert [start.actions for start in found] != [start.actions for start in others]
    assert len(wrapped.positions(TICTACTOE, 10**6, seed=1, most_plies=1)) == 9
    assert wrapped.positions(games.load("game2048"), 3) == [None] * 3


def test_cells_of_the_tournament_are_a_hundred_matches():
    evaluator = tournament.Pairings(4, 30, 60)
    found = evaluator(TICTACTOE, Network(TICTACTOE, [[0, 1, 2]]), 2)
    names = ("TCL-wrap", "TCL-base", "MCTS")
    for first in names:
        for second in set(names) - {first}:
            cell = [found[f"{first} v {second}:{outcome}"] for outcome in tournament.OUTCOMES]
            assert sum(cell) == 100.0
    rates = tournament.won_games_rates(found, names)
    assert sum(rates.values()) == pytest.approx(150.0) and rates["TCL-base"] == min(rates.values())


@pytest.mark.slow
def test_points_alone_are_those_of_the_usual_evaluator():
    game = games.load("game2048")
    net = Network(game, [[0, 1, 2, 3]], sigmoid=False)
    found = wrapped.Alone(0, games=12, unit=1.0)(game, net, 1)["points:alone"]
    usual = Scores2048(games=100)(game, net, 1)["score"]
    assert 3_932_156 * found == pytest.approx(usual, rel=0.5)  # other games of the same player
    with pytest.raises(ValueError, match="single player"):
        wrapped.Alone()(NIM, Network(NIM, [[0]]), 1)


def test_levels_name_who_plays():
    assert othello.Levels().name == "alone v levels of Rhino"
    assert othello.Levels(iterations=100).short().name == "Wrapped-100 v levels of Rhino"
    assert othello.Levels("Edax", mcts=70).name == "MCTS-70 v levels of Edax"
    assert othello.Levels(levels=(8, 9)).name == "alone v levels 8, 9 of Rhino"
    with pytest.raises(ValueError, match="either"):
        othello.Levels(iterations=1, mcts=1)


def test_time_of_a_move_is_the_cost_of_its_record():
    evaluator = costs.Moves(5, games=2)
    found = evaluator(TICTACTOE, Network(TICTACTOE, [[0, 1, 2]]), 1)
    assert list(found) == ["moves:Wrapped-5"] and 10 <= found["moves:Wrapped-5"] <= 18
    runs = pd.DataFrame(
        {
            "arm": "base",
            "run": [0, 1, 2],
            "kind": ["eval", "eval", "train"],
            "evaluator": [evaluator.name, evaluator.name, ""],
            "cpu_seconds": [0.5, None, 9.0],
            "moves": [None, None, 90.0],
        }
    )
    table = pd.DataFrame({"arm": "base", "run": [0], "metric": "moves:Wrapped-5", "value": [10.0]})
    assert milliseconds("base", runs, table) == {"Wrapped-5": [50.0]}
    assert milliseconds("another", runs, table) == {}
