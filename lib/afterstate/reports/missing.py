"""What has no record yet: the runs of each study that are missing, their cost, how to make them."""

from ..papers.statements import STATEMENT_NOT_RUN, series
from .sources import anchor, duration, without_record

COMMAND = "make reproduce BUDGET=all"  # makes everything that is missing
EDAX = "Edax"  # an opponent that comes from elsewhere; without it its matches have no cost


def cost(rows):
    """Return the cost of some missing runs and evaluations of a table of runs in words."""
    edax = rows["evaluator"].astype(str).str.contains(EDAX).any()
    seconds = float(rows["estimated_cpu_seconds"].sum())
    if not seconds:
        return f"needs {EDAX}" if edax else "seconds"
    return duration(seconds) + (f", without {EDAX}" if edax else "")


def lacking(runs):
    """Return what is missing of each study of a table of runs that lacks anything.

    Study -> {rows, cost, anchor, command, arms}; of each arm (name, what it lacks, cost).
    """
    found = {}
    for study, rows in without_record(runs).groupby("study"):
        notebook = f"notebook {rows['notebook'].iloc[0]} --profile paper"
        by_arm = rows.groupby("arm", sort=False)
        found[study] = {
            "rows": rows,
            "cost": cost(rows),
            "anchor": f"missing-{anchor(study)}",
            "command": f"python -m afterstate.commands.reproduce {notebook}",
            "arms": [(name, _in_words(*_numbers(mine)), cost(mine)) for name, mine in by_arm],
        }
    return found


def needs(statements, found):
    """Say what the statements of a paper wait for that are not run.

    statements: rows of the report; found: from `lacking`. Returns id of the statement -> (text,
    study that lacks it), without statements whose missing runs are not known.
    """
    waiting = {}
    for row in statements:
        wanted = [one for part in row.statement.parts for one in series(part)]
        short = list(dict.fromkeys(one["study"] for one in wanted if one["study"] in found))
        if row.verdict != STATEMENT_NOT_RUN or not short:
            continue
        rows = [_wanted(found[study]["rows"], wanted) for study in short]
        trainings, evaluations = map(sum, zip(*map(_numbers, rows), strict=True))
        text = f"needs {_in_words(trainings, 0 if trainings else evaluations)}"
        seconds = sum(some["estimated_cpu_seconds"].sum() for some in rows)
        text += f" ({duration(seconds)} of CPU time)" if seconds else ""
        text += f" and {EDAX}" if any(EDAX in one["metric"] for one in wanted) else ""
        waiting[row.statement.id] = (text, short[0])
    return waiting


def _wanted(rows, wanted):
    """Return the missing rows of the arms that are wanted; all if an arm is shown by another."""
    names = {one["arm"] for one in wanted if one["study"] == rows["study"].iloc[0]}
    mine = rows[rows["arm"].isin(names)]
    return mine if set(mine["arm"]) == names else rows


def _numbers(rows):
    trainings = int((rows["kind"] == "train").sum())
    return trainings, len(rows) - trainings


def _in_words(trainings, evaluations):
    numbers = (trainings, "training"), (evaluations, "evaluation")
    return " and ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in numbers if n)


def sentence(runs):
    """Return a sentence that says how to make the missing runs of a table, and what they cost."""
    rows = without_record(runs)
    return f"{COMMAND} makes them (CPU time: {cost(rows)})." if len(rows) else ""
