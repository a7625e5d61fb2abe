"""The report page: what is counted, where it stands; holes are marked and break nothing."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from afterstate import papers
from afterstate.papers.compare import RESULT_COLUMNS
from afterstate.papers.readings import Reading, readings_of
from afterstate.papers.statements import Statement
from afterstate.papers.verdicts import LABELS
from afterstate.reports import collect, labels, layout, page, sources, verdict_picture
from afterstate.reports.readings import tally, unexplained

RUNS = [
    "study",
    "arm",
    "run",
    "key",
    "kind",
    "provenance",
    "machine",
    "commit",
    "date",
    "cpu_seconds",
    "moves",
    "moves_per_second",
    "estimated_cpu_seconds",
    "notebook",
]
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><path id="a" d="M0'
    ' 0"/></defs><use href="#a" clip-path="url(#a)"/></svg>'
)


def claim(name, key="alpha2020", **changes):
    fields = {
        "id": f"{key}/{name}",
        "place": {"table": "1", "row": name, "column": "FARL"},
        "printed": "50% ± 1%",
        "value": 50,
        "unit": "percent",
        "margin": 2.0,
        "study": "nim",
        "arm": "FARL",
        "metric": "win_rate",
    }
    return papers.Claim(**(fields | changes))


def published():
    deviation = papers.Deviation(
        "D1",
        "greedy | choice",
        "says *this*",
        "does that",
        "this",
        "why",
        "greedy",
        {"a": "one", "b": "two"},
    )
    first = [
        claim("good"),
        claim("off", value=80, printed="80%", metric="score"),
        claim("other system", study="hex", needs="the Hex study"),
        claim(
            "cited",
            target=False,
            reason="a result of other authors",
            study=None,
            arm=None,
            metric=None,
        ),
    ]
    second = [
        claim("none", "beta2021", study=None, arm=None, metric=None, needs="a linear learner")
    ]
    return {
        "alpha2020": papers.Paper(
            "alpha2020",
            "On <Games>",
            ["A. Author"],
            2020,
            "https://example.org/a",
            first,
            [deviation],
            [],
        ),
        "beta2021": papers.Paper(
            "beta2021",
            "Later",
            ["B. Author", "C. Author"],
            2021,
            "https://example.org/b",
            second,
            [],
            [],
        ),
    }


def fill(directory, provenance="recorded", cpu=12.0):
    data = directory / "data"
    data.mkdir(parents=True)
    rows = [
        ("nim", "FARL", run, 1000, metric, value + 0.1 * run)
        for run in range(5)
        for metric, value in (("win_rate", 50), ("score", 60))
    ]
    pd.DataFrame(rows, columns=RESULT_COLUMNS).to_csv(data / "nim.results.csv", index=False)
    runs = [
        (
            "nim",
            "FARL",
            run,
            f"k{run}",
            kind,
            provenance if run == 0 else "recorded",
            "machine X",
            "abc1234",
            "2025-11-21",
            cpu,
            10,
            5.0,
            None,
            "11_nim",
        )
        for run in range(5)
        for kind in ("train", "eval")
    ]
    pd.DataFrame(runs, columns=RUNS).to_csv(data / "nim.runs.csv", index=False)
    figures = directory / "figures"
    figures.mkdir()
    for name, text in (
        ("nim-curves.svg", SVG),
        ("nim-curves.csv", "x\n1\n"),
        ("nim-curves.txt", "Read it\nso."),
    ):
        (figures / name).write_text(text)
    source = ["from afterstate.studies.study import Study\n", 'study = Study("nim", runs=5)']
    (directory / "11_nim.ipynb").write_text(
        json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "markdown",
                        "source": ["# Nim\n", "[below](#The-end)"],
                        "id": "a",
                    },
                    {"cell_type": "code", "source": source, "id": "make"},
                    {"cell_type": "code", "source": ['study.run("FARL")'], "id": "run"},
                    {"cell_type": "markdown", "source": ["## The end"], "id": "end"},
                ],
                "metadata": {},
            }
        )
    )


def build(tmp_path, profile="paper", papers_=None):
    summary = collect.build(profile, tmp_path, papers_ or published())
    folder = tmp_path / profile
    pages = {path.name: path.read_text() for path in sorted(folder.glob("*.html"))}
    return summary, pages, (folder / "index.md").read_text()


class Words(HTMLParser):
    """Collects the text of a page and checks that tags close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.ids = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "br", "img", "link", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def words(html):
    return " ".join("".join(Words(html).words).split())


