"""The command ``afterstate``: games, play, train, match."""

import argparse
import sys
from importlib import metadata

from ..arena.tournament import tournament
from ..games import catalogue
from ..games.catalogue import specification, tables
from ..learners.catalogue import learners
from ..players import ladder, saved
from ..players.named import WORDS, named
from ..screen.play import play, play_at_terminal
from ..screen.table import Table
from ..studies.progress import Progress

PLAYERS = "Players are given as words:\n" + "\n".join(
    f"  {name:12} {meaning}" for name, meaning in WORDS.items()
)
GAME = "a game, with parameters after colons, such as hex:size=5 (see `afterstate games`)"
EXAMPLES = """examples:
  afterstate games                                     what there is to play
  afterstate play connect4                             against the default opponent
  afterstate play tictactoe --against elo:250          against one of a chosen strength
  afterstate train othello --episodes 5000 --set epsilon=0.1 --out mine.npz
  afterstate match othello mine.npz zoo mcts:100 random --episodes 10
"""


def main(words=None) -> int:
    """Do what the command line says; return the exit status."""
    parser = _parser()
    given = parser.parse_args(words)
    if not given.command:
        parser.print_help()
        return 0
    try:
        given.run(given)
    except (ValueError, ImportError, OSError) as error:
        print(f"afterstate {given.command}: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError):
        print("\nstopped", file=sys.stderr)
        return 130
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        "afterstate",
        description="Board games, learners that teach themselves, and matches between them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"afterstate {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name, run, what, epilog=None):
        found = commands.add_parser(
            name,
            help=what,
            description=what,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        found.set_defaults(run=run)
        return found

    one = command("games", _games, "List the games, or tell all of one.")
    one.add_argument("game", nargs="?", help="one of the games")
    one = command("play", _play, "Play a game at the terminal.", PLAYERS)
    one.add_argument("game", help=GAME)
    one.add_argument("--against", metavar="PLAYER", help="your opponent (default: chosen for you)")
    one.add_argument("--seat", type=int, default=0, help="yours: 0 moves first (the default)")
    one.add_argument("--seed", type=int, default=0, help="the only source of chance")
    one = command("train", _train, "Train an agent by self-play and write it to a file.")
    one.add_argument("game", help=GAME)
    one.add_argument("--learner", default="td", help=f"{', '.join(sorted(learners()))}; default td")
    one.add_argument("--episodes", type=int, default=10_000, help="games (default 10000)")
    one.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the learner, such as alpha=0.5 or alpha=1,0.5; may be repeated",
    )
    one.add_argument("--seed", type=int, default=0, help="the only source of chance")
    one.add_argument("--out", metavar="FILE.npz", help="default: GAME.npz")
    one = command("match", _match, "Let players meet in a tournament and rate them.", PLAYERS)
    one.add_argument("game", help=GAME)
    one.add_argument("players", nargs="+", metavar="PLAYER", help="two or more")
    one.add_argument("--episodes", type=int, default=10, help="matches per seating (default 10)")
    one.add_argument("--seed", type=int, default=0, help="the only source of chance")
    one.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    one.add_argument("--path", metavar="FILE", help="keep finished matches there, and resume")
    one.add_argument("--plot", metavar="FILE.png", help="draw the ratings")
    return parser


def _version() -> str:
    try:
        return metadata.version("afterstate")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "(not installed)"


# ------------------------------------------------------------------------------------ reading words
def value_of(text: str):
    """Return the value that a word stands for: number, list of numbers, truth value or word.

    Examples
    --------
    >>> from afterstate.commands.cli import value_of
    >>> value_of("1,0.5"), value_of("true"), value_of("ET")
    ([1, 0.5], True, 'ET')
    """
    if "," in text:
        return [value_of(part) for part in text.split(",")]
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def pairs(words) -> dict:
    """Return the values of words such as ``size=5``; raises ValueError for others."""
    found = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word!r} is not of the form NAME=VALUE")
        found[name] = value_of(text)
    return found


def game_of(word: str):
    """Return the game that a word such as ``hex:size=5`` names."""
    name, *parameters = word.split(":")
    return catalogue.load(name, **pairs(parameters))


# ------------------------------------------------------------------------------- the commands
def _games(given):
    told, zoo, ladders = tables(), saved.zoo(), ladder.published()
    if given.game:
        game = game_of(given.game)
        print(f"{game!r}\n")
        for row, text in specification(game).items():
            print(f"  {row:12} {text}")
        print(f"\n{game.render(game.start())}")
        if game.name in zoo:
            print(f"\npublished agent: {zoo[game.name].get('words', '')}")
        return
    print(f"{'game':10} {'players':>7}  {'zoo':4} {'ladder':6}  actions")
    for name, rows in told.items():
        marks = "yes" if name in zoo else "", "yes" if name in ladders else ""
        print(f"{name:10} {rows['players']:>7}  {marks[0]:4} {marks[1]:6}  {rows['actions']}")


def _play(given):
    game = game_of(given.game)
    if given.against is None and game.players > 1:
        play(game, seat=given.seat, seed=given.seed)
        return
    count = game.players - 1
    opponents = [named(game, given.against) for _ in range(count)]
    adviser = named(game, given.against) if given.against and not count else None
    play_at_terminal(Table(game, opponents, given.seat, given.seed, adviser))


def _train(given):
    game, known = game_of(given.game), learners()
    if given.learner not in known:
        raise ValueError(f"there is no learner {given.learner!r}, only {', '.join(sorted(known))}")
    learner, out = known[given.learner], given.out or f"{game.name}.npz"
    parameters = pairs(given.set)
    if "episodes" in learner.DEFAULTS:
        parameters.setdefault("episodes", given.episodes)
    session = learner.Session(game, parameters, given.seed)
    chunk = max(1, given.episodes // 100)
    with Progress(given.episodes, f"{game.name}, {given.learner}") as progress:
        while session.episode < given.episodes:
            episodes = min(chunk, given.episodes - session.episode)
            session.train(episodes)
            progress.advance(episodes)
    saved.save(out, session)
    print(f"{out}: {session.episode:,} episodes of {game.name}, {given.learner}")


def _match(given):
    game = game_of(given.game)
    found = {}
    for k, word in enumerate(given.players):
        again = given.players[:k].count(word)
        name = word.rpartition("/")[2]
        found[f"{name} ({again + 1})" if again else name] = named(game, word)
    table = tournament(
        game, found, given.episodes, seed=given.seed, workers=given.workers, path=given.path
    )
    print(table)
    if given.plot:
        table.plot().figure.savefig(given.plot, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
