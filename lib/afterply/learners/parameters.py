"""Declared parameters: kind, default, range and meaning, each once, in a learner's ``PARAMETERS``.

Sessions, studies, the command line and the documentation read this table, and kernels what
:func:`kernel_values` makes of it. A parameter is declared by its kind::

    whole, number, ramp      (default, meaning, low, high); None = no bound. A ramp is a number, or
                             a pair [first, last] between which it changes over the training
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
            known = isinstance(value, str) and value in self.choices
            return None if known else f"must be one of {', '.join(map(repr, self.choices))}"
        listed = isinstance(value, (list, tuple))
        if self.kind == "list":
            fits = listed and all(is_whole(one) and self._fits(one) for one in value)
            return None if fits else f"must be a list of whole numbers, each {self._limits()}"
        if self.kind == "ramp" and listed:
            if len(value) != 2:
                return "must be one number or [first, last]"
            return self.problem(value[0]) or self.problem(value[1])
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return "must be a number"
        if self.kind == "whole" and not isinstance(value, int):
            return "must be a whole number"
        if not math.isfinite(value):
            return "must be finite"
        return None if self._fits(value) else f"must be {self._limits()}"

    def _fits(self, value) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def _limits(self) -> str:
        upwards = f"at least {self.low:g}"
        return upwards if self.high is None else f"between {self.low:g} and {self.high:g}"


whole, number, ramp = (partial(Parameter, kind) for kind in ("whole", "number", "ramp"))
switch, other, whole_numbers = (partial(Parameter, kind) for kind in ("switch", "other", "list"))
fraction = partial(number, low=0, high=1)


def choice(choices, meaning):
    """Declare one of some words, `choices`, by default the first, and its `meaning`."""
    return Parameter("choice", choices[0], meaning, choices=choices)


def defaults(declared: dict) -> dict:
    """Return name -> default of declared parameters."""
    return {name: parameter.default for name, parameter in declared.items()}


def usual(declared: dict, game) -> dict:
    """Return the parameters that a game's own file states, for a learner that has n-tuples."""
    known = declared if "tuples" in declared else ()
    return plain({name: value for name, value in game.settings.items() if name in known})


def check_parameters(declared: dict, given: dict | None, game=None, changed=None) -> dict:
    """Return all declared parameters: `given`, or as usual in the game, with some of them changed.

    What is not given has its default. ValueError names what is wrong; so it does if `given` leaves
    out what the game's file states, since it might mean either that or the default.
    """
    stated, own = {} if game is None else usual(declared, game), defaults(declared)
    given = stated if given is None and game is not None else given
    if not isinstance(given, dict):
        raise TypeError(f"parameters are a dictionary name -> value, not {given!r}")
    given = plain(given | (changed or {}))
    for name, value in given.items():
        if name not in declared:
            near = difflib.get_close_matches(str(name), declared, 1)
            known = f"known are {', '.join(sorted(declared))}"
            hint = f"did you mean {near[0]!r}?" if near else known
            raise ValueError(f"there is no parameter {name!r}: {hint}")
        if problem := declared[name].problem(value):
            raise ValueError(
                f"{name}={value!r} {problem} ({declared[name].meaning}); the default is"
                f" {declared[name].default!r}"
            )
    if left := [n for n, value in stated.items() if n not in given and value != own[n]]:
        named = ", ".join(["game", *(f"{n}={reprlib.repr(v)}" for n, v in given.items())])
        raise ValueError(
            f"this dictionary leaves out {', '.join(left)}, of which {game.name} has its own usual"
            f" values: Session({named}) takes these, and the dictionary DEFAULTS | {{...}} those of"
            " the learner"
        )
    return own | given


def kernel_values(declared: dict, params: dict) -> dict:
    """Return what kernels read of checked `params`, as `declared`: field -> number or bool."""
    # a ramp x gives x_first and x_last, a choice x for every word whether it is chosen: x_word
    plain, found = {"whole": int, "number": float, "switch": bool}, {}
    for name, parameter in declared.items():
        value = params[name]
        if parameter.kind in plain:
            found[name] = plain[parameter.kind](value)
        elif parameter.kind == "ramp":
            first, last = value if isinstance(value, (list, tuple)) else (value, value)
            found |= {f"{name}_first": float(first), f"{name}_last": float(last)}
        for word in parameter.choices:
            found[re.sub(r"\W", "_", f"{name}_{word}").lower()] = value == word
    return found
