"""Counts of a game's tree, for comparison with what others have counted."""

import numpy as np

from ..checks import whole
from ..kernel.compile import kernel
from .calls import call_legal, call_over, call_play, call_player, copy_into


@kernel
def count_paths(rules, states, moves, ply, remaining, turns, found):
    """Add to ``found``: [0] paths of exactly the depth, [1] games that end at or before it.

    Return False if the stack is full.
    """
    s = states[ply]
    over = call_over(rules, s)
    if over:
        found[1] += 1
    if remaining == 0:
        found[0] += 1
    if over or remaining == 0:
        return True
    if ply + 1 >= states.shape[0]:
        return False
    mover = call_player(rules, s)
    for i in range(call_legal(rules, s, moves[ply])):
        copy_into(states[ply + 1], s, rules.size)
        call_play(rules, states[ply + 1], moves[ply, i])
        same_turn = (
            turns
            and not call_over(rules, states[ply + 1])
            and call_player(rules, states[ply + 1]) == mover
        )
        if not count_paths(
            rules, states, moves, ply + 1, remaining - (0 if same_turn else 1), turns, found
        ):
            return False
    return True


def _count(game, depth, unit, state):
    if not game.deterministic:
        raise ValueError(
            f"{game.name} has chance: only the trees of deterministic games are counted"
        )
    if unit not in ("action", "turn"):
        raise ValueError(f"unit must be 'action' or 'turn', not {unit!r}")
    depth = whole("depth", depth, 0)
    start = game.start() if state is None else game._state(state)
    plies, done = depth + 1, False
    while not done:
        states, moves = (
            np.zeros((plies, game.size), np.int32),
            np.zeros((plies, game.max_legal), np.int32),
        )
        states[0], found = start, np.zeros(2, np.int64)
        done = count_paths(game.rules, states, moves, 0, depth, unit == "turn", found)
        plies *= 2
    return int(found[0]), int(found[1])


def perft(game, depth: int, unit: str = "action", state=None) -> int:
    """Count the paths of exactly `depth` actions, or turns, from a state.

    Parameters
    ----------
    game : Game
        A deterministic game.
    depth : int
        At least 0.
    unit : {"action", "turn"}
        With ``"turn"``, actions of one player in a row count as one.
    state : int32 [size], optional
        Default: the start.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.games import counts
    >>> [counts.perft(games.load("tictactoe"), d) for d in (1, 2, 3)]
    [9, 72, 504]
    """
    return _count(game, depth, unit, state)[0]


def num_games(game, max_plies: int, state=None) -> int:
    """Count the different games (sequences of actions) that end within `max_plies`."""
    return _count(game, max_plies, "action", state)[1]
