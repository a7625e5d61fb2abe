"""Alpha-beta: exact values of two-player zero-sum games without chance, close enough to their end.

A position is worth the reward still to come for the first player under best play by both; the
player to move maximises or minimises it, so a player may also move several times in a row. Three
things make it fast, none of which knows the game: a table of bounds by ``game.key``; actions that
end the game are looked at before all others; the rest are tried in the order in which they have
produced cut-offs elsewhere (history heuristic), the table's action first.
"""

from typing import NamedTuple

import numpy as np

from ..checks import whole
from ..games.calls import (
    call_key,
    call_legal,
    call_over,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from ..games.game import check_game
from ..kernel.compile import kernel

TABLE_BITS = 20  # 2**20 positions, 40 MB
MAX_PLIES = 512  # longest line; deeper ones are an error
NO_ACTION = -1
STACK_FULL, LIMIT_REACHED = 1, 2  # reasons to give up, in Search.status[1]


class Search(NamedTuple):
    """Working memory: a direct-mapped table of bounds, one row of scratch per ply, and counters."""

    # fmt: off
    keys: np.ndarray     # uint64 [capacity, 2]
    low: np.ndarray      # float64 [capacity]        bounds of the value; low > high = free slot
    high: np.ndarray     # float64 [capacity]
    action: np.ndarray   # int32 [capacity]          action that gave the bound
    history: np.ndarray  # int64 [2, actions]        cut-offs by player and action, weighted
    states: np.ndarray   # int32 [plies, size]
    moves: np.ndarray    # int32 [plies, max_legal]
    key: np.ndarray      # uint64 [plies, 2]
    score: np.ndarray    # float64 [plies, 2]
    status: np.ndarray   # int64 [3]                 positions searched, reason to give up, limit
    # fmt: on


@kernel
def _slot(search, ply):
    h = (search.key[ply, 0] ^ search.key[ply, 1] * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(
        0xFF51AFD7ED558CCD
    )
    return np.int64((h ^ h >> np.uint64(32)) & np.uint64(search.low.shape[0] - 1))


@kernel
def _sort(search, ply, n, player, first):
    """Sort the actions by history, most cut-offs first; `first` comes before all others."""
    moves, history = search.moves[ply], search.history
    for i in range(1, n):
        action, j = moves[i], i
        while (
            j > 0
            and moves[j - 1] != first
            and (action == first or history[player, action] > history[player, moves[j - 1]])
        ):
            moves[j] = moves[j - 1]
            j -= 1
        moves[j] = action


@kernel
def _end(rules, search, ply, n, player):
    """Return the mover's best reward among the actions that end the game, and the number of others.

    The others are moved to the front.
    """
    moves, state, best, k = search.moves[ply], search.states[ply + 1], -np.inf, 0
    for i in range(n):
        action = moves[i]
        copy_into(state, search.states[ply], rules.size)
        call_play(rules, state, action)
        if call_over(rules, state):
            call_score(rules, state, search.score[ply + 1])
            best = max(best, search.score[ply + 1, player] - search.score[ply, player])
        else:
            moves[k] = action
            k += 1
    return best, k


@kernel
def value_to_come(rules, search, ply, alpha, beta):
    """Return the mover's reward still to come: exact inside (alpha, beta), else a bound.

    Source: [knuth1975] (alpha-beta), fail-soft.
    """
    state = search.states[ply]
    search.status[0] += 1
    if search.status[0] > search.status[2]:
        search.status[1] = LIMIT_REACHED
    elif ply + 2 >= search.states.shape[0]:
        search.status[1] = STACK_FULL
    if search.status[1] != 0:
        return 0.0
    call_key(rules, state, search.key[ply])
    slot, first = _slot(search, ply), NO_ACTION
    same = search.keys[slot, 0] == search.key[ply, 0] and search.keys[slot, 1] == search.key[ply, 1]
    if same and search.low[slot] <= search.high[slot]:
        if search.low[slot] >= beta or search.low[slot] == search.high[slot]:
            return search.low[slot]
        if search.high[slot] <= alpha:
            return search.high[slot]
        first = search.action[slot]
    player = call_player(rules, state)
    call_score(rules, state, search.score[ply])
    n = call_legal(rules, state, search.moves[ply])
    best, n = _end(rules, search, ply, n, player)
    _sort(search, ply, n, player, first)
    chosen, floor, following = NO_ACTION, max(alpha, best), search.states[ply + 1]
    for i in range(n):
        if floor >= beta:
            break
        action = search.moves[ply, i]
        copy_into(following, state, rules.size)
        call_play(rules, following, action)
        call_score(rules, following, search.score[ply + 1])
        reward = search.score[ply + 1, player] - search.score[ply, player]
        if call_player(rules, following) == player:
            value = reward + value_to_come(rules, search, ply + 1, floor - reward, beta - reward)
        else:
            value = reward - value_to_come(rules, search, ply + 1, reward - beta, reward - floor)
        if search.status[1] != 0:
            return 0.0
        if value > best:
            best, chosen = value, action
            floor = max(floor, best)
            if best >= beta:
                search.history[player, action] += (n - i) * (n - i)
    _remember(search, slot, ply, alpha, beta, best, chosen)
    return best


@kernel
def _remember(search, slot, ply, alpha, beta, value, action):
    """Store what the result says about the position; the newest entry of a slot stays."""
    search.keys[slot, 0] = search.key[ply, 0]
    search.keys[slot, 1] = search.key[ply, 1]
    search.low[slot] = value if value > alpha else -np.inf
    search.high[slot] = value if value < beta else np.inf
    search.action[slot] = action


class Solver:
    """Exact values by alpha-beta; its table stays between calls.

    Parameters
    ----------
    game : Game
        Two players, rewards that add up to 0, no chance, positions that never repeat within a game.
    table_bits : int, in [4, 28]
        The table has 2**table_bits entries of 40 bytes.

    Raises
    ------
    ValueError
        If the game is of another kind or the table's size is out of range.

    Source: [knuth1975]. Deviations: none.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.search.solver import Solver
    >>> game = games.load("tictactoe")
    >>> Solver(game, table_bits=12).values(game.start()).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, game, table_bits: int = TABLE_BITS):
        check_game(game, "alpha-beta")
        if game.players != 2 or not game.deterministic:
            raise ValueError(
                f"alpha-beta needs a game of two players without chance, not {game!r}: use"
                " max_n.values"
            )
        n = 1 << whole("table_bits", table_bits, 4, 28)
        self.game = game
        self.search = Search(
            np.zeros((n, 2), np.uint64),
            np.ones(n),
            np.zeros(n),
            np.zeros(n, np.int32),
            np.zeros((2, game.actions), np.int64),
            np.zeros((MAX_PLIES, game.size), np.int32),
            np.zeros((MAX_PLIES, game.max_legal), np.int32),
            np.zeros((MAX_PLIES, 2), np.uint64),
            np.zeros((MAX_PLIES, 2)),
            np.zeros(3, np.int64),
        )

    @property
    def positions(self) -> int:
        """Number of positions that the last call has searched."""
        return int(self.search.status[0])

    def value(self, state, limit: int = 100_000_000) -> float:
        """Return the mover's final cumulative reward under best play by both.

        Parameters
        ----------
        state : int32 [size]
        limit : int
            Most positions to search.

        Raises
        ------
        ValueError
            If the state is terminal, the limit is reached, a line is too long, or the rewards do
            not add up to 0.
        """
        game, search = self.game, self.search
        state = game._state(state, to_move=True)
        limit = whole("limit", limit, 1)
        if game.over(state):
            raise ValueError(f"the game is over in this state: {game.render(state)!r}")
        search.states[0], search.status[:] = state, (0, 0, limit)
        before = self._zero_sum(state)[game.player(state)]
        # nothing lies beyond, so a bound at the window's edge is exact
        low, high = game.score_range
        to_come = value_to_come(game.rules, search, 0, low - before, high - before)
        if search.status[1] == LIMIT_REACHED:
            raise ValueError(
                f"{limit:,} positions were not enough to solve this state of {game.name}: go closer"
                " to the end or raise limit"
            )
        if search.status[1] == STACK_FULL:
            raise ValueError(
                f"a line of {game.name} goes on for more than {MAX_PLIES - 2} plies: positions must"
                " not repeat"
            )
        return before + to_come

    def values(self, state, limit: int = 100_000_000) -> np.ndarray:
        """Return the mover's final reward after every legal action, float64[num_legal].

        Arguments as for :meth:`value`.
        """
        player, found = self.game.player(state), []
        for action in self.game.legal(state):
            after = self.game.play(state, action)
            if self.game.over(after):
                found.append(self._zero_sum(after)[player])
            else:
                found.append(
                    self.value(after, limit) * (1.0 if self.game.player(after) == player else -1.0)
                )
        return np.array(found) + 0.0  # no -0.0

    def _zero_sum(self, state) -> np.ndarray:
        score = self.game.score(state)
        if abs(score.sum()) > 1e-9:
            raise ValueError(
                f"alpha-beta needs rewards that add up to 0; here they are {score.tolist()} in"
                f" {self.game.name}"
            )
        return score
