"""Games: what a game is, how kernels call it, how it is drawn and checked.

``rules`` holds one file for each.
"""

from .boards import replay
from .catalogue import from_file, load, load_spec, names
from .conformance import check
from .game import Game

__all__ = ["Game", "check", "from_file", "load", "load_spec", "names", "replay"]
