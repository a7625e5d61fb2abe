"""Machine code: the one decorator, random numbers, and the mathematics that is the same on every machine."""

from .compile import kernel
from .functions import exp, log, tanh
from .random import new_rng, pick_best, random_bits, random_float, random_int, seed_from

__all__ = [
    "exp",
    "kernel",
    "log",
    "new_rng",
    "pick_best",
    "random_bits",
    "random_float",
    "random_int",
    "seed_from",
    "tanh",
]
