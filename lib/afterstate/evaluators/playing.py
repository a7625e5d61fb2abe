"""How evaluators play: one game move by move, or matches of which none may fail."""

import pandas as pd

from ..arena.matches import matches
from ..kernel.random import new_rng


def play_on(game, seated, state, seed: int, most: int):
    """Play until the game is over or has gone on for `most` moves.

    All players have been told of the match (``new_match``). Everyone who has the method ``observe``
    hears of every move.

    Parameters
    ----------
    game : Game
    seated : sequence of Player
        One for each seat.
    state : ndarray of int64
        Where it begins; it stays as it is.
    seed : int
        Of chance.
    most : int
        Moves after which the game is broken off.

    Returns
    -------
    (state, moves) : (ndarray of int64, int)
        Where it ends, and after how many moves.
    """
    rng, moves = new_rng(seed), 0
    while moves < most and not game.over(state):
        action = seated[game.player(state)].choose(state)
        state = game.next(state, action, rng)
        for player in seated:
            if hasattr(player, "observe"):
                player.observe(action, state)
        moves += 1
    return state, moves


def played(game, players, starts, episodes, seed, seats="all") -> pd.DataFrame:
    """Return the table of :func:`afterstate.arena.matches.matches`.

    Raises RuntimeError if a match failed: what is measured would be of the others only.
    """
    table = matches(game, players, starts, episodes, seed, seats=seats)
    failed = table[table.error != ""]
    if len(failed):
        raise RuntimeError(
            f"{failed.match.nunique()} of {table.match.nunique()} matches failed; the first:"
            f" {failed.error.iloc[0]}"
        )
    return table
