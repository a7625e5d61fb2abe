"""The templates of the pages: Jinja2 files in ``templates``, and what they may ask for."""

import re
from pathlib import Path

import jinja2

from ..files import write_text
from ..digits import printed, thousands
from .labels import STATEMENTS, VERDICTS

FOLDER = Path(__file__).parent / "templates"
ASSETS = ("style.css", "report.js")  # copied beside the pages


def anchor(name):
    """Return a text as the name of an anchor.

    >>> anchor("table1/2048/FARL (10 runs)")
    'table1-2048-FARL-10-runs'
    """
    return re.sub(r"[^\w.]+", "-", str(name)).strip("-")


def bare(ours):
    """Return a value of ours without its interval and its number of runs.

    >>> bare("50.2% [49, 51] (5 runs)")
    '50.2%'
    """
    return ours.split(" [")[0].split(" (")[0]


def clause(text, most):
    """Return the beginning of a text, at most about `most` characters long, and what follows.

    It ends with a sentence or a clause if there is one to end with, else with a word.

    >>> clause("one; two and more of it", 12)
    ('one;', 'two and more of it')
    >>> clause("one two three", 9)
    ('one two …', 'three')
    """
    text = str(text or "").strip()
    if len(text) <= most:
        return text, ""
    for marks, least in ((r"[.;] ", most / 5), (r"[,:] | (?=\()", most / 3)):
        ends = [found.end() for found in re.finditer(marks, text[: most + 1])]
        ends = [end for end in ends if end >= least and not _inside_brackets(text[:end])]
        if ends:
            return text[: ends[-1]].strip(), text[ends[-1] :].strip()
    end = text.rfind(" ", 0, most - 1)
    end = end if end > 0 else most
    return f"{text[:end].strip()} …", text[end:].strip()


def _inside_brackets(text):
    return any(text.count(left) > text.count(right) for left, right in ("()", "[]"))


def _environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"anchor": anchor, "bare": bare, "clause": clause}
    environment.filters |= {"thousands": thousands, "printed": printed}
    environment.globals |= {"looks": VERDICTS, "statement_looks": STATEMENTS}
    return environment


ENVIRONMENT = _environment()


def render(template, **values):
    """Return a page: a template of the folder with its values filled in, escaped."""
    return ENVIRONMENT.get_template(template).render(**values)


def write_assets(directory):
    """Write the style sheet and the script that the pages of a directory share."""
    for name in ASSETS:
        write_text(Path(directory) / name, (FOLDER / name).read_text(encoding="utf-8"))
