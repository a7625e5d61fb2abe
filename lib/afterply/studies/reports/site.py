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
from urllib.parse import unquote

from ...checks import needs
from ...files import data_directory, reports_directory, write_text
from ...kernel.source import PACKAGE
from ..papers import claims
from ..papers.statements import series
from ..sources import anchor
from .pages import FOLDER, html_bodies, html_of, title_of, write_page

HOME = "Where to read on"  # of the README; the first page begins with it
# where a part of a page begins: at a heading, or at a name of the reference
PART = re.compile(r'<(h[123]|section|div)\b[^>]*\bid="(?!cell-id)([^"]+)"[^>]*>')
# what nobody searches for: code, pictures, marks, numbers
UNSEARCHED = re.compile(r"(?s)<(pre|svg|style|label)\b.*?</\1>|<[^>]+>|(?<=\s)[\W\d]+(?=\s)")


def build(folder: Path, source: bool = True, played=()) -> list[str]:
    """Build the site in a folder, which is emptied first, and return the paths of its pages.

    Without `source` the reference does not show the source of each name, which takes half as long.
    `played` are pages of agents, made afterwards by the command ``docs``: the first page, a list of
    them, and the statements about their games link to them.
    """
    root, groups, known, index = data_directory().parent, {}, {}, []
    known |= {place: place for place in (f"play/{one['page']}.html" for one in played)}
    report = _report(reports_directory() / "paper", played)
    pages = [*_guide(root, played), *_reference(source), *report]
    for group, title, path, origin, kind, _ in pages:
        groups.setdefault(group, []).append((title, path))
        known.setdefault(origin, path)
        if group == "Guide":  # each heading of these files has a page
            known[f"{origin}#{Path(path).stem}"] = path
        if kind == "notebook":  # as it was executed
            known[f"reports/{path.removesuffix('.html')}.ipynb"] = path
    folder = folder.resolve()  # a link stays, what it leads to is emptied
    shutil.rmtree(folder, ignore_errors=True)
    for _, title, path, origin, kind, body in pages:
        body = re.sub(r"<(h[123])>(.*?)</", _with_id, body)
        if kind != "reference":  # pdoc's links are right
            body = _linked(body, Path(path), Path(origin), known, root, folder)
        index += _parts(title, path, body)
        frame = {"groups": groups, "up": "../" * path.count("/"), "here": path}
        write_page(folder / path, kind, body, **frame)
    for name in ("style.css", "site.css"):
        shutil.copy(FOLDER / name, folder)
    script = (FOLDER / "search.js").read_text(encoding="utf-8")
    write_text(folder / "search.js", f"const PARTS = {json.dumps(index)};\n{script}")
    return [path for _, _, path, *_ in pages]


def public(name: str = PACKAGE.name) -> dict[str, list[str]]:
    """Return module -> public names, for a module and those that its ``__all__`` lists."""
    module = importlib.import_module(name)
    values = {one: getattr(module, one, None) for one in module.__all__}
    modules = [one for one, value in values.items() if value is None or inspect.ismodule(value)]
    found = {name: [one for one in values if one not in modules]}
    for one in modules:
        found |= public(f"{name}.{one}")
    return found


# pages are tuples: group, title, path, the file that they come from, kind, HTML


