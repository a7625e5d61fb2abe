"""Readable errors for rules that can not be compiled: which rule and line, and what to write."""

import contextlib
import dis
import linecache
import re

from numba.core.errors import NumbaError

RETURNS = {
    "legal": "how many legal actions it wrote into moves",
    "player": "the number of the player to move",
    "over": "True or False",
    "outcomes": "how many chance outcomes there are",
    "outcome": "the probability of the outcome",
    "irreversible": "True or False",
    "heuristic": "its estimate as a float",
}
NO_MEMORY = (
    "it makes a new array or list (a copy, np.zeros, [...]): write into the arguments instead, and"
    " keep constants outside the rule, as a tuple or a numpy array"
)


class RuleError(ValueError):
    """A rule of a game can not be compiled.

    The message says which, where, and what to write instead.
    """


@contextlib.contextmanager
def readable(game: str, rule: str, function, num_arguments: int):
    """Refuse what compiled rules can not do, and turn numba's errors into a :class:`RuleError`.

    Parameters
    ----------
    game, rule : str
        Names, for the message.
    function : callable
        The rule.
    num_arguments : int
        How many arguments it must take.
    """
    code = getattr(function, "py_func", function).__code__
    problem = _refused(code, num_arguments)
    if problem:
        raise RuleError(f"game {game!r}: the rule {rule!r} can not be used: {problem}")
    try:
        yield
    except NumbaError as error:
        text = str(error)
        raise RuleError(
            f"game {game!r}: the rule {rule!r} can not be compiled:"
            f" {_meaning(rule, text)}{_place(code, text)}"
        ) from None


def _refused(code, num_arguments):
    """Say what compiles and then goes wrong without a word; None if nothing does.

    Exceptions are lost, printing crashes, numpy's chance has no seed.
    """
    if code.co_argcount != num_arguments:
        return (
            f"it takes {code.co_argcount} arguments"
            f" ({', '.join(code.co_varnames[: code.co_argcount])}), it must take {num_arguments};"
            " see the head of games/definition.py"
        )
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        return (
            "it raises an exception (or asserts), which compiled rules can not do: `legal` alone"
            " says what is allowed"
        )
    if "print" in code.co_names:
        return (
            "it prints, which compiled rules can not do: print from outside, with"
            " game.render(state)"
        )
    if "random" in code.co_names:
        return (
            "it uses random numbers without the run's seed: take random_int(rng, n) or"
            " random_float(rng) from afterstate.kernel"
        )
    return None


def _meaning(rule, text):
    """Return the cause in plain words where it is a usual one, else numba's own first sentence."""
    if "NRT required" in text or re.search(
        r"built-in function (zeros|ones|empty|full|array|arange|list|append)", text
    ):
        return NO_MEMORY
    if "reflected list" in text:
        return "it uses a Python list from outside: make that a tuple or a numpy array"
    if rule in RETURNS and "No conversion from" in text:
        return f"it must return {RETURNS[rule]}, on every path"
    if re.search(r"No conversion from .* to none", text):
        return "it must not return a value: it changes its arguments in place, as in s[0] = 1"
    attribute = re.search(r"Unknown attribute '(\w+)' of type array", text)
    if attribute:
        return (
            f"it uses .{attribute[1]}, but a state is no Python list: it is an int32 vector of"
            " fixed length, of which single numbers are read and written, as in s[0] = 1"
        )
    unknown = re.search(r"Untyped global name '(\w+)'.*<class '(\w+)'>", text)
    if unknown and unknown[2] == "function":
        return (
            f"it calls {unknown[1]}, which is plain Python: decorate {unknown[1]} with @kernel from"
            " afterstate.kernel"
        )
    if unknown:
        return (
            f"{unknown[1]} can not be used in a rule: write it out as a loop, with numbers, tuples"
            " and numpy arrays only"
        )
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith("Failed in nopython mode")
    ]
    return lines[0] if lines else text


def _place(code, text):
    """Return the line of the rule that numba complains of, if it names one of this rule's file."""
    lines = [
        int(a or b)
        for file, a, b in re.findall(r'(?:File "|at )([^"\s]+?)(?:", line (\d+)| \((\d+)\))', text)
        if file.rpartition("/")[2] == code.co_filename.rpartition("/")[2]
    ]
    source = linecache.getline(code.co_filename, lines[-1]).strip() if lines else ""
    return f" (line {lines[-1]}: {source})" if lines else ""
