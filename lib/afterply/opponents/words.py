"""Players by a word, and opponents of a chosen strength.

A ladder is a file ``data/models/ladder-<game>.json``: ratings (Elo points above random play, in the
pool of :mod:`afterply.opponents.rating_pool`) of the published agent at positions of the dial
"careless" (1 - rate of random moves), and of players above it, by their words.
"""

import json
import re
from pathlib import Path

import numpy as np

from ..checks import number, text
from ..games.game import check_game
from ..networks.table import QTable
from ..players import agents
from ..players.basic import Careless, Random
from ..players.saved import Saved, load, published, zoo
from ..players.searching import MCTS, MaxN, MinMax
from ..players.wrapped import Wrapped
from . import optional, weaken
from .perfect import Perfect, knows
from .player_file import PlayerFile

SLACK = 1e-6  # of a rating beyond the ends of a ladder
WORDS = {
    "random": "moves at random",
    "mcts:N": "Monte Carlo tree search with N iterations (default 1000)",
    "max-n:N": "looks N plies ahead (default 10), every player for itself",
    "min-max:N": "looks N plies ahead (default 4), with the game's heuristic if it has one",
    "elo:R": "an opponent R Elo points above random, in games that have a ladder",
    "zoo": "the published agent of the game",
    "zoo:N": "the same, wrapped by a search of N iterations",
    "perfect": "perfect play: ConnectFour (needs BitBully), or Min-Max to the end in small games",
    "FILE.npz": "an agent that session.save or `afterply train` wrote",
    "FILE.npz:N": "the same, wrapped by a search of N iterations",
    "./FILE": "an agent in a file of any other name, also with :N",
    "FILE.py": "what a Python file calls `player`, in a process of its own",
}
LISTED = "\n".join(f"  {name:12} {meaning}" for name, meaning in WORDS.items())
RESERVED = {"random", "mcts", "max-n", "min-max", "elo", "zoo", "perfect"}  # before any file
SEARCHING = {"mcts": (MCTS, 1000), "max-n": (MaxN, 10), "min-max": (MinMax, 4)}


def ladders() -> dict:
    """Return the ladders of all games that have one: dials, ratings, above."""
    return published("ladder")


def ladder(game) -> dict:
    """Return the ladder of a game; ValueError if there is none for its parameters."""
    known = ladders()
    if check_game(game, "a ladder").name not in known:
        there = f"for {game.name}, only for {', '.join(known)}"
        raise ValueError(f"there is no ladder of opponents {there}")
    steps = known[game.name]
    if steps["game"] != json.loads(json.dumps(game.identity)):
        raise ValueError(f"this ladder was made for the defaults of {game.name}, not for {game!r}")
    if knows(game) and optional.lacks("bitbully"):
        steps["above"].pop("perfect", None)
    return steps


def reach(steps: dict) -> tuple[float, float]:
    """Return the least and the greatest rating of a ladder."""
    return steps["ratings"][0], max(steps["ratings"][-1], *steps["above"].values())


def at_strength(game, rating: float):
    """Return an opponent of about this strength, from the published ladder of a game.

    Up to the strength of the published agent it is that agent, some of whose moves are random, so
    it never repeats a game; above it the nearest of its searches, or perfect play. The `rating` is
    in Elo points above random play (400 = odds of 10 : 1). ValueError says which range or which
    games there are.

    >>> from afterply import games, opponents
    >>> opponents.at_strength(games.load("tictactoe"), 300).name
    'tictactoe at 300'
    """
    steps = ladder(game)
    rating = number("rating", rating)
    low, high = reach(steps)
    if not low - SLACK <= rating <= high + SLACK:
        ends = f"which goes from {low:.0f} (moves at random) to {high:.0f}"
        raise ValueError(f"rating={rating!r} is outside the ladder of {game.name}, {ends}")
    if rating > steps["ratings"][-1] + SLACK:
        above = steps["above"]
        return named(game, min(above, key=lambda word: abs(above[word] - rating)))
    dial = float(np.interp(rating, steps["ratings"], steps["dials"]))
    opponent = careless(zoo(game), dial)
    opponent.name = f"{game.name} at {rating:.0f}"
    return opponent


def careless(agent: Saved, dial: float):
    """Return an agent in a file that makes a random move with probability 1 - `dial`."""
    if isinstance(agent.net, QTable):
        return weaken.weakened(agent.net, "careless", dial)
    return Careless(agent, 1.0 - dial)


def word_for(path) -> str:
    """Return the word by which :func:`named` finds the agent in a file, and a command its option.

    >>> word_for("mine.npz"), word_for("mcts"), word_for("-5.npz"), word_for("/tmp/10:30")
    ('mine.npz', './mcts', './-5.npz', '/tmp/10:30')
    """
    plain = str(path).endswith(".npz") and not str(path).startswith("-")
    return str(path) if plain or Path(path).is_absolute() else f"./{path}"


def named(game, word: str):
    """Return the player of a game that a word names: one of ``WORDS``, with numbers in it."""
    if text("the word for a player", word).endswith(".py"):
        return PlayerFile(word)
    kind, number = _kind_and_number(word)
    if kind in SEARCHING:
        player, default = SEARCHING[kind]
        return player(default if number is None else number)
    if kind == "random" and number is None:
        return Random()
    if kind == "elo" and number is not None:
        return at_strength(game, number)
    if kind == "perfect" and number is None:
        return _perfect(game)
    if kind == "zoo":
        return _with_search(zoo(game), number)
    head, _, tail = word.partition(":")
    if head in RESERVED and not kind.endswith(".npz"):
        if tail and number is None:
            raise ValueError(f"{tail!r} in {word!r} is no whole number")
    elif agent := _in_a_file(game, word):
        return agent
    raise ValueError(f"{word!r} names no player. There are:\n{LISTED}")


def _kind_and_number(word):
    """Return what stands before the last colon and the number behind it; None without one."""
    parts = re.fullmatch("(.*):(-?[0-9]+)", word, re.DOTALL)  # a path may have colons, too
    if parts is None:
        return word, None
    return parts[1], int(parts[2])


def _perfect(game):
    if not knows(game):
        return agents.min_max(game, "random")
    if lacking := optional.lacks("bitbully"):
        raise ImportError(lacking)
    return Perfect("AB")


def _in_a_file(game, word):
    """Return the agent in the file that a word names, or its search; None without such a file."""
    kind, number = _kind_and_number(word)
    paths = [path for path in dict.fromkeys([kind, word]) if Path(path).is_file()]
    if len(paths) > 1:
        both = f"{word!r} is a file, and {kind!r} is one around which a search could be"
        raise ValueError(f"{both}: rename one of them")
    if paths:
        path = paths[0]
        return _with_search(load(path, game), number if path == kind else None)
    if Path(f"{kind}.npz").is_file():
        raise ValueError(f"there is no file {kind}, but {kind}.npz: write that")
    if kind.endswith(".npz"):
        raise ValueError(f"there is no file {kind}")
    return None


def _with_search(agent: Saved, iterations: int | None):
    """Return an agent, or a search around it."""
    if iterations is None:
        return agent
    wrapped = Wrapped(agent.net, iterations=iterations)
    wrapped.name = f"{agent.name}, {iterations} iterations"
    return wrapped
