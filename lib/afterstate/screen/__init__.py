"""Games on the screen: a board played by clicks, a page, a game step by step; games as text."""

from .page import page
from .play import play
from .replay import replay

__all__ = ["page", "play", "replay"]
