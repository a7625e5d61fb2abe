"""The pages of a report: templates filled with its summary, every text escaped; then HTML.

The HTML is that of the Markdown and of the notebooks in `page.html`; nothing comes from elsewhere.
"""

import functools
import logging
import math
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import jinja2
import mistune
import pandas as pd
from markupsafe import Markup, escape

from ...files import data_directory, published_file, read_yaml, write_text
from ...foreign import as_markdown
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
    """Return a text as Markdown, unless it is Markdown already."""
    return value if isinstance(value, Markup) else Markup(as_markdown(str(value)))


def _address(href):
    """Return where a link leads, without what would end it, or begin an element."""
    return Markup(re.sub(r"[\s()<>\"]", lambda match: quote(match[0]), href))


def who(paper):
    """Return the family names of the authors, and the year."""
    family_names = [name.split()[-1] for name in paper.authors]
    return f"{' & '.join(family_names)} {paper.year}"


def render(template, **values):
    """Return a template of the folder with its values filled in, escaped for its kind of file."""
    finalize = _markdown if template.endswith(".md") else escape
    return _environment(finalize).get_template(template).render(infinite=math.inf, **values)


@functools.cache  # it keeps the templates that it has compiled
def _environment(finalize) -> jinja2.Environment:
    """Return what compiles templates; `finalize` escapes what is filled in."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,  # what macros return is not escaped again
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"address": _address, "anchor": anchor, "printed": printed}
    environment.globals |= {
        "looks": picture.VERDICTS,
        "statement_looks": picture.STATEMENTS,
        "readings": readings,
        "make_all": sources.MAKE_ALL,
        "who": who,
    }
    return environment


def write(summary, directory):
    """Write the pages of a report, and the figures that they show."""
    news = _news(summary)
    contents = _pages(summary, news, directory)
    for part in summary.parts:
        title_of_picture = _picture(part, directory)
        contents[f"{part.paper.key}.md"] = _paper(summary, part) | {"picture": title_of_picture}
    shared = _shared_by_pages(summary)
    for name, values in contents.items():
        text = render(_template_of(name, values), **values, **shared)
        write_text(directory / name, re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")
    write_html(directory)


def _news(summary):
    """Return key of a paper -> what the first page shows of it, if its answer has a picture."""
    news = {}
    for part in summary.parts:
        key = part.paper.key
        news_of_part = news_of(part, summary.answers["papers"].get(key))
        if news_of_part:
            news[key] = news_of_part
    return news


def _pages(summary, news, directory):
    """Return file -> values of its template, of all files but the pages of papers."""
    studies_of_papers = set()
    for part in summary.parts:
        studies_of_papers.update(part.studies)
    contents = {
        "index.md": {"news": news, "bench": (directory / "bench.md").exists()},
        "statements.md": {"meanings": read_yaml(published_file("papers/meanings.yaml"))},
        "studies.md": {},
        "made.md": {"others": set(summary.runs["study"]) - studies_of_papers},
        "changes.md": {"skewed": _skewed(summary.parts)},
        "games.md": {"games": catalogue.tables()},
        "correspondence.md": {"groups": correspondence()},
    }
    if news:
        contents["news.svg"] = {"shown": list(news.values()), "named": True}
    for key, news_of_part in news.items():
        contents[f"news-{key}.svg"] = {"shown": [news_of_part], "named": False}
    return contents


def _template_of(name, values):
    """Return the template of a file."""
    if "paper" in values:
        return "paper.md"
    return "news.svg" if name.endswith(".svg") else name


def _shared_by_pages(summary):
    """Return the values that every template has."""
    is_full = summary.profile == "paper"
    restated = []
    changed_values = []
    if is_full:  # the few runs of a quick profile change no verdict
        for part in summary.parts:
            restated += [(part, row) for row in part.statements if row.former]
            changed_values += [(part, row) for row in part.rows if row.former]
    reasons = []
    for _, row in restated + changed_values:
        for _, reason in row.former:
            if reason not in reasons:
                reasons.append(reason)
    return {
        "summary": summary,
        "runs_of": functools.partial(_runs, summary),
        "questioned": is_full,
        "changed": changed_values,
        "restated": restated,
        "reasons": reasons,
    }


def _skewed(parts):
    """Return the highly skewed series of statements: paper, row, part, runs, skewness and test."""
    skewed = []
    for part in parts:
        for row in part.statements:
            for tested in row.parts:
                for side in (1, -1):
                    kind = tested.seen.kind(side)
                    if BY_ENDS in kind or NAMED in kind:
                        num_runs = sum(tested.seen.sizes)
                        skewness = f"{tested.seen.skewness:+.1f}"
                        skewed.append((part, row, tested.of or "–", num_runs, skewness, kind))
    return skewed


def _rows_of_table(part, name):
    """Return the published values of a printed table."""
    return [row for row in part.rows if row.claim.place.get("table") == name]


def _picture(part, directory):
    """Draw the main table of a paper in both readings; return its title, or "" without values."""
    table = part.paper.main_table
    rows = _rows_of_table(part, table) if table else []
    ours = pd.DataFrame([vars(row) for row in rows if not math.isnan(row.mean)])
    if ours.empty:
        return ""
    program = [vars(row.program) for row in rows if row.program and row.program.ours]
    title = f"Table {table}: printed and ours"
    row_height = 0.36  # inches
    table_claims = [row.claim for row in rows]
    figure, data = figures.interval_plot(ours, table_claims, title, row_height, program)
    picture.save(figure, directory, f"main-{part.paper.key}", data, MAIN)
    return title


def _paper(summary, part):
    """Return the values of the template of a paper's page."""
    paper = part.paper
    book_by_name = {book.name: book for book in part.notebooks}
    book_of_study = {}
    for study, name in summary.runs[["study", "notebook"]].drop_duplicates().values:
        if name in book_by_name:
            book_of_study[study] = book_by_name[name]
    missing = without_record(summary.runs[summary.runs["study"].isin(part.studies)])
    missing_in_words = missing_cost(missing) if len(missing) else ""
    unexplained = readings.unexplained(part.rows) if paper.readings else []
    return {
        "part": part,
        "paper": paper,
        "notebook": book_of_study,
        "tables": [_table(part, name, table) for name, table in paper.printed_tables.items()],
        "figures": _figures(part),
        "lacking_cost": missing_in_words,
        "tally": readings.tally(paper, [row.answers for row in part.rows]),
        "unexplained": unexplained,
        "software": any(reading.software and reading.arms for reading in paper.readings),
    }


