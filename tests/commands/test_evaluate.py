"""The artifact appendix that runs itself: its table, what counts as come out, what is kept."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import t

from afterply.commands import INTERRUPTED, evaluate, reproduce
from afterply.files import data_directory, read_yaml
from afterply.studies.records import read
from afterply.studies.results import in_words

ROOT = Path(__file__).resolve().parents[2]
TABLE = read_yaml(ROOT / "data" / "evaluate.yaml")
POINTS = [(name, point) for name, one in TABLE["lists"].items() for point in one["points"]]
RECORDED = [
    one for row in TABLE["rows"] if not isinstance(row["expect"], str) for one in row["expect"]
]
RECORDED = [one for one in RECORDED if "recorded" in one]


def test_the_table_names_every_paper_and_takes_a_quarter_of_an_hour():
    ids = [row["id"] for row in TABLE["rows"]]
    assert len(set(ids)) == len(ids) and sum(row["minutes"] for row in TABLE["rows"]) <= 15
    papers = [path.stem for path in (ROOT / "data" / "papers").glob("*20??.yaml")]
    for paper in papers:  # a repeat, and something new
        assert f"{paper}-repeat" in ids and sum(name.startswith(paper) for name in ids) > 1
    for row in TABLE["rows"]:
        assert ("python" in row) != ("command" in row) and row["claim"] and row["expect"]


@pytest.mark.parametrize("name, point", POINTS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_point_is_checked_or_left_to_who_publishes(name, point):
    assert ("publisher" in point) != bool({"files", "rows"} & point.keys())
    for file in point.get("files", []):
        assert (ROOT / file).exists()
    rows = point.get("rows", [])
    assert rows == "all" or {*rows} <= {row["id"] for row in TABLE["rows"]}


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one["of"])
def test_tolerances_follow_from_the_records(one):
    given, unit = one["recorded"], read_yaml(ROOT / "data" / "papers" / "margins.yaml")
    result, n = given["result"], given["runs"]
    margin = 0.0
    if result.startswith(("win_rate", "solved_rate", "points")):
        margin = unit["percent"]["absolute"]
    elif result.startswith("score"):
        margin = unit["reward"]["absolute"]
    elif result == "convergence_games":
        margin = unit["training games"]["relative"] * one["value"]
    spread = t.ppf(0.9995, n - 1) * given["sd"] * math.sqrt(1 / n + 1 / given["new"])
    assert max(spread, margin) == pytest.approx(one["tolerance"], rel=0.015)
    found = read(ROOT / "data" / "records" / f"{given['study']}.jsonl")[1].values()
    found = [one for one in found if one["arm"] == given["arm"] and one["run"] < n]
    values = [
        series[-1]
        for one in found
        for row, series in zip(one.get("rows", ()), one.get("values", ()), strict=True)
        if in_words(row) == result
    ]
    if len(values) == n:  # neither derived from others, nor in the records of another arm
        assert np.mean(values) == pytest.approx(one["value"], rel=0.003)
        assert np.std(values, ddof=1) == pytest.approx(given["sd"], rel=0.003, abs=1e-9)


NUMBER = {"of": "FARL, x", "value": 2.0, "tolerance": 0.5}


@pytest.mark.parametrize(
    "said, status, right",
    [
        ("FARL, x: 2.5 (3 runs)", 0, True),
        ("no-FARL, x: 9\nFARL, x: 1.5", 0, True),  # another arm whose name ends like it
        ("FARL, x: 2.51", 0, False),
        ("FARL, x: -2", 0, False),
        ("FARL, x: 2", 1, False),  # it printed its number, and failed
        ("no-FARL, x: 2", 0, False),
        ("FARL, x: nan", 0, False),
        ("", 0, False),
    ],
)
def test_a_number_comes_out_within_its_tolerance(said, status, right):
    assert [came for _, came in evaluate.found({"expect": [NUMBER]}, status, said)] == [right]


def test_a_comparison_comes_out_if_the_command_says_so_and_ends_well():
    row = {"expect": "identical", "says": " 0 different."}
    for said, status, right in (("3, 0 different.", 0, 1), ("3, 0 different.", 1, 0), ("1", 0, 0)):
        assert evaluate.found(row, status, said)[0][1] == right
    bound = {"expect": [{"of": "x", "at_least": 10}]}
    assert [evaluate.found(bound, 0, f"x: {n}")[0][1] for n in (9.9, 10, 99)] == [False, True, True]


def small_table(place, monkeypatch, *programs):
    rows = [
        {"id": name, "claim": f"{name} | holds", "python": program, "minutes": 0.1}
        | {"expect": [{"of": "x", "value": 1, "tolerance": 0}]}
        for name, program in programs
    ]
    points = [{"point": "it runs", "rows": "all"}, {"point": "there", "files": ["data"]}]
    points += [{"point": "a DOI", "publisher": "who publishes"}]
    table = {"about": "Small.", "rows": rows, "lists": {"List": {"source": "?", "points": points}}}
    (place / "data").mkdir()
    (place / "data" / "evaluate.yaml").write_text(yaml.safe_dump(table))
    monkeypatch.setenv("AFTERPLY_DATA", str(place / "data"))
    monkeypatch.delenv("AFTERPLY_REPORTS", raising=False)
    assert data_directory() == place / "data"
    return place / "reports" / "evaluate" / "evaluation.md"


def test_the_status_is_0_only_if_all_rows_came_out(tmp_path, monkeypatch, capsys):
    good, bad = ("good", 'print("x: 1")'), ("bad", 'print("x: 2")')
    page = small_table(tmp_path, monkeypatch, good, bad)
    assert reproduce.main(["evaluate", "good"]) == 0 and "it runs" not in page.read_text()
    assert reproduce.main(["evaluate"]) == 1
    text, said = page.read_text(), capsys.readouterr().out
    assert "| it runs | **no** |" in text and "| there | yes |" in text
    assert "| a DOI | who publishes | who publishes |" in text and "bad \\| holds" in text
    assert "1 of 2 rows came out" in said and "no: it runs" in said
    assert reproduce.main(["evaluate", "godo"]) == 2 and "'good'" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    programs = [(name, 'print("x: 1")') for name in ("one", "two", "three")]
    page, run = small_table(tmp_path, monkeypatch, *programs), evaluate.execute

    def stop_at_the_second(row, root):
        if row["id"] == "two":
            raise KeyboardInterrupt
        return run(row, root)

    monkeypatch.setattr(evaluate, "execute", stop_at_the_second)
    assert reproduce.main(["evaluate"]) == INTERRUPTED
    cells = [line.split(" | ")[-1].strip(" |") for line in page.read_text().split("\n")[6:9]]
    assert cells == ["yes", "not run", "not run"]
    assert "1 of 3 rows came out" in capsys.readouterr().out
