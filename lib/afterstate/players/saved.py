"""Whole agents in files: weights, where they come from, and a card that says what they are.

::

    session.save("mine.npz")              what was trained, with parameters and seed
    player = players.load("mine.npz")     plays; player.card says how it was made
    player = players.zoo("othello")       a published agent, with its measured strength
"""

import datetime
import importlib
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
from ..kernel.source import PACKAGE, source_hash
from .basic import Greedy

# modules that read the kinds of files
LOADERS = {"weights": "networks.ntuple", "action values": "networks.table"}


class Saved(Greedy):
    """A greedy player that was read from a file; its `card` says how it was made."""

    def __init__(self, net, card: dict, name: str):
        super().__init__(net)
        self.card, self.name = card, name


def save(path, session, note: str = "") -> None:
    """Write what a session has learned to an ``.npz`` file, with a card of where it comes from."""
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
    """Return the agent in a file of ``session.save`` or ``net.save`` as a greedy player.

    Parameters
    ----------
    path : path
    game : Game, optional
        Default: the game of the package that the file names.
    changed : {"refuse", "accept"}
        What to do if the game has another version than the agent was made for. Accept it if the
        cells of the board still mean the same.
    """
    one_of("changed", changed, ("refuse", "accept"))
    meta, arrays = read_npz(path)
    if meta.get("kind") not in LOADERS:
        raise ValueError(f"{path} holds {meta.get('kind')!r}, no agent")
    read = importlib.import_module(f"{PACKAGE.name}.{LOADERS[meta['kind']]}").load
    made_for = meta["game"]
    if game is None:
        try:
            game = load_spec(made_for)
        except ValueError as error:
            of = f"{path} holds an agent of {made_for['name']!r}, no game of the package: give it"
            raise ValueError(of) from error
    now, card = check_game(game, "an agent").identity, meta.get("card", {})
    name = card.get("name") or f"{game.name} agent {meta['checksum'][:6]}"
    if {k for k in ("name", "params", "version") if made_for.get(k) != now[k]} != {"version"}:
        return Saved(read(path, game), card, name)
    if changed == "refuse":
        raise ValueError(
            f"{path} was made for version {made_for.get('version')} of {game.name}, this is"
            f' version {now["version"]}: train again, or players.load(..., changed="accept")'
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        write_npz(copy, meta | {"game": now}, arrays)
        return Saved(read(copy, game), card, name)


def zoo(game=None):
    """Return the published agent of a game or its name, or without a game {name: card} of all.

    Examples
    --------
    >>> from afterstate import players
    >>> players.zoo("hex").card["study"]
    'hex'
    """
    files = sorted(published_file("models").glob("card-*.json"))
    cards = {path.stem.removeprefix("card-"): read_json(path) for path in files}
    if game is None:
        return cards
    name = game if isinstance(game, str) else check_game(game, "the zoo").name
    if name not in cards:
        raise ValueError(f"the zoo has no agent for {name}, only for {', '.join(cards)}")
    path = published_file("models") / cards[name]["file"]
    found = load(path, None if isinstance(game, str) else game)
    return Saved(found.net, cards[name], f"zoo {name}")
