"""How a paper prints its tables: which columns and rows they have, in its order.

An entry of ``tables`` in ``data/papers/<key>.yaml`` lists them where the order of the claims is not
that of the paper, or where several columns stand before the values.
"""

from dataclasses import dataclass

from .fields import TABLE_FIELDS, check_fields


@dataclass(frozen=True)
class Table:
    """A printed table.

    Parameters
    ----------
    caption : str
    heads : tuple of str
        Headers of the columns that stand before the values.
    rows : dict
        Row of a place -> what is printed in it before the values, one text for each of `heads`.
    columns : tuple of str
        Columns of the values.
    """

    caption: str
    heads: tuple
    rows: dict
    columns: tuple


def read_tables(entries, claims, file: str) -> dict:
    """Return name -> Table for each table that claims stand in, in the order of the claims.

    Raises ValueError for a table, row or column that no claim has, and for one that is not listed.
    """
    places = [claim.place for claim in claims if "table" in claim.place]
    names = list(dict.fromkeys(place["table"] for place in places))
    _check_known(f"{file}: tables", entries, names)
    return {
        name: _table(
            entries.get(name, {}),
            [place for place in places if place["table"] == name],
            f"{file}: table {name}",
        )
        for name in names
    }


def _table(entry, places, where):
    check_fields(entry, TABLE_FIELDS, set(), where)
    found = {
        kind: list(dict.fromkeys(place[kind] for place in places)) for kind in ("row", "column")
    }
    rows, columns = entry.get("rows", found["row"]), entry.get("columns", found["column"])
    for what, listed, known in (
        ("rows", rows, found["row"]),
        ("columns", columns, found["column"]),
    ):
        _check_known(f"{where}: {what}", listed, known)
        missing = [name for name in known if name not in listed]
        if missing:
            raise ValueError(f"{where}: {what} lack {missing[0]!r}, in which a claim stands")
    heads = tuple(entry.get("heads", [""]))
    cells = rows if isinstance(rows, dict) else {row: [row] for row in rows}
    for row, before in cells.items():
        if not isinstance(before, list) or len(before) != len(heads):
            raise ValueError(
                f"{where}: row {row!r} has {before!r} before its values; it needs a list with one"
                f" text for each of the heads {', '.join(map(repr, heads))}"
            )
    return Table(entry.get("caption", ""), heads, cells, tuple(columns))


def _check_known(where, listed, known):
    for name in listed:
        if name not in known:
            raise ValueError(
                f"{where}: no claim stands in {name!r}; there are {', '.join(map(repr, known))}"
            )
