"""The simplest players, and :func:`wrap`, which makes players of other things."""

import copy
import sys

import numpy as np

from ..checks import fraction
from ..games.calls import random_action
from ..games.game import check_game
from ..kernel.random import new_rng, pick_best
from ..search.puct import check_base


class Random:
    """Choose uniformly among the legal actions; of a compound action one part after the other."""

    name, version = "Random", 1

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = check_game(game, self.name), new_rng(seed)

    def choose(self, state) -> int:
        """Return a random legal action."""
        legal = self.game.legal(state)
        return random_action(self.game.rules, legal, len(legal), self.rng)


class BestValue:
    """Base of players who choose an action with the greatest of their `values`; ties at random."""

    version = 1  # raised when the moves change

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = check_game(game, self.name), new_rng(seed)

    def choose(self, state) -> int:
        """Return the best action."""
        return int(self.game.legal(state)[pick_best(self.values(state), self.rng)])


class Greedy(BestValue):
    """Choose argmax of r + gamma V(afterstate), where V(terminal) = 0; exact ties at random.

    Parameters
    ----------
    net : object with ``game`` and ``action_values(state, gamma) -> float64[num_legal]``
    gamma : float, in [0, 1]

    Source: [konen2021] Sec. 2.6. Deviations: D2, D18.
    """

    name = "Greedy"

    def __init__(self, net, gamma: float = 1.0):
        if not callable(getattr(net, "action_values", None)):
            raise ValueError(f"a greedy player needs a network, not {net!r}")
        self.net, self.gamma = net, fraction("gamma", gamma)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match, of the network's game."""
        super().new_match(game, actions_from_start, seat, seed)
        check_base(self.net, {}, game)

    def values(self, state) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action."""
        return self.net.action_values(state, self.gamma)


class Function:
    """A player made of a plain function ``state -> action``."""

    def __init__(self, function):
        if not callable(function):
            raise TypeError(f"a function state -> action is needed, not {function!r}")
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""

    def choose(self, state) -> int:
        """Return the function's choice."""
        return self.function(state)


class Human:
    """Ask the person at the keyboard: show the board, then read an action by its name or number.

    ``q`` gives up, with a KeyboardInterrupt.
    """

    name = "Human"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.last = game, None

    def observe(self, action, state):
        """Remember the last action, to mark it, and show the end of the game."""
        self.last = action
        if self.game.over(state):
            self._show(state)

    def choose(self, state) -> int:
        """Return the action that the person names."""
        named = {self.game.action_name(state, a): int(a) for a in self.game.legal(state)}
        self._show(state)
        while True:
            answer = input(f"your move ({', '.join(named)}; q gives up): ").strip()
            if answer == "q":
                raise KeyboardInterrupt("the match was given up")
            if answer in named:
                return named[answer]
            if answer.isdigit() and int(answer) in named.values():
                return int(answer)
            print(f"{answer!r} is not a move here")

    def _show(self, state):
        notebook = sys.modules.get("IPython")
        if notebook and notebook.get_ipython():
            notebook.display.display(self.game.view(state, last=self.last))
        else:
            print(self.game.render(state))


def wrap(player):
    """Return a player: `player` itself, or one made of it.

    A function ``state -> action`` becomes a :class:`Function`, a network or a training session a
    :class:`Greedy` player. Anything else raises TypeError, also if it carries a network: what it
    does with it is not for this function to guess.
    """
    if isinstance(player, type):
        name = player.__name__
        raise TypeError(f"{name} is a class: make a player of it, such as {name}()")
    if callable(getattr(player, "choose", None)) and callable(getattr(player, "new_match", None)):
        return player
    if callable(getattr(player, "action_values", None)):
        return Greedy(player)
    if is_session(player):
        return Greedy(player.net)
    if callable(player) and not hasattr(player, "net"):
        return Function(player)
    raise TypeError(
        "a player has new_match and choose, or is a function state -> action, a network (if it"
        f" carries a network: give that) or a session; got {player!r}"
    )


def is_session(thing) -> bool:
    """Return whether something has a network and can learn on."""
    values = getattr(getattr(thing, "net", None), "action_values", None)
    return callable(getattr(thing, "train", None)) and callable(values)


def duplicate(player):
    """Return a player for another seat: its ``copy()``, or a shallow copy that shares weights."""
    return player.copy() if callable(getattr(player, "copy", None)) else copy.copy(player)
