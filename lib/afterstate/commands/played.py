"""Pages of the site on which agents are played: pairs side by side, and each published agent."""

from pathlib import Path

from ..files import published_file, read_yaml
from ..kernel.link import has_linker
from ..players import saved
from ..reports.site import Played
from ..screen.page import page

AGENTS = "Play the agents"


def listed() -> list[Played]:
    """Return what the site has to link to; nothing without a linker."""
    if not has_linker():
        return []
    given, found = _given(), []
    for name, pair in given["pairs"].items():
        title = given["titles"][pair["game"]]
        found.append(Played(name, pair["asks"], title, pair["words"], pair["game"]))
    for name, card in saved.zoo().items():
        found.append(Played(name, AGENTS, given["titles"][name], card["words"], name))
    return found


def build(folder: Path) -> None:
    """Write these pages into a folder."""
    given = _given()
    for name, card in saved.zoo().items():
        about = f"This agent {card['words'].replace('; ', '. How strong it is: ')}."
        text = {"title": f"Play {given['titles'][name]}", "about": about}
        page(saved.zoo(name), folder / f"{name}.html", **text)
    for name, pair in given["pairs"].items():
        one, other = (_named(*agent) for agent in pair["agents"].items())
        title = f"{given['titles'][pair['game']]}: {' and '.join(pair['agents'])}"
        text = {"title": title, "about": pair["words"]}
        page(one, folder / f"{name}.html", other=other, **text)


def _named(name, file):
    agent = saved.load(published_file("models") / file)
    agent.name = name
    return agent


def _given() -> dict:
    return read_yaml(published_file("models/played.yaml"))
