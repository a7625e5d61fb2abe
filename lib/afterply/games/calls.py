"""How kernels call the rules of a game: by address, so that they are compiled once for all games.

`Rules` holds the addresses of a game's compiled rules and its sizes; each ``call_*`` function below
calls one of them. The head of ``definition.py`` says what the rules do.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from ..kernel.compile import kernel, pointer_call
from ..kernel.random import random_float, random_int
from ..processes import PerThread

STATE = types.Array(types.int32, 1, "C")
FLOATS = types.Array(types.float64, 1, "C")
WORDS = types.Array(types.uint64, 1, "C")

SIGNATURES = {
    "start": (types.void, STATE, WORDS),
    "legal": (types.int64, STATE, STATE),
    "play": (types.void, STATE, types.int64),
    "chance": (types.void, STATE, WORDS),
    "player": (types.int64, STATE),
    "over": (types.boolean, STATE),
    "score": (types.void, STATE, FLOATS),
    "board": (types.void, STATE, STATE),
    "outcomes": (types.int64, STATE),
    "outcome": (types.float64, STATE, types.int64),
    "key": (types.void, STATE, WORDS),
    "irreversible": (types.boolean, STATE),
    "heuristic": (types.float64, STATE),
    "finish": (types.void, STATE, STATE, types.int64, WORDS),
}
# Rules that only people need who look at a game; no kernel calls them but those of a page.
SHOWING = {
    "shown": (types.void, STATE, STATE),
    "touch": (types.int64, STATE, types.int64, STATE),
    "start_at": (types.void, STATE, types.int64, WORDS),
}


class Rules(NamedTuple):
    """What kernels know of a game: the addresses of its rules (0 = absent) and its sizes."""

    # fmt: off
    start: int
    legal: int
    play: int
    chance: int
    player: int
    over: int
    score: int
    board: int
    outcomes: int
    outcome: int
    key: int
    irreversible: int
    heuristic: int
    finish: int
    size: int         # int32 values in a state
    core: int         # of these, without the history tail
    players: int
    actions: int
    max_legal: int
    cells: int
    compound: int     # an action is first choice * compound + second choice; 1 = a single choice
    start_plies: int         # start scheme: this many random plies ...
    start_default: float     # ... unless, with this probability, the default start
    # fmt: on


_start = pointer_call(*SIGNATURES["start"])
_legal = pointer_call(*SIGNATURES["legal"])
_play = pointer_call(*SIGNATURES["play"])
_chance = pointer_call(*SIGNATURES["chance"])
_player = pointer_call(*SIGNATURES["player"])
_over = pointer_call(*SIGNATURES["over"])
_score = pointer_call(*SIGNATURES["score"])
_board = pointer_call(*SIGNATURES["board"])
_outcomes = pointer_call(*SIGNATURES["outcomes"])
_outcome = pointer_call(*SIGNATURES["outcome"])
_key = pointer_call(*SIGNATURES["key"])
_irreversible = pointer_call(*SIGNATURES["irreversible"])
_heuristic = pointer_call(*SIGNATURES["heuristic"])
_finish = pointer_call(*SIGNATURES["finish"])
_shown = pointer_call(*SHOWING["shown"])
_touch = pointer_call(*SHOWING["touch"])
_start_at = pointer_call(*SHOWING["start_at"])


@kernel
def random_action(rules, moves, n, rng):
    """Return a random one of the `n` legal actions; if compound, a random first choice comes first.

    All first choices are then equally probable, however many second choices each of them has.
    """
    if rules.compound == 1:
        return np.int64(moves[random_int(rng, n)])
    num_choices = 1  # first choices, whose actions stand side by side
    for i in range(1, n):
        num_choices += moves[i] // rules.compound != moves[i - 1] // rules.compound
    skip = random_int(rng, num_choices)
    first = 0  # the place of the first action of the choice
    while skip > 0:
        first += 1
        skip -= moves[first] // rules.compound != moves[first - 1] // rules.compound
    choice = moves[first] // rules.compound
    num_same = 1
    while first + num_same < n and moves[first + num_same] // rules.compound == choice:
        num_same += 1
    second = random_int(rng, num_same) if num_same > 1 else 0
    return np.int64(moves[first + second])


@kernel
def call_start(rules, s, rng):
    """Write the initial state into `s` (int32[size])."""
    _start(rules.start, (s, rng))


@kernel
def call_legal(rules, s, moves):
    """Write the legal actions of `s` into `moves` (int32[max_legal]) and return their number."""
    return _legal(rules.legal, (s, moves))


@kernel
def call_play(rules, s, action):
    """Turn the state `s` into the afterstate of `action`.  Source: [konen2021] Alg. 6, line 2."""
    _play(rules.play, (s, action))


@kernel
def call_chance(rules, s, rng):
    """Turn the afterstate `s` into the next state.  Source: [konen2021] Alg. 6, line 3."""
    if rules.chance != 0:
        _chance(rules.chance, (s, rng))


@kernel
def call_player(rules, s):
    """Return the player to move, 0 .. players - 1."""
    return _player(rules.player, (s,))


@kernel
def call_over(rules, s):
    """Return whether the state is terminal."""
    return _over(rules.over, (s,))


@kernel
def call_score(rules, s, r):
    """Write every player's cumulative reward into `r`.  Source: [konen2021] Alg. 6, line 3."""
    _score(rules.score, (s, r))


