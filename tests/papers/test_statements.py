"""Statements: each kind of test decides as it says, and refuses bad files."""

import dataclasses
import math
import re

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from afterply.studies import papers
from afterply.studies.papers import statements, tests_of_means
from afterply.studies.papers.claims import Statement
from afterply.studies.papers.statements import DOES_NOT_HOLD, HOLDS, UNDECIDED, judge, series
from afterply.studies.papers.verdicts import NOT_RUN

REACHED = {"measure": "reached"}


def name(arm, measure="m"):
    return {"study": "s", "arm": arm, "select": {"measure": measure}}


def named(value, key=""):
    """Parts with names of arms as they stand in a file."""
    if isinstance(value, list):
        return [named(arm) for arm in value]
    return name(value) if isinstance(value, str) and key not in ("of", "unit") else value


def statement(test, *parts, **more):
    parts = [{key: named(value, key) for key, value in part.items()} for part in parts]
    more = {"unit": "percent"} | more
    return Statement("x", "it is so", {"section": "1"}, "it is so here", test, parts, **more)


def ordering(high="a", low="b", shared=None, **more):
    return statement("ordering", {"high": high, "low": low, **more}, shared=shared)


def verdict(one, **arms):
    return outcome(one, **arms).verdict


def outcome(one, reached=None, **arms):
    def values(study, arm, columns, which):
        found = (reached if columns == REACHED else arms).get(arm, ())
        return dict(enumerate(found if which == "last" else moved(100, found)))

    return judge([one], values)[0]


NEAR = [0.0, 0.1, -0.1, 0.2, -0.2, 0.05, 0.0, 0.1, -0.1, 0.0]


def moved(by, values=NEAR):
    return [value + by for value in values]


FAR = moved(1)
SKEW = [0.4, 0.9, 0.3, 0.6, 0.1, 0.5, 0.7, 0.2, 0.6, 0.4]  # t = 6 against 0.2
BETWEEN = np.arange(10.0)
HIDDEN = {"a": BETWEEN + moved(0.3), "b": BETWEEN}  # a difference that pairs of runs show
ORDERED, RISING = ordering(), statement("trend", {"rising": ["a", "b", "c"]})
TWICE = ordering(times=2, by=0.5)
INSIDE = statement("range", {"first": "a", "second": "b", "from": -2, "to": 2})
AT_MOST = statement("range", {"first": "a", "to": 1.2})
ABOVE, BELOW = (statement("bound", {"value": "a", end: 0.5}) for end in ("above", "below"))
BARELY = statement("bound", {"value": "a", "above": 0.2})


@pytest.mark.parametrize(
    "one, arms, expected",
    [
        (ORDERED, {"a": FAR, "b": NEAR}, HOLDS),
        (ORDERED, {"a": NEAR, "b": FAR}, DOES_NOT_HOLD),
        (ORDERED, {"a": NEAR, "b": NEAR}, UNDECIDED),
        (ORDERED, {"a": NEAR, "b": FAR[:2]}, NOT_RUN),
        (TWICE, {"a": [3 * value for value in FAR], "b": FAR}, HOLDS),
        (ORDERED, HIDDEN, UNDECIDED),
        (ordering(paired=True), HIDDEN, HOLDS),
        (INSIDE, {"a": FAR, "b": NEAR}, HOLDS),
        (INSIDE, {"a": moved(5, FAR), "b": NEAR}, DOES_NOT_HOLD),
        (AT_MOST, {"a": moved(-50)}, HOLDS),
        (AT_MOST, {"a": moved(2)}, DOES_NOT_HOLD),
        (ABOVE, {"a": FAR}, HOLDS),
        (BELOW, {"a": FAR}, DOES_NOT_HOLD),
        (RISING, {"a": NEAR, "b": FAR, "c": moved(2)}, HOLDS),
        (RISING, {"a": moved(2), "b": FAR, "c": NEAR}, DOES_NOT_HOLD),
        # no further factors: t = 6 of one series, of arms that differ in number or spread
        (BARELY, {"a": SKEW}, HOLDS),
        (ORDERED, {"a": SKEW, "b": [0.2 + v / 1000 for v in SKEW]}, HOLDS),
        (ORDERED, {"a": SKEW[:5], "b": moved(-0.6, SKEW)}, HOLDS),
        # equal runs are no certainty
        (ORDERED, {"a": [1.0] * 10, "b": [0.0] * 10}, HOLDS),
        (BARELY, {"a": [1.0] * 5}, UNDECIDED),
        (BARELY, {"a": [1.0] * 6}, HOLDS),
        (BARELY, {"a": [0.1] * 6}, DOES_NOT_HOLD),
    ],
)
def test_statements_are_decided(one, arms, expected):
    assert verdict(one, **arms) == expected


