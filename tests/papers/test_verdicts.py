"""Intervals and verdicts: worked examples; how often the rule errs is in test_error_rates.py."""

import math

import numpy as np
import pytest
from scipy.special import stdtr

from afterply import stats
from afterply.stats import mean_interval
from afterply.studies.papers.verdicts import Published, counting_error, runs_for, verdict

REPEATS = 1000


def test_interval_by_hand():
    # mean 50, sd 2, n 4: t(0.975, 3) = 3.182446, half width 3.182446 * 2 / 2
    values = 50 + 2 * np.array([-1, 1, -1, 1]) * math.sqrt(3) / 2
    mean, low, high = mean_interval(values)
    assert mean == pytest.approx(50)
    assert (low, high) == pytest.approx((50 - 3.182446, 50 + 3.182446), abs=1e-5)
    assert mean_interval([7.0])[0] == 7.0 and math.isnan(mean_interval([7.0]).low)
    assert mean_interval([7.0] * 5) == (7.0, 7.0, 7.0)
    for wrong in ([], [1.0, math.nan], [[1.0, 2.0]]):
        with pytest.raises(ValueError):
            mean_interval(wrong)


def cell(*values):
    return dict(zip(("wins", "draws", "losses"), values, strict=True))


COUNTED, ENDS = {"counted": (100, 100)}, cell([100.0] * 10, [0.0] * 10, [0.0] * 10)
TWO = cell([60.0] * 5 + [70.0] * 5, [5.0] * 10, [35.0] * 5 + [25.0] * 5)
FOUR = np.array([-1, 1, -1, 1]) * math.sqrt(3) / 2  # sd 1, n 4
PRINTED, WIDE = dict(published_sem=0.5, published_runs=10), dict(published_sem=5, published_runs=10)
ABOVE, ONE = dict(relation=">"), dict(trainings=1)


@pytest.mark.parametrize(
    "ours, published, margin, how, label",
    [
        # 90% half width t(0.95, 3) / 2 = 1.17668; mean difference 0.8: 1.97668 inside 2, 2.02 not
        (FOUR + 50.80, 50, 2, {}, "reproduced"),
        (FOUR + 50.83, 50, 2, {}, "inconclusive"),
        # 95% half width 3.182446 / 2 = 1.591223: the boundary is a difference of 3.591223
        (FOUR + 53.60, 50, 2, {}, "not reproduced"),
        (FOUR + 53.58, 50, 2, {}, "inconclusive"),
        (FOUR + 53.60, 50, 2, {"better": "higher"}, "better"),
        (FOUR + 46.40, 50, 2, {"better": "higher"}, "not reproduced"),
        # as certain as the printed mean, or less
        (FOUR + 0.9, 0, 2, PRINTED, "consistent"),
        (FOUR + 0.9, 0, 2, PRINTED | {"published_sem": 0.49}, "inconclusive"),
        # a single training: half width 3.182446 sqrt(1 + 1/4) = 3.558083, spread 1.64 beyond 1
        (FOUR, 3.5, 1, ONE, "consistent"),
        (FOUR, 3.6, 1, ONE, "inconclusive"),
        (FOUR, 4.6, 1, ONE, "not reproduced"),
        (FOUR / 10, 0.1, 1, ONE, "reproduced"),
        (FOUR, 2.1, 0.8, {"trainings": 4}, "consistent"),
        (FOUR, 2.1, 1, {"trainings": 5}, "inconclusive"),  # ours is the less certain mean
        (FOUR, 2.3, 1, {"trainings": 400}, "inconclusive"),
        # agreement with what scatters by more than ten margins says nothing, a difference does
        (FOUR, 0.1, 0.36, ONE, "consistent"),
        (FOUR, 0.1, 0.35, ONE, "inconclusive"),
        (FOUR, 4.0, 0.35, ONE, "not reproduced"),
        # equal runs count as they are; on the margin is neither inside nor beyond, although
        # 0.33 - 0.30 > 0.03 in binary, and 1.1 - 1 < 0.1 is not
        ([49.0] * 3, 50, 2, {}, "reproduced"),
        ([0.30] * 3, 0.33, 0.03, {}, "inconclusive"),
        ([0.31] * 3, 0.33, 0.03, {}, "reproduced"),
        ([1.1] * 3, 1.0, 0.1, {}, "inconclusive"),
        ([2.8] * 3, 3.0, 0.2, {}, "inconclusive"),
        # what stands at its floor agrees with what is printed within the margin of it
        ([100.0] * 3, 150, 100, {"floor": 100}, "reproduced"),
        ([100.0, 100.0, 130.0], 300, 100, {"floor": 100, "trainings": 1}, "not reproduced"),
        ([100.0, 100.0, 400.0], 310, 100, {"floor": 100, "trainings": 1}, "inconclusive"),
        ([100.0, 100.0, 400.0], 310, 100, {"floor": 50, "trainings": 1}, "consistent"),
        # what the printed precision can tell: a difference far beyond both is still seen
        ([10.0, 12.0, 11.0], 49, 2, WIDE, "not reproduced"),
        ([62.0, 61.0, 60.5, 62.0], 49, 2, WIDE, "inconclusive"),
        # of two imprecise numbers one cannot say that they agree
        ([20.0, 80.0, 50.0], 49, 2, WIDE, "inconclusive"),
        ([50.0] * 20, 49, 2, WIDE, "consistent"),
        ([85.0, 86.0, 84.0], 80, None, ABOVE, "reproduced"),
        ([75.0, 76.0, 74.0], 80, None, ABOVE, "not reproduced"),
        ([50.0, 50.0], 50, None, ABOVE, "inconclusive"),
        (cell([60, 61, 59], [5, 5, 5], [35, 34, 36]), cell(60, 5, 35), 3, {}, "reproduced"),
        (cell([60, 61, 59], [15] * 3, [25, 24, 26]), cell(60, 5, 35), 2, {}, "not reproduced"),
        (cell([66.0] * 5, [6.0] * 5, [28.0] * 5), cell(65, 5, 30), 2, COUNTED, "consistent"),
        (cell([66.0] * 5, [20.0] * 5, [28.0] * 5), cell(65, 5, 30), 2, COUNTED, "not reproduced"),
        # six draws of 100 games are not chance where our agents draw none of a thousand
        (ENDS, cell(94, 6, 0), 2, COUNTED, "not reproduced"),
        (ENDS, cell(97, 3, 0), 2, COUNTED, "inconclusive"),
        (ENDS, cell(99, 1, 0), 2, COUNTED, "reproduced"),
        (cell([92.0] * 10, [8.0] * 10, [0.0] * 10), cell(94, 6, 0), 2, COUNTED, "consistent"),
        # the games of our cells have that error already: it counts once
        (TWO, cell(55, 5, 40), 2, COUNTED | ONE, "consistent"),
    ],
)
def test_labels_worked_out_by_hand(ours, published, margin, how, label):
    found = verdict(ours, published, margin, **how)
    assert found.label == label
    # no verdict contradicts its interval
    if how.get("relation", "=") == "=" and label in ("reproduced", "consistent"):
        assert found.low <= margin + 1e-9 and found.high >= -margin - 1e-9
    if label == "consistent":
        assert found.low <= 0 <= found.high


