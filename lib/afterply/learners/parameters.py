"""Declared parameters: kind, default, range and meaning, each once, in a learner's ``PARAMETERS``.

Sessions, studies, the command line and the documentation read this table, and kernels what
:func:`kernel_values` makes of it. A parameter is declared by its kind::

    whole, number, ramp      (default, meaning, low, high); None = no bound. A ramp is a number, or
                             a pair [first, last]: it changes from one to the other in training
    fraction, switch, other  (default, meaning); the learner itself checks an `other`
    whole_numbers            (default, meaning, low, high) of each number in a list
    choice                   (words, meaning); by default the first
"""

import difflib
import math
import re
import reprlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ..checks import is_whole, plain

__all__ = ["Parameter", "check_parameters", "choice", "defaults", "kernel_values"]

NUMBER_TYPES = {"whole": int, "number": float, "switch": bool}  # kind -> type in kernels


class Parameter(NamedTuple):
    """One declared parameter of a learner."""

    kind: str
    default: object
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple = ()
    # value -> what it stands for, if it is the name of something: that counts in keys of records
    content: Callable | None = None

    def problem(self, value) -> str | None:
        """Return what is wrong with `value`, or None."""
        if self.kind == "other":
            return None
        if self.kind == "switch":
            return None if isinstance(value, bool) else "must be True or False"
        if self.kind == "choice":
            return self._problem_of_choice(value)
        if self.kind == "list":
            return self._problem_of_list(value)
        if self.kind == "ramp" and isinstance(value, (list, tuple)):
            if len(value) != 2:
                return "must be one number or [first, last]"
            first, last = value
            return self.problem(first) or self.problem(last)
        return self._problem_of_number(value)

    def _problem_of_choice(self, value) -> str | None:
        if isinstance(value, str) and value in self.choices:
            return None
        words = ", ".join(map(repr, self.choices))
        return f"must be one of {words}"

    def _problem_of_list(self, value) -> str | None:
        is_list = isinstance(value, (list, tuple))
        if is_list and all(is_whole(entry) and self._in_range(entry) for entry in value):
            return None
        return f"must be a list of whole numbers, each {self._range()}"

    def _problem_of_number(self, value) -> str | None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return "must be a number"
        if self.kind == "whole" and not isinstance(value, int):
            return "must be a whole number"
        if not math.isfinite(value):
            return "must be finite"
        return None if self._in_range(value) else f"must be {self._range()}"

    def _in_range(self, value) -> bool:
        if self.low is not None and value < self.low:
            return False
        return self.high is None or value <= self.high

    def _range(self) -> str:
        """Return the range in words, as an error says it."""
        if self.high is None:
            return f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"


whole = partial(Parameter, "whole")
number = partial(Parameter, "number")
ramp = partial(Parameter, "ramp")
switch = partial(Parameter, "switch")
other = partial(Parameter, "other")
whole_numbers = partial(Parameter, "list")
fraction = partial(number, low=0, high=1)


def choice(choices, meaning):
    """Declare one of some words, `choices`, by default the first, and its `meaning`."""
    return Parameter("choice", choices[0], meaning, choices=choices)


def defaults(declared: dict) -> dict:
    """Return name -> default of declared parameters."""
    return {name: parameter.default for name, parameter in declared.items()}


def usual(declared: dict, game) -> dict:
    """Return the parameters that the game's own file recommends to a learner with n-tuples.

    That is none for a learner without the parameter ``tuples``.
    """
    if "tuples" not in declared:
        return {}
    return plain({name: value for name, value in game.settings.items() if name in declared})


def check_parameters(declared: dict, given: dict | None, game=None, changed=None) -> dict:
    """Return the values of all declared parameters of a learner, checked.

    Parameters
    ----------
    declared : dict, name -> Parameter
        The ``PARAMETERS`` of the learner.
    given : dict, name -> value, or None
        What it does not name has its default. None stands for the parameters that the file of the
        game recommends.
    game : Game, optional
        The game that is learned.
    changed : dict, name -> value, optional
        Parameters with other values than those of `given`.

    Raises
    ------
    ValueError
        If there is no such parameter, or a value is out of range; and if `given` leaves out what
        the game's file recommends, since it might mean either that or the default.
    TypeError
        If `given` is no dictionary.
    """
    recommended = {} if game is None else usual(declared, game)
    if given is None and game is not None:
        given = recommended
    if not isinstance(given, dict):
        raise TypeError(f"parameters are a dictionary name -> value, not {given!r}")
    values = plain(given | (changed or {}))
    for name, value in values.items():
        _check_value(declared, name, value)
    default_values = defaults(declared)
    left_out = [
        name
        for name, value in recommended.items()
        if name not in values and value != default_values[name]
    ]
    if left_out:
        raise _leaves_out(left_out, values, game)
    return default_values | values


def _check_value(declared, name, value) -> None:
    """Raise ValueError if there is no parameter of this name, or if it cannot have this value."""
    if name not in declared:
        similar = difflib.get_close_matches(str(name), declared, 1)
        if similar:
            hint = f"did you mean {similar[0]!r}?"
        else:
            hint = f"known are {', '.join(sorted(declared))}"
        raise ValueError(f"there is no parameter {name!r}: {hint}")
    parameter = declared[name]
    problem = parameter.problem(value)
    if problem:
        raise ValueError(
            f"{name}={value!r} {problem} ({parameter.meaning}); the default is"
            f" {parameter.default!r}"
        )


def _leaves_out(names, values, game) -> ValueError:
    """Return the error for `values` without the parameters `names`, which the game recommends."""
    arguments = ["game"]
    for name, value in values.items():
        arguments.append(f"{name}={reprlib.repr(value)}")
    return ValueError(
        f"this dictionary leaves out {', '.join(names)}, of which {game.name} has its own usual"
        f" values: Session({', '.join(arguments)}) takes these, and the dictionary DEFAULTS |"
        " {...} those of the learner"
    )


def kernel_values(declared: dict, params: dict) -> dict:
    """Return what kernels read of checked `params`, of parameters as `declared`: field -> value.

    The values are numbers or bool.

    A whole number, a number or a switch is one field of its own name. A ramp ``x`` is two,
    ``x_first`` and ``x_last``. A choice ``x`` is one for each word, ``x_word``: whether it is
    chosen. A list and a parameter of the kind "other" are none.
    """
    fields = {}
    for name, parameter in declared.items():
        value = params[name]
        if parameter.kind in NUMBER_TYPES:
            fields[name] = NUMBER_TYPES[parameter.kind](value)
        elif parameter.kind == "ramp":
            is_pair = isinstance(value, (list, tuple))
            first, last = value if is_pair else (value, value)
            fields[f"{name}_first"] = float(first)
            fields[f"{name}_last"] = float(last)
        for word in parameter.choices:
            field = re.sub(r"\W", "_", f"{name}_{word}").lower()
            fields[field] = value == word
    return fields
