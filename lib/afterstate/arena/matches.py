"""Matches between players: one, or all between several from several start positions.

Everything by chance in a match comes from one seed, made of the seed given, the start, the episode
and the names of the players. So a match is the same whatever was played before it, in whatever
process.
"""

import itertools
import logging
import operator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..checks import is_whole, whole
from ..games.calls import call_chance, call_legal, call_over, call_play, call_player, call_score
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_bits, seed_from
from ..players.basic import duplicate, wrap
from ..screen.replay import replay

MAX_PLIES = 10_000  # a match that takes longer is an error of the game or of its players
COLUMNS = ["match", "start", "episode", "seat", "player", "score", "plies", "error", "moves"]
log = logging.getLogger(__name__)


class IllegalAction(ValueError):
    """A player returned an action that the rules do not allow."""


class ScoresAndMoves(NamedTuple):
    """What a :class:`Result` unpacks to."""

    scores: np.ndarray  # float64 [players], the final cumulative reward by seat
    moves: list  # the actions from the start position on


class Result(ScoresAndMoves):
    """What :func:`match` returns: ``scores, moves = result``, and the positions of the match.

    Attributes
    ----------
    scores : float64 [players]
        The final cumulative reward by seat.
    moves : list of int
        The actions from the start position on.
    states : list of int32 [size]
        All positions, from the start to the end.
    """

    game, states = None, ()

    def replay(self, agent=None):
        """Show the match move by move; see :func:`afterstate.screen.replay`."""
        return replay(self.game, self.states, self.moves, agent)


@kernel
def advance(rules, s, action, rng, moves, r):
    """Make a move and its random part.

    Return (player to move, number of legal actions), or (-1, 0) at the end.

    The legal actions go into `moves`, the final cumulative rewards into `r`. A negative action only
    looks at `s`.
    """
    if action >= 0:
        call_play(rules, s, action)
        call_chance(rules, s, rng)
    if call_over(rules, s):
        call_score(rules, s, r)
        return -1, 0
    return call_player(rules, s), call_legal(rules, s, moves)


# ---------------------------------------------------------------------------------------- one match


def match(game, players_by_seat, start=None, seed: int = 0, max_plies: int = MAX_PLIES) -> Result:
    """Play one match and return the scores by seat and the moves.

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
        If the number of players is wrong, the start position is none or terminal, or a rule of a
        home-made game does not keep to its arrays.
    TypeError
        If a player is none.

    Examples
    --------
    >>> from afterstate import arena, games, players
    >>> arena.match(games.load("nim"), [players.MaxN(15), players.Random()], seed=1).scores.tolist()
    [1.0, -1.0]
    """
    check_game(game, "a match")
    whole("max_plies", max_plies)
    moves, states = [], []
    seated = _seat(game, players_by_seat)
    result = Result(_play(game, seated, start, seed, moves, max_plies, states), moves)
    result.game, result.states = game, states
    return result


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


def _play(game, seated, start, seed, moves, max_plies, states=None) -> np.ndarray:
    """Play a match and return the scores.

    Its moves are appended to `moves` (also when it fails), and all positions to `states`
    where somebody wants them.
    """
    stream = new_rng(seed)
    rng = new_rng(int(random_bits(stream)))
    state, actions = (
        check_start(start) if start is not None else (game.start(int(random_bits(rng))), [])
    )
    s, legal, scores = (
        game._state(state).copy(),
        np.zeros(game.max_legal, np.int32),
        np.zeros(game.players),
    )
    begun = []
    if states is not None:
        states.append(s.copy())
    try:
        for seat, player in enumerate(seated):
            begun.append(player)
            player.new_match(game, list(actions), seat, int(random_bits(stream)))
        observers = [player.observe for player in seated if hasattr(player, "observe")]
        mover, num_legal = advance(game.rules, s, -1, rng, legal, scores)
        if mover < 0:
            raise ValueError(f"this start position of {game.name} is terminal: {game.render(s)!r}")
        while mover >= 0:
            if len(moves) >= max_plies:
                raise RuntimeError(f"the match of {game.name} did not end within {max_plies} plies")
            action = _ask(game, seated[mover], mover, s, legal[:num_legal])
            mover, num_legal = advance(game.rules, s, action, rng, legal, scores)
            moves.append(action)
            if states is not None:
                states.append(s.copy())
            for observe in observers:
                observe(action, s.copy())
    finally:
        for player in begun:
            if hasattr(player, "close"):
                player.close()
    return scores


def _ask(game, player, seat, s, legal) -> int:
    """Ask a player for an action and check it."""
    try:
        given = player.choose(s.copy())
    except Exception as error:
        error.add_note(f"raised by {_name(player)} in seat {seat} of {game.name}")
        raise
    try:
        action = operator.index(given)
    except TypeError:
        action = None
    if action is None or not (legal == action).any():
        raise IllegalAction(
            f"{_name(player)} in seat {seat} of {game.name} chose {given!r}; legal here:"
            f" {legal.tolist()}"
        )
    return action


