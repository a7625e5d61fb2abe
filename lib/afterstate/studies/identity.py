"""Who a learner or an evaluator is: the names, versions and sources that keys of records state."""

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
import sys
import sysconfig
from pathlib import Path

import numpy as np

from ..kernel.source import PACKAGE, PLAIN, hash_value, import_closure, source_hash
from ..learners.parameters import check_parameters

PLACES = ("stdlib", "platstdlib", "purelib", "platlib")  # of Python's and of installed modules
INSTALLED = tuple({sysconfig.get_path(name) for name in PLACES})


def canonical(value):
    """Return `value` as plain JSON data: tuples as lists, numpy numbers as Python's.

    Raises
    ------
    TypeError, ValueError
        If it holds something that a record cannot state exactly (an object, nan, infinity).
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} cannot be recorded: give a finite number or None")
        return float(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return [canonical(v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: canonical(v) for k, v in value.items()}
    raise TypeError(
        f"{value!r} cannot be recorded: use numbers, words, lists and dictionaries of them"
    )


def key_of(content: dict) -> str:
    """Return the key of data: 16 hex digits, the same for the same content in any order."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def in_package(thing) -> bool:
    """Return whether something is defined in this package, whose versions golden runs guard."""
    file = _source_file(thing)
    return file is not None and file.is_relative_to(PACKAGE)


def learner_identity(learner) -> dict:
    """Return name and version of a learner; one of a notebook has the hash of its code."""
    name = getattr(learner, "NAME", None) or learner.__name__.rpartition(".")[2]
    version = learner.VERSION if in_package(learner) else source_version(learner)
    return {"name": name, "version": version}


def evaluator_name(evaluator) -> str:
    """Return the name of an evaluator; a plain function has its own."""
    name = getattr(evaluator, "name", None) or getattr(evaluator, "__name__", None)
    if not name:
        raise ValueError(
            f"{evaluator!r} is no evaluator: give a function (game, net, seed) -> {{metric: value}}"
            " with a name"
        )
    return name


def evaluator_identity(evaluator) -> dict:
    """Return name, version and settings of an evaluator.

    The settings are its dataclass fields, its ``settings`` and its ``identity``. A plain function
    has its name and the hash of its code.
    """
    settings = {}
    for field in dataclasses.fields(evaluator) if dataclasses.is_dataclass(evaluator) else ():
        # an opponent made by a function: its name and the identity speak for it
        with contextlib.suppress(TypeError):
            if field.compare:
                settings[field.name] = canonical(getattr(evaluator, field.name))
    for more in ("settings", "identity"):
        settings |= canonical(getattr(evaluator, more, None) or {})
    version = getattr(evaluator, "version", None)
    return {
        "name": evaluator_name(evaluator),
        "version": source_version(evaluator) if version is None else version,
        "settings": {k: v for k, v in settings.items() if k not in ("name", "version")},
    }


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner as records hold them: `given` over its DEFAULTS.

    Raises
    ------
    ValueError
        If a name is unknown (with the closest one) or a value is out of its declared range.
    """
    defaults = dict(learner.DEFAULTS)
    check_parameters(getattr(learner, "PARAMETERS", None) or defaults, given)
    full = {n: _like(defaults[n], value) for n, value in canonical(defaults | given).items()}
    return full | {"episodes": episodes} if "episodes" in defaults else full


def _like(default, value):
    """Write whole numbers as floats where the default is one: 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, v) for v in value]
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def sources_behind(game, learner) -> str:
    """Return the hash of the package's sources that decide the numbers of a learner in a game.

    These are the files that define the learner and the game's rules, with all that they import.
    """
    files = {_source_file(learner), _source_file(game.rule("play"))} - {None}
    names = [f.relative_to(PACKAGE).as_posix() for f in files if f.is_relative_to(PACKAGE)]
    return source_hash(*sorted(set().union(*map(import_closure, names)))) if names else ""


def _source_file(thing) -> Path | None:
    is_definition = inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing)
    return _file_of(thing if is_definition else type(thing))


@functools.cache
def _file_of(definition) -> Path | None:
    try:
        return Path(inspect.getsourcefile(definition) or "").resolve()
    except (TypeError, OSError):  # typed at a prompt or in a notebook
        return None


# ------------------------------------------------------------ what has no version of its own


def source_version(thing) -> str:
    """Return the version of something without one of its own: a hash of its code.

    The constants and helpers that the code refers to count, wherever they come from: a function
    that another one made has the other's arguments in its version.

    Raises
    ------
    ValueError
        If it refers to an object whose content cannot be known.
    """
    digest, seen = hashlib.sha256(), {id(thing)}

    def simplify(value):
        try:
            return _simplified(value, seen)
        except TypeError as error:
            raise ValueError(
                f"{thing!r} needs a version, because it refers to {value!r}, whose content cannot"
                " be known: set its attribute version (VERSION)"
            ) from error

    hash_value(digest, _members(thing, seen), set(), simplify)
    return "source-" + digest.hexdigest()[:12]


def _members(thing, seen):
    """Return what makes up a function, class, module or object, as values that can be hashed."""
    seen.add(id(thing))
    if inspect.ismodule(thing):
        return inspect.getsource(thing)
    if inspect.isclass(thing):
        own = [(name, _function_of(value)) for name, value in sorted(vars(thing).items())]
        return [
            (name, value)
            for name, value in own
            if (name[:2] != "__" or inspect.isfunction(value)) and not _is_generated(name, value)
        ]
    if isinstance(thing, functools.partial) or hasattr(
        getattr(thing, "py_func", thing), "__code__"
    ):
        return thing
    return [type(thing), getattr(thing, "__dict__", {})]


def _function_of(member):
    """Return the function behind a static method, class method or property."""
    return getattr(member, "__func__", getattr(member, "fget", member))


def _is_generated(name, member) -> bool:
    """Return whether a member is one that dataclasses write for each of their classes."""
    code = getattr(member, "__code__", None)
    return name[:2] == "__" and code is not None and code.co_filename == "<string>"


def _simplified(value, seen):
    """Return what stands for a value in a hash: a name for what is installed, else its content.

    Raises TypeError if nothing can.
    """
    if isinstance(value, (*PLAIN, tuple, list, dict, set, frozenset, functools.partial)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if inspect.ismodule(value):
        return value.__name__
    if inspect.ismethod(value):
        return [value.__func__, value.__self__]
    is_code = inspect.isroutine(value) or hasattr(value, "py_func")
    if is_code or inspect.isclass(value):
        if _is_installed(value) or inspect.isclass(value) and id(value) in seen:
            return f"{value.__module__}.{getattr(value, '__qualname__', value.__name__)}"
        return _members(value, seen)
    for name in ("identity", "checksum"):  # of games, of networks
        if hasattr(value, name):
            content = getattr(value, name)
            return canonical(content() if callable(content) else content)
    if id(value) in seen:
        return type(value).__qualname__
    if not hasattr(value, "__dict__") or _is_installed(type(value)) and not in_package(value):
        raise TypeError(f"{value!r} has no content that can be known")
    return _members(value, seen)


def _is_installed(thing) -> bool:
    """Return whether a class or function comes with Python, a package or this one."""
    code = getattr(getattr(thing, "py_func", thing), "__code__", None)
    module = sys.modules.get(getattr(thing, "__module__", None) or "builtins")
    file = code.co_filename if code else getattr(module, "__file__", None)
    if file is None:
        return module is not None and module.__name__ != "__main__"
    return any(Path(file).is_relative_to(place) for place in (PACKAGE, *INSTALLED))
