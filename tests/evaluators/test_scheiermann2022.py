"""Wrapped agents against exact values, sums that must come out; exact distances of cubes."""

import numpy as np
import pandas as pd
import pytest

from afterstate import games, players
from afterstate.networks.ntuple import Network
from afterstate.papers.scheiermann2022 import (
    connect4_tournament,
    searched_costs,
    tournament_tables,
    wrapper_gains,
    wrapping,
)
from afterstate.papers.scheiermann2022.cube_distance import FAR, distance, distances, table2, table3
from afterstate.papers.scheiermann2022.cube_solving import Solved, scramble
from afterstate.papers.scheiermann2022.move_times import milliseconds
from oracles.cube_play import after, inverse, random_twists, starts

KNOWN_2 = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
KNOWN_3 = [1, 18, 243, 3240, 43239, 574908]
NIM, CUBE2, CUBE3, TICTACTOE = map(games.load, ("nim", "cube2", "cube3", "tictactoe"))


class Agent:
    """An agent made of a function (game, state) -> values."""

    def __init__(self, game, function):
        self.game, self.function = game, function

    def action_values(self, state, gamma=1.0):
        return self.function(self.game, state)


def nearness(game, state):
    following = np.array([game.play(state, action) for action in game.legal(state)])
    return 1.0 - 0.04 * distances(game, following)


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
    ones = {tuple(scramble(game, 1, seed)) for seed in range(200)}
    assert len(ones) == game.actions
    twos = [scramble(game, 2, seed) for seed in range(60)]  # never the same face twice
    assert (distances(game, np.array(twos)) == 2).all()


def test_an_agent_that_knows_the_distances_solves_every_cube():
    found = Solved((8, 9), (2,), cubes=6, max_steps=11)(CUBE2, Agent(CUBE2, nearness), 3)
    rates = [value for name, value in found.items() if name.startswith("solved_rate")]
    assert set(rates) == {100.0}
    assert {"solved_rate", "solved_rate:twists-2", "solved_rate:twists-9"} <= set(found)
    assert sum(value for name, value in found.items() if name.startswith("cubes:")) == 18
    few = Solved((9,), cubes=6, max_steps=1)(CUBE2, Agent(CUBE2, nearness), 3)
    assert few["solved_rate"] < 50.0
    away = Agent(CUBE2, lambda game, state: -nearness(game, state))
    assert Solved((9,), cubes=6)(CUBE2, away, 3)["solved_rate"] == 0.0


def test_a_search_finds_what_the_agent_alone_does_not():
    ignorant = Network(CUBE2, [[0]], sigmoid=False)
    alone = Solved((3,), cubes=10, by_distance=False)(CUBE2, ignorant, 5)
    searching = Solved((3,), cubes=10, iterations=3000, by_distance=False)
    assert alone["solved_rate"] < 50.0
    assert searching(CUBE2, ignorant, 5)["solved_rate:iterations-3000"] == 100.0


def test_counts_per_distance():
    assert np.bincount(table2()).tolist() == KNOWN_2 and sum(KNOWN_2) == 3_674_160
    assert table3()[1] == KNOWN_3


def test_neighbours_on_the_2x2x2_are_at_most_one_twist_nearer_or_farther():
    states = starts(games.load("cube2", max_twists=13), 3000)
    near = distances(CUBE2, states)
    assert near.max() >= 9
    for action in range(9):
        beside = [CUBE2.play(CUBE2.parse(CUBE2.render(s)), action) for s in states[:200]]
        assert (abs(distances(CUBE2, np.array(beside)) - near[:200]) <= 1).all()
    for s, d in zip(states[:200], near[:200]):
        assert min(distance(CUBE2, CUBE2.play(s, a)) for a in CUBE2.legal(s)) == d - 1


