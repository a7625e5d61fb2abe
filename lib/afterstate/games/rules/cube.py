"""Rubik's cube, 2x2x2 and 3x3x3, in the half-turn metric: twist faces until each shows one colour.

::

    specification  cube2                           cube3
    players        1
    actions        9, at most 9 legal: twists      18, at most 18 legal: twists
    cells   7 of 7 codes and 7 of 3: below   8 of 8 codes and 8 of 3 and 12 of 12 and 12 of 2: below
    symmetries     1
    chance         none
    reward         0 to 1: 1 when solved
    start          the default, a scramble
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

import numpy as np

from ...checks import one_of, whole
from ...kernel.compile import kernel
from ...kernel.random import random_int
from ..boards import net_svg
from ..game import Game
from . import named

FACES = "ULFDRB"
NORMALS = np.array([(0, 1, 0), (-1, 0, 0), (0, 0, 1), (0, -1, 0), (1, 0, 0), (0, 0, -1)])
CORNERS = ("UFL", "URF", "UBR", "ULB", "DFR", "DLF", "DBL", "DRB")
EDGES = ("UF", "UR", "UB", "UL", "FL", "FR", "BL", "BR", "DR", "DF", "DL", "DB")
NUM_CORNERS, NUM_EDGES = len(CORNERS), len(EDGES)
NET = ("U", "LFRB", "D")  # the faces in the rows of the net
# the faces to which one comes from a face of the net by going right, and down
STEPS = {"U": "RF", "L": "FD", "F": "RD", "R": "BD", "B": "LD", "D": "RB"}
TURNS = ("", "2", "'")  # an action is 3 * face + k: face k + 1 quarter turns clockwise
TWIST_NAMES = tuple(face + turns for face in FACES for turns in TURNS)
CODES = 32  # codes of a corner; those of an edge follow
TWICE = 3  # cell of the cubie ULB, which the original fills with UFL seen from its sticker on L
# the edge locations whose orientation the original loses
BLURRED = sum(1 << EDGES.index(name) for name in ("UF", "UB", "DF", "DB"))
MAX_TWISTS = 10_000


def corner_code(location, orientation):
    """Return the code of a corner cubie."""
    return 4 * location + orientation


def edge_code(location, orientation):
    """Return the code of an edge cubie."""
    return 2 * location + orientation


def normal(face) -> np.ndarray:
    """Return the direction of a face: x to the right, y up, z towards the viewer."""
    return NORMALS[FACES.index(face)]


def quarter_turn(face) -> dict:
    """Return where a clockwise quarter turn of `face` takes what shows on each face: {from: to}."""
    axis, directions = normal(face), NORMALS.tolist()
    turned = [axis * (axis @ v) - np.cross(axis, v) for v in NORMALS]  # Rodrigues, by -90 degrees
    return {name: FACES[directions.index(v.tolist())] for name, v in zip(FACES, turned)}


def _quarter_turn_codes(face) -> np.ndarray:
    """Return what one quarter turn makes of every code: [2 * CODES]."""
    to, codes = quarter_turn(face), np.arange(2 * CODES) % CODES
    for names, code, first in ((CORNERS, corner_code, 0), (EDGES, edge_code, CODES)):
        for location, name in enumerate(names):
            if face in name:
                moved = "".join(to[f] for f in name)
                target = [set(other) for other in names].index(set(moved))
                for orientation, shown_on in enumerate(moved):
                    after = code(target, names[target].index(shown_on))
                    codes[first + code(location, orientation)] = after
    return codes


def twist_codes() -> np.ndarray:
    """Return what the 18 twists make of every code: uint8 [18, 2 * CODES], corners first."""
    table, offset = [], np.repeat([0, CODES], CODES)
    for face in FACES:
        once = _quarter_turn_codes(face)
        twice = once[once + offset]
        table += [once, twice, once[twice + offset]]
    return np.array(table, np.uint8)


TWISTS = twist_codes().ravel()  # [action * 2 * CODES + code]


def _words(codes) -> list:
    """Return the numbers of a state, without the last twist, from the codes of its cubies."""
    fours = [codes[w : w + 4] for w in range(0, len(codes), 4)]
    return [sum(code << 8 * k for k, code in enumerate(four)) for four in fours]


CORNERS_HOME = [corner_code(k, 0) for k in range(NUM_CORNERS)]
EDGES_HOME = [edge_code(k, 0) for k in range(NUM_EDGES)]
SOLVED = np.array(_words(CORNERS_HOME + EDGES_HOME), np.int32)  # the 2x2x2 has the first two
WORDS = {2: NUM_CORNERS // 4, 3: len(SOLVED)}  # numbers of a state without the last twist


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


def cube2(max_twists: int = 13, min_twists: int = 1):
    """Make the 2x2x2 cube; its start is `min_twists` to `max_twists` twists from solved."""
    corners = NUM_CORNERS - 1

    def board(s, cells):
        for c in range(corners):
            cells[c] = code_of(s, c) >> np.int32(2)
            cells[corners + c] = code_of(s, c) & np.int32(3)

    def key(s, words):
        words[0] = corner_key(s)
        words[1] = np.uint64(s[2])

    return _cube(2, min_twists, max_twists, board, key, [corners] * corners + [3] * corners, None)


def cube3(
    max_twists: int = 9,
    min_twists: int = 1,
    corner_stickers: str = "complete",
    edge_stickers: str = "complete",
):
    """Make the 3x3x3 cube; its start is `min_twists` to `max_twists` twists from solved.

    The stickers are "complete", or as the paper's "original" program tracks them (see above).
    """
    one_of("corner_stickers", corner_stickers, ("complete", "original"))
    one_of("edge_stickers", edge_stickers, ("complete", "original"))
    twice, blurred = corner_stickers == "original", BLURRED if edge_stickers == "original" else 0
    edges = 2 * NUM_CORNERS

    def board(s, cells):
        for c in range(NUM_CORNERS):
            cells[c] = code_of(s, c) >> np.int32(2)
            cells[NUM_CORNERS + c] = code_of(s, c) & np.int32(3)
        if twice:
            cells[TWICE] = cells[0]
            turned = cells[NUM_CORNERS] + np.int32(2)  # L is the third face of UFL
            cells[NUM_CORNERS + TWICE] = turned % np.int32(3)
        for e in range(NUM_EDGES):
            code = code_of(s, NUM_CORNERS + e)
            cells[edges + e] = code >> np.int32(1)
            lost = np.int32(blurred) >> (code >> np.int32(1))
            cells[edges + NUM_EDGES + e] = code & np.int32(1) & ~lost

    def key(s, words):
        words[0] = corner_key(s) | np.uint64(s[5]) << np.uint64(40)
        words[1] = edge_key(s)

    kinds = range(edges), range(edges, edges + 2 * NUM_EDGES)
    neighbours = [[n for n in kind if n != cell] for kind in kinds for cell in kind]
    num_codes = [NUM_CORNERS] * NUM_CORNERS + [3] * NUM_CORNERS
    num_codes += [NUM_EDGES] * NUM_EDGES + [2] * NUM_EDGES
    return _cube(3, min_twists, max_twists, board, key, num_codes, neighbours)


def _cube(size, min_twists, max_twists, board, key, num_codes, neighbours):
    """Make the game of a size; the other arguments are what the two sizes do not share."""
    whole("min_twists", min_twists, 1, MAX_TWISTS)
    whole("max_twists", max_twists, 1, MAX_TWISTS)
    if min_twists > max_twists:
        raise ValueError(f"max_twists={max_twists} must be at least min_twists={min_twists}")
    actions = 9 if size == 2 else 18
    words = last = WORDS[size]

    def start(s, rng):
        twists, again = min_twists + random_int(rng, max_twists - min_twists + 1), True
        while again:
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
        s[last] = 0

    def legal(s, moves):
        # the inverse is of the same face, and both together are four quarter turns
        before = np.int64(s[last]) - 1
        undo = 6 * (before // 3) + 2 - before if before >= 0 else -1
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

    return Game(
        f"cube{size}",
        **named(start, legal, play, player, over, score, board, key),
        actions=actions,
        players=1,
        max_legal=actions,
        size=words + 1,
        num_codes=num_codes,
        score_range=(0.0, 1.0),
        start_scheme=(1.0, 0),
        neighbours=neighbours,
        # as in the paper's trainings and searches: D7, D10, D16
        search_settings={"max_depth": 50, "path_rewards": False, "step_reward": -0.04},
        version=1,
        **_text_forms(size, actions),
    )


def _text_forms(size, actions) -> dict:
    """Return what shows a state, and what reads it."""
    names = TWIST_NAMES[:actions]

    def render(s):
        last = names[s[-1] - 1] if s[-1] else "none"
        return f"{_net(stickers_of(s), size)}\nlast twist: {last}"

    def number_of(name):
        if name not in names:
            raise ValueError(
                f"{name!r} is no twist; they are a face, {', '.join(FACES[: actions // 3])}, "
                f"with {TURNS[1]} for a half turn and {TURNS[2]} for a quarter turn back"
            )
        return names.index(name)

    def parse(text):
        """Read the net with the last twist, or the solved cube after twists: ``after U R2 F'``."""
        if text.split()[:1] == ["after"]:
            s = np.array([*SOLVED[: WORDS[size]], 0], np.int32)
            for name in text.split()[1:]:
                twist(s, WORDS[size], number_of(name))
            return s
        net, _, last = text.partition("last twist:")
        stickers, last = "".join(net.split()), last.strip() or "none"
        if len(stickers) != 6 * size * size or not set(stickers) <= set(FACES):
            raise ValueError(
                f"a cube is a net of {6 * size * size} letters from {FACES} (U, then L F R B, then"
                f" D) and 'last twist: {names[0]}' or none; or 'after {names[3]} {names[1]}', the"
                f" solved cube after these twists; not {text!r}"
            )
        number = 0 if last == "none" else number_of(last) + 1
        return np.array([*_words(codes_of(stickers, size)), number], np.int32)

    def action_name(s, action):
        return names[action]

    def svg(s, values=None, last=None):
        return net_svg(stickers_of(s), size, names, values=values, last=last)

    return named(render, parse, action_name, svg)


