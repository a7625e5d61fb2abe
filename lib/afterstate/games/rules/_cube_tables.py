"""The geometry of Rubik's cubes: the cubies, where twists take them, and where their stickers show.

::

              +-------+          faces   U up, L left, F front, D down, R right, B back
              |   U   |          axes    x to the right, y up, z towards the viewer
      +-------+-------+-------+-------+
      |   L   |   F   |   R   |   B   |     the unfolded net: neighbouring edges of the net
      +-------+-------+-------+-------+     are neighbours on the cube, too
              |   D   |
              +-------+

A *location* is named by its faces, first the one that counts (U or D if there is one, else F or B),
for a corner clockwise as seen from outside: ``UFL`` is the corner of U, F and L. A *cubie* has the
name of its home location; its sticker k is at home on the k-th face of the name. A cubie at a
location has orientation o if its sticker k shows on the face k + o (modulo 3 for corners, 2 for
edges) of the location's name: 0 if its first sticker shows on the location's first face.

A cubie's *code* holds both in five bits: ``location * 4 + orientation`` for corners,
``location * 2 + orientation`` for edges.
"""

import functools

import numpy as np

FACES = "ULFDRB"
NORMALS = {
    "U": (0, 1, 0),
    "L": (-1, 0, 0),
    "F": (0, 0, 1),
    "D": (0, -1, 0),
    "R": (1, 0, 0),
    "B": (0, 0, -1),
}
CORNERS = ("UFL", "URF", "UBR", "ULB", "DFR", "DLF", "DBL", "DRB")
EDGES = ("UF", "UR", "UB", "UL", "FL", "FR", "BL", "BR", "DR", "DF", "DL", "DB")
NET = ("U", "LFRB", "D")  # the faces in the rows of the net
STEPS = {
    "U": ("R", "F"),
    "L": ("F", "D"),
    "F": ("R", "D"),
    "R": ("B", "D"),
    "B": ("L", "D"),
    "D": ("R", "B"),
}  # of the net: right, down
TURNS = ("", "2", "'")  # an action is 3 * face + k: face k + 1 quarter turns clockwise
TWIST_NAMES = tuple(face + turns for face in FACES for turns in TURNS)
CODES = 32  # codes of a corner; those of an edge follow


def corner_code(location, orientation):
    """Return the code of a corner cubie."""
    return 4 * location + orientation


def edge_code(location, orientation):
    """Return the code of an edge cubie."""
    return 2 * location + orientation


def quarter_turn(face) -> dict:
    """Return where a clockwise quarter turn of `face` takes what shows on each face: {from: to}."""
    axis, face_at = np.array(NORMALS[face]), {normal: name for name, normal in NORMALS.items()}
    turned = {}
    for name, normal in NORMALS.items():
        v = np.array(normal)
        turned[name] = face_at[
            tuple((axis * (axis @ v) - np.cross(axis, v)).tolist())
        ]  # Rodrigues, by -90 degrees
    return turned


def _quarter_turn_codes(face) -> np.ndarray:
    """Return what one quarter turn makes of every code: uint8 [2 * CODES]."""
    to, codes = quarter_turn(face), np.arange(2 * CODES) % CODES
    for names, code, first in ((CORNERS, corner_code, 0), (EDGES, edge_code, CODES)):
        by_faces = {frozenset(name): k for k, name in enumerate(names)}
        for location, name in enumerate(names):
            if face not in name:
                continue
            moved = "".join(to[f] for f in name)
            target = by_faces[frozenset(moved)]
            for orientation, shown_on in enumerate(moved):
                codes[first + code(location, orientation)] = code(
                    target, names[target].index(shown_on)
                )
    return codes


def twist_codes() -> np.ndarray:
    """Return what the 18 twists make of every code: uint8 [18, 2 * CODES], corners first."""
    table = []
    for face in FACES:
        once = _quarter_turn_codes(face)
        offset = np.repeat([0, CODES], CODES)
        twice = once[once + offset]
        table += [once, twice, once[twice + offset]]
    return np.array(table, np.uint8)


