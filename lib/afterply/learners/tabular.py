"""Q-learning with a table of action values, Algorithm 1 of [jamieson2022], for two players.

A *learning agent* plays games against a *teaching agent*: its twin, a Min-Max agent, a random one,
or a converged and frozen table. Read ``networks.table_games.play_game`` and :func:`learn` with
Algorithm 1.
"""

from collections import namedtuple
from functools import cached_property

import numpy as np

from ..checks import whole as check_whole
from ..files import out_of_range
from ..kernel.compile import kernel
from ..kernel.functions import exp, log
from ..kernel.random import seed_from
from ..networks.table import NONE, QTable, best_value, full
from ..networks.table_games import (
    DONE,
    GREEDY,
    GREEDY_FIRST,
    MISSING,
    NO_SEAT,
    PLIES,
    RANDOM,
    TABLE_FULL,
    TRACE_FULL,
    Policy,
    Side,
    new_trace,
    new_work,
    note,
    play_contest,
    play_game,
    q_table,
)
from ..search.best_moves import min_max_side
from . import parameters
from .parameters import choice, fraction, number, ramp, whole
from .session import EPISODES, MOVES, UPDATES, BaseSession

__all__ = ["Session"]

NAME = "tabular"
VERSION = 1  # raise it when the numbers of a training change
FIRST_TRACE = 256  # decisions for which a trace has room at first
WON, DRAWN, LOST = range(3)  # in outcomes

