"""The picture of the verdicts: one bar a paper, and the values that have a result."""

from html import escape

from .labels import DARK, DECIDED, VERDICTS

MOST_LINES = 14  # claims listed in the picture; the page lists all


def verdict_svg(summary):
    """Return the picture (SVG), with symbols and words beside the colours."""
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
    """Return the first members of every group, in the order of the groups.

    As many as fit, of each an equal share while it has any.
    """
    places = sorted(
        (place, group) for group, members in enumerate(groups) for place in range(len(members))
    )[:most]
    return [
        groups[group][place] for group, place in sorted((group, place) for place, group in places)
    ]


def _label(x, y, text, size, weight="normal", fill=DARK, anchor="start"):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{fill}"'
        f' text-anchor="{anchor}">{escape(str(text))}</text>'
    )


def _legend(y):
    parts, x = [], 12
    for label, look in VERDICTS.items():
        parts.append(
            f'<rect x="{x:g}" y="{y}" width="16" height="16" rx="3" fill="{look.colour}"/>'
            + _label(x + 8, y + 13, look.symbol, 11, "bold", look.ink, "middle")
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
                f' fill="{VERDICTS[label].colour}" stroke="#ffffff"><title>{count}'
                f" {label}</title></rect>"
            )
        text = f"{VERDICTS[label].symbol} {count}"
        if width > 8 * len(text):
            parts.append(
                _label(x + width / 2, y + 14.5, text, 12, "bold", VERDICTS[label].ink, "middle")
            )
        x += width
    return "".join(parts) + _label(748, y + 15, total, 12, anchor="end")


def _line(part, row, y):
    look = VERDICTS[row.verdict]
    where = f"{part.paper.key} {row.claim.where}"
    ours = row.ours.split(" (")[0]  # the number of runs stands on the page
    return (
        _label(12, y + 14, where if len(where) <= 45 else where[:44] + "…", 12)
        + _label(336, y + 14, row.claim.printed, 12)
        + _label(454, y + 14, ours, 12)
        + f'<rect x="636" y="{y + 1}" width="112" height="18" rx="4" fill="{look.colour}"/>'
        + _label(692, y + 14, f"{look.symbol} {row.verdict}", 11, "bold", look.ink, "middle")
    )
