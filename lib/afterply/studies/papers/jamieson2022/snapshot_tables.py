"""Arms, tables and curves of [jamieson2022]: who teaches a Q-table, and what its snapshots do.

Convergence-FS ("fully solved") is the first checkpoint of a training without a loss in 100 games of
the learner as player 1, and none at any later checkpoint up to 5,000 games on.

Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
"""

from functools import partial

import numpy as np
import pandas as pd

from ....arena import ratings
from ....learners import tabular
from ....stats import fixed, median_interval
from ...reports.summaries import finals, shown
from ...results import LIKE, rows_of, select
from .snapshots import EXTRA, OPPONENTS, OWN, PERFECT, PLAYERS, POINTS, SEATS, ConvergedTeacher

TEACHERS = {  # as Table 2 names them -> parameter `teacher`
    "Q-learning Twin": "twin",
    "Non-deterministic Min-Max": "non-deterministic",
    "Deterministic Min-Max": "deterministic",
    "Random": "random",
    "Fully Converged Q-learning": "converged",
}
PRINTED = dict(zip(TEACHERS, (8000, 6000, 200, 0, 300)))  # N of Table 2, none for a random teacher
# teachers as Tables 3 and 4 name them -> N
MORRIS = {
    "Q-learning Twin": 16_000,
    "Non-deterministic Min-Max": 7_000,
    "Deterministic Min-Max": 2_000,
    "Fully Converged Q-learning": 3_000,
}
KALAH = {
    "Q-learning": 32_000,
    "Non-deterministic Min-Max": 17_000,
    "Deterministic Min-Max": 9_000,
    "Fully Converged Q-learning": 12_000,
}
LEARNERS = PLAYERS[:2]  # of a tournament: snapshots
GAMES = [*POINTS, "distinct"]  # what a tournament says of two players
OUTCOMES = ("learning agent wins", "draws", "teaching agent wins")
RUNNING = {"player 1 wins": 1, "draws": 0, "player 2 wins": -1}  # lines of Figs. 4 and 5


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


def convergence(rows: pd.DataFrame, cap: int, extra: int = EXTRA, seats=("first",)) -> list:
    """Return convergence_games (at most `cap`) and converged (100 or 0), for ``Study.derive``."""
    # of games against the own teacher in these seats; with the opponent Nd-Min-Max against that, if
    # these were played
    found = []
    for opponent in OPPONENTS:
        asked = {"measure": "losses", "opponent": opponent}
        of_both, each = select(rows, **asked), select(rows, **asked, seat=list(seats))
        if len(of_both) or set(seats) <= set(each.get("seat", ())):
            lost = (of_both if len(of_both) else each).groupby("episode").value.sum()
            columns = {} if opponent == OWN else {"opponent": opponent}
            found += _result(converged_at(lost.index, lost, extra), cap, **columns)
    return found


def _result(found, cap, **columns):
    converged = found is not None and found <= cap
    at = found if converged else cap
    return rows_of({"convergence_games": at, "converged": 100.0 * converged}, **columns)


def in_training(rows: pd.DataFrame, cap: int, extra: int = EXTRA, allowed=0, **columns) -> list:
    """Return the same of training games: a block of them may have at most `allowed` losses."""
    # columns: of the rows that it returns
    lost = select(rows, measure="losses", variant="training", seat=list(SEATS))
    lost = lost.groupby("episode").value.sum()
    if lost.empty:
        return []
    at = converged_at(lost.index, lost.diff().fillna(lost), extra, allowed)
    return _result(at, cap, **columns)


def summary(table: pd.DataFrame, arm: str, cap: int, **columns) -> dict:
    """Return "converged" ("k of n"), "median" and "interval" (95%) of an arm's training games."""
    # columns: an opponent other than the own teacher, or a variant; "> cap" at the cap, "at least"
    # of a median half way from a run that has converged to the cap
    names = "convergence_games", "converged"
    at, reached = (select(table, arm=arm, measure=name, **columns).value for name in names)
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
    rows = []
    for arm in arms:
        number, cap = (values.get(arm, values[arm.split(", ")[0]]) for values in (printed, caps))
        own, other = summary(table, arm, cap), summary(table, arm, cap, opponent=PERFECT)
        taught = select(table, arm=arm, measure="converged", player="teacher").value
        lost = select(table, arm=arm, measure="losses", opponent=OWN, seat=list(SEATS))
        lost = 100.0 * finals(lost).value.mean() / games
        found = (f"{(taught > 0).sum()} of {len(taught)}" if len(taught) else "-",)
        found += (f"{number:,}" if number else "-", *own.values())
        rows.append((arm, *found, lost, *list(other.values())[:2]))
    columns = ["teacher", "of the teachers converged", "printed N", "converged", "median N"]
    columns += ["95% interval", "lost to the teacher at the end %"]
    columns += [f"converged against {PERFECT}", "median N "]
    return pd.DataFrame(rows, columns=columns)


