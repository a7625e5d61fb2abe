"""Start positions of matches: all after some plies, given ones, or drawn at random."""

from typing import NamedTuple

import numpy as np

from ..checks import whole
from ..games.game import check_game
from ..kernel.random import new_rng, seed_from


class Start(NamedTuple):
    """A start position and the actions that lead to it from the default start."""

    state: np.ndarray  # int32 [size]
    actions: list


def _without_chance(game):
    if not check_game(game, "a start position").deterministic:
        raise ValueError(f"{game.name} has chance, actions determine no position: starts_random")


def starts_all(game, plies: int) -> list[Start]:
    """Return every non-terminal position after exactly `plies` actions, one for each sequence."""
    _without_chance(game)
    level = [Start(game.start(), [])]
    for _ in range(whole("plies", plies, 0)):
        level = [
            Start(game.play(s, a), [*actions, int(a)])
            for s, actions in level
            for a in game.legal(s)
        ]
    return [start for start in level if not game.over(start.state)]


def starts_upto(game, plies: int) -> list[Start]:
    """Return the default start and every non-terminal position after at most `plies` actions."""
    return [start for k in range(whole("plies", plies, 0) + 1) for start in starts_all(game, k)]


def starts_after(game, paths) -> list[Start]:
    """Return the positions after some sequences of actions from the default start."""
    _without_chance(game)
    return [Start(game.after(path), [int(action) for action in path]) for path in paths]


def starts_random(game, n: int, seed: int = 0) -> list[Start]:
    """Draw `n` start positions by the game's start scheme.

    Source: [konen2021] App. A.6 (Choose-Start-01).
    """
    check_game(game, "a start position")
    whole("the number of start positions", n)
    rng = new_rng(seed_from(seed, "starts"))
    return [Start(*game.random_start(rng)) for _ in range(n)]


STARTS = {
    "all": lambda game, n, seed: starts_all(game, n),
    "upto": lambda game, n, seed: starts_upto(game, n),
    "after": lambda game, paths, seed: starts_after(game, paths),
    "random": starts_random,
}
