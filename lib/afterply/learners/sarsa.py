"""SARSA and Q-learning with Final Adaptation for N players: Algorithms 3, 4, 5 of [konen2021].

Every player learns Q from its own pairs of state and action only: Q of its previous pair moves
towards its reward since then plus Q in the state in which it is to move again. Read
:func:`sarsa_farl_episode` with Algorithm 5 beside it. In the view of one player, without final
adaptation, it is Algorithm 4, and with the target of :func:`value_to_follow` Algorithm 3.
"""

from collections import namedtuple

import numpy as np

from ..games import calls
from ..kernel.compile import kernel
from ..kernel.functions import FOUR
from ..kernel.random import best_of, random_float, random_int
from ..networks import lookup
from . import td
from .adaptation import SHARED, NetworkSession, adapt, begin_episode, remember, schedules, skipped
from .parameters import choice, defaults, kernel_values
from .session import EPISODES, MOVES, TRUNCATED

__all__ = ["Session"]

NOW = lookup.NOW  # row of the present state
NAME = "sarsa"
VERSION = 1  # raise it when the numbers of a training change

NOT_HERE = ("terminal_target", "greedy", "learn_start_state", "step_back")
PARAMETERS = {k: v for k, v in td.PARAMETERS.items() if k not in NOT_HERE} | {
    "method": choice(("sarsa", "q"), "the target: Q of a chosen action, or the greatest Q"),
    "farl": choice(("on", "off"), "final adaptation of the players who do not move next"),
    # deviations: see data/papers/konen2021.yaml
    "sarsa_action": choice(("anew", "kept"), "chosen after the update, or before it and kept"),
    "q_maximum": choice(("values", "random numbers"), "exploration's maximum: of Q, or of noise"),
    "inhibition": choice(("update", "executed action"), "when lists of indices are cleared"),
}
DEFAULTS = defaults(PARAMETERS)
Par = namedtuple("Par", [*kernel_values(PARAMETERS, DEFAULTS), "trace_size"])

NEXT, PAIR = 1, 2  # rows: NOW is the present state, then the next one, and the pair to remember
# fmt: off
# an entry of a trace is a pair of state and action here
PAIRS = {
    "num_different": ("int64", "players", "ring"),   # distinct indices, inhibited or not
    "action":        ("int64", "players", "ring"),
    # D49 only: a weight with the mark of its set's present list is inhibited
    "mark":          ("uint32", "marks"),
    "list_number":   ("uint32", "players", "actions"),
}
ROWS = {
    "state":         ("int32", "size"),
    "cells":         ("int32", 2, "cells"),          # of NOW and NEXT
    "index":         ("uint32", 3, "features"),      # of action 0, of PAIR of its action
    "boards":        ("int32", 3, "symmetries"),
    "ns":            ("int64", 3),                   # N_S of PAIR
    "changed":       ("uint32", 2, "cells"),         # cells in which NEXT differs from NOW
    "difference":    ("uint32", "cells"),            # by how much changed cells differ
    "sums":          ("float64", FOUR),              # of neighbouring actions
    "value":         ("float64", "max_legal"),       # Q of the legal actions
}
# fmt: on
MEMORY = SHARED | PAIRS | ROWS
Memory = namedtuple("Memory", MEMORY)


@kernel
def sarsa_farl_episode(rules, net, par, mem):
    """Play and learn one episode of self-play.

    Source: [konen2021] Alg. 5, lines 1-17, 33-37 (in the view of one player Alg. 4 and, with method
    "q", Alg. 3); App. A.2. Deviations: D8, D42, D43, D47, D51, D52.
    """
    alpha, epsilon = schedules(par, mem.counters[EPISODES])
    s = mem.state
    begin_episode(rules, net, par, mem, s)  # line 2
    p = calls.call_player(rules, s)
    n = read_values(rules, net, mem, p)
    action, explored = choose_action(net, par, mem, p, n, epsilon, False)  # line 3
    remember_pair(net, mem, p, action, explored)  # lines 4-5
    plies, over = 0, False
    while not over and plies < par.max_plies:  # lines 6, 16
        if explored and par.trace_reset and not par.learn_from_random:
            mem.length[:] = 0
        calls.call_play(rules, s, action)  # line 7
        calls.call_chance(rules, s, mem.rng)
        over = calls.call_over(rules, s)
        calls.call_score(rules, s, mem.reward)  # line 8
        plies += 1  # line 13
        p = (p + 1) % rules.players if over else calls.call_player(rules, s)  # line 9
        follow, explored = 0.0, False  # lines 21-22
        if not over:
            advance_features(rules, net, mem)
            n = read_values(rules, net, mem, p)
            follow, action, explored = value_to_follow(net, par, mem, p, n, epsilon)
        stale = adapt_last(net, par, mem, p, follow, explored and not par.method_q, alpha)
        if not over:
            if not par.sarsa_action_kept:  # line 11
                action, explored = choose_action(net, par, mem, p, n, epsilon, stale)
            remember_pair(net, mem, p, action, explored)  # lines 14-15
    for q in range(rules.players):  # line 17, lines 33-37
        if over and q != p and par.farl_on:
            adapt_last(net, par, mem, q, 0.0, False, alpha)
    mem.counters[TRUNCATED] += not over
    mem.counters[EPISODES] += 1
    mem.counters[MOVES] += plies


