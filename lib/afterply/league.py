"""A league: the players in the Python files of a folder meet, and only new pairings are played.

    FOLDER/anna.py             a player; it is new when its file or a module beside it has changed
    FOLDER/league/*.jsonl      the matches of each pairing
    FOLDER/league.html         ratings, faults, and each player's worst move

Each player runs in a process of its own: :mod:`afterply.opponents.player_file` says what that
protects, and what not. A player that crashes, is late or makes an illegal move loses that match
only. A player that was late twice loses all matches that are left, and these are not played.
"""

import itertools
import json
import re
import time
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd

from .arena.matches import NoJournal, match, matches, seatings, starts_upto
from .arena.tournament import Standings
from .checks import count, path, seed_number
from .files import one_writer, write_text
from .games import boards
from .games.game import check_game
from .identity import identity
from .kernel.random import seed_from
from .opponents.player_file import PlayerFile, limits
from .players.basic import Random
from .processes import memory
from .screen.widget import SLACK, judge_of, judgement

__all__ = ["league"]

TEMPLATE = Path(__file__).with_suffix(".html")
PATIENCE = 2  # a player that was late so often loses the rest of its matches
SAMPLE = 10  # random games from which the mean length of a match is estimated
# To start a player takes a second or two, and of a few matches it would be most of the time. So the
# processes of two blocks of players run on, which may take half of the memory.
BLOCKS_AT_ONCE = 2
PLAYER_BYTES = 200 * 2**20  # of an idle one, which has imported the library
SMALLEST_BLOCK, LARGEST_BLOCK = 4, 64


def league(
    folder, game, episodes: int = 2, seed: int = 0, seconds=5.0, megabytes=2000, say=None
) -> "LeagueTable":
    """Play what is new in a folder of players, write its page, and return the standings.

    A player is identified by the content of its file and of the modules that it imports. Where the
    folder lies does not count, so a folder that was moved keeps the matches that were played.

    Parameters
    ----------
    folder : path
        Each ``.py`` file is a player, unless its name begins with ``_`` or a dot; at least two.
    game : Game
        For two or more players; of the package, or of a file of yours (`games.from_file`).
    episodes : int
        Matches for each start position and seating, at least 1. Where there is no chance, the start
        positions are the first one and all after one move, so that few matches are repetitions.
    seed : int
        The only source of chance, but for the players' own.
    seconds : float
        The time that a move may take, at least 0.001, at most a day.
    megabytes : int
        The memory that the process of a player may take, at least 600.
    say : function, optional
        Called as `print` is, with messages on the progress: how many matches there are to play, how
        long they may take, and each pairing. Default: no messages.

    Returns
    -------
    LeagueTable
        Ratings, cross table and remarks, as of :func:`afterply.arena.tournament`.

    Raises
    ------
    ValueError
        If there are not enough players, the name of a file has other characters than letters,
        digits, ``-`` and ``_``, or a player has changed while it played.
    BlockingIOError
        If another process plays a league in this folder at this moment.
    """
    check_game(game, "a league")
    count("episodes", episodes)
    seed = seed_number(seed)
    limits_of_players = limits(seconds, megabytes)
    paths = _player_paths(folder, game)
    with one_writer(Path(folder) / "league"):
        return _league(folder, game, episodes, seed, paths, limits_of_players, say or _say_nothing)


