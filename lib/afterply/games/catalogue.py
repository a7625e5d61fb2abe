"""The games that come with the package, by name, and what each of them is.

Each file of ``games/rules`` has one or more makers, functions whose name is that of their game and
whose result is annotated as a ``Game``; and a table at its head, with the words that the numbers of
the game do not say::

    specification   name                              of one game, or of several side by side
    players         "to" the most                     absent: as many as it has
    actions         what they are
    cells           what their codes mean
    chance          what happens                      absent: none
    reward          what for
    start           what is random                    absent: nothing
    checked         against other implementations, known counts, solvers
    coordinates     where a1 is, as the game's community writes it, or how moves are named

Columns stand at least two blanks apart; where a row has one entry it holds for all games.
"""

import difflib
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import types
import typing
from pathlib import Path

from ..checks import plain
from ..files import load_module
from . import rules
from .game import Game, made_by

# names of OpenSpiel and, without the version at their end (connect_four_v3), of PettingZoo
ALIASES = {
    "2048": "game2048",
    "connect_four": "connect4",
    "mancala": "kalah",
    "nine_mens_morris": "morris",
    "tic_tac_toe": "tictactoe",
}


def canonical(name) -> str:
    """Return the name of a game here, also for that of OpenSpiel or PettingZoo."""
    bare = re.sub(r"_v\d+$", "", str(name))
    return ALIASES.get(bare, bare)


@functools.cache
def _makers() -> dict:
    """Return the makers of all games: a function ``-> Game`` in a file of rules is all it takes."""
    found = sorted(file.name for file in pkgutil.iter_modules(rules.__path__))
    files = [importlib.import_module(f"{rules.__name__}.{name}") for name in found]
    functions = (pair for file in files for pair in inspect.getmembers(file, inspect.isfunction))
    return {name: f for name, f in functions if f.__annotations__.get("return") is Game}


def names() -> list[str]:
    """Names that :func:`load` knows, sorted."""
    return sorted(_makers())


def load(name: str, **parameters) -> Game:
    """Make a game by its name; the defaults of its parameters are the papers' values.

    Names of OpenSpiel and PettingZoo do as well: ``tic_tac_toe``, ``connect_four_v3``, ``2048``.

    A parameter that the maker takes by keyword only came after the first records: with its default
    it is no part of the game's identity.

    Raises
    ------
    ValueError
        If the game or a parameter is not known, or a parameter's type is wrong.

    Examples
    --------
    >>> from afterply import games
    >>> game = games.load("nim", heaps=2, stones=3)
    >>> game.legal(game.start()).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    name, makers = canonical(name), _makers()
    if name not in makers:
        near = difflib.get_close_matches(str(name), makers, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no game {name!r}: {hint}known are {', '.join(sorted(makers))}")
    signature, parameters = inspect.signature(makers[name]).parameters, plain(parameters)
    for parameter, value in parameters.items():
        if parameter not in signature:
            known = ", ".join(f"{p.name}={p.default!r}" for p in signature.values())
            raise ValueError(
                f"the game {name!r} has no parameter {parameter!r}; it has {known or 'none'}"
            )
        kind = signature[parameter].annotation
        kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
        if type(value) not in kinds:
            wanted = " or ".join("None" if k is type(None) else k.__name__ for k in kinds)
            raise ValueError(
                f"the parameter {parameter} of the game {name!r} must be {wanted}, not {value!r}"
            )
    identity = {}
    for parameter in signature.values():
        value = parameters.get(parameter.name, parameter.default)
        if parameter.kind is not parameter.KEYWORD_ONLY or value != parameter.default:
            identity[parameter.name] = value
    return made_by(makers[name], {"name": name, "params": identity})


def load_spec(spec: dict) -> Game:
    """Make the game that a `spec` describes, a record's ``{"name": ..., "params": ...}``."""
    return load(spec["name"], **spec["params"])


def from_file(path, name: str | None = None, **parameters) -> Game:
    """Return the game in a Python file of yours: a ``Game``, or what a function ``-> Game`` makes.

    Parameters
    ----------
    path : path
        Modules beside the file may be imported by it.
    name : str, optional
        Which one, if the file holds several.
    parameters
        Of the function.

    Raises
    ------
    ValueError
        If there is no such file, game or parameter, or several games.
    """
    module, makers = load_module(path), ("Game", "games.Game", Game)
    found = {
        word: thing
        for word, thing in vars(module).items()
        if isinstance(thing, Game)
        or inspect.isfunction(thing)
        and thing.__module__ == module.__name__
        and thing.__annotations__.get("return") in makers
    }
    if not found:
        raise ValueError(f"{path} holds no game: a Game(...), or a function -> Game that makes one")
    if name is None and len(found) > 1:
        raise ValueError(f"{path} holds {', '.join(found)}: say which, as in {path}:{[*found][-1]}")
    if name is not None and name not in found:
        raise ValueError(f"{path} holds no game {name!r}, but {', '.join(found)}")
    game = found[name] if name is not None else [*found.values()][0]
    if isinstance(game, Game) and parameters:
        given = ", ".join(parameters)
        raise ValueError(f"{path} holds a game without parameters, {given} has no place in it")
    if not isinstance(game, Game):
        try:
            inspect.signature(game).bind(**parameters)
        except TypeError as error:
            raise ValueError(f"{game.__name__} in {path}: {error}") from error
        game = game(**parameters)
    game.file = [str(Path(path).resolve()), name, parameters]
    return game


def tables() -> dict[str, dict[str, str]]:
    """Return the specification of every game of the package: game -> row -> text."""
    return {name: specification(load(name)) for name in names()}


def specification(game) -> dict[str, str]:
    """Return what a game is, by rows: its numbers, with the words at the head of its file."""
    words = _words(game.spec["name"]) if game.spec else {}
    runs = [(code, len(list(cells))) for code, cells in itertools.groupby(game.num_codes.tolist())]
    (code, number), *others = runs
    cells = [f"{number} of {code} codes", *(f"{number} of {code}" for code, number in others)]
    default, plies = game.start_scheme
    random = f"with probability {default:g}, else {plies} random {'ply' if plies == 1 else 'plies'}"
    turned = "" if game.action_symmetries is None else ", with those of the actions"
    found = {
        "players": f"{game.players}" + (f" ({words.pop('players')})" if "players" in words else ""),
        "actions": f"{game.actions}, at most {game.max_legal} legal",
        "cells": " and ".join(cells),
        "symmetries": f"{len(game.symmetries)}{turned}",
        "chance": "none" if game.deterministic else words.pop("chance", "some"),
        "reward": "{:g} to {:g}".format(*game.score_range),
        "start": "the default" if default == 1.0 else f"the default {random}",
    }
    for row in found:
        if row in words:
            found[row] += (", " if row == "start" else ": ") + words[row]
    return found | {row: words[row] for row in words if row not in found}


def _words(name) -> dict:
    """Return the table at the head of a game's file: row -> text."""
    file = inspect.getmodule(_makers()[name])
    text = file.__doc__.partition("\n    specification ")[2].partition("\n\n")[0]
    known, *rows = [re.split(r"\s{2,}", line.strip()) for line in text.strip().split("\n")]
    k = known.index(name)
    return {row[0]: row[1 + k] if len(row) > 2 else row[1] for row in rows}
