"""Arms, tables and curves of [jamieson2022]: who teaches a Q-table, and what its snapshots do.

Convergence-FS ("fully solved") is the first checkpoint of a training without a loss in 100 games of
the learner as player 1, if no later checkpoint has one, up to 5,000 games on. A training that does
not converge stops at a number of games, its *cap*.

Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
"""

from functools import partial

import numpy as np
import pandas as pd

from ....arena import ratings
from ....learners import tabular
from ....stats import fixed, median_interval
from ...reports.summaries import finals, shown
from ...results import LIKE, rows_of, select, selected
from .snapshots import EXTRA, OPPONENTS, OWN, PERFECT, PLAYERS, POINTS, SEATS, ConvergedTeacher

TEACHERS = {  # as Table 2 names them -> parameter `teacher`
    "Q-learning Twin": "twin",
    "Non-deterministic Min-Max": "non-deterministic",
    "Deterministic Min-Max": "deterministic",
    "Random": "random",
    "Fully Converged Q-learning": "converged",
}
PRINTED = {  # N of Table 2
    "Q-learning Twin": 8000,
    "Non-deterministic Min-Max": 6000,
    "Deterministic Min-Max": 200,
    "Random": 0,  # the paper prints none
    "Fully Converged Q-learning": 300,
}
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

    Parameters
    ----------
    episodes, losses : array_like [checkpoints]
        Training games played at each checkpoint, and games lost there.
    extra : int
        Training games that must follow, with checkpoints of which none has a loss.
    allowed : int
        Lost games at a checkpoint that do not count as a loss.

    Examples
    --------
    >>> converged_at([100, 200, 300, 400], [3, 0, 0, 0], extra=200)
    200
    """
    episodes = np.asarray(episodes)
    has_loss = np.asarray(losses, float) > allowed
    for start in episodes[~has_loss]:
        end = start + extra
        if end > episodes[-1]:
            return None  # the training was too short to tell
        in_series = (episodes >= start) & (episodes <= end)
        if not has_loss[in_series].any():
            return int(start)
    return None


def convergence(rows: pd.DataFrame, cap: int, extra: int = EXTRA, seats=("first",)) -> list:
    """Return convergence_games (at most `cap`) and converged (100 or 0), for ``Study.derive``.

    They come from the losses against the own teacher in these seats. Where the rows have games
    against the non-deterministic Min-Max, the two are also given for these, with the opponent.
    """
    rows_of_opponents = []
    for opponent in OPPONENTS:
        of_both = selected(rows, measure="losses", opponent=opponent)  # seats together
        if of_both.any():
            wanted = [of_both]
        else:
            wanted = [
                selected(rows, measure="losses", opponent=opponent, seat=seat) for seat in seats
            ]
        if not all(of_seat.any() for of_seat in wanted):
            continue
        episode = converged_at(*_sums_by_episode(rows, wanted), extra)
        columns = {}
        if opponent != OWN:
            columns["opponent"] = opponent
        rows_of_opponents += _convergence_rows(episode, cap, **columns)
    return rows_of_opponents


def in_training(rows: pd.DataFrame, cap: int, extra: int = EXTRA, allowed=0, **columns) -> list:
    """Return the same of training games: a block of them may have at most `allowed` losses.

    The rows that it returns have the further `columns`.
    """
    of_seats = [selected(rows, measure="losses", variant="training", seat=seat) for seat in SEATS]
    episodes, losses_so_far = _sums_by_episode(rows, of_seats)
    if not len(episodes):
        return []
    losses_in_block = np.diff(losses_so_far, prepend=0.0)
    episode = converged_at(episodes, losses_in_block, extra, allowed)
    return _convergence_rows(episode, cap, **columns)


def _sums_by_episode(rows, choices):
    """Return episodes in order, and the sum of the values of the chosen rows at each of them.

    Each of the `choices` says of every row whether it counts.
    """
    is_chosen = np.logical_or.reduce(choices)
    episodes, places = np.unique(rows["episode"].to_numpy()[is_chosen], return_inverse=True)
    return episodes, np.bincount(places, rows["value"].to_numpy()[is_chosen], len(episodes))


def _convergence_rows(episode, cap, **columns):
    """Return the rows of a training that converged at an episode, or did not (None)."""
    if episode is None or episode > cap:
        return rows_of({"convergence_games": cap, "converged": 0.0}, **columns)
    return rows_of({"convergence_games": episode, "converged": 100.0}, **columns)


def summary(table: pd.DataFrame, arm: str, cap: int, **columns) -> dict:
    """Return "converged" ("k of n"), "median" and "interval" (95%) of an arm's training games.

    They are texts. A number of games that is only known to exceed the cap is "> cap". The further
    `columns` are an opponent other than the own teacher, or a variant.
    """
    games = select(table, arm=arm, measure="convergence_games", **columns).value
    converged = select(table, arm=arm, measure="converged", **columns).value
    if games.empty:
        return {"converged": "-", "median": "-", "interval": "-"}
    some_stopped = (converged < 100).any()

    def in_words(num_games):
        if some_stopped and num_games >= cap:
            return f"> {cap:,}"
        return f"{num_games:,.0f}"

    median, low, high = map(in_words, median_interval(games))
    # With an even number of runs the median lies half way between two of them. If only the upper
    # one stopped at the cap, the true median is larger than the number says.
    upper_middle = np.sort(games)[len(games) // 2]
    if some_stopped and upper_middle >= cap > np.median(games):
        median = f"at least {median}"
    interval = low if low == high else f"{low} to {high}"
    return {
        "converged": f"{(converged > 0).sum()} of {len(converged)}",
        "median": median,
        "interval": interval,
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
    """Declare an arm for each of `caps`, judged by its games in some seats.

    Parameters
    ----------
    teachers, caps : dict
        Arm -> its teacher, and arm -> training games by which it has to converge.
    curve : list of evaluators
        Games during training, those with the own teacher first.
    extra : int
        Training games after the cap, which show whether convergence lasts.
    named, seeded : str
        Ends of the arms' names, and of the names that seed them (default: alike).
    alone : sequence of str
        Teachers whose pupils play only the games with the own teacher.
    of_twin : dict
        Settings for the arms that learn with a twin alone.
    shown : bool
        Whether the table holds the curve, not only its last point.
    settings
        For all arms: those of ``Study.arm``.
    """
    if seeded is None:
        seeded = named
    for arm, cap in caps.items():
        teacher = teachers[arm]
        own_settings = {}
        if teacher == "twin":
            own_settings = dict(of_twin)
        elif teacher == "converged" and "teacher_every" in settings:
            own_settings = {"final": [ConvergedTeacher(extra)]}
        own_settings["curve"] = curve[:1] if teacher in alone else curve
        own_settings["episodes"] = cap + extra
        own_settings["seeded_as"] = arm + seeded
        study.arm(arm + named, tabular, teacher=teacher, **own_settings, **settings)
        judge = partial(convergence, cap=cap, extra=extra, seats=seats)
        study.derive(arm + named, judge, curve=shown)


def by_teacher(table, arms, caps, printed, games):
    """Return a row for each arm: printed N, convergence, losses at the end (Tables 2 to 4).

    Parameters
    ----------
    table : DataFrame
        Results of a study.
    arms : sequence of str
        The arms: a teacher, or a teacher and the reading, "Random, draw 0.5".
    caps, printed : dict
        Cap and printed N of each arm, or of the teacher with whose name the arm's begins.
    games : int
        Games of one checkpoint.
    """
    rows = []
    for arm in arms:
        number = _of_arm_or_teacher(printed, arm)
        cap = _of_arm_or_teacher(caps, arm)
        against_own = summary(table, arm, cap)
        against_perfect = summary(table, arm, cap, opponent=PERFECT)
        teachers = select(table, arm=arm, measure="converged", player="teacher").value
        losses = select(table, arm=arm, measure="losses", opponent=OWN, seat=list(SEATS))
        teacher, _, reading = arm.partition(", ")
        row = {
            "teacher": teacher,
            "reading": reading or "the text",
            "printed N": f"{number:,}",
            "median N": against_own["median"],
            "95% interval": against_own["interval"],
            "converged": against_own["converged"],
            "lost at the end %": 100.0 * finals(losses).value.mean() / games,
            f"N, {PERFECT}": against_perfect["median"],
            f"converged, {PERFECT}": against_perfect["converged"],
            "teachers converged": f"{(teachers > 0).sum()} of {len(teachers)}",
        }
        if teachers.empty:
            row["teachers converged"] = "-"
        if not number:
            row["printed N"] = "-"
        rows.append(row)
    return pd.DataFrame(rows)


def shown_by_teacher(*table_and_more):
    """Return :func:`by_teacher` as a page shows it: the name of a teacher stays in one line."""
    styled = shown(by_teacher(*table_and_more), na_rep="-")
    return styled.set_properties(subset=["teacher"], **{"white-space": "nowrap"})


def _of_arm_or_teacher(values, arm):
    """Return the value of an arm, or of the teacher with whose name it begins."""
    if arm in values:
        return values[arm]
    teacher = arm.split(", ")[0]
    return values[teacher]


def point(rows: pd.DataFrame, episode: int, games: int = 100) -> list:
    """Return wins, draws and losses in the first seat at one checkpoint: for ``Study.derive``."""
    place = {"opponent": OWN, "seat": "first"}
    counts = select(rows, measure=["wins", "losses"], episode=episode, **place)
    if counts.empty:
        return []
    won = float(counts.value[counts.measure == "wins"].iloc[0])
    lost = float(counts.value[counts.measure == "losses"].iloc[0])
    outcomes = {"wins": won, "draws": games - won - lost, "losses": lost}
    return rows_of(outcomes, **place, after=episode)


def _curves(lines: dict) -> pd.DataFrame:
    """Return lines, name -> Series [(run, episode)] in percent, as the rows of a figure."""
    parts = []
    for name, line in lines.items():
        parts.append(line.rename("value").reset_index().assign(arm=name))
    return pd.concat(parts, ignore_index=True)


def outcome_curves(table: pd.DataFrame, arm: str, last: int, games: int = 100) -> pd.DataFrame:
    """Return the curves of Figs. 2 and 3: percent of `games` in the first seat, up to `last`."""
    rows = select(table, arm=arm, measure=["wins", "losses"], opponent=OWN, seat="first")
    rows = rows[rows.episode <= last].astype({"measure": object})
    counts = rows.pivot(index=["run", "episode"], columns="measure", values="value")
    counts = counts.reindex(columns=["wins", "losses"]).dropna()
    won = 100.0 * counts.wins / games
    lost = 100.0 * counts.losses / games
    drawn = 100.0 - won - lost
    return _curves(dict(zip(OUTCOMES, (won, drawn, lost))))


def lost_curves(table, lasts, games):
    """Return the percentage of games lost to the own teacher: lasts: arm -> last episode."""
    recorded_arms = {arm: "" for arm in lasts}  # arm -> the recorded arm that it changes
    if LIKE in table:
        changed = table[table[LIKE].isin(lasts)][["arm", LIKE]].drop_duplicates()
        recorded_arms |= dict(zip(changed["arm"], changed[LIKE]))
    parts = []
    for arm, recorded in recorded_arms.items():
        curves = outcome_curves(table, arm, lasts[recorded or arm], games)
        lost = curves[curves.arm == "teaching agent wins"]
        parts.append(lost.assign(like=recorded, arm=arm))
    return pd.concat(parts)


def training_curves(table: pd.DataFrame, arm: str, last: int) -> pd.DataFrame:
    """Return shares of the training games between two checkpoints, as :func:`outcome_curves`."""
    columns = {"measure": list(POINTS), "seat": list(SEATS), "variant": "training"}
    rows = select(table, arm=arm, **columns)
    rows = rows[rows.episode <= last].astype({"measure": object})
    # A value is the number of games so far in one seat: both seats are added.
    so_far = rows.groupby(["run", "episode", "measure"]).value.sum().unstack("measure")
    so_far = so_far.reindex(columns=list(POINTS))
    in_block = so_far.groupby("run").diff().fillna(so_far)
    percent = 100.0 * in_block.div(in_block.sum(axis=1), axis=0)
    return _curves(dict(zip(OUTCOMES, (percent.wins, percent.draws, percent.losses))))


def running_shares(results) -> pd.DataFrame:
    """Return running percentages over a series of games (Figs. 4 and 5), as outcome_curves.

    `results`, int [games], are 1 where player 1 won, 0 for a draw and -1 where player 2 won.
    """
    num_games = np.arange(1, len(results) + 1)
    # Later percentages change little from game to game: a figure needs only some of them.
    is_drawn = (num_games <= 50) | (num_games % 50 == 0)
    index = pd.MultiIndex.from_product([[0], num_games[is_drawn]], names=["run", "episode"])
    lines = {}
    for name, result in RUNNING.items():
        percent = 100.0 * np.cumsum(results == result) / num_games
        lines[name] = pd.Series(percent[is_drawn], index)
    return _curves(lines)


def pairings(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return the games of an arm's tournaments, first seat: [run, player, opponent] x measure."""
    columns = {"player": list(PLAYERS), "opponent": list(PLAYERS), "seat": "first"}
    rows = select(finals(table[table.arm == arm]), measure=GAMES, variant=variant, **columns)
    rows = rows.astype(dict.fromkeys(["measure", "player", "opponent"], object))
    games = rows.pivot(index=["run", "player", "opponent"], columns="measure", values="value")
    return games.reindex(columns=GAMES)


