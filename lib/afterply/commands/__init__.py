"""The two command lines: ``afterply`` (`cli`), and what is behind the Makefile (`reproduce`)."""

import argparse
import contextlib
import inspect
import os
import shlex
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INTERRUPTED = 130
BROKEN_PIPE = 141  # nobody reads what is printed any more, as after | head: a shell's status for it
FAILED = 2
RETRY_SECONDS = 0.05  # until a Ctrl-C that could not be heeded is sent again
HELP_WIDTH = 96  # characters of a line of help
RESUMES = "The same command goes on from what was finished."

# Without this package jsonschema leaves out a check of web addresses that notebooks do not need.
# With it, every command that executes some would first build a grammar: three CPU seconds.
sys.modules.setdefault("rfc3987_syntax", None)


@dataclass(frozen=True)
class Command:
    """A command: its function takes the arguments that its parser declares, by their names."""

    name: str
    function: Callable
    after_ctrl_c: str  # a sentence that says what is kept
    word_list: str = ""  # the argument that takes any number of words, if there is one


def new_program(name: str) -> tuple:
    """Return the parser of a command line, and the collection to which commands are added."""
    program = argparse.ArgumentParser(
        name,
        description=f"`{name} COMMAND --help` says what a command does and takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"afterply {sys.modules['afterply'].__version__}"
    program.add_argument("--version", action="version", version=version)
    commands = program.add_subparsers(dest="command_name", metavar="COMMAND", required=True)
    return program, commands


def add_command(commands, function, after_ctrl_c=RESUMES, word_list="", epilog=None):
    """Add the command that a function is, described by its docstring; return its parser.

    epilog: returns the end of the help from the arguments that stand before ``--help``
    """
    name = function.__name__.strip("_")
    description = inspect.getdoc(function)
    parser = commands.add_parser(
        name,
        help=description.split("\n")[0],
        description=f"{description}\n\n{textwrap.fill(f'Ctrl-C: {after_ctrl_c}', HELP_WIDTH)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action=_Help, epilog=epilog)
    parser.set_defaults(command=Command(name, function, after_ctrl_c, word_list))
    return parser


class _Help(argparse.Action):
    """Print the help of a command, with an epilog that may depend on what was typed before it."""

    def __init__(self, option_strings, dest, epilog):
        text = "show this message and exit"
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=text)
        self.epilog = epilog

    def __call__(self, parser, namespace, values, option_string=None):
        if self.epilog:
            parser.epilog = self.epilog(namespace)
        parser.print_help()
        parser.exit()


def run_program(program: argparse.ArgumentParser, words=None) -> int:
    """Call the function of the command that a command line names; return the exit status."""
    _open_closed_streams()
    name, after_ctrl_c = program.prog, RESUMES
    with ctrl_c_outside_llvmlite():
        try:
            try:
                command, arguments = _parse(program, words)
                name, after_ctrl_c = f"{program.prog} {command.name}", command.after_ctrl_c
                return command.function(**arguments) or 0
            except BrokenPipeError:
                raise
            except (ValueError, ImportError, OSError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                return FAILED
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
            return BROKEN_PIPE
        except OSError as error:  # no room for what is printed
            _discard_output()
            with contextlib.suppress(OSError):
                message = f"{program.prog}: what is printed has no place: {error}"
                print(message, file=sys.stderr)
            return FAILED
        except (KeyboardInterrupt, EOFError):
            print(f"\nStopped. {after_ctrl_c}", file=sys.stderr)
            return INTERRUPTED


def _parse(program, words) -> tuple[Command, dict]:
    namespace, rest = program.parse_known_args(words)
    arguments = vars(namespace)
    command = arguments.pop("command")
    del arguments["command_name"]
    unknown = [word for word in rest if word.startswith("-") or not command.word_list]
    if unknown:
        help_command = f"{program.prog} {command.name} --help"
        program.error(f"unrecognized: {' '.join(unknown)}; see `{help_command}`")
    if rest:  # argparse leaves words that stand behind an option
        arguments[command.word_list] = [*arguments[command.word_list], *rest]
    return command, arguments


def _open_closed_streams():
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:  # closed, as by <&-
            setattr(sys, name, open(os.devnull, mode))


def _discard_output():
    """Discard what cannot be printed, so that Python does not try once more when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


@contextlib.contextmanager
def ctrl_c_outside_llvmlite():
    """Let Ctrl-C raise KeyboardInterrupt, but not within llvmlite, which would free memory twice.

    Python drops what is raised in a destructor or in a function that C calls, and tells
    ``sys.unraisablehook``: a Ctrl-C that was dropped so is sent again, as one within llvmlite is.
    """
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if handler is not signal.default_int_handler:  # it is ignored, or somebody else's
        yield
        return

    def send():
        if signal.getsignal(signal.SIGINT) is interrupt:  # else the command has ended
            # the main thread may wait for something, which a signal ends
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def send_again():
        threading.Timer(RETRY_SECONDS, send).start()

    def interrupt(number, frame):
        if _is_within_llvmlite(frame):
            send_again()
        else:
            raise KeyboardInterrupt

    def dropped(unraisable):
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            send_again()
        else:
            hook(unraisable)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook


def _is_within_llvmlite(frame) -> bool:
    while frame:
        if frame.f_globals.get("__name__", "").startswith("llvmlite"):
            return True
        frame = frame.f_back
    return False


def pairs(words, value) -> dict:
    """Return the parameters in words such as ``runs=3``: name -> `value` of the text behind."""
    parameters = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or not equals:
            raise ValueError(f"{word!r} is not of the form NAME=VALUE, such as runs=3")
        parameters[name] = value(text)
    return parameters


def typed(*words) -> str:
    """Return a command line of this program that can be typed where it was started."""
    main_module, script = sys.modules["__main__"], sys.argv[0]
    program = ["afterply"]
    if getattr(main_module, "__spec__", None) and main_module.__spec__.name.startswith(__name__):
        program = [sys.executable, "-m", main_module.__spec__.name]
    elif Path(script).stem == "afterply" and shutil.which("afterply") != script:
        program = [script]
    return shlex.join([*program, *map(str, words)])
