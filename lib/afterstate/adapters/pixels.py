"""Drawings of boards as pixels, for ``render_mode="rgb_array"``, by Pillow."""

from xml.etree import ElementTree

import numpy as np

from ..checks import needs

FINER = 3  # boards are drawn three times as large and then reduced, for smooth edges
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}  # of a text, on its base line

ARROWS = str.maketrans("\u25c0\u25b2\u25b6\u25bc", "<^>v")  # which Pillow's own font lacks


def pixels(svg: str) -> np.ndarray:
    """Return a drawing of ``game.view`` as uint8 [height, width, 3]: the shapes of `games.boards`.

    It needs Pillow, which matplotlib brings as well.
    """
    image, draw = (needs(f"PIL.{name}", "gymnasium") for name in ("Image", "ImageDraw"))
    root = ElementTree.fromstring(svg)
    size = [round(float(root.get(side))) for side in ("width", "height")]
    large = image.new("RGB", [FINER * side for side in size], "white")
    _draw(draw.Draw(large), root, 0.0, 0.0)
    return np.asarray(large.resize(size, image.Resampling.BOX))


def _draw(on, part, x, y):
    def long(name, default=0):
        return FINER * float(part.get(name, default))

    kind, fill = part.tag.rpartition("}")[2], part.get("fill")
    colours = {"fill": fill, "outline": part.get("stroke")}
    if part.get("fill-opacity"):  # faint: a place for clicks
        del colours["fill"]
    look = {name: colour for name, colour in colours.items() if colour not in (None, "none")}
    width = max(1, round(long("stroke-width", 1)))
    points = [FINER * float(n) for n in part.get("points", "").replace(",", " ").split()]
    points = [(x + a, y + b) for a, b in zip(points[::2], points[1::2])]
    x, y = x + long("x"), y + long("y")
    if kind == "rect":
        box = (x, y, x + long("width"), y + long("height"))
        on.rounded_rectangle(box, long("rx"), width=width, **look)
    elif kind == "circle":
        on.circle((x + long("cx"), y + long("cy")), long("r"), width=width, **look)
    elif kind == "polygon":
        on.polygon(points, width=width, **look)
    elif kind == "polyline":
        on.line(points, part.get("stroke"), width)
    elif kind == "line":
        ends = [(x + long(f"x{k}"), y + long(f"y{k}")) for k in (1, 2)]
        on.line(ends, part.get("stroke"), width)
    elif kind == "text":
        place = ANCHORS[part.get("text-anchor")]
        shown = (part.text or "").translate(ARROWS)
        on.text((x, y), shown, fill, font_size=long("font-size"), anchor=place)
    for inner in part:
        _draw(on, inner, *((x, y) if kind == "svg" else (x - long("x"), y - long("y"))))
