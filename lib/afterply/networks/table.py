"""Tables of action values: a hash table that holds only what has been visited.

States and entries are numbered in the order of their first visit and never removed. So the table at
an earlier time is a prefix of the present one, and a *snapshot* of it keeps only its two counts and
a copy of `q`. An action without an entry has the value `initial`. Kernels stop when the table is
full, and Python makes a larger one. After 16,000 games of Nine Men's Morris a table has some 1.4
million states and entries, 90 MB.
"""

import copy
import hashlib
import reprlib
from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..checks import boolean, fraction, number, one_of, whole
from ..files import damaged, open_learned, out_of_range, with_checksum, write_npz
from ..games.calls import allocate
from ..games.game import check_game
from ..kernel.compile import kernel

__all__ = ["QTable", "load"]

FIRST_CAPACITY = 1 << 10
MOST_INFLATED = 100  # times its file that a table takes in memory; those of Tic-Tac-Toe take 4
FILE_DEFAULTS = {"initial": 0.0, "ties": "random"}
NONE = -1
MAX_VALUE = np.finfo(float).max  # the greatest finite number
STATES, ENTRIES = range(2)  # places in `count`

# fmt: off
ARRAYS = {
    "slots":  ("int32", "capacity"),   # hash of (owner, key) -> state number + 1, 0 = free
    "keys":   ("uint64", "states", 2),  # what the rule `key` says of a state
    "owner":  ("int8", "states"),      # whose table it belongs to: two learners may share one
    "newest": ("int32", "states"),     # its newest entry, or NONE
    "action": ("int32", "entries"),
    "older":  ("int32", "entries"),    # the next older entry of the same state, or NONE
    "q":      ("float64", "entries"),  # Q(s, a)
    "count":  ("int64", 2),            # states, entries
}
# fmt: on
# `initial`: float, the value of an action without an entry
Entries = namedtuple("Entries", [*ARRAYS, "initial"])


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
        same = table.keys[state, 0] == k0 and table.keys[state, 1] == k1
        if same and table.owner[state] == owner:
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
    states, entries = table.count[STATES], table.count[ENTRIES]
    return states >= table.keys.shape[0] or entries >= table.action.shape[0]


@kernel
def insert(table, owner, key, action):
    """Return state number and entry of an action, new ones if need be; the table is not full."""
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
    """Write Q of `n` legal actions into ``values[action]`` (float64[actions])."""
    for i in range(n):
        values[moves[i]] = table.initial
    entry = table.newest[state] if state >= 0 else np.int32(NONE)
    while entry != NONE:
        if entry < table.count[ENTRIES]:
            values[table.action[entry]] = table.q[entry]
        entry = table.older[entry]


@kernel
def best_value(table, state, num_legal):
    """Return the greatest Q of a state's legal actions.  Source: [jamieson2022] Eq. (2); D5."""
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
        k0, k1 = table.keys[state, 0], table.keys[state, 1]
        table.slots[find_slot(table, table.owner[state], k0, k1)] = state + 1


