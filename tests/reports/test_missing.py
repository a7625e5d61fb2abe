"""What is missing: counted by study and arm, with its cost and the command that makes it."""

from types import SimpleNamespace

import pandas as pd

from afterstate.papers.statements import HOLDS, STATEMENT_NOT_RUN
from afterstate.reports import missing

COLUMNS = ["study", "arm", "kind", "evaluator", "provenance", "estimated_cpu_seconds", "notebook"]
RUNS = pd.DataFrame(
    [
        ("nim", "FARL", "train", None, "recorded", None, "11_nim"),
        ("nim", "no-FARL", "train", None, "missing", 3600.0, "11_nim"),
        ("nim", "no-FARL", "eval", "MaxN", "missing", 0.0, "11_nim"),
        ("othello", "FARL", "eval", "levels of Edax", "missing", 0.0, "14_othello"),
        ("othello", "TCL", "train", None, "missing", 7200.0, "14_othello"),
        ("othello", "TCL", "eval", "levels of Edax", "missing", 0.0, "14_othello"),
    ],
    columns=COLUMNS,
)


def test_missing_runs_are_counted_by_study_and_arm():
    found = missing.lacking(RUNS)
    assert list(found) == ["nim", "othello"] and missing.lacking(RUNS[:1]) == {}
    (arm,) = found["nim"].arms
    assert (arm.name, arm.words) == ("no-FARL", "1 training and 1 evaluation")
    assert found["nim"].cost.words == "1 h"
    assert found["nim"].command.endswith("reproduce notebook 11_nim --profile paper")
    assert [arm.cost.words for arm in found["othello"].arms] == ["needs Edax", "2 h, without Edax"]
    assert missing.total(found.values()).words == "3 h, without Edax"
    assert missing.sentence(RUNS) == (
        "make reproduce BUDGET=all makes them (CPU time: 3 h, without Edax)."
    )
    assert missing.sentence(RUNS[:1]) == ""


def test_statements_that_are_not_run_say_what_they_need():
    def row(name, verdict, study, arm, metric="win_rate"):
        part = {"value": {"study": study, "arm": arm, "metric": metric}, "above": 1}
        return SimpleNamespace(verdict=verdict, statement=SimpleNamespace(id=name, parts=[part]))

    rows = [
        row("done", HOLDS, "nim", "FARL"),
        row("trained", STATEMENT_NOT_RUN, "nim", "no-FARL"),
        row("shown by another arm", STATEMENT_NOT_RUN, "othello", "view", "win_rate:Edax-1"),
        row("not planned", STATEMENT_NOT_RUN, "hex", "FARL"),
    ]
    found = missing.needs(SimpleNamespace(statements=rows), missing.lacking(RUNS))
    assert {name: need["text"] for name, need in found.items()} == {
        "trained": "needs 1 training (1 h of CPU time)",
        "shown by another arm": "needs 1 training (2 h of CPU time) and Edax",
    }
    assert found["trained"]["anchor"] == "missing-nim"