@kernel
def value_to_follow(net, par, mem, p, n, epsilon):
    """Return M of the target, the action chosen for it if any, and whether that was exploration.

    Source: [konen2021] Alg. 5, lines 24-25; Alg. 3, lines 7-8. Deviations: D42, D43.
    """
    action, explored, chosen = np.int64(0), False, 0
    if par.sarsa_action_kept or not par.method_q:
        action, explored = choose_action(net, par, mem, p, n, epsilon, False)
    for k in range(n):
        if par.method_q:
            chosen = k if mem.value[k] > mem.value[chosen] else chosen
        else:
            chosen = k if mem.moves[k] == action else chosen
    return mem.value[chosen], action, explored


@kernel
def adapt_last(net, par, mem, p, follow, explored, alpha):
    """Move Q(s_last[p], a_last[p]) towards r[p] + gamma M, if allowed; return whether it did.

    Source: [konen2021] Alg. 5, lines 26-30; Alg. 3, lines 9-12. Deviations: D15, D48.
    """
    if not mem.has_last[p] or skipped(par, mem, p, explored):
        return False
    if par.inhibition_executed_action:
        inhibit_old_indices(net, par, mem, p)
    reward = mem.reward[p] - mem.r_last[p] + par.step_reward
    adapt(net, par, mem, p, reward + par.gamma * follow, alpha)
    return True


@kernel
def inhibit_old_indices(net, par, mem, p):
    """Let only indices learn that the original's lists do not hold. Deviations: D49."""
    # a list per player and action, emptied by its update; its indices are marked with its number
    size, newest = par.trace_size + 1, mem.head[p]
    base = np.uint64(p) * np.uint64(net.player_step)
    for k in range(min(mem.length[p] + 1, par.trace_size)):
        element = (newest - k + size) % size
        mem.list_number[p, mem.action[p, element]] += np.uint32(1)
        entry, fresh = mem.entry[p, element], 0
        for i in range(mem.num_different[p, element]):
            index = entry[i]
            number = mem.list_number[p, index % np.uint32(net.num_actions)]
            if mem.mark[base + index] != number:
                mem.mark[base + index] = number
                entry[i], entry[fresh] = entry[fresh], index
                fresh += 1
        mem.num_distinct[p, element] = fresh


@kernel
def read_values(rules, net, mem, p):
    """Write legal actions and their Q, return how many. Source: [konen2021] Sec. 2.6."""
    n = calls.call_legal(rules, mem.state, mem.moves)
    if net.far:
        lookup.fetch_actions(net, p, mem.index[NOW], mem.moves, n)
    value_moves(net, mem, p, n)
    return n


@kernel
def value_moves(net, mem, p, n):
    """Write Q of the `n` legal actions."""
    lookup.look_up_actions(
        net, p, mem.cells[NOW], mem.index[NOW], mem.moves, n, mem.boards[NOW], mem.sums, mem.value
    )


@kernel
def choose_action(net, par, mem, p, n, epsilon, stale):
    """Return an epsilon-greedy one of the `n` legal actions, and whether it was exploration.

    Exact ties are random. Values that are `stale`, as Q has changed, are read again.
    Source: [konen2021] Alg. 5, lines 3, 11, 24; Alg. 3, lines 4-5. Deviations: D17, D18, D43.
    """
    explored = random_float(mem.rng) < epsilon
    if explored and not par.q_maximum_random_numbers:
        return np.int64(mem.moves[random_int(mem.rng, n)]), True
    if explored:
        for k in range(n):
            mem.value[k] = random_float(mem.rng)
    elif stale:
        value_moves(net, mem, p, n)
    return np.int64(mem.moves[best_of(mem.value, n, mem.rng)]), explored


@kernel
def remember_pair(net, mem, p, action, explored):
    """Make state and action s_last[p], a_last[p]. Source: [konen2021] Alg. 5, lines 14-15."""
    cells, index, pair, m = mem.cells[NOW], mem.index[NOW], mem.index[PAIR], net.num_tuples
    mem.ns[PAIR] = lookup.symmetric_pairs(net, cells, index, action, mem.boards[PAIR])
    for k in range(net.symmetries.shape[0]):
        digit = np.uint32(net.action_symmetries[k, action])
        for f in range(k * m, (k + 1) * m):
            pair[f] = index[f] + digit
    slot = mem.head[p]
    remember(net, mem, p, PAIR, explored)
    mem.num_different[p, slot] = mem.num_distinct[p, slot]
    mem.action[p, slot] = action
    mem.r_last[p] = mem.reward[p]


@kernel
def advance_features(rules, net, mem):
    """Bring the present state's board and indices up to date after a move."""
    calls.call_board(rules, mem.state, mem.cells[NEXT])
    lookup.go_on(net, mem, NEXT)


@kernel
def _train(rules, net, par, mem, num_episodes):
    for _ in range(num_episodes):
        sarsa_farl_episode(rules, net, par, mem)


class Session(NetworkSession):
    """One training run of SARSA or Q-learning: see :class:`NetworkSession`.

    A game with symmetries must say what they make of its actions.

    Source: [konen2021] Alg. 5, Alg. 3. Deviations: see data/papers/konen2021.yaml, D42 to D52.
    """

    parameters, par_type, run_episodes = PARAMETERS, Par, staticmethod(_train)
    checkpoint = (*NetworkSession.checkpoint, *PAIRS)
    per_action = True

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        known = self.par.method_q and self.par.sarsa_action_kept
        if self.par.q_maximum_random_numbers and not known:
            raise ValueError(
                "q_maximum='random numbers' is the defect of a program that chooses before the"
                " update: take method='q' and sarsa_action='kept' with it"
            )
        marks = len(self.net.arrays.weights) if self.par.inhibition_executed_action else 0
        self.mem = Memory(**self.allocate(MEMORY, marks=marks))
        self.mem.list_number[:] = 1
