"""Ratings against closed forms, simulated strengths, and by the coverage of their intervals."""

import numpy as np
import pandas as pd
import pytest

from afterstate.arena import ratings

STRENGTH = {"a": 0.9, "b": 0.2, "c": -0.3, "d": -0.8}


def table(*rows):
    return pd.DataFrame(rows, columns=ratings.COLUMNS)


def simulate(rng, games, strength=STRENGTH, first=0.3, draw=-0.2):
    model = ratings.Model(list(strength), np.array(list(strength.values())), first, draw)
    pairs = [(a, b) for a in strength for b in strength if a != b]
    return table(*((*pair, *rng.multinomial(games, model.probabilities(*pair))) for pair in pairs))


def test_two_players_have_a_closed_form():
    model = ratings.fit(table(("a", "b", 30, 20, 10), ("b", "a", 10, 20, 30)), prior=0)
    assert model.strength[0] - model.strength[1] == pytest.approx(np.log(3), abs=1e-4)
    assert model.first == pytest.approx(0, abs=1e-4)
    assert model.draw == pytest.approx(np.log(20 / np.sqrt(30 * 10)), abs=1e-4)
    assert model.probabilities("a", "b") == pytest.approx([1 / 2, 1 / 3, 1 / 6], abs=1e-4)
    # the first seat is kept apart from strength
    model = ratings.fit(table(("a", "b", 40, 0, 20), ("b", "a", 40, 0, 20)), prior=0)
    assert model.first == pytest.approx(np.log(2), abs=1e-4)
    assert model.strength == pytest.approx([0, 0], abs=1e-4)


def test_recovers_the_strengths_that_made_the_games():
    model = ratings.fit(simulate(np.random.default_rng(1), 20_000))
    assert model.players == list(STRENGTH)
    assert model.strength == pytest.approx(np.array(list(STRENGTH.values())), abs=0.03)
    assert (model.first, model.draw) == pytest.approx((0.3, -0.2), abs=0.03)


def test_the_likelihood_has_its_maximum_there():
    results = simulate(np.random.default_rng(2), 200)
    model = ratings.fit(results, prior=0)

    def likelihood(k, step):
        x = np.array([*model.strength, model.first, model.draw])
        x[k] += step
        moved = ratings.Model(model.players, x[:4], x[4], x[5])
        return sum(
            np.dot((r.wins, r.draws, r.losses), np.log(moved.probabilities(r.first, r.second)))
            for r in results.itertuples()
        )

    moved = [likelihood(k, step) for k in range(6) for step in (-0.02, 0.02)]
    assert max(moved) < likelihood(0, 0.0)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    rng, hits, trials = np.random.default_rng(3), 0, 30
    truth = np.array(list(STRENGTH.values())) * ratings.ELO
    for trial in range(trials):
        found = ratings.ratings(simulate(rng, 100), bootstraps=40, seed=trial)
        found = found.set_index("player").loc[list(STRENGTH)]
        hits += int(((found.low <= truth) & (truth <= found.high)).sum())
    # 95% nominal, of 120; a bootstrap of 40 is a little narrow
    assert 0.84 < hits / (4 * trials) <= 1.0


@pytest.mark.slow
def test_runs_are_drawn_as_a_whole():
    rng = np.random.default_rng(4)
    shift = [dict(STRENGTH, a=STRENGTH["a"] + x) for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    by_run = pd.concat([simulate(rng, 400, s).assign(run=k) for k, s in enumerate(shift)])

    def width(results):
        row = ratings.ratings(results, bootstraps=60).set_index("player").loc["a"]
        return row.high - row.low

    assert width(by_run) > 2 * width(by_run.drop(columns="run"))


def test_a_player_who_wins_everything_stays_finite():
    results = table(("a", "b", 100, 0, 0), ("b", "a", 0, 0, 100), ("b", "b", 0, 100, 0))
    found = ratings.ratings(results, bootstraps=10)
    assert found.player.tolist() == ["a", "b"] and found.games.tolist() == [200, 300]
    assert np.isfinite(found.rating).all() and found.rating[0] > 200


def test_cycles_are_found_only_where_they_are_sure():
    def results(wins, losses):
        names = ("rock", "scissors", "paper", "rock")
        return table(*((a, b, wins, 0, losses) for a, b in zip(names, names[1:])))

    assert ratings.cycles(results(20, 0)) == [("paper", "rock", "scissors")]
    assert ratings.cycles(results(11, 9)) == []
    assert ratings.cycles(simulate(np.random.default_rng(5), 1000)) == []
