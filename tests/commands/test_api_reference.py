"""The API reference: every module has a page, no link is broken, nothing is fetched."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from afterstate.commands import api_reference
from afterstate.kernel.source import PACKAGE

ELSEWHERE = r"(?!data:)\w+:|//"  # a picture may stand in the page itself
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to and fetches, its anchors, and its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.code, self.inside = set(), [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given["id"]} if "id" in given else set()
        self.inside = tag
        self.code += given.get("style") or ""
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            self.code += data


def faults(folder):
    """Return what is wrong with the pages of a folder."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        sources = page.fetched + re.findall(
            r"(?:url\(|@import|import\(|fetch\()\s*['\"]?([^'\")]+)", page.code
        )
        found += [f"{name} fetches {url}" for url in sources if re.match(ELSEWHERE, url)]
        for href in page.links + page.fetched:
            if re.match(r"\w+:", href):
                continue
            file, _, anchor = unquote(href).partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or not target.is_relative_to(folder):
                found.append(f"{name}: {href} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].ids:
                found.append(f"{name}: {href} has no such anchor")
    return found


def test_the_checks_see_what_is_wrong(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="#b">b</a><a href="c.html">c</a><script src="https://x/y.js"></script>'
        "<style>p {background: url(https://z/y.png)}</style><a href='https://fine'>f</a>"
        "<script>fetch('//w/data')</script>"
    )
    assert faults(tmp_path) == [
        "a.html fetches https://x/y.js",
        "a.html fetches https://z/y.png",
        "a.html fetches //w/data",
        "a.html: #b has no such anchor",
        "a.html: c.html leads nowhere",
    ]


@pytest.mark.slow
def test_every_module_has_a_page_no_link_is_broken_and_nothing_is_fetched(tmp_path):
    target = tmp_path.resolve() / "api"
    names = api_reference.build(target, source=False)  # half the time
    pages = {path.relative_to(target).as_posix() for path in target.rglob("*.html")}
    assert pages == {"index.html", *(f"{name.replace('.', '/')}.html" for name in names)}
    packages = {f.parent.name for f in PACKAGE.glob("*/__init__.py")}
    assert {f"afterstate.{package}" for package in packages} <= set(names)
    assert faults(target) == []
    text = (target / "afterstate" / "games" / "catalogue.html").read_text()
    assert "Make a game by its name." in text and "Raises" in text
    rules = (target / "afterstate" / "games" / "rules" / "tictactoe.html").read_text()
    assert "<p>::</p>" not in rules and "specification   tictactoe" in rules
    listed = Page((target / "afterstate" / "players.html").read_text()).links
    for module in (PACKAGE / "players").glob("[a-z]*.py"):
        assert f"players/{module.stem}.html" in listed, "a package leads to all its modules"
    assert "action_values" in (target / "search.js").read_text()


def test_a_missing_pdoc_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pdoc", None)
    with pytest.raises(ImportError, match=r"pip install 'afterstate\[docs\]'"):
        api_reference.build(Path("nowhere"))
