"""The errors of the tests of the papers' statements, simulated with the shapes of their runs.

``python tests/papers/test_simulated.py`` writes `data/papers/simulated.json` anew, in some minutes.
"""

import functools
import json

import pytest

from afterply.commands.reproduce import collect, find
from afterply.files import data_directory, write_text
from afterply.studies import papers
from afterply.studies.papers import errors, statements
from afterply.studies.papers.compare import final_values
from afterply.studies.results import by_columns, joined, key

FILE = data_directory() / "papers" / "simulated.json"


@functools.cache
def _found(studies):
    chosen = [study for study in collect(find())[0] if study.name in studies]
    return by_columns(joined([study.table() for study in chosen]))


def asked(keys, studies):
    """Yield the name of each decided statement and part, and what is asked of its test."""
    found = _found(studies)

    def values(study, arm, columns, which):
        rows = found.get((study, arm, key(columns)))
        return {} if rows is None else final_values(rows, which)

    for name in keys:
        every = papers.load(name).statements
        for statement, outcome in zip(every, statements.judge(every, values), strict=True):
            questions = statements.decided(statement, outcome, len(every))
            for of, one in [(of, one) for of, one in questions if one]:
                yield f"{name}/{statement.id}, {of}", one


def _studies(keys):
    series = statements.series
    return frozenset(
        one["study"]
        for name in keys
        for statement in papers.load(name).statements
        for part in statement.parts
        for one in series(part)
    )


def test_what_is_kept_was_made_from_these_runs():
    """One paper's questions have their answers; one of these is simulated again."""
    kept = errors.known()
    of_paper = dict(asked(["konen2021"], _studies(["konen2021"])))
    assert of_paper and all(one.digest in kept for one in of_paper.values())
    one = min(of_paper.values(), key=lambda one: sum(len(arm) for arm in one.runs))
    again = one.simulated(draws=4_000)
    assert again["error"] == pytest.approx(kept[one.digest]["error"], abs=1.5)


if __name__ == "__main__":
    kept, names = errors.known(), papers.all().keys()
    answers = {}
    for name, one in asked(names, _studies(names)):
        answers[one.digest] = kept.get(one.digest) or {"of": name} | one.simulated()
        print(name, answers[one.digest], flush=True)
        write_text(FILE, json.dumps(answers, indent=1, sort_keys=True) + "\n")
