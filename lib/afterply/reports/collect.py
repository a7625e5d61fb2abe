"""The report of a profile: every published value beside ours, from the studies' files.

    data/<study>.results.csv, data/<study>.runs.csv, figures/<study>-<name>.svg, <notebook>.ipynb
    -> index.md with main-<paper>.svg and bars-<paper>.svg, <paper>.md, changes.md,
       correspondence.md, games.md, verdicts.svg
    -> <page>.html and <notebook>.html, with style.css

``python -m afterply.reports.collect paper`` makes the pages anew and runs no notebook. What is
missing becomes a marked gap. The same input gives the same bytes.
"""

import sys
from itertools import starmap
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from ..files import published_file, read_yaml, reports_directory
from ..papers import claims
from ..papers.compare import by_metric, final_values, row_of
from ..papers.statements import judge, series
from ..papers.verdicts import NOT_RUN
from . import pages, sources, times
from .picture import STATEMENTS, VERDICTS
from .readings import answers, bare, software
from .sources import anchor, count, missing_cost, without_record

NO_ANSWERS = {"papers": {}, "studies": [], "missing": []}


def build(profile, reports=None, published=None):
    """Build all pages of a profile, a folder of `reports`; return what they are made of."""
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    summary = collect(profile, directory, claims.all() if published is None else published)
    pages.write(summary, directory)
    return summary


def collect(profile, directory, published):
    """Return everything a report is made of; lacking: study -> cost of its missing runs."""
    results, runs = sources.tables(directory, "results"), sources.tables(directory, "runs")
    runs = pd.concat([r for r in runs.values() if len(r)] or [pd.DataFrame()], ignore_index=True)
    runs = runs.reindex(columns=sources.RUN_COLUMNS)
    groups = without_record(runs).groupby("study")
    lacking = {study: missing_cost(rows) for study, rows in groups}
    notebooks = sources.notebooks(directory)
    failed = {book.name: book.cells[0][2].strip() for book in notebooks if book.failed}
    gaps = [f"the notebook {n} failed: {t.splitlines()[-2].strip()}" for n, t in failed.items()]
    found = by_metric(pd.concat(results.values()) if results else None)
    found = found, results, runs, sources.figures(directory, results), notebooks
    ordered = sorted(published.values(), key=lambda paper: (paper.order, paper.key))
    parts = [part_of(paper, *found) for paper in ordered]
    linked, late = _linked(parts) if profile == "paper" else (NO_ANSWERS, [])
    origins = _counted(count(runs["provenance"], sources.PROVENANCES))
    hours = without_record(runs)["estimated_cpu_seconds"].sum(skipna=False) / 3600
    missing = f" ({hours:.1f} CPU h)" if hours > 0 else ""
    return SimpleNamespace(
        profile=profile,
        parts=parts,
        runs=runs,
        notebooks=notebooks,
        answers=linked,
        gaps=gaps + late,
        lacking=lacking,
        verdicts=count((row.verdict for part in parts for row in part.rows), VERDICTS),
        statements=count((row.verdict for part in parts for row in part.statements), STATEMENTS),
        status=f"Runs and evaluations ({len(runs):,}): {origins}{missing}",
    )


def _linked(parts):
    # the answers of answers.yaml, in `statements` the (part, row) on which each rests; and a
    # sentence for each row whose verdict is not the one that the answer assumes
    linked, late = read_yaml(published_file("papers/answers.yaml")), []
    known = {
        f"{part.paper.key}/{r.statement.id}": (part, r) for part in parts for r in part.statements
    }
    for answer in (*linked["papers"].values(), *linked["studies"]):
        rests_on = {name: verdict for name, verdict in answer["rests_on"].items() if name in known}
        answer["statements"] = [known[name] for name in rests_on]
        for name, verdict in rests_on.items():
            if (now := known[name][1].verdict) != verdict:
                where = f"{name} was {verdict!r} and is {now!r} now"
                late.append(f"an answer must be read again, since {where}: {answer['answer']}")
    return linked, late


def _counted(numbers):
    return " · ".join(f"{number:,} {name}" for name, number in numbers.items())