def stickers_of(s) -> str:
    """Return the stickers of the unfolded net of a state, row by row: 24 or 54 letters of faces."""
    codes = [int(word) >> 8 * k & 31 for word in s[:-1] for k in range(4)]
    return colours(codes, 2 if len(s) == 3 else 3)


def _net(stickers, size) -> str:
    """Return the net as text: U above F, then L F R B, then D."""
    lines, at = [], 0
    for band in NET:
        for _ in range(size):
            row = stickers[at : at + size * len(band)]
            lines.append(" " * (0 if len(band) > 1 else 2 * size) + " ".join(row))
            at += len(row)
    return "\n".join(lines)


@functools.cache
def facelets(size) -> tuple:
    """Return what the stickers of the net belong to, row by row.

    Each is (face, "corner" or "edge" or "centre", location, place in the location's name).
    """
    steps = [-1, 1] if size == 2 else [-1, 0, 1]
    rows = [(face, down) for band in NET for down in steps for face in band]
    return tuple(_facelet(face, across, down) for face, down in rows for across in steps)


def _facelet(face, across, down):
    to_right, to_bottom = map(normal, STEPS[face])
    place = normal(face) + across * to_right + down * to_bottom
    faces = {name for name in FACES if place @ normal(name) > 0}
    for kind, names in (("corner", CORNERS), ("edge", EDGES)):
        for location, name in enumerate(names):
            if set(name) == faces:
                return face, kind, location, name.index(face)
    return face, "centre", 0, 0


