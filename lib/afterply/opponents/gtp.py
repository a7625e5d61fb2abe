"""Othello programs as players: any engine that speaks GTP, the Go Text Protocol, through pipes.

An engine that dies, hangs or gives no valid answer costs only the match in which it does so; the
next match gets a new process. Two engines are known by name, gtp-rhino (GPL-2) and Edax (GPL-3);
neither is part of this package.
"""

import contextlib
import os
import re
import secrets
import selectors
import shlex
import signal
import subprocess
import time
import weakref
from pathlib import Path

import numpy as np

from ..checks import number, whole
from ..games.game import check_game
from ..kernel.random import new_rng, random_int
from ..players.basic import Resigned
from . import optional

TIMEOUT = 60.0  # seconds for one answer
# Where an answer begins and ends. One pattern for both would take hours for some floods of output.
BEGIN = re.compile(rb"^([=?])\d*", re.MULTILINE)
END = re.compile(rb"\n[ \t]*\n")
MOST_OUTPUT = 1 << 20  # bytes before the end of an answer
MOST_ROUNDS = 10  # of killing what an engine has started
SQUARE = re.compile(r"([a-h])([1-8])")
COLOURS = ("black", "white")  # by player
WRONG_BOARD = -1  # in place of the number of moves that an engine knows


class EngineError(RuntimeError):
    """An engine is absent, died, or gave no valid answer."""


class TooLate(EngineError):
    """An engine did not answer in time."""


