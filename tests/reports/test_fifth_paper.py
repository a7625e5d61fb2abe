"""A fifth paper needs one file of claims, its notebooks and profiles, and no line of the library."""

import json
import shutil

import pandas as pd
import pytest

from afterstate import papers
from afterstate.commands import notebooks
from afterstate.files import data_directory
from afterstate.papers.compare import RESULT_COLUMNS
from afterstate.reports import collect

CLAIMS = """
# A tiny paper.
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
    tested: The second arm wins more than the first
    test: ordering
    parts:
      - high: {study: tiny, arm: second, metric: win_rate}
        low: {study: tiny, arm: first, metric: win_rate}
claims:
  - id: tiny2026/table1/first
    place: {table: '1', row: Nim, column: first}
    printed: 40%
    value: 40
    unit: percent
    study: tiny
    arm: first
    metric: win_rate
deviations:
  - {id: D1, title: a point, paper: silent, original: something, default: something, why: a reason}
"""


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the papers with a fifth one, a notebook, a profile and results."""
    shutil.copytree(data_directory() / "papers", tmp_path / "data" / "papers")
    (tmp_path / "data" / "papers" / "tiny2026.yaml").write_text(CLAIMS)
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Tiny\n[tiny2026]"},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["parameters"]},
            "source": "runs = 2",
            "outputs": [],
        },
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    report = tmp_path / "reports" / "paper"
    (report / "data").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    for folder in (tmp_path / "notebooks", report):
        (folder / "50_tiny.ipynb").write_text(text)
    profile = tmp_path / "data" / "profiles" / "paper"
    profile.mkdir(parents=True)
    (profile / "50_tiny.yaml").write_text("runs: 10\n")
    rows = [
        ("tiny", arm, run, 100, "win_rate", value + 0.1 * run)
        for run in range(10)
        for arm, value in (("first", 39.5), ("second", 60))
    ]
    results = pd.DataFrame(rows, columns=RESULT_COLUMNS)
    results.to_csv(report / "data" / "tiny.results.csv", index=False)
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.slow
def test_a_fifth_paper_is_one_file_with_its_notebooks_and_profiles(copy):
    assert papers.keys()[-1] == "tiny2026"
    (path,) = notebooks.find()
    assert notebooks.profile_parameters(path, "paper") == {"runs": 10}
    summary = collect.build("paper", copy / "reports")
    part = summary.parts[-1]
    assert part.paper.key == "tiny2026" and part.verdicts["reproduced"] == 1
    assert [row.verdict for row in part.statements] == ["holds"]
    report = copy / "reports" / "paper"
    index, page = ((report / name).read_text() for name in ("index.html", "tiny2026.html"))
    assert 'href="tiny2026.html#s-grows"' in index and "The second arm wins" in index
    assert "Table 1: what it shows" in page and 'href="50_tiny.html"' in page
    assert "tiny2026.html" in (report / "50_tiny.html").read_text()
    assert "tiny2026" in (report / "verdicts.svg").read_text()
