"""Statements: each kind of test decides as it says, refuses bad files, and errs seldom."""

import dataclasses

import numpy as np
import pytest

from afterstate import papers
from afterstate.papers.reader import read
from afterstate.papers.statement_tests import series
from afterstate.papers.statements import (
    DOES_NOT_HOLD,
    HOLDS,
    STATEMENT_NOT_RUN,
    UNDECIDED,
    Statement,
    check_statement,
    judge,
)


def name(arm, metric="m"):
    return {"study": "s", "arm": arm, "metric": metric}


def statement(test, *parts, **more):
    place = {"section": "1"}
    return Statement("x", "it is so", place, "it is so here", test, list(parts), "percent", **more)


def verdict(one, **arms):
    return outcome(one, **arms).verdict


def outcome(one, reached=None, **arms):
    def values(study, arm, metric):
        return dict(enumerate((reached if metric == "reached" else arms).get(arm, ())))

    return judge([one], values)[0]


NEAR = [0.0, 0.1, -0.1, 0.2, -0.2, 0.05, 0.0, 0.1, -0.1, 0.0]
FAR = [value + 1 for value in NEAR]
ORDERED = statement("ordering", {"high": name("a"), "low": name("b")})


def test_an_ordering():
    assert verdict(ORDERED, a=FAR, b=NEAR) == HOLDS
    assert verdict(ORDERED, a=NEAR, b=FAR) == DOES_NOT_HOLD
    assert verdict(ORDERED, a=NEAR, b=NEAR) == UNDECIDED
    assert verdict(ORDERED, a=NEAR) == verdict(ORDERED, a=NEAR, b=FAR[:2]) == STATEMENT_NOT_RUN
    assert "2 of at least 3 runs" in outcome(ORDERED, a=NEAR, b=FAR[:2]).sentence
    twice = statement("ordering", {"high": name("a"), "low": name("b"), "times": 2, "by": 0.5})
    assert verdict(twice, a=[3 * value for value in FAR], b=FAR) == HOLDS
    assert verdict(twice, a=[2 * value for value in FAR], b=FAR) == DOES_NOT_HOLD


def test_the_numbers_shown():
    found = outcome(ORDERED, a=FAR, b=NEAR)
    assert found.number.startswith("+1.0% [+0.9%, ") and found.number.endswith("%] (p* < 0.001)")
    points = outcome(dataclasses.replace(ORDERED, unit="points"), a=FAR, b=NEAR).number
    assert points.startswith("+1.00 [+0.8") and points.endswith("] points (p* < 0.001)")
    assert "10 + 10 runs" in found.sentence


def test_bounds_are_shown_as_far_as_numbers_can_be():
    wide = {"a": [99.0, 1.0, 98.0], "b": [2.0, 60.0, 0.0]}
    found = outcome(ORDERED, **wide).number
    assert found.startswith("+45.3% [-") and "+100.0%]" in found
    games = dataclasses.replace(ORDERED, unit="games of 100")
    assert ", +100] games of 100" in outcome(games, **wide).number
    share = statement("bound", {"value": name("a"), "above": 10})
    assert outcome(share, a=[99.0, 1.0, 98.0]).number.startswith("66.0% [0.0%, 100.0%]")
    # of other units nothing is known, nor of a multiple
    assert "+160] points" in outcome(dataclasses.replace(ORDERED, unit="points"), **wide).number
    twice = statement("ordering", {"high": name("a"), "low": name("b"), "times": 2})
    assert "+100.0%]" not in outcome(twice, **wide).number


def test_a_part_has_its_own_unit():
    parts = [
        {"of": of, "unit": unit, "high": name("a"), "low": name("b")}
        for of, unit in (("one", "points"), ("two", "percent"))
    ]
    found = outcome(dataclasses.replace(ORDERED, parts=parts, unit=""), a=FAR, b=NEAR)
    assert "one +1.00 [" in found.sentence and "] points; two +1.0% [" in found.sentence


