"""Q-learning with a table of action values: Algorithm 1 of [jamieson2022], for any game of two players.

A *learning agent* plays whole games against a *teaching agent*: its twin, a Min-Max agent, a random
one, or a converged and frozen table. After each game its entries are updated backwards, from its
last decision to its first. Read :func:`play_game` and :func:`learn` with Algorithm 1 beside them.
"""

import time
from typing import NamedTuple

import numpy as np

from ..games.calls import call_chance, call_over, call_play, call_score, call_start
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.random import seed_from
from ..networks.table import NONE, QTable, best_value, full, insert
from ..players.agents import (
    DONE,
    GREEDY,
    MISSING,
    PLIES,
    RUNNING,
    TABLE_FULL,
    TRACE_FULL,
    Agent,
    Side,
    chance,
    choose,
    desk,
    learned,
    look_at,
    min_max,
)
from .parameters import check_parameters, choice, fraction, number, whole
from .session import check_episodes, next_chunk

NAME = "tabular"
VERSION = 1  # raise it when the numbers of a training change

FIRST_TRACE = 256
CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks
EPISODES, MOVES, UPDATES = range(3)
TEACHERS = ("twin", "deterministic", "non-deterministic", "random", "converged")

PARAMETERS = {
    "alpha": fraction("step size (the paper's learning factor)"),
    "gamma": fraction("discount factor"),
    "epsilon": fraction("random move rate of the learning agent, constant"),
    "teacher": choice(
        TEACHERS,
        "who it plays against: its twin, Min-Max with first legal or random best move, a random"
        " agent, or a frozen converged table",
    ),
    "teacher_games": whole(1, "games that the converged teacher has learned from its own twin"),
    "teacher_epsilon": fraction("random move rate of a Min-Max teacher"),
    "minimax_depth": whole(0, "look-ahead of Min-Max in actions; 0 = to the end of the game"),
    "snapshots": choice(None, "list of episodes after which the table is kept"),
    # deviations: the points where the text is silent, see data/papers/jamieson2022.yaml
    "win_reward": number(None, None, "reward of the last move of a won game"),
    "loss_reward": number(None, None, "the same of a lost game"),
    "draw_reward": number(None, None, "the same of a draw"),
    "twin": choice(
        ("shared", "separate"),
        "one table for both seats, or one for each of two agents, who swap seats",
    ),
    "learner_seat": choice(
        ("alternate", "first", "second"),
        "seat of the learning agent; alternate: first in games 1, 3, 5 ...",
    ),
}
DEFAULTS = {
    "alpha": 0.4,
    "gamma": 0.9,
    "epsilon": 0.3,
    "teacher": "twin",
    "teacher_games": 8_000,
    "teacher_epsilon": 0.0,
    "minimax_depth": 0,
    "snapshots": [],
    "win_reward": 1.0,
    "loss_reward": -1.0,
    "draw_reward": 0.0,
    "twin": "shared",
    "learner_seat": "alternate",
}


class Par(NamedTuple):
    """The parameters as kernels read them."""

    alpha: float
    gamma: float
    epsilon: float
    win: float
    loss: float
    draw: float
    both_learn: bool  # the teacher is the twin
    separate: bool  # ... with a table of its own
    alternate: bool
    seat: int  # of the learning agent, if it does not alternate


class Trace(NamedTuple):
    """The decisions of the learning agents in the present game."""

    # fmt: off
    player: np.ndarray  # int32 [size]
    state: np.ndarray   # int32 [size]: state number in the table
    entry: np.ndarray   # int32 [size]
    legal: np.ndarray   # int32 [size]: number of legal actions there
    length: np.ndarray  # int64 [1]
    follow: np.ndarray  # int64 [2]: of each player, the decision after the one that is updated
    # fmt: on


@kernel
def play_game(rules, table, teacher, teacher_table, par, counters, at, trace):
    """Play one training game and learn from it.

    Return DONE, or why it must be called again after Python has made room or searched.

    Source: [jamieson2022] Alg. 1, lines 5-16. Deviations: D1, D2, D6, D7.
    """
    if at.progress[RUNNING] == 0:
        call_start(rules, at.state, at.rng)  # lines 2-3, 6
        at.progress[RUNNING], at.progress[PLIES], trace.length[0] = 1, 0, 0
    seat = counters[EPISODES] % 2 if par.alternate else par.seat
    while not call_over(rules, at.state):
        t = trace.length[0]
        if full(table):
            return TABLE_FULL
        if t >= trace.player.shape[0]:
            return TRACE_FULL
        p, n = look_at(rules, at)
        if par.both_learn or p == seat:
            owner = np.int64(1) if par.separate and p != seat else np.int64(0)
            # lines 7-8
            action = choose(rules, Side(GREEDY, owner, par.epsilon, 0.0), table, at, n)
            trace.state[t], trace.entry[t] = insert(table, owner, at.key, action)
            trace.player[t], trace.legal[t] = p, n
            trace.length[0] += 1
        else:
            action = choose(rules, teacher, teacher_table, at, n)
            if action < 0:
                return MISSING
        call_play(rules, at.state, action)  # line 16
        call_chance(rules, at.state, at.rng)
        at.progress[PLIES] += 1
    call_score(rules, at.state, at.score)
    learn(table, par, at.score, trace)
    counters[EPISODES] += 1
    counters[MOVES] += at.progress[PLIES]
    counters[UPDATES] += trace.length[0]
    at.progress[RUNNING] = 0
    return DONE


