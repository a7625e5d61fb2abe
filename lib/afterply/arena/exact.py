"""Exact results of agents in games small enough to list: probabilities, not sampled games.

An agent is a probability for every move of the :func:`graph` of all positions.
"""

from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np

from ..checks import one_of
from ..games.calls import call_key, call_over, call_play, call_player, call_score, copy_into
from ..games.game import check_game
from ..kernel.compile import kernel
from ..networks.table import NONE
from ..networks.table_games import (
    FIRST,
    GREEDY_FIRST,
    is_searched,
    look_at,
    new_work,
    state_in,
    weigh,
)
from ..players.agents import check_agent

MAX_POSITIONS = 200_000


class Graph(NamedTuple):
    """All positions of a game in an order in which moves only lead forward."""

    # the moves of position i are first[i] .. first[i + 1] - 1, in the order of the rules

    states: np.ndarray  # int32 [positions, size]
    mover: np.ndarray  # int64 [positions]: -1 = terminal
    first: np.ndarray  # int64 [positions + 1]
    target: np.ndarray  # int64 [moves]: position that the move leads to
    result: np.ndarray  # float64 [positions]: at the end, the first player's score less the other's


class Result(NamedTuple):
    """Probabilities, from the view of the first player."""

    win: float
    draw: float
    loss: float


@lru_cache(8)
def graph(game) -> Graph:
    """Return the positions of a game of two without chance; ValueError if too many or cyclic."""
    if not check_game(game, "an exact result").deterministic or game.players != 2:
        raise ValueError(f"exact results are for two players without chance, not for {game.name}")
    start = game.start()
    afterstates = np.zeros((game.max_legal, game.size), np.int32)
    keys = np.zeros((game.max_legal, 2), np.uint64)
    number = {np.array(game.key(start), np.uint64).tobytes(): 0}  # by key
    states = [start]
    children = []
    for s in states:  # which grows on the way
        below = []
        legal = game.legal(s)  # which checks the state, too
        _play_all(game.rules, s, legal, afterstates, keys)
        for move in range(len(legal)):
            below.append(number.setdefault(keys[move].tobytes(), len(states)))
            if below[-1] == len(states):
                states.append(afterstates[move].copy())
        children.append(below)
        if len(states) > MAX_POSITIONS:
            raise ValueError(f"{game.name} has more than {MAX_POSITIONS:,} positions: play games")
    try:  # from the ends of the game back to its start, turned round
        order = [*TopologicalSorter(dict(enumerate(children))).static_order()][::-1]
    except CycleError:
        raise ValueError(f"{game.name} can come back to a position: play games") from None
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ordered = np.array([states[i] for i in order], np.int32)
    mover = np.zeros(len(order), np.int64)
    result = np.zeros(len(order))
    _tell_ends(game.rules, ordered, np.zeros(game.players), mover, result)
    return Graph(
        ordered,
        mover,
        np.cumsum([0] + [len(children[i]) for i in order]),
        np.array([place[j] for i in order for j in children[i]]),
        result,
    )


@kernel
def _play_all(rules, s, legal, afterstates, keys):
    """Write the state after every legal action, and its key."""
    for move in range(legal.shape[0]):
        copy_into(afterstates[move], s, s.shape[0])
        call_play(rules, afterstates[move], legal[move])
        call_key(rules, afterstates[move], keys[move])


@kernel
def _tell_ends(rules, states, rewards, mover, result):
    """Write who moves in each state, or -1 and the result; `rewards` is working memory."""
    for i in range(states.shape[0]):
        mover[i] = -1
        result[i] = 0.0
        if call_over(rules, states[i]):
            call_score(rules, states[i], rewards)
            result[i] = rewards[0] - rewards[1]
        else:
            mover[i] = call_player(rules, states[i])