def test_pairs_see_what_is_hidden_between_runs():
    between = np.arange(10.0)
    arms = {"a": between + np.array(NEAR) + 0.3, "b": between}
    assert verdict(ORDERED, **arms) == UNDECIDED
    paired = statement("ordering", {"high": name("a"), "low": name("b"), "paired": True})
    assert verdict(paired, **arms) == HOLDS


def test_a_range():
    inside = statement("range", {"first": name("a"), "second": name("b"), "from": -2, "to": 2})
    assert verdict(inside, a=FAR, b=NEAR) == HOLDS
    assert verdict(inside, a=[5 + value for value in FAR], b=NEAR) == DOES_NOT_HOLD
    assert verdict(inside, a=[9, -9, 9, -9], b=NEAR) == UNDECIDED
    at_most = statement("range", {"first": name("a"), "to": 1.2})
    assert verdict(at_most, a=[value - 50 for value in NEAR]) == HOLDS
    assert verdict(at_most, a=[value + 2 for value in NEAR]) == DOES_NOT_HOLD


def test_a_test_of_one_series_is_strict():
    """The t test alone would confirm at 5% what is not safe with skewed runs."""
    values = [0.4, 0.9, 0.3, 0.6, 0.1, 0.5, 0.7, 0.2, 0.6, 0.4]  # t = 6
    bound = statement("bound", {"value": name("a"), "above": 0.2})
    assert verdict(bound, a=values) == UNDECIDED
    assert verdict(bound, a=[value + 0.5 for value in values]) == HOLDS
    few = outcome(bound, a=[100.1, 100.2, 100.0, 100.1])
    assert few.verdict == UNDECIDED and few.p_for == 1 / 16
    assert verdict(bound, a=[100.1, 100.2, 100.0, 100.1, 100.3]) == HOLDS
    # arms that differ in number, and an arm without spread, are such tests as well
    halves = [value / 2 for value in values]
    moved = [value + 0.4 for value in halves]
    assert verdict(ORDERED, a=moved, b=halves) == HOLDS
    assert verdict(ORDERED, a=values, b=[0.2 + v / 1000 for v in values]) == UNDECIDED
    assert verdict(ORDERED, a=values[:5], b=[v - 0.35 for v in values]) == UNDECIDED


def test_a_bound():
    above, below = (
        statement("bound", {"value": name("a"), end: 0.5}) for end in ("above", "below")
    )
    assert verdict(above, a=FAR) == verdict(below, a=NEAR) == HOLDS
    assert verdict(above, a=NEAR) == verdict(below, a=FAR) == DOES_NOT_HOLD


def test_a_trend():
    rising = statement("trend", {"rising": [name("a"), name("b"), name("c")]})
    arms = {"a": NEAR, "b": FAR, "c": [2 + value for value in NEAR]}
    assert verdict(rising, **arms) == HOLDS
    assert verdict(rising, a=arms["c"], b=FAR, c=NEAR) == DOES_NOT_HOLD
    assert verdict(rising, a=NEAR, b=NEAR, c=NEAR) == UNDECIDED


def capped(arm):
    return name(arm) | {"converged": "reached"}


CAPS = statement("ordering", {"high": capped("a"), "low": capped("b")})
NONE, ALL = [0.0] * 10, [100.0] * 10


