"""Who a learner or an evaluator is: the names, versions and sources that keys and records state."""

import contextlib
import dataclasses
import difflib
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
        If it holds something that a record can not say exactly (an object, nan, infinity).
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} can not be recorded: give a finite number or None")
        return float(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return [canonical(v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: canonical(v) for k, v in value.items()}
    raise TypeError(
        f"{value!r} can not be recorded: use numbers, words, lists and dictionaries of them"
    )


def key_of(content: dict) -> str:
    """Return the key of JSON data: 16 hex digits, the same for the same content in any order."""
    return key_of_plain(canonical(content))


def key_of_plain(content: dict) -> str:
    """Return the key of JSON data that is :func:`canonical` already, such as a file's."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def source_version(thing) -> str:
    """Return the version of something without one of its own: a hash of its code.

    The constants and helpers that the code refers to count, wherever they come from: a function
    that another one made has the other's arguments in its version.

    Raises
    ------
    ValueError
        If it refers to an object whose content can not be told.
    """
    digest, seen = hashlib.sha256(), {id(thing)}

    def simplify(value):
        try:
            return _simplified(value, seen)
        except TypeError as error:
            raise ValueError(
                f"{thing!r} needs a version, because it refers to {value!r}, whose content can not"
                " be told: set its attribute version (VERSION)"
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
    for told in ("identity", "checksum"):  # of games, of networks
        if hasattr(value, told):
            content = getattr(value, told)
            return canonical(content() if callable(content) else content)
    if id(value) in seen:
        return type(value).__qualname__
    if not hasattr(value, "__dict__") or _is_installed(type(value)) and not in_package(value):
        raise TypeError(f"{value!r} has no content that can be told")
    return _members(value, seen)


def _is_installed(thing) -> bool:
    """Return whether a class or function comes with Python, a package or this one."""
    code = getattr(getattr(thing, "py_func", thing), "__code__", None)
    module = sys.modules.get(getattr(thing, "__module__", None) or "builtins")
    file = code.co_filename if code else getattr(module, "__file__", None)
    if file is None:
        return module is not None and module.__name__ != "__main__"
    return any(Path(file).is_relative_to(place) for place in (PACKAGE, *INSTALLED))


def learner_identity(learner) -> dict:
    """Return name and version of a learner.

    One from a notebook has the hash of its source as version.
    """
    name = getattr(learner, "NAME", None) or learner.__name__.rpartition(".")[2]
    return {
        "name": name,
        "version": learner.VERSION if in_package(learner) else source_version(learner),
    }


def evaluator_identity(evaluator) -> dict:
    """Return name, version and settings of an evaluator.

    A plain function has its name and the hash of its source.
    """
    name = getattr(evaluator, "name", None) or getattr(evaluator, "__name__", None)
    if not name:
        raise ValueError(
            f"{evaluator!r} is no evaluator: give a function (game, net, seed) -> {{metric: value}}"
            " with a name, such as arena.TICTACTOE"
        )
    version = getattr(evaluator, "version", None)
    settings = {}
    for field in dataclasses.fields(evaluator) if dataclasses.is_dataclass(evaluator) else ():
        if not field.compare:
            continue
        # an opponent made by a function: its name and the identity speak for it
        with contextlib.suppress(TypeError):
            settings[field.name] = canonical(getattr(evaluator, field.name))
    settings |= canonical(getattr(evaluator, "settings", None) or {}) | canonical(
        getattr(evaluator, "identity", None) or {}
    )
    settings = {k: v for k, v in settings.items() if k not in ("name", "version")}
    return {
        "name": name,
        "version": source_version(evaluator) if version is None else version,
        "settings": settings,
    }


def lacks(evaluator) -> str:
    """Return what an optional evaluator needs and does not find here, with the remedy.

    Empty if nothing.
    """
    return evaluator.lacks() if hasattr(evaluator, "lacks") else ""


def source_file(thing) -> Path | None:
    """Return the file that defines a module, class, function or object, or None."""
    return _file_of(_definition(thing))


@functools.cache
def _file_of(definition) -> Path | None:
    try:
        return Path(inspect.getsourcefile(definition) or "").resolve()
    except (TypeError, OSError):  # typed at a prompt or in a notebook
        return None


def _definition(thing):
    return (
        thing
        if inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing)
        else type(thing)
    )


def in_package(thing) -> bool:
    """Return whether something is defined in this package, whose versions a golden run guards."""
    file = source_file(thing)
    return file is not None and file.is_relative_to(PACKAGE)


def of_package(evaluator) -> bool:
    """Return whether an evaluator and all that it makes its opponents of are of this package.

    Files of the package that they are made of, and versions, say then what they do.
    """
    return all(map(in_package, _behind(evaluator)))


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner, checked, as records hold them: `given` over DEFAULTS.

    Raises
    ------
    ValueError
        If a name is unknown (with the closest one) or a value has the wrong type.
    """
    defaults = dict(learner.DEFAULTS)
    for name in set(given) - set(defaults):
        near = difflib.get_close_matches(
            name, [*defaults, "runs", "episodes", "eval_every", "curve", "final"], 1
        )
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(defaults))}"
        raise ValueError(
            f"the learner {learner_identity(learner)['name']} has no parameter {name!r}: {hint}"
        )
    if hasattr(learner, "PARAMETERS"):
        check_parameters(learner.PARAMETERS, given)
    for name, value in given.items():
        kinds = {bool: bool, int: int, float: (int, float, list, tuple)}.get(
            type(defaults[name]), object
        )
        if (
            not isinstance(value, kinds)
            or isinstance(value, bool)
            and type(defaults[name]) is not bool
            and kinds is not object
        ):
            raise ValueError(
                f"{name}={value!r} has the wrong type; the default is {defaults[name]!r}"
            )
    full = {
        name: _like(defaults[name], value) for name, value in canonical(defaults | given).items()
    }
    return full | {"episodes": episodes} if "episodes" in defaults else full


def _like(default, value):
    """Write whole numbers as floats where the default is one: 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, v) for v in value]
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def numeric_sources(game, learner, evaluator=None) -> str:
    """Return the hash of all sources of the package that decide the numbers of a run.

    These are the import closures of the learner, of the game's rules and, for an evaluation, of the
    evaluator and whatever it makes its opponents of.
    """
    return closure_hash(learner, game.rule("play"), *_behind(evaluator))


def closure_hash(*things) -> str:
    """Return the hash of the files of the package that define something, and of all they import."""
    files = {file for file in map(source_file, things) if file is not None}
    return _hash_of_closures(
        frozenset(f.relative_to(PACKAGE).as_posix() for f in files if f.is_relative_to(PACKAGE))
    )


@functools.cache
def _hash_of_closures(files: frozenset) -> str:
    return source_hash(*sorted(set().union(*map(import_closure, files))))


def _behind(thing) -> list:
    """Return an evaluator and the functions, classes and objects among its fields."""
    if thing is None or isinstance(thing, PLAIN):
        return []
    if isinstance(thing, functools.partial):
        return [part for one in (thing.func, *thing.args) for part in _behind(one)]
    if isinstance(thing, (list, tuple)):
        return [part for one in thing for part in _behind(one)]
    if dataclasses.is_dataclass(thing) and not inspect.isclass(thing):
        fields = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
        return [thing, *_behind(fields)]
    return [thing]
