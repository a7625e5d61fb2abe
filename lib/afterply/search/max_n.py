"""Look-ahead by full search: Max-N for any number of players, alpha-beta for two.

In Max-N every player picks the action with their own greatest reward. Nothing is pruned. A table
keeps the rewards *to come* of all players, by position and by the remaining depths for which they
are exact. That is one depth if the limit cut the subtree somewhere, else every depth from the
subtree's height on. So no value depends on what was searched before.

With a network at its leaves the last action of a line is worth what the network says of its
afterstate, as for a greedy player; so chance is averaged over between the actions, and after the
last one the network has averaged. In a game for one player with chance this is expectimax.

In alpha-beta the values are those of the first player, who maximises. A player may move several
times in a row. A position that repeats one on the same line counts as a draw. The search sees only
the `core` of a state, so repetitions of positions before the root do not count.
"""

import threading
from collections import namedtuple
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..checks import whole
from ..games import calls
from ..games.conformance import LESS, TOLERANCE, not_opposite
from ..games.game import check_game
from ..kernel.compile import kernel
from ..networks import lookup
from ..networks.ntuple import Network
from ..processes import PerThread
from .puct import check_base

__all__ = ["MinMaxSearch", "Solution", "solve", "values"]

CUT = 1 << 30  # height of a subtree that the depth limit cut off
UNLIMITED = CUT - 1  # remaining depth of a search without limit
UNKNOWN = CUT + 1  # no height: the position must be searched
EMPTY = -1  # `low` of a free slot
TABLE_FULL = -1  # why a search stopped, in the place of a height
TOO_DEEP = -2
FIRST_CAPACITY = 1 << 12
# A full table of this capacity stores nothing more: values stay exact, the search gets slower.
# Only `solve`, which counts what the table holds, stops there.
MAX_CAPACITY = 1 << 24
MAX_PLIES = 2048
MAX_DEPTH = 511  # of alpha-beta
NO_ACTION = -1
# which values of the root alpha-beta makes exact: the first of the best ones, all best ones, all
FIRST, TIES, ALL = range(3)

# fmt: off
TABLE = {  # hash table of positions: rewards to come, exact for the remaining depths low .. high
    "keys":   ("uint64", "capacity", 2),
    "low":    ("int32", "capacity"),               # EMPTY = free
    "high":   ("int32", "capacity"),
    "values": ("float64", "capacity", "players"),
    "count":  ("int64", 1),
}
STACK = {
    "states": ("int32", "plies", "size"),
    "after":  ("int32", "plies", "size"),          # afterstate of the action that is being tried
    "moves":  ("int32", "plies", "max_legal"),
    "keys":   ("uint64", "plies", 2),
    "scores": ("float64", "plies", "players"),     # rewards up to this ply
    "values": ("float64", "plies", "players"),     # rewards to come from this ply on
    "trial":  ("float64", "plies", "players"),     # the same for the action that is being tried
    "root":   ("float64", "max_legal", "players"),
    "mover":  ("int32", "plies"),
    "height": ("int32", "plies"),                  # of what was searched below this ply so far
    "action": ("int32", "plies"),                  # place of the action that is being tried ...
    "num_actions":  ("int32", "plies"),
    "outcome":      ("int32", "plies"),            # ... and of the next outcome of it
    "num_outcomes": ("int32", "plies"),
    "probability":  ("float64", "plies"),          # of the outcome that is being searched
}
LEAF = {  # of a network at the leaves: the afterstate's board, its indices and symmetric boards
    "cells":  ("int32", "cells"),
    "index":  ("uint32", "features"),
    "boards": ("int32", "boards"),
}
LINE = {  # of alpha-beta
    "states": ("int32", "plies", "core"),
    "moves":  ("int32", "plies", "max_legal"),
    "keys":   ("uint64", "plies", 2),
    "since":  ("int32", "plies"),         # first ply of the line whose position may come back
    "killer": ("int32", "plies"),         # action that made the last cut-off at this ply
    "score":  ("float64", 2),
    "values": ("float64", "max_legal"),   # first player's values of the root's actions
    "exact":  ("int64", 2),               # FIRST, TIES or ALL; 1 if some rewards are not opposite
}
# fmt: on
Transpositions = namedtuple("Transpositions", TABLE)
Stack = namedtuple("Stack", STACK)
Leaf = namedtuple("Leaf", LEAF)
Line = namedtuple("Line", LINE)


