"""The runs of the studies as the report reads them: where they come from, what is missing."""

import math
import re
from collections import Counter
from typing import NamedTuple

from ..files import read_json

RUN_COLUMNS = ["study", "arm", "run", "kind", "evaluator", "provenance", "machine", "notebook"]
RUN_COLUMNS += ["confirmed", "cpu_seconds", "moves", "moves_per_second", "estimated_cpu_seconds"]
# Where a number comes from, in the tables of `studies`.
RECORDED = "recorded"
HERE = "trained here"
MISSING = "missing"
PROVENANCES = (RECORDED, HERE, MISSING)
MAKE_ALL = "make reproduce BUDGET=all"
DAY = 24 * 3600
UNITS = [  # of durations: name, seconds, and from how many seconds on it is used
    ("years", 365 * DAY, 365 * DAY),
    ("days", DAY, 2 * DAY),
    ("h", 3600, 3600),
    ("min", 60, 60),
    ("s", 1, 0),
]
EDAX = "Edax"  # an opponent that is installed apart; the cost of its matches is not known here


class Notebook(NamedTuple):
    """An executed notebook."""

    name: str
    cells: list  # (id, is it code, source)
    failed: bool

    def place(self, *words):
        """Return the address of the first code cell with one of the words, else of the notebook."""
        for word in words:
            for name, is_code, source in self.cells:
                if is_code and word in source:
                    return f"{self.name}.ipynb#cell-id={name}"
        return f"{self.name}.ipynb"


def notebooks(directory):
    """Return the executed notebooks of a directory, in reading order."""
    executed = []
    for path in sorted(directory.glob("*.ipynb")):
        content = read_json(path)
        cells = []
        for cell in content["cells"]:
            is_code = cell["cell_type"] == "code"
            cells.append((cell.get("id", ""), is_code, "".join(cell["source"])))
        failed = content["metadata"].get("failed", False)
        executed.append(Notebook(path.stem, cells, failed))
    return executed


def provenance(rows, every_kind=False):
    """Return where trainings, or rows of every kind, come from: "24 recorded, 1 missing"."""
    trainings = rows[rows["kind"] == "train"]
    counted = rows if every_kind or trainings.empty else trainings
    counts = count(counted["provenance"], PROVENANCES)
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


def confirmed(rows):
    """Return how many of some recorded runs the present sources are known to give, in words."""
    known = rows["confirmed"].dropna()
    return f"{int(known.astype(bool).sum()):,} of {len(known):,}"


def count(names, order):
    """Return the number of each name in `order`, 0 included."""
    numbers = Counter(names)
    return {name: numbers[name] for name in order}


def anchor(name):
    """Return a text as the name of an anchor."""
    return re.sub(r"[^\w.]+", "-", str(name)).strip("-")


def duration(seconds):
    """Return CPU seconds to two digits, in the unit that suits them: "3.4 min", or "unknown"."""
    if math.isnan(seconds):
        return "unknown"
    for unit, length, least in UNITS:
        if seconds >= least:
            break
    amount = seconds / length
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"


def without_record(runs):
    """Return those rows of a table of runs that are missing."""
    return runs[runs["provenance"] == MISSING]


def missing_cost(rows):
    """Return the cost of some missing runs and evaluations of a table of runs in words."""
    needs_edax = rows["evaluator"].astype(str).str.contains(EDAX).any()
    seconds = float(rows["estimated_cpu_seconds"].sum())
    if not seconds:
        return f"needs the program {EDAX}" if needs_edax else "seconds"
    cost = duration(seconds)
    return f"{cost}, without {EDAX}" if needs_edax else cost


def how_to_make(runs):
    """Return a sentence that says how to make the missing runs of a table, and what they cost."""
    return f"{MAKE_ALL} makes them (CPU time: {missing_cost(without_record(runs))})."
