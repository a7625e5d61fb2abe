"""Who a learner or an evaluator is: the names, versions and sources that keys of records state."""

import contextlib
import dataclasses
import hashlib
import json

import numpy as np

from ..kernel.source import code_version, file_in_package, import_closure, source_hash
from ..learners.parameters import check_parameters


def canonical(value):
    """Return `value` as plain JSON data: tuples as lists, numpy numbers as Python's.

    Raises
    ------
    TypeError, ValueError
        If it holds something that a record cannot state exactly (an object, nan, infinity).
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{value!r} cannot be recorded: give a finite number or None")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, range)):
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


def learner_identity(learner) -> dict:
    """Return name and version of a learner; one of a notebook has the hash of its code."""
    name = getattr(learner, "NAME", None) or learner.__name__.rpartition(".")[2]
    version = learner.VERSION if file_in_package(learner) else code_version(learner)
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
        "version": code_version(evaluator) if version is None else version,
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
    names = {file_in_package(learner), file_in_package(game.rule("play"))} - {None}
    return source_hash(*sorted(set().union(*map(import_closure, names)))) if names else ""
