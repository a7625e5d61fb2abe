"""TD(lambda) with Final Adaptation for any number of players: Alg. 1, 2, 6 and 7 of [konen2021].

Every player learns from its own afterstates only: V of its previous afterstate moves towards its
reward plus V of its present one. At the end of an episode, *final adaptation* (FARL) also tells the
players who did not make the last move.

Read :func:`td_farl_episode` with Algorithm 2 beside it; everything else here is called from there.
The arrays `mem` are told in ``td_memory.py``, the parameters `par` in ``td_parameters.py``, the
network `net` in ``ntuple.py``.
"""

import math
import time

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
from ..kernel.functions import exp, log
from ..kernel.random import new_rng, random_float, random_int
from ..kernel.vector import prefetch
from ..networks.lookup import (
    ABS_CHANGE,
    NET_CHANGE,
    activation_of,
    changed_cells,
    differing_cells,
    distinct_indices,
    features,
    fetch,
    look_up,
    look_up_changed,
    shift_features,
    sigma,
    sigma_slope,
    sum_weights,
    symmetric_boards,
)
from ..networks.ntuple import Network
from ..networks.tuples import make_tuples
from .parameters import check_parameters
from .session import check_episodes, next_chunk
from .td_memory import CHECKPOINT, EPISODES, MOVES, NOW, TRUNCATED, UPDATES, make_memory
from .td_parameters import DEFAULTS as DEFAULTS
from .td_parameters import PARAMETERS, TC_EXP, TC_NONE, compile_parameters

NAME = "td"
VERSION = 1  # raise it when the numbers of a training change
CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks


@kernel
def td_farl_episode(rules, net, par, mem):
    """Play and learn one episode of self-play.

    Source: [konen2021] Alg. 2, lines 1-14 (Alg. 1 in the view of one player); Alg. 6 is the pair
    play, chance. Deviations: D1, D14, D15, D16.
    """
    alpha, epsilon = schedules(par, mem.counters[EPISODES])
    s = mem.state[NOW]
    begin_episode(rules, net, par, mem, s)  # lines 2-3
    plies, over, p = 0, False, 0
    while not over and (par.max_plies == 0 or plies < par.max_plies):  # lines 4, 13
        p = call_player(rules, s)  # line 5
        best, value, explored = choose_action(rules, net, par, mem, p, epsilon)  # line 6
        # line 7: afterstate s' ...
        copy_into(s, mem.state[best], rules.size)
        # ... and next state s''
        call_chance(rules, s, mem.rng)
        over = call_over(rules, s)
        call_score(rules, s, mem.reward)
        r = mem.reward[p] - mem.r_last[p] + par.step_reward  # line 8
        if explored and par.trace_reset and not par.learn_from_random:
            mem.length[:] = 0
        # line 9: AdaptAgentV, lines 17-21
        if mem.has_last[p] and not skipped(par, mem, p, explored):
            follow = 0.0 if over and not par.literal_target else par.gamma * value
            adapt(net, par, mem, p, r + follow, alpha)
        remember(net, mem, p, best, explored)  # line 10
        mem.r_last[p] = mem.reward[p]
        plies += 1  # line 11
        advance_features(rules, net, mem, best)  # line 12
    if over:
        final_adapt_agents(rules, net, par, mem, p, alpha)  # line 14
    else:
        # the last state is not terminal: nothing is known about its value
        mem.counters[TRUNCATED] += 1
    mem.counters[EPISODES] += 1
    mem.counters[MOVES] += plies


@kernel
def final_adapt_agents(rules, net, par, mem, p, alpha):
    """Adapt the other players' last afterstates to their final reward.

    The terminal afterstate of `p` is adapted to 0.

    Source: [konen2021] Alg. 2, lines 24-31; Sec. 2.7. Deviations: D7, D8, D22.
    """
    for q in range(rules.players):  # lines 25-28
        if q != p and par.farl_others and mem.has_last[q] and not skipped(par, mem, q, False):
            adapt(net, par, mem, q, mem.reward[q] - mem.r_last[q] + par.step_reward, alpha)
    if par.farl_terminal and not skipped(par, mem, p, False):  # lines 29-31
        adapt(net, par, mem, p, 0.0, alpha)


@kernel
def adapt(net, par, mem, p, target, alpha):
    """Move V(s_last[p]), and the player's earlier afterstates within the horizon, to `target`.

    Source: [konen2021] Alg. 2, lines 19-21 and Alg. 7, lines 3-9; Eq. (3). Deviations: D5, D10,
    D13.
    """
    size, newest = par.trace_size + 1, mem.head[p]
    value = value_of_entry(net, mem, p, newest)
    delta = target - value
    mem.slope[p, newest] = sigma_slope(net, value)
    mem.length[p] = min(mem.length[p] + 1, par.trace_size)
    mem.abs_delta[0] += abs(delta)
    mem.counters[UPDATES] += 1
    decay = 1.0
    for k in range(mem.length[p]):
        element = (newest - k + size) % size
        ns = mem.num_boards[p, newest if par.newest_ns else element]
        change_weights(
            net,
            par,
            mem,
            p,
            element,
            alpha / (net.num_tuples * ns),
            delta,
            delta * mem.slope[p, element] * decay,
        )
        decay *= par.lambda_
    mem.head[p] = (newest + 1) % size


