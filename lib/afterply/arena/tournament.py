"""Tournaments: everybody meets everybody, and a table says who is how strong and how sure that is.

A notebook shows it: ratings with intervals, cross table, what is doubtful; ``table.plot()``.
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


def tournament(game, players, episodes: int = 10, starts=None, seed: int = 0, **how) -> "Standings":
    """Let all players meet and return the standings: cross table, ratings, cycles, repeated games.

    The matches are those of :func:`afterply.arena.matches`, which explains `players`, `episodes`
    and `starts`; `how`: its workers, path, max_plies. ValueError if nobody can be compared.

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
        self.game, self.table, self.results = game, table, ratings.counted(table)
        self.failed = ratings.failures(table)
        failed = f", {self.failed} failed" if self.failed else ""
        self._title = f"{game.name}: {table.match.nunique()} matches{failed}"
        if not len(self.results):
            errors = sorted({error for error in table.error if error})
            raise ValueError(f"no match was finished, nobody can be rated: {'; '.join(errors[:3])}")

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Player, rating, low, high, games; score and draws over both seats, in percent."""
        found, met = ratings.ratings(self.results), ratings.both_seats(self.results)
        own = met.groupby("player", sort=False).sum()
        score, draws = 100.0 * (own.points / own.games), 100.0 * (own.draws / own.games)
        return found.assign(score=found.player.map(score), draws=found.player.map(draws))

    @cached_property
    def cross(self) -> pd.DataFrame:
        """Mean points of the row's player against the column's in percent, both seats."""
        met = ratings.both_seats(self.results)
        return self._square(100.0 * (met.points / met.games))

    @cached_property
    def different(self) -> pd.DataFrame:
        """Different games between two players in percent of their finished matches."""
        by_match = self.table.sort_values("seat").groupby("match")
        played = by_match.agg({"player": tuple, "start": "first", "moves": "first"})
        met = ratings.pairs(self.table)
        met["game"] = met.match.map(played.apply(tuple, axis=1))
        both = [met, met.rename(columns={"first": "second", "second": "first"})]
        groups = pd.concat(both).groupby(["first", "second"], sort=False)
        return self._square(100.0 * groups.game.nunique() / groups.match.nunique())

    @cached_property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Triples in which each player beats the next."""
        return ratings.cycles(self.results)

    def _square(self, values) -> pd.DataFrame:
        order = list(self.ratings.player)
        square = values.unstack(sort=False).reindex(index=order, columns=order).astype(float)
        return square.rename_axis(index=None, columns=None)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        found = []
        if self.failed:
            first = next(error for error in self.table.error[self.table.score.isna()])
            found.append(
                f"{self.failed} matches failed and do not count, so all numbers are of the others"
                f" (an engine may die in those that it loses); the first: {first}"
            )
        for a, b, c in self.cycles:
            found.append(f"{a} beats {b}, {b} beats {c}, {c} beats {a}: no single scale fits.")
        shares = self.different
        seldom = [
            f"{a} - {b} ({shares.loc[a, b]:.0f}%)"
            for a, b in itertools.combinations(shares, 2)
            if shares.loc[a, b] / 100.0 < REPEATED
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
            plt = needs("matplotlib.pyplot", "plot")  # a second, which only a picture is worth
            ax = plt.subplots(figsize=(6, 1.3 + 0.42 * len(table)), layout="constrained")[1]
        places = np.arange(len(table))[::-1]
        spread = [table.rating - table.low, table.high - table.rating]
        bars = dict(xerr=np.maximum(spread, 0), fmt="o", color="#1a1a1a", capsize=3)
        ax.errorbar(table.rating, places, **bars)
        above = dict(textcoords="offset points", ha="center")
        for rating, place in zip(table.rating, places):
            ax.annotate(f"{rating:+.0f}", (rating, place), (0, 7), **above)
        ax.set_yticks(places, map(str, table.player), parse_math=False)
        ax.set_ylim(-0.6, len(table) - 0.3)
        ax.axvline(0, color="#8a8a8a", linewidth=0.8, linestyle=":")
        ax.set_xlabel("rating in Elo points, mean 0 (bars: 95% intervals)")
        ax.set_title(self._title)
        return ax

    def _tables(self) -> dict[str, pd.DataFrame]:
        shown = self.ratings.rename(columns={"score": "score %", "draws": "draws %"})
        shown = shown.round({"rating": 0, "low": 0, "high": 0, "score %": 1, "draws %": 1})
        shown.index = range(1, len(shown) + 1)
        shown = shown.astype(dict.fromkeys(["rating", "low", "high", "games"], int))
        return {
            f"{self._title}, Elo points with mean 0 and 95% intervals": shown,
            "Points of the row against the column, percent": self.cross.round(1),
        }

    def __repr__(self):
        blocks = [
            f"{title}\n{table.to_string(na_rep='')}" for title, table in self._tables().items()
        ]
        return "\n\n".join([*blocks, *self.remarks])

    def _repr_html_(self):
        tables = self._tables().items()
        blocks = [f"<p>{escape(title)}</p>{table.to_html(na_rep='')}" for title, table in tables]
        return "".join([*blocks, *(f"<p>{escape(remark)}</p>" for remark in self.remarks)])
