"""Tables of means: the numbers of the groups, and what stands in no group is left out."""

import math

import pandas as pd
import pytest

from afterply import stats
from afterply.studies.reports import summaries


@pytest.fixture
def table():
    points = {
        ("win_rate", "A", math.nan): (5, [40.0, 60.0]),
        ("win_rate", "B", math.nan): (10, [98.0, 100.0]),
        ("moves", "", 7.0): (10, [3.0, 5.0]),
    }
    rows = [
        (arm, run, episode, *columns, value + shift)
        for arm, shift in (("x", 0.0), ("y", -1.0))
        for columns, (episode, values) in points.items()
        for run, value in enumerate(values)
    ]
    names = ["arm", "run", "episode", "measure", "opponent", "level", "value"]
    return pd.DataFrame(rows, columns=names)


def test_means_of_groups_end_where_rates_end_and_bear_their_names(table):
    found = summaries.means(table).set_index(["arm", "measure", "opponent"])
    assert found["runs"].tolist() == [2] * 6 and found["mean"]["x", "win_rate", "A"] == 50.0
    assert found["95% high"]["x", "win_rate", "B"] == 100.0
    assert found["95% high"]["x", "moves", ""] == stats.mean_interval([3.0, 5.0]).high
    assert "seat" not in summaries.means(table.assign(seat="")), "nothing fills it"
    names = {"moves at level 7": {"measure": "moves", "level": 7}, "none": {"measure": "gone"}}
    found = summaries.means(table, names, unit="agents", mean="number")
    assert found.columns.tolist()[:4] == ["arm", "result", "agents", "number"]
    assert found["result"].tolist() == ["moves at level 7"] * 2
    assert found["number"].tolist() == [4.0, 3.0]


def test_an_effect_has_a_word_and_all_intervals_hold_together():
    values = {"all": [80.0, 84.0, 82.0], "none": [20.0, 24.0, 22.0], "same": [81.0, 82.0, 83.0]}
    values |= {"wild": [40.0, 100.0, 90.0], "few": [1.0, 2.0]}
    rows = [(arm, k, 9, "m", v / 2) for arm, own in values.items() for k, v in enumerate(own)]
    table = pd.DataFrame(rows, columns=["arm", "run", "episode", "measure", "value"])
    words = {"none": "helps", "same": "no difference", "wild": "open"}
    pairs = {("a", arm): ("all", arm, {"measure": "m"}, 50.0) for arm in [*words, "few"]}
    found = summaries.effects(table, pairs, margin=12).set_index("column")
    assert found.verdict.to_dict() == words  # with fewer than three runs there is none
    assert found.loc["none", ["runs with", "effect"]].tolist() == [3, 60.0]
    turned = {("a", "none"): ("none", "all", {"measure": "m"}, 50.0)}
    alone = summaries.effects(table, turned, margin=12).iloc[0]
    assert alone.verdict == "harms" and alone.effect == -60.0
    assert -60.0 - alone.low < 60.0 - found.low["none"]  # one interval is narrower than four
    assert summaries.cells_of(found.reset_index())["a, none"][:2] == ("helps", 60.0)


def test_at_the_ceiling_nothing_is_said_of_a_part_and_a_small_gain_is_one():
    values = {"all": [95.0, 96.0, 97.0], "near": [93.0, 93.0, 93.1], "far": [89.0, 89.0, 89.1]}
    rows = [(arm, k, 9, "m", v) for arm, own in values.items() for k, v in enumerate(own)]
    table = pd.DataFrame(rows, columns=["arm", "run", "episode", "measure", "value"])
    pairs = {("a", arm): ("all", arm, {"measure": "m"}, 100.0) for arm in ("near", "far", "all")}
    found = summaries.effects(table, pairs, margin=10).set_index("column")
    # 95% and more against 89%: the best lies further than 10 from the second
    words = {"near": "both at the ceiling", "far": "helps", "all": "both at the ceiling"}
    assert found.verdict.to_dict() == words
    # where 100 is no best there is no ceiling; a gain is one within the margin, too
    found = summaries.effects(table, pairs, margin=40, unbounded=["a"]).set_index("column")
    words = {"near": "no difference", "far": "helps", "all": "no difference"}
    assert found.verdict.to_dict() == words and found.high["far"] < 40


def test_an_own_arm_that_is_short_stands_beside_no_whole_training(table):
    own = table[(table.arm == "x") & (table.measure == "win_rate")].assign(arm="mine", like="x")
    both = pd.concat([table.assign(like=""), own], ignore_index=True)
    assert set(summaries.finals(both).arm) == {"x", "y", "mine"}
    short = both[(both.arm != "mine") | (both.episode < 10)]
    assert set(summaries.finals(short).arm) == {"x", "y"}
    assert summaries.finals(short).drop(columns="like").equals(summaries.finals(table))


def test_last_values_and_finals_are_those_of_the_last_episode(table):
    assert set(summaries.finals(table)["opponent"]) == {"B", ""}
    columns = {"measure": "win_rate", "opponent": "A"}
    assert summaries.last_values(table, "x", **columns).tolist() == [40.0, 60.0]
    assert summaries.last_values(table, "z", **columns).size == 0
    wide = summaries.by_run(table, "x")
    assert wide["win_rate, opponent B"].tolist() == [98.0, 100.0]
    assert wide["moves, level 7"].tolist() == [3.0, 5.0] and len(wide.columns) == 2


def test_logged_curves_become_lines_of_a_figure(table):
    moves = table[table["measure"] == "moves"]
    curve = summaries.logged("konen2021")["connect4"]["farl_curve"]["AB"]
    for x in ("episode", "level"):
        both = summaries.with_logs(moves, {"theirs": curve}, x)
        assert both["arm"].tolist() == ["x", "x", "y", "y", *["theirs"] * len(curve)]
        assert both["value"].tolist()[4:] == list(curve.values())
        assert both[x].tolist()[4:] == list(curve)
    assert len(summaries.with_logs(moves[:0], {})) == 0


def test_a_long_table_of_verdicts_is_folded_behind_what_it_says():
    row = {"unit": "percent", "place": "Table 1", "printed": "50%", "ours": "49", "explanation": ""}
    verdicts = pd.DataFrame(
        [row | {"verdict": "reproduced"}] * 12 + [row | {"verdict": "not run"}] * 4
    )
    page = summaries.verdict_table(verdicts)._repr_html_()
    assert page.startswith("<details><summary>All 16 values: 12 reproduced, 4 not run</summary>")
    assert page.count("Table 1") == 16
    assert "<details>" not in summaries.verdict_table(verdicts[:5])._repr_html_()
    timed = pd.concat([verdicts[:5], verdicts.assign(unit="time")])
    assert "<details>" not in summaries.verdict_table(timed)._repr_html_()


def test_side_by_side_has_a_column_an_arm_in_the_order_of_its_means(table):
    rate = {"measure": "win_rate"}
    names = {"level 10": rate | {"opponent": "B"}, "level 9": rate | {"opponent": "A"}}
    found = summaries.means(table, names).sort_values("result", kind="stable")
    found["runs"] = [3, 2, 2, 2]
    found.loc[found["result"] == "level 9", ["95% low", "95% high"]] = math.nan  # one run
    shown = summaries.side_by_side(found, 0).data
    assert shown.columns.tolist() == ["x (2 to 3 runs)", "y (2 runs)"]
    assert shown.index.tolist() == ["level 10", "level 9"]  # as numbers, not as texts, if so given
    assert shown.loc["level 9"].tolist() == ["50", "49"]
    assert shown.loc["level 10", "x (2 to 3 runs)"].startswith("99 [")