def _figures(part):
    """Return (printed figure that it repeats or "", figure), in the paper's order, then others."""
    figure_by_name = {figure.name: figure for figure in part.figures}
    ordered = []
    for entry in part.paper.figures:
        if entry["shows"] in figure_by_name:
            ordered.append((entry["figure"], figure_by_name[entry["shows"]]))
    repeated = [figure for _, figure in ordered]
    others = [("", figure) for figure in part.figures if figure not in repeated]
    return ordered + others


def _table(part, name, table):
    """Return a printed table: its title, and lines of labels and rows of the report or None."""
    cells = {}
    for row in _rows_of_table(part, name):
        cells[row.claim.place["row"], row.claim.place["column"]] = row
    lines = []
    for row_name, labels in table.rows.items():
        lines.append((labels, [cells.get((row_name, column)) for column in table.columns]))
    title = f"Table {name}"
    if table.caption:
        title += f": {table.caption}"
    return {"name": name, "title": title, "table": table, "lines": lines}


def _runs(summary, study):
    """Return what the runs of a study cost, and a line for each arm, origin and machine."""
    runs = summary.runs[summary.runs["study"] == study].fillna({"machine": ""})
    records = data_directory() / "records" / f"{study}.jsonl"
    # Runs of a quick profile leave no records.
    has_records = summary.profile == "paper" and records.exists()
    address = f"../../data/records/{records.name}" if has_records else ""
    return {
        "provenance": provenance(runs, every_kind=True),
        "cpu": duration(runs["cpu_seconds"].sum()),
        "lines": _cost_lines(runs),
        "confirmed": confirmed(runs),
        "records": address,
    }


