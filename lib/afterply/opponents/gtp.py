"""Othello programs as players: any engine that speaks GTP, the Go Text Protocol, through pipes.

An engine that dies, hangs or answers nonsense costs the match in which it does so; the next gets a
new process. Two are known by name, not part of this package: gtp-rhino (GPL-2) and Edax (GPL-3).
"""

import contextlib
import os
import re
import selectors
import shlex
import subprocess
import time
import weakref

import numpy as np

from ..checks import number, whole
from ..games.game import check_game
from ..kernel.random import new_rng, random_int
from . import optional

TIMEOUT = 60.0  # seconds for one answer
ANSWER = re.compile(rb"^([=?])\d*[ \t]*((?:.|\n)*?)[ \t]*\n[ \t]*\n", re.MULTILINE)
SQUARE = re.compile(r"([a-h])([1-8])")
COLOURS = ("black", "white")  # by player


class EngineError(RuntimeError):
    """An engine is absent, died, or answered nonsense."""


class TooLate(EngineError):
    """An engine did not answer in time."""


class Engine:
    """A running engine, killed by ``stop()``, when nobody refers to it, or when Python ends."""

    late = "allow more (timeout=...) or lower its level"
    ended = "type that in a terminal"
    environment = {}  # of its process, beyond ours

    def __init__(self, command, timeout: float = TIMEOUT):
        self.command, self.timeout, self.unread = shlex.join(command), float(timeout), b""
        pipe = subprocess.PIPE
        pipes = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL, "bufsize": 0}
        environment = os.environ | self.environment
        try:
            self.process = subprocess.Popen(command, env=environment, **pipes)
        except OSError as error:
            raise self.error(f"cannot be started: {error.strerror or error}") from error
        self.stop = weakref.finalize(self, _end, self.process, os.getpid())

    def ask(self, *commands: str) -> str:
        """Send commands and return the text of the last answer, or stop and raise EngineError."""
        try:
            with contextlib.suppress(BrokenPipeError):  # what it said before it ended comes first
                self.process.stdin.write("".join(f"{command}\n" for command in commands).encode())
            return [self._answer(command) for command in commands][-1]
        except BaseException:  # Ctrl-C, too: a late answer must not be taken for the next one
            self.stop()
            raise

    def _answer(self, command) -> str:
        deadline, output = time.monotonic() + self.timeout, self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not (found := ANSWER.search(self.unread)):
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    late = f"did not answer {command!r} within {self.timeout:g} s"
                    raise self.error(f"{late}: {self.late}", TooLate)
                if not (chunk := os.read(output.fileno(), 65536)):
                    raise self.error(f"ended when asked {command!r}: {self.ended}")
                self.unread += chunk.replace(b"\r", b"")
        self.unread = self.unread[found.end() :]
        text = found[2].decode(errors="replace").strip()
        if found[1] == b"?":
            refused = f"refused {command!r}: {text!r}"
            raise self.error(f"{refused}; is it an Othello engine that speaks GTP version 2?")
        return text

    def error(self, words, kind=EngineError) -> EngineError:
        """Return an error that names the engine and what it has said without being asked."""
        said = self.unread.decode(errors="replace").strip()[:80]
        words = f"the engine `{self.command}` {words}"
        return kind(words + (f" It said {said!r}" if said else ""))


def _end(process, owner):
    """Kill an engine; a forked copy of the process that started it does nothing."""
    if os.getpid() == owner:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()


