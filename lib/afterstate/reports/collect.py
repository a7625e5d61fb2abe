"""The report of a profile: every published value beside ours, from the studies' files.

    data/<study>.results.csv, data/<study>.runs.csv, figures/<study>-<name>.svg, <notebook>.ipynb
                    |  build
                    v
    index.md, <paper>.md, changes.md, correspondence.md, games.md, verdicts.svg, main.svg
                    |
                    v
    <page>.html and <notebook>.html, with style.css

``python -m afterstate.reports.collect paper`` makes the pages anew and runs no notebook. What is
missing or damaged becomes a marked gap. The same input gives the same bytes.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..files import reports_directory
from ..papers import claims
from ..papers.compare import compare, final_values
from ..papers.statements import STATEMENT_NOT_RUN, Statement, judge
from ..papers.verdicts import CONSISTENT, NOT_RUN
from ..stats import plain
from . import missing, pages, sources, times, web
from .picture import STATEMENTS, VERDICTS
from .readings import answers, bare, by_arm
from .sources import DIFFERS, PROVENANCES, anchor, count, duration, without_record


@dataclass(frozen=True)
class Row:
    """One published value: the claim, ours in words, the verdict, and where ours comes from."""

    claim: claims.Claim
    place: str  # inside its table, or the whole place
    anchor: str  # on the page of its paper
    ours: str
    short: str  # for a cell of a table
    verdict: str
    explanation: str
    runs_needed: float
    former_verdict: str  # by the rule before it was changed, "" if it is the same
    change: str  # what was changed
    answers: tuple  # of other readings
    cost: str
    provenance: str
    made: str  # the address of the cell that made it


@dataclass(frozen=True)
class StatementRow:
    """A statement of a paper: its verdict, one number, a sentence, and the figure that shows it."""

    statement: Statement
    verdict: str
    number: str  # of several parts that of the one that decides
    sentence: str
    figure: str

    @property
    def changed(self):
        """Whether its verdict is another one since its test was changed."""
        former = self.statement.former.get("verdict", self.verdict)
        return self.verdict not in (former, STATEMENT_NOT_RUN)


@dataclass(frozen=True)
class Part:
    """What the report says about one paper."""

    paper: claims.Paper
    rows: list
    statements: list
    comparison: pd.DataFrame  # of all its claims
    figures: list
    notebooks: list  # that made its values, or speak of it at their beginning
    studies: list  # that answer its claims, or that these notebooks made

    @property
    def verdicts(self):
        """Number of claims by verdict, in a fixed order."""
        return count((row.verdict for row in self.rows), VERDICTS)


@dataclass(frozen=True)
class Summary:
    """The content of a report: its parts, the runs behind it (all runs.csv), and the gaps found."""

    profile: str
    parts: list
    runs: pd.DataFrame
    gaps: list
    notebooks: list
    waiting: list  # studies that have no result at all, only missing runs
    lacking: dict  # study -> what is missing of it, see `missing`

    @property
    def verdicts(self):
        """Number of claims by verdict."""
        return count((row.verdict for part in self.parts for row in part.rows), VERDICTS)

    @property
    def statements(self):
        """Number of statements by verdict."""
        return count((row.verdict for part in self.parts for row in part.statements), STATEMENTS)

    @property
    def provenance(self):
        """Number of runs and evaluations by where they come from."""
        return count(self.runs["provenance"], PROVENANCES)

    @property
    def status(self):
        """Two lines of numbers: published values by verdict, runs by provenance."""
        hours = without_record(self.runs)["estimated_cpu_seconds"].sum(skipna=False) / 3600
        values = " · ".join(f"{number} {label}" for label, number in self.verdicts.items())
        runs = " · ".join(f"{number:,} {name}" for name, number in self.provenance.items())
        runs += f" ({hours:.1f} CPU h)" if hours > 0 else ""
        total = f"{sum(self.verdicts.values())} in {len(self.parts)} papers"
        return (
            f"Published values ({total}): {values}",
            f"Runs and evaluations ({len(self.runs):,}): {runs}",
        )


def build(profile, reports=None, published=None):
    """Build all pages of a profile and return their Summary.

    profile: a folder of `reports` (default: beside the data folder); published: key ->
    papers.Paper (default: all papers).
    """
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    summary = collect(profile, directory, claims.all() if published is None else published)
    pages.write(summary, directory)
    web.write(directory)
    return summary


def collect(profile, directory, published):
    """Read everything a report is made of; whatever cannot be read is listed in `gaps`."""
    gaps = []
    named = {study for paper in published.values() for study in paper.studies}
    studies = sorted(named | sources.studies(directory))
    tables = [table for study in studies if len(table := sources.runs(directory, study, gaps))]
    runs = pd.concat(tables or [sources.NO_RUNS], ignore_index=True)
    results = {study: sources.results(directory, study, gaps) for study in studies}
    lacking = missing.lacking(runs)
    without = [study for study, table in results.items() if table is not None and table.empty]
    if unknown := [study for study in without if study not in lacking]:
        gaps.append(f"without results yet: {', '.join(unknown)}")
    notebooks = sources.notebooks(directory, gaps)
    found = results, runs, sources.figures(directory, studies, gaps), notebooks, gaps
    ordered = sorted(published.values(), key=lambda paper: (paper.order, paper.key))
    parts = [_part(paper, *found) for paper in ordered]
    waiting = [study for study in without if study in lacking]
    return Summary(profile, parts, runs, gaps, notebooks, waiting, lacking)


def _part(paper, results, runs, figures, notebooks, gaps):
    comparison = _comparison(paper, results, gaps)
    shown = {entry["shows"] for entry in paper.figures}
    figures = [f for f in figures if f.study in paper.studies or f.name in shown]
    shown = {*paper.studies, *(figure.study for figure in figures)}
    made = set(runs["notebook"][runs["study"].isin(shown)])
    books = [b for b in notebooks if b.name in made or paper.key in b.cells[0][2]]
    of_books = runs["study"][runs["notebook"].isin([book.name for book in books])]
    studies = list(dict.fromkeys([*paper.studies, *of_books]))
    arms = by_arm(results) if paper.readings else {}
    compared = {row["id"]: row for row in comparison.to_dict("records")}
    rows = [
        _row(claim, compared[claim.id], paper, runs, results, books, arms) for claim in paper.claims
    ]
    statements = _statements(paper, results, {figure.name for figure in figures})
    return Part(paper, rows, list(statements), comparison, figures, books, studies)


def _comparison(paper, results, gaps):
    """Return the comparison of all claims, with the verdict by the rules before their change."""
    tables = []
    for study in dict.fromkeys(claim.study for claim in paper.claims):
        mine, table = [c for c in paper.claims if c.study == study], results.get(study)
        try:
            now = compare(mine, table)
        except ValueError as error:
            gaps.append(f"the results of {study} cannot be compared: {error}")
            table = None
            now = compare(mine, None)
        former = compare([claim.formerly() for claim in mine], table, consistent=False)
        tables.append(now.assign(former=former["verdict"]))
    return pd.concat(tables, ignore_index=True) if tables else compare([], None)


def _statements(paper, results, shown):
    def values(study, arm, metric):
        return final_values(results.get(study), arm, metric)

    for statement, outcome in zip(paper.statements, judge(paper.statements, values), strict=True):
        number = outcome.number or outcome.sentence
        figure = statement.figure if statement.figure in shown else ""
        yield StatementRow(statement, outcome.verdict, number, outcome.sentence, figure)


def _row(claim, compared, paper, runs, results, books, arms):
    of_study = runs[runs["study"] == claim.study]
    mine = of_study[of_study["arm"] == claim.arm]
    ours, verdict, former = compared["ours"], compared["verdict"], compared["former"]
    timed = times.ours_of(claim, paper.claims, of_study, results.get(claim.study))
    if not ours and timed in (None, times.NOT_YET):
        mine = without_record(mine)  # the arm's other runs do not answer this claim
    short, ours = timed or (bare(ours), ours)
    change = _change(claim, former, verdict)
    words = ("times_table(",) if claim.timed else (f'"{claim.arm}"', ".run(")
    by = [book.place(*words) for book in books if book.name in set(of_study["notebook"])]
    place = claim.place
    return Row(
        claim=claim,
        place=f"{place['row']}, {place['column']}" if "table" in place else claim.where,
        anchor="v-" + anchor(claim.id.split("/", 1)[1]),
        ours=ours,
        short=short or ("not run" if verdict == NOT_RUN else verdict),
        verdict=verdict,
        explanation=compared["explanation"] or "",
        runs_needed=compared["runs_needed"],
        former_verdict=former if change and former != verdict else "",
        change=change,
        answers=answers(claim, arms),
        cost=_cost(mine),
        provenance=sources.provenance(mine),
        made=by[-1] if by and ours else "",
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


def _cost(rows):
    """Return the CPU time of a run of an arm in words, and that of its missing ones."""
    trained = rows["cpu_seconds"][rows["kind"] == "train"].dropna()
    lacking = without_record(rows)["estimated_cpu_seconds"]
    texts = [f"{duration(trained.mean())} a run"] if len(trained) else []
    if lacking.notna().all() and lacking.sum() > 0:  # 0: not known here
        texts.append(f"missing: {duration(lacking.sum())}")
    return "; ".join(texts)


def main(arguments=None):
    """Build the report of a profile; exit status 1 if a re-run record differs, else 0."""
    arguments = sys.argv[1:] if arguments is None else arguments
    summary = build(arguments[0] if arguments else "paper")
    print("\n".join([*summary.status, *(f"gap: {gap}" for gap in summary.gaps)]))
    return 1 if summary.provenance[DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(main())
