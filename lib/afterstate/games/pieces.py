"""Boards as SVG text: heaps of stones, points that are joined by lines, houses of seeds."""

from .svg import (
    CELL,
    INK,
    LEGEND_HEIGHT,
    LEGEND_WIDTH,
    LINE,
    MARKED,
    PAD,
    PAPER,
    SOFT,
    cell_group,
    disc,
    document,
    finite_values,
    heading,
    heading_width,
    ink_on,
    legend,
    number,
    text_at,
    value_colour,
)


def heaps_svg(heaps, values=None, last=None, limit=1.0, title="", take=None, size=None):
    """Draw Nim heaps as rows of stones; a move takes a circle and all to its right.

    Parameters
    ----------
    heaps : sequence of int
        At least 0 each.
    values : dict, optional
        Action -> value.
    last : int, optional
        The last action: its stones are dashed circles.
    limit, title : float, str
        End of the colour scale, above 0; the heading.
    take, size : int, optional
        Most stones of a move: action = heap * take + stones taken - 1; stones that fit in a row.

    Raises
    ------
    ValueError
        If a heap is negative or a value belongs to an impossible move.
    """
    heaps = [int(heap) for heap in heaps]
    if any(heap < 0 for heap in heaps):
        raise ValueError(f"heap of {min(heaps)} stones; heaps are counts from 0 on")
    take = take or max([1, *heaps])
    values = {
        (action // take, action % take + 1): value
        for action, value in finite_values(values).items()
    }
    for heap, count in values:
        if not (0 <= heap < len(heaps) and count <= heaps[heap]):
            raise ValueError(
                f"value for taking {count} from heap {heap + 1}, which the heaps {heaps} do not"
                " allow"
            )
    taken = {} if last is None else {last // take: last % take + 1}
    rows = [heap + taken.get(row, 0) for row, heap in enumerate(heaps)]
    top, left = PAD + (22 if title else 0), PAD + 22
    parts = [heading(title)]
    for row, heap in enumerate(heaps):
        y = top + CELL * (row + 0.5)
        parts.append(text_at(PAD + 8, y + 5, str(heap), 14, SOFT))
        for stone in range(rows[row]):
            x, value = left + CELL * (stone + 0.5), values.get((row, heap - stone))
            drawn = disc(x, y, value, stone >= heap, limit)
            # a click on a stone takes it and all to its right
            ours = 0 < heap - stone <= take
            parts.append(cell_group(row * take + heap - stone - 1, drawn) if ours else drawn)
    width, height = left + CELL * max([size or 1, *rows]) + PAD, top + CELL * len(heaps) + PAD
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(
            legend(PAD, height, width - 2 * PAD, limit, "a circle = taking it and all to its right")
        )
        height += LEGEND_HEIGHT + 16
    return document(max(width, heading_width(title)), height, parts)


def points_svg(places, steps, marks, values=None, last=None, limit=1.0, title="", names=None):
    """Draw a board whose men stand on points that are joined by lines.

    Parameters
    ----------
    places : sequence of (x, y) [points]
        In grid units from 0 on.
    steps : sequence of pairs of points
        Those joined by a line.
    marks : sequence of str [points]
        "x", "o" or ".".
    values : dict, optional
        Point -> value.
    last : int, optional
        Point of the last move.
    limit : float
        End of the colour scale, above 0.
    title : str
    names : sequence of str [points], optional
        Written beside the points.

    Raises
    ------
    ValueError
        If marks and points differ in number or a value belongs to no point.
    """
    values = finite_values(values)
    if len(marks) != len(places) or any(not 0 <= point < len(places) for point in values):
        raise ValueError(
            f"{len(places)} points, {len(marks)} marks and values for {sorted(values)} do not fit"
            " together"
        )
    top = PAD + (22 if title else 0)
    centres = [(PAD + CELL * (x + 0.5), top + CELL * (y + 0.5)) for x, y in places]
    parts = [heading(title)]
    for (ax, ay), (bx, by) in ((centres[a], centres[b]) for a, b in steps):
        parts.append(
            f'<line x1="{ax:g}" y1="{ay:g}" x2="{bx:g}" y2="{by:g}" stroke="{LINE}"'
            ' stroke-width="2"/>'
        )
    for point, (x, y) in enumerate(centres):
        parts.append(cell_group(point, _point(x, y, marks[point], values.get(point), limit)))
        if point == last:
            parts.append(_ring(x, y))
        if names:
            parts.append(text_at(x + 25, y + 24, names[point], 10, SOFT))
    width, height = (2 * PAD + CELL * (max(axis) + 1) for axis in zip(*places))
    height += top - PAD
    if values:
        width = max(width, LEGEND_WIDTH)
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(max(width, heading_width(title)), height, parts)


def _point(x, y, mark, value, limit):
    """Draw a point: a man of one of the colours, a value, or a dot, on a disc that takes clicks."""
    empty = LINE if value is None else value_colour(value, limit)
    fill = {"x": INK, "o": PAPER}.get(mark, empty)
    drawn = (
        f'<circle cx="{x:g}" cy="{y:g}" r="{4 if mark == "." and value is None else 20}"'
        f' fill="{fill}" stroke="{INK if mark == "o" else LINE}" stroke-width="2"/>'
        f'<circle cx="{x:g}" cy="{y:g}" r="22" fill="{PAPER}" fill-opacity="0"/>'
    )
    return drawn if value is None else drawn + text_at(x, y + 5, number(value), 12, ink_on(fill))


def _ring(x, y):
    """Draw what marks the last move."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="20" fill="none" stroke="{MARKED}" stroke-width="5"/>'


def houses_svg(rows, stores, names, values=None, last=None, limit=1.0, title=""):
    """Draw a board of Kalah: two rows of houses with their seeds, a store at each end.

    Parameters
    ----------
    rows : (sequence of int, sequence of int)
        Seeds of the upper and of the lower row, each from left to right.
    stores : (int, int)
        Seeds in the left and in the right store.
    names : (sequence of str, sequence of str)
        Names of the houses, as `rows`.
    values : dict, optional
        House -> value, where the upper row is 0, 1, ... and the lower one goes on counting.
    last : int, optional
        House of the last move.
    limit : float
        End of the colour scale, above 0.
    title : str

    Raises
    ------
    ValueError
        If the rows differ in length or a value belongs to no house.
    """
    values, length = finite_values(values), len(rows[0])
    if len(rows[1]) != length or any(not 0 <= house < 2 * length for house in values):
        raise ValueError(f"{rows} and values for {sorted(values)} do not fit together")
    top, parts = PAD + 18 + (22 if title else 0), [heading(title)]
    for house, seeds in enumerate([*rows[0], *rows[1]]):
        row, column = divmod(house, length)
        x, y, value = (
            PAD + CELL * (column + 1.5),
            top + CELL * (1.25 * row + 0.5),
            values.get(house),
        )
        fill = PAPER if value is None else value_colour(value, limit)
        edge, thick = (MARKED, 5) if house == last else (LINE, 2)
        drawn = (
            f'<circle cx="{x:g}" cy="{y:g}" r="24" fill="{fill}" stroke="{edge}"'
            f' stroke-width="{thick}"/>'
            + text_at(x, y + (0 if value is not None else 7), seeds, 20, ink_on(fill))
        )
        if value is not None:
            drawn += text_at(x, y + 16, number(value), 11, ink_on(fill))
        parts.append(cell_group(house, drawn))
        parts.append(text_at(x, y + (41 if row else -30), names[row][column], 12, SOFT))
    for column, seeds in zip((0, length + 1), stores):
        x = PAD + CELL * column + 4
        size = f'width="{CELL - 8}" height="{2 * CELL}" rx="18"'
        parts.append(f'<rect x="{x}" y="{top + 7}" {size} fill="{PAPER}" stroke="{LINE}"/>')
        parts.append(text_at(x + CELL / 2 - 4, top + 1.25 * CELL, seeds, 22, weight="bold"))
    width, height = 2 * PAD + CELL * (length + 2), top + 2.25 * CELL + PAD + 18
    if values:
        parts.append(legend(PAD, height, width - 2 * PAD, limit))
        height += LEGEND_HEIGHT
    return document(max(width, heading_width(title)), f"{height:g}", parts)