def _league(folder, game, episodes, seed, paths, limits_of_players, say):
    """Do what :func:`league` says, of which the arguments were checked."""
    players = {path.stem: PlayerFile(path, *limits_of_players) for path in paths}
    for player in players.values():
        player.patience = PATIENCE
    identities = {name: identity(player) for name, player in players.items()}
    starts = starts_upto(game, 1) if game.deterministic else None
    journals = _journals(folder, game, episodes, seed, identities)
    _count_lateness(journals, players)
    num_starts = len(starts) if starts else 1
    num_left = {}
    for names, journal in journals.items():
        num_matches = num_starts * len(seatings(game, names)) * episodes
        num_left[names] = max(0, num_matches - _num_played(journal))
    size = _size_of_block()
    block_of = {name: place // size for place, name in enumerate(players)}
    running = []  # blocks, of which the one that was played last is the first
    tables = {}
    estimated_so_far = 0.0
    try:
        estimates = _estimated(game, players, num_left, block_of, say)
        began = time.monotonic()
        for place, names in enumerate(_by_blocks(journals, block_of), 1):
            group = {name: players[name] for name in names}
            running = _stop_others(players, group, block_of, running)
            if num_left[names]:
                say(f"[{place}/{len(journals)}] {' - '.join(names)}", end=" ")
            began_pairing = time.monotonic()
            tables[names] = _played(game, group, starts, episodes, seed, journals[names], say)
            if num_left[names]:
                _require_unchanged(group, identities, journals[names])
                estimated_so_far += estimates[names]
                now = time.monotonic()
                # How long the rest will take follows from how good the estimates were so far.
                pace = (now - began) / estimated_so_far
                ahead = pace * (sum(estimates.values()) - estimated_so_far)
                taken = now - began_pairing
                say(f"{num_left[names]} matches in {_clock(taken)}, {_clock(ahead)} left")
    finally:
        for player in players.values():
            player.stop()
    # In the order of names, whatever the order in which they were played.
    standings = LeagueTable(game, _joined([tables[names] for names in journals]))
    write_text(Path(folder) / "league.html", page(standings, starts))
    return standings


def _say_nothing(*words, **how):
    """Take the place of `print` where nobody wants messages."""


def _player_paths(folder, game) -> list[Path]:
    """Return the files of the players of a folder, or raise ValueError."""
    paths = sorted(path(folder).glob("[!_.]*.py"))
    for file in paths:
        if not re.fullmatch(r"[\w-]+", file.stem):
            raise ValueError(f"{file.name!r}: name it by letters, digits, - and _ only")
    num_needed = max(2, game.players)
    if len(paths) < num_needed:
        raise ValueError(f"a league needs {num_needed} .py files in {folder}, not {len(paths)}")
    return paths


def _size_of_block() -> int:
    """Return how many players a block has, so that their processes fit into memory."""
    size = memory() // 2 // (BLOCKS_AT_ONCE * PLAYER_BYTES)
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, size))


def _by_blocks(journals, block_of) -> list:
    """Return the pairings so that those of the same blocks of players follow each other."""
    return sorted(journals, key=lambda names: [block_of[name] for name in names])


def _stop_others(players, group, block_of, running) -> list:
    """Stop all players but those of the blocks that play now, and played last; return these."""
    playing = list(dict.fromkeys(block_of[name] for name in group))
    running = list(dict.fromkeys([*playing, *(running or range(BLOCKS_AT_ONCE))]))
    running = running[: max(BLOCKS_AT_ONCE, len(playing))]
    for name, player in players.items():
        if block_of[name] not in running:
            player.stop()
    return running


def _played(game, group, starts, episodes, seed, journal, say) -> pd.DataFrame:
    """Return the table of a pairing, of which what the journal lacks is played."""
    journal.parent.mkdir(exist_ok=True)  # a player may do whatever its account may
    how = {"path": journal, "forfeit": True}
    try:
        return matches(game, group, starts, episodes, seed, **how)
    except NoJournal as error:
        journal.replace(journal.with_suffix(".edited"))
        say(f"{error}. It is put aside as *.edited, and its matches are played again.")
        return matches(game, group, starts, episodes, seed, **how)


def _require_unchanged(group, identities, journal):
    """Delete the journal of a pairing and raise ValueError if a file has changed meanwhile."""
    for name, player in group.items():
        if identity(player) != identities[name]:
            journal.unlink(missing_ok=True)
            raise ValueError(f"{name}.py has changed while it played: run the league again")


# Journals: the files of matches, one for each pairing