TEACHERS = ("twin", "deterministic", "non-deterministic", "random", "converged")
PARAMETERS = {
    "alpha": fraction(0.4, "step size (the paper's learning factor)"),
    "gamma": fraction(0.9, "discount factor"),
    "epsilon": ramp(0.3, "random move rate of the learner, constant or [first, last]", 0.0, 1.0),
    "epsilon_games": whole(8_000, "training games in which epsilon goes from first to last", 1),
    "epsilon_schedule": choice(("linear", "geometric"), "how it goes there"),
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
ALIKE = ("alpha", "gamma", "epsilon", "epsilon_games", "epsilon_schedule", "win_reward")
ALIKE += ("loss_reward", "draw_reward", "twin", "initial_q", "last_move", "ties")


def compile_parameters(params: dict) -> Par:
    """Return checked parameters as kernels read them."""
    return Par(**parameters.kernel_values(PARAMETERS, params))


@kernel
def play_and_learn(rules, table, teacher, teacher_table, par, counters, outcomes, work, trace, end):
    """Play games and learn from each, until `end` games have been played in all.

    Source: [jamieson2022] Alg. 1; D1, D2, D6, D7.

    Parameters
    ----------
    teacher, teacher_table : Policy, Entries
        How the teaching agent chooses. Of a twin only the owner counts, and the table is `table`.
    counters, outcomes : int64 [3], int64 [2, 3]
        Episodes, moves and updates so far; games that the learner won, drew and lost in each seat.

    Returns
    -------
    int
        DONE, or why this must be called again: see ``play_game``.
    """
    kind = GREEDY_FIRST if par.ties_first else GREEDY
    traces = trace, trace  # one for both sides: the decisions of twins stand in it by turns
    while counters[EPISODES] < end:
        seat = seat_of_learner(par, counters[EPISODES])
        epsilon = exploration(par, counters[EPISODES])
        learner = Policy(kind, 0, epsilon, 0.0)
        # Two calls, because both are inlined: the machine code of each knows who learns.
        if par.teacher_twin:
            policies = learner, Policy(kind, teacher.owner, epsilon, 0.0)
            tables = table, table
            # Twins with the same values are alike: one of them plays both seats, which is faster.
            seat_of_first = seat if par.twin_separate else NO_SEAT
            status = play_game(
                rules, seat_of_first, policies, tables, (True, True), traces, work, False
            )
        else:
            policies = learner, teacher
            tables = table, teacher_table
            status = play_game(rules, seat, policies, tables, (True, False), traces, work, False)
        if status != DONE:
            return status
        learn(table, par, work.score, trace)
        outcomes[seat, outcome(work.score[seat], work.score[1 - seat])] += 1
        counters[EPISODES] += 1
        counters[MOVES] += work.progress[PLIES]
        counters[UPDATES] += trace.length[0]
    return DONE


@kernel
def seat_of_learner(par, games):
    """Return the seat of the learning agent after a number of training games. Deviations: D7."""
    if par.learner_seat_alternate:
        return games % 2
    return np.int64(par.learner_seat_second)


@kernel
def outcome(own, other):
    """Return WON, DRAWN or LOST, of a game with these scores."""
    if own > other:
        return WON
    if own == other:
        return DRAWN
    return LOST


@kernel
def exploration(par, games):
    """Return epsilon after a number of training games. Deviations: D2."""
    x = min(games / par.epsilon_games, 1.0)
    if par.epsilon_schedule_geometric:
        return par.epsilon_first * exp(x * log(par.epsilon_last / par.epsilon_first))
    return par.epsilon_first + (par.epsilon_last - par.epsilon_first) * x


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
    game = q_table(net).game
    checked = parameters.check_parameters(PARAMETERS, params)
    state = game.start()
    trace = new_trace(max(1, len(actions)))
    for action in actions:
        following = game.play(state, action)  # raises if it is not legal
        if game.player(state) == player:
            while full(net.table):
                net.grow()
            key = np.array(game.key(state), np.uint64)
            num_legal = len(game.legal(state))
            note(net.table, trace, net.owner, key, int(action), player, num_legal)
        state = following
    if not game.over(state):
        raise ValueError(f"this game of {game.name} is not over after {len(actions)} moves")
    learn(net.table, compile_parameters(checked), game.score(state), trace)


class Session(BaseSession):
    """One training run, of a table in a game of two players: see :class:`BaseSession`.

    Source: [jamieson2022] Alg. 1. Deviations: see data/papers/jamieson2022.yaml.
    """

    parameters = PARAMETERS
    growing = ("keys", "owner", "newest", "action", "older", "q", "snapshot_counts", "snapshot_q")

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        self.snapshots = self.params["snapshots"]
        self.par = compile_parameters(self.params)
        if self.par.epsilon_schedule_geometric and not (
            self.par.epsilon_first > 0.0 and self.par.epsilon_last > 0.0
        ):
            raise ValueError(
                f"epsilon={self.params['epsilon']!r} never reaches 0 by equal factors: with"
                " epsilon_schedule='geometric' both ends must be above 0, such as [1.0, 0.01]"
            )
        self.work = new_work(game, seed)
        self.net = QTable(game, 0, self.params["initial_q"], self.params["ties"])
        self.net.outcomes = np.zeros((2, 3), np.int64)
        self.counters = np.zeros(3, np.int64)
        self.trace = new_trace(FIRST_TRACE)

    @cached_property
    def teacher(self) -> Side:
        """The teaching agent; a converged one is trained when it is first asked for."""
        kind = self.params["teacher"]
        if kind == "twin":
            return self.twin
        if kind == "random":
            teacher = Side(Policy(RANDOM, 0, 0.0, 0.0), QTable(self.game))
        elif kind == "converged":
            teacher = greedy_side(self._converged_table())
        else:
            ties = "first" if kind == "deterministic" else "random"
            depth = self.params["minimax_depth"]
            epsilon = float(self.params["teacher_epsilon"])
            teacher = min_max_side(self.game, ties, depth, epsilon)
        self.net.teacher = teacher
        return teacher

    @property
    def twin(self) -> Side:
        """The second of two agents that learn, or the first once more, where both share values."""
        return greedy_side(self.net, owner=int(self.par.twin_separate))

    def _converged_table(self) -> QTable:
        """Train a teacher with its own twin, and return its table. Deviations: D10, D11."""
        in_common = {name: self.params[name] for name in ALIKE}
        training = Session(self.game, in_common, seed_from(self.seed, "teacher"))
        games = self.params["teacher_games"]
        every = self.params["teacher_every"]
        if every:
            return training.unbeaten(games, every, self.params["teacher_extra"])
        training.train(games)
        return training.net

    def unbeaten(self, games: int, every: int, extra: int) -> QTable:
        """Train until `extra` games passed without a loss at a checkpoint; return what began them.

        Failing that, what went longest, or the last if all checkpoints have a loss.
        Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D11.
        """
        best = self.net
        longest = -1  # games that passed from `best` on
        begin = None  # the table at the first checkpoint of the present series without a loss
        while longest < extra and self.episode < games + extra:
            self.train(every)
            if self.self_losses():
                begin = None
                continue
            if begin is None:
                begin = self.net.copy()
            length = self.episode - begin.episode
            if length > longest:
                best = begin
                longest = length
        best.unbeaten = max(0, longest)
        return best

    def self_losses(self, games: int = 100) -> int:
        """Return how many of some greedy games as first the table loses against itself."""
        seed = seed_from(self.seed, "checkpoint", self.episode)
        return play_contest(self.game, greedy_side(self.net), self.twin, games, seed).losses

    def play_until(self, episode: int) -> None:
        """Play and learn until `episode` games have been played."""
        teacher = self.teacher
        status = None
        while status != DONE:
            status = play_and_learn(
                self.game.rules,
                self.net.table,
                teacher.policy,
                teacher.net.table,
                self.par,
                self.counters,
                self.net.outcomes,
                self.work,
                self.trace,
                episode,
            )
            if status == TABLE_FULL:
                self.net.grow()
            elif status == TRACE_FULL:
                self.trace = new_trace(2 * len(self.trace.player), self.trace)
            elif status == MISSING:
                teacher.net.add(self.work.state)
        self.net.episode = episode

    def statistics(self) -> dict:
        """Return counts so far; entries are pairs of state and action that were tried."""
        return {
            "episodes": self.episode,
            "moves": self.moves,
            "updates": int(self.counters[UPDATES]),
            "states": self.net.states,
            "entries": self.net.entries,
        }

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        counts = []
        values = [np.zeros(0)]
        for episode, (count, q) in sorted(self.net.snapshots.items()):
            counts.append([episode, *count])
            values.append(q)
        return {
            "rng": self.work.rng,
            "counters": self.counters,
            "outcomes": self.net.outcomes,
            **self.net.arrays(),
            "snapshot_counts": np.array(counts, np.int64).reshape(-1, 3),
            "snapshot_q": np.concatenate(values),
        }

    def load_growing(self, arrays: dict) -> None:
        """Take over table and snapshots; raises ValueError if they do not fit this run."""
        counts = arrays["snapshot_counts"]  # rows of episode, states, entries
        values = arrays["snapshot_q"]
        episode = int(arrays["counters"][EPISODES])
        limits = np.array([episode, len(arrays["keys"]), len(arrays["q"])])
        beyond = out_of_range({"counts": counts}, {"counts": (0, limits + 1)})
        are_asked_for = set(counts[:, 0].tolist()) <= set(self.snapshots)
        if beyond or not are_asked_for or counts[:, 2].sum() != len(values):
            raise ValueError("the checkpoint does not fit this run: it has other snapshots")
        self.net.load_arrays(arrays)
        self.net.snapshots = {}
        parts = np.split(values, np.cumsum(counts[:, 2])[:-1])
        for row, part in zip(counts, parts):
            self.net.snapshots[int(row[0])] = row[1:].copy(), part.copy()
        self.net.episode = episode
        self.work.progress[:] = 0
        _ = self.teacher  # made now: an evaluation asks the table for it


def greedy_side(net: QTable, owner: int = 0) -> Side:
    """Return the side that is greedy in the values of one of the learners of a table."""
    kind = GREEDY_FIRST if net.ties == "first" else GREEDY
    return Side(Policy(kind, owner, 0.0, 0.0), net)
