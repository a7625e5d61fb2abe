"""Tournaments: everybody meets everybody, and a table says who is how strong and how sure that is.

::

    game = games.load("connect4")
    table = arena.tournament(game, [players.Random(), players.MCTS(50), players.MCTS(200)])
    table            # ratings with intervals, cross table, what is doubtful;  table.plot()

Its file has a first line on what the tournament is; every other line is a finished match::

    {"game": {"name": "nim", ...}, "players": {...}, "episodes": 10, "seed": 0, ...}
    [0, [1.0, -1.0], [4, 8, 2], ""]          number, scores by seat, moves, error
"""

import inspect
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from ..checks import whole
from ..files import write_text
from ..games.game import check_game
from ..kernel.random import seed_from
from ..players.basic import wrap
from .matches import MAX_PLIES, Played, all_fixtures, long_table, play_all
from .ratings import are_matches
from .standings import Standings

PLAIN = (bool, int, float, str, type(None), np.integer, np.floating)


def tournament(
    game,
    players,
    episodes: int = 10,
    starts=None,
    seed: int = 0,
    *,
    workers: int = 1,
    path=None,
    max_plies: int = MAX_PLIES,
) -> Standings:
    """Let all players meet and return the standings: cross table, ratings, cycles, repeated games.

    Matches and parameters are those of :func:`afterstate.arena.matches`, but for these.

    Parameters
    ----------
    game : Game
        For two players or more.
    players : dict of name -> player, sequence of players, or DataFrame
        At least two; those of a sequence go by their own names. A table that
        :func:`afterstate.arena.matches` returned is evaluated as it is.
    workers : int
        Processes that play side by side; the numbers do not depend on it.
    path : path, optional
        A file to which every finished match is added. What it holds already is not played again;
        the file of another tournament raises ValueError.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> pool = {"Max-N": players.MaxN(15), "Random": players.Random()}
    >>> table = arena.tournament(games.load("nim"), pool, episodes=5)
    >>> float(table.cross.loc["Max-N", "Random"])
    100.0
    """
    check_game(game, "a tournament")
    if game.players < 2:
        raise ValueError(f"{game.name} has one seat: compare scores with arena.matches")
    if isinstance(players, pd.DataFrame):
        if not are_matches(players):
            raise ValueError("this table is none of arena.matches: it lacks match, seat, player")
        return Standings(game, players)
    wrapped, starts = _by_name(players), [None] if starts is None else list(starts)
    whole("workers", workers), whole("max_plies", max_plies), whole("seed", seed, 0)
    fixtures = list(all_fixtures(game, list(wrapped), starts, episodes, seed))
    played = {}
    if path is not None:
        header = _header(game, wrapped, starts, episodes, seed, max_plies)
        played = _read(path := Path(path), header)
    waiting = [fixture for fixture in fixtures if fixture.number not in played]
    for number, one in play_all(game, wrapped, waiting, max_plies, workers):
        played[number] = one
        if path is not None:
            scores = [None if math.isnan(score) else score for score in one.scores]
            line = json.dumps([number, scores, [int(move) for move in one.moves], one.error])
            with open(path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
    return Standings(game, long_table(fixtures, played))


def _by_name(players) -> dict:
    if isinstance(players, str) or not hasattr(players, "__iter__"):
        raise TypeError(f"a tournament needs players, or a table of matches, not {players!r}")
    if isinstance(players, dict):
        found = {str(name): wrap(player) for name, player in players.items()}
    else:
        found = {}
        for player in map(wrap, players):
            name = str(getattr(player, "name", type(player).__name__))
            names = itertools.chain([name], (f"{name} ({k})" for k in itertools.count(2)))
            found[next(free for free in names if free not in found)] = player
    if len(found) < 2:
        raise ValueError(f"a tournament needs at least two players, not {list(found)}")
    return found


def _who(player) -> dict:
    """Return what tells a player from others of its kind: settings, and checksums of weights."""
    given = inspect.signature(type(player).__init__).parameters
    settings = {"name", "parameters", "settings", *given}  # not what it keeps of its last match
    found = {"kind": type(player).__qualname__, "version": getattr(player, "version", None)}
    for name in sorted(vars(player)) if hasattr(player, "__dict__") else ():
        value = getattr(player, name)
        if callable(getattr(value, "checksum", None)):
            found[name] = value.checksum()
        elif name in settings and isinstance(value, dict):
            found[name] = str(sorted((k, v) for k, v in value.items() if isinstance(v, PLAIN)))
        elif name in settings and isinstance(value, PLAIN):
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


def _header(game, wrapped, starts, episodes, seed, max_plies) -> dict:
    given = [start and [list(map(int, part)) for part in start] for start in starts]
    header = {
        "game": game.identity,
        "players": {name: _who(player) for name, player in wrapped.items()},
        "starts": f"{seed_from(json.dumps(given)):016x}",
        "episodes": episodes,
        "seed": seed,
        "max_plies": max_plies,
    }
    return json.loads(json.dumps(header))


def _read(path, header) -> dict:
    """Return the finished matches of a tournament's file; begin it if there is none."""
    if not path.exists() or not path.stat().st_size:
        write_text(path, json.dumps(header) + "\n")
        return {}
    text, played = path.read_text(encoding="utf-8"), {}
    # without a line that the end of a process cut off
    lines = text[: text.rfind("\n") + 1]
    if lines != text:
        write_text(path, lines)
    try:
        given, *rows = map(json.loads, lines.splitlines())
        differs = sorted(k for k in {*given, *header} if given.get(k) != header.get(k))
        for number, scores, moves, error in rows:
            scores = [math.nan if score is None else float(score) for score in scores]
            played[int(number)] = Played(scores, list(map(int, moves)), error)
    except (ValueError, TypeError, AttributeError) as damage:
        raise ValueError(f"{path} is no file of a tournament: name another file") from damage
    if differs:
        what = ", ".join(differs)
        raise ValueError(f"{path} holds a tournament with other {what}: name another file")
    return played
