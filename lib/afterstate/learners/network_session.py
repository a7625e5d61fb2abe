"""The session of a learner that trains an n-tuple network, for TD-learning, SARSA, Q-learning."""

import math
import time

import numpy as np

from ..players.saved import save
from .session import check_episodes, next_chunk
from .td_memory import CHECKPOINT, EPISODES, MOVES, TRUNCATED, UPDATES

CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks
LONGEST = 200_000  # moves of an episode that nobody limits; 2048 comes to some 50,000


class NetworkSession:
    """Base of sessions.

    A learner adds the constructor, which sets `game`, `params`, `net`, `par` and `mem`.

    ``run_episodes(rules, net, par, mem, num_episodes)`` is the learner's kernel.
    """

    run_episodes = None
    checkpoint = CHECKPOINT  # the arrays of `mem` that a checkpoint holds

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` episodes; Ctrl-C stops between two of them.

        Raises RuntimeError if an episode goes on and on: a cube, say, that is never solved.
        """
        num_episodes, chunk = check_episodes(num_episodes), 1
        limited = self.par.max_plies > 0
        par = self.par if limited else self.par._replace(max_plies=LONGEST)
        truncated = self.mem.counters[TRUNCATED]
        while num_episodes > 0:
            chunk, began = min(chunk, num_episodes), time.perf_counter()
            self.net.trainings += 1  # before the weights change: Ctrl-C may come in between
            self.run_episodes(self.game.rules, self.net.arrays, par, self.mem, chunk)
            if not math.isfinite(self.mem.abs_delta[0]):
                raise FloatingPointError(
                    f"the values have diverged before episode {self.episode}: lower"
                    f" alpha={self.params['alpha']!r}, or use sigmoid=True"
                )
            if not limited and self.mem.counters[TRUNCATED] > truncated:
                raise RuntimeError(
                    f"an episode of {self.game.name} did not end within {LONGEST:,} moves: give"
                    " the learner max_plies, after which an episode is truncated"
                )
            num_episodes -= chunk
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    def save(self, path, note: str = "") -> None:
        """Write what was learned with its card to an ``.npz`` file, for ``players.load``."""
        save(path, self, note)

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

        They are episodes, moves, updates, truncated episodes, mean absolute TD error and shares.
        Active weights are those that are not 0; touched ones (with temporal coherence) have a
        counter A above its start. Both are shares of all entries of all players' sets.
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
        } | {name: getattr(self.mem, name) for name in self.checkpoint}

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
        self.net.trainings += 1
        for name, array in own.items():
            array[...] = arrays[name]
