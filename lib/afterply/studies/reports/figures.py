"""Figures, each a function of a table that returns ``(figure, data)``: every number drawn."""

import itertools
import textwrap

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter

from ...stats import Interval, mean_interval, plain
from ..papers.compare import UNITS
from ..papers.verdicts import BETTER, INCONCLUSIVE, MIN_RUNS, NOT_REPRODUCED, REPRODUCED
from ..results import LIKE, filling, in_percent
from .picture import DARK, SETTINGS, SIZE, VERDICTS, Picture
from .readings import BEYOND, FAILS, GIVES, UNDECIDED, WORDS
from .specifications import switches_of

# far enough apart for eyes with red-green weakness, too: a test simulates it
COLOUR_MARKER_LINE = [
    ("#cc3311", "o", "-"),
    ("#0077bb", "s", "--"),
    ("#eb9c00", "D", "-."),
    ("#620e62", "^", "-"),
    ("#1dcd75", "v", "--"),
    ("#5c5c5c", "X", ":"),
    ("#6666ff", "P", "-."),
    ("#1dcdcd", "p", "-"),
    ("#0a0aff", "*", "--"),
]
# by position in the figure
STYLES = [
    {"color": colour, "marker": marker, "linestyle": line}
    for colour, marker, line in COLOUR_MARKER_LINE
]
OWN_COLOURS = ("#000000", "#aa3377", "#bbaa00")  # of arms of one's own
BEHIND = "#d0d0d0"  # lines of other panels
MOST_MARKERS = 40  # on a curve: if it has more points, not each has one
WIDEST = 8.6  # inches: a wider figure is shown smaller on a page, and its text with it
BAND = Patch(color="#d9d9d9", label="margin")
PRINTED = {"marker": "D", "color": DARK, "markerfacecolor": "white"}
CEILING = "both at the ceiling"
# cells of a map of effects
PLAIN = {"no difference": "#e4e4e4", CEILING: "#f2ead3", "open": "#ffffff"}
INTERVAL = ["runs", "mean", "low", "high"]
LIKE_VERDICT = {GIVES: REPRODUCED, BEYOND: BETTER, UNDECIDED: INCONCLUSIVE, FAILS: NOT_REPRODUCED}


def _look_of(verdict) -> dict:
    """Return how a curve of readings draws what a verdict looks like elsewhere."""
    look = VERDICTS[verdict]
    return {"marker": look.marker, "color": look.colour, "markersize": 5}


# outcome of a reading -> how it is called and drawn
OUTCOME = {
    outcome: (WORDS[outcome], _look_of(verdict)) for outcome, verdict in LIKE_VERDICT.items()
}
THE_TEXT_LOOK = {"marker": "o", "color": DARK, "markerfacecolor": "none", "markersize": 11}
THE_TEXT = Line2D([], [], linestyle="", label="the text", **THE_TEXT_LOOK)
AS_PRINTED = Line2D([], [], color=DARK, linewidth=1.2, linestyle="--", label="printed")
in_our_style = matplotlib.rc_context(SETTINGS)  # as a decorator


def arm_style(arm, arms=(), styles=None):
    """Return colour, marker and line of an arm: from `styles`, else by its position in `arms`."""
    styles = styles or {}
    if arm in styles:
        return styles[arm]
    others = [name for name in arms if name not in styles]
    position = others.index(arm) if arm in others else 0
    return STYLES[position % len(STYLES)]


def interval_of(measure, values) -> Interval:
    """Return the mean over runs and its 95% interval; that of a share ends at 0 and 100%."""
    mean, low, high = mean_interval(values)
    if in_percent(measure) and 0.0 <= mean <= 100.0:
        low = max(low, 0.0)
        high = min(high, 100.0)
    return Interval(mean, low, high)


def curve_data(table, lines, by="arm", x="episode"):
    """Return the mean over runs and its 95% interval at each x, for each line of a figure.

    table: results of one measure, `afterply.studies.results.select`; `by` is the column whose
    words tell the lines, `x` one of numbers. Columns: `by`, `x`, runs, mean, low, high. ValueError
    if a run has two values in one place, since they are of different things.
    """
    lines = list(dict.fromkeys(lines))
    rows = table[table[by].isin(lines)]
    _require_one_value(rows, by, x)
    records = []
    for line in lines:
        for place, group in rows[rows[by] == line].groupby(x):
            records.append((line, place, len(group), *mean_interval(group["value"])))
    return pd.DataFrame(records, columns=[by, x, *INTERVAL])


