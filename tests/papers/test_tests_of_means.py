"""Tests of means: against scipy's, against Clopper and Pearson's, and their intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from afterply.studies.papers.tests_of_means import (
    BY_ENDS,
    NAMED,
    Arms,
    Joined,
    Mean,
    gaffke,
    joined_p,
    skewness,
    student,
    welch,
)

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=6) + 1, RNG.normal(size=7)


def statistic(x, y, axis):
    spread = x.var(axis, ddof=1) / x.shape[axis] + y.var(axis, ddof=1) / y.shape[axis]
    return (x.mean(axis) - y.mean(axis)) / np.sqrt(spread)


def test_the_permutation_test_is_that_of_scipy():
    for end, side, how in ((0.0, 1, "greater"), (0.5, 1, "greater"), (2.0, -1, "less")):
        theirs = stats.permutation_test(
            (A - end, B), statistic, vectorized=True, alternative=how, n_resamples=np.inf
        )
        found = Arms(A, B)._arranged(end)
        share = np.mean(side * found >= side * (Arms(A, B).effect - end) / Arms(A, B).se - 1e-9)
        assert share == pytest.approx(theirs.pvalue)
        assert Arms(A, B).p_value(end, side) >= theirs.pvalue - 1e-12


def test_arms_of_unlike_spread_are_resampled():
    """No arrangement knows that one arm hardly varies; as one series its test errs less."""
    wide, narrow = A, 0.001 * B[:6]
    both = Arms(wide, narrow).p_value(0, 1)
    assert both == pytest.approx(Mean(wide).p_value(float(narrow.mean()), 1), rel=0.15)


def test_t_tests_are_those_of_scipy():
    ours, theirs = welch(A, B), stats.ttest_ind(A, B, equal_var=False, alternative="greater")
    assert ours.p_value(0, 1) == pytest.approx(theirs.pvalue)
    assert student(A).p_value(0.5, 1) == pytest.approx(
        stats.ttest_1samp(A, 0.5, alternative="greater").pvalue
    )
    assert skewness(A) == pytest.approx(stats.skew(A)) and skewness([2.0] * 3) == 0
    many = np.repeat(A, 10), np.repeat(B, 10)
    assert Arms(*many).p_value(0, 1) == welch(*many).p_value(0, 1)


@pytest.mark.parametrize("won, of", [(26, 26), (25, 26), (20, 25), (9, 10)])
def test_gaffkes_test_of_zeros_and_ones_is_clopper_and_pearsons(won, of):
    values = [1.0] * won + [0.0] * (of - won)
    for end in (0.3, 0.6, 0.9):
        exact = stats.beta.cdf(end, won, of - won + 1)
        assert gaffke(values, end, 0.0) == pytest.approx(exact, rel=1e-6)


def test_gaffkes_test_is_that_of_random_weights():
    values, weights = RNG.uniform(20, 100, 12), RNG.exponential(size=(40_000, 13))
    for end in (40, 55, 65):
        drawn = np.mean(weights @ (np.append(values, 0.0) - end) <= 0)
        assert gaffke(values, end, 0.0) == pytest.approx(drawn, abs=0.01)
    assert gaffke([1.0, 2.0], 3.0, 0.0) == 1.0 and gaffke([1.0, 2.0], 0.0, 0.0) == 0.0


def test_which_test_a_series_has():
    tail = np.array([100.0] * 24 + [40.0, 0.0])
    assert (
        Mean(tail, (0, 100)).kind(1) == BY_ENDS and Mean(tail, (0, 100)).kind(-1) == "resampled t"
    )
    assert Mean(tail).kind(1) == NAMED == Mean(tail[10:], (0, 100)).kind(1)
    assert Mean(np.tile(A, 20)).kind(1) == "t" and Mean([3.0] * 4).kind(1) == "equal runs"
    few = Mean(A)
    assert few.p_value(0, 1) >= student(A).p_value(0, 1)


@pytest.mark.parametrize(
    "test",
    [
        Mean(A),
        Mean(np.array([100.0] * 22 + [90.0, 85.0, 40.0]), (0, 100)),
        Arms(A, B),
        Joined(Mean(np.append(A, B)), (Mean(A), Mean(B)), 2),
    ],
)
def test_an_interval_leaves_out_what_its_test_rejects(test):
    low, high = test.interval((0.03, 0.02))
    step = 0.01 * test.se
    assert low < test.effect < high
    assert test.p_value(low, 1) <= 0.03 < test.p_value(low + step, 1)
    assert test.p_value(high, -1) <= 0.02 < test.p_value(high - step, -1)


def test_a_test_that_cannot_reject_has_no_end():
    assert Arms(A[:2], B[:2]).interval((0.01, 0.01)) == (-math.inf, math.inf)
    assert Mean([3.0] * 5).interval((0.01, 0.01)) == (3.0, 3.0)


def test_stages_count_alike():
    assert joined_p([0.02], 1) == 0.02 and joined_p([0.02], 3) == 0.06
    assert joined_p([0.5, 0.5], 1) == 0.5 and joined_p([1.0, 0.0], 2) == 1.0
    assert joined_p([0.02, 0.03], 1) == pytest.approx(
        stats.combine_pvalues([0.02, 0.03], method="stouffer").pvalue
    )
