"""The report: what is counted and where it stands; holes are marked and break nothing."""

import dataclasses
import json
import math
import re
import shutil

import pandas as pd
import pytest

from afterply.files import data_directory, read_yaml
from afterply.studies import papers, sources
from afterply.studies.papers.claims import Reading, Statement
from afterply.studies.papers.compare import NEEDED
from afterply.studies.papers.verdicts import LABELS
from afterply.studies.reports import collect, figures, picture
from afterply.studies.reports.sentences import parts_of
from afterply.studies.results import select

STATEMENTS = set(picture.STATEMENTS)
WIN_RATE = {"study": "nim", "arm": "FARL", "select": {"measure": "win_rate"}}
NONE = {"study": None, "arm": None, "select": None}
TINY = """
key: tiny2026
title: A tiny paper
authors: [T. Iny]
year: 2026
url: https://example.org/tiny
order: 5
main_table: '1'
tables: {'1': {caption: what it shows}}
statements:
  - id: grows
    says: it grows
    place: {section: '1'}
    tested: It wins more than nine
    test: bound
    parts: [{value: {study: nim, arm: FARL, metric: win_rate}, above: 9}]
claims:
  - id: tiny2026/table1/first
    place: {table: '1', row: Nim, column: first}
    printed: 50%
    value: 50
    unit: percent
    study: nim
    arm: FARL
    metric: win_rate
deviations:
  - {id: D1, title: a point, paper: silent, original: something, default: something, why: a reason}
"""


def claim(name, key="alpha2020", **changes):
    place = {"table": "1", "row": name, "column": "FARL"}
    fields = {"value": 50, "unit": "percent", "margin": 2.0, "printed": "50% ± 1%"} | WIN_RATE
    return papers.Claim(**{"id": f"{key}/{name}", "place": place} | fields | changes)


def published(*more, statements=(), readings=(), **changes):
    """Return two papers: in the first one claim comes out, one (with `changes`) does not."""
    off = claim("off", **{"value": 80, "printed": "80%", "select": {"measure": "score"}} | changes)
    first = [
        claim("good"),
        dataclasses.replace(
            off, readings=tuple(r.answer(off) for r in readings if r.speaks_of(off))
        ),
        claim("other system", study="hex", needs="the Hex study"),
        claim("cited", target=False, reason="a result of other authors", **NONE),
        *more,
    ]
    second = [claim("none", "beta2021", needs="a linear learner", **NONE)]
    switch = {"switch": "greedy", "values": {"a": "one", "b": "two"}}
    said = "D1", "greedy | choice", "says *this*", "does that", "this", "why"
    alpha = "alpha2020", "On <Games>", ["A. Author"], 2020, "https://example.org/a", first
    beta = "beta2021", "Later", ["B. Author"], 2021, "https://example.org/b", second, [], []
    found = papers.Paper(*alpha, [papers.Deviation(*said, **switch)], [])
    found = dataclasses.replace(found, statements=list(statements), readings=list(readings))
    return {"alpha2020": found, "beta2021": papers.Paper(*beta)}


class Filled:
    """A study as a report asks it: results, runs and captions."""

    name = "nim"

    def __init__(self, results, runs):
        self.results, self.origins = results, runs

    def table(self):
        return self.results

    def runs(self):
        return self.origins

    def cells(self, table):
        return {"nim, shared": ("open", 12.3, -1.0, 25.6)}

    def caption(self, text, arms=None):
        return text


def fill(directory, provenance="recorded", arms=()):
    """Write a notebook; return its study of five runs, the first of which has a provenance.

    arms: name, runs, score.
    """
    directory.mkdir(parents=True)
    series = [("FARL", 5, "win_rate", 50), ("FARL", 5, "score", 60)]
    series += [(arm, number, "score", value) for arm, number, value in arms]
    rows = [
        ("nim", arm, run, 1000, measure, value + 0.1 * run)
        for arm, number, measure, value in series
        for run in range(number)
    ]
    origins = [provenance, *["recorded"] * 4]
    where = "machine X", "11_nim", True, 12.0, 10, 5.0, math.nan
    runs = [
        ("nim", "FARL", run, kind, "", origin, *where)
        for run, origin in enumerate(origins)
        for kind in ("train", "eval")
    ]
    cells = [("markdown", "# Nim\n[below](#The-end)", "a"), ("markdown", "## The end", "end")]
    cells[1:1] = [("code", 'study = Study("nim")', "b"), ("code", 'study.run("FARL")', "run")]
    notebook(directory / "11_nim.ipynb", cells)
    results = pd.DataFrame(rows, columns=NEEDED)
    return [Filled(results, pd.DataFrame(runs, columns=sources.RUN_COLUMNS))]


