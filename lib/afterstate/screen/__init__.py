"""Games on the screen: play against an agent, step through a game, write games down.

``screen.play(game, opponent)`` shows a board that is played by clicks in a notebook, and asks for
moves at a terminal. ``screen.replay(game, states, actions)`` steps through a game.
"""

from .play import play
from .replay import replay

__all__ = ["play", "replay"]
