"""What is recorded, what is missing and what it would cost, and which runs a budget is spent on."""

import contextlib
import random
from contextvars import ContextVar
from dataclasses import replace

from .progress import clock
from .run_states import RunState, unmeasured
from .settings import Selection
from .study import KIND, Study
from .tables import trains_again

_planned = ContextVar("the studies of the plan that is being made")


@contextlib.contextmanager
def planning():
    """Within this context studies are :class:`PlannedStudy`; it gives the list of them."""
    studies = []
    kind, listed = KIND.set(PlannedStudy), _planned.set(studies)
    try:
        yield studies
    finally:
        KIND.reset(kind)
        _planned.reset(listed)


class PlannedStudy(Study):
    """A study that looks up its runs, and neither trains, measures, draws nor writes anything."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.policy = replace(self.policy, computes=False)
        self._known_rows = {}  # {arm: its table}: nothing comes to a plan's records
        _planned.get().append(self)

    def derive(self, arm, function):
        """Derive nothing."""

    def run(self, arm, *arguments, **options):
        """Look up the runs of an arm."""
        self._known_rows.pop(arm, None)
        return super().run(arm, *arguments, **options)

    def _rows(self, arm):
        if arm not in self._known_rows:
            self._known_rows[arm] = super()._rows(arm)
        return self._known_rows[arm].copy()

    def figure(self, figure, name, data, caption, arms=None):
        """Return the figure and save nothing."""
        return figure

    def net(self, arm, run=0, limit=0.0):
        """Raise LookupError, whatever is in the cache."""
        raise LookupError(f"the plan loads no network, so not that of {arm!r} run {run}")

    def _write_csv(self, what, table):
        pass


def states_of(studies: list[Study]) -> list[RunState]:
    """Return the runs of some studies that keep records."""
    return [
        state
        for study in studies
        if study.policy.keeps_records
        for states in study.arms.values()
        for state in states
    ]


def by_arm(states: list[RunState]) -> dict[tuple[str, str], list[RunState]]:
    """Return the runs of each (study, arm), in the order in which they come first."""
    arms = {}
    for state in states:
        arms.setdefault((state.job.study, state.job.arm), []).append(state)
    return arms


def missing_cost(state: RunState) -> float:
    """Return the CPU seconds that finish a run.

    That is what has no record and can be made here, and the training if weights or a curve need it.
    """
    due = state.due + ([state.job.key] if trains_again(state) else [])
    return sum(state.costs.estimate(state.job, key) for key in due)


def recorded_cost(state: RunState) -> float:
    """Return the CPU seconds that the records of a run say it took."""
    return sum(r["cost"]["cpu_seconds"] for r in state.stored.values())


def select(states: list[RunState], budget: float, seed: int) -> tuple[Selection, float]:
    """Choose what a budget is spent on.

    One recorded run per paper, drawn at random, then missing runs, the cheapest first.

    Parameters
    ----------
    states : list of RunState
        From the notebooks' code in :func:`planning`.
    budget : float
        CPU seconds; infinity takes everything.
    seed : int
        Of the draw.

    Returns
    -------
    (Selection, float)
        What is chosen, and the CPU seconds that it is expected to take.
    """
    draw, spent, again, missing = random.Random(seed), 0.0, [], []
    states = [s for s in states if not s.job.lacks]
    for paper in sorted({s.paper or "" for s in states}):
        members = [s for s in states if (s.paper or "") == paper and s.complete]
        fitting = [s for s in members if recorded_cost(s) <= budget - spent]
        if fitting:
            chosen = draw.choice(sorted(fitting, key=lambda s: s.job.key))
            again.append(chosen.job.key)
            spent += recorded_cost(chosen)
    for cost, key in sorted((missing_cost(s), s.job.key) for s in states if not s.complete):
        if spent + cost <= budget:
            missing.append(key)
            spent += cost
    return Selection(frozenset(again), frozenset(missing)), spent


# --------------------------------------------------------------------------------------------- text


def lines(states: list[RunState]) -> list[str]:
    """Return the plan as text.

    For each study and arm what is recorded, what is missing and the CPU time of both; then what
    lacks something here, and how many records are still to be checked.
    """
    arms = by_arm(states)
    wide = [2 + max(map(len, names)) for names in zip(("study", "arm"), *arms)]
    head = (("study", "arm"), ("runs", "recorded", "CPU time", "missing", "CPU time"))
    text, total_recorded, total_missing = [_row(wide, *head)], 0.0, 0.0
    for names, members in arms.items():
        recorded = [s for s in members if s.complete]
        lacking = [s for s in members if not s.complete]
        have, need = sum(map(recorded_cost, recorded)), sum(map(missing_cost, lacking))
        counts = (len(members), len(recorded), clock(have), len(lacking), clock(need))
        text.append(_row(wide, names, counts))
        total_recorded, total_missing = total_recorded + have, total_missing + need
    text.append(
        f"In all {len(states)} runs: {clock(total_recorded)} of CPU time are recorded (on the"
        f" machines of the records), {clock(total_missing)} are missing."
    )
    doubted = sum(len(s.doubted & set(s.stored)) for s in states)
    if doubted:
        text.append(
            f"{doubted} records were made by other sources of the package: they are checked when"
            " they are used."
        )
    return text + _lacking(states)


def _row(wide, names, counts):
    first = "".join(f"{name:<{width}}" for name, width in zip(names, wide))
    return first + "".join(f"{n:>{width}}" for n, width in zip(counts, (5, 10, 10, 9, 10)))


def _lacking(states):
    """Return sentences on what can not be trained and measured here."""
    text, blocked = [], {}
    for state in states:
        if state.job.lacks and state.due:
            blocked.setdefault((state.job.study, state.job.lacks), []).append(state)
    for (study, reason), members in blocked.items():
        text.append(f"Not trained here: {study} ({len(members)} runs): needs {reason}")
    for study in dict.fromkeys(state.job.study for state in states):
        members = [s for s in states if s.job.study == study and not s.job.lacks]
        text += [
            f"Not measured here: {study}, {what}: needs {reason}"
            for what, reason in unmeasured(members)
        ]
    return text
