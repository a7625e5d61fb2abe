"""The report as HTML: its Markdown and notebooks in `page.html`; nothing comes from elsewhere."""

import logging
import re
from html import unescape

import mistune
from markupsafe import Markup

from ..files import write_text
from .pages import FOLDER, render

# what becomes of the HTML of both kinds: tables get a frame to scroll in
FRAME = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table'
CHANGES = (
    (r'(?s)<script\b.*?</script>|<a class="anchor-link".*?</a>', ""),
    (r"<table", FRAME),
    (r"</table>", "</table></div>"),
    (r"<th(?=[\s>])(?![^>]*scope)", '<th scope="col"'),
    (r"No description has been provided for this image", "Made by this cell"),
)
LINKS = (  # to the pages of the same report
    (r'href="([\w.-]+)\.(?:md|ipynb)(?=["#])', r'href="\1.html'),
    (r"<code>reports/\w+/([\w-]+)\.(?:html|md)</code>", r'<a href="\1.html">\1</a>'),
)


def write(directory):
    """Write <page>.html for every Markdown page and every notebook of a directory."""
    for path, kind, body in bodies(directory):
        if kind == "notebook":
            body = body.replace('href="../', 'href="../../')  # a folder deeper
        write_page(path.with_suffix(".html"), kind, changed(body, LINKS))
    write_text(directory / "style.css", (FOLDER / "style.css").read_text(encoding="utf-8"))


def bodies(directory):
    """Yield path, kind and HTML of every notebook of a directory, then of every Markdown page."""
    import nbformat
    from nbconvert import HTMLExporter  # takes a second

    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        log=logging.Logger("quiet", logging.ERROR),  # it warns of pictures without text
    )
    for path in sorted(directory.glob("*.ipynb")):
        body = exporter.from_notebook_node(nbformat.read(path, as_version=4))[0]
        yield path, "notebook", changed(body, CHANGES)
    for path in sorted(directory.glob("*.md"), key=lambda path: (path.stem != "index", path)):
        yield path, "page", markdown(path.read_text(encoding="utf-8"))


def markdown(text):
    """Return a text in Markdown as HTML."""
    return changed(mistune.create_markdown(escape=False, plugins=["table"])(text), CHANGES)


def changed(text, changes):
    """Return a text after some changes, each a pattern and its replacement."""
    for pattern, replacement in changes:
        text = re.sub(pattern, replacement, text)
    return text


def title_of(body):
    """Return the first heading of a page as plain text, or ""."""
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", heading[1])).strip() if heading else ""


def write_page(path, kind, body, **frame):
    """Write a page; `frame` is what `page.html` shows around it: groups, up and here."""
    title = title_of(body) or path.stem
    frame = {"groups": {}, "up": "", "here": ""} | frame
    write_text(path, render("page.html", title=title, kind=kind, body=Markup(body), **frame))
