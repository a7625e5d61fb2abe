"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..digits import cell, printed, together, with_interval
from ..stats import mean_interval
from .claims import Claim
from .verdicts import NOT_A_TARGET, NOT_RUN, verdict, verdict_joint

COLUMNS = [
    "id",
    "place",
    "printed",
    "ours",
    "mean",
    "low",
    "high",
    "runs",
    "verdict",
    "explanation",
    "unit",
    "margin",
    "runs_needed",
    "paper",
    "study",
    "arm",
    "metric",
]
RESULT_COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]
# Decimals of our values by unit, and what stands behind them; others have what their spread asks.
FORMATS = {
    "percent": (1, "%"),
    "percent of weights": (1, "%"),
    "score": (0, ""),
    "points": (0, ""),
    "reward": (3, ""),
    "games": (1, ""),
    "training games": (0, ""),
    "episodes": (1, ""),
}
# What values of a unit can be at all; the t interval of few runs does not know it.
POSSIBLE = {
    "percent": (0, 100),
    "percent of weights": (0, 100),
    "games": (0, math.inf),
    "training games": (0, math.inf),
    "episodes": (0, math.inf),
    "count": (0, math.inf),
}


def compare(
    claims: Iterable[Claim], results: pd.DataFrame | None = None, consistent: bool = True
) -> pd.DataFrame:
    """Return one row a claim: the printed value, ours with its 95% interval, and the verdict.

    results: columns study, arm, run, episode, metric, value. Of each run the value at the last
    episode counts that any run of the arm has reached; runs that stopped earlier are left out and
    named. It may be empty or lack arms: "not run". consistent: whether that verdict is given.
    Raises ValueError for a missing column or two values of one run.
    """
    finals = _final_values(results)
    return pd.DataFrame([_row(claim, finals, consistent) for claim in claims], columns=COLUMNS)


def _row(claim, finals, consistent):
    cells, missing = _find(claim, finals)
    row = {
        "id": claim.id,
        "place": claim.where,
        "printed": printed(claim.printed),
        "ours": "",
        "mean": math.nan,
        "low": math.nan,
        "high": math.nan,
        "runs": 0,
        "unit": claim.unit,
        "margin": claim.margin,
        "runs_needed": math.nan,
        "paper": claim.paper,
        "study": claim.study,
        "arm": claim.arm,
        "metric": claim.metric,
    }
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
    values = {name: values for name, (values, _) in cells.items()}
    result = _judge(claim, values, consistent)
    left_out = max(unfinished for _, unfinished in cells.values())
    text = result.explanation + (f"; {left_out} unfinished run(s) left out" if left_out else "")
    needed = math.nan if result.runs_needed is None else result.runs_needed
    return row | {"verdict": result.label, "explanation": text, "runs_needed": needed}


def _judge(claim, cells, consistent):
    if isinstance(claim.value, Mapping):
        return verdict_joint(cells, claim.value, claim.margin, claim.counted, consistent)
    runs = claim.uncertainty.get("runs") if claim.uncertainty else claim.shared_runs
    return verdict(
        cells[None],
        claim.value,
        claim.margin,
        claim.published_sem,
        runs,
        claim.better,
        claim.relation,
        shared_spread=claim.shared_runs is not None,
        counted=claim.counted,
        consistent=consistent,
    )


def _find(claim, finals):
    """Return component -> (values, number of unfinished runs), or None and what is missing."""
    components = (
        {name: f"{claim.metric}:{name}" for name in claim.value}
        if isinstance(claim.value, Mapping)
        else {None: claim.metric}
    )
    cells = {
        name: finals.get((claim.study, claim.arm, metric)) for name, metric in components.items()
    }
    lacking = [components[name] for name, cell in cells.items() if cell is None]
    if not lacking:
        return cells, None
    if claim.needs:
        return None, f"needs {claim.needs}"
    if not any(study == claim.study for study, _, _ in finals):
        return None, f"no results of the study {claim.study}"
    if not any((study, arm) == (claim.study, claim.arm) for study, arm, _ in finals):
        return None, f"no runs of the arm {claim.arm} in the study {claim.study}"
    return (
        None,
        f"no {', '.join(map(str, lacking))} of the arm {claim.arm} in the study {claim.study}",
    )


def _final_values(results):
    """Return (study, arm, metric) -> (values in the order of runs, number of unfinished runs)."""
    if results is None or results.empty:
        return {}
    lacking = [column for column in RESULT_COLUMNS if column not in results.columns]
    if lacking:
        raise ValueError(
            f"results lack the column(s) {', '.join(lacking)}; they need"
            f" {', '.join(RESULT_COLUMNS)}"
        )
    finals = {}
    # An evaluation without training (a search against a random player) has no episode.
    results = results.assign(episode=results["episode"].fillna(-1))
    for name, group in results.groupby(["study", "arm", "metric"], sort=False):
        last = group[group["episode"] == group["episode"].max()].sort_values("run")
        if last["run"].duplicated().any():
            run = last["run"][last["run"].duplicated()].iloc[0]
            raise ValueError(
                f"run {run} has two final values of {name[2]} for the arm {name[1]} in the study"
                f" {name[0]}"
            )
        finals[name] = last["value"].to_numpy(dtype=np.float64), group["run"].nunique() - len(last)
    return finals


def final_values(results, arm, metric):
    """Return run -> value at the last episode that any run of the arm has reached.

    results: of one study, or None. Without such results the answer is empty.
    """
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