def notebook(path, cells, **metadata):
    more = {"code": {"outputs": [], "execution_count": 1}, "markdown": {}}
    made = [
        {"cell_type": kind, "source": source, "id": name, "metadata": {}} | more[kind]
        for kind, source, name in cells
    ]
    content = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content))


def curves(studies):
    """Draw the one figure of these reports."""
    table = studies["nim"].table()
    figure, data = figures.learning_curves(select(table, measure="score"), ["FARL"])
    return figure, data, "Read it\nso."


@pytest.fixture(autouse=True)
def _one_figure(monkeypatch):
    own = {"alpha2020": {"nim-curves": curves, "hex-curves": curves}}
    monkeypatch.setattr(collect, "figures_of", lambda key: own.get(key, {}))


def build(tmp_path, studies, profile="paper", published_=None):
    """Return the summary and the pages, name -> Markdown without the marks that escape."""
    summary = collect.build(profile, studies, tmp_path, published_ or published())
    pages = {path.name: path.read_text() for path in (tmp_path / profile).glob("*.md")}
    return summary, {name: re.sub(r"\\(\W)", r"\1", text) for name, text in pages.items()}


def test_verdicts_and_provenance_are_counted_and_papers_stand_in_order(tmp_path):
    studies = fill(tmp_path / "paper", "trained here")
    error = {"value": 5, "kind": "sem", "runs": 10}
    columns = {"measure": "win_rate", "opponent": "MCTS"}
    other = claim("against another", select=columns, needs="the MCTS opponent")
    papers_ = published(claim("wide", value=38, printed="38%", uncertainty=error), other)
    papers_["alpha2020"] = dataclasses.replace(papers_["alpha2020"], order=2)
    summary, pages = build(tmp_path, studies, published_=papers_)
    counts = {label: n for label, n in summary.verdicts.items() if n}
    assert counts.pop("not run") == 3 and set(counts.values()) == {1} and len(counts) == 4
    row = summary.parts[1].rows[-1]  # the arm's runs do not answer this claim
    assert (row.verdict, row.provenance, row.made) == ("not run", "", "")
    assert summary.gaps == []
    assert "✓ 1 reproduced" in pages["alpha2020.md"]
    assert "8 recorded" in pages["made.md"] and "0 missing" in pages["made.md"]
    assert [part.paper.key for part in summary.parts] == ["beta2021", "alpha2020"]
    assert pages["index.md"].index("Author 2021") < pages["index.md"].index("Author 2020")
    assert "1 cannot be decided by any number of runs" in pages["changes.md"]
    symbols = {f"| {one.symbol}&nbsp;{name} |" for name, one in picture.VERDICTS.items()}
    assert all(one in pages["changes.md"] for one in symbols) and len(symbols) == len(LABELS)


def test_every_value_is_on_the_page_of_its_paper_with_what_made_it(tmp_path):
    for folder in ("a", "b"):
        studies = fill(tmp_path / folder / "paper")
        text = build(tmp_path / folder, studies)[1]["alpha2020.md"]
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / folder / "paper").glob("*.*")}
        for folder in "ab"
    )
    assert len(first) > 10 and first == second
    for content in (
        "| 50% ± 1%<br>[✓ 50.2%](#v-good) |",  # in the table as printed
        '| <a id="v-good"></a>good, FARL | 50% ± 1% | 50.2% [50.0%, 50.4%] (5 runs) |',
        "[11_nim](11_nim.ipynb#cell-id=run) · [5 recorded](#study-nim) |",
        "✗&nbsp;not reproduced",
        "needs the Hex study",
        "a result of other authors",
        "On <Games>",
        "| greedy | choice | says *this* | does that |",
        "![nim-curves](figures/nim-curves.svg)",
        "Read it so. [Its numbers](figures/nim-curves.csv)",
        "| FARL | train | recorded | 5 | 1 min | 12 s | 5 | machine X |",
    ):
        assert content in text, content


