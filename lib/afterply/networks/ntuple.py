"""N-tuple networks as Python sees them: their tuples, weights, values of states, and files.

``lookup.py`` holds their kernels.
"""

import hashlib
import itertools
from collections import Counter

import numpy as np

from ..checks import boolean, fraction, is_whole, one_of, whole
from ..files import damaged, published_file, read_learned, read_yaml, with_checksum, write_npz
from ..games.calls import Arrays
from ..games.conformance import random_game
from ..games.game import check_game
from ..kernel.functions import LANES
from ..kernel.random import new_rng, random_int
from ..processes import memory
from .lookup import TABLES, Net, read_action_values, value_of

__all__ = ["Network", "load", "make_tuples"]

HUGE_PAGE = 2 << 20  # bytes
# a processor's nearer caches and its share of the shared one: nothing but speed depends on it
NEAR_BYTES = 8 << 20
# bytes up to which tables that all candidates are looked up in together stay near: then looking up
# anew what two changed cells concern is slower
TOGETHER = 128 << 10
# steps to all indices of a board that cost little; plies of a random game to look at
SMALL, PLIES = 32, 20
# what a file need not say of a network
USUAL = {"symmetries": True, "shared_tables": False, "per_action": False}
WORK = {
    "after": ("int32", "size"),
    "reward": ("float64", "players"),
    "cells": ("int32", "cells"),
    "index": ("uint32", "features"),
    "boards": ("int32", "boards"),
}


def random_walk(game, num: int, length: int, rng, corners: bool = False) -> list[list[int]]:
    """Draw `num` n-tuples as random walks over neighbouring cells; they may repeat."""
    # with `corners`, the cells that two neighbours of a cell share are its neighbours, too
    neighbours = _with_corners(game.neighbours) if boolean("corners", corners) else game.neighbours
    whole("random_walk, the number of n-tuples,", num)
    whole(f"length, the cells of an n-tuple in {game.name},", length, 1, game.cells)
    tuples = []
    for _ in range(num):
        walk = [int(random_int(rng, game.cells))]
        while len(walk) < length:
            if set(walk).issuperset(n for cell in walk for n in neighbours[cell]):
                raise ValueError(f"no walk of length {length} begins at cell {walk[0]}")
            beside = neighbours[walk[random_int(rng, len(walk))]]
            cell = beside[random_int(rng, len(beside))]
            if cell not in walk:
                walk.append(int(cell))
        tuples.append(sorted(walk))
    return tuples


def _with_corners(neighbours) -> list[list[int]]:
    found = []
    for cell, beside in enumerate(neighbours):
        ways = Counter(int(far) for near in beside for far in set(neighbours[near]))
        over = [far for far, number in ways.items() if number > 1 and far != cell]
        found.append(sorted({*map(int, beside), *over}))
    return found


def make_tuples(game, wanted, rng) -> list[list[int]]:
    """Return the tuples that a parameter asks for; raises ValueError for anything else.

    `wanted` has the cells of each tuple; or it is "all", one tuple of all cells; the name of a list
    in ``data/ntuples.yaml``; or ``{"random_walk": number, "length": cells}``, drawn with `rng`, and
    with ``"corners": True`` over corners, too.
    """
    walk = {"random_walk", "length"}
    if isinstance(wanted, dict) and walk <= set(wanted) <= walk | {"corners"}:
        num, length = wanted["random_walk"], wanted["length"]
        return random_walk(game, num, length, rng, wanted.get("corners", False))
    if wanted == "all":
        return [list(range(game.cells))]
    if isinstance(wanted, str):
        return listed_tuples(wanted)
    if isinstance(wanted, (list, tuple)):
        return list(wanted)
    raise ValueError(
        f"tuples={wanted!r} is neither a list of cell lists, 'all', a name, nor {{'random_walk':"
        " number, 'length': cells}} (and 'corners': True)"
    )


def listed_tuples(name: str) -> list[list[int]]:
    """Return the n-tuple list of a name in ``data/ntuples.yaml``; ValueError if there is none."""
    lists = read_yaml(published_file("ntuples.yaml"))
    if name not in lists:
        known = ", ".join(sorted(lists))
        raise ValueError(f"there is no n-tuple list {name!r} in data/ntuples.yaml: {known}")
    return lists[name]["tuples"]


def content_of_name(wanted) -> list | None:
    """Return the n-tuples that a parameter names, None if it says itself what it wants."""
    named = isinstance(wanted, str) and wanted != "all"
    return listed_tuples(wanted) if named else None


