"""Matches between players: one match, or all matches of several players; and start positions.

All chance of a match comes from one seed. :func:`matches` derives it from its own seed, the number
of the start position, the episode and the names of the players. :func:`play_on` is the loop of
every match.
"""

import contextlib
import itertools
import json
import logging
import math
import operator
import os
import reprlib
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..checks import boolean, count, listed, numbers, one_of, plain, seed_number, whole
from ..checks import path as checked_path
from ..files import one_writer, parse_json, write_text
from ..games.calls import call_chance, call_legal, call_over, call_play, call_player
from ..games.game import check_game
from ..identity import identity
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_bits, seed_from
from ..players.basic import Resigned, duplicate, wrap
from ..processes import work_for

MOST_WORKERS = 10_000
MOST_STARTS = 10_000_000
MOST_MATCHES = 100_000_000  # of one table, which fills some 10 GB
MAX_PLIES = 10_000  # a match that takes longer is an error of the game or of its players
COLUMNS = ["match", "start", "episode", "seat", "player", "score", "plies", "error", "moves"]
log = logging.getLogger(__name__)


class IllegalAction(ValueError):
    """A player returned an action that the rules do not allow."""


class NoJournal(ValueError):
    """A file that should hold some matches was edited, or belongs to others."""


class Result(NamedTuple):
    """What :func:`match` returns."""

    scores: np.ndarray  # float64 [players], the final cumulative reward by seat
    moves: list  # the actions from the start position on
    states: list  # int32 [size] each, from the start to the end


@kernel
def advance(rules, s, action, rng, moves):
    """Make an action >= 0; return (player to move, number of legal `moves`), at the end (-1, 0)."""
    if action >= 0:
        call_play(rules, s, action)
        call_chance(rules, s, rng)
    if call_over(rules, s):
        return -1, 0
    return call_player(rules, s), call_legal(rules, s, moves)


def play_on(game, seated, state, rng, most: int = MAX_PLIES) -> tuple:
    """Play until the end, or `most` moves; return the last state, and every (action, state)."""
    s = game._state(state).copy()
    steps = []
    legal = np.zeros(game.max_legal, np.int32)
    observers = [player.observe for player in seated if hasattr(player, "observe")]
    mover, num_legal = advance(game.rules, s, -1, rng, legal)
    while mover >= 0 and len(steps) < most:
        game._arrived(s, legal[:num_legal])
        try:
            action = _ask(game, seated[mover], mover, s, legal[:num_legal])
        except Resigned as error:
            error.steps = steps
            raise
        mover, num_legal = advance(game.rules, s, action, rng, legal)
        steps.append((action, s.copy()))
        for observe in observers:
            observe(action, s.copy())
    return s, steps


def _ask(game, player, seat, s, legal) -> int:
    """Return a player's action; an error says who made it and has the number of the seat."""
    who = f"{getattr(player, 'name', type(player).__name__)} in seat {seat} of {game.name}"
    try:
        answer = player.choose(s.copy())
    except Exception as error:
        error.add_note(f"raised by {who}")
        error.seat = seat
        raise
    try:
        action = operator.index(answer)
    except TypeError:
        action = None
    if action is None or not (legal == action).any():
        error = IllegalAction(f"{who} chose {answer!r}; legal here: {legal.tolist()}")
        error.seat = seat
        raise error
    return action


def match(game, players_by_seat, start=None, seed: int = 0, max_plies: int = MAX_PLIES) -> Result:
    """Play one match.

    Parameters
    ----------
    game : Game
    players_by_seat : sequence of players, functions or networks, [players]
        One for each seat; the same object may take several.
    start : (state, actions), optional
        As made by the ``starts_`` functions; default: the game's start. ValueError if it is
        terminal.
    seed : int
        The only source of chance.
    max_plies : int
        RuntimeError if the match has not ended by then.

    Raises
    ------
    IllegalAction
        If a player's action is not legal. A player that resigns has lost, with what it had played.
    ValueError
        If a rule of a home-made game leaves its arrays.

    Examples
    --------
    >>> from afterply import arena, games, players
    >>> arena.match(games.load("nim"), [players.MaxN(15), players.Random()], seed=1).scores.tolist()
    [1.0, -1.0]
    """
    check_game(game, "a match")
    whole("max_plies", max_plies)
    seated = _seat(game, listed("the players of a match, one a seat,", players_by_seat))
    stream = new_rng(seed)
    rng = new_rng(int(random_bits(stream)))
    if start is None:
        start = game.start(int(random_bits(rng))), []
    state, actions = _checked(game, start)
    to_close = []
    try:
        for seat, player in enumerate(seated):
            to_close.append(player)
            seed_of_player = int(random_bits(stream))
            try:
                player.new_match(game, list(actions), seat, seed_of_player)
            except Exception as error:
                error.seat = seat
                raise
        if game.over(state):
            raise ValueError(f"this start position of {game.name} is terminal: {state!r}")
        scores, steps = _played_out(game, seated, state, rng, max_plies)
    finally:
        for player in to_close:
            if hasattr(player, "close"):
                player.close()
    moves = [action for action, _ in steps]
    states = [state] + [after for _, after in steps]
    return Result(scores, moves, states)


