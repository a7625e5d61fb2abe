"""The pages of a report, made from its Summary by the templates: see `write`."""

import re
from dataclasses import replace

from ..files import write_text
from ..digits import printed
from ..papers.verdicts import INCONCLUSIVE, NOT_RUN
from . import layout, made_by, main_figure, missing, notebook_page, readings
from .index_text import (
    ABOUT,
    HOW,
    STATEMENTS_GUARANTEE,
    STATEMENTS_NOTE,
    index_markdown,
    status_lines,
    written,
)
from .sources import HERE, MISSING, duration, provenance
from .templating import anchor, render, write_assets

REPORT = ("Report", "index.html")
MAIN = {"main.svg": False, "main-narrow.svg": True}  # file -> drawn for a narrow screen
TEXTS = ("timings.md", "bench.md")  # of the machine that measured
RULES_CHANGED = (
    "Counts of games, November 2026, after the runs: a printed cell of n games was taken as exact;"
    " it carries its binomial error now, and the points that follow from such cells carry theirs.",
    "Means without a printed spread, November 2026, after the runs: they were taken as exact;"
    " where a paper's file says so, the spread of our runs stands for theirs.",
    "The verdict consistent, November 2026, after the runs: where the printed error alone spans the"
    " margin, no number of runs could decide, and the verdict was inconclusive even for equal"
    " values. It asks for three things: the printed error alone spans the margin, the 95% interval"
    " of the difference holds 0, and our standard error is not above the printed one.",
    "Counts near 0 or near all games, 23 November 2026, after an audit: the interval of a count of"
    " games was normal and had the error of the printed share, and so let 94 : 6 : 0 pass for"
    " 100 : 0 : 0. The error is that of the printed share or of ours now, whichever is larger, and"
    " a count is consistent if an exact binomial test does not refuse it.",
)


def write(summary, directory):
    """Write all pages of a report but those of correspondence and times."""
    write_assets(directory)
    parts = [_linked(summary, part) for part in summary.parts]
    main = _main(summary, parts, directory)
    changes = [row | {"page": part.page} for part in parts for row in _changed(part)]
    restated = [(part, row) for part in parts for row in part.statements if row.changed]
    restated = restated if summary.profile == "paper" else []  # verdicts of few runs are others
    pages = {
        "index.html": _index(summary, parts, main, len(changes) + len(restated), directory),
        "changes.html": _changes(summary, changes, restated),
        "runs.html": _runs(summary),
        "index.md": index_markdown(summary, main is not None, _waiting(summary)),
    }
    for part in parts:
        pages[part.page] = _paper(summary, part)
    texts = [directory / name for name in TEXTS]
    pages |= {f"{path.stem}.html": _text(path) for path in texts if path.exists()}
    for name, text in pages.items():
        write_text(directory / name, text)
    captions = {figure.name: figure.caption for figure in summary.figures}
    for notebook in summary.notebooks:
        links = [(part.paper.key, part.page) for part in parts if notebook in _notebooks(part)]
        notebook_page.write(notebook, captions, links)


def _text(path):
    """Return a Markdown file as a page: a browser shows Markdown as it is written."""
    html, headings = notebook_page.markdown(path.read_text(encoding="utf-8"))
    frame = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>'
    html = html.replace("<table>", frame).replace("</table>", "</table></div>")
    title = headings[0][2]
    return render("text.html", title=title, trail=[REPORT, (title, "")], html=html)


def _linked(summary, part):
    """Return a part whose rows know their anchors and what made them."""
    rows = tuple(
        replace(
            row,
            anchor=layout.value_anchor(row.claim),
            short=row.short or layout.short(row),
            made=tuple(made_by.value(summary, part, row)),
        )
        for row in part.rows
    )
    return replace(part, rows=rows)


def _index(summary, parts, main, changes, directory):
    return render(
        "index.html",
        title="What the papers say, and what comes out",
        about=ABOUT,
        how=HOW,
        reduced=summary.profile != "paper",
        profile=summary.profile,
        gaps=summary.gaps,
        waiting=_waiting(summary),
        needs={part.paper.key: missing.needs(part, summary.lacking) for part in parts},
        make_all=missing.COMMAND,
        parts=parts,
        main=main,
        changes=changes,
        runs=len(summary.runs),
        bench=(directory / "bench.md").exists(),
        notebooks=summary.notebooks,
        status=status_lines(summary),
    )