@pytest.mark.parametrize(
    "ours, published, how, label, needed, words",
    [
        ([50.0, 50.0], 50, {}, "inconclusive", 3, "at least 3"),
        ([53.0] * 3, 50, {}, "not reproduced", None, "equal"),
        ([50.0] * 20, 49, WIDE, "consistent", None, "[-10, +12] holds 0 and exceeds ±2"),
        ([62.0, 61.0, 60.5, 62.0], 49, WIDE, "inconclusive", math.inf, "standard error of 5, the"),
        (20 * FOUR + 50, 49, ONE, "inconclusive", math.inf, "single trainings scatter by ±71"),
    ],
)
def test_runs_needed_and_words(ours, published, how, label, needed, words):
    result = verdict(ours, published, 2.0, **how)
    assert (result.label, result.runs_needed) == (label, needed) and words in result.explanation


def test_how_surprising_a_consistent_value_is_and_what_stands_at_its_floor():
    # t of 3.5 over spread sqrt(1 + 1/4), three degrees of freedom
    found = verdict(FOUR, 3.5, 1.0, **ONE)
    assert found.surprise == pytest.approx(2 * stdtr(3, -3.5 / math.sqrt(1.25)))
    assert found.explanation.endswith(f"by chance: p = {found.surprise:.2f}")
    assert math.isnan(verdict(FOUR / 10, 0.1, 1.0, **ONE).surprise)
    text = verdict([100.0, 100.0, 130.0], 150, 100, floor=100).explanation
    assert "2 of 3 runs stand at the floor of 100 and may lie lower" in text
    text = verdict([100.0, 90.0, 95.0], 95, 20, cap=100).explanation
    assert "1 of 3 runs stand at the cap of 100 and may lie higher" in text


def test_degrees_of_freedom():
    # ours 0.25; printed sem 0.5: 0.25. se 0.70711, df 0.25 / (0.0625/3 + 0.0625/9) = 9
    result = verdict(FOUR, 0.0, 2.0, **PRINTED)
    assert result.high == pytest.approx(2.262157 * math.sqrt(0.5), abs=1e-5)
    # a spread that is not printed: that of our runs
    ours = [60.0, 66.0, 63.0, 57.0, 69.0]
    for trainings in (1, 10):
        result = verdict(ours, 64.0, 2.0, trainings=trainings)
        half = stats.t_quantile(0.975, 4) * np.std(ours, ddof=1) * math.sqrt(1 / 5 + 1 / trainings)
        assert result.high - result.low == pytest.approx(2 * half)


