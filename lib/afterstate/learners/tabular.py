"""Q-learning with a table of action values, Algorithm 1 of [jamieson2022], for two players.

A *learning agent* plays whole games against a *teaching agent*: its twin, a Min-Max agent, a random
one, or a converged and frozen table. After each game its entries are updated backwards, from its
last decision to its first. Read :func:`play_game` and :func:`learn` with Algorithm 1 beside them.
"""

import time

import numpy as np

from ..checks import is_whole
from ..games.calls import call_chance, call_over, call_play, call_score, call_start
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.random import seed_from
from ..networks.table import NONE, QTable, best_value, full, insert
from ..players.agents import (
    DONE,
    MISSING,
    PLIES,
    RUNNING,
    TABLE_FULL,
    TRACE_FULL,
    Agent,
    Policy,
    chance,
    choose,
    learned,
    look_at,
    min_max,
    new_work,
)
from ..players.checks import q_table
from ..players.saved import save
from .parameters import check_parameters
from .session import check_episodes, next_chunk
from .tabular_memory import new_trace
from .tabular_parameters import DEFAULTS as DEFAULTS
from .tabular_parameters import PARAMETERS, compile_parameters, snapshot_episodes

NAME = "tabular"
VERSION = 1  # raise it when the numbers of a training change

FIRST_TRACE = 256
CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks
EPISODES, MOVES, UPDATES = range(3)


@kernel
def play_game(rules, table, teacher, teacher_table, par, counters, outcomes, work, trace):
    """Play one training game and learn from it.

    Return DONE, or why it must be called again after Python has made room or searched.

    Source: [jamieson2022] Alg. 1, lines 5-16. Deviations: D1, D2, D6, D7.
    """
    if work.progress[RUNNING] == 0:
        call_start(rules, work.state, work.rng)  # lines 2-3, 6
        work.progress[RUNNING], work.progress[PLIES], trace.length[0] = 1, 0, 0
    seat = counters[EPISODES] % 2 if par.alternate else par.seat
    while not call_over(rules, work.state):
        t = trace.length[0]
        if full(table):
            return TABLE_FULL
        if t >= trace.player.shape[0]:
            return TRACE_FULL
        p, n = look_at(rules, work)
        if par.both_learn or p == seat:
            owner = np.int64(1) if par.separate and p != seat else np.int64(0)
            # lines 7-8
            action = choose(rules, Policy(par.kind, owner, par.epsilon, 0.0), table, work, n)
            trace.state[t], trace.entry[t] = insert(table, owner, work.key, action)
            trace.player[t], trace.legal[t] = p, n
            trace.length[0] += 1
        else:
            action = choose(rules, teacher, teacher_table, work, n)
            if action < 0:
                return MISSING
        call_play(rules, work.state, action)  # line 16
        call_chance(rules, work.state, work.rng)
        work.progress[PLIES] += 1
    call_score(rules, work.state, work.score)
    learn(table, par, work.score, trace)
    own, other = work.score[seat], work.score[1 - seat]
    outcomes[seat, 0 if own > other else 1 if own == other else 2] += 1
    counters[EPISODES] += 1
    counters[MOVES] += work.progress[PLIES]
    counters[UPDATES] += trace.length[0]
    work.progress[RUNNING] = 0
    return DONE


@kernel
def learn(table, par, score, trace):
    """Update the entries of a finished game backwards.

    The last decision of a player is updated with the reward, or set to it; the others are updated
    with gamma max Q. The next state is the next one in which the same player decides; it has been
    updated before.

    Source: [jamieson2022] Alg. 1, lines 9-15; Eq. (2); Fig. 1. Deviations: D3, D4, D5, D21.
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
        if par.set_last and after == NONE:
            table.q[entry] = target
        else:
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
        If an action is not legal, the game is not over, or there is no such player.

    Source: [jamieson2022] Fig. 1; Alg. 1, lines 9-15.
    """
    q_table(net)
    if not is_whole(player) or player not in (0, 1):
        raise ValueError(f"player={player!r} must be the seat of the learning agent, 0 or 1")
    game, par = net.game, compile_parameters(check_parameters(PARAMETERS, params))
    s, trace = game.start(), new_trace(max(1, len(actions)))
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
def _train(rules, table, teacher, teacher_table, par, counters, outcomes, work, trace, until):
    while counters[EPISODES] < until:
        status = play_game(
            rules, table, teacher, teacher_table, par, counters, outcomes, work, trace
        )
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
        self.params = check_parameters(PARAMETERS, params)
        self.snapshots = snapshot_episodes(self.params["snapshots"])
        self.game, self.seed = game, seed
        self.work = new_work(game, seed)
        self.net = QTable(game, 0, self.params["initial_q"], self.params["ties"])
        self.net.outcomes = np.zeros((2, 3), np.int64)
        self.par = compile_parameters(self.params)
        self.counters = np.zeros(3, np.int64)
        self.trace = new_trace(FIRST_TRACE)
        self._teacher = None

    def save(self, path, note: str = "") -> None:
        """Write the table with its card to an ``.npz`` file, for ``players.load``."""
        save(path, self, note)

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
                "initial_q",
                "last_move",
                "ties",
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
            self.net.trainings += 1
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
                teacher.kernel_policy,
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
                teacher.search.add(self.work.state)

    @property
    def episode(self) -> int:
        """Games played so far."""
        return int(self.counters[EPISODES])

    @property
    def moves(self) -> int:
        """Moves made so far, by both sides, over all games."""
        return int(self.counters[MOVES])

    def statistics(self) -> dict:
        """Return counts so far: episodes, moves, updates, states, and state-action pairs tried."""
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
            "rng": self.work.rng,
            "counters": self.counters,
            "outcomes": self.net.outcomes,
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
            ("rng", self.work.rng),
            ("counters", self.counters),
            ("outcomes", self.net.outcomes),
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
        self.work.rng[:], self.counters[:] = arrays["rng"], arrays["counters"]
        self.net.outcomes[:] = arrays["outcomes"]
        self.work.progress[:] = 0
        ends = np.cumsum(counts[:, 2])
        self.net.snapshots = {
            int(row[0]): (row[1:].copy(), q[end - row[2] : end].copy())
            for row, end in zip(counts, ends)
        }
        self.net.episode = self.episode
        assert self.teacher  # made now: an evaluation asks the table for it