def point(rows: pd.DataFrame, episode: int, games: int = 100) -> list:
    """Return wins, draws and losses in the first seat at one checkpoint: for ``Study.derive``."""
    where = {"opponent": OWN, "seat": "first"}
    found = select(rows, measure=["wins", "losses"], episode=episode, **where)
    if found.empty:
        return []
    won, lost = (float(found.value[found.measure == what].iloc[0]) for what in ("wins", "losses"))
    counts = {"wins": won, "draws": games - won - lost, "losses": lost}
    return rows_of(counts, **where, after=episode)


def _shares(by_name: dict) -> pd.DataFrame:
    # series by (run, episode), in percent, as a table of curves
    parts = [s.rename("value").reset_index().assign(arm=name) for name, s in by_name.items()]
    return pd.concat(parts, ignore_index=True)


def outcome_curves(table: pd.DataFrame, arm: str, last: int, games: int = 100) -> pd.DataFrame:
    """Return the curves of Figs. 2 and 3: percent of `games` in the first seat, up to `last`."""
    rows = select(table, arm=arm, measure=["wins", "losses"], opponent=OWN, seat="first")
    rows = rows[rows.episode <= last].astype({"measure": object})
    wide = rows.pivot(index=["run", "episode"], columns="measure", values="value")
    wide = wide.reindex(columns=["wins", "losses"]).dropna()
    won, lost = 100.0 * wide.wins / games, 100.0 * wide.losses / games
    shares = (won, 100.0 - won - lost, lost)
    return _shares(dict(zip(OUTCOMES, shares)))


def lost_curves(table, lasts, games):
    """Return the percentage of games lost to the own teacher: lasts: arm -> last episode."""
    arms = {arm: "" for arm in lasts}
    if LIKE in table:
        arms |= dict(table[table[LIKE].isin(lasts)][["arm", LIKE]].drop_duplicates().values)
    curves = [
        outcome_curves(table, arm, lasts[like or arm], games).assign(like=like, line=arm)
        for arm, like in arms.items()
    ]
    lost = pd.concat(curves)
    return lost[lost.arm == OUTCOMES[2]].assign(arm=lambda rows: rows.line).drop(columns="line")


def training_curves(table: pd.DataFrame, arm: str, last: int) -> pd.DataFrame:
    """Return shares of the training games between two checkpoints, as :func:`outcome_curves`."""
    asked = {"measure": list(POINTS), "seat": list(SEATS), "variant": "training"}
    rows = select(table, arm=arm, **asked)
    rows = rows[rows.episode <= last].astype({"measure": object})
    counts = rows.groupby(["run", "episode", "measure"]).value.sum().unstack("measure")
    counts = counts.reindex(columns=list(POINTS))
    block = counts.groupby("run").diff().fillna(counts)
    shares = 100.0 * block.div(block.sum(axis=1), axis=0)
    return _shares({name: shares[what] for name, what in zip(OUTCOMES, POINTS)})


def running_shares(results) -> pd.DataFrame:
    """Return running percentages over a series of games (Figs. 4 and 5), as outcome_curves."""
    number = np.arange(1, len(results) + 1)
    keep = (number <= 50) | (number % 50 == 0)
    index = pd.MultiIndex.from_product([[0], number[keep]], names=["run", "episode"])
    shares = {name: 100.0 * np.cumsum(results == sign) / number for name, sign in RUNNING.items()}
    return _shares({name: pd.Series(share[keep], index) for name, share in shares.items()})