class QTable:
    """Action values of a game for two players, by position.

    Parameters
    ----------
    game : Game
        The game; its rule `key` tells positions apart.
    owner : {0, 1}
        The learner to whom the values belong; two learners may share one memory.
    initial : float
        The value of an action that was never tried.
    ties : {"random", "first"}
        Which of several best actions an agent chooses that is greedy in this table.

    Examples
    --------
    >>> from afterply import games
    >>> game = games.load("tictactoe")
    >>> QTable(game).action_values(game.start()).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, game, owner: int = 0, initial: float = 0.0, ties: str = "random"):
        self.game = check_game(game, "a table of action values")
        self.owner = whole("owner", owner, 0, 1)
        self.ties = one_of("ties", ties, ("random", "first"))
        self.episode = 0  # training games behind the values
        self.trainings = 0  # pieces of training that the values may come from
        self.snapshots = {}  # episode -> (counts int64 [2], q float64 [entries])
        self.teacher = None  # the agent that this table learned from, unless its twin
        self.unbeaten = 0  # of a teacher: training games after `episode` without a lost checkpoint
        self.outcomes = None  # int64 [2, 3]: training games by seat: won, drawn, lost
        self.table = table_of({}, number("initial", initial))

    @property
    def states(self) -> int:
        """Number of states that have an entry."""
        return int(self.table.count[STATES])

    @property
    def entries(self) -> int:
        """Number of actions that have been tried, over all states."""
        return int(self.table.count[ENTRIES])

    @property
    def learners(self) -> int:
        """Number of learners whose values stand in this memory, 1 or 2."""
        has_second_owner = self.table.owner[: self.states].any()
        return 2 if has_second_owner else 1

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return Q(s, a) of every legal action, float64 [num_legal].

        The values are discounted already, so `gamma` changes nothing.
        """
        fraction("gamma, the discount factor,", gamma)
        state = self.game._state(state, to_move=True)
        moves = self.game.legal(state)
        key = np.array(self.game.key(state), np.uint64)
        number_of_state = find(self.table, self.owner, key)
        values = np.zeros(self.game.actions)
        read_values(self.table, number_of_state, moves, len(moves), values)
        return values[moves]

    def put(self, state, action: int, value: float) -> None:
        """Set Q(s, a); ValueError if the action is not legal."""
        self.game.play(state, action)  # raises the error
        self.put_under(np.array(self.game.key(state), np.uint64), int(action), value)

    def put_under(self, key, action: int, value: float) -> None:
        """Set the value of an action under a key of any state, uint64 [2].

        ValueError for what is no action, no finite value or no key.
        """
        whole("action", action, 0, self.game.actions - 1)
        number("value", value, -MAX_VALUE, MAX_VALUE)
        is_key = isinstance(key, np.ndarray) and key.dtype == np.uint64 and key.shape == (2,)
        if not is_key:
            raise ValueError(f"a key is two numbers of the type uint64, not {key!r}")
        if full(self.table):
            self.grow()
        _, entry = insert(self.table, self.owner, key, action)
        self.table.q[entry] = value

    def grow(self) -> None:
        """Make more room for states and entries; no value changes."""
        self.table = table_of(self.arrays(), self.table.initial)

    def arrays(self) -> dict:
        """Return the part of the table that is in use (views), for a checkpoint or a file."""
        table = self.table
        return {
            "keys": table.keys[: self.states],
            "owner": table.owner[: self.states],
            "newest": table.newest[: self.states],
            "action": table.action[: self.entries],
            "older": table.older[: self.entries],
            "q": table.q[: self.entries],
        }

    def load_arrays(self, arrays: dict) -> None:
        """Replace the contents by those of :meth:`arrays`; ValueError if they do not fit."""
        if not isinstance(arrays, Mapping):
            raise TypeError(f"a table is read from a dictionary of arrays, not {arrays!r}")
        contents = {name: arrays.get(name) for name in self.arrays()}
        for name, array in contents.items():
            if not isinstance(array, np.ndarray):
                raise ValueError(f"{name!r} of a table must be an array, not {array!r}")
        if not self._fit_together(contents):
            forms = [f"{name} {array.dtype}{[*array.shape]}" for name, array in contents.items()]
            raise ValueError(
                "these arrays do not fit together as a table of action values:"
                f" {', '.join(forms)}, with {reprlib.repr(contents['q'])} in q"
            )
        self.table = table_of(contents, self.table.initial)

    def _fit_together(self, contents: dict) -> bool:
        """Return whether arrays have the types, shapes and numbers of one table."""
        num_states = contents["owner"].size
        num_entries = contents["q"].size
        declared = {name: ARRAYS[name] for name in contents}
        expected = allocate(declared, states=num_states, entries=num_entries)
        for name, array in contents.items():
            if array.dtype != expected[name].dtype or array.shape != expected[name].shape:
                return False
        limits = {
            "owner": (0, 2),
            "newest": (NONE, num_entries),
            "action": (0, self.game.actions),
            # The next older entry has a smaller number: no list runs in a circle.
            "older": (NONE, np.arange(num_entries)),
        }
        return not out_of_range(contents, limits)

    def keep_snapshot(self) -> None:
        """Keep the present values as those after `episode` training games."""
        q = self.table.q[: self.entries].copy()
        self.snapshots[self.episode] = (self.table.count.copy(), q)

    def snapshot(self, episode: int) -> "QTable":
        """Return the table after `episode` games, a view; LookupError if none was kept.

        Source: [jamieson2022]. Deviations: D13.
        """
        if whole("the episode of a snapshot", episode, 0) >= self.episode:
            return self
        if episode not in self.snapshots:
            raise LookupError(
                f"no snapshot was kept after {episode} games, only after"
                f" {sorted(self.snapshots) or 'none'}: give snapshots=[...] to the training"
            )
        count, q = self.snapshots[episode]
        return self._but(table=self.table._replace(q=q, count=count), episode=episode)

    def of(self, owner: int) -> "QTable":
        """Return the table of one of two learners who share the memory of this one."""
        return self._but(owner=owner)

    def copy(self) -> "QTable":
        """Return an independent table with the same values, without snapshots."""
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        # The lists of a snapshot may begin with entries that are newer than it: skip these.
        newest = arrays["newest"]
        is_later = newest >= self.entries
        while is_later.any():
            newest[is_later] = self.table.older[newest[is_later]]
            is_later = newest >= self.entries
        return self._but(table=table_of(arrays, self.table.initial))

    def _but(self, **attributes) -> "QTable":
        """Return a table with other attributes, which shares the rest, without snapshots."""
        other = copy.copy(self)
        other.snapshots = {}
        vars(other).update(attributes)
        return other

    def checksum(self) -> str:
        """Return 16 hex digits that identify all values bit for bit, snapshots included."""
        digest = hashlib.sha256()
        for array in self.arrays().values():
            digest.update(np.ascontiguousarray(array))
        for episode, (count, q) in sorted(self.snapshots.items()):
            digest.update(np.array([episode, *count], np.int64))
            digest.update(q)
        options = self._changed_options()
        if options:
            digest.update(repr(options).encode())
        return digest.hexdigest()[:16]

    def _changed_options(self) -> dict:
        """Return which of ``FILE_DEFAULTS`` are otherwise here."""
        options = {"initial": self.table.initial, "ties": self.ties}
        return {name: value for name, value in options.items() if value != FILE_DEFAULTS[name]}

    @property
    def settings(self) -> dict:
        """What a file must state so that the same table can be made again."""
        settings = {"game": self.game.identity, "owner": self.owner, "episode": self.episode}
        return settings | self._changed_options()

    def contents(self) -> tuple[dict, dict]:
        """Return header and arrays of a file: the table without its snapshots."""
        without_snapshots = self.copy()
        checksum = without_snapshots.checksum()
        meta = {"kind": "action values", "checksum": checksum, **self.settings}
        return meta, without_snapshots.arrays()

    def save(self, path, compressed: bool = False) -> None:
        """Write the table to an ``.npz`` file, which is replaced as a whole."""
        boolean("compressed", compressed)
        write_npz(path, *self.contents(), compressed)


