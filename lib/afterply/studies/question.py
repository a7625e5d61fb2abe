"""Question a verdict: recorded runs trained again from nothing, and variants of an arm.

::

    again("connect4/FARL/3")      # one recorded run: do all its numbers come out?
    again("connect4/FARL")        # every run of the arm
    variant("connect4/FARL", distinct_symmetries=False)    # what if this were otherwise?

Nothing is recorded, and the cache of the recorded runs stays as it is. A call that was stopped goes
on where it was with the next one.
"""

import copy
import difflib
import itertools
import math
from collections import ChainMap, defaultdict
from dataclasses import dataclass, replace
from html import escape

import pandas as pd

from ..learners.parameters import check_parameters
from .notebooks import collect, find
from .papers import claims, errors
from .papers.compare import final_values, row_of
from .papers.statements import judge, series
from .profiles import Setup
from .records import same_results
from .results import Collected, by_columns, in_percent, in_words, joined, key, select
from .runs import Run, lacking_program, where_to_work, work
from .sources import duration

CHEAP = 300.0  # CPU seconds up to which a variant has as many runs as its arm, at least LEAST
LEAST = 3  # runs, fewer have no verdict
APART = "again"  # the folder of the cache for runs that no record describes
NEW = "new"  # the arm of runs with fresh seeds


@dataclass(frozen=True, eq=False)
class Answer:
    """A result in words, as a figure with its numbers, and as a table of verdicts."""

    text: str
    differs: bool = False  # from the records
    figure: object = None
    data: pd.DataFrame | None = None
    caption: str = ""
    table: pd.DataFrame | None = None  # of a variant

    def _repr_html_(self):
        svg = self.figure.svg() if self.figure else ""
        table = "" if self.table is None else self.table.to_html(index=False)
        return f"{svg}<p>{escape(self.caption)}</p>{table}"


# Which study, arm and run a text names


def named(text: str, *studies) -> tuple:
    """Return study, arm and number that a text names: "connect4/FARL/3"; None without a number.

    `studies` are asked before those of the notebooks. ValueError says which names are near.
    """
    name, rest = _split(text.partition("/"))
    if not name or not rest:
        raise ValueError(f"{text!r} is not of the form STUDY/ARM or STUDY/ARM/RUN: connect4/FARL/3")
    study = _study(name, studies)
    if rest in study.arms:  # names of arms may hold a slash
        return study, rest, None
    head, last = _split(rest.rpartition("/"))
    number = last.removeprefix("run").strip()  # as in "tictactoe / FARL / run 0"
    names_a_run = head in study.arms or (head and number.isdigit())
    arm = head if names_a_run else rest
    if arm not in study.arms:
        raise ValueError(f"study {name!r} has no arm {arm!r}: {_near(arm, study.arms)}")
    last_run = len(study.arms[arm]) - 1
    if not number.isdigit() or int(number) > last_run:
        raise ValueError(f"{name}/{arm} has no run {number!r}: its runs are 0 to {last_run}")
    return study, arm, int(number)


def _split(parts):
    """Return what stands before and behind a slash, of the three parts that a partition has."""
    before, _, behind = parts
    return before.strip(), behind.strip()


def _study(name, studies):
    """Return the study of a name, of those given, else of the first notebook that has one."""
    known = {study.name: study for study in studies}
    if name in known:
        return known[name]
    for path in find():
        in_notebook, _ = collect([path])
        for study in in_notebook:
            if study.name == name:
                return study
            known[study.name] = study
    raise ValueError(f"there is no study {name!r}: {_near(name, known)}")


