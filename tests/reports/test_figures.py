"""Figures: numbers stand in the data, files are the same each time, nothing global changes."""

import itertools
import json
import re
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from afterply import stats
from afterply.files import reports_directory
from afterply.studies.reports import figures, picture

ROWS = ["row", "series", "runs", "mean", "low", "high"]


def results(runs=5, arms=("FARL", "no-FARL")):
    rng = np.random.default_rng(1)
    rows = [
        ("tictactoe", arm, run, episode, "win_rate", 20.0 + 25 * place + rng.normal())
        for place, arm in enumerate(arms)
        for run in range(runs)
        for episode in (0, 100, 200)
    ]
    return pd.DataFrame(rows, columns=["study", "arm", "run", "episode", "measure", "value"])


def two(**columns):
    return pd.concat([results().assign(**dict.fromkeys(columns, "")), results().assign(**columns)])


def claim(**changes):
    fields = {"id": "a/1", "where": "Table 1, Nim, FARL", "value": 49, "published_sem": 5.0}
    fields |= {"uncertainty": {"runs": 10}, "unit": "percent", "margin": 2.0, "arm": "FARL"}
    return SimpleNamespace(**(fields | changes))


def comparison(**changes):
    row = {"id": "a/1", "mean": 48.0, "low": 47.0, "high": 49.0, "runs": 5}
    return pd.DataFrame([row | {"verdict": "reproduced"} | changes])


def test_learning_curves_draw_mean_and_interval_over_runs():
    arms, table = ["FARL", "no-FARL", "never run"], results()
    figure, data = figures.learning_curves(
        table, arms, published=[claim()], best=50, logs=["no-FARL"]
    )
    assert list(data["arm"][:6]) == ["FARL"] * 3 + ["no-FARL"] * 3
    assert list(data["episode"][:6]) == [0, 100, 200] * 2
    values = table.loc[(table["arm"] == "FARL") & (table["episode"] == 100), "value"]
    row = data.iloc[1]
    assert (row["mean"], row["low"], row["high"], row["runs"]) == (*stats.mean_interval(values), 5)
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    farl = data[(data["arm"] == "FARL") & (data["kind"] == "ours")]
    np.testing.assert_array_equal(lines["FARL (5 runs)"].get_ydata(), farl["mean"])
    assert lines["FARL (5 runs)"].get_color() == figures.STYLES[0]["color"]
    assert {"best achievable (50)", "no-FARL"} <= set(lines)
    assert not any("never run" in name for name in lines)  # the text says what is missing
    published = data[data["kind"] == "published"].iloc[0]
    assert (published["mean"], published["low"], published["high"]) == (49, 44, 54)
    assert set(data["kind"][data["arm"] == "no-FARL"]) == {"original"}


def test_lines_and_places_may_be_any_columns():
    table = results().assign(opponent="AB", arm="one").rename(columns={"episode": "level"})
    figure, data = figures.learning_curves(table[:15], ["AB"], "opponent", "level", xlabel="level")
    assert list(data.columns) == ["opponent", "kind", "level", "runs", "mean", "low", "high"]
    assert data.level.tolist() == [0, 100, 200] and figure.axes[0].get_xlabel() == "level"


def test_small_multiples_share_their_axes_and_a_legend():
    arms = ["FARL", "no-FARL", "first"]
    table = results(arms=arms)
    each = {"A": ["FARL"], "B": ["no-FARL"], "C": ["first"]}
    names = dict.fromkeys(arms[:2], "either")
    figure, data = figures.learning_curves(
        table, arms, panels=each, behind=True, names=names, published=[claim()], title="All"
    )
    assert [axes.get_title() for axes in figure.axes] == list(each)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    curves = [
        [line for line in axes.get_lines() if line.get_linestyle() != "None"]
        for axes in figure.axes
    ]
    assert [len(lines) for lines in curves] == [3, 3, 3]
    grey = [[line.get_color() == figures.BEHIND for line in lines].count(True) for lines in curves]
    assert grey == [2, 2, 2]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["either (5 runs)", "either, published (± printed s.e.)", "first (5 runs)"]
    _, together = figures.learning_curves(table, arms, published=[claim()])
    pd.testing.assert_frame_equal(data, together)


def test_a_figure_without_runs_of_ours_has_no_numbers():
    _, data = figures.learning_curves(results(), ["FARL"], logs=["FARL"], best=50)
    assert data.empty


