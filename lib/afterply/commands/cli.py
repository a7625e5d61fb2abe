"""The command ``afterply``: games, play, page, train, match, judge, league, docs.

What a command needs is imported by it, so that ``train`` says at once what it is going to do.
"""

import functools
import json
import re
import sys
import textwrap
from pathlib import Path

from . import add_command, new_program, pairs, run_program

PYTHON_FILE = re.compile(r"(.*\.py)((?::.*)?)", re.DOTALL)  # a file of yours, and what follows it
INDENTED = {"initial_indent": 6 * " ", "subsequent_indent": 6 * " "}

GAME_HELP = (
    "such as connect4, hex:size=5 or nim:heaps=1:stones=7 (`afterply games` lists them), or a file"
    " of yours, mine.py, with mine.py:NAME if it holds several games"
)


def main(words=None) -> int:
    """Do what the command line says; return the exit status."""
    program, commands = new_program("afterply")
    for add in (
        *(add_games, add_play, add_page, add_train),
        *(add_match, add_judge, add_league, add_docs),
    ):
        add(commands)
    return run_program(program, words)


# Arguments that several commands have


def add_game(parser):
    """Declare the argument that names a game."""
    parser.add_argument("game", help=GAME_HELP)


def add_seed(parser, besides=""):
    """Declare the option for the seed of all chance, `besides` what it does not decide."""
    text = f"a whole number from which all chance is drawn{besides} (default: %(default)s)"
    parser.add_argument("--seed", type=int, default=0, help=text)


# What stands for a game, a value or an agent


def value_of(text: str):
    """Return the value that a word stands for: "1,0.5" is [1, 0.5], "true" True, "ET" itself."""
    try:
        values = json.loads(f"[{text}]")
    except ValueError:
        return text
    return values if len(values) != 1 else values[0]


def game_of(word: str):
    """Return the game that a word such as hex:size=4 or mine.py:Chomp:rows=3 means."""
    from ..games import catalogue

    file = PYTHON_FILE.fullmatch(word)
    if file is None:
        name, *parameters = word.split(":")
        return catalogue.load(name, **pairs(parameters, value_of))
    parameters = [part for part in file[2].split(":") if part]
    if parameters and "=" not in parameters[0]:
        name, *parameters = parameters
        return catalogue.from_file(file[1], name, **pairs(parameters, value_of))
    return catalogue.from_file(file[1], **pairs(parameters, value_of))


def agent_of(word: str, game=None):
    """Return the agent in a file, or the published one of a game; the game, where there is none."""
    from ..games import catalogue
    from ..players import saved

    first = word.partition(":")[0]
    is_game = PYTHON_FILE.fullmatch(word) or catalogue.canonical(first) in catalogue.names()
    if word.endswith(".npz") or (not is_game and Path(word).is_file()):
        return saved.load(word, game)
    game = game_of(word)
    card = saved.zoo().get(game.name)
    if card and card["game"] == json.loads(json.dumps(game.identity)):
        return saved.zoo(game)
    return game


# games


def add_games(commands):
    """Declare the command ``games``."""
    parser = add_command(commands, games, "Nothing has changed.", word_list="names")
    parser.add_argument(
        "names",
        nargs="*",
        help="games to describe, such as hex, hex:size=5 or a file of yours, mine.py; default: a"
        " list of all",
    )


def games(names):
    """List the games, or describe some of them.

    The list says for how many players each is, whether it has a published agent (zoo) and opponents
    of graded strength (ladder), and how many actions.
    """
    from ..games.catalogue import specification, tables
    from ..opponents import words
    from ..players import saved

    zoo = saved.zoo()
    for name in names:
        game = game_of(name)
        print(f"{game!r}\n")
        for row, text in specification(game).items():
            print(f"  {row:12} {text}")
        print(f"\n{game.render(game.start())}")
        if game.name in zoo:
            print(f"\npublished agent: {zoo[game.name].get('words', '')}")
    if names:
        return
    ladders = words.ladders()
    print(f"{'game':10} {'players':>8}  {'zoo':4} {'ladder':6}  actions")
    for name, rows in tables().items():
        in_zoo = "yes" if name in zoo else ""
        has_ladder = "yes" if name in ladders else ""
        print(f"{name:10} {rows['players']:>8}  {in_zoo:4} {has_ladder:6}  {rows['actions']}")