def _name(player) -> str:
    return getattr(player, "name", type(player).__name__)


# ------------------------------------------------------------------------------------- many matches


def matches(
    game,
    players: dict,
    starts=None,
    episodes: int = 1,
    seed: int = 0,
    seats="all",
    max_plies: int = MAX_PLIES,
) -> pd.DataFrame:
    """Play all matches between some players and return a long table, one row per match and seat.

    Parameters
    ----------
    game : Game
    players : dict of name -> player, function or network
    starts : sequence of (state, actions), optional
        Default: the game's start.
    episodes : int
        Matches for every start and seating, at least 1.
    seed : int
    seats : {"all", "first"} or list of tuples of names
        ``"all"``: every order of as many players as the game has seats; with fewer players than
        seats, each of them in each seat against copies of the others. ``"first"``: the first player
        in each seat, the others in the rest.

    Returns
    -------
    DataFrame
        Columns match, start, episode, seat, player, score, plies, error, moves (the actions as a
        text of numbers). A player that raises costs this match only: its rows have no score and
        the text of the error, which is also logged.

    Raises
    ------
    ValueError
        If there are no players, starts or episodes, or a seating does not fit.

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
    starts = [None] if starts is None else list(starts)
    if not players or not starts or not is_whole(episodes) or episodes < 1:
        raise ValueError(
            f"matches need players, starts and episodes >= 1, not {len(players)}, {len(starts)} and"
            f" {episodes!r}"
        )
    whole("max_plies", max_plies)
    for start in starts:
        if start is not None:
            game._state(check_start(start)[0])
    wrapped = {name: wrap(player) for name, player in players.items()}
    rows = []
    combinations = itertools.product(
        enumerate(starts), seatings(game, list(players), seats), range(episodes)
    )
    for number, ((k, start), names, episode) in enumerate(combinations):
        played = play_one(
            game, wrapped, start, names, seed_from(seed, k, episode, *names), max_plies
        )
        if played.error:
            log.warning(
                "match %d of %s (%s) failed: %s", number, game.name, ", ".join(names), played.error
            )
        rows += rows_of(number, k, episode, names, played)
    return pd.DataFrame(rows, columns=COLUMNS)


class Played(NamedTuple):
    """What came out of one match of several: scores by seat, moves, and the error if it failed."""

    scores: list
    moves: list
    error: str


def play_one(game, wrapped: dict, start, names, seed: int, max_plies: int) -> Played:
    """Play one match between players of a dictionary; a failure is told, not raised."""
    moves, error, scores = [], "", [np.nan] * game.players
    try:
        seated = _seat(game, [wrapped[name] for name in names])
        scores = _play(game, seated, start, seed, moves, max_plies).tolist()
    # whatever a player does wrong costs one match, not the tournament
    except Exception as failure:
        error = "; ".join(
            [f"{type(failure).__name__}: {failure}", *getattr(failure, "__notes__", [])]
        )
    return Played(scores, moves, error)


def rows_of(number: int, k: int, episode: int, names, played: Played) -> list[tuple]:
    """Return the rows of the long table for one match."""
    line = " ".join(map(str, played.moves))
    return [
        (number, k, episode, seat, name, score, len(played.moves), played.error, line)
        for seat, (name, score) in enumerate(zip(names, played.scores))
    ]


def check_start(start) -> tuple:
    """Return (state, actions), or raise ValueError if a start position is something else."""
    if not isinstance(start, tuple) or len(start) != 2 or not isinstance(start[1], (list, tuple)):
        raise ValueError(
            f"a start position is (state, actions), such as arena.starts_all makes, not {start!r}"
        )
    return start


def seatings(game, names, seats="all") -> list[tuple[str, ...]]:
    """Return who sits where, as in :func:`matches`: tuples of names, one name per seat.

    Examples
    --------
    >>> from afterstate import arena, games
    >>> arena.seatings(games.load("tictactoe"), ["me", "you"])
    [('me', 'you'), ('you', 'me')]
    """
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
    rows = table.groupby("player", sort=False)
    return pd.DataFrame(
        {
            "mean": rows.score.mean(),
            "matches": rows.score.count(),
            "errors": rows.error.apply(lambda e: int((e != "").sum())),
        }
    )


def win_rate(scores, score_range=(-1.0, 1.0)) -> float:
    """Return the mean score as a share of its range, in [0, 1]: a draw counts one half.

    Missing scores do not count.

    Source: [konen2021] Sec. 3.3 (win rate).

    Examples
    --------
    >>> from afterstate import arena
    >>> arena.win_rate([1.0, 0.0, -1.0, 1.0])
    0.625
    """
    low, high = score_range
    if not low < high:
        raise ValueError(f"score_range must be (least, greatest), not {score_range!r}")
    if not np.isfinite(np.asarray(scores, float)).any():
        raise ValueError(f"there is no score among {scores!r}")
    return float((np.nanmean(np.asarray(scores, float)) - low) / (high - low))
