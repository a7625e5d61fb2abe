"""Margins halved and doubled: what is scaled, and which verdicts hang on it.

``python tests/papers/test_margins.py`` writes `data/papers/margins_moved.json` anew.
"""

import json

import pytest

from afterply.commands.reproduce import collect, find
from afterply.files import data_directory, write_text
from afterply.studies.papers import claims, errors
from afterply.studies.papers.compare import final_values
from afterply.studies.papers.margins import scaled, sensitive
from afterply.studies.papers.statements import DOES_NOT_HOLD, HOLDS, judge
from afterply.studies.results import by_columns, joined, key

RUNS = {"study": "s", "arm": "a", "select": {"measure": "win_rate"}}


@pytest.mark.parametrize(
    "part, doubled",
    [
        ({"above": 45, "ideal": 50}, {"above": 40}),
        ({"above": 50}, {"above": 50}),  # more than half is no margin
        ({"below": 10, "ideal": 0}, {"below": 20}),
        ({"from": -3, "to": 3}, {"from": -6, "to": 6}),
        ({"from": 8, "to": 22, "ideal": [10, 20]}, {"from": 6, "to": 24}),
        ({"by": 5}, {"by": 10}),
        ({"times": 0.9}, {"times": 0.81}),
    ],
)
def test_a_margin_is_the_distance_from_its_ideal(part, doubled):
    statement = claims.Statement("s", "so", {"section": "1"}, "so", "bound", [part])
    (changed,) = scaled(statement, 2.0).parts
    assert {name: changed[name] for name in doubled} == pytest.approx(doubled)


def test_a_verdict_that_hangs_on_a_margin_is_named():
    bounds = {"near": 45, "half": 25}
    statements = [
        claims.Statement(
            name, "so", {"section": "1"}, "so", "bound", [{"value": RUNS, "above": a, "ideal": 50}]
        )
        for name, a in bounds.items()
    ]
    runs = dict(enumerate([44.0, 43.6, 44.2, 43.9, 44.1, 44.3]))
    found = sensitive(statements, lambda some: judge(some, lambda *_: runs))
    assert found == {"near": (DOES_NOT_HOLD, HOLDS)}


def moved(results):
    """Return what hangs on margins in all papers; results: those of `by_columns`."""

    def values(study, arm, columns, which):
        rows = results.get((study, arm, key(columns)))
        return {} if rows is None else final_values(rows, which)

    return {
        f"{name}/{statement}": list(verdicts)
        for name, paper in claims.all().items()
        for statement, verdicts in sensitive(
            paper.statements, lambda some: judge(some, values, errors.known())
        ).items()
    }


if __name__ == "__main__":
    tables = [study.table() for study in collect(find())[0]]
    found = moved(by_columns(joined(tables)))
    write_text(data_directory() / "papers" / "margins_moved.json", json.dumps(found, indent=1))
