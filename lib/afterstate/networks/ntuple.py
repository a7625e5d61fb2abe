"""The n-tuple network as Python sees it: its weights, what it thinks of a state, and its file."""

import hashlib
import os

import numpy as np

from ..checks import fraction, whole
from ..files import write_npz
from ..games.game import check_game
from .lookup import (
    HUGE_PAGE,
    NEAR_BYTES,
    Net,
    features,
    look_up,
    read_action_values,
    symmetric_boards,
    value_of,
)
from .storage import check, damaged, read
from .tuples import check_tuples


def _table(n, value, precision):
    """Return an array of `n` equal numbers.

    Numpy asks for huge pages where an array has 4 MiB; a smaller table takes its part of one.
    Random look-ups in small pages wait for their addresses too. Every page is touched now, which
    ``np.zeros`` would leave for later.
    """
    size = n * np.dtype(precision).itemsize
    if size < HUGE_PAGE // 2:
        return np.full(n, value, precision)
    space = np.empty(size + 2 * HUGE_PAGE, np.uint8)
    table = space[-space.ctypes.data % HUGE_PAGE :][:size].view(precision)
    table[:] = value
    return table


def _check_size(game, size, counters, precision):
    """Raise ValueError if a network would have more table entries than fit indices or memory."""
    needed = game.players * size * np.dtype(precision).itemsize * (3 if counters else 1)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size >= 2**32 or needed > there:
        raise ValueError(
            f"{size:,} table entries per player do not fit"
            f" {'32-bit indices' if size >= 2**32 else f'{there / 2**30:.0f} GiB of memory'}: use"
            f" fewer or shorter tuples, such as {{'random_walk': 30, 'length': 6}}"
        )