@pytest.mark.parametrize("game, known", [(CUBE2, KNOWN_2), (CUBE3, KNOWN_3)])
def test_distances_equal_plain_breadth_first_search(game, known):
    found, level = {tuple(after(game, "")[:-1]): 0}, [after(game, "")]
    for d in (1, 2, 3):
        nearer, level = level, []
        for s, action in ((s, a) for s in nearer for a in range(game.actions)):
            s = np.array([*s[:-1], 0], np.int32)
            solved = game.over(s)
            s = after(game, game.action_name(s, action)) if solved else game.play(s, action)
            if tuple(s[:-1]) not in found:
                found[tuple(s[:-1])] = d
                level.append(s)
    states = np.array([[*s, 0] for s in found], np.int32)
    assert distances(game, states).tolist() == list(found.values())
    assert np.bincount(list(found.values())).tolist() == known[:4]


def test_a_search_is_the_distance_to_the_solved_state_and_as_far_for_the_inverse():
    for twists, n in (("R L U2 F' D B2 R", 7), ("U D U D", 2), ("R2 L2 U2 D2 F2 B2", 6)):
        assert distance(CUBE3, after(CUBE3, twists)) == n
    random = np.random.default_rng(6)
    for length in (6, 7, 8) * 5:
        twists = random_twists(CUBE3, length, random)
        there, back = (distance(CUBE3, after(CUBE3, t)) for t in (twists, inverse(twists)))
        assert there == back <= length  # an element of a group is as far from 1 as its inverse
        if there > 1:
            ways = [distance(CUBE3, CUBE3.play(after(CUBE3, twists), a)) for a in range(18)]
            assert min(ways) == there - 1 and max(ways) <= there + 1