def test_runs_at_their_cap_are_lower_bounds():
    """Where a low value would help, they never do; where a high one would, the cap counts."""
    high, low = [64_000.0] * 10, [12_000.0 + 10 * v for v in NEAR]
    assert verdict(CAPS, reached={"a": ALL, "b": ALL}, a=high, b=low) == HOLDS
    assert verdict(CAPS, reached={"a": NONE, "b": ALL}, a=high, b=low) == HOLDS
    neither = outcome(CAPS, reached={"a": NONE, "b": NONE}, a=high, b=low)
    assert neither.verdict == UNDECIDED and neither.p_for == neither.p_against == 1
    assert "> 64,000 (0 of 10 converged) against > 12,000 (0 of 10 converged)" in neither.sentence
    # the contrary: that the arm said to be high is the low one
    assert verdict(CAPS, reached={"a": ALL, "b": ALL}, a=low, b=high) == DOES_NOT_HOLD
    assert verdict(CAPS, reached={"a": ALL, "b": NONE}, a=low, b=high) == DOES_NOT_HOLD
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
    rising = statement("trend", {"rising": [capped("a"), capped("b"), capped("c")]})
    arms = {"a": NEAR, "b": FAR, "c": [2 + value for value in NEAR]}

    def found(**reached):
        return outcome(rising, reached=dict.fromkeys("abc", ALL) | reached, **arms)

    free = found()
    assert free.verdict == found(c=NONE).verdict == HOLDS
    assert found(b=NONE).p_for == found(a=NONE, b=NONE, c=NONE).p_for == 1
    assert "> 1, > 2 (" in found(b=[0.0] + ALL[1:], c=NONE).sentence.replace(
        " (9 of 10 converged)", ""
    )
    some = found(a=[0.0] * 4 + ALL[4:])
    assert free.p_for < some.p_for < 1
    # as if these four runs were last
    last = {"a": [9.0] * 4 + NEAR[4:], "b": FAR, "c": arms["c"]}
    assert some.p_for == outcome(rising, reached=dict.fromkeys("abc", ALL), **last).p_for
    falling = statement("trend", {"rising": [capped("c"), capped("b"), capped("a")]})
    everywhere = outcome(falling, reached=dict.fromkeys("abc", NONE), **arms)
    assert everywhere.verdict == UNDECIDED and everywhere.p_against == 1
    assert outcome(falling, reached=dict.fromkeys("abc", ALL), **arms).verdict == DOES_NOT_HOLD


def test_groups_of_runs_that_share_opponents_are_the_units():
    """Two groups of five differ: ten runs seem to tell, two means cannot."""
    part = {"high": name("a"), "low": name("b"), "paired": True}
    arms = {"a": [2 + v for v in NEAR + NEAR], "b": [0.1 * v for v in NEAR + NEAR]}
    assert verdict(statement("ordering", part), **arms) == HOLDS
    assert verdict(statement("ordering", part, shared=10), **arms) == STATEMENT_NOT_RUN
    grouped = outcome(statement("ordering", part, shared=4), **arms)
    assert grouped.verdict == HOLDS and "5 groups of 4 runs" in grouped.sentence
    assert outcome(statement("ordering", part, shared=6), **arms).p_for == 0.125  # 3, and a rest


def test_most_parts_are_enough_if_the_paper_says_so():
    parts = [{"of": arm, "high": name(arm), "low": name("z")} for arm in "abcde"]
    most = statement("ordering", *parts, most=True)
    good, bad = {"z": NEAR}, [v - 1 for v in NEAR]
    three = outcome(most, **good, a=FAR, b=FAR, c=FAR, d=bad, e=bad)
    assert three.verdict == HOLDS and three.number.startswith("3 of 5 parts pass")
    assert verdict(most, **good, a=FAR, b=FAR, c=bad, d=bad, e=bad) == DOES_NOT_HOLD
    assert verdict(most, **good, a=FAR, b=FAR, c=NEAR, d=bad, e=bad) == UNDECIDED
    assert verdict(statement("ordering", *parts), **good, **dict.fromkeys("abcd", FAR), e=bad) == (
        DOES_NOT_HOLD
    )


def test_every_part_must_hold_and_one_is_enough_against():
    parts = [
        {"of": "one", "high": name("a"), "low": name("b")},
        {"of": "two", "high": name("c"), "low": name("d")},
    ]
    both = statement("ordering", *parts)
    assert verdict(both, a=FAR, b=NEAR, c=FAR, d=NEAR) == HOLDS
    assert verdict(both, a=FAR, b=NEAR, c=NEAR, d=NEAR) == UNDECIDED
    found = outcome(both, a=FAR, b=NEAR, c=NEAR, d=FAR)
    assert found.verdict == DOES_NOT_HOLD and found.number.startswith("two: -1")


def test_equal_runs_are_no_certainty():
    assert verdict(ORDERED, a=[1.0] * 10, b=[0.0] * 10) == HOLDS
    assert verdict(ORDERED, a=[1.0] * 3, b=[0.0] * 2) == STATEMENT_NOT_RUN
    found = outcome(ORDERED, a=[1.0] * 3, b=[0.0] * 3)
    assert found.p_for == pytest.approx(1 / 20)
    bound = statement("bound", {"value": name("a"), "above": 0})
    assert verdict(bound, a=[1.0] * 3) == UNDECIDED and verdict(bound, a=[1.0] * 6) == HOLDS


