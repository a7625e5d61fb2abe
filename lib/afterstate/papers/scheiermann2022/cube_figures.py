"""Figures and tables of the cubes: solved cubes by iterations, by twists, and by distance."""

import pandas as pd

from ...reports.figures import STYLES, interval_of, learning_curves
from ...reports.summaries import by_number, with_logs

TITLES = {"cube2": "2x2x2", "cube3": "3x3x3"}
LABEL = "solved cubes in percent"
LOGGED = {"TCL-base": "TCL-base", "1,000 iterations, c_puct 10": "TCL-wrap"}  # line -> in the log
SEARCHES = {  # how the search reads two silent points (D10, D26) -> end of its metrics
    "as in the original": "",
    "actions never visited count 1": ":unvisited-1",
    "twists on the path cost 0.04, too": ":path-rewards",
}


def ratio(most):
    """Return a function for ``Study.derive``: the rate with `most` iterations by that without."""

    def of(results):
        last = results.iloc[-1]
        alone, wrapped = last.get("solved_rate", 0.0), last.get(f"solved_rate:iterations-{most}")
        return {"solved_rate_ratio": wrapped / alone} if alone > 0 and wrapped is not None else {}

    return of


def wrapped_metrics(iterations, iterations_10, otherwise):
    """Return the metrics that belong to the wrapped agent; `otherwise`: with other searches, too.

    iterations, iterations_10: of the search with c_puct 1 and 10.
    """
    ways = [f"iterations-{n}" for n in iterations if n]
    ways += [f"iterations-{n}:c_puct-10" for n in iterations_10]
    if otherwise:
        ends = filter(None, SEARCHES.values())
        ways += [f"iterations-{n}{end}" for end in ends for n in iterations if n]
    return ["solved_rate_ratio", *(f"solved_rate:{way}" for way in ways)]


def _draw(parts, lines, title, xlabel, logs=(), **look):
    rows = with_logs(pd.concat(parts), dict(logs), "solved")
    look |= {"label": LABEL, "score_axis": False, "logs": list(logs), "title": title}
    picture, data = learning_curves(rows, "solved", lines, **look)
    picture.axes[0].set_xlabel(xlabel)
    return picture, data


def draw_iterations(finals, iterations, iterations_10):
    """Draw Fig. 7 (a): solved cubes by iterations; finals: study -> rows of its last episode."""
    marks = {(1, "cube2"): "o-", (1, "cube3"): "s-", (10, "cube2"): "^:", (10, "cube3"): "v:"}
    parts, styles = [], {}
    for (c_puct, study), (marker, line) in marks.items():
        rows, arm = finals[study], f"{TITLES[study]}, c_puct {c_puct}"
        numbers, end = (iterations, "") if c_puct == 1 else ([0, *iterations_10], ":c_puct-10")
        names = {f"solved_rate:iterations-{n}{end}" if n else "solved_rate": n for n in numbers}
        rows = rows[rows.metric.isin(list(names))]
        parts.append(rows.assign(arm=arm, episode=rows.metric.map(names), metric="solved"))
        color = "#0077bb" if study == "cube2" else "#cc3311"
        styles[arm] = {"color": color, "marker": marker, "linestyle": line}
    title = "Rubik's cubes solved within 20 twists, by iterations of the search"
    xlabel = "iterations of the search before each twist (0 = TCL-base)"
    return _draw(parts, list(styles), title, xlabel, styles=styles)


def draw_solved(study, final, what, iterations, most_10, fewest, log=None):
    """Draw Fig. 7 (b): solved cubes by "twists" or "distance", alone and with the searches.

    final: rows of its last episode; most_10: iterations with c_puct 10; fewest: a distance of which
    all agents together have fewer cubes is left out; log: the original's results, by agent.
    """
    starts = {"TCL-base": "solved_rate"}
    starts |= {f"{n:,} iterations": f"solved_rate:iterations-{n}" for n in iterations if n}
    starts[f"{most_10:,} iterations, c_puct 10"] = f"solved_rate:iterations-{most_10}:c_puct-10"
    cubes, parts = final.groupby("metric").value.sum(), []
    for line, start in starts.items():
        rows = final[final.metric.str.startswith(f"{start}:{what}-")]
        if what == "distance":
            number = rows.metric.str.replace("solved_rate", "cubes").map(cubes)
            rows = rows[~(number < fewest)]
        parts.append(by_number(rows, "solved").assign(arm=line))
    logs = {f"{line}, original": log[agent] for line, agent in LOGGED.items()} if log else {}
    styles = {line: STYLES[k % len(STYLES)] | {"linestyle": "-"} for k, line in enumerate(starts)}
    for line in LOGGED:
        styles[f"{line}, original"] = styles.get(line, STYLES[6]) | {"linestyle": ":"}
    title = f"{TITLES[study]} cubes solved within 20 twists"
    xlabel = "scrambling twists" if what == "twists" else "twists from solved, exactly"
    return _draw(parts, [*starts, *logs], title, xlabel, logs, styles=styles)


def far_and_near(final, iterations):
    """Return how many of the far and of the near cubes the searches of SEARCHES solve."""
    rows = []
    for label, how in SEARCHES.items():
        for n in filter(None, iterations):
            start = f"solved_rate:iterations-{n}{how}"
            close = final[final.metric.isin([f"{start}:twists-{twists}" for twists in (3, 4)])]
            far, near = final[final.metric == start].value, close.groupby("run").value.mean()
            if len(far) and len(near):
                both = (*interval_of("solved_rate", far), *interval_of("solved_rate", near))
                rows.append((label, n, len(far), *both))
    columns = ["agents", "11 to 13 twists", "95% low", "95% high", "3 and 4 twists"]
    return pd.DataFrame(rows, columns=["search", "iterations", *columns, "low (95%)", "high (95%)"])
