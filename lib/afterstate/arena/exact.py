"""Exact results of agents in games small enough to list: probabilities, not sampled games.

:func:`graph` lists all positions of a game once. An agent is a probability for every move there,
and :func:`outcome` adds up the results over all lines of play. Tic-Tac-Toe has 5,478 positions and
16,167 moves.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..checks import one_of
from ..games.calls import call_key, call_legal, copy_into
from ..games.game import check_game
from ..kernel.compile import kernel
from ..networks.table import find
from ..players.agents import GREEDY, SOFTMAX, greedy_shares, new_work, weigh
from .contest import check_agent

MAX_POSITIONS = 200_000


class Graph(NamedTuple):
    """All positions of a game in an order in which moves only lead forward."""

    # fmt: off
    states: np.ndarray  # int32 [positions, size]
    mover: np.ndarray   # int64 [positions]: -1 = terminal
    # the moves of position i are first[i] .. first[i + 1] - 1, in the order of the rules
    first: np.ndarray   # int64 [positions + 1]
    target: np.ndarray  # int64 [moves]: position that the move leads to
    # of terminal positions: score of the first player minus the second's
    result: np.ndarray  # float64 [positions]
    # fmt: on


_graphs = WeakKeyDictionary()


def graph(game) -> Graph:
    """Return the positions of a deterministic game of two players; the result is kept.

    Raises
    ------
    ValueError
        If the game has chance, more players, more than 200,000 positions, or can come back to a
        position.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.arena import exact
    >>> len(exact.graph(games.load("tictactoe")).states)
    5478
    """
    if check_game(game, "an exact result") not in _graphs:
        _graphs[game] = _list(game)
    return _graphs[game]


def _list(game) -> Graph:
    if not game.deterministic or game.players != 2:
        raise ValueError(
            f"exact results are for deterministic games of two players, not for {game.name}"
        )
    number, states, children, todo = {game.key(game.start()): 0}, [game.start()], [], 0
    while todo < len(states):
        s, below = states[todo], []
        for action in game.legal(s):
            after = game.next(s, action)
            where = number.setdefault(game.key(after), len(states))
            if where == len(states):
                states.append(after)
            below.append(where)
        children.append(below)
        todo += 1
        if len(states) > MAX_POSITIONS:
            raise ValueError(
                f"{game.name} has more than {MAX_POSITIONS:,} positions: play games instead"
                " (arena.contest)"
            )
    order = _forward(game, children)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    terminal = [game.over(states[i]) for i in order]
    return Graph(
        np.array([states[i] for i in order], np.int32),
        np.array([-1 if end else game.player(states[i]) for i, end in zip(order, terminal)]),
        np.cumsum([0] + [len(children[i]) for i in order]),
        np.array([place[j] for i in order for j in children[i]]),
        np.array(
            [game.score(states[i]) @ (1.0, -1.0) if end else 0.0 for i, end in zip(order, terminal)]
        ),
    )


def _forward(game, children) -> list:
    """Return the positions in an order in which moves lead forward."""
    arrivals = np.zeros(len(children), np.int64)
    for below in children:
        np.add.at(arrivals, below, 1)
    order = [0]
    for i in order:
        for j in children[i]:
            arrivals[j] -= 1
            if arrivals[j] == 0:
                order.append(j)
    if len(order) != len(children):
        raise ValueError(
            f"{game.name} can come back to a position, so its lines have no end: play games instead"
            " (arena.contest)"
        )
    return order


@kernel
def _read_policy(rules, states, mover, policy, table, work, shares):
    """Write what an agent that reads a table does at every position into ``shares``."""
    k = 0
    for i in range(states.shape[0]):
        if mover[i] < 0:
            continue
        copy_into(work.state, states[i], states.shape[1])
        n = call_legal(rules, work.state, work.moves)
        call_key(rules, work.state, work.key)
        state = find(table, policy.owner, work.key)
        if policy.kind == SOFTMAX:
            total = weigh(table, work, state, n, policy.temperature)
        else:
            total = greedy_shares(table, work, state, n)
        for j in range(n):
            shares[k] = (
                policy.epsilon / n + (1.0 - policy.epsilon) * work.values[work.moves[j]] / total
            )
            k += 1


def policy(game, agent) -> np.ndarray:
    """Return an agent's probability of every move of the graph, float64[moves]."""
    check_agent(game, agent)
    found = graph(game)
    # the kernel takes random moves to be all alike
    if agent.kind in (GREEDY, SOFTMAX) and game.rules.compound == 1:
        shares = np.zeros(len(found.target))
        _read_policy(
            game.rules,
            found.states,
            found.mover,
            agent.kernel_policy,
            agent.net.table,
            new_work(game, 0),
            shares,
        )
        return shares
    return np.concatenate(
        [agent.policy(s) for s, mover in zip(found.states, found.mover) if mover >= 0]
    )


class Result(NamedTuple):
    """Probabilities, from the view of the first player."""

    win: float
    draw: float
    loss: float


def outcome(game, first, second) -> Result:
    """Return the exact probabilities of the results when `first` plays `second`.

    Parameters
    ----------
    game : Game
    first, second : Agent, or float64[moves]
        The arrays are policies, as :func:`policy` returns them.

    Raises
    ------
    ValueError
        If the game can not be listed, an agent was made for another one, or a policy has another
        length or is no probability of moves.

    Source: [jamieson2022] Table 5.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.arena import exact
    >>> from afterstate.players import agents
    >>> game = games.load("tictactoe")
    >>> round(192 * exact.outcome(game, agents.min_max(game), agents.chance(game)).win, 9)
    191.0
    """
    found = graph(game)
    given = [
        _checked(found, side) if isinstance(side, np.ndarray) else policy(game, side)
        for side in (first, second)
    ]
    values = np.zeros((len(found.states), 3))
    _add_up(found, *given, values)
    return Result(*map(float, values[0]))


def greatest(game, second, wanted: str = "draw") -> float:
    """Return the greatest expected share of one result that any first player reaches.

    Parameters
    ----------
    game : Game
    second : Agent, or float64[moves]
        The opponent, who moves second.
    wanted : {"win", "draw", "loss"}
        Of the first player.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.arena import exact
    >>> from afterstate.players import agents
    >>> game = games.load("tictactoe")
    >>> round(exact.greatest(game, agents.chance(game), "draw"), 9)
    0.5
    """
    sign = {"win": 1.0, "draw": 0.0, "loss": -1.0}[one_of("wanted", wanted, Result._fields)]
    found = graph(game)
    shares = _checked(found, second) if isinstance(second, np.ndarray) else policy(game, second)
    best = np.zeros(len(found.states))
    for i in range(len(best) - 1, -1, -1):
        if found.mover[i] < 0:
            best[i] = np.sign(found.result[i]) == sign
            continue
        moves = slice(found.first[i], found.first[i + 1])
        below = best[found.target[moves]]
        best[i] = below.max() if found.mover[i] == 0 else (shares[moves] * below).sum()
    return float(best[0])


def _checked(found, shares) -> np.ndarray:
    """Return a policy, or raise ValueError if it does not belong to this graph."""
    if (
        shares.shape != found.target.shape
        or shares.dtype != np.float64
        or not ((shares >= 0.0) & (shares <= 1.0 + 1e-9)).all()
    ):
        raise ValueError(
            f"a policy holds a probability, float64, for each of {len(found.target):,} moves, not"
            f" {shares.dtype}{list(shares.shape)} of other values"
        )
    return shares


@kernel
def _add_up(found, first, second, values):
    """Write the probabilities of win, draw and loss of every position, from the last one back."""
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
