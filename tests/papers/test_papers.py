"""Claims and deviations: files are consistent or refused, comparisons give the right label."""

import inspect
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from afterply import games, learners
from afterply.files import data_directory, read_yaml
from afterply.games.rules import cube
from afterply.learners import td
from afterply.players import positional
from afterply.players.searching import MCTS
from afterply.search.puct import SETTINGS
from afterply.studies import papers
from afterply.studies.evaluators import Matches
from afterply.studies.notebooks import planned, studies_of
from afterply.studies.papers.compare import NEEDED
from afterply.studies.papers.jamieson2022 import snapshot_tables, snapshots
from afterply.studies.papers.konen2021.game_measures import PerfectPlay
from afterply.studies.papers.mandziuk2004 import td_search
from afterply.studies.papers.scheiermann2022.connect4_tournament import Pairings
from afterply.studies.papers.scheiermann2022.cube_solving import Solved
from afterply.studies.papers.verdicts import counting_error
from afterply.studies.records import read

TABLES = {
    "konen2021": {"1": 23},
    "scheiermann2022": {"I": 20, "II": 16, "III": 15, "IV": 15},
    "jamieson2022": {"2": 5, "3": 4, "4": 4, "5": 9, "6": 20, "7": 30, "8": 30, "9": 30},
    "mandziuk2004": {"1a": 8, "1b": 8, "1c": 4, "1d": 4},
}
MARGINS = """
percent: {absolute: 2, why: shares}
games: {share: 0.02, why: cells}
score: {relative: 0.03, at_least: 1, why: scores}
text: {why: no number}
"""
GOOD = """
key: paper
title: A paper
authors: [A. Author]
year: 2020
url: https://example.org
order: 1
claims:
  - id: paper/table1/a
    place: {table: '1', row: r, column: a}
    printed: 49% ± 5%
    value: 49
    unit: percent
    uncertainty: {value: 5, kind: sem, runs: 10}
    study: game
    arm: A
    metric: win_rate
  - id: paper/table1/cell
    place: {table: '1', row: r, column: cell}
    printed: '90:10:0'
    value: {wins: 90, draws: 10, losses: 0}
    unit: games
    of: 100
    study: game
    arm: A
    metric: cell
deviations:
  - id: D1
    title: a point
    paper: silent
    original: something
    default: something else
    switch: point
    values: {'true': something, 'false': something else}
    why: a reason
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with one small paper."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "margins.yaml").write_text(MARGINS, encoding="utf-8")
    (tmp_path / "papers" / "paper.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def published():
    return papers.all()


@pytest.fixture(scope="module")
def by_id(published):
    return {claim.id: claim for paper in published.values() for claim in paper.claims}


@pytest.mark.parametrize("key", papers.keys())
def test_every_table_value_is_a_claim_that_can_be_judged_or_says_why_not(published, key):
    claims, deviations = published[key].claims, published[key].deviations
    places = [tuple(sorted(claim.place.items())) for claim in claims if "table" in claim.place]
    assert Counter(dict(place)["table"] for place in places) == TABLES[key]
    assert len(set(places)) == len(places)
    for claim in claims:
        assert claim.better is None or claim.unit in ("percent", "score", "reward")
        if claim.target and claim.relation == "=":
            found = re.findall(r"[0-9.]*[0-9]", re.sub("[ ,]", "", claim.printed))
            values = claim.value.values() if isinstance(claim.value, dict) else [claim.value]
            assert claim.margin > 0 and set(values) <= set(map(float, found)), claim
    assert [one.id for one in deviations] == [f"D{n + 1}" for n in range(len(deviations))]
    references = (data_directory() / "papers" / "references.bib").read_text(encoding="utf-8")
    citation = (data_directory().parent / "CITATION.cff").read_text(encoding="utf-8")
    doi = published[key].url.removeprefix("https://doi.org/")
    assert f"{{{key}," in references and (doi in citation or published[key].title in citation)


def test_trainings_and_margins_of_printed_values(by_id):
    for name, trainings in (("konen2021/fig4/ab/farl", 10), ("jamieson2022/table7/r/points", 1)):
        assert by_id[name].trainings == trainings and by_id[name].printed_error == (0, None)
    for name, margin in (
        ("konen2021/table1/tictactoe-maxn10/farl", 2),
        ("konen2021/table1/2048/farl", 4260),
        ("jamieson2022/table9/q-100/r", 2.3),
    ):
        assert by_id[name].margin == pytest.approx(margin) and by_id[name].target


def test_printed_errors_and_counts_of_games_become_standard_errors(by_id):
    assert by_id["konen2021/table1/nim-maxn15/no-farl"].published_sem == 6
    # a standard deviation over an unknown number of moves
    timing = by_id["scheiermann2022/tableIV/othello/tcl-base"]
    assert timing.uncertainty["kind"] == "sd" and timing.published_sem == 0
    spread = {"value": 4, "kind": "sd", "runs": 16}
    assert papers.Claim("a/b", {}, "", 1, "percent", uncertainty=spread).published_sem == 1
    cell = by_id["jamieson2022/table7/r/r"]
    assert cell.value == {"wins": 65, "draws": 5, "losses": 30} and cell.counted == (100, 100)
    assert counting_error(65, *cell.counted) == pytest.approx(4.76, abs=0.02)
    # what nobody can reproduce is no target
    for name in ("konen2021/table1/2048/other", "jamieson2022/table9/r/mdet"):
        assert by_id[name].reason and not by_id[name].target


@pytest.mark.slow
def test_readings_say_which_of_their_trainings_are_one(published):
    """Ten runs with the same weights are one training: no value may be called given by them."""
    weights = {}
    for path in (data_directory() / "records").glob("*.jsonl"):
        for record in read(path)[1].values():
            if record["kind"] == "train" and "diverged" not in record:
                # in Nim for three nothing is learned without FARL, but the games differ
                same = record["checksum"], record["cost"]["moves"]
                weights.setdefault((path.stem, record["arm"]), []).append(same)
    one = {where for where, found in weights.items() if len(found) > 1 and len(set(found)) == 1}
    said = set()
    for paper in published.values():
        assert not one & {(claim.study, claim.arm) for claim in paper.claims if claim.target}
        for reading in paper.readings:
            study = reading.study or reading.of
            here = {(study, arm) for arm in reading.arms.values()}
            named = {(study, reading.arms[arm]) for arm in reading.one_training}
            assert named == one & here, reading.id
            said |= named
    assert len(said) == 6


@pytest.mark.slow
def test_what_is_said_of_rates_that_fall_is_what_their_runs_say(published):
    table = studies_of("34_other_readings")["readings-tictactoe"].table()
    printed = {arm: number for arm, number in snapshot_tables.PRINTED.items() if number}
    caps = dict.fromkeys(printed, 50_000)
    claims = [one for one in published["jamieson2022"].claims if one.place.get("table") == "7"]

    def beside(*names):
        rows = (snapshot_tables.beside_print(table, printed, caps, claims, f", {n}") for n in names)
        return zip(*((row["mean factor"], row["cells inside"].split(" of ")[0]) for row in rows))

    falls, cells = beside("draw 1, epsilon 1 to 0", "draw 0, epsilon 0.3 to 0")
    loops, inside = beside("tutorial's values, random ties", "paper's values, random ties")
    folder = data_directory()
    notebook = (folder.parent / "notebooks" / "34_other_readings.ipynb").read_text()
    for words in (
        f"by factors of {falls[0]} and {falls[1]} on average",
        f"Table 7 that depend on a learner {cells[0]} and {cells[1]} lie inside",
        f"factors of {loops[0]} and {loops[1]}, and {inside[0]} of 16 cells",
    ):
        assert words in notebook
    assert inside[0] == inside[1]
    answers = " ".join((folder / "papers" / "answers.yaml").read_text().split())
    assert f"by factors of {loops[0]} and {loops[1]} on average" in answers
    assert f"miss them by {falls[0]} and {falls[1]}" in answers


def test_named_switches_exist(published):
    made_by = PerfectPlay, positional.Bench, MCTS, Solved, Pairings, Matches, cube.cube3
    made_by += (snapshots.Tournament,)
    known = {name for thing in made_by for name in inspect.signature(thing).parameters}
    known |= {"tree_reuse", *SETTINGS}
    for learner in learners.learners().values():
        known |= {*learner.DEFAULTS}
    for name in ("morris", "kalah", "giveaway"):
        known |= {*games.load(name).spec["params"]}
    for paper in published.values():
        for deviation in paper.deviations:
            if deviation.switch:
                assert deviation.switch in known, deviation


def test_readings_set_switches_that_matter(published):
    # the second phase of [mandziuk2004] goes on from the first
    usual = td_search.DEFAULTS | td.DEFAULTS | {"start": "continued"}
    for paper in published.values():
        numbers = {deviation.id for deviation in paper.deviations}
        for reading in paper.readings:
            assert set(reading.sets) <= numbers | {"D45"} and (reading.sets or reading.settings)
            for name, value in reading.settings.items():
                assert usual[name] != value, (reading.id, name)
            arms = {claim.arm for claim in paper.claims if claim.study == reading.of}
            assert set(reading.arms) <= arms, reading.id


STUDIES = ("tictactoe", "nim3p", "connect4", "hex", "othello", "game2048")


@pytest.mark.parametrize("number, name", list(enumerate(STUDIES, 10)))
def test_notebooks_have_the_arms_of_the_software(published, number, name):
    (path,) = Path(__file__).parents[2].glob(f"notebooks/{number}_*.ipynb")
    studies, note = planned(path, {"profile": "paper"})
    study = next(study for study in studies if study.name == name)
    readings = [r for r in published["konen2021"].readings if r.of == name]
    assert not note and readings
    for reading in readings:
        for arm in reading.arms.values():
            job = study.arms[arm][0].job
            wanted = reading.settings.items()
            assert {k: job.parameters[k] for k, _ in wanted} == dict(wanted)
            assert job.parameters["farl"] == ("off" if arm.startswith("no-FARL") else "on")
            if "episodes" in reading.parameters:
                assert job.episodes == reading.parameters["episodes"]


READING = """
readings:
  - {id: r, says: it is so, of: game, software: true, arms: {A: B}}
