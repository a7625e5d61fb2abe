"""The picture of the first page: of each paper one sentence, what is printed, and what came out."""

import math
from types import SimpleNamespace

from ...stats import plain
from .picture import STATEMENTS
from .readings import bare


def news_of(part, answer):
    """Return what the picture shows of a paper, or None; `answer` is that of ``answers.yaml``.

    Its `picture` names the statement whose verdict is shown, and the printed values that stand on
    one axis: label -> claim.
    """
    if not answer or "picture" not in answer:
        return None
    wanted = answer["picture"]
    statements = {f"{part.paper.key}/{row.statement.id}": row for row in part.statements}
    rows = {row.claim.id: row for row in part.rows}
    return SimpleNamespace(
        key=part.paper.key,
        paper=part.paper,
        claim=wanted["claim"],
        came_out=wanted["came_out"],
        of=wanted["of"],
        ends=[plain(end) for end in wanted["axis"]],
        look=STATEMENTS[statements[wanted["statement"]].verdict],
        rows=[_line(label, rows[name], wanted["axis"]) for label, name in wanted["rows"].items()],
    )


def _line(label, row, axis):
    """Return a value as printed, as the text is read, and as in the authors' program."""
    mean_of_program = math.nan
    program_in_words = ""
    if row.program and row.program.runs:
        mean_of_program = row.program.mean
        program_in_words = bare(row.program.ours)
    means = {
        "printed": row.claim.value,
        "program": mean_of_program,
        "ours": row.mean,  # drawn last, above the others
    }
    start, end = axis
    marks = []
    for kind, value in means.items():
        if math.isfinite(value):
            marks.append(SimpleNamespace(kind=kind, share=(value - start) / (end - start)))
    return SimpleNamespace(
        label=label,
        marks=marks,
        printed=row.claim.printed.partition(" ±")[0],
        ours=row.short,
        program=program_in_words,
    )
