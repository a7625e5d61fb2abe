"""Arms of one's own: a recorded arm with changes, trained now and shown beside it.

::

    mine = {"lambda_": 0.5}                                # of the study's first arm
    mine = {"like": "no-FARL", "alpha": [0.3, 0.1]}        # of another one
    mine = [{"tc": "none"}, {"farl": "first", "runs": 10, "minutes": 10}]
    mine = {"lambda_": 0.5, "name": "half"}                # kept: mine = "half" shows it again

A change names a parameter of the learner; besides, `like` (the arm that it changes), `study` (if a
notebook has several), `runs`, `minutes` (that it may train), `episodes` (its schedules get shorter
with it), `game` (settings of the game), `curve` (evaluators) and `name`. All else is as in the
recorded arm: evaluators, checkpoints, and the schedules of a whole training, so that what two
minutes reach is compared with the record at the same game. Without `minutes` a run goes on to its
first point, if that takes longer. Seeds derive from its own name.

Records of own arms lie in ``data/mine``, which git ignores; what was begun lies in the cache, and
the next run of the cells goes on with it.
"""

import dataclasses
import difflib
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from ..checks import number, whole
from ..files import Archive, data_directory, read_yaml, write_text
from ..games import catalogue
from ..stats import together
from . import runs as making
from .evaluators import as_evaluator
from .papers.tests_of_means import welch
from .records import Records, learner_parameters
from .results import Collected, by_columns, in_percent, in_words
from .runs import Run
from .sources import duration

MINUTES = 2.0  # that all own arms of a notebook train together, unless they say otherwise
PATIENCE = 5.0  # the same until the first point, where a machine is slow or busy
TOO_LONG = 15.0  # minutes to the first point, for which one must be asked
LEAST_RUNS = 3  # fewer have no interval worth drawing
WORDS = ("like", "study", "runs", "minutes", "episodes", "game", "curve", "name")
UNTOLD = ("runs", "minutes", "name")  # no part of an own arm's name: they may change later
MOST_TOLD = 4  # results of which a difference is printed
SIDES = (0.025, 0.025)


class Own(NamedTuple):
    """An arm of one's own."""

    name: str
    like: str  # the recorded arm that it changes
    runs: list
    changes: dict
    records: Records


def folder():
    """Return where own arms are kept."""
    return data_directory() / "mine"


def own_arms(study) -> list[Own]:
    """Return the own arms of a study, as the notebook's `mine` says; ValueError names a slip."""
    setup, found = study.setup, []
    if not setup.mine:
        return []
    records = Records(folder() / f"{study.name}.jsonl")
    for change in setup.mine:
        change = _kept(change) if isinstance(change, str) else change
        known = [one.name for one in setup.studies]
        of = change.get("study", known[0])
        if of not in known:
            raise ValueError(f"mine: there is no study {of!r}: study is one of {', '.join(known)}")
        if of == study.name:
            found.append(_own(study, change, records))
    return found


def _own(study, change, records) -> Own:
    arms = study.arms
    like = change.get("like", next(iter(arms)))
    if like not in arms:
        raise ValueError(f"mine: there is no arm {like!r}: like is one of {', '.join(arms)}")
    job = arms[like][0].job
    if "minutes" in change:
        number("minutes", change["minutes"], 0.01)
    learned = {name: value for name, value in change.items() if name not in WORDS}
    check_names(learned, job)
    episodes = whole("episodes", change.get("episodes", job.episodes))
    parameters = learner_parameters(job.learner, job.parameters | learned, episodes)
    game = _game(job.game, change.get("game"))
    curve = change.get("curve")
    curve = job.curve if curve is None else tuple(map(as_evaluator, curve))
    if (parameters, episodes, game.identity, curve) == (
        job.parameters,
        job.episodes,
        job.game.identity,
        job.curve,
    ):
        same = ", ".join(f"{name}={value!r}" for name, value in learned.items())
        raise ValueError(f"mine changes nothing: {like} has {same or 'all of it'} already")
    told = {name: value for name, value in change.items() if name not in UNTOLD}
    name = change.get("name") or "mine: " + ", ".join(f"{k}={v}" for k, v in told.items())
    if name in arms:
        raise ValueError(f"mine: {name!r} is an arm of the study: choose another name")
    runs = change["runs"] if "runs" in change else _runs_that_fit(study, like, change)
    whole("runs", runs)
    what = {"arm": name, "seeded_as": name, "game": game, "parameters": parameters, "alike": {}}
    what |= {"episodes": episodes, "every": min(job.every, episodes), "curve": curve}
    jobs = [dataclasses.replace(job, run=run, **what) for run in range(runs)]
    made = [
        Run(one, {key: found for key in one.keys if (found := records.find(key))}) for one in jobs
    ]
    if "name" in change:
        _keep(name, change | {"study": study.name})
    return Own(name, like, made, change, records)


