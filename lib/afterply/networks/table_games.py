"""Games of two players who read tables of action values, or of best moves: one loop for all.

A *side* is greedy or softmax in a table of action values, takes moves from a table of the best ones
(a search fills it), or moves at random. :func:`play_game` is the loop: training calls it as well as
contests, and notes the decisions of the sides that learn.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..games import calls
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.functions import exp
from ..kernel.random import new_rng, random_float, random_int
from .table import NONE, QTable, find, full, insert, read_values

# Kinds of sides. The tables of FIRST and UNIFORM hold best moves, of which they take the first or
# any. GREEDY and GREEDY_FIRST do the same with the greatest of a state's action values.
GREEDY, RANDOM, FIRST, UNIFORM, SOFTMAX, GREEDY_FIRST = range(6)
DONE, MISSING, TABLE_FULL, TRACE_FULL = range(4)  # why a kernel stops
RUNNING, PLIES, GAMES = range(3)  # in Work.progress
NO_SEAT = -1


class Policy(NamedTuple):
    """How a side chooses its actions, beside its table: what kernels read."""

    kind: int
    owner: int  # whose values it reads, where two learners share a table
    epsilon: float  # rate of random moves
    temperature: float  # of SOFTMAX


class Side(NamedTuple):
    """One of the two who play: how it chooses, and what it reads."""

    policy: Policy
    # a QTable, or a search that has its `table` and adds a position to it by `add(state)`
    net: object


WORK = {  # the game that is being played, and working memory
    "state": ("int32", "size"),
    "moves": ("int32", "max_legal"),
    "values": ("float64", "actions"),
    "key": ("uint64", 2),
    "score": ("float64", 2),
    "path": ("uint64", 1),  # hash of the actions so far
    "progress": ("int64", 3),  # RUNNING, PLIES, GAMES
}
Work = namedtuple("Work", ["rng", *WORK])

TRACE = {  # the decisions of the learners in the present game
    "player": ("int32", "size"),
    "state": ("int32", "size"),  # its number in the table
    "entry": ("int32", "size"),
    "legal": ("int32", "size"),  # number of legal actions there
    "length": ("int64", 1),
    "follow": ("int64", 2),  # of each player, the decision after the one that is updated
}
Trace = namedtuple("Trace", TRACE)


def check_two_players(game):
    """Return a game of two players, or raise ValueError."""
    if check_game(game, "an agent").players != 2:
        raise ValueError(f"tabular agents play games of two players, not {game.name}")
    return game


def q_table(value) -> QTable:
    """Return `value` if it is a table of action values, or raise TypeError."""
    if not isinstance(value, QTable):
        raise TypeError(f"a table of action values (a QTable) is needed, not {value!r}")
    return value


def new_work(game, seed: int) -> Work:
    """Make the working memory for games of two players."""
    return Work(new_rng(seed), **calls.allocate(WORK, check_two_players(game)))


def new_trace(size: int, old: Trace | None = None) -> Trace:
    """Return an empty trace for `size` decisions, or one with those of a smaller trace."""
    trace = Trace(**calls.allocate(TRACE, size=size))
    if old is not None:
        for array, old_array in zip(trace, old):
            array[: len(old_array)] = old_array
    return trace


# Choices


@kernel
def look_at(rules, work):
    """Write legal actions and key of the present state; return (player, number of actions)."""
    calls.call_key(rules, work.state, work.key)
    return calls.call_player(rules, work.state), calls.call_legal(rules, work.state, work.moves)


@kernel
def is_searched(policy):
    """Return whether a policy reads best moves, which a search puts into its table."""
    return policy.kind == FIRST or policy.kind == UNIFORM


@kernel
def state_in(rules, policy, table, work):
    """Return the number of the present state in the table that a policy reads, or NONE."""
    if policy.kind == RANDOM:
        return np.int64(NONE)
    if is_searched(policy):  # the key leaves clocks out, which count here
        calls.mix_words(work.state, rules.core, work.key)
    return find(table, policy.owner, work.key)


@kernel
def choose(rules, policy, table, work, n):
    """Return an action, -MISSING if its best is unknown. Source: [jamieson2022] Eq. (1); D5, D8."""
    searched = is_searched(policy)
    state = state_in(rules, policy, table, work)
    if searched and state == NONE:
        return np.int64(-MISSING)
    if policy.kind == RANDOM or policy.epsilon > 0.0 and random_float(work.rng) < policy.epsilon:
        return calls.random_action(rules, work.moves, n, work.rng)
    if policy.kind == SOFTMAX:
        return softmax(policy, table, work, state, n)
    if searched:
        return best_move(policy, table, work, state)
    return greedy(table, work, state, n, policy.kind == GREEDY_FIRST)


@kernel
def greedy(table, work, state, n, first):
    """Return an action with the greatest Q: with `first` the first of equals, else any of them.

    Equal ones are equally probable. Source: [jamieson2022] Eq. (1). Deviations: D8.
    """
    read_values(table, state, work.moves, n, work.values)
    top, ties = work.values[work.moves[0]], 1
    for i in range(1, n):
        value = work.values[work.moves[i]]
        if value > top:
            top, ties = value, 1
        elif value == top:
            ties += 1
    skip = random_int(work.rng, ties) if ties > 1 and not first else 0
    i = 0
    while work.values[work.moves[i]] != top or skip > 0:
        if work.values[work.moves[i]] == top:
            skip -= 1
        i += 1
    return np.int64(work.moves[i])


@kernel
def weigh(policy, table, work, state, n):
    """Write exp((Q - max Q) / temperature), or 1 for the greatest Q, else 0; return the sum."""
    read_values(table, state, work.moves, n, work.values)
    top, total = work.values[work.moves[0]], 0.0
    for i in range(1, n):
        top = max(top, work.values[work.moves[i]])
    for i in range(n):
        above = work.values[work.moves[i]] - top
        if policy.kind == SOFTMAX:
            weight = exp(above / policy.temperature)
        else:
            weight = 1.0 if above == 0.0 else 0.0
        work.values[work.moves[i]] = weight
        total += weight
    return total


@kernel
def softmax(policy, table, work, state, n):
    """Return an action with probability proportional to exp(Q / temperature)."""
    left = random_float(work.rng) * weigh(policy, table, work, state, n)
    for i in range(n - 1):
        left -= work.values[work.moves[i]]
        if left < 0.0:
            return np.int64(work.moves[i])
    return np.int64(work.moves[n - 1])


@kernel
def best_move(policy, table, work, state):
    """Return the first of the best moves of a state, or any of them.  Deviations: D8."""
    ties = 0
    entry = table.newest[state]
    while entry != NONE:
        ties += 1
        entry = table.older[entry]
    skip = 0
    if policy.kind == UNIFORM and ties > 1:
        skip = random_int(work.rng, ties)
    entry = table.newest[state]  # the best moves were put in from the last to the first
    for _ in range(skip):
        entry = table.older[entry]
    return np.int64(table.action[entry])


# Games


@kernel
def play_game(rules, seat, policies, tables, learns, traces, work, hash_path):
    """Play the present game to its end, a new one if none is running; write its score.

    Source: [jamieson2022] Alg. 1, lines 5-8 and 16.

    Parameters
    ----------
    seat : int
        The seat, 0 or 1, of the first of the two sides; NO_SEAT: the second side has both.
    policies, tables : tuple of two
        How each side chooses, and what it reads. Two sides may share a table.
    learns, traces : tuple of two
        Whether each side learns, and where its decisions are noted. Two sides may share a trace.
    hash_path : bool
        Whether ``work.path`` is needed, which tells different games of a contest apart.

    Returns
    -------
    int
        DONE; or why this must be called again, for the state in ``work``: a position must be
        searched (MISSING), or the table or the trace of the player to move has no room.
    """
    if work.progress[RUNNING] == 0:
        calls.call_start(rules, work.state, work.rng)
        work.progress[RUNNING] = 1
        work.progress[PLIES] = 0
        work.path[0] = 0
        traces[0].length[0] = 0
        traces[1].length[0] = 0
    while not calls.call_over(rules, work.state):
        player, num_legal = look_at(rules, work)
        # Constant indices, because one that is known only at run time takes 5% more time.
        if player == seat:
            action = decide(
                rules, policies[0], tables[0], learns[0], traces[0], work, player, num_legal
            )
        else:
            action = decide(
                rules, policies[1], tables[1], learns[1], traces[1], work, player, num_legal
            )
        if action < 0:
            return -action
        calls.call_play(rules, work.state, action)
        calls.call_chance(rules, work.state, work.rng)
        if hash_path:
            work.path[0] = path_with(work.path[0], action)
        work.progress[PLIES] += 1
    calls.call_score(rules, work.state, work.score)
    work.progress[RUNNING] = 0
    return DONE


@kernel
def decide(rules, policy, table, learns, trace, work, player, num_legal):
    """Return an action, and note it for a learner; -status if there is none yet."""
    if learns:
        if full(table):
            return np.int64(-TABLE_FULL)
        if trace.length[0] >= trace.player.shape[0]:
            return np.int64(-TRACE_FULL)
    action = choose(rules, policy, table, work, num_legal)
    if learns and action >= 0:
        note(table, trace, policy.owner, work.key, action, player, num_legal)
    return action


@kernel
def note(table, trace, owner, key, action, player, num_legal):
    """Add a decision to the trace of the present game."""
    t = trace.length[0]
    trace.state[t], trace.entry[t] = insert(table, owner, key, action)
    trace.player[t] = player
    trace.legal[t] = num_legal
    trace.length[0] += 1


@kernel
def path_with(path, action):
    """Return the hash of a sequence of actions and one more."""
    path = (path ^ np.uint64(action + 1)) * np.uint64(0xFF51AFD7ED558CCD)
    return path ^ (path >> np.uint64(29))


@kernel
def result_of(score):
    """Return 1 if the first player won, 0 for a draw, -1 if the second won."""
    if score[0] > score[1]:
        return 1
    if score[0] < score[1]:
        return -1
    return 0


# Contests


class ContestResult(NamedTuple):
    """What a contest returns, one value a game; how many were won, drawn, lost, distinct."""

    results: np.ndarray  # int8 [games]: 1 the first player won, 0 draw, -1 the second won
    plies: np.ndarray  # int64 [games]
    paths: np.ndarray  # uint64 [games]: hash of the sequence of actions

    wins = property(lambda self: int((self.results > 0).sum()))
    draws = property(lambda self: int((self.results == 0).sum()))
    losses = property(lambda self: int((self.results < 0).sum()))
    distinct = property(lambda self: len(np.unique(self.paths)))


def new_result(games: int) -> ContestResult:
    """Return the empty result of a number of games."""
    return ContestResult(
        np.zeros(games, np.int8), np.zeros(games, np.int64), np.zeros(games, np.uint64)
    )


@kernel
def write_result(work, result, game):
    """Write the game that just ended into the result of a contest."""
    result.results[game] = result_of(work.score)
    result.plies[game] = work.progress[PLIES]
    result.paths[game] = work.path[0]


@kernel
def _play_contest(rules, policies, tables, traces, work, result):
    """Play until `result` is full; returns as :func:`play_game`."""
    while work.progress[GAMES] < result.results.shape[0]:
        status = play_game(rules, 0, policies, tables, (False, False), traces, work, True)
        if status != DONE:
            return status
        write_result(work, result, work.progress[GAMES])
        work.progress[GAMES] += 1
    return DONE


def play_contest(game, first: Side, second: Side, games: int, seed: int) -> ContestResult:
    """Play games of two sides that do not learn."""
    sides = first, second
    work = new_work(game, seed)
    result = new_result(games)
    trace = new_trace(0)
    status = None
    while status != DONE:
        tables = first.net.table, second.net.table  # once they have grown, others
        policies = first.policy, second.policy
        status = _play_contest(game.rules, policies, tables, (trace, trace), work, result)
        if status == MISSING:
            sides[game.player(work.state)].net.add(work.state)
    return result
