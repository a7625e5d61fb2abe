"""The table of times: ratios of players on one machine, gaps where nothing is known."""

import math

import pandas as pd

from afterstate.reports.times import searched_trainings, times_table
from afterstate.stats import mean_interval


def test_ratios_are_those_of_the_same_column():
    ours = {name: mean_interval([t, t]) for name, t in (("alone", 0.1), ("Wrapped-10", 3.0))}
    ours["MCTS-10"] = mean_interval([1.5])
    table = times_table(ours, {"alone": 0.4, "Wrapped-10": 10.0, "MCTS-10": 5.0})
    table = table.set_index("player")
    assert table.loc["Wrapped-10", "times MCTS, ours"] == 2.0
    assert table.loc["Wrapped-10", "times MCTS, paper"] == 2.0
    assert math.isclose(table.loc["Wrapped-10", "times the agent alone, ours"], 30.0)
    assert table.loc["Wrapped-10", "times the agent alone, paper"] == 25.0
    assert math.isnan(table.loc["MCTS-10", "95% low"]) and table.loc["MCTS-10", "ours, ms"] == 1.5


def test_gaps():
    table = times_table({"alone": mean_interval([0.1]), "Wrapped-20": mean_interval([1.0])}, {})
    assert table["times MCTS, ours"].isna().all() and table["paper, ms"].isna().all()
    assert times_table({}, {"alone": 1.0}).empty


def test_a_searched_training_by_the_agents_that_have_both_times():
    trained = pd.DataFrame({"arm": "base", "run": [0, 1], "kind": "train", "evaluator": None})
    trained = trained.assign(moves=100.0, cpu_seconds=[1.0, 3.0])
    played = trained.assign(kind="eval", evaluator="moves of Wrapped-5", moves=None)
    played = played.assign(cpu_seconds=[4.0, 8.0])
    unsearched = played.assign(evaluator="moves of alone")
    runs = pd.concat([trained, played[:1], unsearched])
    names = ["moves:Wrapped-5", "moves:alone"] * 2
    results = pd.DataFrame({"arm": "base", "run": [0, 0, 1, 1], "metric": names, "value": 10.0})
    [row] = searched_trainings("base", runs, results, {"Wrapped-5": 30.0}).to_dict("records")
    assert row["moves of the training by"] == "Wrapped-5" and row["factor, paper"] == 30.0
    assert math.isclose(row["factor, ours"], 1.0 + 0.4 / 0.01)
    runs = pd.concat([trained, played])
    assert math.isclose(searched_trainings("base", runs, results, {})["factor, ours"][0], 31.0)
    assert searched_trainings("another", runs, results, {}).empty
