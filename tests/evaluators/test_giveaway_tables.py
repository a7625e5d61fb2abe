"""Tables and comparisons of the study of give-away checkers, and their figures."""

import itertools

import numpy as np
import pandas as pd
import pytest

from afterstate.papers.mandziuk2004 import giveaway_figures as figures
from afterstate.papers.mandziuk2004 import giveaway_tables as tables
from afterstate.stats import mean_interval

LL, LB = "LL, strong opponents", "LB, strong opponents"
BLOCKS = ("training_points:1-2500", "training_points:2501-5000")


def results(values):
    """A study's table of {(arm, run, metric): value} after 5,000 games."""
    rows = [("s", arm, run, 5000, metric, v) for (arm, run, metric), v in values.items()]
    return pd.DataFrame(rows, columns=["study", "arm", "run", "episode", "metric", "value"])


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
    lb = [50.0 + run for run in range(20)]
    first = made.loc["1-2500"]
    assert (first["LL", "paper"], first["LB", "paper"]) == ("61.8%", "-")
    assert tuple(first["LB"][["mean", "low", "high"]]) == pytest.approx(mean_interval(lb))
    assert first["LB", "sd"] == pytest.approx(np.std(lb, ddof=1)) and first["LB", "learners"] == 20
    assert tables.phase_table(study(), "random", "training_points", ("LL",), {}).empty
    several = results({(LL, 0, f"test_points:after-{n}"): 1.0 for n in (10000, 7500)})
    made = tables.phase_table(several, "strong", "test_points", ("LL",), {})
    assert list(made.index) == ["after-7500", "after-10000"] and np.isnan(made["LL", "low"]).all()


def test_learners_are_paired_and_repetitions_are_means_of_whole_groups():
    table = study()
    by_learner = tables.paired(table, LL, LB, BLOCKS)
    assert by_learner.tolist() == [1.0] * 10 + [3.0] * 10
    assert tables.paired(table, LL, LB, BLOCKS[0], "repetitions").to_dict() == {0: 1.0, 1: 3.0}
    partly = table[~((table.arm == LB) & (table.run == 13))]  # one learner has not finished
    assert tables.paired(partly, LL, LB, BLOCKS).index.tolist() == [*range(13), *range(14, 20)]
    assert tables.paired(partly, LL, LB, BLOCKS, "repetitions").to_dict() == {0: 1.0}
    assert not len(tables.paired(table, LL, "3L, strong opponents", BLOCKS))
    untested = table[~((table.arm == LB) & (table.run == 13) & (table.metric == BLOCKS[0]))]
    assert 13 not in tables.paired(untested, LL, LB, BLOCKS).index
    made = tables.phase_table(untested, "strong", "training_points", ("LB",), {})
    assert made["LB", "learners"].tolist() == [19, 20]


def test_comparisons_have_an_interval_and_are_judged():
    found = tables.comparison(study(), {"x": (LL, LB, BLOCKS), "none": (LL, "3L", BLOCKS)})
    assert found[["comparison", "unit", "values"]].values.tolist() == [
        ["x", "learners", 20],
        ["x", "repetitions", 2],
    ]
    learners, repetitions = found.to_dict("records")
    assert (learners["mean"], repetitions["mean"]) == (2.0, 2.0)
    assert learners["low"] == pytest.approx(mean_interval([1.0] * 10 + [3.0] * 10).low)
    assert tables.judgement(learners) == "holds" and tables.judgement(repetitions) == "undecided"
    assert tables.judgement({"low": -3.0, "high": -1.0}) == "does not hold"
    single = tables.comparison(study(10), {"one": (LL, LB, BLOCKS)}, ("repetitions",))
    assert tables.judgement(single.to_dict("records")[0]) == "undecided (one value)"
    assert tables.comparison(study(), {}).empty
    figure, data = figures.differences(found, "points", "title")
    text = figure.svg()
    assert data is found and "x (20)" in text and "x (2)" in text
    assert figures.CLEAR in text and figures.GREY in text
    assert "one (1)" in figures.differences(single, "points")[0].svg()


def test_histories_of_the_best_learner_and_of_all():
    rows = [
        ("s", LL, run, episode, "points", 10.0 * run + episode / 25)
        for run in range(10)
        for episode in (25, 50)
    ]
    table = pd.DataFrame(rows, columns=["study", "arm", "run", "episode", "metric", "value"])
    data = tables.histories(table, {"losses": LL, "both": LB})
    assert data.panel.unique().tolist() == ["losses"] and data.number.unique().tolist() == [9]
    assert data.best.tolist() == [91.0, 92.0] and data["mean"].tolist() == [46.0, 47.0]
    assert data.low.tolist() == pytest.approx([10.0, 11.0]) and data.learners.tolist() == [10, 10]
    assert tables.histories(table, {"both": LB}).empty
    figure, drawn = figures.histories(data, "points", "title")
    assert drawn is data and "losses: 10 learners, best: no. 10" in figure.svg()
    empty, _ = figures.histories(tables.histories(table, {"both": LB}), "points")
    assert empty.svg() == figures.histories(data[:0], "points")[0].svg()


def test_differences_are_drawn_with_their_numbers():
    found = tables.comparison(study(), {"LL - LB": (LL, LB, BLOCKS)})
    figure, data = figures.differences(found, "points", "title")
    text = figure.svg()
    assert data is found and "LL - LB (20)" in text and "LL - LB (2)" in text
    assert figures.CLEAR in text and figures.GREY in text
    single = tables.comparison(study(10), {"one": (LL, LB, BLOCKS)}, ("repetitions",))
    assert "one (1)" in figures.differences(single, "points")[0].svg()
