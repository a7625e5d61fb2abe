"""A study as a notebook sees it: arms of runs in, one long table, figures and verdicts out.

::

    study = Study("tictactoe", profile=profile, paper="konen2021",
                  params=dict(runs=runs, episodes=episodes, eval_every=eval_every))
    study.run("FARL", td, game=game, curve=[cheap], final=[expensive], farl="on")
    study.run("no-FARL", td, game=game, curve=[cheap], final=[expensive], farl="off")
    study.compare()                                      # published values beside ours
    study.figure(figure, "learning", data, "How to read it.")
    study.finish()                                       # writes results.csv and runs.csv

Where each run comes from is decided once, in :meth:`Study.run`: from its records, from its
checkpoint, or trained here.
"""

import textwrap
from contextvars import ContextVar
from pathlib import Path

import pandas as pd

from ..files import data_directory, reports_directory, write_text
from ..papers import claims
from ..papers.compare import compare
from ..reports import missing, picture
from ..reports.sources import MISSING
from . import settings, tables
from .costs import Costs
from .directories import sweep, writable
from .identity import learner_parameters
from .jobs import Job
from .profiles import NEVER_FROM_RECORDS
from .records import Records
from .run_states import (
    Notices,
    Policy,
    RunState,
    choose,
    look_up,
    may_write,
    settle,
    stored_evaluations,
    unmeasured,
    work_on,
)
from .runs import final_net, trained_net

# the class that Study(...) makes; a plan sets it to one that computes nothing
KIND: ContextVar = ContextVar("kind of study", default=None)


