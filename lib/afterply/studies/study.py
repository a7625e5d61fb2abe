"""A study as a notebook sees it: arms of runs in, one table of results, figures and verdicts out.

::

    study = Study("tictactoe", profile, dict(runs=25, episodes=30000, eval_every=1000))
    study.arm("FARL", td, game=game, curve=[cheap], final=[expensive], farl="on")
    study.table()         # the first question takes the runs from the records, or makes them
    study.finish()        # says what was recorded, made and is missing
"""

import math
import sys
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from ..checks import plain, whole
from ..files import data_directory, reports_directory, writable
from ..kernel.source import source_hash
from . import explore, golden
from .evaluators import as_evaluator
from .papers import claims
from .papers.compare import compare
from .profiles import PAPER, QUICK, RECORDED, REMEDY, Setup, cell, notebook
from .records import Records, key_of, learner_parameters, made_by, sources_behind
from .results import Collected, as_rows, joined
from .runs import Job, Run, final_net, trained_net, where_to_work, work
from .sources import MISSING, how_to_make
from .sources import RECORDED as FROM_RECORDS

COUNTS = ("runs", "episodes", "eval_every")
MOST_NAMED = 20  # arms with missing runs; more are counted
# of a training's statistics: shown among the results, in percent
SHARES = ("active_weights", "touched_weights")


