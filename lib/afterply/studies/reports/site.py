"""The site of ``make docs``: how-tos, reference, notebooks and the report, with one search.

    README.md, CONTRIBUTING.md, CHANGELOG.md  -> index.html, and a page for each of their headings
    what the ``__all__`` of modules name      -> afterply/<module>.html, made by pdoc
    reports/paper/*.ipynb, *.md               -> paper/<name>.html
    pages of agents, if there are any         -> play/index.html, which lists them

Nothing is fetched from elsewhere: the search is a script beside the pages, with all their words.
"""

import importlib
import inspect
import itertools
import json
import os
import re
import shutil
from html import unescape
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ...checks import needs
from ...files import data_directory, emptied_folder, own_folder, reports_directory, write_text
from ...kernel.source import PACKAGE
from ..papers import claims
from ..papers.statements import series
from ..sources import anchor
from .pages import FOLDER, html_bodies, html_of, title_of, write_page

CHANGES, LAST = ("CHANGELOG", "changes"), 2  # pages that the search names last
HOME = "Where to read on"  # of the README; the first page begins with it
# where a part of a page begins: at a heading, or at a name of the reference
PART = re.compile(r'<(h[123]|section|div)\b[^>]*\bid="(?!cell-id)([^"]+)"[^>]*>')
# what nobody searches for: code, pictures, marks, numbers
UNSEARCHED = re.compile(r"(?s)<(pre|svg|style|label)\b.*?</\1>|<[^>]+>|(?<=\s)[\W\d]+(?=\s)")


class _Page(NamedTuple):
    """A page before its links lead to other pages of the site."""

    group: str  # of the navigation
    title: str  # in the navigation
    path: str  # in the folder of the site
    origin: str  # the file that it comes from, in the checkout
    kind: str  # page, notebook or reference
    body: str  # HTML


def build(folder: Path, source: bool = True, played=()) -> list[str]:
    """Build the site in a folder, which is emptied first, and return the paths of its pages.

    FileExistsError if the folder holds anything and was not made by this function.

    Without `source` the reference does not show the source of each name, which takes half as long.
    `played` are pages of agents, made afterwards by the command ``docs``: the first page, a list of
    them, and the statements about their games link to them.
    """
    own_folder(folder)  # refused at once, before the pages are made
    root = data_directory().parent
    report = _report(reports_directory() / "paper", played)
    pages = [*_guide(root, played), *_reference(source), *report]
    paths_of_group = {}
    for page in pages:
        paths_of_group.setdefault(page.group, []).append((page.title, page.path))
    addresses = _addresses(pages, played)
    folder = emptied_folder(folder)
    search_index = []
    for page in pages:
        body = re.sub(r"<(h[123])>(.*?)</", _with_id, page.body)
        if page.kind != "reference":  # pdoc's links are right
            body = _linked(body, Path(page.path), Path(page.origin), addresses, root, folder)
        search_index += _parts(page, body)
        up = "../" * page.path.count("/")
        write_page(
            folder / page.path, page.kind, body, groups=paths_of_group, up=up, here=page.path
        )
    for name in ("style.css", "site.css"):
        shutil.copy(FOLDER / name, folder)
    script = (FOLDER / "search.js").read_text(encoding="utf-8")
    write_text(folder / "search.js", f"const PARTS = {json.dumps(search_index)};\n{script}")
    return [page.path for page in pages]


def _addresses(pages, played) -> dict:
    """Return where a link leads: file of the checkout, perhaps with #heading -> path of a page."""
    addresses = {}
    for agent in played:
        path = f"play/{agent['page']}.html"
        addresses[path] = path
    for page in pages:
        addresses.setdefault(page.origin, page.path)
        if page.group == "Guide":  # each heading of these files has a page
            addresses[f"{page.origin}#{Path(page.path).stem}"] = page.path
        if page.kind == "notebook":  # as it was executed
            addresses[f"reports/{page.path.removesuffix('.html')}.ipynb"] = page.path
    return addresses


