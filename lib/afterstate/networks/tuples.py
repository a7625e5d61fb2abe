"""N-tuples: which cells each of them reads.

They are given, or taken from a list in ``data/ntuples.yaml``, or random walks on the board.
"""

from collections import Counter

import numpy as np

from ..files import published_file, read_yaml
from ..kernel.random import random_int


def random_walk(game, num: int, length: int, rng, corners: bool = False) -> list[list[int]]:
    """Draw n-tuples as random walks on the board.

    Each starts on a uniformly random cell; a random cell already in the tuple gets a random
    neighbour, which joins if it is new, until the tuple is full. Tuples may repeat.

    Parameters
    ----------
    game : Game
    num, length : int
        Number of tuples and cells of each.
    rng : uint64 [1]
        From ``kernel.new_rng``; it advances.
    corners : bool
        Whether cells are neighbours also over a corner: those that two neighbours of a cell share.

    Raises
    ------
    ValueError
        If a tuple can not be that long.
    """
    if not all(isinstance(n, int) for n in (num, length)):
        raise ValueError(
            f"random-walk tuples need whole numbers, not random_walk={num!r}, length={length!r}"
        )
    neighbours = _with_corners(game.neighbours) if corners else game.neighbours
    reach = [len(_reach(neighbours, cell)) for cell in range(game.cells)]
    if num < 1 or not 1 <= length <= min(reach):
        raise ValueError(
            f"{num} tuples of {length} cells do not fit {game.name}, which has {game.cells} cells"
            " (or some of them have too few neighbours)"
        )
    tuples = []
    for _ in range(num):
        walk = [int(random_int(rng, game.cells))]
        while len(walk) < length:
            beside = neighbours[walk[random_int(rng, len(walk))]]
            cell = beside[random_int(rng, len(beside))]
            if cell not in walk:
                walk.append(int(cell))
        tuples.append(sorted(walk))
    return tuples


def _with_corners(neighbours) -> list[list[int]]:
    """Add the cells that two neighbours of a cell share."""
    found = []
    for cell, beside in enumerate(neighbours):
        ways = Counter(int(far) for near in beside for far in set(neighbours[near]))
        over = [far for far, number in ways.items() if number > 1 and far != cell]
        found.append(sorted({*map(int, beside), *over}))
    return found


def _reach(neighbours, cell) -> set:
    """All cells that a walk from `cell` can get to."""
    found, border = {cell}, {cell}
    while border:  # a set: on a large board many ways lead to each cell
        border = {int(n) for c in border for n in neighbours[c]} - found
        found.update(border)
    return found


def make_tuples(game, wanted, rng) -> list[list[int]]:
    """Return the tuples that a parameter asks for.

    Parameters
    ----------
    wanted : list of lists of int, "all", str, or dict
        The cells of each tuple; one tuple of all cells; the name of a list in
        ``data/ntuples.yaml``; or ``{"random_walk": number, "length": cells}`` to draw them with
        `rng`, with ``"corners": True`` also over corners.

    Raises
    ------
    ValueError
        If it asks for something else.
    """
    walk = {"random_walk", "length"}
    if isinstance(wanted, dict) and walk <= set(wanted) <= walk | {"corners"}:
        corners = wanted.get("corners", False)
        if not isinstance(corners, bool):
            raise ValueError(f"tuples={wanted!r}: corners must be True or False")
        return random_walk(game, wanted["random_walk"], wanted["length"], rng, corners)
    if wanted == "all":
        return [list(range(game.cells))]
    if isinstance(wanted, str):
        lists = read_yaml(published_file("ntuples.yaml"))
        if wanted not in lists:
            raise ValueError(
                f"there is no n-tuple list {wanted!r} in data/ntuples.yaml; it has"
                f" {', '.join(sorted(lists))}"
            )
        return lists[wanted]["tuples"]
    if isinstance(wanted, (list, tuple)):
        return list(wanted)
    raise ValueError(
        f"tuples={wanted!r} is neither a list of cell lists, 'all', a name, nor {{'random_walk':"
        " number, 'length': cells}} (and 'corners': True)"
    )


def check_tuples(game, tuples) -> None:
    """Raise ValueError if there is no tuple, or one of them is empty or not within the board."""
    if not tuples:
        raise ValueError("a network needs at least one n-tuple")
    for cells in tuples:
        if not isinstance(cells, (list, tuple, range)) or not all(
            isinstance(c, (int, np.integer)) and not isinstance(c, bool) for c in cells
        ):
            raise ValueError(f"an n-tuple is a list of cell numbers, not {cells!r}")
        wrong = [c for c in cells if not 0 <= c < game.cells]
        if wrong or not cells or len(set(cells)) != len(cells):
            what = (
                f"cell {wrong[0]} is off the board"
                if wrong
                else "it is empty"
                if not cells
                else "it names a cell twice"
            )
            raise ValueError(
                f"n-tuple {cells}: {what}; {game.name} has the cells 0 to {game.cells - 1}"
            )
