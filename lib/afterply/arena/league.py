"""A league: the players in the Python files of a folder meet, and only new pairings are played.

    FOLDER/anna.py             a player; it is new when its file has changed
    FOLDER/league/*.jsonl      the matches of each pairing
    FOLDER/league.html         ratings, faults, and each player's worst move

Each player runs in a process of its own: see :mod:`afterply.players.player_file`, also for what
that does not protect. Who crashes, hangs or makes an illegal move loses that match only.
"""

import itertools
import json
import re
from html import escape
from pathlib import Path

import pandas as pd

from ..checks import whole
from ..files import write_text
from ..games import boards
from ..games.game import check_game
from ..identity import identity
from ..kernel.random import seed_from
from ..players.player_file import PlayerFile
from ..screen.widget import SLACK, judge_of, judgement
from .matches import matches, starts_upto
from .tournament import Standings

TEMPLATE = Path(__file__).with_suffix(".html")


def league(folder, game, episodes: int = 2, seed: int = 0, seconds=5.0, megabytes=2000):
    """Play what is new in a folder of players, write its page, and return the standings.

    Parameters
    ----------
    folder : path
        Each ``.py`` file is a player, unless its name begins with ``_`` or a dot; at least two.
    game : Game
        A game of the package, for two or more players.
    episodes : int
        Matches for each start position and seating. Where there is no chance, the start positions
        are the first one and all after one move, so that few matches are repetitions.
    seed : int
        The only source of chance, but for the players' own.
    seconds, megabytes
        What a move may take, and a process.

    ValueError if there are not two players, or a name would not stand in a table.
    """
    check_game(game, "a league")
    whole("episodes", episodes)
    files, needed = sorted(Path(folder).glob("[!_.]*.py")), max(2, game.players)
    if odd := [file.name for file in files if not re.fullmatch(r"[\w-]+", file.stem)]:
        raise ValueError(f"{odd[0]!r}: name it by letters, digits, - and _ only")
    if len(files) < needed:
        raise ValueError(f"a league needs {needed} .py files in {folder}, not {len(files)}")
    players = {file.stem: PlayerFile(file, seconds, megabytes) for file in files}
    starts = starts_upto(game, 1) if game.deterministic else None
    tables, played = [], 0
    for names in itertools.combinations(players, game.players):
        group = {name: players[name] for name in names}
        settings = [game.identity, episodes, seed, [identity(one) for one in group.values()]]
        number = seed_from(json.dumps(settings))
        path = Path(folder) / "league" / f"{'-'.join(names)}-{number:016x}.jsonl"
        path.parent.mkdir(exist_ok=True)
        table = matches(game, group, starts, episodes, seed, path=path, forfeit=True)
        tables.append(table.assign(match=table.match + played))
        played += table.match.nunique()
        for player in group.values():
            player.stop()
    standings = Standings(game, pd.concat(tables, ignore_index=True))
    write_text(Path(folder) / "league.html", page(standings, starts))
    return standings


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