def test_a_limit_and_what_is_no_cube_are_named():
    far, near = after(CUBE3, "R L U2 F' D B2 R"), after(CUBE2, "U")
    assert distances(CUBE3, [far, after(CUBE3, "U")], limit=6).tolist() == [FAR, 1]
    twice, turned, edges = after(CUBE2, ""), after(CUBE3, ""), after(CUBE3, "")
    twice[0] += 4  # the first two corners at one location
    turned[0] |= 3  # no orientation
    edges[2] = 0
    for call, message in (
        (lambda: distance(CUBE3, far, limit=6), "more than limit=6 twists"),
        (lambda: distance(CUBE3, far, limit=3), "from 5 to 20, not 3"),
        (lambda: distance(TICTACTOE, far), "not 'tictactoe'"),
        (lambda: distance(CUBE2, far), r"array \[n, 3\], not of shape \(1, 6\)"),
        (lambda: distances(CUBE2, [near, twice]), "state 1 of 2, .* is no cube: take states"),
        (lambda: distance(CUBE3, turned), "is no cube"),
        (lambda: distance(CUBE3, edges), "is no cube"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# Wrapped agents


@pytest.mark.slow
def test_a_perfect_agent_gains_nothing_by_a_search():
    found = wrapping.AgainstItself((50,), starts=10)(NIM, Agent(NIM, maximum), 1)
    assert found == {"win_rate:Wrapped-50": 50.0, "elo:Wrapped-50": 0.0}
    better = wrapping.AgainstItself((300,), starts=10)(NIM, Network(NIM, [[0]]), 1)
    rate = better["win_rate:Wrapped-300"]
    assert rate > 70.0
    share = (rate / 100 * 20 + 0.5) / 21
    assert better["elo:Wrapped-300"] == pytest.approx(400 * np.log10(share / (1 - share)))


def test_cells_of_the_tournament_are_a_hundred_matches():
    net, names = Network(TICTACTOE, [[0, 1, 2]]), ("TCL-wrap", "TCL-base", "MCTS")
    found = connect4_tournament.Pairings(4, 30, 60)(TICTACTOE, net, 2)
    for first in names:
        for second in set(names) - {first}:
            outcomes = connect4_tournament.OUTCOMES
            assert sum(found[f"{first} v {second}:{outcome}"] for outcome in outcomes) == 100.0
    rates = connect4_tournament.won_games_rates(found, names)
    assert sum(rates.values()) == pytest.approx(150.0) and rates["TCL-base"] == min(rates.values())


def test_start_positions_differ_and_are_as_many_as_there_can_be():
    found = wrapping.positions(TICTACTOE, 20, seed=1)
    assert {len(start.actions) for start in found} == {2}  # 9 after one ply, 72 after two
    assert len({tuple(start.actions) for start in found}) == 20
    assert len(wrapping.positions(TICTACTOE, 10**6, seed=1, most_plies=1)) == 9
    assert wrapping.positions(games.load("game2048"), 3) == [None] * 3


def test_levels_name_who_plays():
    assert wrapping.Levels().name == "alone v levels of Rhino"
    assert wrapping.Levels("Edax", mcts=70).name == "MCTS-70 v levels of Edax"
    assert wrapping.Levels(levels=(8, 9)).name == "alone v levels 8, 9 of Rhino"


def test_time_of_a_move_is_the_cost_of_its_record():
    evaluator = wrapping.Moves(5, games=2)
    found = evaluator(TICTACTOE, Network(TICTACTOE, [[0, 1, 2]]), 1)
    assert list(found) == ["moves:Wrapped-5"] and 10 <= found["moves:Wrapped-5"] <= 18
    rows = {"arm": "base", "run": [0, 1, 2], "kind": ["eval", "eval", "train"]}
    rows |= {"evaluator": [evaluator.name, evaluator.name, ""], "cpu_seconds": [0.5, None, 9.0]}
    runs = pd.DataFrame(rows | {"moves": [None, None, 90.0]})
    table = pd.DataFrame({"arm": "base", "run": [0], "metric": "moves:Wrapped-5", "value": [10.0]})
    assert milliseconds("base", runs, table) == {"Wrapped-5": [50.0]}
    assert milliseconds("another", runs, table) == {}


def test_rates_of_a_tournament_need_every_pair():
    cells = {
        f"{first} v {second}:{outcome}": games
        for first, second in tournament_tables.PAIRS
        for outcome, games in (("wins", 60.0), ("ties", 20.0), ("losses", 20.0))
    }
    won = tournament_tables.rates(pd.DataFrame([cells]))
    assert won["won_games_rate"] == won["MCTS won_games_rate"] == 50.0 and len(won) == 4
    del cells["MCTS v AB-DL:wins"]
    assert tournament_tables.rates(pd.DataFrame([cells])) == {}


def test_halves_of_the_search_are_mean_differences():
    labels = wrapper_gains.part_labels(20)  # both, priors only, values only, neither
    rows = [
        ("nim", run, f"elo:{label}", points)
        for run in range(2)
        for label, points in zip(labels, (100.0, 30.0, 80.0, 20.0), strict=True)
    ]
    last = pd.DataFrame(rows, columns=["arm", "run", "metric", "value"])
    found = wrapper_gains.halves(last, 20).set_index("of the agent")["rating difference"]
    assert found.to_dict() == {"priors": 15.0, "values": 65.0}
    assert wrapper_gains.halves(last.iloc[1:4], 20).empty


def test_costs_of_searched_trainings_are_those_of_one_machine():
    rows = [("W0", "a", 10.0), ("W9", "a", 100.0), ("W9", "b", 50.0), ("TCL-base", "a", 20.0)]
    runs = pd.DataFrame(rows, columns=["arm", "machine", "cpu_seconds"])
    runs = runs.assign(kind="train", games=1000)
    each, agents = searched_costs.per_game(runs, runs, "W9")
    costs = searched_costs.on_one_machine(each, agents, "W9", 9)
    assert costs == ("a", 9, 10.0, 100.0, 20.0)
    assert searched_costs.on_one_machine(each.drop(index="a"), agents, "W9", 9) is None
