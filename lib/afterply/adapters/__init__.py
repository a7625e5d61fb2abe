"""Adapters: games and players of the library in the worlds of others, and theirs in ours.

`pettingzoo` and `gymnasium` make environments of our games, `open_spiel` games and players of
theirs too. Each needs the package of its name; nothing else in the library imports them.
`policies` makes policies of our players and players of others' policies; it needs neither.
"""

import numpy as np

from ..checks import one_of, seed_number
from ..games import catalogue
from ..games.boards import pixels
from ..games.game import Game, check_game
from ..kernel.random import new_rng, random_bits
from ..players.basic import ask, duplicate, wrap

RENDER_MODES = ["ansi", "rgb_array"]

__all__ = ["gymnasium", "open_spiel", "pettingzoo", "policies"]


def as_game(game, render_mode, parameters: dict) -> Game:
    """Return a game that is given itself, or by its name and parameters."""
    if render_mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode must be None, 'ansi' or 'rgb_array', not {render_mode!r}")
    if isinstance(game, str):
        return catalogue.load(game, **parameters)
    if parameters:
        names = ", ".join(parameters)
        raise ValueError(f"parameters ({names}) go with the name of a game: {game!r} has its own")
    return check_game(game, "an environment")


def one_hot(game, s) -> np.ndarray:
    """Return the code of each cell of a state as zeros and a one, int8 [sum of num_codes]."""
    offsets = np.cumsum(game.num_codes) - game.num_codes
    observation = np.zeros(game.num_codes.sum(), np.int8)
    observation[offsets + game.board(s)] = 1
    return observation


def planes(game, s) -> np.ndarray:
    """Return the board as people draw it, a plane for each code, int8 [*game.layout.shape, planes].

    Cells beside the board, such as a hand, have planes too, which are equal everywhere.
    """
    codes = game.codes(s)
    is_on_board = game.layout >= 0
    # Where the layout has no cell the code does not matter: all planes are 0 there.
    codes_on_board = np.where(is_on_board, codes[game.layout], 0)
    one_hots = np.eye(len(game.marks), dtype=np.int8)
    board_planes = one_hots[codes_on_board] * is_on_board[..., None]
    cells_beside = np.setdiff1d(np.arange(len(codes)), game.layout)
    numbers = [np.arange(game.num_codes[cell]) == codes[cell] for cell in cells_beside]
    return with_planes(board_planes, np.concatenate([[], *numbers]))


def with_planes(observation, numbers) -> np.ndarray:
    """Return an observation, int8 [..., n], and behind it the same numbers at every place."""
    further = np.broadcast_to(numbers, (*observation.shape[:-1], len(numbers)))
    return np.concatenate([observation, further], axis=-1, dtype=np.int8, casting="unsafe")


def observer(observation: str):
    """Return the function (game, state) -> array of a kind of observation, "flat" or "board"."""
    kinds = {"flat": one_hot, "board": planes}
    return kinds[one_of("observation", observation, kinds)]


def rendered(game, s, render_mode):
    """Return the board as text, as pixels uint8 [height, width, 3], or None."""
    if render_mode == "rgb_array":
        return pixels(game.view(s).svg)
    return game.render(s) if render_mode == "ansi" else None


def action_mask(game, s) -> np.ndarray:
    """Return 1 for each legal action and 0 for the others, int8 [actions]."""
    mask = np.zeros(game.actions, np.int8)
    mask[game.legal(s)] = 1
    return mask


class Mover:
    """A player of ours who is asked for single moves, by whoever keeps the states."""

    def __init__(self, player, game, seed):
        self.player = duplicate(wrap(player))
        self.game = check_game(game, "a player")
        self.rng = new_rng(seed_number(seed))
        self.player.new_match(game, [], 0, seed)  # ValueError if it cannot play this game

    def __call__(self, s, actions_from_start=()) -> int:
        """Return the player's action; ValueError if it is not legal, or if the game is over."""
        seed = int(random_bits(self.rng))
        action = ask(self.player, self.game, s, seed, actions_from_start)
        legal = self.game.legal(s).tolist()
        if action not in legal:
            raise ValueError(f"{self.player.name} chose {action!r}; legal here: {legal}")
        return int(action)