def test_verdicts_and_provenance_are_counted(tmp_path):
    fill(tmp_path / "paper", "re-run here: identical")
    summary, pages, markdown = build(tmp_path)
    assert {label: n for label, n in summary.verdicts.items() if n} == {
        "reproduced": 1,
        "not reproduced": 1,
        "not run": 2,
        "not a target": 1,
    }
    assert (
        summary.provenance["recorded"] == 8
        and summary.provenance["re-run here: identical"] == 2
        and summary.differs == 0
    )
    for text in (words(pages["index.html"]), markdown):
        assert "1 reproduced" in text and "2 not run" in text and "5 in 2 papers" in text
        assert "8 recorded" in text and "2 re-run here: identical" in text and "0 missing" in text
    assert summary.gaps == ()


def test_every_value_is_on_the_page_of_its_paper_with_what_made_it(tmp_path):
    fill(tmp_path / "paper")
    _, pages, _ = build(tmp_path)
    for html in pages.values():
        ids = Words(html).ids
        assert len(ids) == len(set(ids))
    text = words(pages["alpha2020.html"])
    for content in (
        "50% ± 1%",
        "50.2%",
        "✗ not reproduced",
        "✓ reproduced",
        "needs the Hex study",
        "a result of other authors",
        "On <Games>",
        "says *this*",
        "Read it so.",
        "12 s a run",
        "5 recorded",
        "greedy | choice",
    ):
        assert content in text, content
    assert "needs a linear learner" in words(pages["beta2021.html"])
    assert "abc1234" in words(pages["runs.html"])
    assert 'href="11_nim.html#cell-run"' in pages["alpha2020.html"]
    assert 'src="figures/nim-curves.svg"' in pages["alpha2020.html"]
    assert 'id="v-good"' in pages["alpha2020.html"] and 'href="#v-good"' in pages["alpha2020.html"]


def test_papers_stand_in_their_order(tmp_path):
    fill(tmp_path / "paper")
    papers_ = published()
    papers_["alpha2020"] = dataclasses.replace(papers_["alpha2020"], order=2)
    papers_["beta2021"] = dataclasses.replace(papers_["beta2021"], order=1)
    summary, pages, _ = build(tmp_path, papers_=papers_)
    assert [part.paper.key for part in summary.parts] == ["beta2021", "alpha2020"]
    assert pages["index.html"].index("beta2021") < pages["index.html"].index("alpha2020")


def test_a_table_is_laid_out_as_printed(tmp_path):
    fill(tmp_path / "paper")
    papers_ = published()
    papers_["alpha2020"].claims.append(
        claim("2", place={"table": "1", "row": "good", "column": "no-FARL"}, metric="score")
    )
    summary, _, _ = build(tmp_path, papers_=papers_)
    (table,) = layout.tables(summary.parts[0])
    assert table.columns == ("FARL", "no-FARL")
    assert [line.labels for line in table.lines] == [
        ("good",), ("off",), ("other system",), ("cited",)
    ]  # fmt: skip
    assert [cell and cell.claim.id for cell in table.lines[0].cells] == [
        "alpha2020/good",
        "alpha2020/2",
    ]
    assert table.lines[1].cells[1] is None


def test_runs_of_an_arm_do_not_stand_beside_a_claim_they_do_not_answer(tmp_path):
    fill(tmp_path / "paper")
    papers_with_more = published()
    papers_with_more["alpha2020"].claims.append(
        claim("against another", metric="win_rate:MCTS", needs="the MCTS opponent")
    )
    summary = collect.build("paper", tmp_path, papers_with_more)
    row = summary.parts[0].rows[-1]
    assert (row.verdict, row.cost, row.provenance) == ("not run", "", "")


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        fill(tmp_path / folder / "paper")
        build(tmp_path / folder)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / folder / "paper").glob("*.*")}
        for folder in "ab"
    )
    assert len(first) > 10 and first == second


