"""Cards of agents as Markdown, in the form of model cards."""

import yaml

CARD = """# {title}

An agent for {game}, which plays the legal action with the greatest value.

## How it was trained

{trained}

```yaml
{facts}```

## How strong it is

{strength}

## How to load it

```python
from afterstate import games, players
game = {load}
agent = players.load("{file}", game)
state = game.start()            # or game.from_array(board)
game.action_name(state, agent(state)), agent.values(state)
```

## Limits

It plays this game only. Its values are learned from the positions of its training games, and can be
wrong where such games never lead. With a search, `players.Wrapped(agent)`, it is stronger and
slower.

## Licence

{licence}
"""
TOLD_ELSEWHERE = ("name", "words", "strength", "file", "game")


def markdown(agent, licence: str = "That of its maker.", file: str = "agent.npz") -> str:
    """Return the card of an agent that knows its `net` and `card`; `file` is where it lies."""
    card, game = agent.card, agent.net.game
    trained, _, strength = card.get("words", "").partition("; ")
    params = (game.spec or {}).get("params", {})
    given = "".join(f", {name}={value!r}" for name, value in params.items())
    facts = {name: value for name, value in card.items() if name not in TOLD_ELSEWHERE}
    return CARD.format(
        title=card.get("name", agent.name),
        game=game.name + given,
        trained=f"It {trained}." if trained else "By what its file says:",
        facts=yaml.safe_dump(facts, default_flow_style=None),
        strength=strength or "Nobody has measured it: `arena.matches` does.",
        load=f'games.load("{game.name}"{given})' if game.spec else "...  # the home-made one",
        file=file,
        licence=licence,
    )


def model_card(agent, licence: str, file: str) -> str:
    """Return the card below lines that programs read."""
    tags = ["reinforcement-learning", "self-play", "board-games", agent.net.game.name]
    head = {"library_name": "afterstate", "license": licence.lower(), "tags": tags}
    text = markdown(agent, licence, file)
    return f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n{text}"
