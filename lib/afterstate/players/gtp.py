"""Othello programs as players: any engine that speaks GTP, through the pipes of a process.

::

    ours                     engine's               ours                       engine's
    clear_board              =                      genmove white              = F4
    play black e6            =                      play black z9              ? illegal move

Squares are our own names, a1 to h8, in any case. The process itself:
:mod:`afterstate.players.gtp_process`.

Two engines are known by name; neither is needed for anything else, and nothing of them is part of
this package: gtp-rhino (GPL-2) of the Debian package grhino, and Edax (GPL-3),
https://github.com/abulmo/edax-reversi/releases.

An engine that dies, hangs or answers nonsense costs the match in which it does so; the next match
gets a new process.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

import numpy as np

from ..checks import is_whole, number
from ..games.game import check_game
from ..kernel.random import new_rng, random_int
from . import optional
from .gtp_process import TIMEOUT, Engine, EngineError, EngineTimeout, cpu_seconds

# matches in a row that may be lost by waiting in vain: then the engine is not asked any more
PATIENCE = 3
SQUARE = re.compile(r"([a-h])([1-8])")
COLOURS = ("black", "white")  # by player


# --------------------------------------------------------------------------------------- the player


class Player:
    """An engine as a player of Othello.

    Its process starts with the first match and serves the following ones; a copy, also one in
    another process, has its own. The first move of a game is drawn by the match's seed: its four
    possibilities are mirror images of each other, and some engines draw among them by the clock.

    Parameters
    ----------
    command : sequence of str
        Program and options.
    name : str
    timeout : float
        Seconds for one answer, above 0.
    passes : bool
        Whether the engine must be told of passes; otherwise it skips a player without a move by
        itself, as our rules do.
    remedy : str
        How to get the program if it is not there.

    Raises
    ------
    ValueError
        If the game is another one, or does not begin at the default start.
    EngineError
        In :meth:`new_match` and :meth:`choose`, for whatever is wrong with the engine.

    Examples
    --------
    >>> from afterstate.players import gtp
    >>> gtp.Player(["no-such-program", "-gtp"], "Nobody").lacks()
    'Nobody needs the program no-such-program, which is not there: check its path'
    """

    version = 1  # raised when the commands that it sends change
    cpu_seconds = staticmethod(cpu_seconds)

    def __init__(
        self,
        command,
        name: str,
        timeout: float = TIMEOUT,
        passes: bool = False,
        remedy: str = "check its path",
    ):
        if not isinstance(command, (list, tuple)) or not command:
            raise ValueError(
                f"command={command!r} must be a list, program first, such as ['gtp-rhino', '-m',"
                " '2']"
            )
        if not number("timeout, in seconds,", timeout, 0.0) > 0.0:
            raise ValueError(f"timeout={timeout!r} must be above 0 seconds")
        self.command, self.name, self.timeout, self.passes, self.remedy = (
            [str(word) for word in command],
            name,
            timeout,
            passes,
            remedy,
        )
        self.engine, self.timeouts, self.timed_out = None, 0, False

    def __getstate__(self):
        return self.__dict__ | {"engine": None}

    def lacks(self) -> str:
        """Return what is missing to play, with the remedy, or an empty text."""
        program = self.command[0]
        if shutil.which(program):
            return ""
        what = (
            "is a directory"
            if Path(program).is_dir()
            else "is not executable"
            if Path(program).exists()
            else "is not there"
        )
        return f"{self.name} needs the program {program}, which {what}: {self.remedy}"

    # -------------------------------------------------------------------------------------- matches
    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match: clear the engine's board; start the engine if it is not running."""
        if check_game(game, self.name).name != "othello" or game.cells != 64:
            raise ValueError(f"{self.name} plays othello on 8 x 8 only, not {game!r}")
        if self.timeouts >= PATIENCE:
            raise EngineTimeout(
                f"{self.name} did not answer in time in {PATIENCE} matches in a row and is not"
                " asked any more"
            )
        self.game, self.rng, self.state, self.moves, self.timed_out = (
            game,
            new_rng(seed),
            game.start(),
            [],
            False,
        )
        # moves on the engine's board; who made the last of them; what it answered last
        self.known, self.last, self.reply = 0, 1, None
        for action in actions_from_start:
            self.observe(action, game.play(self.state, action))
        self._clear()

    def choose(self, state) -> int:
        """Return the engine's move."""
        if not np.array_equal(state, self.state):
            raise ValueError(
                f"{self.name} knows a position by its moves from the default start: give them,"
                " (state, actions)"
            )
        legal = self.game.legal(state)
        if not self.moves:
            return int(legal[random_int(self.rng, len(legal))])
        if self.known <= len(self.moves):
            commands = [*self._untold(), *self._turn(self.game.player(state), "genmove {}")]
            answer = self._ask(*commands)
            self.known, self.reply = len(self.moves) + 1, self._meant(commands[-1], answer, legal)
        return self.reply

    def observe(self, action, state):
        """Remember a move of anybody."""
        if self.moves and self.known > len(self.moves) and action != self.reply:
            self.known = -1  # another move than the engine's was made for it: its board is wrong
        self.moves.append((self.game.player(self.state), int(action)))
        self.state = np.array(state)

    def close(self):
        """End the match; the engine stays for the next one."""
        self.timeouts = self.timeouts + 1 if self.timed_out else 0

    # ----------------------------------------------------------------------------------- the engine
    def _clear(self):
        """Begin a game on the engine's board; one that died since its last match is replaced."""
        if self.engine is not None:
            with contextlib.suppress(EngineError):
                return self._ask("clear_board")
            self.timed_out = False
        if lacking := self.lacks():
            raise EngineError(lacking)
        self.engine = Engine(self.command, self.timeout)
        return self._ask("clear_board")

    def _untold(self):
        """Return the commands that tell the engine the moves that it does not know yet."""
        commands = []
        if self.known < 0:
            commands.append("clear_board")
            self.known, self.last = 0, 1
        for player, action in self.moves[self.known :]:
            commands += self._turn(player, f"play {{}} {self.game.action_name(self.state, action)}")
        return commands

    def _turn(self, player, command):
        """Return the command of a player, after a pass of the other one if it has to be told."""
        passed = [f"play {COLOURS[1 - player]} pass"] if self.passes and player == self.last else []
        self.last = player
        return [*passed, command.format(COLOURS[player])]

    def _ask(self, *commands):
        try:
            return self.engine.ask(*commands)
        except EngineError as error:
            self.engine, self.timed_out = None, isinstance(error, EngineTimeout)
            raise

    def _meant(self, command, answer, legal) -> int:
        """Return the action of an answer to genmove."""
        square = SQUARE.fullmatch(answer.lower())
        action = 8 * (int(square[2]) - 1) + "abcdefgh".index(square[1]) if square else None
        if action is None or action not in legal:
            engine, self.engine = self.engine, None
            engine.stop()
            names = " ".join(self.game.action_name(self.state, a) for a in legal)
            raise EngineError(
                f"the engine `{engine.command}` answered {answer!r} to {command!r}, which is"
                f" {'not legal' if square else 'no move'} here ({names} are); does it play Othello"
                " on 8 x 8?"
            )
        return action


