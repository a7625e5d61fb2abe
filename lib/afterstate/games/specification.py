"""The table at the head of each game's file, read and held against the game that it describes.

::

    specification   name                              of one game, or of several side by side
    players         2
    actions         9, at most 9 legal: what they are
    cells           9 of 3 codes and 2 of 10: what they mean
    symmetries      8, with those of the actions
    chance          none                              or what happens
    reward          -1 to 1: what for
    start           the default with probability 0.5, else 1 random ply
    checked         against other implementations, known counts, solvers
    coordinates     where a1 is, as the game's community writes it, or how moves are named

Columns stand at least two blanks apart; where a row has one entry it holds for all games.
"""

import importlib
import pkgutil
import re

from . import rules

ROWS = (
    "players",
    "actions",
    "cells",
    "symmetries",
    "chance",
    "reward",
    "start",
    "checked",
    "coordinates",
)


def tables() -> dict[str, dict[str, str]]:
    """Return the specification of every game of the package: game -> row -> text.

    Raises
    ------
    ValueError
        If a file of games has no table at its head, or one with other rows.
    """
    found = {}
    for module in pkgutil.iter_modules(rules.__path__):
        if not module.name.startswith("_"):
            file = importlib.import_module(f"{rules.__name__}.{module.name}")
            table = read_table(file.__doc__, module.name)
            if set(table) != set(file.GAMES):
                raise ValueError(f"{module.name}.py specifies {sorted(table)}, not its GAMES")
            found |= table
    return dict(sorted(found.items()))


def read_table(text: str, where: str) -> dict[str, dict[str, str]]:
    """Return the tables in a text by the games that they describe; see the head of this file."""
    _, found, rest = text.partition("\n    specification ")
    lines = [
        re.split(r"\s{2,}", line.strip()) for line in rest.partition("\n\n")[0].strip().split("\n")
    ]
    names = lines[0]
    if not found or tuple(line[0] for line in lines[1:]) != ROWS:
        raise ValueError(
            f"the head of {where}.py must hold a table 'specification' with the rows"
            f" {', '.join(ROWS)}"
        )
    if any(len(line) not in (2, 1 + len(names)) for line in lines[1:]):
        raise ValueError(f"the table 'specification' of {where}.py has rows of different lengths")
    return {
        name: {line[0]: line[1 + k] if len(line) > 2 else line[1] for line in lines[1:]}
        for k, name in enumerate(names)
    }


def of_game(game) -> dict[str, str]:
    """Return what the rows of a game's table must begin with, as far as the game can tell."""
    codes = game.num_codes.tolist()
    runs = [k for k in range(len(codes)) if k == 0 or codes[k] != codes[k - 1]] + [len(codes)]
    parts = [f"{b - a} of {codes[a]}" for a, b in zip(runs, runs[1:])]
    default, plies = game.start_scheme
    low, high = game.score_range
    return {
        "players": f"{game.players}",
        "actions": f"{game.actions}, at most {game.max_legal} legal: ",
        "cells": " and ".join([f"{parts[0]} codes", *parts[1:]]) + ": ",
        "symmetries": f"{len(game.symmetries)}"
        + (", with those of the actions" if game.action_symmetries is not None else ""),
        "chance": "none" if game.deterministic else "",
        "reward": f"{low:g} to {high:g}: ",
        "start": f"the default with probability {default:g}, else {plies} random"
        if default < 1.0
        else "the default",
        "checked": "",
        "coordinates": "",
    }


def differences(game, table) -> list[str]:
    """Say which rows of a game's table are not what the game is; an empty list if all are."""
    wrong = []
    for row, begin in of_game(game).items():
        exact = row in ("players", "symmetries") or (row == "chance" and game.deterministic)
        if not table[row].startswith(begin) or (exact and table[row] != begin) or not table[row]:
            wrong.append(f"{row}: {table[row]!r} should begin with {begin!r}")
    if not game.deterministic and table["chance"] == "none":
        wrong.append("chance: 'none', but the game has some")
    return wrong
