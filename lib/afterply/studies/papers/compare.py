"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...stats import Interval, mean_interval, printed, together, with_interval
from ..results import by_columns, in_words, key
from .claims import Claim
from .verdicts import INCONCLUSIVE, NOT_A_TARGET, NOT_RUN, verdict

COLUMNS = (
    "id place printed ours mean low high runs verdict explanation unit margin runs_needed surprise"
    " paper study arm measured"
).split()
LEFT_OUT = "unfinished run(s) left out"
NEEDED = ["study", "arm", "run", "episode", "measure", "value"]  # of a table of results


class Scale(NamedTuple):
    """How values of a unit are written, and what values there can be."""

    decimals: int | None  # of our values; None: as many as their spread asks for
    sign: str  # what stands behind them
    least: float  # what values there can be at all: the t interval of few runs does not know it
    most: float


UNITS = {
    "percent": Scale(1, "%", 0, 100),
    "percent of weights": Scale(1, "%", 0, 100),
    "score": Scale(0, "", -math.inf, math.inf),
    "points": Scale(0, "", -math.inf, math.inf),
    "games": Scale(1, "", 0, math.inf),
    "episodes": Scale(1, "", 0, math.inf),
    "training games": Scale(0, "", 0, math.inf),
    "count": Scale(None, "", 0, math.inf),
    "reward": Scale(3, "", -math.inf, math.inf),
    None: Scale(None, "", -math.inf, math.inf),  # any other unit
}


def compare(claims: Iterable[Claim], results: pd.DataFrame) -> pd.DataFrame:
    """Return for each of `claims` what is printed, ours with interval, and the verdict.

    `results` is a table as of :meth:`afterply.studies.Study.table`. A table without one of the
    columns ``NEEDED``, or with two final values of one run, raises ValueError.
    """
    lacking = [column for column in NEEDED if column not in results.columns]
    if lacking:
        raise ValueError(f"results lack the columns {lacking}; they need {NEEDED}")
    runs = by_columns(results)
    return pd.DataFrame([row_of(claim, runs) for claim in claims], columns=COLUMNS)


def row_of(claim, runs) -> dict:
    """Return a claim's row of :func:`compare`; runs: of :func:`by_columns`.

    Of each run the value at the last episode counts that any run of the arm has reached. Runs that
    stopped earlier are left out and named.
    """
    row = _row_without_runs(claim)
    rows_of_components = {}
    lacking = []
    if claim.select is not None:
        for component, columns in claim.selections.items():
            rows = runs.get((claim.study, claim.arm, key(columns)))
            rows_of_components[component] = rows
            if rows is None:
                lacking.append(in_words(columns))
    if not rows_of_components or lacking:
        return row | _verdict_without_runs(claim, lacking)
    values = {component: _last(rows) for component, rows in rows_of_components.items()}
    samples = {component: _samples(of_runs, claim.shared) for component, of_runs in values.items()}
    row |= _our_columns(claim, values, samples)
    if not claim.target:
        return row | {"verdict": NOT_A_TARGET, "explanation": claim.reason}
    if min(len(sample) for sample in samples.values()) == 0:
        explanation = f"no whole group of {claim.shared} runs that share their opponents"
        return row | {"verdict": INCONCLUSIVE, "explanation": explanation}
    judged = _judged(claim, samples)
    explanation = judged.explanation
    left_out = max(map(unfinished, rows_of_components.values()))
    if left_out:
        explanation += f"; {left_out} {LEFT_OUT}"
    if judged.runs_needed is not None:
        row["runs_needed"] = judged.runs_needed
    return row | {"surprise": judged.surprise, "verdict": judged.label, "explanation": explanation}


def _row_without_runs(claim):
    """Return the row of a claim as it is before there are runs."""
    measured = in_words(claim.select) if claim.select else None
    return {
        "id": claim.id,
        "unit": claim.unit,
        "margin": claim.margin,
        "paper": claim.paper,
        "study": claim.study,
        "arm": claim.arm,
        "measured": measured,
        "place": claim.where,
        "printed": printed(claim.printed),
        "ours": "",
        "runs": 0,
        "mean": math.nan,
        "low": math.nan,
        "high": math.nan,
        "runs_needed": math.nan,
        "surprise": math.nan,
    }


def _verdict_without_runs(claim, lacking):
    """Return the verdict, and why, if results are lacking, or the claim names none."""
    if not claim.target:
        return {"verdict": NOT_A_TARGET, "explanation": claim.reason}
    if claim.needs:
        return {"verdict": NOT_RUN, "explanation": f"needs {claim.needs}"}
    where = f"the arm {claim.arm} in the study {claim.study}"
    return {"verdict": NOT_RUN, "explanation": f"no {'; '.join(lacking)} of {where}"}


