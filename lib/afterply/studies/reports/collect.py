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
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from ...files import published_file, read_yaml, reports_directory
from .. import sources
from ..papers import claims, errors, margins
from ..papers.compare import LEFT_OUT, final_values, row_of, unfinished
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

    `results` are those of :func:`gather`, if it was called before the notebooks had been executed.
    """
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    published = claims.all() if published is None else published
    results = results or gather(studies, directory, published)
    summary = collect(profile, results, directory, published)
    pages.write(summary, directory)
    return summary


def gather(studies, directory, published):
    """Return the results, runs, figures and cells of studies, which take most of the time."""
    studies = {study.name: study for study in studies}
    with contextlib.redirect_stdout(io.StringIO()):  # studies print what their records hold
        tables = {name: study.table() for name, study in studies.items()}
        runs = pd.concat([pd.DataFrame(), *(study.runs() for study in studies.values())])
        figures = list(drawn(published, studies, directory))
        cells = {}
        for study_name, study in studies.items():
            if tables[study_name].empty:  # nothing of it was run: there is nothing to say
                continue
            for cell_name, cell in study.cells(tables[study_name]).items():
                cells[f"{study_name}/{cell_name}"] = cell
    results = by_columns(joined(list(tables.values()))) if tables else {}
    return SimpleNamespace(
        by_columns=results,
        runs=runs.reindex(columns=sources.RUN_COLUMNS).reset_index(drop=True),
        figures=figures,
        cells=cells,
    )


def collect(profile, results, directory, published):
    """Return everything a report is made of."""
    runs = results.runs
    notebooks = sources.notebooks(directory)
    ordered = sorted(published.values(), key=lambda paper: (paper.order, paper.key))
    parts = [
        part_of(paper, results.by_columns, runs, results.figures, notebooks) for paper in ordered
    ]
    values = []
    statements = []
    for part in parts:
        values += part.rows
        statements += part.statements
    answers_of_studies = NO_ANSWERS
    outdated_answers = []
    if profile == "paper":
        answers_of_studies = _linked_answers(parts)
        outdated_answers = _outdated(answers_of_studies, parts, results)
    missing_of_study = without_record(runs).groupby("study")
    return SimpleNamespace(
        profile=profile,
        parts=parts,
        runs=runs,
        notebooks=notebooks,
        answers=answers_of_studies,
        gaps=_failures(notebooks) + outdated_answers,
        lacking={study: missing_cost(rows) for study, rows in missing_of_study},
        verdicts=count((row.verdict for row in values), VERDICTS),
        statements=count((row.verdict for row in statements), STATEMENTS),
        status=_status(runs),
        confirmed=sources.confirmed(runs),
    )


def _failures(notebooks):
    """Return in words which notebooks failed; papermill writes the error into their first cell."""
    failures = []
    for notebook in notebooks:
        if notebook.failed:
            _, _, source = notebook.cells[0]
            error = source.strip().splitlines()[-2].strip()
            failures.append(f"the notebook {notebook.name} failed: {error}")
    return failures


def _status(runs):
    """Return how many runs there are of each origin, and what the missing ones cost."""
    origins = _in_words(count(runs["provenance"], sources.PROVENANCES))
    status = f"Runs and evaluations ({len(runs):,}): {origins}"
    missing_hours = without_record(runs)["estimated_cpu_seconds"].sum() / 3600
    if missing_hours > 0:
        status += f" ({missing_hours:.1f} CPU h)"
    return status


def drawn(published, studies, directory):
    """Draw the figures that pages show, and yield name, study and caption of each."""
    for key, paper in published.items():
        for name, function in figures_of(key).items():
            study = _study_of_figure(name, {*studies, *paper.studies})
            if study not in studies:
                continue
            figure, data, caption, *arms = function(studies)
            if len(data) == 0:
                continue
            caption = " ".join(studies[study].caption(caption, *arms).split())
            picture.save(figure, directory / "figures", name, data, caption)
            function_with_name = getattr(function, "func", function)  # of a partial
            yield SimpleNamespace(
                study=study, name=name, caption=caption, drawn_by=function_with_name.__name__
            )


def _study_of_figure(name, studies):
    """Return the study whose name a figure's name begins with, or ""."""
    candidates = [study for study in studies if name.startswith(f"{study}-")]
    # The longest: a figure of "tictactoe-q-learning" is none of "tictactoe".
    return max(candidates, key=len, default="")


def figures_of(key) -> dict:
    """Return the figures of a paper that pages show: name of the file -> function of studies."""
    try:
        return importlib.import_module(f"..papers.{key}.figures", __package__).FIGURES
    except ModuleNotFoundError:  # a paper may be nothing but its file
        return {}


