"""TD(lambda) with Final Adaptation for any number of players: Alg. 1, 2, 6 and 7 of [konen2021].

Every player learns from its own afterstates only: V of its previous afterstate moves towards its
reward plus V of its present one. At the end of an episode, *final adaptation* (FARL) also tells the
others. Read :func:`td_farl_episode` with Algorithm 2 beside it, and ``adaptation.py`` for the
update of the weights (lines 19-21, Algorithm 7).
"""

from collections import namedtuple

from ..games import calls
from ..games.conformance import not_opposite
from ..kernel.compile import kernel
from ..kernel.functions import copy_state
from ..kernel.random import best_of, random_float, random_int
from ..networks import lookup
from ..networks.ntuple import content_of_name
from .adaptation import SHARED, NetworkSession, adapt, begin_episode, remember, schedules, skipped
from .parameters import choice, defaults, kernel_values, number, other, ramp, switch, whole
from .session import EPISODES, MOVES, TRUNCATED

__all__ = ["Session"]

NOW = lookup.NOW  # row of the present state
NAME = "td"
VERSION = 1  # raise it when the numbers of a training change

PARAMETERS = {
    "episodes": whole(10_000, "length of the schedules of alpha and epsilon", 1),
    "alpha": ramp(1.0, "step size, constant or [first, last]", 0.0),
    "epsilon": ramp(0.1, "random move rate, constant or [first, last]", 0.0, 1.0),
    "gamma": number(1.0, "discount factor", 0.0, 1.0),
    "lambda_": number(0.0, "eligibility rate", 0.0, 1.0),
    "horizon_cut": number(0.1, "lambda ** age of a trace element is at least this", 0.0, 1.0),
    "tuples": other(
        "all",
        "cells, 'all', a name in data/ntuples.yaml, {'random_walk', 'length'}",
        content=content_of_name,
    ),
    "tc": choice(("none", "id", "exp"), "temporal coherence: none, TC-id or TC-EXP"),
    "tc_init": number(1e-4, "initial N and A of every weight", 0.0),
    "weight_init": number(0.0, "value of every board at the start, which its weights share"),
    "promote_after": whole(
        0, "episodes in which all stages of a game share weights; then each has a copy", 0
    ),
    "beta": number(2.7, "exponent of TC-EXP", 0.0),
    "sigmoid": switch(True, "tanh output, else linear"),
    "symmetries": switch(True, "symmetric boards are valued and learned together"),
    "shared_tables": switch(False, "one set of tables for all players, else one for each"),
    "farl": choice(("on", "off", "first", "second"), "final adaptation: both parts, none, or one"),
    "learn_from_random": switch(True, "learn from random moves (the paper's T_lrnRM)"),
    "choose_start": switch(False, "draw start positions by the game's scheme (Choose-Start-01)"),
    "step_reward": number(0.0, "added to the reward of every move"),
    "max_plies": whole(0, "an episode is truncated after this number of plies; 0 = never", 0),
    "trace": choice(("ET", "RESET"), "traces survive random moves that do not teach, or not"),
    "precision": choice(("float32", "float64"), "storage of weights and counters"),
    # deviations: where the text is silent or impossible, see data/papers/konen2021.yaml
    "terminal_target": choice(("reward", "literal"), "r, or r + gamma V(s') also for terminal s'"),
    "greedy": choice(("reward+value", "value"), "a move maximises r + gamma V(s'), or V(s') alone"),
    "distinct_symmetries": switch(True, "S(s') is a set, else equal boards count repeatedly"),
    "alpha_schedule": choice(("linear", "geometric"), "how alpha goes to its last value"),
    "trace_across_episodes": switch(False, "eligibility traces survive the end of an episode"),
    "learn_start_state": switch(False, "the start position is an afterstate of the player before"),
    "random_move_rule": choice(("target", "source"), "random moves forbid updates towards, or of"),
    "inhibit_counters": switch(True, "TC counters change once per update, else for every index"),
    "newest_ns": switch(False, "all trace elements use N_S of the newest one, else their own"),
    "tc_accumulate": choice(("weight change", "delta"), "what the TC counters add up"),
    "step_back": choice(("round", "move"), "the afterstate of the player, or of the move before"),
}
DEFAULTS = defaults(PARAMETERS)
Par = namedtuple("Par", [*kernel_values(PARAMETERS, DEFAULTS), "trace_size"])