class Player:
    """An engine as a player of Othello: `command` is a list of program and options.

    Its process serves all matches; a copy has its own. The match's seed draws the first move of a
    game, of four mirror images: some engines draw it by the clock. An answer may take `timeout`
    seconds; EngineError says what is wrong with the engine.
    """

    version = 1  # raised when the commands that it sends change
    needs = ""  # a name of `optional.ENGINES`

    def __init__(self, command, name: str, timeout: float = TIMEOUT):
        if not isinstance(command, (list, tuple)) or not command:
            raise ValueError(f"command={command!r} must be a list of words, program first")
        self.timeout = number("timeout, in seconds,", timeout, 1e-3)
        self.command, self.name, self.engine = [str(word) for word in command], name, None

    def __getstate__(self):
        return self.__dict__ | {"engine": None}

    @property
    def identity(self) -> dict:
        """What tells it from others: its command, and the version that the program reports."""
        said = {"player": type(self).__name__, "version": self.version, "command": self.command}
        return said | {"reports": self._reported()}

    def _reported(self) -> str:
        try:
            engine = Engine(self.command, self.timeout)
            reported = engine.ask("version")
            engine.stop()
            return reported
        except EngineError:  # it is not here, or does not say
            return ""

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match on the engine's board; start the engine if it is not running."""
        if check_game(game, self.name).name != "othello" or game.cells != 64:
            raise ValueError(f"{self.name} plays othello on 8 x 8 only, not {game!r}")
        self.game, self.rng, self.state, self.moves = game, new_rng(seed), game.start(), []
        self.known, self.reply = 0, None  # moves on the engine's board; what it answered last
        for action in actions_from_start:
            self.observe(action, game.play(self.state, action))
        if self.engine is not None and self.engine.stop.alive:
            with contextlib.suppress(EngineError):  # one that died since gets a new process
                self.engine.ask("clear_board")
                return
        if lacking := self.needs and optional.lacks(self.needs):
            raise EngineError(lacking)
        self.engine = Engine(self.command, self.timeout)
        self.engine.ask("clear_board")

    def choose(self, state) -> int:
        """Return the engine's move."""
        if not np.array_equal(state, self.state):
            raise ValueError(f"{self.name} knows a position by its moves: give (state, actions)")
        legal = self.game.choices(state)
        if not self.moves:
            return int(legal[random_int(self.rng, len(legal))])
        if self.known <= len(self.moves):
            commands = ["clear_board"] if self.known < 0 else []
            commands += self.moves[max(self.known, 0) :]
            question = f"genmove {COLOURS[self.game.player(state)]}"
            answer = self.engine.ask(*commands, question)
            self.known, self.reply = len(self.moves) + 1, self._meant(question, answer, legal)
        return self.reply

    def observe(self, action, state):
        """Remember a move of anybody."""
        if self.moves and self.known > len(self.moves) and action != self.reply:
            self.known = -1  # another move than the engine's was made for it: its board is wrong
        colour = COLOURS[self.game.player(self.state)]
        self.moves.append(f"play {colour} {self.game.action_name(self.state, action)}")
        self.state = np.array(state)

    def _meant(self, command, answer, legal) -> int:
        square = SQUARE.fullmatch(answer.lower())
        action = 8 * (int(square[2]) - 1) + "abcdefgh".index(square[1]) if square else None
        if action is None or action not in legal:
            self.engine.stop()
            what = "not legal" if square else "no move"
            words = f"answered {answer!r} to {command!r}, which is {what} here"
            raise self.engine.error(f"{words}; does it play Othello on 8 x 8?")
        return action


class Rhino(Player):
    """gtp-rhino, without its opening book and its randomness: it plays a match always the same way.

    It looks `level` plies ahead, 1 to 10; with twice as many empty cells or fewer, to the end.
    """

    needs = "gtp-rhino"

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        deep = whole("the level of gtp-rhino", level, 1, 10)
        command = [optional.rhino_program(), "-b", 0, "-r", 0, "-m", deep]
        command += ["-w", 2 * deep, "-e", 2 * deep]
        super().__init__(command, f"Rhino-m{deep}", timeout)


class Edax(Player):
    """Edax, one of the strongest programs, on one thread and without its book; `level` 0 to 60.

    The environment variable EDAX names it; ``data/eval.dat`` lies beside it or one level up.

    Source: [konen2021] Table 1. Deviations: none.
    """

    needs = "edax"

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        program, weights = optional.edax_files()
        options = ["-q", "-gtp", "-l", whole("the level of Edax", level, 0, 60), "-n", 1]
        options += ["-book-usage", "off", "-eval-file", weights]
        super().__init__([program, *options], f"Edax-{level}", timeout)
