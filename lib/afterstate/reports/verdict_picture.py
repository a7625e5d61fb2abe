"""The picture for the README: the statements of every paper, and its values by verdict."""

from html import escape

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from .labels import DARK, STATEMENTS, VERDICTS

WIDTH = 860
BADGE = WIDTH - 122  # where the verdicts of statements begin
FONT = "DejaVu Sans"


def verdict_svg(summary):
    """Return the picture (SVG), with symbols and words beside the colours."""
    parts, y = (
        [
            _label(12, 24, "What the papers state, tested on our runs", 16, "bold"),
            _label(WIDTH - 12, 24, f"profile {summary.profile}", 12, anchor="end"),
        ],
        36,
    )
    for part in summary.parts:
        y += 8
        parts.append(_label(12, y + 14, part.paper.key, 13, "bold"))
        parts.append(_bar(part, y))
        y += 24
        for row in part.statements:
            lines = wrapped(row.tested, 12, BADGE - 24 - 8)
            parts.append(_statement(row, lines, y))
            y += 4 + 16 * len(lines)
    y += 12
    parts.append(_label(12, y + 13, "Bars: published values by verdict", 12))
    parts.append(_legend(y + 20))
    height = y + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img"'
        f" font-family=\"'{FONT}', Verdana, sans-serif\">"
        f"<title>{escape(_title(summary))}</title>"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def _title(summary):
    return "; ".join(
        f"{part.paper.key}: " + ", ".join(f"{row.tested}: {row.verdict}" for row in part.statements)
        for part in summary.parts
    )


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
    parts, x, total = [], 150.0, sum(part.verdicts.values())
    for label, count in part.verdicts.items():
        width = (WIDTH - 225) * count / total if count else 0.0
        if count:
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18"'
                f' fill="{VERDICTS[label].colour}" stroke="#ffffff"><title>{count}'
                f" {label}</title></rect>"
            )
        text = f"{VERDICTS[label].symbol} {count}"
        if width > 8 * len(text):
            parts.append(
                _label(x + width / 2, y + 13.5, text, 11, "bold", VERDICTS[label].ink, "middle")
            )
        x += width
    return "".join(parts) + _label(WIDTH - 12, y + 14, f"{total} values", 11, anchor="end")


def text_width(text, size):
    """Return how wide a text is in the font of the picture."""
    return text_to_path.get_text_width_height_descent(
        text, FontProperties(family=FONT, size=size), ismath=False
    )[0]


def wrapped(text, size, width):
    """Return a text as lines that are at most so wide, but for single words that are wider.

    >>> wrapped("Against random opponents", 12, 100)
    ['Against random', 'opponents']
    """
    lines = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _statement(row, lines, y):
    look = STATEMENTS[row.verdict]
    return (
        "".join(_label(24, y + 13 + 16 * number, line, 12) for number, line in enumerate(lines))
        + f'<rect x="{BADGE}" y="{y}" width="110" height="17" rx="4" fill="{look.colour}"/>'
        + _label(
            WIDTH - 67, y + 12.5, f"{look.symbol} {row.verdict}", 11, "bold", look.ink, "middle"
        )
    )
