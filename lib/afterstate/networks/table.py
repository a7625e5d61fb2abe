"""A table of action values for any game: a hash table that holds only what has been visited.

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
`q`. An action without an entry has the value 0.

Memory: 25 bytes a state, 8 to 16 for its slot, 16 bytes an entry, and 8 bytes an entry for each
snapshot. Nine Men's Morris has few returns: 16,000 games leave about 1.4 million states and as many
entries, some 90 MB; Tic-Tac-Toe needs 0.5 MB. Kernels never allocate: they stop with a status when
there is no room, :meth:`QTable.grow` doubles it, and they go on.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from ..files import write_npz
from ..games.calls import call_key, call_legal
from ..games.game import check_game
from ..games.validation import discount, whole_number
from ..kernel.compile import kernel
from .storage import check, damaged, read

NONE = -1
FIRST_CAPACITY = 1 << 10
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
        table.action[entry], table.older[entry], table.q[entry] = action, table.newest[state], 0.0
        table.newest[state] = entry
    return state, entry


@kernel
def read_values(table, state, moves, n, values):
    """Write Q of `n` legal actions into ``values[action]`` (float64[actions]).

    What was never tried has 0.
    """
    for i in range(n):
        values[moves[i]] = 0.0
    entry = table.newest[state] if state >= 0 else np.int32(NONE)
    while entry != NONE:
        if entry < table.count[ENTRIES]:
            values[table.action[entry]] = table.q[entry]
        entry = table.older[entry]


@kernel
def best_value(table, state, num_legal):
    """Return the greatest Q over the legal actions of a state; those without an entry have 0.

    Source: [jamieson2022] Eq. (2). Deviations: D5.
    """
    best, tried = 0.0, 0
    entry = table.newest[state]
    while entry != NONE:
        if tried == 0 or table.q[entry] > best:
            best = table.q[entry]
        tried += 1
        entry = table.older[entry]
    return 0.0 if tried < num_legal and best < 0.0 else best


@kernel
def refill(table):
    """Find a slot for every state of a table whose slots are all free."""
    for state in range(table.count[STATES]):
        table.slots[
            find_slot(table, table.owner[state], table.keys[state, 0], table.keys[state, 1])
        ] = state + 1


@kernel
def _values_of(rules, table, owner, s, moves, values, key):
    n = call_legal(rules, s, moves)
    call_key(rules, s, key)
    read_values(table, find(table, owner, key), moves, n, values)
    return n


class QTable:
    """Action values of one game, by position.

    Parameters
    ----------
    game : Game
        With two players.
    owner : int, 0 or 1
        Whose values :meth:`action_values` reads.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.networks import table
    >>> game = games.load("tictactoe")
    >>> table.QTable(game).action_values(game.start()).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, game, owner: int = 0):
        self.game = check_game(game, "a table of action values")
        self.owner = whole_number("owner", owner, 0, 1)
        self.episode = 0  # training games behind the values
        self.snapshots = {}  # episode -> (counts int64[2], q float64[entries])
        self.teacher = None  # the agent that this table learned from, unless its twin
        self.table = _allocate(FIRST_CAPACITY, FIRST_CAPACITY)
        self._work = (
            np.zeros(game.max_legal, np.int32),
            np.zeros(game.actions),
            np.zeros(2, np.uint64),
        )

    @property
    def states(self) -> int:
        """States that have an entry."""
        return int(self.table.count[STATES])

    @property
    def entries(self) -> int:
        """Actions that have been tried, over all states."""
        return int(self.table.count[ENTRIES])

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return Q(s, a) of every legal action, float64[num_legal].

        `gamma` has no effect, because Q is discounted already.
        """
        discount(gamma)
        moves, values, key = self._work
        state = self.game._state(state, to_move=True)
        n = (
            0
            if self.game.over(state)
            else _values_of(self.game.rules, self.table, self.owner, state, moves, values, key)
        )
        return values[moves[:n]]

    def put(self, state, action: int, value: float) -> None:
        """Set Q(s, a); raises ValueError for an action that is not legal."""
        self.game.play(state, action)  # raises if it is not legal
        self.put_under(np.array(self.game.key(state), np.uint64), int(action), value)

    def put_under(self, key, action: int, value: float) -> None:
        """Set the value of an action under any key, uint64[2]."""
        while full(self.table):
            self.grow()
        _, entry = insert(self.table, self.owner, key, action)
        self.table.q[entry] = value

    def grow(self) -> None:
        """Double the room for states or entries, whichever there is none left of.

        No value changes.
        """
        room = [
            2 * size if used >= size else size
            for used, size in (
                (self.states, len(self.table.keys)),
                (self.entries, len(self.table.action)),
            )
        ]
        self._take(self.arrays(), room)

    @staticmethod
    def _prefixes(states, entries) -> dict:
        return {
            "keys": states,
            "owner": states,
            "newest": states,
            "action": entries,
            "older": entries,
            "q": entries,
        }

    def arrays(self) -> dict:
        """Return what is in use of the table (views), as a checkpoint or a file keeps it."""
        return {
            name: getattr(self.table, name)[:n]
            for name, n in self._prefixes(self.states, self.entries).items()
        }

    def _take(self, arrays, room) -> None:
        """Replace the table by one with these contents and room for (states, entries)."""
        table = _allocate(*room)
        for name, array in arrays.items():
            getattr(table, name)[: len(array)] = array
        table.count[:] = len(arrays["keys"]), len(arrays["q"])
        refill(table)
        self.table = table

    def load_arrays(self, arrays: dict) -> None:
        """Take over what :meth:`arrays` gave, of any size.

        Raises ValueError if it does not fit together.
        """
        for name, array in self.arrays().items():
            given = arrays.get(name)
            if (
                not isinstance(given, np.ndarray)
                or given.dtype != array.dtype
                or given.ndim != array.ndim
                or given.shape[1:] != array.shape[1:]
            ):
                raise ValueError(
                    f"these arrays do not fit a table of action values: {name!r} should be"
                    f" {array.dtype} of {array.ndim} dimensions"
                )
        states, entries = len(arrays["keys"]), len(arrays["q"])
        wanted = self._prefixes(states, entries)
        # an entry's older ones have smaller numbers, so that no list of a state runs in a circle
        limits = {
            "owner": (0, 2),
            "newest": (NONE, entries),
            "action": (0, self.game.actions),
            "older": (NONE, np.arange(entries)),
        }
        if any(len(arrays[name]) != n for name, n in wanted.items()) or any(
            ((arrays[name] < low) | (arrays[name] >= high)).any()
            for name, (low, high) in limits.items()
        ):
            raise ValueError("the arrays of this table of action values do not fit together")
        self._take(
            {name: arrays[name] for name in wanted},
            [max(FIRST_CAPACITY, n + n // 2) for n in (states, entries)],
        )

    def keep_snapshot(self) -> None:
        """Remember the present values as those after so many training games."""
        self.snapshots[self.episode] = (
            self.table.count.copy(),
            self.table.q[: self.entries].copy(),
        )

    def snapshot(self, episode: int) -> "QTable":
        """Return the table as it was after `episode` games (as it is, if it has not seen so many).

        It shares the memory of this one.

        Raises
        ------
        LookupError
            If none was kept then.

        Source: [jamieson2022] Sec. "Snapshots for Creating Lower Quality Agents". Deviations: D13.
        """
        if episode >= self.episode:
            return self
        if episode not in self.snapshots:
            raise LookupError(
                f"no snapshot was kept after {episode} games, only after"
                f" {sorted(self.snapshots) or 'none'}: give snapshots=[...] to the training"
            )
        count, q = self.snapshots[episode]
        view = QTable(self.game, self.owner)
        view.table, view.episode, view.teacher = (
            self.table._replace(q=q, count=count),
            episode,
            self.teacher,
        )
        return view

    def of(self, owner: int) -> "QTable":
        """Return the table of one of two learners who share the memory of this one."""
        view = QTable(self.game, owner)
        view.table, view.episode = self.table, self.episode
        return view

    @property
    def learners(self) -> int:
        """Number of learners whose tables stand here, 1 or 2."""
        return 1 + int(self.table.owner[: self.states].any())

    def copy(self) -> "QTable":
        """Return an independent table with the same values, without snapshots."""
        twin = QTable(self.game, self.owner)
        twin.episode, keep = self.episode, self.entries
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        # a snapshot's lists begin with entries that came later
        while (late := arrays["newest"] >= keep).any():
            arrays["newest"][late] = self.table.older[arrays["newest"][late]]
        twin._take(arrays, [max(FIRST_CAPACITY, n + n // 2) for n in (self.states, keep)])
        return twin

    def checksum(self) -> str:
        """Return 16 hex digits that identify all values bit for bit, snapshots included."""
        digest = hashlib.sha256()
        for array in self.arrays().values():
            digest.update(np.ascontiguousarray(array))
        for episode, (count, q) in sorted(self.snapshots.items()):
            digest.update(np.array([episode, *count], np.int64))
            digest.update(q)
        return digest.hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must say to make the same table again."""
        return {"game": self.game.identity, "owner": self.owner, "episode": self.episode}

    def save(self, path, compressed: bool = False) -> None:
        """Write the table without its snapshots to an ``.npz`` file (replaced as a whole)."""
        own = self.copy()
        write_npz(
            path,
            {"kind": "action values", "checksum": own.checksum(), **self.settings},
            own.arrays(),
            compressed,
        )


def load(path, game) -> QTable:
    """Read a table that :meth:`QTable.save` wrote.

    Raises
    ------
    ValueError
        If the file is damaged, is no table, or belongs to another game.
    """
    meta, arrays = read(path, "action values", game, {"owner": int, "episode": int}, set())
    if meta["owner"] not in (0, 1) or meta["episode"] < 0:
        raise damaged(path, f"owner {meta['owner']}, episode {meta['episode']}")
    net = QTable(game, meta["owner"])
    net.episode = meta["episode"]
    net.load_arrays(arrays)
    return check(path, net, meta)


def _allocate(states, entries) -> Entries:
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
    )
