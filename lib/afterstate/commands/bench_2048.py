"""What the ideas of fast 2048 programs are worth here: three ways to write the rules.

The same learner plays on all three, and on the first also with less to do.

A program that plays 2048 only packs the board into one word, slides rows by a table, and reads the
indices of its tuples out of the word. Ours keeps game and learner apart: the learner asks the rules
for cell codes, and never sees the word. The table says what each part costs or saves, as moves per
CPU second of trainings in one process, fastest of some alternating repeats.
"""

import numpy as np

from ..games.catalogue import load
from ..games.game import Game
from ..games.rules import game2048
from ..games.rules.game2048 import mirrored, put, transposed, word
from ..kernel.compile import kernel
from ..kernel.random import random_float, random_int
from ..learners import td
from .bench_processes import moves_per_second

PAPER = dict(alpha=1.0, epsilon=0.0, tc="id", sigmoid=False, tuples="2048-4x6")
REPEATS, SECONDS = 4, 1.0


# ------------------------------------------------------------------ packed, but rows slide by loops


@kernel
def slid(row):
    """Return a row (4 nibbles, the left one lowest) after a slide to the left, and the score."""
    made, last, at, score = np.uint64(0), np.uint64(0), np.uint64(0), np.int64(0)
    for c in range(4):
        tile = row >> np.uint64(4 * c) & np.uint64(15)
        if tile != 0 and tile == last and tile != np.uint64(15):
            made += np.uint64(1) << np.uint64(4) * (at - np.uint64(1))
            score += np.int64(2) << np.int64(tile)
            last = np.uint64(0)
        elif tile != 0:
            made |= tile << np.uint64(4) * at
            at, last = at + np.uint64(1), tile
    return made, score


def _play_by_loops(s, action):
    b = word(s)
    b = transposed(b) if action & 1 else b
    b = mirrored(b) if action & 2 else b
    made = np.uint64(0)
    for r in range(4):
        row, score = slid(b >> np.uint64(16 * r) & np.uint64(0xFFFF))
        made |= row << np.uint64(16 * r)
        s[2] += np.int32(score)
    made = mirrored(made) if action & 2 else made
    put(s, transposed(made) if action & 1 else made)


# ------------------------------------------------------------------------- one number for each cell


def _first_cells(s, rng):
    s[:] = 0
    _new_tile(s, rng)
    _new_tile(s, rng)


@kernel
def _new_tile(s, rng):
    n = 0
    for c in range(16):
        n += s[c] == 0
    k = random_int(rng, n)
    for c in range(16):
        if s[c] == 0:
            if k == 0:
                s[c] = 2 if random_float(rng) < 0.1 else 1
                return
            k -= 1


@kernel
def _cell(action, line, k):
    """Return the `k`-th cell of a line, counted from where the tiles slide to."""
    k = 3 - k if action & 2 else k
    return 4 * k + line if action & 1 else 4 * line + k


@kernel
def _moves(s, action):
    for line in range(4):
        for k in range(3):
            near, far = s[_cell(action, line, k)], s[_cell(action, line, k + 1)]
            if far != 0 and (near == 0 or near == far and near != 15):
                return True
    return False


def _legal_cells(s, moves):
    n = 0
    for action in range(4):
        if _moves(s, action):
            moves[n] = action
            n += 1
    return n


def _play_cells(s, action):
    for line in range(4):
        at, last = 0, 0
        for k in range(4):
            c = _cell(action, line, k)
            tile = s[c]
            s[c] = 0
            if tile != 0 and tile == last and tile != 15:
                s[_cell(action, line, at - 1)] = tile + 1
                s[16] += 2 << tile
                last = 0
            elif tile != 0:
                s[_cell(action, line, at)] = tile
                at, last = at + 1, tile


def _over_cells(s):
    return not (_moves(s, 0) or _moves(s, 1) or _moves(s, 2) or _moves(s, 3))


def _score_cells(s, r):
    r[0] = s[16] / 3932156.0


def _codes_of_cells(s, codes):
    for c in range(16):
        codes[c] = min(s[c], 14)


def variants() -> dict[str, tuple[Game, dict]]:
    """Return name -> (game, parameters of the learner).

    The rules of 2048 in three ways, and the learner with less to do.
    """
    ours = load("game2048")
    common = dict(
        player=game2048._player,
        players=1,
        actions=4,
        max_legal=4,
        num_codes=[15] * 16,
        symmetries=ours.symmetries,
        action_symmetries=ours.action_symmetries,
        score_range=(0.0, 1.0),
        start_scheme=(1.0, 0),
    )
    loops = Game(
        "game2048 by loops",
        start=game2048._start,
        legal=game2048._legal,
        play=_play_by_loops,
        chance=game2048._chance,
        over=game2048._over,
        score=game2048._score,
        board=game2048._board,
        size=3,
        **common,
    )
    cells = Game(
        "game2048 in cells",
        start=_first_cells,
        legal=_legal_cells,
        play=_play_cells,
        chance=_new_tile,
        over=_over_cells,
        score=_score_cells,
        board=_codes_of_cells,
        size=17,
        **common,
    )
    return {
        "as in the study: packed board, rows by table, Algorithm 7 with TC-id": (ours, {}),
        "packed board, rows by loops": (loops, {}),
        "one number for each cell, everything by loops": (cells, {}),
        "TC without inhibition of the counters (never used for a claim)": (
            ours,
            dict(inhibit_counters=False),
        ),
        "no TC, alpha 0.1 (never used for a claim)": (ours, dict(tc="none", alpha=0.1)),
        "float64 weights and counters": (ours, dict(precision="float64")),
    }


def lines() -> list[str]:
    """Measure; return the lines of a table."""
    sessions = {
        name: td.Session(game, {"episodes": 10**9} | PAPER | parameters, seed=1)
        for name, (game, parameters) in variants().items()
    }
    best = dict.fromkeys(sessions, 0.0)
    for repeat in range(REPEATS + 1):  # the first is the warm-up
        for name, session in sessions.items():
            speed = moves_per_second(session, SECONDS)
            best[name] = max(best[name], speed) if repeat else 0.0
    first = next(iter(best.values()))
    rows = [f"| {name} | {speed:,.0f} | {speed / first:.2f} |" for name, speed in best.items()]
    print("\n".join(rows), flush=True)
    return ["", "| 2048 in other ways | moves per CPU second | ratio |", "|---|--:|--:|", *rows]