def _cost_lines(runs):
    """Return arm, kind, origin, number, CPU time, that of one, moves a second and machine."""
    lines = []
    groups = runs.groupby(["arm", "kind", "provenance", "machine"])
    for (arm, kind, origin, machine), rows in groups:
        cpu_seconds = rows["cpu_seconds"]
        cost = missing_cost(rows) if origin == MISSING else duration(cpu_seconds.sum())
        cost_of_one = duration(cpu_seconds.mean()) if cpu_seconds.notna().any() else ""
        moves_per_second = rows["moves_per_second"].mean()
        speed = "" if math.isnan(moves_per_second) else f"{moves_per_second:,.0f}"
        lines.append([arm, kind, origin, len(rows), cost, cost_of_one, speed, machine])
    return lines


def correspondence():
    """Return the groups of ``data/correspondence.yaml``, with `links`: each name and its file."""
    groups = read_yaml(published_file("correspondence.yaml"))["groups"]
    for group in groups:
        group.setdefault("paper", "konen2021")
        for row in group["rows"]:
            row.setdefault("cite", group["cite"])
            row.setdefault("theirs", "")
            row.setdefault("note", "")
            links = [(name, f"../../lib/afterply/{_file(name)}") for name in row["ours"]]
            row.setdefault("links", links)
            row["at"] = str(row["at"])
    return groups


def _file(name):
    """Return the file that defines a name: the longest beginning of it that is a module, or ""."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        file = "/".join(parts[:length]) + ".py"
        if (PACKAGE / file).exists():
            return file
    return ""


# HTML


def write_html(directory, names=("*.ipynb", "*.md")):
    """Write <page>.html for every Markdown page and notebook of a directory, or the named ones."""
    for path, kind, body in html_bodies(directory, names):
        if kind == "notebook":
            body = body.replace('href="../', 'href="../../')  # a folder deeper
        write_page(path.with_suffix(".html"), kind, changed(body, LINKS))
    write_text(directory / "style.css", (FOLDER / "style.css").read_text(encoding="utf-8"))


def html_bodies(directory, names=("*.ipynb", "*.md")):
    """Yield path, kind and HTML of every notebook of a directory, then of every Markdown page."""
    paths = []
    for pattern in names:
        paths += [path for path in sorted(directory.glob(pattern)) if path not in paths]
    notebooks = [path for path in paths if path.suffix == ".ipynb"]
    if notebooks:
        exporter = _notebook_exporter()
        for path in notebooks:
            body, _ = exporter.from_filename(str(path))
            yield path, "notebook", changed(body, CHANGES)
    texts = [path for path in paths if path.suffix == ".md"]
    for path in sorted(texts, key=lambda path: (path.stem != "index", path)):
        yield path, "page", html_of(path.read_text(encoding="utf-8"))


def _notebook_exporter():
    """Return what turns notebooks into HTML."""
    from nbconvert import HTMLExporter  # takes a second; not in the extra for plots

    return HTMLExporter(
        template_name="notebook",
        extra_template_basedirs=[str(FOLDER)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        log=logging.Logger("quiet", logging.ERROR),  # it warns of pictures without text
    )


def html_of(text):
    """Return a text in Markdown as HTML."""
    markdown = mistune.create_markdown(escape=False, plugins=["table"])
    return changed(markdown(text), CHANGES)


def changed(text, changes):
    """Return a text after some changes, each a pattern and its replacement."""
    for pattern, replacement in changes:
        text = re.sub(pattern, replacement, text)
    return text


def title_of(body):
    """Return the first heading of a page as plain text, or ""."""
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    if heading is None:
        return ""
    return unescape(re.sub(r"<[^>]+>", "", heading[1])).strip()


def write_page(path, kind, body, **frame):
    """Write a page; `frame` is what `page.html` shows around it: groups, up and here."""
    title = title_of(body) or path.stem
    frame = {"groups": {}, "up": "", "here": ""} | frame
    write_text(path, render("page.html", title=title, kind=kind, body=Markup(body), **frame))
