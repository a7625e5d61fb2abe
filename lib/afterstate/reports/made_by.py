"""What made a value, a table or a figure: links to notebook cell, results, records, and commits.

Commits are those that the records state, so that the same results give the same pages.
"""

from .sources import OF_RECORDS
from .templating import anchor

TIMES = "times_table("  # in the cell that shows the times of a move


def value(summary, part, row):
    """Return (text, href) of what made a value, its cost last."""
    cost = [(row.cost, "")] if row.cost else []
    claim = row.claim
    if not row.ours or not claim.study:
        return cost
    words = (TIMES,) if claim.timed else (f'"{claim.arm}"', ".run(")
    kind = "runs" if claim.timed else "results"
    found = _cell(part, claim.study, *words) + [(kind, f"data/{claim.study}.{kind}.csv")]
    return found + _records(summary, claim.study, claim.arm, row.provenance) + cost


def table(summary, part, rows):
    """Return (text, href) of what made the values of a table."""
    studies = dict.fromkeys(row.claim.study for row in rows if row.claim.study and row.ours)
    timed = any(row.claim.timed for row in rows)
    word, kind = (TIMES, "runs") if timed else (".compare(", "results")
    found = []
    for study in studies:
        found += _cell(part, study, word)
        found.append((f"{study}.{kind}.csv", f"data/{study}.{kind}.csv"))
        found += _records(summary, study)
    return list(dict.fromkeys(found)) or [("nothing yet", "")]


def figure(summary, part, drawn):
    """Return (text, href) of what made a figure."""
    found, notebook = [], part.notebooks.get(drawn.study)
    if notebook:
        found.append(_place(notebook, notebook.figures.get(drawn.name)))
    if drawn.numbers:
        found.append(("its numbers", drawn.numbers))
    return found + _records(summary, drawn.study)


def study(summary, name):
    """Return (text, href) of what made the runs of a study, and of its files."""
    runs = summary.runs[summary.runs["study"] == name]
    stems = set(runs["notebook"])
    books = [(book.path.stem, book.page) for book in summary.notebooks if book.path.stem in stems]
    return [*books, *files(name), *_folder(summary, name)]


def files(study):
    """Return (text, href) of the files of a study."""
    return [("results", f"data/{study}.results.csv"), ("runs", f"data/{study}.runs.csv")]


def _cell(part, study, *words):
    notebook = part.notebooks.get(study)
    return [_place(notebook, notebook.cell_with(*words))] if notebook else []


def _place(notebook, cell):
    return notebook.path.stem, notebook.page + (f"#cell-{cell}" if cell else "")


def _records(summary, study, arm=None, words="records"):
    """Return links to the records of a study, called `words`, and to their commits.

    Several commits of one arm are only counted, for its row has little room.
    """
    runs = summary.runs[summary.runs["study"] == study]
    runs = runs if arm is None else runs[runs["arm"] == arm]
    here = f"runs.html#study-{anchor(study)}"
    folder = _folder(summary, study, words) or [(words, here)]
    names = commits(runs)
    if len(names) > 1 and arm is not None:
        made = f"{len(names)} commits"
    else:
        made = f"commit{'s' * (len(names) > 1)} {first_two(names)}" if names else ""
    return [(text, href) for text, href in (*folder, (made, here)) if text]


def _folder(summary, study, words="records"):
    return [(words, f"../../data/records/{study}")] if summary.has_records(study) else []


def commits(runs):
    """Return the commits that the records of some runs state, in the order of their dates."""
    stated = runs[runs["provenance"].isin(OF_RECORDS)].sort_values("date", kind="stable")
    names = [str(name)[:7] + "+" * str(name).endswith("+") for name in stated["commit"].dropna()]
    return list(dict.fromkeys(names))


def first_two(names):
    """Return the first two names, and how many more there are.

    >>> first_two(["a", "b", "c"])
    'a, b and 1 more'
    """
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