def mean_games(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return the means over runs of :func:`pairings`, all pairs of ``PLAYERS`` x measure."""
    means = pairings(table, arm, variant).groupby(["player", "opponent"]).mean()
    every_pair = pd.MultiIndex.from_product([PLAYERS, PLAYERS], names=means.index.names)
    return means.reindex(every_pair)


def crosstable(table: pd.DataFrame, arm: str, variant: str = "") -> pd.DataFrame:
    """Return an arm's tournaments, means over runs, as printed: a row's player moves first."""
    outcomes = mean_games(table, arm, variant)[list(POINTS)]
    cells = outcomes.apply(_cell, axis=1).unstack()
    cells = cells.reindex(index=list(PLAYERS), columns=list(PLAYERS))
    for name, seat in (("Points", "first"), ("both seats", "")):
        points_of_players = points(table, arm, seat, variant)
        means = [points_of_players[player].mean() for player in PLAYERS]
        cells[name] = [_cell(pd.Series(mean)) for mean in means]
    return cells.rename_axis(index="P1/P2", columns=None)


def _cell(values):
    """Return values as a page shows them, such as "95 : 5 : 0", or "-" if one is missing."""
    if values.isna().any():
        return "-"
    return " : ".join(fixed(value, 0) for value in values)


def beside_print(table: pd.DataFrame, printed: dict, caps: dict, claims, named: str = "") -> dict:
    """Return how near one reading comes to print, in a row: medians, their factor, and cells.

    `printed` and `caps` are N and the cap of each arm, the twin first; names of arms in `table` end
    with `named`. The factor says by how much the medians miss N, up or down: the geometric mean
    over arms. `claims` are those of the tournament, see :func:`cells_inside`.
    """
    row = {}
    distances = []  # of the medians from N, natural logarithms
    is_at_cap = False  # where a median is a cap the true one is larger, and so is the factor
    for arm, number in printed.items():
        median = summary(table, arm + named, caps[arm])["median"]
        row[arm] = median
        if median.startswith((">", "at least")):
            is_at_cap = True
        games = select(table, arm=arm + named, measure="convergence_games", opponent="").value
        distances.append(abs(np.log(games.median() / number)))
    factor = float(np.exp(np.mean(distances)))
    if np.isnan(factor):  # an arm without runs
        row["mean factor"] = "-"
    elif is_at_cap:
        row["mean factor"] = f"at least {fixed(factor, 1)}"
    else:
        row["mean factor"] = fixed(factor, 1)
    twin = next(iter(printed))
    inside, cells = cells_inside(table, twin + named, claims)
    row["cells inside"] = f"{inside} of {cells}" if cells else "-"
    return row


def cells_inside(table: pd.DataFrame, arm: str, claims) -> tuple[int, int]:
    """Return how many printed cells of a tournament lie within an arm's runs, and of how many.

    Those with a snapshot on a side are counted: no other depends on what was learned. A cell lies
    within if its wins, draws and losses are each between the least and the most of the runs. Both
    numbers are 0 if the arm has played no tournament.
    """
    played = pairings(table, arm)
    if played.empty:
        return 0, 0
    inside = []
    for claim in claims:
        player = claim.select["player"]
        opponent = claim.select.get("opponent")
        is_cell = claim.target and isinstance(claim.value, dict)
        if is_cell and (player in LEARNERS or opponent in LEARNERS):
            games = played.xs((player, opponent), level=("player", "opponent"))
            inside.append(_lies_within(claim, games[list(POINTS)]))
    return sum(inside), len(inside)


def _lies_within(claim, games):
    """Return whether a printed cell lies within the least and the most of the runs."""
    scaled = games.mul(claim.of / games.sum(axis=1), axis=0)  # to as many games as printed
    least = scaled.min()
    most = scaled.max()
    return all(least[outcome] <= n <= most[outcome] for outcome, n in claim.value.items())


def points(table: pd.DataFrame, arm: str, seat: str = "first", variant: str = "") -> dict:
    """Return player -> its points in each run: of the first seat, or of both (no seat)."""
    columns = {"measure": "points", "player": list(PLAYERS), "seat": seat, "variant": variant}
    rows = select(finals(table[table.arm == arm]), **columns).sort_values("run")
    return {player: rows.value[rows.player == player] for player in PLAYERS}


def distinct_games(table, arm):
    """Return how many games of each pairing are different, as a page shows it."""
    counts = mean_games(table, arm).distinct.unstack()
    counts = counts.reindex(index=list(PLAYERS), columns=list(PLAYERS))
    return counts.rename_axis(index=None, columns=None).style.format(precision=0, na_rep="-")


def show_ratings(table, arm):
    """Print the cycles of an arm's tournaments, and return its ratings as a page shows them."""
    games = pairings(table, arm).reset_index()
    if games.empty:
        print("cycles: -")
        return shown(pd.DataFrame(), 0, na_rep=None)
    results = games.rename(columns={"player": "first", "opponent": "second"})
    results = results[["first", "second", *POINTS, "run"]]
    print("cycles:", ratings.cycles(results) or "none")
    return shown(ratings.ratings(results), 0, na_rep=None)
