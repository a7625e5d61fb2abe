"""An executed notebook as a page that fetches nothing: its pictures are files beside it.

    <notebook>.ipynb  --write-->  <notebook>.html, and cells/<notebook>-<cell>-<n>.svg or .png

A picture that a study saved is shown from ``figures``, so that it exists once and has its numbers
and its text beside it.
"""

import base64
import html
import io
import json
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import mistune
from matplotlib import mathtext
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from ..files import write_bytes, write_text
from .picture import light
from .templating import render

FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$\n]+)\$")
REPORT_FILE = re.compile(r"<code>reports/\w+/([\w.-]+\.html)</code>")
CELL_FOLDER = "cells"


@dataclass
class Notebook:
    """An executed notebook: its cells, and which cell made which figure of `figures`."""

    path: Path
    cells: list
    failed: bool = False
    figures: dict = field(default_factory=dict)  # name of a figure -> id of its cell
    pictures: dict = field(default_factory=dict)  # (cell, output) -> name of a figure

    @property
    def page(self):
        """The name of its page."""
        return self.path.with_suffix(".html").name

    @property
    def title(self):
        """Its first heading."""
        found = re.search(r"^# +(.+)$", _text(self.cells[0].get("source", "")), re.MULTILINE)
        return found.group(1).strip() if found else self.path.stem

    @property
    def failure(self):
        """The last line of what went wrong, if it failed."""
        return _text(self.cells[0]["source"]).strip().splitlines()[-2].strip()

    def speaks_of(self, word):
        """Whether its first cell has a word."""
        return word in _text(self.cells[0].get("source", ""))

    def cell_with(self, *words):
        """Return the id of the first code cell that holds one of the words, or an empty text."""
        for word in words:
            for cell in self.cells:
                if cell["cell_type"] == "code" and word in _text(cell["source"]):
                    return cell.get("id", "")
        return ""


