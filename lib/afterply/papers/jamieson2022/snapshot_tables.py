"""Arms, tables and curves of [jamieson2022]: who teaches a Q-table, and what its snapshots do.

Convergence-FS ("fully solved") is the first checkpoint of a training without a loss in 100 games of
the learner as player 1, and none at any later checkpoint up to 5,000 games on.

Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
"""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from ...arena import ratings
from ...learners import tabular
from ...reports.summaries import by_run, finals, shown
from ...stats import fixed, median_interval
from .snapshots import EXTRA, OPPONENTS, OWN, PERFECT, PLAYERS, POINTS, SEATS, ConvergedTeacher

TEACHERS = {  # as Table 2 names them -> parameter `teacher`
    "Q-learning Twin": "twin",
    "Non-deterministic Min-Max": "non-deterministic",
    "Deterministic Min-Max": "deterministic",
    "Random": "random",
    "Fully Converged Q-learning": "converged",
}
PRINTED = dict(zip(TEACHERS, (8000, 6000, 200, 0, 300)))  # N of Table 2, none for a random teacher
OUTCOMES = ("learning agent wins", "draws", "teaching agent wins")


def converged_at(episodes, losses, extra: int = EXTRA, allowed: int = 0) -> int | None:
    """Return the episode of Convergence-FS; None if it was not reached or not followed.

    >>> converged_at([100, 200, 300, 400], [3, 0, 0, 0], extra=200)
    200
    """
    episodes, lost = np.asarray(episodes), np.asarray(losses, float) > allowed
    for k in np.flatnonzero(~lost):
        if episodes[k] + extra > episodes[-1]:
            return None
        if not lost[(episodes >= episodes[k]) & (episodes <= episodes[k] + extra)].any():
            return int(episodes[k])
    return None


def convergence(curve: pd.DataFrame, cap: int, extra: int = EXTRA, seats=("first",)) -> dict:
    """Return convergence_games (at most `cap`) and converged (100 or 0), for ``Study.derive``."""
    # of games against the own teacher in these seats, and " (Nd-Min-Max)" against that, if played
    found = {}
    for opponent in OPPONENTS:
        columns = [f"{opponent}:{seat}:losses" for seat in seats]
        if f"{opponent}:losses" in curve:
            columns = [f"{opponent}:losses"]
        if set(columns) <= set(curve):
            points = curve[columns].dropna()
            at = converged_at(points.index, points.sum(axis=1), extra)
            found |= _result(at, cap, opponent)
    return found


def _names(opponent):
    end = "" if opponent == OWN else f" ({opponent})"
    return f"convergence_games{end}", f"converged{end}"


def _result(found, cap, opponent=OWN):
    converged = found is not None and found <= cap
    return dict(zip(_names(opponent), (found if converged else cap, 100.0 * converged)))


def in_training(curve: pd.DataFrame, cap: int, extra: int = EXTRA, allowed: int = 0) -> dict:
    """Return what training games say: a block of them may have at most `allowed` losses."""
    columns = [f"training:{seat}:losses" for seat in SEATS]
    if not set(columns) <= set(curve):
        return {}
    lost = curve[columns].dropna().sum(axis=1)
    return _result(converged_at(lost.index, lost.diff().fillna(lost), extra, allowed), cap)