def _waiting(summary):
    """Return the notebooks whose studies have no result at all: title, page, cost."""
    by_name = {notebook.path.stem: notebook for notebook in summary.notebooks}
    found = []
    for study in summary.waiting:
        lack = summary.lacking[study]
        notebook = by_name.get(lack.notebook)
        found.append(
            {
                "title": notebook.title if notebook else f"the study {study}",
                "href": notebook.page if notebook else f"runs.html#study-{anchor(study)}",
                "cost": lack.cost.words,
            }
        )
    return found


def _main(summary, parts, directory):
    """Draw the main table of the first paper that names one; None if it has no result."""
    for part in parts:
        rows = [
            row for row in part.rows if row.claim.place.get("table") == part.paper.main_table
        ]
        rows = main_figure.drawable(rows) if part.paper.main_table else []
        if rows:
            for file, narrow in MAIN.items():
                drawing = main_figure.main_figure(rows, narrow)
                write_text(directory / file, drawing.svg() + "\n")
            name = f"{part.paper.key}, Table {part.paper.main_table}"
            numbers = "; ".join(
                f"{row.claim.where}: published {printed(row.claim.printed)}, ours {row.ours},"
                f" {row.verdict}"
                for row in rows
            )
            return {
                "title": f"The main table, published and ours ({name})",
                "page": part.page,
                "table": part.paper.main_table,
                "alt": f"Published values and ours of {name}. {numbers}.",
                "caption": (
                    "Open diamonds: printed, with the printed standard error, on the margin that"
                    " was fixed beforehand (grey). Filled marks: ours, mean and 95% interval over"
                    " independent runs."
                ),
            }
    for file in MAIN:
        (directory / file).unlink(missing_ok=True)
    return None


def _paper(summary, part):
    ordered, others = layout.figures(part)
    lacking = summary.lacking
    lacks = {study: lacking[study] for study in part.paper.studies if study in lacking}
    tables = [
        {
            "name": table.name,
            "caption": table.caption,
            "heads": table.heads,
            "columns": table.columns,
            "lines": table.lines,
            "made": made_by.table(summary, part, table.rows),
        }
        for table in layout.tables(part)
    ]
    contents = [
        ("statements", "Statements") if part.statements else None,
        ("tables", "Tables") if tables else None,
        ("figures", "Figures") if ordered else None,
        ("readings", "Other readings") if part.paper.readings else None,
        ("values", "Every value"),
        ("deviations", "Deviations") if part.paper.deviations else None,
        ("cost", "Cost and missing runs" if lacks else "Cost"),
    ]
    return render(
        "paper.html",
        title=f"{part.paper.key}: published values and ours",
        trail=[REPORT, *_siblings(summary, part)],
        part=part,
        notebooks=[(notebook.path.stem, notebook.page) for notebook in _notebooks(part)],
        contents=[entry for entry in contents if entry],
        gaps=[],
        lacks=lacks,
        total=missing.total(lacks.values()),
        make_all=missing.COMMAND,
        not_run=sum(row.verdict == NOT_RUN for row in part.rows),
        statements_note=f"{STATEMENTS_NOTE} {written(part.paper)}",
        needs=missing.needs(part, lacks),
        tables=tables,
        figures=[_figure(summary, part, figure, of) for of, figure in ordered],
        more_figures=[_figure(summary, part, figure) for figure in others],
        groups=layout.groups(part),
        tally=readings.tally(part.paper, [row.answers for row in part.rows]),
        unexplained=readings.unexplained(part.rows) if part.paper.readings else [],
        software=any(reading.software and reading.arms for reading in part.paper.readings),
        said=readings.sentence,
        details=readings.details,
        of_software=readings.software,
        costs=_costs(summary, part),
    )


def _siblings(summary, part):
    return [
        (other.paper.key, "" if other.paper.key == part.paper.key else other.page)
        for other in summary.parts
    ]


