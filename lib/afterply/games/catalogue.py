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

import contextlib
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
    makers = {}
    for file in sorted(file.name for file in pkgutil.iter_modules(rules.__path__)):
        module = importlib.import_module(f"{rules.__name__}.{file}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if makes_game(function):
                makers[name] = function
    return makers


def makes_game(function) -> bool:
    """Return whether the result of a function is annotated as a ``Game``.

    Under ``from __future__ import annotations``, or in quotes, annotations are texts.
    """
    result = function.__annotations__.get("return")
    for _ in range(2):  # both may be the case
        if not isinstance(result, str):
            break
        if result.rpartition(".")[2] == "Game":  # perhaps imported for type checkers only
            return True
        with contextlib.suppress(Exception):  # it may name anything, also what is not there
            result = eval(result, function.__globals__)
    return result is Game


def names() -> list[str]:
    """Return the names that :func:`load` knows, sorted."""
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
    name = canonical(name)
    maker = _maker(name)
    signature = inspect.signature(maker).parameters
    parameters = plain(parameters)
    for parameter, value in parameters.items():
        _check_parameter(name, signature, parameter, value)
    identity = {}
    for parameter in signature.values():
        value = parameters.get(parameter.name, parameter.default)
        if parameter.kind is not parameter.KEYWORD_ONLY or value != parameter.default:
            identity[parameter.name] = value
    return made_by(maker, {"name": name, "params": identity})


def _maker(name):
    """Return the maker of a game, or raise ValueError with the nearest name that there is."""
    makers = _makers()
    if name not in makers:
        near = difflib.get_close_matches(str(name), makers, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no game {name!r}: {hint}known are {', '.join(sorted(makers))}")
    return makers[name]


def _check_parameter(name, signature, parameter, value):
    """Raise ValueError if a game has no such parameter, or a value is not of its type."""
    if parameter not in signature:
        known = ", ".join(f"{p.name}={p.default!r}" for p in signature.values())
        raise ValueError(
            f"the game {name!r} has no parameter {parameter!r}; it has {known or 'none'}"
        )
    annotation = signature[parameter].annotation
    kinds = (annotation,)
    if isinstance(annotation, types.UnionType):
        kinds = typing.get_args(annotation)
    if type(value) not in kinds:
        words = ["None" if kind is type(None) else kind.__name__ for kind in kinds]
        raise ValueError(
            f"the parameter {parameter} of the game {name!r} must be {' or '.join(words)}, not"
            f" {value!r}"
        )


def load_spec(spec: dict) -> Game:
    """Make the game that a `spec` describes, a record's ``{"name": ..., "params": ...}``."""
    return load(spec["name"], **spec["params"])


def from_file(path, name: str | None = None, **parameters) -> Game:
    """Return the game in a Python file of yours: a ``Game``, or what a function ``-> Game`` makes.

    Parameters
    ----------
    path : path
        The file; it may import modules that stand beside it.
    name : str, optional
        The name of the game or function, if the file holds several.
    parameters
        Those of the function.

    Raises
    ------
    ValueError
        If there is no such file, game or parameter, or several games.
    """
    games = _games_in(load_module(path))
    if not games:
        raise ValueError(f"{path} holds no game: a Game(...), or a function -> Game that makes one")
    if name is None and len(games) > 1:
        example = list(games)[-1]
        raise ValueError(f"{path} holds {', '.join(games)}: say which, as in {path}:{example}")
    if name is not None and name not in games:
        raise ValueError(f"{path} holds no game {name!r}, but {', '.join(games)}")
    chosen = list(games)[0] if name is None else name
    game = games[chosen]
    if isinstance(game, Game):
        if parameters:
            names = ", ".join(parameters)
            raise ValueError(f"{path} holds a game without parameters, {names} has no place in it")
    else:
        maker = game
        try:
            inspect.signature(maker).bind(**parameters)
        except TypeError as error:
            raise ValueError(f"{maker.__name__} in {path}: {error}") from error
        game = maker(**parameters)
    game.file = [str(Path(path).resolve()), name, parameters]
    return game


def _games_in(module) -> dict:
    """Return the games of a module, and its functions that make one, by name."""
    games = {}
    for name, value in vars(module).items():
        if isinstance(value, Game):
            games[name] = value
        elif inspect.isfunction(value) and value.__module__ == module.__name__:
            if makes_game(value):
                games[name] = value
    return games


def tables() -> dict[str, dict[str, str]]:
    """Return the specification of every game of the package: game -> row -> text."""
    return {name: specification(load(name)) for name in names()}


def specification(game) -> dict[str, str]:
    """Return what a game is, by rows: its numbers, with the words at the head of its file."""
    words = _words(game.spec["name"]) if game.spec else {}
    if game.deterministic:
        chance = "none"
    else:
        chance = words.pop("chance", "some")
    numbers = {
        "players": f"{game.players}",
        "actions": f"{game.actions}, at most {game.max_legal} legal",
        "cells": _cells_in_words(game.num_codes.tolist()),
        "symmetries": f"{len(game.symmetries)}",
        "chance": chance,
        "reward": "{:g} to {:g}".format(*game.score_range),
        "start": _start_in_words(*game.start_scheme),
    }
    if "players" in words:
        numbers["players"] += f" ({words.pop('players')})"
    if game.action_symmetries is not None:
        numbers["symmetries"] += ", with those of the actions"
    if "start" in words:
        numbers["start"] += f", {words.pop('start')}"
    for row in numbers:
        if row in words:
            numbers[row] += f": {words.pop(row)}"
    return numbers | words


def _cells_in_words(num_codes) -> str:
    """Return how many cells have how many codes, such as "64 of 4 codes and 1 of 2"."""
    runs = []
    for code, cells in itertools.groupby(num_codes):
        unit = "" if runs else " codes"
        runs.append(f"{len(list(cells))} of {code}{unit}")
    return " and ".join(runs)


def _start_in_words(probability, plies) -> str:
    """Return a start scheme in words."""
    if probability == 1.0:
        return "the default"
    unit = "ply" if plies == 1 else "plies"
    return f"the default with probability {probability:g}, else {plies} random {unit}"


def _words(name) -> dict:
    """Return the table at the head of a game's file: row -> text."""
    file = inspect.getmodule(_makers()[name])
    table = file.__doc__.partition("\n    specification ")[2].partition("\n\n")[0]
    head, *rows = [re.split(r"\s{2,}", line.strip()) for line in table.strip().split("\n")]
    column = 1 + head.index(name)
    words = {}
    for row in rows:
        # one entry holds for all games of the file
        words[row[0]] = row[column] if len(row) > 2 else row[1]
    return words