class Study:
    """One study: its arms, their runs, and the files it leaves in ``reports/<profile>/data``.

    Parameters
    ----------
    name : str
        Name of the study in the claims and in file names.
    profile : str
        "quick" makes everything from nothing and keeps no records; any other profile uses
        ``data/records``.
    params : dict, optional
        Defaults for every arm: ``runs``, ``episodes``, ``eval_every`` and parameters of the
        learner. From ``globals()`` only the first three are taken.
    paper : str, optional
        Key of the paper whose claims the study tests.
    workers : int, optional
        Processes (default: environment variable WORKERS, else all CPUs); the results do not depend
        on it.
    dask : str, optional
        Address of a Dask scheduler (default: environment variable DASK).
    records : "use" or "ignore", optional
        Whether records are read (default: environment variable RECORDS, else "use").

    Raises
    ------
    ValueError
        For a value that can not be meant; the message says which.
    """

    def __new__(cls, *_, **__):
        """Make a study, or the kind that is made in a plan."""
        return super().__new__(KIND.get() or cls)

    def __init__(
        self,
        name,
        profile="quick",
        params=None,
        *,
        paper=None,
        workers=None,
        dask=None,
        records=None,
    ):
        if not name or Path(name).name != name or not profile or Path(profile).name != profile:
            raise ValueError(
                f"study {name!r} and profile {profile!r} must be plain names, because files are"
                " named after them"
            )
        self.name, self.profile, self.paper = name, profile, paper
        params = dict(params or {})
        self.params = (
            {k: params[k] for k in ("runs", "episodes", "eval_every") if k in params}
            if "__name__" in params
            else params
        )
        keeps_records = profile != NEVER_FROM_RECORDS
        self.policy = Policy(
            keeps_records=keeps_records,
            fresh=settings.records(records) == "ignore" or not keeps_records,
            selection=settings.selection() if keeps_records else None,
            workers=settings.workers() if workers is None else at_least("workers", workers, 1),
            dask=settings.dask(dask),
        )
        self.data = data_directory()
        self.cache = writable(self.data / "cache")
        self.reports = reports_directory() / profile
        self.records = Records(self.data / "records" / name)
        for directory in (self.cache / name, self.records.directory):
            sweep(directory)
        self.arms: dict[str, list[RunState]] = {}
        self.derived: dict[str, dict] = {}
        self.views: dict[str, tuple] = {}
        self.tell = Notices()

    # ----------------------------------------------------------------------------------------- runs
    def run(
        self,
        arm: str,
        learner,
        *,
        game,
        runs=None,
        episodes=None,
        eval_every=None,
        curve=(),
        final=(),
        **parameters,
    ) -> pd.DataFrame:
        """Make the runs of an arm, or take them from their records; return them as a long table.

        Parameters
        ----------
        arm : str
        learner : module
            With NAME, VERSION, DEFAULTS and Session.
        game : Game
        runs, episodes : int
            Independent trainings, and episodes of each; at least 1.
        eval_every : int
            Episodes between two points of the learning curve (default: a curve of one point, at the
            end).
        curve, final : evaluators ``(game, net, seed) -> {metric: value}`` with name and version
            Measured during training, and once at its end.
        parameters
            Of the learner; its DEFAULTS hold the rest.

        Returns
        -------
        DataFrame
            study, arm, run, episode, metric, value. A value of a final evaluation replaces the
            curve's of the same metric there.

        Raises
        ------
        ValueError
            If a parameter is unknown or a value out of range.
        """
        states = self._states(
            arm, learner, game, runs, episodes, eval_every, tuple(curve), tuple(final), parameters
        )
        usable = look_up(states, self.records, self.policy, self.data, self.tell)
        chosen, again = choose(states, self.policy, self.tell)
        writes = usable and may_write(chosen, self.data, self.tell)
        work_on(chosen, again, self.records if writes else None, self.policy)
        for state in states:
            settle(state, state in again, stored_evaluations(states))
        self.arms[arm] = states  # now that nothing can go wrong with it any more
        self.derived.pop(arm, None)
        print(f"{self.name} / {arm}: {self._summary([arm])}")
        return self._rows(arm)

    def _states(self, arm, learner, game, runs, episodes, eval_every, curve, final, parameters):
        counts = {"runs": runs, "episodes": episodes, "eval_every": eval_every}
        counts = {k: self.params.get(k) if v is None else v for k, v in counts.items()}
        if counts["eval_every"] is None:
            counts["eval_every"] = counts["episodes"]
        runs, episodes, every = (at_least(name, value, 1) for name, value in counts.items())
        shared = {k: v for k, v in self.params.items() if k not in counts}
        full = learner_parameters(learner, shared | parameters, episodes)
        what = (game, learner, full, episodes, every, curve, final, self.cache)
        kept = self.policy.keeps_records
        jobs = [Job(self.name, arm, k, *what, probed=kept) for k in range(runs)]
        costs = Costs(self.records)
        return [RunState(job, self.paper, costs) for job in jobs]

    # -------------------------------------------------------------------------------------- results
    def table(self) -> pd.DataFrame:
        """Return the results of all arms and views: study, arm, run, episode, metric, value."""
        parts = [self._rows(arm) for arm in self.arms]
        parts += [
            tables.renamed(self._rows(arm), name, metrics)
            for name, (arm, metrics) in self.views.items()
        ]
        return pd.concat(parts or [pd.DataFrame(columns=tables.COLUMNS)], ignore_index=True)

    def _rows(self, arm):
        return tables.results(self.name, self.arms[arm], self.derived.get(arm, {}))

    def derive(self, arm: str, function) -> None:
        """Add results that follow from the others of each run.

        Such as the episode at which a curve first meets a condition.

        Parameters
        ----------
        arm : str
        function : callable
            ``(DataFrame [episode, metric]) -> {metric: value}``; its values count as those of the
            run's last episode.
        """
        found = self.derived.setdefault(arm, {})
        for run, rows in self._rows(arm).groupby("run"):
            values = function(rows.pivot(index="episode", columns="metric", values="value"))
            found.update(
                {
                    (arm, int(run), int(rows.episode.max()), metric): float(value)
                    for metric, value in values.items()
                }
            )

    def view(self, name: str, arm: str, metrics: dict) -> None:
        """Show some results of an arm's runs as those of another arm as well.

        For what the same trained agents do in another way, such as with a search around them.

        Parameters
        ----------
        name : str
            Of the other arm.
        arm : str
            Whose runs they are.
        metrics : dict
            Metric of the other arm -> metric of this one; what has not been measured is left out.
        """
        if name in self.arms or arm not in self.arms:
            raise ValueError(
                f"a view {name!r} of {arm!r} needs a new name, and an arm that was run"
            )
        self.views[name] = (arm, dict(metrics))

    @property
    def states(self) -> list[RunState]:
        """The runs of all arms."""
        return [state for states in self.arms.values() for state in states]

    def runs(self) -> pd.DataFrame:
        """Return one row for each training and evaluation.

        It says where it comes from and what it cost, or what it would cost.
        """
        return tables.run_table(self.states)

    def _summary(self, arms=None) -> str:
        sources = [
            state.provenance.get(state.job.key, MISSING) if state.finished else MISSING
            for arm in arms or self.arms
            for state in self.arms[arm]
        ]
        return f"{len(sources)} runs: " + ", ".join(
            f"{sources.count(p)} {p}" for p in sorted(set(sources))
        )

    def unfinished(self, arms=None) -> str:
        """Return sentences that name the missing runs, and what could not be measured here.

        Of some arms, or of all. With the command that makes them, and its cost, where records are
        kept. Empty if there are none.
        """
        chosen = [arm for arm in self.arms if arms is None or arm in arms]
        states = [state for arm in chosen for state in self.arms[arm]]
        parts = [part for arm in chosen for part in tables.missing_runs(arm, self.arms[arm])]
        texts = [f"Unfinished: {', '.join(parts)} are missing."] if parts else []
        unknown = [what for what, _ in unmeasured([s for s in states if s.finished])]
        texts += [f"Not measured: {', '.join(unknown)}."] if unknown else []
        if parts and self.policy.keeps_records:
            open_runs = tables.run_table([state for state in states if not state.finished])
            texts.append(missing.sentence(open_runs))
        return " ".join(texts)

    def compare(self, paper: str | None = None) -> pd.DataFrame:
        """Return published values beside ours with verdicts, for this study's claims.

        Write ``<study>.verdicts.csv``.
        """
        self.paper = paper or self.paper
        if self.paper is None:
            raise ValueError(
                f"study {self.name!r}: say which paper, one of {', '.join(claims.keys())}"
            )
        tested = [claim for claim in claims.load(self.paper).claims if claim.study == self.name]
        verdicts = compare(tested, self.table())
        self._write_csv("verdicts", verdicts)
        return verdicts

    def figure(self, figure, name: str, data: pd.DataFrame, caption: str, arms=None):
        """Save a figure with its numbers and how to read it, print that text, return the figure.

        The text names missing runs (of `arms`, if it shows no others). Without any run there are no
        numbers; then it says so and nothing is saved.
        """
        text = " ".join([caption.strip(), self.unfinished(arms)]).strip()
        if len(data) == 0 and not any(state.finished for state in self.states):
            print(f"There are no runs to draw in the figure {name!r} yet. {self.unfinished()}")
        else:
            picture.save(figure, self.reports / "figures", f"{self.name}-{name}", data, text)
            print(textwrap.fill(text, 110))
        return figure

    def net(self, arm: str, run: int = 0, limit: float = 60.0):
        """Return the final network of a run, from the cache or trained again.

        It is trained again if that takes at most `limit` CPU seconds.

        Raises
        ------
        LookupError
            If there is no such run, or training it again takes longer; the message says what to do.
        """
        if arm not in self.arms or not 0 <= run < len(self.arms[arm]):
            raise LookupError(
                f"study {self.name!r} has no run {run} of {arm!r}; its arms are"
                f" {', '.join(self.arms) or 'none yet'}"
            )
        state = self.arms[arm][run]
        job, record = state.job, state.records.get(state.job.key)
        found = final_net(job, record and record["checksum"])
        if found is not None:
            return found
        seconds = record["cost"]["cpu_seconds"] if record else state.costs.estimate(job, job.key)
        if seconds > limit:
            raise LookupError(
                f"the weights of {arm} run {run} are not in {self.cache}: net({arm!r}, {run},"
                f" limit={seconds:.0f}) trains it again"
            )
        found = trained_net(job)
        if record and found.checksum() != record["checksum"]:
            print(
                f"{arm} run {run}: these weights are not those of its record: they were trained"
                " again just now and came out different"
            )
        return found

    def finish(self) -> pd.DataFrame:
        """Write ``<study>.results.csv`` and ``<study>.runs.csv``, and return the table of runs."""
        runs = self.runs()
        self._write_csv("results", self.table())
        self._write_csv("runs", runs.assign(notebook=settings.notebook()))
        print(f"{self.name}: {self._summary()}. {self.unfinished()}".strip())
        return runs

    def _write_csv(self, what, table):
        path = self.reports / "data" / f"{self.name}.{what}.csv"
        write_text(path, table.to_csv(index=False, lineterminator="\n"))


# --------------------------------------------------------------------------------------- parameters


def at_least(name: str, value, least: int) -> int:
    """Return `value` if it is a whole number of at least `least`.

    The error names it and the remedy.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(
            f"{name}={value!r} must be a whole number of at least {least}; give it to"
            " Study(params=...) or run(...)"
        )
    return value


def check(statement: str, holds) -> None:
    """Print one line that says whether a statement about the results holds.

    Notebooks are tested by these lines.

    Examples
    --------
    >>> from afterstate.studies.study import check
    >>> check("two and two make four", 2 + 2 == 4)
    holds: two and two make four
    """
    print(f"{'holds' if bool(holds) else 'DOES NOT HOLD'}: {statement}")
