"""The simplest players, and :func:`wrap`, which makes players of other things.

What a player is: :mod:`afterstate.players`.
"""

import copy

import numpy as np

from ..checks import fraction
from ..games.calls import random_action
from ..games.game import check_game
from ..kernel.random import new_rng, pick_best
from .checks import same_game


class Random:
    """Choose uniformly among the legal actions.

    If an action is two choices (``Game``, compound), one after the other.
    """

    name, version = "Random", 1

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = check_game(game, self.name), new_rng(seed)

    def choose(self, state) -> int:
        """Return a random legal action."""
        legal = self.game.legal(state)
        return random_action(self.game.rules, legal, len(legal), self.rng)


class Greedy:
    """Choose argmax of r + gamma V(afterstate), where V(terminal) = 0; exact ties at random.

    Parameters
    ----------
    net : object with ``game`` and ``action_values(state, gamma) -> float64[num_legal]``
        For example an ``ntuple.Network``.
    gamma : float, in [0, 1]
        Discount.

    Source: [konen2021] Sec. 2.6. Deviations: D2, D18.
    """

    name, version = "Greedy", 1

    def __init__(self, net, gamma: float = 1.0):
        if not callable(getattr(net, "action_values", None)):
            raise ValueError(
                "a greedy player needs a network with action_values(state, gamma), not"
                f" {type(net).__name__}"
            )
        self.net, self.gamma = net, fraction("gamma", gamma)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the network belongs to another game."""
        same_game("this network", self.net.game, game)
        self.game, self.rng = game, new_rng(seed)

    def choose(self, state) -> int:
        """Return the best action."""
        return int(self.game.legal(state)[pick_best(self.values(state), self.rng)])

    def values(self, state) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action, float64[num_legal]."""
        return self.net.action_values(state, self.gamma)


class Function:
    """A player made of a plain function ``state -> action``."""

    def __init__(self, function):
        if not callable(function):
            raise TypeError(f"a function state -> action is needed, not {function!r}")
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match: nothing to prepare."""

    def choose(self, state) -> int:
        """Return the function's choice."""
        return self.function(state)


def wrap(player):
    """Return a player: `player` itself, or one made of it.

    A function ``state -> action`` becomes a :class:`Function`, a network or a training session a
    :class:`Greedy` player. Any other object that only carries a network is refused: what it would
    do with the network is not for this function to guess.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(player, type):
        raise TypeError(
            f"{player.__name__} is a class: make a player of it, such as {player.__name__}()"
        )
    if callable(getattr(player, "choose", None)) and callable(getattr(player, "new_match", None)):
        return player
    if callable(getattr(player, "action_values", None)):
        return Greedy(player)
    if is_session(player):
        return Greedy(player.net)
    if callable(player) and not hasattr(player, "net"):
        return Function(player)
    carried = (
        " It carries a network: give that, or a player made of it."
        if hasattr(player, "net")
        else ""
    )
    raise TypeError(
        "a player has new_match and choose, or is a function state -> action, a network or a"
        f" session; got {player!r}.{carried}"
    )


def is_session(thing) -> bool:
    """Return whether something is a training session: it has a network, and can learn on."""
    return callable(getattr(thing, "train", None)) and callable(
        getattr(getattr(thing, "net", None), "action_values", None)
    )


def duplicate(player):
    """Return a player of the same kind for another seat.

    Its ``copy()``, or a shallow copy that shares weights and tables.
    """
    return player.copy() if callable(getattr(player, "copy", None)) else copy.copy(player)
