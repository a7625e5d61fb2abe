"""Hashes of sources: files of the package with all they import, code of others with all it uses."""

import ast
import functools
import hashlib
import inspect
import re
import sys
import sysconfig
from pathlib import Path

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
PACKAGE = Path(__file__).resolve().parents[1]
PLACES = ("stdlib", "platstdlib", "purelib", "platlib")  # of Python's and of installed modules
INSTALLED = (PACKAGE, *{Path(sysconfig.get_path(name)).resolve() for name in PLACES})
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


# ------------------------------------------------------------ what has no version of its own


def file_in_package(thing) -> str | None:
    """Return which file of the package defines a module, class, function or object, if one does.

    The name is relative to the package; golden runs guard the numbers of what is defined there.
    """
    file = getattr(sys.modules.get(_module_of(thing)), "__file__", None)
    inside = file and Path(file).resolve().is_relative_to(PACKAGE)
    return Path(file).resolve().relative_to(PACKAGE).as_posix() if inside else None


def code_version(thing) -> str:
    """Return the version of something without one of its own: a hash of its code.

    The constants and helpers that the code refers to count: a function that another one made has
    the other's arguments in its version. What is installed, this package included, counts by name.

    Raises
    ------
    ValueError
        If it refers to an object whose content cannot be known.
    """
    is_module = inspect.ismodule(thing)
    content = inspect.getsource(thing) if is_module else _inside(thing, thing, [thing])
    return "source-" + hashlib.sha256(repr(content).encode()).hexdigest()[:12]


def _module_of(thing) -> str:
    """Return the name of the module that defines something; "" in a notebook or a script."""
    if inspect.ismodule(thing):
        return thing.__name__
    definition = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    name = getattr(definition, "__module__", None) or "builtins"
    return "" if name == "__main__" else name


def _is_installed(thing) -> bool:
    module = sys.modules.get(_module_of(thing))
    file = Path(getattr(module, "__file__", None) or PACKAGE).resolve()  # built in: no file
    return module is not None and any(file.is_relative_to(place) for place in INSTALLED)


def _content(value, thing, seen):
    """Return what a value that `thing` refers to is made of, with a `repr` that says all of it."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_content(part, thing, seen) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, dict):
        return [_content(pair, thing, seen) for pair in value.items()]
    if isinstance(value, functools.partial):
        return _content((value.func, value.args, value.keywords), thing, seen)
    if inspect.ismodule(value):
        return value.__name__
    if inspect.ismethod(value):
        return _content((value.__func__, value.__self__), thing, seen)
    is_code = inspect.isroutine(value) or inspect.isclass(value) or hasattr(value, "py_func")
    if any(value is one for one in seen) or is_code and _is_installed(value):
        named = value if is_code else type(value)
        return f"{named.__module__}.{getattr(named, '__qualname__', named.__name__)}"
    seen.append(value)
    for name in () if is_code else ("identity", "checksum"):  # of games, of networks
        if hasattr(value, name):
            found = getattr(value, name)
            return repr(found() if callable(found) else found)
    foreign = _is_installed(value) and file_in_package(value) is None
    if not is_code and (foreign or not hasattr(value, "__dict__")):
        raise ValueError(
            f"{thing!r} needs a version, because it refers to {value!r}, whose content cannot be"
            " known: set its attribute version (VERSION)"
        )
    return _inside(value, thing, seen)


def _inside(value, thing, seen):
    """Return what a function, class or object is made of."""
    function = getattr(value, "py_func", value)
    if hasattr(function, "__code__"):
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
        defaults = [function.__defaults__, sorted((function.__kwdefaults__ or {}).items())]
        code = _code(function.__code__, function, thing, seen)
        return code, _content(cells + defaults, thing, seen)
    if inspect.isclass(value):
        # the function behind a static method, class method or property
        own = [(n, getattr(v, "__func__", getattr(v, "fget", v))) for n, v in vars(value).items()]
        kept = [(n, v) for n, v in own if n[:2] != "__" or _is_written(v)]
        return _content(sorted(kept, key=lambda pair: pair[0]), thing, seen)
    if isinstance(value, dict):  # of the rules of a game
        return [(name, part and _inside(part, thing, seen)) for name, part in value.items()]
    if isinstance(value, functools.partial):
        return _content(value, thing, seen)
    return _content([type(value), getattr(value, "__dict__", {})], thing, seen)


def _code(code, function, thing, seen):
    parts = []
    for constant in code.co_consts:  # also of lambdas and comprehensions
        if inspect.iscode(constant):
            parts.append(_code(constant, function, thing, seen))
        elif constant != function.__doc__:
            parts.append(_content(constant, thing, seen))
    known = function.__globals__
    used = [_content(known[name], thing, seen) for name in code.co_names if name in known]
    return code.co_code, code.co_names, parts, used


def _is_written(member) -> bool:
    """Return whether a special method stands in the source; dataclasses generate others."""
    return inspect.isfunction(member) and member.__code__.co_filename != "<string>"


def _is_bound(cell) -> bool:
    try:
        cell.cell_contents
    except ValueError:  # a name that is bound later
        return False
    return True