def _notebooks(part):
    """Return the notebooks that made a part's values, or speak of its paper at their beginning."""
    found = {id(notebook): notebook for notebook in part.notebooks.values()}
    found |= {id(notebook): notebook for notebook in part.other_notebooks}
    return sorted(found.values(), key=lambda notebook: notebook.path.stem)


def _figure(summary, part, figure, of=""):
    made = made_by.figure(summary, part, figure)
    return {"name": figure.name, "caption": figure.caption, "made": made, "of": of}


def _costs(summary, part):
    costs = []
    for study in part.paper.studies:
        runs = summary.runs[summary.runs["study"] == study]
        if not len(runs):
            continue
        recorded = runs[(runs["provenance"] != HERE) & runs["cpu_seconds"].notna()]
        notebook = part.notebooks.get(study)
        costs.append(
            {
                "study": study,
                "notebook": notebook and {"text": notebook.path.stem, "href": notebook.page},
                "provenance": provenance(runs, every_kind=True),
                "cpu": duration(recorded["cpu_seconds"].sum()) if len(recorded) else "see timings",
                "files": made_by.files(study),
            }
        )
    return costs


def _changed(part):
    """Return the rows whose rule was changed after results were seen, with what changed."""
    return [
        {
            "claim": row.claim,
            "ours": row.ours,
            "anchor": row.anchor,
            "verdict": row.verdict,
            "former_verdict": row.former_verdict,
            "change": row.change,
        }
        for row in part.rows
        if row.former_verdict
    ]


def _changes(summary, rows, restated):
    changed = [row for part in summary.parts for row in part.rows if row.former_verdict]
    reasons = dict.fromkeys(
        f"{row.claim.unit}: {row.claim.changed}"
        for part in summary.parts
        for row in part.rows
        if row.claim.changed and row.claim.former_margin != row.claim.margin
    )
    if any(not row.claim.changed for row in changed):
        said = (part.paper.verdicts_changed for part in summary.parts)
        reasons |= dict.fromkeys([*RULES_CHANGED, *filter(None, said)])
    return render(
        "changes.html",
        title="Verdicts, and changes after the fact",
        trail=[REPORT, ("Verdicts and changes", "")],
        statements_note=STATEMENTS_NOTE,
        guarantee=STATEMENTS_GUARANTEE,
        restated=restated,
        reasons=[*reasons, *_open_values(summary)],
        rows=rows,
    )


def _open_values(summary):
    """Say how many inconclusive values no number of runs can decide."""
    rows = [row for part in summary.parts for row in part.rows if row.verdict == INCONCLUSIVE]
    hopeless = sum(row.runs_needed == float("inf") for row in rows)
    if not hopeless:
        return []
    return [
        f"Of the {len(rows)} inconclusive values, {hopeless} cannot be decided by any number of"
        " runs of ours at the difference that was found; the reason stands beside each value."
    ]


def _runs(summary):
    studies = []
    for name, runs in summary.runs.groupby("study", sort=True) if len(summary.runs) else ():
        lines = [
            (
                *key,
                str(len(group)),
                _cpu(group, key[-1]),
                *(_distinct(group, column, key[-1]) for column in ("commit", "date", "machine")),
            )
            for key, group in runs.groupby(["arm", "kind", "provenance"], sort=True)
        ]
        studies.append({"name": name, "made": made_by.study(summary, name), "lines": lines})
    return render(
        "runs.html",
        title="Where the runs come from",
        trail=[REPORT, ("Runs", "")],
        status=status_lines(summary)[1],
        studies=studies,
        lacks=list(summary.lacking.values()),
        total=missing.total(summary.lacking.values()),
        make_all=missing.COMMAND,
    )


def _cpu(group, origin):
    """Return what some runs of one origin cost, or would cost."""
    if origin == HERE:
        return "see timings"
    if origin == MISSING:
        return f"about {missing.cost(group).words}"
    seconds = group["cpu_seconds"]
    return duration(seconds.sum()) if seconds.notna().any() else ""


def _distinct(group, column, origin):
    if origin in (HERE, MISSING):
        return "see timings" if origin == HERE else ""
    names = sorted({re.sub(r"\s+", " ", str(value)) for value in group[column].dropna()})
    return made_by.first_two(names)
