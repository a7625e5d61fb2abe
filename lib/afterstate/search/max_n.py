"""Max-N: exact look-ahead for any number of players, with a transposition table.

Every player picks the action with their own greatest reward; a position returns the vector of all
players' rewards. Nothing is pruned. The table keeps rewards *to come*, by position and the range of
remaining depths for which they are exact: one depth if the limit cut the subtree somewhere, else
every depth from the subtree's height on. So no value depends on what was searched before.
"""

import threading
from collections import namedtuple
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..checks import whole
from ..games.calls import (
    allocate,
    call_key,
    call_legal,
    call_outcome,
    call_outcomes,
    call_over,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from ..games.game import check_game
from ..kernel.compile import kernel

CUT = 1 << 30  # height of a subtree that the depth limit cut off
UNLIMITED = CUT - 1  # remaining depth of a search without limit
UNKNOWN = CUT + 1  # no height: the position must be searched
EMPTY = -1  # `low` of a free slot
TABLE_FULL, STACK_FULL = -1, -2
FIRST_CAPACITY = 1 << 12
# beyond this nothing more is stored; values stay exact, the search gets slower
MAX_CAPACITY = 1 << 24
FIRST_PLIES, MAX_PLIES = 64, 2048
UNITS = ("action", "turn")


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
}
# fmt: on
Transpositions, Stack = namedtuple("Transpositions", TABLE), namedtuple("Stack", STACK)


class Solution(NamedTuple):
    """What :func:`solve` finds."""

    value: np.ndarray  # float64 [players]: cumulative rewards under best play by all
    positions: int  # distinct positions that can be reached, terminal ones included
    terminal: int  # of these, terminal ones


@kernel
def find_slot(table, k0, k1, remaining):
    """Return the slot whose entry is exact for the position and depth, or the free slot for it."""
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
def store(table, k0, k1, low, high, value, may_grow):
    """Keep a value for a range of remaining depths; return TABLE_FULL if it must grow, else 0."""
    i = find_slot(table, k0, k1, low)
    if table.low[i] == EMPTY:
        if 4 * (table.count[0] + 1) > 3 * table.low.shape[0]:
            return TABLE_FULL if may_grow else 0
        table.count[0] += 1
        table.keys[i, 0] = k0
        table.keys[i, 1] = k1
    table.low[i] = low
    table.high[i] = high
    copy_into(table.values[i], value, value.shape[0])
    return 0


@kernel
def refill(table, old):
    """Copy all entries of a smaller table."""
    for i in range(old.low.shape[0]):
        if old.low[i] != EMPTY:
            k0, k1 = old.keys[i, 0], old.keys[i, 1]
            store(table, k0, k1, old.low[i], old.high[i], old.values[i], False)


@kernel
def known(rules, table, stack, ply, remaining, keep_terminal, may_grow):
    """Return the height of a position that needs no search, a status, or UNKNOWN; keep its key."""
    s, value, key = stack.states[ply], stack.values[ply], stack.keys[ply]
    for p in range(rules.players):
        value[p] = 0.0
    call_key(rules, s, key)
    if call_over(rules, s):
        return store(table, key[0], key[1], 0, CUT, value, may_grow) if keep_terminal else 0
    if remaining == 0:
        return CUT
    if ply > 0:  # the root is always searched, for the values of its actions
        slot = find_slot(table, key[0], key[1], remaining)
        if table.low[slot] != EMPTY:
            copy_into(value, table.values[slot], rules.players)
            return table.low[slot] if table.high[slot] == CUT else CUT
    return UNKNOWN if ply + 1 < stack.states.shape[0] else STACK_FULL


@kernel
def search(rules, table, stack, ply, remaining, turns, keep_terminal, may_grow):
    """Write the rewards to come from ``stack.states[ply]`` into ``stack.values[ply]``.

    Return the height of the subtree (CUT if the depth limit cut it), or a negative status. Of equal
    values the first counts. Source: [korf1991]; [konen2021] Sec. 3.3 and Table 1 (opponent Max-N).
    """
    height = known(rules, table, stack, ply, remaining, keep_terminal, may_grow)
    if height != UNKNOWN:
        return height
    s, after, following = stack.states[ply], stack.after[ply], stack.states[ply + 1]
    value, trial = stack.values[ply], stack.trial[ply]
    mover, height = call_player(rules, s), 0
    call_score(rules, s, stack.scores[ply])
    for i in range(call_legal(rules, s, stack.moves[ply])):
        copy_into(after, s, rules.size)
        call_play(rules, after, stack.moves[ply, i])
        trial[:] = 0.0
        for k in range(call_outcomes(rules, after) if rules.chance != 0 else 1):
            copy_into(following, after, rules.size)
            probability = call_outcome(rules, following, k) if rules.chance != 0 else 1.0
            step = 0 if turns and call_player(rules, following) == mover else 1
            below = search(
                rules, table, stack, ply + 1, remaining - step, turns, keep_terminal, may_grow
            )
            if below < 0:
                return below
            height = min(CUT, max(height, below + step))
            call_score(rules, following, stack.scores[ply + 1])
            for p in range(rules.players):
                trial[p] += probability * (
                    stack.scores[ply + 1, p] - stack.scores[ply, p] + stack.values[ply + 1, p]
                )
        if i == 0 or trial[mover] > value[mover]:
            copy_into(value, trial, rules.players)
        if ply == 0:
            copy_into(stack.root[i], trial, rules.players)
    low, high = (height, CUT) if height < CUT else (remaining, remaining)
    status = store(table, stack.keys[ply, 0], stack.keys[ply, 1], low, high, value, may_grow)
    return height if status == 0 else status


