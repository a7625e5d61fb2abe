"""The report as HTML: its Markdown and its executed notebooks in one template, `page.html`.

The pages fetch nothing from elsewhere; formulas are drawn.
"""

import base64
import html
import io
import logging
import re

import matplotlib
import mistune
from markupsafe import Markup
from matplotlib import mathtext

from ..files import write_text
from .pages import FOLDER, render

CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$\n]+)\$")
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
        try:
            notebook = nbformat.read(path, as_version=4)
        except (ValueError, AttributeError, KeyError):
            continue  # the report says so
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = with_formulas(cell.source)
        body = exporter.from_notebook_node(notebook)[0]
        # they are written in another folder
        _write(path, "notebook", body.replace('href="../', 'href="../../'))
    write_text(directory / "style.css", (FOLDER / "style.css").read_text(encoding="utf-8"))


def _write(path, kind, body):
    for pattern, replacement in CHANGES:
        body = re.sub(pattern, replacement, body)
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else path.stem
    page = render("page.html", title=Markup(title), kind=kind, body=Markup(body))
    write_text(path.with_suffix(".html"), page)


def with_formulas(source):
    """Return Markdown whose formulas are pictures, except in code."""
    parts = CODE.split(source)
    parts[::2] = [FORMULA.sub(_formula, part) for part in parts[::2]]
    return "".join(parts)


def _formula(found):
    """Return a formula as a drawing, or its source if it is too hard."""
    tex = " ".join((found[1] or found[2]).split())
    plain, target = re.sub(r"\\big[lr]?(?![a-z])", "", tex), io.BytesIO()
    try:
        with matplotlib.rc_context({"svg.hashsalt": "afterstate", "mathtext.fontset": "cm"}):
            depth = mathtext.math_to_image(f"${plain}$", target, format="svg", dpi=72)
    except ValueError:
        return f"<code>{html.escape(tex)}</code>"
    svg = re.sub(rb"<metadata>.*?</metadata>", b"", target.getvalue(), flags=re.DOTALL)  # a date
    height = float(re.search(rb'height="([\d.]+)pt"', svg)[1])
    size = f"height:{height / 10:.2f}em;vertical-align:{-depth / 10:.2f}em"
    data = base64.b64encode(svg).decode()
    kind = "display" if found[1] else "formula"
    image = f'<img class="{kind}" alt="{html.escape(tex)}" style="{size}"'
    return f'{image} src="data:image/svg+xml;base64,{data}">'
