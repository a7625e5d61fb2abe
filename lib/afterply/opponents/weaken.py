"""Ways to weaken a trained table of action values.

Every way has a *dial* from 0 (knows nothing) to 1 (the table as it was trained)::

    snapshots     the table after the share `dial` of its training games, as [jamieson2022] does it
    log snapshots the table after n ** dial games: a step of the dial multiplies the games
    careless      a random move with probability 1 - dial, else a best one
    softmax       moves with probability exp(Q / T), T = spread of Q * (1 - dial) / dial
    noise         Gaussian noise is added to every value, once; its deviation is that same T
    forgotten     every entry is forgotten with probability 1 - dial, once

"Spread" is the standard deviation of the values. Noise and forgetting repeat the same mistakes.
"""

import numpy as np

from ..checks import fraction, one_of, whole
from ..kernel.random import natural
from ..networks.table import QTable
from ..networks.table_games import q_table
from ..players.agents import Agent, chance, learned

METHODS = ("snapshots", "log snapshots", "careless", "softmax", "noise", "forgotten")
SNAPSHOTS = METHODS[:2]
DIALS = tuple(k / 10 for k in range(11))


def spread(net: QTable) -> float:
    """Return the standard deviation of all values in a table (1 if there are none)."""
    if not net.entries:
        return 1.0
    deviation = float(net.table.q[: net.entries].std())
    return deviation or 1.0


def temperature(net: QTable, dial: float) -> float:
    """Return the softmax temperature, or deviation of the noise: 0 at dial 1, infinite at 0."""
    if dial == 0.0:
        return np.inf
    return spread(net) * (1.0 - dial) / dial


def milestones(n: int, dials=DIALS) -> list[int]:
    """Return the training games after which both kinds of snapshots keep a table."""
    n = whole("the number of training games", n)
    games = set()
    for dial in dials:
        if fraction("a dial", dial) > 0:
            for method in SNAPSHOTS:
                games.add(_games_at(n, dial, method))
    return sorted(games)


def _games_at(n, dial, method) -> int:
    """Return after how many of `n` training games a kind of snapshots takes the table of a dial."""
    games = n * dial if method == "snapshots" else n**dial
    return max(1, round(games))


def weakened(net: QTable, method: str, dial: float, seed: int = 0, n: int | None = None) -> Agent:
    """Return a weaker player made from a trained table, by one of ``METHODS``.

    The `seed` is that of noise and forgetting. The full table has seen `n` training games (default:
    all); LookupError if a snapshot was not kept.

    Source: [jamieson2022] Sec. "Snapshots for Creating Lower Quality Agents" (snapshots).

    >>> from afterply import games
    >>> weakened(QTable(games.load("tictactoe")), "careless", 0.75).epsilon
    0.25
    """
    q_table(net)
    one_of("the way to weaken", method, METHODS)
    seed = natural(seed)
    dial = fraction("the dial, from 0 (knows nothing) to 1 (as it was trained),", dial)
    if n is not None:
        n = whole("n, the training games of the full table,", n, 0)
    if method in SNAPSHOTS:
        if dial == 0.0:
            return chance(net.game)
        all_games = net.episode if n is None else n
        return learned(net.snapshot(_games_at(all_games, dial, method)))
    full_table = net if n is None else net.snapshot(n)
    if method == "careless":
        return learned(full_table, epsilon=1.0 - dial)
    if method == "softmax":
        return learned(full_table, temperature=temperature(full_table, dial))
    values = _changed_values(full_table, method, dial, seed)
    return learned(full_table._but(table=full_table.table._replace(q=values)))


def _changed_values(net, method, dial, seed):
    """Return the values of a table with noise, or with some of them forgotten: float64 [entries].

    One seed draws the same for all dials: the noise is scaled, and a lower dial forgets more.
    """
    rng = np.random.default_rng(seed)
    values = net.table.q[: net.entries]
    if method == "forgotten":
        return np.where(rng.random(net.entries) < dial, values, 0.0)
    noise = rng.standard_normal(net.entries)
    if dial == 0.0:
        return noise
    return values + temperature(net, dial) * noise
