"""The command ``afterply``: games, play, page, train, match, judge, league, docs.

What a command needs is imported by it, so that ``train`` says at once what it is going to do.
"""

import functools
import json
import re
import sys
import textwrap
from pathlib import Path

from . import pairs, run_command

INDENTED = {"initial_indent": 6 * " ", "subsequent_indent": 6 * " "}
OWN = re.compile(r"(.*\.py)((?::.*)?)", re.DOTALL)  # a file of yours, and what is meant of it


def _value(text: str):
    """Return the value that a word stands for: "1,0.5" is [1, 0.5], "true" True, "ET" itself."""
    try:
        first, *others = json.loads(f"[{text}]")
    except ValueError:
        return text
    return [first, *others] if others else first


def _game(word: str):
    """Return the game that a word such as hex:size=4 or mine.py:Chomp:rows=3 means."""
    from ..games import catalogue

    name, *parameters = word.split(":")
    if own := OWN.fullmatch(word):
        name, parameters = own[1], [part for part in own[2].split(":") if part]
        one = [parameters.pop(0)] if parameters and "=" not in parameters[0] else []
        return catalogue.from_file(name, *one, **pairs(parameters, _value))
    return catalogue.load(name, **pairs(parameters, _value))


def _games(*names):
    """List the games, or describe some of them.

    The list says for how many players each is, whether it has a published agent (zoo) and opponents
    of graded strength (ladder), and how many actions.

    names: games to describe, such as hex, hex:size=5 or a file of yours, mine.py; default: a list
        of all
    """
    from ..games.catalogue import specification, tables
    from ..opponents import words
    from ..players import saved

    zoo, ladders = saved.zoo(), words.ladders()
    for game in map(_game, names):
        print(f"{game!r}\n")
        for row, text in specification(game).items():
            print(f"  {row:12} {text}")
        print(f"\n{game.render(game.start())}")
        if game.name in zoo:
            print(f"\npublished agent: {zoo[game.name].get('words', '')}")
    if names:
        return
    print(f"{'game':10} {'players':>8}  {'zoo':4} {'ladder':6}  actions")
    for name, rows in tables().items():
        marks = "yes" if name in zoo else "", "yes" if name in ladders else ""
        print(f"{name:10} {rows['players']:>8}  {marks[0]:4} {marks[1]:6}  {rows['actions']}")


def _play(game, against=None, seat=0, seed=0):
    """Play a game at the terminal.

    You type moves by their names, such as d1; a column's letter is enough where only one move is in
    that column. v shows what the moves are worth, u takes back, q quits.

    game: such as connect4, hex:size=5 or nim:heaps=1:stones=7 (`afterply games` lists them), or a
        file of yours, mine.py, with mine.py:NAME if it holds several games
    against: your opponent, a player by a word of those below; default: one of medium strength from
        the game's ladder, else a tree search
    seat: yours, counted from 0, which moves first
    seed: a whole number from which all chance is drawn
    Ctrl-C: The game is not kept.
    """
    from ..opponents.words import named
    from ..screen.play import play

    game = _game(game)
    play(game, against and named(game, against), seat=seat, seed=seed)


def _page(agent, out=None, other=None, game=None, learn=False):
    """Write a page on which an agent is played: one HTML file, which opens from the disk.

    Pages need a linker for WebAssembly: where there is none, this says how to install it.

    agent: a file such as mine.npz, or a game, as hex, hex:size=4 or a file of yours, mine.py: its
        published agent, or a search where there is none
    out: the file to write; default: the game's name and .html
    other: another agent of the same game: two boards, with the values of either
    game: the file of your game, if mine.npz is an agent of one; default: the package's game
    learn: the agent is learned in the page, and `agent` is a game
    Ctrl-C: No page was written.
    """
    from ..screen import learn_page, page

    if learn:
        made = learn_page(_game(agent), out)
    else:
        own = game and _game(game)
        made = page(_agent(agent, own), out, other=other and _agent(other, own))
    print(f"The page: {made}")