def check_tuples(game, tuples) -> None:
    """Raise ValueError if there is no tuple, or one of them is empty or not within the board."""
    if not tuples:
        raise ValueError("a network needs at least one n-tuple")
    for cells in tuples:
        if not isinstance(cells, (list, tuple, range)) or not all(map(is_whole, cells)):
            raise ValueError(f"an n-tuple is a list of cell numbers, not {cells!r}")
        off = [c for c in cells if not 0 <= c < game.cells]
        if off or not cells or len(set(cells)) < len(cells):
            what = f"cell {off[0]} is off the board" if off else "it is empty or names a cell twice"
            raise ValueError(
                f"n-tuple {cells}: {what}; {game.name} has the cells 0 to {game.cells - 1}"
            )


def _table(n, value, precision):
    # random look-ups in small pages wait for their addresses, too: numpy asks for huge pages where
    # an array has 4 MiB, a smaller table takes part of one; every page is touched now, not later
    size = n * np.dtype(precision).itemsize
    if size < HUGE_PAGE // 2:
        return np.full(n, value, precision)
    space = np.empty(size + 2 * HUGE_PAGE, np.uint8)
    table = space[-space.ctypes.data % HUGE_PAGE :][:size].view(precision)
    table[:] = value
    return table


def _layout(game, tuples, symmetries, num_sets):
    m, num = len(tuples), len(symmetries)
    stride, offset = np.zeros((game.cells, num * m), np.uint32), np.zeros(num * m, np.uint32)
    size = 0
    for i, cells in enumerate(tuples):
        radix = num_sets
        offset[i::m] = size % 2**32
        for c in cells:
            for k in range(num):
                stride[symmetries[k, c], k * m + i] = radix % 2**32
            radix *= int(game.num_codes[c])
        size += radix
    return stride, offset, size


def _is_cheap_anew(game, num_features, spared) -> bool:
    """Return whether all indices of a board cost little, and moves change more than a few cells."""
    at_once = LANES if num_features >= LANES else 1
    if game.cells * num_features > SMALL * at_once:
        return False
    played = random_game(game, game.start(), new_rng(0), 1 + PLIES)
    changed = [np.count_nonzero(a != b) for a, b in itertools.pairwise(map(game.board, played))]
    return sum(changed) >= spared * len(changed) > 0


