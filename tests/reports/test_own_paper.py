"""A paper of one's own: its claims are judged by any table of runs, slips are told at once."""

import pandas as pd
import pytest

from afterply.commands import cli
from afterply.files import data_directory
from afterply.studies.records import read
from afterply.studies.reports.own_paper import judge

CLAIMS = """
margins: {accuracy: {absolute: 0.5, why: less than between two seeds}}
claims:
  - {id: own/acc, place: {section: Abstract}, value: 93.1, unit: accuracy, arm: new, metric: acc}
  - {id: own/gone, place: {section: '2'}, value: 90, unit: accuracy, arm: lost, metric: acc}
statements:
  - id: better
    says: the new method is better
    place: {table: '1'}
    test: ordering
    parts: [{high: {arm: new, metric: acc}, low: {arm: old, metric: acc}}]
  - {id: nine, says: over 90, place: {section: Abstract}, test: bound, parts: [{value: {arm: old,
    metric: acc}, above: 95}]}
"""
RUNS = "arm,run,metric,value\n" + "".join(
    f"{arm},{run},acc,{value}\n"
    for arm, values in {
        "new": (93.0, 93.2, 93.05, 93.1, 93.15),
        "old": (91.0, 91.2, 90.9, 91.1, 91.05),
    }.items()
    for run, value in enumerate(values)
)


@pytest.fixture
def files(tmp_path):
    """Write the two files with a change in one of them; return their paths."""

    def write(old="", new=""):
        paths = tmp_path / "own.yaml", tmp_path / "own.csv"
        for path, text in zip(paths, (CLAIMS, RUNS)):
            path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
        return paths

    return write


def test_added_runs_are_judged_by_their_looks(files):
    """Three runs of each, then two: said beforehand, each look pays."""
    once, twice = (
        judge(*files("    test: ordering\n", f"    test: ordering\n{looks}")).table.iloc[0]
        for looks in ("", "    looks: [3, 5]\n")
    )
    assert once.verdict == "holds" and twice.verdict == "undecided" and "p* = 0.0" in once.ours
    with pytest.raises(ValueError, match=r"looks are \[5, 3\]; they are growing numbers of runs"):
        judge(*files("    test: ordering\n", "    test: ordering\n    looks: [5, 3]\n"))


def test_verdicts_gaps_and_the_page(files, capsys):
    claims, runs = files()
    found = judge(claims, runs)
    verdicts = dict(zip(found.table["id"], found.table["verdict"]))
    expected = {"better": "holds", "nine": "does not hold"}
    expected |= {"own/acc": "reproduced", "own/gone": "not run"}
    assert verdicts == expected
    assert "no acc of the arm lost" in repr(found) and found.there == "5 of new, acc; 5 of old, acc"
    halves = [half for _, half in pd.read_csv(runs).groupby("arm")]
    assert judge(claims, *halves).table.equals(found.table)
    later = pd.read_csv(runs).assign(episode=2)
    curve = pd.concat([later, later.assign(episode=1, value=0.0)])
    assert judge(claims, curve).table.equals(found.table)
    assert cli.main(["judge", str(claims), str(runs)]) == 0
    assert "reproduced: own/acc, '93.1'" in capsys.readouterr().out
    page = (claims.parent / "own" / "index.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("93.1", "does not hold", "new method"))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("value: 93.1, ", "", "own.yaml: claim own/acc: value is None"),
        ("id: own/acc, ", "", "claims, entry 1: id is missing"),
        ("why: less than between two seeds", "who: me", "own.yaml: rule accuracy: unknown field"),
        ("statements:", "claims: [", "not valid YAML"),
        ("says: over 90, ", "", "statement nine: says is missing"),
        (", above: 95", "", "statement nine: a part needs above or below"),
        ("high: {arm: new, ", "high: {", "statement better, a part, high: arm is missing"),
        ("test: ordering\n    parts: [{high", "test: trend\n    parts: [{rising", "must be list"),
        (",value", ",val", "own.csv lacks the column value; it has arm, run, measure, val"),
        ("93.2", "high", "own.csv, line 3: arm new, run 1, measure acc, value high"),
        ("93.2", "inf", "leave out runs without a result"),
        ("new,1", "new,0", "run 0 of new in own has two final values of acc"),
        (RUNS, "", "own.csv is no table of comma-separated values"),
        # nothing is dropped, and nothing guessed
        (CLAIMS, f"{CLAIMS}statements: []\n", "the key 'statements' stands there twice"),
        (", above: 95", ", above: 95, above: 9", "the key 'above' stands there twice"),
        ("above: 95", "above: 1:37", "above is '1:37' (str); it must be int or float"),
        ("above: 95", "above: 0141", "above is '0141' (str); it must be int or float"),
        ("above: 95", "above: .nan", "above is nan; it must be a finite number"),
        ("value: 93.1, ", "value: yes, ", "value is 'yes'; a target needs numbers"),
        ("above: 95}]}\n", "above: 9", "was cut off, or lacks the line break"),
        ("above: 95}]}\n", "above: *a}]}\n", "not valid YAML"),
        (",91.05\n", ",9", "own.csv is no table of comma-separated values: its last line"),
        ("metric,value", "value,value", "own.csv has the column value twice"),
        ("93.2", "True", "own.csv, line 3: arm new, run 1, measure acc, value True"),
    ],
)
def test_a_slip_is_told_with_its_place(files, capsys, old, new, message):
    claims, runs = files(old, new)
    assert cli.main(["judge", str(claims), str(runs)]) == 2
    assert message in capsys.readouterr().err
    if "own.yaml" in message:  # before any run is looked at
        assert cli.main(["judge", str(claims)]) == 2


