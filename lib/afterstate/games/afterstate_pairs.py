"""How many pairs of state and action lead to one afterstate: what Q stores several times."""

from collections import Counter

import numpy as np


def pairs_per_afterstate(game) -> dict:
    """Count the state-action pairs that lead to each afterstate of a small deterministic game.

    All reachable states are enumerated.

    A network of V learns an afterstate once, a network of Q each of the pairs. Where every action
    puts a stone of the mover on an empty cell, an afterstate with x stones of the player who made
    it has at most x pairs: any of them may be the last one. In a game that goes on they are exactly
    x where the stones' order never matters (Hex: a position without a winner has none after taking
    a stone away either). So in Hex on n x n cells the most are n * n // 2: with one more stone the
    board is full, and the game over.

    Returns
    -------
    dict
        "running" and "terminal": Counter {pairs: number of afterstates with so many}, for
        afterstates in which the game goes on or has ended; "pairs running" and "pairs terminal":
        all pairs.

    Raises
    ------
    ValueError
        If the game has chance.

    Source: [konen2021] Sec. 2.6, footnote 5.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.games import afterstate_pairs
    >>> max(afterstate_pairs.pairs_per_afterstate(games.load("tictactoe"))["running"])
    4
    """
    if not game.deterministic:
        raise ValueError(f"{game!r} has chance: only deterministic games are enumerated")
    border, seen = [game.start()], {game.key(game.start())}
    leading, ended = Counter(), {}
    while border:
        following = []
        for s in border:
            player = game.player(s)
            for action in game.legal(s).tolist():
                after = game.play(s, action)
                key = (*game.key(after), player)
                leading[key] += 1
                if key not in ended:
                    ended[key] = game.over(after)
                if key[:2] not in seen:
                    seen.add(key[:2])
                    following.append(after)
        border = [s for s in following if not game.over(s)]
    found = {}
    for name, over in (("running", False), ("terminal", True)):
        counts = [n for key, n in leading.items() if ended[key] == over]
        found[name], found[f"pairs {name}"] = Counter(counts), int(np.sum(counts))
    return found
