"""The two command lines: ``afterply`` (`cli`), and what is behind the Makefile (`reproduce`)."""

import argparse
import contextlib
import functools
import inspect
import os
import re
import shlex
import shutil
import signal
import sys
import textwrap
import threading
from pathlib import Path

INTERRUPTED = 130
UNHEARD = 141  # nobody reads what is printed any more, as after | head: what a shell says of it
AGAIN = 0.05  # seconds until Ctrl-C is tried again
WIDE = 96  # characters of a line of help
GOES_ON = "The same command goes on from what was finished."


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C, which comes again if it is swallowed on its way, as by a destructor."""

    arrived = False

    def __del__(self):
        if not self.arrived:
            _try_again()


def _try_again():
    if signal.getsignal(signal.SIGINT) is _interrupt:
        given = threading.main_thread().ident, signal.SIGINT  # which may wait for something
        threading.Timer(AGAIN, signal.pthread_kill, given).start()


def _interrupt(number, frame):
    """Raise what Ctrl-C raises, but not within llvmlite, whose memory would be freed twice."""
    while frame and not frame.f_globals.get("__name__", "").startswith("llvmlite"):
        frame = frame.f_back
    if not frame:
        raise _Interrupted
    _try_again()


def pairs(words, value) -> dict:
    """Return the parameters in words such as ``runs=3``: name -> `value` of the text behind."""
    if wrong := [word for word in words if "=" not in word[1:]]:
        raise ValueError(f"{wrong[0]!r} is not of the form NAME=VALUE, such as runs=3")
    return {name: value(text) for name, _, text in (word.partition("=") for word in words)}


def typed(*words) -> str:
    """Return a command line of this program that can be typed where it was started."""
    main, started = sys.modules["__main__"], sys.argv[0]
    program = ["afterply"]
    if getattr(main, "__spec__", None) and main.__spec__.name.startswith(__name__):
        program = [sys.executable, "-m", main.__spec__.name]
    elif Path(started).stem == "afterply" and shutil.which("afterply") != started:
        program = [started]
    return shlex.join([*program, *map(str, words)])


def _nothing_more(command: str, given: dict) -> str:
    return ""


def run_command(program: str, functions, words=None, more=_nothing_more) -> int:
    """Call the one of some functions that a command line names; return the exit status.

    A function's docstring is the help of its command. The last paragraph may say what each of its
    parameters is, ``name: words``, and what is left after ``Ctrl-C``. The help ends with what
    `more` returns of the command's name and what it was given before --help.
    """
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:  # closed, as by <&-
            setattr(sys, name, open(os.devnull, mode))
    before = signal.getsignal(signal.SIGINT)
    if heard := before is signal.default_int_handler:  # else it is ignored, or somebody else's
        signal.signal(signal.SIGINT, _interrupt)
    try:
        try:
            return _run(program, functions, words, more)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
        return UNHEARD
    except OSError as error:  # no room for what is printed
        _let_go()
        with contextlib.suppress(OSError):
            print(f"{program}: what is printed has no place: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError) as stop:
        stop.arrived = True
        print(f"\nStopped. {getattr(stop, 'left', GOES_ON)}", file=sys.stderr)
        return INTERRUPTED
    finally:
        if heard:
            signal.signal(signal.SIGINT, before)


def _let_go():
    """Let what cannot be printed go, so that Python does not try once more at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), stream.fileno())


def _run(program, functions, words, more):
    name, left = "", GOES_ON
    try:
        name, command, given = _understood(program, functions, words, more)
        left = _described(command)[1].get("Ctrl-C", GOES_ON)
        return command(*given.args, **given.kwargs) or 0
    except (KeyboardInterrupt, EOFError) as stop:
        stop.left = left
        raise
    except BrokenPipeError:
        raise
    except (ValueError, ImportError, OSError) as error:
        print(f"{' '.join([program, name]).strip()}: {error}", file=sys.stderr)
        return 2


def _understood(program, functions, words, more):
    """Return the name of a command, its function, and what it is given."""
    # parameters with a default are options, False is a switch, one with () may be repeated
    layout = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    about = f"`{program} COMMAND --help` says what a command does and takes."
    parser = argparse.ArgumentParser(program, description=about, **layout)
    version = f"afterply {sys.modules['afterply'].__version__}"
    parser.add_argument("--version", action="version", version=version)
    known = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands = {function.__name__.strip("_"): function for function in functions}
    for name, function in commands.items():
        about, meant = _described(function)
        first, left = about.split("\n")[0], meant.get("Ctrl-C")
        if left:
            about += "\n\n" + textwrap.fill(f"Ctrl-C: {left}", WIDE)
        words_of = {"help": first, "description": about, "add_help": False}
        command = known.add_parser(name, **words_of, **layout)
        command.add_argument("-h", "--help", action=_Help, more=functools.partial(more, name))
        for one in inspect.signature(function).parameters.values():
            if one.default is one.empty:
                several = "*" if one.kind == one.VAR_POSITIONAL else None
                command.add_argument(one.name, nargs=several, help=meant.get(one.name))
            elif one.default is False:
                told = meant.get(one.name)
                command.add_argument(f"--{one.name}", action="store_true", help=told)
            elif one.default == ():
                told = meant.get(one.name)
                command.add_argument(f"--{one.name}", action="append", default=[], help=told)
            else:
                kind = str if one.default is None else type(one.default)
                told = _with_default(meant.get(one.name, ""), one.default)
                command.add_argument(f"--{one.name}", type=kind, default=one.default, help=told)
    found, rest = parser.parse_known_args(words)
    given = vars(found)
    name = given.pop("command")
    taken = inspect.signature(commands[name]).parameters.values()
    several = [one.name for one in taken if one.kind == one.VAR_POSITIONAL]
    if odd := [word for word in rest if not several or word.startswith("-")]:
        parser.error(f"unrecognized: {' '.join(odd)}; see `{program} {name} --help`")
    for one in several:  # argparse takes none of them that stand behind an option
        given[one] = [*given[one], *rest]
    bound = inspect.signature(commands[name]).bind_partial()
    bound.arguments |= given
    return name, commands[name], bound


class _Help(argparse.Action):
    """The help of a command, which ends with what is worth knowing where --help was typed."""

    def __init__(self, option_strings, dest, more):
        told = "show this message and exit"
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=told)
        self.more = more

    def __call__(self, parser, namespace, values, option=None):
        parser.epilog = self.more(vars(namespace))
        parser.print_help()
        parser.exit()


def _described(function) -> tuple[str, dict]:
    """Return what the docstring of a command says of it, and of each of its parameters."""
    text = inspect.getdoc(function) or ""
    about, _, last = text.rpartition("\n\n")
    entry = r"^([\w-]+): ((?:.|\n(?=    ))+)$"
    meant = {name: " ".join(text.split()) for name, text in re.findall(entry, last, re.MULTILINE)}
    return (about, meant) if meant else (text, {})


def _with_default(text: str, default) -> str:
    """Return the help of an option, with its default unless the text already names it."""
    if default in (None, "") or "default" in text:
        return text
    return f"{text} (default: {default})".strip()
