"""A study as a notebook sees it: arms of runs in, one table of results, figures and verdicts out.

::

    study = Study("tictactoe", profile, dict(runs=25, episodes=30000, eval_every=1000))
    study.arm("FARL", td, game=game, curve=[cheap], final=[expensive], farl="on")
    study.table()         # the first question takes the runs from the records, or makes them
    study.finish()        # says what was recorded, made and is missing
"""

import dataclasses
import itertools
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..checks import plain, whole
from ..files import data_directory, reports_directory, writable
from ..kernel.source import source_hash
from . import explore, golden
from .evaluators import as_evaluator
from .papers import claims
from .papers.compare import compare
from .profiles import PAPER, QUICK, RECORDED, REMEDY, Setup, cell, notebook, show_text
from .records import Records, key_of, learner_parameters, made_by, sources_behind
from .results import Collected, as_rows, joined, one_point
from .runs import Job, Run, final_net, trained_net, where_to_work, work
from .sources import MISSING, how_to_make
from .sources import RECORDED as FROM_RECORDS

COUNTS = ("runs", "episodes", "eval_every")
MOST_NAMED = 20  # arms with missing runs; more are counted
# Of a training's statistics: these are shares, shown among the results in percent.
SHARES = ("active_weights", "touched_weights")
# Of a table of runs: what only a record says.
FROM_RECORD = ("confirmed", "machine", "cpu_seconds", "moves", "moves_per_second")


class Costs(NamedTuple):
    """Expected CPU seconds of a run; 0 where no record says what the like costs."""

    episode: float  # of training
    point: float  # of all curves
    final: float  # of all evaluations at the end

    def until(self, job, episodes) -> float:
        """Return the seconds of a training, with its curves, until some episodes."""
        num_points = math.ceil(episodes / job.every)
        return episodes * self.episode + num_points * self.point


