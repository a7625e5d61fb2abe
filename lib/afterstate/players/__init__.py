"""Players: whatever can choose an action.

The contract. A player is any object with these members; all but the first two may be missing::

    new_match(game, actions_from_start, seat, seed)   a match begins; all chance is from `seed`
    choose(state) -> action                           asked when it is the player's turn
    observe(action, state)                            told after every action of anybody
    close()                                           the match is over
    values(state) -> float64[num_legal]               what the mover thinks of each legal action
    copy() -> player                                  the same player for another seat
    name                                              a text, for tables and errors

``new_match`` raises ValueError if the player can not play this game. After the same ``new_match``
the same states get the same actions, whatever was played before. Where several seats are taken by
one player, each gets its ``copy()``, or a shallow copy. What else may sit at the board, and how
:func:`wrap` makes a player of it: a plain function ``state -> action``; a network, which is played
greedily; a training session, whose network is. ``tests/players/test_contract.py`` tries the
contract on every player of the package.
"""

from .basic import Function, Greedy, Random, duplicate, wrap
from .human import Human
from .ladder import at_strength
from .saved import load, zoo
from .searching import MCTS, MaxN, MinMax
from .wrapped import Wrapped

__all__ = [
    "Function",
    "Greedy",
    "Human",
    "MCTS",
    "MaxN",
    "MinMax",
    "Random",
    "Wrapped",
    "at_strength",
    "duplicate",
    "load",
    "wrap",
    "zoo",
]
