"""Question a verdict: recorded runs trained again from nothing, and variants of an arm.

::

    again("connect4/FARL/3")      # one recorded run: do all its numbers come out?
    again("connect4/FARL")        # every run of the arm
    variant("connect4/FARL", distinct_symmetries=False)    # what if this were otherwise?

Nothing is recorded, and what the cache holds of recorded runs stays as it is. What was stopped goes
on at the next call.
"""

import copy
import difflib
import math
from collections import defaultdict
from dataclasses import dataclass, replace

import pandas as pd

from ..learners.parameters import check_parameters
from ..opponents import optional
from .explore import costs_of
from .notebooks import collect, find
from .papers import claims, errors
from .papers.compare import final_values, row_of
from .papers.statements import judge, series
from .profiles import Setup
from .records import same_results
from .results import Collected, by_columns, in_percent, in_words, joined, key, select
from .runs import Run, where_to_work, work
from .sources import duration

CHEAP = 300.0  # CPU seconds up to which a variant has as many runs as its arm, at least LEAST
LEAST = 3  # runs, of which a verdict can be asked
APART = "again"  # the folder of the cache for runs that are nobody's record
NEW = "new"  # the arm of runs with fresh seeds


@dataclass(frozen=True, eq=False)
class Answer:
    """What came out: in words, as a figure with its numbers, and as a table of verdicts."""

    text: str
    differs: bool = False  # from the records
    figure: object = None
    data: pd.DataFrame | None = None
    caption: str = ""
    table: pd.DataFrame | None = None  # of a variant

    def _repr_html_(self):
        svg = self.figure.svg() if self.figure else ""
        table = "" if self.table is None else self.table.to_html(index=False)
        return f"{svg}<p>{self.caption}</p>{table}"


# Which study, arm and run a text names


def named(text: str, *studies) -> tuple:
    """Return study, arm and number that a text names: "connect4/FARL/3"; None without a number.

    `studies` are asked before those of the notebooks. ValueError says which names are near.
    """
    name, _, rest = (part.strip() for part in text.partition("/"))
    if not name or not rest:
        raise ValueError(f"{text!r} is not of the form STUDY/ARM or STUDY/ARM/RUN: connect4/FARL/3")
    study = _study(name, studies)
    head, _, last = (part.strip() for part in rest.rpartition("/"))
    number = last.removeprefix("run").strip()  # as in "tictactoe / FARL / run 0"
    if rest in study.arms:
        return study, rest, None
    arm = head if head in study.arms or head and number.isdigit() else rest
    if arm not in study.arms:
        raise ValueError(f"study {name!r} has no arm {arm!r}: {_near(arm, study.arms)}")
    most = len(study.arms[arm]) - 1
    if not number.isdigit() or int(number) > most:
        raise ValueError(f"{name}/{arm} has no run {number!r}: its runs are 0 to {most}")
    return study, arm, int(number)


def _study(name, given):
    known = {study.name: study for study in given}
    if name in known:
        return known[name]
    for path in find():
        found = {study.name: study for study in collect([path])[0]}
        if name in found:
            return found[name]
        known |= found
    raise ValueError(f"there is no study {name!r}: {_near(name, known)}")


def _near(word, known):
    lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), lower, 3)
    if found:
        return f"did you mean {' or '.join(repr(lower[name]) for name in found)}?"
    return f"there are {', '.join(known)}"


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
    place, runs = f"{study.name}/{arm}", study.arms[arm]
    chosen = [run for run in runs if number in (None, run.job.run) and run.records]
    if not chosen:
        one = place if number is None else f"{place}/{number}"
        raise ValueError(f"{one} is not recorded: there is nothing that it could differ from")
    cost = duration(sum(map(recorded_cost, chosen)))
    of = f"run {number}" if number is not None else f"{len(chosen)} of {len(runs)} runs"
    print(f"{place}, {of}: again from nothing, {cost} of CPU time when recorded.", flush=True)
    made = made_again(chosen, study.workers, study.dask)
    told = {run: differences(run, records) for run, records in made.items()}
    wrong = [run for run in chosen if told[run][1]]
    lines = [line for run in chosen for line in _told(run, *told[run], number is None)]
    same = "IDENTICAL" if number is not None else f"{len(chosen) - len(wrong)} identical"
    last = f"{same}: all weights and results are those of the record."
    if wrong:
        last = f"DIFFERS: {', '.join(f'{place}/{run.job.run}' for run in wrong)}"
        last += f" ({len(chosen) - len(wrong)} identical)" if number is None else ""
    text = "\n".join([*lines, last])
    print(text, flush=True)
    figure, data, caption = _among(place, runs, made, wrong)
    return Answer(text, bool(wrong), figure, data, caption)