class Network:
    """An n-tuple network for a game, with the cells of each tuple.

    `sigmoid`: the output goes through tanh. `distinct_symmetries`: equal symmetric boards count
    once (the paper's set), or as often as they occur. `symmetries`: whether they count at all.
    `shared_tables`: one weight set for all players instead of one for each. `tc_init`: initial
    value of the counters of temporal coherence; 0 = none. `per_action`: a weight set for each
    action, too, for Q(s, a) instead of V(s'). `precision`: "float32" or "float64", of weights.
    Raises ValueError for bad tuples and too large tables.

    Source: [konen2021] Sec. 2.1 and App. A.3, Eq. (2). Deviations: D3, D19, D20.

    >>> from afterply import games
    >>> game = games.load("tictactoe")
    >>> net = Network(game, [range(9)])
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
        symmetries=True,
        shared_tables=False,
        tc_init=0.0,
        precision="float32",
        per_action=False,
    ):
        check_tuples(check_game(game, "a network"), tuples)
        maps = game.symmetries if symmetries else np.arange(game.cells, dtype=np.int32)[None]
        if per_action and game.action_symmetries is None and len(maps) > 1:
            raise ValueError(
                f"{game!r} has symmetries but no action_symmetries, so the values of symmetric"
                " actions can not be shared: give both to Game(...), or neither"
            )
        self.game, self.tuples = game, [[int(c) for c in cells] for cells in tuples]
        one_of("precision", precision, ("float32", "float64"))
        num_actions = game.actions if per_action else 0
        stride, offset, size = _layout(game, self.tuples, maps, max(1, num_actions))
        num_weights = size * (1 if shared_tables else game.players)
        needed = num_weights * np.dtype(precision).itemsize * (3 if tc_init > 0 else 1)
        if size >= 2**32 or needed > memory():
            raise ValueError(
                f"{size:,} table entries per player do not fit 32-bit indices, or all"
                f" {needed / 2**30:,.1f} GiB not the memory: use fewer or shorter tuples, such as"
                " {'random_walk': 30, 'length': 6}"
            )
        counters = _table(2 * num_weights if tc_init > 0 else 0, tc_init, precision)
        weights = _table(num_weights, 0.0, precision)
        readers = [np.flatnonzero(features_of_cell) for features_of_cell in stride]
        spared = game.cells * len(offset) // sum(map(len, readers))  # by as many changed cells
        anew = _is_cheap_anew(game, len(offset), spared)
        together = int(TABLES) * weights.itemsize * size // len(self.tuples)
        most = 1 if together <= TOGETHER else 2
        moved = np.tile(np.arange(num_actions), (len(maps), 1))
        if per_action and len(maps) > 1:
            moved = game.action_symmetries
        self.arrays = Net(
            weights=weights,
            counters=counters,
            stride=stride,
            offset=offset,
            readers=np.concatenate(readers).astype(np.uint32),
            readers_of=np.cumsum([0] + [len(r) for r in readers]).astype(np.uint64),
            num_codes=game.num_codes,
            symmetries=maps,
            far=weights.nbytes > NEAR_BYTES,
            few=0 if anew else min(most, spared // 2),
            anew=anew,
            num_tuples=len(self.tuples),
            set_size=size,
            player_step=0 if shared_tables else size,
            sigmoid=bool(sigmoid),
            distinct=bool(distinct_symmetries),
            num_actions=num_actions,
            action_symmetries=np.ascontiguousarray(moved, np.int32),
        )
        self.trainings = 0  # pieces of training that the weights may come from
        sizes = {"features": len(offset), "boards": len(maps)}
        self._memory = Arrays(WORK, game, **sizes)

    @property
    def _work(self) -> tuple:
        """The working memory of :func:`lookup.read_action_values`, which each thread has."""
        return self._memory.arrays

    @property
    def weights(self) -> np.ndarray:
        """The weights, [players, set_size], or [1, set_size] with shared tables (a view)."""
        return self.arrays.weights.reshape(-1, self.arrays.set_size)

    @property
    def per_action(self) -> bool:
        """Whether it is a network of Q(s, a), with one weight set per player and action."""
        return self.arrays.num_actions > 0

    def value(self, state, player: int) -> float:
        """Return V(state) for `player`, who has just made this afterstate."""
        if self.per_action:
            raise ValueError("a network of Q has no V of afterstates: ask for action_values(state)")
        player = whole(f"a player of {self.game.name}", player, 0, self.game.players - 1)
        _, _, cells, index, boards = self._work
        cells[:] = self.game.board(state)
        return float(value_of(self.arrays, player, cells, index, boards))

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action for the mover, float64[num_legal].

        In a deterministic game V is 0 for a terminal afterstate. A network of Q returns Q(state,
        action). Source: [konen2021] Sec. 2.6. Deviations: D1, D2.
        """
        game, gamma = self.game, fraction("gamma, the discount factor,", gamma)
        state = game._state(state, to_move=True)
        moves, out = game.legal(state), np.zeros(game.max_legal)
        n = len(moves)
        read_action_values(game.rules, self.arrays, state, moves, n, gamma, self._work, out)
        return out[:n]

    def active(self) -> float:
        """Return the share of weights that are not 0, over all players' sets."""
        return float(np.count_nonzero(self.weights) / self.weights.size)

    def checksum(self) -> str:
        """Return 16 hex digits that identify the weights bit for bit."""
        return hashlib.sha256(np.ascontiguousarray(self.weights)).hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must say to make the same network again."""
        net, game = self.arrays, self.game
        usual = {
            "symmetries": len(net.symmetries) == len(game.symmetries),
            "shared_tables": net.player_step == 0,
            "per_action": self.per_action,
        }
        return {
            "game": game.identity,
            "tuples": self.tuples,
            "sigmoid": net.sigmoid,
            "distinct_symmetries": net.distinct,
            "precision": str(net.weights.dtype),
            **{name: value for name, value in usual.items() if value != USUAL[name]},
        }

    def contents(self) -> tuple[dict, dict]:
        """Return header and arrays of a file: weights that are not 0, and the gaps between them."""
        flat = self.weights.ravel()
        # -0.0, what underflow leaves, is part of the checksum
        where = np.flatnonzero((flat != 0) | np.signbit(flat))
        meta = {"kind": "weights", "checksum": self.checksum(), **self.settings}
        kind = np.uint32 if flat.size < 2**32 else np.uint64
        return meta, {"gaps": np.diff(where, prepend=0).astype(kind), "weights": flat[where]}

    def save(self, path, compressed: bool = False) -> None:
        """Write the network to an ``.npz`` file, which is replaced as a whole."""
        write_npz(path, *self.contents(), compressed)


def load(path, game) -> Network:
    """Read a network of :meth:`Network.save`; ValueError if it is damaged, or of another game."""
    header = {"tuples": list, "sigmoid": bool, "distinct_symmetries": bool, "precision": str}
    meta, arrays = read_learned(path, "weights", game, header, {"gaps", "weights"})
    settings = USUAL | meta
    net = Network(game, **{name: settings[name] for name in (*header, *USUAL)})
    gaps, weights, flat = arrays["gaps"], arrays["weights"], net.arrays.weights
    fits = weights.shape == gaps.shape and weights.dtype == flat.dtype
    fits = fits and np.isfinite(weights).all() and gaps.ndim == 1 and gaps.dtype.kind == "u"
    where = np.cumsum(gaps if fits else [], dtype=np.int64)
    if not fits or not 0 <= where.min(initial=0) <= where.max(initial=0) < len(flat):
        raise damaged(path, "its arrays do not fit the network it describes")
    flat[where] = weights
    return with_checksum(path, net, meta)
