"""How a report looks: the blocks of the page from its Summary, and the picture of the verdicts."""

import math

from ..papers.verdicts import INCONCLUSIVE
from .labels import DECIDED, VERDICTS
from .page import (
    Badge,
    Bullets,
    Code,
    Drawing,
    Fold,
    Heading,
    Link,
    Paragraph,
    Strong,
    Table,
    to_html,
    to_markdown,
)

TITLE = "Learning board games by self-play: published values and ours"


def html(summary, drawing):
    """Return the report as one self-contained HTML page.

    `drawing` is the picture of the verdicts (SVG).
    """
    return to_html(f"{TITLE} ({summary.profile})", blocks(summary, drawing, ".html"))


def markdown(summary, drawing):
    """Return the report as Markdown with the same content."""
    return to_markdown(blocks(summary, drawing, ".md"))


def status_lines(summary):
    """Return the two lines at the top: published values by verdict, runs by provenance."""
    total = sum(summary.verdicts.values())
    values = " · ".join(f"{count} {label}" for label, count in summary.verdicts.items())
    runs = " · ".join(f"{count} {name}" for name, count in summary.provenance.items())
    hours = f" ({summary.missing_hours:.1f} CPU h)" if summary.missing_hours > 0 else ""
    return (
        f"Published values ({total} in {len(summary.parts)} papers): {values}",
        f"Runs and evaluations ({len(summary.runs)}): {runs}{hours}",
    )


def blocks(summary, drawing, suffix):
    """Return the whole page as blocks of `page`.

    Suffix ".html" or ".md" selects which sister page is linked.
    """
    page = [
        Paragraph("\n".join(status_lines(summary)), "status"),
        Heading(1, TITLE),
        Paragraph(_introduction(summary)),
        Drawing(
            drawing, "verdicts.svg", "Published values by verdict: " + status_lines(summary)[0]
        ),
    ]
    page += [Paragraph(gap, "gap") for gap in summary.gaps]
    page += _decided(summary) + _changed(summary)
    page.append(
        Fold(
            "What the verdicts mean",
            (
                Bullets(
                    tuple((Badge(label), f" {look.meaning}") for label, look in VERDICTS.items())
                ),
            ),
        )
    )
    for part in summary.parts:
        page += _paper(part)
    if summary.loose_figures:
        page += [Heading(2, "Other figures"), *map(_figure, summary.loose_figures)]
    return page + _records(summary, suffix)


def _introduction(summary):
    text = (
        "Every value that the papers print stands beside the value that this library's own programs"
        " give: mean and 95% interval over independent training runs, with a statistical verdict"
        " whose margin was fixed before the runs; what was changed afterwards is listed. "
    )
    if summary.profile != "paper":
        return (
            text,
            Strong(f"Profile {summary.profile}: reduced scale"),
            ", so a verdict here says that the programs run, not that a paper is right; ",
            Code("make reproduce"),
            " gives the full study.",
        )
    return (text, "Profile paper: the papers' full parameters.")


def _decided(summary):
    rows = [
        (part.paper.key, row)
        for part in summary.parts
        for row in part.rows
        if row.verdict in DECIDED
    ]
    if not rows:
        return [
            Heading(2, "Values with a result"),
            Paragraph("No published value has a result in this profile yet.", "gap"),
        ]
    table = Table(
        ("Paper", "Where", "Published", "Ours, mean [95% interval]", "Verdict", "Notebook"),
        tuple(
            (key, row.claim.where, row.claim.printed, row.ours, Badge(row.verdict), row.notebook)
            for key, row in rows
        ),
    )
    open_values = [row for _, row in rows if row.verdict == INCONCLUSIVE]
    hopeless = sum(math.isinf(row.runs_needed) for row in open_values)
    near = sum(abs(row.difference) <= (row.claim.published_sem or 0) for row in open_values)
    note = (
        (
            Paragraph(
                f"Of the {len(open_values)} inconclusive values, {near} lie within one printed"
                " standard error of the published value, so nothing speaks against them; but"
                f" {hopeless} cannot be decided by any number of runs of ours, mostly because that"
                " printed error is wide compared with the margin. The reason stands beside each"
                " value below."
            ),
        )
        if hopeless
        else ()
    )
    return [Heading(2, "Values with a result"), table, *note]


def _changed(summary):
    """List the margins that were changed after results were seen, and what that does."""
    rows = [
        (part.paper.key, row) for part in summary.parts for row in part.rows if row.former_verdict
    ]
    if not rows:
        return []
    reasons = dict.fromkeys(f"{row.claim.unit}: {row.claim.changed}" for _, row in rows)
    table = Table(
        ("Paper", "Where", "Published", "Ours", "Margin before", "now", "Verdict before", "now"),
        tuple(
            (
                key,
                row.claim.where,
                row.claim.printed,
                row.ours,
                f"±{row.claim.former_margin:.4g}",
                f"±{row.claim.margin:.4g}",
                Badge(row.former_verdict),
                Badge(row.verdict),
            )
            for key, row in rows
        ),
    )
    return [Heading(2, "Changes after the fact"), Bullets(tuple(reasons)), table]