def _journals(folder, game, episodes, seed, identities) -> dict:
    """Return pairing -> its journal, whose name tells it from those of other players or settings.

    `identities` is name -> identity of each player; a pairing has as many names as the game seats.
    """
    folder_of_journals = Path(folder) / "league"
    folder_of_journals.mkdir(exist_ok=True)
    journals = {}
    for names in itertools.combinations(identities, game.players):
        settings = [game.identity, episodes, seed, [identities[name] for name in names]]
        digest = seed_from(json.dumps(settings))
        # No name has a +, so no two pairings share a file, whatever their players are called.
        journals[names] = folder_of_journals / f"{'+'.join(names)}-{digest:016x}.jsonl"
    return journals


def _text_of(journal) -> str:
    """Return the text of a journal; empty if there is none."""
    if not journal.exists():
        return ""
    return journal.read_text(encoding="utf-8", errors="replace")


def _num_played(journal) -> int:
    """Return how many matches a journal holds: its lines but the first, which is a header."""
    return max(0, _text_of(journal).count("\n") - 1)


def _count_lateness(journals, players):
    """Count how often players were late when this league was played before."""
    for names, journal in journals.items():
        text = _text_of(journal)
        for name in names:
            players[name].late += _times_late(text, name)


def _times_late(text: str, name: str) -> int:
    """Return how often a player was late by the text of a journal.

    A match that was not played counts as :data:`PATIENCE` times, since that is why.
    """
    # An error in a journal begins in this way. What a player itself raises begins otherwise.
    num_late = text.count(f', "TooLate: {name}.py ')
    num_unplayed = text.count(f', "Forfeited: {name}.py ')
    return num_late + PATIENCE * num_unplayed


def _joined(tables) -> pd.DataFrame:
    """Return the tables of pairings as one, in which every match has a number of its own."""
    renumbered = []
    num_matches = 0
    for table in tables:
        renumbered.append(table.assign(match=table.match + num_matches))
        num_matches += table.match.nunique()
    return pd.concat(renumbered, ignore_index=True)


# How long it may take


def _estimated(game, players, num_left, block_of, say) -> dict:
    """Return pairing -> seconds that its matches may take, 0 where none are left.

    Each player of a pairing with matches to play is asked for two moves. Those of the first blocks
    run on.
    """
    estimates = dict.fromkeys(num_left, 0.0)
    new = {names: number for names, number in num_left.items() if number}
    if not new:
        say(f"All {len(num_left)} pairings were played before.")
        return estimates
    say(f"{len(new)} of {len(num_left)} pairings have matches to play: {sum(new.values()):,}.")
    moves_a_match = _mean_plies(game) / game.players
    seconds_to_start = {}
    seconds_a_match = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(new)):
        say(f"{name}:", end=" ")
        seconds_to_start[name], seconds_a_move, error = _tried(game, players[name])
        if block_of[name] >= BLOCKS_AT_ONCE:
            players[name].stop()
        if players[name].late >= PATIENCE:  # it is not asked any more
            seconds_a_match[name] = 0.0
        elif error:  # its matches end where they begin
            seconds_a_match[name] = seconds_a_move
        else:
            seconds_a_match[name] = seconds_a_move * moves_a_match
        if error:
            say(error)
        else:
            say(f"{seconds_to_start[name]:.1f} s to start, {1000 * seconds_a_move:,.0f} ms a move")
    for names, number in new.items():
        for name in names:
            estimates[names] += seconds_to_start[name] + number * seconds_a_match[name]
    say(f"This may take {_clock(sum(estimates.values()))}. Ctrl-C keeps what was played.")
    return estimates


def _mean_plies(game) -> float:
    """Return the mean length of some random games, in moves of all players."""
    rivals = [Random()] * game.players
    lengths = [len(match(game, rivals, seed=seed).moves) for seed in range(SAMPLE)]
    return float(np.mean(lengths))


def _tried(game, player) -> tuple:
    """Return seconds until a player's first move, seconds for another one, and its last error."""
    seconds = []
    error = ""
    for _ in range(2):
        began = time.monotonic()
        try:
            player.new_match(game, [], 0, 0)
            player.choose(game.start())
        except Exception as failure:  # its matches will show it again
            error = f"{type(failure).__name__}: {failure}"
        seconds.append(time.monotonic() - began)
    return *seconds, error


