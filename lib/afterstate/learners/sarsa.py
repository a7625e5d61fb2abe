"""SARSA and Q-learning with Final Adaptation for N players: Algorithms 3, 4, 5 of [konen2021].

Every player has a Q of its own and learns from its own state-action pairs only: Q of its previous
pair moves towards its reward since then plus Q in the state in which it is to move again. What
others do in between belongs to the environment. There are no afterstates: Q is asked for the state
before the move, and for each action by a weight set of its own.

Read :func:`sarsa_farl_episode` with Algorithm 5 beside it; everything else here is called from
there. The update of the weights is shared with TD-learning (``adaptation.py``); the arrays `mem`
are told in ``sarsa_memory.py``, the parameters `par` in ``sarsa_parameters.py``, the network `net`
in ``lookup.py``.

Counterparts of the lines of Algorithm 5 (SARSA; also Q-learning but for lines 24, 25):

====== ===================================================================================
line   here
====== ===================================================================================
2-3    ``begin_episode``; ``choose_action`` from s_0
4-5    ``remember_pair`` for p_0; for all others `has_last` is false (null)
6, 16  the ``while`` of ``sarsa_farl_episode``
7-8    ``call_play``, ``call_chance``, ``call_score``: R, of which ``adapt_last`` makes
       r[p] = R[p] - r_last[p]
9      ``next_player``: who is to move in s''
10     ``value_to_follow`` (lines 21-25) and ``adapt_last`` (lines 26-30)
11-12  ``choose_action`` once more, with the changed Q; not with sarsa_action = "kept"
13     `plies`
14-15  ``remember_pair`` for p_next
17     ``final_adapt_agents``
21-22  `follow` = 0 where s'' is terminal
24-25  ``value_to_follow``: M = Q(s'', a'') of a chosen a''
26     `has_last` in ``adapt_last``
27-28  the target in ``adapt_last``, and ``value_of_entry`` in ``adapt``
29-30  ``adapt`` and ``change_weights``: the indices of a pair are places of its own action,
       so no other output changes
34-37  the loop of ``final_adapt_agents``, with M = 0
====== ===================================================================================

Algorithm 3 (Q-learning) is the view of one player: lines 4-5 are ``choose_action``, line 6 the
moves until it is that player's turn again, lines 7-8 ``value_to_follow`` (M = max Q(s'', a') over
the legal actions, 0 where s'' is terminal), lines 9-12 ``adapt_last``, lines 13-14 the ``while``.
Algorithm 4 is Algorithm 5 without final adaptation in the same view.
"""

import numpy as np

from ..games.calls import (
    call_board,
    call_chance,
    call_legal,
    call_over,
    call_play,
    call_player,
    call_score,
    call_start,
    copy_into,
    start_from_scheme,
)
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_float, random_int
from ..networks.lookup import (
    changed_cells,
    features,
    fetch_actions,
    look_up_actions,
    shift_features,
    symmetric_pairs,
)
from ..networks.ntuple import Network, make_tuples
from .adaptation import adapt, remember, schedules, skipped
from .network_session import NetworkSession
from .parameters import check_parameters
from .sarsa_memory import BEFORE, CHECKPOINT, NOW, PAIR, make_memory
from .sarsa_parameters import DEFAULTS as DEFAULTS
from .sarsa_parameters import PARAMETERS, compile_parameters
from .td_memory import EPISODES, MOVES, TRUNCATED

NAME = "sarsa"
VERSION = 1  # raise it when the numbers of a training change

__all__ = ["DEFAULTS", "NAME", "PARAMETERS", "VERSION", "Session", "sarsa_farl_episode"]


