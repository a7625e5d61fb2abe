"""Printed times beside ours, as ratios: what the search costs in play and would in training.

Milliseconds of two machines cannot be compared, ratios of two players on one machine rather. So a
time of a move stands as a multiple of that of another player, and that of a training with a search
in it as a multiple of the training without. Only the costs that records state are read, so that
the pages are the same on every machine. Nothing is judged.

A claim says in ``timed`` what it is:

    what: move                a move of `player`, as a multiple of one of the player `than`
    what: training            the training of `agents` agents
    what: factor              that of a training whose moves are those of `player`, by that without
    what: searched training   the time that all `agents` agents would take so

Source: [scheiermann2022] Sec. IV-D, Tables III and IV.
"""

from typing import NamedTuple

from ..digits import plain, together, with_interval
from ..stats import Interval, mean_interval
from .sources import OF_RECORDS, duration
from .times import ALL_OF_IT, TRAINING, ratio_of_means, seconds

MIN_AGENTS = 3  # for an interval
DAY = 24 * 3600.0


class Ours(NamedTuple):
    """Our number beside a printed time: the shortest text, and all there is to say."""

    short: str
    full: str


NOT_YET = Ours("not measured yet", "not measured yet")


def ours(claim, claims, runs, results) -> Ours | None:
    """Return our number for a printed time.

    Parameters
    ----------
    claim : papers.Claim
    claims : list of papers.Claim
        Of its paper: where the time of the other player is printed.
    runs, results : DataFrame or None
        Of its study.

    Returns
    -------
    Ours or None
        None if the claim is not `timed`.
    """
    if not claim.timed:
        return None
    per_run = seconds(claim.arm, runs, results, OF_RECORDS)
    what, player = claim.timed["what"], claim.timed.get("player", "")
    if what == "move":
        return _move(claim, claims, per_run)
    trainings, agents = list(per_run.get(ALL_OF_IT, {}).values()), claim.timed.get("agents", 1)
    if what == "training":
        return _training(trainings, agents)
    more, number = ratio_of_means(per_run, player, TRAINING)
    if not number:
        return NOT_YET
    factor = Interval(*(1 + bound for bound in more))
    if what == "factor":
        return Ours(f"{factor.mean:,.0f}", _in_words(factor, number, 1.0, 0))
    each = span(mean_interval(trainings).mean * agents)
    text = span(factor.mean * mean_interval(trainings).mean * agents)
    return Ours(text, f"{text}: {factor.mean:,.0f} × {each} ({_agents(number)})")


def _move(claim, claims, per_run):
    player, than = claim.timed["player"], claim.timed["than"]
    times = list(per_run.get(player, {}).values())
    if player == than:
        if not times:
            return NOT_YET
        milliseconds = f"{plain(1000 * mean_interval(times).mean)} ms"
        return Ours(f"1 ({milliseconds})", f"the unit: {milliseconds} ({_agents(len(times))})")
    ratio, number = ratio_of_means(per_run, player, than)
    if not number:
        return NOT_YET
    name = than.split("-")[0]
    printed = next(c.value for c in claims if _same_row(c, claim) and c.timed["player"] == than)
    theirs, said = f"{claim.value / printed:.2g}", _in_words(ratio, number)
    short = f"{ratio.mean:.2g} × {name} ({theirs})"
    return Ours(short, f"× {name}: {said}, printed {theirs}")


def _same_row(one, other):
    return (
        (one.timed or {}).get("player") is not None
        and one.timed["what"] == other.timed["what"]
        and (one.place.get("table"), one.place.get("row"))
        == (other.place.get("table"), other.place.get("row"))
    )


def _training(times, agents):
    if not times:
        return NOT_YET
    each = mean_interval(times).mean
    of = f", {agents} agents at {span(each)}" if agents > 1 else ""
    return Ours(span(agents * each), f"{span(agents * each)}{of} ({len(times)} recorded)")


def _in_words(interval, number, least=0.0, decimals=None):
    mean, low, high = interval
    if number < MIN_AGENTS:
        return f"{together([mean], decimals=decimals)[0]} ({_agents(number)})"
    # below `least` there is nothing, whatever the t interval of few agents says
    text = with_interval(mean, max(least, low), high, decimals=decimals)
    return f"{text} ({_agents(number)})"


def _agents(number):
    return f"{number} agent{'s' if number != 1 else ''}"


def span(length) -> str:
    """Return CPU seconds in the unit that suits them, up to years.

    >>> span(1219), span(12190), span(79 * 86400), span(3.3 * 365 * 86400)
    ('20 min', '3.4 h', '79 days', '3.3 years')
    """
    days = length / DAY
    if days < 2:
        return duration(length)
    return f"{days:.2g} days" if days < 365 else f"{days / 365:.2g} years"
