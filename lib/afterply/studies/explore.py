"""Arms of one's own: a recorded arm with changes, trained now and shown beside it.

::

    mine = {"lambda_": 0.5}                                # changes the study's first arm
    mine = {"like": "no-FARL", "alpha": [0.3, 0.1]}        # changes another arm
    mine = [{"tc": "none"}, {"farl": "first", "runs": 10, "minutes": 10}]
    mine = {"lambda_": 0.5, "name": "half"}                # kept: mine = "half" shows it again

A change names parameters of the learner. It may also name `like` (the arm that it changes), `study`
(if a notebook has several), `runs`, `minutes` (how long it may train), `episodes` (schedules get
shorter with them), `game` (settings of the game), `curve` (evaluators) and `name`. All else is as
in the recorded arm: evaluators, checkpoints, and the schedules of a whole training. So an arm that
has trained for two minutes is compared with the record after the same number of games. Without
`minutes` a run goes on to its first point, if that takes longer. Seeds derive from the arm's own
name.

Records of own arms lie in ``data/mine``, which git ignores. Unfinished runs lie in the cache, and
go on when the cells run again.
"""

import dataclasses
import difflib
import math
from typing import NamedTuple

import pandas as pd
import yaml

from ..checks import number, whole
from ..files import Archive, data_directory, read_yaml, write_text
from ..games import catalogue
from ..stats import together
from .evaluators import as_evaluator
from .papers.tests_of_means import welch
from .records import Records, learner_parameters
from .results import Collected, by_columns, in_percent, in_words
from .runs import Limit, Run, evaluate, live_curve, spread
from .runs import train as train_run
from .sources import duration

MINUTES = 2.0  # for all own arms of a notebook together, unless they say otherwise
PATIENCE = 5.0  # the same until the first point, in case the machine is slow or busy
TOO_LONG = 15.0  # minutes to the first point, which nobody waits for without asking for it
LEAST_RUNS = 3  # fewer have no interval worth drawing
# What a change may name besides parameters of the learner.
WORDS = ("like", "study", "runs", "minutes", "episodes", "game", "curve", "name")
NOT_IN_NAME = ("runs", "minutes", "name")  # they may change later
MOST_COMPARED = 4  # results of which a difference is printed
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


# What the notebook's `mine` says


def own_arms(study) -> list[Own]:
    """Return the own arms of a study, as the notebook's `mine` says; ValueError names a slip."""
    setup = study.setup
    if not setup.mine:
        return []
    records = Records(folder() / f"{study.name}.jsonl")
    known = [declared.name for declared in setup.studies]
    owns = []
    for mine in setup.mine:
        change = _kept(mine) if isinstance(mine, str) else mine
        name = change.get("study", known[0])
        if name not in known:
            names = ", ".join(known)
            raise ValueError(f"mine: there is no study {name!r}: study is one of {names}")
        if name == study.name:
            owns.append(_own(study, change, records))
    return owns


def _own(study, change, records) -> Own:
    """Return the own arm that a change describes, with the records that it has already."""
    like = change.get("like", next(iter(study.arms)))
    if like not in study.arms:
        names = ", ".join(study.arms)
        raise ValueError(f"mine: there is no arm {like!r}: like is one of {names}")
    if "minutes" in change:
        number("minutes", change["minutes"], 0.01)
    job = _changed_job(study.arms[like][0].job, change)
    name = _name(change)
    if name in study.arms:
        raise ValueError(f"mine: {name!r} is an arm of the study: choose another name")
    num_runs = change["runs"] if "runs" in change else _runs_that_fit(study, like, change)
    whole("runs", num_runs)
    runs = []
    for index in range(num_runs):
        numbered = dataclasses.replace(job, arm=name, seeded_as=name, run=index)
        runs.append(Run(numbered, records.find_all(numbered.keys)))
    if "name" in change:
        _keep(name, change | {"study": study.name})
    return Own(name, like, runs, change, records)


def _changed_job(job, change):
    """Return the job of a recorded arm with a change; ValueError if it changes nothing."""
    learned = {name: value for name, value in change.items() if name not in WORDS}
    check_names(learned, job)
    episodes = whole("episodes", change.get("episodes", job.episodes))
    parameters = learner_parameters(job.learner, job.parameters | learned, episodes)
    game = _changed_game(job.game, change.get("game"))
    curve = job.curve
    if change.get("curve") is not None:
        curve = tuple(map(as_evaluator, change["curve"]))
    is_same = (
        parameters == job.parameters
        and episodes == job.episodes
        and game.identity == job.game.identity
        and curve == job.curve
    )
    if is_same:
        stated = ", ".join(f"{name}={value!r}" for name, value in learned.items())
        raise ValueError(f"mine changes nothing: {job.arm} has {stated or 'all of it'} already")
    return dataclasses.replace(
        job,
        game=game,
        parameters=parameters,
        episodes=episodes,
        every=min(job.every, episodes),
        curve=curve,
        alike={},
    )


