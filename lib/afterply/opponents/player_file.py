"""Players in Python files, each in a process of its own, with limits of time and memory.

A file calls its player `player`: a function ``state -> action``, or whatever else
:func:`afterply.players.wrap` takes. It is loaded by ``python -m afterply.opponents.player_file``,
which answers questions as an engine does (see `gtp`).

So a player that crashes, hangs, or changes what it finds in memory harms nobody else. **This is no
sandbox**: a file may do whatever your account may, such as delete files or use the network.
"""

import json
import math
import operator
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

import numpy as np

from ..checks import number, whole
from ..games.catalogue import from_file, load_spec
from ..games.game import check_game
from ..identity import sources_behind_file
from ..players.basic import wrap
from .gtp import Engine, EngineError, TooLate

START = 60.0  # seconds to load a file, and for its first move of all: something may be compiled
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}


class Forfeited(EngineError):
    """A player was too late too often: the rest of its matches are not played."""


class Process(Engine):
    """The process of a player, called by the name of its file."""

    late = "it must answer sooner"
    ended = "it ended the process, or its memory was not enough"
    environment = ONE_THREAD

    def __init__(self, path, megabytes):
        self.name = path.name
        program = [sys.executable, "-P", "-m", __name__]  # -P: nothing from where it was started
        super().__init__([*program, str(path), str(megabytes)])

    def error(self, words, kind=EngineError) -> EngineError:
        """Return an error that names the file."""
        return kind(f"{self.name} {words}")


class PlayerFile:
    """The player of a file, in a process that serves all matches until it fails or is stopped.

    A move may take `seconds`, the process `megabytes` of address space, of which the library needs
    about 600. A player that takes more raises EngineError, which costs the match. One that was too
    late as often as its `patience` says begins no other match: it raises Forfeited.
    """

    version = 1
    patience = math.inf

    def __init__(self, path, seconds: float = 5.0, megabytes: int = 2000):
        self.path, self.name = Path(path), Path(path).stem
        if not self.path.is_file():
            raise ValueError(f"there is no file {path}")
        self.seconds = number("seconds for a move", seconds, 1e-3)
        self.megabytes = whole("megabytes of a player", megabytes, 600)
        self.process, self.tried, self.late = None, False, 0

    def __getstate__(self):
        return self.__dict__ | {"process": None}

    @property
    def identity(self) -> dict:
        """What tells it from others: its file with the modules that it imports, and its limits."""
        sources = sources_behind_file(self.path)
        limits = {"seconds": self.seconds, "megabytes": self.megabytes}
        return {"player": "PlayerFile", "version": self.version, "sources": sources, **limits}

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; start the process if it does not run.

        ValueError for a home-made game that is in no file of its own: the process has to load it.
        """
        if check_game(game, self.name).spec is None and game.file is None:
            raise ValueError(f"{self.name} plays games of the package or of a file, not {game!r}")
        if self.late >= self.patience:
            times = f"was too late {self.patience} times"
            raise Forfeited(f"{self.path.name} {times}: this match was not played")
        if self.process is None or not self.process.stop.alive:
            self.process = Process(self.path, self.megabytes)
        self.seen = []
        given = [game.spec or game.file, list(map(int, actions_from_start)), seat, seed]
        self._ask(START, f"begin {json.dumps(given)}")

    def choose(self, state) -> int:
        """Return the player's move."""
        seconds, self.tried = self.seconds if self.tried else max(START, self.seconds), True
        seen, self.seen = self.seen, []
        return self._ask(seconds, *seen, f"choose {json.dumps([state.tolist()])}")

    def observe(self, action, state):
        """Remember a move, of which the player hears when it is asked next."""
        self.seen.append(f"observe {json.dumps([int(action), state.tolist()])}")

    def stop(self):
        """End the process; the next match starts another one, which may compile once more."""
        if self.process is not None:
            self.process.stop()
        self.tried = False

    def _ask(self, seconds, *commands):
        self.process.timeout = seconds
        try:
            answer, error = json.loads(self.process.ask(*commands))
        except TooLate:
            self.late += 1
            raise
        if error:
            raise RuntimeError(error)  # of the player; its process goes on
        return answer


class _Here:
    """The player in its own process."""

    def __init__(self, path):
        self.path, self.game, self.spec, self.player = path, None, None, None

    def begin(self, spec, actions, seat, seed):
        if self.player is None:
            sys.path.insert(0, os.path.dirname(os.path.abspath(self.path)))
            names = runpy.run_path(self.path)
            if "player" not in names:
                raise ValueError("the file defines no `player`, such as a function player(state)")
            self.player = wrap(names["player"])
        if self.spec != spec:
            self.spec, is_file = spec, isinstance(spec, list)
            self.game = from_file(*spec[:2], **spec[2]) if is_file else load_spec(spec)
        self.player.new_match(self.game, actions, seat, seed)

    def choose(self, state):
        return operator.index(self.player.choose(np.array(state, np.int32)))

    def observe(self, action, state):
        if hasattr(self.player, "observe"):
            self.player.observe(action, np.array(state, np.int32))

    def answer(self, line) -> str:
        word, _, content = line.partition(" ")
        try:
            return json.dumps([getattr(self, word)(*json.loads(content)), ""])
        except BaseException as error:  # SystemExit, too
            frames = [
                f.lineno
                for f in traceback.extract_tb(error.__traceback__)
                if f.filename == self.path
            ]
            where = f", line {frames[-1]}" if frames else ""
            return json.dumps([None, f"{type(error).__name__}: {error}{where}"])


def main(path, megabytes):
    """Answer questions until there are no more."""
    import resource  # which some systems lack

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks, who ends this
    limit = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    answers, questions = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what the player reads and prints is no part of the match
        os.dup2(nothing, stream)
    here = _Here(path)
    for line in questions:
        print("=", here.answer(line), end="\n\n", file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
