"""Agents that were read from a file, their cards, and the published agents."""

from pathlib import Path

import yaml

from ..checks import text
from ..files import published_file, read_signed, write_text
from ..foreign import as_code, as_markdown
from ..games.catalogue import canonical
from ..games.game import check_game
from ..identity import identity
from ..networks import agent_file
from .basic import Greedy

CARD = Path(__file__).with_name("card.md")  # template of a model card
NOT_FACTS = ("name", "words", "strength", "file", "game")  # a model card has a place for each
# opponent -> what it is called on a page; the first two that were met are named there
OPPONENTS = {
    "Random": "random moves",
    "Bench": "a player who knows the worth of corners and edges",
    "AB": "perfect play",
    "Max-N-15": "perfect play",
    "Rhino-4": "the program gtp-rhino at level 4",
    "MCTS-10000": "a tree search of 10,000 games a move",
    "MCTS-500": "a tree search of 500 games a move",
    "AB-DL": "perfect play that puts defeat off",
    "PUCT-100": "a tree search that it guides itself",
    "depth 1": "a search of one move",
}


class Saved(Greedy):
    """A greedy player that was read from a file; its `card` says how it was made."""

    def __init__(self, net, card: dict, name: str):
        super().__init__(net)
        self.card = card
        self.name = name

    def save(self, path) -> None:
        """Write the agent with its card to an ``.npz`` file, for :func:`load`."""
        agent_file.write(path, self.net, self.card)

    @property
    def identity(self) -> dict:
        """What tells it from others: its weights, whatever its file or card say."""
        return {"player": "Saved", "version": self.version, "net": identity(self.net)}

    def export_card(self, path, licence: str = "MIT", file: str = "agent.npz") -> None:
        """Write the card as a model card: Markdown under lines for programs.

        `licence` is that of the agent (the package's own are MIT), `file` the name of its file.
        """
        text("licence", licence)
        text("file", file)
        tags = ["reinforcement-learning", "self-play", "board-games", self.net.game.name]
        head = {"library_name": "afterply", "license": licence.lower(), "tags": tags}
        lines = yaml.safe_dump(head, sort_keys=False)
        write_text(path, f"---\n{lines}---\n\n{_model_card(self, licence, file)}")

    def _repr_markdown_(self) -> str:
        return _model_card(self)


def _model_card(agent, licence="That of its maker.", file="agent.npz") -> str:
    """Return the template of a model card, filled in for an agent."""
    card = agent.card
    game = agent.net.game
    arguments = ""
    call_that_loads = "...  # the home-made one"
    if game.spec:
        for name, value in game.spec["params"].items():
            arguments += f", {name}={value!r}"
        call_that_loads = f'games.load("{game.name}"{arguments})'
    how_trained, _, strength = card.get("words", "").partition("; ")
    facts = {name: value for name, value in card.items() if name not in NOT_FACTS}
    return CARD.read_text(encoding="utf-8").format(
        title=as_markdown(card.get("name", agent.name)),
        game=as_markdown(game.name + arguments),
        trained=f"It {as_markdown(how_trained)}." if how_trained else "By what its file says:",
        facts=as_code(yaml.safe_dump(facts, default_flow_style=None), "yaml"),
        strength=as_markdown(strength) or "Nobody has measured it: `arena.matches` does.",
        load=call_that_loads,
        file=file,
        licence=as_markdown(licence),
    )


def in_plain_words(card: dict) -> str:
    """Return how an agent learned and how strong it is, for somebody who knows nothing of it.

    The numbers are those of its card.
    """
    how_trained = card["words"].partition(" (study")[0].partition(";")[0]
    sentences = [f"The agent {how_trained}."]
    results = _results(card["strength"])
    against = []
    for opponent, words in OPPONENTS.items():
        if opponent in results and len(against) < 2:
            against.append(f"{results[opponent]:.0f} of 100 games against {words}")
    if against:
        sentences.append(f"It wins {', and '.join(against)}; a draw is half a win.")
    solved = _solved(card["strength"])
    if solved:
        sentences.append(f"It solves {', '.join(solved)}.")
    elif not against and isinstance(card["strength"], dict):  # such as points of 2048
        sentences.append(f"What it reaches: {card['words'].partition('; ')[2]}.")
    return " ".join(sentences)


def _solved(strength) -> list[str]:
    """Return how many cubes are solved after how many twists, in words."""
    words = []
    for measure, found in strength.items() if isinstance(strength, dict) else ():
        kind, _, twists = measure.partition(":twists-")
        if kind == "solved_rate" and twists:
            words.append((int(twists), f"{found['run']:.0f} of 100 cubes after {twists} twists"))
    return [text for _, text in sorted(words)]


def _results(strength) -> dict:
    """Return opponent -> percent of games that an agent wins, over all seats."""
    results = {}
    if isinstance(strength, dict):
        for measure, found in strength.items():
            kind, _, opponent = measure.partition(":")
            if kind == "win_rate":
                results[opponent] = found["run"]
        return results
    for row in strength:
        is_plain = not row.keys() & {"seat", "variant"}
        if row["measure"] == "win_rate" and is_plain:
            level = f"-{row['level']}" if "level" in row else ""
            results[f"{row['opponent']}{level}"] = row["run"]
    return results


def load(path, game=None) -> Saved:
    """Return the agent in a file of ``session.save`` or ``net.save`` as a greedy player.

    `game` is the game that it plays, by default the one of the package that the file names.
    ValueError if the agent was made for another game, or for another version of it.
    """
    net, card = agent_file.read(path, game)
    name = card.get("name") or f"{net.game.name} agent {net.checksum()[:6]}"
    return Saved(net, card, name)


def zoo(game=None):
    """Return the published agent of a game, or without a game the cards of all, {name: card}.

    `game` is a game or its name. ValueError if there is no agent for it.

    >>> zoo("hex").card["study"]
    'hex'
    """
    cards = published("card")
    if game is None:
        return cards
    if isinstance(game, str):
        name = canonical(game)
        game_to_play = None  # the one that the file of the agent names
    else:
        game_to_play = check_game(game, "the zoo")
        name = game_to_play.name
    if name not in cards:
        raise ValueError(f"the zoo has no agent for {name}, only for {', '.join(cards)}")
    agent = load(published_file("models") / cards[name]["file"], game_to_play)
    return Saved(agent.net, cards[name], f"zoo {name}")


def zoo_file(game) -> str:
    """Return the path of the published agent of a game, from the folder ``data`` on."""
    return f"models/{zoo()[game.name]['file']}"


def published(kind: str) -> dict:
    """Return the contents of all files ``data/models/<kind>-<game>.json``, by game.

    `kind` is card or ladder.
    """
    prefix = f"{kind}-"
    contents = {}
    for path in sorted(published_file("models").glob(f"{prefix}*.json")):
        game = path.stem.removeprefix(prefix)
        contents[game] = read_signed(path)
    return contents
