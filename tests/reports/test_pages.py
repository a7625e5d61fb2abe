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
ADDRESS = r"""['"]?\s*((?:[a-z]+:)?//[^'")\s]*)"""  # of another host
# What a style sheet or a script fetches.
LOADS = {
    ".css": [rf"url\(\s*{ADDRESS}", rf"@import\s+{ADDRESS}"],
    ".js": [
        r"\b(fetch|importScripts|sendBeacon)\s*\(",
        r"\bnew\s+(XMLHttpRequest|WebSocket|EventSource|Worker|SharedWorker)\b",
        r"(?<![\w.])(import)\b",
        rf"\.(?:src|href)\s*=\s*{ADDRESS}",
    ],
}
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}


BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
WIDTHS = (1400, 400)
MOST_LINES = 3  # of a row; on a narrow screen rows are cards: of a closed card
MOST_HEIGHT = 1800  # of the first page: two screens
MEASURE = """<!DOCTYPE html><body><script>
function lines(row) {
  // height of a row without padding and border, in lines of its text; a card has its own padding
  const card = getComputedStyle(row).display !== "table-row";
  const style = getComputedStyle(card ? row : row.cells[0]);
  const free = ["paddingTop", "paddingBottom", "borderTopWidth", "borderBottomWidth"];
  const text = free.reduce((left, name) => left - parseFloat(style[name]),
    row.getBoundingClientRect().height);
  return text / parseFloat(getComputedStyle(row.cells[0]).lineHeight);
}
function unreached(row) {
  // the fields of a row that are not there although everything is open
  return [...row.querySelectorAll("th, td, details.remark")].filter((part) =>
    part.textContent.trim() && !part.offsetHeight).map((part) => part.innerText);
}
function measured(page, width, most, next) {
  const frame = document.createElement("iframe");
  Object.assign(frame, {src: page, width: width, height: 900});
  frame.onload = () => {
    const seen = frame.contentDocument;
    const height = seen.documentElement.scrollHeight;
    for (const part of seen.querySelectorAll("details:not(.remark, .whole)")) part.open = true;
    const rows = [...seen.querySelectorAll("tbody tr")].filter((row) => row.offsetHeight);
    const high = rows.filter((row) => !(lines(row) <= most + 0.2)).map((row) =>
      row.closest("table").className + " " + lines(row).toFixed(1) + " " + row.innerText);
    const wide = [seen.documentElement, ...seen.querySelectorAll(".wide")].filter((part) =>
      part.scrollWidth > part.clientWidth).map((part) => part.ariaLabel || "page");
    for (const part of seen.querySelectorAll("details.whole")) part.open = true;
    const lost = rows.flatMap(unreached);
    frame.remove();
    next({page, width, height, rows: rows.length, high, wide, lost});
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


def loads(text, kind):
    """Return what a style sheet (".css") or a script (".js") fetches."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [found.group(1) for pattern in LOADS[kind] for found in re.finditer(pattern, text)]


