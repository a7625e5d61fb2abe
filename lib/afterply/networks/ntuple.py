"""N-tuple networks as Python sees them: their tuples, weights, values of states, and files.

``lookup.py`` holds their kernels.
"""

import hashlib
import itertools
import math
from collections import Counter

import numpy as np

from ..checks import boolean, fraction, generator, is_whole, listed, number, one_of, whole
from ..files import damaged, open_learned, published_file, read_yaml, with_checksum, write_npz
from ..games.calls import Arrays
from ..games.conformance import random_game
from ..games.game import check_game
from ..kernel.functions import FOUR, LANES
from ..kernel.random import new_rng, random_int
from ..processes import memory
from .lookup import TABLES, Net, read_action_values, value_of

__all__ = ["Network", "load", "make_tuples"]

# Only speed depends on these.
HUGE_PAGE = 2 << 20  # bytes
NEAR_BYTES = 8 << 20  # a processor's own caches and its part of the shared one
# Bytes of tables that stay in the caches while all candidates are looked up in them together. Then
# a look-up costs so little that looking up only what two changed cells concern is slower.
TOGETHER = 128 << 10
SMALL = 32  # steps that compute all indices of a board at little cost
PLIES = 20  # of a random game that shows how many cells a move changes

FILE_DEFAULTS = {
    "symmetries": True,
    "shared_tables": False,
    "per_action": False,
    "weight_init": 0.0,
    "promoted": True,
}
WORK = {
    "after": ("int32", "size"),
    "reward": ("float64", "players"),
    "cells": ("int32", "cells"),
    "index": ("uint32", "features"),
    "boards": ("int32", "boards"),
    "sums": ("float64", FOUR),  # of neighbouring actions
}
MOST_TUPLES = 1 << 16  # drawn at random
PIECE = 1 << 24  # weights that are written or read at once: positions take twice their memory
LARGEST_INIT = 1e30  # what a float32 holds, and some sums of it


def random_walk(game, num: int, length: int, rng, corners: bool = False) -> list[list[int]]:
    """Draw `num` n-tuples of `length` cells as random walks; they may repeat.

    A walk goes on from any of its cells to a neighbour. With `corners`, the cells at the corners of
    a cell are its neighbours, too. No walk goes to the stage, which all tuples read. ValueError if
    the walk at some cell cannot get that long.
    """
    neighbours = [[c for c in cells if c != game.stage] for cells in game.neighbours]
    if boolean("corners", corners):
        neighbours = _with_corners(neighbours)
    first_cells = [cell for cell in range(game.cells) if cell != game.stage]
    whole("random_walk, the number of n-tuples,", num, 1, MOST_TUPLES)
    whole(f"length, the cells of an n-tuple in {game.name},", length, 1, len(first_cells))
    return [_walk(first_cells, neighbours, length, rng) for _ in range(num)]


def _walk(first_cells, neighbours, length, rng) -> list[int]:
    """Return the cells of one random walk, sorted."""
    walk = [first_cells[random_int(rng, len(first_cells))]]
    while len(walk) < length:
        if all(set(neighbours[cell]) <= set(walk) for cell in walk):
            raise ValueError(f"no walk of length {length} begins at cell {walk[0]}")
        origin = walk[random_int(rng, len(walk))]
        cell = neighbours[origin][random_int(rng, len(neighbours[origin]))]
        if cell not in walk:
            walk.append(int(cell))
    return sorted(walk)


def _with_corners(neighbours) -> list[list[int]]:
    """Return the neighbours of each cell and the cells that two of these have as neighbours."""
    all_neighbours = []
    for cell, neighbours_of_cell in enumerate(neighbours):
        num_ways = Counter()  # cell two steps away -> number of ways there
        for neighbour in neighbours_of_cell:
            num_ways.update(int(second) for second in set(neighbours[neighbour]))
        corners = [second for second in num_ways if num_ways[second] > 1 and second != cell]
        all_neighbours.append(sorted({*map(int, neighbours_of_cell), *corners}))
    return all_neighbours


def make_tuples(game, wanted, rng) -> list[list[int]]:
    """Return the tuples that a parameter asks for; raises ValueError for anything else.

    `wanted` has the cells of each tuple; or it is "all", one tuple of all cells; the name of a list
    in ``data/ntuples.yaml``; or ``{"random_walk": number, "length": cells}``, drawn with `rng`. In
    the last one ``"corners": True`` lets walks go over corners, too.
    """
    required = {"random_walk", "length"}
    if isinstance(wanted, dict) and required <= set(wanted) <= required | {"corners"}:
        generator(rng)
        corners = wanted.get("corners", False)
        return random_walk(game, wanted["random_walk"], wanted["length"], rng, corners)
    if isinstance(wanted, str) and wanted == "all":
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
    lists = read_yaml(published_file("ntuples.yaml"), ended=True)
    if name not in lists:
        known = ", ".join(sorted(lists))
        raise ValueError(f"there is no n-tuple list {name!r} in data/ntuples.yaml: {known}")
    return lists[name]["tuples"]


