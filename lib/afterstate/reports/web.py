"""The report as HTML: its Markdown and notebooks in `page.html`; nothing comes from elsewhere."""

import logging
import re

import mistune
from markupsafe import Markup, escape

from ..files import write_text
from .pages import FOLDER, render

# what becomes of the HTML of both kinds: tables get a frame to scroll in, links lead to pages
FRAME = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table'
CHANGES = (
    (r'(?s)<script\b.*?</script>|<a class="anchor-link".*?</a>', ""),
    (r"<table", FRAME),
    (r"</table>", "</table></div>"),
    (r"<th(?=[\s>])(?![^>]*scope)", '<th scope="col"'),
    (r"No description has been provided for this image", "Made by this cell"),
    (r'href="([\w.-]+)\.(?:md|ipynb)(?=["#])', r'href="\1.html'),
    (r"<code>reports/\w+/([\w-]+)\.(?:html|md)</code>", r'<a href="\1.html">\1</a>'),
)


def write(directory):
    """Write <page>.html for every Markdown page and every notebook of a directory."""
    import nbformat
    from nbconvert import HTMLExporter  # takes a second

    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        log=logging.Logger("quiet", logging.ERROR),  # it warns of pictures without text
    )
    for path in sorted(directory.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        _write(path, "page", mistune.create_markdown(escape=False, plugins=["table"])(text))
    for path in sorted(directory.glob("*.ipynb")):
        body = exporter.from_notebook_node(nbformat.read(path, as_version=4))[0]
        _write(path, "notebook", body.replace('href="../', 'href="../../'))  # a folder deeper
    write_text(directory / "style.css", (FOLDER / "style.css").read_text(encoding="utf-8"))


def _write(path, kind, body):
    for pattern, replacement in CHANGES:
        body = re.sub(pattern, replacement, body)
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else escape(path.stem)
    page = render("page.html", title=Markup(title), kind=kind, body=Markup(body))
    write_text(path.with_suffix(".html"), page)
