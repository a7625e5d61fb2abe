"""Players: whatever can choose an action.

The contract. A player is any object with these members; all but the first two may be missing::

    new_match(game, actions_from_start, seat, seed)   a match begins; all chance is from `seed`
    choose(state) -> action                           asked when it is the player's turn
    observe(action, state)                            called after every action of anybody
    close()                                           the match is over
    values(state) -> float64[num_legal]               what the mover thinks of each legal action
    copy() -> player                                  the same player for another seat
    name                                              a text, for tables and errors

``new_match`` raises ValueError if the player cannot play this game. After the same ``new_match``
the same states get the same actions. :func:`wrap` says what else may sit at the board.

The players of this package are also functions: ``agent(state)``, ``agent(states)``. Most have
``agent.values(state)``. One that knows no game yet gets it by ``players.MaxN(9).playing(game)``.

>>> from afterply import games
>>> game = games.load("connect4")
>>> agent = zoo(game)
>>> s = game.from_array([[0] * 7] * 5 + [[0, 0, 2, 1, 0, 0, 0]])
>>> game.action_name(s, agent(s)), agent.values(s).shape
('f1', (7,))
"""

from .basic import Careless, Function, Greedy, Player, Random, duplicate, wrap
from .saved import load, zoo
from .searching import MCTS, MaxN, MinMax
from .wrapped import Wrapped

__all__ = ["Careless", "Function", "Greedy", "MCTS", "MaxN", "MinMax", "Player", "Random"]
__all__ += ["Wrapped", "duplicate", "load", "wrap", "zoo"]