def test_the_numbers_shown():
    found = outcome(ORDERED, a=FAR, b=NEAR)
    assert found.number.startswith("+1.0% [+0.9%, ")
    assert found.number.endswith("%] (92.5% interval, p* < 0.001)") and found.level == 0.925
    assert outcome(BARELY, a=[1.0] * 4).p_for == 1 / 16
    assert outcome(ORDERED, a=[1.0] * 3, b=[0.0] * 3).p_for == pytest.approx(1 / 20)
    # bounds are shown as far as numbers can be; of points nothing is known, nor of a multiple
    wide = {"a": [99.0, 1.0, 98.0], "b": [2.0, 60.0, 0.0]}
    assert "+100.0%]" in outcome(ORDERED, **wide).number
    for one in (dataclasses.replace(ORDERED, unit="points"), ordering(times=2)):
        assert "+100" not in outcome(one, **wide).number


def test_an_undecided_statement_says_which_kind():
    few = outcome(ORDERED, a=moved(0.05), b=NEAR)
    number = int(re.search(r"about (\d+) runs of each would decide", few.sentence)[1])
    assert few.kind == statements.TOO_FEW and 80 < number < 100
    exact = outcome(BARELY, a=[1.0] * 4)
    assert exact.kind == statements.TOO_FEW and "about 6 runs" in exact.sentence
    neither = outcome(CAPS, reached={"a": NONE, "b": NONE}, a=[64_000.0] * 10, b=[12_000.0] * 10)
    equal, near = (outcome(ORDERED, a=a, b=b) for a, b in (([50.0] * 5,) * 2, (moved(1e-5), NEAR)))
    for hopeless, why in (
        (equal, "No number of runs decides: all runs are eq"),
        (near, "too near the bound"),
        (neither, "converged before its cap"),
    ):
        assert hopeless.kind == statements.HOPELESS and why in hopeless.sentence
    assert outcome(ORDERED, a=FAR, b=NEAR).kind == ""


@pytest.mark.slow
def test_no_verdict_contradicts_its_interval(monkeypatch):
    """An end beyond the bound is what a part needs, for the statement or for its contrary."""
    monkeypatch.setattr(tests_of_means, "RESAMPLED", 100_000)  # both sides draw the same series
    rng, kinds = np.random.default_rng(1), set()
    family = [ABOVE, INSIDE, ORDERED, ordering(paired=True)]
    pair = [{"high": "a", "low": "b", "of": "1"}, {"high": "a", "low": "c", "of": "2"}]
    family += [statement("ordering", *pair, holds_if=how) for how in ("all", "any")]
    for _ in range(60):
        drawn = {}

        def values(study, arm, columns, which, drawn=drawn):
            shift = rng.choice([-4.0, 0.0, 0.5, 1.5])
            return drawn.setdefault(arm, dict(enumerate(rng.normal(size=8) + shift)))

        outcomes = judge(family, values)
        levels = statements.holm_levels([p for one in outcomes for p in (one.p_for, one.p_against)])
        for place, (one, found) in enumerate(zip(family, outcomes, strict=True)):
            fail = len(found.parts) - one.needed + 1
            both = levels[2 * place] / fail, levels[2 * place + 1] / one.needed
            above = below = 0
            for part in found.parts:
                sides = statements._sides(part.ends, *both, found.verdict == HOLDS)
                (low, high), (start, end) = part.interval(sides), part.ends
                above += low > start and high < end
                below += high < start or low > end
            kinds.add((one.test, found.verdict))
            assert (found.verdict == HOLDS) == (above >= one.needed)
            assert (found.verdict == DOES_NOT_HOLD) == (below >= fail)
    assert len(kinds) == 9


