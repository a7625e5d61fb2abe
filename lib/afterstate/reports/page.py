"""A page as a list of blocks, put out twice with equal content: HTML of its own, and Markdown."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from html import escape

from .labels import VERDICTS


@dataclass(frozen=True)
class Link:
    """A link with its text."""

    text: str
    href: str


@dataclass(frozen=True)
class Code:
    """A name from the source or a command."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Text that stands out."""

    text: str


@dataclass(frozen=True)
class Badge:
    """A verdict label."""

    label: str


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 4."""

    level: int
    content: object


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Kind "status" = the lines at the top, "gap" = a clearly marked hole in the report.
    """

    content: object
    kind: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list; each item is inline content."""

    items: tuple


@dataclass(frozen=True)
class Table:
    """A table; every row holds one inline content per column."""

    columns: tuple
    rows: tuple


@dataclass(frozen=True)
class Drawing:
    """A picture: `svg` stands in the HTML page, `href` is linked from Markdown.

    `data` is the file with its numbers.
    """

    svg: str
    href: str
    alt: str
    caption: str = ""
    data: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    summary: str
    blocks: tuple


def to_html(title, blocks):
    """Return the blocks as one HTML page that needs no other file and no network.

    Parameters: title (str), blocks (sequence of the blocks of this module). Raises TypeError for
    anything else.
    """
    body = "\n".join(_html_block(block, place) for place, block in enumerate(blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport"'
        ' content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n"
        "</main>\n</body>\n</html>\n"
    )


def to_markdown(blocks):
    """Return the blocks as Markdown text (GitHub's dialect).

    Raises TypeError for anything that is not a block.
    """
    return "\n\n".join(_markdown_block(block) for block in blocks) + "\n"


def is_svg(text):
    """Whether a text is one well-formed SVG element."""
    try:
        return ElementTree.fromstring(text).tag.endswith("svg")
    except ElementTree.ParseError:
        return False


def isolated(svg, prefix):
    """Return the SVG with all its identifiers prefixed, so that several can stand on one page.

    Example: isolated('<g id="a"/>', "f1-") == '<g id="f1-a"/>'
    """
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    return re.sub(r'href="#', f'href="#{prefix}', svg)


def anchor(text):
    """Return the name under which a heading can be linked: lower case, words joined by hyphens."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text.lower())).strip("-")


def _html(content):
    match content:
        case Link(text, href):
            return f'<a href="{escape(href)}">{escape(text)}</a>'
        case Code(text):
            return f"<code>{escape(text)}</code>"
        case Strong(text):
            return f"<strong>{escape(text)}</strong>"
        case Badge(label):
            look = VERDICTS[label]
            return (
                f'<span class="badge" style="background:{look.colour};color:{look.ink}">'
                f"{look.symbol} {escape(label)}</span>"
            )
        case tuple() | list():
            return "".join(_html(part) for part in content)
    return escape(str(content)).replace("\n", "<br>\n")


def _html_block(block, place):
    match block:
        case Heading(level, content):
            return f'<h{level} id="{anchor(_plain(content))}">{_html(content)}</h{level}>'
        case Paragraph(content, kind):
            return f'<p class="{kind}">{_html(content)}</p>' if kind else f"<p>{_html(content)}</p>"
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{_html(item)}</li>" for item in items) + "\n</ul>"
        case Table(columns, rows):
            head = "".join(f"<th>{escape(column)}</th>" for column in columns)
            lines = (
                "".join(
                    f'<td data-label="{escape(column)}">{_html(cell)}</td>'
                    for column, cell in zip(columns, row, strict=True)
                )
                for row in rows
            )
            body = "\n".join(f"<tr>{line}</tr>" for line in lines)
            return (
                f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
                f"<tbody>\n{body}\n</tbody>\n</table></div>"
            )
        case Drawing(svg, href, alt, caption, data):
            svg = isolated(svg, f"f{place}-").replace(
                "<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1
            )
            numbers = f' <a href="{escape(data)}">numbers</a> ·' if data else ""
            return (
                f"<figure>{svg}<figcaption>{escape(caption)}{numbers} <a"
                f' href="{escape(href)}">picture</a></figcaption></figure>'
            )
        case Fold(summary, blocks):
            inner = "\n".join(
                _html_block(inner, f"{place}-{inside}") for inside, inner in enumerate(blocks)
            )
            return f"<details><summary>{escape(summary)}</summary>\n{inner}\n</details>"
    raise TypeError(f"{block!r} is not a block of a page")


def _plain(content):
    if isinstance(content, (tuple, list)):
        return "".join(_plain(part) for part in content)
    return str(getattr(content, "text", content))


def _markdown(content):
    match content:
        case Link(text, href):
            return f"[{_markdown(text)}]({href.replace(' ', '%20')})"
        case Code(text):
            return f"`{text}`"
        case Strong(text):
            return f"**{_markdown(text)}**"
        case Badge(label):
            return f"{VERDICTS[label].symbol} **{label}**"
        case tuple() | list():
            return "".join(_markdown(part) for part in content)
    text = re.sub(r"([\\`*<\[\]])", r"\\\1", str(content))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def _cell(content):
    return re.sub(r"\s*\n\s*", "<br>", _markdown(content)).replace("|", "\\|")


def _markdown_block(block):
    match block:
        case Heading(level, content):
            return "#" * level + " " + _markdown(content)
        case Paragraph(content, kind):
            text = _markdown(content).replace("\n", "  \n")
            return f"> **Gap:** {text}" if kind == "gap" else text
        case Bullets(items):
            return "\n".join(f"- {_markdown(item)}" for item in items)
        case Table(columns, rows):
            lines = [columns, ["---"] * len(columns), *rows]
            return "\n".join(
                "| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines
            )
        case Drawing(_, href, alt, caption, data):
            numbers = f" [numbers]({data})" if data else ""
            return f"![{_markdown(alt)}]({href})\n\n{_markdown(caption)}{numbers}".rstrip()
        case Fold(summary, blocks):
            title = f"<summary>{escape(summary)}</summary>"
            return f"<details>{title}\n\n{to_markdown(blocks)}\n</details>"
    raise TypeError(f"{block!r} is not a block of a page")


STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #5a5a5a; --paper: #ffffff;
  --line: #d4d4d4; --band: #f4f4f4; --link: #005a9c; --gap: #fff3cd; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #b0b0b0; --paper: #16181a; --line: #3a3d40; --band: #212427;
    --link: #7ab8f5; --gap: #4a3d0c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, 'DejaVu Sans', Verdana, sans-serif; }
main { max-width: 78rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: .8rem 0 .2rem; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .4rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 1.4rem 0 .3rem; }
p { max-width: 60rem; margin: .5rem 0; } a { color: var(--link); }
code { font-family: 'DejaVu Sans Mono', Consolas, monospace; font-size: .9em; }
.status { background: var(--band); padding: .5rem .8rem; border-radius: 6px; max-width: none; }
.gap { background: var(--gap); border-left: 5px solid #b07800; padding: .4rem .8rem; }
.gap::before { content: "Gap: "; font-weight: bold; }
.badge { display: inline-block; padding: 0 .5em; border-radius: 4px; font-size: .88em;
  font-weight: 600; white-space: nowrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); } td:first-child { min-width: 9rem; }
  thead th { background: var(--band); white-space: nowrap; }
figure { margin: 1rem 0; }
figure svg { background: #fff; max-width: 100%; height: auto; border: 1px solid var(--line);
  border-radius: 4px; padding: 4px; }
figcaption { color: var(--soft); font-size: .92rem; max-width: 60rem; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--link); }
@media (max-width: 700px) {
  main { padding: .5rem .7rem 3rem; } thead { display: none; }
  table, tbody, tr, td { display: block; width: 100%; }
  tr { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: .2rem; }
  td { border: 0; padding: .12rem .5rem; overflow-wrap: anywhere; }
  td:empty { display: none; }
  td::before { content: attr(data-label) ": "; color: var(--soft); font-size: .85em; }
}
@media print { details > * { display: block; } }
"""
