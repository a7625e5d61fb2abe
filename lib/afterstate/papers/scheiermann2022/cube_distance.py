"""How many twists a Rubik's cube is from solved, exactly, in the half-turn metric.

The 2x2x2 has a table of all its 3,674,160 states. The 3x3x3 is met in the middle: a search from the
state asked for, deeper and deeper, ends at the first state in a table of all states of at most five
twists. Both tables are made on first use, in about a second. The last twist does not matter here: a
way to the solved cube may begin by undoing it.
"""

import functools
import itertools

import numpy as np

from ...checks import one_of, whole
from ...games.rules.cube import (
    CODES,
    NUM_CORNERS,
    NUM_EDGES,
    SOLVED,
    TWISTS,
    code_of,
    corner_code,
    corner_key,
    edge_key,
    twist,
)
from ...kernel.compile import kernel

FAR = -1  # what :func:`distances` gives beyond the limit
LIMIT = 10  # of the 3x3x3 unless given: 30 ms
LEVELS = 5  # of the table of the 3x3x3
TABLE_BITS = 20
MASK = np.uint64(2**TABLE_BITS - 1)
KEY_BITS = np.uint64(40)  # of the corners in a table entry; above is the distance + 1, or 0: empty
KEY_MASK = np.uint64(2**40 - 1)
WORDS = 5  # numbers of a 3x3x3 state without the last twist
UNKNOWN = 255
MOVING = NUM_CORNERS - 1  # corners of the 2x2x2 that move
ORIENTATIONS = 3 ** (MOVING - 1)
NUM_STATES = 5040 * ORIENTATIONS
ACTIONS_2, ACTIONS_3 = 9, 18


def distance(game, state, limit: int = LIMIT) -> int:
    """Return the distance of one state; raises ValueError if it is farther than `limit`.

    >>> from afterstate import games
    >>> game = games.load("cube3")
    >>> distance(game, game.parse("after R U R' U'"))
    4
    """
    found = int(distances(game, np.asarray(state)[None, :], limit)[0])
    if found == FAR:
        raise ValueError(f"the state is more than limit={limit} twists from solved: raise limit")
    return found


def distances(game, states, limit: int = LIMIT) -> np.ndarray:
    """Return the distances of states (int32 [n, size]) of ``cube2`` or ``cube3``, int8 [n].

    They are FAR (-1) where a ``cube3`` is farther than `limit`, 5 to 20: every twist more takes
    about 13 times as long. Raises ValueError if the game or a state is no cube.
    """
    one_of("the game", game.name, ("cube2", "cube3")), whole("limit", limit, LEVELS, 20)
    states = np.ascontiguousarray(states, np.int32)
    if states.ndim != 2 or states.shape[1] != game.size:
        raise ValueError(
            f"states of {game.name} are an array [n, {game.size}], not of shape {states.shape}"
        )
    _check_cubes(states[:, :-1])
    out, depth = np.zeros(len(states), np.int8), limit - LEVELS
    if game.name == "cube2":
        _look_up_all(states, table2(), out)
    else:
        path, action = np.zeros((depth + 1, WORDS), np.int32), np.zeros(depth + 1, np.int64)
        _search_all(states, table3()[0], path, action, depth, out)
    return out


