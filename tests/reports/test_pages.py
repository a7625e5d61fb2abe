"""The pages as a reader meets them: no broken link, nothing fetched, one text in one cell."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from test_report import fill, published

from afterply.games import catalogue
from afterply.studies import notebooks
from afterply.studies.reports import collect, pages, readings

ROOT = Path(__file__).resolve().parents[2]
COMPARED = {".md", ".csv", ".svg", ".txt"}
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}


class Page(HTMLParser):
    """What a page links to, what it fetches, its anchors, and what a screen reader needs."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.faults, self.levels = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        if tag == "script" or re.search(r"url\(|@import", given.get("style") or ""):
            self.faults.append(f"runs or loads {given}")
        if tag == "img" and len(given.get("alt") or "") < 3:
            self.faults.append(f"no alternative text: {given}")
        if tag == "th" and "scope" not in given:
            self.faults.append(f"a header without scope: {given}")
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))


def faults(folder):
    """Return what is wrong with the HTML pages of a folder."""
    read = {path: Page(path.read_text("utf-8")) for path in folder.glob("*.html")}
    found = broken_links(read)
    for path, page in read.items():
        found += [f"{path.name}: {fault}" for fault in page.faults]
        if page.levels.count(1) != 1:
            found.append(f"{path.name} has {page.levels.count(1)} headings of level 1")
        found += [f"{path.name}: twice {name}" for name in page.ids if page.ids.count(name) > 1]
    return found


def broken_links(read):
    """Return the links of pages, path -> Page, that lead nowhere or fetch from elsewhere."""
    found = []
    for path, page in read.items():
        for href in page.links + page.fetched:
            name, _, anchor = unquote(href).partition("#")
            if href.startswith("data:") or (re.match("https?:", href) and href in page.links):
                continue
            target = (path.parent / name).resolve() if name else path.resolve()
            if not target.exists():
                found.append(f"{path.name}: {href} leads nowhere")
            elif anchor and target in read and anchor not in read[target].ids:
                found.append(f"{path.name}: {href} has no such anchor")
    return found


def test_the_pages_of_a_small_report_are_whole(tmp_path):
    for name in ("data", "lib"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "reports" / "quick"
    studies = fill(folder, "missing")
    collect.build("quick", studies, tmp_path / "reports", published())
    assert not faults(folder)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The published report, built anew from the records and the executed notebooks in a copy."""
    published = ROOT / "reports" / "paper"
    root = tmp_path_factory.mktemp("copy")
    for name in ("data", "lib", "notebooks", "README.md"):
        (root / name).symlink_to(ROOT / name)
    folder = root / "reports" / "paper"
    folder.mkdir(parents=True)
    for path in (*published.glob("*.ipynb"), *published.glob("bench.*")):
        shutil.copy(path, folder)
    return folder, collect.build("paper", notebooks.collect(notebooks.find())[0], root / "reports")


@pytest.mark.slow
def test_the_published_pages_are_whole(copy):
    folder, summary = copy
    found = faults(folder.resolve())
    assert not found, "\n".join(found[:20])
    assert summary.gaps == [] and len(summary.parts) == 4
    for part in summary.parts:
        text = (folder / f"{part.paper.key}.md").read_text(encoding="utf-8")
        ids = re.findall(r'<a id="(v-[^"]+)"', text)
        assert len(ids) == len(set(ids)) == len(part.rows)
        assert all(row.made for row in part.rows if row.ours)
        groups = readings.unexplained(part.rows)  # values that no reading gives have a reason
        assert all(why for why, _ in groups) and (groups or part.paper.key != "jamieson2022")


@pytest.mark.slow
def test_the_published_pages_are_those_of_the_tables(copy):
    """All but the counts of runs that were made again are the same whenever they are built."""
    kept = [p for p in (ROOT / "reports" / "paper").glob("*.*") if p.suffix in COMPARED]
    kept = [path for path in kept if path.name != "log.txt"]
    assert len(kept) > 20
    differ = [path.name for path in kept if path.read_bytes() != (copy[0] / path.name).read_bytes()]
    assert not differ, "make reproduce writes them"


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