# play


def add_play(commands):
    """Declare the command ``play``."""
    parser = add_command(commands, play, "The game is not kept.", epilog=_words_for_players)
    add_game(parser)
    parser.add_argument(
        "--against",
        help="your opponent, a player by a word of those below; default: one of medium strength"
        " from the game's ladder, else a tree search",
    )
    parser.add_argument(
        "--seat",
        type=int,
        default=0,
        help="yours, counted from 0, which moves first (default: %(default)s)",
    )
    add_seed(parser)


def play(game, against, seat, seed):
    """Play a game at the terminal.

    You type moves by their names, such as d1; a column's letter is enough where only one move is in
    that column. v shows what the moves are worth, u takes back, q quits.
    """
    from ..opponents.words import named
    from ..screen.play import play as play_in_terminal

    game = game_of(game)
    opponent = named(game, against) if against else None
    play_in_terminal(game, opponent, seat=seat, seed=seed)


def _words_for_players(namespace) -> str:
    from ..opponents.words import LISTED

    return f"Players are given as words:\n{LISTED}"


# page


def add_page(commands):
    """Declare the command ``page``."""
    parser = add_command(commands, page, "No page was written.")
    parser.add_argument(
        "agent",
        help="a file such as mine.npz, or a game, as hex, hex:size=4 or a file of yours, mine.py:"
        " its published agent, or a search where there is none",
    )
    parser.add_argument("--out", help="the file to write; default: the game's name and .html")
    parser.add_argument(
        "--other", help="another agent of the same game: two boards, with the values of either"
    )
    parser.add_argument(
        "--game",
        help="the file of your game, if mine.npz is an agent of one; default: the package's game",
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="the agent is learned in the page, and `agent` is a game",
    )


def page(agent, out, other, game, learn):
    """Write a page on which an agent is played: one HTML file, which opens from the disk.

    Pages need a linker for WebAssembly: where there is none, this says how to install it.
    """
    from ..screen import learn_page
    from ..screen import page as write_page

    if learn:
        path = learn_page(game_of(agent), out)
    else:
        home_made = game_of(game) if game else None
        first = agent_of(agent, home_made)
        second = agent_of(other, home_made) if other else None
        path = write_page(first, out, other=second)
    print(f"The page: {path}")


# train


def add_train(commands):
    """Declare the command ``train``."""
    parser = add_command(
        commands,
        train,
        "What was learned is kept beside the file, in FILE.part, and --resume goes on from it."
        " Pressed twice, or while the library is compiled, it leaves FILE.part as it was, if any.",
        epilog=_parameters,
    )
    add_game(parser)
    parser.add_argument(
        "--learner",
        default="td",
        help="what learns: td, sarsa, tabular, td_wrapped, td_search, or one of yours,"
        " learner.py:NAME (default: %(default)s)",
    )
    parser.add_argument(
        "--episodes",
        type=int,
        default=0,
        help="how many games to play; default: the game's usual number, or as --minutes says",
    )
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="limit by the clock, in minutes; default: none"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        help="a parameter of the learner, as alpha=0.5, or alpha=1,0.5 from first to last; may be"
        " repeated; default: see below",
    )
    add_seed(parser)
    parser.add_argument("--out", help="the file to write; default: the game's name and .npz")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with a training that was stopped: with the same result as if it had not been",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace the file, and a training that was stopped, if they exist",
    )


def train(game, learner, episodes, minutes, set, seed, out, resume, force):
    """Train an agent by self-play and write it to a file, such as hex.npz.

    A game brings its usual network and parameters: give the game before --help to see them. The
    signals of a closed terminal, of Slurm and of docker stop are kept as Ctrl-C is.
    """
    settings = {
        "learner": learner,
        "episodes": episodes,
        "minutes": minutes,
        "set": pairs(set, value_of),
        "seed": seed,
    }
    print(f"Training {game}; on a new machine, compiling takes a minute first.", flush=True)
    from .train import train as train_agent

    return train_agent(game, game_of(game), settings, out, resume, force)