def public(name: str = PACKAGE.name) -> dict[str, list[str]]:
    """Return module -> public names, for a module and those that its ``__all__`` lists."""
    module = importlib.import_module(name)
    names = []
    submodules = []
    for one in module.__all__:
        value = getattr(module, one, None)  # None: a module that is not imported yet
        if value is None or inspect.ismodule(value):
            submodules.append(one)
        else:
            names.append(one)
    names_of_module = {name: names}
    for submodule in submodules:
        names_of_module |= public(f"{name}.{submodule}")
    return names_of_module


# How-tos


def _guide(root, played):
    """Yield the page of all agents, and a page for each heading of README and CONTRIBUTING."""
    if played:
        yield _page_of_agents(played)
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (root / name).read_text(encoding="utf-8")
        before_headings, *parts = re.split(r"(?m)^## ", text)
        for part in sorted(parts, key=lambda part: not part.startswith(HOME)):
            title = part.partition("\n")[0]
            if title == HOME:
                body = html_of(_first_page(before_headings, part, played))
                yield _Page("Guide", "Overview", "index.html", name, "page", body)
            else:
                path = f"{anchor(title.lower())}.html"
                yield _Page("Guide", title, path, name, "page", html_of(f"# {part}"))
    changes = html_of((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    yield _Page("Guide", "Changes", "changes.html", "CHANGELOG.md", "page", changes)


def _page_of_agents(played):
    """Return the page that lists the pages of agents."""
    lines = ["# Play the agents", "", "In this browser, with the library's own kernels."]
    for heading, agents in itertools.groupby(played, itemgetter("asks")):
        lines += ["", f"## {heading}", ""]
        lines += [f"- {_link_to(agent)}: {agent['words']}" for agent in agents]
    body = html_of("\n".join(lines) + "\n")
    return _Page("Guide", "Play the agents", "play/index.html", "", "page", body)


def _first_page(before_headings, part, played):
    """Return the text of the first page: what stands before all headings of the README, and HOME.

    The links to agents, and HOME, come after its name and aim, before its paragraph of links.
    """
    name_and_aim, rest = before_headings.split("\n\n[", 1)
    return "\n\n".join([name_and_aim, *_links(played), f"## {part}", f"[{rest}"])


def _links(played, up=""):
    """Yield a line for each heading of pages of agents."""
    for heading, agents in itertools.groupby(played, itemgetter("asks")):
        yield f"**{heading}**: {' · '.join(_link_to(agent, up) for agent in agents)}"


def words_of(agent) -> str:
    """Return the words of a link to a page of agents, which differ for all pages."""
    if len(agent["agents"]) == 1:
        return agent["title"]
    told = " and ".join(agent["agents"]) or "watch it learn"
    return f"{agent['title']}: {told}"


def _link_to(agent, up=""):
    return f"[{agent['title']}]({up}play/{agent['page']}.html)"


# The reference


def _reference(source):
    """Yield the page of each public module, made by pdoc."""
    pdoc = needs("pdoc", "docs")
    layout = {"docformat": "numpy", "template_directory": FOLDER / "api", "search": False}
    pdoc.render.configure(show_source=source, **layout)
    convert = pdoc.docstrings.convert

    def convert_without_marks(text, *rest):
        return convert(_without_marks(text), *rest)

    pdoc.docstrings.convert = convert_without_marks
    modules = {name: pdoc.doc.Module(importlib.import_module(name)) for name in public()}
    for name, module in modules.items():
        path = f"{name.replace('.', '/')}.html"
        title = name.removeprefix(f"{PACKAGE.name}.")
        body = pdoc.render.html_module(module, modules)
        yield _Page("Reference", title, path, f"lib/{path}", "reference", body)


def _without_marks(text):
    """Return a docstring without those marks of reStructuredText that pdoc shows."""
    without_blocks = re.sub(r"(?m)^( *)::$", r"\1", text)
    without_tildes = without_blocks.replace(":`~", ":`")
    return re.sub(r"(?m)::$", ":", without_tildes)


# The report


def _report(directory, played):
    """Yield the pages of the report and of the executed notebooks."""
    for path, kind, body in html_bodies(directory):
        if kind == "notebook":
            yield _notebook_page(path, body, played)
        else:
            yield _report_page(path, body, played)


def _notebook_page(path, body, played):
    for agent in played:
        if agent["page"] == agent["game"]:
            body = _with_link_at_board(body, agent)
    title = f"{path.stem[:2]} {title_of(body).partition(':')[0]}"  # as in "10 Tic-Tac-Toe"
    link_to_page = r"<code>(reports/paper/[\w-]+)\.html</code>"
    body = re.sub(link_to_page, r'<a href="../\1.md">\1</a>', body)
    place = f"paper/{path.stem}.html"
    return _Page("Notebooks", title, place, f"notebooks/{path.name}", "notebook", body)


def _with_link_at_board(body, agent):
    """Return a page with a link before its first board of a game; boards have it as their title."""
    board = rf"<svg [^>]*><title>{agent['game']}(?:: a game)?</title>"
    address = f"../play/{agent['page']}.html"
    link = f'<p><a href="{address}">Play {agent["title"]} in this browser</a></p>'
    return re.sub(board, lambda found: link + found[0], body, count=1)


def _report_page(path, body, played):
    if path.stem in claims.keys():
        body = _with_games(body, claims.load(path.stem).statements, played)
    title = "What came out" if path.stem == "index" else title_of(body).partition(":")[0]
    place = f"paper/{path.stem}.html"
    return _Page("Report", title, place, f"reports/paper/{path.name}", "page", body)


def _with_games(body, statements, played):
    """Return the page of a paper with links from statements to the games that they are about."""
    for statement in statements:
        games = set()  # the parts of the names of its studies, among which are games
        for part in statement.parts:
            for one in series(part):
                games.update(one["study"].split("-"))
        agents = [agent for agent in played if agent["game"] in games]
        if agents:
            links = html_of("\n\n".join(_links(agents, "../../")))
            fold = f"<details><summary>see it played</summary>{links}</details>"
            end_of_cell = rf'(<a id="s-{statement.id}"></a>.*?)(?=</td>)'
            body = re.sub(end_of_cell, rf"\1{fold}", body, count=1)
    return body


# Links and search


def _with_id(heading):
    """Return the beginning of a matched heading with an id made of its text."""
    tag, text = heading.groups()
    return f'<{tag} id="h-{anchor(re.sub("<[^>]+>", "", text).lower())}">{text}</'


def _linked(body, path, origin, addresses, root, folder):
    """Return a page with links to other pages, else to copies of files of the checkout."""

    def link(match):
        attribute, address = match.groups()
        file, _, heading = address.partition("#")
        is_elsewhere = re.match(r"\w+:", file)
        if not file or is_elsewhere:
            return match[0]
        file = os.path.normpath(origin.parent / unquote(file))
        page_of_heading = addresses.get(f"{file}#{heading}")
        if page_of_heading:
            goal = folder / page_of_heading
            heading = ""
        elif file in addresses:
            goal = folder / addresses[file]
        else:
            goal = folder / "files" / file
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / file, goal)
        href = os.path.relpath(goal, (folder / path).parent)
        if heading:
            href += f"#{heading}"
        return f'{attribute}="{href}"'

    return re.sub(r'\b(href|src)="([^"]+)"', link, body)


def _parts(page, body):
    """Return what the search knows of each part of a page: title, name, address, text, and place.

    Guides come first, and what was changed comes last.
    """
    title = page.title
    path = page.path
    rank = LAST if Path(page.origin).stem in CHANGES else page.group != "Guide"
    text_before, *pieces = PART.split(body)
    # The text before the first part, then tag, id and text of each part.
    pieces = ["", "", text_before, *pieces]
    parts = []
    for tag, place, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        name = place
        if tag.startswith("h"):
            name, _, text = text.partition(f"</{tag}>")
        name = _searched_words(name)
        text = _searched_words(text)
        if name or text:
            address = f"{path}#{place}" if place else path
            parts.append([title, name, address, text, int(rank)])
    return parts


def _searched_words(text):
    """Return those words of a piece of HTML that somebody may search for."""
    return " ".join(unescape(UNSEARCHED.sub(" ", text)).split())