def _played_out(game, seated, state, rng, max_plies) -> tuple:
    """Play to the end, or until a player resigns; return the scores and every (action, state)."""
    try:
        end, steps = play_on(game, seated, state, rng, max_plies)
    except Resigned as error:
        return np.array(_forfeited(game, error.seat)), error.steps
    if not game.over(end):
        raise RuntimeError(f"the match of {game.name} did not end within {max_plies} plies")
    return game.score(end), steps


def _seat(game, players_by_seat) -> list:
    """Return a player for each seat; one that takes several seats has a copy in each but one."""
    seated = []
    for player in map(wrap, players_by_seat):
        if any(player is other for other in seated):
            player = duplicate(player)
        seated.append(player)
    if len(seated) != game.players:
        raise ValueError(
            f"{game.name} has {game.players} seats, {len(seated)} players were given:"
            f" {players_by_seat!r}"
        )
    return seated


def _checked(game, start) -> tuple:
    """Return a start position with a copy of its state; ValueError if it is none."""
    is_pair = isinstance(start, tuple) and len(start) == 2
    if not is_pair or not isinstance(start[1], (list, tuple)):
        raise ValueError(f"a start position is (state, actions), not {start!r}")
    return game._state(start[0]).copy(), start[1]


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
    forfeit: bool = False,
    workers: int = 1,
    path=None,
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
        Raise RuntimeError if any match failed: the others may be a biased sample.
    forfeit : bool
        A player that raises or makes an illegal move loses the match: it gets the least score of
        the game, the others the greatest.
    workers : int
        Processes that play side by side; the numbers do not depend on it.
    path : path, optional
        A file to which every finished match is added; matches that it holds already are not played
        again. ValueError if it was edited or belongs to other matches, or if one of the `players`
        cannot be told from others: give that a `version`. BlockingIOError if another process writes
        it at this moment.

    Returns
    -------
    DataFrame
        Columns match, start, episode, seat, player, score, plies, error, moves (the actions as a
        text of numbers). A player that raises costs this match only: its rows have the error and
        no moves; no score either, and a warning in the log, unless a `forfeit` decides it.

    Examples
    --------
    >>> from afterply import arena, games, players
    >>> two = {"perfect": players.MaxN(4), "random": players.Random()}
    >>> table = arena.matches(games.load("nim", heaps=1, stones=3), two, episodes=2, seed=1)
    >>> arena.summary(table).matches.tolist()
    [4, 4]
    """
    check_game(game, "a match")
    if not isinstance(players, dict):
        raise TypeError(f"matches need a dictionary name -> player, not {players!r}")
    workers = whole("workers", workers, 1, MOST_WORKERS)
    strict = boolean("strict", strict)
    forfeit = boolean("forfeit", forfeit)
    seed = seed_number(seed)
    max_plies = whole("max_plies", max_plies)
    episodes = count("episodes", episodes)
    wrapped = {name: wrap(player) for name, player in players.items()}
    starts = [None] if starts is None else listed("starts", starts)
    if not wrapped or not starts:
        raise ValueError(f"matches need players and starts, not {len(wrapped)}, {len(starts)}")
    starts = [None if start is None else _checked(game, start) for start in starts]
    seated = seatings(game, list(wrapped), seats)
    num_matches = len(starts) * len(seated) * episodes
    whole("the number of matches (starts, seatings, episodes)", num_matches, 0, MOST_MATCHES)
    fixtures = list(itertools.product(range(len(starts)), seated, range(episodes)))
    results = {}
    header = ""
    writing = contextlib.nullcontext()
    if path is not None:
        path = checked_path(path)
        settings = {"episodes": episodes, "seed": seed, "seats": seats, "max_plies": max_plies}
        if forfeit:
            settings["forfeit"] = True
        header = _header(game, wrapped, starts, settings)
        writing = one_writer(path)
    with writing:
        if path is not None:
            results = _read(path, header)
        calls = []
        for number, (start_number, names, episode) in enumerate(fixtures):
            if number not in results:
                players_by_seat = [wrapped[name] for name in names]
                seed_of_match = seed_from(seed, start_number, episode, *names)
                given = players_by_seat, starts[start_number], seed_of_match, max_plies
                calls.append((os.getpid(), number, forfeit, game, *given))
        for number, *result in _played(calls, workers):
            results[number] = result
            error = result[-1]
            if error and not forfeit:
                log.warning("match %d of %s failed: %s", number, game.name, error)
            if path is not None:
                _append(path, header, [number, *result])
    errors = [error for *_, error in results.values() if error]
    if strict and errors:
        failed = f"{len(errors)} of {len(results)} matches failed"
        raise RuntimeError(f"{failed}; the first: {errors[0]}")
    return _long_table(fixtures, results)


def _played(calls, workers):
    """Return an iterator over (number, scores, moves, error) of every match, in any order."""
    if workers == 1:
        return itertools.starmap(_play_one, calls)
    import joblib

    pool = joblib.Parallel(workers, return_as="generator_unordered")
    return pool(joblib.delayed(_play_one)(*call) for call in calls)


def _play_one(parent, number, forfeit, game, players_by_seat, start, seed, max_plies) -> tuple:
    """Return (number, scores, moves, error) of a match, which may be played in another process."""
    work_for(parent)
    try:
        result = match(game, players_by_seat, start, seed, max_plies)
    except Exception as error:  # which costs this match only
        seat = getattr(error, "seat", None)
        scores = [np.nan] * game.players
        if forfeit and seat is not None:
            scores = _forfeited(game, seat)
        words = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]
        return number, scores, [], "; ".join(words)
    return number, result.scores.tolist(), result.moves, ""


def _forfeited(game, loser) -> list:
    """Return the scores by seat of a match that the player in one seat lost by its own fault."""
    least, greatest = map(float, game.score_range)
    scores = []
    for seat in range(game.players):
        scores.append(least if seat == loser else greatest)
    return scores


def _long_table(fixtures, results) -> pd.DataFrame:
    """Return the table of :func:`matches`; `results` is number -> (scores, moves, error)."""
    rows = []
    for number, (start_number, names, episode) in enumerate(fixtures):
        scores, moves, error = results[number]
        moves_in_words = " ".join(map(str, moves))
        for seat, (name, score) in enumerate(zip(names, scores)):
            of_seat = number, start_number, episode, seat, name, score
            rows.append((*of_seat, len(moves), error, moves_in_words))
    return pd.DataFrame(rows, columns=COLUMNS)


# The file of matches: a header, then a line for each match


def _header(game, players, starts, settings) -> str:
    """Return the first line of a file: everything that the results depend on."""
    positions = []
    for start in starts:
        if start is None:
            positions.append(None)
        else:
            state, actions = start
            positions.append([list(map(int, state)), list(map(int, actions))])
    identities = {name: identity(_at_begin(game, player)) for name, player in players.items()}
    header = {
        "game": game.identity,
        "players": identities,
        "starts": f"{seed_from(json.dumps(positions)):016x}",
    }
    return json.dumps(header | settings)


def _at_begin(game, player):
    """Return a player as it begins a match, without what earlier matches have left in it."""
    if hasattr(player, "identity"):  # it states what tells it from others
        return player
    copy = duplicate(player)
    copy.new_match(game, [], 0, 0)
    return copy


def _line(header: str, content: str) -> str:
    """Return the line of a match: its result, behind a checksum that detects edits."""
    return f"{seed_from(header, content):016x} {content}"


def _append(path, header: str, result: list):
    """Add a match, which is [number, scores, moves, error], to the file."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(_line(header, json.dumps(result)) + "\n")