# ---------------------------------------------------------------------------------- engines by name


class Rhino(Player):
    """gtp-rhino of the Debian package grhino: pattern evaluation, look-ahead to a fixed depth.

    Without its opening book and its randomness, so the same match is always played the same.

    Parameters
    ----------
    level : int, 1..10
        Plies that it looks ahead; at twice as many empty cells and fewer it plays perfectly.
    timeout : float
        Seconds for one answer.
    """

    def __init__(self, level: int = 1, timeout: float = TIMEOUT):
        if not is_whole(level) or not 1 <= level <= 10:
            raise ValueError(f"level={level!r} of gtp-rhino must be a whole number within 1 and 10")
        exact = str(2 * level)
        # games are not on everybody's path
        program = shutil.which("gtp-rhino") or "/usr/games/gtp-rhino"
        if optional.hidden("gtp-rhino"):
            program += ", hidden by AFTERSTATE_HIDE"
        super().__init__(
            [program, "-b", "0", "-r", "0", "-m", str(level), "-w", exact, "-e", exact],
            f"Rhino-m{level}",
            timeout,
            remedy="`apt install grhino` on Debian and Ubuntu",
        )


class Edax(Player):
    """Edax, one of the strongest programs, on one thread and without its book.

    Parameters
    ----------
    level : int, 0..60
        Up to 10: plies that it looks ahead; at twice as many empty cells and fewer it plays
        perfectly.
    path : str, optional
        The program (default: environment variable EDAX), with its weights ``data/eval.dat`` beside
        it or one level up.
    timeout : float
        Seconds for one answer.

    Source: [konen2021] Table 1. Deviations: none.
    """

    def __init__(self, level: int = 1, path: str | None = None, timeout: float = TIMEOUT):
        if not is_whole(level) or not 0 <= level <= 60:
            raise ValueError(f"level={level!r} of Edax must be a whole number within 0 and 60")
        given = "" if optional.hidden("edax") else path or os.environ.get("EDAX") or ""
        program = Path(given).expanduser().absolute()
        beside = [
            program.parent / "data" / "eval.dat",
            program.parent / "eval.dat",
            program.parent.parent / "data" / "eval.dat",
        ]
        self.given, self.weights = (
            bool(given),
            next((file for file in beside if file.exists()), beside[0]),
        )
        super().__init__(
            [
                program,
                "-q",
                "-gtp",
                "-l",
                level,
                "-n",
                "1",
                "-book-usage",
                "off",
                "-eval-file",
                self.weights,
            ],
            f"Edax-{level}",
            timeout,
            remedy="name the program itself, EDAX=/path/to/edax",
        )

    def lacks(self) -> str:
        """Return what is missing to play, with the remedy, or an empty text."""
        if not self.given:
            return (
                "Edax: download program and data/eval.dat from"
                " https://github.com/abulmo/edax-reversi/releases and name the program, `make"
                " reproduce EDAX=/path/to/edax`"
            )
        if lacking := super().lacks():
            return lacking
        return (
            ""
            if self.weights.exists()
            else f"{self.name} needs its weights, {self.weights}: they are on its release page, too"
        )
