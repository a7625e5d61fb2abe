"""Matches between players: one, or all between several from several start positions.

Everything by chance in a match comes from one seed, made of the seed given, the start, the episode
and the names of the players. So a match is the same whatever was played before it, in whatever
process. :func:`play_on` is the loop of every match.
"""

import itertools
import logging
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..checks import whole
from ..games.calls import call_chance, call_legal, call_over, call_play, call_player, call_score
from ..games.game import Game, check_game
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_bits, seed_from
from ..players.basic import duplicate, wrap
from ..screen.replay import replay

MAX_PLIES = 10_000  # a match that takes longer is an error of the game or of its players
COLUMNS = ["match", "start", "episode", "seat", "player", "score", "plies", "error", "moves"]
log = logging.getLogger(__name__)


class IllegalAction(ValueError):
    """A player returned an action that the rules do not allow."""


@dataclass
class Result:
    """What :func:`match` returns; it unpacks to ``scores, moves = result``."""

    game: Game
    scores: np.ndarray  # float64 [players], the final cumulative reward by seat
    moves: list  # the actions from the start position on
    states: list  # int32 [size] each, from the start to the end

    def __iter__(self):
        return iter((self.scores, self.moves))

    def replay(self, agent=None):
        """Show the match move by move; see :func:`afterstate.screen.replay`."""
        return replay(self.game, self.states, self.moves, agent)


@kernel
def advance(rules, s, action, rng, moves, r):
    """Make a move and its random part; a negative action only looks at `s`.

    Return (player to move, number of legal actions), or (-1, 0) at the end. The legal actions go
    into `moves`, the final cumulative rewards into `r`.
    """
    if action >= 0:
        call_play(rules, s, action)
        call_chance(rules, s, rng)
    if call_over(rules, s):
        call_score(rules, s, r)
        return -1, 0
    return call_player(rules, s), call_legal(rules, s, moves)


def play_on(game, seated, state, rng, most: int = MAX_PLIES, steps=None) -> tuple:
    """Play until the game is over or has gone on for `most` moves; return (last state, moves made).

    Parameters
    ----------
    game : Game
    seated : sequence of players
        One for each seat, who have begun a match (``new_match``).
    state : int32 [size]
        Where it begins; it stays as it is.
    rng : uint64 [1]
        Of the game's chance.
    most : int
    steps : list, optional
        Every move is appended, as (action, state after it); so it is known if a later one fails.
    """
    s, made = game._state(state).copy(), 0
    legal, scores = np.zeros(game.max_legal, np.int32), np.zeros(game.players)
    observers = [player.observe for player in seated if hasattr(player, "observe")]
    mover, num_legal = advance(game.rules, s, -1, rng, legal, scores)
    while mover >= 0 and made < most:
        action = _ask(game, seated[mover], mover, s, legal[:num_legal])
        mover, num_legal = advance(game.rules, s, action, rng, legal, scores)
        made += 1
        if steps is not None:
            steps.append((action, s.copy()))
        for observe in observers:
            observe(action, s.copy())
    return s, made


def _ask(game, player, seat, s, legal) -> int:
    """Ask a player for an action and check it."""
    name = getattr(player, "name", type(player).__name__)
    try:
        given = player.choose(s.copy())
    except Exception as error:
        error.add_note(f"raised by {name} in seat {seat} of {game.name}")
        raise
    try:
        action = operator.index(given)
    except TypeError:
        action = None
    if action is None or not (legal == action).any():
        raise IllegalAction(
            f"{name} in seat {seat} of {game.name} chose {given!r}; legal here: {legal.tolist()}"
        )
    return action


def match(game, players_by_seat, start=None, seed: int = 0, max_plies: int = MAX_PLIES) -> Result:
    """Play one match.

    Parameters
    ----------
    game : Game
    players_by_seat : sequence of players, functions or networks, [players]
        One for each seat; the same object may take several.
    start : (state, actions), optional
        As made by the ``starts_`` functions; default: the game's start.
    seed : int
        The only source of chance.
    max_plies : int
        A match that has not ended by then raises RuntimeError.

    Raises
    ------
    IllegalAction
        If a player's action is not legal; the message names player, action and what is legal.
    ValueError
        If the start position is none or terminal, or a rule of a home-made game does not keep to
        its arrays.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> arena.match(games.load("nim"), [players.MaxN(15), players.Random()], seed=1).scores.tolist()
    [1.0, -1.0]
    """
    check_game(game, "a match")
    whole("max_plies", max_plies)
    steps, seated = [], _seat(game, players_by_seat)
    state, scores = _play(game, seated, start, seed, max_plies, steps)
    moves, states = [action for action, _ in steps], [state, *(after for _, after in steps)]
    return Result(game, scores, moves, states)