def check_names(learned: dict, job) -> None:
    """Raise ValueError if a name is no parameter; say which is near, else all that there are."""
    known = [*job.learner.PARAMETERS, *WORDS]
    for name in learned:
        if name in known:
            continue
        near = difflib.get_close_matches(str(name), known, 1, cutoff=0.7)
        hint = f"you can set {', '.join(known)}"
        if near:
            now = f"? Here it is {job.parameters[near[0]]!r}" if near[0] in job.parameters else "?"
            hint = f"did you mean {near[0]!r}{now}"
        raise ValueError(f"mine: there is no parameter {name!r}: {hint}")


def _game(game, settings):
    if settings is None:
        return game
    if not isinstance(settings, dict):
        raise ValueError(f'mine: game={settings!r} must be settings of the game: {{"rows": 4}}')
    spec = game.spec
    return catalogue.load(spec["name"], **(spec["params"] | settings))


def _kept(name):
    file = folder() / "kept.yaml"
    kept = read_yaml(file) if file.is_file() else {}
    if name not in kept:
        there = ", ".join(kept) or 'none yet: mine = {"alpha": 0.5, "name": "half"} keeps one'
        raise ValueError(f"mine: nothing was kept as {name!r}; there is {there}")
    return kept[name]


def _keep(name, change):
    file = folder() / "kept.yaml"
    kept = read_yaml(file) if file.is_file() else {}
    if kept.get(name) != change:
        write_text(file, yaml.safe_dump(kept | {name: change}, allow_unicode=True))