def _name(change):
    """Return the name of an own arm: as given, else what it changes."""
    if change.get("name"):
        return change["name"]
    stated = [f"{name}={value}" for name, value in change.items() if name not in NOT_IN_NAME]
    return "mine: " + ", ".join(stated)


def check_names(learned: dict, job) -> None:
    """Raise ValueError if a name is no parameter; say which is near, else all that there are."""
    known = [*job.learner.PARAMETERS, *WORDS]
    for name in learned:
        if name not in known:
            raise ValueError(f"mine: there is no parameter {name!r}: {_hint(name, known, job)}")


def _hint(name, known, job):
    """Say which name is near to a wrong one, and what its value is; else which names there are."""
    near = difflib.get_close_matches(str(name), known, 1, cutoff=0.7)
    if not near:
        return f"you can set {', '.join(known)}"
    question = f"did you mean {near[0]!r}?"
    if near[0] in job.parameters:
        question += f" Here it is {job.parameters[near[0]]!r}"
    return question


def _changed_game(game, settings):
    """Return a game with some other settings; ValueError if they are none."""
    if settings is None:
        return game
    if not isinstance(settings, dict):
        raise ValueError(f'mine: game={settings!r} must be settings of the game: {{"rows": 4}}')
    spec = game.spec
    return catalogue.load(spec["name"], **(spec["params"] | settings))


# Changes that are kept under a name


def _all_kept():
    """Return the file of the kept changes, and what it holds by name."""
    file = folder() / "kept.yaml"
    kept = read_yaml(file) if file.is_file() else {}
    return file, kept


def _kept(name):
    """Return the change that was kept under a name."""
    _, kept = _all_kept()
    if name not in kept:
        names = ", ".join(kept) or 'none yet: mine = {"alpha": 0.5, "name": "half"} keeps one'
        raise ValueError(f"mine: nothing was kept as {name!r}; there is {names}")
    return kept[name]


def _keep(name, change):
    file, kept = _all_kept()
    if kept.get(name) != change:
        write_text(file, yaml.safe_dump(kept | {name: change}, allow_unicode=True))


# Training for some minutes


def _runs_that_fit(study, like, change) -> int:
    """Return how many whole trainings fit: at least 3, at most as many as the recorded arm has."""
    job = study.arms[like][0].job
    seconds_of_run = study.costs(like).until(job, job.episodes)
    if not seconds_of_run:
        return LEAST_RUNS
    seconds = 60 * change.get("minutes", MINUTES) * study.workers
    most = len(study.arms[like])
    return max(LEAST_RUNS, min(int(seconds / seconds_of_run), most))


def train(study, owns: list[Own]) -> None:
    """Train what is missing of own arms for as long as they say; each finished run is recorded."""
    unfinished = [own for own in owns if any(run.due for run in own.runs)]
    for own in unfinished:
        _train_arm(study, own, len(unfinished))


def _train_arm(study, own, number_of_arms):
    """Train an own arm for its time, then evaluate its finished runs, if that fits as well."""

    def keep(run, records):
        run.records |= {record["key"]: record for record in records}
        own.records.add(records)

    limit = _limit(study, own, number_of_arms)
    if limit is not None:
        untrained = [run for run in own.runs if run.job.key not in run.records]
        trainings = [(run, run.due, limit) for run in untrained]
        with live_curve([run.job for run in untrained]):
            spread("training", train_run, trainings, keep, study.workers, study.dask)
    finished = [run for run in own.runs if run.job.key in run.records]
    evaluations = []
    for run in finished:
        checksum = run.records[run.job.key]["checksum"]
        for key in run.due:
            evaluations.append((run, key, checksum))
    if evaluations and _finals_fit(study, own, len(finished)):
        spread("evaluating", evaluate, evaluations, keep, study.workers, study.dask)


def _limit(study, own, number_of_arms) -> Limit | None:
    """Return how long each run may train, and say so if it is long; None if it is too long.

    Unless minutes are given, a run goes on to its first point: without one nothing is drawn.
    """
    job = own.runs[0].job
    waves = math.ceil(len(own.runs) / study.workers)
    minutes = own.changes.get("minutes")
    if minutes is not None:
        return Limit(60 * minutes / waves)
    minute = 60 / waves / number_of_arms  # seconds of a run in each minute of all own arms
    first = _first_point(job)
    needed = 1.3 * study.costs(own.like).until(job, first)
    if _least_episode(own) < first and needed > MINUTES * minute:
        what = "the first point" if job.curve else "whole trainings, as the arm has no curve"
        seconds = needed * waves
        text = f"{own.name}: {what}, after {first:,} games, {duration(seconds)}"
        if seconds > 60 * TOO_LONG:
            print(f'{text}: to train so long, set "minutes": {math.ceil(seconds / 60)}')
            return None
        print(text)
    return Limit(MINUTES * minute, first, max(PATIENCE * minute, 2 * needed))