def capped(arm):
    return name(arm) | {"converged": REACHED}


CAPS = ordering(capped("a"), capped("b"))
NONE, ALL = [0.0] * 10, [100.0] * 10


def test_runs_at_their_cap_are_lower_bounds():
    """Where a low value would help, they never do; where a high one would, the cap counts."""
    high, low = [64_000.0] * 10, [12_000.0 + 10 * v for v in NEAR]
    for a, b in ((ALL, ALL), (NONE, ALL)):
        assert verdict(CAPS, reached={"a": a, "b": b}, a=high, b=low) == HOLDS
    neither = outcome(CAPS, reached={"a": NONE, "b": NONE}, a=high, b=low)
    assert neither.verdict == UNDECIDED and neither.p_for == neither.p_against == 1
    assert "> 64,000 (0 of 10 converged) against > 12,000 (0 of 10 conv" in neither.sentence
    # the contrary: that the arm said to be high is the low one
    for a, b in ((ALL, ALL), (ALL, NONE)):
        assert verdict(CAPS, reached={"a": a, "b": b}, a=low, b=high) == DOES_NOT_HOLD
    assert outcome(CAPS, reached={"a": NONE, "b": ALL}, a=low, b=high).p_against == 1


def test_one_run_at_its_cap_counts_as_the_largest_value():
    high, low = [30_000 + 1_000 * v for v in NEAR], [11_000 + 1_000 * v for v in NEAR]
    one = [0.0] + [100.0] * 9
    free = outcome(CAPS, reached={"a": ALL, "b": ALL}, a=high, b=low)
    bound = outcome(CAPS, reached={"a": ALL, "b": one}, a=high, b=low)
    placed = outcome(CAPS, reached={"a": ALL, "b": ALL}, a=high, b=[max(high), *low[1:]])
    assert free.p_for < bound.p_for == placed.p_for and free.p_against == bound.p_against
    assert "against > 11,005 (9 of 10 converged)" in bound.number


def test_a_trend_with_runs_at_their_cap():
    rising, falling = (
        statement("trend", {"rising": [capped(arm) for arm in arms]}) for arms in ("abc", "cba")
    )
    arms = {"a": NEAR, "b": FAR, "c": moved(2)}

    def found(one=rising, others=ALL, values=arms, **reached):
        return outcome(one, reached=dict.fromkeys("abc", others) | reached, **values)

    free = found()
    assert free.verdict == found(c=NONE).verdict == HOLDS
    assert found(b=NONE).p_for == found(others=NONE).p_for == 1
    sentence = found(b=[0.0] + ALL[1:], c=NONE).sentence
    assert "> 1, > 2 (" in sentence.replace(" (9 of 10 converged)", "")
    some = found(a=[0.0] * 4 + ALL[4:])
    assert free.p_for < some.p_for < 1
    # as if these four runs were last
    assert some.p_for == found(values=arms | {"a": [9.0] * 4 + NEAR[4:]}).p_for
    everywhere = found(falling, others=NONE)
    assert everywhere.verdict == UNDECIDED and everywhere.p_against == 1
    assert found(falling).verdict == DOES_NOT_HOLD


def test_groups_of_runs_that_share_opponents_are_the_units():
    """Two groups of five differ: ten runs seem to tell, two means cannot."""
    arms = {"a": moved(2, NEAR + NEAR), "b": [0.1 * v for v in NEAR + NEAR]}
    assert verdict(ordering(paired=True), **arms) == HOLDS
    assert verdict(ordering(paired=True, shared=10), **arms) == NOT_RUN
    grouped = outcome(ordering(paired=True, shared=4), **arms)
    assert grouped.verdict == HOLDS and "5 groups of 4 runs" in grouped.sentence
    six = outcome(ordering(paired=True, shared=6), **arms)
    assert "3 groups of 6 runs" in six.sentence  # and a rest


