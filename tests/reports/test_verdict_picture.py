"""The picture of the README: no text runs under a verdict."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from afterstate.papers.statements import HOLDS, UNDECIDED
from afterstate.papers.verdicts import REPRODUCED
from afterstate.reports.labels import VERDICTS
from afterstate.reports.verdict_picture import verdict_svg

SVG = "{http://www.w3.org/2000/svg}"
LONG = "With a search before each move, agents win less against Edax 5 to 9 than without, and more"


def picture(*statements):
    part = SimpleNamespace(
        paper=SimpleNamespace(key="alpha2020"),
        verdicts=dict.fromkeys(VERDICTS, 0) | {REPRODUCED: 3},
        statements=[SimpleNamespace(tested=text, verdict=verdict) for text, verdict in statements],
    )
    svg = verdict_svg(SimpleNamespace(parts=[part], profile="paper"))
    return ElementTree.fromstring(svg)


def under(picture):
    """Return the texts that begin left of a coloured box and end in it, as drawn in the font."""
    boxes = [
        [float(box.get(name)) for name in ("x", "y", "height")]
        for box in picture.iter(SVG + "rect")
        if box.get("x")
    ]
    found = []
    for text in picture.iter(SVG + "text"):
        x, y, size = (float(text.get(name)) for name in ("x", "y", "font-size"))
        if text.get("text-anchor") == "start":
            drawn = TextPath((x, 0), text.text, size=size, prop=FontProperties("DejaVu Sans"))
            end = drawn.get_extents().xmax
            found += [
                text.text
                for left, top, height in boxes
                if x < left < end and top < y < top + height + size
            ]
    return found


def test_a_long_statement_stays_beside_its_verdict():
    seen = picture((f"{LONG}, 250,000 of them", HOLDS), ("Short", UNDECIDED), (LONG * 3, HOLDS))
    assert not under(seen)
    words = " ".join(text.text for text in seen.iter(SVG + "text"))
    assert f"{LONG}, 250,000 of them" in words and LONG * 3 in words


def test_the_lines_of_statements_keep_apart():
    seen = picture((LONG * 2, HOLDS), (LONG, HOLDS), ("Short", UNDECIDED))
    lines = [float(text.get("y")) for text in seen.iter(SVG + "text") if text.get("x") == "24"]
    assert len(lines) >= 4 and all(b - a >= 15 for a, b in zip(lines, lines[1:], strict=False))
