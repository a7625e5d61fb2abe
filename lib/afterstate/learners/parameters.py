"""Declared parameters: kind, default, range and meaning of each; errors that name the remedy."""

import difflib
import math
from typing import NamedTuple


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
        if self.kind == "switch":
            return None if isinstance(value, bool) else "must be True or False"
        if self.kind == "choice":
            return (
                None
                if self.choices is None or isinstance(value, str) and value in self.choices
                else f"must be one of {', '.join(map(repr, self.choices))}"
            )
        if self.kind == "ramp" and isinstance(value, (list, tuple)):
            if len(value) != 2:
                return "must be one number or [first, last]"
            return next((p for p in map(self.problem, value) if p), None)
        wanted = int if self.kind == "whole" else (int, float)
        if isinstance(value, bool) or not isinstance(value, wanted):
            return "must be a whole number" if self.kind == "whole" else "must be a number"
        if not math.isfinite(value):
            return "must be finite"
        if not (
            (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        ):
            return (
                f"must be at least {self.low:g}"
                if self.high is None
                else f"must be between {self.low:g} and {self.high:g}"
            )
        return None


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


def choice(default, choices, meaning):
    """Declare one of some words (None = the learner checks it itself)."""
    return Parameter("choice", default, None, None, choices, meaning)


def switch(default, meaning):
    """Declare a truth value."""
    return Parameter("switch", default, None, None, None, meaning)


def defaults(declared: dict) -> dict:
    """Return name -> default of declared parameters."""
    return {name: parameter.default for name, parameter in declared.items()}


def check_parameters(declared: dict, given: dict) -> dict:
    """Return all parameters: the declared defaults overlaid with `given`.

    Parameters
    ----------
    declared : dict name -> Parameter
    given : dict name -> value

    Raises
    ------
    ValueError
        If a name is not declared or a value is out of its range; the message says what is allowed.
    TypeError
        If `given` is no dictionary.
    """
    if not isinstance(given, dict):
        raise TypeError(f"parameters are a dictionary name -> value, not {given!r}")
    for name, value in given.items():
        if name not in declared:
            near = difflib.get_close_matches(str(name), declared, 1)
            hint = (
                f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(declared))}"
            )
            raise ValueError(f"there is no parameter {name!r}: {hint}")
        problem = declared[name].problem(value)
        if problem:
            raise ValueError(
                f"{name}={value!r} {problem} ({declared[name].meaning}); the default is"
                f" {declared[name].default!r}"
            )
    return defaults(declared) | given


def first_last(value) -> tuple[float, float]:
    """Return both ends of a ramp."""
    return (
        (float(value[0]), float(value[1]))
        if isinstance(value, (list, tuple))
        else (float(value), float(value))
    )
