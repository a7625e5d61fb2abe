"""Ratings against closed forms, published fits, simulated strengths, and coverage of intervals."""

import numpy as np
import pandas as pd
import pytest

from afterply.arena import ratings

STRENGTH = {"a": 0.9, "b": 0.2, "c": -0.3, "d": -0.8}
TRUTH = np.array(list(STRENGTH.values())) * ratings.ELO
# Davidson (1970): pair, wins of the first and of the second, ties; half of them in either order
PUDDINGS = """12 19 22 16, 13 16 19 12, 23 19 19 10, 14 18 23 13, 24 23 19 9, 34 19 20 15,
15 13 19 18, 25 16 20 12, 35 16 15 17, 45 17 14 16, 16 18 21 12, 26 22 20 12,
36 13 18 10, 46 14 19 18, 56 11 21 12"""
# Agresti (2002), Table 10.10: wins and losses at home (row) against the other six in order
BASEBALL = """43 42 43 61 42 60, 33 42 43 60 61 43, 25 43 24 43 42 60, 33 51 25 43 42 61,
51 25 33 42 52 60, 25 33 34 43 42 24, 25 15 16 24 16 34"""


def table(*rows):
    return pd.DataFrame(rows, columns=ratings.COLUMNS)


def simulate(rng, games, strength=STRENGTH, first=0.3, draw=-0.2):
    model = ratings.Model(list(strength), np.array(list(strength.values())), first, draw)
    pairs = [(a, b) for a in strength for b in strength if a != b]
    return table(*((*pair, *rng.multinomial(games, model.probabilities(*pair))) for pair in pairs))


def apart(results, **given):
    model = ratings.fit(results, **given)
    return (model.strength[0] - model.strength[1]) * ratings.ELO


def test_two_players_have_a_closed_form():
    model = ratings.fit(table(("a", "b", 30, 20, 10), ("b", "a", 10, 20, 30)), prior=0)
    assert model.strength[0] - model.strength[1] == pytest.approx(np.log(3))
    assert model.first == pytest.approx(0, abs=1e-9)
    assert model.draw == pytest.approx(np.log(20 / np.sqrt(30 * 10)))
    assert model.probabilities("a", "b") == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    # the first seat is kept apart from strength
    model = ratings.fit(table(("a", "b", 40, 0, 20), ("b", "a", 40, 0, 20)), prior=0)
    assert model.first == pytest.approx(np.log(2))
    assert model.strength == pytest.approx([0, 0], abs=1e-9)


def test_published_fits():
    rows = []
    for line in PUDDINGS.replace("\n", " ").split(", "):
        (i, j), *counts = line.split()[0], *(float(x) / 2 for x in line.split()[1:])
        rows += [(i, j, counts[0], counts[2], counts[1]), (j, i, counts[1], counts[2], counts[0])]
    model = ratings.fit(table(*rows), prior=0)
    worth = np.exp(model.strength) / np.exp(model.strength).sum()
    printed = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert worth == pytest.approx(printed, abs=3e-5)  # by hand, in 1970
    assert np.exp(model.draw) == pytest.approx(0.7468147, abs=1e-5)

    rows = []
    for home, line in enumerate(BASEBALL.replace("\n", " ").split(", ")):
        others = [team for team in range(7) if team != home]
        rows += [(home, other, int(n[0]), 0, int(n[1])) for other, n in zip(others, line.split())]
    model = ratings.fit(table(*rows), prior=0)
    worth = np.exp(model.strength) / np.exp(model.strength).sum()
    assert np.sort(worth).round(3).tolist() == [0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220]
    assert model.first == pytest.approx(0.302, abs=5e-4)


def test_winning_everything_has_a_rating_and_a_width():
    swept = table(("a", "b", 10, 0, 0), ("b", "a", 0, 0, 10))
    assert apart(swept) == pytest.approx(400 * np.log10(20.5 / 0.5))
    chain = table(*pair("a", "b", 10, 0), *pair("b", "c"))  # c, whom a never met, does not pull it
    assert apart(chain) == pytest.approx(apart(swept))
    found = ratings.ratings(swept)
    assert (found.low < found.rating - 50).all() and (found.high > found.rating + 50).all()
    with pytest.raises(ValueError, match="prior above 0"):
        ratings.fit(swept, prior=0)
    # also where it is the seat that always wins, and where nobody but draws
    for rows in ([("a", "b", 5, 0, 0), ("b", "a", 5, 0, 0)], [("a", "b", 0, 9, 0)]):
        with pytest.raises(ValueError, match="prior above 0"):
            ratings.fit(table(*rows), prior=0)
        assert np.isfinite(ratings.ratings(table(*rows)).high).all()
    million = apart(table(("a", "b", 10**6, 0, 0), ("b", "a", 0, 0, 10**6)))
    assert million == pytest.approx(400 * np.log10((2 * 10**6 + 0.5) / 0.5))