def colours(codes, size) -> str:
    """Return the stickers of the net, row by row, each the letter of the face that it belongs to.

    `codes` (int [8] or [20]) are those of the corner cubies and, if any, of the edge cubies.
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
    """Return the codes of the cubies, corners first; raises ValueError if no twists lead there."""
    seen = {"corner": [[""] * 3 for _ in CORNERS], "edge": [[""] * 2 for _ in EDGES]}
    for letter, (face, kind, location, place) in zip(stickers, facelets(size), strict=True):
        if kind != "centre":
            seen[kind][location][place] = letter
        elif letter != face:
            raise ValueError(
                f"the centre of face {face} shows {letter!r}: turn the whole cube so that it fits"
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
                f"the stickers {shown} at {names[location]} belong to no cubie, or to a second one"
            )
    return [codes[name] for name in names]


def _check_solvable(codes, size) -> None:
    """Raise ValueError if no twists lead to the cubies: corners, and for size 3 edges."""
    corners = codes[0]
    if size == 2 and corners[-1] != corner_code(NUM_CORNERS - 1, 0):
        raise ValueError("the corner DRB is not in its place: turn the whole cube so that it is")
    if sum(code % 4 for code in corners) % 3:
        raise ValueError("one corner is twisted in its place: no twists lead there")
    if size == 3:
        if sum(code % 2 for code in codes[1]) % 2:
            raise ValueError("one edge is flipped in its place: no twists lead there")
        if _odd([code // 4 for code in corners]) != _odd([code // 2 for code in codes[1]]):
            raise ValueError("two cubies are exchanged: no twists lead there")


def _odd(places) -> bool:
    return sum(a > b for k, a in enumerate(places) for b in places[k + 1 :]) % 2 == 1


GAMES = {"cube2": cube2, "cube3": cube3}