def _check_cubes(words) -> None:
    # every cubie once; twists need not lead there
    codes = (words[:, :, None] >> 8 * np.arange(4) & 255).reshape(len(words), -1)
    corners, edges = codes[:, :NUM_CORNERS], codes[:, NUM_CORNERS:]
    good = (np.sort(corners // 4, axis=1) == np.arange(NUM_CORNERS)).all(axis=1)
    good &= (corners % 4 < 3).all(axis=1)
    if edges.shape[1]:
        good &= (np.sort(edges // 2, axis=1) == np.arange(NUM_EDGES)).all(axis=1)
    if not good.all():
        k = int(np.argmin(good))
        where = f"state {k} of {len(words)}, {words[k].tolist()},"
        raise ValueError(f"{where} is no cube: take states from the game's start, play or parse")


@functools.cache
def table2() -> np.ndarray:
    """Return the distance of every 2x2x2 state, uint8 [3674160], at the index of :func:`index2`."""
    permutations = list(itertools.permutations(range(MOVING)))
    rank = {places: k for k, places in enumerate(permutations)}
    codes = TWISTS.reshape(-1, 2 * CODES)[:ACTIONS_2].astype(int)
    location = codes[:, [corner_code(k, 0) for k in range(MOVING)]] // 4
    turned = codes[:, [corner_code(k, 0) for k in range(MOVING)]] % 4
    places = np.array(
        [[rank[tuple(to[k] for k in p)] for to in location.tolist()] for p in permutations],
        np.int32,
    )
    digits = np.arange(ORIENTATIONS)[:, None] // 3 ** np.arange(MOVING - 1) % 3
    last = -digits.sum(axis=1, keepdims=True) % 3  # orientations by location; the others tell it
    digits = np.concatenate([digits, last], axis=1)
    turns = np.zeros((ORIENTATIONS, ACTIONS_2), np.int32)
    for action in range(ACTIONS_2):
        after = np.zeros_like(digits)
        after[:, location[action]] = (digits + turned[action]) % 3
        turns[:, action] = after[:, :-1] @ 3 ** np.arange(MOVING - 1)
    table = np.full(NUM_STATES, UNKNOWN, np.uint8)
    _fill(table, places, turns)
    return table


@kernel
def _fill(table, places, turns):
    """Breadth-first search from the solved state, whose index is 0."""
    table[0] = 0
    depth, found = 0, 1
    while found > 0:
        found = 0
        for i in range(table.shape[0]):
            if table[i] == depth:
                p, o = i // ORIENTATIONS, i % ORIENTATIONS
                for action in range(ACTIONS_2):
                    j = np.int64(places[p, action]) * ORIENTATIONS + turns[o, action]
                    if table[j] == UNKNOWN:
                        table[j] = depth + 1
                        found += 1
        depth += 1


@kernel
def index2(s):
    """Return the index of a 2x2x2 state, 0 for the solved one.

    It is made of the rank of the cubies' locations in lexical order, and of the orientations at the
    first six locations as a number with base 3.
    """
    places, turns = np.int64(0), np.int64(0)
    for c in range(MOVING):
        code = np.int64(code_of(s, c))
        smaller = np.int64(0)
        for later in range(c + 1, MOVING):
            smaller += np.int64(code_of(s, later)) >> 2 < code >> 2
        places = places * (MOVING - c) + smaller
        power = np.int64(1)
        for _ in range(code >> 2):
            power *= 3
        if code >> 2 < MOVING - 1:
            turns += (code & 3) * power
    return places * ORIENTATIONS + turns


@kernel
def _look_up_all(states, table, out):
    for i in range(states.shape[0]):
        out[i] = table[index2(states[i])]


@functools.cache
def table3():
    """Return all 3x3x3 states of at most five twists, and how many there are per distance.

    The table is uint64 [2**20, 2]: corners with the distance + 1 above them, and edges.
    """
    table = np.zeros((2**TABLE_BITS, 2), np.uint64)
    level, child, sizes = SOLVED[None, :].copy(), np.zeros(WORDS, np.int32), [1]
    _insert(table, level[0], np.uint64(1))
    for depth in range(LEVELS):
        found = np.zeros((ACTIONS_3 * len(level), WORDS), np.int32)
        num = _expand(table, level, np.uint64(depth + 2), child, found)
        level = found[:num].copy()
        sizes.append(num)
    return table, sizes


@kernel
def _slot(table, s):
    """Return the entry of a state, or the empty one where it belongs (open addressing)."""
    corners, edges = corner_key(s), edge_key(s)
    h = (corners * np.uint64(0x9E3779B97F4A7C15)) ^ (edges * np.uint64(0xC2B2AE3D27D4EB4F))
    h = (h ^ h >> np.uint64(29)) * np.uint64(0xFF51AFD7ED558CCD)
    at = h >> np.uint64(64 - TABLE_BITS)
    while table[at, 0] != 0 and (table[at, 0] & KEY_MASK != corners or table[at, 1] != edges):
        at = (at + np.uint64(1)) & MASK
    return at


@kernel
def _insert(table, s, mark):
    """Add a state with `mark` = distance + 1; return whether it is new."""
    at = _slot(table, s)
    if table[at, 0] != 0:
        return False
    table[at, 0] = corner_key(s) | mark << KEY_BITS
    table[at, 1] = edge_key(s)
    return True


@kernel
def _expand(table, level, mark, child, found):
    """Add all states one twist from `level`; write the new ones to `found`."""
    n = 0
    for i in range(level.shape[0]):
        for action in range(ACTIONS_3):
            for w in range(WORDS):
                child[w] = level[i, w]
            twist(child, WORDS, action)
            if _insert(table, child, mark):
                for w in range(WORDS):
                    found[n, w] = child[w]
                n += 1
    return n


@kernel
def _known(table, s):
    return np.int64(table[_slot(table, s), 0] >> KEY_BITS) - 1


@kernel
def _search(table, path, action, depth):
    """Return the distance of ``path[0]`` if the table is at most `depth` twists away, else FAR."""
    # action[k] is the next twist to try at path[k]; of two opposite faces one order is tried
    known = _known(table, path[0])
    if known != FAR:
        return known
    for goal in range(1, depth + 1):
        k = 0
        action[0] = 0
        while k >= 0:
            a = action[k]
            action[k] += 1
            if a == ACTIONS_3:
                k -= 1
                continue
            if k > 0:
                before = (action[k - 1] - 1) // 3
                if a // 3 == before or a // 3 + 3 == before:
                    continue
            for w in range(WORDS):
                path[k + 1, w] = path[k, w]
            twist(path[k + 1], WORDS, a)
            if k + 1 == goal:
                known = _known(table, path[k + 1])
                if known != FAR:
                    return known + goal
            else:
                k += 1
                action[k] = 0
    return FAR


@kernel
def _search_all(states, table, path, action, depth, out):
    for i in range(states.shape[0]):
        for w in range(WORDS):
            path[0, w] = states[i, w]
        out[i] = _search(table, path, action, depth)
