"""Agents in files, their cards, opponents of a chosen strength, and players by a word.

A ladder is a file ``data/models/ladder-<game>.json``: ratings (Elo points above random play, in the
pool of :mod:`afterply.opponents.rating_pool`) of the published agent at positions of the dial
"careless" (1 - rate of random moves), and of players above it, by their words.
"""

import datetime
import json
import re
import sys
from pathlib import Path

import numpy as np
import yaml

from ..checks import boolean, number
from ..files import Archive, damaged, published_file, read_json, write_npz, write_text
from ..games.catalogue import canonical, load_spec
from ..games.game import check_game
from ..identity import content_hash, identity, in_package
from ..kernel.source import source_hash
from ..networks import ntuple, table
from ..opponents import optional, weaken
from ..opponents.perfect import Perfect, knows
from ..opponents.player_file import PlayerFile
from . import agents
from .basic import Careless, Greedy, Random
from .searching import MCTS, MaxN, MinMax
from .wrapped import Wrapped

LOADERS = {"weights": ntuple.load, "action values": table.load}  # by kind of file
STATE = "session: "  # begins the names of arrays that only going on needs
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
CARD = Path(__file__).with_name("card.md")  # template of a model card
TOLD_ELSEWHERE = ("name", "words", "strength", "file", "game")


class Saved(Greedy):
    """A greedy player that was read from a file; its `card` says how it was made."""

    def __init__(self, net, card: dict, name: str):
        super().__init__(net)
        self.card, self.name = card, name

    def save(self, path) -> None:
        """Write the agent with its card to an ``.npz`` file, for :func:`load`."""
        _write(path, self.net, self.card)

    @property
    def identity(self) -> dict:
        """What tells it from others: its weights, whatever its file or card say."""
        return {"player": "Saved", "version": self.version, "net": identity(self.net)}

    def export_card(self, path, licence: str = "MIT", file: str = "agent.npz") -> None:
        """Write the card as a model card: Markdown under lines for programs.

        `licence` is that of the agent (the package's own are MIT), `file` the name of its file.
        """
        tags = ["reinforcement-learning", "self-play", "board-games", self.net.game.name]
        head = {"library_name": "afterply", "license": licence.lower(), "tags": tags}
        lines = yaml.safe_dump(head, sort_keys=False)
        write_text(path, f"---\n{lines}---\n\n{_card_of(self, licence, file)}")

    def _repr_markdown_(self) -> str:
        return _card_of(self)


def _card_of(agent, licence="That of its maker.", file="agent.npz") -> str:
    card, game = agent.card, agent.net.game
    trained, _, strength = card.get("words", "").partition("; ")
    params = (game.spec or {}).get("params", {})
    given = "".join(f", {name}={value!r}" for name, value in params.items())
    facts = {name: value for name, value in card.items() if name not in TOLD_ELSEWHERE}
    return CARD.read_text(encoding="utf-8").format(
        title=card.get("name", agent.name),
        game=game.name + given,
        trained=f"It {trained}." if trained else "By what its file says:",
        facts=yaml.safe_dump(facts, default_flow_style=None),
        strength=strength or "Nobody has measured it: `arena.matches` does.",
        load=f'games.load("{game.name}"{given})' if game.spec else "...  # the home-made one",
        file=file,
        licence=licence,
    )


def _write(path, net, card: dict, state: dict | None = None, **more) -> None:
    meta, arrays = net.contents()
    about = meta | {"card": card} | more
    write_npz(path, about, arrays | (state or {}), compressed=not state)


def save(path, session, note: str = "", resumable: bool = False, **more) -> None:
    """Write what a session has learned to an ``.npz`` file, with a card of where it comes from.

    A `resumable` file also has what it takes to go on, for ``Session.load``: it is much larger. The
    header holds `more`, too.
    """
    net = session.net
    if not callable(getattr(net, "contents", None)):
        raise ValueError(f"a network of the kind {type(net).__name__} has no file")
    card = {
        "game": net.game.name,
        "learner": type(session).__module__.rpartition(".")[2],
        "version": learner_version(type(session)),
        "parameters": json.loads(json.dumps(getattr(session, "params", {}), default=str)),
        "seed": getattr(session, "seed", None),
        "episodes": session.episode,
        "checksum": net.checksum(),
        "date": datetime.date.today().isoformat(),
        "sources": source_hash(),
        "note": note,
    }
    state = session.state_dict() if boolean("resumable", resumable) else {}
    _write(path, net, card, {STATE + name: array for name, array in state.items()}, **more)


def learner_version(kind):
    """Return what tells the rules of a kind of session from others: the version of its learner.

    Of one that is not of this package it is the hash of its content.
    """
    module = sys.modules.get(kind.__module__)
    return module.VERSION if in_package(kind) else content_hash(kind)


def load(path, game=None) -> Saved:
    """Return the agent in a file of ``session.save`` or ``net.save`` as a greedy player.

    Its game is by default that of the package; ValueError if it was made for another, or version.
    """
    meta = Archive(path).meta
    kind, card = meta.get("kind"), meta.get("card", {})
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ValueError(f"{path} holds {kind!r}, no agent")
    if not isinstance(card, dict):
        raise damaged(path, f"its card is {card!r}")
    game = game_of(path, meta) if game is None else game
    net = LOADERS[kind](path, check_game(game, "an agent"))
    return Saved(net, card, card.get("name") or f"{game.name} agent {net.checksum()[:6]}")


