"""The pages of the report as they are published: no broken link, nothing fetched, nothing big."""

import html
import json
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


BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
# width of the window -> most lines of a row; on a narrow screen rows are cards: lines of a cell
MOST_LINES = {1400: 3, 400: 4}
MEASURE = """<!DOCTYPE html><body><script>
function lines(row) {
  // height of a row without its padding, in lines of its text; of a card, that of its highest cell
  const card = getComputedStyle(row).display !== "table-row";
  return Math.max(...[...row.cells].slice(0, card ? 99 : 1).map((cell) => {
    const style = getComputedStyle(cell);
    const free = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom) + (card ? 0 : 1);
    return (cell.getBoundingClientRect().height - free) / parseFloat(style.lineHeight);
  }));
}
function measured(page, width, most, next) {
  const frame = document.createElement("iframe");
  Object.assign(frame, {src: page, width: width, height: 900});
  frame.onload = () => {
    const seen = frame.contentDocument;
    const height = seen.documentElement.scrollHeight;
    for (const part of seen.querySelectorAll("details:not(.remark)")) part.open = true;
    const rows = [...seen.querySelectorAll("tbody tr")].filter((row) => row.offsetHeight);
    const high = rows.filter((row) => !(lines(row) <= most + 0.2)).map((row) =>
      row.closest("table").className + " " + lines(row).toFixed(1) + " " + row.innerText);
    const wide = seen.documentElement.scrollWidth - frame.contentWindow.innerWidth;
    frame.remove();
    next({page, width, height, rows: rows.length, high, wide});
  };
  document.body.append(frame);
}
const found = [];
function go(jobs) {
  if (!jobs.length) document.body.textContent = JSON.stringify(found);
  else measured(...jobs[0], (result) => { found.push(result); go(jobs.slice(1)); });
}
go(JOBS);
</script></body>"""


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
    assert summary.gaps == ()


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
    done = subprocess.run(
        [*BROWSER, f"file://{folder}/konen2021.html"], capture_output=True, text=True, timeout=60
    )
    assert 'class="scripted"' in done.stdout and done.stdout.count("<button") > 5


def measure(folder, pages, most):
    """Return how pages look in a browser: {page, width, height, rows, high, wide} of each.

    `most`: width -> greatest number of lines of a row; `high` are the rows above it, `wide` is what
    the page is wider than the window. Everything but remarks is open, save for `height`.
    """
    jobs = [[page, width, lines] for page in pages for width, lines in most.items()]
    path = folder / "measure.html"
    path.write_text(MEASURE.replace("JOBS", json.dumps(jobs)), encoding="utf-8")
    flags = ("--allow-file-access-from-files", "--virtual-time-budget=60000")
    done = subprocess.run(
        [*BROWSER, *flags, f"file://{path}"], capture_output=True, text=True, timeout=120
    )
    path.unlink()
    return json.loads(html.unescape(re.search(r"<body>(\[.*\])</body>", done.stdout, re.S)[1]))


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the browser chromium")
def test_the_measure_sees_what_is_too_high_or_too_wide(tmp_path):
    (tmp_path / "high.html").write_text(
        "<!DOCTYPE html><style>body { line-height: 1.4 } table { width: 9em }</style>"
        "<table><tbody><tr><td>one</td></tr>"
        f"<tr><td>{'four lines ' * 9}</td></tr></tbody></table>"
    )
    (tmp_path / "wide.html").write_text('<!DOCTYPE html><p style="width: 30em">wide')
    high, wide = measure(tmp_path, ["high.html", "wide.html"], {400: 3})
    assert high["rows"] == 2 and len(high["high"]) == 1 and "four lines" in high["high"][0]
    assert high["wide"] <= 0 < wide["wide"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the browser chromium")
def test_no_row_is_high_and_no_page_wide(copy):
    folder, summary = copy
    pages = [part.page for part in summary.parts]
    pages = ["index.html", "runs.html", "changes.html", "correspondence.html", *pages]
    found = measure(folder, pages, MOST_LINES)
    assert len(found) == len(pages) * len(MOST_LINES) and all(page["rows"] for page in found)
    high = [f"{page['page']} at {page['width']}: {row}" for page in found for row in page["high"]]
    assert not high, "\n".join(high[:20])
    assert not [page["page"] for page in found if page["wide"] > 0]
    assert found[0]["page"] == "index.html" and found[0]["height"] <= 1800  # two screens


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
