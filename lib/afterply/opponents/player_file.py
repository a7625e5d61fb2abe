"""Players in Python files, each in a process of its own, with limits of time and memory.

A file calls its player `player`: a function ``state -> action``, or whatever else
:func:`afterply.players.wrap` takes. It is loaded by ``python -m afterply.opponents.player_file``,
which answers questions as an engine does (see `gtp`).

So a player that crashes, hangs, or changes what it finds in memory harms nobody else. What it
starts ends with it; on Linux also what has left its group, unless that has another environment.
**This is no sandbox**: a file may do whatever your account may, such as delete files or use the
network.
"""

import json
import math
import operator
import os
import runpy
import signal
import sys
import traceback

import numpy as np

from ..checks import number, whole
from ..checks import path as checked_path
from ..foreign import printable
from ..games.catalogue import from_file, load_spec
from ..games.game import check_game
from ..identity import sources_behind_file
from ..players.basic import wrap
from .gtp import Engine, EngineError, TooLate

START = 60.0  # seconds to load a file, and for its first move of all: something may be compiled
MOST_SECONDS = 86_400.0  # of a move: one day, or a player that hangs is never noticed
MOST_MEGABYTES = 1 << 30
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}


def limits(seconds, megabytes) -> tuple:
    """Return the limits of a player, seconds for a move and megabytes, or raise ValueError."""
    return (
        number("seconds for a move", seconds, 1e-3, MOST_SECONDS),
        whole("megabytes of a player", megabytes, 600, MOST_MEGABYTES),
    )


class Forfeited(EngineError):
    """A player was too late too often: the rest of its matches are not played."""


class Process(Engine):
    """The process of a player, called by the name of its file."""

    late = "it must answer sooner"
    ended = "it ended the process, or its memory was not enough"
    environment = ONE_THREAD

    def __init__(self, path, megabytes):
        self.name = path.name
        # -P: modules of the folder in which it starts are not imported
        program = [sys.executable, "-P", "-m", __name__]
        super().__init__([*program, str(path), str(megabytes)])

    def error(self, words, kind=EngineError) -> EngineError:
        """Return an error that names the file."""
        return kind(f"{self.name} {words}")


class PlayerFile:
    """The player of a file, in a process that serves all matches until it fails or is stopped.

    A move may take `seconds`, at least 0.001. The process may take `megabytes` of address space, of
    which the library needs about 600. A player that takes more raises EngineError, which costs the
    match. A player that was too late `patience` times begins no further match: it raises Forfeited.
    """

    version = 1
    patience = math.inf

    def __init__(self, path, seconds: float = 5.0, megabytes: int = 2000):
        self.path = checked_path(path).absolute()  # a process elsewhere may start it
        self.name = self.path.stem
        if not self.path.is_file():
            raise ValueError(f"there is no file {path}")
        self.seconds, self.megabytes = limits(seconds, megabytes)
        self.process = None
        self.tried = False  # whether this process was asked for a move
        self.late = 0  # how often it was too late

    def __getstate__(self):
        return self.__dict__ | {"process": None}

    @property
    def identity(self) -> dict:
        """What tells it from others: its file with the modules that it imports, and its limits."""
        return {
            "player": "PlayerFile",
            "version": self.version,
            "sources": sources_behind_file(self.path),
            "seconds": self.seconds,
            "megabytes": self.megabytes,
        }

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
        self.unsent = []  # moves of which the player has not heard, as commands
        arguments = [game.spec or game.file, list(map(int, actions_from_start)), seat, seed]
        self._ask(START, f"begin {json.dumps(arguments)}")

    def choose(self, state) -> int:
        """Return the player's move."""
        seconds = self.seconds if self.tried else max(START, self.seconds)
        self.tried = True
        commands = [*self.unsent, f"choose {json.dumps([state.tolist()])}"]
        self.unsent = []
        return self._ask(seconds, *commands)

    def observe(self, action, state):
        """Remember a move, of which the player hears when it is asked next."""
        self.unsent.append(f"observe {json.dumps([int(action), state.tolist()])}")

    def stop(self):
        """End the process; the next match starts another one, which may compile once more."""
        if self.process is not None:
            self.process.stop()
        self.tried = False

    def _ask(self, seconds, *commands):
        """Return the answer to the last of some commands; an error of the player raises."""
        self.process.timeout = seconds
        try:
            answer, error = json.loads(self.process.ask(*commands))
        except TooLate:
            self.late += 1
            raise
        if error:
            raise RuntimeError(printable(error))  # of the player; its process goes on
        return answer


class _Served:
    """The player in its own process; a command is the name of a method with its arguments."""

    def __init__(self, path):
        self.path = path
        self.player = None
        self.spec = None  # of the game: a text, or what `from_file` needs
        self.game = None

    def begin(self, spec, actions, seat, seed):
        if self.player is None:
            self.player = self._load()
        if self.spec != spec:
            self.spec = spec
            self.game = _game_of(spec)
        self.player.new_match(self.game, actions, seat, seed)

    def _load(self):
        sys.path.insert(0, os.path.dirname(os.path.abspath(self.path)))
        names = runpy.run_path(self.path)
        if "player" not in names:
            raise ValueError("the file defines no `player`, such as a function player(state)")
        return wrap(names["player"])

    def choose(self, state):
        return operator.index(self.player.choose(np.array(state, np.int32)))

    def observe(self, action, state):
        if hasattr(self.player, "observe"):
            self.player.observe(action, np.array(state, np.int32))

    def answer(self, line) -> str:
        """Obey a command, and return [what came back, error] as JSON."""
        command, _, arguments = line.partition(" ")
        try:
            method = getattr(self, command)
            return json.dumps([method(*json.loads(arguments)), ""])
        except BaseException as error:  # SystemExit, too
            message = f"{type(error).__name__}: {error}{self._place_of(error)}"
            return json.dumps([None, message])

    def _place_of(self, error) -> str:
        """Return in which line of the file an error arose, in words; empty if in none."""
        place = ""
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == self.path:
                place = f", line {frame.lineno}"
        return place


def _game_of(spec):
    """Return the game that a description names."""
    if isinstance(spec, list):
        path, name, parameters = spec
        return from_file(path, name, **parameters)
    return load_spec(spec)


def main(path, megabytes):
    """Answer questions until there are no more."""
    import resource  # which some systems lack

    # Ctrl-C is for the process that asks, and that one ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    questions = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what the player reads and prints is no part of the match
        os.dup2(nothing, stream)
    served = _Served(path)
    for line in questions:
        print("=", served.answer(line), end="\n\n", file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
