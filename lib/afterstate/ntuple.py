"""N-tuple networks: look-up tables addressed by the codes of a few board cells, summed over the symmetric boards.

A network has one weight set per player. Its value for the player who made afterstate s' is

    V(s') = sigma( sum over tuples i, over boards q in S(s'), of w_i[Ind_i(q)] )          [konen2021] Eq. (2)

A *feature* is one tuple on one symmetric board; feature f = symmetry * num_tuples + tuple. Its table index is linear in
the cell codes, so it is a row of a matrix product, and one changed cell shifts all indices::

    index[f] = offset[f] + sum over cells c of code[c] * stride[c, f]
"""
import hashlib
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from .data import data_directory
from .game import call_board, call_over, call_play, call_player, call_score, copy_into
from .kernel import kernel, random_int, tanh

WEIGHT, NET_CHANGE, ABS_CHANGE, _PAD = range(4)  # columns of a table: w, and the temporal coherence counters N and A


class Net(NamedTuple):
    """What kernels know of a network."""

    lut: np.ndarray         # float32 or float64 [players * set_size, 4]: w, N, A, unused (a 16-byte record)
    stride: np.ndarray      # uint32 [cells, features]
    offset: np.ndarray      # uint32 [features]
    values: np.ndarray      # int32 [cells]: number of codes of each cell
    symmetries: np.ndarray  # int32 [num_sym, cells]
    num_tuples: int
    set_size: int           # table entries of one player's weight set
    sigmoid: bool           # sigma = tanh, else the identity
    distinct: bool          # S(s') holds distinct boards (D3), else all symmetric ones


@kernel
def clamped(net, cells, c):
    """Return the code of a cell, brought into its range so that no index can leave its table."""
    return np.uint32(max(0, min(cells[c], net.values[c] - 1)))


@kernel
def features(net, cells, index):
    """Write the table indices of all features for a board of cell codes, into ``index`` (uint32[features])."""
    copy_into(index, net.offset, index.shape[0])
    for c in range(cells.shape[0]):
        code = clamped(net, cells, c)
        if code != 0:
            for f in range(index.shape[0]):
                index[f] += code * net.stride[c, f]


@kernel
def shift_features(net, cells_from, index_from, cells, index):
    """Like :func:`features`, from the indices of a board that differs in few cells."""
    copy_into(index, index_from, index.shape[0])
    for c in range(cells.shape[0]):
        if cells[c] != cells_from[c]:
            code = clamped(net, cells, c) - clamped(net, cells_from, c)
            for f in range(index.shape[0]):
                index[f] += code * net.stride[c, f]


@kernel
def _same_board(net, cells, j, k):
    for c in range(cells.shape[0]):
        if cells[net.symmetries[j, c]] != cells[net.symmetries[k, c]]:
            return False
    return True


@kernel
def symmetric_boards(net, cells, boards):
    """Write the numbers of the symmetries that give S(s') into `boards` and return their count N_S.

    A board that no symmetry maps to itself has as many distinct images as there are symmetries; only the others
    need the comparison of all pairs.

    Source: [konen2021] Eq. (2), definition of S(s') and N_S. Deviations: D3.
    """
    num = net.symmetries.shape[0]
    unmoved = 0
    for k in range(num):
        boards[k] = k
        if k > 0 and net.distinct and _same_board(net, cells, 0, k):
            unmoved += 1
    if unmoved == 0:
        return num
    n = 0
    for k in range(num):
        new = True
        for j in range(n):
            if _same_board(net, cells, boards[j], k):
                new = False
                break
        if new:
            boards[n] = k
            n += 1
    return n


@kernel
def sigma(net, activation):
    """Output function of the network.  Source: [konen2021] Eq. (2)."""
    return tanh(activation) if net.sigmoid else activation


@kernel
def sigma_slope(net, value):
    """Derivative of sigma where the output is `value`: 1 - V^2 for tanh, 1 for the identity.  Source: [konen2021] Eq. (3)."""
    return 1.0 - value * value if net.sigmoid else 1.0


