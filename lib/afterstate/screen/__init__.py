"""Games on the screen: a board played by clicks, a page, a game step by step; games as text."""

from .learn import learn_page
from .page import page
from .play import play
from .replay import replay

__all__ = ["learn_page", "page", "play", "replay"]
