"""Games on the screen: a board played by clicks, a page, a game step by step."""

from .page import learn_page, page
from .play import play
from .widget import replay

__all__ = ["learn_page", "page", "play", "replay"]
