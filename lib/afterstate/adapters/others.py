"""What the adapters share: how another package is imported, and what an agent observes."""

import importlib
import inspect

import numpy as np

from ..games import catalogue
from ..games.game import Game, check_game


def third_party(module: str, extra: str):
    """Import a package of others.

    Parameters
    ----------
    module : str
    extra : str
        The extra of this library that brings it.

    Raises
    ------
    ImportError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"this adapter needs the package {module!r} ({error}): pip install"
            f" 'afterstate[{extra}]', or pip install {extra.replace('-', '_')}"
        ) from error


def as_game(game, parameters: dict) -> Game:
    """Return a game that is given itself, or by its name and parameters."""
    if isinstance(game, str):
        return catalogue.load(game, **parameters)
    if parameters:
        raise ValueError(
            f"parameters ({', '.join(parameters)}) go with the name of a game: {game!r} has its own"
        )
    return check_game(game, "an environment")


def changed_parameters(game) -> dict | None:
    """Return the parameters of a game of the library that are not the usual ones.

    None for a home-made game.
    """
    if game.spec is None:
        return None
    usual = inspect.signature(game.maker).parameters
    return {k: v for k, v in game.spec["params"].items() if usual[k].default != v}


class Encoder:
    """What an agent sees of a state: arrays of zeros and ones for networks of any kind.

    The code of each cell is one-hot: ``num_codes[c]`` places for cell ``c``, one cell after the
    other.

    Parameters
    ----------
    game : Game

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.adapters.others import Encoder
    >>> game = games.load("tictactoe")
    >>> look, s = Encoder(game), game.after([0])
    >>> look.cells(s)[:6].tolist()  # an x on the first cell, nothing on the second
    [0, 0, 1, 0, 1, 0]
    >>> look.mask(s).tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    def __init__(self, game):
        self.game = game
        self.length = int(game.num_codes.sum())
        self.first = np.cumsum(game.num_codes) - game.num_codes

    def cells(self, s) -> np.ndarray:
        """Return the cells of a state, int8 [sum of num_codes]."""
        seen = np.zeros(self.length, np.int8)
        seen[self.first + self.game.board(s)] = 1
        return seen

    def mask(self, s) -> np.ndarray:
        """Return 1 for each legal action and 0 for the others, int8 [actions]."""
        mask = np.zeros(self.game.actions, np.int8)
        mask[self.game.legal(s)] = 1
        return mask