# Answers, and what they rest on


def _linked_answers(parts):
    """Return answers.yaml, with the `statements` each answer rests on: (part, row) of each."""
    linked = read_yaml(published_file("papers/answers.yaml"))
    statements = _statements_by_name(parts)
    for answer in _each_answer(linked):
        names = [name for name in answer["rests_on"] if name in statements]
        answer["statements"] = [statements[name] for name in names]
    return linked


def _outdated(linked, parts, results):
    """Return a sentence for each result that has moved since an answer or a paragraph named it."""
    texts = []
    for answer in _each_answer(linked):
        texts += sentences.texts_of(answer)
    names = set()
    for _, rests_on in texts:
        names.update(rests_on)
    cells = {}
    for name, (_, row) in _statements_by_name(parts).items():
        cells[name] = (row.verdict, *sentences.numbers_in(row.number))
    results_now = sentences.results_by_name(names, cells | results.cells, results.by_columns)
    # Only results of these papers and studies can be asked for.
    owners = {part.paper.key for part in parts} | {study for study, _, _ in results.by_columns}
    outdated = []
    for text, rests_on in texts:
        expected = {
            name: words for name, words in rests_on.items() if name.partition("/")[0] in owners
        }
        for change in sentences.moved(expected, results_now):
            outdated.append(f"an answer must be read again, since {change}: {text}")
    return outdated


def _each_answer(linked):
    """Return the entries of answers.yaml as one list."""
    return [linked["headline"], *linked["papers"].values(), *linked["studies"]]


def _statements_by_name(parts):
    """Return "paper/statement" -> (part of the report, row of the statement)."""
    statements = {}
    for part in parts:
        for row in part.statements:
            statements[f"{part.paper.key}/{row.statement.id}"] = (part, row)
    return statements


def _in_words(counts):
    """Return counts in words: "3 reproduced · 1 not run"."""
    return " · ".join(f"{number:,} {name}" for name, number in counts.items())


# The part of a paper


def part_of(paper, results, runs, figures, notebooks):
    """Return what the report says about one paper; results: those of `by_columns`."""
    shown_on_page = {entry["shows"] for entry in paper.figures}
    own_figures = [f for f in figures if f.study in paper.studies or f.name in shown_on_page]
    books = _notebooks_of(paper, own_figures, runs, notebooks)
    studies_of_books = runs["study"][runs["notebook"].isin([book.name for book in books])]
    rows = [_row(claim, paper, runs, books, results) for claim in paper.claims]
    figure_names = {figure.name for figure in own_figures}
    statements = _statements(paper, results, figure_names, runs)
    # The statements that were also tried with the authors' program
    tried = [row for row in statements if row.program and row.program.parts]
    judged_program = {}
    if tried:
        judged_program = count((row.program.verdict for row in tried), STATEMENTS)
    return SimpleNamespace(
        paper=paper,
        rows=rows,
        targets=[row for row in rows if row.claim.target],
        verdicts=count((row.verdict for row in rows), VERDICTS),
        program=count((row.program.verdict for row in rows if row.program), VERDICTS),
        statements=statements,
        judged=count((row.verdict for row in statements), STATEMENTS),
        judged_program=judged_program,
        figures=own_figures,
        notebooks=books,
        studies=list(dict.fromkeys([*paper.studies, *studies_of_books])),
    )


def _notebooks_of(paper, figures, runs, notebooks):
    """Return the notebooks that made a paper's values, or that name it in their first cell."""
    studies = {*paper.studies, *(figure.study for figure in figures)}
    makers = set(runs["notebook"][runs["study"].isin(studies)])
    books = []
    for book in notebooks:
        _, _, first_source = book.cells[0]
        if book.name in makers or paper.key in first_source:
            books.append(book)
    return books


