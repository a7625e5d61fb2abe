"""Printed times beside ours: ratios of what records cost, from nothing else."""

import pandas as pd
import pytest

from afterply.studies import papers
from afterply.studies.reports.times import NOT_YET, ours_of

PLAYERS = {"alone": 0.5, "Wrapped-100": 5.0, "MCTS-10000": 50.0}  # printed


def claim(column, value, timed):
    place = {"table": "IV", "row": "Nim", "column": column}
    fields = {"target": False, "reason": "a timing", "study": "nim", "arm": "base", "timed": timed}
    return papers.Claim(f"alpha2020/{column}", place, str(value), value, "time", **fields)


MOVES = [
    claim(player, value, {"what": "move", "player": player, "than": "MCTS-10000"})
    for player, value in PLAYERS.items()
]


def tables(agents=3, provenance="recorded"):
    """Return runs: 0.1 s a training move, 1 s of Wrapped-100, 4 s of MCTS-10000."""
    runs = []
    for run in range(agents):
        slow = 1 + run  # machines differ, ratios do not
        runs.append(("base", run, "train", None, provenance, 10.0 * slow, 100.0))
        for player, cost in (("Wrapped-100", 20.0), ("MCTS-10000", 80.0)):
            runs.append(("base", run, "eval", f"moves of {player}", provenance, cost * slow, 20.0))
        runs.append(("base", run, "eval", "strength", provenance, 5.0, None))
    columns = ["arm", "run", "kind", "evaluator", "provenance", "cpu_seconds", "moves"]
    return pd.DataFrame(runs, columns=columns)


def test_moves_are_multiples_of_another_player_on_the_same_machine():
    alone, wrapped, search = MOVES
    full = "× MCTS: 0.25 [0.25, 0.25] (3 agents), printed 0.1"
    assert ours_of(wrapped, MOVES, tables()) == ("0.25 × MCTS (0.1)", full)
    unit = "the unit: 8,000 ms (3 agents)"
    assert ours_of(search, MOVES, tables()) == ("1 (8,000 ms)", unit)
    assert ours_of(alone, MOVES, tables()) == NOT_YET
    # two agents have no interval worth showing
    assert ours_of(wrapped, MOVES, tables(2))[1].startswith("× MCTS: 0.25 (2 agents)")
    runs = tables()
    runs.loc[(runs["run"] == 2) & (runs["evaluator"] == "moves of Wrapped-100"), "cpu_seconds"] *= 9
    # (1 + 2 + 27) / (4 + 8 + 12), where the t interval alone begins below 0
    assert ours_of(wrapped, MOVES, runs)[1].startswith("× MCTS: 1.2 [0.0, ")


@pytest.mark.parametrize(
    "timed, short, full",
    [
        ({"what": "factor", "player": "Wrapped-100"}, "11", "11 [11, 11] (3 agents)"),
        ({"what": "training", "agents": 10}, "3.3 min", "3.3 min, 10 agents at 20 s (3 recorded)"),
        (
            {"what": "searched training", "player": "Wrapped-100", "agents": 10},
            "37 min",
            "37 min: 11 × 3.3 min (3 agents)",
        ),
    ],
)
def test_a_searched_training_costs_the_search_more(timed, short, full):
    assert ours_of(claim("time", 99, timed), [], tables()) == (short, full)


@pytest.mark.parametrize("provenance", ["trained here", "missing"])
def test_only_the_costs_of_records_count(provenance):
    assert ours_of(MOVES[1], MOVES, tables(provenance=provenance)) == NOT_YET
    assert ours_of(claim("a", 1, None), MOVES, tables()) is None