@kernel
def sum_weights(net, player, index, first, n):
    """Return the sum of the player's weights at ``index[first : first + n]``.

    Four partial sums in a fixed order: as fast as the memory allows, and the same bits on every machine.
    """
    base = np.uint64(player) * np.uint64(net.set_size)
    s0 = s1 = s2 = s3 = 0.0
    i, end = first, first + n
    while i + 4 <= end:
        s0 += net.lut[base + index[i], WEIGHT]
        s1 += net.lut[base + index[i + 1], WEIGHT]
        s2 += net.lut[base + index[i + 2], WEIGHT]
        s3 += net.lut[base + index[i + 3], WEIGHT]
        i += 4
    while i < end:
        s0 += net.lut[base + index[i], WEIGHT]
        i += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def value_of(net, player, index, boards, num_boards):
    """Return V(s') for the player who made s', from the features' indices and the symmetric boards to count.

    Source: [konen2021] Eq. (2).
    """
    m, total = net.num_tuples, 0.0
    for b in range(num_boards):
        total += sum_weights(net, player, index, np.int64(boards[b]) * m, m)
    return sigma(net, total)


@kernel
def distinct_indices(net, index, boards, num_boards, entry):
    """Write the indices that s' activates into `entry`: each index once, then the repeated ones; return the first count.

    Two boards can activate the same entry of one tuple's table; index inhibition lets it learn only once.

    Source: [konen2021] Alg. 7, lines 5-9.
    """
    m = net.num_tuples
    n, repeated = 0, num_boards * m
    for i in range(m):
        first = n
        for b in range(num_boards):
            j = index[np.int64(boards[b]) * m + i]
            new = True
            for seen in range(first, n):
                if entry[seen] == j:
                    new = False
                    break
            if new:
                entry[n] = j
                n += 1
            else:
                repeated -= 1
                entry[repeated] = j
    return n


@kernel
def _action_values(rules, net, s, moves, n, gamma, work, out):
    """Write r + gamma V(afterstate) of the `n` moves into `out`; the afterstate of a terminal move has V = 0."""
    after, r, cells, index, boards = work
    player = call_player(rules, s)
    call_score(rules, s, r)
    before = r[player]
    for k in range(n):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[k])
        call_score(rules, after, r)
        out[k] = r[player] - before
        if rules.chance == 0 and call_over(rules, after):
            continue
        call_board(rules, after, cells)
        features(net, cells, index)
        out[k] += gamma * value_of(net, player, index, boards, symmetric_boards(net, cells, boards))


def random_walk(game, num: int, length: int, rng) -> list[list[int]]:
    """Draw n-tuples as random walks on the board.

    Each starts on a uniformly random cell; a random cell already in the tuple gets a random neighbour, which joins if
    it is new, until the tuple is full. Tuples may repeat.

    Parameters
    ----------
    game : Game
    num, length : int
        Number of tuples and cells of each.
    rng : uint64 [1]
        From ``kernel.new_rng``; it advances.

    Raises
    ------
    ValueError
        If a tuple can not be that long.
    """
    if not all(isinstance(n, int) for n in (num, length)):
        raise ValueError(f"random-walk tuples need whole numbers, not random_walk={num!r}, length={length!r}")
    if num < 1 or not 1 <= length <= min(len(_reach(game, cell)) for cell in range(game.cells)):
        raise ValueError(f"{num} tuples of {length} cells do not fit {game.name}, which has {game.cells} cells (or some of them have too few neighbours)")
    tuples = []
    for _ in range(num):
        walk = [int(random_int(rng, game.cells))]
        while len(walk) < length:
            beside = game.neighbours[walk[random_int(rng, len(walk))]]
            cell = beside[random_int(rng, len(beside))]
            if cell not in walk:
                walk.append(int(cell))
        tuples.append(sorted(walk))
    return tuples


def _reach(game, cell) -> set:
    """All cells that a walk from `cell` can get to."""
    found, border = {cell}, [cell]
    while border:
        border = [n for c in border for n in game.neighbours[c] if n not in found]
        found.update(border)
    return found


