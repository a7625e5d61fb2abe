"""Machine code: the one decorator, random numbers, and mathematics that is the same everywhere."""

from .compile import kernel
from .functions import exp, log, tanh
from .random import new_rng, random_bits, random_float, random_int, seed_from

__all__ = ["exp", "kernel", "log", "tanh"]
__all__ += ["new_rng", "random_bits", "random_float", "random_int", "seed_from"]