class Solution(NamedTuple):
    """The result of :func:`solve`."""

    value: np.ndarray  # float64 [players]: cumulative rewards if all players play best
    positions: int  # number of distinct positions that can be reached, with terminal ones
    terminal: int  # number of terminal positions among them


@kernel
def find_slot(table, key, remaining):
    """Return the slot whose entry is exact for the position and depth, or the free slot for it."""
    k0, k1 = key[0], key[1]
    mask = np.uint64(table.low.shape[0] - 1)
    h = (k0 ^ (k1 * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xFF51AFD7ED558CCD)
    i = (h ^ (h >> np.uint64(32))) & mask
    while table.low[i] != EMPTY and (
        table.keys[i, 0] != k0
        or table.keys[i, 1] != k1
        or remaining < table.low[i]
        or remaining > table.high[i]
    ):
        i = (i + np.uint64(1)) & mask
    return i


@kernel
def store(table, key, low, high, value, may_grow):
    """Keep a value for a range of remaining depths; return TABLE_FULL if it must grow, else 0."""
    i = find_slot(table, key, low)
    if table.low[i] == EMPTY:
        if 4 * (table.count[0] + 1) > 3 * table.low.shape[0]:
            return TABLE_FULL if may_grow else 0
        table.count[0] += 1
        calls.copy_into(table.keys[i], key, 2)
    table.low[i], table.high[i] = low, high
    calls.copy_into(table.values[i], value, value.shape[0])
    return 0


@kernel
def refill(table, old):
    """Copy all entries of a smaller table."""
    for i in range(old.low.shape[0]):
        if old.low[i] != EMPTY:
            store(table, old.keys[i], old.low[i], old.high[i], old.values[i], False)


@kernel
def known(rules, table, stack, ply, remaining, keep_terminal, may_grow):
    """Return the height of a position that needs no search, a status, or UNKNOWN; keep its key."""
    s, value, key = stack.states[ply], stack.values[ply], stack.keys[ply]
    for p in range(rules.players):
        value[p] = 0.0
    calls.call_key(rules, s, key)
    if calls.call_over(rules, s):
        return store(table, key, 0, CUT, value, may_grow) if keep_terminal else 0
    if remaining == 0:
        return CUT
    if ply > 0:  # the root is always searched, for the values of its actions
        slot = find_slot(table, key, remaining)
        if table.low[slot] != EMPTY:
            calls.copy_into(value, table.values[slot], rules.players)
            return table.low[slot] if table.high[slot] == CUT else CUT
    return UNKNOWN if ply + 1 < stack.states.shape[0] else TOO_DEEP


@kernel
def search(rules, net, leaf, table, stack, keep_terminal, may_grow, depth):
    """Write the rewards to come; return the height (CUT if cut) or a status. Source: [korf1991].

    The last action of a line is valued by a network `net`, unless that is None.
    """
    # Not by recursion: the stack of a thread may be too small for a line of many plies.
    ply = 0
    height = known(rules, table, stack, ply, depth, keep_terminal, may_grow)
    while True:
        if height == UNKNOWN:
            begin_position(rules, stack, ply)
        elif height < 0 or ply == 0:
            return height
        else:
            ply -= 1
            add_outcome(rules, stack, ply, height)
        is_last = depth - ply == 1
        if next_outcome(rules, net, leaf, stack, ply, is_last):
            ply += 1
            height = known(rules, table, stack, ply, depth - ply, keep_terminal, may_grow)
        else:
            height = end_position(table, stack, ply, depth - ply, may_grow)


@kernel
def begin_position(rules, stack, ply):
    """Prepare the search of the actions of a position."""
    s = stack.states[ply]
    stack.mover[ply], stack.height[ply] = calls.call_player(rules, s), 0
    calls.call_score(rules, s, stack.scores[ply])
    stack.num_actions[ply] = calls.call_legal(rules, s, stack.moves[ply])
    stack.action[ply] = NO_ACTION
    stack.outcome[ply] = stack.num_outcomes[ply] = 0


@kernel
def next_outcome(rules, net, leaf, stack, ply, is_last):
    """Write what may follow a position into the next ply; return False if all has been searched.

    Nothing follows an action that is the last one of a line and valued by a network.
    """
    after, following = stack.after[ply], stack.states[ply + 1]
    while stack.outcome[ply] == stack.num_outcomes[ply]:
        if stack.action[ply] != NO_ACTION:
            end_action(rules, stack, ply)
        stack.action[ply] += 1
        if stack.action[ply] == stack.num_actions[ply]:
            return False
        calls.copy_into(after, stack.states[ply], rules.size)
        calls.call_play(rules, after, stack.moves[ply, stack.action[ply]])
        stack.trial[ply, :] = 0.0
        stack.outcome[ply] = 0
        if net is not None and is_last:
            stack.num_outcomes[ply] = 0
            value_afterstate(rules, net, leaf, stack, ply)
        else:
            stack.num_outcomes[ply] = calls.call_outcomes(rules, after) if rules.chance != 0 else 1
    calls.copy_into(following, after, rules.size)
    stack.probability[ply] = 1.0
    if rules.chance != 0:
        stack.probability[ply] = calls.call_outcome(rules, following, stack.outcome[ply])
    stack.outcome[ply] += 1
    return True


@kernel
def value_afterstate(rules, net, leaf, stack, ply):
    """Write what an action's reward and the network's value of its afterstate promise."""
    after, trial, mover = stack.after[ply], stack.trial[ply], stack.mover[ply]
    stack.height[ply] = CUT
    calls.call_score(rules, after, stack.scores[ply + 1])
    trial[mover] = stack.scores[ply + 1, mover] - stack.scores[ply, mover]
    if rules.chance != 0 or not calls.call_over(rules, after):
        calls.call_board(rules, after, leaf.cells)
        trial[mover] += lookup.value_of(net, mover, leaf.cells, leaf.index, leaf.boards)
    if rules.players == 2:  # their rewards are opposite
        trial[1 - mover] = -trial[mover]


@kernel
def add_outcome(rules, stack, ply, below):
    """Add the rewards of an outcome, whose subtree has the height `below`, to its action's."""
    stack.height[ply] = min(CUT, max(stack.height[ply], below + 1))
    calls.call_score(rules, stack.states[ply + 1], stack.scores[ply + 1])
    for p in range(rules.players):
        stack.trial[ply, p] += stack.probability[ply] * (
            stack.scores[ply + 1, p] - stack.scores[ply, p] + stack.values[ply + 1, p]
        )


@kernel
def end_action(rules, stack, ply):
    """Keep the rewards of an action if the mover has no better one so far."""
    value, trial, mover = stack.values[ply], stack.trial[ply], stack.mover[ply]
    if stack.action[ply] == 0 or trial[mover] > value[mover]:
        calls.copy_into(value, trial, rules.players)
    if ply == 0:
        calls.copy_into(stack.root[stack.action[ply]], trial, rules.players)


@kernel
def end_position(table, stack, ply, remaining, may_grow):
    """Store the rewards of a position; return its height or a status."""
    height = stack.height[ply]
    low, high = (height, CUT) if height < CUT else (remaining, remaining)
    status = store(table, stack.keys[ply], low, high, stack.values[ply], may_grow)
    return height if status == 0 else status


def _new_table(game, capacity) -> Transpositions:
    table = Transpositions(**calls.allocate(TABLE, game, capacity=capacity))
    table.low[:] = EMPTY
    return table


class MaxNSearch:
    """Working memory for Max-N in one game: a stack, and a table that grows with the search.

    With a network `net` the table begins empty in each search: the network may have learned since.
    """

    def __init__(self, game, net=None):
        check_game(game, "a search")
        self.net = None
        self.leaf = None
        if net is not None:
            self.net = net.arrays
            sizes = dict(features=len(self.net.offset), boards=len(self.net.symmetries))
            self.leaf = Leaf(**calls.allocate(LEAF, game, **sizes))
        if not game.deterministic:
            game.outcomes(game.start())  # ValueError if the game does not list its chance outcomes
        self.table = _new_table(game, FIRST_CAPACITY)
        self.stack = Stack(**calls.allocate(STACK, game, plies=MAX_PLIES))

    def run(self, game, s, depth, keep_terminal=False, positions=None) -> None:
        """Search from a state `s` to a depth, with at most so many `positions` in the table.

        The results are in ``stack.values[0]`` and ``stack.root``. With `keep_terminal` the table
        holds every position that was met, terminal ones included; MemoryError if it is too small.
        """
        if self.net is not None:
            self.table.low[:] = EMPTY
            self.table.count[0] = 0
        status = TABLE_FULL
        while status == TABLE_FULL:
            self.stack.states[0] = s
            capacity = len(self.table.low)
            is_allowed = positions is None or 3 * (2 * capacity) // 4 <= positions
            may_grow = keep_terminal or (capacity < MAX_CAPACITY and is_allowed)
            status = search(
                game.rules,
                self.net,
                self.leaf,
                self.table,
                self.stack,
                keep_terminal,
                may_grow,
                depth,
            )
            if status == TABLE_FULL:
                self._grow(game)
        if status == TOO_DEEP:
            raise ValueError(
                f"a line of {game.name} goes on for more than {MAX_PLIES} plies: give a smaller"
                " depth"
            )

    def _grow(self, game):
        """Replace the table by one of twice the capacity, with the same entries."""
        capacity = len(self.table.low)
        if capacity >= MAX_CAPACITY:
            raise MemoryError(
                f"{game.name} has more than {3 * capacity // 4:,} positions, which is all that the"
                " table holds: solve a smaller game, or from a later state"
            )
        larger = _new_table(game, 2 * capacity)
        refill(larger, self.table)
        self.table = larger


class _Searches(threading.local):
    """The working memory of each thread: what an earlier search left there changes no value."""

    def __init__(self):
        self.by_game = WeakKeyDictionary()  # game -> MaxNSearch
        self.by_net = WeakKeyDictionary()  # network at the leaves -> MaxNSearch


_searches = _Searches()


def check_depth(depth, most=None) -> int:
    """Return a depth, a whole number from 1 on, or raise ValueError."""
    return whole("the depth of a search", depth, 1, most)


def check_positions(positions) -> int | None:
    """Return how many positions a table may hold, or None for the usual; or raise ValueError."""
    if positions is None:
        return None
    return whole("positions that the table may hold", positions, 3 * FIRST_CAPACITY // 4)


def check_leaf(net, game=None) -> Network:
    """Return a network that can value the last action of a line, or raise ValueError."""
    if not isinstance(net, Network) or net.per_action:
        raise ValueError(f"leaf={net!r} must be an n-tuple network of V, or an agent with one")
    game = game or net.game
    check_base(net, game)
    if game.players > 2 or game.players == 2 and not_opposite(game):
        raise ValueError(
            f"leaf is for one player, or two with opposite rewards, not {game!r}: a network tells"
            " only what the player who moves expects. Take players.Wrapped"
        )
    return net


def values(game, state, depth, positions=None, leaf=None) -> np.ndarray:
    """Return the Max-N value of every legal action for every player, float64 [num_legal, players].

    After `depth` actions a position is worth its present cumulative reward. The table grows to
    some 12.6 million `positions` of each game and thread, 670 MB for two players, or to as many as
    are given, at least 3,072: fewer make the search slower and change no value. ValueError if a
    game of chance does not list its outcomes.

    With a network `leaf` the last of the `depth` actions is worth its reward and the network's
    value of its afterstate: depth 1 is a greedy choice.

    Source: [korf1991]; [konen2021] Sec. 3.3 (opponent Max-N).

    >>> from afterply import games
    >>> game = games.load("nim", heaps=2, stones=2)
    >>> values(game, game.parse("2 1 : 0"), depth=5)[:, 0].tolist()
    [1.0, -1.0, -1.0]
    """
    depth = min(check_depth(depth), UNLIMITED)
    positions = check_positions(positions)
    check_game(game, "Max-N")
    if leaf is None:
        memories, owner = _searches.by_game, game
    else:
        memories, owner = _searches.by_net, check_leaf(leaf, game)
    memory = memories.get(owner)
    if memory is None:
        memory = MaxNSearch(game, leaf)
        memories[owner] = memory
    state = game._state(state, to_move=True)
    num_legal = len(game.legal(state))
    memory.run(game, state, depth, positions=positions)
    return memory.stack.root[:num_legal] + game.score(state)


def solve(game, state=None) -> Solution:
    """Search a game to its end from a state (default: the start) and count distinct positions.

    MemoryError if there are more positions than the table may hold, some 12.6 million.

    >>> from afterply import games
    >>> solve(games.load("tictactoe"))
    Solution(value=array([0., 0.]), positions=5478, terminal=958)
    """
    check_game(game, "a solution")
    if state is None:
        state = game.start()
    else:
        state = game._state(state, to_move=True)
    memory = MaxNSearch(game)
    memory.run(game, state, UNLIMITED, keep_terminal=True)
    value = memory.stack.values[0] + game.score(state)
    is_entry = memory.table.low != EMPTY
    is_terminal = memory.table.low == 0  # exact from depth 0 on
    return Solution(value, int(is_entry.sum()), int(is_terminal.sum()))


@kernel
def repeats(rules, line, ply, is_leaf):
    """Return whether the position stands earlier on the line; keep its key if another follows."""
    s, since = line.states[ply], line.since
    since[ply] = ply if ply == 0 or calls.call_irreversible(rules, s) else since[ply - 1]
    if is_leaf and ply - since[ply] < 2:  # a single action does not lead back
        return False
    calls.call_key(rules, s, line.keys[ply])
    for j in range(since[ply], ply):
        if line.keys[j, 0] == line.keys[ply, 0] and line.keys[j, 1] == line.keys[ply, 1]:
            return True
    return False


@kernel
def window_edge(line, ply, best, worst):
    """Return the value beyond which other actions matter; at the root it keeps values exact."""
    if ply > 0 or line.exact[0] == FIRST:
        return best
    return np.nextafter(best, worst) if line.exact[0] == TIES else worst


@kernel
def alpha_beta(rules, line, ply, remaining, alpha, beta):
    """Return the first player's value, a bound outside (alpha, beta). Source: [knuth1975]."""
    # Only Python calls this: numba's code can crash if a kernel calls a recursive kernel.
    s = line.states[ply]
    over = calls.call_over(rules, s)
    if not over and repeats(rules, line, ply, remaining == 0):
        return 0.0
    if over or remaining == 0:
        if not over and rules.heuristic != 0:
            return calls.call_heuristic(rules, s)
        calls.call_score(rules, s, line.score)
        if abs(line.score[0] + line.score[1]) > TOLERANCE:
            line.exact[1] = 1
        return line.score[0]
    moves, following = line.moves[ply], line.states[ply + 1]
    player, n = calls.call_player(rules, s), calls.call_legal(rules, s, moves)
    for i in range(1, n):  # what made the last cut-off comes first
        if moves[i] == line.killer[ply]:
            moves[i], moves[0] = moves[0], moves[i]
    worst = -np.inf if player == 0 else np.inf
    best = worst
    for i in range(n):
        calls.copy_into(following, s, rules.core)
        calls.call_play(rules, following, moves[i])
        value = alpha_beta(rules, line, ply + 1, remaining - 1, alpha, beta)
        if ply == 0:
            line.values[i] = value
        if player == 0:
            best = max(best, value)
            alpha = max(alpha, window_edge(line, ply, best, worst))
        else:
            best = min(best, value)
            beta = min(beta, window_edge(line, ply, best, worst))
        if alpha >= beta:
            line.killer[ply] = moves[i]
            return best
    return best


class MinMaxSearch(PerThread):
    """Alpha-beta to a depth, for two players with opposite rewards and without chance.

    ValueError if rewards are not opposite: at once if random games show it, else by the search that
    meets it.
    """

    def __init__(self, game, depth: int):
        self.game = check_game(game, "Min-Max")
        self.depth = check_depth(depth, MAX_DEPTH)
        if game.players != 2 or not game.deterministic:
            raise ValueError(
                "Min-Max needs a game of two players with opposite rewards and without chance, not"
                f" {game!r}: use MaxN"
            )
        fault = not_opposite(game)
        if fault:
            raise _not_for_min_max(fault)
        self.line = Line(**calls.allocate(LINE, game, plies=self.depth + 1))

    def values(self, state, exact: int = ALL) -> np.ndarray:
        """Return the mover's values, float64 [num_legal].

        With `exact` = ALL every value is exact. With TIES the best ones are, and the others are
        upper bounds below them. With FIRST only the first of the best is, which is much faster.
        """
        state = self.game._state(state, to_move=True)
        self.run(state, exact)
        num_legal = len(self.game.legal(state))
        sign = 1.0 if self.game.player(state) == 0 else -1.0
        return sign * self.line.values[:num_legal] + 0.0  # -0.0 + 0.0 is 0.0

    def run(self, state, exact: int) -> None:
        """Write the first player's values of all legal actions of a valid state into ``line``."""
        line = self.line
        line.states[0] = state[: self.game.core]
        line.killer[:] = NO_ACTION
        line.exact[:] = (exact, 0)
        alpha_beta(self.game.rules, line, 0, self.depth, -np.inf, np.inf)
        if line.exact[1]:
            where = f"within {self.depth} actions from {state.tolist()}"
            raise _not_for_min_max(f"{self.game!r} gives others {where}")


def _not_for_min_max(fault) -> ValueError:
    assumption = "Min-Max takes the other player's reward for the opposite of the own one"
    return ValueError(f"{assumption}, but {fault}: use MaxN, or {LESS}")
