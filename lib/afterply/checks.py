"""Checks of arguments: each returns the value, or raises an error that names it."""

import contextlib
import importlib
import math
import os
import reprlib
import sys
from pathlib import Path

import numpy as np

MOST_TIMES = 2**31 - 1  # that something is done, such as games: more would take days or years
CLONE = Path(__file__).resolve().parents[2]  # of the repository, unless installed from a wheel


def is_whole(value) -> bool:
    """Return whether a value is a whole number (True and False are none)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(name: str, value, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`, or raise ValueError."""
    is_within = is_whole(value) and value >= least and (most is None or value <= most)
    if not is_within:
        limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ValueError(f"{name} must be a whole number {limits}, not {value!r}")
    return int(value)


def count(name: str, value, least: int = 1) -> int:
    """Return how many times something is done, `least` to 2**31 - 1, or raise ValueError."""
    if is_whole(value) and value > MOST_TIMES:
        raise ValueError(
            f"{name} must be at most {MOST_TIMES:,}, not {value!r}: so many take days or years"
        )
    return whole(name, value, least)


def plain(value):
    """Return numpy's numbers and texts as Python's own, also within lists, tuples and dictionaries.

    Anything else, such as an array or a named tuple, comes back as it is. ValueError for a list or
    dictionary that holds itself.
    """
    try:
        return _plain(value)
    except RecursionError:
        raise ValueError(f"a {type(value).__name__} holds itself, or is nested too deep") from None


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is dict:
        return {name: _plain(entry) for name, entry in value.items()}
    if type(value) is list:
        return [_plain(element) for element in value]
    if type(value) is tuple:
        return tuple(_plain(element) for element in value)
    return value


def seed_number(value) -> int:
    """Return a seed, a whole number of any size and sign, or raise ValueError."""
    if not is_whole(value):
        raise ValueError(f"a seed must be a whole number, not {value!r}")
    return int(value)


def number(name: str, value, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a number from `low` to `high`, which nan is not, or raise ValueError."""
    is_number = is_whole(value) or isinstance(value, (float, np.floating))
    if not is_number or not low <= value <= high:
        raise ValueError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}")
    return float(value)


def fraction(name: str, value) -> float:
    """Return a number between 0 and 1, or raise ValueError."""
    return number(name, value, 0.0, 1.0)


def boolean(name: str, value) -> bool:
    """Return a truth value, or raise ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def text(name: str, value) -> str:
    """Return a text, or raise TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {value!r}")
    return value


def path(value) -> Path:
    """Return the name of a file or folder as a path, or raise TypeError or ValueError."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"a path is a text or a Path, not {value!r}")
    words = os.fspath(value)
    try:
        is_name = isinstance(words, str) and words and b"\0" not in os.fsencode(words)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise ValueError(f"{value!r} is the name of no file")
    return Path(words)


def generator(rng):
    """Return a generator of random numbers, or raise TypeError."""
    is_one = isinstance(rng, np.ndarray) and rng.dtype == np.uint64 and rng.shape == (1,)
    if not is_one:
        raise TypeError(f"rng must be a generator, as of kernel.new_rng(seed), not {rng!r}")
    return rng


def listed(name: str, value) -> list:
    """Return the entries of a list, a tuple or anything like it, or raise TypeError."""
    if not isinstance(value, (str, bytes, dict)):
        with contextlib.suppress(TypeError):
            return list(value)
    raise TypeError(f"{name} must be a list, not {value!r}")


def numbers(name: str, value) -> np.ndarray:
    """Return an array of whatever numbers, or raise ValueError if there are others in it."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):  # of rows unlike in length
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return array
    raise ValueError(f"{name} must be an array of numbers, not {reprlib.repr(value)}")


def one_of(name: str, value, choices) -> str:
    """Return one of some words, or raise ValueError."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {words}, not {value!r}")
    return value


def needs(module: str, extra: str):
    """Return a package that only an extra of this library brings.

    ImportError says how to get it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        raise ImportError(f"this needs the package {missing!r}: {to_install(extra)}") from error


def to_install(extra: str) -> str:
    """Return the command that installs an extra, from this clone or from the file of the wheel."""
    # No package index has this library, so its bare name might install somebody else's package.
    if (CLONE / "pyproject.toml").is_file():
        return f"pip install -e '.[{extra}]' in {CLONE}"
    version = sys.modules[__package__].__version__
    return f"pip install 'afterply-{version}-py3-none-any.whl[{extra}]'"
