"""Exact margins of Kalah by null-window searches, for the tests.

Run as a script it shows that the first player's margin on the usual board is +8, the known value
(300 million positions, 150 CPU s, 0.7 GB).
"""

from typing import NamedTuple

import numpy as np

from afterstate import games
from afterstate.games.calls import call_key, call_legal, call_play, copy_into
from afterstate.kernel.compile import kernel

OVER, PLIES = 2, 600
EXTRA_TURN, FROM_TABLE = 40, 1000  # bonuses in the order of trial


class Work(NamedTuple):
    """Scratch by ply, and a table by position (houses and mover): key, bounds, best action."""

    states: np.ndarray
    moves: np.ndarray
    order: np.ndarray
    key: np.ndarray
    keys: np.ndarray  # uint64 [n, 2]
    known: np.ndarray  # int8 [n, 3]: low, high, action


@kernel
def slot_of(work, ply):
    h = work.key[ply, 0] ^ work.key[ply, 1] * np.uint64(0x9E3779B97F4A7C15)
    for factor in (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)):
        h *= factor
        h ^= h >> np.uint64(29)
    return np.int64(h & np.uint64(work.keys.shape[0] - 1))


@kernel
def sort(rules, work, ply, n, houses, first):
    """Order the actions: the table's, then extra turns, then by the seeds gained, later houses."""
    s, after = work.states[ply], work.states[ply + 1]
    who = s[2 * houses + 2] & 1
    store = houses + (houses + 1) * who
    for i in range(n):
        action, j = work.moves[ply, i], i
        copy_into(after, s, rules.core)
        call_play(rules, after, action)
        weight = 4 * (after[store] - s[store]) + FROM_TABLE * (action == first)
        weight = 16 * (weight + EXTRA_TURN * (after[2 * houses + 2] == who)) + action
        while j > 0 and work.order[ply, j - 1] < weight:
            work.order[ply, j], work.moves[ply, j] = work.order[ply, j - 1], work.moves[ply, j - 1]
            j -= 1
        work.order[ply, j], work.moves[ply, j] = weight, action


@kernel
def reaches(rules, work, houses, ply, bound):
    """Return a bound of the gain of the mover, on the side of `bound` where the exact value is."""
    s, after = work.states[ply], work.states[ply + 1]
    who, left, best, chosen, first = s[2 * houses + 2] & 1, 0, -1000, -1, -1
    for i in range(houses):
        left += s[i] + s[houses + 1 + i]
    if left < bound or -left >= bound:  # no more than all seeds can be gained or lost
        return left if left < bound else -left
    call_key(rules, s, work.key[ply])
    slot = slot_of(work, ply)
    keys, known = work.keys[slot], work.known[slot]
    if keys[0] == work.key[ply, 0] and keys[1] == work.key[ply, 1]:
        if known[0] >= bound or known[1] < bound:
            return np.int64(known[0] if known[0] >= bound else known[1])
        first = known[2]
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
    if keys[0] != work.key[ply, 0] or keys[1] != work.key[ply, 1]:
        known[0], known[1] = -127, 127
        keys[0], keys[1] = work.key[ply, 0], work.key[ply, 1]
    known[0 if best >= bound else 1], known[2] = best, chosen
    return best


def margin(houses, seeds, empty_capture=False, guess=0, table_bits=18) -> int:
    """Return the first player's margin under best play, at most 126 seeds on the board."""
    sizes = {"houses": houses, "seeds": seeds, "empty_capture": empty_capture}
    game, n = games.load("kalah", margin=True, **sizes), 1 << table_bits
    states, order = np.zeros((PLIES, game.size), np.int32), np.zeros((PLIES, houses), np.int64)
    keys, known = np.zeros((n, 2), np.uint64), np.full((n, 3), -127, np.int8)
    key = np.zeros((PLIES, 2), np.uint64)
    work = Work(states, order.astype(np.int32), order, key, keys, known)
    low, high = -2 * houses * seeds, 2 * houses * seeds
    while low < high:
        bound = guess + 2 if guess == low else guess  # margins are even
        states[0] = game.start()
        guess = int(reaches(game.rules, work, houses, 0, bound))
        low, high = (guess, high) if guess >= bound else (low, guess)
    return low


if __name__ == "__main__":
    print(margin(6, 4, guess=8, table_bits=25))
