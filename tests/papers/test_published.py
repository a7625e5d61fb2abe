"""What is published follows from the records: pages, sentences, margins and errors of tests.

To collect the results of all studies takes most of a minute: the tests of this file share them.
"""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from simulated_errors import asked
from test_margins import moved

from afterply.files import data_directory, read_yaml
from afterply.studies import notebooks, papers
from afterply.studies.papers import claims, errors, margins
from afterply.studies.reports import collect, readings, sentences
from afterply.studies.results import by_columns
from whole_pages import faults

ROOT = Path(__file__).resolve().parents[2]
COMPARED = {".md", ".csv", ".svg", ".txt"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The published report, built anew from the records and the executed notebooks in a copy.

    Its `folder` and `summary`, and the `studies` and `results` behind it.
    """
    kept = ROOT / "reports" / "paper"
    root = tmp_path_factory.mktemp("copy")
    for name in ("data", "lib", "notebooks", "README.md"):
        (root / name).symlink_to(ROOT / name)
    folder = root / "reports" / "paper"
    folder.mkdir(parents=True)
    for path in (*kept.glob("*.ipynb"), *kept.glob("bench.*")):
        shutil.copy(path, folder)
    studies, _ = notebooks.collect(notebooks.find())
    results = collect.gather(studies, folder, claims.all())
    summary = collect.build("paper", studies, root / "reports", results=results)
    by_name = {study.name: study for study in studies}
    return SimpleNamespace(folder=folder, summary=summary, studies=by_name, results=results)


def test_the_published_pages_are_whole(published):
    folder, summary = published.folder, published.summary
    found = faults(folder.resolve())
    assert not found, "\n".join(found[:20])
    assert summary.gaps == [] and len(summary.parts) == 4
    for part in summary.parts:
        text = (folder / f"{part.paper.key}.md").read_text(encoding="utf-8")
        ids = re.findall(r'<a id="(v-[^"]+)"', text)
        assert len(ids) == len(set(ids)) == len(part.rows)
        assert all(row.made for row in part.rows if row.ours)
        groups = readings.unexplained(part.rows)  # values that no reading gives have a reason
        assert all(why for why, _ in groups) and (groups or part.paper.key != "jamieson2022")


def test_the_published_pages_are_those_of_the_tables(published):
    """All but the counts of runs that were made again are the same whenever they are built."""
    kept = [p for p in (ROOT / "reports" / "paper").glob("*.*") if p.suffix in COMPARED]
    kept = [path for path in kept if path.name != "log.txt"]
    assert len(kept) > 20
    made = published.folder
    differ = [path.name for path in kept if path.read_bytes() != (made / path.name).read_bytes()]
    assert not differ, "make reproduce writes them"


def beyond_statements():
    """(text, what it rests on but statements of papers) of all entries of answers.yaml."""
    linked = read_yaml(data_directory() / "papers" / "answers.yaml")
    answers = [linked["headline"], *linked["papers"].values(), *linked["studies"]]
    texts = [one for answer in answers for one in sentences.texts_of(answer)]
    keys = {*papers.keys()}
    return [
        (text, {name: said for name, said in on.items() if name.partition("/")[0] not in keys})
        for text, on in texts
    ]


def test_sentences_say_what_the_records_say(published):
    texts, results = beyond_statements(), published.results
    names = {name for _, on in texts for name in on}
    found = sentences.results_by_name(names, results.cells, results.by_columns)
    late = [(text, moved) for text, on in texts for moved in sentences.moved(on, found)]
    assert late == []


def test_another_number_in_the_records_is_noticed(published):
    on = dict(beyond_statements())["51_many_players, The search"]
    assert {name.partition("/")[0] for name in on} == {"many-players"}
    study = published.studies["many-players"]
    table = study.table()
    fewer = table.assign(value=0.9 * table["value"])
    cells = {f"many-players/{name}": cell for name, cell in study.cells(fewer).items()}
    found = sentences.results_by_name(set(on), cells, by_columns(fewer))
    assert any("search-nim was 'does not hold 34'" in late for late in sentences.moved(on, found))


def test_what_hangs_on_margins_is_what_the_page_says(published):
    found = moved(published.results.by_columns)
    assert margins.known() == found, "python tests/papers/test_margins.py writes it"


def test_the_errors_that_are_kept_are_those_of_these_runs(published):
    """One paper's questions have their answers; one of these is simulated again."""
    kept = errors.known()
    of_paper = dict(asked(["konen2021"], published.results.by_columns))
    assert of_paper and all(one.digest in kept for one in of_paper.values())
    one = min(of_paper.values(), key=lambda one: sum(len(arm) for arm in one.runs))
    again = one.simulated(draws=4_000)
    assert again["error"] == pytest.approx(kept[one.digest]["error"], abs=1.5)
