"""Tables of who teaches a Q-table what: convergence by teacher, and what is lost at the end."""

import pandas as pd

from ...arena import ratings
from ...reports.summaries import shown
from . import convergence, snapshot_tables
from .snapshots import PLAYERS

TEACHERS = {  # as Table 2 names them -> parameter `teacher`
    "Q-learning Twin": "twin",
    "Non-deterministic Min-Max": "non-deterministic",
    "Deterministic Min-Max": "deterministic",
    "Random": "random",
    "Fully Converged Q-learning": "converged",
}
PRINTED = dict(zip(TEACHERS, ("8000", "6000", "200", "-", "300")))  # N of Table 2
PERFECT = "Nd-Min-Max"
LATE = 2000  # training games at the end over which losses are averaged


def table_2(table, cap):
    """Return when trainings converge, by teacher: against it, and against a perfect player."""
    rows = []
    for arm in TEACHERS:
        own = convergence.summary(table, arm, cap)
        rows.append((arm, *own.values(), *convergence.summary(table, arm, cap, PERFECT).values()))
    columns = ["converged", "median N", "95% interval"]
    columns += [f"{column}, {PERFECT}" for column in columns]
    return pd.DataFrame(rows, columns=["teacher", *columns])


def deviations(table, caps, games):
    """Return when trainings converge, and the percentage of late games that they lose.

    caps: arm -> its cap; games: of each seat at a checkpoint.
    """
    rows = []
    for arm, cap in caps.items():
        mine = table[table["arm"] == arm]
        if mine.empty:
            continue
        wide = mine.pivot(index=["run", "episode"], columns="metric", values="value")
        late = wide[wide.index.get_level_values("episode") > mine["episode"].max() - LATE]
        lost = []
        for other in ("own teacher", PERFECT):
            columns = [c for c in wide if c.startswith(other) and c.endswith("losses")]
            lost.append(late[columns].sum(axis=1).mean() / (2 * games) * 100)
        told = arm in TEACHERS or "draw" in arm
        printed = PRINTED.get(arm.split(", draw")[0], "") if told else ""
        rows.append((arm, printed, *convergence.summary(table, arm, cap).values(), *lost))
    columns = ["printed N", "converged", "median N", "95% interval"]
    lost = ["lost to own teacher %", f"lost to {PERFECT} %"]
    return pd.DataFrame(rows, columns=["arm", *columns, *lost])


def by_teacher(table, caps, printed, games):
    """Return one row for each arm: printed N, convergence, and losses at the end (Tables 3, 4)."""
    rows = []
    for arm, number in printed.items():
        own = convergence.summary(table, arm, caps[arm])
        other = convergence.summary(table, arm, caps[arm], PERFECT)
        lost = convergence.lost(table, arm, games)
        rows.append((arm, f"{number:,}", *own.values(), lost, *list(other.values())[:2]))
    columns = [
        "printed N",
        "converged",
        "median N",
        "95% interval",
        "lost to the teacher at the end %",
    ]
    against = [f"converged against {PERFECT}", "median N "]
    return pd.DataFrame(rows, columns=["teacher", *columns, *against])


def lost_curves(table, lasts, games):
    """Return the percentage of games lost to the own teacher: lasts: arm -> last episode."""
    curves = [
        snapshot_tables.outcome_curves(table, arm, last, games)
        .query("arm == 'teaching agent wins'")
        .assign(arm=arm)
        for arm, last in lasts.items()
    ]
    return pd.concat(curves)


def distinct_games(values):
    """Return how many games of each pairing are different, as a page shows it."""
    rows = [[values.get(f"{a} vs {b}:distinct") for b in PLAYERS] for a in PLAYERS]
    return pd.DataFrame(rows, PLAYERS, PLAYERS).style.format(precision=0, na_rep="-")


def show_ratings(table, arm):
    """Print the cycles of an arm's tournaments, and return its ratings as a page shows them."""
    results = snapshot_tables.as_results(table, arm)
    print("cycles:", (ratings.cycles(results) or "none") if len(results) else "-")
    return shown(ratings.ratings(results) if len(results) else pd.DataFrame(), 0, na_rep=None)
