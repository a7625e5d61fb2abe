"""A league: the players in the Python files of a folder meet, and only new pairings are played.

    FOLDER/anna.py             a player; it is new when its file or a module beside it has changed
    FOLDER/league/*.jsonl      the matches of each pairing
    FOLDER/league.html         ratings, faults, and each player's worst move

Each player runs in a process of its own: see :mod:`afterply.opponents.player_file`, also for what
that does not protect. Who crashes, is late or makes an illegal move loses that match only; who is
late twice loses all that are left, which are not played.
"""

import itertools
import json
import re
import time
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd

from .arena.matches import match, matches, seatings, starts_upto
from .arena.tournament import Standings
from .checks import whole
from .files import write_text
from .games import boards
from .games.game import check_game
from .identity import identity
from .kernel.random import seed_from
from .opponents.player_file import PlayerFile
from .players.basic import Random
from .screen.widget import SLACK, judge_of, judgement

__all__ = ["league"]

TEMPLATE = Path(__file__).with_suffix(".html")
PATIENCE = 2  # a player that was late so often loses the rest of its matches
SAMPLE = 10  # random games that say how long a match is


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
        Matches for each start position and seating. Where there is no chance, the start positions
        are the first one and all after one move, so that few matches are repetitions.
    seed : int
        The only source of chance, but for the players' own.
    seconds, megabytes
        What a move may take, and a process.
    say : function, optional
        Is told, as `print` is, what there is to play, how long that may take, and each pairing.

    ValueError if there are not two players, a name would not stand in a table, or a player has
    changed while it played.
    """
    check_game(game, "a league")
    whole("episodes", episodes)
    files, needed = sorted(Path(folder).glob("[!_.]*.py")), max(2, game.players)
    if odd := [file.name for file in files if not re.fullmatch(r"[\w-]+", file.stem)]:
        raise ValueError(f"{odd[0]!r}: name it by letters, digits, - and _ only")
    if len(files) < needed:
        raise ValueError(f"a league needs {needed} .py files in {folder}, not {len(files)}")
    say = say or (lambda *words, **how: None)
    players = {file.stem: PlayerFile(file, seconds, megabytes) for file in files}
    who = {name: identity(player) for name, player in players.items()}
    starts = starts_upto(game, 1) if game.deterministic else None
    (Path(folder) / "league").mkdir(exist_ok=True)
    journals, left = {}, {}
    for names in itertools.combinations(players, game.players):
        settings = [game.identity, episodes, seed, [who[name] for name in names]]
        number = seed_from(json.dumps(settings))
        journal = Path(folder) / "league" / f"{'-'.join(names)}-{number:016x}.jsonl"
        text = journal.read_text(encoding="utf-8", errors="replace") if journal.exists() else ""
        for name in names:
            players[name].patience = PATIENCE
            players[name].late += _times_late(text, name)
        number = (len(starts) if starts else 1) * len(seatings(game, names)) * episodes
        journals[names], left[names] = journal, max(0, number - max(0, text.count("\n") - 1))
    expected, began, tables = _estimated(game, players, left, say), time.monotonic(), {}
    played = 0.0
    for place, names in enumerate(journals, 1):
        if left[names]:
            say(f"[{place}/{len(journals)}] {' - '.join(names)}", end=" ")
        group, before = {name: players[name] for name in names}, time.monotonic()
        tables[names] = matches(
            game, group, starts, episodes, seed, path=journals[names], forfeit=True
        )
        for name in names:
            players[name].stop()
            if left[names] and identity(players[name]) != who[name]:
                journals[names].unlink()
                raise ValueError(f"{name}.py has changed while it played: run the league again")
        if left[names]:
            played += expected[names]
            now, ahead = time.monotonic(), sum(expected.values()) - played
            pace = (now - began) / played
            say(f"{left[names]} matches in {_clock(now - before)}, {_clock(pace * ahead)} left")
    standings = LeagueTable(game, _joined(tables.values()))
    write_text(Path(folder) / "league.html", page(standings, starts))
    return standings


def _times_late(text: str, name: str) -> int:
    """Return how often the journal of a pairing says that a player was late, or had been twice."""
    # as the errors in it begin; what a player says itself stands behind other words
    late, unplayed = (text.count(f', "{word}: {name}.py ') for word in ("TooLate", "Forfeited"))
    return late + PATIENCE * unplayed


def _joined(tables) -> pd.DataFrame:
    """Return the tables of pairings as one, in which no two matches have one number."""
    joined, number = [], 0
    for table in tables:
        joined.append(table.assign(match=table.match + number))
        number += table.match.nunique()
    return pd.concat(joined, ignore_index=True)


def _estimated(game, players, left, say) -> dict:
    """Return pairing -> seconds that its matches may take; each of its players is tried for that.

    0 for pairings of which nothing is left.
    """
    new = {names: number for names, number in left.items() if number}
    if not new:
        say(f"All {len(left)} pairings were played before.")
        return dict.fromkeys(left, 0.0)
    say(f"{len(new)} of {len(left)} pairings have matches to play: {sum(new.values()):,}.")
    rivals = [Random()] * game.players
    plies = np.mean([len(match(game, rivals, seed=k).moves) for k in range(SAMPLE)])
    begins, lasts = {}, {}
    for name in dict.fromkeys(name for names in new for name in names):
        say(f"{name}:", end=" ")
        begins[name], again, error = _tried(game, players[name])
        late = players[name].late >= PATIENCE  # it is not asked any more
        lasts[name] = 0.0 if late else again if error else again * plies / game.players
        say(error or f"{begins[name]:.1f} s to start, {1000 * again:,.0f} ms a move")
    found = dict.fromkeys(left, 0.0)
    for names, number in new.items():
        found[names] = sum(begins[name] + number * lasts[name] for name in names)
    say(f"This may take {_clock(sum(found.values()))}. Ctrl-C keeps what was played.")
    return found


def _tried(game, player) -> tuple:
    """Return seconds until a player's first move, for another one, and what went wrong."""
    taken, error = [], ""
    for _ in range(2):
        began = time.monotonic()
        try:
            player.new_match(game, [], 0, 0)
            player.choose(game.start())
        except Exception as failure:  # it says so again in its matches
            error = f"{type(failure).__name__}: {failure}"
        taken.append(time.monotonic() - began)
    player.stop()
    return *taken, error


