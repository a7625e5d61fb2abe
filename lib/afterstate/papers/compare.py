"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from ..stats import cell, mean_interval, printed, together, with_interval
from .claims import Claim
from .verdicts import NOT_A_TARGET, NOT_RUN, verdict

COLUMNS = (
    "id place printed ours mean low high runs verdict explanation unit margin runs_needed paper"
    " study arm metric"
).split()
RESULT_COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]
# Decimals of our values by unit, and what stands behind them; others have what their spread asks.
FORMATS = {
    **dict.fromkeys(("percent", "percent of weights"), (1, "%")),
    **dict.fromkeys(("score", "points", "training games"), (0, "")),
    **{"reward": (3, ""), "games": (1, ""), "episodes": (1, "")},
}
# What values of a unit can be at all; the t interval of few runs does not know it.
POSSIBLE = {
    **dict.fromkeys(("percent", "percent of weights"), (0, 100)),
    **dict.fromkeys(("games", "training games", "episodes", "count"), (0, math.inf)),
}


def compare(
    claims: Iterable[Claim], results: pd.DataFrame | None = None, consistent: bool = True
) -> pd.DataFrame:
    """Return one row a claim: the printed value, ours with its 95% interval, and the verdict.

    Of each run in the `results` (`RESULT_COLUMNS`) the value at the last episode counts that any
    run of the arm has reached; runs that stopped earlier are left out and named. What has no
    results is "not run". `consistent` says whether that verdict is given.

    Raises ValueError for a missing column, or two final values of one run.
    """
    runs = _by_metric(results)
    return pd.DataFrame([_row(claim, runs, consistent) for claim in claims], columns=COLUMNS)


def _row(claim, runs, consistent):
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
        return row | {"verdict": NOT_RUN, "explanation": _missing(claim, lacking, runs)}
    result = _judge(claim, cells, consistent)
    left_out = max(rows["run"].nunique() - len(cells[name]) for name, rows in found.items())
    text = result.explanation + (f"; {left_out} unfinished run(s) left out" if left_out else "")
    needed = math.nan if result.runs_needed is None else result.runs_needed
    return row | {"verdict": result.label, "explanation": text, "runs_needed": needed}


def _missing(claim, lacking, runs):
    study, arm = claim.study, claim.arm
    if claim.needs:
        return f"needs {claim.needs}"
    if not any(found[0] == study for found in runs):
        return f"no results of the study {study}"
    if not any(found[:2] == (study, arm) for found in runs):
        return f"no runs of the arm {arm} in the study {study}"
    return f"no {', '.join(lacking)} of the arm {arm} in the study {study}"


def _judge(claim, cells, consistent):
    how = {"counted": claim.counted, "consistent": consistent, "relation": claim.relation}
    how |= {"better": claim.better, "shared_spread": claim.shared_runs is not None}
    runs = claim.uncertainty.get("runs") if claim.uncertainty else claim.shared_runs
    error = 0.0 if claim.counted else claim.published_sem
    return verdict(cells.get(None, cells), claim.value, claim.margin, error, runs, **how)


def _by_metric(results):
    # (study, arm, metric) -> its rows
    if results is None or results.empty:
        return {}
    if lacking := [column for column in RESULT_COLUMNS if column not in results.columns]:
        raise ValueError(f"results lack the columns {lacking}; they need {RESULT_COLUMNS}")
    return dict(iter(results.groupby(["study", "arm", "metric"], sort=False)))


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


def final_values(results, arm, metric):
    """Return run -> value at the last episode of an arm, of the results of one study (or None)."""
    if results is None or results.empty:
        return {}
    return _last(results[(results["arm"] == arm) & (results["metric"] == metric)])


def _in_words(intervals, runs, claim):
    decimals, unit = FORMATS.get(claim.unit, (None, ""))
    of = f"{runs} run" if runs == 1 else f"{runs} runs"
    if len(intervals) > 1:
        return f"{cell(together([i.mean for i in intervals], decimals=decimals))} ({of})"
    mean, low, high = intervals[0]
    if runs == 1:
        return f"{together([mean], decimals=decimals)[0]}{unit} ({of})"
    least, most = POSSIBLE.get(claim.unit, (-math.inf, math.inf))
    if least <= mean <= most:
        low, high = max(low, least), min(high, most)
    return f"{with_interval(mean, low, high, unit, decimals)} ({of})"
