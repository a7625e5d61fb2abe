"""The simplest players, and :func:`wrap`, which makes players of other things."""

import copy

import numpy as np

from ..checks import fraction, numbers, seed_number
from ..games.calls import random_action
from ..games.game import check_game
from ..kernel.random import new_rng, pick_best, random_float, seed_from
from ..search.puct import check_base


class Resigned(Exception):
    """A player gives its match up, which is a loss and no error."""


class Player:
    """Base of players: one that knows its game is a function ``state -> action``."""

    version = 1  # raised when the moves change

    def __call__(self, state, seed: int = 0):
        """Return the action in a state, or in states int32 [n, size] the actions, int64 [n].

        All chance derives from the seed and the state. A match that goes on is not disturbed.
        ValueError if the player does not know its game.
        """
        game = game_of(self)
        if game is None:
            raise ValueError(f"{self.name} does not know its game: take player.playing(game)")
        seed = seed_number(seed)
        player = duplicate(self)
        states = numbers("states", state)
        actions = np.zeros(states.shape[:-1], np.int64)
        for place in np.ndindex(actions.shape):
            s = game._state(states[place], to_move=True)
            seed_of_state = seed_from(seed, s.tobytes().hex())
            actions[place] = ask(player, game, s, seed_of_state)
        return actions if actions.ndim else int(actions)

    def playing(self, game, seed: int = 0):
        """Return a copy that knows its game, and says actions and values of any of its states."""
        player = duplicate(self)
        player.new_match(check_game(game, self.name), [], 0, seed_number(seed))
        player.game = game
        return player

    def __repr__(self):
        return f"<player {self.name}>"


def ask(player, game, s, seed, actions_from_start=()):
    """Return the action of a player in one state, as if its match began there."""
    game.choices(s)  # ValueError if there is no legal action
    player.new_match(game, list(actions_from_start), game.player(s), seed)
    return player.choose(s.copy())


def game_of(player):
    """Return the game that a player or its network knows; None if there is none."""
    game = getattr(player, "game", None)
    if game is None:
        game = getattr(getattr(player, "net", None), "game", None)
    return game


class Seated(Player):
    """Base of players that draw from a generator; those with a `net` play its game only."""

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the player was made for another game."""
        check_game(game, self.name)
        check_base(getattr(self, "net", None), game)
        self.game = game
        self.rng = new_rng(seed)


class Random(Seated):
    """Choose uniformly among the legal actions; of a compound action one part after the other."""

    name = "Random"

    def choose(self, state) -> int:
        """Return a random legal action."""
        legal = self.game.choices(state)
        return random_action(self.game.rules, legal, len(legal), self.rng)


class Careless(Seated):
    """Another player who, with probability `rate`, makes a random move instead."""

    def __init__(self, player, rate: float):
        self.player = wrap(player)
        self.rate = fraction("rate", rate)
        self.name = f"{self.player.name}, {self.rate:g} random"

    def copy(self):
        """Return a careless player with a copy of the other player."""
        return Careless(duplicate(self.player), self.rate)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        super().new_match(game, actions_from_start, seat, seed_number(seed))
        seed_of_player = seed_from(seed, "careless")
        self.player.new_match(game, actions_from_start, seat, seed_of_player)

    def observe(self, action, state):
        """Let the other player know of a move."""
        if hasattr(self.player, "observe"):
            self.player.observe(action, state)

    def choose(self, state) -> int:
        """Return a random action, or the other player's."""
        legal = self.game.choices(state)
        if random_float(self.rng) < self.rate:
            return random_action(self.game.rules, legal, len(legal), self.rng)
        return self.player.choose(state)


class BestValue(Seated):
    """Base of players who choose an action with the greatest of their `values`; ties at random."""

    def choose(self, state) -> int:
        """Return the best action."""
        legal = self.game.choices(state)
        best = pick_best(self.values(state), self.rng)
        return int(legal[best])


class Greedy(BestValue):
    """Choose argmax of r + gamma V(afterstate), where V(terminal) = 0.

    Exact ties are broken at random.

    Source: [konen2021] Sec. 2.6. Deviations: D2, D18.

    Parameters
    ----------
    net : object with ``game`` and ``action_values(state, gamma) -> float64[num_legal]``
    gamma : float, in [0, 1]
    """

    name = "Greedy"

    def __init__(self, net, gamma: float = 1.0):
        if not callable(getattr(net, "action_values", None)):
            raise ValueError(f"a greedy player needs a network, not {net!r}")
        self.net = net
        self.gamma = fraction("gamma", gamma)

    def values(self, state) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action."""
        return self.net.action_values(state, self.gamma)


class Function(Player):
    """A player made of a plain function ``state -> action``."""

    def __init__(self, function):
        if not callable(function):
            raise TypeError(f"a function state -> action is needed, not {function!r}")
        self.function = function
        self.game = None
        self.name = getattr(function, "__name__", type(function).__name__)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game = game

    def choose(self, state) -> int:
        """Return the action that the function returns."""
        if self.game is not None:
            self.game.choices(state)
        return self.function(state)


def wrap(player):
    """Return a player: `player` itself if it is one, else a player made of it.

    A function ``state -> action`` becomes a :class:`Function`, a network or a training session a
    :class:`Greedy` player. Anything else raises TypeError, even if it has a network ``net``.
    """
    if isinstance(player, type):
        raise TypeError(f"{player.__name__} is a class: make a player, {player.__name__}()")
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
    """Return whether something has a network with action values, and can be trained."""
    action_values = getattr(getattr(thing, "net", None), "action_values", None)
    return callable(getattr(thing, "train", None)) and callable(action_values)


def duplicate(player):
    """Return a player for another seat: its ``copy()``, or a shallow copy that shares weights."""
    if callable(getattr(player, "copy", None)):
        return player.copy()
    return copy.copy(player)