def test_an_undecided_cell_waits_for_the_component_that_will_decide_it():
    published, near = cell(60, 5, 35), [1.0, 6.0, 8.0]

    def needed(ours):
        return [verdict(ours[k], published[k], 2.0, components=3).runs_needed for k in ours]

    beyond = cell([50.0, 55.0, 62.0], near, [25.0, 40.0, 34.0])
    found, (wins, _, losses) = verdict(beyond, published, 2.0), needed(beyond)
    # the losses will never be told from 35 +- 2, which a cell excluded by its wins need not be
    assert losses > wins == found.runs_needed
    assert found.label == "inconclusive" and found.explanation.startswith("wins: ")
    inside = cell([60.0, 61.5, 58.0], [5.0, 5.5, 4.8], [35.0, 36.0, 33.0])
    assert verdict(inside, published, 2.0).runs_needed == max(filter(None, needed(inside)))
    with pytest.raises(ValueError, match="components"):
        verdict({"wins": [1, 1]}, published, 2.0)


NOT_NUMBERS = (math.nan, math.inf, -math.inf)
BAD = {  # argument: values that cannot be meant, and what the message says
    "ours": ([], [math.nan, 1.0], [1.0, math.inf], [[1.0, 2.0]], "one value a run|leave out runs"),
    "published": (*NOT_NUMBERS, "must be finite"),
    "margin": (0, -1, None, *NOT_NUMBERS, "margin is .* positive"),
    "published_sem": (-1, *NOT_NUMBERS, "sem is"),
    "published_runs": (1, 0, -3, "at least 2 runs"),
    "trainings": (0, -3, "at least 1"),
    "better": ("up", "", 1, "higher"),
    "relation": (">=", "", None, "'=', '>' or '<'"),
}
BAD_CALLS = [(name, value, bad[-1]) for name, bad in BAD.items() for value in bad[:-1]]


@pytest.mark.parametrize("name, value, message", BAD_CALLS)
def test_no_bad_call_of_a_verdict_is_silent(name, value, message):
    good = dict(ours=[50.0, 51.0, 50.5], published=50.0, margin=2)
    with pytest.raises(ValueError, match=message):
        verdict(**good | {name: value})


@pytest.mark.parametrize("difference, spread", [(0.5, 1.0), (2.0, 1.5)])
def test_runs_needed_give_the_promised_power(difference, spread):
    def decided(runs):
        rng = np.random.default_rng(0)
        labels = [
            verdict(rng.normal(difference, spread, runs), 0.0, 1.0).label for _ in range(REPEATS)
        ]
        return 1 - labels.count("inconclusive") / REPEATS

    runs = Published(0.0, 1.0).runs_needed(difference, spread)
    assert 0.70 < decided(runs) < 0.93 and decided(max(3, runs // 3)) < 0.7


def test_what_does_not_shrink_keeps_a_value_open():
    assert 3 < verdict([70.0, 95.0, 80.0], 80.0, None, relation=">").runs_needed < math.inf
    needed = Published(0.0, 1.0).runs_needed
    assert needed(0.0, 1.0) < needed(0.0, 2.0) < needed(0.5, 2.0) < needed(1.0, 2.0) == math.inf
    assert needed(0.0, 1.0, 0.65) == math.inf and needed(0.0, 1.0, 0.5) < math.inf
    assert runs_for(1.0, 0.025, 1.0) == pytest.approx(10, abs=1)  # the textbook's number of pairs
    # a count has the larger of its errors: the games' or the trainings'
    few = verdict(cell([50.0] * 9, [0.0] * 9, [50.0] * 9), cell(50, 0, 50), 2.0, counted=(100, 100))
    assert few.label == "consistent" and counting_error(50, 100, 100) == pytest.approx(5, rel=0.01)


@pytest.mark.parametrize("runs", [6, 10, 25])
def test_the_median_interval_covers_the_median(runs):
    rng = np.random.default_rng(runs)
    samples = rng.exponential(size=(4000, runs))  # median: log 2
    found = np.array([stats.median_interval(sample) for sample in samples])
    assert 0.945 <= np.mean((found[:, 1] <= np.log(2)) & (np.log(2) <= found[:, 2])) <= 0.99
    assert (found[:, 1] <= found[:, 0]).all() and (found[:, 0] <= found[:, 2]).all()
    assert stats.median_interval([3, 1, 2]) == (2, 1, 3) and stats.median_interval([7]) == (7, 7, 7)
