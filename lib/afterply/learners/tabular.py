"""Q-learning with a table of action values, Algorithm 1 of [jamieson2022], for two players.

A *learning agent* plays games against a *teaching agent*: its twin, a Min-Max agent, a random one,
or a converged and frozen table. Read :func:`play_game` and :func:`learn` with Algorithm 1.
"""

from collections import namedtuple
from functools import cached_property

import numpy as np

from ..checks import whole as check_whole
from ..files import out_of_range
from ..games.calls import allocate, call_chance, call_over, call_play, call_score, call_start
from ..kernel.compile import kernel
from ..kernel.random import seed_from
from ..networks.table import NONE, QTable, best_value, full, insert
from ..players import agents
from . import parameters
from .parameters import choice, fraction, number, ramp, whole
from .session import EPISODES, MOVES, UPDATES, BaseSession

__all__ = ["Session"]

NAME = "tabular"
VERSION = 1  # raise it when the numbers of a training change
FIRST_TRACE = 256

TEACHERS = ("twin", "deterministic", "non-deterministic", "random", "converged")
PARAMETERS = {
    "alpha": fraction(0.4, "step size (the paper's learning factor)"),
    "gamma": fraction(0.9, "discount factor"),
    "epsilon": ramp(0.3, "random move rate of the learner, constant or [first, last]", 0.0, 1.0),
    "epsilon_games": whole(8_000, "training games in which epsilon goes from first to last", 1),
    "teacher": choice(TEACHERS, "its twin, Min-Max (first or any best), random, a frozen table"),
    "teacher_games": whole(8_000, "training games of the converged teacher, with its own twin", 1),
    "teacher_every": whole(0, "of them between checkpoints that find its convergence; 0: none", 0),
    "teacher_extra": whole(5_000, "training games after that without a loss at a checkpoint", 0),
    "teacher_epsilon": fraction(0.0, "random move rate of a Min-Max teacher"),
    "minimax_depth": whole(0, "look-ahead of Min-Max in actions; 0 = to the end of the game", 0),
    "snapshots": parameters.whole_numbers([], "episodes after which the table is kept", 1),
    # deviations: the points where the text is silent, see data/papers/jamieson2022.yaml
    "win_reward": number(1.0, "reward of the last move of a won game"),
    "loss_reward": number(-1.0, "the same of a lost game"),
    "draw_reward": number(0.0, "the same of a draw"),
    "twin": choice(("shared", "separate"), "one table for both seats, or two agents swap seats"),
    "learner_seat": choice(("alternate", "first", "second"), "alternate: first in games 1, 3 ..."),
    "initial_q": number(0.0, "value of an action that was never tried"),
    "last_move": choice(("blend", "set"), "the reward is blended into its value, or replaces it"),
    "ties": choice(("random", "first"), "which of equal values a greedy move takes"),
}
DEFAULTS = parameters.defaults(PARAMETERS)
Par = namedtuple("Par", parameters.kernel_values(PARAMETERS, DEFAULTS))
# what a converged teacher has in common with its pupil
ALIKE = ("alpha", "gamma", "epsilon", "epsilon_games", "win_reward", "loss_reward", "draw_reward")
ALIKE += ("twin", "initial_q", "last_move", "ties")

TRACE = {  # the decisions of the learning agents in the present game
    "player": ("int32", "size"),
    "state": ("int32", "size"),  # its number in the table
    "entry": ("int32", "size"),
    "legal": ("int32", "size"),  # number of legal actions there
    "length": ("int64", 1),
    "follow": ("int64", 2),  # of each player, the decision after the one that is updated
}
Trace = namedtuple("Trace", TRACE)


def new_trace(size: int, old: Trace | None = None) -> Trace:
    """Return the trace of a game, with the decisions of a smaller one."""
    new = Trace(**allocate(TRACE, size=size))
    for array, before in zip(new, old or ()):
        array[: len(before)] = before
    return new


def compile_parameters(params: dict) -> Par:
    """Return checked parameters as kernels read them."""
    return Par(**parameters.kernel_values(PARAMETERS, params))


