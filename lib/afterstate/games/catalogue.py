"""The games that come with the package, by name.

Each file of ``games/rules`` holds one or more and lists them in its ``GAMES``.
"""

import difflib
import importlib
import inspect
import pkgutil
import types
import typing

from . import rules
from .game import made_by


def _makers() -> dict:
    """Return all makers by game name.

    Adding a file with a ``GAMES`` dictionary is all it takes to add a game.
    """
    found = {}
    for module in sorted(
        m.name for m in pkgutil.iter_modules(rules.__path__) if not m.name.startswith("_")
    ):
        found |= importlib.import_module(f"{rules.__name__}.{module}").GAMES
    return found


def names() -> list[str]:
    """Names that :func:`load` knows, sorted."""
    return sorted(_makers())


def load(name: str, **parameters):
    """Make a game by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    parameters
        The game's own parameters; the defaults are the papers' values. One that a maker takes by
        keyword only came after the first records: while it has its default, it is no part of the
        game's identity.

    Raises
    ------
    ValueError
        If the game or a parameter is not known, or a parameter's type is wrong.

    Examples
    --------
    >>> from afterstate import games
    >>> game = games.load("nim", heaps=2, stones=3)
    >>> game.legal(game.start()).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    makers = _makers()
    if name not in makers:
        near = difflib.get_close_matches(str(name), makers, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no game {name!r}: {hint}known are {', '.join(sorted(makers))}")
    signature = inspect.signature(makers[name]).parameters
    known = {p.name: p.default for p in signature.values()}
    for wrong in set(parameters) - set(known):
        raise ValueError(
            f"the game {name!r} has no parameter {wrong!r}; it has"
            f" {', '.join(f'{k}={v!r}' for k, v in known.items()) or 'none'}"
        )
    for parameter, value in parameters.items():
        _check_type(name, signature[parameter], value)
    told = {
        parameter: value
        for parameter, value in (known | parameters).items()
        if signature[parameter].kind is not inspect.Parameter.KEYWORD_ONLY
        or value != known[parameter]
    }
    return made_by(makers[name], {"name": name, "params": told})


def _check_type(name, parameter, value) -> None:
    """Raise ValueError if a value is not of the type that a game's parameter is annotated with."""
    kind = parameter.annotation
    kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(value) not in kinds:
        wanted = " or ".join("None" if k is type(None) else k.__name__ for k in kinds)
        raise ValueError(
            f"the parameter {parameter.name} of the game {name!r} must be {wanted}, not {value!r}"
        )


def load_spec(spec: dict):
    """Make the game that a record's ``{"name": ..., "params": ...}`` describes."""
    return load(spec["name"], **spec["params"])
