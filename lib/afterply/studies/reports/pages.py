"""The pages of a report: templates filled with its summary, every text escaped; then HTML.

The HTML is that of the Markdown and of the notebooks in `page.html`; nothing comes from elsewhere.
"""

import logging
import math
import re
from html import unescape
from pathlib import Path

import jinja2
import mistune
import pandas as pd
from markupsafe import Markup, escape

from ...files import data_directory, published_file, read_yaml, write_text
from ...games import catalogue
from ...stats import printed
from .. import sources
from ..papers.tests_of_means import BY_ENDS, NAMED
from ..sources import MISSING, anchor, confirmed, duration, missing_cost, provenance, without_record
from . import figures, picture, readings
from .news import news_of

FOLDER = Path(__file__).parent / "templates"
PACKAGE = Path(__file__).resolve().parents[2]
MAIN = "Open diamonds: printed, on the margin (grey). Others: ours, mean and 95% interval of runs."
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


def _markdown(value):
    """Return a text as Markdown that shows exactly this text, in one line."""
    if isinstance(value, Markup):
        return value
    text = re.sub(r"([\\`*<>\[\]|~$]|&(?=#?\w+;))", r"\\\1", str(value).strip())
    text = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)  # inside a word it is no mark
    return Markup(re.sub(r"\s*\n\s*", "<br>", text))


def who(paper):
    """Return the family names of the authors, and the year."""
    return f"{' & '.join(name.split()[-1] for name in paper.authors)} {paper.year}"