class Study:
    """One study: its arms, their runs and the file of their records.

    Parameters
    ----------
    name : str
        The name of the study in claims, and of its files.
    profile : str or Setup
        What :func:`afterply.studies.opened` returns for a notebook, or a name. The profile "quick"
        keeps records of the present sources alone, in ``reports/quick/records``; all others use
        ``data/records``. The profile "recorded" trains nothing but arms of one's own.
    params : dict, optional
        Defaults for every arm: ``runs``, ``episodes``, ``eval_every`` and parameters of the learner
        (default: the first three, as the setup has them). Of ``globals()`` only these three count.
    paper : str, optional
        Key of the paper whose claims the study tests.
    workers : int, optional
        Number of processes (default: the environment variable WORKERS, else all CPUs). Results do
        not depend on it.
    dask : str, optional
        Address of a Dask scheduler (default: the environment variable DASK). Results do not depend
        on it.

    Raises
    ------
    ValueError
        If the name or the profile cannot be the name of a file.
    """

    def __init__(self, name, profile="quick", params=None, *, paper=None, workers=None, dask=None):
        self.setup = profile if isinstance(profile, Setup) else Setup(profile)
        self.name = name
        self.profile = self.setup.profile
        self.paper = paper
        _require_file_names(self.name, self.profile)
        self.params = self._defaults_of_arms(params)
        self.quick = self.profile == QUICK
        self.notebook = notebook()
        # A notebook that a command runs only shows records, and so does the profile "recorded".
        self.computes = self.quick or not (self.notebook or self.profile == RECORDED)
        self.setup.studies.append(self)
        self.workers, self.dask = where_to_work(workers, dask)
        remedy = "make room there, or set AFTERPLY_DATA to a copy of the data directory"
        self.cache = writable(data_directory() / "cache", remedy)
        self.records = Records(self._folder_of_records() / f"{name}.jsonl")
        self.arms: dict[str, list[Run]] = {}
        self.derivations = defaultdict(list)
        # What sentences rest on: a function of the table that returns name -> (word, *numbers).
        self.cells = lambda table: {}
        self._planned = {}  # runs that an arm will have
        self._done = set()  # arms whose runs have been loaded or made
        self._tables = {}  # their results, until an arm is declared anew
        self._mean_costs = {}  # of what is recorded, until there are new records
        self._own = None  # arms of one's own, once a result is asked for
        self._comparisons = {}  # of each of these with the recorded arm, in lines
        self._comparisons_cell = 0  # where they were printed

    def _defaults_of_arms(self, params):
        """Return what holds for every arm that says nothing else."""
        if params is None:
            return {count: getattr(self.setup, count, None) for count in COUNTS}
        is_globals = "__name__" in params
        if is_globals:
            return {count: params[count] for count in params if count in COUNTS}
        return dict(params)

    def _folder_of_records(self):
        if self.quick:
            return reports_directory() / self.profile / "records" / source_hash()
        return data_directory() / "records"

    # Declarations

    def arm(
        self, name, learner, *, game, curve=(), final=(), seeded_as=None, planned=None, **settings
    ) -> None:
        """Declare an arm: independent trainings with the same parameters.

        Parameters
        ----------
        learner : module
            With NAME, VERSION, PARAMETERS, DEFAULTS and Session.
        curve, final : evaluators
            What measures the agent during training, and once at its end. An evaluator is called as
            ``(game, net, seed)`` and returns ``{measure: value}`` or rows.
        seeded_as : str, optional
            The name from which random numbers derive (default: `name`). An arm that is renamed
            keeps its numbers if this is its old name.
        planned : int, optional
            How many runs there will be, if some cannot be declared before others are made.
        **settings
            ``runs`` and ``episodes``, at least 1; ``eval_every``, the episodes between two points
            of the curve (default: one point, at the end); and parameters of the learner. The
            study's `params` hold their defaults. Unlike a session, an arm takes nothing from the
            game: pass ``**game.settings`` for the settings that the game recommends.

        Raises
        ------
        ValueError
            If a setting is unknown or out of range.
        """
        settings = self._with_defaults(settings)
        num_runs = whole("runs", settings.pop("runs", None))
        episodes = whole("episodes", settings.pop("episodes", None))
        eval_every = settings.pop("eval_every", None)
        if eval_every is None:
            eval_every = episodes
        job = Job(
            study=self.name,
            arm=name,
            seeded_as=seeded_as or name,
            run=0,
            game=game,
            learner=learner,
            every=whole("eval_every", eval_every),
            parameters=learner_parameters(learner, settings, episodes),
            episodes=episodes,
            curve=tuple(map(as_evaluator, curve)),
            final=tuple(map(as_evaluator, final)),
            cache=self.cache,
        )
        runs = []
        for number in range(num_runs):
            numbered = dataclasses.replace(job, run=number)
            runs.append(Run(numbered, self.records.find_all(numbered.keys)))
        self.arms[name] = runs
        self._planned[name] = planned or num_runs
        self._forget_results(name)
        self.derivations.pop(name, None)
        self._done.discard(name)

    def _with_defaults(self, settings):
        """Return the settings of an arm over the study's; a count that is None is not given."""
        stated = {}
        for name, value in settings.items():
            if value is not None or name not in COUNTS:
                stated[name] = value
        return plain(self.params | stated)

    def _forget_results(self, arm):
        self._tables.pop(arm, None)
        self._own = None  # one of them may change this arm

    def derive(self, arm: str, function, curve: bool = True) -> None:
        """Add results that follow from the others of each run, as those of its last episode.

        The function is called with the rows of each run (episode, measure, columns, value), and
        returns ``{measure: value}`` or rows, as an evaluator does. Without `curve` the table holds
        only the last point of each curve, which suits an arm of many runs.
        """
        self.derivations[arm].append((function, curve))
        self._forget_results(arm)

    def declared(self) -> str:
        """Return a digest of all that is declared: arms, their numbers of runs, and keys."""
        declared_arms = {}
        for arm, runs in self.arms.items():
            declared_arms[arm] = [self._planned[arm], *runs[0].job.keys]
        return key_of(declared_arms)

    def check_declared(self) -> None:
        """Raise ValueError unless the profile paper declares exactly what its file states."""
        if self.setup.profile != PAPER or self.setup.keys is None:
            return
        if self.declared() == self.setup.keys.get(self.name):
            return
        edits = "; ".join(self._edited_arms())
        raise ValueError(
            f"study {self.name!r} does not declare what data/profiles/paper states of it"
            f" ({edits or 'another arm, number of runs, evaluator or game'}): nothing"
            f" is read or written. Undo the edit; {REMEDY}"
        )

    def edited(self, arm) -> str:
        """Say how an arm without records differs from the recorded one of its name; "" if not."""
        first = self.arms[arm][0]
        job = first.job
        if job.key in first.records:
            return ""
        record = self._training_recorded_as(arm, job.run)
        if record is None:
            return ""
        recorded = record["parameters"] | {"episodes": record["episodes"]}
        declared = job.parameters | {"episodes": job.episodes}
        changes = []
        for name, value in declared.items():
            if recorded.get(name) != value:
                changes.append(f"{name}={value!r}")
        return f"{arm}: no records with {', '.join(changes) or 'this game'}"

    def _training_recorded_as(self, arm, number):
        """Return the first recorded training of an arm's name and a run's number, or None."""
        for record in self.records.by_key.values():
            if record["kind"] == "train" and (record["arm"], record["run"]) == (arm, number):
                return record
        return None

    def _edited_arms(self):
        """Return how each edited arm differs from the recorded one of its name."""
        return list(filter(None, map(self.edited, self.arms)))

    # Runs

    def run(self, arms=None) -> None:
        """Make the runs of some arms (default: all) that have no record, if the study computes."""
        self.check_declared()
        names = self.arms if arms is None else arms
        new_arms = [name for name in names if name not in self._done]
        for name in new_arms:
            runs = self.arms[name]
            may_write = self.check_sources(runs)
            if self.computes:
                self.make(runs, may_write)
            self._done.add(name)
        if new_arms and self._done.issuperset(self.arms):  # one line for all arms
            print(f"{self.name}: {self._summary()}.")

    def make(self, runs, may_write=True) -> None:
        """Make what has no record of some runs, and write each new record at once."""

        def keep(run, records):
            if may_write:
                self.records.add(records)
                self._mean_costs.clear()

        work(runs, keep, self.workers, self.dask)

    def check_sources(self, runs) -> bool:
        """Drop records that do not fit the versions; return whether new ones may be written.

        Golden runs decide, unless no run is due and the record file states the present sources.
        """
        if self.quick:  # its records are of the present sources alone
            return True
        may_write = True
        for name, alike in _by_learner_and_game(runs).items():
            job = alike[0].job
            sources = sources_behind(job.game, job.learner)
            is_due = self.computes and any(run.due for run in alike)
            if self.records.sources.get(name) == sources and not is_due:
                continue
            change = golden.changed(job.learner, job.game)
            if not change:
                self.records.sources[name] = sources
                continue
            message = f"{self.name}: records are not used and not written: {change}"
            print(message, file=sys.stderr)
            may_write = False
            for run in alike:
                run.records.clear()
        return may_write

    # Results

    def table(self) -> pd.DataFrame:
        """Return the results of all arms: study, arm, run, episode, measure, columns, value.

        What a row does not say is empty, "" or NaN; `afterply.studies.results.select` selects rows.
        """
        tables = [self._rows(arm) for arm in self.arms]
        tables += [self._tables[own.name] for own in self.own]
        if not tables:
            tables = [self.placed("", Collected().table())]
        return joined(tables)

    @property
    def own(self) -> list:
        """Arms of one's own, trained as far as they are; see `afterply.studies.explore`."""
        if self._own is None:
            self._own = explore.own_arms(self)
            explore.train(self, self._own)
            for own in self._own:
                self._tables[own.name] = explore.table_of(self, own)
            table = self.table()
            self._comparisons = {own.name: explore.beside(table, own) for own in self._own}
            self._comparisons_cell = cell()
            for lines in self._comparisons.values():
                print(*lines, sep="\n  ")
        return self._own

    def _rows(self, arm):
        """Return the results of an arm; a final value replaces the curve's of the same columns."""
        if arm in self._tables:
            return self._tables[arm]
        self.run([arm])
        collected = Collected()
        for run in self.arms[arm]:
            for key in run.job.evaluations:  # curves come first
                if key in run.records:
                    collected.add(run.job.run, run.records[key])
            for points in _shares(run):
                collected.add(run.job.run, points)
        self._tables[arm] = self.placed(arm, self.derived(arm, collected.table(), collected))
        return self._tables[arm]

    def derived(self, arm, table, collected):
        """Return a table of runs with all that is derived for an arm; `collected` takes it up."""
        whole_curves = True
        for function, whole_curve in self.derivations[arm]:
            if not whole_curve:
                whole_curves = False
            for number, rows in table.groupby("run"):
                results = function(rows)
                if results:
                    columns, values = as_rows(results, f"a derivation of {arm}")
                    collected.add(number, one_point(columns, rows.episode.max(), values))
            table = collected.table()
        if not whole_curves:
            last = table.groupby("run").episode.transform("max")
            table = table[table.episode == last].reset_index(drop=True)
        return table

    def placed(self, arm, table):
        """Return a table of runs with its study and arm."""
        table = table.copy()
        table.insert(0, "study", self.name)
        table.insert(1, "arm", arm)
        return table

    def compare(self) -> pd.DataFrame:
        """Return published values beside ours with verdicts."""
        tested = [claim for claim in claims.load(self.paper).claims if claim.study == self.name]
        return compare(tested, self.table())

    # Where runs come from, and what they cost

    def runs(self) -> pd.DataFrame:
        """Return one row for each training and evaluation: where it comes from, what it costs."""
        self.run()
        rows = []
        for runs in self.arms.values():
            present = sources_behind(runs[0].job.game, runs[0].job.learner)
            for run in runs:
                rows += self._run_rows(run, present)
        return pd.DataFrame(rows)

    def _run_rows(self, run, present):
        """Yield a run's rows in the table of runs.

        `present` is the digest of the sources that would make the run now.
        """
        missing_costs = self.missing_costs(run)
        for key in run.expected_keys:
            kind = "train"
            evaluator = ""
            if key != run.job.key:
                kind = "eval"
                _, evaluator = run.job.what(key)
            row = {
                "study": self.name,
                "arm": run.job.arm,
                "run": run.job.run,
                "kind": kind,
                "evaluator": evaluator,
                "provenance": run.origin(key),
                "notebook": self.notebook,
            }
            row |= dict.fromkeys(FROM_RECORD)
            if key in run.records:
                record = run.records[key]
                machine = record["machine"]
                row["confirmed"] = present in made_by(record)
                row["machine"] = f"{machine['cpu']} ({machine['target']})"
                row["moves"] = _moves(record)
                if not run.diverged:  # else it is the cost of a part
                    row |= record["cost"]
            row["estimated_cpu_seconds"] = missing_costs.get(key, math.nan)
            yield row

    def missing_costs(self, run) -> dict:
        """Return the CPU seconds of what a run has no record of, by key; nan if unknown.

        The cache does not count: the first of the missing evaluations has to train the run again.
        """
        missing = _missing(run)
        costs = {key: self._estimated_cost(run.job, key) for key in missing}
        if missing and run.job.key not in costs:
            known = [key for key in missing if not math.isnan(costs[key])]
            first = known[0] if known else missing[0]
            costs[first] += run.records[run.job.key]["cost"]["cpu_seconds"]
        return costs

    def missing_cost(self, run) -> float:
        """Return the CPU seconds of what is due of a run, as far as known; nan if none is known."""
        costs = [cost for key, cost in self.missing_costs(run).items() if key in run.due]
        known = [cost for cost in costs if not math.isnan(cost)]
        if costs and not known:
            return math.nan
        return sum(known)

    def costs(self, arm) -> Costs:
        """Return what a run of an arm is expected to cost, from like records."""
        job = self.arms[arm][0].job
        seconds = {"train": 0.0, "curve": 0.0, "final": 0.0}
        for key in job.keys:
            kind, _ = job.what(key)
            estimate = self._estimated_cost(job, key)
            if not math.isnan(estimate):
                seconds[kind] += estimate
        num_points = math.ceil(job.episodes / job.every)
        return Costs(
            episode=seconds["train"] / job.episodes,
            point=seconds["curve"] / num_points,
            final=seconds["final"],
        )

    def _estimated_cost(self, job, key) -> float:
        """Return the mean CPU seconds of like records: of the arm, else of the game; else nan.

        A training takes as long as its episodes: another arm may have had fewer.
        """
        if not self._mean_costs:
            self._mean_costs = _mean_costs(self.records.by_key)
        what = job.what(key)
        of_arm = (*what, job.arm)
        of_game = (*what, key_of(job.game.identity))
        mean = self._mean_costs.get(of_arm, self._mean_costs.get(of_game, math.nan))
        return mean * job.episodes if key == job.key else mean

    # What is said

    def _summary(self) -> str:
        """Return how many runs there are, and where they come from."""
        runs = list(itertools.chain(*self.arms.values()))
        numbers = Counter(map(self._origin, runs))
        counts = ", ".join(f"{number} {origin}" for origin, number in sorted(numbers.items()))
        return f"{len(runs)} runs: {counts}"

    def _origin(self, run):
        """Return where a run comes from, or what it lacks, in a word."""
        if run.diverged:
            return "diverged"
        if _lacks_more_than_programs(run):
            return MISSING
        # On a page it makes no difference whether the cache held the training.
        return FROM_RECORDS if self.notebook else run.origin(run.job.key)

    def unfinished(self, arms=None) -> str:
        """Return what has no record of some arms (default: all), and the command that makes it.

        Which programs are installed here makes no difference.
        """
        missing = []
        missing_rows = []
        diverged = []
        num_runs = Counter()  # that lack what needs a program of others, by evaluator
        for arm, runs in self.arms.items():
            if arms is not None and arm not in arms:
                continue
            missing += _missing_in_words(arm, runs)
            for run in runs:
                if _lacks_more_than_programs(run):
                    missing_rows += self._run_rows(run, "")
                if run.diverged:
                    diverged.append(f"{arm} run {run.job.run}")
                needy = dict.fromkeys(run.job.what(key)[1] for key in _needy(run))
                num_runs.update(needy.keys())
        if len(missing) > MOST_NAMED:
            missing = [f"runs of {len(missing)} arms"]
        without_program = [_evaluator_and_runs(name, number) for name, number in num_runs.items()]
        texts = []
        if missing or without_program:
            texts.append(f"Not recorded: {', '.join(missing + without_program)}.")
        if diverged:
            texts.append(f"Diverged: {', '.join(diverged)}.")
        if self.setup.profile == RECORDED:
            texts += [f"{text}: undo the edit; {REMEDY}." for text in self._edited_arms()]
        elif missing and not self.quick:
            texts.append(how_to_make(pd.DataFrame(missing_rows)))
        return " ".join(texts)

    def show(self, figure, data: pd.DataFrame, caption: str, arms=None):
        """Say how to read a figure and what it lacks, and return it; `data` are its numbers.

        The text names missing runs (of `arms`, if the figure shows no others).
        """
        if len(data) == 0:
            print(f"There are no runs to draw yet. {self.unfinished(arms)}")
            return None
        show_text(self.caption(caption, arms))
        if self.setup.mine:
            self._repeat_comparisons(data.to_csv())
        return figure

    def _repeat_comparisons(self, drawn):
        """Print how the drawn arms of one's own compare, unless this cell has said it already."""
        for study in self.setup.studies:  # a figure may be of several
            for name, lines in study._comparisons.items():
                if name in drawn and study._comparisons_cell != cell():
                    print(*lines, sep="\n  ")

    def caption(self, caption: str, arms=None) -> str:
        """Return how to read a figure, and what it lacks."""
        return " ".join([caption.strip(), self.unfinished(arms)]).strip()

    def net(self, arm: str, run: int = 0, limit: float = 60.0):
        """Return the final network of a run: from the cache, or trained again in `limit` seconds.

        LookupError if there is no such run, or training it again takes longer.
        """
        if arm not in self.arms or not 0 <= run < len(self.arms[arm]):
            names = ", ".join(self.arms) or "none yet"
            raise LookupError(f"study {self.name!r} has no run {run} of {arm!r}; its arms: {names}")
        job = self.arms[arm][run].job
        record = self.arms[arm][run].records.get(job.key)
        checksum = record["checksum"] if record else None
        cached = final_net(job, checksum)
        if cached is not None:
            return cached
        cost = record["cost"]["cpu_seconds"] if record else self._estimated_cost(job, job.key)
        if cost > limit:
            raise LookupError(
                f"the weights of {arm} run {run} are not in {self.cache}: net({arm!r}, {run},"
                f" limit={cost:.0f}) trains it again"
            )
        trained = trained_net(job)
        if record and trained.checksum() != checksum:
            print(f"{arm} run {run}: these weights, trained just now, are not those of its record")
        return trained

    def finish(self) -> pd.DataFrame:
        """Say what was recorded, made and is missing; return the table of runs."""
        runs = self.runs()
        if self.computes and not self.notebook:
            self.records.tidy()
        print(f"{self.name}: {self._summary()}. {self.unfinished()}".strip())
        return runs