def _guide(root, played):
    if played:
        text = "# Play the agents\n\nIn this browser, with the library's own kernels.\n"
        for heading, pages in itertools.groupby(played, itemgetter("asks")):
            text += f"\n## {heading}\n\n"
            text += "".join(f"- {_link_to(one)}: {one['words']}\n" for one in pages)
        yield "Guide", "Play the agents", "play/index.html", "", "page", html_of(text)
    for name in ("README.md", "CONTRIBUTING.md"):
        head, *parts = re.split(r"(?m)^## ", (root / name).read_text(encoding="utf-8"))
        for part in sorted(parts, key=lambda part: not part.startswith(HOME)):
            title = part.partition("\n")[0]
            path, text = f"{anchor(title.lower())}.html", f"# {part}"
            if title == HOME:
                title, path, (name_and_aim, more) = "Overview", "index.html", head.split("\n\n[", 1)
                text = "\n\n".join([name_and_aim, *_links(played), f"## {part}", f"[{more}"])
            yield "Guide", title, path, name, "page", html_of(text)
    text = html_of((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    yield "Guide", "Changes", "changes.html", "CHANGELOG.md", "page", text


def _reference(source):
    pdoc = needs("pdoc", "docs")
    layout = {"docformat": "numpy", "template_directory": FOLDER / "api", "search": False}
    pdoc.render.configure(show_source=source, **layout)
    convert = pdoc.docstrings.convert

    def without_marks(text, *rest):  # of reStructuredText, which pdoc shows
        text = re.sub(r"(?m)^( *)::$", r"\1", text).replace(":`~", ":`")
        return convert(re.sub(r"(?m)::$", ":", text), *rest)

    pdoc.docstrings.convert = without_marks
    modules = {name: pdoc.doc.Module(importlib.import_module(name)) for name in public()}
    for name, module in modules.items():
        path, title = f"{name.replace('.', '/')}.html", name.removeprefix(f"{PACKAGE.name}.")
        body = pdoc.render.html_module(module, modules)
        yield "Reference", title, path, f"lib/{path}", "reference", body


def _links(played, up=""):
    """Yield a line for each heading of pages of agents."""
    for heading, pages in itertools.groupby(played, itemgetter("asks")):
        yield f"**{heading}**: {' · '.join(_link_to(one, up) for one in pages)}"


def _link_to(one, up=""):
    return f"[{one['title']}]({up}play/{one['page']}.html)"


def _report(directory, played):
    for path, kind, body in html_bodies(directory):
        title, place = title_of(body), f"paper/{path.stem}.html"
        if kind == "notebook":  # as in "10 Tic-Tac-Toe"
            short = f"{path.stem[:2]} {title.partition(':')[0]}"
            page = r"<code>(reports/paper/[\w-]+)\.html</code>"
            body = re.sub(page, r'<a href="../\1.md">\1</a>', body)
            yield "Notebooks", short, place, f"notebooks/{path.name}", kind, body
        else:
            if path.stem in claims.keys():
                body = _with_pages(body, claims.load(path.stem).statements, played)
            title = "What came out" if path.stem == "index" else title.partition(":")[0]
            yield "Report", title, place, f"reports/paper/{path.name}", kind, body


def _with_pages(body, statements, played):
    """Return the page of a paper with links from statements to the games that they are about."""
    for one in statements:
        studies = "-".join(of["study"] for part in one.parts for of in series(part))
        pages = [page for page in played if page["game"] in studies.split("-")]
        links = html_of("\n\n".join(_links(pages, "../../")))
        fold = f"<details><summary>see it played</summary>{links}</details>" if pages else ""
        body = re.sub(rf'(<a id="s-{one.id}"></a>.*?)(?=</td>)', rf"\1{fold}", body, count=1)
    return body


def _with_id(heading):
    tag, text = heading.groups()
    return f'<{tag} id="h-{anchor(re.sub("<[^>]+>", "", text).lower())}">{text}</'


def _linked(body, path, origin, known, root, folder):
    """Return a page with links to other pages, else to copies of files of the checkout."""

    def link(found):
        attribute, (file, *place) = found[1], found[2].split("#", 1)
        if not file or re.match(r"\w+:", file):
            return found[0]
        at = os.path.normpath(origin.parent / unquote(file))
        of_heading = known.get(f"{at}#{'#'.join(place)}")
        place = [] if of_heading else place
        goal = folder / (of_heading or known.get(at, f"files/{at}"))
        if not of_heading and at not in known:
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / at, goal)
        href = "#".join([os.path.relpath(goal, (folder / path).parent), *place])
        return f'{attribute}="{href}"'

    return re.sub(r'\b(href|src)="([^"]+)"', link, body)


def _parts(title, path, body):
    """Yield what the search knows of each part of a page: title, name, address and text."""
    pieces = iter(["", "", *PART.split(body)])  # tag, id and text of each part
    for tag, place, text in zip(pieces, pieces, pieces, strict=True):
        name, _, text = text.partition(f"</{tag}>") if tag.startswith("h") else (place, "", text)
        name, text = (" ".join(unescape(UNSEARCHED.sub(" ", one)).split()) for one in (name, text))
        if name or text:
            yield [title, name, f"{path}#{place}" if place else path, text]
