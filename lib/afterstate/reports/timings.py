"""The page of times and machines: the one file of a report that may differ between machines."""

import math

from .page import Heading, Paragraph, Table, to_markdown


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