@kernel
def learn(table, par, score, trace):
    """Update the entries of a finished game backwards: the last decision of a player with the reward, the others with 0.9 max Q.

    The next state is the next one in which the same player decides; it has been updated before.

    Source: [jamieson2022] Alg. 1, lines 9-15; Eq. (2); Fig. 1. Deviations: D3, D4, D5.
    """
    trace.follow[0] = trace.follow[1] = NONE
    for t in range(trace.length[0] - 1, -1, -1):  # line 12
        p = trace.player[t]
        after = trace.follow[p]
        if after == NONE:
            own, other = score[p], score[1 - p]
            target = par.win if own > other else par.loss if own < other else par.draw  # lines 9-11
        else:
            target = par.gamma * best_value(table, trace.state[after], trace.legal[after])
        entry = trace.entry[t]
        table.q[entry] = (1.0 - par.alpha) * table.q[entry] + par.alpha * target  # line 14
        trace.follow[p] = t


def learn_from_game(net: QTable, actions, player: int, **params) -> None:
    """Update a table from one finished game, as the learning agent in the seat of `player` would.

    Parameters
    ----------
    net : QTable
    actions : sequence of int
        All moves of the game, from its start to its end.
    player : int, 0 or 1
    params
        Any of ``PARAMETERS`` that an update reads (alpha, gamma, rewards).

    Raises
    ------
    ValueError
        If an action is not legal or the game is not over.

    Source: [jamieson2022] Fig. 1; Alg. 1, lines 9-15.
    """
    game, par = net.game, _compile(check_parameters(PARAMETERS, DEFAULTS, params))
    s, trace = game.start(), _trace(max(1, len(actions)))
    for action in actions:
        after = game.play(s, action)  # raises if it is not legal
        if game.player(s) == player:
            while full(net.table):
                net.grow()
            t = trace.length[0]
            trace.state[t], trace.entry[t] = insert(
                net.table, net.owner, np.array(game.key(s), np.uint64), int(action)
            )
            trace.player[t], trace.legal[t] = player, len(game.legal(s))
            trace.length[0] += 1
        s = after
    if not game.over(s):
        raise ValueError(
            f"this game of {game.name} is not over after {len(actions)} moves: the reward is known"
            " only at its end"
        )
    learn(net.table, par, game.score(s), trace)


@kernel
def _train(rules, table, teacher, teacher_table, par, counters, at, trace, until):
    while counters[EPISODES] < until:
        status = play_game(rules, table, teacher, teacher_table, par, counters, at, trace)
        if status != DONE:
            return status
    return DONE