def make_tuples(game, wanted, rng) -> list[list[int]]:
    """Return the tuples that a parameter asks for.

    Parameters
    ----------
    wanted : list of lists of int, "all", str, or dict
        The cells of each tuple; one tuple of all cells; the name of a list in ``data/ntuples.yaml``; or
        ``{"random_walk": number, "length": cells}`` to draw them with `rng`.

    Raises
    ------
    ValueError
        If it asks for something else.
    """
    if isinstance(wanted, dict) and set(wanted) == {"random_walk", "length"}:
        return random_walk(game, wanted["random_walk"], wanted["length"], rng)
    if wanted == "all":
        return [list(range(game.cells))]
    if isinstance(wanted, str):
        lists = yaml.safe_load((data_directory() / "ntuples.yaml").read_text())
        if wanted not in lists:
            raise ValueError(f"there is no n-tuple list {wanted!r} in data/ntuples.yaml; it has {', '.join(sorted(lists))}")
        return lists[wanted]["tuples"]
    if isinstance(wanted, (list, tuple)):
        return list(wanted)
    raise ValueError(f"tuples={wanted!r} is neither a list of cell lists, 'all', a name, nor {{'random_walk': number, 'length': cells}}")


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
        Initial value of both temporal coherence counters of every weight.
    precision : {"float32", "float64"}

    Raises
    ------
    ValueError
        If a tuple is empty, leaves the board or names a cell twice.

    Source: [konen2021] Sec. 2.1 and App. A.3, Eq. (2). Deviations: D3, D19, D20.

    Examples
    --------
    >>> from afterstate import games, ntuple
    >>> game = games.load("tictactoe")
    >>> net = ntuple.Network(game, [range(9)])
    >>> net.value(game.play(game.start(), 4), player=0)
    0.0
    """

    def __init__(self, game, tuples, *, sigmoid=True, distinct_symmetries=True, tc_init=1e-4, precision="float32"):
        _check_tuples(game, tuples)
        self.game, self.tuples = game, [[int(c) for c in cells] for cells in tuples]
        if precision not in ("float32", "float64"):
            raise ValueError(f"precision must be 'float32' or 'float64', not {precision!r}")
        stride, offset, size = _layout(game, self.tuples)
        if size >= 2**32:
            raise ValueError(f"{size:,} table entries per player do not fit 32-bit indices: use fewer or shorter tuples")
        lut = np.zeros((game.players * size, 4), precision)
        lut[:, NET_CHANGE] = lut[:, ABS_CHANGE] = tc_init
        self.arrays = Net(lut, stride, offset, game.values, game.symmetries, len(self.tuples), size,
                          bool(sigmoid), bool(distinct_symmetries))
        num = game.symmetries.shape[0]
        self._work = (np.zeros(game.size, np.int32), np.zeros(game.players), np.zeros(game.cells, np.int32),
                      np.zeros(len(offset), np.uint32), np.zeros(num, np.int32))

    @property
    def weights(self) -> np.ndarray:
        """The weights, [players, set_size] (a view)."""
        return self.arrays.lut[:, WEIGHT].reshape(self.game.players, -1)

    def value(self, state, player: int) -> float:
        """Return V(state) for `player`, who has just made this afterstate; raises ValueError for a player or state the game does not have."""
        if not 0 <= player < self.game.players:
            raise ValueError(f"{self.game.name} has the players 0 to {self.game.players - 1}, not {player!r}")
        _, _, cells, index, boards = self._work
        cells[:] = self.game.board(state)
        features(self.arrays, cells, index)
        return float(value_of(self.arrays, player, index, boards, symmetric_boards(self.arrays, cells, boards)))

    def action_values(self, state, gamma: float = 1.0) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action for the player to move, float64[num_legal].

        In a deterministic game V is 0 for a terminal afterstate.  Source: [konen2021] Sec. 2.6. Deviations: D1, D2.
        """
        game = self.game
        state = np.ascontiguousarray(state, np.int32)
        moves, out = game.legal(state), np.zeros(game.max_legal)
        _action_values(game.rules, self.arrays, state, moves, len(moves), float(gamma), self._work, out)
        return out[:len(moves)]

    def active(self) -> float:
        """Return the share of weights that are not 0, over all players' sets."""
        return float(np.count_nonzero(self.weights) / self.weights.size)

    def checksum(self) -> str:
        """Return 16 hex digits that identify the weights bit for bit."""
        return hashlib.sha256(np.ascontiguousarray(self.weights)).hexdigest()[:16]

    @property
    def settings(self) -> dict:
        """What a file must say to make the same network again."""
        return {"game": self.game.identity, "tuples": self.tuples, "sigmoid": bool(self.arrays.sigmoid),
                "distinct_symmetries": bool(self.arrays.distinct), "precision": str(self.arrays.lut.dtype)}

    def save(self, path) -> None:
        """Write the weights that are not 0, without counters, to an ``.npz`` file (replaced as a whole)."""
        flat = self.weights.ravel()
        where = np.flatnonzero((flat != 0) | np.signbit(flat))  # -0.0, what underflow leaves, is part of the checksum
        write_npz(path, {"kind": "weights", "checksum": self.checksum(), **self.settings},
                  {"where": where.astype(np.uint32 if flat.size < 2**32 else np.uint64), "weights": flat[where]})