def _read(path, header: str) -> dict:
    """Return number -> (scores, moves, error) of a file of matches; begin it if there is none."""
    text = ""
    if path.exists():
        text = path.read_text(encoding="utf-8", errors="replace")
    if header.startswith(text):  # a new file, or one that was cut off in its first line
        text = header + "\n"
    lines = text[: text.rfind("\n") + 1]  # without one that was cut off
    if not lines.startswith(header + "\n"):
        raise NoJournal(f"{path} is no file of these matches: name another one, or delete it")
    results = {}
    for line_number, line in enumerate(lines.splitlines()[1:], 2):
        content = line.partition(" ")[2]
        if line != _line(header, content):
            raise NoJournal(
                f"line {line_number} of {path} is no match as it was played here:"
                " delete the line, and the match is played again"
            )
        number, *result = parse_json(content, missing=True)
        results[number] = result
    write_text(path, lines)
    return results


# Who sits where, and what comes out


def seatings(game, names, seats="all") -> list[tuple[str, ...]]:
    """Return who sits where: tuples of `names`, one per seat; `seats` are those of `matches`."""
    n = check_game(game, "a seating").players
    names = listed("names", names)
    if isinstance(seats, (list, tuple)):
        for seated in seats:
            seated = listed("a seating", seated)
            if len(seated) != n or not set(seated) <= set(names):
                raise ValueError(f"a seating of {game.name} names {n} of {names}, not {seated!r}")
        return [tuple(seated) for seated in seats]
    one_of("seats", seats, ("all", "first"))
    if seats == "all" and len(names) >= n:
        return list(itertools.permutations(names, n))
    agents = names if seats == "all" else names[:1]
    seatings_of_agents = []
    for agent in agents:
        others = [name for name in names if name != agent] or names
        opponents = list(itertools.islice(itertools.cycle(others), n - 1))
        for seat in range(n):
            seatings_of_agents.append((*opponents[:seat], agent, *opponents[seat:]))
    return list(dict.fromkeys(seatings_of_agents))  # without duplicates, in this order


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean score and numbers of matches that count and failed, by player of a `table`.

    The mean is that of the matches that count. It is biased where failures depend on the result: an
    engine may die in the matches that it loses.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"a table of matches is needed, not {table!r}")
    rows = table.assign(failed=table.error != "").groupby("player", sort=False)
    return pd.DataFrame(
        {"mean": rows.score.mean(), "matches": rows.score.count(), "errors": rows.failed.sum()}
    )


