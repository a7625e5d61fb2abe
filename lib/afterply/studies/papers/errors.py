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
from itertools import pairwise

import numpy as np
from scipy.special import stdtr

from .margins import published_results
from .tests_of_means import BY_ENDS, MANY, Arms, Joined, Mean, Test, joined_p

RULES = 2  # another number after a test was changed: nothing is known of its errors then
DRAWS = 20_000
MOST = 60  # samples of a band that are tested in full
TIED = 0.2  # a share of equal values from which on they are no sample of a smooth distribution


def shape(values):
    """Return a function (rng, size) that draws runs like some values, with mean 0.

    `values` are float [runs], `size` is the shape of what is drawn.
    """
    values = np.asarray(values, float)
    num_runs = len(values)
    deviations = values - values.mean()
    most_equal = max(Counter(values.tolist()).values())
    has_many_ties = most_equal >= TIED * num_runs
    if has_many_ties or num_runs >= MANY:
        width = 0.0
    else:
        width = 0.9 * num_runs**-0.2  # of Silverman's kernel, in standard deviations

    def draw(rng, size):
        drawn = deviations[rng.integers(num_runs, size=size)]
        noise = 0.0
        if width:
            noise = width * deviations.std() * rng.standard_normal(size)
        # the noise adds to the variance, which shall be that of the values
        return (drawn + noise) / math.sqrt(1 + width**2)

    return draw


def rejected(quick, exact, levels, most=MOST):
    """Return how often a test rejects at each level: float [levels].

    The p value of sample i is `exact(i)`, which takes long. `quick` holds the p values of a faster
    test, float [samples]. Samples whose quick p value is far above a level are taken for not
    rejected. The others are put into bands of similar p values; at most about `most` of each band
    are tested in full and stand for their band.
    """
    order = np.argsort(quick, kind="stable")
    shares = np.zeros(len(levels))
    edges = [0.0, *(3 * level for level in sorted(levels))]
    for low, high in pairwise(edges):
        is_above_low = (quick[order] > low) | (low == 0)
        band = order[(quick[order] <= high) & is_above_low]
        if len(band) == 0:
            continue
        tested = band[:: math.ceil(len(band) / most)]
        p_values = np.array([exact(i) for i in tested])
        weight = len(band) / len(tested) / len(quick)
        for place, level in enumerate(levels):
            shares[place] += weight * np.count_nonzero(p_values <= level)
    return shares


def of_stages(arms, looks, side, levels, rng, draws=DRAWS):
    """Return how often the joined test of some stages rejects what is on its edge, at any look.

    Parameters
    ----------
    arms : list
        For each arm the function that draws its runs, and the numbers of its runs in each stage.
    looks : int
        How often the test is looked at.
    side : int
        1 for a test of being above the edge, -1 for one of being below it.
    levels : list
        The levels of the test.
    rng : numpy.random.Generator
    draws : int
        Simulated samples.
    """
    samples_of_arms = []
    for draw, numbers in arms:
        samples_of_arms.append([draw(rng, (draws, number)) for number in numbers])
    stages = list(zip(*samples_of_arms, strict=True))
    quick_of_stages = np.array([in_short(stage, side) for stage in stages])
    quick = np.array([_least_p(p_values, looks) for p_values in quick_of_stages.T])

    def exact(i):
        p_values = []
        for stage in stages:
            test = _test_of([sample[i] for sample in stage])
            p_values.append(test.p_value(0.0, side))
        return _least_p(p_values, looks)

    return rejected(quick, exact, levels)


def _least_p(p_values, looks):
    """Return the least p value of all looks: after the first stage, after the second, ..."""
    return min(joined_p(p_values[: number + 1], looks) for number in range(len(p_values)))


class Asked:
    """A question about the test of a part: how often it errs, and has so small a p value by chance.

    Parameters
    ----------
    part : statements.Part
    holds : bool
        Whether the verdict is that the statement holds; else it is the contrary.
    level : float
        The level of the test.
    """

    def __init__(self, part, holds, level):
        test = part.seen
        self.level = level
        self.looks = test.looks
        self.end, self.side = _edge(part, holds)
        self.known = _can_be_simulated(part, self.side)  # whether there is an answer
        if self.known:
            stages, whole = _stages_and_whole(test)
            self.p_value = test.p_value(self.end, self.side)
            self.runs_of_stages = [_runs_of_arms(stage) for stage in stages]
            self.runs = _runs_of_arms(whole)  # of each arm

    @property
    def digest(self):
        """Return what stands for the runs and the question."""
        runs = []
        for stage in self.runs_of_stages:
            runs.append([np.round(arm, 9).tolist() for arm in stage])
        content = json.dumps([RULES, runs, self.end, self.side, self.level, self.looks])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def simulated(self, draws=DRAWS):
        """Return the error as a multiple of the level, and the chance of so small a p value."""
        arms = []
        for place, runs in enumerate(self.runs):
            numbers = [len(stage[place]) for stage in self.runs_of_stages]
            arms.append((shape(runs), numbers))
        levels = [self.level, self.p_value]
        rng = np.random.default_rng(int(self.digest, 16) % 2**32)
        error, chance = of_stages(arms, self.looks, self.side, levels, rng, draws)
        return {"error": round(float(error) / self.level, 2), "chance": round(float(chance), 6)}


def _edge(part, holds):
    """Return the end that decides a part, and the side of it that the test must confirm."""
    low, high = part.ends
    effect = part.seen.effect
    if holds:
        is_nearer_to_low = effect - low < high - effect
        return (low, 1) if is_nearer_to_low else (high, -1)
    return (low, -1) if effect < low else (high, 1)


def _can_be_simulated(part, side):
    """Return whether the test of a part can be simulated."""
    stages, _ = _stages_and_whole(part.seen)
    for stage in stages:
        if not isinstance(stage, Mean | Arms):
            return False
    if part.seen.equal or part.shown:
        return False
    return BY_ENDS not in part.seen.kind(side)


def _stages_and_whole(test):
    """Return the tests of the stages, and that of all runs."""
    if isinstance(test, Joined):
        return test.stages, test.whole
    return (test,), test


def _runs_of_arms(test):
    """Return the runs of each arm, one or two, that a test compares."""
    if isinstance(test, Mean):
        return [test.values]
    return [test.first, test.second]


def known() -> dict:
    """Return what was simulated: digest -> error and chance; {} without the file."""
    return published_results("simulated.json")


def _test_of(samples) -> Test:
    """Return the test of one series, or of the difference of two arms."""
    if len(samples) == 1:
        return Mean(samples[0])
    return Arms(*samples)


def in_short(samples, side):
    """Return the p value of the t test of each sample: float [draws].

    `samples` are those of one series or of two arms, each float [draws, runs]; `side` is 1 for a
    mean (or difference of means) above 0, -1 for one below it.
    """
    means = [sample.mean(axis=1) for sample in samples]
    squared_errors = [sample.var(axis=1, ddof=1) / sample.shape[1] for sample in samples]
    total = np.maximum(sum(squared_errors), 1e-300)
    weighted = 0
    for squared_error, sample in zip(squared_errors, samples, strict=True):
        weighted = weighted + squared_error**2 / (sample.shape[1] - 1)
    df = total**2 / np.maximum(weighted, 1e-300)
    effect = means[0]
    if len(means) > 1:
        effect = means[0] - means[1]
    return stdtr(df, -side * effect / np.sqrt(total))