def _seat(game, players) -> list:
    """Make players of functions and networks, and give every seat an object of its own."""
    if isinstance(players, (str, dict)) or not hasattr(players, "__iter__"):
        raise TypeError(f"a match needs a list of players, one for each seat, not {players!r}")
    seated = []
    for player in map(wrap, players):
        seated.append(duplicate(player) if any(player is other for other in seated) else player)
    if len(seated) != game.players:
        raise ValueError(f"{game.name} has {game.players} seats, {len(seated)} players were given")
    return seated


def _play(game, seated, start, seed, max_plies, steps) -> tuple:
    """Play a match; return the start position and the scores, and append to `steps`."""
    stream = new_rng(seed)
    rng = new_rng(int(random_bits(stream)))
    if start is None:
        state, actions = game.start(int(random_bits(rng))), []
    else:
        state, actions = check_start(start)
    state, begun = game._state(state).copy(), []
    try:
        for seat, player in enumerate(seated):
            begun.append(player)
            player.new_match(game, list(actions), seat, int(random_bits(stream)))
        if game.over(state):
            shown = game.render(state)
            raise ValueError(f"this start position of {game.name} is terminal: {shown!r}")
        end, _ = play_on(game, seated, state, rng, max_plies, steps)
        if not game.over(end):
            raise RuntimeError(f"the match of {game.name} did not end within {max_plies} plies")
    finally:
        for player in begun:
            if hasattr(player, "close"):
                player.close()
    return state, game.score(end)


def matches(
    game,
    players: dict,
    starts=None,
    episodes: int = 1,
    seed: int = 0,
    seats="all",
    max_plies: int = MAX_PLIES,
    *,
    strict: bool = False,
) -> pd.DataFrame:
    """Play all matches between some players and return a long table, one row per match and seat.

    Parameters
    ----------
    game, seed, max_plies
        As for :func:`match`; every match has a seed of its own.
    players : dict of name -> player, function or network
    starts : sequence of (state, actions), optional
        Default: the game's start.
    episodes : int
        Matches for every start and seating, at least 1.
    seats : {"all", "first"} or list of tuples of names
        ``"all"``: every order of as many players as the game has seats; with fewer players than
        seats, each of them in each seat against copies of the others. ``"first"``: the first player
        in each seat, the others in the rest.
    strict : bool
        Raise RuntimeError if any match failed: the rest would say nothing of the whole.

    Returns
    -------
    DataFrame
        Columns match, start, episode, seat, player, score, plies, error, moves (the actions as a
        text of numbers). A player that raises costs this match only: its rows have no score and
        the text of the error, which is also logged.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> two = {"perfect": players.MaxN(4), "random": players.Random()}
    >>> table = arena.matches(games.load("nim", heaps=1, stones=3), two, episodes=2, seed=1)
    >>> table[["match", "seat", "player", "score"]].head(2).to_numpy().tolist()
    [[0, 0, 'perfect', 1.0], [0, 1, 'random', -1.0]]
    >>> arena.summary(table).matches.tolist()
    [4, 4]
    """
    check_game(game, "a match")
    if not isinstance(players, dict):
        raise TypeError(f"matches need a dictionary name -> player, not {players!r}")
    wrapped = {name: wrap(player) for name, player in players.items()}
    whole("max_plies", max_plies)
    fixtures = list(all_fixtures(game, list(wrapped), starts, episodes, seed, seats))
    played = {}
    for fixture in fixtures:
        played[fixture.number] = play_one(game, wrapped, fixture, max_plies)
        warn(game, fixture, played[fixture.number])
    failed = [one.error for one in played.values() if one.error]
    if strict and failed:
        raise RuntimeError(f"{len(failed)} of {len(played)} matches failed; the first: {failed[0]}")
    return long_table(fixtures, played)


class Fixture(NamedTuple):
    """A match that is to be played."""

    number: int
    place: int  # of the start position
    start: tuple | None
    names: tuple  # of the players by seat
    episode: int
    seed: int


class Played(NamedTuple):
    """What came out of one match of several: scores by seat, moves, and the error if it failed."""

    scores: list
    moves: list
    error: str