def _require_file_names(name, profile):
    """Raise ValueError unless a study and its profile have names that files can have."""
    for part in (name, profile):
        if not isinstance(part, str) or not part or Path(part).name != part or "\0" in part:
            raise ValueError(f"study {name!r} and profile {profile!r} must be plain names of files")


def _by_learner_and_game(runs):
    """Return runs by the name under which a record file states their sources."""
    groups = defaultdict(list)
    for run in runs:
        learner = run.job.learner
        name = f"{learner.NAME} {learner.VERSION} {key_of(run.job.game.identity)}"
        groups[name].append(run)
    return groups


def _shares(run):
    """Yield the shares among the statistics of a training, in percent, as results of its end."""
    training = run.records.get(run.job.key, {})
    statistics = training.get("statistics", {})
    for name in SHARES:
        if name in statistics:
            yield one_point([{"measure": name}], run.job.episodes, [100.0 * statistics[name]])


def _mean_costs(records):
    """Return mean CPU seconds: (kind, name of learner or evaluator, arm or game) -> seconds.

    Those of a training are for one episode. One that diverged ended early and does not count.
    """
    costs = defaultdict(list)
    for key, record in records.items():
        if record.get("diverged"):
            continue
        training = records.get(record.get("train", key), {})
        what = record.get("learner") or record["evaluator"]
        seconds = record["cost"]["cpu_seconds"] / record.get("episodes", 1)
        for like in (record["arm"], key_of(training.get("game"))):
            costs[record["kind"], what["name"], like].append(seconds)
    return {like: sum(seconds) / len(seconds) for like, seconds in costs.items()}


