"""The arrays of a table of action values, and the kernels that read and fill them.

::

    slots  int32  [capacity]        hash of (owner, key) -> state number + 1, 0 = free
    keys   uint64 [states, 2]       state number -> what the rule `key` says of it
    owner  int8   [states]          whose table the state belongs to (two learners may share one)
    newest int32  [states]          state number -> its newest entry, -1 = none
    action int32  [entries]         entry -> action ...
    older  int32  [entries]         ... the next older entry of the same state, -1 = none ...
    q      float64 [entries]        ... and Q(s, a)

States and entries are numbered in the order of their first visit and never removed, so the table at
an earlier time is a prefix of the present one: a *snapshot* keeps only its two counts and a copy of
`q`. An action without an entry has the value `initial`, which is 0 unless a learner sets it.

Memory: 25 bytes a state, 8 to 16 for its slot, 16 bytes an entry, and 8 bytes an entry for each
snapshot. Nine Men's Morris has few returns: 16,000 games leave about 1.4 million states and as many
entries, some 90 MB; Tic-Tac-Toe needs 0.5 MB. Kernels never allocate: they stop with a status when
there is no room, :meth:`afterstate.networks.table.QTable.grow` doubles it, and they go on.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_key, call_legal
from ..kernel.compile import kernel

NONE = -1
STATES, ENTRIES = range(2)


class Entries(NamedTuple):
    """The arrays of a table, as drawn in the head of this file."""

    slots: np.ndarray
    keys: np.ndarray
    owner: np.ndarray
    newest: np.ndarray
    action: np.ndarray
    older: np.ndarray
    q: np.ndarray
    count: np.ndarray  # int64 [2]: states, entries
    initial: float  # value of an action without an entry


@kernel
def find_slot(table, owner, k0, k1):
    """Return the slot of a state, or the free slot where it belongs."""
    mask = np.uint64(table.slots.shape[0] - 1)
    h = (k0 ^ (k1 * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(owner)) * np.uint64(
        0xFF51AFD7ED558CCD
    )
    i = (h ^ (h >> np.uint64(32))) & mask
    while table.slots[i] != 0:
        state = table.slots[i] - 1
        if (
            table.keys[state, 0] == k0
            and table.keys[state, 1] == k1
            and table.owner[state] == owner
        ):
            break
        i = (i + np.uint64(1)) & mask
    return i


@kernel
def find(table, owner, key):
    """Return the number of a state, or NONE if the table, or snapshot, does not hold it."""
    state = table.slots[find_slot(table, owner, key[0], key[1])] - 1
    return state if state < table.count[STATES] else NONE


@kernel
def full(table):
    """Return whether there may be no room for one more state and one more entry."""
    return (
        table.count[STATES] >= table.keys.shape[0] or table.count[ENTRIES] >= table.action.shape[0]
    )


@kernel
def insert(table, owner, key, action):
    """Return (state number, entry) of an action, which are made if they are not there.

    The table must not be full.
    """
    i = find_slot(table, owner, key[0], key[1])
    state = table.slots[i] - 1
    if state < 0:
        state = np.int32(table.count[STATES])
        table.count[STATES] += 1
        table.slots[i] = state + 1
        table.keys[state, 0], table.keys[state, 1] = key[0], key[1]
        table.owner[state], table.newest[state] = owner, NONE
    entry = table.newest[state]
    while entry != NONE and table.action[entry] != action:
        entry = table.older[entry]
    if entry == NONE:
        entry = np.int32(table.count[ENTRIES])
        table.count[ENTRIES] += 1
        table.action[entry], table.older[entry] = action, table.newest[state]
        table.q[entry] = table.initial
        table.newest[state] = entry
    return state, entry


@kernel
def read_values(table, state, moves, n, values):
    """Write Q of `n` legal actions into ``values[action]`` (float64[actions]).

    What was never tried has the initial value.
    """
    for i in range(n):
        values[moves[i]] = table.initial
    entry = table.newest[state] if state >= 0 else np.int32(NONE)
    while entry != NONE:
        if entry < table.count[ENTRIES]:
            values[table.action[entry]] = table.q[entry]
        entry = table.older[entry]


@kernel
def best_value(table, state, num_legal):
    """Return the greatest Q over the legal actions of a state; others have the initial value.

    Source: [jamieson2022] Eq. (2). Deviations: D5.
    """
    best, tried = table.initial, 0
    entry = table.newest[state]
    while entry != NONE:
        if tried == 0 or table.q[entry] > best:
            best = table.q[entry]
        tried += 1
        entry = table.older[entry]
    return table.initial if tried < num_legal and best < table.initial else best


@kernel
def refill(table):
    """Find a slot for every state of a table whose slots are all free."""
    for state in range(table.count[STATES]):
        table.slots[
            find_slot(table, table.owner[state], table.keys[state, 0], table.keys[state, 1])
        ] = state + 1


@kernel
def values_of(rules, table, owner, s, moves, values, key):
    """Write the values of the legal actions of `s` into `values`; return how many there are."""
    n = call_legal(rules, s, moves)
    call_key(rules, s, key)
    read_values(table, find(table, owner, key), moves, n, values)
    return n


def allocate(states, entries, initial=0.0) -> Entries:
    """Make room for so many states and entries."""
    capacity = 1 << int(np.ceil(np.log2(2 * (states + 1))))
    return Entries(
        np.zeros(capacity, np.int32),
        np.zeros((states, 2), np.uint64),
        np.zeros(states, np.int8),
        np.full(states, NONE, np.int32),
        np.zeros(entries, np.int32),
        np.full(entries, NONE, np.int32),
        np.zeros(entries),
        np.zeros(2, np.int64),
        float(initial),
    )
