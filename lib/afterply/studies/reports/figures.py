"""Figures, each a function of a table that returns ``(figure, data)``: every number drawn."""

import matplotlib
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter

from ...stats import Interval, mean_interval, plain
from ..papers.compare import UNITS
from ..papers.verdicts import MIN_RUNS, REPRODUCED
from ..results import LIKE, filling, in_percent
from .picture import DARK, SETTINGS, SIZE, VERDICTS, Picture

LOOKS = (
    *(("#cc3311", "o", "-"), ("#0077bb", "s", "--"), ("#009988", "^", "-.")),
    *(("#ee7733", "D", "-"), ("#33bbee", "v", "--"), ("#ee3377", "P", "-.")),
    *(("#5c5c5c", "X", ":"), ("#0077bb", "s", "-"), ("#009988", "^", "--")),
    ("#882255", "*", "-"),
)
# by position in the figure
STYLES = [dict(zip(("color", "marker", "linestyle"), look, strict=True)) for look in LOOKS]
OWN_COLOURS = ("#000000", "#aa3377", "#bbaa00")  # of arms of one's own
BAND = Patch(color="#d9d9d9", label="margin")
PRINTED = {"marker": "D", "color": DARK, "markerfacecolor": "white"}
CEILING = "both at the ceiling"
# cells of a map of effects
PLAIN = {"no difference": "#e4e4e4", CEILING: "#f2ead3", "open": "#ffffff"}
INTERVAL = ["runs", "mean", "low", "high"]
in_our_style = matplotlib.rc_context(SETTINGS)  # as a decorator


def arm_style(arm, arms=(), styles=None):
    """Return colour, marker and line of an arm: from `styles`, else by its position in `arms`."""
    if styles and arm in styles:
        return styles[arm]
    others = [name for name in arms if not styles or name not in styles]
    return STYLES[others.index(arm) % len(STYLES) if arm in others else 0]


def interval_of(measure, values) -> Interval:
    """Return the mean over runs and its 95% interval; that of a share ends at 0 and 100%."""
    mean, low, high = mean_interval(values)
    if in_percent(measure) and 0.0 <= mean <= 100.0:
        low, high = max(low, 0.0), min(high, 100.0)
    return Interval(mean, low, high)


def curve_data(table, lines, by="arm", x="episode"):
    """Return the mean over runs and its 95% interval at each x, for each line of a figure.

    table: results of one measure, `afterply.studies.results.select`; `by` is the column whose
    words tell the lines, `x` one of numbers. Columns: `by`, `x`, runs, mean, low, high. ValueError
    if a run has two values in one place, since they are of different things.
    """
    lines = list(dict.fromkeys(lines))
    rows = table[table[by].isin(lines)]
    for twice in rows[rows.duplicated([by, "run", x], keep=False)][:1].to_dict("records"):
        others = [n for n in ("study", *filling(table)) if n in table and n not in (by, x)]
        differ = [n for n in others if rows[n].nunique(dropna=False) > 1]
        raise ValueError(
            f"run {twice['run']} of {twice[by]!r} has two values at {x} {twice[x]}: select one of"
            f" {', '.join(differ) or 'them'} first"
        )
    records = [
        (line, place, len(group), *mean_interval(group["value"]))
        for line in lines
        for place, group in rows[rows[by] == line].groupby(x)
    ]
    return pd.DataFrame(records, columns=[by, x, *INTERVAL])


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
):
    """Draw learning curves: mean over runs with its 95% interval at every evaluated episode.

    table, lines, by, x: as in :func:`curve_data`. published: claims, which stand at the right end.
    best: the best achievable value. score_axis: a second axis, for a rate in percent. possible:
    least and greatest value, where intervals are cut off, or None. logs: lines that are printed or
    logged by the authors. styles: line -> colour, marker and linestyle (default: by position).
    """
    table, lines, own_styles = _with_own(table, list(lines), by, styles)
    data = curve_data(table, lines, by, x)
    data.insert(1, "kind", ["original" if line in logs else "ours" for line in data[by]])
    if possible:
        data["low"] = data["low"].clip(lower=possible[0])
        data["high"] = data["high"].clip(upper=possible[1])
    figure = Picture(figsize=SIZE, layout="constrained")
    axes, extra = figure.add_subplot(), []
    for line in lines:
        own = data[data[by] == line].rename(columns={x: "x"})
        style = own_styles.get(line) or arm_style(line, lines, styles)
        _draw_curve(axes, own, line, style, counted=line not in logs)
    last = data[x].max() if len(data) else 1
    for place, claim in enumerate(published):
        style, beside = arm_style(claim.arm, lines, styles), last * (1.03 + 0.015 * place)
        drawn = _draw_published(axes, claim, beside, style)
        extra.append({by: claim.arm, x: last, **drawn})
    if best is not None:
        name = f"best achievable ({plain(best)})"
        axes.axhline(best, color=DARK, linewidth=1.2, linestyle=":", label=name)
        extra.append({by: "", "kind": "best achievable", x: last, "mean": best})
    axes.set(xlabel=xlabel, ylabel=label, title=title)
    _show_beginning(axes, data, by, x, own_styles)
    if possible:
        (low, high), room = axes.get_ylim(), 0.03 * (possible[1] - possible[0])
        axes.set_ylim(max(low, possible[0] - room), min(high, possible[1] + room))
    if score_axis:
        scale = (lambda rate: rate / 50 - 1, lambda score: 50 * (score + 1))
        axes.secondary_yaxis("right", functions=scale).set_ylabel("score (−1 lost … +1 won)")
    legend(figure, 2, title="mean and 95% interval over runs")
    more = [pd.DataFrame(extra, columns=data.columns)] if extra else []
    return figure, pd.concat([data, *more], ignore_index=True)


