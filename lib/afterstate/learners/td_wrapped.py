"""TD-learning whose training moves are those of a PUCT search around the agent that learns.

The updates are those of :mod:`afterstate.learners.td`; only line 6 of Alg. 2, the choice of a move,
is another one: the search of :mod:`afterstate.search.puct` with the weights of the moment chooses.

One tree serves both players. It begins with the episode and is kept below the moves played, though
the weights have changed meanwhile: what stands in it stays. A tree that has outgrown its room, four
times the iterations, begins anew at the present state.
"""

from typing import NamedTuple

import numpy as np

from ..games.calls import call_chance, call_legal, call_over, call_player, call_score, copy_into
from ..kernel.compile import kernel
from ..kernel.random import random_float, random_int
from ..networks.candidates import NOW, look_up_candidates
from ..networks.lookup import activation_of, sigma
from ..search.puct import iterate
from ..search.puct_leaves import Eye
from ..search.puct_search import Search
from ..search.puct_tree import DONE, FULL, NONE, ROOT, Par, Tree, Work, find_child, plant, reroot
from . import td
from .adaptation import adapt, remember, schedules, skipped
from .parameters import check_parameters, choice, defaults, number, whole
from .td import advance_features, begin_episode, final_adapt_agents, make_afterstate
from .td_memory import EPISODES, MOVES, TRUNCATED

NAME = "td_wrapped"
VERSION = 1  # raise it when the numbers of a training change
EXPLORATIONS = ("none", "visits", "epsilon")
NO_EXPLORATION, BY_VISITS, BY_EPSILON = range(3)
ROOM = 4  # nodes of a tree, as a multiple of the iterations

PARAMETERS = {k: v for k, v in td.PARAMETERS.items() if k not in ("step_back", "greedy")} | {
    "iterations": whole(100, 1, "of the search before every move of the training"),
    "c_puct": number(1.0, 0.0, None, "weight of the priors in the search"),
    "training_exploration": choice(
        "none",
        EXPLORATIONS,
        "the most visited move always, a move drawn in proportion to its visits, or a random one"
        " at the rate epsilon",
    ),
}
DEFAULTS = defaults(PARAMETERS)


class Planning(NamedTuple):
    """What the search of a training needs."""

    eye: Eye
    tree: Tree
    work: Work
    par: Par
    iterations: int
    exploration: int


@kernel
def wrapped_episode(rules, net, par, mem, plan, num_episodes):
    """Play and learn episodes of self-play, with a search before every move.

    Source: [scheiermann2022] Sec. IV-E; [konen2021] Alg. 2, lines 1-14. Deviations: D21.
    """
    for _ in range(num_episodes):
        alpha, epsilon = schedules(par, mem.counters[EPISODES])
        s = mem.state[NOW]
        begin_episode(rules, net, par, mem, s)
        plant(rules, plan.tree, plan.work, plan.par, s)
        plies, over, p = 0, False, np.int64(0)
        while not over and (par.max_plies == 0 or plies < par.max_plies):
            p = np.int64(call_player(rules, s))
            action, explored = searched_action(rules, net, plan, mem, epsilon)
            make_afterstate(rules, net, mem, p, action, 1)
            look_up_candidates(net, mem, p, 1)
            value = sigma(net, activation_of(net, mem.weight[1], mem.boards[1], mem.ns[1]))
            copy_into(s, mem.state[1], rules.size)
            call_chance(rules, s, mem.rng)
            over = call_over(rules, s)
            call_score(rules, s, mem.reward)
            r = mem.reward[p] - mem.r_last[p] + par.step_reward
            if explored and par.trace_reset and not par.learn_from_random:
                mem.length[:] = 0
            if mem.has_last[p] and not skipped(par, mem, p, explored):
                follow = 0.0 if over and not par.literal_target else par.gamma * value
                adapt(net, par, mem, p, r + follow, alpha)
            remember(net, mem, p, 1, explored)
            mem.r_last[p] = mem.reward[p]
            plies += 1
            advance_features(rules, net, mem, 1)
            if not over:
                follow_move(rules, plan, s, action, explored)
        if over:
            final_adapt_agents(rules, net, par, mem, p, alpha)
        else:
            mem.counters[TRUNCATED] += 1
        mem.counters[EPISODES] += 1
        mem.counters[MOVES] += plies


