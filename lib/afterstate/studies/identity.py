"""Who a learner, an evaluator or a game is: the names, versions and sources that keys and records state."""

import ast
import contextlib
import dataclasses
import difflib
import functools
import hashlib
import inspect
import json
from pathlib import Path

import numpy as np

from ..kernel.compile import PACKAGE, SOURCES, source_hash
from ..learners.parameters import check_parameters


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
    """Return the key of a piece of JSON data: 16 hex digits, the same for the same content in any order."""
    text = json.dumps(
        canonical(content),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def source_version(thing) -> str:
    """Return the version of a function, class or object without one of its own: a hash of its source."""
    target = _definition(thing)
    try:
        # the source of a class from a notebook can not be had as a whole
        if inspect.isclass(target):
            own = sorted(vars(target).items())
            text = "".join(
                inspect.getsource(f) if inspect.isfunction(f) else f"{n}={f!r}"
                for n, f in own
                if inspect.isfunction(f) or n[:2] != "__"
            )
        else:
            text = inspect.getsource(target)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"the source of {target!r} can not be read, so it needs a version: set its attribute"
            " version (VERSION)"
        ) from error
    return "source-" + hashlib.sha256(text.encode()).hexdigest()[:12]


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
    try:
        return Path(inspect.getsourcefile(_definition(thing)) or "").resolve()
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


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner: its DEFAULTS with `given` on top, checked, in the form that records hold.

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
    """Write whole numbers as floats where the default is one, so that 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, v) for v in value]
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def numeric_sources(game, learner, evaluator=None) -> str:
    """Return the hash of all sources of the package that decide the numbers of a run, or of an evaluation of it.

    These are the import closures of the learner, of the game's rules and, for an evaluation, of the
    evaluator and whatever it makes its opponents of.
    """
    things = [learner, game.rule("play"), *_behind(evaluator)]
    files = {
        file.relative_to(PACKAGE).as_posix()
        for file in map(source_file, things)
        if file is not None and file.is_relative_to(PACKAGE)
    }
    return source_hash(*sorted(set().union(*map(import_closure, files))))


def _behind(evaluator) -> list:
    """An evaluator and the functions and classes among its fields, such as what makes its opponent."""
    if evaluator is None:
        return []
    fields = (
        [getattr(evaluator, field.name) for field in dataclasses.fields(evaluator)]
        if dataclasses.is_dataclass(evaluator)
        else []
    )
    return [evaluator, *(getattr(value, "func", value) for value in fields if callable(value))]


@functools.cache
def import_closure(file: str) -> frozenset:
    """Return a file of the package and all files of it that it imports, directly or through others, relative to the package."""
    found, ahead = set(), [file]
    while ahead:
        file = ahead.pop()
        if file in found or file not in SOURCES:
            continue
        found.add(file)
        for node in ast.walk(ast.parse(SOURCES[file])):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = file.split("/")[: -node.level]
                base = "/".join([*folder, *(node.module or "").split(".")]).strip("/")
                ahead += [
                    f"{base}.py",
                    f"{base}/__init__.py".lstrip("/"),
                    *(f"{base}/{alias.name}.py".lstrip("/") for alias in node.names),
                ]
    return frozenset(found)