def test_rows_hold_what_makes_their_runs_again_where_there_are_records(tmp_path):
    part = {"value": WIN_RATE, "above": 1}
    what = "s", "well", {"section": "1"}, "It learns", "bound", [part]
    pages = {}
    for profile in ("paper", "quick"):
        studies = fill(tmp_path / profile)
        collect.build(profile, studies, tmp_path, published(statements=[Statement(*what)]))
        pages[profile] = (tmp_path / profile / "alpha2020.md").read_text(encoding="utf-8")
    words = '<details><summary>make it again</summary><code>make again ARM="nim/FARL"</code>'
    lines = [line for line in pages["paper"].splitlines() if words in line]
    assert any('id="s-s"' in line for line in lines) and any(
        'id="v-good"' in line for line in lines
    )
    assert not any("not run" in line for line in lines)
    assert "](../../README.md#question-a-verdict)" in pages["paper"]
    assert "make again" not in pages["quick"] and "README" not in pages["quick"]


def test_missing_runs_are_counted_with_their_estimate(tmp_path):
    studies = fill(tmp_path / "paper", "missing")
    runs = studies[0].origins.assign(estimated_cpu_seconds=1800.0)
    studies[0].origins = runs
    part = {"value": WIN_RATE | {"arm": "no-FARL"}, "above": 1}
    what = "s", "well", {"section": "1"}, "It learns", "bound", [part]
    summary, pages = build(tmp_path, studies, published_=published(statements=[Statement(*what)]))
    assert "2 missing (1.0 CPU h)" in pages["made.md"]
    assert "nim: CPU time 1 h" in pages["made.md"]
    line = "[It learns](alpha2020.md#s-s) |  | [missing: 1 h](alpha2020.md#study-nim) |"
    assert line in pages["statements.md"] and "[missing: 1 h](#study-nim)" in pages["alpha2020.md"]
    made = "missing: 1 h, made by `python -m afterply.commands.reproduce notebook 11_nim"
    for said in (made, "| FARL | train | missing | 1 |"):
        assert said in pages["alpha2020.md"]
    edax = runs.assign(evaluator="levels of Edax")
    assert sources.missing_cost(edax) == "5 h, without Edax"
    assert sources.missing_cost(edax.assign(estimated_cpu_seconds=0)) == "needs the program Edax"
    assert sources.how_to_make(runs) == f"{sources.MAKE_ALL} makes them (CPU time: 1 h)."
    assert "2 missing (1.0 CPU h)" in collect.told(summary)


def test_without_runs_all_values_stand_as_not_run_and_a_failed_notebook_is_a_gap(tmp_path):
    (tmp_path / "quick").mkdir()
    source = "**This notebook failed, its results are missing.**\n\n```\nValueError: boom\n```\n"
    notebook(tmp_path / "quick" / "11_nim.ipynb", [("markdown", source, "failed")], failed=True)
    summary, pages = build(tmp_path, [], "quick")
    assert summary.gaps == ["the notebook 11_nim failed: ValueError: boom"]
    assert summary.verdicts["not run"] == 4 and summary.verdicts["not a target"] == 1
    assert "no win_rate of the arm FARL in the study nim" in pages["alpha2020.md"]
    for text in ("boom", "reduced scale"):
        assert text in pages["index.md"]
    assert "No run is known" in pages["made.md"]


def test_statements_have_verdict_number_and_place_and_changed_rules_their_effect(tmp_path):
    studies = fill(tmp_path / "paper")
    what = "s", "well", {"section": "1"}, "It learns", "bound", [{"value": WIN_RATE, "above": 9}]
    now = ("holds", "It asked for nothing")
    more = {"former": (now, ("does not hold", "It asked for too much")), "printed": "60: holds."}
    statement = Statement(*what, **more)
    share = claim("share", former=(("not reproduced", "of 0.1"), ("reproduced", "of 1")))
    _, pages = build(tmp_path, studies, published_=published(share, statements=[statement]))
    line = "“well” (Sec. 1) | [It learns](alpha2020.md#s-s) | 60: holds. | 50.2 [50.0, 50.4] |"
    assert line in pages["statements.md"] and '<a id="s-s"></a>It learns' in pages["alpha2020.md"]
    assert "50.2 [50.0, 50.4] (92.5% interval, p* < 0.001)" in pages["alpha2020.md"]
    assert "Of [its 1 statements](statements.md#alpha2020): ✓&nbsp;1 holds." in pages["index.md"]
    assert "“well”" in pages["alpha2020.md"]
    text = pages["changes.md"]
    assert "| ✗&nbsp;does not hold | ✓&nbsp;holds |" in text and "It asked for too much" in text
    assert "50% ± 1% | 50.2% [50.0%, 50.4%] (5 runs) | ✗&nbsp;not reproduced | ✓&nbsp;repro" in text
    assert "\nof 0.1\n" in text and "\nof 1\n" not in text and "It asked for nothing" not in text