def render(template, **values):
    """Return a template of the folder with its values filled in, escaped for its kind of file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,  # what macros return is not escaped again
        finalize=_markdown if template.endswith(".md") else escape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"anchor": anchor, "printed": printed}
    looks = {"looks": picture.VERDICTS, "statement_looks": picture.STATEMENTS}
    environment.globals |= looks | {"readings": readings, "make_all": sources.MAKE_ALL, "who": who}
    return environment.get_template(template).render(infinite=math.inf, **values)


def write(summary, directory):
    """Write the pages of a report, and the figures that they show."""
    parts = summary.parts
    judged = parts if summary.profile == "paper" else []  # few runs
    restated = [(part, row) for part in judged for row in part.statements if row.former]
    changed = [(part, row) for part in judged for row in part.rows if row.former]
    reasons = dict.fromkeys(why for _, row in [*restated, *changed] for _, why in row.former)
    told = [news_of(part, summary.answers["papers"].get(part.paper.key)) for part in parts]
    news = {one.key: one for one in told if one}
    shared = {
        "summary": summary,
        "runs_of": lambda study: _runs(summary, study),
        "questioned": summary.profile == "paper",
        "changed": changed,
        "restated": restated,
        "reasons": list(reasons),
    }
    pages = {
        "index.md": {"news": news, "bench": (directory / "bench.md").exists()},
        "statements.md": {"meanings": read_yaml(published_file("papers/meanings.yaml"))},
        "studies.md": {},
        "made.md": {
            "others": set(summary.runs["study"]).difference(*(part.studies for part in parts))
        },
        "changes.md": {"skewed": list(_skewed(parts))},
        "games.md": {"games": catalogue.tables()},
        "correspondence.md": {"groups": correspondence()},
    }
    if news:
        pages["news.svg"] = {"shown": list(news.values()), "named": True}
    for key, one in news.items():
        pages[f"news-{key}.svg"] = {"shown": [one], "named": False}
    for part in parts:
        drawn = _picture(part, directory)
        pages[f"{part.paper.key}.md"] = _paper(summary, part) | {"picture": drawn}
    for name, values in pages.items():
        kind = "paper.md" if "paper" in values else "news.svg" if name.endswith(".svg") else name
        text = render(kind, **values, **shared)
        write_text(directory / name, re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")
    write_html(directory)


def _skewed(parts):
    """Yield the highly skewed series of statements: paper, row, part, runs, skewness and test."""
    for part in parts:
        for row in part.statements:
            for one in row.parts:
                for side in (1, -1):
                    kind = one.seen.kind(side)
                    if BY_ENDS in kind or NAMED in kind:
                        skewed = f"{one.seen.skewness:+.1f}"
                        yield part, row, one.of or "–", sum(one.seen.sizes), skewed, kind


def _picture(part, directory):
    """Draw the main table of a paper in both readings; return its title, or "" without values."""
    table = part.paper.main_table
    rows = [row for row in part.rows if table and row.claim.place.get("table") == table]
    ours = pd.DataFrame([vars(row) for row in rows if not math.isnan(row.mean)])
    if ours.empty:
        return ""
    theirs = [vars(row.program) for row in rows if row.program and row.program.ours]
    title = f"Table {table}: printed and ours"
    figure, data = figures.interval_plot(ours, [row.claim for row in rows], title, 0.36, theirs)
    picture.save(figure, directory, f"main-{part.paper.key}", data, MAIN)
    return title


def _paper(summary, part):
    paper, books = part.paper, {book.name: book for book in part.notebooks}
    named = summary.runs[["study", "notebook"]].drop_duplicates().values
    saved = {figure.name: figure for figure in part.figures}
    ordered = [(f["figure"], saved[f["shows"]]) for f in paper.figures if f["shows"] in saved]
    shown = [figure for _, figure in ordered]
    lacking = without_record(summary.runs[summary.runs["study"].isin(part.studies)])
    return {
        "part": part,
        "paper": paper,
        "notebook": {study: books[name] for study, name in named if name in books},
        "tables": [_table(part, *one) for one in paper.printed_tables.items()],
        "figures": [*ordered, *(("", figure) for figure in part.figures if figure not in shown)],
        "lacking_cost": missing_cost(lacking) if len(lacking) else "",
        "tally": readings.tally(paper, [row.answers for row in part.rows]),
        "unexplained": readings.unexplained(part.rows) if paper.readings else [],
        "software": any(reading.software and reading.arms for reading in paper.readings),
    }


def _table(part, name, table):
    """Return a printed table: its title, and lines of labels and rows of the report or None."""
    rows = [row for row in part.rows if row.claim.place.get("table") == name]
    cells = {(row.claim.place["row"], row.claim.place["column"]): row for row in rows}
    lines = [
        (labels, [cells.get((row, column)) for column in table.columns])
        for row, labels in table.rows.items()
    ]
    title = f"Table {name}" + (f": {table.caption}" if table.caption else "")
    return {"name": name, "title": title, "table": table, "lines": lines}


def _runs(summary, study):
    """Return what the runs of a study cost, and a line for each arm, origin and machine."""
    runs, lines = summary.runs[summary.runs["study"] == study].fillna({"machine": ""}), []
    by = ["arm", "kind", "provenance", "machine"]
    for (arm, kind, origin, machine), rows in runs.groupby(by):
        cpu, speed = rows["cpu_seconds"], rows["moves_per_second"].mean()
        cost = missing_cost(rows) if origin == MISSING else duration(cpu.sum())
        each = duration(cpu.mean()) if cpu.notna().any() else ""
        speed = "" if math.isnan(speed) else f"{speed:,.0f}"
        lines.append([arm, kind, origin, len(rows), cost, each, speed, machine])
    records = data_directory() / "records" / f"{study}.jsonl"
    known = summary.profile == "paper" and records.exists()  # quick runs leave none
    return {
        "provenance": provenance(runs, every_kind=True),
        "cpu": duration(runs["cpu_seconds"].sum()),
        "lines": lines,
        "confirmed": confirmed(runs),
        "records": f"../../data/records/{records.name}" if known else "",
    }


def correspondence():
    """Return the groups of ``data/correspondence.yaml``, with `links`: each name and its file."""
    groups = read_yaml(published_file("correspondence.yaml"))["groups"]
    for group in groups:
        group.setdefault("paper", "konen2021")
        for row in group["rows"]:
            links = [(name, f"../../lib/afterply/{_file(name)}") for name in row["ours"]]
            row |= {"cite": group["cite"], "theirs": "", "note": "", "links": links} | row
            row["at"] = str(row["at"])
    return groups


def _file(name):
    """Return the file that defines a name: the longest beginning of it that is a module."""
    parts = name.split(".")
    files = ("/".join(parts[:k]) + ".py" for k in range(len(parts), 0, -1))
    return next((file for file in files if (PACKAGE / file).exists()), "")


def write_html(directory, names=("*.ipynb", "*.md")):
    """Write <page>.html for every Markdown page and notebook of a directory, or the named ones."""
    for path, kind, body in html_bodies(directory, names):
        if kind == "notebook":
            body = body.replace('href="../', 'href="../../')  # a folder deeper
        write_page(path.with_suffix(".html"), kind, changed(body, LINKS))
    write_text(directory / "style.css", (FOLDER / "style.css").read_text(encoding="utf-8"))


def html_bodies(directory, names=("*.ipynb", "*.md")):
    """Yield path, kind and HTML of every notebook of a directory, then of every Markdown page."""
    found = {path: None for name in names for path in sorted(directory.glob(name))}
    if notebooks := [path for path in found if path.suffix == ".ipynb"]:
        from nbconvert import HTMLExporter  # takes a second; not in the extra for plots

        exporter = HTMLExporter(
            template_name="basic",
            exclude_input_prompt=True,
            exclude_output_prompt=True,
            log=logging.Logger("quiet", logging.ERROR),  # it warns of pictures without text
        )
    for path in notebooks:
        yield path, "notebook", changed(exporter.from_filename(str(path))[0], CHANGES)
    texts = [path for path in found if path.suffix == ".md"]
    for path in sorted(texts, key=lambda path: (path.stem != "index", path)):
        yield path, "page", html_of(path.read_text(encoding="utf-8"))


def html_of(text):
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
