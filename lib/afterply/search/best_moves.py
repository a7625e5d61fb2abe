"""Tables of the best moves by Min-Max, which sides of contests read: see ``networks.table_games``.

A position is searched when it comes up first, and its best moves are kept.
"""

from functools import lru_cache

import numpy as np

from ..games import calls
from ..kernel.compile import kernel
from ..networks.table import QTable, full, insert
from ..networks.table_games import FIRST, UNIFORM, Policy, Side, check_two_players
from ..processes import PerThread
from . import max_n
from .max_n import TIES, MinMaxSearch

FULL_DEPTH = 0  # look-ahead to the end of the game


@kernel
def keep_best(rules, search, table, state):
    """Put the best moves of a search into a table, from the last; return whether there was room."""
    key = search.keys[0]
    calls.mix_words(state, rules.core, key)
    sign = 1.0 if calls.call_player(rules, state) == 0 else -1.0
    moves = search.moves[0]
    n = calls.call_legal(rules, state, moves)
    best = -np.inf
    for i in range(n):
        best = max(best, sign * search.values[i])
    for i in range(n - 1, -1, -1):
        if sign * search.values[i] == best:
            if full(table):
                return False
            _, entry = insert(table, 0, key, moves[i])
            table.q[entry] = 1.0
    return True


class BestMoves(PerThread):
    """The best moves of every position met, by Min-Max. Source: [jamieson2022]; D14."""

    def __init__(self, game, depth: int = FULL_DEPTH):
        self.game = game
        self.depth = depth
        self.net = QTable(game)  # it fills while its side plays, in each thread its own
        self.searcher = None
        if depth != FULL_DEPTH:
            self.searcher = MinMaxSearch(game, depth)

    @property
    def table(self):
        """The arrays of the table, as kernels read them."""
        return self.net.table

    def of(self, state) -> list[int]:
        """Return the best actions, in the order of the rules."""
        if self.searcher is None:
            values = max_n.values(self.game, state, max_n.UNLIMITED)[:, self.game.player(state)]
        else:
            values = self.searcher.values(state, TIES)
        return self.game.legal(state)[values == values.max()].tolist()

    def add(self, state) -> None:
        """Search a position and keep its best moves."""
        if self.searcher is None:
            key = np.zeros(2, np.uint64)
            calls.mix_words(state, self.game.rules.core, key)
            for action in reversed(self.of(state)):
                self.net.put_under(key, action, 1.0)
            return
        self.searcher.run(state, TIES)
        while not keep_best(self.game.rules, self.searcher.line, self.net.table, state):
            self.net.grow()


best_moves = lru_cache(8)(BestMoves)  # one for all sides of a game that look ahead as far


def min_max_side(game, ties: str, depth: int, epsilon: float) -> Side:
    """Return the Min-Max side, which takes the first of the best moves, or any ("random")."""
    kind = FIRST if ties == "first" else UNIFORM
    return Side(Policy(kind, 0, epsilon, 0.0), best_moves(check_two_players(game), depth))
