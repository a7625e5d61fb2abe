"""Random numbers for kernels (splitmix64), seeds from names, random choices between equals."""

import hashlib

import numpy as np

from ..checks import plain, seed_number
from .compile import kernel


def natural(seed: int) -> int:
    """Return a seed as a number of at least 0; different seeds have different numbers.

    A seed from 0 to 2**64 - 1 stays as it is. Any other has a number from 2**64 on: an even one, or
    an odd one if the seed is negative.
    """
    seed = seed_number(seed)
    if 0 <= seed < 2**64:
        return seed
    is_negative = int(seed < 0)
    return 2**64 + 2 * abs(seed) + is_negative


def new_rng(seed: int) -> np.ndarray:
    """Return the state of a splitmix64 generator, uint64 [1]; neighbouring seeds are unrelated."""
    return np.random.SeedSequence(natural(seed)).generate_state(1, np.uint64)


def seed_from(*names) -> int:
    """Derive a 63-bit seed from names such as study, arm and run, and from nothing else."""
    words = []
    for name in map(plain, names):
        text = f"{type(name).__name__}:{name}"  # 1 and "1" are different names
        digest = hashlib.sha256(text.encode()).digest()
        words.append(int.from_bytes(digest[:8], "big"))
    state = np.random.SeedSequence(0, spawn_key=words).generate_state(1, np.uint64)
    return int(state[0]) >> 1


@kernel
def random_bits(rng):
    """Advance the generator and return 64 random bits (splitmix64: Steele, Lea, Flood 2014)."""
    rng[0] = rng[0] + np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_float(rng):
    """Return a uniform float64 in [0, 1)."""
    return np.float64(random_bits(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def random_int(rng, n):
    """Return a uniform integer in [0, n), n at most 2**31 (bias below n / 2**32)."""
    return np.int64(((random_bits(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def best_of(values, n, rng):
    """Return the index of the greatest of the first `n` values; exact ties at random."""
    best, ties = 0, 1
    for k in range(1, n):
        if values[k] > values[best]:
            best, ties = k, 1
        elif values[k] == values[best]:
            ties += 1
            if random_int(rng, ties) == 0:
                best = k
    return best


def pick_best(values, rng) -> int:
    """Return the index of the greatest value; exact ties are broken uniformly at random."""
    best = np.flatnonzero(values == np.max(values))
    if len(best) > 1:
        return int(best[random_int(rng, len(best))])
    return int(best[0])  # without a random number
