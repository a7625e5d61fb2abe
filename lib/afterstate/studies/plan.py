"""What is recorded, what is missing and what it would cost.

And which runs a budget of CPU time is spent on.
"""

import random
import time

from .identity import evaluator_identity, lacks, learner_identity
from .run_states import unmeasured
from .progress import clock
from .runs import measure, probe, short_version

# measured here for lack of records: {what: CPU seconds per episode, or per evaluation}
_sampled = {}


def estimate(outcome, key: str) -> float:
    """Return the CPU seconds that a missing record of a run would cost, from the records of like ones or a short sample."""
    job = outcome.job
    if key == job.key:
        like = [
            r
            for r in outcome.study.records.all("train")
            if r["learner"] == learner_identity(job.learner) and r["game"] == job.game.identity
        ]
        costs = [
            r["cost"]["cpu_seconds"] / r["episodes"]
            for r in [r for r in like if r["arm"] == job.arm] or like
        ]
        return job.episodes * (sum(costs) / len(costs) if costs else _sample(job, None))
    kind, evaluator = next((kind, e) for kind, e, k in job.evaluations if k == key)
    points = -(-job.episodes // job.every) if kind == "curve" else 1
    like = [
        r
        for r in outcome.study.records.all("eval")
        if r["evaluator"] == evaluator_identity(evaluator)
    ]
    costs = [r["cost"]["cpu_seconds"] / len(r["points"]["episode"]) for r in like]
    return points * (sum(costs) / len(costs) if costs else _sample(job, evaluator))


def _sample(job, evaluator):
    """Return CPU seconds per episode of training, or per evaluation of an untrained network."""
    what = (job.study, job.arm, evaluator and evaluator_identity(evaluator)["name"])
    if evaluator and lacks(evaluator):
        return 0.0  # unknown here
    if what not in _sampled:
        session = job.session()
        session.train(1)  # compiles, as the probe does
        if evaluator:
            probe(job, evaluator)
            short = short_version(evaluator)
            _, seconds = measure(job, short, session.net, 1)
            _sampled[what] = seconds * (
                evaluator.extent(job.game) / short.extent(job.game)
                if hasattr(evaluator, "extent")
                else 1
            )
        else:
            began, chunk = time.process_time(), 1
            while time.process_time() - began < 0.2 and session.episode < job.episodes:
                session.train(chunk)
                chunk *= 2
            _sampled[what] = (time.process_time() - began) / max(session.episode - 1, 1)
    return _sampled[what]


def missing_cost(outcome) -> float:
    """Return the CPU seconds that finish a run: what has no record and can be made here, and the training if weights or a curve need it."""
    due = outcome.due
    if due and outcome.job.key not in due and not outcome.job.checkpoint.exists():
        due.append(outcome.job.key)
    return sum(estimate(outcome, key) for key in due)


def recorded_cost(outcome) -> float:
    """Return the CPU seconds that the records of a run say it took."""
    return sum(r["cost"]["cpu_seconds"] for r in outcome.stored.values())


def select(outcomes: list, budget: float, seed: int) -> dict:
    """Choose what a budget is spent on: one recorded run per paper, drawn at random, then missing runs, the cheapest first.

    Parameters
    ----------
    outcomes : list of RunState
        From the notebooks' code in :func:`afterstate.studies.study.planning`.
    budget : float
        CPU seconds; infinity takes everything.
    seed : int
        Of the draw.

    Returns
    -------
    dict
        ``{"again": keys of recorded runs to repeat, "missing": keys of runs to make, "seconds":
        expected cost}``
    """
    draw, spent, again, missing = random.Random(seed), 0.0, [], []
    outcomes = [o for o in outcomes if not o.job.lacks]
    for paper in sorted({o.study.paper or "" for o in outcomes}):
        fitting = sorted(
            (
                o
                for o in outcomes
                if (o.study.paper or "") == paper
                and o.complete
                and recorded_cost(o) <= budget - spent
            ),
            key=lambda o: o.job.key,
        )
        if fitting:
            chosen = draw.choice(fitting)
            again.append(chosen.job.key)
            spent += recorded_cost(chosen)
    for cost, key in sorted((missing_cost(o), o.job.key) for o in outcomes if not o.complete):
        if spent + cost <= budget:
            missing.append(key)
            spent += cost
    return {"again": again, "missing": missing, "seconds": spent}


def lines(outcomes: list) -> list[str]:
    """Return the plan as text: for each study and arm what is recorded, what is missing and the CPU minutes of both; then what lacks something here."""
    arms = {}
    for outcome in outcomes:
        arms.setdefault((outcome.job.study, outcome.job.arm), []).append(outcome)
    wide = [2 + max(map(len, names)) for names in zip(("study", "arm"), *arms)]
    text = [
        f"{'study':<{wide[0]}}{'arm':<{wide[1]}}{'runs':>5}{'recorded':>10}{'CPU time':>10}{'missing':>9}{'CPU time':>10}"
    ]
    total_recorded = total_missing = 0.0
    for (study, arm), members in arms.items():
        recorded, lacking = (
            [o for o in members if o.complete],
            [o for o in members if not o.complete],
        )
        have, need = sum(map(recorded_cost, recorded)), sum(map(missing_cost, lacking))
        text.append(
            f"{study:<{wide[0]}}{arm:<{wide[1]}}{len(members):>5}{len(recorded):>10}{clock(have):>10}{len(lacking):>9}{clock(need):>10}"
        )
        total_recorded, total_missing = total_recorded + have, total_missing + need
    text.append(
        f"In all {len(outcomes)} runs: {clock(total_recorded)} of CPU time are recorded (on the"
        f" machines of the records), {clock(total_missing)} are missing."
    )
    blocked = {}
    for outcome in outcomes:
        if outcome.job.lacks and outcome.due:
            blocked.setdefault((outcome.job.study, outcome.job.lacks), []).append(outcome)
    text += [
        f"Not trained here: {study} ({len(members)} runs): needs {reason}"
        for (study, reason), members in blocked.items()
    ]
    for study in dict.fromkeys(study for study, _ in arms):
        members = [o for o in outcomes if o.job.study == study and not o.job.lacks]
        text += [
            f"Not measured here: {study}, {what}: needs {reason}"
            for what, reason in unmeasured(members)
        ]
    return text