def all_fixtures(game, names, starts, episodes, seed, seats="all"):
    """Yield every :class:`Fixture` between some players, as :func:`matches` explains them."""
    starts = [None] if starts is None else list(starts)
    whole("episodes", episodes)
    if not names or not starts:
        raise ValueError(f"matches need players and starts, not {len(names)}, {len(starts)}")
    for start in starts:
        if start is not None:
            game._state(check_start(start)[0])
    everything = itertools.product(enumerate(starts), seatings(game, names, seats), range(episodes))
    for number, ((k, start), seated, episode) in enumerate(everything):
        yield Fixture(number, k, start, seated, episode, seed_from(seed, k, episode, *seated))


def play_one(game, wrapped: dict, fixture: Fixture, max_plies: int) -> Played:
    """Play one match between players of a dictionary; a failure is returned, not raised."""
    steps, error, scores = [], "", [np.nan] * game.players
    try:
        seated = _seat(game, [wrapped[name] for name in fixture.names])
        scores = _play(game, seated, fixture.start, fixture.seed, max_plies, steps)[1].tolist()
    # whatever a player does wrong costs one match, not the tournament
    except Exception as failure:
        notes = getattr(failure, "__notes__", [])
        error = "; ".join([f"{type(failure).__name__}: {failure}", *notes])
    return Played(scores, [action for action, _ in steps], error)


def warn(game, fixture: Fixture, played: Played) -> None:
    """Log a match that failed."""
    if played.error:
        which = f"match {fixture.number} of {game.name} ({', '.join(fixture.names)})"
        log.warning("%s failed: %s", which, played.error)


def long_table(fixtures, played: dict) -> pd.DataFrame:
    """Return the table of matches, of :class:`Fixture` and number -> :class:`Played`."""
    rows = []
    for number, k, _, names, episode, _ in fixtures:
        scores, moves, error = played[number]
        line = " ".join(map(str, moves))
        for seat, (name, score) in enumerate(zip(names, scores)):
            rows.append((number, k, episode, seat, name, score, len(moves), error, line))
    return pd.DataFrame(rows, columns=COLUMNS)


def check_start(start) -> tuple:
    """Return (state, actions), or raise ValueError if a start position is something else."""
    if not isinstance(start, tuple) or len(start) != 2 or not isinstance(start[1], (list, tuple)):
        raise ValueError(
            f"a start position is (state, actions), such as arena.starts_all makes, not {start!r}"
        )
    return start


def seatings(game, names, seats="all") -> list[tuple[str, ...]]:
    """Return who sits where, as in :func:`matches`: tuples of names, one name per seat."""
    n = game.players
    if isinstance(seats, (list, tuple)):
        for names_by_seat in seats:
            if len(names_by_seat) != n or not set(names_by_seat) <= set(names):
                raise ValueError(
                    f"a seating of {game.name} names {n} of {names}, not {tuple(names_by_seat)!r}"
                )
        return [tuple(names_by_seat) for names_by_seat in seats]
    if not isinstance(seats, str) or seats not in ("all", "first"):
        raise ValueError(
            f"seats must be 'all', 'first' or a list of tuples of names, not {seats!r}"
        )
    if len(names) == 1:
        return [(names[0],) * n]
    if seats == "all" and len(names) >= n:
        return list(itertools.permutations(names, n))
    found = []
    for agent in names if seats == "all" else names[:1]:
        others = itertools.cycle([name for name in names if name != agent])
        rest = list(itertools.islice(others, n - 1))
        found += [(*rest[:seat], agent, *rest[seat:]) for seat in range(n)]
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean score, number of matches that count and of failed ones, for every player."""
    rows = table.assign(failed=table.error != "").groupby("player", sort=False)
    return pd.DataFrame(
        {"mean": rows.score.mean(), "matches": rows.score.count(), "errors": rows.failed.sum()}
    )


def win_rate(scores, score_range=(-1.0, 1.0)) -> float:
    """Return the mean score as a share of its range, in [0, 1]; missing ones do not count.

    Source: [konen2021] Sec. 3.3 (win rate).
    """
    low, high = score_range
    if not low < high:
        raise ValueError(f"score_range must be (least, greatest), not {score_range!r}")
    if not np.isfinite(np.asarray(scores, float)).any():
        raise ValueError(f"there is no score among {scores!r}")
    return float((np.nanmean(np.asarray(scores, float)) - low) / (high - low))
