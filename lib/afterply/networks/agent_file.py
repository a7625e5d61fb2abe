"""Agents in files: what was learned, with a card of where it comes from."""

import datetime
import json
import sys

from ..checks import boolean, text
from ..files import Archive, damaged, write_npz
from ..foreign import texts_in, unprintable
from ..games.catalogue import load_spec
from ..games.game import check_game
from ..identity import content_hash, in_package
from ..kernel.source import source_hash
from . import ntuple, table

LOADERS = {"weights": ntuple.load, "action values": table.load}  # kind of file -> function
STATE = "session: "  # begins the names of arrays that are needed only to train on


def write(path, net, card: dict, state: dict | None = None, **header) -> None:
    """Write a network with its card, and the `state` of a session if given, to an ``.npz`` file.

    Entries of `header` are added to the file's own. Files without a state are compressed.
    """
    meta, arrays = net.contents()
    full_header = meta | {"card": card} | header
    if state:
        write_npz(path, full_header, arrays | state)
    else:
        write_npz(path, full_header, arrays, compressed=True)


def save(path, session, note: str = "", resumable: bool = False, **header) -> None:
    """Write what a session has learned to an ``.npz`` file, with a card of where it comes from.

    A `resumable` file, which is much larger, also holds what ``Session.load`` needs to train on.
    Entries of `header` are added to the file's own. ValueError if there is no file for networks of
    this kind.
    """
    text("note", note)
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
    state = {}
    if boolean("resumable", resumable):
        state = {STATE + name: array for name, array in session.state_dict().items()}
    write(path, net, card, state, **header)


def learner_version(kind):
    """Return the version of the learner with sessions of this class.

    For a learner that is not of this package it is the hash of its content.
    """
    if not in_package(kind):
        return content_hash(kind)
    return sys.modules[kind.__module__].VERSION


def read(path, game=None) -> tuple:
    """Return the network in a file of ``session.save`` or ``net.save``, and its card.

    The default `game` is the one of this package that the file names. ValueError if the file is
    damaged, or the network was trained for another game or another version of it.
    """
    meta = Archive(path).meta
    kind = meta.get("kind")
    card = meta.get("card", {})
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ValueError(f"{path} holds {kind!r}, no agent")
    if not isinstance(card, dict):
        raise damaged(path, f"its card is {card!r}")
    for field in ("name", "words"):
        if not isinstance(card.get(field, ""), str):
            raise damaged(path, f"the {field} of its card is {card[field]!r}, no text")
    odd = unprintable("".join(texts_in(card)))
    if odd:
        raise damaged(path, f"its card holds the character {odd!a}")
    if game is None:
        game = game_of(path, meta)
    return LOADERS[kind](path, check_game(game, "an agent")), card


def game_of(path, meta: dict):
    """Return the game of this package that the header of a file names, or raise ValueError."""
    spec = meta.get("game")
    try:
        return load_spec(spec)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{path} holds an agent of {spec}, no game of the package: give it"
        ) from error
