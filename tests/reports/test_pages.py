"""The pages of the report as they are published: no broken link, nothing fetched, nothing big."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from afterstate.reports import collect, correspondence, notebook_page, readings

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 400_000
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, what it fetches, its anchors, and what a screen reader needs."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.faults, self.levels = set(), [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given["id"]} if "id" in given else set()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        if tag == "img" and len(given.get("alt") or "") < 3:
            self.faults.append(f"no alternative text: {given}")
        if tag == "th" and "scope" not in given:
            self.faults.append(f"a header without scope: {given}")
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))


def faults(folder, *roots):
    """Return what is wrong with the pages of a folder, whose links may lead out up to `roots`."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}
    found = []
    for path, page in pages.items():
        found += [f"{path.name}: {fault}" for fault in page.faults]
        if path.stat().st_size > MOST_BYTES:
            found.append(f"{path.name} has {path.stat().st_size} bytes")
        found += [f"{path.name} fetches {url}" for url in page.fetched if ":" in url or "//" in url]
        if page.levels[:1] != [1] or page.levels.count(1) > 1:
            found.append(f"{path.name}: headings {page.levels[:3]}, not one of level 1 at first")
        for href in page.links + page.fetched:
            if re.match(r"https?://", href) and href not in page.fetched:
                continue
            name, _, anchor = unquote(href).partition("#")
            target = (folder / name).resolve() if name else path
            if not target.exists() or not any(map(target.is_relative_to, roots)):
                found.append(f"{path.name}: {href} leads nowhere")
            elif anchor and target.suffix == ".html" and anchor not in pages[target].ids:
                found.append(f"{path.name}: {href} has no such anchor")
    return found


def test_the_checks_see_what_is_wrong(tmp_path):
    text = '<h2>t</h2><img src="http://x/a.png"><th>a</th><a href="#b">b</a><a href="c.html">c</a>'
    (tmp_path / "a.html").write_text(text + "x" * MOST_BYTES)
    found = "; ".join(faults(tmp_path, tmp_path))
    for words in (
        "alternative text",
        "without scope",
        "bytes",
        "fetches http://x",
        "headings [2]",
        "#b has no such anchor",
        "c.html leads nowhere",
    ):
        assert words in found


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The published report, built anew from its notebooks and data in a copy."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("data", "lib", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    folder = root / "reports" / "paper"
    (folder / "data").mkdir(parents=True)
    for path in (ROOT / "reports" / "paper" / "data").glob("*.csv"):
        (folder / "data" / path.name).symlink_to(path)
    shutil.copytree(ROOT / "reports" / "paper" / "figures", folder / "figures")
    for pattern in ("*.ipynb", "bench.md"):
        for path in (ROOT / "reports" / "paper").glob(pattern):
            shutil.copy(path, folder)
    summary = collect.build("paper", root / "reports")
    correspondence.build("paper", root / "reports")
    return folder, summary


@pytest.mark.slow
def test_the_published_pages_are_whole(copy):
    folder, summary = copy
    found = faults(folder.resolve(), ROOT, folder.resolve())
    assert not found, "\n".join(found[:20])
    assert len(list(folder.glob("*.html"))) == 4 + len(summary.parts) + len(summary.notebooks)
    assert all(gap.startswith("without results yet: ") for gap in summary.gaps)


@pytest.mark.slow
def test_each_value_stands_once(copy):
    folder, summary = copy
    for part in summary.parts:
        text = (folder / part.page).read_text(encoding="utf-8")
        ids = re.findall(r'<tr id="(v-[^"]+)"', text)
        assert len(ids) == len(set(ids)) == len(part.rows)


@pytest.mark.slow
def test_values_that_no_reading_of_jamieson2022_gives_have_a_reason(copy):
    (part,) = [part for part in copy[1].parts if part.paper.key == "jamieson2022"]
    groups = readings.unexplained(part.rows)
    assert sum(len(rows) for _, rows in groups) > 20 and all(why for why, _ in groups)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the browser chromium")
def test_pages_work_in_a_browser(copy):
    folder, _ = copy
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*browser, f"file://{folder}/konen2021.html"], capture_output=True, text=True, timeout=60
    )
    assert 'class="scripted"' in done.stdout and done.stdout.count("<button") > 5


def markdown(text):
    return notebook_page._markdown(text)


def test_markdown_of_notebooks():
    text, headings = markdown("# A b\n\nsee [here](#A-b), `reports/paper/index.html`, `$x$`")
    assert headings == [(1, "A-b", "A b")] and '<h1 id="A-b">' in text
    assert '<a href="index.html">index.html</a>' in text and "<code>$x$</code>" in text
    assert '<th scope="col">' in markdown("| a |\n|---|\n| b |")[0]
    assert 'href="10_tictactoe.html"' in markdown("[x](10_tictactoe.ipynb)")[0]


def test_formulas_become_drawings_that_name_their_source():
    text, _ = markdown(r"The value $V(s) = \tanh(w)$ is here, and $\unknowncommand{x}$ too.")
    assert text.count("<svg") == 1 and r'aria-label="V(s) = \tanh(w)"' in text
    assert r"<code>\unknowncommand{x}</code>" in text and "$" not in text
    assert markdown(r"$V$")[0] == markdown(r"$V$")[0]
    shown, _ = markdown("$$V(s) =\n\\gamma$$")
    assert 'class="display"' in shown and shown.count("<svg") == 1 and "$" not in shown


def test_outputs_of_notebooks_become_tables_and_files(tmp_path):
    svg = '<svg width="9"><path d="M 1.23456 2"/></svg>'
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "one\n"},
        {"output_type": "stream", "name": "stdout", "text": "<two>\n"},
        {"output_type": "display_data", "data": {"image/svg+xml": svg}},
        {"output_type": "execute_result", "data": {"text/html": "<table><th>a</th></table>"}},
        {"output_type": "display_data", "data": {"image/png": "UE5H", "text/plain": "<Figure>"}},
    ]
    cells = [
        {"cell_type": "markdown", "source": "# T", "id": "a"},
        {"cell_type": "code", "source": "x = 1", "id": "b", "outputs": outputs},
    ]
    book = notebook_page.Notebook(tmp_path / "n.ipynb", cells)
    notebook_page.write(book)
    page = (tmp_path / "n.html").read_text()
    assert "one\n&lt;two&gt;" in page and 'src="cells/n-b-2.svg"' in page and 'id="cell-b"' in page
    assert "1.23 2" in (tmp_path / "cells" / "n-b-2.svg").read_text()
    assert 'src="cells/n-b-4.png"' in page and "Figure" not in page
    assert (tmp_path / "cells" / "n-b-4.png").read_bytes() == b"PNG"
    assert 'role="region"' in page
