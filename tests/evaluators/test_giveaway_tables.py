"""Tables, comparisons and figures of the study of give-away checkers, and the learners it keeps."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.files import read_npz
from afterstate.papers.mandziuk2004 import giveaway_tables as tables
from afterstate.papers.mandziuk2004 import td_search
from afterstate.papers.mandziuk2004.linear_search import random_weights
from afterstate.stats import mean_interval

LL, LB = "LL, strong opponents", "LB, strong opponents"
BLOCKS = ("training_points:1-2500", "training_points:2501-5000")
COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]


def results(values):
    """A study's table of {(arm, run, metric): value} after 5,000 games."""
    rows = [("s", arm, run, 5000, metric, v) for (arm, run, metric), v in values.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


def study(runs=20):
    """LL above LB by 1 in the first repetition and by 3 in the second, in both blocks."""
    values = {}
    for run, (block, metric) in itertools.product(range(runs), enumerate(BLOCKS)):
        values[LB, run, metric] = 50.0 + run + block
        values[LL, run, metric] = values[LB, run, metric] + (1.0 if run < 10 else 3.0)
    return results(values)


def test_a_part_of_table_1_has_paper_mean_interval_and_spread():
    printed = {(LL, BLOCKS[0]): "61.8%"}
    made = tables.phase_table(study(), "strong", "training_points", ("LL", "LB", "3L"), printed)
    assert list(made.index) == ["1-2500", "2501-5000"]
    assert {method for method, _ in made.columns} == {"LL", "LB"}
    lb, first = [50.0 + run for run in range(20)], made.loc["1-2500"]
    assert (first["LL", "paper"], first["LB", "paper"]) == ("61.8%", "-")
    assert tuple(first["LB"][["mean", "low", "high"]]) == pytest.approx(mean_interval(lb))
    assert first["LB", "sd"] == pytest.approx(np.std(lb, ddof=1)) and first["LB", "learners"] == 20
    assert tables.phase_table(study(), "random", "training_points", ("LL",), {}).empty
    several = results({(LL, 0, f"test_points:after-{n}"): 1.0 for n in (10000, 7500)})
    made = tables.phase_table(several, "strong", "test_points", ("LL",), {})
    assert list(made.index) == ["after-7500", "after-10000"] and np.isnan(made["LL", "low"]).all()


def test_learners_are_paired_and_repetitions_are_means_of_whole_groups():
    table = study()
    assert tables.paired(table, LL, LB, BLOCKS).tolist() == [1.0] * 10 + [3.0] * 10
    assert tables.paired(table, LL, LB, BLOCKS[0], "repetitions").to_dict() == {0: 1.0, 1: 3.0}
    partly = table[~((table.arm == LB) & (table.run == 13))]  # one learner has not finished
    assert tables.paired(partly, LL, LB, BLOCKS).index.tolist() == [*range(13), *range(14, 20)]
    assert tables.paired(partly, LL, LB, BLOCKS, "repetitions").to_dict() == {0: 1.0}
    assert not len(tables.paired(table, LL, "3L, strong opponents", BLOCKS))
    untested = table[~((table.arm == LB) & (table.run == 13) & (table.metric == BLOCKS[0]))]
    assert 13 not in tables.paired(untested, LL, LB, BLOCKS).index
    made = tables.phase_table(untested, "strong", "training_points", ("LB",), {})
    assert made["LB", "learners"].tolist() == [19, 20]


def test_comparisons_have_an_interval_are_judged_and_drawn():
    found = tables.comparison(study(), {"x": (LL, LB, BLOCKS), "none": (LL, "3L", BLOCKS)})
    assert found.iloc[:, :4].values.tolist() == [
        ["x", "learners", 20, 2.0],
        ["x", "repetitions", 2, 2.0],
    ]
    learners, repetitions = found.to_dict("records")
    assert learners["low"] == pytest.approx(mean_interval([1.0] * 10 + [3.0] * 10).low)
    assert tables.judgement(learners) == "holds" and tables.judgement(repetitions) == "undecided"
    assert tables.judgement({"low": -3.0, "high": -1.0}) == "does not hold"
    single = tables.comparison(study(10), {"one": (LL, LB, BLOCKS)}, ("repetitions",))
    assert tables.judgement(single.to_dict("records")[0]) == "undecided (one value)"
    assert tables.comparison(study(), {}).empty
    figure, data = tables.draw_differences(found, "points", "title")
    assert data is found
    for part in ("x (20)", "x (2)", tables.CLEAR, tables.GREY):
        assert part in figure.svg()
    assert "one (1)" in tables.draw_differences(single, "points")[0].svg()


def test_histories_of_the_best_learner_and_of_all():
    rows = [
        ("s", LL, run, episode, "points", 10.0 * run + episode / 25)
        for run in range(10)
        for episode in (25, 50)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    data = tables.histories(table, {"losses": LL, "both": LB})
    assert data.panel.unique().tolist() == ["losses"] and data.number.unique().tolist() == [9]
    assert data.best.tolist() == [91.0, 92.0] and data["mean"].tolist() == [46.0, 47.0]
    assert data.low.tolist() == pytest.approx([10.0, 11.0]) and data.learners.tolist() == [10, 10]
    figure, drawn = tables.draw_histories(data, "points", "title")
    assert drawn is data and "losses: 10 learners, best: no. 10" in figure.svg()
    assert tables.draw_histories(tables.histories(table, {"both": LB}), "points")[0].svg()


def test_finished_learners_are_kept_and_more_are_added(tmp_path, monkeypatch):
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path))
    session = td_search.Session(games.load("giveaway"), {"depth": 1})
    drawn = {m: list(random_weights(30, "kept", m)) for m in ("LL", "LB")}
    other = {m: [-w for w in rows] for m, rows in drawn.items()}

    def keep(vectors, keeps_records=True):
        records = {
            (m, k): w if w is None else {"statistics": {"weights": w.tolist()}}
            for m, rows in vectors.items()
            for k, w in enumerate(rows)
        }
        arms = {m: [] for m in vectors}
        for key in records:
            arms[key[0]].append(SimpleNamespace(records=records, job=SimpleNamespace(key=key)))
        made = SimpleNamespace(arms=arms, keeps_records=keeps_records)
        return tables.keep_weights(made, "learners.npz", session, {m: m for m in vectors})

    assert keep({"LL": drawn["LL"][:9], "LB": drawn["LB"]}) == 0
    assert not (tmp_path / "learners.npz").exists()
    assert keep({"LL": drawn["LL"], "LB": [*drawn["LB"][:15], None, *drawn["LB"][16:]]}) == 10
    assert keep({m: rows[:10] for m, rows in other.items()}) == 10  # as they were
    assert keep({m: rows[:20] for m, rows in other.items()}) == 20
    for method, rows in read_npz(tmp_path / "learners.npz")[1].items():
        assert np.array_equal(rows, np.array([*drawn[method][:10], *other[method][10:20]]))
    assert keep({m: rows[:10] for m, rows in other.items()}, keeps_records=False) == 10
    kept = read_npz(tmp_path / "learners.npz")[1]["LL"]
    assert np.array_equal(kept, np.array(other["LL"][:10]))
