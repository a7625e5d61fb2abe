"""afterstate: see for yourself what self-play learns in board games.

Start with ``games.load`` and the notebooks; read ``game.py``, ``ntuple.py``, ``td.py`` in this
order.

Examples
--------
A game is played action by action; its states are plain vectors of numbers:

>>> from afterstate import arena, games, players
>>> game = games.load("tictactoe")
>>> s = game.start()
>>> game.legal(s).tolist(), game.player(s)
([0, 1, 2, 3, 4, 5, 6, 7, 8], 0)
>>> s = game.after([4, 0, 2])  # as game.play(s, action) does it, one after the other
>>> print(game.render(s))
o . x
. x .
. . .
>>> game.action_name(s, 6), game.over(s), game.score(game.play(s, 6)).tolist()
('a1', False, [0.0, 0.0])

Players meet in matches; a function is a player, too:

>>> def first_free(state):
...     return int(game.legal(state)[0])
>>> arena.match(game, [players.MaxN(9), first_free], seed=1).scores.tolist()
[1.0, -1.0]

What is learned is a network, which is kept and played with:

>>> import tempfile
>>> from pathlib import Path
>>> from afterstate.learners import td
>>> session = td.Session(game, {"tuples": [[0, 1, 2], [0, 4, 8]]}, seed=1)
>>> session.train(200)
>>> session.net.action_values(s).shape  # one for each legal action
(6,)
>>> with tempfile.TemporaryDirectory() as folder:
...     session.save(Path(folder) / "mine.npz")
...     agent = players.load(Path(folder) / "mine.npz")
>>> len(arena.match(game, [agent, players.Random()], seed=1).moves) >= 5
True
"""

__version__ = "0.1.0"