def _require_one_value(rows, by, x):
    """Raise ValueError if a run has two values in one place of a line."""
    repeated = rows[rows.duplicated([by, "run", x], keep=False)]
    if repeated.empty:
        return
    first = repeated.to_dict("records")[0]
    other_columns = [n for n in ("study", *filling(rows)) if n in rows and n not in (by, x)]
    differing = [name for name in other_columns if rows[name].nunique(dropna=False) > 1]
    raise ValueError(
        f"run {first['run']} of {first[by]!r} has two values at {x} {first[x]}: select one of"
        f" {', '.join(differing) or 'them'} first"
    )


@in_our_style
def learning_curves(
    table,
    lines,
    by="arm",
    x="episode",
    published=(),
    best=None,
    title="",
    score_axis=True,
    label="win rate in percent",
    possible=(0.0, 100.0),
    logs=(),
    styles=None,
    xlabel="training episodes",
    panels=None,
    behind=False,
    names=None,
):
    """Draw learning curves: mean over runs with its 95% interval at every evaluated episode.

    table, lines, by, x: as in :func:`curve_data`. published: claims, which stand at the right end.
    best: the best achievable value. score_axis: a second axis, for a rate in percent. possible:
    least and greatest value, where intervals are cut off, or None. logs: lines that are printed or
    logged by the authors. styles: line -> colour, marker and linestyle (default: by position).

    panels: small multiples, for more than about six curves or bands over bands: title -> its lines,
    a panel for each title, all with the same axes. behind: each panel shows the lines of the others
    in grey, too. names: line -> its name in the legend; lines of one name stand there once.
    """
    table, lines, own_styles = _with_own(table, list(lines), by, styles)
    data = curve_data(table, lines, by, x)
    data.insert(1, "kind", ["original" if line in logs else "ours" for line in data[by]])
    if possible:
        least, greatest = possible
        data["low"] = data["low"].clip(lower=least)
        data["high"] = data["high"].clip(upper=greatest)
    names = names or {}
    every_line = lines  # those without runs keep their colours
    with_runs = set(data[by])
    lines = [line for line in every_line if line in with_runs]
    panels = _with_lines(panels or {}, lines)
    labels = _labels(data, by, lines, logs, names)
    looks = {
        line: (own_styles.get(line) or arm_style(line, every_line, styles))
        | {"label": labels[line]}
        for line in lines
    }
    last = data[x].max() if len(data) else 1
    figure, all_axes = _figure_of_panels(len(panels or [title]))
    is_whole = (data[x] % 1 == 0).all()
    for axes in all_axes if panels else ():
        axes.locator_params(axis="x", nbins=2 if last > 99_999 else 4, integer=is_whole)
    most_markers = MOST_MARKERS if len(all_axes) == 1 else MOST_MARKERS // 3
    beside_curves = []  # what is drawn besides: published values, and the best achievable
    for axes, (heading, shown) in zip(all_axes, (panels or {title: lines}).items(), strict=True):
        shown = [line for line in lines if line in shown or line in own_styles]
        if behind:
            _draw_behind(axes, data, by, x, [line for line in lines if line not in shown])
        for line in shown:
            rows = data[data[by] == line].rename(columns={x: "x"})
            _draw_curve(axes, rows, looks[line], most_markers)
        alone = panels and shown == [heading]
        axes.set_title(textwrap.fill(labels[heading] if alone else heading, _letters(axes)))
        claims = [claim for claim in published if not panels or claim.arm in shown]
        for place, claim in enumerate(claims):
            position = last * (1.03 + 0.015 * place)
            style = arm_style(claim.arm, every_line, styles)
            name = names.get(claim.arm, claim.arm)
            point = _draw_published(axes, claim, position, style, name)
            beside_curves.append({by: claim.arm, x: last, **point})
        if best is not None:
            name = f"best achievable ({plain(best)})"
            axes.axhline(best, color=DARK, linewidth=1.2, linestyle=":", label=name)
    if best is not None:
        beside_curves.append({by: "", "kind": "best achievable", x: last, "mean": best})
    _name_axes(figure, all_axes, xlabel, label, title if panels else "")
    _show_beginning(all_axes[0], data, by, x, own_styles)
    if possible:
        _limit_values(all_axes[0], least, greatest)
    if score_axis and not panels:
        _add_score_axis(all_axes[0])
    in_titles = [labels[line] for line in panels if [line] == list(panels[line])]
    marks = [mark for mark in _once(all_axes) if mark.get_label() not in in_titles]
    legend(figure, 2, title="mean and 95% interval over runs", handles=marks)
    if not (data["kind"] == "ours").any():
        return figure, data[:0]
    tables = [data]
    if beside_curves:
        tables.append(pd.DataFrame(beside_curves, columns=data.columns))
    return figure, pd.concat(tables, ignore_index=True)


