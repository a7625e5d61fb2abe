"""Hashes of sources: files of the package with all they import, functions with all they use."""

import ast
import functools
import hashlib
import inspect
import re
from pathlib import Path

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
PACKAGE = Path(__file__).resolve().parents[1]
# imports stand at the left margin; whole files take long to parse
IMPORTS = re.compile(
    rb"^(?:from [.\w]+ import (?:\([^)]*\)|[^(\n]*)|import [\w., ]+)", re.MULTILINE
)
# read once: what is edited later is not what this process runs, and must not sign its numbers
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_bytes()
    for path in sorted(PACKAGE.rglob("*.py"))
}


def source_hash(*names: str) -> str:
    """Return 16 hex digits that identify sources as they were when this process imported them.

    `names` are files relative to the package, such as ``"learners/td.py"``; none means all.
    """
    digest = hashlib.sha256()
    for name in names or SOURCES:
        digest.update(name.encode() + b"\0" + SOURCES[name] + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def import_closure(file: str) -> frozenset:
    """Return a file of the package and all that it imports at its left margin, also indirectly.

    File names are relative to the package.
    """
    found, ahead = set(), [file]
    while ahead:
        file = ahead.pop()
        if file not in found and file in SOURCES:
            found.add(file)
            ahead += _imported(file, SOURCES[file])
    return frozenset(found)


@functools.cache
def _imported(file: str, source: bytes) -> list[str]:
    """Return the files that one may import: those of the modules, and of the names if modules."""
    wanted = []
    for node in ast.parse(b"\n".join(IMPORTS.findall(source))).body:
        if isinstance(node, ast.ImportFrom):
            above = [PACKAGE.name, *file.split("/")[: -node.level]] if node.level else []
            base = [*above, *filter(None, (node.module or "").split("."))]
            wanted += [base, *([*base, alias.name] for alias in node.names)]
        else:
            wanted += [alias.name.split(".") for alias in node.names]
    own = ["/".join(parts[1:]) for parts in wanted if parts[0] == PACKAGE.name]
    return [end for name in own for end in (f"{name}.py", f"{name}/__init__.py".lstrip("/"))]


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
        Gets every value that the function refers to and returns what is hashed in its place.
        Without it, only numbers, words, arrays, collections of them and functions count.
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