def _finals_fit(study, own, number_of_runs) -> bool:
    """Return whether there is time for the evaluations at the end, and say so if there is not."""
    waves = math.ceil(number_of_runs / study.workers)
    seconds = study.costs(own.like).final * waves
    if seconds <= 60 * own.changes.get("minutes", MINUTES):
        return True
    minutes = math.ceil(seconds / 60)
    print(f'{own.name}: the evaluations at the end take {duration(seconds)}: "minutes": {minutes}')
    return False


def _first_point(job) -> int:
    """Return the episode after which a run is first measured."""
    return min(job.every, job.episodes) if job.curve else job.episodes


def _least_episode(own) -> int:
    """Return the episode that all runs of an own arm have reached."""
    return min(_episode(run.job) for run in own.runs)


def _episode(job) -> int:
    """Return the episode at which the checkpoint of a run is."""
    return Archive(job.checkpoint).meta["episode"] if job.checkpoint.exists() else 0


# Results beside those of the recorded arm


def table_of(study, own: Own) -> pd.DataFrame:
    """Return the results of an own arm that all its runs have reached, with a column `like`."""
    collected = Collected()
    episodes_of_runs = []
    for run in own.runs:
        episodes = set()
        for points in _points(run):
            collected.add(run.job.run, points)
            episodes.update(points["episode"])
        episodes_of_runs.append(episodes)
    table = collected.table()
    table = table[table.episode.isin(set.intersection(*episodes_of_runs))]
    if all(run.job.key in run.records for run in own.runs):
        table = study.derived(own.like, table, collected)
    return study.placed(own.name, table).assign(like=own.like)


def _points(run):
    """Yield the points of a run: of its records, or of the checkpoint of one that goes on."""
    is_trained = run.job.key in run.records
    if is_trained or not run.job.checkpoint.exists():
        for key in run.job.evaluations:
            if key in run.records:
                yield run.records[key]
        return
    for curve in Archive(run.job.checkpoint).meta.get("curves", {}).values():
        if curve["points"].get("rows"):
            yield curve["points"]


def beside(table: pd.DataFrame, own: Own) -> list[str]:
    """Say how an own arm differs from the recorded one, where both have been measured."""
    rows_by_columns = by_columns(table)
    both = []
    for (study, arm, columns), rows in rows_by_columns.items():
        recorded = rows_by_columns.get((study, own.like, columns))
        if arm == own.name and recorded is not None:
            both.append((columns, rows, recorded))
    lines = []
    for columns, rows, recorded in both[:MOST_COMPARED]:
        episodes = sorted(set(rows.episode) & set(recorded.episode))
        if episodes:
            differences = _differences(rows, recorded, episodes, own.runs[0].job.episodes)
            lines.append(f"{in_words(columns)}: {differences}")
    if not lines:
        return [f"{own.name} is not drawn yet: {_how_far(own)}"]
    num_recorded = table[table.arm == own.like].run.nunique()
    how = f"{len(own.runs)} and {num_recorded} runs, 95% intervals"
    if any(in_percent(dict(columns)["measure"]) for columns, *_ in both):
        how += ", rates in percentage points"
    reference = f"the recorded {own.runs[0].job.study} / {own.like}"
    return [f"{own.name} less {reference} ({how}):", *lines]


def _how_far(own) -> str:
    """Say what an own arm lacks that has no checkpoint of the recorded one, and what to do."""
    first = _first_point(own.runs[0].job)
    reached = _least_episode(own)
    text = f"{own.like} was first measured after {first:,} games, and it is at {reached:,}"
    return f'{text}. Run the cells again, and it goes on; "minutes": 10 gives it more time'


def _differences(rows, recorded, episodes, end) -> str:
    """Return how far two results are apart at the last of their common episodes, and on average."""
    place = "at the end" if episodes == [end] else f"after {episodes[-1]:,} games"
    last = f"{place} {_difference(rows, recorded, episodes[-1:])}"
    if len(episodes) == 1:
        return last
    mean = _difference(rows, recorded, episodes)
    return f"{last}; mean of {len(episodes)} checkpoints {mean}"


def _difference(rows, recorded, episodes) -> str:
    """Return the difference of two means over runs with its 95% interval: "+1.2 [-0.3, +2.7]"."""
    values = _means_of_runs(rows, episodes)
    recorded_values = _means_of_runs(recorded, episodes)
    effect = values.mean() - recorded_values.mean()
    if min(len(values), len(recorded_values)) == 1:  # a single run says nothing of a spread
        return together((effect,), "+")[0]
    low, high = welch(values, recorded_values).interval(SIDES)
    if not low < high:
        return together((effect,), "+")[0]
    mean, lower, upper = together((effect, low, high), "+")
    return f"{mean} [{lower}, {upper}]"


def _means_of_runs(rows, episodes):
    return rows[rows.episode.isin(episodes)].groupby("run").value.mean()