def test_several_statements_are_corrected_together():
    weak = [0.4, -0.3, 0.5, -0.1, 0.6, -0.2, 0.5, 0.1]
    one = statement("ordering", {"high": name("a"), "low": name("b")})
    values = {"a": weak, "b": [value - 0.3 for value in weak]}
    alone = judge([one], lambda study, arm, metric: dict(enumerate(values[arm])))
    assert 0.025 < alone[0].p_for < 0.25
    three = judge([one] * 3, lambda study, arm, metric: dict(enumerate(values[arm])))
    assert [o.p_for for o in three] == pytest.approx([3 * alone[0].p_for] * 3)
    assert f"p* = {3 * alone[0].p_for:.3f}" in three[0].number


GOOD = {
    "id": "x",
    "says": "s",
    "place": {"section": "1"},
    "tested": "t",
    "test": "ordering",
    "parts": [{"high": name("a"), "low": name("b")}],
}


@pytest.mark.parametrize(
    "change, words",
    [
        ({"test": "guess"}, "must be one of ordering"),
        ({"says": None}, "says is missing"),
        ({"place": {}}, "needs one of table"),
        ({"parts": [{"high": name("a"), "lower": name("b")}]}, "unknown field 'lower'"),
        ({"parts": [{"high": {"study": "s"}, "low": name("b")}]}, "arm is missing"),
        ({"parts": [{"of": "nothing"}]}, "a part: high is missing"),
        (
            {"test": "bound", "parts": [{"value": name("a") | {"converged": "c"}, "above": 1}]},
            "converged is for ordering and trend only",
        ),
        ({"former": {"verdict": "holds"}}, "why is missing"),
        (
            {"former": {"verdict": "true", "why": "w"}},
            "former: verdict is 'true'; it must be one of holds",
        ),
    ],
)
def test_bad_statements_are_refused(change, words):
    check_statement(read(Statement, GOOD, "f.yaml"), "f.yaml")
    with pytest.raises(ValueError, match=words):
        check_statement(read(Statement, GOOD | change, "f.yaml"), "f.yaml")


def test_the_papers_state_what_can_be_tested():
    published = papers.all()
    found = {key: paper.statements for key, paper in published.items()}
    assert sum(map(len, found.values())) >= 25 and min(map(len, found.values())) >= 6
    for key, paper in published.items():
        answered = {claim.study for claim in paper.claims}
        for one in paper.statements:
            assert len(one.tested) < 130 and one.where and one.figure
            for part in one.parts:
                for runs in series(part):
                    assert runs["study"] in answered | {"weaker-tictactoe", "weaker-kalah"}, key


def test_statements_without_runs_count_in_holms_correction():
    """A verdict must not change when the runs of another statement come."""
    missing = statement("ordering", {"high": name("x"), "low": name("y")})
    arms = {"a": [v + 1.0 for v in NEAR], "b": NEAR}

    def values(study, arm, metric):
        return dict(enumerate(arms.get(arm, [])))

    alone, with_another = judge([ORDERED], values)[0], judge([ORDERED, missing], values)[0]
    assert with_another.p_for == pytest.approx(min(1.0, 2 * alone.p_for))


def test_equal_runs_say_that_no_number_decides():
    found = outcome(ORDERED, a=[50.0] * 5, b=[50.0] * 5)
    assert found.verdict == UNDECIDED and "no number of runs decides" in found.sentence


def test_p_values_stand_on_their_side_of_the_level():
    """No "p* = 0.050" beside *undecided*."""
    for target, verdict_, shown in ((0.0502, UNDECIDED, "0.051"), (0.0498, HOLDS, "0.049")):
        low, high = 0.0, 1.0
        for _ in range(60):  # the shift at which the p value is the one asked for
            middle = (low + high) / 2
            found = outcome(ORDERED, a=[v + middle for v in NEAR], b=NEAR)
            low, high = (middle, high) if found.p_for > target else (low, middle)
        assert found.verdict == verdict_ and f"(p* = {shown})" in found.number


