"""Counts of the state-action pairs of a small game."""

from collections import Counter


def pairs_per_afterstate(game) -> dict:
    """Count the state-action pairs that lead to each afterstate of a small deterministic game.

    "running" and "terminal", by whether the game goes on, are {pairs: number of afterstates}.
    Source: [konen2021] Sec. 2.6, footnote 5.
    """
    if not game.deterministic:
        raise ValueError(f"{game.name} has chance: only trees of deterministic games are counted")
    frontier, seen = [game.start()], {game.key(game.start())}
    leading = {"running": Counter(), "terminal": Counter()}
    while frontier:
        s = frontier.pop()
        player = game.player(s)
        for action in game.legal(s).tolist():
            after = game.play(s, action)
            key, over = game.key(after), game.over(after)
            leading["terminal" if over else "running"][key, player] += 1
            if key not in seen:
                seen.add(key)
                frontier += [] if over else [after]
    counted = {name: Counter(pairs.values()) for name, pairs in leading.items()}
    return counted | {f"pairs {name}": pairs.total() for name, pairs in leading.items()}
