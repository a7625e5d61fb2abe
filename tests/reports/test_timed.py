"""Printed times beside ours: ratios of what records cost, from nothing else."""

import pandas as pd
import pytest

from afterstate import papers
from afterstate.files import published_file
from afterstate.reports import collect, sources, timed

REPORT = published_file("papers").parents[1] / "reports" / "paper"
PLAYERS = {"alone": 0.5, "Wrapped-100": 5.0, "MCTS-10000": 50.0}  # printed


def claim(column, value, timed_):
    return papers.Claim(
        id=f"alpha2020/{column}",
        place={"table": "IV", "row": "Nim", "column": column},
        printed=str(value),
        value=value,
        unit="time",
        target=False,
        reason="a timing",
        study="nim",
        arm="base",
        timed=timed_,
    )


MOVES = [
    claim(player, value, {"what": "move", "player": player, "than": "MCTS-10000"})
    for player, value in PLAYERS.items()
]


def tables(agents=3, provenance="recorded"):
    """Return runs and results: 0.1 s a training move, 1 s of Wrapped-100, 4 s of MCTS-10000."""
    runs, results = [], []
    for run in range(agents):
        slow = 1 + run  # machines differ, ratios do not
        runs.append(("base", run, "train", None, provenance, 10.0 * slow, 100.0))
        for player, cost in (("Wrapped-100", 20.0), ("MCTS-10000", 80.0)):
            runs.append(("base", run, "eval", f"moves of {player}", provenance, cost * slow, None))
            results.append(("base", run, f"moves:{player}", 20.0))
    columns = ["arm", "run", "kind", "evaluator", "provenance", "cpu_seconds", "moves"]
    return (
        pd.DataFrame(runs, columns=columns),
        pd.DataFrame(results, columns=["arm", "run", "metric", "value"]),
    )


def test_moves_are_multiples_of_another_player_on_the_same_machine():
    alone, wrapped, search = MOVES
    assert timed.ours(wrapped, MOVES, *tables()) == (
        "0.25 × MCTS (0.1)",
        "× MCTS: 0.25 [0.25, 0.25] (3 agents), printed 0.1",
    )
    assert timed.ours(search, MOVES, *tables()) == ("1 (8,000 ms)", "the unit: 8,000 ms (3 agents)")
    assert timed.ours(alone, MOVES, *tables()) == timed.NOT_YET
    # two agents have no interval worth showing
    assert timed.ours(wrapped, MOVES, *tables(2)).full.startswith("× MCTS: 0.25 (2 agents)")


def test_the_interval_is_that_of_the_agents_and_ends_at_what_can_be():
    runs, results = tables()
    runs.loc[(runs["run"] == 2) & (runs["evaluator"] == "moves of Wrapped-100"), "cpu_seconds"] *= 9
    said = timed.ours(MOVES[1], MOVES, runs, results).full
    # (1 + 2 + 27) / (4 + 8 + 12), where the t interval alone begins below 0
    assert said.startswith("× MCTS: 1.2 [0.0, ") and "(3 agents)" in said


def test_a_searched_training_costs_the_search_more():
    factor = claim("factor", 99, {"what": "factor", "player": "Wrapped-100"})
    assert timed.ours(factor, [], *tables()) == ("11", "11 [11, 11] (3 agents)")
    training = claim("training", "1 d", {"what": "training", "agents": 10})
    assert timed.ours(training, [], *tables()) == (
        "3.3 min", "3.3 min, 10 agents at 20 s (3 recorded)"
    )  # fmt: skip
    searched = {"what": "searched training", "player": "Wrapped-100", "agents": 10}
    said = timed.ours(claim("searched", "1 year", searched), [], *tables())
    assert said == ("37 min", "37 min: 11 × 3.3 min (3 agents)")


@pytest.mark.parametrize("provenance", ["trained here", "missing", "re-run here: differs"])
def test_only_the_costs_of_records_count(provenance):
    assert timed.ours(MOVES[1], MOVES, *tables(provenance=provenance)) == timed.NOT_YET
    assert timed.ours(MOVES[1], MOVES, None, None) == timed.NOT_YET
    assert timed.ours(claim("a", 1, None), MOVES, *tables()) is None


def test_the_records_answer_tables_3_and_4():
    paper, gaps, found = papers.load("scheiermann2022"), [], {}
    for one in (c for c in paper.claims if c.timed and c.study == "connect4-wrapper"):
        runs = sources.runs(REPORT, one.study, gaps)
        ours = timed.ours(one, paper.claims, runs, sources.results(REPORT, one.study, gaps))
        found[one.place["column"]] = float(ours.short.split(" ")[0])
    assert not gaps and len(found) == 8
    # more iterations cost more; a wrapper of 1,000 is near Monte Carlo tree search of 10,000
    few, more, most = (found[f"TCL-wrap [{n}]"] for n in (100, 1000, 10000))
    assert found["TCL-base"] < few < more < 1 < most
    assert 100 < found["factor"] < 5000
    assert found["base training time"] < 34  # hours, printed
    timed_claims = [c for c in paper.claims if c.timed]
    assert {c.place.get("table") for c in timed_claims} == {"III", "IV", None}
    assert not any(c.target for c in timed_claims)


def test_the_page_shows_ours_with_the_records_behind_it(tmp_path):
    runs, results = (table.assign(study="nim") for table in tables())
    lacking = runs[:1].assign(run=3, provenance="missing", cpu_seconds=None, moves=None)
    runs = pd.concat([runs, lacking.assign(estimated_cpu_seconds=60.0)])
    data = tmp_path / "paper" / "data"
    data.mkdir(parents=True)
    runs.assign(notebook="", moves_per_second=None, commit="", date="", machine="", key="k").to_csv(
        data / "nim.runs.csv", index=False
    )
    results.assign(episode=10).to_csv(data / "nim.results.csv", index=False)
    paper = papers.Paper("alpha2020", "Times", ["A"], 2020, "https://example.org", MOVES, [], [])
    summary = collect.build("paper", tmp_path, {"alpha2020": paper})
    alone, wrapped, _ = summary.parts[0].rows
    assert (alone.ours, wrapped.short) == ("not measured yet", "0.25 × MCTS (0.1)")
    assert wrapped.verdict == "not a target"
    assert wrapped.provenance == "3 recorded, 1 missing" and alone.provenance == "1 missing"
    page = (tmp_path / "paper" / "alpha2020.html").read_text()
    assert "0.25 × MCTS (0.1)</a>" in page and "nothing yet" not in page
    assert 'href="data/nim.runs.csv">nim.runs.csv' in page
