"""Alpha-beta [knuth1975]: exact values of two-player games without chance, close to their end.

A position is worth the reward to come for the player to move under best play by both; a player may
move several times in a row. A table of bounds by ``game.key`` makes it fast, and the order of the
actions: those that end the game first, then the table's, then those with most cut-offs so far.
"""

from collections import namedtuple

import numpy as np

from afterstate.games.calls import (
    allocate,
    call_key,
    call_legal,
    call_over,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from afterstate.kernel.compile import kernel

MAX_PLIES = 512
NO_ACTION = -1


ARRAYS = {  # a direct-mapped table of bounds (low > high: free), rows for the plies, and counters
    "keys": ("uint64", "capacity", 2),
    "low": ("float64", "capacity"),
    "high": ("float64", "capacity"),
    "action": ("int32", "capacity"),  # that gave the bound
    "history": ("int64", 2, "actions"),  # cut-offs by player and action, weighted
    "states": ("int32", MAX_PLIES, "size"),
    "moves": ("int32", MAX_PLIES, "max_legal"),
    "key": ("uint64", MAX_PLIES, 2),
    "score": ("float64", MAX_PLIES, 2),
    "status": ("int64", 2),  # positions searched, the most of them
}
Search = namedtuple("Search", ARRAYS)


@kernel
def _slot(search, ply):
    h = search.key[ply, 0] ^ search.key[ply, 1] * np.uint64(0x9E3779B97F4A7C15)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    return np.int64((h ^ h >> np.uint64(32)) & np.uint64(search.low.shape[0] - 1))


@kernel
def _sort(moves, n, cut_offs, first):
    """Sort the actions by cut-offs, most first; `first` comes before all others."""
    for i in range(1, n):
        action, j = moves[i], i
        while j > 0 and moves[j - 1] != first:
            if action != first and cut_offs[action] <= cut_offs[moves[j - 1]]:
                break
            moves[j] = moves[j - 1]
            j -= 1
        moves[j] = action


@kernel
def _end(rules, search, ply, n, player):
    """Return the best reward of actions that end the game, and the number of others, in front."""
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
    """Return the mover's reward still to come: exact inside (alpha, beta), else a bound."""
    state, following = search.states[ply], search.states[ply + 1]
    search.status[0] += 1
    if search.status[0] > search.status[1]:
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
    player, moves = call_player(rules, state), search.moves[ply]
    call_score(rules, state, search.score[ply])
    best, n = _end(rules, search, ply, call_legal(rules, state, moves), player)
    _sort(moves, n, search.history[player], first)
    chosen, floor = NO_ACTION, max(alpha, best)
    for i in range(n):
        if floor >= beta:
            break
        copy_into(following, state, rules.size)
        call_play(rules, following, moves[i])
        call_score(rules, following, search.score[ply + 1])
        reward = search.score[ply + 1, player] - search.score[ply, player]
        if call_player(rules, following) == player:
            value = reward + value_to_come(rules, search, ply + 1, floor - reward, beta - reward)
        else:
            value = reward - value_to_come(rules, search, ply + 1, reward - beta, reward - floor)
        if search.status[0] > search.status[1]:
            return 0.0
        if value > best:
            best, chosen = value, moves[i]
            floor = max(floor, best)
            if best >= beta:
                search.history[player, chosen] += (n - i) * (n - i)
    copy_into(search.keys[slot], search.key[ply], 2)
    search.low[slot] = best if best > alpha else -np.inf
    search.high[slot] = best if best < beta else np.inf
    search.action[slot] = chosen
    return best


class Solver:
    """Exact values of one game whose positions never repeat; its table stays between calls."""

    def __init__(self, game, table_bits=20):
        assert game.players == 2 and game.deterministic
        self.game = game
        self.search = Search(**allocate(ARRAYS, game, capacity=1 << table_bits))
        self.search.low[:] = 1.0

    def value(self, state, limit=100_000_000):
        """The mover's final reward under best play by both."""
        game, search = self.game, self.search
        search.states[0], search.status[:] = state, (0, limit)
        before = game.score(state)[game.player(state)]
        # nothing lies beyond the range of scores, so a bound at the window's edge is exact
        low, high = game.score_range
        to_come = value_to_come(game.rules, search, 0, low - before, high - before)
        assert search.status[0] <= limit, "not enough positions"
        return before + to_come

    def values(self, state):
        """The mover's final reward after every legal action."""
        game, player, found = self.game, self.game.player(state), []
        for after in (game.play(state, action) for action in game.legal(state)):
            if game.over(after):
                found.append(game.score(after)[player])
            else:
                found.append(self.value(after) * (1 if game.player(after) == player else -1))
        return np.array(found) + 0.0  # no -0.0
