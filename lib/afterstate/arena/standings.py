"""What a tournament comes to: cross table, ratings, draws, cycles, repeated games."""

import functools

import numpy as np
import pandas as pd

from . import results
from .ratings import cycles, ratings
from .standings_plot import plot

REPEATED = 0.5  # a pairing with a smaller share of different games is named as doubtful


class Standings:
    """The standings of a tournament; a notebook shows them as tables.

    Parameters
    ----------
    game : Game
    table : DataFrame
        The long table of :func:`afterstate.arena.matches`, one row per match and seat.

    Raises
    ------
    ValueError
        If no match was finished.
    """

    def __init__(self, game, table: pd.DataFrame):
        self.game, self.table = game, table
        self.results = results.counted(table)
        if not len(self.results):
            errors = sorted({error for error in table.error if error}) if "error" in table else []
            raise ValueError(f"no match was finished, nobody can be rated: {'; '.join(errors[:3])}")

    # ------------------------------------------------------------------------------------- numbers
    @functools.cached_property
    def ratings(self) -> pd.DataFrame:
        """Ratings of the players, the strongest first.

        Columns player, rating, low, high (Elo points with mean 0 and 95% intervals), games,
        score and draws (percent of the comparisons, both seats).

        Source: Davidson (1970), as in :mod:`afterstate.arena.ratings`.
        """
        found = ratings(self.results)
        met = self._points.groupby("player")
        return found.assign(
            score=found.player.map(100.0 * met.points.mean()),
            draws=found.player.map(100.0 * met.draw.mean()),
        )

    @functools.cached_property
    def cross(self) -> pd.DataFrame:
        """Mean points of the row's player against the column's in percent, both seats.

        A draw counts one half; the strongest come first.
        """
        return self._square(100.0 * self._points.groupby(["player", "other"]).points.mean())

    @functools.cached_property
    def draws(self) -> pd.DataFrame:
        """Draws between two players in percent of their matches."""
        return self._square(100.0 * self._points.groupby(["player", "other"]).draw.mean())

    @functools.cached_property
    def different(self) -> pd.DataFrame:
        """Share of different games between two players in percent of their finished matches.

        Two players without chance repeat one game from each start, so their matches say less than
        their number promises. NaN where the table does not hold the moves.
        """
        if "moves" not in self.table:
            return self._square(self._points.groupby(["player", "other"]).points.mean() * np.nan)
        finished = self.table[self.table.score.notna()].sort_values("seat")
        whole = finished.groupby("match").agg(
            players=("player", tuple), start=("start", "first"), moves=("moves", "first")
        )
        met = self._met.merge(whole, left_on="match", right_index=True)
        met["line"] = list(zip(met.players, met.start, met.moves))
        both = pd.concat(
            [
                met.rename(columns={"first": "player", "second": "other"}),
                met.rename(columns={"first": "other", "second": "player"}),
            ]
        )
        groups = both.groupby(["player", "other"])
        return self._square(100.0 * groups.line.nunique() / groups.match.nunique())

    @functools.cached_property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Triples in which each player beats the next: no single scale can express them."""
        return cycles(self.results)

    @property
    def errors(self) -> int:
        """Number of matches that failed."""
        return int(self.table.groupby("match").score.apply(lambda s: s.isna().any()).sum())

    @functools.cached_property
    def _points(self) -> pd.DataFrame:
        """One row per comparison and side: player, other, points, draw."""
        met = self._met
        both = pd.concat(
            [
                met.rename(columns={"first": "player", "second": "other"}),
                met.rename(columns={"first": "other", "second": "player"}).assign(
                    points=1.0 - met.points
                ),
            ],
            ignore_index=True,
        )
        return both.assign(draw=both.points == 0.5)

    @functools.cached_property
    def _order(self) -> list[str]:
        """The players, the strongest first."""
        return list(ratings(self.results, bootstraps=0).player)

    @functools.cached_property
    def _met(self) -> pd.DataFrame:
        """One row for every two seats of a match."""
        return results.pairs(self.table)

    def _square(self, values) -> pd.DataFrame:
        """Return values by (player, other) as a table with the strongest player first."""
        order = self._order
        square = values.unstack().reindex(index=order, columns=order).astype(float)
        return square.rename_axis(index=None, columns=None)

    # ------------------------------------------------------------------------------------- showing
    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        found = []
        if self.errors:
            found.append(f"{self.errors} matches failed and do not count; see table.error.")
        for a, b, c in self.cycles:
            found.append(f"{a} beats {b}, {b} beats {c}, {c} beats {a}: no single scale fits.")
        share = self.different / 100.0
        names = list(share)
        seldom = [
            f"{a} - {b} ({100 * share.loc[a, b]:.0f}%)"
            for k, a in enumerate(names)
            for b in names[k + 1 :]
            if share.loc[a, b] < REPEATED
        ]
        if seldom:
            found.append(
                f"Few of the games are different between {', '.join(seldom)}: further episodes add"
                " little there and the intervals are too narrow; give several starts, such as"
                " arena.starts_random(...)."
            )
        if self.game.players > 2:
            found.append(
                "Every two seats of a match are compared; these comparisons are not independent, so"
                " the intervals are too narrow."
            )
        return found

    def plot(self, ax=None):
        """Draw the ratings with their intervals; return the matplotlib axes."""
        return plot(self, ax)

    def _tables(self) -> list[tuple[str, pd.DataFrame]]:
        shown = self.ratings.rename(columns={"score": "score %", "draws": "draws %"})
        shown = shown.round({"rating": 0, "low": 0, "high": 0, "score %": 1, "draws %": 1})
        shown.index = range(1, len(shown) + 1)
        shown[["rating", "low", "high", "games"]] = shown[
            ["rating", "low", "high", "games"]
        ].astype(int)
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
