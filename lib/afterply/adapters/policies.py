"""Policies: players of ours in the environments of others, and policies of others as our players.

A policy is a function ``policy(observation, action_mask) -> action``::

    act = to_policy(players.zoo("connect4"), env)
    seen, *_ = env.last()                                    # an environment of PettingZoo
    env.step(act(seen["observation"], seen["action_mask"]))
    env.step(act(observation, info["action_mask"]))          # one of Gymnasium

    theirs = Policy(model)                                   # a policy as a player
    arena.matches(game, {"theirs": theirs, "agent": players.zoo(game)})

In PettingZoo's own ConnectFour, ``connect_four_v3``, a player reads the state from what is seen. In
an environment of ours it follows the state itself, since not all of it need be seen: the clocks of
checkers are not.
"""

import numpy as np

from ..checks import one_of
from ..games import catalogue
from ..games.game import Game
from ..players.basic import Seated
from . import Mover, action_mask, one_hot, planes, with_planes

__all__ = ["Policy", "to_policy"]


def to_policy(player, env, seed: int = 0):
    """Return a player of ours as a policy ``(observation, action_mask) -> action``.

    Each move is asked for by itself: a search begins with an empty tree.

    Parameters
    ----------
    player : player, function, network or session
        Such as ``players.zoo("connect4")``, a search around it, or ``players.MCTS(1000)``.
    env : environment
        Of :mod:`afterply.adapters.pettingzoo` or :mod:`afterply.adapters.gymnasium`, in any
        wrappers, or PettingZoo's ``connect_four_v3``.
    seed : int
        Of all chance in the moves of the policy.

    Raises
    ------
    ValueError
        If the states of the environment are not known here, or the player cannot play its game;
        when it is called, if no action is legal.
    """
    environment = getattr(env, "unwrapped", env)
    name = (getattr(environment, "metadata", None) or {}).get("name")
    game = getattr(environment, "game", None)
    if name == CLASSIC:
        game = catalogue.load(CLASSIC)
    elif not isinstance(game, Game):
        raise ValueError(
            f"the states of {env!r} are not known here: take an environment of"
            f" afterply.adapters.pettingzoo or gymnasium, or PettingZoo's {CLASSIC}"
        )
    mover = Mover(player, game, seed)

    def policy(observation, action_mask) -> int:
        if not np.any(action_mask):
            raise ValueError(f"no action is legal in {action_mask!r}: ask whose turn it is")
        return mover(state_of_classic(game, observation) if name == CLASSIC else environment.s)

    return policy


class Policy(Seated):
    """A policy of others as a player.

    Parameters
    ----------
    policy : function ``(observation, action_mask) -> action``, or object with ``predict``
        Of an object ``predict(observation, action_masks=mask)`` is called, which returns (action,
        state), as ``MaskablePPO`` of Stable-Baselines3 does. The mask is int8 [actions]. Chance in
        it is its own affair: only a policy without chance plays the same match twice.
    observation : {"flat", "board", "connect_four_v3"}
        What it was trained to see: the two observations of the environments of
        :mod:`afterply.adapters`, for one player that of Gymnasium, for several that of PettingZoo;
        or that of PettingZoo's ConnectFour.
    name : str
        That in tables.

    Examples
    --------
    >>> from afterply import arena, games, players
    >>> def leftmost(observation, action_mask):
    ...     return action_mask.argmax()
    >>> two = {"leftmost": Policy(leftmost), "random": players.Random()}
    >>> len(arena.matches(games.load("tictactoe"), two, episodes=2))
    8
    """

    def __init__(self, policy, observation: str = "flat", name: str = "policy"):
        self.predicts = callable(getattr(policy, "predict", None))
        if not self.predicts and not callable(policy):
            raise TypeError(f"a policy is a function or has predict, which {policy!r} is not")
        self.policy = policy
        self.observation = one_of("observation", observation, SEEN)
        self.name = name

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; ValueError if the policy sees another game."""
        super().new_match(game, actions_from_start, seat, seed)
        if self.observation == CLASSIC and game.identity != catalogue.load(CLASSIC).identity:
            raise ValueError(f"{self.observation} shows connect4 on 6 x 7 only, not {game!r}")

    def choose(self, state) -> int:
        """Return the policy's action."""
        mask = action_mask(self.game, state)
        observation = SEEN[self.observation](self.game, state)
        if self.predicts:
            answer, _ = self.policy.predict(observation, action_masks=mask)
        else:
            answer = self.policy(observation, mask)
        return np.asarray(answer).item()  # an array of one number is one


def _seen(cells):
    """Return the function (game, state) -> what the mover sees in an environment of ours."""

    def seen(game, s):
        if game.players == 1:
            return cells(game, s)
        return with_planes(cells(game, s), np.arange(game.players) == game.player(s))

    return seen


# PettingZoo's ConnectFour: two planes of 6 x 7, the stones of who looks and those of the other
CLASSIC = "connect_four_v3"


def state_of_classic(game, observation) -> np.ndarray:
    """Return our state of PettingZoo's ConnectFour, as the player to move sees it."""
    stones = np.asarray(observation)
    if stones.shape != (6, 7, 2):
        raise ValueError(
            f"an observation of {CLASSIC} has the shape (6, 7, 2), not {stones.shape}: give"
            f' env.last()[0]["observation"], instead of {observation!r}'
        )
    mine, other = np.moveaxis(stones.astype(int), -1, 0)
    first, second = (mine, other) if mine.sum() == other.sum() else (other, mine)
    return game.from_array(first + 2 * second)


def classic_of_state(game, s) -> np.ndarray:
    """Return what the player to move sees in PettingZoo's ConnectFour, int8 [6, 7, 2]."""
    mine = 1 + game.player(s)
    board = game.to_array(s)
    return np.stack([board == mine, board == 3 - mine], axis=-1).astype(np.int8)


SEEN = {"flat": _seen(one_hot), "board": _seen(planes), CLASSIC: classic_of_state}
