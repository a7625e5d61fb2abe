"""Results: numbers with columns that say what was measured, of whom and how.

::

    [{"measure": "win_rate", "opponent": "AB-DL", "seat": "first", "value": 49.5}, ...]

The columns of this study are below; an evaluator may have others, each of words or of numbers. What
a row does not name is empty: "" in a column of words, NaN in one of numbers. So a selection names
all columns that are filled, and those that it does not name are empty::

    select(table, measure="win_rate", opponent="AB-DL")    # both seats, without a search
    select(table, measure="mistakes", ply=...)             # at whatever ply
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

# where a result stands, and what it is: never the name of a column of an evaluator
PLACE = ("study", "arm", "run", "episode")
# of an arm of one's own: the recorded arm that it changes
LIKE = "like"
# The columns of the evaluators of this package, in the order in which tables show them.
COLUMNS = {
    "measure": "what is measured; the name says the unit, as in `MEASURES`",
    "player": "who is measured; empty: the trained agent",
    "opponent": "against whom",
    "seat": "first or second, of who is measured; empty: both",
    "variant": "another reading of the same measure",
    "move": "an opening move",
    "iterations": "of the search of who is measured; empty: none",
    "c_puct": "of that search; empty: its default",
    "depth": "of the search of who is measured",
    "level": "of the opponent, of an engine that has levels",
    "dial": "strength of a weakened player, 0 to 1",
    "twists": "with which a cube was scrambled",
    "distance": "of a cube from the solved one",
    "ply": "of a game, from 0",
    "tile": "of 2048",
    "without": "the number of the feature that was taken away",
    "after": "the number of training games after which the agent was taken",
}
# What measures stand for on an axis; "percent" tells that it lies between 0 and 100.
MEASURES = {
    "win_rate": "win rate in percent (a draw counts half)",
    "solved_rate": "cubes solved in percent",
    "won_games_rate": "games won in percent",
    "won": "games won in percent",
    "drawn": "games drawn in percent",
    "lost": "games lost in percent",
    "reached": "games that reached the tile in percent",
    "mistakes": "moves that give away the value in percent",
    "early win rate": "win rate early in the training in percent",
    "active_weights": "weights in use in percent",
    "touched_weights": "weights ever changed in percent",
    "wins": "games won",
    "draws": "games drawn",
    "losses": "games lost",
}


def in_percent(measure: str) -> bool:
    """Return whether a measure lies between 0 and 100: those of `MEASURES`, and every ``_rate``."""
    return "percent" in MEASURES.get(measure, "") or measure.endswith("_rate")


def rows_of(values: Mapping, **columns) -> list[dict]:
    """Return the rows of an evaluator: measure -> value, all with the same further columns."""
    return [{"measure": measure, **columns, "value": value} for measure, value in values.items()]


def as_rows(found, name: str) -> tuple[list, list]:
    """Return what an evaluator returned as rows of columns and their values.

    Parameters
    ----------
    found : dict or list
        ``{measure: number}``, or a list of rows, each a dictionary with ``measure``, ``value`` and
        further columns, words or numbers.
    name : str
        Of the evaluator, for the ValueError if it returned something else.
    """
    if isinstance(found, Mapping):
        found = [{"measure": measure, "value": value} for measure, value in found.items()]
    try:
        rows = [_row(row) for row in found]
        values = [float(row["value"]) for row in found]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(_wrong(name, found, error)) from error
    if not rows or not all(map(math.isfinite, values)):
        raise ValueError(_wrong(name, found, "a number is missing or not finite"))
    if len({key(row) for row in rows}) < len(rows):
        raise ValueError(_wrong(name, found, "two rows have the same columns"))
    return rows, values


def _row(row) -> dict:
    columns = {name: _plain(value) for name, value in row.items() if name != "value"}
    columns = {name: value for name, value in columns.items() if _filled(value)}
    if taken := {*PLACE, LIKE} & set(columns):
        raise ValueError(f"the column {min(taken)} is where a result stands")
    if not isinstance(columns.get("measure"), str):
        raise ValueError("a row needs a measure, a word")
    return columns


def _plain(value):
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is neither a word nor a finite number")
    return int(value) if value == int(value) else float(value)


def _wrong(name, found, why):
    return (
        f"the evaluator {name!r} must return {{measure: finite number}}, or a list of rows"
        f' {{"measure": ..., "value": finite number, ...}}, not {found!r}: {why}'
    )


def _filled(value) -> bool:
    return value is not None and value != "" and value == value


def key(columns: Mapping) -> frozenset:
    """Return what tells rows apart: the columns that are filled, in any order."""
    return frozenset(item for item in columns.items() if _filled(item[1]))


def in_words(columns) -> str:
    """Return columns, or what :func:`key` makes of them: "win_rate, opponent AB-DL, seat first"."""
    columns = dict(key(dict(columns)))
    words = [str(columns.pop("measure", ""))]
    words += [f"{name} {_shown(columns[name])}" for name in _in_order(sorted(columns))]
    return ", ".join(filter(None, words))


def _shown(value):
    return value if isinstance(value, str) else f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"


def filling(table: pd.DataFrame) -> list:
    """Return the columns of a table that say what was measured: all but its place and value."""
    return [name for name in table.columns if name not in PLACE and name not in ("value", LIKE)]


def filled(table: pd.DataFrame) -> list:
    """Return those of them that are filled in some row."""
    return [name for name in filling(table) if _matches(table[name], ...).any()]


def select(table: pd.DataFrame, **columns) -> pd.DataFrame:
    """Return the rows of a table whose columns are as given, and empty where nothing is given.

    A value may be a list of which any will do, or ``...``, whatever is filled. The arm, run and
    episode only have to be as given if they are.
    """
    wanted = np.ones(len(table), bool)
    for name in filling(table) + [name for name in PLACE if name in columns]:
        wanted &= _matches(table[name], columns.pop(name, None))
    # a column that no row has: nothing was measured that fills it
    asked = [name for name, value in columns.items() if _asked(value)]
    return table[:0].assign(**dict.fromkeys(asked, math.nan)) if asked else table[wanted]


def _asked(value):
    return isinstance(value, list) or value is ... or _filled(value)


def _matches(column, value):
    if isinstance(value, list):
        return column.isin(value).to_numpy()
    values = column.to_numpy()  # asked a thousand times of a few rows: pandas would take five times
    if value is not ... and _filled(value):
        return np.equal(values, value).astype(bool)
    empty = np.isnan(values) if values.dtype.kind in "fiu" else np.equal(values, "").astype(bool)
    return ~empty if value is ... else empty


def by_columns(table: pd.DataFrame) -> dict:
    """Return (study, arm, :func:`key` of the filled columns) -> its rows."""
    names = filling(table)
    groups = table.groupby(["study", "arm", *names], sort=False, dropna=False)
    return {
        (study, arm, key(dict(zip(names, columns, strict=True)))): rows
        for (study, arm, *columns), rows in groups
    }


class Collected:
    """Results of the runs of an arm, on their way from records into a table."""

    def __init__(self):
        self.rows, self._numbers, self._layouts, self._parts = [], {}, {}, []

    def add(self, run: int, points: Mapping) -> None:
        """Add what a record holds: `rows`, `episode`, and for each row its `values`."""
        rows, episodes = points["rows"], np.asarray(points["episode"], np.int64)
        layout = self._layouts.setdefault(id(rows), (rows, [self._number(row) for row in rows]))[1]
        self._parts.append((run, layout, episodes, np.asarray(points["values"], float)))

    def _number(self, row):
        number = self._numbers.setdefault(key(row), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def table(self) -> pd.DataFrame:
        """Return run, episode, columns and value; of two values in one place the later counts."""
        if not self._parts:
            return pd.DataFrame(columns=["run", "episode", "measure", "value"]).astype(
                {"run": "int64", "episode": "int64", "measure": "str", "value": "float64"}
            )
        numbers = pd.DataFrame(
            {
                "run": np.concatenate([np.full(v.size, run) for run, _, _, v in self._parts]),
                "row": np.concatenate([np.repeat(rows, len(e)) for _, rows, e, _ in self._parts]),
                "episode": np.concatenate([np.tile(e, len(v)) for _, _, e, v in self._parts]),
                "value": np.concatenate([v.ravel() for _, _, _, v in self._parts]),
            }
        )
        place = ["run", "row", "episode"]
        numbers = numbers.drop_duplicates(place, keep="last").sort_values(place, ignore_index=True)
        layout = _empty_filled(pd.DataFrame(self.rows))
        columns = layout[_in_order(layout.columns)].take(numbers["row"]).reset_index(drop=True)
        return pd.concat([numbers[["run", "episode"]], columns, numbers[["value"]]], axis=1)


def as_lines(table: pd.DataFrame, lines: Mapping) -> pd.DataFrame:
    """Return the rows of some arms under the names of lines of a figure: arm -> line.

    Arms of one's own that change one of them stay, under their own names.
    """
    if LIKE not in table:
        chosen = table[table["arm"].isin(list(lines))]
        return chosen.assign(arm=chosen["arm"].map(lines))
    chosen = table[table["arm"].isin(list(lines)) | table[LIKE].isin(list(lines))]
    return chosen.assign(
        arm=chosen["arm"].map(lines).where(chosen[LIKE] == "", chosen["arm"]),
        like=chosen[LIKE].map(lines).fillna(""),
    )


def joined(tables: list) -> pd.DataFrame:
    """Return tables of results below each other; what one of them does not name is empty."""
    table = pd.concat(tables, ignore_index=True)
    own = [name for name in (LIKE,) if name in table]
    table = _empty_filled(table[[*PLACE, *_in_order(filling(table)), "value", *own]])
    return table.fillna(dict.fromkeys(own, ""))


def _in_order(names):
    names = list(dict.fromkeys(names))
    return [n for n in COLUMNS if n in names] + [n for n in names if n not in COLUMNS]


def _empty_filled(table):
    words = {}
    for name in filling(table):
        if not pd.api.types.is_numeric_dtype(table[name]):
            kinds = {isinstance(value, str) for value in table[name].dropna().unique()}
            if len(kinds) > 1:
                raise ValueError(f"the column {name!r} holds words and numbers; it needs one kind")
            words[name] = ""
    return table.fillna(words)
