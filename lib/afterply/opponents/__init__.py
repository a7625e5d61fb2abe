"""Opponents: players by a word, of a chosen strength, in files of others, and other programs.

What needs a program that is not installed with the package says so when it is asked for.

>>> from afterply import games
>>> game = games.load("tictactoe")
>>> at_strength(game, 300).name, named(game, "mcts:100").name
('tictactoe at 300', 'MCTS-100')
"""

from .words import at_strength, named

__all__ = ["at_strength", "named"]