@kernel
def _read_policy(rules, positions, policy, table, work, begin, shares):
    """Write the probability of every move from position `begin` on.

    Return the first position whose best moves are not in the table yet, or the number of positions.
    """
    takes_first = policy.kind == FIRST or policy.kind == GREEDY_FIRST
    for i in range(begin, positions.states.shape[0]):
        if positions.mover[i] < 0:
            continue
        copy_into(work.state, positions.states[i], work.state.shape[0])
        _, n = look_at(rules, work)
        state = state_in(rules, policy, table, work)
        if is_searched(policy) and state == NONE:
            return i
        total = weigh(policy, table, work, state, n)
        if takes_first:
            total = leave_the_first(work, n)
        for j in range(n):
            best = (1.0 - policy.epsilon) * work.values[work.moves[j]] / total
            # 1 / n first, as in `Agent.policy`: the same bits
            shares[positions.first[i] + j] = policy.epsilon * (1.0 / n) + best
    return positions.states.shape[0]


@kernel
def leave_the_first(work, n):
    """Leave only the first weight that is not 0 of the legal actions; return it."""
    total = 0.0
    for j in range(n):
        if total > 0.0:
            work.values[work.moves[j]] = 0.0
        total += work.values[work.moves[j]]
    return total


def policy(game, agent) -> np.ndarray:
    """Return an agent's probability of every move of the graph, float64[moves]."""
    check_agent(game, agent)
    positions = graph(game)
    if game.rules.compound != 1:  # of which the random moves are not alike
        running = positions.states[positions.mover >= 0]
        return np.concatenate([agent.policy(s) for s in running])
    shares = np.zeros(len(positions.target))
    work = new_work(game, 0)
    side = agent.side
    begin = 0
    while True:
        table = side.net.table  # once it has grown, another one
        begin = _read_policy(game.rules, positions, side.policy, table, work, begin, shares)
        if begin == len(positions.states):
            return shares
        side.net.add(positions.states[begin])


def outcome(game, first, second) -> Result:
    """Return the exact probabilities of the results of two agents, or arrays of :func:`policy`.

    Source: [jamieson2022] Table 5.

    >>> from afterply import games
    >>> from afterply.players import agents
    >>> game = games.load("tictactoe")
    >>> round(192 * outcome(game, agents.min_max(game), agents.chance(game)).win, 9)
    191.0
    """
    positions = graph(game)
    values = np.zeros((len(positions.states), 3))
    _add_up(positions, _shares(game, first), _shares(game, second), values)
    return Result(*map(float, values[0]))


def greatest(game, second, wanted: str = "draw") -> float:
    """Return the greatest share of "win", "draw" or "loss" that any first player reaches."""
    sign = 1.0 - Result._fields.index(one_of("wanted", wanted, Result._fields))
    positions = graph(game)
    shares = _shares(game, second)
    best = np.zeros(len(positions.states))
    for i in range(len(best) - 1, -1, -1):
        if positions.mover[i] < 0:
            best[i] = np.sign(positions.result[i]) == sign
            continue
        moves = slice(positions.first[i], positions.first[i + 1])
        after_moves = best[positions.target[moves]]
        if positions.mover[i] == 0:
            best[i] = after_moves.max()
        else:
            best[i] = (shares[moves] * after_moves).sum()
    return float(best[0])


def _shares(game, side) -> np.ndarray:
    """Return the probability of every move: of an agent, or of a policy, which is checked."""
    shares = side if isinstance(side, np.ndarray) else policy(game, side)
    shape = graph(game).target.shape
    if shares.shape != shape or shares.dtype != np.float64:
        raise ValueError(f"a policy is float64{list(shape)}, not {shares!r}")
    return shares


@kernel
def _add_up(found, first, second, values):
    for i in range(values.shape[0] - 1, -1, -1):
        mover = found.mover[i]
        if mover < 0:
            result = found.result[i]
            values[i, 0 if result > 0.0 else 1 if result == 0.0 else 2] = 1.0
            continue
        for move in range(found.first[i], found.first[i + 1]):
            share = first[move] if mover == 0 else second[move]
            for k in range(3):
                values[i, k] += share * values[found.target[move], k]
