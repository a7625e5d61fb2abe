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
    def values(study, arm, metric):
        return dict(enumerate((reached if metric == "reached" else arms).get(arm, ())))

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
STRICT = statement("bound", {"value": "a", "above": 0.2})
HUNDRED = [100.1, 100.2, 100.0, 100.1]


@pytest.mark.parametrize(
    "one, arms, expected",
    [
        (ORDERED, {"a": FAR, "b": NEAR}, HOLDS),
        (ORDERED, {"a": NEAR, "b": FAR}, DOES_NOT_HOLD),
        (ORDERED, {"a": NEAR, "b": NEAR}, UNDECIDED),
        (ORDERED, {"a": NEAR}, STATEMENT_NOT_RUN),
        (ORDERED, {"a": NEAR, "b": FAR[:2]}, STATEMENT_NOT_RUN),
        (TWICE, {"a": [3 * value for value in FAR], "b": FAR}, HOLDS),
        (TWICE, {"a": [2 * value for value in FAR], "b": FAR}, DOES_NOT_HOLD),
        (ORDERED, HIDDEN, UNDECIDED),
        (ordering(paired=True), HIDDEN, HOLDS),
        (INSIDE, {"a": FAR, "b": NEAR}, HOLDS),
        (INSIDE, {"a": moved(5, FAR), "b": NEAR}, DOES_NOT_HOLD),
        (INSIDE, {"a": [9, -9, 9, -9], "b": NEAR}, UNDECIDED),
        (AT_MOST, {"a": moved(-50)}, HOLDS),
        (AT_MOST, {"a": moved(2)}, DOES_NOT_HOLD),
        (ABOVE, {"a": FAR}, HOLDS),
        (BELOW, {"a": NEAR}, HOLDS),
        (ABOVE, {"a": NEAR}, DOES_NOT_HOLD),
        (BELOW, {"a": FAR}, DOES_NOT_HOLD),
        (RISING, {"a": NEAR, "b": FAR, "c": moved(2)}, HOLDS),
        (RISING, {"a": moved(2), "b": FAR, "c": NEAR}, DOES_NOT_HOLD),
        (RISING, {"a": NEAR, "b": NEAR, "c": NEAR}, UNDECIDED),
        # the t test alone would confirm at 5% what is not safe with skewed runs of one series
        (STRICT, {"a": SKEW}, UNDECIDED),
        (STRICT, {"a": moved(0.5, SKEW)}, HOLDS),
        (STRICT, {"a": HUNDRED}, UNDECIDED),
        (STRICT, {"a": [*HUNDRED, 100.3]}, HOLDS),
        # arms that differ in number, and an arm without spread, are such tests as well
        (ORDERED, {"a": [v / 2 + 0.4 for v in SKEW], "b": [v / 2 for v in SKEW]}, HOLDS),
        (ORDERED, {"a": SKEW, "b": [0.2 + v / 1000 for v in SKEW]}, UNDECIDED),
        (ORDERED, {"a": SKEW[:5], "b": moved(-0.35, SKEW)}, UNDECIDED),
        # equal runs are no certainty
        (ORDERED, {"a": [1.0] * 10, "b": [0.0] * 10}, HOLDS),
        (ORDERED, {"a": [1.0] * 3, "b": [0.0] * 2}, STATEMENT_NOT_RUN),
        (STRICT, {"a": [1.0] * 3}, UNDECIDED),
        (STRICT, {"a": [1.0] * 6}, HOLDS),
    ],
)
def test_statements_are_decided(one, arms, expected):
    assert verdict(one, **arms) == expected


def test_the_numbers_shown():
    found = outcome(ORDERED, a=FAR, b=NEAR)
    assert found.number.startswith("+1.0% [+0.9%, ") and found.number.endswith("%] (p* < 0.001)")
    points = outcome(dataclasses.replace(ORDERED, unit="points"), a=FAR, b=NEAR).number
    assert points.startswith("+1.00 [+0.8") and points.endswith("] points (p* < 0.001)")
    assert "10 + 10 runs" in found.sentence
    assert "2 of at least 3 runs" in outcome(ORDERED, a=NEAR, b=FAR[:2]).sentence
    assert outcome(STRICT, a=HUNDRED).p_for == 1 / 16
    assert outcome(ORDERED, a=[1.0] * 3, b=[0.0] * 3).p_for == pytest.approx(1 / 20)
    equal = outcome(ORDERED, a=[50.0] * 5, b=[50.0] * 5)
    assert equal.verdict == UNDECIDED and "no number of runs decides" in equal.sentence
    units = [{"of": of, "unit": u, "high": "a", "low": "b"} for of, u in (("one", "points"),
             ("two", "percent"))]  # fmt: skip
    own = outcome(statement("ordering", *units, unit=""), a=FAR, b=NEAR).sentence
    assert "one +1.00 [" in own and "] points; two +1.0% [" in own


