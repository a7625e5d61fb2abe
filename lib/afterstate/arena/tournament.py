"""Tournaments: everybody meets everybody, and a table says who is how strong and how sure that is.

::

    game = games.load("connect4")
    table = arena.tournament(game, [players.Random(), players.MCTS(50), players.MCTS(200)])
    table            # ratings with intervals, cross table, what is doubtful;  table.plot()
"""

import itertools
import json
import logging

import pandas as pd

from ..checks import whole
from ..games.game import check_game
from ..kernel.random import seed_from
from ..players.basic import wrap
from .journal import Journal, who
from .matches import COLUMNS, MAX_PLIES, Played, check_start, play_one, rows_of, seatings
from .results import are_matches
from .standings import Standings

MOST_IN_A_TASK = 50  # matches that a worker process plays before it reports them
log = logging.getLogger(__name__)


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

    Parameters
    ----------
    game : Game
        For two players or more.
    players : dict of name -> player, sequence of players, or DataFrame
        Players, functions or networks; those of a sequence go by their own names. A table that
        :func:`afterstate.arena.matches` returned is evaluated as it is, and nothing is played.
    episodes : int
        Matches for every start and every seating, at least 1.
    starts : sequence of (state, actions), optional
        As the ``starts_`` functions make them; default: the game's start. Players without chance
        play one and the same game from one start however many episodes there are.
    seed : int
        The only source of chance. Every match has a seed of its own, made of this one, its start,
        its episode and the names of its players.
    workers : int
        Processes that play side by side; the numbers do not depend on it.
    path : path, optional
        A file to which every finished match is added. If it exists, what it holds is not played
        again; a file of another tournament is refused.
    max_plies : int
        A match that has not ended by then counts as failed.

    Returns
    -------
    Standings

    Raises
    ------
    ValueError
        If there are fewer than two players, the game has one seat, or `path` belongs to another
        tournament.

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
        raise ValueError(
            f"{game.name} has one seat, nobody meets anybody: compare scores with arena.matches and"
            " arena.summary"
        )
    if isinstance(players, pd.DataFrame):
        if not are_matches(players):
            raise ValueError("this table is none of arena.matches: it lacks match, seat, player")
        return Standings(game, players)
    wrapped = _by_name(players)
    whole("episodes", episodes), whole("workers", workers), whole("max_plies", max_plies)
    whole("seed", seed, 0)
    starts = [None] if starts is None else list(starts)
    for start in starts:
        if start is not None:
            game._state(check_start(start)[0])
    fixtures = _fixtures(game, list(wrapped), starts, episodes, seed)
    journal = Journal(path, _header(game, wrapped, starts, episodes, seed, max_plies))
    waiting = [fixture for fixture in fixtures if fixture[0] not in journal.played]
    for number, played in _play_all(game, wrapped, waiting, workers, max_plies):
        journal.add(number, played)
        if played.error:
            log.warning("match %d of %s failed: %s", number, game.name, played.error)
    rows = []
    for number, k, _, names, episode, _ in fixtures:
        rows += rows_of(number, k, episode, names, journal.played[number])
    return Standings(game, pd.DataFrame(rows, columns=COLUMNS))


def _by_name(players) -> dict:
    """Return players by name; those of a sequence that share one are numbered."""
    if isinstance(players, str) or not hasattr(players, "__iter__"):
        raise TypeError(f"a tournament needs players, or a table of matches, not {players!r}")
    if isinstance(players, dict):
        found = {str(name): wrap(player) for name, player in players.items()}
    else:
        found = {}
        for player in players:
            player = wrap(player)
            name = str(getattr(player, "name", type(player).__name__))
            names = itertools.chain([name], (f"{name} ({k})" for k in itertools.count(2)))
            found[next(free for free in names if free not in found)] = player
    if len(found) < 2:
        raise ValueError(f"a tournament needs at least two players, not {list(found)}")
    return found


def _fixtures(game, names, starts, episodes, seed) -> list[tuple]:
    """Return all matches: (number, index of the start, start, names by seat, episode, seed).

    They are those of :func:`afterstate.arena.matches`, with the same numbers and seeds.
    """
    everything = itertools.product(enumerate(starts), seatings(game, names), range(episodes))
    return [
        (number, k, start, seated, episode, seed_from(seed, k, episode, *seated))
        for number, ((k, start), seated, episode) in enumerate(everything)
    ]


def _header(game, wrapped, starts, episodes, seed, max_plies) -> dict:
    """Return what decides the numbers of a tournament, as far as it can be told."""
    told = [
        None if start is None else [list(map(int, start[0])), list(map(int, start[1]))]
        for start in starts
    ]
    header = {
        "game": game.identity,
        "players": {name: who(player) for name, player in wrapped.items()},
        "starts": f"{seed_from(json.dumps(told)):016x}",
        "episodes": episodes,
        "seed": seed,
        "max_plies": max_plies,
    }
    return json.loads(json.dumps(header))


def _play_all(game, wrapped, fixtures, workers, max_plies):
    """Yield (number, :class:`Played`) of every match as soon as it is known, in any order."""
    if workers == 1 or len(fixtures) < 2:
        for fixture in fixtures:
            yield from _play_some(game, wrapped, [fixture], max_plies)
        return
    import joblib

    size = max(1, min(MOST_IN_A_TASK, len(fixtures) // (8 * workers)))
    tasks = [fixtures[k : k + size] for k in range(0, len(fixtures), size)]
    pool = joblib.Parallel(
        n_jobs=min(workers, len(tasks)), batch_size=1, return_as="generator_unordered"
    )
    for found in pool(joblib.delayed(_play_some)(game, wrapped, t, max_plies) for t in tasks):
        yield from found


def _play_some(game, wrapped, fixtures, max_plies) -> list[tuple[int, Played]]:
    return [
        (number, play_one(game, wrapped, start, seated, own, max_plies))
        for number, _, start, seated, _, own in fixtures
    ]
