"""Matches between players: one, or all between several from several start positions.

All chance of a match comes from one seed, made of the seed given, the start, the episode and the
names of the players: it is the same whatever was played before, in whatever process.
:func:`play_on` is the loop of every match.
"""

import itertools
import logging
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..checks import one_of, whole
from ..games.calls import call_chance, call_legal, call_over, call_play, call_player
from ..games.game import Game, check_game
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_bits, seed_from
from ..players.basic import duplicate, wrap
from ..screen.replay import replay

MAX_PLIES = 10_000  # a match that takes longer is an error of the game or of its players
MOST_IN_A_TASK = 50  # matches that a worker process plays before it reports them
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
def advance(rules, s, action, rng, moves):
    """Make a move and its random part, if the action is not negative; write the legal actions.

    Return (player to move, number of legal actions), or (-1, 0) at the end.
    """
    if action >= 0:
        call_play(rules, s, action)
        call_chance(rules, s, rng)
    if call_over(rules, s):
        return -1, 0
    return call_player(rules, s), call_legal(rules, s, moves)


def play_on(game, seated, state, rng, most: int = MAX_PLIES, steps=None) -> tuple:
    """Play until the game is over or has gone on for `most` moves; return (last state, moves made).

    Parameters
    ----------
    game : Game
    seated : sequence of players
        One for each seat, after ``new_match``.
    state : int32 [size]
        Where it begins; it stays as it is.
    rng : uint64 [1]
        Of the game's chance.
    most : int
    steps : list, optional
        To which every (action, state after it) is added.
    """
    s, made = game._state(state).copy(), 0
    legal = np.zeros(game.max_legal, np.int32)
    observers = [player.observe for player in seated if hasattr(player, "observe")]
    mover, num_legal = advance(game.rules, s, -1, rng, legal)
    while mover >= 0 and made < most:
        action = _ask(game, seated[mover], mover, s, legal[:num_legal])
        mover, num_legal = advance(game.rules, s, action, rng, legal)
        made += 1
        if steps is not None:
            steps.append((action, s.copy()))
        for observe in observers:
            observe(action, s.copy())
    return s, made


def _ask(game, player, seat, s, legal) -> int:
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
        who = f"{name} in seat {seat} of {game.name}"
        raise IllegalAction(f"{who} chose {given!r}; legal here: {legal.tolist()}")
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
        RuntimeError if the match has not ended by then.

    Raises
    ------
    IllegalAction
        If a player's action is not legal.
    ValueError
        If the start position is none or terminal, or a rule of a home-made game leaves its arrays.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> arena.match(games.load("nim"), [players.MaxN(15), players.Random()], seed=1).scores.tolist()
    [1.0, -1.0]
    """
    check_game(game, "a match")
    whole("max_plies", max_plies)
    steps = []
    state, scores = _play(game, _seat(game, players_by_seat), start, seed, max_plies, steps)
    states = [state, *(after for _, after in steps)]
    return Result(game, scores, [action for action, _ in steps], states)


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
            raise ValueError(f"this start position of {game.name} is terminal: {state!r}")
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
        text of numbers). A player that raises costs this match only: its rows have the error, which
        is also logged, and no score.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> two = {"perfect": players.MaxN(4), "random": players.Random()}
    >>> table = arena.matches(games.load("nim", heaps=1, stones=3), two, episodes=2, seed=1)
    >>> arena.summary(table).matches.tolist()
    [4, 4]
    """
    check_game(game, "a match")
    if not isinstance(players, dict):
        raise TypeError(f"matches need a dictionary name -> player, not {players!r}")
    wrapped = {name: wrap(player) for name, player in players.items()}
    fixtures = list(all_fixtures(game, list(wrapped), starts, episodes, seed, seats))
    played = dict(play_all(game, wrapped, fixtures, whole("max_plies", max_plies)))
    failed = [one.error for one in played.values() if one.error]
    if strict and failed:
        raise RuntimeError(f"{len(failed)} of {len(played)} matches failed; the first: {failed[0]}")
    return long_table(fixtures, played)


