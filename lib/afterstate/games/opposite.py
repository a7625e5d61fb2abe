"""Whether what one of two players gets is what the other one loses."""

from ..kernel.random import new_rng, random_int

GAMES, MOST_PLIES = 20, 200


def not_opposite(game) -> str:
    """Return where the rewards of two players are not opposite, in words, or an empty text.

    Random games tell.
    """
    rng = new_rng(0)
    for _ in range(GAMES):
        s = game.start(0)
        for _ in range(MOST_PLIES):
            if abs(game.score(s).sum()) > 1e-9:
                return f"{game!r} gives {game.score(s).tolist()} at {s.tolist()}"
            if game.over(s):
                break
            legal = game.legal(s)
            s = game.next(s, legal[random_int(rng, len(legal))], rng)
    return ""