def win_rate(scores, score_range=(-1.0, 1.0)) -> float:
    """Return the mean of `scores` as a share of `score_range`, in [0, 1].

    ValueError if there are none, or one is nan, as of a failed match: the rest are no win rate.
    Source: [konen2021] Sec. 3.3 (win rate).
    """
    ends = numbers("score_range", score_range)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ValueError(f"score_range must be (least, greatest), not {score_range!r}")
    low, high = ends.tolist()
    given = plain(listed("scores", scores))
    scores_in_words = reprlib.repr(given)
    values = numbers("scores", [math.nan if score is None else score for score in given])
    values = values.astype(float)
    if not values.size:
        raise ValueError(f"there is no score among {scores_in_words}")
    missing = int((~np.isfinite(values)).sum())
    if missing:
        raise ValueError(
            f"{missing} of {values.size} scores are missing in {scores_in_words}, so there is no"
            " win rate: matches failed; see table.error, or let who fails lose by"
            " matches(..., forfeit=True)"
        )
    return float((np.mean(values) - low) / (high - low))


class Start(NamedTuple):
    """A start position and the actions that lead to it from the default start."""

    state: np.ndarray  # int32 [size]
    actions: list


def starts_all(game, plies: int) -> list[Start]:
    """Return every non-terminal position after exactly `plies` actions, one for each sequence."""
    level = starts_after(game, [[]])
    for _ in range(count("plies", plies, 0)):
        if not level:  # every game is over by then
            break
        following = []
        for state, actions in level:
            for action in game.legal(state):
                after = game.play(state, action)
                following.append(Start(after, [*actions, int(action)]))
        level = following
    return [start for start in level if not game.over(start.state)]


def starts_upto(game, plies: int) -> list[Start]:
    """Return the default start and every non-terminal position after at most `plies` actions."""
    starts = []
    for num_plies in range(count("plies", plies, 0) + 1):
        of_level = starts_all(game, num_plies)
        if not of_level:
            break
        starts += of_level
    return starts


def starts_after(game, paths) -> list[Start]:
    """Return the positions after some `paths`: sequences of actions from the default start."""
    if not check_game(game, "a start position").deterministic:
        raise ValueError(f"{game.name} has chance, actions determine no position: starts_random")
    starts = []
    for actions in listed("paths", paths):
        state = game.after(actions)
        starts.append(Start(state, [int(action) for action in actions]))
    return starts


def starts_random(game, n: int, seed: int = 0) -> list[Start]:
    """Draw `n` start positions by the game's scheme.  Source: [konen2021] App. A.6."""
    check_game(game, "a start position")
    rng = new_rng(seed_from(seed_number(seed), "starts"))
    num_starts = whole("the number of start positions", n, 1, MOST_STARTS)
    return [Start(*game.random_start(rng)) for _ in range(num_starts)]


STARTS = {
    "all": lambda game, n, seed: starts_all(game, n),
    "upto": lambda game, n, seed: starts_upto(game, n),
    "after": lambda game, paths, seed: starts_after(game, paths),
    "random": starts_random,
}