def content_of_name(wanted) -> list | None:
    """Return the n-tuples of a list that a parameter names, or None if it names none."""
    is_name = isinstance(wanted, str) and wanted != "all"
    return listed_tuples(wanted) if is_name else None


def check_tuples(game, tuples) -> None:
    """Raise ValueError if there is no tuple, or one of them is empty or not within the board."""
    if not tuples:
        raise ValueError("a network needs at least one n-tuple")
    for cells in tuples:
        if not isinstance(cells, (list, tuple, range)) or not all(map(is_whole, cells)):
            raise ValueError(f"an n-tuple is a list of cell numbers, not {cells!r}")
        fault = _fault_of_tuple(cells, game.cells)
        if fault:
            raise ValueError(
                f"n-tuple {cells}: {fault}; {game.name} has the cells 0 to {game.cells - 1}"
            )


def _fault_of_tuple(cells, num_cells) -> str:
    """Return what is wrong with the cells of a tuple, or ""."""
    for cell in cells:
        if not 0 <= cell < num_cells:
            return f"cell {cell} is off the board"
    if not cells or len(set(cells)) < len(cells):
        return "it is empty or names a cell twice"
    return ""


def _with_stage(game, cells) -> list[int]:
    """Return the cells of a tuple, and behind them the stage of the game if it has one.

    The stage is the most significant digit of the indices then, so that the weights of each stage
    stand together.
    """
    stages = [] if game.stage is None else [game.stage]
    return [int(cell) for cell in cells if cell not in stages] + stages


def _table(length, value, precision):
    """Return an array filled with a value, in huge pages if it is large."""
    size = length * np.dtype(precision).itemsize
    if size < HUGE_PAGE // 2:
        return np.full(length, value, precision)
    # Random look-ups in small pages also wait for their addresses. numpy asks for huge pages for
    # arrays from 4 MiB on, so a smaller table takes part of such an array.
    space = np.empty(size + 2 * HUGE_PAGE, np.uint8)
    begin = -space.ctypes.data % HUGE_PAGE
    table = space[begin : begin + size].view(precision)
    table[:] = value  # touches every page now, not in training
    return table


def _layout(game, tuples, symmetries, num_sets):
    """Return strides and offsets of all table indices, and the size of one player's tables.

    They are uint32 [cells, features], uint32 [features] and a whole number; see ``lookup.py``.
    """
    num_tuples = len(tuples)
    num_symmetries = len(symmetries)
    num_features = num_symmetries * num_tuples
    stride = np.zeros((game.cells, num_features), np.uint32)
    offset = np.zeros(num_features, np.uint32)
    size = 0
    # A size beyond 32 bits is refused later: until then numbers must not overflow.
    for i, cells in enumerate(tuples):
        radix = num_sets
        offset[i::num_tuples] = size % 2**32
        for cell in cells:
            for k in range(num_symmetries):
                stride[symmetries[k, cell], k * num_tuples + i] = radix % 2**32
            radix *= int(game.num_codes[cell])
        size += radix
    return stride, offset, size


def _is_cheap_anew(game, num_features, break_even) -> bool:
    """Return whether all indices of a board cost little, and moves change many cells.

    Moves change many if they change at least `break_even` cells on average.
    """
    features_at_once = LANES if num_features >= LANES else 1
    if game.cells * num_features > SMALL * features_at_once:
        return False
    states = random_game(game, game.start(), new_rng(0), 1 + PLIES)
    boards = [game.board(state) for state in states]
    num_changed = [np.count_nonzero(a != b) for a, b in itertools.pairwise(boards)]
    return sum(num_changed) >= break_even * len(num_changed) > 0


