"""Cards of agents as Markdown, in the form of model cards."""

import yaml

CARD = """# {title}

An agent for {game}, which plays the legal action with the greatest value.

## How it was trained

{trained}

| what | value |
|---|---|
{rows}

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

It plays {game} only. Its values are learned from the positions of its training games, and can be
wrong where such games never lead. With a search, `players.Wrapped(agent)`, it is stronger and
slower.

## Licence

{licence}
"""
COSTS, FACTS = ("cpu_seconds", "moves"), ("episodes", "seed", "commit", "date", "checksum")


def markdown(agent, licence: str = "That of its maker.", file: str = "agent.npz") -> str:
    """Return the card of an agent that knows its `net` and `card`; `file` is where it lies."""
    card, game = agent.card, agent.net.game
    learner, params = card.get("learner", "unknown"), (game.spec or {}).get("params", {})
    if isinstance(learner, dict):
        learner = f"{learner['name']}, version {learner['version']}"
    facts = {"learner": learner, **card.get("parameters", {})} | {k: card.get(k) for k in FACTS}
    facts |= {key: card.get("cost", {}).get(key) for key in COSTS}
    given = "".join(f", {key}={value!r}" for key, value in params.items())
    trained, _, strength = card.get("words", "").partition("; ")
    return CARD.format(
        title=card.get("name", agent.name),
        game=game.name + given,
        trained=trained or card.get("note") or "By what this table says.",
        rows="\n".join(f"| {key} | {value} |" for key, value in facts.items() if value is not None),
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
