"""The hash of a function: its code, and all constants and helpers that it refers to."""

import functools
import inspect

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def hash_function(digest, function, seen: set, simplify=None) -> None:
    """Feed the code of a function, and what it refers to outside itself, into a hash.

    Parameters
    ----------
    digest : hashlib object
    function : callable
        A Python function or a kernel made of one.
    seen : set
        Identities of the functions that are in the hash already; empty to begin with.
    simplify : callable, optional
        Gets every value that the function refers to and returns what is hashed in its place, or
        the value itself. Without it, what is neither a number, a word, an array, a collection of
        them nor a function does not count.
    """
    function = getattr(function, "py_func", function)
    if id(function) in seen:
        return
    seen.add(id(function))  # not its code, which it shares with others of the same maker
    _hash_code(digest, function.__code__, function, seen, simplify)
    defaults = [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
    cells = [cell.cell_contents for cell in function.__closure__ or () if not _is_empty(cell)]
    for value in cells + defaults:
        hash_value(digest, value, seen, simplify)


def _hash_code(digest, code, function, seen, simplify):
    inner = [constant for constant in code.co_consts if inspect.iscode(constant)]
    plain = [c for c in code.co_consts if c != function.__doc__ and not inspect.iscode(c)]
    digest.update(code.co_code + repr(plain).encode() + repr(code.co_names).encode())
    for part in inner:  # lambdas, comprehensions
        _hash_code(digest, part, function, seen, simplify)
    for name in code.co_names:
        if name in function.__globals__:
            hash_value(digest, function.__globals__[name], seen, simplify)


def hash_value(digest, value, seen: set, simplify=None) -> None:
    """Feed a value that a function refers to into a hash; see :func:`hash_function`."""
    value = value if simplify is None else simplify(value)
    if isinstance(value, PLAIN):
        digest.update(repr(value).encode())
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype.str} {value.shape}".encode() + value.tobytes())
    elif isinstance(value, (tuple, list)):
        digest.update(f"{type(value).__name__} {len(value)}".encode())
        for part in value:
            hash_value(digest, part, seen, simplify)
    elif isinstance(value, (set, frozenset)):
        digest.update(repr(sorted(map(repr, value))).encode())
    elif isinstance(value, dict):
        hash_value(digest, list(value.items()), seen, simplify)
    elif isinstance(value, functools.partial):
        hash_value(digest, [value.func, value.args, value.keywords], seen, simplify)
    elif hasattr(getattr(value, "py_func", value), "__code__"):
        hash_function(digest, value, seen, simplify)


def _is_empty(cell) -> bool:
    try:
        cell.cell_contents
    except ValueError:  # a name that is bound later
        return True
    return False
