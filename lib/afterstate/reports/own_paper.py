"""Your own paper: its claims beside a table of your runs, in any field, with verdicts and a page.

    claims.yaml    what is claimed: a file as those in data/papers, most of which may be left out
    runs.csv       what came out: arm, run, metric, value; perhaps episode, and study

Nothing of it needs a game, or a learner of this library.
"""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..files import write_text
from ..papers import claims
from ..papers.compare import RESULT_COLUMNS, final_values
from ..papers.statements import series
from ..papers.verdicts import MIN_RUNS
from ..stats import mean_interval, together, with_interval
from . import web
from .collect import part_of
from .pages import render
from .sources import RUN_COLUMNS

NEEDED = ["arm", "run", "metric", "value"]
COLUMNS = ["id", "claimed", "ours", "verdict", "why"]


class Judged(NamedTuple):
    """What the runs say of the claims."""

    table: pd.DataFrame  # a row for each statement and value: id, claimed, ours, verdict, why
    gaps: list  # sentences: what the claims ask for and no table has
    part: object  # all there is to say, as on the page of a paper
    runs: list  # (arm, metric, number of runs, mean and interval)

    def __repr__(self):
        lines = []
        for row in self.table.itertuples():
            why = f" ({row.why})" if row.why else ""
            lines += [f"{row.verdict}: {row.id}, {row.claimed!r}", f"    {row.ours}{why}"]
        return "\n".join([*lines, *self.gaps])

    def _repr_html_(self):
        return self.table.style.hide(axis="index").to_html()


def judge(path, *tables, out=None) -> Judged:
    """Judge the claims in a file by the runs in some tables; the file is checked first.

    Parameters
    ----------
    path : path
        A claims file, as :func:`afterstate.papers.claims.load_own` reads it.
    tables : DataFrames or paths of CSV files
        Columns arm, run (its number), metric, value: a row for each run and metric. With a column
        episode the last one counts; without a column study the study is the claims file's name.
        Without tables, the claims are checked, and `gaps` says which runs they ask for.
    out : path, optional
        A folder for the page: ``index.md``, ``index.html``, ``style.css``.

    ValueError names file, entry and remedy, or the column and line of a table that is not as said.
    """
    paper = claims.load_own(path)
    wanted = {(one["study"], one["arm"], one["metric"]) for one in _asked(paper)}
    read = [read_runs(table, paper.key) for table in tables]
    runs = pd.concat(read, ignore_index=True) if read else pd.DataFrame(columns=RESULT_COLUMNS)
    results = dict(iter(runs.groupby("study")))
    part = part_of(paper, results, pd.DataFrame(columns=RUN_COLUMNS), [], [], {})
    rows = [(r.statement.id, r.statement.says, r.number, r.verdict, r.open) for r in part.statements]
    name = len(paper.key) + 1
    rows += [
        (r.claim.id[name:], r.claim.printed, r.ours, r.verdict, r.explanation) for r in part.rows
    ]
    known = runs.groupby(["study", "arm", "metric"], sort=False)
    there = "; ".join(f"{arm}: {metric}" for _, arm, metric in known.groups) or "no runs yet"
    gaps = [
        f"at least {MIN_RUNS} runs are needed of arm {arm}, metric {metric}, study {study}; there"
        f" are: {there}"
        for study, arm, metric in sorted(wanted - set(known.groups))
    ]
    listed = [(arm, metric, *_in_words(results[study], arm, metric)) for study, arm, metric in known.groups]
    judged = Judged(pd.DataFrame(rows, columns=COLUMNS), gaps, part, listed)
    if out is not None:
        out = Path(out)
        write_text(out / "index.md", render("own_paper.md", judged=judged, part=part, paper=paper))
        web.write(out)
    return judged


def read_runs(table, study: str) -> pd.DataFrame:
    """Return a table of runs, or of a CSV file, with a study and the columns that are needed."""
    where = "the table of runs" if isinstance(table, pd.DataFrame) else Path(table).name
    try:
        rows = table if isinstance(table, pd.DataFrame) else pd.read_csv(table)
    except ValueError as error:
        raise ValueError(f"{where} is no table of comma-separated values: {error}") from error
    if missing := [name for name in NEEDED if name not in rows.columns]:
        there = ", ".join(map(str, rows.columns))
        raise ValueError(
            f"{where} lacks the column {', '.join(missing)}; it has {there}, and needs"
            f" {', '.join(NEEDED)} (perhaps episode, study)"
        )
    rows = pd.DataFrame({"study": study, "episode": 0} | dict(rows.items()))
    numbers = pd.to_numeric(rows["value"], errors="coerce")
    bad = rows[~numbers.abs().lt(float("inf")) | rows[["arm", "run", "metric"]].isna().any(axis=1)]
    if len(bad):
        row = ", ".join(f"{name} {bad.iloc[0][name]}" for name in NEEDED)
        raise ValueError(
            f"{where}, line {rows.index.get_loc(bad.index[0]) + 2}: {row}; a line needs all four,"
            " and value a finite number: leave out runs without a result"
        )
    return rows.assign(value=numbers)[RESULT_COLUMNS]


def _asked(paper):
    # every (study, arm, metric) that answers a claim
    for statement in paper.statements:
        for part in statement.parts:
            for one in series(part):
                yield from filter(None, (one, one.get("less")))
    for claim in paper.claims:
        if claim.target and claim.metric:
            for name in claim.value if isinstance(claim.value, dict) else [""]:
                metric = f"{claim.metric}:{name}" if name else claim.metric
                yield {"study": claim.study, "arm": claim.arm, "metric": metric}


def _in_words(results, arm, metric):
    values = list(final_values(results, arm, metric).values())
    mean, low, high = mean_interval(values)
    text = with_interval(mean, low, high) if len(values) > 1 else together([mean])[0]
    return len(values), text