def test_series_of_differences_and_of_extremes():
    gained = name("a") | {"less": name("b")}
    lost = name("b") | {"less": name("a")}
    assert verdict(ordering(gained, lost), a=FAR, b=NEAR) == HOLDS
    assert verdict(ordering(gained, lost), a=NEAR, b=FAR) == DOES_NOT_HOLD
    best = name("a") | {"history": "largest", "group": "largest"}
    for bound, expected in ((100.15, HOLDS), (100.25, DOES_NOT_HOLD)):
        one = statement("bound", {"value": best, "above": bound}, shared=2)
        values = np.repeat([0.2, 0.21, 0.19, 0.2, 0.21, 0.2], 2) * np.tile([1, 0], 6)
        assert verdict(one, a=values) == expected


@pytest.mark.slow
def test_every_part_must_hold_or_most_if_the_paper_says_so():
    parts = [{"of": arm, "high": arm, "low": "z"} for arm in "abcde"]
    every, most = statement("ordering", *parts), statement("ordering", *parts, holds_if="most")

    def found(one, good, bad="", near=""):
        arms = dict.fromkeys(good, FAR) | dict.fromkeys(bad, moved(-1)) | dict.fromkeys(near, NEAR)
        return outcome(one, z=NEAR, **arms)

    assert found(every, "abcde").verdict == HOLDS
    assert found(every, "abcd", near="e").verdict == UNDECIDED
    against = found(every, "abcd", bad="e")
    assert against.verdict == DOES_NOT_HOLD and against.number.startswith("e: -1")
    three = found(most, "abc", bad="de")
    assert three.verdict == HOLDS and three.number.startswith("3 of 5 parts pass")
    assert found(most, "ab", bad="cde").verdict == DOES_NOT_HOLD
    assert found(most, "ab", bad="de", near="c").verdict == UNDECIDED
    one = statement("ordering", *parts, holds_if="any")
    assert found(one, "a", bad="bcde").verdict == HOLDS
    assert found(one, "", bad="abcde").verdict == DOES_NOT_HOLD
    assert found(one, "", bad="abcd", near="e").verdict == UNDECIDED


def test_one_correction_covers_both_directions_of_all_statements():
    """A verdict must not change when the runs of another statement come."""
    weak = [0.4, -0.3, 0.5, -0.1, 0.6, -0.2, 0.5, 0.1]
    arms = {"a": weak, "b": moved(-0.3, weak), "c": moved(3, weak)}

    def judged(*family):
        return judge(family, lambda study, arm, *_: dict(enumerate(arms.get(arm, ()))))

    (alone,) = judged(ORDERED)
    assert 0.025 < alone.p_for < 0.25 and alone.level == pytest.approx(0.95)
    assert f"p* = {2 * alone.p_for:.3f}" in alone.number
    for three in (judged(*[ORDERED] * 3), judged(ORDERED, ordering("x", "y"), ordering("x", "z"))):
        assert f"p* = {6 * alone.p_for:.3f}" in three[0].number
        assert three[0].level == pytest.approx(1 - 2 * 0.05 / 6)
    # what is decided, in either direction, leaves more to the others
    two = judged(ORDERED, ordering("a", "c"))
    assert two[1].verdict == DOES_NOT_HOLD and two[0].level == pytest.approx(1 - 2 * 0.05 / 3)
    assert two[1].level == pytest.approx(1 - 0.05 / 3 - 0.05 / 4)


def test_the_papers_state_what_can_be_tested():
    published = papers.all()
    found = {key: paper.statements for key, paper in published.items()}
    assert sum(map(len, found.values())) >= 42 and min(map(len, found.values())) >= 9
    for key, paper in published.items():
        answered = {claim.study for claim in paper.claims}
        for one in paper.statements:
            assert len(one.tested) < 240 and one.where and one.figure and one.printed
            for part in one.parts:
                for runs in series(part):
                    assert runs["study"] in answered | {"weaker-tictactoe", "weaker-kalah"}, key