def _with_own(table, lines, by, styles):
    """Return the table and lines with arms of one's own that are like a drawn one, and styles."""
    if LIKE not in table or not (table[LIKE] != "").any():
        return table, lines, {}
    own = table[LIKE] != ""
    counterpart = table[LIKE] if by == "arm" else table[by]
    named = table["arm"] if by == "arm" else table["arm"] + ", " + table[by]
    arms, drawn = list(table["arm"][own].unique()), own & counterpart.isin(lines)
    looks = {}
    for name, like, arm in zip(named[drawn], counterpart[drawn], table["arm"][drawn], strict=True):
        look = arm_style(like, lines, styles) | {"linewidth": 2.6}
        looks[name] = look | {"color": OWN_COLOURS[arms.index(arm) % len(OWN_COLOURS)]}
    table = table.assign(**{by: table[by].where(~own, named)})
    return table, [*lines, *looks], looks


def _show_beginning(axes, data, by, x, own):
    # what two minutes reach is the beginning of a long training
    ends = data[data[by].isin(list(own))][x].max() if own else None
    if own and data[x][data[x] > 0].size and ends < data[x].max() / 4:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_curve(axes, rows, arm, style, counted):
    if rows.empty:
        axes.plot([], [], label=f"{arm}: not run", **style)
        return
    step = max(1, len(rows) // 20)
    label = _with_runs(arm, rows["runs"], "–") if counted else arm
    look = style | {"label": label, "markersize": 4.5, "markevery": step}
    axes.plot(rows["x"], rows["mean"], **look)
    if rows["low"].notna().any():
        look = {"color": style["color"], "alpha": 0.16, "linewidth": 0}
        axes.fill_between(rows["x"], rows["low"], rows["high"], **look)
        some = rows.iloc[::step]
        half = [some["mean"] - some["low"], some["high"] - some["mean"]]
        look = {"fmt": "none", "ecolor": style["color"], "elinewidth": 1, "capsize": 2.5}
        axes.errorbar(some["x"], some["mean"], half, **look)


def _draw_published(axes, claim, x, style):
    """Draw a published value beside the end of the curves, where it hides nothing."""
    mean, low, high = _published(claim)
    label = f"{claim.arm}, published" + (" (± printed s.e.)" if low < mean else "")
    look = {"fmt": style["marker"], "color": style["color"], "markerfacecolor": "white"}
    look |= {"markersize": 9, "markeredgewidth": 1.8, "capsize": 5, "zorder": 5, "label": label}
    axes.errorbar([x], [mean], [[mean - low] if low < mean else [0]], **look)
    runs = (claim.uncertainty or {}).get("runs")
    return {"kind": "published", "runs": runs, "mean": mean, "low": low, "high": high}


def _published(claim):
    """Return a printed value with its error: mean, low and high."""
    error = claim.published_sem or float("nan")
    return claim.value, claim.value - error, claim.value + error


def ladders(rungs, label="rating (Elo points above the random player)", title=""):
    """Draw ladders of opponents, one line a method; rungs: method, dial, run, value."""
    look = {"score_axis": False, "possible": None, "label": label, "title": title}
    look["xlabel"] = "dial (0 = knows nothing, 1 = as it was trained)"
    methods = list(dict.fromkeys(rungs["method"]))
    figure, data = learning_curves(rungs, methods, "method", "dial", **look)
    return figure, data.drop(columns="kind")


@in_our_style
def panels(rows, tables, title="", lines=None):
    """Draw one row for each thing, and beside each other the panels of what is known of it.

    tables: label of a panel -> DataFrame [row, series, runs, mean, low, high]; a printed value has
    0 runs; fewer than three have no interval. lines: label of a panel -> its vertical line.
    """
    filled = [table.assign(panel=label) for label, table in tables.items() if len(table)]
    data = pd.concat(filled, ignore_index=True)[["panel", "row", "series", *INTERVAL]]
    names = max(1.9, 0.6 + 0.075 * max(map(len, rows)))  # inches, beside the panels
    size = (names + 3.3 * len(tables), 1.9 + 0.42 * len(rows))
    figure = Picture(figsize=size, layout="constrained")
    all_axes = figure.subplots(1, len(tables), sharey=True, squeeze=False)[0]
    for axes, label in zip(all_axes, tables, strict=True):
        own = data[data["panel"] == label]
        _draw_series(axes, own, list(rows))
        if label in (lines or {}):
            axes.axvline(lines[label], color=DARK, linewidth=1.2, linestyle=":")
        axes.set_xlabel(label)
        if len(own):
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    name_rows(all_axes[0], rows)
    figure.suptitle(title, fontsize=12)
    return figure, data


def _draw_series(axes, data, rows):
    """Draw the series of every row below each other, with intervals of several runs."""
    names = list(dict.fromkeys(data["series"]))
    for k, series in enumerate(names):
        own, style = data[data["series"] == series], STYLES[k % len(STYLES)]
        shift = 0.0 if len(names) == 1 else -0.2 + 0.4 * k / (len(names) - 1)
        y, known = [rows.index(row) + shift for row in own["row"]], own["runs"] >= MIN_RUNS
        half = [(own["mean"] - own[end]).abs().where(known).fillna(0) for end in ("low", "high")]
        label = _with_runs(series, own["runs"], " to ") if own["runs"].any() else series
        look = {"fmt": style["marker"], "color": style["color"], "capsize": 3, "linewidth": 1.4}
        axes.errorbar(own["mean"], y, xerr=half, label=label, **look)


@in_our_style
def effect_map(effects, rows, columns, title="", label="percent of the best result"):
    """Draw `summaries.effects` as a map: colour where a part helps or harms, grey where neither.

    A number in brackets is open; at the ceiling there is none, since it could not be larger. An
    empty cell was not tried, or has too few runs.
    """
    size = (2.2 + 0.95 * len(columns), 2.6 + 0.5 * len(rows))
    figure = Picture(figsize=size, layout="constrained")
    axes, colours = figure.add_subplot(), matplotlib.colormaps["RdBu"]
    for cell in effects.itertuples():
        x, y, share = columns.index(cell.column), rows.index(cell.row), cell.effect / 100
        decided, text = cell.verdict not in PLAIN, f"{round(cell.effect):+d}"
        colour = PLAIN.get(cell.verdict, colours(0.5 + max(-0.5, min(share, 0.5))))
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
        look = {"color": "white" if decided and abs(share) > 0.3 else DARK}
        look |= {"weight": "bold"} if decided else {}
        text = {"open": f"({text})", CEILING: "ceiling"}.get(cell.verdict, text)
        axes.text(x, y, text, ha="center", va="center", **look)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), title=title)
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="left")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    axes.grid(visible=False)
    shades = {"helps": colours(0.85), "harms": colours(0.15)} | PLAIN
    words = "helps", "harms", "no difference", CEILING
    marks = [Patch(color=shades[word], label=word) for word in words]
    marks.append(Patch(facecolor=PLAIN["open"], edgecolor=DARK, label="( ) open"))
    figure.legend(handles=marks, loc="outside lower center", ncols=5, frameon=False, title=label)
    return figure, effects