def _paper(part):
    paper = part.paper
    counts = " · ".join(f"{count} {label}" for label, count in part.verdicts.items() if count)
    about = (
        f"{', '.join(paper.authors)} ({paper.year}). ",
        Link(paper.title, paper.url),
        f"\n{len(part.rows)} published values: {counts or 'none listed'}",
    )
    page = [Heading(2, paper.key), Paragraph(about)]
    with_result = tuple(row for row in part.rows if row.verdict in DECIDED)
    others = tuple(row for row in part.rows if row.verdict not in DECIDED)
    if with_result:
        page.append(_claims(with_result))
    if others:
        page.append(
            Fold(
                f"Published values without a verdict (not run, or not a target): {len(others)}",
                (_claims(others),),
            )
        )
    page += map(_figure, part.figures)
    if paper.deviations:
        columns = ("No.", "Point", "The paper", "Its software", "Default here", "Switch")
        table = Table(columns, tuple(_deviation(deviation) for deviation in paper.deviations))
        page.append(
            Fold(
                f"Deviations (where {paper.key} is silent or cannot be followed literally):"
                f" {len(paper.deviations)}",
                (table,),
            )
        )
    return page


def _claims(rows):
    columns = (
        "Where",
        "Published",
        "Ours, mean [95% interval]",
        "Verdict",
        "Why",
        "CPU time",
        "Runs from",
        "Notebook",
    )
    cells = [
        (
            row.claim.where,
            row.claim.printed,
            row.ours,
            Badge(row.verdict),
            _why(row),
            row.cost,
            row.provenance,
            row.notebook,
        )
        for row in rows
    ]
    kept = [place for place in range(len(columns)) if any(line[place] for line in cells)]
    return Table(
        tuple(columns[place] for place in kept),
        tuple(tuple(line[place] for place in kept) for line in cells),
    )


def _why(row):
    return "; ".join(text for text in (row.explanation, row.claim.note) if text)


def _deviation(deviation):
    switch = (
        (
            Code(deviation.switch),
            ": " + ", ".join(f"{name} = {text}" for name, text in (deviation.values or {}).items()),
        )
        if deviation.switch
        else "none"
    )
    title = deviation.title + (" (planned)" if deviation.status == "planned" else "")
    return deviation.id, title, deviation.paper, deviation.original, deviation.default, switch


def _figure(figure):
    return Drawing(
        figure.svg,
        f"figures/{figure.name}.svg",
        f"Figure {figure.name}",
        figure.caption,
        figure.numbers,
    )


def _records(summary, suffix):
    page = [Heading(2, "Where the runs come from")]
    groups = (
        summary.runs.groupby(["study", "arm", "kind", "provenance"], sort=True)
        if len(summary.runs)
        else ()
    )
    rows = tuple(
        (
            *name,
            str(len(group)),
            *(_distinct(group, column, name[-1]) for column in ("commit", "date", "machine")),
        )
        for name, group in groups
    )
    page.append(
        Table(("Study", "Arm", "Kind", "Provenance", "Number", "Commit", "Date", "Machine"), rows)
        if rows
        else Paragraph("No run is known.", "gap")
    )
    page.append(
        Paragraph(
            (
                "Times and the machine that built this page: ",
                Link("timings", "timings.md"),
                ". Symbols, equations and algorithm lines of the papers in the source: ",
                Link("correspondence", "correspondence" + suffix),
                ".",
            )
        )
    )
    return page


def _distinct(group, column, provenance):
    if provenance == "trained here":
        return "see timings"
    names = sorted({str(value) for value in group[column].dropna()})
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def timings(summary):
    """Return the page of times and machines (Markdown).

    It is the one file of a report that may differ from machine to machine.
    """
    page = [
        Heading(1, f"Times and machines of the profile {summary.profile}"),
        Paragraph(
            "CPU seconds and speeds by study, arm and machine. The pages index and correspondence"
            " do not depend on the machine that made them."
        ),
    ]
    rows = []
    keys = ["study", "arm", "kind", "provenance", "machine"]
    for name, group in (
        summary.runs.groupby(keys, sort=True, dropna=False) if len(summary.runs) else ()
    ):
        numbers = (
            group["cpu_seconds"].sum(),
            group["cpu_seconds"].mean(),
            group["moves_per_second"].mean(),
        )
        texts = [
            "" if math.isnan(number) else f"{number:,.{digits}f}"
            for number, digits in zip(numbers, (1, 2, 0), strict=True)
        ]
        rows.append(
            (*("" if part != part else str(part) for part in name), str(len(group)), *texts)
        )
    page.append(
        Table(
            (
                "Study",
                "Arm",
                "Kind",
                "Provenance",
                "Machine",
                "Number",
                "CPU s in all",
                "CPU s each",
                "Moves per s",
            ),
            tuple(rows),
        )
    )
    return to_markdown(page)