def test_bounds_are_shown_as_far_as_numbers_can_be():
    wide = {"a": [99.0, 1.0, 98.0], "b": [2.0, 60.0, 0.0]}
    found = outcome(ORDERED, **wide).number
    assert found.startswith("+45.3% [-") and "+100.0%]" in found
    games = dataclasses.replace(ORDERED, unit="games of 100")
    assert ", +100] games of 100" in outcome(games, **wide).number
    share = statement("bound", {"value": "a", "above": 10})
    assert outcome(share, a=[99.0, 1.0, 98.0]).number.startswith("66.0% [0.0%, 100.0%]")
    # of other units nothing is known, nor of a multiple
    assert "+160] points" in outcome(dataclasses.replace(ORDERED, unit="points"), **wide).number
    assert "+100.0%]" not in outcome(ordering(times=2), **wide).number


def capped(arm):
    return name(arm) | {"converged": "reached"}


CAPS = ordering(capped("a"), capped("b"))
NONE, ALL = [0.0] * 10, [100.0] * 10


def test_runs_at_their_cap_are_lower_bounds():
    """Where a low value would help, they never do; where a high one would, the cap counts."""
    high, low = [64_000.0] * 10, [12_000.0 + 10 * v for v in NEAR]
    for a, b in ((ALL, ALL), (NONE, ALL)):
        assert verdict(CAPS, reached={"a": a, "b": b}, a=high, b=low) == HOLDS
    neither = outcome(CAPS, reached={"a": NONE, "b": NONE}, a=high, b=low)
    assert neither.verdict == UNDECIDED and neither.p_for == neither.p_against == 1
    assert "> 64,000 (0 of 10 converged) against > 12,000 (0 of 10 converged)" in neither.sentence
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
    assert verdict(ordering(paired=True, shared=10), **arms) == STATEMENT_NOT_RUN
    grouped = outcome(ordering(paired=True, shared=4), **arms)
    assert grouped.verdict == HOLDS and "5 groups of 4 runs" in grouped.sentence
    assert outcome(ordering(paired=True, shared=6), **arms).p_for == 0.125  # 3, and a rest


def test_every_part_must_hold_or_most_if_the_paper_says_so():
    parts = [{"of": arm, "high": arm, "low": "z"} for arm in "abcde"]
    every, most = statement("ordering", *parts), statement("ordering", *parts, most=True)

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


def test_several_statements_are_corrected_together():
    """A verdict must not change when the runs of another statement come."""
    weak = [0.4, -0.3, 0.5, -0.1, 0.6, -0.2, 0.5, 0.1]
    arms = {"a": weak, "b": moved(-0.3, weak)}

    def judged(*statements):
        return judge(statements, lambda study, arm, metric: dict(enumerate(arms.get(arm, ()))))

    (alone,) = judged(ORDERED)
    assert 0.025 < alone.p_for < 0.25
    for three in (judged(*[ORDERED] * 3), judged(ORDERED, ordering("x", "y"), ordering("x", "z"))):
        assert three[0].p_for == pytest.approx(3 * alone.p_for)
        assert f"p* = {3 * alone.p_for:.3f}" in three[0].number


GOOD = {"id": "x", "says": "s", "place": {"section": "1"}, "tested": "t", "test": "ordering"}
GOOD["parts"] = [{"high": name("a"), "low": name("b")}]


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
        ({"former": {"verdict": "true", "why": "w"}}, "verdict is 'true'; it must be one of holds"),
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


def test_p_values_stand_on_their_side_of_the_level():
    """No "p* = 0.050" beside *undecided*."""
    for target, verdict_, shown in ((0.0502, UNDECIDED, "0.051"), (0.0498, HOLDS, "0.049")):
        low, high = 0.0, 1.0
        for _ in range(60):  # the shift at which the p value is the one asked for
            middle = (low + high) / 2
            found = outcome(ORDERED, a=moved(middle), b=NEAR)
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
    "bound": ({"value": "a", "above": 0}, -1),
    "range": ({"first": "a", "from": -9, "to": 0}, 1),
    "range of two arms": ({"first": "a", "second": "b", "from": -9, "to": 0}, 1),
    "ordering": ({"high": "a", "low": "b"}, -1),
    "ordering, fewer runs": ({"high": "few", "low": "a"}, -1),
    "paired": ({"high": "a", "low": "zero", "paired": True}, -1),
    "trend": ({"rising": ["a", "b", "c"]}, -1),
}


def limit(repetitions):
    """Return what these repetitions may show: three standard errors above 5%."""
    return 0.05 + 3 * (0.05 * 0.95 / repetitions) ** 0.5


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
    parts = [{"of": arm, "high": arm, "low": "z"} for arm in "abcde"]
    most, rng = statement("ordering", *parts, most=True), np.random.default_rng(5)
    repetitions = 1_000
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
    family = [ordering(f"a{n}", f"b{n}") for n in range(8)]
    for _ in range(repetitions):
        drawn = {}

        def values(study, arm, metric, drawn=drawn):
            return drawn.setdefault(arm, dict(enumerate(rng.normal(size=10))))

        wrong += any(found.verdict == HOLDS for found in judge(family, values))
    assert wrong / repetitions <= limit(repetitions)