def test_readings_say_which_exploratory_arm_gives_a_value(tmp_path):
    arms = [("draw 0.5", 10, 80), ("draw 1", 10, 30.2), ("theirs", 3, 80), ("ties", 10, 80)]
    studies = fill(tmp_path / "paper", arms=[*arms, ("draw 3", 10, 95)])
    readings = [
        Reading(arm, f"a draw counts {arm[5:]}", "nim", {"FARL": arm}, sets={"D1": arm})
        for arm in ("draw 0.5", "draw 1", "draw 2", "draw 3")
    ]
    readings += [
        Reading("s", "as in their program", "nim", {"FARL": "theirs"}, software=True),
        Reading("t", "ties go first", "nim", {"FARL": "ties"}, one_training=["FARL"]),
        Reading("u", "a draw counts 4", "nim", {}, not_run="no arm: it costs a year"),
    ]
    papers_ = published(readings=readings, better="higher")
    summary, pages = build(tmp_path, studies, published_=papers_)
    row, text = summary.parts[0].rows[1], pages["alpha2020.md"]
    outcomes = ["gives it", "does not", "not tried", "is beyond it", "too few runs", "one training"]
    assert row.verdict == "not reproduced" and [a.outcome for a in row.answers] == outcomes
    for said in (
        "Other readings that give it: 1 of 3.",
        "<td>a draw counts 0.5</td><td>80.5%</td><td>10</td><td>comes out</td>",
        "<td>a draw counts 3</td><td>95.5%</td><td>10</td><td>is exceeded</td>",
        "<td>a draw counts 1</td><td>30.6%</td><td>10</td><td>does not come out</td>",
        "<td>as in their program</td><td>80.1%</td><td>3</td><td>too few runs yet</td>",
        "<td>ties go first</td><td>80.5%</td><td>10</td><td>one training: nothing is random in it",
        "<td>a draw counts 2</td><td>-</td><td>-</td><td>not tried yet</td>",
        "| 80.1% [79.9%, 80.3%] (3 runs) ✓&nbsp;reproduced |",  # as in the authors' program
        # runs, values, given, exceeded, not excluded, not given, open
        "| as in their program (nim) |  | 3 of 10 | 1 | 0 | 0 | 0 | 0 | 1 |",
        "| a draw counts 1 | [D1](#D1): draw 1 | 10 | 1 | 0 | 0 | 0 | 1 | 0 |",
        "| a draw counts 2 | [D1](#D1): draw 2 | none | 1 | 0 | 0 | 0 | 0 | 1 |",
        "| a draw counts 3 | [D1](#D1): draw 3 | 10 | 1 | 0 | 1 | 0 | 0 | 0 |",
        "| ties go first |  | 10, all one | 1 | 0 | 0 | 0 | 0 | 1 |",
        "| a draw counts 4 |  | no arm: it costs a year |",
    ):
        assert said in text, said
    assert "values that no reading gives" not in text
    assert "0 come out by the text, 1 by the program" in text


