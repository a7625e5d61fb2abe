"""How a report looks: the blocks of the page from its Summary, and the picture of the verdicts."""

import math
from html import escape

from .page import (
    VERDICTS,
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
DECIDED = ("reproduced", "better", "not reproduced", "inconclusive")
MOST_LINES = 14  # claims listed in the picture; the page lists all


def html(summary, drawing):
    """The report as one self-contained HTML page.

    `drawing` is the picture of the verdicts (SVG).
    """
    return to_html(f"{TITLE} ({summary.profile})", blocks(summary, drawing, ".html"))


def markdown(summary, drawing):
    """The report as Markdown with the same content."""
    return to_markdown(blocks(summary, drawing, ".md"))


def status_lines(summary):
    """The two lines at the top: published values by verdict, runs by provenance."""
    total = sum(summary.verdicts.values())
    values = " · ".join(f"{count} {label}" for label, count in summary.verdicts.items())
    runs = " · ".join(f"{count} {name}" for name, count in summary.provenance.items())
    hours = f" ({summary.missing_hours:.1f} CPU h)" if summary.missing_hours > 0 else ""
    return (
        f"Published values ({total} in {len(summary.parts)} papers): {values}",
        f"Runs and evaluations ({len(summary.runs)}): {runs}{hours}",
    )


def blocks(summary, drawing, suffix):
    """The whole page as blocks of `page`.

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
    page += _decided(summary)
    page.append(
        Fold(
            "What the verdicts mean",
            (
                Bullets(
                    tuple((Badge(label), f" {text}") for label, (_, _, text) in VERDICTS.items())
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
        " whose margin was fixed before the runs. "
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
    open_values = [row for _, row in rows if row.verdict == "inconclusive"]
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
    """The page of times and machines (Markdown): the one file of a report that may differ from machine to machine."""
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


def verdict_svg(summary):
    """Picture of the verdicts (SVG): one bar a paper, and the values that have a result, with symbols and words beside the colours."""
    decided = [
        [(part, row) for row in part.rows if row.verdict in DECIDED] for part in summary.parts
    ]
    shown = _in_turns(decided, MOST_LINES)
    parts, y = (
        [
            _label(12, 24, "Published values by verdict", 16, "bold"),
            _label(748, 24, f"profile {summary.profile}", 12, anchor="end"),
        ],
        40,
    )
    parts.append(_legend(y))
    y += 26
    for part in summary.parts:
        parts.append(_bar(part, y))
        y += 26
    if shown:
        y += 12
        for x, text in (
            (12, "Value with a result"),
            (336, "published"),
            (454, "ours [95% interval]"),
            (648, "verdict"),
        ):
            parts.append(_label(x, y + 12, text, 12, "bold"))
        y += 20
    for part, row in shown:
        parts.append(_line(part, row, y))
        y += 22
    if (more := sum(map(len, decided)) - len(shown)) > 0:
        parts.append(_label(12, y + 14, f"and {more} more in the report", 12))
        y += 22
    height = y + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" viewBox="0 0 760'
        f' {height}" font-family="\'DejaVu Sans\', Verdana, sans-serif"><rect width="760"'
        f' height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def _in_turns(groups, most):
    """Return the first members of every group, in the order of the groups: as many as fit, of each an equal share while it has any."""
    places = sorted(
        (place, group) for group, members in enumerate(groups) for place in range(len(members))
    )[:most]
    return [
        groups[group][place] for group, place in sorted((group, place) for place, group in places)
    ]


def _label(x, y, text, size, weight="normal", fill="#1a1a1a", anchor="start"):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{fill}"'
        f' text-anchor="{anchor}">{escape(str(text))}</text>'
    )


def _ink(label):
    return "#1a1a1a" if label == "not a target" else "#ffffff"


def _legend(y):
    parts, x = [], 12
    for label, (symbol, colour, _) in VERDICTS.items():
        parts.append(f'<rect x="{x:g}" y="{y}" width="16" height="16" rx="3" fill="{colour}"/>')
        parts.append(
            _label(x + 8, y + 13, symbol, 11, "bold", _ink(label), "middle")
            + _label(x + 21, y + 13, label, 12)
        )
        x += 40 + 7.4 * len(label)
    return "".join(parts)


def _bar(part, y):
    parts, x, total = [_label(12, y + 15, part.paper.key, 13)], 140.0, sum(part.verdicts.values())
    for label, count in part.verdicts.items():
        width = 560 * count / total if count else 0.0
        if count:
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="20"'
                f' fill="{VERDICTS[label][1]}" stroke="#ffffff"><title>{count}'
                f" {label}</title></rect>"
            )
        text = f"{VERDICTS[label][0]} {count}"
        if width > 8 * len(text):
            parts.append(_label(x + width / 2, y + 14.5, text, 12, "bold", _ink(label), "middle"))
        x += width
    return "".join(parts) + _label(748, y + 15, total, 12, anchor="end")


def _line(part, row, y):
    symbol, colour, _ = VERDICTS[row.verdict]
    where = f"{part.paper.key} {row.claim.where}"
    ours = row.ours.split(" (")[0]  # the number of runs stands on the page
    return (
        _label(12, y + 14, where if len(where) <= 45 else where[:44] + "…", 12)
        + _label(336, y + 14, row.claim.printed, 12)
        + _label(454, y + 14, ours, 12)
        + f'<rect x="636" y="{y + 1}" width="112" height="18" rx="4" fill="{colour}"/>'
        + _label(692, y + 14, f"{symbol} {row.verdict}", 11, "bold", _ink(row.verdict), "middle")
    )