class Engine:
    """A running engine, killed by ``stop()``, when nobody refers to it, or when Python ends."""

    # remedies, which stand at the end of error messages
    late = "allow more (timeout=...) or lower its level"
    ended = "type that in a terminal"
    environment = {}  # variables that its process has beside ours

    def __init__(self, command, timeout: float = TIMEOUT):
        self.command = shlex.join(command)
        self.timeout = float(timeout)
        self.unread = b""  # output after the last answer
        mark = f"AFTERPLY_ENGINE_{secrets.token_hex(8)}"  # whatever it starts inherits this
        try:
            self.process = subprocess.Popen(
                command,
                env=os.environ | self.environment | {mark: "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # a group of its own, which is ended with all it started
            )
        except OSError as error:
            raise self.error(f"cannot be started: {error.strerror or error}") from error
        self.stop = weakref.finalize(self, _end, self.process, mark, os.getpid())

    def ask(self, *commands: str) -> str:
        """Send commands and return the text of the last answer, or stop and raise EngineError."""
        try:
            # If the engine has ended, the output that it left says more than a broken pipe.
            with contextlib.suppress(BrokenPipeError):
                lines = "".join(f"{command}\n" for command in commands)
                self.process.stdin.write(lines.encode())
            answers = [self._answer(command) for command in commands]
            return answers[-1]
        except BaseException:  # Ctrl-C, too: a late answer must not be taken for the next one
            self.stop()
            raise

    def _answer(self, command) -> str:
        """Return the next answer of the engine, which is the one to `command`."""
        begin, end = self._read_answer(command)
        text = self.unread[begin.end() : end.start()].decode(errors="replace").strip()
        self.unread = self.unread[end.end() :]
        if begin[1] == b"?":
            raise self.error(
                f"refused {command!r}: {text!r}; is it an Othello engine that speaks GTP version 2?"
            )
        return text

    def _read_answer(self, command) -> tuple:
        """Read output until there is a whole answer; return its begin and end in `unread`."""
        deadline = time.monotonic() + self.timeout
        output = self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while True:
                begin = BEGIN.search(self.unread)
                end = begin and END.search(self.unread, begin.end())
                if end:
                    return begin, end
                if len(self.unread) > MOST_OUTPUT:
                    raise self.error(f"said too much instead of an answer to {command!r}.")
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0 or not selector.select(seconds_left):
                    late = f"did not answer {command!r} within {self.timeout:g} s"
                    raise self.error(f"{late}: {self.late}", TooLate)
                chunk = os.read(output.fileno(), 65536)
                if not chunk:
                    raise self.error(f"ended when asked {command!r}: {self.ended}")
                self.unread += chunk.replace(b"\r", b"")

    def error(self, words, kind=EngineError) -> EngineError:
        """Return an error that names the engine, with the output that belongs to no answer."""
        message = f"the engine `{self.command}` {words}"
        unread = self.unread.decode(errors="replace").strip()[:80]
        if unread:
            message += f" It said {unread!r}"
        return kind(message)


def _end(process, mark, owner):
    """Kill an engine and what it started; in a forked copy of its owner nothing is done."""
    if os.getpid() == owner:
        if hasattr(os, "killpg"):  # not on Windows
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(process.pid, signal.SIGKILL)
        for _ in range(MOST_ROUNDS):  # what left the group, and what it started meanwhile
            escaped = _marked(mark.encode())
            if not escaped:
                break
            for pid in escaped:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()


def _marked(mark) -> list[int]:
    """Return the numbers of the processes whose environment has a mark; none but on Linux."""
    marked = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # of another user, or it has ended
            if mark in file.read_bytes():
                marked.append(int(file.parent.name))
    return marked


class Player:
    """An engine as a player of Othello: `command` is a list of program and options.

    Its process serves all matches; a copy of the player has a process of its own. The seed of the
    match draws the first move of a game, one of four mirror images, since some engines draw it by
    the clock. An answer may take `timeout` seconds, at least 0.001. EngineError says what is wrong
    with the engine.
    """

    version = 1  # raised when the commands that it sends change
    needs = ""  # a name of `optional.ENGINES`

    def __init__(self, command, name: str, timeout: float = TIMEOUT):
        if not isinstance(command, (list, tuple)) or not command:
            raise ValueError(f"command={command!r} must be a list of words, program first")
        self.timeout = number("timeout, in seconds,", timeout, 1e-3)
        self.command = [str(word) for word in command]
        self.name = name
        self.engine = None

    def __getstate__(self):
        return self.__dict__ | {"engine": None}

    @property
    def identity(self) -> dict:
        """What tells it from others: its command, and the version that the program reports."""
        return {
            "player": type(self).__name__,
            "version": self.version,
            "command": self.command,
            "reports": self._reported(),
        }

    def _reported(self) -> str:
        """Return the version that the program reports; empty if it cannot be asked."""
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
        self.game = game
        self.rng = new_rng(seed)
        self.state = game.start()
        self.moves = []  # so far, as commands to the engine
        self.known = 0  # how many of these moves are on the engine's board, or WRONG_BOARD
        self.reply = None  # the action that the engine answered last
        for action in actions_from_start:
            self.observe(action, game.play(self.state, action))
        if self.engine is not None and self.engine.stop.alive:
            with contextlib.suppress(EngineError):  # one that died since gets a new process
                self.engine.ask("clear_board")
                return
        self._start_engine()
        self.engine.ask("clear_board")

    def _start_engine(self):
        """Start the engine, or raise EngineError with what it lacks."""
        if self.needs:
            lacking = optional.lacks(self.needs)
            if lacking:
                raise EngineError(lacking)
        self.engine = Engine(self.command, self.timeout)

    def choose(self, state) -> int:
        """Return the engine's move."""
        if not np.array_equal(state, self.state):
            raise ValueError(f"{self.name} knows a position by its moves: give (state, actions)")
        legal = self.game.choices(state)
        if not self.moves:
            return int(legal[random_int(self.rng, len(legal))])
        # The engine puts its own answer on its board. Who asks again gets the same answer.
        is_answered = self.known > len(self.moves)
        if not is_answered:
            self.reply = self._ask_for_move(state, legal)
            self.known = len(self.moves) + 1
        return self.reply

    def _ask_for_move(self, state, legal) -> int:
        """Bring the engine's board up to date, and return the move that the engine answers."""
        if self.known == WRONG_BOARD:
            commands = ["clear_board", *self.moves]
        else:
            commands = self.moves[self.known :]
        question = f"genmove {COLOURS[self.game.player(state)]}"
        answer = self.engine.ask(*commands, question)
        return self._action_of(answer, question, legal)

    def observe(self, action, state):
        """Remember a move of any player."""
        is_answered = self.known > len(self.moves)
        if self.moves and is_answered and action != self.reply:
            self.known = WRONG_BOARD  # which has the engine's move, and another one was made
        colour = COLOURS[self.game.player(self.state)]
        self.moves.append(f"play {colour} {self.game.action_name(self.state, action)}")
        self.state = np.array(state)

    def _action_of(self, answer, question, legal) -> int:
        """Return the action that an answer means; stop the engine if it is not legal."""
        if answer.lower() == "resign":
            raise Resigned(f"{self.name} resigned")
        square = SQUARE.fullmatch(answer.lower())
        what = "no move"
        if square:
            column = "abcdefgh".index(square[1])
            row = int(square[2]) - 1
            action = 8 * row + column
            if action in legal:
                return action
            what = "not legal"
        self.engine.stop()
        raise self.engine.error(
            f"answered {answer!r} to {question!r}, which is {what} here;"
            " does it play Othello on 8 x 8?"
        )


class Rhino(Player):
    """gtp-rhino without its opening book and its randomness: it repeats a match move by move.

    It searches `level` plies, 1 to 10, and to the end of the game when at most twice as many cells
    are empty.
    """

    needs = "gtp-rhino"

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        plies = whole("the level of gtp-rhino", level, 1, 10)
        without_book_and_randomness = ["-b", 0, "-r", 0]
        depths = ["-m", plies, "-w", 2 * plies, "-e", 2 * plies]
        command = [optional.rhino_program(), *without_book_and_randomness, *depths]
        super().__init__(command, f"Rhino-m{plies}", timeout)


class Edax(Player):
    """Edax, one of the strongest programs, on one thread and without its book; `level` 0 to 60.

    The environment variable EDAX names it; ``data/eval.dat`` lies beside it or one level up.

    Source: [konen2021] Table 1. Deviations: none.
    """

    needs = "edax"

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        program, weights = optional.edax_files()
        level = whole("the level of Edax", level, 0, 60)
        options = ["-q", "-gtp", "-l", level, "-n", 1, "-book-usage", "off", "-eval-file", weights]
        super().__init__([program, *options], f"Edax-{level}", timeout)
