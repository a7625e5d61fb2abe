"""Rows with columns: what an evaluator may return, what a selection means, how tables join."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from afterply.studies import results
from afterply.studies.results import (
    PLACE,
    Collected,
    as_rows,
    by_columns,
    in_words,
    joined,
    key,
    select,
)

ROWS = [
    {"measure": "win_rate", "opponent": "AB"},
    {"measure": "win_rate", "opponent": "AB", "seat": "first"},
    {"measure": "win_rate", "opponent": "AB", "iterations": 100},
    {"measure": "win_rate", "opponent": "AB", "iterations": 1000, "c_puct": 10},
    {"measure": "win_rate", "opponent": "AB-DL"},
    {"measure": "mistakes", "ply": 0},
    {"measure": "mistakes", "ply": 7},
    {"measure": "mistakes"},
]


def collected(rows=ROWS, arm="a", run=0, episodes=(10, 20)):
    found = Collected()
    values = [[100.0 * k + e for e in episodes] for k in range(len(rows))]
    found.add(run, {"rows": rows, "episode": list(episodes), "values": values})
    table = found.table()
    table.insert(0, "study", "s")
    table.insert(1, "arm", arm)
    return table


@pytest.mark.parametrize("k, row", enumerate(ROWS))
def test_a_selection_names_all_columns_that_are_filled(k, row):
    assert select(collected(), **row).value.tolist() == [100.0 * k + 10, 100.0 * k + 20]


def test_a_selection_by_lists_by_what_is_filled_and_by_place():
    table = collected()
    both = select(table, measure="win_rate", opponent=["AB", "AB-DL"])
    assert set(both.value // 100) == {0, 4}
    assert set(select(table, measure="mistakes", ply=...).value // 100) == {5, 6}
    assert select(table, measure="mistakes", ply=0).value.tolist() == [510, 520]
    assert select(table, measure="mistakes", episode=20).value.tolist() == [720]
    assert select(table, measure="mistakes", twists=3).empty, "nobody measured it"
    assert len(select(table, measure="mistakes", twists="")) == 2, "nothing is asked of it"


def test_every_row_is_found_by_its_columns_and_no_two_fall_together():
    table = collected()
    found = by_columns(table)
    assert set(found) == {("s", "a", key(row)) for row in ROWS}
    assert sum(map(len, found.values())) == len(table)
    for row in ROWS:
        rows = found["s", "a", key(row)]
        assert [*rows.columns] == [*PLACE, "measure", "value"]
        pd.testing.assert_frame_equal(rows, select(table, **row)[rows.columns])


def test_a_key_does_not_depend_on_order_kind_of_number_or_what_is_empty():
    columns = {"measure": "x", "iterations": 100, "seat": "first"}
    empty = {"opponent": "", "ply": None, "level": math.nan}
    for names in itertools.permutations(columns):
        assert key({n: columns[n] for n in names} | empty) == key(columns)
    assert key({"measure": "x", "ply": 3}) == key({"ply": np.float64(3.0), "measure": "x"})
    assert key({"measure": "x", "ply": 3}) != key({"measure": "x", "ply": 4})
    assert key({"measure": "x", "ply": 0}) != key({"measure": "x"}), "0 is a number"


def test_in_words():
    assert in_words(key(ROWS[3])) == "win_rate, opponent AB, iterations 1000, c_puct 10"
    assert in_words({"own": "word", "measure": "x", "dial": 0.25}) == "x, dial 0.25, own word"


@pytest.mark.parametrize(
    "found",
    [
        {},
        [],
        {"a": math.nan},
        {"a": math.inf},
        {"a": "word"},
        {"": 1.0},
        3.0,
        None,
        [{"measure": "a"}],
        [{"value": 1.0}],
        [{"measure": "a", "value": 1.0, "run": 3}],
        [{"measure": "a", "value": 1.0, "episode": 3}],
        [{"measure": "a", "value": 1.0, "ply": math.inf}],
        [{"measure": "a", "value": 1.0, "seat": ["first"]}],
        [{"measure": "a", "value": 1.0, "seat": True}],
        [{"measure": "a", "value": 1.0}, {"measure": "a", "value": 1.0, "seat": ""}],
    ],
)
def test_an_evaluator_that_returns_something_else_is_named(found):
    with pytest.raises(ValueError, match="the evaluator 'mine' must return"):
        as_rows(found, "mine")


def test_what_an_evaluator_may_return():
    assert as_rows({"a:b c": 1}, "mine") == ([{"measure": "a:b c"}], [1.0])
    row = {"measure": "a", "own": "word", "level": np.int64(3), "dial": 0.5, "value": np.float32(2)}
    columns = {"measure": "a", "own": "word", "level": 3, "dial": 0.5}
    assert as_rows([row], "mine") == ([columns], [2.0])
    assert {type(v) for v in as_rows([row], "mine")[0][0].values()} == {str, int, float}


def test_a_later_value_replaces_an_earlier_one_of_the_same_columns():
    found = Collected()
    found.add(0, {"rows": ROWS[:2], "episode": [1, 2], "values": [[1, 2], [3, 4]]})
    found.add(0, {"rows": [dict(ROWS[1])], "episode": [2], "values": [[9]]})
    found.add(1, {"rows": ROWS[:1], "episode": [2], "values": [[5]]})
    table = found.table()
    assert table.value.tolist() == [1, 2, 3, 9, 5] and table.run.tolist() == [0, 0, 0, 0, 1]
    assert table.seat.tolist() == ["", "", "first", "first", ""]


def test_tables_are_joined_and_what_one_does_not_name_is_empty():
    other = [{"measure": "score", "own": "word"}]
    table = joined([collected(), collected(other, "b")])
    assert select(table, measure="score", own="word").arm.tolist() == ["b", "b"]
    assert len(select(table, **ROWS[0])) == 2
    assert list(table.columns[:6]) == ["study", "arm", "run", "episode", "measure", "opponent"]
    assert table.columns[-1] == "value" and table.seat.eq("").sum() == len(table) - 2
    with pytest.raises(ValueError, match="'ply' holds words and numbers"):
        joined([collected(), collected([{"measure": "score", "ply": "last"}], "b")])


def test_no_results_are_a_table_too():
    nothing = Collected().table()
    assert list(nothing.columns) == ["run", "episode", "measure", "value"] and nothing.empty


def test_the_columns_of_this_package_have_a_meaning_each():
    assert not set(results.COLUMNS) & {*results.PLACE, "value"}
    assert results.in_percent("win_rate") and results.in_percent("my_rate")
    assert not results.in_percent("wins") and not results.in_percent("score")
