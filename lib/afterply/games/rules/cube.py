"""Rubik's cube, 2x2x2 and 3x3x3, in the half-turn metric: twist faces until each shows one colour.

::

    specification  cube2                           cube3
    actions        twists
    cells          locations, then orientations; corners, then edges
    reward         1 when solved
    start          a scramble
    checked        against magiccube, known counts and orders of twists
    coordinates    none: twists as cubers write them

              U U            actions   3 * face + k: faces U, L, F (2x2x2) or U, L, F, D, R, B
              U U                      (up, left, front, down, right, back),
          L L F F R R B B              k = 0, 1, 2: a quarter turn clockwise, a half turn,
          L L F F R R B B              a quarter turn back; named U U2 U' L L2 L' ...
              D D            The corner DRB of the 2x2x2 never moves,
              D D            so a turn of the whole cube is no other state.

    state (int32), a byte for each cubie: its code = location and orientation
     s[0], s[1]         the corners UFL URF UBR ULB, DFR DLF DBL DRB; the first in the lowest byte
     s[2], s[3], s[4]   3x3x3: the edges UF UR UB UL, FL FR BL BR, DR DF DL DB
     s[last]            the last twist + 1; 0 = none, as after a scramble

    legal    all twists but the inverse of the last one (twisting the same face on is legal)
    start    a scramble of p twists, p uniform in min_twists .. max_twists, no two in a row of
             the same face; scrambled again if solved
    over     solved

    cell codes   2x2x2: 0-6 locations (7 values) and 7-13 orientations (3) of UFL ... DBL
                 3x3x3: 0-7 locations (8) and 8-15 orientations (3) of the corners,
                 16-27 locations (12) and 28-39 orientations (2) of the edges

A *location* is named by its faces, first the one that counts (U or D if there is one, else F or B),
for a corner clockwise as seen from outside: ``UFL`` is the corner of U, F and L. A *cubie* has the
name of its home location; its sticker k is at home on the k-th face of the name. A cubie at a
location has orientation o if its sticker k shows on the face k + o (modulo 3 for corners, 2 for
edges) of the location's name. Its code holds both in five bits: ``location * 4 + orientation`` for
corners, ``location * 2 + orientation`` for edges.

Reward: 1 when solved. What a twist costs is a parameter of the learner (``step_reward``, -0.04 in
the paper's program), and so is the length of an episode that is given up (``max_plies``, 16 and
13). The same cube with other numbers of twists is another game, which refuses the agent.

The paper's program tracks one sticker of each cubie. Two of its eight corner stickers are on the
cubie UFL and none on ULB (``corner_stickers="original"``); and at the edge locations UF, UB, DF
and DB both faces have the same number, so that the orientation there is lost
(``edge_stickers="original"``).

Known: 3,674,160 states of the 2x2x2, at most 11 twists from solved; 43,252,003,274,489,856,000
of the 3x3x3, at most 20.
Source: [scheiermann2022] Sec. III-A.3, IV-C, Table I. Deviations: D15, D16, D17, D23.
"""

import functools
import itertools

import numpy as np

from ...checks import one_of, whole
from ...kernel.compile import kernel
from ...kernel.random import random_int
from .. import drawing as draw
from ..drawing import INK, PAD, Drawing, Look, Place
from ..game import Game
from . import named