class Costs(NamedTuple):
    """CPU seconds of a run, as the recorded ones of an arm took."""

    game: float  # of training
    point: float  # of a curve
    final: float  # of all evaluations at the end

    def until(self, job, episodes) -> float:
        """Return the seconds of a training until some episodes."""
        return episodes * self.game + -(-episodes // job.every) * self.point


def costs_of(recorded: list) -> Costs:
    """Return what the recorded runs of an arm took; zeros if none is recorded."""
    spent = {"train": [], "curve": [], "final": []}
    for run in recorded:
        of_run = dict.fromkeys(spent, 0.0)
        for key, record in run.records.items():
            of_run[run.job.what(key)[0]] += record["cost"]["cpu_seconds"]
        if run.job.key in run.records:
            for kind, seconds in of_run.items():
                spent[kind].append(seconds)
    train, curve, final = (float(np.mean(each)) if each else 0.0 for each in spent.values())
    job = recorded[0].job
    return Costs(train / job.episodes, curve / -(-job.episodes // job.every), final)


def _runs_that_fit(study, like, change) -> int:
    """Return how many whole trainings take so long: at least 3, at most as many as recorded."""
    recorded = study.arms[like]
    each = costs_of(recorded).until(recorded[0].job, recorded[0].job.episodes)
    seconds = 60 * change.get("minutes", MINUTES) * study.workers
    fitting = int(seconds / each) if each else LEAST_RUNS
    return max(LEAST_RUNS, min(fitting, len(recorded)))


def train(study, owns: list[Own]) -> None:
    """Train what is missing of own arms for as long as they say; each finished run is recorded."""
    open_ones = [own for own in owns if any(run.due for run in own.runs)]
    for own in open_ones:

        def keep(run, made, own=own):
            run.records |= {record["key"]: record for record in made}
            own.records.add(made)

        limit = _limit(study, own, len(open_ones))
        due = [run for run in own.runs if run.job.key not in run.records]
        tasks = [(run, run.due, limit) for run in due] if limit else []
        with making.live_curve([run.job for run, *_ in tasks]):
            making.spread("training", making.train, tasks, keep, study.workers, study.dask)
        finished = [run for run in own.runs if run.job.key in run.records]
        sums = {run: run.records[run.job.key]["checksum"] for run in finished}
        tasks = [(run, key, sums[run]) for run in finished for key in run.due]
        if tasks and _finals_fit(study, own, len(finished)):
            making.spread("evaluating", making.evaluate, tasks, keep, study.workers, study.dask)


def _limit(study, own, number_of_arms) -> making.Limit | None:
    """Return how long each run may train, and say so if it is long; None if it is too long.

    Unless minutes are given, a run goes on to its first point: without one nothing is drawn.
    """
    job, costs = own.runs[0].job, costs_of(study.arms[own.like])
    minutes = own.changes.get("minutes")
    waves = -(-len(own.runs) // study.workers)
    each = 60 / waves / number_of_arms
    if minutes is not None:
        return making.Limit(60 * minutes / waves)
    whole_training = not job.curve
    first = job.episodes if whole_training else min(job.every, job.episodes)
    needed = 1.3 * costs.until(job, first)
    begun = min(_episode(run.job) for run in own.runs)
    if begun < first and needed > MINUTES * each:
        what = "whole trainings, as the arm has no curve" if whole_training else "the first point"
        text = f"{own.name}: {what}, after {first:,} games, {duration(needed * waves)}"
        if needed * waves > 60 * TOO_LONG:
            minutes = math.ceil(needed * waves / 60)
            print(f'{text}: to train so long, set "minutes": {minutes}')
            return None
        print(text)
    return making.Limit(MINUTES * each, first, max(PATIENCE * each, 2 * needed))


def _finals_fit(study, own, number_of_runs) -> bool:
    each = costs_of(study.arms[own.like]).final
    seconds = each * -(-number_of_runs // study.workers)
    minutes = own.changes.get("minutes", MINUTES)
    if seconds <= 60 * minutes:
        return True
    asked = math.ceil(seconds / 60)
    print(f'{own.name}: the evaluations at the end take {duration(seconds)}: "minutes": {asked}')
    return False


def _episode(job) -> int:
    return Archive(job.checkpoint).meta["episode"] if job.checkpoint.exists() else 0


def table_of(study, own: Own) -> pd.DataFrame:
    """Return the results of an own arm, as far as all its runs have come, with a column `like`."""
    found, reached = Collected(), []
    for run in own.runs:
        at = set()
        for points in _points(run):
            found.add(run.job.run, points)
            at |= set(points["episode"])
        reached.append(at)
    table = found.table()
    table = table[table.episode.isin(set.intersection(*reached))]
    if all(run.job.key in run.records for run in own.runs):
        table = study.derived(own.like, table, found)
    return study.placed(own.name, table).assign(like=own.like)


def _points(run):
    """Yield the points of a run: of its records, or of the checkpoint of one that goes on."""
    recorded = [run.records[key] for key in run.job.evaluations if key in run.records]
    if run.job.key in run.records or not run.job.checkpoint.exists():
        yield from recorded
        return
    curves = Archive(run.job.checkpoint).meta.get("curves", {})
    yield from (curve["points"] for curve in curves.values() if curve["points"].get("rows"))


def beside(table: pd.DataFrame, own: Own) -> list[str]:
    """Say how an own arm differs from the recorded one, where both have been measured."""
    found = by_columns(table)
    pairs = [
        (columns, rows, theirs)
        for (study, arm, columns), rows in found.items()
        if arm == own.name and (theirs := found.get((study, own.like, columns))) is not None
    ]
    lines = []
    for columns, mine, theirs in pairs[:MOST_TOLD]:
        common = sorted(set(mine.episode) & set(theirs.episode))
        if not common:
            continue
        whole = len(common) == 1 and common[0] == own.runs[0].job.episodes
        at = "at the end" if whole else f"after {common[-1]:,} games"
        last = f"{at} {_difference(mine, theirs, common[-1:])}"
        over = f"; mean of {len(common)} checkpoints {_difference(mine, theirs, common)}"
        lines.append(f"{in_words(columns)}: {last}{over if len(common) > 1 else ''}")
    if not lines:
        return [f"{own.name} is not drawn yet: {_how_far(own)}"]
    told = f"{len(own.runs)} and {table[table.arm == own.like].run.nunique()} runs, 95% intervals"
    if any(in_percent(dict(columns)["measure"]) for columns, *_ in pairs):
        told += ", rates in percentage points"
    theirs = f"the recorded {own.runs[0].job.study} / {own.like}"
    return [f"{own.name} less {theirs} ({told}):", *lines]


def _how_far(own) -> str:
    """Say what an own arm lacks that has no checkpoint of the recorded one, and what to do."""
    at, job = min(_episode(run.job) for run in own.runs), own.runs[0].job
    first = min(job.every, job.episodes) if job.curve else job.episodes
    text = f"{own.like} was first measured after {first:,} games, and it is at {at:,}"
    return f'{text}. Run the cells again, and it goes on; "minutes": 10 gives it more time'


def _difference(mine, theirs, episodes) -> str:
    values = [
        rows[rows.episode.isin(episodes)].groupby("run").value.mean() for rows in (mine, theirs)
    ]
    effect = values[0].mean() - values[1].mean()
    if min(map(len, values)) == 1:  # a single run says nothing of a spread
        return together((effect,), "+")[0]
    low, high = welch(*values).interval(SIDES)
    numbers = together((effect, low, high) if low < high else (effect,), "+")
    return numbers[0] if len(numbers) == 1 else "{} [{}, {}]".format(*numbers)
