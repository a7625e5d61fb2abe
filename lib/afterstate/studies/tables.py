"""The tables of a study: the results of its runs, and where each run comes from."""

import pandas as pd

from ..reports.sources import MISSING
from .run_states import RunState

COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]
RUN_COLUMNS = [
    "study",
    "arm",
    "run",
    "key",
    "kind",
    "evaluator",
    "provenance",
    "machine",
    "commit",
    "date",
    "cpu_seconds",
    "moves",
    "moves_per_second",
    "estimated_cpu_seconds",
]
# of a training's statistics: shown among the results, in percent
SHARES = ("active_weights", "touched_weights")


def results(study: str, states: list[RunState], derived: dict) -> pd.DataFrame:
    """Return the results of an arm as a long table with COLUMNS.

    A value of a final evaluation replaces the curve's of the same metric at the same episode.

    Parameters
    ----------
    study : str
    states : list of RunState
    derived : dict
        Further results: (arm, run, episode, metric) -> value.
    """
    cells = {}
    for state in states:
        arm, run = state.job.arm, state.job.run
        # curves come first, so a final value replaces the curve's last one
        for _, _, key in state.job.evaluations:
            points = state.records.get(key, {}).get("points", {})
            for metric, values in points.items():
                if metric != "episode":
                    for episode, value in zip(points["episode"], values):
                        cells[arm, run, episode, metric] = value
        trained = state.records.get(state.job.key, {}).get("statistics", {})
        for name in SHARES:
            if name in trained:
                cells[arm, run, state.job.episodes, name] = 100.0 * trained[name]
    cells.update(derived)
    ordered = sorted(cells.items(), key=lambda cell: (cell[0][1], cell[0][3], cell[0][2]))
    rows = [(study, *where, value) for where, value in ordered]
    return pd.DataFrame(rows, columns=COLUMNS).astype(
        {"run": "int64", "episode": "int64", "value": "float64"}
    )


def missing_runs(arm: str, states: list[RunState]) -> list[str]:
    """Say how many runs of an arm are missing, and of how many trained ones some evaluations are.

    Returns
    -------
    list of str
        Such as "3 of 20 runs of FARL" and "evaluations of 5 of 20 runs of FARL"; none if nothing
        is missing.
    """
    trained = [state.job.key in state.records for state in states if not state.finished]
    counts = (("", trained.count(False)), ("evaluations of ", trained.count(True)))
    return [f"{of}{n} of {len(states)} runs of {arm}" for of, n in counts if n]


def renamed(rows: pd.DataFrame, arm: str, metrics: dict) -> pd.DataFrame:
    """Return the rows of some metrics as those of another arm: metric there -> metric here."""
    parts = [
        rows[rows.metric == own].assign(arm=arm, metric=other) for other, own in metrics.items()
    ]
    return pd.concat(parts or [rows.iloc[:0]], ignore_index=True)


def run_table(states: list[RunState]) -> pd.DataFrame:
    """Return one row with RUN_COLUMNS for each training and evaluation of some runs.

    Where a recorded training must be repeated for a missing evaluation, that one's estimate holds
    the time of both.
    """
    rows = [row for state in states for row in _run_rows(state)]
    return pd.DataFrame(rows, columns=RUN_COLUMNS)


def trains_again(state) -> bool:
    """Whether the recorded training of a run must be repeated, for an evaluation or a curve."""
    due = state.due
    return bool(due) and state.job.key not in due and not state.job.checkpoint.exists()


def _run_rows(state):
    rows = [_run_row(state, *key) for key in state.keys]
    due = state.due if trains_again(state) else []
    for row in [row for row in rows if row["provenance"] == MISSING and row["key"] in due][:1]:
        row["estimated_cpu_seconds"] += round(state.costs.estimate(state.job, state.job.key), 1)
    return rows


def _run_row(state, key, kind, evaluator):
    row = state.job.names() | {"key": key, "kind": kind, "evaluator": evaluator}
    record = state.records.get(key)
    if record is None:
        estimated = round(state.costs.estimate(state.job, key), 1)
        return row | {"provenance": MISSING, "estimated_cpu_seconds": estimated}
    made = {
        "provenance": state.provenance[key],
        "machine": f"{record['machine']['cpu']} ({record['machine']['target']})",
        "date": record["date"],
        "commit": f"{(record['commit'] or 'none')[:10]}{'+' if record['dirty'] else ''}",
    }
    return row | made | {k: v for k, v in record["cost"].items() if k in RUN_COLUMNS}
