"""What the studies left behind, as the report reads it, and what is missing of it."""

import math
import re
from collections import Counter
from typing import NamedTuple

from ..files import read_json

RUN_COLUMNS = "study arm run kind evaluator provenance machine notebook".split()
RUN_COLUMNS += ["confirmed", "cpu_seconds", "moves", "moves_per_second", "estimated_cpu_seconds"]
# where a number comes from, in the tables of `studies`
PROVENANCES = RECORDED, HERE, MISSING = "recorded", "trained here", "missing"
MAKE_ALL = "make reproduce BUDGET=all"
DAY = 24 * 3600
EDAX = "Edax"  # an opponent that comes from elsewhere; without it its matches have no cost


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
    found = []
    for path in sorted(directory.glob("*.ipynb")):
        content = read_json(path)
        cells = [
            (cell.get("id", ""), cell["cell_type"] == "code", "".join(cell["source"]))
            for cell in content["cells"]
        ]
        found.append(Notebook(path.stem, cells, content["metadata"].get("failed", False)))
    return found


def provenance(rows, every_kind=False):
    """Return where an arm's trainings (or all its rows) come from: "24 recorded, 1 missing"."""
    trained = rows[rows["kind"] == "train"]
    counts = count((rows if every_kind or trained.empty else trained)["provenance"], PROVENANCES)
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
    units = {"years": 365 * DAY, "days": DAY, "h": 3600, "min": 60, "s": 1}
    least = units | {"days": 2 * DAY, "s": 0}
    unit = next(unit for unit in units if seconds >= least[unit])
    amount = seconds / units[unit]
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"


def without_record(runs):
    """Return those rows of a table of runs that are missing."""
    return runs[runs["provenance"] == MISSING]


def missing_cost(rows):
    """Return the cost of some missing runs and evaluations of a table of runs in words."""
    edax = rows["evaluator"].astype(str).str.contains(EDAX).any()
    seconds = float(rows["estimated_cpu_seconds"].sum())
    if not seconds:
        return f"needs the program {EDAX}" if edax else "seconds"
    return duration(seconds) + (f", without {EDAX}" if edax else "")


def how_to_make(runs):
    """Return a sentence that says how to make the missing runs of a table, and what they cost."""
    return f"{MAKE_ALL} makes them (CPU time: {missing_cost(without_record(runs))})."