def read(path, captions=None):
    """Read an executed notebook.

    Parameters
    ----------
    path : Path
    captions : dict, optional
        Name of a saved figure -> its text, which the notebook prints before it shows the figure.

    Raises
    ------
    ValueError, KeyError, TypeError, OSError
        If the file cannot be read.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    notebook = Notebook(Path(path), content["cells"], bool(content["metadata"].get("failed")))
    letters = {name: _letters(text) for name, text in (captions or {}).items()}
    for cell in notebook.cells:
        _find_figures(notebook, cell, letters)
    return notebook


def _find_figures(notebook, cell, captions):
    """Note which outputs of a cell are saved figures: their captions are printed before them.

    Of several that may be meant, those with one caption for example, it is the one whose saved
    drawing has the words of the output.
    """
    waiting, printed = [], ""
    for place, output in enumerate(cell.get("outputs", ())):
        if output["output_type"] == "stream":
            printed += _letters(_text(output["text"]))
            known = waiting + [*notebook.figures]
            waiting += [n for n, text in captions.items() if text in printed and n not in known]
        elif "image/svg+xml" in output.get("data", {}) and waiting:
            if "Picture" in _text(output["data"].get("text/plain", "Picture")):
                words = _labels(_text(output["data"]["image/svg+xml"]))
                name = min(waiting, key=lambda n: len(words ^ _saved_labels(notebook, n)))
                waiting.remove(name)
                notebook.figures[name] = cell.get("id", "")
                notebook.pictures[cell.get("id", ""), place] = name
    printed_once = [n for n in waiting if [*captions.values()].count(captions[n]) == 1]
    notebook.figures |= dict.fromkeys(printed_once, cell.get("id", ""))


def _saved_labels(notebook, name):
    path = notebook.path.parent / "figures" / f"{name}.svg"
    return _labels(path.read_text(encoding="utf-8")) if path.exists() else set()


def _labels(svg):
    return set(re.findall(r"<text\b[^>]*>([^<]*)", svg))


def write(notebook, captions=None, links=()):
    """Write the page of a notebook, and its pictures that no study saved.

    Parameters
    ----------
    notebook : Notebook
    captions : dict, optional
        As in :func:`read`: alternative texts of the figures.
    links : list of (text, href)
        Where a reader came from: the pages of the papers that the notebook speaks of.
    """
    directory = notebook.path.parent
    for old in (directory / CELL_FOLDER).glob(f"{notebook.path.stem}-*"):
        old.unlink()
    cells = [_cell(notebook, cell, captions or {}) for cell in notebook.cells]
    text = render(
        "notebook.html",
        title=notebook.title,
        name=notebook.path.stem,
        cells=cells,
        links=links,
        contents=[entry for cell in cells for entry in cell["headings"]],
    )
    write_text(directory / notebook.page, text)


def _cell(notebook, cell, captions):
    source, name = _text(cell["source"]), cell.get("id", "")
    shown = {"id": name, "kind": cell["cell_type"], "headings": [], "outputs": []}
    if cell["cell_type"] == "markdown":
        shown["html"], shown["headings"] = markdown(source)
        return shown
    shown["html"] = _code(source, "python") if source.strip() else ""
    outputs = _merged(cell.get("outputs", ()))
    shown["outputs"] = [
        _output(notebook, name, place, output, captions) for place, output in outputs
    ]
    return shown


def _merged(outputs):
    """Return (place, output), with printed text that follows printed text joined to it."""
    merged = []
    for place, output in enumerate(outputs):
        last = merged[-1][1] if merged else {}
        if output["output_type"] == "stream" == last.get("output_type"):
            joined = _text(last["text"]) + _text(output["text"])
            merged[-1] = (merged[-1][0], output | {"text": joined})
        else:
            merged.append((place, output))
    return merged


def _output(notebook, cell, place, output, captions):
    """Return one output as HTML, the richest form that it has."""
    if output["output_type"] == "stream":
        return f"<pre>{html.escape(_text(output['text']).rstrip())}</pre>"
    if output["output_type"] == "error":
        return f"<pre>{html.escape(output['ename'])}: {html.escape(output['evalue'])}</pre>"
    data = {kind: _text(content) for kind, content in output["data"].items()}
    if "image/svg+xml" in data:
        return _picture(notebook, cell, place, data, captions)
    if "image/png" in data:  # of a library that knows nothing of our figures
        href = f"{CELL_FOLDER}/{notebook.path.stem}-{cell}-{place}.png"
        write_bytes(notebook.path.parent / href, base64.b64decode(data["image/png"]))
        return _image(href, _described(cell))
    if "text/html" in data:
        return _table(data["text/html"])
    if "text/markdown" in data:
        return markdown(data["text/markdown"])[0]
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"


def _picture(notebook, cell, place, data, captions):
    name = notebook.pictures.get((cell, place))
    if name:
        href, alt = f"figures/{name}.svg", captions[name]
    else:
        href = f"{CELL_FOLDER}/{notebook.path.stem}-{cell}-{place}.svg"
        svg = data["image/svg+xml"]
        # inside an HTML page no namespace is needed, in a file it is
        if 'xmlns="' not in svg.partition(">")[0]:
            svg = svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        write_text(notebook.path.parent / href, light(svg).strip() + "\n")
        label = re.search(r'aria-label="([^"]*)"|<title>([^<]*)</title>', svg)
        words = next((text for text in (label.groups() if label else ()) if text), "")
        alt = html.unescape(words) or _described(cell)
    return _image(href, alt)


def _described(cell):
    return f"Picture made by cell {cell}, described in the text around"


def _image(href, alt):
    return f'<img src="{html.escape(href)}" alt="{html.escape(alt)}" loading="lazy">'


def _table(text):
    """Make HTML of an output fit the page: our colours of code, tables with headers in a frame."""
    text = re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
    if 'class="highlight' in text:
        text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
        return text.replace('<div class="highlight', '<div tabindex="0" class="highlight', 1)
    text = re.sub(r"<style[^>]*>\s*</style>", "", text)
    before, head, after = text.partition("</thead>")
    text = (
        re.sub(r"<th(?=[\s>])", '<th scope="col"', before)
        + head
        + re.sub(r"<th(?=[\s>])", '<th scope="row"', after)
    )
    text = text.replace("&nbsp;", "")
    if "<table" not in text:
        return f'<div class="wide">{text}</div>'
    return f'<div class="wide" tabindex="0" role="region" aria-label="Table">{text}</div>'


def markdown(source):
    """Return Markdown as HTML, with its headings [(level, id, text)]; formulas become pictures."""
    formulas = []

    def keep(found):
        formulas.append((" ".join((found[1] or found[2]).split()), bool(found[1])))
        return f"FORMULA{len(formulas) - 1}END"

    parts = re.split(r"(```.*?```|`[^`\n]+`)", source, flags=re.DOTALL)
    parts[::2] = [FORMULA.sub(keep, part) for part in parts[::2]]
    text = mistune.create_markdown(escape=False, plugins=["table"])("".join(parts))
    text = re.sub(r"FORMULA(\d+)END", lambda found: _formula(*formulas[int(found[1])]), text)
    text = re.sub(
        r'<pre><code class="language-(\w+)">(.*?)</code></pre>',
        lambda found: _code(html.unescape(found[2]), found[1]),
        text,
        flags=re.DOTALL,
    )
    text = REPORT_FILE.sub(r'<a href="\1">\1</a>', text)
    text = re.sub(r'href="([\w.-]+)\.ipynb', r'href="\1.html', text)
    text = text.replace('href="../', 'href="../../')
    text = re.sub(r"<th(?=[\s>])", '<th scope="col"', text)  # also of an aligned column
    headings = []

    def heading(found):
        level, inside = int(found[1]), found[2]
        plain = html.unescape(re.sub(r"<[^>]+>", "", inside))
        name = plain.replace(" ", "-")
        headings.append((level, name, plain))
        return f'<h{level} id="{html.escape(name)}">{inside}</h{level}>'

    text = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, text, flags=re.DOTALL)
    text = re.sub(r'href="#([^"]*)"', lambda found: f'href="#{_unquoted(found[1])}"', text)
    return text, headings


def _unquoted(name):
    return html.escape(html.unescape(name).replace("%2C", ",").replace("%27", "'"))


def _code(source, language):
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return f"<pre>{html.escape(source)}</pre>"
    return highlight(source, lexer, HtmlFormatter())


def _formula(tex, displayed=False):
    """Return a formula as a drawing in the colour of the text, or its source if it is too hard."""
    if displayed:  # on a line of its own
        return f'<span class="display" tabindex="0">{_formula(tex)}</span>'
    target, plain = io.BytesIO(), re.sub(r"\\big[lr]?(?![a-z])", "", tex)
    try:
        with matplotlib.rc_context({"svg.hashsalt": "afterstate", "mathtext.fontset": "cm"}):
            depth = mathtext.math_to_image(f"${plain}$", target, format="svg", dpi=72)
    except ValueError:
        return f"<code>{html.escape(tex)}</code>"
    svg = light(target.getvalue().decode())
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    number = f"f{zlib.crc32(tex.encode()):x}-"
    for old in set(re.findall(r'\bid="([^"]+)"', svg)):
        svg = svg.replace(f'id="{old}"', f'id="{number}{old}"').replace(
            f'"#{old}"', f'"#{number}{old}"'
        )
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    size = f'style="height:{float(height) / 10:.2f}em;vertical-align:{-float(depth) / 10:.2f}em"'
    opening = (
        f'<svg class="formula" role="img" aria-label="{html.escape(tex)}" {size}'
        f' viewBox="0 0 {width} {height}"'
    )
    return opening + re.sub(r"^<svg[^>]*", "", svg, count=1)


def _letters(text):
    return "".join(text.split())  # a printed caption is wrapped, at hyphens too


def _text(content):
    return "".join(content) if isinstance(content, list) else content
