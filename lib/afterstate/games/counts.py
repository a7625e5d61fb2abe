"""Counts of a game's tree, for comparison with what others have counted."""

from collections import Counter

import numpy as np

from ..checks import one_of, whole
from ..kernel.compile import kernel
from .calls import call_legal, call_over, call_play, call_player, copy_into


@kernel
def count_paths(rules, states, moves, ply, remaining, turns):
    """Return the number of paths of `remaining` actions or turns, -1 if the stack is full."""
    s = states[ply]
    if remaining == 0:
        return 1
    if call_over(rules, s):
        return 0
    if ply + 1 >= states.shape[0]:
        return -1
    mover, after, paths = call_player(rules, s), states[ply + 1], 0
    for i in range(call_legal(rules, s, moves[ply])):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[ply, i])
        same = turns and not call_over(rules, after) and call_player(rules, after) == mover
        left = remaining if same else remaining - 1
        found = count_paths(rules, states, moves, ply + 1, left, turns)
        if found < 0:
            return -1
        paths += found
    return paths


def perft(game, depth: int, unit: str = "action", state=None) -> int:
    """Count the paths of exactly `depth` actions from a state (default: the start).

    With the unit "turn", actions of one player in a row count as one.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.games import counts
    >>> [counts.perft(games.load("tictactoe"), d) for d in (1, 2, 3)]
    [9, 72, 504]
    """
    _need_no_chance(game)
    one_of("unit", unit, ("action", "turn"))
    depth = whole("depth", depth, 0)
    plies, found = depth + 1, -1
    while found < 0:
        states = np.zeros((plies, game.size), np.int32)
        states[0] = game.start() if state is None else game._state(state)
        moves = np.zeros((plies, game.max_legal), np.int32)
        found = count_paths(game.rules, states, moves, 0, depth, unit == "turn")
        plies *= 2
    return int(found)


def _need_no_chance(game):
    if not game.deterministic:
        raise ValueError(f"{game.name} has chance: only trees of deterministic games are counted")


def pairs_per_afterstate(game) -> dict:
    """Count the state-action pairs that lead to each afterstate of a small deterministic game.

    A network of V learns an afterstate once, a network of Q each of the pairs. For afterstates in
    which the game goes on, "running", or has ended, "terminal", the result holds a Counter {pairs:
    number of afterstates}; "pairs running" and "pairs terminal" are all pairs.

    Source: [konen2021] Sec. 2.6, footnote 5.
    """
    _need_no_chance(game)
    frontier, seen = [game.start()], {game.key(game.start())}
    leading = {"running": Counter(), "terminal": Counter()}
    while frontier:
        s = frontier.pop()
        player = game.player(s)
        for action in game.legal(s).tolist():
            after = game.play(s, action)
            key, over = game.key(after), game.over(after)
            leading["terminal" if over else "running"][key, player] += 1
            if key not in seen:
                seen.add(key)
                frontier += [] if over else [after]
    counted = {name: Counter(pairs.values()) for name, pairs in leading.items()}
    return counted | {f"pairs {name}": pairs.total() for name, pairs in leading.items()}
