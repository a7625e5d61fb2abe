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
    asked = answer["picture"]
    stated = {f"{part.paper.key}/{row.statement.id}": row for row in part.statements}
    rows = {row.claim.id: row for row in part.rows}
    return SimpleNamespace(
        key=part.paper.key,
        paper=part.paper,
        claim=asked["claim"],
        came_out=asked["came_out"],
        of=asked["of"],
        ends=[plain(end) for end in asked["axis"]],
        look=STATEMENTS[stated[asked["statement"]].verdict],
        rows=[_line(label, rows[name], asked["axis"]) for label, name in asked["rows"].items()],
    )


def _line(label, row, axis):
    # a value as printed, as the text is read, and as in the authors' program
    program = row.program if row.program and row.program.runs else None
    means = {"printed": row.claim.value, "program": program.mean if program else math.nan}
    means["ours"] = row.mean  # drawn last, above the others
    start, end = axis
    marks = [
        SimpleNamespace(kind=kind, share=(value - start) / (end - start))
        for kind, value in means.items()
        if math.isfinite(value)
    ]
    return SimpleNamespace(
        label=label,
        marks=marks,
        printed=row.claim.printed.partition(" ±")[0],
        ours=row.short,
        program=bare(program.ours) if program else "",
    )