@in_our_style
def strip(groups, label, best=None, title=""):
    """Draw every run as a dot, and the mean of each group (name -> values) with its interval."""
    means = {name: mean_interval(values) for name, values in groups.items() if len(values)}
    if not means:
        raise ValueError(f"the groups {list(groups)} hold no values; run the study first")
    figure = Picture(figsize=(SIZE[0], 0.9 + 0.8 * len(groups)), layout="constrained")
    axes, rows = figure.add_subplot(), []
    for y, (name, values) in enumerate(groups.items()):
        rows += [(name, run, float(value), *means[name]) for run, value in enumerate(values)]
        axes.plot(values, [y] * len(values), "o", color=STYLES[y % len(STYLES)]["color"], alpha=0.5)
        if name in means:
            look = {"fmt": "|", "color": DARK, "markersize": 14, "capsize": 4}
            interval_bar(axes, *means[name], y + 0.28, **look)
    if best is not None:
        axes.axvline(best, color=DARK, linewidth=1.2, linestyle=":")
    axes.set(xlabel=label, title=title)
    name_rows(axes, list(groups))
    return figure, pd.DataFrame(rows, columns=["group", "run", "value", "mean", "low", "high"])


@in_our_style
def interval_plot(comparison, claims, title="Printed and ours", row_height=0.62, program=()):
    """Draw one row a claim: the paper's value with its margin and error, ours with its interval.

    comparison: of `papers.compare`, with the claims that were compared. Units have panels of their
    own; rows without a number of ours are left out. row_height: inches. program: further rows of a
    comparison, "as in the authors' program", which stand hollow beside those of the same id.
    """
    by_id, records = {c.id: c for c in claims if isinstance(c.value, int | float)}, []
    theirs = {row["id"]: row for row in program}
    for row in comparison[comparison["mean"].notna()].to_dict("records"):
        if claim := by_id.get(row["id"]):
            place = {"id": claim.id, "place": claim.where, "unit": claim.unit}
            names = ("published", "published_low", "published_high")
            place |= dict(zip(names, _published(claim), strict=True))
            both = {name: row[name] for name in (*INTERVAL[1:], "runs", "verdict")}
            if claim.id in theirs:
                both |= {f"program_{name}": theirs[claim.id][name] for name in list(both)}
            records.append(place | {"margin": claim.margin} | both)
    if not records:
        raise ValueError("no claim has a published number and a value of ours; run the study first")
    data = pd.DataFrame(records)
    least = data["unit"].map(lambda unit: UNITS.get(unit, UNITS[None])[2])
    for name in {"low", "program_low"} & set(data):
        data[name] = data[name].clip(lower=least)
    heights = data.groupby("unit", sort=False).size() + 0.6
    size = (8.4, 1.3 + row_height * (len(data) + len(heights)))
    figure = Picture(figsize=size, layout="constrained")
    all_axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (unit, rows) in zip(all_axes, data.groupby("unit", sort=False), strict=True):
        _draw_intervals(axes, rows, size=8 if row_height > 0.5 else 5)
        name_rows(axes, list(rows["place"].str.removeprefix(f"{title.partition(':')[0]}, ")))
        axes.set_xlabel(unit)
    figure.suptitle(title, fontsize=12)
    printed = Line2D([], [], linestyle="", label="paper ± printed s.e.", **PRINTED)
    mine = {"marker": "o", "color": VERDICTS[REPRODUCED].colour}
    handles = [printed, Line2D([], [], label="ours, 95% interval (colour: verdict)", **mine), BAND]
    if theirs:
        mine["markerfacecolor"] = "white"
        handles.append(Line2D([], [], label="ours, as in the authors' program", **mine))
    legend(figure, 2 if theirs else 3, handles=handles)
    return figure, data


