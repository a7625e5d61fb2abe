"""Versions of games that are defined outside the package: hashes of what their rules say."""

import hashlib

import numpy as np


def source_version(functions) -> str:
    """Return a hash of the code of all rules and of the constants and helpers that they use."""
    digest = hashlib.sha256()
    for rule, function in sorted(functions.items()):
        if function is not None:
            digest.update(rule.encode())
            _hash_function(digest, function, set())
    return "source-" + digest.hexdigest()[:12]


def _hash_function(digest, function, seen) -> None:
    """Feed the code of a function, and what it refers to outside itself, into a hash."""
    function = getattr(function, "py_func", function)  # a kernel's Python source
    code = function.__code__
    if code in seen:
        return
    seen.add(code)
    constants = [c for c in code.co_consts if c != function.__doc__ and not hasattr(c, "co_code")]
    digest.update(code.co_code + repr(constants).encode() + repr(code.co_names).encode())
    outside = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    for value in outside + [cell.cell_contents for cell in function.__closure__ or ()]:
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        elif isinstance(value, (bool, int, float, str, tuple, list, np.generic)):
            digest.update(repr(value).encode())
        elif hasattr(getattr(value, "py_func", value), "__code__"):
            _hash_function(digest, value, seen)