def _cells_worth_sparing(break_even, bytes_looked_up) -> int:
    """Return up to how many changed cells only the features that read them are looked up.

    `break_even` cells have as many readers as there are features. `bytes_looked_up` is the size of
    the tables that rows are looked up in together.
    """
    most = 1 if bytes_looked_up <= TOGETHER else 2
    return min(most, break_even // 2)


def _check_size(size, num_bytes) -> None:
    """Raise ValueError if tables are too large for their indices or for the computer."""
    if size >= 2**32 or num_bytes > memory():
        raise ValueError(
            f"{size:,} table entries per player do not fit 32-bit indices, or all"
            f" {num_bytes / 2**30:,.1f} GiB not the memory: use fewer or shorter tuples, such as"
            " {'random_walk': 30, 'length': 6}"
        )


def _symmetries(game, all_symmetries, per_action) -> np.ndarray:
    """Return the maps of cells to use, int32 [num_sym, cells]: all, or the identity alone."""
    if not all_symmetries:
        return np.arange(game.cells, dtype=np.int32)[None]
    if per_action and game.action_symmetries is None and len(game.symmetries) > 1:
        raise ValueError(
            f"{game!r} has symmetries but no action_symmetries, so the values of symmetric"
            " actions cannot be shared: give both to Game(...), or neither"
        )
    return game.symmetries


def _action_symmetries(game, num_symmetries, num_actions) -> np.ndarray:
    """Return what each action becomes under each symmetry: int32 [num_sym, num_actions]."""
    if num_actions > 0 and num_symmetries > 1:
        maps = game.action_symmetries
    else:
        maps = np.tile(np.arange(num_actions), (num_symmetries, 1))
    return np.ascontiguousarray(maps, np.int32)


def _activation(value, sigmoid) -> float:
    """Return the sum of weights for which the output is `value`; ValueError if there is none."""
    if not sigmoid:
        return value
    if not -1.0 < value < 1.0:
        raise ValueError(
            f"weight_init={value!r} must be between -1 and 1, as the output tanh is: take a smaller"
            " one, or sigmoid=False"
        )
    return math.atanh(value)


class Network:
    """An n-tuple network for a game.

    Source: [konen2021] Sec. 2.1 and App. A.3, Eq. (2). Deviations: D3, D19, D20.

    Parameters
    ----------
    game : Game
        The game whose boards it reads.
    tuples : sequence of sequences of int
        The cells of each tuple, from 0 on. In a game with stages each reads the stage as well, so
        weights and counters take as many times the memory as there are stages.
    sigmoid : bool
        Whether the output goes through tanh.
    distinct_symmetries : bool
        Whether equal symmetric boards count once, as in the paper's set, or as often as they occur.
    symmetries : bool
        Whether symmetric boards count at all.
    shared_tables : bool
        Whether all players have one weight set instead of one each.
    tc_init : float
        Initial value of the counters of temporal coherence; 0 = no counters.
    precision : {"float32", "float64"}
        Type of the weights.
    per_action : bool
        Whether each action has a weight set, too, for Q(s, a) instead of V(s').
    weight_init : float
        Value of a board at the start, in rewards of the game. All its weights share it equally, so
        each is this value divided by the number of weights that are looked up for a board (of what
        the output function makes this value, if it has one). A board that equals some of its
        symmetric boards has as many fewer weights, and so much less. More than can be reached is
        optimistic: whatever is new looks good, and is tried. Source: [guei2021] (V_init).
    promoted : bool
        Of a game with stages: whether each stage has weights of its own from the beginning, or all
        share those of the first one until :meth:`promote`. Source: [jaskowski2018] (multi-stage
        weight promotion; there each weight is copied when it is first needed).

    Raises
    ------
    ValueError
        For bad tuples, too large tables, an initial value that no output can be, and a network of Q
        for a game that does not say what symmetries make of its actions.

    Examples
    --------
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
        weight_init=0.0,
        promoted=True,
    ):
        flags = {
            "sigmoid": sigmoid,
            "distinct_symmetries": distinct_symmetries,
            "symmetries": symmetries,
            "shared_tables": shared_tables,
            "per_action": per_action,
            "promoted": promoted,
        }
        flags = {name: boolean(name, value) for name, value in flags.items()}
        tc_init = number("tc_init", tc_init, 0.0)
        weight_init = number("weight_init", weight_init, -LARGEST_INIT, LARGEST_INIT)
        weight_init += 0.0  # -0.0 becomes 0.0
        tuples = listed("tuples", tuples)
        check_tuples(check_game(game, "a network"), tuples)
        if not promoted and game.stage is None:
            raise ValueError(
                f"{game!r} has no stages that could be promoted later (promoted=False,"
                " promote_after): leave that away, or take a game with stages, such as"
                " games.load('game2048', stages=[4096, 8192])"
            )
        maps = _symmetries(game, symmetries, per_action)
        one_of("precision", precision, ("float32", "float64"))
        self.game = game
        self.tuples = [_with_stage(game, cells) for cells in tuples]
        self.trainings = 0  # pieces of training that the weights may come from
        self.weight_init = weight_init
        num_tuples = len(self.tuples)
        num_actions = game.actions if per_action else 0
        stride, offset, size = _layout(game, self.tuples, maps, max(1, num_actions))
        num_features = len(offset)
        num_weights = size if shared_tables else size * game.players
        num_counters = 2 * num_weights if tc_init > 0 else 0
        itemsize = np.dtype(precision).itemsize
        _check_size(size, (num_weights + num_counters) * itemsize)
        counters = _table(num_counters, tc_init, precision)
        first_weight = _activation(weight_init, flags["sigmoid"]) / num_features
        weights = _table(num_weights, first_weight, precision)
        self.first_weight = weights.dtype.type(first_weight)  # of all weights
        readers = [np.flatnonzero(features_of_cell) for features_of_cell in stride]
        num_readers = [len(features_of_cell) for features_of_cell in readers]
        break_even = game.cells * num_features // sum(num_readers)
        is_cheap_anew = _is_cheap_anew(game, num_features, break_even)
        max_spared = 0
        if not is_cheap_anew:
            bytes_looked_up = int(TABLES) * itemsize * size // num_tuples
            max_spared = _cells_worth_sparing(break_even, bytes_looked_up)
        player_step = 0 if shared_tables else size
        self.arrays = Net(
            weights=weights,
            counters=counters,
            stride=stride,
            offset=offset,
            readers=np.concatenate(readers).astype(np.uint32),
            readers_of=np.cumsum([0, *num_readers]).astype(np.uint64),
            num_codes=game.num_codes.copy(),
            symmetries=maps,
            far=weights.nbytes > NEAR_BYTES,
            few=max_spared,
            anew=is_cheap_anew,
            whole=len(self.tuples[0]) == game.cells,
            num_tuples=num_tuples,
            set_size=size,
            player_step=player_step,
            sigmoid=flags["sigmoid"],
            distinct=flags["distinct_symmetries"],
            num_actions=num_actions,
            action_symmetries=_action_symmetries(game, len(maps), num_actions),
        )
        self.promoted = promoted
        self._memory = Arrays(WORK, game, features=num_features, boards=len(maps))

    @property
    def _work(self) -> tuple:
        """Working memory of this thread for :func:`lookup.read_action_values`."""
        return self._memory.arrays

    @property
    def weights(self) -> np.ndarray:
        """The weights, [players, set_size], or [1, set_size] with shared tables (a view)."""
        return self.arrays.weights.reshape(-1, self.arrays.set_size)

    @property
    def promoted(self) -> bool:
        """Whether stages are told apart; else all have the weights of the first one."""
        return np.array_equal(self.arrays.num_codes, self.game.num_codes)

    @promoted.setter
    def promoted(self, promoted: bool):
        # Codes beyond their number are read as the last one: with a single code all stages are 0.
        stage = self.game.stage
        if stage is not None:
            self.arrays.num_codes[stage] = self.game.num_codes[stage] if promoted else 1

    def promote(self) -> None:
        """Let each stage begin with a copy of the weights that all have had; no value changes.

        The counters of temporal coherence begin anew, so that the copies can move away soon: where
        they are, they say how sure the weights are of the stages on average. Without effect if the
        stages are told apart already.
        """
        if self.promoted:
            return
        num_stages = self.game.num_codes[self.game.stage]
        firsts = [int(first) for first in self.arrays.offset[: len(self.tuples)]]
        for first, end in itertools.pairwise([*firsts, self.arrays.set_size]):
            for table in self.weights[:, first:end]:
                stages = table.reshape(num_stages, -1)
                stages[1:] = stages[0]
        self.promoted = True

    @property
    def per_action(self) -> bool:
        """Whether it is a network of Q(s, a), with one weight set per player and action."""
        return self.arrays.num_actions > 0

    def value(self, state, player: int) -> float:
        """Return V(state) for `player`, who has just made this afterstate."""
        if self.per_action:
            raise ValueError("a network of Q has no V of afterstates: ask for action_values(state)")
        player = whole(f"a player of {self.game.name}", player, 0, self.game.players - 1)
        _, _, cells, index, boards, _ = self._work
        cells[:] = self.game.board(state)
        return float(value_of(self.arrays, player, cells, index, boards))

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action for the mover, float64[num_legal].

        In a deterministic game V is 0 for a terminal afterstate. A network of Q returns Q(state,
        action). Source: [konen2021] Sec. 2.6. Deviations: D1, D2.
        """
        game = self.game
        gamma = fraction("gamma, the discount factor,", gamma)
        state = game._state(state, to_move=True)
        moves = game.legal(state)
        num_legal = len(moves)
        values = np.zeros(game.max_legal)
        read_action_values(
            game.rules, self.arrays, state, moves, num_legal, gamma, self._work, values
        )
        return values[:num_legal]

    def active(self) -> float:
        """Return the fraction of weights that are not as at the start, over all players' sets."""
        return float(np.count_nonzero(self.weights != self.first_weight) / self.weights.size)

    def checksum(self) -> str:
        """Return 16 hex digits that identify the weights bit for bit."""
        return hashlib.sha256(np.ascontiguousarray(self.weights)).hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must state so that the same network can be made again."""
        net = self.arrays
        settings = {
            "game": self.game.identity,
            "tuples": self.tuples,
            "sigmoid": net.sigmoid,
            "distinct_symmetries": net.distinct,
            "precision": str(net.weights.dtype),
        }
        options = {
            "symmetries": len(net.symmetries) == len(self.game.symmetries),
            "shared_tables": net.player_step == 0,
            "per_action": self.per_action,
            "weight_init": self.weight_init,
            "promoted": self.promoted,
        }
        for name, value in options.items():
            if value != FILE_DEFAULTS[name]:
                settings[name] = value
        return settings

    def contents(self) -> tuple[dict, dict]:
        """Return header and arrays of a file: weights that have changed, and the gaps between."""
        weights = self.weights.ravel()
        number = 0
        for start in range(0, weights.size, PIECE):
            number += _positions(weights, start, self.first_weight).size
        gaps = np.empty(number, np.uint32 if weights.size < 2**32 else np.uint64)
        kept = np.empty(number, weights.dtype)
        filled = last = 0
        for start in range(0, weights.size, PIECE):
            positions = _positions(weights, start, self.first_weight)
            place = slice(filled, filled + positions.size)
            gaps[place] = np.diff(positions, prepend=last)
            kept[place] = weights[positions]
            filled = place.stop
            last = positions[-1] if positions.size else last
        meta = {"kind": "weights", "checksum": self.checksum(), **self.settings}
        return meta, {"gaps": gaps, "weights": kept}

    def save(self, path, compressed: bool = False) -> None:
        """Write the network to an ``.npz`` file, which is replaced as a whole."""
        boolean("compressed", compressed)
        write_npz(path, *self.contents(), compressed)


def load(path, game) -> Network:
    """Read a network of :meth:`Network.save`; ValueError if it is damaged, or of another game."""
    header = {"tuples": list, "sigmoid": bool, "distinct_symmetries": bool, "precision": str}
    archive = open_learned(path, "weights", game, header, {"gaps", "weights"})
    meta = archive.meta
    parameters = {name: meta[name] for name in header}
    for name, default in FILE_DEFAULTS.items():
        parameters[name] = meta.get(name, default)
    net = Network(game, **parameters)
    table = net.arrays.weights
    if not _has_form_for(archive, table):
        raise damaged(path, "its arrays have not the form of weights of the network it describes")
    gaps = archive["gaps"]
    weights = archive["weights"]
    last = 0
    for start in range(0, len(gaps), PIECE):
        piece = slice(start, start + PIECE)
        positions = last + np.cumsum(gaps[piece], dtype=np.int64)
        is_within = positions.min() >= last and positions.max() < len(table)
        if not is_within or not np.isfinite(weights[piece]).all():
            raise damaged(path, "its arrays do not fit the network it describes")
        table[positions] = weights[piece]
        last = positions[-1]
    return with_checksum(path, net, meta)


def _positions(weights, start, first_weight) -> np.ndarray:
    """Return where weights have changed, and a file keeps them, in the piece from `start` on."""
    piece = weights[start : start + PIECE]
    # The checksum tells -0.0, which underflow leaves, from 0.0: compare bits.
    bits = f"u{weights.itemsize}"
    return start + np.flatnonzero(piece.view(bits) != first_weight.view(bits))


def _has_form_for(archive, table) -> bool:
    """Return whether a file states arrays that can be the weights of a table; none is read."""
    type_of_gaps, shape_of_gaps = archive.form("gaps")
    type_of_weights, shape = archive.form("weights")
    return (
        type_of_gaps.kind == "u"
        and type_of_weights == table.dtype
        and shape_of_gaps == shape
        and len(shape) == 1
        and shape[0] <= len(table)
    )