# row NOW is the present state, the others are the candidates' afterstates, one for each action
ROWS = {"state": ("int32", "rows", "size"), **lookup.CANDIDATES}
MEMORY = SHARED | ROWS | {"merit": ("float64", "max_legal")}  # what a greedy choice compares
Memory = namedtuple("Memory", MEMORY)


@kernel
def td_farl_episode(rules, net, par, mem):
    """Play and learn one episode of self-play.

    Source: [konen2021] Alg. 2, lines 1-14 (Alg. 1 in the view of one player); Alg. 6 is the pair
    play, chance. Deviations: D1, D14, D15, D16, D50.
    """
    alpha, epsilon = schedules(par, mem.counters[EPISODES])
    p = begin(rules, net, par, mem)  # lines 2-3
    plies, over = 0, False
    while not over and plies < par.max_plies:  # lines 4, 13
        # line 5 (q has made the move before)
        q, p = p, calls.call_player(rules, mem.state[NOW])
        best, value, explored = choose_action(rules, net, par, mem, p, epsilon)  # line 6
        over = make_move(rules, net, par, mem, p, q, best, value, explored, alpha)  # lines 7-12
        plies += 1
    if over:
        final_adapt_agents(rules, net, par, mem, p, alpha)  # line 14
    else:  # nothing is known about the value of the last state
        mem.counters[TRUNCATED] += 1
    mem.counters[EPISODES] += 1
    mem.counters[MOVES] += plies


@kernel
def begin(rules, net, par, mem):
    """Begin; return the player before the first to move. Source: [konen2021] Alg. 2, lines 2-3."""
    s = mem.state[NOW]
    begin_episode(rules, net, par, mem, s)
    p = (calls.call_player(rules, s) - 1 + rules.players) % rules.players
    if par.learn_start_state and rules.chance == 0:
        mem.ns[NOW] = lookup.symmetric_boards(net, mem.cells[NOW], mem.index[NOW], mem.boards[NOW])
        remember(net, mem, p, NOW, False)
    return p


@kernel
def make_move(rules, net, par, mem, p, q, best, value, explored, alpha):
    """Go on to the afterstate in row `best`, of `value`, and learn; return whether all is over.

    Player `p` moves, `q` has made the move before. With ``step_back="move"``, the older scheme for
    two players, q's afterstate learns: what p wins q loses.
    Source: [konen2021] Alg. 2, lines 7-12; Sec. 3.5. Deviations: D1, D14, D15, D50.
    """
    s = mem.state[NOW]
    copy_state(s, mem.state[best], rules.size)  # line 7: afterstate s' ...
    calls.call_chance(rules, s, mem.rng)  # ... and next state s''
    over = calls.call_over(rules, s)
    calls.call_score(rules, s, mem.reward)
    if explored and par.trace_reset and not par.learn_from_random:
        mem.length[:] = 0
    w = q if par.step_back_move else p  # whose last afterstate learns
    r = mem.reward[w] - mem.r_last[w] + par.step_reward  # line 8
    follow = 0.0 if over and not par.terminal_target_literal else par.gamma * value
    if mem.has_last[w] and not skipped(par, mem, w, explored):  # line 9: AdaptAgentV, lines 17-21
        adapt(net, par, mem, w, r + (follow if w == p else -follow), alpha)
    remember(net, mem, p, best, explored)  # line 10
    mem.r_last[p] = mem.reward[p]
    advance_features(rules, net, mem, best)  # lines 11-12
    return over


@kernel
def final_adapt_agents(rules, net, par, mem, p, alpha):
    """Adapt the other players' last afterstates to their final reward, that of `p` to 0.

    Source: [konen2021] Alg. 2, lines 24-31; Sec. 2.7. Deviations: D7, D8, D22.
    """
    others = par.farl_on or par.farl_first
    for q in range(rules.players):  # lines 25-28
        if q != p and others and mem.has_last[q] and not skipped(par, mem, q, False):
            adapt(net, par, mem, q, mem.reward[q] - mem.r_last[q] + par.step_reward, alpha)
    if (par.farl_on or par.farl_second) and not skipped(par, mem, p, False):  # lines 29-31
        adapt(net, par, mem, p, 0.0, alpha)


