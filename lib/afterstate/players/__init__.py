"""Players: whatever can choose an action."""

from .basic import Function, Greedy, Random, duplicate, wrap
from .human import Human
from .ladder import at_strength
from .searching import MCTS, MaxN, MinMax

__all__ = [
    "Function",
    "Greedy",
    "Human",
    "MCTS",
    "MaxN",
    "MinMax",
    "Random",
    "at_strength",
    "duplicate",
    "wrap",
]