def table_of(arrays: dict, initial: float) -> Entries:
    """Return a table with these contents, and room for half as much again."""
    num_states = len(arrays.get("keys", ()))
    num_entries = len(arrays.get("q", ()))
    max_states = max(FIRST_CAPACITY, num_states + num_states // 2)
    max_entries = max(FIRST_CAPACITY, num_entries + num_entries // 2)
    # a power of 2, of which at most one half is taken
    capacity = 1 << int(np.ceil(np.log2(2 * (max_states + 1))))
    memory = allocate(ARRAYS, capacity=capacity, states=max_states, entries=max_entries)
    memory["newest"][:] = NONE
    memory["older"][:] = NONE
    for name, array in arrays.items():
        memory[name][: len(array)] = array
    memory["count"][:] = (num_states, num_entries)
    table = Entries(**memory, initial=float(initial))
    refill(table)
    return table


def load(path, game) -> QTable:
    """Read a table of :meth:`QTable.save`; ValueError if it is damaged, or of another game."""
    header = {"owner": int, "episode": int}
    archive = open_learned(path, "action values", game, header, {*ARRAYS} - {"slots", "count"})
    meta = archive.meta
    if meta["owner"] not in (0, 1) or meta["episode"] < 0:
        raise damaged(path, f"owner {meta['owner']}, episode {meta['episode']}")
    options = {name: meta.get(name, default) for name, default in FILE_DEFAULTS.items()}
    try:
        net = QTable(game, meta["owner"], **options)
    except (TypeError, ValueError) as error:
        raise damaged(path, error) from error
    net.episode = meta["episode"]
    # No header says how many states there are; but their keys are all different, which takes room.
    if archive.num_bytes(net.arrays()) > MOST_INFLATED * Path(path).stat().st_size:
        raise damaged(path, "no table of action values is so large in memory, and so small here")
    net.load_arrays({name: archive[name] for name in net.arrays()})
    return with_checksum(path, net, meta)
