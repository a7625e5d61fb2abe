"""The report of a profile: every published value beside ours, from the studies' files.

    reports/<profile>/data/<study>.results.csv      study, arm, run, episode, metric, value
    reports/<profile>/data/<study>.runs.csv         where each run comes from and what it cost
    reports/<profile>/figures/<study>-<name>.svg    with .csv (numbers) and .txt (how to read it)
    reports/<profile>/<notebook>.ipynb              executed notebooks
                    |
                    v  build
    index.html, <paper>.html, <notebook>.html, changes.html, runs.html   with style.css, report.js
    timings.html, bench.html, index.md, verdicts.svg, timings.md

No notebook runs for that: ``python -m afterstate.reports.collect paper`` makes the pages anew.
A missing or damaged file becomes a marked gap and the rest is built. The same input gives the same
bytes: nothing here reads the clock, and facts of the machine that just ran stand in timings
only.
"""

import math
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from ..files import data_directory, reports_directory, write_text
from ..papers import claims
from ..papers.compare import compare, final_values
from ..digits import plain
from ..papers.statements import STATEMENT_NOT_RUN, Statement, judge
from ..papers.verdicts import CONSISTENT
from . import correspondence, missing, pages, sources, timed
from .index_text import status_lines
from .layout import count
from .readings import answers, by_arm
from .sources import DIFFERS, HERE, PROVENANCES, duration, provenance, without_record
from .templating import anchor
from .timings import timings
from .verdict_picture import verdict_svg


@dataclass(frozen=True)
class Row:
    """One published value: the claim, ours in words, the verdict, and where ours comes from."""

    claim: claims.Claim
    ours: str
    verdict: str
    explanation: str
    runs_needed: float
    difference: float = math.nan  # ours - published
    cost: str = ""
    provenance: str = ""
    former_verdict: str = ""  # by the rule before it was changed
    change: str = ""  # what was changed
    mean: float = math.nan  # ours, with its 95% interval
    low: float = math.nan
    high: float = math.nan
    answers: tuple = ()  # of other readings
    anchor: str = ""  # on the page of its paper, with the shortest text and links
    short: str = ""
    made: tuple = ()

    @property
    def place(self):
        """The place inside its table, or the whole place."""
        place = self.claim.place
        return f"{place['row']}, {place['column']}" if "table" in place else self.claim.where


@dataclass(frozen=True)
class StatementRow:
    """A statement of a paper: its verdict, one number, a sentence, and where to look."""

    statement: Statement
    verdict: str
    number: str
    sentence: str
    href: str

    @property
    def several(self):
        """Whether it has several parts; `number` is that of the one that decides."""
        return len(self.statement.parts) > 1 and self.number != self.sentence

    @property
    def anchor(self):
        """Its anchor on the page of the paper."""
        return f"s-{self.statement.id}"

    @property
    def tested(self):
        """What was tested, in our words."""
        return self.statement.tested

    @property
    def says(self):
        """The paper's words."""
        return self.statement.says

    @property
    def where(self):
        """The place of these words."""
        return self.statement.where

    @property
    def changed(self):
        """Whether its verdict is another one since its test was changed."""
        former = self.statement.former.get("verdict", self.verdict)
        return self.verdict not in (former, STATEMENT_NOT_RUN)


@dataclass(frozen=True)
class Part:
    """What the report says about one paper."""

    paper: claims.Paper
    rows: tuple
    figures: tuple
    statements: tuple = ()
    notebooks: dict = field(default_factory=dict)  # study -> the notebook that finished it
    other_notebooks: tuple = ()  # that speak of the paper

    @property
    def page(self):
        """The name of its page."""
        return f"{self.paper.key}.html"

    @property
    def verdicts(self):
        """Number of claims by verdict, in the fixed order of the labels."""
        return count(row.verdict for row in self.rows)


