"""Hashes of sources: files of the package with all they import, code of others with all it uses."""

import functools
import hashlib
import inspect
import re
import sys
import sysconfig
from pathlib import Path

import numpy as np

# The package's name until November 2026. It stays in what was hashed under it: in the versions of
# code that is not ours, and in the names inside figures.
FORMER_NAME = "afterstate"
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
PACKAGE = Path(__file__).resolve().parents[1]
PLACES = ("stdlib", "platstdlib", "purelib", "platlib")  # of Python's and of installed modules
INSTALLED = (PACKAGE, *(Path(sysconfig.get_path(name)).resolve() for name in PLACES))
# an import at the left margin: dots, module, names; whole files take long to parse
IMPORT = re.compile(r"^from (\.+)([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)
# read once: what is edited later is not what this process runs, and must not sign its numbers
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}


def source_hash(*names: str) -> str:
    """Return 16 hex digits of some files of the package, or all, as this process imported them."""
    text = "".join(f"{name}\0{SOURCES[name]}\0" for name in names or SOURCES)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def import_closure(file: str) -> frozenset:
    """Return a file, relative to the package, and all files that it imports, also indirectly."""
    found, ahead = set(), [file]
    while ahead:
        file = ahead.pop()
        if file not in found and file in SOURCES:
            found.add(file)
            ahead += imported(file)
    return frozenset(found)


@functools.cache
def imported(file: str) -> list[str]:
    """Return the files that one may import: those of the modules, and of the names if modules."""
    files = []
    for dots, module, names in IMPORT.findall(SOURCES[file]):
        base = [*file.split("/")[: -len(dots)], *module.split(".")]
        for name in ("", *re.findall(r"\w+", names)):
            path = "/".join(filter(None, [*base, name]))
            files += [f"{path}.py", f"{path}/__init__.py".lstrip("/")]
    return files


def file_in_package(thing) -> str | None:
    """Return which file of the package defines a module, class, function or object, if one does."""
    path = Path(getattr(sys.modules.get(_module_of(thing)), "__file__", None) or "/").resolve()
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def code_version(thing) -> str:
    """Return the version of what has none: a hash of its code and of what the code refers to."""
    # what is installed, this package included, counts by name
    content = inspect.getsource(thing) if inspect.ismodule(thing) else _Content(thing).inside(thing)
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


class _Content:
    """What a thing is made of: nested values whose `repr` says all of it."""

    def __init__(self, thing):
        self.thing, self.seen = thing, [thing]

    def of(self, value):
        """Return the content of a value that the thing refers to."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, (list, tuple)):
            return type(value).__name__, [self.of(part) for part in value]
        if isinstance(value, (set, frozenset)):
            return sorted(map(repr, value))
        if isinstance(value, dict):
            return [self.of(pair) for pair in value.items()]
        if inspect.ismodule(value):
            return _as_hashed(value.__name__)
        if inspect.ismethod(value):
            return self.of((value.__func__, value.__self__))
        is_code = inspect.isroutine(value) or inspect.isclass(value) or hasattr(value, "py_func")
        if any(value is one for one in self.seen) or is_code and _is_installed(value):
            named = value if is_code else type(value)
            module = _as_hashed(named.__module__)
            return f"{module}.{getattr(named, '__qualname__', named.__name__)}"
        self.seen.append(value)
        for name in () if is_code else ("identity", "checksum"):  # of games, of networks
            if hasattr(value, name):
                found = getattr(value, name)
                return repr(found() if callable(found) else found)
        return self.inside(value)

    def inside(self, value):
        """Return what a function, class or object is made of."""
        function = getattr(value, "py_func", value)
        if hasattr(function, "__code__"):
            cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
            defaults = [function.__defaults__, sorted((function.__kwdefaults__ or {}).items())]
            return self.code(function.__code__, function), self.of(cells + defaults)
        if inspect.isclass(value):
            # the function behind a static method, class method or property
            own = {n: getattr(m, "__func__", getattr(m, "fget", m)) for n, m in vars(value).items()}
            return [(n, self.of(own[n])) for n in sorted(own) if n[:2] != "__" or _written(own[n])]
        if isinstance(value, dict):  # of the rules of a game
            return [(name, part and self.inside(part)) for name, part in value.items()]
        try:
            return self.of(value.__reduce_ex__(2))  # as it would be pickled
        except TypeError as error:
            raise ValueError(
                f"{self.thing!r} needs a version, because it refers to {value!r}, whose content"
                " cannot be known: set its attribute version (VERSION)"
            ) from error

    def code(self, code, function):
        """Return the instructions, and what their constants and global names stand for."""
        parts = []
        for constant in code.co_consts:  # also of lambdas and comprehensions
            if inspect.iscode(constant):
                parts.append(self.code(constant, function))
            elif constant != function.__doc__:
                parts.append(self.of(constant))
        known = function.__globals__
        used = [self.of(known[name]) for name in code.co_names if name in known]
        names = tuple(map(_as_hashed, code.co_names))
        return code.co_code, names, parts, used


def _as_hashed(name: str) -> str:
    """Return a name as hashes have it: one of the package or its modules begins as it once did."""
    own, dot, rest = name.partition(".")
    return FORMER_NAME + dot + rest if own == PACKAGE.name else name


def _written(member) -> bool:
    """Return whether a special method stands in the source; dataclasses generate others."""
    return inspect.isfunction(member) and member.__code__.co_filename != "<string>"


def _is_bound(cell) -> bool:
    try:
        cell.cell_contents
    except ValueError:  # a name that is bound later
        return False
    return True