@kernel
def choose_action(rules, net, par, mem, p, epsilon):
    """Return an epsilon-greedy action's memory row, V(s'), and whether it was exploration.

    Greedy is the greatest r + gamma V(s'), with V = 0 of a terminal s'; exact ties are random.
    Source: [konen2021] Alg. 2, line 6; Sec. 2.6. Deviations: D2, D17, D18.
    """
    n = calls.call_legal(rules, mem.state[NOW], mem.moves)
    explored = random_float(mem.rng) < epsilon
    if explored:
        mem.moves[0], n = mem.moves[random_int(mem.rng, n)], 1
    for row in range(1, n + 1):
        make_afterstate(rules, net, mem, p, mem.moves[row - 1], row)
    lookup.value_candidates(net, mem, p, n)
    for k in range(n):
        mem.merit[k] = merit_of(rules, par, mem, p, k + 1)
    best = 1 + best_of(mem.merit, n, mem.rng)
    return best, mem.value[best], explored


@kernel
def make_afterstate(rules, net, mem, p, action, row):
    """Make an action's afterstate in a memory row: state, cells, indices, symmetric boards."""
    copy_state(mem.state[row], mem.state[NOW], rules.size)
    calls.call_play(rules, mem.state[row], action)
    calls.call_board(rules, mem.state[row], mem.cells[row])
    lookup.add_candidate(net, mem, row)
    if net.far:
        lookup.fetch(net, p, mem.changed[row], mem.num_changed[row], mem.index[row])


@kernel
def merit_of(rules, par, mem, p, row):
    """Return what a greedy choice compares of the afterstate in a memory row: r + gamma V(s')."""
    if par.greedy_value:
        return mem.value[row]
    calls.call_score(rules, mem.state[row], mem.reward)
    reward = mem.reward[p] - mem.r_last[p]
    terminal = rules.chance == 0 and calls.call_over(rules, mem.state[row])
    return reward + (0.0 if terminal else par.gamma * mem.value[row])


@kernel
def advance_features(rules, net, mem, best):
    """Bring the present state's board and indices up to date after a move."""
    if net.anew:  # no candidate is computed from them
        return
    if rules.chance == 0:
        calls.copy_into(mem.cells[NOW], mem.cells[best], rules.cells)
        calls.copy_into(mem.index[NOW], mem.index[best], mem.index.shape[1])
    else:
        calls.call_board(rules, mem.state[NOW], mem.cells[NOW])
        lookup.shift_board(net, mem, best, NOW)


@kernel
def _train(rules, net, par, mem, num_episodes):
    for _ in range(num_episodes):
        td_farl_episode(rules, net, par, mem)


def check_one_move_back(game, params: dict) -> None:
    """Raise ValueError where ``step_back="move"`` has no meaning.  Source: [konen2021] Sec. 3.5."""
    if game.players > 2 or game.players == 2 and not_opposite(game):
        raise ValueError(f"step_back='move' is for two players with opposite rewards, not {game!r}")
    wanted = {"farl": ("off", "second"), "lambda_": (0.0,), "step_reward": (0.0,)}
    for name, values in wanted.items():
        if params[name] not in values:
            does_not = f"does not go with {name}={params[name]!r}"
            raise ValueError(f"step_back='move' {does_not}: take {name}={values[0]!r}")


class Session(NetworkSession):
    """One training run of TD-learning: see :class:`afterply.learners.session.BaseSession`.

    Source: [konen2021] Alg. 2. Deviations: see data/papers/konen2021.yaml.

    >>> from afterply import games
    >>> session = Session(games.load("tictactoe"), episodes=1000, seed=1)
    >>> session.train(1000)
    >>> session.episode
    1000
    """

    parameters, par_type, run_episodes = PARAMETERS, Par, staticmethod(_train)

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        if self.par.step_back_move:
            check_one_move_back(game, self.params)
        self.mem = Memory(**self.allocate(MEMORY, rows=1 + game.max_legal))
