"""Games on the screen: a board played by clicks, a game step by step; games as text."""

from .play import play
from .replay import replay

__all__ = ["play", "replay"]
