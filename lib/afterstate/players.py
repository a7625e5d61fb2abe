"""Players: whatever can choose an action.

A player is any object with these members; the last three may be missing::

    new_match(game, actions_from_start, seat, seed)   a match begins; `seed` is the only source of chance
    choose(state) -> action                           asked when it is the player's turn
    observe(action, state)                            called after every action of anybody
    close()                                           the match is over
    values(state) -> float64[num_legal]               what the mover thinks of each legal action

A plain function ``state -> action`` is a player too, through :func:`wrap`, which the arena calls. Where several seats
are taken by one player, each gets a shallow copy (or what its own ``copy()`` returns).
"""
import copy

import numpy as np

from . import lookahead, minimax
from .kernel import kernel, new_rng, random_int
from .rules import random_action


@kernel
def pick_best(values, rng):
    """Return the index of the greatest value; exact ties are broken uniformly at random."""
    best, ties = 0, 1
    for i in range(1, values.shape[0]):
        if values[i] > values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
    if ties > 1:
        skip = random_int(rng, ties)
        top = values[best]
        for i in range(values.shape[0]):
            if values[i] == top:
                if skip == 0:
                    return i
                skip -= 1
    return best


class Random:
    """Choose uniformly among the legal actions; if an action is two choices (``Game``, compound), one after the other."""

    name, version = "Random", 1

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = game, new_rng(seed)

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
            raise ValueError(f"a greedy player needs a network with action_values(state, gamma), not {type(net).__name__}")
        if not 0.0 <= gamma <= 1.0:
            raise ValueError(f"gamma must be within 0 and 1, not {gamma!r}")
        self.net, self.gamma = net, float(gamma)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the network belongs to another game."""
        if self.net.game is not game and self.net.game.identity != game.identity:
            raise ValueError(f"this network was made for {self.net.game!r}, the match is {game!r}: load the right weights")
        self.game, self.rng = game, new_rng(seed)

    def choose(self, state) -> int:
        """Return the best action."""
        return int(self.game.legal(state)[pick_best(self.values(state), self.rng)])

    def values(self, state) -> np.ndarray:
        """Return r + gamma V(afterstate) of every legal action, float64[num_legal]."""
        return self.net.action_values(state, self.gamma)


class MaxN:
    """Look ahead with Max-N, every player maximising his own reward; exact ties at the root at random.

    Parameters
    ----------
    depth : int
        Plies to look ahead, at least 1; at the limit a position is worth its present reward.
    unit : {"action", "turn"}
        What the depth counts.

    Source: [korf1991]; [konen2021] Table 1 (Max-N, depth 10 for Tic-Tac-Toe, 15 for Nim).
    """

    version = 1  # raised when the moves change

    def __init__(self, depth: int = 10, unit: str = "action"):
        minimax.check_depth(depth, unit)
        self.depth, self.unit = int(depth), unit
        self.name = f"Max-N-{self.depth}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.rng = game, new_rng(seed)

    def choose(self, state) -> int:
        """Return the best action."""
        return int(self.game.legal(state)[pick_best(self.values(state), self.rng)])

    def values(self, state) -> np.ndarray:
        """Return the mover's Max-N value of every legal action, float64[num_legal]."""
        return np.ascontiguousarray(minimax.values(self.game, state, self.depth, self.unit)[:, self.game.player(state)])


class MinMax:
    """Look ahead to a depth with Min-Max; at the limit the game's heuristic counts (for two players with opposite rewards).

    Parameters
    ----------
    depth : int
        Look-ahead, at least 1.
    heuristic : bool, optional
        Whether the game's rule `heuristic` gives the value at the limit, or the reward so far; default: if there is one.
    ties : {"first", "random"}
        Among exactly equal best actions: the first in the order of ``game.legal``, always, or one at random.
    unit : {"action", "turn"}
        What the depth counts: every action (Kalah: every sowing), or actions of one player in a row as one.

    Source: [knuth1975]; [jamieson2022] "Min-Max Algorithm in the Context of Games" (deterministic: "first", non-deterministic: "random").
    """

    version = 1  # raised when the moves change

    def __init__(self, depth: int, heuristic: bool | None = None, ties: str = "first", unit: str = "action"):
        minimax.check_depth(depth, unit)
        if ties not in ("first", "random"):
            raise ValueError(f"ties must be 'first' or 'random', not {ties!r}")
        self.depth, self.heuristic, self.ties, self.unit = int(depth), heuristic, ties, unit
        self.name = f"Min-Max-{self.depth}-{ties}"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the game is not of the right kind."""
        self.rng, self.game = new_rng(seed), game
        self.searcher = lookahead.Searcher(game, self.depth, self.unit, self.heuristic)

    def choose(self, state) -> int:
        """Return a best action."""
        if self.ties == "first":
            best = int(np.argmax(self.searcher.values(state, lookahead.FIRST)))
        else:
            best = pick_best(self.searcher.values(state, lookahead.TIES), self.rng)
        return int(self.game.legal(state)[best])

    def values(self, state) -> np.ndarray:
        """Return the mover's Min-Max value of every legal action, float64[num_legal]."""
        return self.searcher.values(state)


class Human:
    """Ask the person at the keyboard: shows the board, then reads an action by its name or number; ``q`` gives up.

    Examples
    --------
    In a notebook: ``arena.match(game, [players.Human(), session])`` plays first against a trained session.
    """

    name = "Human"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.last = game, None

    def observe(self, action, state):
        """Remember the last action, to mark it on the board, and show the end of the game."""
        self.last = action
        if self.game.over(state):
            self._show(state)

    def choose(self, state) -> int:
        """Return the action that the person names; raises KeyboardInterrupt if the person gives up."""
        named = {self.game.action_name(state, action): int(action) for action in self.game.legal(state)}
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
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ImportError:
            get_ipython = None
        if get_ipython and get_ipython():
            display(self.game.view(state, last=self.last))
        else:
            print(self.game.render(state))


class Function:
    """A player made of a plain function ``state -> action``."""

    def __init__(self, function):
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match: nothing to prepare."""

    def choose(self, state) -> int:
        """Return the function's choice."""
        return self.function(state)


def wrap(player):
    """Return `player` itself if it has the members of a player, or a player made of a function, a network or a training session.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(player, type):
        raise TypeError(f"{player.__name__} is a class: make a player of it, such as {player.__name__}()")
    if callable(getattr(player, "choose", None)) and callable(getattr(player, "new_match", None)):
        return player
    if callable(getattr(player, "action_values", None)):
        return Greedy(player)
    if is_session(player):
        return Greedy(player.net)
    if callable(player):
        return Function(player)
    carried = " It carries a network: give that, or a player made of it." if hasattr(player, "net") else ""
    raise TypeError(
        f"a player has new_match and choose, or is a function state -> action, a network or a session; got {player!r}.{carried}"
    )


def is_session(thing) -> bool:
    """Return whether something is a training session: it has learned a network, and can learn on."""
    return callable(getattr(thing, "train", None)) and callable(getattr(getattr(thing, "net", None), "action_values", None))


def duplicate(player):
    """Return a player of the same kind for another seat: its ``copy()``, or a shallow copy that shares weights and tables."""
    return player.copy() if callable(getattr(player, "copy", None)) else copy.copy(player)
