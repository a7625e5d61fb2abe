"""How often a test of a statement errs, by simulation with the shapes of the runs it judged.

As many runs as there are, in the same stages, are drawn from those of each arm, moved so that their
mean lies on the end that decides. What the test rejects then is an error. Runs of fewer than fifty
different values are smoothed by a normal kernel (Silverman's width), so that ten of them are not
taken for all that there can be.

The simulation takes minutes: `data/papers/simulated.json` keeps what it found, with a digest of the
runs and of the question. Where the digest is another one, nothing is known of the error.
"""

import hashlib
import json
import math
from collections import Counter

import numpy as np
from scipy.special import stdtr

from ...files import published_file, read_json
from .tests_of_means import BY_ENDS, MANY, Arms, Joined, Mean, Test, joined_p

RULES = 2  # another number after a test was changed: nothing is known of its errors then
DRAWS = 20_000
MOST = 60  # samples of a band that are tested in full
TIED = 0.2  # a share of equal values from which on they are no sample of a smooth distribution


def shape(values):
    """Return a function (rng, size) that draws runs like some values, with mean 0."""
    values = np.asarray(values, float)
    away, runs = values - values.mean(), len(values)
    tied = max(Counter(values.tolist()).values()) >= TIED * runs
    width = 0.0 if tied or runs >= MANY else 0.9 * runs**-0.2

    def draw(rng, size):
        found = away[rng.integers(runs, size=size)]
        noise = width * away.std() * rng.standard_normal(size) if width else 0.0
        return (found + noise) / math.sqrt(1 + width**2)

    return draw


def rejected(quick, exact, levels, most=MOST):
    """Return how often a test rejects at each level: its p value of sample i is `exact(i)`.

    quick: p values of a faster test, float [samples]: those far above a level are left out, of the
    others some of each band are tested in full and stand for their band.
    """
    order, shares = np.argsort(quick, kind="stable"), np.zeros(len(levels))
    edges = [0.0, *(3 * level for level in sorted(levels))]
    for low, high in zip(edges, edges[1:], strict=False):
        band = order[(quick[order] <= high) & ((quick[order] > low) | (low == 0))]
        some = band[:: max(1, -(-len(band) // most))]
        if len(some):
            found = np.array([exact(i) for i in some])
            weight = len(band) / len(some) / len(quick)
            shares += [weight * np.count_nonzero(found <= level) for level in levels]
    return shares


def of_stages(arms, looks, side, levels, rng, draws=DRAWS):
    """Return how often the joined test of some stages rejects what is on its edge, at any look.

    arms: of each the function that draws its runs, and their numbers in each stage.
    """
    samples = [[draw(rng, (draws, number)) for number in numbers] for draw, numbers in arms]
    stages = list(zip(*samples, strict=True))
    quick = np.array([in_short(stage, side) for stage in stages])
    joined = np.array([_least(column, looks) for column in quick.T])

    def exact(i):
        tests = [_test([sample[i] for sample in stage]) for stage in stages]
        return _least([test.p_value(0.0, side) for test in tests], looks)

    return rejected(joined, exact, levels)


def _least(p_values, looks):
    # of all looks: after the first stage, after the second, ...
    return min(joined_p(p_values[: number + 1], looks) for number in range(len(p_values)))


class Asked:
    """What is asked of a part: how often its test errs at a level, and with so small a p value."""

    def __init__(self, part, holds, level):
        seen, (low, high) = part.seen, part.ends
        if holds:
            below = seen.effect - low < high - seen.effect
            self.end, self.side = (low, 1) if below else (high, -1)
        else:
            self.end, self.side = (low, -1) if seen.effect < low else (high, 1)
        self.level, self.looks = level, seen.looks
        self.stages = seen.stages if isinstance(seen, Joined) else (seen,)
        plain = all(isinstance(stage, Mean | Arms) for stage in self.stages)
        self.known = plain and not seen.equal and not part.shown
        if self.known:
            self.known = BY_ENDS not in seen.kind(self.side)
            self.p_value = seen.p_value(self.end, self.side)
            whole = seen.whole if isinstance(seen, Joined) else seen
            self.runs = [_runs(stage) for stage in self.stages]
            self.all = _runs(whole)

    @property
    def digest(self):
        """Return what stands for the runs and the question."""
        runs = [[np.round(arm, 9).tolist() for arm in stage] for stage in self.runs]
        content = json.dumps([RULES, runs, self.end, self.side, self.level, self.looks])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def simulated(self, draws=DRAWS):
        """Return the error as a multiple of the level, and the chance of so small a p value."""
        arms = [
            (shape(whole), [len(stage[place]) for stage in self.runs])
            for place, whole in enumerate(self.all)
        ]
        levels = [self.level, self.p_value]
        rng = np.random.default_rng(int(self.digest, 16) % 2**32)
        error, chance = of_stages(arms, self.looks, self.side, levels, rng, draws)
        return {"error": round(float(error) / self.level, 2), "chance": round(float(chance), 6)}


def _runs(test):
    return [test.values] if isinstance(test, Mean) else [test.first, test.second]


def known() -> dict:
    """Return what was simulated: digest -> error and chance; empty without such a file."""
    path = published_file("papers/simulated.json")
    return read_json(path) if path.is_file() else {}


def _test(samples) -> Test:
    return Mean(samples[0]) if len(samples) == 1 else Arms(*samples)


def in_short(samples, side):
    """Return the p value that the t test of each sample has, of one series or of two arms."""
    means = [sample.mean(axis=1) for sample in samples]
    parts = [sample.var(axis=1, ddof=1) / sample.shape[1] for sample in samples]
    spread = np.maximum(sum(parts), 1e-300)
    below = sum(part**2 / (s.shape[1] - 1) for part, s in zip(parts, samples, strict=True))
    df = spread**2 / np.maximum(below, 1e-300)
    effect = means[0] - (means[1] if len(means) > 1 else 0.0)
    return stdtr(df, -side * effect / np.sqrt(spread))