def load(path, game) -> Network:
    """Read a network that :meth:`Network.save` wrote.

    Raises
    ------
    ValueError
        If the file is damaged, is no weight file, or holds weights of another game.
    """
    meta, arrays = read_npz(path)
    if meta.get("kind") != "weights":
        raise ValueError(f"{path} holds {meta.get('kind')!r}, not weights")
    if not {"where", "weights"} <= set(arrays):
        raise ValueError(f"{path} is damaged: it lacks its arrays; delete it and train again")
    have = {k: meta["game"][k] for k in ("name", "params", "version")}
    if have != game.identity:
        raise ValueError(f"{path} holds weights for {have}, not for {game.identity}")
    net = Network(game, meta["tuples"], sigmoid=meta["sigmoid"], distinct_symmetries=meta["distinct_symmetries"], precision=meta["precision"])
    net.arrays.lut[arrays["where"].astype(np.int64), WEIGHT] = arrays["weights"]
    if net.checksum() != meta["checksum"]:
        raise ValueError(f"{path} is damaged: its weights do not have the checksum it states; delete it and train again")
    return net


def write_npz(path, meta: dict, arrays: dict) -> None:
    """Write arrays and a JSON header to `path` by way of a temporary file, so that it is never half written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(temporary, "wb") as file:
        np.savez(file, meta=np.array(json.dumps(meta, sort_keys=True)), **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_npz(path) -> tuple[dict, dict]:
    """Read what :func:`write_npz` wrote; raises ValueError naming the file if it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(str(arrays.pop("meta"))), arrays
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it and train again") from error


def _check_tuples(game, tuples):
    if not tuples:
        raise ValueError("a network needs at least one n-tuple")
    for cells in tuples:
        if not isinstance(cells, (list, tuple, range)) or not all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) for c in cells):
            raise ValueError(f"an n-tuple is a list of cell numbers, not {cells!r}")
        wrong = [c for c in cells if not 0 <= c < game.cells]
        if wrong or not cells or len(set(cells)) != len(cells):
            what = f"cell {wrong[0]} is off the board" if wrong else "it is empty" if not cells else "it names a cell twice"
            raise ValueError(f"n-tuple {cells}: {what}; {game.name} has the cells 0 to {game.cells - 1}")


def _layout(game, tuples):
    """Strides and offsets of all features, and the size of one player's weight set."""
    m, num = len(tuples), game.symmetries.shape[0]
    stride, offset = np.zeros((game.cells, num * m), np.uint32), np.zeros(num * m, np.uint32)
    size = 0
    for i, cells in enumerate(tuples):
        radix = 1
        offset[i::m] = size % 2**32
        for c in cells:
            for k in range(num):
                stride[game.symmetries[k, c], k * m + i] = radix % 2**32
            radix *= int(game.values[c])
        size += radix
    return stride, offset, size