def test_times_of_this_machine_stay_out_of_the_page(tmp_path):
    for folder, cpu in (("a", 3.0), ("b", 4.0)):
        fill(tmp_path / folder / "paper", cpu=cpu)
        runs = pd.read_csv(tmp_path / folder / "paper/data/nim.runs.csv").assign(
            provenance="trained here", machine=f"machine {folder}", commit=folder
        )
        runs.to_csv(tmp_path / folder / "paper/data/nim.runs.csv", index=False)
    pages = [build(tmp_path / folder)[1:] for folder in ("a", "b")]
    assert all("timings.html" in page[0] and page[0].pop("timings.html") for page in pages)
    assert pages[0] == pages[1] and "see timings" in pages[0][0]["alpha2020.html"]
    assert "machine a" in (tmp_path / "a/paper/timings.md").read_text()


def test_a_record_that_differs_fails_the_build(tmp_path, monkeypatch, capsys):
    fill(tmp_path / "paper", "re-run here: differs")
    summary, _, markdown = build(tmp_path)
    assert summary.differs == 2 and "2 re-run here: differs" in markdown
    monkeypatch.setattr(collect, "build", lambda profile: summary)
    monkeypatch.setattr(collect.correspondence, "build", lambda profile: None)
    assert collect.main(["paper"]) == 1
    assert "2 re-run here: differs" in capsys.readouterr().out


def test_missing_runs_are_counted_with_their_estimate(tmp_path):
    fill(tmp_path / "paper", "missing")
    path = tmp_path / "paper/data/nim.runs.csv"
    pd.read_csv(path).assign(estimated_cpu_seconds=1800.0).to_csv(path, index=False)
    summary, pages, markdown = build(tmp_path)
    assert summary.missing_hours == 1.0 and "2 missing (1.0 CPU h)" in markdown
    assert "missing: 1 h" in pages["alpha2020.html"]


def test_nothing_run_still_gives_the_whole_table(tmp_path):
    summary, pages, _ = build(tmp_path)
    assert summary.verdicts["not run"] == 4 and summary.verdicts["not a target"] == 1
    assert "no results of the study nim" in pages["alpha2020.html"]
    assert "No run is known" in pages["runs.html"]
    for html in pages.values():
        Words(html)


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("data/nim.results.csv", "", "nim.results.csv cannot be read"),
        ("data/nim.results.csv", "study,arm\nnim,FARL\n", "lacks the column 'run'"),
        ("data/nim.results.csv", ",".join(RESULT_COLUMNS) + "\n", "without results yet: nim"),
        (
            "data/nim.results.csv",
            ",".join(RESULT_COLUMNS) + "\nnim,FARL,0,9,win_rate,oops\n",
            "value is 'oops'",
        ),
        (
            "data/nim.results.csv",
            ",".join(RESULT_COLUMNS) + "\nnim,FARL,0,9,win_rate,inf\n",
            "not finite",
        ),
        (
            "data/nim.results.csv",
            ",".join(RESULT_COLUMNS) + "\n" + 2 * "nim,FARL,0,9,win_rate,1\n",
            "two final values",
        ),
        ("data/nim.results.csv", '\x00\xff,,,\n"', "nim.results.csv"),
        ("data/nim.runs.csv", "a,b\n1,2\n", "nim.runs.csv lacks the column"),
        ("data/nim.runs.csv", None, "nim.runs.csv is missing"),
        ("figures/nim-curves.svg", "<svg", "not a well-formed drawing"),
        ("figures/nim-curves.txt", None, "no caption"),
        ("figures/nim-curves.csv", None, "no file with its numbers"),
        ("11_nim.ipynb", "{", "11_nim.ipynb cannot be read"),
    ],
)
def test_damage_is_a_marked_gap_and_the_rest_is_built(tmp_path, name, content, words):
    fill(tmp_path / "paper")
    path = tmp_path / "paper" / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content, encoding="latin-1")
    summary, pages, markdown = build(tmp_path)
    assert any(words in gap for gap in summary.gaps), summary.gaps
    assert 'class="gap"' in pages["index.html"] and "> **Gap:**" in markdown
    assert sum(summary.verdicts.values()) == 5
    for html in pages.values():
        Words(html)