def _our_columns(claim, values, samples):
    """Return the columns of a row that say what our runs gave."""
    num_runs = min(len(of_runs) for of_runs in values.values())
    num_samples = min(len(sample) for sample in samples.values())
    intervals = []
    for component, sample in samples.items():
        if num_samples:
            intervals.append(_within(mean_interval(sample), claim))
        else:  # a mean of runs that are not independent has no interval
            mean = np.mean(list(values[component].values()))
            intervals.append(Interval(mean, math.nan, math.nan))
    num_groups = num_samples if claim.shared > 1 else 0
    columns = {"runs": num_runs, "ours": _in_words(intervals, num_runs, num_groups, claim)}
    if len(intervals) == 1 and num_samples:
        columns |= intervals[0]._asdict()
    return columns


def _judged(claim, samples):
    """Return the verdict on a claim, from what counts as its runs: component -> float [runs]."""
    error, runs_behind = claim.printed_error
    # a printed error says more than a number of trainings
    trainings = None if error else _trainings_in_groups(claim)
    unit = f"group of {claim.shared} runs" if claim.shared > 1 else "run"
    settings = {
        "counted": claim.counted,
        "relation": claim.relation,
        "better": claim.better,
        "trainings": trainings,
        "each": unit,
    }
    if claim.floor is not None:
        settings["floor"] = claim.floor
    if claim.cap is not None:
        settings["cap"] = claim.cap
    ours = samples.get(None, samples)  # of one number its runs, of several those of each
    return verdict(ours, claim.value, claim.margin, error, runs_behind, **settings)


def _samples(values, shared):
    """Return the values of the runs, or the means of whole groups that share their opponents."""
    if shared < 2:
        return list(values.values())
    series = pd.Series(values, dtype=float)
    groups = series.groupby(series.index // shared)
    return groups.mean()[groups.size() == shared].tolist()


def _trainings_in_groups(claim):
    """Return how many trainings, or groups of them, stand behind a claim; None if not known."""
    if claim.trainings and claim.shared > 1:
        return max(1, claim.trainings // claim.shared)
    return claim.trainings


def _within(interval, claim):
    """Return the part of an interval with values that there can be, if the mean is one of them."""
    scale = UNITS.get(claim.unit, UNITS[None])
    least = scale.least
    if claim.floor is not None:
        least = max(least, claim.floor)
    most = scale.most
    if claim.cap is not None:
        most = min(most, claim.cap)
    if not least <= interval.mean <= most:
        return interval
    low = max(interval.low, float(least))
    high = min(interval.high, float(most))
    return interval._replace(low=low, high=high)


def _last(rows):
    """Return run -> its value at the last episode that any run has reached."""
    # Asked ten thousand times of a few rows: pandas would take ten times as long as NumPy.
    episodes = rows["episode"].to_numpy(float)
    episodes = np.where(np.isnan(episodes), -1.0, episodes)  # without training there is no episode
    is_last = episodes == episodes.max()
    runs = rows["run"].to_numpy()[is_last]
    values = rows["value"].to_numpy(float)[is_last]
    in_order = np.argsort(runs, kind="stable")
    value_of_run = dict(zip(runs[in_order].tolist(), values[in_order].tolist(), strict=True))
    if len(value_of_run) < len(runs):
        last = rows[is_last].sort_values("run")
        first_second = last[last["run"].duplicated()].iloc[0]
        raise ValueError(
            "run {run} of {arm} in {study} has two final values of {measure}".format(**first_second)
        )
    return value_of_run


def unfinished(rows) -> int:
    """Return how many runs stopped before the last episode, of the rows of one measure."""
    return rows["run"].nunique() - len(_last(rows))


def final_values(rows, which="last"):
    """Return run -> value at the last episode, of the rows of one measure.

    `which` may be "largest" or "smallest": of all values of a run that came to the end.
    """
    last = _last(rows)
    if which == "last":
        return last
    function = "max" if which == "largest" else "min"
    extremes = rows.groupby("run")["value"].agg(function)
    return {run: float(extremes[run]) for run in last}


def _in_words(intervals, num_runs, num_groups, claim):
    """Return our means, of one number with the interval, and how many runs are behind them."""
    scale = UNITS.get(claim.unit, UNITS[None])
    behind = f"{num_runs} run" if num_runs == 1 else f"{num_runs} runs"
    if num_groups:
        behind += f" in {num_groups} groups"
    if len(intervals) > 1:
        means = together([interval.mean for interval in intervals], decimals=scale.decimals)
        return f"{' : '.join(means)} ({behind})"
    mean, low, high = intervals[0]
    if num_runs == 1 or math.isnan(low):
        (text,) = together([mean], decimals=scale.decimals)
        return f"{text}{scale.sign} ({behind})"
    return f"{with_interval(mean, low, high, scale.sign, scale.decimals)} ({behind})"