def recorded_cost(run) -> float:
    """Return the CPU seconds of all records of a run."""
    return sum(record["cost"]["cpu_seconds"] for record in run.records.values())


def made_again(runs, workers=None, dask=None) -> dict:
    """Train and evaluate runs again, from nothing; return run -> its new records by key."""
    fresh = {Run(_apart(run.job), {}): run for run in runs}
    work(list(fresh), lambda run, records: None, *where_to_work(workers, dask))
    for one in fresh:
        one.job.checkpoint.unlink(missing_ok=True)
    return {run: one.records for one, run in fresh.items()}


def _apart(job):
    """Return the same job with a cache of its own, and what can be measured here."""
    curve, final = map(_measurable, (job.curve, job.final))
    return replace(job, cache=job.cache / APART, curve=curve, final=final, alike={})


def _measurable(evaluators):
    needs = {one: getattr(one, "needs", "") for one in evaluators}
    return tuple(one for one, name in needs.items() if not (name and optional.lacks(name)))


def differences(run, new) -> tuple[list, list]:
    """Return lines on what of a run is as recorded or cannot be known, and on what differs."""
    same, wrong, job = [], [], run.job
    for name in job.keys[:1] if run.diverged else job.keys:
        kind, what = job.what(name)
        words = "weights" if kind == "train" else f"{what}, {kind}"
        old, made = run.records.get(name), new.get(name)
        if old is None:
            same.append(f"{words}: not recorded")
        elif made is None and not new.get(job.key, {}).get("diverged"):
            same.append(f"{words}: not measured here, {job.lacking.get(name, 'not due')}")
        elif made is None or not same_results(old, made) or _end(old) != _end(made):
            wrong.append(f"{words}: DIFFERS, {first_difference(old, made or {})}")
        else:
            number = len(old.get("episode", ()))
            more = f"{number} points" if number > 1 else _end(old)
            same.append(f"{words}: as recorded{f' ({more})' if more else ''}")
    return same, wrong


def _end(record):
    """Return the checksum with which a training ended, or why it has none."""
    return (record["checksum"] or record.get("diverged")) if record["kind"] == "train" else ""


def first_difference(old: dict, new: dict) -> str:
    """Return in words where two records of one key begin to differ."""
    points, others = _points(old), _points(new)
    places = [place for place in {**points, **others} if points.get(place) != others.get(place)]
    if not places:
        end = "" if old["kind"] == "train" else "its numbers are equal, but "
        ends = [one.get("diverged") or f"the checksum {one.get('checksum')}" for one in (new, old)]
        return f"{end}it ended with {ends[0]}, recorded is {ends[1]}"
    episode = min(episode for episode, _ in places)
    checkpoints = {episode for episode, _ in points}
    found = [
        f"{in_words(columns)} is {others.get((at, columns))}, recorded {points.get((at, columns))}"
        for at, columns in places
        if at == episode
    ]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    number = len({episode for episode, _ in places})
    of = f"; {number} of {len(checkpoints)} checkpoints differ" if len(checkpoints) > 1 else ""
    return f"first after {episode:,} episodes: {found[0]}{more}{of}"


def _points(record):
    # (episode, columns) -> value
    rows = zip(record.get("rows", ()), record.get("values", ()), strict=True)
    return {
        (episode, key(row)): value
        for row, values in rows
        for episode, value in zip(record["episode"], values, strict=True)
    }


def _told(run, same, wrong, short):
    # of one run all that was compared, of an arm what differs
    name = f"run {run.job.run}: "
    if not short:
        return [*wrong, *same]
    return [name + line for line in wrong] or [name + "as recorded"]


def _among(place, runs, made, wrong):
    """Draw the curves of some runs, made again, among those recorded of their arm."""
    from .reports.among import among  # needs an extra

    recorded = {run: run.records for run in runs if run.records}
    columns = _most_telling([*recorded.items(), *made.items()])
    if columns is None:
        return None, None, ""
    tables = [select(_results(some), **columns) for some in (recorded, made)]
    number = f", run {next(iter(made)).job.run}" if len(made) == 1 else ""
    figure, data = among(*tables, {run.job.run for run in wrong}, in_words(columns), place + number)
    many = "The run that was" if number else "Runs that were"
    caption = f"{many} made again (coloured) among the recorded ones of {place} (grey)."
    caption += " Dashed: as recorded, where it differs." if wrong else ""
    return figure, data, caption


