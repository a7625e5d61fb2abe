"""Counts of the paths of a game's tree, for comparison with what others have counted."""

import numpy as np

from afterstate.games.calls import call_legal, call_over, call_play, call_player, copy_into
from afterstate.kernel.compile import kernel


@kernel
def count_paths(rules, states, moves, ply, remaining, turns):
    """Paths of `remaining` actions, or turns: all actions of one player in a row."""
    s = states[ply]
    if remaining == 0:
        return 1
    if call_over(rules, s):
        return 0
    mover, after, paths = call_player(rules, s), states[ply + 1], 0
    for i in range(call_legal(rules, s, moves[ply])):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[ply, i])
        same = turns and not call_over(rules, after) and call_player(rules, after) == mover
        left = remaining if same else remaining - 1
        paths += count_paths(rules, states, moves, ply + 1, left, turns)
    return paths


def perft(game, depth, turns=False, state=None):
    plies = 1 + depth * (16 if turns else 1)
    states = np.zeros((plies, game.size), np.int32)
    states[0] = game.start() if state is None else state
    moves = np.zeros((plies, game.max_legal), np.int32)
    return count_paths(game.rules, states, moves, 0, depth, turns)
