"""Do the rules of a game commute with its symmetries?  Games and their images, side by side."""

import numpy as np

from ..kernel.random import new_rng, random_int

GAMES, MAX_PLIES = 5, 60


def usable_symmetries(game) -> list[int]:
    """Return the numbers of the symmetries that leave the start position as it is."""
    cells = game.board(game.start())
    return [k for k, where in enumerate(game.symmetries) if np.array_equal(cells[where], cells)]


def image_fault(game, s, image, k) -> str | None:
    """Say how `image` is not the state `s` under the `k`-th symmetry, as far as the rules tell."""
    if not np.array_equal(game.board(image), game.board(s)[game.symmetries[k]]):
        return f"play does not commute with symmetry {k}: board {game.board(image).tolist()}"
    if game.over(image) != game.over(s) or not np.array_equal(game.score(image), game.score(s)):
        return f"over or score does not commute with symmetry {k}"
    if game.over(s):
        return None
    if game.player(image) != game.player(s):
        return f"player does not commute with symmetry {k}"
    legal, legal_image = game.legal(s), game.legal(image)
    if game.action_symmetries is not None:
        legal = game.action_symmetries[k][legal]
        if sorted(legal.tolist()) != sorted(legal_image.tolist()):
            return f"legal does not commute with symmetry {k}"
    return None if len(legal) == len(legal_image) else f"legal does not commute with symmetry {k}"


def play_image(game, s, image, action, k):
    """Return what the image of `action` makes of the image of `s`; None if there is no such action.

    Without action symmetries, every legal action of the image is tried.
    """
    if game.action_symmetries is not None:
        turned = game.action_symmetries[k][action]
        return game.play(image, turned) if turned in game.legal(image) else None
    wanted = game.play(s, action)
    for other in game.legal(image):
        after = game.play(image, other)
        if image_fault(game, wanted, after, k) is None:
            return after
    return None


def odd_symmetry(game) -> str | None:
    """Say which symmetry the rules do not commute with; None if random games show none.

    Games with chance are not looked at: their images would need the same luck.
    """
    if len(game.symmetries) == 1 or not game.deterministic:
        return None
    rng, usable = new_rng(0), usable_symmetries(game)
    for _ in range(GAMES):
        s = game.start()
        images = {k: s for k in usable}
        for _ in range(MAX_PLIES):
            if game.over(s):
                break
            legal = game.legal(s)
            action = int(legal[random_int(rng, len(legal))])
            after = game.play(s, action)
            for k in usable:
                images[k] = play_image(game, s, images[k], action, k)
                if images[k] is None or image_fault(game, after, images[k], k):
                    return (
                        f"the rules do not commute with symmetry {k}: after action {action} at"
                        f" {s.tolist()} there is no mirrored position with the same turn, score and"
                        " number of actions; a network that shares weights among symmetric boards"
                        " learns nonsense"
                    )
            s = after
    return None
