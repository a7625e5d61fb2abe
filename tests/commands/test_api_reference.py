"""The API reference: every module has a page, no link is broken, nothing is fetched."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from afterstate.commands import cli
from afterstate.kernel.source import PACKAGE

FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to and fetches, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.fetched = re.findall(r"(?:url\(|@import|import\(|fetch\()\s*['\"]?([^'\")]+)", text)
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.fetched += [given[FETCHED[tag]]] if FETCHED.get(tag) in given else []


def faults(folder):
    """Return what is wrong with the pages of a folder."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        found += [url for url in page.fetched if re.match(r"(?!data:)\w+:|//", url)]
        for href in (link for link in page.links if not re.match(r"\w+:", link)):
            file, _, anchor = unquote(href).partition("#")
            target = (path.parent / file).resolve() if file else path
            inside = target.exists() and target.is_relative_to(folder)
            if not inside or anchor and target in pages and anchor not in pages[target].ids:
                found.append(href)
    return found


@pytest.mark.slow
def test_every_module_has_a_page_no_link_is_broken_and_nothing_is_fetched(tmp_path):
    pytest.importorskip("pdoc")
    target = tmp_path.resolve() / "api"
    names = cli.api_reference(target, source=False)  # half the time
    pages = {path.relative_to(target).as_posix() for path in target.rglob("*.html")}
    assert pages == {"index.html", *(f"{name.replace('.', '/')}.html" for name in names)}
    assert {f"afterstate.{f.parent.name}" for f in PACKAGE.glob("*/__init__.py")} <= set(names)
    assert faults(target) == []
    (target / "index.html").write_text("<a href='#b'>b</a><a href='c.html'>c</a><img src='//x/y'>")
    assert faults(target) == ["//x/y", "#b", "c.html"]
    rules = (target / "afterstate" / "games" / "rules" / "tictactoe.html").read_text()
    assert "<p>::</p>" not in rules and "specification   tictactoe" in rules
    listed = Page((target / "afterstate" / "players.html").read_text()).links
    for module in (PACKAGE / "players").glob("[a-z]*.py"):
        assert f"players/{module.stem}.html" in listed, "a package leads to all its modules"
