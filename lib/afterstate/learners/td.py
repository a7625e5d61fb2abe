"""TD(lambda) with Final Adaptation for any number of players: Alg. 1, 2, 6 and 7 of [konen2021].

Every player learns from its own afterstates only: V of its previous afterstate moves towards its
reward plus V of its present one. At the end of an episode, *final adaptation* (FARL) also tells the
players who did not make the last move.

Read :func:`td_farl_episode` with Algorithm 2 beside it; everything else here is called from there.
The arrays `mem` are told in ``td_memory.py``, the parameters `par` in ``td_parameters.py``, the
network `net` in ``ntuple.py``.
"""

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
from ..games.opposite import not_opposite
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_float, random_int
from ..networks.lookup import (
    NOW,
    activation_of,
    changed_cells,
    features,
    fetch,
    look_up_candidates,
    nearest_board,
    shift_features,
    sigma,
    symmetric_boards,
)
from ..networks.ntuple import Network, make_tuples
from .adaptation import adapt, remember, schedules, skipped
from .network_session import NetworkSession
from .parameters import check_parameters
from .td_memory import EPISODES, MOVES, TRUNCATED, make_memory
from .td_parameters import DEFAULTS as DEFAULTS
from .td_parameters import PARAMETERS, compile_parameters

NAME = "td"
VERSION = 1  # raise it when the numbers of a training change


@kernel
def td_farl_episode(rules, net, par, mem):
    """Play and learn one episode of self-play.

    Source: [konen2021] Alg. 2, lines 1-14 (Alg. 1 in the view of one player); Alg. 6 is the pair
    play, chance. Deviations: D1, D14, D15, D16, D50.
    """
    alpha, epsilon = schedules(par, mem.counters[EPISODES])
    s = mem.state[NOW]
    begin_episode(rules, net, par, mem, s)  # lines 2-3
    plies, over, p = 0, False, (call_player(rules, s) - 1 + rules.players) % rules.players
    while not over and (par.max_plies == 0 or plies < par.max_plies):  # lines 4, 13
        # line 5 (q has made the move before)
        q, p = p, call_player(rules, s)
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
        if par.one_move_back:
            adapt_one_move_back(par, net, mem, p, q, value, over, explored, alpha)
        # line 9: AdaptAgentV, lines 17-21
        elif mem.has_last[p] and not skipped(par, mem, p, explored):
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
def adapt_one_move_back(par, net, mem, p, q, value, over, explored, alpha):
    """Adapt the afterstate before, of `q`, to that which `p` has made now.

    This is the older scheme for two players.
    What p wins q loses, so V_q(s'_{t-1}) moves towards q's reward minus gamma V_p(s'_t), or plus it
    where q = p moves again. The last move of an episode so reaches the other player's last
    afterstate without any final adaptation. With three players it does not carry over: V_p(s'_t) is
    what p can expect, and tells nothing of how the other two share the rest.

    Source: [konen2021] Sec. 3.5. Deviations: D50.
    """
    if mem.has_last[q] and not skipped(par, mem, q, explored):
        follow = 0.0 if over and not par.literal_target else par.gamma * value
        adapt(
            net, par, mem, q, mem.reward[q] - mem.r_last[q] + (follow if q == p else -follow), alpha
        )


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
def merit_of(rules, par, mem, p, row):
    """Return what a greedy choice compares of the afterstate in a memory row: r + gamma V(s')."""
    if par.greedy_value:
        return mem.value[row]
    call_score(rules, mem.state[row], mem.reward)
    reward = mem.reward[p] - mem.r_last[p]
    terminal = rules.chance == 0 and call_over(rules, mem.state[row])
    return reward + (0.0 if terminal else par.gamma * mem.value[row])


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
def _train(rules, net, par, mem, num_episodes):
    for _ in range(num_episodes):
        td_farl_episode(rules, net, par, mem)


def check_opposite_rewards(game) -> None:
    """Raise ValueError unless a game is for one player, or for two with opposite rewards.

    Source: [konen2021] Sec. 3.5 (what the older scheme needs).
    """
    if game.players > 2:
        raise ValueError(
            f"step_back='move' is for two players, but {game!r} has {game.players}: the value of an"
            " afterstate for the player who made it does not tell what it is worth to each of"
            " several others; take step_back='round'"
        )
    told = not_opposite(game) if game.players == 2 else ""
    if told:
        raise ValueError(
            f"step_back='move' needs opposite rewards, but {told}: take step_back='round'"
        )


class Session(NetworkSession):
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

    run_episodes = staticmethod(_train)

    def __init__(self, game, params: dict, seed: int = 0):
        self.game = check_game(game)
        self.params = check_parameters(PARAMETERS, params)
        if self.params["step_back"] == "move":
            check_opposite_rewards(game)
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