class Study:
    """One study: its arms, their runs and the file of their records.

    Parameters
    ----------
    name : str
        In the claims and of files.
    profile : str or Setup
        What :func:`afterply.studies.opened` returns for a notebook, or a name. The records of the
        profile "quick" are those of the present sources alone, in ``reports/quick/records``; any
        other uses ``data/records``, and "recorded" trains nothing but arms of one's own.
    params : dict, optional
        Defaults for every arm: ``runs``, ``episodes``, ``eval_every`` and parameters of the
        learner; by default the first three of the setup. From ``globals()`` only these are taken.
    paper : str, optional
        Key of the paper whose claims the study tests.
    workers, dask : int and str, optional
        Processes (default: WORKERS, else all CPUs), and the address of a Dask scheduler (default:
        DASK); the results do not depend on them.
    """

    def __init__(self, name, profile="quick", params=None, *, paper=None, workers=None, dask=None):
        self.setup = profile if isinstance(profile, Setup) else Setup(profile)
        profile = self.setup.profile
        if not name or Path(name).name != name or not profile or Path(profile).name != profile:
            raise ValueError(f"study {name!r} and profile {profile!r} must be plain names of files")
        self.name, self.profile, self.paper = name, profile, paper
        if params is None:
            params = {count: getattr(self.setup, count, None) for count in COUNTS}
        of_notebook = "__name__" in params
        self.params = {k: v for k, v in params.items() if k in COUNTS or not of_notebook}
        self.quick, self.notebook = profile == QUICK, notebook()
        # what shows records, a page of them, and its plan make no run
        self.computes = self.quick or not (self.notebook or profile == RECORDED)
        self.setup.studies.append(self)
        self._own = None  # arms of one's own, once a result is asked for
        self._told, self._told_in = {}, 0  # what is said of each, and the cell where it was
        self.workers, self.dask = where_to_work(workers, dask)
        remedy = "make room there, or set AFTERPLY_DATA to a copy of the data directory"
        self.cache = writable(data_directory() / "cache", remedy)
        self.records = Records(self._folder_of_records() / f"{name}.jsonl")
        self.arms: dict[str, list[Run]] = {}
        self.derivations = defaultdict(list)
        # what sentences rest on: a function of the table, which returns name -> (word, *numbers)
        self.cells = lambda table: {}
        self._planned = {}  # runs that an arm will have
        self._done = set()  # arms whose runs have been loaded or made
        self._tables = {}  # their results, until an arm is declared anew
        self._costs = {}  # mean CPU seconds of what is recorded, until there are new records

    def _folder_of_records(self):
        if self.quick:
            return reports_directory() / self.profile / "records" / source_hash()
        return data_directory() / "records"

    def arm(
        self, name, learner, *, game, curve=(), final=(), seeded_as=None, planned=None, **given
    ) -> None:
        """Declare an arm: independent trainings with the same parameters.

        Parameters
        ----------
        learner : module
            With NAME, VERSION, PARAMETERS, DEFAULTS and Session.
        curve, final : evaluators ``(game, net, seed) -> {measure: value}`` or rows
            Measured during training, and once at its end.
        seeded_as : str, optional
            The name from which random numbers derive (default: `name`); an arm that gets another
            name keeps its numbers by it.
        planned : int, optional
            The runs that there will be, if there are fewer yet since they need others first.
        given
            ``runs`` and ``episodes``, at least 1, ``eval_every``, the episodes between two points
            of the curve (default: one point, at the end), and parameters of the learner; the
            study's `params` hold their defaults. An unknown one, or a value out of range, raises
            ValueError. Unlike a session, an arm that is recorded takes nothing from the game:
            ``**game.settings`` gives what is usual in it.
        """
        given = {k: v for k, v in given.items() if v is not None or k not in COUNTS}
        given = plain(self.params | given)
        runs, episodes = (whole(n, given.pop(n, None)) for n in ("runs", "episodes"))
        every = given.pop("eval_every", None)
        every = episodes if every is None else whole("eval_every", every)
        full = learner_parameters(learner, given, episodes)
        curve, final = (tuple(map(as_evaluator, some)) for some in (curve, final))
        what = (game, learner, full, episodes, every, curve, final, self.cache, {})
        jobs = [Job(self.name, name, seeded_as or name, k, *what) for k in range(runs)]
        self.arms[name] = [Run(job, self._recorded(job)) for job in jobs]
        self._planned[name] = planned or runs
        self._own = None
        self._done.discard(name)
        for known in (self._tables, self.derivations):
            known.pop(name, None)

    def _recorded(self, job) -> dict:
        return {key: found for key in job.keys if (found := self.records.find(key))}

    def declared(self) -> str:
        """Return a digest of all that is declared: arms, numbers of runs, keys of their first."""
        arms = {arm: [self._planned[arm], *runs[0].job.keys] for arm, runs in self.arms.items()}
        return key_of(arms)

    def check_declared(self) -> None:
        """Raise ValueError if the profile paper declares anything but what its file states."""
        if self.setup.profile != PAPER or self.setup.keys is None:
            return
        stated = self.setup.keys.get(self.name)
        if self.declared() != stated:
            told = [text for arm in self.arms if (text := self.edited(arm))]
            raise ValueError(
                f"study {self.name!r} does not declare what data/profiles/paper states of it"
                f" ({'; '.join(told) or 'another arm, number of runs, evaluator or game'}): nothing"
                f" is read or written. Undo the edit; {REMEDY}"
            )

    def edited(self, arm) -> str:
        """Say how an arm without records differs from the recorded one of its name; "" if not."""
        first = self.arms[arm][0]
        if first.job.key in first.records:
            return ""
        for record in self.records.by_key.values():
            if (record["kind"], record["arm"], record["run"]) == ("train", arm, first.job.run):
                theirs, ours = record["parameters"], first.job.parameters
                theirs = theirs | {"episodes": record["episodes"]}
                ours = ours | {"episodes": first.job.episodes}
                other = {name: value for name, value in ours.items() if theirs.get(name) != value}
                said = ", ".join(f"{name}={value!r}" for name, value in other.items())
                return f"{arm}: no records with {said or 'this game'}"
        return ""

    def run(self, arms=None) -> None:
        """Make the runs of arms (default: all) that have no record; a page only reads records."""
        self.check_declared()
        due = [name for name in (self.arms if arms is None else arms) if name not in self._done]
        for name in due:
            runs = self.arms[name]
            may_write = self.check_sources(runs)
            if self.computes:
                self.make(runs, may_write)
            self._done.add(name)
        if due and self._done.issuperset(self.arms):  # a line for all arms, not for each
            print(f"{self.name}: {self._summary(self.arms)}.")

    def make(self, runs, may_write=True) -> None:
        """Make what has no record of some runs, and write each new record at once."""

        def keep(run, records):
            if may_write:
                self.records.add(records)
                self._costs.clear()

        work(runs, keep, self.workers, self.dask)

    def check_sources(self, runs) -> bool:
        """Forget records that do not fit the versions; return whether new ones may be written."""
        # golden runs decide, unless nothing is due and the sources are those of the record file
        alike, may_write = defaultdict(list), True
        for run in () if self.quick else runs:  # quick records are of the present sources alone
            learner = run.job.learner
            alike[f"{learner.NAME} {learner.VERSION} {key_of(run.job.game.identity)}"].append(run)
        for name, same in alike.items():
            job = same[0].job
            sources = sources_behind(job.game, job.learner)
            due = self.computes and any(run.due for run in same)
            if self.records.sources.get(name) == sources and not due:
                continue
            if changed := golden.changed(job.learner, job.game):
                text = f"{self.name}: records are not used and not written: {changed}"
                print(text, file=sys.stderr)
                for run in same:
                    run.records.clear()
                may_write = False
            else:
                self.records.sources[name] = sources
        return may_write

    def table(self) -> pd.DataFrame:
        """Return the results of all arms: study, arm, run, episode, measure, columns, value.

        What a row does not say is empty, "" or NaN; `afterply.studies.results.select` selects rows.
        """
        tables = [self._rows(arm) for arm in self.arms]
        tables += [self._tables[own.name] for own in self.own]
        return joined(tables or [self.placed("", Collected().table())])

    @property
    def own(self) -> list:
        """Arms of one's own, trained as far as they are; see `afterply.studies.explore`."""
        if self._own is None:
            self._own = explore.own_arms(self)
            explore.train(self, self._own)
            self._tables |= {own.name: explore.table_of(self, own) for own in self._own}
            table = self.table()
            self._told = {own.name: explore.beside(table, own) for own in self._own}
            self._told_in = cell()
            for lines in self._told.values():
                print(*lines, sep="\n  ")
        return self._own

    def _rows(self, arm):
        """Return the results of an arm; a final value replaces the curve's of the same columns."""
        if arm in self._tables:
            return self._tables[arm]
        self.run([arm])
        found = Collected()
        for run in self.arms[arm]:
            number, last = run.job.run, [run.job.episodes]
            for key in run.job.evaluations:  # curves come first
                if key in run.records:
                    found.add(number, run.records[key])
            trained = run.records.get(run.job.key, {}).get("statistics", {})
            for name in (name for name in SHARES if name in trained):
                share = [[100.0 * trained[name]]]
                found.add(number, {"rows": [{"measure": name}], "episode": last, "values": share})
        self._tables[arm] = self.placed(arm, self.derived(arm, found.table(), found))
        return self._tables[arm]

    def derived(self, arm, table, found):
        """Return a table of runs with all that is derived for an arm; `found` collects it."""
        whole_curves = True
        for function, whole_curve in self.derivations[arm]:
            whole_curves &= whole_curve
            for number, rows in table.groupby("run"):
                if derived := function(rows):
                    columns, values = as_rows(derived, f"a derivation of {arm}")
                    points = {"rows": columns, "episode": [rows.episode.max()]}
                    found.add(number, points | {"values": [[value] for value in values]})
            table = found.table()
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

    def derive(self, arm: str, function, curve: bool = True) -> None:
        """Add results that follow from the others of each run, as those of its last episode.

        The function is called with the rows of each run (episode, measure, columns, value), and
        returns ``{measure: value}`` or rows as an evaluator does. Without `curve` the table holds
        the last point of each curve alone, for an arm of many runs.
        """
        self.derivations[arm].append((function, curve))
        self._tables.pop(arm, None)
        self._own = None

    def runs(self) -> pd.DataFrame:
        """Return one row for each training and evaluation: where it comes from, what it costs."""
        self.run()
        rows = []
        for runs in self.arms.values():
            present = sources_behind(runs[0].job.game, runs[0].job.learner)
            rows += [row for run in runs for row in self._run_rows(run, present)]
        return pd.DataFrame(rows)

    def _run_rows(self, run, present):
        # present: the digest of the sources that would make the run now
        expected = self.missing_costs(run)
        for key in run.job.keys[:1] if run.diverged else run.job.keys:
            kind, name = ("train", "") if key == run.job.key else ("eval", run.job.what(key)[1])
            record = run.records.get(key)
            row = {"study": self.name, "arm": run.job.arm, "run": run.job.run, "kind": kind}
            row |= {"evaluator": name, "provenance": run.origin(key), "notebook": self.notebook}
            row |= dict.fromkeys(
                ("confirmed", "machine", "cpu_seconds", "moves", "moves_per_second")
            )
            if record:
                at = record["machine"]
                row |= {"machine": f"{at['cpu']} ({at['target']})", "moves": _moves(record)}
                row |= {} if run.diverged else record["cost"]  # that of no whole training
                row["confirmed"] = present in made_by(record)
            yield row | {"estimated_cpu_seconds": expected.get(key, math.nan)}

    def missing_costs(self, run) -> dict:
        """Return the CPU seconds of what has no record of a run, by key; nan if unknown.

        Without the cache: the first of its missing evaluations has to train it again.
        """
        missing = _missing(run)
        costs = {key: self._estimate(run, key) for key in missing}
        if missing and run.job.key not in costs:
            first = next((key for key in missing if not math.isnan(costs[key])), missing[0])
            costs[first] += run.records[run.job.key]["cost"]["cpu_seconds"]
        return costs

    def missing_cost(self, run) -> float:
        """Return the CPU seconds of what is due of a run, as far as known; nan if nothing is."""
        costs = [cost for key, cost in self.missing_costs(run).items() if key in run.due]
        known = [cost for cost in costs if not math.isnan(cost)]
        return sum(known) if known or not costs else math.nan

    def _estimate(self, run, key) -> float:
        """Return the mean CPU seconds of like records: of the arm, else of the game; else nan.

        A training takes as long as its episodes: another arm may have had fewer.
        """
        if not self._costs:
            found, records = defaultdict(list), self.records.by_key
            # one that diverged ended early
            for record in (r for r in records.values() if not r.get("diverged")):
                name = (record.get("learner") or record["evaluator"])["name"]
                training = records.get(record.get("train", record["key"]), {})
                each = record["cost"]["cpu_seconds"] / record.get("episodes", 1)
                for like in (record["arm"], key_of(training.get("game"))):
                    found[record["kind"], name, like].append(each)
            self._costs = {what: sum(costs) / len(costs) for what, costs in found.items()}
        what, game = run.job.what(key), key_of(run.job.game.identity)
        each = self._costs.get((*what, run.job.arm), self._costs.get((*what, game), math.nan))
        return each * (run.job.episodes if key == run.job.key else 1)

    def _summary(self, arms) -> str:
        runs = [run for arm in arms for run in self.arms[arm]]

        def made(run):  # on a page it is no difference whether its training was kept from before
            return FROM_RECORDS if self.notebook else run.origin(run.job.key)

        found = Counter(
            "diverged" if run.diverged else MISSING if _lacks(run) else made(run) for run in runs
        )
        counts = ", ".join(f"{number} {origin}" for origin, number in sorted(found.items()))
        return f"{len(runs)} runs: {counts}"

    def unfinished(self, arms=None) -> str:
        """Return what has no record of some arms (default: all), and the command that makes it.

        Which programs are installed here makes no difference.
        """
        parts, open_rows, others, lost = [], [], Counter(), []
        for arm in self.arms if arms is None else [a for a in self.arms if a in arms]:
            runs = self.arms[arm]
            lacking = [run for run in runs if _lacks(run)]
            untrained = sum(run.job.key not in run.records for run in lacking)
            counts = (("", untrained), ("evaluations of ", len(lacking) - untrained))
            parts += [f"{of}{n} of {len(runs)} runs of {arm}" for of, n in counts if n]
            open_rows += [row for run in lacking for row in self._run_rows(run, "")]
            for run in runs:
                lost += [f"{arm} run {run.job.run}"] if run.diverged else []
                others.update({run.job.what(key)[1]: 1 for key in _needy(run)})
        if len(parts) > MOST_NAMED:
            parts = [f"runs of {len(parts)} arms"]
        names = [f"{name} ({n} run{'s' * (n > 1)})" for name, n in others.items()]
        texts = [f"Not recorded: {', '.join(parts + names)}."] if parts or names else []
        texts += [f"Diverged: {', '.join(lost)}."] if lost else []
        if self.setup.profile == RECORDED:
            edited = [text for arm in self.arms if (text := self.edited(arm))]
            texts += [f"{text}: undo the edit; {REMEDY}." for text in edited]
        elif parts and not self.quick:
            texts.append(how_to_make(pd.DataFrame(open_rows)))
        return " ".join(texts)

    def compare(self) -> pd.DataFrame:
        """Return published values beside ours with verdicts."""
        tested = [claim for claim in claims.load(self.paper).claims if claim.study == self.name]
        return compare(tested, self.table())

    def show(self, figure, data: pd.DataFrame, caption: str, arms=None):
        """Print how to read a figure and what it lacks, and return it; `data` are its numbers.

        The text names missing runs (of `arms`, if the figure shows no others).
        """
        if len(data) == 0:
            print(f"There are no runs to draw yet. {self.unfinished()}")
            return figure
        print(textwrap.fill(self.caption(caption, arms), 110))
        drawn = data.to_csv() if self.setup.mine else ""
        for study in self.setup.studies:  # a figure may be of several
            for name, lines in study._told.items():
                if name in drawn and study._told_in != cell():
                    print(*lines, sep="\n  ")
        return figure

    def caption(self, caption: str, arms=None) -> str:
        """Return how to read a figure, and what it lacks."""
        return " ".join([caption.strip(), self.unfinished(arms)]).strip()

    def net(self, arm: str, run: int = 0, limit: float = 60.0):
        """Return the final network of a run: from the cache, or trained again in `limit` seconds.

        LookupError if there is no such run, or training it again takes longer.
        """
        if arm not in self.arms or not 0 <= run < len(self.arms[arm]):
            known = ", ".join(self.arms) or "none yet"
            raise LookupError(f"study {self.name!r} has no run {run} of {arm!r}; its arms: {known}")
        found = self.arms[arm][run]
        record = found.records.get(found.job.key)
        net = final_net(found.job, record and record["checksum"])
        if net is not None:
            return net
        known = record["cost"]["cpu_seconds"] if record else self._estimate(found, found.job.key)
        if known > limit:
            raise LookupError(
                f"the weights of {arm} run {run} are not in {self.cache}: net({arm!r}, {run},"
                f" limit={known:.0f}) trains it again"
            )
        net = trained_net(found.job)
        if record and net.checksum() != record["checksum"]:
            print(f"{arm} run {run}: these weights, trained just now, are not those of its record")
        return net

    def finish(self) -> pd.DataFrame:
        """Say what was recorded, made and is missing; return the table of runs."""
        runs = self.runs()
        if self.computes and not self.notebook:
            self.records.tidy()
        print(f"{self.name}: {self._summary(self.arms)}. {self.unfinished()}".strip())
        return runs


def _missing(run):
    # keys of what has no record, whatever could be made here
    return [] if run.diverged else [key for key in run.job.keys if key not in run.records]


def _needy(run):
    # of these the evaluations that need a program of others
    evaluations = run.job.evaluations
    missing = [key for key in _missing(run) if key in evaluations]
    return [key for key in missing if getattr(evaluations[key][1], "needs", "")]


def _lacks(run):
    return len(_missing(run)) > len(_needy(run))


def _moves(record):
    # of a training, and of an evaluation that counts them
    results = zip(record.get("rows", ()), record.get("values", ()), strict=True)
    counted = [values[-1] for row, values in results if row["measure"] == "moves"]
    return record["cost"].get("moves") or next(iter(counted), None)


def check(statement: str, holds) -> None:
    """Print whether a statement about the results holds, in one line, for a notebook's test.

    >>> check("two and two make four", 2 + 2 == 4)
    holds: two and two make four
    """
    print(f"{'holds' if bool(holds) else 'DOES NOT HOLD'}: {statement}")


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
