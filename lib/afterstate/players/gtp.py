"""Othello programs as players: any engine that speaks GTP, the Go Text Protocol, through pipes.

::

    ours                     engine's               ours                       engine's
    clear_board              =                      genmove white              = F4
    play black e6            =                      play black z9              ? illegal move

An answer ends with an empty line; a player without a move is skipped in silence. An engine that
dies, hangs or answers nonsense costs the match in which it does so; the next gets a new process.
Two are known by name, and not part of this package: gtp-rhino (GPL-2) and Edax (GPL-3).
"""

import contextlib
import os
import re
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
import weakref

import numpy as np

from ..checks import number, whole
from ..games.game import check_game
from ..kernel.random import new_rng, random_int
from . import optional

TIMEOUT = 60.0  # seconds for one answer
LONGEST = 10_000  # bytes without an answer in them, as an engine may greet before its first one
ANSWER = re.compile(rb"^([=?])\d*[ \t]*((?:.|\n)*?)[ \t]*\n[ \t]*\n", re.MULTILINE)
SQUARE = re.compile(r"([a-h])([1-8])")
COLOURS = ("black", "white")  # by player
PATIENCE = 3  # matches in a row that may be lost by waiting in vain


class EngineError(RuntimeError):
    """An engine is absent, died, or answered nonsense."""


class EngineTimeout(EngineError):
    """An engine did not answer in time."""


