"""Ratings against closed forms, simulated strengths, and by the coverage of their intervals."""

import numpy as np
import pandas as pd
import pytest

from afterstate.arena import ratings

COLUMNS = ["first", "second", "wins", "draws", "losses"]
STRENGTH = {"a": 0.9, "b": 0.2, "c": -0.3, "d": -0.8}


def simulate(rng, games, strength=STRENGTH, first=0.3, draw=-0.2):
    model = ratings.Model(list(strength), np.array(list(strength.values())), first, draw)
    rows = [
        (a, b, *rng.multinomial(games, model.probabilities(a, b)))
        for a in strength
        for b in strength
        if a != b
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_two_players_have_a_closed_form():
    results = pd.DataFrame([("a", "b", 30, 20, 10), ("b", "a", 10, 20, 30)], columns=COLUMNS)
    model = ratings.fit(results, prior=0)
    assert model.strength[0] - model.strength[1] == pytest.approx(np.log(3), abs=1e-4)
    assert model.first == pytest.approx(0, abs=1e-4)
    assert model.draw == pytest.approx(np.log(20 / np.sqrt(30 * 10)), abs=1e-4)
    assert model.probabilities("a", "b") == pytest.approx([1 / 2, 1 / 3, 1 / 6], abs=1e-4)


def test_the_first_seat_is_told_from_strength():
    results = pd.DataFrame([("a", "b", 40, 0, 20), ("b", "a", 40, 0, 20)], columns=COLUMNS)
    model = ratings.fit(results, prior=0)
    assert model.first == pytest.approx(np.log(2), abs=1e-4) and model.strength == pytest.approx(
        [0, 0], abs=1e-4
    )


def test_recovers_the_strengths_that_made_the_games():
    model = ratings.fit(simulate(np.random.default_rng(1), 20_000))
    assert model.players == list(STRENGTH)
    assert model.strength == pytest.approx(np.array(list(STRENGTH.values())), abs=0.03)
    assert (model.first, model.draw) == pytest.approx((0.3, -0.2), abs=0.03)


def test_the_likelihood_has_its_maximum_there():
    results = simulate(np.random.default_rng(2), 200)
    model = ratings.fit(results, prior=0)

    def likelihood(m):
        return sum(
            np.dot((r.wins, r.draws, r.losses), np.log(m.probabilities(r.first, r.second)))
            for r in results.itertuples()
        )

    for k in range(6):
        for step in (-0.02, 0.02):
            strength, rest = model.strength.copy(), [model.first, model.draw]
            if k < 4:
                strength[k] += step
            else:
                rest[k - 4] += step
            assert likelihood(ratings.Model(model.players, strength, *rest)) < likelihood(model)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    rng, hits, trials = np.random.default_rng(3), 0, 30
    truth = np.array(list(STRENGTH.values())) * ratings.ELO
    for trial in range(trials):
        table = (
            ratings.ratings(simulate(rng, 100), bootstraps=40, seed=trial)
            .set_index("player")
            .loc[list(STRENGTH)]
        )
        hits += int(((table.low <= truth) & (truth <= table.high)).sum())
    # 95% nominal, of 120; a bootstrap of 40 is a little narrow
    assert 0.84 < hits / (4 * trials) <= 1.0


@pytest.mark.slow
def test_runs_are_drawn_as_a_whole():
    rng = np.random.default_rng(4)
    shift = [dict(STRENGTH, a=STRENGTH["a"] + x) for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    by_run = pd.concat([simulate(rng, 400, s).assign(run=k) for k, s in enumerate(shift)])
    width = {}
    for name, table in (("runs", by_run), ("games", by_run.drop(columns="run"))):
        row = ratings.ratings(table, bootstraps=60).set_index("player").loc["a"]
        width[name] = row.high - row.low
    assert width["runs"] > 2 * width["games"]


def test_a_player_who_wins_everything_stays_finite():
    results = pd.DataFrame(
        [("a", "b", 100, 0, 0), ("b", "a", 0, 0, 100), ("b", "b", 0, 100, 0)], columns=COLUMNS
    )
    table = ratings.ratings(results, bootstraps=10)
    assert (
        table.player.tolist() == ["a", "b"]
        and np.isfinite(table.rating).all()
        and table.rating[0] > 200
    )
    assert table.games.tolist() == [200, 300]


def test_cycles_are_found_only_where_they_are_sure():
    def results(n):
        return pd.DataFrame(
            [
                ("rock", "scissors", n, 0, 0),
                ("scissors", "paper", n, 0, 0),
                ("paper", "rock", n, 0, 0),
            ],
            columns=COLUMNS,
        )

    assert ratings.cycles(results(20)) == [("paper", "rock", "scissors")]
    assert ratings.cycles(simulate(np.random.default_rng(5), 1000)) == []
    close = pd.DataFrame(
        [("a", "b", 11, 0, 9), ("b", "c", 11, 0, 9), ("c", "a", 11, 0, 9)], columns=COLUMNS
    )
    assert ratings.cycles(close) == []


def test_bad_results_are_refused():
    for rows, prior in (([], 0.5), ([("a", "b", -1, 0, 0)], 0.5), ([("a", "b", 1, 0, 0)], -1)):
        with pytest.raises(ValueError, match="ratings need|results need|prior must be"):
            ratings.fit(pd.DataFrame(rows, columns=COLUMNS), prior)
    with pytest.raises(ValueError, match="never met"):
        ratings.fit(
            pd.DataFrame([("a", "b", 1, 1, 1), ("c", "d", 1, 1, 1)], columns=COLUMNS), prior=0
        )
