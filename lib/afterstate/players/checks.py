"""Checks of what a match is given: each raises an error that names it."""

from ..games.game import check_game
from ..networks.table import QTable


def q_table(value) -> QTable:
    """Return a table of action values, or raise TypeError."""
    if not isinstance(value, QTable):
        raise TypeError(
            f"a table of action values (networks.table.QTable) is needed, not {value!r}"
        )
    return value


def same_game(what: str, own, game) -> None:
    """Raise ValueError if something was made for another game than `game`, or `game` is none."""
    check_game(game, f"the match of {what}")
    if own is not game and own.identity != game.identity:
        raise ValueError(
            f"{what} was made for {own!r}, the match is {game!r}: make one for this game, or load"
            " the right weights"
        )
