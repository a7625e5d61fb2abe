"""Tables of means: the numbers of the groups, and what stands in no group is left out."""

import pandas as pd
import pytest

from afterply import stats
from afterply.reports import summaries


@pytest.fixture
def table():
    points = {
        "win_rate:A": (5, [40.0, 60.0]),
        "win_rate:B": (10, [98.0, 100.0]),
        "moves-7": (10, [3.0, 5.0]),
    }
    rows = [
        (arm, run, episode, metric, value + shift)
        for arm, shift in (("x", 0.0), ("y", -1.0))
        for metric, (episode, values) in points.items()
        for run, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["arm", "run", "episode", "metric", "value"])


def test_means_of_groups_end_where_rates_end_and_bear_their_names(table):
    found = summaries.means(table).set_index(["arm", "metric"])
    assert found["runs"].tolist() == [2] * 6 and found["mean"]["x", "win_rate:A"] == 50.0
    assert found["95% high"]["x", "win_rate:B"] == 100.0
    assert found["95% high"]["x", "moves-7"] == stats.mean_interval([3.0, 5.0]).high
    found = summaries.means(table, names={"moves-7": "moves"}, unit="agents", mean="number")
    assert found.columns.tolist()[:4] == ["arm", "metric", "agents", "number"]
    assert found["metric"].tolist() == ["moves"] * 2 and found["number"].tolist() == [4.0, 3.0]


def test_an_effect_has_a_word_and_all_intervals_hold_together():
    values = {"all": [80.0, 84.0, 82.0], "none": [20.0, 24.0, 22.0], "same": [81.0, 82.0, 83.0]}
    values |= {"wild": [40.0, 100.0, 90.0], "few": [1.0, 2.0]}
    rows = [(arm, k, 9, "m", v / 2) for arm, own in values.items() for k, v in enumerate(own)]
    table = pd.DataFrame(rows, columns=["arm", "run", "episode", "metric", "value"])
    words = {"none": "helps", "same": "no difference", "wild": "open"}
    pairs = {("a", arm): ("all", arm, "m", 50.0) for arm in [*words, "few"]}
    found = summaries.effects(table, pairs, margin=12).set_index("column")
    assert found.verdict.to_dict() == words  # with fewer than three runs there is none
    assert found.loc["none", ["runs with", "effect"]].tolist() == [3, 60.0]
    turned = {("a", "none"): ("none", "all", "m", 50.0)}
    alone = summaries.effects(table, turned, margin=12).iloc[0]
    assert alone.verdict == "harms" and alone.effect == -60.0
    assert -60.0 - alone.low < 60.0 - found.low["none"]  # one interval is narrower than four


def test_last_values_and_finals_are_those_of_the_last_episode(table):
    assert set(summaries.finals(table)["metric"]) == {"win_rate:B", "moves-7"}
    assert summaries.last_values(table, "x", "win_rate:A").tolist() == [40.0, 60.0]
    assert summaries.last_values(table, "z", "win_rate:A").size == 0


def test_rows_become_lines_of_a_figure(table):
    rates = table[table["metric"].str.startswith("win_rate")]
    assert set(summaries.by_opponent(rates)["arm"]) == {"x vs A", "x vs B", "y vs A", "y vs B"}
    numbered = summaries.by_number(table[table["metric"] == "moves-7"], "moves")
    assert set(numbered["episode"]) == {7} and set(numbered["metric"]) == {"moves"}
    curve = summaries.logged("konen2021")["connect4"]["farl_curve"]["AB"]
    both = summaries.with_logs(numbered, {"theirs": curve}, "moves")
    assert both["arm"].tolist() == ["x", "x", "y", "y", *["theirs"] * len(curve)]
    assert both["value"].tolist()[4:] == list(curve.values())
    assert len(summaries.with_logs(numbered[:0], {}, "moves")) == 0