def _statements(paper, results, figure_names, runs):
    """Return a row for each statement: its verdict, in numbers and words, and what made it."""
    notebook_of_study = dict(runs[["study", "notebook"]].dropna().values)
    with_record = runs[runs["provenance"] != sources.MISSING]
    recorded_arms = {*zip(with_record["study"], with_record["arm"])}
    judged = in_both(paper, partial(_final_values, results), errors.known())
    verdicts_with_other_margins = margins.known()
    rows = []
    for statement, (outcome, program) in zip(paper.statements, judged, strict=True):
        arms = _arms_of(statement)
        notebooks = [notebook_of_study[s] for s, _ in arms if s in notebook_of_study]
        missing = _first_missing(arms, runs) if outcome.verdict == NOT_RUN else None
        figure = statement.figure if statement.figure in figure_names else ""
        # The sentence of an undecided statement ends with its kind in words.
        kind = outcome.sentence.rpartition(". ")[2] if outcome.kind else ""
        left_out = _unfinished(statement, results)
        if left_out:
            words = f"{left_out} {LEFT_OUT}."
            outcome = replace(outcome, sentence=f"{outcome.sentence} {words}".strip())
            kind = f"{kind} {words}".strip()
        row = SimpleNamespace(
            **vars(outcome) | {"number": outcome.number or outcome.sentence},
            statement=statement,
            program=program,  # its outcome in the reading "as the original software", or None
            moves=verdicts_with_other_margins.get(f"{paper.key}/{statement.id}"),
            figure=figure,
            open=kind,
            former=_other_verdicts(statement, outcome.verdict),
            arms=[arm for arm in dict.fromkeys(arms) if arm in recorded_arms],
            needs="",  # the study that lacks runs for it
            lacks="no runs",
            notebooks=list(dict.fromkeys(notebooks)),
        )
        if missing is not None:
            row.needs = missing["study"].iloc[0]
            row.lacks = missing_cost(missing)
        rows.append(row)
    return rows


def _arms_of(statement):
    """Return (study, arm) of all series of a statement."""
    arms = []
    for part in statement.parts:
        arms += [(one["study"], one["arm"]) for one in series(part)]
    return arms


def _final_values(results, study, arm, columns, which):
    """Return run -> value of one result, as `in_both` asks for it."""
    rows = results.get((study, arm, key_of(columns)))
    return {} if rows is None else final_values(rows, which)


def _unfinished(statement, results) -> int:
    """Return how many runs of a series of a statement stopped early, and do not count."""
    most = 0
    for part in statement.parts:
        for one in series(part):
            for selected in (one, one.get("less")):
                if selected:
                    place = selected["study"], selected["arm"], key_of(selected["select"])
                    most = max(most, unfinished(results[place]) if place in results else 0)
    return most


def _first_missing(arms, runs):
    """Return the missing runs of the first (study, arm) that has any, or None.

    Of an arm that no run has, such as one that is derived, they are those of its study.
    """
    all_missing = without_record(runs)
    known_arms = {*zip(runs["study"], runs["arm"])}
    for study, arm in arms:
        missing = all_missing[all_missing["study"] == study]
        if (study, arm) in known_arms:
            missing = missing[missing["arm"] == arm]
        if len(missing):
            return missing
    return None


def _other_verdicts(judged, verdict):
    """Return (verdict, reason) of the former verdicts that differ from the present one."""
    return [(before, why) for before, why in judged.former if verdict not in (before, NOT_RUN)]


def _row(claim, paper, runs, books, results):
    """Return one published value: its row of `compare`, and where ours comes from."""
    of_study = runs[runs["study"] == claim.study]
    compared = row_of(claim, results)
    verdict = compared["verdict"]
    times_in_words = times.ours_of(claim, paper.claims, of_study)
    ours = compared["ours"]
    short = bare(ours)
    if times_in_words:
        short, ours = times_in_words
    place = compared["place"]
    if "table" in claim.place:
        place = f"{claim.place['row']}, {claim.place['column']}"
    provenance = ""
    made_by = ""
    if ours:
        # The other runs of the study do not answer this claim.
        provenance = sources.provenance(of_study[of_study["arm"] == claim.arm])
        made_by = _cell_that_made(claim, of_study, books)
    answers_of_readings = answers(claim, results)
    return SimpleNamespace(
        **compared | {"ours": ours, "place": place},
        claim=claim,
        anchor="v-" + anchor(claim.id.split("/", 1)[1]),
        short=short or verdict,  # for a cell of a table
        former=_other_verdicts(claim, verdict),
        answers=answers_of_readings,
        program=software(answers_of_readings),  # the one "as in the authors' program", or None
        provenance=provenance,
        made=made_by,
    )


def _cell_that_made(claim, runs, books):
    """Return the address of the notebook cell that made a value, or ""."""
    words = ("move_times(",) if claim.timed else (f'"{claim.arm}"', ".run(")
    makers = set(runs["notebook"])
    places = [book.place(*words) for book in books if book.name in makers]
    return places[-1] if places else ""


def told(summary) -> str:
    """Return what a report sums up, as text."""
    lines = [f"Published values: {_in_words(summary.verdicts)}", summary.status]
    lines += [f"gap: {gap}" for gap in summary.gaps]
    return "\n".join(lines)