CUBES = ("cube2", "cube3")
FACES = "ULFDRB"
# the direction of each face: x to the right, y up, z towards the viewer
NORMALS = np.array([(0, 1, 0), (-1, 0, 0), (0, 0, 1), (0, -1, 0), (1, 0, 0), (0, 0, -1)])
NORMAL = dict(zip(FACES, NORMALS))
CORNERS = ("UFL", "URF", "UBR", "ULB", "DFR", "DLF", "DBL", "DRB")
EDGES = ("UF", "UR", "UB", "UL", "FL", "FR", "BL", "BR", "DR", "DF", "DL", "DB")
NUM_CORNERS, NUM_EDGES = len(CORNERS), len(EDGES)
# kind of cubies, names, codes of a location, number of the first
KINDS = (("corner", CORNERS, 4, 0), ("edge", EDGES, 2, NUM_CORNERS))
NET = ("U", "LFRB", "D")  # the faces in the rows of the net
IN_ORDER = "".join(NET)
COLOURS = dict(U="#ffffff", L="#1f5fbf", F="#f28c28", R="#2e9e4f", B="#c8252c", D="#f7d22e")
FACE, GAP = 84, 4  # of a drawing: side of a face, and between faces
# the faces to which one comes from a face of the net by going right, and down
STEPS = {
    "U": ("R", "F"),
    "L": ("F", "D"),
    "F": ("R", "D"),
    "R": ("B", "D"),
    "B": ("L", "D"),
    "D": ("R", "B"),
}
TURNS = ("", "2", "'")  # an action is 3 * face + k: face k + 1 quarter turns clockwise
TWIST_NAMES = tuple(face + turns for face in FACES for turns in TURNS)
CODES = 32  # codes of a corner; those of an edge follow
TWICE = 3  # cell of the cubie ULB, which the original fills with UFL seen from its sticker on L
# the edge locations whose orientation the original loses
BLURRED = sum(1 << EDGES.index(name) for name in ("UF", "UB", "DF", "DB"))
MAX_TWISTS = 10_000


def _quarter_turn(face) -> np.ndarray:
    """Return what a clockwise quarter turn of a face makes of every code, edges after corners."""
    codes = np.arange(2 * CODES)
    to = _faces_after_turn(face)
    for names, unit, first in ((CORNERS, 4, 0), (EDGES, 2, CODES)):
        locations = [set(name) for name in names]
        for location, name in enumerate(names):
            if face in name:
                moved = [to[f] for f in name]
                target = locations.index(set(moved))
                for orientation, shown_on in enumerate(moved):
                    after = first + unit * target + names[target].index(shown_on)
                    codes[first + unit * location + orientation] = after
    return codes


def _faces_after_turn(face) -> dict:
    """Return where a clockwise quarter turn of a face takes stickers: face -> face."""
    axis = NORMAL[face]
    directions = NORMALS.tolist()
    to = {}
    for name, direction in NORMAL.items():
        turned = axis * (axis @ direction) - np.cross(axis, direction)  # Rodrigues, by -90 degrees
        to[name] = FACES[directions.index(turned.tolist())]
    return to


def _twist_table() -> np.ndarray:
    """Return what the 18 twists make of every code, corners first: [action * 2 * CODES + code]."""
    twists = []
    for face in FACES:
        once = _quarter_turn(face)
        twists += [once, once[once], once[once[once]]]
    return (np.array(twists) % CODES).ravel().astype(np.uint8)


TWISTS = _twist_table()

HOME = np.concatenate([4 * np.arange(NUM_CORNERS), 2 * np.arange(NUM_EDGES)])
# four cubies in a number; the 2x2x2 has the first two numbers
SOLVED = (HOME.reshape(-1, 4) @ 256 ** np.arange(4)).astype(np.int32)


@kernel
def twist(s, words, action):
    """Twist a face: the first `words` numbers of a state, each of four cubies, are changed."""
    row = np.uint64(action) * np.uint64(2 * CODES)
    for w in range(words):
        at = row + np.uint64(CODES if w >= 2 else 0)
        four = np.uint64(np.uint32(s[w]))
        a = np.uint32(TWISTS[at + (four & np.uint64(31))])
        b = np.uint32(TWISTS[at + (four >> np.uint64(8) & np.uint64(31))])
        c = np.uint32(TWISTS[at + (four >> np.uint64(16) & np.uint64(31))])
        d = np.uint32(TWISTS[at + (four >> np.uint64(24))])
        s[w] = np.int32(a | b << np.uint32(8) | c << np.uint32(16) | d << np.uint32(24))


