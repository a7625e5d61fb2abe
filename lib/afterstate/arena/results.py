"""From matches to results: who met whom, in which order, and how often each of them won.

Ratings and cycles are computed from *results*, a table with the columns first, second, wins,
draws, losses. :func:`counted` makes it of the long table of :func:`afterstate.arena.matches`.
"""

import itertools

import pandas as pd

MATCH_COLUMNS = {"match", "seat", "player", "score"}
COLUMNS = ["first", "second", "wins", "draws", "losses"]


def are_matches(table) -> bool:
    """Return whether a table is the long one of :func:`afterstate.arena.matches`."""
    return isinstance(table, pd.DataFrame) and set(table.columns) >= MATCH_COLUMNS


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for every two seats of every match that was finished.

    Columns match, first, second and points: 1 if the player in the earlier seat has the greater
    score, 0.5 if both have the same, else 0. With three or more seats every two of them are
    compared.
    """
    rows = []
    for match, seats in table[table.score.notna()].sort_values("seat").groupby("match"):
        for a, b in itertools.combinations(zip(seats.player, seats.score), 2):
            rows.append((match, a[0], b[0], 0.5 * ((a[1] > b[1]) - (a[1] < b[1]) + 1)))
    return pd.DataFrame(rows, columns=["match", "first", "second", "points"])


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return results (first, second, wins, draws, losses) of a table of matches.

    A table that is none of matches is returned as it is. Matches that failed do not count. In
    games for more than two players every two seats count as one comparison; comparisons of one
    match are not independent, so intervals made of them are too narrow.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> from afterstate.arena.results import counted
    >>> pool = {"Max-N": players.MaxN(15), "Random": players.Random()}
    >>> counted(arena.matches(games.load("nim"), pool, episodes=5)).wins.tolist()
    [5, 0]
    """
    if not are_matches(table):
        return table
    met = pairs(table)
    outcomes = {"wins": 1.0, "draws": 0.5, "losses": 0.0}
    met = met.assign(
        **{name: (met.points == worth).astype(int) for name, worth in outcomes.items()}
    )
    found = met.groupby(["first", "second"], sort=False)[list(outcomes)].sum().reset_index()
    return found[COLUMNS]
