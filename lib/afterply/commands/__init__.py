"""The two command lines: ``afterply`` (`cli`), and what is behind the Makefile (`reproduce`)."""

import argparse
import inspect
import signal
import sys
import threading

INTERRUPTED = 130
AGAIN = 0.05  # seconds until Ctrl-C is tried again


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


def run_command(program: str, functions, words=None, more: str = "") -> int:
    """Call the one of some functions that a command line names; return the exit status."""
    before = signal.getsignal(signal.SIGINT)
    if heard := before is signal.default_int_handler:  # else it is ignored, or somebody else's
        signal.signal(signal.SIGINT, _interrupt)
    try:
        return _run(program, functions, words, more)
    except (KeyboardInterrupt, EOFError) as stop:
        stop.arrived = True
        print("\nStopped. The same command goes on from what was finished.", file=sys.stderr)
        return INTERRUPTED
    finally:
        if heard:
            signal.signal(signal.SIGINT, before)


def _run(program, functions, words, more):
    # its docstring is the help, before `more`; parameters with a default are options, False is a
    # switch, and an option with () may be repeated
    layout = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": more}
    parser = argparse.ArgumentParser(program, **layout)
    version = f"afterply {sys.modules['afterply'].__version__}"
    parser.add_argument("--version", action="version", version=version)
    known = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands = {function.__name__.strip("_"): function for function in functions}
    for name, function in commands.items():
        about = inspect.getdoc(function)
        command = known.add_parser(name, help=about.split("\n")[0], description=about, **layout)
        for one in inspect.signature(function).parameters.values():
            if one.default is one.empty:
                several = "*" if one.kind == one.VAR_POSITIONAL else None
                command.add_argument(one.name, nargs=several)
            elif one.default is False:
                command.add_argument(f"--{one.name}", action="store_true")
            elif one.default == ():
                command.add_argument(f"--{one.name}", action="append", default=[])
            else:
                kind = str if one.default is None else type(one.default)
                text = f"default: {one.default}" if one.default is not None else None
                command.add_argument(f"--{one.name}", type=kind, default=one.default, help=text)
    given = vars(parser.parse_args(words))
    name = given.pop("command")
    bound = inspect.signature(commands[name]).bind_partial()
    bound.arguments |= given
    try:
        return commands[name](*bound.args, **bound.kwargs) or 0
    except (ValueError, ImportError, OSError) as error:
        print(f"{program} {name}: {error}", file=sys.stderr)
        return 2
