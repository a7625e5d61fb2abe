"""Times of a move and of a training beside those of a paper, as ratios.

Milliseconds of two machines cannot be compared, ratios on one machine can. Nothing is judged. A
claim says in ``timed`` what it is:

    what: move                a move of `player`, as a multiple of one of the player `than`
    what: training            the training of `agents` agents
    what: factor              that of a training whose moves are those of `player`, by that without
    what: searched training   the time that all `agents` agents would take so

Source: [scheiermann2022] Sec. IV-D, Tables III and IV.
"""

import numpy as np

from ...stats import Interval, mean_interval, plain, together, with_interval
from ..sources import RECORDED, duration

TRAINING, ALL_OF_IT = "training", "all of it"
MIN_AGENTS = 3  # for an interval
NOT_YET = ("not measured yet", "not measured yet")


def seconds(arm, runs) -> dict:
    """Return player -> run -> CPU seconds of a move, also of TRAINING; ALL_OF_IT in total."""
    found = {}
    for row in runs[runs["arm"] == arm].dropna(subset="cpu_seconds").itertuples():
        player = TRAINING if row.kind == "train" else row.evaluator.removeprefix("moves of ")
        if row.kind == "train":
            found.setdefault(ALL_OF_IT, {})[row.run] = row.cpu_seconds
        if row.moves and row.moves > 0:  # of an evaluation: only one that counts moves
            found.setdefault(player, {})[row.run] = row.cpu_seconds / row.moves
    return found


def on_one_processor(runs):
    """Return those runs that the processor with most records made, and its name.

    Seconds of two kinds of processor are different things; a mean of both is of neither.
    """
    counted = runs["machine"].value_counts()
    processor = counted.index[0] if len(counted) else "none yet"
    return runs[runs["machine"] == processor], processor


def ratio_of_means(per_run, player, other):
    """Return the ratio of the mean times of two players, and of how many agents it is."""
    # agents differ in their machines, so both times of an agent belong together: the t interval is
    # that of what is left of each once the ratio is known
    runs = sorted(set(per_run.get(player, {})) & set(per_run.get(other, {})))
    if not runs:
        return None, 0
    upper, lower = (np.array([per_run[name][run] for run in runs]) for name in (player, other))
    ratio = upper.mean() / lower.mean()
    _, low, high = mean_interval(ratio + (upper - ratio * lower) / lower.mean())
    return Interval(float(ratio), low, high), len(runs)


def ours_of(claim, claims, runs):
    """Return our number for a `timed` claim, (the shortest text, all there is to say), or None."""
    # only the costs that records state are read: pages are the same on every machine
    if not claim.timed:
        return None
    per_run = seconds(claim.arm, runs[runs["provenance"] == RECORDED])
    what, agents = claim.timed["what"], claim.timed.get("agents", 1)
    player, than = (claim.timed.get(name, TRAINING) for name in ("player", "than"))
    trainings = list(per_run.get(ALL_OF_IT, {}).values())
    ratio, number = ratio_of_means(per_run, player, than)
    if not (trainings if what == "training" else number):
        return NOT_YET
    if what == "move":
        return _move(claim, claims, per_run[player], ratio, number)
    each = mean_interval(trainings).mean
    alone = duration(agents * each)
    if what == "training":
        of = f", {agents} agents at {duration(each)}" if agents > 1 else ""
        return alone, f"{alone}{of} ({len(trainings)} recorded)"
    factor = Interval(*(1 + bound for bound in ratio))
    if what == "factor":
        return f"{factor.mean:,.0f}", _in_words(factor, number, 1.0, 0)
    searched = duration(factor.mean * (agents * each))
    return searched, f"{searched}: {factor.mean:,.0f} × {alone} ({_agents(number)})"


def _move(claim, claims, spent, ratio, number):
    player, than = claim.timed["player"], claim.timed["than"]
    if player == than:
        each = f"{plain(1000 * mean_interval(list(spent.values())).mean)} ms"
        return f"1 ({each})", f"the unit: {each} ({_agents(number)})"
    (beside,) = [
        other.value
        for other in claims
        if other.timed and (other.timed["what"], other.timed.get("player")) == ("move", than)
        if all(other.place.get(name) == claim.place.get(name) for name in ("table", "row"))
    ]
    name, theirs = than.split("-")[0], f"{claim.value / beside:.2g}"
    full = f"× {name}: {_in_words(ratio, number)}, printed {theirs}"
    return f"{ratio.mean:.2g} × {name} ({theirs})", full


def _in_words(interval, number, least=0.0, decimals=None):
    mean, low, high = interval
    if number < MIN_AGENTS:
        return f"{together([mean], decimals=decimals)[0]} ({_agents(number)})"
    # below `least` there is nothing, whatever the t interval of few agents says
    text = with_interval(mean, max(least, low), high, decimals=decimals)
    return f"{text} ({_agents(number)})"


def _agents(number):
    return f"{number} agent{'s' if number != 1 else ''}"