class Fixture(NamedTuple):
    """A match that is to be played."""

    number: int
    place: int  # of the start position
    start: tuple | None
    names: tuple  # by seat
    episode: int
    seed: int


class Played(NamedTuple):
    """What came out of a match: scores by seat, moves, and the error if it failed."""

    scores: list
    moves: list
    error: str


def all_fixtures(game, names, starts, episodes, seed, seats="all"):
    """Yield every :class:`Fixture` of :func:`matches`."""
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


def play_all(game, wrapped: dict, fixtures, max_plies: int, workers: int = 1):
    """Yield (number, :class:`Played`) of matches as they end, in any order; log those that fail."""
    size = max(1, min(MOST_IN_A_TASK, len(fixtures) // (8 * workers)))
    tasks = [fixtures[k : k + size] for k in range(0, len(fixtures), size)]
    if workers == 1 or len(tasks) < 2:
        found = (_play_some(game, wrapped, [one], max_plies) for one in fixtures)
    else:
        import joblib

        pool = joblib.Parallel(
            n_jobs=min(workers, len(tasks)), batch_size=1, return_as="generator_unordered"
        )
        found = pool(joblib.delayed(_play_some)(game, wrapped, task, max_plies) for task in tasks)
    for fixture, played in itertools.chain.from_iterable(found):
        if played.error:
            which = f"match {fixture.number} of {game.name} ({', '.join(fixture.names)})"
            log.warning("%s failed: %s", which, played.error)
        yield fixture.number, played


def _play_some(game, wrapped, fixtures, max_plies) -> list[tuple[Fixture, Played]]:
    return [(fixture, _play_one(game, wrapped, fixture, max_plies)) for fixture in fixtures]


def _play_one(game, wrapped, fixture, max_plies) -> Played:
    """Play a match; a failure is returned, not raised: it costs this match only."""
    steps, error, scores = [], "", [np.nan] * game.players
    try:
        seated = _seat(game, [wrapped[name] for name in fixture.names])
        scores = _play(game, seated, fixture.start, fixture.seed, max_plies, steps)[1].tolist()
    except Exception as failure:
        notes = getattr(failure, "__notes__", [])
        error = "; ".join([f"{type(failure).__name__}: {failure}", *notes])
    return Played(scores, [action for action, _ in steps], error)


def long_table(fixtures, played: dict) -> pd.DataFrame:
    """Return the table of matches; `played` is number -> :class:`Played`."""
    rows = []
    for number, k, _, names, episode, _ in fixtures:
        scores, moves, error = played[number]
        line = " ".join(map(str, moves))
        for seat, (name, score) in enumerate(zip(names, scores)):
            rows.append((number, k, episode, seat, name, score, len(moves), error, line))
    return pd.DataFrame(rows, columns=COLUMNS)


def check_start(start) -> tuple:
    """Return a start position, or raise ValueError if it is something else."""
    if not isinstance(start, tuple) or len(start) != 2 or not isinstance(start[1], (list, tuple)):
        raise ValueError(f"a start position is (state, actions), not {start!r}")
    return start


def seatings(game, names, seats="all") -> list[tuple[str, ...]]:
    """Return who sits where, as in :func:`matches`: tuples of names, one name per seat."""
    n = game.players
    if isinstance(seats, (list, tuple)):
        for seated in seats:
            if len(seated) != n or not set(seated) <= set(names):
                raise ValueError(f"a seating of {game.name} names {n} of {names}, not {seated!r}")
        return [tuple(seated) for seated in seats]
    if one_of("seats", seats, ("all", "first")) == "all" and len(names) >= n:
        return list(itertools.permutations(names, n))
    if len(names) == 1:
        return [(names[0],) * n]
    found = []
    for agent in names if seats == "all" else names[:1]:
        others = itertools.cycle([name for name in names if name != agent])
        rest = list(itertools.islice(others, n - 1))
        found += [(*rest[:seat], agent, *rest[seat:]) for seat in range(n)]
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean score and numbers of matches that count and that failed, for every player."""
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