def _with_lines(panels, lines):
    """Return those panels that have lines, each with these alone: title -> lines."""
    drawn = {title: [line for line in shown if line in lines] for title, shown in panels.items()}
    return {title: shown for title, shown in drawn.items() if shown}


def _draw_behind(axes, data, by, x, lines):
    """Draw the lines of other panels in grey."""
    for line in lines:
        rows = data[data[by] == line]
        axes.plot(rows[x], rows["mean"], color=BEHIND, linewidth=1.0, zorder=1)


def _letters(axes):
    """Return how many letters fit above or below a panel."""
    grid = axes.get_gridspec()
    return int(11 * axes.figure.get_figwidth() / grid.ncols)


def _name_axes(figure, all_axes, xlabel, ylabel, title):
    """Name the axes of one panel, or those that several panels share, with a title over all."""
    for axes in all_axes:
        if axes.xaxis.get_tick_params()["labelbottom"]:
            axes.set_xlabel(textwrap.fill(xlabel, _letters(axes)))
    if len(all_axes) == 1:
        all_axes[0].set_ylabel(ylabel)
        return
    figure.suptitle(title, fontsize=12)
    figure.supylabel(ylabel, fontsize=11)


def _labels(data, by, lines, logs, names):
    """Return line -> its name with the number of runs, all lines of the same name together."""
    called = {line: names.get(line, line) for line in lines}
    runs = data["runs"].groupby(data[by].map(called)).agg(["min", "max"])
    with_runs = {}
    for line, name in called.items():
        with_runs[line] = name if line in logs else _with_runs(name, runs.loc[name], "–")
    return with_runs


