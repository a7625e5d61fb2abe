"""Readings of open points: designs without aliases of main effects, outcomes, effects."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

from afterply.studies import papers
from afterply.studies.papers.verdicts import verdict
from afterply.studies.reports import figures
from afterply.studies.reports.specifications import (
    aliases,
    combinations,
    crossed,
    curve,
    effects,
    shares,
    whole,
)


def switches(number, levels=("text", "other")):
    return {f"S{k}": {level: {f"p{k}": level} for level in levels} for k in range(number)}


def signs(readings):
    """Levels as -1 and 1, int [readings, switches with two levels]."""
    rows = [[1 if level == "other" else -1 for level in r.levels.values()] for r in readings]
    return np.array(rows)


@pytest.mark.parametrize("number, size", [(3, None), (4, 8), (8, 16), (9, 32), (10, 64), (16, 32)])
def test_no_effect_of_one_switch_is_mixed_up_with_one_or_two_others(number, size):
    """By brute force: no product of one to three columns of the design is constant."""
    readings = combinations(switches(number), size)
    design = signs(readings)
    assert len({tuple(row) for row in design}) == len(design) == (size or 2**number)
    assert (design[0] == -1).all() and readings[0].arm == ""
    for several in (1, 2, 3):
        for chosen in itertools.combinations(range(number), several):
            assert abs(design[:, chosen].prod(axis=1).sum()) < len(design)


@pytest.mark.parametrize("number, size", [(4, 8), (8, 16), (10, 64), (5, None)])
def test_pairs_that_cannot_be_told_apart_are_named(number, size):
    """By brute force: those whose products of columns are equal, up to the sign."""
    readings = combinations(switches(number), size)
    design = signs(readings)
    pairs = list(itertools.combinations(range(number), 2))
    alike = set()
    for one, other in itertools.combinations(pairs, 2):
        product = design[:, one].prod(axis=1) * design[:, other].prod(axis=1)
        if abs(product.sum()) == len(design):
            alike.add(frozenset("S{} × S{}".format(*pair) for pair in (one, other)))
    named = set()
    for group in aliases(readings):
        named |= set(map(frozenset, itertools.combinations(group, 2)))
    assert named == alike


def test_switches_with_several_levels_are_combined_with_the_fraction():
    three = {"T": {level: {"t": level} for level in "abc"}}
    readings = combinations(switches(4) | three, 8)
    assert len(readings) == 24 and readings[0].arm == ""
    for level in "abc":
        of_level = [r for r in readings if r.levels["T"] == level]
        assert len(of_level) == 8 and {r.settings["t"] for r in of_level} == {level}


@pytest.mark.parametrize("number, size, least", [(9, 16, 32), (5, 12, 16), (3, 4, 8)])
def test_a_fraction_that_is_too_small_is_refused(number, size, least):
    with pytest.raises(ValueError, match=f"size={size} .* power of two from {least} on"):
        combinations(switches(number), size)
    with pytest.raises(ValueError, match="'S0' has the levels"):
        combinations(switches(1, ["text"]))


def rows_of(readings, values_of, **columns):
    """Rows as of `curve`, of one value."""
    rows = []
    for reading in readings:
        values = np.asarray(values_of(reading), float)
        row = {"id": "a", "reading": reading.arm, "values": values, "runs": len(values)}
        rows.append(row | reading.levels | columns)
    return pd.DataFrame(rows)


def test_effects_are_those_of_a_model_with_interactions():
    """In a fraction, too: 3 for S0, and nothing of what two switches do together."""
    readings = combinations(switches(8), 16)

    def values(reading):
        s = [level == "other" for level in reading.levels.values()]
        centred = [2 * x - 1 for x in s]
        return [3 * s[0] - 2 * s[5] + 5 * centred[1] * centred[2] + noise for noise in (-1, 0, 1)]

    found = effects(rows_of(readings, values)).set_index("switch")
    expected = {f"S{k}": 0.0 for k in range(8)} | {"S0": 3.0, "S5": -2.0}
    assert found["effect"].to_dict() == pytest.approx(expected, abs=1e-12)
    assert list(found.index[:2]) == ["S0", "S5"]
    # 48 values of variance 1, in arms of three: t with 32 degrees of freedom
    half = (found["high"] - found["low"]) / 2
    np.testing.assert_allclose(half, 2.036933 * np.sqrt(4 / 48), rtol=1e-6)


def test_readings_of_the_same_trainings_are_one_sample():
    """A switch that always adds 1 to whatever a training gave has no error at all."""
    readings = crossed(combinations(switches(2)), {"M": {"as it is": {}, "one more": {"x": 1}}})
    rng = np.random.default_rng(1)
    noise = {reading.arm: rng.normal(size=3) for reading in readings}
    table = rows_of(readings, lambda r: noise[r.arm] + (r.levels["M"] == "one more"))
    found = effects(table).set_index("switch")
    assert found.loc["M", ["effect", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    assert found.loc["S0", "high"] - found.loc["S0", "low"] > 0.5
    with pytest.raises(ValueError, match="of 2 values"):
        effects(pd.concat([table, table.assign(id="b")]))


def results(values):
    """A table of a study: (arm, columns) -> values of its runs."""
    rows = []
    for (arm, measure, variant), of_runs in values.items():
        for run, value in enumerate(of_runs):
            place = {"study": "mine", "arm": arm, "run": run, "episode": 10}
            rows.append(place | {"measure": measure, "variant": variant, "value": float(value)})
    return pd.DataFrame(rows)


def test_a_curve_says_of_each_reading_what_the_test_of_the_value_says():
    (claim,) = [c for c in papers.load("konen2021").claims if c.id.endswith("nim-maxn15/farl")]
    claim = dataclasses.replace(claim, select={"measure": "win_rate"})
    readings = crossed(combinations(switches(1)), {"M": {"a": {}, "b": {"variant": "b"}}})
    values = {
        ("FARL", "win_rate", ""): [50, 50, 50],
        ("FARL", "win_rate", "b"): [30, 31, 32],
        ("FARL, S0: other", "win_rate", ""): [49.5, 50, 50.5],
    }
    found = curve([claim], readings, results(values))
    assert found["outcome"].tolist() == ["gives it", "does not", "gives it", "not tried"]
    for row in found[found["runs"] > 0].itertuples():
        said = verdict(row.values, 50, claim.margin, 1, 10, better="higher").label
        assert (said in ("reproduced", "consistent")) == (row.outcome == "gives it")
    (counted,) = shares(found).to_dict("records")
    assert (counted["readings"], counted["gives it"]) == (4, 2)
    assert effects(found).empty  # one reading has no training: effects would be mixed up
    (counted,) = shares(found[:2]).to_dict("records")
    assert (counted["switch"], counted["effect"]) == ("M", -19)
    figure, data = figures.specification_curves([found], "win rate")
    assert data["value"].is_monotonic_increasing and len(data) == 3
    bars, _ = figures.shares_of_readings(shares(found))
    assert bars.axes[0].get_xlim() == (0, 100) and "FARL" in figure.svg() + bars.svg()


def test_a_table_of_cells_is_as_near_as_its_trainings_are():
    cells = [c for c in papers.load("jamieson2022").claims if c.place.get("table") == "7"]
    cell = next(c for c in cells if isinstance(c.value, dict) and c.target)
    claim = dataclasses.replace(cell, select={})
    values = {}
    for outcome, printed in claim.value.items():
        values[claim.arm, outcome, ""] = [printed, printed, printed]
        values[f"{claim.arm}, S0: other", outcome, ""] = [printed, printed, 0]
    found = curve([claim], combinations(switches(1)), results(values))
    assert found["values"][0].tolist() == [0, 0, 0]
    assert found["values"][1].tolist() == [0, 0, sum(claim.value.values()) / 2]
    table = whole(found)
    assert table["given"].tolist() == [1, int(found["outcome"][1] == "gives it")]
    assert table["value"].tolist() == pytest.approx([0, found["values"][1].mean() / claim.margin])
