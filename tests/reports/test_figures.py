"""Figures: numbers stand in the data, files are the same each time, nothing global changes."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from afterstate import stats
from afterstate.reports import figures, intervals, picture, schematics
from afterstate.reports.panels import panels

METRIC = "win_rate:Max-N-10"


def results(runs=5, arms=("FARL", "no-FARL")):
    rng = np.random.default_rng(1)
    rows = [
        ("tictactoe", arm, run, episode, METRIC, 20.0 + 25 * place + rng.normal())
        for place, arm in enumerate(arms)
        for run in range(runs)
        for episode in (0, 100, 200)
    ]
    return pd.DataFrame(rows, columns=["study", "arm", "run", "episode", "metric", "value"])


def claim(**changes):
    return SimpleNamespace(
        **(
            {
                "id": "a/1",
                "where": "Table 1, Nim, FARL",
                "value": 49,
                "published_sem": 5.0,
                "uncertainty": {"runs": 10},
                "unit": "percent",
                "margin": 2.0,
                "arm": "FARL",
            }
            | changes
        )
    )


def comparison(**changes):
    return pd.DataFrame(
        [
            {
                "id": "a/1",
                "place": "p",
                "mean": 48.0,
                "low": 47.0,
                "high": 49.0,
                "runs": 5,
                "verdict": "reproduced",
            }
            | changes
        ]
    )


def test_curve_data_is_mean_and_interval_over_runs():
    table = results()
    data = figures.curve_data(table, METRIC, ["no-FARL", "FARL"])
    assert (
        list(data["arm"]) == ["no-FARL"] * 3 + ["FARL"] * 3
        and list(data["episode"]) == [0, 100, 200] * 2
    )
    row = data[(data["arm"] == "FARL") & (data["episode"] == 100)].iloc[0]
    values = table.loc[(table["arm"] == "FARL") & (table["episode"] == 100), "value"]
    assert (row["mean"], row["low"], row["high"], row["runs"]) == (*stats.mean_interval(values), 5)


def test_learning_curves_draw_what_the_data_says():
    figure, data = figures.learning_curves(
        results(), METRIC, ["FARL", "no-FARL", "never run"], published=[claim()], best=50
    )
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    farl = data[(data["arm"] == "FARL") & (data["kind"] == "ours")]
    np.testing.assert_array_equal(lines["FARL (5 runs)"].get_ydata(), farl["mean"])
    assert lines["FARL (5 runs)"].get_color() == figures.STYLES[0]["color"]
    assert "never run: not run" in lines and "best achievable (50)" in lines
    published = data[data["kind"] == "published"].iloc[0]
    assert (published["mean"], published["low"], published["high"]) == (49, 44, 54)
    assert figure.axes[0].child_axes[0].get_ylabel().startswith("score")


def test_intervals_end_where_no_value_can_lie():
    table = results(3, ("FARL",))
    table["value"] = table["run"].map({0: 50.0, 1: 100.0, 2: 100.0})
    _, data = figures.learning_curves(table, METRIC, ["FARL"])
    assert (data["high"] == 100).all() and data["low"].between(0, 50).all()
    _, data = figures.learning_curves(table, METRIC, ["FARL"], possible=None)
    assert (data["high"] > 100).all()


def test_one_run_has_no_interval_and_unequal_runs_are_told():
    table = results(3)
    table = table[~((table["run"] == 2) & (table["episode"] == 200))]
    figure, _ = figures.learning_curves(table, METRIC, ["FARL"])
    assert "FARL (2–3 runs)" in figure.axes[0].get_legend_handles_labels()[1]
    _, single = figures.learning_curves(results(1), METRIC, ["FARL"])
    assert single[["low", "high"]].isna().all(axis=None)


def test_means_of_others_are_named_without_a_number_of_runs():
    figure, data = figures.learning_curves(
        results(), METRIC, ["FARL", "no-FARL"], logs=["no-FARL"]
    )
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "no-FARL" in labels and "FARL (5 runs)" in labels
    assert dict(zip(data["arm"], data["kind"], strict=True)) == {
        "FARL": "ours", "no-FARL": "original"
    }  # fmt: skip


def test_arms_have_styles_by_position_or_as_given():
    arms = ("FARL", "x", "y", "no-FARL")
    styles = [figures.arm_style(arm, arms) for arm in arms]
    assert len({style["color"] for style in styles}) == 4
    assert len({style["marker"] for style in styles}) == 4
    given = {"x": {"color": "#000000", "marker": "o", "linestyle": "-"}}
    assert figures.arm_style("x", arms, given) == given["x"]
    assert figures.arm_style("y", arms, given) == styles[1]  # the next free one
    figure, _ = figures.learning_curves(results(), METRIC, ["FARL", "no-FARL"], styles=given)
    assert figure.axes[0].get_lines()[0].get_color() == styles[0]["color"]


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: figures.curve_data(results().drop(columns="run"), METRIC, ["FARL"]),
            "lack the column 'run'",
        ),
        (lambda: figures.curve_data(results(), "score", ["FARL"]), "no values of 'score'"),
        (
            lambda: figures.curve_data(pd.concat([results(), results()]), METRIC, ["FARL"]),
            "two values",
        ),
        (lambda: figures.learning_curves(results(), METRIC, ["FARL"], interval=95), "level"),
        (
            lambda: intervals.interval_plot(comparison(mean=float("nan")), [claim()]),
            "run the study first",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_interval_plot_puts_units_in_panels_of_their_own():
    table = pd.concat(
        [
            comparison(),
            comparison(id="a/2", mean=0.3, low=0.2, high=0.4, verdict="inconclusive"),
            comparison(id="a/3", mean=float("nan")),
        ]
    )
    claims = [
        claim(),
        claim(id="a/2", value=0.33, published_sem=0.0, unit="reward", margin=0.03),
        claim(id="a/3"),
        claim(id="a/4"),
    ]
    figure, data = intervals.interval_plot(table, claims)
    assert len(figure.axes) == 2 and list(data["id"]) == ["a/1", "a/2"]
    assert list(data["published_low"])[0] == 44 and np.isnan(list(data["published_low"])[1])
    assert "inconclusive" in [text.get_text() for text in figure.axes[1].texts]


@pytest.mark.slow
def test_saved_files_are_complete_and_the_same_each_time(tmp_path):
    for folder in ("a", "b"):
        figure, data = figures.learning_curves(results(), METRIC, ["FARL"], title="Title")
        path = picture.save(figure, tmp_path / folder, "study-curves", data, "How to read it.\n")
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert (
        names == ["study-curves.csv", "study-curves.svg", "study-curves.txt"]
        and path.suffix == ".svg"
    )
    assert all(
        (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        for name in names
    )
    svg = path.read_text()
    assert (
        ElementTree.fromstring(svg).tag.endswith("svg")
        and svg.startswith("<svg")
        and "<dc:date>" not in svg
        and "Title" in svg
    )
    saved = pd.read_csv(path.with_suffix(".csv"))
    np.testing.assert_allclose(saved["mean"], data["mean"], rtol=1e-9)


@pytest.mark.parametrize(
    "name, data, caption, words",
    [
        ("a/b", [1], "c", "plain file name"),
        ("a", [], "c", "without numbers"),
        ("a", [1], " ", "no caption"),
    ],
)
def test_incomplete_figures_are_refused(tmp_path, name, data, caption, words):
    with pytest.raises(ValueError, match=words):
        picture.save(picture.Picture(), tmp_path, name, pd.DataFrame(data), caption)
    assert not list(tmp_path.iterdir())


def test_schematics_are_well_formed_and_say_what_they_show():
    afterstate, networks = (
        schematics.schematic_afterstate().svg(),
        schematics.schematic_networks().svg(),
    )
    assert (
        "afterstate s′" in afterstate and "next state s″" in afterstate and "Q(s, a₃)" in networks
    )
    for svg in (afterstate, networks):
        assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert schematics.schematic_networks()._repr_svg_() == networks


def test_no_global_setting_changes():
    before = dict(matplotlib.rcParams)
    figure, _ = figures.learning_curves(results(), METRIC, ["FARL"])
    figure.svg()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.slow
def test_figures_need_neither_pyplot_nor_a_display():
    code = (
        "import sys; from afterstate.reports import figures, schematics;"
        " schematics.schematic_networks().svg(); sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_panels_share_their_rows_and_draw_every_mean():
    columns = ["row", "series", "runs", "mean", "low", "high"]
    heard = pd.DataFrame([("Nim", "wins", 3, 100.0, 90.0, 110.0)], columns=columns)
    strength = pd.DataFrame(
        [("Hex", "with", 3, 50.0, 45.0, 55.0), ("Nim", "without", 1, 5.0, np.nan, np.nan)],
        columns=columns,
    )
    figure, data = panels(["Nim", "Hex"], {"heard": heard, "strength": strength}, "T", {"heard": 5})
    first, second = figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["Nim", "Hex"]
    assert [container.get_label() for container in second.containers] == [
        "with (3 runs)",
        "without (1 run)",
    ]
    drawn = [container.lines[0].get_xydata().tolist()[0] for container in second.containers]
    assert drawn == [[50.0, 0.8], [5.0, 0.2]]  # one below the other within a row
    assert list(data["panel"]) == ["heard", "strength", "strength"]
    assert "Nim" in figure.svg()
    with pytest.raises(ValueError, match="not among"):
        panels(["Nim"], {"strength": strength})
    with pytest.raises(ValueError, match="nothing to draw"):
        panels(["Nim"], {"strength": strength.iloc[:0]})


def test_panels_draw_intervals_from_three_runs_on_and_say_how_many_there_are():
    columns = ["row", "series", "runs", "mean", "low", "high"]
    rows = [("a", "ours", 2, 50.0, -40.0, 140.0), ("b", "ours", 3, 50.0, 40.0, 60.0)]
    rows += [("a", "paper", 0, 70.0, 60.0, 80.0)]
    figure, _ = panels(["a", "b"], {"rate": pd.DataFrame(rows, columns=columns)})
    ours, paper = figure.axes[0].containers
    assert [ours.get_label(), paper.get_label()] == ["ours (2 to 3 runs)", "paper"]
    bars = [segment[:, 0].tolist() for segment in ours.lines[2][0].get_segments()]
    assert bars == [[50.0, 50.0], [40.0, 60.0]]


def test_numbers_at_an_axis_have_commas_and_no_powers():
    figure = picture.Picture()
    axes = figure.add_subplot()
    axes.plot([0, 5_000_000], [0.2, 0.4])
    svg = figure.svg()
    assert ">2,000,000<" in svg and re.search(">0.30*<", svg) and "1e6" not in svg
