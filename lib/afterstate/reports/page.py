"""A page as a list of blocks, put out as Markdown: what a code host shows."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass


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
class Heading:
    """A heading of level 1 to 4."""

    level: int
    content: object


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Kind "gap" = a clearly marked hole in the report.
    """

    content: object
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table; every row holds one inline content per column."""

    columns: tuple
    rows: tuple


@dataclass(frozen=True)
class Drawing:
    """A picture with the text that stands for it, and its caption."""

    href: str
    alt: str
    caption: str = ""


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


def _markdown(content):
    match content:
        case Link(text, href):
            return f"[{_markdown(text)}]({href.replace(' ', '%20')})"
        case Code(text):
            return f"`{text}`"
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
        case Table(columns, rows):
            lines = [columns, ["---"] * len(columns), *rows]
            return "\n".join(
                "| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines
            )
        case Drawing(href, alt, caption):
            return f"![{_markdown(alt)}]({href})\n\n{_markdown(caption)}"
    raise TypeError(f"{block!r} is not a block of a page")