@kernel
def is_solved(s, words):
    """Return whether the first `words` numbers of a state are those of the solved cube."""
    same = True
    for w in range(words):
        same &= s[w] == SOLVED[w]
    return same


@kernel
def code_of(s, cubie):
    """Return the code of a cubie; the edges follow the eight corners."""
    return s[cubie >> 2] >> np.int32(8 * (cubie & 3)) & np.int32(31)


@kernel
def packed(four):
    """Return the codes of the four cubies of one number of a state in 20 bits."""
    x = np.uint64(np.uint32(four))
    return (
        x & np.uint64(0x1F)
        | x >> np.uint64(3) & np.uint64(0x3E0)
        | x >> np.uint64(6) & np.uint64(0x7C00)
        | x >> np.uint64(9) & np.uint64(0xF8000)
    )


@kernel
def corner_key(s):
    """Return the codes of the eight corners in 40 bits."""
    return packed(s[0]) | packed(s[1]) << np.uint64(20)


@kernel
def edge_key(s):
    """Return the codes of the twelve edges in 60 bits."""
    return packed(s[2]) | packed(s[3]) << np.uint64(20) | packed(s[4]) << np.uint64(40)


# as in [scheiermann2022] Sec. IV-C with fewer games: a twist costs, and a hopeless cube is given up
SETTINGS = {
    "alpha": 0.25,
    "epsilon": 0.0,
    "sigmoid": False,
    "tc": "id",
    "step_reward": -0.04,
    "learn_from_random": False,
}
SETTINGS2 = {"tuples": {"random_walk": 60, "length": 7}, "max_plies": 16, "episodes": 1_000_000}
SETTINGS3 = {"tuples": {"random_walk": 120, "length": 7}, "max_plies": 13, "episodes": 500_000}


@kernel
def twist_randomly(s, words, actions, twists, rng):
    """Make an unsolved cube by random twists, no two in a row of the same face (D15)."""
    again = True
    while again:  # it may come out solved
        for w in range(words):
            s[w] = SOLVED[w]
        face = -1
        for k in range(twists):
            action = random_int(rng, actions if k == 0 else actions - 3)
            if k > 0 and action >= 3 * face:  # every twist of another face
                action += 3
            twist(s, words, action)
            face = action // 3
        again = is_solved(s, words)
    s[words] = 0  # no last twist


def cube2(max_twists: int = 13, min_twists: int = 1) -> Game:
    """Make the 2x2x2 cube; its start is `min_twists` to `max_twists` twists from solved."""
    return _cube(2, min_twists, max_twists)


def cube3(
    max_twists: int = 9,
    min_twists: int = 1,
    corner_stickers: str = "complete",
    edge_stickers: str = "complete",
) -> Game:
    """Make the 3x3x3 cube; its start is `min_twists` to `max_twists` twists from solved.

    The stickers are "complete", or as the paper's "original" program tracks them (see above).
    """
    one_of("corner_stickers", corner_stickers, ("complete", "original"))
    one_of("edge_stickers", edge_stickers, ("complete", "original"))
    blurred = BLURRED if edge_stickers == "original" else 0
    return _cube(3, min_twists, max_twists, corner_stickers == "original", blurred)


