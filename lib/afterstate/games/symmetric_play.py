"""A game and its images under all symmetries, played side by side."""

import numpy as np

START_SEEDS = 2_000  # random starts among which those are looked for that are images of one another
START_TRIES = 20  # of them, how many are tried as the one whose images are the others


def symmetric_starts(game) -> dict:
    """Return start states that are images of one another: {symmetry: state}; 0 is the identity.

    A deterministic game has one start state; the symmetries that change it are missing. Where the
    start is random, the images of one start are looked for among many others.
    """
    by_board = {}
    for seed in range(1 if game.deterministic else START_SEEDS):
        s = game.start(seed)
        by_board.setdefault(game.board(s).tobytes(), s)
    found = {}
    for s in list(by_board.values())[:START_TRIES]:
        board = game.board(s)
        images = {k: by_board.get(board[row].tobytes()) for k, row in enumerate(game.symmetries)}
        images = {k: image for k, image in images.items() if image is not None}
        found = images if len(images) > len(found) else found
        if len(found) == len(game.symmetries):
            break
    return found


def play_afterstates(game, images, action) -> dict:
    """Return the afterstates of an action and, on the images, of what it becomes."""
    turned = game.action_symmetries
    return {k: game.play(image, int(turned[k][action])) for k, image in images.items()}


def draw_chance(game, images, rng) -> dict:
    """Return the next states: a random one, and its images among the listed outcomes.

    Raises
    ------
    ValueError
        If an image has no such outcome: chance does not commute with the symmetries.
    """
    if game.deterministic:
        return images
    following = {0: game.chance(images[0], rng)}
    board = game.board(following[0])
    for k, image in images.items():
        if k > 0:
            wanted = board[game.symmetries[k]]
            listed = [state for state, _ in game.outcomes(image)]
            same = [state for state in listed if np.array_equal(game.board(state), wanted)]
            if not same:
                raise ValueError(
                    f"chance does not commute with symmetry {k}: no outcome has the board "
                    f"{wanted.tolist()}"
                )
            following[k] = same[0]
    return following


def play_images(game, images, action, rng) -> dict:
    """Return the next states of a state and its images after an action."""
    return draw_chance(game, play_afterstates(game, images, action), rng)
