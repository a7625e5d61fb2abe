"""The report of a profile: every published value beside ours, from the records of its studies.

    studies (arms of the notebooks, with their records), executed notebooks
    -> figures/<study>-<name>.svg of those figures that pages show
    -> index.md with news-<paper>.svg (README: news.svg), statements.md, studies.md, made.md,
       changes.md, correspondence.md, games.md; <paper>.md with main-<paper>.svg
    -> <page>.html and <notebook>.html, with style.css

``python -m afterply.commands.reproduce report`` makes the pages anew and runs no notebook. What is
missing becomes a marked gap. The same input gives the same bytes.
"""

import contextlib
import importlib
import io
from itertools import starmap
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from ...files import published_file, read_yaml, reports_directory
from .. import sources
from ..papers import claims, errors, margins
from ..papers.compare import final_values, row_of
from ..papers.statements import in_both, series
from ..papers.verdicts import NOT_RUN
from ..results import by_columns, joined
from ..results import key as key_of
from ..sources import anchor, count, missing_cost, without_record
from . import pages, picture, sentences, times
from .picture import STATEMENTS, VERDICTS
from .readings import answers, bare, software

NO_ANSWERS = {"headline": {}, "papers": {}, "studies": [], "missing": []}


def build(profile, studies, reports=None, published=None, results=None):
    """Build all pages of a profile, a folder of `reports`; return what they are made of.

    `results` are what `gather` found, if that was asked before the notebooks had been executed.
    """
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    published = claims.all() if published is None else published
    results = results or gather(studies, directory, published)
    summary = collect(profile, results, directory, published)
    pages.write(summary, directory)
    return summary


def gather(studies, directory, published):
    """Return the results, runs and figures of studies, which take most of the time."""
    studies = {study.name: study for study in studies}
    with contextlib.redirect_stdout(io.StringIO()):  # studies say what they find in their records
        tables = [study.table() for study in studies.values()]
        runs = pd.concat([pd.DataFrame(), *(study.runs() for study in studies.values())])
        figures = list(drawn(published, studies, directory))
        cells = {
            f"{study.name}/{name}": cell
            for study, table in zip(studies.values(), tables, strict=True)
            for name, cell in study.cells(table).items()
        }
    return SimpleNamespace(
        found=by_columns(joined(tables)) if tables else {},
        runs=runs.reindex(columns=sources.RUN_COLUMNS).reset_index(drop=True),
        figures=figures,
        cells=cells,
    )


def collect(profile, results, directory, published):
    """Return everything a report is made of."""
    found, runs, figures = results.found, results.runs, results.figures
    groups = without_record(runs).groupby("study")
    lacking = {study: missing_cost(rows) for study, rows in groups}
    notebooks = sources.notebooks(directory)
    failed = {book.name: book.cells[0][2].strip() for book in notebooks if book.failed}
    gaps = [f"the notebook {n} failed: {t.splitlines()[-2].strip()}" for n, t in failed.items()]
    ordered = sorted(published.values(), key=lambda paper: (paper.order, paper.key))
    parts = [part_of(paper, found, runs, figures, notebooks) for paper in ordered]
    linked, late = _linked(parts, results) if profile == "paper" else (NO_ANSWERS, [])
    origins = _counted(count(runs["provenance"], sources.PROVENANCES))
    hours = without_record(runs)["estimated_cpu_seconds"].sum() / 3600
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
        confirmed=sources.confirmed(runs),
    )


def drawn(published, studies, directory):
    """Draw the figures that pages show, and yield name, study and caption of each."""
    for key, paper in published.items():
        known = {*studies, *paper.studies}  # "tictactoe-q-learning" is none of "tictactoe"
        for name, function in figures_of(key).items():
            study = max((s for s in known if name.startswith(f"{s}-")), key=len, default="")
            if study not in studies:
                continue
            figure, data, caption, *arms = function(studies)
            if len(data) == 0:
                continue
            caption = " ".join(studies[study].caption(caption, *arms).split())
            picture.save(figure, directory / "figures", name, data, caption)
            drawn_by = getattr(function, "func", function).__name__  # of a partial
            yield SimpleNamespace(study=study, name=name, caption=caption, drawn_by=drawn_by)


def figures_of(key) -> dict:
    """Return the figures of a paper that pages show: name of the file -> function of studies."""
    try:
        return importlib.import_module(f"..papers.{key}.figures", __package__).FIGURES
    except ModuleNotFoundError:  # a paper may be nothing but its file
        return {}