class Session:
    """One training run: the table of the learning agent, and its teacher.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint.

    Parameters
    ----------
    game : Game
        Of two players.
    params : dict
        Any of ``PARAMETERS``; ``DEFAULTS`` holds the rest.
    seed : int
        Everything random in the run derives from it.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, or the game has not two players.

    Source: [jamieson2022] Alg. 1. Deviations: see data/papers/jamieson2022.yaml.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import tabular
    >>> session = tabular.Session(games.load("tictactoe"), {"teacher": "deterministic"}, seed=1)
    >>> session.train(200)
    >>> session.episode
    200
    """

    def __init__(self, game, params: dict, seed: int = 0):
        check_game(game)
        self.params = check_parameters(PARAMETERS, DEFAULTS, params)
        self.snapshots = _episodes(self.params["snapshots"])
        self.game, self.seed = game, seed
        self.desk = desk(game, seed)
        self.net = QTable(game)
        self.par = _compile(self.params)
        self.counters = np.zeros(3, np.int64)
        self.trace = _trace(FIRST_TRACE)
        self._teacher = None

    @property
    def teacher(self) -> Agent:
        """The teaching agent; a twin is the learning agent itself.

        A converged one is trained when it is first asked for.
        """
        if self._teacher is None:
            self._teacher = self._make_teacher()
            self.net.teacher = None if self.params["teacher"] == "twin" else self._teacher
        return self._teacher

    def _make_teacher(self) -> Agent:
        kind, depth = self.params["teacher"], self.params["minimax_depth"]
        if kind in ("deterministic", "non-deterministic"):
            return min_max(
                self.game,
                "first" if kind == "deterministic" else "random",
                depth,
                self.params["teacher_epsilon"],
            )
        if kind == "random":
            return chance(self.game)
        if kind == "twin":
            return learned(self.net)
        same = {
            name: self.params[name]
            for name in (
                "alpha",
                "gamma",
                "epsilon",
                "win_reward",
                "loss_reward",
                "draw_reward",
                "twin",
            )
        }
        twin = Session(self.game, same, seed_from(self.seed, "teacher"))
        twin.train(self.params["teacher_games"])
        return learned(twin.net)

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` games; Ctrl-C stops between two of them."""
        goal, chunk = self.episode + check_episodes(num_episodes), 1
        while self.episode < goal:
            began = time.perf_counter()
            stop = min(
                [self.episode + chunk, goal] + [e for e in self.snapshots if e > self.episode]
            )
            self._play_until(stop)
            self.net.episode = stop
            if stop in self.snapshots:
                self.net.keep_snapshot()
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    def _play_until(self, episode):
        teacher = self.teacher
        status = None
        while status != DONE:
            status = _train(
                self.game.rules,
                self.net.table,
                teacher.side,
                teacher.net.table,
                self.par,
                self.counters,
                self.desk,
                self.trace,
                episode,
            )
            if status == TABLE_FULL:
                self.net.grow()
            elif status == TRACE_FULL:
                self.trace = _trace(2 * len(self.trace.player), self.trace)
            elif status == MISSING:
                teacher.search.add(self.desk.state)

    @property
    def episode(self) -> int:
        """Games played so far."""
        return int(self.counters[EPISODES])

    @property
    def moves(self) -> int:
        """Moves made so far, by both sides, over all games."""
        return int(self.counters[MOVES])

    def statistics(self) -> dict:
        """Return counts of the run so far: episodes, moves, updates, states in the table and state-action pairs tried."""
        return {
            "episodes": self.episode,
            "moves": self.moves,
            "updates": int(self.counters[UPDATES]),
            "states": self.net.states,
            "entries": self.net.entries,
        }

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies).

        Their lengths grow with the table.
        """
        kept = sorted(self.net.snapshots.items())
        return {
            "rng": self.desk.rng,
            "counters": self.counters,
            **self.net.arrays(),
            "snapshot_counts": (
                np.array([[episode, *count] for episode, (count, _) in kept], np.int64).reshape(
                    -1, 3
                )
            ),
            "snapshot_q": np.concatenate([q for _, (_, q) in kept] or [np.zeros(0)]),
        }

    def load_state_dict(self, arrays: dict) -> None:
        """Take over the arrays of a checkpoint, of whatever size.

        Raises ValueError if they do not fit this run.
        """
        # a checkpoint is read once, array by array
        arrays = {name: arrays[name] for name in self.state_dict() if name in arrays}
        for name, array in (
            ("rng", self.desk.rng),
            ("counters", self.counters),
            ("snapshot_counts", np.zeros((0, 3), np.int64)),
            ("snapshot_q", np.zeros(0)),
        ):
            found = arrays.get(name)
            fixed = found is not None and (
                found.shape == array.shape
                or name.startswith("snapshot")
                and found.shape[1:] == array.shape[1:]
            )
            if not fixed or found.dtype != array.dtype:
                raise ValueError(
                    f"the checkpoint does not fit this run: its array {name!r} should be"
                    f" {array.dtype}{list(array.shape)}"
                )
        counts, q = arrays["snapshot_counts"], arrays["snapshot_q"]
        if counts[:, 2].sum() != len(q) or not set(counts[:, 0].tolist()) <= set(self.snapshots):
            raise ValueError(
                "the checkpoint does not fit this run: its snapshots are not those that this run"
                " keeps"
            )
        self.net.load_arrays(arrays)
        self.desk.rng[:], self.counters[:] = arrays["rng"], arrays["counters"]
        self.desk.progress[:] = 0
        ends = np.cumsum(counts[:, 2])
        self.net.snapshots = {
            int(row[0]): (row[1:].copy(), q[end - row[2] : end].copy())
            for row, end in zip(counts, ends)
        }
        self.net.episode = self.episode
        assert self.teacher  # made now: an evaluation asks the table for it


def _episodes(given) -> tuple:
    if not isinstance(given, (list, tuple)) or any(
        isinstance(e, bool) or not isinstance(e, (int, np.integer)) or e < 1 for e in given
    ):
        raise ValueError(
            f"snapshots={given!r} must be a list of whole numbers of at least 1, the episodes after"
            " which the table is kept"
        )
    return tuple(sorted({int(e) for e in given}))


def _compile(params) -> Par:
    seat = params["learner_seat"]
    return Par(
        float(params["alpha"]),
        float(params["gamma"]),
        float(params["epsilon"]),
        float(params["win_reward"]),
        float(params["loss_reward"]),
        float(params["draw_reward"]),
        params["teacher"] == "twin",
        params["twin"] == "separate",
        seat == "alternate",
        int(seat == "second"),
    )


def _trace(size, old: Trace | None = None) -> Trace:
    """Allocate the trace of a game, with the decisions of a smaller one."""
    new = Trace(
        *(np.zeros(size, np.int32) for _ in range(4)), np.zeros(1, np.int64), np.zeros(2, np.int64)
    )
    for array, before in zip(new[:4], old[:4] if old else ()):
        array[: len(before)] = before
    if old:
        new.length[:] = old.length
    return new