def pairings(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return the games of an arm's tournaments, first seat: [run, player, opponent] x measure."""
    where = {"player": list(PLAYERS), "opponent": list(PLAYERS), "seat": "first"}
    rows = select(finals(table[table.arm == arm]), measure=GAMES, variant=variant, **where)
    rows = rows.astype(dict.fromkeys(["measure", "player", "opponent"], object))
    wide = rows.pivot(index=["run", "player", "opponent"], columns="measure", values="value")
    return wide.reindex(columns=GAMES)


def mean_games(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return the means over runs of :func:`pairings`, all pairs of ``PLAYERS`` x measure."""
    mean = pairings(table, arm, variant).groupby(["player", "opponent"]).mean()
    return mean.reindex(pd.MultiIndex.from_product([PLAYERS, PLAYERS], names=mean.index.names))


def crosstable(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return an arm's tournaments, means over runs, as printed: a row's player moves first."""

    def show(values):
        return " : ".join(fixed(value, 0) for value in values) if values.notna().all() else "-"

    cells = mean_games(table, arm, variant)[list(POINTS)].apply(show, axis=1).unstack()
    cells = cells.reindex(index=list(PLAYERS), columns=list(PLAYERS))
    for name, seat in (("Points", "first"), ("both seats", "")):
        earned = points(table, arm, seat, variant)
        cells[name] = [show(pd.Series(earned[player].mean())) for player in PLAYERS]
    return cells.rename_axis(index="P1/P2", columns=None)


def beside_print(table: pd.DataFrame, printed: dict, caps: dict, claims, named: str = "") -> dict:
    """Return how near one reading comes to print, in a row: medians, their factor, and cells.

    `printed` and `caps` are N and the cap of each arm, the twin first; names of arms in `table` end
    with `named`. The factor says by how much the medians miss N, up or down: the geometric mean
    over arms. `claims` are those of the tournament, see :func:`cells_inside`.
    """
    row, off, at_cap = {}, [], False
    for arm, number in printed.items():
        row[arm] = summary(table, arm + named, caps[arm])["median"]
        at_cap |= row[arm].startswith((">", "at least"))
        reached = select(table, arm=arm + named, measure="convergence_games", opponent="").value
        off.append(abs(np.log(reached.median() / number)))
    factor = float(np.exp(np.mean(off)))
    # where a median is a cap the true one is larger, and so is the factor
    row["mean factor"] = ("at least " if at_cap else "") + fixed(factor, 1)
    if np.isnan(factor):  # an arm without runs
        row["mean factor"] = "-"
    inside, cells = cells_inside(table, next(iter(printed)) + named, claims)
    row["cells inside"] = f"{inside} of {cells}" if cells else "-"
    return row


def cells_inside(table: pd.DataFrame, arm: str, claims) -> tuple[int, int]:
    """Return how many printed cells of a tournament lie within an arm's runs, and of how many.

    Those with a snapshot on a side are counted: no other depends on what was learned. A cell lies
    within if its wins, draws and losses are each between the least and the most of the runs. Both
    numbers are 0 if the arm has played no tournament.
    """
    played, inside = pairings(table, arm), []
    for claim in claims if len(played) else ():
        pair = claim.select["player"], claim.select.get("opponent")
        of_cell = claim.target and isinstance(claim.value, dict)
        if not of_cell or not set(pair) & set(LEARNERS):
            continue
        ours = played.xs(pair, level=("player", "opponent"))[list(POINTS)]
        ours = ours.mul(claim.of / ours.sum(axis=1), axis=0)
        least, most = ours.min(), ours.max()
        inside.append(all(least[what] <= n <= most[what] for what, n in claim.value.items()))
    return sum(inside), len(inside)


def points(table: pd.DataFrame, arm: str, seat: str = "first", variant: str = "") -> dict:
    """Return player -> its points in each run: of the first seat, or of both (no seat)."""
    asked = {"measure": "points", "player": list(PLAYERS), "seat": seat, "variant": variant}
    rows = select(finals(table[table.arm == arm]), **asked).sort_values("run")
    return {player: rows.value[rows.player == player] for player in PLAYERS}


def distinct_games(table, arm):
    """Return how many games of each pairing are different, as a page shows it."""
    wide = mean_games(table, arm).distinct.unstack()
    wide = wide.reindex(index=list(PLAYERS), columns=list(PLAYERS))
    return wide.rename_axis(index=None, columns=None).style.format(precision=0, na_rep="-")


def show_ratings(table, arm):
    """Print the cycles of an arm's tournaments, and return its ratings as a page shows them."""
    found = pairings(table, arm).reset_index().rename(columns={"player": "first"})
    found = found.rename(columns={"opponent": "second"})[["first", "second", *POINTS, "run"]]
    print("cycles:", (ratings.cycles(found) or "none") if len(found) else "-")
    return shown(ratings.ratings(found) if len(found) else pd.DataFrame(), 0, na_rep=None)