def _new_table(game, capacity) -> Transpositions:
    table = Transpositions(**allocate(TABLE, game, capacity=capacity))
    table.low[:] = EMPTY
    return table


def _new_stack(game, plies) -> Stack:
    return Stack(**allocate(STACK, game, plies=plies))


class MaxNSearch:
    """The table and the stack of one game; both grow when a search needs it."""

    def __init__(self, game):
        check_game(game, "a search")
        if not game.deterministic:
            game.outcomes(game.start())  # raises where the game does not list its chance outcomes
        self.table, self.stack = _new_table(game, FIRST_CAPACITY), _new_stack(game, FIRST_PLIES)

    def run(self, game, s, depth, unit="action", keep_terminal=False) -> None:
        """Search from `s`; the results are in ``stack.values[0]`` and ``stack.root``."""
        status, options = TABLE_FULL, (depth, unit == "turn", keep_terminal)
        while status < 0:
            self.stack.states[0] = s
            may_grow = self.table.low.shape[0] < MAX_CAPACITY
            status = search(game.rules, self.table, self.stack, 0, *options, may_grow)
            if status == TABLE_FULL:
                smaller, self.table = self.table, _new_table(game, 2 * self.table.low.shape[0])
                refill(self.table, smaller)
            elif status == STACK_FULL:
                plies = self.stack.states.shape[0]
                if plies >= MAX_PLIES:
                    raise ValueError(
                        f"a line of {game.name} goes on for more than {MAX_PLIES} plies: give a"
                        " smaller depth"
                    )
                self.stack = _new_stack(game, 2 * plies)


class _Kept(threading.local):  # searches of a thread, which never change a value
    def __init__(self):
        self.of = WeakKeyDictionary()  # game -> unit -> MaxNSearch


_kept = _Kept()


def check_depth(depth, unit, most=None) -> None:
    """Raise ValueError if the depth is not a whole number from 1 on, or its unit is unknown."""
    whole("the depth of a search", depth, 1, most)
    if unit not in UNITS:
        raise ValueError(f"depth counts in units of {' or '.join(map(repr, UNITS))}, not {unit!r}")


def values(game, state, depth, unit="action") -> np.ndarray:
    """Return the Max-N value of every legal action for every player, float64[num_legal, players].

    The look-ahead is `depth` actions, or with ``unit="turn"`` actions in a row by one player count
    as one. At the limit a position is worth its present cumulative reward. Raises ValueError if the
    depth is below 1, or a game of chance does not list its outcomes.

    Source: [korf1991]; [konen2021] Sec. 3.3 (opponent Max-N).

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.search import max_n
    >>> game = games.load("nim", heaps=2, stones=2)
    >>> max_n.values(game, game.parse("2 1 : 0"), depth=5)[:, 0].tolist()
    [1.0, -1.0, -1.0]
    """
    check_depth(depth, unit)
    by_unit = _kept.of.setdefault(game, {})
    if unit not in by_unit:
        by_unit[unit] = MaxNSearch(game)
    work, state = by_unit[unit], game._state(state, to_move=True)
    num_legal = len(game.legal(state))
    if num_legal == 0:
        return np.zeros((0, game.players))
    work.run(game, state, min(int(depth), UNLIMITED), unit)
    return work.stack.root[:num_legal] + game.score(state)


def solve(game, state=None) -> Solution:
    """Search a game to its end from a state (default: the start) and count distinct positions.

    All its lines must end within 2048 plies.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.search import max_n
    >>> max_n.solve(games.load("tictactoe"))
    Solution(value=array([0., 0.]), positions=5478, terminal=958)
    """
    state = game.start() if state is None else game._state(state, to_move=True)
    work = MaxNSearch(game)
    work.run(game, state, UNLIMITED, keep_terminal=True)
    low, value = work.table.low, work.stack.values[0] + game.score(state)
    return Solution(value, int((low != EMPTY).sum()), int((low == 0).sum()))
