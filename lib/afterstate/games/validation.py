"""Checks at the public border, in plain Python: numbers, tables of a game, states from outside."""

import itertools
import reprlib

import numpy as np

from ..kernel.compile import kernel
from .calls import call_board, call_over, call_player

GUARD = 64  # spare elements behind every array that a rule writes into ...
SENTINEL = -77777  # ... and what they hold: a rule that overwrites them does not keep to its array
PROPER, NO_PLAYER = -1, -2  # what `fault_of` finds; else the number of a cell


# ------------------------------------------------------------------------------ tables of a game


def whole_numbers(name, what, given, dimensions) -> np.ndarray:
    """Return an int32 array of so many dimensions, none of them empty, or raise ValueError."""
    try:
        table = np.asarray(given)
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    if table.ndim != dimensions or not table.size or table.dtype.kind not in "iu":
        raise ValueError(
            f"game {name!r}: {what} must be a {'table' if dimensions == 2 else 'list'} of whole"
            f" numbers, not {given!r}"
        )
    return table.astype(np.int32)


def permutations(name, what, given, length) -> np.ndarray:
    """Return a table of permutations of 0 .. length - 1 as int32, or raise ValueError."""
    table = whole_numbers(name, what, given, 2)
    if table.shape[1] != length or (np.sort(table, axis=1) != np.arange(length)).any():
        raise ValueError(
            f"game {name!r}: each row of {what} must be a permutation of 0 to {length - 1}"
        )
    return table


def symmetry_group(name, given, cells) -> np.ndarray:
    """Return the symmetries as int32 [num_sym, cells]; the identity alone if none are given.

    Raises ValueError if they are not a group of permutations with the identity first.
    """
    if given is None:
        return np.arange(cells, dtype=np.int32)[None, :]
    table = permutations(name, "symmetries", given, cells)
    rows = {tuple(row) for row in table.tolist()}
    if tuple(table[0]) != tuple(range(cells)) or len(rows) != len(table):
        raise ValueError(
            f"game {name!r}: the symmetries must be distinct and start with the identity"
        )
    for i, j in itertools.product(range(len(table)), repeat=2):
        if tuple(table[i][table[j]]) not in rows:
            raise ValueError(
                f"game {name!r}: the symmetries are no group: {i} after {j} gives"
                f" {table[i][table[j]].tolist()}, which is not among them; add it"
            )
    return table


def action_symmetries(name, given, symmetries, actions) -> np.ndarray | None:
    """Return what each symmetry makes of the actions, int32 [num_sym, actions], or raise.

    Every row permutes the actions, and rows follow one another as the symmetries do.
    """
    if given is None:
        return None
    table = permutations(name, "action_symmetries", given, actions)
    if len(table) != len(symmetries):
        raise ValueError(
            f"game {name!r}: there are {len(symmetries)} symmetries, but {len(table)} rows of"
            " action_symmetries"
        )
    place = {row.tobytes(): k for k, row in enumerate(symmetries)}
    for i, j in itertools.product(range(len(table)), repeat=2):
        both = place[symmetries[i][symmetries[j]].tobytes()]  # first i, then j
        odd = np.flatnonzero(table[j][table[i]] != table[both])
        if len(odd):
            raise ValueError(
                f"game {name!r}: symmetry {i} and then {j} is symmetry {both}, but"
                f" action_symmetries takes action {odd[0]} to {table[j][table[i][odd[0]]]} by the"
                f" two and to {table[both][odd[0]]} by the one: action_symmetries[k][a] is what"
                " action a becomes where the code of cell symmetries[k][c] moves to cell c"
            )
    return table


def neighbourhood(name, given, cells) -> list:
    """Return the neighbours of each cell (all others if none are given), or raise ValueError."""
    if given is None:
        return [[c for c in range(cells) if c != cell] for cell in range(cells)]
    if len(given) != cells or not all(0 <= c < cells for beside in given for c in beside):
        raise ValueError(
            f"game {name!r}: neighbours must be {cells} lists of cells from 0 to {cells - 1}"
        )
    return given


