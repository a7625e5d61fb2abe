"""How near a training comes to the machine's own limit: random look-ups in its table.

The limit is what one process reads per CPU second from random entries of a table of the size of the
network's weights. A move of a training looks up every n-tuple on every symmetric board of the
position twice, and those that a legal action changes for that action. The share may exceed 100%:
entries of boards that repeat are in the caches.
"""

import numpy as np

from afterstate.kernel.compile import kernel

from .measure import fastest

READS = 4_000_000


@kernel
def _read_at_random(entries, reads):
    word, total = np.uint64(1), 0.0
    size = np.uint64(entries.shape[0])
    for _ in range(reads):
        word = word * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        total += entries[(word >> np.uint64(32)) * size >> np.uint64(32)]
    return total


def lookups_of_a_move(game, tuples, positions: int = 200) -> float:
    """Return the mean number of look-ups of a training move, over positions of random games."""
    rng = np.random.default_rng(1)
    boards = np.asarray(game.symmetries)
    masks = np.zeros((len(tuples), game.cells), bool)
    for mask, cells in zip(masks, tuples, strict=True):
        mask[list(cells)] = True
    counts, state = [], game.start()
    while len(counts) < positions:
        if game.over(state):
            state = game.start()
        before, legal = game.board(state), game.legal(state)
        count = 2 * len(tuples) * len(boards)
        for action in legal:
            changed = game.board(game.play(state, action)) != before
            count += int((changed[boards].astype(int) @ masks.T.astype(int) > 0).sum())
        counts.append(count)
        state = game.next(state, rng.choice(legal))
    return float(np.mean(counts))


def share(session, speed: float) -> str:
    """Return the share of the limit that a training of `speed` moves per second reaches."""
    net = session.net
    entries = np.ones(net.weights.size, net.weights.dtype)
    limit = fastest(lambda: READS if _read_at_random(entries, READS) else 0)
    return f"{100 * speed * lookups_of_a_move(net.game, net.tuples) / limit:.0f}%"
