"""What is wrong with HTML pages: broken links, what is fetched, what a screen reader lacks."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

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
