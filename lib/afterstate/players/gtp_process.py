"""A program that speaks GTP, the Go Text Protocol, in a process of its own.

An answer begins with ``=`` or ``?`` and ends with an empty line. What is asked, and what a player
makes of the answers: :mod:`afterstate.players.gtp`.
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

TIMEOUT = 60.0  # seconds for one answer
LONGEST = 10_000  # bytes without an answer in them, as an engine may greet before its first one
ANSWER = re.compile(rb"^([=?])\d*[ \t]*((?:.|\n)*?)[ \t]*\n[ \t]*\n", re.MULTILINE)
_spent = {"cpu_seconds": 0.0}


class EngineError(RuntimeError):
    """An engine is absent, died, or answered what can not be meant.

    The message names its command and the remedy.
    """


class EngineTimeout(EngineError):
    """An engine did not answer in time."""


def cpu_seconds() -> float:
    """Return the CPU time of all engines that this process has started and that have ended."""
    return _spent["cpu_seconds"]


class Engine:
    """A running engine.

    It is killed by ``stop()``, when nobody refers to it any more, or when Python ends.

    Parameters
    ----------
    command : sequence of str
        Program and options.
    timeout : float
        Seconds to wait for an answer.

    Raises
    ------
    EngineError
        If it can not be started, and from :meth:`ask`.
    """

    def __init__(self, command, timeout: float = TIMEOUT):
        self.command, self.timeout, self.unread, self.errors = (
            shlex.join(command),
            float(timeout),
            b"",
            tempfile.TemporaryFile(),
        )
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                bufsize=0,
            )
        except OSError as error:
            raise EngineError(
                f"the engine `{self.command}` can not be started: {error.strerror or error}"
            ) from error
        self.stop = weakref.finalize(self, _end, self.process, os.getpid())

    def ask(self, *commands: str) -> str:
        """Send commands and return the text of the last one's answer.

        Raises EngineError (the engine has then been stopped) if there is none.
        """
        try:
            with contextlib.suppress(BrokenPipeError):  # what it said before it ended comes first
                # at once: waiting takes longer than most moves
                self.process.stdin.write("".join(f"{command}\n" for command in commands).encode())
            return [self._answer(command) for command in commands][-1]
        # Ctrl-C, too: what it answers later must not be taken for the next answer
        except BaseException:
            self.stop()
            raise

    def _answer(self, command):
        """Return the text of the answer to a command."""
        try:
            found = self._read(command)
        except EOFError:
            self.stop()
            raise EngineError(
                f"the engine `{self.command}` ended ({self._ending()}) when asked {command!r}: run"
                " it in a terminal and type that, to see what is wrong"
            ) from None
        text = found[2].decode(errors="replace").strip()
        if found[1] == b"?":
            raise EngineError(
                f"the engine `{self.command}` refused {command!r}: {text!r}; is it an Othello"
                " engine that speaks GTP version 2?"
            )
        return text

    def _read(self, command):
        deadline = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not (found := ANSWER.search(self.unread)):
                if len(self.unread) > LONGEST:
                    raise EngineError(
                        f"the engine `{self.command}` talks without answering {command!r}:"
                        f" {self._said()}; does it speak GTP?"
                    )
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise EngineTimeout(
                        f"the engine `{self.command}` did not answer {command!r} within"
                        f" {self.timeout:g} s{self._said(': ')}; allow more (timeout=...) or lower"
                        " its level"
                    )
                chunk = os.read(self.process.stdout.fileno(), 65536)
                if not chunk:
                    raise EOFError
                self.unread += chunk.replace(b"\r", b"")
        self.unread = self.unread[found.end() :]
        return found

    def _said(self, before=""):
        said = self.unread.decode(errors="replace").strip()
        return f"{before}it said {said[:80]!r}" if said else ""

    def _ending(self):
        self.errors.seek(0)
        code, words = self.process.returncode, self.errors.read().decode(errors="replace").strip()
        how = (
            f"exit status {code}"
            if code is None or code >= 0
            else f"by signal {signal.Signals(-code).name}"
        )
        return how + (f", {words[-200:]!r}" if words else "") + self._said(", ")


def _end(process, owner):
    """Kill an engine and count its CPU time.

    Nothing in a forked copy of the process that started it.
    """
    if os.getpid() != owner:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        _, status, usage = os.wait4(process.pid, 0)  # Popen.wait would not tell the CPU time
        process.returncode = os.waitstatus_to_exitcode(status)
        _spent["cpu_seconds"] += usage.ru_utime + usage.ru_stime
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