@kernel
def call_board(rules, s, cells):
    """Write the cell codes into `cells` (int32[cells])."""
    _board(rules.board, (s, cells))


@kernel
def call_outcomes(rules, s):
    """Return the number of chance outcomes of the afterstate `s`."""
    return _outcomes(rules.outcomes, (s,))


@kernel
def call_outcome(rules, s, k):
    """Apply the `k`-th chance outcome to the afterstate `s` and return its probability."""
    return _outcome(rules.outcome, (s, k))


@kernel
def call_key(rules, s, k):
    """Write the key of `s` into `k` (uint64[2])."""
    _key(rules.key, (s, k))


@kernel
def call_irreversible(rules, s):
    """Return whether no position before `s` can occur again."""
    return rules.irreversible != 0 and _irreversible(rules.irreversible, (s,))


@kernel
def call_heuristic(rules, s):
    """Return the game's estimate of the first player's final reward; it must have one."""
    return _heuristic(rules.heuristic, (s,))


@kernel
def call_shown(rules, shown, s, numbers):
    """Write the numbers that the drawing of a state shows, by the rule at an address."""
    _shown(shown, (s, numbers))


@kernel
def call_touch(rules, touch, numbers, action, places):
    """Write the places of an action, by the rule at an address; return how many there are."""
    return _touch(touch, (numbers, action, places))


@kernel
def call_start_at(rules, start_at, s, level, rng):
    """Write a start of a level, such as a number of twists, by the rule at an address."""
    _start_at(start_at, (s, level, rng))


@kernel
def play_at_random(rules, s, moves, plies, rng):
    """Play at random to the end of the game, at most `plies` plies; `moves`: int32[max_legal]."""
    for _ in range(plies):
        if call_over(rules, s):
            break
        n = call_legal(rules, s, moves)
        if n == 0:
            break
        call_play(rules, s, moves[random_int(rng, n)])
        call_chance(rules, s, rng)


@kernel
def call_finish(rules, s, moves, plies, rng):
    """Play at random as :func:`play_at_random`, by the game's own `finish` if it has one.

    Only the score of `s` may be read afterwards.
    """
    if rules.finish != 0:
        _finish(rules.finish, (s, moves, plies, rng))
    else:
        play_at_random(rules, s, moves, plies, rng)


@kernel
def start_from_scheme(rules, s, moves, rng, path):
    """Write a start state drawn by the start scheme; return its number of plies.

    It is the default start with some probability, and where the random plies end the game. The
    actions are written to `path`, int32[start_plies]; `moves`, int32[max_legal], is working memory.
    Source: [konen2021] App. A.6 "Choose-Start-01".
    """
    call_start(rules, s, rng)
    if rules.start_plies == 0 or random_float(rng) < rules.start_default:
        return 0
    for ply in range(rules.start_plies):
        path[ply] = moves[random_int(rng, call_legal(rules, s, moves))]
        call_play(rules, s, path[ply])
        call_chance(rules, s, rng)
        if call_over(rules, s):
            call_start(rules, s, rng)
            return 0
    return rules.start_plies


def allocate(declared: dict, game=None, **sizes) -> dict:
    """Return arrays of zeros by name.

    Parameters
    ----------
    declared : dict
        Name -> (type, dimensions ...). A type or dimension may be a name in `sizes`, or in
        ``game.rules``.
    """
    values = dict(sizes)
    if game:
        values = game.rules._asdict() | sizes
    arrays = {}
    for name, (kind, *dimensions) in declared.items():
        shape = [values.get(dimension, dimension) for dimension in dimensions]
        arrays[name] = np.zeros(shape, values.get(kind, kind))
    return arrays


class Arrays(PerThread):
    """Declared arrays of zeros as kernels work in them, in their order: each thread has its own."""

    def __init__(self, declared: dict, game=None, **sizes):
        self.arrays = tuple(allocate(declared, game, **sizes).values())


@kernel
def copy_into(target, source, n):
    """Copy the first `n` elements of one array into another."""
    for i in range(n):
        target[i] = source[i]


@kernel
def mix_words(s, n, k):
    """Write two independent 64-bit mixes of the first `n` numbers of a state into `k`."""
    for j in range(2):
        h = np.uint64(0x9E3779B97F4A7C15) if j == 0 else np.uint64(0xC2B2AE3D27D4EB4F)
        for i in range(n):
            h = (h ^ np.uint64(np.uint32(s[i]))) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        k[j] = h


def hash_state(s, k):
    """Default key: two independent 64-bit mixes of the whole state (exact for up to four int32)."""
    if s.shape[0] <= 4:
        k[0] = np.uint64(0)
        k[1] = np.uint64(0)
        for i in range(s.shape[0]):
            k[i >> 1] = (k[i >> 1] << np.uint64(32)) | np.uint64(np.uint32(s[i]))
        return
    mix_words(s, s.shape[0], k)