@kernel
def sarsa_farl_episode(rules, net, par, mem):
    """Play and learn one episode of self-play.

    Source: [konen2021] Alg. 5, lines 1-17 (Alg. 4 and, with method "q", Alg. 3 in the view of one
    player).
    Deviations: D42, D43, D51, D52.
    """
    alpha, epsilon = schedules(par, mem.counters[EPISODES])
    s = mem.state
    p = begin_episode(rules, net, par, mem)  # line 2
    n = read_values(rules, net, mem, p)
    action, explored = choose_action(rules, net, par, mem, p, n, epsilon, False)  # line 3
    remember_pair(net, mem, p, action, explored)  # lines 4-5
    plies, over = 0, False
    while not over and (par.max_plies == 0 or plies < par.max_plies):  # lines 6, 16
        if explored and par.trace_reset and not par.learn_from_random:
            mem.length[:] = 0
        call_play(rules, s, action)  # line 7
        call_chance(rules, s, mem.rng)
        over = call_over(rules, s)
        call_score(rules, s, mem.reward)  # line 8
        plies += 1  # line 13
        p, follow, explored = next_player(rules, s, p, over), 0.0, False  # line 9; lines 21-22
        if not over:
            advance_features(rules, net, mem)
            n = read_values(rules, net, mem, p)
            follow, action, explored = value_to_follow(rules, net, par, mem, p, n, epsilon)
        stale = adapt_last(net, par, mem, p, follow, explored and not par.q_learning, alpha)
        if not over:
            if not par.keep_action:  # line 11
                action, explored = choose_action(rules, net, par, mem, p, n, epsilon, stale)
            remember_pair(net, mem, p, action, explored)  # lines 14-15
    if over:
        final_adapt_agents(rules, net, par, mem, p, alpha)  # line 17
    else:
        mem.counters[TRUNCATED] += 1
    mem.counters[EPISODES] += 1
    mem.counters[MOVES] += plies


@kernel
def next_player(rules, s, p, over):
    """Return who is to move in s'', or where the game is over, who comes after `p`.

    `p` made the last move.

    Source: [konen2021] Alg. 5, line 9; App. A.2 (p'' = (p_t + 1) % N). Deviations: D47.
    """
    return (p + 1) % rules.players if over else call_player(rules, s)


@kernel
def value_to_follow(rules, net, par, mem, p, n, epsilon):
    """Return M of the target, the action chosen for it, and whether that was exploration.

    Q-learning needs no choice for it; it makes one only where that action is then kept.

    Source: [konen2021] Alg. 5, lines 24-25; Alg. 3, lines 7-8. Deviations: D42, D43.
    """
    action, explored, chosen = np.int64(0), False, 0
    if par.keep_action or not par.q_learning:
        action, explored = choose_action(rules, net, par, mem, p, n, epsilon, False)
    for k in range(n):
        if par.q_learning:
            chosen = k if mem.value[k] > mem.value[chosen] else chosen
        else:
            chosen = k if mem.moves[k] == action else chosen
    return mem.value[chosen], action, explored


@kernel
def adapt_last(net, par, mem, p, follow, explored, alpha):
    """Move Q(s_last[p], a_last[p]) towards r[p] + gamma M; return whether it did.

    `explored`: M is Q of a random action.

    Source: [konen2021] Alg. 5, lines 26-30; Alg. 3, lines 9-12. Deviations: D15, D48.
    """
    if not mem.has_last[p] or skipped(par, mem, p, explored):
        return False
    if par.late_clearing:
        inhibit_old_indices(net, par, mem, p)
    reward = mem.reward[p] - mem.r_last[p] + par.step_reward
    adapt(net, par, mem, p, reward + par.gamma * follow, alpha)
    return True


@kernel
def final_adapt_agents(rules, net, par, mem, p, alpha):
    """Adapt the last pairs of all players but `p`, who has learned it already, to their reward.

    Source: [konen2021] Alg. 5, lines 33-37. Deviations: D8, D52.
    """
    for q in range(rules.players):
        if q != p and par.farl_others:
            adapt_last(net, par, mem, q, 0.0, False, alpha)


@kernel
def inhibit_old_indices(net, par, mem, p):
    """Let only those indices learn next that the original's lists of visited indices do not hold.

    There is a list per player and action. An update of a pair empties that of its own action only,
    but symmetric pairs look into, and add to, the lists of other actions. An index is in a list if
    its mark is the list's number.

    Deviations: D49.
    """
    size, newest = par.trace_size + 1, mem.head[p]
    base = np.uint64(p) * np.uint64(net.set_size)
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
    """Write the legal actions of the present state and their Q for `p`; return how many there are.

    Source: [konen2021] Sec. 2.6.
    """
    n = call_legal(rules, mem.state, mem.moves)
    if net.far:
        fetch_actions(net, p, mem.index[NOW], mem.moves, n)
    look_up_actions(
        net, p, mem.cells[NOW], mem.index[NOW], mem.moves, n, mem.boards[NOW], mem.value
    )
    return n