def part_of(paper, found, results, runs, figures, notebooks):
    """Return what the report says about one paper; found: of `by_metric`, of study -> table."""
    shown = {entry["shows"] for entry in paper.figures}
    figures = [f for f in figures if f.study in paper.studies or f.name in shown]
    of_figures = {figure.study for figure in figures}
    made = set(runs["notebook"][runs["study"].isin({*paper.studies, *of_figures})])
    # that made its values, or speak of it at their beginning
    books = [book for book in notebooks if book.name in made or paper.key in book.cells[0][2]]
    of_books = runs["study"][runs["notebook"].isin([book.name for book in books])]
    rows = [_row(claim, paper, runs, results, books, found) for claim in paper.claims]
    made_by = dict(runs[["study", "notebook"]].dropna().values)
    stated = list(_statements(paper, found, {f.name for f in figures}, runs, made_by))
    return SimpleNamespace(
        paper=paper,
        rows=rows,
        targets=[row for row in rows if row.claim.target],
        verdicts=count((row.verdict for row in rows), VERDICTS),
        program=count((row.program.verdict for row in rows if row.program), VERDICTS),
        statements=stated,
        judged=count((row.verdict for row in stated), STATEMENTS),
        figures=figures,
        notebooks=books,
        studies=list(dict.fromkeys([*paper.studies, *of_books])),
    )


def _statements(paper, found, shown, runs, made_by):
    """Yield each statement with its verdict, in numbers and words, and what shows or made it."""

    def values(study, arm, metric, which):
        rows = found.get((study, arm, metric))
        return {} if rows is None else final_values(rows, which)

    missing, arms = without_record(runs), {*zip(runs["study"], runs["arm"])}

    def lacking(study, arm):
        here = missing[missing["study"] == study]
        return here[here["arm"] == arm] if (study, arm) in arms else here  # a view has no own runs

    for statement, outcome in zip(paper.statements, judge(paper.statements, values), strict=True):
        wanted = [(one["study"], one["arm"]) for part in statement.parts for one in series(part)]
        asked = wanted if outcome.verdict == NOT_RUN else []
        lacks = [rows for rows in starmap(lacking, asked) if len(rows)]
        yield SimpleNamespace(
            **vars(outcome) | {"number": outcome.number or outcome.sentence},
            statement=statement,
            figure=statement.figure if statement.figure in shown else "",
            open=outcome.sentence.rpartition(". ")[2] if outcome.kind else "",  # the kind in words
            former=_other_verdicts(statement, outcome.verdict),
            needs=lacks[0]["study"].iloc[0] if lacks else "",  # the study that lacks runs for it
            lacks=missing_cost(lacks[0]) if lacks else "no runs",
            notebooks=list(dict.fromkeys(made_by[s] for s, _ in wanted if s in made_by)),
        )


def _other_verdicts(judged, verdict):
    # before its rule or test was changed, with the reason
    return [(before, why) for before, why in judged.former if verdict not in (before, NOT_RUN)]


def _row(claim, paper, runs, results, books, found):
    """Return one published value: its row of `compare`, and where ours comes from."""
    of_study, compared = runs[runs["study"] == claim.study], row_of(claim, found)
    ours, verdict = compared["ours"], compared["verdict"]
    timed = times.ours_of(claim, paper.claims, of_study, results.get(claim.study))
    short, ours = timed or (bare(ours), ours)
    words = ("move_times(",) if claim.timed else (f'"{claim.arm}"', ".run(")
    by = [book.place(*words) for book in books if book.name in set(of_study["notebook"])]
    place, said = claim.place, answers(claim, found)
    inside = {"place": f"{place['row']}, {place['column']}"} if "table" in place else {}
    return SimpleNamespace(
        **compared | {"ours": ours} | inside,
        claim=claim,
        anchor="v-" + anchor(claim.id.split("/", 1)[1]),
        short=short or ("not run" if verdict == NOT_RUN else verdict),  # for a cell of a table
        former=_other_verdicts(claim, verdict),
        answers=said,  # of other readings
        program=software(said),  # the one "as in the authors' program", or None
        # the arm's other runs do not answer this claim
        provenance=sources.provenance(of_study[of_study["arm"] == claim.arm]) if ours else "",
        made=by[-1] if by and ours else "",  # the address of the cell that made it
    )


def main(arguments=None):
    """Build the report of a profile and print what it sums up; return the exit status, 0."""
    arguments = sys.argv[1:] if arguments is None else arguments
    summary = build(arguments[0] if arguments else "paper")
    values = f"Published values: {_counted(summary.verdicts)}"
    print(values, summary.status, *(f"gap: {gap}" for gap in summary.gaps), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
