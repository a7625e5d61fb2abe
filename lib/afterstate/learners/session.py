"""What the training sessions of all learners do alike: pieces of training, counts, checkpoints."""

import math
import time

import numpy as np

from ..checks import whole
from ..games.calls import allocate
from ..games.game import check_game
from ..kernel.random import new_rng
from ..networks.ntuple import Network, make_tuples
from ..players.saved import save

EPISODES, MOVES = range(2)  # the first counters of every session
UPDATES, TRUNCATED = range(2, 4)  # of a session with an n-tuple network
CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks
LONGEST = 200_000  # moves of an episode that nobody limits; 2048 comes to some 50,000


def check_episodes(number) -> int:
    """Return a number of episodes to play; raises ValueError unless it is whole, not negative."""
    return whole("the number of episodes", number, 0)


def next_chunk(chunk: int, seconds: float, aim: float) -> int:
    """Return how many episodes to play next, if `chunk` of them took `seconds`, to take `aim`."""
    return 2 * chunk if seconds < aim / 2 else max(1, chunk // 2) if seconds > 2 * aim else chunk


class BaseSession:
    """One training run of a learner, ``Session(game, params, seed)``: what all have in common.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint. A learner sets `game`, `params`, `net` and `counters`, and has ``play_until``,
    ``state_dict`` and, for what grows, ``load_growing(arrays)``.

    Parameters
    ----------
    game : Game
    params : dict
        Any of the learner's ``PARAMETERS``; its ``DEFAULTS`` hold the rest.
    seed : int
        Everything random in the run derives from it.

    Raises ValueError if a parameter is unknown or out of its range, or does not fit the game.
    """

    snapshots = ()  # episodes after which `keep_snapshot` is called
    growing = ()  # arrays of a checkpoint whose length changes while it learns

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` episodes; Ctrl-C stops between two of them.

        Raises ValueError for a bad number, FloatingPointError if the values diverge, and
        RuntimeError if an episode goes on and on: a cube, say, that is never solved.
        """
        goal, chunk = self.episode + check_episodes(num_episodes), 1
        while self.episode < goal:
            began = time.perf_counter()
            kept = [episode for episode in self.snapshots if episode > self.episode]
            stop = min([self.episode + chunk, goal, *kept])
            chunk = stop - self.episode
            self.net.trainings += 1  # before the values change: Ctrl-C may come in between
            self.play_until(stop)
            if stop in self.snapshots:
                self.keep_snapshot()
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    def save(self, path, note: str = "") -> None:
        """Write what was learned with its card to an ``.npz`` file, for ``players.load``."""
        save(path, self, note)

    @property
    def episode(self) -> int:
        """Episodes played so far."""
        return int(self.counters[EPISODES])

    @property
    def moves(self) -> int:
        """Moves made so far, by all players, over all episodes."""
        return int(self.counters[MOVES])

    def load_state_dict(self, arrays: dict) -> None:
        """Take over the arrays of a checkpoint; raises ValueError if they do not fit this run."""
        found, own = {}, self.state_dict()
        for name, array in own.items():
            new = found[name] = arrays[name] if name in arrays else np.zeros(0, object)
            first = name in self.growing
            alike = new.ndim == array.ndim and new.shape[first:] == array.shape[first:]
            if not alike or new.dtype != array.dtype:
                raise ValueError(
                    f"the checkpoint does not fit this run: its array {name!r} should be"
                    f" {array.dtype}{list(array.shape)}"
                )
        if self.growing:
            self.load_growing(found)
        self.net.trainings += 1
        for name in own.keys() - set(self.growing):
            own[name][...] = found[name]

    def keep_snapshot(self) -> None:
        """Keep what was learned as it is now."""
        self.net.keep_snapshot()


class NetworkSession(BaseSession):
    """A training run of an n-tuple network: by TD-learning, SARSA, Q-learning.

    A learner sets `par`, `mem` and `counters`.
    """

    run_episodes = None  # the kernel: rules, net, par, mem, num_episodes
    checkpoint = ()  # the arrays of `mem` that one holds
    per_action = False  # whether the network has values of actions

    def __init__(self, game, params, seed):
        self.game, self.params, self.rng = check_game(game), params, new_rng(seed)
        self.net = Network(
            game,
            make_tuples(game, params["tuples"], self.rng),
            sigmoid=params["sigmoid"],
            distinct_symmetries=params["distinct_symmetries"],
            tc_init=float(params["tc_init"]) if params["tc"] != "none" else 0.0,
            precision=params["precision"],
            per_action=self.per_action,
        )

    def allocate(self, declared: dict, **sizes) -> dict:
        """Return the declared arrays of this training, all zero but the generator."""
        game, net = self.game, self.net.arrays
        sizes |= {"features": len(net.offset), "weights": net.weights.dtype}
        sizes |= {"ring": self.par.trace_size + 1, "path": max(1, game.rules.start_plies)}
        sizes |= {"symmetries": len(game.symmetries)}
        return allocate(declared, game, **sizes) | {"rng": self.rng}

    def play_until(self, episode: int) -> None:
        """Play and learn until `episode` episodes have been played."""
        limited = self.par.max_plies > 0
        par = self.par if limited else self.par._replace(max_plies=LONGEST)
        truncated = self.counters[TRUNCATED]
        rules, net = self.game.rules, self.net.arrays
        self.run_episodes(rules, net, par, self.mem, episode - self.episode)
        if not math.isfinite(self.mem.abs_delta[0]):
            raise FloatingPointError(
                f"the values have diverged before episode {self.episode}: lower"
                f" alpha={self.params['alpha']!r}, or use sigmoid=True"
            )
        if not limited and self.counters[TRUNCATED] > truncated:
            raise RuntimeError(
                f"an episode of {self.game.name} did not end within {LONGEST:,} moves: give"
                " the learner max_plies, after which an episode is truncated"
            )

    def statistics(self) -> dict:
        """Return counts so far, the mean absolute TD error, and shares of all players' weights.

        Active ones are not 0; touched ones (with temporal coherence) have a counter A that grew.
        """
        updates, a = int(self.counters[UPDATES]), self.net.arrays.counters[1::2]
        found = {
            "episodes": self.episode,
            "moves": self.moves,
            "updates": updates,
            "truncated": int(self.counters[TRUNCATED]),
            "mean_abs_delta": float(self.mem.abs_delta[0]) / max(updates, 1),
            "active_weights": self.net.active(),
        }
        if len(a):
            touched = np.count_nonzero(a > a.dtype.type(self.params["tc_init"]))
            found["touched_weights"] = float(touched / len(a))
        return found

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        net = self.net.arrays
        learned = {"weights": net.weights, "tc_counters": net.counters.reshape(-1, 2)}
        return learned | {name: getattr(self.mem, name) for name in self.checkpoint}
