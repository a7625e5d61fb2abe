"""Tournaments: all players meet each other, and a table rates them, with intervals.

A notebook shows the ratings, the cross table, and remarks on what is doubtful. ``table.plot()``
draws the ratings.
"""

import itertools
from functools import cached_property
from html import escape

import numpy as np
import pandas as pd

from ..checks import needs
from ..games.game import check_game
from . import ratings
from .matches import matches

REPEATED = 0.5  # a pairing with a smaller share of different games is named as doubtful
MOST_NAMED = 20  # cycles and doubtful pairings; more are counted


def tournament(game, players, episodes: int = 10, starts=None, seed: int = 0, **how) -> "Standings":
    """Let all players meet and return the standings: cross table, ratings, cycles, repeated games.

    The matches are those of :func:`afterply.arena.matches`, which explains `players`, `episodes`
    and `starts`; `how` are further parameters of it, such as workers, path, max_plies. ValueError
    if nobody can be compared.

    Examples
    --------
    >>> from afterply import arena, games, players
    >>> pool = {"Max-N": players.MaxN(15), "Random": players.Random()}
    >>> table = arena.tournament(games.load("nim"), pool, episodes=5)
    >>> float(table.cross.loc["Max-N", "Random"])
    100.0
    """
    check_game(game, "a tournament")
    if game.players < 2:
        raise ValueError(f"{game.name} has one seat: compare scores with arena.matches")
    if isinstance(players, dict) and len(players) < 2:
        raise ValueError(f"a tournament needs at least two players, not {list(players)}")
    return Standings(game, matches(game, players, starts, episodes, seed, **how))


class Standings:
    """The standings of a tournament, from the `table` of :func:`afterply.arena.matches`."""

    def __init__(self, game, table: pd.DataFrame):
        self.game = game
        self.table = table
        self.results = ratings.counted(table)
        self.failed = ratings.failures(table)
        self._title = f"{game.name}: {table.match.nunique()} matches"
        if self.failed:
            self._title += f", {self.failed} failed"
        if self.results.empty:
            errors = sorted(set(table.error) - {""})
            raise ValueError(f"no match was finished, nobody can be rated: {'; '.join(errors[:3])}")

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Player, rating, low, high, games; score and draws over both seats, in percent."""
        rated = ratings.ratings(self.results)
        totals = ratings.both_seats(self.results).groupby("player", sort=False).sum()
        score = 100.0 * (totals.points / totals.games)
        draws = 100.0 * (totals.draws / totals.games)
        return rated.assign(score=rated.player.map(score), draws=rated.player.map(draws))

    @cached_property
    def cross(self) -> pd.DataFrame:
        """Mean points of the row's player against the column's in percent, both seats."""
        totals = ratings.both_seats(self.results)
        return self._square(100.0 * (totals.points / totals.games))

    @cached_property
    def different(self) -> pd.DataFrame:
        """Different games between two players in percent of their finished matches."""
        by_match = self.table.sort_values("seat").groupby("match")
        games = by_match.agg({"player": tuple, "start": "first", "moves": "first"})
        as_first = ratings.pairs(self.table)
        as_first["game"] = as_first.match.map(games.apply(tuple, axis=1))
        as_second = as_first.rename(columns={"first": "second", "second": "first"})
        groups = pd.concat([as_first, as_second]).groupby(["first", "second"], sort=False)
        return self._square(100.0 * groups.game.nunique() / groups.match.nunique())

    @cached_property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Triples in which each player beats the next."""
        return ratings.cycles(self.results)

    def _square(self, values):
        """Return values by (player, other) as a square table, the strongest player first."""
        order = list(self.ratings.player)
        square = values.unstack(sort=False).reindex(index=order, columns=order).astype(float)
        return square.rename_axis(index=None, columns=None)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        remarks = []
        if self.failed:
            first_error = self.table.error[self.table.score.isna()].iloc[0]
            remarks.append(
                f"{self.failed} matches failed and do not count, so all numbers are of the others"
                f" (an engine may die in those that it loses); the first: {first_error}"
            )
        for a, b, c in self.cycles[:MOST_NAMED]:
            remarks.append(f"{a} beats {b}, {b} beats {c}, {c} beats {a}: no single scale fits.")
        if len(self.cycles) > MOST_NAMED:
            remarks.append(f"So it is with {len(self.cycles) - MOST_NAMED:,} more triples: cycles.")
        repeating = self._repeating_pairings()
        if repeating:
            named = ", ".join(repeating[:MOST_NAMED])
            if len(repeating) > MOST_NAMED:
                named += f" and {len(repeating) - MOST_NAMED:,} more"
            remarks.append(
                f"Few games are different between {named}, so intervals are too"
                " narrow: give several starts, such as arena.starts_random(...)."
            )
        if self.game.players > 2:
            remarks.append("Comparisons of seats are not independent, so intervals are too narrow.")
        return remarks

    def _repeating_pairings(self):
        """Return the pairings with few different games, each as "first - second (20%)"."""
        names = list(self.different)
        percent = self.different.to_numpy()
        pairings = []
        for a, b in itertools.combinations(range(len(names)), 2):
            if percent[a, b] / 100.0 < REPEATED:
                pairings.append(f"{names[a]} - {names[b]} ({percent[a, b]:.0f}%)")
        return pairings

    def plot(self, ax=None):
        """Draw the ratings with their intervals; return the matplotlib axes."""
        table = self.ratings
        if ax is None:
            plt = needs("matplotlib.pyplot", "plot")  # takes a second to import: only for a figure
            _, ax = plt.subplots(figsize=(6, 1.3 + 0.42 * len(table)), layout="constrained")
        heights = np.arange(len(table))[::-1]
        half_widths = np.maximum([table.rating - table.low, table.high - table.rating], 0)
        ax.errorbar(table.rating, heights, xerr=half_widths, fmt="o", color="#1a1a1a", capsize=3)
        for rating, height in zip(table.rating, heights):
            ax.annotate(
                f"{rating:+.0f}",
                (rating, height),
                xytext=(0, 7),
                textcoords="offset points",
                ha="center",
            )
        ax.set_yticks(heights, map(str, table.player), parse_math=False)
        ax.set_ylim(-0.6, len(table) - 0.3)
        ax.axvline(0, color="#8a8a8a", linewidth=0.8, linestyle=":")
        ax.set_xlabel("rating in Elo points, mean 0 (bars: 95% intervals)")
        ax.set_title(self._title)
        return ax

    def _tables(self):
        """Return title -> table as it is shown."""
        rated = self.ratings.rename(columns={"score": "score %", "draws": "draws %"})
        rated = rated.round({"rating": 0, "low": 0, "high": 0, "score %": 1, "draws %": 1})
        rated = rated.astype(dict.fromkeys(["rating", "low", "high", "games"], int))
        rated.index = range(1, len(rated) + 1)
        return {
            f"{self._title}, Elo points with mean 0 and 95% intervals": rated,
            "Points of the row against the column, percent": self.cross.round(1),
        }

    def __repr__(self):
        blocks = []
        for title, table in self._tables().items():
            blocks.append(f"{title}\n{table.to_string(na_rep='')}")
        return "\n\n".join(blocks + self.remarks)

    def _repr_html_(self):
        blocks = []
        for title, table in self._tables().items():
            blocks.append(f"<p>{escape(title)}</p>{table.to_html(na_rep='')}")
        for remark in self.remarks:
            blocks.append(f"<p>{escape(remark)}</p>")
        return "".join(blocks)
