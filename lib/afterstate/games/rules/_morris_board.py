"""Boards of the Morris games: joined points, lines, and what turns a board into itself.

The points are numbered as drawn in the head of ``morris.py``.
"""

import numpy as np

BOARDS = ((9, 16), (6, 8), (3, 8), (3, 6))  # (men of each player, lines)


def _rings(num_rings):
    """Return lines and steps of concentric squares, joined at the middles of their sides."""
    sides = [
        [8 * ring + (2 * side + i) % 8 for i in range(3)]
        for ring in range(num_rings)
        for side in range(4)
    ]
    spokes = [[8 * ring + i for ring in range(num_rings)] for i in (1, 3, 5, 7)]
    steps = [pair for line in sides + spokes for pair in zip(line, line[1:])]
    return sides + (spokes if num_rings == 3 else []), steps


def _square(lines):
    """Return lines and steps of the three by three board; men step along lines."""
    rows = [[3 * r + c for c in range(3)] for r in range(3)] + [
        [3 * r + c for r in range(3)] for c in range(3)
    ]
    drawn = rows + ([[0, 4, 8], [2, 4, 6]] if lines == 8 else [])
    return drawn, [pair for line in drawn for pair in zip(line, line[1:])]


def geometry(men, lines):
    """Return the board: number of points, lines, steps, and places (x, y) of points on a grid.

    Raises ValueError if there is no such board.
    """
    if (men, lines) not in BOARDS:
        raise ValueError(
            f"there is no board for men={men!r}, lines={lines!r}; (men, lines) is one of"
            f" {', '.join(map(str, BOARDS))}"
        )
    if men == 3:
        return 9, *_square(lines), [(p % 3, p // 3) for p in range(9)]
    num_rings = 3 if men == 9 else 2
    circle = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
    places = [
        (num_rings + (num_rings - ring) * x, num_rings + (num_rings - ring) * y)
        for ring in range(num_rings)
        for x, y in circle
    ]
    return 8 * num_rings, *_rings(num_rings), places


def symmetries(points, lines, steps) -> list:
    """Return all permutations of the points that keep lines and steps, the identity first."""
    beside = [{b for pair in steps for b in pair if a in pair and b != a} for a in range(points)]
    wanted, found = {frozenset(line) for line in lines}, []

    def extend(image):
        if len(image) == points:
            if {frozenset(image[p] for p in line) for line in lines} == wanted:
                found.append(list(image))
            return
        at = len(image)
        for p in range(points):
            if p not in image and all(
                (image[q] in beside[p]) == (q in beside[at]) for q in range(at)
            ):
                extend([*image, p])

    extend([])
    return sorted(found)


def turn_actions(turn, points, actions):
    """Return where a symmetry, in the sense of ``Game(symmetries=...)``, takes every action."""
    goes = np.full(points + 1, -1)  # the last one, also found by the index -1, is "no point"
    goes[turn] = np.arange(points)
    numbers = np.arange((points + 1) * points * (points + 1))
    origin, to, removed = (
        numbers // (points + 1) // points - 1,
        numbers // (points + 1) % points,
        numbers % (points + 1) - 1,
    )
    turned = ((goes[origin] + 1) * points + goes[to]) * (points + 1) + goes[removed] + 1
    return [*turned.tolist(), *range(len(turned), actions)]


def bitboards(points, drawn, steps):
    """Return bitboards: each line; for each point the rest of its lines, and its neighbours."""
    lines = np.array([sum(1 << p for p in line) for line in drawn], np.int64)
    through = [
        [sum(1 << q for q in line if q != p) for line in drawn if p in line] for p in range(points)
    ]
    # -1, all bits, is in no bitboard
    rest = np.full((points, max(map(len, through))), -1, np.int64)
    near = np.zeros(points, np.int64)
    for p in range(points):
        rest[p, : len(through[p])] = through[p]
        near[p] = sum(1 << b for b in {b for pair in steps for b in pair if p in pair} - {p})
    return lines, rest, near


def neighbours(points, steps) -> list:
    """Return the cells beside each point; beside a hand are the other one and all points."""
    beside = [
        sorted({b for pair in steps for b in pair if a in pair and b != a}) for a in range(points)
    ]
    return beside + [[points + 1, *range(points)], [points, *range(points)]]
