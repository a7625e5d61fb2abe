"""The table of times: ratios of players on one machine, gaps where nothing is known."""

import math

from afterstate.reports.times import times_table
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