@pytest.mark.parametrize("field", ["bound", "why"])
def test_values_that_no_reading_gives_are_listed_with_their_reason(tmp_path, field):
    studies = fill(tmp_path / "paper", arms=[("draw 2", 10, 30)])
    reading = Reading("r", "a draw counts 2", "nim", {"FARL": "draw 2"})
    papers_ = published(readings=[reading], **{field: "No policy draws more."})
    text = build(tmp_path, studies, published_=papers_)[1]["alpha2020.md"]
    _, _, listed = text.partition("1 values that no reading gives")
    assert listed.split("\n")[2] == "No policy draws more." and "[Table 1, off, FARL]" in listed


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """A data directory with the papers alone."""
    shutil.copytree(data_directory() / "papers", tmp_path / "data" / "papers")
    shutil.copy(data_directory() / "correspondence.yaml", tmp_path / "data")
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_an_answer_whose_results_have_moved_is_a_gap(tmp_path, own_data):
    answer = {"says": "It says", "answer": "It does.", "program": "None."}
    right = {"alpha2020/s": "holds 50.2", "nim/nim, shared": "open 12", "nim/FARL, score": 60.2}
    late = {"alpha2020/s": "undecided", "nim/nim, shared": "open 13", "nim/FARL, score": 60.3}
    answer |= {"rests_on": right}
    study = answer | {"notebooks": ["11_nim"], "of": "A", "asks": "Does it?"}
    study |= {"rests_on": late, "paragraphs": {"The seat": {"nim/gone": "open"}}}
    drawn = {"claim": "it learns", "came_out": "It does.", "of": "Wins", "axis": [0, 100]}
    drawn |= {"statement": "alpha2020/s", "rows": {"with": "alpha2020/good"}}
    alpha = answer | {"news": "It does so.", "picture": drawn}
    answers = {"headline": answer, "papers": {"alpha2020": alpha}}
    answers |= {"studies": [study], "missing": ["Rain"]}
    (own_data / "papers" / "answers.yaml").write_text(json.dumps(answers))
    studies = fill(tmp_path / "paper")
    what = "s", "well", {"section": "1"}, "It learns", "bound", [{"value": WIN_RATE, "above": 9}]
    summary, pages = build(tmp_path, studies, published_=published(statements=[Statement(*what)]))
    assert [gap.removeprefix("an answer must be read again, since ") for gap in summary.gaps] == [
        "alpha2020/s was 'undecided' and is 'holds' now: It does.",
        "nim/nim, shared was 'open 13' and is 'open 12' now: It does.",
        "nim/FARL, score was '60.3' and is '60.2' now: It does.",
        "nim/gone was 'open' and is not among the results now: 11_nim, The seat",
    ]
    assert "It says" in pages["index.md"] and "- Rain" in pages["made.md"]
    assert "| It does.<br>✓&nbsp;[s](alpha2020.md#s-s) |" in pages["studies.md"]


def test_answers_rest_on_statements_that_there_are():
    answers = read_yaml(data_directory() / "papers" / "answers.yaml")
    known = {f"{p.key}/{one.id}" for p in papers.claims.all().values() for one in p.statements}
    keys = set(papers.keys())
    assert set(answers["papers"]) == keys
    books = {path.stem for path in (data_directory().parent / "notebooks").glob("*.ipynb")}
    assert {name for study in answers["studies"] for name in study["notebooks"]} < books
    for answer in (answers["headline"], *answers["papers"].values(), *answers["studies"]):
        of_papers = {n: said for n, said in answer["rests_on"].items() if n.split("/")[0] in keys}
        assert set(of_papers) <= known
        assert {parts_of(said)[0] for said in of_papers.values()} <= STATEMENTS
    # as the published page was made
    page = data_directory().parent / "reports" / "paper" / "index.md"
    assert "an answer must be read again" not in page.read_text(encoding="utf-8")


def test_a_fifth_paper_is_one_file_and_no_line_of_the_library(tmp_path, own_data):
    (own_data / "papers" / "tiny2026.yaml").write_text(TINY)
    studies = fill(tmp_path / "reports" / "paper")
    tiny = {"tiny2026": papers.load("tiny2026")}
    part = build(tmp_path / "reports", studies, published_=tiny)[0].parts[0]
    assert papers.keys()[-1] == "tiny2026" and part.verdicts["reproduced"] == 1
    assert [row.verdict for row in part.statements] == ["holds"]
    folder = tmp_path / "reports" / "paper"
    told = (folder / "statements.md").read_text()
    assert "[It wins more than nine](tiny2026.md#s-grows)" in told
    assert "### Table 1: what it shows" in (folder / "tiny2026.md").read_text()
    assert 'href="tiny2026.html#s-grows"' in (folder / "statements.html").read_text()
    assert "Iny 2026" in (folder / "index.md").read_text()
    assert (folder / "main-tiny2026.csv").exists()