def test_an_unknown_provenance_is_shown_and_marked(tmp_path):
    fill(tmp_path / "paper", "dreamt")
    summary, pages, _ = build(tmp_path)
    assert (
        summary.provenance["dreamt"] == 2
        and any("dreamt" in gap for gap in summary.gaps)
        and "2 dreamt" in pages["index.html"]
    )


def test_verdicts_that_no_number_of_runs_can_decide_are_told(tmp_path):
    fill(tmp_path / "paper")
    wide = published()
    wide["alpha2020"].claims[0] = claim(
        "good", value=38, printed="38%", uncertainty={"value": 5, "kind": "sem", "runs": 10}
    )
    _, pages, _ = build(tmp_path, papers_=wide)
    assert "1 cannot be decided by any number of runs" in words(pages["changes.html"])


def test_only_the_paper_profile_speaks_about_the_papers(tmp_path):
    fill(tmp_path / "quick")
    _, pages, markdown = build(tmp_path, "quick")
    assert "reduced scale" in pages["index.html"] and "reduced scale" in markdown
    with pytest.raises(ValueError, match="plain name"):
        collect.build("a/b", tmp_path, published())


def test_the_picture_shows_statements_and_values_with_words(tmp_path):
    fill(tmp_path / "paper")
    papers_ = published()
    runs = {"study": "nim", "arm": "FARL", "metric": "win_rate"}
    papers_["alpha2020"].statements.append(
        Statement(
            "s", "well", {"section": "1"}, "It learns", "bound", [{"value": runs, "above": 9}]
        )
    )
    summary, pages, markdown = build(tmp_path, papers_=papers_)
    svg = (tmp_path / "paper" / "verdicts.svg").read_text()
    assert page.is_svg(svg) and "✓ holds" in svg and "alpha2020" in svg and "It learns" in svg
    assert verdict_picture.verdict_svg(summary) == svg.rstrip("\n")
    plain = markdown.replace("\\", "")
    assert "| It learns | 50.2 [50.0, 50.4] (p* < 0.001) | ✓ holds |" in plain
    assert 'id="s-s"' in pages["alpha2020.html"]
    assert 'href="alpha2020.html#s-s"' in pages["index.html"]


def cells(html, says):
    """Return the cells of the readings' line that says so, without the first two."""
    (line,) = [line for line in html.split("<tr>") if f'data-label="When">{says}' in line]
    return [re.sub("<.*?>", "", cell) for cell in re.findall("<td.*?</td>", line)][1:]


def with_results(directory, rows):
    """Add rows (arm, number of runs, value of the first run) to the scores of the study."""
    path = directory / "data" / "nim.results.csv"
    more = [
        ("nim", arm, run, 1000, "score", value + 0.1 * run)
        for arm, runs, value in rows
        for run in range(runs)
    ]
    table = pd.concat([pd.read_csv(path), pd.DataFrame(more, columns=RESULT_COLUMNS)])
    table.to_csv(path, index=False)


def with_readings(readings, **changes):
    """Return the papers; the second claim of the first one, a score of 80, has readings."""
    papers_ = published()
    paper, (first, value, *others) = papers_["alpha2020"], papers_["alpha2020"].claims
    value = dataclasses.replace(value, **({"arm": "FARL"} | changes))
    value = dataclasses.replace(value, readings=readings_of(value, readings))
    papers_["alpha2020"] = dataclasses.replace(
        paper, claims=[first, value, *others], readings=readings
    )
    return papers_


@pytest.mark.parametrize("former, listed", [("does not hold", True), ("holds", False)])
def test_statements_whose_verdict_changed_are_listed(tmp_path, former, listed):
    fill(tmp_path / "paper")
    papers_ = published()
    runs = {"study": "nim", "arm": "FARL", "metric": "win_rate"}
    before = {"verdict": former, "why": "It asked for too much"}
    papers_["alpha2020"].statements.append(
        Statement(
            *("s", "well", {"section": "1"}, "It learns", "bound", [{"value": runs, "above": 9}]),
            former=before,
        )
    )
    _, pages, _ = build(tmp_path, papers_=papers_)
    changes = pages["changes.html"]
    assert ("It asked for too much" in changes) == listed
    assert ('href="alpha2020.html#s-s"' in changes) == listed
    assert ("does not hold</span></span></td><td>" in changes) == listed


