"""A study as a notebook sees it: arms of runs in, one long table, figures and verdicts out.

::

    study = Study("tictactoe", profile=profile, paper="konen2021", params=dict(runs=runs, episodes=episodes, eval_every=eval_every))
    study.run("FARL", td, game=game, curve=[cheap], final=[expensive], farl="on")     # trains what no record holds
    study.run("no-FARL", td, game=game, curve=[cheap], final=[expensive], farl="off")
    study.compare()                                      # published values beside ours
    study.figure(figure, "learning", data, "How to read it.")
    study.finish()                                       # writes results.csv and runs.csv

Where each run comes from is decided once, in :meth:`Study.run`: from its records, from its
checkpoint, or trained here.
"""

import contextlib
import contextvars
import os
import textwrap
import time
from pathlib import Path

import pandas as pd

from ..files import data_directory, reports_directory, write_text
from ..kernel.compile import CacheError
from ..papers import claims
from ..papers.compare import compare
from ..reports import figures
from .identity import learner_parameters
from .jobs import Job
from .run_states import (
    MISSING,
    RunState,
    choose,
    look_up,
    settle,
    stored_evaluations,
    unmeasured,
    work_on,
)
from .parallel import default_workers
from .plan import estimate
from .records import Records
from .runs import final_net, train

# of a training's statistics: shown among the results, in percent
SHARES = ("active_weights", "touched_weights")
COLUMNS = ["study", "arm", "run", "episode", "metric", "value"]
RUN_COLUMNS = [
    "study",
    "arm",
    "run",
    "key",
    "kind",
    "evaluator",
    "provenance",
    "machine",
    "commit",
    "date",
    "cpu_seconds",
    "moves",
    "moves_per_second",
    "estimated_cpu_seconds",
]
NEVER_FROM_RECORDS = "quick"  # this profile makes everything from nothing

_planning = contextvars.ContextVar("planning", default=None)


