"""Depth-limited Min-Max for two players with opposite rewards: alpha-beta to a depth.

At the limit the game's heuristic counts. Values are the first player's, who maximises, while the
other one minimises, so a player may also move several times in a row. A position that repeats one
on the same line counts as a draw. The search sees only `core` of a state, hence no repetition of
what was played before.
"""

from collections import namedtuple

import numpy as np

from ..games.calls import (
    allocate,
    call_heuristic,
    call_irreversible,
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
from .max_n import check_depth

NO_ACTION = -1
MAX_PLIES = 512  # longest line; only a depth in turns can need more
# what is exact at the root: the first of the best values, all best values, all values
FIRST, TIES, ALL = 0, 1, 2
VISITED, FULL, EXACT = 0, 1, 2  # places in MinMaxStack.status


# fmt: off
STACK = {
    "states": ("int32", "plies", "core"),
    "moves":  ("int32", "plies", "max_legal"),
    "keys":   ("uint64", "plies", 2),
    "since":  ("int32", "plies"),         # first ply of the line whose position may come back
    "killer": ("int32", "plies"),         # action that made the last cut-off at this ply
    "score":  ("float64", 2),
    "values": ("float64", "max_legal"),   # first player's values of the root's actions
    "status": ("int64", 3),               # positions visited, stack was full, what is exact
}
# fmt: on
MinMaxStack = namedtuple("MinMaxStack", STACK)


@kernel
def repeats(rules, search, ply, is_leaf):
    """Return whether the position stands earlier on the line; keep its key if anything follows."""
    s, since = search.states[ply], search.since
    since[ply] = ply if ply == 0 or call_irreversible(rules, s) else since[ply - 1]
    if is_leaf and ply - since[ply] < 2:  # a single action does not lead back
        return False
    call_key(rules, s, search.keys[ply])
    for j in range(since[ply], ply):
        if search.keys[j, 0] == search.keys[ply, 0] and search.keys[j, 1] == search.keys[ply, 1]:
            return True
    return False


@kernel
def bring_forward(moves, n, action):
    """Move an action, if it is among the `n`, to the first place."""
    for i in range(n):
        if moves[i] == action:
            moves[i], moves[0] = moves[0], action
            return


@kernel
def window_edge(search, ply, best, worst):
    """Return the value beyond which other actions matter; at the root it keeps values exact."""
    if ply > 0 or search.status[EXACT] == FIRST:
        return best
    return np.nextafter(best, worst) if search.status[EXACT] == TIES else worst


@kernel
def value_of(rules, search, ply, remaining, turns, estimate, alpha, beta):
    """Return the first player's value of a position: exact inside (alpha, beta), else a bound.

    Only Python calls this kernel: numba's code for a recursive kernel that another kernel calls can
    crash. Source: [knuth1975] (alpha-beta), fail-soft.
    """
    s = search.states[ply]
    search.status[VISITED] += 1
    if call_over(rules, s):
        call_score(rules, s, search.score)
        return search.score[0]
    if repeats(rules, search, ply, remaining == 0):
        return 0.0
    if remaining == 0:
        if estimate:
            return call_heuristic(rules, s)
        call_score(rules, s, search.score)
        return search.score[0]
    if ply + 1 >= search.states.shape[0]:
        search.status[FULL] = 1
        return 0.0
    moves, following = search.moves[ply], search.states[ply + 1]
    player, n = call_player(rules, s), call_legal(rules, s, moves)
    bring_forward(moves, n, search.killer[ply])
    worst = -np.inf if player == 0 else np.inf
    best = worst
    for i in range(n):
        copy_into(following, s, rules.core)
        call_play(rules, following, moves[i])
        step = 0 if turns and call_player(rules, following) == player else 1
        value = value_of(rules, search, ply + 1, remaining - step, turns, estimate, alpha, beta)
        if search.status[FULL] != 0:
            return 0.0
        if ply == 0:
            search.values[i] = value
        if player == 0:
            best = max(best, value)
            alpha = max(alpha, window_edge(search, ply, best, worst))
        else:
            best = min(best, value)
            beta = min(beta, window_edge(search, ply, best, worst))
        if alpha >= beta:
            search.killer[ply] = moves[i]
            return best
    return best


class Searcher:
    """Searches a game of two players with opposite rewards and without chance to a fixed depth.

    `depth` counts actions, or with ``unit="turn"`` actions of one player in a row as one.
    `heuristic`: whether the game's heuristic gives the value at the limit, or the reward so far.

    Source: [knuth1975]. Deviations: none.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.search import min_max
    >>> game = games.load("kalah")
    >>> (49 * min_max.Searcher(game, 2).values(game.start())).round(9).tolist()
    [-1.0, -1.0, 2.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, game, depth: int, unit: str = "action", heuristic: bool | None = None):
        check_depth(depth, unit, MAX_PLIES - 1)
        check_game(game, "Min-Max")
        opposite = game.players == 2 and abs(game.score(game.start()).sum()) < 1e-9
        if not opposite or not game.deterministic:
            raise ValueError(
                "Min-Max needs a game of two players with opposite rewards and without chance, not"
                f" {game!r}: use MaxN"
            )
        if heuristic and game.rules.heuristic == 0:
            raise ValueError(
                f"the game {game.name!r} has no heuristic: give it the rule heuristic(s), or say"
                " heuristic=False"
            )
        plies = MAX_PLIES if unit == "turn" else int(depth) + 1
        self.game, self.depth, self.turns = game, int(depth), unit == "turn"
        self.estimate = game.rules.heuristic != 0 if heuristic is None else bool(heuristic)
        self.search = MinMaxStack(**allocate(STACK, game, plies=plies))

    @property
    def positions(self) -> int:
        """Positions that the last search visited."""
        return int(self.search.status[VISITED])

    def values(self, state, exact: int = ALL) -> np.ndarray:
        """Return the mover's value of every legal action, float64[num_legal].

        Exact are all; the best ones (TIES); the first best one (FIRST). The others are bounds below
        the best value (with FIRST: not above it), found much faster.
        """
        state = self.game._state(state, to_move=True)
        if self.game.over(state):
            return np.zeros(0)
        self.run(state, exact)
        values = self.search.values[: len(self.game.legal(state))]
        return (values if self.game.player(state) == 0 else -values) + 0.0  # no -0.0

    def run(self, state, exact: int) -> None:
        """Leave the first player's values of all legal actions of a sound state in ``search``."""
        search, how = self.search, (self.depth, self.turns, self.estimate)
        search.states[0], search.killer[:] = state[: self.game.core], NO_ACTION
        search.status[:] = 0, 0, exact
        value_of(self.game.rules, search, 0, *how, -np.inf, np.inf)
        if search.status[FULL]:
            raise ValueError(
                f"a line of {self.game.name} goes on for more than {MAX_PLIES - 1} plies: give a"
                " smaller depth, or count actions"
            )
