"""Declared parameters: kind, default, range and meaning, each once, in a learner's ``PARAMETERS``.

Sessions, studies, the command line and the documentation read this table, and
:func:`kernel_values` makes of it what kernels read.
"""

import difflib
import math
import re
from typing import NamedTuple

from ..checks import is_whole


class Parameter(NamedTuple):
    """One declared parameter of a learner: kind, default, range or choices, meaning."""

    kind: str
    default: object
    low: float | None
    high: float | None
    choices: tuple | None
    meaning: str

    def problem(self, value) -> str | None:
        """Return what is wrong with `value`, or None."""
        if self.kind == "other":
            return None
        if self.kind == "switch":
            return None if isinstance(value, bool) else "must be True or False"
        if self.kind == "choice":
            known = isinstance(value, str) and value in self.choices
            return None if known else f"must be one of {', '.join(map(repr, self.choices))}"
        if self.kind == "list":
            numbers = isinstance(value, (list, tuple)) and all(map(is_whole, value))
            fits = numbers and all(map(self._fits, value))
            return None if fits else f"must be a list of whole numbers, each {self._limits()}"
        if self.kind == "ramp" and isinstance(value, (list, tuple)):
            if len(value) != 2:
                return "must be one number or [first, last]"
            return next((p for p in map(self.problem, value) if p), None)
        wanted = int if self.kind == "whole" else (int, float)
        if isinstance(value, bool) or not isinstance(value, wanted):
            return "must be a whole number" if self.kind == "whole" else "must be a number"
        if not math.isfinite(value):
            return "must be finite"
        return None if self._fits(value) else f"must be {self._limits()}"

    def _fits(self, value) -> bool:
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)

    def _limits(self) -> str:
        if self.high is None:
            return f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"


def whole(default, low, meaning):
    """Declare a whole number of at least `low`."""
    return Parameter("whole", default, low, None, None, meaning)


def number(default, low, high, meaning):
    """Declare a number between `low` and `high` (None = no bound)."""
    return Parameter("number", default, low, high, None, meaning)


def fraction(default, meaning):
    """Declare a number between 0 and 1."""
    return number(default, 0.0, 1.0, meaning)


def ramp(default, low, high, meaning):
    """Declare a number, or a pair [first, last] between which it changes over the training."""
    return Parameter("ramp", default, low, high, None, meaning)


def choice(choices, meaning):
    """Declare one of some words, by default the first."""
    return Parameter("choice", choices[0], None, None, choices, meaning)


def other(default, meaning):
    """Declare something that the learner checks itself."""
    return Parameter("other", default, None, None, None, meaning)


def switch(default, meaning):
    """Declare a truth value."""
    return Parameter("switch", default, None, None, None, meaning)


def whole_numbers(low, high, meaning):
    """Declare a list of whole numbers between `low` and `high`, by default empty."""
    return Parameter("list", [], low, high, None, meaning)


def defaults(declared: dict) -> dict:
    """Return name -> default of declared parameters."""
    return {name: parameter.default for name, parameter in declared.items()}


def check_parameters(declared: dict, given: dict) -> dict:
    """Return all parameters: the declared defaults overlaid with `given`.

    Raises ValueError for a name that is not declared or a value out of its range, TypeError for no
    dictionary.
    """
    if not isinstance(given, dict):
        raise TypeError(f"parameters are a dictionary name -> value, not {given!r}")
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
    return defaults(declared) | given


def kernel_values(declared: dict, params: dict) -> dict:
    """Return what kernels read of checked parameters: field -> number or truth value.

    Numbers and switches keep their names, a ramp `x` gives `x_first` and `x_last`, and a choice `x`
    gives for every word whether it is the chosen one: `x_word`.
    """
    plain, found = {"whole": int, "number": float, "switch": bool}, {}
    for name, parameter in declared.items():
        value = params[name]
        if parameter.kind in plain:
            found[name] = plain[parameter.kind](value)
        elif parameter.kind == "ramp":
            first, last = value if isinstance(value, (list, tuple)) else (value, value)
            found |= {f"{name}_first": float(first), f"{name}_last": float(last)}
        for word in parameter.choices or ():
            found[re.sub(r"\W", "_", f"{name}_{word}").lower()] = value == word
    return found