no_reading:
  - {table: '1', columns: [cell], why: nobody can}
"""
ARM = "{study: game, arm: A, select: {measure: m}}"
TEST = f"test: ordering, parts: [{{high: {ARM}, low: {ARM}}}]"
BOUND = f"test: bound, parts: [{{value: {ARM[:-1]}, converged: {{measure: c}}}}, above: 1}}]"
STATEMENT = f"""
statements:
  - {{id: s, says: so, place: {{section: '1'}}, {TEST}}}
"""
PLACE, CELL = "{table: '1', row: r, column: a}", "    metric: cell\n"
RATE = "    metric: win_rate\n"


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("value: 49\n", "valeu: 49\n", "paper.yaml: claim paper/table1/a: unknown field 'valeu'"),
        (PLACE, "{row: r}", "needs one of table, figure, section"),
        ("id: paper/table1/cell", "id: paper/table1/a", "id paper/table1/a occurs twice"),
        ("id: paper/table1/cell", "id: other/table1/cell", "must start with 'paper/'"),
        ("    unit: percent\n", "    unit: per cent\n", "score, text; another one needs a rule in"),
        ("kind: sem, runs: 10", "kind: sd", "needs its number of runs"),
        (RATE, "", "name the study, arm and select"),
        (CELL, f"{CELL}    target: false\n", "say why in reason"),
        ("printed: '90:10:0'", "printed: 90", "printed is 90 (int); it must be str"),
        ("    why: a reason\n", "", "deviation D1: why is missing"),
        ("key: paper", "key: papre", "it must be the file's name"),
        ("arms: {A: B}", "arms: {}", "reading r: it has no arm; say why in not_run"),
        (", why: nobody can", "", "of no_reading, entry 1: why is missing"),
        ("test: ordering", "test: guess", "statement s: test is 'guess'; it must be one of order"),
        ("low: ", "lower: ", "statement s, a part: unknown field 'lower'; the fields are of"),
        ("arm: A, select", "select", "statement s, a part, high: arm is missing"),
        (TEST, BOUND, "statement s: converged is for ordering and trend only"),
        (TEST, "test: ordering, parts: [3]", "statement s, a part: 3 is not a mapping of fields"),
        ("says: so", "former: [holds], says: so", "unknown field 'former'"),
    ],
)
def test_bad_files_are_refused(folder, old, new, message):
    text = GOOD + READING + STATEMENT
    assert old in text
    (folder / "papers" / "paper.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError) as error:
        papers.load("paper")
    assert message in str(error.value)


def test_former_verdicts_and_reasons_stand_beside_what_they_name(folder, published):
    text = "changes: [{why: a new rule, verdicts: {reproduced: [paper/table1/a, paper/x]}}]"
    (folder / "papers" / "former.yaml").write_text(text, encoding="utf-8")
    claim, cell = papers.load("paper").claims
    assert claim.former == (("reproduced", "a new rule"),) and cell.former == ()
    assert papers.keys() == ["paper"]
    told = read_yaml(Path(__file__).parents[2] / "data" / "papers" / "former.yaml")["changes"]
    known = {claim.id for paper in published.values() for claim in paper.claims}
    known |= {f"{key}/{one.id}" for key, paper in published.items() for one in paper.statements}
    assert {name for change in told for ids in change["verdicts"].values() for name in ids} <= known
    for paper in published.values():
        for entry in paper.no_reading:
            named = {claim.id for claim in paper.claims if claim.why == entry["why"]}
            assert named and named >= set(entry.get("claims", []))
    by_id = READING.replace("table: '1', columns: [cell]", "claims: [paper/table1/a]")
    for text, reasons in ((READING, [None, "nobody can"]), (by_id, ["nobody can", None])):
        (folder / "papers" / "paper.yaml").write_text(GOOD + text, encoding="utf-8")
        assert [claim.why for claim in papers.load("paper").claims] == reasons


def test_tables_stand_as_they_are_printed(published):
    """Columns and rows as the papers print them, whatever the order of the claims; none is lost."""
    for paper in published.values():
        assert set(paper.tables) <= set(paper.printed_tables)
        for name, table in paper.printed_tables.items():
            places = [c.place for c in paper.claims if c.place.get("table") == name]
            assert set(table.rows) == {place["row"] for place in places}
            assert set(table.columns) == {place["column"] for place in places}
            assert all(len(before) == len(table.heads) for before in table.rows.values())
    main = published["konen2021"].printed_tables["1"]
    assert main.heads == ("Game", "N", "vs.") and list(main.rows)[0] == "2048"
    assert main.rows["Nim3P 3x5 vs MCTS5000"] == ["Nim3P 3x5", "3", "MCTS5000"]


def test_missing_papers_and_data(folder, monkeypatch):
    with pytest.raises(ValueError, match="no paper 'konen'; there are paper"):
        papers.load("konen")
    monkeypatch.setenv("AFTERPLY_DATA", str(folder / "nowhere"))
    with pytest.raises(FileNotFoundError, match="AFTERPLY_DATA"):
        papers.all()


def results(rows):
    return pd.DataFrame(rows, columns=NEEDED)


def compared(rows, claim=0):
    """One claim of the small paper beside results."""
    return papers.compare([papers.load("paper").claims[claim]], results(rows)).iloc[0]


def rates(*values, episode=1):
    return [("game", "A", run, episode, "win_rate", value) for run, value in enumerate(values)]


def test_the_last_episode_of_every_run_is_compared(folder):
    row = compared([*rates(0.0, 0.0, 0.0, 0.0), *rates(20.0, 21.0, 22.0, 23.0, episode=200)])
    assert row["mean"] == 21.5 and row["runs"] == 4 and row["verdict"] == "not reproduced"
    assert row["ours"].startswith("21.5% [19.4%, 23.6%] (4 runs)")
    assert row["place"] == "Table 1, r, a"
    # intervals are shown as far as values can be
    row = compared(rates(100, 100, 70))
    assert row["ours"] == "90.0% [47.0%, 100.0%] (3 runs)"
    assert row["high"] == 100


def test_unfinished_single_and_missing_runs(folder):
    row = compared([*rates(49.0, episode=200), ("game", "A", 1, 100, "win_rate", 10.0)])
    assert row["verdict"] == "inconclusive" and row["runs"] == 1 and row["runs_needed"] == 3
    assert "at least 3" in row["explanation"] and "1 unfinished" in row["explanation"]
    assert math.isnan(row["low"])
    missing = compared([("game", "B", 0, 1, "win_rate", 1.0)]).explanation
    assert missing == "no win_rate of the arm A in the study game"
    twice = results(rates(1.0) * 2)
    for table, message in (
        (twice, "two final values of win_rate"),
        (twice.drop(columns="run"), "column"),
    ):
        with pytest.raises(ValueError, match=message):
            papers.compare(papers.load("paper").claims, table)


def test_runs_that_are_no_whole_group_are_shown_and_not_judged(folder):
    target = replace(papers.load("paper").claims[0], shared=4)
    other = replace(target, target=False, reason="a remark")
    table = papers.compare([target, other], results(rates(49.0, 50.0, 51.0)))
    assert table.ours.tolist() == ["50.0% (3 runs)"] * 2 and table["mean"].isna().all()
    assert table.verdict.tolist() == ["inconclusive", "not a target"]
    assert "no whole group of 4 runs" in table.explanation[0] and table.explanation[1] == "a remark"


def test_a_cell_is_judged_jointly(folder):
    rows = [
        ("game", "A", run, math.nan, f"cell:{name}", value + noise)
        for run, noise in enumerate((-0.5, 0.0, 0.5))
        for name, value in (("wins", 90), ("draws", 10), ("losses", 0))
    ]
    row = compared(rows, 1)
    assert row["verdict"] == "consistent" and row["ours"] == "90.0 : 10.0 : 0.0 (3 runs)"
    part = compared([entry for entry in rows if entry[4] != "cell:draws"], 1)
    assert part["verdict"] == "not run" and "cell:draws" in part["explanation"]