@kernel
def change_weights(net, par, mem, p, element, step, delta, recommended):
    """Change every weight that one trace element activates by step * alpha_i * recommended.

    Each of them changes once. With temporal coherence, alpha_i = g(|N_i| / A_i), and the counters
    then add up the recommended change.

    Source: [konen2021] Alg. 7, line 8; Eq. (3) and Eq. (5); App. A.5. Deviations: D9, D11, D12.
    """
    base = np.uint64(p) * np.uint64(net.set_size)
    entry, weights, counters = mem.entry[p, element], net.weights, net.counters
    distinct = mem.num_distinct[p, element]
    if par.tc == TC_NONE:
        for i in range(distinct):
            weights[base + entry[i]] += step * recommended
        return
    change = delta if par.accumulate_delta else recommended
    weight, net_change, abs_change, two = (
        mem.entry_weight,
        mem.net_change,
        mem.abs_change,
        np.uint64(2),
    )
    # the first and the last loop keep many memory accesses under way, those between are vector
    # arithmetic
    for i in range(distinct):
        j = base + entry[i]
        weight[i], net_change[i], abs_change[i] = (
            weights[j],
            counters[two * j + NET_CHANGE],
            counters[two * j + ABS_CHANGE],
        )
    coherence(par, net_change, abs_change, distinct, mem.factor)
    for i in range(distinct):
        weight[i] += step * recommended * mem.factor[i]
        net_change[i] += change
        abs_change[i] += abs(change)
    for i in range(distinct):
        j = base + entry[i]
        weights[j], counters[two * j + NET_CHANGE], counters[two * j + ABS_CHANGE] = (
            weight[i],
            net_change[i],
            abs_change[i],
        )
    if not par.inhibit_counters:
        for i in range(distinct, mem.num_boards[p, element] * net.num_tuples):
            j = base + entry[i]
            counters[two * j + NET_CHANGE] += change
            counters[two * j + ABS_CHANGE] += abs(change)


@kernel
def coherence(par, net_change, abs_change, n, factor):
    """Write the step size factors of `n` weights: |N|/A of their counters, or g of it (TC-EXP).

    Source: [konen2021] Eq. (5).
    """
    for i in range(n):
        net, total = np.float64(net_change[i]), np.float64(abs_change[i])
        factor[i] = abs(net) / total if total > 0.0 else 1.0
    if par.tc == TC_EXP:
        for i in range(n):
            factor[i] = exp(par.beta * (factor[i] - 1.0))


@kernel
def choose_action(rules, net, par, mem, p, epsilon):
    """Choose an epsilon-greedy action.

    Return the memory row of its afterstate, V(s'), and whether it was exploration.

    Greedy is the greatest r + gamma V(s'), where V of a terminal s' is 0; exact ties are broken at
    random.

    Source: [konen2021] Alg. 2, line 6; Sec. 2.6. Deviations: D2, D17, D18.
    """
    n = call_legal(rules, mem.state[NOW], mem.moves)
    explored = random_float(mem.rng) < epsilon
    if explored:
        mem.moves[0], n = mem.moves[random_int(mem.rng, n)], 1
    for row in range(1, n + 1):
        make_afterstate(rules, net, mem, p, mem.moves[row - 1], row)
    look_up_candidates(net, mem, p, n)
    for row in range(1, n + 1):
        mem.value[row] = activation_of(net, mem.weight[row], mem.boards[row], mem.ns[row])
    for row in range(1, n + 1):  # a loop of its own is vector arithmetic
        mem.value[row] = sigma(net, mem.value[row])
    if explored:
        return 1, mem.value[1], True
    best, best_merit, ties = 1, 0.0, 1
    for row in range(1, n + 1):
        merit = merit_of(rules, par, mem, p, row)
        if row > 1 and merit == best_merit:
            ties += 1
            if random_int(mem.rng, ties) != 0:
                continue
        elif row == 1 or merit > best_merit:
            ties = 1
        else:
            continue
        best, best_merit = row, merit
    return best, mem.value[best], False


