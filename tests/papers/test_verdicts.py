"""Intervals and verdicts: worked examples, and error rates of exactly this rule by simulation."""

import math

import numpy as np
import pytest

from afterstate import stats
from afterstate.papers.verdicts import LABELS, Rule, count_p, verdict
from afterstate.stats import mean_interval

REPEATS = 1000


def limit(level, repeats=REPEATS):
    """Largest rate of an event of probability `level` in simulations (4 standard errors)."""
    return level + 4 * math.sqrt(level * (1 - level) / repeats)


def label_rates(
    runs, true_difference, spread=1.0, margin=1.0, sem=0.0, published_runs=None, better=None, seed=0
):
    """Rates of each label: ours ~ N(true_difference, spread), published ~ N(0, sem)."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(LABELS, 0)
    for _ in range(REPEATS):
        ours = rng.normal(true_difference, spread, runs)
        if sem:
            theirs = rng.normal(0.0, sem * math.sqrt(published_runs), published_runs)
            published, printed = theirs.mean(), theirs.std(ddof=1) / math.sqrt(published_runs)
        else:
            published, printed = 0.0, 0.0
        counts[verdict(ours, published, margin, printed, published_runs, better=better).label] += 1
    return {label: count / REPEATS for label, count in counts.items()}


def test_interval_by_hand():
    # mean 50, sd 2, n 4: t(0.975, 3) = 3.182446, half width 3.182446 * 2 / 2
    values = 50 + 2 * np.array([-1, 1, -1, 1]) * math.sqrt(3) / 2
    mean, low, high = mean_interval(values)
    assert mean == pytest.approx(50)
    assert (low, high) == pytest.approx((50 - 3.182446, 50 + 3.182446), abs=1e-5)
    assert mean_interval([7.0])[0] == 7.0 and math.isnan(mean_interval([7.0]).low)
    assert mean_interval([7.0] * 5) == (7.0, 7.0, 7.0)
    for wrong in (([],), ([1.0, math.nan],), ([[1.0, 2.0]],), ([1.0, 2.0], 95)):
        with pytest.raises(ValueError):
            mean_interval(*wrong)


@pytest.mark.parametrize("runs", [2, 3, 10, 25])
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_interval_covers_the_true_mean(runs, level):
    rng = np.random.default_rng(runs)
    intervals = [mean_interval(rng.normal(3.0, 5.0, runs), level) for _ in range(REPEATS)]
    covered = np.mean([low <= 3.0 <= high for _, low, high in intervals])
    assert abs(covered - level) < 4 * math.sqrt(level * (1 - level) / REPEATS)


FOUR = np.array([-1, 1, -1, 1]) * math.sqrt(3) / 2  # sd 1, n 4
PRINTED, WIDE = dict(published_sem=0.5, published_runs=10), dict(published_sem=5, published_runs=10)
ABOVE, BELOW, MANY = dict(relation=">"), dict(relation="<"), [49.0, 50.0, 48.0, 49.5] * 5


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
        (FOUR + 53.60, 50, 2, {"better": "lower"}, "not reproduced"),
        (FOUR + 46.40, 50, 2, {"better": "higher"}, "not reproduced"),
        (FOUR + 46.40, 50, 2, {"better": "lower"}, "better"),
        (FOUR, 0, 2, {}, "reproduced"),
        (FOUR + 0.9, 0, 2, PRINTED, "inconclusive"),
        # equal runs count as they are; on the margin, although 0.33 - 0.30 > 0.03 in binary
        ([49.0] * 3, 50, 2, {}, "reproduced"),
        ([52.0] * 3, 50, 2, {}, "reproduced"),
        ([0.30] * 3, 0.33, 0.03, {}, "reproduced"),
        # what the printed precision can tell: a difference far beyond both is still seen
        ([10.0, 12.0, 11.0], 49, 2, WIDE, "not reproduced"),
        ([62.0, 61.0, 60.5, 62.0], 49, 2, WIDE, "inconclusive"),
        # of two imprecise numbers one cannot say that they agree
        ([20.0, 80.0, 50.0], 49, 2, WIDE, "inconclusive"),
        ([50.0] * 20, 49, 12, WIDE, "reproduced"),
        ([50.0] * 3, 49, 2, WIDE | ABOVE, "inconclusive"),
        ([85.0, 86.0, 84.0], 80, None, ABOVE, "reproduced"),
        ([75.0, 76.0, 74.0], 80, None, ABOVE, "not reproduced"),
        ([75.0, 76.0, 74.0], 80, None, BELOW, "reproduced"),
        ([50.0, 50.0], 50, None, ABOVE, "inconclusive"),
    ],
)
def test_labels_worked_out_by_hand(ours, published, margin, how, label):
    assert verdict(ours, published, margin, **how).label == label


@pytest.mark.parametrize(
    "ours, published, how, label, needed, words",
    [
        ([50.0], 50, {}, "inconclusive", 3, "at least 3"),
        ([50.0, 50.0], 50, {}, "inconclusive", 3, "at least 3"),
        ([90.0, 90.0], 50, {}, "inconclusive", 3, "at least 3"),
        ([53.0] * 3, 50, {}, "not reproduced", None, "equal"),
        ([50.0] * 20, 49, WIDE, "consistent", None, "printed error alone spans the margin ±2"),
        (MANY, 49, WIDE | {"consistent": False}, "inconclusive", math.inf, "no number of runs"),
    ],
)
def test_runs_needed_and_words(ours, published, how, label, needed, words):
    result = verdict(ours, published, 2.0, **how)
    assert (result.label, result.runs_needed) == (label, needed) and words in result.explanation


def test_the_degrees_of_freedom_of_the_printed_error():
    # ours 0.25; printed sem 0.5: 0.25. se 0.70711, df 0.25 / (0.0625/3 + 0.0625/9) = 9
    result = verdict(FOUR, 0.0, 2.0, **PRINTED)
    assert result.high == pytest.approx(2.262157 * math.sqrt(0.5), abs=1e-5)
    # a spread that is not printed: that of our runs
    ours = [60.0, 66.0, 63.0, 57.0, 69.0]
    result = verdict(ours, 64.0, 2.0, published_runs=10, shared_spread=True)
    half = stats.t_quantile(0.975, 4) * np.std(ours, ddof=1) * math.sqrt(1 / 5 + 1 / 10)
    assert result.high - result.low == pytest.approx(2 * half)
    assert verdict(ours, 64.0, 2.0).high - verdict(ours, 64.0, 2.0).low < 2 * half


def cell(*values):
    return dict(zip(("wins", "draws", "losses"), values, strict=True))


COUNTED, ENDS = {"counted": (100, 100)}, cell([100.0] * 10, [0.0] * 10, [0.0] * 10)


@pytest.mark.parametrize(
    "ours, published, margin, how, label, words",
    [
        (cell([60, 61, 59], [5, 5, 5], [35, 34, 36]), (60, 5, 35), 3, {}, "reproduced", ""),
        (cell([60, 61, 59], [15] * 3, [25, 24, 26]), (60, 5, 35), 2, {}, "not reproduced", ""),
        (cell([66.0] * 5, [6.0] * 5, [28.0] * 5), (65, 5, 30), 2, {}, "reproduced", ""),
        (cell([66.0] * 5, [6.0] * 5, [28.0] * 5), (65, 5, 30), 2, COUNTED, "consistent", ""),
        (cell([66.0] * 5, [6.0] * 5, [28.0] * 5), (65, 5, 30), 2,
         COUNTED | {"consistent": False}, "inconclusive", ""),
        (cell([66.0] * 5, [20.0] * 5, [28.0] * 5), (65, 5, 30), 2, COUNTED, "not reproduced", ""),
        # six draws of 100 games are not chance where our agents draw none of a thousand
        (ENDS, (94, 6, 0), 2, COUNTED, "inconclusive", "p = 3e-07"),
        (cell([92.0] * 10, [8.0] * 10, [0.0] * 10), (94, 6, 0), 2, COUNTED, "consistent", ""),
    ],
)  # fmt: skip
def test_cells_worked_out_by_hand(ours, published, margin, how, label, words):
    found = verdict(ours, cell(*published), margin, **how)
    assert found.label == label and words in found.explanation


def test_an_undecided_cell_waits_for_the_component_that_will_decide_it():
    published, near = cell(60, 5, 35), [1.0, 6.0, 8.0]

    def needed(ours):
        found = (verdict(ours[k], published[k], 2.0, exclusion_level=1 - 0.05 / 3) for k in ours)
        return [one.runs_needed for one in found]

    beyond = cell([50.0, 55.0, 62.0], near, [25.0, 40.0, 34.0])
    found, (wins, _, losses) = verdict(beyond, published, 2.0), needed(beyond)
    # the losses will never be told from 35 +- 2, which a cell excluded by its wins need not be
    assert losses > wins == found.runs_needed
    assert found.label == "inconclusive" and found.explanation.startswith("wins: ")
    inside = cell([60.0, 61.5, 58.0], [5.0, 5.5, 4.8], [35.0, 36.0, 33.0])
    assert verdict(inside, published, 2.0).runs_needed == max(filter(None, needed(inside)))
    with pytest.raises(ValueError, match="components"):
        verdict({"wins": [1, 1]}, published, 2.0)


def test_the_p_value_of_a_count_is_that_of_scipy():
    from scipy.stats import binomtest

    # the interval of our mean holds the share of 20%, so that is the share that suits best
    assert count_p([10.0, 30.0, 20.0, 25.0], 20, 100, 100) == 1.0
    found = count_p([50.0] * 1000, 30, 40, 100)  # 12 of 40 games; our share is 49.5 to 50.5%
    assert found == pytest.approx(2 * binomtest(12, 40, 0.4951, "less").pvalue, rel=0.01)
    assert count_p([0.0] * 10, 0, 100, 100) == count_p([100.0] * 10, 100, 100, 100) == 1.0


NOT_NUMBERS = (math.nan, math.inf, -math.inf)
BAD = {  # argument: values that can not be meant, and what the message says
    "ours": ([], [math.nan, 1.0], [1.0, math.inf], [[1.0, 2.0]], "one value a run|leave out runs"),
    "published": (*NOT_NUMBERS, "must be finite"),
    "margin": (0, -1, None, *NOT_NUMBERS, "margin is .* positive"),
    "published_sem": (-1, *NOT_NUMBERS, "published_sem is"),
    "published_runs": (1, 0, -3, "at least 2 runs"),
    "better": ("up", "", 1, "higher"),
    "relation": (">=", "", None, "'=', '>' or '<'"),
    "exclusion_level": (2, 1, 0, -0.95, 95, *NOT_NUMBERS, "exclusion_level is .* between 0 and 1"),
}
BAD_CALLS = [(name, value, bad[-1]) for name, bad in BAD.items() for value in bad[:-1]]


@pytest.mark.parametrize("name, value, message", BAD_CALLS)
def test_no_bad_call_of_a_verdict_is_silent(name, value, message):
    good = dict(ours=[50.0, 51.0, 50.5], published=50.0, margin=2)
    with pytest.raises(ValueError, match=message):
        verdict(**good | {name: value})


CASES = [(3, 0.0, None), (10, 0.0, None), (3, 0.3, 10), (10, 0.3, 10), (25, 0.3, 10)]


@pytest.mark.slow
@pytest.mark.parametrize("runs, sem, published_runs", CASES)
def test_error_rates(runs, sem, published_runs):
    printed = dict(sem=sem, published_runs=published_runs)
    for seed, sign in enumerate((-1, 1)):
        rates = label_rates(runs, sign * 1.0, spread=0.5, seed=seed, **printed)
        assert rates["reproduced"] <= limit(0.05) and rates["not reproduced"] <= limit(0.025)
    assert label_rates(runs, 0.0, spread=3.0, **printed)["not reproduced"] <= limit(0.05)
    rates = label_rates(runs, 1.0, spread=0.5, better="higher", **printed)
    assert rates["better"] <= limit(0.025)
    assert rates["not reproduced"] <= 0.01  # above the published value only "better" is left


def test_the_rule_decides_when_it_should():
    assert label_rates(10, 0.0, spread=0.5)["reproduced"] > 0.95
    assert label_rates(10, 3.0, spread=0.5)["not reproduced"] > 0.95
    assert label_rates(3, 0.0, spread=0.2)["reproduced"] > 0.9


def test_rare_failures_are_beyond_the_rule():
    """A limit of the rule, stated in its module: three equal runs hide a failure rate of 4%."""
    rng = np.random.default_rng(0)
    samples = np.where(rng.random((1000, 3)) < 0.04, 0.0, 50.0)  # true mean 48, on the margin
    rate = np.mean([verdict(sample, 50.0, 2.0).label == "reproduced" for sample in samples])
    assert rate == pytest.approx(0.96**3, abs=0.05)


def printed_error(rng, difference, runs, sem):
    ours, theirs = rng.normal(difference, 2.0, runs), rng.normal(0.0, sem * math.sqrt(10), 10)
    return verdict(ours, theirs.mean(), 2.0, theirs.std(ddof=1) / math.sqrt(10), 10).label


def shared_spread(rng, difference, runs, sem):
    """The 95% interval of the difference, with the degrees of freedom of our runs alone."""
    ours, theirs = rng.normal(difference, 10.0, runs), rng.normal(0.0, 10.0, 10)
    return verdict(ours, theirs.mean(), 2.0, published_runs=10, shared_spread=True).label


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw, runs, sem, far",
    [
        (printed_error, 10, 3.0, 12.0),
        (printed_error, 25, 5.0, 20.0),
        (shared_spread, 10, None, 18.0),
    ],
)
def test_error_rates_of_consistent(draw, runs, sem, far):
    """Equal values are called so in at least 95%, values four errors apart in at most 5%."""
    rng = np.random.default_rng(runs)
    equal, apart = ([draw(rng, by, runs, sem) for _ in range(600)] for by in (0.0, far))
    agreed = np.mean([label in ("reproduced", "consistent") for label in equal])
    assert agreed >= 1 - limit(0.05, 600)
    assert np.mean([label == "consistent" for label in apart]) <= limit(0.05, 600)


SHARES = [(0.65, 0.05, 0.3), (0.34, 0.33, 0.33), (0.97, 0.03, 0.0), (0.94, 0.06, 0.0), (1, 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("games", [100, 2000])
@pytest.mark.parametrize("shares", SHARES)
def test_error_rates_of_counted_cells(shares, games):
    """A cell of 100 games printed from the very same agents is neither a failure nor refused."""
    rng = np.random.default_rng(4)

    def result(printed, true):
        ours, printed = rng.multinomial(games, true, 10), cell(*rng.multinomial(100, printed))
        return verdict(cell(*ours.T * 100 / games), printed, 2.0, (100, 100))

    equal = [result(shares, shares) for _ in range(400)]
    assert np.mean([x.label == "not reproduced" for x in equal]) <= limit(0.05, 400)
    refused = [x.label == "inconclusive" and "exact test" in x.explanation for x in equal]
    assert np.mean(refused) <= limit(0.05, 400)
    moved = (shares[0] - 0.25, shares[1] + 0.25, shares[2])
    far = [result(shares, moved).label == "consistent" for _ in range(400)]
    assert np.mean(far) <= limit(0.05, 400)
    # six or more expected draws against agents that never draw
    drawing = [rng.multinomial(100, (0.92, 0.08, 0.0)) for _ in range(400)]
    labels = [verdict(ENDS, cell(*counts), 2.0, (100, 100)).label for counts in drawing]
    assert np.mean([label == "consistent" for label in labels]) <= limit(0.05, 400)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 10])
def test_joint_error_rates(runs):
    rng, margin, equal, nothing = np.random.default_rng(runs), [], [], cell(0.0, 0.0, 0.0)
    for _ in range(700):
        noise = rng.normal(0.0, 1.0, (3, runs))
        equal.append(verdict(cell(*noise), nothing, 0.01).label)
        shifted = 0.3 * noise + np.array([[1.0], [-1.0], [0.0]])
        margin.append(verdict(cell(*shifted), nothing, 1.0).label)
    for labels, wrong in ((equal, "not reproduced"), (margin, "reproduced")):
        assert labels.count(wrong) / 700 <= limit(0.05, 700)
    assert margin.count("not reproduced") / 700 <= limit(0.05, 700)


@pytest.mark.parametrize("difference, spread", [(0.0, 1.0), (0.5, 1.0), (2.0, 1.5)])
def test_runs_needed_give_the_promised_power(difference, spread):
    runs = Rule(1.0).runs_needed(difference, spread)
    rates = label_rates(runs, difference, spread)
    assert 0.70 < 1 - rates["inconclusive"] < 0.93
    assert 1 - label_rates(max(2, runs // 3), difference, spread)["inconclusive"] < 0.7
    assert 3 < verdict([70.0, 95.0, 80.0], 80.0, None, relation=">").runs_needed < math.inf
    needed = Rule(1.0).runs_needed
    assert needed(0.0, 1.0) < needed(0.0, 2.0) < needed(0.5, 2.0) < needed(1.0, 2.0) == math.inf
    assert Rule(1.0, 0.6, 10).runs_needed(0.0, 1.0) == math.inf
    assert Rule(1.0, 0.5, 10).runs_needed(0.0, 1.0) < math.inf


@pytest.mark.parametrize("runs", [6, 10, 25])
def test_the_median_interval_covers_the_median(runs):
    rng = np.random.default_rng(runs)
    samples = rng.exponential(size=(4000, runs))  # median: log 2
    found = np.array([stats.median_interval(sample) for sample in samples])
    assert 0.945 <= np.mean((found[:, 1] <= np.log(2)) & (np.log(2) <= found[:, 2])) <= 0.99
    assert (found[:, 1] <= found[:, 0]).all() and (found[:, 0] <= found[:, 2]).all()
    assert stats.median_interval([3, 1, 2]) == (2, 1, 3) and stats.median_interval([7]) == (7, 7, 7)
    with pytest.raises(ValueError, match="level"):
        stats.median_interval([1, 2], level=1.5)
