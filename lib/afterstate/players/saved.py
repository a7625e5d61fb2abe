"""Whole agents in files: weights, where they come from, and a card that says what they are.

::

    session.save("mine.npz")              what was trained, with parameters and seed
    player = players.load("mine.npz")     plays; player.card says how it was made
    player = players.zoo("othello")       a published agent, with its measured strength
"""

import datetime
import json
import platform
import tempfile
from pathlib import Path

import numba
import numpy as np

from ..checks import one_of
from ..files import published_file, read_json, read_npz, write_npz
from ..games.catalogue import load_spec
from ..games.game import check_game
from ..kernel.source import source_hash
from ..networks import linear, ntuple, table
from .basic import Greedy

LOADERS = {"weights": ntuple.load, "action values": table.load, "linear": linear.load}


class Saved(Greedy):
    """A greedy player that was read from a file, with its card.

    Attributes
    ----------
    card : dict
        How it was made, and of a published agent how strong it is.
    """

    def __init__(self, net, card: dict, name: str):
        super().__init__(net)
        self.card, self.name = card, name


def save(path, session, note: str = "") -> None:
    """Write what a session has learned, with parameters, seed and provenance.

    Parameters
    ----------
    path : path
        An ``.npz`` file; replaced as a whole.
    session : session of a learner
    note : str
        Whatever is to stand on the card.

    Raises
    ------
    ValueError
        If its network can not be written.
    """
    net = session.net
    if not callable(getattr(net, "save", None)):
        raise ValueError(f"a network of the kind {type(net).__name__} has no file")
    card = {
        "game": net.game.name,
        "learner": type(session).__module__.rpartition(".")[2],
        "parameters": json.loads(json.dumps(getattr(session, "params", {}), default=str)),
        "seed": getattr(session, "seed", None),
        "episodes": session.episode,
        "checksum": net.checksum(),
        "date": datetime.date.today().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "sources": source_hash(),
        },
        "note": note,
    }
    net.save(path, compressed=True)
    meta, arrays = read_npz(path)
    write_npz(path, meta | {"card": card}, arrays, compressed=True)


def load(path, game=None, changed: str = "refuse") -> Saved:
    """Return the agent in a file as a greedy player.

    Parameters
    ----------
    path : path
        As ``session.save`` or ``net.save`` wrote it.
    game : Game, optional
        Default: the game of the package that the file names. A home-made game has to be given.
    changed : {"refuse", "accept"}
        What to do if the game has another version than the one the agent was made for, such as a
        home-made game whose source was edited. Accept it if the cells of the board still mean
        the same; whether the agent still plays well is for a match to tell.

    Raises
    ------
    ValueError
        If the file is damaged or is none of an agent, or the game does not fit.
    """
    one_of("changed", changed, ("refuse", "accept"))
    path = Path(path)
    meta, arrays = read_npz(path)
    if meta.get("kind") not in LOADERS:
        raise ValueError(f"{path} holds {meta.get('kind')!r}, no agent")
    made_for = meta["game"]
    if game is None:
        try:
            game = load_spec(made_for)
        except ValueError as error:
            raise ValueError(
                f"{path} holds an agent of {made_for['name']!r}, which is no game of the package:"
                " give it, players.load(path, game)"
            ) from error
    check_game(game, "an agent")
    now, card = game.identity, meta.get("card", {})
    same = {k: made_for.get(k) == now[k] for k in ("name", "params", "version")}
    name = card.get("name") or f"{game.name} agent {meta['checksum'][:6]}"
    if same == {"name": True, "params": True, "version": False}:
        if changed == "refuse":
            raise ValueError(
                f"{path} was made for version {made_for.get('version')} of {game.name}, this is"
                f" version {now['version']}: train again, or take it as it is with"
                ' players.load(path, game, changed="accept") if the cells of the board still mean'
                " the same"
            )
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            write_npz(copy, meta | {"game": now}, arrays)
            return Saved(LOADERS[meta["kind"]](copy, game), card, name)
    return Saved(LOADERS[meta["kind"]](path, game), card, name)


# ------------------------------------------------------------------------------------------- zoo
def zoo(game=None):
    """Return a published agent, or without a game the cards of all.

    Parameters
    ----------
    game : str or Game, optional
        Its name, or a game as it is published.

    Returns
    -------
    Saved, or dict of name -> card

    Raises
    ------
    ValueError
        If there is no published agent for the game; the message says for which there is.

    Examples
    --------
    >>> from afterstate import players
    >>> sorted(players.zoo()) == sorted(players.zoo().keys())
    True
    >>> players.zoo("hex").card["study"]
    'hex'
    """
    folder = published_file("models")
    cards = {
        path.stem.removeprefix("card-"): read_json(path) for path in folder.glob("card-*.json")
    }
    if game is None:
        return dict(sorted(cards.items()))
    name = game if isinstance(game, str) else check_game(game, "the zoo").name
    if name not in cards:
        raise ValueError(
            f"the zoo has no agent for {name}, only for {', '.join(sorted(cards))}: train one with"
            " a session, or take a search such as players.MCTS(1000)"
        )
    card = cards[name]
    found = load(folder / card["file"], None if isinstance(game, str) else game)
    return Saved(found.net, card, f"zoo {name}")
