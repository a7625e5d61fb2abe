"""The errors of the tests of the papers' statements, simulated with the shapes of their runs.

``python tests/papers/simulated_errors.py`` writes `data/papers/simulated.json` anew, in minutes.
"""

import json

from afterply.commands.reproduce import collect, find
from afterply.files import data_directory, write_text
from afterply.studies import papers
from afterply.studies.papers import errors, statements
from afterply.studies.papers.compare import final_values
from afterply.studies.results import by_columns, joined, key

FILE = data_directory() / "papers" / "simulated.json"


def asked(keys, results):
    """Yield the name of each decided statement and part, and what is asked of its test.

    `keys` are those of papers, `results` those of `by_columns`.
    """

    def values(study, arm, columns, which):
        rows = results.get((study, arm, key(columns)))
        return {} if rows is None else final_values(rows, which)

    for name in keys:
        every = papers.load(name).statements
        for statement, outcome in zip(every, statements.judge(every, values), strict=True):
            questions = statements.decided(statement, outcome, len(every))
            for of, one in [(of, one) for of, one in questions if one]:
                yield f"{name}/{statement.id}, {of}", one


if __name__ == "__main__":
    kept, tables = errors.known(), [study.table() for study in collect(find())[0]]
    answers = {}
    for name, one in asked(papers.all().keys(), by_columns(joined(tables))):
        answers[one.digest] = kept.get(one.digest) or {"of": name} | one.simulated()
        print(name, answers[one.digest], flush=True)
        write_text(FILE, json.dumps(answers, indent=1, sort_keys=True) + "\n")
