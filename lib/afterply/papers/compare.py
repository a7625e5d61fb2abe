"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from ..stats import mean_interval, printed, together, with_interval
from .claims import Claim
from .verdicts import NOT_A_TARGET, NOT_RUN, verdict

COLUMNS = (
    "id place printed ours mean low high runs verdict explanation unit margin runs_needed paper"
    " study arm metric"
).split()
RESULT_COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]
# Of a unit the decimals of our values (None: what their spread asks), what stands behind them, and
# what values there can be at all: the t interval of few runs does not know it.
UNITS = {
    **dict.fromkeys(("percent", "percent of weights"), (1, "%", 0, 100)),
    **dict.fromkeys(("score", "points"), (0, "", -math.inf, math.inf)),
    **dict.fromkeys(("games", "episodes"), (1, "", 0, math.inf)),
    **{"training games": (0, "", 0, math.inf), "count": (None, "", 0, math.inf)},
    **{"reward": (3, "", -math.inf, math.inf), None: (None, "", -math.inf, math.inf)},
}


def by_metric(results: pd.DataFrame | None) -> dict:
    """Return (study, arm, metric) -> its rows."""
    results = pd.DataFrame(columns=RESULT_COLUMNS) if results is None else results
    if lacking := [column for column in RESULT_COLUMNS if column not in results.columns]:
        raise ValueError(f"results lack the columns {lacking}; they need {RESULT_COLUMNS}")
    return dict(iter(results.groupby(["study", "arm", "metric"], sort=False)))


def compare(claims: Iterable[Claim], results: pd.DataFrame | dict | None = None) -> pd.DataFrame:
    """Return for each of `claims` what is printed, ours with interval, and the verdict.

    `results` are a table, or what :func:`by_metric` makes of it.
    """
    runs = results if isinstance(results, dict) else by_metric(results)
    return pd.DataFrame([row_of(claim, runs) for claim in claims], columns=COLUMNS)


def row_of(claim, runs) -> dict:
    """Return a claim's row of :func:`compare`."""
    # of each run the value at the last episode counts that any run of the arm has reached; runs
    # that stopped earlier are left out and named
    row = {name: getattr(claim, name) for name in "id unit margin paper study arm metric".split()}
    row |= {"place": claim.where, "printed": printed(claim.printed), "ours": "", "runs": 0}
    row |= dict.fromkeys(("mean", "low", "high", "runs_needed"), math.nan)
    parts = claim.value if isinstance(claim.value, Mapping) else [None]
    metrics = {name: f"{claim.metric}:{name}" if name else claim.metric for name in parts}
    found = {name: runs.get((claim.study, claim.arm, metric)) for name, metric in metrics.items()}
    lacking = [str(metrics[name]) for name, rows in found.items() if rows is None]
    if not lacking:
        cells = {name: list(_last(rows).values()) for name, rows in found.items()}
        row["runs"] = min(map(len, cells.values()))
        intervals = [mean_interval(values) for values in cells.values()]
        row["ours"] = _in_words(intervals, row["runs"], claim)
        if len(intervals) == 1:
            row["mean"], row["low"], row["high"] = intervals[0]
    if not claim.target:
        return row | {"verdict": NOT_A_TARGET, "explanation": claim.reason}
    if lacking:
        where = f"the arm {claim.arm} in the study {claim.study}"
        missing = f"needs {claim.needs}" if claim.needs else f"no {', '.join(lacking)} of {where}"
        return row | {"verdict": NOT_RUN, "explanation": missing}
    how = {"counted": claim.counted, "relation": claim.relation, "better": claim.better}
    error, behind = claim.printed_error
    how["trainings"] = None if error else claim.trainings
    result = verdict(cells.get(None, cells), claim.value, claim.margin, error, behind, **how)
    left_out = max(rows["run"].nunique() - len(cells[name]) for name, rows in found.items())
    text = result.explanation + (f"; {left_out} unfinished run(s) left out" if left_out else "")
    needed = math.nan if result.runs_needed is None else result.runs_needed
    return row | {"verdict": result.label, "explanation": text, "runs_needed": needed}


def _last(rows):
    # run -> its value at the last episode; an evaluation without training has no episode
    rows = rows.assign(episode=rows["episode"].fillna(-1))
    last = rows[rows["episode"] == rows["episode"].max()].sort_values("run")
    if last["run"].duplicated().any():
        one = last[last["run"].duplicated()].iloc[0]
        raise ValueError(
            "run {run} of {arm} in {study} has two final values of {metric}".format(**one)
        )
    return dict(zip(last["run"].tolist(), last["value"].astype(float).tolist(), strict=True))


def final_values(rows, which="last"):
    """Return run -> value at the last episode, of rows of :func:`by_metric`."""
    # `which` may be "largest" or "smallest": of all values of a run that came to the end
    last = _last(rows)
    if which == "last":
        return last
    extremes = rows.groupby("run")["value"].agg("max" if which == "largest" else "min")
    return {run: float(extremes[run]) for run in last}


def _in_words(intervals, runs, claim):
    decimals, unit, least, most = UNITS.get(claim.unit, UNITS[None])
    of = f"{runs} run" if runs == 1 else f"{runs} runs"
    if len(intervals) > 1:
        means = together([interval.mean for interval in intervals], decimals=decimals)
        return f"{' : '.join(means)} ({of})"
    mean, low, high = intervals[0]
    if runs == 1:
        return f"{together([mean], decimals=decimals)[0]}{unit} ({of})"
    if least <= mean <= most:
        low, high = max(low, least), min(high, most)
    return f"{with_interval(mean, low, high, unit, decimals)} ({of})"