def test_the_share_of_runs_above_a_number_is_a_series():
    """Of two peaks, none lost and nearly all lost, a mean says neither."""
    runs = {"a": [0.0] * 18 + [42.0, 50.0]}
    part = {"value": {"study": "s", "arm": "a", "select": {}, "over": 0}, "below": 50}
    one = statement("bound", part)
    outcome = judge([one], lambda study, arm, *_: dict(enumerate(runs[arm])))[0]
    assert outcome.verdict == HOLDS and outcome.parts[0].seen.effect == 10


@pytest.mark.parametrize("p, shown", [(0.0501, "= 0.051"), (0.0499, "= 0.049"), (0.05, "= 0.050")])
def test_p_values_stand_on_their_side_of_the_level(p, shown):
    """No "p* = 0.050" beside *undecided*."""
    assert statements._p(p) == shown


def test_added_runs_are_a_stage_and_each_look_pays():
    """Stages count alike, whatever their size; a further look costs although it brings nothing."""
    first, added = moved(0.15), [0.3 + 0.1 * value for value in NEAR * 3]
    one = statement("bound", {"value": "a", "above": 0})
    two, three = (dataclasses.replace(one, looks=looks) for looks in ([10, 40], [10, 40, 90]))
    alone, rest = (outcome(one, a=values).p_for for values in (first, added))
    z = -(ndtri(alone) + ndtri(rest)) / math.sqrt(2)
    both = first + added
    assert outcome(two, a=both).p_for == pytest.approx(2 * ndtr(-z))
    assert outcome(three, a=both).p_for == pytest.approx(3 * ndtr(-z))
    assert outcome(three, a=first).p_for == pytest.approx(3 * alone)
    # runs beyond the last look count at none
    assert outcome(two, a=both + [9.0] * 20).number == outcome(two, a=both).number
    assert "Tested at 10 and 40 runs, each time" in outcome(two, a=both).sentence
    # a part may have looks of its own, and its statement still pays for all
    parts = statement("bound", {"value": "a", "above": 0, "looks": [40]})
    parts = dataclasses.replace(parts, looks=[10, 40])
    assert outcome(parts, a=both).p_for == pytest.approx(2 * outcome(one, a=both).p_for)


def test_without_more_runs_of_an_arm_there_is_one_stage():
    looked = dataclasses.replace(ORDERED, looks=[10, 20])
    found, alone = (outcome(one, a=FAR + moved(0.1), b=NEAR) for one in (looked, ORDERED))
    assert found.p_for == pytest.approx(2 * alone.p_for)
    assert "an arm was not extended" in found.sentence
    assert "not extended" not in outcome(looked, a=FAR + FAR, b=NEAR + NEAR).sentence
    ordered = {"a": NEAR + NEAR, "b": FAR + FAR, "c": moved(2) + moved(2)}
    trend = dataclasses.replace(RISING, looks=[10, 20])
    assert outcome(trend, **ordered).p_for < outcome(RISING, **ordered).p_for ** 0.5


@pytest.mark.slow
def test_what_is_known_of_an_error_stands_beside_the_verdict_or_takes_it():
    runs = moved(0.4, SKEW)
    (found,) = judge([BARELY], values := lambda *_: dict(enumerate(runs)))
    ((_, asked),) = statements.decided(BARELY, found, 1)
    for error, chance, verdict_, words in (
        (0.9, 0.001, HOLDS, ""),
        (1.8, 0.001, HOLDS, "the test errs 1.8 times as often"),
        (3.0, 0.3, UNDECIDED, "Open: with runs of this shape the test errs 3 times as often"),
    ):
        known = {asked.digest: {"error": error, "chance": chance}}
        (again,) = judge([BARELY], values, known)
        assert again.verdict == verdict_ and words in again.sentence and again.error == error
    assert again.kind == statements.UNSAFE and math.isnan(found.error)
    again = asked.simulated(draws=2_000)
    assert 0 <= again["error"] < 3 and again["chance"] < 0.05
