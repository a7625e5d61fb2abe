"""Agents that were read from a file, their cards, and the published agents."""

from pathlib import Path

import yaml

from ..files import published_file, read_json, write_text
from ..foreign import as_code, as_markdown
from ..games.catalogue import canonical
from ..games.game import check_game
from ..identity import identity
from ..networks import agent_file
from .basic import Greedy

CARD = Path(__file__).with_name("card.md")  # template of a model card
NOT_FACTS = ("name", "words", "strength", "file", "game")  # a model card has a place for each


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
        contents[game] = read_json(path)
    return contents