def _results(made):
    found = Collected()
    for run, records in made.items():
        for name in run.job.evaluations:  # curves come first
            if name in records:
                found.add(run.job.run, records[name])
    return found.table()


def _most_telling(made):
    """Return the columns of a row to draw: of the longest curve, a rate if there is one."""
    rows = [
        (len(record["episode"]), in_percent(row["measure"]), row)
        for _, records in made
        for record in records.values()
        for row in record.get("rows", ())
    ]
    return max(rows, key=lambda found: found[:2])[2] if rows else None


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
    name = f"{arm}, {_changes_in_words(changes) or NEW}"  # from which its seeds derive
    what = dict(game=job.game, eval_every=job.every, runs=num, episodes=job.episodes)
    for kind in ("curve", "final"):
        some = _measurable(getattr(job, kind))
        what[kind] = [one for one in some if not evaluators or one.name in evaluators]
    other = _alone(study, {arm: study.arms[arm]})
    other.cache = study.cache / APART
    other.arm(name, job.learner, **job.parameters | what | changes)
    other.derivations |= {one: study.derivations[arm] for one in (arm, name)}
    other._done.add(name)
    other.make(other.arms[name], may_write=False)
    for run in other.arms[name]:
        run.job.checkpoint.unlink(missing_ok=True)
    return other.table().replace({"arm": {name: NEW}})


def _alone(study, arms):
    """Return a copy of a study with some arms, that need not be what its profile states."""
    other = copy.copy(study)
    other.setup = Setup(study.profile)
    other.arms, other._planned, other._tables = dict(arms), {}, {}
    other.derivations = defaultdict(list, study.derivations)
    other._done, other._own = set(arms), []  # the recorded runs as they are, and no others
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
    place, job, label = f"{study.name}/{arm}", study.arms[arm][0].job, _changes_in_words(changes)
    _check_changes(job, changes)
    runs, seconds = _number_and_cost(study.arms[arm], runs, changes)
    known = f"about {duration(seconds)} of CPU time, as the recorded ones took"
    cost = "of unknown cost" if math.isnan(seconds) else known
    print(
        f"{place} with {label}: {runs} runs with fresh seeds, {cost}; none is recorded.", flush=True
    )
    found = afresh(study, arm, runs, **changes)
    old, new = (found[found["arm"] == name].assign(arm=arm) for name in (arm, NEW))
    if new.empty:
        lacks = " ".join(dict.fromkeys(job.lacking.values()))
        raise ValueError(f"{place} with {label} has no result that can be measured here. {lacks}")
    table = verdicts(study, arm, old, new, studies)
    other = (table["verdict"] != table["new verdict"]).sum()
    last = f"{other} of {len(table)} verdicts differ."
    recorded = old["run"].nunique()
    few = f" {recorded} runs are recorded, and these are {runs}: more decide more."
    last += few if runs < recorded else ""
    if table.empty:
        table, last = _means(found), f"No published value and no statement rests on {place}."
    lines = [_in_lines(row, label) for row in table.to_dict("records")]
    text = "\n".join([*lines, last])
    print(text, flush=True)
    figure, data = _beside(old, new, label, place)
    caption = f"The recorded runs of {place}, and {runs} with {label} and seeds of their own."
    return Answer(text, False, figure, data, caption, table)


def _changes_in_words(changes):
    return ", ".join(f"{name}={value}" for name, value in changes.items())


def _check_changes(job, changes):
    if not changes:
        raise ValueError("name a parameter that is to be otherwise, such as alpha=0.5")
    check_parameters(job.learner.PARAMETERS, {n: v for n, v in changes.items() if n != "episodes"})
    now = job.parameters | {"episodes": job.episodes}
    if all(now[name] == value for name, value in changes.items()):
        said = _changes_in_words(changes)
        raise ValueError(f"{job.study}/{job.arm} has {said} already; name another value")


def _number_and_cost(recorded, number, changes):
    """Return how many runs a variant has, and their CPU seconds in all, nan if unknown."""
    costs, job = costs_of(recorded), recorded[0].job
    each = costs.until(job, changes.get("episodes", job.episodes)) + costs.final
    known = sum(run.job.key in run.records for run in recorded)
    number = number or max(LEAST, min(known, int(CHEAP / (each or math.inf))))
    return number, number * (each or math.nan)


def last_values(table) -> dict:
    """Return study, arm, columns -> the values of the runs at the last episode of each."""
    last = table.groupby(["arm", "run"]).episode.transform("max")
    return {place: rows.value for place, rows in by_columns(table[table.episode == last]).items()}


