"""What the studies left behind, read for the report: whatever cannot be read becomes a gap.

`gaps` is a list of sentences that the functions add to.
"""

import json
import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..papers.compare import RESULT_COLUMNS

RUN_NUMBERS = ["cpu_seconds", "moves", "moves_per_second", "estimated_cpu_seconds"]
RUN_COLUMNS = "study arm run kind evaluator provenance machine commit date notebook".split()
RUN_COLUMNS += RUN_NUMBERS
NO_RUNS = pd.DataFrame(columns=RUN_COLUMNS)
# where a number comes from, as `studies` writes it; AGAIN is followed by how it compares
RECORDED, HERE, AGAIN, MISSING = "recorded", "trained here", "re-run here: ", "missing"
REPEATED = (AGAIN + "identical", AGAIN + "agrees")  # and found as the record says
DIFFERS = AGAIN + "differs"
OF_RECORDS = (RECORDED, *REPEATED)
PROVENANCES = (RECORDED, HERE, *REPEATED, DIFFERS, MISSING)


class Figure(NamedTuple):
    """A saved figure of a study ("" if of none), and how to read it."""

    study: str
    name: str
    caption: str


class Notebook(NamedTuple):
    """An executed notebook."""

    name: str
    cells: list  # (id, is it code, source)

    @property
    def title(self):
        """Its first heading."""
        found = re.search(r"^# +(.+)$", self.cells[0][2], re.MULTILINE)
        return found[1].strip() if found else self.name

    def place(self, *words):
        """Return the address of the first code cell with one of the words, else of the notebook."""
        for word in words:
            for name, is_code, source in self.cells:
                if is_code and word in source:
                    return f"{self.name}.ipynb#cell-id={name}"
        return f"{self.name}.ipynb"


def anchor(name):
    """Return a text as the name of an anchor.

    >>> anchor("table1/2048/FARL (10 runs)")
    'table1-2048-FARL-10-runs'
    """
    return re.sub(r"[^\w.]+", "-", str(name)).strip("-")


def without_record(runs):
    """Return those rows of a table of runs that are missing."""
    return runs[runs["provenance"] == MISSING]


def studies(directory):
    """Return the names of the studies that left results or runs."""
    files = (directory / "data").glob("*.csv")
    return {f.name.split(".")[0] for f in files if f.name.endswith((".results.csv", ".runs.csv"))}


def runs(directory, study, gaps):
    """Return the runs of a study, with where each comes from and what it cost."""
    path = directory / "data" / f"{study}.runs.csv"
    if not path.exists() and path.with_name(f"{study}.results.csv").exists():
        gaps.append(f"{path.name} is missing: nothing says where the results come from")
    table = _read(path, RUN_COLUMNS, RUN_NUMBERS, gaps)
    return NO_RUNS if table is None else table


def results(directory, study, gaps):
    """Return the finite results of a study; None if it left none."""
    path = directory / "data" / f"{study}.results.csv"
    table = _read(path, RESULT_COLUMNS, ["episode", "value"], gaps)
    if table is None:
        return None
    finite = np.isfinite(table["value"])
    if left_out := int((~finite).sum()):
        gaps.append(f"{path.name}: {left_out} values are missing or not finite and are left out")
    return table[finite]


def _read(path, columns, numbers, gaps):
    if not path.exists():
        return None
    try:
        table = pd.read_csv(path)
        if lacking := [name for name in columns if name not in table.columns]:
            raise ValueError(f"it lacks the column {lacking[0]!r}")
        return table.astype(dict.fromkeys(numbers, float))
    except (OSError, ValueError) as error:  # also those of pandas and of wrong characters
        gaps.append(f"{path.name} cannot be read ({error}); run its notebook again")
        return None


def figures(directory, studies, gaps):
    """Return the figures of a directory; one without caption or numbers is a gap.

    A figure belongs to the study with the longest name that its own name begins with.
    """
    found = []
    for path in sorted((directory / "figures").glob("*.svg")):
        for suffix, what in ((".txt", "caption"), (".csv", "file with its numbers")):
            if not path.with_suffix(suffix).exists():
                gaps.append(f"the figure {path.name} has no {what}; run its notebook again")
        text, name = path.with_suffix(".txt"), path.stem
        caption = " ".join(text.read_text(encoding="utf-8").split()) if text.exists() else name
        study = max((s for s in studies if name.startswith(s + "-")), key=len, default="")
        found.append(Figure(study, name, caption))
    return found


def notebooks(directory, gaps):
    """Return the executed notebooks of a directory, in reading order."""
    found = []
    for path in sorted(directory.glob("*.ipynb")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            cells = [
                (cell.get("id", ""), cell["cell_type"] == "code", "".join(cell["source"]))
                for cell in content["cells"]
            ]
            found.append(Notebook(path.stem, cells))
            if content["metadata"].get("failed"):
                failure = cells[0][2].strip().splitlines()[-2].strip()
                gaps.append(f"the notebook {path.stem} failed: {failure}")
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            gaps.append(f"the notebook {path.name} cannot be read; run it again")
    return found


def provenance(rows, every_kind=False):
    """Return where the trainings of an arm come from: "24 recorded, 1 re-run here: identical".

    Of all its runs and evaluations if it has no training, or with `every_kind`.
    """
    trained = rows[rows["kind"] == "train"]
    counts = count((rows if every_kind or trained.empty else trained)["provenance"], PROVENANCES)
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


def count(names, order):
    """Return the number of each name: those of `order` first, 0 included, then the others."""
    numbers = Counter(names)
    return {name: numbers[name] for name in [*order, *sorted(set(numbers) - set(order))]}


def duration(seconds):
    """Return CPU seconds to two digits, in seconds, minutes or hours.

    >>> duration(0.35), duration(204.0), duration(36000)
    ('0.35 s', '3.4 min', '10 h')
    """
    unit, size = next((u for u in (("h", 3600), ("min", 60)) if seconds >= u[1]), ("s", 1))
    amount = seconds / size
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