def _cube(size, min_twists, max_twists, twice=False, blurred=0):
    """Make the cube of a size; `twice`: the original's corners; `blurred`: its edge locations."""
    whole("min_twists", min_twists, 1, MAX_TWISTS)
    whole("max_twists", max_twists, 1, MAX_TWISTS)
    if min_twists > max_twists:
        raise ValueError(f"max_twists={max_twists} must be at least min_twists={min_twists}")
    if size == 2:
        corners, edges = 7, 0  # those that move
        words = 2  # numbers of a state without the last twist
        actions = 9
    else:
        corners, edges = NUM_CORNERS, NUM_EDGES
        words = len(SOLVED)
        actions = 18
    last = words
    names = TWIST_NAMES[:actions]

    # The rules

    def start(s, rng):
        twists = min_twists + random_int(rng, max_twists - min_twists + 1)
        twist_randomly(s, words, actions, twists, rng)

    def start_at(s, twists, rng):
        twist_randomly(s, words, actions, twists, rng)

    def legal(s, moves):
        # the inverse is of the same face, and both together are four quarter turns
        before = np.int64(s[last]) - 1
        undo = -1
        if before >= 0:
            undo = 6 * (before // 3) + 2 - before
        n = 0
        for action in range(actions):
            moves[n] = action  # without a branch: overwritten by the next one if not legal
            n += action != undo
        return n

    def play(s, action):
        twist(s, words, action)
        s[last] = action + 1

    def player(s):
        return 0

    def over(s):
        return is_solved(s, words)

    def score(s, r):
        r[0] = 1.0 if is_solved(s, words) else 0.0

    # What networks and searches see

    def board(s, cells):
        for c in range(corners):
            cells[c] = code_of(s, c) >> np.int32(2)
            cells[corners + c] = code_of(s, c) & np.int32(3)
        if twice:
            cells[TWICE] = cells[0]
            turned = cells[corners] + np.int32(2)  # L is the third face of UFL
            cells[corners + TWICE] = turned % np.int32(3)
        for e in range(edges):
            code = code_of(s, corners + e)
            cells[2 * corners + e] = code >> np.int32(1)
            lost = np.int32(blurred) >> (code >> np.int32(1))
            cells[2 * corners + edges + e] = code & np.int32(1) & ~lost

    def key(s, k):
        k[0] = corner_key(s)
        k[1] = np.uint64(s[last])
        if size == 3:
            k[0] |= k[1] << np.uint64(40)
            k[1] = edge_key(s)

    # Texts, arrays and states from outside

    def render(s):
        lines = []
        stickers = iter(stickers_of(s))
        for band in NET:
            margin = " " * (2 * size) if len(band) == 1 else ""
            for _ in range(size):
                row = itertools.islice(stickers, size * len(band))
                lines.append(margin + " ".join(row))
        last_twist = names[s[-1] - 1] if s[-1] else "none"
        numbers = " ".join(map(str, s))
        return "\n".join([*lines, f"last twist: {last_twist}", f"state: {numbers}"])

    def parse(text):
        """Read the numbers of a state, or the solved cube after twists: ``after U R2 F'``."""
        if text.split()[:1] == ["after"]:
            s = np.array([*SOLVED[:words], 0], np.int32)
            for name in map(usual, text.split()[1:]):
                if name not in names:
                    raise ValueError(f"{name!r} is no twist; they are {', '.join(names)}")
                twist(s, words, names.index(name))
            return s
        numbers = text.rpartition("state:")[2].split()
        if len(numbers) != words + 1 or not all(word.isdigit() for word in numbers):
            raise ValueError(
                f"a cube is 'state:' and {words + 1} numbers, or 'after {names[3]} {names[1]}', the"
                f" solved cube after these twists; not {text!r}"
            )
        return np.array(numbers, np.int32)

    def from_codes(codes, player, last=None):
        last_twist = 0
        if last is not None:
            last_twist = names.index(one_of("last", last, names)) + 1
        colours = [IN_ORDER[code] for code in codes]
        cubies = _cubies_shown(colours, size)
        for colour, (face, kind, _, _) in zip(colours, facelets(size)):
            if kind == "centre" and colour != face:
                raise ValueError("the centres never move: turn the whole cube to U L F R B D")
        numbers = (cubies.reshape(-1, 4) @ 256 ** np.arange(4))[:words]
        return np.array([*numbers, last_twist], np.int32)

    def fault(s):
        codes = codes_of(s)
        parities = []  # of the permutations of corners and of edges
        for kind, unit, orientations in ((codes[:NUM_CORNERS], 4, 3), (codes[NUM_CORNERS:], 2, 2)):
            locations, turned = np.divmod(kind, unit)
            all_there = (np.sort(locations) == np.arange(len(kind))).all()
            if not all_there or (turned >= orientations).any():
                return "a cubie is nowhere, or two are in one place"
            if turned.sum() % orientations:
                return "a single cubie is turned, which no twist does"
            pairs = itertools.combinations(locations.tolist(), 2)
            parities.append(sum(a > b for a, b in pairs) % 2)
        if size == 2 and codes[-1] != HOME[NUM_CORNERS - 1]:
            return "the corner DRB is not in its place"
        if size == 3 and parities[0] != parities[1]:
            return "two cubies are exchanged, which no twist does"
        if not 0 <= s[-1] <= actions:
            return f"there is no twist {s[-1]}"
        return None

    def touch(numbers, action, places):
        return 0  # a twist has a button

    bands = np.split(np.arange(6 * size**2), [size**2, 5 * size**2])  # the net's rows: U, LFRB, D
    middle = bands[1].reshape(size, 4, size).swapaxes(0, 1)
    layout = [bands[0].reshape(size, size), *middle, bands[2].reshape(size, size)]
    neighbours = []  # corners beside corners, edges beside edges
    for kind in (range(2 * corners), range(2 * corners, 2 * (corners + edges))):
        neighbours += [[other for other in kind if other != cell] for cell in kind]
    num_codes = [corners] * corners + [3] * corners + [edges] * edges + [2] * edges
    settings_of_size = SETTINGS2 if size == 2 else SETTINGS3
    return Game(
        f"cube{size}",
        title=f"Cube {size}x{size}x{size}",
        aim=(
            "Turn the cube until each face shows one colour only. A move twists a face: the "
            "letter says which (up, left, front, down, right, back), 2 means half a turn, ' a "
            "quarter turn to the left."
        ),
        **named(start, legal, play, player, over, score, board, key),
        **named(render, parse, fault, from_codes, touch, start_at),
        shown=rule_shown(size),
        levels=max_twists,
        names=dict(enumerate(names)),
        drawing=_drawing(size, names),
        num_shown=6 * size**2 + 1,
        actions=actions,
        players=1,
        size=words + 1,
        num_codes=num_codes,
        layout=layout,
        marks=range(6),
        score_range=(0.0, 1.0),
        neighbours=neighbours,
        # as in the paper's trainings and searches: D7, D10, D16
        search_settings={"max_depth": 50, "path_rewards": False, "step_reward": -0.04},
        settings=SETTINGS | settings_of_size,
        progress=("", 100, "% solved"),
        version=1,
    )


def usual(name: str) -> str:
    """Return the name of a twist as ours are written: ``R’`` is ``R'``, ``R2'`` is ``R2``."""
    return name.replace("’", "'").replace("2'", "2")


def codes_of(s) -> np.ndarray:
    """Return the codes of the cubies of a state, corners first: int [8] or [20]."""
    return (s[:-1, None] >> 8 * np.arange(4) & 255).ravel()


def stickers_of(s) -> str:
    """Return the stickers of the net of a state, row by row, as letters of their faces."""
    size = 2 if len(s) == 3 else 3
    numbers = np.zeros(6 * size**2 + 1, np.int32)
    rule_shown(size)(s, numbers)
    return "".join(IN_ORDER[face] for face in numbers[:-1])


def _cubies_shown(colours, size) -> np.ndarray:
    """Return the codes of the cubies, int [20], of which stickers in these colours are seen.

    `colours` are those of the net, as letters of faces. The 2x2x2 has no edges, whose codes are -1.
    """
    colour_at = {}  # kind, location, place in its name -> colour
    for colour, (_, kind, location, place) in zip(colours, facelets(size)):
        colour_at[kind, location, place] = colour
    codes = np.full(len(HOME), -1)
    for kind, names, unit, first in KINDS[: size - 1]:
        for location, name in enumerate(names):
            seen = "".join(colour_at[kind, location, place] for place in range(len(name)))
            turned = [seen[k:] + seen[:k] for k in range(len(seen))]
            fitting = [cubie for cubie in range(len(names)) if names[cubie] in turned]
            if not fitting or codes[first + fitting[0]] >= 0:
                raise ValueError(f"there is no cubie with the colours {seen} left for {name}")
            cubie = fitting[0]
            codes[first + cubie] = unit * location + turned.index(names[cubie])
    return codes


def _sticker_table(size) -> np.ndarray:
    """Return what a rule must know to find the colours of the net, int64 [stickers, 6].

    Of each sticker: first cubie and number of cubies that may show there, codes of a location and
    faces of such a cubie, its location, the place in its name. A centre has no cubie, and its face
    in the place of the location.
    """
    rows = []
    for face, wanted, location, place in facelets(size):
        row = (0, 0, 1, 1, IN_ORDER.index(face), 0)
        for kind, names, unit, first in KINDS:
            if kind == wanted:
                row = (first, len(names), unit, len(names[0]), location, place)
        rows.append(row)
    return np.array(rows)


# [cubie, place in its name] the faces of a cubie, as numbers in the order of the net
FACES_OF = np.zeros((len(HOME), 3), np.int64)
for _cubie, _name in enumerate(CORNERS + EDGES):
    FACES_OF[_cubie, : len(_name)] = [IN_ORDER.index(face) for face in _name]


@functools.cache
def rule_shown(size):
    """Return the rule of a size that writes the colours of the net, and the last twist."""
    stickers = _sticker_table(size)
    num_stickers = len(stickers)

    def shown(s, numbers):
        for k in range(num_stickers):
            first, num_cubies, unit, num_faces, location, place = stickers[k]
            numbers[k] = location  # of a centre: its face
            for cubie in range(first, first + num_cubies):
                code = np.int64(s[cubie >> 2]) >> (8 * (cubie & 3)) & 31
                if code // unit == location:
                    numbers[k] = FACES_OF[cubie, (place - code % unit) % num_faces]
        numbers[num_stickers] = s[-1]

    return shown


def _drawing(size, twist_names) -> Drawing:
    """Return the drawing: the net of the cube, and the last twist."""
    side = FACE / size
    places = []
    for (row, band), down in itertools.product(enumerate(NET), range(size)):
        for k in range(size * len(band)):
            # a row of one face stands above, or below, the second one of the others
            column = k // size + (len(band) == 1)
            x = PAD + (FACE + GAP) * column + side * (k % size + 0.5)
            y = PAD + (FACE + GAP) * row + side * (down + 0.5)
            places.append(Place((x, y), draw.square(side - 2, stroke=INK, rx=3), len(places)))
    last_twist = {}
    for action, name in enumerate(twist_names):
        text = draw.text_at(0, 0, f"last twist {name}", 13, anchor="start")
        last_twist[action + 1] = Look(text)
    at = (PAD + 2 * (FACE + GAP), PAD + 16)
    return Drawing(
        places=places,
        looks={IN_ORDER.index(face): Look(fill=colour) for face, colour in COLOURS.items()},
        others=[Place(at, None, len(places), looks=last_twist)],
        width=2 * PAD + 4 * FACE + 3 * GAP,
        height=2 * PAD + 3 * FACE + 2 * GAP,
    )


@functools.cache
def facelets(size) -> tuple:
    """Return of each sticker of the net: face, kind of cubie, location, place in its name."""
    steps = [-1, 1] if size == 2 else [-1, 0, 1]
    stickers = []
    for band in NET:
        for down, face, across in itertools.product(steps, band, steps):
            to_right, to_bottom = STEPS[face]
            position = NORMAL[face] + across * NORMAL[to_right] + down * NORMAL[to_bottom]
            faces = {name for name in FACES if position @ NORMAL[name] > 0}
            stickers.append((face, *_sticker_on(face, faces)))
    return tuple(stickers)


def _sticker_on(face, faces) -> tuple:
    """Return kind, location and place in its name of a sticker on the cubie of some faces."""
    for kind, names, *_ in KINDS:
        for location, name in enumerate(names):
            if set(name) == faces:
                return kind, location, name.index(face)
    return "centre", 0, 0
