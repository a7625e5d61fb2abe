"""Published ladders of opponents: pick one by its strength.

    data/models/ladder-<game>.json    ratings at positions of the dial "careless" (1 - rate of random moves), and who is careless:
    data/models/ladder-<game>.npz     ... a table of action values, or (without this file) Min-Max

Ratings are Elo points above a player who moves at random, in the pool of :mod:`afterstate.strength`. ``python -m
afterstate.ladders`` makes the files again: the table is the one that a recorded run of the study ``weaker-tictactoe``
ended with; Kalah and Nine Men's Morris have no table, because action values after 32,000 and 16,000 games are hardly better than chance.
"""
import json
import sys

import numpy as np

from . import games, qtable, ratings, strength, tabular, teachers, weaken
from .data import data_directory
from .files import write_text
from .kernel import seed_from

RUN = ("weaker-tictactoe", "teacher 0.5 random", 0)  # study, arm and run of the published table
PARAMS = {"teacher": "non-deterministic", "teacher_epsilon": 0.5}
EPISODES = 8_000
DEPTH, GAMES = 2, 200  # of Min-Max, in actions; for each ordered pair of a rating
DIALS = tuple(k / 20 for k in range(21))
SAMPLED = {"tictactoe": 0, "kalah": GAMES, "morris": GAMES}  # games of a pairing; 0 = exact results
SLACK = 1e-6


def folder():
    """Return the directory of the published ladders."""
    return data_directory() / "models"


def published() -> list[str]:
    """Return the names of the games that have a ladder."""
    return sorted(path.stem.removeprefix("ladder-") for path in folder().glob("ladder-*.json"))


def load(game) -> dict:
    """Return the ladder of a game: dials, ratings, kind ("table" or "min-max"), depth.

    Raises
    ------
    ValueError
        If the game has none, or the ladder was made for another version of it.
    """
    path = folder() / f"ladder-{game.name}.json"
    if not path.exists():
        raise ValueError(f"there is no ladder of opponents for {game.name}, only for {', '.join(published()) or 'no game'}")
    ladder = json.loads(path.read_text(encoding="utf-8"))
    if ladder["game"] != json.loads(json.dumps(game.identity)):
        raise ValueError(f"{path} was made for {ladder['game']}, not for {game.identity}: run python -m afterstate.ladders, or load the game with its defaults")
    return ladder


def at_strength(game, rating: float) -> teachers.Agent:
    """Return an opponent of about this strength, from the published ladder of a game.

    Parameters
    ----------
    game : Game
        One that has a ladder: Tic-Tac-Toe, Kalah and Nine Men's Morris.
    rating : float
        Elo points above a player who moves at random: 0 = that one; 400 points = odds of 10 : 1.

    Returns
    -------
    Agent
        A player with a share of random moves: it never repeats a game, and has no fixed mistake to exploit.

    Raises
    ------
    ValueError
        If the rating is outside the ladder (the message says its range), or the game has none (and which have).

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> game = games.load("tictactoe")
    >>> match = arena.match(game, [players.at_strength(game, 300), players.Random()], seed=1)
    """
    ladder = load(game)
    low, high = ladder["ratings"][0], ladder["ratings"][-1]
    if not low - SLACK <= rating <= high + SLACK:  # False for nan too
        raise ValueError(f"rating={rating!r} is outside the ladder of {game.name}, which goes from {low:.0f} (moves at random) to {high:.0f}")
    dial = float(np.interp(rating, ladder["ratings"], ladder["dials"]))
    found = _agent(game, ladder["kind"], ladder["depth"], dial)
    found.name = f"{game.name} at {rating:.0f}"
    return found


def _agent(game, kind, depth, dial, net=None) -> teachers.Agent:
    if kind == "min-max":
        return teachers.min_max(game, "random", depth, 1.0 - dial)
    return weaken.weakened(net or qtable.load(folder() / f"ladder-{game.name}.npz", game), "careless", dial)


# -------------------------------------------------------------------------------------------------- making them

def make(name: str) -> dict:
    """Rate a ladder anew and write its files."""
    game, depth, net = games.load(name), 0, None
    if name == "tictactoe":
        session = tabular.Session(game, PARAMS, seed_from(*RUN))
        session.train(EPISODES)
        net = session.net
        net.save(folder() / f"ladder-{name}.npz", compressed=True)
    else:
        depth = DEPTH
    among, kind = strength.pool(game, depth, SAMPLED[name]), "min-max" if net is None else "table"
    found = [strength.rate(game, _agent(game, kind, depth, dial, net), among, seed_from("ladder", name, f"{dial:g}"))["rating"] for dial in DIALS]
    found[0] = 0.0  # moves at random, as the zero of the scale does
    ladder = {"game": game.identity, "kind": kind, "depth": depth, "method": "careless", "scale": "Elo points above a random player",
              "first_seat": round(ratings.ELO * among.model.first, 2), "games": SAMPLED[name] * 2 * len(among.sides), "dials": list(DIALS),
              "ratings": [round(float(r), 2) for r in np.maximum.accumulate(found)]}
    write_text(folder() / f"ladder-{name}.json", json.dumps(ladder, indent=1) + "\n")
    return ladder


if __name__ == "__main__":
    for which in sys.argv[1:] or SAMPLED:
        if which not in SAMPLED:
            raise SystemExit(f"there is no recipe for a ladder of {which!r}, only for {', '.join(SAMPLED)}")
        made = make(which)
        print(f"{which}: {made['ratings'][0]:.0f} to {made['ratings'][-1]:.0f}")