def _figure_of_panels(number):
    """Return a figure with a number of panels in rows, which share their axes, and the panels."""
    if number == 1:
        figure = Picture(figsize=SIZE, layout="constrained")
        return figure, [figure.add_subplot()]
    columns = 2 if number in (2, 4) else 3
    rows = -(-number // columns)
    figure = Picture(figsize=(WIDEST, 1.9 + 2.1 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in grid[number:]:
        axes.remove()
    for place, axes in enumerate(grid[:number]):
        axes.tick_params(labelbottom=place + columns >= number)  # also above an empty place
    return figure, list(grid[:number])


def _once(all_axes):
    """Return the marks of a legend for several axes, of each name the first."""
    marks = {}
    for axes in all_axes:
        for mark, name in zip(*axes.get_legend_handles_labels(), strict=True):
            marks.setdefault(name, mark)
    return list(marks.values())


def _limit_values(axes, least, greatest):
    """Let an axis end a little beyond the least and the greatest value there can be."""
    low, high = axes.get_ylim()
    room = 0.03 * (greatest - least)
    axes.set_ylim(max(low, least - room), min(high, greatest + room))


def _add_score_axis(axes):
    """Add a second axis on which a rate in percent is a mean score from -1 to 1."""

    def score_of(rate):
        return rate / 50 - 1

    def rate_of(score):
        return 50 * (score + 1)

    second_axis = axes.secondary_yaxis("right", functions=(score_of, rate_of))
    second_axis.set_ylabel("score (−1 lost … +1 won)")


def _with_own(table, lines, by, styles):
    """Return the table and lines with one's own arms that are like a drawn one, and their styles.

    An own arm has the style of the arm that it changes, in a colour of its own and a wider line.
    """
    if LIKE not in table or not (table[LIKE] != "").any():
        return table, lines, {}
    is_own = table[LIKE] != ""
    if by == "arm":
        counterparts = table[LIKE]
        names = table["arm"]
    else:
        counterparts = table[by]
        names = table["arm"] + ", " + table[by]
    own_arms = list(table["arm"][is_own].unique())
    is_drawn = is_own & counterparts.isin(lines)
    own_styles = {}
    for name, counterpart, arm in zip(
        names[is_drawn], counterparts[is_drawn], table["arm"][is_drawn], strict=True
    ):
        colour = OWN_COLOURS[own_arms.index(arm) % len(OWN_COLOURS)]
        style = arm_style(counterpart, lines, styles)
        own_styles[name] = style | {"linewidth": 2.6, "color": colour}
    named_table = table.assign(**{by: table[by].where(~is_own, names)})
    return named_table, [*lines, *own_styles], own_styles


def _show_beginning(axes, data, by, x, own_styles):
    """Give the first axis a scale of logarithms if one's own arms end early in a long training."""
    if not own_styles or not (data[x] > 0).any():
        return
    own_end = data[data[by].isin(list(own_styles))][x].max()
    if own_end < data[x].max() / 4:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_curve(axes, rows, look, most_markers=MOST_MARKERS):
    """Draw a curve with its intervals."""
    step = -(-len(rows) // most_markers)
    axes.plot(rows["x"], rows["mean"], **look | {"markersize": 4.5, "markevery": step})
    if rows["low"].notna().any():
        colour = look["color"]
        axes.fill_between(
            rows["x"], rows["low"], rows["high"], color=colour, alpha=0.16, linewidth=0
        )
        marked = rows.iloc[::step]
        below = marked["mean"] - marked["low"]
        above = marked["high"] - marked["mean"]
        bars = {"fmt": "none", "ecolor": colour, "elinewidth": 1, "capsize": 2.5}
        axes.errorbar(marked["x"], marked["mean"], [below, above], **bars)


def _draw_published(axes, claim, x, style, name):
    """Draw a published value beside the end of the curves, where it hides nothing."""
    mean, low, high = _published(claim)
    label = f"{name}, published"
    half = 0
    if low < mean:
        label += " (± printed s.e.)"
        half = mean - low
    look = {"fmt": style["marker"], "color": style["color"], "markerfacecolor": "white"}
    look |= {"markersize": 9, "markeredgewidth": 1.8, "capsize": 5, "zorder": 5, "label": label}
    axes.errorbar([x], [mean], [half], **look)
    runs = (claim.uncertainty or {}).get("runs")
    return {"kind": "published", "runs": runs, "mean": mean, "low": low, "high": high}


def _published(claim):
    """Return a printed value with its error: mean, low and high."""
    error = claim.published_sem or float("nan")
    return claim.value, claim.value - error, claim.value + error


def ladders(rungs, label="rating (Elo points above the random player)", title="", each="method"):
    """Draw ladders of opponents as small multiples; rungs: method, dial, run, value.

    each: the column whose words have a panel each. By default a panel shows one method, and the
    others in grey; else, such as for a column "game", all methods there are.
    """
    methods = list(dict.fromkeys(rungs["method"]))
    line_of_rung = rungs["method"]
    if each != "method":
        line_of_rung = rungs[each] + ", " + rungs["method"]
    panels = {}
    names = {}
    styles = {}
    for panel, line, method in zip(rungs[each], line_of_rung, rungs["method"]):
        lines = panels.setdefault(panel, [])
        if line not in lines:
            lines.append(line)
            names[line] = method
            styles[line] = arm_style(method, methods)
    figure, data = learning_curves(
        rungs.assign(method=line_of_rung),
        list(names),
        by="method",
        x="dial",
        title=title,
        score_axis=False,
        label=label,
        possible=None,
        xlabel="dial (1: as it was trained)",
        panels=panels if len(panels) > 1 else None,
        behind=each == "method",
        names=names,
        styles=styles,
    )
    return figure, data.drop(columns="kind")


@in_our_style
def panels(rows, tables, title="", lines=None, possible=None, row_height=0.42):
    """Draw one row for each thing, and beside each other the panels of what is known of it.

    tables: label of a panel -> DataFrame [row, series, runs, mean, low, high]; a printed value has
    0 runs; fewer than three have no interval. lines: label of a panel -> its vertical line.
    possible: label of a panel -> least and greatest value, where intervals are cut off. Panels
    that a page has no room for beside each other stand below each other. row_height: inches.
    """
    lines = lines or {}
    labelled = [table.assign(panel=label) for label, table in tables.items() if len(table)]
    data = pd.concat(labelled, ignore_index=True)[["panel", "row", "series", *INTERVAL]]
    for label, (least, greatest) in (possible or {}).items():
        inside = data["panel"].eq(label)
        data.loc[inside, ["low", "high"]] = data.loc[inside, ["low", "high"]].clip(least, greatest)
    width_of_names = max(1.9, 0.6 + 0.075 * max(map(len, rows)))  # inches, beside the panels
    columns = max(1, min(len(tables), int((WIDEST - width_of_names) / 2.2)))
    num_rows = -(-len(tables) // columns)
    size = (min(WIDEST, width_of_names + 3.3 * columns), (1.9 + row_height * len(rows)) * num_rows)
    figure = Picture(figsize=size, layout="constrained")
    grid = figure.subplots(num_rows, columns, sharey=True, squeeze=False).ravel()
    for axes in grid[len(tables) :]:
        axes.remove()
    for axes, label in zip(grid, tables, strict=False):
        in_panel = data[data["panel"] == label]
        _draw_series(axes, in_panel, list(rows))
        if label in lines:
            axes.axvline(lines[label], color=DARK, linewidth=1.2, linestyle=":")
        axes.set_xlabel(textwrap.fill(label, int(14 * size[0] / columns)))
        if len(in_panel):
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    name_rows(grid[0], rows)
    figure.suptitle(title, fontsize=12)
    return figure, data


def _draw_series(axes, data, rows):
    """Draw the series of every row below each other, with intervals of several runs."""
    names = list(dict.fromkeys(data["series"]))
    for k, series in enumerate(names):
        points = data[data["series"] == series]
        style = STYLES[k % len(STYLES)]
        shift = 0.0 if len(names) == 1 else -0.2 + 0.4 * k / (len(names) - 1)
        heights = [rows.index(row) + shift for row in points["row"]]
        has_interval = points["runs"] >= MIN_RUNS
        below = (points["mean"] - points["low"]).abs().where(has_interval).fillna(0)
        above = (points["mean"] - points["high"]).abs().where(has_interval).fillna(0)
        # A series without runs is printed.
        label = _with_runs(series, points["runs"], " to ") if points["runs"].any() else series
        look = {"fmt": style["marker"], "color": style["color"], "capsize": 3, "linewidth": 1.4}
        axes.errorbar(points["mean"], heights, xerr=[below, above], label=label, **look)


@in_our_style
def effect_map(effects, rows, columns, title="", label="percent of the best result"):
    """Draw `summaries.effects` as a map: colour where a part helps or harms, grey where neither.

    A number in brackets is open; at the ceiling there is none, since it could not be larger. An
    empty cell was not tried, or has too few runs.
    """
    size = (min(WIDEST, 2.2 + 0.95 * len(columns)), 2.6 + 0.5 * len(rows))
    figure = Picture(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    colours = matplotlib.colormaps["RdBu"]
    for cell in effects.itertuples():
        _draw_effect(axes, cell, columns.index(cell.column), rows.index(cell.row), colours)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), title=title)
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="left")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    axes.grid(visible=False)
    shades = {"helps": colours(0.85), "harms": colours(0.15)} | PLAIN
    words = ("helps", "harms", "no difference", CEILING)
    marks = [Patch(color=shades[word], label=word) for word in words]
    marks.append(Patch(facecolor=PLAIN["open"], edgecolor=DARK, label="( ) open"))
    legend(figure, 5, handles=marks, title=label)
    return figure, effects


def _draw_effect(axes, cell, x, y, colours):
    """Draw a cell of a map of effects: a square in the colour of the effect, and its number."""
    share = cell.effect / 100
    is_decided = cell.verdict not in PLAIN
    colour = colours(0.5 + max(-0.5, min(share, 0.5))) if is_decided else PLAIN[cell.verdict]
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
    text = f"{round(cell.effect):+d}"
    if cell.verdict == "open":
        text = f"({text})"
    elif cell.verdict == CEILING:
        text = "ceiling"
    look = {"color": DARK}
    if is_decided:
        look["weight"] = "bold"
        if abs(share) > 0.3:  # the square is dark
            look["color"] = "white"
    axes.text(x, y, text, ha="center", va="center", **look)


@in_our_style
def strip(groups, label, best=None, title="", possible=None):
    """Draw every run as a dot, and the mean of each group (name -> values) with its interval.

    possible: least and greatest value, where intervals are cut off.
    """
    means = {name: mean_interval(values) for name, values in groups.items() if len(values)}
    if not means:
        raise ValueError(f"the groups {list(groups)} hold no values; run the study first")
    if possible:
        least, greatest = possible
        means = {
            name: (mean, max(low, least), min(high, greatest))
            for name, (mean, low, high) in means.items()
        }
    figure = Picture(figsize=(SIZE[0], 0.9 + 0.8 * len(groups)), layout="constrained")
    axes = figure.add_subplot()
    rows = []
    for y, (name, values) in enumerate(groups.items()):
        colour = STYLES[y % len(STYLES)]["color"]
        axes.plot(
            values, [y] * len(values), STYLES[y % len(STYLES)]["marker"], color=colour, alpha=0.5
        )
        if name in means:
            look = {"fmt": "|", "color": DARK, "markersize": 14, "capsize": 4}
            interval_bar(axes, *means[name], y + 0.28, **look)
        for run, value in enumerate(values):
            rows.append((name, run, float(value), *means[name]))
    if best is not None:
        axes.axvline(best, color=DARK, linewidth=1.2, linestyle=":")
    axes.set(xlabel=label, title=title)
    name_rows(axes, list(groups))
    return figure, pd.DataFrame(rows, columns=["group", "run", "value", "mean", "low", "high"])


@in_our_style
def specification_curves(tables, label, title="", logarithmic=False):
    """Draw printed values in all readings: sorted results, and below them what each reading sets.

    tables: of `specifications.curve` or `whole`; each value has a panel, two beside each other,
    with the printed value as a line in the band of its margin. A dot says that a reading has a
    level other than the text's; a ring marks the text itself. Vertical lines join the least and
    the greatest of a reading's trainings.
    """
    panels = []
    for table in tables:
        for _, rows in table[table["runs"] > 0].groupby("id", sort=False):
            panels.append(rows.sort_values("value", kind="stable"))
    if not panels:
        return None, pd.DataFrame()
    switched = list(dict.fromkeys(itertools.chain(*map(_levels_switched, panels))))
    columns = min(2, len(panels))
    blocks = -(-len(panels) // columns)
    height_of_dots = 0.3 + 0.17 * len(switched)  # inches
    size = (WIDEST, 0.9 + blocks * (2.1 + height_of_dots))
    figure = Picture(figsize=size, layout="constrained")
    heights = [1.9, height_of_dots] * blocks
    grid = figure.subplots(2 * blocks, columns, squeeze=False, height_ratios=heights)
    for place, rows in enumerate(panels):
        row, column = divmod(place, columns)
        curve, dots = grid[2 * row : 2 * row + 2, column]
        _draw_sorted(curve, rows, "log" if logarithmic else "linear")
        place_in_table = rows["place"].iloc[0].partition(", ")[2] or rows["place"].iloc[0]
        curve.set_title(textwrap.fill(place_in_table, 76 // columns), fontsize=11)
        _draw_levels(dots, rows, switched, named=column == 0)
        if column == 0:
            curve.set_ylabel(textwrap.fill(label, 22))
    for axes in grid[-2:, len(panels) - columns * (blocks - 1) :].ravel():
        axes.remove()
    figure.suptitle(title, fontsize=12)
    marks = [Line2D([], [], linestyle="", label=words, **look) for words, look in OUTCOME.values()]
    legend(figure, 4, handles=[*marks, THE_TEXT, AS_PRINTED, BAND])
    return figure, pd.concat(panels, ignore_index=True).drop(columns="values")


def _levels_switched(rows):
    """Return (switch, level) of all levels other than the text's, which the first reading has."""
    in_design = rows.sort_index()
    pairs = []
    for switch in switches_of(rows):
        levels = list(dict.fromkeys(in_design[switch]))
        pairs += [(switch, level) for level in levels[1:]]
    return pairs


def _draw_sorted(axes, rows, scale):
    """Draw the results of readings in their order, the least and the greatest of their runs."""
    printed = rows["target"].iloc[0]
    margin = rows["margin"].iloc[0]
    axes.axhspan(printed - margin, printed + margin, color=BAND.get_facecolor(), linewidth=0)
    axes.axhline(printed, color=DARK, linewidth=1.2, linestyle="--")
    places = np.arange(len(rows))
    for outcome, (_, look) in reversed(OUTCOME.items()):
        chosen = (rows["outcome"] == outcome).to_numpy()
        values = rows["values"][chosen]
        span = [list(map(min, values)), list(map(max, values))]
        axes.vlines(places[chosen], *span, color=look["color"], alpha=0.4, linewidth=1.2)
        axes.plot(places[chosen], rows["value"][chosen], linestyle="", **look)
    is_text = (rows.index == rows.index.min()).nonzero()[0]
    axes.plot(is_text, rows["value"].iloc[is_text], linestyle="", **THE_TEXT_LOOK)
    axes.set_yscale(scale)
    axes.set_xlim(-1, len(rows))
    axes.tick_params(labelbottom=False, length=0, axis="x")
    axes.grid(axis="x", visible=False)


def _draw_levels(axes, rows, switched, named):
    """Draw a dot for each level that a reading has, in the colour of its outcome."""
    places = np.arange(len(rows))
    for y, (switch, level) in enumerate(switched):
        axes.axhline(y, color="#ececec", linewidth=0.8, zorder=0)
        if switch not in rows:
            continue
        for outcome, (_, look) in reversed(OUTCOME.items()):
            chosen = ((rows["outcome"] == outcome) & (rows[switch] == level)).to_numpy()
            heights = np.full(chosen.sum(), y)
            axes.plot(places[chosen], heights, "o", markersize=2.6, color=look["color"])
    names = [f"{switch}: {level}" for switch, level in switched]
    name_rows(axes, names if named else [""] * len(names))
    axes.tick_params(labelsize=9, length=0, labelbottom=False)
    axes.set_xlim(-1, len(rows))
    axes.grid(visible=False)
    axes.set_xlabel(f"{len(rows)} readings, sorted by result", fontsize=10)
    axes.spines[["left", "bottom"]].set_visible(False)


@in_our_style
def shares_of_readings(shares, title="", row_height=0.34):
    """Draw for each printed value in how many readings it comes out: `specifications.shares`."""
    names = [": ".join(filter(None, row)) for row in zip(shares["place"], shares["printed"])]
    figure = Picture(figsize=(WIDEST, 1.4 + row_height * len(shares)), layout="constrained")
    axes = figure.add_subplot()
    left = pd.Series(0.0, shares.index)
    for outcome, (words, look) in OUTCOME.items():
        if outcome not in shares:
            continue
        width = 100.0 * shares[outcome] / shares["readings"]
        axes.barh(
            range(len(shares)), width, left=left, color=look["color"], label=words, height=0.7
        )
        left += width
    name_rows(axes, names)
    axes.set(xlabel="percent of the readings", xlim=(0, 100))
    figure.suptitle(title, fontsize=12)
    legend(figure, 4)
    return figure, shares


@in_our_style
def interval_plot(comparison, claims, title="Printed and ours", row_height=0.62, program=()):
    """Draw one row a claim: the paper's value with its margin and error, ours with its interval.

    comparison: of `papers.compare`, with the claims that were compared. Units have panels of their
    own; rows without a number of ours are left out. row_height: inches. program: further rows of a
    comparison, "as in the authors' program", which stand hollow beside those of the same id.
    """
    data = _interval_data(comparison, claims, {row["id"]: row for row in program})
    heights = data.groupby("unit", sort=False).size() + 0.6
    size = (8.4, 1.3 + row_height * (len(data) + len(heights)))
    figure = Picture(figsize=size, layout="constrained")
    all_axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    mark_size = 8 if row_height > 0.5 else 5  # points
    place_of_all = f"{title.partition(':')[0]}, "  # the title says it, so rows need not
    for axes, (unit, rows) in zip(all_axes, data.groupby("unit", sort=False), strict=True):
        _draw_intervals(axes, rows, mark_size)
        name_rows(axes, list(rows["place"].str.removeprefix(place_of_all)))
        axes.set_xlabel(unit)
    figure.suptitle(title, fontsize=12)
    mark = {"marker": "o", "color": VERDICTS[REPRODUCED].colour}
    handles = [
        Line2D([], [], linestyle="", label="paper ± printed s.e.", **PRINTED),
        Line2D([], [], label="ours, 95% interval (colour: verdict)", **mark),
        BAND,
    ]
    if program:
        hollow = mark | {"markerfacecolor": "white"}
        handles.append(Line2D([], [], label="ours, as in the authors' program", **hollow))
    num_columns = 2 if program else 3
    legend(figure, num_columns, handles=handles)
    return figure, data


def _interval_data(comparison, claims, program):
    """Return the numbers of :func:`interval_plot`; program: id of a claim -> its other row."""
    claim_of_id = {claim.id: claim for claim in claims if isinstance(claim.value, int | float)}
    records = []
    for row in comparison[comparison["mean"].notna()].to_dict("records"):
        if row["id"] not in claim_of_id:
            continue
        claim = claim_of_id[row["id"]]
        mean, low, high = _published(claim)
        record = {
            "id": claim.id,
            "place": claim.where,
            "unit": claim.unit,
            "published": mean,
            "published_low": low,
            "published_high": high,
            "margin": claim.margin,
        }
        names = ("mean", "low", "high", "runs", "verdict")
        record |= {name: row[name] for name in names}
        if claim.id in program:
            record |= {f"program_{name}": program[claim.id][name] for name in names}
        records.append(record)
    if not records:
        raise ValueError("no claim has a published number and a value of ours; run the study first")
    data = pd.DataFrame(records)
    scales = data["unit"].map(lambda unit: UNITS.get(unit, UNITS[None]))
    least = scales.map(lambda scale: scale.least)
    most = scales.map(lambda scale: scale.most)
    for name in ("low", "high", "program_low", "program_high"):
        if name in data:
            data[name] = data[name].clip(least, most)
    return data


def _draw_intervals(axes, rows, size):
    """Draw the rows of a panel of :func:`interval_plot`; size: of the marks, in points."""
    sizes = {"markersize": size, "capsize": size / 2}
    for y, row in enumerate(rows.itertuples()):
        if pd.notna(row.margin):
            left = row.published - row.margin
            axes.barh(y, 2 * row.margin, left=left, height=0.8, color=BAND.get_facecolor())
        published = row.published, row.published_low, row.published_high
        interval_bar(axes, *published, y - 0.24, linestyle="", **PRINTED, **sizes)
        look = VERDICTS[row.verdict]
        mark = {"fmt": look.marker, "color": look.colour}
        interval_bar(axes, row.mean, row.low, row.high, y + 0.04, **mark, **sizes)
        if pd.notna(getattr(row, "program_mean", None)):
            program = row.program_mean, row.program_low, row.program_high
            look_of_program = VERDICTS[row.program_verdict]
            mark = {"fmt": look_of_program.marker, "color": look_of_program.colour}
            interval_bar(axes, *program, y + 0.3, markerfacecolor="white", **mark, **sizes)
        axes.use_sticky_edges = False  # room beside the margin
        axes.annotate(
            row.verdict,
            (1.01, y),
            color=look.colour,
            xycoords=("axes fraction", "data"),
            va="center",
            annotation_clip=False,
        )
    axes.locator_params(axis="x", nbins=6)


def interval_bar(axes, mean, low, high, y, **look):
    """Draw a mean with its interval at a height `y`."""
    half = [[mean - low], [high - mean]] if low <= high else None  # one run has no interval
    axes.errorbar(mean, y, xerr=half, **look)


def name_rows(axes, names):
    """Name the rows of a figure, from top to bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)


def legend(figure, columns, **more):
    """Draw the legend of a figure below it, in fewer columns where its names are long."""
    names = more.get("labels")
    if names is None:
        marks = more.get("handles") or figure.axes[0].get_legend_handles_labels()[0]
        names = [mark.get_label() for mark in marks]
    width = 0.5 + 0.072 * max(map(len, names), default=0)  # inches
    columns = max(1, min(columns, int(figure.get_figwidth() / width)))
    rows = -(-len(names) // columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * max(0, rows - 4))
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, **more)


def _with_runs(name, runs, between):
    """Return a name with its number of runs, or the least and the greatest: "TD (3–10 runs)"."""
    least = runs.min()
    most = runs.max()
    number = f"{least}" if least == most else f"{least}{between}{most}"
    unit = "run" if number == "1" else "runs"
    return f"{name} ({number} {unit})"