def test_readings_say_which_exploratory_arm_gives_a_value(tmp_path):
    fill(tmp_path / "paper")
    with_results(
        tmp_path / "paper", [("draw 0.5", 10, 80), ("draw 1", 10, 30.2), ("theirs", 3, 80)]
    )
    readings = [
        Reading(arm, f"a draw counts {arm[5:]}", "nim", {"FARL": arm}, sets={"D1": arm})
        for arm in ("draw 0.5", "draw 1", "draw 2")
    ]
    readings.append(Reading("s", "as in their program", "nim", {"FARL": "theirs"}, software=True))
    summary, pages, _ = build(tmp_path, papers_=with_readings(readings))
    row = summary.parts[0].rows[1]
    assert row.verdict == "not reproduced"
    assert [answer.outcome for answer in row.answers] == [
        "gives it", "does not", "not tried", "too few runs"
    ]  # fmt: skip
    text = words(pages["alpha2020.html"])
    assert "Comes out when a draw counts 0.5 (80.5%)." in text
    assert "Not when a draw counts 1 (30.6%)." in text
    assert "Too few runs yet: when as in their program (80.1%, 3 of 10 runs)." in text
    assert "Not tried yet: when a draw counts 2." in text
    assert re.search(r"As the original software.*80.1% \[79.*✓ reproduced", text)
    # runs, values, given, exceeded, not excluded, not given, open
    html = pages["alpha2020.html"]
    assert cells(html, "as in their program") == ["3 of 10", *"100001"]
    assert cells(html, "a draw counts 1") == ["10", *"100010"]
    assert cells(html, "a draw counts 2") == ["none", *"100001"]


def test_a_reading_with_few_runs_gives_nothing_yet(tmp_path):
    fill(tmp_path / "paper")
    with_results(tmp_path / "paper", [("draw 0.5", 9, 80)])
    reading = Reading("r", "a draw counts 0.5", "nim", {"FARL": "draw 0.5"})
    summary, pages, _ = build(tmp_path, papers_=with_readings([reading]))
    (answer,) = summary.parts[0].rows[1].answers
    assert (answer.outcome, answer.verdict, answer.runs) == ("too few runs", "reproduced", 9)
    text = words(pages["alpha2020.html"])
    assert "Too few runs yet: when a draw counts 0.5 (80.4%, 9 of 10 runs)." in text
    assert "Comes out when" not in text and "Not tried" not in text
    assert cells(pages["alpha2020.html"], "a draw counts 0.5") == ["9 of 10", *"100001"]


def test_one_training_in_ten_runs_gives_nothing(tmp_path):
    fill(tmp_path / "paper")
    with_results(tmp_path / "paper", [("first ties", 10, 80)])
    reading = Reading("r", "ties go first", "nim", {"FARL": "first ties"}, one_training=["FARL"])
    summary, pages, _ = build(tmp_path, papers_=with_readings([reading]))
    assert [answer.outcome for answer in summary.parts[0].rows[1].answers] == ["one training"]
    text = words(pages["alpha2020.html"])
    assert "single training, since nothing is random in it: when ties go first (80.5%)." in text
    assert "Comes out when" not in text
    assert cells(pages["alpha2020.html"], "ties go first") == ["10, all one", *"100001"]


def test_better_than_printed_is_not_given(tmp_path):
    fill(tmp_path / "paper")
    with_results(tmp_path / "paper", [("draw 0.5", 10, 95)])
    reading = Reading("r", "a draw counts 0.5", "nim", {"FARL": "draw 0.5"})
    summary, pages, _ = build(tmp_path, papers_=with_readings([reading], better="higher"))
    row = summary.parts[0].rows[1]
    assert [(a.outcome, a.verdict) for a in row.answers] == [("is beyond it", "better")]
    (line,) = tally(summary.parts[0].paper, [row.answers])
    assert (line["gives"], line["beyond"], line["open"]) == (0, 1, 0)
    text = words(pages["alpha2020.html"])
    assert "Is exceeded when a draw counts 0.5 (95.5%)." in text and "Comes out when" not in text
    assert "1 values that no reading gives" in text