def game_of(path, meta: dict):
    """Return the game of the package that the header of a file names; ValueError if none is."""
    of = meta.get("game")
    try:
        return load_spec(of)
    except (ValueError, TypeError, KeyError) as error:
        own = f"{path} holds an agent of {of}"
        raise ValueError(f"{own}, no game of the package: give it") from error


def zoo(game=None):
    """Return the published agent of a game or its name, or without a game {name: card} of all.

    >>> zoo("hex").card["study"]
    'hex'
    """
    cards = _published("card")
    if game is None:
        return cards
    own = None if isinstance(game, str) else check_game(game, "the zoo")
    name = canonical(game) if own is None else own.name
    if name not in cards:
        raise ValueError(f"the zoo has no agent for {name}, only for {', '.join(cards)}")
    found = load(published_file("models") / cards[name]["file"], own)
    return Saved(found.net, cards[name], f"zoo {name}")


def zoo_file(game) -> str:
    """Return where the published agent of a game lies, in ``data``."""
    return f"models/{zoo()[game.name]['file']}"


def _published(what) -> dict:
    files = sorted(published_file("models").glob(f"{what}-*.json"))
    return {path.stem.removeprefix(f"{what}-"): read_json(path) for path in files}


def ladders() -> dict:
    """Return the ladders of all games that have one: dials, ratings, above."""
    return _published("ladder")


def ladder(game) -> dict:
    """Return the ladder of a game; ValueError if there is none for its parameters."""
    known = ladders()
    if check_game(game, "a ladder").name not in known:
        there = f"for {game.name}, only for {', '.join(known)}"
        raise ValueError(f"there is no ladder of opponents {there}")
    found = known[game.name]
    if found["game"] != json.loads(json.dumps(game.identity)):
        raise ValueError(f"this ladder was made for the defaults of {game.name}, not for {game!r}")
    if knows(game) and optional.lacks("bitbully"):
        found["above"].pop("perfect", None)
    return found


def reach(steps: dict) -> tuple[float, float]:
    """Return the least and the greatest rating of a ladder."""
    return steps["ratings"][0], max(steps["ratings"][-1], *steps["above"].values())


def at_strength(game, rating: float):
    """Return an opponent of about this strength, from the published ladder of a game.

    Up to the strength of the published agent it is that agent, some of whose moves are random, so
    it never repeats a game; above it the nearest of its searches, or perfect play. The `rating` is
    in Elo points above random play (400 = odds of 10 : 1). ValueError says which range or which
    games there are.

    >>> from afterply import games, players
    >>> players.at_strength(games.load("tictactoe"), 300).name
    'tictactoe at 300'
    """
    steps, rating = ladder(game), number("rating", rating)
    low, high = reach(steps)
    if not low - SLACK <= rating <= high + SLACK:
        ends = f"which goes from {low:.0f} (moves at random) to {high:.0f}"
        raise ValueError(f"rating={rating!r} is outside the ladder of {game.name}, {ends}")
    if rating > steps["ratings"][-1] + SLACK:
        return named(game, min(steps["above"], key=lambda one: abs(steps["above"][one] - rating)))
    found = careless(zoo(game), float(np.interp(rating, steps["ratings"], steps["dials"])))
    found.name = f"{game.name} at {rating:.0f}"
    return found


def careless(agent: Saved, dial: float):
    """Return an agent in a file that makes a random move with probability 1 - `dial`."""
    if isinstance(agent.net, table.QTable):
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
    if word.endswith(".py"):
        return PlayerFile(word)
    kind, number = word, None
    if found := re.fullmatch("(.*):(-?[0-9]+)", word, re.DOTALL):  # a path may have colons, too
        kind, number = found[1], int(found[2])
    if kind in SEARCHING:
        player, default = SEARCHING[kind]
        return player(default if number is None else number)
    if kind == "random" and number is None:
        return Random()
    if kind == "elo" and number is not None:
        return at_strength(game, number)
    if kind == "perfect" and number is None:
        if knows(game) and (lacking := optional.lacks("bitbully")):
            raise ImportError(lacking)
        return Perfect("AB") if knows(game) else agents.min_max(game, "random")
    if kind == "zoo":
        return _searching(zoo(game), number)
    head, _, tail = word.partition(":")
    if kind.endswith(".npz") or head not in RESERVED:
        there = [file for file in dict.fromkeys([kind, word]) if Path(file).is_file()]
        if len(there) > 1:
            both = f"{word!r} is a file, and {kind!r} is one around which a search could be"
            raise ValueError(f"{both}: rename one of them")
        if there:
            return _searching(load(there[0], game), number if there[0] == kind else None)
        if Path(f"{kind}.npz").is_file():
            raise ValueError(f"there is no file {kind}, but {kind}.npz: write that")
        if kind.endswith(".npz"):
            raise ValueError(f"there is no file {kind}")
    elif tail and number is None:
        raise ValueError(f"{tail!r} in {word!r} is no whole number")
    raise ValueError(f"{word!r} names no player. There are:\n{LISTED}")


def _searching(found: Saved, iterations: int | None):
    """Return an agent in a file, or its search."""
    if iterations is None:
        return found
    wrapped = Wrapped(found.net, iterations=iterations)
    wrapped.name = f"{found.name}, {iterations} iterations"
    return wrapped