def summary(table: pd.DataFrame, arm: str, cap: int, opponent: str = OWN) -> dict:
    """Return "converged" ("k of n"), "median" and "interval" (95%) of an arm's training games."""
    # "> cap" at the cap, "at least" of a median half way from a run that has converged to the cap
    rows = table[table.arm == arm]
    at, reached = (rows[rows.metric == name].value for name in _names(opponent))
    if at.empty:
        return dict.fromkeys(("converged", "median", "interval"), "-")
    capped = (reached < 100).any()
    median, low, high = (
        f"> {cap:,}" if value >= cap and capped else f"{value:,.0f}"
        for value in median_interval(at)
    )
    if np.sort(at)[len(at) // 2] >= cap > np.median(at) and capped:
        median = f"at least {median}"
    return {
        "converged": f"{int((reached > 0).sum())} of {len(reached)}",
        "median": median,
        "interval": f"{low} to {high}" if low != high else low,
    }


def declare_teachers(
    study,
    teachers,
    caps,
    curve,
    *,
    extra=EXTRA,
    seats=("first",),
    named="",
    seeded=None,
    alone=("non-deterministic",),
    of_twin=(),
    shown=True,
    **settings,
):
    """Declare an arm for each of `caps`, judged by its games in some seats."""
    # teachers, caps: arm -> teacher, and training games by which it has to converge; names of arms
    # end with `named`, those that seed them with `seeded` (default: alike); the curve has games
    # with the own teacher first, which are all that pupils of the teachers in `alone` play; it is
    # not in the table if it is not `shown`
    for arm, cap in caps.items():
        teacher = teachers[arm]
        more = dict(of_twin) if teacher == "twin" else {}
        if teacher == "converged" and "teacher_every" in settings:
            more = {"final": [ConvergedTeacher(extra)]}
        more |= {"curve": curve[:1] if teacher in alone else curve, "episodes": cap + extra}
        more["seeded_as"] = arm + (named if seeded is None else seeded)
        study.arm(arm + named, tabular, teacher=teacher, **more, **settings)
        found = partial(convergence, cap=cap, extra=extra, seats=seats)
        study.derive(arm + named, found, curve=shown)


def by_teacher(table, arms, caps, printed, games):
    """Return a row for each arm: printed N, convergence, losses at the end (Tables 2 to 4)."""
    # caps and printed are those of the arms, or of the teachers with whose names theirs begin
    rows, losses = [], [f"{OWN}:{seat}:losses" for seat in SEATS]
    for arm in arms:
        number, cap = (values.get(arm, values[arm.split(", ")[0]]) for values in (printed, caps))
        own, other = (summary(table, arm, cap, who) for who in OPPONENTS)
        mine = table[table.arm == arm]
        taught = mine[mine.metric == "teacher:converged"].value
        lost = 100.0 * finals(mine[mine.metric.isin(losses)]).value.mean() / games
        found = (f"{(taught > 0).sum()} of {len(taught)}" if len(taught) else "-",)
        found += (f"{number:,}" if number else "-", *own.values())
        rows.append((arm, *found, lost, *list(other.values())[:2]))
    columns = ["teacher", "of the teachers converged", "printed N", "converged", "median N"]
    columns += ["95% interval", "lost to the teacher at the end %"]
    columns += [f"converged against {PERFECT}", "median N "]
    return pd.DataFrame(rows, columns=columns)


def point(curve: pd.DataFrame, episode: int, games: int = 100) -> dict:
    """Return wins, draws and losses in the first seat at one checkpoint: for ``Study.derive``."""
    if episode not in curve.index or "own teacher:first:wins" not in curve:
        return {}
    won, lost = (float(curve.loc[episode, f"own teacher:first:{w}"]) for w in ("wins", "losses"))
    counts = {"wins": won, "draws": games - won - lost, "losses": lost}
    return {f"evaluation_{episode}:{what}": count for what, count in counts.items()}


def means(table: pd.DataFrame, arm: str) -> dict:
    """Return metric -> mean over runs of an arm's last values."""
    return finals(table[table.arm == arm]).groupby("metric").value.mean().to_dict()


def _shares(by_name: dict) -> pd.DataFrame:
    # series by (run, episode), in percent, as a table of curves
    parts = [s.rename("value").reset_index().assign(arm=name) for name, s in by_name.items()]
    return pd.concat(parts, ignore_index=True).assign(metric="share")


def outcome_curves(table: pd.DataFrame, arm: str, last: int, games: int = 100) -> pd.DataFrame:
    """Return the curves of Figs. 2 and 3: percent of `games` in the first seat, up to `last`."""
    rows = table[(table.arm == arm) & (table.episode <= last)]
    columns = ["own teacher:first:wins", "own teacher:first:losses"]
    wide = rows.pivot(index=["run", "episode"], columns="metric", values="value")
    won, lost = (100.0 * one / games for _, one in wide.reindex(columns=columns).dropna().items())
    shares = (won, 100.0 - won - lost, lost)
    return _shares(dict(zip(OUTCOMES, shares)))


def lost_curves(table, lasts, games):
    """Return the percentage of games lost to the own teacher: lasts: arm -> last episode."""
    curves = {arm: outcome_curves(table, arm, last, games) for arm, last in lasts.items()}
    return pd.concat(own[own.arm == OUTCOMES[2]].assign(arm=arm) for arm, own in curves.items())


def training_curves(table: pd.DataFrame, arm: str, last: int) -> pd.DataFrame:
    """Return shares of the training games between two checkpoints, as :func:`outcome_curves`."""
    rows = table[(table.arm == arm) & (table.episode <= last)]
    rows = rows[rows.metric.str.startswith("training:")]
    what = rows.metric.str.rsplit(":", n=1).str[1].rename("what")
    counts = rows.groupby(["run", "episode", what]).value.sum().unstack("what")
    counts = counts.reindex(columns=list(POINTS))
    block = counts.groupby("run").diff().fillna(counts)
    shares = 100.0 * block.div(block.sum(axis=1), axis=0)
    return _shares({name: shares[what] for name, what in zip(OUTCOMES, POINTS)})


def running_shares(results) -> pd.DataFrame:
    """Return running percentages over a series of games (Figs. 4 and 5), as outcome_curves."""
    number = np.arange(1, len(results) + 1)
    keep = (number <= 50) | (number % 50 == 0)
    index = pd.MultiIndex.from_product([[0], number[keep]], names=["run", "episode"])
    signs = {"player 1 wins": 1, "draws": 0, "player 2 wins": -1}
    shares = {name: 100.0 * np.cumsum(results == sign) / number for name, sign in signs.items()}
    return _shares({name: pd.Series(share[keep], index) for name, share in shares.items()})


def crosstable(values: dict, label: str = "") -> pd.DataFrame:
    """Return a tournament (or means over runs) as printed: the player of a row is the first."""

    def show(*metrics):
        known = all(label + metric in values for metric in metrics)
        return " : ".join(fixed(values[label + m], 0) for m in metrics) if known else "-"

    rows = [
        [show(*(f"{a} vs {b}:{what}" for what in POINTS)) for b in PLAYERS]
        + [show(f"{a}:points"), show(f"{a}:points of both seats")]
        for a in PLAYERS
    ]
    return pd.DataFrame(rows, pd.Index(PLAYERS, name="P1/P2"), [*PLAYERS, "Points", "both seats"])


def distinct_games(values):
    """Return how many games of each pairing are different, as a page shows it."""
    rows = [[values.get(f"{a} vs {b}:distinct") for b in PLAYERS] for a in PLAYERS]
    return pd.DataFrame(rows, PLAYERS, PLAYERS).style.format(precision=0, na_rep="-")


def show_ratings(table, arm):
    """Print the cycles of an arm's tournaments, and return its ratings as a page shows them."""
    wide = by_run(table, arm)
    pairs = [pair for pair in product(PLAYERS, repeat=2) if " vs ".join(pair) + ":wins" in wide]
    found = [
        (a, b, *wide.loc[run, [f"{a} vs {b}:{what}" for what in POINTS]], run)
        for run in wide.index
        for a, b in pairs
    ]
    results = pd.DataFrame(found, columns=["first", "second", *POINTS, "run"])
    print("cycles:", (ratings.cycles(results) or "none") if found else "-")
    return shown(ratings.ratings(results) if found else pd.DataFrame(), 0, na_rep=None)