def pair(a, b, wins=3, losses=1):
    """Games of two players, alike in both seats: strengths are log(wins / losses) apart."""
    return [(a, b, wins, 0, losses), (b, a, losses, 0, wins)]


NEVER_MET, BEATS = pair("a", 1) + pair(2, "b"), pair(2, "x") + pair("x", (0, 1))
CIRCLE = [game for a, b in (((0, 1), 2), (2, "x"), ("x", (0, 1))) for game in pair(a, b, 9, 0)]
MILLION, LOG3 = 10**6, np.log(3)
MILLION_TO_ONE = np.array([0.5, -0.5]) * np.log(MILLION)


@pytest.mark.parametrize(
    "rows, strengths, circles",
    [
        (pair("1", 1), [-LOG3 / 2, LOG3 / 2], []),  # two names with the same text
        (BEATS, [-LOG3, LOG3, 0], []),
        (CIRCLE, [0, 0, 0], [((0, 1), 2, "x")]),
        ([], "none in 0 rows", []),
        ([("a", "b", 0, 0, 0)], "none in 1 rows", []),
        ([("a", "a", 3, 1, 2)], [0], []),
        (NEVER_MET, r"\[2, 'b'\] never met 1 or who played it", []),
        (pair("a", "b") + [("d", "b", 0, 0, 0)], r"\['d'\] never met 'a' or who played it", []),
        (pair("a", "b", MILLION, 1), MILLION_TO_ONE, []),
        (pair("a", "b", 3 * MILLION, MILLION) + pair("b", "c"), [LOG3, 0, -LOG3], []),
    ],
)
def test_odd_tables(rows, strengths, circles):
    results = table(*rows)
    assert ratings.cycles(results) == circles
    if isinstance(strengths, str):
        with pytest.raises(ValueError, match=strengths):
            ratings.fit(results, prior=0)
    else:
        assert ratings.fit(results, prior=0).strength == pytest.approx(strengths, abs=1e-9)
        found = ratings.ratings(results)
        assert (found.low <= found.rating).all() and (found.rating <= found.high).all()


def covered(tables):
    """Return the share of true strengths that lie in their intervals."""
    hits = []
    for results in tables:
        found = ratings.ratings(results).set_index("player").loc[list(STRENGTH)]
        hits += ((found.low <= TRUTH) & (TRUTH <= found.high)).tolist()
    return np.mean(hits)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    rng = np.random.default_rng(3)
    assert 0.91 < covered(simulate(rng, 20) for _ in range(60)) < 0.99
    # where trainings differ, the intervals know it: those of games alone would be far too narrow
    apart = (
        pd.concat(
            simulate(rng, 100, dict(STRENGTH, a=STRENGTH["a"] + x)).assign(run=k)
            for k, x in enumerate(rng.normal(0, 0.5, 8))
        )
        for _ in range(60)
    )
    assert 0.88 < covered(apart) < 0.99


def test_place_puts_a_player_where_a_fit_would():
    results = simulate(np.random.default_rng(7), 400)
    model = ratings.fit(results, prior=0)
    rest = ratings.fit(results[(results["first"] != "a") & (results.second != "a")], prior=0)
    rows = results[results["first"] == "a"].assign(opponent=lambda x: x.second, first=True)
    x = ratings.place(rest, rows, prior=0) - rest.strength.mean()
    assert x == pytest.approx(model.strength[0] - model.strength[1:].mean(), abs=0.1)
    with pytest.raises(ValueError, match="prior above 0"):
        ratings.place(rest, rows.assign(draws=0, losses=0), prior=0)
    with pytest.raises(ValueError, match="none in 0 rows"):
        ratings.place(rest, rows[:0])
    with pytest.raises(ValueError, match=r"no player 'a' among \['b'"):
        ratings.place(rest, rows.assign(opponent="a"))


def test_cycles_are_found_only_where_they_are_sure():
    def results(wins, losses):
        names = ("rock", "scissors", "paper", "rock")
        return table(*((a, b, wins, 0, losses) for a, b in zip(names, names[1:])))

    assert ratings.cycles(results(20, 0)) == [("paper", "rock", "scissors")]
    assert ratings.cycles(results(11, 9)) == []
    assert ratings.cycles(simulate(np.random.default_rng(5), 1000)) == []
