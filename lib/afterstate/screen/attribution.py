"""Which n-tuples carry the value of a move: the weights that add up to it.

The value of an afterstate is sigma of a sum of weights, one for each tuple on each symmetric board
(:mod:`afterstate.networks.lookup`). The largest of them say what the network looks at.
"""

from typing import NamedTuple

import numpy as np


class Share(NamedTuple):
    """A tuple as it lies on the board, and its weight."""

    cells: list  # the board's cells that it reads
    weight: float


def can_attribute(net) -> bool:
    """Return whether something is an n-tuple network of V, whose weights can be told apart."""
    arrays = getattr(net, "arrays", None)
    return hasattr(arrays, "stride") and not getattr(net, "per_action", True)


def attribution(net, state, action, most: int = 3) -> list[Share]:
    """Return the largest weights behind the value of a legal action, by their absolute size.

    Tuples that lie on the same cells for several symmetries count once, with their sum. The sum
    over all of them is the argument of sigma. `net` is an n-tuple network of V.

    Source: [konen2021] Eq. (2).

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.networks import ntuple
    >>> game = games.load("tictactoe")
    >>> net = ntuple.Network(game, [[0, 1, 2]])
    >>> net.weights[:] = 0.25
    >>> [(sorted(share.cells), share.weight) for share in attribution(net, game.start(), 4, 1)]
    [([0, 1, 2], 0.25)]
    """
    game, arrays = net.game, net.arrays
    codes = np.minimum(game.board(game.play(state, action)), np.asarray(arrays.num_codes) - 1)
    codes = np.maximum(codes, 0).astype(np.uint32)
    index = arrays.offset + (codes[:, None] * arrays.stride).sum(axis=0, dtype=np.uint32)
    weights, found, boards = net.weights[game.player(state)], {}, set()
    for k, row in enumerate(game.symmetries):
        board = codes[row].tobytes()
        if arrays.distinct and board in boards:
            continue
        boards.add(board)
        for i, cells in enumerate(net.tuples):
            weight = float(weights[index[k * len(net.tuples) + i]])
            # the same cells in another order are the same look at the board
            place = tuple(sorted(int(row[cell]) for cell in cells))
            found[place] = found.get(place, 0.0) + weight
    shares = [Share(list(place), weight) for place, weight in found.items()]
    return sorted(shares, key=lambda share: -abs(share.weight))[:most]
