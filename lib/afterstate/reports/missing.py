"""What has no record yet: the runs of each study that are missing, their cost, how to make them."""

from dataclasses import dataclass

from ..papers.statements import STATEMENT_NOT_RUN, series
from .sources import duration, without_record
from .templating import anchor

COMMAND = "make reproduce BUDGET=all"  # makes everything that is missing
ENGINES = ("Edax",)  # opponents that come from elsewhere; without them their matches have no cost


@dataclass(frozen=True)
class Cost:
    """Estimated CPU seconds, and the opponents whose matches have no estimate."""

    seconds: float = 0.0
    engines: tuple = ()

    @property
    def words(self):
        """The cost in words.

        >>> Cost(10000.0, ("Edax",)).words, Cost(0.0, ("Edax",)).words
        ('2.8 h, without Edax', 'needs Edax')
        """
        if not self.seconds:
            return f"needs {' and '.join(self.engines)}" if self.engines else "seconds"
        without = f", without {' and '.join(self.engines)}" if self.engines else ""
        return f"{duration(self.seconds)}{without}"


@dataclass(frozen=True)
class Arm:
    """What is missing of an arm: numbers of trainings and evaluations, and their cost."""

    name: str
    trainings: int
    evaluations: int
    cost: Cost

    @property
    def words(self):
        """What is missing, in words.

        >>> Arm("FARL", 1, 4, Cost()).words, Arm("FARL", 0, 3, Cost()).words
        ('1 training and 4 evaluations', '3 evaluations')
        """
        numbers = (self.trainings, "training"), (self.evaluations, "evaluation")
        return " and ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in numbers if n)


@dataclass(frozen=True)
class Lacking:
    """What is missing of a study: its arms, and the notebook that makes them."""

    study: str
    notebook: str
    arms: tuple
    cost: Cost

    @property
    def anchor(self):
        """Its anchor on the page of its paper and on that of the runs."""
        return f"missing-{anchor(self.study)}"

    @property
    def command(self):
        """The command that makes what is missing of this study alone."""
        return f"python -m afterstate.commands.reproduce notebook {self.notebook} --profile paper"


def cost(rows):
    """Return the cost of some missing runs and evaluations, rows of a table of runs."""
    return Cost(
        float(rows["estimated_cpu_seconds"].sum()),
        tuple(
            engine
            for engine in ENGINES
            if rows.get("evaluator", rows["arm"]).astype(str).str.contains(engine).any()
        ),
    )


def lacking(runs, studies=None):
    """Return what is missing of each study that lacks anything.

    Parameters
    ----------
    runs : DataFrame
        Of all studies.
    studies : iterable of str, optional
        Only these, in this order (default: all, in the alphabet's).

    Returns
    -------
    dict
        Study -> Lacking.
    """
    rows = without_record(runs)
    found = {}
    for study in sorted(set(rows["study"])) if studies is None else studies:
        mine = rows[rows["study"] == study]
        if len(mine):
            arms = tuple(_arm(name, of_arm) for name, of_arm in mine.groupby("arm", sort=False))
            found[study] = Lacking(study, str(mine["notebook"].iloc[0] or ""), arms, cost(mine))
    return found


def _arm(name, rows):
    trainings = int((rows["kind"] == "train").sum())
    return Arm(name, trainings, len(rows) - trainings, cost(rows))


def total(found):
    """Return the cost of several studies in all."""
    engines = dict.fromkeys(engine for one in found for engine in one.cost.engines)
    return Cost(sum(one.cost.seconds for one in found), tuple(engines))


def needs(part, found):
    """Say what the statements of a paper wait for that are not run.

    Parameters
    ----------
    part : collect.Part
    found : dict
        From `lacking`.

    Returns
    -------
    dict
        Id of the statement -> {text, anchor of the study that lacks them}; without statements whose
        missing runs are not known.
    """
    waiting = {}
    for row in part.statements:
        if row.verdict != STATEMENT_NOT_RUN:
            continue
        wanted = [one for of_part in row.statement.parts for one in series(of_part)]
        arms = _arms(wanted, found)
        if arms:
            metrics = " ".join(one["metric"] for one in wanted)
            engines = [engine for engine in ENGINES if engine in metrics]
            text = " and ".join(["needs " + _numbers(arms), *engines])
            first = next(one["study"] for one in wanted if one["study"] in found)
            waiting[row.statement.id] = {"text": text, "anchor": found[first].anchor}
    return waiting


def _arms(wanted, found):
    """Return the missing arms that some series name, or need: an arm may be shown by another."""
    arms = []
    for study in dict.fromkeys(one["study"] for one in wanted if one["study"] in found):
        names = {one["arm"] for one in wanted if one["study"] == study}
        named = [arm for arm in found[study].arms if arm.name in names]
        arms += named if len(named) == len(names) else found[study].arms
    return arms


def _numbers(arms):
    """Return what some arms lack, in words; evaluations only where no training is missing."""
    trainings = sum(arm.trainings for arm in arms)
    evaluations = 0 if trainings else sum(arm.evaluations for arm in arms)
    seconds = sum(arm.cost.seconds for arm in arms)
    time = f" ({duration(seconds)} of CPU time)" if seconds else ""
    return f"{Arm('', trainings, evaluations, Cost()).words}{time}"


def sentence(runs):
    """Return a sentence that says how to make the missing runs of a table, and what they cost."""
    rows = without_record(runs)
    return f"{COMMAND} makes them (CPU time: {cost(rows).words})." if len(rows) else ""
