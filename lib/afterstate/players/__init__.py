"""Players: whatever can choose an action."""

from .basic import Function, Greedy, Random, duplicate, wrap
from .human import Human
from .ladder import at_strength
from .searching import MCTS, MaxN, MinMax
from .wrapped import Wrapped

__all__ = [
    "Function",
    "Greedy",
    "Human",
    "MCTS",
    "MaxN",
    "MinMax",
    "Random",
    "Wrapped",
    "at_strength",
    "duplicate",
    "wrap",
]