@kernel
def make_afterstate(rules, net, mem, p, action, row):
    """Make an action's afterstate in a memory row: state, cells, indices, symmetric boards."""
    copy_into(mem.state[row], mem.state[NOW], rules.size)
    call_play(rules, mem.state[row], action)
    call_board(rules, mem.state[row], mem.cells[row])
    near = mem.near[row] = nearest_board(mem, row)
    n = changed_cells(net, mem.cells[near], mem.cells[row], mem.changed[row], mem.difference)
    shift_features(net, mem.index[near], mem.changed[row], mem.difference, n, mem.index[row])
    mem.num_changed[row] = n if n < net.few else -1
    if net.far:
        fetch(net, p, mem.changed[row], mem.num_changed[row], mem.index[row])
    mem.ns[row] = symmetric_boards(net, mem.cells[row], mem.index[row], mem.boards[row])


@kernel
def nearest_board(mem, row):
    """Return the memory row of the board that a candidate is computed from.

    It is the present state's, or the candidate's before if that differs less: where a move changes
    much of the board, as the marks of legal cells in Othello, two candidates have most in common.
    """
    if row == 1 or mem.num_changed[1] >= 0:
        return NOW
    cells = mem.cells[row]
    return (
        row - 1
        if differing_cells(mem.cells[row - 1], cells) < differing_cells(mem.cells[NOW], cells)
        else NOW
    )


@kernel
def look_up_candidates(net, mem, p, n):
    """Look up the weights of the `n` candidates.

    Those that read little else than another board take its weights over.
    """
    known = False
    for row in range(1, n + 1):
        near = mem.near[row]
        if mem.num_changed[row] < 0:
            look_up(net, p, mem.index[row], mem.index.shape[1], mem.weight[row])
            continue
        if near == NOW and not known:
            look_up(net, p, mem.index[NOW], mem.index.shape[1], mem.weight[NOW])
            known = True
        look_up_changed(
            net,
            p,
            mem.weight[near],
            mem.changed[row],
            mem.num_changed[row],
            mem.index[row],
            mem.weight[row],
        )


@kernel
def merit_of(rules, par, mem, p, row):
    """Return what a greedy choice compares of the afterstate in a memory row: r + gamma V(s')."""
    if par.greedy_value:
        return mem.value[row]
    call_score(rules, mem.state[row], mem.reward)
    reward = mem.reward[p] - mem.r_last[p]
    terminal = rules.chance == 0 and call_over(rules, mem.state[row])
    return reward + (0.0 if terminal else par.gamma * mem.value[row])


@kernel
def skipped(par, mem, p, explored):
    """Return whether T_lrnRM forbids to adapt s_last[p] now.

    Source: [konen2021] Alg. 7, line 2; Table 2. Deviations: D7.
    """
    if par.learn_from_random:
        return False
    return mem.last_random[p] if par.skip_source else explored


@kernel
def remember(net, mem, p, row, explored):
    """Make the afterstate in a memory row the player's s_last.

    Source: [konen2021] Alg. 2, line 10.
    """
    slot = mem.head[p]
    mem.num_boards[p, slot] = mem.ns[row]
    mem.num_distinct[p, slot] = distinct_indices(
        net, mem.index[row], mem.boards[row], mem.ns[row], mem.work, mem.entry[p, slot]
    )
    mem.has_last[p], mem.last_random[p] = True, explored
    # fetch what the update after the player's next move is going to change
    if net.counters.shape[0] > 0:
        base = np.uint64(p) * np.uint64(net.set_size)
        for i in range(mem.num_distinct[p, slot]):
            prefetch(net.counters, np.uint64(2) * (base + mem.entry[p, slot, i]))


@kernel
def value_of_entry(net, mem, p, slot):
    """Return V of a remembered afterstate with the present weights.

    The repeated indices count as often as they occur.
    """
    n = mem.num_boards[p, slot] * net.num_tuples
    look_up(net, p, mem.entry[p, slot], n, mem.entry_weight)
    return sigma(net, sum_weights(mem.entry_weight, 0, n))


@kernel
def begin_episode(rules, net, par, mem, s):
    """Write the start state and forget the last episode.

    Source: [konen2021] Alg. 2, lines 2-3. Deviations: D5, D6.
    """
    if par.choose_start:
        start_from_scheme(rules, s, mem.moves, mem.rng, mem.path)
    else:
        call_start(rules, s, mem.rng)
    call_board(rules, s, mem.cells[NOW])
    features(net, mem.cells[NOW], mem.index[NOW])
    call_score(rules, s, mem.r_last)
    mem.has_last[:] = False
    if not par.trace_across:
        mem.length[:] = 0
    if par.learn_start and rules.chance == 0:
        mem.ns[NOW] = symmetric_boards(net, mem.cells[NOW], mem.index[NOW], mem.boards[NOW])
        remember(net, mem, (call_player(rules, s) - 1 + rules.players) % rules.players, NOW, False)