def number_pair(name, wanted, given, proper) -> tuple[float, float]:
    """Return two finite numbers that are `proper` together, or raise ValueError."""
    try:
        first, second = map(float, given)
    except (TypeError, ValueError):
        first = second = np.nan
    if not (np.isfinite(first) and np.isfinite(second) and proper(first, second)):
        raise ValueError(f"game {name!r}: {wanted}, not {given!r}")
    return first, second


# ------------------------------------------------------------------------------ states from outside


@kernel
def fault_of(rules, num_codes, s, cells, to_move):
    """Return the first cell whose code is out of its range, NO_PLAYER, or PROPER."""
    if to_move and not call_over(rules, s):
        if not 0 <= call_player(rules, s) < rules.players:
            return NO_PLAYER
    call_board(rules, s, cells)
    for c in range(rules.cells):
        if not 0 <= cells[c] < num_codes[c]:
            return c
    return PROPER


def state_vector(game, s) -> np.ndarray:
    """Return a state as a contiguous int32 vector of the game's size, or raise ValueError."""
    given = np.asarray(s)
    if given.shape != (game.size,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"a state of {game.name} is a vector of {game.size} int32, not"
            f" {reprlib.repr(s)} of shape {given.shape}"
            + (f" and type {given.dtype}" if given.dtype.kind not in "iu" else "")
        )
    if given.dtype == np.int32:
        return np.ascontiguousarray(given)
    narrow = given.astype(np.int32)
    if (narrow != given).any():
        raise ValueError(f"the numbers of a state must fit int32, unlike {given.tolist()}")
    return narrow


def check_state(game, s, to_move: bool) -> None:
    """Raise ValueError if a vector can be no state of the game, whose rules might then do anything.

    Checked are the game's own `fault`, the cell codes, and, if there must be somebody `to_move` or
    the game be over, the player.
    """
    told = game.fault(s) if game.fault else None
    if told:
        raise ValueError(f"{s.tolist()} is no state of {game.name}: {told}")
    cells = np.zeros(game.cells + GUARD, np.int32)
    found = fault_of(game.rules, game.num_codes, s, cells, to_move)
    if found == NO_PLAYER:
        raise ValueError(wrong_player(game, s))
    if found != PROPER:
        raise ValueError(wrong_code(game, s, found, cells[found]))


def wrong_player(game, s) -> str:
    """Say in words that nobody, or nobody known, is to move."""
    return (
        f"game {game.name!r}: the rule 'player' gives {game.player_of(s)} at {s.tolist()}; players"
        f" are numbered from 0, here 0 to players - 1 = {game.players - 1}"
    )


def wrong_code(game, s, cell, code) -> str:
    """Say in words that a cell has a code that there is not."""
    most = game.num_codes[cell]
    return (
        f"game {game.name!r}: cell {cell} has the code {code} at {s.tolist()}, but"
        f" num_codes[{cell}] = {most} allows 0 to {most - 1}"
    )


def guarded(game, rule, call, array, size):
    """Call a rule on a copy of `array`; return its result and the array.

    Raises ValueError if it writes behind the end; `size` names what would have to be larger.
    """
    wide = np.full(len(array) + GUARD, SENTINEL, array.dtype)
    wide[: len(array)] = array
    result = call(wide[: len(array)])
    if (wide[len(array) :] != SENTINEL).any():
        raise ValueError(writes_beyond(game, rule, len(array), size))
    return result, wide[: len(array)].copy()


def writes_beyond(game, rule, length, size) -> str:
    """Say in words that a rule does not keep to the array that it may write into."""
    return (
        f"game {game.name!r}: the rule {rule!r} writes more than {length} values: correct it, or"
        f" raise {size}"
    )


def stuck(game, s) -> str:
    """Say in words that a game goes on without a legal action."""
    return (
        f"game {game.name!r}: there is no legal action at {s.tolist()}, but 'over' says that the"
        " game goes on: correct 'over', or let 'legal' write an action"
    )
