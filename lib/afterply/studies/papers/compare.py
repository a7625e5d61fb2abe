"""Published values beside ours: which runs speak for which claim, and the verdict on each."""

import math
from collections.abc import Iterable

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
NEEDED = ["study", "arm", "run", "episode", "measure", "value"]  # of a table of results
# Of a unit the decimals of our values (None: what their spread asks), what stands behind them, and
# what values there can be at all: the t interval of few runs does not know it.
UNITS = {
    **dict.fromkeys(("percent", "percent of weights"), (1, "%", 0, 100)),
    **dict.fromkeys(("score", "points"), (0, "", -math.inf, math.inf)),
    **dict.fromkeys(("games", "episodes"), (1, "", 0, math.inf)),
    **{"training games": (0, "", 0, math.inf), "count": (None, "", 0, math.inf)},
    **{"reward": (3, "", -math.inf, math.inf), None: (None, "", -math.inf, math.inf)},
}


def compare(claims: Iterable[Claim], results: pd.DataFrame) -> pd.DataFrame:
    """Return for each of `claims` what is printed, ours with interval, and the verdict.

    `results` is a table as of :meth:`afterply.studies.Study.table`.
    """
    if lacking := [column for column in NEEDED if column not in results.columns]:
        raise ValueError(f"results lack the columns {lacking}; they need {NEEDED}")
    runs = by_columns(results)
    return pd.DataFrame([row_of(claim, runs) for claim in claims], columns=COLUMNS)


def row_of(claim, runs) -> dict:
    """Return a claim's row of :func:`compare`; runs: of :func:`by_columns`."""
    # of each run the value at the last episode counts that any run of the arm has reached; runs
    # that stopped earlier are left out and named
    row = {name: getattr(claim, name) for name in "id unit margin paper study arm".split()}
    row |= {"measured": in_words(claim.select) if claim.select else None}
    row |= {"place": claim.where, "printed": printed(claim.printed), "ours": "", "runs": 0}
    row |= dict.fromkeys(("mean", "low", "high", "runs_needed", "surprise"), math.nan)
    wanted = claim.selections if claim.select is not None else {}
    found = {part: runs.get((claim.study, claim.arm, key(c))) for part, c in wanted.items()}
    lacking = [in_words(wanted[part]) for part, rows in found.items() if rows is None]
    if wanted and not lacking:
        last = {name: _last(rows) for name, rows in found.items()}
        cells = {name: _in_groups(values, claim.shared) for name, values in last.items()}
        row["runs"] = min(map(len, last.values()))
        if claim.target and not min(map(len, cells.values())):
            few = f"no whole group of {claim.shared} runs that share their opponents"
            means = [
                Interval(np.mean(list(runs.values())), math.nan, math.nan) for runs in last.values()
            ]
            row["ours"] = _in_words(means, row["runs"], 0, claim)
            return row | {"verdict": INCONCLUSIVE, "explanation": few}
        intervals = [_within(mean_interval(values), claim) for values in cells.values()]
        groups = min(map(len, cells.values())) if claim.shared > 1 else 0
        row["ours"] = _in_words(intervals, row["runs"], groups, claim)
        if len(intervals) == 1:
            row["mean"], row["low"], row["high"] = intervals[0]
        if not min(map(len, cells.values())):
            return row | {
                "verdict": NOT_RUN,
                "explanation": f"no whole group of {claim.shared} runs",
            }
    if not claim.target:
        return row | {"verdict": NOT_A_TARGET, "explanation": claim.reason}
    if lacking or not wanted:
        where = f"the arm {claim.arm} in the study {claim.study}"
        missing = f"needs {claim.needs}" if claim.needs else f"no {'; '.join(lacking)} of {where}"
        return row | {"verdict": NOT_RUN, "explanation": missing}
    how = {"counted": claim.counted, "relation": claim.relation, "better": claim.better}
    error, behind = claim.printed_error
    how["trainings"] = None if error else _units(claim.trainings, claim.shared)
    how["each"] = f"group of {claim.shared} runs" if claim.shared > 1 else "run"
    ends = {"floor": claim.floor, "cap": claim.cap}
    how |= {name: end for name, end in ends.items() if end is not None}
    result = verdict(cells.get(None, cells), claim.value, claim.margin, error, behind, **how)
    left_out = max(rows["run"].nunique() - len(last[name]) for name, rows in found.items())
    text = result.explanation + (f"; {left_out} unfinished run(s) left out" if left_out else "")
    needed = math.nan if result.runs_needed is None else result.runs_needed
    row |= {"runs_needed": needed, "surprise": result.surprise}
    return row | {"verdict": result.label, "explanation": text}


def _in_groups(values, shared):
    # the values of the runs, or the means of those groups of them that share their opponents
    if shared < 2:
        return list(values.values())
    series = pd.Series(values, dtype=float)
    groups = series.groupby(series.index // shared)
    return groups.mean()[groups.size() == shared].tolist()


def _units(trainings, shared):
    # of as many trainings: as many runs, or groups
    return max(1, trainings // shared) if trainings and shared > 1 else trainings


def _within(interval, claim):
    # what an interval holds of values that can be: its mean lies there, and no coverage is lost
    _, _, least, most = UNITS.get(claim.unit, UNITS[None])
    least = least if claim.floor is None else max(least, claim.floor)
    most = most if claim.cap is None else min(most, claim.cap)
    if not least <= interval.mean <= most:
        return interval
    low, high = max(interval.low, float(least)), min(interval.high, float(most))
    return interval._replace(low=low, high=high)


def _last(rows):
    # run -> its value at the last episode; an evaluation without training has no episode
    rows = rows.assign(episode=rows["episode"].fillna(-1))
    last = rows[rows["episode"] == rows["episode"].max()].sort_values("run")
    if last["run"].duplicated().any():
        one = last[last["run"].duplicated()].iloc[0]
        raise ValueError(
            "run {run} of {arm} in {study} has two final values of {measure}".format(**one)
        )
    return dict(zip(last["run"].tolist(), last["value"].astype(float).tolist(), strict=True))


def final_values(rows, which="last"):
    """Return run -> value at the last episode, of the rows of one measure."""
    # `which` may be "largest" or "smallest": of all values of a run that came to the end
    last = _last(rows)
    if which == "last":
        return last
    extremes = rows.groupby("run")["value"].agg("max" if which == "largest" else "min")
    return {run: float(extremes[run]) for run in last}


def _in_words(intervals, runs, groups, claim):
    decimals, unit, _, _ = UNITS.get(claim.unit, UNITS[None])
    of = f"{runs} run" if runs == 1 else f"{runs} runs"
    of += f" in {groups} groups" if groups else ""
    if len(intervals) > 1:
        means = together([interval.mean for interval in intervals], decimals=decimals)
        return f"{' : '.join(means)} ({of})"
    mean, low, high = intervals[0]
    if runs == 1 or math.isnan(low):
        return f"{together([mean], decimals=decimals)[0]}{unit} ({of})"
    return f"{with_interval(mean, low, high, unit, decimals)} ({of})"