@kernel
def advance_features(rules, net, mem, best):
    """Bring the present state's board and indices up to date after a move."""
    if rules.chance == 0:
        copy_into(mem.cells[NOW], mem.cells[best], rules.cells)
        copy_into(mem.index[NOW], mem.index[best], mem.index.shape[1])
    else:
        call_board(rules, mem.state[NOW], mem.cells[NOW])
        n = changed_cells(net, mem.cells[best], mem.cells[NOW], mem.changed[NOW], mem.difference)
        shift_features(net, mem.index[best], mem.changed[NOW], mem.difference, n, mem.index[NOW])


@kernel
def schedules(par, episode):
    """Return alpha and epsilon of an episode.

    Source: [konen2021] Sec. 3 ("linearly decreasing"). Deviations: D4, D29.
    """
    x = min(episode / par.episodes, 1.0)
    epsilon = par.epsilon_first + (par.epsilon_last - par.epsilon_first) * x
    if par.geometric and par.alpha_first > 0.0 and par.alpha_last > 0.0:
        return par.alpha_first * exp(x * log(par.alpha_last / par.alpha_first)), epsilon
    return par.alpha_first + (par.alpha_last - par.alpha_first) * x, epsilon


@kernel
def _train(rules, net, par, mem, num_episodes):
    for _ in range(num_episodes):
        td_farl_episode(rules, net, par, mem)


class Session:
    """One training run: a network and everything else that changes while it learns.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint.

    Parameters
    ----------
    game : Game
    params : dict
        Any of ``PARAMETERS``; ``DEFAULTS`` holds the rest.
    seed : int
        Everything random in the run derives from it.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, or the n-tuples do not fit the game.

    Source: [konen2021] Alg. 2. Deviations: see data/papers/konen2021.yaml.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import td
    >>> session = td.Session(games.load("tictactoe"), {"episodes": 1000}, seed=1)
    >>> session.train(1000)
    >>> session.episode
    1000
    """

    def __init__(self, game, params: dict, seed: int = 0):
        self.game = check_game(game)
        self.params = check_parameters(PARAMETERS, params)
        rng = new_rng(seed)
        tuples = make_tuples(game, self.params["tuples"], rng)
        self.net = Network(
            game,
            tuples,
            sigmoid=self.params["sigmoid"],
            distinct_symmetries=self.params["distinct_symmetries"],
            tc_init=float(self.params["tc_init"]) if self.params["tc"] != "none" else 0.0,
            precision=self.params["precision"],
        )
        self.par = compile_parameters(self.params)
        self.mem = make_memory(game, self.net, self.par.trace_size, rng)

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` episodes; Ctrl-C stops between two of them."""
        num_episodes, chunk = check_episodes(num_episodes), 1
        while num_episodes > 0:
            chunk, began = min(chunk, num_episodes), time.perf_counter()
            _train(self.game.rules, self.net.arrays, self.par, self.mem, chunk)
            if not math.isfinite(self.mem.abs_delta[0]):
                raise FloatingPointError(
                    f"the values have diverged before episode {self.episode}: lower"
                    f" alpha={self.params['alpha']!r}, or use sigmoid=True"
                )
            num_episodes -= chunk
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    @property
    def episode(self) -> int:
        """Episodes played so far."""
        return int(self.mem.counters[EPISODES])

    @property
    def moves(self) -> int:
        """Moves made so far, over all episodes."""
        return int(self.mem.counters[MOVES])

    def statistics(self) -> dict:
        """Return counts of the run so far.

        They are episodes, moves, updates, truncated episodes, mean absolute TD error and shares of
        weights. Active weights are those that are not 0; touched ones (with temporal coherence)
        have a counter A above its start. Both are shares of all entries of all players' sets.
        """
        updates, a = int(self.mem.counters[UPDATES]), self.net.arrays.counters[1::2]
        found = {
            "episodes": self.episode,
            "moves": self.moves,
            "updates": updates,
            "truncated": int(self.mem.counters[TRUNCATED]),
            "mean_abs_delta": float(self.mem.abs_delta[0]) / max(updates, 1),
            "active_weights": self.net.active(),
        }
        if len(a):
            found["touched_weights"] = float(
                np.count_nonzero(a > a.dtype.type(self.params["tc_init"])) / len(a)
            )
        return found

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        return {
            "weights": self.net.arrays.weights,
            "tc_counters": self.net.arrays.counters.reshape(-1, 2),
        } | {name: getattr(self.mem, name) for name in CHECKPOINT}

    def load_state_dict(self, arrays: dict) -> None:
        """Take over the arrays of a checkpoint; raises ValueError if they do not fit this run."""
        own = self.state_dict()
        for name, array in own.items():
            if (
                name not in arrays
                or arrays[name].shape != array.shape
                or arrays[name].dtype != array.dtype
            ):
                raise ValueError(
                    f"the checkpoint does not fit this run: its array {name!r} should be"
                    f" {array.dtype}{list(array.shape)}"
                )
        for name, array in own.items():
            array[...] = arrays[name]