def _means(found):
    values = last_values(found)
    told = {of: f"{some.mean():.6g} ({len(some)} runs)" for of, some in values.items()}
    rows = [
        {"what": in_words(columns), "recorded": text, "variant": told.get((study, NEW, columns))}
        for (study, arm, columns), text in told.items()
        if arm != NEW
    ]
    return pd.DataFrame(rows)


def _in_lines(row, label):
    # of a table of verdicts
    lines = [row["what"] + (f": printed {row['printed']}" if row.get("printed") else "")]
    for name, verdict, of in (
        ("recorded", "verdict", "recorded"),
        ("variant", "new verdict", label),
    ):
        said = [row.get(verdict), row.get(name)]
        lines.append(f"    {of}: {': '.join(text for text in said if text)}")
    return "\n".join(lines)


def _beside(old, new, label, place):
    """Draw the curves of the recorded runs of an arm, and of its variant."""
    from .reports.figures import learning_curves  # needs an extra

    rows = by_columns(new)
    shown = {
        of: (r["episode"].nunique(), in_percent(dict(of[2])["measure"])) for of, r in rows.items()
    }
    columns = dict(max(shown, key=shown.get)[2])
    lines = f"{place.partition('/')[2]}, recorded", f"with {label}"
    tables = [select(t, **columns).assign(arm=a) for t, a in zip((old, new), lines, strict=True)]
    possible = (0.0, 100.0) if in_percent(columns["measure"]) else None
    look = {"title": place, "label": in_words(columns), "score_axis": False, "possible": possible}
    return learning_curves(joined(tables), lines, **look)


# Verdicts that rest on an arm


def verdicts(study, arm, old, new, studies=()) -> pd.DataFrame:
    """Return what is printed, and ours with its verdict, by recorded and by new runs of an arm."""
    both, rows = [by_columns(table) for table in (old, new)], []
    for paper in claims.all().values():
        for claim, words in _claims(paper, study.name, arm):
            before, after = (row_of(claim, found) for found in both)
            row = {"what": words, "printed": before["printed"], "recorded": before["ours"]}
            row |= {"verdict": before["verdict"], "variant": after["ours"]}
            rows.append(row | {"new verdict": after["verdict"]})
        rows += _statements(paper, study, arm, both, studies) if not study.quick else []
    columns = ["what", "printed", "recorded", "verdict", "variant", "new verdict"]
    return pd.DataFrame(rows, columns=columns)


def _claims(paper, study, arm):
    """Yield the targets that an arm answers, as the text is read or in another reading."""
    for claim in paper.claims:
        if claim.target and claim.select and (claim.study, claim.arm) == (study, arm):
            yield claim, f"{paper.key}, {claim.where}"
        for reading in claim.readings:
            if (reading["study"], reading["arm"]) == (study, arm):
                where = {name: reading[name] for name in ("study", "arm", "select")}
                words = f"{paper.key}, {claim.where}, when {reading['says']}"
                yield replace(claim, needs=None, **where), words


def _statements(paper, study, arm, both, given):
    """Yield the statements that rest on an arm, by its recorded and its new runs.

    All of the paper are judged, since one correction covers them; so the others' arms are needed.
    """
    rests = [any(_names(one, study.name, arm) for one in _series(s)) for s in paper.statements]
    if not any(rests):
        return
    needed = {one["study"] for s in paper.statements for one in _series(s)}
    others = {one.name: one for one in (*collect(find())[0], *given, study) if one.name in needed}
    found = by_columns(joined([_alone(one, one.arms).table() for one in others.values()]))
    judged = []
    for own in both:
        rows = {place: r for place, r in found.items() if place[:2] != (study.name, arm)} | own

        def values(name, of, columns, which, rows=rows):
            one = rows.get((name, of, key(columns)))
            return {} if one is None else final_values(one, which)

        judged.append(judge(paper.statements, values, errors.known()))
    for statement, before, after, ours in zip(paper.statements, *judged, rests, strict=True):
        if ours:
            row = {"what": f"{paper.key}, {statement.where}: {statement.tested}", "printed": ""}
            row |= {"recorded": before.number or before.sentence, "verdict": before.verdict}
            row |= {"variant": after.number or after.sentence, "new verdict": after.verdict}
            yield row


def _series(statement):
    found = [one for part in statement.parts for one in series(part)]
    return found + [one["less"] for one in found if "less" in one]


def _names(one, study, arm):
    return (one["study"], one["arm"]) == (study, arm)
