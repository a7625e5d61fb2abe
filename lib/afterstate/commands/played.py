"""Pages of the site on which agents are played: pairs side by side, and each published agent."""

from pathlib import Path

from ..files import published_file, read_yaml
from ..games import catalogue
from ..kernel.link import has_linker
from ..players import saved
from ..screen import learn_page, page


def listed() -> list[dict]:
    """Return what is said of each page in ``played.yaml``; nothing without a linker."""
    if not has_linker():
        return []
    given = read_yaml(published_file("models/played.yaml"))
    for game, card in saved.zoo().items():
        words = f"This agent {card['words'].replace('; ', '. How strong it is: ', 1)}."
        about = {"asks": "Play the agents", "game": game, "words": words}
        given["pages"][game] = about | {"agents": {"the agent": card["file"]}}
    pages, titles = given["pages"].items(), given["titles"]
    return [{"page": name, "title": titles[one["game"]]} | one for name, one in pages]


def build(folder: Path, pages) -> None:
    """Write pages, as :func:`listed` has them, into a folder."""
    for one in pages:
        if not one["agents"]:
            file, title = folder / f"{one['page']}.html", f"Watch an agent learn {one['title']}"
            learn_page(catalogue.load(one["game"]), file, title=title)
            continue
        files = (published_file("models") / file for file in one["agents"].values())
        agents = [*map(saved.load, files)]
        for agent, name in zip(agents, one["agents"]):
            agent.name = name
        given = {"about": one["words"], "title": f"Play {one['title']}"}
        if len(agents) > 1:
            title = f"{one['title']}: {' and '.join(one['agents'])}"
            given |= {"other": agents[1], "title": title}
        page(agents[0], folder / f"{one['page']}.html", **given)