def _near(word, known):
    """Say which names are near to a word, or else which there are."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, 3)
    if not near:
        return f"there are {', '.join(known)}"
    suggestions = " or ".join(repr(names[name]) for name in near)
    return f"did you mean {suggestions}?"


# Recorded runs


def again(what: str, *studies) -> Answer:
    """Train one recorded run, or each of an arm, again from nothing, and compare it.

    Parameters
    ----------
    what : str
        "connect4/FARL/3", or "connect4/FARL" for the whole arm.
    studies : Study
        Of your own, whose names count before those of the notebooks.
    """
    study, arm, number = named(what, *studies)
    place = f"{study.name}/{arm}"
    runs = study.arms[arm]
    asked = runs if number is None else [runs[number]]
    chosen = [run for run in asked if run.records]
    if not chosen:
        name = place if number is None else f"{place}/{number}"
        raise ValueError(f"{name} is not recorded: there is nothing that it could differ from")
    cost = duration(sum(map(recorded_cost, chosen)))
    which = f"{len(chosen)} of {len(runs)} runs" if number is None else f"run {number}"
    print(f"{place}, {which}: again from nothing, {cost} of CPU time when recorded.", flush=True)
    new_records = made_again(chosen, study.workers, study.dask)
    lines = []
    wrong = []
    for run in chosen:
        same, different = differences(run, new_records[run])
        if different:
            wrong.append(run)
        if number is None:  # of an arm only what differs
            lines += [f"run {run.job.run}: {line}" for line in different or ["as recorded"]]
        else:
            lines += [*different, *same]
    lines.append(_conclusion(place, chosen, wrong, is_arm=number is None))
    text = "\n".join(lines)
    print(text, flush=True)
    figure, data, caption = _picture_of_runs(place, runs, new_records, wrong)
    return Answer(text, bool(wrong), figure, data, caption)


def _conclusion(place, chosen, wrong, is_arm):
    """Say which runs differ from their records, or that none does."""
    num_identical = len(chosen) - len(wrong)
    if not wrong:
        which = f"{num_identical} identical" if is_arm else "IDENTICAL"
        return f"{which}: all weights and results are those of the record."
    names = ", ".join(f"{place}/{run.job.run}" for run in wrong)
    if is_arm:
        return f"DIFFERS: {names} ({num_identical} identical)"
    return f"DIFFERS: {names}"


def recorded_cost(run) -> float:
    """Return the CPU seconds of all records of a run."""
    return sum(record["cost"]["cpu_seconds"] for record in run.records.values())


def made_again(runs, workers=None, dask=None) -> dict:
    """Train and evaluate runs again, from nothing; return run -> its new records by key."""
    copies = [Run(_apart(run.job), {}) for run in runs]
    work(copies, _record_nothing, *where_to_work(workers, dask))
    for fresh in copies:
        fresh.job.checkpoint.unlink(missing_ok=True)
    return {run: fresh.records for run, fresh in zip(runs, copies)}


def _record_nothing(run, records):
    """Stand for what writes new records."""


def _apart(job):
    """Return the same job with a cache of its own, and what can be measured here."""
    curve = _measurable(job.curve)
    final = _measurable(job.final)
    return replace(job, cache=job.cache / APART, curve=curve, final=final, alike={})


def _measurable(evaluators):
    return tuple(evaluator for evaluator in evaluators if not lacking_program(evaluator))


def differences(run, new) -> tuple[list, list]:
    """Return lines on what of a run is as recorded or cannot be known, and on what differs.

    `new` are the records of the run that was made again, by key.
    """
    same = []
    wrong = []
    job = run.job
    diverged_now = new.get(job.key, {}).get("diverged")
    for key_of_record in run.expected_keys:
        kind, name = job.what(key_of_record)
        what = "weights" if kind == "train" else f"{name}, {kind}"
        old = run.records.get(key_of_record)
        made = new.get(key_of_record)
        if old is None:
            same.append(f"{what}: not recorded")
        elif made is None and not diverged_now:
            reason = job.lacking.get(key_of_record, "not due")
            same.append(f"{what}: not measured here, {reason}")
        elif made is None or not same_results(old, made) or _end(old) != _end(made):
            wrong.append(f"{what}: DIFFERS, {first_difference(old, made or {})}")
        else:
            same.append(f"{what}: as recorded{_extent(old)}")
    return same, wrong


def _extent(record):
    """Return in words how much a record holds: the points of a curve, or how a training ended."""
    num_points = len(record.get("episode", ()))
    words = f"{num_points} points" if num_points > 1 else _end(record)
    return f" ({words})" if words else ""


def _end(record):
    """Return the checksum with which a training ended, or why it has none."""
    if record["kind"] != "train":
        return ""
    return record["checksum"] or record.get("diverged")


def first_difference(old: dict, new: dict) -> str:
    """Return in words where two records of one key begin to differ."""
    recorded = _points(old)
    made = _points(new)
    places = [place for place in {**recorded, **made} if recorded.get(place) != made.get(place)]
    if not places:
        return _different_ends(old, new)
    episodes = [episode for episode, _ in places]
    first = places[episodes.index(min(episodes))]
    episode, columns = first
    text = f"first after {episode:,} episodes: {in_words(columns)} is {made.get(first)}"
    text += f", recorded {recorded.get(first)}"
    num_others = episodes.count(episode) - 1
    if num_others:
        text += f" (and {num_others} more)"
    num_checkpoints = len({episode for episode, _ in recorded})
    if num_checkpoints > 1:
        text += f"; {len(set(episodes))} of {num_checkpoints} checkpoints differ"
    return text


def _different_ends(old, new):
    """Return in words how two trainings, or the networks of two evaluations, differ."""
    text = f"it ended with {_end_in_words(new)}, recorded is {_end_in_words(old)}"
    return text if old["kind"] == "train" else f"its numbers are equal, but {text}"


def _end_in_words(record):
    return record.get("diverged") or f"the checksum {record.get('checksum')}"


def _points(record):
    """Return the values of a record: (episode, columns) -> value."""
    points = {}
    for row, values in zip(record.get("rows", ()), record.get("values", ()), strict=True):
        for episode, value in zip(record["episode"], values, strict=True):
            points[episode, key(row)] = value
    return points


def _picture_of_runs(place, runs, new_records, wrong):
    """Draw runs that were made again among the recorded ones of their arm.

    `new_records` are those of the runs that were made again, by run; `wrong` the runs that came out
    otherwise. Return figure, numbers of the figure, caption: None, None, "" if no run has results.
    """
    from .reports.among import among  # needs an extra

    old_records = {run: run.records for run in runs if run.records}
    columns = _most_telling([*old_records.values(), *new_records.values()])
    if columns is None:
        return None, None, ""
    old_results = select(_results(old_records), **columns)
    new_results = select(_results(new_records), **columns)
    title = place
    which = "Runs that were"
    if len(new_records) == 1:
        (run,) = new_records
        title += f", run {run.job.run}"
        which = "The run that was"
    wrong_numbers = {run.job.run for run in wrong}
    figure, data = among(old_results, new_results, wrong_numbers, in_words(columns), title)
    caption = f"{which} made again (coloured) among the recorded ones of {place} (grey)."
    if wrong:
        caption += " Dashed: as recorded, where it differs."
    return figure, data, caption


def _results(records_of_runs):
    """Return the results of some runs, a dictionary of their records, as a table."""
    collected = Collected()
    for run, records in records_of_runs.items():
        for name in run.job.evaluations:  # curves come first
            if name in records:
                collected.add(run.job.run, records[name])
    return collected.table()


def _most_telling(records_of_runs):
    """Return the columns of a row to draw: of the longest curve, a rate if there is one."""
    rows = []
    for records in records_of_runs:
        for record in records.values():
            for row in record.get("rows", ()):
                rows.append((len(record["episode"]), in_percent(row["measure"]), row))
    if not rows:
        return None
    _, _, columns = max(rows, key=lambda found: found[:2])
    return columns


# Fresh seeds, and other parameters


def afresh(study, arm: str, num: int, evaluators=(), **changes) -> pd.DataFrame:
    """Train an arm with seeds that no record has; return new and recorded results of its runs.

    `evaluators` are the names of those that measure the new runs (default: all); `changes` are
    parameters of the learner that differ. No record is written. The table is
    :meth:`Study.table`'s; the new runs are those of the arm ``new``.
    """
    if arm not in study.arms:
        raise ValueError(f"study {study.name!r} has no arm {arm!r}: {_near(arm, study.arms)}")
    job = study.arms[arm][0].job
    settings = {
        "game": job.game,
        "eval_every": job.every,
        "runs": num,
        "episodes": job.episodes,
        "curve": _chosen(job.curve, evaluators),
        "final": _chosen(job.final, evaluators),
    }
    name = f"{arm}, {_changes_in_words(changes) or NEW}"  # from which its seeds derive
    other = _alone(study, {arm: study.arms[arm]})
    other.cache = study.cache / APART
    other.arm(name, job.learner, **job.parameters | settings | changes)
    for each in (arm, name):
        other.derivations[each] = study.derivations[arm]
    other._done.add(name)
    other.make(other.arms[name], may_write=False)
    for run in other.arms[name]:
        run.job.checkpoint.unlink(missing_ok=True)
    return other.table().replace({"arm": {name: NEW}})


def _chosen(evaluators, names):
    """Return the evaluators that can measure here, of some names if any is given."""
    measurable = _measurable(evaluators)
    return [evaluator for evaluator in measurable if not names or evaluator.name in names]


def _alone(study, arms):
    """Return a copy of a study with some arms, that need not be what its profile states."""
    other = copy.copy(study)
    other.setup = Setup(study.profile)
    other.arms = dict(arms)
    other.derivations = defaultdict(list, study.derivations)
    other._planned = {}
    other._tables = {}
    other._done = set(arms)  # the recorded runs as they are ...
    other._own = []  # ... and no others
    return other


def variant(what: str, *studies, runs: int = 0, **changes) -> Answer:
    """Train an arm with other parameters and fresh seeds, and set its verdicts beside the old ones.

    Parameters
    ----------
    what : str
        Study and arm, "connect4/FARL"; the number of a run behind them does not count.
    studies : Study
        Of your own, whose names count before those of the notebooks.
    runs : int
        How many (default: as many as the arm has if they take minutes, else three).
    changes
        Parameters of the learner, or `episodes`.
    """
    study, arm, _ = named(what, *studies)
    job = study.arms[arm][0].job
    _check_changes(job, changes)
    label = _changes_in_words(changes)
    title = f"{study.name}/{arm} with {label}"
    runs, seconds = _number_and_cost(study, arm, runs, changes)
    cost = f"about {duration(seconds)} of CPU time, as the recorded ones took"
    if math.isnan(seconds):
        cost = "of unknown cost"
    print(f"{title}: {runs} runs with fresh seeds, {cost}; none is recorded.", flush=True)
    results = afresh(study, arm, runs, **changes)
    old = results[results["arm"] == arm]
    new = results[results["arm"] == NEW].assign(arm=arm)
    if new.empty:
        reasons = " ".join(dict.fromkeys(job.lacking.values()))
        raise ValueError(f"{title} has no result that can be measured here. {reasons}")
    return _answer(study, arm, old, new, runs, label, studies)


def _answer(study, arm, old, new, num_new, label, studies) -> Answer:
    """Return what the runs of a variant did, beside the recorded ones of its arm."""
    place = f"{study.name}/{arm}"
    table = verdicts(study, arm, old, new, studies)
    if table.empty:
        table = _means(old, new)
        conclusion = f"No published value and no statement rests on {place}."
    else:
        num_different = (table["verdict"] != table["new verdict"]).sum()
        conclusion = f"{num_different} of {len(table)} verdicts differ."
        num_old = old["run"].nunique()
        if num_new < num_old:
            conclusion += (
                f" {num_old} runs are recorded, and these are {num_new}: more decide more."
            )
    lines = [_in_lines(row, label) for row in table.to_dict("records")]
    text = "\n".join([*lines, conclusion])
    print(text, flush=True)
    figure, data = _beside(old, new, label, place)
    caption = f"The recorded runs of {place}, and {num_new} with {label} and seeds of their own."
    return Answer(text, False, figure, data, caption, table)


def _changes_in_words(changes):
    return ", ".join(f"{name}={value}" for name, value in changes.items())


def _check_changes(job, changes):
    """Raise ValueError unless something changes, to a value that the learner takes."""
    if not changes:
        raise ValueError("name a parameter that is to be otherwise, such as alpha=0.5")
    learned = {name: value for name, value in changes.items() if name != "episodes"}
    check_parameters(job.learner.PARAMETERS, learned)
    present = job.parameters | {"episodes": job.episodes}
    if all(present[name] == value for name, value in changes.items()):
        stated = _changes_in_words(changes)
        raise ValueError(f"{job.study}/{job.arm} has {stated} already; name another value")


def _number_and_cost(study, arm, number, changes):
    """Return how many runs a variant has, and their CPU seconds in all, nan if unknown."""
    recorded = study.arms[arm]
    job = recorded[0].job
    costs = study.costs(arm)
    cost = costs.until(job, changes.get("episodes", job.episodes)) + costs.final
    if not number:
        num_recorded = sum(run.job.key in run.records for run in recorded)
        num_cheap = int(CHEAP / cost) if cost else 0
        number = max(LEAST, min(num_recorded, num_cheap))
    if not cost:
        return number, math.nan
    return number, number * cost


def last_values(table) -> dict:
    """Return study, arm, columns -> the values of the runs at the last episode of each."""
    last = table.groupby(["arm", "run"]).episode.transform("max")
    return {place: rows.value for place, rows in by_columns(table[table.episode == last]).items()}


def _means(old, new):
    """Return the mean results of recorded and new runs of an arm, beside each other."""
    new_values = last_values(new)
    rows = []
    for place, values in last_values(old).items():
        _, _, columns = place
        row = {"what": in_words(columns), "recorded": _mean_in_words(values), "variant": None}
        if place in new_values:
            row["variant"] = _mean_in_words(new_values[place])
        rows.append(row)
    return pd.DataFrame(rows)


def _mean_in_words(values):
    return f"{values.mean():.6g} ({len(values)} runs)"


def _in_lines(row, label):
    """Return a row of a table of verdicts, or of means, as three lines of text."""
    title = row["what"]
    if row.get("printed"):
        title += f": printed {row['printed']}"
    recorded = _verdict_and_number(row.get("verdict"), row.get("recorded"))
    new = _verdict_and_number(row.get("new verdict"), row.get("variant"))
    return f"{title}\n    recorded: {recorded}\n    {label}: {new}"


def _verdict_and_number(*texts):
    return ": ".join(filter(None, texts))


def _beside(old, new, label, place):
    """Draw the curves of the recorded runs of an arm, and of its variant."""
    from .reports.figures import learning_curves  # needs an extra

    # The longest curve, of a rate if there is one.
    lengths = {}
    for (_, _, columns), rows in by_columns(new).items():
        is_rate = in_percent(dict(columns)["measure"])
        lengths[columns] = (rows["episode"].nunique(), is_rate)
    columns = dict(max(lengths, key=lengths.get))
    _, _, arm = place.partition("/")
    lines = (f"{arm}, recorded", f"with {label}")
    tables = []
    for table, line in zip((old, new), lines):
        tables.append(select(table, **columns).assign(arm=line))
    possible = (0.0, 100.0) if in_percent(columns["measure"]) else None
    options = {"title": place, "label": in_words(columns), "score_axis": False}
    return learning_curves(joined(tables), lines, possible=possible, **options)


# Verdicts that rest on an arm


def verdicts(study, arm, old, new, studies=()) -> pd.DataFrame:
    """Return what is printed, and ours with its verdict, by recorded and by new runs of an arm."""
    recorded = by_columns(old)
    changed = by_columns(new)
    rows = []
    for paper in claims.all().values():
        for claim, words in _claims(paper, study.name, arm):
            before = row_of(claim, recorded)
            after = row_of(claim, changed)
            rows.append(
                {
                    "what": words,
                    "printed": before["printed"],
                    "recorded": before["ours"],
                    "verdict": before["verdict"],
                    "variant": after["ours"],
                    "new verdict": after["verdict"],
                }
            )
        if not study.quick:
            rows += _statements(paper, study, arm, recorded, changed, studies)
    columns = ["what", "printed", "recorded", "verdict", "variant", "new verdict"]
    return pd.DataFrame(rows, columns=columns)


def _claims(paper, study, arm):
    """Yield the targets that an arm answers, as the text is read or in another reading."""
    for claim in paper.claims:
        if claim.target and claim.select and (claim.study, claim.arm) == (study, arm):
            yield claim, f"{paper.key}, {claim.where}"
        for reading in claim.readings:
            if _names(reading, study, arm):
                where = {name: reading[name] for name in ("study", "arm", "select")}
                words = f"{paper.key}, {claim.where}, when {reading['says']}"
                yield replace(claim, needs=None, **where), words


def _statements(paper, study, arm, recorded, changed, studies):
    """Yield the statements that rest on an arm, by its recorded and its new runs.

    All of the paper are judged, since one correction covers them; so the others' arms are needed.
    """
    rest_on_arm = [_rests_on(statement, study.name, arm) for statement in paper.statements]
    if not any(rest_on_arm):
        return
    others = _rows_of_other_arms(paper, study, arm, studies)
    before = judge(paper.statements, _values_in(ChainMap(recorded, others)), errors.known())
    after = judge(paper.statements, _values_in(ChainMap(changed, others)), errors.known())
    for statement, rests, old, new in zip(
        paper.statements, rest_on_arm, before, after, strict=True
    ):
        if rests:
            yield {
                "what": f"{paper.key}, {statement.where}: {statement.tested}",
                "printed": "",
                "recorded": old.number or old.sentence,
                "verdict": old.verdict,
                "variant": new.number or new.sentence,
                "new verdict": new.verdict,
            }


def _rows_of_other_arms(paper, study, arm, studies):
    """Return the results on which statements of a paper rest, by columns, without those of an arm.

    `studies` of one's own count before those of the notebooks.
    """
    all_series = itertools.chain.from_iterable(map(_series, paper.statements))
    needed = {one["study"] for one in all_series}
    in_notebooks, _ = collect(find())
    used = {}
    for each in (*in_notebooks, *studies, study):
        if each.name in needed:
            used[each.name] = each
    tables = [_alone(each, each.arms).table() for each in used.values()]
    rows = by_columns(joined(tables))
    return {place: group for place, group in rows.items() if place[:2] != (study.name, arm)}


def _values_in(rows):
    """Return the function with which statements ask for the values of runs."""

    def values(study, arm, columns, which):
        place = (study, arm, key(columns))
        return final_values(rows[place], which) if place in rows else {}

    return values


def _rests_on(statement, study, arm):
    return any(_names(one, study, arm) for one in _series(statement))


def _series(statement):
    """Return the series of runs on which a statement rests."""
    used = list(itertools.chain.from_iterable(map(series, statement.parts)))
    subtracted = [one["less"] for one in used if "less" in one]
    return used + subtracted


def _names(one, study, arm):
    return (one["study"], one["arm"]) == (study, arm)