def test_all_slips_are_told_at_once_those_of_entries_of_rules_and_of_tables(files, capsys):
    claims, runs = files()
    for old, new in (
        ("value: 93.1, ", "valeu: 93.1, "),
        ("value: 90, unit: accuracy", "value: 90, unit: acuracy"),
        ("says: over 90, ", ""),
        ("place: {table: '1'}\n    test", "test"),
    ):
        assert old in claims.read_text()
        claims.write_text(claims.read_text().replace(old, new, 1))
    runs.write_text(RUNS.replace("93.2", "high").replace("91.2", ""))
    assert cli.main(["judge", str(claims), str(runs)]) == 2
    said = capsys.readouterr().err
    for part in (
        "claim own/acc: unknown field 'valeu'",
        "claim own/gone: unit is 'acuracy'",
        "statement better: place is missing",
        "statement nine: says is missing",
        "own.csv, line 3: arm new, run 1, measure acc, value high",
        "own.csv, line 8: arm old, run 1",
    ):
        assert part in said, said


def test_numbers_name_tables_sections_and_arms_and_ids_need_no_prefix(files):
    claims, runs = files()
    whole = judge(claims, runs).table
    text = CLAIMS.replace("own/", "").replace("'1'", "1").replace("'2'", "2.1")
    assert text.count("table: 1}") == 1 and text.count("section: 2.1}") == 1
    claims.write_text(text.replace("arm: new", "arm: 7"))
    runs.write_text(RUNS.replace("new,", "7,").replace("old,", "8,"))
    claims.write_text(claims.read_text().replace("arm: old", "arm: 8"))
    found = judge(claims, runs).table
    assert found[["id", "verdict"]].equals(whole[["id", "verdict"]])
    claims.write_text(CLAIMS.replace("id: own/gone", "id: 12"))
    assert "own/12" in judge(claims, runs).table["id"].tolist()
    claims.write_text(CLAIMS.replace("section: Abstract", "section: [1]"))
    with pytest.raises(ValueError, match=r"section is .* \(list\); it must be str"):
        judge(claims)


@pytest.mark.parametrize("name", ["5", "007", "2020", "None", "NA", "true", "1e3", "1:37", "~"])
def test_arms_and_metrics_are_texts_as_they_are_written(files, name):
    whole = judge(*files()).table
    for old in ("new", "acc"):
        claims, runs = files()
        for path in (claims, runs):
            text = path.read_text()
            for before, behind in ((": ", ","), (": ", "}"), ("\n", ","), (",", ",")):
                text = text.replace(f"{before}{old}{behind}", f"{before}{name}{behind}")
            path.write_text(text)
        assert judge(claims, runs).table["verdict"].tolist() == whole["verdict"].tolist()


def test_what_is_left_out_is_said_and_percentages_are_percentages(files):
    claims, runs = files()
    table = pd.read_csv(runs).assign(episode=2)
    table.loc[table["run"] > 2, "episode"] = 1
    found = judge(claims, table).table.set_index("id")
    assert "2 unfinished run(s) left out" in found.loc["better", "why"]
    assert "2 unfinished run(s) left out" in found.loc["own/acc", "why"]
    rates = pd.read_csv(runs).replace("acc", "win_rate").replace(93.2, 103.2)
    with pytest.raises(ValueError, match="line 3: arm new, run 1, measure win_rate, value 103.2"):
        judge(claims, rates)
    claims.write_text(CLAIMS.replace("unit: accuracy", "unit: percent").replace("93.1", "103.1"))
    with pytest.raises(ValueError, match="value is 103.1; a percentage lies between 0 and 100"):
        judge(claims)


def test_a_page_replaces_no_page_of_somebody_else(files, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "notes.txt").write_text("stays")
    judge(*files(), out=folder)
    judge(*files(), out=folder)  # its own
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(FileExistsError, match="would replace index.html"):
        judge(*files(), out=tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
    assert (folder / "notes.txt").read_text() == "stays"


def test_the_example_holds_what_the_records_do():
    _, records = read(data_directory() / "records" / "game2048.jsonl")
    names, reached = (
        {"FARL": "afterstate", "no-FARL": "without end"},
        {"measure": "reached", "tile": 2048},
    )
    rows = {
        (names[one["arm"]], one["run"], one["values"][one["rows"].index(reached)][-1])
        for one in records.values()
        if one["kind"] == "curve" and one["arm"] in names and one["run"] < 10
    }
    table = pd.read_csv(data_directory() / "examples" / "szubert2014.csv")
    assert rows == {*zip(table.arm, table.run, table.value)} and len(table) == 20