@functools.cache
def facelets(size) -> tuple:
    """Return what the stickers of the net belong to, row by row.

    Each is (face, "corner" or "edge" or "centre", location, place in the location's name).
    """
    steps = [-1, 1] if size == 2 else [-1, 0, 1]
    return tuple(
        _facelet(face, across, down)
        for band in NET
        for down in steps
        for face in band
        for across in steps
    )


def _facelet(face, across, down):
    to_right, to_bottom = (np.array(NORMALS[step]) for step in STEPS[face])
    place = np.array(NORMALS[face]) + across * to_right + down * to_bottom
    faces = {name for name, normal in NORMALS.items() if place @ np.array(normal) > 0}
    for kind, names in (("corner", CORNERS), ("edge", EDGES)):
        for location, name in enumerate(names):
            if set(name) == faces:
                return face, kind, location, name.index(face)
    return face, "centre", 0, 0


def colours(codes, size) -> str:
    """Return the stickers of the net, row by row, each the letter of the face that it belongs to.

    Parameters
    ----------
    codes : sequence of int, [8] or [20]
        The codes of the corner cubies and, where there are any, of the edge cubies.
    size : int
        2 or 3.
    """
    at = {}
    for cubie, code in enumerate(codes[:8]):
        at["corner", code // 4] = CORNERS[cubie], code % 4
    for cubie, code in enumerate(codes[8:]):
        at["edge", code // 2] = EDGES[cubie], code % 2
    shown = []
    for face, kind, location, place in facelets(size):
        cubie, orientation = (face, 0) if kind == "centre" else at[kind, location]
        shown.append(cubie[(place - orientation) % len(cubie)])
    return "".join(shown)


def codes_of(stickers, size) -> list:
    """Return the codes of the cubies, corners first, from the stickers that :func:`colours` gives.

    Raises
    ------
    ValueError
        If the stickers are not those of a cube that can be solved by twists.
    """
    seen = {"corner": [[""] * 3 for _ in CORNERS], "edge": [[""] * 2 for _ in EDGES]}
    for letter, (face, kind, location, place) in zip(stickers, facelets(size), strict=True):
        if kind != "centre":
            seen[kind][location][place] = letter
        elif letter != face:
            raise ValueError(
                f"the centre of face {face} shows {letter!r}: hold the cube so that each centre "
                "shows its own face"
            )
    codes = [_codes(seen["corner"], CORNERS, corner_code)]
    if size == 3:
        codes.append(_codes(seen["edge"], EDGES, edge_code))
    _check_solvable(codes, size)
    return [code for kind in codes for code in kind]


def _codes(seen, names, code) -> list:
    """Codes of all cubies of a kind, from the letters at each location in the order of its name."""
    codes = {}
    for location, letters in enumerate(seen):
        shown, n = "".join(letters), len(letters)
        for orientation in range(n):
            cubie = shown[orientation:] + shown[:orientation]
            if cubie in names and cubie not in codes:
                codes[cubie] = code(location, orientation)
                break
        else:
            raise ValueError(
                f"the stickers {shown} at {names[location]} belong to no cubie, or to one that is "
                "there already"
            )
    return [codes[name] for name in names]


def _check_solvable(codes, size) -> None:
    corners = codes[0]
    if size == 2 and corners[-1] != corner_code(len(CORNERS) - 1, 0):
        raise ValueError(
            "the corner DRB is not in its place: turn the whole cube so that it is "
            "(only U, L and F are twisted)"
        )
    if sum(code % 4 for code in corners) % 3:
        raise ValueError("one corner is twisted in its place: no twists lead there")
    if size == 3:
        if sum(code % 2 for code in codes[1]) % 2:
            raise ValueError("one edge is flipped in its place: no twists lead there")
        if _odd([code // 4 for code in corners]) != _odd([code // 2 for code in codes[1]]):
            raise ValueError("two cubies are exchanged: no twists lead there")


def _odd(places) -> bool:
    """Whether a permutation is an odd one."""
    return sum(a > b for k, a in enumerate(places) for b in places[k + 1 :]) % 2 == 1