@dataclass(frozen=True)
class Summary:
    """The content of a report: its parts, the runs behind it (all runs.csv), and the gaps found."""

    profile: str
    parts: tuple
    runs: pd.DataFrame
    gaps: tuple = ()
    figures: tuple = ()
    notebooks: tuple = ()
    waiting: tuple = ()  # studies that have no result at all, only missing runs
    lacking: dict = field(default_factory=dict)  # study -> what is missing of it, see `missing`

    @property
    def verdicts(self):
        """Number of claims by verdict over all papers."""
        return count(row.verdict for part in self.parts for row in part.rows)

    @property
    def provenance(self):
        """Number of runs and evaluations by where they come from."""
        counts = Counter(self.runs["provenance"])
        return {
            name: counts[name] for name in (*PROVENANCES, *sorted(set(counts) - set(PROVENANCES)))
        }

    @property
    def differs(self):
        """Number of records that did not come out again: anything above 0 must fail the build."""
        return self.provenance[DIFFERS]

    @property
    def missing_hours(self):
        """Estimated CPU hours of what is missing, nan if a missing run has no estimate."""
        lacking = without_record(self.runs)
        return lacking["estimated_cpu_seconds"].sum(skipna=False) / 3600 if len(lacking) else 0.0

    def has_records(self, study):
        """Whether the repository has records of a study (quick runs leave none)."""
        return self.profile == "paper" and (data_directory() / "records" / study).is_dir()


def build(profile, reports=None, published=None):
    """Build the pages of a profile, index.md, verdicts.svg and timings.md.

    ``build("paper").differs == 0`` is the condition for a successful `make reproduce`.

    Parameters
    ----------
    profile : str
        A folder of `reports`.
    reports : path, optional
        Default: beside the data folder.
    published : dict, optional
        Key -> papers.Paper (default: all papers).

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        For a profile name that is a path.
    """
    if not profile or Path(profile).name != profile:
        raise ValueError(
            f"profile {profile!r} must be the plain name of a folder in reports, for example"
            " 'paper' or 'quick'"
        )
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    summary = collect(profile, directory, claims.all() if published is None else published)
    write_text(directory / "verdicts.svg", verdict_svg(summary) + "\n")
    write_text(directory / "timings.md", timings(summary))
    pages.write(summary, directory)
    return summary


def collect(profile, directory, published):
    """Read everything a report is made of; see `build`.

    Whatever cannot be read is listed in `gaps`.
    """
    gaps = []
    studies = sorted(
        {study for paper in published.values() for study in paper.studies}
        | sources.studies(directory)
    )
    runs = pd.concat(
        [sources.runs(directory, study, gaps) for study in studies] or [sources.no_runs()],
        ignore_index=True,
    )
    results = {study: sources.results(directory, study, gaps) for study in studies}
    empty = [study for study, table in results.items() if table is not None and table.empty]
    lacking = missing.lacking(runs)
    if unknown := [study for study in empty if study not in lacking]:
        gaps.append(f"without results yet: {', '.join(unknown)}")
    figures = tuple(sources.figures(directory, studies, gaps))
    notebooks = sources.notebooks(directory, {f.name: f.caption for f in figures}, gaps)
    ordered = sorted(published.values(), key=lambda paper: (paper.order, paper.key))
    parts = [_part(paper, results, runs, figures, notebooks, gaps) for paper in ordered]
    waiting = [study for study in empty if study in lacking]
    found = gaps, figures, notebooks, waiting
    return Summary(profile, tuple(parts), runs, *map(tuple, found), lacking)


def _part(paper, results, runs, figures, notebooks, gaps):
    compared, formerly, arms = {}, {}, by_arm(results) if paper.readings else {}
    for study in sorted({claim.study or "" for claim in paper.claims}):
        claims = [claim for claim in paper.claims if (claim.study or "") == study]
        former = [claim.formerly() for claim in claims]
        try:
            table = compare(claims, results.get(study))
            before = compare(former, results.get(study), consistent=False)
        except ValueError as error:
            gaps.append(f"the results of {study} cannot be compared: {error}")
            table = before = compare(claims, None)
        compared |= {row["id"]: row for row in table.to_dict("records")}
        formerly |= dict(zip(before["id"], before["verdict"], strict=True))
    rows = tuple(
        replace(
            _row(claim, compared[claim.id], formerly.get(claim.id, ""), runs),
            answers=answers(claim, arms),
        )
        for claim in paper.claims
    )
    rows = tuple(_timed(row, paper.claims, runs, results) for row in rows)
    studies = set(paper.studies)
    shown = {entry["shows"] for entry in paper.figures}
    of_figures = {figure.study for figure in figures if figure.name in shown}
    finished = runs[runs["study"].isin(studies | of_figures)]
    shown_here = tuple(f for f in figures if f.study in studies or f.name in shown)
    by_name = {notebook.path.stem: notebook for notebook in notebooks}
    return Part(
        paper,
        rows,
        shown_here,
        tuple(_statements(paper, results, {figure.name for figure in shown_here})),
        {
            study: by_name[name]
            for study, name in zip(finished["study"], finished["notebook"], strict=True)
            if name in by_name
        },
        tuple(notebook for notebook in notebooks if notebook.speaks_of(paper.key)),
    )