# Machado, Oliveira, Fernandes 2009, Table 1, severity 1: what such eyes see, in linear RGB
SEEN = {
    "all": np.eye(3),
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def seen_as(colour, matrix):
    """CIELAB of a colour of the screen, after what some eyes make of it."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    ratios = TO_XYZ @ np.clip(matrix @ linear, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(ratios > 216 / 24389, np.cbrt(ratios), (24389 / 27 * ratios + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def least_distance(colours):
    return min(
        np.linalg.norm(seen_as(one, np.array(matrix)) - seen_as(other, np.array(matrix)))
        for one, other in itertools.combinations(colours, 2)
        for matrix in SEEN.values()
    )


def test_curves_differ_for_eyes_with_red_green_weakness_and_by_their_marks():
    assert least_distance(["#cc3311", "#ee7733"]) < 17  # as the red and orange once were
    styles = figures.STYLES
    assert least_distance([style["color"] for style in styles]) > 25
    assert len({style["marker"] for style in styles}) == len(styles)
    assert least_distance([*figures.OWN_COLOURS, styles[0]["color"], styles[1]["color"]]) > 15


PAGE = 760  # pixels that the narrowest page of a notebook has for a figure
TEXT = re.compile(r"font(?:-size)?:[^;\"]*?([\d.]+)px")


def least_text(svg):
    """Height in pixels of the smallest text of a figure, drawn in points, on such a page."""
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1]) * 4 / 3
    return min(map(float, TEXT.findall(svg))) * 4 / 3 * min(1, PAGE / width)


@pytest.mark.slow
def test_no_text_of_a_large_figure_is_smaller_than_nine_pixels():
    rows = [f"a long name of a row {number}" for number in range(30)]
    table = pd.DataFrame([(row, "ours", 3, 5.0, 4.0, 6.0) for row in rows], columns=ROWS)
    tables = {f"what was measured of it, in percent, {k}": table for k in range(4)}
    columns = [f"switch {number}" for number in range(14)]
    cells = [(row, column, 40.0, "helps") for row in rows for column in columns]
    effects = pd.DataFrame(cells, columns=["row", "column", "effect", "verdict"])
    lines = [f"a long name of a line {number}" for number in range(9)]
    each = {line: [line] for line in lines}
    for figure, _ in (
        figures.panels(rows, tables),
        figures.effect_map(effects, rows, columns),
        figures.learning_curves(results(arms=lines), lines, possible=(0, 300)),
        figures.learning_curves(results(arms=lines), lines, possible=None, panels=each),
    ):
        assert least_text(figure.svg()) >= 9


def published_figures():
    """(where, SVG) of all figures of the pages and of the notebooks."""
    folder = reports_directory() / "paper"
    for path in sorted(folder.glob("**/*.svg")):
        yield path.name, path.read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                if svg := "".join(output.get("data", {}).get("image/svg+xml", "")):
                    yield f"{path.stem}, cell {cell['id']}", svg


def test_no_text_of_a_published_figure_is_smaller_than_nine_pixels():
    drawn = [(where, svg) for where, svg in published_figures() if "matplotlib" in svg]
    assert len(drawn) > 50
    small = {where: round(least_text(svg), 1) for where, svg in drawn if least_text(svg) < 9}
    assert not small, f"execute the notebook again, or draw the figure narrower: {small}"


def test_intervals_end_where_no_value_can_lie_and_one_run_has_none():
    table = results(3, ("FARL",))
    table["value"] = table["run"].map({0: 50.0, 1: 100.0, 2: 100.0})
    _, data = figures.learning_curves(table, ["FARL"])
    assert (data["high"] == 100).all() and data["low"].between(0, 50).all()
    _, data = figures.learning_curves(table, ["FARL"], possible=None)
    assert (data["high"] > 100).all()
    table = table[~((table["run"] == 2) & (table["episode"] == 200))]
    figure, _ = figures.learning_curves(table, ["FARL"])
    assert "FARL (2–3 runs)" in figure.axes[0].get_legend_handles_labels()[1]
    _, single = figures.learning_curves(results(1), ["FARL"])
    assert single[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: figures.curve_data(two(measure="score"), ["FARL"]), "select one of measure first"),
        (lambda: figures.curve_data(two(seat="first"), ["FARL"]), "select one of seat first"),
        (lambda: figures.curve_data(two(), ["FARL"]), "run 0 of 'FARL' has two values at episode"),
        (lambda: figures.strip({"ours": []}, "wins"), "hold no values"),
        (lambda: figures.interval_plot(comparison(mean=np.nan), [claim()]), "run the study first"),
        (lambda: picture.save(picture.Picture(), "", "a/b", [1], "c"), "plain file name"),
        (lambda: picture.save(picture.Picture(), "", "a", [1], " "), "a caption"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_interval_plot_puts_units_in_panels_of_their_own():
    other = comparison(id="a/2", mean=0.3, low=0.2, high=0.4, verdict="inconclusive")
    table = pd.concat([comparison(), other, comparison(id="a/3", mean=np.nan)])
    second = claim(id="a/2", value=0.33, published_sem=0.0, unit="reward", margin=None)
    claims = [claim(), second, claim(id="a/3"), claim(id="a/4")]
    figure, data = figures.interval_plot(table, claims)
    assert len(figure.axes) == 2 and list(data["id"]) == ["a/1", "a/2"]
    assert data["published_low"][0] == 44 and np.isnan(data["published_low"][1])
    assert [len(axes.patches) for axes in figure.axes] == [1, 0]  # margins
    assert "inconclusive" in [text.get_text() for text in figure.axes[1].texts]
    theirs = comparison(mean=49.0, low=-1.0).to_dict("records")  # in the same row, from 0 on
    figure, data = figures.interval_plot(table, claims, program=theirs)
    assert data[["program_mean", "program_low"]].to_numpy()[0].tolist() == [49.0, 0.0]
    assert data["program_mean"].isna().tolist() == [False, True] and len(figure.axes) == 2


def test_panels_share_their_rows_and_draw_intervals_from_three_runs_on():
    rows = [("Nim", "ours", 2, 50.0, -40.0, 140.0), ("Hex", "ours", 3, 50.0, 40.0, 60.0)]
    rows += [("Nim", "paper", 0, 70.0, 60.0, 80.0)]
    table = pd.DataFrame(rows, columns=ROWS)
    both = {"heard": table[:1], "strength": table}
    figure, data = figures.panels(["Nim", "Hex"], both, "T", {"heard": 5})
    first, second = figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["Nim", "Hex"]
    ours, paper = second.containers
    assert [ours.get_label(), paper.get_label()] == ["ours (2 to 3 runs)", "paper"]
    assert ours.lines[0].get_xydata().tolist() == [[50.0, -0.2], [50.0, 0.8]]
    assert paper.lines[0].get_xydata().tolist() == [[70.0, 0.2]]  # below, within its row
    bars = [segment[:, 0].tolist() for segment in ours.lines[2][0].get_segments()]
    assert bars == [[50.0, 50.0], [40.0, 60.0]]
    assert list(data["panel"]) == ["heard", *["strength"] * 3]


def test_a_map_of_effects_has_colour_only_where_something_is_decided():
    cells = [
        ("Hex", "A", 40.0, "helps"),
        ("Hex", "B", -3.0, "open"),
        ("Nim", "A", 0.0, "no difference"),
    ]
    effects = pd.DataFrame(cells, columns=["row", "column", "effect", "verdict"])
    figure, _ = figures.effect_map(effects, ["Hex", "Nim"], ["A", "B"])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["+40", "(-3)", "+0"]
    colours = [matplotlib.colors.to_hex(patch.get_facecolor()) for patch in axes.patches]
    assert colours[1:] == ["#ffffff", "#e4e4e4"] and len(set(colours)) == 3


def test_strips_hold_every_run_and_ladders_are_curves_over_the_dial():
    figure, data = figures.strip({"log": [1.0, 3.0], "ours": [2.0, 2.5, 3.0]}, "score", best=3.0)
    dots = [list(line.get_xdata()) for line in figure.axes[0].get_lines()]
    assert [1.0, 3.0] in dots and [2.0, 2.5, 3.0] in dots
    assert list(data["mean"]) == [2.0] * 2 + [2.5] * 3
    rungs = pd.DataFrame({"method": ["a", "a", "b"], "dial": [0.0, 0.0, 1.0], "run": [0, 1, 0]})
    figure, data = figures.ladders(rungs.assign(value=[1.0, 3.0, 7.0]))
    assert list(data.columns) == ["method", "dial", "runs", "mean", "low", "high"]
    assert list(data["mean"]) == [2.0, 7.0] and figure.axes[0].get_xlabel().startswith("dial")


def test_saved_files_are_complete_and_the_same_each_time(tmp_path):
    before = dict(matplotlib.rcParams)
    for folder in ("a", "b"):
        figure, data = figures.learning_curves(results(), ["FARL"], title="Title")
        picture.save(figure, tmp_path / folder, "study-curves", data, "How to read it.\n")
    assert dict(matplotlib.rcParams) == before
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == ["study-curves.csv", "study-curves.svg", "study-curves.txt"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    saved = pd.read_csv(tmp_path / "a" / names[0])
    np.testing.assert_allclose(saved["mean"], data["mean"], rtol=1e-9)


def test_numbers_in_an_svg_have_commas_no_powers_and_few_decimals():
    figure = picture.Picture()
    figure.add_subplot().plot([0, 5_000_000], [0.2, 0.4])
    svg = figure.svg()
    assert ">2,000,000<" in svg and re.search(">0.30*<", svg) and "1e6" not in svg
    assert not re.search(r' d="[^"]*\.\d{3}', svg)