def _clock(seconds: float) -> str:
    """Return a time as minutes and seconds, such as 1:05."""
    minutes, seconds_of_minute = divmod(round(seconds), 60)
    return f"{minutes}:{seconds_of_minute:02d}"


# What comes out


class LeagueTable(Standings):
    """The standings of a league, which say whose matches were not played, and why."""

    def __init__(self, game, table: pd.DataFrame):
        super().__init__(game, table)
        forfeited = table[table.error.str.startswith("Forfeited: ")]
        losers = forfeited[forfeited.score == game.score_range[0]]
        self.unplayed = losers.groupby("player").size().to_dict()  # player -> matches
        if self.unplayed:
            self._title += f", {sum(self.unplayed.values())} of them not played"

    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        remarks = []
        for name, number in self.unplayed.items():
            remarks.append(
                f"{name} was late {PATIENCE} times: {number} matches that it had left were not"
                " played, and count as lost."
            )
        return remarks + super().remarks


def page(standings, starts=None) -> str:
    """Return the page of a league; `starts` are the start positions of its matches."""
    game = standings.game
    faults = "<p>None.</p>"
    items = _list_items_of_faults(game, standings.table)
    if items:
        faults = f"<ul>{''.join(items)}</ul>"
    worst = ""
    for name, (words, drawing) in worst_moves(game, standings.table, starts).items():
        worst += f"<details><summary>{name}: {escape(words)}</summary>{drawing}</details>"
    if not worst:
        worst = "<p>Nobody erred, or no perfect player of this game is here.</p>"
    return TEMPLATE.read_text(encoding="utf-8").format(
        game=escape(game.name), standings=standings._repr_html_(), faults=faults, worst=worst
    )


def _list_items_of_faults(game, table) -> list[str]:
    """Return for each player how many matches it lost by a fault of its own, and the first."""
    has_lost_by_fault = (table.error != "") & (table.score == game.score_range[0])
    items = []
    for name, rows in table[has_lost_by_fault].groupby("player"):
        items.append(f"<li>{name}, {len(rows)}: {escape(rows.error.iloc[0])}</li>")
    return items


def worst_moves(game, table, starts=None) -> dict:
    """Return player -> (what was wrong with its worst move, the game up to it as SVG).

    Players without a mistake are left out, and all where there is no perfect player.
    """
    judge = judge_of(game)
    if judge is None:
        return {}
    judge.new_match(game, [], 0, 0)
    worst = {}
    for name, (_, states, moves) in sorted(_largest_losses(game, table, starts, judge).items()):
        state = states[-2]  # before the last move
        action = moves[-1]
        words = f"{game.action_name(state, action)} {judgement(game, judge, state, action)}"
        worst[name] = words, str(boards.replay(game, states, moves))
    return worst


def _largest_losses(game, table, starts, judge) -> dict:
    """Return player -> (value that its worst move lost, states and moves up to that move)."""
    largest = {}
    values_of = {}  # key of a state -> action -> value; most games repeat states
    for _, rows in table.groupby("match"):
        names = rows.sort_values("seat").player.tolist()
        moves = [int(move) for move in rows.moves.iloc[0].split()]
        state = starts[rows.start.iloc[0]].state if starts else game.start()
        states = [state]
        for ply, action in enumerate(moves, 1):
            key = game.key(state)
            if key not in values_of:
                values_of[key] = dict(zip(game.legal(state).tolist(), judge.values(state)))
            loss = max(values_of[key].values()) - values_of[key][action]
            name = names[game.player(state)]
            state = game.play(state, action)
            states.append(state)
            largest_so_far = largest[name][0] if name in largest else 0.0
            if loss > max(SLACK, largest_so_far):
                largest[name] = loss, states[: ply + 1], moves[:ply]
    return largest