class Network:
    """An n-tuple network for a game.

    Parameters
    ----------
    game : Game
    tuples : sequence of sequences of int
        The cells of each tuple.
    sigmoid : bool
        Whether the output goes through tanh.
    distinct_symmetries : bool
        Count equal symmetric boards once (the paper's set) or as often as they occur.
    tc_init : float
        Initial value of both temporal coherence counters of every weight; 0 = no counters.
    precision : {"float32", "float64"}
    per_action : bool
        One weight set per player and action, for Q(s, a), instead of one per player, for V(s').

    Raises
    ------
    ValueError
        If a tuple is empty, leaves the board or names a cell twice, or the tables are too large, or
        a game with symmetries does not say what they make of its actions.

    Source: [konen2021] Sec. 2.1 and App. A.3, Eq. (2). Deviations: D3, D19, D20.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.networks import ntuple
    >>> game = games.load("tictactoe")
    >>> net = ntuple.Network(game, [range(9)])
    >>> net.value(game.play(game.start(), 4), player=0)
    0.0
    """

    def __init__(
        self,
        game,
        tuples,
        *,
        sigmoid=True,
        distinct_symmetries=True,
        tc_init=0.0,
        precision="float32",
        per_action=False,
    ):
        check_tuples(check_game(game, "a network"), tuples)
        if per_action and game.action_symmetries is None and len(game.symmetries) > 1:
            raise ValueError(
                f"{game!r} has symmetries but no action_symmetries, so the values of symmetric"
                " actions can not be shared: give both to Game(...), or neither"
            )
        self.game, self.tuples = game, [[int(c) for c in cells] for cells in tuples]
        if precision not in ("float32", "float64"):
            raise ValueError(f"precision must be 'float32' or 'float64', not {precision!r}")
        num_actions = game.actions if per_action else 0
        stride, offset, size = _layout(game, self.tuples, max(1, num_actions))
        readers = [np.flatnonzero(features_of_cell) for features_of_cell in stride]
        _check_size(game, size, tc_init > 0, precision)
        counters = _table(2 * game.players * size if tc_init > 0 else 0, tc_init, precision)
        weights = _table(game.players * size, 0.0, precision)
        self.arrays = Net(
            weights,
            counters,
            stride,
            offset,
            np.concatenate(readers).astype(np.uint32),
            np.cumsum([0] + [len(r) for r in readers]).astype(np.uint64),
            game.num_codes,
            game.symmetries,
            weights.nbytes > NEAR_BYTES,
            game.cells * len(offset) // sum(map(len, readers)),
            len(self.tuples),
            size,
            bool(sigmoid),
            bool(distinct_symmetries),
            num_actions,
            _action_symmetries(game, num_actions),
        )
        self.trainings = 0  # pieces of training that the weights may come from
        num = game.symmetries.shape[0]
        self._work = (
            np.zeros(game.size, np.int32),
            np.zeros(game.players),
            np.zeros(game.cells, np.int32),
            np.zeros(len(offset), np.uint32),
            np.zeros(len(offset), precision),
            np.zeros(num, np.int32),
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights, [players, set_size] (a view)."""
        return self.arrays.weights.reshape(self.game.players, -1)

    @property
    def action_weights(self) -> np.ndarray:
        """The weights of a network of Q, [players, actions, entries] (a view).

        Raises ValueError for a network of V.
        """
        if not self.per_action:
            raise ValueError(
                "this network has one weight set per player, not one per action: read its weights"
            )
        return self.arrays.weights.reshape(self.game.players, -1, self.game.actions).transpose(
            0, 2, 1
        )

    @property
    def per_action(self) -> bool:
        """Whether it is a network of Q(s, a), with one weight set per player and action."""
        return self.arrays.num_actions > 0

    def value(self, state, player: int) -> float:
        """Return V(state) for `player`, who has just made this afterstate.

        Raises ValueError for a player or state the game does not have.
        """
        if self.per_action:
            raise ValueError(
                "this network has values Q(s, a) of actions, not V of afterstates: ask for"
                " action_values(state)"
            )
        player = whole(f"a player of {self.game.name}", player, 0, self.game.players - 1)
        _, _, cells, index, weight, boards = self._work
        cells[:] = self.game.board(state)
        features(self.arrays, cells, index)
        look_up(self.arrays, player, index, len(index), weight)
        return float(
            value_of(
                self.arrays, weight, boards, symmetric_boards(self.arrays, cells, index, boards)
            )
        )

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action for the mover, float64[num_legal].

        In a deterministic game V is 0 for a terminal afterstate. A network of Q returns Q(state,
        action): reward and discount are part
        of it.  Source: [konen2021] Sec. 2.6. Deviations: D1, D2.
        """
        game, gamma = self.game, fraction("gamma, the discount factor,", gamma)
        state = game._state(state, to_move=True)
        moves, out = game.legal(state), np.zeros(game.max_legal)
        read_action_values(
            game.rules, self.arrays, state, moves, len(moves), gamma, self._work, out
        )
        return out[: len(moves)]

    def active(self) -> float:
        """Return the share of weights that are not 0, over all players' sets."""
        return float(np.count_nonzero(self.weights) / self.weights.size)

    def checksum(self) -> str:
        """Return 16 hex digits that identify the weights bit for bit."""
        return hashlib.sha256(np.ascontiguousarray(self.weights)).hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must say to make the same network again."""
        settings = {
            "game": self.game.identity,
            "tuples": self.tuples,
            "sigmoid": bool(self.arrays.sigmoid),
            "distinct_symmetries": bool(self.arrays.distinct),
            "precision": str(self.arrays.weights.dtype),
        }
        return settings | ({"per_action": True} if self.per_action else {})

    def save(self, path, compressed: bool = False) -> None:
        """Write the weights that are not 0, without counters, to an ``.npz`` file.

        The file is replaced as a whole.
        """
        flat = self.weights.ravel()
        # -0.0, what underflow leaves, is part of the checksum
        where = np.flatnonzero((flat != 0) | np.signbit(flat))
        write_npz(
            path,
            {"kind": "weights", "checksum": self.checksum(), **self.settings},
            {
                "where": where.astype(np.uint32 if flat.size < 2**32 else np.uint64),
                "weights": flat[where],
            },
            compressed,
        )


def load(path, game) -> Network:
    """Read a network that :meth:`Network.save` wrote.

    Raises
    ------
    ValueError
        If the file is damaged, is no weight file, or holds weights of another game.
    """
    header = {"tuples": list, "sigmoid": bool, "distinct_symmetries": bool, "precision": str}
    meta, arrays = read(path, "weights", game, header, {"where", "weights"})
    net = Network(
        game,
        meta["tuples"],
        sigmoid=meta["sigmoid"],
        distinct_symmetries=meta["distinct_symmetries"],
        precision=meta["precision"],
        per_action=meta.get("per_action", False),
    )
    where, weights, flat = arrays["where"], arrays["weights"], net.arrays.weights
    if (
        where.ndim != 1
        or where.dtype.kind != "u"
        or weights.shape != where.shape
        or weights.dtype != flat.dtype
        or (where[1:] <= where[:-1]).any()
        or (len(where) and where[-1] >= len(flat))
    ):
        raise damaged(path, "its arrays do not fit the network it describes")
    flat[where.astype(np.int64)] = weights
    return check(path, net, meta)


def _action_symmetries(game, num_actions) -> np.ndarray:
    """Return what every symmetry makes of every action, int32[num_sym, num_actions]."""
    if game.action_symmetries is None or num_actions == 0:
        return np.tile(np.arange(num_actions, dtype=np.int32), (len(game.symmetries), 1))
    return np.ascontiguousarray(game.action_symmetries, np.int32)


def _layout(game, tuples, num_sets):
    """Return strides and offsets of all features, and the size of one player's weights.

    Each tuple has `num_sets` tables in one another.
    """
    m, num = len(tuples), game.symmetries.shape[0]
    stride, offset = np.zeros((game.cells, num * m), np.uint32), np.zeros(num * m, np.uint32)
    size = 0
    for i, cells in enumerate(tuples):
        radix = num_sets
        offset[i::m] = size % 2**32
        for c in cells:
            for k in range(num):
                stride[game.symmetries[k, c], k * m + i] = radix % 2**32
            radix *= int(game.num_codes[c])
        size += radix
    return stride, offset, size