def _parameters(namespace) -> str:
    """Return the table of a learner's parameters, with the values that are usual in a game."""
    from ..learners.parameters import usual
    from .train import learner_of

    game, learner = namespace.game, namespace.learner
    declared = learner_of(learner).PARAMETERS
    title = f"Parameters of {learner}, for --set"
    if game:
        values = usual(declared, game_of(game))
        lines = [f"{title}, and their values in {game} (* unlike the learner's default):"]
    else:
        values = {}
        lines = [f"{title}, and their defaults; `afterply train GAME --help` has a game's values:"]
    for name, parameter in declared.items():
        value = values.get(name, parameter.default)
        mark = " *" if value != parameter.default else ""
        meaning = parameter.meaning
        if parameter.choices:
            meaning += f" ({', '.join(parameter.choices)})"
        lines.append(f"  {name}={json.dumps(value)}{mark}")
        lines += textwrap.wrap(meaning, 92, **INDENTED)
    return "\n".join(lines)


# match


def add_match(commands):
    """Declare the command ``match``."""
    parser = add_command(
        commands, match, "No match of it is kept.", word_list="players", epilog=_words_for_players
    )
    add_game(parser)
    parser.add_argument("players", nargs="*", help="two or more, each by a word of those below")
    parser.add_argument(
        "--episodes",
        type=int,
        default=10,
        help="matches of each seating of each group of players (default: %(default)s)",
    )
    add_seed(parser)
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        help="processes that play side by side; no number depends on it (default: %(default)s)",
    )


def match(game, players, episodes, seed, workers):
    """Let players meet in a tournament, and print ratings and who beat whom."""
    from ..arena.tournament import tournament
    from ..opponents.words import named

    game = game_of(game)
    entrants = {}
    for name, word in zip(names_of_players(players), players):
        entrants[name] = named(game, word)
    print(tournament(game, entrants, episodes, seed=seed, workers=workers))


def names_of_players(words) -> list[str]:
    """Return a name for each word of a player: of a path its end, if no other ends like this."""
    names = []
    for word in words:
        end = word.rpartition("/")[2]
        same_end = {other for other in words if other.rpartition("/")[2] == end}
        first_choice = end if len(same_end) == 1 else word
        name = first_choice
        number = 1
        while name in names:
            number += 1
            name = f"{first_choice} ({number})"
        names.append(name)
    return names


# judge


def add_judge(commands):
    """Declare the command ``judge``."""
    parser = add_command(commands, judge, "No page was written.", word_list="runs")
    parser.add_argument("claims", help="the file of claims, in YAML")
    parser.add_argument(
        "runs",
        nargs="*",
        help="CSV files with the columns arm, run, measure, value; without any the claims are"
        " checked",
    )
    parser.add_argument(
        "--out", help="the folder for the page; default: one beside the claims that has their name"
    )


def judge(claims, runs, out):
    """Judge the claims of a paper by tables of runs, in any field of research.

    A claims file says what is claimed, and what must be compared: ten lines are enough, as in
    notebooks/04_your_own_paper.ipynb.
    """
    from ..studies.reports import own_paper  # needs an extra

    folder = Path(out or Path(claims).with_suffix(""))
    if not runs:
        print(own_paper.judge(claims))
        print(f"{claims} is in order.")
        return
    if folder.is_file():
        raise ValueError(f"{folder} is a file: name a folder for the page with --out")
    print(own_paper.judge(claims, *runs, out=folder))
    print(f"The page: {folder / 'index.html'}")


# league


