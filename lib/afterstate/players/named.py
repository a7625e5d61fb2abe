"""Players by a word, for the command line: ``mcts:200``, ``elo:300``, ``zoo``, ``mine.npz``."""

from pathlib import Path

from . import agents, ladder, saved
from .basic import Random
from .perfect import Perfect, knows
from .searching import MCTS, MaxN, MinMax
from .wrapped import Wrapped

WORDS = {
    "random": "moves at random",
    "mcts:N": "Monte Carlo tree search with N iterations (default 1000)",
    "max-n:N": "looks N plies ahead (default 10), every player for itself",
    "min-max:N": "looks N plies ahead (default 4), with the game's heuristic if it has one",
    "elo:R": "an opponent R Elo points above random, in games that have a ladder",
    "zoo": "the published agent of the game",
    "zoo:N": "the same, wrapped by a search of N iterations",
    "perfect": "perfect play: ConnectFour (needs BitBully), or Min-Max to the end in small games",
    "FILE.npz": "an agent that session.save or `afterstate train` wrote",
    "FILE.npz:N": "the same, wrapped by a search of N iterations",
}
SEARCHING = {"mcts": (MCTS, 1000), "max-n": (MaxN, 10), "min-max": (MinMax, 4)}


def named(game, word: str):
    """Return the player of a game that a word names: one of ``WORDS``, with numbers in it."""
    kind, _, amount = word.partition(":")
    if amount and not amount.lstrip("-").isdigit():
        raise ValueError(f"{amount!r} in {word!r} is no whole number")
    number = int(amount) if amount else None
    if kind in SEARCHING:
        player, default = SEARCHING[kind]
        return player(default if number is None else number)
    if kind == "random" and number is None:
        return Random()
    if kind == "elo" and number is not None:
        return ladder.at_strength(game, number)
    if kind == "perfect" and number is None:
        return Perfect("AB") if knows(game) else agents.min_max(game, "random")
    if kind == "zoo" or kind.endswith(".npz"):
        if kind != "zoo" and not Path(kind).exists():
            raise ValueError(f"there is no file {kind}")
        found = saved.zoo(game) if kind == "zoo" else saved.load(kind, game)
        if number is None:
            return found
        wrapped = Wrapped(found.net, iterations=number)
        wrapped.name = f"{found.name}, {number} iterations"
        return wrapped
    listed = "\n".join(f"  {name:12} {meaning}" for name, meaning in WORDS.items())
    raise ValueError(f"{word!r} names no player. There are:\n{listed}")