@kernel
def play_game(rules, table, teacher, teacher_table, par, counters, outcomes, work, trace):
    """Play one game and learn. Source: [jamieson2022] Alg. 1, lines 5-16; D1, D2, D6, D7."""
    # DONE, or why it must be called again, is returned
    if work.progress[agents.RUNNING] == 0:
        call_start(rules, work.state, work.rng)  # lines 2-3, 6
        work.progress[agents.RUNNING], work.progress[agents.PLIES], trace.length[0] = 1, 0, 0
    seat = np.int64(par.learner_seat_second)
    if par.learner_seat_alternate:
        seat = counters[EPISODES] % 2
    kind = agents.GREEDY_FIRST if par.ties_first else agents.GREEDY
    epsilon = exploration(par, counters[EPISODES])
    while not call_over(rules, work.state):
        if full(table):
            return agents.TABLE_FULL
        if trace.length[0] >= trace.player.shape[0]:
            return agents.TRACE_FULL
        p, n = agents.look_at(rules, work)
        if par.teacher_twin or p == seat:
            owner = np.int64(par.twin_separate and p != seat)
            policy = agents.Policy(kind, owner, epsilon, 0.0)
            action = agents.choose(rules, policy, table, work, n)  # lines 7-8
            note(table, trace, owner, work.key, action, p, n)
        else:
            action = agents.choose(rules, teacher, teacher_table, work, n)
            if action < 0:
                return agents.MISSING
        call_play(rules, work.state, action)  # line 16
        call_chance(rules, work.state, work.rng)
        work.progress[agents.PLIES] += 1
    call_score(rules, work.state, work.score)
    learn(table, par, work.score, trace)
    own, other = work.score[seat], work.score[1 - seat]
    outcomes[seat, 0 if own > other else 1 if own == other else 2] += 1
    counters[EPISODES] += 1
    counters[MOVES] += work.progress[agents.PLIES]
    counters[UPDATES] += trace.length[0]
    work.progress[agents.RUNNING] = 0
    return agents.DONE


@kernel
def exploration(par, games):
    """Return epsilon after a number of training games. Deviations: D2."""
    x = min(games / par.epsilon_games, 1.0)
    return par.epsilon_first + (par.epsilon_last - par.epsilon_first) * x


@kernel
def note(table, trace, owner, key, action, player, num_legal):
    """Add a decision to the trace of the present game."""
    t = trace.length[0]
    trace.state[t], trace.entry[t] = insert(table, owner, key, action)
    trace.player[t], trace.legal[t] = player, num_legal
    trace.length[0] += 1


@kernel
def learn(table, par, score, trace):
    """Update the entries of a finished game backwards, from the last decision to the first.

    The next state is the next one in which the same player decides.
    Source: [jamieson2022] Alg. 1, lines 9-15; Eq. (2); Fig. 1. Deviations: D3, D4, D5, D21.
    """
    trace.follow[0] = trace.follow[1] = NONE
    for t in range(trace.length[0] - 1, -1, -1):  # line 12
        p = trace.player[t]
        after = trace.follow[p]
        if after == NONE:
            own, other = score[p], score[1 - p]
            lost = par.loss_reward if own < other else par.draw_reward
            target = par.win_reward if own > other else lost  # lines 9-11
        else:
            target = par.gamma * best_value(table, trace.state[after], trace.legal[after])
        entry = trace.entry[t]
        if par.last_move_set and after == NONE:
            table.q[entry] = target
        else:
            table.q[entry] = (1.0 - par.alpha) * table.q[entry] + par.alpha * target  # line 14
        trace.follow[p] = t


def learn_from_game(net: QTable, actions, player: int, **params) -> None:
    """Update a table from all actions of a game, as the learning agent in a seat, 0 or 1, would.

    `params` are any of ``PARAMETERS`` that an update reads. ValueError if an action is not legal,
    the game is not over, or there is no such player.
    Source: [jamieson2022] Fig. 1; Alg. 1, lines 9-15.
    """
    check_whole("player, the seat of the learning agent,", player, 0, 1)
    game, par = agents.q_table(net).game, parameters.check_parameters(PARAMETERS, params)
    s, trace = game.start(), new_trace(max(1, len(actions)))
    for action in actions:
        after = game.play(s, action)  # raises if it is not legal
        if game.player(s) == player:
            while full(net.table):
                net.grow()
            key, legal = np.array(game.key(s), np.uint64), len(game.legal(s))
            note(net.table, trace, net.owner, key, int(action), player, legal)
        s = after
    if not game.over(s):
        raise ValueError(f"this game of {game.name} is not over after {len(actions)} moves")
    learn(net.table, compile_parameters(par), game.score(s), trace)


@kernel
def _train(rules, table, teacher, teacher_table, par, counters, outcomes, work, trace, until):
    while counters[EPISODES] < until:
        memory = counters, outcomes, work, trace
        status = play_game(rules, table, teacher, teacher_table, par, *memory)
        if status != agents.DONE:
            return status
    return agents.DONE