class Engine:
    """A running engine, killed by ``stop()``, when nobody refers to it, or when Python ends."""

    def __init__(self, command, timeout: float = TIMEOUT):
        self.command, self.timeout, self.unread = shlex.join(command), float(timeout), b""
        self.errors, pipe = tempfile.TemporaryFile(), subprocess.PIPE
        pipes = {"stdin": pipe, "stdout": pipe, "stderr": self.errors, "bufsize": 0}
        try:
            self.process = subprocess.Popen(command, **pipes)
        except OSError as error:
            raise self._error(f"cannot be started: {error.strerror or error}") from error
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
        deadline = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not (found := ANSWER.search(self.unread)):
                if len(self.unread) > LONGEST:
                    raise self._error(f"talks without answering {command!r}: does it speak GTP?")
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    late = f"did not answer {command!r} within {self.timeout:g} s: allow more"
                    raise self._error(f"{late} (timeout=...) or lower its level", EngineTimeout)
                chunk = os.read(self.process.stdout.fileno(), 65536)
                if not chunk:
                    how = f"ended ({self._ending()}) when asked {command!r}: run it in a terminal"
                    raise self._error(f"{how} and type that, to see what is wrong")
                self.unread += chunk.replace(b"\r", b"")
        self.unread = self.unread[found.end() :]
        text = found[2].decode(errors="replace").strip()
        if found[1] == b"?":
            refused = f"refused {command!r}: {text!r}"
            raise self._error(f"{refused}; is it an Othello engine that speaks GTP version 2?")
        return text

    def _error(self, words, kind=EngineError):
        said = self.unread.decode(errors="replace").strip()[:80]
        return kind(f"the engine `{self.command}` {words}" + (f" It said {said!r}" if said else ""))

    def _ending(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        self.stop()
        self.errors.seek(0)
        code, words = self.process.returncode, self.errors.read().decode(errors="replace").strip()
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return how + (f", {words[-200:]!r}" if words else "")


def _end(process, owner):
    """Kill an engine; a forked copy of the process that started it does nothing."""
    if os.getpid() == owner:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()


class Player:
    """An engine as a player of Othello.

    Its process starts with the first match and serves the following ones; a copy has its own. The
    first move of a game, of four mirror images, is drawn by the match's seed because some engines
    draw it by the clock. EngineError says what is wrong with the engine.

    Parameters
    ----------
    command : list of str
        Program and options.
    name : str
    timeout : float
        Seconds for one answer, above 0.
    remedy : str
        How to get the program if it is not there.
    """

    version = 1  # raised when the commands that it sends change

    def __init__(
        self, command, name: str, timeout: float = TIMEOUT, remedy: str = "check its path"
    ):
        if not isinstance(command, (list, tuple)) or not command:
            raise ValueError(f"command={command!r} must be a list of words, program first")
        number("timeout, in seconds,", timeout, 1e-3)
        self.command, self.name = [str(word) for word in command], name
        self.timeout, self.remedy = timeout, remedy
        self.engine, self.timeouts, self.timed_out = None, 0, False

    def __getstate__(self):
        return self.__dict__ | {"engine": None}

    def lacks(self) -> str:
        """Return what is missing to play, with the remedy, or ""."""
        return optional.program_lacks(self.name, self.command[0], self.remedy)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match on the engine's board; start the engine if it is not running."""
        if check_game(game, self.name).name != "othello" or game.cells != 64:
            raise ValueError(f"{self.name} plays othello on 8 x 8 only, not {game!r}")
        if self.timeouts >= PATIENCE:
            late = (
                f"did not answer in time in {PATIENCE} matches in a row and is not asked any more"
            )
            raise EngineTimeout(f"{self.name} {late}")
        self.game, self.rng, self.state, self.moves = game, new_rng(seed), game.start(), []
        self.timed_out = False
        self.known, self.reply = 0, None  # moves on the engine's board; what it answered last
        for action in actions_from_start:
            self.observe(action, game.play(self.state, action))
        self._clear()

    def choose(self, state) -> int:
        """Return the engine's move."""
        if not np.array_equal(state, self.state):
            raise ValueError(f"{self.name} knows a position by its moves: give (state, actions)")
        legal = self.game.legal(state)
        if not self.moves:
            return int(legal[random_int(self.rng, len(legal))])
        if self.known <= len(self.moves):
            commands = ["clear_board"] if self.known < 0 else []
            commands += self.moves[max(self.known, 0) :]
            question = f"genmove {COLOURS[self.game.player(state)]}"
            answer = self._ask(*commands, question)
            self.known, self.reply = len(self.moves) + 1, self._meant(question, answer, legal)
        return self.reply

    def observe(self, action, state):
        """Remember a move of anybody."""
        if self.moves and self.known > len(self.moves) and action != self.reply:
            self.known = -1  # another move than the engine's was made for it: its board is wrong
        colour = COLOURS[self.game.player(self.state)]
        self.moves.append(f"play {colour} {self.game.action_name(self.state, action)}")
        self.state = np.array(state)

    def close(self):
        """End the match; the engine stays for the next one."""
        self.timeouts = self.timeouts + 1 if self.timed_out else 0

    def _clear(self):
        if self.engine is not None:
            with contextlib.suppress(EngineError):
                return self._ask("clear_board")
            self.timed_out = False
        if lacking := self.lacks():
            raise EngineError(lacking)
        self.engine = Engine(self.command, self.timeout)
        return self._ask("clear_board")

    def _ask(self, *commands):
        try:
            return self.engine.ask(*commands)
        except EngineError as error:
            self.engine, self.timed_out = None, isinstance(error, EngineTimeout)
            raise

    def _meant(self, command, answer, legal) -> int:
        square = SQUARE.fullmatch(answer.lower())
        action = 8 * (int(square[2]) - 1) + "abcdefgh".index(square[1]) if square else None
        if action is None or action not in legal:
            engine, self.engine = self.engine, None
            engine.stop()
            given = f"the engine `{engine.command}` answered {answer!r} to {command!r}"
            what = "not legal" if square else "no move"
            raise EngineError(f"{given}, which is {what} here; does it play Othello on 8 x 8?")
        return action


class Rhino(Player):
    """gtp-rhino, without its opening book and its randomness: it plays a match always the same way.

    It looks `level` plies ahead, 1 to 10; with twice as many empty cells or fewer, to the end.
    """

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        deep, exact = whole("the level of gtp-rhino", level, 1, 10), str(2 * level)
        command = [optional.rhino_program(), "-b", "0", "-r", "0", "-m", deep]
        command += ["-w", exact, "-e", exact]
        super().__init__(command, f"Rhino-m{deep}", timeout, optional.RHINO_REMEDY)


class Edax(Player):
    """Edax, one of the strongest programs, on one thread and without its book.

    Its `level` is at most 60. `path` names the program, by default the environment variable EDAX;
    its weights ``data/eval.dat`` lie beside it or one level up.

    Source: [konen2021] Table 1. Deviations: none.
    """

    def __init__(self, level: int = 1, path: str | None = None, timeout: float = TIMEOUT):
        self.program, self.weights = optional.edax_files(path)
        options = ["-q", "-gtp", "-l", whole("the level of Edax", level, 0, 60), "-n", "1"]
        options += ["-book-usage", "off", "-eval-file", self.weights]
        super().__init__([self.program, *options], f"Edax-{level}", timeout)

    def lacks(self) -> str:
        """Return what is missing to play, with the remedy, or ""."""
        return optional.edax_lacks(self.name, self.program, self.weights)