def _agent(word, game=None):
    from ..games import catalogue
    from ..players import saved

    is_game = (
        OWN.fullmatch(word) or catalogue.canonical(word.partition(":")[0]) in catalogue.names()
    )
    if word.endswith(".npz") or not is_game and Path(word).is_file():
        return saved.load(word, game)
    game = _game(word)
    published = saved.zoo().get(game.name, {}).get("game") == json.loads(json.dumps(game.identity))
    return saved.zoo(game) if published else game


def _train(
    game, learner="td", episodes=0, minutes=0.0, set=(), seed=0, out=None, resume=False, force=False
):
    """Train an agent by self-play and write it to a file, such as hex.npz.

    A game brings its usual network and parameters: give the game before --help to see them. The
    signals of a closed terminal, of Slurm and of docker stop are kept as Ctrl-C is.

    game: such as connect4, hex:size=5 (`afterply games` lists them), or a file of yours, mine.py,
        with mine.py:NAME if it holds several games
    learner: what learns: td, sarsa, tabular, td_wrapped, td_search, or one of yours,
        learner.py:NAME
    episodes: how many games to play; default: the game's usual number, or as --minutes says
    minutes: limit by the clock, in minutes; default: none
    set: a parameter of the learner, as alpha=0.5, or alpha=1,0.5 from first to last; may be
        repeated; default: see below
    seed: a whole number from which all chance is drawn
    out: the file to write; default: the game's name and .npz
    resume: go on with a training that was stopped: with the same result as if it had not been
    force: replace the file, and a training that was stopped, if they exist
    Ctrl-C: What was learned is kept beside the file, in FILE.part, and --resume goes on from it.
        Pressed twice, or while the library is compiled, it leaves FILE.part as it was, if any.
    """
    given = pairs(set, _value)
    asked = dict(learner=learner, episodes=episodes, minutes=minutes, set=given, seed=seed)
    print(f"Training {game}; on a new machine, compiling takes a minute first.", flush=True)
    from .train import train

    return train(game, _game(game), asked, out, resume, force)


def _match(game, *players, episodes=10, seed=0, workers=1):
    """Let players meet in a tournament, and print ratings and who beat whom.

    game: such as connect4, hex:size=5 (`afterply games` lists them), or a file of yours, mine.py,
        with mine.py:NAME if it holds several games
    players: two or more, each by a word of those below
    episodes: matches of each seating of each group of players
    seed: a whole number from which all chance is drawn
    workers: processes that play side by side; no number depends on it
    Ctrl-C: No match of it is kept.
    """
    from ..arena.tournament import tournament
    from ..opponents.words import named

    game = _game(game)
    found = {name: named(game, word) for name, word in zip(_told_apart(players), players)}
    print(tournament(game, found, episodes, seed=seed, workers=workers))


def _told_apart(words) -> list[str]:
    """Return a name for each word of a player: of a path its end, if no other ends like this."""
    ends, found = [word.rpartition("/")[2] for word in words], []
    for word, end in zip(words, ends):
        alike = {other for other, its in zip(words, ends) if its == end}
        first = name = end if len(alike) == 1 else word
        again = 1
        while name in found:
            again += 1
            name = f"{first} ({again})"
        found.append(name)
    return found


def _judge(claims, *runs, out=None):
    """Judge the claims of a paper by tables of runs, in any field of research.

    A claims file says what is claimed, and what must be compared: ten lines are enough, as in
    notebooks/04_your_own_paper.ipynb.

    claims: the file of claims, in YAML
    runs: CSV files with the columns arm, run, measure, value; without any the claims are checked
    out: the folder for the page; default: one beside the claims that has their name
    Ctrl-C: No page was written.
    """
    from ..studies.reports.own_paper import judge  # needs the extra for reports

    out = Path(out or Path(claims).with_suffix(""))
    if runs and out.is_file():
        raise ValueError(f"{out} is a file: name a folder for the page with --out")
    print(judge(claims, *runs, out=out if runs else None))
    print(f"The page: {out / 'index.html'}" if runs else f"{claims} is in order.")


