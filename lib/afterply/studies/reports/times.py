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

TRAINING = "training"
ALL_OF_IT = "all of it"
MIN_AGENTS = 3  # for an interval
NOT_YET = ("not measured yet", "not measured yet")


def seconds(arm, runs) -> dict:
    """Return player -> run -> CPU seconds of a move, also of TRAINING; ALL_OF_IT in total."""
    seconds_of_player = {}
    for row in runs[runs["arm"] == arm].dropna(subset="cpu_seconds").itertuples():
        is_training = row.kind == "train"
        player = TRAINING if is_training else row.evaluator.removeprefix("moves of ")
        if is_training:
            seconds_of_player.setdefault(ALL_OF_IT, {})[row.run] = row.cpu_seconds
        if row.moves and row.moves > 0:  # only some evaluations count their moves
            seconds_of_player.setdefault(player, {})[row.run] = row.cpu_seconds / row.moves
    return seconds_of_player


def on_one_processor(runs):
    """Return those runs that the processor with most records made, and its name.

    Seconds of two kinds of processor are different things; a mean of both is of neither.
    """
    num_records = runs["machine"].value_counts()
    processor = num_records.index[0] if len(num_records) else "none yet"
    return runs[runs["machine"] == processor], processor


def ratio_of_means(per_run, player, other):
    """Return the ratio of the mean times of two players, and of how many agents it is.

    per_run: of :func:`seconds`. Agents differ in their machines, so both times of an agent belong
    together. The t interval is that of the residuals: what is left of each agent's time once the
    ratio is known. Without an agent that has both times the ratio is None.
    """
    runs = sorted(set(per_run.get(player, {})) & set(per_run.get(other, {})))
    if not runs:
        return None, 0
    times = np.array([per_run[player][run] for run in runs])
    times_of_other = np.array([per_run[other][run] for run in runs])
    ratio = times.mean() / times_of_other.mean()
    residuals = (times - ratio * times_of_other) / times_of_other.mean()
    _, low, high = mean_interval(ratio + residuals)
    return Interval(float(ratio), low, high), len(runs)


def ours_of(claim, claims, runs):
    """Return our number beside a printed time, as a short text and as a full one.

    Parameters
    ----------
    claim : Claim
        The printed time. Its `timed` says what kind it is, as the head of this module lists them.
    claims : list of Claim
        All claims of the paper: one of them is the printed time of the player it compares with.
    runs : DataFrame
        The runs of the study, with their CPU seconds and numbers of moves.

    Returns
    -------
    tuple of two str, or None
        NOT_YET if no record states the seconds that are needed; None if the claim is no time.

    Raises
    ------
    ValueError
        If `timed` names no kind that there is.
    """
    if not claim.timed:
        return None
    # Only the costs that records state are read: pages are the same on every machine.
    per_run = seconds(claim.arm, runs[runs["provenance"] == RECORDED])
    trainings = list(per_run.get(ALL_OF_IT, {}).values())
    kind = claim.timed["what"]
    if kind == "training":
        return _training(claim, trainings) if trainings else NOT_YET
    player = claim.timed.get("player", TRAINING)
    than = claim.timed.get("than", TRAINING)
    ratio, num_agents = ratio_of_means(per_run, player, than)
    if not num_agents:
        return NOT_YET
    if kind == "move":
        return _move(claim, claims, per_run[player], ratio, num_agents)
    if kind == "factor":
        return _factor(ratio, num_agents)
    if kind == "searched training":
        return _searched_training(claim, trainings, ratio, num_agents)
    raise ValueError(f"{claim.where}: there is no kind of time {kind!r}")


def _training(claim, trainings):
    """Return the time of all trainings of a claim, in short and in full."""
    num_agents = claim.timed.get("agents", 1)
    seconds_of_one = mean_interval(trainings).mean
    total = duration(num_agents * seconds_of_one)
    full = total
    if num_agents > 1:
        full += f", {num_agents} agents at {duration(seconds_of_one)}"
    return total, f"{full} ({len(trainings)} recorded)"


def _factor_of_search(ratio):
    """Return by what factor a training takes longer if every move of it is searched as well.

    ratio: the time t_s of a searched move, by the time t of a move of the training without search.
    """
    # A training with search does all that the one without does, and searches besides. So one move
    # of it takes t + t_s, and the factor is (t + t_s) / t = 1 + t_s / t.
    return Interval(1 + ratio.mean, 1 + ratio.low, 1 + ratio.high)


def _factor(ratio, num_agents):
    """Return by what factor a training with search takes longer, in short and in full."""
    factor = _factor_of_search(ratio)
    full = _in_words(factor, num_agents, least=1.0, decimals=0)
    return f"{factor.mean:,.0f}", full


def _searched_training(claim, trainings, ratio, num_agents):
    """Return the time of all trainings of a claim with search, in short and in full."""
    factor = _factor_of_search(ratio)
    training_seconds = claim.timed.get("agents", 1) * mean_interval(trainings).mean
    total = duration(factor.mean * training_seconds)
    product = f"{factor.mean:,.0f} × {duration(training_seconds)}"
    return total, f"{total}: {product} ({_agents(num_agents)})"


def _move(claim, claims, seconds_of_run, ratio, num_agents):
    """Return a player's time of a move as a multiple of another's, in short and in full."""
    player = claim.timed["player"]
    than = claim.timed["than"]
    if player == than:
        mean = mean_interval(list(seconds_of_run.values())).mean
        milliseconds = f"{plain(1000 * mean)} ms"
        return f"1 ({milliseconds})", f"the unit: {milliseconds} ({_agents(num_agents)})"
    name = than.split("-")[0]
    printed = f"{claim.value / _printed_beside(claim, claims, than):.2g}"
    full = f"× {name}: {_in_words(ratio, num_agents)}, printed {printed}"
    return f"{ratio.mean:.2g} × {name} ({printed})", full


def _printed_beside(claim, claims, player):
    """Return the printed time of a move of another player, in the same row of the same table."""
    values = []
    for other in claims:
        if not other.timed or other.timed["what"] != "move":
            continue
        same_player = other.timed.get("player") == player
        same_table = other.place.get("table") == claim.place.get("table")
        same_row = other.place.get("row") == claim.place.get("row")
        if same_player and same_table and same_row:
            values.append(other.value)
    (value,) = values
    return value


def _in_words(interval, num_agents, least=0.0, decimals=None):
    """Return a ratio with its interval, which few agents do not have, and the number of agents."""
    mean, low, high = interval
    if num_agents < MIN_AGENTS:
        (text,) = together([mean], decimals=decimals)
    else:
        # A ratio is at least `least`, whatever the t interval of few agents says.
        text = with_interval(mean, max(least, low), high, decimals=decimals)
    return f"{text} ({_agents(num_agents)})"


def _agents(number):
    unit = "agent" if number == 1 else "agents"
    return f"{number} {unit}"
