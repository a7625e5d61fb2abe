"""Published ladders of opponents: pick one by its strength.

    data/models/ladder-<game>.json    ratings at positions of the dial "careless" (1 - rate of
                                      random moves), and who is careless:
    data/models/ladder-<game>.npz     a table of action values, or (without this file) Min-Max

Ratings are Elo points above a player who moves at random, in the pool of
:mod:`afterstate.arena.rating_pool`.
"""

import json

import numpy as np

from ..checks import number
from ..files import published_file, read_json
from ..games.game import check_game
from ..networks import table
from . import agents, weaken

SLACK = 1e-6


def published() -> list[str]:
    """Return the names of the games that have a ladder."""
    files = published_file("models").glob("ladder-*.json")
    return sorted(path.stem.removeprefix("ladder-") for path in files)


def load(game) -> dict:
    """Return the ladder of a game: dials, ratings, kind ("table" or "min-max"), depth."""
    path = published_file("models") / f"ladder-{check_game(game, 'a ladder').name}.json"
    if not path.exists():
        there = ", ".join(published())
        raise ValueError(f"there is no ladder of opponents for {game.name}, only for {there}")
    ladder = read_json(path)
    if ladder["game"] != json.loads(json.dumps(game.identity)):
        raise ValueError(f"{path} was made for the defaults of {game.name}, not for {game!r}")
    return ladder


def at_strength(game, rating: float) -> agents.Agent:
    """Return an opponent of about this strength, from the published ladder of a game.

    It has a share of random moves, so it never repeats a game. The `rating` is in Elo points above
    a player who moves at random (400 points = odds of 10 : 1). ValueError says what range the
    ladder has, or which games have one.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> game = games.load("tictactoe")
    >>> match = arena.match(game, [players.at_strength(game, 300), players.Random()], seed=1)
    """
    ladder = load(game)
    rating = number("rating", rating)
    low, high = ladder["ratings"][0], ladder["ratings"][-1]
    if not low - SLACK <= rating <= high + SLACK:
        reach = f"which goes from {low:.0f} (moves at random) to {high:.0f}"
        raise ValueError(f"rating={rating!r} is outside the ladder of {game.name}, {reach}")
    dial = float(np.interp(rating, ladder["ratings"], ladder["dials"]))
    found = careless_agent(game, ladder["kind"], ladder["depth"], dial)
    found.name = f"{game.name} at {rating:.0f}"
    return found


def careless_agent(game, kind: str, depth: int, dial: float, net=None) -> agents.Agent:
    """Return the careless player at a dial, of Min-Max or a table (default: the published one)."""
    if kind == "min-max":
        return agents.min_max(game, "random", depth, 1.0 - dial)
    net = net or table.load(published_file("models") / f"ladder-{game.name}.npz", game)
    return weaken.weakened(net, "careless", dial)
