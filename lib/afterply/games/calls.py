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


_CALLS = [pointer_call(*signature) for signature in SIGNATURES.values()]
_start, _legal, _play, _chance, _player, _over, _score = _CALLS[:7]
_board, _outcomes, _outcome, _key, _irreversible, _heuristic, _finish = _CALLS[7:]


@kernel
def random_action(rules, moves, n, rng):
    """Return a random one of the `n` legal actions, by first and then second choice if compound."""
    if rules.compound == 1:
        return np.int64(moves[random_int(rng, n)])
    choices = 1
    for i in range(1, n):
        choices += moves[i] // rules.compound != moves[i - 1] // rules.compound
    skip, first = random_int(rng, choices), 0
    while skip > 0:
        first += 1
        skip -= moves[first] // rules.compound != moves[first - 1] // rules.compound
    same, choice = 1, moves[first] // rules.compound
    while first + same < n and moves[first + same] // rules.compound == choice:
        same += 1
    return np.int64(moves[first + (random_int(rng, same) if same > 1 else 0)])


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
def play_at_random(rules, s, moves, plies, rng):
    """Play at random to the end of the game, at most this number of plies."""
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
    """Do the same at once if the game can; only the score of `s` counts then."""
    if rules.finish != 0:
        _finish(rules.finish, (s, moves, plies, rng))
    else:
        play_at_random(rules, s, moves, plies, rng)


@kernel
def start_from_scheme(rules, s, moves, rng, path):
    """Write a start state drawn by the start scheme; return its number of plies, actions in `path`.

    It is the default start with some probability, and where the random plies end the game.
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
    """Return arrays of zeros by name -> (type, dimensions ...), named in `sizes` or game.rules."""
    known = (game.rules._asdict() if game else {}) | sizes
    return {
        name: np.zeros([known.get(n, n) for n in shape], known.get(kind, kind))
        for name, (kind, *shape) in declared.items()
    }


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
        k[0] = k[1] = np.uint64(0)
        for i in range(s.shape[0]):
            k[i >> 1] = (k[i >> 1] << np.uint64(32)) | np.uint64(np.uint32(s[i]))
        return
    mix_words(s, s.shape[0], k)
