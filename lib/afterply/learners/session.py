"""What the training sessions of all learners do alike: pieces of training, counts, checkpoints."""

import reprlib
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..checks import count, seed_number
from ..files import Archive, damaged, out_of_range
from ..games.game import check_game
from ..networks.agent_file import STATE, game_of, learner_version, save
from .parameters import check_parameters

__all__ = ["BaseSession"]

EPISODES, MOVES, UPDATES, TRUNCATED = range(4)  # the counters of a session
CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks


def check_episodes(number) -> int:
    """Return a number of episodes to play; ValueError unless it is whole, not negative."""
    return count("the number of episodes", number, 0)


def next_chunk(chunk: int, seconds: float, aim: float) -> int:
    """Return how many episodes to play next, if `chunk` of them took `seconds`, to take `aim`."""
    if seconds < aim / 2:
        return 2 * chunk
    if seconds > 2 * aim:
        return max(1, chunk // 2)
    return chunk


class BaseSession:
    """One training run of a learner: what all have in common.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint. A learner names its `parameters`, sets `net` and `counters`, and has ``play_until``,
    ``state_dict`` and, for what grows, ``load_growing(arrays)``.

    Parameters
    ----------
    game : Game
    params : dict, optional
        All parameters of the learner; those left out have its ``DEFAULTS``. Without it they are as
        usual in the game: for a learner with n-tuples as its file states, ``game.settings``, which
        a dictionary must not leave out.
    seed : int
        Everything random derives from it.
    changed
        Parameters by name that are to be otherwise, and keep the others: ``Session(game,
        alpha=2.0)``, or ``Session(game, DEFAULTS, alpha=2.0)``.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, or does not fit the game.
    """

    parameters = {}  # of the learner, as declared
    snapshots = ()  # episodes after which the network keeps its values
    growing = ()  # arrays of a checkpoint whose length changes while it learns
    # [low, high) of the numbers in arrays of a checkpoint, which address others; all are finite
    limits = {"counters": (0, 2**62)}

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        self.game = check_game(game)
        self.seed = seed_number(seed)
        self.params = check_parameters(self.parameters, params, game, changed)

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` episodes; Ctrl-C stops between two of them.

        FloatingPointError if the values diverge, RuntimeError if an episode goes on and on.
        """
        goal = self.episode + check_episodes(num_episodes)
        chunk = 1
        while self.episode < goal:
            began = time.perf_counter()
            snapshots_ahead = [episode for episode in self.snapshots if episode > self.episode]
            stop = min([self.episode + chunk, goal, *snapshots_ahead])
            chunk = stop - self.episode
            self.net.trainings += 1  # before the values change: Ctrl-C may come in between
            self.play_until(stop)
            if stop in self.snapshots:
                self.net.keep_snapshot()
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    def save(self, path, note: str = "", resumable: bool = False) -> None:
        """Write what was learned with its card to an ``.npz`` file, for ``players.load``.

        A `resumable` file is larger and also serves :meth:`load`.
        """
        save(path, self, note, resumable)

    @classmethod
    def load(cls, path, game=None):
        """Return the session in a file of ``save(path, resumable=True)``, to go on bit for bit.

        The game is as in ``players.load``. ValueError if the file cannot be gone on with.
        """
        file = Archive(path, prefix=STATE)
        card = file.meta.get("card", {})
        if not file.names:
            raise ValueError(f"{path} holds no training to go on with: save(path, resumable=True)")
        learner = cls.__module__.rpartition(".")[2]
        if card["learner"] != learner:
            raise ValueError(f"{path} holds a session of {card['learner']}, not of {learner}")
        # files of before November 2026 say none: they were made by the first versions
        trained_by, present = card.get("version", 1), learner_version(cls)
        if trained_by != present:
            raise ValueError(
                f"{path} was trained by {learner} version {trained_by}, and this is {present}: it"
                " can be played (players.load), but not gone on with"
            )
        if game is None:
            game = game_of(path, file.meta)
        if file.meta["game"] != game.identity:
            raise ValueError(f"{path} holds a session of {file.meta['game']}, not of {game!r}")
        if file.num_bytes(file.names) > Path(path).stat().st_size:
            raise damaged(path, "its training is compressed, which `save` does not do")
        session = cls(game, card["parameters"], card["seed"])
        session.load_state_dict({name: file[name] for name in file.names})
        return session

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
        if not isinstance(arrays, (Mapping, Archive)):
            raise TypeError(f"a checkpoint is a dictionary of arrays, not {arrays!r}")
        present = self.state_dict()
        checked = {}
        for name, array in present.items():
            # `arrays` may be a file, which has no method `get`
            checked[name] = arrays[name] if name in arrays else None
            self._check_array(name, checked[name], array)
        wrong = out_of_range(checked, self.limits)
        if wrong:
            raise ValueError(f"the checkpoint does not fit this run: numbers in its {wrong!r}")
        if self.growing:
            self.load_growing(checked)
        self.net.trainings += 1
        for name in present.keys() - set(self.growing):
            present[name][...] = checked[name]

    def _check_array(self, name, new, present):
        """Raise ValueError unless an array has type and shape of the present one.

        Of an array that grows only the first dimension may be different.
        """
        first = 1 if name in self.growing else 0
        is_right = (
            isinstance(new, np.ndarray)
            and new.dtype == present.dtype
            and new.ndim == present.ndim
            and new.shape[first:] == present.shape[first:]
        )
        if not is_right:
            raise ValueError(
                f"the checkpoint does not fit this run: its array {name!r} should be"
                f" {present.dtype}{list(present.shape)}, not {reprlib.repr(new)}"
            )
