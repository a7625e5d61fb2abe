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
    pairs = [
        Played(name, *(pair[field] for field in Played._fields[1:]))
        for name, pair in _pairs().items()
    ]
    cards = saved.zoo().items()
    return pairs + [Played(name, AGENTS, name, card["words"], name) for name, card in cards]


def build(folder: Path) -> None:
    """Write these pages into a folder."""
    for name in saved.zoo():
        page(saved.zoo(name), folder / f"{name}.html")
    for place, pair in _pairs().items():
        agents = []
        for name, file in pair["agents"].items():
            agents.append(saved.load(published_file("models") / file))
            agents[-1].name = name
        title = f"{pair['title']}: {' and '.join(pair['agents'])}"
        text = {"title": title, "about": pair["words"]}
        page(agents[0], folder / f"{place}.html", other=agents[1], **text)


def _pairs() -> dict:
    return read_yaml(published_file("models/pairs.yaml"))