def _draw_intervals(axes, rows, size):
    apart = {"markersize": size, "capsize": size / 2}
    beside = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
    for y, row in enumerate(rows.itertuples()):
        if pd.notna(row.margin):
            left, width = row.published - row.margin, 2 * row.margin
            axes.barh(y, width, left=left, height=0.8, color=BAND.get_facecolor())
        printed = row.published, row.published_low, row.published_high
        interval_bar(axes, *printed, y - 0.24, linestyle="", **PRINTED, **apart)
        look = VERDICTS[row.verdict]
        ours = {"fmt": look.marker, "color": look.colour} | apart
        interval_bar(axes, row.mean, row.low, row.high, y + 0.04, **ours)
        if pd.notna(getattr(row, "program_mean", None)):
            other = VERDICTS[row.program_verdict]
            ours |= {"fmt": other.marker, "color": other.colour, "markerfacecolor": "white"}
            interval_bar(axes, row.program_mean, row.program_low, row.program_high, y + 0.3, **ours)
        axes.use_sticky_edges = False  # room beside the margin
        axes.annotate(row.verdict, (1.01, y), color=look.colour, **beside)
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
    """Draw the legend of a figure below it."""
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, **more)


def _with_runs(name, runs, between):
    many = between.join(str(number) for number in sorted({runs.min(), runs.max()}))
    return f"{name} ({many} run{'' if many == '1' else 's'})"
