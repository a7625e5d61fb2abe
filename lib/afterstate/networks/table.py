"""A table of action values for any game: a hash table that holds only what has been visited.

Its arrays, and what they cost, stand in the head of ``entries.py``. States and entries are never
removed, so the table at an earlier time is a prefix of the present one: a *snapshot* keeps only its
two counts and a copy of the values. An action without an entry has the table's initial value.
"""

import hashlib

import numpy as np

from ..checks import fraction, number, one_of, whole
from ..files import write_npz
from ..games.game import check_game
from .entries import ENTRIES, NONE, STATES, allocate, full, insert, refill, values_of
from .storage import check, damaged, read

FIRST_CAPACITY = 1 << 10


class QTable:
    """Action values of one game, by position.

    Parameters
    ----------
    game : Game
        With two players.
    owner : int, 0 or 1
        Whose values :meth:`action_values` reads.
    initial : float
        Value of an action that was never tried.
    ties : {"random", "first"}
        What an agent that is greedy in this table does with equal values.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.networks import table
    >>> game = games.load("tictactoe")
    >>> table.QTable(game).action_values(game.start()).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, game, owner: int = 0, initial: float = 0.0, ties: str = "random"):
        self.game = check_game(game, "a table of action values")
        self.owner = whole("owner", owner, 0, 1)
        self.ties = one_of("ties", ties, ("random", "first"))
        self.episode = 0  # training games behind the values
        self.trainings = 0  # pieces of training that the values may come from
        self.snapshots = {}  # episode -> (counts int64[2], q float64[entries])
        self.teacher = None  # the agent that this table learned from, unless its twin
        self.outcomes = None  # int64 [2, 3]: training games by seat: won, drawn, lost
        self.table = allocate(FIRST_CAPACITY, FIRST_CAPACITY, number("initial", initial))
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
        fraction("gamma, the discount factor,", gamma)
        moves, values, key = self._work
        state = self.game._state(state, to_move=True)
        n = (
            0
            if self.game.over(state)
            else values_of(self.game.rules, self.table, self.owner, state, moves, values, key)
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
        table = allocate(*room, self.table.initial)
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
        view = QTable(self.game, self.owner, self.table.initial, self.ties)
        view.table, view.episode, view.teacher = (
            self.table._replace(q=q, count=count),
            episode,
            self.teacher,
        )
        return view

    def of(self, owner: int) -> "QTable":
        """Return the table of one of two learners who share the memory of this one."""
        view = QTable(self.game, owner, self.table.initial, self.ties)
        view.table, view.episode = self.table, self.episode
        return view

    @property
    def learners(self) -> int:
        """Number of learners whose tables stand here, 1 or 2."""
        return 1 + int(self.table.owner[: self.states].any())

    def copy(self) -> "QTable":
        """Return an independent table with the same values, without snapshots."""
        twin = QTable(self.game, self.owner, self.table.initial, self.ties)
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
        if self.unusual:
            digest.update(repr(self.unusual).encode())
        return digest.hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must say to make the same table again."""
        same = {"game": self.game.identity, "owner": self.owner, "episode": self.episode}
        return same | self.unusual

    @property
    def unusual(self) -> dict:
        """Initial value and ties, where they are not the usual ones."""
        usual = {"initial": 0.0, "ties": "random"}
        own = {"initial": self.table.initial, "ties": self.ties}
        return {name: own[name] for name in usual if own[name] != usual[name]}

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
    try:
        net = QTable(game, meta["owner"], meta.get("initial", 0.0), meta.get("ties", "random"))
    except (TypeError, ValueError) as error:
        raise damaged(path, error) from error
    net.episode = meta["episode"]
    net.load_arrays(arrays)
    return check(path, net, meta)