class Page(HTMLParser):
    """What a page links to, what it fetches, its anchors, and what a screen reader needs."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.faults, self.levels = set(), [], [], [], []
        self.inside = ""  # "style" or "script"
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.inside = tag
        self._loads(given.get("style") or "", ".css")
        self._loads("".join(v or "" for name, v in attrs if name.startswith("on")), ".js")
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

    def handle_data(self, data):
        if self.inside in ("style", "script"):
            self._loads(data, {"style": ".css", "script": ".js"}[self.inside])

    def handle_endtag(self, tag):
        self.inside = ""

    def _loads(self, text, kind):
        self.faults += [f"{kind[1:]} loads {what}" for what in loads(text, kind)]


def faults(folder, *roots):
    """Return what is wrong with the pages of a folder, whose links may lead out up to `roots`."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}
    found = [
        f"{path.name} loads {what}"
        for kind in (*LOADS, ".svg")
        for path in folder.rglob(f"*{kind}")
        for what in loads(path.read_text(encoding="utf-8"), kind.replace("svg", "css"))
    ]
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.css", "b { background: url('https://x/a.png') }"),
        ("a.css", '@import "//x/a.css";'),
        ("a.js", "fetch('a.json')"),
        ("a.js", "const r = new XMLHttpRequest();"),
        ("a.js", 'import("./a.js")'),
        ("a.js", "import { a } from './a.js';"),
        ("a.js", 'image.src = "https://x/a.png";'),
        ("a.html", "<h1>t</h1><style>@import url(https://x/a.css);</style>"),
        ("a.html", "<h1>t</h1><script>fetch('a')</script>"),
        ("a.html", '<h1 style="background: url(//x/a.png)">t</h1>'),
        ("a.html", "<h1 onclick=\"fetch('a')\">t</h1>"),
        ("a.svg", "<svg><style>@import url(https://x/a.css)</style></svg>"),
    ],
)
def test_the_checks_see_what_is_fetched_without_an_attribute_for_it(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (found,) = {fault.split(" loads ")[0] for fault in faults(tmp_path, tmp_path)}
    assert found.startswith(name)


def test_the_checks_let_pass_what_fetches_nothing(tmp_path):
    (tmp_path / "a.css").write_text("b { background: url(#a) } /* url(https://x) */")
    (tmp_path / "a.js").write_text("const important = 'fetched'; link.href = '#a';")
    assert not faults(tmp_path, tmp_path)


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
    assert len(list(folder.glob("*.html"))) == 6 + len(summary.parts) + len(summary.notebooks)
    assert summary.gaps == ()


@pytest.mark.slow
def test_each_value_stands_once(copy):
    folder, summary = copy
    for part in summary.parts:
        text = (folder / part.page).read_text(encoding="utf-8")
        ids = re.findall(r'<tr id="(v-[^"]+)"', text)
        assert len(ids) == len(set(ids)) == len(part.rows)


@pytest.mark.slow
def test_values_that_no_reading_gives_have_a_reason(copy):
    groups = {part.paper.key: readings.unexplained(part.rows) for part in copy[1].parts}
    assert sum(len(rows) for _, rows in groups["jamieson2022"]) > 20
    lacking = [row.claim.id for found in groups.values() for why, rows in found if not why for row in rows]
    assert not lacking


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the browser chromium")
def test_pages_work_in_a_browser(copy):
    folder, _ = copy
    done = subprocess.run(
        [*BROWSER, f"file://{folder}/konen2021.html"], capture_output=True, text=True, timeout=60
    )
    assert 'class="scripted"' in done.stdout and done.stdout.count("<button") > 5


def measure(folder, pages, widths=WIDTHS):
    """Return how pages look in a browser: {page, width, height, rows, high, wide, lost} of each.

    `high` are the rows of more than MOST_LINES, `wide` names what must be scrolled sideways, `lost`
    is what of a row is not seen although its card is open. Groups are open, save for `height`.
    """
    jobs = [[page, width, MOST_LINES] for page in pages for width in widths]
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
    (tmp_path / "lost.html").write_text(
        "<!DOCTYPE html><style>body { line-height: 1.4 } tr { display: block } .rest { display:"
        " none } tr:has([open]) .seen { display: block }</style><table><tbody>"
        "<tr><th>a<details class='whole'><summary>all</summary></details></th>"
        "<td class='rest seen'>shown</td><td class='rest'>never</td></tr></tbody></table>"
    )
    high, wide, lost = measure(tmp_path, ["high.html", "wide.html", "lost.html"], [400])
    assert high["rows"] == 2 and len(high["high"]) == 1 and "four lines" in high["high"][0]
    assert wide["wide"] == ["page"] and not high["wide"] and not high["lost"]
    assert lost["lost"] == ["never"] and not lost["high"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the browser chromium")
def test_no_row_is_high_and_no_page_wide(copy):
    folder, summary = copy
    pages = [part.page for part in summary.parts]
    pages = ["index.html", "runs.html", "changes.html", "correspondence.html", *pages]
    found = measure(folder, pages)
    assert len(found) == len(pages) * len(WIDTHS) and all(page["rows"] for page in found)
    high = [f"{page['page']} at {page['width']}: {row}" for page in found for row in page["high"]]
    assert not high, "\n".join(high[:20])
    assert not [(page["page"], page["width"], page["wide"]) for page in found if page["wide"]]
    assert not [(page["page"], page["width"], page["lost"]) for page in found if page["lost"]]
    heights = [page["height"] for page in found if page["page"] == "index.html"]
    assert len(heights) == len(WIDTHS) and max(heights) <= MOST_HEIGHT


def markdown(text):
    return notebook_page.markdown(text)


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


def test_figures_of_one_caption_are_told_apart_by_their_words(tmp_path):
    """Also a caption that was wrapped at a hyphen is found."""
    (tmp_path / "figures").mkdir()
    for name, word in (("study-hex", "Hex"), ("study-connectfour", "ConnectFour")):
        (tmp_path / "figures" / f"{name}.svg").write_text(f"<svg><text>{word}</text></svg>")
    outputs = []
    for word in ("ConnectFour", "Hex"):
        picture = {"image/svg+xml": f"<svg><text x='1'>{word}</text></svg>"}
        outputs += [
            {"output_type": "stream", "name": "stdout", "text": "Against AB-\nDL, mean\n"},
            {"output_type": "display_data", "data": picture},
        ]
    cell = {"cell_type": "code", "source": "x", "id": "c", "outputs": outputs}
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}}))
    captions = dict.fromkeys(("study-hex", "study-connectfour", "other-hex"), "Against AB-DL, mean")
    book = notebook_page.read(path, captions)
    assert book.pictures == {("c", 1): "study-connectfour", ("c", 3): "study-hex"}
    assert book.figures == {"study-connectfour": "c", "study-hex": "c"}


@pytest.mark.slow
def test_everything_names_its_cell_its_records_and_their_commits(copy):
    folder, summary = copy
    for part in summary.parts:
        text = (folder / part.page).read_text(encoding="utf-8")
        lines = re.findall(r'<p class="made">(.*?)</p>', text)
        assert lines and all("#cell-" in line for line in lines)
        for line in lines:
            assert "../../data/records/" in line and re.search(r">commits? [0-9a-f]{7}", line)