def draw(rng, shape, runs, tail=-1):
    """Return runs of mean 0 and spread 1; skewed ones with their tail on the given side."""
    if shape == "normal":
        return rng.normal(size=runs)
    if shape == "flat":
        return 3**0.5 * rng.uniform(-1, 1, runs)
    if shape == "games":
        return (rng.binomial(20, 0.5, runs) - 10) / 5**0.5
    if shape == "exponential":
        return tail * (rng.exponential(size=runs) - 1)
    return tail * (np.exp(rng.normal(size=runs)) - np.exp(0.5)) / ((np.e - 1) * np.e) ** 0.5


SHAPES = ("normal", "flat", "games", "exponential", "lognormal")
FALSE = {  # kind of test: its part, on the edge of what it says, and where a tail makes it fail
    "bound": ({"value": name("a"), "above": 0}, -1),
    "range": ({"first": name("a"), "from": -9, "to": 0}, 1),
    "range of two arms": ({"first": name("a"), "second": name("b"), "from": -9, "to": 0}, 1),
    "ordering": ({"high": name("a"), "low": name("b")}, -1),
    "ordering, fewer runs": ({"high": name("few"), "low": name("a")}, -1),
    "paired": ({"high": name("a"), "low": name("zero"), "paired": True}, -1),
    "trend": ({"rising": [name("a"), name("b"), name("c")]}, -1),
}
MOST_FALSE = 0.05


def limit(repetitions):
    """Return what so many repetitions may show: three standard errors above 5%."""
    return MOST_FALSE + 3 * (MOST_FALSE * (1 - MOST_FALSE) / repetitions) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", FALSE)
def test_false_holds_are_at_most_one_in_twenty(kind, shape):
    part, tail = FALSE[kind]
    test = {"paired": "ordering"}.get(kind, kind.split()[0].rstrip(","))
    one = statement(test, part)
    rng = np.random.default_rng([20, SHAPES.index(shape), list(FALSE).index(kind)])
    repetitions = 500 if kind == "trend" else 2_000  # ranks have no shape
    for runs in (3, 5, 10, 25):
        wrong = 0
        for _ in range(repetitions):
            arms = {arm: draw(rng, shape, runs, tail) for arm in "abc"}
            arms |= {"zero": np.zeros(runs), "few": draw(rng, shape, max(3, runs // 3), tail)}
            wrong += verdict(one, **arms) == HOLDS
        assert wrong / repetitions <= limit(repetitions), runs


@pytest.mark.slow
def test_a_false_most_is_as_rare():
    """Two of five parts are true and three on the edge, with and without what they share."""
    parts = [{"of": arm, "high": name(arm), "low": name("z")} for arm in "abcde"]
    most, rng, repetitions = (
        statement("ordering", *parts, most=True),
        np.random.default_rng(5),
        1_000,
    )
    for common in (0.0, 3.0):
        wrong = 0
        for _ in range(repetitions):
            shared = common * rng.normal(size=10)
            arms = {arm: shared + rng.normal(size=10) for arm in "abcde"}
            arms |= {"z": (common**2 + 1) ** 0.5 * rng.normal(size=10)}
            arms["a"], arms["b"] = arms["a"] + 20, arms["b"] + 20
            wrong += verdict(most, **arms) == HOLDS
        assert wrong / repetitions <= limit(repetitions), common


@pytest.mark.slow
def test_a_false_hold_among_eight_statements_is_as_rare():
    rng, repetitions, wrong = np.random.default_rng(17), 1_000, 0
    family = [
        statement("ordering", {"high": name(f"a{n}"), "low": name(f"b{n}")}) for n in range(8)
    ]
    for _ in range(repetitions):
        drawn = {}

        def values(study, arm, metric, drawn=drawn):
            return drawn.setdefault(arm, dict(enumerate(rng.normal(size=10))))

        wrong += any(found.verdict == HOLDS for found in judge(family, values))
    assert wrong / repetitions <= limit(repetitions)
