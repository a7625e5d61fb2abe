"""Exact margins of Kalah by null-window searches, for the tests.

Run as a script it solves the usual board, (6,4).

``python tests/kalah_solver.py`` shows that the first player's margin is +8, the known value (300
million positions, 150 CPU s, 0.7 GB).
"""

import sys
import time
from typing import NamedTuple

import numpy as np

from afterstate import games
from afterstate.games.calls import call_key, call_legal, call_play, copy_into
from afterstate.kernel.compile import kernel

OVER, PLIES = 2, 600
EXTRA_TURN, FROM_TABLE = 40, 1000  # bonuses in the order of trial


class Work(NamedTuple):
    """Scratch by ply, and a direct-mapped table of bounds by position (houses and mover)."""

    states: np.ndarray
    moves: np.ndarray
    order: np.ndarray
    key: np.ndarray
    keys: np.ndarray
    low: np.ndarray
    high: np.ndarray
    action: np.ndarray
    visited: np.ndarray


@kernel
def slot_of(work, ply):
    h = (work.key[ply, 0] ^ work.key[ply, 1] * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(
        0xFF51AFD7ED558CCD
    )
    h = (h ^ h >> np.uint64(29)) * np.uint64(0xC4CEB9FE1A85EC53)
    return np.int64((h ^ h >> np.uint64(32)) & np.uint64(work.keys.shape[0] - 1))


@kernel
def sort(rules, work, ply, n, houses, first):
    """Order the actions: the table's, then extra turns, then by the seeds gained.

    Later houses first.
    """
    s, after = work.states[ply], work.states[ply + 1]
    who = s[2 * houses + 2] & 1
    store = houses + (houses + 1) * who
    for i in range(n):
        action, j = work.moves[ply, i], i
        copy_into(after, s, rules.core)
        call_play(rules, after, action)
        weight = (
            4 * (after[store] - s[store])
            + (EXTRA_TURN if after[2 * houses + 2] == who else 0)
            + (FROM_TABLE if action == first else 0)
        )
        weight = 16 * weight + action
        while j > 0 and work.order[ply, j - 1] < weight:
            work.order[ply, j], work.moves[ply, j] = work.order[ply, j - 1], work.moves[ply, j - 1]
            j -= 1
        work.order[ply, j], work.moves[ply, j] = weight, action


@kernel
def reaches(rules, work, houses, ply, bound):
    """Return a bound of the gain of the mover, on the side of `bound` where the exact value is."""
    s, after = work.states[ply], work.states[ply + 1]
    who, left, best, chosen, first = s[2 * houses + 2] & 1, 0, -1000, -1, -1
    work.visited[0] += 1
    for i in range(houses):
        left += s[i] + s[houses + 1 + i]
    if left < bound or -left >= bound:  # no more than all seeds can be gained or lost
        return left if left < bound else -left
    call_key(rules, s, work.key[ply])
    slot = slot_of(work, ply)
    if work.keys[slot, 0] == work.key[ply, 0] and work.keys[slot, 1] == work.key[ply, 1]:
        if work.low[slot] >= bound or work.high[slot] < bound:
            return np.int64(work.low[slot] if work.low[slot] >= bound else work.high[slot])
        first = work.action[slot]
    n, store = call_legal(rules, s, work.moves[ply]), houses + (houses + 1) * who
    sort(rules, work, ply, n, houses, first)
    for i in range(n):
        copy_into(after, s, rules.core)
        call_play(rules, after, work.moves[ply, i])
        gain = np.int64(after[store] - s[store])
        if after[2 * houses + 2] >= OVER:
            value = gain
            for h in range(houses):
                value += (after[h] - after[houses + 1 + h]) * (1 - 2 * who)
        elif after[2 * houses + 2] == who:
            value = gain + reaches(rules, work, houses, ply + 1, bound - gain)
        else:
            value = gain - reaches(rules, work, houses, ply + 1, gain - bound + 1)
        if value > best:
            best, chosen = value, work.moves[ply, i]
        if best >= bound:
            break
    if work.keys[slot, 0] != work.key[ply, 0] or work.keys[slot, 1] != work.key[ply, 1]:
        work.low[slot], work.high[slot] = -127, 127
        work.keys[slot, 0], work.keys[slot, 1] = work.key[ply, 0], work.key[ply, 1]
    work.action[slot] = chosen
    if best >= bound:
        work.low[slot] = best
    else:
        work.high[slot] = best
    return best


def margin(houses, seeds, empty_capture=False, guess=0, table_bits=18, show=None) -> int:
    """Return the first player's margin under best play, at most 126 seeds on the board."""
    game, n = (
        games.load("kalah", houses=houses, seeds=seeds, margin=True, empty_capture=empty_capture),
        1 << table_bits,
    )
    work = Work(
        np.zeros((PLIES, game.size), np.int32),
        np.zeros((PLIES, houses), np.int32),
        np.zeros((PLIES, houses), np.int64),
        np.zeros((PLIES, 2), np.uint64),
        np.zeros((n, 2), np.uint64),
        np.full(n, -127, np.int8),
        np.full(n, 127, np.int8),
        np.zeros(n, np.int8),
        np.zeros(1, np.int64),
    )
    low, high = -2 * houses * seeds, 2 * houses * seeds
    while low < high:
        bound = guess + 2 if guess == low else guess  # margins are even
        work.states[0] = game.start()
        guess = int(reaches(game.rules, work, houses, 0, bound))
        low, high = (guess, high) if guess >= bound else (low, guess)
        if show:
            show(
                f"margin {'at least' if guess >= bound else 'at most'} {guess}: {work.visited[0]:,}"
                f" positions, {time.process_time():.0f} CPU s"
            )
    return low


if __name__ == "__main__":
    print(
        margin(
            6,
            4,
            empty_capture="--empty-capture" in sys.argv,
            guess=8,
            table_bits=25,
            show=lambda text: print(text, flush=True),
        )
    )