def _statements(paper, results, shown):
    """Return the statements of a paper with their verdicts."""

    def values(study, arm, metric):
        return final_values(results.get(study), arm, metric)

    for statement, outcome in zip(
        paper.statements, judge(paper.statements, values), strict=True
    ):
        yield StatementRow(
            statement,
            outcome.verdict,
            outcome.number or outcome.sentence,
            outcome.sentence,
            f"#figure-{anchor(statement.figure)}" if statement.figure in shown else "",
        )


def _row(claim, compared, formerly, runs):
    mine = runs[(runs["study"] == claim.study) & (runs["arm"] == claim.arm)]
    if not compared["ours"]:
        # the arm's other runs do not answer this claim
        mine = without_record(mine)
    difference = (
        compared["mean"] - claim.value if isinstance(claim.value, (int, float)) else math.nan
    )
    change = _change(claim, formerly, compared["verdict"])
    return Row(
        claim,
        compared["ours"],
        compared["verdict"],
        compared["explanation"] or "",
        compared["runs_needed"],
        difference,
        cost(mine),
        provenance(mine),
        formerly if change and formerly != compared["verdict"] else "",
        change,
        compared["mean"],
        compared["low"],
        compared["high"],
    )


def _timed(row, claims, runs, results):
    """Return the row of a printed time with ours, from the costs of the records."""
    study, arm = row.claim.study, row.claim.arm
    mine = runs[runs["study"] == study]
    found = timed.ours(row.claim, claims, mine, results.get(study))
    if found in (None, timed.NOT_YET):
        return replace(row, ours=found.full, short=found.short) if found else row
    mine = mine[mine["arm"] == arm]
    return replace(
        row, ours=found.full, short=found.short, provenance=provenance(mine), cost=cost(mine)
    )


def _change(claim, before, now):
    """Say which rules that were changed after results were seen change a verdict."""
    said = []
    if claim.former_margin:
        said.append(f"margin ±{plain(claim.former_margin)}, now ±{plain(claim.margin)}")
    if before != now:
        if claim.counted or (claim.published_sem and not claim.uncertainty):
            said.append("the printed count of games carries its binomial error")
        if claim.shared_runs:
            said.append("the printed mean carries the error of our spread")
        if now == CONSISTENT:
            said.append("there is a verdict consistent")
    return "; ".join(said)


def cost(rows):
    """Return the CPU time of a run of an arm in words.

    Times of this machine are left to timings.md, so that the page stays the same elsewhere.
    """
    trained = rows[
        (rows["kind"] == "train") & rows["cpu_seconds"].notna() & (rows["provenance"] != HERE)
    ]
    lacking = without_record(rows)
    texts = [f"{duration(trained['cpu_seconds'].mean())} a run"] if len(trained) else []
    # 0: not known here
    if (
        lacking["estimated_cpu_seconds"].notna().all()
        and lacking["estimated_cpu_seconds"].sum() > 0
    ):
        texts.append(f"missing: {duration(lacking['estimated_cpu_seconds'].sum())}")
    if not texts and (rows["provenance"] == HERE).any():
        return "see timings"
    return "; ".join(texts)


def main(arguments=None):
    """Build report and correspondence of the profile named on the command line.

    Exit status 1 if a re-run record differs, else 0.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    profile = arguments[0] if arguments else "paper"
    summary = build(profile)
    correspondence.build(profile)
    print("\n".join(status_lines(summary)))
    for gap in summary.gaps:
        print(f"gap: {gap}")
    return 1 if summary.differs else 0


if __name__ == "__main__":
    sys.exit(main())
