"""The API reference: every module has a page, no link is broken, nothing is fetched."""

import re

import pytest

from afterstate.commands import cli
from afterstate.kernel.source import PACKAGE

LINK, ANCHOR = re.compile(r"<a[^>]*? href=['\"]([^'\"]*)"), re.compile(r" id=['\"]([^'\"]*)")
FETCHED = re.compile(
    r"<(?:img|script|link|iframe|source)[^>]*? (?:src|href)=['\"]([^'\"]+)"
    r"|(?:url\(|@import|import\(|fetch\()\s*['\"]?([^'\")]+)"
)


def faults(folder):
    """Return the broken links of the pages of a folder, and what they fetch from elsewhere."""
    pages = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    anchors, found = {path: set(ANCHOR.findall(text)) for path, text in pages.items()}, []
    for path, text in pages.items():
        fetched = ["".join(groups) for groups in FETCHED.findall(text)]
        found += [url for url in fetched if re.match(r"(?!data:)\w+:|//", url)]
        shown = re.sub(r"(?s)<script.*?</script>", "", text)
        for link in (link for link in LINK.findall(shown) if not re.match(r"\w+:", link)):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or anchor and anchor not in anchors.get(target, anchor):
                found.append(link)
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
    listed = (target / "afterstate" / "players.html").read_text()
    for module in (PACKAGE / "players").glob("[a-z]*.py"):
        assert f"players/{module.stem}.html" in listed, "a package leads to all its modules"