class Session(BaseSession):
    """One training run, of a table in a game of two players: see :class:`BaseSession`.

    Source: [jamieson2022] Alg. 1. Deviations: see data/papers/jamieson2022.yaml.
    """

    parameters = PARAMETERS
    growing = ("keys", "owner", "newest", "action", "older", "q", "snapshot_counts", "snapshot_q")

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        params, self.snapshots = self.params, self.params["snapshots"]
        self.work, self.par = agents.new_work(game, seed), compile_parameters(params)
        self.net = QTable(game, 0, params["initial_q"], params["ties"])
        self.net.outcomes = np.zeros((2, 3), np.int64)
        self.counters, self.trace = np.zeros(3, np.int64), new_trace(FIRST_TRACE)

    @cached_property
    def teacher(self) -> agents.Agent:
        """The teaching agent; a converged one is trained when it is first asked for."""
        kind, params, game = self.params["teacher"], self.params, self.game
        if kind == "twin":
            return agents.learned(self.net)
        if kind == "random":
            made = agents.chance(game)
        elif kind == "converged":
            same = {name: params[name] for name in ALIKE}
            twin = Session(game, same, seed_from(self.seed, "teacher"))
            games, every, extra = (params[f"teacher_{n}"] for n in ("games", "every", "extra"))
            if every:
                made = agents.learned(twin.unbeaten(games, every, extra))
            else:
                twin.train(games)
                made = agents.learned(twin.net)
        else:
            ties = "first" if kind == "deterministic" else "random"
            made = agents.min_max(game, ties, params["minimax_depth"], params["teacher_epsilon"])
        self.net.teacher = made
        return made

    def unbeaten(self, games: int, every: int, extra: int) -> QTable:
        """Train until `extra` games passed without a loss at a checkpoint; return what began them.

        Failing that, what went longest, or the last if all checkpoints have a loss.
        Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D11.
        """
        found, longest, begin = self.net, -1, None
        while longest < extra and self.episode < games + extra:
            self.train(every)
            if self.self_losses():
                begin = None
            elif begin is None:
                begin = self.net.copy()
            if begin is not None and self.episode - begin.episode > longest:
                found, longest = begin, self.episode - begin.episode
        found.unbeaten = max(0, longest)
        return found

    def self_losses(self, games: int = 100) -> int:
        """Return how many of some greedy games as first the table loses against itself."""
        second = self.net.of(1) if self.par.twin_separate else self.net
        sides = agents.learned(self.net), agents.learned(second)
        seed = seed_from(self.seed, "checkpoint", self.episode)
        return agents.contest(self.game, *sides, games, seed).losses

    def play_until(self, episode: int) -> None:
        """Play and learn until `episode` games have been played."""
        teacher, net, status = self.teacher, self.net, None
        while status != agents.DONE:
            opponent = teacher.kernel_policy, teacher.net.table
            memory = self.counters, net.outcomes, self.work, self.trace
            status = _train(self.game.rules, net.table, *opponent, self.par, *memory, episode)
            if status == agents.TABLE_FULL:
                net.grow()
            elif status == agents.TRACE_FULL:
                self.trace = new_trace(2 * len(self.trace.player), self.trace)
            elif status == agents.MISSING:
                teacher.search.add(self.work.state)
        net.episode = episode

    def statistics(self) -> dict:
        """Return counts so far; entries are pairs of state and action that were tried."""
        found = {"episodes": self.episode, "moves": self.moves}
        found |= {"updates": int(self.counters[UPDATES])}
        return found | {"states": self.net.states, "entries": self.net.entries}

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        kept = sorted(self.net.snapshots.items())
        counts = [[episode, *count] for episode, (count, _) in kept]
        return {
            "rng": self.work.rng,
            "counters": self.counters,
            "outcomes": self.net.outcomes,
            **self.net.arrays(),
            "snapshot_counts": np.array(counts, np.int64).reshape(-1, 3),
            "snapshot_q": np.concatenate([q for _, (_, q) in kept] or [np.zeros(0)]),
        }

    def load_growing(self, arrays: dict) -> None:
        """Take over table and snapshots; raises ValueError if they do not fit this run."""
        counts, q = arrays["snapshot_counts"], arrays["snapshot_q"]
        most = np.array([arrays["counters"][EPISODES], len(arrays["keys"]), len(arrays["q"])])
        beyond = out_of_range({"counts": counts}, {"counts": (0, most + 1)})
        taken = set(counts[:, 0].tolist()) <= set(self.snapshots)
        if beyond or not taken or counts[:, 2].sum() != len(q):
            raise ValueError("the checkpoint does not fit this run: it has other snapshots")
        self.net.load_arrays(arrays)
        self.work.progress[:] = 0
        parts = np.split(q, np.cumsum(counts[:, 2])[:-1])
        self.net.snapshots = {
            int(row[0]): (row[1:].copy(), part.copy()) for row, part in zip(counts, parts)
        }
        self.net.episode = int(arrays["counters"][EPISODES])
        _ = self.teacher  # made now: an evaluation asks the table for it