def _linked(parts, results):
    # the answers of answers.yaml, in `statements` the (part, row) on which each rests; and a
    # sentence for each result that is not as the answer, or a paragraph of a notebook, says
    linked, late = read_yaml(published_file("papers/answers.yaml")), []
    known = {
        f"{part.paper.key}/{r.statement.id}": (part, r) for part in parts for r in part.statements
    }
    answers = [linked["headline"], *linked["papers"].values(), *linked["studies"]]
    for answer in answers:
        answer["statements"] = [known[name] for name in answer["rests_on"] if name in known]
    texts = [one for answer in answers for one in sentences.texts_of(answer)]
    names = {name for _, rests_on in texts for name in rests_on}
    judged = {n: (row.verdict, *sentences.numbers_in(row.number)) for n, (_, row) in known.items()}
    named = sentences.results_by_name(names, judged | results.cells, results.found)
    there = {part.paper.key for part in parts} | {study for study, *_ in results.found}
    for text, rests_on in texts:
        asked = {n: said for n, said in rests_on.items() if n.partition("/")[0] in there}
        for where in sentences.moved(asked, named):
            late.append(f"an answer must be read again, since {where}: {text}")
    return linked, late


def _counted(numbers):
    return " · ".join(f"{number:,} {name}" for name, number in numbers.items())


def part_of(paper, found, runs, figures, notebooks):
    """Return what the report says about one paper; found: of `by_columns`."""
    shown = {entry["shows"] for entry in paper.figures}
    figures = [f for f in figures if f.study in paper.studies or f.name in shown]
    of_figures = {figure.study for figure in figures}
    made = set(runs["notebook"][runs["study"].isin({*paper.studies, *of_figures})])
    # that made its values, or speak of it at their beginning
    books = [book for book in notebooks if book.name in made or paper.key in book.cells[0][2]]
    of_books = runs["study"][runs["notebook"].isin([book.name for book in books])]
    rows = [_row(claim, paper, runs, books, found) for claim in paper.claims]
    made_by = dict(runs[["study", "notebook"]].dropna().values)
    stated = list(_statements(paper, found, {f.name for f in figures}, runs, made_by))
    tried = [row for row in stated if row.program and row.program.parts]
    return SimpleNamespace(
        paper=paper,
        rows=rows,
        targets=[row for row in rows if row.claim.target],
        verdicts=count((row.verdict for row in rows), VERDICTS),
        program=count((row.program.verdict for row in rows if row.program), VERDICTS),
        statements=stated,
        judged=count((row.verdict for row in stated), STATEMENTS),
        judged_program=count((row.program.verdict for row in tried), STATEMENTS) if tried else {},
        figures=figures,
        notebooks=books,
        studies=list(dict.fromkeys([*paper.studies, *of_books])),
    )


def _statements(paper, found, shown, runs, made_by):
    """Yield each statement with its verdict, in numbers and words, and what shows or made it."""

    def values(study, arm, columns, which):
        rows = found.get((study, arm, key_of(columns)))
        return {} if rows is None else final_values(rows, which)

    missing, arms = without_record(runs), {*zip(runs["study"], runs["arm"])}
    there = runs[runs["provenance"] != sources.MISSING]
    recorded = {*zip(there["study"], there["arm"])}

    def lacking(study, arm):
        here = missing[missing["study"] == study]
        return here[here["arm"] == arm] if (study, arm) in arms else here

    judged = in_both(paper, values, errors.known())
    moves = margins.known()
    for statement, (outcome, program) in zip(paper.statements, judged, strict=True):
        wanted = [(one["study"], one["arm"]) for part in statement.parts for one in series(part)]
        asked = wanted if outcome.verdict == NOT_RUN else []
        lacks = [rows for rows in starmap(lacking, asked) if len(rows)]
        yield SimpleNamespace(
            **vars(outcome) | {"number": outcome.number or outcome.sentence},
            statement=statement,
            program=program,  # its outcome in the reading "as the original software", or None
            moves=moves.get(f"{paper.key}/{statement.id}"),  # verdicts with other margins
            figure=statement.figure if statement.figure in shown else "",
            open=outcome.sentence.rpartition(". ")[2] if outcome.kind else "",  # the kind in words
            former=_other_verdicts(statement, outcome.verdict),
            arms=[place for place in dict.fromkeys(wanted) if place in recorded],  # made its runs
            needs=lacks[0]["study"].iloc[0] if lacks else "",  # the study that lacks runs for it
            lacks=missing_cost(lacks[0]) if lacks else "no runs",
            notebooks=list(dict.fromkeys(made_by[s] for s, _ in wanted if s in made_by)),
        )


def _other_verdicts(judged, verdict):
    # before its rule or test was changed, with the reason
    return [(before, why) for before, why in judged.former if verdict not in (before, NOT_RUN)]


def _row(claim, paper, runs, books, found):
    """Return one published value: its row of `compare`, and where ours comes from."""
    of_study, compared = runs[runs["study"] == claim.study], row_of(claim, found)
    ours, verdict = compared["ours"], compared["verdict"]
    timed = times.ours_of(claim, paper.claims, of_study)
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


def told(summary) -> str:
    """Return what a report sums up, as text."""
    values = f"Published values: {_counted(summary.verdicts)}"
    return "\n".join([values, summary.status, *(f"gap: {gap}" for gap in summary.gaps)])