def _missing(run):
    """Return the keys of what has no record, whatever can be made here."""
    if run.diverged:
        return []
    return [key for key in run.job.keys if key not in run.records]


def _needy(run):
    """Return the keys of missing evaluations that need a program of others."""
    needy = []
    for key in _missing(run):
        _, evaluator = run.job.evaluations.get(key, ("train", None))
        if getattr(evaluator, "needs", ""):
            needy.append(key)
    return needy


def _lacks_more_than_programs(run):
    """Return whether something has no record that needs no program of others."""
    return len(_missing(run)) > len(_needy(run))


def _missing_in_words(arm, runs):
    """Return how many runs of an arm are missing, and of how many only evaluations are."""
    incomplete = [run for run in runs if _lacks_more_than_programs(run)]
    num_untrained = sum(run.job.key not in run.records for run in incomplete)
    num_unmeasured = len(incomplete) - num_untrained
    words = []
    if num_untrained:
        words.append(f"{num_untrained} of {len(runs)} runs of {arm}")
    if num_unmeasured:
        words.append(f"evaluations of {num_unmeasured} of {len(runs)} runs of {arm}")
    return words


def _evaluator_and_runs(name, number):
    plural = "s" if number > 1 else ""
    return f"{name} ({number} run{plural})"


def _moves(record):
    """Return the moves of a training, or of an evaluation that counts them; else None."""
    in_training = record["cost"].get("moves")
    if in_training:
        return in_training
    for row, values in zip(record.get("rows", ()), record.get("values", ()), strict=True):
        if row["measure"] == "moves":
            return values[-1]
    return None


def check(statement: str, holds) -> None:
    """Print whether a statement about the results holds, in one line, for a notebook's test.

    >>> check("two and two make four", 2 + 2 == 4)
    holds: two and two make four
    """
    word = "holds" if bool(holds) else "DOES NOT HOLD"
    print(f"{word}: {statement}")


def solved(statement: str, test) -> None:
    """Print whether a solution passes a `test`, with the `statement` that it tests; raise nothing.

    A test has no arguments. NotImplementedError means that there is no solution yet.

    >>> solved("two and two make four", lambda: 2 + 2 == 4)
    right: two and two make four
    """
    try:
        words = "right" if bool(test()) else "not yet"
    except NotImplementedError:
        words = "not solved yet"
    except Exception as error:
        words = f"not yet ({type(error).__name__}: {error})"
    print(f"{words}: {statement}")


def attempt(make):
    """Return what `make`, without arguments, makes of a solution; say so if there is none yet."""
    try:
        return make()
    except NotImplementedError:
        print("not solved yet")