def _clock(seconds: float) -> str:
    """Return a time in words, 1:05."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"


class LeagueTable(Standings):
    """The standings of a league, which say whose matches were not played, and why."""

    def __init__(self, game, table: pd.DataFrame):
        super().__init__(game, table)
        lost = table[table.error.str.startswith("Forfeited: ")]
        self.unplayed = lost[lost.score == game.score_range[0]].groupby("player").size().to_dict()
        if self.unplayed:
            self._title += f", {sum(self.unplayed.values())} of them not played"

    @property
    def remarks(self) -> list[str]:
        """What a reader of the ratings has to know, in sentences."""
        found = [
            f"{name} was late {PATIENCE} times: {number} matches that it had left were not played,"
            " and count as lost."
            for name, number in self.unplayed.items()
        ]
        return found + super().remarks


def page(standings, starts=None) -> str:
    """Return the page of a league; `starts` are the start positions of its matches."""
    game, table = standings.game, standings.table
    faults = table[(table.error != "") & (table.score == game.score_range[0])].groupby("player")
    listed = [
        f"<li>{name}, {len(rows)}: {escape(rows.error.iloc[0])}</li>" for name, rows in faults
    ]
    worst = [
        f"<details><summary>{name}: {escape(words)}</summary>{drawn}</details>"
        for name, (words, drawn) in worst_moves(game, table, starts).items()
    ]
    return TEMPLATE.read_text(encoding="utf-8").format(
        game=escape(game.name),
        standings=standings._repr_html_(),
        faults=f"<ul>{''.join(listed)}</ul>" if listed else "<p>None.</p>",
        worst="".join(worst) or "<p>Nobody erred, or no perfect player of this game is here.</p>",
    )


def worst_moves(game, table, starts=None) -> dict:
    """Return player -> (what was wrong with its worst move, the game up to it as SVG).

    Players without a mistake are left out, and all where there is no perfect player.
    """
    judge, found, known = judge_of(game), {}, {}
    if judge is None:
        return {}
    judge.new_match(game, [], 0, 0)
    for _, rows in table.groupby("match"):
        names = rows.sort_values("seat").player.tolist()
        states = [starts[rows.start.iloc[0]].state if starts else game.start()]
        moves = list(map(int, rows.moves.iloc[0].split()))
        for ply, action in enumerate(moves, 1):
            state = states[-1]
            if (key := game.key(state)) not in known:
                known[key] = dict(zip(game.legal(state).tolist(), judge.values(state)))
            loss, name = max(known[key].values()) - known[key][action], names[game.player(state)]
            states.append(game.play(state, action))
            if loss > max(SLACK, found.get(name, (0.0,))[0]):
                found[name] = loss, states[: ply + 1], moves[:ply]
    for name, (_, states, moves) in found.items():
        last = states[-2], moves[-1]
        words = f"{game.action_name(*last)} {judgement(game, judge, *last)}"
        found[name] = words, str(boards.replay(game, states, moves))
    return dict(sorted(found.items()))
