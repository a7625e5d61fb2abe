"""The pages as a reader meets them: no broken link, nothing fetched, one text in one cell."""

import json
from pathlib import Path

import pytest
from test_report import fill, published

from afterply.games import catalogue
from afterply.studies.reports import collect, pages
from whole_pages import faults

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_of_a_small_report_are_whole(tmp_path):
    for name in ("data", "lib"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "reports" / "quick"
    studies = fill(folder, "missing")
    collect.build("quick", studies, tmp_path / "reports", published())
    assert not faults(folder)


@pytest.mark.parametrize("name", ["games", "correspondence"])
def test_published_pages_that_need_no_run_are_those_of_today(name):
    given = {"games": catalogue.tables(), "groups": pages.correspondence()}
    kept = (ROOT / "reports" / "paper" / f"{name}.md").read_text(encoding="utf-8")
    page = pages.render(f"{name}.md", **given)
    assert page.split() == kept.split(), "python -m afterply.commands.reproduce report writes it"


def test_a_text_stays_one_text_in_one_cell():
    text = pages._markdown("x | y_1 *z* [a](b) <i> $c$\n two_")
    assert text == r"x \| y_1 \*z\* \[a\](b) \<i\> \$c\$<br>two\_"
    assert pages._markdown(text) == text  # not twice


def test_markdown_and_notebooks_become_pages(tmp_path):
    (tmp_path / "a.md").write_text('# A & B\n\n| x |\n|---|\n| <a id="y"></a>[n](n.ipynb#c) |\n')
    svg = {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"></svg>'}
    output = {"output_type": "display_data", "metadata": {}, "data": svg}
    source = "# N\n[a](a.md), [f](../f.md) and `reports/paper/a.html`"
    cells = [
        {"cell_type": "markdown", "source": source, "id": "a", "metadata": {}},
        {"cell_type": "code", "source": "x = 1", "id": "c", "metadata": {}, "outputs": [output]},
    ]
    cells[1]["execution_count"] = 1
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "n.ipynb").write_text(notebook)
    pages.write_html(tmp_path)
    page, book = ((tmp_path / f"{name}.html").read_text() for name in "an")
    assert "<title>A &amp; B</title>" in page and 'href="n.html#c"' in page
    assert '<th scope="col">x</th>' in page and '<div class="wide"' in page
    for part in ('href="a.html"', 'href="../../f.md"', 'href="a.html">a<', 'id="cell-id=c"'):
        assert part in book
    assert 'alt="Made by this cell"' in book
    pages.write_html(tmp_path)
    assert (tmp_path / "n.html").read_text() == book