@contextlib.contextmanager
def planning():
    """Within this context studies train and write nothing.

    The list that it gives collects their runs (:class:`RunState`).
    """
    listed = []
    token = _planning.set(listed)
    try:
        yield listed
    finally:
        _planning.reset(token)


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
        self.workers = default_workers() if workers is None else at_least("workers", workers, 1)
        self.dask = dask or os.environ.get("DASK") or None
        policy = records or os.environ.get("RECORDS") or "use"
        if policy not in ("use", "ignore"):
            raise ValueError(f"RECORDS={policy!r} must be 'use' or 'ignore'")
        self.keeps_records = profile != NEVER_FROM_RECORDS
        self.fresh = policy == "ignore" or not self.keeps_records
        self.data = data_directory()
        self.cache = _writable(self.data / "cache")
        _sweep(self.cache / name)
        self.reports = reports_directory() / profile
        self.records = Records(self.data / "records" / name)
        self.arms: dict[str, list[RunState]] = {}
        self.derived: dict[str, dict] = {}
        self.told: set[str] = set()

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
        """Make the runs of an arm, or take them from their records, and return them as a long table.

        Parameters
        ----------
        arm : str
        learner : module with NAME, VERSION, DEFAULTS and Session
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
        outcomes = self._jobs(
            arm, learner, game, runs, episodes, eval_every, tuple(curve), tuple(final), parameters
        )
        self.arms[arm] = outcomes
        self.derived.pop(arm, None)
        writes = look_up(self, outcomes)
        chosen, again = ([], []) if _planning.get() is not None else choose(self, outcomes)
        if _planning.get() is not None and self.keeps_records:
            _planning.get().extend(outcomes)
        work_on(self, chosen, again, writes)
        for outcome in outcomes:
            settle(outcome, outcome in again, stored_evaluations(outcomes))
        print(f"{self.name} / {arm}: {self._summary([arm])}")
        return self._rows(arm)

    def _jobs(self, arm, learner, game, runs, episodes, eval_every, curve, final, parameters):
        settings = {"runs": runs, "episodes": episodes, "eval_every": eval_every}
        settings = {k: self.params.get(k) if v is None else v for k, v in settings.items()}
        runs, episodes = (
            at_least("runs", settings["runs"], 1),
            at_least("episodes", settings["episodes"], 1),
        )
        every = (
            episodes
            if settings["eval_every"] is None
            else at_least("eval_every", settings["eval_every"], 1)
        )
        shared = {k: v for k, v in self.params.items() if k not in settings}
        full = learner_parameters(learner, shared | parameters, episodes)
        jobs = [
            Job(self.name, arm, k, game, learner, full, episodes, every, curve, final, self.cache)
            for k in range(runs)
        ]
        return [RunState(job, self) for job in jobs]

    # -------------------------------------------------------------------------------------- results
    def table(self) -> pd.DataFrame:
        """Return the results of all arms: study, arm, run, episode, metric, value."""
        return pd.concat(
            [self._rows(arm) for arm in self.arms] or [pd.DataFrame(columns=COLUMNS)],
            ignore_index=True,
        )

    def _rows(self, arm):
        cells = {}
        for outcome in self.arms[arm]:
            # curves come first, so a final value replaces the curve's last one
            for kind, _, key in outcome.job.evaluations:
                points = outcome.records.get(key, {}).get("points", {})
                for metric, values in points.items():
                    if metric != "episode":
                        cells.update(
                            {
                                (arm, outcome.job.run, e, metric): v
                                for e, v in zip(points["episode"], values)
                            }
                        )
            trained = outcome.records.get(outcome.job.key, {}).get("statistics", {})
            cells.update(
                {
                    (arm, outcome.job.run, outcome.job.episodes, name): 100.0 * trained[name]
                    for name in SHARES
                    if name in trained
                }
            )
        cells.update(self.derived.get(arm, {}))
        rows = [
            (self.name, *where, value)
            for where, value in sorted(
                cells.items(), key=lambda cell: (cell[0][1], cell[0][3], cell[0][2])
            )
        ]
        return pd.DataFrame(rows, columns=COLUMNS).astype(
            {"run": "int64", "episode": "int64", "value": "float64"}
        )

    def derive(self, arm: str, function) -> None:
        """Add results that follow from the others of each run, such as the episode at which a curve first meets a condition.

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

    def runs(self) -> pd.DataFrame:
        """Return one row for each training and evaluation: where it comes from, what it cost, or what it would cost."""
        rows = [
            self._run_row(outcome, *key)
            for outcomes in self.arms.values()
            for outcome in outcomes
            for key in outcome.keys
        ]
        return pd.DataFrame(rows, columns=RUN_COLUMNS)

    def _run_row(self, outcome, key, kind, evaluator):
        row = {
            "study": self.name,
            "arm": outcome.job.arm,
            "run": outcome.job.run,
            "key": key,
            "kind": kind,
            "evaluator": evaluator,
        }
        record = outcome.records.get(key)
        if record is None:
            return row | {
                "provenance": MISSING,
                "estimated_cpu_seconds": round(estimate(outcome, key), 1),
            }
        made = {
            "machine": f"{record['machine']['cpu']} ({record['machine']['target']})",
            "date": record["date"],
            "commit": f"{(record['commit'] or 'none')[:10]}{'+' if record['dirty'] else ''}",
        }
        return (
            row
            | {"provenance": outcome.provenance[key]}
            | made
            | {k: v for k, v in record["cost"].items() if k in RUN_COLUMNS}
        )

    def _summary(self, arms=None) -> str:
        sources = [
            o.provenance.get(o.job.key, MISSING) if o.finished else MISSING
            for arm in arms or self.arms
            for o in self.arms[arm]
        ]
        return f"{len(sources)} runs: " + ", ".join(
            f"{sources.count(p)} {p}" for p in sorted(set(sources))
        )

    def unfinished(self) -> str:
        """Return sentences that name the missing runs, and what could not be measured here, or an empty text."""
        lacking = {
            arm: sum(not o.finished for o in outcomes) for arm, outcomes in self.arms.items()
        }
        parts = [f"{n} of {len(self.arms[arm])} runs of {arm}" for arm, n in lacking.items() if n]
        texts = [f"Unfinished: {', '.join(parts)} are missing."] if parts else []
        unknown = [
            what
            for what, _ in unmeasured(
                [o for outcomes in self.arms.values() for o in outcomes if o.finished]
            )
        ]
        return " ".join(texts + ([f"Not measured: {', '.join(unknown)}."] if unknown else []))

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

    def figure(self, figure, name: str, data: pd.DataFrame, caption: str):
        """Save a figure with its numbers and how to read it (missing runs are named there), print that text, and return the figure.

        Without any run there are no numbers; then the text says so and nothing is saved.
        """
        text = " ".join([caption.strip(), self.unfinished()]).strip()
        if len(data) == 0 and not any(
            outcome.finished for outcomes in self.arms.values() for outcome in outcomes
        ):
            print(f"There are no runs to draw in the figure {name!r} yet. {self.unfinished()}")
        elif _planning.get() is None:
            figures.save(figure, self.reports / "figures", f"{self.name}-{name}", data, text)
            print(textwrap.fill(text, 110))
        return figure

    def net(self, arm: str, run: int = 0, limit: float = 60.0):
        """Return the final network of a run, from the cache or trained again if that takes at most `limit` CPU seconds.

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
        outcome = self.arms[arm][run]
        record = outcome.records.get(outcome.job.key)
        found = final_net(outcome.job, record and record["checksum"])
        if found is not None:
            return found
        seconds = record["cost"]["cpu_seconds"] if record else estimate(outcome, outcome.job.key)
        if seconds > limit or _planning.get() is not None:
            raise LookupError(
                f"the weights of {arm} run {run} are not in {self.cache}: net({arm!r}, {run},"
                f" limit={seconds:.0f}) trains it again"
            )
        train(outcome.job, fresh=True)
        found = final_net(outcome.job, None)
        if record and found.checksum() != record["checksum"]:
            print(
                f"{arm} run {run}: these weights are not those of its record: they were trained"
                " again just now and came out different"
            )
        return found

    def finish(self) -> pd.DataFrame:
        """Write ``<study>.results.csv`` and ``<study>.runs.csv``, say where the runs come from, and return the table of runs."""
        runs = self.runs()
        self._write_csv("results", self.table())
        self._write_csv("runs", runs)
        print(f"{self.name}: {self._summary()}. {self.unfinished()}".strip())
        return runs

    def _write_csv(self, what, table):
        if _planning.get() is None:
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


def _writable(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe.{os.getpid()}.tmp"
        probe.write_bytes(b"afterstate")
        probe.unlink()
    except OSError as error:
        raise CacheError(
            f"the cache directory {directory} can not be written ({error.strerror}): make it"
            " writable and not full, or set AFTERSTATE_DATA to a copy of the data directory"
        ) from error
    return directory


def _sweep(directory: Path) -> None:
    """Remove half-written checkpoints that killed processes left, once nobody can be writing them any more."""
    for path in directory.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > 3600:
                path.unlink()


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
