"""The command ``afterstate``: games, play, train, match, docs."""

import argparse
import json
import pkgutil
import re
import shutil
import sys
import warnings
from pathlib import Path

from ..arena.tournament import tournament
from ..checks import needs
from ..files import reports_directory
from ..games import catalogue
from ..games.catalogue import specification, tables
from ..kernel.source import PACKAGE
from ..learners.all_learners import learners
from ..players import ladder, saved
from ..players.named import WORDS, named
from ..screen.play import play

PLAYERS = "Players are given as words:\n" + "\n".join(
    f"  {name:12} {meaning}" for name, meaning in WORDS.items()
)
GAME = "a game, with parameters after colons, such as hex:size=5 (see `afterstate games`)"
CHANCE = "the only source of chance"


def main(words=None) -> int:
    """Do what the command line says; return the exit status."""
    given = _parser().parse_args(words)
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
    layout = argparse.RawDescriptionHelpFormatter
    about = "Board games, learners that teach themselves, and matches between them."
    parser = argparse.ArgumentParser("afterstate", description=about)
    parser.set_defaults(run=lambda given: parser.print_help())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name, run, what, epilog=None):
        found = commands.add_parser(
            name, help=what, description=what, epilog=epilog, formatter_class=layout
        )
        found.set_defaults(run=run)
        return found.add_argument

    add = command("games", _games, "List the games, or describe one of them.")
    add("game", nargs="?", help="one of the games")
    add = command("play", _play, "Play a game at the terminal.", PLAYERS)
    add("game", help=GAME)
    add("--against", metavar="PLAYER", help="your opponent (default: chosen for you)")
    add("--seat", type=int, default=0, help="yours: 0 moves first (the default)")
    add("--seed", type=int, default=0, help=CHANCE)
    add = command("train", _train, "Train an agent by self-play and write it to a file.")
    add("game", help=GAME)
    add("--learner", default="td", help=f"{', '.join(sorted(learners()))}; default td")
    add("--episodes", type=int, default=10_000, help="games (default 10000)")
    what = "a parameter of the learner, such as alpha=0.5 or alpha=1,0.5; may be repeated"
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=what)
    add("--seed", type=int, default=0, help=CHANCE)
    add("--out", metavar="FILE.npz", help="default: GAME.npz")
    add = command("match", _match, "Let players meet in a tournament and rate them.", PLAYERS)
    add("game", help=GAME)
    add("players", nargs="+", metavar="PLAYER", help="two or more")
    add("--episodes", type=int, default=10, help="matches per seating (default 10)")
    add("--seed", type=int, default=0, help=CHANCE)
    add("--workers", type=int, default=1, help="processes (default 1)")
    add = command("docs", _docs, "Build the API reference from the docstrings.")
    add("--out", type=Path, metavar="FOLDER", help="default: reports/api; it is emptied first")
    return parser


def value_of(text: str):
    """Return the value that a word stands for: number, list of numbers, truth value or word.

    Examples
    --------
    >>> from afterstate.commands.cli import value_of
    >>> value_of("1,0.5"), value_of("true"), value_of("ET")
    ([1, 0.5], True, 'ET')
    """
    try:
        first, *others = json.loads(f"[{text}]")
    except ValueError:
        return text
    return [first, *others] if others else first


def _pairs(words) -> dict:
    """Return the values of words such as ``size=5``."""
    for word in words:
        if "=" not in word[1:]:
            raise ValueError(f"{word!r} is not of the form NAME=VALUE")
    return {name: value_of(text) for name, _, text in (word.partition("=") for word in words)}


def _game(word: str):
    """Return the game that a word such as ``hex:size=5`` names."""
    name, *parameters = word.split(":")
    return catalogue.load(name, **_pairs(parameters))


def _games(given):
    zoo, ladders = saved.zoo(), ladder.published()
    if given.game:
        game = _game(given.game)
        print(f"{game!r}\n")
        for row, text in specification(game).items():
            print(f"  {row:12} {text}")
        print(f"\n{game.render(game.start())}")
        if game.name in zoo:
            print(f"\npublished agent: {zoo[game.name].get('words', '')}")
    else:
        print(f"{'game':10} {'players':>7}  {'zoo':4} {'ladder':6}  actions")
        for name, rows in tables().items():
            marks = "yes" if name in zoo else "", "yes" if name in ladders else ""
            print(f"{name:10} {rows['players']:>7}  {marks[0]:4} {marks[1]:6}  {rows['actions']}")


def _play(given):
    game = _game(given.game)
    opponent = given.against and named(game, given.against)
    play(game, opponent, seat=given.seat, seed=given.seed)


def _train(given):
    game, known = _game(given.game), learners()
    if given.learner not in known:
        raise ValueError(f"there is no learner {given.learner!r}, only {', '.join(sorted(known))}")
    learner, out = known[given.learner], given.out or f"{game.name}.npz"
    parameters, label = _pairs(given.set), f"{game.name}, {given.learner}"
    if "episodes" in learner.DEFAULTS:
        parameters.setdefault("episodes", given.episodes)
    session, watched = learner.Session(game, parameters, given.seed), sys.stdout.isatty()
    while session.episode < given.episodes:
        session.train(min(max(1, given.episodes // 100), given.episodes - session.episode))
        if watched:
            print(f"\r{label}: {session.episode:,} episodes", end="", flush=True)
    saved.save(out, session)
    print("\n" * watched + f"{out}: {session.episode:,} episodes of {label}")


def _match(given):
    game, found = _game(given.game), {}
    for k, word in enumerate(given.players):
        again, name = given.players[:k].count(word), word.rpartition("/")[2]
        found[f"{name} ({again + 1})" if again else name] = named(game, word)
    print(tournament(game, found, given.episodes, seed=given.seed, workers=given.workers))


def _docs(given):
    folder = given.out or reports_directory() / "api"
    print(f"{len(api_reference(folder))} modules: {folder / 'index.html'}")


def api_reference(folder: Path, source: bool = True) -> list[str]:
    """Write a page for each module into a folder, which is emptied first; return their names.

    With `source` each function shows how it is written. The pages fetch nothing from elsewhere.
    """
    pdoc = needs("pdoc", "docs")
    found = [module.name for module in pkgutil.walk_packages([str(PACKAGE)], f"{PACKAGE.name}.")]
    names = [PACKAGE.name, *(name for name in found if "._" not in name)]
    shutil.rmtree(folder, ignore_errors=True)
    templates = PACKAGE / "reports" / "templates" / "api"
    pdoc.render.configure(docformat="numpy", template_directory=templates, show_source=source)
    convert = pdoc.docstrings.convert

    def without_marks(docstring, *rest):  # two of reStructuredText, which pdoc shows as text
        return convert(re.sub(r"(?m)^( *)::$", r"\1", docstring).replace(":`~", ":`"), *rest)

    pdoc.docstrings.convert = without_marks
    try:
        with warnings.catch_warnings():
            # it finds modules twice: by their package, if it lists them
            warnings.filterwarnings("ignore", "The module specification")
            pdoc.pdoc(*names, r"!.*\._.*", output_directory=folder)
    finally:
        pdoc.docstrings.convert = convert
    return names


if __name__ == "__main__":
    sys.exit(main())
