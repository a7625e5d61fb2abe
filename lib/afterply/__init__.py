"""afterply: see for yourself what self-play learns in board games.

Start with ``games.load`` and the notebooks; read ``game.py``, ``ntuple.py``, ``td.py`` in this
order. States are plain vectors of numbers, functions are players, and what was trained is, too:

>>> from afterply import arena, games, players
>>> game = games.load("tictactoe")
>>> s = game.after([4, 0, 2])  # as game.play(s, action) does it, one after the other
>>> print(game.render(s))
o . x
. x .
. . .
>>> game.player(s), game.legal(s).tolist(), game.action_name(s, 6), game.over(s)
(1, [1, 3, 5, 6, 7, 8], 'a1', False)
>>> def first_free(state):
...     return int(game.legal(state)[0])
>>> arena.match(game, [players.MaxN(9), first_free], seed=1).scores.tolist()
[1.0, -1.0]
>>> from afterply.learners import td
>>> session = td.Session(game, tuples=[[0, 1, 2], [0, 4, 8]], seed=1)
>>> session.train(200)
>>> len(arena.match(game, [session, first_free], seed=1).moves) >= 5
True

The house has three wings, and the command lines (``commands``) above them::

    core     kernel, games, networks, search, players, learners, arena
    study    studies: evaluators, papers and what only one paper needs, reports
    extras   screen, adapters, opponents (other programs, files, ladders), league

Core imports neither of the others; ``tests/test_layers.py`` holds who may import whom.

These words mean the same everywhere::

    game     a Game, as ``games.load`` makes it; where a name will do, that is said
    state    int32 [game.size], as of ``game.start()``
    seed     whole number of any size and sign, from which everything random derives
    rng      uint64 [1], as of ``kernel.new_rng``
    params   dictionary of parameters of a learner, which its page lists
    changed  such parameters by name that are to be otherwise, and keep the others
    path     name of a file, a text or a Path
"""

import sys

if sys.flags.optimize > 1:
    raise ImportError(
        "python -OO leaves no docstrings, which are the help of commands and tables of games, and"
        " by which home-made code has its version: use python -O, or unset PYTHONOPTIMIZE"
    )

__all__ = ["arena", "games", "kernel", "learners", "networks", "players", "search"]
__all__ += ["studies"]
__all__ += ["adapters", "league", "opponents", "screen"]

__version__ = "0.1.0"
