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
    try:
        results = rows_of(found) if isinstance(found, Mapping) else list(found)
        rows = [_row(result) for result in results]
        values = [float(result["value"]) for result in results]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(_wrong(name, found, error)) from error
    if not rows or not all(map(math.isfinite, values)):
        raise ValueError(_wrong(name, found, "a number is missing or not finite"))
    if len(set(map(key, rows))) < len(rows):
        raise ValueError(_wrong(name, found, "two rows have the same columns"))
    return rows, values


def one_point(rows, episode, values) -> dict:
    """Return the values of some rows at one episode, as a record holds them."""
    return {"rows": rows, "episode": [episode], "values": [[value] for value in values]}


def _row(result) -> dict:
    """Return the columns that a result fills, but for its value."""
    columns = {}
    for name, value in result.items():
        plain_value = None if name == "value" else _plain(value)
        if _filled(plain_value):
            columns[name] = plain_value
    taken = {*PLACE, LIKE} & set(columns)
    if taken:
        raise ValueError(f"the column {min(taken)} is where a result stands")
    if not isinstance(columns.get("measure"), str):
        raise ValueError("a row needs a measure, a word")
    return columns


def _plain(value):
    """Return a word, or a number as int if it is whole, else as float."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is neither a word nor a finite number")
    return int(value) if value == int(value) else float(value)


def _wrong(name, returned, why):
    return (
        f"the evaluator {name!r} must return {{measure: finite number}}, or a list of rows"
        f' {{"measure": ..., "value": finite number, ...}}, not {returned!r}: {why}'
    )


def _filled(value) -> bool:
    """Return whether a value is neither None nor "" nor nan."""
    return value is not None and value != "" and value == value


def key(columns: Mapping) -> frozenset:
    """Return what tells rows apart: the columns that are filled, in any order."""
    return frozenset(item for item in columns.items() if _filled(item[1]))


def in_words(columns) -> str:
    """Return columns, or what :func:`key` makes of them: "win_rate, opponent AB-DL, seat first"."""
    values = dict(key(dict(columns)))
    words = [str(values.pop("measure", ""))]
    for name in _in_order(sorted(values)):
        words.append(f"{name} {_shown(values[name])}")
    return ", ".join(filter(None, words))


def _shown(value):
    if isinstance(value, str):
        return value
    return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"


def filling(table: pd.DataFrame) -> list:
    """Return the columns of a table that say what was measured: all but its place and value."""
    others = {*PLACE, "value", LIKE}
    return [name for name in table.columns if name not in others]


def filled(table: pd.DataFrame) -> list:
    """Return those of them that are filled in some row."""
    return [name for name in filling(table) if _matches(table[name], ...).any()]


def select(table: pd.DataFrame, **columns) -> pd.DataFrame:
    """Return the rows of a table whose columns are as given, and empty where nothing is given.

    A value may be a list of which any will do, or ``...``, whatever is filled. The arm, run and
    episode only have to be as given if they are.
    """
    # A column that no row has: nothing was measured that fills it.
    unknown = _unknown(table, columns)
    if unknown:
        return table[:0].assign(**dict.fromkeys(unknown, math.nan))
    return table[selected(table, **columns)]


def selected(table: pd.DataFrame, **columns) -> np.ndarray:
    """Return which rows :func:`select` returns: bool [rows].

    Where only numbers are wanted of a few rows, this is four times as fast as their table.
    """
    if _unknown(table, columns):
        return np.zeros(len(table), bool)
    wanted = np.ones(len(table), bool)
    for name in filling(table) + [name for name in PLACE if name in columns]:
        if not wanted.any():
            break
        wanted &= _matches(table[name], columns.get(name))
    return wanted


def _unknown(table, columns):
    """Return the columns that must be filled and that a table lacks."""
    known = {*filling(table), *PLACE}
    return [name for name, value in columns.items() if name not in known and _asks(value)]


def _asks(value):
    """Return whether only rows will do that fill a column."""
    return isinstance(value, list) or value is ... or _filled(value)


def _matches(column, value):
    """Return which rows of a column are as a selection says: bool [rows]."""
    if isinstance(value, list):
        return column.isin(value).to_numpy()
    values = column.to_numpy()  # asked a thousand times of a few rows: pandas would take five times
    if value is not ... and _filled(value):
        return np.equal(values, value).astype(bool)
    if values.dtype.kind in "fiu":
        is_empty = np.isnan(values)
    else:
        is_empty = np.equal(values, "").astype(bool)
    return ~is_empty if value is ... else is_empty


def by_columns(table: pd.DataFrame) -> Mapping:
    """Return (study, arm, :func:`key` of the filled columns) -> its rows: place, measure, value."""
    names = filling(table)
    groups = table.groupby(["study", "arm", *names], sort=False, dropna=False)
    group_of_row = groups.ngroup().to_numpy()
    order = np.argsort(group_of_row, kind="stable")
    starts = np.flatnonzero(np.diff(group_of_row[order], prepend=-1))
    rows_of_place = {}
    first_rows = table[["study", "arm", *names]].take(order[starts])
    parts = np.split(order, starts[1:])
    for (study, arm, *values), rows in zip(first_rows.itertuples(index=False, name=None), parts):
        columns = dict(zip(names, values, strict=True))
        rows_of_place[study, arm, key(columns)] = rows
    return _RowsOfPlaces(table[[*PLACE, "measure", "value"]], rows_of_place)


class _RowsOfPlaces(Mapping):
    """Rows of a table by their place; of ten thousand places a page asks for some hundreds."""

    def __init__(self, table, rows_of_place):
        self._table = table
        self._rows_of_place = rows_of_place

    def __getitem__(self, place):
        return self._table.take(self._rows_of_place[place])

    def __contains__(self, place):
        return place in self._rows_of_place

    def __iter__(self):
        return iter(self._rows_of_place)

    def __len__(self):
        return len(self._rows_of_place)


class Collected:
    """Results of the runs of an arm, on their way from records into a table."""

    def __init__(self):
        self.rows = []  # all different ones
        self._numbers = {}  # key of a row -> its number
        # One entry for each value: arrays that are joined at the end.
        self._parts = {"run": [], "row": [], "episode": [], "value": []}

    def add(self, run: int, points: Mapping) -> None:
        """Add what a record holds: `rows`, `episode`, and for each row its `values`."""
        numbers = [self._number(row) for row in points["rows"]]
        episodes = np.asarray(points["episode"], np.int64)
        values = np.asarray(points["values"], float)  # [rows, episodes]
        self._parts["run"].append(np.full(values.size, run))
        self._parts["row"].append(np.repeat(numbers, len(episodes)))
        self._parts["episode"].append(np.tile(episodes, len(values)))
        self._parts["value"].append(values.ravel())

    def _number(self, row):
        """Return the number of a row, a new one if no row has the same columns."""
        number = self._numbers.setdefault(key(row), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def table(self) -> pd.DataFrame:
        """Return run, episode, columns and value; of two values in one place the later counts."""
        if not self.rows:
            return pd.DataFrame(columns=["run", "episode", "measure", "value"]).astype(
                {"run": "int64", "episode": "int64", "measure": "str", "value": "float64"}
            )
        arrays = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        place = ["run", "row", "episode"]
        points = pd.DataFrame(arrays).drop_duplicates(place, keep="last")
        points = points.sort_values(place, ignore_index=True)
        rows = _empty_filled(pd.DataFrame(self.rows))
        rows = rows[_in_order(rows.columns)]
        columns = rows.take(points["row"]).reset_index(drop=True)
        return pd.concat([points[["run", "episode"]], columns, points[["value"]]], axis=1)


def as_lines(table: pd.DataFrame, lines: Mapping) -> pd.DataFrame:
    """Return the rows of some arms under the names of lines of a figure: arm -> line.

    Arms of one's own that change one of them stay, under their own names.
    """
    is_recorded = table["arm"].isin(list(lines))
    if LIKE not in table:
        chosen = table[is_recorded]
        return chosen.assign(arm=chosen["arm"].map(lines))
    chosen = table[is_recorded | table[LIKE].isin(list(lines))]
    return chosen.assign(
        arm=chosen["arm"].map(lines).where(chosen[LIKE] == "", chosen["arm"]),
        like=chosen[LIKE].map(lines).fillna(""),
    )


def joined(tables: list) -> pd.DataFrame:
    """Return tables of results below each other; what one of them does not name is empty."""
    table = pd.concat(tables, ignore_index=True)
    names = [*PLACE, *_in_order(filling(table)), "value"]
    if LIKE not in table:
        return _empty_filled(table[names])
    return _empty_filled(table[[*names, LIKE]]).fillna({LIKE: ""})


def _in_order(names):
    """Return different names of columns: those of this study in their order, then the others."""
    names = list(dict.fromkeys(names))
    known = [name for name in COLUMNS if name in names]
    others = [name for name in names if name not in COLUMNS]
    return known + others


def _empty_filled(table):
    """Return a table with "" where a column of words is empty."""
    fillings = {}
    for name in filling(table):
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        is_word = {isinstance(value, str) for value in table[name].dropna().unique()}
        if len(is_word) > 1:
            raise ValueError(f"the column {name!r} holds words and numbers; it needs one kind")
        fillings[name] = ""
    return table.fillna(fillings)