@kernel
def searched_action(rules, net, plan, mem, epsilon):
    """Return the action for the present state, and whether it was exploration.

    The most visited one, the first of equals; or one drawn in proportion to the visits; or, at the
    rate epsilon, a random one without any search.

    Source: [scheiermann2022] Sec. II-B, Sec. IV-E. Deviations: D4, D21.
    """
    tree, s = plan.tree, mem.state[NOW]
    if plan.exploration == BY_EPSILON and random_float(mem.rng) < epsilon:
        n = call_legal(rules, s, mem.moves)
        return np.int64(mem.moves[random_int(mem.rng, n)]), True
    searching = True
    while searching:  # once, or once more in a tree that begins anew
        plan.work.progress[DONE] = 0
        searching = FULL == iterate(
            rules, net, plan.eye, tree, plan.work, plan.par, plan.iterations, mem.rng
        )
        if searching:
            plant(rules, tree, plan.work, plan.par, s)
    first, n = np.int64(tree.first[ROOT]), np.int64(tree.num_slots[ROOT])
    best = first
    if plan.exploration == BY_VISITS and tree.total[ROOT] > 0:
        left = np.int64(random_int(mem.rng, tree.total[ROOT]))
        while left >= tree.visits[best]:
            left -= tree.visits[best]
            best += 1
        return np.int64(tree.action[best]), True
    for slot in range(first + 1, first + n):
        if tree.visits[slot] > tree.visits[best]:
            best = slot
    return np.int64(tree.action[best]), False


@kernel
def follow_move(rules, plan, s, action, explored):
    """Keep what is below the move that was played, or begin a new tree at the state `s`.

    A random move begins a new one.

    Source: [scheiermann2022] Sec. II-B (tree reuse). Deviations: D8, D21.
    """
    tree, child = plan.tree, np.int64(NONE)
    if not (explored and plan.exploration == BY_EPSILON):
        child = find_child(rules, tree, ROOT, action, s)
    if child != NONE and tree.first[child] != NONE:
        reroot(rules, tree, child, plan.work.path_node)
    else:
        plant(rules, tree, plan.work, plan.par, s)


class Session(td.Session):
    """One training run whose moves are searched for.

    Parameters
    ----------
    game : Game
        Of one or two players.
    params : dict
        Any of ``PARAMETERS``; ``DEFAULTS`` holds the rest.
    seed : int
        Everything random in the run derives from it.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, the n-tuples do not fit the game, or the game
        has more than two players.

    Source: [scheiermann2022] Sec. IV-E. Deviations: D21.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import td_wrapped
    >>> session = td_wrapped.Session(games.load("tictactoe"), {"iterations": 20}, seed=1)
    >>> session.train(100)
    >>> session.episode
    100
    """

    def __init__(self, game, params: dict, seed: int = 0):
        own = check_parameters(PARAMETERS, params)
        super().__init__(game, {k: v for k, v in own.items() if k in td.PARAMETERS}, seed)
        self.params = own
        settings = {name: own[name] for name in ("c_puct", "gamma", "step_reward")}
        search = Search(game, self.net, ROOM * own["iterations"], **settings)
        # a node needs room for all legal actions
        room = 8 * ROOM * own["iterations"] + game.max_legal * (own["iterations"] + 2)
        self.plan = Planning(
            *search.memory(room),
            search.par,
            own["iterations"],
            EXPLORATIONS.index(own["training_exploration"]),
        )

    def run_episodes(self, rules, net, par, mem, num_episodes):
        """Play and learn so many episodes."""
        wrapped_episode(rules, net, par, mem, self.plan, num_episodes)
