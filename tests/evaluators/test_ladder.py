"""The evaluator of ladders, and what a study makes of its values."""

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.arena import exact
from afterstate.learners import tabular
from afterstate.papers.jamieson2022.weaker_ladder import Ladder, smoothness, trained
from afterstate.players import agents, weaken

GAME, DIALS = games.load("tictactoe"), (0.0, 0.5, 1.0)


@pytest.mark.slow
def test_the_evaluator_rates_every_rung_and_counts_cycles():
    session = tabular.Session(GAME, {"snapshots": weaken.milestones(2000, DIALS)}, seed=1)
    session.train(2000)
    found = Ladder(n=2000, dials=DIALS)(GAME, session.net, seed=5)
    assert found == Ladder(n=2000, dials=DIALS)(GAME, session.net, seed=5)
    names = {f"{m} {d:g}:{k}" for m in weaken.METHODS for d in DIALS for k in ("rating", "score")}
    assert names < set(found)
    assert found["careless 0:rating"] == pytest.approx(0, abs=1)
    assert found["careless 0.5:rating"] < found["careless 1:rating"] == found["noise 1:rating"]
    agent, random = weaken.weakened(session.net, "careless", 0.5), agents.chance(GAME)
    first, second = exact.outcome(GAME, agent, random), exact.outcome(GAME, random, agent)
    points = 50 * (first.win + second.loss + (first.draw + second.draw) / 2)
    assert found["careless 0.5:score"] == pytest.approx(points)
    assert found["careless 0.5:loss"] == pytest.approx(50 * (first.loss + second.win))
    assert 0 <= found["cycles"] <= found["triples"] and 0 < found["misfit"] < 30


def test_smoothness_of_ladders_made_by_hand():
    made = {"jump": [0, 10, 20, 390, 400], "back": [0, 200, 100, 300, 400]}
    made["even"] = [0, 100, 200, 300, 400]
    rows = [
        (name, k / 4, run, value + run)
        for name, values in made.items()
        for run in (0, 1)
        for k, value in enumerate(values)
    ]
    table = pd.DataFrame(rows, columns=["method", "dial", "run", "value"])
    found = smoothness(table).set_index("method")
    assert found.largest_step.to_dict() == {"even": 25, "back": 50, "jump": 92.5}
    assert list(found.index) == ["even", "back", "jump"]
    assert found.wrong_steps.to_dict() == {"even": 0, "back": 25, "jump": 0}
    assert (found.least == 25).all() and (found["range"] == 400).all()


def test_trainings_make_a_ladder():
    rows = [("weak", 0, "table 1:rating", 100.0), ("full", 0, "snapshots 1:rating", 300.0)]
    table = pd.DataFrame(rows, columns=["arm", "run", "metric", "value"])
    found = trained(table, {"way": ["weak", "full"]}).sort_values("dial")[["dial", "value"]]
    assert np.array_equal(found.to_numpy(float), [[0, 0], [0.5, 100], [1, 300]])
