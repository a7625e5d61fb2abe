"""What a tournament comes to: cross table, ratings, draws, cycles, repeated games."""

import functools
import itertools

import numpy as np
import pandas as pd

from ..checks import needs
from .ratings import counted, cycles, pairs, ratings

REPEATED = 0.5  # a pairing with a smaller share of different games is named as doubtful


class Standings:
    """The standings of a tournament, from the `table` of :func:`afterstate.arena.matches`.

    A notebook shows them as tables. ValueError if no match was finished.
    """

    def __init__(self, game, table: pd.DataFrame):
        self.game, self.table = game, table
        self.results = counted(table)
        if not len(self.results):
            errors = sorted({error for error in table.error if error}) if "error" in table else []
            raise ValueError(f"no match was finished, nobody can be rated: {'; '.join(errors[:3])}")

    @functools.cached_property
    def ratings(self) -> pd.DataFrame:
        """Ratings of the players, the strongest first.

        Columns player, rating, low, high (Elo points with mean 0 and 95% intervals), games,
        score and draws (percent, both seats).
        """
        found, met = ratings(self.results), self._points.groupby("player")
        return found.assign(
            score=found.player.map(100.0 * met.points.mean()),
            draws=found.player.map(100.0 * met.draw.mean()),
        )

    @functools.cached_property
    def cross(self) -> pd.DataFrame:
        """Mean points of the row's player against the column's in percent, both seats."""
        return self._square(100.0 * self._points.groupby(["player", "other"]).points.mean())

    @functools.cached_property
    def different(self) -> pd.DataFrame:
        """Different games between two players in percent of their finished matches.

        Two players without chance repeat one game from each start.
        """
        finished = self.table[self.table.score.notna()].sort_values("seat").groupby("match")
        whole = finished.agg(
            players=("player", tuple), start=("start", "first"), moves=("moves", "first")
        )
        lines = pd.Series(list(whole.itertuples(index=False, name=None)), whole.index)
        named = self._points.assign(line=self._points.match.map(lines))
        groups = named.groupby(["player", "other"])
        return self._square(100.0 * groups.line.nunique() / groups.match.nunique())

    @functools.cached_property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Triples in which each player beats the next."""
        return cycles(self.results)

    @property
    def errors(self) -> int:
        """Number of matches that failed."""
        return int(self.table[self.table.score.isna()].match.nunique())

    @functools.cached_property
    def _points(self) -> pd.DataFrame:
        """One row per comparison and side: match, player, other, points, draw."""
        met = pairs(self.table)
        one = met.rename(columns={"first": "player", "second": "other"})
        two = met.rename(columns={"first": "other", "second": "player"})
        both = pd.concat([one, two.assign(points=1.0 - met.points)], ignore_index=True)
        return both.assign(draw=both.points == 0.5)

    def _square(self, values) -> pd.DataFrame:
        order = list(self.ratings.player)
        square = values.unstack().reindex(index=order, columns=order).astype(float)
        return square.rename_axis(index=None, columns=None)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        found = []
        if self.errors:
            found.append(f"{self.errors} matches failed and do not count; see table.error.")
        for a, b, c in self.cycles:
            found.append(f"{a} beats {b}, {b} beats {c}, {c} beats {a}: no single scale fits.")
        share = self.different / 100.0
        seldom = [
            f"{a} - {b} ({100 * share.loc[a, b]:.0f}%)"
            for a, b in itertools.combinations(share, 2)
            if share.loc[a, b] < REPEATED
        ]
        if seldom:
            found.append(
                f"Few games are different between {', '.join(seldom)}, so intervals are too narrow:"
                " give several starts, such as arena.starts_random(...)."
            )
        if self.game.players > 2:
            found.append("Comparisons of seats are not independent, so intervals are too narrow.")
        return found

    def plot(self, ax=None):
        """Draw the ratings with their intervals; return the matplotlib axes."""
        table = self.ratings
        if ax is None:
            plt = needs("matplotlib.pyplot", "study")  # a second, which only a picture is worth
            ax = plt.subplots(figsize=(6, 1.3 + 0.42 * len(table)), layout="constrained")[1]
        places = np.arange(len(table))[::-1]
        spread = [table.rating - table.low, table.high - table.rating]
        bars = dict(xerr=np.maximum(spread, 0), fmt="o", color="#1a1a1a", capsize=3)
        ax.errorbar(table.rating, places, **bars)
        above = dict(textcoords="offset points", ha="center")
        for rating, place in zip(table.rating, places):
            ax.annotate(f"{rating:+.0f}", (rating, place), (0, 7), **above)
        ax.set_yticks(places, table.player)
        ax.set_ylim(-0.6, len(table) - 0.3)
        ax.axvline(0, color="#8a8a8a", linewidth=0.8, linestyle=":")
        ax.set_xlabel("rating in Elo points, mean 0 (bars: 95% intervals)")
        ax.set_title(f"{self.game.name}: {self.table.match.nunique()} matches")
        return ax

    def _tables(self) -> list[tuple[str, pd.DataFrame]]:
        shown = self.ratings.rename(columns={"score": "score %", "draws": "draws %"})
        shown = shown.round({"rating": 0, "low": 0, "high": 0, "score %": 1, "draws %": 1})
        shown.index = range(1, len(shown) + 1)
        shown = shown.astype(dict.fromkeys(["rating", "low", "high", "games"], int))
        title = f"{self.game.name}: {self.table.match.nunique()} matches, Elo points with mean 0"
        return [
            (f"{title} and 95% intervals", shown),
            ("Points of the row against the column, percent", self.cross.round(1)),
        ]

    def __repr__(self):
        blocks = [f"{title}\n{table.to_string(na_rep='')}" for title, table in self._tables()]
        return "\n\n".join(blocks + ["\n".join(self.remarks)] * bool(self.remarks))

    def _repr_html_(self):
        blocks = [f"<p>{title}</p>{t.to_html(na_rep='')}" for title, t in self._tables()]
        return "".join(blocks) + "".join(f"<p>{remark}</p>" for remark in self.remarks)
