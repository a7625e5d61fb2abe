"""Adapters: games and players of the library in the worlds of others, and theirs in ours.

`pettingzoo` and `gymnasium` make environments of our games, `open_spiel` games and players of
theirs too. Each needs the package of its name; nothing else in the library imports them.
"""

import numpy as np

from ..games import catalogue
from ..games.game import Game, check_game

__all__ = ["gymnasium", "open_spiel", "pettingzoo"]


def as_game(game, render_mode, parameters: dict) -> Game:
    """Return a game that is given itself, or by its name and parameters."""
    if render_mode not in (None, "ansi"):
        raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
    if isinstance(game, str):
        return catalogue.load(game, **parameters)
    if parameters:
        words = f"parameters ({', '.join(parameters)}) go with the name of a game"
        raise ValueError(f"{words}: {game!r} has its own")
    return check_game(game, "an environment")


def one_hot(game, s) -> np.ndarray:
    """Return the code of each cell of a state as zeros and a one, int8 [sum of num_codes]."""
    seen = np.zeros(game.num_codes.sum(), np.int8)
    seen[np.cumsum(game.num_codes) - game.num_codes + game.board(s)] = 1
    return seen


def action_mask(game, s) -> np.ndarray:
    """Return 1 for each legal action and 0 for the others, int8 [actions]."""
    mask = np.zeros(game.actions, np.int8)
    mask[game.legal(s)] = 1
    return mask
