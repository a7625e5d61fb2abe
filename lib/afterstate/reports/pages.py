"""The pages of a report as Markdown, which a code host shows: templates filled with its Summary.

Everything that a template prints is escaped, so that a text of a paper stays one text in one cell
of a table.
"""

import math
import re
import textwrap
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ..files import data_directory, published_file, write_text
from ..games import catalogue
from ..stats import printed
from . import correspondence, figures, missing, picture, readings
from .sources import MISSING, anchor, duration, provenance, without_record

FOLDER = Path(__file__).parent / "templates"
MAIN = (
    "Open diamonds: printed, with the printed standard error, on the margin that was fixed"
    " beforehand (grey). Filled marks: ours, mean and 95% interval over independent runs."
)
RUNS = ["arm", "kind", "provenance", "machine"]
GLOBALS = {"looks": picture.VERDICTS, "statement_looks": picture.STATEMENTS, "readings": readings}
GLOBALS |= {"make_all": missing.COMMAND, "infinite": math.inf}


def _markdown(value):
    """Return a text as Markdown that shows exactly this text, in one line."""
    if isinstance(value, Markup):
        return value
    text = re.sub(r"([\\`*<>\[\]|~$])", r"\\\1", str(value).strip())
    text = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)  # inside a word it is no mark
    return Markup(re.sub(r"\s*\n\s*", "<br>", text))


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
    environment.filters |= {"anchor": anchor, "printed": printed, "wrapped": textwrap.wrap}
    environment.globals |= GLOBALS
    return environment.get_template(template).render(**values)


def write(summary, directory):
    """Write the Markdown pages of a report, and the figure of the first one."""
    parts, answers = summary.parts, published_file("papers/answers.md")
    restated = [(part, row) for part in parts for row in part.statements if row.changed]
    shared = {
        "summary": summary,
        "needs": {
            part.paper.key: missing.needs(part.statements, summary.lacking) for part in parts
        },
        "runs_of": lambda study: _runs(summary, study),
        "changed": [(part, row) for part in parts for row in part.rows if row.former_verdict],
        "restated": restated if summary.profile == "paper" else [],  # few runs have others
    }
    first = {
        "main": _main_figure(parts, directory),
        "others": set(summary.runs["study"]).difference(*(part.studies for part in parts)),
        "bench": (directory / "bench.md").exists(),
        "answers": Markup(answers.read_text(encoding="utf-8")) if answers.exists() else "",
    }
    pages = {
        "index.md": first,
        "changes.md": {},
        "games.md": {"games": catalogue.tables()},
        "correspondence.md": {"groups": correspondence.load()},
        "verdicts.svg": {},
    }
    pages |= {f"{part.paper.key}.md": _paper(summary, part) for part in parts}
    for name, values in pages.items():
        text = render("paper.md" if "paper" in values else name, **values, **shared)
        write_text(directory / name, re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")


def _main_figure(parts, directory):
    """Draw the main table of the first paper that names one; return its title and caption."""
    for part in parts:
        table = part.paper.main_table
        claims = [claim for claim in part.paper.claims if claim.place.get("table") == table]
        rows = part.comparison[part.comparison["id"].isin([claim.id for claim in claims])]
        if table and rows["mean"].notna().any():
            title = f"{part.paper.key}, Table {table}: published and ours"
            figure, data = figures.interval_plot(rows, claims, title, row_height=0.3)
            picture.save(figure, directory, "main", data, MAIN)
            return {"title": title, "caption": MAIN}
    return None


def _paper(summary, part):
    """Return what the page of a paper shows."""
    paper, books = part.paper, {book.name: book for book in part.notebooks}
    named = summary.runs[["study", "notebook"]].drop_duplicates().values
    saved = {figure.name: figure for figure in part.figures}
    ordered = [(f["figure"], saved[f["shows"]]) for f in paper.figures if f["shows"] in saved]
    shown = [figure for _, figure in ordered]
    lacking = without_record(summary.runs)
    return {
        "part": part,
        "paper": paper,
        "notebook": {study: books[name] for study, name in named if name in books},
        "tables": [_table(part, *one) for one in paper.printed_tables.items()],
        "figures": [*ordered, *(("", figure) for figure in part.figures if figure not in shown)],
        "lacks": {
            study: summary.lacking[study] for study in part.studies if study in summary.lacking
        },
        "lacking_cost": missing.cost(lacking[lacking["study"].isin(part.studies)]),
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
    """Return the runs of a study, what they cost, and a line for each arm, origin and machine."""
    runs, lines = summary.runs[summary.runs["study"] == study], []
    for (arm, kind, origin, machine), rows in runs.groupby(RUNS, sort=True, dropna=False):
        cost = missing.cost(rows) if origin == MISSING else _cpu(rows["cpu_seconds"], "sum")
        speed = rows["moves_per_second"].mean()
        line = [arm, kind, origin, len(rows), cost, _cpu(rows["cpu_seconds"], "mean")]
        line += ["" if math.isnan(speed) else f"{speed:,.0f}"]
        line += [_first_two(rows["commit"]), _first_two(rows["date"])]
        lines.append([*line, machine if machine == machine else ""])
    records = data_directory() / "records" / f"{study}.jsonl"
    # quick runs leave no records
    known = summary.profile == "paper" and records.exists()
    return {
        "provenance": provenance(runs, every_kind=True),
        "cpu": _cpu(runs["cpu_seconds"], "sum"),
        "lines": lines,
        "records": f"../../data/records/{records.name}" if known else "",
    }


def _cpu(seconds, how):
    return duration(seconds.agg(how)) if seconds.notna().any() else ""


def _first_two(values):
    names = sorted({" ".join(str(value).split()) for value in values.dropna()})
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