def test_a_reading_without_runs_says_why(tmp_path):
    fill(tmp_path / "paper")
    reading = Reading("r", "a draw counts 2", "nim", {}, not_run="no arm: it costs a year")
    _, pages, _ = build(tmp_path, papers_=with_readings([reading]))
    assert cells(pages["alpha2020.html"], "a draw counts 2") == ["no arm: it costs a year"]


@pytest.mark.parametrize("field", ["bound", "why"])
def test_values_that_no_reading_gives_are_listed_with_their_reason(tmp_path, field):
    fill(tmp_path / "paper")
    with_results(tmp_path / "paper", [("draw 2", 10, 30)])
    reading = Reading("r", "a draw counts 2", "nim", {"FARL": "draw 2"})
    papers_ = with_readings([reading], **{field: "No policy draws more."})
    summary, pages, _ = build(tmp_path, papers_=papers_)
    text = words(pages["alpha2020.html"])
    assert "1 values that no reading gives No policy draws more." in text
    ((why, rows),) = unexplained(summary.parts[0].rows)
    assert why == "No policy draws more." and [r.claim.id for r in rows] == ["alpha2020/off"]


def test_every_verdict_has_its_symbol_and_colour():
    assert sorted(labels.VERDICTS) == sorted(LABELS)
    assert len({look.symbol for look in labels.VERDICTS.values()}) == len(LABELS)


def test_a_changed_margin_is_listed_with_its_effect(tmp_path):
    fill(tmp_path / "paper")
    papers_ = published()
    was = dict(margin=0.225, former_margin=2, changed="after the runs", value=49, printed="49%")
    papers_["alpha2020"].claims.append(claim("share", **was))
    summary, pages, _ = build(tmp_path, papers_=papers_)
    text = words(pages["changes.html"])
    assert "percent: after the runs" in text and "margin ±2, now ±0.225" in text
    assert re.search("✓ reproduced *✗ not reproduced", text)
    row = next(row for row in summary.parts[0].rows if row.former_verdict)
    assert (row.former_verdict, row.verdict) == ("reproduced", "not reproduced")


def test_a_changed_rule_without_effect_is_no_change(tmp_path):
    fill(tmp_path / "paper")
    papers_ = published()
    was = dict(margin=1.9, former_margin=2, changed="after the runs", value=50.2, printed="50.2%")
    papers_["alpha2020"].claims.append(claim("share", **was))
    summary, pages, _ = build(tmp_path, papers_=papers_)
    assert not any(row.former_verdict for row in summary.parts[0].rows)
    text = words(pages["changes.html"])
    assert "percent: after the runs" in text and "margin ±2" not in text


def test_markdown_cells_stay_in_their_table():
    table = page.Table(("a", "b"), (("x | y", "one\ntwo"),))
    assert page.to_markdown([table]).splitlines()[-1] == "| x \\| y | one<br>two |"


def test_only_blocks_make_a_page():
    with pytest.raises(TypeError, match="not a block"):
        page.to_markdown([("text",)])


@pytest.mark.parametrize(
    "seconds, text",
    [(0.35, "0.35 s"), (12, "12 s"), (204, "3.4 min"), (4320, "1.2 h"), (36000, "10 h")],
)
def test_durations_read_well(seconds, text):
    assert sources.duration(seconds) == text


def test_a_failed_notebook_is_a_gap(tmp_path):
    folder = tmp_path / "paper"
    folder.mkdir()
    cell = {
        "cell_type": "markdown",
        "source": (
            "**This notebook failed, its results are missing.**\n\n```\nValueError: boom\n```\n"
        ),
    }
    (folder / "11_nim.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {"failed": True}}), encoding="utf-8"
    )
    summary = collect.build("paper", tmp_path, {})
    assert summary.gaps == ("the notebook 11_nim failed: ValueError: boom",)
    assert "boom" in (folder / "index.md").read_text(encoding="utf-8")
