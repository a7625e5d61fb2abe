"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..stats import cell, mean_interval, printed, together, with_interval
from .claims import Claim
from .verdicts import NOT_A_TARGET, NOT_RUN, verdict, verdict_joint

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
    finals = _final_values(results)
    return pd.DataFrame([_row(claim, finals, consistent) for claim in claims], columns=COLUMNS)


def _row(claim, finals, consistent):
    cells, missing = _find(claim, finals)
    row = {name: getattr(claim, name) for name in "id unit margin paper study arm metric".split()}
    row |= {"place": claim.where, "printed": printed(claim.printed), "ours": "", "runs": 0}
    row |= dict.fromkeys(("mean", "low", "high", "runs_needed"), math.nan)
    if cells:
        intervals = [mean_interval(values) for values, _ in cells.values()]
        row["runs"] = min(len(values) for values, _ in cells.values())
        row["ours"] = _in_words(intervals, row["runs"], claim)
        if len(intervals) == 1:
            row["mean"], row["low"], row["high"] = intervals[0]
    if not claim.target:
        return row | {"verdict": NOT_A_TARGET, "explanation": claim.reason}
    if not cells:
        return row | {"verdict": NOT_RUN, "explanation": missing}
    result = _judge(claim, {name: values for name, (values, _) in cells.items()}, consistent)
    left_out = max(unfinished for _, unfinished in cells.values())
    text = result.explanation + (f"; {left_out} unfinished run(s) left out" if left_out else "")
    needed = math.nan if result.runs_needed is None else result.runs_needed
    return row | {"verdict": result.label, "explanation": text, "runs_needed": needed}


def _judge(claim, cells, consistent):
    if isinstance(claim.value, Mapping):
        return verdict_joint(cells, claim.value, claim.margin, claim.counted, consistent)
    return verdict(
        cells[None],
        claim.value,
        claim.margin,
        claim.published_sem,
        claim.uncertainty.get("runs") if claim.uncertainty else claim.shared_runs,
        claim.better,
        claim.relation,
        shared_spread=claim.shared_runs is not None,
        counted=claim.counted,
        consistent=consistent,
    )


def _find(claim, finals):
    # component -> (values, number of unfinished runs), or None and what is missing
    study, arm, metrics = claim.study, claim.arm, {None: claim.metric}
    if isinstance(claim.value, Mapping):
        metrics = {name: f"{claim.metric}:{name}" for name in claim.value}
    cells = {name: finals.get((study, arm, metric)) for name, metric in metrics.items()}
    lacking = [str(metrics[name]) for name, found in cells.items() if found is None]
    if not lacking:
        return cells, None
    if claim.needs:
        return None, f"needs {claim.needs}"
    if not any(found[0] == study for found in finals):
        return None, f"no results of the study {study}"
    if not any(found[:2] == (study, arm) for found in finals):
        return None, f"no runs of the arm {arm} in the study {study}"
    return None, f"no {', '.join(lacking)} of the arm {arm} in the study {study}"


def _final_values(results):
    # (study, arm, metric) -> (values in the order of runs, number of unfinished runs)
    if results is None or results.empty:
        return {}
    if lacking := [column for column in RESULT_COLUMNS if column not in results.columns]:
        raise ValueError(f"results lack the columns {lacking}; they need {RESULT_COLUMNS}")
    finals = {}
    # An evaluation without training (a search against a random player) has no episode.
    results = results.assign(episode=results["episode"].fillna(-1))
    for name, group in results.groupby(["study", "arm", "metric"], sort=False):
        last = group[group["episode"] == group["episode"].max()].sort_values("run")
        if last["run"].duplicated().any():
            run = last["run"][last["run"].duplicated()].iloc[0]
            study, arm, metric = name
            raise ValueError(f"run {run} of {arm} in {study} has two final values of {metric}")
        finals[name] = last["value"].to_numpy(dtype=np.float64), group["run"].nunique() - len(last)
    return finals


def final_values(results, arm, metric):
    """Return run -> value at the last episode of an arm, of the results of one study (or None)."""
    if results is None or results.empty:
        return {}
    rows = results[(results["arm"] == arm) & (results["metric"] == metric)]
    rows = rows.assign(episode=rows["episode"].fillna(-1))
    rows = rows[rows["episode"] == rows["episode"].max()]
    return dict(sorted(zip(rows["run"].tolist(), rows["value"].tolist(), strict=True)))


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