@kernel
def choose_action(rules, net, par, mem, p, n, epsilon, stale):
    """Return an epsilon-greedy action by Q, and whether it was exploration.

    It is one of the `n` legal actions.

    Exact ties are broken at random. Where Q has changed since they were read (`stale`), they are
    read again if needed.

    Source: [konen2021] Alg. 5, lines 3, 11, 24; Alg. 3, lines 4-5. Deviations: D17, D18, D43.
    """
    explored = random_float(mem.rng) < epsilon
    if explored and not par.random_maximum:
        return np.int64(mem.moves[random_int(mem.rng, n)]), True
    if explored:
        for k in range(n):
            mem.value[k] = random_float(mem.rng)
    elif stale:
        read_values(rules, net, mem, p)
    best, ties = 0, 1
    for k in range(1, n):
        if mem.value[k] > mem.value[best]:
            best, ties = k, 1
        elif mem.value[k] == mem.value[best]:
            ties += 1
            if random_int(mem.rng, ties) == 0:
                best = k
    return np.int64(mem.moves[best]), explored


@kernel
def remember_pair(net, mem, p, action, explored):
    """Make the present state and `action` the player's s_last and a_last.

    Source: [konen2021] Alg. 5, lines 14-15.
    """
    cells, index, pair, m = mem.cells[NOW], mem.index[NOW], mem.index[PAIR], net.num_tuples
    mem.ns[PAIR] = symmetric_pairs(net, cells, index, action, mem.boards[PAIR])
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
def begin_episode(rules, net, par, mem):
    """Write the start state, forget the last episode, and return who is to move.

    Source: [konen2021] Alg. 5, line 2. Deviations: D5.
    """
    s = mem.state
    if par.choose_start:
        start_from_scheme(rules, s, mem.moves, mem.rng, mem.path)
    else:
        call_start(rules, s, mem.rng)
    call_board(rules, s, mem.cells[NOW])
    features(net, mem.cells[NOW], mem.index[NOW])
    call_score(rules, s, mem.reward)
    mem.has_last[:] = False
    if not par.trace_across:
        mem.length[:] = 0
    return call_player(rules, s)


@kernel
def advance_features(rules, net, mem):
    """Bring the present state's board and indices up to date after a move."""
    copy_into(mem.cells[BEFORE], mem.cells[NOW], rules.cells)
    copy_into(mem.index[BEFORE], mem.index[NOW], mem.index.shape[1])
    call_board(rules, mem.state, mem.cells[NOW])
    n = changed_cells(net, mem.cells[BEFORE], mem.cells[NOW], mem.changed, mem.difference)
    shift_features(net, mem.index[BEFORE], mem.changed, mem.difference, n, mem.index[NOW])


@kernel
def _train(rules, net, par, mem, num_episodes):
    for _ in range(num_episodes):
        sarsa_farl_episode(rules, net, par, mem)


class Session(NetworkSession):
    """One training run of SARSA or Q-learning: a network and all that changes while it learns.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint.

    Parameters
    ----------
    game : Game
    params : dict
        Any of ``PARAMETERS``; ``DEFAULTS`` holds the rest. ``method`` is "sarsa" or "q".
    seed : int
        Everything random in the run derives from it.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, or the n-tuples do not fit the game, or the
        game has symmetries but does not say what they make of its actions.

    Source: [konen2021] Alg. 5, Alg. 3. Deviations: see data/papers/konen2021.yaml, D42 to D52.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import sarsa
    >>> game = games.load("tictactoe")
    >>> session = sarsa.Session(game, {"method": "q", "episodes": 1000}, seed=1)
    >>> session.train(1000)
    >>> session.net.action_values(game.start()).shape
    (9,)
    """

    run_episodes = staticmethod(_train)
    checkpoint = CHECKPOINT

    def __init__(self, game, params: dict, seed: int = 0):
        self.game = check_game(game)
        self.params = check_parameters(PARAMETERS, params)
        self.par = compile_parameters(self.params)
        rng = new_rng(seed)
        self.net = Network(
            game,
            make_tuples(game, self.params["tuples"], rng),
            sigmoid=self.params["sigmoid"],
            distinct_symmetries=self.params["distinct_symmetries"],
            tc_init=float(self.params["tc_init"]) if self.params["tc"] != "none" else 0.0,
            precision=self.params["precision"],
            per_action=True,
        )
        self.mem = make_memory(game, self.net, self.par, rng)