def _league(folder, game="tictactoe", episodes=2, seconds=5.0, megabytes=2000, seed=0):
    """Let the players in the .py files of a folder meet; only what is new is played.

    Each file calls a player `player`, such as a function from a state to an action, and runs in a
    process of its own. That is no sandbox: run it where the code of others may run. Who is late
    twice loses all matches that are left. The page is FOLDER/league.html.

    folder: holds a .py file for each player; files whose names begin with _ are none
    game: such as tictactoe, hex:size=4, or a file of yours, mine.py
    episodes: matches for each start position and seating
    seconds: limit of a move, in seconds
    megabytes: limit of the address space of a player's process, in MB, at least 600
    seed: a whole number from which all chance is drawn but the players' own
    Ctrl-C: Every match that was finished is kept in FOLDER/league, and the same command goes on;
        the page is as it was.
    """
    from ..league import league

    say = functools.partial(print, flush=True)
    print(league(folder, _game(game), episodes, seed, seconds, megabytes, say))
    print(f"The page: {Path(folder) / 'league.html'}")


def _docs(out=None):
    """Build the site of the documentation, with all pages in one folder.

    Where there is a linker for WebAssembly each published agent has a page on which it is played,
    and four games one on which an agent learns.

    out: the folder, which is emptied; default: reports/site
    Ctrl-C: The folder is not complete.
    """
    from ..checks import to_install
    from ..files import reports_directory
    from ..studies.reports import site  # needs an extra

    folder, listed = Path(out) if out else reports_directory() / "site", _played()
    paths = site.build(folder, played=listed)
    for one in listed:
        _write_played(folder / "play", one)
    print(f"{len(paths) + len(listed)} pages: {folder / 'index.html'}")
    if not listed:
        print(f"Without pages on which the agents are played: {to_install('web')}")


def _played() -> list[dict]:
    """Return what the site says of each page with agents; nothing without a linker."""
    from ..files import published_file, read_yaml
    from ..kernel.link import has_linker
    from ..players import saved

    if not has_linker():
        return []
    given = read_yaml(published_file("models/played.yaml"))
    for game, card in saved.zoo().items():
        words = f"This agent {card['words'].replace('; ', '. How strong it is: ', 1)}."
        about = {"asks": "Play the agents", "game": game, "words": words}
        given["pages"][game] = about | {"agents": {"the agent": card["file"]}}
    pages, titles = given["pages"].items(), given["titles"]
    return [{"page": name, "title": titles[one["game"]]} | one for name, one in pages]


def _write_played(folder, one) -> None:
    from ..files import published_file
    from ..games import catalogue
    from ..players import saved
    from ..screen import learn_page, page

    file, names = folder / f"{one['page']}.html", [*one["agents"]]
    if not names:
        learn_page(catalogue.load(one["game"]), file, title=f"Watch an agent learn {one['title']}")
        return
    agents = [saved.load(published_file("models") / each) for each in one["agents"].values()]
    for agent, name in zip(agents, names):
        agent.name = name
    other, title = None, f"Play {one['title']}"
    if len(agents) > 1:
        other, title = agents[1], f"{one['title']}: {' and '.join(names)}"
    page(agents[0], file, other=other, about=one["words"], title=title)


def main(words=None) -> int:
    """Do what the command line says; return the exit status."""
    functions = _games, _play, _page, _train, _match, _judge, _league, _docs
    return run_command("afterply", functions, words, _more)


def _more(command: str, given: dict) -> str:
    """Return what the help of a command ends with, as far as the command line was given."""
    if command in ("play", "match"):
        from ..opponents.words import LISTED

        return f"Players are given as words:\n{LISTED}"
    return _parameters(given["game"], given["learner"]) if command == "train" else ""


def _parameters(word, learner) -> str:
    """Return the table of a learner's parameters, with the values that are usual in a game."""
    from ..learners.parameters import usual
    from .train import learner_of

    declared = learner_of(learner).PARAMETERS
    own = usual(declared, _game(word)) if word else {}
    title = f"Parameters of {learner}, for --set"
    if word:
        lines = [f"{title}, and their values in {word} (* unlike the learner's default):"]
    else:
        lines = [f"{title}, and their defaults; `afterply train GAME --help` has a game's values:"]
    for name, one in declared.items():
        value = own.get(name, one.default)
        choices = f" ({', '.join(one.choices)})" * bool(one.choices)
        first = f"  {name}={json.dumps(value)}{' *' * (value != one.default)}"
        lines += [first, *textwrap.wrap(one.meaning + choices, 92, **INDENTED)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