def add_league(commands):
    """Declare the command ``league``."""
    parser = add_command(
        commands,
        league,
        "Every match that was finished is kept in FOLDER/league, and the same command goes on; the"
        " page is as it was.",
    )
    parser.add_argument(
        "folder", help="holds a .py file for each player; files whose names begin with _ are none"
    )
    parser.add_argument(
        "--game",
        default="tictactoe",
        help="such as tictactoe, hex:size=4, or a file of yours, mine.py (default: %(default)s)",
    )
    parser.add_argument(
        "--episodes",
        type=int,
        default=2,
        help="matches for each start position and seating (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=5.0,
        help="limit of a move, in seconds (default: %(default)s)",
    )
    parser.add_argument(
        "--megabytes",
        type=int,
        default=2000,
        help="limit of the address space of a player's process, in MB, at least 600 (default:"
        " %(default)s)",
    )
    add_seed(parser, besides=" but the players' own")


def league(folder, game, episodes, seconds, megabytes, seed):
    """Let the players in the .py files of a folder meet; only what is new is played.

    Each file calls a player `player`, such as a function from a state to an action, and runs in a
    process of its own. That is no sandbox: run it where the code of others may run. Who is late
    twice loses all matches that are left. The page is FOLDER/league.html.
    """
    from ..league import league as play_league

    say = functools.partial(print, flush=True)
    print(play_league(folder, game_of(game), episodes, seed, seconds, megabytes, say))
    print(f"The page: {Path(folder) / 'league.html'}")


# docs


def add_docs(commands):
    """Declare the command ``docs``."""
    parser = add_command(commands, docs, "The folder is not complete.")
    parser.add_argument(
        "--out",
        help="the folder, new or made by this command, which is emptied; default: reports/site",
    )


def docs(out):
    """Build the site of the documentation, with all pages in one folder.

    Where there is a linker for WebAssembly each published agent has a page on which it is played,
    and four games one on which an agent learns.
    """
    from ..checks import to_install
    from ..files import reports_directory
    from ..studies.reports import site  # needs an extra

    folder = Path(out) if out else reports_directory() / "site"
    playable = _pages_with_agents()
    paths = site.build(folder, played=playable)
    links = {"afterply": "../index.html", "All games": "index.html"}
    links |= {site.words_of(entry): f"{entry['page']}.html" for entry in playable}
    for entry in playable:
        _write_page(folder / "play", entry, links)
    print(f"{len(paths) + len(playable)} pages: {folder / 'index.html'}")
    if not playable:
        print(f"Without pages on which the agents are played: {to_install('web')}")


def _pages_with_agents() -> list[dict]:
    """Return what the site says of each page with agents; nothing without a linker."""
    from ..files import published_file, read_yaml
    from ..games import catalogue
    from ..kernel.link import has_linker
    from ..players import saved

    if not has_linker():
        return []
    declared = read_yaml(published_file("models/played.yaml"))
    pages = dict(declared["pages"])
    for game, card in saved.zoo().items():
        pages[game] = {
            "asks": "Play the agents",
            "game": game,
            "words": saved.in_plain_words(card),
            "agents": {"the agent": card["file"]},
        }
    entries = []
    for name, page in pages.items():
        entries.append({"page": name, "title": catalogue.load(page["game"]).title, **page})
    return entries


def _write_page(folder, entry, links) -> None:
    from ..files import published_file
    from ..games import catalogue
    from ..players import saved
    from ..screen import learn_page
    from ..screen import page as write_page

    file = folder / f"{entry['page']}.html"
    if not entry["agents"]:
        title = f"Watch an agent learn {entry['title']}"
        learn_page(catalogue.load(entry["game"]), file, title=title, links=links)
        return
    agents = []
    for name, agent_file in entry["agents"].items():
        agent = saved.load(published_file("models") / agent_file)
        agent.name = name
        agents.append(agent)
    if len(agents) == 1:
        title = f"Play {entry['title']}"
        write_page(agents[0], file, about=entry["words"], title=title, links=links)
    else:
        title = f"{entry['title']}: {' and '.join(entry['agents'])}"
        about = entry["words"]
        write_page(agents[0], file, other=agents[1], about=about, title=title, links=links)


if __name__ == "__main__":
    sys.exit(main())
